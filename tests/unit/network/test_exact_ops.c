/* Norms, lp_normalize, lrn and quotients of narrow floats in integers: numbers by hand, what is
 * refused, the helpers of generated C against their definitions, and how far results are from those
 * of the float operators in doubles, in units of the last place. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/minifloat.h"
#include "relay_ir/ops/exact.h"
#include "relay_ir/walk.h"
#include "runtime/embed/inverse_deviation.h"
#include "runtime/embed/inverse_of.h"
#include "tests/support/executions.h"
#include "tests/support/expect.h"
#include "tests/support/op_case.h"

#define NORM(axis, groups, epsilon) "{axis=" axis ", groups=" groups ", epsilon=" epsilon "}"
#define LRN(size, alpha, beta, bias)                                                               \
    "{size=" size ", alpha=" alpha ", beta=" beta ", bias=" bias ", layout=\"\"}"
#define POOL(counted)                                                                              \
    "{pool_size=[3,2], strides=[2,1], padding=[1,1,1,1], dilation=[1,1], ceil_mode=true, "         \
    "count_include_pad=" counted ", p=0, storage_order=0, layout=\"NCHW\"}"
#define POOL1(padding, counted)                                                                    \
    "{pool_size=[2], strides=[1], padding=" padding                                                \
    ", dilation=[1], ceil_mode=false, count_include_pad=" counted                                  \
    ", p=0, storage_order=0, layout=\"NCW\"}"
#define SAME "; f32[] 1; f8e4m3[] 0; f32[] 1; f8e4m3[] 0"

/* Codes of E4M3: 0x38 = 56 is 1, 64 is 2, 48 is 0.5, 184 is -1, 1 is 2^-9, 126 is 448. */
static const struct op_case cases[] = {
    /* mean 3, deviation 1: -1 and 1 */
    { "qnn.layer_norm", NORM("0", "0", "0"), "f8e4m3[4] 64 72 64 72" SAME "; f32[4] 1; f32[4] 0",
      "f8e4m3[4] 184 56 184 56", NULL },
    /* the whole range: half of it from the mean, times 448, plus 0.5 */
    { "qnn.layer_norm", NORM("1", "0", "0"),
      "f8e4m3[2,2] 126 254 1 0" SAME "; f32[2] 448 1; f32[2] 0.5 -0.5",
      "f8e4m3[2,2] 126 188 126 188", NULL },
    /* nothing is left but the bias; with epsilon = deviation^2 the result is by sqrt(2) less */
    { "qnn.layer_norm", NORM("1", "0", "0"), "f8e4m3[1,3] 7" SAME "; f32[3] 1; f32[3] 0.5 1 -1",
      "f8e4m3[1,3] 48 56 184", NULL },
    { "qnn.layer_norm", NORM("1", "0", "1"), "f8e4m3[1,2] 0 64" SAME "; f32[2] 1; f32[2] 0",
      "f8e4m3[1,2] 179 51", NULL },
    { "qnn.layer_norm", NORM("1", "0", "0"), "f8e4m3[1,2] 0 64" SAME "; f32[2] 1e30; f32[2] 0",
      "f8e4m3[1,2] 254 126", NULL },
    { "qnn.layer_norm", NORM("1", "0", "0"), "f8e4m3[1,2] 0 64" SAME "; f32[3] 1", "",
      "scale has shape 3, expected 2" },
    { "qnn.layer_norm", NORM("1", "0", "0"), "f8e4m3[1,2] 0 64" SAME "; f16[2] 1", "",
      "input 5 of qnn.layer_norm is f16, expected f32" },
    { "qnn.layer_norm", NORM("1", "0", "0"),
      "f8e5m2[1,2] 0 64; f32[] 1; f8e5m2[] 0; f32[] 1; f8e5m2[] 0; f32[2] 1", "",
      "at most 2^30 steps" },
    { "qnn.layer_norm", NORM("1", "0", "0"),
      "f8e4m3[1,2] 0 64; f32[] 1; f8e4m3[] 1; f32[] 1; f8e4m3[] 0; f32[2] 1", "",
      "is not the constant 0" },
    { "qnn.instance_norm", NORM("1", "0", "0"),
      "f8e4m3[1,2,2] 64 72 0 1" SAME "; f32[2] 1 2; f32[2] 0 1", "f8e4m3[1,2,2] 184 56 184 68",
      NULL },
    { "qnn.group_norm", NORM("1", "1", "0"),
      "f8e4m3[1,2,2] 64 72 72 64" SAME "; f32[2] 1 2; f32[2] 0 1", "f8e4m3[1,2,2] 184 56 68 184",
      NULL },
    { "qnn.instance_norm", NORM("2", "0", "0"), /* the channels last */
      "f8e4m3[1,2,2] 64 0 72 1" SAME "; f32[2] 1 2; f32[2] 0 1", "f8e4m3[1,2,2] 184 184 56 68",
      NULL },
    { "qnn.instance_norm", NORM("2", "0", "0"), "f8e4m3[1,2,2,2] 3" SAME "; f32[2] 1; f32[2] 0", "",
      "the channels are axis 2, expected axis 1 or the last" },

    /* 3 and 4 of 5: 0.6 and 0.8; 1 and 3 of 4; lines of zeros stay */
    { "qnn.lp_normalize", "{axis=1, p=2}", "f8e4m3[2,2] 68 72 0 128" SAME, "f8e4m3[2,2] 50 53 0 0",
      NULL },
    { "qnn.lp_normalize", "{axis=0, p=1}", "f8e4m3[2] 1 131" SAME, "f8e4m3[2] 40 180", NULL },
    { "qnn.lp_normalize", "{axis=0, p=3}", "f8e4m3[2] 4" SAME, "", "p is 3, expected 1 or 2" },

    /* 1 / (1 + 3 * 1 / 3)^1 is 0.5 */
    { "qnn.lrn", LRN("3", "3", "1", "1"), "f8e4m3[1,1,1] 56" SAME, "f8e4m3[1,1,1] 48", NULL },
    { "qnn.lrn", LRN("3", "0", "2", "2"), "f8e4m3[1,2,1] 56 184" SAME, "f8e4m3[1,2,1] 40 168",
      NULL },
    { "qnn.lrn", LRN("3", "-1", "1", "1"), "f8e4m3[1,1,1] 56" SAME, "", "expected none negative" },
    { "qnn.lrn", LRN("150000000", "1", "1", "1"), "f8e4m3[1,1,1] 56" SAME, "",
      "150000000 squares are added, expected at most 134217728" },

    /* 1 and 2, the padding does not count, or does; ties to even: of 16 and 18 it is 16
     */
    { "qnn.avg_pool1d", POOL1("[1,0]", "false"), "f8e4m3[1,1,2] 56 64" SAME, "f8e4m3[1,1,2] 56 60",
      NULL },
    { "qnn.avg_pool1d", POOL1("[1,0]", "true"), "f8e4m3[1,1,2] 56 64" SAME, "f8e4m3[1,1,2] 48 60",
      NULL },
    { "qnn.mean", "{axis=[0], keepdims=true}", "f8e4m3[2] 88 89" SAME, "f8e4m3[1] 88", NULL },
    { "qnn.sum", "{axis=[0], keepdims=true}", "f8e4m3[3] 126 126 254" SAME, "f8e4m3[1] 126", NULL },
    { "qnn.sum", "{axis=[0], keepdims=true}", "f8e4m3[3] 1 127 1" SAME, "f8e4m3[1] 2", NULL },
    { "qnn.mean", "{axis=[0], keepdims=true}",
      "f8e5m2[2] 88 89; f32[] 1; f8e5m2[] 0; f32[] 1; f8e5m2[] 0", "", "at most 2^30 steps" },

    /* 1 / 2, -1 / 2^-9; by both zeros: the greatest; 0 / 0 */
    { "qnn.div", "",
      "f8e4m3[2] 56 184; f8e4m3[2] 64 1; f32[] 1; f8e4m3[] 0; f32[] 1; f8e4m3[] 0; f32[] 1; "
      "f8e4m3[] 0",
      "f8e4m3[2] 48 254", NULL },
    /* of two formats, to a third: 1 + 2 (of E3M4 0x40 = 64) - 0.5 ...; E3M4 has 16 steps of 2^-6 in
     * what E4M3 has 8 of 2^-9 */
    { "qnn.add", "",
      "f8e4m3[3] 56 184 1; f8e3m4[3] 64 48 0; f32[] 1; f8e4m3[] 0; f32[] 1; f8e3m4[] 0; f32[] 1; "
      "f8e4m3[] 0",
      "f8e4m3[3] 68 0 1", NULL },
    { "qnn.subtract", "",
      "f8e3m4[2] 64 48; f8e4m3[2] 56 56; f32[] 1; f8e3m4[] 0; f32[] 1; f8e4m3[] 0; f32[] 0.5; "
      "f8e3m4[] 0",
      "f8e3m4[2] 64 0", NULL },
    { "qnn.mul", "",
      "f8e3m4[2] 64 176; f8e4m3[2] 68 68; f32[] 1; f8e3m4[] 0; f32[] 2; f8e4m3[] 0; f32[] 1; "
      "f8e4m3[] 0",
      "f8e4m3[2] 84 204", NULL },
    { "qnn.div", "",
      "f8e4m3[2] 68 68; f8e3m4[2] 64 192; f32[] 1; f8e4m3[] 0; f32[] 1; f8e3m4[] 0; f32[] 1; "
      "f8e4m3[] 0",
      "f8e4m3[2] 60 188", NULL },
    { "qnn.add", "",
      "f8e4m3[1] 56; f8e5m2[1] 64; f32[] 1; f8e4m3[] 0; f32[] 1; f8e5m2[] 0; f32[] 1; f8e4m3[] 0",
      "", "at most 2^30 steps" },
    { "qnn.div", "",
      "f8e4m3[4] 1 1 129 0; f8e4m3[4] 0 128 0 0; f32[] 1; f8e4m3[] 0; f32[] 1; f8e4m3[] 0; f32[] "
      "1; f8e4m3[] 0",
      "f8e4m3[4] 126 254 254 0", NULL },
};

