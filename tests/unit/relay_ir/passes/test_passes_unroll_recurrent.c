/* Recurrent layers of one step become products and gates, with the results of the equations; all
 * others stay as they are. */
#include <check.h>
#include <stdlib.h>

#include "relay_ir/passes/pipeline.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"
#include "tests/support/pass_case.h"

/* One layer of 3 inputs, 5 hidden states and a batch of 2. ONNX's order: x, w, r, b, lengths, h, c,
 * p. */
struct layer {
    const char *op, *attrs;
    int gates;
    const char *inputs; /* behind w and r */
    bool stays;
    const char *x; /* its shape; NULL = one step */
    int directions;
};

#define FORWARD "hidden_size=5, direction=\"forward\""

#define UNROLLED(op, attrs, gates, inputs)                                                         \
    {                                                                                              \
        op, attrs, gates, inputs, false, NULL, 1                                                   \
    }
#define STAYS(op, attrs, gates, inputs)                                                            \
    {                                                                                              \
        op, attrs, gates, inputs, true, NULL, 1                                                    \
    }

static const struct layer layers[] = {
    UNROLLED("lstm", FORWARD, 4, "@b, _, %h, %c"),
    UNROLLED("lstm", FORWARD, 4, "_, _, %h, %c"),
    UNROLLED("lstm", FORWARD, 4, "@b"),
    UNROLLED("lstm", FORWARD, 4, "@b, _, %h"),
    UNROLLED("lstm", FORWARD, 4, "@b, _, _, %c"),
    UNROLLED("lstm", FORWARD, 4, "@b, @one, %h, %c"),
    UNROLLED("lstm", FORWARD ", activations=\"Sigmoid,Relu,Tanh\"", 4, "@b, _, %h, %c"),
    UNROLLED("lstm", "hidden_size=5, direction=\"reverse\"", 4, "@b, _, %h, %c"),
    { "lstm", FORWARD ", batch_major=true", 4, "@b, _, %hb, %cb", false, "(2,1,3)", 1 },
    UNROLLED("gru", FORWARD, 3, "@b, _, %h"),
    UNROLLED("gru", FORWARD, 3, "_, _, %h"),
    UNROLLED("gru", FORWARD, 3, "@b"),
    UNROLLED("gru", FORWARD, 3, "_"),
    UNROLLED("gru", FORWARD ", linear_before_reset=true", 3, "@b, _, %h"),
    UNROLLED("gru", FORWARD ", linear_before_reset=true", 3, "_, _, %h"),
    UNROLLED("gru", FORWARD ", linear_before_reset=true", 3, "@b"),
    UNROLLED("gru", FORWARD ", linear_before_reset=true", 3, "_"),
    UNROLLED("rnn", FORWARD, 1, "@b, _, %h"),
    UNROLLED("rnn", FORWARD ", activations=\"Relu\"", 1, "_"),

    { "lstm", FORWARD, 4, "@b, _, %h, %c", true, "(2,2,3)", 1 },
    STAYS("lstm", FORWARD ", clip=0.5", 4, "@b, _, %h, %c"),
    STAYS("lstm", FORWARD ", input_forget=true", 4, "@b, _, %h, %c"),
    STAYS("lstm", FORWARD ", activations=\"HardSigmoid,Tanh,Tanh\"", 4, "@b, _, %h, %c"),
    STAYS("lstm", FORWARD, 4, "@b, %lengths, %h, %c"),
    STAYS("lstm", FORWARD, 4, "@b, _, %h, %c, @p"),
    STAYS("lstm", FORWARD, 4, "%bias, _, %h, %c"),
    { "lstm", "hidden_size=5, direction=\"bidirectional\"", 4, "_", true, NULL, 2 },
};

static const char *text_of(struct ctx *ctx, const struct layer *layer)
{
    const int rows = layer->gates * 5, directions = layer->directions;

    return arena_printf(&ctx->perm,
                        "fn main(%%x: %s f32, %%h: (1,2,5) f32, %%c: (1,2,5) f32, %%hb: (2,1,5) "
                        "f32, %%cb: (2,1,5) f32, "
                        "%%lengths: (2) i32, %%bias: (1,%d) f32) -> (%%y, %%s%s) {\n"
                        "  const @w : (%d,%d,3) f32 = crc32:00000000\n"
                        "  const @r : (%d,%d,5) f32 = crc32:00000000\n"
                        "  const @b : (1,%d) f32 = crc32:00000000\n"
                        "  const @p : (1,15) f32 = crc32:00000000\n"
                        "  const @one : (2) i32 = [1, 1]\n"
                        "  %%y, %%s%s = nn.%s(%%x, @w, @r, %s) {%s}\n"
                        "}\n",
                        layer->x ? layer->x : "(1,2,3)", 2 * rows, layer->gates == 4 ? ", %t" : "",
                        directions, rows, directions, rows, 2 * rows,
                        layer->gates == 4 ? ", %t" : "", layer->op, layer->inputs, layer->attrs);
}

