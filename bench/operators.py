#!/usr/bin/env python3
"""make bench-operators: operators alone, the generated C against ONNX Runtime, the slowest first.

  bench/operators.py [--only NAME,...] [--list] [--seconds S] [--cflags FLAGS] [--target MACHINE] [--markdown]

A model of one operator for each row of OPERATORS, and one `relayc bench --json --vs onnxruntime` of it; models and
results are kept in $BUILD/bench/operators. --only takes names, and beginnings of names that end with '*'. Run by
$BUILD/python/bin/python3, which has onnx.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

TOP = pathlib.Path(__file__).resolve().parent.parent
BUILD = TOP / os.environ.get("BUILD", "build")
FOLDER = BUILD / "bench" / "operators"
OPSET = 20

COLUMNS = ("operator", "inputs", "ours us", "peer us", "ratio", "quartiles", "cold ratio")


class Weight(tuple):
    """The shape of a constant of random numbers."""


class Values(list):
    """A constant with these numbers: whole ones are i64."""


def one(op, *inputs, outputs=1, **attributes):
    """An operator; a shape is an input from outside (x0, x1 ...), a text the name of a value, "" an absent one."""
    return op, inputs, outputs, attributes


def flat(op, shape=(64, 3136), **attributes):
    return one(op, shape, **attributes)


ATTENTION = (12, 197, 197)

# name -> the operator
OPERATORS = {
    # Element-wise: 200704 numbers
    "exp": flat("Exp"),
    "sigmoid": flat("Sigmoid"),
    "tanh": flat("Tanh"),
    "erf": flat("Erf"),
    "gelu": flat("Gelu"),
    "gelu_tanh": flat("Gelu", approximate="tanh"),
    "silu": [one("Sigmoid", (64, 3136)), one("Mul", "x0", "Sigmoid")],
    "softplus": flat("Softplus"),
    "mish": flat("Mish"),
    "elu": flat("Elu"),
    "selu": flat("Selu"),
    "celu": flat("Celu", alpha=0.5),
    "softsign": flat("Softsign"),
    "thresholded_relu": flat("ThresholdedRelu", alpha=0.5),
    "shrink": flat("Shrink", lambd=0.5),
    "hard_swish": flat("HardSwish"),
    "hard_sigmoid": flat("HardSigmoid"),
    "leaky_relu": flat("LeakyRelu"),
    "prelu": one("PRelu", (1, 64, 56, 56), Weight((64, 1, 1))),
    "relu": flat("Relu"),
    "clip": one("Clip", (64, 3136), Values([0.0]), Values([6.0])),
    "sqrt": flat("Sqrt"),
    "rsqrt": [flat("Sqrt"), one("Reciprocal", "Sqrt")],
    "reciprocal": flat("Reciprocal"),
    "log": flat("Log"),
    "abs": flat("Abs"),
    "floor": flat("Floor"),
    "ceil": flat("Ceil"),
    "sign": flat("Sign"),
    "neg": flat("Neg"),
    "round": flat("Round"),
    "sin": flat("Sin"),
    "cos": flat("Cos"),
    "tan": flat("Tan"),
    "asin": flat("Asin"),
    "acos": flat("Acos"),
    "atan": flat("Atan"),
    "sinh": flat("Sinh"),
    "cosh": flat("Cosh"),
    "asinh": flat("Asinh"),
    "atanh": flat("Atanh"),
    "pow_2": one("Pow", (64, 3136), Values([2.0])),
    "pow_3": one("Pow", (64, 3136), Values([3.0])),
    "pow_half": one("Pow", (64, 3136), Values([0.5])),
    "pow_constant": [flat("Abs"), one("Pow", "Abs", Values([1.7]))],
    "pow_of_two": [flat("Abs"), one("Pow", "Abs", (64, 3136))],
    "add": one("Add", (64, 3136), (64, 3136)),
    "add_row": one("Add", (1, 64), (1, 64)),
    "add_three": one("Sum", (64, 3136), (64, 3136), (64, 3136)),
    "mean_three": one("Mean", (64, 3136), (64, 3136), (64, 3136)),
    "subtract_first": one("Sub", (197, 768), (197, 1)),
    "maximum": one("Max", (64, 3136), (64, 3136)),
    "minimum": one("Min", (64, 3136), (64, 3136)),
    "modulo": one("Mod", (64, 3136), (64, 3136), fmod=1),
    "add_channel": one("Add", (1, 64, 56, 56), (1, 64, 1, 1)),
    "multiply_last": one("Mul", (197, 768), (768,)),
    "divide": one("Div", (64, 3136), (64, 3136)),
    "where": [one("Less", (64, 3136), (64, 3136)), one("Where", "Less", "x0", "x1")],
    "logic": [one("Less", (64, 3136), (64, 3136)), one("Greater", "x0", Values([0.5])), one("Or", "Less", "Greater"),
              one("Not", "Or"), one("Cast", "Not", to=TensorProto.FLOAT)],
    "is_nan": [flat("IsNaN"), one("Cast", "IsNaN", to=TensorProto.FLOAT)],
    "quantise": one("QuantizeLinear", (64, 3136), Values([0.0078125]), numpy.array(128, numpy.uint8)),
    "dequantise": [one("QuantizeLinear", (64, 3136), Values([0.0078125]), numpy.array(128, numpy.uint8)),
                   one("DequantizeLinear", "QuantizeLinear", "w0", "w1")],
    "cast_i32": flat("Cast", to=TensorProto.INT32),
    "cast_u8": [flat("Abs"), one("Cast", "Abs", to=TensorProto.UINT8)],
    "cast_f16": flat("Cast", to=TensorProto.FLOAT16),
    # Softmax and norms
    "softmax_12x197x197": one("Softmax", ATTENTION, axis=-1),
    "softmax_64x3x49x49": one("Softmax", (64, 3, 49, 49), axis=-1),
    "softmax_640x100": one("Softmax", (640, 100), axis=-1),
    "softmax_8x128x128": one("Softmax", (8, 128, 128), axis=-1),
    "softmax_8x512x512": one("Softmax", (8, 512, 512), axis=-1),
    "softmax_1x1000": one("Softmax", (1, 1000), axis=-1),
    "softmax_1x10": one("Softmax", (1, 10), axis=-1),
    "softmax_12x1x197": one("Softmax", (12, 1, 197), axis=-1),
    "hardmax": one("Hardmax", (640, 100), axis=-1),
    "softmax_4096x16": one("Softmax", (4096, 16), axis=-1),
    "softmax_3600x21": one("Softmax", (3600, 21), axis=-1),
    "softmax_channels": one("Softmax", (1, 21, 60, 60), axis=1),
    "softmax_middle": one("Softmax", (1, 16, 4, 8400), axis=1),
    "log_softmax_64x1000": one("LogSoftmax", (64, 1000), axis=-1),
    "log_softmax_96x29": one("LogSoftmax", (96, 29), axis=-1),
    "layer_norm": one("LayerNormalization", (197, 768), Weight((768,)), Weight((768,)), axis=-1),
    "layer_norm_96": one("LayerNormalization", (3136, 96), Weight((96,)), Weight((96,)), axis=-1),
    "layer_norm_row": one("LayerNormalization", (1, 768), Weight((768,)), Weight((768,)), axis=-1),
    "layer_norm_32": one("LayerNormalization", (4096, 32), Weight((32,)), Weight((32,)), axis=-1),
    "rms_norm": [one("Mul", (197, 768), "x0"), one("ReduceMean", "Mul", Values([1])),
                 one("Add", "ReduceMean", Values([1e-5])), one("Sqrt", "Add"), one("Div", "x0", "Sqrt")],
    "group_norm": [one("Reshape", (1, 64, 28, 28), Values([0, 8, -1])),
                   one("InstanceNormalization", "Reshape", numpy.ones(8, numpy.float32), numpy.zeros(8, numpy.float32)),
                   one("Reshape", "InstanceNormalization", Values([1, 64, 28, 28]))],
    "batch_norm": one("BatchNormalization", (1, 64, 56, 56), Weight((64,)), Weight((64,)), Weight((64,)),
                      numpy.ones(64, numpy.float32)),
    "l2_norm": one("LpNormalization", (197, 768), axis=-1),
    "l2_norm_channels": one("LpNormalization", (1, 64, 56, 56), axis=1),
    "mean_variance": one("MeanVarianceNormalization", (1, 64, 28, 28), axes=[0, 2, 3]),
    "instance_norm": one("InstanceNormalization", (1, 32, 56, 56), Weight((32,)), Weight((32,))),
    "lrn": one("LRN", (1, 64, 28, 28), size=5),
    # Reductions
    "sum_last": one("ReduceSum", (197, 768), Values([1])),
    "sum_first": one("ReduceSum", (197, 768), Values([0])),
    "mean_last": one("ReduceMean", (197, 768), Values([1])),
    "mean_first": one("ReduceMean", (197, 768), Values([0])),
    "mean_planes": one("ReduceMean", (1, 64, 56, 56), Values([2, 3])),
    "mean_channels": one("ReduceMean", (1, 64, 56, 56), Values([1])),
    "max_last": one("ReduceMax", (197, 768), Values([1])),
    "max_first": one("ReduceMax", (197, 768), Values([0])),
    "min_last": one("ReduceMin", (197, 768), Values([1])),
    "prod_last": one("ReduceProd", (197, 768), Values([1])),
    "l1_last": one("ReduceL1", (197, 768), Values([1])),
    "squares_last": one("ReduceSumSquare", (197, 768), Values([1])),
    "log_sum_exp_last": one("ReduceLogSumExp", (197, 768), Values([1])),
    "max_channels": one("ReduceMax", (1, 64, 56, 56), Values([1])),
    "l2_last": one("ReduceL2", (197, 768), Values([1])),
    "sum_all": one("ReduceSum", (64, 3136)),
    "argmin_last": one("ArgMin", (512, 1000), axis=-1),
    "argmax_1x1000": one("ArgMax", (1, 1000), axis=-1),
    "argmax_last": one("ArgMax", (512, 1000), axis=-1),
    "argmax_channels": one("ArgMax", (1, 21, 60, 60), axis=1),
    "topk": one("TopK", (1, 8400), Values([300]), outputs=2),
    "topk_rows": one("TopK", (64, 100), Values([5]), outputs=2),
    "cumsum": one("CumSum", (64, 1024), numpy.array(1, numpy.int64)),
    "cumsum_first": one("CumSum", (1024, 64), numpy.array(0, numpy.int64)),
    # Moves
    "to_nhwc": one("Transpose", (1, 64, 56, 56), perm=[0, 2, 3, 1]),
    "to_nchw": one("Transpose", (1, 56, 56, 64), perm=[0, 3, 1, 2]),
    "transpose_yolo": one("Transpose", (1, 3, 85, 80, 80), perm=[0, 1, 3, 4, 2]),
    "transpose_85x3549": one("Transpose", (85, 3549), perm=[1, 0]),
    "transpose_768x768": one("Transpose", (768, 768), perm=[1, 0]),
    "transpose_heads": one("Transpose", (1, 197, 12, 64), perm=[0, 2, 1, 3]),
    "transpose_keys": one("Transpose", (1, 197, 12, 64), perm=[0, 2, 3, 1]),
    "transpose_shuffle": one("Transpose", (1, 2, 58, 28, 28), perm=[0, 2, 1, 3, 4]),
    "transpose_small": one("Transpose", (16, 32), perm=[1, 0]),
    "transpose_49x32": one("Transpose", (1, 49, 3, 32), perm=[0, 2, 1, 3]),
    "transpose_swin": one("Transpose", (1, 8, 7, 8, 7, 96), perm=[0, 1, 3, 2, 4, 5]),
    "concat_channels": one("Concat", (1, 32, 56, 56), (1, 32, 56, 56), axis=1),
    "concat_last": one("Concat", (3136, 32), (3136, 32), axis=1),
    "split": one("Split", (1, 64, 56, 56), outputs=2, axis=1, num_outputs=2),
    "slice_focus": one("Slice", (1, 3, 640, 640), Values([0, 0]), Values([640, 640]), Values([2, 3]), Values([2, 2])),
    "slice_rows": one("Slice", (197, 768), Values([1]), Values([197]), Values([0])),
    "slice_last": one("Slice", (197, 768), Values([64]), Values([512]), Values([1])),
    "slice_back": one("Slice", (197, 768), Values([-1]), Values([-1000]), Values([1]), Values([-1])),
    "pad": one("Pad", (1, 64, 56, 56), Values([0, 0, 1, 1, 0, 0, 1, 1])),
    "pad_reflect": one("Pad", (1, 16, 56, 56), Values([0, 0, 1, 1, 0, 0, 1, 1]), mode="reflect"),
    "pad_edge": one("Pad", (1, 16, 56, 56), Values([0, 0, 1, 1, 0, 0, 1, 1]), mode="edge"),
    "gather_rows": one("Gather", (1000, 768), Values([int(i * 37 % 1000) for i in range(197)]), axis=0),
    "gather_columns": one("Gather", (197, 768), Values([int(i * 37 % 768) for i in range(256)]), axis=1),
    "gather_elements": one("GatherElements", (197, 768), numpy.arange(197 * 256).reshape(197, 256) * 37 % 768, axis=1),
    "gather_nd": one("GatherND", (197, 768), numpy.stack([numpy.arange(512) * 37 % 197, numpy.arange(512) % 768], 1)),
    "scatter_elements": one("ScatterElements", (197, 768), numpy.arange(197 * 64).reshape(197, 64) * 37 % 768, (197, 64),
                            axis=1),
    "scatter_rows": one("ScatterND", (197, 768), numpy.arange(64).reshape(64, 1) * 3, (64, 768)),
    "one_hot": [one("ArgMax", (512, 16), axis=-1, keepdims=0), one("OneHot", "ArgMax", Values([16]), Values([0.0, 1.0]))],
    "triangle": one("Trilu", (12, 197, 197), upper=0),
    "reverse_sequence": one("ReverseSequence", (100, 8, 64), numpy.array([100, 90, 80, 70, 60, 50, 40, 30])),
    "expand": one("Expand", (1, 64, 1, 56), Values([1, 64, 56, 56])),
    "tile": one("Tile", (1, 64, 28, 28), Values([1, 1, 2, 2])),
    "depth_to_space": one("DepthToSpace", (1, 64, 56, 56), blocksize=2),
    "space_to_depth": one("SpaceToDepth", (1, 16, 112, 112), blocksize=2),
    # Pictures
    "resize_nearest": one("Resize", (1, 64, 28, 28), "", Values([1.0, 1.0, 2.0, 2.0]), mode="nearest",
                          coordinate_transformation_mode="asymmetric", nearest_mode="floor"),
    "resize_linear": one("Resize", (1, 64, 28, 28), "", Values([1.0, 1.0, 2.0, 2.0]), mode="linear"),
    "resize_linear_odd": one("Resize", (1, 21, 33, 33), "", "", Values([1, 21, 129, 129]), mode="linear",
                             coordinate_transformation_mode="align_corners"),
    "resize_cubic": one("Resize", (1, 3, 64, 64), "", Values([1.0, 1.0, 2.0, 2.0]), mode="cubic"),
    "resize_down": one("Resize", (1, 3, 448, 448), "", Values([1.0, 1.0, 0.5, 0.5]), mode="linear"),
    "resize_last": one("Resize", (1, 32, 7, 7), "", "", Values([1, 32, 28, 28]), mode="linear"),
    "max_pool_3x3s2": one("MaxPool", (1, 64, 112, 112), kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]),
    "max_pool_2x2s2": one("MaxPool", (1, 64, 56, 56), kernel_shape=[2, 2], strides=[2, 2]),
    "max_pool_5x5": one("MaxPool", (1, 128, 20, 20), kernel_shape=[5, 5], pads=[2, 2, 2, 2]),
    "average_pool_3x3": one("AveragePool", (1, 64, 28, 28), kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
    "average_pool_2x2s2": one("AveragePool", (1, 64, 56, 56), kernel_shape=[2, 2], strides=[2, 2]),
    "max_pool_1d": one("MaxPool", (1, 64, 400), kernel_shape=[2], strides=[2]),
    "max_pool_3d": one("MaxPool", (1, 16, 8, 28, 28), kernel_shape=[2, 2, 2], strides=[2, 2, 2]),
    "average_pool_7x7": one("AveragePool", (1, 64, 56, 56), kernel_shape=[7, 7], strides=[7, 7]),
    "lp_pool": one("LpPool", (1, 64, 56, 56), kernel_shape=[2, 2], strides=[2, 2]),
    "global_average": one("GlobalAveragePool", (1, 512, 7, 7)),
    "global_max": one("GlobalMaxPool", (1, 512, 7, 7)),
    "grid_sample": one("GridSample", (1, 16, 32, 32), (1, 32, 32, 2)),
    "roi_align": one("RoiAlign", (1, 16, 32, 32), Values([[0.0, 0.0, 16.0, 16.0], [4.0, 4.0, 30.0, 30.0]]),
                     numpy.array([0, 0]), output_height=7, output_width=7, sampling_ratio=2),
    "col2im": one("Col2Im", (1, 144, 784), Values([28, 28]), Values([3, 3]), pads=[1, 1, 1, 1]),
    "dft": one("DFT", (1, 64, 256, 1), "", numpy.array(2, numpy.int64)),
    # Products
    "matmul_scores": one("MatMul", (12, 197, 64), (12, 64, 197)),
    "matmul_context": one("MatMul", (12, 197, 197), (12, 197, 64)),
    "matmul_128": one("MatMul", (128, 128), (128, 128)),
    "matmul_run_time": one("MatMul", (197, 768), (768, 768)),
    "matmul_row": one("MatMul", (1, 768), (768, 768)),
    "matmul_column": one("MatMul", (768, 768), (768, 1)),
    "matmul_small": one("MatMul", (64, 49, 32), (64, 32, 49)),
    "matmul_49x32": one("MatMul", (49, 32), Weight((32, 96))),
    "matmul_rows": one("MatMul", (16, 64), Weight((64, 64))),
    "matmul_1x64": one("MatMul", (1, 64), Weight((64, 10))),
    "matmul_8x1280": one("MatMul", (8, 1280), Weight((1280, 1000))),
    "matmul_decode": one("MatMul", (12, 1, 64), (12, 64, 197)),
    "matmul_odd": one("MatMul", (37, 53), (53, 71)),
    "matmul_bytes": [one("DynamicQuantizeLinear", (64, 256), outputs=3),
                     one("MatMulInteger", "DynamicQuantizeLinear", numpy.arange(256 * 256, dtype=numpy.uint8).reshape(256, 256),
                         "DynamicQuantizeLinear_2")],
    "einsum": one("Einsum", (1, 12, 49, 32), (1, 12, 49, 32), equation="bhid,bhjd->bhij"),
    "attention": [one("MatMul", (12, 49, 32), (12, 32, 49)), one("Softmax", "MatMul", axis=-1),
                  one("MatMul", "Softmax", (12, 49, 32))],
    "gemm_transposed": one("Gemm", (128, 256), (512, 256), transB=1),
    "matmul": one("MatMul", (197, 768), Weight((768, 768))),
    "gemm_row": one("Gemm", (1, 1280), Weight((1000, 1280)), Weight((1000,)), transB=1),
    "conv_run_time": one("Conv", (1, 64, 28, 28), (64, 64, 3, 3), pads=[1, 1, 1, 1]),
    "conv_run_time_1x1": one("Conv", (1, 128, 28, 28), (128, 128, 1, 1)),
    "conv_run_time_depthwise": one("Conv", (1, 256, 22, 22), (256, 1, 7, 7), group=256),
    "conv_3x3": one("Conv", (1, 64, 28, 28), Weight((64, 64, 3, 3)), pads=[1, 1, 1, 1]),
    "conv_1x1": one("Conv", (1, 128, 28, 28), Weight((128, 128, 1, 1))),
    "conv_1x1_small": one("Conv", (1, 32, 14, 14), Weight((64, 32, 1, 1)), Weight((64,))),
    "conv_3x3s2": one("Conv", (1, 64, 28, 28), Weight((128, 64, 3, 3)), pads=[1, 1, 1, 1], strides=[2, 2]),
    "conv_first": one("Conv", (1, 3, 224, 224), Weight((32, 3, 3, 3)), pads=[1, 1, 1, 1], strides=[2, 2]),
    "conv_5x5": one("Conv", (1, 32, 28, 28), Weight((32, 32, 5, 5)), pads=[2, 2, 2, 2]),
    "conv_1x7": one("Conv", (1, 64, 17, 17), Weight((64, 64, 1, 7)), pads=[0, 3, 0, 3]),
    "conv_batch": one("Conv", (8, 16, 14, 14), Weight((16, 16, 3, 3)), pads=[1, 1, 1, 1]),
    "conv_patches": one("Conv", (1, 3, 224, 224), Weight((192, 3, 16, 16)), strides=[16, 16]),
    "conv_dilated": one("Conv", (1, 64, 28, 28), Weight((64, 64, 3, 3)), pads=[2, 2, 2, 2], dilations=[2, 2]),
    "conv_grouped": one("Conv", (1, 128, 28, 28), Weight((128, 4, 3, 3)), pads=[1, 1, 1, 1], group=32),
    "conv_grouped_16": one("Conv", (1, 128, 28, 28), Weight((128, 16, 3, 3)), pads=[1, 1, 1, 1], group=8),
    "conv_1d": one("Conv", (1, 64, 400), Weight((64, 64, 9)), pads=[4, 4]),
    "conv_1d_dilated": one("Conv", (1, 32, 400), Weight((32, 32, 3)), pads=[4, 4], dilations=[4]),
    "conv_1d_depthwise": one("Conv", (1, 64, 400), Weight((64, 1, 9)), pads=[4, 4], group=64),
    "conv_3d": one("Conv", (1, 16, 8, 28, 28), Weight((32, 16, 3, 3, 3)), pads=[1, 1, 1, 1, 1, 1]),
    "conv_7x7": one("Conv", (1, 32, 56, 56), Weight((32, 32, 7, 7)), pads=[3, 3, 3, 3]),
    "depthwise_3x3": one("Conv", (1, 96, 56, 56), Weight((96, 1, 3, 3)), pads=[1, 1, 1, 1], group=96),
    "depthwise_3x3s2": one("Conv", (1, 96, 56, 56), Weight((96, 1, 3, 3)), pads=[1, 1, 1, 1], strides=[2, 2], group=96),
    "depthwise_dilated": one("Conv", (1, 96, 28, 28), Weight((96, 1, 3, 3)), pads=[2, 2, 2, 2], dilations=[2, 2], group=96),
    "depthwise_5x5": one("Conv", (1, 96, 28, 28), Weight((96, 1, 5, 5)), pads=[2, 2, 2, 2], group=96),
    "depthwise_7x7": one("Conv", (1, 96, 56, 56), Weight((96, 1, 7, 7)), pads=[3, 3, 3, 3], group=96),
    "conv_transpose_2x2": one("ConvTranspose", (1, 64, 28, 28), Weight((64, 32, 2, 2)), strides=[2, 2]),
    "conv_transpose_4x4": one("ConvTranspose", (1, 64, 28, 28), Weight((64, 32, 4, 4)), strides=[2, 2],
                              pads=[1, 1, 1, 1]),
    "conv_transpose_3x3": one("ConvTranspose", (1, 32, 28, 28), Weight((32, 16, 3, 3)), strides=[2, 2],
                              pads=[1, 1, 1, 1], output_padding=[1, 1]),
    "conv_transpose_1d": one("ConvTranspose", (1, 32, 200), Weight((32, 16, 4)), strides=[2], pads=[1, 1]),
    # Recurrent layers: [time, batch, inputs], weights [1, gates * hidden, inputs or hidden]
    "lstm": one("LSTM", (32, 1, 64), Weight((1, 512, 64)), Weight((1, 512, 128)), hidden_size=128),
    "lstm_small": one("LSTM", (16, 1, 16), Weight((1, 128, 16)), Weight((1, 128, 32)), hidden_size=32),
    "lstm_both": one("LSTM", (32, 1, 64), Weight((2, 256, 64)), Weight((2, 256, 64)), hidden_size=64,
                     direction="bidirectional"),
    "lstm_batch": one("LSTM", (32, 8, 64), Weight((1, 512, 64)), Weight((1, 512, 128)), hidden_size=128),
    "gru": one("GRU", (32, 1, 64), Weight((1, 384, 64)), Weight((1, 384, 128)), hidden_size=128),
    "gru_small": one("GRU", (16, 1, 16), Weight((1, 96, 16)), Weight((1, 96, 32)), hidden_size=32),
    "gru_after": one("GRU", (32, 1, 64), Weight((1, 384, 64)), Weight((1, 384, 128)), Weight((1, 768)), hidden_size=128,
                     linear_before_reset=1),
    "rnn": one("RNN", (32, 1, 64), Weight((1, 128, 64)), Weight((1, 128, 128)), hidden_size=128),
    "rnn_batch": one("RNN", (32, 8, 64), Weight((1, 128, 64)), Weight((1, 128, 128)), hidden_size=128),
    "gru_batch": one("GRU", (32, 8, 64), Weight((1, 384, 64)), Weight((1, 384, 128)), hidden_size=128),
}  # fmt: skip

# Of these the square roots and logarithms of negative numbers are none.
POSITIVE = ("Sqrt", "Log")


def constant(value, name, random):
    if isinstance(value, Weight):
        value = random.uniform(-0.1, 0.1, value).astype(numpy.float32)
    elif isinstance(value, Values):
        value = numpy.array(value, numpy.float32 if isinstance(value[0], (float, list)) else numpy.int64)
        if value.dtype == numpy.float32 and value.size == 1:
            value = value.reshape(())
    return numpy_helper.from_array(value, name)


def model(chain):
    """Operators one behind the other; the last one's outputs are the network's."""
    random = numpy.random.default_rng(1)
    nodes, parameters, constants = [], [], []

    def operand(value):
        if isinstance(value, str):
            return value
        if isinstance(value, (Weight, Values, numpy.ndarray)):
            constants.append(constant(value, f"w{len(constants)}", random))
            return constants[-1].name
        parameters.append(helper.make_tensor_value_info(f"x{len(parameters)}", TensorProto.FLOAT, value))
        return parameters[-1].name

    for op, inputs, n_outputs, attributes in chain:
        names = [operand(value) for value in inputs]
        if op in POSITIVE:
            nodes.append(helper.make_node("Abs", [names[0]], ["positive"]))
            names[0] = "positive"
        first = op if not any(op in node.output for node in nodes) else f"last_{op}"
        outputs = [first] + [f"{first}_{i}" for i in range(1, n_outputs)]
        nodes.append(helper.make_node(op, names, outputs, **attributes))
    results = [onnx.ValueInfoProto(name=name) for name in nodes[-1].output]
    graph = helper.make_graph(nodes, "operator", parameters, results, constants)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=9)
    inferred = onnx.shape_inference.infer_shapes(made)
    onnx.checker.check_model(inferred, full_check=True)
    return inferred


def bench(name, arguments):
    path = FOLDER / f"{name}.onnx"
    chain = OPERATORS[name]
    chain = chain if isinstance(chain, list) else [chain]
    onnx.save(model(chain), path)
    words = [BUILD / "relayc", "bench", path, "--json", "--vs", "onnxruntime", "--target", arguments.target]
    words += ["--regions", "0", "--seconds", arguments.seconds]
    if arguments.cflags:
        words += ["--cflags", arguments.cflags]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        result = json.loads(done.stdout)
    except json.JSONDecodeError:
        print(f"{name}: {done.stderr or done.stdout}", file=sys.stderr)
        return None
    for diagnostic in result.get("diagnostics", []):
        print(f"{name}: {diagnostic['message']}", file=sys.stderr)
    if done.returncode != 0:
        return None
    (FOLDER / f"{name}.json").write_text(json.dumps(result, indent=1))
    shapes = [value for value in chain[0][1] if type(value) is tuple]
    return (name, " ".join("x".join(map(str, shape)) for shape in shapes), result)


def cells(name, shapes, result):
    peer = result["peer"]
    ratio = peer["ratio"]
    return (
        name,
        shapes,
        f"{1000 * result['warm_ms']['median']:.4g}",
        f"{1000 * peer['warm_ms']['median']:.4g}",
        f"{ratio['median']:.3f}",
        f"{ratio['low']:.3f} .. {ratio['high']:.3f}",
        f"{peer['cold_ratio']['median']:.3f}",
    )


def show(row, markdown):
    if markdown:
        print("| " + " | ".join(row) + " |")
    else:
        print(f"{row[0]:<24} {row[1]:<24}", *(f"{c:>9}" for c in row[2:5]), f"{row[5]:>16} {row[6]:>11}")
    sys.stdout.flush()


def chosen(only):
    return [
        name
        for name in OPERATORS
        if not only or any(name == word or (word[-1:] == "*" and name.startswith(word[:-1])) for word in only)
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", default=[], type=lambda text: text.split(","))
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--seconds", default="0.3")
    parser.add_argument("--cflags")
    parser.add_argument("--target", default="host")
    parser.add_argument("--markdown", action="store_true")
    arguments = parser.parse_args()
    names = chosen(arguments.only)
    if not names:
        parser.error("--only: no such operator (--list has them)")
    if arguments.list:
        print("\n".join(names))
        return
    FOLDER.mkdir(parents=True, exist_ok=True)
    results = [bench(name, arguments) for name in names]
    rows = [row for row in results if row]
    rows.sort(key=lambda row: -row[2]["peer"]["ratio"]["median"])
    show(COLUMNS, arguments.markdown)
    if arguments.markdown:
        show(["---", "---"] + ["---:"] * (len(COLUMNS) - 2), True)
    for row in rows:
        show(cells(*row), arguments.markdown)
    sys.exit(1 if len(rows) < len(results) else 0)


main()
