#!/usr/bin/env python3
"""--rounding onnx against ONNX Runtime, bit for bit (docs/guide/qdq.md); tests/e2e/run_rounding says with which relayc.

    rounding.py RELAYC FOLDER                what a make check runs: operators, and a small network
    rounding.py RELAYC FOLDER MODEL          of a folder with io/input_0.npy: a network in f32, quantised here
    rounding.py --network FILE.onnx          writes the small network, quantised

Scales of operators are powers of two, so that the float form is exact, up to the sum, and many of its results lie in
the middle between two steps: what rounds otherwise is found out, and the test says so itself (--rounding fixed must
differ). The network has scales as they come; there ONNX Runtime's integers (QLinearConv ...) are what is wanted.
"""
import logging
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

random = np.random.default_rng(7)
failures = 0
LEVELS = onnxruntime.GraphOptimizationLevel


def report(what, found, wanted):
    """Bit-equal, or how many are not."""
    global failures
    differ = sum(int(np.sum(f.reshape(-1) != w.reshape(-1))) for f, w in zip(found, wanted))
    total = sum(w.size for w in wanted)
    failures += differ > 0
    print(f"{'FAIL' if differ else 'ok'} {what}: {differ} of {total} differ")


def onnx_runtime(model, x, level=LEVELS.ORT_DISABLE_ALL):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = level
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    return session.run(None, {session.get_inputs()[0].name: x})


def relayc(program, model, x, *options):
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/x.npy", x)
        files = [f"{folder}/{i}.npy" for i in range(len(onnx.load(model).graph.output))]
        outputs = [word for file in files for word in ("-o", file)]
        subprocess.run([program, "run", "-q", str(model), "-i", f"{folder}/x.npy", *outputs, *options], check=True)
        return [np.load(file) for file in files]


# --- operators --------------------------------------------------------------------------------------------------------


def few(shape, terms=12):
    """1 and -1, about `terms` in a sum: which then is short of what saturates, and often a tie."""
    n = np.prod(shape[1:]) if len(shape) != 2 else max(shape)
    return random.choice([-1, 1], shape) * (random.random(shape) < terms / n)


class Graph:
    """One input `x` of floats; every branch ends in codes, which are an output."""

    def __init__(self, shape):
        self.nodes, self.constants, self.outputs, self.n = [], [], [], 0
        self.x = helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)

    def constant(self, array):
        self.n += 1
        self.constants.append(numpy_helper.from_array(np.asarray(array), f"c{self.n}"))
        return f"c{self.n}"

    def node(self, op, inputs, domain="", **attributes):
        self.n += 1
        self.nodes.append(helper.make_node(op, inputs, [f"v{self.n}"], domain=domain, **attributes))
        return f"v{self.n}"

    def affine(self, scale, zero, dtype):
        return self.constant(np.float32(scale)), self.constant(dtype(zero))

    def quantize(self, x, scale, zero, dtype=np.int8):
        return self.node("QuantizeLinear", [x, *self.affine(scale, zero, dtype)])

    def dequantize(self, x, scale, zero, dtype=np.int8, **axis):
        scale = self.constant(np.asarray(scale, np.float32))
        return self.node("DequantizeLinear", [x, scale, self.constant(np.asarray(zero, dtype))], **axis)

    def weight(self, shape, scale, dtype=np.int8):
        w = self.constant(few(shape).astype(dtype))
        zeros = np.zeros(np.shape(scale), dtype)
        return self.dequantize(w, scale, zeros, dtype, **({"axis": 0} if np.ndim(scale) else {}))

    def bias(self, scale):
        scale = np.asarray(scale, np.float32)
        b = self.constant(random.integers(-90, 91, scale.shape).astype(np.int32))
        return self.dequantize(b, scale, np.zeros(scale.shape), np.int32, axis=0)

    def end(self, x, scale=None, zero=0, dtype=np.int8):
        y = x if scale is None else self.quantize(x, scale, zero, dtype)
        self.outputs.append(helper.make_tensor_value_info(y, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), None))

    def save(self, path):
        graph = helper.make_graph(self.nodes, "rounding", [self.x], self.outputs, self.constants)
        opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
        onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=10), path)


