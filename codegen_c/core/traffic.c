#include "codegen_c/core/traffic.h"

#include "relay_ir/macs.h"

enum { USUAL_TILE = 4 };

/* A region's product; pixels and channels are those of its result, and of a tile. */
struct product {
    int64_t macs, pixels;
    int64_t tile_pixels, tile_channels;
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t groups_of(const struct node *anchor)
{
    switch (anchor->op) {
    case OP_CONV1D:
    case OP_CONV2D:
    case OP_CONV3D:
    case OP_QNN_CONV1D:
    case OP_QNN_CONV2D:
    case OP_QNN_CONV3D: return anchor->attrs.conv.groups;
    default: return 1;
    }
}

/* False where the region computes no product. */
static bool find_product(const struct region *region, struct product *product)
{
    const struct machine *machine = region->machine;
    const struct node *anchor = region->anchor;
    const int lanes = machine && machine->lanes ? machine->lanes : 1;
    const bool has_tile = machine && machine->tile_columns;
    int64_t weights, channels;

    product->macs = anchor ? node_macs(anchor) : 0;
    if (product->macs == 0)
        return false;
    weights = type_elements(&anchor->inputs[1]->type);
    product->pixels = product->macs > weights ? product->macs / weights : 1;
    channels = type_elements(&anchor->outputs[0]->type) / product->pixels / groups_of(anchor);
    product->tile_pixels =
        least(product->pixels, has_tile ? machine->tile_columns : (int64_t)USUAL_TILE);
    product->tile_channels =
        least(channels, has_tile ? machine->tile_vectors * lanes : (int64_t)USUAL_TILE);
    if (product->tile_channels < 1)
        product->tile_channels = 1;
    return true;
}

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

uint64_t traffic_of_param(const struct region *region, int i)
{
    const struct value *param = region->fn->params[i];
    const uint64_t bytes = type_bytes(&param->type);
    struct product product;

    if (!find_product(region, &product) || anchor_source(region, 0) != param)
        return bytes;
    return most(bytes,
                (uint64_t)(product.macs / product.tile_channels) * dtype_bytes(param->type.dtype));
}

uint64_t traffic_of_constant(const struct region *region, const struct type *type, size_t bytes)
{
    const struct type *y = &region->fn->ret->inputs[0]->type;
    struct product product;

    if (find_product(region, &product))
        return bytes * (uint64_t)((product.pixels + product.tile_pixels - 1) / product.tile_pixels);
    /* One element of it for each of the result, or all. */
    return most(bytes, (uint64_t)type_elements(y) * dtype_bytes(type->dtype));
}
