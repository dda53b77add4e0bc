/* gemv.c - see gemv.h. */
#include "codegen_c/microkernel/gemv.h"

#include "codegen_c/expr/halves.h"
#include "codegen_c/expr/shuffle.h"
#include "codegen_c/expr/vector.h"
#include "codegen_c/machine/machine.h"

int gemv_panel(const struct machine *machine)
{
    return machine->lanes > 4 ? 8 * machine->lanes : 32;
}

void gemv_set_panel(struct bind *bind, struct keys *keys, int units)
{
    const bool generic = bind->machine->lanes == 0;
    const char *times = units > 1 ? arena_printf(bind->arena, " * %d", units) : "";

    keys_offer(keys, "panel", arena_printf(bind->arena, "%d", gemv_panel(bind->machine)));
    keys_set_flag(keys, "generic", generic);
    keys_offer(keys, "sum", generic ? "SUM(v)" : "sum[v * LANES]");
    keys_offer(keys, "weight",
               generic ? "WEIGHT(v)" : arena_printf(bind->arena, "w[v * LANES%s]", times));
    keys_offer(keys, "next",
               generic ? "NEXT" : arena_printf(bind->arena, "w = &w[width%s]", times));
}

void gemv_set_sum(struct bind *bind, struct keys *keys)
{
    static const struct {
        const char *key, *sum;
    } sums[] = { { "add_s", "s##v" },
                 { "add_s0", "s0" },
                 { "add_s1", "s1" },
                 { "add_s2", "s2" },
                 { "add_s3", "s3" } };
    const bool fused = sums_are_fused(bind);

    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        keys_offer(keys, sums[i].key,
                   fused ? arena_printf(bind->arena, "%s = fuse(%s, ", sums[i].sum, sums[i].sum)
                         : arena_printf(bind->arena, "%s += ", sums[i].sum));
    keys_set(keys, "by", fused ? ", " : " * ");
    keys_set(keys, "added", fused ? ")" : "");
}

void gemv_panel_helper(struct bind *bind)
{
    static const char name[] = "gemv";
    struct keys keys;

    if (bind_own_helper(bind, name))
        return;
    bind_vector(bind);
    keys_init(&keys, bind->arena);
    gemv_set_panel(bind, &keys, 1);
    keys_set(&keys, "few",
             bind->machine->lanes == 0    ? "LANES == 16 ? 32 : 4 * LANES"
             : bind->machine->lanes == 16 ? "32"
                                          : "4 * LANES");
    bind_new_helper(bind, name, "templates/helpers/gemv.c.tmpl", &keys);
}

int64_t gemv_unroll(struct bind *bind)
{
    static const int64_t values[] = { 1, 2, 4, 8 };

    return bind_knob(bind, KNOB_UNROLL, 1, sizeof values / sizeof *values, values);
}

static const char *function_of_floats(struct bind *bind, const char *name, int64_t unroll,
                                      bool some)
{
    const char *fn = bind_own_helper(bind, name);
    struct keys keys;

    if (fn)
        return fn;
    gemv_panel_helper(bind);
    keys_init(&keys, bind->arena);
    gemv_set_panel(bind, &keys, 1);
    keys_set_flag(&keys, "some", some);
    keys_set_flag(&keys, "all", !some && unroll == 1);
    keys_offer(&keys, "count", some ? "n" : "len");
    keys_offer(&keys, "last_row",
               bind->machine->lanes == 0 ? ", *const last = &lasts[(int)at[k] * width]" : "");
    keys_set(&keys, "rows", some ? "weight" : "w");
    keys_offer(&keys, "last", some ? "lasts" : "last");
    keys_offer(&keys, "step", bind->machine->lanes == 0 ? "GEMV_PANEL" : "width");
    keys_set_flag(&keys, "unrolled", unroll > 1);
    keys_set_int(&keys, "unroll", unroll);
    keys_set_flag(&keys, "first_part_0", true);
    keys_set_flag(&keys, "first_part_1", false);
    return bind_new_helper(bind, name, "templates/helpers/gemv_f32.c.tmpl", &keys);
}

const char *gemv_function(struct bind *bind, int64_t unroll)
{
    return function_of_floats(
        bind, unroll > 1 ? arena_printf(bind->arena, "gemv_f32_by_%d", (int)unroll) : "gemv_f32",
        unroll, false);
}

