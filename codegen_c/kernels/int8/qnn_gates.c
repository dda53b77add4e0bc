/* qnn_gates.c - see qnn_gates.h. */
#include "codegen_c/kernels/int8/qnn_gates.h"

#include <inttypes.h>
#include <string.h>

/* --- tables ----------------------------------------------------------------------------------- */

/* The C name of a filled table, "output_suffix", as a constant array. */
static const char *array_of(struct bind *bind, const char *suffix, enum dtype dtype, int64_t n,
                            const void *table)
{
    const struct type type = type_make(dtype, 1, &n);
    const char *name =
        arena_printf(bind->arena, "%s_%s", bind->region->anchor->outputs[0]->name, suffix);

    return bind_operand(bind, constant_new(bind->region->fn, name, &type, table));
}

const char *bind_qnn_numbers(struct bind *bind, const char *suffix, const int32_t *numbers,
                             int64_t n)
{
    int32_t *table = table_new(bind, DTYPE_I32, n);

    memcpy(table, numbers, (size_t)n * sizeof *table);
    return array_of(bind, suffix, DTYPE_I32, n, table);
}

static bool any(const int32_t *numbers, int64_t n)
{
    bool found = false;

    for (int64_t i = 0; i < n; i++)
        found = found || numbers[i];
    return found;
}

bool bind_qnn_optional(struct bind *bind, const char *key, const int32_t *numbers, int64_t n)
{
    const bool given = numbers && any(numbers, n);

    if (given)
        bind_text(bind, key, "%s", bind_qnn_numbers(bind, key, numbers, n));
    return given;
}

void bind_qnn_tables(struct bind *bind, const struct qnn_recurrent *of)
{
    static const char *const names[] = { "tanh", "exp", "softplus" };
    static const char *const contents[] = { "tanh(k / 64)", "1 - exp(-k / 64)",
                                            "log(2) - log(1 + exp(-k / 64))" };
    struct str lines = { .arena = bind->arena };

    for (enum qnn_table table = 0; table < QNN_TABLE_NONE; table++) {
        const int n = qnn_table_size(table);
        uint16_t *entries;
        bool used = false;

        for (int64_t d = 0; d < of->sizes.directions; d++)
            for (int i = 0; i < of->kind->n_activations; i++)
                used = used || qnn_gate_table(of->gate[d][i].function) == table;
        if (!used)
            continue;
        entries = table_new(bind, DTYPE_U16, n);
        for (int i = 0; i < n; i++)
            entries[i] = qnn_table_entry(table, i);
        str_printf(&lines, "%sconst uint16_t *const %s_table = %s; /* [%d] %s in 2^-15 */",
                   lines.n ? "\n" : "", names[table],
                   array_of(bind, names[table], DTYPE_U16, n, entries), n, contents[table]);
    }
    bind_text(bind, "tables", "%s", str_text(&lines));
}

/* --- activation functions --------------------------------------------------------------------- */

static const struct {
    const char *helper;
    int n_numbers;
} functions[RNN_FUNCTION_COUNT] = {
    [RNN_AFFINE] = { "gate_affine", 2 },
    [RNN_ELU] = { "gate_elu", 1 },
    [RNN_HARD_SIGMOID] = { "gate_hard_sigmoid", 2 },
    [RNN_LEAKY_RELU] = { "gate_leaky_relu", 1 },
    [RNN_RELU] = { "gate_relu", 0 },
    [RNN_SCALED_TANH] = { "gate_scaled_tanh", 2 },
    [RNN_SIGMOID] = { "gate_sigmoid", 0 },
    [RNN_SOFTPLUS] = { "gate_softplus", 0 },
    [RNN_SOFTSIGN] = { "gate_softsign", 0 },
    [RNN_TANH] = { "gate_tanh", 0 },
    [RNN_THRESHOLDED_RELU] = { "gate_thresholded_relu", 1 },
};

static const char *function_call(struct bind *bind, const struct qnn_gate *gate, const char *v)
{
    static const char *const names[] = { "tanh", "exp", "softplus" };
    const enum qnn_table table = qnn_gate_table(gate->function);
    struct str call = { .arena = bind->arena };

    bind_helper(bind, functions[gate->function].helper);
    str_printf(&call, "%s(%s", functions[gate->function].helper, v);
    if (functions[gate->function].n_numbers > 0)
        str_printf(&call, ", %" PRId32, gate->alpha);
    if (functions[gate->function].n_numbers > 1)
        str_printf(&call, ", %" PRId32, gate->beta);
    if (table != QNN_TABLE_NONE)
        str_printf(&call, ", %s_table", names[table]);
    return arena_printf(bind->arena, "%s)", str_text(&call));
}

void bind_qnn_gate(struct bind *bind, const char *key, const struct qnn_recurrent *of, int i,
                   const char *v)
{
    const struct qnn_gate *first = &of->gate[0][i], *second = &of->gate[1][i];
    const char *sum = arena_printf(bind->arena, "saturate_int(%s, SUM_LEAST, SUM_MOST)", v);
    const char *call = function_call(bind, first, sum);

    if (of->sizes.directions == 2 && (first->function != second->function ||
                                      first->alpha != second->alpha || first->beta != second->beta))
        call = arena_printf(bind->arena, "d == 0 ? %s\n    : %s", call,
                            function_call(bind, second, sum));
    bind_text(bind, key, "%s", call);
}
