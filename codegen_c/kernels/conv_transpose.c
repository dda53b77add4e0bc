/* conv_transpose.c - transposed convolutions, channels last, whose weights are known. 1-D is bound
 * as 2-D of height 1. */
#include "codegen_c/kernels/anchor.h"
#include "codegen_c/kernels/operands.h"
#include "codegen_c/kernels/panels.h"
#include "codegen_c/kernels/vector.h"
#include "codegen_c/kernels/window.h"

enum { CHUNK = 64 /* output channels; their sums are on the stack */ };

bool accepts_conv_transpose_last(const struct region *region, const char **why)
{
    const struct window w = window_of_conv_transpose(region);

    if (!takes_operands(region, why) || !takes_window(&w, why) || !takes_constant(region, 1, why))
        return false;
    *why = "the channels are not last";
    if (!w.channels_last || !w.out_channels_last)
        return false;
    *why = "blocks of the weights share a scale";
    return !anchor_input(region, 1)->quant || anchor_input(region, 1)->quant->kind != QTYPE_BLOCKS;
}

/* "((n * IN_D + id) * IN_H + ih)", for the dims that there are. */
static const char *row_text(struct bind *bind, const struct window *w, const char *extent,
                            const char *prefix)
{
    struct arena *arena = bind->arena;
    const char *outer = w->batch > 1 ? "n" : NULL;

    if (w->rank == 3)
        outer = outer ? arena_printf(arena, "(%s * %s_D + %sd)", outer, extent, prefix)
                      : arena_printf(arena, "%sd", prefix);
    return outer ? arena_printf(arena, "(%s * %s_H + %sh)", outer, extent, prefix)
                 : arena_printf(arena, "%sh", prefix);
}

/* The constant is [in_c, out_c of a group, kernel]. */
static void bind_turned_weight(struct bind *bind, const struct window *w)
{
    const int64_t taps = window_k_len(w), out_c = w->out_c / w->groups;
    const struct panels panels = { .groups = taps,
                                   .n_rows = out_c,
                                   .len = w->in_c,
                                   .group_step = 1,
                                   .row_step = taps,
                                   .len_step = out_c * taps,
                                   .width = out_c };

    bind_weight_taps(bind, &panels, "[kernel, in_c, out_c]");
}

bool bind_conv_transpose_last(struct bind *bind)
{
    static const char *const names[] = { "od", "oh", "ow" };
    const struct window w = window_of_conv_transpose(bind->region);
    const bool deep = w.rank == 3, grouped = w.groups > 1;
    struct position position;

    bind_data(bind);
    bind_input(bind, "x", 0);
    bind_window(bind, &w);
    bind_turned_weight(bind, &w);
    bind_flag(bind, "deep", deep);
    bind_flag(bind, "batched", w.batch > 1);
    bind_flag(bind, "grouped", grouped);
    bind_int(bind, "batch", w.batch);
    bind_int(bind, "groups", w.groups);
    bind_int(bind, "in_c", w.in_c / w.groups);
    bind_int(bind, "out_c", w.out_c / w.groups);
    bind_int(bind, "in_pixel", w.in_c);
    bind_int(bind, "out_pixel", w.out_c);
    bind_int(bind, "chunk", row_chunk(w.out_c / w.groups, CHUNK));
    bind_text(bind, "row", "%s", row_text(bind, &w, "IN", "i"));
    bind_text(bind, "out_row", "%s", row_text(bind, &w, "OUT", "o"));
    bind_text(bind, "channel", grouped ? "g * IN_C + ic" : "ic");
    bind_text(bind, "tap", deep ? "((kd * K_H + kh) * K_W + kw)" : "(kh * K_W + kw)");
    bind_text(bind, "oc", grouped ? "g * OUT_C + first + i" : "first + i");
    position_by_division(bind, "at", &position);
    if (w.batch > 1)
        position.coord[0] = "n";
    for (int i = 0; i < w.rank; i++)
        if (w.out[3 - w.rank + i] > 1)
            position.coord[1 + i] = names[3 - w.rank + i];
    if (w.out_c > 1)
        position.coord[1 + w.rank] = "oc";
    return bind_epilogue(bind, "sum[i]", &position);
}
