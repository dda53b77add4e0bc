/* Recurrent networks as generated C: the kernels of codegen_c/kernels/recurrent/recurrent.c. */
#include <check.h>
#include <stdlib.h>

#include "codegen_c/machine/machine.h"
#include "tests/support/kernel_case.h"
#include "tests/support/run_generated.h"

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

static const struct kernel_case cells[] = {
    { "rnn", "nn.rnn", "hidden_size=5, direction=\"forward\"",
      "f32[4,1,3]; const f32[1,5,3]; const f32[1,5,5]; const f32[1,10]" },
    { "rnn", "nn.rnn", "hidden_size=9, direction=\"bidirectional\"",
      "f32[4,2,3]; const f32[2,9,3]; const f32[2,9,9]; const f32[2,18]; i32[2] 2 4; "
      "f32[2,2,9]" },
    { "rnn", "nn.rnn", "hidden_size=8, direction=\"reverse\", batch_major=true",
      "f32[2,3,3]; const f32[1,8,3]; const f32[1,8,8]; _; _; f32[2,1,8]" },
    { "rnn", "nn.rnn",
      "hidden_size=4, direction=\"forward\", clip=0.5, linear_before_reset=true, "
      "input_forget=true",
      "f32[3,2,3]; const f32[1,4,3]; const f32[1,4,4]; const f32[1,8]; i32[2] 0 3" },
    { "rnn", "nn.rnn", "hidden_size=4, direction=\"bidirectional\", batch_major=true",
      "f64[2,3,3]; const f64[2,4,3]; const f64[2,4,4]; const f64[2,8]; i32[2] 3 1" },
    { "rnn", "nn.rnn",
      "hidden_size=4, direction=\"forward\", activations=\"HardSigmoid\", "
      "activation_alpha=[0.3], activation_beta=[0.4]",
      "f32[3,2,3]; const f32[1,4,3]; const f32[1,4,4]; const f32[1,8]" },
    { "rnn", "nn.rnn",
      "hidden_size=4, direction=\"forward\", activations=\"Affine\", activation_alpha=[0.3], "
      "activation_beta=[0.4]",
      "f32[3,2,3]; const f32[1,4,3]; const f32[1,4,4]; const f32[1,8]" },
    { "gru", "nn.gru", "hidden_size=5, direction=\"forward\"",
      "f32[4,1,3]; const f32[1,15,3]; const f32[1,15,5]; const f32[1,30]" },
    { "gru", "nn.gru", "hidden_size=9, direction=\"bidirectional\"",
      "f32[4,2,3]; const f32[2,27,3]; const f32[2,27,9]; const f32[2,54]; i32[2] 2 4; "
      "f32[2,2,9]" },
    { "gru", "nn.gru", "hidden_size=8, direction=\"reverse\", batch_major=true",
      "f32[2,3,3]; const f32[1,24,3]; const f32[1,24,8]; _; _; f32[2,1,8]" },
    { "gru", "nn.gru",
      "hidden_size=4, direction=\"forward\", clip=0.5, linear_before_reset=true, "
      "input_forget=true",
      "f32[3,2,3]; const f32[1,12,3]; const f32[1,12,4]; const f32[1,24]; i32[2] 0 3" },
    { "gru", "nn.gru", "hidden_size=4, direction=\"bidirectional\", batch_major=true",
      "f64[2,3,3]; const f64[2,12,3]; const f64[2,12,4]; const f64[2,24]; i32[2] 3 1" },
    { "gru", "nn.gru",
      "hidden_size=4, direction=\"forward\", activations=\"HardSigmoid,ScaledTanh\", "
      "activation_alpha=[0.3,0.3], activation_beta=[0.4,0.4]",
      "f32[3,2,3]; const f32[1,12,3]; const f32[1,12,4]; const f32[1,24]" },
    { "gru", "nn.gru",
      "hidden_size=4, direction=\"forward\", activations=\"Softplus,LeakyRelu\", "
      "activation_alpha=[0.3,0.3], activation_beta=[0.4,0.4]",
      "f32[3,2,3]; const f32[1,12,3]; const f32[1,12,4]; const f32[1,24]" },
    { "lstm", "nn.lstm", "hidden_size=5, direction=\"forward\"",
      "f32[4,1,3]; const f32[1,20,3]; const f32[1,20,5]; const f32[1,40]" },
    { "lstm", "nn.lstm", "hidden_size=9, direction=\"bidirectional\"",
      "f32[4,2,3]; const f32[2,36,3]; const f32[2,36,9]; const f32[2,72]; i32[2] 2 4; "
      "f32[2,2,9]; f32[2,2,9]; const f32[2,27]" },
    { "lstm", "nn.lstm", "hidden_size=8, direction=\"reverse\", batch_major=true",
      "f32[2,3,3]; const f32[1,32,3]; const f32[1,32,8]; _; _; f32[2,1,8]" },
    { "lstm", "nn.lstm",
      "hidden_size=4, direction=\"forward\", clip=0.5, linear_before_reset=true, "
      "input_forget=true",
      "f32[3,2,3]; const f32[1,16,3]; const f32[1,16,4]; const f32[1,32]; i32[2] 0 3; _; "
      "f32[1,2,4]; const f32[1,12]" },
    { "lstm", "nn.lstm", "hidden_size=4, direction=\"bidirectional\", batch_major=true",
      "f64[2,3,3]; const f64[2,16,3]; const f64[2,16,4]; const f64[2,32]; i32[2] 3 1" },
    { "lstm", "nn.lstm",
      "hidden_size=4, direction=\"forward\", activations=\"HardSigmoid,Elu,Softsign\", "
      "activation_alpha=[0.3,0.3,0.3], activation_beta=[0.4,0.4,0.4]",
      "f32[3,2,3]; const f32[1,16,3]; const f32[1,16,4]; const f32[1,32]" },
    { "lstm", "nn.lstm",
      "hidden_size=4, direction=\"forward\", activations=\"Sigmoid,ThresholdedRelu,Relu\", "
      "activation_alpha=[0.3,0.3,0.3], activation_beta=[0.4,0.4,0.4]",
      "f32[3,2,3]; const f32[1,16,3]; const f32[1,16,4]; const f32[1,32]" },
};

