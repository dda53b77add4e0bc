/* verify_orders.c - see verify_orders.h. */
#include "driver/commands/verify_orders.h"

#include <math.h>
#include <string.h>

#include "relay_ir/ops/ops.h"

enum { MOST_VIEWS = 16 };

struct walk verify_order_walk(const struct verify_order *trial)
{
    int64_t step[MAX_RANK], dims[MAX_RANK], steps[MAX_RANK];
    struct walk walk;

    shape_strides(&trial->shape, step);
    for (int i = 0; i < trial->rank; i++) {
        dims[i] = trial->shape.dim[trial->dim[i]];
        steps[i] = step[trial->dim[i]];
    }
    walk = walk_begin(trial->rank, dims);
    walk_add(&walk, steps);
    return walk;
}

/* How far found[], which lies in that order, is from wanted[]. */
static void measure(struct verify_order *trial, const double *wanted, const double *found,
                    int64_t n)
{
    double squares = 0, noise = 0, worst = 0;
    struct walk walk = verify_order_walk(trial);

    for (int64_t i = 0; i < n; i++, walk_next(&walk)) {
        const double x = wanted[walk.offset[0]], y = found[i];
        const double d = x == y || (isnan(x) && isnan(y)) ? 0 : fabs(x - y);

        if (!(d <= worst))
            worst = isnan(d) ? INFINITY : d;
        noise += isnan(d) ? INFINITY : d * d;
        squares += isfinite(x) ? x * x : 0;
    }
    trial->error = worst;
    trial->noise = noise / (squares > 0 ? squares : 1);
}

/* The next order, of all in lexical order. */
static bool next_order(struct verify_order *trial)
{
    int *d = trial->dim, i = trial->rank - 2, k = trial->rank - 1, other;

    while (i >= 0 && d[i] > d[i + 1])
        i--;
    if (i < 0)
        return false;
    while (d[k] < d[i])
        k--;
    other = d[i], d[i] = d[k], d[k] = other;
    for (int a = i + 1, b = trial->rank - 1; a < b; a++, b--)
        other = d[a], d[a] = d[b], d[b] = other;
    return true;
}

struct verify_order verify_order_as_it_lies(const struct type *shape)
{
    struct verify_order trial = { .shape = *shape };
    int n = 0;

    for (int i = 0; i < shape->rank; i++)
        n += shape->dim[i] != 1;
    if (n > MOST_DIMS) { /* as one */
        trial.shape.rank = 1;
        trial.shape.dim[0] = type_elements(shape);
        n = 1;
    }
    for (int i = 0; i < trial.shape.rank; i++)
        if (trial.shape.dim[i] != 1)
            trial.dim[trial.rank++] = i;
    return trial;
}

static struct verify_order channels_last(const struct verify_order *trial)
{
    struct verify_order last = *trial;

    for (int i = 0; i < last.rank; i++)
        if (last.dim[i] == 1) {
            memmove(&last.dim[i], &last.dim[i + 1], (size_t)(last.rank - i - 1) * sizeof *last.dim);
            last.dim[last.rank - 1] = 1;
            break;
        }
    return last;
}

/* What an imported value's elements, in their order, were before they were viewed so: a view, or
 * what is computed element by element, of one of as many. NULL = something else made it. */
static const struct value *viewed(const struct value *value)
{
    const struct node *def = value->def;

    if (!def || op_row(def->op)->pattern > PATTERN_BROADCAST)
        return NULL;
    for (int i = 0; i < def->n_inputs; i++)
        if (def->inputs[i] && type_elements(&def->inputs[i]->type) == type_elements(&value->type))
            return def->inputs[i];
    return NULL;
}

/* Tries the orders of a shape until one is good. */
static void try_orders(const struct verify_numbers *a, const struct type *shape,
                       struct verify_order *best)
{
    struct verify_order one = verify_order_as_it_lies(shape), last = channels_last(&one);

    measure(&last, a->wanted, a->found, a->n);
    if (last.noise < best->noise)
        *best = last;
    for (bool more = true; more && best->error > a->good; more = next_order(&one)) {
        measure(&one, a->wanted, a->found, a->n);
        if (one.noise < best->noise)
            *best = one;
    }
}

struct verify_order verify_find_order(const struct verify_numbers *a, const struct value *value,
                                      bool exact)
{
    struct verify_order best = verify_order_as_it_lies(&value->type);
    int rank = 0;

    measure(&best, a->wanted, a->found, a->n);
    for (int i = 0; value && !exact && best.error > a->good && i < MOST_VIEWS; i++) {
        const struct verify_order lies = verify_order_as_it_lies(&value->type);

        if (lies.rank > rank) /* others are orders of this one's dims, or of the last one's */
            try_orders(a, &value->type, &best);
        rank = lies.rank > rank ? lies.rank : rank;
        value = viewed(value);
    }
    return best;
}
