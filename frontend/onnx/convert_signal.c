/* convert_signal.c - operators of audio front ends whose results are constants: windows and mel weights. */
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
                          dtype_kind(dtype) == KIND_EXPONENT || dtype_kind(dtype) == KIND_BOOL)) {
        bad_attribute(node, "attribute output_datatype names no number type that relayc has");
        return DTYPE_NONE;
    }
    return dtype;
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
        !onnx_whole_number(node, 0, 0, MOST_POINTS, &size) ||
        !onnx_granted(node, dtype, (double)size))
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
        !onnx_whole_number(node, 0, 1, MOST_POINTS, &mel.n_mel) ||
        !onnx_whole_number(node, 1, 1, MOST_POINTS, &mel.dft_length) ||
        !onnx_whole_number(node, 2, 1, INT32_MAX, &mel.sample_rate) ||
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
