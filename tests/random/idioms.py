"""Pieces of several layers, as exporters write what networks are made of."""
import numpy as np

from elementwise import reduce, unary
from moves import part, piece, split, squeeze, unsqueeze
from network import Reject
from products import linear, quantised
from spatial import activated, batch_norm, conv, feature_map


def image(n):
    """A feature map of two dims of places."""
    names = [m for m in n.made if n.is_float(m) and n.values[m].ndim == 4]
    return n.choice(names[-4:] if n.chance(0.7) else names)


def silu(n, x):
    return n.op("Mul", [x, n.op("Sigmoid", [x])])


def unit(n, x, out, kernel=None, stride=1):
    """Convolution and activation."""
    y = conv(n, x, out, kernel, stride)
    kind = n.choice(["silu", "silu", "Relu", "LeakyRelu", "none"])
    return silu(n, y) if kind == "silu" else y if kind == "none" else unary(n, y, kind)


def add(n, a, b):
    return n.op("Add", [a, b] if n.chance(0.5) else [b, a])


@piece(4)
def residual(n):
    x = feature_map(n)
    c = n.shape(x)[1]
    y = conv(n, x, n.choice([c, 8]))
    y = unary(n, batch_norm(n, y) if n.chance(0.4) else y, n.choice(["Relu", "Sigmoid", "Tanh"]))
    y = conv(n, y, c)
    y = add(n, y, x)
    if n.chance(0.5):
        n.op("Relu", [y])


@piece(4)
def cross_stage(n):
    """YOLOv5's C3: bottlenecks with residuals beside a convolution, joined."""
    x = image(n)
    h = n.choice([4, 8, 16, 16])
    y = unit(n, x, h, 1)
    for _ in range(n.choice([1, 1, 2])):
        z = unit(n, unit(n, y, h, 1), h, 3)
        y = add(n, y, z) if n.chance(0.8) else z
    other = unit(n, x, h, 1)
    joined = n.op("Concat", [y, other] if n.chance(0.5) else [other, y], axis=1)
    if n.chance(0.8):
        unit(n, joined, n.choice([8, 16, 32]), 1)


def into(n, x, operand):
    """x, changed by an operand of its shape, or of one number for each channel or place."""
    kind = n.choice(["add", "add", "sub", "gate", "mask", "most"])
    if kind == "add":
        return add(n, x, operand)
    if kind == "gate":
        gate = n.op("Sigmoid", [operand])
        return n.op("Mul", [x, gate] if n.chance(0.5) else [gate, x])
    if kind == "mask":
        other = n.const(np.float32(n.rng.standard_normal())) if n.chance(0.5) else operand
        which = n.op("Greater", [operand, n.const(np.float32(0))], keep=False)
        return n.op("Where", [which, x, other] if n.chance(0.5) else [which, other, x])
    operands = [x, operand] if n.chance(0.5) else [operand, x]
    return n.op("Sub" if kind == "sub" else "Max", operands)


@piece(4)
def operands_in_slots(n):
    """Residuals, gates and masks that are parts of a concatenation, or of a split, while what reads them is not, or of
    another."""
    x = image(n)
    c, axis = n.choice([1, 2, 3, 8, 16, 17]), 1
    if n.chance(0.6):
        slots = [unit(n, x, n.choice([c, c, 8, 3]), n.choice([1, 3])) for _ in range(n.choice([2, 2, 3]))]
        joined = n.op("Concat", slots, axis=axis)
    else:
        joined = unit(n, x, 2 * c + n.choice([0, 1, 3]))
        slots = split(n, joined, axis, [c, n.shape(joined)[1] - c])
    results = []
    for _ in range(n.choice([1, 2, 2])):
        operand = n.choice(slots)
        y = conv(n, n.choice([x, joined] + slots), n.shape(operand)[1], n.choice([1, 3]))
        y = into(n, unary(n, y, "Relu") if n.chance(0.3) else y, operand)
        if n.chance(0.3) and n.shape(operand)[1] > 1:
            y = into(n, y, part(n, n.choice(slots), axis, 0, 1))
        results.append(y)
    if n.chance(0.5):
        n.op("Concat", results + [n.choice(slots)], axis=axis)


