/* sequences.c - sequences and optionals: lists of values while the graph is imported, of which its
 * nodes know nothing. Where an element stands must be known at compile time. */
#include <string.h>

#include "base/str.h"
#include "frontend/onnx/body.h"
#include "frontend/onnx/sequences.h"

/* --- sequences -------------------------------------------------------------------------------- */

bool import_sequence_construct(struct import *im, struct scope *scope, const Onnx__NodeProto *proto,
                               const struct origin *origin)
{
    struct reading r = { im, scope, proto, origin, NULL };
    struct sequence *sequence = sequence_new(im, (int)proto->n_input);

    if (!reading_inputs(&r, 0))
        return false;
    for (int i = 0; i < sequence->n; i++)
        if (!(sequence->at[i] = reading_tensor(&r, (size_t)i)))
            return false;
    return reading_bind(&r, &sequence->value);
}

bool import_sequence_insert(struct import *im, struct scope *scope, const Onnx__NodeProto *proto,
                            const struct origin *origin)
{
    struct reading r = { im, scope, proto, origin, NULL };
    const struct sequence *from;
    struct sequence *to;
    int at;

    if (!reading_inputs(&r, 2) || !(from = reading_sequence(&r)) || !reading_tensor(&r, 1) ||
        !reading_position(&r, 2, from->n, from->n, &at))
        return false;
    to = sequence_new(im, from->n + 1);
    for (int i = 0; i < to->n; i++)
        to->at[i] = i == at ? r.inputs[1] : from->at[i < at ? i : i - 1];
    im->n_operands += to->n;
    return reading_bind(&r, &to->value) && import_within_limits(im, origin);
}

bool import_sequence_erase(struct import *im, struct scope *scope, const Onnx__NodeProto *proto,
                           const struct origin *origin)
{
    struct reading r = { im, scope, proto, origin, NULL };
    const struct sequence *from;
    struct sequence *to;
    int at;

    if (!reading_inputs(&r, 1) || !(from = reading_sequence(&r)))
        return false;
    if (from->n == 0)
        return diag_error(im->ctx, DIAG_SHAPE, origin, "the sequence is empty");
    if (!reading_position(&r, 1, from->n, from->n - 1, &at))
        return false;
    to = sequence_new(im, from->n - 1);
    for (int i = 0; i < to->n; i++)
        to->at[i] = from->at[i < at ? i : i + 1];
    im->n_operands += to->n;
    return reading_bind(&r, &to->value) && import_within_limits(im, origin);
}

bool import_sequence_at(struct import *im, struct scope *scope, const Onnx__NodeProto *proto,
                        const struct origin *origin)
{
    struct reading r = { im, scope, proto, origin, NULL };
    const struct sequence *sequence;
    int at;

    return reading_inputs(&r, 2) && (sequence = reading_sequence(&r)) && reading_tensor(&r, 1) &&
           reading_position(&r, 1, sequence->n, sequence->n - 1, &at) &&
           reading_bind(&r, sequence->at[at]);
}

bool import_sequence_length(struct import *im, struct scope *scope, const Onnx__NodeProto *proto,
                            const struct origin *origin)
{
    struct reading r = { im, scope, proto, origin, NULL };
    const struct sequence *sequence;

    return reading_inputs(&r, 1) && (sequence = reading_sequence(&r)) &&
           reading_bind_number(&r, DTYPE_I64, sequence->n);
}

/* Its body, once for each element of input 0; of the other sequences it sees the same element, tensors whole. */
bool import_sequence_map(struct import *im, struct scope *scope, const Onnx__NodeProto *proto,
                         const struct origin *origin)
{
    struct value **operands = arena_array(&im->arena, struct value *, proto->n_input + 1);
    const struct sequence *first;
    struct rounds r;

    if (!body_begin(&r, im, scope, proto, origin) ||
        !body_check_counts(&r, proto->n_input, proto->n_output, 0) ||
        !import_operands(im, scope, proto, origin, operands))
        return false;
    first = proto->n_input ? sequence_of(operands[0]) : NULL;
    if (!first || first->is_absent)
        return diag_error(im->ctx, DIAG_TYPE, origin, "input 0 is no sequence");
    for (int k = 0; k < first->n; k++) {
        for (size_t i = 0; i < proto->n_input; i++) {
            const struct sequence *sequence = sequence_of(operands[i]);

            if (sequence && sequence->n != first->n)
                return diag_error(im->ctx, DIAG_SHAPE, origin,
                                  "its sequences have %d and %d elements", first->n, sequence->n);
            r.inputs[i] = sequence ? sequence->at[k] : operands[i];
        }
        if (!body_run(&r))
            return false;
    }
    for (size_t i = 0; i < proto->n_output; i++) {
        struct sequence *result = sequence_new(im, first->n);

        for (int k = 0; k < first->n; k++)
            result->at[k] = r.stacked[i][k];
        if (*proto->output[i])
            scope_bind(im, scope, proto->output[i], &result->value);
    }
    return true;
}