def products(path, dtype, zero):
    """Sums that f32 holds, of 16 channels and of 5: by vectors and without."""
    g = Graph([1, 16, 6, 6])
    codes = g.quantize("x", 0.25, zero, dtype)
    x = g.dequantize(codes, 0.25, zero, dtype)
    for channels in (16, 5):
        per_channel = 2.0 ** random.integers(0, 2, channels)
        conv = g.node("Conv", [x, g.weight([channels, 16, 3, 3], per_channel), g.bias(0.25 * per_channel)], pads=[1] * 4)
        g.end(conv, 1, zero, dtype)
        g.end(g.node("Relu", [conv]), 1, np.iinfo(dtype).min, dtype)
        one = g.node("Conv", [x, g.weight([channels, 16, 1, 1], 1), g.bias([0.25] * channels)], strides=[2, 2])
        g.end(one, 1, 3, dtype)
        g.end(g.node("Clip", [one, g.constant(np.float32(-30)), g.constant(np.float32(60))]), 0.5, 3, dtype)
        row = g.node("Reshape", [x, g.constant(np.int64([1, 576]))])
        g.end(g.node("MatMul", [row, g.weight([576, channels], 1)]), 0.5, zero, dtype)
        g.end(g.node("Gemm", [row, g.weight([channels, 576], 1), g.bias([0.25] * channels)], transB=1), 0.5, 1, dtype)
    depthwise = g.node("Conv", [x, g.weight([16, 1, 3, 3], 2.0 ** random.integers(0, 2, 16))], group=16, pads=[1] * 4)
    g.end(depthwise, 1, 5, dtype)
    other = g.dequantize(g.quantize(g.node("Transpose", [x], perm=[0, 1, 3, 2]), 0.5, 1, dtype), 0.5, 1, dtype)
    g.end(g.node("MatMul", [x, other]), 32, 0 if dtype == np.int8 else 128, dtype)
    # In operators of their own
    w = g.constant(few([16, 16, 3, 3]).astype(np.int8))
    scales = [g.constant(np.float32(0.25)), g.constant(dtype(zero))], [g.constant(np.float32(0.5)), g.constant(np.int8(0))]
    bias = g.constant(random.integers(-90, 91, 16).astype(np.int32))
    g.end(g.node("QLinearConv", [codes, *scales[0], w, *scales[1], *g.affine(0.5, zero, dtype), bias]), dtype=dtype)
    w = g.constant(few([6, 8], 3).astype(np.int8))
    g.end(g.node("QLinearMatMul", [codes, *scales[0], w, *scales[1], *g.affine(0.25, 1, dtype)]), dtype=dtype)
    g.save(path)
    return (random.integers(-128, 128, [1, 16, 6, 6]) / 4).astype("f")


def others(path, dtype, zero):
    """Sums, products of two activations, averages, other scales, one operand along an axis."""
    g = Graph([1, 16, 6, 6])
    a_codes = g.quantize("x", 0.25, zero, dtype)
    b_codes = g.quantize(g.node("Neg", ["x"]), 0.5, 3, dtype)
    a, b = g.dequantize(a_codes, 0.25, zero, dtype), g.dequantize(b_codes, 0.5, 3, dtype)
    channel = g.constant((random.integers(-9, 10, [16, 1, 1]) / 4).astype("f"))
    for op in ("Add", "Sub", "Mul"):
        g.end(g.node(op, [a, b]), 2, zero, dtype)
        g.end(g.node(op, [a, channel]), 1, 1, dtype)
        g.end(g.node(op, [a, a]), 2, zero, dtype)
    g.end(g.node("Relu", [g.node("Add", [a, b])]), 0.5, np.iinfo(dtype).min, dtype)
    g.end(a, 0.5, 7, dtype)
    g.end(g.node("Concat", [a, b], axis=1), 1, 1, dtype)
    g.end(g.node("Max", [a, b]), 1, 1, dtype)
    g.end(g.node("MaxPool", [a], kernel_shape=[2, 2]), 0.5, 3, dtype)
    g.end(g.node("AveragePool", [a], kernel_shape=[2, 2], strides=[2, 2]), 0.25, zero, dtype)
    g.end(g.node("GlobalAveragePool", [g.node("Slice", [a, *(g.constant(np.int64(i)) for i in ([0, 0], [4, 4], [2, 3]))])]), 0.25, zero, dtype)  # fmt: skip
    g.end(g.node("Resize", [a, "", g.constant(np.float32([1, 1, 2, 2]))], mode="linear"), 0.5, 1, dtype)
    g.end(g.node("ReduceMean", [a, g.constant(np.int64([3]))], keepdims=1), 0.75, 1, dtype)
    g.end(g.node("Sigmoid", [a]), 1 / 256, np.iinfo(dtype).min, dtype)
    g.end(g.node("Add", [a, b]), 1 / 64, 9, np.int16)
    # As ONNX Runtime has it, the zero point is added before rounding: even ones keep ties what they are.
    g.end(g.node("QLinearAdd", [a_codes, *g.affine(0.25, zero, dtype), b_codes, *g.affine(0.5, 3, dtype),
                                *g.affine(2, 2, dtype)], domain="com.microsoft"), dtype=dtype)  # fmt: skip
    g.save(path)
    return (random.integers(-128, 128, [1, 16, 6, 6]) / 4).astype("f")


