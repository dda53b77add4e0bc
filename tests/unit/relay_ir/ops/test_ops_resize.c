#include <check.h>
#include <stdlib.h>

#include "tests/support/op_case.h"

/* Values with many digits are those of the examples in the specification of Resize. */
#define RESIZE(size, scales, method, transformation, more)                                         \
    "{size=" size ", scales=" scales ", roi=[], method=\"" method                                  \
    "\", coordinate_transformation_mode=\"" transformation "\", " more "}"
#define CROP(size, roi, method, more)                                                              \
    "{size=" size ", scales=[], roi=" roi ", method=\"" method                                     \
    "\", coordinate_transformation_mode=\"tf_crop_and_resize\", " more "}"
#define ROUND(word)                                                                                \
    "rounding_method=\"" word "\", cubic_alpha=0, exclude_outside=false, antialias=false, "        \
    "extrapolation_value=0"
#define CUBIC(alpha, outside, antialias)                                                           \
    "rounding_method=\"\", cubic_alpha=" alpha ", exclude_outside=" outside                        \
    ", antialias=" antialias ", extrapolation_value=10"
#define PLAIN CUBIC("-0.75", "false", "false")
#define SMOOTH CUBIC("-0.75", "false", "true")

#define GRID2 "f32[1,1,2,2] 1 2 3 4"
#define GRID4 "f32[1,1,4,4] 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16"
#define GRID2X4 "f32[1,1,2,4] 1 2 3 4 5 6 7 8"

static const struct op_case nearest[] = {
    { "image.resize", RESIZE("[1,1,4,6]", "[1,1,2,3]", "nearest_neighbor", "half_pixel", ROUND("")),
      GRID2, "f32[1,1,4,6] 1 1 1 2 2 2 1 1 1 2 2 2 3 3 3 4 4 4 3 3 3 4 4 4", NULL },
    { "image.resize",
      RESIZE("[1,1,1,2]", "[1,1,0.6,0.6]", "nearest_neighbor", "half_pixel", ROUND("")), GRID2X4,
      "f32[1,1,1,2] 1 3", NULL },
    { "image.resize", RESIZE("[1,1,8,8]", "[]", "nearest_neighbor", "half_pixel", ROUND("ceil")),
      GRID4,
      "f32[1,1,8,8] 1 2 2 3 3 4 4 4 5 6 6 7 7 8 8 8 5 6 6 7 7 8 8 8 9 10 10 11 11 12 12 12 "
      "9 10 10 11 11 12 12 12 13 14 14 15 15 16 16 16 13 14 14 15 15 16 16 16 13 14 14 15 15 16 16 "
      "16",
      NULL },
    { "image.resize",
      RESIZE("[1,1,8,8]", "[]", "nearest_neighbor", "align_corners", ROUND("floor")), GRID4,
      "f32[1,1,8,8] 1 1 1 2 2 3 3 4 1 1 1 2 2 3 3 4 1 1 1 2 2 3 3 4 5 5 5 6 6 7 7 8 "
      "5 5 5 6 6 7 7 8 9 9 9 10 10 11 11 12 9 9 9 10 10 11 11 12 13 13 13 14 14 15 15 16",
      NULL },
    { "image.resize",
      RESIZE("[1,1,8,8]", "[]", "nearest_neighbor", "asymmetric", ROUND("round_prefer_ceil")),
      GRID4,
      "f32[1,1,8,8] 1 2 2 3 3 4 4 4 5 6 6 7 7 8 8 8 5 6 6 7 7 8 8 8 9 10 10 11 11 12 12 12 "
      "9 10 10 11 11 12 12 12 13 14 14 15 15 16 16 16 13 14 14 15 15 16 16 16 13 14 14 15 15 16 16 "
      "16",
      NULL },
    { "image.resize",
      RESIZE("[1,1,3,2]", "[]", "nearest_neighbor", "tf_half_pixel_for_nn", ROUND("")), GRID4,
      "f32[1,1,3,2] 6 8 10 12 14 16", NULL },
    { "image.resize",
      RESIZE("[4]", "[]", "nearest_neighbor", "asymmetric", ROUND("round_prefer_floor")),
      "i64[2] 9007199254740993 -9223372036854775807",
      "i64[4] 9007199254740993 9007199254740993 -9223372036854775807 -9223372036854775807", NULL },
    { "image.resize", RESIZE("[4]", "[]", "nearest_neighbor", "", ROUND("")), "bool[2] 1 0",
      "bool[4] 1 1 0 0", NULL },
    { "image.resize", RESIZE("[2]", "[]", "nearest_neighbor", "asymmetric", ROUND("floor")),
      "u8[5] 1 2 3 4 5", "u8[2] 1 3", NULL },
    { "image.resize", CROP("[3]", "[0.5,1.5]", "nearest_neighbor", PLAIN), "f32[3] 1 2 3",
      "f32[3] 2 3 10", NULL },
    { "image.resize", RESIZE("[]", "[]", "nearest_neighbor", "", ROUND("")), "f32[] 3", "f32[] 3",
      NULL },
    { "image.resize", RESIZE("[0,3]", "[]", "nearest_neighbor", "", ROUND("")), "f32[0,2]",
      "f32[0,3]", NULL },
    { "image.resize", RESIZE("[0]", "[]", "linear", "", ROUND("")), "f32[2] 1 2", "f32[0]", NULL },
};

