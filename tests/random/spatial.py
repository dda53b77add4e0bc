"""Pieces with windows: convolutions, pools, resizing, and the norms between them."""
import numpy as np

from moves import as_rank, pad, part, piece, sliced_somehow
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


def same(places, reach, strides):
    """Pads that make as many windows as steps fit, one more behind than in front where they are odd: TensorFlow's."""
    total = [max((-(-d // s) - 1) * s + r - d, 0) for d, r, s in zip(places, reach, strides)]
    return [t // 2 for t in total], [t - t // 2 for t in total]


def pads(n, x, attributes, dilation=None):
    """Pads of a window that is not larger than what it slides over."""
    kernel, places = attributes["kernel_shape"], n.shape(x)[2:]
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilation or [1] * len(kernel))]
    kind = n.choice(["auto", "same", "half", "any"], [3, 4, 8, 5])
    if kind == "auto":
        attributes["auto_pad"] = n.choice(["SAME_UPPER", "SAME_LOWER", "VALID"])
        return attributes
    if kind == "same":
        begin, end = same(places, reach, attributes.get("strides", [1] * len(kernel)))
    elif kind == "half":
        begin = end = [r // 2 for r in reach]
    else:
        begin, end = [n.below(r) for r in reach], [n.below(r) for r in reach]
    begin, end = list(begin), list(end)
    for i, (d, r) in enumerate(zip(places, reach)):
        if d + begin[i] + end[i] < r:
            begin[i], end[i] = r // 2, r - 1 - r // 2
    if any(begin + end):
        attributes["pads"] = begin + end
    return attributes


def channels_out(n):
    return n.choice([1, 2, 3, 8, 8, 16, 16, 17, 32, n.choice([5, 33, 50, 64])])


def conv(n, x, out=None, kernel=None, stride=1, depthwise=False):
    """A plain one, as the idioms need it: same places, or half of them."""
    c, places = n.shape(x)[1], n.shape(x)[2:]
    out, groups = (c, c) if depthwise else (out or channels_out(n), 1)
    k = kernel or n.choice([1, 3])
    shape = [out, c // groups] + [k] * len(places)
    inputs = [x, n.weights(shape, int(np.prod(shape[1:])), x)] + ([n.weights([out], spread=0.3)] if n.chance(0.7) else [])
    return n.op("Conv", inputs, kernel_shape=[k] * len(places), pads=[k // 2] * (2 * len(places)),
                strides=[stride] * len(places), group=groups)


def any_conv(n, x, attributes=None, keep=True):
    """Of any window, in groups or not."""
    c, places = n.shape(x)[1], n.shape(x)[2:]
    if attributes is None:
        attributes = windows(n, x)
        dilation = [n.choice([1, 2, 3]) for _ in places] if n.chance(0.15) else None
        attributes = pads(n, x, dict(attributes, **({"dilations": dilation} if dilation else {})), dilation)
    kind = n.choice(["plain", "depthwise", "groups"], [6, 3, 2])
    if kind == "depthwise":
        groups, out = c, c * n.choice([1, 1, 1, 2])
    elif kind == "groups":
        groups = n.choice([g for g in (1, 2, 3, 4, 8, 17) if c % g == 0])
        out = groups * n.choice([1, 2, 3, 8])
    else:
        groups, out = 1, channels_out(n)
    shape = [out, c // groups] + attributes["kernel_shape"]
    w = n.weights(shape, int(np.prod(shape[1:])), x)
    inputs = [x, w] + ([n.weights([out], spread=0.5)] if n.chance(0.6) else [])
    return n.op("Conv", inputs, group=groups, keep=keep, **attributes)


def activated(n, x):
    """What most layers end with."""
    kind = n.choice(["Relu", "Relu", "Relu6", "Clip", "LeakyRelu", "Sigmoid", "Tanh"] + (["HardSwish"] if n.opset >= 14 else []))
    if kind == "Relu6":
        return n.op("Clip", [x, n.const(np.float32(0)), n.const(np.float32(6))])
    if kind == "Clip":
        return n.op("Clip", [x, n.const(np.float32(n.rng.uniform(-1, -0.1))), n.const(np.float32(n.rng.uniform(0.3, 1.5)))])
    return n.op(kind, [x])


@piece(10)
def convolution(n):
    y = any_conv(n, feature_map(n))
    if n.chance(0.3):
        y = batch_norm(n, y)
    if n.chance(0.5):
        activated(n, y)


def any_transposed_conv(n, x, keep=True):
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
    return n.op("ConvTranspose", [x, w] + bias, group=groups, keep=keep, **attributes)


@piece(3)
def transposed_convolution(n):
    any_transposed_conv(n, feature_map(n))


def per_channel(n, x, keep=True):
    """x times, by, and, without a number, or one for each channel."""
    kind = n.choice(["Mul", "Mul", "Div", "Add", "Sub"])
    rank, c = n.values[x].ndim, n.shape(x)[1]
    shape = n.choice([[c] + [1] * (rank - 2), [1, c] + [1] * (rank - 2), [1] * rank, []], [4, 4, 1, 1])
    numbers = n.rng.uniform(0.6, 1.7, shape) * n.rng.choice([1, 1, 1, -1], shape) if kind in ("Mul", "Div") else \
        n.rng.standard_normal(shape) * 0.4 * max(n.mean_size(x), 0.05)
    operands = [x, n.const(np.asarray(numbers, np.float32))]
    if kind in ("Mul", "Add") and n.chance(0.3):
        operands.reverse()
    return n.op(kind, operands, keep=keep)


@piece(5)
def scaled_layer(n):
    """What norms and quantisation leave around a layer: factors and shifts of its channels, on either side."""
    dense = n.chance(0.2)
    x = as_rank(n, n.float_value(), 2) if dense else feature_map(n)
    for _ in range(n.choice([0, 1, 1, 2])):
        x = per_channel(n, x, keep=n.chance(0.15))
    if dense:
        k, out = n.shape(x)[1], channels_out(n)
        y = n.op("Gemm", [x, n.weights([out, k], k, x)], transB=1, keep=False) if n.chance(0.5) else \
            n.op("MatMul", [x, n.weights([k, out], k, x)], keep=False)
    else:
        y = any_transposed_conv(n, x, keep=False) if n.chance(0.3) else any_conv(n, x, keep=False)
    if not dense and n.chance(0.3):
        y = n.op(n.choice(["MaxPool", "AveragePool"]), [y], keep=False, **pads(n, y, windows(n, y, 3)))
    if n.chance(0.4):
        y = n.op(n.choice(["Relu", "LeakyRelu", "Clip"]), [y], keep=False)
    for _ in range(n.choice([0, 1, 1, 2])):
        y = per_channel(n, y)
    if y not in n.made:
        n.op("Abs", [y])


@piece(4)
def cut_window(n):
    """A convolution that is padded generously, at both ends, and cut behind: causal ones; or cut in front."""
    x = feature_map(n)
    places = range(2, n.values[x].ndim)
    attributes = windows(n, x)
    attributes["kernel_shape"] = [max(k, n.choice([1, 3, 3])) for k in attributes["kernel_shape"]]
    dilation = [n.choice([1, 1, 2]) for _ in places]
    reach = [(k - 1) * d for k, d in zip(attributes["kernel_shape"], dilation)]
    attributes.update(dilations=dilation, pads=[r if n.chance(0.6) else n.between(r // 2, r) for r in reach] * 2)
    if n.chance(0.3):
        attributes["strides"] = [2] * len(places)
    if n.chance(0.3):
        x = sliced_somehow(n, x, (1, 1, 2), keep=n.chance(0.3))
    y = any_conv(n, x, attributes, keep=n.chance(0.1))
    for axis in places:
        d = n.shape(y)[axis]
        if d > 1 and n.chance(0.7):
            begin = n.choice([0, 1, 1, 2]) % d
            y = part(n, y, axis, begin, n.choice([d, n.between(begin + 1, d), 2**31 - 1]))
    if y not in n.made:
        n.op("Relu", [y])


@piece(2)
def padded_map(n):
    """Padding of any kind between a layer and a window."""
    y = pad(n, any_conv(n, feature_map(n)), keep=n.chance(0.5))
    if n.chance(0.5):
        any_conv(n, y)
    else:
        n.op(n.choice(["MaxPool", "AveragePool"]), [y], **pads(n, y, windows(n, y)))


@piece(5)
def pool(n):
    x = feature_map(n)
    kind = n.choice(["MaxPool", "AveragePool", "LpPool"], [4, 4, 1])
    attributes = pads(n, x, windows(n, x))
    if n.chance(0.06):  # one window, longer than the map by less than a stride
        strides = [n.between(1, 4) for _ in n.shape(x)[2:]]
        attributes = {"kernel_shape": [d + n.below(s) for d, s in zip(n.shape(x)[2:], strides)], "strides": strides}
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
        if any(size * scale % 1 for size, scale in zip(places, scales[2:])):
            # ONNX's own tests divide by the length before it is rounded down, ONNX Runtime by the length after
            attributes["coordinate_transformation_mode"] = n.choice(["half_pixel", "asymmetric"])
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
        mode, corners = n.choice(["linear", "linear", "cubic", "nearest"]), n.below(2)
        if n.opset < 20:
            mode = {"linear": "bilinear", "cubic": "bicubic"}.get(mode, "bilinear")
        if n.opset >= 20 and n.chance(0.4):
            # corners of one pixel: PyTorch's is the centre, ONNX Runtime and onnx's reference take one side each
            places = [max(place, 1 + corners) for place in places]
            theta = n.rng.uniform(-0.3, 0.3, [batch, 2, 3]) + np.array([[1, 0, 0], [0, 1, 0]])
            grid = n.op("AffineGrid", [n.const(theta.astype(np.float32)), n.ints([batch, n.shape(x)[1]] + places)],
                        align_corners=corners, keep=False)
        else:
            grid = n.const(n.rng.uniform(-1.4, 1.4, [batch] + places + [2]).astype(np.float32))
        n.op("GridSample", [x, grid], mode=mode, padding_mode=n.choice(["zeros", "border", "reflection"]),
             align_corners=corners)
    else:
        rois = n.rng.uniform(0, 4, [3, 4]).astype(np.float32)
        rois[:, 2:] += rois[:, :2] + 0.5
        n.op("RoiAlign", [x, n.const(rois), n.const(n.rng.integers(0, batch, 3).astype(np.int64))], output_height=2,
             output_width=3, sampling_ratio=2, spatial_scale=0.7)
