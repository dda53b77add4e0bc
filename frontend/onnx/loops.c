/* loops.c - Loop, and what it shares with Scan (scan.c): their bodies, written out round by round. What the rounds do
 * is folded and fused like everything else. Where a loop may end sooner, at run time, an `if` after each round chooses
 * what it gives, and the C skips the rounds that are left.
 *
 * Each round has a scope of its own, in which the body's inputs are bound; the body's constants are
 * made once. LIMIT_NODES bounds what comes of it. */
#include "frontend/onnx/body.h"

#include "base/str.h"
#include "frontend/expected.h"
#include "relay_ir/range.h"

bool body_begin(struct rounds *r, struct import *im, struct scope *scope,
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
bool body_check_counts(struct rounds *r, size_t n_inputs, size_t least_outputs, size_t carried)
{
    r->n_carried = carried;
    if (r->body->n_input == n_inputs && r->body->n_output >= least_outputs)
        return true;
    return diag_error(r->im->ctx, DIAG_ONNX_GRAPH, r->origin,
                      "its body has %zu inputs and %zu outputs, wanted %zu and %zu or more",
                      r->body->n_input, r->body->n_output, n_inputs, least_outputs);
}

/* Values that rounds hand on begin somewhere. */
bool body_check_begun(struct rounds *r, struct value *const *values, size_t first)
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
bool body_run(struct rounds *r)
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

struct value *body_make(struct rounds *r, enum op op, const union attrs *attrs, const char *name,
                        int n, struct value *const *inputs)
{
    return build(r->im->module->main, op, attrs, name, r->origin, NULL, n, inputs);
}

/* Output i of every round, side by side along a new axis. */
struct value *body_stack(struct rounds *r, size_t i, int64_t axis, bool backwards, const char *name)
{
    const int n = (int)r->n_rounds;
    struct value **rows = arena_array(&r->im->arena, struct value *, n);
    union attrs attrs = { .axis = { .axis = axis } };

    for (int k = 0; k < n; k++) {
        struct value *value = r->stacked[i][backwards ? n - 1 - k : k];
        union attrs shape = { .shape = { .shape = { .n = value->type.rank + 1 } } };

        if (import_is_sequence(value)) {
            diag_error(r->im->ctx, DIAG_TYPE, r->origin, "output %zu of its body is a sequence", i);
            return NULL;
        }
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
        rows[k] = body_make(r, OP_RESHAPE, &shape, name, 1, &value);
        if (!rows[k])
            return NULL;
    }
    return n == 1 ? rows[0] : body_make(r, OP_CONCATENATE, &attrs, name, n, rows);
}

/* --- Loop ------------------------------------------------------------------------------------- */

static bool refuse(struct rounds *r, const struct value *value, const char *what)
{
    diag_error(r->im->ctx, DIAG_UNSUPPORTED_DYNAMIC, r->origin,
               "%s of this %s is computed at run time", what, r->proto->op_type);
    diag_help(r->im->ctx, "export the model with its loops unrolled, or their counts fixed");
    diag_help(r->im->ctx, "--max-rounds N, if there are never more than N");
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

struct value *body_number(struct rounds *r, enum dtype dtype, int64_t n, const char *name)
{
    const struct type type = { .dtype = dtype };
    struct tensor tensor = tensor_new(&r->im->module->bulk, &type);

    if (dtype == DTYPE_BOOL)
        *(uint8_t *)tensor.data = n != 0;
    else
        *(int64_t *)tensor.data = n;
    return constant_new(r->im->module->main, name, &tensor.type, tensor.data);
}

/* What the loop has after a round that runs only if r->alive: `now`, or `before` of that round. */
static struct value *unless_ended(struct rounds *r, struct value *now, struct value *before)
{
    if (!r->alive || now == before)
        return now;
    if (import_is_sequence(now) || import_is_sequence(before)) {
        diag_error(r->im->ctx, DIAG_UNSUPPORTED_TYPE, r->origin,
                   "this loop ends at run time, and hands on a sequence");
        return NULL;
    }
    if (now->type.dtype != before->type.dtype || !type_same_shape(&now->type, &before->type)) {
        diag_error(
            r->im->ctx, DIAG_UNSUPPORTED_DYNAMIC, r->origin,
            "this loop ends at run time, and round %zu makes %s of what was %s: one type was "
            "expected",
            r->n_rounds - 1, type_text(&r->im->ctx->perm, &now->type),
            type_text(&r->im->ctx->perm, &before->type));
        return NULL;
    }
    return body_make(r, OP_IF, NULL, now->name, 3,
                     (struct value *const[]){ r->alive, now, before });
}

/* The loop goes on if this holds, too. */
static bool go_on_if(struct rounds *r, struct value *truth)
{
    const struct type *like = r->alive ? &r->alive->type : NULL;
    union attrs attrs = { .shape = { .shape = { 0 } } };

    for (int d = 0; like && d < like->rank; d++)
        attrs.shape.shape.at[attrs.shape.shape.n++] = 1;
    if (truth && like && truth->type.rank != like->rank)
        truth = body_make(r, OP_RESHAPE, &attrs, truth->name, 1, &truth);
    r->alive = truth && r->alive ? unless_ended(r, truth, r->alive) : truth;
    r->ends = true;
    return r->alive != NULL;
}

/* After a round: what the next one is given. */
static bool hand_on(struct rounds *r, bool condition_is_known)
{
    struct value *condition = r->outputs[0];

    for (size_t i = 0; i < r->n_carried; i++) {
        struct value **state = &r->inputs[FIRST_CARRIED + i];

        *state = unless_ended(r, r->outputs[1 + i], *state);
        if (!*state)
            return false;
    }
    return condition_is_known || go_on_if(r, condition);
}

bool body_condition(struct rounds *r, struct value *condition, bool *is_known, double *goes_on)
{
    const int n_errors = r->im->ctx->diags.n_errors;
    struct tensor known;

    *is_known = !condition || import_known(r->im, condition, &known);
    *goes_on = 1;
    if (condition && (type_elements(&condition->type) != 1 || condition->type.dtype != DTYPE_BOOL))
        return diag_error(r->im->ctx, DIAG_SHAPE, r->origin,
                          "the condition is %s, expected one truth value",
                          type_text(&r->im->ctx->perm, &condition->type));
    if (condition && *is_known)
        *goes_on = tensor_at(&known, 0);
    return r->im->ctx->diags.n_errors == n_errors;
}

static bool is_known(struct rounds *r, const struct value *value)
{
    struct tensor known;

    return import_known(r->im, value, &known);
}

bool loop_round(struct rounds *r, struct value *condition)
{
    r->inputs[COUNT] = body_number(r, DTYPE_I64, (int64_t)r->n_rounds, r->body->input[COUNT]->name);
    r->inputs[CONDITION] =
        condition ? condition : body_number(r, DTYPE_BOOL, 1, r->body->input[CONDITION]->name);
    return body_run(r);
}

/* A count of run time: it goes on if there are more rounds than those so far. */
static bool count_on(struct rounds *r, struct value *count)
{
    struct value *operands[2] = { body_number(r, DTYPE_I64, (int64_t)r->n_rounds, "rounds"),
                                  count };

    return go_on_if(r, body_make(r, OP_LESS, NULL, count->name, 2, operands));
}

/* Whether a count of run time has a bound: of its own, or by --max-rounds. */
static bool is_bounded(struct rounds *r, const struct value *count)
{
    struct range range;

    return r->im->ctx->limits.given[LIMIT_ROUNDS] ||
           (range_of_value(count, NULL, &range) &&
            range.high <= limit_value(r->im->ctx, LIMIT_ROUNDS));
}

/* A count of run time: *most is the greatest that it may be. */
static bool is_count(struct rounds *r, const struct value *count, double *most)
{
    struct range range;

    if (count->type.dtype != DTYPE_I64 || type_elements(&count->type) != 1)
        return diag_error(r->im->ctx, DIAG_SHAPE, r->origin, "the count is %s, expected one i64",
                          type_text(&r->im->ctx->perm, &count->type));
    if (range_of_value(count, NULL, &range) && (double)range.high < *most)
        *most = range.high > 0 ? (double)range.high : 0;
    return true;
}

/* Rounds that are written out of `most`, now that run time ends the loop: as many as --max-rounds says; without it, all, up
 * to its limit. 0 after an error. */
static double rounds_of(struct rounds *r, double most, const struct value *condition)
{
    const double open = (double)limit_value(r->im->ctx, LIMIT_ROUNDS);

    if (most <= open || r->im->ctx->limits.given[LIMIT_ROUNDS])
        return most < open ? most : open;
    (void)refuse(r, condition, "the condition");
    return 0;
}

/* Rounds until the count or the condition ends them. What run time may end is chosen after each round: the C skips the
 * rounds that are left. A run that asks for more rounds than are written out gives NAME_WRONG_NUMBER. */
static bool run_loop(struct rounds *r, struct value *count, struct value *condition)
{
    const bool counts = count && !is_known(r, count) && is_bounded(r, count);
    double most = (double)limit_value(r->im->ctx, LIMIT_NODES), goes_on = 1;
    bool condition_is_known;

    if (counts ? !is_count(r, count, &most) : count && !known_number(r, count, "the count", &most))
        return false;
    if (!count && !condition)
        return diag_error(r->im->ctx, DIAG_ONNX_GRAPH, r->origin, "this loop never ends");
    if (!body_condition(r, condition, &condition_is_known, &goes_on) ||
        (!condition_is_known && !go_on_if(r, condition)))
        return false;
    while (goes_on != 0) {
        double rounds = most;

        if (counts && !count_on(r, count))
            return false;
        if (r->ends && (rounds = rounds_of(r, most, condition)) == 0 && most > 0)
            return false;
        if ((double)r->n_rounds >= rounds) {
            if (rounds < most)
                r->holds = expected_too(r->im->module->main, r->origin, NULL, r->alive, false);
            return rounds >= most || r->holds;
        }
        if (!loop_round(r, condition))
            return false;
        condition = r->outputs[0];
        if (!body_condition(r, condition, &condition_is_known, &goes_on) ||
            !hand_on(r, condition_is_known))
            return false;
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
    if (!body_begin(&r, im, scope, proto, origin) ||
        !body_check_counts(&r, proto->n_input, 1 + carried, carried) ||
        !import_operands(im, scope, proto, origin, operands) ||
        !body_check_begun(&r, operands + FIRST_CARRIED, FIRST_CARRIED))
        return false;
    if (proto->n_output > r.body->n_output - 1)
        return diag_error(im->ctx, DIAG_ONNX_GRAPH, origin,
                          "it has %zu outputs, its body gives %zu", proto->n_output,
                          r.body->n_output - 1);
    for (size_t i = 0; i < carried; i++)
        r.inputs[FIRST_CARRIED + i] = operands[FIRST_CARRIED + i];
    if ((operands[COUNT] && !is_known(&r, operands[COUNT])) ||
        (operands[CONDITION] && !is_known(&r, operands[CONDITION])))
        r.declared = loop_declared_rounds(&r);
    if (r.declared ? !loop_run_declared(&r, operands[COUNT], operands[CONDITION])
                   : !run_loop(&r, operands[COUNT], operands[CONDITION]))
        return false;
    for (size_t i = 0; i < proto->n_output; i++) {
        const char *name = proto->output[i];
        struct value *value = i < carried ? r.inputs[FIRST_CARRIED + i] : NULL;

        if (!*name)
            continue;
        if (i >= carried && r.ends) {
            diag_error(im->ctx, DIAG_UNSUPPORTED_DYNAMIC, origin,
                       "the length of output %zu depends on the round in which this loop ends, at "
                       "run time",
                       i);
            diag_help(im->ctx, "cut the model in front of it (--cut), or keep what you need of it "
                               "in a value that rounds hand on");
            return false;
        }
        if (i >= carried && r.n_rounds == 0)
            return diag_error(im->ctx, DIAG_UNSUPPORTED_FORM, origin,
                              "a loop of no rounds gives an empty output %zu", i);
        if (i >= carried)
            value = body_stack(&r, 1 + i, 0, false, name);
        value = loop_if_expected(&r, value);
        if (!value)
            return false;
        scope_bind(im, scope, name, value);
    }
    return true;
}
