/* fake_quant_to_integer: codes of narrow floats are moved and compared as they are. */
#include <check.h>
#include <stdlib.h>

#include "relay_ir/passes/pipeline.h"
#include "tests/support/pass_case.h"

#define SCALE                                                                                      \
    "  const @s : () f32 = [0.5]\n"                                                                \
    "  const @z : () f8e4m3 = [0x00]\n"
#define D(y, x) "  %" y " = qnn.dequantize(%" x ", @s, @z)\n"
#define Q(y, x) "  %" y " = qnn.quantize(%" x ", @s, @z) {saturate=true}\n"
#define CAST(y, x, type) "  %" y " = cast(%" x ") {dtype=" type ", saturate=true}\n"
#define SPLIT(y, x) "  %" y " = split(%" x ") {axis=1, sizes=[3,2]}\n"
#define TABLE(t) "  const @" t " : (256) f8e4m3 = crc32:00000000\n"
#define LUT(y, x, t) "  %" y " = qnn.lut(%" x ", @" t ", @s, @z) {axis=0}\n"
#define POOL "{pool_size=[2,2], strides=[2,2], padding=[0,0,0,0], dilation=[1,1]}"

static const struct pass_case rows[] = {
    { "move_before_decoder",
      "fn main(%x: (2,3) f8e4m3) -> (%y) {\n" SCALE D("f",
                                                      "x") "  %y = transpose(%f) {axes=[1,0]}\n"
                                                           "}\n",
      "fn main(%x: (2,3) f8e4m3) -> (%y) {\n" SCALE
      "  %y.transpose = transpose(%x) {axes=[1,0]}\n" D("y", "y.transpose") "}\n" },
    { "move_before_decoder",
      "fn main(%x: (1,1,4,4) f8e4m3) -> (%y) {\n" CAST(
          "f", "x", "f32") "  %y = nn.max_pool2d(%f) " POOL "\n}\n",
      "fn main(%x: (1,1,4,4) f8e4m3) -> (%y) {\n"
      "  %y.max_pool2d = nn.max_pool2d(%x) " POOL "\n" CAST("y", "y.max_pool2d", "f32") "}\n" },
    /* averages are no codes */
    { "move_before_decoder",
      "fn main(%x: (1,1,4,4) f8e4m3) -> (%y) {\n" CAST(
          "f", "x", "f32") "  %y = nn.avg_pool2d(%f) " POOL "\n}\n",
      NULL },
    { "pad_before_decoder",
      "fn main(%x: (2) f8e4m3) -> (%y) {\n" CAST(
          "f", "x",
          "f32") "  %y = nn.pad(%f) {pad_before=[1], pad_after=[0], mode=\"constant\"}\n}\n",
      "fn main(%x: (2) f8e4m3) -> (%y) {\n"
      "  %y.pad = nn.pad(%x) {pad_before=[1], pad_after=[0], mode=\"constant\"}\n" CAST(
          "y", "y.pad", "f32") "}\n" },
    /* another number than 0 may be none of the format */
    { "pad_before_decoder",
      "fn main(%x: (2) f8e4m3) -> (%y) {\n" CAST(
          "f", "x", "f32") "  %y = nn.pad(%f) {pad_before=[1], pad_after=[0], mode=\"constant\", "
                           "value=0.3}\n}\n",
      NULL },
    { "join_before_decoder",
      "fn main(%a: (2) f8e4m3, %b: (3) f8e4m3) -> (%y) {\n" SCALE D("f", "a")
          D("g", "b") "  %y = concatenate(%f, %g) {axis=0}\n}\n",
      "fn main(%a: (2) f8e4m3, %b: (3) f8e4m3) -> (%y) {\n" SCALE
      "  %y.concatenate = concatenate(%a, %b) {axis=0}\n" D("y", "y.concatenate") "}\n" },
    /* of two codings */
    { "join_before_decoder",
      "fn main(%a: (2) f8e4m3, %b: (3) f8e4m3) -> (%y) {\n" SCALE D("f", "a")
          CAST("g", "b", "f32") "  %y = concatenate(%f, %g) {axis=0}\n}\n",
      NULL },
    { "encode_of_decode",
      "fn main(%x: (4) f8e4m3) -> (%y) {\n" SCALE D("f", "x") Q("q", "f") "  %y = copy(%q)\n}\n",
      "fn main(%x: (4) f8e4m3) -> (%y) {\n"
      "  %y = copy(%x)\n}\n" },
    /* infinities of E5M2 would saturate */
    { "encode_of_decode",
      "fn main(%x: (4) f8e5m2) -> (%y) {\n" CAST("f", "x", "f32") CAST("y", "f", "f8e5m2") "}\n",
      NULL },
    /* ... and may come from any of several pieces */
    { "encode_of_decode",
      "fn main(%x: (4) f8e5m2) -> (%y) {\n"
      "  %c = concatenate(%x, %x) {axis=0}\n" CAST("f", "c", "f32") CAST("y", "f", "f8e5m2") "}\n",
      NULL },
    { "encode_before_move",
      "fn main(%x: (2,3) f32) -> (%y) {\n"
      "  %t = transpose(%x) {axes=[1,0]}\n" CAST("y", "t", "f8e4m3") "}\n",
      "fn main(%x: (2,3) f32) -> (%y) {\n" CAST(
          "y.cast", "x", "f8e4m3") "  %y = transpose(%y.cast) {axes=[1,0]}\n}\n" },
    /* f32 is wanted as well */
    { "encode_before_move",
      "fn main(%x: (2,3) f32) -> (%t, %y) {\n"
      "  %t = transpose(%x) {axes=[1,0]}\n" CAST("y", "t", "f8e4m3") "}\n",
      NULL },
    { "encode_of_split",
      "fn main(%x: (2,5) f8e4m3) -> (%y, %z) {\n" CAST("f", "x", "f32") SPLIT("a, %b", "f")
          CAST("y", "a", "f8e4m3") CAST("z", "b", "f8e4m3") "}\n",
      "fn main(%x: (2,5) f8e4m3) -> (%a.split as \"y\", %b.split as \"z\") {\n" SPLIT(
          "a.split, %b.split", "x") "}\n" },
    /* a split would store the other piece twice */
    { "encode_of_split",
      "fn main(%x: (2,5) f8e4m3) -> (%a, %z) {\n" CAST("f", "x", "f32") SPLIT("a, %b", "f")
          CAST("z", "b", "f8e4m3") "}\n",
      "fn main(%x: (2,5) f8e4m3) -> (%a, %z.strided_slice as \"z\") {\n" CAST("f", "x", "f32")
          SPLIT("a, %b", "f") "  %z.strided_slice = strided_slice(%x) "
                              "{begin=[0,3], strides=[1,1], size=[2,2]}\n}\n" },
    { "table_of_table",
      "fn main(%x: (700) f8e4m3) -> (%y) {\n" SCALE TABLE("t") TABLE("u") LUT("a", "x", "t")
          LUT("y", "a", "u") "}\n",
      "fn main(%x: (700) f8e4m3) -> (%y) {\n" SCALE TABLE("y.table")
          LUT("y", "x", "y.table") "}\n" },
};

START_TEST(codes_are_moved_as_they_are)
{
    pass_case_check("fake_quant_to_integer", &rows[_i]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("codes");
    TCase *tcase = tcase_create("codes");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_loop_test(tcase, codes_are_moved_as_they_are, 0, N_ROWS(rows));
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
