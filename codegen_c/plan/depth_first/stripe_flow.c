/* stripe_flow.c - who computes when, and how many rows the buffers hold.
 *
 * needs    regions in their order, each reading what stands before it or comes from outside
 * gives    step, held, stays, n_calls, scratch
 * method   the flow is run with counters of rows in the place of rows. stripe_text.c writes the
 * same conditions into the generated C, which therefore does the same */
#include "codegen_c/core/plan.h"
#include "codegen_c/core/stripe.h"

#include <string.h>

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

void stripes_link(struct arena *arena, struct stripes *stripes)
{
    stripes->source = arena_array(arena, int *, stripes->n);
    stripes->is_result = arena_array(arena, bool, stripes->n);
    for (int i = 0; i < stripes->n; i++) {
        const struct node *call = stripes->regions[i].call;
        int n_inside = 0;

        stripes->source[i] = arena_array(arena, int, call->n_inputs);
        for (int k = 0; k < call->n_inputs; k++) {
            stripes->source[i][k] = -1;
            for (int from = 0; from < i; from++)
                if (stripes->regions[from].call == call->inputs[k]->def)
                    stripes->source[i][k] = from;
        }
        for (int reader = i + 1; reader < stripes->n; reader++)
            for (const struct use *use = call->outputs[0]->uses; use; use = use->next)
                n_inside += use->node == stripes->regions[reader].call;
        stripes->is_result[i] = n_inside < value_n_uses(call->outputs[0]);
    }
}

int64_t stripes_end(const struct stripes *stripes, int i, int64_t done)
{
    return done ? done + stripes->step[i] : stripes->top[i];
}

/* Rows of `window`'s argument that must be there for the rows before `end`. */
static int64_t rows_wanted(const struct row_window *window, int64_t end)
{
    return least(window->rows, (end - 1) * window->stride - window->pad + window->extent);
}

/* The first row of region i's result that is read next, INT64_MAX: none; a reader that has finished
 * counts where `finished` says so. */
static int64_t first_read(const struct stripes *stripes, int i, const int64_t *done, bool finished)
{
    int64_t first = INT64_MAX;

    for (int r = i + 1; r < stripes->n; r++)
        for (int k = 0; k < stripes->regions[r].call->n_inputs; k++) {
            const struct row_window *window = &stripes->regions[r].reads[k];
            int64_t begin, end;

            if (stripes->source[r][k] != i || (!finished && done[r] == stripes->regions[r].rows))
                continue;
            row_window_range(window, done[r], 1, &begin, &end);
            first = least(first, begin);
        }
    return first;
}

static bool has_rows(const struct stripes *stripes, int i, const int64_t *done)
{
    for (int k = 0; k < stripes->regions[i].call->n_inputs; k++)
        if (stripes->source[i][k] >= 0 &&
            done[stripes->source[i][k]] <
                rows_wanted(&stripes->regions[i].reads[k], stripes_end(stripes, i, done[i])))
            return false;
    return true;
}

static bool is_waited_for(const struct stripes *stripes, int i, const int64_t *done)
{
    if (stripes->is_result[i])
        return true;
    for (int r = i + 1; r < stripes->n; r++)
        for (int k = 0; k < stripes->regions[r].call->n_inputs; k++)
            if (stripes->source[r][k] == i &&
                done[i] <
                    rows_wanted(&stripes->regions[r].reads[k], stripes_end(stripes, r, done[r])))
                return true;
    return false;
}

/* Whether the next stripe does not begin with the row that is read next: rows are kept, or passed
 * over. */
static bool begins_elsewhere(const struct stripes *stripes, int i, const int64_t *done)
{
    const int64_t first = first_read(stripes, i, done, false);

    return !stripes->is_result[i] && done[i] > 0 &&
           (first < done[i] || (first > done[i] && first < stripes->regions[i].rows));
}

static void run_region(struct stripes *stripes, int i, int64_t *done)
{
    const int64_t n = least(stripes_end(stripes, i, done[i]), stripes->regions[i].rows) - done[i];
    const int64_t held = done[i] - least(first_read(stripes, i, done, true), done[i]) + n;

    if (!stripes->is_result[i] && held > stripes->held[i])
        stripes->held[i] = held;
    done[i] += n;
    stripes->n_calls++;
}

