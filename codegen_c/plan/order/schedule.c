/* schedule.c - the order of tasks in which the most memory alive at one time is least.
 *
 * needs    tasks, buffers, an order
 * gives    an order that is no worse, what it needs, and what every order needs
 * method   A task that all others come before or after, in every order, cuts the network in two
 *          problems that have nothing to do with each other. Of these only such are solved
 *          (schedule_stretch.c) as need more in the order given than the others need anyway; one
 *          that is too long is solved window by window, which proves nothing.
 *
 *          The bound: while a task runs, all buffers are alive that are written by a task before
 *          it in every order and touched by one after it in every order. */
#include "codegen_c/plan/order/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "codegen_c/plan/order/schedule_stretch.h"

enum {
    REACH_BYTES = 1 << 25, /* for sets of tasks by task; twice */
    ROUNDS = 4             /* of windows */
};

/* --- what is alive in a given order ---------------------------------------------------------- */

struct simulation {
    const struct schedule_problem *problem;
    int *n_written, *n_left; /* by buffer: writers done, touches to come */
    int *first, *list;       /* buffers that each task touches, twice what it reads and writes */
    size_t alive;
};

/* Buffers by task: list[first[t] .. first[t + 1]); those it writes as ~buffer. */
static void list_by_task(struct arena *arena, const struct schedule_problem *problem, int **first,
                         int **list)
{
    int n = 0;

    *first = arena_array(arena, int, problem->n_tasks + 2);
    for (int pass = 0; pass < 2; pass++) {
        int *at = *first + 1 + (pass == 0);

        for (int i = 0; i < problem->n_buffers; i++) {
            const struct schedule_buffer *b = &problem->buffers[i];

            for (int k = 0; k < b->n_writers; k++, n++)
                if (pass == 0)
                    at[b->writers[k]]++;
                else
                    (*list)[at[b->writers[k]]++] = ~i;
            for (int k = 0; k < b->n_readers; k++, n++)
                if (pass == 0)
                    at[b->readers[k]]++;
                else
                    (*list)[at[b->readers[k]]++] = i;
        }
        if (pass == 0) {
            *list = arena_array(arena, int, n);
            for (int t = 0; t < problem->n_tasks; t++)
                (*first)[t + 2] += (*first)[t + 1];
        }
    }
}

static struct simulation simulation_new(struct arena *arena, const struct schedule_problem *problem)
{
    struct simulation s = { .problem = problem };

    s.n_written = arena_array(arena, int, problem->n_buffers);
    s.n_left = arena_array(arena, int, problem->n_buffers);
    for (int i = 0; i < problem->n_buffers; i++)
        s.n_left[i] = problem->buffers[i].n_writers + problem->buffers[i].n_readers;
    list_by_task(arena, problem, &s.first, &s.list);
    return s;
}

static int touches_of(const struct simulation *s, int task, int buffer)
{
    int n = 0;

    for (int k = s->first[task]; k < s->first[task + 1]; k++)
        n += s->list[k] == buffer || s->list[k] == ~buffer;
    return n;
}

/* Bytes alive while the task runs. */
static size_t simulate(struct simulation *s, int task)
{
    const struct schedule_task *t = &s->problem->tasks[task];
    const struct schedule_buffer *buffers = s->problem->buffers;
    size_t written = 0, saved = 0, most;

    for (int k = s->first[task]; k < s->first[task + 1]; k++)
        if (s->list[k] < 0 && s->n_written[~s->list[k]]++ == 0)
            written += buffers[~s->list[k]].bytes;
    for (int i = 0; i < t->n_over && written > 0; i++) {
        const int b = t->over[i];

        if (buffers[b].bytes > saved && buffers[b].bytes <= written && s->n_written[b] > 0 &&
            s->n_left[b] == touches_of(s, task, b))
            saved = buffers[b].bytes;
    }
    if (t->lap_bytes > saved && written > 0 && s->n_written[t->lap] > 0 &&
        s->n_left[t->lap] == touches_of(s, task, t->lap))
        saved = t->lap_bytes;
    most = s->alive + written - saved + t->scratch;
    s->alive += written;
    for (int k = s->first[task]; k < s->first[task + 1]; k++) {
        const int b = s->list[k] < 0 ? ~s->list[k] : s->list[k];

        if (--s->n_left[b] == 0)
            s->alive -= buffers[b].bytes;
    }
    return most;
}

