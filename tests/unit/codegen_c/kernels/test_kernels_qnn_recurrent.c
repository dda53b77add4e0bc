/* Recurrent layers of codes as generated C against the reference: exactly equal. */
#include <check.h>
#include <stdlib.h>

#include "tests/support/kernel_case.h"

#define FORWARD "hidden_size=5, direction=\"forward\""
#define REVERSE "hidden_size=8, direction=\"reverse\", batch_major=true"
#define BOTH "hidden_size=9, direction=\"bidirectional\""
/* x, its scale and zero point, those of y */
#define I8(x)                                                                                      \
    "i8[" x "] 5 -100 77 -3 127 -128 15; const f32[] 0.03; const i8[] 3; const f32[] 0.0078125; "  \
    "const i8[] -7"
#define U8(x)                                                                                      \
    "u8[" x "] 5 255 130 0 120 99 200; const f32[] 0.02; const u8[] 120; const f32[] 0.004; "      \
    "const u8[] 128"
#define I16(x)                                                                                     \
    "i16[" x "] 999 -1700 2500 0 -32768 32767 1; const f32[] 0.001; const i16[] 0; const f32[] "   \
    "0.00003; const i16[] 0"
#define U16(x)                                                                                     \
    "u16[" x "] 0 65535 32700 32900 45000; const f32[] 0.0001; const u16[] 32768; const f32[] "    \
    "0.01; const i8[] 0"
/* w and r, one scale for each, or one for each row; biases; lengths */
#define NUMBERS " 99 -103 1 0 -128 127 77 -35 64 12 -90 -7 41"
#define W(d, rows, in, hidden)                                                                     \
    "; const i8[" d "," rows "," in "]" NUMBERS "; const f32[] 0.02; const i8[" d "," rows         \
    "," hidden "]" NUMBERS "; const f32[] 0.01"
#define W_ROWS(d, rows, in, hidden)                                                                \
    "; const i8[" d "," rows "," in "]" NUMBERS "; const f32[" rows                                \
    "] 0.02 0.01 0.03; const i8[" d "," rows "," hidden "]" NUMBERS "; const f32[" rows            \
    "] 0.01 0.02 0.005 0.003"
#define LAST "; const f32[] 0.01; const i8[] 5"
#define CODES(dims) "; i8[" dims "] 50 -70 3 127 -128; const f32[] 0.02; const i8[] -3"

static const struct kernel_case rnns[] = {
    { "qnn_rnn", "qnn.rnn", FORWARD, I8("4,1,3") W("1", "5", "3", "5") },
    { "qnn_rnn", "qnn.rnn", FORWARD, U8("4,2,3") W_ROWS("1", "5", "3", "5") "; const f32[1,10]" },
    { "qnn_rnn", "qnn.rnn", FORWARD ", clip=0.5",
      I16("4,2,3") W("1", "5", "3", "5") "; const f32[1,10]; i32[2] 0 3" LAST },
    { "qnn_rnn", "qnn.rnn", BOTH,
      I8("4,2,3") W_ROWS("2", "9", "3", "9") "; const f32[2,18]; i32[2] 2 4" LAST CODES("2,2,9") },
    { "qnn_rnn", "qnn.rnn", REVERSE,
      U16("2,3,3") W("1", "8", "3", "8") "; _; _; _; _" CODES("2,1,8") },
    { "qnn_rnn", "qnn.rnn", FORWARD ", activations=\"Relu\"", I8("4,1,3") W("1", "5", "3", "5") },
    { "qnn_rnn", "qnn.rnn",
      FORWARD ", activations=\"Affine\", activation_alpha=[0.3], activation_beta=[-0.4]",
      I8("4,1,3") W("1", "5", "3", "5") },
    { "qnn_rnn", "qnn.rnn",
      FORWARD ", activations=\"ScaledTanh\", activation_alpha=[1.7], activation_beta=[0.66]",
      I8("4,1,3") W("1", "5", "3", "5") },
    /* a hidden layer of so many that its state has 14 bits; and of one */
    { "qnn_rnn", "qnn.rnn", "hidden_size=600, direction=\"forward\"",
      "i8[3,1,2]; const f32[] 0.03; const i8[] 3; const f32[] 0.0078125; const i8[] 0; const "
      "i8[1,600,2]; const f32[] 0.02; const i8[1,600,600] 127 -128 127; const f32[] 0.0001" },
    { "qnn_rnn", "qnn.rnn", "hidden_size=1, direction=\"forward\"",
      "i8[5,1,1] 5 -100 77 -3 127; const f32[] 0.03; const i8[] 3; const f32[] 0.0078125; const "
      "i8[] -7; const i8[1,1,1] 99; const f32[] 0.02; const i8[1,1,1] -77; const f32[] 0.01" },
};

