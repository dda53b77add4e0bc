/* stored.c - the payload of a tensor of the file: borrowed where it lies as relayc reads it, else made: quantised
 * values of UINT8 are 128 less, INT4 is unpacked, sparse tensors are filled up. */
#include <string.h>

#include "frontend/tflite/convert.h"
#include "relay_ir/walk.h"

static bool is_aligned(const void *data, size_t bytes)
{
    return (uintptr_t)data % bytes == 0;
}

/* A constant that an operator has made; or the f16 numbers, which are the same, behind a conversion to f32. */
static const struct value *known(const struct tfl_tensor *tensor)
{
    const struct value *value = tensor->value;
    const struct node *def = value && value->kind == VALUE_OUTPUT ? value->def : NULL;

    if (value && value->kind == VALUE_CONSTANT)
        return value;
    return def && def->op == OP_CAST && def->inputs[0]->kind == VALUE_CONSTANT &&
                   def->inputs[0]->type.dtype == DTYPE_F16 && value->type.dtype == DTYPE_F32
               ? def->inputs[0]
               : NULL;
}

/* --- sparse tensors --------------------------------------------------------------------------- */

enum { TRAVERSAL, BLOCK_MAP, DIMENSIONS }; /* of a table of sparsity */
enum { FORMAT, DENSE_SIZE, SEGMENTS_TYPE, SEGMENTS, INDICES_TYPE, INDICES }; /* of a dimension */
enum { MOST_LEVELS = 2 * MAX_RANK };

/* A list of integers of 1 (kind 3), 2 (kind 2) or 4 bytes (kind 1). */
struct numbers {
    struct fb_vector list;
    int bytes;
};

/* A level of the tree that the elements are leaves of, in the order in which they lie in the file. */
struct level {
    bool is_sparse;
    int64_t extent; /* of all positions, where they are dense */
    struct numbers starts, at;
    int dimension; /* of the tensor */
    int64_t unit;  /* how far in that dimension one step goes */
    int64_t used;  /* of `at`, so far */
};

struct tree {
    int n;
    struct level levels[MOST_LEVELS + 1];
    int64_t steps[MAX_RANK]; /* of the dense tensor, in elements */
    const struct tensor *to;
    const uint8_t *from;
    size_t bytes; /* of an element */
    int64_t n_from, next;
};

static struct numbers numbers_of(const struct fb_table *dimension, int type, int field)
{
    const int64_t kind = fb_int(dimension, type, 1, 0);
    const struct fb_table table = fb_table(dimension, field);
    const int bytes = kind == 1 ? 4 : kind == 2 ? 2 : 1;

    return (struct numbers){ fb_vector(&table, 0, (size_t)bytes), bytes };
}

static int64_t number_at(const struct numbers *numbers, int64_t i)
{
    const int64_t number = i >= 0 && (uint64_t)i < numbers->list.n
                               ? fb_int_at(&numbers->list, (size_t)i, numbers->bytes)
                               : -1;

    return numbers->bytes == 1   ? number & UINT8_MAX
           : numbers->bytes == 2 ? number & UINT16_MAX
                                 : number;
}

/* Writes the next element of the file to the place that a path through all levels leads to. */
static bool put(struct tree *tree, const int64_t *at)
{
    int64_t offset = 0;

    for (int i = 0; i < tree->to->type.rank; i++)
        offset += at[i] * tree->steps[i];
    if (tree->next >= tree->n_from)
        return false;
    memcpy((char *)tree->to->data + (size_t)offset * tree->bytes,
           tree->from + (size_t)tree->next++ * tree->bytes, tree->bytes);
    return true;
}

/* Writes what lies below node number `place` of level `k`, to which the path `at` leads. False if an index is beyond
 * its dimension, or elements lack. Each list is read once, from its begin to its end: so the work is bounded. */
static bool fill(struct tree *tree, int k, int64_t place, const int64_t *at)
{
    struct level *level = &tree->levels[k];
    int64_t from, to;

    if (k == tree->n)
        return put(tree, at);
    from = level->is_sparse ? number_at(&level->starts, place) : place * level->extent;
    to = level->is_sparse ? number_at(&level->starts, place + 1) : from + level->extent;
    if (level->is_sparse && (from != level->used || to < from || (uint64_t)to > level->at.list.n))
        return false;
    level->used = to;
    for (int64_t i = from; i < to; i++) {
        const int64_t index = level->is_sparse ? number_at(&level->at, i) : i - from;
        int64_t next[MAX_RANK];

        memcpy(next, at, sizeof next);
        if (index < 0 || index > INT32_MAX)
            return false;
        next[level->dimension] += index * level->unit;
        if (next[level->dimension] >= tree->to->type.dim[level->dimension] ||
            !fill(tree, k + 1, i, next))
            return false;
    }
    return true;
}

