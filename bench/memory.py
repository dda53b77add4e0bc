#!/usr/bin/env python3
"""What activations take in each network of $RELAYC_SHARED/models, in bytes, as NAME.json has it:

naive       without sharing: each region's result and scratch has a place of its own
paper       likewise, but element-wise regions write over an operand that only they read: the memory reuse of Xu et
            al. 2024 (codegen_c/plan/in_place_only.h)
alive       the most of that alive at once: what the best packing of these buffers would need
ours        relayc compile: the arena
bound       what no order of the regions and no offsets can undercut; = ours where that is proved optimal
onnx2c      its .bss, from $RELAYC_SHARED/peers.md

Weights, inputs and outputs of the network count nowhere.
    bench/memory.py [NAME ...]      names of folders; BUILD is the build folder"""
import json
import os
import re
import subprocess
import sys
import time

ONNX2C = {"mobilenet_v2": "mobilenetv2", "squeezenet1_1": "squeezenet11", "resnet8": "ic_resnet8",
          "dscnn": "kws_dscnn", "mbv1_025": "vww_mobilenetv1", "ad": "ad_autoencoder"}


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
        ours, paper, alive = arena["bytes"], arena["in_place_only"], arena["in_place_only_alive"]
        cells = [arena["without_sharing"], paper, alive, ours, arena["order_lower_bound"]]
        shown = [f"{n:,}" for n in cells] + [f"{ours / paper:.2f}", f"{ours / alive:.2f}"]
        print(f"| {name} | {' | '.join(shown)} | {f'{bss[name]:,}' if name in bss else '-'} |", end="")
        print(f" {len(made['regions'])} | {seconds:.1f} |", flush=True)


main()
