/* quantize_module: which values and weights become small, in which form, and what is said when they
 * cannot. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "quantize/quantize.h"
#include "quantize/steps.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))
#define CONV                                                                                       \
    "{strides=[1,1], padding=[1,1,1,1], dilation=[1,1], groups=1, data_layout=\"NCHW\", "          \
    "kernel_layout=\"OIHW\"}"
#define POOL "{pool_size=[2,2], strides=[2,2], padding=[0,0,0,0], dilation=[1,1]}"
#define RESULT " -> (%y) {\n"

enum { SEED = 3 };

/* Every value of the graph, measured as lying in -2 .. 6; those called "low" in 0 .. 3. */
static void measure(struct ctx *ctx, const struct function *fn, struct calib_table *table)
{
    int n = fn->n_params;

    for (const struct node *node = fn->first; node; node = node->next)
        n += node->n_outputs;
    *table = (struct calib_table){ .model = "", .n_samples = 1 };
    table->at = arena_array(&ctx->perm, struct calib_tensor, n);
    for (int i = 0; i < fn->n_params; i++)
        table->at[table->n++] = (struct calib_tensor){ .name = fn->params[i]->name, .shape = "" };
    for (const struct node *node = fn->first; node; node = node->next)
        for (int i = 0; i < node->n_outputs; i++)
            table->at[table->n++] =
                (struct calib_tensor){ .name = node->outputs[i]->name, .shape = "" };
    for (int i = 0; i < table->n; i++) {
        struct calib_threshold *threshold = arena_new(&ctx->perm, struct calib_threshold);

        const bool low = strcmp(table->at[i].name, "low") == 0;

        *threshold = (struct calib_threshold){ "max", low ? 3 : 6 };
        table->at[i].min = low ? 0 : -2;
        table->at[i].max = low ? 3 : 6;
        table->at[i].thresholds = threshold;
        table->at[i].n_thresholds = 1;
    }
}

struct quantized {
    struct ctx *ctx;
    struct module *module;
    struct calib_table table;
    struct quantize_options options;
    struct quantize_report report;
    bool ok;
};

static struct quantized quantized(const char *text, const char *precision, bool calibrated)
{
    struct quantized q = { .ctx = ctx_new(NULL) };

    q.module = graph_parse(q.ctx, text, SEED);
    ck_assert(precision_parse(q.ctx, "", precision, &q.options.precision));
    if (calibrated)
        measure(q.ctx, q.module->main, &q.table);
    return q;
}

static void run(struct quantized *q)
{
    const struct pipeline_options pipeline = { .dump_after = NULL };

    if (q->table.n)
        q->options.calib = &q->table;
    q->ok = quantize_module(q->module, &q->options, &pipeline, &q->report);
}

static void end(struct quantized *q)
{
    module_free(q->module);
    ctx_free(q->ctx);
}

/* "cast conv2d multiply relu": the operators of main in order, without "nn.". */
static const char *operators(const struct quantized *q)
{
    struct str text = { .arena = &q->ctx->perm };

    for (const struct node *node = q->module->main->first; node; node = node->next) {
        const char *name = op_name(node->op);

        str_printf(&text, "%s%s", text.n ? " " : "", strncmp(name, "nn.", 3) ? name : name + 3);
    }
    return str_text(&text);
}

/* --- forms ------------------------------------------------------------------------------------ */

#define X "fn main(%x: (1,2,4,4) f32)" RESULT
#define W "  const @w : (2,2,3,3) f32 = crc32:00000000\n"
#define V "  const @v : (2,2,3,3) f32 = crc32:00000000\n"
#define BIAS "  const @b : (2) f32 = [1, -1]\n"

static const char two_convs[] = X W V BIAS "  %c = nn.conv2d(%x, @w) " CONV "\n"
                                           "  %d = nn.bias_add(%c, @b) {axis=1}\n"
                                           "  %r = nn.relu(%d)\n"
                                           "  %y = nn.conv2d(%r, @v) " CONV "\n"
                                           "}\n";
static const char residual[] = X W "  %c = nn.conv2d(%x, @w) " CONV "\n"
                                   "  %s = add(%c, %x)\n"
                                   "  %r = nn.relu(%s)\n"
                                   "  %y = nn.conv2d(%r, @w) " CONV "\n"
                                   "}\n";
