#include <check.h>
#include <stdlib.h>

#include "tests/support/op_case.h"

#define SAMPLE(method, padding, align)                                                             \
    "{method=\"" method "\", padding_mode=\"" padding "\", align_corners=" align "}"
#define ROI(pooled, scale, ratio, mode, aligned)                                                   \
    "{pooled_size=" pooled ", spatial_scale=" scale ", sample_ratio=" ratio ", mode=\"" mode       \
    "\", aligned=" aligned "}"

#define GRID2 "f32[1,1,2,2] 1 2 3 4; "
#define GRID4 "f32[1,1,4,4] 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; "

static const struct op_case samples[] = {
    { "image.grid_sample", SAMPLE("", "", "true"), GRID2 "f32[1,1,3,2] -1 -1 0 0 1 -1",
      "f32[1,1,1,3] 1 2.5 2", NULL },
    { "image.grid_sample", SAMPLE("linear", "zeros", "false"),
      GRID2 "f32[1,3,1,2] -1 -1 0 0 1 -0.5", "f32[1,1,3,1] 0.25 2.5 1", NULL },
    { "image.grid_sample", SAMPLE("linear", "border", "false"), GRID2 "f32[1,1,3,2] -1 -1 9 -9 0 9",
      "f32[1,1,1,3] 1 2 3.5", NULL },
    { "image.grid_sample", SAMPLE("linear", "reflection", "false"),
      "f32[1,1,4] 1 2 3 5; f32[1,5,1] -1 -1.5 -1.25 1.25 3", "f32[1,1,5] 1 1.5 1 5 1", NULL },
    { "image.grid_sample", SAMPLE("linear", "reflection", "true"),
      "f32[1,1,4] 1 2 3 5; f32[1,4,1] -1 -1.6666667 1.6666667 5", "f32[1,1,4] 1 2 3 5", NULL },
    { "image.grid_sample", SAMPLE("linear", "reflection", "true"), "f32[1,1,1] 7; f32[1,2,1] 0 9",
      "f32[1,1,2] 7 7", NULL },
    { "image.grid_sample", SAMPLE("nearest_neighbor", "zeros", "false"),
      "f32[1,1,2] 5 6; f32[1,5,1] 0 1 0.4 -0.6 -1.1", "f32[1,1,5] 5 0 6 5 0", NULL },
    { "image.grid_sample", SAMPLE("nearest_neighbor", "border", "false"),
      "f32[1,1,2] 5 6; f32[1,2,1] 1 -7", "f32[1,1,2] 6 5", NULL },
    { "image.grid_sample", SAMPLE("nearest_neighbor", "reflection", "false"),
      "f32[1,1,3] 5 6 7; f32[1,3,1] 1 1.8 -2", "f32[1,1,3] 7 6 6", NULL },
    { "image.grid_sample", SAMPLE("cubic", "zeros", "true"),
      "f32[1,1,4] 0 1 2 3; f32[1,3,1] 0 -1 1", "f32[1,1,3] 1.5 0 3", NULL },
    { "image.grid_sample", SAMPLE("cubic", "border", "true"), "f32[1,1,2] 1 3; f32[1,1,1] 0",
      "f32[1,1,1] 2", NULL },
    /* What PyTorch gives. */
    { "image.grid_sample", SAMPLE("cubic", "border", "false"),
      "f32[1,1,4] 1 2 4 8; f32[1,6,1] -1.25 -1 1.125 -5 1e30 1.5",
      "f32[1,1,6] 1 0.90625 8.140625 1 8 8", NULL },
    { "image.grid_sample", SAMPLE("cubic", "border", "true"),
      "f32[1,1,4] 1 2 4 8; f32[1,3,1] -1.25 1.125 1.5",
      "f32[1,1,3] 0.890136719 8.37133789 8.140625", NULL },
    /* Weights -0.09375, 0.59375, 0.59375, -0.09375 of 0, 1, 3, 0. */
    { "image.grid_sample", SAMPLE("cubic", "zeros", "true"), "f32[1,1,2] 1 3; f32[1,1,1] 0",
      "f32[1,1,1] 2.375", NULL },
    { "image.grid_sample", SAMPLE("", "", "true"), "f64[1,1,2,1,1] 5 7; f32[1,1,1,2,3] 0 0 1 0 0 0",
      "f64[1,1,1,1,2] 7 6", NULL },
    { "image.grid_sample", SAMPLE("", "", "false"), "f32[2,2,1] 1 2 3 4; f32[2,2,1] 0",
      "f32[2,2,2] 1 1 2 2 3 3 4 4", NULL },
    { "image.grid_sample", SAMPLE("", "", "false"), "f32[1,1,1] 1; f32[1,4,1] nan inf -inf 1e30",
      "f32[1,1,4] 0", NULL },
    { "image.grid_sample", SAMPLE("", "reflection", "false"), "f32[1,1,1] 1; f32[1,2,1] nan inf",
      "f32[1,1,2] 0", NULL },
    { "image.grid_sample", SAMPLE("", "", "false"), "f32[1,1,2] 1; f32[1,0,1]", "f32[1,1,0]",
      NULL },
    { "image.grid_sample", SAMPLE("", "", "false"), "f32[2,1,2] 1; f32[1,1,1] 0", "",
      "grid of shape 1x1x1, expected 2 batches and 1 coordinates for x of shape 2x1x2" },
    { "image.grid_sample", SAMPLE("", "", "false"), "f32[1,1,2] 1; f32[1,1,2] 0", "",
      "grid of shape 1x1x2" },
    { "image.grid_sample", SAMPLE("", "", "false"), "f32[1,1,2] 1; f32[1,1,1,1] 0", "",
      "input 1 of image.grid_sample has shape 1x1x1x1, expected rank 3" },
    { "image.grid_sample", SAMPLE("", "", "false"), "f32[1,1,0]; f32[1,1,1] 0", "",
      "spatial dimension 0 of x has extent 0" },
    { "image.grid_sample", SAMPLE("", "", "false"), "f32[1,2] 1; f32[1,1] 0", "",
      "expected rank 3" },
    { "image.grid_sample", SAMPLE("bilinear", "", "false"), "f32[1,1,2] 1; f32[1,1,1] 0", "",
      "method is \"bilinear\", expected one of" },
    { "image.grid_sample", SAMPLE("", "wrap", "false"), "f32[1,1,2] 1; f32[1,1,1] 0", "",
      "padding_mode is \"wrap\"" },
    { "image.grid_sample", SAMPLE("", "", "false"), "i8[1,1,2] 1; f32[1,1,1] 0", "",
      "is i8, expected" },
};

