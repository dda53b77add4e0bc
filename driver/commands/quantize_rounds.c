/* quantize_rounds.c - recipes: which there are, and how all but the best go.
 *
 * method   successive halving: a quarter of the selection's samples, a half, all; after each round
 *          those are dropped that another beats by more than chance. After the first, variants of
 *          the best come in, and mixtures of narrow weights and wider ones. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "driver/commands/quantize.h"

enum { ROUNDS = 3, LEAST_ROUND = 32, MOST_VARIED = 4 };

/* A recipe that loses this many times --max-loss, and surely so, is of no use at any size. */
static const double hopeless = 5;

/* --- which there are -------------------------------------------------------------------------- */

static bool add_recipe(struct quantization *q, const struct recipe *base, enum option_id option,
                       const char *value)
{
    struct arena *arena = &q->driver->ctx->perm;
    struct recipe *recipe = arena_new(arena, struct recipe);

    *recipe = (struct recipe){ .precision = base->precision, .n_options = base->n_options };
    memcpy(recipe->options, base->options, sizeof recipe->options);
    if (value)
        recipe->options[recipe->n_options++] = (struct recipe_option){ option, value };
    if (q->n == q->capacity) {
        struct recipe **at;

        q->capacity = q->capacity ? 2 * q->capacity : 32;
        at = arena_array(arena, struct recipe *, q->capacity);
        if (q->n)
            memcpy(at, q->at, (size_t)q->n * sizeof *at);
        q->at = at;
    }
    q->at[q->n++] = recipe;
    return recipe_describe(&q->recipes, recipe);
}

bool quantize_list(struct quantization *q)
{
    static const char *const usual[] = {
#define RECIPE(precision) precision,
#include "driver/commands/recipes.def"
    };
    const char *at = option_text(&q->driver->args, OPTION_CHOICES, NULL);
    bool ok = true;

    q->f32 = (struct recipe){ .precision = "f32", .text = "f32" };
    for (size_t i = 0; !at && i < sizeof usual / sizeof *usual; i++)
        ok = add_recipe(q, &(struct recipe){ .precision = usual[i] }, OPTION_COUNT, NULL) && ok;
    while (at) {
        const char *plus = strchr(at, '+');
        const size_t n = plus ? (size_t)(plus - at) : strlen(at);
        const char *text = arena_strndup(&q->driver->ctx->perm, at, n);

        ok = add_recipe(q, &(struct recipe){ .precision = text }, OPTION_COUNT, NULL) && ok;
        at = plus ? plus + 1 : NULL;
    }
    return ok;
}

/* --- rounds ----------------------------------------------------------------------------------- */

static bool is_no_larger(const struct recipe *a, const struct recipe *b)
{
    return a->weight_bytes <= b->weight_bytes && a->arena_bytes <= b->arena_bytes &&
           a->seconds <= b->seconds;
}

/* a is no larger than b, and by more than chance better on the samples of both. */
static bool beats(const struct quantization *q, const struct recipe *a, const struct recipe *b)
{
    struct paired p;

    if (a == b || a->state != RECIPE_LEFT || !is_no_larger(a, b) || a->loss >= b->loss)
        return false;
    p = answers_compare(b->answers, a->answers, q->metric);
    return -recipe_loss(q->metric, p.change) > 2 * p.error * (metric_is_share(q->metric) ? 100 : 1);
}

static void drop(struct recipe *recipe, const char *why)
{
    recipe->state = RECIPE_DROPPED;
    recipe->why = why;
    recipe_drop(recipe);
}

static void drop_beaten(struct quantization *q)
{
    struct arena *arena = &q->driver->ctx->perm;
    const char **why = arena_array(arena, const char *, q->n);

    for (int i = 0; i < q->n; i++) {
        const struct recipe *recipe = q->at[i];

        if (recipe->state != RECIPE_LEFT)
            continue;
        if (recipe->loss - 2 * recipe->error > hopeless * q->most_loss)
            why[i] = "loses far too much";
        for (int k = 0; k < q->n && !why[i]; k++)
            if (beats(q, q->at[k], recipe))
                why[i] = arena_printf(arena, "%s is no larger and better", q->at[k]->text);
    }
    for (int i = 0; i < q->n; i++)
        if (why[i])
            drop(q->at[i], why[i]);
}

/* Makes and judges what is left, from the first-th recipe on, on n samples. */
static void judge_from(struct quantization *q, int first, int64_t n)
{
    q->recipes.n = q->n;
    for (int i = first; i < q->n; i++) {
        struct recipe *recipe = q->at[i];

        q->recipes.n_made = i + 1;
        if (recipe->state == RECIPE_LEFT && !recipe->ctx)
            recipe_make(&q->recipes, recipe);
        if (recipe->state == RECIPE_LEFT)
            recipe_judge(recipe, &q->selection.request, &q->selection.data, q->selection.f32, n);
    }
}

