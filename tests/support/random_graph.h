/* random_graph.h - random networks for differential tests. */
#ifndef TESTS_SUPPORT_RANDOM_GRAPH_H
#define TESTS_SUPPORT_RANDOM_GRAPH_H

#include "relay_ir/ir.h"

/* A module whose main has about n_nodes nodes of the kinds that networks have: convolutions, norms,
 * activations, pools, joins, matrix products, views, padding and what exporters write around them.
 * The same seed gives the same graph. */
struct module *random_graph(struct ctx *ctx, int n_nodes, unsigned seed);

#endif