/* The levels; the first `rank` are dimensions, the others blocks of these. */
static bool read_levels(const struct tfl_tensor *tensor, struct tree *tree)
{
    const struct fb_vector order = fb_vector(&tensor->sparsity, TRAVERSAL, 4);
    const struct fb_vector blocks = fb_vector(&tensor->sparsity, BLOCK_MAP, 4);
    const struct fb_vector dimensions = fb_vector(&tensor->sparsity, DIMENSIONS, 4);
    const int rank = tensor->type.rank;
    int64_t block[MAX_RANK];
    bool seen[MOST_LEVELS] = { false };

    if (rank < 1 || blocks.n > (size_t)rank || order.n != (size_t)rank + blocks.n ||
        dimensions.n != order.n)
        return false;
    tree->n = (int)order.n;
    for (int i = 0; i < MAX_RANK; i++)
        block[i] = 1;
    for (int k = 0; k < tree->n; k++) {
        const struct fb_table dimension = fb_element(&dimensions, (size_t)k);
        const int64_t at = fb_int_at(&order, (size_t)k, 4),
                      format = fb_int(&dimension, FORMAT, 1, 0);
        struct level *level = &tree->levels[k];
        int64_t of;

        if (at < 0 || at >= tree->n || seen[at] || (format != 0 && format != 1))
            return false;
        seen[at] = true;
        of = at < rank ? at : fb_int_at(&blocks, (size_t)(at - rank), 4);
        level->is_sparse = format == 1;
        level->extent = fb_int(&dimension, DENSE_SIZE, 4, 0);
        if (of < 0 || of >= rank ||
            (!level->is_sparse && (level->extent < 1 || level->extent > tensor->type.dim[of])))
            return false;
        level->dimension = (int)of;
        level->unit = at < rank ? 0 : 1; /* 0: that of the block, below */
        if (at >= rank)
            block[of] = level->extent;
        if (level->is_sparse) {
            level->starts = numbers_of(&dimension, SEGMENTS_TYPE, SEGMENTS);
            level->at = numbers_of(&dimension, INDICES_TYPE, INDICES);
        }
    }
    for (int k = 0; k < tree->n; k++)
        if (!tree->levels[k].unit)
            tree->levels[k].unit = block[tree->levels[k].dimension];
    return true;
}

static bool fill_up(const struct tfl_tensor *tensor, struct tensor *to)
{
    struct tree tree = { .to = to,
                         .from = tensor->data.data,
                         .bytes = dtype_bytes(tensor->type.dtype) };
    const int64_t none[MAX_RANK] = { 0 };

    tree.n_from = (int64_t)(tensor->data.n / tree.bytes);
    shape_strides(&tensor->type, tree.steps);
    return read_levels(tensor, &tree) && fill(&tree, 0, 0, none);
}

/* --- payloads --------------------------------------------------------------------------------- */

int8_t tfl_nibble(const uint8_t *data, int64_t i)
{
    const int code = data[i / 2] >> 4 * (i % 2) & 15;

    return (int8_t)(code < 8 ? code : code - 16);
}

static void copy(const struct tfl_tensor *tensor, struct tensor *to)
{
    const int64_t n = type_elements(&tensor->type);

    if (tensor->is_packed) {
        for (int64_t i = 0; i < n; i++)
            ((int8_t *)to->data)[i] = tfl_nibble(tensor->data.data, i);
        return;
    }
    memcpy(to->data, tensor->data.data, type_bytes(&tensor->type));
    for (int64_t i = 0; tensor->is_unsigned && i < n; i++)
        ((uint8_t *)to->data)[i] ^= 128;
}

bool tfl_stored(struct tfl_node *node, const struct tfl_tensor *tensor, struct tensor *out)
{
    const char *name = tfl_tensor_text(node->ctx, node->graph, tensor);
    const struct value *value = tensor->data.data ? NULL : known(tensor);
    const bool is_sparse = tensor->sparsity.at != 0;
    size_t wanted = type_bytes(&tensor->type);

    if (value) {
        *out = value_tensor(value);
        return true;
    }
    if (!tensor->data.data)
        return diag_error(node->ctx, DIAG_UNSUPPORTED_DYNAMIC, node->origin,
                          "%s must be in the file, not computed", name);
    if (tensor->is_packed)
        wanted = (wanted + 1) / 2;
    if (is_sparse ? tensor->is_packed || tensor->is_unsigned : tensor->data.n != wanted)
        return diag_error(node->ctx, DIAG_TFLITE_TENSOR, node->origin,
                          "%s holds %zu bytes%s, expected %zu for %s", name, tensor->data.n,
                          is_sparse ? " of a sparse tensor" : "", wanted,
                          type_text(&node->ctx->perm, &tensor->type));
    out->type = tensor->type;
    out->data = (void *)(uintptr_t)tensor->data.data;
    if (is_aligned(out->data, dtype_bytes(tensor->type.dtype)) && !is_sparse &&
        !tensor->is_packed && !tensor->is_unsigned)
        return true;
    out->data = tfl_payload(node, &tensor->type);
    if (!out->data)
        return false;
    if (!is_sparse)
        copy(tensor, out);
    else if (!fill_up(tensor, out))
        return diag_error(node->ctx, DIAG_TFLITE_TENSOR, node->origin,
                          "%s is a sparse tensor whose lists do not fit its shape", name);
    return true;
}
