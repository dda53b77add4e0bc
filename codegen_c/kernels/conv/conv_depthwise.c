/* conv_depthwise.c - scalar convolutions of one input channel per output channel, channels first:
 * plane by plane, padded planes by a copy. 1-D is bound as 2-D of height 1. */
#include "codegen_c/core/anchor.h"
#include "codegen_c/core/window.h"
#include "codegen_c/expr/operands.h"
#include "codegen_c/kernels/conv/conv.h"

enum {
    TILE = 4,          /* output channels: with this many per input channel, others are faster */
    MOST_UNROLLED = 25 /* most taps with a statement each */
};

/* With few output channels per input channel a gathered patch is hardly reused. */
static bool accepts_conv_depthwise(const struct region *region, const char **why)
{
    struct window w;

    if (!takes_conv(region, why))
        return false;
    w = window_of_conv(region);
    if (w.rank < 3 && w.in_c == w.groups && w.out_c < TILE * w.groups)
        return true;
    *why = "an output channel reads more than one input channel";
    return false;
}

/* Small kernels have a variable per weight and a statement per tap. */
static void bind_taps(struct bind *bind, const struct window *w)
{
    const bool unrolled = window_k_len(w) <= MOST_UNROLLED, dilated = w->dil[1] * w->dil[2] > 1;

    bind_flag(bind, "unrolled", unrolled);
    bind_flag(bind, "fixed", unrolled && !weight_is_small(bind->region));
    bind_flag(bind, "dilated", dilated);
    bind_text(bind, "row_step", dilated ? "DIL_H * PLANE_W" : "PLANE_W");
    bind_text(bind, "tap", dilated ? "kw * DIL_W" : "kw");
    for (int kh = 0; unrolled && kh < w->k[1]; kh++) {
        struct str weights = { .arena = bind->arena };

        for (int kw = 0; kw < w->k[2]; kw++)
            str_printf(&weights, "%sw%d%d = w[%d]", kw ? ", " : "", kh, kw, kh * (int)w->k[2] + kw);
        bind_text(bind, arena_printf(bind->arena, "weights%d", kh), "%s", str_text(&weights));
        bind_flag(bind, arena_printf(bind->arena, "below%d", kh), kh > 0);
    }
    for (int kw = 0; unrolled && kw < w->k[2]; kw++)
        bind_text(bind, arena_printf(bind->arena, "tap%d", kw),
                  !dilated || kw == 0 ? "%d"
                  : kw == 1           ? "DIL_W"
                                      : "%d * DIL_W",
                  kw);
}

static bool bind_conv_depthwise(struct bind *bind)
{
    const struct window w = window_of_conv(bind->region);
    const int64_t plane_h = window_padded_extent(&w, 1), plane_w = window_padded_extent(&w, 2);
    const bool coded = data_is_small(bind->region), small = weight_is_small(bind->region);
    struct position position;

    bind_data(bind);
    bind_input(bind, "x", 0);
    bind_weight_rows(bind);
    bind_window(bind, &w);
    bind_taps(bind, &w);
    bind_flag(bind, "copied", w.padded || coded);
    bind_flag(bind, "plain_copy", coded && !w.padded);
    bind_text(bind, "padded_plane", w.padded || coded ? "plane" : "in");
    bind_text(bind, "plane_start", small ? "w + K_H * K_W" : "scratch");
    bind_int(bind, "plane_h", plane_h);
    bind_int(bind, "plane_w", plane_w);
    bind_flag(bind, "batched", w.batch > 1);
    bind_flag(bind, "multiplied", w.out_c > w.in_c);
    bind_int(bind, "batch", w.batch);
    bind_int(bind, "out_c", w.out_c);
    bind_int(bind, "multiplier", w.out_c / w.in_c);
    bind_text(bind, "n_planes", w.batch > 1 ? "BATCH * OUT_C" : "OUT_C");
    bind_text(bind, "plane", w.out_c > w.in_c ? "(oc / MULTIPLIER)" : "oc");
    bind_text(bind, "kernel", w.batch > 1 ? "(oc %% OUT_C)" : "oc");
    if (w.padded || coded || small)
        bind_scratch_numbers(bind, (w.padded || coded ? plane_h * plane_w : 0) +
                                       (small ? window_k_len(&w) : 0));
    position_by_division(bind, "at", &position);
    if (w.out_c > 1)
        position.coord[1] =
            w.batch == 1 ? "oc" : arena_printf(bind->arena, "oc %% %lld", (long long)w.out_c);
    return bind_epilogue(bind, "sum", &position);
}

const struct kernel kernel_conv_depthwise = {
    .name = "conv_depthwise",
    .sums = SUMS_PLAIN,
    .forms = { { OPS(OP_CONV1D, OP_CONV2D), accepts_conv_depthwise, bind_conv_depthwise } },
};