START_TEST(by_hand)
{
    op_case_check(&cases[_i]);
}
END_TEST

/* --- helpers ---------------------------------------------------------------------------------- */

static uint64_t state = 1;

static uint64_t random_bits(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* Sums and squares that n numbers below 2^bits can have, spreads down to none among them. */
START_TEST(inverse_deviation_is_defined_once)
{
    long double worst = 0;

    for (int i = 0; i < 200000; i++) {
        const int bits = (int)(random_bits() % 18), n_bits = (int)(random_bits() % 28);
        const int64_t n = 1 + (int64_t)(random_bits() % ((uint64_t)1 << n_bits));
        const int64_t mean = (int64_t)(random_bits() % ((uint64_t)1 << bits)) - (1 << bits) / 2;
        const int64_t more = n > 1 ? (int64_t)(random_bits() >> random_bits() % 64) & 0xfff : 0;
        const uint64_t squares = (uint64_t)(n * mean * mean + more * more * (n > 1));
        struct exact_norm norm = { .epsilon = 0 };
        struct exact_inverse of;
        long double w, off;
        int shift = 0;
        int32_t found;

        if (i % 3) {
            norm.epsilon = ((uint64_t)1 << 60) + random_bits() % ((uint64_t)3 << 60);
            norm.exponent = 2 * ((int)(random_bits() % 120) - 60);
        }
        of = exact_inverse_deviation(&norm, n, n * mean, squares);
        found =
            inverse_deviation((uint32_t)n, n * mean, squares, norm.epsilon, norm.exponent, &shift);
        ck_assert_int_eq(of.significand, found);
        w = (long double)((wide)squares * n - (wide)(n * mean) * (n * mean)) +
            ldexpl((long double)norm.epsilon, norm.exponent);
        ck_assert_int_eq(found == 0, w == 0);
        if (found == 0)
            continue;
        ck_assert_int_eq(of.shift, shift);
        off = fabsl(ldexpl((long double)found, -shift) * sqrtl(w) - 1);
        worst = off > worst ? off : worst;
    }
    ck_assert_msg(worst < 0x1p-29L, "%Lg", worst);
}
END_TEST

START_TEST(inverse_is_defined_once)
{
    double worst = 0;

    for (int i = 0; i < 100000; i++) {
        const uint64_t x = random_bits() >> random_bits() % 64;
        const struct exact_inverse of = exact_inverse_of(x);
        int shift;
        double off;

        if (x == 0)
            continue;
        ck_assert_int_eq(inverse_of(x, &shift), of.significand);
        ck_assert_int_eq(shift, of.shift);
        off = fabs(ldexp(of.significand, -of.shift) * (double)x - 1);
        worst = off > worst ? off : worst;
    }
    ck_assert_msg(worst < 0x1p-29, "%g", worst);
    ck_assert_int_eq(exact_inverse_of(0).significand, 0);
}
END_TEST

START_TEST(squares_fit)
{
    static const enum minifloat_row rows[] = { MINIFLOAT_F8E4M3, MINIFLOAT_F8E4M3FNUZ,
                                               MINIFLOAT_HFP8_143, MINIFLOAT_F8E3M4 };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct minifloat *format = &minifloats[rows[i]];
        const int64_t most = exact_most_squares(format), greatest = exact_greatest(format);

        ck_assert_int_eq(most, 1 << 27);
        ck_assert(most <= INT64_MAX / (greatest * greatest));
    }
    ck_assert_int_eq(exact_most_squares(&minifloats[MINIFLOAT_F8E5M2]), 0);
}
END_TEST