static bool are_done(const struct stripes *stripes, const int64_t *done)
{
    for (int i = 0; i < stripes->n; i++)
        if (stripes->is_result[i] && done[i] < stripes->regions[i].rows)
            return false;
    return true;
}

bool stripes_gathers(const struct stripes *stripes, int i, int input)
{
    const struct row_window *window = &stripes->regions[i].reads[input];

    return !window->whole && window->planes > 1;
}

int64_t stripes_gathered_rows(const struct stripes *stripes, int i, int input)
{
    const struct row_window *window = &stripes->regions[i].reads[input];

    const int64_t most = stripes->top[i] > stripes->step[i] ? stripes->top[i] : stripes->step[i];

    return least(window->rows, (most - 1) * window->stride + window->extent);
}

static int last_reader(const struct stripes *stripes, int i)
{
    int last = i;

    for (int r = i + 1; r < stripes->n; r++)
        for (int k = 0; k < stripes->regions[r].call->n_inputs; k++)
            if (stripes->source[r][k] == i)
                last = r;
    return last;
}

/* The buffers: alive all the time where rows stay, else from who writes to who reads last. */
static size_t buffer_bytes(struct arena *arena, const struct stripes *stripes,
                           const size_t *scratch_of)
{
    size_t *alive = arena_array(arena, size_t, stripes->n), most = 0;

    for (int i = 0; i < stripes->n; i++) {
        const struct row_region *region = &stripes->regions[i];
        const size_t bytes = plan_round((size_t)stripes->held[i] * region->row_bytes);
        const int first = stripes->stays[i] ? 0 : i;
        const int last = stripes->stays[i] ? stripes->n - 1 : last_reader(stripes, i);

        for (int at = first; at <= last; at++)
            alive[at] += bytes;
        if (scratch_of)
            alive[i] += plan_round(scratch_of[i]);
        for (int k = 0; k < region->call->n_inputs; k++)
            if (stripes_gathers(stripes, i, k))
                alive[i] += plan_round(
                    (size_t)(stripes_gathered_rows(stripes, i, k) * region->reads[k].planes) *
                    region->reads[k].row_bytes);
    }
    for (int i = 0; i < stripes->n; i++)
        most = alive[i] > most ? alive[i] : most;
    return most;
}

static size_t staying_bytes(const struct stripes *stripes)
{
    size_t bytes = 0;

    for (int i = 0; i < stripes->n; i++)
        if (stripes->stays[i])
            bytes += (size_t)stripes->held[i] * stripes->regions[i].row_bytes;
    return bytes;
}

static int64_t usual_step(const struct stripes *stripes, int i, int64_t parts)
{
    return (stripes->regions[i].rows + parts - 1) / parts;
}

/* A reader's stripes and those that it reads of begin together where the latter have as many rows
 * as the former go through: steps that nearly do are made so. */
static void find_step(struct stripes *stripes, int i)
{
    const int64_t usual = stripes->step[i];
    int64_t step = 0;

    for (int r = i + 1; r < stripes->n; r++)
        for (int k = 0; k < stripes->regions[r].call->n_inputs; k++) {
            const int64_t stride = stripes->regions[r].reads[k].stride;
            const int64_t together = stripes->step[r] * stride;
            const int64_t near = stride + usual / 8;

            if (stripes->source[r][k] == i && together > step && together <= usual + near &&
                together >= usual - near)
                step = together;
        }
    if (step)
        stripes->step[i] = least(step, stripes->regions[i].rows);
}

/* The first stripe has as many rows as the first of those that read it want, where their stripes
 * begin together; or whole stripes less, so that the buffer needs no more than it does later. */