/* More steps, and more gates, than a tile of the inputs' products has rows and columns, some left
 * over; sequences of other lengths. */
#define STATE_WEIGHTS                                                                              \
    " 0.11 -0.13 0.07 0.02 -0.09 0.05 -0.03" /* else roundings grow with the steps */
static const struct kernel_case ahead[] = {
    { "rnn", "nn.rnn", "hidden_size=45, direction=\"forward\"",
      "f32[17,2,6]; const f32[1,45,6]; const f32[1,45,45]" STATE_WEIGHTS
      "; const f32[1,90]; i32[2] 0 13" },
    { "rnn", "nn.rnn", "hidden_size=5, direction=\"bidirectional\", batch_major=true",
      "f32[2,2,6]; const f32[2,5,6]; const f32[2,5,5]" STATE_WEIGHTS },
    { "gru", "nn.gru", "hidden_size=35, direction=\"bidirectional\"",
      "f32[19,2,6]; const f32[2,105,6]; const f32[2,105,35]" STATE_WEIGHTS
      "; const f32[2,210]; i32[2] 19 4; f32[2,2,35]" },
    { "gru", "nn.gru", "hidden_size=35, direction=\"reverse\", linear_before_reset=true",
      "f32[9,1,6]; const f32[1,105,6]; const f32[1,105,35]" STATE_WEIGHTS "; const f32[1,210]" },
    { "lstm", "nn.lstm", "hidden_size=33, direction=\"bidirectional\", batch_major=true",
      "f32[2,11,6]; const f32[2,132,6]; const f32[2,132,33]" STATE_WEIGHTS
      "; const f32[2,264]; i32[2] 11 7; f32[2,2,33]; f32[2,2,33]; const f32[2,99]" },
    { "lstm", "nn.lstm", "hidden_size=9, direction=\"reverse\"",
      "f32[5,2,6]; const f32[1,36,6]; const f32[1,36,9]" STATE_WEIGHTS "; const f32[1,72]" },
};

