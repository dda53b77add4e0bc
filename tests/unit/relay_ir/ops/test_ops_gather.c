#include <check.h>
#include <stdlib.h>

#include "tests/support/op_case.h"

static const struct op_case takes[] = {
    { "take", "{axis=0}", "f32[3,2] 1 2 3 4 5 6; i64[2] 2 0", "f32[2,2] 5 6 1 2", NULL },
    { "take", "{axis=1}", "f32[2,3] 1 2 3 4 5 6; i32[2,2] 0 2 -1 1", "f32[2,2,2] 1 3 3 2 4 6 6 5",
      NULL },
    { "take", "{axis=-1}", "i8[2,2] 1 2 3 4; i64[] 1", "i8[2] 2 4", NULL },
    { "take", "{axis=0}", "f8e4m3[2] 0x7f 1; i64[3] 1 0 1", "f8e4m3[3] 1 0x7f 1", NULL },
    { "take", "{axis=0}", "f32[3] 1 2 3; i64[] -3", "f32[] 1", NULL },
    { "take", "{axis=0}", "f32[3,2] 1; i64[0]", "f32[0,2]", NULL },
    { "take", "{axis=0}", "f32[3,0]; i64[2] 0", "f32[2,0]", NULL },
    { "take", "{axis=0}", "f32[3] 1; i64[1] 3", "",
      "index 3 is out of range for an axis of extent 3" },
    { "take", "{axis=0}", "f32[3] 1; i64[1] -4", "", "index -4 is out of range" },
    { "take", "{axis=0}", "f32[0]; i64[1] 0", "",
      "index 0 is out of range for an axis of extent 0" },
    { "take", "{axis=1}", "f32[3] 1; i64[1] 0", "", "axis 1 is out of range for shape 3" },
    { "take", "{axis=0}", "f32[] 1; i64[1] 0", "", "axis 0 is out of range for shape scalar" },
    { "take", "{axis=0}", "f32[3] 1; f32[1] 0", "", "input 1 of take is f32, expected i32 or i64" },
    { "take", "{axis=0}", "f32[1,1,1,1,1] 1; i64[1,1,1,1,1] 0", "", "has rank 9" },
};

static const struct op_case gathers[] = {
    { "gather", "{axis=1}", "f32[2,2] 1 2 3 4; i64[2,2] 0 0 1 0", "f32[2,2] 1 1 4 3", NULL },
    { "gather", "{axis=0}", "f32[3,3] 1 2 3 4 5 6 7 8 9; i64[2,3] -2 -1 -3 2 0 0",
      "f32[2,3] 4 8 3 7 2 3", NULL },
    { "gather", "{axis=1}", "i16[2,2] 1 2 3 4; i32[1,3] 0 1 1", "i16[1,3] 1 2 2", NULL },
    { "gather", "{axis=0}", "f32[2,2] 1; i64[0,2]", "f32[0,2]", NULL },
    { "gather", "{axis=1}", "f32[2,2] 1; i64[2,1] 0 2", "", "index 2 is out of range" },
    { "gather", "{axis=1}", "f32[2,2] 1; i64[2] 0", "",
      "input 1 of gather has shape 2, expected rank 2" },
    { "gather", "{axis=1}", "f32[2,2] 1; i64[3,2] 0", "",
      "indices of shape 3x2 do not fit into shape 2x2" },
    { "gather", "{axis=2}", "f32[2,2] 1; i64[2,2] 0", "", "axis 2 is out of range" },
    { "gather_nd", "{batch_dims=0}", "f32[2,2] 0 1 2 3; i64[2,2] 0 0 1 1", "f32[2] 0 3", NULL },
    { "gather_nd", "{batch_dims=0}", "f32[2,2] 0 1 2 3; i64[2,1] 1 0", "f32[2,2] 2 3 0 1", NULL },
    { "gather_nd", "{batch_dims=0}", "i32[2,2,2] 0 1 2 3 4 5 6 7; i64[2,1,2] 0 1 1 0",
      "i32[2,1,2] 2 3 4 5", NULL },
    { "gather_nd", "{batch_dims=1}", "i32[2,2,2] 0 1 2 3 4 5 6 7; i64[2,1] 1 0", "i32[2,2] 2 3 4 5",
      NULL },
    { "gather_nd", "{batch_dims=1}", "i8[2,3] 1 2 3 4 5 6; i64[2,2,1] 0 -1 1 1", "i8[2,2] 1 3 5 5",
      NULL },
    { "gather_nd", "{batch_dims=0}", "f32[2] 5 6; i64[2,0]", "f32[2,2] 5 6 5 6", NULL },
    { "gather_nd", "{batch_dims=0}", "f32[2,2] 0; i64[1] -1", "f32[2] 0 0", NULL },
    { "gather_nd", "{batch_dims=0}", "f32[2,2] 0; i64[0,2]", "f32[0]", NULL },
    { "gather_nd", "{batch_dims=0}", "f32[2,2] 0; i64[1,2] 0 2", "", "index 2 is out of range" },
    { "gather_nd", "{batch_dims=0}", "f32[2,2] 0; i64[1,3] 0", "",
      "index tuples of 3 in shape 1x3" },
    { "gather_nd", "{batch_dims=1}", "f32[2,2] 0; i64[2,2] 0", "",
      "with 1 batch dimensions do not fit" },
    { "gather_nd", "{batch_dims=1}", "f32[2,2] 0; i64[3,1] 0", "",
      "batch dimension 0 is 2 in x and 3" },
    { "gather_nd", "{batch_dims=-1}", "f32[2,2] 0; i64[2,1] 0", "", "with -1 batch dimensions" },
    { "gather_nd", "{batch_dims=2}", "f32[2,2] 0; i64[2,1] 0", "", "with 2 batch dimensions" },
    { "gather_nd", "{batch_dims=0}", "f32[2,2] 0; i64[] 0", "", "expected rank 1 or more" },
};