static const char pooled[] = X W "  %c = nn.conv2d(%x, @w) " CONV "\n"
                                 "  %p = nn.max_pool2d(%c) " POOL "\n"
                                 "  %y = nn.conv2d(%p, @w) " CONV "\n"
                                 "}\n";
static const char recurrent[] =
    "fn main(%x: (3,1,4) f32)" RESULT "  const @w : (1,20,4) f32 = crc32:00000000\n"
    "  const @r : (1,20,5) f32 = crc32:00000000\n  const @b : (1,40) f32 = crc32:00000000\n"
    "  const @v : (2,5) f32 = crc32:00000000\n"
    "  %o, %h, %c = nn.lstm(%x, @w, @r, @b) {hidden_size=5, activations=\"Affine,Affine,Affine\", "
    "activation_alpha=[0.1,1,1], activation_beta=[1,0,0]}\n"
    "  %f = reshape(%o) {shape=[3,5]}\n  %y = nn.dense(%f, @v)\n}\n";
/* A step of an LSTM, whose states are one input, and with its result another one. */
static const char streaming[] =
    "fn main(%x: (1,1,4) f32, %s: (2,1,1,5) f32) -> (%y, %n) {\n"
    "  const @w : (1,20,4) f32 = crc32:00000000\n  const @r : (1,20,5) f32 = crc32:00000000\n"
    "  const @v : (2,5) f32 = crc32:00000000\n"
    "  const @zero : () i64 = [0]\n  const @one : () i64 = [1]\n"
    "  %h = take(%s, @zero) {axis=0}\n  %c = take(%s, @one) {axis=0}\n"
    "  %o, %nh, %nc = nn.lstm(%x, @w, @r, _, _, %h, %c) {hidden_size=5, "
    "activations=\"Affine,Affine,Affine\", activation_alpha=[0.1,1,1], activation_beta=[1,0,0]}\n"
    "  %n = concatenate(%nh, %nc) {axis=0}\n"
    "  %f = reshape(%nh) {shape=[1,5]}\n  %y = nn.dense(%f, @v)\n}\n";
static const char gated[] = X W "  %c = nn.conv2d(%x, @w) " CONV "\n"
                                "  %s = sigmoid(%c)\n"
                                "  %y = nn.hard_swish(%s)\n"
                                "}\n";
static const char resized[] =
    X W "  %c = nn.conv2d(%x, @w) " CONV "\n"
        "  %s = image.resize(%c) {size=[1,2,8,8], method=\"linear\", "
        "coordinate_transformation_mode=\"half_pixel\", rounding_method=\"\"}\n"
        "  %low = nn.relu(%s)\n"
        "  %y = nn.conv2d(%low, @w) " CONV "\n"
        "}\n";
static const char chosen[] = X W "  %c = nn.conv2d(%x, @w) " CONV "\n"
                                 "  %low, %i = topk(%c) {axis=3, k=2, largest=true, sorted=true}\n"
                                 "  %y = nn.relu(%low)\n"
                                 "}\n";
static const char squared[] = X W "  const @two : () f32 = [2]\n"
                                  "  %c = nn.conv2d(%x, @w) " CONV "\n"
                                  "  %p = multiply(%c, %c)\n"
                                  "  %q = power(%x, @two)\n"
                                  "  %s = add(%p, %q)\n"
                                  "  %y = sqrt(%s)\n"
                                  "}\n";
/* Somebody else reads the sum, too. */
static const char squared_for_others[] = X W "  %c = nn.conv2d(%x, @w) " CONV "\n"
                                             "  %p = multiply(%c, %c)\n"
                                             "  %r = sqrt(%p)\n"
                                             "  %d = nn.conv2d(%p, @w) " CONV "\n"
                                             "  %y = add(%r, %d)\n"
                                             "}\n";
static const char viewed[] =
    "fn main(%x: (1,2,2,2) f32)" RESULT "  const @w : (3,8) f32 = crc32:00000000\n"
    "  %a = abs(%x)\n"
    "  %f = reshape(%a) {shape=[1,8]}\n"
    "  %y = nn.dense(%f, @w)\n"
    "}\n";

