"""Pieces that compute element by element, reduce, or normalise."""
import numpy as np
from onnx import TensorProto

from moves import as_rank, part, piece, reshape, squeeze, transpose, unsqueeze
from network import Reject

UNARY = ("Relu Relu Sigmoid Sigmoid Tanh Tanh LeakyRelu Elu Selu HardSigmoid Softplus Softsign Abs Neg Exp Sqrt Erf Sin Cos "
         "Celu ThresholdedRelu Shrink Sign Floor Ceil Round Reciprocal Log Atan Asinh Sinh Cosh Tan Asin Acos Acosh Atanh").split()
NEWER = {"HardSwish": 14, "Gelu": 20, "Mish": 18}


def unary(n, x, kind=None):
    kind = kind or n.choice(UNARY + [k for k, first in NEWER.items() if n.opset >= first])
    values = n.values[x]
    if kind in ("Sqrt", "Log", "Acosh", "Reciprocal"):  # of numbers that it is defined for
        x = n.op("Abs", [x])
        x = n.op("Add", [x, n.const(np.float32(1.1 if kind == "Acosh" else 0.4))])
    elif kind in ("Asin", "Acos", "Atanh", "Tan"):
        x = n.op("Mul", [n.op("Tanh", [x]), n.const(np.float32(0.9))])
    elif kind in ("Exp", "Sinh", "Cosh") and np.max(values) > 4:
        raise Reject("too large")
    attributes = {}
    if kind in ("LeakyRelu", "Elu", "Celu", "ThresholdedRelu") and n.chance(0.7):
        attributes["alpha"] = float(n.rng.uniform(0.05, 0.9))
    if kind == "Shrink":
        attributes = {"lambd": 0.3, "bias": 0.1}
    if kind == "Gelu" and n.chance(0.5):
        attributes["approximate"] = "tanh"
    return n.op(kind, [x], **attributes)


@piece(7)
def activation(n):
    unary(n, n.float_value())


@piece(3)
def decomposed_activation(n):
    """As exporters write SiLU, hard swish, GELU, mish and gated units."""
    x = n.float_value()
    one = lambda v: n.const(np.float32(v))
    kind = n.below(6)
    if kind == 0:
        gate = n.op("Sigmoid", [x])
        n.op("Mul", [x, gate] if n.chance(0.5) else [gate, x])
    elif kind == 1:
        y = n.op("Clip", [n.op("Add", [x, one(3)]), one(0), one(6)])
        n.op("Div", [n.op("Mul", [x, y]), one(6)])
    elif kind == 2:
        y = n.op("Add", [n.op("Erf", [n.op("Div", [x, one(1.4142135)])]), one(1)])
        n.op("Mul", [n.op("Mul", [x, y]), one(0.5)])
    elif kind == 3:
        n.op("Mul", [x, n.op("Tanh", [n.op("Softplus", [x])])])
    elif kind == 4:
        axis = n.choice([i for i, d in enumerate(n.shape(x)) if d % 2 == 0])
        half = n.shape(x)[axis] // 2
        a, b = n.op("Split", [x, n.ints([half, half])], outputs=2, axis=axis)
        n.op("Mul", [a, n.op("Sigmoid", [b])])
    else:
        n.op("Clip", [x, one(-0.5)] + ([one(1.2)] if n.chance(0.6) else []))


def broadcastable(n, x):
    """A shape that broadcasts to x's."""
    s = [d if n.chance(0.5) else 1 for d in n.shape(x)]
    return s[n.below(len(s) + 1):] if s and n.chance(0.3) else s


