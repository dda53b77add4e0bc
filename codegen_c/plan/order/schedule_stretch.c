/* schedule_stretch.c - a stretch of an order as a problem of its own.
 *
 * needs    an order that the tasks allow, a stretch of it
 * gives    a better order of the stretch, or the proof that there is none, or neither */
#include "codegen_c/plan/order/schedule_stretch.h"

#include "codegen_c/plan/order/schedule_search.h"

/* Of one task: buffers, or other tasks. */
struct lists {
    int *at, n;
};

/* What is made into a stretch: positions [from, to) of an order. */
struct building {
    const struct schedule_problem *problem;
    const int *position; /* by task */
    int from, to;
};

/* -1: outside. */
static int local(const struct building *b, int task)
{
    const int at = b->position[task];

    return at >= b->from && at < b->to ? at - b->from : -1;
}

static void look_at(const struct building *b, const int *tasks, int n, bool write,
                    struct local_buffer *buffer)
{
    for (int i = 0; i < n; i++) {
        const int t = local(b, tasks[i]);

        if (t >= 0) {
            set_add(&buffer->touching, t);
            if (write)
                set_add(&buffer->writers, t);
        } else if (b->position[tasks[i]] < b->from) {
            buffer->written_before = buffer->written_before || write;
        } else {
            buffer->touched_after = true;
        }
    }
}

/* Appends the buffer to the lists of these tasks, where it is not yet there. */
static void list(const struct building *b, const int *tasks, int n, struct lists *lists, int buffer)
{
    for (int i = 0; i < n; i++) {
        const int t = local(b, tasks[i]);

        if (t >= 0 && (lists[t].n == 0 || lists[t].at[lists[t].n - 1] != buffer))
            lists[t].at[lists[t].n++] = buffer;
    }
}

/* Room in the lists for as many buffers as the tasks touch. */
static struct lists *new_lists(const struct stretch *s, const struct building *b)
{
    struct lists *lists = arena_array(s->arena, struct lists, s->n_tasks);

    for (int i = 0; i < b->problem->n_buffers; i++) {
        const struct schedule_buffer *buffer = &b->problem->buffers[i];

        for (int k = 0; k < buffer->n_writers + buffer->n_readers; k++) {
            const int t = local(b, k < buffer->n_writers ? buffer->writers[k]
                                                         : buffer->readers[k - buffer->n_writers]);

            if (t >= 0)
                lists[t].n++;
        }
    }
    for (int t = 0; t < s->n_tasks; t++)
        lists[t] = (struct lists){ arena_array(s->arena, int, lists[t].n), 0 };
    return lists;
}

/* The buffers that the stretch touches, with their lists by task; *base: bytes of others that are
 * alive throughout. */
static void find_buffers(struct stretch *s, const struct building *b, int *local_of, size_t *base)
{
    const struct schedule_problem *problem = b->problem;
    struct lists *writes = new_lists(s, b), *touches = new_lists(s, b);

    s->buffers = arena_array(s->arena, struct local_buffer, problem->n_buffers);
    *base = 0;
    for (int i = 0; i < problem->n_buffers; i++) {
        const struct schedule_buffer *buffer = &problem->buffers[i];
        struct local_buffer *l = &s->buffers[s->n_buffers];

        *l = (struct local_buffer){ .bytes = buffer->bytes };
        look_at(b, buffer->writers, buffer->n_writers, true, l);
        look_at(b, buffer->readers, buffer->n_readers, false, l);
        local_of[i] = -1;
        if (set_is_empty(&l->touching)) {
            *base += l->written_before && l->touched_after ? l->bytes : 0;
            continue;
        }
        s->alive += l->written_before ? l->bytes : 0;
        list(b, buffer->writers, buffer->n_writers, writes, s->n_buffers);
        list(b, buffer->writers, buffer->n_writers, touches, s->n_buffers);
        list(b, buffer->readers, buffer->n_readers, touches, s->n_buffers);
        local_of[i] = s->n_buffers++;
    }
    for (int t = 0; t < s->n_tasks; t++) {
        s->tasks[t].writes = writes[t].at;
        s->tasks[t].n_writes = writes[t].n;
        s->tasks[t].touches = touches[t].at;
        s->tasks[t].n_touches = touches[t].n;
    }
}

/* Which tasks of the stretch wait for which. */
static void find_order(struct stretch *s, const struct building *b, const int *order)
{
    struct lists *before = arena_array(s->arena, struct lists, s->n_tasks);

    for (int pass = 0; pass < 2; pass++) { /* counts, then lists */
        for (int t = 0; t < s->n_tasks; t++) {
            const struct schedule_task *task = &b->problem->tasks[order[b->from + t]];

            for (int i = 0; i < task->n_after; i++) {
                const int k = local(b, task->after[i]);

                if (k < 0)
                    continue;
                set_add(&s->tasks[t].after, k);
                if (before[k].at)
                    before[k].at[before[k].n] = t;
                before[k].n++;
            }
        }
        for (int t = 0; t < s->n_tasks && pass == 0; t++)
            before[t] = (struct lists){ arena_array(s->arena, int, before[t].n), 0 };
    }
    for (int t = 0; t < s->n_tasks; t++) {
        s->tasks[t].before = before[t].at;
        s->tasks[t].n_before = before[t].n;
    }
}

static void find_needs(struct stretch *s, const struct building *b, const int *order,
                       const int *local_of)
{
    for (int t = 0; t < s->n_tasks; t++) {
        const struct schedule_task *task = &b->problem->tasks[order[b->from + t]];
        int *over = arena_array(s->arena, int, task->n_over);

        s->tasks[t].scratch = task->scratch;
        for (int i = 0; i < task->n_over; i++)
            over[i] = local_of[task->over[i]]; /* the task reads it: it is local */
        s->tasks[t].over = over;
        s->tasks[t].n_over = task->n_over;
        s->tasks[t].lap_bytes = task->lap_bytes;
        if (task->lap_bytes)
            s->tasks[t].lap = local_of[task->lap];
    }
}

size_t schedule_stretch(const struct schedule_problem *problem, int *order, int from, int to,
                        size_t enough, uint64_t limit, uint64_t *work, bool *proved)
{
    struct arena arena = { 0 };
    struct stretch s = { .arena = &arena, .n_tasks = to - from };
    int *position = arena_array(&arena, int, problem->n_tasks);
    int *local_of = arena_array(&arena, int, problem->n_buffers);
    struct building building = { problem, position, from, to };
    size_t base, peak;

    for (int i = 0; i < problem->n_tasks; i++)
        position[order[i]] = i;
    s.tasks = arena_array(&arena, struct local_task, s.n_tasks);
    find_buffers(&s, &building, local_of, &base);
    find_order(&s, &building, order);
    find_needs(&s, &building, order, local_of);
    s.enough = enough > base ? enough - base : 0;
    peak = stretch_peak(&s);
    *proved = peak <= s.enough;
    if (!*proved) {
        int *best = arena_array(&arena, int, s.n_tasks);
        int *old = arena_memdup(&arena, order + from, (size_t)s.n_tasks * sizeof *old);
        const size_t found = stretch_search(&s, limit, work, best, proved);

        for (int t = 0; t < s.n_tasks && found < peak; t++)
            order[from + t] = old[best[t]];
        peak = found < peak ? found : peak;
    }
    arena_release(&arena);
    return peak + base;
}