/* Scaled by a number that the network computes. */
static const char scaled[] = "fn main(%x: (2,4) f32)" RESULT "  %m = max(%x) {axis=[0,1], keepdims=false}\n"
                             "  %r = divide(%x, %m)\n"
                             "  %y = sigmoid(%r)\n"
                             "}\n";

/* Both views of %low, of which only one is joined. */
static const char joined[] = X W "  %c = nn.conv2d(%x, @w) " CONV "\n"
                                 "  %low = nn.relu(%c)\n"
                                 "  %v = reshape(%low) {shape=[1,32]}\n"
                                 "  %u = reshape(%low) {shape=[1,32]}\n"
                                 "  %s = sigmoid(%u)\n"
                                 "  %y = concatenate(%v, %s) {axis=1}\n"
                                 "}\n";

static const struct {
    const char *text, *precision;
    bool calibrated;
    const char *simulated, *realised;
} forms[] = {
    { scaled, "fp8", true, "qnn.quantize qnn.dequantize max qnn.dequantize divide sigmoid",
      "qnn.quantize qnn.dequantize max qnn.dequantize divide sigmoid" },
    { two_convs, "f32", false, "conv2d bias_add relu conv2d", "conv2d bias_add relu conv2d" },
    { two_convs, "fp8w", false, "qnn.dequantize conv2d bias_add relu qnn.dequantize conv2d",
      "conv2d multiply bias_add relu conv2d multiply" },
    { two_convs, "f16w", false, "cast conv2d bias_add relu cast conv2d",
      "conv2d bias_add relu conv2d" },
    { two_convs, "mxfp4", false, "cast conv2d bias_add relu cast conv2d",
      "conv2d bias_add relu conv2d" },
    /* scale 1: casts */
    { two_convs, "fp8", false,
      "cast qnn.dequantize cast conv2d bias_add relu cast qnn.dequantize cast conv2d",
      "cast conv2d multiply bias_add relu cast conv2d multiply" },
    { two_convs, "fp8", true,
      "qnn.quantize qnn.dequantize qnn.dequantize conv2d bias_add relu qnn.quantize "
      "qnn.dequantize qnn.dequantize conv2d",
      "qnn.quantize conv2d multiply bias_add relu qnn.quantize conv2d multiply" },
    { two_convs, "int8", true,
      "qnn.quantize qnn.dequantize qnn.dequantize conv2d bias_add relu qnn.quantize "
      "qnn.dequantize qnn.dequantize conv2d qnn.quantize qnn.dequantize",
      "qnn.quantize qnn.conv2d bias_add qnn.requantize clip qnn.conv2d qnn.requantize "
      "qnn.dequantize" },
    /* FP8: what is inside a region is not rounded, so the sum is one of f32 */
    { residual, "fp8", false, "cast qnn.dequantize cast conv2d cast add relu cast cast conv2d",
      "cast conv2d multiply cast add relu cast conv2d multiply" },
    /* integers round between any two operators */
    { residual, "int8", true,
      "qnn.quantize qnn.dequantize qnn.dequantize conv2d qnn.quantize qnn.dequantize "
      "qnn.dequantize add relu qnn.quantize qnn.dequantize conv2d qnn.quantize qnn.dequantize",
      "qnn.quantize qnn.conv2d qnn.requantize qnn.add clip qnn.conv2d qnn.requantize "
      "qnn.dequantize" },
    /* what bounds interpolated numbers has their scale, which an integer resize keeps */
    { resized, "int8", true,
      "qnn.quantize qnn.dequantize qnn.dequantize conv2d qnn.quantize qnn.dequantize image.resize "
      "relu qnn.quantize qnn.dequantize conv2d qnn.quantize qnn.dequantize",
      "qnn.quantize qnn.conv2d qnn.requantize qnn.resize clip qnn.conv2d qnn.requantize "
      "qnn.dequantize" },
    /* what topk chooses has the scale of what it chooses from */
    { chosen, "int8", true,
      "qnn.quantize qnn.dequantize qnn.dequantize conv2d qnn.quantize qnn.dequantize topk "
      "qnn.quantize qnn.dequantize relu qnn.quantize qnn.dequantize",
      "qnn.quantize qnn.conv2d qnn.requantize topk clip qnn.dequantize" },
    /* a value has one scale, though a view of it is part of something with another one */
    { joined, "int8", true,
      "qnn.quantize qnn.dequantize qnn.dequantize conv2d relu qnn.quantize reshape reshape "
      "qnn.dequantize sigmoid qnn.quantize qnn.dequantize qnn.dequantize concatenate qnn.quantize "
      "qnn.dequantize",
      "qnn.quantize qnn.conv2d qnn.requantize reshape reshape qnn.lut cast qnn.requantize "
      "concatenate qnn.dequantize" },
    /* a chain of functions is one table */
    { gated, "int8", true,
      "qnn.quantize qnn.dequantize qnn.dequantize conv2d qnn.quantize qnn.dequantize sigmoid "
      "hard_swish qnn.quantize qnn.dequantize",
      "qnn.quantize qnn.conv2d qnn.requantize qnn.lut qnn.dequantize" },
    /* recurrent layers keep floats but in int8; whose last state nobody reads, is not one */
    { recurrent, "fp8", true, "lstm qnn.quantize reshape qnn.dequantize qnn.dequantize dense",
      "lstm qnn.quantize reshape dense multiply" },
    { recurrent, "fp8w", false, "lstm reshape qnn.dequantize dense",
      "lstm reshape dense multiply" },
    { recurrent, "int8", true,
      "qnn.quantize qnn.dequantize qnn.dequantize qnn.dequantize lstm qnn.quantize reshape "
      "qnn.dequantize qnn.dequantize dense qnn.quantize qnn.dequantize",
      "qnn.quantize qnn.lstm reshape qnn.dense qnn.requantize qnn.dequantize" },
    /* states that come and go have 16 bits; what computes with one reads 8 of them */
    { streaming, "int8", true,
      "qnn.quantize qnn.quantize qnn.dequantize take qnn.quantize qnn.dequantize take qnn.quantize "
      "qnn.dequantize qnn.dequantize qnn.dequantize qnn.dequantize qnn.dequantize lstm "
      "qnn.quantize "
      "qnn.quantize qnn.dequantize qnn.dequantize concatenate qnn.quantize reshape qnn.dequantize "
      "qnn.dequantize qnn.quantize qnn.dequantize dense qnn.quantize qnn.dequantize qnn.dequantize",
      "qnn.quantize qnn.quantize take take qnn.lstm concatenate reshape cast qnn.requantize "
      "qnn.dense qnn.requantize qnn.dequantize qnn.dequantize" },
    /* squares are added in 16 bits, on their way to a root; and in 8 where others read them */
    { squared, "int8", true,
      "qnn.quantize qnn.dequantize qnn.dequantize conv2d qnn.quantize qnn.dequantize multiply "
      "qnn.quantize qnn.dequantize power qnn.quantize qnn.dequantize qnn.dequantize add "
      "qnn.quantize qnn.dequantize sqrt qnn.quantize qnn.dequantize",
      "qnn.quantize qnn.conv2d qnn.requantize qnn.mul qnn.lut qnn.add qnn.pwl qnn.dequantize" },
    { squared_for_others, "int8", true,
      "qnn.quantize qnn.dequantize qnn.dequantize conv2d qnn.quantize qnn.dequantize multiply "
      "qnn.quantize qnn.dequantize sqrt qnn.quantize qnn.dequantize conv2d qnn.quantize "
      "qnn.dequantize qnn.dequantize add qnn.quantize qnn.dequantize",
      "qnn.quantize qnn.conv2d qnn.requantize qnn.mul qnn.lut qnn.conv2d qnn.requantize qnn.add "
      "qnn.dequantize" },
    /* views are views of codes */
    { viewed, "fp8", false, "cast cast abs cast reshape qnn.dequantize cast dense",
      "cast cast abs cast reshape dense multiply" },
};

