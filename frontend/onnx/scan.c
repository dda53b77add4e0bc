/* scan.c - Scan, written out round by round. In operator set 8 it has batches, which are scanned one after the other. */
#include "base/str.h"
#include "frontend/onnx/body.h"

/* Number i of a list attribute, `missing` where it has none. */
static int64_t listed(const struct rounds *r, const char *attr, size_t i, int64_t missing)
{
    const Onnx__AttributeProto *list = attribute_find(r->proto, attr);

    return list && i < list->n_ints ? list->ints[i] : missing;
}

/* What round `at` of `n` sees of a sequence: a slice of it, without that axis. */
static struct value *slice(struct rounds *r, struct value *x, int axis, int64_t at)
{
    union attrs cut = { .slice = { .begin = ints_fill(x->type.rank, 0),
                                   .strides = ints_fill(x->type.rank, 1),
                                   .size = ints_of(x->type.rank, x->type.dim) } };
    union attrs shape = { .shape = { .shape = { .n = 0 } } };
    struct value *y;

    cut.slice.begin.at[axis] = at;
    cut.slice.size.at[axis] = 1;
    for (int d = 0; d < x->type.rank; d++)
        if (d != axis)
            shape.shape.shape.at[shape.shape.shape.n++] = x->type.dim[d];
    y = body_make(r, OP_STRIDED_SLICE, &cut, x->name, 1, &x);
    return y ? body_make(r, OP_RESHAPE, &shape, x->name, 1, &y) : NULL;
}

/* The axis of each sequence, and how long all of them are. */
static bool read_sequences(struct rounds *r, struct value *const *sequences, size_t n, int *axes,
                           int64_t *n_rounds)
{
    *n_rounds = -1;
    for (size_t i = 0; i < n; i++) {
        const struct type *type = sequences[i] ? &sequences[i]->type : NULL;
        const int64_t axis = listed(r, "scan_input_axes", i, 0);

        if (!type || axis < -type->rank || axis >= type->rank)
            return diag_error(r->im->ctx, DIAG_SHAPE, r->origin, "sequence %zu has no axis %lld", i,
                              (long long)axis);
        axes[i] = (int)(axis < 0 ? axis + type->rank : axis);
        if (*n_rounds >= 0 && type->dim[axes[i]] != *n_rounds)
            return diag_error(r->im->ctx, DIAG_SHAPE, r->origin,
                              "its sequences have %lld and %lld elements", (long long)*n_rounds,
                              (long long)type->dim[axes[i]]);
        *n_rounds = type->dim[axes[i]];
    }
    if (*n_rounds < 1)
        return diag_error(r->im->ctx, DIAG_UNSUPPORTED_FORM, r->origin, "a scan of no rounds");
    return limit_check(r->im->ctx, LIMIT_NODES, r->origin, (double)*n_rounds);
}

static bool run_scan(struct rounds *r, struct value *const *operands, size_t n_sequences)
{
    struct value *const *sequences = operands + r->n_carried;
    int *axes = arena_array(&r->im->arena, int, n_sequences);
    int64_t n_rounds;

    if (!read_sequences(r, sequences, n_sequences, axes, &n_rounds))
        return false;
    for (size_t i = 0; i < r->n_carried; i++)
        r->inputs[i] = operands[i];
    for (int64_t at = 0; at < n_rounds; at++) {
        for (size_t i = 0; i < n_sequences; i++) {
            const bool backwards =
                listed(r, "scan_input_directions", i, listed(r, "directions", i, 0)) != 0;

            r->inputs[r->n_carried + i] =
                slice(r, sequences[i], axes[i], backwards ? n_rounds - 1 - at : at);
            if (!r->inputs[r->n_carried + i])
                return false;
        }
        if (!body_run(r))
            return false;
        for (size_t i = 0; i < r->n_carried; i++)
            r->inputs[i] = r->outputs[i];
    }
    return true;
}

/* What one scan gives as output i. */
static struct value *output_of(struct rounds *r, size_t i, const char *name)
{
    const size_t k = i - r->n_carried; /* of the stacked ones */

    if (i < r->n_carried)
        return r->inputs[i];
    return body_stack(r, i, listed(r, "scan_output_axes", k, 0),
                      listed(r, "scan_output_directions", k, 0) != 0, name);
}

