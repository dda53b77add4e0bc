"""Small TensorFlow Lite networks, one or a few operators each, with the outputs of TensorFlow Lite Micro.

    networks.py FOLDER      writes FOLDER/NAME/model.tflite, input_K.npy, output_K.npy

The outputs stand in outputs.json; record.py asks TensorFlow Lite Micro for them again."""
import json
import sys
from pathlib import Path

import flatbuffers
import numpy as np
import streaming

STEPS = 4
TYPES = {np.dtype("float32"): 0, np.dtype("float16"): 1, np.dtype("int32"): 2, np.dtype("uint8"): 3, np.dtype("int64"): 4,
         np.dtype("bool"): 6, np.dtype("int16"): 7, np.dtype("int8"): 9, np.dtype("uint64"): 12, np.dtype("uint32"): 15}
SAME, VALID = 0, 1
NONE, RELU, RELU_N1_TO_1, RELU6 = range(4)


class Network:
    """A graph: tensors by number, operators in order."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.tensors, self.operators, self.inputs, self.outputs = [], [], [], []
        self.bodies = []  # subgraphs of IF and WHILE, from 1 on

    def tensor(self, shape, dtype="int8", scale=None, zero=0, data=None, axis=0, variable=False, resource=False):
        scales = [] if scale is None else np.atleast_1d(np.asarray(scale, np.float32)).tolist()
        self.tensors.append({"shape": list(shape), "dtype": np.dtype(dtype), "scale": scales, "zero": zero, "data": data,
                             "axis": axis, "variable": variable, "resource": resource})
        return len(self.tensors) - 1

    def input(self, shape, scale=0.05, zero=-3, dtype="int8"):
        self.inputs.append(self.tensor(shape, dtype, scale if dtype != "float32" else None, zero))
        return self.inputs[-1]

    def weights(self, shape, scale, axis=0):
        data = self.rng.integers(-127, 128, shape).astype(np.int8)
        return self.tensor(shape, "int8", scale, 0, data, axis)

    def floats(self, shape):
        return self.tensor(shape, "float32", data=(self.rng.standard_normal(shape) * 0.3).astype(np.float32))

    def bias(self, n, scale=1.0, spread=2000):
        return self.tensor([n], "int32", scale, 0, self.rng.integers(-spread, spread, n).astype(np.int32))

    def ints(self, numbers):
        data = np.asarray(numbers, np.int32)
        return self.tensor(data.shape, "int32", data=data)

    def add(self, code, version, inputs, outputs, options=None, kind=0):
        """options: (bytes, value) of each field, None = left out. A custom operator's code is its name, its options bytes."""
        self.operators.append((code, version, inputs, outputs, options, kind))

    def result(self, *tensors):
        self.outputs += tensors
        return self

    def more_graphs(self, *builders):
        """Offsets of subgraphs behind this one: streaming.py."""
        return []

    # --- the file -----------------------------------------------------------------------------------------

    def bytes(self):
        b = flatbuffers.Builder(4096)

        def table(n, fields):
            """fields: number -> (kind, value); kinds 1, 2, 4, 8 bytes, 'f' a float, 's' a string, 'o' an offset."""
            fields = {i: ("o", b.CreateString(value)) if kind == "s" else (kind, value) for i, (kind, value) in fields.items()}
            b.StartObject(n)
            for i, (kind, value) in fields.items():
                if kind == "o":
                    b.PrependUOffsetTRelativeSlot(i, value, 0)
                elif kind == "f":
                    b.PrependFloat32(value)
                    b.Slot(i)
                else:
                    {1: b.PrependInt8, 2: b.PrependInt16, 4: b.PrependInt32, 8: b.PrependInt64}[kind](value)
                    b.Slot(i)
            return b.EndObject()

        def vector(array):
            array = np.ascontiguousarray(array)
            raw = array.tobytes()
            b.StartVector(array.itemsize, array.size, 16)
            b.head = b.head - len(raw)
            b.Bytes[b.head:b.head + len(raw)] = raw
            return b.EndVector()

        def tables(offsets):
            b.StartVector(4, len(offsets), 4)
            for offset in reversed(offsets):
                b.PrependUOffsetTRelative(offset)
            return b.EndVector()

        buffers, codes = [table(1, {})], []

        def graph_of(net):
            tensors = []
            for i, t in enumerate(net.tensors):
                quant = table(7, {2: ("o", vector(np.array(t["scale"], np.float32))),
                                  3: ("o", vector(np.full(len(t["scale"]), t["zero"], np.int64))), 6: (4, t["axis"])})
                name = b.CreateString(f"t{i}")
                shape = vector(np.array(t["shape"], np.int32))
                sparsity = t.get("sparsity")
                if sparsity:
                    levels = []
                    for size, segments, indices in sparsity["levels"]:
                        lists = {} if segments is None else {
                            2: (1, 1), 3: ("o", table(1, {0: ("o", vector(np.array(segments, np.int32)))})),
                            4: (1, 3), 5: ("o", table(1, {0: ("o", vector(np.array(indices, np.uint8)))}))}
                        levels.append(table(6, {0: (1, int(segments is not None)), 1: (4, size), **lists}))
                    levels = tables(levels)
                    order, blocks = (vector(np.array(sparsity[key], np.int32)) for key in ("order", "blocks"))
                    sparsity = table(3, {0: ("o", order), 1: ("o", blocks), 2: ("o", levels)})
                fields = {0: ("o", shape), 1: (1, 13 if t["resource"] else t.get("kind", TYPES[t["dtype"]])), 2: (4, len(buffers) if t["data"] is not None else 0), 3: ("o", name)}
                if t["scale"]:
                    fields[4] = ("o", quant)
                if t["variable"]:
                    fields[5] = (1, 1)
                if sparsity:
                    fields[6] = ("o", sparsity)
                tensors.append(table(8, fields))
                if t["data"] is not None:
                    buffers.append(table(1, {0: ("o", vector(np.frombuffer(t["data"].tobytes(), np.uint8)))}))
            operators = []
            for code, version, inputs, outputs, options, kind in net.operators:
                custom = isinstance(code, str)
                number = CUSTOM if custom else code
                codes.append(table(4, {0: (1, min(number, 127)), **({1: ("s", code)} if custom else {}), 2: (4, version), 3: (4, number)}))
                fields = {0: (4, len(codes) - 1)}
                built = None
                if options is not None and not custom:
                    built = table(len(options), {i: o for i, o in enumerate(options) if o is not None})
                fields[1], fields[2] = ("o", vector(np.array(inputs, np.int32))), ("o", vector(np.array(outputs, np.int32)))
                if custom:
                    fields[5] = ("o", vector(np.frombuffer(options, np.uint8)))
                if built is not None:
                    fields[3], fields[4] = (1, kind), ("o", built)
                operators.append(table(9, fields))
            return table(5, {0: ("o", tables(tensors)), 1: ("o", vector(np.array(net.inputs, np.int32))),
                              2: ("o", vector(np.array(net.outputs, np.int32))), 3: ("o", tables(operators))})

        graphs = [graph_of(net) for net in (self, *self.bodies)]
        graphs += self.more_graphs(table, vector, tables, buffers, codes)
        root = table(8, {0: (4, 3), 1: ("o", tables(codes)), 2: ("o", tables(graphs)), 4: ("o", tables(buffers))})
        b.Finish(root, file_identifier=b"TFL3")
        return bytes(b.Output())

    def data(self):
        """Inputs of every step: the whole range, and one step of extremes."""
        arrays = []
        for i in self.inputs:
            t = self.tensors[i]
            shape = [STEPS] + t["shape"]
            if t["dtype"] == np.float32:  # the last step: halves of codes, and beyond all codes
                array = (self.rng.standard_normal(shape) * 4).astype(np.float32)
                array[-1] = self.rng.integers(-400, 400, t["shape"]) * 0.0625
                arrays.append(array)
                continue
            info = np.iinfo(t["dtype"])
            array = self.rng.integers(info.min, info.max + 1, shape).astype(t["dtype"])
            array[-1] = self.rng.choice(np.array([info.min, info.max, t["zero"]]), t["shape"]).astype(t["dtype"])
            arrays.append(array)
        return arrays