#define SCATTER(axis, reduction) "{axis=" axis ", reduction=\"" reduction "\"}"

static const struct op_case scatters[] = {
    { "scatter_elements", SCATTER("0", ""),
      "f32[3,3] 0; i64[2,3] 1 0 2 0 2 1; f32[2,3] 1 1.1 1.2 2 2.1 2.2",
      "f32[3,3] 2 1.1 0 1 0 2.2 0 2.1 1.2", NULL },
    { "scatter_elements", SCATTER("1", "none"), "f32[1,5] 1 2 3 4 5; i64[1,2] 1 -2; f32[1,2] 8 9",
      "f32[1,5] 1 8 3 9 5", NULL },
    { "scatter_elements", SCATTER("1", "add"), "f32[1,3] 1 2 3; i64[1,3] 1 1 0; f32[1,3] 10 20 5",
      "f32[1,3] 6 32 3", NULL },
    { "scatter_elements", SCATTER("0", "mul"),
      "i64[2] 4294967296 3; i64[2] 0 1; i64[2] 4294967297 5", "i64[2] 4294967296 15", NULL },
    { "scatter_elements", SCATTER("0", "max"), "f32[3] 1 nan 3; i64[4] 0 0 1 2; f32[4] 5 4 9 nan",
      "f32[3] 5 nan nan", NULL },
    { "scatter_elements", SCATTER("0", "min"),
      "u64[2] 18446744073709551615 1; i64[2] 0 1; u64[2] 7 7", "u64[2] 7 1", NULL },
    { "scatter_elements", SCATTER("0", "none"), "i8[2] 1 2; i64[3] 0 0 0; i8[3] 3 4 5", "i8[2] 5 2",
      NULL },
    { "scatter_elements", SCATTER("0", "none"), "f8e4m3[2] 1; i64[1] 1; f8e4m3[1] 0x7f",
      "f8e4m3[2] 1 0x7f", NULL },
    { "scatter_elements", SCATTER("0", "none"), "f32[2] 1 2; i64[0]; f32[0]", "f32[2] 1 2", NULL },
    { "scatter_elements", SCATTER("0", "none"), "f32[2] 1; i64[1] 2; f32[1] 0", "",
      "index 2 is out of range" },
    { "scatter_elements", SCATTER("0", "sum"), "f32[2] 1; i64[1] 0; f32[1] 0", "",
      "reduction is \"sum\"" },
    { "scatter_elements", SCATTER("0", "add"), "f8e4m3[2] 1; i64[1] 0; f8e4m3[1] 0", "",
      "is f8e4m3" },
    { "scatter_elements", SCATTER("0", ""), "f32[2] 1; i64[1] 0; f64[1] 0", "",
      "inputs 0 and 2 of" },
    { "scatter_elements", SCATTER("0", ""), "f32[2] 1; i64[2] 0; f32[1] 0", "",
      "updates of shape 1, expected" },
    { "scatter_elements", SCATTER("0", ""), "f32[2,1] 1; i64[1,2] 0; f32[1,2] 0", "",
      "off axis 0" },
    { "scatter_elements", SCATTER("1", ""), "f32[2] 1; i64[1] 0; f32[1] 0", "",
      "axis 1 is out of range" },
    { "scatter_nd", SCATTER("0", ""), "f32[5] 1 2 3 4 5; i64[2,1] 3 1; f32[2] 9 8",
      "f32[5] 1 8 3 9 5", NULL },
    { "scatter_nd", SCATTER("0", ""), "i8[2,2] 1 2 3 4; i64[1,1] -1; i8[1,2] 7 8",
      "i8[2,2] 1 2 7 8", NULL },
    { "scatter_nd", SCATTER("0", "add"), "f32[2,2] 1 2 3 4; i64[2,2] 0 1 0 1; f32[2] 10 20",
      "f32[2,2] 1 32 3 4", NULL },
    { "scatter_nd", SCATTER("0", "max"), "i32[2] 1 2; i64[2,1] 0 1; i32[2] 0 9", "i32[2] 1 9",
      NULL },
    { "scatter_nd", SCATTER("0", ""), "f32[2] 1 2; i64[1,0]; f32[1,2] 3 4", "f32[2] 3 4", NULL },
    { "scatter_nd", SCATTER("0", ""), "f32[2] 1 2; i64[0,1]; f32[0]", "f32[2] 1 2", NULL },
    { "scatter_nd", SCATTER("0", ""), "f32[2] 1; i64[1,1] 2; f32[1] 0", "",
      "index 2 is out of range" },
    { "scatter_nd", SCATTER("0", ""), "f32[2] 1; i64[1,2] 0; f32[1] 0", "",
      "index tuples of 2 for shape 2" },
    { "scatter_nd", SCATTER("0", ""), "f32[2,2] 1; i64[1,1] 0; f32[2] 0", "",
      "updates of shape 2, expected 1x2" },
    { "scatter_nd", SCATTER("0", ""), "f32[2] 1; i16[1,1] 0; f32[1] 0", "",
      "input 1 of scatter_nd is i16" },
};

