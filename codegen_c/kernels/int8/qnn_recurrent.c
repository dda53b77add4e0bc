/* qnn_recurrent.c - qnn.rnn, qnn.gru and qnn.lstm, one time step after the other, in integers; the
 * arithmetic is that of relay_ir/ops/qnn_rnn.c. The states are scratch. */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "codegen_c/expr/exact_steps.h"
#include "codegen_c/expr/scalar_exact.h"
#include "codegen_c/kernels/int8/qnn_gates.h"
#include "relay_ir/walk.h"

/* Inputs that may be computed at run time; all others are constants. */
static bool may_be_computed(int input)
{
    return input == QNN_RNN_X || input == QNN_RNN_LENGTHS || input == QNN_RNN_H ||
           input == QNN_RNN_C;
}

/* The node's integer parameters; of computed inputs only the types matter. */
static bool integers_of(const struct region *region, struct bulk *bulk, struct qnn_recurrent *of,
                        const char **why)
{
    const struct node *node = region->anchor;
    struct tensor tensors[QNN_RNN_INPUTS];
    const struct tensor *in[QNN_RNN_INPUTS] = { NULL };

    for (int i = 0; i < node->n_inputs; i++) {
        const struct value *value = node->inputs[i];

        if (!value)
            continue;
        if (value->kind == VALUE_CONSTANT)
            tensors[i] = value_tensor(value);
        else
            tensors[i] = (struct tensor){ .type = value->type };
        in[i] = &tensors[i];
    }
    return qnn_recurrent_of(node, in, bulk, of, why);
}

static bool accepts_qnn_recurrent(const struct region *region, const char **why)
{
    const struct node *node = region->anchor;
    struct bulk bulk = { NULL, 0 };
    struct qnn_recurrent of;
    bool ok;

    if (!takes_sizes(region, why))
        return false;
    for (int i = 0; i < node->n_inputs; i++)
        if (node->inputs[i] && node->inputs[i]->kind != VALUE_CONSTANT && !may_be_computed(i)) {
            *why = "a weight, bias, scale or zero point is not known at compile time";
            return false;
        }
    ok = integers_of(region, &bulk, &of, why);
    bulk_release(&bulk);
    return ok;
}

/* --- states ----------------------------------------------------------------------------------- */

/* " + 3", " - 3", or "". */
static const char *plus(struct bind *bind, int64_t number)
{
    return number ? arena_printf(bind->arena, " %c %" PRId64, number < 0 ? '-' : '+',
                                 number < 0 ? -number : number)
                  : "";
}

static bool has_input(const struct bind *bind, int input)
{
    return anchor_input(bind->region, input) != NULL;
}

/* Whether output i is read: the region returns it then (op_leaves_results). */
static bool has_result(const struct bind *bind, int i)
{
    return bind->region->anchor->outputs[i]->uses != NULL;
}

/* If output i is read, sets `key` to its name and `code` to the quantised `v`. */
static void bind_result(struct bind *bind, const char *key, const char *code, int i,
                        const struct qnn_state *state, const char *v)
{
    const struct node *ret = bind->region->fn->ret;
    int k = 0;

    if (!has_result(bind, i))
        return;
    while (ret->inputs[k] != bind->region->anchor->outputs[i])
        k++;
    bind_text(bind, key, "%s", bind->region->results[k]);
    if (state->format) {
        bind_text(bind, code, "scale_to_minifloat(%s, %" PRId32 ", %d, %s)", v,
                  state->exact.multiplier, state->exact.shift,
                  exact_format_text(bind->arena, state->format));
        bind_helper(bind, "scale_to_minifloat");
        return;
    }
    bind_text(bind, code,
              "(%s)saturate_int(%srequantize_once(%s, %" PRId32 ", %d)%s, %" PRId64 ", %" PRId64
              ")",
              dtype_c_type(state->dtype), state->zero ? "(int64_t)" : "", v,
              state->factor.multiplier, state->factor.shift, plus(bind, state->zero),
              (int64_t)dtype_least(state->dtype), (int64_t)dtype_greatest(state->dtype));
    bind_helper(bind, "requantize_once");
}

/* The initial state from element `at + k` of its quantised values, or 0. */
static const char *initial_state(struct bind *bind, const struct qnn_state *state, int input)
{
    if (!has_input(bind, input))
        return "0";
    if (state->format) {
        bind_helper(bind, "scale_to_i64");
        return arena_printf(
            bind->arena,
            "saturate_int(scale_to_i64(%s[%s[at + k]], %" PRId32 ", %d), INT32_MIN, INT32_MAX)",
            exact_steps_table(bind, input), bind_operand(bind, bind->region->anchor->inputs[input]),
            state->exact.multiplier, state->exact.shift);
    }
    bind_helper(bind, "requantize_once");
    return arena_printf(bind->arena, "requantize_once(%s[at + k]%s, %" PRId32 ", %d)",
                        bind_operand(bind, bind->region->anchor->inputs[input]),
                        plus(bind, -state->zero), state->factor.multiplier, state->factor.shift);
}

