/* rounding.c - --rounding: how a model that comes quantised is rounded (docs/guide/qdq.md).
 *
 * default  onnx, whose results are ONNX Runtime's, where it costs nothing: the processor has an
 *          FPU, and nothing of the model but sums, products and averages would be computed in
 *          floats that fixed point computes in integers; else, and where integers are asked for,
 *          fixed. A TensorFlow Lite file is computed as its runtime does, unless --rounding is given */
#include "driver/driver.h"
#include "codegen_c/machine/machine.h"
#include "driver/driver.h"

/* To integers, with a scale that is known: no DynamicQuantizeLinear. */
static bool is_quantised(const struct node *node)
{
    return (node->op == OP_QNN_QUANTIZE && node->inputs[1]->kind == VALUE_CONSTANT &&
            dtype_is_integer(node->outputs[0]->type.dtype)) ||
           node->op == OP_QNN_REQUANTIZE;
}

/* Operators that have integers of their own between dequantize and quantize, and are much slower in
 * floats, or whose weights take four times the memory. */
static bool gains_by_integers(const struct node *node)
{
    switch (node->op) {
    case OP_CUMSUM:
    case OP_GRID_SAMPLE:
    case OP_GROUP_NORM:
    case OP_GRU:
    case OP_INSTANCE_NORM:
    case OP_LAYER_NORM:
    case OP_LOG_SOFTMAX:
    case OP_LP_NORMALIZE:
    case OP_LP_POOL1D:
    case OP_LP_POOL2D:
    case OP_LP_POOL3D:
    case OP_LRN:
    case OP_LSTM:
    case OP_PROD:
    case OP_RESIZE:
    case OP_RNN:
    case OP_SCATTER_ELEMENTS:
    case OP_SCATTER_ND: return true;
    default: return false;
    }
}

static bool onnx_costs_nothing(const struct driver_state *driver, const struct module *module)
{
    bool quantised = false;

    if (driver->machine && !driver->machine->fpu)
        return false;
    for (const struct node *n = module->main->first; n; n = n->next) {
        if (gains_by_integers(n))
            return false;
        quantised = quantised || is_quantised(n);
    }
    return quantised;
}

/* What asks for integers: ours, those of another target, those of a network without floats. */
static bool asks_for_integers(const struct driver_state *driver)
{
    static const enum option_id options[] = { OPTION_OFFLOAD, OPTION_PRECISION, OPTION_QTABLE,
                                              OPTION_QUANTIZED_IO };

    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (has_option(&driver->args, options[i]))
            return true;
    return driver->args.command == COMMAND_SEARCH || driver->args.command == COMMAND_TARGETS ||
           driver->is_json_graph;
}

bool choose_rounding(struct driver_state *driver, struct module *module)
{
    static const char *const words[] = { "fixed", "onnx", NULL };
    const bool onnx = !module->rounds_as_written && !asks_for_integers(driver) &&
                      onnx_costs_nothing(driver, module);
    int rounding;

    if (!option_word(driver->ctx, &driver->args, OPTION_ROUNDING, words, onnx, &rounding))
        return false;
    module->rounds_as_onnx = rounding == 1;
    if (has_option(&driver->args, OPTION_ROUNDING))
        module->rounds_as_written = false;
    return true;
}