static const struct op_case one_hots[] = {
    { "one_hot", "{axis=-1, depth=3}", "i64[2] 1 0; f32[2] 0 5", "f32[2,3] 0 5 0 5 0 0", NULL },
    { "one_hot", "{axis=0, depth=3}", "i64[2] 1 0; i8[2] -1 1", "i8[3,2] -1 1 1 -1 -1 -1", NULL },
    { "one_hot", "{axis=1, depth=2}", "i32[2,2] 0 1 1 0; f32[2] 0 1", "f32[2,2,2] 1 0 0 1 0 1 1 0",
      NULL },
    { "one_hot", "{axis=-1, depth=3}", "i64[4] -1 3 -4 -3; f32[2] 0 1",
      "f32[4,3] 0 0 1 0 0 0 0 0 0 1 0 0", NULL },
    { "one_hot", "{axis=-1, depth=2}",
      "i64[2] 9223372036854775807 -9223372036854775808; f32[2] 0 1", "f32[2,2] 0", NULL },
    { "one_hot", "{axis=0, depth=2}", "f32[] 1; bool[2] 0 1", "bool[2] 0 1", NULL },
    { "one_hot", "{axis=0, depth=0}", "i64[2] 1; f32[2] 0 1", "f32[0,2]", NULL },
    { "one_hot", "{axis=0, depth=-1}", "i64[2] 1; f32[2] 0 1", "", "depth -1, expected 0 or more" },
    { "one_hot", "{axis=0, depth=2}", "i64[2] 1; f32[3] 0 1 2", "", "3 values, expected two" },
    { "one_hot", "{axis=2, depth=2}", "i64[2] 1; f32[2] 0 1", "", "axis 2 is out of range" },
    { "one_hot", "{axis=0, depth=2}", "bool[2] 1; f32[2] 0 1", "", "input 0 of one_hot is bool" },
    { "one_hot", "{axis=0, depth=9223372036854775807}", "i64[2] 1; f32[2] 0 1", "", "is too big" },
};

START_TEST(taking_along_an_axis_counts_from_either_end)
{
    op_case_check(&takes[_i]);
}
END_TEST

START_TEST(gathering_follows_each_index)
{
    op_case_check(&gathers[_i]);
}
END_TEST

START_TEST(scattering_updates_in_order)
{
    op_case_check(&scatters[_i]);
}
END_TEST

START_TEST(one_hot_ignores_what_is_out_of_range)
{
    op_case_check(&one_hots[_i]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ops_gather");
    TCase *tcase = tcase_create("ops_gather");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_loop_test(tcase, taking_along_an_axis_counts_from_either_end, 0, N_ROWS(takes));
    tcase_add_loop_test(tcase, gathering_follows_each_index, 0, N_ROWS(gathers));
    tcase_add_loop_test(tcase, scattering_updates_in_order, 0, N_ROWS(scatters));
    tcase_add_loop_test(tcase, one_hot_ignores_what_is_out_of_range, 0, N_ROWS(one_hots));
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
