/* share.c - --optimize size: one function for regions that differ in their constants only.
 *
 * needs    kernels chosen, aliases and pixel_strides planned: what decides a region's text
 * gives    emitted[i].takes_arrays, same_as and origin, and one name for the regions of a group
 * method   each region is configured with its constants as parameters and without names of its own;
 *          regions of one template and equal keys are a group. A region alone keeps the names of
 *          its arrays in its text, which reads better and costs no arguments. */
#include "codegen_c/print/share.h"

#include <string.h>

#include "codegen_c/core/comments.h"
#include "codegen_c/core/state.h"
#include "codegen_c/core/stripe.h"
#include "codegen_c/select/configure.h"

struct group {
    int n;
    struct region *first;
    const char *origin; /* comment lines of the one before … */
    int n_equal;        /* … and of how many before it (models without names have many) */
    struct str origins; /* of those before them */
};

const char *array_name(struct codegen *codegen, const struct region *region,
                       const struct weight *weight)
{
    struct emitted *emitted = &codegen->emitted[region->index];
    int i = 0;

    while (i < emitted->n_arrays && emitted->arrays[i] != weight)
        i++;
    if (i == emitted->n_arrays) {
        const struct weight **arrays = arena_array(&codegen->arena, const struct weight *, i + 1);

        for (int k = 0; k < i; k++)
            arrays[k] = emitted->arrays[k];
        arrays[i] = weight;
        emitted->arrays = arrays;
        emitted->n_arrays++;
    }
    return arena_printf(&codegen->arena, "array%d", i + 1);
}

static bool has_constants(const struct region *region)
{
    return region->fn->constants != NULL;
}

static void end_origin(struct group *group)
{
    if (group->n_equal)
        str_printf(&group->origins, "%s%s", group->origins.n ? ",\n * " : "", group->origin);
    if (group->n_equal > 1)
        str_printf(&group->origins, " (%d regions)", group->n_equal);
    group->n_equal = 0;
}

static void add_origin(struct group *group, const char *origin)
{
    if (group->n_equal && strcmp(group->origin, origin) != 0)
        end_origin(group);
    group->origin = origin;
    group->n_equal++;
}

/* The template and all keys: what decides its text. */
static const char *key_texts(struct arena *arena, const struct region_function *function)
{
    const struct map *keys = &function->keys.map;
    struct str out = { .arena = arena };

    str_add(&out, function->template->path);
    for (size_t i = 0; i < keys->n; i++)
        str_printf(&out, "\n%s=%s", keys->entries[i].key,
                   ((const struct key *)keys->entries[i].value)->text);
    return str_text(&out);
}

static struct group *group_of(struct codegen *codegen, struct map *by_text, struct region *region)
{
    struct emitted *emitted = &codegen->emitted[region->index];
    const struct region_function *function;
    struct group *group;
    const char *texts;

    emitted->takes_arrays = has_constants(region);
    emitted->origin = "";
    function = configure_function(codegen, region, "shared");
    if (!function)
        return NULL;
    emitted->origin = NULL;
    texts = key_texts(&codegen->arena, function);
    group = map_get(by_text, texts);
    if (!group) {
        group = arena_new(&codegen->arena, struct group);
        *group = (struct group){ .first = region, .origins = { .arena = &codegen->arena } };
        map_set(by_text, texts, group);
    }
    group->n++;
    add_origin(group, origin_comment(&codegen->arena, region, " * "));
    return group;
}

/* "shared_conv_56x56x64": the kernel, and the dims of the result without leading ones. */
static const char *shared_name(struct codegen *codegen, const struct region *region)
{
    const struct type *type = &region->fn->ret->inputs[0]->type;
    struct str name = { .arena = &codegen->arena };
    int i = 0;

    str_printf(&name, "shared_%s", region->config.kernel->name);
    while (i < type->rank - 1 && type->dim[i] == 1)
        i++;
    for (const char *separator = "_"; i < type->rank; i++, separator = "x")
        str_printf(&name, "%s%lld", separator, (long long)type->dim[i]);
    return names_unique(&codegen->names, str_text(&name));
}

bool share_regions(struct codegen *codegen)
{
    struct map by_text = { .arena = &codegen->arena };
    struct group **groups = arena_array(&codegen->arena, struct group *, codegen->n_regions);
    bool ok = true;

    for (int i = 0; i < codegen->n_regions; i++)
        if (!codegen->regions[i].external && !is_striped(codegen->regions[i].fn)) {
            groups[i] = group_of(codegen, &by_text, &codegen->regions[i]);
            ok = groups[i] && ok;
        }
    for (int i = 0; i < codegen->n_regions && ok; i++) {
        struct region *region = &codegen->regions[i];
        struct emitted *emitted = &codegen->emitted[i];

        if (!groups[i] || groups[i]->n == 1) {
            emitted->takes_arrays = false;
            emitted->arrays = NULL;
            emitted->n_arrays = 0;
        } else if (groups[i]->first == region) {
            region->c_name = shared_name(codegen, region);
            end_origin(groups[i]);
            emitted->origin = str_text(&groups[i]->origins);
        } else {
            region->c_name = groups[i]->first->c_name;
            emitted->same_as = groups[i]->first;
        }
    }
    return ok;
}
