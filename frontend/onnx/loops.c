/* loops.c - Loop and Scan whose number of rounds is known at compile time: their bodies, written
 * out round by round. What the rounds do is folded and fused like everything else.
 *
 * Each round has a scope of its own, in which the body's inputs are bound; the body's constants are
 * made once. LIMIT_NODES bounds what comes of it. */
#include "base/str.h"
#include "frontend/onnx/importer.h"

struct rounds {
    struct import *im;
    const Onnx__NodeProto *proto;
    const struct origin *origin;
    const Onnx__GraphProto *body;
    struct scope constants;  /* of the body, behind which the names around the node are */
    size_t n_carried;        /* values that each round hands to the next */
    struct value **inputs;   /* [body->n_input] of the next round */
    struct value **outputs;  /* [body->n_output] of the last */
    struct value ***stacked; /* [body->n_output][n_rounds] what each round gave */
    size_t n_rounds, capacity;
};

static bool begin(struct rounds *r, struct import *im, struct scope *scope,
                  const Onnx__NodeProto *proto, const struct origin *origin)
{
    const Onnx__AttributeProto *body = attribute_find(proto, "body");

    if (!body || !body->g)
        return diag_error(im->ctx, DIAG_ONNX_ATTRIBUTE, origin, "%s needs the graph body",
                          proto->op_type);
    *r = (struct rounds){ .im = im,
                          .proto = proto,
                          .origin = origin,
                          .body = body->g,
                          .constants = { .parent = scope,
                                         .n_opsets = scope->n_opsets,
                                         .opsets = scope->opsets,
                                         .call = scope->call,
                                         .node_index = origin->index } };
    if (!import_go_deeper(im, origin))
        return false;
    import_initializers(im, &r->constants, r->body);
    im->depth--;
    r->inputs = arena_array(&im->arena, struct value *, r->body->n_input);
    r->outputs = arena_array(&im->arena, struct value *, r->body->n_output);
    r->stacked = arena_array(&im->arena, struct value **, r->body->n_output);
    return true;
}

/* What the body is given and gives: counts that disagree with the node's are an error. */
static bool check_counts(struct rounds *r, size_t n_inputs, size_t least_outputs, size_t carried)
{
    r->n_carried = carried;
    if (r->body->n_input == n_inputs && r->body->n_output >= least_outputs)
        return true;
    return diag_error(r->im->ctx, DIAG_ONNX_GRAPH, r->origin,
                      "its body has %zu inputs and %zu outputs, wanted %zu and %zu or more",
                      r->body->n_input, r->body->n_output, n_inputs, least_outputs);
}

/* Values that rounds hand on begin somewhere. */
static bool check_begun(struct rounds *r, struct value *const *values, size_t first)
{
    for (size_t i = 0; i < r->n_carried; i++)
        if (!values[i])
            return diag_error(r->im->ctx, DIAG_ONNX_GRAPH, r->origin,
                              "input %zu, an initial value of the loop, is absent", first + i);
    return true;
}

static void remember(struct rounds *r)
{
    if (r->n_rounds == r->capacity) {
        const size_t capacity = r->capacity ? 2 * r->capacity : 16;

        for (size_t i = 0; i < r->body->n_output; i++) {
            struct value **more = arena_array(&r->im->arena, struct value *, capacity);

            for (size_t k = 0; k < r->n_rounds; k++)
                more[k] = r->stacked[i][k];
            r->stacked[i] = more;
        }
        r->capacity = capacity;
    }
    for (size_t i = 0; i < r->body->n_output; i++)
        r->stacked[i][r->n_rounds] = r->outputs[i];
    r->n_rounds++;
}

