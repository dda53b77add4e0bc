/* arm_nn_double.c - see arm_nnfunctions.h of this folder. Working memory is filled, so that a call
 * with too little of it is caught by whoever watches the memory behind. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "arm_nnfunctions.h"

/* The double product's high half to nearest, halves up, then the shift to nearest, halves away. */
static int32_t requantized(int32_t x, int32_t multiplier, int32_t shift)
{
    const int left = shift > 0 ? shift : 0, right = shift > 0 ? 0 : -shift;
    const int64_t shifted = (int64_t)x * ((int64_t)1 << left);
    const int64_t product = shifted * multiplier + ((int64_t)1 << 30);
    const int64_t high = product >= 0 ? product / ((int64_t)1 << 31)
                                      : -((-product + ((int64_t)1 << 31) - 1) / ((int64_t)1 << 31));
    const int64_t half = right > 0 ? (int64_t)1 << (right - 1) : 0;

    return (int32_t)(high < 0 ? -((-high + half) / ((int64_t)1 << right))
                              : (high + half) / ((int64_t)1 << right));
}

static int8_t clamped(int64_t x, int32_t least, int32_t greatest)
{
    return (int8_t)(x < least ? least : x > greatest ? greatest : x);
}

static int32_t rounded_up(int32_t n, int32_t unit)
{
    return (n + unit - 1) / unit * unit;
}

static int is_too_small(const cmsis_nn_context *context, int32_t needed)
{
    if (context->size < needed || (needed > 0 && !context->buf))
        return 1;
    if (needed > 0)
        memset(context->buf, 0x5A, (size_t)needed);
    return 0;
}

