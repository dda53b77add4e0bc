"""Modules that PyTorch quantises itself (PT2E), exported as QuantizeLinear and DequantizeLinear: the integers of the
generated C against PyTorch's quantised module, which computes between them in float.

    quantised.py [--work FOLDER] [PART ...]

Exit code 1 where a network is refused, computes in float, or is more than a few steps of its output off."""

import argparse
import pathlib
import subprocess
import sys
import warnings

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch.ao.quantization.quantize_pt2e import convert_pt2e, prepare_pt2e
from torch.ao.quantization.quantizer.xnnpack_quantizer import XNNPACKQuantizer, get_symmetric_quantization_config

import corpus
import registry

MODULES = ("lenet", "keyword_spotter", "resnet", "inverted_residual", "fire", "feature_pyramid", "perceptron", "unet")
MOST, MEAN = 3, 0.25  # steps of the output: of any element, on the mean


def quantise(module, inputs, generator):
    """The module by PT2E, calibrated with 16 random inputs."""
    quantizer = XNNPACKQuantizer().set_global(get_symmetric_quantization_config(is_per_channel=True))
    prepared = prepare_pt2e(torch.export.export(module, inputs).module(), quantizer)
    for _ in range(16):
        prepared(*(torch.randn(tensor.shape, generator=generator) for tensor in inputs))
    return convert_pt2e(prepared)


def output_scale(model):
    """The scale of the DequantizeLinear that gives the first output; 1 where there is none."""
    constants = {value.name: numpy_helper.to_array(value) for value in model.graph.initializer}
    for node in model.graph.node:
        if node.op_type == "DequantizeLinear" and node.output[0] == model.graph.output[0].name:
            return float(constants[node.input[1]])
    return 1.0


def judge(name, work):
    make, shapes = next((make, shapes) for known, make, shapes in registry.MODULES if known == name)
    generator = torch.Generator().manual_seed(7)
    inputs = tuple(registry.tensor(*shape, generator) for shape in shapes)
    quantised = quantise(corpus.trained(make, name), inputs, generator)
    path = work / f"{name}.pt2e.onnx"
    problem = corpus.export(quantised, inputs, path, "dynamo")
    if problem:
        return f"not exported: {problem}"
    with torch.no_grad():
        wanted = corpus.flat(quantised(*inputs))[0].numpy()
    np.save(work / "x0.npy", inputs[0].numpy())
    done = subprocess.run([corpus.BUILD / "relayc", "run", path, "--with", "generated", "-q", "--output", work / "outputs.npz",
                           "-i", f"x0={work / 'x0.npy'}"], capture_output=True, text=True)
    if done.returncode:
        return f"refused: {done.stderr.strip()[:600]}"
    model = onnx.load(path)
    steps = np.abs(np.load(work / "outputs.npz")[model.graph.output[0].name] - wanted) / output_scale(model)
    print(f"{name}: at most {steps.max():.2f} steps off, {steps.mean():.3f} on the mean", flush=True)
    return "" if steps.max() <= MOST and steps.mean() <= MEAN else "wrong"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path, default=corpus.BUILD / "torch")
    parser.add_argument("part", nargs="*")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    options.work.mkdir(parents=True, exist_ok=True)
    failed = 0
    for name in MODULES:
        if options.part and not any(part in name for part in options.part):
            continue
        problem = judge(name, options.work)
        failed += problem != ""
        if problem:
            print(f"{name}: {problem}", flush=True)
    print(f"{len(MODULES)} modules that PyTorch quantised, {failed} fail")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
