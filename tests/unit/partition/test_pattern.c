/* test_pattern.c - texts of patterns: what they are, what is wrong with them, and that they are
 * printed as they were. Matching is in test_match.c. */
#include <check.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "partition/pattern.h"
#include "tests/support/expect.h"

static const struct source source = { .file = "t.json", .line = 7, .column = 11 };

static const char *printed(struct ctx *ctx, const struct pattern *pattern)
{
    struct str text = { .arena = &ctx->perm };

    pattern_print(pattern, &text);
    return str_text(&text);
}

/* Texts, what they are printed as (NULL: the same), length, and captures. */
static const struct {
    const char *text, *printed;
    int length;
    const char *captures;
} texts[] = {
    { "conv2d(x, w:const) -> bias_add(_, b:const)? -> relu|clip?", NULL, 3,
      "conv2d x w bias_add b relu clip" },
    { "nn.conv2d( x ,w : const)->nn.relu", "conv2d(x, w:const) -> relu", 2, "conv2d x w relu" },
    { "relu(x)", NULL, 1, "relu x" },
    { "relu", NULL, 1, "relu" },
    { "relu(_)", "relu", 1, "relu" },
    { "relu(*)", NULL, 1, "relu" },
    { "add(x, x2:const f16|f32 (64,_,3,3))", NULL, 1, "add x x2" },
    { "add(x:var rank=4, y:i8):f32 (1,2)", NULL, 1, "add x y" },
    { "conv2d(x, w){strides=[1,1], groups=1, data_layout=NCHW}",
      "conv2d(x, w){strides=[1,1], groups=1, data_layout=\"NCHW\"}", 1, "conv2d x w" },
    { "clip(x){a_min=0, a_max=6.5}", NULL, 1, "clip x" },
    { "clip(x){a_min=-inf, a_max=inf}", NULL, 1, "clip x" },
    { "cast(x){dtype=f16, saturate=true}", "cast(x){dtype=\"f16\", saturate=true}", 1, "cast x" },
    { "argmax(x){keepdims=0}", "argmax(x){keepdims=false}", 1, "argmax x" },
    { "conv2d(...)", NULL, 1, "conv2d" },
    { "layer_norm(x, s, ...)", NULL, 1, "layer_norm x s" },
    { "concatenate(tuple(a, b))", "concatenate(a, b)", 1, "concatenate a b" },
    { "split(x).1", NULL, 1, "split x" },
    { "split(x){axis=1}.2 -> relu", NULL, 2, "split x relu" },
    { "topk(x).1:i64", NULL, 1, "topk x" },
    { "@elemwise", NULL, 1, "" },
    { "e=@broadcast(x, ...)", NULL, 1, "e x" },
    { "c=conv2d(x, w) -> act=(relu|clip)", NULL, 2, "c x w act relu clip" },
    { "conv2d(conv2d(x, w), v)", NULL, 2, "conv2d conv2d_2 x w v" },
    { "conv2d(x, w) -> conv2d(_, v)", NULL, 2, "conv2d x w conv2d_2 v" },
    { "x=* -> multiply(_, sigmoid(_))", NULL, 2, "x multiply sigmoid" },
    { "multiply(_, sigmoid(_))", NULL, 2, "multiply sigmoid" },
    { "x=*:f32 -> pad? -> conv2d(_, w)", NULL, 2, "x pad conv2d w" },
    { "add(x -> relu, y)", "add(x -> relu, y)", 2, "add x relu y" },
    { "conv2d(x, w) -> add(relu(_) -> clip?, y)", NULL, 4, "conv2d x w add relu clip y" },
    { "conv2d(x, w) -> (bias_add(_, b) -> relu)|silu", NULL, 3, "conv2d x w bias_add b relu silu" },
    { "conv2d(x, w) -> (bias_add(_, b) -> relu?)?", NULL, 3, "conv2d x w bias_add b relu" },
    { "(conv2d(x, w) -> relu?):f16 -> clip", NULL, 3, "conv2d x w relu clip" },
    { "relu(x)|sigmoid(x)", NULL, 1, "relu x sigmoid" },
    { "(relu(x) -> relu)|relu(x)", NULL, 2, "relu x relu_2" },
    { "conv2d(x, w) -> dominates(_, @elemwise|cast, multiply)", NULL, INT_MAX,
      "conv2d x w multiply" },
    { "dominates(conv2d(x, w), @elemwise, add(*, *)) -> relu", NULL, INT_MAX,
      "conv2d x w add relu" },
    { "resize(x)", "image.resize(x)", 1, "resize x" },
    { "qnn.conv2d(x, w, b, m) -> qnn.requantize(_, ...)",
      "qnn.conv2d(x, w, b, m) -> qnn.requantize", 2, "conv2d x w b m requantize" },
    { "add(relu(x)|x, y)", NULL, 2, "add relu x y" },
    { "add((relu(x) -> clip)|x, y)", NULL, 3, "add relu x clip y" },
    { "relu_2=relu(x) -> relu -> relu", "relu_2=relu(x) -> relu -> relu", 3,
      "relu_2 x relu relu_3" },
    { "relu(x) -> clip|_", NULL, 2, "relu x clip" },
    { "multiply(_, sigmoid(_))|relu(x)", NULL, 2, "multiply sigmoid relu x" },
    { "(relu)|relu(x)", "relu|relu(x)", 1, "relu x" },
    { "((relu(x)))", "relu(x)", 1, "relu x" },
    { "add(*:const, (relu))", "add(*:const, relu(_))", 2, "add relu" },
};

