/* sequences.c - sequences and optionals: lists of values while the graph is imported, of which its
 * nodes know nothing. Where an element stands must be known at compile time. */
#include <string.h>

#include "base/str.h"
#include "frontend/onnx/importer.h"

/* Bound in a scope by the address of its value, which is no tensor. */
struct sequence {
    struct value value;
    bool is_absent; /* an optional without an element */
    int n;
    struct value **at; /* tensors, or sequences */
};

static const char mark[] = "\1sequence"; /* by its address: the name of no tensor */

static struct sequence *sequence_of(const struct value *value)
{
    return value && value->name == mark ? (struct sequence *)(void *)(uintptr_t)value : NULL;
}

bool import_is_sequence(const struct value *value)
{
    return sequence_of(value) != NULL;
}

static struct sequence *sequence_new(struct import *im, int n)
{
    struct sequence *sequence = arena_new(&im->arena, struct sequence);

    *sequence = (struct sequence){ .value = { .name = mark },
                                   .n = n,
                                   .at = arena_array(&im->arena, struct value *, n + 1) };
    return sequence;
}

/* --- what a node reads ------------------------------------------------------------------------ */

struct reading {
    struct import *im;
    struct scope *scope;
    const Onnx__NodeProto *proto;
    const struct origin *origin;
    struct value **inputs; /* [proto->n_input], and NULL behind them */
};

enum { MOST_INPUTS = 3 };

static bool read_inputs(struct reading *r, size_t least)
{
    const size_t n = r->proto->n_input;

    r->inputs = arena_array(&r->im->arena, struct value *, n + MOST_INPUTS);
    if (n < least || r->proto->n_output != 1)
        return diag_error(r->im->ctx, DIAG_ONNX_GRAPH, r->origin,
                          "it has %zu inputs and %zu outputs, expected %zu or more and 1", n,
                          r->proto->n_output, least);
    return import_operands(r->im, r->scope, r->proto, r->origin, r->inputs);
}

static bool bind(const struct reading *r, struct value *value)
{
    if (value)
        scope_bind(r->im, r->scope, r->proto->output[0], value);
    return value != NULL;
}

static bool bind_number(const struct reading *r, enum dtype dtype, int64_t number)
{
    const struct type type = { .dtype = dtype };
    struct tensor tensor = tensor_new(&r->im->module->bulk, &type);

    if (dtype == DTYPE_BOOL)
        *(uint8_t *)tensor.data = number != 0;
    else
        *(int64_t *)tensor.data = number;
    return bind(r, constant_new(r->im->module->main, r->proto->output[0], &type, tensor.data));
}

static struct sequence *read_sequence(const struct reading *r)
{
    struct sequence *sequence = sequence_of(r->inputs[0]);

    if (sequence && !sequence->is_absent)
        return sequence;
    diag_error(r->im->ctx, DIAG_TYPE, r->origin, "input 0 is %s, expected a sequence",
               sequence       ? "an optional without an element"
               : r->inputs[0] ? "a tensor"
                              : "absent");
    return NULL;
}

/* The tensor that is input `i`; NULL after an error. */
static struct value *read_tensor(const struct reading *r, size_t i)
{
    if (r->inputs[i] && !sequence_of(r->inputs[i]))
        return r->inputs[i];
    diag_error(r->im->ctx, DIAG_TYPE, r->origin, "input %zu is %s, expected a tensor", i,
               r->inputs[i] ? "a sequence" : "absent");
    return NULL;
}

/* Input `i`, whose numbers must be known. */
static bool read_known(const struct reading *r, size_t i, const char *what, struct tensor *out)
{
    const struct value *value = read_tensor(r, i);

    if (!value)
        return false;
    if (import_known(r->im, value, out))
        return true;
    diag_error(r->im->ctx, DIAG_UNSUPPORTED_DYNAMIC, r->origin, "%s is computed at run time", what);
    import_help_freeze(r->im, value);
    return false;
}

/* Input `i`, an index of n elements, negative from behind, at most `last`, which stands for it if
 * it is absent. */