def partner(n, x):
    """Another value that goes with x: as it is, turned, viewed, reduced, cut, or a constant."""
    s = n.shape(x)
    kind = n.choice(["same", "constant", "broadcast", "fewer dims", "turned", "reshaped", "cut", "reduced", "self"],
                    [6, 3, 2, 2, 3, 2, 2, 2, 1])
    floats = [m for m in n.made if n.is_float(m) and m != x]
    if kind == "same":
        return n.choice([m for m in floats if n.shape(m) == s])
    if kind == "broadcast":
        def goes(t):
            return t != s and len(t) <= len(s) and all(a in (1, b) for a, b in zip(t[::-1], s[::-1]))
        return n.choice([m for m in floats if goes(n.shape(m))])
    if kind == "fewer dims":  # without those of 1 in front, which broadcasting adds again
        other = n.choice([m for m in floats + [x] if n.shape(m) == s and len(s) > 1 and s[0] == 1])
        if n.chance(0.6):  # that nobody else reads
            other = n.op(n.choice(["Softmax", "LpNormalization"]), [other], axis=-1, keep=False)
        return squeeze(n, other, list(range(next((i for i, d in enumerate(s) if d > 1), len(s) - 1))))
    if kind == "turned":
        other = n.choice([m for m in floats + [x] if sorted(n.shape(m)) == sorted(s) and len(s) >= 2])
        perms = [p for p in (tuple(int(i) for i in n.rng.permutation(len(s))) for _ in range(30))
                 if tuple(n.shape(other)[i] for i in p) == s]
        return transpose(n, other, list(n.choice(perms)))
    if kind == "reshaped":
        return reshape(n, n.choice([m for m in floats if n.values[m].size == n.values[x].size and len(s)]), s)
    if kind == "cut":
        from moves import resized
        return resized(n, n.choice([m for m in floats if len(n.shape(m)) == len(s)]), s)
    if kind == "reduced":
        axes = [i for i in range(len(s)) if n.chance(0.5)]
        return reduce(n, x, n.choice(["ReduceMean", "ReduceMax"]), axes or [0], 1)
    if kind == "self":
        return x
    return n.const(n.data(broadcastable(n, x)))


@piece(9)
def two_operands(n):
    x = n.float_value()
    y = partner(n, x)
    kind = n.choice(["Add", "Add", "Add", "Mul", "Mul", "Sub", "Max", "Min", "Div", "PRelu", "Pow", "Mod"],
                    [4, 4, 4, 3, 3, 4, 1, 1, 1, 1, 0.5, 0.5])
    if kind == "Div":
        y = n.op("Add", [n.op("Abs", [y]), n.const(np.float32(0.5))])
    elif kind == "Pow":
        x = n.op("Abs", [x])
        y = n.const(np.float32(n.choice([0.5, 2, 3, 1.5])))
    elif kind == "PRelu":
        y = n.const(np.abs(n.data(broadcastable(n, x))) * np.float32(0.3))
    operands = [x, y]
    if kind not in ("Div", "Pow", "PRelu", "Mod") and n.chance(0.5):
        operands.reverse()
    n.op(kind, operands, **({"fmod": 1} if kind == "Mod" else {}))


@piece(2)
def many_operands(n):
    x = n.float_value()
    operands = [x] + [partner(n, x) for _ in range(n.choice([1, 2, 3]))]
    n.op(n.choice(["Sum", "Sum", "Mean", "Max", "Min"]), [operands[int(i)] for i in n.rng.permutation(len(operands))])


@piece(3)
def chain(n):
    """Element-wise operators in a row, with operands that broadcast on either side."""
    x = n.float_value()
    for _ in range(n.between(2, 4)):
        if n.chance(0.5):
            x = unary(n, x, n.choice(["Relu", "Sigmoid", "Tanh", "Abs", "Neg", "Sin", "Softsign", "LeakyRelu"]))
        else:
            y = partner(n, x)
            x = n.op(n.choice(["Add", "Mul", "Sub", "Max"]), [x, y] if n.chance(0.5) else [y, x])


def whole(n, x):
    """x as small whole numbers."""
    y = n.op("Floor", [n.op("Mul", [x, n.const(np.float32(3 / max(n.mean_size(x), 0.1)))], keep=False)], keep=False)
    return n.op("Cast", [y], to=TensorProto.INT32, keep=False)


def compared(n, x):
    """x with another; where numbers may be equal, those of which noise leaves them so: zeros, and whole ones."""
    kind = n.choice(["Greater", "Less"] + (["GreaterOrEqual", "LessOrEqual"] if n.opset >= 16 else []))
    operands = n.choice(["any", "zeros", "whole"])
    if operands == "zeros":
        pair = [n.op("Relu", [x]), n.const(np.float32(0))]
    elif operands == "whole":
        pair = [whole(n, x), whole(n, partner(n, x)) if n.chance(0.6) else n.const(np.int32(n.between(-2, 2)))]
    else:
        pair = [x, partner(n, x)]
    return n.op(kind, pair if n.chance(0.6) else pair[::-1])