/* One round: `inputs` become `outputs`. False after an error. */
static bool run_body(struct rounds *r)
{
    struct import *im = r->im;
    struct scope inner = r->constants;
    bool ok = true;

    inner.parent = &r->constants;
    inner.names = (struct map){ .arena = NULL };
    im->n_nodes += (int64_t)(r->body->n_input + r->body->n_output);
    if (!import_within_limits(im, r->origin) || !import_go_deeper(im, r->origin))
        return false;
    for (size_t i = 0; i < r->body->n_input; i++)
        scope_bind(im, &inner, r->body->input[i]->name, r->inputs[i] ? r->inputs[i] : &im->absent);
    import_nodes(im, &inner, r->body->n_node, r->body->node);
    im->depth--;
    for (size_t i = 0; i < r->body->n_output; i++) {
        struct value *value = scope_find(&inner, r->body->output[i]->name);

        if (!value || value == &im->absent)
            ok = diag_error(im->ctx, DIAG_ONNX_GRAPH, r->origin,
                            "its body gives \"%s\" as output %zu, which nothing defines",
                            str_safe(&im->ctx->perm, r->body->output[i]->name, 120), i);
        ok = ok && value != &im->failed;
        r->outputs[i] = value;
    }
    if (ok)
        remember(r);
    return ok && import_goes_on(im);
}

static struct value *make(struct rounds *r, enum op op, const union attrs *attrs, const char *name,
                          int n, struct value *const *inputs)
{
    return build(r->im->module->main, op, attrs, name, r->origin, NULL, n, inputs);
}

/* Output i of every round, side by side along a new axis. */
static struct value *stack(struct rounds *r, size_t i, int64_t axis, bool backwards,
                           const char *name)
{
    const int n = (int)r->n_rounds;
    struct value **rows = arena_array(&r->im->arena, struct value *, n);
    union attrs attrs = { .axis = { .axis = axis } };

    for (int k = 0; k < n; k++) {
        struct value *value = r->stacked[i][backwards ? n - 1 - k : k];
        union attrs shape = { .shape = { .shape = { .n = value->type.rank + 1 } } };

        if (axis < 0)
            attrs.axis.axis = axis + value->type.rank + 1;
        if (value->type.rank >= MAX_RANK || attrs.axis.axis < 0 ||
            attrs.axis.axis > value->type.rank) {
            diag_error(r->im->ctx, DIAG_SHAPE, r->origin, "output %zu of its body has %d dims", i,
                       value->type.rank);
            return NULL;
        }
        for (int d = 0, from = 0; d <= value->type.rank; d++)
            shape.shape.shape.at[d] = d == attrs.axis.axis ? 1 : value->type.dim[from++];
        rows[k] = make(r, OP_RESHAPE, &shape, name, 1, &value);
        if (!rows[k])
            return NULL;
    }
    return n == 1 ? rows[0] : make(r, OP_CONCATENATE, &attrs, name, n, rows);
}

/* --- Loop ------------------------------------------------------------------------------------- */

enum { COUNT, CONDITION, FIRST_CARRIED };

static bool refuse(struct rounds *r, const struct value *value, const char *what)
{
    diag_error(r->im->ctx, DIAG_UNSUPPORTED_DYNAMIC, r->origin,
               "%s of this %s is computed at run time", what, r->proto->op_type);
    diag_help(r->im->ctx, "export the model with its loops unrolled, or their counts fixed");
    if (value)
        import_help_freeze(r->im, value);
    return false;
}

/* The number that a value has at compile time: of a count, of a condition. */
static bool known_number(struct rounds *r, const struct value *value, const char *what, double *out)
{
    const int n_errors = r->im->ctx->diags.n_errors;
    struct tensor known;

    if (!import_known(r->im, value, &known)) /* or beyond a limit, which has been said */
        return r->im->ctx->diags.n_errors == n_errors && refuse(r, value, what);
    if (type_elements(&known.type) != 1)
        return diag_error(r->im->ctx, DIAG_SHAPE, r->origin,
                          "%s has the shape %s, expected one number", what,
                          shape_text(&r->im->ctx->perm, &known.type));
    *out = tensor_at(&known, 0);
    return true;
}