/* --- against doubles -------------------------------------------------------------------------- */

/* An operator of codes and that of floats, with random codes. */
struct pair {
    const char *op, *of_floats, *attrs;
    enum dtype dtype, out_dtype;
    int rank;
    int64_t dim[4];
    double in_scale, out_scale;
    int n_vectors; /* scale and bias, of `n` numbers each */
    int64_t n;
    double most; /* units of the last place */
};

#define E4M3 DTYPE_F8E4M3
#define E3M4 DTYPE_F8E3M4
/* clang-format off */
static const struct pair pairs[] = {
    { "qnn.layer_norm", "nn.layer_norm", NORM("1", "0", "1e-5"), E4M3, E4M3, 2, { 90, 64 }, 1, 1, 2, 64, 0.50001 },
    { "qnn.layer_norm", "nn.layer_norm", NORM("1", "0", "1e-5"), E4M3, E4M3, 2, { 90, 192 }, 0.013, 0.0047, 2, 192, 0.50001 },
    { "qnn.layer_norm", "nn.layer_norm", NORM("1", "0", "1e-5"), E4M3, E3M4, 2, { 9, 64 }, 0.05, 0.1, 1, 64, 0.50001 },
    { "qnn.layer_norm", "nn.layer_norm", NORM("1", "0", "1000"), E4M3, E4M3, 2, { 20, 33 }, 1, 1, 2, 33, 0.50001 },
    { "qnn.layer_norm", "nn.layer_norm", NORM("1", "0", "1e-5"), E4M3, E4M3, 2, { 1, 200000 }, 0.05, 0.03, 2, 200000, 0.51 },
    { "qnn.layer_norm", "nn.layer_norm", NORM("1", "0", "1e-5"), DTYPE_F8E4M3FNUZ, DTYPE_F8E4M3FNUZ, 2, { 9, 500 }, 1, 1, 2, 500, 0.50001 },
    { "qnn.layer_norm", "nn.layer_norm", NORM("1", "0", "1e-5"), DTYPE_HFP8_143, DTYPE_HFP8_143, 2, { 9, 500 }, 1, 1, 2, 500, 0.501 },
    { "qnn.instance_norm", "nn.instance_norm", NORM("1", "0", "1e-3"), E4M3, E4M3, 3, { 20, 6, 90 }, 0.02, 0.02, 2, 6, 0.50001 },
    { "qnn.group_norm", "nn.group_norm", NORM("1", "2", "1e-3"), E3M4, E4M3, 3, { 20, 6, 9 }, 0.02, 0.02, 2, 6, 0.50001 },
    { "qnn.lp_normalize", "nn.lp_normalize", "{axis=2, p=2}", E4M3, E4M3, 3, { 20, 6, 90 }, 0.02, 0.0078125, 0, 0, 0.50001 },
    { "qnn.lp_normalize", "nn.lp_normalize", "{axis=1, p=1}", E4M3, E4M3, 3, { 20, 60, 9 }, 0.02, 0.003, 0, 0, 0.50001 },
    { "qnn.avg_pool2d", "nn.avg_pool2d", POOL("true"), E4M3, E4M3, 4, { 3, 5, 9, 8 }, 0.02, 0.013, 0, 0, 0.500001 },
    { "qnn.avg_pool2d", "nn.avg_pool2d", POOL("false"), E4M3, E3M4, 4, { 3, 5, 9, 8 }, 0.02, 0.1, 0, 0, 0.500001 },
    { "qnn.mean", "mean", "{axis=[0,2], keepdims=true}", E3M4, E4M3, 4, { 3, 50, 9, 8 }, 0.02, 0.001, 0, 0, 0.500001 },
    { "qnn.mean", "mean", "{axis=[1,2,3], keepdims=false}", E4M3, E4M3, 4, { 300, 1, 9, 8 }, 1, 1, 0, 0, 0.500001 },
    { "qnn.sum", "sum", "{axis=[1], keepdims=false}", E4M3, E4M3, 4, { 3, 5, 9, 8 }, 0.02, 0.1, 0, 0, 0.500001 },
    { "qnn.lrn", "nn.lrn", LRN("5", "0.0001", "0.75", "1"), E4M3, E4M3, 3, { 20, 60, 9 }, 1, 1, 0, 0, 0.501 },
    { "qnn.lrn", "nn.lrn", LRN("4", "2", "0.5", "3"), E4M3, E3M4, 3, { 20, 6, 9 }, 0.1, 0.01, 0, 0, 0.501 },
    { "qnn.lrn", "nn.lrn", LRN("3", "0.001", "4", "0.5"), E4M3, E4M3, 3, { 20, 6, 9 }, 0.01, 0.1, 0, 0, 0.502 },
};
/* clang-format on */