@piece(4)
def masked(n):
    x = n.float_value()
    mask = compared(n, x)
    if n.chance(0.3):
        other = n.op("Less", [x, n.const(np.float32(n.rng.uniform(0, 1)))])
        mask = n.op(n.choice(["And", "Or", "Xor"]), [mask, other])
    if n.chance(0.3):
        mask = n.op("Not", [mask])
    branches = [x, n.const(n.data(broadcastable(n, x))) if n.chance(0.4) else partner(n, x)]
    if n.chance(0.5):
        branches.reverse()
    n.op("Where", [mask] + branches)


@piece(2)
def casts(n):
    x = n.float_value()
    way = n.choice([[TensorProto.FLOAT16], [TensorProto.DOUBLE], [TensorProto.INT32], [TensorProto.INT8],
                    [TensorProto.BOOL], [TensorProto.INT64, TensorProto.INT32]])
    if way[0] in (TensorProto.INT32, TensorProto.INT8, TensorProto.INT64):
        # ONNX does not say what a number beyond the type becomes.
        most = 30 / max(float(np.max(np.abs(n.values[x]), initial=0)), 0.1) if way[0] == TensorProto.INT8 else 7.3
        x = n.op("Mul", [x, n.const(np.float32(min(7.3, most)))])
    for to in way:
        x = n.op("Cast", [x], to=to)
    if way[0] == TensorProto.INT32 and n.chance(0.6):
        x = n.op(n.choice(["Add", "Mul", "Sub", "Max"]), [x, n.const(np.int32(n.between(1, 9)))])
        if n.chance(0.5):
            x = n.op("Mod", [x, n.const(np.int32(n.between(2, 7)))])
    if n.chance(0.8):
        n.op("Cast", [x], to=TensorProto.FLOAT)


@piece(1)
def booleans(n):
    x = n.float_value()
    y = n.op("Equal", [n.op("Round", [x]), n.const(np.float32(n.between(-1, 1)))])
    y = n.op("Or", [y, n.op("IsNaN", [x])])
    n.op("Cast", [y], to=TensorProto.FLOAT)


# --- reductions ---------------------------------------------------------------------------------------
def reduce(n, x, kind, axes, keep):
    if kind == "ReduceSum" or n.opset >= 18:
        return n.op(kind, [x, n.ints(axes)], keepdims=keep)
    return n.op(kind, [x], axes=axes, keepdims=keep)


