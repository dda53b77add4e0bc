/* simulate.c - see simulate.h. */
#include "simulate/simulate.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "codegen_c/kernels/anchor.h"
#include "simulate/operators.h"

_Static_assert(FLT_EVAL_METHOD == 0, "f32 is computed in f32");

/* Everything else is exact in the evaluators of relay_ir, or rounded once there and in the C. */
static simulated *const functions[OP_COUNT] = {
    [OP_ACOS] = simulate_scalar,
    [OP_ACOSH] = simulate_scalar,
    [OP_ASIN] = simulate_scalar,
    [OP_ASINH] = simulate_scalar,
    [OP_ATAN] = simulate_scalar,
    [OP_ATANH] = simulate_scalar,
    [OP_AVG_POOL1D] = simulate_pool,
    [OP_AVG_POOL2D] = simulate_pool,
    [OP_AVG_POOL3D] = simulate_pool,
    [OP_BATCH_NORM] = simulate_batch_norm,
    [OP_CELU] = simulate_scalar,
    [OP_CONV1D] = simulate_conv,
    [OP_CONV1D_TRANSPOSE] = simulate_conv_transpose,
    [OP_CONV2D] = simulate_conv,
    [OP_CONV2D_TRANSPOSE] = simulate_conv_transpose,
    [OP_CONV3D] = simulate_conv,
    [OP_CONV3D_TRANSPOSE] = simulate_conv_transpose,
    [OP_COS] = simulate_scalar,
    [OP_COSH] = simulate_scalar,
    [OP_CUMPROD] = simulate_cumulative,
    [OP_CUMSUM] = simulate_cumulative,
    [OP_DENSE] = simulate_dense,
    [OP_ELU] = simulate_scalar,
    [OP_ERF] = simulate_scalar,
    [OP_EXP] = simulate_scalar,
    [OP_FLOOR_MOD] = simulate_scalar,
    [OP_GELU] = simulate_gelu,
    [OP_GLOBAL_AVG_POOL] = simulate_global_average,
    [OP_GRID_SAMPLE] = simulate_grid_sample,
    [OP_GROUP_NORM] = simulate_group_norm,
    [OP_GRU] = simulate_recurrent,
    [OP_HARD_SIGMOID] = simulate_scalar,
    [OP_HARD_SWISH] = simulate_scalar,
    [OP_INSTANCE_NORM] = simulate_group_norm,
    [OP_LAYER_NORM] = simulate_layer_norm,
    [OP_LEAKY_RELU] = simulate_scalar,
    [OP_LOG] = simulate_scalar,
    [OP_LOG_SOFTMAX] = simulate_log_softmax,
    [OP_LP_NORMALIZE] = simulate_lp_normalize,
    [OP_LP_POOL1D] = simulate_pool,
    [OP_LP_POOL2D] = simulate_pool,
    [OP_LP_POOL3D] = simulate_pool,
    [OP_LRN] = simulate_lrn,
    [OP_LSTM] = simulate_recurrent,
    [OP_MATMUL] = simulate_matmul,
    [OP_MEAN] = simulate_reduce,
    [OP_MISH] = simulate_scalar,
    [OP_MOD] = simulate_scalar,
    [OP_POWER] = simulate_scalar,
    [OP_PROD] = simulate_reduce,
    [OP_RESIZE] = simulate_resize,
    [OP_RNN] = simulate_recurrent,
    [OP_ROI_ALIGN] = simulate_roi_align,
    [OP_RSQRT] = simulate_scalar,
    [OP_SELU] = simulate_scalar,
    [OP_SHRINK] = simulate_scalar,
    [OP_SIGMOID] = simulate_scalar,
    [OP_SILU] = simulate_scalar,
    [OP_SIN] = simulate_scalar,
    [OP_SINH] = simulate_scalar,
    [OP_SOFTMAX] = simulate_softmax,
    [OP_SOFTPLUS] = simulate_scalar,
    [OP_SOFTSIGN] = simulate_scalar,
    [OP_SUM] = simulate_reduce,
    [OP_TAN] = simulate_scalar,
    [OP_TANH] = simulate_scalar,
    [OP_THRESHOLDED_RELU] = simulate_scalar,
};

static bool evaluate(void *user, const struct node *node, const struct tensor *const *in,
                     struct tensor *out)
{
    return node->n_outputs > 0 && functions[node->op] && out->type.dtype == DTYPE_F32 &&
           functions[node->op](user, node, in, out);
}

bool simulate(struct ctx *ctx, struct function *fn, const struct simulate_options *options,
              const struct tensor *inputs, struct tensor *outputs, struct bulk *bulk,
              const struct observer *observer)
{
    struct simulation sim = { .machine = &machines[0] };

    if (options && options->machine)
        sim.machine = options->machine;
    sim.fused =
        (options && options->deterministic && sim.machine->fma) || sim.machine->dot == DOT_MVE;
    return interpret_by(ctx, fn, inputs, outputs, bulk, observer,
                        &(struct other_evaluator){ evaluate, &sim });
}

const struct codegen_region *simulate_exception(const struct codegen_result *result)
{
    static const char *const others[] = { "band_winograd", "winograd", "depthwise_winograd",
                                          "conv_amx", "conv_pairs" };

    for (int i = 0; i < result->n_regions; i++) {
        const char *kernel = result->regions[i].kernel;

        for (size_t k = 0; k < sizeof others / sizeof *others; k++)
            if (!kernel || strcmp(kernel, others[k]) == 0)
                return &result->regions[i];
    }
    return NULL;
}

static struct region region_of(const struct simulation *sim, const struct node *node)
{
    return (struct region){ .fn = node->fn,
                            .anchor = (struct node *)(uintptr_t)node,
                            .machine = sim->machine,
                            .winograd = WINOGRAD_OFF };
}

bool has_kernel(const struct simulation *sim, const struct node *node, const char *kernel)
{
    const struct region region = region_of(sim, node);
    const struct kernel *usual = kernel_usual(&region);

    return usual && strcmp(usual->name, kernel) == 0;
}

bool adds_by_rows(const struct simulation *sim, const struct node *node, int64_t len)
{
    const struct region region = region_of(sim, node);

    return reads_rows(&region, len);
}

bool fuses_products(const struct simulation *sim, const struct node *node)
{
    static const char *const kernels[] = { "conv",
                                           "conv_band",
                                           "conv_columns",
                                           "conv_decoded",
                                           "conv_parts",
                                           "conv_small",
                                           "conv_stationary",
                                           "conv_transpose_tiles",
                                           "dense_tiles",
                                           "depthwise",
                                           "gemv",
                                           "gemv_blocks",
                                           "gru",
                                           "lstm",
                                           "matmul_tiles",
                                           "rnn" };
    bool fuses = false;

    for (size_t i = 0; sim->fused && i < sizeof kernels / sizeof *kernels; i++)
        fuses = fuses || has_kernel(sim, node, kernels[i]);
    return fuses;
}

float add_product(float sum, float a, float b, bool fused)
{
    const float product = a * b;

    return fused ? fmaf(a, b, sum) : sum + product;
}

float *floats_of(struct bulk *bulk, const struct tensor *tensor)
{
    const int64_t n = type_elements(&tensor->type);
    float *to = bulk_alloc(bulk, (size_t)n * sizeof *to);

    for (int64_t i = 0; i < n; i++)
        to[i] = (float)tensor_at(tensor, i);
    return to;
}