START_TEST(graphs_take_their_forms)
{
    struct quantized q = quantized(forms[_i].text, forms[_i].precision, forms[_i].calibrated);

    q.options.simulate_only = true;
    run(&q);
    ck_assert_msg(q.ok, "%s", expect_text(q.ctx));
    ck_assert_str_eq(operators(&q), forms[_i].simulated);
    end(&q);
    q = quantized(forms[_i].text, forms[_i].precision, forms[_i].calibrated);
    run(&q);
    ck_assert_msg(q.ok, "%s", expect_text(q.ctx));
    ck_assert_str_eq(operators(&q), forms[_i].realised);
    end(&q);
}
END_TEST

/* The realised graph computes what the simulated one does: up to where scales are multiplied, and
 * for integers up to a step. */
START_TEST(realised_graphs_compute_what_is_simulated)
{
    struct quantized a = quantized(forms[_i].text, forms[_i].precision, forms[_i].calibrated);
    struct quantized b = quantized(forms[_i].text, forms[_i].precision, forms[_i].calibrated);
    struct bulk bulk = { 0 };
    struct tensor *simulated, *realised;
    double step = a.options.precision.mode == PRECISION_INT8 ? 8.0 / 255 * 1.001 : 1e-5;

    /* where FP8 rounds, a difference of one rounding may become one of a step of 1/16 */
    if (a.options.precision.mode == PRECISION_FP8)
        step = 0.3;
    a.options.simulate_only = true;
    run(&a);
    run(&b);
    simulated = graph_run(a.module, SEED, &bulk);
    realised = graph_run(b.module, SEED, &bulk);
    ck_assert(simulated && realised);
    ck_assert_double_le(graph_difference(simulated, realised, 1), step);
    bulk_release(&bulk);
    end(&a);
    end(&b);
}
END_TEST