static const struct kernel_case grus[] = {
    { "qnn_gru", "qnn.gru", FORWARD, I8("4,1,3") W("1", "15", "3", "5") },
    { "qnn_gru", "qnn.gru", FORWARD ", linear_before_reset=true",
      I8("4,1,3") W_ROWS("1", "15", "3", "5") "; const f32[1,30]" },
    { "qnn_gru", "qnn.gru", BOTH,
      U8("4,2,3") W_ROWS("2", "27", "3", "9") "; const f32[2,54]; i32[2] 2 4" LAST CODES("2,2,9") },
    { "qnn_gru", "qnn.gru", BOTH ", linear_before_reset=true",
      I8("4,2,3") W_ROWS("2", "27", "3", "9") "; const f32[2,54]; i32[2] 0 4" LAST CODES("2,2,9") },
    { "qnn_gru", "qnn.gru", REVERSE,
      I16("2,3,3") W("1", "24", "3", "8") "; _; _; _; _" CODES("2,1,8") },
    { "qnn_gru", "qnn.gru", FORWARD ", clip=0.5",
      I8("3,2,3") W("1", "15", "3", "5") "; const f32[1,30]; i32[2] 0 3" },
    { "qnn_gru", "qnn.gru",
      FORWARD ", activations=\"HardSigmoid,ScaledTanh\", activation_alpha=[0.3,0.3], "
              "activation_beta=[0.4,0.4]",
      I8("3,2,3") W("1", "15", "3", "5") "; const f32[1,30]" },
    { "qnn_gru", "qnn.gru",
      FORWARD ", activations=\"Softplus,LeakyRelu\", activation_alpha=[0.3,0.3], "
              "activation_beta=[0.4,0.4], linear_before_reset=true",
      I8("3,2,3") W("1", "15", "3", "5") "; const f32[1,30]" },
    /* each direction has its own */
    { "qnn_gru", "qnn.gru",
      BOTH ", activations=\"HardSigmoid,ScaledTanh,Sigmoid,Relu\", activation_alpha=[0.3,0.3,0,0], "
           "activation_beta=[0.4,0.4,0,0]",
      I8("4,2,3") W("2", "27", "3", "9") "; const f32[2,54]" },
};

#define P(d, n) "; const f32[" d "," n "]"
static const struct kernel_case lstms[] = {
    { "qnn_lstm", "qnn.lstm", FORWARD, I8("4,1,3") W("1", "20", "3", "5") },
    { "qnn_lstm", "qnn.lstm", BOTH,
      I8("4,2,3") W_ROWS("2", "36", "3", "9") "; const f32[2,72]; i32[2] 2 4" LAST CODES("2,2,9")
          LAST CODES("2,2,9") P("2", "27") },
    { "qnn_lstm", "qnn.lstm", REVERSE,
      U16("2,3,3") W("1", "32", "3", "8") "; _; _; _; _" CODES("2,1,8") },
    { "qnn_lstm", "qnn.lstm", FORWARD ", clip=0.5, input_forget=true",
      U8("3,2,3")
          W("1", "20", "3",
            "5") "; const f32[1,40]; i32[2] 0 3; _; _; _; _; _; const f32[] 0.0002; const i16[] "
                 "7" CODES("1,2,5") P("1", "15") },
    { "qnn_lstm", "qnn.lstm",
      FORWARD ", activations=\"HardSigmoid,Elu,Softsign\", activation_alpha=[0.3,0.3,0.3], "
              "activation_beta=[0.4,0.4,0.4]",
      I8("3,2,3") W("1", "20", "3", "5") "; const f32[1,40]" },
    { "qnn_lstm", "qnn.lstm",
      FORWARD ", activations=\"Sigmoid,ThresholdedRelu,Relu\", activation_alpha=[0.3,0.3,0.3], "
              "activation_beta=[0.4,0.4,0.4]",
      I16("3,2,3") W("1", "20", "3", "5") "; const f32[1,40]" },
};

