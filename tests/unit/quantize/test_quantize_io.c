/* quantize_io: which parameters and results become codes, what their types say, and that the
 * network computes the same. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "quantize/quantize_io.h"
#include "relay_ir/verify.h"
#include "tests/support/executions.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))
#define SCALES                                                                                     \
    "  const @s : () f32 = [0.5]\n"                                                                \
    "  const @z : () i8 = [-3]\n"
#define CODES "i8 scaled(scale=0.5, zero=-3)"
#define Q "qnn.quantize(%x, @s, @z) {axis=0, saturate=true}"

static const struct {
    const char *before, *after; /* NULL = as before, "" = is not looked at; without payloads */
    int left;
} rows[] = {
    /* both sides, and what they mean */
    { "fn main(%x: (1,4) f32) -> (%y) {\n" SCALES "  %q = " Q "\n"
      "  %r = nn.relu(%q)\n"
      "  %y = qnn.dequantize(%r, @s, @z)\n"
      "}\n",
      "fn main(%x: (1,4) " CODES ") -> (%y) {\n"
      "  const @s : () f32\n"
      "  const @z : () i8\n"
      "  %y = nn.relu(%x) : (1,4) " CODES "\n"
      "}\n",
      0 },
    /* moves on the way */
    { "fn main(%x: (1,2,2) f32) -> (%y) {\n" SCALES "  %t = transpose(%x) {axes=[0,2,1]}\n"
      "  %f = reshape(%t) {shape=[1,4]}\n"
      "  %q = qnn.quantize(%f, @s, @z) {axis=0, saturate=true}\n"
      "  %y = qnn.dequantize(%q, @s, @z)\n"
      "}\n",
      "", 0 },
    /* read twice, in one way */
    { "fn main(%x: (1,4) f32) -> (%y, %v) {\n" SCALES "  %q = " Q "\n"
      "  %p = " Q "\n"
      "  %r = nn.relu(%q)\n"
      "  %y = qnn.dequantize(%r, @s, @z)\n"
      "  %v = qnn.dequantize(%p, @s, @z)\n"
      "}\n",
      "", 0 },
    /* in two ways */
    { "fn main(%x: (1,4) f32) -> (%y, %v) {\n" SCALES "  const @s2 : () f32 = [0.25]\n"
      "  %q = " Q "\n"
      "  %p = qnn.quantize(%x, @s2, @z) {axis=0, saturate=true}\n"
      "  %y = qnn.dequantize(%q, @s, @z)\n"
      "  %v = qnn.dequantize(%p, @s2, @z)\n"
      "}\n",
      "fn main(%x: (1,4) f32) -> (%y, %v) {\n"
      "  const @s : () f32\n"
      "  const @z : () i8\n"
      "  const @s2 : () f32\n"
      "  %y = " Q " : (1,4) " CODES "\n"
      "  %v = qnn.quantize(%x, @s2, @z) {axis=0, saturate=true} : (1,4) i8 scaled(scale=0.25, "
      "zero=-3)\n"
      "}\n",
      1 },
    /* also as floats: a parameter, a result */
    { "fn main(%x: (1,4) f32) -> (%y, %v) {\n" SCALES "  %q = " Q "\n"
      "  %y = qnn.dequantize(%q, @s, @z)\n"
      "  %v = sigmoid(%x)\n"
      "}\n",
      "fn main(%x: (1,4) f32) -> (%y, %v) {\n"
      "  const @s : () f32\n"
      "  const @z : () i8\n"
      "  %y = " Q " : (1,4) " CODES "\n"
      "  %v = sigmoid(%x) : (1,4) f32\n"
      "}\n",
      2 },
    /* narrow floats as they are */
    { "fn main(%x: (1,4) f32) -> (%y) {\n"
      "  %q = cast(%x) {dtype=f8e4m3, saturate=true}\n"
      "  %r = transpose(%q) {axes=[1,0]}\n"
      "  %y = cast(%r) {dtype=f32, saturate=true}\n"
      "}\n",
      "fn main(%x: (1,4) f8e4m3) -> (%y) {\n"
      "  %y = transpose(%x) {axes=[1,0]} : (4,1) f8e4m3\n"
      "}\n",
      0 },
    /* a scale for each channel is not for an interface */
    { "fn main(%x: (1,2) f32) -> (%y) {\n"
      "  const @s : (2) f32 = [0.5, 0.25]\n"
      "  const @z : (2) i8 = [0, 1]\n"
      "  %q = qnn.quantize(%x, @s, @z) {axis=1, saturate=true}\n"
      "  %y = qnn.dequantize(%q, @s, @z) {axis=1}\n"
      "}\n",
      NULL, 2 },
    /* nothing to be done: whole numbers, nobody reads it */
    { "fn main(%x: (1,4) i32, %n: (1) f32) -> (%y) {\n"
      "  %y = add(%x, %x)\n"
      "}\n",
      NULL, 1 },
    /* a parameter that is the result */
    { "fn main(%x: (1,4) f32) -> (%x) {\n"
      "}\n",
      NULL, 2 },
};

static void convert(struct module *module, int left)
{
    ck_assert_int_eq(quantize_io(module), left);
    ck_assert_int_eq(module->ctx->diags.n_errors, 0);
    ck_assert_msg(module_verify(module, "quantize_io"), "%s", expect_text(module->ctx));
}

