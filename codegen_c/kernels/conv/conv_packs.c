/* conv_packs.c - see conv_packs.h.
 *
 * Packing moves each weight once. The kernel is then that of constant weights, with its order of
 * sums. */
#include "codegen_c/kernels/conv/conv_packs.h"

#include <inttypes.h>

#include "codegen_c/core/anchor.h"
#include "codegen_c/expr/operands.h"
#include "codegen_c/kernels/conv/conv_tiles.h"
#include "codegen_c/microkernel/tile.h"

bool accepts_conv_packed(const struct region *region, const char **why)
{
    enum { FEWEST = 4 }; /* pixels that share the packed weights */
    const struct window w = window_of_conv(region);

    if (!takes_operands(region, why) || !takes_window(&w, why))
        return false;
    *why = "the weight is a constant, or something is not f32";
    if (region->anchor->inputs[1]->kind == VALUE_CONSTANT || weight_is_small(region) ||
        data_is_small(region) || anchor_output(region, 0)->dtype != DTYPE_F32)
        return false;
    *why = "nothing is added up, or there are less than four positions";
    return w.in_c * window_k_len(&w) > 0 &&
           (w.channels_last || w.batch * window_out_len(&w) >= FEWEST);
}

void bind_conv_packing(struct bind *bind, const struct window *w, const struct panels *panels)
{
    const size_t before = bind->region->config.scratch_bytes / sizeof(float);
    const int64_t rows = panels_rows(panels), len = panels->len;
    const bool grouped = w->groups > 1;
    const bool transposes =
        window_k_len(w) == 1 && rows == panels->n_rows && bind->machine->lanes != 1;

    bind_conv_weight_shape(bind, panels);
    bind_text(bind, "unpacked", "%s", bind_operand(bind, bind->region->anchor->inputs[1]));
    bind_text(bind, "unpacked_shape",
              grouped ? "[GROUPS, OUT_C, IN_C, TAPS]" : "[OUT_C, IN_C, TAPS]");
    bind_text(bind, "packed", before ? "(float *)scratch + %zu" : "(float *)scratch", before);
    bind_int(bind, "panel", panels->width);
    bind_conv_width(bind, panels, "block");
    bind_flag(bind, "grouped", grouped);
    bind_flag(bind, "transposes", transposes);
    if (transposes)
        bind_helper(bind, "transpose_f32");
    bind_text(bind, "group_rows", grouped ? "(group * OUT_C + block)" : "block");
    bind_text(bind, "group_panels", grouped ? "(group * %" PRId64 " + block)" : "block", rows);
    if (rows == panels->n_rows)
        bind_text(bind, "or_zero", "%s", "");
    else
        bind_text(bind, "or_zero", "%s", "block + i >= OUT_C ? 0 : ");
    bind_scratch_numbers(bind, (int64_t)before + panels->groups * rows * len + panels->slack);
}
