/* convert_rnn.c - LSTM, GRU and RNN.
 *
 * nn.lstm and its kin take ONNX's inputs in ONNX's order; what is left to do is to check the form
 * and to write every default out, so that nobody behind needs to know them. */
#include "frontend/onnx/convert_rnn.h"

#include <ctype.h>
#include <string.h>

struct rnn_kind {
    int gates;
    int n_inputs, n_outputs;
    int n_activations;       /* per direction */
    const char *activations; /* of one direction */
};

static const struct rnn_kind *rnn_kind(enum op op)
{
    static const struct rnn_kind lstm = { 4, 8, 3, 3, "Sigmoid,Tanh,Tanh" };
    static const struct rnn_kind gru = { 3, 6, 2, 2, "Sigmoid,Tanh" };
    static const struct rnn_kind rnn = { 1, 6, 2, 1, "Tanh" };

    return op == OP_LSTM ? &lstm : op == OP_GRU ? &gru : &rnn;
}

/* Activation functions, with the numbers that they use unless the model says otherwise. */
static const struct activation {
    const char *name;
    double alpha, beta;
} activations[] = {
    { "Affine", 1, 0 },
    { "Elu", 1, 0 },
    { "HardSigmoid", (double)0.2F, 0.5 },
    { "LeakyRelu", (double)0.01F, 0 },
    { "Relu", 0, 0 },
    { "ScaledTanh", 1, 1 },
    { "Sigmoid", 0, 0 },
    { "Softplus", 0, 0 },
    { "Softsign", 0, 0 },
    { "Tanh", 0, 0 },
    { "ThresholdedRelu", 1, 0 },
};

/* ONNX compares the names without regard to case. */
static const struct activation *find_activation(const char *name, size_t n)
{
    for (size_t i = 0; i < sizeof activations / sizeof activations[0]; i++) {
        size_t k = 0;

        while (k < n && activations[i].name[k] &&
               tolower((unsigned char)name[k]) == tolower((unsigned char)activations[i].name[k]))
            k++;
        if (k == n && !activations[i].name[k])
            return &activations[i];
    }
    return NULL;
}

/* Which functions take an alpha, or a beta: the lists of the model hold numbers for those only. */
static bool has_alpha(const char *name)
{
    return strcmp(name, "Relu") != 0 && strcmp(name, "Sigmoid") != 0 &&
           strcmp(name, "Softplus") != 0 && strcmp(name, "Softsign") != 0 &&
           strcmp(name, "Tanh") != 0;
}

static bool has_beta(const char *name)
{
    return strcmp(name, "Affine") == 0 || strcmp(name, "HardSigmoid") == 0 ||
           strcmp(name, "ScaledTanh") == 0;
}

/* The functions by their proper names, and an alpha and a beta for each of them. */
static bool read_activations(struct onnx_node *node, int wanted, const char *missing,
                             struct rnn_attrs *rnn)
{
    const char *text = onnx_words(node, "activations");
    struct reals alpha = onnx_reals(node, "activation_alpha");
    struct reals beta = onnx_reals(node, "activation_beta");
    struct str names = { .arena = &node->fn->module->arena };
    int n = 0, n_alpha = 0, n_beta = 0;

    for (const char *at = *text ? text : missing; *at; n++) {
        size_t length = strcspn(at, ",");
        const struct activation *function = find_activation(at, length);

        if (!function)
            return onnx_unsupported(
                node, "the activation \"%s\" is not known",
                str_safe(&node->ctx->perm, arena_strndup(&node->ctx->perm, at, length), 40));
        if (n >= wanted)
            break;
        str_printf(&names, "%s%s", n ? "," : "", function->name);
        rnn->activation_alpha.at[n] = function->alpha;
        rnn->activation_beta.at[n] = function->beta;
        if (has_alpha(function->name) && n_alpha < alpha.n)
            rnn->activation_alpha.at[n] = alpha.at[n_alpha++];
        if (has_beta(function->name) && n_beta < beta.n)
            rnn->activation_beta.at[n] = beta.at[n_beta++];
        at += length + (at[length] == ',');
    }
    if (n != wanted)
        return bad_attribute(node, "attribute activations has %d functions, wanted %d", n, wanted);
    rnn->activation_alpha.n = rnn->activation_beta.n = wanted;
    rnn->activations = str_text(&names);
    return onnx_ok(node);
}

static int read_direction(struct onnx_node *node, struct rnn_attrs *rnn)
{
    static const char *const words[] = { "forward", "reverse", "bidirectional" };
    const char *direction = onnx_word(node, "direction", "forward");

    for (int i = 0; i < 3; i++)
        if (strcmp(direction, words[i]) == 0) {
            rnn->direction = words[i];
            return i == 2 ? 2 : 1;
        }
    bad_attribute(node, "attribute direction is none of forward, reverse and bidirectional");
    return 0;
}

static bool check_shape(struct onnx_node *node, int input, const struct ints *wanted,
                        const char *what)
{
    const struct value *v = onnx_input(node, input);
    struct ints found;
    struct type type;

    if (!v)
        return true;
    found = ints_of_shape(&v->type);
    if (ints_equal(&found, wanted))
        return true;
    type = type_make(v->type.dtype, wanted->n, wanted->at);
    return diag_error(node->ctx, DIAG_SHAPE, node->origin, "%s has shape %s, wanted %s", what,
                      shape_text(&node->ctx->perm, &v->type), shape_text(&node->ctx->perm, &type));
}

