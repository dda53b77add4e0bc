"""relayc verify --against tflm: the protocol, steps and the verdict by a stand-in for the package tflite_micro, which
checks the inputs that it gets and answers what TensorFlow Lite Micro once gave for them (tests/tflite); and the package
itself, on other inputs, where Python has it.

    against.py RELAYC WORK MADE          MADE: the folders of tests/tflite/networks.py"""
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

RUNTIME = '''import os
from pathlib import Path

import numpy as np


class Interpreter:
    def __init__(self):
        folder = Path(os.environ["STAND_IN"])
        self.given, self.wanted = ([np.load(p) for p in sorted(folder.glob(f"{kind}_*.npy"))] for kind in ("input", "output"))
        self.step, self.seen = -1, set()

    @classmethod
    def from_file(cls, model, arena_size):
        assert Path(model).read_bytes()[4:8] == b"TFL3" and arena_size > 0
        return cls()

    def set_input(self, array, i):
        want = self.given[i][self.step + 1]
        assert array.dtype == want.dtype and array.shape == want.shape and (array == want).all(), f"input {i}"
        self.seen.add(i)

    def invoke(self):
        assert len(self.seen) == len(self.given)
        self.step += 1
        self.seen = set()

    def get_output(self, i):
        if i >= len(self.wanted):
            raise IndexError(i)
        array = self.wanted[i][self.step].copy()
        if os.environ.get("SPOIL") and self.step == 2 and i == 0:
            array.flat[0] += 3 if array.flat[0] < 100 else -3
        return array
'''
NETWORKS = ["state_rings_filled", "state_swap", "svdf", "lstm_step", "conv_same", "dense_relu", "softmax"]
failed = 0


def expect(what, holds, text):
    global failed
    if not holds:
        failed += 1
        print(f"FAILED {what}:\n{text[-800:]}")


def verify(relayc, folder, *options, **more):
    return subprocess.run([relayc, "verify", str(folder / "model.tflite"), "--against", "tflm", *options], capture_output=True,
                          check=False, text=True, env={**os.environ, **more})


def stand_in(relayc, work, folder):
    package = work / "stand_in"
    (package / "tflite_micro/python/tflite_micro").mkdir(parents=True, exist_ok=True)
    for part in "tflite_micro", "tflite_micro/python", "tflite_micro/python/tflite_micro":
        (package / part / "__init__.py").write_text("")
    (package / "tflite_micro/python/tflite_micro/runtime.py").write_text(RUNTIME)
    outputs = [np.load(p) for p in sorted(folder.glob("output_*.npy"))]
    n = sum(a.size for a in outputs)
    here = {"RELAYC_PYTHON": sys.executable, "PYTHONPATH": str(package), "STAND_IN": str(folder)}
    given = ["--data", str(folder / "input_0.npy"), "--inputs", str(len(outputs[0])), "--json"]
    right = verify(relayc, folder, *given, **here)
    expect(f"{folder.name} stand-in", right.returncode == 0, right.stdout[-300:] + right.stderr)
    if right.returncode == 0:
        found = json.loads(right.stdout)["against"]
        expect(f"{folder.name} count", (found["numbers"], found["different"], found["name"]) == (n, 0, "tflm"), str(found))
    wrong = verify(relayc, folder, *given, **here, SPOIL="1")
    expect(f"{folder.name} spoiled", wrong.returncode == 1 and f"differ in 1 of {n} numbers, by at most 3" in wrong.stdout, wrong.stdout)


def package(relayc, made):
    """The package itself; what it refuses is said so, and what it takes agrees."""
    python = os.environ.get("RELAYC_PYTHON", sys.executable)
    there = subprocess.run([python, "-c", "from tflite_micro.python.tflite_micro import runtime"], capture_output=True, check=False)
    if there.returncode:
        print(f"SKIPPED: {python} has no package tflite_micro: verify --against tflm runs a stand-in only", file=sys.stderr)
        return 0
    for name in [*NETWORKS, "hybrid"]:
        done = verify(relayc, made / name, "-q", RELAYC_PYTHON=python)
        refused = name == "hybrid"
        expect(f"{name} tflite_micro", done.returncode == refused and ("Hybrid models" in done.stderr) == refused, done.stderr)
    return len(NETWORKS) + 1


def main():
    relayc, work, made = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    for name in NETWORKS:
        stand_in(relayc, work.absolute(), (made / name).absolute())
    n = package(relayc, made)
    print(f"verify --against tflm: {len(NETWORKS)} networks by a stand-in, {n} by tflite_micro, {failed} failed")
    sys.exit(failed > 0)


main()
