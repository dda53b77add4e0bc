/* fuzz_pattern.c - libFuzzer's entry to the texts of target files: patterns and expressions.
 * Whatever the text: no crash, a refusal has an error; a pattern that is accepted prints and parses
 * back to itself and can be tried at any node; an expression has a value or a reason why not. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "partition/pattern.h"
#include "relay_ir/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct source source = { .file = "fuzz.json", .line = 1, .column = 1 };

static const char graph[] =
    "fn main(%x: (1,2,3,3) f32) -> (%y, %i) {\n"
    "  const @w : (2,2,1,1) f32 = [1, ...]\n"
    "  %c = nn.conv2d(%x, @w) {strides=[1,1], padding=[0,0,0,0], dilation=[1,1], groups=1, "
    "data_layout=\"NCHW\", kernel_layout=\"OIHW\"} : (1,2,3,3) f32\n"
    "  %a, %b = split(%c) {axis=1, sizes=[]} : (1,1,3,3) f32, (1,1,3,3) f32\n"
    "  %s = sigmoid(%b) : (1,1,3,3) f32\n"
    "  %m = multiply(%a, %s) : (1,1,3,3) f32\n"
    "  %r = nn.relu(%m) : (1,1,3,3) f32\n"
    "  %p = concatenate(%r, %m, %r) {axis=1} : (1,3,3,3) f32\n"
    "  %y = add(%p, %p) : (1,3,3,3) f32\n"
    "  %v, %i = topk(%r) {axis=1, k=1, largest=true, sorted=true} : (1,1,3,3) f32, (1,1,3,3) "
    "i64\n"
    "}\n";

static const char *print(struct ctx *ctx, const struct pattern *pattern)
{
    struct str text = { .arena = &ctx->perm };

    pattern_print(pattern, &text);
    return str_text(&text);
}

static void try_expression(struct ctx *ctx, const char *text, const struct scope *scope)
{
    struct expression *expression = expression_parse(ctx, &source, text);
    const char *found = NULL, *wanted = NULL, *why = NULL;
    struct term term;
    int first, second;

    if (!expression != (ctx->diags.n_errors > 0))
        abort();
    if (!expression)
        return;
    if (!expression_evaluate(expression, scope, &ctx->perm, &term, &why) && !why)
        abort();
    if (!expression_holds(expression, scope, &ctx->perm, &found, &wanted) && (!found || !wanted))
        abort();
    expressions_clash(&ctx->scratch, (struct expression *[]){ expression, expression }, 2, &first,
                      &second);
}

static void try_pattern(struct ctx *ctx, const struct pattern *pattern, const char *text)
{
    struct module *module = module_parse(ctx, graph, NULL, false);
    struct matcher matcher = { .arena = &ctx->perm };

    if (!module)
        abort();
    function_number(module->main);
    for (struct node *node = module->main->first; node; node = node->next) {
        struct match match;
        struct mismatch why = { 0 };
        struct scope scope;

        if (pattern_match(&matcher, pattern, node, &match, &why)) {
            scope = match_scope(&ctx->perm, pattern, &match);
            try_expression(ctx, text, &scope);
        } else if (!why.found || !why.wanted || !why.node) {
            abort();
        }
    }
    module_free(module);
}

/* Up to the first newline a pattern, behind it an expression. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ctx *ctx = ctx_new("fuzz.json");
    char *text = arena_strndup(&ctx->perm, (const char *)data, size), *behind = strchr(text, '\n');
    struct pattern *pattern, *again;

    if (behind)
        *behind++ = '\0';
    pattern = pattern_parse(ctx, &source, text);
    if (!pattern != (ctx->diags.n_errors > 0))
        abort();
    if (pattern) {
        again = pattern_parse(ctx, &source, print(ctx, pattern));
        if (!again || strcmp(print(ctx, again), print(ctx, pattern)) != 0 ||
            pattern_length(again) != pattern_length(pattern))
            abort();
        try_pattern(ctx, pattern, behind ? behind : "macs");
    }
    ctx_free(ctx);
    return 0;
}
