/* variants.h - one network for several values of its symbolic dims (--vary time=1..200): main holds the whole network
 * once for each combination of values, one after the other. They share nothing but constants; one of them runs. */
#ifndef RELAY_IR_VARIANTS_H
#define RELAY_IR_VARIANTS_H

#include "relay_ir/ir.h"

enum { MAX_SYMBOLS = 4 };

/* A dim that the model names, and the values that it may have: ascending. */
struct symbol {
    const char *name;   /* as in the model; raw text */
    const char *c_name; /* "time" */
    int n;
    const int64_t *values;
};

/* The network for one combination of values; the part of main that it is. */
struct variant {
    int64_t values[MAX_SYMBOLS];
    const char *label; /* "time_100" */
    int row;           /* its number, ascending by the values */
    int n_nodes;       /* of main, behind those of the variants before */
    int first_node;    /* node->id of its first one, if it has any */
};

/* All combinations, that of the largest arrays first, then from the largest values on. Each has main->n_params / n parameters and as many results, in
 * the order of variants. */
struct variants {
    int n_symbols;
    struct symbol symbols[MAX_SYMBOLS];
    int n;
    struct variant *at; /* [n] */
};

/* Adds the network of `from` to that of `to`, whose main begins with other variants. Functions are moved: `from` must
 * outlive `to`, and is good for nothing but module_free. */
void variant_absorb(struct module *to, struct module *from, struct variant *variant);

/* Parameters and results of main as its callers see it: those of the first variant. */
int interface_params(const struct module *module);
int interface_results(const struct module *module);

int count_variants(const struct module *module); /* 1 without any */

/* Which one a node of main belongs to, after function_number. */
int variant_of(const struct module *module, const struct node *node);

#endif
