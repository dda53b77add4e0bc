/* min_cut.c - see min_cut.h. */
#include "base/min_cut.h"

#include <assert.h>
#include <string.h>

/* An edge and its reverse are a pair: 2k and 2k + 1. */
struct edge {
    int to, next;     /* next edge of the same vertex, -1 = none */
    int64_t capacity; /* what is left */
};

struct vertex {
    int first;   /* edge, -1 = none */
    int current; /* the first edge that this phase may still use */
    int level;   /* distance from the source, -1 = out of reach */
    int came_by; /* the edge by which the path that grows got here */
};

struct min_cut {
    struct arena *arena;
    struct vertex *vertices;
    struct edge *edges;
    int *queue;
    int n_vertices, n_edges, room_vertices, room_edges;
};

/* The array with room for one more. */
static void *grown(struct arena *arena, void *array, int n, int *room, size_t size)
{
    void *larger;

    if (n < *room)
        return array;
    *room = *room ? 2 * *room : 256;
    larger = arena_alloc_array(arena, (size_t)*room, size);
    if (n > 0)
        memcpy(larger, array, (size_t)n * size);
    return larger;
}

struct min_cut *min_cut_new(struct arena *arena)
{
    struct min_cut *cut = arena_new(arena, struct min_cut);

    cut->arena = arena;
    for (int i = 0; i < MIN_CUT_FIRST; i++)
        min_cut_vertex(cut);
    return cut;
}

int min_cut_vertex(struct min_cut *cut)
{
    cut->vertices = grown(cut->arena, cut->vertices, cut->n_vertices, &cut->room_vertices,
                          sizeof *cut->vertices);
    cut->vertices[cut->n_vertices].first = -1;
    return cut->n_vertices++;
}

static void add_half(struct min_cut *cut, int from, int to, int64_t capacity)
{
    cut->edges = grown(cut->arena, cut->edges, cut->n_edges, &cut->room_edges, sizeof *cut->edges);
    cut->edges[cut->n_edges] =
        (struct edge){ .to = to, .next = cut->vertices[from].first, .capacity = capacity };
    cut->vertices[from].first = cut->n_edges++;
}

void min_cut_edge(struct min_cut *cut, int a, int b, int64_t forth, int64_t back)
{
    assert(a >= 0 && a < cut->n_vertices && b >= 0 && b < cut->n_vertices);
    if (a == b || (forth == 0 && back == 0))
        return;
    add_half(cut, a, b, forth);
    add_half(cut, b, a, back);
}

/* Distances from the source over what capacity is left; whether the sink is in reach. */
static bool find_levels(struct min_cut *cut)
{
    int n = 0;

    for (int i = 0; i < cut->n_vertices; i++)
        cut->vertices[i].level = -1;
    cut->vertices[MIN_CUT_SOURCE].level = 0;
    cut->queue[n++] = MIN_CUT_SOURCE;
    for (int i = 0; i < n; i++) {
        const struct vertex *from = &cut->vertices[cut->queue[i]];

        for (int e = from->first; e >= 0; e = cut->edges[e].next) {
            struct vertex *to = &cut->vertices[cut->edges[e].to];

            if (cut->edges[e].capacity == 0 || to->level >= 0)
                continue;
            to->level = from->level + 1;
            cut->queue[n++] = cut->edges[e].to;
        }
    }
    return cut->vertices[MIN_CUT_SINK].level >= 0;
}

/* Sends what the path that ends at the sink can take, and returns it. */
static int64_t augment(struct min_cut *cut)
{
    int64_t most = INT64_MAX;

    for (int v = MIN_CUT_SINK; v != MIN_CUT_SOURCE;) {
        const int e = cut->vertices[v].came_by;

        most = cut->edges[e].capacity < most ? cut->edges[e].capacity : most;
        v = cut->edges[e ^ 1].to;
    }
    for (int v = MIN_CUT_SINK; v != MIN_CUT_SOURCE;) {
        const int e = cut->vertices[v].came_by;

        cut->edges[e].capacity -= most;
        cut->edges[e ^ 1].capacity += most;
        v = cut->edges[e ^ 1].to;
    }
    return most;
}

/* One phase: paths along rising levels, by depth first, until there are none. */
static int64_t block_flow(struct min_cut *cut)
{
    int64_t flow = 0;
    int at = MIN_CUT_SOURCE;

    for (int i = 0; i < cut->n_vertices; i++)
        cut->vertices[i].current = cut->vertices[i].first;
    for (;;) {
        struct vertex *v = &cut->vertices[at];

        if (at == MIN_CUT_SINK) {
            flow += augment(cut);
            at = MIN_CUT_SOURCE;
            continue;
        }
        while (v->current >= 0 && (cut->edges[v->current].capacity == 0 ||
                                   cut->vertices[cut->edges[v->current].to].level != v->level + 1))
            v->current = cut->edges[v->current].next;
        if (v->current >= 0) {
            const int to = cut->edges[v->current].to;

            cut->vertices[to].came_by = v->current;
            at = to;
        } else if (at == MIN_CUT_SOURCE) {
            return flow;
        } else { /* a dead end: step back, and not here again */
            at = cut->edges[v->came_by ^ 1].to;
            cut->vertices[at].current = cut->edges[cut->vertices[at].current].next;
        }
    }
}

int64_t min_cut_solve(struct min_cut *cut)
{
    int64_t flow = 0;

    cut->queue = arena_array(cut->arena, int, cut->n_vertices);
    while (find_levels(cut))
        flow += block_flow(cut);
    return flow;
}

bool min_cut_at_source(const struct min_cut *cut, int vertex)
{
    return cut->vertices[vertex].level >= 0;
}
