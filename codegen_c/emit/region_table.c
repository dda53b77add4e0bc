#include "codegen_c/emit/region_table.h"

#include <limits.h>
#include <string.h>

#include "codegen_c/byoc/external.h"
#include "codegen_c/core/comments.h"
#include "codegen_c/core/state.h"

static size_t wider(size_t width, const char *text)
{
    return strlen(text) > width ? strlen(text) : width;
}

/* The kernel; of other targets' regions the composites: "dnnl.conv2d_act", or how many. */
static const char *made_by(struct codegen *codegen, const struct region *region)
{
    const struct external *external = region->external;

    if (!external)
        return region->config.kernel->name;
    if (external->n_composites == 1)
        return comment_safe(&codegen->arena, external->composites[0].row->name, 60);
    return arena_printf(&codegen->arena, "%s, %d composites", external->module->target->name,
                        external->n_composites);
}

enum { LAST_COLUMN = 100, REGION_COLUMN = 11, GAP = 2, LEAST_FROM = 20 };

/* The table of regions: cells, and how wide each column is. */
struct region_table {
    int n;
    struct region_row {
        const char *function, *from, *kernel, *y;
        size_t n_function, n_kernel;
    } * rows; /* [n] */
    size_t function, from, kernel, y;
};

static struct region_table region_table_of(struct codegen *codegen)
{
    struct arena *arena = &codegen->arena;
    struct region_table table = { codegen->n_listed,
                                  arena_array(arena, struct region_row, codegen->n_listed),
                                  strlen("function"), strlen("from"), strlen("kernel"), 1 };

    for (int i = 0; i < table.n; i++) {
        const struct region *region = &codegen->regions[i];
        struct region_row *row = &table.rows[i];

        *row = (struct region_row){ .function = region->c_name,
                                    .from = origin_short(arena, region),
                                    .kernel = made_by(codegen, region),
                                    .y = shape_comment(arena, &region->fn->ret->inputs[0]->type) };
        row->n_function = strlen(row->function);
        row->n_kernel = strlen(row->kernel);
        table.function = wider(table.function, row->function);
        table.from = wider(table.from, row->from);
        table.kernel = wider(table.kernel, row->kernel);
        table.y = wider(table.y, row->y);
    }
    return table;
}

/* Functions and kernels that are wider than their columns. */
static int count_wide(const struct region_table *table, size_t function, size_t kernel)
{
    int n = 0;

    for (int i = 0; i < table->n; i++)
        n += (table->rows[i].n_function > function) + (table->rows[i].n_kernel > kernel);
    return n;
}

/* Columns whose lines fit: where the nodes come from is cut off, which the function's own comment says
 * whole; if that column were too narrow then, the fewest of the other cells are too wide. */
static void fit_columns(struct region_table *table)
{
    const size_t taken = REGION_COLUMN + 3 * GAP + table->y;
    const size_t room = taken < LAST_COLUMN ? LAST_COLUMN - taken : 0;
    const size_t least = table->from < LEAST_FROM ? table->from : LEAST_FROM;
    struct region_table best = *table;
    int fewest = INT_MAX;

    for (size_t function = table->function; function >= strlen("function"); function--)
        for (size_t kernel = table->kernel; kernel >= strlen("kernel"); kernel--) {
            const size_t from = room > function + kernel ? room - function - kernel : 0;
            const int n = count_wide(table, function, kernel);

            if (from < least || n >= fewest)
                continue;
            fewest = n;
            best.function = function;
            best.from = from < table->from ? from : table->from;
            best.kernel = kernel;
        }
    *table = best;
}

/* A cell and the gap behind it; one that is too wide ends its line. */
static void add_cell(struct str *out, const char *text, size_t width, int *column)
{
    *column += (int)width + GAP;
    if (strlen(text) <= width)
        str_printf(out, "%-*s", (int)width + GAP, text);
    else
        str_printf(out, "%s\n *%*s", text, *column - 2, "");
}

/* A text that is no wider than its column. */
static const char *cut_off(struct arena *arena, const char *text, size_t width)
{
    return strlen(text) <= width ? text : arena_printf(arena, "%.*s...", (int)width - 3, text);
}

void add_region_table(struct codegen *codegen, struct str *out)
{
    struct region_table table = region_table_of(codegen);

    fit_columns(&table);
    str_printf(out, " * Regions, in execution order%s\n *    %3s  %-*s  %-*s  %-*s  y\n",
               codegen->module->variants ? ", for the largest sizes" : "", "#",
               (int)table.function, "function", (int)table.from, "from", (int)table.kernel,
               "kernel");
    for (int i = 0; i < table.n; i++) {
        int column = REGION_COLUMN;

        str_printf(out, " *    %3d  ", i);
        add_cell(out, table.rows[i].function, table.function, &column);
        add_cell(out, cut_off(&codegen->arena, table.rows[i].from, table.from), table.from, &column);
        add_cell(out, table.rows[i].kernel, table.kernel, &column);
        str_printf(out, "%s\n", table.rows[i].y);
    }
    str_add(out, " *\n");
}
