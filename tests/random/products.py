"""Pieces that multiply matrices, recurrent ones, attention, and quantised ones."""
import numpy as np
from onnx import TensorProto

from elementwise import partner
from moves import as_rank, piece, reshape, split, squeeze, transpose, unsqueeze
from network import Reject
from spatial import any_conv


def linear(n, x, out, bias=True):
    """x times a matrix along its last dim, as torch's exporter writes it."""
    k = n.shape(x)[-1]
    y = n.op("MatMul", [x, n.weights([k, out], k, x)])
    return n.op("Add", [y, n.weights([out], spread=0.3)] if n.chance(0.5) else [n.weights([out], spread=0.3), y]) if bias else y


def width(n):
    return n.choice([1, 2, 3, 8, 8, 16, 17, 24, n.choice([5, 40, 65, 100])])


@piece(5)
def matrix_product(n):
    x = n.float_value(1, 2, 3, 4)
    s = n.shape(x)
    kind = n.below(5)
    if kind <= 1:
        linear(n, x, width(n), n.chance(0.6))
    elif kind == 2 and len(s) >= 2:
        rows = width(n)
        lead = list(s[:-2]) if n.chance(0.3) else []
        n.op("MatMul", [n.weights(lead + [rows, s[-2]], s[-2], x), x])
    elif kind == 3 and len(s) >= 2:
        perm = list(range(len(s) - 2)) + [len(s) - 1, len(s) - 2]
        y = transpose(n, x, perm)
        a, b = (x, y) if n.chance(0.5) else (y, x)
        n.op("MatMul", [n.op("Mul", [a, n.const(np.float32(1 / n.shape(a)[-1] ** 0.5 / max(n.mean_size(b), 0.1)))]), b])
    elif len(s) >= 2:
        others = [m for m in n.made if n.is_float(m) and n.values[m].ndim >= 2 and n.shape(m)[-2] == s[-1]]
        y = n.choice(others)
        scaled = n.op("Mul", [x, n.const(np.float32(1 / s[-1] ** 0.5 / max(n.mean_size(y), 0.1)))])
        n.op("MatMul", [scaled, y])
    else:
        raise Reject("rank")


@piece(3)
def gemm(n):
    x = n.float_value()
    if n.values[x].ndim != 2:
        x = as_rank(n, x, 2) if n.chance(0.6) else n.op("Flatten", [x], axis=n.choice([0, 1, n.values[x].ndim]))
    trans_a, trans_b, out = n.choice([0, 0, 1]), n.below(2), width(n)
    rows, k = n.shape(x)[::-1] if trans_a else n.shape(x)
    inputs = [x, n.weights([out, k] if trans_b else [k, out], k, x)]
    if n.chance(0.7):
        inputs.append(n.weights(n.choice([[out], [1, out], [rows, out], [rows, 1], [1], []])))
    attributes = {"alpha": 0.7, "beta": 1.3} if n.chance(0.2) else {}
    n.op("Gemm", inputs, transA=trans_a, transB=trans_b, **attributes)


def flattened(n, x):
    """One row for each image, as exporters write it."""
    rows, rest = n.shape(x)[0], int(np.prod(n.shape(x)[1:]))
    if n.chance(0.5):
        return n.op("Flatten", [x], axis=1, keep=False)
    return n.op("Reshape", [x, n.ints(n.choice([[rows, -1], [0, -1], [rows, rest], [-1, rest]]))], keep=False)


@piece(3)
def classifier(n):
    """A feature map, flattened, and one dense layer or two that read it."""
    maps = [m for m in n.made if n.is_float(m) and n.values[m].ndim in (3, 4, 5) and 1 < n.values[m].size <= 1500]
    x = n.choice(maps[-4:] if n.chance(0.7) else maps)
    if n.chance(0.5):
        x = any_conv(n, x, keep=n.chance(0.3))
    y = flattened(n, x)
    if n.chance(0.4):
        y = n.op(n.choice(["Relu", "Sigmoid", "Clip"]), [y], keep=False)
    k = n.shape(y)[1]
    for _ in range(n.choice([1, 1, 2])):
        out = n.choice([1, 3, 8, 10, 17])
        if n.chance(0.5):
            trans = n.below(2)
            bias = [n.weights([out], spread=0.3)] if n.chance(0.7) else []
            n.op("Gemm", [y, n.weights([out, k] if trans else [k, out], k, y)] + bias, transB=trans)
        else:
            linear(n, y, out, n.chance(0.6))


