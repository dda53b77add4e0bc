/* Steps of quantisation change numbers on purpose; what else they change, or change by more than
 * they may, is found. Each bug is planted into a step that is right without it. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "relay_ir/passes/pipeline.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"

static const char *const network =
    "fn main(%x: (1,4,6,5) f32) -> (%y) {\n"
    "  const @w : (4,4,3,3) f32 = crc32:00000000\n"
    "  const @b : (4) f32 = crc32:00000001\n"
    "  const @m : (30,7) f32 = crc32:00000003\n"
    "  %c = nn.conv2d(%x, @w) {strides=[1,1], padding=[1,1,1,1], dilation=[1,1], groups=1}\n"
    "  %d = nn.bias_add(%c, @b) {axis=1}\n"
    "  %v = reshape(%d) {shape=[4,30]}\n"
    "  %u = reshape(%x) {shape=[4,30]}\n"
    "  %s = add(%v, %u)\n"
    "  %y = nn.matmul(%s, @m)\n"
    "}\n";

enum bug {
    NO_BUG,
    /* annotate */
    OTHER_SCALE,
    OTHER_ZERO,
    NEGATIVE_SCALE,
    NOT_NEAREST,
    SCALES_OF_ROWS,
    VIEW_OF_ANOTHER,
    BIAS_DROPPED,
    OPERANDS_SWAPPED,
    BIAS_CHANGED,
    ANOTHER_ATTRIBUTE,
    NOT_QUANTISED_AT_ALL,
    /* round */
    ONE_STEP,
    TWO_STEPS,
    THREE_EVERYWHERE,
    TWELVE_EVERYWHERE,
    SCALE_MOVED,
    /* correct_bias */
    SHIFTED,
    SHIFTED_UNSTATED,
    SHIFTED_OTHERWISE,
    NEW_SUM,
    NEW_SUM_OTHERWISE,
    NEW_SUM_ALONG_ROWS
};

struct job {
    enum bug bug;
    struct validation *validation;
};

static struct node *find(struct module *module, enum op op)
{
    struct node *node = module->main->first;

    while (node && node->op != op)
        node = node->next;
    ck_assert_ptr_nonnull(node);
    return node;
}

static struct value *constant(struct module *module, const char *name, const struct type *type,
                              const double *numbers)
{
    void *data = constant_alloc(module->main, type);

    for (int64_t i = 0; i < type_elements(type); i++)
        if (dtype_is_float(type->dtype))
            dtype_store(type->dtype, data, i, numbers[i]);
        else
            dtype_store_int(type->dtype, data, i, (int64_t)numbers[i]);
    return constant_new(module->main, name, type, data);
}

static struct value *scalar(struct module *module, const char *name, enum dtype dtype,
                            double number)
{
    const struct type type = type_scalar(dtype);

    return constant(module, name, &type, &number);
}

/* --- annotate --------------------------------------------------------------------------------- */

/* What was quantised by one scale, as numbers. */
static struct value *decode(struct module *module, struct value *codes, struct value *scale,
                            struct value *zero, struct node *reader)
{
    struct value *inputs[] = { codes, scale, zero };

    return build(module->main, OP_QNN_DEQUANTIZE, NULL, "numbers", NULL, reader, 3, inputs);
}

static void annotate_data(struct module *module, enum bug bug, struct node *conv)
{
    const union attrs attrs = { .quantize = { .saturate = true } };
    struct value *x = module->main->params[0];
    struct value *scale =
        scalar(module, "x.scale", DTYPE_F32, bug == NEGATIVE_SCALE ? -0.02 : 0.02);
    struct value *zero = scalar(module, "x.zero", DTYPE_I8, 3);
    struct value *inputs[] = { x, scale, zero };
    struct value *codes =
        build(module->main, OP_QNN_QUANTIZE, &attrs, "x.i8", NULL, module->main->first, 3, inputs);
    struct node *s = find(module, OP_ADD);
    struct value *viewed;

    viewed = build(module->main, OP_RESHAPE, &find(module, OP_RESHAPE)->attrs, "u.i8", NULL, s, 1,
                   &codes);
    node_set_input(conv, 0,
                   decode(module, codes,
                          bug == OTHER_SCALE ? scalar(module, "other", DTYPE_F32, 0.021) : scale,
                          bug == OTHER_ZERO ? scalar(module, "other", DTYPE_I8, 4) : zero, conv));
    /* of the second operand; the bug reads it for the first */
    node_set_input(s, bug == VIEW_OF_ANOTHER ? 0 : 1, decode(module, viewed, scale, zero, s));
}

