/* convert_fourier.c - DFT and STFT: products with a constant matrix, which for the lengths of speech frames is a dense
 * layer like any other. */
#include <math.h>

#include "frontend/onnx/assume.h"
#include "frontend/onnx/convert_helpers.h"

#define PI 3.14159265358979323846

#define MOST_POINTS ((int64_t)1 << 16)          /* of a transform */
#define MOST_MATRIX_ELEMENTS ((int64_t)1 << 22) /* 16 MiB of f32 */

struct dft {
    int64_t length; /* of the transform */
    int64_t n_in;   /* samples that are there; the rest is 0 */
    int64_t n_out;  /* bins wanted */
    int64_t parts;  /* 1 = real samples, 2 = complex ones */
    int64_t out_parts;
    bool inverse;
    const struct tensor *window; /* NULL = ones */
};

/* An empty matrix [n_in * parts, n_out * out_parts]; false after an error. */
static bool new_matrix(struct onnx_node *node, enum dtype dtype, const struct dft *dft,
                       struct tensor *out)
{
    const struct type type = {
        dtype, 2, { dft->n_in * dft->parts, dft->n_out * dft->out_parts }, NULL
    };

    if (type.dim[0] > MOST_MATRIX_ELEMENTS || type.dim[1] > MOST_MATRIX_ELEMENTS ||
        type.dim[0] * type.dim[1] > MOST_MATRIX_ELEMENTS)
        return onnx_unsupported(node, "a Fourier transform of %lld points to %lld bins is too long",
                                (long long)dft->n_in, (long long)dft->n_out);
    if (!onnx_granted(node, dtype, (double)type_elements(&type)))
        return false;
    *out = tensor_new(&node->fn->module->bulk, &type);
    return true;
}

/* The matrix [n_in * parts, n_out * 2] that takes samples (real and imaginary parts side by side)
 * to bins: (r + i s) e^(j angle) = r cos - s sin + j (r sin + s cos). */
static struct value *dft_matrix(struct onnx_node *node, enum dtype dtype, const struct dft *dft)
{
    const int64_t columns = dft->n_out * 2;
    struct tensor out;

