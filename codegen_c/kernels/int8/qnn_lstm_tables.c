/* qnn_lstm_tables.c - qnn.lstm_tables, one time step after the other; the arithmetic is that of
 * relay_ir/ops/qnn_lstm_tables.c. The hidden state of a step is read from where y has that of the step before. */
#include <inttypes.h>

#include "codegen_c/core/anchor.h"
#include "relay_ir/ops/q15.h"
#include "relay_ir/ops/qnn_lstm_tables.h"

static bool accepts_qnn_lstm_tables(const struct region *region, const char **why)
{
    if (!takes_sizes(region, why))
        return false;
    for (int i = LSTM_W; i < region->anchor->n_inputs; i++)
        if (i != LSTM_H && i != LSTM_C && region->anchor->inputs[i]->kind != VALUE_CONSTANT) {
            *why = "a weight, bias or factor is not known at compile time";
            return false;
        }
    return true;
}

/* Sets both keys to the multipliers and shifts of four gates. */
static void bind_gates(struct bind *bind, const char *factor, const char *shift,
                       const struct fixed_point *of)
{
    bind_text(bind, factor, "%" PRId32 ", %" PRId32 ", %" PRId32 ", %" PRId32, of[0].multiplier,
              of[1].multiplier, of[2].multiplier, of[3].multiplier);
    bind_text(bind, shift, "%d, %d, %d, %d", of[0].shift, of[1].shift, of[2].shift, of[3].shift);
}

static void bind_factor(struct bind *bind, const char *key, struct fixed_point of)
{
    bind_text(bind, key, "%" PRId32 ", %d", of.multiplier, of.shift);
}

static void bind_logistic(struct bind *bind)
{
    uint16_t *entries = table_new(bind, DTYPE_U16, Q15_ENTRIES);

    for (int i = 0; i < Q15_ENTRIES; i++)
        entries[i] = q15_entry(i);
    bind_table(bind, "table", "logistic_table", DTYPE_U16, Q15_ENTRIES, entries);
}

static void bind_numbers(struct bind *bind, const struct lstm_numbers *numbers, int64_t h_zero)
{
    bind_gates(bind, "x_factor", "x_shift", numbers->sum);
    bind_gates(bind, "h_factor", "h_shift", numbers->sum + 4);
    bind_factor(bind, "keep", numbers->keep);
    bind_factor(bind, "take", numbers->take);
    bind_factor(bind, "show", numbers->show);
    bind_text(bind, "c_least", "%d", numbers->c_least);
    bind_text(bind, "c_most", "%d", numbers->c_most);
    bind_text(bind, "plus_zero", h_zero ? " %c %d" : "", h_zero < 0 ? '-' : '+',
              (int)(h_zero < 0 ? -h_zero : h_zero));
    if (numbers->c_shift)
        bind_text(bind, "c_scaled", "shift_down(cell[k] * %d + %d, %d)", numbers->c_factor,
                  1 << (numbers->c_shift - 1), numbers->c_shift);
    else
        bind_text(bind, "c_scaled", "cell[k] * %d", numbers->c_factor);
}

/* Sums of products with a row: in 64 bits if it may need them. */
static void bind_weigh(struct bind *bind, const char *key, const struct value *weights)
{
    const char *helper = lstm_fits_32_bits(weights) ? "weigh_i16" : "weigh_wide_i16";

    bind_text(bind, key, "%s", helper);
    bind_helper(bind, helper);
}

/* Quantised values of 16 bits: biases of 64 bits, and none of the hidden state, which has no zero point. */
static void bind_width(struct bind *bind, bool wide)
{
    const struct node *node = bind->region->anchor;

    bind_flag(bind, "wide", wide);
    bind_text(bind, "least", wide ? "INT16_MIN" : "INT8_MIN");
    bind_text(bind, "most", wide ? "INT16_MAX" : "INT8_MAX");
    if (wide) {
        bind_weigh(bind, "weigh_x", node->inputs[LSTM_W]);
        bind_weigh(bind, "weigh_h", node->inputs[LSTM_R]);
        bind_helper(bind, "requantize_wide");
    } else {
        bind_input(bind, "h_bias", LSTM_H_BIAS);
        bind_helper(bind, "weigh_i8");
    }
}

static bool bind_qnn_lstm_tables(struct bind *bind)
{
    static const char *const helpers[] = { "clamp_int", "requantize", "logistic_q15", "tanh_q15",
                                           "shift_down" };
    const struct node *node = bind->region->anchor;
    const struct lstm_sizes s = lstm_sizes_of(node);
    const struct lstm_numbers numbers = lstm_numbers_of(node, node->inputs[LSTM_FACTORS]->data);

    bind_type(bind);
    bind_int(bind, "steps", s.steps);
    bind_int(bind, "batch", s.batch);
    bind_int(bind, "in", s.input);
    bind_int(bind, "hidden", s.hidden);
    bind_text(bind, "c_power", "%d", (int)node->attrs.lstm_tables.c_power);
    bind_text(bind, "at", node->attrs.lstm_tables.time_major ? "t * BATCH + b" : "b * STEPS + t");
    bind_input(bind, "x", LSTM_X);
    bind_input(bind, "weight", LSTM_W);
    bind_input(bind, "recurrent", LSTM_R);
    bind_input(bind, "x_bias", LSTM_X_BIAS);
    bind_width(bind, anchor_input(bind->region, LSTM_X)->dtype == DTYPE_I16);
    bind_input(bind, "h", LSTM_H);
    bind_input(bind, "c", LSTM_C);
    bind_text(bind, "y", "%s", bind->region->results[0]);
    bind_text(bind, "c_out", "%s", bind->region->results[1]);
    bind_logistic(bind);
    bind_numbers(bind, &numbers, node->attrs.lstm_tables.h_zero);
    for (size_t i = 0; i < sizeof helpers / sizeof *helpers; i++)
        bind_helper(bind, helpers[i]);
    return true;
}

const struct kernel kernel_qnn_lstm_tables = {
    .name = "qnn_lstm_tables",
    .sums = SUMS_NONE,
    .forms = { { OPS(OP_QNN_LSTM_TABLES), accepts_qnn_lstm_tables, bind_qnn_lstm_tables } },
};