/* --- between tensors and sequences ------------------------------------------------------------ */

/* The lengths of the parts: of a list, of one number for all, of 1 each. */
static bool read_lengths(const struct reading *r, int64_t total, int *n, int64_t **lengths)
{
    const bool is_given = r->inputs[1] != NULL;
    struct tensor known;
    int64_t each = 1, sum = 0;

    if (is_given && !reading_known(r, 1, "the lengths", &known))
        return false;
    if (is_given && known.type.rank > 1)
        return diag_error(r->im->ctx, DIAG_SHAPE, r->origin, "the lengths have %d dims, expected 1",
                          known.type.rank);
    if (is_given && known.type.rank == 1) {
        *n = (int)type_elements(&known.type);
        *lengths = arena_array(&r->im->arena, int64_t, *n + 1);
        for (int i = 0; i < *n; i++) {
            const double length = tensor_at(&known, i);

            if (length < 0 || length > (double)(total - sum))
                return diag_error(r->im->ctx, DIAG_SHAPE, r->origin,
                                  "part %d has %g of %lld elements", i, length, (long long)total);
            sum += (*lengths)[i] = (int64_t)length;
        }
        return sum == total ||
               diag_error(r->im->ctx, DIAG_SHAPE, r->origin, "its parts have %lld of %lld elements",
                          (long long)sum, (long long)total);
    }
    if (is_given)
        each = tensor_at(&known, 0) >= 1 && tensor_at(&known, 0) < (double)total
                   ? (int64_t)tensor_at(&known, 0)
                   : total;
    if (!limit_check(r->im->ctx, LIMIT_NODES, r->origin, (double)(total / each)))
        return false;
    *n = (int)((total + each - 1) / each);
    *lengths = arena_array(&r->im->arena, int64_t, *n + 1);
    for (int i = 0; i < *n; i++, sum += each)
        (*lengths)[i] = each < total - sum ? each : total - sum;
    return true;
}

/* A slice of the axis; without it if its length is 1 and it is not kept. */
static struct value *part(const struct reading *r, struct value *x, int axis, int64_t begin,
                          int64_t length, bool keeps)
{
    union attrs cut = { .slice = { .begin = ints_fill(x->type.rank, 0),
                                   .strides = ints_fill(x->type.rank, 1),
                                   .size = ints_of(x->type.rank, x->type.dim) } };
    union attrs shape = { .shape = { .shape = { .n = 0 } } };
    struct value *y;

    cut.slice.begin.at[axis] = begin;
    cut.slice.size.at[axis] = length;
    for (int d = 0; d < x->type.rank; d++)
        if (d != axis)
            shape.shape.shape.at[shape.shape.shape.n++] = x->type.dim[d];
    y = reading_make(r, OP_STRIDED_SLICE, &cut, 1, &x);
    return y && !keeps ? reading_make(r, OP_RESHAPE, &shape, 1, &y) : y;
}

bool import_split_to_sequence(struct import *im, struct scope *scope, const Onnx__NodeProto *proto,
                              const struct origin *origin)
{
    struct reading r = { im, scope, proto, origin, NULL };
    struct sequence *sequence;
    struct value *x;
    int64_t *lengths = NULL, begin = 0;
    bool keeps;
    int axis, n = 0;

    if (!reading_inputs(&r, 1) || !(x = reading_tensor(&r, 0)) ||
        !reading_axis(&r, 0, x->type.rank, &axis) ||
        !read_lengths(&r, x->type.dim[axis], &n, &lengths))
        return false;
    keeps = r.inputs[1] || reading_number(&r, "keepdims", 1) != 0;
    sequence = sequence_new(im, n);
    for (int i = 0; i < n; begin += lengths[i++])
        if (!(sequence->at[i] = part(&r, x, axis, begin, lengths[i], keeps)))
            return false;
    return reading_bind(&r, &sequence->value);
}

