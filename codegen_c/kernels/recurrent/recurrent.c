/* recurrent.c - nn.rnn, nn.gru and nn.lstm, one time step after the other.
 *
 * Products with the state depend on the step before; products with the inputs do not. In f32
 * register tiles (tile.h) take the latter for several steps at once and read the weights once for
 * all of them, with the same sums: one per row, over the inputs in order. The weights of all gates
 * are one packed matrix. The state lives in the outputs that return its last value. */
#include <string.h>

#include "base/str.h"
#include "codegen_c/core/anchor.h"
#include "codegen_c/microkernel/gemv.h"
#include "codegen_c/microkernel/tile.h"

enum { PANEL = 4 }; /* the layout of matvec_f64 */

/* The activation functions and their parameters. */
static const struct activation {
    const char *name, *function;
    int n_numbers;
} activations[] = {
    { "Affine", "affine", 2 },
    { "Elu", "elu", 1 },
    { "HardSigmoid", "hard_sigmoid", 2 },
    { "LeakyRelu", "leaky_relu", 1 },
    { "Relu", "relu", 0 },
    { "ScaledTanh", "scaled_tanh", 2 },
    { "Sigmoid", "sigmoid", 0 },
    { "Softplus", "softplus", 0 },
    { "Softsign", "softsign", 0 },
    { "Tanh", "tanh", 0 },
    { "ThresholdedRelu", "thresholded_relu", 1 },
};

/* Entry i of a list such as "Sigmoid,Tanh"; NULL if there is none, or it is unknown. */
static const struct activation *activation_at(const char *list, int i)
{
    for (; i > 0 && list; i--) {
        list = strchr(list, ',');
        list = list ? list + 1 : NULL;
    }
    for (size_t k = 0; list && k < sizeof activations / sizeof *activations; k++) {
        const size_t n = strlen(activations[k].name);

        if (strncmp(list, activations[k].name, n) == 0 && (list[n] == ',' || list[n] == '\0'))
            return &activations[k];
    }
    return NULL;
}

static bool is_bidirectional(const struct region *region)
{
    return strcmp(region->anchor->attrs.rnn.direction, "bidirectional") == 0;
}

static int n_gates(enum op op)
{
    return op == OP_LSTM ? 4 : op == OP_GRU ? 3 : 1;
}

static int n_activations(enum op op)
{
    return op == OP_LSTM ? 3 : op == OP_GRU ? 2 : 1;
}

static bool accepts_recurrent(const struct region *region, const char **why)
{
    const struct rnn_attrs *attrs = &region->anchor->attrs.rnn;
    const int n = n_activations(region->anchor->op);

    if (!takes_float(region, why) || !takes_constant(region, 1, why) ||
        !takes_constant(region, 2, why))
        return false;
    for (int i = 0; i < (is_bidirectional(region) ? 2 * n : n); i++) {
        if (!activation_at(attrs->activations, i)) {
            *why = "an activation function is not known";
            return false;
        }
        if (i >= n &&
            (activation_at(attrs->activations, i) != activation_at(attrs->activations, i - n) ||
             attrs->activation_alpha.at[i] != attrs->activation_alpha.at[i - n] ||
             attrs->activation_beta.at[i] != attrs->activation_beta.at[i - n])) {
            *why = "the two directions have different activation functions";
            return false;
        }
    }
    return true;
}

/* Sets `key` to the call of activation function i with argument `v`, clipped before. */
static void bind_activation(struct bind *bind, const char *key, int i, const char *v)
{
    const struct rnn_attrs *attrs = &bind->region->anchor->attrs.rnn;
    const struct activation *activation = activation_at(attrs->activations, i);
    const enum dtype dtype = anchor_input(bind->region, 0)->dtype;
    const char *suffix = dtype_name(dtype);
    struct str call = { .arena = bind->arena };

    if (attrs->clip > 0) {
        bind_helper(bind, arena_printf(bind->arena, "clamp_%s", suffix));
        v = arena_printf(bind->arena, "clamp_%s(%s, %s, %s)", suffix, v,
                         bind_literal(bind, dtype, -attrs->clip),
                         bind_literal(bind, dtype, attrs->clip));
    }
    bind_helper(bind, arena_printf(bind->arena, "%s_%s", activation->function, suffix));
    str_printf(&call, "%s_%s(%s", activation->function, suffix, v);
    if (activation->n_numbers > 0)
        str_printf(&call, ", %s", bind_literal(bind, dtype, attrs->activation_alpha.at[i]));
    if (activation->n_numbers > 1)
        str_printf(&call, ", %s", bind_literal(bind, dtype, attrs->activation_beta.at[i]));
    bind_text(bind, key, "%s)", str_text(&call));
}

