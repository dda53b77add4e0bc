/* convert_signal.c - operators of audio front ends: windows, mel weights, DFT and STFT.
 *
 * Windows and weights of constant sizes are constants. A Fourier transform is a product with a
 * constant matrix: for the lengths of speech frames that is a dense layer like any other. */
#include <math.h>

#include "frontend/onnx/convert_helpers.h"

#define PI 3.14159265358979323846

#define MOST_POINTS ((int64_t)1 << 16)          /* of a window */
#define MOST_MATRIX_ELEMENTS ((int64_t)1 << 22) /* 16 MiB of f32 */

/* The type that attribute output_datatype names (f32 when absent). */
static enum dtype output_dtype(struct onnx_node *node)
{
    int64_t code = onnx_int(node, "output_datatype", 1);
    enum dtype dtype = code > 0 && code <= INT32_MAX ? dtype_from_onnx((int32_t)code) : DTYPE_NONE;

    if (onnx_ok(node) && (dtype == DTYPE_NONE || dtype_kind(dtype) == KIND_MINIFLOAT ||
                          dtype_kind(dtype) == KIND_BOOL)) {
        bad_attribute(node, "attribute output_datatype names no number type that relayc has");
        return DTYPE_NONE;
    }
    return dtype;
}

/* One scalar input in least..most. */
static bool whole_number(struct onnx_node *node, int i, int64_t least, int64_t most, int64_t *out)
{
    struct ints number;

    if (!onnx_constant_ints(node, i, &number))
        return false;
    if (number.n != 1 || number.at[0] < least || number.at[0] > most)
        return diag_error(node->ctx, DIAG_SHAPE, node->origin,
                          "input %d must be one number from %lld to %lld", i, (long long)least,
                          (long long)most);
    *out = number.at[0];
    return true;
}

/* --- windows ----------------------------------------------------------------------------------
 * w[i] = a - b cos(2 pi i / n) + c cos(4 pi i / n), n the size (periodic) or one less (symmetric). */
static bool cosine_window(struct onnx_node *node, double a, double b, double c)
{
    bool periodic = onnx_int(node, "periodic", 1) != 0;
    enum dtype dtype = output_dtype(node);
    struct tensor out;
    int64_t size;

    if (!onnx_check_inputs(node, 1, 1) || dtype == DTYPE_NONE || !onnx_ok(node) ||
        !whole_number(node, 0, 0, MOST_POINTS, &size) || !onnx_granted(node, dtype, (double)size))
        return false;
    out = tensor_new(&node->fn->module->bulk, &(struct type){ dtype, 1, { size }, NULL });
    for (int64_t i = 0; i < size; i++) {
        double n = periodic ? (double)size : (double)(size - 1);
        double angle = n > 0 ? 2 * PI * (double)i / n : 0;

        dtype_store(dtype, out.data, i, a - b * cos(angle) + c * cos(2 * angle));
    }
    return onnx_output(node, 0, onnx_from_tensor(node, &out, ""));
}

bool convert_hann_window(struct onnx_node *node)
{
    return cosine_window(node, 0.5, 0.5, 0);
}

bool convert_hamming_window(struct onnx_node *node)
{
    return cosine_window(node, 25.0 / 46, 21.0 / 46, 0);
}

bool convert_blackman_window(struct onnx_node *node)
{
    return cosine_window(node, 0.42, 0.5, 0.08);
}

/* --- mel weights ------------------------------------------------------------------------------
 * Triangles over the bins of a spectrogram; corner k of n + 2 lies at an equal step on the mel
 * scale, rounded down to a bin. */
struct mel {
    int64_t n_mel, dft_length, sample_rate, n_bins;
    double low_hertz, high_hertz;
};

static int64_t mel_corner(const struct mel *mel, int64_t k)
{
    double low = 2595 * log10(1 + mel->low_hertz / 700);
    double high = 2595 * log10(1 + mel->high_hertz / 700);
    double at = low + (double)k * (high - low) / (double)(mel->n_mel + 2);
    double hertz = 700 * (pow(10, at / 2595) - 1);

    return (int64_t)floor((double)(mel->dft_length + 1) * hertz / (double)mel->sample_rate);
}

