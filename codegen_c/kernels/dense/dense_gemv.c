/* dense_gemv.c - one row times constant weights, in f32, by gemv.h; and when matmul_column takes
 * that instead. */
#include "codegen_c/core/anchor.h"
#include "codegen_c/core/zeros.h"
#include "codegen_c/expr/decode.h"
#include "codegen_c/expr/operands.h"
#include "codegen_c/expr/panels.h"
#include "codegen_c/kernels/dense/dense.h"
#include "codegen_c/kernels/dense/dense_accepts.h"
#include "codegen_c/kernels/dense/dense_gemv.h"
#include "codegen_c/microkernel/gemv.h"

enum {
    MOST_ON_STACK = 128,     /* inputs dequantised at once */
    MOST_PLACES = 256,       /* non-zero inputs listed at a time: half a KiB of stack, as is … */
    OUTPUTS_OF_PLACES = 128, /* … the fewest outputs for which they are listed again */
    UNPACKED_PANEL = 32      /* panel of weights dequantised first, as in the template */
};

/* Whether gemv, with one vector of sums over the inputs in order, would wait for each product:
 * then matmul_column takes it, in another order (Zen 5; docs/lab/kernels.md, "Dense layers of
 * one row"). */
bool accepts_dense_column(const struct region *region, const char **why)
{
    enum { FEWEST_INPUTS = 64 }; /* with fewer than 16 lanes */
    const struct machine *machine = region->machine;
    const int most = machine->lanes == 16 ? 16 : machine->lanes == 8 ? 4 : 2;
    struct dense dense;

    *why = "it was measured on x86-64 only";
    if (region->anchor->op != OP_DENSE || machine->arch != ARCH_X86_64 || machine->lanes <= 1)
        return false;
    *why = "weights are computed, or weights or data have to be decoded";
    if (data_is_small(region) || weight_is_small(region) ||
        anchor_output(region, 0)->dtype != DTYPE_F32 ||
        region->anchor->inputs[1]->kind != VALUE_CONSTANT)
        return false;
    *why = "there are several rows, more results than a vector's sums pay for, or few inputs";
    dense = dense_of(region);
    return dense.rows == 1 && dense.out_c <= most &&
           (machine->lanes == 16 || dense.in_c >= FEWEST_INPUTS);
}

bool takes_gemv(const struct region *region, const char **why)
{
    *why = "it has so few results that matmul_column is faster";
    if (accepts_dense_column(region, &(const char *){ NULL }))
        return false;
    *why = "the product is not f32, or blocks of the weights share scales";
    return anchor_output(region, 0)->dtype == DTYPE_F32 &&
           !type_has_blocks(anchor_input(region, 1));
}

static bool accepts_gemv(const struct region *region, const char **why)
{
    return takes_gemv(region, why) && accepts_dense(region, why);
}

static bool accepts_matmul_gemv(const struct region *region, const char **why)
{
    return takes_gemv(region, why) && accepts_matmul_dense(region, why);
}

/* How gemv reads quantised weights. */
enum gemv_weights { GEMV_F32, GEMV_HALVES, GEMV_WORDS, GEMV_UNPACKED };

/* Inputs that are dequantised: all at once if few, or a block for many outputs; into scratch only
 * for f32 weights. Or non-zero inputs: likewise, indices in place of values. */
static void bind_gemv_inputs(struct bind *bind, int64_t in_c, enum gemv_weights weights,
                             bool nonzero)
{
    const bool words = weights == GEMV_WORDS, unpacked = weights == GEMV_UNPACKED;
    const bool coded = data_is_small(bind->region), few = in_c <= MOST_ON_STACK;
    const bool whole = coded && !unpacked && (few || !words), in_blocks = coded && words && !few;
    const bool listed_in_blocks = nonzero && in_c > MOST_PLACES;

    bind_flag(bind, "whole", whole);
    bind_flag(bind, "kc_blocks", in_blocks);
    bind_flag(bind, "nonzero", nonzero);
    bind_flag(bind, "listed_in_blocks", listed_in_blocks);
    bind_flag(bind, "at_once", !unpacked && !in_blocks && !listed_in_blocks);
    keys_offer(bind->keys, "listed_kc", arena_printf(bind->arena, "%d", MOST_PLACES));
    keys_offer(bind->keys, "block", arena_printf(bind->arena, "%d", OUTPUTS_OF_PLACES));
    bind_text(bind, "places", nonzero ? "nonzero, n_nonzero, " : "");
    keys_offer(bind->keys, "find", nonzero ? gemv_places_function(bind) : "");
    bind_text(bind, "in",
              few ? "float in[IN_C];" : "float *const in = (float *)scratch; /* [IN_C] */");
    bind_text(bind, "kc_in", coded ? "in" : "&in[k]");
    bind_text(bind, "from", words ? "0, IN_C, " : "");
    if (whole && !few)
        bind_scratch_numbers(bind, in_c);
}

