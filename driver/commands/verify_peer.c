/* verify_peer.c - --against: what another implementation computes on the same inputs.
 *
 * ONNX Runtime gets all inputs of a set, states among them. TensorFlow Lite Micro and LiteRT keep
 * the states themselves and begin with the file's: there, sets are steps of one sequence. */
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "driver/commands/verify.h"
#include "relay_ir/interpret.h"
#include "relay_ir/state.h"

enum { USUAL_SETS = 3, USUAL_STEPS = 8 };

bool verify_start_peer(struct verification *v)
{
    struct driver_state *driver = v->driver;
    int which;

    if (!has_option(&driver->args, OPTION_AGAINST))
        return true;
    option_word(driver->ctx, &driver->args, OPTION_AGAINST, implementation_words, 0, &which);
    v->which = &implementations[which];
    if (!host_code_folder(driver, &v->folder))
        return false;
    v->peer = peer_start(driver, &v->folder, v->which, "--against", true, &v->peer_version);
    return v->peer != NULL;
}

/* --- steps ------------------------------------------------------------------------------------ */

static bool keeps_states(const struct verification *v)
{
    return v->which && v->which->reads_tflite && v->imported->n_states > 0;
}

int verify_usual_sets(const struct verification *v)
{
    return keeps_states(v) ? USUAL_STEPS : USUAL_SETS;
}

bool verify_chain_states(struct verification *v)
{
    struct driver_state *driver = v->driver;
    struct module *module = v->imported;
    struct function *fn = module->main;
    struct tensor *before = NULL;
    bool ok = true;

    for (int k = 0; k < v->n_sets && ok && keeps_states(v); k++) {
        struct verify_set *set = &v->sets[k];
        struct tensor *after = arena_array(&driver->ctx->perm, struct tensor, fn->ret->n_inputs);

        for (int i = 0; i < module->n_states; i++) {
            const struct state *state = &module->states[i];

            set->given[state->param] = before ? (struct tensor){ fn->params[state->param]->type,
                                                                 before[state->result].data }
                                              : state_initial_tensor(module, state, &driver->bulk);
        }
        set->what = arena_printf(&driver->ctx->perm, "step %d (%s)", k + 1, set->what);
        ok = interpret(driver->ctx, fn, set->given, after, &driver->bulk, NULL);
        before = after;
    }
    return ok;
}

/* --- what it computes ------------------------------------------------------------------------- */

static bool is_own_state(const struct verification *v, int param)
{
    return keeps_states(v) && state_of_param(v->imported, param);
}

static bool give_inputs(struct verification *v, const struct verify_set *set)
{
    struct driver_state *driver = v->driver;
    const struct function *fn = v->imported->main;
    bool ok = worker_ask(v->peer, "again") != NULL;

    for (int i = 0; i < fn->n_params && ok; i++) {
        struct output_set out = { .ctx = driver->ctx };
        const char *input =
            host_code_path(driver, &v->folder, arena_printf(&driver->ctx->perm, "peer_%d.bin", i));

        if (is_own_state(v, i))
            continue;
        writer_write(output_open(&out, input), set->given[i].data, type_bytes(&set->given[i].type));
        ok = output_commit(&out) && peer_input(driver, v->peer, &fn->params[i]->type, input);
    }
    return ok;
}

/* Where state i is the peer's own, no output stands for it. */
static bool is_output(const struct verification *v, int result)
{
    return !keeps_states(v) || !state_of_result(v->imported, result);
}

static bool take_outputs(struct verification *v, struct verify_set *set, const struct mapping *file)
{
    struct ctx *ctx = v->driver->ctx;
    const struct function *fn = v->imported->main;
    size_t at = 0, wanted = 0;

    for (int i = 0; i < fn->ret->n_inputs; i++)
        wanted += is_output(v, i) ? type_bytes(&fn->ret->inputs[i]->type) : 0;
    if (file->size != wanted)
        return diag_error(ctx, DIAG_BENCH, NULL,
                          "%s gives %zu bytes of outputs, the imported graph %zu", v->which->name,
                          file->size, wanted);
    set->peer = arena_array(&ctx->perm, struct tensor, fn->ret->n_inputs);
    for (int i = 0; i < fn->ret->n_inputs; i++) {
        if (!is_output(v, i))
            continue;
        set->peer[i] = tensor_new(&v->driver->bulk, &fn->ret->inputs[i]->type);
        memcpy(set->peer[i].data, file->data + at, type_bytes(&set->peer[i].type));
        at += type_bytes(&set->peer[i].type);
    }
    return true;
}

static bool ask_set(struct verification *v, struct verify_set *set)
{
    const char *path = host_code_path(v->driver, &v->folder, "peer.bin");
    struct mapping file;
    bool ok;

    if (!give_inputs(v, set) || !worker_ask(v->peer, "save %s", path) ||
        !file_map(v->driver->ctx, path, &file))
        return false;
    ok = take_outputs(v, set, &file);
    file_unmap(&file);
    return ok;
}

bool verify_ask_peer(struct verification *v)
{
    bool ok = true;

    for (int k = 0; k < v->n_sets && ok && v->peer; k++)
        ok = ask_set(v, &v->sets[k]);
    return ok;
}

/* --- bits ------------------------------------------------------------------------------------- */

/* Sums of floats depend on their order; integers, rounded as the file's kernels do, on nothing. */
static bool is_of_integers(const struct function *fn)
{
    for (int i = 0; i < fn->n_params; i++)
        if (dtype_is_float(fn->params[i]->type.dtype))
            return false;
    for (const struct node *node = fn->first; node; node = node->next)
        for (int i = 0; i < node->n_outputs; i++)
            if (dtype_is_float(node->outputs[i]->type.dtype))
                return false;
    return true;
}

/* LiteRT rounds the activations before products with weights that are integers; relayc does not. */
bool verify_peer_rounds(const struct verification *v)
{
    for (const struct node *node = v->imported->main->first; node; node = node->next)
        if (node->op == OP_QNN_DEQUANTIZE && node->inputs[0]->kind == VALUE_CONSTANT)
            return !v->which->bit_exact && v->which->reads_tflite;
    return false;
}

static void count_tensor(struct peer_count *count, const struct tensor *wanted,
                         const struct tensor *found)
{
    for (int64_t i = 0; i < type_elements(&wanted->type); i++) {
        const double off = fabs(tensor_at(wanted, i) - tensor_at(found, i));

        count->n++;
        count->n_different += off != 0;
        count->most = fmax(count->most, off);
    }
}

void verify_count_peer(struct verification *v)
{
    const int n = v->imported->main->ret->n_inputs;

    for (int k = 0; k < v->n_sets; k++)
        for (int i = 0; i < n; i++) {
            const struct tensor *peer = v->sets[k].peer, *own = v->sets[k].generated;

            if (peer && own && peer[i].data && !dtype_is_float(peer[i].type.dtype) &&
                peer[i].type.dtype == own[i].type.dtype)
                count_tensor(&v->peer_count, &peer[i], &own[i]);
        }
    v->peer_count.promised = v->which->bit_exact && v->module->rounds_as_written &&
                             !v->rounds_anew && is_of_integers(v->imported->main);
}