static const struct op_case regions[] = {
    { "vision.roi_align", ROI("[1,1]", "1", "1", "avg", "false"),
      GRID4 "f32[1,4] 0 0 2 2; i64[1] 0", "f32[1,1,1,1] 5", NULL },
    { "vision.roi_align", ROI("[]", "1", "1", "", "true"), GRID4 "f32[1,4] 0 0 2 2; i64[1] 0",
      "f32[1,1,1,1] 2.5", NULL },
    { "vision.roi_align", ROI("[1,1]", "1", "0", "avg", "false"),
      GRID4 "f32[1,4] 0 0 2 2; i64[1] 0", "f32[1,1,1,1] 5", NULL },
    { "vision.roi_align", ROI("[1,1]", "1", "1", "max", "true"), GRID4 "f32[1,4] 0 0 2 2; i64[1] 0",
      "f32[1,1,1,1] 1.25", NULL },
    { "vision.roi_align", ROI("[1,1]", "1", "1", "avg", "false"),
      GRID4 "f32[1,4] 1 1 1 1; i64[1] 0", "f32[1,1,1,1] 7.5", NULL },
    { "vision.roi_align", ROI("[1,1]", "0.5", "1", "avg", "false"),
      GRID4 "f32[1,4] 2 4 6 6; i64[1] 0", "f32[1,1,1,1] 12", NULL },
    { "vision.roi_align", ROI("[2,1]", "1", "1", "avg", "false"),
      GRID4 "f32[1,4] 0 0 2 4; i64[1] 0", "f32[1,1,2,1] 5 13", NULL },
    { "vision.roi_align", ROI("[1,1]", "1", "1", "max", "false"),
      GRID4 "f32[1,4] 10 10 12 12; i64[1] 0", "f32[1,1,1,1] 0", NULL },
    { "vision.roi_align", ROI("[1,1]", "1", "1", "max", "false"),
      "f32[1,1,1,1] -3; f32[2,4] 0 0 1 1 8 8 9 9; i64[2] 0 0", "f32[2,1,1,1] -0 0", NULL },
    { "vision.roi_align", ROI("[1,1]", "1", "0", "avg", "true"), GRID4 "f32[1,4] 2 2 1 1; i64[1] 0",
      "f32[1,1,1,1] 0", NULL },
    { "vision.roi_align", ROI("[1,1]", "1", "1", "avg", "false"),
      "f64[2,2,1,1] 1 2 3 4; f64[2,4] 0 0 1 1; i32[2] 1 0", "f64[2,2,1,1] 3 4 1 2", NULL },
    { "vision.roi_align", ROI("[1,1]", "1", "1", "avg", "false"),
      "f32[1,1,1,1] 1; f32[0,4]; i64[0]", "f32[0,1,1,1]", NULL },
    { "vision.roi_align", ROI("[1,1]", "1", "1", "avg", "false"),
      GRID4 "f32[1,4] 0 0 2 2; i64[1] 1", "", "region 0 is of image 1, there are 1" },
    { "vision.roi_align", ROI("[1,1]", "1", "1", "avg", "false"),
      GRID4 "f32[1,4] 0 0 nan 2; i64[1] 0", "", "a region of interest from 0 to nan is too big" },
    { "vision.roi_align", ROI("[1,1]", "1", "0", "avg", "false"),
      GRID4 "f32[1,4] 0 0 1e9 2; i64[1] 0", "", "is too big" },
    { "vision.roi_align", ROI("[1,1]", "1", "1", "avg", "false"), GRID4 "f32[1,5] 0; i64[1] 0", "",
      "rois of shape 1x5 and batch_indices of shape 1" },
    { "vision.roi_align", ROI("[1,1]", "1", "1", "avg", "false"), GRID4 "f32[2,4] 0; i64[1] 0", "",
      "rois of shape 2x4 and batch_indices of shape 1" },
    { "vision.roi_align", ROI("[1,1]", "1", "-1", "avg", "false"), GRID4 "f32[1,4] 0; i64[1] 0", "",
      "sample_ratio is -1" },
    { "vision.roi_align", ROI("[1,0]", "1", "1", "avg", "false"), GRID4 "f32[1,4] 0; i64[1] 0", "",
      "pooled_size has the entry 0" },
    { "vision.roi_align", ROI("[1,1]", "1", "1", "sum", "false"), GRID4 "f32[1,4] 0; i64[1] 0", "",
      "mode is \"sum\"" },
    { "vision.roi_align", ROI("[1,1]", "1", "1", "avg", "false"), GRID4 "f32[1,4] 0; f32[1] 0", "",
      "is f32, expected i32 or i64" },
    { "vision.roi_align", ROI("[1,1]", "1", "1", "avg", "false"),
      "f32[1,1,0,1]; f32[1,4] 0; i64[1] 0", "", "x of shape 1x1x0x1 is empty" },
};

