/* gemv_blocks.c - one row times constant weights with block scales: gemv block by block, so that a
 * scale is multiplied once with the sum of its block. */
#include "codegen_c/core/anchor.h"
#include "codegen_c/expr/blocks.h"
#include "codegen_c/expr/decode.h"
#include "codegen_c/expr/operands.h"
#include "codegen_c/expr/panels.h"
#include "codegen_c/kernels/dense/dense.h"
#include "codegen_c/kernels/dense/dense_accepts.h"
#include "codegen_c/microkernel/gemv.h"

enum {
    CODED_AT_ONCE = 128, /* inputs dequantised at a time */
    UNPACKED_AT_ONCE = 16,
    UNPACKED_PANEL = 32 /* as in gemv.c.tmpl */
};

/* Whether blocks of [out_c, in_c] run along the inputs. */
static bool takes_blocks(const struct region *region, const struct dense *d, const char **why)
{
    *why = "the product is not f32, or no blocks of the weights share scales";
    if (anchor_output(region, 0)->dtype != DTYPE_F32 || !type_has_blocks(anchor_input(region, 1)))
        return false;
    *why = "blocks of the weights lie along the outputs, or there are no inputs";
    return !d->transposed && d->in_c > 0;
}

static bool accepts_gemv_blocks(const struct region *region, const char **why)
{
    struct dense dense;

    if (!accepts_dense(region, why))
        return false;
    dense = dense_of(region);
    return takes_blocks(region, &dense, why);
}

static bool accepts_matmul_gemv_blocks(const struct region *region, const char **why)
{
    struct dense dense;

    if (!accepts_matmul_dense(region, why))
        return false;
    dense = dense_of_matmul(region);
    return takes_blocks(region, &dense, why);
}

static bool accepts_conv_gemv_blocks(const struct region *region, const char **why)
{
    struct dense dense;

    if (!accepts_conv_dense(region, why))
        return false;
    dense = dense_of_conv(region);
    return takes_blocks(region, &dense, why);
}

/* Packs the weights and requests the function that reads them. */
static void bind_weight(struct bind *bind, const struct dense *d, bool words)
{
    struct value *weight = bind->region->anchor->inputs[1];
    const int width = words ? gemv_panel(bind->machine) : UNPACKED_PANEL;
    const struct panels panels = gemv_panels(1, d->out_c, d->in_c, width);
    struct type type = quantized_type(bind, &weight->type, 0, NULL);

    bind_int(bind, "panel", width);
    if (words) {
        gemv_bind_words(bind, weight, &panels);
        return;
    }
    bind_text(bind, "panel_shape", "[IN_C, %d]", width);
    bind_text(bind, "tw", "%s", stored_c_type(&weight->type));
    bind_text(bind, "unpack", "%s", decode_unpack(bind, &weight->type));
    bind_text(bind, "gemv", "%s", gemv_function(bind, 1));
    bind_text(bind, "weight", "%s",
              bind_quantized(
                  bind, weight->name, &type, panels_make(bind, weight, &panels, &type),
                  arena_printf(bind->arena, "panels of %d of out_c: [in_c, %d]", width, width)));
}

/* A block begins a word: its offset exceeds its inputs if blocks are no multiple of a word. */
static void bind_code_places(struct bind *bind, const struct type *type, const char *at)
{
    const int per = 32 / type_packed_bits(type), over = (int)(type->quant->block % per);

    bind_text(bind, "code_from", over ? "%s + %s / BLOCK * %d" : "%s", at, at, per - over);
    bind_text(bind, "codes", over ? "IN_C + (IN_C - 1) / BLOCK * %d" : "IN_C", per - over);
}

static bool bind_shape(struct bind *bind, const struct dense *d)
{
    const struct value *weight = bind->region->anchor->inputs[1];
    const bool words = gemv_takes_words(weight), coded = data_is_small(bind->region);
    const int64_t block = weight->type.quant->block;
    const int kc = words ? CODED_AT_ONCE : UNPACKED_AT_ONCE;

    bind_data(bind);
    bind_input(bind, "x", 0);
    bind_weight(bind, d, words);
    bind_blocks_of_outputs(bind, weight, d->out_c);
    bind_text(bind, "add_block", "%s", blocks_function(bind, weight, "add_block", false));
    bind_flag(bind, "unpacked", !words);
    bind_flag(bind, "kc_blocks", coded || !words);
    bind_int(bind, "kc", block < kc ? block : kc);
    bind_text(bind, "outputs",
              !words  ? "%d"
              : coded ? "%d"
                      : "GEMV",
              words ? CODED_AT_ONCE : UNPACKED_PANEL);
    bind_text(bind, "zero_at", weight->type.quant->zero ? ", &zero[at_scale + i]" : "");
    bind_code_places(bind, &weight->type, coded ? "k" : "block");
    bind_text(bind, "part_len",
              words ? "OUTPUTS" : "OUTPUTS + GEMV"); /* otherwise gcc warns of an overrun */
    bind_text(bind, "in_k", coded ? "in" : "&in[k]");
    bind_int(bind, "in_c", d->in_c);
    bind_int(bind, "out_c", d->out_c);
    return bind_epilogue_at(bind, "sum[i]", "at");
}

static bool bind_gemv_blocks(struct bind *bind)
{
    const struct dense dense = dense_of(bind->region);

    return bind_shape(bind, &dense);
}

static bool bind_matmul_gemv_blocks(struct bind *bind)
{
    const struct dense dense = dense_of_matmul(bind->region);

    return bind_shape(bind, &dense);
}

static bool bind_conv_gemv_blocks(struct bind *bind)
{
    const struct dense dense = dense_of_conv(bind->region);

    return bind_shape(bind, &dense);
}

const struct kernel kernel_gemv_blocks = {
    .name = "gemv_blocks",
    .sums = SUMS_BLOCKS,
    .fuses = true,
    .forms = { { OPS(OP_CONV1D, OP_CONV2D, OP_CONV3D), accepts_conv_gemv_blocks,
                 bind_conv_gemv_blocks },
               { OPS(OP_DENSE), accepts_gemv_blocks, bind_gemv_blocks },
               { OPS(OP_MATMUL), accepts_matmul_gemv_blocks, bind_matmul_gemv_blocks } },
};
