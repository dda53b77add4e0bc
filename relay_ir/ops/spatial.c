#include "relay_ir/ops/spatial.h"

#include <string.h>

#include "relay_ir/ops/check.h"

int64_t slide_covers(const struct slide *slide)
{
    return (slide->kernel - 1) * slide->dilation + 1;
}

bool spatial_check_list(struct ctx *ctx, const struct node *node, const char *what, int n,
                        int64_t least, int64_t missing, struct ints *list)
{
    if (list->n == 0)
        *list = ints_fill(n, missing);
    if (list->n != n)
        return diag_error(ctx, DIAG_SHAPE, node_origin(node), "%s: %s has %d entries, expected %d",
                          op_name(node->op), what, list->n, n);
    for (int i = 0; i < n; i++)
        if (list->at[i] < least || list->at[i] > SPATIAL_MOST)
            return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                              "%s: %s has the entry %lld, expected %lld to %lld", op_name(node->op),
                              what, (long long)list->at[i], (long long)least,
                              (long long)SPATIAL_MOST);
    return true;
}

bool spatial_check(struct ctx *ctx, const struct node *node, int rank, struct ints *strides,
                   struct ints *padding, struct ints *dilation)
{
    bool ok = spatial_check_list(ctx, node, "strides", rank, 1, 1, strides);

    ok = spatial_check_list(ctx, node, "dilation", rank, 1, 1, dilation) && ok;
    return spatial_check_list(ctx, node, "padding", 2 * rank, 0, 0, padding) && ok;
}

struct spatial spatial_make(int rank, const int64_t *x, const int64_t *kernel,
                            const struct ints *strides, const struct ints *padding,
                            const struct ints *dilation)
{
    struct spatial spatial;

    for (int i = 0; i < MAX_SPATIAL; i++)
        spatial.dim[i] = (struct slide){ .in = 1, .kernel = 1, .stride = 1, .dilation = 1 };
    for (int i = 0; i < rank; i++)
        spatial.dim[MAX_SPATIAL - rank + i] = (struct slide){ .in = x[i],
                                                              .kernel = kernel[i],
                                                              .stride = strides->at[i],
                                                              .dilation = dilation->at[i],
                                                              .pad_before = padding->at[i],
                                                              .pad_after = padding->at[rank + i] };
    return spatial;
}

bool spatial_check_fit(struct ctx *ctx, const struct node *node, int rank,
                       const struct spatial *spatial, bool hangs_over)
{
    bool ok = true;

    for (int i = 0; i < rank; i++) {
        const struct slide *slide = &spatial->dim[MAX_SPATIAL - rank + i];
        const int64_t padded = slide->pad_before + slide->in + slide->pad_after;
        const int64_t over = hangs_over ? slide->stride - 1 : 0;

        if (slide->in > SPATIAL_MOST || slide->kernel > SPATIAL_MOST)
            ok = diag_error(ctx, DIAG_TOO_BIG, node_origin(node),
                            "%s: spatial dimension %d is too long: input %lld, kernel %lld",
                            op_name(node->op), i, (long long)slide->in, (long long)slide->kernel);
        else if (slide->kernel < 1)
            ok =
                diag_error(ctx, DIAG_SHAPE, node_origin(node),
                           "%s: the kernel is empty in spatial dimension %d", op_name(node->op), i);
        else if (slide_covers(slide) - over > padded)
            ok = diag_error(
                ctx, DIAG_SHAPE, node_origin(node),
                "%s: in spatial dimension %d the kernel covers %lld elements, the padded "
                "input has %lld",
                op_name(node->op), i, (long long)slide_covers(slide), (long long)padded);
    }
    if (!ok)
        diag_help(ctx, "a bigger input shape, or more padding");
    return ok;
}

void slide_range(const struct slide *slide, int64_t k, int64_t *from, int64_t *to)
{
    const int64_t shift = slide->pad_before - k * slide->dilation; /* i = o * stride - shift */
    const int64_t end = slide->in + shift;

    *from = shift > 0 ? (shift + slide->stride - 1) / slide->stride : 0;
    *to = end > 0 ? (end + slide->stride - 1) / slide->stride : 0;
    if (*to > slide->out)
        *to = slide->out;
    if (*from > *to)
        *from = *to;
}

static const char *spatial_letters(int rank)
{
    static const char *const letters[] = { "", "W", "HW", "DHW" };

    return rank <= MAX_SPATIAL ? letters[rank] : "";
}

bool spatial_check_layout(struct ctx *ctx, const struct node *node, const char *what, int rank,
                          const char **word)
{
    struct arena *arena = &node->fn->module->arena;
    const char *letters = spatial_letters(rank);
    const char *wanted[] = { arena_printf(arena, "NC%s", letters),
                             arena_printf(arena, "N%sC", letters) };

    return check_word(ctx, node, what, word, wanted, *letters ? 2 : 1);
}

bool spatial_check_kernel_layout(struct ctx *ctx, const struct node *node, int rank,
                                 const char *first, const char **word)
{
    const char *wanted =
        arena_printf(&node->fn->module->arena, "%s%s", first, spatial_letters(rank));

    if (check_word(ctx, node, "kernel_layout", word, &wanted, 1))
        return true;
    diag_help(ctx, "only kernels with the channels before the spatial dimensions are supported");
    return false;
}

double *doubles_of(struct bulk *bulk, const struct tensor *tensor)
{
    const int64_t n = type_elements(&tensor->type);
    double *to = bulk_alloc(bulk, (size_t)n * sizeof *to);

    if (tensor->type.dtype == DTYPE_F32) {
        const float *from = tensor->data;

        for (int64_t i = 0; i < n; i++)
            to[i] = (double)from[i];
    } else {
        for (int64_t i = 0; i < n; i++)
            to[i] = tensor_at(tensor, i);
    }
    return to;
}

void doubles_store(struct tensor *tensor, int64_t at, const double *from, int64_t n)
{
    if (tensor->type.dtype == DTYPE_F32) {
        float *to = (float *)tensor->data + at;

        for (int64_t i = 0; i < n; i++)
            to[i] = (float)from[i];
    } else {
        for (int64_t i = 0; i < n; i++)
            dtype_store(tensor->type.dtype, tensor->data, at + i, from[i]);
    }
}