static bool read_position(const struct reading *r, size_t i, int n, int last, int *at)
{
    struct tensor known;
    double index;

    *at = last;
    if (!r->inputs[i])
        return true;
    if (!read_known(r, i, "the position", &known))
        return false;
    index = type_elements(&known.type) == 1 ? tensor_at(&known, 0) : last + 1;
    if (index < -n || index > last)
        return diag_error(r->im->ctx, DIAG_SHAPE, r->origin,
                          "the position %g is outside a sequence of %d elements", index, n);
    *at = (int)(index < 0 ? index + n : index);
    return true;
}

static int64_t number(const struct reading *r, const char *name, int64_t missing)
{
    const Onnx__AttributeProto *attr = attribute_find(r->proto, name);

    return attr ? attr->i : missing;
}

static bool read_axis(const struct reading *r, int64_t missing, int rank, int *axis)
{
    const int64_t given = number(r, "axis", missing);

    if (given < -rank || given >= rank)
        return diag_error(r->im->ctx, DIAG_SHAPE, r->origin, "the axis %lld of a tensor of %d dims",
                          (long long)given, rank);
    *axis = (int)(given < 0 ? given + rank : given);
    return true;
}

static struct value *make(const struct reading *r, enum op op, const union attrs *attrs, int n,
                          struct value *const *inputs)
{
    return build(r->im->module->main, op, attrs, r->proto->output[0], r->origin, NULL, n, inputs);
}

/* --- sequences -------------------------------------------------------------------------------- */

bool import_sequence_construct(struct import *im, struct scope *scope, const Onnx__NodeProto *proto,
                               const struct origin *origin)
{
    struct reading r = { im, scope, proto, origin, NULL };
    struct sequence *sequence = sequence_new(im, (int)proto->n_input);

    if (!read_inputs(&r, 0))
        return false;
    for (int i = 0; i < sequence->n; i++)
        if (!(sequence->at[i] = read_tensor(&r, (size_t)i)))
            return false;
    return bind(&r, &sequence->value);
}

bool import_sequence_insert(struct import *im, struct scope *scope, const Onnx__NodeProto *proto,
                            const struct origin *origin)
{
    struct reading r = { im, scope, proto, origin, NULL };
    const struct sequence *from;
    struct sequence *to;
    int at;

    if (!read_inputs(&r, 2) || !(from = read_sequence(&r)) || !read_tensor(&r, 1) ||
        !read_position(&r, 2, from->n, from->n, &at))
        return false;
    to = sequence_new(im, from->n + 1);
    for (int i = 0; i < to->n; i++)
        to->at[i] = i == at ? r.inputs[1] : from->at[i < at ? i : i - 1];
    im->n_operands += to->n;
    return bind(&r, &to->value) && import_within_limits(im, origin);
}

bool import_sequence_erase(struct import *im, struct scope *scope, const Onnx__NodeProto *proto,
                           const struct origin *origin)
{
    struct reading r = { im, scope, proto, origin, NULL };
    const struct sequence *from;
    struct sequence *to;
    int at;

    if (!read_inputs(&r, 1) || !(from = read_sequence(&r)))
        return false;
    if (from->n == 0)
        return diag_error(im->ctx, DIAG_SHAPE, origin, "the sequence is empty");
    if (!read_position(&r, 1, from->n, from->n - 1, &at))
        return false;
    to = sequence_new(im, from->n - 1);
    for (int i = 0; i < to->n; i++)
        to->at[i] = from->at[i < at ? i : i + 1];
    im->n_operands += to->n;
    return bind(&r, &to->value) && import_within_limits(im, origin);
}

bool import_sequence_at(struct import *im, struct scope *scope, const Onnx__NodeProto *proto,
                        const struct origin *origin)
{
    struct reading r = { im, scope, proto, origin, NULL };
    const struct sequence *sequence;
    int at;

    return read_inputs(&r, 2) && (sequence = read_sequence(&r)) && read_tensor(&r, 1) &&
           read_position(&r, 1, sequence->n, sequence->n - 1, &at) && bind(&r, sequence->at[at]);
}

