/* signal_fft.c - real Fourier transforms of i16 and i32, as TensorFlow Lite Micro's `signal` library has them computed
 * (kiss_fft), bit for bit. Half the number of points has no factors but 2, 3 and 5.
 *
 * signal.rfft    x (.., n), n <= length; behind it stand zeros -> y (.., length + 2): length / 2 + 1 complex numbers
 * signal.irfft   x (.., length + 2) -> y (.., length)
 * Both have two more inputs, of x's type: the factors of signal_turns.
 *
 * The real numbers are taken for length / 2 complex ones, whose transform is split into those of the even and the odd
 * numbers. Every step first divides by as many numbers as it adds, to nearest, so that sums stay in range; those that
 * do not wrap. A product is rounded to nearest, ties up. */
#include <math.h>

#include "relay_ir/ops/check.h"
#include "relay_ir/ops/ops.h"
#include "relay_ir/ops/signal.h"
#include "relay_ir/walk.h"

static const double pi = 3.14159265358979323846;

void signal_turns(enum dtype dtype, int64_t length, bool inverse, void *turns, void *halves)
{
    const double most = (double)dtype_greatest(dtype), sign = inverse ? 1 : -1;
    const int64_t half = length / 2;

    for (int64_t k = 0; k < half; k++) {
        const double angle = sign * 2 * pi * (double)k / (double)half;

        dtype_store_int(dtype, turns, 2 * k, (int64_t)floor(.5 + most * cos(angle)));
        dtype_store_int(dtype, turns, 2 * k + 1, (int64_t)floor(.5 + most * sin(angle)));
    }
    for (int64_t k = 0; k < half / 2; k++) {
        const double angle = sign * pi * ((double)(k + 1) / (double)half + .5);

        dtype_store_int(dtype, halves, 2 * k, (int64_t)floor(.5 + most * cos(angle)));
        dtype_store_int(dtype, halves, 2 * k + 1, (int64_t)floor(.5 + most * sin(angle)));
    }
}

bool signal_fft_fits(int64_t length)
{
    int64_t left = length / 2;

    if (length < FFT_LEAST || length > FFT_MOST || length % 2 != 0)
        return false;
    for (int64_t p = 2; p <= 5; p++)
        while (left % p == 0)
            left /= p;
    return left == 1;
}

static bool infer_fft(struct ctx *ctx, struct node *node, bool inverse)
{
    const int64_t length = node->attrs.fft.length;
    struct type y = *input_type(node, 0);
    int64_t last;

    if (!check_rank(ctx, node, 0, 1, MAX_RANK) || !check_same_dtype(ctx, node, 0, 1) ||
        !check_same_dtype(ctx, node, 0, 2))
        return false;
    if (y.dtype != DTYPE_I16 && y.dtype != DTYPE_I32)
        return diag_error(ctx, DIAG_TYPE, node_origin(node), "%s of %s, expected i16 or i32",
                          op_name(node->op), dtype_name(y.dtype));
    if (!signal_fft_fits(length))
        return diag_error(ctx, DIAG_UNSUPPORTED_FORM, node_origin(node),
                          "%s of %lld points, expected an even number from %d to %d with the "
                          "factors 2, 3 and 5",
                          op_name(node->op), (long long)length, (int)FFT_LEAST, (int)FFT_MOST);
    last = y.dim[y.rank - 1];
    if (inverse ? last != length + 2 : last < 1 || last > length)
        return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                          "%s of %lld points reads rows of %lld", op_name(node->op),
                          (long long)length, (long long)last);
    if (type_elements(input_type(node, 1)) != length ||
        type_elements(input_type(node, 2)) != length / 4 * 2)
        return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                          "the factors of %s are not those of "
                          "%lld points",
                          op_name(node->op), (long long)length);
    y.dim[y.rank - 1] = inverse ? length : length + 2;
    set_output(node, 0, y.dtype, &y);
    return true;
}

bool infer_signal_rfft(struct ctx *ctx, struct node *node)
{
    return infer_fft(ctx, node, false);
}

bool infer_signal_irfft(struct ctx *ctx, struct node *node)
{
    return infer_fft(ctx, node, true);
}

/* --- arithmetic ------------------------------------------------------------------------------- */

struct complex {
    int64_t re, im;
};

struct fft {
    bool wide, inverse; /* i32 */
    int64_t half;       /* complex numbers */
    const struct tensor *turns, *halves;
};

/* As the type holds it. */
static int64_t wrapped(const struct fft *fft, int64_t v)
{
    return fft->wide ? (int64_t)(int32_t)(uint32_t)(uint64_t)v
                     : (int64_t)(int16_t)(uint16_t)(uint64_t)v;
}

static struct complex number(const struct fft *fft, int64_t re, int64_t im)
{
    return (struct complex){ wrapped(fft, re), wrapped(fft, im) };
}

