/* fuzz_target.c - libFuzzer's entry to the reader of target.json, with its patterns and
 * expressions. Whatever the text: no crash, and a refusal has an error. */
#include <stdint.h>
#include <stdlib.h>

#include "partition/target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *read_file(void *user, const char *name)
{
    (void)user;
    return name[0] == 'a' ? "text\n" : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ctx *ctx = ctx_new("fuzz.json");
    const char *text = arena_strndup(&ctx->perm, (const char *)data, size);

    if (!target_parse(ctx, "fuzz.json", text, read_file, NULL) != (ctx->diags.n_errors > 0))
        abort();
    ctx_free(ctx);
    return 0;
}
