/* qnn.grid_sample: what is refused, numbers by hand, and how far random samples are from those of
 * floats in doubles, in steps. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "relay_ir/walk.h"
#include "tests/support/executions.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"
#include "tests/support/op_case.h"

#define SAMPLE(method, padding, align)                                                             \
    "{method=\"" method "\", padding_mode=\"" padding "\", align_corners=" align "}"
#define GRID(numbers) "; i16[1,4,1] " numbers "; i8[] 0; f32[] 0.0078125; i16[] 0"

static const struct op_case cases[] = {
    /* -1, 0, 1 / 2 and 2 of four numbers, whose places are -0.5, 1.5, 2.5 and 5.5 */
    { "qnn.grid_sample", SAMPLE("linear", "zeros", "false"),
      "i8[1,1,4] 10 20 30 50" GRID("-128 0 64 256"), "i8[1,1,4] 5 25 40 0", NULL },
    { "qnn.grid_sample", SAMPLE("linear", "border", "false"),
      "i8[1,1,4] 10 20 30 50" GRID("-128 0 64 256"), "i8[1,1,4] 10 25 40 50", NULL },
    /* nearest: ties to even; 0 is the zero point */
    { "qnn.grid_sample", SAMPLE("nearest_neighbor", "reflection", "false"),
      "i8[1,1,4] 10 20 30 50" GRID("-128 0 64 256"), "i8[1,1,4] 10 30 30 20", NULL },
    { "qnn.grid_sample", SAMPLE("nearest_neighbor", "zeros", "false"),
      "i8[1,1,4] 10 20 30 50; i16[1,4,1] -300 0 64 256; i8[] 3; f32[] 0.0078125; i16[] 0",
      "i8[1,1,4] 3 30 30 3", NULL },
    /* -9 / 96, 59.375 %: what overshoots saturates */
    { "qnn.grid_sample", SAMPLE("cubic", "border", "true"),
      "i8[1,1,4] -128 127 127 -128" GRID("-128 0 0 128"), "i8[1,1,4] -128 127 127 -128", NULL },
    { "qnn.grid_sample", SAMPLE("linear", "zeros", "false"),
      "f32[1,1,4] 1; i16[1,4,1] 0; f32[] 0; f32[] 1; i16[] 0", "",
      "input 0 of qnn.grid_sample is f32" },
    { "qnn.grid_sample", SAMPLE("linear", "zeros", "false"),
      "i8[1,1,4] 1; i16[1,4,2] 0; i8[] 0; f32[] 1; i16[] 0", "", "grid of shape 1x4x2" },
    { "qnn.grid_sample", SAMPLE("linear", "zeros", "false"),
      "i8[1,1,4] 1; i16[1,4,1] 0; i8[] 0; f32[] 1; i16[] 0", "",
      "coordinates within 8184 elements" },
    { "qnn.grid_sample", SAMPLE("cubic", "zeros", "false"),
      "i8[1,1,2,2,2] 1; i16[1,1,1,1,3] 0; i8[] 0; f32[] 0.0001; i16[] 0", "",
      "not cubic in three dimensions" },
};

START_TEST(by_hand)
{
    op_case_check(&cases[_i]);
}
END_TEST

/* --- far from floats? ------------------------------------------------------------------------- */

static const char *const methods[] = { "nearest_neighbor", "linear", "cubic" };
static const char *const paddings[] = { "zeros", "border", "reflection" };

/* Half a step, and 2^-11 of 255 steps for each linear dimension; of cubic ones, what t is off. */
static const double most[3][3] = { { 0, 0, 0 }, { 0.63, 0.75, 0.88 }, { 0.6, 0.7, 0 } };

static const char *shape_text_of(int rank, const char *spatial)
{
    static const char *const grids[] = { "(2,9,1)", "(2,5,7,2)", "(2,3,4,5,3)" };
    static const char *const xs[] = { "(2,3,13)", "(2,3,9,5)", "(2,3,4,6,5)" };

    return strcmp(spatial, "grid") == 0 ? grids[rank - 1] : xs[rank - 1];
}

