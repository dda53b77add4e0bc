/* control.c - nodes that are not operators: constants, branches whose condition is known at compile
 * time, and calls of functions that the model defines. Loops: loops.c. */
#include <string.h>

#include "base/str.h"
#include "frontend/onnx/importer.h"

typedef bool special(struct import *im, struct scope *scope, const Onnx__NodeProto *proto,
                     const struct origin *origin);

/* --- Constant --------------------------------------------------------------------------------- */

static struct tensor numbers(struct import *im, enum dtype dtype, bool list, size_t n)
{
    const int64_t dim = (int64_t)n;
    const struct type type = type_make(dtype, list ? 1 : 0, &dim);

    return tensor_new(&im->module->bulk, &type);
}

static bool constant_attr(struct import *im, const Onnx__AttributeProto *attr,
                          const struct origin *origin, struct tensor *out)
{
    const struct {
        const char *name;
        enum dtype dtype;
        bool list;
        size_t n;
        const void *from;
    } forms[] = {
        { "value_float", DTYPE_F32, false, 1, &attr->f },
        { "value_floats", DTYPE_F32, true, attr->n_floats, attr->floats },
        { "value_int", DTYPE_I64, false, 1, &attr->i },
        { "value_ints", DTYPE_I64, true, attr->n_ints, attr->ints },
    };

    if (strcmp(attr->name, "value") == 0 && attr->t)
        return tensor_decode(&im->reader, origin, attr->t, out);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strcmp(attr->name, forms[i].name) == 0) {
            *out = numbers(im, forms[i].dtype, forms[i].list, forms[i].n);
            if (forms[i].n)
                memcpy(out->data, forms[i].from, type_bytes(&out->type));
            return true;
        }
    if (str_starts(attr->name, "value_string") || strcmp(attr->name, "sparse_value") == 0)
        return diag_error(im->ctx, DIAG_UNSUPPORTED_TYPE, origin,
                          "the constant has the unsupported kind %s",
                          str_safe(&im->ctx->perm, attr->name, 60));
    return diag_error(im->ctx, DIAG_ONNX_ATTRIBUTE, origin,
                      "attribute %s does not give the constant a value",
                      str_safe(&im->ctx->perm, attr->name, 60));
}

bool import_constant(struct import *im, struct scope *scope, const Onnx__NodeProto *proto,
                     const struct origin *origin)
{
    struct tensor tensor;

    if (proto->n_attribute != 1 || proto->n_output != 1)
        return diag_error(im->ctx, DIAG_ONNX_ATTRIBUTE, origin,
                          "a constant has one attribute and one output, this has %zu and %zu",
                          proto->n_attribute, proto->n_output);
    if (!constant_attr(im, proto->attribute[0], origin, &tensor))
        return false;
    scope_bind(im, scope, proto->output[0],
               constant_new(im->module->main, proto->output[0], &tensor.type, tensor.data));
    return true;
}

/* --- If --------------------------------------------------------------------------------------- */

bool import_go_deeper(struct import *im, const struct origin *origin)
{
    if (im->depth >= IMPORT_MAX_DEPTH)
        return diag_error(im->ctx, DIAG_UNSUPPORTED_FORM, origin,
                          "branches and functions are nested more than %d deep", IMPORT_MAX_DEPTH);
    im->depth++;
    return true;
}

/* The values that the inner scope has under `names`, one for each output of the node. */
static bool find_results(struct import *im, const struct scope *inner, const Onnx__NodeProto *proto,
                         const struct origin *origin, char *const *names, size_t n,
                         struct value **results)
{
    bool ok = true;

    if (proto->n_output > n)
        return diag_error(im->ctx, DIAG_ONNX_GRAPH, origin,
                          "it has %zu outputs, its body gives %zu", proto->n_output, n);
    for (size_t i = 0; i < proto->n_output; i++) {
        results[i] = scope_find(inner, names[i]);
        if (!results[i] || results[i] == &im->absent)
            ok = diag_error(im->ctx, DIAG_ONNX_GRAPH, origin,
                            "its body gives \"%s\" as output %zu, which nothing defines",
                            str_safe(&im->ctx->perm, names[i], 120), i);
    }
    return ok;
}