static const struct op_case linear[] = {
    { "image.resize", RESIZE("[1,1,4,4]", "[1,1,2,2]", "linear", "half_pixel", PLAIN), GRID2,
      "f32[1,1,4,4] 1 1.25 1.75 2 1.5 1.75 2.25 2.5 2.5 2.75 3.25 3.5 3 3.25 3.75 4", NULL },
    { "image.resize", RESIZE("[1,1,4,4]", "[1,1,2,2]", "linear", "align_corners", PLAIN), GRID2,
      "f32[1,1,4,4] 1 1.3333333 1.6666667 2 1.6666667 2 2.3333333 2.6666667 2.3333333 2.6666667 3 "
      "3.3333333 3 3.3333333 3.6666667 4",
      NULL },
    { "image.resize", RESIZE("[1,1,1,2]", "[1,1,0.6,0.6]", "linear", "align_corners", PLAIN),
      GRID2X4, "f32[1,1,1,2] 1 3.142857", NULL },
    { "image.resize", RESIZE("[1,1,1,2]", "[1,1,0.6,0.6]", "linear", "half_pixel", PLAIN), GRID2X4,
      "f32[1,1,1,2] 2.6666665 4.3333331", NULL },
    { "image.resize", RESIZE("[1,1,3,1]", "[]", "linear", "pytorch_half_pixel", PLAIN), GRID4,
      "f32[1,1,3,1] 1.6666666 7 12.333333", NULL },
    { "image.resize",
      RESIZE("[1,1,4,5]", "[1,1,2.3,2.94]", "linear", "half_pixel_symmetric", PLAIN), GRID2,
      "f32[1,1,4,5] 1 1.15986395 1.5 1.84013605 2 1.56521738 1.72508133 2.06521738 2.40535343 "
      "2.56521738 2.43478262 2.59464657 2.93478262 3.27491867 3.43478262 3 3.15986395 3.5 "
      "3.84013605 4",
      NULL },
    { "image.resize", RESIZE("[1,1,1,2]", "[1,1,1,0.6]", "linear", "half_pixel_symmetric", PLAIN),
      "f32[1,1,1,4] 1 2 3 4", "f32[1,1,1,2] 1.6666667 3.3333333", NULL },
    { "image.resize", CROP("[1,1,3,3]", "[0,0,0.4,0.6,1,1,0.6,0.8]", "linear", PLAIN), GRID4,
      "f32[1,1,3,3] 7.6 7.9 8.2 8.8 9.1 9.4 10 10.3 10.6", NULL },
    { "image.resize", CROP("[1,1,3,3]", "[0,0,0.4,0.6,1,1,1.2,1.7]", "linear", PLAIN), GRID4,
      "f32[1,1,3,3] 7.6 10 10 12.4 10 10 10 10 10", NULL },
    { "image.resize", CROP("[1,1,1,1]", "[0,0,0,0,1,1,1,0.5]", "linear", PLAIN), GRID4,
      "f32[1,1,1,1] 7.75", NULL },
    { "image.resize", RESIZE("[1,1,2,2]", "[1,1,0.6,0.6]", "linear", "half_pixel", SMOOTH), GRID4,
      "f32[1,1,2,2] 2.875 4.5 9.375 11", NULL },
    { "image.resize", RESIZE("[1,1,3,3]", "[]", "linear", "half_pixel", SMOOTH), GRID4,
      "f32[1,1,3,3] 2.3636363 3.590909 4.818182 7.2727275 8.5 9.727273 12.181818 13.409091 "
      "14.636364",
      NULL },
    { "image.resize", RESIZE("[4]", "[]", "linear", "half_pixel", SMOOTH), "f32[2] 1 2",
      "f32[4] 1 1.25 1.75 2", NULL },
    { "image.resize", RESIZE("[4]", "[]", "linear", "asymmetric", PLAIN), "u8[2] 1 4",
      "u8[4] 1 2 4 4", NULL },
    { "image.resize", RESIZE("[4]", "[]", "linear", "asymmetric", PLAIN), "i8[2] -1 -4",
      "i8[4] -1 -2 -4 -4", NULL },
    { "image.resize", RESIZE("[2,2]", "[]", "linear", "half_pixel", PLAIN), "f32[1,4] 1 2 3 4",
      "f32[2,2] 1.5 3.5 1.5 3.5", NULL },
};

