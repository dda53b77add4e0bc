/* Recurrent layers of quantised numbers: numbers by hand, what is refused, how far activation
 * functions are from those of doubles, how far results are from those of the float operators, in
 * steps of the result; and the values of ONNX's own tests. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "relay_ir/ops/qnn_gate.h"
#include "relay_ir/ops/qnn_recurrent.h"
#include "relay_ir/walk.h"
#include "tests/support/executions.h"
#include "tests/support/expect.h"
#include "tests/support/op_case.h"

#define FORM(hidden, direction, more)                                                              \
    "{hidden_size=" hidden ", direction=\"" direction "\"" more "}"
#define AFFINE(hidden, direction, names, alphas, betas)                                            \
    FORM(hidden, direction,                                                                        \
         ", activations=\"" names "\", activation_alpha=" alphas ", activation_beta=" betas)
#define HALVES "; f32[] 0.5; i8[] 1; f32[] 0.5; i8[] -3"
#define W1 "; i8[1,1,1] 2; f32[] 1; i8[1,1,1] 2; f32[] 1"

static const struct op_case cases[] = {
    /* x 1 2 3, h 2 * x + 1 + 2 * h: 3, 11, 29 */
    { "qnn.rnn", AFFINE("1", "", "Affine", "[1]", "[0]"),
      "i8[3,1,1] 3 5 7" HALVES W1 "; f32[1,2] 0.5", "i8[3,1,1,1] 3 19 55; i8[1,1,1] 55", NULL },
    /* a bias of 1/4 alone: 0.25 is half a step, and halves go up */
    { "qnn.rnn", AFFINE("1", "reverse", "Affine", "[1]", "[0.25]"),
      "i8[1,1,1] 1" HALVES "; i8[1,1,1] 0; f32[] 1; i8[1,1,1] 0; f32[] 1",
      "i8[1,1,1,1] -2; i8[1,1,1] -2", NULL },
    /* the last state in steps of its own: 2^-8, its 0 at 10; the sequence has one step, behind
     * which y is 0, the initial state is 4 * 0.5: 2 * 1 + 2 * 2 = 6 */
    { "qnn.rnn", AFFINE("1", "", "Affine", "[1]", "[0]"),
      "i8[2,1,1] 3 5" HALVES W1
      "; _; i32[1] 1; f32[] 0.00390625; i16[] 10; i8[1,1,1] 4; f32[] 0.5; i8[] 0",
      "i8[2,1,1,1] 9 -3; i16[1,1,1] 1546", NULL },
    /* an empty one: the last state is the initial one, (4 - 2) * 0.5 = 1 */
    { "qnn.rnn", FORM("1", "", ""),
      "i8[2,1,1] 3 5" HALVES W1
      "; _; i32[1] 0; f32[] 0.25; i16[] 10; i8[1,1,1] 4; f32[] 0.5; i8[] 2",
      "i8[2,1,1,1] -3 -3; i16[1,1,1] 14", NULL },
    /* z = 2, r = 3, n = 5 + 3 * 10 = 35: h = -1 * 35 + 2 * 10 = -15 */
    { "qnn.gru", AFFINE("1", "", "Affine,Affine", "[1,1]", "[0,0]"),
      "i8[1,1,1] 3" HALVES "; i8[1,3,1] 2 3 5; f32[] 1; i8[1,3,1] 0 0 1; f32[] 1; _; _; _; _; "
      "i8[1,1,1] 20; f32[] 0.5; i8[] 0",
      "i8[1,1,1,1] -33; i8[1,1,1] -33", NULL },
    /* i = 1 + 3 = 4, f = 3 + 6 = 9, c = 9 * 1 + 4 * 4 = 25, o = 2 + 2 * 25 = 52, h = 52 * 25,
     * which saturates; cells in sixteenths do so too, and show 25 in steps of 1 */
    { "qnn.lstm", AFFINE("1", "", "Affine,Affine,Affine", "[1,1,1]", "[0,0,0]"),
      "i8[1,1,1] 3" HALVES
      "; i8[1,4,1] 1 2 3 4; f32[] 1; i8[1,4,1] 0; f32[] 1; _; _; _; _; _; _; _; _; _; i8[1,1,1] 2; "
      "f32[] 0.5; i8[] 0; f32[1,3] 3 2 6",
      "i8[1,1,1,1] 127; i8[1,1,1] 127; i8[1,1,1] 127", NULL },
    { "qnn.lstm", AFFINE("1", "", "Affine,Affine,Affine", "[1,1,1]", "[0,0,0]"),
      "i8[1,1,1] 3" HALVES
      "; i8[1,4,1] 1 2 3 4; f32[] 1; i8[1,4,1] 0; f32[] 1; _; _; _; _; _; _; _; f32[] 1; u8[] 7; "
      "i8[1,1,1] 2; f32[] 0.5; i8[] 0; f32[1,3] 3 2 6",
      "i8[1,1,1,1] 127; i8[1,1,1] 127; u8[1,1,1] 32", NULL },

    /* narrow floats: 0x38 = 56 is 1, 64 is 2, 68 is 3. 1 * 2 + 0.5, 2 * 2 + 0.5 + 2.5 * 3 = 12, in
     * quarters */
    { "qnn.rnn", AFFINE("1", "", "Affine", "[1]", "[0]"),
      "f8e4m3[2,1,1] 56 64; f32[] 1; f8e4m3[] 0; f32[] 0.25; f8e4m3[] 0; f8e4m3[1,1,1] 64; f32[] "
      "1; "
      "f8e4m3[1,1,1] 68; f32[] 1; f32[1,2] 0.5 0",
      "f8e4m3[2,1,1,1] 82 100; f8e4m3[1,1,1] 100", NULL },
    { "qnn.rnn", FORM("1", "", ""),
      "f8e4m3[1,1,1] 56; f32[] 1; f8e4m3[] 0; f32[] 1; f8e4m3[] 0; i8[1,1,1] 64; f32[] 1; "
      "f8e4m3[1,1,1] 68; f32[] 1",
      ";", "input 5 of qnn.rnn is i8, expected a narrow float" },
    { "qnn.rnn", FORM("1", "", ""), "f32[1,1,1] 3" HALVES W1, ";", "expected i8, u8, i16 or u16" },
    { "qnn.rnn", FORM("1", "", ""),
      "i8[1,1,1] 3" HALVES "; u8[1,1,1] 2; f32[] 1; i8[1,1,1] 2; f32[] 1", ";",
      "input 5 of qnn.rnn is u8, expected i8" },
    { "qnn.rnn", FORM("2", "", ""), "i8[1,1,1] 3" HALVES W1, ";", "expected (1,2,1) i8" },
    { "qnn.rnn", FORM("1", "sideways", ""), "i8[1,1,1] 3" HALVES W1, ";", "sideways" },
    { "qnn.rnn", FORM("1", "", ""),
      "i8[1,1,1] 3" HALVES "; i8[1,1,1] 2; f32[2] 1; i8[1,1,1] 2; f32[] 1", ";",
      "input 6 of qnn.rnn has shape 2, expected one number" },
    { "qnn.rnn", FORM("1", "", ""), "i8[1,1,1] 3" HALVES W1 "; _; _; f32[] 1", ";",
      "one of inputs 11 and 12 is missing" },
    { "qnn.rnn", FORM("1", "", ""), "i8[1,1,1] 3" HALVES W1 "; _; _; _; _; i8[1,1,1] 3", ";",
      "the scale or zero point of initial_h is missing" },
    { "qnn.rnn", FORM("1", "", ""), "i8[1,1,1] 3" HALVES W1 "; _; i32[1] 2", ";",
      "the length of sequence 0 is 2, expected 0 to 1" },
    /* numbers that integers do not hold */
    { "qnn.rnn", FORM("1", "", ""), "i8[1,1,1] 3" HALVES W1 "; f32[1,2] 600", ";",
      "a bias is beyond 512" },
    { "qnn.rnn", FORM("1", "", ""), "i8[1,1,1] 3; f32[] 0.5; i8[] 1; f32[] 0; i8[] -3" W1, ";",
      "a scale is not positive" },
    { "qnn.rnn", AFFINE("1", "", "Relu", "[]", "[]"),
      "i8[1,1,1] 3; f32[] 0.5; i8[] 1; f32[] 9; i8[] 0" W1, ";",
      "the hidden state may be beyond 1024" },
    { "qnn.rnn", AFFINE("1", "", "Affine", "[2000]", "[0]"), "i8[1,1,1] 3" HALVES W1, ";",
      "a number of an activation function is beyond 1024" },
    { "qnn.rnn", FORM("1", "", ""),
      "i16[1,1,600] 3; f32[] 0.5; i16[] 1; f32[] 9; i8[] 0; i8[1,1,600] 127; f32[] 1; "
      "i8[1,1,1] 2; f32[] 1",
      ";", "sums of products with x may leave 32 bits" },
    { "qnn.lstm", FORM("1", "", ""),
      "i8[1,1,1] 3" HALVES "; i8[1,4,1] 2; f32[] 1; i8[1,4,1] 2; f32[] 1; _; _; _; _; _; _; _; _; "
      "_; i8[1,1,1] 2; f32[] 50; i8[] 0",
      ";;", "the initial cells are beyond 1024" },
    { "qnn.lstm", FORM("1", "", ""),
      "i8[1,1,1] 3" HALVES "; i8[1,4,1] 2; f32[] 1; i8[1,4,1] 2; f32[] 1; _; _; _; _; _; _; _; _; "
      "_; _; _; _; f32[1,3] 3000",
      ";;", "a peephole is beyond 1024" },
};