/* Codes to nearest; a scale per output channel. */
static void annotate_weights(struct module *module, enum bug bug, struct node *conv)
{
    const struct value *w = conv->inputs[1];
    const struct type type = type_make(DTYPE_I8, w->type.rank, w->type.dim);
    const struct type vector = type_make(DTYPE_F32, 1, (int64_t[]){ 4 });
    const union attrs along = { .axis = { .axis = bug == SCALES_OF_ROWS ? 1 : 0 } };
    double codes[4 * 36], scales[4];
    struct value *inputs[3], *numbers;
    struct tensor tensor = value_tensor(w);

    for (int c = 0; c < 4; c++) {
        scales[c] = 0.01 * (c + 1);
        for (int i = 0; i < 36; i++)
            codes[c * 36 + i] = fmax(
                -127, fmin(127, rint(tensor_at(&tensor, c * 36 + i) / (double)(float)scales[c])));
    }
    if (bug == NOT_NEAREST)
        codes[50] += codes[50] > 0 ? -1 : 1;
    inputs[0] = constant(module, "w.i8", &type, codes);
    inputs[1] = constant(module, "w.scale", &vector, scales);
    inputs[2] = scalar(module, "w.zero", DTYPE_I8, 0);
    numbers = build(module->main, OP_QNN_DEQUANTIZE, &along, "w.f32", NULL, conv, 3, inputs);
    node_set_input(conv, 1, numbers);
}

static void exchange(struct module *module, struct node *node, int input, int64_t at, double more)
{
    const struct type type = node->inputs[input]->type;
    struct tensor was = value_tensor(node->inputs[input]);
    double numbers[256];

    for (int64_t i = 0; i < type_elements(&type); i++)
        numbers[i] = tensor_at(&was, i) + (i == at || at < 0 ? more : 0);
    node_set_input(node, input, constant(module, "changed", &type, numbers));
}

static bool annotate(struct module *module, void *user)
{
    const enum bug bug = ((const struct job *)user)->bug;
    struct node *conv = find(module, OP_CONV2D), *bias = find(module, OP_BIAS_ADD);
    struct node *add = find(module, OP_ADD);
    struct value *first = add->inputs[0];

    if (bug == NOT_QUANTISED_AT_ALL) {
        exchange(module, conv, 1, 17, 0.01);
        return true;
    }
    annotate_data(module, bug, conv);
    annotate_weights(module, bug, conv);
    if (bug == BIAS_DROPPED)
        value_replace(bias->outputs[0], bias->inputs[0]);
    if (bug == BIAS_CHANGED)
        exchange(module, bias, 1, 2, 0.001);
    if (bug == ANOTHER_ATTRIBUTE) {
        conv->attrs.conv.padding.at[1] = 0;
        conv->attrs.conv.padding.at[3] = 2;
    }
    if (bug == OPERANDS_SWAPPED) {
        node_set_input(add, 0, add->inputs[1]);
        node_set_input(add, 1, first);
    }
    return true;
}

/* --- the others ------------------------------------------------------------------------------- */

static bool round_weights(struct module *module, void *user)
{
    struct node *decoder = find(module, OP_CONV2D)->inputs[1]->def;

    switch (((const struct job *)user)->bug) {
    case ONE_STEP: exchange(module, decoder, 0, 7, 1); break;
    case TWO_STEPS: exchange(module, decoder, 0, 7, 2); break;
    case THREE_EVERYWHERE: exchange(module, decoder, 0, -1, 3); break;
    case TWELVE_EVERYWHERE: exchange(module, decoder, 0, -1, 12); break;
    case SCALE_MOVED: exchange(module, decoder, 1, 2, 0.0001); break;
    case BIAS_CHANGED: exchange(module, find(module, OP_BIAS_ADD), 1, 2, 0.001); break;
    default: break;
    }
    return true;
}

static bool correct_bias(struct module *module, void *user)
{
    static const double shift[7] = { 0.5, -0.25, 0, 1, 2, 3, 4 };
    const struct job *job = user;
    struct node *bias = find(module, OP_BIAS_ADD), *matmul = find(module, OP_MATMUL);
    const union attrs along = { .axis = { job->bug == NEW_SUM_ALONG_ROWS ? 0 : 1 } };
    const int64_t n = job->bug == NEW_SUM_ALONG_ROWS ? 4 : 7;
    const struct type vector = type_make(DTYPE_F32, 1, &n);
    struct value *y = matmul->outputs[0], *inputs[2], *sum;

    switch (job->bug) {
    case SHIFTED:
    case SHIFTED_UNSTATED:
    case SHIFTED_OTHERWISE:
        for (int i = 0; i < 4; i++)
            exchange(module, bias, 1, i,
                     shift[i] + (job->bug == SHIFTED_OTHERWISE && i == 2) * 1e-4);
        if (job->bug != SHIFTED_UNSTATED)
            validation_state_shift(job->validation, bias->outputs[0]->name, 4, shift);
        break;
    case NEW_SUM:
    case NEW_SUM_OTHERWISE:
    case NEW_SUM_ALONG_ROWS:
        inputs[0] = y;
        inputs[1] = constant(module, "y.bias", &vector, shift);
        sum = build(module->main, OP_BIAS_ADD, &along, "sum", NULL, NULL, 2, inputs);
        node_set_input(module->main->ret, 0, sum);
        value_take_name(sum, y);
        if (job->bug == NEW_SUM_OTHERWISE)
            exchange(module, sum->def, 1, 4, 1e-3);
        validation_state_shift(job->validation, sum->name, n, shift);
        break;
    case ONE_STEP: exchange(module, matmul, 1, 7, 0.01); break;
    default: break;
    }
    return true;
}

