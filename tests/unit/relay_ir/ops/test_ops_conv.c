#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "tests/support/op_case.h"

#define FORM(groups)                                                                               \
    "{strides=[], padding=[], dilation=[], groups=" groups ", data_layout=\"\", "                  \
    "kernel_layout=\"\"}"
#define CONV1D(strides, padding, dilation, groups)                                                 \
    "{strides=" strides ", padding=" padding ", dilation=" dilation ", groups=" groups             \
    ", data_layout=\"NCW\", kernel_layout=\"OIW\"}"
#define CONV2D(strides, padding, dilation, groups)                                                 \
    "{strides=" strides ", padding=" padding ", dilation=" dilation ", groups=" groups             \
    ", data_layout=\"NCHW\", kernel_layout=\"OIHW\"}"
#define TRANSPOSED(strides, padding, dilation, output_padding, groups)                             \
    "{strides=" strides ", padding=" padding ", dilation=" dilation                                \
    ", output_padding=" output_padding ", groups=" groups                                          \
    ", data_layout=\"\", kernel_layout=\"\"}"

static const struct op_case convolutions[] = {
    { "nn.conv1d", FORM("1"), "f32[1,1,4] 1 2 3 4; f32[1,1,2] 10 1", "f32[1,1,3] 12 23 34", NULL },
    { "nn.conv1d", CONV1D("[2]", "[1,0]", "[1]", "1"), "f32[1,1,4] 1 2 3 4; f32[1,1,2] 10 1",
      "f32[1,1,2] 1 23", NULL },
    { "nn.conv1d", CONV1D("[1]", "[0,2]", "[3]", "1"), "f32[1,1,4] 1 2 3 4; f32[1,1,2] 10 1",
      "f32[1,1,3] 14 20 30", NULL },
    { "nn.conv1d", FORM("2"), "f32[1,2,2] 1 2 3 4; f32[4,1,1] 1 10 100 1000",
      "f32[1,4,2] 1 2 10 20 300 400 3000 4000", NULL },
    { "nn.conv2d", CONV2D("[1,1]", "[1,1,1,1]", "[1,1]", "1"),
      "f32[1,1,3,3] 0 1 2 3 4 5 6 7 8; f32[1,1,3,3] 1", "f32[1,1,3,3] 8 15 12 21 36 27 20 33 24",
      NULL },
    { "nn.conv2d", FORM("1"), "f64[1,2,1,1] 2 3; f64[3,2,1,1] 1 10 2 20 3 30",
      "f64[1,3,1,1] 32 64 96", NULL },
    { "nn.conv2d", FORM("1"), "f16[2,1,1,1] 2 3; f16[1,1,1,1] 5", "f16[2,1,1,1] 10 15", NULL },
    { "nn.conv3d", FORM("1"), "f32[1,1,2,2,2] 1 2 3 4 5 6 7 8; f32[1,1,2,1,2] 1 10 100 1000",
      "f32[1,1,1,2,1] 6521 8743", NULL },
    { "nn.conv1d", FORM("1"), "f32[0,1,4]; f32[1,1,2] 1", "f32[0,1,3]", NULL },
    { "nn.conv1d", FORM("1"), "f32[1,0,2]; f32[1,0,1]", "f32[1,1,2] 0 0", NULL },
    { "nn.conv1d", FORM("1"), "f32[1,1,4] 1; f32[1,1,5] 1", "",
      "in spatial dimension 0 the kernel covers 5 elements, the padded input has 4" },
    { "nn.conv1d", CONV1D("[1]", "[0,0]", "[4]", "1"), "f32[1,1,4] 1; f32[1,1,2] 1", "",
      "the kernel covers 5 elements" },
    { "nn.conv2d", FORM("1"), "f32[1,8,4,4] 1; f32[4,16,1,1] 1", "",
      "weight of shape 4x16x1x1 expects 16 input channels in each of 1 groups, x of shape 1x8x4x4 "
      "has "
      "8" },
    { "nn.conv2d", FORM("3"), "f32[1,8,4,4] 1; f32[4,16,1,1] 1", "",
      "3 groups do not divide 8 input channels and 4 output channels" },
    { "nn.conv2d", FORM("0"), "f32[1,8,4,4] 1; f32[4,8,1,1] 1", "", "0 groups do not divide" },
    { "nn.conv2d", FORM("1"), "f32[1,8,4] 1; f32[4,8,1,1] 1", "",
      "input 0 of nn.conv2d has shape 1x8x4, expected rank 4" },
    { "nn.conv2d", FORM("1"), "f32[1,8,4,4] 1; f32[4,8,1] 1", "",
      "input 1 of nn.conv2d has shape" },
    { "nn.conv1d", FORM("1"), "f32[1,1,4] 1; f64[1,1,2] 1", "", "expected one type for both" },
    { "nn.conv1d", FORM("1"), "i32[1,1,4] 1; i32[1,1,2] 1", "", "is i32, expected a floating" },
    { "nn.conv1d", FORM("1"), "f32[1,1,4] 1; f32[1,1,0]", "",
      "the kernel is empty in spatial dimension 0" },
    { "nn.conv2d", CONV2D("[0,1]", "[]", "[]", "1"), "f32[1,1,4,4] 1; f32[1,1,1,1] 1", "",
      "strides has the entry 0, expected 1 to" },
    { "nn.conv2d", CONV2D("[]", "[0,0,-1,0]", "[]", "1"), "f32[1,1,4,4] 1; f32[1,1,1,1] 1", "",
      "padding has the entry -1, expected 0 to" },
    { "nn.conv2d", CONV2D("[]", "[1,1]", "[]", "1"), "f32[1,1,4,4] 1; f32[1,1,1,1] 1", "",
      "padding has 2 entries, expected 4" },
    { "nn.conv2d", CONV2D("[]", "[]", "[1,9223372036854775807]", "1"),
      "f32[1,1,4,4] 1; f32[1,1,1,1] 1", "", "dilation has the entry 9223372036854775807" },
    { "nn.conv2d",
      "{strides=[], padding=[], dilation=[], groups=1, data_layout=\"HWNC\", "
      "out_layout=\"\", kernel_layout=\"\"}",
      "f32[1,1,4,4] 1; f32[1,1,1,1] 1", "",
      "data_layout is \"HWNC\", expected one of \"NCHW\", \"NHWC\"" },
    { "nn.conv2d",
      "{strides=[], padding=[], dilation=[], groups=1, data_layout=\"\", out_layout=\"NWC\", "
      "kernel_layout=\"\"}",
      "f32[1,1,4,4] 1; f32[1,1,1,1] 1", "", "out_layout is \"NWC\"" },
    { "nn.conv2d",
      "{strides=[], padding=[], dilation=[], groups=1, data_layout=\"NHWC\", out_layout=\"\", "
      "kernel_layout=\"OHWI\"}",
      "f32[1,4,4,1] 1; f32[1,1,1,1] 1", "", "kernel_layout is \"OHWI\"" },
    { "nn.conv2d", CONV1D("[]", "[]", "[]", "1"), "f32[1,1,4,4] 1; f32[1,1,1,1] 1", "",
      "data_layout is \"NCW\"" },
};