static void mel_triangle(const struct mel *mel, int64_t k, struct tensor *out)
{
    const int64_t left = mel_corner(mel, k), top = mel_corner(mel, k + 1);
    const int64_t right = mel_corner(mel, k + 2);

    for (int64_t bin = left; bin <= top; bin++)
        dtype_store(out->type.dtype, out->data, bin * mel->n_mel + k,
                    top == left ? 1 : (double)(bin - left) / (double)(top - left));
    for (int64_t bin = top; bin < right; bin++)
        dtype_store(out->type.dtype, out->data, bin * mel->n_mel + k,
                    (double)(right - bin) / (double)(right - top));
}

bool convert_mel_weight_matrix(struct onnx_node *node)
{
    enum dtype dtype = output_dtype(node);
    struct mel mel;
    struct tensor out;

    if (!onnx_check_inputs(node, 5, 5) || dtype == DTYPE_NONE ||
        !whole_number(node, 0, 1, MOST_POINTS, &mel.n_mel) ||
        !whole_number(node, 1, 1, MOST_POINTS, &mel.dft_length) ||
        !whole_number(node, 2, 1, INT32_MAX, &mel.sample_rate) ||
        !onnx_constant_real(node, 3, &mel.low_hertz) ||
        !onnx_constant_real(node, 4, &mel.high_hertz))
        return false;
    mel.n_bins = mel.dft_length / 2 + 1;
    if (!(mel.low_hertz >= 0) || !(mel.high_hertz > mel.low_hertz) ||
        mel_corner(&mel, mel.n_mel + 1) > mel.n_bins - 1)
        return onnx_unsupported(node,
                                "the band from %g to %g Hz does not lie between 0 and half of "
                                "the sample rate",
                                mel.low_hertz, mel.high_hertz);
    if (mel.n_bins * mel.n_mel > MOST_MATRIX_ELEMENTS)
        return onnx_unsupported(node, "a matrix of %lld bins by %lld bands is too big",
                                (long long)mel.n_bins, (long long)mel.n_mel);
    if (!onnx_granted(node, dtype, (double)(mel.n_bins * mel.n_mel)))
        return false;
    out = tensor_new(&node->fn->module->bulk,
                     &(struct type){ dtype, 2, { mel.n_bins, mel.n_mel }, NULL });
    for (int64_t k = 0; k < mel.n_mel; k++)
        mel_triangle(&mel, k, &out);
    return onnx_output(node, 0, onnx_from_tensor(node, &out, ""));
}

/* --- Fourier transforms ----------------------------------------------------------------------- */
struct dft {
    int64_t length; /* of the transform */
    int64_t n_in;   /* samples that are there; the rest is 0 */
    int64_t n_out;  /* bins wanted */
    int64_t parts;  /* 1 = real samples, 2 = complex ones */
    bool inverse;
    const struct tensor *window; /* NULL = ones */
};

/* The matrix [n_in * parts, n_out * 2] that takes samples (real and imaginary parts side by side)
 * to bins: (r + i s) e^(j angle) = r cos - s sin + j (r sin + s cos). */
static struct value *dft_matrix(struct onnx_node *node, enum dtype dtype, const struct dft *dft)
{
    const int64_t columns = dft->n_out * 2;
    struct type type = { dtype, 2, { dft->n_in * dft->parts, columns }, NULL };
    struct tensor out;

    if (type.dim[0] > MOST_MATRIX_ELEMENTS || columns > MOST_MATRIX_ELEMENTS ||
        type.dim[0] * columns > MOST_MATRIX_ELEMENTS) {
        onnx_unsupported(node, "a Fourier transform of %lld points to %lld bins is too long",
                         (long long)dft->n_in, (long long)dft->n_out);
        return NULL;
    }
    if (!onnx_granted(node, dtype, (double)type_elements(&type)))
        return NULL;
    out = tensor_new(&node->fn->module->bulk, &type);
    for (int64_t t = 0; t < dft->n_in; t++)
        for (int64_t k = 0; k < dft->n_out; k++) {
            double turn = (double)(t * k % dft->length) / (double)dft->length;
            double angle = 2 * PI * (dft->inverse ? turn : -turn);
            double factor = (dft->inverse ? 1 / (double)dft->length : 1) *
                            (dft->window ? tensor_at(dft->window, t) : 1);
            int64_t at = t * dft->parts * columns + 2 * k;

            dtype_store(dtype, out.data, at, factor * cos(angle));
            dtype_store(dtype, out.data, at + 1, factor * sin(angle));
            if (dft->parts == 1)
                continue;
            dtype_store(dtype, out.data, at + columns, factor * -sin(angle));
            dtype_store(dtype, out.data, at + columns + 1, factor * cos(angle));
        }
    return onnx_from_tensor(node, &out, "dft_matrix");
}

