#include "tests/support/quantized_case.h"

#include <check.h>
#include <string.h>

#include "tests/support/graph.h"

const char quantized_two_convs[] = X W V BIAS "  %c = nn.conv2d(%x, @w) " CONV "\n"
                                              "  %d = nn.bias_add(%c, @b) {axis=1}\n"
                                              "  %r = nn.relu(%d)\n"
                                              "  %y = nn.conv2d(%r, @v) " CONV "\n"
                                              "}\n";

const char quantized_streaming[] =
    "fn main(%x: (1,1,4) f32, %s: (2,1,1,5) f32) -> (%y, %n) {\n"
    "  const @w : (1,20,4) f32 = crc32:00000000\n  const @r : (1,20,5) f32 = crc32:00000000\n"
    "  const @v : (2,5) f32 = crc32:00000000\n"
    "  const @zero : () i64 = [0]\n  const @one : () i64 = [1]\n"
    "  %h = take(%s, @zero) {axis=0}\n  %c = take(%s, @one) {axis=0}\n"
    "  %o, %nh, %nc = nn.lstm(%x, @w, @r, _, _, %h, %c) {hidden_size=5, "
    "activations=\"Affine,Affine,Affine\", activation_alpha=[0.1,1,1], activation_beta=[1,0,0]}\n"
    "  %n = concatenate(%nh, %nc) {axis=0}\n"
    "  %f = reshape(%nh) {shape=[1,5]}\n  %y = nn.dense(%f, @v)\n}\n";

/* Every value of the graph, measured as lying in -2 .. 6; those called "low" in 0 .. 3. */
static void measure(struct ctx *ctx, const struct function *fn, struct calib_table *table)
{
    int n = fn->n_params;

    for (const struct node *node = fn->first; node; node = node->next)
        n += node->n_outputs;
    *table = (struct calib_table){ .model = "", .n_samples = 1 };
    table->at = arena_array(&ctx->perm, struct calib_tensor, n);
    for (int i = 0; i < fn->n_params; i++)
        table->at[table->n++] = (struct calib_tensor){ .name = fn->params[i]->name, .shape = "" };
    for (const struct node *node = fn->first; node; node = node->next)
        for (int i = 0; i < node->n_outputs; i++)
            table->at[table->n++] =
                (struct calib_tensor){ .name = node->outputs[i]->name, .shape = "" };
    for (int i = 0; i < table->n; i++) {
        struct calib_threshold *threshold = arena_new(&ctx->perm, struct calib_threshold);

        const bool low = strcmp(table->at[i].name, "low") == 0;

        *threshold = (struct calib_threshold){ "max", low ? 3 : 6 };
        table->at[i].min = low ? 0 : -2;
        table->at[i].max = low ? 3 : 6;
        table->at[i].thresholds = threshold;
        table->at[i].n_thresholds = 1;
    }
}

struct quantized_case quantized_case(const char *text, const char *precision, bool calibrated)
{
    struct quantized_case q = { .ctx = ctx_new(NULL) };

    q.module = graph_parse(q.ctx, text, QUANTIZED_SEED);
    ck_assert(precision_parse(q.ctx, "", precision, &q.options.precision));
    if (calibrated)
        measure(q.ctx, q.module->main, &q.table);
    return q;
}

void quantized_run(struct quantized_case *q)
{
    const struct pipeline_options pipeline = { .dump_after = NULL };

    if (q->table.n)
        q->options.calib = &q->table;
    q->ok = quantize_module(q->module, &q->options, &pipeline, &q->report);
}

void quantized_end(struct quantized_case *q)
{
    module_free(q->module);
    ctx_free(q->ctx);
}

const char *quantized_operators(const struct quantized_case *q)
{
    struct str text = { .arena = &q->ctx->perm };

    for (const struct node *node = q->module->main->first; node; node = node->next) {
        const char *name = op_name(node->op);

        str_printf(&text, "%s%s", text.n ? " " : "", strncmp(name, "nn.", 3) ? name : name + 3);
    }
    return str_text(&text);
}
