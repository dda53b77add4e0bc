#include "codegen_c/select/configure.h"

#include <assert.h>
#include <string.h>

#include "codegen_c/core/comments.h"
#include "codegen_c/core/state.h"

enum { PART_ALIGN = 64 }; /* parts do not share a line of the cache */

/* Whether the parameter, decoded or not, is only added to the anchor's result: then it is called
 * what it is. */
static bool is_residual(const struct region *region, const struct value *param)
{
    if (!region->anchor || !param->uses)
        return false;
    for (const struct use *use = param->uses; use; use = use->next) {
        const struct node *node = use->node;

        if (is_decoder(node))
            node = value_only_user(node->outputs[0]);
        if (!node || node->op != OP_ADD || node == region->anchor)
            return false;
    }
    return true;
}

/* Of a concatenation: an operand that lies in the result already. */
static bool is_absent(const struct region *region, int param)
{
    return region->place.absent && region->place.absent[param];
}

/* A parameter that the plan put the result over is called as the result is: it is one array. */
static void name_parameters(struct codegen *codegen, struct region *region)
{
    const struct function *fn = region->fn;
    const int n_results = fn->ret->n_inputs;
    const char **params = arena_array(&codegen->arena, const char *, fn->n_params);
    const char **results = arena_array(&codegen->arena, const char *, n_results);
    struct names names;

    names_init(&names, &codegen->arena);
    for (int i = 0; i < fn->n_params; i++)
        params[i] =
            is_absent(region, i)
                ? ""
                : names_unique(&names, is_residual(region, fn->params[i]) ? "residual" : "x");
    for (int i = 0; i < n_results; i++)
        results[i] = names_unique(&names, "y");
    /* x_2 would be taken for a variable of the epilogue. */
    for (int i = 0; i < fn->n_params + n_results; i++) {
        const char **name = i < fn->n_params ? &params[i] : &results[i - fn->n_params];
        const char *end = strchr(*name, '_');

        if (end)
            *name = arena_printf(&codegen->arena, "%.*s%s", (int)(end - *name), *name, end + 1);
    }
    if (region->place.in_place)
        params[region->place.over] = results[0];
    region->params = params;
    region->results = results;
}

/* What stands before the function's name in its line of the template. */
static const char *before_name(struct arena *arena, const char *template)
{
    const char *name = strstr(template, "${fn}(${params})"), *start = name;

    if (!name)
        return "";
    while (start > template && start[-1] != '\n')
        start--;
    return arena_strndup(arena, start, (size_t)(name - start));
}

const char *parameter_text(struct arena *arena, const struct parameter *parameter)
{
    return arena_printf(arena, "%s%s%s", parameter->type, parameter->alone ? "restrict " : "",
                        parameter->name);
}

static const char *pointer_type(struct arena *arena, enum dtype dtype, bool is_const)
{
    return arena_printf(arena, "%s%s *", is_const ? "const " : "", dtype_c_type(dtype));
}

/* What the function is given: parameters of the region, results, scratch, arrays. */
static void list_parameters(struct codegen *codegen, struct region_function *function)
{
    const struct region *region = function->region;
    const struct function *fn = region->fn;
    const struct emitted *emitted = &codegen->emitted[region->index];
    const bool overlaps = region->place.overlaps;
    struct arena *arena = &codegen->arena;
    struct parameter *list = arena_array(arena, struct parameter,
                                         fn->n_params + fn->ret->n_inputs + 1 + emitted->n_arrays);
    int n = 0;

    for (int i = 0; i < fn->n_params; i++)
        if (!(region->place.in_place && region->place.over == i) && !is_absent(region, i))
            list[n++] = (struct parameter){ pointer_type(arena, fn->params[i]->type.dtype, true),
                                            !(overlaps && region->config.overlap.param == i),
                                            region->params[i] };
    for (int i = 0; i < fn->ret->n_inputs; i++)
        list[n++] = (struct parameter){ pointer_type(arena, fn->ret->inputs[i]->type.dtype, false),
                                        !overlaps, region->results[i] };
    if (region->config.scratch_bytes)
        list[n++] = (struct parameter){ "void *", true, "scratch" };
    for (int i = 0; i < emitted->n_arrays; i++)
        list[n++] = (struct parameter){ pointer_type(arena, emitted->arrays[i]->stored.dtype, true),
                                        true, arena_printf(arena, "array%d", i + 1) };
    function->parameters = list;
    function->n_parameters = n;
}

/* Key "params": the lines after the first stand below its first parameter. */
static const char *parameter_list(struct codegen *codegen, const struct region_function *function)
{
    struct arena *arena = &codegen->arena;
    struct str out = { .arena = arena };
    const char **items = arena_array(arena, const char *, function->n_parameters);
    const char *head =
        arena_printf(arena, "%s%s(", before_name(arena, function->template->text), function->name);

    for (int i = 0; i < function->n_parameters; i++)
        items[i] = parameter_text(arena, &function->parameters[i]);
    add_list(&out, head, function->n_parameters, items, ")", (int)strlen(head));
    return arena_printf(arena, "%.*s%s", (int)(out.n - strlen(head) - 1), out.text + strlen(head),
                        function->keys.split ? ", int this_part" : "");
}

/* "x f32 [1,8]"; of what the result goes over: "residual f32 [1,8] in y". */
static const char *parameter_comment(struct codegen *codegen, const struct region *region, int i)
{
    const struct value *param = region->fn->params[i];
    const bool in_place = region->place.in_place && region->place.over == i;
    const char *name = !in_place                    ? region->params[i]
                       : is_residual(region, param) ? "residual"
                                                    : "x";

    return arena_printf(&codegen->arena, "%s %s%s%s", name,
                        shape_comment(&codegen->arena, &param->type), in_place ? " in " : "",
                        in_place ? region->params[i] : "");
}

