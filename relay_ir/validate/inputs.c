#include "relay_ir/validate/inputs.h"

#include <math.h>

uint64_t random_next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

double random_unit(uint64_t *state)
{
    return (double)(random_next(state) >> 11) * 0x1p-53;
}

static double a_float(enum input_kind kind, int64_t i, double unit)
{
    static const double extremes[] = { -0.0, 0.0, 24, -17.5, 1e-3, -6e-8 };
    enum { EVERY = 7, N_EXTREMES = sizeof extremes / sizeof *extremes };

    if (kind == INPUTS_SMALL)
        return 0.1 + 0.9 * unit;
    if (kind == INPUTS_EXTREME && i % EVERY == EVERY - 1)
        return extremes[i / EVERY % N_EXTREMES];
    return 3.5 * unit - 1.5;
}

void inputs_fill(enum input_kind kind, struct tensor *tensor, uint64_t *state)
{
    const enum dtype dtype = tensor->type.dtype;
    const int64_t n = type_elements(&tensor->type);

    for (int64_t i = 0; i < n; i++) {
        const double unit = random_unit(state);

        if (dtype_is_float(dtype))
            dtype_store(dtype, tensor->data, i, a_float(kind, i, unit));
        else
            dtype_store_int(dtype, tensor->data, i,
                            dtype == DTYPE_BOOL    ? unit < 0.5
                            : kind == INPUTS_SMALL ? unit < 0.5
                                                   : (int64_t)(unit * 10));
    }
}

bool inputs_fit(struct bulk *bulk, const struct type *param, const struct tensor *given,
                struct tensor *fitted)
{
    const struct qtype *quant = param->quant;
    const bool scaled = quant && quant->kind == QTYPE_SCALED && quant->n == 1;
    const double scale = scaled ? (double)quant->scale[0] : 1;
    const double zero = scaled && quant->zero ? quant->zero[0] : 0;
    const int64_t n = type_elements(param);

    *fitted = *given;
    if (param->dtype == given->type.dtype)
        return type_same_shape(param, &given->type);
    if (!type_same_shape(param, &given->type) || (!scaled && !dtype_minifloat(param->dtype)))
        return false;
    *fitted = tensor_new(bulk, param);
    for (int64_t i = 0; i < n; i++) {
        const double code = tensor_at(given, i) / scale;

        dtype_store(param->dtype, fitted->data, i,
                    dtype_minifloat(param->dtype) ? code : rint(code) + zero);
    }
    return true;
}
