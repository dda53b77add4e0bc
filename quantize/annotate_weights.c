/* annotate_weights.c - weights of the QDQ form: quantised values behind a qnn.dequantize or a cast. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "quantize/annotation.h"
#include "quantize/data_free.h"
#include "quantize/round_weights.h"
#include "quantize/weights.h"
#include "relay_ir/ops/exact.h"

/* The quantised values as numbers, in front of the first of their readers. */
static struct value *decoded_weights(struct annotation *a, const struct quantized_weights *w,
                                     struct node *reader)
{
    struct arena *arena = &a->q->module->arena;
    const union attrs cast = { .cast = { .dtype = DTYPE_F32, .saturate = true } };
    const union attrs along = { .axis = { .axis = w->axis } };
    const char *name = arena_printf(arena, "%s.f32", w->quantized->name);
    struct value *inputs[] = { w->quantized, w->scales, NULL };

    if (!w->scales && w->quantized->type.dtype == DTYPE_I8) /* integer operators want to see one */
        inputs[1] = annotation_scale(a->fn, 1, arena_printf(arena, "%s.scale", w->quantized->name));
    if (!inputs[1])
        return annotation_make(a, OP_CAST, &cast, name, reader->origin, reader, 1, inputs);
    inputs[2] = annotation_zero(a->fn, w->quantized->type.dtype, 0,
                                arena_printf(arena, "%s.zero", w->quantized->name));
    return annotation_make(a, OP_QNN_DEQUANTIZE, &along, name, reader->origin, reader, 3, inputs);
}

static bool weights_are_fine(struct ctx *ctx, const struct node *node, const struct value *weight)
{
    const int64_t at = weights_non_finite(weight);

    if (at < 0)
        return true;
    diag_error(ctx, DIAG_QUANTIZE, node_origin(node),
               "element %lld of the weight '%s' is %s, which cannot be quantised", (long long)at,
               str_safe(&ctx->perm, weight->name, 200),
               ((const float *)weight->data)[at] > 0   ? "infinite"
               : ((const float *)weight->data)[at] < 0 ? "-infinite"
                                                       : "NaN");
    diag_help(ctx, "repair the model, or keep this node with --keep-f32 %s",
              str_safe(&ctx->perm, node->outputs[0]->name, 200));
    return false;
}

bool annotation_in_integers(const struct quantization *q, const struct precision *precision)
{
    return precision->mode == PRECISION_INT8 || (q->options->exact && precision->has_data);
}

int annotation_last_weight(const struct quantization *q, const struct node *node,
                           const struct precision *precision)
{
    if (is_product(node->op))
        return precision->has_weights ? 1 : 0;
    return is_recurrent(node->op) && precision->has_weights && annotation_in_integers(q, precision)
               ? 2
               : 0;
}

bool annotation_has_numbers(const struct value *weight)
{
    return weight->kind == VALUE_CONSTANT && weight->type.dtype == DTYPE_F32;
}

/* Before anything is computed, which may take long: all that is wrong with names and weights. */
bool quantize_check(struct quantization *q)
{
    bool ok = choose_check(q);

    for (const struct node *node = q->module->main->first; node; node = node->next)
        for (int i = annotation_last_weight(q, node, precision_of_node(q, node, NULL)); i > 0; i--)
            if (annotation_has_numbers(node->inputs[i]))
                ok = weights_are_fine(q->ctx, node, node->inputs[i]) && ok;
    return ok;
}

/* The constant vector that is added to the product's channels; NULL = there is none. */
static const struct value *bias_of(const struct node *node, int64_t channels)
{
    const struct node *reader = value_only_user(node->outputs[0]);

    if (!reader || (reader->op != OP_BIAS_ADD && reader->op != OP_ADD) ||
        reader->inputs[1]->kind != VALUE_CONSTANT || reader->inputs[1]->type.dtype != DTYPE_F32 ||
        type_elements(&reader->inputs[1]->type) != channels)
        return NULL;
    return reader->inputs[1];
}

/* Integer sums are 32 bits wide (those of FP8 have 64), and a bias is counted in units of x_scale *
 * w_scale (and of the formats' least steps): a channel of next to nothing but its bias must not
 * have a scale so fine that the bias, or the unit, does not fit. NULL = any scale will do. */
