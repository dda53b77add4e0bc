/* border.h - decides which values are quantised between producer and reader. */
#ifndef QUANTIZE_BORDER_H
#define QUANTIZE_BORDER_H

#include "quantize/steps.h"

/* SMALL: format of the precision. WIDE: 16 bits, with int8: between two functions of one region
 * that no table replaces, where the value is a local variable only; coordinates of grid_sample. */
enum border { BORDER_NONE, BORDER_NARROW, BORDER_WIDE };

struct borders {
    struct quantization *q;
    const void **group_of; /* by node->id: the region; NULL = the node alone */
    int n_nodes;           /* nodes with greater ids were added later */
    struct chain *chains;  /* by node->id */
};

/* Call before any rewrite; nodes[i]->id is i. In the context's scratch. */
void borders_find(struct borders *borders, struct node *const *nodes, int n_nodes);

/* Border between a value and its reader, which has this precision. */
enum border border_before(const struct borders *borders, const struct value *value,
                          const struct node *node, const struct precision *precision);

/* Scale of a value with a wide border; its producer is annotated already. False if its range is
 * unknown. */
bool wide_scale_of(const struct value *value, struct data_scale *out);

#endif
