/* verify.c - one model, from the file to the code, layer by layer.
 *
 * The truth is the graph as it was imported, on the reference evaluator: what no pass has touched.
 * The graph after the passes is compared with it, then oneDNN and the generated C with that. Every
 * layer gets the right numbers as its inputs, so that it answers for its own error only; and the
 * whole network is run by each, because only that shows values lost on their way from one layer to
 * the next. driver/verify.h says who does what. */
#include "driver/commands/verify.h"

#include <sha256.h>
#include <string.h>

#include "base/file.h"
#include "base/str.h"
#include "driver/precision.h"
#include "relay_ir/text.h"

/* A layer that quantises floats may be off by one step of its quantiser: what lies in the middle
 * between two steps goes up or down with the order of the sum before it. A region of a target may
 * be off by one for each of its composites that does. Networks of such layers amplify that, so they
 * are judged by the cosine of their results. */
static bool stores_small_numbers(const struct module *module)
{
    for (const struct function *fn = module->functions; fn; fn = fn->next)
        for (const struct node *n = fn->first; n; n = n->next)
            for (int i = 0; i < n->n_outputs; i++) {
                const struct type *type = &n->outputs[i]->type;

                if (type_minifloat(type) || n->op == OP_QNN_QUANTIZE ||
                    n->op == OP_QNN_REQUANTIZE ||
                    (type->quant && type->quant->kind == QTYPE_SCALED))
                    return true;
            }
    return false;
}

static bool check_options(struct driver_state *driver, double *tolerance)
{
    const struct arguments *args = &driver->args;
    int peer;
    bool ok = option_real(driver->ctx, args, OPTION_TOLERANCE, 1e-4, tolerance);

    ok = option_word(driver->ctx, args, OPTION_AGAINST, implementation_words, 0, &peer) && ok;
    if (has_option(args, OPTION_RUNNER) && !has_option(args, OPTION_CC))
        ok = diag_error(driver->ctx, DIAG_USAGE, NULL, "--runner has no effect without --cc");
    if (has_option(args, OPTION_CFLAGS) && !has_option(args, OPTION_CC))
        ok = diag_error(driver->ctx, DIAG_USAGE, NULL, "--cflags has no effect without --cc");
    if (has_option(args, OPTION_AGAINST) && args->n_operands && strcmp(args->operands[0], "-") == 0)
        ok = diag_error(driver->ctx, DIAG_USAGE, NULL,
                        "--against needs the model as a file, not from standard input");
    return ok;
}

/* The model is read twice: from standard input, it goes to a file first. */
static bool keep_standard_input(struct verification *v)
{
    struct driver_state *driver = v->driver;
    struct output_set set = { .ctx = driver->ctx };
    struct mapping input;

    if (strcmp(driver->args.operands[0], "-") != 0)
        return true;
    if (!host_code_folder(driver, &v->folder) || !file_map(driver->ctx, "-", &input))
        return false;
    driver->args.operands[0] = host_code_path(
        driver, &v->folder, input.size && input.data[0] == '{' ? "input.graph.json" : "input.onnx");
    writer_write(output_open(&set, driver->args.operands[0]), input.data, input.size);
    file_unmap(&input);
    return output_commit(&set);
}

static bool check_all_options(struct verification *v)
{
    bool ok = check_options(v->driver, &v->tolerance);

    ok = prepare_machine(v->driver) && ok;
    ok = prepare_pools(v->driver) && ok;
    ok = prepare_offload(v->driver) && ok;
    if (v->code && v->driver->precision)
        v->driver->precision->options.any_shape = true; /* as for the code: one table for all */
    return ok;
}

static bool load(struct verification *v)
{
    if (!keep_standard_input(v))
        return false;
    v->imported = load_model(v->driver);
    v->module = v->imported ? load_model(v->driver) : NULL;
    return v->module != NULL;
}

static const char *graph_sha256(struct ctx *ctx, const struct module *module)
{
    struct str text = { .arena = &ctx->perm };
    char hex[SHA256_DIGEST_STRING_LENGTH];

    module_print(module, &text);
    SHA256Data((const unsigned char *)str_text(&text), text.n, hex);
    return arena_strdup(&ctx->perm, hex);
}

static bool simplify_to_fuse(struct verification *v)
{
    if (!run_passes(v->driver, v->module))
        return false;
    function_number(v->module->main);
    v->graph = graph_sha256(v->driver->ctx, v->module);
    v->rounds = stores_small_numbers(v->module) || precision_wanted(v->driver);
    v->rounds_anew = v->rounds && !stores_small_numbers(v->imported);
    return true;
}

static bool run_stages(struct verification *v)
{
    static bool (*const stages[])(struct verification *) = {
        check_all_options,    /* all options */
        verify_start_peer,    /* --against */
        load,                 /* the model, twice */
        verify_load_inputs,   /* --input, --data, or made up */
        verify_chain_states,  /* --against tflm, litert */
        simplify_to_fuse,     /* the stages of driver.c, on one of both */
        verify_fit_inputs,    /* --quantized-io */
        verify_run_reference, /* the passes' graph on the reference evaluator */
        verify_run_imported,  /* the file's graph there */
        verify_ask_peer,      /* the other implementation */
        verify_run_engine,    /* the passes' graph on oneDNN */
        verify_simulate,      /* --deterministic */
        verify_run_generated, /* the C */
    };
    bool ok = true;

    for (size_t i = 0; i < sizeof stages / sizeof *stages && ok; i++)
        ok = stages[i](v);
    if (ok)
        verify_whole(v);
    return ok;
}

bool driver_verify(struct driver_state *driver, struct verification *out)
{
    *out = (struct verification){ .driver = driver };
    return run_stages(out);
}

bool driver_verify_sizes(struct driver_state *driver, struct generated *code, const int32_t *sizes,
                         struct verification *out)
{
    *out = (struct verification){ .driver = driver, .code = code, .sizes = sizes };
    return run_stages(out);
}

void driver_verify_free(struct verification *v)
{
    worker_stop(v->peer);
    host_code_free(&v->folder);
    module_free(v->imported);
    module_free(v->module);
}
