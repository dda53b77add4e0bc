/* image.grid_sample and vision.roi_align as generated C: the kernels of
 * codegen_c/kernels/move/sample.c, and qnn.grid_sample. */
#include <check.h>
#include <stdlib.h>

#include "tests/support/kernel_case.h"

#define GRID(method, padding, align, inputs)                                                       \
    {                                                                                              \
        "grid_sample", "image.grid_sample",                                                        \
            "method=\"" method "\", padding_mode=\"" padding "\", align_corners=" align, inputs    \
    }

/* Random places lie between -2 and 2: half of them outside. */
static const struct kernel_case places[] = {
    GRID("", "", "false", "f32[2,3,4,5]; f32[2,6,7,2]"),
    GRID("linear", "zeros", "true", "f32[2,3,4,5]; f32[2,6,7,2]"),
    GRID("linear", "border", "false", "f32[2,3,4,5]; f32[2,6,7,2]"),
    GRID("linear", "border", "true", "f32[2,3,4,5]; f32[2,6,7,2]"),
    GRID("linear", "reflection", "false", "f32[2,3,4,5]; f32[2,6,7,2]"),
    GRID("linear", "reflection", "true", "f32[2,3,4,5]; f32[2,6,7,2]"),
    GRID("nearest_neighbor", "zeros", "false", "f32[2,3,4,5]; f32[2,6,7,2]"),
    GRID("nearest_neighbor", "zeros", "true", "f32[2,3,4,5]; f32[2,6,7,2]"),
    GRID("nearest_neighbor", "border", "false", "f32[2,3,4,5]; f32[2,6,7,2]"),
    GRID("nearest_neighbor", "border", "true", "f32[2,3,4,5]; f32[2,6,7,2]"),
    GRID("nearest_neighbor", "reflection", "false", "f32[2,3,4,5]; f32[2,6,7,2]"),
    GRID("nearest_neighbor", "reflection", "true", "f32[2,3,4,5]; f32[2,6,7,2]"),
    GRID("cubic", "zeros", "false", "f32[2,3,4,5]; f32[2,6,7,2]"),
    GRID("cubic", "zeros", "true", "f32[2,3,4,5]; f32[2,6,7,2]"),
    GRID("cubic", "border", "false", "f32[2,3,4,5]; f32[2,6,7,2]"),
    GRID("cubic", "border", "true", "f32[2,3,4,5]; f32[2,6,7,2]"),
    GRID("cubic", "reflection", "false", "f32[2,3,4,5]; f32[2,6,7,2]"),
    GRID("cubic", "reflection", "true", "f32[2,3,4,5]; f32[2,6,7,2]"),
    /* other ranks and types; an x of one element, whose mirror image has no extent */
    GRID("linear", "reflection", "false", "f32[1,2,9]; f32[1,12,1]"),
    GRID("linear", "zeros", "false", "f64[2,2,3,4,5]; f64[2,2,3,4,3]"),
    GRID("nearest_neighbor", "border", "true", "f32[1,2,3,4,5]; f64[1,2,3,4,3]"),
    GRID("cubic", "reflection", "true", "f32[1,1,2,2,3]; const f32[1,2,2,2,3]"),
    GRID("linear", "reflection", "true", "f32[1,2,1,1]; f32[1,2,3,2]"),
    GRID("cubic", "reflection", "false", "f32[1,2,1,1]; f32[1,2,3,2]"),
    /* between two elements, exactly */
    GRID("nearest_neighbor", "zeros", "true",
         "f32[1,1,5] 1 2 3 4 5; f32[1,6,1] -0.75 -0.25 0.25 0.75 1.25 -1.25"),
    GRID("nearest_neighbor", "reflection", "false",
         "f32[1,1,4] 1 2 3 4; f32[1,6,1] -1 -0.5 0 0.5 1 1.5"),
    /* no numbers, and places too far away to be counted */
    GRID("linear", "zeros", "false", "f32[1,1,3] 1 2 3; f32[1,6,1] nan inf -inf 1e30 -1e30 2e9"),
    GRID("cubic", "border", "false", "f32[1,1,3] 1 2 3; f32[1,6,1] nan inf -inf 1e30 -1e30 2e9"),
    GRID("linear", "reflection", "true", "f32[1,1,3] 1 2 3; f32[1,6,1] nan inf -inf 7 -9 11"),
    GRID("nearest_neighbor", "reflection", "false",
         "f32[1,1,3] 1 2 3; f32[1,6,1] nan inf -inf 7 -9 11"),
};

