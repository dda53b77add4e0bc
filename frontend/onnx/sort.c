/* sort.c - the order in which nodes are converted. The format asks for sorted nodes, exporters and
 * hand-written files do not always obey. Depth first from each node in the order of the file, so
 * that a sorted file keeps its order; with a stack of our own, because the depth is the model's. */
#include <string.h>

#include "base/str.h"
#include "frontend/onnx/importer.h"

enum { MAX_CYCLES = 10 };

/* The names that a branch defines itself, and those of the branches around it. */
struct local_names {
    struct map names;
    const struct local_names *outer;
};

/* Edges are kept as lists of node indices, one behind the other. */
struct sorter {
    struct import *im;
    size_t n;
    Onnx__NodeProto *const *nodes;
    const struct origin *const *origins;
    struct map producers; /* name -> an element of `indices` */
    size_t *indices;
    size_t *edges, n_edges, capacity;
    size_t *first_edge; /* [n + 1] */
};

static void add_edge(struct sorter *s, const char *name)
{
    const size_t *producer = map_get(&s->producers, name);

    if (!producer)
        return;
    if (s->n_edges == s->capacity) {
        size_t *grown;

        s->capacity = s->capacity ? 2 * s->capacity : 64;
        grown = arena_array(&s->im->arena, size_t, s->capacity);
        if (s->n_edges)
            memcpy(grown, s->edges, s->n_edges * sizeof *grown);
        s->edges = grown;
    }
    s->edges[s->n_edges++] = *producer;
}

static bool is_local(const struct local_names *local, const char *name)
{
    for (; local; local = local->outer)
        if (map_get(&local->names, name))
            return true;
    return false;
}

static void add_edges_of(struct sorter *s, const Onnx__NodeProto *node,
                         const struct local_names *local);

/* A branch reads names of the graph around it without listing them as inputs. */
static void add_edges_of_branch(struct sorter *s, const Onnx__GraphProto *graph,
                                const struct local_names *outer)
{
    struct local_names local = { .names = { .arena = &s->im->arena }, .outer = outer };

    for (size_t i = 0; i < graph->n_input; i++)
        map_set(&local.names, graph->input[i]->name, graph->input[i]);
    for (size_t i = 0; i < graph->n_initializer; i++)
        map_set(&local.names, graph->initializer[i]->name, graph->initializer[i]);
    for (size_t i = 0; i < graph->n_node; i++)
        for (size_t k = 0; k < graph->node[i]->n_output; k++)
            map_set(&local.names, graph->node[i]->output[k], graph->node[i]);
    for (size_t i = 0; i < graph->n_node; i++)
        add_edges_of(s, graph->node[i], &local);
    for (size_t i = 0; i < graph->n_output; i++)
        if (!is_local(&local, graph->output[i]->name))
            add_edge(s, graph->output[i]->name);
}

static void add_edges_of(struct sorter *s, const Onnx__NodeProto *node,
                         const struct local_names *local)
{
    for (size_t i = 0; i < node->n_input; i++)
        if (!is_local(local, node->input[i]))
            add_edge(s, node->input[i]);
    for (size_t i = 0; i < node->n_attribute; i++)
        if (node->attribute[i]->g)
            add_edges_of_branch(s, node->attribute[i]->g, local);
}

/* A name that is defined before the nodes comes from there, even if a node defines it again. */
static void add_producers(struct sorter *s, const struct scope *scope, size_t i)
{
    const Onnx__NodeProto *node = s->nodes[i];

    s->indices[i] = i;
    for (size_t k = 0; k < node->n_output; k++)
        if (*node->output[k] && !map_get(&scope->names, node->output[k]) &&
            !map_get(&s->producers, node->output[k]))
            map_set(&s->producers, node->output[k], &s->indices[i]);
}

static void find_edges(struct sorter *s, const struct scope *scope)
{
    s->indices = arena_array(&s->im->arena, size_t, s->n);
    s->first_edge = arena_array(&s->im->arena, size_t, s->n + 1);
    for (size_t i = 0; i < s->n; i++)
        add_producers(s, scope, i);
    for (size_t i = 0; i < s->n; i++) {
        s->first_edge[i] = s->n_edges;
        add_edges_of(s, s->nodes[i], NULL);
    }
    s->first_edge[s->n] = s->n_edges;
}

/* The stack from the node that is read again to the one that reads it. */
static void report_cycle(struct sorter *s, const size_t *stack, size_t n)
{
    struct ctx *ctx = s->im->ctx;
    struct str text = { .arena = &ctx->perm };
    const size_t shown = n < 8 ? n : 8;

    for (size_t i = 0; i < shown; i++) {
        const struct origin *o = s->origins[stack[i]];

        str_add(&text, i ? " reads " : "");
        if (*o->name)
            str_printf(&text, "\"%s\"", str_safe(&ctx->perm, o->name, 60));
        else
            str_printf(&text, "#%ld", (long)o->index);
        str_printf(&text, " (%s)", str_safe(&ctx->perm, o->op_type, 40));
    }
    if (shown < n)
        str_printf(&text, " and so on, %zu nodes", n);
    diag_error(ctx, DIAG_ONNX_GRAPH, s->origins[stack[0]], "the graph has a cycle");
    diag_note(ctx, "%s", str_text(&text));
}

static void walk(struct sorter *s, size_t *order)
{
    enum state { NEW, OPEN, DONE };
    struct arena *arena = &s->im->arena;
    unsigned char *state = arena_array(arena, unsigned char, s->n);
    size_t *stack = arena_array(arena, size_t, s->n), *edge = arena_array(arena, size_t, s->n);
    size_t depth = 0, done = 0;
    int n_cycles = 0;

    for (size_t root = 0; root < s->n; root++) {
        if (state[root] == NEW)
            stack[depth++] = root;
        while (depth) {
            const size_t node = stack[depth - 1];
            size_t next;

            if (state[node] == NEW) {
                state[node] = OPEN;
                edge[node] = s->first_edge[node];
            }
            if (edge[node] == s->first_edge[node + 1]) {
                state[node] = DONE;
                order[done++] = node;
                depth--;
                continue;
            }
            next = s->edges[edge[node]++];
            if (state[next] == NEW) {
                stack[depth++] = next;
            } else if (state[next] == OPEN && n_cycles++ < MAX_CYCLES) {
                size_t from = depth - 1;

                while (stack[from] != next)
                    from--;
                report_cycle(s, stack + from, depth - from);
            }
        }
    }
}

const size_t *sort_nodes(struct import *im, const struct scope *scope, size_t n,
                         Onnx__NodeProto *const *nodes, const struct origin *const *origins)
{
    struct sorter s = {
        .im = im, .n = n, .nodes = nodes, .origins = origins, .producers = { .arena = &im->arena }
    };
    size_t *order = arena_array(&im->arena, size_t, n);

    find_edges(&s, scope);
    walk(&s, order);
    return order;
}
