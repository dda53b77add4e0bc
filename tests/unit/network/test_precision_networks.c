/* Whole networks in every precision: the generated C has the bits of the simulation, on every
 * processor; its weights take the bits that the format says, its arena likewise. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "codegen_c/codegen.h"
#include "codegen_c/machine/machine.h"
#include "tests/support/bits.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"
#include "tests/support/precision.h"

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

/* Besides codes, weights have for each channel a bias and a scale, of 4 bytes each; in integers the
 * bias has 4 or 8, the factor 5. Beyond the last codes of a dense layer with one row 112 bytes are
 * read, or 28 codes where these are not words, as of f16. MX has a byte for each of 336 blocks.
 * int8 has 96 sums of weights, those of each layer up to the next 32; 144 bytes likewise behind its
 * codes; and 48 since it reads patches of 9 numbers as 12. Numbers of the quantisation: FP8 has
 * three scales of values, int8 ten zero points, shifts, factors and scales, of which four vanish
 * where inputs and outputs are integers. */
static const struct {
    struct precision_case mode;
    int bits, of_channel, besides; /* of weights: in bytes but for the first */
    int numbers;                   /* bytes of each number in the arena */
    int scratch;                   /* the most besides them, in bytes */
} modes[] = {
    { { "f32", false, false, false }, 32, 4, 112, 4, 0 },
    { { "f16w", false, false, false }, 16, 4, 56, 4, 0 },
    { { "bf16w", false, false, false }, 16, 4, 112, 4, 0 },
    { { "fp8w", false, false, false }, 8, 8, 112, 4, 0 },
    { { "int8w", false, false, false }, 8, 8, 112, 4, 0 },
    { { "int8w=i4", false, false, false }, 4, 8, 112, 4, 0 },
    { { "afp=afp5", false, false, false }, 5, 4, 18, 4, 0 },
    { { "afp=afp6", false, false, false }, 6, 4, 21, 4, 0 },
    { { "mxfp4", false, false, false }, 4, 4, 448, 4, 0 },
    { { "mxfp6", false, false, false }, 6, 4, 357, 4, 0 },
    { { "mxfp8", false, false, false }, 8, 4, 448, 4, 0 },
    { { "fp8", false, false, false }, 8, 8, 112, 1, 0 },
    { { "fp8", true, false, false }, 8, 8, 112 + 12, 1, 0 },
    { { "fp8=f8e5m2", true, false, false }, 8, 8, 112 + 12, 1, 0 },
    { { "fp8=f8e3m4,f8e4m3fnuz", true, false, false }, 8, 8, 112 + 12, 1, 0 },
    { { "fp8=hfp8_143,f8e5m2fnuz", true, false, false }, 8, 8, 112 + 12, 1, 0 },
    { { "fp8", true, true, true }, 8, 13, 0, 1, 576 },
    { { "int8", true, false, false }, 8, 9, 576 + 40, 1, 1008 },
    { { "int8", true, false, true }, 8, 9, 576 + 24, 1, 1008 },
};

/* Two samples of ramps: enough for ranges. */
static bool load(void *user, struct ctx *ctx, struct bulk *bulk, int64_t index,
                 struct tensor *inputs)
{
    const int64_t dims[] = { 1, 1, 8, 8 };
    const struct type type = type_make(DTYPE_F32, 4, dims);

    (void)user;
    (void)ctx;
    inputs[0] = tensor_new(bulk, &type);
    for (int64_t j = 0; j < type_elements(&type); j++)
        dtype_store(DTYPE_F32, inputs[0].data, j, (double)((j * 37 + index * 11) % 64) / 16 - 2);
    return true;
}

static struct module *quantized(struct ctx *ctx, const char *path, int mode)
{
    const struct calibration_source samples = { .n = 2, .load = load };

    return precision_network(ctx, path, NULL, &modes[mode].mode, &samples);
}

START_TEST(digits_have_the_bits_of_the_simulation)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = quantized(ctx, "examples/digits/digits.onnx", _i);

    bits_check_module(module, NULL);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* What the network takes on a machine without vectors. */
static struct codegen_result generated(int mode)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = quantized(ctx, "examples/digits/digits.onnx", mode);
    const struct codegen_options options = { .name = "digits",
                                             .dir = ".",
                                             .model_file = "digits.onnx",
                                             .model_sha256 = "",
                                             .command = "",
                                             .machine = machine_find(ctx, "cortex-m0") };
    struct codegen_result result;

    ck_assert_msg(codegen_sizes(module, &options, &result), "%s", expect_text(ctx));
    module_free(module);
    ctx_free(ctx);
    return result; /* for its numbers: what it points to is gone */
}

/* Of the digits: two convolutions of 16 and 32 channels, a dense layer of 10, whose last block of
 * four is filled up. */
enum { CODES = 9 * 16 + 9 * 16 * 32 + 512 * 12, CHANNELS = 16 + 32 + 10 };

START_TEST(weights_take_the_bits_of_their_format)
{
    const size_t codes = (size_t)(CODES * modes[_i].bits / 8);

    ck_assert_uint_eq(generated(_i).weight_bytes,
                      codes + (size_t)(CHANNELS * modes[_i].of_channel + modes[_i].besides));
}
END_TEST

/* Where most is alive, the first convolution's results are read, and the second one's written. */
START_TEST(the_arena_takes_the_bytes_of_what_is_alive)
{
    const int numbers = 8 * 8 * (16 + 32) * modes[_i].numbers;

    ck_assert_uint_le(generated(_i).arena_bytes, (size_t)(numbers + modes[_i].scratch));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("precision_networks");
    TCase *tcase = tcase_create("precision_networks");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(tcase, 0);
    tcase_add_loop_test(tcase, weights_take_the_bits_of_their_format, 0, N_ROWS(modes));
    tcase_add_loop_test(tcase, the_arena_takes_the_bytes_of_what_is_alive, 0, N_ROWS(modes));
    tcase_add_loop_test(tcase, digits_have_the_bits_of_the_simulation, 0, N_ROWS(modes));
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
