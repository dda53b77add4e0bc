/* Norms and quotients of quantised numbers: numbers by hand, what is refused, and how far results
 * are from those of the float operators in doubles, in steps of the result. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "relay_ir/ops/qnn.h"
#include "relay_ir/walk.h"
#include "runtime/embed/quotient_of_steps.h"
#include "tests/support/executions.h"
#include "tests/support/expect.h"
#include "tests/support/op_case.h"

#define NORM(axis, groups, epsilon) "{axis=" axis ", groups=" groups ", epsilon=" epsilon "}"
#define LRN(size, alpha, beta, bias)                                                               \
    "{size=" size ", alpha=" alpha ", beta=" beta ", bias=" bias ", layout=\"\"}"
#define SAME "; f32[] 0.5; i8[] 3; f32[] 0.5; i8[] 3"
#define TENTHS "; f32[] 0.5; i8[] 3; f32[] 0.1; i8[] 1"

static const struct op_case cases[] = {
    /* mean 5, deviation 2: -1 and 1, in tenths; the zero point of x is of no concern */
    { "qnn.layer_norm", NORM("0", "0", "0"), "i8[4] 3 7 3 7" TENTHS "; f32[4] 1; f32[4] 0",
      "i8[4] -9 11 -9 11", NULL },
    { "qnn.layer_norm", NORM("1", "0", "0"),
      "i8[2,2] -128 127 0 1" TENTHS "; f32[2] 1 0.5; f32[2] 0.2 -0.1", "i8[2,2] -7 5 -7 5", NULL },
    { "qnn.layer_norm", NORM("1", "0", "0"), "i8[1,2] 1 2" TENTHS "; f32[2] 1", "i8[1,2] -9 11",
      NULL },
    /* nothing is left but the bias; with epsilon = deviation^2 (0.25) the result is by sqrt(2) less
     */
    { "qnn.layer_norm", NORM("1", "0", "0"), "i8[1,3] 7" TENTHS "; f32[3] 1; f32[3] 0.5 1 -1",
      "i8[1,3] 6 11 -9", NULL },
    { "qnn.layer_norm", NORM("1", "0", "0.25"), "i8[1,2] 0 2" TENTHS "; f32[2] 1; f32[2] 0",
      "i8[1,2] -6 8", NULL },
    { "qnn.layer_norm", NORM("1", "0", "0"), "i8[1,2] 0 2" TENTHS "; f32[2] 1e30; f32[2] 0",
      "i8[1,2] -128 127", NULL },
    { "qnn.layer_norm", NORM("1", "0", "0"), "i8[1,2] 0 2" TENTHS "; f32[3] 1", "",
      "scale has shape 3, expected 2" },
    { "qnn.layer_norm", NORM("1", "0", "0"), "i8[1,2] 0 2" TENTHS "; i8[2] 1", "",
      "input 5 of qnn.layer_norm is i8, expected f32" },
    { "qnn.layer_norm", NORM("1", "0", "0"), "f32[1,2] 0" TENTHS "; f32[2] 1", "",
      "expected i8, u8, i16 or u16" },
    { "qnn.instance_norm", NORM("1", "0", "0"),
      "i8[1,2,2] 3 7 10 30" TENTHS "; f32[2] 1 2; f32[2] 0 1", "i8[1,2,2] -9 11 -9 31", NULL },
    { "qnn.instance_norm", NORM("2", "0", "0"), /* the channels last */
      "i8[1,2,2] 3 10 7 30" TENTHS "; f32[2] 1 2; f32[2] 0 1", "i8[1,2,2] -9 -9 11 31", NULL },
    { "qnn.instance_norm", NORM("2", "0", "0"), "i8[1,2,2,2] 3" TENTHS "; f32[2] 1; f32[2] 0", "",
      "the channels are axis 2, expected axis 1 or the last" },
    { "qnn.group_norm", NORM("1", "1", "0"), "i8[1,2,2] 3 7 7 3" TENTHS "; f32[2] 1 2; f32[2] 0 1",
      "i8[1,2,2] -9 11 31 -9", NULL },
    { "qnn.group_norm", NORM("1", "3", "0"), "i8[1,2,2] 3" TENTHS "; f32[2] 1; f32[2] 0", "",
      "3 groups do not divide 2 channels" },

    /* 3 and 4 of 5, 1 and 3 of 4, in tenths; lines of zeros stay */
    { "qnn.lp_normalize", "{axis=1, p=2}", "i8[2,2] 6 7 3 3" TENTHS, "i8[2,2] 7 9 1 1", NULL },
    { "qnn.lp_normalize", "{axis=0, p=1}", "i8[2,2] 4 3 0 3" TENTHS, "i8[2,2] 3 1 -6 1", NULL },
    { "qnn.lp_normalize", "{axis=0, p=3}", "i8[2] 4" TENTHS, "", "p is 3, expected 1 or 2" },

    /* d = 2 is 1.0; 1 / (1 + 3 * 1 / 3)^1 is 0.5 */
    { "qnn.lrn", LRN("3", "3", "1", "1"), "i8[1,1,1] 5" TENTHS, "i8[1,1,1] 6", NULL },
    { "qnn.lrn", LRN("3", "0", "2", "2"), "i8[1,2,1] 5 -1" TENTHS, "i8[1,2,1] 3 -4", NULL },
    { "qnn.lrn", LRN("3", "-1", "1", "1"), "i8[1,1,1] 5" TENTHS, "", "expected none negative" },
    { "qnn.lrn", LRN("3", "3", "1", "1"), "i16[1,1,1] 5; f32[] 0.5; i16[] 3; f32[] 0.1; i8[] 1",
      "i8[1,1,1] 6", NULL },
    { "qnn.lrn", LRN("3", "1", "1", "1"), "f32[1,1,1] 5; f32[] 1; i16[] 0; f32[] 1; i8[] 0", "",
      "expected i8, u8, i16 or u16" },

    /* 7/2 and -7/2: ties up; by 0: the greatest, the least, none */
    { "qnn.div", "", "i8[2] 7 -7; i8[1] 2; f32[] 1; i8[] 0; f32[] 1; i8[] 0; f32[] 1; i8[] 1",
      "i8[2] 5 -2", NULL },
    { "qnn.div", "", "i8[3] 7 -7 0; u8[1] 9; f32[] 1; i8[] 0; f32[] 1; u8[] 9; f32[] 1; i8[] 1",
      "i8[3] 127 -128 1", NULL },
    /* by 16 bits: halves go away from 0 */
    { "qnn.div", "",
      "i8[5] 7 -7 9 7 -7; i16[5] 2 2 -4 0 0; f32[] 1; i8[] 0; f32[] 1; i16[] 0; f32[] 1; i8[] 1",
      "i8[5] 5 -3 -1 127 -128", NULL },
    { "qnn.div", "",
      "u16[2] 65535 0; u16[1] 1; f32[] 1; u16[] 0; f32[] 0.5; u16[] 0; f32[] 2; u16[] 3",
      "u16[2] 65535 3", NULL },
    { "qnn.div", "", "i8[1] 7; f32[1] 2; f32[] 1; i8[] 0; f32[] 1; f32[] 0; f32[] 1; i8[] 1", "",
      "input 1 of qnn.div is f32, expected i8, u8, i16 or u16" },
    { "qnn.div", "",
      "f8e5m2[1] 7; f8e5m2[1] 2; f32[] 1; f8e5m2[] 0; f32[] 1; f8e5m2[] 0; f32[] 1; f8e5m2[] 0", "",
      "at most 2^30 steps" },
};