/* Narrow floats: x, scales; weights with one scale, or one for each row. */
#define F8(x)                                                                                      \
    "f8e4m3[" x "] 56 184 126 254 1 129 127 255 66 0 200; const f32[] 0.03; const f8e4m3[] 0; "    \
    "const f32[] 0.01; const f8e4m3[] 0"
#define TO_E3M4(x)                                                                                 \
    "f8e4m3[" x "] 56 184 126 66; const f32[] 0.03; const f8e4m3[] 0; const f32[] 0.125; const "   \
    "f8e3m4[] 0"
#define F8_NUMBERS " 56 184 60 190 1 129 48 176 64 192 40 0 126"
#define F8_W(type, d, rows, in, hidden)                                                            \
    "; const " type "[" d "," rows "," in "]" F8_NUMBERS "; const f32[] 0.2; const " type "[" d    \
    "," rows "," hidden "]" F8_NUMBERS "; const f32[] 0.1"
#define F8_ROWS(d, rows, in, hidden)                                                               \
    "; const f8e4m3[" d "," rows "," in "]" F8_NUMBERS "; const f32[" rows                         \
    "] 0.2 0.1 0.3; const f8e4m3[" d "," rows "," hidden "]" F8_NUMBERS "; const f32[" rows        \
    "] 0.1 0.2 0.05 0.003"
#define F8_LAST "; const f32[] 0.02; const f8e4m3[] 0"
#define F8_CODES(dims) "; f8e4m3[" dims "] 56 184 70 1; const f32[] 0.2; const f8e4m3[] 0"

static const struct kernel_case exact_layers[] = {
    { "qnn_rnn", "qnn.rnn", FORWARD, F8("4,1,3") F8_W("f8e4m3", "1", "5", "3", "5") },
    { "qnn_rnn", "qnn.rnn", BOTH,
      F8("4,2,3")
          F8_ROWS("2", "9", "3", "9") "; const f32[2,18]; i32[2] 2 4" F8_LAST F8_CODES("2,2,9") },
    { "qnn_rnn", "qnn.rnn", REVERSE,
      TO_E3M4("2,3,3") F8_W("f8e3m4", "1", "8", "3", "8") "; _; _; const f32[] 0.001; const i16[] "
                                                          "5" F8_CODES("2,1,8") },
    { "qnn_rnn", "qnn.rnn", FORWARD ", activations=\"Relu\"",
      F8("4,1,300") F8_W("f8e4m3", "1", "5", "300", "5") },
    { "qnn_gru", "qnn.gru", FORWARD, F8("4,1,3") F8_W("f8e4m3", "1", "15", "3", "5") },
    { "qnn_gru", "qnn.gru", BOTH,
      F8("4,2,3")
          F8_ROWS("2", "27", "3", "9") "; const f32[2,54]; i32[2] 2 4" F8_LAST F8_CODES("2,2,9") },
    { "qnn_gru", "qnn.gru", BOTH ", linear_before_reset=true",
      F8("4,2,3")
          F8_ROWS("2", "27", "3", "9") "; const f32[2,54]; i32[2] 0 4" F8_LAST F8_CODES("2,2,9") },
    { "qnn_lstm", "qnn.lstm", FORWARD, F8("4,1,3") F8_W("f8e4m3", "1", "20", "3", "5") },
    { "qnn_lstm", "qnn.lstm", BOTH,
      F8("4,2,3") F8_ROWS("2", "36", "3", "9") "; const f32[2,72]; i32[2] 2 4" F8_LAST F8_CODES(
          "2,2,9") F8_LAST F8_CODES("2,2,9") P("2", "27") },
    { "qnn_lstm", "qnn.lstm", FORWARD ", clip=0.5, input_forget=true",
      TO_E3M4("3,2,3")
          F8_W("f8e3m4", "1", "20", "3",
               "5") "; const f32[1,40]; i32[2] 0 3; _; _; _; _; _; const f32[] 0.0002; const i16[] "
                    "7" F8_CODES("1,2,5") P("1", "15") },
};