/* More sequences than a tile has rows, some left over; one step, one that is reversed. */
static const struct kernel_case together[] = {
    { "rnn", "nn.rnn", "hidden_size=45, direction=\"bidirectional\"",
      "f32[5,17,6]; const f32[2,45,6]; const f32[2,45,45]" STATE_WEIGHTS "; const f32[2,90]" },
    { "rnn", "nn.rnn", "hidden_size=5, direction=\"bidirectional\", batch_major=true",
      "f32[15,3,6]; const f32[2,5,6]; const f32[2,5,5]" STATE_WEIGHTS "; _; _; f32[15,2,5]" },
    { "gru", "nn.gru", "hidden_size=35, direction=\"bidirectional\", clip=0.5",
      "f32[3,19,6]; const f32[2,105,6]; const f32[2,105,35]" STATE_WEIGHTS
      "; const f32[2,210]; _; f32[2,19,35]" },
    { "gru", "nn.gru", "hidden_size=9, direction=\"bidirectional\", batch_major=true",
      "f32[16,3,6]; const f32[2,27,6]; const f32[2,27,9]" STATE_WEIGHTS "; _; _; f32[16,2,9]" },
    { "gru", "nn.gru",
      "hidden_size=35, direction=\"reverse\", linear_before_reset=true, batch_major=true",
      "f32[9,2,6]; const f32[1,105,6]; const f32[1,105,35]" STATE_WEIGHTS "; const f32[1,210]" },
    { "lstm", "nn.lstm", "hidden_size=33, direction=\"bidirectional\", batch_major=true",
      "f32[11,2,6]; const f32[2,132,6]; const f32[2,132,33]" STATE_WEIGHTS
      "; const f32[2,264]; _; f32[11,2,33]; f32[11,2,33]; const f32[2,99]" },
    { "lstm", "nn.lstm", "hidden_size=9, direction=\"reverse\", input_forget=true",
      "f32[5,2,6]; const f32[1,36,6]; const f32[1,36,9]" STATE_WEIGHTS "; const f32[1,72]" },
    { "lstm", "nn.lstm", "hidden_size=128, direction=\"forward\"",
      "f32[1,8,6]; const f32[1,512,6]; const f32[1,512,128]" STATE_WEIGHTS },
};

/* Also where stripes are looked for without being asked for, which see inputs that are absent. */
START_TEST(steps_run_in_every_direction_and_form)
{
    static const char *const names[] = { NULL, "sapphirerapids" };
    struct ctx *ctx = ctx_new("kernels_recurrent");

    kernel_cases_check_as(cells, N_ROWS(cells), 1e-5, WINOGRAD_AUTO,
                          names[_i] ? machine_find(ctx, names[_i]) : NULL);
    ctx_free(ctx);
}
END_TEST

START_TEST(inputs_of_several_steps_are_multiplied_at_once)
{
    static const char *const names[] = { NULL, "x86-64", "x86-64-v4", "cortex-m4" };
    struct ctx *ctx = ctx_new("kernels_recurrent");

    kernel_cases_check_as(ahead, N_ROWS(ahead), 1e-5, WINOGRAD_AUTO,
                          names[_i] ? machine_find(ctx, names[_i]) : NULL);
    ctx_free(ctx);
}
END_TEST

