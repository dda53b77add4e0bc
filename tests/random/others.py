"""Pieces of the operators that are left: integers, signals, scans, quantised operators, those of ONNX Runtime."""
import numpy as np
import onnx
from onnx import TensorProto, helper

from elementwise import partner, reduce
from moves import as_rank, piece
from network import Reject
from products import linear, sequence, width

FLOAT = TensorProto.FLOAT


def number(n, v, kind=np.float32):
    return n.const(kind(v))


def integers(n, x, kind=TensorProto.INT32, size=5.0):
    """x as whole numbers."""
    y = n.op("Mul", [x, number(n, size / max(n.mean_size(x), 0.1))])
    if kind in (TensorProto.UINT8, TensorProto.UINT32):
        y = n.op("Abs", [y])
    return n.op("Cast", [n.op("Floor", [y])], to=kind)


def as_float(n, x):
    return n.op("Cast", [x], to=FLOAT)


@piece(2)
def whole_numbers(n):
    x = n.float_value()
    kind = n.below(6)
    if kind == 0 and n.opset >= 18:
        a, b = integers(n, x), n.const(n.rng.integers(0, 63, n.shape(x)[-1:] or [1]).astype(np.int32))
        y = n.op(n.choice(["BitwiseAnd", "BitwiseOr", "BitwiseXor"]), [a, b] if n.chance(0.5) else [b, a])
        if n.chance(0.4):
            y = n.op("BitwiseNot", [y])
    elif kind == 1:
        y = n.op("BitShift", [integers(n, x, TensorProto.UINT32), number(n, n.between(1, 3), np.uint32)],
                 direction=n.choice(["LEFT", "RIGHT"]))
    elif kind == 2:
        depth = n.choice([3, 8])
        y = n.op("OneHot", [n.op("Mod", [integers(n, x, TensorProto.INT64), number(n, depth, np.int64)]), n.ints([depth]),
                            n.const(np.array([-0.5, 1.5], np.float32))], axis=n.choice([-1, 0, n.values[x].ndim]))
        return
    elif kind == 3:
        y = n.op(n.choice(["ReduceSum", "ReduceMax"]) if n.opset >= 18 else "ReduceSum", [integers(n, x), n.ints([0])], keepdims=1)
    elif kind == 4:
        y = n.op("Where", [n.op("Equal", [integers(n, x), number(n, 1, np.int32)]), number(n, 5, np.int32), integers(n, x)])
    else:
        y = n.op(n.choice(["Div", "Mod", "Min", "Sub"]), [integers(n, x), number(n, n.between(2, 5), np.int32)])
    as_float(n, y)


@piece(1)
def signals(n):
    x = n.float_value(2, 3, 4)
    s = n.shape(x)
    kind = n.below(5)
    if kind == 0 and n.opset >= 17:
        axis = n.between(1, len(s) - 1)
        wide = n.op("Unsqueeze", [x, n.ints([len(s)])])
        if n.opset >= 20:
            n.op("DFT", [wide, "", number(n, axis, np.int64)], onesided=n.below(2))
        else:
            n.op("DFT", [wide], axis=axis, onesided=n.below(2))
    elif kind == 1 and n.opset >= 17:
        if len(s) != 2 or s[1] < 8:
            raise Reject("no signal")
        kind = n.choice(["HannWindow", "HammingWindow", "BlackmanWindow"])
        window = n.op(kind, [number(n, 4, np.int64)], periodic=n.below(2), keep=False)
        n.op("STFT", [x, number(n, 2, np.int64), window, number(n, 4, np.int64)], onesided=1)
    elif kind == 2 and n.opset >= 18 and len(s) >= 2:
        y = as_rank(n, x, 3)
        b, c, length = n.shape(y)
        if c % 4 or length != 4:
            y = n.op("Tile", [n.op("Slice", [y, n.ints([0]), n.ints([1]), n.ints([2])]), n.ints([1, 4, 4])])
            b, c, length = n.shape(y)
        n.op("Col2Im", [y, n.ints([3, 3]), n.ints([2, 2])])
    elif kind == 3:
        length = s[-1]
        ramp = n.op("Range", [number(n, 0), number(n, length), number(n, 1)], keep=False)
        n.op("Add", [x, n.op("Mul", [ramp, number(n, 0.1)], keep=False)])
    else:
        unit = n.op("EyeLike", [n.const(np.zeros([s[-1], s[-1]], np.float32))], keep=False)
        n.op("MatMul", [x, unit])


@piece(1)
def unpooled(n):
    x = n.float_value(4)
    y, places = n.op("MaxPool", [x], outputs=2, kernel_shape=[2, 2], strides=[2, 2], keep=False)
    y = n.op("Relu", [y])
    n.op("MaxUnpool", [y, places], kernel_shape=[2, 2], strides=[2, 2])


