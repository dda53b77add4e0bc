/* border.h - where numbers are rounded between what computes and what reads them. */
#ifndef QUANTIZE_BORDER_H
#define QUANTIZE_BORDER_H

#include "quantize/steps.h"

/* SMALL: as the precision says. WIDE: in 16 bits, of int8: between two functions of one region that
 * no table makes one, where it is a variable only; the places that grid_sample reads. */
enum border { BORDER_NONE, BORDER_SMALL, BORDER_WIDE };

struct borders {
    struct quantization *q;
    const void **group_of; /* by node->id: the region; NULL = it begins and ends with the node */
    int n_nodes;           /* those with a greater id are none of ours */
    struct chain *chains;  /* by node->id */
};

/* Before anything is rewritten. nodes[i]->id is i. In the context's scratch. */
void borders_find(struct borders *borders, struct node *const *nodes, int n_nodes);

/* Between the value and the node, of this precision, that reads it. */
enum border border_before(const struct borders *borders, const struct value *value,
                          const struct node *node, const struct precision *precision);

/* Of a value with a wide border; what computes it has been annotated. False where nothing is known
 * about it. */
bool wide_scale_of(const struct value *value, struct data_scale *out);

#endif