#define CODES(method, padding, align, inputs)                                                      \
    {                                                                                              \
        "qnn_grid_sample", "qnn.grid_sample",                                                      \
            "method=\"" method "\", padding_mode=\"" padding "\", align_corners=" align, inputs    \
    }
#define X8 "i8[2,3,4,5]; i16[2,6,7,2]; const i8[] 3; const f32[] 0.00006; const i16[] -100"

/* Half of the places are outside. */
static const struct kernel_case codes[] = {
    CODES("linear", "zeros", "false", X8),
    CODES("linear", "zeros", "true", X8),
    CODES("linear", "border", "false", X8),
    CODES("linear", "border", "true", X8),
    CODES("linear", "reflection", "false", X8),
    CODES("linear", "reflection", "true", X8),
    CODES("nearest_neighbor", "zeros", "false", X8),
    CODES("nearest_neighbor", "border", "true", X8),
    CODES("nearest_neighbor", "reflection", "false", X8),
    CODES("cubic", "zeros", "false", X8),
    CODES("cubic", "border", "true", X8),
    CODES("cubic", "reflection", "true", X8),
    /* other ranks and types; an x of one element */
    CODES("linear", "zeros", "false",
          "u8[1,2,9]; u8[1,12,1]; const u8[] 100; const f32[] 0.01; const u8[] 128"),
    CODES("cubic", "zeros", "false",
          "u8[1,2,9]; i8[1,12,1]; const u8[] 100; const f32[] 0.01; const i8[] 0"),
    CODES("linear", "border", "true",
          "i8[2,2,3,4,5]; u16[2,2,3,4,3]; const i8[] -128; const f32[] 0.00003; const u16[] 32768"),
    CODES("linear", "reflection", "false",
          "i16[1,2,3,4]; const i16[1,2,3,2]; const i16[] 7; const f32[] 0.0001; const i16[] 0"),
    CODES("linear", "reflection", "true",
          "i8[1,2,1,1]; i16[1,2,3,2]; const i8[] 0; const f32[] 0.0001; const i16[] 0"),
    CODES("nearest_neighbor", "zeros", "true",
          "i8[1,1,5] 1 2 3 4 5; i16[1,6,1] -192 -64 64 192 320 -320; const i8[] 0; const f32[] "
          "0.00390625; const i16[] 0"),
};

#define ROI(attrs, inputs)                                                                         \
    {                                                                                              \
        "roi_align", "vision.roi_align", attrs, inputs                                             \
    }

