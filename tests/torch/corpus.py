"""Modules as people write them in PyTorch, exported by both of its exporters, compiled and run: generated C against what
PyTorch itself computes.

    corpus.py [--work FOLDER] [--exporter dynamo|torchscript] [--markdown] [PART ...]

PART: only modules whose names contain one of these. The exported files stay in FOLDER (default $BUILD/torch). A
module that an exporter cannot export says nothing of relayc, and is counted apart. Exit code 1 where a network is refused or
wrong."""

import argparse
import collections
import contextlib
import io
import logging
import os
import pathlib
import subprocess
import sys
import warnings
import zlib

import numpy as np
import onnx
import torch
from torch import nn

import images  # noqa: F401 (registers its modules)
import registry
import sequences  # noqa: F401

BUILD = pathlib.Path(os.environ.get("BUILD", "build")).resolve()
EXPORTERS = {"dynamo": {"dynamo": True}, "torchscript": {"dynamo": False}}
TOLERANCE = 2e-5  # of the largest element: the C and PyTorch add in different orders


def trained(make, name):
    """The module in inference mode; its normalisations have seen data."""
    torch.manual_seed(zlib.crc32(name.encode()))
    module = make().eval()
    for part in module.modules():
        if isinstance(part, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)):
            nn.init.normal_(part.running_mean, 0, 0.3)
            nn.init.uniform_(part.running_var, 0.5, 2)
            nn.init.uniform_(part.weight, 0.5, 1.5)
            nn.init.normal_(part.bias, 0, 0.2)
    return module


def export(module, inputs, path, exporter):
    """What stopped the exporter; "" = nothing."""
    path.unlink(missing_ok=True)
    names = [f"x{i}" for i in range(len(inputs))]
    try:
        with torch.no_grad(), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            torch.onnx.export(module, inputs, str(path), input_names=names, **EXPORTERS[exporter])
    except Exception as problem:
        return f"{type(problem).__name__}: {str(problem).strip().splitlines()[0][:150]}"
    return ""


def flat(outputs):
    if isinstance(outputs, torch.Tensor):
        return [outputs]
    return [tensor for part in outputs for tensor in flat(part)]


def differs(ours, theirs):
    """What is wrong; "" = nothing."""
    if list(ours.shape) != list(theirs.shape):
        return f"is of shape {list(ours.shape)}, PyTorch's of {list(theirs.shape)}"
    if theirs.dtype.kind != "f":
        return "" if (ours == theirs).all() else "has other integers"
    largest = max(float(np.abs(theirs[np.isfinite(theirs)]).max(initial=0)), 1e-3)
    same = (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))
    error = float(np.where(same, 0, np.abs(ours - theirs)).max(initial=0))
    return "" if error <= TOLERANCE * largest else f"is off by {error:g} of {largest:g}"


def judge(path, inputs, wanted, work):
    """What relayc does with the file: the kind of problem, and the problem; "" = none."""
    command = [BUILD / "relayc", "run", path, "--with", "generated", "-q", "--output", work / "outputs.npz"]
    given = [value.name for value in onnx.load(path, load_external_data=False).graph.input]
    for i, tensor in enumerate(inputs):
        if f"x{i}" in given:  # an exporter drops what it does not read
            np.save(work / f"x{i}.npy", tensor.numpy())
            command += ["-i", f"x{i}={work / f'x{i}.npy'}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return "refused", done.stderr.strip()[:600]
    made = np.load(work / "outputs.npz")
    names = [value.name for value in onnx.load(path, load_external_data=False).graph.output]
    if len(names) != len(wanted):
        return "wrong", f"{len(names)} outputs, PyTorch has {len(wanted)}"
    for name, value in zip(names, wanted):
        problem = differs(made[name], value.numpy())
        if problem:
            return "wrong", f"output {name} {problem}"
    return "ok", ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path, default=BUILD / "torch")
    parser.add_argument("--exporter", choices=EXPORTERS, action="append")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("part", nargs="*")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)  # of missing packages
    torch.backends.mha.set_fastpath_enabled(False)  # whose operator TorchScript's exporter does not know
    options.work.mkdir(parents=True, exist_ok=True)
    counts = collections.Counter()
    exporters = options.exporter or list(EXPORTERS)
    for name, make, shapes in registry.MODULES:
        if options.part and not any(part in name for part in options.part):
            continue
        generator = torch.Generator().manual_seed(zlib.crc32(name.encode()))
        inputs = tuple(registry.tensor(*shape, generator) for shape in shapes)
        module = trained(make, name)
        with torch.no_grad():
            wanted = flat(module(*(tensor.clone() for tensor in inputs)))
        for exporter in exporters:
            path = options.work / f"{name}.{exporter}.onnx"
            problem = export(module, inputs, path, exporter)
            kind, problem = ("not exported", problem) if problem else judge(path, inputs, wanted, options.work)
            counts[exporter, kind] += 1
            if problem:
                print(f"{name} by {exporter}: {kind}: {problem}", flush=True)
    kinds = ("ok", "refused", "wrong", "not exported")
    if options.markdown:
        print(f"| exporter (PyTorch {torch.__version__.split('+')[0]}) | {' | '.join(kinds)} |\n|---|{'---:|' * len(kinds)}")
    for exporter in exporters:
        numbers = [counts[exporter, kind] for kind in kinds]
        if options.markdown:
            print(f"| {exporter} | {' | '.join(map(str, numbers))} |")
        else:
            print(f"{exporter}: " + ", ".join(f"{number} {kind}" for number, kind in zip(numbers, kinds)))
    return any(counts[exporter, kind] for exporter in exporters for kind in ("refused", "wrong"))


if __name__ == "__main__":
    sys.exit(main())