@piece(1)
def odd_ones(n):
    x = n.float_value(2, 3, 4)
    rank, kind = n.values[x].ndim, n.below(5)
    if kind == 0:
        n.op("GlobalLpPool", [as_rank(n, x, 4)], p=n.between(1, 2))
    elif kind == 1:
        reduce(n, n.op("Add", [n.op("Abs", [x]), number(n, 0.5)]), "ReduceLogSum", [n.below(rank)], n.below(2))
    elif kind == 2:
        y = n.op("IsInf", [x])
        n.op("Where", [y, number(n, 0), x])
    elif kind == 3 and n.opset >= 15:
        n.op("CastLike", [n.op("Greater", [x, partner(n, x)]), x])
    else:
        shape = n.op("Shape", [x], keep=False)
        filled = n.op("ConstantOfShape", [shape], value=helper.make_tensor("v", FLOAT, [1], [0.7]), keep=False)
        n.op("Sub", [x, filled])


@piece(1)
def losses(n):
    """What training graphs keep, of labels that are known."""
    x = n.float_value(2, 3, 4)
    s = n.shape(x)
    labels = n.const(n.rng.integers(0, s[1], s[:1] + s[2:]).astype(np.int64))
    weights = [n.const(n.rng.uniform(0.5, 1.5, [s[1]]).astype(np.float32))] if n.chance(0.5) else []
    reduction = n.choice(["none", "mean", "sum"])
    if n.chance(0.5):
        n.op("SoftmaxCrossEntropyLoss", [x, labels] + weights, reduction=reduction)
    else:
        n.op("NegativeLogLikelihoodLoss", [n.op("LogSoftmax", [x], axis=1), labels] + weights, reduction=reduction)


@piece(1)
def chosen(n):
    """Elements that a constant chooses."""
    x = n.float_value(2, 3, 4)
    rank = n.values[x].ndim
    axis = n.below(rank)
    mask = n.rng.random(n.shape(x)[axis]) < 0.7
    if n.chance(0.5):
        n.op("Compress", [x, n.const(mask)], axis=axis)
    else:
        places = n.op("NonZero", [n.const(mask.astype(np.float32))], keep=False)
        places = n.op("Squeeze", [places, n.ints([0])], keep=False)
        n.op("Gather", [x, places], axis=axis)


@piece(1)
def determinants(n):
    x = n.float_value(2, 3, 4)
    s, side = n.shape(x), n.between(1, 4)
    if s[-1] < side or s[-2] < side:
        raise Reject("too small")
    n.op("Det", [n.op("Slice", [x, n.ints([0, 0]), n.ints([side, side]), n.ints([-2, -1])])])


@piece(1)
def looped(n):
    """A scan over the first dim: a running value, and what it was at each step."""
    x = n.float_value(2, 3)
    s = n.shape(x)
    if s[0] > 8:
        raise Reject("too long")
    info = helper.make_tensor_value_info
    row = list(s[1:])
    body = helper.make_graph(
        [helper.make_node("Mul", ["state", "half"], ["less"]), helper.make_node("Add", ["less", "row"], ["sum"]),
         helper.make_node("Tanh", ["sum"], ["next"]), helper.make_node("Identity", ["next"], ["seen"])], "body",
        [info("state", FLOAT, row), info("row", FLOAT, row)], [info("next", FLOAT, row), info("seen", FLOAT, row)],
        [onnx.numpy_helper.from_array(np.float32(0.5), "half")])
    n.op("Scan", [n.const(n.data(row)), x], outputs=2, body=body, num_scan_inputs=1)


