/* image_graph.h - random graphs over images with the channels last: convolutions, pools, resizes,
 * concatenations and splits along any dim, slices, residuals and views, as region functions. */
#ifndef TESTS_SUPPORT_IMAGE_GRAPH_H
#define TESTS_SUPPORT_IMAGE_GRAPH_H

#include "relay_ir/ir.h"

struct image_graph {
    int n_nodes, most_n, h, w, most_c; /* of the input: up to most_n images, most_c / 2 channels */
    int64_t most_elements;             /* of any value */
    bool strides;                      /* some windows move by two */
    bool overlays;                     /* pieces of a value are put together again */
};

/* The same seed gives the same graph. */
struct module *image_graph(struct ctx *ctx, const struct image_graph *of, unsigned seed);

#endif