static int64_t n_steps(const struct region *region)
{
    return anchor_input(region, 0)->dim[region->anchor->attrs.rnn.batch_major ? 1 : 0];
}

static int64_t n_sequences(const struct region *region)
{
    return anchor_input(region, 0)->dim[region->anchor->attrs.rnn.batch_major ? 0 : 1];
}

static int64_t n_rows(const struct region *region)
{
    return n_gates(region->anchor->op) * region->anchor->attrs.rnn.hidden_size;
}

static bool may_run_ahead(const struct region *region)
{
    return anchor_input(region, 0)->dtype == DTYPE_F32 && n_steps(region) > 1;
}

/* Whether the same step of several sequences of equal length is computed together: on CPUs whose
 * speed is worth a larger arena, see below. */
static bool goes_together(const struct region *region)
{
    return anchor_input(region, 0)->dtype == DTYPE_F32 && n_sequences(region) > 1 &&
           !anchor_input(region, 4) && region->machine->lanes > 1 && region->machine->l2_bytes > 0;
}

/* Without an L2 or vectors, and with --target generic, speed is not worth a larger arena. */
static size_t scratch_recurrent(const struct region *region)
{
    int pixels, channels;

    if (!may_run_ahead(region) || (region->machine->lanes > 1 && region->machine->l2_bytes > 0))
        return 0;
    tile_extents(region->machine, n_steps(region), n_rows(region), &pixels, &channels);
    if (region->choice) /* tuning may choose another tile */
        pixels = MOST_TILE_PIXELS;
    return (size_t)((pixels + 1) * n_rows(region)) * sizeof(float);
}

/* Packs a weight [directions, gates * hidden, len]: one matrix per direction or, for `gates` of
 * them, per gate. Sets panel_key to the panel width. */
static void bind_gate_weight(struct bind *bind, const char *key, int i, int64_t gates, int width,
                             const char *panel_key)
{
    const struct type *weight = anchor_input(bind->region, i);
    struct panels panels =
        gemv_panels(weight->dim[0] * gates, weight->dim[1] / gates, weight->dim[2], width);

    if (weight->dtype == DTYPE_F64) {
        panels.ragged = false;
        panels.slack = 0;
    }
    bind_int(bind, panel_key, width);
    bind_panels(bind, key, i, &panels,
                arena_printf(bind->arena, "%spanels of %d of %s",
                             panels.groups == 1 ? ""
                             : gates > 1        ? "of directions and gates, "
                                                : "of directions, ",
                             width, gates > 1 ? "hidden" : "gates and hidden"));
}

/* Sets `key` to the optional input i, and `flag`. */
static void bind_optional(struct bind *bind, const char *flag, const char *key, int i)
{
    const bool given = anchor_input(bind->region, i) != NULL;

    if (strcmp(flag, key) != 0)
        bind_flag(bind, flag, given);
    else if (!given)
        bind_text(bind, key, "%s", "");
    if (given)
        bind_input(bind, key, i);
}

/* Indices of time step t of x and y, and of the state, for direction d and batch entry n. */
static void bind_places(struct bind *bind)
{
    const bool batch_major = bind->region->anchor->attrs.rnn.batch_major;

    bind_text(bind, "x_at", batch_major ? "(n * STEPS + t)" : "(t * BATCH + n)");
    bind_text(bind, "y_at",
              batch_major ? "((n * STEPS + t) * DIRECTIONS + d)"
                          : "((t * DIRECTIONS + d) * BATCH + n)");
    bind_text(bind, "h_at", batch_major ? "(n * DIRECTIONS + d)" : "(d * BATCH + n)");
}

/* The time step of `step`, and the distances to the next step's inputs and to the next sequence's
 * inputs and state. */
