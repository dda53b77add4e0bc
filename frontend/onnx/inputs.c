/* inputs.c - the graph's inputs become parameters with every dim a number; its outputs results. */
#include <string.h>

#include "base/str.h"
#include "frontend/onnx/importer.h"

const struct shape_binding *import_binding(const struct import_options *options, const char *name)
{
    for (int i = 0; i < options->n_shapes; i++)
        if (strcmp(options->shapes[i].name, name) == 0)
            return &options->shapes[i];
    return NULL;
}

static const char *safe(struct import *im, const char *name)
{
    return str_safe(&im->ctx->perm, name, 120);
}

/* --- unbound dims ----------------------------------------------------------------------------- */

/* A first dim that is open, or one that is called so, counts examples; 1 is what firmware wants. */
static bool is_batch(const Onnx__TensorShapeProto__Dimension *dim, size_t axis)
{
    static const char *const names[] = { "batch", "N", "n", "bs", "unk__" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) > 1 ? str_starts(dim->dim_param, names[i])
                                 : strcmp(dim->dim_param, names[i]) == 0)
            return true;
    return axis == 0;
}

bool import_is_plain(const char *name)
{
    for (; *name; name++)
        if (!strchr("_.:/-", *name) && !(*name >= '0' && *name <= '9') &&
            !((*name | 32) >= 'a' && (*name | 32) <= 'z'))
            return false;
    return true;
}

/* The option that binds the input, ready to be used when only its batch is open. */
static void suggest_shape(struct import *im, const char *name, const Onnx__TensorShapeProto *shape)
{
    struct str text = { .arena = &im->ctx->perm };
    bool exact = shape != NULL;

    for (size_t i = 0; shape && i < shape->n_dim; i++) {
        const Onnx__TensorShapeProto__Dimension *dim = shape->dim[i];

        str_add(&text, i ? "," : "");
        if (dim->has_dim_value && dim->dim_value >= 0)
            str_printf(&text, "%lld", (long long)dim->dim_value);
        else if (is_batch(dim, i))
            str_add(&text, "1");
        else
            str_add(&text,
                    *dim->dim_param && import_is_plain(dim->dim_param) ? dim->dim_param : "?");
        exact = exact && ((dim->has_dim_value && dim->dim_value >= 0) || is_batch(dim, i));
    }
    diag_help(im->ctx, import_is_plain(name) ? "--shape %s=%s%s" : "--shape '%s=%s'%s",
              safe(im, name), shape ? str_text(&text) : "1,...",
              exact ? "" : ", with numbers for the open dims");
}

/* --- one input -------------------------------------------------------------------------------- */

static bool refuse_binding(struct import *im, const struct shape_binding *binding,
                           const char *problem)
{
    return diag_error(im->ctx, DIAG_USAGE, NULL, "--%s %s: %s", binding->is_size ? "vary" : "shape",
                      safe(im, binding->name), problem);
}

static bool bind_whole_shape(struct import *im, const struct shape_binding *binding,
                             const Onnx__TensorShapeProto *shape, struct type *type)
{
    struct arena *arena = &im->ctx->perm;

    if (binding->rank < 0)
        return refuse_binding(im, binding, "the input is a tensor, which is always there");
    if (shape && shape->n_dim != (size_t)binding->rank)
        return refuse_binding(im, binding,
                              arena_printf(arena, "%d dims are given, the model's input has %zu",
                                           binding->rank, shape->n_dim));
    for (int i = 0; shape && i < binding->rank; i++)
        if (shape->dim[i]->has_dim_value && shape->dim[i]->dim_value >= 0 &&
            shape->dim[i]->dim_value != binding->dim[i])
            return refuse_binding(
                im, binding,
                arena_printf(arena, "dim %d is given as %lld, the model fixes it to %lld", i,
                             (long long)binding->dim[i], (long long)shape->dim[i]->dim_value));
    *type = type_make(type->dtype, binding->rank, binding->dim);
    return true;
}

static bool bind_each_dim(struct import *im, const char *name, const Onnx__TensorShapeProto *shape,
                          struct type *type)
{
    const struct frozen_input *frozen = import_frozen(im->options, name);
    bool bound = shape != NULL, any_open = false;

