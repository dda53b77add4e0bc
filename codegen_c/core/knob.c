/* knob.c - see knob.h. */
#include "codegen_c/core/knob.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "codegen_c/core/kernel.h"

static const struct {
    const char *name, *what;
} knobs[KNOB_COUNT] = {
#define KNOB(symbol, name, what) { name, what },
#include "codegen_c/core/knobs.def"
#undef KNOB
};

const char *knob_name(enum knob knob)
{
    return knobs[knob].name;
}

const char *knob_what(enum knob knob)
{
    return knobs[knob].what;
}

/* Names of tuning logs that older versions wrote. */
static const char *new_name(const char *name)
{
    return strcmp(name, "chunk") == 0 ? knobs[KNOB_NC].name : name;
}

enum knob knob_find(const char *name)
{
    int i = 0;

    name = new_name(name);
    while (i < KNOB_COUNT && strcmp(knobs[i].name, name) != 0)
        i++;
    return (enum knob)i;
}

bool choice_equal(const struct choice *a, const struct choice *b)
{
    for (int k = 0; k < KNOB_COUNT; k++)
        if (!a->value[k] != !b->value[k] || (a->value[k] && strcmp(a->value[k], b->value[k]) != 0))
            return false;
    return true;
}

const char *choice_text(struct arena *arena, const struct choice *choice)
{
    struct str out = { .arena = arena };

    for (int k = 0; k < KNOB_COUNT; k++)
        if (choice->value[k])
            str_printf(&out, "%s%s=%s", out.n ? " " : "", knob_name((enum knob)k),
                       choice->value[k]);
    return out.n ? str_text(&out) : "usual";
}

static int index_of(const char *value, int n, const char *const *values)
{
    for (int i = 0; i < n; i++)
        if (strcmp(values[i], value) == 0)
            return i;
    return -1;
}

static void warn_stale(struct ctx *ctx, const struct region *region, enum knob knob,
                       const char *chosen)
{
    chosen = str_safe(&ctx->perm, chosen, 80);
    if (knob == KNOB_KERNEL)
        diag_warn(ctx, DIAG_TUNE_STALE, node_origin(region->call),
                  "the tuning log says kernel=%s, which does not take this region", chosen);
    else
        diag_warn(ctx, DIAG_TUNE_STALE, node_origin(region->call),
                  "the tuning log says %s=%s, which the kernel %s does not offer here",
                  knobs[knob].name, chosen, region->config.kernel->name);
    diag_help(ctx, "tune it again: relayc tune");
}

const char *knob_take(struct ctx *ctx, struct region *region, enum knob knob, const char *usual,
                      int n, const char *const *values)
{
    struct knob_range *range = &region->config.knobs[knob];
    const char *chosen = region->choice ? region->choice->value[knob] : NULL;
    const int at = chosen ? index_of(chosen, n, values) : -1;

    assert(index_of(usual, n, values) >= 0);
    if (chosen && at < 0 && !range->n &&
        !region->choice_is_hint) /* told once, however often the kernel asks */
        warn_stale(ctx, region, knob, chosen);
    *range = (struct knob_range){ n, values, values[index_of(usual, n, values)],
                                  values[at < 0 ? index_of(usual, n, values) : at] };
    return range->taken;
}

void knob_check(struct ctx *ctx, const struct region *region)
{
    for (int i = 0; region->choice && !region->choice_is_hint && i < KNOB_COUNT; i++)
        if (region->choice->value[i] && !region->config.knobs[i].n)
            warn_stale(ctx, region, (enum knob)i, region->choice->value[i]);
}

/* Adds a text unless it is there. */
static int add_value(const char **texts, int n, const char *text)
{
    if (index_of(text, n, texts) < 0)
        texts[n++] = text;
    return n;
}

int64_t bind_knob(struct bind *bind, enum knob knob, int64_t usual, int n, const int64_t *values)
{
    const char **texts = arena_array(bind->arena, const char *, n + 1);
    int n_texts = add_value(texts, 0, arena_printf(bind->arena, "%" PRId64, usual));

    for (int i = 0; i < n; i++)
        n_texts = add_value(texts, n_texts, arena_printf(bind->arena, "%" PRId64, values[i]));
    return strtoll(knob_take(bind->ctx, bind->region, knob, texts[0], n_texts, texts), NULL, 10);
}

void bind_knob_pair(struct bind *bind, enum knob knob, const int64_t usual[2], int n,
                    int64_t values[][2], int64_t taken[2])
{
    const char **texts = arena_array(bind->arena, const char *, n + 1);
    const char *value;
    char *end;
    int n_texts = 0;

    for (int i = -1; i < n; i++) {
        const int64_t *pair = i < 0 ? usual : values[i];

        n_texts = add_value(texts, n_texts,
                            arena_printf(bind->arena, "%" PRId64 "x%" PRId64, pair[0], pair[1]));
    }
    value = knob_take(bind->ctx, bind->region, knob, texts[0], n_texts, texts);
    taken[0] = strtoll(value, &end, 10);
    taken[1] = strtoll(end + 1, NULL, 10);
}
