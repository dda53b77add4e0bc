/* Half-precision models compute in f32; what only moves them stays as it is.
 * Numbers in the rows are such that halves hold the results exactly. */
#include <check.h>
#include <stdlib.h>

#include "tests/support/pass_case.h"

static const struct pass_case rows[] = {
    /* parameters, constants, results; what moves them; a result that nobody calculates */
    { NULL,
      "fn main(%x: (2,1) f16, %i: (2) i64) -> (%y, %z, %x as \"p\") {\n"
      "  const @k : (2,1) f16 = [2, -0.5]\n"
      "  const @t : (3,2) f16 = [1, 2, 3, 4, 5, 6]\n"
      "  %r = nn.relu(%x) : (2,1) f16 from Relu \"r\" #0\n"
      "  %c = concatenate(%r, %x, @k) {axis=1} : (2,3) f16\n"
      "  %y = multiply(%c, @k) : (2,3) f16\n"
      "  %z = take(@t, %i) {axis=0} : (2,2) f16\n"
      "}\n",
      "fn main(%x: (2,1) f16, %i: (2) i64) -> (%y, %z, %x as \"p\") {\n"
      "  const @k : (2,1) f32 = [2, -0.5]\n"
      "  const @t : (3,2) f32 = [1, 2, 3, 4, 5, 6]\n"
      "  %x_2 = cast(%x) {dtype=f32, saturate=true} : (2,1) f32  from Relu \"r\" #0\n"
      "  %r = nn.relu(%x_2) : (2,1) f32  from Relu \"r\" #0\n"
      "  %c = concatenate(%r, %x_2, @k) {axis=1} : (2,3) f32\n"
      "  %y_2 = multiply(%c, @k) : (2,3) f32\n"
      "  %z_2 = take(@t, %i) {axis=0} : (2,2) f32\n"
      "  %y = cast(%y_2) {dtype=f16, saturate=true} : (2,3) f16\n"
      "  %z = cast(%z_2) {dtype=f16, saturate=true} : (2,2) f16\n"
      "}\n" },

    /* f32 outside, one result twice, bf16 */
    { NULL,
      "fn main(%x: (4) f32) -> (%f, %h, %h as \"again\") {\n"
      "  %b = cast(%x) {dtype=bf16, saturate=true} : (4) bf16\n"
      "  %c = clip(%b) {a_min=0, a_max=0} : (4) bf16\n"
      "  %h = negative(%c) : (4) bf16\n"
      "  %f = cast(%h) {dtype=f32, saturate=true} : (4) f32\n"
      "}\n",
      "fn main(%x: (4) f32) -> (%f, %h, %h as \"again\") {\n"
      "  %b = cast(%x) {dtype=f32, saturate=true} : (4) f32\n"
      "  %c = clip(%b) {a_min=0, a_max=0} : (4) f32\n"
      "  %h_2 = negative(%c) : (4) f32\n"
      "  %f = cast(%h_2) {dtype=f32, saturate=true} : (4) f32\n"
      "  %h = cast(%h_2) {dtype=bf16, saturate=true} : (4) bf16\n"
      "}\n" },

    /* nothing is calculated with halves: moves, casts, weights that a product decodes */
    { NULL,
      "fn main(%x: (2,3) f16, %v: (1,3) f32) -> (%t, %f, %d) {\n"
      "  const @w : (2,3) f16 = [1, 2, 3, 4, 5, 6]\n"
      "  %t = transpose(%x) {axes=[1,0]} : (3,2) f16\n"
      "  %f = cast(%x) {dtype=f32, saturate=true} : (2,3) f32\n"
      "  %d = nn.dense(%v, @w) {out_dtype=f32} : (1,2) f32\n"
      "}\n",
      "fn main(%x: (2,3) f16, %v: (1,3) f32) -> (%t, %f, %d) {\n"
      "  const @w : (2,3) f16 = [1, 2, 3, 4, 5, 6]\n"
      "  %t = transpose(%x) {axes=[1,0]} : (3,2) f16\n"
      "  %f = cast(%x) {dtype=f32, saturate=true} : (2,3) f32\n"
      "  %d = nn.dense(%v, @w) {out_dtype=f32} : (1,2) f32\n"
      "}\n" },
};

START_TEST(halves_that_are_calculated_with_become_f32)
{
    pass_case_check("widen_halves", &rows[_i]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("widen_halves");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_set_timeout(tests, 0);
    tcase_add_loop_test(tests, halves_that_are_calculated_with_become_f32, 0, N_ROWS(rows));
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