static enum gemv_weights gemv_weights_of(const struct region *region)
{
    const struct value *weight = region->anchor->inputs[1];

    return !weight_is_small(region)          ? GEMV_F32
           : weight->type.dtype == DTYPE_F16 ? GEMV_HALVES
           : gemv_takes_words(weight)        ? GEMV_WORDS
                                             : GEMV_UNPACKED;
}

/* Whether weights of zero inputs are skipped. An infinite weight forbids it: 0 times infinity is
 * NaN. */
static bool leaves_zeros_out(const struct region *region, const struct panels *panels,
                             enum gemv_weights weights)
{
    enum { FEWEST_OUTPUTS = 16 }; /* measured: docs/lab/kernels.md, "Sparse inputs" */
    const struct value *x = region->anchor->inputs[0];

    return !region->keep_zeros && weights == GEMV_F32 && !data_is_small(region) &&
           x->kind == VALUE_PARAM && panels->n_rows >= FEWEST_OUTPUTS &&
           panels->len <= UINT16_MAX + 1 && zeros_are_many(region, x->index) &&
           decode_are_finite(region->anchor->inputs[1]);
}

/* Packs the weights and requests the function that reads them. */
static void bind_gemv_weight(struct bind *bind, const struct panels *panels,
                             enum gemv_weights weights)
{
    struct value *weight = bind->region->anchor->inputs[1];
    const char *layout = arena_printf(bind->arena, "panels of %d of out_c: [in_c, %d]",
                                      (int)panels->width, (int)panels->width);

    const bool nonzero = leaves_zeros_out(bind->region, panels, weights);

    bind->region->config.leaves_zeros_out = nonzero;
    bind_flag(bind, "unpacked", weights == GEMV_UNPACKED);
    bind_gemv_inputs(bind, panels->len, weights, nonzero);
    bind_int(bind, "panel", panels->width);
    if (weights == GEMV_WORDS) {
        gemv_bind_words(bind, weight, panels);
        return;
    }
    bind_text(bind, "panel_shape", "[IN_C, %d]", (int)panels->width);
    bind_text(bind, "gemv", "%s",
              weights == GEMV_HALVES ? gemv_halves_function(bind, weight)
              : nonzero              ? gemv_nonzero_function(bind, gemv_unroll(bind))
                                     : gemv_function(bind, gemv_unroll(bind)));
    bind_text(bind, "tw", "%s", stored_c_type(&weight->type));
    if (weights == GEMV_F32) {
        bind_panels(bind, "weight", 1, panels, layout);
        return;
    }
    bind_text(bind, "weight", "%s", panels_of_quantized(bind, weight, panels, layout));
    if (weights == GEMV_UNPACKED)
        bind_text(bind, "unpack", "%s", decode_unpack(bind, &weight->type));
}

bool bind_gemv_shape(struct bind *bind, const struct dense *d)
{
    const enum gemv_weights weights = gemv_weights_of(bind->region);
    struct panels panels =
        gemv_panels(1, d->out_c, d->in_c,
                    weights == GEMV_UNPACKED ? UNPACKED_PANEL : gemv_panel(bind->machine));

    if (d->transposed) {
        panels.row_step = 1;
        panels.len_step = d->out_c;
    }
    bind_data(bind);
    bind_input(bind, "x", 0);
    bind_gemv_weight(bind, &panels, weights);
    bind_int(bind, "in_c", d->in_c);
    bind_int(bind, "out_c", d->out_c);
    return bind_epilogue_at(bind, "sum[i]", "at");
}

static bool bind_dense_gemv(struct bind *bind)
{
    const struct dense dense = dense_of(bind->region);

    return bind_gemv_shape(bind, &dense);
}

static bool bind_matmul_gemv(struct bind *bind)
{
    const struct dense dense = dense_of_matmul(bind->region);

    return bind_gemv_shape(bind, &dense);
}

const struct kernel kernel_gemv = {
    .name = "gemv",
    .sums = SUMS_PLAIN,
    .fuses = true,
    .forms = { { OPS(OP_CONV1D, OP_CONV2D, OP_CONV3D), accepts_conv_gemv, bind_conv_gemv },
               { OPS(OP_DENSE), accepts_gemv, bind_dense_gemv },
               { OPS(OP_MATMUL), accepts_matmul_gemv, bind_matmul_gemv } },
};