static void bind_results(struct import *im, struct scope *scope, const Onnx__NodeProto *proto,
                         struct value *const *results)
{
    for (size_t i = 0; i < proto->n_output; i++)
        if (*proto->output[i])
            scope_bind(im, scope, proto->output[i], results[i]);
}

/* What the branch gives, [proto->n_output]; NULL where nobody wants it. */
static bool import_branch(struct import *im, struct scope *scope, const Onnx__NodeProto *proto,
                          const struct origin *origin, const Onnx__GraphProto *branch,
                          struct value **results)
{
    struct scope inner = { .parent = scope,
                           .n_opsets = scope->n_opsets,
                           .opsets = scope->opsets,
                           .call = scope->call,
                           .node_index = origin->index };
    char **names = arena_array(&im->arena, char *, branch->n_output);
    bool ok;

    if (branch->n_input)
        return diag_error(im->ctx, DIAG_ONNX_GRAPH, origin, "a branch has no inputs, this has %zu",
                          branch->n_input);
    if (!import_go_deeper(im, origin))
        return false;
    import_initializers(im, &inner, branch);
    import_nodes(im, &inner, branch->n_node, branch->node);
    for (size_t i = 0; i < branch->n_output; i++)
        names[i] = branch->output[i]->name;
    ok = find_results(im, &inner, proto, origin, names, branch->n_output, results);
    im->depth--;
    return ok;
}

/* One node for each result that both branches give. */
static bool join_branches(struct import *im, struct scope *scope, const Onnx__NodeProto *proto,
                          const struct origin *origin, struct value *condition,
                          struct value *const *yes, struct value *const *no)
{
    bool ok = true;

    for (size_t i = 0; i < proto->n_output; i++) {
        struct value *const inputs[] = { condition, yes[i], no[i] };
        const char *name = proto->output[i];
        struct value *value;

        if (!*name)
            continue;
        if (yes[i] == &im->failed || no[i] == &im->failed) {
            scope_bind(im, scope, name, &im->failed);
            continue;
        }
        value = import_join_sequences(im, name, origin, condition, yes[i], no[i]);
        if (value) {
            scope_bind(im, scope, name, value);
            continue;
        }
        if (import_is_strings(im, yes[i]) || import_is_strings(im, no[i]) ||
            import_is_sequence(yes[i]) || import_is_sequence(no[i]))
            return diag_error(im->ctx, DIAG_UNSUPPORTED_TYPE, origin,
                              "output %zu of this If is %s, chosen at run time, and the branches' "
                              "have not the same "
                              "elements",
                              i,
                              import_is_strings(im, yes[i]) || import_is_strings(im, no[i])
                                  ? "strings"
                                  : "a sequence");
        if (yes[i]->type.dtype != no[i]->type.dtype ||
            !type_same_shape(&yes[i]->type, &no[i]->type)) {
            ok = diag_error(im->ctx, DIAG_UNSUPPORTED_DYNAMIC, origin,
                            "output %zu \"%s\" is %s in its then_branch and %s in its else_branch, "
                            "and the condition is computed at run time: one type was expected",
                            i, str_safe(&im->ctx->perm, name, 120),
                            type_text(&im->ctx->perm, &yes[i]->type),
                            type_text(&im->ctx->perm, &no[i]->type));
            diag_help(im->ctx, "export the model with the condition fixed, so that one branch "
                               "remains, or pad both results to one shape");
            import_help_freeze(im, condition);
            continue;
        }
        value = build(im->module->main, OP_IF, NULL, name, origin, NULL, 3, inputs);
        if (!value)
            return false;
        scope_bind(im, scope, name, value);
    }
    return ok;
}