static void alive_by_position(const struct schedule_problem *problem, const int *order,
                              size_t *alive)
{
    struct arena arena = { 0 };
    struct simulation s = simulation_new(&arena, problem);

    for (int i = 0; i < problem->n_tasks; i++)
        alive[i] = simulate(&s, order[i]);
    arena_release(&arena);
}

static size_t most_of(const size_t *alive, int from, int to)
{
    size_t most = 0;

    for (int i = from; i < to; i++)
        most = alive[i] > most ? alive[i] : most;
    return most;
}

size_t schedule_peak(struct arena *scratch, const struct schedule_problem *problem,
                     const int *order)
{
    size_t *alive = arena_array(scratch, size_t, problem->n_tasks);

    alive_by_position(problem, order, alive);
    return most_of(alive, 0, problem->n_tasks);
}

bool schedule_verify(struct arena *scratch, const struct schedule_problem *problem,
                     const int *order)
{
    bool *done = arena_array(scratch, bool, problem->n_tasks);

    for (int i = 0; i < problem->n_tasks; i++) {
        const int t = order[i];

        if (t < 0 || t >= problem->n_tasks || done[t])
            return false;
        for (int k = 0; k < problem->tasks[t].n_after; k++)
            if (!done[problem->tasks[t].after[k]])
                return false;
        done[t] = true;
    }
    return true;
}

/* --- the bound ------------------------------------------------------------------------------- */

/* Which tasks come before and after which, in every order: sets of the tasks of some columns. */
struct reach {
    int first, n_words;       /* columns 64 * first ... */
    uint64_t *before, *after; /* by task: it, and all that come before (after) it */
};

static uint64_t *set_of(uint64_t *sets, const struct reach *reach, int task)
{
    return sets + (size_t)task * (size_t)reach->n_words;
}

static bool contains(const uint64_t *set, const struct reach *reach, int task)
{
    return set[task / 64 - reach->first] >> (task % 64) & 1;
}

static void join(uint64_t *set, const uint64_t *other, int n_words)
{
    for (int w = 0; w < n_words; w++)
        set[w] |= other[w];
}

static void find_reach(struct reach *r, const struct schedule_problem *problem)
{
    const int n = problem->n_tasks;
    const size_t bytes = (size_t)n * (size_t)r->n_words * sizeof *r->before;

    memset(r->before, 0, bytes);
    memset(r->after, 0, bytes);
    for (int t = 64 * r->first; t < 64 * (r->first + r->n_words) && t < n; t++) {
        set_of(r->before, r, t)[t / 64 - r->first] |= UINT64_C(1) << (t % 64);
        set_of(r->after, r, t)[t / 64 - r->first] |= UINT64_C(1) << (t % 64);
    }
    for (int t = 0; t < n; t++)
        for (int i = 0; i < problem->tasks[t].n_after; i++)
            join(set_of(r->before, r, t), set_of(r->before, r, problem->tasks[t].after[i]),
                 r->n_words);
    for (int t = n - 1; t >= 0; t--)
        for (int i = 0; i < problem->tasks[t].n_after; i++)
            join(set_of(r->after, r, problem->tasks[t].after[i]), set_of(r->after, r, t),
                 r->n_words);
}

