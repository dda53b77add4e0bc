/* schedule_search.c - the best order of a stretch of tasks.
 *
 * needs    tasks and buffers of a stretch (schedule_stretch.c)
 * gives    an order of the tasks, and whether none is better
 * method   What is alive depends only on the set of tasks that are done, so the search goes over
 *          sets: from the empty to the full one, always on from the set that could be reached with
 *          the least memory (Dijkstra's method, with the greatest in the place of the sum). Where
 *          it takes too long, a beam follows: the best few sets of each size.
 *
 *          A task that needs no more than is allowed anyway and leaves no more alive than before
 *          is done at once: each buffer that it allocates would be allocated later as well, what
 *          it frees it frees the more surely the later it comes, so that moving it to the front
 *          of any order makes nothing greater. In a chain no choice is left. */
#include "codegen_c/plan/order/schedule_search.h"

#include <string.h>

enum { BEAM = 32 };

struct state {
    struct task_set done, ready; /* what could be done next */
    size_t alive, peak;          /* of buffers that the stretch touches; peak not below `enough` */
    int parent;                  /* state, -1 = none */
    int task; /* done first in coming from there; others followed by themselves */
    int n_done;
};

struct search {
    const struct stretch *stretch;
    struct arena *arena;
    struct state *states;
    int n_states, capacity;
    int *heap, n_heap;
    int *table; /* hash of the set -> state + 1 */
    int table_size;
    uint64_t work, limit;
};

bool set_has(const struct task_set *set, int i)
{
    return set->bits[i / 64] >> (i % 64) & 1;
}

void set_add(struct task_set *set, int i)
{
    set->bits[i / 64] |= UINT64_C(1) << (i % 64);
}

bool set_is_empty(const struct task_set *set)
{
    static const struct task_set none;

    return memcmp(set, &none, sizeof none) == 0;
}

static bool meet(const struct task_set *a, const struct task_set *b)
{
    uint64_t common = 0;

    for (int w = 0; w < SET_WORDS; w++)
        common |= a->bits[w] & b->bits[w];
    return common != 0;
}

/* Whether everything in `part` but task t (-1: nothing is left out) is in `whole`. */
static bool holds(const struct task_set *whole, const struct task_set *part, int t)
{
    uint64_t missing = 0;

    for (int w = 0; w < SET_WORDS; w++) {
        uint64_t bits = part->bits[w] & ~whole->bits[w];

        if (t >= 0 && t / 64 == w)
            bits &= ~(UINT64_C(1) << (t % 64));
        missing |= bits;
    }
    return missing == 0;
}

static bool is_written(const struct local_buffer *b, const struct task_set *done)
{
    return b->written_before || meet(&b->writers, done);
}

/* Whether task t would be the last to touch it. */
static bool dies_with(const struct local_buffer *b, const struct task_set *done, int t)
{
    return !b->touched_after && holds(done, &b->touching, t);
}

/* What is alive while t runs, and (alive_after) when it is done. */
static size_t run_task(const struct stretch *s, const struct state *state, int t,
                       size_t *alive_after)
{
    const struct local_task *task = &s->tasks[t];
    size_t written = 0, freed = 0, saved = 0;

    for (int i = 0; i < task->n_writes; i++)
        if (!is_written(&s->buffers[task->writes[i]], &state->done))
            written += s->buffers[task->writes[i]].bytes;
    for (int i = 0; i < task->n_touches; i++)
        if (dies_with(&s->buffers[task->touches[i]], &state->done, t))
            freed += s->buffers[task->touches[i]].bytes;
    for (int i = 0; i < task->n_over && written > 0; i++) {
        const struct local_buffer *b = &s->buffers[task->over[i]];

        if (b->bytes > saved && b->bytes <= written && is_written(b, &state->done) &&
            dies_with(b, &state->done, t))
            saved = b->bytes;
    }
    if (task->lap_bytes > saved && written > 0 &&
        is_written(&s->buffers[task->lap], &state->done) &&
        dies_with(&s->buffers[task->lap], &state->done, t))
        saved = task->lap_bytes;
    *alive_after = state->alive + written - freed;
    return state->alive + written - saved + task->scratch;
}