bool import_if(struct import *im, struct scope *scope, const Onnx__NodeProto *proto,
               const struct origin *origin)
{
    const Onnx__AttributeProto *branches[] = { attribute_find(proto, "else_branch"),
                                               attribute_find(proto, "then_branch") };
    struct value **results[2], *condition = NULL;
    struct tensor known;
    int taken;

    if (proto->n_input != 1 || !*proto->input[0] || !branches[0] || !branches[0]->g ||
        !branches[1] || !branches[1]->g)
        return diag_error(im->ctx, DIAG_ONNX_ATTRIBUTE, origin,
                          "If needs a condition and the graphs then_branch and else_branch");
    if (!import_operands(im, scope, proto, origin, &condition))
        return false;
    if (!condition || import_is_sequence(condition))
        return diag_error(im->ctx, DIAG_TYPE, origin, "the condition is %s",
                          condition ? "a sequence" : "absent");
    if (type_elements(&condition->type) != 1 || condition->type.dtype != DTYPE_BOOL)
        return diag_error(im->ctx, DIAG_SHAPE, origin,
                          "the condition is %s, expected one truth value",
                          type_text(&im->ctx->perm, &condition->type));
    for (int i = 0; i < 2; i++)
        results[i] = arena_array(&im->arena, struct value *, proto->n_output);
    if (import_known(im, condition, &known)) {
        taken = tensor_at(&known, 0) != 0;
        if (!import_branch(im, scope, proto, origin, branches[taken]->g, results[taken]))
            return false;
        bind_results(im, scope, proto, results[taken]);
        return true;
    }
    for (int i = 1; i >= 0; i--) {
        const int n_errors = im->ctx->diags.n_errors;
        const bool ok = import_branch(im, scope, proto, origin, branches[i]->g, results[i]);

        if (im->ctx->diags.n_errors > n_errors) {
            diag_note(im->ctx, "it is in the %s of an If whose condition is computed at run time",
                      branches[i]->name);
            import_help_freeze(im, condition);
        }
        if (!ok)
            return false;
    }
    return join_branches(im, scope, proto, origin, condition, results[1], results[0]);
}

/* --- functions of the model ------------------------------------------------------------------- */

/* One text for what identifies a function; the strange byte is in no sensible name. */
static const char *function_key(struct import *im, const char *domain, const char *name,
                                const char *overload)
{
    return arena_printf(&im->arena, "%s\1%s\1%s", domain_canonical(domain), name, overload);
}

void import_functions(struct import *im)
{
    im->functions.arena = &im->arena;
    for (size_t i = 0; i < im->model->n_functions && import_goes_on(im); i++) {
        Onnx__FunctionProto *f = im->model->functions[i];
        const char *key = function_key(im, f->domain, f->name, f->overload);

        if (map_get(&im->functions, key))
            diag_error(im->ctx, DIAG_ONNX_GRAPH, NULL, "the function %s is defined twice",
                       str_safe(&im->ctx->perm, f->name, 60));
        map_set(&im->functions, key, f);
    }
}

static const Onnx__FunctionProto *find_function(struct import *im, const Onnx__NodeProto *proto)
{
    if (!im->model->n_functions)
        return NULL;
    return map_get(&im->functions,
                   function_key(im, proto->domain, proto->op_type, proto->overload));
}

static bool check_call(struct import *im, const struct scope *scope, const Onnx__NodeProto *proto,
                       const struct origin *origin, const Onnx__FunctionProto *function)
{
    for (const struct call *call = scope->call; call; call = call->outer)
        if (call->function == function)
            return diag_error(im->ctx, DIAG_ONNX_GRAPH, origin, "the function %s calls itself",
                              str_safe(&im->ctx->perm, function->name, 60));
    if (proto->n_input > function->n_input)
        return diag_error(im->ctx, DIAG_ONNX_GRAPH, origin,
                          "it has %zu inputs, its function takes %zu", proto->n_input,
                          function->n_input);
    return true;
}

