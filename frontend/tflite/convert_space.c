/* convert_space.c - SPACE_TO_DEPTH, DEPTH_TO_SPACE, SPACE_TO_BATCH_ND, BATCH_TO_SPACE_ND, MIRROR_PAD: quantised
 * values that move between dimensions. */
#include "frontend/tflite/convert_compose.h"

/* Blocks become channels, or channels blocks; the position in a block is the outer part. */
bool convert_tfl_depth(struct tfl_node *node)
{
    const int64_t block = tfl_int(node, 0, 0);
    union attrs attrs = { .block = { .mode = "DCR", .layout = "NCHW" } };

    if (!tfl_check(node, 1, 1, 1) || !tfl_check_rank(node, node->inputs[0], 4, 4) ||
        !tfl_check_kept(node, node->inputs[0], node->outputs[0]))
        return false;
    if (block < 1 || block > INT16_MAX)
        return tfl_unsupported(node, "blocks of %lld", (long long)block);
    attrs.block.block_size = ints_fill(2, block);
    return tfl_output_first(
        node, 0, tfl_build1(node, (enum op)node->arg, &attrs, "moved", tfl_first(node, 0)));
}

/* --- to and from the batch -------------------------------------------------------------------- */

/* Inputs 1 and 2: a block's extents, and what is added or taken before and behind each dimension. */
struct blocks {
    int n; /* of dimensions, from 1 on */
    struct ints extent, around;
};

static bool read_blocks(struct tfl_node *node, struct blocks *blocks)
{
    const struct type *x;

    if (!tfl_check(node, 3, 3, 1) || !tfl_check_rank(node, node->inputs[0], 3, 4) ||
        !tfl_check_kept(node, node->inputs[0], node->outputs[0]) ||
        !tfl_constant_ints(node, 1, &blocks->extent) ||
        !tfl_constant_ints(node, 2, &blocks->around))
        return false;
    x = &node->inputs[0]->type;
    blocks->n = blocks->extent.n;
    if (blocks->n < 1 || blocks->n > x->rank - 1 || blocks->around.n != 2 * blocks->n)
        return tfl_unsupported(node, "%d extents and %d paddings of blocks for %s",
                               blocks->extent.n, blocks->around.n, type_text(&node->ctx->perm, x));
    for (int i = 0; i < 2 * blocks->n; i++)
        if (blocks->extent.at[i / 2] < 1 || blocks->extent.at[i / 2] > INT16_MAX ||
            blocks->around.at[i] < 0 || blocks->around.at[i] > INT32_MAX)
            return tfl_unsupported(node, "blocks of %lld, padding of %lld",
                                   (long long)blocks->extent.at[i / 2],
                                   (long long)blocks->around.at[i]);
    return true;
}

static struct value *padded(struct tfl_node *node, const struct blocks *blocks)
{
    const struct tfl_tensor *x = node->inputs[0];
    union attrs attrs = { .pad = { .mode = "constant",
                                   .value = dtype_is_float(x->type.dtype) ? 0 : (double)tfl_zero(x),
                                   .pad_before = ints_fill(x->type.rank, 0),
                                   .pad_after = ints_fill(x->type.rank, 0) } };

    for (int i = 0; i < blocks->n; i++) {
        attrs.pad.pad_before.at[1 + i] = blocks->around.at[2 * i];
        attrs.pad.pad_after.at[1 + i] = blocks->around.at[2 * i + 1];
    }
    return tfl_build1(node, OP_PAD, &attrs, "padded", tfl_value(node, 0));
}

bool convert_tfl_space_to_batch(struct tfl_node *node)
{
    struct type split = { .rank = 0 };
    struct blocks blocks;
    struct value *x;
    int64_t axes[MAX_RANK];
    int n = 0;

    if (!read_blocks(node, &blocks))
        return false;
    x = padded(node, &blocks);
    if (!x)
        return false;
    split.dim[split.rank++] = x->type.dim[0];
    for (int i = 0; i < blocks.n; i++) {
        if (x->type.dim[1 + i] % blocks.extent.at[i])
            return tfl_unsupported(node, "dimension %d of %lld, not a multiple of %lld", 1 + i,
                                   (long long)x->type.dim[1 + i], (long long)blocks.extent.at[i]);
        split.dim[split.rank++] = x->type.dim[1 + i] / blocks.extent.at[i];
        split.dim[split.rank++] = blocks.extent.at[i];
    }
    for (int i = 1 + blocks.n; i < x->type.rank; i++)
        split.dim[split.rank++] = x->type.dim[i];
    for (int i = 0; i < blocks.n; i++)
        axes[n++] = 2 + 2 * i;
    axes[n++] = 0;
    for (int i = 0; i < blocks.n; i++)
        axes[n++] = 1 + 2 * i;
    for (int i = 1 + 2 * blocks.n; i < split.rank; i++)
        axes[n++] = i;
    x = tfl_permute(node, tfl_reshape(node, x, &split, "split"), "turned", n, axes);
    return tfl_output(node, 0, tfl_reshape(node, x, &node->outputs[0]->type, "shaped"));
}