static bool bind_output(struct rounds *r, struct scope *scope, size_t i, struct value *value)
{
    if (value)
        scope_bind(r->im, scope, r->proto->output[i], value);
    return value != NULL;
}

/* --- operator set 8 --------------------------------------------------------------------------- */

/* How many there are; -1 after an error. */
static int64_t count_batches(struct rounds *r, struct value *const *operands, size_t n)
{
    int64_t batches = -1;

    for (size_t i = 0; i < n; i++) {
        const struct type *type = operands[i] ? &operands[i]->type : NULL;

        if (!type || type->rank < 1 || type->dim[0] < 1 ||
            (batches >= 0 && type->dim[0] != batches)) {
            diag_error(r->im->ctx, DIAG_SHAPE, r->origin,
                       "input %zu has not the batches of the others in front", i + 1);
            return -1;
        }
        batches = type->dim[0];
    }
    return batches;
}

/* Behind the lengths, which must be absent: states and sequences of all batches. */
static bool scan_batches(struct rounds *r, struct scope *scope, struct value *const *operands,
                         size_t n, size_t n_sequences)
{
    struct value **one = arena_array(&r->im->arena, struct value *, n);
    const size_t n_output = r->proto->n_output;
    struct value ***results = arena_array(&r->im->arena, struct value **, n_output);
    const int64_t batches = count_batches(r, operands, n);

    if (batches < 0 || !limit_check(r->im->ctx, LIMIT_NODES, r->origin, (double)batches))
        return false;
    for (size_t i = 0; i < n_output; i++)
        results[i] = arena_array(&r->im->arena, struct value *, batches);
    for (int64_t b = 0; b < batches; b++) {
        r->n_rounds = 0;
        for (size_t i = 0; i < n; i++) {
            one[i] = slice(r, operands[i], 0, b);
            if (!one[i])
                return false;
        }
        if (!run_scan(r, one, n_sequences))
            return false;
        for (size_t i = 0; i < n_output; i++) {
            const char *name = r->proto->output[i];

            results[i][b] = *name ? output_of(r, i, name) : NULL;
            if (*name && !results[i][b])
                return false;
        }
    }
    r->n_rounds = (size_t)batches;
    for (size_t i = 0; i < n_output; i++) {
        r->stacked[i] = results[i];
        if (*r->proto->output[i] &&
            !bind_output(r, scope, i, body_stack(r, i, 0, false, r->proto->output[i])))
            return false;
    }
    return true;
}

bool import_scan(struct import *im, struct scope *scope, const Onnx__NodeProto *proto,
                 const struct origin *origin)
{
    const Onnx__AttributeProto *count = attribute_find(proto, "num_scan_inputs");
    const size_t n_lengths = scope_opset(scope, "") < 9; /* inputs in front of the others */
    struct value **operands = arena_array(&im->arena, struct value *, proto->n_input);
    const size_t n = proto->n_input - n_lengths;
    struct rounds r;

    if (proto->n_input < n_lengths || !count || count->i < 1 || (uint64_t)count->i > n)
        return diag_error(im->ctx, DIAG_ONNX_ATTRIBUTE, origin,
                          "attribute num_scan_inputs is not in 1 .. %zu", n);
    if (!body_begin(&r, im, scope, proto, origin) ||
        !body_check_counts(&r, n, n - (size_t)count->i, n - (size_t)count->i) ||
        !import_operands(im, scope, proto, origin, operands) ||
        !body_check_begun(&r, operands + n_lengths, n_lengths))
        return false;
    if (proto->n_output > r.body->n_output)
        return diag_error(im->ctx, DIAG_ONNX_GRAPH, origin,
                          "it has %zu outputs, its body gives %zu", proto->n_output,
                          r.body->n_output);
    if (n_lengths && operands[0])
        return diag_error(im->ctx, DIAG_UNSUPPORTED_FORM, origin,
                          "Scan of operator set 8 has lengths of its sequences");
    if (n_lengths)
        return scan_batches(&r, scope, operands + 1, n, (size_t)count->i);
    if (!run_scan(&r, operands, (size_t)count->i))
        return false;
    for (size_t i = 0; i < proto->n_output; i++)
        if (*proto->output[i] && !bind_output(&r, scope, i, output_of(&r, i, proto->output[i])))
            return false;
    return true;
}