static struct tensor one_number(struct bulk *bulk, enum dtype dtype, double number)
{
    const struct type type = type_scalar(dtype);
    struct tensor tensor = tensor_new(bulk, &type);

    if (dtype == DTYPE_F32)
        tensor_put(&tensor, 0, number);
    else
        *(uint8_t *)tensor.data = 0;
    return tensor;
}

static double number_of(const struct minifloat *format, unsigned code)
{
    return ldexp(exact_steps(format, code), exact_unit(format));
}

/* |wanted - found| in units of the last place of wanted. */
static double units_off(const struct minifloat *format, double wanted, double found)
{
    const double most = (double)minifloat_max(format);
    const int least = exact_unit(format);
    int exponent;

    wanted = fmax(fmin(wanted, most), -most);
    frexp(wanted, &exponent);
    exponent = exponent - 1 - format->mantissa_bits;
    return fabs(wanted - found) / ldexp(1, wanted == 0 || exponent < least ? least : exponent);
}

/* Random codes, and what they stand for. */
static void fill(struct tensor *codes, struct tensor *floats, double scale)
{
    const struct minifloat *format = type_minifloat(&codes->type);

    for (int64_t i = 0; i < type_elements(&codes->type); i++) {
        const unsigned code = (unsigned)(random_bits() >> 20 & 255);

        ((uint8_t *)codes->data)[i] = (uint8_t)code;
        tensor_put(floats, i, number_of(format, code) * scale);
    }
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
    struct tensor in[7], floats[3], codes, wanted;
    const struct minifloat *to;
    double worst = 0;
    unsigned seed = 5;

    in[0] = tensor_new(&bulk, &of_x);
    floats[0] = tensor_new(&bulk, &of_floats);
    in[1] = one_number(&bulk, DTYPE_F32, p->in_scale);
    in[2] = one_number(&bulk, p->dtype, 0);
    in[3] = one_number(&bulk, DTYPE_F32, p->out_scale);
    in[4] = one_number(&bulk, p->out_dtype, 0);
    fill(&in[0], &floats[0], tensor_at(&in[1], 0));
    for (int v = 0; v < p->n_vectors; v++) {
        in[5 + v] = tensor_new(&bulk, &vector);
        floats[1 + v] = tensor_new(&bulk, &vector_of_floats);
        fill_random(&in[5 + v], -1, 1.5, &seed);
        for (int64_t i = 0; i < p->n; i++)
            tensor_put(&floats[1 + v], i, tensor_at(&in[5 + v], i));
    }
    codes = op_apply(ctx, &bulk, p->op, p->attrs, 5 + p->n_vectors, in);
    wanted = op_apply(ctx, &bulk, p->of_floats, p->attrs, 1 + p->n_vectors, floats);
    to = type_minifloat(&codes.type);
    ck_assert(type_same_shape(&codes.type, &wanted.type));
    for (int64_t i = 0; i < type_elements(&codes.type); i++)
        worst = fmax(worst, units_off(to, tensor_at(&wanted, i) / tensor_at(&in[3], 0),
                                      number_of(to, ((const uint8_t *)codes.data)[i])));
    ck_assert_msg(worst <= p->most && worst > 0.4, "%s: %.9g units", p->op, worst);
    bulk_release(&bulk);
    ctx_free(ctx);
}
END_TEST

