/* partition_graph.h - graphs for the partitioner, made in code. */
#ifndef TESTS_SUPPORT_PARTITION_GRAPH_H
#define TESTS_SUPPORT_PARTITION_GRAPH_H

#include "relay_ir/ir.h"

/* About n operators of many kinds on tensors of (1,4,2,2): long and short branches, values that are
 * read often, operators with several results, several results of the graph. Moves *seed on. */
struct module *partition_graph_random(struct ctx *ctx, int n, unsigned *seed);

/* As DenseNet-121 is connected: 58 layers, each behind a concatenation of all before it in its
 * block. Small images, weights of 0. */
struct module *partition_graph_densenet(struct ctx *ctx);

/* n_nodes in residual blocks of convolution, bias, activation, with a softmax now and then, which
 * targets do not take. */
struct module *partition_graph_long(struct ctx *ctx, int n_nodes);

#endif
