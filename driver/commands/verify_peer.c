/* verify_peer.c - --against: what another implementation computes on the same inputs.
 *
 * ONNX Runtime gets all inputs of a set, states among them. TensorFlow Lite Micro and LiteRT keep
 * the states themselves and begin with the file's: there, sets are steps of one sequence. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/str.h"
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

/* An output of the peer, whose length may depend on the data. The graph has room for as many elements as there can be,
 * and says in a result behind the file's how many there are (frontend/onnx/open_length.c). */
struct peer_output {
    struct type type; /* the peer's */
    int open;         /* the axis that is shorter than the graph's; -1 = none */
    int length;       /* the result that says how long it is; -1 = none */
};

/* The answer's next shape, "2x3" or "scalar": the type's, or shorter along one axis. False for others. */
static bool read_shape(const char **text, struct peer_output *output)
{
    struct type *type = &output->type;
    int rank = 0;

    *text += strspn(*text, " ");
    *text += str_starts(*text, "scalar") ? strlen("scalar") : 0;
    while (**text >= '0' && **text <= '9') {
        char *end;
        const long long dim = strtoll(*text, &end, 10);

        *text = end + (*end == 'x');
        if (rank == type->rank || dim > type->dim[rank] ||
            (dim < type->dim[rank] && output->open >= 0))
            return false;
        output->open = dim < type->dim[rank] ? rank : output->open;
        type->dim[rank++] = dim;
    }
    return rank == type->rank;
}

/* Whether result `count` says how long result `result` is: they come of one node of the file. */
static bool says_length(const struct function *fn, int count, int result)
{
    const struct value *value = fn->ret->inputs[result], *number = fn->ret->inputs[count];

    while (value->kind == VALUE_OUTPUT && number->kind == VALUE_OUTPUT) {
        if (value->def->origin == number->def->origin)
            return true;
        if (value->def->n_inputs != 1)
            return false;
        value = value->def->inputs[0];
    }
    return false;
}

/* Results 0 .. *n - 1 are the file's. A peer that does not say shapes has the graph's. */
static bool read_shapes(struct verification *v, const char *text, struct peer_output *outputs,
                        int *n)
{
    const struct function *fn = v->imported->main;

    for (*n = 0; *n < fn->ret->n_inputs; ++*n) {
        outputs[*n] = (struct peer_output){ fn->ret->inputs[*n]->type, -1, -1 };
        if (v->which->reads_tflite)
            continue;
        text += strspn(text, " ");
        if (!*text)
            break;
        if (!read_shape(&text, &outputs[*n]))
            return diag_error(v->driver->ctx, DIAG_BENCH, NULL,
                              "%s gives another shape of '%s' than %s", v->which->name,
                              str_safe(&v->driver->ctx->perm, fn->result_names[*n], 120),
                              shape_text(&v->driver->ctx->perm, &fn->ret->inputs[*n]->type));
    }
    for (int count = *n; count < fn->ret->n_inputs; count++) {
        bool found = false;

        for (int i = 0; i < *n; i++)
            if (says_length(fn, count, i)) {
                outputs[i].length = count;
                found = true;
            }
        if (!found)
            return diag_error(v->driver->ctx, DIAG_BENCH, NULL,
                              "%s gives %d outputs, the imported graph %d", v->which->name, *n,
                              fn->ret->n_inputs);
    }
    return true;
}

/* The peer's output in a tensor of the graph's type. Behind its last element stands what the graph has there, which
 * nobody is to read; -1 where no result says how many elements there are. */
static struct tensor with_room(struct verification *v, const struct peer_output *output,
                               const struct tensor *own, const uint8_t *data)
{
    const struct type *room = &own->type;
    const int axis = output->open < 0 ? 0 : output->open;
    const int64_t outer = type_span(room, 0, axis);
    struct tensor tensor = tensor_new(&v->driver->bulk, room);
    const size_t bytes = type_bytes(&output->type), step = type_bytes(room);

    if (output->open >= 0 && output->length >= 0 && step)
        memcpy(tensor.data, own->data, step);
    for (int64_t i = 0; i < type_elements(room) && output->open >= 0 && output->length < 0; i++)
        dtype_store(room->dtype, tensor.data, i, -1);
    for (int64_t i = 0; i < outer && bytes; i++)
        memcpy((char *)tensor.data + (size_t)i * (step / (size_t)outer),
               data + (size_t)i * (bytes / (size_t)outer), bytes / (size_t)outer);
    return tensor;
}

/* How many elements there are in the peer's outputs of which result `count` says it; all that there can be where none
 * is shorter. */
static struct tensor length_of(struct verification *v, const struct verify_set *set,
                               const struct peer_output *outputs, int n, int count)
{
    const int64_t own = tensor_int_at(&set->imported[count], 0);
    struct tensor tensor = tensor_new(&v->driver->bulk, &set->imported[count].type);
    int64_t length = -1;

    for (int i = 0; i < n && length < 0; i++)
        if (outputs[i].length == count && outputs[i].open >= 0)
            length = outputs[i].type.dim[outputs[i].open];
    for (int i = 0; i < n && length < 0; i++)
        for (int axis = 0; axis < outputs[i].type.rank && outputs[i].length == count; axis++)
            length =
                axis == 0 || outputs[i].type.dim[axis] == own ? outputs[i].type.dim[axis] : length;
    dtype_store_int(tensor.type.dtype, tensor.data, 0, length);
    return tensor;
}

static bool take_outputs(struct verification *v, struct verify_set *set, const char *shapes,
                         const struct mapping *file)
{
    struct ctx *ctx = v->driver->ctx;
    const struct function *fn = v->imported->main;
    struct peer_output *outputs = arena_array(&ctx->perm, struct peer_output, fn->ret->n_inputs);
    size_t at = 0, wanted = 0;
    int n;

    if (!read_shapes(v, shapes, outputs, &n))
        return false;
    for (int i = 0; i < n; i++)
        wanted += is_output(v, i) ? type_bytes(&outputs[i].type) : 0;
    if (file->size != wanted)
        return diag_error(ctx, DIAG_BENCH, NULL,
                          "%s gives %zu bytes of outputs, the imported graph %zu", v->which->name,
                          file->size, wanted);
    set->peer = arena_array(&ctx->perm, struct tensor, fn->ret->n_inputs);
    for (int i = 0; i < n; i++) {
        if (!is_output(v, i))
            continue;
        set->peer[i] = with_room(v, &outputs[i], &set->imported[i], file->data + at);
        at += type_bytes(&outputs[i].type);
    }
    for (int i = n; i < fn->ret->n_inputs; i++)
        set->peer[i] = length_of(v, set, outputs, n, i);
    return true;
}

static bool ask_set(struct verification *v, struct verify_set *set)
{
    const char *path = host_code_path(v->driver, &v->folder, "peer.bin"), *answer = NULL;
    struct mapping file;
    bool ok;

    if (give_inputs(v, set))
        answer = worker_ask(v->peer, "save %s", path);
    if (!answer || !file_map(v->driver->ctx, path, &file))
        return false;
    ok = take_outputs(v, set, answer, &file);
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