/* Recipes of little loss first, so that variants are of those. */
static int by_loss(const void *a, const void *b)
{
    const struct recipe *x = *(struct recipe *const *)a, *y = *(struct recipe *const *)b;

    return x->loss == y->loss ? strcmp(x->text, y->text) : x->loss > y->loss ? 1 : -1;
}

static bool add_variants_of(struct quantization *q, const struct recipe *base)
{
    enum { ANY, DATA };
    static const struct {
        int scope;
        enum option_id option;
        const char *value;
    } variants[] = {
#define VARIANT(scope, option, value) { scope, OPTION_##option, value },
#include "driver/commands/recipes.def"
    };
    bool ok = true;

    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
        if (variants[i].scope == ANY || base->has_small_data)
            ok = add_recipe(q, base, variants[i].option, variants[i].value) && ok;
    return ok;
}

/* The recipe with layers of another precision, those that lose most. */
static bool add_mixtures_of(struct quantization *q, const struct recipe *base)
{
    static const struct {
        int percent;
        const char *precision;
    } mixtures[] = {
#define MIXTURE(percent, precision) { percent, precision },
#include "driver/commands/recipes.def"
    };
    bool ok = true;

    for (size_t i = 0; i < sizeof mixtures / sizeof *mixtures && ok; i++) {
        const int k = base->n_products * mixtures[i].percent / 100;
        const char *text = arena_printf(&q->driver->ctx->perm, "%d", k);
        struct recipe with = *base;

        if (k == 0 || with.n_options > 0)
            continue;
        with.options[with.n_options++] = (struct recipe_option){ OPTION_TOPK, text };
        with.options[with.n_options++] =
            (struct recipe_option){ OPTION_TOPK_PRECISION, mixtures[i].precision };
        ok = add_recipe(q, &with, OPTION_ROUND, "adaround");
    }
    return ok;
}

/* Of narrow weights that lose something; also of those that lose too much by themselves. */
static bool add_mixtures(struct quantization *q)
{
    const int n = q->n;
    bool ok = true;

    for (int i = 0; i < n; i++)
        if (q->at[i]->state != RECIPE_FAILED && q->at[i]->has_narrow_weights && q->at[i]->loss > 0)
            ok = add_mixtures_of(q, q->at[i]) && ok;
    return ok;
}

/* Of the recipes that lose something, those that lose least; what loses nothing needs none. */
static bool add_variants(struct quantization *q)
{
    struct recipe **left = arena_array(&q->driver->ctx->perm, struct recipe *, q->n);
    int n = 0;
    bool ok = true;

    for (int i = 0; i < q->n; i++)
        if (q->at[i]->state == RECIPE_LEFT && q->at[i]->loss > 0 &&
            strcmp(q->at[i]->precision, "f16w") != 0)
            left[n++] = q->at[i];
    qsort(left, (size_t)n, sizeof *left, by_loss);
    for (int i = 0; i < n && i < MOST_VARIED; i++)
        ok = add_variants_of(q, left[i]) && ok;
    return ok;
}

bool quantize_rounds(struct quantization *q)
{
    const int64_t all = q->selection.data.source.n;
    const int n_recipes = q->n;

    for (int round = 0; round < ROUNDS; round++) {
        int64_t n = all >> (ROUNDS - 1 - round);

        n = n < LEAST_ROUND ? LEAST_ROUND : n;
        n = n > all ? all : n;
        judge_from(q, 0, n);
        drop_beaten(q);
        if (round > 0)
            continue;
        if (!add_variants(q) || !add_mixtures(q))
            return false;
        judge_from(q, n_recipes, n);
        drop_beaten(q);
    }
    return true;
}

/* --- what is left ----------------------------------------------------------------------------- */

static bool is_better(const struct recipe *a, const struct recipe *b, int order)
{
    if (!is_no_larger(a, b) || a->loss > b->loss)
        return false;
    return order < 0 || a->loss < b->loss || !is_no_larger(b, a);
}

static int by_bytes(const void *a, const void *b)
{
    const struct recipe *x = *(struct recipe *const *)a, *y = *(struct recipe *const *)b;
    const size_t x_bytes = recipe_bytes(x), y_bytes = recipe_bytes(y);

    return x_bytes == y_bytes ? strcmp(x->text, y->text) : x_bytes < y_bytes ? 1 : -1;
}

/* Pareto's front: of two that are alike in all, the earlier one. */
static void keep_front(struct quantization *q)
{
    for (int i = 0; i < q->n; i++)
        for (int k = 0; k < q->n && q->at[i]->state == RECIPE_LEFT; k++)
            if (k != i && q->at[k]->state == RECIPE_LEFT && is_better(q->at[k], q->at[i], k - i))
                drop(q->at[i], arena_printf(&q->driver->ctx->perm,
                                            "%s is no larger and loses no more", q->at[k]->text));
}

void quantize_front(struct quantization *q)
{
    keep_front(q);
    qsort(q->at, (size_t)q->n, sizeof *q->at, by_bytes);
}
