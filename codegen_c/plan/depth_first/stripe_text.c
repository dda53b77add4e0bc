/* stripe_text.c - the C of regions that are computed together in stripes
 * (codegen_c/core/stripe.h).
 *
 * needs    a function of calls, and about how many stripes (fn->n_stripes)
 * gives    the keys of templates/kernels/depth_first/stripes.c.tmpl
 * method   one loop calls the functions of the regions (stripe_functions.c), under the conditions
 * of stripe_flow.c, with counters of rows */
#include <inttypes.h>
#include <string.h>

#include "codegen_c/core/comments.h"
#include "codegen_c/plan/depth_first/stripe_lines.h"

/* --- expressions ------------------------------------------------------------------------------ */

/* "2 * conv_2_rows - 1" */
static const char *linear(struct arena *arena, int64_t factor, const char *of, int64_t plus)
{
    const char *product = factor == 1 ? of : arena_printf(arena, "%" PRId64 " * %s", factor, of);

    return plus == 0 ? product
                     : arena_printf(arena, "%s %c %" PRId64, product, plus < 0 ? '-' : '+',
                                    plus < 0 ? -plus : plus);
}

/* Rows of input k that must be there for the next stripe of region i. */
static const char *wanted(const struct stripe_lines *lines, int i, int k)
{
    const struct row_window *window = &lines->stripes.regions[i].reads[k];
    const int64_t before = lines->end[i] ? 0 : lines->stripes.step[i];

    return linear(lines->arena, window->stride, lines->end[i] ? lines->end[i] : lines->done[i],
                  (before - 1) * window->stride - window->pad + window->extent);
}

/* Where the last stripe would end, if there were as many rows. */
static int64_t last_end(const struct stripe_lines *lines, int i)
{
    int64_t end = 0;

    while (end < lines->stripes.regions[i].rows)
        end = stripes_end(&lines->stripes, i, end);
    return end;
}

/* Whether that may be more rows than there are. */
static bool wants_more(const struct stripe_lines *lines, int i, int k)
{
    const struct row_window *window = &lines->stripes.regions[i].reads[k];

    return (last_end(lines, i) - 1) * window->stride - window->pad + window->extent > window->rows;
}

static const char *reads_from(const struct stripe_lines *lines, int i, int k)
{
    const struct row_window *window = &lines->stripes.regions[i].reads[k];

    return linear(lines->arena, window->stride, lines->done[i], -window->pad);
}

/* "name[(row - first) * 96]", as a pointer. */
static const char *row_pointer(const struct stripe_lines *lines, const char *name, const char *row,
                               const char *first, size_t row_elements)
{
    /* Row 0 is where the buffer begins, as it is read first. */
    const bool is_start = strcmp(row, first ? first : "0") == 0 || strcmp(row, "0") == 0;
    const bool is_plain = !first && !strchr(row, ' ');

    if (is_start)
        return name;
    if (!first)
        return arena_printf(lines->arena, is_plain ? "&%s[%s * %zu]" : "&%s[(%s) * %zu]", name, row,
                            row_elements);
    return arena_printf(lines->arena, "&%s[(%s - %s) * %zu]", name, row, first, row_elements);
}

static size_t row_elements(const struct value *value, size_t row_bytes)
{
    return row_bytes / dtype_bytes(value->type.dtype);
}

/* --- the loop --------------------------------------------------------------------------------- */

/* "a && b && c" behind `head`, in lines. */
static void add_conditions(struct str *out, const char *head, int n, const char *const *items,
                           const char *between, const char *tail)
{
    size_t column = strlen(head);

    str_add(out, head);
    for (int i = 0; i < n; i++) {
        if (i > 0 && column + strlen(items[i]) + 8 > 84) {
            str_printf(out, " %s\n%*s", between, (int)strlen(head), "");
            column = strlen(head);
        } else if (i > 0) {
            str_printf(out, " %s ", between);
            column += strlen(between) + 2;
        }
        str_add(out, items[i]);
        column += strlen(items[i]);
    }
    str_add(out, tail);
}