START_TEST(by_hand)
{
    op_case_check(&cases[_i]);
}
END_TEST

/* --- activation functions --------------------------------------------------------------------- */

static const struct rnn_activation functions[] = {
    { RNN_AFFINE, 0.25, -0.5 },
    { RNN_AFFINE, -3.3, 0.7 },
    { RNN_ELU, 1, 0 },
    { RNN_ELU, 2.5, 0 },
    { RNN_HARD_SIGMOID, 0.2, 0.5 },
    { RNN_HARD_SIGMOID, -1.5, 0.1 },
    { RNN_LEAKY_RELU, 0.01, 0 },
    { RNN_RELU, 0, 0 },
    { RNN_SCALED_TANH, 1.7, 0.66 },
    { RNN_SCALED_TANH, -4, 30 },
    { RNN_SIGMOID, 0, 0 },
    { RNN_SOFTPLUS, 0, 0 },
    { RNN_SOFTSIGN, 0, 0 },
    { RNN_TANH, 0, 0 },
    { RNN_THRESHOLDED_RELU, 0.75, 0 },
    { RNN_THRESHOLDED_RELU, -2, 0 },
};

/* Around 0 densely, then ever wider, up to the ends of 32 bits; gates end at 1024. The numbers of a
 * function are rounded to 2^-16, by half a unit, which is multiplied by x. */