static const struct {
    enum bug bug;
    bool (*run)(struct module *module, void *user);
    enum promise promise;
    const char *error; /* part of it; NULL = it is right */
} steps[] = {
    { NO_BUG, annotate, PROMISE_CODING, NULL },
    { OTHER_SCALE, annotate, PROMISE_CODING, "is not what it was stored from" },
    { OTHER_ZERO, annotate, PROMISE_CODING, "is not what it was stored from" },
    { NEGATIVE_SCALE, annotate, PROMISE_CODING, "has no scale that is positive" },
    { NOT_NEAREST, annotate, PROMISE_CODING, "not the nearest in its format" },
    { SCALES_OF_ROWS, annotate, PROMISE_CODING, "not the nearest in its format" },
    { VIEW_OF_ANOTHER, annotate, PROMISE_CODING, "\"s\" (add) reads another value as input 0" },
    { BIAS_DROPPED, annotate, PROMISE_CODING, "\"v\" (reshape) reads another value" },
    { OPERANDS_SWAPPED, annotate, PROMISE_CODING, "\"s\" (add) reads another value" },
    { BIAS_CHANGED, annotate, PROMISE_CODING, "\"d\" (nn.bias_add) reads another constant" },
    { ANOTHER_ATTRIBUTE, annotate, PROMISE_CODING, "\"c\" (nn.conv2d) is computed in another" },
    { NOT_QUANTISED_AT_ALL, annotate, PROMISE_CODING, "\"c\" (nn.conv2d) reads another constant" },

    { NO_BUG, round_weights, PROMISE_NEIGHBOURS, NULL },
    { ONE_STEP, round_weights, PROMISE_NEIGHBOURS, NULL },
    { TWO_STEPS, round_weights, PROMISE_NEIGHBOURS, "by more than a step" },
    { THREE_EVERYWHERE, round_weights, PROMISE_NEIGHBOURS, "by more than a step" },
    { SCALE_MOVED, round_weights, PROMISE_NEIGHBOURS, "reads another value" },
    { BIAS_CHANGED, round_weights, PROMISE_NEIGHBOURS, "\"d\" (nn.bias_add) reads another" },
    { TWO_STEPS, round_weights, PROMISE_NEAR, NULL },
    { THREE_EVERYWHERE, round_weights, PROMISE_NEAR, NULL },
    { TWELVE_EVERYWHERE, round_weights, PROMISE_NEAR, "more than rounding may move them" },
    { SCALE_MOVED, round_weights, PROMISE_NEAR, "reads another value" },

    { NO_BUG, correct_bias, PROMISE_SHIFT, NULL },
    { SHIFTED, correct_bias, PROMISE_SHIFT, NULL },
    { SHIFTED_UNSTATED, correct_bias, PROMISE_SHIFT, "is shifted, and no step says so" },
    { SHIFTED_OTHERWISE, correct_bias, PROMISE_SHIFT, "by another number than was found" },
    { NEW_SUM, correct_bias, PROMISE_SHIFT, NULL },
    { NEW_SUM_OTHERWISE, correct_bias, PROMISE_SHIFT, "by another number than was found" },
    { NEW_SUM_ALONG_ROWS, correct_bias, PROMISE_SHIFT, "is not along the product's channels" },
    { ONE_STEP, correct_bias, PROMISE_SHIFT, "\"y\" (nn.matmul) reads another value" },
};

START_TEST(a_step_changes_what_it_says)
{
    struct ctx *ctx = ctx_new("net.onnx");
    struct module *module = graph_parse(ctx, network, 1);
    struct job job = { NO_BUG, validation_new(module, NULL) };
    struct pipeline_options options = { .validation = job.validation };
    bool ok = true;

    if (steps[_i].run != annotate) /* of a graph that is annotated */
        ck_assert_msg(
            pipeline_run_step(module, "annotate", PROMISE_CODING, annotate, &job, &options), "%s",
            expect_text(ctx));
    job.bug = steps[_i].bug;
    ok = pipeline_run_step(module, "the step", steps[_i].promise, steps[_i].run, &job, &options);
    ck_assert_msg(ok == !steps[_i].error, "%d: %s", (int)job.bug, expect_text(ctx));
    if (!ok)
        ck_assert_msg(expect_error(ctx, DIAG_MEANING, steps[_i].error), "%s", expect_text(ctx));
    validation_free(job.validation);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("validate_quantised");
    TCase *all = tcase_create("all");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_loop_test(all, a_step_changes_what_it_says, 0, (int)(sizeof steps / sizeof *steps));
    suite_add_tcase(suite, all);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
