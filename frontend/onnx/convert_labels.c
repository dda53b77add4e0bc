/* convert_labels.c - LabelEncoder: a table from numbers or known strings to numbers or strings. */
#include <math.h>
#include <string.h>

#include "frontend/onnx/ml.h"

/* One side of the table: numbers, or strings. */
struct side {
    struct tensor numbers; /* n elements */
    struct ml_words words; /* else */
    int64_t n;             /* 0 = the side is missing */
    double missing;        /* the default, of numbers … */
    const char *missing_word;
};

static struct tensor numbers_of(struct onnx_node *node, enum dtype dtype, int64_t n,
                                const float *reals, const int64_t *ints)
{
    struct tensor out = { .type = type_make(dtype, 1, &n) };

    out.data = constant_alloc(node->fn, &out.type);
    for (int64_t i = 0; i < n; i++)
        if (reals)
            dtype_store(dtype, out.data, i, (double)reals[i]);
        else
            dtype_store_int(dtype, out.data, i, ints[i]);
    return out;
}

/* PREFIX_floats, PREFIX_int64s, PREFIX_strings or PREFIX_tensor: exactly one. */
static bool read_side(struct onnx_node *node, const char *prefix, struct side *side)
{
    struct arena *arena = &node->ctx->scratch;
    const char *tensor = arena_printf(arena, "%s_tensor", prefix);
    const struct ml_reals reals = ml_reals(node, arena_printf(arena, "%s_floats", prefix));
    const struct ml_ints ints = ml_ints(node, arena_printf(arena, "%s_int64s", prefix));

    side->words = ml_words(node, arena_printf(arena, "%s_strings", prefix));
    if (!onnx_ok(node))
        return false;
    if ((reals.n != 0) + (ints.n != 0) + (side->words.n != 0) + onnx_has(node, tensor) != 1)
        return bad_attribute(node, "%s: expected is one list of floats, integers or strings",
                             prefix);
    side->n = reals.n + ints.n + side->words.n;
    if (!onnx_granted(node, DTYPE_I64, (double)side->n))
        return false;
    if (reals.n)
        side->numbers = numbers_of(node, DTYPE_F32, reals.n, reals.at, NULL);
    else if (ints.n)
        side->numbers = numbers_of(node, DTYPE_I64, ints.n, NULL, ints.at);
    else if (onnx_has(node, tensor)) {
        if (!onnx_tensor(node, tensor, &side->numbers))
            return false;
        side->n = type_elements(&side->numbers.type);
        side->numbers.type = type_make(side->numbers.type.dtype, 1, &side->n);
    }
    return side->n > 0 || bad_attribute(node, "%s is empty", prefix);
}

/* What keys get that are not in the table. */
static bool read_default(struct onnx_node *node, struct side *values)
{
    struct tensor tensor;

    values->missing_word = onnx_word(node, "default_string", "_Unused");
    if (values->words.n)
        return onnx_ok(node);
    if (onnx_has(node, "default_tensor")) {
        if (!onnx_tensor(node, "default_tensor", &tensor))
            return false;
        if (type_elements(&tensor.type) != 1)
            return bad_attribute(node, "default_tensor has not one element");
        values->missing = tensor_at(&tensor, 0);
    } else if (dtype_is_float(values->numbers.type.dtype)) {
        values->missing = onnx_real(node, "default_float", -0.0);
    } else {
        values->missing = (double)onnx_int(node, "default_int64", -1);
    }
    return onnx_ok(node);
}

/* The first operator set: classes_strings, by their numbers. */
static bool read_classes(struct onnx_node *node, bool from_strings, struct side *keys,
                         struct side *values)
{
    struct side words = { .words = ml_words(node, "classes_strings") }, numbers = { .n = 0 };
    int64_t *at;

    words.n = numbers.n = words.words.n;
    if (!words.n || !onnx_granted(node, DTYPE_I64, (double)words.n))
        return onnx_ok(node) && bad_attribute(node, "classes_strings is missing");
    at = arena_array(&node->ctx->scratch, int64_t, words.n);
    for (int64_t i = 0; i < words.n; i++)
        at[i] = i;
    numbers.numbers = numbers_of(node, DTYPE_I64, words.n, NULL, at);
    *keys = from_strings ? words : numbers;
    *values = from_strings ? numbers : words;
    return read_default(node, values);
}

/* For each string of x: the row of the table, or n. */
static struct value *rows_of_strings(struct onnx_node *node, const struct side *keys,
                                     struct ml_words words)
{
    const union attrs axis = { .axis = { .axis = 0 } };
    int64_t *row = arena_array(&node->ctx->scratch, int64_t, words.n);

