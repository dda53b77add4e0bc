/* plan_speed - how long order and offsets take for networks of 500, 2,000 and 10,000 regions:
 * blocks of two to four branches of random length and width that are concatenated, every eighth
 * under a residual, written branch by branch. Prints what was reached beside the bound. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "codegen_c/core/plan.h"
#include "codegen_c/plan/order/schedule.h"

enum { MOST = 10000, MOST_OPERANDS = 5 };

struct graph {
    struct arena arena;
    struct schedule_task tasks[MOST];
    struct schedule_buffer buffers[MOST]; /* buffer i is what task i writes */
    int writers[MOST], after[MOST][MOST_OPERANDS], *readers[MOST], capacity[MOST];
    int n;
};

static unsigned next_random(unsigned *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void add_reader(struct graph *g, int buffer, int task)
{
    struct schedule_buffer *b = &g->buffers[buffer];

    if (b->n_readers == g->capacity[buffer]) {
        int *more = arena_array(&g->arena, int, 2 * g->capacity[buffer] + 4);

        for (int i = 0; i < b->n_readers; i++)
            more[i] = b->readers[i];
        g->capacity[buffer] = 2 * g->capacity[buffer] + 4;
        g->readers[buffer] = more;
        b->readers = more;
    }
    g->readers[buffer][b->n_readers++] = task;
}

/* A task that reads n buffers; negative ones are none. */
static int add_task(struct graph *g, size_t bytes, const int *operands, int n)
{
    const int task = g->n++;

    for (int i = 0; i < n; i++)
        if (operands[i] >= 0) {
            g->after[task][g->tasks[task].n_after++] = operands[i];
            add_reader(g, operands[i], task);
        }
    g->tasks[task].after = g->after[task];
    g->writers[task] = task;
    g->buffers[task].bytes = bytes;
    g->buffers[task].writers = &g->writers[task];
    g->buffers[task].n_writers = 1;
    return task;
}

static void make_graph(struct graph *g, int n_tasks, unsigned seed)
{
    int x = -1, residual = -1;

    for (int block = 0; g->n + 20 < n_tasks; block++) {
        const int n_branches = 2 + (int)(next_random(&seed) % 3);
        int ends[MOST_OPERANDS] = { -1, -1, -1, -1, -1 };

        for (int b = 0; b < n_branches; b++) {
            const int length = 1 + (int)(next_random(&seed) % 4);
            int at = x;

            for (int i = 0; i < length; i++)
                at = add_task(g, PLAN_ALIGN * (1 + next_random(&seed) % 4096), &at, 1);
            ends[b] = at;
        }
        if (block % 8 == 7) {
            ends[n_branches] = residual;
            residual = -1;
        }
        x = add_task(g, PLAN_ALIGN * 2048, ends, MOST_OPERANDS);
        if (residual < 0)
            residual = x;
    }
    while (g->n < n_tasks)
        x = add_task(g, PLAN_ALIGN * 1024, &x, 1);
}

static int make_blocks(const struct graph *g, const int *order, struct block *blocks)
{
    int *at = malloc((size_t)g->n * sizeof *at);

    for (int i = 0; at && i < g->n; i++)
        at[order[i]] = i;
    for (int i = 0; at && i < g->n; i++) {
        blocks[i] = (struct block){ .bytes = g->buffers[i].bytes, .first = at[i], .last = at[i] };
        for (int r = 0; r < g->buffers[i].n_readers; r++)
            if (at[g->buffers[i].readers[r]] > blocks[i].last)
                blocks[i].last = at[g->buffers[i].readers[r]];
    }
    free(at);
    return g->n;
}

static bool measure(int n_tasks)
{
    static struct graph g;
    static struct block blocks[MOST];
    struct arena arena = { NULL };
    const struct schedule_problem problem = { g.tasks, g.buffers, n_tasks, n_tasks };
    struct schedule schedule;
    struct packing packing;
    double start, order, offsets;
    bool ok;

    g = (struct graph){ 0 };
    make_graph(&g, n_tasks, 1);
    start = seconds();
    schedule = schedule_tasks(&arena, &problem, SCHEDULE_WORK);
    order = seconds() - start;
    start = seconds();
    packing = pack_blocks(&arena, blocks, make_blocks(&g, schedule.order, blocks), PACK_WORK);
    offsets = seconds() - start;
    ok = schedule_verify(&arena, &problem, schedule.order) &&
         pack_verify(blocks, n_tasks, packing.bytes);
    printf("%7d regions: order %6.3f s, offsets %6.3f s; arena %zu bytes, alive %zu (as given "
           "%zu), no "
           "order less than %zu%s\n",
           n_tasks, order, offsets, packing.bytes, schedule.peak, schedule.given_peak,
           schedule.lower_bound, ok ? "" : ": WRONG");
    arena_release(&arena);
    arena_release(&g.arena);
    return ok;
}

int main(void)
{
    static const int sizes[] = { 125, 500, 2000, MOST };
    bool ok = true;

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        ok = measure(sizes[i]) && ok;
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