/* Item i of what a region reads (parameters, arrays that it is given) and writes; NULL = none. */
static const char *item_comment(struct codegen *codegen, const struct region *region, int i)
{
    const struct function *fn = region->fn;
    const struct emitted *emitted = &codegen->emitted[region->index];
    struct arena *arena = &codegen->arena;

    if (i < fn->n_params)
        return is_absent(region, i) ? NULL : parameter_comment(codegen, region, i);
    i -= fn->n_params;
    if (i < emitted->n_arrays)
        return arena_printf(arena, "array%d %s", i + 1,
                            shape_comment(arena, &emitted->arrays[i]->type));
    i -= emitted->n_arrays;
    return arena_printf(arena, "%s %s", region->results[i],
                        shape_comment(arena, &fn->ret->inputs[i]->type));
}

const char *shapes_comment(struct codegen *codegen, const struct region *region)
{
    const int n_read = region->fn->n_params + codegen->emitted[region->index].n_arrays;
    struct str out = { .arena = &codegen->arena };
    size_t line = 0;

    for (int i = 0; i < n_read + region->fn->ret->n_inputs; i++) {
        const char *text = item_comment(codegen, region, i);

        if (!text)
            continue;

        if (out.n - line + strlen(text) > 88) {
            str_add(&out, i == n_read ? "\n* " : ",\n* ");
            line = out.n;
        } else if (out.n > 0 && i != n_read) {
            str_add(&out, ", ");
        }
        if (i == n_read)
            str_add(&out, out.n == line ? "-> " : " -> ");
        str_add(&out, text);
    }
    if (region->place.overlaps)
        str_printf(&out, "\n* %s overlaps %s: each part of that is read before it is overwritten.",
                   region->results[0], region->params[region->config.overlap.param]);
    return str_text(&out);
}

static void offer_keys(struct codegen *codegen, struct region *region, const char *fn,
                       struct keys *keys)
{
    const enum dtype dtype = region->fn->ret->inputs[0]->type.dtype;
    const char *origin = codegen->emitted[region->index].origin;

    keys_offer(keys, "fn", fn);
    keys_offer(keys, "t", dtype_c_type(dtype));
    keys_offer(keys, "origin", origin ? origin : origin_comment(&codegen->arena, region, " * "));
}

static const struct embedded_file *find_template(struct codegen *codegen,
                                                 const struct region *region)
{
    const struct kernel *kernel = region->config.kernel;
    const struct embedded_file *template = kernel_template(&codegen->arena, kernel);

    if (!template)
        diag_error(codegen->ctx, DIAG_TEMPLATE, NULL, "there is no %s.c.tmpl in templates/kernels",
                   kernel->name);
    return template;
}

struct region_function *configure_function(struct codegen *codegen, struct region *region,
                                           const char *name)
{
    struct region_function *function = arena_new(&codegen->arena, struct region_function);
    const int n_errors = codegen->ctx->diags.n_errors;
    struct keys *keys = &function->keys;
    struct bind bind = { .ctx = codegen->ctx,
                         .arena = &codegen->arena,
                         .region = region,
                         .function = function,
                         .keys = keys,
                         .machine = codegen->machine,
                         .codegen = codegen };

    *function = (struct region_function){ .region = region,
                                          .name = name,
                                          .template = find_template(codegen, region) };
    if (!function->template)
        return NULL;
    keys_init(keys, &codegen->arena);
    keys->origin = node_origin(region->call);
    region->config.scratch_bytes = 0; /* of a configuration before */
    name_parameters(codegen, region);
    offer_keys(codegen, region, name, keys);
    if (!region->config.form->bind(&bind)) {
        assert(codegen->ctx->diags.n_errors > n_errors);
        return NULL;
    }
    function->numbers = numbers_settle(&bind, function->template);
    keys_offer(keys, "shapes", shapes_comment(codegen, region));
    list_parameters(codegen, function);
    keys->split = region->config.parts > 1;
    keys_offer(keys, "params", parameter_list(codegen, function));
    return codegen->ctx->diags.n_errors > n_errors ? NULL : function;
}

void bind_function_before(struct bind *bind, struct region_function *function)
{
    struct region_function *of = bind->function;

    if (of->last_before)
        of->last_before->next = function;
    else
        of->before = function;
    of->last_before = function;
}

/* The scratch of all parts is one block. */
static void configure_parts(struct codegen *codegen, struct region *region,
                            struct region_function *function)
{
    function->part_scratch =
        (region->config.scratch_bytes + PART_ALIGN - 1) / PART_ALIGN * PART_ALIGN;
    function->run =
        names_unique(&codegen->names, arena_printf(&codegen->arena, "%s_run", region->c_name));
    region->config.scratch_bytes = function->part_scratch * (size_t)codegen->options->parts;
    codegen->n_split++;
}

bool configure_region(struct codegen *codegen, struct region *region)
{
    struct emitted *emitted = &codegen->emitted[region->index];
    const bool split = region->config.parts > 1;
    const char *name = split
                           ? names_unique(&codegen->names,
                                          arena_printf(&codegen->arena, "%s_part", region->c_name))
                           : region->c_name;

    if (emitted->same_as) {
        region->config.scratch_bytes = emitted->same_as->config.scratch_bytes;
        return true;
    }
    emitted->function = configure_function(codegen, region, name);
    if (!emitted->function)
        return false;
    knob_check(codegen->ctx, region);
    if (split)
        configure_parts(codegen, region, emitted->function);
    return true;
}