START_TEST(functions_are_near)
{
    const struct rnn_activation *of = &functions[_i];
    const double of_alpha = fmax(1, fabs(of->alpha)), most_gate = 0x1p10;
    const bool has_slope = of->function == RNN_AFFINE || of->function == RNN_HARD_SIGMOID ||
                           of->function == RNN_LEAKY_RELU || of->function == RNN_SCALED_TANH;
    struct qnn_gate gate;
    double worst = 0;
    int64_t step = 1;

    ck_assert(qnn_gate_of(of, &gate));
    for (int64_t at = 0; at <= INT32_MAX; at += step, step = 1 + at / 1000)
        for (int sign = -1; sign <= 1; sign += 2) {
            const int32_t code = (int32_t)(sign * at);
            const double x = ldexp(code, -QNN_SUM_BITS), y = rnn_activate(of, x);
            const double off = fabs(ldexp(qnn_gate_apply(&gate, code), -QNN_GATE_BITS) -
                                    fmax(-most_gate, fmin(y, most_gate)));
            const double allowed =
                QNN_GATE_ERROR * of_alpha + (has_slope ? fabs(x) * 0x1.01p-17 * of_alpha : 0);

            ck_assert_msg(off <= allowed, "function %d of %.9g: %g off", (int)of->function, x, off);
            worst = fmax(worst, off);
        }
    ck_assert(worst > 0x1p-18);
    printf("function %d (%g, %g): at most %.3g off\n", (int)of->function, of->alpha, of->beta,
           worst);
}
END_TEST

