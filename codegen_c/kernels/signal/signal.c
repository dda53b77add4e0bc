/* signal.c - operators of audio front ends on integers: the arithmetic is that of relay_ir/ops/signal.c. Rows are
 * short, and each element is computed once: there is nothing to choose. */
#include "codegen_c/core/anchor.h"
#include "relay_ir/ops/signal.h"

static void bind_elements(struct bind *bind)
{
    bind_type(bind);
    bind_input(bind, "x", 0);
    bind_int(bind, "n", type_elements(anchor_input(bind->region, 0)));
}

static bool bind_auto_scale(struct bind *bind)
{
    bind_elements(bind);
    bind_helper(bind, "i16_of_bits");
    return true;
}

static bool accepts_filter_bank(const struct region *region, const char **why)
{
    for (int i = BANK_WEIGHTS; i <= BANK_WIDTHS; i++)
        if (!takes_constant(region, i, why))
            return false;
    return takes_sizes(region, why);
}

static bool bind_filter_bank(struct bind *bind)
{
    static const char *const keys[] = { "x", "weights", "unweights", "bins", "first", "widths" };

    bind_type(bind);
    for (int i = BANK_X; i <= BANK_WIDTHS; i++)
        bind_input(bind, keys[i], i);
    bind_int(bind, "channels", type_elements(anchor_output(bind->region, 0)));
    return true;
}

static bool bind_square_root(struct bind *bind)
{
    bind_elements(bind);
    bind_input(bind, "bits", 1);
    return true;
}

static bool bind_spectral_subtraction(struct bind *bind)
{
    const struct subtraction_attrs *attrs = &bind->region->anchor->attrs.subtraction;
    const bool alternates =
        attrs->odd_smoothing != attrs->smoothing || attrs->odd_rest != attrs->rest;

    bind_elements(bind);
    bind_input(bind, "noise", 1);
    bind_int(bind, "shift", attrs->shift);
    bind_int(bind, "bits", attrs->bits);
    bind_int(bind, "smoothing", attrs->smoothing);
    bind_int(bind, "rest", attrs->rest);
    bind_int(bind, "least", attrs->least);
    bind_flag(bind, "alternates", alternates);
    if (alternates) {
        bind_int(bind, "odd_smoothing", attrs->odd_smoothing);
        bind_int(bind, "odd_rest", attrs->odd_rest);
    }
    bind_text(bind, "kept", attrs->clamping ? "taken" : "noise");
    return true;
}

static bool bind_pcan(struct bind *bind)
{
    static const char *const helpers[] = { "shift_down", "i32_of_bits", "i16_of_bits" };

    bind_elements(bind);
    bind_input(bind, "noise", 1);
    bind_input(bind, "gains", 2);
    bind_int(bind, "shift", bind->region->anchor->attrs.pcan.shift);
    for (size_t i = 0; i < sizeof helpers / sizeof *helpers; i++)
        bind_helper(bind, helpers[i]);
    return true;
}

static bool bind_log(struct bind *bind)
{
    const struct signal_log_attrs *attrs = &bind->region->anchor->attrs.signal_log;
    uint16_t *bulges = table_new(bind, DTYPE_U16, SIGNAL_BULGES);

    signal_bulges(bulges);
    bind_elements(bind);
    bind_table(bind, "table", "log_table", DTYPE_U16, SIGNAL_BULGES, bulges);
    bind_int(bind, "scale", attrs->scale);
    if (attrs->shift)
        bind_text(bind, "raised", " << %d", (int)attrs->shift);
    else
        bind_text(bind, "raised", "%s", "");
    bind_helper(bind, "shift_down");
    return true;
}

const struct kernel kernel_auto_scale = {
    .name = "auto_scale",
    .sums = SUMS_NONE,
    .forms = { { OPS(OP_SIGNAL_AUTO_SCALE), takes_sizes, bind_auto_scale } },
};

const struct kernel kernel_filter_bank = {
    .name = "filter_bank",
    .sums = SUMS_NONE,
    .forms = { { OPS(OP_SIGNAL_FILTER_BANK), accepts_filter_bank, bind_filter_bank } },
};

const struct kernel kernel_square_root = {
    .name = "square_root",
    .sums = SUMS_NONE,
    .forms = { { OPS(OP_SIGNAL_SQUARE_ROOT), takes_sizes, bind_square_root } },
};

const struct kernel kernel_spectral_subtraction = {
    .name = "spectral_subtraction",
    .sums = SUMS_NONE,
    .forms = { { OPS(OP_SIGNAL_SPECTRAL_SUBTRACTION), takes_sizes, bind_spectral_subtraction } },
};

const struct kernel kernel_pcan = {
    .name = "pcan",
    .sums = SUMS_NONE,
    .forms = { { OPS(OP_SIGNAL_PCAN), takes_sizes, bind_pcan } },
};

const struct kernel kernel_log = {
    .name = "log",
    .sums = SUMS_NONE,
    .forms = { { OPS(OP_SIGNAL_LOG), takes_sizes, bind_log } },
};