static const struct op_case transposed[] = {
    { "nn.conv1d_transpose", TRANSPOSED("[]", "[]", "[]", "[]", "1"),
      "f32[1,1,3] 1 2 3; f32[1,1,2] 10 1", "f32[1,1,4] 10 21 32 3", NULL },
    { "nn.conv1d_transpose", TRANSPOSED("[3]", "[]", "[]", "[1]", "1"),
      "f32[1,1,2] 1 2; f32[1,1,2] 10 1", "f32[1,1,6] 10 1 0 20 2 0", NULL },
    { "nn.conv1d_transpose", TRANSPOSED("[1]", "[1,1]", "[2]", "[]", "1"),
      "f32[1,1,3] 1 2 3; f32[1,1,2] 10 1", "f32[1,1,3] 20 31 2", NULL },
    { "nn.conv1d_transpose", TRANSPOSED("[]", "[]", "[]", "[]", "2"),
      "f32[1,2,1] 2 3; f32[2,2,1] 1 10 100 1000", "f32[1,4,1] 2 20 300 3000", NULL },
    { "nn.conv2d_transpose", TRANSPOSED("[]", "[]", "[]", "[]", "1"),
      "f32[1,1,3,3] 0 1 2 3 4 5 6 7 8; f32[1,2,3,3] 1",
      "f32[1,2,5,5] 0 1 3 3 2 3 8 15 12 7 9 21 36 27 15 9 20 33 24 13 6 13 21 15 8", NULL },
    { "nn.conv3d_transpose", TRANSPOSED("[]", "[]", "[]", "[]", "1"),
      "f64[1,2,1,1,1] 2 3; f64[2,1,2,1,1] 1 10 100 1000", "f64[1,1,2,1,1] 302 3020", NULL },
    { "nn.conv1d_transpose", TRANSPOSED("[]", "[3,0]", "[]", "[]", "1"),
      "f32[1,1,3] 1; f32[1,1,1] 1", "f32[1,1,0]", NULL },
    { "nn.conv1d_transpose", TRANSPOSED("[]", "[3,1]", "[]", "[]", "1"),
      "f32[1,1,3] 1; f32[1,1,1] 1", "", "would have extent -1: there is more padding than output" },
    { "nn.conv1d_transpose", TRANSPOSED("[]", "[]", "[]", "[]", "1"), "f32[1,1,0]; f32[1,1,1] 1",
      "", "the input has extent 0 and the kernel 1" },
    { "nn.conv1d_transpose", TRANSPOSED("[]", "[]", "[]", "[]", "1"), "f32[1,2,3] 1; f32[1,1,1] 1",
      "", "expects 1 input channels, x of shape 1x2x3 has 2" },
    { "nn.conv1d_transpose", TRANSPOSED("[]", "[]", "[]", "[]", "3"), "f32[1,2,3] 1; f32[2,1,1] 1",
      "", "3 groups do not divide 2 input channels" },
    { "nn.conv1d_transpose", TRANSPOSED("[]", "[]", "[]", "[-1]", "1"),
      "f32[1,1,3] 1; f32[1,1,1] 1", "", "output_padding has the entry -1" },
    { "nn.conv1d_transpose", TRANSPOSED("[1073741824]", "[]", "[]", "[]", "1"),
      "f64[1,1,65] 1; f64[1,1,1] 1", "", "is too big" },
};