START_TEST(a_text_becomes_a_pattern_and_is_printed)
{
    const char *want = texts[_i].printed ? texts[_i].printed : texts[_i].text, *once;
    struct ctx *ctx = ctx_new(NULL);
    struct pattern *pattern = pattern_parse(ctx, &source, texts[_i].text), *again;
    struct str captures = { .arena = &ctx->perm };
    const char **names;
    int n;

    ck_assert_msg(pattern != NULL, "%s\n%s", texts[_i].text, expect_text(ctx));
    once = printed(ctx, pattern);
    ck_assert_str_eq(once, want);
    again = pattern_parse(ctx, &source, once);
    ck_assert_msg(again != NULL, "%s\n%s", once, expect_text(ctx));
    ck_assert_str_eq(printed(ctx, again), want);
    ck_assert_int_eq(pattern_length(pattern), texts[_i].length);
    names = pattern_captures(pattern, &ctx->perm, &n);
    for (int i = 0; i < n; i++)
        str_printf(&captures, "%s%s", i ? " " : "", names[i]);
    ck_assert_str_eq(str_text(&captures), texts[_i].captures);
    ctx_free(ctx);
}
END_TEST

/* What is wrong, each "COLUMN: MESSAGE" (column behind source.column, from 0); and a help. */
static const struct {
    const char *text;
    const char *errors[4];
    const char *help;
} wrong[] = {
    { "", { "0: the pattern is empty" }, NULL },
    { "   ", { "0: the pattern is empty" }, NULL },
    { "conv2s(x, w)", { "0: unknown operator 'conv2s'" }, "did you mean conv2d?" },
    { "conv2d(x, w) -> xyzzyq", { "16: unknown operator 'xyzzyq'" }, "docs/guide/operators.md" },
    { "conv2d(x, w){stride=[1,1]}",
      { "13: nn.conv2d has no attribute 'stride'" },
      "it has strides, padding, dilation, groups, data_layout, out_layout, kernel_layout" },
    { "relu(x){alpha=1}", { "8: nn.relu has no attribute 'alpha'" }, "it has none" },
    { "conv2d(x, w){groups=[1]}", { "20: attribute 'groups' takes a whole number" }, NULL },
    { "conv2d(x, w){groups=1, groups=1}", { "23: attribute 'groups' is given twice" }, NULL },
    { "cast(x){dtype=f23}", { "14: attribute 'dtype' takes an element type" }, NULL },
    { "conv2d(x)", { "0: nn.conv2d takes 2 inputs, found 1" }, "'...' at the end" },
    { "relu(x, y)", { "0: nn.relu takes 1 input, found 2" }, NULL },
    { "layer_norm(x)", { "0: nn.layer_norm takes 2 to 3 inputs, found 1" }, NULL },
    { "concatenate()", { "0: concatenate takes 1 or more inputs, found 0" }, NULL },
    { "add(x, x)", { "7: capture 'x' is used twice" }, "x=* -> multiply(_, sigmoid(_))" },
    { "relu=clip(relu(x)) -> r=relu(_) -> add(_, r)", { "42: capture 'r' is used twice" }, NULL },
    { "add(x, y) -> x=relu", { "13: capture 'x' is used twice" }, NULL },
    { "add(x, f32)", { "7: 'f32' is not a capture name" }, NULL },
    { "add(x, out)", { "7: 'out' is not a capture name" }, NULL },
    { "add(x, y", { "8: expected ',' or ')', found the end of the pattern" }, NULL },
    { "add(x y)", { "6: expected ',' or ')', found 'y'" }, NULL },
    { "(relu", { "5: expected ')', found the end" }, NULL },
    { "relu)", { "4: expected '->' or the end, found ')'" }, NULL },
    { "relu ->", { "7: expected an operator, a name or '(', found the end" }, NULL },
    { "-> relu", { "0: expected an operator, a name or '(', found '-'" }, NULL },
    { "relu|", { "5: expected an operator" }, NULL },
    { "*", { "0: a pattern ends with an operator" }, NULL },
    { "x=*", { "0: a pattern ends with an operator" }, NULL },
    { "relu?", { "0: a pattern ends with an operator" }, NULL },
    { "relu(x) -> add(y, z)", { "11: this step does not read the previous result" }, "add(_, y)" },
    { "relu(x) -> (clip|add(y, z))", { "12: this step does not read the previous result" }, NULL },
    { "relu(x) -> add(y, z)? -> clip", { "20: '?' makes" }, "x=* -> pad(_)?" },
    { "add(x:f23, y)", { "6: 'f23' is not a condition" }, NULL },
    { "add(x:constt, y)", { "6: 'constt' is not a condition" }, "did you mean const?" },
    { "add(x:, y)", { "6: expected a condition behind ':', found ','" }, NULL },
    { "add(x:const var, y)", { "12: const and var may be given once" }, NULL },
    { "relu(x):const", { "8: the result of an operator is never constant" }, NULL },
    { "add(x:(1,2) rank=3, y)", { "12: rank 3 and rank 2 exclude each other" }, NULL },
    { "add(x:rank=9, y)", { "6: a rank is 0 to 8, found 9" }, NULL },
    { "add(x:(1,-2), y)", { "9: an extent is not negative" }, NULL },
    { "add(x:(1,2,3,4,5,6,7,8,9), y)", { "7: a shape has at most 8 extents" }, NULL },
    { "add(x:(99999999999999999999), y)", { "7: this number is beyond 64 bits" }, NULL },
    { "relu(x) -> add(_:f32, y)", { "16: '_' takes no conditions" }, NULL },
    { "relu(x).1", { "7: nn.relu has 1 output, the last is .0" }, NULL },
    { "topk(x).99999999999999999999", { "7: topk has 2 outputs, the last is .1" }, NULL },
    { "split(x).10000", { "8: an operator has less than 10000 outputs" }, NULL },
    { "xyzzyq(x).99999999999999999999",
      { "0: unknown operator 'xyzzyq'", "9: an operator has less than 10000 outputs" },
      NULL },
    { "@elemwize", { "0: unknown class of operators '@elemwize'" }, "@elemwise" },
    { "dominates(relu, sigmoid)", { "23: expected ',', found ')'" }, NULL },
    { "dominates(relu, relu(clip(x)), add)",
      { "26: 'x' is in the path of dominates", "16: the path of dominates is one operator" },
      NULL },
    { "dominates(relu, @elemwise, x=*)", { "27: the child of dominates is an operator" }, NULL },
    { "add(tuple(x, y), z)", { "4: tuple(...) must be the only argument" }, NULL },
    { "call(x)", { "0: 'call' belongs to the structure of the graph" }, NULL },
    { "r=(relu -> clip)", { "0: this has a name already" }, NULL },
    { "conv2d(x, w){data_layout=\"NCHW}", { "25: this text has no closing \"" }, NULL },
    /* everything that leaves the structure clear at once */
    { "conv2s(x, w){a=1} -> relu(_, y){b=2} -> add(_, y)",
      { "0: unknown operator 'conv2s'", "21: nn.relu takes 1 input, found 2",
        "32: nn.relu has no attribute 'b'", "47: capture 'y' is used twice" },
      NULL },
};