static const char *is_waited_for(const struct stripe_lines *lines, int i)
{
    const struct stripes *stripes = &lines->stripes;
    const char *items[16];
    struct str out = { .arena = lines->arena };
    int n = 0;

    for (int r = i + 1; r < stripes->n && n < 16; r++)
        for (int k = 0; k < stripes->regions[r].call->n_inputs && n < 16; k++)
            if (stripes->source[r][k] == i)
                items[n++] =
                    arena_printf(lines->arena, "%s < %s", lines->done[i], wanted(lines, r, k));
    add_conditions(&out, n > 1 ? "(" : "", n, items, "||", n > 1 ? ")" : "");
    return str_text(&out);
}

static void add_if(const struct stripe_lines *lines, struct str *out, int i)
{
    const struct stripes *stripes = &lines->stripes;
    const struct row_region *region = &stripes->regions[i];
    const char **items = arena_array(lines->arena, const char *, region->call->n_inputs + 2);
    int n = 0;

    items[n++] = arena_printf(lines->arena, "%s < %" PRId64, lines->done[i], region->rows);
    if (!stripes->is_result[i])
        items[n++] = is_waited_for(lines, i);
    for (int k = 0; k < region->call->n_inputs; k++) {
        const int from = stripes->source[i][k];

        if (from < 0)
            continue;
        if (wants_more(lines, i, k))
            items[n++] =
                arena_printf(lines->arena, "%s >= least(%" PRId64 ", %s)", lines->done[from],
                             region->reads[k].rows, wanted(lines, i, k));
        else
            items[n++] =
                arena_printf(lines->arena, "%s >= %s", lines->done[from], wanted(lines, i, k));
    }
    add_conditions(out, "if (", n, items, "&&", ") {\n");
}

/* The first row that anybody reads again. */
static const char *first_needed(const struct stripe_lines *lines, int i)
{
    const struct stripes *stripes = &lines->stripes;
    const char *first = NULL;

    for (int r = i + 1; r < stripes->n; r++)
        for (int k = 0; k < stripes->regions[r].call->n_inputs; k++)
            if (stripes->source[r][k] == i)
                first = first ? arena_printf(lines->arena, "least(%s, %s)", first,
                                             reads_from(lines, r, k))
                              : reads_from(lines, r, k);
    return first;
}

static void add_drop(const struct stripe_lines *lines, struct str *out, int i)
{
    static const char head[] = "    drop_rows(";
    const char *items[5] = { lines->name[i] };

    if (!lines->first[i])
        return;
    items[1] = arena_printf(lines->arena, "&%s", lines->first[i]);
    items[2] = first_needed(lines, i);
    items[3] = lines->done[i];
    items[4] = arena_printf(lines->arena, "%zu", lines->stripes.regions[i].row_bytes);
    add_list(out, head, 5, items, ");\n", (int)strlen(head));
}

/* Where the rows of input k begin, as a pointer. */
static const char *input_pointer(const struct stripe_lines *lines, int i,
                                 const struct stripe_kind *kind, int k)
{
    const struct stripes *stripes = &lines->stripes;
    const struct row_region *region = &stripes->regions[i];
    const struct row_window *window = &region->reads[k];
    const struct value *value = region->call->inputs[k];
    const int from = stripes->source[i][k];
    const bool many = kind->end - kind->row > kind->n;
    const char *row =
        many ? reads_from(lines, i, k) : arena_printf(lines->arena, "%" PRId64, kind->begin[k]);
    const char *name, *first = NULL;

    if (from < 0) {
        name = lines->region->params[value->index];
        return window->whole
                   ? name
                   : row_pointer(lines, name, row, NULL, row_elements(value, window->row_bytes));
    }
    name = lines->name[from];
    if (!stripes->is_result[from])
        first = lines->first[from];
    if (!stripes->is_result[from] && !first)
        return name;
    return row_pointer(lines, name, row, first, row_elements(value, window->row_bytes));
}

