/* fp8_weights.c - constants in a small format, with a scale per output channel.
 *
 * scale of channel c = max|w_c| / greatest number of the format, as f32; code = w / scale, computed
 * in double and rounded once, to nearest even. Channels of zeros have the scale 1. The scale is
 * never so small that it would be subnormal: such channels lose what they hardly had. */
#include "partition/fp8.h"

#include <float.h>
#include <math.h>

#include "base/minifloat.h"

int fp8_weight_axis(const struct node *node, int *scales_rank)
{
    const int weight_rank = node->inputs[1]->type.rank;

    switch (node->op) {
    case OP_DENSE: *scales_rank = 1; return 0;
    case OP_MATMUL:
        *scales_rank = weight_rank < 2 ? 0 : 1;
        return weight_rank < 2 ? -1 : weight_rank - (node->attrs.matmul.transpose_b ? 2 : 1);
    default: *scales_rank = weight_rank - 1; return 0; /* (out_c,1,1) over (n,out_c,h,w) */
    }
}

bool fp8_weights_are_finite(const struct value *weight, int64_t *at)
{
    const float *w = weight->data;
    const int64_t n = type_elements(&weight->type);

    for (*at = 0; *at < n; ++*at)
        if (!isfinite(w[*at]))
            return false;
    return true;
}

/* A tensor as [outer, channels, inner]. */
struct channels {
    int64_t outer, n, inner;
};

static struct channels channels_of(const struct type *type, int axis)
{
    if (axis < 0)
        return (struct channels){ 1, 1, type_elements(type) };
    return (struct channels){ type_span(type, 0, axis), type->dim[axis],
                              type_span(type, axis + 1, type->rank) };
}

static float scale_of(const struct channels *c, const float *w, int64_t channel, double most)
{
    float greatest = 0, scale;

    for (int64_t outer = 0; outer < c->outer; outer++) {
        const float *row = w + (outer * c->n + channel) * c->inner;

        for (int64_t i = 0; i < c->inner; i++)
            greatest = fabsf(row[i]) > greatest ? fabsf(row[i]) : greatest;
    }
    scale = (float)((double)greatest / most);
    return greatest == 0 ? 1 : scale < FLT_MIN ? FLT_MIN : scale;
}

static void encode_channel(const struct channels *c, const float *w, int64_t channel,
                           const struct minifloat *format, double scale, uint8_t *codes)
{
    for (int64_t outer = 0; outer < c->outer; outer++) {
        const int64_t first = (outer * c->n + channel) * c->inner;

        for (int64_t i = first; i < first + c->inner; i++)
            codes[i] = (uint8_t)minifloat_encode(format, (double)w[i] / scale, true);
    }
}

static struct value *constant_like(struct value *like, const char *suffix, const struct type *type,
                                   const void *data)
{
    struct function *fn = like->fn;

    return constant_new(fn, arena_printf(&fn->module->arena, "%s.%s", like->name, suffix), type,
                        data);
}

static void convert(struct fp8_weights *made, enum dtype format)
{
    const struct minifloat *codec = dtype_minifloat(format);
    const struct value *weight = made->like;
    const struct channels c = channels_of(&weight->type, made->scaled ? made->axis : -1);
    struct type codes_type = weight->type;
    struct type scales_type = type_make(DTYPE_F32, made->scales_rank, (int64_t[MAX_RANK]){ 0 });
    uint8_t *codes;
    float *scales;
    bool all_one = true;

    codes_type.dtype = format;
    for (int i = 0; i < made->scales_rank; i++)
        scales_type.dim[i] = i == 0 ? c.n : 1;
    codes = constant_alloc(weight->fn, &codes_type);
    scales = constant_alloc(weight->fn, &scales_type);
    for (int64_t channel = 0; channel < c.n; channel++) {
        const float scale =
            made->scaled ? scale_of(&c, weight->data, channel, (double)minifloat_max(codec)) : 1;

        encode_channel(&c, weight->data, channel, codec, (double)scale, codes);
        if (made->scaled)
            scales[channel] = scale;
        all_one = all_one && scale == 1;
    }
    made->codes = constant_like(made->like, dtype_name(format), &codes_type, codes);
    if (!all_one)
        made->scales = constant_like(made->like, "scale", &scales_type, scales);
}

struct fp8_weights *fp8_weights_get(struct map *all, struct arena *arena, struct value *weight,
                                    enum dtype format, bool scaled, int axis, int scales_rank)
{
    struct fp8_weights *const first = map_get(all, weight->name), *made;

    for (made = first; made; made = made->next)
        if (made->scaled == scaled && made->axis == axis && made->scales_rank == scales_rank &&
            made->codes->type.dtype == format)
            return made;
    made = arena_new(arena, struct fp8_weights);
    *made = (struct fp8_weights){
        .like = weight, .axis = axis, .scales_rank = scales_rank, .scaled = scaled, .next = first
    };
    map_set(all, weight->name, made);
    convert(made, format);
    return made;
}
