/* round_weights.c - weights are rounded to what costs the results least, not each to the nearest.
 *
 * needs    annotate: the simulated graph, and the weights that its quantised values were made of
 * gives    other quantised values of the same format and scales; nothing else changes. Of no product the error
 *          of its results on the samples is greater than it was; where the results of the whole
 *          network are farther from the float model's, all quantised values are taken back
 * method   rounding.h; what a product reads is measured in the simulated graph, so that data which
 *          is stored small counts, but with the weights as they were: at four bits what the nearest
 *          ones make of the layers behind them is nothing to learn from */
#include "quantize/round_weights.h"

#include <math.h>
#include <string.h>

#include "base/str.h"
#include "quantize/gram.h"
#include "quantize/outcome.h"

enum { WIDEST = 2560 }; /* numbers of a row; its factor takes 50 MB, and seconds */

static const size_t most_bytes = (size_t)384 << 20; /* of the sums of one run over the samples */

/* The numbers that quantised values were made of, until they are rounded. */
struct rounded_weight {
    const float *numbers;
    struct node *decode;   /* dequantize or cast */
    struct value *plain;   /* the numbers as a constant, while they are read */
    const void *quantized; /* as they were; NULL = nothing was changed */
    struct rounded_weight *next;
};

void round_remember(struct quantization *q, const struct value *weight, struct node *decode)
{
    struct rounded_weight *made;

    if (q->options->round == ROUND_NEAREST)
        return;
    made = arena_new(&q->ctx->perm, struct rounded_weight);
    *made = (struct rounded_weight){ .decode = decode, .next = q->weights };
    made->numbers = arena_memdup(&q->ctx->perm, weight->data, type_bytes(&weight->type));
    q->weights = made;
}

/* --- what is rounded -------------------------------------------------------------------------- */

struct candidate {
    struct rounded_weight *weight;
    struct gram gram;
};

static void write_log(const struct quantization *q, const struct node *product, const char *format,
                      ...) __attribute__((format(printf, 3, 4)));

static void write_log(const struct quantization *q, const struct node *product, const char *format,
                      ...)
{
    char text[200];
    va_list args;

    if (!q->options->log || q->options->log_json) /* whose lines are searches */
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    writer_printf(q->options->log, "# rounding of %s: %s\n",
                  str_safe(&q->ctx->scratch, product->outputs[0]->name, 200), text);
}

static bool has_grid(enum dtype dtype)
{
    return dtype != DTYPE_F16 && dtype != DTYPE_BF16;
}

/* Why the product is left alone; NULL = it is not. */
static const char *refusal(struct node *product, struct candidate *c)
{
    const struct value *numbers = product->inputs[1];

    if (numbers->uses->next)
        return "its weights have other readers";
    if (c->weight->decode->inputs[0]->uses->next)
        return "its quantised values have other readers";
    if (!has_grid(c->weight->decode->inputs[0]->type.dtype))
        return "half precision is accurate enough";
    if (!gram_prepare(product, &c->gram))
        return "this form of the operator is not supported";
    if (c->gram.k > WIDEST)
        return "its rows are too long";
    return NULL;
}

static struct rounded_weight *find_weight(const struct quantization *q, const struct node *product)
{
    const struct value *numbers = product->inputs[1];

    for (struct rounded_weight *w = q->weights; w; w = w->next)
        if (numbers->kind == VALUE_OUTPUT && numbers->def == w->decode)
            return w;
    return NULL;
}

static int find_candidates(struct quantization *q, struct candidate *out)
{
    int n = 0;

    for (struct node *node = q->module->main->first; node; node = node->next) {
        struct rounded_weight *weight = is_product(node->op) ? find_weight(q, node) : NULL;
        const char *why;

        if (!weight)
            continue;
        out[n] = (struct candidate){ .weight = weight };
        why = refusal(node, &out[n]);
        if (why) {
            write_log(q, node, "to nearest, as %s", why);
            q->report->n_unrounded++;
        } else {
            n++;
        }
    }
    return n;
}

/* --- one product ------------------------------------------------------------------------------ */

