/* annotation.h - what annotate.c and annotate_weights.c share. */
#ifndef QUANTIZE_ANNOTATION_H
#define QUANTIZE_ANNOTATION_H

#include "quantize/border.h"
#include "quantize/steps.h"

struct annotation {
    struct quantization *q;
    struct function *fn;
    struct borders borders;
    int n_nodes;       /* that were there before */
    struct map stored; /* "value format scale zero" -> struct value *, the quantised values */
    struct map coded;  /* "weight precision axis" -> struct value *, decoded weights */
    bool ok;
};

/* A node of ours, which is not annotated. NULL after an error. */
struct value *annotation_make(struct annotation *a, enum op op, const union attrs *attrs,
                              const char *name, const struct origin *origin, struct node *before,
                              int n, struct value *const *inputs);

/* "conv1.f8e4m3" */
const char *annotation_storage_name(struct annotation *a, const struct value *value,
                                    enum dtype dtype);

/* Scalar constants. */
struct value *annotation_zero(struct function *fn, enum dtype dtype, int32_t zero,
                              const char *name);
struct value *annotation_scale(struct function *fn, float scale, const char *name);

/* --- annotate_weights.c ----------------------------------------------------------------------- */

/* Whether all is computed in integers. */
bool annotation_in_integers(const struct quantization *q, const struct precision *precision);

/* Where the weights of a node are that become quantised values, up to input `last`: of products,
 * and of recurrent layers in integers. 0 = there are none. */
int annotation_last_weight(const struct quantization *q, const struct node *node,
                           const struct precision *precision);

/* Whether it is a constant of f32. */
bool annotation_has_numbers(const struct value *weight);

/* Those of a recurrent layer have a scale for each row of gates, which both directions share, by
 * the rule: no search tries others. */
void annotate_weights(struct annotation *a, struct node *node, int input,
                      const struct precision *precision, struct quantize_line *line);

/* A constant on the left of a matrix product with computed numbers: a transform, or places of a
 * grid. It is read as data are: one scale; in int8 16 bits, where 32 hold the sums. */
void annotate_left(struct annotation *a, struct node *node, const struct precision *precision);

#endif