/* That a bound is one, and is reached; that a share is one. */
START_TEST(bounds_hold)
{
    const struct rnn_activation *of = &functions[_i];
    const double bound = qnn_gate_bound(of);
    double least = 0, most = 0;

    for (double x = -2000; x <= 2000; x += 0.37) {
        least = fmin(least, rnn_activate(of, x));
        most = fmax(most, rnn_activate(of, x));
    }
    if (isfinite(bound))
        ck_assert(fmax(most, -least) <= bound && fmax(most, -least) > 0.99 * bound);
    else
        ck_assert(fmax(most, -least) > 10);
    ck_assert(!qnn_gate_is_share(of->function) || (least >= 0 && most <= 1));
}
END_TEST

/* --- layers of random numbers ----------------------------------------------------------------- */

enum { BIASES = 1, LENGTHS = 2, STATES = 4, PEEPHOLES = 8, LAST = 16, PER_ROW = 32 };

static const struct pair {
    const char *op, *of_floats, *attrs;
    enum dtype dtype, out_dtype;
    int64_t steps, batch, input, hidden;
    int with;
    double weights, most; /* the greatest weight; steps of a result */
} pairs[] = {
    { "qnn.rnn", "nn.rnn", FORM("20", "", ""), DTYPE_I8, DTYPE_I8, 30, 2, 10, 20, BIASES, 0.4,
      0.51 },
    { "qnn.rnn", "nn.rnn", FORM("7", "bidirectional", ", batch_major=true"), DTYPE_U8, DTYPE_U8, 9,
      3, 33, 7, BIASES | LENGTHS | STATES | PER_ROW, 0.4, 0.51 },
    { "qnn.gru", "nn.gru", FORM("20", "", ""), DTYPE_I8, DTYPE_I8, 30, 2, 10, 20, BIASES, 0.5,
      0.51 },
    { "qnn.gru", "nn.gru", FORM("20", "reverse", ", linear_before_reset=true"), DTYPE_I16, DTYPE_I8,
      30, 2, 10, 20, BIASES | STATES | LAST | PER_ROW, 0.5, 0.51 },
    { "qnn.gru", "nn.gru", FORM("9", "bidirectional", ", clip=0.75, linear_before_reset=true"),
      DTYPE_U16, DTYPE_U8, 11, 3, 5, 9, BIASES | LENGTHS | STATES, 0.9, 0.51 },
    { "qnn.lstm", "nn.lstm", FORM("20", "", ""), DTYPE_I8, DTYPE_I8, 30, 2, 10, 20, BIASES, 0.5,
      0.51 },
    { "qnn.lstm", "nn.lstm", FORM("9", "bidirectional", ", input_forget=true"), DTYPE_U8, DTYPE_I8,
      11, 3, 5, 9, BIASES | LENGTHS | STATES | LAST | PEEPHOLES | PER_ROW, 0.9, 0.52 },
    { "qnn.lstm", "nn.lstm", FORM("128", "", ", clip=3"), DTYPE_I8, DTYPE_I8, 60, 1, 128, 128,
      BIASES | STATES | LAST, 0.2, 0.52 },
    /* narrow floats; results in units of the last place, less what gates are off (steps_off) */
    { "qnn.rnn", "nn.rnn", FORM("20", "", ""), DTYPE_F8E4M3, DTYPE_F8E4M3, 30, 2, 10, 20, BIASES,
      0.4, 0.5001 },
    { "qnn.gru", "nn.gru", FORM("9", "bidirectional", ", clip=0.75, linear_before_reset=true"),
      DTYPE_F8E3M4, DTYPE_F8E4M3, 11, 3, 5, 9, BIASES | LENGTHS | STATES, 0.9, 0.5001 },
    { "qnn.gru", "nn.gru", FORM("20", "reverse", ""), DTYPE_F8E4M3FNUZ, DTYPE_F8E4M3FNUZ, 30, 2, 10,
      20, BIASES | STATES | LAST | PER_ROW, 0.5, 0.5001 },
    { "qnn.lstm", "nn.lstm", FORM("9", "bidirectional", ", input_forget=true"), DTYPE_F8E4M3,
      DTYPE_F8E3M4, 11, 3, 5, 9, BIASES | LENGTHS | STATES | LAST | PEEPHOLES | PER_ROW, 0.9,
      0.5001 },
    { "qnn.lstm", "nn.lstm", FORM("128", "", ", clip=3"), DTYPE_F8E4M3, DTYPE_F8E4M3, 60, 1, 128,
      128, BIASES | STATES | LAST, 0.2, 0.5001 },
    /* results of 16 bits */
    { "qnn.lstm", "nn.lstm", FORM("32", "", ""), DTYPE_I16, DTYPE_I16, 40, 1, 16, 32,
      BIASES | STATES | LAST | PER_ROW, 0.4, 12 },
    { "qnn.gru", "nn.gru", FORM("32", "", ""), DTYPE_I16, DTYPE_I16, 40, 1, 16, 32,
      BIASES | STATES | LAST | PER_ROW, 0.4, 12 },
};

