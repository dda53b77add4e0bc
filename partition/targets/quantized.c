#include "partition/targets/quantized.h"

double captured_scale(const struct match *match, const char *name, int64_t i)
{
    const struct value *value = match_capture(match, name)->value;
    const struct tensor scales = value_tensor(value);

    return tensor_at(&scales, type_elements(&value->type) == 1 ? 0 : i);
}

int64_t captured_zero(const struct match *match, const char *name)
{
    const struct tensor zero = value_tensor(match_capture(match, name)->value);

    return tensor_int_at(&zero, 0);
}

void lower_requantize(const struct match *match, int64_t channels, struct lowering *lowering)
{
    const struct type type = type_make(DTYPE_I32, 1, &channels);
    int32_t *multiplier = arena_array(lowering->arena, int32_t, channels);
    int32_t *shift = arena_array(lowering->arena, int32_t, channels);

    for (int64_t i = 0; i < channels; i++) {
        const struct fixed_point factor =
            fixed_point_of(captured_scale(match, "s", i) / captured_scale(match, "os", 0));

        multiplier[i] = factor.multiplier;
        shift[i] = factor.shift;
    }
    lowering_array(lowering, "multiplier", &type, multiplier, "");
    lowering_array(lowering, "shift", &type, shift, "");
    lowering_int(lowering, "multiplier0", channels ? multiplier[0] : 0);
    lowering_int(lowering, "shift0", channels ? shift[0] : 0);
}