static float *least_scales(struct annotation *a, const struct node *node,
                           const struct precision *precision, int axis)
{
    const struct minifloat *w_format = dtype_minifloat(precision->weights.dtype);
    const struct value *weight = node->inputs[1], *bias;
    const bool int8 = precision->mode == PRECISION_INT8;
    double most = 0x1p29, unit = 1, finest = 0;
    struct data_scale x;
    float *least;

    if (axis < 0 || !annotation_in_integers(a->q, precision) ||
        !data_scale_of(a->q, precision, node->inputs[0], &x))
        return NULL;
    bias = bias_of(node, weight->type.dim[axis]);
    if (!bias)
        return NULL;
    unit = (double)x.scale;
    if (!int8) {
        if (!w_format || !dtype_minifloat(x.format.dtype))
            return NULL;
        unit *= ldexp(1, exact_unit(w_format) + exact_unit(dtype_minifloat(x.format.dtype)));
        most = 0x1p57;
        finest = 0x1p-125;
    }
    least = arena_array(&a->q->ctx->scratch, float, (size_t)weight->type.dim[axis]);
    for (int64_t i = 0; i < weight->type.dim[axis]; i++)
        least[i] =
            (float)(fmax(fabs((double)((const float *)bias->data)[i]) / most, finest) / unit);
    return least;
}

/* Equal for readers that want the weight alike. In ctx->perm. */
static const char *weight_key(const struct annotation *a, const struct node *node, int input,
                              const struct precision *precision, int axis, bool own)
{
    return arena_printf(&a->q->ctx->perm, "%s %s %s %d %s", node->inputs[input]->name,
                        precision->weights.name, precision->weight_scale.name, axis,
                        own ? node->outputs[0]->name : "");
}

void annotate_weights(struct annotation *a, struct node *node, int input,
                      const struct precision *precision, struct quantize_line *line)
{
    struct value *weight = node->inputs[input];
    const bool product = is_product(node->op);
    struct precision own;
    const bool searched = product && (precision->weight_scale.kind == SCALE_SEARCH ||
                                      precision->weights.chooses_split);
    struct chosen_scales chosen = { .n = 0 };
    struct quantized_weights made;
    struct value *numbers;
    const float *least;
    int axis, rank;

    if (weight->kind != VALUE_CONSTANT && annotation_in_integers(a->q, precision))
        return; /* they are data */
    if (!annotation_has_numbers(weight) || type_elements(&weight->type) == 0) {
        line->why =
            weight->kind == VALUE_CONSTANT ? "its weights are not f32" : "its weights are computed";
        return;
    }
    axis = product ? product_channel_axis(node, &rank) : 1;
    own = precision_for_weight(precision, weight, axis);
    own.weights = weight_format_of(a->q, &own, weight, axis);
    precision = &own;
    least = product ? least_scales(a, node, precision, axis) : NULL;
    line->weight_bytes_before += type_bytes(&weight->type);
    numbers = map_get(&a->coded, weight_key(a, node, input, precision, axis, least));
    if (!numbers) {
        if (product && (searched || a->q->options->log) && !precision->weights.block)
            search_weight_scales(a->q, node, axis, precision, &chosen);
        weights_encode(weight, axis, precision, searched && chosen.n ? &chosen : NULL, least,
                       &made);
        numbers = decoded_weights(a, &made, node);
        if (!numbers) {
            a->ok = false;
            return;
        }
        line->weight_bytes_after += weights_bytes(&made);
        if (product)
            round_remember(a->q, weight, numbers->def);
        /* the weight has another name now, under which other readers know it */
        map_set(&a->coded, weight_key(a, node, input, precision, axis, least), numbers);
    }
    node_set_input(node, input, numbers);
}

void annotate_left(struct annotation *a, struct node *node, const struct precision *precision)
{
    struct value *left = node->inputs[0];
    const int64_t n = type_elements(&left->type);
    const int64_t terms = n ? left->type.dim[left->type.rank - 1] : 0;
    const enum dtype dtype = terms * 255 <= INT32_MAX / INT16_MAX ? DTYPE_I16 : DTYPE_I8;
    const double most = dtype == DTYPE_I16 ? INT16_MAX : INT8_MAX;
    const struct type type = type_make(dtype, left->type.rank, left->type.dim);
    struct quantized_weights quantized = { .axis = 0 };
    double greatest = 0;
    void *data;

    if (n == 0 || weights_non_finite(left) >= 0)
        return;
    if (precision->mode != PRECISION_INT8) {
        weights_encode(left, -1, precision, NULL, NULL, &quantized);
    } else {
        const float *numbers = left->data;

        for (int64_t i = 0; i < n; i++)
            greatest = fmax(greatest, fabs((double)numbers[i]));
        greatest = (double)(float)fmax(greatest / most, FLT_MIN);
        data = constant_alloc(a->fn, &type);
        for (int64_t i = 0; i < n; i++)
            dtype_store_int(dtype, data, i,
                            (int64_t)fmax(-most, fmin(most, rint((double)numbers[i] / greatest))));
        quantized.quantized =
            constant_new(a->fn, annotation_storage_name(a, left, dtype), &type, data);
        quantized.scales = annotation_scale(
            a->fn, (float)greatest,
            arena_printf(&a->q->module->arena, "%s.scale", quantized.quantized->name));
    }
    left = decoded_weights(a, &quantized, node);
    a->ok = a->ok && left;
    if (left)
        node_set_input(node, 0, left);
}
