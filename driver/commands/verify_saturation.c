/* verify_saturation.c - numbers beyond what a scale can store.
 *
 * A scale is found on calibration data; a number beyond its range is stored as the last one of the
 * format, by definition and not by mistake: what the code must compute is the end of the range. So is
 * 0 for what is too small. How many there are is reported, since it costs accuracy. */
#include <math.h>

#include "driver/commands/verify.h"
#include "relay_ir/walk.h"

/* The real numbers that a stored value can hold. False if it is not stored small, or has several
 * scales. */
static bool range_of(const struct type *type, double *low, double *high)
{
    const struct qtype *q = type->quant && type->quant->kind == QTYPE_SCALED ? type->quant : NULL;
    const struct minifloat *format = type_minifloat(type);
    const double scale = q ? (double)q->scale[0] : 1;
    const double zero = q && q->zero ? q->zero[0] : 0;

    if ((q && q->n != 1) || type_has_blocks(type))
        return false;
    if (format) {
        *high = (double)minifloat_max(format) * scale;
        *low = -*high;
        return true;
    }
    if (!q || !dtype_is_integer(type->dtype) || dtype_bytes(type->dtype) > 2)
        return false;
    *low = ((double)dtype_least(type->dtype) - zero) * scale;
    *high = ((double)dtype_greatest(type->dtype) - zero) * scale;
    return true;
}

static double smallest_of(const struct type *type, double high, double low)
{
    const struct minifloat *format = type_minifloat(type);

    return format ? high * (double)minifloat_decode(format, 1) / (double)minifloat_max(format)
                  : (high - low) / (double)(dtype_greatest(type->dtype) - dtype_least(type->dtype));
}

/* Half a step beyond the end still rounds to it. */
static double last_step(const struct type *type, double high, double low)
{
    const struct minifloat *format = type_minifloat(type);

    return format ? ldexp(high, -format->mantissa_bits)
                  : (high - low) / (double)(dtype_greatest(type->dtype) - dtype_least(type->dtype));
}

static struct saturation *seen_of(struct verification *v, const struct value *value)
{
    struct arena *arena = &v->driver->ctx->perm;
    struct saturation *seen = map_get(&v->saturated, value->name);

    if (seen)
        return seen;
    seen = arena_new(arena, struct saturation);
    *seen = (struct saturation){ .name = value->name, .least = INFINITY, .most = -INFINITY };
    v->saturated.arena = arena;
    map_set(&v->saturated, value->name, seen);
    return seen;
}

bool saturate(struct verification *v, const struct value *value, double *wanted, int64_t n)
{
    struct saturation *seen;
    double half;
    bool beyond = false;

    if (!range_of(&value->type, &(double){ 0 }, &(double){ 0 }))
        return false;
    seen = seen_of(v, value);
    range_of(&value->type, &seen->low, &seen->high);
    half = last_step(&value->type, seen->high, seen->low) / 2;
    seen->smallest = smallest_of(&value->type, seen->high, seen->low);
    seen->n += n;
    for (int64_t i = 0; i < n; i++) {
        seen->n_beyond += wanted[i] > seen->high + half || wanted[i] < seen->low - half;
        seen->least = fmin(seen->least, wanted[i]);
        seen->most = fmax(seen->most, wanted[i]);
        beyond |= wanted[i] > seen->high || wanted[i] < seen->low;
        if (!isnan(wanted[i]))
            wanted[i] = fmax(seen->low, fmin(seen->high, wanted[i]));
        if (wanted[i] == 0) {
            seen->n_zero++;
        } else if (fabs(wanted[i]) < seen->smallest / 2) {
            seen->n_lost++;
            wanted[i] = 0;
            beyond = true;
        }
    }
    return beyond;
}