/* An operator of codes and that of floats under construction. */
struct both {
    struct bulk bulk;
    unsigned seed;
    struct tensor in[QNN_RNN_INPUTS], floats[8];
};

static bool is_small_float(enum dtype dtype)
{
    return dtype_minifloat(dtype) != NULL;
}

/* The greatest number of integers, or of narrow floats. */
static double greatest_of(enum dtype dtype)
{
    const struct minifloat *format = dtype_minifloat(dtype);

    return format ? ldexp((double)exact_greatest(format), exact_unit(format))
                  : (double)dtype_greatest(dtype);
}

static double least_of(enum dtype dtype)
{
    return is_small_float(dtype) ? -greatest_of(dtype) : (double)dtype_least(dtype);
}

static void put_number(struct both *both, int i, enum dtype dtype, double number)
{
    const struct type type = type_scalar(dtype);

    both->in[i] = tensor_new(&both->bulk, &type);
    tensor_put(&both->in[i], 0, number);
}

/* Random numbers, the same in f64. */
static void put_floats(struct both *both, int i, int of_floats, const struct type *type,
                       double most)
{
    const struct type doubles = type_make(DTYPE_F64, type->rank, type->dim);

    both->in[i] = tensor_new(&both->bulk, type);
    both->floats[of_floats] = tensor_new(&both->bulk, &doubles);
    fill_random(&both->in[i], -most, most, &both->seed);
    for (int64_t k = 0; k < type_elements(type); k++)
        tensor_put(&both->floats[of_floats], k, tensor_at(&both->in[i], k));
}

/* Random codes, and what they stand for; a scale for each of `rows` in dimension 1, or one. */
static void put_codes(struct both *both, int i, int of_floats, const struct type *type, double most,
                      int64_t rows, double zero)
{
    const struct type scales = type_make(DTYPE_F32, rows ? 1 : 0, &rows);
    const struct type doubles = type_make(DTYPE_F64, type->rank, type->dim);
    const double greatest = greatest_of(type->dtype);
    const int64_t row = type->dim[type->rank - 1];

    both->in[i] = tensor_new(&both->bulk, type);
    both->in[i + 1] = tensor_new(&both->bulk, &scales);
    both->floats[of_floats] = tensor_new(&both->bulk, &doubles);
    fill_random(&both->in[i], least_of(type->dtype), greatest, &both->seed);
    fill_random(&both->in[i + 1], most / greatest / 4, most / greatest, &both->seed);
    for (int64_t k = 0; k < type_elements(type); k++)
        tensor_put(&both->floats[of_floats], k,
                   (tensor_at(&both->in[i], k) - zero) *
                       tensor_at(&both->in[i + 1], rows ? k / row % rows : 0));
}

static double middle(enum dtype dtype)
{
    return is_small_float(dtype) ? 0 : floor((least_of(dtype) + greatest_of(dtype)) / 2) + 5;
}

/* Scale and zero point of what reaches up to `most`. */
static void put_affine(struct both *both, int i, enum dtype dtype, double most)
{
    put_number(both, i, DTYPE_F32, most / (greatest_of(dtype) - least_of(dtype)) * 2);
    put_number(both, i + 1, dtype, middle(dtype));
}