/* --- scales ----------------------------------------------------------------------------------- */

static const struct node *find(const struct quantized *q, enum op op, int nth)
{
    const struct node *node = q->module->main->first;

    for (; node; node = node->next)
        if (node->op == op && nth-- == 0)
            break;
    ck_assert_ptr_nonnull(node);
    return node;
}

static double number(const struct value *value)
{
    const struct tensor tensor = value_tensor(value);

    return tensor_at(&tensor, 0);
}

START_TEST(fp8_scales_are_threshold_by_greatest)
{
    struct quantized q = quantized(two_convs, "fp8", true);

    q.options.simulate_only = true;
    run(&q);
    ck_assert_float_eq((float)number(find(&q, OP_QNN_QUANTIZE, 0)->inputs[1]), 6.0f / 448);
    end(&q);
}
END_TEST

START_TEST(integer_scales_cover_the_range_and_zero)
{
    struct quantized q = quantized(two_convs, "int8", true);
    const struct node *quantize;

    q.options.simulate_only = true;
    run(&q);
    quantize = find(&q, OP_QNN_QUANTIZE, 0);
    ck_assert_float_eq((float)number(quantize->inputs[1]), (float)(8.0 / 255));
    ck_assert_double_eq(number(quantize->inputs[2]), -64); /* -128 + 2 / (8 / 255), rounded */
    end(&q);
}
END_TEST

/* The maximum of codes is a code: one scale for what is pooled and the pool. */
START_TEST(moved_numbers_keep_their_scale)
{
    struct quantized q = quantized(pooled, "int8", true);

    q.table.at[1].max = 3; /* %c */
    q.table.at[1].thresholds[0].value = 3;
    run(&q);
    ck_assert_msg(q.ok, "%s", expect_text(q.ctx));
    ck_assert_str_eq(operators(&q), "qnn.quantize qnn.conv2d qnn.requantize max_pool2d qnn.conv2d "
                                    "qnn.requantize qnn.dequantize");
    ck_assert_float_eq((float)number(find(&q, OP_QNN_REQUANTIZE, 0)->inputs[3]), 5.0f / 255);
    end(&q);
}
END_TEST

#define PADDED(value, pool)                                                                        \
    X W "  %c = nn.conv2d(%x, @w) " CONV "\n"                                                      \
        "  %p = nn.pad(%c) {pad_before=[0,0,0,0], pad_after=[0,0,1,1], value=" value "}\n"         \
        "  %y = " pool "(%p) " POOL "\n}\n"

/* What lies below the range may saturate where the greatest is wanted; elsewhere it may not. */
static const struct {
    const char *text;
    bool keeps;
} paddings[] = {
    { PADDED("-3e38", "nn.max_pool2d"), true },
    { PADDED("0", "nn.avg_pool2d"), true },
    { PADDED("-3e38", "nn.avg_pool2d"), false },
    { PADDED("50", "nn.max_pool2d"), false },
};

