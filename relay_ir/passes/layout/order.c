/* order.c - see order.h. */
#include "relay_ir/passes/layout/order.h"

#include "relay_ir/layout.h"

struct order order_as_is(int rank)
{
    struct order order = { { 0 } };

    for (int i = 0; i < rank; i++)
        order.at[i] = i;
    return order;
}

bool order_equal(const struct order *a, const struct order *b, int rank)
{
    for (int i = 0; i < rank; i++)
        if (a->at[i] != b->at[i])
            return false;
    return true;
}

struct order order_of_layout(const char *layout, int rank, bool last)
{
    struct order order = order_as_is(rank);

    if (layout_is_last(layout) && !last)
        layout_to_first("NHWC", rank, order.at);
    else if (!layout_is_last(layout) && last)
        layout_from_first("NHWC", rank, order.at);
    return order;
}

struct type order_type(const struct type *type, const struct order *order)
{
    struct type to = *type;

    for (int i = 0; i < type->rank; i++)
        to.dim[i] = type->dim[order->at[i]];
    return to;
}

static int place_of(const struct order *order, int dim)
{
    int i = 0;

    while (order->at[i] != dim)
        i++;
    return i;
}

struct ints order_axes(const struct order *from, const struct order *to, int rank)
{
    struct ints axes = { .n = rank };

    for (int i = 0; i < rank; i++)
        axes.at[i] = place_of(from, to->at[i]);
    return axes;
}

bool order_same_memory(const struct type *type, const struct order *a, const struct order *b)
{
    int i = 0, j = 0;

    for (;;) { /* the dims that are not 1, side by side */
        while (i < type->rank && type->dim[a->at[i]] == 1)
            i++;
        while (j < type->rank && type->dim[b->at[j]] == 1)
            j++;
        if (i == type->rank || j == type->rank)
            return i == type->rank && j == type->rank;
        if (a->at[i++] != b->at[j++])
            return false;
    }
}

struct order order_through_transpose(const struct ints *axes, const struct order *in)
{
    struct order out = { { 0 } };

    for (int i = 0; i < axes->n; i++)
        while (axes->at[out.at[i]] != in->at[i])
            out.at[i]++;
    return out;
}

struct order order_before_transpose(const struct ints *axes, const struct order *out)
{
    struct order in = { { 0 } };

    for (int i = 0; i < axes->n; i++)
        in.at[i] = (int)axes->at[out->at[i]];
    return in;
}

/* Dims of x and of its reshape y that stand for the same elements: the least runs of equal product.
 * Dims of 1 go with what is before them, leading ones with the first run. */
struct run {
    int x, n_x, y, n_y; /* x .. x + n_x - 1 */
};

static int find_runs(const struct type *x, const struct type *y, struct run *runs)
{
    int n = 0, i = 0, j = 0;

    while (i < x->rank || j < y->rank) {
        struct run *run = &runs[n++];
        int64_t left = 1, right = 1;

        *run = (struct run){ i, 0, j, 0 };
        do {
            if (i < x->rank && (left < right || (left == right && j == y->rank) ||
                                (left == right && x->dim[i] <= y->dim[j])))
                left *= x->dim[i++];
            else if (j < y->rank)
                right *= y->dim[j++];
            else
                break;
        } while (left != right);
        while (i < x->rank && x->dim[i] == 1)
            i++;
        while (j < y->rank && y->dim[j] == 1)
            j++;
        run->n_x = i - run->x;
        run->n_y = j - run->y;
    }
    return n;
}

static int run_of(const struct run *runs, int n, int dim, bool of_y)
{
    for (int i = 0; i < n; i++) {
        const int from = of_y ? runs[i].y : runs[i].x, count = of_y ? runs[i].n_y : runs[i].n_x;

        if (dim >= from && dim < from + count)
            return i;
    }
    return -1;
}

/* The runs in the order in which they lie; dims of 1 are not looked at. False when the dims of a
 * run are not neighbours, or turned. */
static bool runs_in_order(const struct run *runs, int n, const struct type *type,
                          const struct order *order, bool of_y, int *sequence, int *n_sequence)
{
    bool begun[2 * MAX_RANK] = { false };
    int last = -1;

    *n_sequence = 0;
    for (int i = 0; i < type->rank; i++) {
        const int dim = order->at[i], run = type->dim[dim] == 1 ? -1 : run_of(runs, n, dim, of_y);

        if (run < 0)
            continue;
        if (*n_sequence > 0 && sequence[*n_sequence - 1] == run) {
            if (dim < last)
                return false;
        } else if (begun[run]) {
            return false;
        } else {
            begun[run] = true;
            sequence[(*n_sequence)++] = run;
        }
        last = dim;
    }
    return true;
}

bool order_through_reshape(const struct type *x, const struct order *in, const struct type *y,
                           struct order *out)
{
    struct run runs[2 * MAX_RANK];
    int sequence[2 * MAX_RANK], n_sequence, at = 0;
    bool taken[MAX_RANK] = { false };
    int n;

    if (type_elements(x) == 0)
        return false;
    n = find_runs(x, y, runs);
    if (!runs_in_order(runs, n, x, in, false, sequence, &n_sequence))
        return false;
    for (int j = 0; j < y->rank && y->dim[j] == 1; j++) { /* leading ones stay in front */
        out->at[at++] = j;
        taken[j] = true;
    }
    for (int i = 0; i < n_sequence; i++)
        for (int j = runs[sequence[i]].y; j < runs[sequence[i]].y + runs[sequence[i]].n_y; j++)
            if (!taken[j]) {
                out->at[at++] = j;
                taken[j] = true;
            }
    for (int j = 0; j < y->rank; j++)
        if (!taken[j])
            out->at[at++] = j;
    return true;
}

bool order_same_elements(const struct type *x, const struct order *a, const struct type *y,
                         const struct order *b)
{
    struct run runs[2 * MAX_RANK];
    int left[2 * MAX_RANK], right[2 * MAX_RANK], n_left, n_right, n;

    if (type_elements(x) == 0)
        return false;
    n = find_runs(x, y, runs);
    if (!runs_in_order(runs, n, x, a, false, left, &n_left) ||
        !runs_in_order(runs, n, y, b, true, right, &n_right) || n_left != n_right)
        return false;
    for (int i = 0; i < n_left; i++)
        if (left[i] != right[i])
            return false;
    return true;
}

struct order order_without(const struct order *in, int rank, const struct ints *axes)
{
    struct order out = { { 0 } };
    int n = 0;

    for (int i = 0; i < rank; i++) {
        int below = 0;

        if (ints_has(axes, in->at[i]))
            continue;
        for (int k = 0; k < axes->n; k++)
            below += axes->at[k] < in->at[i];
        out.at[n++] = in->at[i] - below;
    }
    return out;
}