static struct value *cropped(struct tfl_node *node, struct value *x, const struct blocks *blocks)
{
    union attrs attrs;

    if (!x)
        return NULL;
    attrs.slice = (struct slice_attrs){ .begin = ints_fill(x->type.rank, 0),
                                        .strides = ints_fill(x->type.rank, 1),
                                        .size = ints_of(x->type.rank, x->type.dim) };
    for (int i = 0; i < blocks->n; i++) {
        const int64_t before = blocks->around.at[2 * i], behind = blocks->around.at[2 * i + 1];

        attrs.slice.begin.at[1 + i] = before;
        attrs.slice.size.at[1 + i] -= before + behind;
        if (attrs.slice.size.at[1 + i] < 0) {
            tfl_unsupported(node, "crops of %lld and %lld of %lld", (long long)before,
                            (long long)behind, (long long)x->type.dim[1 + i]);
            return NULL;
        }
    }
    return tfl_build1(node, OP_STRIDED_SLICE, &attrs, "cropped", x);
}

bool convert_tfl_batch_to_space(struct tfl_node *node)
{
    struct type split = { .rank = 0 }, joined = { .rank = 0 };
    const struct type *x;
    struct blocks blocks;
    struct value *y;
    int64_t axes[MAX_RANK], batch;
    int n = 0;

    if (!read_blocks(node, &blocks))
        return false;
    x = &node->inputs[0]->type;
    batch = x->dim[0];
    for (int i = 0; i < blocks.n; i++) {
        if (batch % blocks.extent.at[i])
            return tfl_unsupported(node, "a batch of %lld, not a multiple of a block's elements",
                                   (long long)x->dim[0]);
        batch /= blocks.extent.at[i];
        split.dim[split.rank++] = blocks.extent.at[i];
    }
    split.dim[split.rank++] = batch;
    for (int i = 1; i < x->rank; i++)
        split.dim[split.rank++] = x->dim[i];
    axes[n++] = blocks.n;
    joined.dim[joined.rank++] = batch;
    for (int i = 0; i < blocks.n; i++) {
        axes[n++] = blocks.n + 1 + i;
        axes[n++] = i;
        joined.dim[joined.rank++] = x->dim[1 + i] * blocks.extent.at[i];
    }
    for (int i = 1 + blocks.n; i < x->rank; i++) {
        axes[n++] = blocks.n + i;
        joined.dim[joined.rank++] = x->dim[i];
    }
    y = tfl_permute(node, tfl_reshape(node, tfl_value(node, 0), &split, "split"), "turned", n,
                    axes);
    return tfl_output(node, 0, cropped(node, tfl_reshape(node, y, &joined, "joined"), &blocks));
}

/* --- mirrors ---------------------------------------------------------------------------------- */

/* Element i behind `before` elements that mirror x of `extent`; symmetric: the border is repeated. */
static int64_t mirrored(int64_t i, int64_t before, int64_t extent, bool symmetric)
{
    const int64_t at = i - before, last = extent - 1;

    return at < 0 ? -at - symmetric : at > last ? 2 * last - at + symmetric : at;
}

bool convert_tfl_mirror_pad(struct tfl_node *node)
{
    const int64_t symmetric = tfl_word(node, 0);
    struct ints amounts;
    const struct type *x;
    struct value *value;

    if (!tfl_check(node, 2, 2, 1) || !tfl_check_kept(node, node->inputs[0], node->outputs[0]) ||
        !tfl_constant_ints(node, 1, &amounts))
        return false;
    x = &node->inputs[0]->type;
    if (amounts.n != 2 * x->rank || symmetric < 0 || symmetric > 1)
        return tfl_unsupported(node, "mode %lld, %d amounts for %s", (long long)symmetric,
                               amounts.n, type_text(&node->ctx->perm, x));
    value = tfl_value(node, 0);
    for (int axis = 0; axis < x->rank; axis++) {
        const union attrs attrs = { .axis = { .axis = axis } };
        const int64_t before = amounts.at[2 * axis], behind = amounts.at[2 * axis + 1];
        const int64_t most = x->dim[axis] - 1 + symmetric;
        struct type type;
        int64_t *at;

        if (before < 0 || behind < 0 || before > most || behind > most)
            return tfl_unsupported(node, "padding of %lld and %lld, of %lld elements",
                                   (long long)before, (long long)behind, (long long)x->dim[axis]);
        if (!before && !behind)
            continue;
        type = type_make(DTYPE_I64, 1, (const int64_t[]){ before + x->dim[axis] + behind });
        at = tfl_payload(node, &type);
        for (int64_t i = 0; at && i < type.dim[0]; i++)
            at[i] = mirrored(i, before, x->dim[axis], symmetric != 0);
        value = tfl_build(node, OP_TAKE, &attrs, "mirrored", 2,
                          (struct value *const[]){ value, tfl_made(node, &type, at, "at") });
    }
    return tfl_output(node, 0, tfl_build1(node, OP_COPY, NULL, "y", value));
}