def check_operators(program, folder):
    for make in (products, others):
        for dtype, zero in ((np.int8, -6), (np.uint8, 122)):
            path = folder / f"{make.__name__}_{dtype.__name__}.onnx"
            x = make(path, dtype, zero)
            wanted = onnx_runtime(path, x)
            name = f"{make.__name__} of {dtype.__name__}"
            for how in (["reference"], ["generated", "--target", "host"], ["generated", "--deterministic"]):
                report(f"{name}, {' '.join(how)}", relayc(program, path, x, "--rounding", "onnx", "--with", *how), wanted)
            fixed = relayc(program, path, x, "--rounding", "fixed", "--with", "reference")
            ties = sum(int(np.sum(f.reshape(-1) != w.reshape(-1))) for f, w in zip(fixed, wanted))
            total = sum(w.size for w in wanted)
            print(f"   of --rounding fixed {ties} of {total} differ")
            if ties < 0.02 * total:
                report(f"{name} has too few ties", [np.zeros(1)], [np.ones(1)])


# --- networks ---------------------------------------------------------------------------------------------------------


class Samples(CalibrationDataReader):
    def __init__(self, name, samples):
        self.samples = iter([{name: x[None]} for x in samples])

    def get_next(self):
        return next(self.samples, None)


def small_network(path):
    """Blocks of a MobileNet: convolution, depthwise and pointwise ones, a residual, an average, a dense layer."""
    nodes, constants = [], []

    def floats(*shape):
        constants.append(numpy_helper.from_array((random.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype("f"), f"w{len(constants)}"))  # fmt: skip
        return constants[-1].name

    def node(op, inputs, **attributes):
        nodes.append(helper.make_node(op, inputs, [f"v{len(nodes)}"], **attributes))
        return nodes[-1].output[0]

    def conv(x, channels, of, k, **attributes):
        w, b = floats(channels, of, k, k), floats(channels)
        return node("Relu", [node("Conv", [x, w, b], pads=[k // 2] * 4, **attributes)])

    x = conv("x", 16, 3, 3, strides=[2, 2])
    for channels, stride in ((32, 1), (32, 2), (48, 1)):
        n = constants[-1].dims[0]
        x = conv(conv(x, n, 1, 3, group=n, strides=[stride] * 2), channels, n, 1)
    x = node("GlobalAveragePool", [x])
    x = node("Flatten", [x])
    nodes.append(helper.make_node("Gemm", [x, floats(10, 48), floats(10)], ["logits"], transB=1))
    info = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "small", [info("x", TensorProto.FLOAT, [1, 3, 24, 24])],
                              [info("logits", TensorProto.FLOAT, [1, 10])], constants)  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def quantise(model, path, samples, activations, per_channel):
    """With weights of 7 bits: ONNX Runtime's sums saturate on processors without VNNI otherwise."""
    name = onnx.load(model).graph.input[0].name
    quantize_static(str(model), str(path), Samples(name, samples), quant_format=QuantFormat.QDQ, per_channel=per_channel,
                    reduce_range=True, activation_type=activations, weight_type=QuantType.QInt8)  # fmt: skip


def codes_of(model, path, all_of_them):
    """What a network gives before its last dequantize, and before a softmax, which is one of floats; also what its
    layers give, as results of their own: ONNX Runtime has no integers for these where they are signed, on x86."""
    m = onnx.shape_inference.infer_shapes(onnx.load(model))
    by_name = {n.output[0]: n for n in m.graph.node}
    name = m.graph.output[0].name
    softmax = [n for n in m.graph.node if n.op_type == "Softmax"]
    if softmax:
        name = softmax[-1].input[0]
    while by_name[name].op_type != "QuantizeLinear":
        name = by_name[name].input[0]
    names = [n.output[0] for n in m.graph.node if n.op_type == "QuantizeLinear" and n.output[0] != name
             and not (n.input[0] in by_name and by_name[n.input[0]].op_type == "Softmax")]  # fmt: skip
    del m.graph.output[:]
    for shown in [name, *(names if all_of_them else [])]:
        m.graph.output.extend(v for v in m.graph.value_info if v.name == shown)
    while m.graph.node[-1].output[0] not in {o.name for o in m.graph.output}:
        del m.graph.node[-1]
    onnx.save(m, path)


def every(run, tests):
    return [y for x in tests for y in run(x[None])]


def check_network(program, folder, model, samples, stem, tests):
    prepared = folder / f"{stem}_prepared.onnx"
    quant_pre_process(str(model), str(prepared), skip_symbolic_shape=True)
    for activations in (QuantType.QUInt8, QuantType.QInt8):
        for per_channel in (True, False):
            name = f"{stem}_{activations.name}{'_per_channel' if per_channel else ''}"
            path, codes = folder / f"{name}.onnx", folder / f"{name}_codes.onnx"
            quantise(prepared, path, samples, activations, per_channel)
            codes_of(path, codes, activations == QuantType.QUInt8)
            plain = every(lambda x: onnx_runtime(codes, x), tests)
            wanted = every(lambda x: onnx_runtime(codes, x, LEVELS.ORT_ENABLE_ALL), tests)
            for how in (["reference"], ["generated", "--target", "host"]):
                found = every(lambda x: relayc(program, codes, x, "--rounding", "onnx", "--with", *how), tests)
                report(f"{name}, {how[0]}", found, wanted)
            fixed = every(lambda x: relayc(program, codes, x, "--rounding", "fixed", "--with", "reference"), tests)
            share = [100 * np.mean(np.concatenate([(a != b).ravel() for a, b in zip(wanted, other)])) for other in (fixed, plain)]  # fmt: skip
            print(f"   of --rounding fixed {share[0]:.3f} % differ, of ONNX Runtime's float form {share[1]:.3f} %")


def main():
    logging.disable(logging.WARNING)
    onnxruntime.set_default_logger_severity(3)
    if sys.argv[1] == "--network":
        with tempfile.TemporaryDirectory() as folder:
            small_network(f"{folder}/small.onnx")
            quantise(f"{folder}/small.onnx", sys.argv[2], random.standard_normal([8, 3, 24, 24]).astype("f"), QuantType.QUInt8, True)  # fmt: skip
        return
    program, folder = sys.argv[1], Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    if len(sys.argv) > 3:
        model = Path(sys.argv[3])
        images = np.concatenate([np.load(file) for file in sorted(model.glob("io*/input_0.npy"))])
        images = np.concatenate([images, images[..., ::-1], images[..., ::-1, :], np.roll(images, 20, -1) * np.float32(0.8)])
        check_network(program, folder, model / "model.onnx", images, model.name, images[-3:])
    else:
        check_operators(program, folder)
        small_network(folder / "small.onnx")
        samples = random.standard_normal([12, 3, 24, 24]).astype("f")
        check_network(program, folder, folder / "small.onnx", samples[:-2], "small", samples[-2:])
    sys.exit(failures > 0)


main()