START_TEST(a_pad_has_a_scale_of_its_own_where_its_number_counts)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx, paddings[_i].text, SEED);
    const struct node *conv = module->main->first, *pad = conv->next;

    ck_assert_ptr_eq(data_scale_source(pad->outputs[0]),
                     paddings[_i].keeps ? conv->outputs[0] : pad->outputs[0]);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* What a caller gets as a state can be given in again as it is, whichever of both was measured to
 * be greater. */
START_TEST(a_state_has_one_scale_at_both_ends)
{
    struct quantized q = quantized(streaming, "int8", true);
    int n_states = 0;

    for (int i = 0; i < q.table.n; i++)
        if (strcmp(q.table.at[i].name, _i ? "s" : "n") == 0) { /* at the other end it is 6 */
            q.table.at[i].max = 20;
            q.table.at[i].thresholds[0].value = 20;
        }
    q.options.simulate_only = true;
    run(&q);
    ck_assert_msg(q.ok, "%s", expect_text(q.ctx));
    for (const struct node *node = q.module->main->first; node; node = node->next)
        if (node->op == OP_QNN_QUANTIZE &&
            (strcmp(node->inputs[0]->name, "s") == 0 || strcmp(node->inputs[0]->name, "n") == 0)) {
            ck_assert_int_eq(node->outputs[0]->type.dtype, DTYPE_I16);
            ck_assert_float_eq((float)number(node->inputs[1]), 20.0f / 32767);
            n_states++;
        }
    ck_assert_int_eq(n_states, 2);
    end(&q);
}
END_TEST

/* --- choices ---------------------------------------------------------------------------------- */

START_TEST(what_is_kept_stays_f32)
{
    static const char *const keep[] = { "y" };
    struct quantized q = quantized(two_convs, "fp8", false);

    q.options.keep = keep;
    q.options.n_keep = 1;
    run(&q);
    ck_assert_str_eq(operators(&q), "cast conv2d multiply bias_add relu conv2d");
    ck_assert_int_eq(q.report.n_products, 2);
    ck_assert_int_eq(q.report.n_quantized_products, 1);
    end(&q);
}
END_TEST

START_TEST(first_last_and_worst_are_kept)
{
    struct quantized q = quantized(two_convs, "fp8w", false);

    q.options.keep_first = true;
    run(&q);
    ck_assert_str_eq(operators(&q), "conv2d bias_add relu conv2d multiply");
    end(&q);
    q = quantized(two_convs, "fp8w", false);
    q.options.keep_last = true;
    run(&q);
    ck_assert_str_eq(operators(&q), "conv2d multiply bias_add relu conv2d");
    end(&q);
    q = quantized(two_convs, "fp8w", false);
    q.options.topk = 5;
    run(&q);
    ck_assert_str_eq(operators(&q), "conv2d bias_add relu conv2d");
    end(&q);
}
END_TEST

/* --- what cannot be --------------------------------------------------------------------------- */

static const char infinite[] =
    "fn main(%x: (1,2) f32)" RESULT "  const @w : (2,2) f32 = [1, inf, 2, 3]\n"
    "  const @v : (2,2) f32 = [nan, 1, 2, 3]\n"
    "  %c = nn.dense(%x, @w)\n"
    "  %y = nn.dense(%c, @v)\n"
    "}\n";

START_TEST(all_weights_that_are_not_finite_are_named)
{
    struct quantized q = quantized(infinite, "int8w", false);

    run(&q);
    ck_assert(!q.ok);
    ck_assert_int_eq(q.ctx->diags.n_errors, 2);
    ck_assert_ptr_nonnull(strstr(expect_text(q.ctx), "element 1 of the weight 'w' is infinite"));
    ck_assert_ptr_nonnull(strstr(expect_text(q.ctx), "element 0 of the weight 'v' is NaN"));
    end(&q);
}
END_TEST

START_TEST(integers_want_a_calibration)
{
    struct quantized q = quantized(two_convs, "int8", false);

    run(&q);
    ck_assert(!q.ok);
    ck_assert_ptr_nonnull(strstr(expect_text(q.ctx), "needs the range of 3 tensors: 'x', 'r'"));
    ck_assert_ptr_nonnull(strstr(expect_text(q.ctx), "--calib"));
    end(&q);
}
END_TEST