START_TEST(by_hand)
{
    op_case_check(&cases[_i]);
}
END_TEST

/* Of all sizes: squares, their neighbours, the ends. */
START_TEST(inverse_root_is_near)
{
    double worst = 0;

    for (int bit = 0; bit < 64; bit++)
        for (int k = -3; k <= 3; k++)
            for (uint64_t odd = 1; odd < 2000; odd += 222) {
                const uint64_t x = odd * ((uint64_t)1 << bit) + (uint64_t)k;
                struct inverse_root root;
                double off;

                if (x == 0)
                    continue;
                root = inverse_root_of(x);
                off = fabs(ldexp(root.significand, -root.shift) * sqrt((double)x) - 1);
                worst = off > worst ? off : worst;
                ck_assert(root.shift >= 31 && root.shift <= 62);
                ck_assert(root.significand >= 1u << 30 && root.significand <= 1u << 31);
            }
    ck_assert_msg(worst < 0x1p-30, "%g", worst);
}
END_TEST

/* An operator of codes and that of floats, with random codes. */
struct pair {
    const char *op, *of_floats, *attrs;
    enum dtype dtype, out_dtype;
    int rank;
    int64_t dim[4];
    double in_scale, out_scale;
    int n_vectors; /* scale and bias, of `n` numbers each */
    int64_t n;
    double most; /* steps */
};

#define SPATIAL                                                                                    \
    3,                                                                                             \
    {                                                                                              \
        2, 6, 9                                                                                    \
    }
