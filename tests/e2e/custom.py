"""--custom-op: networks with an operator that only the user's C computes, as generated C, against ONNX Runtime, which
has operators of its own in its place; and what is refused."""

import ctypes
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import custom_tflite
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

RELAYC = pathlib.Path(os.environ.get("BUILD", "build")).resolve() / "relayc"
onnxruntime.set_default_logger_severity(3)
FLOAT, I64 = TensorProto.FLOAT, TensorProto.INT64
rng = np.random.default_rng(6)

HEADER = """#include <stdint.h>

/* y = gain * x + b, b may be absent; n = index of the greatest number of each row, times step */
void scale_rows(const float *x, const int *x_dims, const float *b, const int *b_dims, float *y, const int *y_dims,
                int64_t *n, const int *n_dims, float gain, const char *mode, int64_t step, const int64_t *unused,
                int n_unused);
/* The first half of the channels. */
void half(const float *x, const int *x_dims, float *y, const int *y_dims);
"""
SOURCE = """#include "ops.h"
#include <string.h>
void scale_rows(const float *x, const int *x_dims, const float *b, const int *b_dims, float *y, const int *y_dims,
                int64_t *n, const int *n_dims, float gain, const char *mode, int64_t step, const int64_t *unused,
                int n_unused)
{
    int size = 1;
    for (int i = 0; i < 4; i++)
        size *= x_dims[i];
    for (int i = 0; i < size; i++)
        y[i] = gain * x[i] + (b && b_dims[0] == x_dims[1] ? b[i / (x_dims[2] * x_dims[3]) % x_dims[1]] : 0);
    n[0] = !strcmp(mode, "linear") && n_dims[0] == 1 && y_dims[3] == x_dims[3] && n_unused == 2 &&
               unused[0] == INT64_C(9007199254740993) && unused[1] == INT64_MIN
               ? step * x_dims[1] : -1;
}
void half(const float *x, const int *x_dims, float *y, const int *y_dims)
{
    memcpy(y, x, sizeof *y * (size_t)(y_dims[0] * y_dims[1] * y_dims[2] * y_dims[3]) * (x_dims[1] == 2 * y_dims[1]));
}
"""


def f32(*shape):
    return (rng.standard_normal(shape) * 0.3).astype(np.float32)


def info(name, shape, kind=FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


W, V, B = f32(8, 3, 3, 3), f32(5, 4, 1, 1), f32(8)


def network(nodes, declared=()):
    """A convolution, what `nodes` make of c: z of half the channels and the number n, and another convolution."""
    before = helper.make_node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1])
    behind = [helper.make_node("Relu", ["z"], ["r"]), helper.make_node("Conv", ["r", "v"], ["y"])]
    graph = helper.make_graph([before, *nodes, *behind], "g", [info("x", [1, 3, 6, 6])],
                              [info("y", [1, 5, 6, 6]), info("n", [1], I64)],
                              [numpy_helper.from_array(a, n) for n, a in (("w", W), ("v", V), ("b", B))],
                              value_info=list(declared))
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17),
                                                                 helper.make_opsetid("mine", 1)])


def custom(bias, declared=()):
    scale = helper.make_node("ScaleRows", ["c", "b" if bias else ""], ["s", "n"], domain="mine", gain=0.75,
                             mode="linear", step=3, unused=[2**53 + 1, -2**63])
    return network([scale, helper.make_node("Half", ["s"], ["z"], domain="mine")], declared)


def plain(bias):
    parts = [("gain", np.float32(0.75)), ("eight", np.array([24], np.int64)), ("bias", B.reshape(8, 1, 1) * bias)]
    constants = [helper.make_node("Constant", [], [n], value=numpy_helper.from_array(np.asarray(a))) for n, a in parts]
    return network([*constants, helper.make_node("Mul", ["c", "gain"], ["m"]),
                    helper.make_node("Add", ["m", "bias"], ["s"]),
                    helper.make_node("Identity", ["eight"], ["n"]),
                    helper.make_node("Split", ["s"], ["z", "other"], axis=1)])