static int32_t greater(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

/* Images of one row have a way of their own on cores with vectors, with another buffer. */
int32_t arm_convolve_wrapper_s8_get_buffer_size(const cmsis_nn_conv_params *params,
                                                const cmsis_nn_dims *input,
                                                const cmsis_nn_dims *filter,
                                                const cmsis_nn_dims *output)
{
    const int32_t columns = 4 * rounded_up(input->c * filter->h * filter->w, 16);

    (void)output;
    if (input->h == 1 && filter->h == 1)
        return greater(columns, (filter->w + params->padding.w) * input->c);
    return columns;
}

/* ... which fails where the padding behind is neither that in front nor one more, and reads on
 * where the first window that reaches into it does so by more than one element. */
static int is_wrong_in_one_row(const cmsis_nn_conv_params *params, const cmsis_nn_dims *input,
                               const cmsis_nn_dims *filter, const cmsis_nn_dims *output)
{
    const int32_t pad = params->padding.w, stride = params->stride.w;
    const int32_t both = (output->w - 1) * stride + filter->w - input->w, odd = both % 2;
    const int32_t left = (pad + stride - 1) / stride;
    const int32_t right = pad + odd != 0 ? greater(1, (pad + odd + stride - 1) / stride) : 0;

    if (input->h != 1 || filter->h != 1 || params->dilation.w != 1 || stride * input->c % 4 != 0 ||
        (filter->w == 1 && pad == 0 && params->padding.h == 0))
        return 0;
    if (2 * pad + odd != both)
        return 1;
    return left + right <= output->w && right > 0 &&
           input->w - ((output->w - right) * stride - pad) != filter->w - 1;
}

/* Where a window lies, shared by convolutions and pools. */
struct window {
    cmsis_nn_tile stride, padding, dilation;
};

/* The input's index (h, w) under a tap; -1 in the padding. */
static int64_t tap_index(const struct window *window, const cmsis_nn_dims *input, int32_t n,
                         int32_t y, int32_t x, int32_t kh, int32_t kw)
{
    const int64_t h = (int64_t)y * window->stride.h - window->padding.h + kh * window->dilation.h;
    const int64_t w = (int64_t)x * window->stride.w - window->padding.w + kw * window->dilation.w;

    if (h < 0 || w < 0 || h >= input->h || w >= input->w)
        return -1;
    return (((int64_t)n * input->h + h) * input->w + w) * input->c;
}

arm_cmsis_nn_status arm_convolve_wrapper_s8(const cmsis_nn_context *context,
                                            const cmsis_nn_conv_params *params,
                                            const cmsis_nn_per_channel_quant_params *quant,
                                            const cmsis_nn_dims *input_dims, const int8_t *input,
                                            const cmsis_nn_dims *filter_dims, const int8_t *filter,
                                            const cmsis_nn_dims *bias_dims, const int32_t *bias,
                                            const cmsis_nn_dims *output_dims, int8_t *output)
{
    const struct window window = { params->stride, params->padding, params->dilation };
    const int32_t depth = input_dims->c;

    (void)bias_dims;
    if (is_too_small(context, arm_convolve_wrapper_s8_get_buffer_size(params, input_dims,
                                                                      filter_dims, output_dims)) ||
        is_wrong_in_one_row(params, input_dims, filter_dims, output_dims))
        return ARM_CMSIS_NN_ARG_ERROR;
    for (int32_t n = 0; n < output_dims->n; n++)
        for (int32_t y = 0; y < output_dims->h; y++)
            for (int32_t x = 0; x < output_dims->w; x++)
                for (int32_t o = 0; o < output_dims->c; o++) {
                    int32_t sum = bias ? bias[o] : 0;

                    for (int32_t k = 0; k < filter_dims->h * filter_dims->w; k++) {
                        const int64_t at = tap_index(&window, input_dims, n, y, x,
                                                     k / filter_dims->w, k % filter_dims->w);

                        for (int32_t i = 0; at >= 0 && i < depth; i++)
                            sum += (input[at + i] + params->input_offset) *
                                   filter[(o * filter_dims->h * filter_dims->w + k) * depth + i];
                    }
                    sum = requantized(sum, quant->multiplier[o], quant->shift[o]);
                    *output++ = clamped((int64_t)sum + params->output_offset,
                                        params->activation.min, params->activation.max);
                }
    return ARM_CMSIS_NN_SUCCESS;
}

int32_t arm_depthwise_conv_wrapper_s8_get_buffer_size(const cmsis_nn_dw_conv_params *params,
                                                      const cmsis_nn_dims *input,
                                                      const cmsis_nn_dims *filter,
                                                      const cmsis_nn_dims *output)
{
    const int32_t taps = filter->h * filter->w;
    const int32_t with_dsp = 2 * input->c * taps, with_vectors = 4 * 124 * taps;

    if (input->c != output->c || input->n != 1 || params->dilation.w != 1 ||
        params->dilation.h != 1)
        return 0;
    return with_dsp > with_vectors ? with_dsp : with_vectors;
}

arm_cmsis_nn_status arm_depthwise_conv_wrapper_s8(
    const cmsis_nn_context *context, const cmsis_nn_dw_conv_params *params,
    const cmsis_nn_per_channel_quant_params *quant, const cmsis_nn_dims *input_dims,
    const int8_t *input, const cmsis_nn_dims *filter_dims, const int8_t *filter,
    const cmsis_nn_dims *bias_dims, const int32_t *bias, const cmsis_nn_dims *output_dims,
    int8_t *output)
{
    const struct window window = { params->stride, params->padding, params->dilation };

    (void)bias_dims;
    if (is_too_small(context, arm_depthwise_conv_wrapper_s8_get_buffer_size(
                                  params, input_dims, filter_dims, output_dims)))
        return ARM_CMSIS_NN_ARG_ERROR;
    for (int32_t n = 0; n < output_dims->n; n++)
        for (int32_t y = 0; y < output_dims->h; y++)
            for (int32_t x = 0; x < output_dims->w; x++)
                for (int32_t o = 0; o < output_dims->c; o++) {
                    int32_t sum = bias ? bias[o] : 0;

                    for (int32_t k = 0; k < filter_dims->h * filter_dims->w; k++) {
                        const int64_t at = tap_index(&window, input_dims, n, y, x,
                                                     k / filter_dims->w, k % filter_dims->w);

                        if (at >= 0)
                            sum += (input[at + o / params->ch_mult] + params->input_offset) *
                                   filter[k * output_dims->c + o];
                    }
                    sum = requantized(sum, quant->multiplier[o], quant->shift[o]);
                    *output++ = clamped((int64_t)sum + params->output_offset,
                                        params->activation.min, params->activation.max);
                }
    return ARM_CMSIS_NN_SUCCESS;
}

int32_t arm_fully_connected_s8_get_buffer_size(const cmsis_nn_dims *filter_dims)
{
    return 4 * filter_dims->c;
}

/* As on cores with vectors: sums[row] = bias + sum of (weight + filter_offset) * input_offset. */
arm_cmsis_nn_status arm_vector_sum_s8(int32_t *sums, const int32_t columns, const int32_t rows,
                                      const int8_t *data, const int32_t input_offset,
                                      const int32_t filter_offset, const int32_t *bias)
{
    for (int32_t r = 0; r < rows; r++) {
        sums[r] = bias ? bias[r] : 0;
        for (int32_t c = 0; c < columns; c++)
            sums[r] += (data[r * columns + c] + filter_offset) * input_offset;
    }
    return ARM_CMSIS_NN_SUCCESS;
}

arm_cmsis_nn_status arm_fully_connected_s8(const cmsis_nn_context *context,
                                           const cmsis_nn_fc_params *params,
                                           const cmsis_nn_per_tensor_quant_params *quant,
                                           const cmsis_nn_dims *input_dims, const int8_t *input,
                                           const cmsis_nn_dims *filter_dims, const int8_t *filter,
                                           const cmsis_nn_dims *bias_dims, const int32_t *bias,
                                           const cmsis_nn_dims *output_dims, int8_t *output)
{
    const int32_t depth = filter_dims->n, rows = output_dims->c;
    const int32_t *sums = context->buf;

    (void)bias_dims;
    (void)bias;
    if (!sums || context->size < arm_fully_connected_s8_get_buffer_size(filter_dims))
        return ARM_CMSIS_NN_ARG_ERROR;
    for (int32_t n = 0; n < input_dims->n; n++)
        for (int32_t r = 0; r < rows; r++) {
            int32_t sum = sums[r];

            for (int32_t i = 0; i < depth; i++)
                sum += input[n * depth + i] * (filter[r * depth + i] + params->filter_offset);
            sum = requantized(sum, quant->multiplier, quant->shift);
            *output++ = clamped((int64_t)sum + params->output_offset, params->activation.min,
                                params->activation.max);
        }
    return ARM_CMSIS_NN_SUCCESS;
}

arm_cmsis_nn_status arm_elementwise_add_s8(const int8_t *a, const int8_t *b, const int32_t a_offset,
                                           const int32_t a_multiplier, const int32_t a_shift,
                                           const int32_t b_offset, const int32_t b_multiplier,
                                           const int32_t b_shift, const int32_t left_shift,
                                           int8_t *output, const int32_t out_offset,
                                           const int32_t out_multiplier, const int32_t out_shift,
                                           const int32_t least, const int32_t greatest,
                                           const int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        const int32_t unit = (int32_t)1 << left_shift;
        const int32_t sum = requantized((a[i] + a_offset) * unit, a_multiplier, a_shift) +
                            requantized((b[i] + b_offset) * unit, b_multiplier, b_shift);

        output[i] = clamped((int64_t)requantized(sum, out_multiplier, out_shift) + out_offset,
                            least, greatest);
    }
    return ARM_CMSIS_NN_SUCCESS;
}

