/* fuzz_qtable.c - libFuzzer's entry to the reader of qtables, and with it to the names of
 * precisions, number formats, scale rules and PopRT's parameters. Whatever the text: no crash, and
 * a refusal has an error. What is read is written and read again as the same. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "quantize/format_search.h"
#include "quantize/fp8_params.h"
#include "quantize/qtable.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok)
{
    if (!ok)
        abort();
}

static void check_same(const struct qtable *a, const struct qtable *b, struct arena *arena)
{
    require(a->n == b->n);
    for (int i = 0; i < a->n; i++) {
        const struct precision *p = &a->rows[i].precision, *q = &b->rows[i].precision;

        require(strcmp(a->rows[i].name, b->rows[i].name) == 0);
        require(strcmp(precision_text(arena, p), precision_text(arena, q)) == 0);
        require(strcmp(p->weight_scale.name, q->weight_scale.name) == 0);
        require(!p->has_data || !p->has_data_scale ||
                strcmp(p->data_scale.name, q->data_scale.name) == 0);
    }
}

static void check_round_trip(struct ctx *ctx, const struct qtable *table)
{
    struct output_set set = { .ctx = ctx };
    const char *path = arena_printf(&ctx->perm, "/dev/shm/relayc_fuzz_qtable_%ld", (long)getpid());
    struct qtable again;

    qtable_write(output_open(&set, path), table);
    require(output_commit(&set));
    require(qtable_read(ctx, path, &again));
    remove(path);
    check_same(table, &again, &ctx->perm);
}

static void check_names(struct ctx *ctx, const char *text)
{
    static const float numbers[] = { 1, -2, 0.5F, 0 };
    struct scale_rule rule, again;
    struct number_format format;
    struct precision precision;
    const struct number_format *list;
    const char *wrong;
    int n;

    if (scale_rule_parse(text, &rule)) {
        require(scale_rule_parse(rule.name, &again) && strcmp(rule.name, again.name) == 0);
        if (number_format_parse("f8e4m3", &format))
            require(scale_of_numbers(&rule, &format, numbers, 4) > 0);
    }
    (void)search_formats_parse(&ctx->perm, text, &list, &n, &wrong);
    n = ctx->diags.n_errors;
    require(fp8_params_parse(ctx, "x", text, &precision) || ctx->diags.n_errors > n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ctx *ctx = ctx_new("fuzz");
    struct qtable table;
    const bool ok = qtable_read_bytes(ctx, "fuzz.qtable", (const char *)data, size, &table);

    require(ok == (ctx->diags.n_errors == 0));
    if (ok && table.n)
        check_round_trip(ctx, &table);
    check_names(ctx, arena_strndup(&ctx->perm, (const char *)data, size < 64 ? size : 64));
    ctx_free(ctx);
    return 0;
}