SCALE = "mine::ScaleRows={}/ops.h:scale_rows"
HALF = "mine::Half={}/ops.h:half"
SHAPE = ":0.0,0.1/2,0.2,0.3"


def compile_model(model, folder, operators, *options):
    onnx.save(model, folder / "net.onnx")
    given = [word for o in operators for word in ("--custom-op", o.format(folder))]
    return subprocess.run([RELAYC, "compile", folder / "net.onnx", "-o", folder / "gen", *given, *options],
                          capture_output=True, text=True)


def test(bias, declared, options):
    x = f32(1, 3, 6, 6)
    wanted = onnxruntime.InferenceSession(plain(bias).SerializeToString(),
                                          providers=["CPUExecutionProvider"]).run(None, {"x": x})
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "ops.h").write_text(HEADER)
        (folder / "ops.c").write_text(SOURCE)
        infos = [info("s", [1, 8, 6, 6]), info("z", [1, 4, 6, 6])] if declared else []
        model = custom(bias, infos)
        done = compile_model(model, folder, [SCALE + ("" if declared else ":0.0,0.1,0.2,0.3:1=i64"),
                                             HALF + ("" if declared else SHAPE)], *options)
        if done.returncode:
            return done.stderr
        subprocess.run(["gcc", "-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-I", folder, "-o",
                        folder / "net.so", *folder.glob("gen/net*.c"), folder / "ops.c", "-lm"], check=True)
        library = ctypes.CDLL(str(folder / "net.so"))
        size = json.loads((folder / "gen" / "net.json").read_text())["arena"]["bytes"]
        arena = np.zeros(size + 64, np.uint8)
        arena = arena[-arena.ctypes.data % 64:]
        y, n = np.zeros((1, 5, 6, 6), np.float32), np.zeros(1, np.int64)
        code = library.net_run(*[ctypes.c_void_p(a.ctypes.data) for a in (x, y, n, arena)])
        off = np.max(np.abs(y - wanted[0])) / np.max(np.abs(wanted[0]))
        if code or n[0] != wanted[1][0] or not off < (0.2 if "fp8" in options else 2e-6):
            return f"code {code}, n {n[0]}, off by {off}"
    return None


REFUSED = [
    (["mine::ScaleRows"], "has no ="),
    (["mine::ScaleRows={}/ops.h"], "does not name an operator, a header and a function"),
    (["mine::ScaleRows={}/none.h:f"], "names a header that cannot be read"),
    (["mine::ScaleRows={}/ops.h:int"], "names no C function"),
    ([SCALE, SCALE], "is the second one for this operator"),
    ([SCALE + ":1,8,6,6:1=i64"], "operator mine.Half is not supported"),
    ([SCALE, HALF], "is unknown: the file declares none in numbers"),
    ([SCALE + ":9.0:1=i64", HALF + SHAPE], "'9.0' is not a shape of result 0"),
    ([SCALE + ":1,8,6,6:1=i64", HALF + SHAPE, "mine::No={}/ops.h:no"], "the model has no operator of this name"),
    (["mine::ScaleRows={}/ops.h:net_run:0.0,0.1,0.2,0.3:1=i64", HALF + SHAPE],
     "the generated C has a function of this name"),
]


def refused(operators, message):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "ops.h").write_text(HEADER)
        done = compile_model(custom(True), folder, operators)
        if done.returncode != 1 and done.returncode != 2 or message not in done.stderr:
            return f"exit {done.returncode}, {done.stderr}, where '{message}' was expected"
    return None


def main():
    failed = n = 0
    for bias in (True, False):
        for declared in (True, False):
            for options in ([], ["--precision", "fp8"], ["--target", "cortex-m4"], ["--optimize", "size"]):
                n += 1
                problem = test(bias, declared, options)
                if problem:
                    print(f"bias {bias}, declared {declared}, {options}: {problem}")
                    failed += 1
    for operators, message in REFUSED:
        n += 1
        problem = refused(operators, message)
        if problem:
            print(f"{operators}: {problem}")
            failed += 1
    more, wrong = custom_tflite.check(RELAYC)
    n, failed = n + more, failed + wrong
    print(f"{n} compilations with --custom-op, {failed} wrong")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