/* All codes of both operands: nearest to the quotient, but for what a reciprocal of 31 bits is off.
 */
START_TEST(quotients_are_nearest)
{
    static const enum dtype dtypes[] = { E4M3, DTYPE_F8E4M3FNUZ, E3M4, DTYPE_HFP8_143 };
    static const double factors[] = { 1, 0.037, 12.3, 0.5, 1e-4 };
    const struct minifloat *format = dtype_minifloat(dtypes[_i]);

    for (int f = 0; f < 5; f++) {
        struct exact_div div;

        exact_div_of(&(struct exact_formats){ format, format, format }, factors[f], 1, 1, &div);
        for (unsigned a = 0; a < 256; a++)
            for (unsigned b = 0; b < 256; b++) {
                const int64_t steps = exact_steps(format, a);
                const int32_t multiplier = div.multiplier[b];
                const unsigned code =
                    exact_scale(format, multiplier < 0 ? -steps : steps,
                                (struct exact_factor){ abs(multiplier), div.shift[b] });
                const double wanted = number_of(format, a) * factors[f] /
                                      (exact_steps(format, b) ? number_of(format, b)
                                       : b & 128              ? -1e-300
                                                              : 1e-300);

                ck_assert_msg(units_off(format, wanted, number_of(format, code)) <= 0.5 + 0x1p-26,
                              "%u / %u", a, b);
            }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("operators on narrow floats, in integers");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_set_timeout(tests, 0);
    tcase_add_loop_test(tests, by_hand, 0, N_ROWS(cases));
    tcase_add_test(tests, inverse_deviation_is_defined_once);
    tcase_add_test(tests, inverse_is_defined_once);
    tcase_add_test(tests, squares_fit);
    tcase_add_loop_test(tests, as_far_from_floats_as_said, 0, N_ROWS(pairs));
    tcase_add_loop_test(tests, quotients_are_nearest, 0, 4);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