static bool has_layer(const struct module *module)
{
    for (const struct node *node = module->main->first; node; node = node->next)
        if (node->op == OP_LSTM || node->op == OP_GRU || node->op == OP_RNN)
            return true;
    return false;
}

START_TEST(layers_of_one_step_become_products)
{
    struct ctx *ctx = ctx_new(NULL);
    const char *text = text_of(ctx, &layers[_i]);
    struct module *before = graph_parse(ctx, text, 7), *module = graph_parse(ctx, text, 7);
    struct bulk bulk = { NULL, 0 };
    struct tensor *wanted, *got;

    ck_assert_msg(pipeline_run_one(module, "unroll_recurrent"), "%s\n%s", text, expect_text(ctx));
    ck_assert_msg(has_layer(module) == layers[_i].stays, "%s", text);
    if (!layers[_i]
             .stays) { /* lengths of a batch must be sound; those that stay have the same graph */
        wanted = graph_run(before, 8, &bulk);
        got = graph_run(module, 8, &bulk);
        ck_assert_msg(wanted && got, "%s", expect_text(ctx));
        ck_assert_double_lt(graph_difference(got, wanted, before->main->ret->n_inputs), 2e-6);
    }
    bulk_release(&bulk);
    module_free(before);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* What it looks like; results keep their names. */
static const struct pass_case lstm = {
    NULL,
    "fn main(%x: (1,1,2) f32, %h: (1,1,3) f32, %c: (1,1,3) f32) -> (%y, %hn, %cn) {\n"
    "  const @w : (1,12,2) f32 = crc32:00000000\n"
    "  const @r : (1,12,3) f32 = crc32:00000000\n"
    "  const @b : (1,24) f32 = crc32:00000000\n"
    "  %y, %hn, %cn = nn.lstm(%x, @w, @r, @b, _, %h, %c) {hidden_size=3}\n"
    "}\n",
    "fn main(%x: (1,1,2) f32, %h: (1,1,3) f32, %c: (1,1,3) f32) -> (%y, %hn, %cn) {\n"
    "  const @w : (12,2) f32 = crc32:00000000\n"
    "  const @b : (12) f32 = crc32:00000000\n"
    "  const @r : (12,3) f32 = crc32:00000000\n"
    "  %y.reshape = reshape(%x) {shape=[1,2]} : (1,2) f32\n"
    "  %y.reshape_2 = reshape(%h) {shape=[1,3]} : (1,3) f32\n"
    "  %y.reshape_3 = reshape(%c) {shape=[1,3]} : (1,3) f32\n"
    "  %y.dense = nn.dense(%y.reshape, @w) : (1,12) f32\n"
    "  %y.bias_add = nn.bias_add(%y.dense, @b) {axis=1} : (1,12) f32\n"
    "  %y.dense_2 = nn.dense(%y.reshape_2, @r) : (1,12) f32\n"
    "  %y.add = add(%y.dense_2, %y.bias_add) : (1,12) f32\n"
    "  %y.i, %y.o, %y.f, %y.c = split(%y.add) {axis=1, sizes=[3,3,3,3]} : (1,3) f32, (1,3) f32, "
    "(1,3) f32, (1,3) f32\n"
    "  %y.sigmoid = sigmoid(%y.i) : (1,3) f32\n"
    "  %y.tanh = tanh(%y.c) : (1,3) f32\n"
    "  %y.multiply = multiply(%y.sigmoid, %y.tanh) : (1,3) f32\n"
    "  %y.sigmoid_2 = sigmoid(%y.f) : (1,3) f32\n"
    "  %y.multiply_2 = multiply(%y.sigmoid_2, %y.reshape_3) : (1,3) f32\n"
    "  %y.add_2 = add(%y.multiply_2, %y.multiply) : (1,3) f32\n"
    "  %y.sigmoid_3 = sigmoid(%y.o) : (1,3) f32\n"
    "  %y.tanh_2 = tanh(%y.add_2) : (1,3) f32\n"
    "  %y.multiply_3 = multiply(%y.sigmoid_3, %y.tanh_2) : (1,3) f32\n"
    "  %y = reshape(%y.multiply_3) {shape=[1,1,1,3]} : (1,1,1,3) f32\n"
    "  %hn = reshape(%y.multiply_3) {shape=[1,1,3]} : (1,1,3) f32\n"
    "  %cn = reshape(%y.add_2) {shape=[1,1,3]} : (1,1,3) f32\n"
    "}\n",
};

START_TEST(the_graph_of_an_lstm)
{
    pass_case_check("unroll_recurrent", &lstm);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("unroll_recurrent");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_set_timeout(tests, 0);
    tcase_add_loop_test(tests, layers_of_one_step_become_products, 0, N_ROWS(layers));
    tcase_add_test(tests, the_graph_of_an_lstm);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
