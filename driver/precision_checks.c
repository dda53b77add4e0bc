/* precision_checks.c - what --precision has done, for people, the banner and --json. */
#include <string.h>

#include "base/str.h"
#include "driver/precision.h"
#include "relay_ir/ops/exact.h"
#include "relay_ir/products.h"

/* Where weights alone are small, keeping what has none changes nothing: a convolution with a bias,
 * say, is two nodes, and the output's name is the second one's. */
void precision_check_kept(struct driver_state *driver, const struct precision_request *r)
{
    const struct quantize_report *report = &r->report;
    struct str products = { .arena = &driver->ctx->perm };
    int shown = 0;

    if (!r->options.n_keep || r->options.precision.has_data || r->options.qtable)
        return;
    for (int i = 0; i < report->n; i++) {
        const struct quantize_line *line = &report->lines[i];

        if (!is_product(line->op))
            continue;
        if (line->why && strcmp(line->why, "--keep-f32") == 0)
            return;
        if (shown++ < 8)
            str_printf(&products, "%s'%s'", shown > 1 ? ", " : "",
                       str_safe(&driver->ctx->perm, line->node, 100));
    }
    diag_warn(driver->ctx, DIAG_QUANTIZE, NULL, "--keep-f32 has no effect: it names no product");
    diag_help(driver->ctx, "products are %s%s", str_text(&products),
              shown > 8 ? " and others" : "");
}

/* Of floats, or of integers. */
static bool is_any_product(const struct node *node)
{
    switch (node->op) {
    case OP_QNN_CONV1D:
    case OP_QNN_CONV2D:
    case OP_QNN_CONV3D:
    case OP_QNN_DENSE:
    case OP_QNN_MATMUL: return true;
    default: return is_product(node->op);
    }
}

/* Products whose numbers are small in the model itself. */
int precision_count_quantized(const struct module *module)
{
    int n = 0;

    for (const struct node *node = module->main->first; node; node = node->next)
        n += is_any_product(node) && node->inputs[1]->type.dtype != DTYPE_F32 &&
             node->inputs[1]->type.dtype != DTYPE_F64;
    return n;
}

/* What is quantised already is left as it is. */
void precision_check_quantized(struct driver_state *driver, const struct precision_request *r,
                               int n_small)
{
    if (!n_small || r->report.n_products > n_small || r->options.precision.mode == PRECISION_F32)
        return;
    diag_warn(driver->ctx, DIAG_QUANTIZE, NULL,
              "--precision changes little or nothing: the model's product%s %s quantised already",
              str_plural(n_small), n_small == 1 ? "is" : "are");
    if (driver->module->rounds_as_written)
        diag_help(driver->ctx, "compile it without --precision, or with --dequantize, which reads "
                               "it as floats");
    else
        diag_help(driver->ctx, "compile it without --precision, or give the float model");
}

/* --- floats where integers were asked for ----------------------------------------------------- */

/* Whether it computes: not a constant's reader, a view, or a border between floats and quantised
 * values. */
static bool computes_in_floats(const struct node *node)
{
    bool reads = false;

    if (node->op == OP_QNN_QUANTIZE || node->op == OP_QNN_DEQUANTIZE || node->op == OP_CAST ||
        op_row(node->op)->pattern == PATTERN_VIEW)
        return false;
    for (int i = 0; i < node->n_inputs; i++)
        reads |= node->inputs[i] && node->inputs[i]->kind != VALUE_CONSTANT &&
                 dtype_is_float(node->inputs[i]->type.dtype);
    return reads || dtype_is_float(node->outputs[0]->type.dtype);
}

/* What the user said of the node; NULL = nothing is known of it: a pass made it. */
static const struct precision *precision_of(const struct quantize_report *report,
                                            const struct node *node)
{
    for (int i = 0; i < report->n; i++)
        if (strcmp(report->lines[i].node, node->outputs[0]->name) == 0)
            return &report->lines[i].precision;
    return NULL;
}

static bool wants_integers(const struct quantize_options *options,
                           const struct precision *precision)
{
    return precision->mode == PRECISION_INT8 ||
           (precision->mode == PRECISION_FP8 && options->exact);
}

/* What can be done about it. */
static const char *way_out(enum op op)
{
    switch (op) {
    case OP_RESIZE:
        return "resize by nearest, linear or cubic (alpha from -1 to 1) in at most four dimensions "
               "has an integer form";
    case OP_LAYER_NORM:
    case OP_INSTANCE_NORM:
    case OP_GROUP_NORM:
    case OP_LRN:
    case OP_LP_NORMALIZE: return "norms have an integer form if scale and bias are constants";
    case OP_DIVIDE: return "divide by a constant, or multiply";
    case OP_SOFTMAX:
    case OP_LOG_SOFTMAX:
        return "softmax of int8 has an integer form; argmax of its input gives the same class";
    case OP_LSTM:
    case OP_GRU:
    case OP_RNN:
        return "recurrent layers have an integer form if weights and scales are constants and all "
               "their readers have one";
    case OP_CONV1D_TRANSPOSE:
    case OP_CONV2D_TRANSPOSE:
    case OP_CONV3D_TRANSPOSE:
        return "transposed convolutions have an integer form if weights are constants and strides "
               "at most a few times the kernel";
    case OP_POWER: return "powers have an integer form if the exponent is a constant";
    case OP_PROD: return "prod of at most 7 int8 or 3 E4M3 values has an integer form";
    case OP_GRID_SAMPLE: return "grid_sample of int8 has an integer form for up to 8184 elements";
    case OP_ROI_ALIGN: return "resize and strided_slice have integer forms";
    case OP_SCATTER_ELEMENTS:
    case OP_SCATTER_ND: return "scatter has an integer form unless it multiplies";
    case OP_BATCH_NORM:
        return "batch norms are folded into products if their parameters are constants";
    case OP_PRELU: return "prelu has an integer form if its slopes are constants";
    case OP_LP_POOL1D:
    case OP_LP_POOL2D:
    case OP_LP_POOL3D:
        return "lp_pool of 8 bits has an integer form with p = 1, and for int8 with p = 2";
    case OP_ARGMAX:
    case OP_ARGMIN:
    case OP_TOPK:
    case OP_HARDMAX: return "return its input instead: argmax of the quantised scores is equal";
    default: return NULL;
    }
}