/* The type of the hidden state: FP8 sums read 32-bit integers. */
static const char *h_type(const struct qnn_recurrent *of)
{
    return of->exact ? "int32_t" : "int16_t";
}

static const char *to_h(const struct qnn_recurrent *of)
{
    return of->exact ? "" : "(int16_t)";
}

/* Sets `key` to `v`, in 2^-bits, as a hidden state. */
static void bind_hidden(struct bind *bind, const char *key, const struct qnn_recurrent *of,
                        const char *v, int bits)
{
    const int shift = bits - of->h_bits;
    const char *moved = shift ? arena_printf(bind->arena, "shift_to_nearest(%s, %d)", v, shift) : v;

    bind_text(bind, key, "%ssaturate_int(%s, H_LEAST, H_MOST)", to_h(of), moved);
}

/* --- kernels ---------------------------------------------------------------------------------- */

/* Indices of time step t of x and y, and of the state, for direction d and batch entry n. */
static void bind_places(struct bind *bind, const struct qnn_recurrent *of)
{
    const struct rnn_attrs *attrs = &bind->region->anchor->attrs.rnn;
    const bool batch_major = attrs->batch_major, both = of->sizes.directions == 2;
    const bool reverse = rnn_is_reverse(bind->region->anchor, 0);

    bind_text(bind, "x_at", batch_major ? "(n * STEPS + t)" : "(t * BATCH + n)");
    bind_text(bind, "y_at",
              batch_major ? "((n * STEPS + t) * DIRECTIONS + d)"
                          : "((t * DIRECTIONS + d) * BATCH + n)");
    bind_text(bind, "h_at", batch_major ? "(n * DIRECTIONS + d)" : "(d * BATCH + n)");
    bind_text(bind, "step_time",
              both      ? "d == 0 ? step : len - 1 - step"
              : reverse ? "len - 1 - step"
                        : "step");
    bind_flag(bind, "ragged", has_input(bind, QNN_RNN_LENGTHS));
    if (has_input(bind, QNN_RNN_LENGTHS))
        bind_input(bind, "lengths", QNN_RNN_LENGTHS);
}

/* 32-bit sums of products with i8, and their factors. */
static void bind_sums(struct bind *bind, bool begins_with_0)
{
    const char *weigh = arena_printf(bind->arena, "weigh_%s",
                                     dtype_name(anchor_input(bind->region, QNN_RNN_X)->dtype));

    bind_helper(bind, weigh);
    bind_helper(bind, "weigh_i16");
    bind_text(bind, "tsum", "int32_t");
    bind_text(bind, "sum_x", "%s(&weight[line * IN], in, IN, %s)", weigh,
              begins_with_0 ? "0" : "x_start[line]");
    bind_text(bind, "sum_h", "weigh_i16(&recurrent[line * HIDDEN], h, HIDDEN, 0)");
    keys_offer(bind->keys, "sum_reset_h",
               "weigh_i16(&recurrent[line * HIDDEN], reset_h, HIDDEN, 0)");
    bind_text(bind, "scaled_x", "shift_to_nearest((int64_t)from_x * x_factor[row], X_SHIFT)");
    bind_text(bind, "scaled_h", "shift_to_nearest((int64_t)from_h * h_factor[row], H_SHIFT)");
}

/* The same for FP8, in 64 bits. */
static void bind_exact_sums(struct bind *bind)
{
    const struct minifloat *x = type_minifloat(anchor_input(bind->region, QNN_RNN_X));
    const struct minifloat *w = type_minifloat(anchor_input(bind->region, QNN_RNN_W));
    const struct minifloat *r = type_minifloat(anchor_input(bind->region, QNN_RNN_R));
    const char *dot_x = exact_dot(bind, w, exact_greatest(x)), *dot_h = exact_dot(bind, r, 1 << 15);
    const char *w_steps = exact_steps_table(bind, QNN_RNN_W),
               *r_steps = exact_steps_table(bind, QNN_RNN_R);

    bind_helper(bind, "scale_to_i64");
    bind_text(bind, "x_steps", "%s", exact_steps_table(bind, QNN_RNN_X));
    bind_text(bind, "tsum", "int64_t");
    bind_text(bind, "sum_x", "%s(%s, &weight[line * IN], in, IN)", dot_x, w_steps);
    bind_text(bind, "sum_h", "%s(%s, &recurrent[line * HIDDEN], h, HIDDEN)", dot_h, r_steps);
    keys_offer(bind->keys, "sum_reset_h",
               arena_printf(bind->arena, "%s(%s, &recurrent[line * HIDDEN], reset_h, HIDDEN)",
                            dot_h, r_steps));
    bind_text(bind, "scaled_x",
              "(int64_t)saturate_int(scale_to_i64(from_x, x_factor[row], -X_SHIFT), INT32_MIN, "
              "INT32_MAX)");
    bind_text(bind, "scaled_h",
              "saturate_int(scale_to_i64(from_h, h_factor[row], -H_SHIFT), INT32_MIN, INT32_MAX)");
}