/* Where element i of row o stands in the weight. */
static int64_t place_of(const struct gram *gram, int64_t o, int64_t i)
{
    return gram->linear.in_first ? i * gram->linear.out_c + o : o * gram->k + i;
}

/* The scale of each element of the weight. */
static void expand_scales(const struct node *decode, float *scales)
{
    const struct type *type = &decode->inputs[0]->type;
    const struct value *given = decode->op == OP_CAST ? NULL : decode->inputs[1];
    const int64_t n = type_elements(type), rows = type->rank ? type->dim[0] : 1;
    const int64_t inner = given ? type_span(type, (int)decode->attrs.axis.axis + 1, type->rank) : 1;
    const int64_t n_scales = given ? type_elements(&given->type) : 1;

    for (int64_t i = 0; i < n; i++) {
        scales[i] =
            given ? ((const float *)given->data)[n_scales == 1 ? 0 : i / inner % n_scales] : 1;
        if (type_has_blocks(type)) {
            const int64_t row = n / rows, block = type->quant->block;
            const int64_t blocks = (row + block - 1) / block;

            scales[i] = type->quant->scale[i / row * blocks + i % row / block];
        }
    }
}

static uint8_t index_of(const struct grid *grid, const struct tensor *quantized, int64_t at)
{
    const uint8_t byte = ((const uint8_t *)quantized->data)[at];
    struct tensor plain = *quantized;

    for (int i = 0; i < grid->n; i++)
        if (grid->code[i] == byte)
            return (uint8_t)i;
    if (type_has_blocks(&plain.type))
        plain.type.quant = NULL;
    return (uint8_t)grid_nearest(grid, tensor_at(&plain, at)); /* minus zero */
}

/* A group of the product's rows; false: there is nothing to be told of what it reads. */
static bool round_group(struct quantization *q, const struct candidate *c, const struct grid *grid,
                        const float *scales, int64_t group, uint8_t *quantized, struct rows *total)
{
    const struct gram *gram = &c->gram;
    const int64_t n = gram->linear.out_c / gram->linear.groups, k = gram->k;
    const struct tensor now = value_tensor(c->weight->decode->inputs[0]);
    struct arena arena = { NULL };
    float *w = arena_array(&arena, float, n *k), *s = arena_array(&arena, float, n *k);
    struct rows rows = { .method = q->options->round,
                         .n = n,
                         .k = k,
                         .w = w,
                         .scales = s,
                         .h = gram->sums + group * k * k,
                         .index = arena_array(&arena, uint8_t, n * k),
                         .n_threads = gram->linear.groups > 1 ? 1 : q->options->n_threads };
    bool ok;

    for (int64_t o = 0; o < n; o++)
        for (int64_t i = 0; i < k; i++) {
            const int64_t at = place_of(gram, group * n + o, i);

            w[o * k + i] = c->weight->numbers[at];
            s[o * k + i] = scales[at];
            rows.index[o * k + i] = index_of(grid, &now, at);
        }
    ok = rows_round(q->ctx, grid, &rows);
    for (int64_t o = 0; ok && o < n; o++)
        for (int64_t i = 0; i < k; i++) {
            const int64_t at = place_of(gram, group * n + o, i);
            const int index = rows.index[o * k + i];

            if (index != index_of(grid, &now, at))
                quantized[at] = grid->code[index];
        }
    total->before += rows.before;
    total->after += rows.after;
    total->n_changed += rows.n_changed;
    arena_release(&arena);
    return ok;
}

static void exchange(struct node *decode, const void *quantized)
{
    const struct type type = decode->inputs[0]->type;
    void *data = constant_alloc(decode->fn, &type);

    memcpy(data, quantized, type_bytes(&type));
    constant_exchange(decode, 0, &type, data);
}