static void add_gather(const struct stripe_lines *lines, struct str *out, int i,
                       const struct stripe_kind *kind, int k, int indent)
{
    const struct row_window *window = &lines->stripes.regions[i].reads[k];
    const char *head = arena_printf(lines->arena, "%*sgather_rows(", indent, ""), *items[5];

    items[0] = arena_printf(lines->arena, "base + %zu", lines->blocks[lines->gather[i][k]].offset);
    items[1] = input_pointer(lines, i, kind, k);
    items[2] = arena_printf(lines->arena, "%" PRId64, window->planes);
    items[3] = arena_printf(lines->arena, "%zu", (size_t)window->rows * window->row_bytes);
    items[4] = arena_printf(lines->arena, "%zu", (size_t)kind->rows[k] * window->row_bytes);
    add_list(out, head, 5, items, ");\n", (int)strlen(head));
}

static int add_kind(const struct stripe_lines *lines, struct str *out, int i,
                    const struct stripe_kind *kind, int indent)
{
    const struct row_region *region = &lines->stripes.regions[i];
    const struct node *call = region->call;
    const char **items = arena_array(lines->arena, const char *, call->n_inputs + 2);
    const char *head = arena_printf(lines->arena, "%*s%s(", indent, "", kind->fn);
    struct str text = { .arena = lines->arena };
    int n = 0, n_statements = 1;

    for (int k = 0; k < call->n_inputs; k++)
        if (lines->gather[i][k] >= 0 && kind->apart != k) {
            add_gather(lines, &text, i, kind, k, indent);
            items[n++] = arena_printf(lines->arena, "(const void *)(base + %zu)",
                                      lines->blocks[lines->gather[i][k]].offset);
            n_statements++;
        } else {
            items[n++] = input_pointer(lines, i, kind, k);
        }
    items[n++] = lines->first[i] || lines->stripes.is_result[i]
                     ? row_pointer(lines, lines->name[i], lines->done[i], lines->first[i],
                                   row_elements(call->outputs[0], region->row_bytes))
                     : lines->name[i];
    if (kind->works)
        items[n++] =
            arena_printf(lines->arena, "base + %zu", lines->blocks[lines->working[i]].offset);
    add_list(&text, head, n, items, ");\n", (int)strlen(head));
    str_add(out, str_text(&text));
    return n_statements;
}

/* Kinds in the order of their rows, as a chain of ifs. */
static void add_kinds(const struct stripe_lines *lines, struct str *out, int i)
{
    const struct stripe_kind *kinds = lines->kinds[i];
    const int n = lines->n_kinds[i];

    if (n == 1) {
        add_kind(lines, out, i, &kinds[0], 4);
        return;
    }
    for (int k = 0; k < n; k++) {
        struct str text = { .arena = lines->arena };
        const bool braces = add_kind(lines, &text, i, &kinds[k], 8) > 1;
        const char *open = braces ? " {\n" : "\n";

        if (k == n - 1)
            str_printf(out, "%selse%s", k && braces ? "    } " : "    ", open);
        else
            str_printf(out, "%s%sif (%s < %" PRId64 ")%s", k && braces ? "    } " : "    ",
                       k ? "else " : "", lines->done[i], kinds[k].end, open);
        str_add(out, str_text(&text));
        if (k == n - 1 && braces)
            str_add(out, "    }\n");
    }
}

