/* image.resize as generated C: the kernels of codegen_c/kernels/move/resize.c. */
#include <check.h>
#include <stdlib.h>

#include "codegen_c/machine/machine.h"
#include "tests/support/kernel_case.h"

static const struct kernel_case sizes[] = {
    { "resize_nearest", "image.resize",
      "size=[2,3,8,7], method=\"nearest_neighbor\", "
      "coordinate_transformation_mode=\"half_pixel\", rounding_method=\"floor\", "
      "cubic_alpha=-0.75",
      "f32[2,3,4,5]" },
    { "resize_linear", "image.resize",
      "size=[2,3,8,7], method=\"linear\", coordinate_transformation_mode=\"half_pixel\", "
      "rounding_method=\"round_prefer_floor\", cubic_alpha=-0.75",
      "f32[2,3,4,5]" },
    { "resize_linear", "image.resize",
      "size=[2,3,3,7], method=\"cubic\", coordinate_transformation_mode=\"half_pixel\", "
      "rounding_method=\"round_prefer_floor\", cubic_alpha=-0.75",
      "f32[2,3,4,5]" },
    { "resize_nearest", "image.resize",
      "size=[2,3,8,7], method=\"nearest_neighbor\", "
      "coordinate_transformation_mode=\"align_corners\", rounding_method=\"floor\", "
      "cubic_alpha=-0.75",
      "f32[2,3,4,5]" },
    { "resize_linear", "image.resize",
      "size=[2,3,8,7], method=\"linear\", coordinate_transformation_mode=\"align_corners\", "
      "rounding_method=\"round_prefer_floor\", cubic_alpha=-0.75",
      "f32[2,3,4,5]" },
    { "resize_linear", "image.resize",
      "size=[2,3,3,7], method=\"cubic\", coordinate_transformation_mode=\"align_corners\", "
      "rounding_method=\"round_prefer_floor\", cubic_alpha=-0.75",
      "f32[2,3,4,5]" },
    { "resize_nearest", "image.resize",
      "size=[2,3,8,7], method=\"nearest_neighbor\", "
      "coordinate_transformation_mode=\"asymmetric\", rounding_method=\"floor\", "
      "cubic_alpha=-0.75",
      "f32[2,3,4,5]" },
    { "resize_linear", "image.resize",
      "size=[2,3,8,7], method=\"linear\", coordinate_transformation_mode=\"asymmetric\", "
      "rounding_method=\"round_prefer_floor\", cubic_alpha=-0.75",
      "f32[2,3,4,5]" },
    { "resize_linear", "image.resize",
      "size=[2,3,3,7], method=\"cubic\", coordinate_transformation_mode=\"asymmetric\", "
      "rounding_method=\"round_prefer_floor\", cubic_alpha=-0.75",
      "f32[2,3,4,5]" },
    { "resize_nearest", "image.resize",
      "size=[2,3,8,7], method=\"nearest_neighbor\", "
      "coordinate_transformation_mode=\"pytorch_half_pixel\", rounding_method=\"floor\", "
      "cubic_alpha=-0.75",
      "f32[2,3,4,5]" },
    { "resize_linear", "image.resize",
      "size=[2,3,8,7], method=\"linear\", "
      "coordinate_transformation_mode=\"pytorch_half_pixel\", "
      "rounding_method=\"round_prefer_floor\", cubic_alpha=-0.75",
      "f32[2,3,4,5]" },
    { "resize_linear", "image.resize",
      "size=[2,3,3,7], method=\"cubic\", "
      "coordinate_transformation_mode=\"pytorch_half_pixel\", "
      "rounding_method=\"round_prefer_floor\", cubic_alpha=-0.75",
      "f32[2,3,4,5]" },
    { "resize_nearest", "image.resize",
      "size=[2,3,8,7], method=\"nearest_neighbor\", "
      "coordinate_transformation_mode=\"half_pixel_symmetric\", rounding_method=\"floor\", "
      "cubic_alpha=-0.75",
      "f32[2,3,4,5]" },
    { "resize_linear", "image.resize",
      "size=[2,3,8,7], method=\"linear\", "
      "coordinate_transformation_mode=\"half_pixel_symmetric\", "
      "rounding_method=\"round_prefer_floor\", cubic_alpha=-0.75",
      "f32[2,3,4,5]" },
    { "resize_linear", "image.resize",
      "size=[2,3,3,7], method=\"cubic\", "
      "coordinate_transformation_mode=\"half_pixel_symmetric\", "
      "rounding_method=\"round_prefer_floor\", cubic_alpha=-0.75",
      "f32[2,3,4,5]" },
    { "resize_linear", "image.resize",
      "size=[1,3,3,2], method=\"linear\", coordinate_transformation_mode=\"half_pixel\", "
      "rounding_method=\"round_prefer_floor\", cubic_alpha=-0.75, antialias=true",
      "f32[1,3,6,5]" },
    { "resize_linear", "image.resize",
      "size=[2,3,9], method=\"linear\", coordinate_transformation_mode=\"half_pixel\", "
      "rounding_method=\"round_prefer_floor\", cubic_alpha=-0.75",
      "f32[3,6,5]" },
    { "resize_nearest", "image.resize",
      "size=[3,6], method=\"linear\", coordinate_transformation_mode=\"half_pixel\", "
      "rounding_method=\"round_prefer_floor\", cubic_alpha=-0.75",
      "f32[3,6]" },
    { "resize_nearest", "image.resize",
      "size=[2,4,12], method=\"nearest_neighbor\", "
      "coordinate_transformation_mode=\"half_pixel\", rounding_method=\"ceil\", "
      "cubic_alpha=-0.75",
      "u8[2,4,6]" },
    { "resize_nearest", "image.resize",
      "size=[4], method=\"nearest_neighbor\", coordinate_transformation_mode=\"half_pixel\", "
      "rounding_method=\"round_prefer_ceil\", cubic_alpha=-0.75",
      "bool[6]" },
    { "resize_linear", "image.resize",
      "size=[1,2,3,5], method=\"linear\", "
      "coordinate_transformation_mode=\"tf_crop_and_resize\", "
      "rounding_method=\"round_prefer_floor\", cubic_alpha=-0.75, "
      "roi=[0,0,-0.5,0.2,1,1,1.5,0.8], extrapolation_value=7",
      "f32[1,2,4,6]" },
    { "resize_nearest", "image.resize",
      "size=[1,2,3,5], method=\"nearest_neighbor\", "
      "coordinate_transformation_mode=\"tf_crop_and_resize\", "
      "rounding_method=\"round_prefer_floor\", cubic_alpha=-0.75, "
      "roi=[0,0,-0.5,0.2,1,1,1.5,0.8], extrapolation_value=7",
      "i8[1,2,4,6]" },
    { "resize_linear", "image.resize",
      "size=[1,2,3,5], method=\"cubic\", coordinate_transformation_mode=\"half_pixel\", "
      "rounding_method=\"round_prefer_floor\", cubic_alpha=-0.75, exclude_outside=true",
      "f64[1,2,4,6]" },
    { "resize_linear", "image.resize",
      "size=[3,5], method=\"linear\", coordinate_transformation_mode=\"half_pixel\", "
      "rounding_method=\"round_prefer_floor\", cubic_alpha=-0.75",
      "f32[4,6]" },
};