START_TEST(a_calibration_of_something_else_is_refused)
{
    struct quantized q = quantized(two_convs, "int8", true);

    q.table.at[3].name = "elsewhere"; /* %r */
    q.table.at[0].non_finite = 3;     /* %x */
    run(&q);
    ck_assert(!q.ok);
    ck_assert_ptr_nonnull(strstr(expect_text(q.ctx), "lacks data of 1 tensor: 'r'"));
    ck_assert_ptr_nonnull(strstr(expect_text(q.ctx), "infinities or NaN in 1 tensor: 'x'"));
    end(&q);
}
END_TEST

/* But for the batch, which changes no range; and a file may have been given another name. */
START_TEST(a_calibration_of_other_shapes_is_refused)
{
    struct quantized q = quantized(two_convs, "int8", true);

    for (int i = 0; i < q.table.n; i++)
        q.table.at[i].shape = "7x2x4x4";
    q.table.at[3].shape = "1x2x4x5"; /* %r */
    q.table.model = "another.onnx";
    q.ctx->diags.input_name = "folder/net.onnx";
    run(&q);
    ck_assert(!q.ok);
    ck_assert_int_eq(q.ctx->diags.n_errors, 1);
    ck_assert_ptr_nonnull(strstr(expect_text(q.ctx), "table is of 'another.onnx'"));
    ck_assert_ptr_nonnull(strstr(expect_text(q.ctx), "than the model: 'r' is (1,2,4,4) f32, "
                                                     "1x2x4x5 in the table"));
    end(&q);
}
END_TEST

START_TEST(names_that_no_node_has_are_refused)
{
    static const char *const keep[] = { "yy", "r", "nothing like it" };
    struct quantized q = quantized(two_convs, "fp8w", false);

    q.options.keep = keep;
    q.options.n_keep = 3;
    run(&q);
    ck_assert(!q.ok);
    ck_assert_int_eq(q.ctx->diags.n_errors, 2);
    ck_assert_ptr_nonnull(strstr(expect_text(q.ctx), "no node is called 'yy'"));
    ck_assert_ptr_nonnull(strstr(expect_text(q.ctx), "did you mean 'y'?"));
    end(&q);
}
END_TEST

START_TEST(a_tensor_of_zeros_has_a_scale)
{
    struct quantized q = quantized(two_convs, "int8", true);

    q.table.at[0].min = q.table.at[0].max = 0;
    q.table.at[0].thresholds[0].value = 0;
    run(&q);
    ck_assert_msg(q.ok, "%s", expect_text(q.ctx));
    ck_assert_double_eq(number(find(&q, OP_QNN_QUANTIZE, 0)->inputs[1]), 1);
    ck_assert_msg(expect_warning(q.ctx, DIAG_CALIB_TABLE, "1 tensor contained only zeros"), "%s",
                  expect_text(q.ctx));
    end(&q);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("quantize_annotate");
    TCase *tcase = tcase_create("quantize_annotate");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_loop_test(tcase, graphs_take_their_forms, 0, N_ROWS(forms));
    tcase_add_loop_test(tcase, realised_graphs_compute_what_is_simulated, 0, N_ROWS(forms));
    tcase_add_test(tcase, fp8_scales_are_threshold_by_greatest);
    tcase_add_test(tcase, integer_scales_cover_the_range_and_zero);
    tcase_add_test(tcase, moved_numbers_keep_their_scale);
    tcase_add_loop_test(tcase, a_pad_has_a_scale_of_its_own_where_its_number_counts, 0,
                        N_ROWS(paddings));
    tcase_add_loop_test(tcase, a_state_has_one_scale_at_both_ends, 0, 2);
    tcase_add_test(tcase, what_is_kept_stays_f32);
    tcase_add_test(tcase, first_last_and_worst_are_kept);
    tcase_add_test(tcase, all_weights_that_are_not_finite_are_named);
    tcase_add_test(tcase, integers_want_a_calibration);
    tcase_add_test(tcase, a_calibration_of_something_else_is_refused);
    tcase_add_test(tcase, a_calibration_of_other_shapes_is_refused);
    tcase_add_test(tcase, names_that_no_node_has_are_refused);
    tcase_add_test(tcase, a_tensor_of_zeros_has_a_scale);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