    if (!limit_spend(node->ctx, node->origin, (double)words.n * (double)keys->n))
        return NULL;
    for (int64_t i = 0; i < words.n; i++) {
        row[i] = 0;
        while (row[i] < keys->n && strcmp(keys->words.at[row[i]], words.at[i]) != 0)
            row[i]++;
    }
    return onnx_build2(node, OP_TAKE, &axis, "row", onnx_from_ints(node, row, words.n, "rows"),
                       onnx_input(node, 0));
}

/* The same for numbers: the least i for which x is key i. NaN is a key from operator set 4 on. */
static struct value *rows_of_numbers(struct onnx_node *node, const struct side *keys)
{
    struct value *x = onnx_input(node, 0), *parts[3], *row;
    struct ints shape = ints_of_shape(&x->type), last = ints_of(1, (const int64_t[]){ shape.n });
    int64_t *number = arena_array(&node->ctx->scratch, int64_t, keys->n), nan = -1;

    for (int64_t i = 0; i < keys->n; i++) {
        number[i] = i;
        if (nan < 0 && node->opset >= 4 && isnan(tensor_at(&keys->numbers, i)))
            nan = i;
    }
    shape.at[shape.n++] = 1;
    parts[0] = apply2(
        node, OP_EQUAL, "is", reshape_to(node, x, &shape, "each"),
        cast_to(node, onnx_from_tensor(node, &keys->numbers, "keys"), x->type.dtype, "keys_as"));
    parts[1] = onnx_from_ints(node, number, keys->n, "numbers");
    parts[2] = onnx_scalar(node, DTYPE_I64, (double)keys->n, "none");
    if (!parts[0])
        return NULL;
    row = reduce_with(node, OP_MIN, onnx_build(node, OP_WHERE, NULL, "number", 3, parts), &last,
                      false, "row");
    if (nan < 0 || !row)
        return row;
    parts[0] = apply1(node, OP_ISNAN, "is_nan", x);
    parts[1] = onnx_scalar(node, DTYPE_I64, (double)nan, "nan");
    parts[2] = row;
    return parts[0] ? onnx_build(node, OP_WHERE, NULL, "row_or_nan", 3, parts) : NULL;
}

/* The values by row, and the default behind them. */
static bool output_values(struct onnx_node *node, const struct side *values, struct value *row)
{
    const int64_t n = values->n + 1;
    const union attrs axis = { .axis = { .axis = 0 } };
    const enum dtype dtype = values->words.n ? DTYPE_I64 : values->numbers.type.dtype;
    struct tensor table = { .type = type_make(dtype, 1, &n) };

    if (!row)
        return false;
    if (values->words.n) {
        const char **words = arena_array(&node->fn->module->arena, const char *, n);

        memcpy(words, values->words.at, sizeof *words * (size_t)values->n);
        words[values->n] = values->missing_word;
        row = apply1(node, OP_COPY, "", row);
        if (row)
            ml_set_strings(node, row, (struct ml_words){ words, n });
        return onnx_output(node, 0, row);
    }
    table.data = constant_alloc(node->fn, &table.type);
    memcpy(table.data, values->numbers.data, dtype_bytes(dtype) * (size_t)values->n);
    dtype_store(dtype, table.data, values->n, values->missing);
    return onnx_output(
        node, 0,
        onnx_build2(node, OP_TAKE, &axis, "", onnx_from_tensor(node, &table, "values"), row));
}

bool convert_label_encoder(struct onnx_node *node)
{
    struct side keys = { .n = 0 }, values = { .n = 0 };
    struct ml_words words;

    if (!onnx_check_inputs(node, 1, 1) || !onnx_check_kind(node, 0, TAKES_ANY) ||
        !onnx_check_rank(node, 0, 0, MAX_RANK - 1))
        return false;
    words = ml_strings_of(node, onnx_input(node, 0));
    if (node->opset < 2 ? !read_classes(node, words.n >= 0, &keys, &values)
                        : !read_side(node, "keys", &keys) || !read_side(node, "values", &values) ||
                              !read_default(node, &values))
        return false;
    if (keys.n != values.n)
        return bad_attribute(node, "%lld keys and %lld values", (long long)keys.n,
                             (long long)values.n);
    if ((keys.words.n > 0) != (words.n >= 0))
        return diag_error(node->ctx, DIAG_TYPE, node->origin, "the keys are %s, the input is %s",
                          keys.words.n ? "strings" : "numbers",
                          words.n >= 0 ? "strings" : "numbers");
    return output_values(node, &values,
                         keys.words.n ? rows_of_strings(node, &keys, words)
                                      : rows_of_numbers(node, &keys));
}