const char *gemv_places_function(struct bind *bind)
{
    static const char name[] = "nonzero_f32";
    const char *fn = bind_own_helper(bind, name);
    struct keys keys;

    if (fn)
        return fn;
    bind_include(bind, "stdint.h");
    bind_helper(bind, "f32_bits");
    keys_init(&keys, bind->arena);
    keys_set_flag(&keys, "avx512",
                  bind->machine->lanes == 0 ||
                      (bind->machine->arch == ARCH_X86_64 && bind->machine->lanes == 16));
    return bind_new_helper(bind, name, "templates/helpers/nonzero_f32.c.tmpl", &keys);
}

const char *gemv_nonzero_function(struct bind *bind, int64_t unroll)
{
    return function_of_floats(bind,
                              unroll > 1
                                  ? arena_printf(bind->arena, "gemv_nonzero_f32_by_%d", (int)unroll)
                                  : "gemv_nonzero_f32",
                              unroll, true);
}

/* The power of two by which floats of raised values are off: x and the sums make up for it, or, if
 * bits are promised, each value. */
const char *gemv_halves_function(struct bind *bind, const struct value *weight)
{
    const bool raised = halves_are_raised(bind->machine, weight);
    const bool scaled = raised && !bits_are_promised(bind), generic = bind->machine->lanes == 0;
    const bool pairs = generic || (bind->machine->arch == ARCH_X86_64 && bind->machine->lanes == 4);
    const char *name = raised ? "gemv_raised_f16" : "gemv_f16", *fn = bind_own_helper(bind, name);
    struct keys keys;

    if (fn)
        return fn;
    gemv_panel_helper(bind);
    keys_init(&keys, bind->arena);
    gemv_set_panel(bind, &keys, 1);
    gemv_set_sum(bind, &keys);
    keys_set(&keys, "numbers", halves_numbers(bind, raised));
    keys_offer(&keys, "of_words", halves_of_words(bind, raised));
    keys_set_flag(&keys, "raised", raised);
    keys_set_flag(&keys, "scaled", scaled);
    keys_set_flag(&keys, "pairs", pairs);
    keys_set_flag(&keys, "paired", pairs && !generic);
    keys_offer(&keys, "evens", pairs && !generic ? bind_half(bind, false) : "");
    keys_offer(&keys, "odds", pairs && !generic ? bind_half(bind, true) : "");
    keys_offer(&keys, "zip_front",
               pairs && !generic ? bind_zip(bind, bind->machine->lanes, false) : "");
    keys_offer(&keys, "zip_back",
               pairs && !generic ? bind_zip(bind, bind->machine->lanes, true) : "");
    keys_offer(&keys, "pair", generic ? "WEIGHT(p * 2)" : "w[p * 2 * LANES]");
    keys_set(&keys, "exactly", raised && !scaled ? " * F16_TIMES" : "");
    keys_set(&keys, "scale", scaled ? " * scale" : "");
    keys_set(&keys, "unscale", scaled ? " * unscale" : "");
    keys_set(&keys, "rescale", scaled ? " * rescale" : "");
    keys_set_flag(&keys, "first_part_0", true);
    keys_set_flag(&keys, "first_part_1", false);
    return bind_new_helper(bind, name, "templates/helpers/gemv_f16.c.tmpl", &keys);
}

const char *gemv_matvec(struct bind *bind, bool turns)
{
    const char *name = turns ? "matvec_f32_by_turns" : "matvec_f32";
    const char *fn = bind_own_helper(bind, name);
    struct keys keys;

    if (fn)
        return fn;
    keys_init(&keys, bind->arena);
    keys_set(&keys, "gemv", gemv_function(bind, 1));
    keys_set_flag(&keys, "turns", turns);
    return bind_new_helper(bind, name, "templates/helpers/matvec_f32.c.tmpl", &keys);
}

struct panels gemv_panels(int64_t groups, int64_t n_rows, int64_t len, int width)
{
    return (struct panels){ .groups = groups,
                            .n_rows = n_rows,
                            .len = len,
                            .group_step = n_rows * len,
                            .row_step = len,
                            .len_step = 1,
                            .width = width,
                            .ragged = true,
                            .slack = width - 4 };
}