static void put_state(struct both *both, int i, int of_floats, const struct type *type, double most)
{
    const double zero = middle(type->dtype);

    put_codes(both, i, of_floats, type, most, 0, zero);
    put_number(both, i + 2, type->dtype, zero);
}

static void make_inputs(struct both *both, const struct pair *p)
{
    const enum op op = op_from_name(p->of_floats);
    const bool batch_major = strstr(p->attrs, "batch_major=true") != NULL;
    const int64_t d = strstr(p->attrs, "bidirectional") ? 2 : 1, n = p->hidden;
    const int64_t rows = (op == OP_RNN ? 1 : op == OP_GRU ? 3 : 4) * n;
    const int64_t of_row = p->with & PER_ROW ? rows : 0;
    const enum dtype weights = is_small_float(p->dtype) ? p->dtype : DTYPE_I8;
    const struct type x = type_make(p->dtype, 3,
                                    (int64_t[]){ batch_major ? p->batch : p->steps,
                                                 batch_major ? p->steps : p->batch, p->input });
    const struct type w = type_make(weights, 3, (int64_t[]){ d, rows, p->input });
    const struct type r = type_make(weights, 3, (int64_t[]){ d, rows, n });
    const struct type b = type_make(DTYPE_F32, 2, (int64_t[]){ d, 2 * rows });
    const struct type peepholes = type_make(DTYPE_F32, 2, (int64_t[]){ d, 3 * n });
    const struct type lengths = type_make(DTYPE_I32, 1, &p->batch);
    const struct type state = type_make(
        p->dtype, 3, (int64_t[]){ batch_major ? p->batch : d, batch_major ? d : p->batch, n });

    put_codes(both, QNN_RNN_X, 0, &x, 2, 0, middle(p->dtype));
    put_number(both, QNN_RNN_X_ZERO, p->dtype, middle(p->dtype));
    put_affine(both, QNN_RNN_Y_SCALE, p->out_dtype, 1.02);
    put_codes(both, QNN_RNN_W, 1, &w, p->weights, of_row, 0);
    put_codes(both, QNN_RNN_R, 2, &r, p->weights, of_row, 0);
    if (p->with & BIASES)
        put_floats(both, QNN_RNN_B, 3, &b, 0.5);
    if (p->with & LENGTHS) {
        both->in[QNN_RNN_LENGTHS] = tensor_new(&both->bulk, &lengths);
        for (int64_t i = 0; i < p->batch; i++)
            tensor_put(&both->in[QNN_RNN_LENGTHS], i, (double)(i * p->steps / 2));
        both->floats[4] = both->in[QNN_RNN_LENGTHS];
    }
    if (p->with & LAST)
        put_affine(both, QNN_RNN_LAST_H_SCALE, DTYPE_I16, 1.02);
    if (p->with & STATES)
        put_state(both, QNN_RNN_H, 5, &state, 1);
    if (op == OP_LSTM && (p->with & LAST))
        put_affine(both, QNN_RNN_LAST_C_SCALE, DTYPE_I16, 30);
    if (op == OP_LSTM && (p->with & STATES))
        put_state(both, QNN_RNN_C, 6, &state, 2);
    if (p->with & PEEPHOLES)
        put_floats(both, QNN_RNN_P, 7, &peepholes, 0.5);
}

/* In steps; of narrow floats in units of the last place, that of what is wanted, less 2e-4: what a
 * hidden state may be off, however small it is. */
static double distance(const struct type *type, double found, double wanted, double scale)
{
    const struct minifloat *format = type_minifloat(type);
    int exponent;

    if (!format)
        return fabs(found - wanted);
    (void)frexp(wanted, &exponent);
    return fmax(fabs(found - wanted) - 2e-4 / scale, 0) /
           ldexp(1, (int)fmax(exponent - 1 - format->mantissa_bits, exact_unit(format)));
}

/* The greatest distance of codes from numbers; saturated. */
static double steps_off(const struct tensor *codes, const struct tensor *wanted, double scale,
                        double zero)
{
    const double least = least_of(codes->type.dtype), greatest = greatest_of(codes->type.dtype);
    double worst = 0;

    for (int64_t i = 0; i < type_elements(&codes->type); i++) {
        const double steps = tensor_at(wanted, i) / scale + zero;

        worst = fmax(worst, distance(&codes->type, tensor_at(codes, i),
                                     fmax(fmin(steps, greatest), least), scale));
    }
    return worst;
}

