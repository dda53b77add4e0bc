#include "tests/support/codes.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "tests/support/expect.h"

const char *codes_in_format(struct arena *arena, const char *text, const char *format)
{
    static const char old[] = "f8e4m3", longer[] = "fnuz";
    struct str changed = { .arena = arena };

    for (const char *at; (at = strstr(text, old)) != NULL; text = at + strlen(old)) {
        const bool other = strncmp(at + strlen(old), longer, strlen(longer)) == 0;

        str_printf(&changed, "%.*s%s", (int)(at - text), text, other ? old : format);
    }
    str_add(&changed, text);
    return str_text(&changed);
}

/* Place of a code among all numbers of its format, from zero. */
static int rank_of(enum dtype dtype, unsigned code)
{
    const bool negative = dtype_minifloat(dtype)->sign == MINIFLOAT_SIGNED && code & 128;

    return negative ? -(int)(code & 127) : (int)code;
}

/* The greatest distance of two results, in codes; *n and *n_off count all, and those that differ.
 */
static int distance(const struct tensor *a, const struct tensor *b, int n_results, long *n,
                    long *n_off)
{
    int most = 0;

    for (int r = 0; r < n_results; r++)
        for (int64_t i = 0; i < type_elements(&a[r].type); i++) {
            const bool codes = dtype_kind(a[r].type.dtype) == KIND_MINIFLOAT;
            const int d = !codes ? tensor_at(&a[r], i) != tensor_at(&b[r], i)
                                 : abs(rank_of(a[r].type.dtype, ((const uint8_t *)a[r].data)[i]) -
                                       rank_of(a[r].type.dtype, ((const uint8_t *)b[r].data)[i]));

            most = d > most ? d : most;
            *n_off += d != 0;
            ++*n;
        }
    return most;
}

bool codes_has_floats(const struct module *module)
{
    for (const struct node *n = module->main->first; n; n = n->next)
        if (dtype_is_float(n->outputs[0]->type.dtype))
            return true;
    return false;
}

/* A code of a finite number of E4M3, its FNUZ form or E3M4: neither 127 nor 128 is one in all. */
static uint8_t random_code(unsigned *seed)
{
    *seed = *seed * 1664525U + 1013904223U;
    return (uint8_t)((*seed >> 24 & 128) | (1 + (*seed >> 16) % (*seed >> 31 ? 126 : 95)));
}

struct tensor *codes_inputs(struct ctx *ctx, struct bulk *bulk, const struct function *fn,
                            unsigned *seed)
{
    struct tensor *inputs = arena_array(&ctx->perm, struct tensor, fn->n_params);

    for (int i = 0; i < fn->n_params; i++) {
        inputs[i] = tensor_new(bulk, &fn->params[i]->type);
        for (int64_t k = 0; k < type_elements(&inputs[i].type); k++)
            ((uint8_t *)inputs[i].data)[k] = random_code(seed);
    }
    return inputs;
}

void codes_fill(struct module *module)
{
    unsigned seed = 77;

    for (const struct value *c = module->main->constants; c; c = c->next)
        if (type_elements(&c->type) > 1 && dtype_kind(c->type.dtype) == KIND_MINIFLOAT)
            for (int64_t i = 0; i < type_elements(&c->type); i++)
                ((uint8_t *)(uintptr_t)c->data)[i] = random_code(&seed);
}

int codes_compare(struct ctx *ctx, struct module *before, struct module *after, unsigned seed,
                  long *n, long *n_off)
{
    const int n_results = before->main->ret->n_inputs;
    struct tensor *a = arena_array(&ctx->perm, struct tensor, n_results);
    struct tensor *b = arena_array(&ctx->perm, struct tensor, n_results);
    struct bulk bulk = { NULL, 0 };
    const struct tensor *inputs = codes_inputs(ctx, &bulk, before->main, &seed);
    int most;

    ck_assert(interpret(ctx, before->main, inputs, a, &bulk, NULL));
    ck_assert_msg(interpret(ctx, after->main, inputs, b, &bulk, NULL), "%s", expect_text(ctx));
    most = distance(a, b, n_results, n, n_off);
    bulk_release(&bulk);
    return most;
}
