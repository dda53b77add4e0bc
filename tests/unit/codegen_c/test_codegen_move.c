/* The kernels that only move elements, as generated C. */
#include <check.h>
#include <stdlib.h>

#include "tests/support/run_generated.h"

/* One operator each: its parameters, its inputs, its line, its outputs. */
static const struct {
    const char *params, *body, *results;
} cases[] = {
    { "%x: (2,3,4) f32", "%y = transpose(%x) {axes=[2,0,1]} : (4,2,3) f32", "%y" },
    { "%x: (9,14) f32", "%y = transpose(%x) {axes=[1,0]} : (14,9) f32", "%y" },
    { "%x: (21,31) f32", "%y = transpose(%x) {axes=[1,0]} : (31,21) f32", "%y" },
    { "%x: (300,29) f32", "%y = transpose(%x) {axes=[1,0]} : (29,300) f32", "%y" },
    { "%x: (2,5,3,8) f32", "%y = transpose(%x) {axes=[0,3,2,1]} : (2,8,3,5) f32", "%y" },
    { "%x: (1,7,4,6) f32", "%y = transpose(%x) {axes=[0,2,3,1]} : (1,4,6,7) f32", "%y" },
    { "%x: (4,6,4,4) f32", "%y = transpose(%x) {axes=[3,1,2,0]} : (4,6,4,4) f32", "%y" },
    /* few rows side by side: strips of 16 columns */
    { "%x: (2,4,5,48) f32", "%y = transpose(%x) {axes=[0,3,2,1]} : (2,48,5,4) f32", "%y" },
    { "%x: (5,7,32) f32", "%y = transpose(%x) {axes=[2,1,0]} : (32,7,5) f32", "%y" },
    { "%x: (2,3) i8", "%y = transpose(%x) {axes=[1,0]} : (3,2) i8", "%y" },
    { "%x: (2,1,3) i64", "%y = transpose(%x) {axes=[1,0,2]} : (1,2,3) i64", "%y" },
    { "%x: (2,3,4,5) f64", "%y = transpose(%x) {axes=[0,2,1,3]} : (2,4,3,5) f64", "%y" },
    { "%x: (0,3) f32", "%y = transpose(%x) {axes=[1,0]} : (3,0) f32", "%y" },
    { "%x: (4,6) f32",
      "%y = strided_slice(%x) {begin=[1,4], strides=[1,-2], size=[2,3]} : (2,3) f32", "%y" },
    { "%x: (5,6) u8", "%y = strided_slice(%x) {begin=[1,2], strides=[2,1], size=[2,3]} : (2,3) u8",
      "%y" },
    { "%x: (5) bool", "%y = strided_slice(%x) {begin=[4], strides=[-1], size=[5]} : (5) bool",
      "%y" },
    { "%x: (2,2) f32, %x_2: (2,3) f32, %z: (2,0) f32",
      "%y = concatenate(%x, %x_2, %z) {axis=1} : (2,5) f32", "%y" },
    { "%a: (1,2,3) i16, %b: (2,2,3) i16", "%y = concatenate(%a, %b) {axis=0} : (3,2,3) i16", "%y" },
    { "%x: (2,5,2) f32",
      "%a, %b, %c = split(%x) {axis=1, sizes=[1,0,4]} : (2,1,2) f32, (2,0,2) f32, (2,4,2) f32",
      "%a, %b, %c" },
    { "%x: (6) u16", "%a, %b = split(%x) {axis=0, sizes=[2,4]} : (2) u16, (4) u16", "%a, %b" },
    { "%x: (2,3) f32", "%y = tile(%x) {shape=[2,3]} : (4,9) f32", "%y" },
    { "%x: (2,1,3) i32", "%y = tile(%x) {shape=[1,2,1]} : (2,2,3) i32", "%y" },
    { "%x: (3,1) f32", "%y = broadcast_to(%x) {shape=[2,3,4]} : (2,3,4) f32", "%y" },
    { "%x: () f32", "%y = broadcast_to(%x) {shape=[2,2]} : (2,2) f32", "%y" },
    { "%x: (1,8,2,3) f32",
      "%y = nn.depth_to_space(%x) {block_size=[2,2], mode=\"DCR\"} : (1,2,4,6) f32", "%y" },
    { "%x: (2,8,2,3) f32",
      "%y = nn.depth_to_space(%x) {block_size=[2,2], mode=\"CRD\"} : (2,2,4,6) f32", "%y" },
    { "%x: (2,6,4) i8", "%y = nn.depth_to_space(%x) {block_size=[3], mode=\"DCR\"} : (2,2,12) i8",
      "%y" },
    { "%x: (1,4,6) f32",
      "%y = nn.depth_to_space(%x) {block_size=[3], mode=\"DCR\", layout=\"NWC\"} : (1,12,2) f32",
      "%y" },
    { "%x: (1,3,4,6) u8",
      "%y = nn.depth_to_space(%x) {block_size=[1,3], mode=\"DCR\", layout=\"NHWC\"} : (1,3,12,2) "
      "u8",
      "%y" },
    { "%x: (2,24,2,1,3) i16",
      "%y = nn.depth_to_space(%x) {block_size=[2,3,2], mode=\"DCR\"} : (2,2,4,3,6) i16", "%y" },
    { "%x: (1,2,6,3,2) f32",
      "%y = nn.space_to_depth(%x) {block_size=[1,3,2], mode=\"DCR\"} : (1,12,6,1,1) f32", "%y" },
    { "%x: (2,3,4,6) i8",
      "%y = nn.space_to_depth(%x) {block_size=[2,2], mode=\"DCR\"} : (2,12,2,3) i8", "%y" },
    { "%x: (2,3) f32",
      "%y = nn.pad(%x) {pad_before=[1,0], pad_after=[0,2], mode=\"constant\", "
      "value=0.1} : (3,5) f32",
      "%y" },
    { "%x: (3,4) i8",
      "%y = nn.pad(%x) {pad_before=[-1,2], pad_after=[1,-1], mode=\"constant\", "
      "value=-7} : (3,5) i8",
      "%y" },
    { "%x: (1,3,4) f32",
      "%y = nn.pad(%x) {pad_before=[0,2,3], pad_after=[0,2,1], "
      "mode=\"reflect\", value=0} : (1,7,8) f32",
      "%y" },
    { "%x: (2,1,3) f32",
      "%y = nn.pad(%x) {pad_before=[0,2,-1], pad_after=[0,2,7], "
      "mode=\"reflect\", value=0} : (2,5,9) f32",
      "%y" },
    { "%x: (3,4,2) u8",
      "%y = nn.pad(%x) {pad_before=[2,0,0], pad_after=[1,0,0], mode=\"edge\", "
      "value=0} : (6,4,2) u8",
      "%y" },
    { "%x: (2,3,2) i64",
      "%y = nn.pad(%x) {pad_before=[0,4,-1], pad_after=[0,5,2], "
      "mode=\"wrap\", value=0} : (2,12,3) i64",
      "%y" },
    { "%x: (2,3,4) f32", "%y = trilu(%x) {upper=true, k=1} : (2,3,4) f32", "%y" },
    { "%x: (4,3) i8", "%y = trilu(%x) {upper=false, k=-1} : (4,3) i8", "%y" },
    { "%x: (3,3) bool", "%y = trilu(%x) {upper=true, k=-90000000000} : (3,3) bool", "%y" },
    { "%c: () bool, %x: (2,3) f32, %z: (2,3) f32", "%y = if(%c, %x, %z) : (2,3) f32", "%y" },
    { "%c: () bool, %x: (2,3) f32, %z: (2,3) f32",
      "%a = exp(%x)\n%b = nn.softmax(%z) {axis=1}\n%y = if(%c, %a, %b) : (2,3) f32", "%y" },
    { "%c: () bool, %d: () bool, %x: (2,3) i16, %z: (2,3) i16",
      "%a = add(%x, %z)\n%b = multiply(%x, %z)\n%i = if(%d, %a, %x)\n%k = if(%d, %b, %i)\n"
      "%y = if(%c, %k, %z)",
      "%y, %b" },
    { "%x: (3,2,2) f32, %n: (2) i64",
      "%y = reverse_sequence(%x, %n) {batch_axis=1, time_axis=0} : (3,2,2) f32", "%y" },
    { "%x: (2,4) i16, %n: (2) i32",
      "%y = reverse_sequence(%x, %n) {batch_axis=0, time_axis=1} : (2,4) i16", "%y" },
};

START_TEST(elements_arrive_where_the_reference_puts_them)
{
    struct arena arena = { NULL };
    const char *text = arena_printf(&arena, "fn main(%s) -> (%s) {\n  %s\n}\n", cases[_i].params,
                                    cases[_i].results, cases[_i].body);

    /* 0 .. 2 so that sequence lengths are valid */
    generated_check(&(struct generated_case){ .text = text, .low = 0, .high = 2.99 });
    arena_release(&arena);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("codegen_move");
    TCase *tcase = tcase_create("codegen_move");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(tcase, 0);
    tcase_add_loop_test(tcase, elements_arrive_where_the_reference_puts_them, 0,
                        (int)(sizeof cases / sizeof *cases));
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