static const struct op_case cubic[] = {
    { "image.resize", RESIZE("[1,1,3,3]", "[1,1,0.8,0.8]", "cubic", "half_pixel", PLAIN), GRID4,
      "f32[1,1,3,3] 1.47119141 2.78125 4.08251953 6.71142578 8.02148438 9.32275391 11.91650391 "
      "13.2265625 14.52783203",
      NULL },
    { "image.resize", RESIZE("[1,1,3,3]", "[1,1,0.8,0.8]", "cubic", "align_corners", PLAIN), GRID4,
      "f32[1,1,3,3] 1 2.39519159 3.79038317 6.58076634 7.97595793 9.37114951 12.16153268 "
      "13.55672427 "
      "14.95191585",
      NULL },
    { "image.resize",
      RESIZE("[1,1,3,3]", "[1,1,0.8,0.8]", "cubic", "half_pixel", CUBIC("-0.5", "true", "false")),
      GRID4,
      "f32[1,1,3,3] 1.36812675 2.6695014 4.0133367 6.57362535 7.875 9.2188353 11.94896657 "
      "13.25034122 "
      "14.59417652",
      NULL },
    { "image.resize", RESIZE("[1,1,2,2]", "[1,1,0.6,0.6]", "cubic", "half_pixel", SMOOTH), GRID4,
      "f32[1,1,2,2] 2.5180721 4.2858863 9.589329 11.357142", NULL },
    { "image.resize", RESIZE("[1,1,3,3]", "[]", "cubic", "half_pixel", SMOOTH), GRID4,
      "f32[1,1,3,3] 1.7750092 3.1200073 4.4650054 7.1550016 8.5 9.844998 12.534994 13.8799925 "
      "15.224991",
      NULL },
    { "image.resize", RESIZE("[1,1,1,8]", "[1,1,1,2]", "cubic", "half_pixel", PLAIN),
      "f32[1,1,1,4] 1 1 1 1", "f32[1,1,1,8] 1", NULL },
    { "image.resize", RESIZE("[8]", "[]", "cubic", "asymmetric", PLAIN), "i8[2] 127 -128",
      "i8[8] 127 69 0 -70 -128 -128 -128 -128", NULL },
    { "image.resize", RESIZE("[8]", "[]", "cubic", "asymmetric", PLAIN), "i8[4] -128 127 127 -128",
      "i8[8] -128 0 127 127 127 0 -128 -128", NULL },
};