/* The scale of the grid is a power of two, so that places are the same in doubles and in 2^-16. */
static struct module *sampled(struct ctx *ctx, int method, int padding, int rank, bool corners,
                              bool of_codes)
{
    const char *attrs =
        arena_printf(&ctx->perm, "{method=\"%s\", padding_mode=\"%s\", align_corners=%s}",
                     methods[method], paddings[padding], corners ? "true" : "false");
    const char *text =
        of_codes ? "fn main(%%x: %s i8, %%g: %s i16) -> (%%y) {\n  const @z : () i8 = [-5]\n"
                   "  const @gs : () f32 = [0.00006103515625]\n  const @gz : () i16 = [77]\n"
                   "  %%y = qnn.grid_sample(%%x, %%g, @z, @gs, @gz) %s\n}\n"
                 : "fn main(%%x: %s i8, %%g: %s i16) -> (%%y) {\n"
                   "  const @xz : () f32 = [-5]\n  const @gs : () f32 = [0.00006103515625]\n"
                   "  const @gz : () f32 = [77]\n"
                   "  %%xf = cast(%%x) {dtype=f32, saturate=true}\n  %%gf = cast(%%g) {dtype=f32, "
                   "saturate=true}\n  %%xr = subtract(%%xf, @xz)\n  %%gd = subtract(%%gf, @gz)\n"
                   "  %%gr = multiply(%%gd, @gs)\n  %%y = image.grid_sample(%%xr, %%gr) %s\n}\n";

    return graph_parse(ctx,
                       arena_printf(&ctx->perm, text, shape_text_of(rank, "x"),
                                    shape_text_of(rank, "grid"), attrs),
                       1);
}

static double distance(struct ctx *ctx, struct module *codes, struct module *floats, unsigned seed)
{
    struct bulk bulk = { NULL, 0 };
    struct tensor inputs[2], got, wanted;
    double furthest = 0;

    for (int i = 0; i < 2; i++) {
        inputs[i] = tensor_new(&bulk, &codes->main->params[i]->type);
        fill_random(&inputs[i], i ? -32768 : -128, i ? 32767 : 127, &seed);
    }
    ck_assert(interpret(ctx, codes->main, inputs, &got, &bulk, NULL));
    ck_assert(interpret(ctx, floats->main, inputs, &wanted, &bulk, NULL));
    for (int64_t i = 0; i < type_elements(&got.type); i++) {
        const double real = fmax(fmin(tensor_at(&wanted, i) - 5, 127), -128);

        furthest = fmax(furthest, fabs(tensor_at(&got, i) - real));
    }
    bulk_release(&bulk);
    return furthest;
}

START_TEST(samples_are_near_those_of_floats)
{
    const int method = _i % 3, padding = _i / 3 % 3, rank = 1 + _i / 9 % 3;
    struct ctx *ctx;
    double furthest = 0;

    if (method == 2 && rank == 3)
        return; /* refused */
    ctx = ctx_new(NULL);
    for (int corners = 0; corners < 2; corners++) {
        struct module *codes = sampled(ctx, method, padding, rank, corners, true);
        struct module *floats = sampled(ctx, method, padding, rank, corners, false);

        for (unsigned seed = 1; seed <= 10; seed++)
            furthest = fmax(furthest, distance(ctx, codes, floats, seed));
        module_free(codes);
        module_free(floats);
    }
    printf("%s, %s, %d dimensions: %.3f steps\n", methods[method], paddings[padding], rank,
           furthest);
    fflush(stdout);
    ck_assert_double_le(furthest, most[method][rank - 1]);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("grid_sample of codes");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_add_loop_test(tests, by_hand, 0, (int)(sizeof cases / sizeof *cases));
    tcase_add_loop_test(tests, samples_are_near_those_of_floats, 0, 27);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
