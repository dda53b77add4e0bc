/* The target sim_npu: command streams give what the reference evaluator does, bit by bit (FP8
 * products are exact, integers too), and hostile streams are refused. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/minifloat.h"
#include "partition/targets/sim_npu/sim_npu.h"
#include "tests/support/offload_case.h"

#define QNN_CONSTANTS                                                                              \
    "  const @xz : () i8 = [3]\n  const @wz : () i8 = [0]\n  const @s : () f32 = [0.004]\n"        \
    "  const @s4 : (4) f32 = [0.004, 0.002, 0.011, 0.03]\n  const @sz : () i32 = [0]\n"            \
    "  const @os : () f32 = [0.9]\n  const @oz : () i8 = [-5]\n"

static const struct offload_case cases[] = {
    { .composites = "sim_npu.cast sim_npu.conv2d",
      .precision = "fp8",
      .all_builds = true,
      .text =
          "fn main(%x: (1,3,9,8) f32) -> (%y) {\n"
          "  const @w : (4,3,3,3) f32 = [0, ...]\n"
          "  const @b : (4) f32 = [1,2,3,4]\n"
          "  %c = nn.conv2d(%x, @w) {strides=[2,1], padding=[1,0,1,2], dilation=[1,2], groups=1}\n"
          "  %d = nn.bias_add(%c, @b) {axis=1}\n"
          "  %y = nn.relu(%d)\n}" },
    { .composites = "sim_npu.cast sim_npu.conv2d sim_npu.conv2d",
      .precision = "fp8=f8e5m2",
      .text = "fn main(%x: (2,4,6,6) f32) -> (%y) {\n"
              "  const @v : (4,1,3,3) f32 = [0, ...]\n"
              "  const @w : (6,2,1,1) f32 = [0, ...]\n"
              "  %c = nn.conv2d(%x, @v) {padding=[1,1,1,1], groups=4}\n"
              "  %d = clip(%c) {a_min=0, a_max=6}\n"
              "  %y = nn.conv2d(%d, @w) {groups=2}\n}" },
    { .composites = "sim_npu.cast sim_npu.conv2d sim_npu.cast sim_npu.conv2d",
      .precision = "fp8", /* a residual block: the sum stands behind the second convolution */
      .text = "fn main(%x: (1,4,5,5) f32) -> (%y) {\n"
              "  const @v : (4,4,3,3) f32 = [0, ...]\n"
              "  const @w : (4,4,3,3) f32 = [0, ...]\n"
              "  %c = nn.conv2d(%x, @v) {padding=[1,1,1,1], groups=1}\n"
              "  %d = nn.relu(%c)\n"
              "  %e = nn.conv2d(%d, @w) {padding=[1,1,1,1], groups=1}\n"
              "  %f = add(%d, %e)\n"
              "  %y = nn.relu(%f)\n}" },
    { .composites = "sim_npu.cast sim_npu.conv1d",
      .precision = "fp8",
      .text = "fn main(%x: (2,4,9) f32) -> (%y) {\n"
              "  const @w : (6,2,3) f32 = [0, ...]\n"
              "  %y = nn.conv1d(%x, @w) {strides=[2], padding=[0,2], dilation=[2], groups=2}\n}" },
    { .composites = "sim_npu.cast sim_npu.dense sim_npu.dense",
      .precision = "fp8",
      .text = "fn main(%x: (3,7) f32) -> (%y) {\n"
              "  const @v : (5,7) f32 = [0, ...]\n"
              "  const @w : (2,5) f32 = [0, ...]\n"
              "  const @b : (5) f32 = [1,2,3,4,5]\n"
              "  %c = nn.dense(%x, @v)\n  %d = nn.bias_add(%c, @b) {axis=1}\n"
              "  %e = nn.relu(%d)\n  %y = nn.dense(%e, @w)\n}" },
    { .composites = "sim_npu.cast sim_npu.max_pool2d sim_npu.dense",
      .precision = "fp8",
      .text = "fn main(%x: (1,2,6,5) f32) -> (%y) {\n"
              "  const @w : (3,12) f32 = [0, ...]\n"
              "  %p = nn.max_pool2d(%x) {pool_size=[2,2], strides=[2,2]}\n"
              "  %f = reshape(%p) {shape=[1,12]}\n"
              "  %y = nn.dense(%f, @w)\n}" },
    { .composites = "sim_npu.add sim_npu.act sim_npu.max_pool2d",
      .text = "fn main(%x: (1,2,6,5) f32, %z: (1,2,6,5) f32) -> (%y, %p) {\n"
              "  %a = add(%x, %z)\n  %y = nn.relu(%a)\n"
              "  %c = clip(%x) {a_min=-1, a_max=0.5}\n"
              "  %p = nn.max_pool2d(%c) {pool_size=[3,2], strides=[2,2], padding=[1,0,1,1]}\n}" },
    { .composites = "sim_npu.qnn_conv2d sim_npu.max_pool2d sim_npu.qnn_conv2d",
      .low = -128,
      .high = 128,
      .all_builds = true,
      .text = "fn main(%x: (1,2,7,6) i8) -> (%y) {\n" QNN_CONSTANTS
              "  const @w : (4,2,3,3) i8 = [0, ...]\n  const @wd : (4,1,3,3) i8 = [0, ...]\n"
              "  const @b : (4) i32 = [1000,-2000,30,4]\n"
              "  %c = qnn.conv2d(%x, @w, @xz, @wz) {strides=[1,1], padding=[1,1,1,1], groups=1}\n"
              "  %d = nn.bias_add(%c, @b) {axis=1}\n"
              "  %e = qnn.requantize(%d, @s4, @sz, @os, @oz) {axis=1}\n"
              "  %f = nn.max_pool2d(%e) {pool_size=[2,2], strides=[2,2]}\n"
              "  %g = qnn.conv2d(%f, @wd, @oz, @wz) {padding=[1,1,1,1], groups=4}\n"
              "  %y = qnn.requantize(%g, @s, @sz, @os, @oz) {axis=1}\n}" },
    { .composites = "sim_npu.qnn_dense sim_npu.qnn_add",
      .low = -128,
      .high = 128,
      .text = "fn main(%x: (3,7) i8, %z: (3,4) i8) -> (%y) {\n" QNN_CONSTANTS
              "  const @w : (4,7) i8 = [0, ...]\n"
              "  %c = qnn.dense(%x, @w, @xz, @wz)\n"
              "  %d = qnn.requantize(%c, @s4, @sz, @os, @oz) {axis=1}\n"
              "  %y = qnn.add(%d, %z, @os, @oz, @s, @xz, @os, @oz)\n}" },
    /* Too big for the chip, or more than it has. */
    { .left = "cast nn.conv2d multiply",
      .tolerance = 1e-6,
      .precision = "fp8",
      .composites = "",
      .text = "fn main(%x: (1,2,240,240) f32) -> (%y) {\n"
              "  const @w : (4,2,3,3) f32 = [0, ...]\n"
              "  %y = nn.conv2d(%x, @w) {groups=1}\n}" },
    { .left = "nn.conv2d nn.softmax",
      .tolerance = 1e-6,
      .composites = "",
      .text = "fn main(%x: (1,2,4,4) f32) -> (%y) {\n"
              "  const @w : (4,2,3,3) f32 = [0, ...]\n"
              "  %c = nn.conv2d(%x, @w) {groups=1}\n  %y = nn.softmax(%c) {axis=1}\n}" },
};

