/* convert.h - API for converters, one per operator of TensorFlow Lite.
 *
 * convert.def has a row per operator. A converter builds relay_ir nodes and sets the outputs. Every
 * function below reports its own errors against the operator, and returns false or NULL then; a
 * NULL operand means that an earlier step failed. What a converter does not compute exactly as
 * docs/design/tflite.md says, it refuses (tfl_unsupported).
 *
 * Tensors of rank 4 lie as N, H, W, C in the file. Convolutions and pools read and write them with
 * the channels first, as the passes expect them (docs/design/layout.md): tfl_first and
 * tfl_output_first. convert_layout drops the transposes between. */
#ifndef FRONTEND_TFLITE_CONVERT_H
#define FRONTEND_TFLITE_CONVERT_H

#include "frontend/tflite/model.h"

/* Something that keeps its numbers from run to run: convert_state.c. */
struct tfl_keeping {
    const struct tfl_model *model;
    struct tfl_kept *first, *last;
    int n, n_inits; /* variables; subgraphs that were run for them */
    bool is_shared; /* the operators may run more than once: nothing may be kept by one of them */
};

struct tfl_node {
    struct ctx *ctx;
    struct function *fn; /* nodes are appended here */
    const struct origin *origin;
    const struct tfl_graph *graph;
    const struct tfl_operator *op;
    int arg; /* from the row of convert.def (an enum op, usually) */
    int n_inputs, n_outputs;
    struct tfl_tensor **inputs; /* NULL = absent */
    struct tfl_tensor **outputs;
    struct tfl_keeping *keeping;
    struct import *import; /* for control.c */
};

typedef bool tfl_converter(struct tfl_node *node);

/* Options of the operator, by their number in the schema. */
int64_t tfl_int(const struct tfl_node *node, int field, int64_t missing);
bool tfl_flag(const struct tfl_node *node, int field);
int64_t tfl_word(const struct tfl_node *node, int field); /* of one byte: an enum */
double tfl_real(const struct tfl_node *node, int field, double missing);