#define OF_TABLES(batch, in, hidden, rows)                                                         \
    "; const i8[" rows "," in "]; const i8[" rows "," hidden "]; const i32[" rows                  \
    "] 900 -1500 40 7000; const f32[8] 0.9 1.1 0.7 1.6 0.3 0.45 0.2 0.31; i8[" batch "," hidden    \
    "]; i16[" batch "," hidden "]; const i32[" rows "] -300 20 999"
/* codes of 16 bits */
#define OF_WIDE(batch, in, hidden, rows)                                                           \
    "; const i8[" rows "," in "]; const i8[" rows "," hidden "]; const i64[" rows                  \
    "] 900000 -15000000 40 70000000; const f32[8] 0.009 0.0011 0.7 0.016 0.003 0.0045 0.002 "      \
    "0.0031; i16[" batch "," hidden "]; i16[" batch "," hidden "]"

static const struct kernel_case lstms_of_tables[] = {
    { "qnn_lstm_tables", "qnn.lstm_tables", "h_scale=0.0078125, h_zero=3, c_power=-12",
      "i8[2,3,4]" OF_TABLES("2", "4", "5", "20") },
    { "qnn_lstm_tables", "qnn.lstm_tables",
      "time_major=true, h_scale=0.0075, h_zero=-9, c_power=-15",
      "i8[3,2,4]" OF_TABLES("2", "4", "5", "20") },
    { "qnn_lstm_tables", "qnn.lstm_tables", "h_scale=0.0078125, c_power=-11, c_most=1500",
      "i8[1,2,7]" OF_TABLES("1", "7", "3", "12") },
    { "qnn_lstm_tables", "qnn.lstm_tables", "h_scale=0.000030517578125, c_power=-12",
      "i16[2,3,4]" OF_WIDE("2", "4", "5", "20") },
    { "qnn_lstm_tables", "qnn.lstm_tables",
      "time_major=true, h_scale=0.00005, c_power=-15, c_most=20000",
      "i16[2,2,1400] 32767 -32768 -9 77" OF_WIDE("2", "1400", "2", "8") },
    { "qnn_lstm_tables", "qnn.lstm_tables", "h_scale=0.004, c_power=-9",
      "i8[1,1,1]" OF_TABLES("1", "1", "1", "4") },
};

START_TEST(exact_layers_agree)
{
    KERNEL_CASES_CHECK(exact_layers, 0);
}
END_TEST

START_TEST(rnns_agree_exactly)
{
    KERNEL_CASES_CHECK(rnns, 0);
}
END_TEST

START_TEST(grus_agree_exactly)
{
    KERNEL_CASES_CHECK(grus, 0);
}
END_TEST

START_TEST(lstms_agree_exactly)
{
    KERNEL_CASES_CHECK(lstms, 0);
}
END_TEST

START_TEST(lstms_of_tables_agree)
{
    KERNEL_CASES_CHECK(lstms_of_tables, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kernels: recurrent layers of quantised numbers");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_set_timeout(tests, 0);
    tcase_add_test(tests, rnns_agree_exactly);
    tcase_add_test(tests, grus_agree_exactly);
    tcase_add_test(tests, lstms_agree_exactly);
    tcase_add_test(tests, exact_layers_agree);
    tcase_add_test(tests, lstms_of_tables_agree);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
