/* rules.h - the functions behind the rows of fake_quant_to_integer.c, canonicalize.c and
 * simplify_expr.c, a file per subject. Each is documented in its table row and at its
 * definition. */
#ifndef RELAY_IR_PASSES_RULES_H
#define RELAY_IR_PASSES_RULES_H

#include "relay_ir/passes/rewrite.h"

#define RULE(function) struct value *function(struct rewrite *rewrite, struct node *root);

/* view.c */
RULE(view_to_reshape)
RULE(merge_reshapes)
RULE(drop_reshape)
RULE(drop_transpose)
RULE(merge_transposes)
RULE(softmax_behind_transpose)
RULE(sink_unflatten)
RULE(view_behind_elementwise)
RULE(squeeze_behind_elementwise)

/* identity.c */
RULE(compare_with_itself)
RULE(drop_copy)
RULE(drop_cast)
RULE(drop_slice)
RULE(merge_slices)
RULE(drop_pad)
RULE(drop_concatenate)
RULE(flatten_concatenate)
RULE(join_split)
RULE(drop_split)
RULE(drop_broadcast)
RULE(drop_resize)
RULE(drop_pool)
RULE(drop_reduction)
RULE(drop_own_twin)

/* split.c: a split of x with the attributes of `split`: split_found returns an existing one (NULL =
 * none), split_before makes one before it (NULL after an error). */
struct node *split_found(const struct node *split, const struct value *x);
struct node *split_before(struct rewrite *rewrite, struct node *split, struct value *x);

/* arithmetic.c */
RULE(constant_to_right)
RULE(subtract_to_add)
RULE(divide_to_multiply)
RULE(multiply_zero)
RULE(drop_add_zero)
RULE(drop_multiply_one)
RULE(drop_power_one)
RULE(power_to_multiply)
RULE(double_negative)
RULE(add_negative)
RULE(subtract_negative)
RULE(drop_broadcast_operand)
RULE(select_branch)
RULE(choose_the_other)

/* exact_move.c */
RULE(move_before_decode)
RULE(pad_before_decode)
RULE(resize_before_decode)
RULE(join_before_decode)
RULE(encode_of_concatenate)
RULE(encode_of_decode)
RULE(encode_of_elements)
RULE(encode_of_channels)
RULE(exact_resize)
RULE(exact_softmax)

/* exact_affine.c, exact_binary.c, exact_norm.c, exact_product.c, exact_reduce.c */
RULE(exact_affine)
RULE(exact_average)
RULE(exact_binary)
RULE(exact_norm)
RULE(exact_normalize)
RULE(exact_product)

/* transposed.c */
RULE(exact_polyphase)
RULE(transposed_conv_to_polyphase)

/* compare.c */
RULE(compare_before_decode)
RULE(compare_before_dequantize)
RULE(encode_of_bool)
RULE(predicate_before_decode)
RULE(predicate_before_dequantize)

/* lp_pool.c */
RULE(exact_lp_pool)
RULE(lp_pool_to_average)

/* prod.c */
RULE(exact_prod)
RULE(prod_to_integer)

/* sample.c */
RULE(grid_sample_to_integer)

/* sums.c */
RULE(exact_sums)
RULE(sums_to_integer)

/* clamp.c */
RULE(clip_to_relu)
RULE(merge_clips)
RULE(maximum_to_clip)
RULE(minimum_to_clip)

/* linear.c */
RULE(add_to_bias)
RULE(drop_zero_bias)
RULE(merge_biases)
RULE(matmul_to_dense)
RULE(transpose_into_matmul)

/* parallel_conv.c */
RULE(join_parallel_convs)

/* kernel_taps.c */
RULE(cut_kernel)

/* window.c */
RULE(pad_behind_transpose)
RULE(pad_behind_reshape)
RULE(pad_into_conv)
RULE(slice_into_conv)
RULE(pad_into_qnn_conv)
RULE(pad_into_average_pool)
RULE(pad_into_max_pool)
RULE(reduction_to_global_pool)
RULE(pool_to_global_pool)

/* activation.c */
RULE(find_silu)
RULE(find_sigmoid)
RULE(find_gelu_erf)
RULE(find_gelu_tanh)
RULE(find_hard_sigmoid)
RULE(find_hard_swish)
RULE(find_mish)
RULE(find_softsign)

/* norm.c */
RULE(find_softmax)
RULE(find_layer_norm)
RULE(layer_norm_beta)

/* group_norm.c */
RULE(find_group_norm)
RULE(scale_of_group_norm)
RULE(shift_of_group_norm)

/* quantized_move.c */
RULE(move_before_dequantize)
RULE(transpose_before_dequantize)
RULE(pad_before_dequantize)
RULE(clip_before_dequantize)
RULE(join_before_dequantize)
RULE(arg_before_dequantize)
bool pairs_before_dequantize(struct module *module, bool *changed);
RULE(quantize_of_split)
RULE(quantize_of_pad)
RULE(quantize_of_move)

/* narrow_move.c */
RULE(move_before_decoder)
RULE(pad_before_decoder)
RULE(join_before_decoder)
RULE(exact_encode_of_decode)
RULE(encode_before_move)
RULE(encode_of_split)

/* quantized_choice.c */
RULE(quantize_of_dequantize)
RULE(quantize_of_clip)
RULE(quantize_of_concatenate)
RULE(choice_to_integer)
RULE(hardmax_before_dequantize)

/* quantized_binary.c */
RULE(binary_to_integer)

/* quantized_product.c */
RULE(product_to_integer)

/* quantized_reduce.c */
RULE(norm_to_integer)
RULE(reduction_to_integer)
RULE(resize_to_integer)

/* quantized_onnx.c */
RULE(requantize_as_onnx)
RULE(binary_as_onnx)
RULE(global_average_as_onnx)

/* quantized_recurrent.c */
RULE(recurrent_to_integer)
RULE(exact_recurrent)

/* quantized_table.c */
RULE(chain_to_table)
RULE(table_of_table)

/* stored_constants.c */
RULE(quantized_of_weights)
RULE(take_of_quantized)
RULE(turn_before_decoder)
RULE(turned_quantized)

/* narrow_product.c */
RULE(product_of_quantized)

/* exact_order.c */
RULE(arg_before_decode)
RULE(exact_choice)
RULE(greatest_before_decode)
RULE(hardmax_before_decode)
bool pairs_before_decode(struct module *module, bool *changed);

#undef RULE

#endif
