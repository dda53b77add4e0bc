/* convert_check.c - what converters ask of an operator: options, types, scales; see convert.h. */
#include <math.h>
#include <stdarg.h>

#include "base/str.h"
#include "frontend/tflite/convert.h"
#include "relay_ir/walk.h"

/* --- options ---------------------------------------------------------------------------------- */

int64_t tfl_int(const struct tfl_node *node, int field, int64_t missing)
{
    return fb_int(&node->op->options, field, 4, missing);
}

bool tfl_flag(const struct tfl_node *node, int field)
{
    return fb_int(&node->op->options, field, 1, 0) != 0;
}

int64_t tfl_word(const struct tfl_node *node, int field)
{
    return fb_int(&node->op->options, field, 1, 0);
}

double tfl_real(const struct tfl_node *node, int field, double missing)
{
    return fb_float(&node->op->options, field, missing);
}

bool tfl_unsupported(struct tfl_node *node, const char *format, ...)
{
    va_list args;
    const char *text;

    va_start(args, format);
    text = arena_vprintf(&node->ctx->perm, format, args);
    va_end(args);
    diag_error(node->ctx, DIAG_UNSUPPORTED_FORM, node->origin, "%s: %s", node->origin->op_type,
               text);
    diag_help(node->ctx, "docs/guide/tflite.md says what is taken; tf2onnx --tflite converts the "
                         "model to ONNX, of which relayc takes more");
    return false;
}

static const char *name_of(struct tfl_node *node, const struct tfl_tensor *tensor)
{
    return tfl_tensor_text(node->ctx, node->graph, tensor);
}

/* --- checks ----------------------------------------------------------------------------------- */

bool tfl_check(struct tfl_node *node, int least, int most, int outputs)
{
    size_t at;
    const char *problem =
        node->op->options.file ? flatbuffer_problem(node->op->options.file, &at) : NULL;

    if (problem)
        return diag_error(node->ctx, DIAG_TFLITE_FORMAT, node->origin, "its options: %s (byte %zu)",
                          problem, at);
    if (node->n_inputs < least || node->n_inputs > most || node->n_outputs != outputs)
        return diag_error(node->ctx, DIAG_TFLITE_GRAPH, node->origin,
                          "%s has %d input%s and %d output%s, expected %d to %d and %d",
                          node->origin->op_type, node->n_inputs, str_plural(node->n_inputs),
                          node->n_outputs, str_plural(node->n_outputs), least, most, outputs);
    for (int i = 0; i < least; i++)
        if (!node->inputs[i])
            return diag_error(node->ctx, DIAG_TFLITE_GRAPH, node->origin, "%s lacks its input %d",
                              node->origin->op_type, i);
    return true;
}

bool tfl_check_type(struct tfl_node *node, const struct tfl_tensor *tensor, enum dtype dtype)
{
    if (tensor->type.dtype == dtype)
        return true;
    return tfl_unsupported(node, "%s is %s, expected %s", name_of(node, tensor),
                           dtype_name(tensor->type.dtype), dtype_name(dtype));
}

bool tfl_check_rank(struct tfl_node *node, const struct tfl_tensor *tensor, int least, int most)
{
    if (tensor->type.rank >= least && tensor->type.rank <= most)
        return true;
    return tfl_unsupported(node, "%s has %d dimension%s, expected %d to %d", name_of(node, tensor),
                           tensor->type.rank, str_plural(tensor->type.rank), least, most);
}

static bool are_positive(const struct fb_vector *scales)
{
    for (size_t i = 0; i < scales->n; i++) {
        const double scale = (double)fb_float_at(scales, i);

        if (!(scale > 0) || isinf(scale))
            return false;
    }
    return scales->n > 0;
}

static bool check_positive(struct tfl_node *node, const struct tfl_tensor *tensor)
{
    if (are_positive(&tensor->scales))
        return true;
    return tfl_unsupported(node, "%s has %s", name_of(node, tensor),
                           tensor->scales.n ? "a scale that is no positive number"
                                            : "no scale, and is not FLOAT32");
}

