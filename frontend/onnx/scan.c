/* scan.c - Scan, written out round by round. */
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
            const bool backwards = listed(r, "scan_input_directions", i, 0) != 0;

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

bool import_scan(struct import *im, struct scope *scope, const Onnx__NodeProto *proto,
                 const struct origin *origin)
{
    const Onnx__AttributeProto *count = attribute_find(proto, "num_scan_inputs");
    struct value **operands = arena_array(&im->arena, struct value *, proto->n_input);
    struct rounds r;

    if (scope_opset(scope, "") < 9)
        return diag_error(im->ctx, DIAG_UNSUPPORTED_FORM, origin,
                          "Scan of operator set 8 has batches and lengths");
    if (!count || count->i < 1 || (uint64_t)count->i > proto->n_input)
        return diag_error(im->ctx, DIAG_ONNX_ATTRIBUTE, origin,
                          "attribute num_scan_inputs is not in 1 .. %zu", proto->n_input);
    if (!body_begin(&r, im, scope, proto, origin) ||
        !body_check_counts(&r, proto->n_input, proto->n_input - (size_t)count->i,
                           proto->n_input - (size_t)count->i) ||
        !import_operands(im, scope, proto, origin, operands) || !body_check_begun(&r, operands, 0))
        return false;
    if (proto->n_output > r.body->n_output)
        return diag_error(im->ctx, DIAG_ONNX_GRAPH, origin,
                          "it has %zu outputs, its body gives %zu", proto->n_output,
                          r.body->n_output);
    if (!run_scan(&r, operands, (size_t)count->i))
        return false;
    for (size_t i = 0; i < proto->n_output; i++) {
        const char *name = proto->output[i];
        const size_t k = i - r.n_carried; /* of the stacked ones */
        struct value *value;

        if (!*name)
            continue;
        value = i < r.n_carried ? r.inputs[i]
                                : body_stack(&r, i, listed(&r, "scan_output_axes", k, 0),
                                             listed(&r, "scan_output_directions", k, 0) != 0, name);
        if (!value)
            return false;
        scope_bind(im, scope, name, value);
    }
    return true;
}