START_TEST(errors_tell_the_column_and_the_way_out)
{
    struct ctx *ctx = ctx_new(NULL);
    int n = 0;

    ck_assert_msg(pattern_parse(ctx, &source, wrong[_i].text) == NULL, "%s", wrong[_i].text);
    for (; n < 4 && wrong[_i].errors[n]; n++) {
        const int column = source.column + atoi(wrong[_i].errors[n]);
        const char *part = arena_printf(&ctx->perm, "t.json:7:%d:%s", column,
                                        strchr(wrong[_i].errors[n], ':') + 1);

        ck_assert_msg(expect_error(ctx, DIAG_TARGET_FILE, part), "wanted %s, got\n%s", part,
                      expect_text(ctx));
    }
    ck_assert_msg(ctx->diags.n_errors == n, "%s", expect_text(ctx));
    if (wrong[_i].help)
        ck_assert_msg(expect_error(ctx, DIAG_TARGET_FILE, wrong[_i].help), "%s", expect_text(ctx));
    ctx_free(ctx);
}
END_TEST

/* Texts that are big in one way or another: refused, and neither slow nor a crash. */
START_TEST(hostile_texts_are_refused)
{
    static const struct {
        const char *first, *repeated, *last;
    } pieces[] = {
        { "", "(", "" },
        { "", "relu(", "" },
        { "relu(x)", " -> add(_, _)", "" },
        { "relu(x)", " -> relu", "" },
        { "relu", "|relu", "" },
        { "concatenate(a", ", *", ")" },
        { "relu", "?", "" },
        { "relu:", "f32|", "" },
        { "add(x:(", "1,", "" },
        { "relu(x){", "a=1,", "}" },
        { "", "x=", "*" },
        { "relu(x)", " -> (relu?)", "" },
        { "", "dominates(", "" },
        { "x=* -> add(_", " -> add(_, _)", ", _)" },
    };
    struct ctx *ctx = ctx_new(NULL);
    struct str text = { .arena = &ctx->perm };

    str_add(&text, pieces[_i].first);
    for (int i = 0; i < 20000; i++)
        str_add(&text, pieces[_i].repeated);
    str_add(&text, pieces[_i].last);
    ck_assert_ptr_null(pattern_parse(ctx, &source, str_text(&text)));
    ck_assert_int_gt(ctx->diags.n_errors, 0);
    ctx_free(ctx);
}
END_TEST