/* A product in units of 2^-15 or 2^-31, to nearest. */
static int64_t rounded(const struct fft *fft, int64_t v)
{
    const int bits = fft->wide ? 31 : 15;
    const int64_t sum = v + ((int64_t)1 << (bits - 1));

    return wrapped(fft, sum < 0 ? ~(~sum >> bits) : sum >> bits);
}

static struct complex shared(const struct fft *fft, struct complex a, int n)
{
    const int64_t factor = (fft->wide ? INT32_MAX : INT16_MAX) / n;

    return (struct complex){ rounded(fft, a.re * factor), rounded(fft, a.im * factor) };
}

static struct complex sum(const struct fft *fft, struct complex a, struct complex b)
{
    return number(fft, a.re + b.re, a.im + b.im);
}

static struct complex difference(const struct fft *fft, struct complex a, struct complex b)
{
    return number(fft, a.re - b.re, a.im - b.im);
}

static struct complex turned(const struct fft *fft, struct complex a, const struct tensor *by,
                             int64_t i)
{
    const int64_t re = tensor_int_at(by, 2 * i), im = tensor_int_at(by, 2 * i + 1);

    return (struct complex){ rounded(fft, a.re * re - a.im * im),
                             rounded(fft, a.re * im + a.im * re) };
}

/* Three numbers, and turns by thirds. */
static void combine_3(const struct fft *fft, const struct complex *part, struct complex *y,
                      int64_t m)
{
    const struct complex even = sum(fft, part[1], part[2]), odd = difference(fft, part[1], part[2]);
    const int64_t sine = tensor_int_at(fft->turns, 2 * (fft->half / 3) + 1);
    const struct complex turned = { rounded(fft, odd.re * sine), rounded(fft, odd.im * sine) };
    const struct complex half = { even.re < 0 ? ~(~even.re >> 1) : even.re >> 1,
                                  even.im < 0 ? ~(~even.im >> 1) : even.im >> 1 };
    const struct complex middle = difference(fft, part[0], half);

    y[0] = sum(fft, part[0], even);
    y[m] = number(fft, middle.re - turned.im, middle.im + turned.re);
    y[2 * m] = number(fft, middle.re + turned.im, middle.im - turned.re);
}

/* Five numbers: the outer ones, 1 and 4, turn by one fifth, 2 and 3 by two; then the other way round. */
static void combine_5(const struct fft *fft, const struct complex *part, struct complex *y,
                      int64_t m)
{
    const struct complex outer = sum(fft, part[1], part[4]), inner = sum(fft, part[2], part[3]);
    const struct complex outer_odd = difference(fft, part[1], part[4]);
    const struct complex inner_odd = difference(fft, part[2], part[3]);

    y[0] = sum(fft, part[0], sum(fft, outer, inner));
    for (int64_t i = 1; i <= 2; i++) {
        const int64_t near = 2 * i * (fft->half / 5), far = 2 * (3 - i) * (fft->half / 5);
        const int64_t near_cos = tensor_int_at(fft->turns, near);
        const int64_t near_sin = tensor_int_at(fft->turns, near + 1);
        const int64_t far_cos = tensor_int_at(fft->turns, far);
        const int64_t far_sin = tensor_int_at(fft->turns, far + 1);
        const int64_t sign = i == 1 ? 1 : -1;
        const struct complex even = {
            part[0].re + rounded(fft, outer.re * near_cos) + rounded(fft, inner.re * far_cos),
            part[0].im + rounded(fft, outer.im * near_cos) + rounded(fft, inner.im * far_cos)
        };
        const struct complex odd = {
            rounded(fft, outer_odd.im * near_sin) + sign * rounded(fft, inner_odd.im * far_sin),
            rounded(fft, outer_odd.re * near_sin) + sign * rounded(fft, inner_odd.re * far_sin)
        };

        y[i * m] = number(fft, even.re - odd.re, even.im + odd.im);
        y[(5 - i) * m] = number(fft, even.re + odd.re, even.im - odd.im);
    }
}

/* The transform of n numbers, every `step`th of x, by those of its quarters, halves, thirds or fifths. */
static void transform(const struct fft *fft, const struct complex *x, int64_t step, int64_t n,
                      struct complex *y)
{
    const int p = n % 4 == 0 ? 4 : n % 2 == 0 ? 2 : n % 3 == 0 ? 3 : 5;
    const int64_t m = n / p;