@piece(2)
def dense_block(n):
    x = feature_map(n)
    for _ in range(n.between(2, 3)):
        y = conv(n, unary(n, x, "Relu"), n.choice([3, 8]))
        x = n.op("Concat", [x, y] if n.chance(0.7) else [y, x], axis=1)


@piece(4)
def separable(n):
    x = feature_map(n)
    y = x
    if n.chance(0.4):
        y = unary(n, conv(n, x, n.choice([8, 16, 17]), 1), "Relu")
    y = conv(n, y, kernel=n.choice([3, 3, 5]), stride=n.choice([1, 1, 2]), depthwise=True)
    y = activated(n, batch_norm(n, y) if n.chance(0.6) else y)
    y = conv(n, y, n.shape(x)[1] if n.chance(0.5) else None, 1)
    if n.shape(y) == n.shape(x):
        add(n, x, y)


@piece(2)
def shuffle_of_channels(n):
    x = image(n)
    b, c, h, w = n.shape(x)
    g = n.choice([g for g in (2, 3, 4, 8) if c % g == 0])
    y = n.op("Reshape", [x, n.ints([b, g, c // g, h, w])])
    y = n.op("Transpose", [y], perm=[0, 2, 1, 3, 4])
    y = n.op("Reshape", [y, n.ints([b, -1, h, w])])
    if n.chance(0.5) and c % 2 == 0:
        left, right = split(n, y, 1, [c // 2, c // 2])
        n.op("Concat", [left, conv(n, right, c // 2)], axis=1)


@piece(2)
def shuffle_of_pixels(n):
    x = image(n)
    r = n.choice([2, 2, 3])
    b, c, h, w = n.shape(x)
    if n.chance(0.5):
        y = conv(n, x, n.choice([1, 2, 3]) * r * r)
        c = n.shape(y)[1] // (r * r)
        y = n.op("Reshape", [y, n.ints([b, c, r, r, h, w])])
        y = n.op("Transpose", [y], perm=[0, 1, 4, 2, 5, 3])
        n.op("Reshape", [y, n.ints([b, c, h * r, w * r])])
    else:
        y = n.op("Reshape", [x, n.ints([b, c, h // r, r, w // r, r])])
        y = n.op("Transpose", [y], perm=[0, 1, 3, 5, 2, 4])
        n.op("Reshape", [y, n.ints([b, c * r * r, h // r, w // r])])


@piece(2)
def patches(n):
    """ViT's: a convolution as wide as its step, then a sequence; a token in front, positions added."""
    x = image(n)
    k, e = n.choice([1, 2, 4]), n.choice([8, 16])
    c = n.shape(x)[1]
    y = n.op("Conv", [x, n.weights([e, c, k, k], c * k * k, x), n.weights([e], spread=0.3)], strides=[k, k])
    b, _, h, w = n.shape(y)
    y = n.op("Reshape", [y, n.ints([b, e, h * w])])
    y = n.op("Transpose", [y], perm=[0, 2, 1])
    if n.chance(0.5):
        y = n.op("Concat", [n.const(n.data([b, 1, e])), y], axis=1)
    if n.chance(0.6):
        y = n.op("Add", [y, n.const(n.data([1] + list(n.shape(y)[1:])))])
    if n.chance(0.5):
        y = linear(n, y, e)
        if n.shape(y)[1] == h * w:
            n.op("Reshape", [n.op("Transpose", [y], perm=[0, 2, 1]), n.ints([b, e, h, w])])


@piece(2)
def windows(n):
    """Swin's partition into windows, a product in each, and back."""
    x = image(n)
    y = n.op("Transpose", [x], perm=[0, 2, 3, 1])
    b, h, w, c = n.shape(y)
    k = n.choice([k for k in (2, 4, 8) if h % k == 0 and w % k == 0])
    y = n.op("Reshape", [y, n.ints([b, h // k, k, w // k, k, c])])
    y = n.op("Transpose", [y], perm=[0, 1, 3, 2, 4, 5])
    y = n.op("Reshape", [y, n.ints([-1, k * k, c])])
    y = linear(n, y, c)
    y = n.op("Reshape", [y, n.ints([b, h // k, w // k, k, k, c])])
    y = n.op("Transpose", [y], perm=[0, 1, 3, 2, 4, 5])
    y = n.op("Reshape", [y, n.ints([b, h, w, c])])
    y = n.op("Transpose", [y], perm=[0, 3, 1, 2])
    if n.chance(0.5):
        add(n, x, y)


@piece(2)
def pyramid(n):
    """A coarse map enlarged, joined with a fine one."""
    x = image(n)
    low = unit(n, x, n.choice([8, 16]), 3, 2)
    up = n.op("Resize", [low, "", n.const(np.array([1, 1, 2, 2], np.float32))], mode="nearest",
              coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    if n.shape(up)[2:] != n.shape(x)[2:]:
        for axis in (2, 3):
            up = part(n, up, axis, 0, n.shape(x)[axis])
    if n.chance(0.6):
        unit(n, n.op("Concat", [up, x] if n.chance(0.5) else [x, up], axis=1), n.choice([8, 16]))
    else:
        add(n, up, conv(n, x, n.shape(up)[1], 1))


@piece(2)
def pools_of_pools(n):
    """SPPF: a pool of a pool of a pool, all joined."""
    x = image(n)
    y = unit(n, x, n.choice([4, 8]), 1)
    maps = [y]
    for _ in range(2):
        maps.append(n.op("MaxPool", [maps[-1]], kernel_shape=[5, 5], pads=[2, 2, 2, 2]))
    joined = n.op("Concat", maps, axis=1)
    unit(n, joined, 8, 1)


@piece(1)
def focus(n):
    """YOLOv5's first layer: every second row and column, four times, joined."""
    x = image(n)
    if min(n.shape(x)[2:]) < 2 or n.shape(x)[2] % 2 or n.shape(x)[3] % 2:
        raise Reject("odd")
    parts = []
    for i, j in ((0, 0), (1, 0), (0, 1), (1, 1)):
        y = part(n, x, 2, i, 2**31 - 1, 2)
        parts.append(part(n, y, 3, j, 2**31 - 1, 2))
    conv(n, n.op("Concat", parts, axis=1))


@piece(2)
def norm_of_channels_last(n):
    """ConvNeXt's: depthwise, then norm and dense layers with the channels last, and back."""
    x = image(n)
    c = n.shape(x)[1]
    if c < 2 or n.opset < 17:
        raise Reject("one channel")
    y = n.op("Transpose", [conv(n, x, kernel=3, depthwise=True)], perm=[0, 2, 3, 1])
    y = n.op("LayerNormalization", [y, n.weights([c], spread=0.2, around=1), n.weights([c], spread=0.3)], axis=-1)
    y = linear(n, unary(n, linear(n, y, n.choice([8, 16])), "Relu"), c)
    if n.chance(0.4):
        y = n.op("Mul", [y, n.weights([c])])
    add(n, n.op("Transpose", [y], perm=[0, 3, 1, 2]), x)


@piece(3)
def sound(n):
    """A map of one channel over time: squeezed, turned, and a feature map again, as networks for sound do."""
    x = n.float_value(3, 4)
    if n.values[x].ndim == 3:
        y = n.op("Transpose", [x], perm=[0, 2, 1])
        y = unsqueeze(n, y, [n.choice([1, 1, 0, 3])])
    else:
        axis = n.choice([i for i, d in enumerate(n.shape(x)) if d == 1])
        y = squeeze(n, x, [axis])
        y = n.op("Transpose", [y], perm=n.choice([[0, 2, 1], [2, 0, 1], [1, 0, 2]]))
        y = unsqueeze(n, y, [1])
    y = conv(n, y)
    if n.chance(0.5):
        b, c, h, w = n.shape(y)
        y = n.op("Transpose", [y], perm=n.choice([[0, 3, 1, 2], [3, 0, 1, 2], [0, 2, 1, 3]]))
        n.op("Reshape", [y, n.ints([n.shape(y)[0], n.shape(y)[1], -1])])


@piece(2)
def over_time(n):
    """A TCN's block: padded on the left, dilated, with a residual."""
    x = n.float_value(3)
    b, c, t = n.shape(x)
    d = n.choice([1, 2, 4])
    y = n.op("Pad", [x, n.ints([0, 0, 2 * d, 0, 0, 0])], mode="constant")
    y = n.op("Conv", [y, n.weights([c, c, 3], 3 * c, y), n.weights([c], spread=0.3)], dilations=[d])
    add(n, n.op("Relu", [y]), x)


@piece(1)
def decoder(n):
    """U-Net's: enlarged by a transposed convolution, joined with a map from before."""
    x = image(n)
    y = unit(n, n.op("MaxPool", [x], kernel_shape=[2, 2], strides=[2, 2]), 8)
    c = n.shape(y)[1]
    y = n.op("ConvTranspose", [y, n.weights([c, 8, 2, 2], c, y)], strides=[2, 2])
    if n.shape(y)[2:] != n.shape(x)[2:]:
        raise Reject("odd")
    unit(n, n.op("Concat", [y, x], axis=1), 8)


@piece(1)
def squares(n):
    """Products of a value with itself, as it is or turned: covariances, similarities, powers of a matrix."""
    x = n.float_value(2)
    shape = n.shape(x)
    if max(shape[-2:]) > 40:
        raise Reject
    x = unary(n, x, n.choice(["Tanh", "Relu", "Sigmoid"])) if n.chance(0.6) else x
    turned = n.op("Transpose", [x], perm=[*range(len(shape) - 2), len(shape) - 1, len(shape) - 2])
    y = n.op("MatMul", [x, x] if shape[-1] == shape[-2] and n.chance(0.5) else [x, turned] if n.chance(0.5) else [turned, x])
    if n.chance(0.5):
        y = n.op("Mul", [y, n.const(np.float32(1 / shape[-1]))])
    if n.chance(0.5):
        n.op("Softmax", [y], axis=-1)
    if n.chance(0.5):
        quantised(n, y)


@piece(1)
def head(n):
    x = image(n)
    y = reduce(n, x, "ReduceMean", [2, 3], 0) if n.chance(0.5) else n.op("Flatten", [n.op("GlobalAveragePool", [x])])
    c, out = n.shape(y)[1], n.choice([3, 10])
    y = n.op("Gemm", [y, n.weights([out, c], c, y), n.weights([out], spread=0.3)], transB=1)
    n.op("Softmax", [y], axis=1)


@piece(2)
def boxes(n):
    """YOLO's head: anchors apart, numbers last, one row per box."""
    x = image(n)
    y = conv(n, x, 3 * n.choice([5, 6]), 1)
    b, c, h, w = n.shape(y)
    y = n.op("Reshape", [y, n.ints([b, 3, c // 3, h, w])])
    y = n.op("Sigmoid", [n.op("Transpose", [y], perm=[0, 1, 3, 4, 2])])
    xy, wh, rest = split(n, y, 4, [2, 2, c // 3 - 4])
    xy = n.op("Mul", [xy, n.const(np.float32(2))])
    wh = n.op("Mul", [wh, wh])
    y = n.op("Concat", [xy, wh, rest], axis=4)
    n.op("Reshape", [y, n.ints([b, -1, c // 3])])