START_TEST(a_pattern_knows_its_names_and_fields)
{
    static const struct {
        const char *name, *field;
        bool known;
    } questions[] = {
        { "x", NULL, true },         { "x", "dim", true },     { "x", "strides", false },
        { "w", "value", true },      { "v", "value", false },  { "conv2d", "strides", true },
        { "conv2d", "axis", false }, { "conv2d", "op", true }, { "relu", NULL, true },
        { "silu", NULL, false },     { "act", "a_min", true }, { "act", "dtype", true },
        { "act", "axis", false },    { "out", "shape", true }, { "out", "a_max", true },
        { "macs", NULL, true },      { "macs", "x", false },   { "tiles", NULL, false },
        { "out", NULL, false },
    };
    struct ctx *ctx = ctx_new(NULL);
    struct pattern *pattern =
        pattern_parse(ctx, &source, "conv2d(x, w:const) -> add(_, v:var)? -> act=(relu|clip)?");

    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
        ck_assert_msg(pattern_knows(pattern, questions[i].name, questions[i].field) ==
                          questions[i].known,
                      "%s.%s", questions[i].name, questions[i].field ? questions[i].field : "");
    ck_assert(pattern_mentions(pattern, OP_CONV2D));
    ck_assert(pattern_mentions(pattern, OP_CLIP));
    ck_assert(!pattern_mentions(pattern, OP_SILU));
    ck_assert(pattern_mentions(pattern_parse(ctx, &source, "relu -> @elemwise"), OP_SILU));
    ctx_free(ctx);
}
END_TEST

/* --- random trees ----------------------------------------------------------------------------- */

struct maker {
    struct ctx *ctx;
    unsigned seed;
    int n_names, budget;
};

static int pick(struct maker *m, int n)
{
    m->seed = m->seed * 1103515245u + 12345u;
    return (int)(m->seed >> 16 & 0x7fff) % n;
}

static struct pattern *part(struct maker *m, enum pattern_kind kind, int n_args,
                            struct pattern *const *args)
{
    struct pattern *pattern = arena_new(&m->ctx->perm, struct pattern);

    *pattern = (struct pattern){ .kind = kind, .op = OP_COUNT, .type.rank = -1, .n_args = n_args };
    pattern->args = arena_array(&m->ctx->perm, struct pattern *, n_args);
    for (int i = 0; i < n_args; i++)
        pattern->args[i] = args[i];
    m->budget--;
    return pattern;
}

static const char *fresh(struct maker *m)
{
    return arena_printf(&m->ctx->perm, "n%d", m->n_names++);
}

