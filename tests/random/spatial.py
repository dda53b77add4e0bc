"""Pieces with windows: convolutions, pools, resizing, and the norms between them."""
import numpy as np

from moves import as_rank, piece
from network import Reject


def feature_map(n):
    """A value that is channels and places: as it is, or any other as one."""
    rank = n.choice([3, 4, 5], [2, 7, 1])
    names = [m for m in n.made if n.is_float(m) and n.values[m].ndim == rank and n.values[m].size > 1]
    if names and n.chance(0.75):
        x = n.choice(names[-3:] if n.chance(0.7) else names)
    else:
        x = as_rank(n, n.float_value(), rank)
    return x


def windows(n, x, most=5):
    """Attributes of a window over x's places."""
    places = n.shape(x)[2:]
    kernel = [n.choice([k for k in (1, 1, 2, 3, 3, 3, 5) if k <= most]) for _ in places]
    if n.chance(0.6):
        kernel = [kernel[0]] * len(places)
    attributes = {"kernel_shape": kernel}
    if n.chance(0.35):
        attributes["strides"] = [n.choice([1, 2, 2, 3]) for _ in places] if n.chance(0.3) else [2] * len(places)
    return attributes


def pads(n, x, attributes, dilation=None):
    """Pads of a window that is not larger than what it slides over."""
    kernel = attributes["kernel_shape"]
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilation or [1] * len(kernel))]
    if n.chance(0.15):
        attributes["auto_pad"] = n.choice(["SAME_UPPER", "SAME_LOWER", "VALID"])
        return attributes
    begin = [r // 2 if n.chance(0.7) else n.below(r) for r in reach]
    end = [b if n.chance(0.7) else n.below(r) for b, r in zip(begin, reach)]
    for i, (d, r) in enumerate(zip(n.shape(x)[2:], reach)):
        if d + begin[i] + end[i] < r:
            begin[i], end[i] = r // 2, r - 1 - r // 2
    if any(begin + end):
        attributes["pads"] = begin + end
    return attributes


def channels_out(n):
    return n.choice([1, 2, 3, 8, 8, 16, 16, 17, 32])


def conv(n, x, out=None, kernel=None, stride=1, depthwise=False):
    """A plain one, as the idioms need it: same places, or half of them."""
    c, places = n.shape(x)[1], n.shape(x)[2:]
    out, groups = (c, c) if depthwise else (out or channels_out(n), 1)
    k = kernel or n.choice([1, 3])
    shape = [out, c // groups] + [k] * len(places)
    inputs = [x, n.weights(shape, int(np.prod(shape[1:])), x)] + ([n.weights([out], spread=0.3)] if n.chance(0.7) else [])
    return n.op("Conv", inputs, kernel_shape=[k] * len(places), pads=[k // 2] * (2 * len(places)),
                strides=[stride] * len(places), group=groups)


@piece(10)
def convolution(n):
    x = feature_map(n)
    c, places = n.shape(x)[1], n.shape(x)[2:]
    attributes = windows(n, x)
    kernel, dilation = attributes["kernel_shape"], None
    if n.chance(0.15):
        dilation = attributes["dilations"] = [n.choice([1, 2, 3]) for _ in places]
    attributes = pads(n, x, attributes, dilation)
    kind = n.choice(["plain", "depthwise", "groups"], [6, 2, 1])
    if kind == "depthwise":
        groups, out = c, c * n.choice([1, 1, 1, 2])
    elif kind == "groups":
        groups = n.choice([g for g in (1, 2, 4, 8, 17) if c % g == 0])
        out = groups * n.choice([1, 2, 3, 8])
    else:
        groups, out = 1, channels_out(n)
    shape = [out, c // groups] + kernel
    w = n.weights(shape, int(np.prod(shape[1:])), x)
    inputs = [x, w] + ([n.weights([out], spread=0.5)] if n.chance(0.6) else [])
    y = n.op("Conv", inputs, group=groups, **attributes)
    if n.chance(0.3):
        y = batch_norm(n, y)
    if n.chance(0.4):
        from elementwise import unary
        unary(n, y, n.choice(["Relu", "Relu", "LeakyRelu", "Sigmoid", "Tanh"]))


@piece(3)
def transposed_convolution(n):
    x = feature_map(n)
    c, places = n.shape(x)[1], n.shape(x)[2:]
    attributes = windows(n, x, 3)
    kernel = attributes["kernel_shape"]
    groups = n.choice([1, 1, 1, c] + [g for g in (2, 4) if c % g == 0])
    each = n.choice([1, 2, 3, 8, 16]) if groups == 1 else n.choice([1, 1, 2])
    if n.chance(0.5):
        attributes["pads"] = [n.below((k + 1) // 2) for k in kernel] * 2
    if "strides" in attributes and n.chance(0.4):
        attributes["output_padding"] = [n.below(s) for s in attributes["strides"]]
    if n.chance(0.1):
        attributes["dilations"] = [2] * len(places)
    w = n.weights([c, each] + kernel, c // groups * max(1, int(np.prod(kernel)) // 4), x)
    bias = [n.weights([each * groups], spread=0.5)] if n.chance(0.6) else []
    n.op("ConvTranspose", [x, w] + bias, group=groups, **attributes)


@piece(5)
def pool(n):
    x = feature_map(n)
    kind = n.choice(["MaxPool", "AveragePool", "LpPool"], [4, 4, 1])
    attributes = pads(n, x, windows(n, x))
    if kind != "LpPool" and "auto_pad" not in attributes:
        attributes["ceil_mode"] = n.choice([0, 0, 0, 1])
    if kind == "AveragePool":
        attributes["count_include_pad"] = n.below(2)
    if kind == "MaxPool" and n.chance(0.1):
        attributes["dilations"] = [2] * len(attributes["kernel_shape"])
    if kind == "LpPool":
        attributes["p"] = n.choice([1, 2])
        attributes.pop("pads", None)
    n.op(kind, [x], **attributes)


@piece(2)
def global_pool(n):
    x = feature_map(n)
    y = n.op(n.choice(["GlobalAveragePool", "GlobalAveragePool", "GlobalMaxPool"]), [x])
    if n.chance(0.3):
        n.op("Flatten", [y])


@piece(4)
def resize(n):
    x = feature_map(n)
    rank, places = n.values[x].ndim, n.shape(x)[2:]
    mode = n.choice(["nearest", "nearest", "linear", "linear", "cubic"] if rank == 4 else ["nearest", "linear"])
    attributes = {"mode": mode, "coordinate_transformation_mode": n.choice(
        ["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"])}
    if mode == "nearest":
        attributes["nearest_mode"] = n.choice(["floor", "round_prefer_floor", "ceil", "round_prefer_ceil"])
    if mode == "cubic" and n.chance(0.5):
        attributes["cubic_coeff_a"] = -0.5
    empty = ""
    if n.chance(0.6):
        scales = [1.0, 1.0] + ([2.0] * len(places) if n.chance(0.6) else [n.choice([0.5, 1.5, 2.0, 3.0, 1.0]) for _ in places])
        n.op("Resize", [x, empty, n.const(np.array(scales, np.float32))], **attributes)
    else:
        n.op("Resize", [x, empty, empty, n.ints(list(n.shape(x)[:2]) + [n.between(1, 9) for _ in places])], **attributes)


def batch_norm(n, x):
    c = n.shape(x)[1]
    mean = float(np.mean(n.values[x]))
    spread = max(float(np.var(n.values[x])), 0.05)
    return n.op("BatchNormalization", [
        x, n.weights([c], spread=0.2, around=1), n.weights([c], spread=0.3),
        n.const((n.rng.standard_normal(c) * 0.1 + mean).astype(np.float32)),
        n.const((spread * n.rng.uniform(0.7, 1.4, c)).astype(np.float32))])


@piece(3)
def channel_norm(n):
    x = feature_map(n)
    c, places = n.shape(x)[1], int(np.prod(n.shape(x)[2:]))
    kind = n.below(4)
    if kind == 0:
        batch_norm(n, x)
    elif kind == 1 and places > 1:
        n.op("InstanceNormalization", [x, n.weights([c], spread=0.2, around=1), n.weights([c], spread=0.3)])
    elif kind == 2:
        n.op("LRN", [x], size=n.choice([1, 3, 5]), alpha=0.3, beta=0.6, bias=1.0)
    else:
        groups = n.choice([g for g in (1, 2, 3, 4, 8) if c % g == 0])
        if places * c // groups < 2:
            raise Reject("one number has no spread")
        if n.opset >= 21 and n.chance(0.5):
            n.op("GroupNormalization", [x, n.weights([c], spread=0.2, around=1), n.weights([c], spread=0.3)],
                 num_groups=groups)
            return
        y = n.op("Reshape", [x, n.ints([0, groups, -1])])  # as torch's exporter writes it
        y = n.op("InstanceNormalization", [y, n.const(np.ones(groups, np.float32)), n.const(np.zeros(groups, np.float32))])
        y = n.op("Reshape", [y, n.ints(n.shape(x))])
        side = [c] + [1] * (n.values[x].ndim - 2)
        y = n.op("Mul", [y, n.weights(side, spread=0.2, around=1)])
        n.op("Add", [y, n.weights(side, spread=0.3)])


@piece(1)
def sampled(n):
    x = n.float_value(4)
    batch = n.shape(x)[0]
    if n.chance(0.5) and n.opset >= 16:
        places = [n.between(1, 5), n.between(1, 5)]
        grid = n.const(n.rng.uniform(-1.1, 1.1, [batch] + places + [2]).astype(np.float32))
        n.op("GridSample", [x, grid], mode="bilinear" if n.opset < 20 else n.choice(["linear", "nearest"]),
             padding_mode=n.choice(["zeros", "border", "reflection"]), align_corners=n.below(2))
    else:
        rois = n.rng.uniform(0, 4, [3, 4]).astype(np.float32)
        rois[:, 2:] += rois[:, :2] + 0.5
        n.op("RoiAlign", [x, n.const(rois), n.const(n.rng.integers(0, batch, 3).astype(np.int64))], output_height=2,
             output_width=3, sampling_ratio=2, spatial_scale=0.7)