@piece(4)
def reduced(n):
    x = n.float_value(1, 2, 3, 4, 5)
    rank = n.values[x].ndim
    kind = n.choice("ReduceMean ReduceMean ReduceSum ReduceMax ReduceMin ReduceL1 ReduceL2 ReduceLogSumExp "
                    "ReduceSumSquare ReduceProd".split())
    axes = n.choice([[rank - 1], [n.below(rank)], list(range(rank // 2, rank)),
                     [i for i in range(rank) if n.chance(0.5)] or [0]])
    y = reduce(n, x, kind, axes if n.chance(0.7) else [a - rank for a in axes], n.below(2))
    if n.chance(0.3) and n.values[y].ndim == rank:
        n.op(n.choice(["Sub", "Add"]), [x, y])


@piece(1)
def arguments(n):
    x = n.float_value(1, 2, 3, 4)
    y = n.op(n.choice(["ArgMax", "ArgMin"]), [x], axis=n.below(n.values[x].ndim), keepdims=n.below(2))
    if n.chance(0.5):
        n.op("Cast", [y], to=TensorProto.FLOAT)


@piece(3)
def softmax(n):
    x = n.float_value(1, 2, 3, 4)
    rank = n.values[x].ndim
    n.op(n.choice(["Softmax", "Softmax", "Softmax", "LogSoftmax", "Hardmax"]), [x], axis=n.choice([-1, n.below(rank), rank - 1]))


@piece(1)
def running_sum(n):
    x = n.float_value(1, 2, 3, 4)
    n.op("CumSum", [x, n.const(np.int64(n.below(n.values[x].ndim)))], exclusive=n.below(2), reverse=n.below(2))


# --- norms --------------------------------------------------------------------------------------------
@piece(3)
def layer_norm(n):
    x = n.float_value(2, 3, 4)
    rank = n.values[x].ndim
    axis = n.choice([rank - 1, rank - 1, n.between(1, rank - 1)])
    shape = n.shape(x)[axis:]
    if int(np.prod(shape)) < 2:
        raise Reject("one number has no spread")
    scale, bias = n.weights(shape, spread=0.3, around=1), n.weights(shape, spread=0.3)
    if n.opset >= 17 and n.chance(0.6):
        n.op("LayerNormalization", [x, scale, bias], axis=axis if n.chance(0.5) else axis - rank)
        return
    axes = list(range(axis, rank))
    centred = n.op("Sub", [x, reduce(n, x, "ReduceMean", axes, 1)])
    square = n.op("Pow", [centred, n.const(np.float32(2))]) if n.chance(0.7) else n.op("Mul", [centred, centred])
    spread = n.op("Sqrt", [n.op("Add", [reduce(n, square, "ReduceMean", axes, 1), n.const(np.float32(1e-5))])])
    n.op("Add", [n.op("Mul", [n.op("Div", [centred, spread]), scale]), bias])


@piece(2)
def other_norm(n):
    x = n.float_value(2, 3, 4)
    s, rank = n.shape(x), n.values[x].ndim
    kind = n.below(4)
    if kind == 0:
        n.op("LpNormalization", [x], axis=n.choice([-1, n.below(rank)]), p=n.between(1, 2))
    elif kind == 1:
        if n.values[x].size // s[1] < 2:
            raise Reject("one number has no spread")
        n.op("MeanVarianceNormalization", [x], axes=[0] + list(range(2, rank)))
    elif kind == 2:
        square = reduce(n, n.op("Mul", [x, x]), "ReduceMean", [rank - 1], 1)
        y = n.op("Div", [x, n.op("Sqrt", [n.op("Add", [square, n.const(np.float32(1e-5))])])])
        n.op("Mul", [y, n.weights([s[-1]], spread=0.3, around=1)])
    else:
        length = reduce(n, x, "ReduceL2", [n.below(rank)], 1)
        n.op("Div", [x, n.op("Clip", [length, n.const(np.float32(1e-3))])])


@piece(2)
def squeeze_and_excite(n):
    """A gate per channel, by dense layers or convolutions of one place."""
    x = n.float_value(4)
    c = n.shape(x)[1]
    less = n.choice([1, 2, 8])
    mean = n.op("GlobalAveragePool", [x]) if n.chance(0.5) else reduce(n, x, "ReduceMean", [2, 3], 1)
    if n.chance(0.6):
        y = n.op("Conv", [mean, n.weights([less, c, 1, 1], c, mean), n.weights([less])])
        y = n.op("Conv", [n.op("Relu", [y]), n.weights([c, less, 1, 1], less, y)])
    else:
        y = n.op("Flatten", [mean], axis=1)
        y = n.op("Gemm", [y, n.weights([less, c], c, y), n.weights([less])], transB=1)
        y = n.op("MatMul", [n.op("Relu", [y]), n.weights([less, c], less, y)])
        y = unsqueeze(n, y, [2, 3])
    gate = n.op(n.choice(["Sigmoid", "HardSigmoid"]), [y])
    n.op("Mul", [x, gate] if n.chance(0.5) else [gate, x])


@piece(1)
def spatial_gate(n):
    """CBAM's: a map of the mean and the greatest of the channels."""
    x = n.float_value(4)
    both = n.op("Concat", [reduce(n, x, "ReduceMean", [1], 1), reduce(n, x, "ReduceMax", [1], 1)], axis=1)
    y = n.op("Conv", [both, n.weights([1, 2, 3, 3], 18, both)], pads=[1, 1, 1, 1])
    n.op("Mul", [x, n.op("Sigmoid", [y])])


__all__ = ["as_rank", "part", "partner", "reduce", "unary"]
