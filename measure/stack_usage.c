#include "measure/stack_usage.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/map.h"
#include "base/str.h"

struct function {
    const char *title; /* "kws.c:region_conv1"; with external linkage "kws_run" */
    const char *name;  /* for people: "region_conv1" */
    bool is_defined, is_called, is_bounded;
    size_t frame;
    int n_calls, capacity;
    struct function **calls;
    enum { NEW, BUSY, DONE } state;
    size_t depth;
    const struct function *deepest; /* of its calls; NULL = none */
};

struct graph {
    struct ctx *ctx;
    struct map functions; /* by title */
    const char *indirect; /* gcc's title for what a pointer points to */
    size_t realignment;   /* bytes that a frame may lose beyond those gcc states */
};

static struct function *find(struct graph *graph, const char *title)
{
    struct function *function = map_get(&graph->functions, title);
    const char *colon = strrchr(title, ':');

    if (function)
        return function;
    function = arena_new(&graph->ctx->perm, struct function);
    function->title = title;
    function->name = colon ? colon + 1 : title;
    map_set(&graph->functions, title, function);
    return function;
}

/* The text in quotes behind `key` in the line; NULL if there is none. */
static const char *quoted(struct arena *arena, const char *line, const char *key)
{
    const char *at = strstr(line, key), *end;

    if (!at)
        return NULL;
    at += strlen(key);
    end = strchr(at, '"');
    return end ? arena_strndup(arena, at, (size_t)(end - at)) : NULL;
}

static void add_call(struct graph *graph, struct function *from, struct function *to)
{
    to->is_called = true;
    if (from->n_calls == from->capacity) {
        struct function **more =
            arena_array(&graph->ctx->perm, struct function *, 2 * from->capacity + 4);

        if (from->n_calls)
            memcpy(more, from->calls, (size_t)from->n_calls * sizeof *more);
        from->calls = more;
        from->capacity = 2 * from->capacity + 4;
    }
    from->calls[from->n_calls++] = to;
}

/* Where a function pushes arguments of its calls, gcc states the most of them ("dynamic,bounded"),
 * but not what it leaves free above them to align the stack to 16 bytes: less than that. */
enum { PUSH_PADDING = 16 };

/* node: { title: "kws.c:f" label: "f\nkws.c:411:27\n1344 bytes (static)" }; the \n are two letters.
 * One that is only called has no bytes. */
static void add_node(struct graph *graph, const char *line)
{
    struct arena *arena = &graph->ctx->perm;
    const char *title = quoted(arena, line, "title: \""), *label, *at;
    struct function *function;

    label = quoted(arena, line, "label: \"");
    if (!title || !label)
        return;
    function = find(graph, title);
    at = strstr(label, " bytes (");
    if (!at)
        return;
    function->is_defined = true;
    function->is_bounded = strstr(at, "(static)") || strstr(at, "bounded");
    while (at > label && at[-1] >= '0' && at[-1] <= '9')
        at--;
    function->frame = strtoull(at, NULL, 10) + graph->realignment;
    if (strstr(label, "(dynamic,bounded)"))
        function->frame += PUSH_PADDING;
}

static void add_edge(struct graph *graph, const char *line)
{
    struct arena *arena = &graph->ctx->perm;
    const char *from = quoted(arena, line, "sourcename: \"");
    const char *to = quoted(arena, line, "targetname: \"");

    if (from && to)
        add_call(graph, find(graph, from), find(graph, to));
}

static bool read_graph(struct graph *graph, const char *path)
{
    struct mapping file;
    char *text;

    if (!file_map(graph->ctx, path, &file))
        return false;
    text = arena_strndup(&graph->ctx->perm, (const char *)file.data, file.size);
    file_unmap(&file);
    for (char *line = text; *line;) {
        char *end = line + strcspn(line, "\n");
        const bool last = !*end;

        *end = '\0';
        if (str_starts(line, "node:"))
            add_node(graph, line);
        else if (str_starts(line, "edge:"))
            add_edge(graph, line);
        line = last ? end : end + 1;
    }
    return true;
}

/* What a pointer may point to: all that is defined here and that nobody calls by name. */
static void resolve_pointers(struct graph *graph, const struct function *entry)
{
    struct function *pointer = map_get(&graph->functions, graph->indirect);

    for (size_t i = 0; pointer && i < graph->functions.n; i++) {
        struct function *function = graph->functions.entries[i].value;

        if (function->is_defined && !function->is_called && function != entry)
            add_call(graph, pointer, function);
    }
}

static bool measure(struct graph *graph, struct function *function)
{
    if (function->state == DONE)
        return true;
    if (function->state == BUSY)
        return diag_error(graph->ctx, DIAG_NO_STACK, NULL, "%s calls itself", function->name);
    if (function->is_defined && !function->is_bounded)
        return diag_error(graph->ctx, DIAG_NO_STACK, NULL, "the stack frame of %s is unbounded",
                          function->name);
    function->state = BUSY;
    for (int i = 0; i < function->n_calls; i++) {
        struct function *callee = function->calls[i];

        if (!measure(graph, callee))
            return false;
        if (!function->deepest || callee->depth > function->deepest->depth)
            function->deepest = callee;
    }
    function->depth = function->frame + (function->deepest ? function->deepest->depth : 0);
    function->state = DONE;
    return true;
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Those that the entry reaches (DONE) and nobody defines. */
static const char *list_beyond(struct graph *graph)
{
    const char **names = arena_array(&graph->ctx->perm, const char *, graph->functions.n);
    struct str text = { .arena = &graph->ctx->perm };
    size_t n = 0;

    for (size_t i = 0; i < graph->functions.n; i++) {
        const struct function *function = graph->functions.entries[i].value;

        if (function->state == DONE && !function->is_defined)
            names[n++] = strcmp(function->title, graph->indirect) == 0
                             ? "what its caller does to run functions"
                             : function->name;
    }
    qsort(names, n, sizeof *names, compare_texts);
    for (size_t i = 0; i < n; i++)
        str_printf(&text, "%s%s", i ? ", " : "", names[i]);
    return str_text(&text);
}

bool stack_usage_read(struct ctx *ctx, const char *const *files, int n, const char *entry,
                      size_t realignment, struct stack_usage *out)
{
    struct graph graph = { .ctx = ctx,
                           .functions = { .arena = &ctx->perm },
                           .indirect = "__indirect_call",
                           .realignment = realignment };
    struct str chain = { .arena = &ctx->perm };
    struct function *function;

    for (int i = 0; i < n; i++)
        if (!read_graph(&graph, files[i]))
            return false;
    function = map_get(&graph.functions, entry);
    if (!function || !function->is_defined)
        return diag_error(ctx, DIAG_NO_STACK, NULL, "the compiler gives no data about %s", entry);
    resolve_pointers(&graph, function);
    if (!measure(&graph, function))
        return false;
    for (const struct function *f = function; f; f = f->deepest)
        str_printf(&chain, "%s%s", f == function ? "" : " > ", f->name);
    *out = (struct stack_usage){ function->depth, str_text(&chain), list_beyond(&graph) };
    return true;
}
