/* emit_sizes.c - sizes that NAME_run is given (--vary): which there are, and what dims of outputs follow. */
#include <cjson/cJSON.h>
#include <inttypes.h>
#include <string.h>

#include "codegen_c/core/comments.h"
#include "codegen_c/emit/emit_variants.h"
#include "codegen_c/expr/slots.h"
#include "relay_ir/variants.h"

int add_sizes(struct codegen *codegen, const char **items, bool with_types)
{
    const struct variants *variants = codegen->module->variants;
    int n = 0;

    for (; variants && n < variants->n_symbols; n++)
        items[n] = arena_printf(&codegen->arena, "%s%s", with_types ? "int32_t " : "",
                                variants->symbols[n].c_name);
    return n;
}

/* An input or output of variant v. */
static const struct type *type_of(const struct codegen *codegen, bool is_input, int i, int v)
{
    const struct function *main = codegen->module->main;

    return is_input ? &main->params[v * interface_params(codegen->module) + i]->type
                    : &main->ret->inputs[v * interface_results(codegen->module) + i]->type;
}

/* All variants. */
static const int *everyone(struct codegen *codegen)
{
    const int n = codegen->module->variants->n;
    int *of = arena_array(&codegen->arena, int, n);

    for (int v = 0; v < n; v++)
        of[v] = v;
    return of;
}

const char *interface_shape_comment(struct codegen *codegen, bool is_input, int i)
{
    struct arena *arena = &codegen->arena;
    const int n = count_variants(codegen->module);
    struct slots *slots = arena_array(arena, struct slots, n);
    const char *text = slot_shape_comment(codegen, type_of(codegen, is_input, i, 0));

    if (!codegen->module->variants)
        return text;
    for (int v = 0; v < n; v++)
        slots[v] = slots_of(arena, slot_shape_comment(codegen, type_of(codegen, is_input, i, v)));
    return slots_resolve(codegen, text, n, everyone(codegen), slots, NULL);
}

static bool dim_varies(const struct codegen *codegen, int output, int dim)
{
    const int64_t first = type_of(codegen, false, output, 0)->dim[dim];
    bool varies = false;

    for (int v = 1; v < codegen->module->variants->n; v++)
        varies = varies || type_of(codegen, false, output, v)->dim[dim] != first;
    return varies;
}

/* --- NAME.h ----------------------------------------------------------------------------------- */

/* Ascending by one step from the first on; a list of one value does, too. */
static bool is_range(const struct symbol *symbol, int64_t *step)
{
    *step = symbol->n > 1 ? symbol->values[1] - symbol->values[0] : 1;
    for (int i = 2; i < symbol->n; i++)
        if (symbol->values[i] - symbol->values[i - 1] != *step)
            return false;
    return true;
}

/* "1 .. 200", "16, 32 .. 400", "100, 200, 401" */
static const char *values_text(struct arena *arena, const struct symbol *symbol)
{
    struct str out = { .arena = arena };
    int64_t step;

    if (symbol->n > 3 && is_range(symbol, &step)) {
        str_printf(&out, "%" PRId64, symbol->values[0]);
        if (step != 1)
            str_printf(&out, ", %" PRId64, symbol->values[1]);
        str_printf(&out, " .. %" PRId64, symbol->values[symbol->n - 1]);
        return str_text(&out);
    }
    for (int i = 0; i < symbol->n; i++)
        str_printf(&out, "%s%" PRId64,
                   i == 0   ? ""
                   : i % 12 ? ", "
                            : ",\n *        ",
                   symbol->values[i]);
    return str_text(&out);
}

void add_size_constants(struct codegen *codegen, struct str *out)
{
    const struct variants *variants = codegen->module->variants;

    if (!variants)
        return;
    str_printf(out, "/* Sizes that are arguments of %s_run, by their names in the model:\n",
               codegen->options->name);
    for (int s = 0; s < variants->n_symbols; s++)
        str_printf(out, " *    %s \"%s\": %s\n", variants->symbols[s].c_name,
                   comment_safe(&codegen->arena, variants->symbols[s].name, 60),
                   values_text(&codegen->arena, &variants->symbols[s]));
    str_printf(out,
               " * Other values give %s_WRONG_SIZE. Arrays are dense for the sizes that are given. "
               "*/\nenum {",
               codegen->upper);
    for (int s = 0; s < variants->n_symbols; s++) {
        const struct symbol *symbol = &variants->symbols[s];

        str_printf(out, "%s\n    %s_MAX_%s = %" PRId64, s ? "," : "", codegen->upper,
                   upper_case(&codegen->arena, symbol->c_name), symbol->values[symbol->n - 1]);
    }
    str_add(out, "\n};\n\n");
}

/* "int32_t net_y_dim_1(int32_t time)" */
static void add_dim_head(struct codegen *codegen, int output, int dim, const char *tail,
                         struct str *out)
{
    const char *items[MAX_SYMBOLS];
    const int n = add_sizes(codegen, items, true);
    const char *head = arena_printf(&codegen->arena, "int32_t %s_%s_dim_%d(",
                                    codegen->options->name, codegen->output_names[output], dim);

    add_list(out, head, n, items, tail, (int)strlen(head));
}

