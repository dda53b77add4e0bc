#include "tests/support/stripe_case.h"

#include <check.h>

#include "codegen_c/core/stripe.h"
#include "runtime/engine/generated.h"
#include "tests/support/executions.h"
#include "tests/support/expect.h"
#include "tests/support/run_generated.h"
#include "tests/support/temp_dir.h"

struct codegen_result stripe_generate(struct module *module, const char *dir, size_t ram)
{
    const struct codegen_options options = { .name = "net",
                                             .dir = dir,
                                             .model_file = "net.onnx",
                                             .model_sha256 = "",
                                             .command = "",
                                             .ram = ram };
    struct output_set set = { .ctx = module->ctx };
    struct codegen_result result;

    ck_assert_msg(codegen_c(module, &options, &set, &result) && output_commit(&set), "%s",
                  expect_text(module->ctx));
    return result;
}

struct codegen_result stripe_run(struct module *module, size_t ram, const struct tensor *inputs,
                                 struct tensor *outputs, struct bulk *bulk)
{
    struct ctx *ctx = module->ctx;
    struct temp_dir dir = temp_dir_new();
    const struct codegen_result result = stripe_generate(module, dir.path, ram);
    const struct generated_options options = { .name = "net",
                                               .dir = dir.path,
                                               .files = result.files,
                                               .n_files = result.n_files,
                                               .libs = result.host_flags,
                                               .compiler = "gcc",
                                               .flags = STRIPE_FLAGS };
    struct generated *generated = generated_build(ctx, module->main, &options);

    ck_assert_msg(generated != NULL, "%s", expect_text(ctx));
    ck_assert_msg(generated_run(generated, inputs, outputs, bulk), "%s", expect_text(ctx));
    generated_free(generated);
    temp_dir_free(&dir);
    return result;
}

void stripe_check_bits(const struct tensor *a, const struct tensor *b, const char *what)
{
    for (int64_t i = 0; i < type_elements(&a->type); i++)
        ck_assert_msg(tensor_at(a, i) == tensor_at(b, i), "%s: element %lld is %a, was %a", what,
                      (long long)i, tensor_at(b, i), tensor_at(a, i));
    ck_assert_msg(tensor_equal(a, b), "%s: other bits", what);
}

static void check_equal(const struct module *module, const struct tensor *a, const struct tensor *b,
                        const char *what)
{
    for (int i = 0; i < module->main->ret->n_inputs; i++)
        stripe_check_bits(&a[i], &b[i], what);
}

void stripe_check_parts(const char *text, int first, int last, int64_t parts)
{
    struct ctx *ctx = ctx_new("net.onnx");
    const struct generated_case row = { .text = text };
    struct module *module = generated_module(ctx, &row);
    const int n = module->main->ret->n_inputs;
    struct tensor *whole = arena_array(&ctx->perm, struct tensor, n);
    struct tensor *striped = arena_array(&ctx->perm, struct tensor, n);
    struct tensor *wanted = arena_array(&ctx->perm, struct tensor, n);
    struct stripe_choice choice = { first, last, parts };
    struct bulk bulk = { NULL, 0 };
    int n_calls = 0;
    unsigned seed = 7;
    const struct tensor *inputs = random_inputs(&ctx->perm, &bulk, module->main, -2, 2, &seed);
    const char *what = arena_printf(&ctx->perm, "%lld parts of\n%s", (long long)parts, text);

    for (struct node *node = module->main->first; node; node = node->next)
        if (node->op == OP_CALL && n_calls++ >= first && n_calls <= last + 1)
            ck_assert_msg(!rows_of_region(&ctx->perm, node).why, "%s: %s", node->outputs[0]->name,
                          rows_of_region(&ctx->perm, node).why);
    ck_assert(interpret(ctx, module->main, inputs, wanted, &bulk, NULL));
    stripe_run(module, 0, inputs, whole, &bulk);
    ck_assert_msg(stripes_outline(module, &(struct stripe_plan){ .n = 1, .at = &choice }), "%s",
                  expect_text(ctx));
    ck_assert_int_eq(stripe_run(module, 0, inputs, striped, &bulk).n_striped, last - first + 1);
    check_equal(module, whole, striped, what);
    for (int i = 0; i < n; i++)
        ck_assert_msg(difference(&striped[i], &wanted[i]) <= 1e-5, "%s: output %d differs by %g",
                      what, i, difference(&striped[i], &wanted[i]));
    ck_assert(interpret(ctx, module->main, inputs, whole, &bulk, NULL)); /* calls of calls */
    check_equal(module, whole, wanted, "the graph");
    bulk_release(&bulk);
    module_free(module);
    ctx_free(ctx);
}
