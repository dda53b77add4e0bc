#include "tests/support/graph.h"

#include <check.h>
#include <math.h>
#include <string.h>

#include "relay_ir/text.h"
#include "relay_ir/verify.h"
#include "simulate/simulate.h"
#include "tests/support/executions.h"
#include "tests/support/expect.h"

static bool is_all_zero(const struct value *value)
{
    const char *data = value->data;
    const size_t n = type_bytes(&value->type);

    return type_elements(&value->type) > 1 && data[0] == 0 && memcmp(data, data + 1, n - 1) == 0;
}

static void fill_constants(struct function *fn, unsigned seed)
{
    for (struct value *v = fn->constants; v; v = v->next)
        if (is_all_zero(v)) {
            const bool positive = str_starts(v->name, "pos");
            const struct tensor tensor = { v->type, constant_alloc(fn, &v->type) };

            fill_random(&tensor, positive ? 0.5 : -1, positive ? 1.5 : 1, &seed);
            v->data = tensor.data;
        }
}

/* Scales are constants too, and have been filled. */
static void infer_again(struct module *module)
{
    for (int i = 0; i < 2; i++) /* what a call gives follows from its function */
        for (struct function *fn = module->functions; fn; fn = fn->next)
            for (struct node *node = fn->first; node; node = node->next)
                ck_assert(node_infer(module->ctx, node));
}

struct type graph_type(struct ctx *ctx, enum dtype dtype, int64_t n)
{
    struct type type = type_make(dtype, 1, &n);
    struct qtype *quant = arena_new(&ctx->perm, struct qtype);

    *quant = (struct qtype){ .axis = -1 };
    ck_assert(minifloat_afp(4, 3, 7, &quant->format));
    type.quant = dtype == DTYPE_AFP ? quant : NULL;
    return type;
}

unsigned char graph_code(const struct type *type, unsigned char bits)
{
    const int n = type_packed_bits(type);

    if (n < 8 && dtype_is_signed(type->dtype))
        return (unsigned char)((bits & ((1 << (n - 1)) - 1)) - (bits & 1 << (n - 1)));
    return (unsigned char)(n < 8 ? bits & ((1 << n) - 1) : bits);
}

struct module *graph_parse(struct ctx *ctx, const char *text, unsigned seed)
{
    struct module *module = module_parse(ctx, text, NULL, true);

    ck_assert_msg(module != NULL, "%s\n%s", expect_text(ctx), text);
    for (struct function *fn = module->functions; fn; fn = fn->next)
        fill_constants(fn, seed);
    infer_again(module);
    ck_assert_msg(module_verify(module, "parse"), "%s", expect_text(ctx));
    return module;
}

const char *graph_without_payloads(struct ctx *ctx, const char *text)
{
    struct str bare = { .arena = &ctx->perm };

    for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
        const size_t n = strcspn(line, "\n");
        const char *value = str_starts(line, "  const ") ? strstr(line, " = ") : NULL;

        str_addn(&bare, line, value ? (size_t)(value - line) : n);
        str_add(&bare, "\n");
    }
    return str_text(&bare);
}

const char *graph_text(const struct module *module, bool payloads)
{
    struct str text = { .arena = &module->ctx->perm };

    module_print(module, &text);
    return payloads ? str_text(&text) : graph_without_payloads(module->ctx, str_text(&text));
}

struct tensor *graph_run(struct module *module, unsigned seed, struct bulk *bulk)
{
    struct ctx *ctx = module->ctx;
    struct function *fn = module->main;
    struct tensor *inputs = random_inputs(&ctx->perm, bulk, fn, -2, 2, &seed);
    struct tensor *outputs = arena_array(&ctx->perm, struct tensor, fn->ret->n_inputs);

    return interpret(ctx, fn, inputs, outputs, bulk, NULL) ? outputs : NULL;
}

struct tensor *graph_run_simulated(struct module *module, unsigned seed, struct bulk *bulk)
{
    struct ctx *ctx = module->ctx;
    struct function *fn = module->main;
    struct tensor *inputs = random_inputs(&ctx->perm, bulk, fn, -2, 2, &seed);
    struct tensor *outputs = arena_array(&ctx->perm, struct tensor, fn->ret->n_inputs);

    return simulate(ctx, fn, NULL, inputs, outputs, bulk, NULL) ? outputs : NULL;
}

/* As difference(), but a tensor that is zero but for rounding is not measured by its own size. */
static double scaled_difference(const struct tensor *a, const struct tensor *b)
{
    const int64_t n = type_elements(&b->type);
    const double relative = difference(a, b);
    double greatest = 0;

    if (relative == 0 || !type_same_storage(&a->type, &b->type) || !dtype_is_float(b->type.dtype))
        return relative;
    for (int64_t i = 0; i < n; i++)
        greatest = fmax(greatest, fmax(fabs(tensor_at(a, i)), fabs(tensor_at(b, i))));
    return greatest < 1e-6 ? greatest : relative;
}

double graph_difference(const struct tensor *a, const struct tensor *b, int n)
{
    double worst = 0;

    for (int i = 0; i < n; i++)
        worst = fmax(worst, scaled_difference(&a[i], &b[i]));
    return worst;
}

void graph_add_numbered(struct str *out, const char *text, const char *type, int i)
{
    for (const char *c = text; *c; c++) {
        if (*c == 'T')
            str_add(out, type);
        else
            str_addn(out, c, 1);
        if ((*c == '%' || *c == '@') && c[1]) {
            str_addn(out, ++c, 1);
            str_printf(out, "%d", i);
        }
    }
}
