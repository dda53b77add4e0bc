/* conv.c - convolutions and transposed convolutions of one to three spatial dims. */
#include "relay_ir/layout.h"
#include "runtime/engine/primitive.h"

enum { LONG_KERNEL = 16 };

/* The geometry as oneDNN takes it. */
struct window {
    int n; /* spatial dims */
    dnnl_dims_t strides, dilation, begin, end;
};

static struct window window_of(int n, const struct ints *strides, const struct ints *padding,
                               const struct ints *dilation)
{
    struct window window = { .n = n };

    for (int i = 0; i < n; i++) {
        window.strides[i] = ints_get(strides, i, 1);
        window.dilation[i] = ints_get(dilation, i, 1) - 1; /* oneDNN counts the gaps */
        window.begin[i] = ints_get(padding, i, 0);
        window.end[i] = ints_get(padding, n + i, 0);
    }
    return window;
}

/* Weights as oneDNN's dims ([groups,] out, in, spatial), in the order of the model: out is the
 * outer channel dim of a convolution, the inner one of a transposed convolution. */
static dnnl_memory_desc_t weight_layout(const struct type *weight, int64_t groups, bool transposed,
                                        dnnl_memory_desc_t *any)
{
    const int at = groups > 1, rank = weight->rank + at;
    const int64_t outer = weight->dim[0] / groups, inner = weight->dim[1];
    dnnl_memory_desc_t layout;
    dnnl_dims_t dims, strides;
    int64_t step = 1;

    for (int i = weight->rank - 1; i >= 2; i--) {
        dims[at + i] = weight->dim[i];
        strides[at + i] = step;
        step *= weight->dim[i];
    }
    dims[0] = groups;
    strides[0] = step * inner * outer;
    dims[at] = transposed ? inner : outer;
    strides[at] = transposed ? step : step * inner;
    dims[at + 1] = transposed ? outer : inner;
    strides[at + 1] = transposed ? step * inner : step;
    dnnl_memory_desc_init_by_strides(&layout, rank, dims, dnnl_f32, strides);
    *any = layout_any(rank, dims);
    return layout;
}

/* Generated kernels of oneDNN 2.6 have been seen to go wrong where the window is long, or where it
 * can lie in the padding entirely. */
static bool is_delicate(const struct type *weight, const struct window *window)
{
    for (int i = 0; i < window->n; i++) {
        const int64_t extent = (weight->dim[2 + i] - 1) * (window->dilation[i] + 1) + 1;

        if (weight->dim[2 + i] >= LONG_KERNEL || window->begin[i] >= extent ||
            window->end[i] >= extent)
            return true;
    }
    return false;
}

bool conv_supports(const struct node *node, const char **why)
{
    (void)node; /* in every form: what it reads is decoded */
    (void)why;
    return true;
}

/* Binds src, weights, bias and dst, and adds the step. */
static bool conv_finish(struct work *work, const dnnl_memory_desc_t *weight_as)
{
    const struct value *bias = work_bias(work);
    struct operand x = work_image(work, work->node->inputs[0], node_layout(work->node));
    struct operand w = work_plain(work, work->node->inputs[1]);

    w.as = *weight_as;
    if (!work_bind(work, DNNL_ARG_SRC, &x) || !work_bind(work, DNNL_ARG_WEIGHTS, &w))
        return false;
    if (bias) {
        int64_t n = type_elements(&bias->type);
        struct operand b = work_dense(work, bias, 1, &n);

        if (!work_bind(work, DNNL_ARG_BIAS, &b))
            return false;
    }
    return work_result(work, DNNL_ARG_DST, 0) && work_finish(work);
}

bool conv_prepare(struct work *work)
{
    const struct conv_attrs *a = &work->node->attrs.conv;
    const struct type *w = &work->node->inputs[1]->type;
    const struct type x = type_channels_first(&work->node->inputs[0]->type, a->data_layout);
    const struct type y = type_channels_first(&work->node->outputs[0]->type, a->out_layout);
    const struct window window = window_of(x.rank - 2, &a->strides, &a->padding, &a->dilation);
    dnnl_memory_desc_t src = layout_any(x.rank, x.dim), dst = layout_any(y.rank, y.dim);
    dnnl_memory_desc_t bias = layout_dense(1, &y.dim[1]), weight_any, weight;
    dnnl_convolution_desc_t desc;

    work->out_layout = a->out_layout;
    work->generic_only = is_delicate(w, &window);
    weight = weight_layout(w, a->groups, false, &weight_any);
    return work_take(work,
                     dnnl_dilated_convolution_forward_desc_init(
                         &desc, dnnl_forward_inference, dnnl_convolution_direct, &src, &weight_any,
                         work_bias(work) ? &bias : NULL, &dst, window.strides, window.dilation,
                         window.begin, window.end),
                     NULL) &&
           work_create(work, &desc, &dst) && conv_finish(work, &weight);
}

bool deconv_supports(const struct node *node, const char **why)
{
    const struct conv_transpose_attrs *a = &node->attrs.conv_transpose;
    const int n = node->inputs[0]->type.rank - 2;

    for (int i = 0; i < n; i++)
        if (ints_get(&a->padding, n + i, 0) < ints_get(&a->output_padding, i, 0)) {
            *why = "the output is padded beyond what the input reaches";
            return false;
        }
    return true;
}

bool deconv_prepare(struct work *work)
{
    const struct conv_transpose_attrs *a = &work->node->attrs.conv_transpose;
    const struct type *w = &work->node->inputs[1]->type;
    const struct type x = type_channels_first(&work->node->inputs[0]->type, a->data_layout);
    const struct type y = type_channels_first(&work->node->outputs[0]->type, a->data_layout);
    struct window window = window_of(x.rank - 2, &a->strides, &a->padding, &a->dilation);
    dnnl_memory_desc_t src = layout_any(x.rank, x.dim), dst = layout_any(y.rank, y.dim);
    dnnl_memory_desc_t bias = layout_dense(1, &y.dim[1]), weight_any, weight;
    dnnl_deconvolution_desc_t desc;

    work->out_layout = a->data_layout;
    for (int i = 0; i < window.n; i++)
        window.end[i] -= ints_get(&a->output_padding, i, 0);
    work->generic_only = is_delicate(w, &window);
    weight = weight_layout(w, a->groups, true, &weight_any);
    return work_take(work,
                     dnnl_dilated_deconvolution_forward_desc_init(
                         &desc, dnnl_forward_inference, dnnl_deconvolution_direct, &src,
                         &weight_any, work_bias(work) ? &bias : NULL, &dst, window.strides,
                         window.dilation, window.begin, window.end),
                     NULL) &&
           work_create(work, &desc, &dst) && conv_finish(work, &weight);
}
