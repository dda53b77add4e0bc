/* simulate.c - see simulate.h. */
#include "simulate/simulate.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "codegen_c/core/anchor.h"
#include "simulate/operators.h"

_Static_assert(FLT_EVAL_METHOD == 0, "f32 is computed in f32");

/* The operator's evaluator has the bits of the C: both are exact, or round once. */
static bool simulate_reference(const struct simulation *sim, const struct node *node,
                               const struct tensor *const *in, struct tensor *out)
{
    (void)sim, (void)node, (void)in, (void)out;
    return false;
}

static simulated *const functions[OP_COUNT] = {
#define RELAY_OP(symbol, name, attrs, least, most, outputs, pattern, infer, evaluate, layout,      \
                 simulate)                                                                         \
    [OP_##symbol] = simulate_##simulate,
#include "relay_ir/ops.def"
#undef RELAY_OP
};

static bool evaluate(void *user, const struct node *node, const struct tensor *const *in,
                     struct tensor *out)
{
    return node->n_outputs > 0 && out->type.dtype == DTYPE_F32 &&
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