static const struct pair pairs[] = {
    { "qnn.layer_norm",
      "nn.layer_norm",
      NORM("1", "0", "1e-5"),
      DTYPE_I8,
      DTYPE_I8,
      2,
      { 9, 64 },
      0.05,
      0.03,
      2,
      64,
      0.501 },
    { "qnn.layer_norm",
      "nn.layer_norm",
      NORM("1", "0", "1e-5"),
      DTYPE_I8,
      DTYPE_I16,
      2,
      { 9, 64 },
      0.05,
      0.0001,
      2,
      64,
      0.65 },
    { "qnn.layer_norm",
      "nn.layer_norm",
      NORM("1", "0", "1e-5"),
      DTYPE_I16,
      DTYPE_I8,
      2,
      { 3, 500 },
      0.001,
      0.03,
      1,
      500,
      0.501 },
    { "qnn.layer_norm",
      "nn.layer_norm",
      NORM("1", "0", "100"),
      DTYPE_U8,
      DTYPE_U8,
      2,
      { 5, 33 },
      0.05,
      0.01,
      2,
      33,
      0.502 },
    { "qnn.layer_norm",
      "nn.layer_norm",
      NORM("1", "0", "1e-5"),
      DTYPE_U8,
      DTYPE_I8,
      2,
      { 1, 100000 },
      0.05,
      0.03,
      2,
      100000,
      0.501 },
    { "qnn.instance_norm", "nn.instance_norm", NORM("1", "0", "1e-3"), DTYPE_I8, DTYPE_I8, SPATIAL,
      0.02, 0.02, 2, 6, 0.501 },
    { "qnn.group_norm", "nn.group_norm", NORM("1", "2", "1e-3"), DTYPE_U8, DTYPE_I8, SPATIAL, 0.02,
      0.02, 2, 6, 0.501 },
    { "qnn.instance_norm", "nn.instance_norm", NORM("2", "0", "1e-3"), DTYPE_I8, DTYPE_I8, SPATIAL,
      0.02, 0.02, 2, 9, 0.501 },
    { "qnn.group_norm", "nn.group_norm", NORM("2", "3", "1e-3"), DTYPE_U8, DTYPE_I8, SPATIAL, 0.02,
      0.02, 2, 9, 0.501 },
    { "qnn.lp_normalize", "nn.lp_normalize", "{axis=2, p=2}", DTYPE_I8, DTYPE_I8, SPATIAL, 0.02,
      0.0078125, 0, 0, 0.501 },
    { "qnn.lp_normalize", "nn.lp_normalize", "{axis=1, p=1}", DTYPE_I16, DTYPE_I8, SPATIAL, 0.02,
      0.0078125, 0, 0, 0.501 },
    { "qnn.lrn", "nn.lrn", LRN("5", "0.0001", "0.75", "1"), DTYPE_I8, DTYPE_I8, SPATIAL, 0.5, 0.45,
      0, 0, 0.502 },
    { "qnn.lrn", "nn.lrn", LRN("4", "2", "0.5", "3"), DTYPE_U8, DTYPE_U8, SPATIAL, 0.1, 0.01, 0, 0,
      0.502 },
    { "qnn.lrn", "nn.lrn", LRN("3", "1", "4", "0.5"), DTYPE_I8, DTYPE_I8, SPATIAL, 0.01, 0.1, 0, 0,
      0.502 },
    { "qnn.lrn", "nn.lrn", LRN("5", "0.0001", "0.75", "1"), DTYPE_I16, DTYPE_I8, SPATIAL, 0.002,
      0.45, 0, 0, 0.502 },
    { "qnn.lrn", "nn.lrn", LRN("5", "0.01", "0.75", "1"), DTYPE_I16, DTYPE_I16, SPATIAL, 0.002,
      0.0015, 0, 0, 0.6 },
    { "qnn.lrn", "nn.lrn", LRN("4", "2", "0.5", "3"), DTYPE_U16, DTYPE_U16, SPATIAL, 0.0005,
      0.00003, 0, 0, 0.6 },
};

static struct tensor one_number(struct bulk *bulk, enum dtype dtype, double number)
{
    const struct type type = type_scalar(dtype);
    struct tensor tensor = tensor_new(bulk, &type);

    tensor_put(&tensor, 0, number);
    return tensor;
}