static const struct op_case errors[] = {
    { "image.resize", RESIZE("[4]", "[]", "bicubic", "", PLAIN), "f32[2] 1", "",
      "method is \"bicubic\", expected one of \"nearest_neighbor\", \"linear\", \"cubic\"" },
    { "image.resize", RESIZE("[4]", "[]", "cubic", "corners", PLAIN), "f32[2] 1", "",
      "coordinate_transformation_mode is \"corners\"" },
    { "image.resize", RESIZE("[4]", "[]", "", "", ROUND("up")), "f32[2] 1", "",
      "rounding_method is \"up\"" },
    { "image.resize", RESIZE("[4,4]", "[]", "", "", PLAIN), "f32[2] 1", "",
      "size has 2 entries, expected one per dimension of shape 2" },
    { "image.resize", RESIZE("[4]", "[2,2]", "", "", PLAIN), "f32[2] 1", "",
      "2 scales and a region of interest of 0 numbers do not fit shape 2" },
    { "image.resize", CROP("[4]", "[0,0,1]", "", PLAIN), "f32[2] 1", "",
      "3 numbers do not fit shape 2" },
    { "image.resize", CROP("[4]", "[0,inf]", "", PLAIN), "f32[2] 1", "",
      "dimension 0 is not finite" },
    { "image.resize", RESIZE("[4]", "[]", "", "", PLAIN), "f32[0]", "",
      "dimension 0 of extent 0 cannot become 4 long" },
    { "image.resize", RESIZE("[-1]", "[]", "", "", PLAIN), "f32[2] 1", "",
      "cannot become -1 long" },
    { "image.resize", RESIZE("[4]", "[3]", "", "", PLAIN), "f32[2] 1", "",
      "dimension 0 has extent 2, scale 3 and size 4, which do not fit together" },
    { "image.resize", RESIZE("[1]", "[1e-30]", "", "", PLAIN), "f32[2] 1", "",
      "do not fit together" },
    { "image.resize", RESIZE("[4]", "[nan]", "", "", PLAIN), "f32[2] 1", "",
      "do not fit together" },
    { "image.resize", RESIZE("[4]", "[]", "linear", "", PLAIN), "i64[2] 1", "",
      "image.resize of i64 by method \"linear\" is not supported" },
    { "image.resize", RESIZE("[4]", "[]", "linear", "", PLAIN), "bool[2] 1", "",
      "is bool, expected" },
};

START_TEST(nearest_copies_the_element_at_the_rounded_place)
{
    op_case_check(&nearest[_i]);
}
END_TEST

START_TEST(linear_weighs_two_neighbours)
{
    op_case_check(&linear[_i]);
}
END_TEST

START_TEST(cubic_weighs_four_neighbours)
{
    op_case_check(&cubic[_i]);
}
END_TEST

START_TEST(impossible_sizes_are_reported)
{
    op_case_check(&errors[_i]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ops_resize");
    TCase *tcase = tcase_create("ops_resize");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_loop_test(tcase, nearest_copies_the_element_at_the_rounded_place, 0, N_ROWS(nearest));
    tcase_add_loop_test(tcase, linear_weighs_two_neighbours, 0, N_ROWS(linear));
    tcase_add_loop_test(tcase, cubic_weighs_four_neighbours, 0, N_ROWS(cubic));
    tcase_add_loop_test(tcase, impossible_sizes_are_reported, 0, N_ROWS(errors));
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