START_TEST(as_far_from_floats_as_said)
{
    const struct pair *p = &pairs[_i];
    const bool lstm = strcmp(p->op, "qnn.lstm") == 0;
    const int n = lstm ? 3 : 2, n_inputs = lstm ? QNN_RNN_INPUTS : QNN_RNN_H_ZERO + 1;
    struct ctx *ctx = ctx_new(NULL);
    struct both both = { .seed = 7 };
    struct tensor codes[3], wanted[3];
    double y, h, c = 0;

    make_inputs(&both, p);
    op_apply_all(ctx, &both.bulk, p->op, p->attrs, n_inputs, both.in, n, codes);
    op_apply_all(ctx, &both.bulk, p->of_floats, p->attrs, lstm ? 8 : 6, both.floats, n, wanted);
    y = steps_off(&codes[0], &wanted[0], tensor_at(&both.in[QNN_RNN_Y_SCALE], 0),
                  tensor_at(&both.in[QNN_RNN_Y_ZERO], 0));
    if (p->with & LAST)
        h = steps_off(&codes[1], &wanted[1], tensor_at(&both.in[QNN_RNN_LAST_H_SCALE], 0),
                      tensor_at(&both.in[QNN_RNN_LAST_H_ZERO], 0));
    else
        h = steps_off(&codes[1], &wanted[1], tensor_at(&both.in[QNN_RNN_Y_SCALE], 0),
                      tensor_at(&both.in[QNN_RNN_Y_ZERO], 0));
    if (lstm && (p->with & LAST))
        c = steps_off(&codes[2], &wanted[2], tensor_at(&both.in[QNN_RNN_LAST_C_SCALE], 0),
                      tensor_at(&both.in[QNN_RNN_LAST_C_ZERO], 0));
    printf("%s%s: y %.4f steps, h %.4f, c %.4f\n", p->op, p->attrs, y, h, c);
    ck_assert_msg(y <= p->most && y > 0.4, "%s: y is off by %g steps", p->op, y);
    ck_assert_msg(h <= (p->with & LAST ? 12 : p->most), "%s: h is off by %g steps", p->op, h);
    ck_assert_msg(c <= 3, "%s: c is off by %g steps", p->op, c);
    bulk_release(&both.bulk);
    ctx_free(ctx);
}
END_TEST

/* --- ONNX's own tests ------------------------------------------------------------------------- */

/* Those node tests of onnx 1.18.0 whose weights are all alike: codes say them exactly. x are the
 * numbers from 1 on, biases there on W's half, here on both. Results have 16 bits. */
#define SAME(rows, in, hidden, scale)                                                              \
    "; i8[1," rows "," in "] 100; f32[] " scale "; i8[1," rows "," hidden "] 100; f32[] " scale
