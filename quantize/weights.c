#include "quantize/weights.h"

#include <float.h>
#include <math.h>
#include <string.h>

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

int64_t weights_non_finite(const struct value *weight)
{
    const float *w = weight->data;
    const int64_t n = type_elements(&weight->type);

    for (int64_t i = 0; i < n; i++)
        if (!isfinite(w[i]))
            return i;
    return -1;
}

/* The numbers of one channel, side by side. */
static const float *gather(const struct channels *c, const float *w, int64_t channel, float *to)
{
    if (c->outer == 1)
        return w + channel * c->inner;
    for (int64_t outer = 0; outer < c->outer; outer++)
        memcpy(to + outer * c->inner, w + (outer * c->n + channel) * c->inner,
               (size_t)c->inner * sizeof *to);
    return to;
}

static void scatter(const struct channels *c, const char *quantized, int64_t channel, size_t bytes,
                    char *to)
{
    const size_t row = (size_t)c->inner * bytes;

    for (int64_t outer = 0; outer < c->outer; outer++)
        memcpy(to + (size_t)((outer * c->n + channel) * c->inner) * bytes,
               quantized + (size_t)outer * row, row);
}

static bool is_per_tensor(const struct scale_rule *rule)
{
    return rule->kind == SCALE_UNIT || rule->kind == SCALE_FIXED ||
           rule->kind == SCALE_PAPER_PERCENTILE;
}

/* How scales are found: by a rule, unless they are there; and the least that they may be. */
struct scaling {
    struct scale_rule rule;
    const struct chosen_scales *chosen;
    const float *least;
};

static float scale_of_channel(const struct scaling *scaling, const struct number_format *format,
                              int64_t channel, const float *w, int64_t n)
{
    const float scale = scaling->chosen
                            ? scaling->chosen->scales[scaling->chosen->n == 1 ? 0 : channel]
                            : scale_of_numbers(&scaling->rule, format, w, n);

    return scaling->least && scale < scaling->least[channel] ? scaling->least[channel] : scale;
}

/* quantized[] and scales[] of all channels. */
static void encode(const struct value *weight, const struct channels *c,
                   const struct number_format *format, const struct scaling *scaling,
                   void *quantized, float *scales)
{
    struct bulk bulk = { 0 };
    const int64_t n = c->outer * c->inner;
    const size_t bytes = dtype_bytes(format->dtype);
    float *numbers = bulk_alloc(&bulk, (size_t)n * sizeof *numbers);
    char *of_channel = bulk_alloc(&bulk, (size_t)n * bytes);

    for (int64_t i = 0; i < c->n; i++) {
        const float *w = gather(c, weight->data, i, numbers);

        scales[i] = scale_of_channel(scaling, format, i, w, n);
        number_format_encode(format, w, (size_t)n, scales[i], of_channel);
        scatter(c, of_channel, i, bytes, quantized);
    }
    bulk_release(&bulk);
}

static double greatest(const float *w, int64_t n)
{
    double most = 0;

    for (int64_t i = 0; i < n; i++)
        most = fmax(most, fabs((double)w[i]));
    return most;
}

/* OCP MX 1.0, 6.3: the shared exponent is that of the greatest number less that of the format's
 * greatest; what is then out of range saturates. */
static float block_scale_of(const struct number_format *format, const float *w, int64_t n)
{
    const double most = greatest(w, n);
    int e_block, e_format;

    if (most == 0)
        return 1;
    (void)frexp(most, &e_block);
    (void)frexp(number_format_max(format), &e_format);
    return ldexpf(1, e_block - e_format > -126 ? e_block - e_format : -126);
}

static void encode_blocks(const struct value *weight, const struct number_format *format,
                          const struct type *type, void *quantized, float *scales)
{
    const int64_t rows = type->rank > 0 ? type->dim[0] : 1, row = type_elements(type) / rows;
    const float *w = weight->data;
    uint8_t *to = quantized;

    for (int64_t r = 0; r < rows; r++)
        for (int64_t at = 0; at < row; at += format->block) {
            const int64_t n = row - at < format->block ? row - at : format->block;

            *scales = block_scale_of(format, w + r * row + at, n);
            number_format_encode(format, w + r * row + at, (size_t)n, *scales++, to + r * row + at);
        }
}

/* The scales are copied to the module. */
static struct type blocks_type(const struct value *weight, const struct number_format *format,
                               const float *scales)
{
    struct arena *arena = &weight->fn->module->arena;
    struct type type = type_make(format->dtype, weight->type.rank, weight->type.dim);
    struct qtype *quant = arena_new(arena, struct qtype);

    *quant = (struct qtype){ .kind = QTYPE_BLOCKS,
                             .axis = -1,
                             .n = type_n_blocks(&type, format->block),
                             .block = format->block };
    quant->scale = arena_memdup(arena, scales, (size_t)quant->n * sizeof *scales);
    type.quant = quant;
    return type;
}