void add_size_functions(struct codegen *codegen, struct str *out)
{
    bool any = false;

    for (int i = 0; codegen->module->variants && i < interface_results(codegen->module); i++)
        for (int d = 0; d < type_of(codegen, false, i, 0)->rank; d++) {
            if (!dim_varies(codegen, i, d))
                continue;
            if (!any)
                str_add(out, "/* Dims of outputs, from 0 on, for these sizes; -1 for sizes that "
                             "this network does not take. */\n");
            any = true;
            add_dim_head(codegen, i, d, ");\n", out);
        }
    str_add(out, any ? "\n" : "");
}

/* --- NAME.json -------------------------------------------------------------------------------- */

void add_sizes_json(struct codegen *codegen, cJSON *root)
{
    const struct variants *variants = codegen->module->variants;
    cJSON *list;

    if (!variants)
        return;
    list = cJSON_AddArrayToObject(root, "sizes");
    for (int s = 0; s < variants->n_symbols; s++) {
        const struct symbol *symbol = &variants->symbols[s];
        cJSON *json = cJSON_CreateObject(), *values;

        cJSON_AddStringToObject(json, "parameter", symbol->c_name);
        cJSON_AddStringToObject(json, "name", str_safe(&codegen->arena, symbol->name, 400));
        values = cJSON_AddArrayToObject(json, "values");
        for (int i = 0; i < symbol->n; i++)
            cJSON_AddItemToArray(values, cJSON_CreateNumber((double)symbol->values[i]));
        cJSON_AddItemToArray(list, json);
    }
}

/* --- NAME.c ----------------------------------------------------------------------------------- */

/* The index of the symbol's value, as the last digit of the row. */
static void add_index(struct arena *arena, const struct symbol *symbol, bool is_first,
                      struct str *out)
{
    const char *name = symbol->c_name;
    const char *before = is_first ? "" : arena_printf(arena, "row * %d + ", symbol->n);
    int64_t step;

    if (is_range(symbol, &step)) {
        str_printf(out, "    if (%s < %" PRId64 " || %s > %" PRId64, name, symbol->values[0], name,
                   symbol->values[symbol->n - 1]);
        if (step != 1)
            str_printf(out, " || (%s - %" PRId64 ") %% %" PRId64 " != 0", name, symbol->values[0],
                       step);
        str_printf(out, ")\n        return -1;\n    row = %s(int)(%s - %" PRId64 ")", before, name,
                   symbol->values[0]);
        if (step != 1)
            str_printf(out, " / %" PRId64, step);
        str_add(out, ";\n");
        return;
    }
    str_printf(out, "    i = 0;\n    while (i < %d && %s_values[i] != %s)\n        i++;\n",
               symbol->n, name, name);
    str_printf(out, "    if (i == %d)\n        return -1;\n    row = %si;\n", symbol->n, before);
}

static void add_row_of(struct codegen *codegen, struct str *out)
{
    const struct variants *variants = codegen->module->variants;
    const char *items[MAX_SYMBOLS];
    const int n = add_sizes(codegen, items, true);
    bool listed = false;
    int64_t step;

    str_add(out,
            "/* The number of these sizes, which counts all combinations; -1: it is none. */\n");
    add_list(out, "static int row_of(", n, items, ")\n{\n", 18);
    for (int s = 0; s < n; s++) {
        const struct symbol *symbol = &variants->symbols[s];

        if (is_range(symbol, &step))
            continue;
        listed = true;
        str_printf(out, "    static const int32_t %s_values[%d] = { ", symbol->c_name, symbol->n);
        for (int i = 0; i < symbol->n; i++)
            str_printf(out, "%s%" PRId64,
                       i == 0   ? ""
                       : i % 16 ? ", "
                                : ",\n        ",
                       symbol->values[i]);
        str_add(out, " };\n");
    }
    str_printf(out, "    int row%s;\n\n", listed ? ", i" : "");
    for (int s = 0; s < n; s++)
        add_index(&codegen->arena, &variants->symbols[s], s == 0, out);
    str_add(out, "    return row;\n}\n\n");
}

static void add_dim_function(struct codegen *codegen, int output, int dim, struct str *out)
{
    struct arena *arena = &codegen->arena;
    const int n = codegen->module->variants->n;
    struct slots *slots = arena_array(arena, struct slots, n);
    struct str tables = { .arena = arena };
    const char *items[MAX_SYMBOLS], *first = NULL, *number;
    const int n_sizes = add_sizes(codegen, items, false);

    for (int v = 0; v < n; v++) {
        const char *text =
            slot_text(codegen, SLOT_WHOLE, type_of(codegen, false, output, v)->dim[dim]);

        first = v ? first : text;
        slots[v] = slots_of(arena, text);
    }
    number = slots_resolve(codegen, first, n, everyone(codegen), slots, &tables);
    add_dim_head(codegen, output, dim, ")\n{\n", out);
    str_add(out, str_text(&tables));
    add_list(out, "    const int row = row_of(", n_sizes, items, ");\n\n", 27);
    str_printf(out, "    return row < 0 ? -1 : %s;\n}\n\n", number);
}

void add_size_lookups(struct codegen *codegen, struct str *out)
{
    add_row_of(codegen, out);
    for (int i = 0; i < interface_results(codegen->module); i++)
        for (int d = 0; d < type_of(codegen, false, i, 0)->rank; d++)
            if (dim_varies(codegen, i, d))
                add_dim_function(codegen, i, d, out);
}
