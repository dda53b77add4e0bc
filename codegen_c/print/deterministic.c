#include "codegen_c/print/deterministic.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "base/embedded.h"
#include "codegen_c/core/comments.h"
#include "codegen_c/core/state.h"
#include "codegen_c/expr/scalar.h"
#include "relay_ir/ops/qnn.h"

/* Functions of <math.h>, of double; with an f behind, of float. C leaves their last bits
 * open; fma, which it does define, is rounded twice by older newlibs, and fmax and fmin may return
 * either zero. All others are exact or correctly rounded: sqrt, fmod, floor, rint, ldexp ... */
static const char *const inexact_functions[] = {
    "acos", "acosh", "asin",  "asinh", "atan",  "atan2", "atanh", "cbrt", "cos",   "cosh",
    "erf",  "erfc",  "exp",   "exp2",  "expm1", "fma",   "fmax",  "fmin", "hypot", "lgamma",
    "log",  "log10", "log1p", "log2",  "pow",   "sin",   "sinh",  "tan",  "tanh",  "tgamma"
};

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static bool is_inexact(const char *word, size_t n, const struct map *helpers)
{
    char name[64];

    if (n >= sizeof name)
        return false;
    memcpy(name, word, n);
    name[n] = '\0';
    if (map_get(helpers, name))
        return true;
    if (n > 1 && name[n - 1] == 'f' && strcmp(name, "erf") != 0)
        name[n - 1] = '\0';
    for (size_t i = 0; i < sizeof inexact_functions / sizeof *inexact_functions; i++)
        if (strcmp(name, inexact_functions[i]) == 0)
            return true;
    return false;
}

/* The first such function that the text calls outside of comments; NULL = none. */
static const char *inexact_call(struct arena *arena, const char *text, const struct map *helpers)
{
    for (const char *at = text; *at;) {
        const char *end = at;

        if (str_starts(at, "/*")) {
            end = strstr(at, "*/");
            at = end ? end + 2 : at + strlen(at);
            continue;
        }
        while (is_word(*end))
            end++;
        if (end > at && *end == '(' && is_inexact(at, (size_t)(end - at), helpers))
            return arena_strndup(arena, at, (size_t)(end - at));
        at = end > at ? end : at + 1;
    }
    return NULL;
}

/* Helpers that call one, in turn: they are pasted behind those that they call. */
static void find_inexact_helpers(struct codegen *codegen, struct map *helpers)
{
    for (size_t i = 0; i < codegen->helpers.n; i++) {
        const struct helper *helper = codegen->helpers.entries[i].value;
        const char *called = inexact_call(&codegen->arena, helper->text, helpers);

        if (called)
            map_set(helpers, helper->own ? helper->function : codegen->helpers.entries[i].key,
                    arena_strdup(&codegen->arena, called));
    }
}

/* The function of <math.h> behind a helper. */
static const char *library_function(const struct map *helpers, const char *called)
{
    const char *further = map_get(helpers, called);

    return further ? library_function(helpers, further) : called;
}

static void refuse_function(struct codegen *codegen, const struct node *node, const char *called)
{
    diag_error(codegen->ctx, DIAG_NOT_DETERMINISTIC, node_origin(node),
               "%s of %s calls %s of <math.h>, whose last bits differ from library to library",
               op_name(node->op), dtype_name(node->inputs[0]->type.dtype), called);
}

/* Element-wise nodes by what they are written as; what is left is the anchor's. */
static void refuse_nodes(struct codegen *codegen, const struct region *region,
                         const struct map *helpers, const char *called)
{
    const struct node *anchor = region->anchor;
    bool any = false;

    for (const struct node *n = region->fn->first; n; n = n->next) {
        const char *needs = "",
                   *text = n == anchor ? NULL : scalar_text(&codegen->arena, n, &needs);
        struct bind bind = { .ctx = codegen->ctx, .arena = &codegen->arena, .codegen = codegen };
        const char *const operands[] = { "a", "b", "c", "a", "b" };
        const char *found =
            text ? inexact_call(&codegen->arena, scalar_expand(&bind, n, text, operands), helpers)
                 : NULL;

        if (!found)
            continue;
        refuse_function(codegen, n, library_function(helpers, found));
        any = true;
    }
    if (!any)
        refuse_function(codegen, anchor ? anchor : region->fn->first,
                        library_function(helpers, called));
}

static bool has_floats(const char *text)
{
    return strstr(text, "float") || strstr(text, "double");
}

bool deterministic_check(struct codegen *codegen)
{
    struct map helpers = { .arena = &codegen->arena };
    bool ok = true;

    find_inexact_helpers(codegen, &helpers);
    for (int i = 0; i < codegen->n_regions; i++) {
        const struct region *region = &codegen->regions[i];
        const char *text = codegen->emitted[i].text, *called;

        if (region->external) {
            ok = diag_error(codegen->ctx, DIAG_NOT_DETERMINISTIC, node_origin(region->call),
                            "the region %s is run by %s, whose arithmetic is its own",
                            region->c_name, region->fn->compiler);
            continue;
        }
        if (!text) /* the function of an earlier region */
            continue;
        codegen->strict = codegen->strict || has_floats(text);
        called = inexact_call(&codegen->arena, text, &helpers);
        if (called) {
            refuse_nodes(codegen, region, &helpers, called);
            ok = false;
        }
    }
    if (!ok)
        diag_help(codegen->ctx,
                  "compile without --deterministic, or take these nodes out of the model");
    if (codegen->strict)
        map_set(&codegen->includes, "float.h", codegen);
    return ok;
}

bool rounds_products(const struct codegen *codegen)
{
    for (int i = 0; i < codegen->n_regions; i++)
        for (const struct node *n = codegen->regions[i].fn->first; n; n = n->next)
            if (rounds_as_onnx(n))
                return true;
    return codegen->module->rounds_as_onnx;
}

void add_rounded_products(struct codegen *codegen, struct str *out)
{
    static const char path[] = "templates/helpers/unfused.c.tmpl";
    struct keys keys;

    keys_init(&keys, &codegen->arena);
    add_section_of_file(out, path);
    if (!template_expand(codegen->ctx, path, embedded_find(path)->text, &keys, out))
        assert(codegen->ctx->diags.n_errors > 0);
    str_add(out, "\n");
}

void add_strict_arithmetic(struct codegen *codegen, const char *file, bool check, struct str *out)
{
    static const char path[] = "templates/helpers/strict.c.tmpl";
    struct keys keys;

    keys_init(&keys, &codegen->arena);
    keys_set(&keys, "file", file);
    keys_set(&keys, "check", check ? "1" : "");
    add_section_of_file(out, path);
    if (!template_expand(codegen->ctx, path, embedded_find(path)->text, &keys, out))
        assert(codegen->ctx->diags.n_errors > 0);
    str_add(out, "\n");
}