static void random_type(struct maker *m, struct type_test *type)
{
    if (pick(m, 4) == 0)
        type->dtypes = (uint64_t)(2 + 2 * pick(m, 100));
    if (pick(m, 4) == 0)
        type->rank = pick(m, 5);
    if (type->rank >= 0 && pick(m, 2)) {
        type->has_shape = true;
        for (int i = 0; i < type->rank; i++)
            type->dim[i] = pick(m, 3) - 1;
    }
}

static struct pattern *random_leaf(struct maker *m)
{
    struct pattern *leaf = part(m, (enum pattern_kind)pick(m, 3), 0, NULL);

    leaf->capture = pick(m, 3) ? fresh(m) : NULL;
    random_type(m, &leaf->type);
    return leaf;
}

static struct pattern *random_tree(struct maker *m, int depth);

static struct pattern *random_op(struct maker *m, int depth, struct pattern *first)
{
    static const enum op ops[] = { OP_RELU, OP_ADD, OP_CONV2D, OP_CONCATENATE, OP_WHERE, OP_SPLIT };
    const enum op op = ops[pick(m, 6)];
    const int n = op == OP_CONCATENATE ? 1 + pick(m, 3) : op_row(op)->most_inputs;
    struct pattern *args[3], *pattern;

    for (int i = 0; i < n; i++)
        args[i] = i == 0 && first ? first : random_tree(m, depth - 1);
    pattern = part(m, PAT_OP, n, args);
    pattern->op = op;
    pattern->any_args = op == OP_WHERE && pick(m, 2);
    pattern->n_args -= pattern->any_args;
    pattern->capture = fresh(m);
    random_type(m, &pattern->type);
    if (op == OP_CONV2D && pick(m, 2)) {
        pattern->attrs = arena_new(&m->ctx->perm, struct attr_test);
        pattern->attrs[pattern->n_attrs++] =
            (struct attr_test){ "strides",
                                { .kind = TERM_INTS, .ints = { 2, { pick(m, 3), pick(m, 3) } } } };
    }
    if (op == OP_SPLIT) {
        pattern = part(m, PAT_TUPLE_GET, 1, &pattern);
        pattern->index = pick(m, 3);
    }
    return pattern;
}

static struct pattern *random_tree(struct maker *m, int depth)
{
    struct pattern *args[3], *pattern;
    int n;

    if (depth <= 0 || m->budget <= 0)
        return random_leaf(m);
    switch (pick(m, 6)) {
    case 0: return random_leaf(m);
    case 1:
        n = 2 + pick(m, 2);
        for (int i = 0; i < n; i++)
            args[i] = random_tree(m, depth - 1);
        pattern = part(m, PAT_ALTERNATIVE, n, args);
        pattern->capture = pick(m, 3) ? NULL : fresh(m);
        return pattern;
    case 2:
        args[1] = random_tree(m, depth - 1);
        args[0] = random_op(m, depth - 1, args[1]);
        pattern = part(m, PAT_OPTIONAL, 2, args);
        random_type(m, &pattern->type);
        return pattern;
    default: return random_op(m, depth, NULL);
    }
}

START_TEST(random_patterns_are_printed_as_they_are_parsed)
{
    for (unsigned i = 0; i < 1000; i++) {
        struct ctx *ctx = ctx_new(NULL);
        struct maker m = { .ctx = ctx, .seed = (unsigned)_i * 1000 + i, .budget = 40 };
        struct pattern *pattern = random_op(&m, 4, NULL), *again;
        const char *once = printed(ctx, pattern);

        again = pattern_parse(ctx, &source, once);
        ck_assert_msg(again != NULL, "%s\n%s", once, expect_text(ctx));
        ck_assert_str_eq(printed(ctx, again), once);
        ck_assert_int_eq(pattern_length(again), pattern_length(pattern));
        ctx_free(ctx);
    }
}
END_TEST

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

int main(void)
{
    Suite *suite = suite_create("pattern");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_set_timeout(tests, 0);
    tcase_add_loop_test(tests, a_text_becomes_a_pattern_and_is_printed, 0, N_ROWS(texts));
    tcase_add_loop_test(tests, errors_tell_the_column_and_the_way_out, 0, N_ROWS(wrong));
    tcase_add_loop_test(tests, hostile_texts_are_refused, 0, 14);
    tcase_add_test(tests, a_pattern_knows_its_names_and_fields);
    tcase_add_loop_test(tests, random_patterns_are_printed_as_they_are_parsed, 0, 4);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