static void bind_direction(struct bind *bind)
{
    const struct rnn_attrs *attrs = &bind->region->anchor->attrs.rnn;
    const char *len = goes_together(bind->region) ? "STEPS" : "len";
    const char *next = attrs->batch_major ? "IN" : "BATCH * IN";

    if (is_bidirectional(bind->region)) {
        bind_text(bind, "step_time", "d == 0 ? step : %s - 1 - step", len);
        bind_text(bind, "x_step", "d == 0 ? %s : -%s", next, next);
    } else if (strcmp(attrs->direction, "reverse") == 0) {
        bind_text(bind, "step_time", "%s - 1 - step", len);
        bind_text(bind, "x_step", "-%s", next);
    } else {
        bind_text(bind, "step_time", "step");
        bind_text(bind, "x_step", "%s", next);
    }
    bind_text(bind, "x_next", attrs->batch_major ? "STEPS * IN" : "IN");
    bind_text(bind, "h_next", attrs->batch_major ? "DIRECTIONS * HIDDEN" : "HIDDEN");
}

/* Whether the state's weights, read by each step, exceed the L2: steps then alternate the direction
 * in which they read them, and find the last ones still cached. */
static bool takes_turns(const struct bind *bind)
{
    const int64_t bytes =
        n_rows(bind->region) * bind->region->anchor->attrs.rnn.hidden_size * (int64_t)sizeof(float);

    return bind->machine->lanes > 0 && bind->machine->l2_bytes > 0 &&
           bytes > (int64_t)bind->machine->l2_bytes / 4 * 3;
}

/* Requests the matrix-vector functions: of the inputs' weights, if `alone`, and of the state's. */
static void bind_matvec(struct bind *bind, bool alone)
{
    const bool f64 = anchor_input(bind->region, 0)->dtype == DTYPE_F64;
    const bool turns = !f64 && takes_turns(bind);
    const char *plain = f64 ? "matvec_f64" : alone || !turns ? gemv_matvec(bind, false) : "";

    if (f64)
        bind_helper(bind, plain);
    bind_text(bind, "matvec", "%s", plain);
    bind_text(bind, "state_matvec", "%s", turns ? gemv_matvec(bind, true) : plain);
    bind_text(bind, "turn", "%s", turns ? "step % 2, " : "");
}

/* Requests the function that multiplies several steps, or sequences, at most `most`. Returns how
 * many at once. */
static int bind_rows(struct bind *bind, int64_t most)
{
    const struct tile tile = bind_tile_f32(bind, most, n_rows(bind->region), TILE_TAPS);
    const char *name = arena_printf(bind->arena, "rows_f32_of_%s", tile.fn);
    const char *fn = bind_own_helper(bind, name);
    struct keys keys;

    if (!fn) {
        bind_helper(bind, "wide_loops");
        keys_init(&keys, bind->arena);
        keys_set(&keys, "PIXELS", tile.pixels);
        keys_set(&keys, "TILE", tile.channels);
        keys_set(&keys, "tile_f32", tile.fn);
        keys_set_int(&keys, "panel", tile_panel(bind->machine));
        fn = bind_new_helper(bind, name, "templates/helpers/rows_f32.c.tmpl", &keys);
    }
    bind_text(bind, "rows", "%s", fn);
    return tile.most_pixels;
}

/* Claims scratch for the products of the steps computed together, and of the state, and for n_more
 * vectors of the state's length. */
static void bind_products(struct bind *bind, int64_t n_more)
{
    const struct region *region = bind->region;
    const bool together = goes_together(region);
    const bool ahead = !together && may_run_ahead(region) && !region->place.low_scratch;
    const bool f64 = anchor_input(region, 0)->dtype == DTYPE_F64;
    const int width = f64 ? PANEL : gemv_panel(bind->machine), tile = tile_panel(bind->machine);
    const bool waits =
        region->anchor->op == OP_GRU && !region->anchor->attrs.rnn.linear_before_reset;
    int64_t most = 1;

    if (!together)
        bind_matvec(bind, !ahead);
    if (together || ahead)
        most = bind_rows(bind, together ? n_sequences(region) : n_steps(region));
    keys_offer(bind->keys, "waits", waits && !together ? "1" : "");
    keys_offer(bind->keys, "all_wait", waits && together ? "1" : "");
    bind_flag(bind, "together", together);
    bind_flag(bind, "ahead", ahead);
    bind_flag(bind, "alone", !together && !ahead);
    bind_gate_weight(bind, "weight", 1, 1, together || ahead ? tile : width, "weight_panel");
    bind_gate_weight(bind, "recurrent", 2, waits ? n_gates(OP_GRU) : 1, together ? tile : width,
                     "panel");
    bind_scratch_elements(bind, (together ? 2 * most : most + 1) * n_rows(region) +
                                    (together ? most : 1) * n_more *
                                        region->anchor->attrs.rnn.hidden_size);
}