arm_cmsis_nn_status arm_elementwise_mul_s8(const int8_t *a, const int8_t *b, const int32_t a_offset,
                                           const int32_t b_offset, int8_t *output,
                                           const int32_t out_offset, const int32_t out_multiplier,
                                           const int32_t out_shift, const int32_t least,
                                           const int32_t greatest, const int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        output[i] = clamped(
            (int64_t)requantized((a[i] + a_offset) * (b[i] + b_offset), out_multiplier, out_shift) +
                out_offset,
            least, greatest);
    return ARM_CMSIS_NN_SUCCESS;
}

arm_cmsis_nn_status arm_max_pool_s8(const cmsis_nn_context *context,
                                    const cmsis_nn_pool_params *params,
                                    const cmsis_nn_dims *input_dims, const int8_t *input,
                                    const cmsis_nn_dims *window_dims,
                                    const cmsis_nn_dims *output_dims, int8_t *output)
{
    const struct window window = { params->stride, params->padding, { 1, 1 } };

    (void)context;
    for (int32_t n = 0; n < input_dims->n; n++)
        for (int32_t y = 0; y < output_dims->h; y++)
            for (int32_t x = 0; x < output_dims->w; x++)
                for (int32_t c = 0; c < input_dims->c; c++) {
                    int32_t most = -128;

                    for (int32_t k = 0; k < window_dims->h * window_dims->w; k++) {
                        const int64_t at = tap_index(&window, input_dims, n, y, x,
                                                     k / window_dims->w, k % window_dims->w);

                        if (at >= 0 && input[at + c] > most)
                            most = input[at + c];
                    }
                    *output++ = clamped(most, params->activation.min, params->activation.max);
                }
    return ARM_CMSIS_NN_SUCCESS;
}

