#include "tests/support/fake_quant.h"

#include <check.h>
#include <math.h>

#include "relay_ir/passes/pipeline.h"
#include "tests/support/executions.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"

/* Over the whole range of each type. */
static struct tensor *run(struct module *module, unsigned seed, struct bulk *bulk)
{
    struct ctx *ctx = module->ctx;
    const struct function *fn = module->main;
    struct tensor *inputs = arena_array(&ctx->perm, struct tensor, (size_t)fn->n_params);
    struct tensor *outputs = arena_array(&ctx->perm, struct tensor, (size_t)fn->ret->n_inputs);

    for (int i = 0; i < fn->n_params; i++) {
        const struct type *type = &fn->params[i]->type;
        const double size =
            dtype_is_float(type->dtype) ? 4 : ldexp(1, (int)dtype_bytes(type->dtype) * 8);
        const double low = dtype_kind(type->dtype) == KIND_UINT ? 0 : -size / 2;

        inputs[i] = tensor_new(bulk, type);
        fill_random(&inputs[i], low, low + size, &seed);
    }
    ck_assert_msg(interpret(ctx, module->main, inputs, outputs, bulk, NULL), "%s",
                  expect_text(ctx));
    return outputs;
}

static void compare(struct module *got, struct module *wanted, unsigned seed, double steps)
{
    struct bulk bulk = { NULL, 0 };
    const struct tensor *a = run(got, seed, &bulk), *b = run(wanted, seed, &bulk);

    for (int i = 0; i < wanted->main->ret->n_inputs; i++) {
        const enum dtype dtype = b[i].type.dtype;
        const double step = dtype_is_float(dtype) || dtype == DTYPE_BOOL ? 0 : steps;

        ck_assert(type_same_storage(&a[i].type, &b[i].type));
        for (int64_t k = 0; k < type_elements(&b[i].type); k++)
            ck_assert_msg(fabs(tensor_at(&a[i], k) - tensor_at(&b[i], k)) <= step,
                          "result %d is %g, expected %g, in\n%s", i, tensor_at(&a[i], k),
                          tensor_at(&b[i], k), graph_text(wanted, true));
    }
    bulk_release(&bulk);
}

void fake_quant_compare(struct module *got, struct module *wanted, unsigned seed)
{
    compare(got, wanted, seed, 1);
}

void fake_quant_compare_exactly(struct module *got, struct module *wanted, unsigned seed)
{
    compare(got, wanted, seed, 0);
}

void fake_quant_check(const struct pass_case *row)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx, row->before, 1), *before, *after;
    const long *fired;

    before = graph_parse(ctx, row->before, 1);
    after = graph_parse(ctx, row->after ? row->after : row->before, 1);
    ck_assert_msg(pipeline_run_one(module, "fake_quant_to_integer"), "%s\n%s", row->before,
                  expect_text(ctx));
    fired = map_get(&module->fired, row->rule);
    ck_assert_msg((fired && *fired > 0) == (row->after != NULL), "%s\n%s", row->rule, row->before);
    ck_assert_str_eq(graph_text(module, true), graph_text(after, true));
    fake_quant_compare(module, before, 2);
    module_free(after);
    module_free(before);
    module_free(module);
    ctx_free(ctx);
}