/* Vectorised functions use whole registers. */
static void bind_wide(struct bind *bind)
{
    const bool wide =
        bind->machine->lanes != 1 && anchor_input(bind->region, 0)->dtype == DTYPE_F32;

    if (wide)
        bind_helper(bind, "wide_loops");
    bind_text(bind, "wide", "%s", wide ? "WIDE_LOOPS " : "");
}

static void bind_recurrent(struct bind *bind)
{
    const struct node *node = bind->region->anchor;
    const struct rnn_attrs *attrs = &node->attrs.rnn;
    const struct type *x = anchor_input(bind->region, 0);

    bind_type(bind);
    keys_offer(bind->keys, "suffix", dtype_name(anchor_input(bind->region, 0)->dtype));
    bind_input(bind, "x", 0);
    bind_optional(bind, "biased", "bias", 3);
    bind_optional(bind, "lengths", "lengths", 4);
    bind_optional(bind, "initial_h", "initial_h", 5);
    bind_int(bind, "steps", n_steps(bind->region));
    bind_int(bind, "batch", x->dim[attrs->batch_major ? 0 : 1]);
    bind_int(bind, "in", x->dim[2]);
    bind_int(bind, "hidden", attrs->hidden_size);
    bind_int(bind, "directions", is_bidirectional(bind->region) ? 2 : 1);
    bind_places(bind);
    bind_direction(bind);
    bind_wide(bind);
}

static bool bind_rnn(struct bind *bind)
{
    bind_recurrent(bind);
    bind_activation(bind, "f_sum", 0, "sum");
    bind_products(bind, 0);
    return true;
}

static bool bind_gru(struct bind *bind)
{
    bind_recurrent(bind);
    bind_activation(bind, "f_update", 0, "to_update");
    bind_activation(bind, "f_reset", 0, "to_reset");
    bind_activation(bind, "g_hidden", 1, "to_hidden");
    bind_flag(bind, "linear_before_reset", bind->region->anchor->attrs.rnn.linear_before_reset);
    bind_products(bind, 1);
    return true;
}

static bool bind_lstm(struct bind *bind)
{
    bind_recurrent(bind);
    bind_optional(bind, "initial_c", "initial_c", 6);
    bind_optional(bind, "peephole", "peephole", 7);
    bind_flag(bind, "input_forget", bind->region->anchor->attrs.rnn.input_forget);
    bind_activation(bind, "f_input", 0, "to_input");
    bind_activation(bind, "f_forget", 0, "to_forget");
    bind_activation(bind, "f_output", 0, "to_output");
    bind_activation(bind, "g_cell", 1, "to_cell");
    bind_activation(bind, "h_cell", 2, "cell");
    bind_products(bind, 0);
    return true;
}

const struct kernel kernel_gru = {
    .name = "gru",
    .sums = SUMS_PLAIN,
    .fuses = true,
    .spares = scratch_recurrent,
    .forms = { { OPS(OP_GRU), accepts_recurrent, bind_gru } },
};

const struct kernel kernel_lstm = {
    .name = "lstm",
    .sums = SUMS_PLAIN,
    .fuses = true,
    .spares = scratch_recurrent,
    .forms = { { OPS(OP_LSTM), accepts_recurrent, bind_lstm } },
};

const struct kernel kernel_rnn = {
    .name = "rnn",
    .sums = SUMS_PLAIN,
    .fuses = true,
    .spares = scratch_recurrent,
    .forms = { { OPS(OP_RNN), accepts_recurrent, bind_rnn } },
};