static void do_task(const struct stretch *s, struct state *state, int t)
{
    size_t after;
    const size_t peak = run_task(s, state, t, &after);

    state->alive = after;
    if (peak > state->peak)
        state->peak = peak;
    set_add(&state->done, t);
    state->ready.bits[t / 64] &= ~(UINT64_C(1) << (t % 64));
    for (int i = 0; i < s->tasks[t].n_before; i++) {
        const int next = s->tasks[t].before[i];

        if (holds(&state->done, &s->tasks[next].after, -1))
            set_add(&state->ready, next);
    }
    state->n_done++;
}

/* The first ready task after t, -1 if there is none. */
static int next_ready(const struct state *state, int t)
{
    for (int w = ++t / 64; w < SET_WORDS; w++, t = 64 * w) {
        const uint64_t bits = state->ready.bits[w] >> (t % 64);

        if (bits)
            return t + __builtin_ctzll(bits);
    }
    return -1;
}

/* Does what can be done at no cost, and writes down which tasks, if asked. */
static void do_free_tasks(struct search *s, struct state *state, int *order)
{
    bool again = true;

    while (again) {
        again = false;
        for (int t = next_ready(state, -1); t >= 0; t = next_ready(state, t)) {
            size_t after;

            s->work++;
            if (run_task(s->stretch, state, t, &after) > state->peak || after > state->alive)
                continue;
            if (order)
                order[state->n_done] = t;
            do_task(s->stretch, state, t);
            again = true;
        }
    }
}

static uint64_t hash(const struct task_set *set)
{
    uint64_t h = 0;

    for (int w = 0; w < SET_WORDS; w++) {
        h = (h ^ set->bits[w]) * UINT64_C(0x9E3779B97F4A7C15);
        h ^= h >> 29;
    }
    return h;
}

/* Of two sets in the heap the one to go on from: less memory, else nearer to the end, else the one
 * that was found first, which is the one nearer to the order given. */
static bool goes_first(const struct search *s, int a, int b)
{
    const struct state *x = &s->states[a], *y = &s->states[b];

    if (x->peak != y->peak)
        return x->peak < y->peak;
    if (x->n_done != y->n_done)
        return x->n_done > y->n_done;
    return a < b;
}

static void push(struct search *s, int state)
{
    int at = s->n_heap++;

    for (; at > 0 && goes_first(s, state, s->heap[(at - 1) / 2]); at = (at - 1) / 2)
        s->heap[at] = s->heap[(at - 1) / 2];
    s->heap[at] = state;
}

static int pop(struct search *s)
{
    const int top = s->heap[0], last = s->heap[--s->n_heap];
    int at = 0;

    for (;;) {
        int child = 2 * at + 1;

        if (child + 1 < s->n_heap && goes_first(s, s->heap[child + 1], s->heap[child]))
            child++;
        if (child >= s->n_heap || !goes_first(s, s->heap[child], last))
            break;
        s->heap[at] = s->heap[child];
        at = child;
    }
    s->heap[at] = last;
    return top;
}

/* The place in the table of this set: of the state found last, or an empty one. */
static int *find(struct search *s, const struct task_set *done)
{
    uint64_t at = hash(done) & (uint64_t)(s->table_size - 1);

    while (s->table[at] && memcmp(&s->states[s->table[at] - 1].done, done, sizeof *done) != 0)
        at = (at + 1) & (uint64_t)(s->table_size - 1);
    return &s->table[at];
}

/* Room for states, the heap (a state is in it once for each time that it got better: every push is
 * paid for by a new entry in `states`) and the table. */
static void grow(struct search *s)
{
    const int capacity = s->capacity ? 2 * s->capacity : 1024;
    struct state *states = arena_array(s->arena, struct state, capacity);
    int *heap = arena_array(s->arena, int, capacity);

    if (s->capacity > 0) {
        memcpy(states, s->states, (size_t)s->n_states * sizeof *states);
        memcpy(heap, s->heap, (size_t)s->n_heap * sizeof *heap);
    }
    s->states = states;
    s->heap = heap;
    s->capacity = capacity;
    s->table_size = 4 * capacity;
    s->table = arena_array(s->arena, int, s->table_size);
    for (int i = 0; i < s->n_states; i++)
        *find(s, &s->states[i].done) = i + 1; /* of two with one set the later is the better */
}

/* The state is new, or better than the one with the same set: then it stands for the set. -1: it is
 * neither. */
static int remember(struct search *s, const struct state *state)
{
    int *place;

    if (s->n_states == s->capacity)
        grow(s);
    place = find(s, &state->done);
    if (*place && s->states[*place - 1].peak <= state->peak)
        return -1;
    s->states[s->n_states] = *state;
    *place = ++s->n_states;
    return *place - 1;
}

