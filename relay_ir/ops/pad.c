/* pad.c - nn.pad: crops where an amount is negative, then adds elements around what is left.
 *
 * reflect and wrap repeat the pattern as often as needed (NumPy); ONNX asks for less. */
#include <string.h>

#include "relay_ir/ops/check.h"
#include "relay_ir/ops/ops.h"
#include "relay_ir/ops/scales.h"
#include "relay_ir/walk.h"

enum { OUTSIDE = -1 };

static const char *const modes[] = { "constant", "reflect", "edge", "wrap" };

/* The extent after padding, or -1 when it makes no sense. */
static int64_t padded_extent(int64_t extent, int64_t before, int64_t after)
{
    const int64_t crop_before = before < 0 ? before : 0, crop_after = after < 0 ? after : 0;
    int64_t kept, padded;

    if (__builtin_add_overflow(extent, crop_before, &kept) || kept < 0 ||
        __builtin_add_overflow(kept, crop_after, &kept) || kept < 0 ||
        __builtin_add_overflow(kept, before - crop_before, &padded) ||
        __builtin_add_overflow(padded, after - crop_after, &padded))
        return -1;
    return padded;
}

/* The other modes repeat elements, so there must be one. */
static bool check_source(struct ctx *ctx, const struct node *node, int i, int64_t extent)
{
    const struct pad_attrs *pad = &node->attrs.pad;
    const int64_t before = pad->pad_before.at[i], after = pad->pad_after.at[i];
    const int64_t kept = extent + (before < 0 ? before : 0) + (after < 0 ? after : 0);

    if (kept > 0 || (before <= 0 && after <= 0) || strcmp(pad->mode, "constant") == 0)
        return true;
    return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                      "%s: axis %d of shape %s has no element to pad with in mode %s",
                      op_name(node->op), i, shape_text(&ctx->perm, input_type(node, 0)), pad->mode);
}

bool infer_pad(struct ctx *ctx, struct node *node)
{
    struct pad_attrs *pad = &node->attrs.pad;
    const struct type *x = input_type(node, 0);
    struct type shape = *x;

    if (!check_word(ctx, node, "mode", &pad->mode, modes, 4) ||
        !check_per_dim(ctx, node, x, "pad_before", &pad->pad_before) ||
        !check_per_dim(ctx, node, x, "pad_after", &pad->pad_after) ||
        (pad->value != 0 && !check_kinds(ctx, node, 0, KINDS_PLAIN)))
        return false;
    for (int i = 0; i < x->rank; i++) {
        shape.dim[i] = padded_extent(x->dim[i], pad->pad_before.at[i], pad->pad_after.at[i]);
        if (shape.dim[i] < 0)
            return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                              "%s: axis %d of shape %s cannot be padded by %lld and %lld",
                              op_name(node->op), i, shape_text(&ctx->perm, x),
                              (long long)pad->pad_before.at[i], (long long)pad->pad_after.at[i]);
        if (!check_source(ctx, node, i, x->dim[i]))
            return false;
    }
    set_output(node, 0, x->dtype, &shape);
    pass_scales_in_place(node, 0, 0);
    return true;
}

static int64_t modulo(int64_t a, int64_t n)
{
    return (a % n + n) % n;
}

/* Which of `kept` elements stands at place `at`, where 0 is the first of them. */
static int64_t source_index(const char *mode, int64_t at, int64_t kept)
{
    if (at >= 0 && at < kept)
        return at;
    switch (*mode) {
    case 'c': return OUTSIDE;
    case 'e': return at < 0 ? 0 : kept - 1;
    case 'w': return modulo(at, kept);
    default: /* reflect: there and back again, without repeating the ends */
        if (kept == 1)
            return 0;
        at = modulo(at, 2 * (kept - 1));
        return at < kept ? at : 2 * (kept - 1) - at;
    }
}

/* For each place along axis i, the element offset of its source, or OUTSIDE. */
static int64_t *source_offsets(struct arena *arena, const struct pad_attrs *pad,
                               const struct type *x, const struct type *y, int i, int64_t x_step)
{
    const int64_t before = pad->pad_before.at[i], after = pad->pad_after.at[i];
    const int64_t crop = before < 0 ? -before : 0;
    const int64_t kept = x->dim[i] - crop + (after < 0 ? after : 0);
    int64_t *offsets = arena_array(arena, int64_t, y->dim[i]);

    for (int64_t at = 0; at < y->dim[i]; at++) {
        const int64_t from = source_index(pad->mode, at - (before > 0 ? before : 0), kept);

        offsets[at] = from == OUTSIDE ? OUTSIDE : (from + crop) * x_step;
    }
    return offsets;
}

bool eval_pad(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
              struct tensor *out)
{
    const struct pad_attrs *pad = &node->attrs.pad;
    const struct type *x = &in[0]->type, *y = &out->type;
    const size_t bytes = dtype_bytes(x->dtype);
    const int64_t n = type_elements(y);
    int64_t x_step[MAX_RANK], *offsets[MAX_RANK];
    struct walk walk = walk_begin(y->rank, y->dim);
    struct arena arena = { NULL };

    (void)ctx;
    if (n == 0)
        return true;
    shape_strides(x, x_step);
    for (int i = 0; i < y->rank; i++)
        offsets[i] = source_offsets(&arena, pad, x, y, i, x_step[i]);
    for (int64_t at = 0; at < n; at++, walk_next(&walk)) {
        int64_t from = 0;

        for (int i = 0; i < y->rank && from != OUTSIDE; i++)
            from = offsets[i][walk.at[i]] == OUTSIDE ? OUTSIDE : from + offsets[i][walk.at[i]];
        if (from != OUTSIDE)
            memcpy(element_at(out, at), element_at(in[0], from), bytes);
        else if (pad->value != 0)
            tensor_put(out, at, pad->value);
    }
    arena_release(&arena);
    return true;
}