static void bind_weights(struct bind *bind, const struct qnn_recurrent *of)
{
    const int64_t rows = of->sizes.rows, n = of->sizes.directions * rows;
    const bool starts = bind_qnn_optional(bind, "x_start", of->x_start, n);

    bind_flag(bind, "exact", of->exact);
    if (of->exact)
        bind_exact_sums(bind);
    else
        bind_sums(bind, !starts);
    bind_text(bind, "th", "%s", h_type(of));
    keys_offer(bind->keys, "as_h", of->exact ? "" : "(int16_t *)"); /* 32 bits already */
    keys_offer(bind->keys, "to_h", to_h(of));
    bind_text(bind, "tw", "%s", dtype_c_type(anchor_input(bind->region, QNN_RNN_W)->dtype));
    bind_text(bind, "tr", "%s", dtype_c_type(anchor_input(bind->region, QNN_RNN_R)->dtype));
    bind_input(bind, "weight", QNN_RNN_W);
    bind_input(bind, "recurrent", QNN_RNN_R);
    bind_text(bind, "x_factor", "%s", bind_qnn_numbers(bind, "x_factor", of->x_factor, rows));
    bind_text(bind, "h_factor", "%s", bind_qnn_numbers(bind, "h_factor", of->h_factor, rows));
    bind_int(bind, "x_shift", of->x_shift);
    bind_int(bind, "h_shift", of->h_shift);
    bind_text(bind, "plus_bias", "%s",
              bind_qnn_optional(bind, "bias", of->bias, n) ? " + bias[line]" : "");
}

static void bind_states(struct bind *bind, const struct qnn_recurrent *of)
{
    const char *h = initial_state(bind, &of->initial_h, QNN_RNN_H);

    if (strcmp(h, "0") != 0)
        h = arena_printf(bind->arena, "%ssaturate_int(%s, H_LEAST, H_MOST)", to_h(of), h);
    bind_text(bind, "initial_h", "%s", h);
    bind_int(bind, "h_bits", of->h_bits);
    bind_int(bind, "h_most", of->h_most);
    bind_result(bind, "y", "y_code", 0, &of->y, "h[k]");
    bind_result(bind, "last_h", "last_h_code", 1, &of->last_h, "h[k]");
    bind_flag(bind, "states", /* whether their quantised form is needed */
              has_input(bind, QNN_RNN_H) || has_input(bind, QNN_RNN_C) || has_result(bind, 1) ||
                  (of->kind->op == OP_LSTM && has_result(bind, 2)));
}

static void bind_all(struct bind *bind, const struct qnn_recurrent *of)
{
    bind_type(bind);
    bind_include(bind, "string.h");
    bind_helper(bind, "saturate_int");
    bind_helper(bind, "shift_to_nearest");
    bind_text(bind, "y_zero", "%" PRId64, of->y.zero);
    bind_input(bind, "x", QNN_RNN_X);
    bind_int(bind, "steps", of->sizes.steps);
    bind_int(bind, "batch", of->sizes.batch);
    bind_int(bind, "in", of->sizes.input);
    bind_int(bind, "hidden", of->sizes.hidden);
    bind_int(bind, "directions", of->sizes.directions);
    bind_text(bind, "sum_most", "%s",
              of->clip ? arena_printf(bind->arena, "%" PRId32, of->clip) : "INT32_MAX");
    bind_text(bind, "sum_least", "%s", of->clip ? "-SUM_MOST" : "INT32_MIN");
    bind_weights(bind, of);
    bind_qnn_tables(bind, of);
    bind_places(bind, of);
    bind_states(bind, of);
}

/* The integer parameters, in memory that the caller releases. */
static struct qnn_recurrent begin(struct bind *bind, struct bulk *bulk)
{
    struct qnn_recurrent of;
    const char *why;
    const bool ok = integers_of(bind->region, bulk, &of, &why);

    assert(ok);
    (void)ok;
    bind_all(bind, &of);
    return of;
}

