/* fuzz_text.c - libFuzzer's entry to the parser of IR text. Whatever the text: no crash, a refusal
 * has an error, and what is accepted is a sound graph that prints and parses back to itself. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "relay_ir/text.h"
#include "relay_ir/verify.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *print(struct ctx *ctx, const struct module *module)
{
    struct str text = { .arena = &ctx->perm };

    module_print(module, &text);
    return str_text(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ctx *ctx = ctx_new("fuzz.ir");
    const char *text = arena_strndup(&ctx->perm, (const char *)data, size);
    struct module *module = module_parse(ctx, text, NULL, true);

    if (!module != (ctx->diags.n_errors > 0) || (module && !module_verify(module, "parse")))
        abort();
    if (module) {
        struct module *again = module_parse(ctx, print(ctx, module), module, false);

        if (!again || strcmp(print(ctx, again), print(ctx, module)) != 0)
            abort();
        module_free(again);
    }
    module_free(module);
    ctx_free(ctx);
    return 0;
}