#define NMS(most, more) "{max_output=" most ", iou_threshold=0.5" more "}"
#define BOXES                                                                                      \
    "f32[1,4,4] 0 0 1 1  0 0.1 1 1.1  0 2 1 3  1 3 0 2.1; " /* the last: corners in the other order */

static const struct op_case boxes[] = {
    { "vision.non_max_suppression", NMS("3", ""), BOXES "f32[1,1,4] 1 3 2 2",
      "i32[1,1,3] 1 2 -1; i32[1,1] 2", NULL },
    { "vision.non_max_suppression", NMS("1", ""), BOXES "f32[1,2,4] 1 3 2 2 9 0 0 9",
      "i32[1,2,1] 1 0; i32[1,2] 1 1", NULL },
    { "vision.non_max_suppression", NMS("4", ", score_threshold=2"), BOXES "f32[1,1,4] 1 3 2 nan",
      "i32[1,1,4] 1 -1 -1 -1; i32[1,1] 1", NULL },
    { "vision.non_max_suppression", NMS("4", ", score_threshold=2, keeps_equal=true"),
      BOXES "f32[1,1,4] 1 3 2 nan", "i32[1,1,4] 1 2 -1 -1; i32[1,1] 2", NULL },
    /* an empty box overlaps nothing; boxes by their middles, the last of negative size */
    { "vision.non_max_suppression", NMS("3", ""), "f32[1,2,4] 0 0 1 1 0 0 0 1; f32[1,1,2] 1 2",
      "i32[1,1,3] 1 0 -1; i32[1,1] 2", NULL },
    { "vision.non_max_suppression", NMS("3", ", center=true"),
      "f32[1,3,4] 1 1 2 2 1 1.2 2 2 1 1 -2 2; f32[1,1,3] 3 2 1", "i32[1,1,3] 0 2 -1; i32[1,1] 2",
      NULL },
    { "vision.non_max_suppression", NMS("2", ""), "f32[1,0,4]; f32[1,1,0]",
      "i32[1,1,2] -1 -1; i32[1,1] 0", NULL },
    { "vision.non_max_suppression", NMS("2", ""), "f32[1,3,4] 0; f32[1,1,2] 0", "i32[0]; i32[0]",
      "boxes of shape 1x3x4 and scores of shape 1x1x2" },
    { "vision.non_max_suppression", NMS("-1", ""), "f32[1,3,4] 0; f32[1,1,3] 0", "i32[0]; i32[0]",
      "max_output is -1" },
    { "vision.non_max_suppression", NMS("1", ""), "f64[1,3,4] 0; f32[1,1,3] 0", "i32[0]; i32[0]",
      "boxes of f64 and scores of f32" },
};

START_TEST(boxes_that_overlap_better_ones_are_dropped)
{
    op_case_check(&boxes[_i]);
}
END_TEST

START_TEST(places_are_read_as_the_modes_say)
{
    op_case_check(&samples[_i]);
}
END_TEST

START_TEST(regions_are_pooled_from_samples)
{
    op_case_check(&regions[_i]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ops_sample");
    TCase *tcase = tcase_create("ops_sample");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_loop_test(tcase, boxes_that_overlap_better_ones_are_dropped, 0, N_ROWS(boxes));
    tcase_add_loop_test(tcase, places_are_read_as_the_modes_say, 0, N_ROWS(samples));
    tcase_add_loop_test(tcase, regions_are_pooled_from_samples, 0, N_ROWS(regions));
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