    for (size_t i = 0; shape && i < shape->n_dim; i++) {
        const Onnx__TensorShapeProto__Dimension *dim = shape->dim[i];
        const struct shape_binding *binding =
            *dim->dim_param ? import_binding(im->options, dim->dim_param) : NULL;

        if (binding && binding->rank != 1)
            return refuse_binding(im, binding, "a dimension is one number");
        if (binding && binding->is_size && binding->dim[0] == 0)
            return refuse_binding(im, binding, "found 0, a dimension is at least 1");
        if (dim->has_dim_value && dim->dim_value >= 0)
            type->dim[i] = dim->dim_value;
        else if (binding)
            type->dim[i] = binding->dim[0];
        else if (frozen && frozen->n == 0)
            type->dim[i] = 0;
        else if (im->options->obstacles) {
            type->dim[i] = is_batch(dim, i) ? 1 : im->options->obstacles->open_length;
            any_open = true;
        } else
            bound = false;
    }
    if (bound && !any_open) {
        type->rank = (int)shape->n_dim;
        return true;
    }
    if (any_open) {
        type->rank = (int)shape->n_dim;
        im->n_open++;
    }
    diag_error(im->ctx, DIAG_UNBOUND_DIM, NULL, "input \"%s\" has no fixed shape", safe(im, name));
    suggest_shape(im, name, shape);
    return any_open;
}

bool import_declared_type(struct import *im, const Onnx__ValueInfoProto *info, struct type *type)
{
    const Onnx__TypeProto__Tensor *tensor = info->type ? info->type->tensor_type : NULL;
    const struct shape_binding *given = import_binding(im->options, info->name);
    const struct shape_binding *binding = given && given->is_size ? NULL : given;
    const struct type *of_part = map_get(&im->part_types, info->name);

    *type = (struct type){ .dtype = DTYPE_NONE };
    if (of_part) { /* --extract: as the nodes in front of it have it, unless --shape says another */
        *type = *of_part;
        return !binding || bind_whole_shape(im, binding, NULL, type);
    }
    if (!info->type && im->options->n_from) {
        diag_error(im->ctx, DIAG_UNSUPPORTED_FORM, NULL,
                   "the element type and shape of \"%s\" are unknown: the model does not declare "
                   "them, and "
                   "the nodes in front of it are not supported",
                   safe(im, info->name));
        diag_help(im->ctx, "onnx.shape_inference.infer_shapes adds them to the file");
        return false;
    }
    if (!tensor)
        return diag_error(im->ctx, info->type ? DIAG_UNSUPPORTED_TYPE : DIAG_ONNX_GRAPH, NULL,
                          "input \"%s\" is not declared as a tensor", safe(im, info->name));
    type->dtype = onnx_dtype(im->ctx, NULL, "input", info->name, tensor->elem_type);
    if (type->dtype == DTYPE_NONE)
        return false;
    if (tensor->shape && tensor->shape->n_dim > MAX_RANK)
        return diag_error(im->ctx, DIAG_UNSUPPORTED_FORM, NULL,
                          "input \"%s\" has rank %zu, at most %d is supported",
                          safe(im, info->name), tensor->shape->n_dim, MAX_RANK);
    if (binding ? !bind_whole_shape(im, binding, tensor->shape, type)
                : !bind_each_dim(im, info->name, tensor->shape, type))
        return false;
    return type_check_size(im->ctx, NULL, type);
}

/* --- options that name nothing ---------------------------------------------------------------- */

/* A size of --vary: whether it is the number of an input. */
static bool names_number(const struct import *im, const struct scope *scope,
                         const Onnx__GraphProto *graph, const struct shape_binding *size)
{
    for (size_t i = 0; i < graph->n_input; i++) {
        const char *name = graph->input[i]->name;
        const struct value *value = map_get(&scope->names, name);
        const int64_t n = value && value->kind == VALUE_CONSTANT ? type_elements(&value->type) : 0;

        if (value == &im->failed && str_starts(size->name, name) && strcmp(size->name, name) != 0)
            return true;
        for (int64_t k = 0; k < n && n <= MAX_INTS; k++)
            if (import_is_number_of(im, size, name, n, k))
                return true;
    }
    return false;
}

static bool names_something(const struct import_options *options, const struct scope *scope,
                            const Onnx__GraphProto *graph, const char *name)
{
    for (size_t i = 0; i < graph->n_input; i++) {
        const Onnx__TypeProto *type = graph->input[i]->type;
        const Onnx__TensorShapeProto *shape =
            type && type->tensor_type ? type->tensor_type->shape : NULL;
        const struct value *value = map_get(&scope->names, graph->input[i]->name);

        if (value && import_is_sequence(value) && str_starts(name, graph->input[i]->name))
            return true;
        if (strcmp(graph->input[i]->name, name) == 0 && value &&
            (value->kind != VALUE_CONSTANT || import_frozen(options, name)))
            return true;
        for (size_t k = 0; shape && k < shape->n_dim; k++)
            if (strcmp(shape->dim[k]->dim_param, name) == 0)
                return true;
    }
    return false;
}