/* Shapes for the comparisons below: always three spatial dimensions, of which `rank` are used. */
static const struct form {
    int rank;
    int64_t batch, in_c, out_c, groups, in[3], kernel[3], stride[3], dilation[3], before[3],
        after[3];
} forms[] = {
    { 1, 2, 3, 4, 1, { 9 }, { 3 }, { 1 }, { 1 }, { 0 }, { 0 } },
    { 1, 1, 4, 2, 2, { 11 }, { 4 }, { 3 }, { 2 }, { 2 }, { 3 } },
    { 1, 1, 1, 1, 1, { 2 }, { 2 }, { 1 }, { 4 }, { 5 }, { 6 } },
    { 2, 2, 2, 3, 1, { 5, 7 }, { 3, 3 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, { 1, 1 } },
    { 2, 1, 4, 4, 4, { 6, 5 }, { 3, 2 }, { 2, 1 }, { 1, 2 }, { 0, 2 }, { 1, 1 } },
    { 2, 1, 2, 2, 1, { 7, 8 }, { 1, 5 }, { 3, 2 }, { 1, 1 }, { 0, 4 }, { 0, 0 } },
    { 2, 1, 6, 4, 2, { 4, 4 }, { 4, 4 }, { 4, 4 }, { 1, 1 }, { 3, 3 }, { 3, 3 } },
    { 3, 1, 2, 2, 2, { 4, 3, 5 }, { 2, 3, 2 }, { 1, 2, 2 }, { 2, 1, 1 }, { 1, 1, 0 }, { 0, 1, 1 } },
    { 3, 2, 1, 2, 1, { 3, 4, 2 }, { 3, 1, 2 }, { 1, 1, 1 }, { 1, 1, 1 }, { 2, 0, 1 }, { 2, 0, 0 } },
};

static struct tensor random_tensor(struct bulk *bulk, int rank, const int64_t *dim, unsigned *seed)
{
    const struct type type = type_make(DTYPE_F64, rank, dim);
    struct tensor tensor = tensor_new(bulk, &type);

    for (int64_t i = 0; i < type_elements(&type); i++) {
        *seed = *seed * 1664525u + 1013904223u;
        ((double *)tensor.data)[i] = (double)(*seed >> 8) / (1 << 23) - 1;
    }
    return tensor;
}

static const char *list(struct ctx *ctx, int n, const int64_t *at, int m, const int64_t *more)
{
    struct str text = { .arena = &ctx->perm };

    for (int i = 0; i < n + m; i++)
        str_printf(&text, "%s%lld", i ? "," : "", (long long)(i < n ? at[i] : more[i - n]));
    return str_text(&text);
}

static const char *attrs_of(struct ctx *ctx, const struct form *f, const char *output_padding)
{
    return arena_printf(
        &ctx->perm,
        "{strides=[%s], padding=[%s], dilation=[%s], %sgroups=%lld, data_layout=\"\", "
        "kernel_layout=\"\"}",
        list(ctx, f->rank, f->stride, 0, NULL), list(ctx, f->rank, f->before, f->rank, f->after),
        list(ctx, f->rank, f->dilation, 0, NULL), output_padding, (long long)f->groups);
}

static struct tensor form_x(struct bulk *bulk, const struct form *f, unsigned *seed)
{
    return random_tensor(bulk, 2 + f->rank,
                         (int64_t[]){ f->batch, f->in_c, f->in[0], f->in[1], f->in[2] }, seed);
}

static struct tensor form_w(struct bulk *bulk, const struct form *f, unsigned *seed)
{
    return random_tensor(
        bulk, 2 + f->rank,
        (int64_t[]){ f->out_c, f->in_c / f->groups, f->kernel[0], f->kernel[1], f->kernel[2] },
        seed);
}

/* The element of x that output position `o` of a dimension multiplies with tap k, or -1. */
static int64_t tap(const struct form *f, int d, int64_t o, int64_t k)
{
    const int64_t i = d < f->rank ? o * f->stride[d] + k * f->dilation[d] - f->before[d] : 0;

    return d < f->rank && i >= f->in[d] ? -1 : i < 0 ? -1 : i;
}

/* The definition, element by element, on the unfolded input: a row per tap, im2col. */
static double definition(const struct form *f, const struct tensor *x, const struct tensor *w,
                         const struct type *y, int64_t at)
{
    const int64_t kernel = type_span(&w->type, 2, w->type.rank);
    const int64_t in = type_span(&x->type, 2, x->type.rank);
    const int64_t out = type_span(y, 2, y->rank);
    const int64_t oc = at / out % f->out_c, n = at / out / f->out_c;
    const int64_t group_in = f->in_c / f->groups, group = oc / (f->out_c / f->groups);
    double sum = 0;

    for (int64_t ic = 0; ic < group_in; ic++)
        for (int64_t k = 0; k < kernel; k++) {
            int64_t rest_o = at % out, rest_k = k, i = 0, step = 1;

            for (int d = f->rank - 1; d >= 0; d--) {
                const int64_t here = tap(f, d, rest_o % y->dim[2 + d], rest_k % f->kernel[d]);

                rest_o /= y->dim[2 + d];
                rest_k /= f->kernel[d];
                i = here < 0 || i < 0 ? -1 : i + here * step;
                step *= f->in[d];
            }
            if (i >= 0)
                sum += tensor_at(w, (oc * group_in + ic) * kernel + k) *
                       tensor_at(x, (n * f->in_c + group * group_in + ic) * in + i);
        }
    return sum;
}

static const char *const conv_names[] = { "nn.conv1d", "nn.conv2d", "nn.conv3d" };
static const char *const transpose_names[] = { "nn.conv1d_transpose", "nn.conv2d_transpose",
                                               "nn.conv3d_transpose" };

START_TEST(convolution_is_the_sum_over_its_taps)
{
    const struct form *f = &forms[_i];
    struct ctx *ctx = ctx_new(NULL);
    struct bulk bulk = { NULL, 0 };
    unsigned seed = 1;
    const struct tensor in[] = { form_x(&bulk, f, &seed), form_w(&bulk, f, &seed) };
    const struct tensor y =
        op_apply(ctx, &bulk, conv_names[f->rank - 1], attrs_of(ctx, f, ""), 2, in);

    ck_assert_int_gt(type_elements(&y.type), 0);
    for (int64_t i = 0; i < type_elements(&y.type); i++)
        ck_assert_double_eq_tol(tensor_at(&y, i), definition(f, &in[0], &in[1], &y.type, i), 1e-12);
    bulk_release(&bulk);
    ctx_free(ctx);
}
END_TEST

static double inner_product(const struct tensor *a, const struct tensor *b)
{
    double sum = 0;

    ck_assert(type_same_shape(&a->type, &b->type));
    for (int64_t i = 0; i < type_elements(&a->type); i++)
        sum += tensor_at(a, i) * tensor_at(b, i);
    return sum;
}

/* <conv(x), y> = <x, conv_transpose(y)> with the same weights: what the one calls output channels
 * the other calls input channels. The output padding makes up for what the stride skips in x. */
START_TEST(transposed_convolution_is_the_adjoint)
{
    const struct form *f = &forms[_i];
    struct ctx *ctx = ctx_new(NULL);
    struct bulk bulk = { NULL, 0 };
    unsigned seed = 2;
    const struct tensor in[] = { form_x(&bulk, f, &seed), form_w(&bulk, f, &seed) };
    const struct tensor conv =
        op_apply(ctx, &bulk, conv_names[f->rank - 1], attrs_of(ctx, f, ""), 2, in);
    const struct tensor y = random_tensor(&bulk, conv.type.rank, conv.type.dim, &seed);
    int64_t skipped[3];
    const char *attrs;
    struct tensor back;

    for (int d = 0; d < f->rank; d++)
        skipped[d] =
            (f->before[d] + f->in[d] + f->after[d] - (f->kernel[d] - 1) * f->dilation[d] - 1) %
            f->stride[d];
    attrs = attrs_of(
        ctx, f,
        arena_printf(&ctx->perm, "output_padding=[%s], ", list(ctx, f->rank, skipped, 0, NULL)));
    back = op_apply(ctx, &bulk, transpose_names[f->rank - 1], attrs, 2,
                    (const struct tensor[]){ y, in[1] });
    ck_assert_double_eq_tol(inner_product(&conv, &y), inner_product(&in[0], &back), 1e-12);
    bulk_release(&bulk);
    ctx_free(ctx);
}
END_TEST

START_TEST(convolutions_by_hand)
{
    op_case_check(&convolutions[_i]);
}
END_TEST

START_TEST(transposed_convolutions_by_hand)
{
    op_case_check(&transposed[_i]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ops_conv");
    TCase *tcase = tcase_create("ops_conv");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_loop_test(tcase, convolutions_by_hand, 0, N_ROWS(convolutions));
    tcase_add_loop_test(tcase, transposed_convolutions_by_hand, 0, N_ROWS(transposed));
    tcase_add_loop_test(tcase, convolution_is_the_sum_over_its_taps, 0, N_ROWS(forms));
    tcase_add_loop_test(tcase, transposed_convolution_is_the_adjoint, 0, N_ROWS(forms));
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
