/* cmd_verify.c - one model, from the file to the code, layer by layer.
 *
 * The truth is the graph as it was imported, on the reference evaluator: what no pass has touched.
 * The graph after the passes is compared with it, then oneDNN and the generated C with that. Every
 * layer gets the right numbers as its inputs, so that it answers for its own error only; and the
 * whole network is run by each, because only that shows values lost on their way from one layer to
 * the next. cli/verify.h says who does what. */
#include <string.h>

#include "base/file.h"
#include "cli/onnxruntime.h"
#include "cli/verify.h"

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

static bool check_options(struct cli *cli, double *tolerance)
{
    static const char *const peers[] = { "onnxruntime", NULL };
    const struct arguments *args = &cli->driver->args;
    int peer;
    bool ok = option_real(cli->ctx, args, OPTION_TOLERANCE, 1e-4, tolerance);

    ok = option_word(cli->ctx, args, OPTION_AGAINST, peers, 0, &peer) && ok;
    if (has_option(args, OPTION_RUNNER) && !has_option(args, OPTION_CC))
        ok = diag_error(cli->ctx, DIAG_USAGE, NULL, "--runner has no effect without --cc");
    if (has_option(args, OPTION_CFLAGS) && !has_option(args, OPTION_CC))
        ok = diag_error(cli->ctx, DIAG_USAGE, NULL, "--cflags has no effect without --cc");
    if (has_option(args, OPTION_AGAINST) && args->n_operands && strcmp(args->operands[0], "-") == 0)
        ok = diag_error(cli->ctx, DIAG_USAGE, NULL,
                        "--against onnxruntime needs the model as a file, not from standard input");
    return ok;
}

/* First of all: who asks for it wants to know at once that it is missing. */
static bool start_peer(struct verification *v)
{
    if (!has_option(&v->cli->driver->args, OPTION_AGAINST))
        return true;
    if (!host_code_folder(v->cli->driver, &v->folder))
        return false;
    v->peer =
        onnxruntime_start(v->cli, &v->folder, "--against onnxruntime", true, &v->peer_version);
    return v->peer != NULL;
}

/* The model is read twice: from standard input, it goes to a file first. */
static bool keep_standard_input(struct verification *v)
{
    struct cli *cli = v->cli;
    struct output_set set = { .ctx = cli->ctx };
    struct mapping input;

    if (strcmp(cli->driver->args.operands[0], "-") != 0)
        return true;
    if (!host_code_folder(cli->driver, &v->folder) || !file_map(cli->ctx, "-", &input))
        return false;
    cli->driver->args.operands[0] =
        host_code_path(cli->driver, &v->folder,
                       input.size && input.data[0] == '{' ? "input.graph.json" : "input.onnx");
    writer_write(output_open(&set, cli->driver->args.operands[0]), input.data, input.size);
    file_unmap(&input);
    return output_commit(&set);
}

static bool load_both(struct verification *v)
{
    if (!keep_standard_input(v))
        return false;
    v->imported = load_model(v->cli->driver);
    v->module = v->imported ? load_model(v->cli->driver) : NULL;
    if (!v->module || !verify_load_inputs(v) || !run_passes(v->cli->driver, v->module))
        return false;
    function_number(v->module->main);
    v->rounds = stores_small_numbers(v->module) || precision_wanted(v->cli->driver);
    v->rounds_anew = v->rounds && !stores_small_numbers(v->imported);
    return verify_fit_inputs(v);
}

bool command_verify(struct cli *cli)
{
    struct verification v = { .cli = cli };
    bool ok;

    if (show_machines_wanted(cli))
        return true;
    ok = check_options(cli, &v.tolerance);
    ok = prepare_machine(cli->driver) && ok;
    ok = prepare_pools(cli->driver) && ok;
    if (!prepare_offload(cli->driver) || !ok)
        return false;
    ok = start_peer(&v) && load_both(&v) && verify_run_reference(&v) && verify_run_imported(&v) &&
         verify_ask_peer(&v) && verify_run_engine(&v) && verify_simulate(&v) &&
         verify_run_generated(&v);
    if (ok) {
        verify_whole(&v);
        ok = verify_report(&v);
    }
    worker_stop(v.peer);
    host_code_free(&v.folder);
    module_free(v.imported);
    module_free(v.module);
    return ok;
}