/* From a state by one task, and what follows from it by itself. */
static struct state after_task(struct search *s, int from, int t)
{
    struct state next = s->states[from];

    next.parent = from;
    next.task = t;
    s->work++;
    do_task(s->stretch, &next, t);
    do_free_tasks(s, &next, NULL);
    return next;
}

/* Nothing is done. */
static struct state first_state(const struct stretch *stretch, size_t peak)
{
    struct state state = { .alive = stretch->alive, .peak = peak, .parent = -1, .task = -1 };

    for (int t = 0; t < stretch->n_tasks; t++)
        if (set_is_empty(&stretch->tasks[t].after))
            set_add(&state.ready, t);
    return state;
}

static int start(struct search *s)
{
    struct state state = first_state(s->stretch, s->stretch->enough);

    s->n_states = s->n_heap = 0;
    if (s->capacity > 0)
        memset(s->table, 0, (size_t)s->table_size * sizeof *s->table);
    do_free_tasks(s, &state, NULL);
    return remember(s, &state);
}

/* The state in which all is done, by the least peak; -1 = it took too long. */
static int search_sets(struct search *s)
{
    push(s, start(s));
    while (s->n_heap > 0 && s->work < s->limit) {
        const int from = pop(s);

        if (s->states[from].n_done == s->stretch->n_tasks)
            return from;
        if (*find(s, &s->states[from].done) != from + 1)
            continue; /* a better one has come in the meantime */
        for (int t = next_ready(&s->states[from], -1); t >= 0;
             t = next_ready(&s->states[from], t)) {
            const struct state next = after_task(s, from, t);
            const int to = remember(s, &next);

            if (to >= 0)
                push(s, to);
        }
    }
    return -1;
}

/* The sets of one size, the best first. */
struct level {
    int n, states[BEAM];
};

static bool is_better(const struct state *a, const struct state *b)
{
    return a->peak != b->peak ? a->peak < b->peak : a->alive < b->alive;
}

static void add_to_level(struct search *s, struct level *level, const struct state *state)
{
    int to, at;

    if (level->n == BEAM && !is_better(state, &s->states[level->states[BEAM - 1]]))
        return;
    to = remember(s, state);
    if (to < 0)
        return;
    at = level->n < BEAM ? level->n++ : BEAM - 1;
    for (; at > 0 && is_better(state, &s->states[level->states[at - 1]]); at--)
        level->states[at] = level->states[at - 1];
    level->states[at] = to;
}

static int search_beam(struct search *s)
{
    struct level *levels = arena_array(s->arena, struct level, s->stretch->n_tasks + 1);
    const int first = start(s);

    levels[s->states[first].n_done] = (struct level){ .n = 1, .states = { first } };
    for (int n = 0; n < s->stretch->n_tasks; n++)
        for (int i = 0; i < levels[n].n; i++) {
            const int from = levels[n].states[i];

            for (int t = next_ready(&s->states[from], -1); t >= 0;
                 t = next_ready(&s->states[from], t)) {
                const struct state next = after_task(s, from, t);

                add_to_level(s, &levels[next.n_done], &next);
            }
        }
    return levels[s->stretch->n_tasks].states[0];
}

/* The tasks in the order in which the states on the way to `last` did them. */
static void retrace(struct search *s, int last, int *order)
{
    int *path = arena_array(s->arena, int, s->stretch->n_tasks + 1), n = 0;
    struct state state = first_state(s->stretch, s->stretch->enough);

    for (int at = last; at >= 0; at = s->states[at].parent)
        path[n++] = s->states[at].task;
    do_free_tasks(s, &state, order);
    for (int i = n - 2; i >= 0; i--) {
        order[state.n_done] = path[i];
        do_task(s->stretch, &state, path[i]);
        do_free_tasks(s, &state, order);
    }
}

size_t stretch_peak(const struct stretch *stretch)
{
    struct state state = first_state(stretch, 0);

    for (int t = 0; t < stretch->n_tasks; t++)
        do_task(stretch, &state, t);
    return state.peak;
}

size_t stretch_search(const struct stretch *stretch, uint64_t limit, uint64_t *work, int *order,
                      bool *proved)
{
    struct search search = { .stretch = stretch, .arena = stretch->arena, .limit = limit };
    int last = search_sets(&search);

    *proved = last >= 0;
    if (last < 0)
        last = search_beam(&search);
    retrace(&search, last, order);
    *work += search.work;
    return search.states[last].peak;
}