#define ONES "; f32[] 1; i8[] 0; f32[] 3.0517578125e-05; i16[] 0"
static const struct node_test {
    const char *name, *op, *attrs, *inputs;
    int64_t hidden;
    double wanted[3]; /* of each batch entry; 0 = there is none */
} node_tests[] = {
    { "gru_defaults",
      "qnn.gru",
      FORM("5", "forward", ""),
      "i8[1,3,2] 1 2 3 4 5 6" ONES SAME("15", "2", "5", "0.001"),
      5,
      { 0.12397026270627975, 0.20053662359714508, 0.1999165415763855 } },
    { "gru_with_initial_bias",
      "qnn.gru",
      FORM("3", "forward", ""),
      "i8[1,3,3] 1 2 3 4 5 6 7 8 9" ONES SAME("9", "3", "3", "0.001") "; f32[1,18] 0.05",
      3,
      { 0.20053662359714508, 0.15482337772846222, 0.07484275847673416 } },
    { "gru_batchwise",
      "qnn.gru",
      FORM("6", "forward", ", batch_major=true"),
      "i8[3,1,2] 1 2 3 4 5 6" ONES SAME("18", "2", "6", "0.002"),
      6,
      { 0.1903001368045807, 0.17513680458068848, 0.09733085334300995 } },
    { "lstm_defaults",
      "qnn.lstm",
      FORM("3", "forward", ""),
      "i8[1,3,2] 1 2 3 4 5 6" ONES SAME("12", "2", "3", "0.001"),
      3,
      { 0.09524120390415192, 0.2560644745826721, 0.4032377600669861 } },
    { "lstm_with_initial_bias",
      "qnn.lstm",
      FORM("4", "forward", ""),
      "i8[1,3,3] 1 2 3 4 5 6 7 8 9" ONES SAME("16", "3", "4", "0.001") "; f32[1,32] 0.05",
      4,
      { 0.2560644745826721, 0.536727786064148, 0.6672132015228271 } },
    { "lstm_with_peepholes",
      "qnn.lstm",
      FORM("3", "forward", ""),
      "i8[1,2,4] 1 2 3 4 5 6 7 8" ONES SAME(
          "12", "4", "3", "0.001") "; f32[1,24] 0; i32[2] 1; _; _; i8[1,2,3] 0; "
                                   "f32[] 0.0078125; i8[] 0; _; _; i8[1,2,3] 0; f32[] 0.0078125; "
                                   "i8[] 0; f32[1,9] 0.1",
      3,
      { 0.37506911158561707, 0.6801308989524841, 0 } },
    { "lstm_batchwise",
      "qnn.lstm",
      FORM("7", "forward", ", batch_major=true"),
      "i8[3,1,2] 1 2 3 4 5 6" ONES SAME("28", "2", "7", "0.003"),
      7,
      { 0.33369261026382446, 0.6223931908607483, 0.7185789942741394 } },
    { "simple_rnn_defaults",
      "qnn.rnn",
      FORM("4", "forward", ""),
      "i8[1,3,2] 1 2 3 4 5 6" ONES SAME("4", "2", "4", "0.001"),
      4,
      { 0.29131263494491577, 0.6043677926063538, 0.8004990220069885 } },
    { "simple_rnn_with_initial_bias",
      "qnn.rnn",
      FORM("5", "forward", ""),
      "i8[1,3,3] 1 2 3 4 5 6 7 8 9" ONES SAME("5", "3", "5", "0.001") "; f32[1,10] 0.05",
      5,
      { 0.6043677926063538, 0.921668529510498, 0.9866142868995667 } },
    { "simple_rnn_batchwise",
      "qnn.rnn",
      FORM("4", "forward", ", batch_major=true"),
      "i8[3,1,2] 1 2 3 4 5 6" ONES SAME("4", "2", "4", "0.005"),
      4,
      { 0.9051482081413269, 0.9981778860092163, 0.9999666213989258 } },
};

START_TEST(values_of_the_node_tests)
{
    const struct node_test *t = &node_tests[_i];
    const int n = strcmp(t->op, "qnn.lstm") == 0 ? 3 : 2;
    struct ctx *ctx = ctx_new(NULL);
    struct bulk bulk = { NULL, 0 };
    struct tensor in[OP_CASE_TENSORS], out[3];
    const int n_inputs = tensors_from_text(&bulk, t->inputs, in);

    op_apply_all(ctx, &bulk, t->op, t->attrs, n_inputs, in, n, out);
    for (int64_t i = 0; i < type_elements(&out[1].type); i++) {
        const double got = ldexp(tensor_at(&out[1], i), -15), wanted = t->wanted[i / t->hidden];

        ck_assert_msg(fabs(got - wanted) < 8e-5, "%s: %g, expected %g", t->name, got, wanted);
    }
    bulk_release(&bulk);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ops: recurrent layers of quantised numbers");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_add_loop_test(tests, by_hand, 0, N_ROWS(cases));
    tcase_add_loop_test(tests, functions_are_near, 0, N_ROWS(functions));
    tcase_add_loop_test(tests, bounds_hold, 0, N_ROWS(functions));
    tcase_add_loop_test(tests, as_far_from_floats_as_said, 0, N_ROWS(pairs));
    tcase_add_loop_test(tests, values_of_the_node_tests, 0, N_ROWS(node_tests));
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