/* All shapes follow from x, hidden_size and the direction. */
static bool check_shapes(struct onnx_node *node, const struct rnn_kind *kind,
                         const struct rnn_attrs *rnn, int64_t directions)
{
    const struct type *x = &onnx_input(node, 0)->type;
    const int64_t batch = x->dim[rnn->batch_major ? 0 : 1], hidden = rnn->hidden_size;
    const int64_t rows = kind->gates * hidden;
    const struct ints state = {
        3, { rnn->batch_major ? batch : directions, rnn->batch_major ? directions : batch, hidden }
    };
    bool ok = true;

    ok = check_shape(node, 1, &(struct ints){ 3, { directions, rows, x->dim[2] } }, "W") && ok;
    ok = check_shape(node, 2, &(struct ints){ 3, { directions, rows, hidden } }, "R") && ok;
    ok = check_shape(node, 3, &(struct ints){ 2, { directions, 2 * rows } }, "B") && ok;
    ok = check_shape(node, 4, &(struct ints){ 1, { batch } }, "sequence_lens") && ok;
    ok = check_shape(node, 5, &state, "initial_h") && ok;
    ok = check_shape(node, 6, &state, "initial_c") && ok;
    return check_shape(node, 7, &(struct ints){ 2, { directions, 3 * hidden } }, "P") && ok;
}

/* Lengths that are all the whole sequence have no effect. */
static struct value *sequence_lengths(struct onnx_node *node, int64_t steps)
{
    struct value *lengths = onnx_input(node, 4);
    double number;

    return lengths && value_uniform(lengths, &number) && number == (double)steps ? NULL : lengths;
}

/* The kernels pack weights, biases and peepholes at compile time. */
static bool has_known_weights(const struct onnx_node *node)
{
    static const int weights[] = { 1, 2, 3, 7 };

    for (int i = 0; i < 4; i++)
        if (weights[i] < node->n_inputs && node->inputs[weights[i]] &&
            !is_static(node->inputs[weights[i]]))
            return false;
    return true;
}

/* Behind the n first names of a list. */
static const char *behind_names(const char *at, int n)
{
    for (; n > 0 && *at; n--) {
        at += strcspn(at, ",");
        at += *at == ',';
    }
    return at;
}

/* Whether both directions have the same n functions, as the kernels want it. */
static bool are_directions_alike(const struct rnn_attrs *rnn, int directions, int n)
{
    const char *second = behind_names(rnn->activations, n);
    bool alike = true;

    if (directions == 1)
        return true;
    for (int i = 0; i < n && alike; i++)
        alike = rnn->activation_alpha.at[i] == rnn->activation_alpha.at[n + i] &&
                rnn->activation_beta.at[i] == rnn->activation_beta.at[n + i];
    return alike && strncmp(rnn->activations, second, strlen(second)) == 0;
}

bool convert_rnn(struct onnx_node *node)
{
    const struct rnn_kind *kind = rnn_kind((enum op)node->arg);
    union attrs attrs = { .rnn = { .direction = "" } };
    struct rnn_attrs *rnn = &attrs.rnn;
    struct value *inputs[8] = { NULL };
    const char *missing = kind->activations;
    int directions, n_inputs = 3;

    if (!onnx_check_inputs(node, 3, kind->n_inputs) || !onnx_check_kind(node, 0, TAKES_FLOAT) ||
        !onnx_check_rank(node, 0, 3, 3) || !onnx_check_rank(node, 2, 3, 3))
        return false;
    directions = read_direction(node, rnn);
    rnn->hidden_size = onnx_int(node, "hidden_size", onnx_input(node, 2)->type.dim[2]);
    rnn->clip = onnx_real(node, "clip", 0);
    rnn->linear_before_reset = onnx_int(node, "linear_before_reset", 0) != 0;
    rnn->input_forget = onnx_int(node, "input_forget", 0) != 0;
    rnn->batch_major = onnx_int(node, "layout", 0) != 0;
    if (directions == 0 || !onnx_ok(node))
        return false;
    if (rnn->hidden_size < 1 || rnn->hidden_size > INT32_MAX)
        return bad_attribute(node, "attribute hidden_size is %lld, wanted 1 or more",
                             (long long)rnn->hidden_size);
    if (directions == 2)
        missing = arena_printf(&node->ctx->perm, "%s,%s", missing, missing);
    if (!check_shapes(node, kind, rnn, directions) ||
        !read_activations(node, directions * kind->n_activations, missing, rnn))
        return false;
    if (!has_known_weights(node) || !are_directions_alike(rnn, directions, kind->n_activations))
        return rnn_in_steps(node, (enum op)node->arg, rnn);
    for (int i = 0; i < kind->n_inputs; i++)
        inputs[i] = onnx_input(node, i);
    inputs[4] = sequence_lengths(node, inputs[0]->type.dim[rnn->batch_major ? 1 : 0]);
    for (int i = 3; i < kind->n_inputs; i++)
        n_inputs = inputs[i] ? i + 1 : n_inputs;
    return output_node(node, (enum op)node->arg, &attrs, n_inputs, inputs, kind->n_outputs);
}