START_TEST(interfaces_become_codes)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx, rows[_i].before, 1);
    const char *before = graph_text(module, false);

    convert(module, rows[_i].left);
    if (!rows[_i].after)
        ck_assert_str_eq(graph_text(module, false), before);
    else if (*rows[_i].after)
        ck_assert_str_eq(strstr(graph_text(module, false), "fn main"), rows[_i].after);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* What the type says of the codes, of one scale: f32 to codes, and back. */
static struct tensor codes_of(struct bulk *bulk, const struct type *type, const struct tensor *x)
{
    struct tensor codes = tensor_new(bulk, type);
    const struct minifloat *format = type_minifloat(type);
    const int64_t n = type_elements(type);

    for (int64_t i = 0; i < n; i++) {
        const double at = tensor_at(x, i);

        if (format)
            ((uint8_t *)codes.data)[i] = (uint8_t)minifloat_encode(format, at, true);
        else if (type->quant)
            dtype_store_int(type->dtype, codes.data, i,
                            (int64_t)fmax(-128, fmin(127, rint(at / type->quant->scale[0]) +
                                                              type->quant->zero[0])));
    }
    return type->dtype == DTYPE_F32 ? *x : codes;
}

static double number_of(const struct tensor *y, int64_t i)
{
    const struct qtype *quant = y->type.quant;

    return quant ? (double)quant->scale[0] * (tensor_at(y, i) - quant->zero[0]) : tensor_at(y, i);
}

START_TEST(codes_compute_the_same)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx, rows[_i].before, 1);
    struct function *fn = module->main;
    struct bulk bulk = { 0 };
    unsigned seed = 5;
    struct tensor *x = arena_array(&ctx->perm, struct tensor, fn->n_params);
    struct tensor *before = arena_array(&ctx->perm, struct tensor, fn->ret->n_inputs);
    struct tensor *after = arena_array(&ctx->perm, struct tensor, fn->ret->n_inputs);

    for (int i = 0; i < fn->n_params; i++) {
        x[i] = tensor_new(&bulk, &fn->params[i]->type);
        fill_random(&x[i], -80, 80, &seed);
    }
    ck_assert(interpret(ctx, fn, x, before, &bulk, NULL));
    convert(module, rows[_i].left);
    for (int i = 0; i < fn->n_params; i++)
        if (x[i].type.dtype == DTYPE_F32)
            x[i] = codes_of(&bulk, &fn->params[i]->type, &x[i]);
    ck_assert_msg(interpret(ctx, fn, x, after, &bulk, NULL), "%s", expect_text(ctx));
    for (int k = 0; k < fn->ret->n_inputs; k++)
        for (int64_t i = 0; i < type_elements(&before[k].type); i++)
            ck_assert_double_eq(number_of(&after[k], i), tensor_at(&before[k], i));
    bulk_release(&bulk);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* Inference does not know what the greater of two codes means; who reads NAME.h must. */
START_TEST(a_result_says_what_it_means)
{
    static const char text[] =
        "fn main(%x: (1,4) f32, %v: (1,4) i8) -> (%y) {\n" SCALES "  %q = " Q "\n"
        "  %m = maximum(%q, %v)\n"
        "  %y = qnn.dequantize(%m, @s, @z)\n"
        "}\n";
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx, text, 1);
    const struct type *type;

    convert(module, 0);
    type = &module->main->ret->inputs[0]->type;
    ck_assert_int_eq(type->dtype, DTYPE_I8);
    ck_assert_ptr_nonnull(type->quant);
    ck_assert_int_eq(type->quant->kind, QTYPE_SCALED);
    ck_assert_double_eq((double)type->quant->scale[0], 0.5);
    ck_assert_int_eq(type->quant->zero[0], -3);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* Twenty moves of one parameter. */
START_TEST(any_number_of_readers)
{
    struct ctx *ctx = ctx_new(NULL);
    struct str text = { .arena = &ctx->perm };
    struct module *module;

    str_add(&text, "fn main(%x: (1,4) f32) -> (%y0");
    for (int i = 1; i < 20; i++)
        str_printf(&text, ", %%y%d", i);
    str_add(&text, ") {\n" SCALES);
    for (int i = 0; i < 20; i++)
        str_printf(&text,
                   "  %%r%d = reshape(%%x) {shape=[4,1]}\n"
                   "  %%q%d = qnn.quantize(%%r%d, @s, @z) {axis=0, saturate=true}\n"
                   "  %%y%d = qnn.dequantize(%%q%d, @s, @z)\n",
                   i, i, i, i, i);
    str_add(&text, "}\n");
    module = graph_parse(ctx, str_text(&text), 1);
    convert(module, 0);
    ck_assert_int_eq(module->main->params[0]->type.dtype, DTYPE_I8);
    for (int i = 0; i < 20; i++)
        ck_assert_int_eq(module->main->ret->inputs[i]->def->op, OP_RESHAPE);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("quantize_io");
    TCase *tcase = tcase_create("quantize_io");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_loop_test(tcase, interfaces_become_codes, 0, N_ROWS(rows));
    tcase_add_loop_test(tcase, codes_compute_the_same, 0, N_ROWS(rows));
    tcase_add_test(tcase, a_result_says_what_it_means);
    tcase_add_test(tcase, any_number_of_readers);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