    if (n == 1) {
        *y = *x;
        return;
    }
    for (int i = 0; i < p; i++)
        transform(fft, x + i * step, step * p, m, y + i * m);
    for (int64_t k = 0; k < m; k++) {
        struct complex part[5], even, odd, low, high;

        for (int i = 0; i < p; i++) {
            part[i] = shared(fft, y[k + i * m], p);
            if (i > 0)
                part[i] = turned(fft, part[i], fft->turns, i * k * step);
        }
        if (p == 2) {
            y[k] = sum(fft, part[0], part[1]);
            y[k + m] = difference(fft, part[0], part[1]);
        }
        if (p == 3)
            combine_3(fft, part, y + k, m);
        if (p == 5)
            combine_5(fft, part, y + k, m);
        if (p != 4)
            continue;
        low = sum(fft, part[0], part[2]);
        high = difference(fft, part[0], part[2]);
        even = sum(fft, part[1], part[3]);
        odd = difference(fft, part[1], part[3]);
        odd = number(fft, fft->inverse ? -odd.im : odd.im, fft->inverse ? odd.re : -odd.re);
        y[k] = sum(fft, low, even);
        y[k + m] = sum(fft, high, odd);
        y[k + 2 * m] = difference(fft, low, even);
        y[k + 3 * m] = difference(fft, high, odd);
    }
}

/* Half of a sum of 32 bits, rounded down. */
static int64_t halved(const struct fft *fft, int64_t v)
{
    const int64_t sum = (int32_t)(uint32_t)(uint64_t)v;

    return wrapped(fft, sum < 0 ? ~(~sum >> 1) : sum >> 1);
}

/* z -> the transform of the real numbers. */
static void forward(const struct fft *fft, struct complex *z, int64_t *y)
{
    const struct complex first = shared(fft, z[0], 2);
    const int64_t half = fft->half;

    y[0] = wrapped(fft, first.re + first.im);
    y[2 * half] = wrapped(fft, first.re - first.im);
    y[1] = y[2 * half + 1] = 0;
    for (int64_t k = 1; k <= half / 2; k++) {
        const struct complex a = shared(fft, z[k], 2);
        const struct complex b = shared(fft, number(fft, z[half - k].re, -z[half - k].im), 2);
        const struct complex even = sum(fft, a, b);
        const struct complex odd = turned(fft, difference(fft, a, b), fft->halves, k - 1);

        y[2 * k] = halved(fft, even.re + odd.re);
        y[2 * k + 1] = halved(fft, even.im + odd.im);
        y[2 * (half - k)] = halved(fft, even.re - odd.re);
        y[2 * (half - k) + 1] = halved(fft, odd.im - even.im);
    }
}

/* The transform of real numbers -> that of complex ones. */
static void backward(const struct fft *fft, const int64_t *x, struct complex *z)
{
    const int64_t half = fft->half;

    z[0] = shared(fft, number(fft, x[0] + x[2 * half], x[0] - x[2 * half]), 2);
    for (int64_t k = 1; k <= half / 2; k++) {
        const struct complex a = shared(fft, (struct complex){ x[2 * k], x[2 * k + 1] }, 2);
        const struct complex b =
            shared(fft, number(fft, x[2 * (half - k)], -x[2 * (half - k) + 1]), 2);
        const struct complex even = sum(fft, a, b);
        const struct complex odd = turned(fft, difference(fft, a, b), fft->halves, k - 1);

        z[k] = sum(fft, even, odd);
        z[half - k] = difference(fft, even, odd);
        z[half - k].im = wrapped(fft, -z[half - k].im);
    }
}

static bool eval_fft(const struct node *node, const struct tensor *const *in, struct tensor *out,
                     bool inverse)
{
    const int64_t length = node->attrs.fft.length, half = length / 2;
    const int64_t n_in = in[0]->type.dim[in[0]->type.rank - 1];
    const int64_t n_out = out->type.dim[out->type.rank - 1];
    const int64_t rows = n_out > 0 ? type_elements(&out->type) / n_out : 0;
    const struct fft fft = { .wide = out->type.dtype == DTYPE_I32,
                             .inverse = inverse,
                             .half = half,
                             .turns = in[1],
                             .halves = in[2] };
    struct arena arena = { NULL };
    struct complex *z = arena_array(&arena, struct complex, half);
    struct complex *of_z = arena_array(&arena, struct complex, half);
    int64_t *row = arena_array(&arena, int64_t, length + 2);

    for (int64_t r = 0; r < rows; r++) {
        for (int64_t i = 0; i < length + 2; i++)
            row[i] = i < n_in ? tensor_int_at(in[0], r * n_in + i) : 0;
        if (inverse)
            backward(&fft, row, z);
        else
            for (int64_t i = 0; i < half; i++)
                z[i] = (struct complex){ row[2 * i], row[2 * i + 1] };
        transform(&fft, z, 1, half, of_z);
        if (inverse)
            for (int64_t i = 0; i < half; i++) {
                row[2 * i] = of_z[i].re;
                row[2 * i + 1] = of_z[i].im;
            }
        else
            forward(&fft, of_z, row);
        for (int64_t i = 0; i < n_out; i++)
            dtype_store_int(out->type.dtype, out->data, r * n_out + i, row[i]);
    }
    arena_release(&arena);
    return true;
}

bool eval_signal_rfft(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                      struct tensor *out)
{
    (void)ctx;
    return eval_fft(node, in, out, false);
}

bool eval_signal_irfft(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                       struct tensor *out)
{
    (void)ctx;
    return eval_fft(node, in, out, true);
}