/* Reports UNSUPPORTED_FORM for this operator. Returns false. */
bool tfl_unsupported(struct tfl_node *node, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* --- what the operator has --------------------------------------------------------------------
 * Between `least` and `most` inputs, of which the first `least` are present, and `outputs`
 * outputs. */
bool tfl_check(struct tfl_node *node, int least, int most, int outputs);
bool tfl_check_type(struct tfl_node *node, const struct tfl_tensor *tensor, enum dtype dtype);
bool tfl_check_rank(struct tfl_node *node, const struct tfl_tensor *tensor, int least, int most);

/* One positive scale, and a zero point within the type. */
bool tfl_check_scale(struct tfl_node *node, const struct tfl_tensor *tensor);
/* One scale, or n along `axis`; all zero points 0. */
bool tfl_check_scales(struct tfl_node *node, const struct tfl_tensor *tensor, int axis, int64_t n);
/* Both have one scale and zero point. */
bool tfl_check_same_scale(struct tfl_node *node, const struct tfl_tensor *a,
                          const struct tfl_tensor *b);

/* One type and, of quantised values, one scale: numbers may move from x to y as they are. */
bool tfl_check_kept(struct tfl_node *node, const struct tfl_tensor *x, const struct tfl_tensor *y);

/* UINT8 with a scale is taken as INT8 whose zero point is 128 less, by operators that round both alike
 * (unsigned.def). */
bool tfl_takes_unsigned(struct tfl_node *node);

/* Scale i (of the one, whatever i, where there is one), and the zero point. */
double tfl_scale(const struct tfl_tensor *tensor, int64_t i);
int64_t tfl_zero(const struct tfl_tensor *tensor);

/* The code of a number: the quotient of floats, to nearest, ties away from zero. */
int64_t tfl_code(const struct tfl_tensor *tensor, float number);

/* The greatest number of steps that stays within integer_bits when it is shifted so far up. */
int64_t tfl_radius(int integer_bits, int shift);

/* The payload of a tensor that is in the file, or that is known otherwise: of f16 numbers behind a conversion to f32,
 * these. */
bool tfl_stored(struct tfl_node *node, const struct tfl_tensor *tensor, struct tensor *out);

/* Element i of INT4 numbers, two in a byte. */
int8_t tfl_nibble(const uint8_t *data, int64_t i);

/* An input that must be in the file: its payload, and integers of rank 0 or 1. */
bool tfl_constant(struct tfl_node *node, int input, struct tensor *out);
bool tfl_constant_ints(struct tfl_node *node, int input, struct ints *out);

/* --- operands ---------------------------------------------------------------------------------- */

/* An input, as it lies in the file; and with the channels first, of rank 4. */
struct value *tfl_value(struct tfl_node *node, int input);
struct value *tfl_first(struct tfl_node *node, int input);

/* A tensor as it lies in the file; NULL if nothing computes it. */
struct value *tfl_result(struct function *fn, struct tfl_tensor *tensor);

/* Constants made by the converter. */
struct value *tfl_number(struct tfl_node *node, enum dtype dtype, double number,
                         const char *suffix);
struct value *tfl_scale_of(struct tfl_node *node, const struct tfl_tensor *tensor,
                           const char *suffix);
struct value *tfl_zero_of(struct tfl_node *node, const struct tfl_tensor *tensor,
                          const char *suffix);
/* A zeroed payload to be filled; NULL if it exceeds the limits. */
void *tfl_payload(struct tfl_node *node, const struct type *type);
struct value *tfl_made(struct tfl_node *node, const struct type *type, const void *payload,
                       const char *suffix);

/* --- building ----------------------------------------------------------------------------------
 * Values are named after output 0 and the suffix; "" becomes the output. */
struct value *tfl_build(struct tfl_node *node, enum op op, const union attrs *attrs,
                        const char *suffix, int n_inputs, struct value *const *inputs);
struct value *tfl_build1(struct tfl_node *node, enum op op, const union attrs *attrs,
                         const char *suffix, struct value *x);
struct value *tfl_reshape(struct tfl_node *node, struct value *x, const struct type *shape,
                          const char *suffix);
struct value *tfl_permute(struct tfl_node *node, struct value *x, const char *suffix, int n,
                          const int64_t *axes);

/* The fused activation in field `field`: bounds on quantised values of the output's scale, or on floats. */
struct value *tfl_activation(struct tfl_node *node, int field, struct value *x);

/* Sets output i, whose shape and type must be what the file says. */
bool tfl_output(struct tfl_node *node, int i, struct value *value);
bool tfl_output_first(struct tfl_node *node, int i, struct value *value);

/* --- what is kept from run to run ----------------------------------------------------------------
 * A variable tensor among the inputs: what the run before left, and what this one leaves. */
struct value *tfl_state(struct tfl_node *node, int input);
bool tfl_state_set(struct tfl_node *node, int input, struct value *value);

/* What an operator keeps by itself, named after output 0: of this type, at first these numbers (NULL = 0). Before this
 * run, and behind it. */
struct tfl_kept *tfl_memory(struct tfl_node *node, const char *suffix, const struct type *type,
                            const void *initial);
struct value *tfl_memory_before(const struct tfl_kept *kept);
bool tfl_memory_set(struct tfl_node *node, struct tfl_kept *kept, struct value *value);

/* Whether the operator may read this: a resource, or a tensor that keeps its numbers. */
bool tfl_takes_kept(const struct tfl_operator *op, const struct tfl_tensor *tensor);

/* What all variables hold, and how many there are; makes them hold this again (those that came later: what they hold at
 * first); and has them hold what one or the other of two such lists says. */
struct value **tfl_kept_list(struct tfl_node *node, int *n);
void tfl_kept_restore(struct tfl_node *node, struct value *const *list, int n);
bool tfl_kept_choose(struct tfl_node *node, struct value *condition, struct value *const *yes,
                     int n_yes, struct value *const *no, int n_no);

/* Results of main and the module's states, when all operators are converted. */
bool tfl_import_states(struct function *fn, const struct tfl_keeping *keeping);

/* All converters, from the table. */
#define TFLITE(name, version, options, fields, converter, arg) tfl_converter converter;
#include "frontend/tflite/convert.def"
#undef TFLITE
#define TFLITE_CUSTOM(name, converter) tfl_converter converter;
#include "frontend/tflite/custom.def"
#undef TFLITE_CUSTOM

#endif