@piece(2)
def newest(n):
    """Operators of set 23."""
    if n.opset < 23:
        raise Reject("operator set")
    kind = n.below(3)
    if kind == 0:
        x = n.float_value(2, 3, 4)
        n.op("RMSNormalization", [x, n.weights(n.shape(x)[-1:], spread=0.3, around=1)], axis=-1)
    elif kind == 1:
        x = sequence(n)
        b, length, e = n.shape(x)
        heads = n.choice([h for h in (1, 2, 4) if e % h == 0])
        def split(y):
            return n.op("Transpose", [n.op("Reshape", [y, n.ints([b, length, heads, e // heads])])], perm=[0, 2, 1, 3])
        q, k, v = (split(linear(n, x, e)) for _ in range(3))
        n.op("Attention", [q, k, v], is_causal=n.below(2))
    else:
        x = as_rank(n, n.float_value(), 4)
        b, h, length, d = n.shape(x)
        if d % 2:
            raise Reject("odd")
        angle = n.rng.uniform(-3, 3, [b, length, d // 2])
        n.op("RotaryEmbedding", [x, n.const(np.cos(angle).astype(np.float32)), n.const(np.sin(angle).astype(np.float32))],
             interleaved=n.below(2))


@piece(2)
def of_onnx_runtime(n):
    x = n.float_value(2, 3)
    d = n.shape(x)[-1]
    kind = n.below(5)
    if kind == 0:
        n.op("BiasGelu", [x, n.weights([d], spread=0.3)], domain="com.microsoft")
    elif kind == 1:
        n.op("FastGelu", [x] + ([n.weights([d], spread=0.3)] if n.chance(0.5) else []), domain="com.microsoft")
    elif kind == 2:
        n.op("QuickGelu", [x], domain="com.microsoft", alpha=1.702)
    elif kind == 3:
        n.op("Gelu", [x], domain="com.microsoft")
    else:
        x = sequence(n)
        d = n.shape(x)[-1]
        if d < 2:
            raise Reject("one number has no spread")
        n.op("SkipLayerNormalization", [x, linear(n, x, d), n.weights([d], spread=0.2, around=1), n.weights([d], spread=0.3)],
             domain="com.microsoft", epsilon=1e-5)


# --- operators on quantised tensors -------------------------------------------------------------------
def scale_of(n, array, kind):
    low, high = float(min(array.min(), 0)), float(max(array.max(), 0))
    if kind == np.int8:
        return np.float32(max(-low, high, 1e-3) / 127), np.int8(0)
    scale = max(high - low, 1e-3) / 255
    return np.float32(scale), np.uint8(np.clip(round(-low / scale), 0, 255))


@piece(2)
def quantised_operators(n):
    x = n.float_value(2, 4)
    s, kind = n.shape(x), n.choice([np.uint8, np.int8])
    a = scale_of(n, n.values[x], kind)
    a_names = [n.const(a[0]), n.const(a[1])]
    codes = n.op("QuantizeLinear", [x] + a_names)
    if len(s) == 4:
        k, out = n.choice([1, 3]), n.choice([1, 3, 8, 16])
        groups = s[1] if n.chance(0.2) else 1
        out = s[1] if groups > 1 else out
        shape = [out, s[1] // groups, k, k]
    else:
        out, groups = width(n), 1
        shape = [s[1], out]
    w = n.rng.integers(-127, 128, shape).astype(np.int8)
    w_scale = np.float32(0.01 / max(n.mean_size(x), 0.05))
    size = float(n.mean_size(x)) * 73 * float(w_scale) * np.sqrt(np.prod(shape[1:]) if len(s) == 4 else s[1])
    y = [n.const(np.float32(3 * size / 127)), n.const(kind(0 if kind == np.int8 else 128))]
    w_names = [n.const(w), n.const(w_scale), n.const(np.int8(0))]
    if len(s) == 4:
        result = n.op("QLinearConv", [codes] + a_names + w_names + y, pads=[k // 2] * 4, group=groups)
    else:
        result = n.op("QLinearMatMul", [codes] + a_names + w_names + y)
    if n.chance(0.3):
        again = n.op("QuantizeLinear", [n.op("DequantizeLinear", [result] + y)] + y)
        result = n.op(n.choice(["QLinearAdd", "QLinearMul"]), [result] + y + [again] + y + y, domain="com.microsoft")
    n.op("DequantizeLinear", [result] + y)


@piece(2)
def quantised_functions(n):
    """What ONNX Runtime's quantiser writes of pools, concatenations and functions."""
    x, kind = n.float_value(2, 4), n.choice([np.uint8, np.int8])
    rank = n.values[x].ndim
    what = n.choice(["LeakyRelu", "Sigmoid", "Softmax", "Concat"] + (["AveragePool", "GlobalAveragePool"] if rank == 4 else []))
    own = [n.const(number) for number in scale_of(n, n.values[x], kind)]
    given = [n.op("QuantizeLinear", [x] + own)] + own
    if what in ("Sigmoid", "Softmax"):
        # ONNX Runtime computes with 1 / scale, cut off
        y = [n.const(np.float32(1 / 256)), n.const(kind(0 if kind == np.uint8 else -128))]
    elif what == "Concat":
        other = partner(n, x)
        if n.values[other].ndim != rank:
            raise Reject("rank")
        apart = [n.const(number) for number in scale_of(n, n.values[other], kind)]
        y = [n.const(number) for number in scale_of(n, n.values[x] * np.float32(1.3), kind)]
        given = y + given + [n.op("QuantizeLinear", [other] + apart)] + apart
    else:
        y = own if n.chance(0.5) else [n.const(number) for number in scale_of(n, n.values[x] * np.float32(0.9), kind)]
    attributes = {"Softmax": {"axis": n.choice([-1, rank - 1]), "opset": n.opset}, "Concat": {"axis": n.below(rank)},
                  "LeakyRelu": {"alpha": 0.2},
                  "AveragePool": {"kernel_shape": [2, 3], "strides": [n.between(1, 2)] * 2, "pads": [0, 1, 1, 1],
                                  "count_include_pad": n.below(2)}}.get(what, {})
    result = n.op("QLinear" + what, given if what == "Concat" else given + y, domain="com.microsoft", **attributes)
    n.op("DequantizeLinear", [result] + y)
