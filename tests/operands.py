#!/usr/bin/env python3
"""operands.py RELAYC: where the operands of a region lie, on random networks.

Regions whose element-wise operands have other strides than their result: residuals in a slot of a
concatenation while the result is dense, the other way round, and each in a slot of its own; pieces of splits and
slices; gates by channel and by pixel; masks; several of them in a chain, behind every kind of anchor. Each network
is compiled in one way (precision, processor, options), its C is built and run here, and the results are compared:
in f32 with ONNX Runtime (onnx's reference evaluator where that is not installed) on the file as it is, in small
numbers with relayc's reference evaluator.

A failing network stays in the folder that --keep names."""

import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

CHANNELS = [1, 2, 3, 5, 8, 16, 16, 17, 24, 32, 33]
MOST_CHANNELS = 96

PRECISIONS = ["f32"] * 6 + ["fp8"] * 5 + [
    "fp8=f8e5m2", "fp8=f8e3m4", "fp8=f8e4m3,f8e5m2", "fp8-integer", "fp8w", "fp8w", "int8", "int8", "int8",
    "int8w", "f16w", "bf16w", "afp", "mxfp8", "mxfp4"]
TARGETS = ["host"] * 4 + [
    "generic", "generic", "x86-64", "x86-64-v3", "x86-64-v4", "sapphirerapids", "znver4", "znver5", "aarch64",
    "armv7", "cortex-m0", "cortex-m4", "cortex-m55", "cortex-m7", "rv32imc", "rv64gc", "rv64gcv", "wasm32"]
OPTIONS = [[]] * 5 + [
    ["--ram"], ["--ram"], ["--parallel", "3"], ["--optimize", "size"], ["--deterministic"], ["--winograd", "f2"],
    ["--winograd", "f4"], ["--io-in-arena"], ["--skip-zeros", "off"], ["--pool"]]