/* The rows that are there now, and where the next stripe ends. */
static void add_advance(const struct stripe_lines *lines, struct str *out, int i)
{
    const int64_t rows = lines->stripes.regions[i].rows, step = lines->stripes.step[i];
    const char *done = lines->done[i], *end = lines->end[i];
    const char *next = end ? end : arena_printf(lines->arena, "%s + %" PRId64, done, step);

    if (last_end(lines, i) > rows)
        str_printf(out, "    %s = least(%" PRId64 ", %s);\n", done, rows, next);
    else if (end)
        str_printf(out, "    %s = %s;\n", done, end);
    if (end || last_end(lines, i) == rows)
        str_printf(out, "    %s += %" PRId64 ";\n", end ? end : done, step);
    str_add(out, "}");
}

static void add_region(const struct stripe_lines *lines, struct str *out, int i)
{
    const struct row_region *region = &lines->stripes.regions[i];
    const int64_t step = lines->stripes.step[i], top = lines->stripes.top[i];
    const struct region named = { .call = region->call, .fn = region->call->callee };

    str_printf(out, "%s/* %s: %" PRId64 " of %" PRId64 " rows%s */\n", i ? "\n" : "",
               origin_short(lines->arena, &named), step, region->rows,
               top == step ? "" : arena_printf(lines->arena, ", first %" PRId64, top));
    add_if(lines, out, i);
    add_drop(lines, out, i);
    add_kinds(lines, out, i);
    add_advance(lines, out, i);
    str_add(out, i + 1 < lines->stripes.n ? "\n" : "");
}

/* --- names ------------------------------------------------------------------------------------ */

static const char *result_name(const struct stripe_lines *lines, const struct value *value)
{
    const struct node *ret = lines->region->fn->ret;

    for (int i = 0; i < ret->n_inputs; i++)
        if (ret->inputs[i] == value)
            return lines->region->results[i];
    return NULL;
}

static void name_things(struct stripe_lines *lines)
{
    const struct stripes *stripes = &lines->stripes;
    struct names names;

    names_init(&names, lines->arena);
    for (size_t i = 0; i < lines->codegen->names.taken.n; i++)
        names_reserve(&names, lines->codegen->names.taken.entries[i].key);
    for (int i = 0; i < lines->region->fn->n_params; i++)
        names_reserve(&names, lines->region->params[i]);
    for (int i = 0; i < lines->region->fn->ret->n_inputs; i++)
        names_reserve(&names, lines->region->results[i]);
    names_reserve(&names, "scratch");
    names_reserve(&names, "base");
    for (int i = 0; i < stripes->n; i++) {
        const struct value *value = stripes->regions[i].call->outputs[0];
        int n_readers;

        stripe_last_reader(stripes, i, &n_readers);
        lines->name[i] = stripes->is_result[i]
                             ? result_name(lines, value)
                             : names_unique(&names, c_identifier(lines->arena, value->name));
        lines->done[i] =
            names_unique(&names, arena_printf(lines->arena, "%s_rows", lines->name[i]));
        if (stripes->top[i] != stripes->step[i])
            lines->end[i] =
                names_unique(&names, arena_printf(lines->arena, "%s_end", lines->name[i]));
        if (!stripes->is_result[i] && (stripes->stays[i] || n_readers > 1))
            lines->first[i] =
                names_unique(&names, arena_printf(lines->arena, "%s_first", lines->name[i]));
    }
}

static void add_pointers(const struct stripe_lines *lines, struct str *out)
{
    for (int i = 0; i < lines->stripes.n; i++) {
        const struct value *value = lines->stripes.regions[i].call->outputs[0];

        if (lines->buffer[i] >= 0)
            str_printf(out, "%s%s *const %s = (void *)(base + %zu); /* %" PRId64 " row%s of %s */",
                       out->n ? "\n" : "", dtype_c_type(value->type.dtype), lines->name[i],
                       lines->blocks[lines->buffer[i]].offset, lines->stripes.held[i],
                       lines->stripes.held[i] == 1 ? "" : "s",
                       shape_comment(lines->arena, &value->type));
    }
}

/* Rows that are there of each result; where its next stripe ends; the first that the buffer holds.
 */