START_TEST(as_far_from_floats_as_said)
{
    const struct pair *p = &pairs[_i];
    struct ctx *ctx = ctx_new(NULL);
    struct bulk bulk = { NULL, 0 };
    const struct type of_x = type_make(p->dtype, p->rank, p->dim);
    const struct type of_floats = type_make(DTYPE_F64, p->rank, p->dim);
    const struct type vector = type_make(DTYPE_F32, 1, &p->n);
    const struct type vector_of_floats = type_make(DTYPE_F64, 1, &p->n);
    const double least = (double)dtype_least(p->dtype), most = (double)dtype_greatest(p->dtype);
    const double least_out = (double)dtype_least(p->out_dtype);
    const double most_out = (double)dtype_greatest(p->out_dtype);
    const double zero = floor((least + most) / 2) + 5, out_zero = floor((least_out + most_out) / 2);
    struct tensor in[7], floats[3], codes, wanted;
    double worst = 0;
    unsigned seed = 5;

    in[0] = tensor_new(&bulk, &of_x);
    floats[0] = tensor_new(&bulk, &of_floats);
    fill_random(&in[0], least, most, &seed);
    in[1] = one_number(&bulk, DTYPE_F32, p->in_scale);
    in[2] = one_number(&bulk, p->dtype, zero);
    in[3] = one_number(&bulk, DTYPE_F32, p->out_scale);
    in[4] = one_number(&bulk, p->out_dtype, out_zero);
    for (int64_t i = 0; i < type_elements(&of_x); i++)
        tensor_put(&floats[0], i, (tensor_at(&in[0], i) - zero) * tensor_at(&in[1], 0));
    for (int v = 0; v < p->n_vectors; v++) {
        in[5 + v] = tensor_new(&bulk, &vector);
        floats[1 + v] = tensor_new(&bulk, &vector_of_floats);
        fill_random(&in[5 + v], -1, 1.5, &seed);
        for (int64_t i = 0; i < p->n; i++)
            tensor_put(&floats[1 + v], i, tensor_at(&in[5 + v], i));
    }
    codes = op_apply(ctx, &bulk, p->op, p->attrs, 5 + p->n_vectors, in);
    wanted = op_apply(ctx, &bulk, p->of_floats, p->attrs, 1 + p->n_vectors, floats);
    for (int64_t i = 0; i < type_elements(&of_x); i++) {
        const double steps = tensor_at(&wanted, i) / tensor_at(&in[3], 0) + out_zero;
        const double off = fabs(fmax(fmin(steps, most_out), least_out) - tensor_at(&codes, i));

        worst = off > worst ? off : worst;
    }
    ck_assert_msg(worst <= p->most && worst > 0.4, "%s: %g steps", p->op, worst);
    bulk_release(&bulk);
    ctx_free(ctx);
}
END_TEST

/* All codes of both operands: nearest to the quotient. */
START_TEST(quotients_are_nearest)
{
    static const double factors[] = { 1.0 / 255, 0.037, 1, 12.3, 1e-4 };

    for (int f = 0; f < 5; f++) {
        const struct qnn_div div = qnn_div_of(DTYPE_I8, 3, 1, 1, 1 / factors[f]);

        for (int a = -255; a <= 255; a++)
            for (int b = -128; b <= 127; b++) {
                const double exact = b == 3 ? 0 : a * factors[f] / (b - 3);
                const double found =
                    floor(a * (double)div.reciprocals[b + 128] / ldexp(1, div.shift) + 0.5);

                if (b == 3)
                    ck_assert_int_eq(div.reciprocals[b + 128], QNN_BY_ZERO);
                else
                    ck_assert_msg(fabs(found - exact) <= 0.5 + 1e-4, "%d / %d", a, b);
            }
    }
}
END_TEST

/* The same by 16 bits, and of 16 bits: the ends, their neighbours, and some between. */
START_TEST(wide_quotients_are_nearest)
{
    static const double factors[] = { 1.0 / 65535, 0.037, 1, 12.3, 1e-9, 30000 };
    static const int numbers[] = { 1,    2,    3,     7,     100,   255,   256,  1000,
                                   4095, 9999, 32767, 32768, 40001, 65534, 65535 };

    for (int f = 0; f < 6; f++)
        for (int i = 0; i < 15; i++)
            for (int k = 0; k < 15; k++) {
                const int64_t a = i % 2 ? -numbers[i] : numbers[i], b = numbers[k];
                const struct fixed_point factor = qnn_div_factor_of(1, 1, 1 / factors[f]);
                const double exact = (double)a * factors[f] / (double)b;
                const int64_t found = qnn_quotient(factor, a, b);

                ck_assert_int_eq(qnn_quotient(factor, a, -b), -found);
                ck_assert_int_eq(quotient_of_steps((int32_t)a, (int32_t)b, factor.multiplier,
                                                   46 - factor.shift < 63 ? 46 - factor.shift : 63),
                                 found);
                ck_assert_msg(fabs((double)found - exact) <= 0.5 + 1e-4 + fabs(exact) * 0x1p-30,
                              "%d / %d: %d, wanted %g", (int)a, (int)b, (int)found, exact);
            }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ops: norms and quotients of quantised numbers");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_add_loop_test(tests, by_hand, 0, N_ROWS(cases));
    tcase_add_test(tests, inverse_root_is_near);
    tcase_add_loop_test(tests, as_far_from_floats_as_said, 0, N_ROWS(pairs));
    tcase_add_test(tests, quotients_are_nearest);
    tcase_add_test(tests, wide_quotients_are_nearest);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