class Network:
    """A random network: tensors of one height and width are drawn, put together, split and used again."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.nodes, self.constants, self.tensors, self.n = [], [], [], 0
        self.batch = self.random.choice([1, 1, 1, 2])
        self.h, self.w = self.random.choice([(4, 4), (6, 5), (7, 7), (5, 18), (12, 10), (24, 6)])
        self.channels = self.random.choice(CHANNELS[2:])

    def name(self, stem):
        self.n += 1
        return f"{stem}{self.n}"

    def constant(self, array, stem="w"):
        name = self.name(stem)
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def weights(self, *shape):
        fan_in = max(1, int(np.prod(shape[1:])))
        return self.constant((self.numbers.standard_normal(shape) / np.sqrt(fan_in)).astype(np.float32))

    def node(self, op, inputs, n_outputs=1, **attributes):
        outputs = [self.name(op.lower()) for _ in range(n_outputs)]
        self.nodes.append(helper.make_node(op, inputs, outputs, name=outputs[0], **attributes))
        return outputs[0] if n_outputs == 1 else outputs

    def add(self, name, channels):
        self.tensors.append((name, channels))
        return name, channels

    def any(self, channels=None):
        fits = [t for t in self.tensors if channels in (None, t[1])]
        return self.random.choice(fits[-8:]) if fits else None

    # --- anchors: a tensor of the network's height and width from another -----------------------------------

    def conv(self, x, channels, k, groups=1, **attributes):
        pad = (k - 1) // 2 * attributes.get("dilations", [1])[0]
        bias = [self.constant(self.numbers.standard_normal(channels).astype(np.float32) / 4, "b")]
        return self.node("Conv", [x[0], self.weights(channels, x[1] // groups, k, k)] + bias, kernel_shape=[k, k],
                         pads=[pad] * 4, group=groups, **attributes)

    def same_size(self, x, channels):
        """A tensor of so many channels, if the kind of anchor can change their number."""
        kind = self.random.choice(["1x1"] * 3 + ["3x3"] * 4 + ["dilated", "grouped", "depthwise", "depthwise",
                                                                "multiplied", "5x5", "strided", "transposed", "max",
                                                                "average", "none", "none", "softmax", "norm",
                                                                "product", "1d"])
        c = x[1]
        if kind == "1x1":
            return self.conv(x, channels, 1), channels
        if kind == "3x3":
            return self.conv(x, channels, 3), channels
        if kind == "5x5":
            return self.conv(x, channels, 5), channels
        if kind == "dilated":
            return self.conv(x, channels, 3, dilations=[2, 2]), channels
        if kind == "grouped":
            for groups in (4, 3, 2):
                if c % groups == 0 and channels % groups == 0:
                    return self.conv(x, channels, self.random.choice([1, 3]), groups), channels
            return self.conv(x, channels, 3), channels
        if kind == "depthwise":
            return self.conv(x, c, self.random.choice([3, 3, 5]), c), c
        if kind == "multiplied":
            return self.conv(x, 2 * c, 3, c), 2 * c
        if kind in ("strided", "transposed"):
            if self.h % 2 or self.w % 2:
                return self.conv(x, channels, 3), channels
            down = self.conv(x, channels, 3, strides=[2, 2])
            if kind == "strided":
                mode = self.random.choice([("nearest", "asymmetric"), ("linear", "half_pixel")])
                scales = self.constant(np.array([1, 1, 2, 2], np.float32), "scales")
                return self.node("Resize", [down, "", scales], mode=mode[0],
                                 coordinate_transformation_mode=mode[1]), channels
            return self.node("ConvTranspose", [down, self.weights(channels, channels, 2, 2)], kernel_shape=[2, 2],
                             strides=[2, 2]), channels
        if kind == "max":
            return self.node("MaxPool", [x[0]], kernel_shape=[3, 3], pads=[1] * 4), c
        if kind == "average":
            return self.node("AveragePool", [x[0]], kernel_shape=[3, 3], pads=[1] * 4,
                             count_include_pad=self.random.choice([0, 1])), c
        if kind == "softmax":
            return self.node("Softmax", [x[0]], axis=self.random.choice([1, 3])), c
        if kind == "norm":
            return self.node("InstanceNormalization",
                             [x[0], self.constant(np.ones(c, np.float32)), self.constant(np.zeros(c, np.float32))]), c
        if kind == "product":
            return self.node("MatMul", [x[0], self.weights(self.w, self.w)]), c
        if kind == "1d":
            return self.node("Conv", [x[0], self.weights(channels, c, 1, 3)], kernel_shape=[1, 3],
                             pads=[0, 1, 0, 1]), channels
        return x

    # --- what stands behind an anchor ------------------------------------------------------------------------

    def gate(self, channels):
        """[batch, channels, 1, 1]: usually a part of a concatenation or a piece of a split."""
        x = self.any()
        pooled = (self.node("GlobalAveragePool", [x[0]]), x[1])
        if self.random.random() < 0.5:
            both = self.node("Sigmoid", [self.conv(pooled, 2 * channels, 1)])
            return self.node("Split", [both, self.constant(np.array([channels, channels], np.int64), "split")], 2,
                             axis=1)[self.random.randrange(2)]
        return self.node("Sigmoid", [self.conv(pooled, channels, 1)])

    def operand(self, channels):
        kind = self.random.choice(["tensor"] * 8 + ["gate", "pixels", "constant", "number", "plane"])
        found = self.any(channels)
        if kind == "tensor" and found:
            return found[0]
        if kind == "gate":
            return self.gate(channels)
        if kind == "pixels":
            return self.node("Sigmoid", [self.conv(self.any(), 1, 1)])
        if kind == "number":
            return self.constant(np.array(0.5, np.float32))
        shape = (1, 1, self.h, self.w) if kind == "plane" else (1, channels, 1, 1)
        return self.constant(self.numbers.standard_normal(shape).astype(np.float32))

    def element_wise(self, x, channels):
        kind = self.random.choice(["Add"] * 6 + ["Sub", "Mul", "Mul", "Max", "Where"])
        if kind == "Where":
            other = self.operand(channels)
            mask = self.node("Greater", [self.operand(channels), self.constant(np.array(0.1, np.float32))])
            pair = [x, other] if self.random.random() < 0.5 else [other, x]
            y = self.node("Where", [mask] + pair)
        else:
            pair = [x, self.operand(channels)]
            self.random.shuffle(pair)
            y = self.node(kind, pair)
        return y

    def activation(self, x):
        kind = self.random.choice(["", "", "Relu", "Relu", "silu", "LeakyRelu", "HardSwish", "clip"])
        if kind == "":
            return x
        if kind == "silu":
            return self.node("Mul", [x, self.node("Sigmoid", [x])])
        if kind == "clip":
            return self.node("Clip", [x, self.constant(np.array(-1, np.float32)), self.constant(np.array(6, np.float32))])
        return self.node(kind, [x])

    # --- steps -----------------------------------------------------------------------------------------------

    def block(self):
        x = self.any()
        others = self.any()
        channels = others[1] if self.random.random() < 0.7 else self.random.choice(CHANNELS)
        y, channels = self.same_size(x, channels)
        y = self.activation(y)
        for _ in range(self.random.choice([0, 1, 1, 1, 2, 3])):
            y = self.activation(self.element_wise(y, channels))
        if y == x[0]:
            y = self.node("Relu", [y])
        self.add(y, channels)

    def concat(self):
        n = self.random.choice([2, 2, 2, 3, 4])
        parts = [self.tensors[-1]] + [self.any() for _ in range(n - 1)]
        self.random.shuffle(parts)
        if sum(p[1] for p in parts) <= MOST_CHANNELS:
            self.add(self.node("Concat", [p[0] for p in parts], axis=1), sum(p[1] for p in parts))

    def split(self):
        x = self.any()
        if x[1] < 2:
            return
        if self.random.random() < 0.4:
            at = self.random.randrange(1, x[1])
            begin, end = (0, at) if self.random.random() < 0.3 else (at, x[1])
            integers = [self.constant(np.array([v], np.int64), "i") for v in (begin, end, 1)]
            self.add(self.node("Slice", [x[0], *integers]), end - begin)
            return
        sizes = [x[1] // 2, x[1] - x[1] // 2]
        if x[1] > 4 and self.random.random() < 0.4:
            sizes = [x[1] // 4, x[1] // 2, x[1] - x[1] // 4 - x[1] // 2]
        for name, c in zip(self.node("Split", [x[0], self.constant(np.array(sizes, np.int64), "split")], len(sizes),
                                     axis=1), sizes):
            self.add(name, c)

    def model(self):
        shape = [self.batch, self.channels, self.h, self.w]
        self.add(self.conv(("x", self.channels), self.random.choice(CHANNELS[3:]), 3), 0)
        self.tensors[0] = (self.tensors[0][0], self.constants[0].dims[0])
        for _ in range(self.random.choice([5, 8, 11])):
            self.random.choice([self.block] * 5 + [self.concat] * 3 + [self.split])()
        read = {name for node in self.nodes for name in node.input}
        results = []
        for name in [o for node in self.nodes for o in node.output]:
            if name not in read:
                known = [t for t in self.tensors if t[0] == name]
                results.append(self.conv(known[0], 3, 1) if known and self.random.random() < 0.7 else name)
        graph = helper.make_graph(
            self.nodes, "operands", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
            [helper.make_tensor_value_info(r, TensorProto.FLOAT, None) for r in results], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        for node in model.graph.node:
            node.doc_string = ""
        model = onnx.shape_inference.infer_shapes(model)
        onnx.checker.check_model(model)
        return model, self.numbers.uniform(-2, 2, shape).astype(np.float32)


def outputs_of_onnx(path, x):
    try:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except ImportError:
        from onnx.reference import ReferenceEvaluator

        session = ReferenceEvaluator(str(path))
    return session.run(None, {"x": x})


class Failure(Exception):
    pass


def run(relayc, work, network, options, how, extra_env=None):
    prefix = work / how
    names = [f"{prefix}_{i}.npy" for i in range(network["results"])]
    command = [relayc, "run", str(network["path"]), "-i", str(network["input"]), "--with", how, "-q", *options]
    for name in names:
        command += ["-o", name]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **(extra_env or {})})
    if done.returncode:
        raise Failure(f"{' '.join(command)}\n{done.stderr[-1500:]}")
    return [np.load(name) for name in names]


def ram_of(relayc, work, network, options):
    """--ram with as little as layers in stripes can do with; nothing where they do not help."""
    whole = arena_of(relayc, work, network, options)
    try:
        arena_of(relayc, work, network, [*options, "--ram", str(whole // 2)])
        return ["--ram", str(whole // 2)]
    except Failure as failure:
        found = re.search(r"the arena takes (\d+) bytes", str(failure))
        return ["--ram", found[1]] if found and int(found[1]) < whole else []


def arena_of(relayc, work, network, options):
    done = subprocess.run([relayc, "compile", str(network["path"]), "-o", str(work / "c"), "--name", "m", "-q", *options],
                          capture_output=True, text=True)
    if done.returncode:
        raise Failure(done.stderr[-1500:])
    return json.loads((work / "c" / "m.json").read_text())["arena"]["bytes"]


def options_of(relayc, work, network, precision, target, extra):
    """The options, and how many of them decide about the graph."""
    options = ["--precision", precision.replace("-integer", "")]
    if precision.endswith("-integer"):
        options += ["--arithmetic", "integer"]
    if precision == "int8" or precision.endswith("-integer"):
        table = work / "calib.json"
        subprocess.run([relayc, "calibrate", str(network["path"]), "--data", str(network["input"].with_name("data")),
                        "-o", str(table), "-q", "--threads", "1"], check=True, capture_output=True)
        options += ["--calib", str(table)]
    of_graph = len(options)
    options += ["--target", target]
    if extra == ["--ram"]:
        extra = ram_of(relayc, work, network, options)
    if extra == ["--pool"]:
        most = arena_of(relayc, work, network, options) * 6 // 10
        extra = ["--pool", f"fast={most},fast", "--pool", f"slow={8 * most},slow"]
    return options + extra, of_graph


def difference(got, wanted):
    """Of the whole: what lies at another place is wrong everywhere, a number rounded otherwise is one of many."""
    if got.shape != wanted.shape:
        return float("inf")
    got, wanted = got.astype(np.float64), wanted.astype(np.float64)
    if not np.isfinite(got).all():
        return float("inf")
    return float(np.linalg.norm(got - wanted) / max(np.linalg.norm(wanted), 1e-20))


def check(relayc, folder, seed, precision, target, extra, keep):
    work = pathlib.Path(tempfile.mkdtemp(dir=folder))
    model, x = Network(seed).model()
    network = {"path": work / "net.onnx", "input": work / "x.npy", "results": len(model.graph.output)}
    onnx.save(model, network["path"])
    np.save(network["input"], x)
    (work / "data").mkdir()
    np.save(work / "data" / "x.npy", x)
    (work / "c").mkdir()
    what = f"seed {seed} --precision {precision} --target {target} {' '.join(extra)}"
    try:
        options, of_graph = options_of(relayc, work, network, precision, target, extra)
        got = run(relayc, work, network, options, "generated")
        wanted = run(relayc, work, network, options[:of_graph], "reference")
        limit = {"f32": 2e-4, "fp8w": 2e-4, "int8w": 2e-4, "f16w": 2e-4, "bf16w": 2e-4, "afp": 2e-4, "mxfp8": 2e-4,
                 "mxfp4": 2e-4}.get(precision, 0.02)
        worst = max(difference(g, w) for g, w in zip(got, wanted))
        said = [] if worst <= limit else [f"{what}: {worst:.2e} from the reference evaluator"]
        if precision == "f32":
            true = outputs_of_onnx(network["path"], x)
            passes = max(difference(w, t) for w, t in zip(wanted, true))
            code = max(difference(g, t) for g, t in zip(got, true))
            if code > limit:
                said.append(f"{what}: {code:.2e} from ONNX (the graph after passes: {passes:.2e})")
    except Failure as failure:
        said = [f"{what}: {failure}"]
    if said and keep:
        kept = pathlib.Path(keep) / f"{seed}_{precision}_{target}"
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(work, kept)
    shutil.rmtree(work)
    return said


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("relayc")
    parser.add_argument("--networks", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--precision", default="")
    parser.add_argument("--target", default="")
    parser.add_argument("--option", default="")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--keep", default="")
    args = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="operands-")
    wrapper = pathlib.Path(folder) / "cc"
    wrapper.write_text('#!/bin/sh\nfor a; do shift; [ "$a" = -O3 ] && a=-O1; set -- "$@" "$a"; done\nexec cc -Wshadow -Werror=shadow "$@"\n')
    wrapper.chmod(0o755)
    os.environ["CC"] = str(wrapper)
    jobs = []
    for seed in range(args.seed, args.seed + args.networks):
        chosen = random.Random(1000003 + seed)
        precision, target, option = (chosen.choice(PRECISIONS), chosen.choice(TARGETS), chosen.choice(OPTIONS))
        jobs.append((seed, args.precision or precision, args.target or target,
                     args.option.split() if args.option else option))
    counts, failed = {}, 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for job, said in zip(jobs, pool.map(lambda j: check(args.relayc, folder, *j, args.keep), jobs)):
            counts[job[1]] = counts.get(job[1], 0) + (said is not None)
            for text in said or []:
                print(text, flush=True)
            failed += bool(said)
    shutil.rmtree(folder)
    print(f"{sum(counts.values())} networks, {failed} wrong:", ", ".join(f"{p} {n}" for p, n in sorted(counts.items())))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
