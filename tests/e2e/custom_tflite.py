"""--custom-op with TensorFlow Lite's custom operators: a function of the user's gets the file's codes and numbers, what
stands around it is compiled as ever. Judged by NumPy, which does what the function does."""
import ctypes
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from flatbuffers import flexbuffers

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "tflite"))
from operators import Family  # noqa: E402

HEADER = """#include <stdint.h>

/* s = x + step, v = 255 - u, r = gain * w[i % 3]; b is absent. */
void mix(const int8_t *x, const int *x_dims, const uint8_t *u, const int *u_dims, const float *b, const int *b_dims,
         const float *w, const int *w_dims, int8_t *s, const int *s_dims, uint8_t *v, const int *v_dims, float *r,
         const int *r_dims, int64_t big, float gain, int64_t step);
"""
SOURCE = """#include "ops.h"
#include <stddef.h>
void mix(const int8_t *x, const int *x_dims, const uint8_t *u, const int *u_dims, const float *b, const int *b_dims,
         const float *w, const int *w_dims, int8_t *s, const int *s_dims, uint8_t *v, const int *v_dims, float *r,
         const int *r_dims, int64_t big, float gain, int64_t step)
{
    const int right = b == NULL && b_dims == NULL && x_dims[1] == 5 && u_dims[1] == 5 && w_dims[0] == 3 &&
                      s_dims[1] == 5 && v_dims[0] == 2 && big == INT64_C(-9007199254740993);
    for (int i = 0; i < 10; i++) {
        s[i] = (int8_t)(right ? x[i] + step : 0);
        v[i] = (uint8_t)(255 - u[i]);
    }
    for (int i = 0; i < r_dims[0]; i++)
        r[i] = gain * w[i % 3];
}
"""


def network(options=None, name="Mix"):
    """x and u, reshaped; what the operator makes of them, s and v reshaped."""
    net = Family(7)
    x, u = net.input([10]), net.input([10], 0.04, 131, "uint8")
    before = [net.of(22, [t, net.ints([2, 5])], [2, 5], quant, dtype, [None], 17)
              for t, quant, dtype in ((x, (0.05, -3), "int8"), (u, (0.04, 131), "uint8"))]
    s, v = net.tensor([2, 5], "int8", 0.05, -3), net.tensor([2, 5], "uint8", 0.04, 131)
    r = net.tensor([4], "float32")
    given = {"big": -2**53 - 1, "gain": 0.75, "step": 3} if options is None else options
    net.add(name, 1, [before[0], before[1], -1, net.floats([3])], [s, v, r], bytes(flexbuffers.Dumps(given)))
    return net.result(net.of(22, [s, net.ints([10])], [10], (0.05, -3), options=[None], kind=17),
                      net.of(22, [v, net.ints([10])], [10], (0.04, 131), "uint8", [None], 17), r)


def compile_model(relayc, net, folder, *options):
    (folder / "net.tflite").write_bytes(net.bytes())
    (folder / "ops.h").write_text(HEADER)
    return subprocess.run([relayc, "compile", folder / "net.tflite", "-o", folder / "gen", *options], capture_output=True,
                          text=True)


def computed(relayc, *options):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        net = network()
        done = compile_model(relayc, net, folder, "--custom-op", f"Mix={folder}/ops.h:mix", *options)
        if done.returncode:
            return done.stderr
        (folder / "ops.c").write_text(SOURCE)
        subprocess.run(["gcc", "-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-I", folder, "-o",
                        folder / "net.so", *folder.glob("gen/net*.c"), folder / "ops.c", "-lm"], check=True)
        library = ctypes.CDLL(str(folder / "net.so"))
        size = json.loads((folder / "gen/net.json").read_text())["arena"]["bytes"]
        arena = np.zeros(size + 64, np.uint8)
        arena = arena[-arena.ctypes.data % 64:]
        x, u = (array[0] for array in net.data())
        s, v, r = np.zeros(10, np.int8), np.zeros(10, np.uint8), np.zeros(4, np.float32)
        code = library.net_run(*[ctypes.c_void_p(a.ctypes.data) for a in (x, u, s, v, r, arena)])
        w = next(t["data"] for t in net.tensors if t["shape"] == [3])
        right = (s == (x.astype(int) + 3).astype(np.int8)).all() and (v == 255 - u).all()
        right = right and (r == np.float32(0.75) * w[[0, 1, 2, 0]]).all()
        return None if code == 0 and right else f"code {code}: {s} of {x}, {v} of {u}, {r} of {w}"


REFUSED = [
    (network(), [], "--custom-op Mix=my_op.h:my_op calls a C function"),
    (network(), ["--custom-op", "Mix={}/ops.h:mix:1,2"], "the file has those of all results"),
    (network(), ["--custom-op", "mine::Mix={}/ops.h:mix"], "the model has no custom operator of this name"),
    (network({"text": "no"}), ["--custom-op", "Mix={}/ops.h:mix"], 'option "text" is no number'),
    (network([1, 2]), ["--custom-op", "Mix={}/ops.h:mix"], "its options are no map of numbers"),
]


def refused(relayc, net, options, message):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        done = compile_model(relayc, net, folder, *[o.format(folder) for o in options])
        if done.returncode not in (1, 2) or message not in done.stderr:
            return f"exit {done.returncode}, {done.stderr}, where '{message}' was expected"
    return None


def check(relayc):
    """The number of compilations, and of those that went wrong."""
    problems = [computed(relayc, *options) for options in ([], ["--target", "cortex-m4"])]
    problems += [refused(relayc, *row) for row in REFUSED]
    for problem in filter(None, problems):
        print(f"TensorFlow Lite: {problem}")
    return len(problems), len([p for p in problems if p])
