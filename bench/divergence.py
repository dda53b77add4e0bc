#!/usr/bin/env python3
"""Writes docs/lab/divergence.md: how far TensorFlow Lite Micro, LiteRT's reference kernels and XNNPACK are from relayc's
C, and so from each other, on the same inputs: the networks of $RELAYC_SHARED/tflite, and the wake words of the package
pymicro-wakeword where Python has it. Needs the packages of `make deps-bench`.

    bench/divergence.py          BUILD is the build folder"""
import datetime
import importlib.metadata
import json
import os
import subprocess
import sys
from pathlib import Path

BUILD = Path(os.environ.get("BUILD", "build"))
SHARED = Path(os.environ.get("RELAYC_SHARED", "../shared")) / "tflite"
PEERS = {"tflm": "TensorFlow Lite Micro", "litert": "LiteRT, reference kernels", "xnnpack": "LiteRT, XNNPACK"}
PACKAGES = {"tflite_micro": "TensorFlow Lite Micro", "ai-edge-litert": "LiteRT", "pymicro-wakeword": "pymicro-wakeword"}
STEPS = 16
PAGE = Path("docs/lab/divergence.md")


def verify(model, peer, data):
    """What relayc verify says of a peer, as a cell."""
    given = ["--data", str(data)] if data else []
    done = subprocess.run([BUILD / "relayc", "verify", model, "--against", peer, "--inputs", str(STEPS), "--json", *given],
                          capture_output=True, check=False, text=True, env={"RELAYC_PYTHON": sys.executable, **os.environ})
    said = json.loads(done.stdout)
    if "against" not in said:
        message = said["diagnostics"][0]["message"]
        return "refused: " + ("hybrid" if "Hybrid" in message else "scales" if "quantized_dimension" in message else message[:60])
    count = said["against"]
    if not count["numbers"]:
        error = next(row["error"] for row in said["whole"] if row["compared"].startswith("the generated C and " + PEERS[peer].split(",")[0]))
        return f"{error:.0e} of the largest"
    if not count["different"]:
        return f"0 of {count['numbers']:,}"
    return f"**{count['different']:,}** of {count['numbers']:,}, by up to {count['most']:g}"


def networks():
    """(name, model, recorded inputs or None)."""
    for folder in sorted(SHARED.glob("*/")):
        data = folder / "input_0.npy"
        yield folder.name, folder / "model.tflite", data if data.exists() else None
    try:
        found = importlib.metadata.files("pymicro-wakeword") or []
    except importlib.metadata.PackageNotFoundError:
        print("SKIPPED: no package pymicro-wakeword: its wake words are left out", file=sys.stderr)
        found = []
    for file in sorted(str(f.locate()) for f in found if f.suffix == ".tflite"):
        yield f"pymicro-wakeword {Path(file).stem}", Path(file), None


def main():
    versions = []
    for package, name in PACKAGES.items():
        try:
            versions.append(f"{name} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            sys.exit(f"bench/divergence.py: {sys.executable} has no package {package}: make deps-bench")
    rows = [[name, *(verify(model, peer, data) for peer in PEERS)] for name, model, data in networks()]
    text = f"""# How far implementations of TensorFlow Lite are from each other

{datetime.date.today()}, by `make bench-divergence`: {', '.join(versions)};
Python {sys.version.split()[0]}, {os.uname().machine}. Numbers of outputs that differ from those of relayc's generated C over {STEPS} sets of
inputs (steps of one sequence, where a network keeps a state), by `relayc verify --against`
([verify.md](../guide/verify.md)); steps of the output's type. Inputs are the recorded ones, full range, or, of networks
without, made up. Where the first column is 0, the other two are also how far LiteRT is from TensorFlow Lite Micro.

| network | {' | '.join(PEERS.values())} |
|---|---:|---:|---:|
"""
    text += "".join(f"| {' | '.join(row)} |\n" for row in rows)
    text += """
- *refused: hybrid*: TensorFlow Lite Micro has no kernels for float activations with weights of integers. LiteRT rounds
  the activations to 8 bits at run time, relayc does not ([tflite.md](../guide/tflite.md#what-is-promised)).
- *refused: scales*: LiteRT takes the axis of the weights' scales for wrong, TensorFlow Lite Micro does not look at it.
- XNNPACK's column is this CPU's.
"""
    PAGE.write_text(text)
    print(text)


main()