START_TEST(streams_compute_what_the_graph_does)
{
    struct offload_case row = cases[_i];

    row.target = "sim_npu";
    offload_check(&row);
}
END_TEST

enum { MAX_WORDS = 128, MAX_CONSTANTS = 16 };

/* Commands, the END among them, and 16 bytes of constants as a stream that is well formed. */
static enum sim_npu_result run_stream(const uint32_t *commands, uint32_t n,
                                      const struct sim_npu_buffer *in,
                                      const struct sim_npu_buffer *out, void *scratch,
                                      uint32_t scratch_bytes)
{
    uint32_t words[SIM_NPU_HEADER_WORDS + MAX_WORDS + MAX_CONSTANTS / 4] = { 0 };
    const uint32_t end = SIM_NPU_HEADER_WORDS + n + MAX_CONSTANTS / 4;
    uint32_t crc = 0xFFFFFFFFU;

    ck_assert(n <= MAX_WORDS);
    memcpy(&words[SIM_NPU_HEADER_WORDS], commands, 4 * (size_t)n);
    for (const uint8_t *byte = (const uint8_t *)&words[SIM_NPU_HEADER_WORDS];
         byte < (const uint8_t *)&words[end]; byte++) {
        crc ^= *byte;
        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ (0xEDB88320U & (0U - (crc & 1U)));
    }
    words[0] = SIM_NPU_MAGIC;
    words[1] = SIM_NPU_VERSION;
    words[2] = words[3] = 1;
    words[4] = n;
    words[5] = MAX_CONSTANTS;
    words[8] = ~crc;
    return sim_npu_execute((const uint8_t *)words, 4 * end, in, 1, out, 1, scratch, scratch_bytes);
}

/* n numbers to a format of 8 bits. */
static enum sim_npu_result convert(uint32_t format, const float *x, uint8_t *y, uint32_t n)
{
    const struct sim_npu_buffer in = { (void *)(uintptr_t)x, 4 * n }, out = { y, n };
    const uint32_t far = 64 * 1024;
    const uint32_t commands[] = {
        SIM_NPU_LOAD | 5 << 8,
        SIM_NPU_INPUT,
        0,
        0,
        4 * n,
        SIM_NPU_CONVERT | 6 << 8,
        0,
        far,
        n,
        SIM_NPU_F32,
        format,
        SIM_NPU_STORE | 5 << 8,
        SIM_NPU_OUTPUT,
        0,
        far,
        n,
        SIM_NPU_END | 1 << 8,
    };

    return run_stream(commands, sizeof commands / sizeof *commands, &in, &out, NULL, 0);
}

