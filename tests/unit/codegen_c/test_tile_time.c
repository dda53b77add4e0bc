/* The table of how long tiles take, and the tile that it chooses. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "codegen_c/microkernel/tile.h"
#include "codegen_c/microkernel/tile_time.h"

static const struct row {
    const char *machine;
    bool whole;
    int vectors, pixels;
    double step, begin;
} rows[] = {
#define TILE_TIME(machine, whole, vectors, pixels, step, begin)                                    \
    { machine, whole, vectors, pixels, step, begin },
#include "codegen_c/machine/tile_times.def"
};

enum { N_ROWS = sizeof rows / sizeof *rows };

static const struct machine *machine_of(const char *name)
{
    for (size_t i = 0; i < n_machines; i++)
        if (strcmp(machines[i].name, name) == 0)
            return &machines[i];
    ck_abort_msg("no machine %s", name);
    return NULL;
}

static const struct row *row_of(const char *machine, bool whole, int vectors, int pixels)
{
    for (int i = 0; i < N_ROWS; i++)
        if (strcmp(rows[i].machine, machine) == 0 && rows[i].whole == whole &&
            rows[i].vectors == vectors && rows[i].pixels == pixels)
            return &rows[i];
    return NULL;
}

START_TEST(rows_make_sense)
{
    const struct row *row = &rows[_i];
    const struct machine *machine = machine_of(row->machine);

    ck_assert_ptr_eq(row_of(row->machine, row->whole, row->vectors, row->pixels), row);
    ck_assert_int_gt(machine->lanes, 1);
    ck_assert(row->step > 0 && row->begin >= 0);
    ck_assert(row->whole || row->vectors == 1);
    ck_assert_int_le(row->pixels, MOST_TILE_PIXELS);
}
END_TEST

static const struct count {
    int lanes, vectors, pixels;
    struct tile_product product;
    double whole, halves;
} counts[] = {
    { 16, 2, 8, { 16, 64, 1 }, 4, 0 },   /* two rows of tiles, two in each */
    { 16, 2, 8, { 17, 64, 1 }, 6, 0 },   /* one pixel more */
    { 16, 2, 8, { 7, 80, 1 }, 2, 1 },    /* half of the third */
    { 16, 2, 8, { 7, 81, 1 }, 3, 0 },    /* more than half */
    { 16, 4, 6, { 13, 16, 1 }, 0, 3 },   /* nothing but halves */
    { 16, 1, 14, { 100, 10, 1 }, 8, 0 }, /* one vector has none */
    { 8, 2, 6, { 0, 64, 1 }, 0, 0 },
};

START_TEST(tiles_are_counted)
{
    const struct count *count = &counts[_i];
    const struct tile_shape shape = { .lanes = count->lanes,
                                      .vectors = count->vectors,
                                      .pixels = count->pixels };
    const struct tile_counts n = tile_counts_of(&shape, &count->product);

    ck_assert(n.whole == count->whole && n.halves == count->halves);
}
END_TEST

/* 80 columns are two tiles and half of one, for each of two places. */
START_TEST(a_time_is_that_of_all_tiles)
{
    const struct machine *v4 = machine_of("x86-64-v4");
    const struct tile_shape shape = { .lanes = 16, .vectors = 2, .pixels = 8 };
    const struct tile_product product = { 16, 80, 100 };
    const struct row *whole = row_of("x86-64-v4", true, 2, 8),
                     *half = row_of("x86-64-v4", true, 1, 8);

    ck_assert(tile_time(v4, &shape, &product) ==
              4 * (100 * whole->step + whole->begin) + 2 * (100 * half->step + half->begin));
}
END_TEST

/* No row of the shape, of its halves, of the machine; vectors of two lengths. */
START_TEST(what_the_table_does_not_know_has_no_time)
{
    const struct machine *v4 = machine_of("x86-64-v4");
    const struct tile_product product = { 16, 80, 100 };
    struct tile_shape shape = { .lanes = 16, .vectors = 8, .pixels = 1 };

    ck_assert(tile_time(v4, &shape, &product) < 0);
    shape = (struct tile_shape){ .lanes = 16, .vectors = 2, .pixels = 8 };
    ck_assert(tile_time(v4, &shape, &product) > 0);
    ck_assert(tile_time(machine_of("rv64gcv"), &shape, &product) < 0);
    shape.short_end = true;
    ck_assert(tile_time(v4, &shape, &product) < 0);
}
END_TEST

static bool is_same(struct tile_shape a, struct tile_shape b)
{
    return a.lanes == b.lanes && a.vectors == b.vectors && a.pixels == b.pixels &&
           a.short_end == b.short_end;
}

/* The rules' tile of so many columns, which tile_name.c asks for. */
static struct tile_shape usual_of(const struct machine *machine, const struct tile_product *p)
{
    const struct tile_shape shape = tile_shape_of_machine(machine);

    return tile_fitted(tile_is_wide(machine, p->columns) ? tile_widened(shape)
                       : tile_is_three_quarters(machine, p->columns)
                           ? tile_three_quarters(shape)
                           : tile_narrowed(shape, p->columns),
                       p->rows, false);
}