    if (!new_matrix(node, dtype, dft, &out))
        return NULL;
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

/* The matrix [bins * 2, samples] that takes half of the bins of real samples to these: bin k stands for itself and for
 * bin length - k, its conjugate, but for the first one and that of half the length, which are real. */
static struct value *half_inverse_matrix(struct onnx_node *node, enum dtype dtype,
                                         const struct dft *dft)
{
    struct tensor out;

    if (!new_matrix(node, dtype, dft, &out))
        return NULL;
    for (int64_t k = 0; k < dft->n_in; k++)
        for (int64_t t = 0; t < dft->n_out; t++) {
            const double turn = (double)(t * k % dft->length) / (double)dft->length;
            const bool is_real = k == 0 || 2 * k == dft->length;
            const double factor = (is_real ? 1 : 2) / (double)dft->length;

            dtype_store(dtype, out.data, 2 * k * dft->n_out + t, factor * cos(2 * PI * turn));
            dtype_store(dtype, out.data, (2 * k + 1) * dft->n_out + t,
                        is_real ? 0 : -factor * sin(2 * PI * turn));
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
    const bool onesided = onnx_int(node, "onesided", 0) != 0;
    bool to_real;

    dft->inverse = onnx_int(node, "inverse", 0) != 0;
    to_real = onesided && dft->inverse;
    dft->parts = x->dim[x->rank - 1];
    dft->out_parts = to_real ? 1 : 2;
    dft->length = to_real ? 2 * (x->dim[axis] - 1) : x->dim[axis];
    if (!onnx_ok(node) ||
        (onnx_input(node, 1) && !onnx_whole_number(node, 1, 1, MOST_POINTS, &dft->length)))
        return false;
    if (dft->length < 1 || x->dim[axis] < 1)
        return diag_error(node->ctx, DIAG_SHAPE, node->origin, "the signal is empty");
    if (to_real && dft->parts != 2)
        return diag_error(node->ctx, DIAG_SHAPE, node->origin,
                          "a one-sided inverse transform of real numbers, wanted complex ones");
    dft->n_in = to_real ? dft->length / 2 + 1 : dft->length;
    dft->n_in = x->dim[axis] < dft->n_in ? x->dim[axis] : dft->n_in;
    dft->n_out = onesided && !to_real ? dft->length / 2 + 1 : dft->length;
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
               dft.out_parts == 1 ? half_inverse_matrix(node, x->type.dtype, &dft)
                                  : dft_matrix(node, x->type.dtype, &dft));
    shape.n = rank;
    shape.at[rank - 2] = dft.n_out;
    shape.at[rank - 1] = dft.out_parts;
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

/* A window that is known at compile time goes into the matrix. */
static bool read_stft(struct onnx_node *node, int64_t *step, struct dft *dft, struct tensor *window)
{
    bool onesided = onnx_int(node, "onesided", 1) != 0;

    if (!onnx_ok(node) || !onnx_whole_number(node, 1, 1, INT32_MAX, step))
        return false;
    dft->length = 0;
    dft->out_parts = 2;
    if (onnx_input(node, 2)) {
        if (!onnx_check_rank(node, 2, 1, 1))
            return false;
        dft->length = onnx_input(node, 2)->type.dim[0];
        dft->window = onnx_is_known(node, 2) ? window : NULL;
        if (dft->window && !onnx_constant(node, 2, window))
            return false;
    }
    if (onnx_input(node, 3) && !onnx_whole_number(node, 3, 1, MOST_POINTS, &dft->length))
        return false;
    if (dft->length < 1 || (onnx_input(node, 2) && onnx_input(node, 2)->type.dim[0] != dft->length))
        return diag_error(node->ctx, DIAG_SHAPE, node->origin,
                          "frame_length and the window's length disagree or are missing");
    dft->n_in = dft->length;
    dft->n_out = onesided ? dft->length / 2 + 1 : dft->length;
    return true;
}

/* Frames [batch, frames, length] or [batch, frames, length, parts] times a window that is known at run time only. */
static struct value *windowed(struct onnx_node *node, struct value *frames)
{
    struct value *window = onnx_input(node, 2);
    const struct ints column = { 2, { type_elements(&window->type), 1 } };

    if (!frames)
        return NULL;
    if (frames->type.rank == 4)
        window = reshape_to(node, window, &column, "column");
    return apply2(node, OP_MULTIPLY, "windowed", frames, window);
}

/* A spectrogram is one gather and one product. */
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
    if (onnx_input(node, 2) && !dft.window)
        y = windowed(node, y);
    shape = (struct ints){ 3, { x->type.dim[0], n_frames, dft.length * dft.parts } };
    y = apply2(node, OP_MATMUL, "bins", reshape_to(node, y, &shape, "samples"),
               dft_matrix(node, x->type.dtype, &dft));
    shape = (struct ints){ 4, { x->type.dim[0], n_frames, dft.n_out, 2 } };
    return onnx_output(node, 0, reshape_to(node, y, &shape, ""));
}

/* --- numbers of run time ----------------------------------------------------------------------
 * Along the axis a one-sided transform leaves half of the numbers, and its inverse has twice as many; the last axis has
 * the parts. */
bool assume_dft_axis(struct onnx_node *node, const struct type *y, int n, struct assumption *out)
{
    const struct type *x = &onnx_input(node, 0)->type;
    const bool half = onnx_int(node, "onesided", 0) != 0;
    const bool inverse = onnx_int(node, "inverse", 0) != 0;

    out->mode = "axes";
    out->rank = x->rank;
    if (n != 1 || onnx_input(node, 1) || x->rank != y->rank)
        return false;
    for (int axis = 0; axis + 1 < x->rank; axis++) {
        bool fits = true;

        for (int i = 0; i + 1 < x->rank; i++) {
            const int64_t halved = inverse ? 2 * (x->dim[i] - 1) : x->dim[i] / 2 + 1;

            fits = fits && y->dim[i] == (half && i == axis ? halved : x->dim[i]);
        }
        if (fits && out->n_sets == MAX_SETS)
            return false;
        if (fits)
            out->sets[out->n_sets++] = (int64_t)1 << axis;
    }
    return out->n_sets > 0;
}

/* The steps, *least to *most, by which `frames` frames of this length lie in the signal; none if *least > *most. */
static void find_steps(const struct type *x, int64_t length, int64_t frames, int64_t *least,
                       int64_t *most)
{
    const int64_t room = x->rank > 1 ? x->dim[1] - length : -1;

    *least = 1, *most = 0;
    if (length < 1 || room < 0 || frames < 1)
        return;
    *least = room / frames + 1;
    *most = frames > 1 ? room / (frames - 1) : INT32_MAX;
}

static void only(struct assumption *out, int64_t number)
{
    out->ways = 1;
    out->numbers.n = 1;
    out->numbers.at[0] = out->allowed[0][0] = number;
}

/* The only length of frames that gives as many bins, by a step that is known or by any. */
bool assume_frame_length(struct onnx_node *node, const struct type *y, int n,
                         struct assumption *out)
{
    const bool half = onnx_int(node, "onesided", 1) != 0;
    const int64_t bins = y->rank == 4 ? y->dim[2] : 0;
    int64_t step = 0;
    int found = 0;

    if (n != 1 || bins < 1 || bins > MOST_POINTS ||
        (onnx_is_known(node, 1) && !onnx_whole_number(node, 1, 1, INT32_MAX, &step)))
        return false;
    for (int64_t length = half ? 2 * (bins - 1) : bins; length <= (half ? 2 * bins - 1 : bins);
         length++) {
        int64_t least, most;

        find_steps(&onnx_input(node, 0)->type, length, y->dim[1], &least, &most);
        if (least > most || (step && (step < least || step > most)) ||
            (onnx_input(node, 2) && type_elements(&onnx_input(node, 2)->type) != length))
            continue;
        found++;
        only(out, length);
    }
    return found == 1;
}

/* The only step that gives as many frames. */
bool assume_frame_step(struct onnx_node *node, const struct type *y, int n, struct assumption *out)
{
    int64_t length = onnx_input(node, 2) ? type_elements(&onnx_input(node, 2)->type) : 0;
    int64_t least, most;

    if (n != 1 || y->rank != 4 ||
        (onnx_input(node, 3) && !onnx_whole_number(node, 3, 1, MOST_POINTS, &length)))
        return false;
    find_steps(&onnx_input(node, 0)->type, length, y->dim[1], &least, &most);
    only(out, least);
    return least == most;
}