bool tfl_check_scale(struct tfl_node *node, const struct tfl_tensor *tensor)
{
    const enum dtype dtype = tensor->type.dtype;
    const int64_t zero = tfl_zero(tensor);

    if (!check_positive(node, tensor))
        return false;
    if (tensor->scales.n != 1 || tensor->zeros.n > 1)
        return tfl_unsupported(node, "%s has %zu scales, expected one", name_of(node, tensor),
                               tensor->scales.n);
    if (zero >= (int64_t)dtype_least(dtype) && zero <= (int64_t)dtype_greatest(dtype))
        return true;
    return tfl_unsupported(node, "the zero point of %s is %lld, which %s does not hold",
                           name_of(node, tensor), (long long)zero, dtype_name(dtype));
}

bool tfl_check_scales(struct tfl_node *node, const struct tfl_tensor *tensor, int axis, int64_t n)
{
    if (!check_positive(node, tensor))
        return false;
    if (tensor->scales.n != 1 && ((int64_t)tensor->scales.n != n || tensor->axis != axis))
        return tfl_unsupported(node,
                               "%s has %zu scales along dimension %lld, expected one, or %lld "
                               "along dimension %d",
                               name_of(node, tensor), tensor->scales.n, (long long)tensor->axis,
                               (long long)n, axis);
    if (tensor->is_unsigned && tensor->scales.n == 1 && tensor->zeros.n <= 1)
        return tfl_check_scale(node, tensor);
    for (size_t i = 0; i < tensor->zeros.n; i++)
        if (fb_int_at(&tensor->zeros, i, 8) != 0)
            return tfl_unsupported(node, "%s has the zero point %lld, expected 0",
                                   name_of(node, tensor),
                                   (long long)fb_int_at(&tensor->zeros, i, 8));
    return true;
}

bool tfl_check_same_scale(struct tfl_node *node, const struct tfl_tensor *a,
                          const struct tfl_tensor *b)
{
    if (!tfl_check_scale(node, a) || !tfl_check_scale(node, b))
        return false;
    if (tfl_scale(a, 0) == tfl_scale(b, 0) && tfl_zero(a) == tfl_zero(b))
        return true;
    return tfl_unsupported(node,
                           "%s has scale %g and zero point %lld, %s %g and %lld; expected the same",
                           name_of(node, a), tfl_scale(a, 0), (long long)tfl_zero(a),
                           name_of(node, b), tfl_scale(b, 0), (long long)tfl_zero(b));
}

bool tfl_check_kept(struct tfl_node *node, const struct tfl_tensor *x, const struct tfl_tensor *y)
{
    if (!tfl_check_type(node, x, y->type.dtype))
        return false;
    return (!x->scales.n && !y->scales.n) || dtype_is_float(x->type.dtype) ||
           tfl_check_same_scale(node, x, y);
}

double tfl_scale(const struct tfl_tensor *tensor, int64_t i)
{
    const size_t at = tensor->scales.n == 1 ? 0 : (size_t)i;

    return (double)fb_float_at(&tensor->scales, at);
}

int64_t tfl_zero(const struct tfl_tensor *tensor)
{
    const int64_t zero = tensor->zeros.n ? fb_int_at(&tensor->zeros, 0, 8) : 0;

    return tensor->is_unsigned && zero >= 0 && zero <= UINT8_MAX ? zero - 128 : zero;
}

bool tfl_takes_unsigned(struct tfl_node *node)
{
    static const bool takes[TFL_CODES] = {
#define UNSIGNED(name) [TFL_##name] = true,
#include "frontend/tflite/unsigned.def"
#undef UNSIGNED
    };
    const struct tfl_tensor *found = NULL;

    for (int i = 0; i < node->n_inputs; i++)
        if (node->inputs[i] && node->inputs[i]->is_unsigned)
            found = node->inputs[i];
    for (int i = 0; i < node->n_outputs; i++)
        if (node->outputs[i]->is_unsigned)
            found = node->outputs[i];
    return !found || takes[node->op->code] ||
           tfl_unsupported(node,
                           "%s is UINT8 with a scale: such codes are rounded otherwise than "
                           "INT8 by this operator",
                           name_of(node, found));
}

int64_t tfl_radius(int integer_bits, int shift)
{
    return (int64_t)floor(ldexp((double)((1 << integer_bits) - 1), 31 - integer_bits - shift));
}
