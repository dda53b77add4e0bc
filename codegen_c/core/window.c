/* window.c - see window.h. */
#include "codegen_c/core/window.h"

#include "codegen_c/core/anchor.h"
#include "codegen_c/core/matrix.h"
#include "relay_ir/layout.h"

/* What both layouts determine; pads may be longer than the spatial rank, begins come first. */
static struct window window_make(const struct type *x, const char *x_layout, const struct type *y,
                                 const char *y_layout, const struct ints *k,
                                 const struct ints *strides, const struct ints *dilation,
                                 const struct ints *padding)
{
    struct window w = { .rank = x->rank - 2,
                        .batch = x->dim[0],
                        .groups = 1,
                        .channels_last = layout_is_last(x_layout),
                        .out_channels_last = layout_is_last(y_layout) };
    const int64_t *const x_dim = x->dim + (w.channels_last ? 1 : 2);
    const int64_t *const y_dim = y->dim + (w.out_channels_last ? 1 : 2);

    w.in_c = x->dim[w.channels_last ? x->rank - 1 : 1];
    w.out_c = y->dim[w.out_channels_last ? y->rank - 1 : 1];

    for (int i = 0; i < 3; i++) {
        int from = i - (3 - w.rank); /* the operator's dim, negative if it lacks this one */

        w.in[i] = from < 0 ? 1 : x_dim[from];
        w.out[i] = from < 0 ? 1 : y_dim[from];
        w.k[i] = from < 0 ? 1 : k->at[from];
        w.stride[i] = from < 0 || from >= strides->n ? 1 : strides->at[from];
        w.dil[i] = from < 0 || from >= dilation->n ? 1 : dilation->at[from];
        w.pad[i] = from < 0 || from >= padding->n ? 0 : padding->at[from];
    }
    return w;
}

bool window_reaches_out(const struct window *w, int dim)
{
    return w->pad[dim] > 0 ||
           (w->out[dim] - 1) * w->stride[dim] + (w->k[dim] - 1) * w->dil[dim] - w->pad[dim] >=
               w->in[dim];
}

static bool reaches_outside(const struct window *w)
{
    return window_reaches_out(w, 0) || window_reaches_out(w, 1) || window_reaches_out(w, 2);
}

/* Rows of a matrix as pixels. */
static struct window window_of_rows(const struct dense *d)
{
    return (struct window){ .rank = 1,
                            .batch = 1,
                            .groups = 1,
                            .in_c = d->in_c,
                            .out_c = d->out_c,
                            .in = { 1, 1, d->rows },
                            .out = { 1, 1, d->rows },
                            .k = { 1, 1, 1 },
                            .stride = { 1, 1, 1 },
                            .dil = { 1, 1, 1 },
                            .channels_last = true,
                            .out_channels_last = true };
}

bool window_is_dense(const struct region *region, struct dense *dense)
{
    const enum op op = region->anchor->op;

    if (op != OP_DENSE && op != OP_MATMUL)
        return false;
    *dense = op == OP_DENSE ? dense_of(region) : dense_of_matmul(region);
    return true;
}

struct window window_of_conv(const struct region *region)
{
    const struct conv_attrs *attrs = &region->anchor->attrs.conv;
    const struct type *weight = anchor_input(region, 1);
    struct dense dense;
    struct window w;
    struct ints k;

    if (window_is_dense(region, &dense))
        return window_of_rows(&dense);
    k = ints_of(weight->rank - 2, weight->dim + 2);
    w = window_make(anchor_input(region, 0), attrs->data_layout, anchor_output(region, 0),
                    attrs->out_layout, &k, &attrs->strides, &attrs->dilation, &attrs->padding);

    w.groups = attrs->groups;
    w.padded = reaches_outside(&w);
    return w;
}

struct window window_of_conv_transpose(const struct region *region)
{
    const struct conv_transpose_attrs *attrs = &region->anchor->attrs.conv_transpose;
    const struct type *weight = anchor_input(region, 1);
    struct ints k = ints_of(weight->rank - 2, weight->dim + 2);
    struct window w =
        window_make(anchor_input(region, 0), attrs->data_layout, anchor_output(region, 0),
                    attrs->data_layout, &k, &attrs->strides, &attrs->dilation, &attrs->padding);

    w.groups = attrs->groups;
    w.padded = w.transposed = true;
    return w;
}

struct window window_of_pool(const struct region *region)
{
    const struct pool_attrs *attrs = &region->anchor->attrs.pool;
    struct window w =
        window_make(anchor_input(region, 0), attrs->layout, anchor_output(region, 0), attrs->layout,
                    &attrs->pool_size, &attrs->strides, &attrs->dilation, &attrs->padding);

    w.padded = reaches_outside(&w);
    return w;
}

int64_t window_in_len(const struct window *w)
{
    return w->in[0] * w->in[1] * w->in[2];
}

int64_t window_out_len(const struct window *w)
{
    return w->out[0] * w->out[1] * w->out[2];
}

int64_t window_k_len(const struct window *w)
{
    return w->k[0] * w->k[1] * w->k[2];
}

int64_t window_padded_extent(const struct window *w, int dim)
{
    const int64_t n = w->transposed ? w->in[dim] : w->out[dim]; /* window positions */
    const int64_t last = (n - 1) * w->stride[dim] + (w->k[dim] - 1) * w->dil[dim];
    const int64_t covered = w->pad[dim] + (w->transposed ? w->out[dim] : w->in[dim]);

    return last + 1 > covered ? last + 1 : covered;
}

bool windows_reach(const struct window *w, int dim)
{
    for (int64_t o = 0; o < w->out[dim]; o++) {
        bool any = false;

        for (int64_t k = 0; k < w->k[dim] && !any; k++) {
            const int64_t at = o * w->stride[dim] + k * w->dil[dim] - w->pad[dim];

            any = at >= 0 && at < w->in[dim];
        }
        if (!any)
            return false;
    }
    return true;
}

bool window_is_last(const struct window *w)
{
    return w->channels_last && w->out_channels_last && w->batch == 1;
}

bool takes_window(const struct window *w, const char **why)
{
    const int64_t most = INT32_MAX / 8;
    int64_t padded = 1;

    *why = "strides, dilation or padding are larger than an int can tell";
    for (int i = 0; i < 3; i++) {
        const int64_t extent = window_padded_extent(w, i);

        if (w->stride[i] > most || w->dil[i] > most || extent > most)
            return false;
        padded *= extent;
        if (padded > most)
            return false;
    }
    return true;
}

void bind_window(struct bind *bind, const struct window *w)
{
    static const char *const names[][3] = {
        { "in_d", "in_h", "in_w" },    { "out_d", "out_h", "out_w" },
        { "k_d", "k_h", "k_w" },       { "stride_d", "stride_h", "stride_w" },
        { "dil_d", "dil_h", "dil_w" }, { "pad_front", "pad_top", "pad_left" },
    };
    const int64_t *numbers[] = { w->in, w->out, w->k, w->stride, w->dil, w->pad };

    for (size_t row = 0; row < sizeof numbers / sizeof *numbers; row++)
        for (int i = w->rank == 3 ? 0 : 1; i < 3; i++)
            bind_int(bind, names[row][i], numbers[row][i]);
    offer_padded(bind, w);
}

void offer_padded(struct bind *bind, const struct window *w)
{
    keys_offer(bind->keys, "padded", w->padded ? "1" : "");
}

bool takes_channels_first(const char *data_layout, const char *out_layout, const char **why)
{
    *why = "the channels are last";
    return !layout_is_last(data_layout) && !layout_is_last(out_layout);
}