static const char **input_names(struct import *im, const Onnx__GraphProto *graph)
{
    const char **names = arena_array(&im->arena, const char *, graph->n_input);

    for (size_t i = 0; i < graph->n_input; i++)
        names[i] = graph->input[i]->name;
    return names;
}

static void check_bindings(struct import *im, const struct scope *scope,
                           const Onnx__GraphProto *graph)
{
    const char **names = input_names(im, graph);

    for (int i = 0; i < im->options->n_shapes; i++) {
        const struct shape_binding *binding = &im->options->shapes[i];
        const char *near;

        if (binding->is_size ? import_names_dimension(graph, binding->name) ||
                                   names_number(im, scope, graph, binding)
                             : names_something(im->options, scope, graph, binding->name))
            continue;
        near = str_nearest(binding->name, names, graph->n_input);
        if (binding->is_size && near && strcmp(near, binding->name) == 0) {
            refuse_binding(im, binding, "the input is a tensor of more than one number");
            diag_help(im->ctx, "a dimension has a name of its own, an element is %s.0, %s.1 ...",
                      safe(im, near), safe(im, near));
            continue;
        }
        refuse_binding(im, binding, "the model has no input and no dimension of this name");
        if (near)
            diag_help(im->ctx, "there is an input \"%s\"", safe(im, near));
    }
}

/* Whoever gives a name that is none, or has a value in the model, meant something else. */
static void check_frozen(struct import *im, const Onnx__GraphProto *graph)
{
    const char **names = input_names(im, graph);

    for (int i = 0; i < im->options->n_frozen; i++) {
        const char *name = im->options->frozen[i].name, *near;
        bool is_input = false, has_value = false;

        for (size_t k = 0; k < graph->n_input; k++)
            is_input = is_input || strcmp(names[k], name) == 0;
        for (size_t k = 0; k < graph->n_initializer; k++)
            has_value = has_value || strcmp(graph->initializer[k]->name, name) == 0;
        if (is_input && !has_value)
            continue;
        diag_error(im->ctx, DIAG_USAGE, NULL, "--freeze %s: %s", safe(im, name),
                   has_value ? "the model has an initialiser for it"
                             : "the model has no input of this name");
        near = has_value ? NULL : str_nearest(name, names, graph->n_input);
        if (near)
            diag_help(im->ctx, "there is an input \"%s\"", safe(im, near));
    }
}

static bool is_declared_type(const Onnx__TypeProto__Tensor *declared, const struct value *value)
{
    return !declared->elem_type || dtype_from_onnx(declared->elem_type) == value->type.dtype;
}

static bool is_declared_shape(const Onnx__TypeProto__Tensor *declared, const struct value *value)
{
    const Onnx__TensorShapeProto *shape = declared->shape;
    bool agrees = !shape || shape->n_dim == (size_t)value->type.rank;

    for (size_t i = 0; agrees && shape && i < shape->n_dim; i++)
        agrees = !shape->dim[i]->has_dim_value || shape->dim[i]->dim_value < 0 ||
                 shape->dim[i]->dim_value == value->type.dim[i];
    return agrees;
}

/* An input's default is of the type and shape that the input declares. */
static void check_default(struct import *im, const Onnx__ValueInfoProto *info,
                          const struct value *value)
{
    const Onnx__TypeProto__Tensor *declared = info->type ? info->type->tensor_type : NULL;

    if (!declared || value == &im->failed || import_is_strings(im, value))
        return;
    if (!is_declared_type(declared, value))
        diag_error(im->ctx, DIAG_TYPE, NULL,
                   "the initialiser \"%s\" is %s, the input of its name declares another type",
                   safe(im, info->name), dtype_name(value->type.dtype));
    else if (!is_declared_shape(declared, value))
        diag_error(im->ctx, DIAG_SHAPE, NULL,
                   "the initialiser \"%s\" has the shape %s, the input of its name declares "
                   "another",
                   safe(im, info->name), shape_text(&im->ctx->perm, &value->type));
    else
        return;
    diag_help(im->ctx,
              "the file contradicts itself: export it again, or take \"%s\" out of the "
              "graph's inputs",
              safe(im, info->name));
}

