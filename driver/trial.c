/* trial.c - stages on copies of a module, for searches that try many precisions of one network. */
#include "driver/trial.h"

#include "quantize/quantize.h"
#include "relay_ir/copy.h"
#include "relay_ir/passes/pipeline.h"

static struct module *quantize_copy(const struct module *module, struct ctx *ctx,
                                    struct qtable *qtable, const struct calib_table *calib,
                                    bool simulate_only)
{
    const struct pipeline_options prepare = { .part = PIPELINE_PREPARE };
    struct module *copy = module_copy(ctx, module);
    struct quantize_options options = {
        .qtable = qtable, .calib = calib, .n_threads = 1, .simulate_only = simulate_only
    };
    struct quantize_report report;

    if (copy && precision_parse(ctx, "", "f32", &options.precision) &&
        quantize_module(copy, &options, &prepare, &report))
        return copy;
    module_free(copy);
    return NULL;
}

static bool fuse_simulated(struct module *module)
{
    return pipeline_run_one(module, "unshare_dequantize") && pipeline_run_one(module, "fuse_ops");
}

const struct search_stages trial_stages = { quantize_copy, fuse_simulated };