/* The axis: an attribute (default 1) before opset 20, input 2 (default -2) from there on. The last
 * dim holds the parts of a number and cannot be transformed. */
static int dft_axis(struct onnx_node *node, int rank)
{
    int64_t axis = node->opset < 20 ? onnx_int(node, "axis", 1) : -2;
    struct ints given;

    if (!onnx_ok(node))
        return -1;
    if (node->opset >= 20 && onnx_input(node, 2)) {
        if (!onnx_constant_ints(node, 2, &given))
            return -1;
        axis = given.n == 1 ? given.at[0] : rank;
    }
    axis = normal_axis(node, axis, rank);
    if (axis == rank - 1) {
        bad_attribute(node, "axis %lld holds real and imaginary parts", (long long)axis);
        return -1;
    }
    return (int)axis;
}

static bool read_dft(struct onnx_node *node, const struct type *x, int axis, struct dft *dft)
{
    bool onesided = onnx_int(node, "onesided", 0) != 0;

    dft->inverse = onnx_int(node, "inverse", 0) != 0;
    dft->parts = x->dim[x->rank - 1];
    dft->length = x->dim[axis];
    if (!onnx_ok(node) ||
        (onnx_input(node, 1) && !whole_number(node, 1, 1, MOST_POINTS, &dft->length)))
        return false;
    if (onesided && dft->inverse)
        return onnx_unsupported(node, "a one-sided inverse transform");
    if (dft->length < 1)
        return diag_error(node->ctx, DIAG_SHAPE, node->origin, "the signal is empty");
    dft->n_in = x->dim[axis] < dft->length ? x->dim[axis] : dft->length;
    dft->n_out = onesided ? dft->length / 2 + 1 : dft->length;
    return true;
}

/* The first n elements along an axis. */
static struct value *crop(struct onnx_node *node, struct value *x, int axis, int64_t n)
{
    union attrs attrs = { .slice = { .begin = { 0 } } };

    if (!x || x->type.dim[axis] == n)
        return x;
    attrs.slice.begin = ints_fill(x->type.rank, 0);
    attrs.slice.strides = ints_fill(x->type.rank, 1);
    attrs.slice.size = ints_of_shape(&x->type);
    attrs.slice.size.at[axis] = n;
    return onnx_build1(node, OP_STRIDED_SLICE, &attrs, "used", x);
}

/* x[..., n, ..., parts] is turned to [..., n * parts], multiplied, and turned back. */
bool convert_dft(struct onnx_node *node)
{
    struct value *x = onnx_input(node, 0), *y;
    struct dft dft = { 0 };
    struct ints turn, shape;
    int axis, rank;

    if (!onnx_check_inputs(node, 1, 3) || !onnx_check_kind(node, 0, TAKES_FLOAT) ||
        !onnx_check_rank(node, 0, 2, MAX_RANK))
        return false;
    rank = x->type.rank;
    axis = dft_axis(node, rank);
    if (axis < 0 || !read_dft(node, &x->type, axis, &dft))
        return false;
    if (dft.parts != 1 && dft.parts != 2)
        return diag_error(node->ctx, DIAG_SHAPE, node->origin,
                          "the last dim is %lld, wanted 1 "
                          "(real numbers) or 2 (complex ones)",
                          (long long)dft.parts);
    turn = ints_fill(rank, 0);
    for (int i = 0; i < rank; i++)
        turn.at[i] = i;
    turn.at[axis] = rank - 2;
    turn.at[rank - 2] = axis;
    x = transpose_to(node, crop(node, x, axis, dft.n_in), &turn, "turned");
    if (!x)
        return false;
    shape = ints_of_shape(&x->type);
    shape.n = rank - 1;
    shape.at[rank - 2] = dft.n_in * dft.parts;
    y = apply2(node, OP_MATMUL, "bins", reshape_to(node, x, &shape, "samples"),
               dft_matrix(node, x->type.dtype, &dft));
    shape.n = rank;
    shape.at[rank - 2] = dft.n_out;
    shape.at[rank - 1] = 2;
    if (axis == rank - 2)
        return onnx_output(node, 0, reshape_to(node, y, &shape, ""));
    return onnx_output(node, 0,
                       transpose_to(node, reshape_to(node, y, &shape, "spectrum"), &turn, ""));
}