/* The simulator rounds by itself; base/minifloat.h is tested against others' tables. */
START_TEST(its_fp8_is_that_of_the_standard)
{
    const struct minifloat *format =
        dtype_minifloat(_i == SIM_NPU_E4M3 ? DTYPE_F8E4M3 : DTYPE_F8E5M2);
    enum { N = 8192 };
    static float x[N];
    static uint8_t y[N];
    unsigned state = 1;

    for (int i = 0; i < N; i++) {
        uint32_t bits;

        state = state * 1664525u + 1013904223u;
        bits = i < 2048 ? (state & 0x80000000u) | (0x38000000u + ((state >> 9) << 3)) : state;
        if ((bits & 0x7F800000u) == 0x7F800000u)
            bits &= 0xBFFFFFFFu;
        memcpy(&x[i], &bits, 4);
    }
    for (int code = 0; code < 256; code++) { /* numbers of the format, and the middles between */
        const double a = minifloat_decode(format, (unsigned)code);
        const double b = minifloat_decode(format, (unsigned)(code + 1) & 255u);

        if (isfinite(a) && isfinite(b)) {
            x[2048 + 2 * code] = (float)a;
            x[2048 + 2 * code + 1] = (float)((a + b) / 2);
        }
    }
    ck_assert_int_eq(convert((uint32_t)_i, x, y, N), SIM_NPU_OK);
    for (int i = 0; i < N; i++)
        ck_assert_msg(y[i] == (uint8_t)minifloat_encode(format, (double)x[i], true),
                      "%a became %02x, wanted %02x", (double)x[i], y[i],
                      (unsigned)minifloat_encode(format, (double)x[i], true));
}
END_TEST

/* Anything but a whole stream is refused. */
START_TEST(broken_streams_are_refused)
{
    uint8_t stream[4 * (SIM_NPU_HEADER_WORDS + 6)] = { 0 };
    const struct sim_npu_buffer none = { NULL, 0 };
    uint8_t y[4];
    const float x = 1;

    ck_assert_int_eq(convert(SIM_NPU_E4M3, &x, y, 1), SIM_NPU_OK);
    ck_assert_int_eq(convert(17, &x, y, 1), SIM_NPU_BAD_OPERAND);
    ck_assert_int_eq(sim_npu_execute(NULL, 0, &none, 0, &none, 0, NULL, 0), SIM_NPU_BAD_STREAM);
    for (uint32_t n = 0; n <= sizeof stream; n++)
        ck_assert_int_eq(sim_npu_execute(stream, n, &none, 0, &none, 0, NULL, 0),
                         SIM_NPU_BAD_STREAM);
}
END_TEST

/* Mostly small: big convolutions take their time and show no more. */
static uint32_t random_word(uint32_t *state)
{
    static const uint32_t likely[] = { 0, 1, 1, 2, 2, 3, 4, 5, 16, 64, 196608, 0xFFFFFFFFU };

    *state = *state * 1664525U + 1013904223U;
    return *state >> 28 == 15 ? *state : likely[(*state >> 16) % (sizeof likely / sizeof *likely)];
}

/* Commands with any operands: sanitizers see what reaches beyond the memory that is there. */
START_TEST(random_commands_do_no_harm)
{
    static const uint32_t n_operands[] = { 0, 4, 4, 22, 6, 4, 5, 5, 9, 14, 14 };
    uint32_t state = 99, n_ok = 0;
    uint8_t in_bytes[64], out_bytes[64], scratch[64] = { 0 };
    const struct sim_npu_buffer in = { in_bytes, sizeof in_bytes };
    const struct sim_npu_buffer out = { out_bytes, sizeof out_bytes };

    memset(in_bytes, 0x3F, sizeof in_bytes);
    for (int round = 0; round < 4000; round++) {
        uint32_t commands[MAX_WORDS], n = 0;

        for (int i = 0; i < 3; i++) {
            const uint32_t opcode = 1 + (random_word(&state) >> 8) % (SIM_NPU_OPCODES - 1);

            commands[n++] = opcode | (1 + n_operands[opcode]) << 8;
            for (uint32_t k = 0; k < n_operands[opcode]; k++)
                commands[n++] = random_word(&state);
        }
        commands[n++] = SIM_NPU_END | 1 << 8;
        n_ok += run_stream(commands, n, &in, &out, scratch, sizeof scratch) == SIM_NPU_OK;
    }
    ck_assert_uint_lt(n_ok, 4000);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("target_sim_npu");
    TCase *tcase = tcase_create("rows");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(tcase, 0); /* compilers on a busy machine */
    tcase_add_loop_test(tcase, streams_compute_what_the_graph_does, 0,
                        sizeof cases / sizeof *cases);
    tcase_add_loop_test(tcase, its_fp8_is_that_of_the_standard, SIM_NPU_E4M3, SIM_NPU_I8);
    tcase_add_test(tcase, broken_streams_are_refused);
    tcase_add_test(tcase, random_commands_do_no_harm);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