/* Claims scratch for 32-bit values and hidden states per unit, and for x as integers. */
static bool end(struct bind *bind, struct bulk *bulk, const struct qnn_recurrent *of,
                int64_t n_wide)
{
    const int64_t bytes = n_wide * 4 + 2 * (of->exact ? 4 : 2);

    bind_scratch(bind, (size_t)(bytes * of->sizes.hidden + (of->exact ? 4 * of->sizes.input : 0)));
    bulk_release(bulk);
    return true;
}

static bool bind_qnn_rnn(struct bind *bind)
{
    struct bulk bulk = { NULL, 0 };
    const struct qnn_recurrent of = begin(bind, &bulk);

    bind_qnn_gate(bind, "f", &of, 0, "of_x + of_h");
    bind_hidden(bind, "hidden_of_gate", &of, "gate", QNN_GATE_BITS);
    return end(bind, &bulk, &of, 0);
}

static bool bind_qnn_gru(struct bind *bind)
{
    struct bulk bulk = { NULL, 0 };
    const struct qnn_recurrent of = begin(bind, &bulk);
    const bool linear = bind->region->anchor->attrs.rnn.linear_before_reset;

    bind_flag(bind, "linear", linear);
    bind_qnn_gate(bind, "update", &of, 0, "sum[0]");
    bind_qnn_gate(bind, "reset", &of, 0, "sum[1]");
    bind_qnn_gate(bind, "change", &of, 1, "to_change");
    bind_text(bind, "times_unit", "%s",
              of.h_bits == QNN_GATE_BITS
                  ? ""
                  : arena_printf(bind->arena, " * %d", 1 << (QNN_GATE_BITS - of.h_bits)));
    bind_hidden(bind, "hidden_of_sum", &of, "moved", 2 * QNN_GATE_BITS);
    bind_text(bind, "plus_h_bias", "%s",
              bind_qnn_optional(bind, "h_bias", of.h_bias, of.sizes.directions * of.sizes.hidden)
                  ? " + h_bias[d * HIDDEN + k]"
                  : "");
    return end(bind, &bulk, &of, linear ? 0 : 1);
}

/* A sum, plus that of the peephole if there is one. */
static const char *seeing(struct bind *bind, const struct qnn_recurrent *of, const char *sum,
                          const char *cell, const char *peephole)
{
    return of->peephole ? arena_printf(bind->arena, "%s + shift_to_nearest((int64_t)%s * %s, %d)",
                                       sum, cell, peephole, of->p_shift)
                        : sum;
}

static bool bind_qnn_lstm(struct bind *bind)
{
    struct bulk bulk = { NULL, 0 };
    const struct qnn_recurrent of = begin(bind, &bulk);

    bind_text(bind, "initial_c", "%s", initial_state(bind, &of.initial_c, QNN_RNN_C));
    bind_result(bind, "last_c", "last_c_code", 2, &of.last_c, "cell[k]");
    bind_qnn_optional(bind, "peephole", of.peephole, 3 * of.sizes.directions * of.sizes.hidden);
    bind_flag(bind, "input_forget", bind->region->anchor->attrs.rnn.input_forget);
    bind_qnn_gate(bind, "input_gate", &of, 0, seeing(bind, &of, "sum[0]", "old", "p[0]"));
    bind_qnn_gate(bind, "forget_gate", &of, 0,
                   seeing(bind, &of, "sum[2]", "old", "p[2 * HIDDEN]"));
    bind_qnn_gate(bind, "output_gate", &of, 0, seeing(bind, &of, "sum[1]", "now", "p[HIDDEN]"));
    bind_qnn_gate(bind, "change", &of, 1, "sum[3]");
    bind_qnn_gate(bind, "shown", &of, 2, "now");
    bind_hidden(bind, "hidden_of_gates", &of, "(int64_t)out_gate * shown", 2 * QNN_GATE_BITS);
    return end(bind, &bulk, &of, 1);
}

const struct kernel kernel_qnn_gru = {
    .name = "qnn_gru",
    .sums = SUMS_NONE,
    .forms = { { OPS(OP_QNN_GRU), accepts_qnn_recurrent, bind_qnn_gru } },
};

const struct kernel kernel_qnn_lstm = {
    .name = "qnn_lstm",
    .sums = SUMS_NONE,
    .forms = { { OPS(OP_QNN_LSTM), accepts_qnn_recurrent, bind_qnn_lstm } },
};

const struct kernel kernel_qnn_rnn = {
    .name = "qnn_rnn",
    .sums = SUMS_NONE,
    .forms = { { OPS(OP_QNN_RNN), accepts_qnn_recurrent, bind_qnn_rnn } },
};
