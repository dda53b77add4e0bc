#!/usr/bin/env python3
"""What activations take in each network of $RELAYC_SHARED/models, in bytes:

naive       each output of an ONNX node has a place of its own
paper       likewise, but element-wise nodes write over an operand that only they read (the larger one, where
            shapes differ): the memory reuse of Xu et al. 2024 (TPU-MLIR's static allocation and the def-use chain)
alive       the most alive at once in the order of the file with the paper's reuse: what the best packing of
            unfused nodes would need
ours        relayc compile: the arena, kernels' scratch included
bound       what no order of the regions and no offsets can undercut; = ours where that is proved optimal
onnx2c      its .bss, from $RELAYC_SHARED/peers.md

The first three are computed here from the ONNX graph; weights, inputs and outputs of the network count nowhere.
    bench/memory.py [NAME ...]      names of folders; BUILD is the build folder"""
import json
import math
import os
import re
import subprocess
import sys
import time

import onnx

ELEMENTWISE = set("""Abs Acos Add And Asin Atan Ceil Celu Clip Cos Div Elu Erf Exp Floor Gelu HardSigmoid HardSwish
    LeakyRelu Log Max Min Mish Mul Neg Not Or PRelu Pow Reciprocal Relu Round Selu Sigmoid Sign Sin Softplus Softsign
    Sqrt Sub Sum Tan Tanh ThresholdedRelu Where Xor""".split())
VIEWS = {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity", "Dropout"}
ONNX2C = {"mobilenet_v2": "mobilenetv2", "squeezenet1_1": "squeezenet11", "resnet8": "ic_resnet8",
          "dscnn": "kws_dscnn", "mbv1_025": "vww_mobilenetv1", "ad": "ad_autoencoder"}


def sizes_of(model):
    """Bytes of every value that a node computes; None where a shape is not known."""
    for value in model.graph.input:
        for dim in value.type.tensor_type.shape.dim:
            if not dim.HasField("dim_value"):
                dim.dim_value = 1
    model = onnx.shape_inference.infer_shapes(model, data_prop=True)
    sizes = {}
    for value in list(model.graph.value_info) + list(model.graph.output):
        tensor = value.type.tensor_type
        dims = [d.dim_value if d.HasField("dim_value") else -1 for d in tensor.shape.dim]
        if min(dims, default=1) >= 0 and tensor.elem_type:
            width = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type).itemsize
            sizes[value.name] = width * math.prod(dims)
    return sizes


def plan(graph, sizes):
    """naive, paper, alive; None where a shape is missing."""
    constants = {t.name for t in graph.initializer}
    results = {v.name for v in graph.output}
    for node in graph.node:  # what only depends on constants is folded
        if all(i in constants for i in node.input if i):
            constants.update(node.output)
    nodes = [n for n in graph.node if not all(o in constants for o in n.output)]
    uses, home = {}, {v.name: None for v in graph.input}  # home: the buffer that a value lies in
    for node in nodes:
        for name in node.input:
            uses[name] = uses.get(name, 0) + 1
    naive, buffers = 0, {}  # name of the first value -> [bytes, first, last]
    for i, node in enumerate(nodes):
        inputs = [n for n in node.input if n and n not in constants]
        if node.op_type in VIEWS and inputs:
            home[node.output[0]] = home.get(inputs[0])
        over = None
        if node.op_type in ELEMENTWISE:
            mine = [n for n in inputs if home.get(n) and uses[n] == 1 and n not in results]
            over = max(mine, key=lambda n: buffers[home[n]][0], default=None)
        for output in node.output:
            if not output or output in home:
                continue
            if output not in sizes:
                return None
            naive += 0 if output in results else sizes[output]
            if output in results:
                home[output] = None
            elif over and buffers[home[over]][0] >= sizes[output]:
                home[output] = home[over]
            else:
                home[output] = output
                buffers[output] = [sizes[output], i, i]
        for name in list(inputs) + list(node.output):
            if home.get(name):
                buffers[home[name]][2] = i
    paper = sum(b[0] for b in buffers.values())
    alive = max((sum(b[0] for b in buffers.values() if b[1] <= i <= b[2]) for i in range(len(nodes))), default=0)
    return naive, paper, alive


def onnx2c_bss(shared):
    found = {}
    with open(os.path.join(shared, "peers.md"), encoding="utf-8") as file:
        table = re.search(r"## What onnx2c's C costs\n(.*?)\n\(", file.read(), re.S)
    for line in table.group(1).splitlines() if table else []:
        cells = [c.strip() for c in line.strip("|").split("|")]
        if cells[0] in ONNX2C:
            found[ONNX2C[cells[0]]] = int(cells[3])
    return found


def main():
    build = os.environ.get("BUILD", "build")
    shared = os.environ.get("RELAYC_SHARED", "../shared")
    models = os.path.join(shared, "models")
    if not os.path.isdir(models):
        print(f"SKIPPED: no {models}")
        return
    names = sys.argv[1:] or sorted(n for n in os.listdir(models) if os.path.exists(f"{models}/{n}/model.onnx"))
    bss = onnx2c_bss(shared)
    print("| network | naive | paper | alive | ours | bound | ours / paper | ours / alive | onnx2c | regions | s |\n"
          "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for name in names:
        path, out = f"{models}/{name}/model.onnx", f"{build}/bench_memory/{name}"
        start = time.monotonic()
        run = subprocess.run([f"{build}/relayc", "compile", "-q", path, "-o", out, "--name", "net"],
                             capture_output=True, text=True, check=False)
        seconds = time.monotonic() - start
        if run.returncode:
            print(f"| {name} | {run.stderr.splitlines()[0]} |")
            continue
        with open(f"{out}/net.json", encoding="utf-8") as file:
            made = json.load(file)
        arena = made["arena"]
        ours, bound = arena["bytes"], max(arena["order_lower_bound"], 0)
        model = onnx.load(path)
        figures = plan(model.graph, sizes_of(model))
        ratio = lambda other: f"{ours / other:.2f}" if other else "-"  # noqa: E731
        shown = [f"{f:,}" for f in figures] if figures else ["-"] * 3
        print(f"| {name} | {' | '.join(shown)} | {ours:,} | {bound:,} | {ratio(figures and figures[1])} "
              f"| {ratio(figures and figures[2])} | {bss[name]:,} |" if name in bss else
              f"| {name} | {' | '.join(shown)} | {ours:,} | {bound:,} | {ratio(figures and figures[1])} "
              f"| {ratio(figures and figures[2])} | - |", end="")
        print(f" {len(made['regions'])} | {seconds:.1f} |", flush=True)


main()