/* Rounds until the count or the condition ends them. */
static bool run_loop(struct rounds *r, struct value *count, struct value *condition)
{
    const struct type scalar = { .dtype = DTYPE_I64 };
    double most = (double)limit_value(r->im->ctx, LIMIT_NODES), goes_on = 1;

    if (count && !known_number(r, count, "the count", &most))
        return false;
    if (!count && !condition)
        return diag_error(r->im->ctx, DIAG_ONNX_GRAPH, r->origin, "this loop never ends");
    if (condition && !known_number(r, condition, "the condition", &goes_on))
        return false;
    while (goes_on != 0 && (double)r->n_rounds < most) {
        struct tensor number = tensor_new(&r->im->module->bulk, &scalar);

        *(int64_t *)number.data = (int64_t)r->n_rounds;
        r->inputs[COUNT] = constant_new(r->im->module->main, r->body->input[COUNT]->name,
                                        &number.type, number.data);
        r->inputs[CONDITION] = condition;
        if (!condition) {
            const struct type truth = { .dtype = DTYPE_BOOL };
            struct tensor yes = tensor_new(&r->im->module->bulk, &truth);

            *(uint8_t *)yes.data = 1;
            r->inputs[CONDITION] = constant_new(
                r->im->module->main, r->body->input[CONDITION]->name, &yes.type, yes.data);
        }
        if (!run_body(r))
            return false;
        condition = r->outputs[0];
        if (!known_number(r, condition, "the condition", &goes_on))
            return false;
        for (size_t i = 0; i < r->n_carried; i++)
            r->inputs[FIRST_CARRIED + i] = r->outputs[1 + i];
    }
    return true;
}

bool import_loop(struct import *im, struct scope *scope, const Onnx__NodeProto *proto,
                 const struct origin *origin)
{
    struct value **operands = arena_array(&im->arena, struct value *, proto->n_input + 2);
    struct rounds r;
    size_t carried;

    if (proto->n_input < FIRST_CARRIED)
        return diag_error(im->ctx, DIAG_ONNX_GRAPH, origin, "Loop has two inputs and more");
    carried = proto->n_input - FIRST_CARRIED;
    if (!begin(&r, im, scope, proto, origin) ||
        !check_counts(&r, proto->n_input, 1 + carried, carried) ||
        !import_operands(im, scope, proto, origin, operands) ||
        !check_begun(&r, operands + FIRST_CARRIED, FIRST_CARRIED))
        return false;
    if (proto->n_output > r.body->n_output - 1)
        return diag_error(im->ctx, DIAG_ONNX_GRAPH, origin,
                          "it has %zu outputs, its body gives %zu", proto->n_output,
                          r.body->n_output - 1);
    for (size_t i = 0; i < carried; i++)
        r.inputs[FIRST_CARRIED + i] = operands[FIRST_CARRIED + i];
    if (!run_loop(&r, operands[COUNT], operands[CONDITION]))
        return false;
    for (size_t i = 0; i < proto->n_output; i++) {
        const char *name = proto->output[i];
        struct value *value = i < carried ? r.inputs[FIRST_CARRIED + i] : NULL;

        if (!*name)
            continue;
        if (i >= carried && r.n_rounds == 0)
            return diag_error(im->ctx, DIAG_UNSUPPORTED_FORM, origin,
                              "a loop of no rounds gives an empty output %zu", i);
        if (i >= carried)
            value = stack(&r, 1 + i, 0, false, name);
        if (!value)
            return false;
        scope_bind(im, scope, name, value);
    }
    return true;
}

/* --- Scan ------------------------------------------------------------------------------------- */

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
    y = make(r, OP_STRIDED_SLICE, &cut, x->name, 1, &x);
    return y ? make(r, OP_RESHAPE, &shape, x->name, 1, &y) : NULL;
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
        if (!run_body(r))
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
    if (!begin(&r, im, scope, proto, origin) ||
        !check_counts(&r, proto->n_input, proto->n_input - (size_t)count->i,
                      proto->n_input - (size_t)count->i) ||
        !import_operands(im, scope, proto, origin, operands) || !check_begun(&r, operands, 0))
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
                                : stack(&r, i, listed(&r, "scan_output_axes", k, 0),
                                        listed(&r, "scan_output_directions", k, 0) != 0, name);
        if (!value)
            return false;
        scope_bind(im, scope, name, value);
    }
    return true;
}
