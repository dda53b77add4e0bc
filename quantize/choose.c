/* choose.c - which precision each node has: what the user said, and the rules for first and last
 * layers. */
#include <string.h>

#include "base/str.h"
#include "quantize/layer_loss.h"
#include "quantize/steps.h"

static const struct precision f32 = { .mode = PRECISION_F32 };

/* --- names ------------------------------------------------------------------------------------ */

static bool node_has_name(const struct node *node, const char *name)
{
    for (const struct origin *o = node->origin; o; o = o->next)
        if ((o->name && strcmp(o->name, name) == 0) || (o->output && strcmp(o->output, name) == 0))
            return true;
    for (int i = 0; i < node->n_outputs; i++)
        if (strcmp(node->outputs[i]->name, name) == 0)
            return true;
    return false;
}

static const char *nearest_name(struct arena *arena, const struct function *fn, const char *name)
{
    const char **names;
    size_t n = 0;

    for (const struct node *node = fn->first; node; node = node->next)
        n += 2;
    names = arena_array(arena, const char *, n);
    n = 0;
    for (const struct node *node = fn->first; node; node = node->next) {
        names[n++] = node->outputs[0]->name;
        if (node->origin && node->origin->name)
            names[n++] = node->origin->name;
    }
    return str_nearest(name, names, n);
}

static bool check_keep(struct quantization *q)
{
    const struct function *fn = q->module->main;
    struct arena *arena = &q->ctx->perm;
    bool ok = true;

    for (int i = 0; i < q->options->n_keep; i++) {
        const char *name = q->options->keep[i], *near;
        const struct node *node = fn->first;

        while (node && !node_has_name(node, name))
            node = node->next;
        if (node)
            continue;
        if (map_get(&q->module->imported, name)) {
            diag_warn(q->ctx, DIAG_QUANTIZE, NULL,
                      "--keep-f32: '%s' is left out, or known when compiling", str_safe(arena, name, 200));
            continue;
        }
        ok = diag_error(q->ctx, DIAG_QUANTIZE, NULL, "--keep-f32: no node is called '%s'",
                        str_safe(arena, name, 200));
        near = nearest_name(arena, fn, name);
        if (near)
            diag_help(q->ctx, "did you mean '%s'?", str_safe(arena, near, 200));
        else
            diag_help(q->ctx, "names are those of the ONNX nodes, or of their first outputs");
    }
    return ok;
}

/* --- first, last, and the k worst ------------------------------------------------------------- */

static bool has_small_side(const struct quantization *q, const struct node *node)
{
    const struct precision *p = precision_of_node(q, node, NULL);

    return is_product(node->op) && (p->has_weights || p->has_data);
}

/* Those that lose most (layer_loss.h) stay f32, or have the precision for such; of equals the
 * first. */
static bool keep_worst(struct quantization *q)
{
    const struct node **all;
    double *losses;
    int n = 0;

    if (!q->options->topk)
        return true;
    for (const struct node *node = q->module->main->first; node; node = node->next)
        n += has_small_side(q, node);
    all = arena_array(&q->ctx->scratch, const struct node *, n);
    losses = arena_array(&q->ctx->scratch, double, n);
    n = 0;
    for (const struct node *node = q->module->main->first; node; node = node->next)
        if (has_small_side(q, node))
            all[n++] = node;
    if (!layer_losses(q, n, all, losses))
        return false;
    for (int k = 0; k < q->options->topk && k < n; k++) {
        int worst = -1;

        for (int i = 0; i < n; i++)
            if (all[i] && (worst < 0 || losses[i] > losses[worst]))
                worst = i;
        map_set(&q->kept, all[worst]->outputs[0]->name, (void *)(uintptr_t)all[worst]);
        all[worst] = NULL;
    }
    return true;
}