bool import_sequence_length(struct import *im, struct scope *scope, const Onnx__NodeProto *proto,
                            const struct origin *origin)
{
    struct reading r = { im, scope, proto, origin, NULL };
    const struct sequence *sequence;

    return read_inputs(&r, 1) && (sequence = read_sequence(&r)) &&
           bind_number(&r, DTYPE_I64, sequence->n);
}

/* --- between tensors and sequences ------------------------------------------------------------ */

/* The lengths of the parts: of a list, of one number for all, of 1 each. */
static bool read_lengths(const struct reading *r, int64_t total, int *n, int64_t **lengths)
{
    const bool is_given = r->inputs[1] != NULL;
    struct tensor known;
    int64_t each = 1, sum = 0;

    if (is_given && !read_known(r, 1, "the lengths", &known))
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
    y = make(r, OP_STRIDED_SLICE, &cut, 1, &x);
    return y && !keeps ? make(r, OP_RESHAPE, &shape, 1, &y) : y;
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

    if (!read_inputs(&r, 1) || !(x = read_tensor(&r, 0)) ||
        !read_axis(&r, 0, x->type.rank, &axis) ||
        !read_lengths(&r, x->type.dim[axis], &n, &lengths))
        return false;
    keeps = r.inputs[1] || number(&r, "keepdims", 1) != 0;
    sequence = sequence_new(im, n);
    for (int i = 0; i < n; begin += lengths[i++])
        if (!(sequence->at[i] = part(&r, x, axis, begin, lengths[i], keeps)))
            return false;
    return bind(&r, &sequence->value);
}

/* The element with a dim of 1 before `axis`. */
static struct value *widened(const struct reading *r, struct value *x, int axis)
{
    union attrs shape = { .shape = { .shape = { .n = x->type.rank + 1 } } };

    for (int d = 0, from = 0; d <= x->type.rank; d++)
        shape.shape.shape.at[d] = d == axis ? 1 : x->type.dim[from++];
    return make(r, OP_RESHAPE, &shape, 1, &x);
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

    if (!read_inputs(&r, 1) || !(sequence = read_sequence(&r)))
        return false;
    if (sequence->n == 0)
        return diag_error(im->ctx, DIAG_SHAPE, origin, "the sequence is empty");
    if (!read_axis(&r, 0, sequence->at[0]->type.rank + is_new, &axis))
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
    return bind(&r,
                sequence->n == 1 ? parts[0] : make(&r, OP_CONCATENATE, &attrs, sequence->n, parts));
}

/* --- optionals -------------------------------------------------------------------------------- */

bool import_optional(struct import *im, struct scope *scope, const Onnx__NodeProto *proto,
                     const struct origin *origin)
{
    struct reading r = { im, scope, proto, origin, NULL };
    struct sequence *none = sequence_new(im, 0);

    none->is_absent = true;
    return read_inputs(&r, 0) && bind(&r, r.inputs[0] ? r.inputs[0] : &none->value);
}

bool import_optional_has_element(struct import *im, struct scope *scope,
                                 const Onnx__NodeProto *proto, const struct origin *origin)
{
    struct reading r = { im, scope, proto, origin, NULL };

    return read_inputs(&r, 0) && bind_number(&r, DTYPE_BOOL,
                                             r.inputs[0] && !(sequence_of(r.inputs[0]) &&
                                                              sequence_of(r.inputs[0])->is_absent));
}

bool import_optional_get_element(struct import *im, struct scope *scope,
                                 const Onnx__NodeProto *proto, const struct origin *origin)
{
    struct reading r = { im, scope, proto, origin, NULL };

    if (!read_inputs(&r, 1))
        return false;
    if (!r.inputs[0] || (sequence_of(r.inputs[0]) && sequence_of(r.inputs[0])->is_absent))
        return diag_error(im->ctx, DIAG_TYPE, origin, "the optional has no element");
    return bind(&r, r.inputs[0]);
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