static void bind_input(struct import *im, struct scope *scope, const char *name,
                       const struct type *type)
{
    const struct frozen_input *frozen;
    struct value *value;

    if (!import_given(im, name, type, &frozen))
        return;
    value = frozen ? import_freeze(im, frozen, type) : param_new(im->module->main, name, type);
    if (value)
        scope_bind(im, scope, name, value);
}

static void bind_collection(struct import *im, struct scope *scope,
                            const Onnx__ValueInfoProto *info)
{
    struct value *value = import_collection(im, info->name, info->type);

    if (value)
        scope_bind(im, scope, info->name, value);
}

void import_inputs(struct import *im, struct scope *scope, const Onnx__GraphProto *graph)
{
    struct map seen = { .arena = &im->arena };

    for (size_t i = 0; i < graph->n_input && import_goes_on(im); i++) {
        Onnx__ValueInfoProto *info = graph->input[i];
        struct type type;

        if (!*info->name || map_get(&seen, info->name)) {
            diag_error(im->ctx, DIAG_ONNX_GRAPH, NULL, "input %zu is called \"%s\"%s", i,
                       safe(im, info->name), *info->name ? " as another one is" : "");
            continue;
        }
        map_set(&seen, info->name, info);
        /* An initialiser that is listed as an input is a default for it: we take it as given. */
        if (map_get(&scope->names, info->name)) {
            check_default(im, info, map_get(&scope->names, info->name));
            continue;
        }
        if (!limit_check(im->ctx, LIMIT_INTERFACE, NULL, im->module->main->n_params + 1))
            return;
        scope_bind(im, scope, info->name, &im->failed);
        if (info->type && (info->type->sequence_type || info->type->optional_type))
            bind_collection(im, scope, info);
        else if (import_declared_type(im, info, &type))
            bind_input(im, scope, info->name, &type);
    }
    check_bindings(im, scope, graph);
    check_frozen(im, graph);
}

/* --- outputs ---------------------------------------------------------------------------------- */

/* Shapes of the file are hints of its exporter; ours are computed. But whoever declared another
 * shape for an output will be surprised. */
static void compare_declared(struct import *im, const Onnx__ValueInfoProto *info,
                             const struct value *value)
{
    const Onnx__TypeProto__Tensor *declared = info->type ? info->type->tensor_type : NULL;

    if (!declared && info->type) /* of ZipMap */
        diag_warn(im->ctx, DIAG_TYPE, NULL,
                  "output \"%s\" is an array of shape %s, the model declares no tensor",
                  safe(im, info->name), shape_text(&im->ctx->perm, &value->type));
    if (!declared)
        return;
    if (!(declared->elem_type == ONNX_STRING && import_is_strings(im, value)) &&
        !is_declared_type(declared, value))
        diag_warn(im->ctx, DIAG_TYPE, NULL, "output \"%s\" is %s, the model declares another type",
                  safe(im, info->name), dtype_name(value->type.dtype));
    if (!is_declared_shape(declared, value))
        diag_warn(im->ctx, DIAG_SHAPE, NULL,
                  "output \"%s\" has the shape %s, the model declares another",
                  safe(im, info->name), shape_text(&im->ctx->perm, &value->type));
}

void import_outputs(struct import *im, struct scope *scope, const Onnx__GraphProto *graph)
{
    struct map seen = { .arena = &im->arena };

    if (!graph->n_output)
        diag_error(im->ctx, DIAG_ONNX_GRAPH, NULL, "the graph has no outputs");
    if (!limit_check(im->ctx, LIMIT_INTERFACE, NULL, (double)graph->n_output))
        return;
    for (size_t i = 0; i < graph->n_output; i++) {
        const Onnx__ValueInfoProto *info = graph->output[i];
        struct value *value = scope_find(scope, info->name);

        if (map_get(&seen, info->name))
            diag_error(im->ctx, DIAG_ONNX_GRAPH, NULL, "two outputs are called \"%s\"",
                       safe(im, info->name));
        else if (!value)
            diag_error(im->ctx, DIAG_ONNX_GRAPH, NULL, "nothing defines the output \"%s\"",
                       safe(im, info->name));
        else if (import_is_sequence(value))
            import_result(im, value, info->name);
        else if (value != &im->failed) {
            compare_declared(im, info, value);
            result_add(im->module->main, value, info->name);
            import_name_classes(im, value, info->name);
        }
        map_set(&seen, info->name, graph->output[i]);
    }
    import_lengths(im);
}
