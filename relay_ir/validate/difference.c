#include "relay_ir/validate/difference.h"

#include <math.h>
#include <string.h>

#include "base/str.h"

/* The number that an element stands for, whatever it is stored as. */
static double number_at(const struct tensor *tensor, int64_t i, bool decode)
{
    const struct qtype *q = tensor->type.quant;
    const double stored = tensor_at(tensor, i);

    if (!decode || !q || q->kind != QTYPE_SCALED || q->n != 1)
        return stored;
    return (stored - (q->zero ? q->zero[0] : 0)) * (double)q->scale[0];
}

static double distance(double got, double wanted)
{
    if (got == wanted || (isnan(got) && isnan(wanted)))
        return 0;
    return isfinite(got) && isfinite(wanted) ? fabs(got - wanted) : INFINITY;
}

struct difference difference_of(const struct tensor *got, const struct tensor *wanted)
{
    struct difference d = { .at = -1 };
    const bool decode = got->type.dtype != wanted->type.dtype;
    const int64_t n = type_elements(&wanted->type);

    if (!type_same_shape(&got->type, &wanted->type)) {
        d.most = INFINITY;
        return d;
    }
    for (int64_t i = 0; i < n; i++) {
        const double g = number_at(got, i, decode), w = number_at(wanted, i, decode);
        const double apart = distance(g, w);

        if (isfinite(w))
            d.largest = fmax(d.largest, fabs(w));
        if (apart > d.most) {
            d = (struct difference){ apart, d.largest, i, g, w };
        }
    }
    return d;
}

bool difference_is_none(const struct tensor *got, const struct tensor *wanted)
{
    const int64_t n = type_elements(&wanted->type);

    if (!type_same_shape(&got->type, &wanted->type) || got->type.dtype != wanted->type.dtype)
        return false;
    if (tensor_equal(got, wanted))
        return true;
    for (int64_t i = 0; i < n; i++) {
        const double g = tensor_at(got, i), w = tensor_at(wanted, i);

        if (!(g == w && signbit(g) == signbit(w)) && !(isnan(g) && isnan(w)))
            return false;
    }
    return true;
}

void difference_take_nearer(const struct tensor *got, struct tensor *wanted,
                            const struct tensor *other)
{
    const bool decode = got->type.dtype != wanted->type.dtype;
    const size_t bytes = (size_t)dtype_bytes(wanted->type.dtype);

    if (!type_same_shape(&got->type, &wanted->type) || bytes == 0)
        return;
    for (int64_t i = 0; i < type_elements(&wanted->type); i++) {
        const double g = number_at(got, i, decode);

        if (distance(g, number_at(other, i, decode)) < distance(g, number_at(wanted, i, decode)))
            memcpy((char *)wanted->data + (size_t)i * bytes,
                   (const char *)other->data + (size_t)i * bytes, bytes);
    }
}

double difference_step(const struct tensor *a, const struct tensor *b)
{
    const struct tensor *const both[] = { a, b };
    double step = 0;

    for (int i = 0; i < 2; i++) {
        const struct qtype *q = both[i]->type.quant;
        const bool decode = a->type.dtype != b->type.dtype;

        if (decode && q && q->kind == QTYPE_SCALED && q->n == 1)
            step = fmax(step, (double)q->scale[0]);
        else if (!decode && !dtype_is_float(a->type.dtype) && !type_minifloat(&a->type) &&
                 dtype_bytes(a->type.dtype) == 1)
            step = 1;
    }
    return step;
}

const char *element_text(struct arena *arena, const struct type *type, int64_t at)
{
    struct str text = { .arena = arena };
    int64_t rest = at, span = type_elements(type);

    str_printf(&text, "[");
    for (int i = 0; i < type->rank; i++) {
        span /= type->dim[i];
        str_printf(&text, "%s%lld", i ? "," : "", (long long)(rest / span));
        rest %= span;
    }
    str_printf(&text, "]");
    return str_text(&text);
}
