/* simulate.c - see simulate.h. */
#include "simulate/simulate.h"

#include <float.h>
#include <math.h>

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

/* Orders that the evaluators follow (operators.h): a new one has to be written there. */
static bool is_followed(enum sum_order order)
{
    switch (order) {
    case SUMS_UNSTATED:
    case SUMS_NOT_SIMULATED: return false;
    case SUMS_NONE:
    case SUMS_PLAIN:
    case SUMS_INVERSE:
    case SUMS_CHANNELS:
    case SUMS_OF_16:
    case SUMS_BLOCKS:
    case SUMS_COLUMNS:
    case SUMS_FOUR_PIXELS:
    case SUMS_ROWS: return true;
    }
    return false;
}

const struct codegen_region *simulate_exception(const struct codegen_result *result)
{
    for (int i = 0; i < result->n_regions; i++)
        if (!is_followed(result->regions[i].sums))
            return &result->regions[i];
    return NULL;
}

static struct region region_of(const struct simulation *sim, const struct node *node)
{
    return (struct region){ .fn = node->fn,
                            .anchor = (struct node *)(uintptr_t)node,
                            .machine = sim->machine,
                            .winograd = WINOGRAD_OFF };
}

static const struct kernel *kernel_of(const struct simulation *sim, const struct node *node)
{
    const struct region region = region_of(sim, node);

    return kernel_usual(&region);
}

enum sum_order sums_of(const struct simulation *sim, const struct node *node)
{
    const struct kernel *kernel = kernel_of(sim, node);

    return kernel ? kernel->sums : SUMS_NONE;
}

bool adds_by_rows(const struct simulation *sim, const struct node *node, int64_t len)
{
    const struct region region = region_of(sim, node);

    return sums_of(sim, node) == SUMS_ROWS && reads_rows(&region, len);
}

bool fuses_products(const struct simulation *sim, const struct node *node)
{
    const struct kernel *kernel = sim->fused ? kernel_of(sim, node) : NULL;

    return kernel && kernel->fuses;
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
