/* external_keys.c - the keys of the templates of targets (docs/guide/backends.md), computed when a
 * template asks: an array that no text reads is not stored. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "codegen_c/byoc/external.h"
#include "codegen_c/core/comments.h"
#include "codegen_c/select/configure.h"

struct asking {
    struct codegen *codegen;
    struct external *external;
    struct external_composite *composite; /* NULL: the region's template asks */
    struct lowering *lowering;
};

const char *external_array_name(struct codegen *codegen, const struct node *call, const char *key)
{
    const char *of =
        call->origin && *call->origin->name ? call->origin->name : call->outputs[0]->name;

    return arena_printf(&codegen->arena, "%s.%s", of, key);
}

static const char *array(struct asking *asking, const char *name, const struct type *type,
                         const void *data, const char *layout, bool written, const char **why)
{
    struct codegen *codegen = asking->codegen;

    if (dtype_is_half(type->dtype)) {
        *why = arena_printf(&codegen->arena, "it is %s, which has no arithmetic in C",
                            dtype_name(type->dtype));
        return NULL;
    }
    if (!written)
        return "1";
    return external_read(codegen, asking->external, name, type, data, layout)->expression;
}

/* --- memory ----------------------------------------------------------------------------------- */

/* Of a value of the region's function. */
static const char *region_memory(struct asking *asking, const struct value *value, bool written,
                                 const char **why)
{
    struct external *external = asking->external;
    const struct value *root = external->root[value->id];

    if (root->kind == VALUE_CONSTANT)
        return array(asking, root->name, &root->type, root->data, "", written, why);
    external->is_read[root->id] = external->is_read[root->id] || written;
    return external->name[root->id];
}

/* Of a value of the composite's function. */
static const char *memory(struct asking *asking, const struct value *value, bool written,
                          const char **why)
{
    const struct external_composite *composite = asking->composite;
    const struct node *ret = composite->fn->ret;

    if (value->kind == VALUE_CONSTANT)
        return array(asking, value->name, &value->type, value->data, "", written, why);
    if (value->kind == VALUE_PARAM)
        return region_memory(asking, composite->call->inputs[value->index], written, why);
    for (int i = 0; i < ret->n_inputs; i++)
        if (ret->inputs[i] == value)
            return region_memory(asking, composite->call->outputs[i], written, why);
    *why = "it is computed inside of the composite and has no memory of its own";
    return written ? NULL : "1";
}

const char *external_memory(struct codegen *codegen, struct external *external,
                            const struct value *value, bool written, const char **why)
{
    struct asking asking = { .codegen = codegen, .external = external };

    return region_memory(&asking, value, written, why);
}

/* --- keys that hooks added -------------------------------------------------------------------- */

static const char *lowered(struct asking *asking, const char *key, bool written, const char **why)
{
    const struct lowering_key *k = asking->lowering->keys;
    const struct lowering_array *a = asking->lowering->arrays;
    const struct node *call =
        asking->composite ? asking->composite->call : asking->external->region->call;

    while (k && strcmp(k->name, key) != 0)
        k = k->next;
    if (!k)
        return NULL;
    if (!k->is_array)
        return k->text;
    while (a && strcmp(a->name, k->text) != 0)
        a = a->next;
    if (!a) {
        *why = "the hook has not made this array";
        return NULL;
    }
    return array(asking, external_array_name(asking->codegen, call, a->name), &a->type, a->data,
                 a->layout, written, why);
}

/* --- composites ------------------------------------------------------------------------------- */

static const char *scratch(struct asking *asking, bool written)
{
    struct external_composite *composite = asking->composite;

    if (composite->scratch_bytes == 0)
        return "(void *)0";
    composite->reads_scratch = composite->reads_scratch || written;
    return composite->scratch_name;
}

/* "out", "out1": the index; -1 for another name. */
static int out_index(const char *name)
{
    if (strcmp(name, "out") == 0)
        return 0;
    if (!str_starts(name, "out") || strlen(name) > 5 ||
        strspn(name + 3, "0123456789") != strlen(name + 3))
        return -1;
    return atoi(name + 3);
}

static const char *value_field(struct asking *asking, const struct value *value,
                               const struct node *node, const char *field)
{
    struct codegen *codegen = asking->codegen;
    const char *text = NULL;
    double number;

    if (node)
        text = external_attr_field(codegen, asking->external->module, node, field);
    if (!text)
        text = external_type_field(&codegen->arena, &value->type, field);
    if (!text && strcmp(field, "value") == 0)
        text = value_uniform(value, &number)
                   ? external_real(codegen, asking->external->module, number, value->type.dtype)
                   : "";
    return text;
}

static bool is_capture(const struct external_composite *composite, const char *name)
{
    for (int i = 0; i < composite->n_captures; i++)
        if (strcmp(composite->captures[i], name) == 0)
            return true;
    return false;
}

/* What the conditions and costs know, too: lets, macs, ${w.min}. */
static const char *from_scope(struct asking *asking, const char *name, const char *field,
                              const char **why)
{
    const struct external_composite *composite = asking->composite;
    struct arena *arena = &asking->codegen->arena;
    const struct scope scope = composite_scope(arena, composite->row, composite->match);
    struct term term;

    if (!scope.look_up(scope.user, name, field, &term, why))
        return NULL;
    return external_term(asking->codegen, asking->external->module, &term);
}