/* Indices of the samples of each frame, [frames, length]. */
static struct value *frame_indices(struct onnx_node *node, int64_t frames, int64_t step,
                                   int64_t length)
{
    struct tensor out;

    if (frames * length > MOST_MATRIX_ELEMENTS) {
        onnx_unsupported(node, "%lld frames of %lld samples are too many", (long long)frames,
                         (long long)length);
        return NULL;
    }
    if (!onnx_granted(node, DTYPE_I64, (double)(frames * length)))
        return NULL;
    out = tensor_new(&node->fn->module->bulk,
                     &(struct type){ DTYPE_I64, 2, { frames, length }, NULL });
    for (int64_t i = 0; i < frames * length; i++)
        dtype_store_int(DTYPE_I64, out.data, i, i / length * step + i % length);
    return onnx_from_tensor(node, &out, "frame_indices");
}

static bool read_stft(struct onnx_node *node, int64_t *step, struct dft *dft, struct tensor *window)
{
    bool onesided = onnx_int(node, "onesided", 1) != 0;

    if (!onnx_ok(node) || !whole_number(node, 1, 1, INT32_MAX, step))
        return false;
    dft->length = 0;
    if (onnx_input(node, 2)) {
        if (!onnx_constant(node, 2, window) || !onnx_check_rank(node, 2, 1, 1))
            return false;
        dft->window = window;
        dft->length = window->type.dim[0];
    }
    if (onnx_input(node, 3) && !whole_number(node, 3, 1, MOST_POINTS, &dft->length))
        return false;
    if (dft->length < 1 || (dft->window && window->type.dim[0] != dft->length))
        return diag_error(node->ctx, DIAG_SHAPE, node->origin,
                          "frame_length and the window's length disagree or are missing");
    dft->n_in = dft->length;
    dft->n_out = onesided ? dft->length / 2 + 1 : dft->length;
    return true;
}

/* The window goes into the matrix, so that a spectrogram is one gather and one product. */
bool convert_stft(struct onnx_node *node)
{
    const union attrs along_time = { .axis = { .axis = 1 } };
    struct value *x = onnx_input(node, 0), *frames, *y;
    struct dft dft = { .length = 0 };
    struct tensor window;
    struct ints shape;
    int64_t step, n_frames, samples;

    if (!onnx_check_inputs(node, 2, 4) || !onnx_check_kind(node, 0, TAKES_FLOAT) ||
        !onnx_check_rank(node, 0, 2, 3) || !read_stft(node, &step, &dft, &window))
        return false;
    dft.parts = x->type.rank == 3 ? x->type.dim[2] : 1;
    samples = x->type.dim[1];
    if ((dft.parts != 1 && dft.parts != 2) || samples < dft.length)
        return diag_error(
            node->ctx, DIAG_SHAPE, node->origin,
            "a signal of shape %s, wanted batch x samples x 1 or 2, and a whole frame",
            shape_text(&node->ctx->perm, &x->type));
    n_frames = (samples - dft.length) / step + 1;
    frames = frame_indices(node, n_frames, step, dft.length);
    y = frames ? onnx_build2(node, OP_TAKE, &along_time, "frames", x, frames) : NULL;
    shape = (struct ints){ 3, { x->type.dim[0], n_frames, dft.length * dft.parts } };
    y = apply2(node, OP_MATMUL, "bins", reshape_to(node, y, &shape, "samples"),
               dft_matrix(node, x->type.dtype, &dft));
    shape = (struct ints){ 4, { x->type.dim[0], n_frames, dft.n_out, 2 } };
    return onnx_output(node, 0, reshape_to(node, y, &shape, ""));
}