/* Each of them once. */
struct ways_out {
    const char *at[OP_COUNT];
    int n;
};

static void add_way_out(struct ways_out *ways, const char *way)
{
    for (int i = 0; i < ways->n; i++)
        if (strcmp(ways->at[i], way) == 0)
            return;
    ways->at[ways->n++] = way;
}

static bool reads(const struct node *node, enum dtype dtype)
{
    for (int i = 0; i < node->n_inputs; i++)
        if (node->inputs[i] && node->inputs[i]->type.dtype == dtype)
            return true;
    return false;
}

/* Sums of FP8 are exact in 64 bits but for formats that reach too far. */
static const char *way_out_of(const struct node *node, bool exact)
{
    const struct minifloat *codec =
        exact && is_product(node->op) ? type_minifloat(&node->inputs[0]->type) : NULL;

    if (codec && exact_greatest(codec) == 0)
        return "E5M2's range is too large for 64-bit sums: use f8e4m3 or f8e3m4";
    if (reads(node, DTYPE_F64))
        return "f64 is not quantised: export the model in f32";
    if (exact && (node->op == OP_SOFTMAX || node->op == OP_LOG_SOFTMAX))
        return "softmax of FP8 has an integer form up to 10000 elements, log_softmax if its "
               "results exceed 0.9; argmax of its input gives the same class";
    return way_out(node->op);
}

void precision_check_floats(struct driver_state *driver, struct precision_request *r,
                            const struct module *module)
{
    struct str list = { .arena = &driver->ctx->perm };
    struct ways_out ways = { .n = 0 };
    struct str help = { .arena = &driver->ctx->perm };
    int n_nodes = 0;

    for (const struct node *node = module->main->first; node; node = node->next)
        n_nodes++;
    r->float_names = arena_array(&driver->ctx->perm, const char *, n_nodes);
    for (const struct node *node = module->main->first; node; node = node->next) {
        const struct precision *own = precision_of(&r->report, node);
        const char *way;

        if (!computes_in_floats(node) ||
            !wants_integers(&r->options, own ? own : &r->options.precision))
            continue;
        r->n_float_products += is_product(node->op);
        r->float_names[r->n_floats++] = arena_strdup(&driver->ctx->perm, node->outputs[0]->name);
        if (r->n_floats <= 8)
            str_printf(&list, "%s'%s' (%s)", r->n_floats > 1 ? ", " : "",
                       str_safe(&driver->ctx->perm, node->outputs[0]->name, 100),
                       op_name(node->op));
        way = way_out_of(node, r->options.exact);
        if (way)
            add_way_out(&ways, way);
    }
    if (!r->n_floats)
        return;
    diag_warn(driver->ctx, DIAG_QUANTIZE, NULL, "%d node%s compute%s in floats: %s%s", r->n_floats,
              str_plural(r->n_floats), r->n_floats == 1 ? "s" : "", str_text(&list),
              r->n_floats > 8 ? " and others" : "");
    diag_note(driver->ctx,
              "no integer form of %s here (reasons in docs/guide/floats.md): a CPU without an FPU "
              "calls library functions for floats",
              r->n_floats == 1 ? "it" : "them");
    for (int i = 0; i < ways.n; i++)
        str_printf(&help, "%s%s", i ? "; " : "", ways.at[i]);
    if (ways.n)
        diag_help(driver->ctx, "%s", str_text(&help));
}

static const char *format_name(struct arena *arena, const struct value *value)
{
    const struct minifloat *codec = type_minifloat(&value->type);
    const struct qtype *quant = value->type.quant;
    const char *name = codec ? codec->name : dtype_name(value->type.dtype);

    return quant && quant->kind == QTYPE_BLOCKS
               ? arena_printf(arena, "%s in blocks of %lld", name, (long long)quant->block)
               : name;
}

/* Which formats products read now, each pair once, in the order of the graph. */
const char *precision_list_numbers(struct arena *arena, const struct module *module)
{
    enum { MOST = 8 };
    const char *pairs[MOST];
    int n[MOST], n_pairs = 0;
    struct str text = { .arena = arena };

    for (const struct node *node = module->main->first; node; node = node->next) {
        const char *pair;
        int i = 0;

        if (!is_any_product(node))
            continue;
        pair = arena_printf(arena, "weights %s, data %s", format_name(arena, node->inputs[1]),
                            format_name(arena, node->inputs[0]));
        while (i < n_pairs && strcmp(pairs[i], pair) != 0)
            i++;
        if (i == MOST)
            continue;
        if (i == n_pairs) {
            pairs[n_pairs] = pair;
            n[n_pairs++] = 0;
        }
        n[i]++;
    }
    for (int i = 0; i < n_pairs; i++)
        str_printf(&text, "%s%s: %d product%s", i ? "; " : "", pairs[i], n[i], str_plural(n[i]));
    return n_pairs ? str_text(&text) : NULL;
}

const char *chosen_numbers(struct driver_state *driver)
{
    return driver->precision ? driver->precision->numbers : NULL;
}
