/* Operands behind an anchor that lie otherwise than its result: each is read by its own strides,
 * and under its own name. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "codegen_c/machine/machine.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"
#include "tests/support/run_generated.h"

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

static const char *const processors[] = { "x86-64-v4", "znver4" };

static void check_on(const char *machine, const char *text, double tolerance)
{
    struct ctx *ctx = ctx_new(NULL);
    const struct generated_case row = { .text = text,
                                        .tolerance = tolerance,
                                        .one_build = true,
                                        .machine = machine_find(ctx, machine) };

    generated_check(&row);
    ctx_free(ctx);
}

/* --- strides ---------------------------------------------------------------------------------- */

/* A result in a slot of a concatenation beside a residual that is dense, and one that lies in a
 * slot of its own, in pixels of another size, as does what the second one is added to. */
static const struct {
    const char *format, *weight, *padding, *groups;
    int channels;
} slots[] = {
    { "f8e4m3", "f8e4m3[16,16,3,3]", "[1,1,1,1]", "1", 16 },
    { "f8e5m2", "f8e4m3[16,16,1,1]", "[0,0,0,0]", "1", 16 },
    { "f8e4m3", "f8e4m3[17,17,1,1]", "[0,0,0,0]", "1", 17 },
    { "f8e3m4", "f6e3m2[24,24,3,3]", "[1,1,1,1]", "1", 24 },
    { "f8e4m3", "f8e4m3[32,1,3,3]", "[1,1,1,1]", "32", 32 },
    { "f8e4m3", "f8e4m3[5,1,3,3]", "[1,1,1,1]", "5", 5 },
    { "f32", "f8e4m3[24,24,3,3]", "[1,1,1,1]", "1", 24 },
    { "f32", "f32[33,33,1,1]", "[0,0,0,0]", "1", 33 },
    { "f32", "f32[16,1,3,3]", "[1,1,1,1]", "16", 16 },
};

/* $T: the format; $C, $D, $F: channels, twice and three times as many; $W: the weight's type; $P,
 * $G: attributes. */
static const char network_of_slots[] =
    "fn main(%x: (1,7,5,$C) $T, %r: (1,7,5,$C) $T) -> (%y) {\n"
    "  const @w : $W = crc32:00000000\n"
    "  const @w2 : $W = crc32:00000000\n"
    "  %a = nn.conv2d(%x, @w) {strides=[1,1], padding=$P, dilation=[1,1], groups=$G, "
    "data_layout=\"NHWC\", "
    "out_layout=\"NHWC\", kernel_layout=\"OIHW\", out_dtype=f32} : (1,7,5,$C) f32\n"
    "  %r0 = cast(%r) {dtype=f32, saturate=true} : (1,7,5,$C) f32\n"
    "  %s = add(%r0, %a) : (1,7,5,$C) f32\n"
    "  %t = cast(%s) {dtype=$T, saturate=true} : (1,7,5,$C) $T\n"
    "  %k = concatenate(%t, %x) {axis=3} : (1,7,5,$D) $T\n"
    "  %b = nn.conv2d(%r, @w2) {strides=[1,1], padding=$P, dilation=[1,1], groups=$G, "
    "data_layout=\"NHWC\", "
    "out_layout=\"NHWC\", kernel_layout=\"OIHW\", out_dtype=f32} : (1,7,5,$C) f32\n"
    "  %t0 = cast(%t) {dtype=f32, saturate=true} : (1,7,5,$C) f32\n"
    "  %u = add(%b, %t0) : (1,7,5,$C) f32\n"
    "  %v = cast(%u) {dtype=$T, saturate=true} : (1,7,5,$C) $T\n"
    "  %l = concatenate(%k, %v) {axis=3} : (1,7,5,$F) $T\n"
    "  %y = cast(%l) {dtype=f32, saturate=true} : (1,7,5,$F) f32\n"
    "}\n";

static const char *network(struct ctx *ctx, int i)
{
    const char *weight = slots[i].weight, *dims = strchr(weight, '[');
    struct str text = { .arena = &ctx->perm };

    for (const char *c = network_of_slots; *c; c++) {
        if (*c != '$') {
            str_addn(&text, c, 1);
            continue;
        }
        switch (*++c) {
        case 'T': str_add(&text, slots[i].format); break;
        case 'P': str_add(&text, slots[i].padding); break;
        case 'G': str_add(&text, slots[i].groups); break;
        case 'W':
            str_printf(&text, "(%.*s) %.*s", (int)strlen(dims) - 2, dims + 1, (int)(dims - weight),
                       weight);
            break;
        default: str_printf(&text, "%d", slots[i].channels * (*c == 'C' ? 1 : *c == 'D' ? 2 : 3));
        }
    }
    return str_text(&text);
}

/* One step of the coarsest format: what is at another place is all of the largest number. */
START_TEST(each_operand_is_read_by_its_own_strides)
{
    struct ctx *ctx = ctx_new(NULL);

    for (int m = 0; m < N_ROWS(processors); m++)
        check_on(processors[m], network(ctx, _i), 0.13);
    ctx_free(ctx);
}
END_TEST

/* --- names ------------------------------------------------------------------------------------ */

/* Two operands behind taps that have variables of their own. */
static const char depthwise_with_two_operands[] =
    "fn main(%x: (1,6,5,33) i8, %r: (1,6,5,33) i8, %g: (1,6,5,33) i8) -> (%y) {\n"
    "  const @w : (33,1,3,3) i8 = crc32:00000000\n"
    "  const @b : (33) i32 = crc32:00000000\n"
    "  const @zero : () i8 = [0]\n"
    "  const @zero32 : () i32 = [0]\n"
    "  const @scale : () f32 = [0.02]\n"
    "  %a = qnn.conv2d(%x, @w, @zero, @zero) {strides=[1,1], padding=[1,1,1,1], dilation=[1,1], "
    "groups=33, data_layout=\"NHWC\", out_layout=\"NHWC\", kernel_layout=\"OIHW\"} : "
    "(1,6,5,33) i32\n"
    "  %c = nn.bias_add(%a, @b) {axis=3} : (1,6,5,33) i32\n"
    "  %q = qnn.requantize(%c, @scale, @zero32, @scale, @zero) {axis=0, rounding=\"double\"} : "
    "(1,6,5,33) i8\n"
    "  %s = qnn.add(%q, %r, @scale, @zero, @scale, @zero, @scale, @zero) : (1,6,5,33) i8\n"
    "  %y = qnn.mul(%s, %g, @scale, @zero, @scale, @zero, @scale, @zero) : (1,6,5,33) i8\n"
    "}\n";

START_TEST(no_variable_takes_an_operands_name)
{
    check_on(processors[_i], depthwise_with_two_operands, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("operands");
    TCase *tcase = tcase_create("operands");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(tcase, 0);
    tcase_add_loop_test(tcase, each_operand_is_read_by_its_own_strides, 0, N_ROWS(slots));
    tcase_add_loop_test(tcase, no_variable_takes_an_operands_name, 0, N_ROWS(processors));
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