static void round_product(struct quantization *q, const struct candidate *c)
{
    struct node *decode = c->weight->decode;
    const struct tensor was = value_tensor(decode->inputs[0]);
    const size_t bytes = type_bytes(&was.type);
    const struct grid grid = grid_of(&was.type);
    struct arena arena = { NULL };
    uint8_t *quantized = arena_memdup(&arena, was.data, bytes);
    float *scales = arena_array(&arena, float, type_elements(&was.type));
    struct rows total = { .n = c->gram.linear.out_c };
    bool known = false;

    expand_scales(decode, scales);
    for (int64_t g = 0; g < c->gram.linear.groups; g++)
        known |= round_group(q, c, &grid, scales, g, quantized, &total);
    if (total.n_changed) {
        c->weight->quantized = arena_memdup(&q->ctx->perm, was.data, bytes);
        exchange(decode, quantized);
        q->report->n_rounded++;
    } else {
        q->report->n_unrounded++;
    }
    if (!known)
        write_log(q, c->gram.product, "to nearest, since its data is all zeros");
    else
        write_log(q, c->gram.product, "%lld of %lld channels, squared error %.4g -> %.4g (%.1f %%)",
                  (long long)total.n_changed, (long long)total.n, total.before, total.after,
                  total.before > 0 ? 100 * total.after / total.before : 100.0);
    arena_release(&arena);
}

/* --- the graph that is measured --------------------------------------------------------------- */

/* Products read the numbers that quantised values were made of, or, afterwards, the quantised
 * values again. */
static void read_numbers(struct quantization *q, bool as_they_were)
{
    for (struct rounded_weight *w = q->weights; w; w = w->next) {
        struct value *decoded = w->decode->outputs[0];

        if (as_they_were && !w->plain) {
            const size_t bytes = type_bytes(&decoded->type);
            float *data = constant_alloc(w->decode->fn, &decoded->type);

            memcpy(data, w->numbers, bytes);
            w->plain = constant_new(w->decode->fn,
                                    arena_printf(&q->ctx->scratch, "%s.plain", decoded->name),
                                    &decoded->type, data);
        }
        value_replace(as_they_were ? decoded : w->plain, as_they_were ? w->plain : decoded);
    }
}

/* --- all of them ------------------------------------------------------------------------------ */

/* As many at once as there is memory for, each time with a run over the samples. */
static bool round_all(struct quantization *q, struct candidate *candidates, int n)
{
    for (int from = 0, to; from < n; from = to) {
        size_t bytes = gram_bytes(&candidates[from].gram);
        struct arena arena = { NULL };
        struct gram *grams;
        bool ok;

        for (to = from + 1; to < n; to++) {
            bytes += gram_bytes(&candidates[to].gram);
            if (bytes > most_bytes)
                break;
        }
        grams = arena_array(&arena, struct gram, to - from);
        for (int i = from; i < to; i++)
            grams[i - from] = candidates[i].gram;
        read_numbers(q, true);
        ok = grams_collect(q, grams, to - from, true, &arena);
        read_numbers(q, false);
        for (int i = from; ok && i < to; i++) {
            candidates[i].gram = grams[i - from];
            round_product(q, &candidates[i]);
        }
        arena_release(&arena);
        if (!ok)
            return false;
    }
    return true;
}

static void take_back(struct quantization *q)
{
    for (struct rounded_weight *w = q->weights; w; w = w->next)
        if (w->quantized)
            exchange(w->decode, w->quantized);
    q->report->is_unrounded = true;
    if (q->options->log && !q->options->log_json)
        writer_printf(q->options->log,
                      "# rounding: undone, since the results got worse (%.4g -> %.4g)\n",
                      q->report->round_before, q->report->round_after);
}

bool quantize_round(struct quantization *q)
{
    struct quantize_report *report = q->report;
    struct candidate *candidates;
    int n_nodes = 0, n;

    if (q->options->round == ROUND_NEAREST)
        return true;
    for (const struct node *node = q->module->main->first; node; node = node->next)
        n_nodes++;
    candidates = arena_array(&q->ctx->scratch, struct candidate, n_nodes);
    n = find_candidates(q, candidates);
    if (n == 0)
        return true;
    if (!outcome_loss(q, q->wanted, &report->round_before) || !round_all(q, candidates, n) ||
        !outcome_loss(q, q->wanted, &report->round_after))
        return false;
    if (report->n_rounded && report->round_after > report->round_before)
        take_back(q);
    return true;
}