static bool import_call(struct import *im, struct scope *scope, const Onnx__NodeProto *proto,
                        const struct origin *origin, const Onnx__FunctionProto *function)
{
    const struct call call = { proto, function, scope->call };
    struct scope inner = { .n_opsets = function->n_opset_import,
                           .opsets = function->opset_import,
                           .call = &call,
                           .node_index = origin->index };
    struct value **inputs = arena_array(&im->arena, struct value *, function->n_input);
    struct value **results = arena_array(&im->arena, struct value *, proto->n_output);
    bool ok;

    if (!check_call(im, scope, proto, origin, function) ||
        !import_operands(im, scope, proto, origin, inputs) || !import_go_deeper(im, origin))
        return false;
    for (size_t i = 0; i < function->n_input; i++)
        scope_bind(im, &inner, function->input[i], inputs[i] ? inputs[i] : &im->absent);
    import_nodes(im, &inner, function->n_node, function->node);
    ok = find_results(im, &inner, proto, origin, function->output, function->n_output, results);
    im->depth--;
    if (ok)
        bind_results(im, scope, proto, results);
    return ok;
}

/* What a reference to a function's attribute stands for in this call; NULL = left out. */
static const Onnx__AttributeProto *referred(const struct call *call, const char *name)
{
    const Onnx__AttributeProto *given = attribute_find(call->node, name);

    for (size_t i = 0; i < call->function->n_attribute_proto && !given; i++)
        if (strcmp(call->function->attribute_proto[i]->name, name) == 0)
            given = call->function->attribute_proto[i];
    return given;
}

const Onnx__NodeProto *resolve_attributes(struct import *im, const struct scope *scope,
                                          const Onnx__NodeProto *proto)
{
    Onnx__NodeProto *copy;
    bool refers = false;

    for (size_t i = 0; i < proto->n_attribute; i++)
        refers = refers || *proto->attribute[i]->ref_attr_name;
    if (!refers || !scope->call)
        return proto;
    copy = arena_memdup(&im->arena, proto, sizeof *proto);
    copy->attribute = arena_array(&im->arena, Onnx__AttributeProto *, proto->n_attribute);
    copy->n_attribute = 0;
    for (size_t i = 0; i < proto->n_attribute; i++) {
        Onnx__AttributeProto *attr = proto->attribute[i];
        const Onnx__AttributeProto *given =
            *attr->ref_attr_name ? referred(scope->call, attr->ref_attr_name) : attr;

        if (!given)
            continue;
        copy->attribute[copy->n_attribute] = arena_memdup(&im->arena, given, sizeof *given);
        copy->attribute[copy->n_attribute++]->name = attr->name;
    }
    return copy;
}

/* --- which node is special -------------------------------------------------------------------- */

static special *find_special(const Onnx__NodeProto *proto)
{
    static const struct {
        const char *domain, *op_type;
        special *import;
    } specials[] = {
#define SPECIAL(domain, name, function) { domain, name, function },
#include "frontend/onnx/special.def"
#undef SPECIAL
    };

    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
        if (strcmp(specials[i].domain, domain_canonical(proto->domain)) == 0 &&
            strcmp(specials[i].op_type, proto->op_type) == 0)
            return specials[i].import;
    return NULL;
}

bool import_is_special(struct import *im, const Onnx__NodeProto *proto)
{
    return find_function(im, proto) || find_special(proto);
}

bool import_special(struct import *im, struct scope *scope, const Onnx__NodeProto *proto,
                    const struct origin *origin, bool *done)
{
    const Onnx__FunctionProto *function = find_function(im, proto);
    special *import = find_special(proto);

    *done = function || import;
    if (function)
        return import_call(im, scope, proto, origin, function);
    return import && import(im, scope, proto, origin);
}
