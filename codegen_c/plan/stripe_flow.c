/* stripe_flow.c - who computes when, and how many rows the buffers hold.
 *
 * needs    regions in their order, each reading what stands before it or comes from outside
 * gives    step, held, stays, n_calls, scratch
 * method   the flow is run with counters of rows in the place of rows. stripe_text.c writes the
 * same conditions into the generated C, which therefore does the same */
#include "codegen_c/plan/plan.h"
#include "codegen_c/plan/stripe.h"

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

/* Rows of `window`'s argument that must be there for the stripe of `step` rows that begins at
 * `row`.
 */
static int64_t rows_wanted(const struct row_window *window, int64_t row, int64_t step)
{
    return least(window->rows, (row + step - 1) * window->stride - window->pad + window->extent);
}

/* The first row of region i's result that is read again; a reader that has finished counts where
 * `finished` says so. */
static int64_t first_read(const struct stripes *stripes, int i, const int64_t *done, bool finished)
{
    int64_t first = done[i];

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
                rows_wanted(&stripes->regions[i].reads[k], done[i], stripes->step[i]))
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
                done[i] < rows_wanted(&stripes->regions[r].reads[k], done[r], stripes->step[r]))
                return true;
    return false;
}

static void run_region(struct stripes *stripes, int i, int64_t *done)
{
    const int64_t n = least(stripes->step[i], stripes->regions[i].rows - done[i]);
    const int64_t held = done[i] - first_read(stripes, i, done, true) + n;

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

    return least(window->rows, (stripes->step[i] - 1) * window->stride + window->extent);
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

bool stripes_flow(struct arena *arena, struct stripes *stripes, int64_t parts,
                  const size_t *scratch_of, size_t most, int64_t *work)
{
    const int n = stripes->n;
    int64_t *done = arena_array(arena, int64_t, n);

    stripes->step = arena_array(arena, int64_t, n);
    stripes->held = arena_array(arena, int64_t, n);
    stripes->stays = arena_array(arena, bool, n);
    stripes->n_calls = 0;
    for (int i = 0; i < n; i++)
        stripes->step[i] = (stripes->regions[i].rows + parts - 1) / parts;
    while (!are_done(stripes, done)) {
        const int64_t before = stripes->n_calls;

        for (int i = 0; i < n; i++)
            if (done[i] < stripes->regions[i].rows && is_waited_for(stripes, i, done) &&
                has_rows(stripes, i, done))
                run_region(stripes, i, done);
        for (int i = 0; i < n; i++)
            stripes->stays[i] =
                stripes->stays[i] || (!stripes->is_result[i] && done[i] > 0 &&
                                      first_read(stripes, i, done, false) < done[i]);
        *work -= (int64_t)n * n;
        if (stripes->n_calls == before || *work < 0 || staying_bytes(stripes) > most)
            return false;
    }
    stripes->scratch = buffer_bytes(arena, stripes, scratch_of);
    return stripes->scratch <= most;
}