START_TEST(several_sequences_are_multiplied_at_once)
{
    static const char *const names[] = { "x86-64", "x86-64-v3", "x86-64-v4", "aarch64" };
    struct ctx *ctx = ctx_new("kernels_recurrent");

    kernel_cases_check_as(together, N_ROWS(together), 1e-5, WINOGRAD_AUTO,
                          machine_find(ctx, names[_i]));
    ctx_free(ctx);
}
END_TEST

/* Weights of the state that the second cache does not hold are read forwards and backwards by
 * turns; with rows that are left over, and where the inputs' are multiplied step by step. */
START_TEST(large_weights_are_read_by_turns)
{
    static const struct kernel_case large[] = {
        { "rnn", "nn.rnn", "hidden_size=229, direction=\"forward\"",
          "f32[5,1,6]; const f32[1,229,6]; const f32[1,229,229]" STATE_WEIGHTS },
        { "gru", "nn.gru", "hidden_size=133, direction=\"bidirectional\"",
          "f32[4,2,6]; const f32[2,399,6]; const f32[2,399,133]" STATE_WEIGHTS "; _; i32[2] 4 3" },
        { "gru", "nn.gru", "hidden_size=135, direction=\"reverse\", linear_before_reset=true",
          "f32[4,1,6]; const f32[1,405,6]; const f32[1,405,135]" STATE_WEIGHTS },
        { "lstm", "nn.lstm", "hidden_size=113, direction=\"bidirectional\"",
          "f32[5,1,6]; const f32[2,452,6]; const f32[2,452,113]" STATE_WEIGHTS },
    };
#define LSTM(hidden, rows)                                                                         \
    "fn main(%x: (4,1,6) f32) -> (%y) {\n"                                                         \
    "  const @w : (1," rows ",6) f32 = crc32:00000000\n"                                           \
    "  const @r : (1," rows "," hidden ") f32 = crc32:00000000\n"                                  \
    "  %y, %h, %c = nn.lstm(%x, @w, @r) {hidden_size=" hidden                                      \
    ", direction=\"forward\"} : (4,1,1," hidden ") f32, (1,1," hidden ") f32, (1,1," hidden        \
    ") f32\n"                                                                                      \
    "}\n"
    static const struct {
        const char *text;
        int by_turns;
    } sizes[] = { { LSTM("110", "440"), 0 }, { LSTM("111", "444"), 2 } }; /* 192 KiB are 110.8 */
    struct ctx *ctx = ctx_new("kernels_recurrent");
    struct generated_case row = { .machine = machine_find(ctx, "x86-64") };

    kernel_cases_check_as(large, N_ROWS(large), 1e-5, WINOGRAD_AUTO, row.machine);
    for (int i = 0; i < N_ROWS(sizes); i++) {
        row.text = sizes[i].text;
        ck_assert_int_eq(generated_count(ctx, &row, "matvec_f32_by_turns("), sizes[i].by_turns);
    }
    ctx_free(ctx);
}
END_TEST

START_TEST(small_machines_spare_the_scratch_for_that)
{
    enum { OWN = 4 * 2 * 132 }; /* of one step, of the largest of them */
    struct ctx *ctx = ctx_new("kernels_recurrent");

    kernel_cases_check_low_scratch(ahead, N_ROWS(ahead), 1e-5, OWN, NULL);
    kernel_cases_check_low_scratch(ahead, N_ROWS(ahead), 1e-5, OWN, machine_find(ctx, "cortex-m4"));
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kernels_recurrent");
    TCase *tests = tcase_create("all");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    suite_add_tcase(suite, tests);
    tcase_set_timeout(tests, 0);
    tcase_add_loop_test(tests, steps_run_in_every_direction_and_form, 0, 2);
    tcase_add_loop_test(tests, inputs_of_several_steps_are_multiplied_at_once, 0, 4);
    tcase_add_loop_test(tests, several_sequences_are_multiplied_at_once, 0, 4);
    tcase_add_test(tests, large_weights_are_read_by_turns);
    tcase_add_test(tests, small_machines_spare_the_scratch_for_that);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