/* That have the rows of v4. */
static const char *const alike[] = { "sapphirerapids", "znver5" };

START_TEST(a_machine_without_rows_keeps_the_rules)
{
    const struct machine *machine = &machines[_i];

    for (int i = 0; i < N_ROWS; i++)
        if (strcmp(rows[i].machine, machine->name) == 0)
            return;
    for (size_t i = 0; i < sizeof alike / sizeof *alike; i++)
        if (strcmp(alike[i], machine->name) == 0)
            return;
    for (int64_t n = 1; n < 300 && machine->lanes; n++) {
        const struct tile_product product = { n * 7 % 200 + 1, n, 64 };
        const struct tile_shape usual = usual_of(machine, &product);

        ck_assert(
            is_same(tile_fastest(machine, usual, tile_panel_of(machine, product.columns), &product),
                    usual));
    }
}
END_TEST

/* Of all machines and many products: what is chosen fits, and is said to be faster by 2 %. */
START_TEST(what_is_chosen_fits_and_is_faster)
{
    const struct machine *machine = &machines[_i];

    for (int64_t n = 1; n < 3000 && machine->lanes > 1; n++) {
        const struct tile_product product = { n * 37 % 501 + 1, n * 13 % 341 + 1, n % 19 * 9 + 1 };
        const int64_t panel = tile_panel_of(machine, product.columns);
        const struct tile_shape usual = usual_of(machine, &product);
        const struct tile_shape chosen = tile_fastest(machine, usual, panel, &product);

        if (is_same(usual, chosen))
            continue;
        ck_assert_int_eq(chosen.lanes, usual.lanes);
        ck_assert_int_lt(chosen.vectors * (chosen.pixels + 1), machine->registers);
        ck_assert(tile_is_possible(machine, panel, chosen.vectors, chosen.pixels, product.columns));
        ck_assert(tile_time(machine, &chosen, &product) <
                  0.98 * tile_time(machine, &usual, &product));
    }
}
END_TEST

/* 14 pointers are more than x86-64 has registers for; 10 pixels of two vectors are one tile of the
 * nine positions of 3 x 3, and load less for each product than 5 of four. */
START_TEST(known_choices_of_v4)
{
    const struct machine *v4 = machine_of("x86-64-v4");
    const struct tile_product few = { 3025, 16, 64 }, small = { 9, 256, 256 };
    struct tile_shape shape = tile_fastest(v4, usual_of(v4, &few), 32, &few);

    ck_assert_int_eq(shape.vectors, 1);
    ck_assert_int_le(shape.pixels, 10);
    shape = tile_fastest(v4, usual_of(v4, &small), 64, &small);
    ck_assert_int_eq(shape.vectors, 2);
    ck_assert_int_ge(shape.pixels, 9);
}
END_TEST

/* Where products are not taken in pairs, a Zen 5 has the code of v4, and so has a Sapphire Rapids.
 */
START_TEST(others_have_the_times_of_v4)
{
    const struct tile_shape shape = { .lanes = 16, .vectors = 2, .pixels = 8 };
    const struct tile_product product = { 16, 80, 100 };

    for (size_t i = 0; i < sizeof alike / sizeof *alike; i++)
        ck_assert(tile_time(machine_of(alike[i]), &shape, &product) ==
                  tile_time(machine_of("x86-64-v4"), &shape, &product));
    ck_assert(tile_time(machine_of("znver4"), &shape, &product) < 0);
}
END_TEST

/* Neither of a sum of unknown length, nor of rows that nobody knows. */
START_TEST(what_is_not_known_keeps_the_rules)
{
    const struct machine *v4 = machine_of("x86-64-v4");
    const struct tile_product no_len = { 9, 256, 0 }, no_rows = { 0, 256, 256 };
    const struct tile_shape usual = tile_widened(tile_shape_of_machine(v4));

    ck_assert(is_same(tile_fastest(v4, usual, 64, &no_len), usual));
    ck_assert(is_same(tile_fastest(v4, usual, 64, &no_rows), usual));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tile_time");
    TCase *tests = tcase_create("all");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    suite_add_tcase(suite, tests);
    tcase_add_loop_test(tests, rows_make_sense, 0, N_ROWS);
    tcase_add_loop_test(tests, tiles_are_counted, 0, (int)(sizeof counts / sizeof *counts));
    tcase_add_test(tests, a_time_is_that_of_all_tiles);
    tcase_add_test(tests, what_the_table_does_not_know_has_no_time);
    tcase_add_loop_test(tests, a_machine_without_rows_keeps_the_rules, 0, (int)n_machines);
    tcase_add_loop_test(tests, what_is_chosen_fits_and_is_faster, 0, (int)n_machines);
    tcase_add_test(tests, known_choices_of_v4);
    tcase_add_test(tests, others_have_the_times_of_v4);
    tcase_add_test(tests, what_is_not_known_keeps_the_rules);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