@piece(2)
def rows_of_a_map(n):
    """A value as so many rows of so many numbers for each image, times a matrix."""
    x = n.pick(lambda a: a.dtype == np.float32 and a.ndim >= 2 and a[0].size > 1)
    rows, rest = n.shape(x)[0], int(np.prod(n.shape(x)[1:]))
    k = n.choice([d for d in range(1, rest + 1) if rest % d == 0 and d <= 400])
    y = n.op("Reshape", [x, n.ints(n.choice([[rows, rest // k, k], [rows, -1, k], [0, -1, k]]))], keep=n.chance(0.3))
    y = linear(n, y, width(n), n.chance(0.6))
    if n.chance(0.3):
        flattened(n, y)


@piece(2)
def einsum(n):
    x = n.float_value(2, 3, 4)
    s = n.shape(x)
    out = width(n)
    if len(s) == 2:
        a, w, want = "ab", "bc", n.choice(["ac", "ca"])
        shape = [s[1], out]
    elif len(s) == 3:
        a, w, want = n.choice([("abc", "cd", "abd"), ("abc", "cd", "dab"), ("abc", "bd", "acd"), ("abc", "abd", "acd")])
    else:
        a, w, want = n.choice([("abcd", "de", "abce"), ("abcd", "be", "aecd"), ("abcd", "abed", "abce")])
    sizes = dict(zip(a, s))
    shape = [sizes.get(letter, out) for letter in w]
    n.op("Einsum", [x, n.weights(shape, 4, x)], equation=f"{a},{w}->{want}")


def sequence(n):
    """A value of three dims, of which the last are features."""
    names = [m for m in n.made if n.is_float(m) and n.values[m].ndim == 3]
    x = n.choice(names[-3:]) if names and n.chance(0.6) else as_rank(n, n.float_value(), 3)
    if n.shape(x)[2] == 1 and n.chance(0.7):
        x = linear(n, x, n.choice([8, 16]))
    return x


@piece(3)
def attention(n):
    """Heads by reshapes and transposes; one product for queries, keys and values, or three."""
    x = sequence(n)
    batch, length, e = n.shape(x)
    heads = n.choice([h for h in (1, 2, 4, 8) if e % h == 0])
    d = e // heads
    if n.chance(0.5):
        three = linear(n, x, 3 * e)
        y = n.op("Reshape", [three, n.ints([batch, length, 3, heads, d])])
        y = n.op("Transpose", [y], perm=[2, 0, 3, 1, 4])
        if n.chance(0.5):
            q, k, v = (n.op("Gather", [y, n.const(np.int64(i))], axis=0) for i in range(3))
        else:
            q, k, v = (squeeze(n, part, [0]) for part in split(n, y, 0, [1, 1, 1]))
        k = n.op("Transpose", [k], perm=[0, 1, 3, 2])
    else:
        def head(perm):
            y = n.op("Reshape", [linear(n, x, e), n.ints([batch, -1, heads, d])])
            return n.op("Transpose", [y], perm=perm)
        q, k, v = head([0, 2, 1, 3]), head([0, 2, 3, 1]), head([0, 2, 1, 3])
    scores = n.op("MatMul", [q, k])
    scores = n.op("Div", [scores, n.const(np.float32(d ** 0.5))]) if n.chance(0.5) else \
        n.op("Mul", [scores, n.const(np.float32(d ** -0.5))])
    if n.chance(0.3):
        mask = np.where(np.tril(np.ones((length, length))) > 0, 0, -1e4).astype(np.float32)
        scores = n.op("Add", [scores, n.const(mask)])
    y = n.op("MatMul", [n.op("Softmax", [scores], axis=-1), v])
    y = n.op("Reshape", [n.op("Transpose", [y], perm=[0, 2, 1, 3]), n.ints([batch, length, e])])
    y = linear(n, y, e)
    n.op("Add", [x, y] if n.chance(0.5) else [y, x])


@piece(2)
def attention_over_places(n):
    """A feature map as a sequence of its places, and back."""
    x = n.float_value(4)
    b, c, h, w = n.shape(x)
    y = n.op("Transpose", [n.op("Reshape", [x, n.ints([b, c, h * w])])], perm=[0, 2, 1])
    scores = n.op("MatMul", [n.op("Mul", [y, n.const(np.float32(c ** -0.5))]), n.op("Transpose", [y], perm=[0, 2, 1])])
    y = n.op("MatMul", [n.op("Softmax", [scores], axis=-1), linear(n, y, c)])
    y = n.op("Reshape", [n.op("Transpose", [y], perm=[0, 2, 1]), n.ints([b, c, h, w])])
    if n.chance(0.6):
        n.op("Add", [y, x])


@piece(3)
def recurrent(n):
    x = sequence(n)
    time, batch, features = n.shape(x)
    if time > 17:
        raise Reject("too long")
    kind = n.choice(["LSTM", "GRU", "RNN"])
    gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[kind]
    direction = n.choice(["forward", "forward", "reverse", "bidirectional"])
    d, hidden = 2 if direction == "bidirectional" else 1, n.choice([1, 2, 3, 8, 16])
    w = n.weights([d, gates * hidden, features], features, x)
    r = n.weights([d, gates * hidden, hidden], hidden)
    inputs = [x, w, r, n.weights([d, 2 * gates * hidden], spread=0.3) if n.chance(0.7) else ""]
    if n.chance(0.25):
        inputs.append(n.const(n.rng.integers(1, time + 1, batch).astype(np.int32)))
    if n.chance(0.3):
        inputs += [""] * (5 - len(inputs)) + [n.weights([d, batch, hidden])]
    attributes = {"hidden_size": hidden, "direction": direction}
    if kind == "GRU":
        attributes["linear_before_reset"] = n.below(2)
    used = n.choice([1, 2, 3 if kind == "LSTM" else 2])
    results = n.op(kind, inputs, outputs=used, **attributes)
    y = results if used == 1 else results[0]
    if n.chance(0.7):  # as torch's exporter goes on
        if d == 1:
            squeeze(n, y, [1])
        else:
            reshape(n, transpose(n, y, [0, 2, 1, 3]), [time, batch, 2 * hidden])


# --- quantised ----------------------------------------------------------------------------------------
def quantised(n, x, kind=None):
    """x through QuantizeLinear and DequantizeLinear."""
    kind = kind or n.choice([np.int8, np.uint8])
    low, high = float(min(n.values[x].min(), 0)), float(max(n.values[x].max(), 0))
    info = np.iinfo(kind)
    if kind == np.int8:
        scale, zero = max(-low, high) / 127, 0
    else:
        scale = (high - low) / 255
        zero = round(-low / scale) if scale else 0
    names = [n.const(np.float32(scale or 0.1)), n.const(kind(np.clip(zero, info.min, info.max)))]
    return n.op("DequantizeLinear", [n.op("QuantizeLinear", [x] + names)] + names)


def quantised_weights(n, shape, fan_in, of, axis=0):
    """A constant in int8 behind a DequantizeLinear, per channel or tensor."""
    w = n.rng.standard_normal(shape) / np.sqrt(fan_in) / max(n.mean_size(of), 0.05)
    if n.chance(0.6):
        axes = tuple(i for i in range(len(shape)) if i != axis)
        scale = np.maximum(np.abs(w).max(axis=axes), 1e-4) / 127
        wide = scale.reshape([-1 if i == axis else 1 for i in range(len(shape))])
        codes = np.round(w / wide).astype(np.int8)
        return n.op("DequantizeLinear", [n.const(codes), n.const(scale.astype(np.float32)),
                                         n.const(np.zeros(shape[axis], np.int8))], axis=axis, keep=False)
    scale = np.float32(np.abs(w).max() / 127)
    return n.op("DequantizeLinear", [n.const(np.round(w / scale).astype(np.int8)), n.const(scale),
                                     n.const(np.int8(0))], keep=False)


@piece(2)
def fake_quantised_product(n):
    x = n.float_value(2, 4)
    s = n.shape(x)
    x = quantised(n, x)
    if len(s) == 2:
        out = width(n)
        y = n.op("MatMul", [x, quantised_weights(n, [s[1], out], s[1], x, 1)])
    else:
        out, k = n.choice([1, 3, 8, 16]), n.choice([1, 3])
        y = n.op("Conv", [x, quantised_weights(n, [out, s[1], k, k], s[1] * k * k, x)], pads=[k // 2] * 4)
    if n.chance(0.5):
        y = n.op("Relu", [y])
    quantised(n, y)


@piece(2)
def fake_quantised(n):
    x = n.float_value()
    y = quantised(n, x)
    if n.chance(0.5):
        z = quantised(n, partner(n, x))
        quantised(n, n.op(n.choice(["Add", "Mul"]), [y, z]))


@piece(2)
def integer_product(n):
    """As dynamic quantisation writes a product or a convolution: codes, whole sums, their scale."""
    x = n.float_value(2, 3, 4)
    codes, scale, zero = n.op("DynamicQuantizeLinear", [x], outputs=3, keep=False)
    if n.values[x].ndim == 4 and n.chance(0.7):
        c, out, k = n.shape(x)[1], n.choice([1, 3, 8, 16]), n.choice([1, 3])
        w = n.rng.integers(-100, 100, [out, c, k, k]).astype(np.int8)
        y = n.op("ConvInteger", [codes, n.const(w), zero], pads=[k // 2] * 4, keep=False)
        size = 100 * (c * k * k) ** 0.5
    else:
        k, out = n.shape(x)[-1], width(n)
        y = n.op("MatMulInteger", [codes, n.const(n.rng.integers(-100, 100, [k, out]).astype(np.int8)), zero], keep=False)
        size = 100 * k ** 0.5
    factor = n.const(np.float32(2 / size / max(n.mean_size(x), 0.05)))
    if n.chance(0.5):
        n.op("Mul", [n.op("Cast", [y], to=TensorProto.FLOAT, keep=False), n.op("Mul", [scale, factor], keep=False)])
    else:
        y = n.op("Mul", [n.op("Cast", [y], to=TensorProto.FLOAT, keep=False), scale], keep=False)
        n.op("Mul", [y, factor])


__all__ = ["linear", "unsqueeze"]