/* Adds the buffer to all tasks during which it must be alive. */
static void add_needed(struct reach *r, const struct schedule_buffer *buffer, uint64_t *written,
                       uint64_t *touched, size_t *needed)
{
    memset(written, 0, (size_t)r->n_words * sizeof *written);
    memset(touched, 0, (size_t)r->n_words * sizeof *touched);
    for (int i = 0; i < buffer->n_writers; i++) {
        join(written, set_of(r->after, r, buffer->writers[i]), r->n_words);
        join(touched, set_of(r->before, r, buffer->writers[i]), r->n_words);
    }
    for (int i = 0; i < buffer->n_readers; i++)
        join(touched, set_of(r->before, r, buffer->readers[i]), r->n_words);
    for (int w = 0; w < r->n_words; w++)
        for (uint64_t bits = written[w] & touched[w]; bits; bits &= bits - 1)
            needed[64 * (r->first + w) + __builtin_ctzll(bits)] += buffer->bytes;
}

/* Whether a task of the list comes after t in every order. */
static bool is_before_one_of(struct reach *r, int t, const int *tasks, int n)
{
    for (int i = 0; i < n; i++)
        if (tasks[i] != t && contains(set_of(r->before, r, tasks[i]), r, t))
            return true;
    return false;
}

/* What the task may save by writing over what it reads, where nobody must read that later. */
static size_t saved_at_most(struct reach *r, const struct schedule_problem *problem, int t)
{
    const struct schedule_task *task = &problem->tasks[t];
    const struct schedule_buffer *lap = task->lap_bytes ? &problem->buffers[task->lap] : NULL;
    size_t most = 0;

    for (int i = 0; i < problem->tasks[t].n_over; i++) {
        const struct schedule_buffer *b = &problem->buffers[problem->tasks[t].over[i]];

        if (b->bytes > most && !is_before_one_of(r, t, b->readers, b->n_readers) &&
            !is_before_one_of(r, t, b->writers, b->n_writers))
            most = b->bytes;
    }
    if (lap && task->lap_bytes > most && !is_before_one_of(r, t, lap->readers, lap->n_readers) &&
        !is_before_one_of(r, t, lap->writers, lap->n_writers))
        most = task->lap_bytes;
    return most;
}

static size_t find_bound(const struct schedule_problem *problem)
{
    const int n = problem->n_tasks, all = (n + 63) / 64;
    struct arena arena = { 0 };
    struct reach r = { .n_words = (int)(REACH_BYTES / sizeof(uint64_t)) / (n + 1) };
    size_t *needed = arena_array(&arena, size_t, 64 * all);
    uint64_t *written, *touched;
    size_t bound = 0;

    r.n_words = r.n_words < 1 ? 1 : r.n_words > all ? all : r.n_words;
    r.before = arena_alloc_array(&arena, (size_t)n * (size_t)r.n_words, sizeof *r.before);
    r.after = arena_alloc_array(&arena, (size_t)n * (size_t)r.n_words, sizeof *r.after);
    written = arena_array(&arena, uint64_t, r.n_words);
    touched = arena_array(&arena, uint64_t, r.n_words);
    for (; r.first < all; r.first += r.n_words) {
        r.n_words = all - r.first < r.n_words ? all - r.first : r.n_words;
        find_reach(&r, problem);
        for (int i = 0; i < problem->n_buffers; i++)
            add_needed(&r, &problem->buffers[i], written, touched, needed);
        for (int t = 64 * r.first; t < 64 * (r.first + r.n_words) && t < n; t++) {
            const size_t least =
                needed[t] + problem->tasks[t].scratch - saved_at_most(&r, problem, t);

            bound = least > bound ? least : bound;
        }
    }
    arena_release(&arena);
    return bound;
}

/* --- the parts of the network ---------------------------------------------------------------- */

struct part {
    int from, to;
    size_t peak;
};

