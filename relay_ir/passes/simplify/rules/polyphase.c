#include "relay_ir/passes/simplify/rules/polyphase.h"

#include "relay_ir/layout.h"

enum {
    MOST_STRIDE = 256,
    MOST_GROWTH = 16 /* of the weights, by zeros */
};

/* The number of taps that all phases have together, the first and the last of which read x at these
 * offsets; at least as far as it takes for no padding to be negative. */
static int64_t span(struct polyphase_dim *d, int64_t shift)
{
    int64_t first = 0, last;

    d->positions = (d->out + shift + d->stride - 1) / d->stride;
    last = d->in - d->positions;
    for (int64_t k = 0; k < d->k; k++) {
        const int64_t at = d->pad - shift - k * d->dil;
        const int64_t phase = ((-at) % d->stride + d->stride) % d->stride;
        const int64_t offset = (phase + at) / d->stride; /* exact */

        first = offset < first ? offset : first;
        last = offset > last ? offset : last;
    }
    d->shift = shift;
    d->first = first;
    d->taps = last - first + 1;
    return d->taps;
}

/* With the padding as shift, phases begin with taps 0, 1 ...: kernels without dilation have no
 * fewer taps together than k / stride, rounded up. */
static void set_dim(struct polyphase_dim *d)
{
    const int64_t least = span(d, 0);

    if (span(d, d->pad % d->stride) >= least)
        span(d, 0);
}

bool polyphase_of(const struct node *node, struct polyphase *p)
{
    const struct conv_transpose_attrs *attrs = &node->attrs.conv_transpose;
    const struct type *x = &node->inputs[0]->type, *w = &node->inputs[1]->type;
    const struct type *y = &node->outputs[0]->type;
    int64_t taps = 1, kernel = 1;

    if (layout_is_last(attrs->data_layout) || type_elements(y) == 0 || type_elements(x) == 0 ||
        type_elements(w) == 0)
        return false;
    p->rank = op_spatial_rank(node->op);
    p->groups = attrs->groups;
    p->in_c = w->dim[0] / p->groups;
    p->out_c = w->dim[1];
    p->n = 1;
    for (int i = 0; i < p->rank; i++) {
        struct polyphase_dim *d = &p->dims[i];

        *d = (struct polyphase_dim){ .k = w->dim[2 + i],
                                     .stride = attrs->strides.at[i],
                                     .dil = attrs->dilation.at[i],
                                     .pad = attrs->padding.at[i],
                                     .in = x->dim[2 + i],
                                     .out = y->dim[2 + i] };
        if (d->stride > MOST_STRIDE || d->out > SPATIAL_MOST)
            return false;
        set_dim(d);
        p->n *= d->stride;
        taps *= d->taps;
        kernel *= d->k;
        if (d->taps > SPATIAL_MOST || taps * p->n > MOST_GROWTH * kernel)
            return false;
    }
    return true;
}

int64_t polyphase_channels(const struct polyphase *p)
{
    return p->n * p->groups * p->out_c;
}

int64_t polyphase_old_channel(const struct polyphase *p, int64_t channel)
{
    return p->groups == 1 ? channel % p->out_c : channel / p->n;
}

int64_t polyphase_phase(const struct polyphase *p, int64_t channel)
{
    return p->groups == 1 ? channel / p->out_c : channel % p->n;
}

struct ints polyphase_padding(const struct polyphase *p)
{
    struct ints padding = ints_fill(2 * p->rank, 0);

    for (int i = 0; i < p->rank; i++) {
        const struct polyphase_dim *d = &p->dims[i];

        padding.at[i] = -d->first;
        padding.at[p->rank + i] = d->positions - d->in + d->first + d->taps - 1;
    }
    return padding;
}

/* The tap of the kernel that reads x at q + first + j in this phase; -1 = none does. */
static int64_t tap_of(const struct polyphase_dim *d, int64_t phase, int64_t j)
{
    const int64_t reach = phase - d->shift + d->pad - (d->first + j) * d->stride;

    return reach >= 0 && reach % d->dil == 0 && reach / d->dil < d->k ? reach / d->dil : -1;
}

int64_t polyphase_old_place(const struct polyphase *p, int64_t phase, int64_t place)
{
    int64_t old = 0, step = 1;

    for (int i = p->rank - 1; i >= 0; i--) {
        const struct polyphase_dim *d = &p->dims[i];
        const int64_t tap = tap_of(d, phase % d->stride, place % d->taps);

        if (tap < 0)
            return -1;
        old += tap * step;
        step *= d->k;
        phase /= d->stride;
        place /= d->taps;
    }
    return old;
}
