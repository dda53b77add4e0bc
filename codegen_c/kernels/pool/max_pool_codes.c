/* max_pool_codes.c - max pools of 8-bit floats, of which codes are compared: one by one, or by vectors
 * of channels. */
#include <math.h>

#include "base/minifloat.h"
#include "codegen_c/core/anchor.h"
#include "codegen_c/core/window.h"
#include "codegen_c/expr/vector.h"
#include "codegen_c/kernels/pool/pool.h"

static bool accepts_max_pool_codes(const struct region *region, const char **why)
{
    const struct window w = window_of_pool(region);

    *why = "the element type is not a narrow float";
    return type_minifloat(anchor_input(region, 0)) && takes_sizes(region, why) &&
           takes_window(&w, why);
}

/* The least value; formats without infinity have no -infinity either (relay_ir/ops/pool.c). */
static unsigned lowest_code(const struct minifloat *format)
{
    return minifloat_encode(format, -INFINITY, format->specials != MINIFLOAT_IEEE);
}

/* The greatest value, infinity where there is one. */
static unsigned greatest_code(const struct minifloat *format)
{
    return minifloat_encode(format, INFINITY, format->specials != MINIFLOAT_IEEE);
}

enum { FEWEST_AT_ONCE = 16 }; /* values compared at once */

/* Bytes at a time: whole vectors, or all channels. */
static int64_t values_at_once(const struct region *region)
{
    const int64_t channels = window_of_pool(region).in_c;
    int64_t n = 4 * region->machine->lanes;

    while (n > FEWEST_AT_ONCE && n > channels)
        n /= 2;
    return n;
}

static bool accepts_max_pool_lanes(const struct region *region, const char **why)
{
    const struct window w = window_of_pool(region);

    if (!accepts_max_pool_codes(region, why))
        return false;
    *why = "it is for vectors of bytes, of PCs";
    if (!machine_has_deep_stack(region->machine) || type_packed_bits(anchor_input(region, 0)) != 8)
        return false;
    *why = "something is computed from the code";
    if (region->fn->ret->inputs[0] != region->anchor->outputs[0])
        return false;
    *why = "the channels are not last, or few";
    return w.channels_last && w.in_c >= FEWEST_AT_ONCE;
}

static bool bind_max_pool_lanes(struct bind *bind)
{
    const struct minifloat *format = type_minifloat(anchor_input(bind->region, 0));
    const struct window w = window_of_pool(bind->region);
    const int64_t n = values_at_once(bind->region);
    const char *name = arena_printf(bind->arena, "vector%d_i8", (int)n);
    struct window deep = w;
    struct keys keys;

    deep.rank = 3;
    bind_vector(bind);
    if (!bind_own_helper(bind, name)) {
        keys_init(&keys, bind->arena);
        keys_set_int(&keys, "bytes", n);
        bind_new_helper(bind, name, "templates/helpers/vector_i8.c.tmpl", &keys);
    }
    bind_text(bind, "vector", "%s", bind_own_helper(bind, name));
    bind_int(bind, "lanes", n);
    bind_input(bind, "x", 0);
    bind_window(bind, &deep);
    keys_offer(bind->keys, "padded", "");
    bind_helper(bind, "window");
    bind_flag(bind, "batched", w.batch > 1);
    bind_int(bind, "batch", w.batch);
    bind_int(bind, "in_c", w.in_c);
    bind_text(bind, "image", w.batch > 1 ? "image * IN_D + " : "");
    bind_text(bind, "out_image", w.batch > 1 ? "image * OUT_D + " : "");
    bind_int(bind, "lowest", lowest_code(format));
    bind_flag(bind, "signless", format->sign == MINIFLOAT_UNSIGNED);
    bind_flag(bind, "nan", format->specials != MINIFLOAT_NONE);
    if (format->specials == MINIFLOAT_FNUZ)
        bind_text(bind, "is_nan", "v == (int8_t)%u", minifloat_nan(format));
    else
        bind_text(bind, "is_nan", "(size > %u)", lowest_code(format) & 127);
    return true;
}

/* 8-bit floats of any rank: lower ranks have a depth of 1. */
static bool bind_max_pool_codes(struct bind *bind)
{
    const struct minifloat *format = type_minifloat(anchor_input(bind->region, 0));
    const struct window w = window_of_pool(bind->region);
    const unsigned sign = minifloat_sign(format);
    const unsigned nan = format->specials == MINIFLOAT_NONE ? ~0u : minifloat_nan(format);
    struct window deep = w;

    deep.rank = 3;
    bind_type(bind);
    bind_input(bind, "x", 0);
    bind_window(bind, &deep);
    bind_int(bind, "planes", w.batch * w.in_c);
    bind_helper(bind, "window");
    bind_helper(bind, "minifloat_above");
    bind_int(bind, "lowest", lowest_code(format));
    bind_text(bind, "format", "%uu, %uu, %uu", greatest_code(format), nan, sign);
    bind_pool_places(bind, &w, true);
    return bind_pool_epilogue(bind, &w, "best");
}

const struct kernel kernel_max_pool_lanes = {
    .name = "max_pool_lanes",
    .sums = SUMS_NONE,
    .overlaps = overlaps_pool,
    .forms = { { OPS(OP_MAX_POOL1D, OP_MAX_POOL2D, OP_MAX_POOL3D), accepts_max_pool_lanes,
                 bind_max_pool_lanes } },
};

const struct kernel kernel_max_pool_codes = {
    .name = "max_pool_codes",
    .sums = SUMS_NONE,
    .overlaps = overlaps_pool,
    .forms = { { OPS(OP_MAX_POOL1D, OP_MAX_POOL2D, OP_MAX_POOL3D), accepts_max_pool_codes,
                 bind_max_pool_codes } },
};
