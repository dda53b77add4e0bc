/* Orders of dims against what they mean: the sequence of elements in memory, written out. */
#include <check.h>
#include <string.h>

#include "relay_ir/passes/layout/order.h"

enum { MOST_ELEMENTS = 4096, N_TRIALS = 20000 };

static unsigned below(unsigned *seed, unsigned n)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % n;
}

static struct type random_type(unsigned *seed)
{
    static const int64_t dims[] = { 1, 1, 1, 2, 2, 3, 4 };
    struct type type = { .dtype = DTYPE_F32, .rank = 1 + (int)below(seed, 5) };

    for (int i = 0; i < type.rank; i++)
        type.dim[i] = dims[below(seed, sizeof dims / sizeof *dims)];
    return type;
}

static struct order random_order(unsigned *seed, int rank)
{
    struct order order = order_as_is(rank);

    for (int i = rank - 1; i > 0; i--) {
        const int j = (int)below(seed, (unsigned)i + 1), at = order.at[i];

        order.at[i] = order.at[j];
        order.at[j] = at;
    }
    return order;
}

/* A shape with as many elements: neighbours joined, dims of 1 put in, 4 split. */
static struct type random_reshape(unsigned *seed, const struct type *x)
{
    struct type y = { .dtype = x->dtype };

    for (int i = 0; i < x->rank; i++) {
        const unsigned what = below(seed, 6);

        if (what == 0 && y.rank > 0) {
            y.dim[y.rank - 1] *= x->dim[i];
        } else if (what == 1 && x->dim[i] == 4 && y.rank < 6) {
            y.dim[y.rank++] = 2;
            y.dim[y.rank++] = 2;
        } else if (what == 2 && x->dim[i] == 1 && (y.rank > 0 || i + 1 < x->rank)) {
            continue;
        } else {
            y.dim[y.rank++] = x->dim[i];
        }
        if (what == 3 && y.rank < 6)
            y.dim[y.rank++] = 1;
    }
    if (y.rank == 0)
        y.dim[y.rank++] = 1;
    return y;
}

/* sequence[k]: the row-major number, in a tensor of this shape, of the element that is k-th in
 * memory where its dims lie in this order. */
static void sequence_of(const struct type *type, const struct order *order, int64_t *sequence)
{
    const int64_t n = type_elements(type);
    int64_t stride[MAX_RANK], at[MAX_RANK] = { 0 };

    for (int i = type->rank - 1, s = 1; i >= 0; s *= (int)type->dim[i--])
        stride[i] = s;
    for (int64_t k = 0; k < n; k++) {
        sequence[k] = 0;
        for (int i = 0; i < type->rank; i++)
            sequence[k] += at[i] * stride[order->at[i]];
        for (int i = type->rank - 1; i >= 0 && ++at[i] == type->dim[order->at[i]]; i--)
            at[i] = 0;
    }
}

static bool same_sequence(const struct type *x, const struct order *a, const struct type *y,
                          const struct order *b)
{
    static int64_t left[MOST_ELEMENTS], right[MOST_ELEMENTS];

    sequence_of(x, a, left);
    sequence_of(y, b, right);
    return memcmp(left, right, (size_t)type_elements(x) * sizeof *left) == 0;
}

/* What is said to be one map is one. Whether all that is one is found is not asked of reshapes, but
 * counted. */
START_TEST(equal_orders_are_equal_sequences)
{
    unsigned seed = 1;
    int n_same = 0, n_found = 0;

    for (int i = 0; i < N_TRIALS; i++) {
        const struct type x = random_type(&seed), y = random_reshape(&seed, &x);
        const struct order a = random_order(&seed, x.rank), b = random_order(&seed, x.rank);
        const struct order c = random_order(&seed, y.rank);
        const bool same = same_sequence(&x, &a, &y, &c);
        const bool found = order_same_elements(&x, &a, &y, &c);

        ck_assert_int_eq(order_same_memory(&x, &a, &b), same_sequence(&x, &a, &x, &b));
        ck_assert(same || !found);
        n_same += same;
        n_found += found;
    }
    ck_assert_int_gt(n_same, N_TRIALS / 10);
    ck_assert_int_gt(n_found, n_same / 2);
}
END_TEST

START_TEST(orders_go_through_reshapes)
{
    unsigned seed = 2;
    int n = 0;

    for (int i = 0; i < N_TRIALS; i++) {
        const struct type x = random_type(&seed), y = random_reshape(&seed, &x);
        const struct order a = random_order(&seed, x.rank);
        struct order through;

        if (order_through_reshape(&x, &a, &y, &through)) {
            ck_assert(same_sequence(&x, &a, &y, &through));
            ck_assert(order_same_elements(&x, &a, &y, &through));
            n++;
        }
    }
    ck_assert_int_gt(n, N_TRIALS / 4);
}
END_TEST

/* y = transpose(x): element for element, y in the order that is said lies as x does. */
START_TEST(orders_go_through_transposes)
{
    static int64_t left[MOST_ELEMENTS], right[MOST_ELEMENTS], moved[MOST_ELEMENTS];
    unsigned seed = 3;

    for (int i = 0; i < N_TRIALS; i++) {
        const struct type x = random_type(&seed);
        const struct order axes = random_order(&seed, x.rank), in = random_order(&seed, x.rank);
        struct ints list = { .n = x.rank };
        const struct type y = order_type(&x, &axes);
        struct order out, back;

        for (int k = 0; k < x.rank; k++)
            list.at[k] = axes.at[k];
        out = order_through_transpose(&list, &in);
        back = order_before_transpose(&list, &out);
        ck_assert(order_equal(&in, &back, x.rank));
        sequence_of(&x, &in, left);
        sequence_of(&y, &out, right);
        sequence_of(&x, &axes, moved); /* element k of y is element moved[k] of x */
        for (int64_t k = 0; k < type_elements(&x); k++)
            ck_assert_int_eq(left[k], moved[right[k]]);
    }
}
END_TEST

/* A copy's axes: what lies in the order `from`, transposed by them, lies in the order `to`. */
START_TEST(axes_lead_from_order_to_order)
{
    unsigned seed = 4;

    for (int i = 0; i < N_TRIALS; i++) {
        const struct type x = random_type(&seed);
        const struct order from = random_order(&seed, x.rank), to = random_order(&seed, x.rank);
        const struct ints axes = order_axes(&from, &to, x.rank);

        for (int k = 0; k < x.rank; k++)
            ck_assert_int_eq(from.at[axes.at[k]], to.at[k]);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("layout_order");
    TCase *all = tcase_create("all");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_test(all, equal_orders_are_equal_sequences);
    tcase_add_test(all, orders_go_through_reshapes);
    tcase_add_test(all, orders_go_through_transposes);
    tcase_add_test(all, axes_lead_from_order_to_order);
    suite_add_tcase(suite, all);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