def scales_of(n, rng):
    return rng.uniform(0.002, 0.03, n).astype(np.float32)


def conv(seed, shape, out_c, kernel, stride=(1, 1), padding=SAME, activation=NONE, dilation=(1, 1), groups=1, one_scale=False,
         out_scale=0.11, out_zero=5, bias=True):
    net = Network(seed)
    x = net.input(shape)
    w = net.weights([out_c, *kernel, shape[3] // groups], 0.01 if one_scale else scales_of(out_c, net.rng))
    inputs = [x, w] + ([net.bias(out_c)] if bias else [])
    height, width = (out_extent(shape[1 + i], kernel[i], stride[i], padding, dilation[i]) for i in range(2))
    y = net.tensor([shape[0], height, width, out_c], "int8", out_scale, out_zero)
    net.add(3, 3, inputs, [y], [(1, padding), (4, stride[1]), (4, stride[0]), (1, activation), (4, dilation[1]), (4, dilation[0])], 1)
    return net.result(y)


def depthwise(seed, shape, multiplier, kernel, stride=(1, 1), padding=SAME, activation=NONE, dilation=(1, 1)):
    net = Network(seed)
    x = net.input(shape)
    out_c = shape[3] * multiplier
    w = net.weights([1, *kernel, out_c], scales_of(out_c, net.rng), 3)
    height, width = (out_extent(shape[1 + i], kernel[i], stride[i], padding, dilation[i]) for i in range(2))
    y = net.tensor([shape[0], height, width, out_c], "int8", 0.07, -9)
    net.add(4, 3, [x, w, net.bias(out_c)], [y], [(1, padding), (4, stride[1]), (4, stride[0]), (4, multiplier), (1, activation),
                                                 (4, dilation[1]), (4, dilation[0])], 2)
    return net.result(y)


def dead_channels(seed, padding):
    """Convolutions with channels whose weights are all 0, and depthwise ones between them."""
    net = Network(seed)
    x, shape = net.input([1, 9, 8, 4]), [1, 9, 8, 4]
    for out_c, kernel, dead in (16, (1, 1), [1, 3, 4, 7, 9, 12, 13]), (0, (3, 3), []), (12, (3, 2), [0, 1, 2, 6, 11]), (0, (2, 2), []), (5, (1, 1), [2]):
        depth = out_c or shape[3]
        height, width = (out_extent(shape[1 + i], kernel[i], 1, padding, 1) for i in range(2))
        w = net.weights([out_c, *kernel, shape[3]] if out_c else [1, *kernel, depth], scales_of(depth, net.rng), 0 if out_c else 3)
        net.tensors[w]["data"][dead] = 0
        y = net.tensor([1, height, width, depth], "int8", 0.06, -128 if out_c else 7)
        common = [(1, padding), (4, 1), (4, 1)]
        activation = RELU if out_c else NONE
        net.add(3 if out_c else 4, 3, [x, w, net.bias(depth, spread=900)], [y], common + ([(1, activation), (4, 1), (4, 1)] if out_c else [(4, 1), (1, activation), (4, 1), (4, 1)]), 1 if out_c else 2)
        x, shape = y, [1, height, width, depth]
    return net.result(x)


def out_extent(extent, kernel, stride, padding, dilation):
    covers = (kernel - 1) * dilation + 1
    return -(-extent // stride) if padding == SAME else (extent - covers) // stride + 1


def pool(seed, code, shape, kernel, stride, padding, activation=NONE, zero=-3):
    net = Network(seed)
    x = net.input(shape, zero=zero)
    height, width = (out_extent(shape[1 + i], kernel[i], stride[i], padding, 1) for i in range(2))
    y = net.tensor([shape[0], height, width, shape[3]], "int8", 0.05, zero)
    net.add(code, 2, [x], [y], [(1, padding), (4, stride[1]), (4, stride[0]), (4, kernel[1]), (4, kernel[0]), (1, activation)], 5)
    return net.result(y)


def dense(seed, shape, out, activation=NONE, scale=0.01, out_scale=0.2, keep=False, bias=True):
    net = Network(seed)
    x = net.input(shape)
    columns = shape[-1] if keep else int(np.prod(shape[1:]))
    w = net.weights([out, columns], scale)
    y = net.tensor([*shape[:-1], out] if keep else [shape[0], out], "int8", out_scale, 7)
    net.add(9, 4, [x, w] + ([net.bias(out, 0.05 * scale)] if bias else [-1]), [y], [(1, activation), (1, 0), (1, int(keep))], 8)
    return net.result(y)


def binary(seed, code, kind, a_shape, b_shape, activation=NONE, scales=(0.05, 0.03, 0.09), zeros=(-3, 11, -20), constant=False):
    net = Network(seed)
    a = net.input(a_shape, scales[0], zeros[0])
    if constant:
        b = net.tensor(b_shape, "int8", scales[1], zeros[1], net.rng.integers(-128, 128, b_shape).astype(np.int8))
    else:
        b = net.input(b_shape, scales[1], zeros[1])
    y = net.tensor(np.broadcast_shapes(tuple(a_shape), tuple(b_shape)), "int8", scales[2], zeros[2])
    net.add(code, 2, [a, b], [y], [(1, activation)], kind)
    return net.result(y)


def unary(seed, code, version, shape, x=(0.05, -3), y=(0.05, -3), options=None, kind=0, constants=(), y_shape=None):
    net = Network(seed)
    inputs = [net.input(shape, *x)] + [net.ints(c) for c in constants]
    out = net.tensor(y_shape or shape, "int8", *y)
    net.add(code, version, inputs, [out], options, kind)
    return net.result(out)


def concatenation(seed, shapes, axis):
    net = Network(seed)
    inputs = [net.input(s) for s in shapes]
    shape = list(shapes[0])
    shape[axis] = sum(s[axis] for s in shapes)
    y = net.tensor(shape, "int8", 0.05, -3)
    net.add(2, 2, inputs, [y], [(4, axis), (1, NONE)], 10)
    return net.result(y)


def several(seed, code, version, shape, y_shapes, constants=(), options=None, kind=0, first=True):
    """One input, several outputs; the constants before the input or behind."""
    net = Network(seed)
    x, integers = net.input(shape), [net.ints(c) for c in constants]
    outputs = [net.tensor(y, "int8", 0.05, -3) for y in y_shapes]
    net.add(code, version, [x, *integers] if first else [*integers, x], outputs, options, kind)
    return net.result(*outputs)


def pack(seed, n, shape, axis):
    net = Network(seed)
    inputs = [net.input(shape) for _ in range(n)]
    y = net.tensor([*shape[:axis], n, *shape[axis:]], "int8", 0.05, -3)
    net.add(83, 2, inputs, [y], [(4, n), (4, axis)], 59)
    return net.result(y)


def extreme(seed, code, constant):
    net = Network(seed)
    x = net.input([1, 3, 3, 5])
    other = net.tensor([5], "int8", 0.05, -3, net.rng.integers(-128, 128, [5]).astype(np.int8)) if constant else net.input([1, 3, 3, 5])
    y = net.tensor([1, 3, 3, 5], "int8", 0.05, -3)
    net.add(code, 2, [x, other], [y], [], 39)
    return net.result(y)


def from_floats(seed):
    """QUANTIZE of floats, halves and extremes among them, then DEQUANTIZE of a sum."""
    net = Network(seed)
    x = net.input([4, 64], dtype="float32")
    q = net.tensor([4, 64], "int8", 0.125, 5)
    net.add(114, 1, [x], [q], [], 89)
    doubled = net.tensor([4, 64], "int8", 0.25, -7)
    net.add(0, 2, [q, q], [doubled], [(1, NONE)], 11)
    y = net.tensor([4, 64], "float32")
    net.add(6, 2, [doubled], [y], [], 38)
    return net.result(q, y)


def floats(seed):
    """The operators of floats, in a row."""
    net = Network(seed)
    x = net.input([1, 6, 6, 4], dtype="float32")
    c = net.tensor([1, 6, 6, 8], "float32")
    net.add(3, 1, [x, net.floats([8, 3, 3, 4]), net.floats([8])], [c], [(1, SAME), (4, 1), (4, 1), (1, RELU6), (4, 1), (4, 1)], 1)
    d = net.tensor([1, 3, 3, 8], "float32")
    net.add(4, 1, [c, net.floats([1, 3, 3, 8]), net.floats([8])], [d],
            [(1, SAME), (4, 2), (4, 2), (4, 1), (1, NONE), (4, 1), (4, 1)], 2)
    p = net.tensor([1, 2, 2, 8], "float32")
    net.add(1, 1, [d], [p], [(1, SAME), (4, 2), (4, 2), (4, 2), (4, 2), (1, NONE)], 5)
    m = net.tensor([1, 1, 1, 8], "float32")
    net.add(17, 1, [p], [m], [(1, VALID), (4, 1), (4, 1), (4, 2), (4, 2), (1, NONE)], 5)
    f = net.tensor([1, 5], "float32")
    net.add(9, 1, [m, net.floats([5, 8]), net.floats([5])], [f], [(1, NONE)], 8)
    a, b, s = (net.tensor([1, 5], "float32") for _ in range(3))
    net.add(98, 1, [f], [a], [("f", 0.1)], 75)
    net.add(18, 1, [a, f], [b], [(1, NONE)], 21)
    net.add(25, 1, [b], [s], [("f", 1.0)], 9)
    t, logistic = net.tensor([1, 5], "float32"), net.tensor([1, 5], "float32")
    net.add(28, 1, [f], [t])
    net.add(14, 1, [f], [logistic])
    return net.result(s, t, logistic)


def hybrid(seed, real):
    """Floats with weights of 8 bits, one scale or several; real: the same with the numbers that these stand for."""
    net = Network(seed)

    def weights(shape, scale, axis=0):
        w = net.weights(shape, scale, axis)
        if real:
            t = net.tensors[w]
            along = np.asarray(t["scale"], np.float32).reshape([-1 if i == axis else 1 for i in range(len(shape))])
            t.update(dtype=np.dtype("float32"), data=(t["data"] * along).astype(np.float32), scale=[])
        return w

    x = net.input([1, 6, 6, 4], dtype="float32")
    c = net.tensor([1, 6, 6, 8], "float32")
    net.add(3, 2, [x, weights([8, 3, 3, 4], 0.003), net.floats([8])], [c], [(1, SAME), (4, 1), (4, 1), (1, RELU), (4, 1), (4, 1)], 1)
    d = net.tensor([1, 3, 3, 8], "float32")
    net.add(4, 2, [c, weights([1, 3, 3, 8], scales_of(8, net.rng), 3), net.floats([8])], [d],
            [(1, SAME), (4, 2), (4, 2), (4, 1), (1, NONE), (4, 1), (4, 1)], 2)
    f = net.tensor([1, 5], "float32")
    net.add(9, 3, [d, weights([5, 72], 0.001), net.floats([5])], [f], [(1, NONE)], 8)
    return net.result(f)


def arg(seed, code, kind, shape, axis, dtype="int8"):
    net = Network(seed)
    x = net.input(shape, dtype=dtype)
    y = net.tensor([s for i, s in enumerate(shape) if i != axis % len(shape)], "int32")
    net.add(code, 2, [x, net.ints(axis)], [y], [(1, 2)], kind)
    return net.result(y)


def residual(seed):
    """A block as classifiers have it: two convolutions, their sum with the input, a pool, a dense layer, a softmax."""
    net = Network(seed)
    x = net.input([1, 8, 8, 8])
    last = x
    for scale, zero, activation in (0.06, -128, RELU), (0.09, 4, NONE):
        y = net.tensor([1, 8, 8, 8], "int8", scale, zero)
        w = net.weights([8, 3, 3, 8], scales_of(8, net.rng) / 3)
        net.add(3, 3, [last, w, net.bias(8)], [y], [(1, SAME), (4, 1), (4, 1), (1, activation), (4, 1), (4, 1)], 1)
        last = y
    total = net.tensor([1, 8, 8, 8], "int8", 0.05, -128)
    net.add(0, 2, [x, last], [total], [(1, RELU)], 11)
    mean = net.tensor([1, 1, 1, 8], "int8", 0.05, -128)
    net.add(1, 2, [total], [mean], [(1, VALID), (4, 8), (4, 8), (4, 8), (4, 8), (1, NONE)], 5)
    flat = net.tensor([1, 8], "int8", 0.05, -128)
    net.add(22, 1, [mean, net.ints([1, 8])], [flat], [None], 17)
    logits = net.tensor([1, 5], "int8", 0.1, 12)
    net.add(9, 4, [flat, net.weights([5, 8], 0.02), net.bias(5, 0.05 * 0.02)], [logits], [(1, NONE)], 8)
    shares = net.tensor([1, 5], "int8", 1 / 256, -128)
    net.add(25, 2, [logits], [shares], [("f", 1.0)], 9)
    return net.result(shares)


AVERAGE, MAX, ADD, SUB, MUL, CUSTOM = 1, 17, 0, 41, 18, 32


def networks():
    """NAME -> Network."""
    from control import control
    from formats import formats
    from operators import operators
    from signals import signals
    table = {
        **operators(), **formats(), **signals(), **control(),
        "conv_same": conv(1, [1, 7, 6, 3], 5, (3, 3)),
        "conv_stride": conv(2, [1, 9, 8, 4], 8, (3, 2), (2, 3), SAME, RELU),
        "conv_valid_relu6": conv(3, [2, 6, 6, 4], 4, (2, 2), (1, 1), VALID, RELU6),
        "conv_1x1_one_scale": conv(4, [1, 5, 5, 16], 16, (1, 1), one_scale=True),
        "conv_dilated": conv(5, [1, 9, 9, 2], 3, (3, 3), (1, 1), SAME, RELU_N1_TO_1, (2, 2)),
        "conv_groups": conv(6, [1, 5, 5, 8], 12, (3, 3), groups=4),
        "conv_no_bias": conv(7, [1, 4, 4, 3], 4, (3, 3), bias=False, out_scale=0.4),
        "conv_dead_channels": dead_channels(8, VALID),
        "conv_dead_channels_padded": dead_channels(9, SAME),
        "depthwise": depthwise(10, [1, 7, 7, 8], 1, (3, 3)),
        "depthwise_stride": depthwise(11, [1, 8, 9, 6], 1, (3, 3), (2, 2), SAME, RELU6),
        "depthwise_multiplier": depthwise(12, [1, 6, 6, 3], 4, (5, 3), (1, 1), VALID, RELU),
        "depthwise_from_one": depthwise(13, [1, 9, 8, 1], 8, (4, 3), (2, 2), SAME),
        "average": pool(20, AVERAGE, [1, 6, 6, 5], (2, 2), (2, 2), VALID),
        "average_same": pool(21, AVERAGE, [1, 7, 5, 5], (3, 3), (2, 2), SAME),
        "average_all": pool(22, AVERAGE, [1, 5, 7, 9], (5, 7), (1, 1), VALID, RELU, zero=-30),
        "maximum": pool(23, MAX, [1, 6, 7, 5], (2, 3), (2, 2), SAME, RELU6),
        "dense": dense(30, [1, 33], 9),
        "dense_relu": dense(31, [2, 4, 8], 16, RELU, scale=0.03),
        "dense_keeps_dims": dense(32, [1, 3, 16], 4, keep=True),
        "dense_no_bias": dense(33, [3, 20], 7, RELU6, bias=False),
        "dense_fine": dense(34, [1, 64], 32, scale=0.0173, out_scale=0.31),
        "add": binary(40, ADD, 11, [1, 4, 4, 6], [1, 4, 4, 6]),
        "add_channels": binary(41, ADD, 11, [1, 4, 4, 6], [6], RELU, constant=True),
        "add_alike": binary(42, ADD, 11, [3, 17], [3, 17], RELU6, (0.05, 0.05, 0.05)),
        "sub": binary(43, SUB, 28, [1, 4, 4, 6], [1, 1, 1, 6], NONE, (0.02, 0.07, 0.06)),
        "mul": binary(44, MUL, 21, [1, 4, 4, 6], [1, 4, 4, 6], NONE, (0.05, 0.03, 0.04)),
        "mul_number": binary(45, MUL, 21, [2, 31], [1], RELU, (0.05, 0.03, 0.04), constant=True),
        "softmax": unary(50, 25, 2, [3, 10], (0.1, 7), (1 / 256, -128), [("f", 1.0)], 9),
        "softmax_steep": unary(51, 25, 2, [2, 7], (0.9, 0), (1 / 256, -128), [("f", 2.5)], 9),
        "softmax_flat": unary(52, 25, 2, [1, 200], (0.004, -128), (1 / 256, -128), [("f", 1.0)], 9),
        "softmax_rank_4": unary(53, 25, 2, [1, 3, 2, 5], (0.05, 0), (1 / 256, -128), [("f", 0.5)], 9),
        "logistic": unary(54, 14, 2, [4, 64], (0.04, 3), (1 / 256, -128)),
        "logistic_coarse": unary(55, 14, 2, [4, 64], (0.31, -40), (1 / 256, -128)),
        "quantize": unary(56, 114, 2, [4, 64], (0.04, 3), (0.061, -17), [], 89),
        "quantize_finer": unary(57, 114, 2, [4, 64], (0.04, 3), (0.011, 5), [], 89),
        "tanh": unary(71, 28, 2, [4, 64], (0.04, 3), (1 / 128, 0)),
        "tanh_coarse": unary(72, 28, 2, [4, 64], (0.2, -40), (1 / 128, 0)),
        "relu": unary(73, 19, 2, [4, 64], (0.04, 3), (0.061, -128)),
        "relu_finer": unary(74, 19, 2, [4, 64], (0.04, 3), (0.0137, -20)),
        "relu6": unary(75, 21, 2, [4, 64], (0.05, -20), (0.05, -20)),
        "leaky_relu": unary(76, 98, 2, [4, 64], (0.04, 3), (0.031, 9), [("f", 0.3)], 75),
        "leaky_relu_negative": unary(77, 98, 2, [4, 64], (0.04, 3), (0.05, 9), [("f", -0.1)], 75),
        "slice": unary(78, 65, 2, [1, 5, 6, 3], y_shape=[1, 3, 6, 2], constants=([0, 1, 0, 1], [1, 3, -1, 2]), options=[], kind=48),
        "strided_slice": unary(79, 45, 2, [2, 7, 6, 3], y_shape=[1, 3, 3, 3], constants=([1, 0, -1, 0], [2, 6, 0, 3], [1, 2, -2, 1]),
                               options=[(4, 8), (4, 8), (4, 0), (4, 0), (4, 0)], kind=32),
        "strided_slice_shrinks": unary(80, 45, 1, [2, 7, 6], y_shape=[7, 2], constants=([1, 0, 3], [0, 0, 5], [1, 1, 1]),
                                       options=[(4, 2), (4, 2), (4, 0), (4, 0), (4, 1)], kind=32),
        "split": several(81, 49, 2, [2, 6, 4], [[2, 2, 4]] * 3, (1,), [(4, 3)], 35, first=False),
        "split_v": several(82, 102, 2, [2, 6, 4], [[2, 6, 1], [2, 6, 3]], ([1, -1], 2), [(4, 2)], 79),
        "unpack": several(83, 88, 2, [3, 5, 2], [[5, 2]] * 3, (), [(4, 3), (4, 0)], 64),
        "pack": pack(84, 3, [4, 5], 1),
        "maximum_of_two": extreme(85, 55, False),
        "minimum_of_channels": extreme(86, 57, True),
        "from_floats": from_floats(87),
        "floats": floats(88),
        "mean": unary(90, 40, 2, [1, 7, 7, 5], (0.05, -20), (0.05, -20), y_shape=[1, 5], constants=([1, 2],), options=[(1, 0)], kind=27),
        "mean_scaled": unary(91, 40, 2, [1, 5, 6, 5], (0.05, -20), (0.031, 7), y_shape=[1, 1, 1, 5], constants=([2, -3],),
                             options=[(1, 1)], kind=27),
        "mean_rows": unary(92, 40, 2, [3, 9, 4], (0.02, 11), (0.013, -50), y_shape=[3, 4], constants=([1],), options=[(1, 0)], kind=27),
        "hybrid": hybrid(93, False),
        "arg_max": arg(94, 56, 40, [3, 40], -1),
        "arg_min": arg(95, 79, 57, [2, 5, 6], 1),
        "arg_max_of_floats": arg(96, 56, 40, [3, 40], 1, "float32"),
        "nearest": unary(97, 97, 2, [1, 3, 4, 5], y_shape=[1, 7, 8, 5], constants=([7, 8],), options=[(1, 0), (1, 0)], kind=74),
        "nearest_corners": unary(98, 97, 2, [1, 3, 4, 5], y_shape=[1, 7, 9, 5], constants=([7, 9],), options=[(1, 1), (1, 0)], kind=74),
        "nearest_half": unary(99, 97, 2, [1, 6, 5, 2], y_shape=[1, 4, 9, 2], constants=([4, 9],), options=[(1, 0), (1, 1)], kind=74),
        "reshape": unary(60, 22, 1, [1, 4, 6], y_shape=[2, 12], constants=([2, 12],), options=[None], kind=17),
        "transpose": unary(61, 39, 2, [2, 3, 4], y_shape=[4, 2, 3], constants=([2, 0, 1],), options=[], kind=26),
        "pad": unary(62, 34, 2, [1, 3, 4, 2], y_shape=[1, 6, 5, 2], constants=([[0, 0], [1, 2], [1, 0], [0, 0]],), options=[], kind=22),
        "concatenation": concatenation(63, [[1, 2, 3, 4], [1, 2, 3, 2]], 3),
        "concatenation_rows": concatenation(64, [[2, 5], [1, 5], [3, 5]], 0),
        "residual": residual(70),
    }
    return {**table, **{name: net for name, net in streaming.make(Network, scales_of).items() if not name.endswith("_twin")}}


# TensorFlow Lite Micro refuses hybrid networks: it is asked for the same network in floats.
TWINS = {"hybrid": hybrid(93, True), **{name.removesuffix("_twin"): net for name, net in streaming.make(Network, scales_of).items()
                                        if name.endswith("_twin")}}


def main():
    folder = Path(sys.argv[1])
    outputs = json.loads((Path(__file__).parent / "outputs.json").read_text())
    for name, net in networks().items():
        to = folder / name
        to.mkdir(parents=True, exist_ok=True)
        (to / "model.tflite").write_bytes(net.bytes())
        for i, array in enumerate(net.data()):
            np.save(to / f"input_{i}.npy", array)
        for i, t in enumerate(net.outputs):
            t = net.tensors[t]
            data = np.frombuffer(bytes.fromhex(outputs[name][i]), t["dtype"]).reshape([STEPS, *t["shape"]])
            np.save(to / f"output_{i}.npy", data)


if __name__ == "__main__":
    main()