int32_t arm_avgpool_s8_get_buffer_size(const int output_width, const int channels)
{
    (void)output_width;
    return 4 * channels;
}

arm_cmsis_nn_status arm_avgpool_s8(const cmsis_nn_context *context,
                                   const cmsis_nn_pool_params *params,
                                   const cmsis_nn_dims *input_dims, const int8_t *input,
                                   const cmsis_nn_dims *window_dims,
                                   const cmsis_nn_dims *output_dims, int8_t *output)
{
    const struct window window = { params->stride, params->padding, { 1, 1 } };

    if (is_too_small(context, arm_avgpool_s8_get_buffer_size(output_dims->w, input_dims->c)))
        return ARM_CMSIS_NN_ARG_ERROR;
    for (int32_t n = 0; n < input_dims->n; n++)
        for (int32_t y = 0; y < output_dims->h; y++)
            for (int32_t x = 0; x < output_dims->w; x++)
                for (int32_t c = 0; c < input_dims->c; c++) {
                    int32_t sum = 0, count = 0;

                    for (int32_t k = 0; k < window_dims->h * window_dims->w; k++) {
                        const int64_t at = tap_index(&window, input_dims, n, y, x,
                                                     k / window_dims->w, k % window_dims->w);

                        if (at >= 0) {
                            sum += input[at + c];
                            count++;
                        }
                    }
                    if (count == 0)
                        return ARM_CMSIS_NN_ARG_ERROR;
                    sum = (sum > 0 ? sum + count / 2 : sum - count / 2) / count;
                    *output++ = clamped(sum, params->activation.min, params->activation.max);
                }
    return ARM_CMSIS_NN_SUCCESS;
}

/* The input's scale is multiplier * 2^(shift - 31) / 2^26. In floating point. */
void arm_softmax_s8(const int8_t *input, const int32_t rows, const int32_t row,
                    const int32_t multiplier, const int32_t shift, const int32_t diff_min,
                    int8_t *output)
{
    const double scale = ldexp((double)multiplier, shift - 31 - 26);

    for (int32_t r = 0; r < rows; r++, input += row, output += row) {
        double sum = 0;
        int32_t most = -128;

        for (int32_t i = 0; i < row; i++)
            most = input[i] > most ? input[i] : most;
        for (int32_t i = 0; i < row; i++)
            sum += input[i] - most >= diff_min ? exp(scale * (input[i] - most)) : 0;
        for (int32_t i = 0; i < row; i++) {
            const double p = input[i] - most >= diff_min ? exp(scale * (input[i] - most)) / sum : 0;

            output[i] = clamped((int64_t)floor(p * 256 + 0.5) - 128, -128, 127);
        }
    }
}