static const struct kernel_case regions[] = {
    ROI("pooled_size=[2,3], spatial_scale=1, sample_ratio=2, mode=\"avg\"",
        "f32[2,3,6,7]; f32[3,4] 0 0 5 4 1.3 2.2 6.5 5.9 -3 -2 12 9; i64[3] 1 0 1"),
    ROI("pooled_size=[2,3], spatial_scale=1, sample_ratio=2, mode=\"max\"",
        "f32[2,3,6,7]; f32[3,4] 0 0 5 4 1.3 2.2 6.5 5.9 -3 -2 12 9; i64[3] 1 0 1"),
    ROI("pooled_size=[2,3], spatial_scale=0.5, mode=\"avg\", aligned=true",
        "f32[2,3,6,7]; f32[3,4] 0 0 9 8 2.6 4.4 13 11.8 -6 -4 24 18; i32[3] 0 1 1"),
    ROI("pooled_size=[2,3], spatial_scale=0.5, mode=\"max\", aligned=true",
        "f32[2,3,6,7]; f32[3,4] 0 0 9 8 2.6 4.4 13 11.8 -6 -4 24 18; i32[3] 0 1 1"),
    ROI("spatial_scale=1, sample_ratio=3",
        "f64[1,2,5,5]; f64[2,4] 0 0 5 4 1.3 2.2 4.5 3.9; i64[2] 0"),
    /* less than an element; inside out; far outside */
    ROI("pooled_size=[2,2], spatial_scale=1, mode=\"avg\"",
        "f32[1,2,5,5]; f32[4,4] 2 2 2 2 3 3 1 1 3.2 1.1 3.4 1.2 50 60 52 63; i64[4] 0"),
    ROI("pooled_size=[2,2], spatial_scale=1, mode=\"avg\", aligned=true",
        "f32[1,2,5,5]; f32[4,4] 2 2 2 2 3 3 1 1 3.2 1.1 3.4 1.2 50 60 52 63; i64[4] 0"),
    ROI("pooled_size=[2,2], spatial_scale=1, mode=\"max\", aligned=true",
        "f32[1,2,5,5]; f32[4,4] 2 2 2 2 3 3 1 1 3.2 1.1 3.4 1.2 50 60 52 63; i64[4] 0"),
    ROI("pooled_size=[2,2], spatial_scale=1, sample_ratio=2, mode=\"max\", aligned=true",
        "f32[1,2,5,5] -1 -2; f32[4,4] 2 2 2 2 3 3 1 1 -2 -2 3 3 50 60 52 63; i64[4] 0"),
    /* a sample outside is greater than those inside: the last of its bin, the first */
    ROI("pooled_size=[1,1], spatial_scale=1, sample_ratio=2, mode=\"max\"",
        "f32[1,1,5,5] -1 -2 -3 -2 -1; f32[2,4] 0.3 2.5 2.3 6.5 0.3 -3.5 2.3 1.7; i64[2] 0"),
    ROI("pooled_size=[3,1], spatial_scale=0.25, mode=\"avg\"",
        "f32[1,1,1,1] 4; const f32[2,4] 0 0 4 4 -3 -3 1 1; const i64[2] 0"),
};

#define NMS(attrs, inputs)                                                                         \
    {                                                                                              \
        "non_max_suppression", "vision.non_max_suppression", "iou_threshold=0.3, " attrs, inputs   \
    }

static const struct kernel_case boxes[] = {
    NMS("max_output=9", "f32[2,40,4]; f32[2,3,40]"),
    NMS("max_output=40, score_threshold=0.2", "f32[1,40,4]; const f32[1,2,40]"),
    NMS("max_output=5, score_threshold=1, keeps_equal=true",
        "f32[1,7,4]; f32[1,1,7] 1 0.5 2 1 2 1 1"),
    NMS("max_output=12, center=true", "f32[1,30,4]; f32[1,2,30]"),
    NMS("max_output=2", "f32[1,3,4]; f32[1,1,3] nan 1 nan"),
};

START_TEST(boxes_are_those_of_the_reference)
{
    KERNEL_CASES_CHECK(boxes, 0);
}
END_TEST

START_TEST(codes_at_places_of_codes)
{
    KERNEL_CASES_CHECK(codes, 0);
}
END_TEST

START_TEST(places_are_read_as_the_reference_does)
{
    KERNEL_CASES_CHECK(places, 1e-5);
}
END_TEST

START_TEST(regions_are_pooled_from_the_samples_of_the_reference)
{
    KERNEL_CASES_CHECK(regions, 1e-5);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kernels_sample");
    TCase *tests = tcase_create("all");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    suite_add_tcase(suite, tests);
    tcase_set_timeout(tests, 0);
    tcase_add_test(tests, boxes_are_those_of_the_reference);
    tcase_add_test(tests, codes_at_places_of_codes);
    tcase_add_test(tests, places_are_read_as_the_reference_does);
    tcase_add_test(tests, regions_are_pooled_from_the_samples_of_the_reference);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