/* By task: whether all others come before or after it in every order. */
static bool *find_cuts(struct arena *arena, const struct schedule_problem *problem)
{
    const int n = problem->n_tasks;
    bool *is_cut = arena_array(arena, bool, n);
    int *last = arena_array(arena, int, n); /* by task: the last that waits for it, n = none does */
    int last_source = -1, farthest = -1;

    for (int t = 0; t < n; t++)
        last[t] = n;
    for (int t = 0; t < n; t++) {
        for (int i = 0; i < problem->tasks[t].n_after; i++) {
            int *of = &last[problem->tasks[t].after[i]];

            *of = *of == n || *of < t ? t : *of;
        }
        if (problem->tasks[t].n_after == 0)
            last_source = t;
    }
    for (int t = 0; t < n; t++) {
        is_cut[t] = farthest <= t && last_source <= t;
        farthest = last[t] > farthest ? last[t] : farthest;
    }
    return is_cut;
}

static int by_peak(const void *a, const void *b)
{
    const struct part *x = a, *y = b;

    if (x->peak != y->peak)
        return x->peak > y->peak ? -1 : 1;
    return x->from < y->from ? -1 : x->from > y->from;
}

static int find_parts(struct part *parts, const struct schedule_problem *problem,
                      const bool *is_cut, const size_t *alive)
{
    int n = 0;

    for (int from = 0, to; from < problem->n_tasks; from = to) {
        to = from + 1;
        while (!is_cut[from] && to < problem->n_tasks && !is_cut[to])
            to++;
        parts[n++] = (struct part){ from, to, most_of(alive, from, to) };
    }
    qsort(parts, (size_t)n, sizeof *parts, by_peak);
    return n;
}

/* Windows that overlap by half, until nothing changes any more. */
static void improve(const struct schedule_problem *problem, int *order, const struct part *part,
                    size_t enough, uint64_t limit, uint64_t *work)
{
    struct arena arena = { 0 };
    size_t *alive = arena_array(&arena, size_t, problem->n_tasks);
    size_t before = part->peak;

    for (int round = 0; round < ROUNDS && before > enough; round++) {
        size_t after;

        for (int from = part->from; from < part->to; from += STRETCH_TASKS / 2) {
            const int to = part->to - from < STRETCH_TASKS ? part->to : from + STRETCH_TASKS;
            bool proved;

            if (*work < limit)
                schedule_stretch(problem, order, from, to, enough, limit / 64, work, &proved);
        }
        alive_by_position(problem, order, alive);
        after = most_of(alive, part->from, part->to);
        if (after >= before)
            break;
        before = after;
    }
    arena_release(&arena);
}

struct schedule schedule_tasks(struct arena *arena, const struct schedule_problem *problem,
                               uint64_t work)
{
    const int n = problem->n_tasks;
    struct arena scratch = { 0 };
    struct schedule s = { .order = arena_array(arena, int, n) };
    size_t *alive = arena_array(&scratch, size_t, n);
    struct part *parts = arena_array(&scratch, struct part, n);
    size_t enough;
    int n_parts;

    for (int i = 0; i < n; i++)
        s.order[i] = i;
    alive_by_position(problem, s.order, alive);
    s.peak = s.given_peak = most_of(alive, 0, n);
    s.lower_bound = enough = find_bound(problem);
    n_parts = find_parts(parts, problem, find_cuts(&scratch, problem), alive);
    for (int i = 0; i < n_parts && parts[i].peak > enough && s.work < work; i++) {
        const struct part *part = &parts[i];
        bool proved = false;
        size_t peak;

        if (part->to - part->from <= STRETCH_TASKS) {
            peak = schedule_stretch(problem, s.order, part->from, part->to, enough, work - s.work,
                                    &s.work, &proved);
            s.lower_bound = proved && peak > s.lower_bound ? peak : s.lower_bound;
        } else {
            improve(problem, s.order, part, enough, work, &s.work);
        }
        alive_by_position(problem, s.order, alive);
        peak = most_of(alive, part->from, part->to);
        enough = peak > enough ? peak : enough;
    }
    s.peak = schedule_peak(&scratch, problem, s.order);
    for (int i = 0; i < n && s.peak >= s.given_peak; i++)
        s.order[i] = i;
    s.optimal = s.peak == s.lower_bound;
    arena_release(&scratch);
    return s;
}