static const struct kernel_case planes[] = {
    { "resize_rows", "image.resize",
      "size=[2,3,8,10], method=\"nearest_neighbor\", "
      "coordinate_transformation_mode=\"asymmetric\", rounding_method=\"floor\", "
      "cubic_alpha=-0.75",
      "f32[2,3,4,5]" },
    { "resize_rows", "image.resize",
      "size=[1,3,7,20], method=\"nearest_neighbor\", "
      "coordinate_transformation_mode=\"half_pixel\", rounding_method=\"round_prefer_floor\", "
      "cubic_alpha=-0.75",
      "f32[1,3,4,5]" },
    { "resize_rows", "image.resize",
      "size=[6,9], method=\"nearest_neighbor\", "
      "coordinate_transformation_mode=\"asymmetric\", rounding_method=\"floor\", "
      "cubic_alpha=-0.75",
      "f32[2,3]" },
    { "resize_rows", "image.resize",
      "size=[2,1,3,10], method=\"nearest_neighbor\", "
      "coordinate_transformation_mode=\"asymmetric\", rounding_method=\"floor\", "
      "cubic_alpha=-0.75",
      "f32[2,1,6,5]" },
    { "resize_rows", "image.resize",
      "size=[5,4,64], method=\"nearest_neighbor\", "
      "coordinate_transformation_mode=\"asymmetric\", rounding_method=\"floor\", "
      "cubic_alpha=-0.75",
      "f32[5,2,32]" },
    { "resize_nearest", "image.resize",
      "size=[2,3,8,10], method=\"nearest_neighbor\", "
      "coordinate_transformation_mode=\"half_pixel\", rounding_method=\"ceil\", "
      "cubic_alpha=-0.75",
      "f32[2,3,4,5]" },
};

