/* arm_nnfunctions.h - a double of the part of CMSIS-NN that relayc calls, for hosts without the
 * library: what `relayc verify --offload cmsis_nn` builds the generated C against. The same names,
 * types and results (softmax: at most 1 apart), plain and slow. Firmware is built with the real
 * library, whose header has this name. */
#ifndef ARM_NNFUNCTIONS_H
#define ARM_NNFUNCTIONS_H

#include <stdint.h>

typedef enum { ARM_CMSIS_NN_SUCCESS = 0, ARM_CMSIS_NN_ARG_ERROR = -1 } arm_cmsis_nn_status;

typedef struct {
    int32_t w, h;
} cmsis_nn_tile;

typedef struct {
    void *buf;
    int32_t size;
} cmsis_nn_context;

typedef struct {
    int32_t n, h, w, c;
} cmsis_nn_dims;

typedef struct {
    int32_t *multiplier, *shift;
} cmsis_nn_per_channel_quant_params;

typedef struct {
    int32_t multiplier, shift;
} cmsis_nn_per_tensor_quant_params;

typedef struct {
    int32_t min, max;
} cmsis_nn_activation;

typedef struct {
    int32_t input_offset, output_offset;
    cmsis_nn_tile stride, padding, dilation;
    cmsis_nn_activation activation;
} cmsis_nn_conv_params;

typedef struct {
    int32_t input_offset, output_offset, ch_mult;
    cmsis_nn_tile stride, padding, dilation;
    cmsis_nn_activation activation;
} cmsis_nn_dw_conv_params;

typedef struct {
    cmsis_nn_tile stride, padding;
    cmsis_nn_activation activation;
} cmsis_nn_pool_params;

typedef struct {
    int32_t input_offset, filter_offset, output_offset;
    cmsis_nn_activation activation;
} cmsis_nn_fc_params;

/* Data is NHWC, weights OHWI (depthwise: 1HWO). The sizes are what the library needs on the core
 * that needs most. */
int32_t arm_convolve_wrapper_s8_get_buffer_size(const cmsis_nn_conv_params *params,
                                                const cmsis_nn_dims *input,
                                                const cmsis_nn_dims *filter,
                                                const cmsis_nn_dims *output);
arm_cmsis_nn_status arm_convolve_wrapper_s8(const cmsis_nn_context *context,
                                            const cmsis_nn_conv_params *params,
                                            const cmsis_nn_per_channel_quant_params *quant,
                                            const cmsis_nn_dims *input_dims, const int8_t *input,
                                            const cmsis_nn_dims *filter_dims, const int8_t *filter,
                                            const cmsis_nn_dims *bias_dims, const int32_t *bias,
                                            const cmsis_nn_dims *output_dims, int8_t *output);
int32_t arm_depthwise_conv_wrapper_s8_get_buffer_size(const cmsis_nn_dw_conv_params *params,
                                                      const cmsis_nn_dims *input,
                                                      const cmsis_nn_dims *filter,
                                                      const cmsis_nn_dims *output);
arm_cmsis_nn_status arm_depthwise_conv_wrapper_s8(
    const cmsis_nn_context *context, const cmsis_nn_dw_conv_params *params,
    const cmsis_nn_per_channel_quant_params *quant, const cmsis_nn_dims *input_dims,
    const int8_t *input, const cmsis_nn_dims *filter_dims, const int8_t *filter,
    const cmsis_nn_dims *bias_dims, const int32_t *bias, const cmsis_nn_dims *output_dims,
    int8_t *output);
int32_t arm_fully_connected_s8_get_buffer_size(const cmsis_nn_dims *filter_dims);
arm_cmsis_nn_status arm_vector_sum_s8(int32_t *sums, const int32_t columns, const int32_t rows,
                                      const int8_t *data, const int32_t input_offset,
                                      const int32_t filter_offset, const int32_t *bias);
arm_cmsis_nn_status arm_fully_connected_s8(const cmsis_nn_context *context,
                                           const cmsis_nn_fc_params *params,
                                           const cmsis_nn_per_tensor_quant_params *quant,
                                           const cmsis_nn_dims *input_dims, const int8_t *input,
                                           const cmsis_nn_dims *filter_dims, const int8_t *filter,
                                           const cmsis_nn_dims *bias_dims, const int32_t *bias,
                                           const cmsis_nn_dims *output_dims, int8_t *output);
arm_cmsis_nn_status arm_elementwise_add_s8(const int8_t *a, const int8_t *b, const int32_t a_offset,
                                           const int32_t a_multiplier, const int32_t a_shift,
                                           const int32_t b_offset, const int32_t b_multiplier,
                                           const int32_t b_shift, const int32_t left_shift,
                                           int8_t *output, const int32_t out_offset,
                                           const int32_t out_multiplier, const int32_t out_shift,
                                           const int32_t least, const int32_t greatest,
                                           const int32_t n);
arm_cmsis_nn_status arm_elementwise_mul_s8(const int8_t *a, const int8_t *b, const int32_t a_offset,
                                           const int32_t b_offset, int8_t *output,
                                           const int32_t out_offset, const int32_t out_multiplier,
                                           const int32_t out_shift, const int32_t least,
                                           const int32_t greatest, const int32_t n);
arm_cmsis_nn_status arm_max_pool_s8(const cmsis_nn_context *context,
                                    const cmsis_nn_pool_params *params,
                                    const cmsis_nn_dims *input_dims, const int8_t *input,
                                    const cmsis_nn_dims *window, const cmsis_nn_dims *output_dims,
                                    int8_t *output);
int32_t arm_avgpool_s8_get_buffer_size(const int output_width, const int channels);
arm_cmsis_nn_status arm_avgpool_s8(const cmsis_nn_context *context,
                                   const cmsis_nn_pool_params *params,
                                   const cmsis_nn_dims *input_dims, const int8_t *input,
                                   const cmsis_nn_dims *window, const cmsis_nn_dims *output_dims,
                                   int8_t *output);
void arm_softmax_s8(const int8_t *input, const int32_t rows, const int32_t row,
                    const int32_t multiplier, const int32_t shift, const int32_t diff_min,
                    int8_t *output);

#endif