/* A capture or an output, and perhaps a field. */
static const char *part(struct asking *asking, const char *name, const char *field, bool written,
                        const char **why)
{
    const struct match *match = asking->composite->match;
    const struct capture *capture = match_capture(match, name);
    const int out = out_index(name);
    const struct value *value = capture ? capture->value : NULL;
    const struct node *node = capture ? capture->node : NULL;
    const char *text;

    if (!capture && out >= 0 && out < match->root->n_outputs)
        value = match->root->outputs[out];
    else if (!capture)
        return is_capture(asking->composite, name) ? "" : from_scope(asking, name, field, why);
    if (!field)
        return memory(asking, value, written, why);
    text = value_field(asking, value, node, field);
    return text ? text : from_scope(asking, name, field, why);
}

static const char *composite_key(void *user, const char *key, bool written, const char **why)
{
    struct asking *asking = user;
    struct arena *arena = &asking->codegen->arena;
    const struct external_composite *composite = asking->composite;
    const char *dot = strchr(key, '.'), *text = lowered(asking, key, written, why);
    const struct region shown = { .fn = composite->fn, .call = composite->call };

    if (text || *why)
        return text;
    if (strcmp(key, "composite") == 0)
        return composite->row->name;
    if (strcmp(key, "origin") == 0)
        return origin_comment(arena, &shown, " * ");
    if (strcmp(key, "scratch") == 0)
        return scratch(asking, written);
    if (strcmp(key, "scratch_bytes") == 0)
        return arena_printf(arena, "%zu", composite->scratch_bytes);
    if (!dot)
        return part(asking, key, NULL, written, why);
    return part(asking, arena_strndup(arena, key, (size_t)(dot - key)), dot + 1, written, why);
}

static void common_keys(struct codegen *codegen, const struct external *external, struct keys *keys)
{
    keys_init(keys, &codegen->arena);
    keys_offer(keys, "name", codegen->options->name);
    keys_offer(keys, "upper", codegen->upper);
    keys_offer(keys, "fn", external->region->c_name);
}

void external_composite_keys(struct codegen *codegen, struct external *external,
                             struct external_composite *composite, struct keys *keys)
{
    struct asking *asking = arena_new(&codegen->arena, struct asking);

    *asking = (struct asking){ .codegen = codegen,
                               .external = external,
                               .composite = composite,
                               .lowering = &composite->lowering };
    common_keys(codegen, external, keys);
    keys->compute = composite_key;
    keys->user = asking;
}

/* --- regions ---------------------------------------------------------------------------------- */

static const char *region_key(void *user, const char *key, bool written, const char **why)
{
    struct asking *asking = user;

    return lowered(asking, key, written, why);
}

static void offer_value(struct codegen *codegen, struct keys *keys, const char *name,
                        const struct type *type)
{
    static const char *const fields[] = { "dtype", "ctype", "rank", "elements", "bytes", "shape" };
    struct arena *arena = &codegen->arena;

    keys_offer(keys, name, name);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        keys_offer(keys, arena_printf(arena, "%s.%s", name, fields[i]),
                   external_type_field(arena, type, fields[i]));
    for (int i = 0; i < type->rank; i++) {
        const char *dim = arena_printf(arena, "dim%d", i);

        keys_offer(keys, arena_printf(arena, "%s.%s", name, dim),
                   external_type_field(arena, type, dim));
    }
}

/* "input0, input1" */
static const char *names_in_order(struct arena *arena, int n, const char *const *names)
{
    struct str out = { .arena = arena };

    for (int i = 0; i < n; i++)
        str_printf(&out, "%s%s", i ? ", " : "", names[i]);
    return str_text(&out);
}

void external_region_keys(struct codegen *codegen, struct external *external, struct keys *keys)
{
    struct asking *asking = arena_new(&codegen->arena, struct asking);
    const struct region *region = external->region;
    const struct function *fn = external->fn;
    struct arena *arena = &codegen->arena;

    *asking = (struct asking){ .codegen = codegen,
                               .external = external,
                               .lowering = &external->lowering };
    common_keys(codegen, external, keys);
    keys->compute = region_key;
    keys->user = asking;
    for (int i = 0; i < fn->n_params; i++)
        offer_value(codegen, keys, region->params[i], &fn->params[i]->type);
    for (int i = 0; i < fn->ret->n_inputs; i++)
        offer_value(codegen, keys, region->results[i], &fn->ret->inputs[i]->type);
    keys_offer(keys, "inputs", names_in_order(arena, fn->n_params, region->params));
    keys_offer(keys, "outputs", names_in_order(arena, fn->ret->n_inputs, region->results));
    keys_offer(keys, "n_inputs", arena_printf(arena, "%d", fn->n_params));
    keys_offer(keys, "n_outputs", arena_printf(arena, "%d", fn->ret->n_inputs));
    keys_offer(keys, "scratch", region->config.scratch_bytes ? "scratch" : "(void *)0");
    keys_offer(keys, "scratch_bytes", arena_printf(arena, "%zu", region->config.scratch_bytes));
    keys_offer(keys, "origin", origin_comment(arena, region, " * "));
    keys_offer(keys, "shapes", shapes_comment(codegen, region));
}