/* The table is the more exact word; that it wins is said. */
static void check_conflicts(struct quantization *q)
{
    for (const struct node *node = q->module->main->first; node && q->options->qtable;
         node = node->next) {
        const struct qtable_row *row = qtable_find(q->options->qtable, node);

        for (int i = 0; row && row->precision.mode != PRECISION_F32 && i < q->options->n_keep; i++)
            if (node_has_name(node, q->options->keep[i])) {
                diag_warn(q->ctx, DIAG_QUANTIZE, node_origin(node),
                          "--keep-f32 '%s' is overruled by its qtable row: %s",
                          str_safe(&q->ctx->perm, q->options->keep[i], 200),
                          precision_text(&q->ctx->perm, &row->precision));
                break;
            }
    }
}

static void find_ends(struct quantization *q)
{
    q->first = q->last = NULL;
    for (const struct node *node = q->module->main->first; node; node = node->next) {
        if (!is_product(node->op))
            continue;
        if (q->options->keep_first && !q->first)
            q->first = node;
        if (q->options->keep_last)
            q->last = node;
    }
}

bool choose_check(struct quantization *q)
{
    const struct qtable *qtable = q->options->qtable;
    bool ok = check_keep(q);

    ok = (!qtable || qtable_check(q->ctx, qtable, q->module->main)) && ok;
    if (ok)
        check_conflicts(q);
    find_ends(q);
    return ok;
}

bool choose_begin(struct quantization *q)
{
    find_ends(q);
    q->kept = (struct map){ .arena = &q->ctx->perm };
    return keep_worst(q);
}

/* What the ONNX node with a bias became besides the product: it has the name of the output. */
static const struct node *bias_of(const struct node *node)
{
    const struct node *reader = is_product(node->op) ? value_only_user(node->outputs[0]) : NULL;

    return reader && reader->op == OP_BIAS_ADD ? reader : NULL;
}

const struct precision *precision_of_node(const struct quantization *q, const struct node *node,
                                          const char **why)
{
    const struct quantize_options *options = q->options;
    const struct node *bias = bias_of(node);
    const struct qtable_row *row = options->qtable ? qtable_find(options->qtable, node) : NULL;
    const struct precision *kept = &f32;
    const char *reason = NULL;

    if (!row && bias && options->qtable)
        row = qtable_find(options->qtable, bias);
    if (row) {
        if (why)
            *why = row->precision.mode == PRECISION_F32 ? "by the qtable" : NULL;
        return &row->precision;
    }
    for (int i = 0; i < options->n_keep && !reason; i++)
        if (node_has_name(node, options->keep[i]) ||
            (bias && node_has_name(bias, options->keep[i])))
            reason = "--keep-f32";
    if (!reason && node == q->first)
        reason = "the first layer is kept";
    if (!reason && node == q->last)
        reason = "the last layer is kept";
    if (!reason && map_get(&q->kept, node->outputs[0]->name)) {
        reason = "among those that lose most";
        kept = options->topk_precision ? options->topk_precision : &f32;
    }
    if (why)
        *why = kept == &f32 ? reason : NULL;
    return reason ? kept : &options->precision;
}

/* --- operators -------------------------------------------------------------------------------- */

/* What operators read as quantised values: by default all their inputs, in all precisions with
 * small data. Comparisons of nearly equal numbers would find ties where there were none, but int8
 * promises integers, of recurrent layers as well, whose states are otherwise f32. */
bool reads_quantized(const struct node *node, int input, const struct precision *precision)
{
    if (!precision->has_data)
        return false;
    switch (node->op) {
    case OP_CALL:
    case OP_QNN_QUANTIZE:
    case OP_CAST:
    case OP_ONE_HOT:
    case OP_CUSTOM:
    case OP_COUPLING:
    case OP_TREE_ENSEMBLE:
    case OP_NON_MAX_SUPPRESSION:
    case OP_UNIQUE:
    case OP_IF: return false;
    case OP_ARGMAX:
    case OP_ARGMIN:
    case OP_CUMSUM:
    case OP_GRU:
    case OP_HARDMAX:
    case OP_LSTM:
    case OP_RNN:
    case OP_TOPK:
    case OP_SOFTMAX:
    case OP_LOG_SOFTMAX: return precision->mode == PRECISION_INT8;
    case OP_GRID_SAMPLE: return input == 0 || precision->mode == PRECISION_INT8;
    case OP_RESIZE:
    case OP_ROI_ALIGN: return input == 0;
    default: return true;
    }
}
