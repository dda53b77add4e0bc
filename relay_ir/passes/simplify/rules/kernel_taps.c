/* kernel_taps.c - what of a convolution's kernel never lies over x: atrous pyramids of small
 * images, and windows over what is no larger than they. */
#include <string.h>

#include "relay_ir/layout.h"
#include "relay_ir/passes/rules.h"

/* In one dim: the taps from `first` on, `n` of them, and the padding that these need. */
struct cut {
    int64_t first, n, before, after;
};

/* False where no tap lies over x, or a window would have to begin within it. */
static bool cut_of(const struct node *conv, int i, struct cut *cut)
{
    const struct conv_attrs *attrs = &conv->attrs.conv;
    const int64_t in = conv->inputs[0]->type.dim[2 + i], out = conv->outputs[0]->type.dim[2 + i];
    const int64_t taps = conv->inputs[1]->type.dim[2 + i];
    const int64_t stride = attrs->strides.at[i], dilation = attrs->dilation.at[i];
    int64_t last = -1;

    cut->first = -1;
    for (int64_t k = 0; k < taps; k++) {
        const int64_t at = k * dilation - attrs->padding.at[i]; /* of the first output */
        const int64_t o = at < 0 ? (-at + stride - 1) / stride : 0;

        if (o >= out || at + o * stride >= in)
            continue;
        last = k;
        cut->first = cut->first < 0 ? k : cut->first;
    }
    cut->n = last - cut->first + 1;
    cut->before = attrs->padding.at[i] - cut->first * dilation;
    cut->after = (out - 1) * stride + (cut->n - 1) * dilation + 1 - in - cut->before;
    if (last < 0 || cut->before < 0 || cut->after <= -stride)
        return false;
    cut->after = cut->after < 0 ? 0 : cut->after;
    return true;
}

/* The weight's taps that are left. */
static struct value *cut_weight(struct rewrite *rewrite, struct value *weight,
                                const struct cut *cuts)
{
    struct type type = weight->type;
    const size_t bytes = dtype_bytes(type.dtype);
    int64_t n, taps;
    char *data;

    for (int i = 2; i < type.rank; i++)
        type.dim[i] = cuts[i - 2].n;
    n = type_elements(&type);
    taps = type_span(&type, 2, type.rank);
    data = constant_alloc(rewrite->fn, &type);
    for (int64_t at = 0; at < n; at++) {
        int64_t tap = at % taps, from = 0, step = 1;

        for (int i = type.rank - 1; i >= 2; i--) {
            from += (cuts[i - 2].first + tap % type.dim[i]) * step;
            tap /= type.dim[i];
            step *= weight->type.dim[i];
        }
        memcpy(data + (size_t)at * bytes,
               (const char *)weight->data + (size_t)(at / taps * step + from) * bytes, bytes);
    }
    return rule_constant_like(rewrite, weight, &type, data);
}

/* conv(x, w) -> conv(x, v), v without the outer rows and columns of w that lie in the padding
 * wherever the window is */
struct value *cut_kernel(struct rewrite *rewrite, struct node *root)
{
    struct value *weight = root->inputs[1];
    const int n = weight->type.rank - 2;
    union attrs attrs = root->attrs;
    struct cut cuts[MAX_RANK];
    bool less = false;

    if (weight->kind != VALUE_CONSTANT || !dtype_is_float(weight->type.dtype) ||
        layout_is_last(attrs.conv.data_layout) || layout_is_last(attrs.conv.out_layout))
        return NULL;
    for (int i = 0; i < n; i++) {
        if (!cut_of(root, i, &cuts[i]))
            return NULL;
        less = less || cuts[i].n < weight->type.dim[2 + i];
        attrs.conv.padding.at[i] = cuts[i].before;
        attrs.conv.padding.at[n + i] = cuts[i].after;
        attrs.conv.dilation.at[i] = cuts[i].n > 1 ? attrs.conv.dilation.at[i] : 1;
    }
    return less ? rule_build2(rewrite, root->op, &attrs, root->inputs[0],
                              cut_weight(rewrite, weight, cuts))
                : NULL;
}
