/* Packing of random blocks, and whole plans of small graphs. */
#include <cjson/cJSON.h>
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "codegen_c/core/plan.h"
#include "tests/support/run_generated.h"

static unsigned next_random(unsigned *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

static void random_blocks(struct block *blocks, int n, unsigned seed)
{
    for (int i = 0; i < n; i++) {
        const int first = (int)(next_random(&seed) % (unsigned)n);

        blocks[i] = (struct block){ .bytes = next_random(&seed) % 2000,
                                    .first = first,
                                    .last = first + (int)(next_random(&seed) % 6) };
    }
}

START_TEST(blocks_alive_at_the_same_time_never_overlap)
{
    enum { N = 60 };
    struct block blocks[N];
    struct arena arena = { NULL };
    size_t needed, bound, sum = 0;

    random_blocks(blocks, N, (unsigned)_i);
    needed = pack_blocks(&arena, blocks, N, PACK_WORK).bytes;
    bound = pack_lower_bound(&arena, blocks, N);
    for (int i = 0; i < N; i++)
        sum += plan_round(blocks[i].bytes);
    ck_assert(pack_verify(blocks, N, needed));
    ck_assert_uint_ge(needed, bound);
    ck_assert_uint_lt(needed, sum / 2); /* it does share */
    ck_assert_uint_le(needed, bound + bound / 4);
    arena_release(&arena);
}
END_TEST

/* The bound is the true minimum when nothing can be shared, and when everything can. */
START_TEST(simple_lifetimes_are_packed_without_waste)
{
    struct block together[] = { { .bytes = 100, .first = 0, .last = 3 },
                                { .bytes = 1, .first = 1, .last = 3 },
                                { .bytes = 48, .first = 3, .last = 9 } };
    struct block apart[] = { { .bytes = 100, .first = 0, .last = 0 },
                             { .bytes = 160, .first = 1, .last = 1 },
                             { .bytes = 3, .first = 2, .last = 5 } };
    /* The gap that the middle one leaves fits exactly. */
    struct block gap[] = { { .bytes = 64, .first = 0, .last = 5 },
                           { .bytes = 160, .first = 0, .last = 5 },
                           { .bytes = 32, .first = 3, .last = 5 },
                           { .bytes = 32, .first = 0, .last = 2 } };
    struct arena arena = { NULL };

    ck_assert_uint_eq(pack_blocks(&arena, together, 3, PACK_WORK).bytes, 112 + 16 + 48);
    ck_assert_uint_eq(pack_blocks(&arena, apart, 3, PACK_WORK).bytes, 160);
    ck_assert_uint_eq(pack_blocks(&arena, gap, 4, PACK_WORK).bytes, 64 + 160 + 32);
    ck_assert_uint_eq(pack_blocks(&arena, gap, 0, PACK_WORK).bytes, 0);
    arena_release(&arena);
}
END_TEST

START_TEST(verification_finds_what_is_wrong)
{
    const struct block good[] = { { .bytes = 20, .first = 0, .last = 2, .offset = 0 },
                                  { .bytes = 20, .first = 2, .last = 3, .offset = 32 } };
    struct block bad[2];

    ck_assert(pack_verify(good, 2, 64));
    ck_assert(!pack_verify(good, 2, 63)); /* rounded, the second ends at 64 */
    memcpy(bad, good, sizeof bad);
    bad[1].offset = 16; /* the first ends at 20 */
    ck_assert(!pack_verify(bad, 2, 64));
    bad[1].first = 3;
    ck_assert(pack_verify(bad, 2, 64));
    bad[1].offset = 24;
    ck_assert(!pack_verify(bad, 2, 64)); /* not aligned */
    bad[1].offset = 96;
    ck_assert(!pack_verify(bad, 2, 64));
}
END_TEST

START_TEST(equal_input_gives_equal_offsets)
{
    enum { N = 80 };
    struct block a[N], b[N];
    struct arena arena = { NULL };

    random_blocks(a, N, 7);
    random_blocks(b, N, 7);
    pack_blocks(&arena, a, N, PACK_WORK);
    pack_blocks(&arena, b, N, PACK_WORK);
    for (int i = 0; i < N; i++)
        ck_assert_uint_eq(a[i].offset, b[i].offset);
    arena_release(&arena);
}
END_TEST

/* --- plans of graphs -------------------------------------------------------------------------- */

/* A graph, and lines that its NAME.c must have. */
static const struct {
    const char *text, *lines[6];
} graphs[] = {
    /* A chain with an operator that cannot fuse in between: the second half is written over x2. */
    { "fn main(%x: (4,8) f32) -> (%y) {\n"
      "  %t = transpose(%x) {axes=[1,0]} : (8,4) f32\n"
      "  %e = exp(%t) : (8,4) f32\n"
      "  %u = transpose(%e) {axes=[1,0]} : (4,8) f32\n"
      "  %y = nn.relu(%u) : (4,8) f32\n}\n",
      { "region_t(x, t);", "region_e(e);", "region_u(e, u);", "region_y(u, y);",
        "void region_e(float *restrict y)" } },
    /* The operand is read again later: no work in place. */
    { "fn main(%x: (4,8) f32) -> (%y) {\n"
      "  %t = transpose(%x) {axes=[1,0]} : (8,4) f32\n"
      "  %e = exp(%t) : (8,4) f32\n"
      "  %y = concatenate(%e, %t) {axis=0} : (16,4) f32\n}\n",
      { "region_e(t, e);", "void region_e(const float *restrict x, float *restrict y)" } },
    /* A view costs nothing: no region, the same pointer. */
    { "fn main(%x: (4,8) f32) -> (%y) {\n"
      "  %t = transpose(%x) {axes=[1,0]} : (8,4) f32\n"
      "  %v = reshape(%t) {shape=[32]} : (32) f32\n"
      "  %y = concatenate(%v, %v) {axis=0} : (64) f32\n}\n",
      { "region_t(x, t);", "region_y(t, y);" } },
    /* A concatenation over what its operands are computed from: a stays in t, and b, behind it, is
     * written over; neither the split nor the concatenation is left. */
    { "fn main(%x: (4,8) f32) -> (%y) {\n"
      "  %t = transpose(%x) {axes=[1,0]} : (8,4) f32\n"
      "  %a, %b = split(%t) {axis=1, sizes=[1,3]} : (8,1) f32, (8,3) f32\n"
      "  %e = exp(%b) : (8,3) f32\n"
      "  %d = concatenate(%a, %e) {axis=1} : (8,4) f32\n"
      "  %y = transpose(%d) {axes=[1,0]} : (4,8) f32\n}\n",
      { "region_t(x, t);\n    region_e(e);\n    region_y(d, y);",
        "void region_e(float *restrict y)", " * Arena: 128 bytes. Optimal" } },
    /* Not where the pieces change places, */
    { "fn main(%x: (4,8) f32) -> (%y) {\n"
      "  %t = transpose(%x) {axes=[1,0]} : (8,4) f32\n"
      "  %a, %b = split(%t) {axis=1, sizes=[2,2]} : (8,2) f32, (8,2) f32\n"
      "  %e = exp(%b) : (8,2) f32\n"
      "  %d = concatenate(%e, %a) {axis=1} : (8,4) f32\n"
      "  %y = transpose(%d) {axes=[1,0]} : (4,8) f32\n}\n",
      { " * Arena: 256 bytes." } },
    /* nor where a piece is read again after it would be written over. */
    { "fn main(%x: (4,8) f32) -> (%y, %z) {\n"
      "  %t = transpose(%x) {axes=[1,0]} : (8,4) f32\n"
      "  %a, %b = split(%t) {axis=1, sizes=[2,2]} : (8,2) f32, (8,2) f32\n"
      "  %e = exp(%b) : (8,2) f32\n"
      "  %d = concatenate(%a, %e) {axis=1} : (8,4) f32\n"
      "  %y = transpose(%d) {axes=[1,0]} : (4,8) f32\n"
      "  %z = add(%b, %e) : (8,2) f32\n}\n",
      { "void region_e(const float *restrict x, float *restrict y)" } },
    /* An output that others read is written where the caller wants it, and read there. */
    { "fn main(%x: (4,8) f32) -> (%t, %y) {\n"
      "  %t = transpose(%x) {axes=[1,0]} : (8,4) f32\n"
      "  %y = transpose(%t) {axes=[1,0]} : (4,8) f32\n}\n",
      { "region_t(x, t);", "region_y(t, y);", "(void)arena;" } },
    /* Outputs that are no region's own: copies, made by fuse_ops. */
    { "fn main(%x: (2,3) f32) -> (%x, %y, %v, %y, @c) {\n"
      "  const @c : (3) i64 = [1,2,3]\n"
      "  %y = exp(%x) : (2,3) f32\n"
      "  %v = reshape(%y) {shape=[6]} : (6) f32\n}\n",
      { "static const int64_t net_c[3] = {", "region_y(x, y);", "y[i] = x[i];", "y[i] = net_c[i];",
        "(void)arena;" } },
};

START_TEST(storage_is_shared_where_lifetimes_allow)
{
    const struct generated_case row = { .text = graphs[_i].text, .tolerance = 1e-6 };
    struct ctx *ctx = ctx_new(NULL);
    const char *text = generated_text(ctx, &row, ".c");

    for (int i = 0; i < 6 && graphs[_i].lines[i]; i++)
        ck_assert_msg(strstr(text, graphs[_i].lines[i]), "no '%s'", graphs[_i].lines[i]);
    ctx_free(ctx);
    generated_check(&row);
    generated_check(&(struct generated_case){ .text = graphs[_i].text,
                                              .tolerance = 1e-6,
                                              .step = true,
                                              .weights = WEIGHTS_FILE,
                                              .one_build = true });
}
END_TEST

/* Two branches with large middles, given in turns: computed one after the other. The region that
 * reads a view comes with it. */
START_TEST(branches_run_one_after_the_other)
{
    const struct generated_case row = {
        .text = "fn main(%x: (4,8) f32) -> (%y) {\n"
                "  %t = transpose(%x) {axes=[1,0]} : (8,4) f32\n"
                "  %a = concatenate(%t, %t, %t, %t) {axis=0} : (32,4) f32\n"
                "  %b = concatenate(%t, %t, %t) {axis=1} : (8,12) f32\n"
                "  %v = reshape(%b) {shape=[12,8]} : (12,8) f32\n"
                "  %p = sum(%a) {axis=[0], keepdims=true} : (1,4) f32\n"
                "  %q = max(%v) {axis=[0], keepdims=true} : (1,8) f32\n"
                "  %y = concatenate(%p, %q) {axis=1} : (1,12) f32\n}\n",
        .tolerance = 1e-6
    };
    struct ctx *ctx = ctx_new(NULL);
    const char *text = generated_text(ctx, &row, ".c");
    const char *a = strstr(text, "    region_a("), *b = strstr(text, "    region_b("),
               *p = strstr(text, "    region_p(");

    ck_assert(a && b && p);
    ck_assert(a < p && p < b);
    ck_assert_ptr_nonnull(
        strstr(text, " * Arena: 640 bytes. Optimal: no order")); /* t, a; p is in y */
    ctx_free(ctx);
    generated_check(&row);
}
END_TEST

/* A number of NAME.json's "arena". */
static double of_arena(struct ctx *ctx, const struct generated_case *row, const char *key)
{
    cJSON *root = cJSON_Parse(generated_text(ctx, row, ".json"));
    const cJSON *arena = cJSON_GetObjectItemCaseSensitive(root, "arena");
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(arena, key);
    const double number = cJSON_IsNumber(item) ? item->valuedouble : -1;

    ck_assert_msg(cJSON_IsNumber(item), "no number '%s'", key);
    cJSON_Delete(root);
    return number;
}

/* Everything but s has 128 bytes, s 16. By hand: e goes over t, which nobody else reads; n gets a
 * place of its own, as y reads w, too; a goes over u, of which v is a view, and not over the
 * smaller s. So t, s, u, w and n have places. The most are there while u is made: t (as e), s and
 * u. y is main's result, and not in the arena. */
START_TEST(in_place_only_counts_as_the_paper_does)
{
    const struct generated_case row = {
        .text = "fn main(%x: (4,8) f32) -> (%y) {\n"
                "  %t = transpose(%x) {axes=[1,0]} : (8,4) f32\n"
                "  %e = exp(%t) : (8,4) f32\n"
                "  %s = max(%e) {axis=[0], keepdims=true} : (1,4) f32\n"
                "  %u = transpose(%e) {axes=[1,0]} : (4,8) f32\n"
                "  %v = reshape(%u) {shape=[8,4]} : (8,4) f32\n"
                "  %a = add(%s, %v) : (8,4) f32\n"
                "  %w = transpose(%a) {axes=[1,0]} : (4,8) f32\n"
                "  %n = tanh(%w) : (4,8) f32\n"
                "  %y = concatenate(%n, %w) {axis=0} : (8,8) f32\n}\n"
    };
    struct ctx *ctx = ctx_new(NULL);

    ck_assert_double_eq(of_arena(ctx, &row, "without_sharing"), 6 * 128 + 16);
    ck_assert_double_eq(of_arena(ctx, &row, "in_place_only"), 4 * 128 + 16);
    ck_assert_double_eq(of_arena(ctx, &row, "in_place_only_alive"), 2 * 128 + 16);
    ck_assert_ptr_nonnull(strstr(generated_text(ctx, &row, ".c"),
                                 " * Without sharing 784, in-place element-wise only 528.\n"));
    ctx_free(ctx);
}
END_TEST

/* A random graph of operators that may work in place, with outputs among its values. */
static const char *random_graph(struct arena *arena, unsigned seed)
{
    enum { N = 24 };
    struct str text = { .arena = arena }, results = { .arena = arena };

    str_printf(&results, "%%v%d", N - 1);
    for (int i = 0; i < N; i++) {
        /* Operands are mostly recent, so that values die. */
        const int back = 1 + (int)(next_random(&seed) % 4), first = i - back < 0 ? -1 : i - back;
        const int other = i - 1 - (int)(next_random(&seed) % 3);
        const char *a = first < 0 ? "x" : arena_printf(arena, "v%d", first);
        const char *b = other < 0 ? "x" : arena_printf(arena, "v%d", other);

        switch (next_random(&seed) % 4) {
        case 0:
            str_printf(&text, "  %%v%d = transpose(%%%s) {axes=[1,0]} : (6,6) f32\n", i, a);
            break;
        case 1: str_printf(&text, "  %%v%d = nn.softmax(%%%s) {axis=1} : (6,6) f32\n", i, a); break;
        case 2: str_printf(&text, "  %%v%d = add(%%%s, %%%s) : (6,6) f32\n", i, a, b); break;
        default: str_printf(&text, "  %%v%d = tanh(%%%s) : (6,6) f32\n", i, a);
        }
        if (next_random(&seed) % 8 == 0 && i < N - 1)
            str_printf(&results, ", %%v%d", i);
    }
    return arena_printf(arena, "fn main(%%x: (6,6) f32) -> (%s) {\n%s}\n", str_text(&results),
                        str_text(&text));
}

START_TEST(random_graphs_compute_the_same_in_shared_storage)
{
    struct arena arena = { NULL };
    const struct generated_case row = { .text = random_graph(&arena, (unsigned)_i),
                                        .tolerance = 1e-5,
                                        .step = _i % 2 == 1 };
    struct ctx *ctx = ctx_new(NULL);

    generated_check(&row);
    ck_assert_double_ge(of_arena(ctx, &row, "without_sharing"),
                        of_arena(ctx, &row, "in_place_only"));
    ck_assert_double_ge(of_arena(ctx, &row, "in_place_only"),
                        of_arena(ctx, &row, "in_place_only_alive"));
    ck_assert_double_ge(of_arena(ctx, &row, "in_place_only"), of_arena(ctx, &row, "bytes"));
    ctx_free(ctx);
    arena_release(&arena);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("plan");
    TCase *packing = tcase_create("packing"), *plans = tcase_create("plans");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_loop_test(packing, blocks_alive_at_the_same_time_never_overlap, 0, 50);
    tcase_add_test(packing, simple_lifetimes_are_packed_without_waste);
    tcase_add_test(packing, verification_finds_what_is_wrong);
    tcase_add_test(packing, equal_input_gives_equal_offsets);
    tcase_set_timeout(plans, 0);
    tcase_add_loop_test(plans, storage_is_shared_where_lifetimes_allow, 0,
                        (int)(sizeof graphs / sizeof *graphs));
    tcase_add_test(plans, branches_run_one_after_the_other);
    tcase_add_test(plans, in_place_only_counts_as_the_paper_does);
    tcase_add_loop_test(plans, random_graphs_compute_the_same_in_shared_storage, 0, 8);
    suite_add_tcase(suite, packing);
    suite_add_tcase(suite, plans);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