/* The element with a dim of 1 before `axis`. */
static struct value *widened(const struct reading *r, struct value *x, int axis)
{
    union attrs shape = { .shape = { .shape = { .n = x->type.rank + 1 } } };

    for (int d = 0, from = 0; d <= x->type.rank; d++)
        shape.shape.shape.at[d] = d == axis ? 1 : x->type.dim[from++];
    return reading_make(r, OP_RESHAPE, &shape, 1, &x);
}

bool import_concat_from_sequence(struct import *im, struct scope *scope,
                                 const Onnx__NodeProto *proto, const struct origin *origin)
{
    struct reading r = { im, scope, proto, origin, NULL };
    const bool is_new = attribute_find(proto, "new_axis") && attribute_find(proto, "new_axis")->i;
    const struct sequence *sequence;
    union attrs attrs = { .axis = { 0 } };
    struct value **parts;
    int axis;

    if (!reading_inputs(&r, 1) || !(sequence = reading_sequence(&r)))
        return false;
    if (sequence->n == 0)
        return diag_error(im->ctx, DIAG_SHAPE, origin, "the sequence is empty");
    if (!reading_axis(&r, 0, sequence->at[0]->type.rank + is_new, &axis))
        return false;
    parts = arena_array(&im->arena, struct value *, sequence->n);
    for (int i = 0; i < sequence->n; i++) {
        const int rank = sequence->at[i]->type.rank;

        if (is_new && (rank >= MAX_RANK || rank < axis))
            return diag_error(im->ctx, DIAG_SHAPE, origin, "element %d has %d dims", i, rank);
        parts[i] = is_new ? widened(&r, sequence->at[i], axis) : sequence->at[i];
        if (!parts[i])
            return false;
    }
    attrs.axis.axis = axis;
    return reading_bind(&r, sequence->n == 1
                                ? parts[0]
                                : reading_make(&r, OP_CONCATENATE, &attrs, sequence->n, parts));
}

/* --- optionals -------------------------------------------------------------------------------- */

bool import_optional(struct import *im, struct scope *scope, const Onnx__NodeProto *proto,
                     const struct origin *origin)
{
    struct reading r = { im, scope, proto, origin, NULL };
    struct sequence *none = sequence_new(im, 0);

    none->is_absent = true;
    return reading_inputs(&r, 0) && reading_bind(&r, r.inputs[0] ? r.inputs[0] : &none->value);
}

bool import_optional_has_element(struct import *im, struct scope *scope,
                                 const Onnx__NodeProto *proto, const struct origin *origin)
{
    struct reading r = { im, scope, proto, origin, NULL };

    return reading_inputs(&r, 0) &&
           reading_bind_number(
               &r, DTYPE_BOOL,
               r.inputs[0] && !(sequence_of(r.inputs[0]) && sequence_of(r.inputs[0])->is_absent));
}

bool import_optional_get_element(struct import *im, struct scope *scope,
                                 const Onnx__NodeProto *proto, const struct origin *origin)
{
    struct reading r = { im, scope, proto, origin, NULL };

    if (!reading_inputs(&r, 1))
        return false;
    if (!r.inputs[0] || (sequence_of(r.inputs[0]) && sequence_of(r.inputs[0])->is_absent))
        return diag_error(im->ctx, DIAG_TYPE, origin, "the optional has no element");
    return reading_bind(&r, r.inputs[0]);
}

/* --- nodes of tensors ------------------------------------------------------------------------- */

bool import_take_sequences(struct onnx_node *node, bool *done)
{
    for (int i = 0; i < node->n_inputs; i++) {
        if (!import_is_sequence(node->inputs[i]))
            continue;
        if (strcmp(node->op_type, "Identity") != 0)
            return diag_error(node->ctx, DIAG_TYPE, node->origin,
                              "input %d is a sequence, which %s does not take", i, node->op_type);
        node->outputs[0] = node->inputs[0];
        *done = true;
    }
    return true;
}