static struct value *scales_new(struct value *quantized, const float *scales, int64_t n)
{
    struct function *fn = quantized->fn;
    const struct type type = type_make(DTYPE_F32, n == 1 ? 0 : 1, &n);
    float *data = constant_alloc(fn, &type);
    bool all_one = true;

    for (int64_t i = 0; i < n; i++) {
        data[i] = scales[i];
        all_one = all_one && scales[i] == 1;
    }
    if (all_one)
        return NULL;
    return constant_new(fn, arena_printf(&fn->module->arena, "%s.scale", quantized->name), &type,
                        data);
}

/* A tensor's quantised values and scales before they are constants of the graph. */
struct encoding {
    struct number_format format; /* with its bias chosen */
    struct channels channels;    /* that scales belong to */
    float *scales;               /* [channels.n], or one per block */
    void *quantized;
};

/* Memory of bulk. */
static struct encoding encode_all(const struct value *weight, int axis,
                                  const struct precision *precision,
                                  const struct chosen_scales *chosen, const float *least,
                                  struct bulk *bulk)
{
    const int64_t n = type_elements(&weight->type);
    struct encoding e = { .format = chosen ? chosen->format : precision->weights };
    struct scaling scaling = { precision->weight_scale, chosen, least };
    enum dtype dtype;

    if (e.format.chooses_format)
        e.format = weights_nearest_format(weight, axis, &precision->weight_scale);
    dtype = e.format.dtype;
    if (e.format.chooses_bias) {
        const double most = greatest(weight->data, n);

        e.format = number_format_fit(&e.format, most > 0 ? most : 1);
    }
    if (dtype == DTYPE_F16 || dtype == DTYPE_BF16 || dtype == DTYPE_AFP)
        scaling.rule.kind = SCALE_UNIT;
    else if (scaling.rule.kind == SCALE_SEARCH) /* of a guess what will be lost, see topk */
        scaling.rule.kind = SCALE_MAX;
    e.quantized = bulk_alloc(bulk, (size_t)n * dtype_bytes(dtype));
    if (e.format.block) {
        e.scales = bulk_alloc(bulk, (size_t)type_n_blocks(&weight->type, e.format.block) *
                                        sizeof *e.scales);
        encode_blocks(weight, &e.format, &weight->type, e.quantized, e.scales);
        return e;
    }
    e.channels = channels_of(&weight->type, !chosen && is_per_tensor(&scaling.rule) ? -1 : axis);
    if (e.channels.n == 1)
        scaling.least = NULL;
    e.scales = bulk_alloc(bulk, (size_t)e.channels.n * sizeof *e.scales);
    encode(weight, &e.channels, &e.format, &scaling, e.quantized, e.scales);
    return e;
}

static struct type type_of(const struct value *weight, const struct encoding *e)
{
    return e->format.block
               ? blocks_type(weight, &e->format, e->scales)
               : number_format_type(&e->format, &weight->type, &weight->fn->module->arena);
}

void weights_encode(struct value *weight, int axis, const struct precision *precision,
                    const struct chosen_scales *chosen, const float *least,
                    struct quantized_weights *out)
{
    struct bulk bulk = { 0 };
    const struct encoding e = encode_all(weight, axis, precision, chosen, least, &bulk);
    const struct type type = type_of(weight, &e);
    void *quantized = constant_alloc(weight->fn, &type);

    memcpy(quantized, e.quantized, type_bytes(&type));
    *out = (struct quantized_weights){ .axis = e.channels.n > 1 ? axis : 0 };
    out->quantized = constant_new(weight->fn, weight->name, &type, quantized);
    value_take_name(out->quantized, weight); /* generated C keeps the model's names */
    if (!e.format.block)
        out->scales = scales_new(out->quantized, e.scales, e.channels.n);
    bulk_release(&bulk);
}

void weights_round(const struct value *weight, int axis, const struct precision *precision,
                   float *rounded)
{
    struct bulk bulk = { 0 };
    const struct encoding e = encode_all(weight, axis, precision, NULL, NULL, &bulk);
    const struct tensor tensor = { type_of(weight, &e), e.quantized };
    const int64_t n = type_elements(&weight->type);

    for (int64_t i = 0; i < n; i++) {
        const double scale =
            e.format.block ? 1 : (double)e.scales[i / e.channels.inner % e.channels.n];

        rounded[i] = (float)(tensor_at(&tensor, i) * scale);
    }
    bulk_release(&bulk);
}

size_t weights_bytes(const struct quantized_weights *weights)
{
    size_t bytes =
        type_packed_bytes(&weights->quantized->type) + type_scale_bytes(&weights->quantized->type);

    if (weights->scales)
        bytes += type_bytes(&weights->scales->type);
    return bytes;
}