static void find_top(struct stripes *stripes, int i)
{
    const int64_t step = stripes->step[i];
    int64_t top = 0, beyond = 0;

    for (int r = i + 1; r < stripes->n; r++)
        for (int k = 0; k < stripes->regions[r].call->n_inputs; k++) {
            struct row_window window = stripes->regions[r].reads[k];
            int64_t wanted;

            if (stripes->source[r][k] != i || window.stride * stripes->step[r] != step)
                continue;
            beyond =
                window.extent - window.stride > beyond ? window.extent - window.stride : beyond;
            if (window.extent < window.stride) /* and those that it passes over */
                window.extent = window.stride;
            wanted = rows_wanted(&window, stripes->top[r]);
            top = wanted > top ? wanted : top;
        }
    while (top > step + beyond)
        top -= step;
    stripes->top[i] = top ? top : step;
}

/* Runs the flow where stripes begin `together`, or each with the rows of its own result alone.
 * False where rows that stay take more than `most`, or after too many steps. */
static bool run_flow(struct arena *arena, struct stripes *stripes, int64_t parts, bool together,
                     size_t most, int64_t *work)
{
    const int n = stripes->n;
    int64_t *done = arena_array(arena, int64_t, n);

    stripes->step = arena_array(arena, int64_t, n);
    stripes->top = arena_array(arena, int64_t, n);
    stripes->held = arena_array(arena, int64_t, n);
    stripes->stays = arena_array(arena, bool, n);
    stripes->n_calls = 0;
    for (int i = n; i-- > 0;) {
        stripes->step[i] = usual_step(stripes, i, parts);
        if (together)
            find_step(stripes, i);
        stripes->top[i] = stripes->step[i];
        if (together)
            find_top(stripes, i);
    }
    while (!are_done(stripes, done)) {
        const int64_t before = stripes->n_calls;

        for (int i = 0; i < n; i++)
            if (done[i] < stripes->regions[i].rows && is_waited_for(stripes, i, done) &&
                has_rows(stripes, i, done))
                run_region(stripes, i, done);
        for (int i = 0; i < n; i++)
            stripes->stays[i] = stripes->stays[i] || begins_elsewhere(stripes, i, done);
        *work -= (int64_t)n * n;
        if (stripes->n_calls == before || *work < 0 || staying_bytes(stripes) > most)
            return false;
    }
    return true;
}

/* Whether what a region hands to another has its rows where the reader looks for them. A region's
 * rows lie along dim 1; of a feature map in planes (NCHW), where an element-wise region cuts that,
 * these are channels, and what reads it as a convolution does wants rows of each of them. Nor can a
 * reader that wants all of it for each row wait for rows. */
static bool hands_on_rows(const struct stripes *stripes)
{
    for (int i = 0; i < stripes->n; i++)
        for (int k = 0; k < stripes->regions[i].call->n_inputs; k++) {
            const struct row_window *window = &stripes->regions[i].reads[k];
            const int from = stripes->source[i][k];

            if (from >= 0 && (window->whole || window->axis != stripes->regions[from].axis))
                return false;
        }
    return true;
}

/* Together they need smaller buffers but where stripes have so few rows that what is added is much:
 * never of one row, always of FEW_ROWS or more. In between the smaller buffers, whatever the
 * regions' scratch is: who only generates code does not know it. */
enum { FEW_ROWS = 4 };

bool stripes_flow(struct arena *arena, struct stripes *stripes, int64_t parts,
                  const size_t *scratch_of, size_t most, int64_t *work)
{
    int64_t least_step = INT64_MAX, most_step = 1;
    struct stripes apart = *stripes;
    bool ok = false;

    if (!hands_on_rows(stripes))
        return false;
    for (int i = 0; i < stripes->n; i++) {
        const int64_t step = usual_step(stripes, i, parts);

        least_step = step < least_step ? step : least_step;
        most_step = step > most_step ? step : most_step;
    }
    if (most_step > 1)
        ok = run_flow(arena, stripes, parts, true, most, work);
    if (least_step < FEW_ROWS && run_flow(arena, &apart, parts, false, most, work) &&
        (!ok || buffer_bytes(arena, &apart, NULL) < buffer_bytes(arena, stripes, NULL))) {
        *stripes = apart;
        ok = true;
    }
    if (!ok || *work < 0)
        return false;
    stripes->scratch = buffer_bytes(arena, stripes, scratch_of);
    return stripes->scratch <= most;
}