static void add_counters(const struct stripe_lines *lines, struct str *out)
{
    const int n = lines->stripes.n;
    const char **items = arena_array(lines->arena, const char *, 3 * n);
    int n_items = 0;

    for (int i = 0; i < n; i++) {
        items[n_items++] = arena_printf(lines->arena, "%s = 0", lines->done[i]);
        if (lines->end[i])
            items[n_items++] =
                arena_printf(lines->arena, "%s = %" PRId64, lines->end[i], lines->stripes.top[i]);
        if (lines->first[i])
            items[n_items++] = arena_printf(lines->arena, "%s = 0", lines->first[i]);
    }
    add_list(out, "int ", n_items, items, ";", 4);
}

static void add_unfinished(const struct stripe_lines *lines, struct str *out)
{
    for (int i = 0; i < lines->stripes.n; i++)
        if (lines->stripes.is_result[i])
            str_printf(out, "%s%s < %" PRId64, out->n ? " || " : "", lines->done[i],
                       lines->stripes.regions[i].rows);
}

static void bind_text_of(struct bind *bind, struct stripe_lines *lines)
{
    struct str pointers = { .arena = lines->arena }, counters = pointers, unfinished = pointers,
               body = pointers;

    add_pointers(lines, &pointers);
    add_counters(lines, &counters);
    add_unfinished(lines, &unfinished);
    for (int i = 0; i < lines->stripes.n; i++)
        add_region(lines, &body, i);
    bind_text(bind, "pointers", "%s", str_text(&pointers));
    bind_text(bind, "counters", "%s", str_text(&counters));
    bind_text(bind, "unfinished", "%s", str_text(&unfinished));
    bind_text(bind, "body", "%s", str_text(&body));
    if (strstr(str_text(&body), "drop_rows("))
        bind_helper(bind, "stripes");
    if (strstr(str_text(&body), "least("))
        bind_helper(bind, "least");
    if (strstr(str_text(&body), "gather_rows("))
        bind_helper(bind, "gather_rows");
}

static bool accepts_stripes(const struct region *region, const char **why)
{
    *why = "it is no function of calls";
    return is_striped(region->fn);
}

static bool bind_stripes(struct bind *bind)
{
    struct arena *arena = bind->arena;
    struct stripes stripes = stripes_of(arena, bind->region->fn);
    const int n = stripes.n;
    struct stripe_lines lines = { .codegen = bind->codegen,
                                  .arena = arena,
                                  .region = bind->region,
                                  .name = arena_array(arena, const char *, n),
                                  .done = arena_array(arena, const char *, n),
                                  .end = arena_array(arena, const char *, n),
                                  .first = arena_array(arena, const char *, n),
                                  .kinds = arena_array(arena, struct stripe_kind *, n),
                                  .n_kinds = arena_array(arena, int, n),
                                  .scratch = arena_array(arena, size_t, n),
                                  .gather = arena_array(arena, int *, n),
                                  .buffer = arena_array(arena, int, n),
                                  .working = arena_array(arena, int, n) };
    int64_t work = INT64_MAX;

    if (!stripes_flow(arena, &stripes, bind->region->fn->n_stripes, NULL, SIZE_MAX, &work))
        return diag_error(bind->ctx, DIAG_INTERNAL, node_origin(bind->region->call),
                          "the stripes of %s do not flow", bind->region->c_name);
    lines.stripes = stripes;
    if (!stripe_functions(&lines, bind))
        return false;
    bind_scratch(bind, stripe_buffers(&lines));
    name_things(&lines);
    bind_int(bind, "n_regions", n);
    bind_flag(bind, "buffers", lines.n_blocks > 0);
    bind_text_of(bind, &lines);
    return true;
}

/* For functions of calls, which are no regions of fuse_ops. */
const struct kernel kernel_stripes = {
    .name = "stripes",
    .sums = SUMS_PLAIN,
    .forms = { { OPS(OP_CALL), accepts_stripes, bind_stripes } },
};
