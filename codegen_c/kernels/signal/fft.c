/* fft.c - real Fourier transforms of integers, in place in the result; the arithmetic is that of
 * relay_ir/ops/signal_fft.c. */
#include "codegen_c/core/anchor.h"
#include "relay_ir/ops/signal.h"

static bool accepts_fft(const struct region *region, const char **why)
{
    return takes_constant(region, 1, why) && takes_constant(region, 2, why) &&
           takes_sizes(region, why);
}

/* Keys and names that depend on the type. */
static const struct numbers {
    const char *wide, *round, *wrap, *name, *inverse;
    int32_t most;
} numbers_of[] = {
    { "int32_t", "round_q15", "i16_of_bits", "fft_i16", "inverse_fft_i16", INT16_MAX },
    { "int64_t", "round_q31", "i32_of_bits", "fft_i32", "inverse_fft_i32", INT32_MAX },
};

static bool is_power_of_2(int64_t n)
{
    return (n & (n - 1)) == 0;
}

static const char *transform(struct bind *bind, const struct numbers *numbers, bool inverse,
                             bool mixed)
{
    const char *name = arena_printf(bind->arena, "%s%s", mixed ? "mixed_" : "",
                                    inverse ? numbers->inverse : numbers->name);
    const char *function = bind_own_helper(bind, name);
    struct keys keys;

    if (function)
        return function;
    keys_init(&keys, bind->arena);
    keys_set(&keys, "t", numbers->most == INT16_MAX ? "int16_t" : "int32_t");
    keys_set(&keys, "wide", numbers->wide);
    keys_set(&keys, "round", numbers->round);
    keys_set(&keys, "wrap", numbers->wrap);
    keys_set_flag(&keys, "inverse", inverse);
    if (mixed) {
        keys_set_int(&keys, "most", numbers->most);
        bind_helper(bind, "shift_down");
        return bind_new_helper(bind, name, "templates/helpers/fft_mixed.c.tmpl", &keys);
    }
    keys_set_int(&keys, "half", numbers->most / 2);
    keys_set_int(&keys, "quarter", numbers->most / 4);
    return bind_new_helper(bind, name, "templates/helpers/fft.c.tmpl", &keys);
}

static bool bind_fft(struct bind *bind, bool inverse)
{
    const struct type *x = anchor_input(bind->region, 0);
    const struct numbers *numbers = &numbers_of[x->dtype == DTYPE_I32];
    const int64_t half = bind->region->anchor->attrs.fft.length / 2, in = x->dim[x->rank - 1];
    const bool mixed = !is_power_of_2(half);
    int first = 1;

    for (int64_t left = half; left > 1; left /= 2)
        first = 3 - first;
    bind_type(bind);
    bind_input(bind, "x", 0);
    bind_input(bind, "turns", 1);
    bind_input(bind, "halves", 2);
    bind_int(bind, "rows", in > 0 ? type_elements(x) / in : 0);
    bind_int(bind, "n", half);
    bind_text(bind, "digits", "%s", mixed ? "mixed_digits" : "reversed_digits");
    if (mixed)
        bind_text(bind, "length", "HALF");
    else
        bind_text(bind, "length", "HALF, %d", first);
    bind_text(bind, "wide", "%s", numbers->wide);
    bind_text(bind, "round", "%s", numbers->round);
    bind_text(bind, "wrap", "%s", numbers->wrap);
    bind_int(bind, "half", numbers->most / 2);
    bind_helper(bind, numbers->round);
    bind_helper(bind, numbers->wrap);
    bind_helper(bind, mixed ? "mixed_digits" : "reversed_digits");
    bind_text(bind, "fft", "%s", transform(bind, numbers, inverse, mixed));
    return true;
}

static bool bind_rfft(struct bind *bind)
{
    const struct type *x = anchor_input(bind->region, 0);
    const int64_t in = x->dim[x->rank - 1];

    bind_int(bind, "in", in);
    bind_flag(bind, "padded", in != bind->region->anchor->attrs.fft.length);
    bind_helper(bind, "shift_down");
    bind_helper(bind, "i32_of_bits");
    return bind_fft(bind, false);
}

static bool bind_irfft(struct bind *bind)
{
    return bind_fft(bind, true);
}

const struct kernel kernel_rfft = {
    .name = "rfft",
    .sums = SUMS_NONE,
    .forms = { { OPS(OP_SIGNAL_RFFT), accepts_fft, bind_rfft } },
};

const struct kernel kernel_irfft = {
    .name = "irfft",
    .sums = SUMS_NONE,
    .forms = { { OPS(OP_SIGNAL_IRFFT), accepts_fft, bind_irfft } },
};