#define LINEAR                                                                                     \
    "method=\"linear\", rounding_method=\"round_prefer_floor\", cubic_alpha=-0.75, "               \
    "coordinate_transformation_mode="

/* Whole factors down: columns around multiples of vectors, rows that become fewer or more. Of
 * others the step varies; asymmetric ones read in front of the first column, with a share of 0. */
static const struct kernel_case steps[] = {
    { "resize_planes", "image.resize", "size=[1,3,4,16], " LINEAR "\"half_pixel\"",
      "f32[1,3,8,32]" },
    { "resize_planes", "image.resize", "size=[2,3,5,17], " LINEAR "\"half_pixel\"",
      "f32[2,3,10,34]" },
    { "resize_planes", "image.resize", "size=[1,2,3,15], " LINEAR "\"half_pixel\"",
      "f32[1,2,9,45]" },
    { "resize_planes", "image.resize", "size=[2,1,9,33], " LINEAR "\"half_pixel\"",
      "f32[2,1,5,132]" },
    { "resize_planes", "image.resize", "size=[7,2], " LINEAR "\"half_pixel\"", "f32[3,4]" },
    { "resize_planes", "image.resize", "size=[2,2,8,40], " LINEAR "\"half_pixel\"",
      "f32[2,2,24,80]" },
    { "resize_linear", "image.resize", "size=[2,2,8,40], " LINEAR "\"asymmetric\"",
      "f32[2,2,24,80]" },
    { "resize_planes", "image.resize", "size=[3,5,4], " LINEAR "\"half_pixel\"", "f32[3,8,8]" },
    { "resize_planes", "image.resize",
      "size=[1,2,3,9], " LINEAR "\"half_pixel\", scales=[1,1,0.5,0.49]", "f32[1,2,6,19]" },
    { "resize_linear", "image.resize", "size=[1,2,4,9], " LINEAR "\"half_pixel\"",
      "f32[1,2,8,19]" },
    { "resize_linear", "image.resize", "size=[1,4,8,3], " LINEAR "\"half_pixel\"",
      "f32[1,8,16,3]" },
};

static const char *const targets[] = { "generic", "x86-64", "x86-64-v3", "x86-64-v4" };

START_TEST(columns_at_a_step_are_vectors)
{
    struct ctx *ctx = ctx_new("steps");

    kernel_cases_check_as(steps, (int)(sizeof steps / sizeof *steps), 1e-6, WINOGRAD_AUTO,
                          machine_find(ctx, targets[_i]));
    ctx_free(ctx);
}
END_TEST

START_TEST(positions_read_where_the_tables_say)
{
    KERNEL_CASES_CHECK(sizes, 1e-5);
}
END_TEST

/* The fourth row is one that nothing follows; what follows the others makes them another kernel's.
 */
START_TEST(planes_are_repeated)
{
    for (size_t i = 0; i < sizeof planes / sizeof *planes; i++) {
        struct kernel_case followed = planes[i];

        followed.kernel = "resize_nearest";
        kernel_cases_check((struct kernel_case[]){ followed, followed, followed, planes[i] }, 4, 0);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kernels_resize");
    TCase *tests = tcase_create("all");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    suite_add_tcase(suite, tests);
    tcase_set_timeout(tests, 0);
    tcase_add_test(tests, positions_read_where_the_tables_say);
    tcase_add_test(tests, planes_are_repeated);
    tcase_add_loop_test(tests, columns_at_a_step_are_vectors, 0,
                        (int)(sizeof targets / sizeof *targets));
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
