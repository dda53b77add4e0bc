/* overlap_add.c - overlap-add, channels first: transposed convolutions that only add windows
 * (relay_ir/overlap.h). */
#include "relay_ir/overlap.h"

#include "codegen_c/core/anchor.h"
#include "codegen_c/core/window.h"
#include "codegen_c/expr/operands.h"
#include "codegen_c/kernels/conv/conv.h"

/* Columns of y that every column of the window reaches, [first, past). */
struct middle {
    int64_t first, past;
};

static struct middle middle_of(const struct window *w)
{
    const int64_t first = (w->k[2] - 1) * w->dil[2] - w->pad[2], past = w->in[2] - w->pad[2];

    return (struct middle){ .first = first > 0 ? first : 0,
                            .past = past < w->out[2] ? past : w->out[2] };
}

static bool accepts_overlap_add(const struct region *region, const char **why)
{
    if (!accepts_conv_transpose(region, why))
        return false;
    *why = "it does more than to add up windows";
    return adds_windows(region->anchor) && !anchor_decoder(region->anchor, 0) &&
           anchor_output(region, 0)->dtype == DTYPE_F32;
}

static bool bind_overlap_add(struct bind *bind)
{
    enum { SHORT = 8, MOST_TAPS = 16 };
    const struct window w = window_of_conv_transpose(bind->region);
    const struct middle middle = middle_of(&w);
    const bool together = w.stride[2] == 1 && w.k[2] > 1 && w.k[2] <= MOST_TAPS &&
                          middle.past - middle.first >= SHORT;
    struct position position;

    bind_input(bind, "x", 0);
    bind_window(bind, &w);
    bind_helper(bind, "wide_loops");
    bind_int(bind, "planes", w.batch * w.groups);
    bind_flag(bind, "together", together);
    if (together) {
        bind_int(bind, "first", middle.first);
        bind_int(bind, "past", middle.past);
        bind_flag(bind, "edges", middle.first > 0 || middle.past < w.out[2]);
    } else {
        bind_helper(bind, "window");
    }
    if (bind_fused(bind))
        bind_scratch_numbers(bind, w.out[2]);
    position_by_division(bind, "at", &position);
    if (w.out_c > 1)
        position.coord[1] =
            w.batch == 1 ? "plane" : arena_printf(bind->arena, "plane %% %lld", (long long)w.out_c);
    return bind_epilogue(bind, "row[ow]", &position);
}

const struct kernel kernel_overlap_add = {
    .name = "overlap_add",
    .sums = SUMS_PLAIN,
    .forms = { { OPS(OP_CONV1D_TRANSPOSE, OP_CONV2D_TRANSPOSE), accepts_overlap_add,
                 bind_overlap_add } },
};
