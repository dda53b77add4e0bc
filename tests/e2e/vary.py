"""Networks whose sizes, dims and inputs that are numbers, are arguments of NAME_run (--vary, --max): the generated C for
every size that it takes, against ONNX Runtime, in arrays of just these sizes under ASan and UBSan, or under QEMU; sizes
that it does not take; and what relayc refuses.

  vary.py [CASE ...]        only cases whose name contains one of these; commands: relayc verify and run
  vary.py --write FOLDER    writes the networks, NAME.onnx, and tests nothing
"""

import itertools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

RELAYC = pathlib.Path(os.environ.get("BUILD", "build")).resolve() / "relayc"
WARNINGS = "-std=c99 -Wall -Wextra -Wpedantic -Wconversion -Werror".split()
rng = np.random.default_rng(41)

# Reads sizes and inputs from stdin, each in memory of its own, and writes the code and the outputs to stdout. Outputs
# begin as 0x5A everywhere, the arena as NaN.
DRIVER = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "net.h"

static void *take(size_t n, int byte)
{
    char *memory = aligned_alloc(64, (n + 63) / 64 * 64 + 64);

    if (!memory)
        exit(3);
    memset(memory, byte, n);
    return memory;
}

int main(void)
{
    int32_t sizes[SIZES], bytes[ARRAYS];

    while (fread(sizes, sizeof sizes, 1, stdin) == 1 && fread(bytes, sizeof bytes, 1, stdin) == 1) {
        void *arrays[ARRAYS], *arena = take(NET_ARENA_BYTES, 0xff);
        int32_t code;

        for (int i = 0; i < ARRAYS; i++) {
            arrays[i] = malloc((size_t)bytes[i]); /* of which ASan watches each byte around */
            if (!arrays[i])
                exit(3);
            memset(arrays[i], 0x5a, (size_t)bytes[i]);
            if (i < INPUTS && fread(arrays[i], (size_t)bytes[i], 1, stdin) != 1)
                exit(4);
        }
        code = net_run(ARGUMENTS);
        fwrite(&code, sizeof code, 1, stdout);
        for (int i = INPUTS; i < ARRAYS; i++)
            fwrite(arrays[i], (size_t)bytes[i], 1, stdout);
        for (int i = 0; i < ARRAYS; i++)
            free(arrays[i]);
        free(arena);
    }
    return 0;
}
"""


def f32(*shape):
    scale = 1 / np.sqrt(np.prod(shape[1:]) if len(shape) > 1 else 8)
    return (rng.standard_normal(shape) * scale).astype(np.float32)


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs.split(), outputs.split(), **attributes)


def network(nodes, x, outputs, constants, numbers=(), opset=17, integers=()):
    """x: shape, with names; outputs: name -> shape, of i64 if it is one of the integers; constants: name -> array;
    numbers: other inputs, name, type, shape."""
    info = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "g", [info("x", TensorProto.FLOAT, x), *(info(*n) for n in numbers)],
                              [info(n, TensorProto.INT64 if n in integers else TensorProto.FLOAT, s)
                               for n, s in outputs.items()],
                              [numpy_helper.from_array(np.asarray(a), n) for n, a in constants.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    onnx.checker.check_model(model)
    return model


def speech():
    """Convolutions over time, one of them with a stride, one of each channel."""
    return network([node("Conv", "x w1 b1", "c1", pads=[2, 2]), node("Relu", "c1", "r1"),
                    node("Conv", "r1 w2 b2", "c2", pads=[1, 1], strides=[2]), node("Relu", "c2", "r2"),
                    node("Conv", "r2 w3 b3", "c3", pads=[4, 4], group=24, dilations=[2]), node("Add", "c3 r2", "a3"),
                    node("Conv", "a3 w4 b4", "c4"), node("Transpose", "c4", "t4", perm=[0, 2, 1]),
                    node("Softmax", "t4", "y", axis=-1)], [1, 13, "time"], {"y": [1, "frames", 9]},
                   {"w1": f32(24, 13, 5), "b1": f32(24), "w2": f32(24, 24, 3), "b2": f32(24), "w3": f32(24, 1, 5),
                    "b3": f32(24), "w4": f32(9, 24, 1), "b4": f32(9)})


def lstm():
    """All hidden states, and the last."""
    return network([node("Transpose", "x", "xt", perm=[1, 0, 2]),
                    node("LSTM", "xt w r b", "h last", hidden_size=10), node("Squeeze", "h axis", "s"),
                    node("Transpose", "s", "st", perm=[1, 0, 2]), node("MatMul", "st wo", "y")],
                   [1, "frames per clip", 12], {"y": [1, "t", 5], "last": [1, 1, 10]},
                   {"w": f32(1, 40, 12), "r": f32(1, 40, 10), "b": f32(1, 80), "wo": f32(10, 5),
                    "axis": np.array([1], np.int64)})


def attention():
    """A block of a transformer; the head's shape comes from Shape and Concat, as exporters write it."""
    nodes = []
    for p in "qkv":
        nodes += [node("MatMul", f"x w{p}", f"{p}0"), node("Shape", "x", f"shape_{p}"),
                  node("Slice", f"shape_{p} one two", f"length_{p}"),
                  node("Concat", f"one length_{p} heads width", f"to_{p}", axis=0), node("Reshape", f"{p}0 to_{p}", f"{p}1"),
                  node("Transpose", f"{p}1", p, perm=[0, 2, 3, 1] if p == "k" else [0, 2, 1, 3])]
    nodes += [node("MatMul", "q k", "s0"), node("Mul", "s0 scale", "s1"), node("Softmax", "s1", "p", axis=-1),
              node("MatMul", "p v", "m0"), node("Transpose", "m0", "m1", perm=[0, 2, 1, 3]),
              node("Reshape", "m1 flat", "m2"), node("MatMul", "m2 wo", "o"), node("Add", "o x", "sum"),
              node("LayerNormalization", "sum g bt", "norm", axis=-1), node("MatMul", "norm w1", "f1"),
              node("Relu", "f1", "f2"), node("MatMul", "f2 w2", "f3"), node("Add", "f3 norm", "y")]
    return network(nodes, [1, "time", 24], {"y": [1, "time", 24]},
                   {"wq": f32(24, 24), "wk": f32(24, 24), "wv": f32(24, 24), "wo": f32(24, 24), "w1": f32(24, 48),
                    "w2": f32(48, 24), "g": f32(24), "bt": f32(24), "one": np.array([1]), "two": np.array([2]),
                    "heads": np.array([3]), "width": np.array([8]), "flat": np.array([1, -1, 24]),
                    "scale": np.float32(8 ** -0.5)})


def images():
    """Two dims vary: the batch, and the width of pictures that are pooled as a whole."""
    return network([node("Conv", "x w1 b1", "c1", pads=[1, 1, 1, 1], strides=[2, 2]), node("Relu", "c1", "r1"),
                    node("MaxPool", "r1", "p1", kernel_shape=[2, 2], strides=[2, 2]),
                    node("Conv", "p1 w2 b2", "c2", pads=[1, 1, 1, 1]), node("Relu", "c2", "r2"),
                    node("GlobalAveragePool", "r2", "g"), node("Flatten", "g", "f"), node("Gemm", "f w3 b3", "y")],
                   ["batch", 3, 16, "width"], {"y": ["batch", 10]},
                   {"w1": f32(8, 3, 3, 3), "b1": f32(8), "w2": f32(16, 8, 3, 3), "b2": f32(16), "w3": f32(16, 10),
                    "b3": f32(10)})


def joined():
    """Parts along the dim that varies, a copy of the input among the outputs, and nothing to compute in one."""
    return network([node("Relu", "x", "r"), node("Concat", "x r", "j", axis=0), node("Identity", "x", "same"),
                    node("Mul", "j j", "y")], ["n", 6], {"y": ["m", 6], "same": ["n", 6]}, {})


def positions():
    """A table of which each length reads the beginning."""
    return network([node("Shape", "x", "shape"), node("Slice", "shape one two", "length"),
                    node("Slice", "table zero length one", "rows"), node("Add", "x rows", "sum"),
                    node("MatMul", "sum w", "m"), node("Tanh", "m", "y")], [1, "time", 16], {"y": [1, "time", 16]},
                   {"table": f32(1, 64, 16), "w": f32(16, 16), "zero": np.array([0]), "one": np.array([1]),
                    "two": np.array([2])})


def masks():
    """Comparisons whose results other nodes of their region read."""
    return network([node("Less", "x low", "a"), node("Greater", "x high", "b"), node("Or", "a b", "c"),
                    node("Not", "a", "d"), node("Xor", "d b", "e"), node("Cast", "e", "f", to=TensorProto.FLOAT),
                    node("Mul", "f x", "g"), node("Where", "c g x", "h"), node("IsNaN", "h", "i"),
                    node("Cast", "x", "whole", to=TensorProto.INT32), node("Equal", "whole two", "j"),
                    node("And", "j d", "k"), node("Or", "i k", "l"), node("Where", "l low h", "y")],
                   [1, "time", 6], {"y": [1, "time", 6]},
                   {"low": f32(6), "high": f32(6) + 1, "two": np.array(2, np.int32)})


# --- numbers ---------------------------------------------------------------------------------

I64, BOOL = TensorProto.INT64, TensorProto.BOOL


def top_k():
    """The k best of each row, their mean, and what a product of them with itself is."""
    return network([node("TopK", "x k", "v at", axis=1), node("Relu", "v", "r"), node("ReduceMean", "r", "m", axes=[1]),
                    node("Transpose", "v", "vt", perm=[1, 0]), node("MatMul", "v vt", "p")], [5, 9],
                   {"v": [5, "k_"], "at": [5, "k_"], "m": [5, 1], "p": [5, 5]}, {}, [("k", I64, [1])], integers=["at"])


def window():
    """The last n of a sequence, from a start on, through a layer."""
    return network([node("Add", "start n", "end"), node("Reshape", "start one", "s"), node("Reshape", "end one", "e"),
                    node("Slice", "x s e one", "part"), node("MatMul", "part w", "p"), node("Tanh", "p", "t"),
                    node("ReduceSum", "t one", "sum"), node("Identity", "t", "y")], [2, 9, 6],
                   {"y": [2, "n_", 4], "sum": [2, 1, 4]}, {"one": np.array([1]), "w": f32(6, 4)},
                   [("n", I64, []), ("start", I64, [])])


def angles():
    """Positions up to a length, and a table made of them."""
    return network([node("Range", "zero n one", "at"), node("Cast", "at", "f", to=TensorProto.FLOAT),
                    node("Unsqueeze", "f axis", "column"), node("Mul", "column x", "a"), node("Cos", "a", "y"),
                    node("Unsqueeze", "n first", "list"), node("Concat", "list six", "shape", axis=0),
                    node("ConstantOfShape", "shape", "c", value=helper.make_tensor("v", TensorProto.FLOAT, [1], [2.5])),
                    node("Sub", "y c", "z")], [6], {"at": ["l"], "z": ["l", 6]},
                   {"zero": np.array(0), "one": np.array(1), "axis": np.array([1]), "first": np.array([0]),
                    "six": np.array([6])}, [("n", I64, [])], integers=["at"])


def shaped():
    """Expand, Tile, Pad and Reshape by inputs."""
    return network([node("Expand", "x to", "e"), node("Tile", "e repeats", "t"), node("Pad", "t pads", "p"),
                    node("Relu", "p", "r"), node("ReduceMax", "r", "y", axes=[0]), node("Reshape", "x rows", "z")], [1, 12],
                   {"y": [1, "m"], "z": ["a", "b"]}, {},
                   [("to", I64, [2]), ("repeats", I64, [2]), ("pads", I64, [4]), ("rows", I64, [2])])


def resized(by):
    def make():
        numbers = ("sizes", I64, [4]) if by == "sizes" else ("scales", TensorProto.FLOAT, [4])
        return network([node("Resize", "x none none sizes" if by == "sizes" else "x none scales", "r",
                             mode="linear" if by == "sizes" else "nearest"),
                        node("Conv", "r w", "y", pads=[1, 1, 1, 1])], [1, 2, 4, 5], {"y": [1, 3, "h", "w_"]},
                       {"none": np.zeros(0, np.float32), "w": f32(3, 2, 3, 3)}, [numbers])
    make.__name__ = f"resized_by_{by}"
    return make


def one_hot():
    return network([node("Cast", "x", "i", to=I64), node("OneHot", "i depth values", "h"), node("Neg", "h", "y")], [7],
                   {"y": [7, "depth_"]}, {"values": np.array([0, 2], np.float32)}, [("depth", I64, [1])])


def own_name():
    """The name of a dim and of an input: it is the dim; the other one remains an input, which is checked."""
    return network([node("CumSum", "x n", "y")], ["n", 6], {"y": ["n", 6]}, {}, [("n", I64, [])])


# --- branches, loops -------------------------------------------------------------------------


def body(nodes, inputs, outputs, constants=()):
    info = helper.make_tensor_value_info
    return helper.make_graph(nodes, "body", [info(*i) for i in inputs], [info(*o) for o in outputs],
                             [numpy_helper.from_array(np.asarray(a), n) for n, a in constants])


def branches():
    """A layer or another by an input, one of them with a mean over time."""
    out = [("b", TensorProto.FLOAT, [1, "time", 5])]
    yes = body([node("MatMul", "x w1", "m"), node("Relu", "m", "b")], [], out)
    no = body([node("ReduceMean", "x", "mean", axes=[1]), node("Sub", "x mean", "c"), node("MatMul", "c w2", "b")], [],
              out)
    return network([node("If", "flag", "i", then_branch=yes, else_branch=no), node("Tanh", "i", "y")], [1, "time", 8],
                   {"y": [1, "time", 5]}, {"w1": f32(8, 5), "w2": f32(8, 5)}, [("flag", BOOL, [])])


def rounds():
    """A loop that ends when an input says so, on a sequence of any length."""
    f = TensorProto.FLOAT
    step = body([node("MatMul", "a w", "m"), node("Tanh", "m", "a_next"), node("Identity", "go", "go_next")],
                [("i", I64, []), ("go", BOOL, []), ("a", f, [1, "time", 6])],
                [("go_next", BOOL, []), ("a_next", f, [1, "time", 6])])
    return network([node("Min", "count most", "n"), helper.make_node("Loop", ["n", "", "x"], ["y"], body=step)],
                   [1, "time", 6],
                   {"y": [1, "time", 6]}, {"w": f32(6, 6), "most": np.array(3)}, [("count", I64, [])])


def scanned():
    """A cell of its own, once for each element of a sequence."""
    f = TensorProto.FLOAT
    cell = body([node("MatMul", "h r", "hr"), node("Add", "hr e", "sum"), node("Tanh", "sum", "h_next"),
                 node("Neg", "h_next", "o")], [("h", f, [1, 6]), ("e", f, [1, 6])],
                [("h_next", f, [1, 6]), ("o", f, [1, 6])])
    return network([node("MatMul", "x w", "xw"), node("Scan", "h0 xw", "last all", body=cell, num_scan_inputs=1)],
                   ["time", 1, 4], {"last": [1, 6], "all": ["time", 1, 6]},
                   {"w": f32(4, 6), "r": f32(6, 6), "h0": f32(1, 6)})


def summed():
    """The axis of the sums is an input."""
    return network([node("CumSum", "x axis", "s"), node("Neg", "s", "y")], [3, "time"], {"y": [3, "time"]}, {}, [("axis", I64, [])])


SANITIZED = "gcc -O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all"
NATIVE = "-march=x86-64-v3" if "avx2" in pathlib.Path("/proc/cpuinfo").read_text() else ""
# Network, options, compiler, what runs the program, tolerance.
CASES = {
    "speech": (speech, "--max time=41", SANITIZED, "", 1e-5),
    "speech_v3": (speech, "--vary time=1..64 --target x86-64-v3", f"{SANITIZED} {NATIVE}", "", 1e-5),
    "speech_list": (speech, "--vary time=3,20,33..35,100 --optimize size", SANITIZED, "", 1e-5),
    "images_ram": (images, "--vary batch=1 --vary width=64,96,128 --ram 20K", SANITIZED, "", 1e-5),
    "speech_f16w": (speech, "--vary time=2..40/2 --precision f16w", SANITIZED, "", 2e-2),
    "speech_fp8w": (speech, "--vary time=7..30 --precision fp8w --target cortex-m4", SANITIZED, "", 2e-1),
    "speech_int8": (speech, "--vary time=12..40/4 --precision int8 --calib {table}", SANITIZED, "", 2e-1),
    "lstm": (lstm, "--vary frames\\ per\\ clip=1..24", SANITIZED, "", 1e-5),
    "lstm_arm": (lstm, "--vary frames\\ per\\ clip=1..24 --target aarch64", "aarch64-linux-gnu-gcc -O1 -static",
                 "qemu-aarch64", 1e-5),
    "attention": (attention, "--vary time=1..20", SANITIZED, "", 1e-5),
    "attention_v3": (attention, "--vary time=1..33/4 --target x86-64-v3", f"{SANITIZED} {NATIVE}", "", 1e-5),
    "attention_deterministic": (attention, "--vary time=1..9 --deterministic", SANITIZED, "", 1e-5),
    "images": (images, "--vary batch=1..4 --vary width=8,16,20,33", SANITIZED, "", 1e-5),
    "images_arm": (images, "--max batch=3 --vary width=16..48/16 --target aarch64", "aarch64-linux-gnu-gcc -O1 -static",
                   "qemu-aarch64", 1e-5),
    "positions": (positions, "--vary time=1..64", SANITIZED, "", 1e-5),
    "masks": (masks, "--vary time=1..20", SANITIZED, "", 0),
    "masks_m4": (masks, "--vary time=1..20 --target cortex-m4", SANITIZED, "", 0),
    "joined": (joined, "--max n=5", SANITIZED, "", 0),
    "one": (joined, "--vary n=3", SANITIZED, "", 0),
    "top_k": (top_k, "--max k=9", SANITIZED, "", 1e-5),
    "window": (window, "--vary n=0..5 --vary start=0,2..4", SANITIZED, "", 1e-5),
    "window_arm": (window, "--vary n=1,5 --vary start=0..8 --target aarch64", "aarch64-linux-gnu-gcc -O1 -static",
                   "qemu-aarch64", 1e-5),
    "angles": (angles, "--vary n=0..20", SANITIZED, "", 1e-5),
    "shaped": (shaped, "--vary to.0=1..3 --vary repeats.1=1,2 --vary pads.3=0..2 --vary rows.0=1,3,12 "
               "--freeze to=1,12 --freeze repeats=2,1 --freeze pads=0,1,0,0 --freeze rows=0,-1", SANITIZED, "", 0),
    "resized_by_sizes": (resized("sizes"), "--vary sizes.2=2..6 --vary sizes.3=3,5,10 --freeze sizes=1,2,0,0", SANITIZED,
                         "", 1e-5),
    "resized_by_scales": (resized("scales"), "--vary scales.2=1..3 --freeze scales=1", SANITIZED, "", 1e-5),
    "one_hot": (one_hot, "--max depth=6", SANITIZED, "", 0),
    "own_name": (own_name, "--max n=4", SANITIZED, "", 1e-6),
    "branches": (branches, "--vary time=1..12", SANITIZED, "", 1e-5),
    "branches_v3": (branches, "--vary time=2,7,30 --target x86-64-v3", f"{SANITIZED} {NATIVE}", "", 1e-5),
    "rounds": (rounds, "--vary time=1..8", SANITIZED, "", 1e-5),
    "scanned": (scanned, "--max time=7", SANITIZED, "", 1e-5),
    "summed": (summed, "--max time=6", SANITIZED, "", 1e-5),
}


def words(text):
    """By spaces, but those behind a backslash."""
    return [w.replace("\0", " ") for w in text.replace("\\ ", "\0").split()]


def compile_model(model, options, folder):
    onnx.save(model, folder / "net.onnx")
    return subprocess.run([RELAYC, "compile", folder / "net.onnx", "-o", folder, *words(options)], capture_output=True,
                          text=True)


def calibrate(folder):
    """A table of one of the sizes."""
    (folder / "data").mkdir()
    for i in range(4):
        np.save(folder / "data" / f"{i}.npy", rng.uniform(-1, 1, [1, 13, 40]).astype(np.float32))
    subprocess.run([RELAYC, "calibrate", folder / "net.onnx", "--shape", "time=40", "--data", folder / "data", "-o",
                    folder / "table", "-q"], check=True)
    return str(folder / "table")


def build(facts, compiler, folder):
    """The driver with the network; its arguments are in the order of net.h: inputs, sizes, outputs."""
    n_inputs, n_outputs, n_sizes = len(facts["inputs"]), len(facts["outputs"]), len(facts["sizes"])
    arguments = [f"arrays[{i}]" for i in range(n_inputs)] + [f"sizes[{i}]" for i in range(n_sizes)] + \
        [f"arrays[{n_inputs + i}]" for i in range(n_outputs)] + ["arena"]
    (folder / "driver.c").write_text(
        f"#define INPUTS {n_inputs}\n#define ARRAYS {n_inputs + n_outputs}\n#define SIZES {n_sizes}\n"
        f"#define ARGUMENTS {', '.join(arguments)}\n{DRIVER}")
    files = sorted(str(f) for f in folder.glob("net*.c"))
    for file in files:
        subprocess.run([*compiler.split(), *WARNINGS, "-c", file, "-o", file[:-2] + ".o"], check=True)
    subprocess.run([*compiler.split(), "-std=c11", str(folder / "driver.c"), *(f[:-2] + ".o" for f in files), "-o",
                    folder / "driver", "-lm"], check=True)


def drawn(given, sizes, k):
    """An array; of numbers that are not sizes the k-th."""
    shape = [sizes.get(d, d) for d in given.shape]
    if given.type == "tensor(bool)":
        return np.full(shape, k % 2 == 0)
    if given.type == "tensor(int64)":
        return np.full(shape, k % 2)
    return rng.uniform(-1, 1, shape).astype(np.float32)


def numbers_of(given, sizes, frozen):
    """The input, of the sizes that are its elements, the others as --freeze says."""
    dtype = np.float32 if given.type == "tensor(float)" else np.int64
    numbers = np.zeros(given.shape, dtype)
    if given.name in frozen:
        numbers[...] = np.array(frozen[given.name].split(","), dtype)
    for i in range(numbers.size):
        numbers.flat[i] = sizes.get(f"{given.name}.{i}", sizes.get(given.name, numbers.flat[i]))
    return numbers


def wrong_sizes(symbols):
    """Each symbol in turn out of its values, the others as they may be."""
    for i, symbol in enumerate(symbols):
        allowed = symbol["values"]
        others = [s["values"][-1] for s in symbols]
        between = [v for v in range(allowed[0], allowed[-1]) if v not in allowed][:1]
        for value in [0, -1, allowed[-1] + 1, -2**31, 2**31 - 1, *between]:
            if value not in allowed:
                yield tuple(value if k == i else others[k] for k in range(len(symbols)))


def test(name):
    make, options, compiler, emulator, tolerance = CASES[name]
    model = make()
    for tool in [compiler.split()[0], *emulator.split()]:
        if not shutil.which(tool):
            print(f"SKIPPED {name}: no {tool}", file=sys.stderr)
            return ""
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        if "{table}" in options:
            onnx.save(model, folder / "net.onnx")
            options = options.format(table=calibrate(folder))
        done = compile_model(model, options, folder)
        if done.returncode:
            return done.stderr
        facts = json.loads((folder / "net.json").read_text())
        if make is positions and facts["weight_bytes"] > 4 * (64 * 16 + 16 * 32):
            return f"{facts['weight_bytes']} bytes of constants"
        build(facts, compiler, folder)
        symbols, arrays = facts["sizes"], [i["name"] for i in facts["inputs"]]
        frozen = dict(b.split("=") for a, b in itertools.pairwise(words(options)) if a == "--freeze")
        runs, stdin = [], b""
        for k, sizes in enumerate(itertools.product(*(s["values"] for s in symbols))):
            given = dict(zip((s["name"] for s in symbols), sizes))
            feeds = {i.name: drawn(i, given, k) if i.name in arrays else numbers_of(i, given, frozen)
                     for i in session.get_inputs()}
            wanted = session.run(None, feeds)
            runs.append((sizes, wanted))
            stdin += np.array([*sizes, *(feeds[a].nbytes for a in arrays), *(w.nbytes for w in wanted)],
                              np.int32).tobytes()
            stdin += b"".join(feeds[a].tobytes() for a in arrays)
        for sizes in wrong_sizes(symbols):
            runs.append((sizes, None))
            stdin += np.array([*sizes, *(8 for _ in arrays), *(4 for _ in facts["outputs"])], np.int32).tobytes()
            stdin += bytes(8 * len(arrays))
        done = subprocess.run([*emulator.split(), folder / "driver"], input=stdin, capture_output=True)
        if done.returncode:
            return done.stderr.decode()
        return compare(runs, done.stdout, len(facts["outputs"]), tolerance)


def compare(runs, found, n_outputs, tolerance):
    at = 0
    for sizes, wanted in runs:
        code = int.from_bytes(found[at:at + 4], "little")
        at += 4
        if code != (0 if wanted else 9):
            return f"{sizes}: code {code}"
        if not wanted:
            if found[at:at + 4 * n_outputs] != b"\x5a" * 4 * n_outputs:
                return f"{sizes}: an output was written"
            at += 4 * n_outputs
            continue
        for w in wanted:
            y = np.frombuffer(found, w.dtype, w.size, at).reshape(w.shape)
            at += w.nbytes
            if not np.max(np.abs(y - w), initial=0) <= tolerance * np.max(np.abs(w), initial=1e-9):
                return f"{sizes}: {np.max(np.abs(y - w))} off, of {np.max(np.abs(w))}"
    return "" if at == len(found) else f"{len(found) - at} bytes too many"


REFUSED = {
    "--vary time=0..3": "a dimension is at least 1",
    "--vary time=5..3": "expected NAME=VALUES",
    "--vary time=3,2": "expected NAME=VALUES",
    "--vary time=": "expected NAME=VALUES",
    "--vary time=4..": "expected NAME=VALUES",
    "--vary time=1..9/0": "expected NAME=VALUES",
    "--vary time=1,": "expected NAME=VALUES",
    "--vary =1..4": "expected NAME=VALUES",
    "--max time": "expected NAME=N,...",
    "--max time=0": "expected NAME=N,...",
    "--max time=4,": "expected NAME=N,...",
    "--max time=5000": "combinations of values",
    "--vary time=1..2000000000": "combinations of values",
    "--vary time=1..9 --max time=4": "'time' is given twice",
    "--vary tim=1..9": "no dimension of this name",
    "--vary x=1..9": "the input is a tensor of more than one number",
    "--vary time=1..9 --step": "--step: not with dimensions that are known at run time only",
    "--vary time=1..9 --parallel 2": "--parallel: not with dimensions",
    "--vary time=1..9 --pool a=100K": "--pool: not with dimensions",
    "--vary time=1..9 --io-in-arena": "--io-in-arena: not with dimensions",
    "--vary time=1..9 --guard": "--guard: not with dimensions",
}


# relayc verify and run of code for several sizes: network, options, how many combinations.
VERIFIED = [(speech, "--vary time=1..9", 9), (images, "--vary batch=1,3 --vary width=8,33 --target x86-64-v3", 4),
            (attention, "--max time=4 --precision fp8w", 4), (lstm, "--vary frames\\ per\\ clip=2,5 --against onnxruntime", 2),
            (joined, "--vary n=2,3 --deterministic", 2)]


def relayc(*arguments, **environment):
    return subprocess.run([RELAYC, *arguments], capture_output=True, text=True, env={**os.environ, **environment})


def test_verify(make, options, n, folder):
    onnx.save(make(), folder / "net.onnx")
    done = relayc("verify", folder / "net.onnx", *words(options))
    if done.returncode or f"{n} of {n} combinations" not in done.stdout or done.stdout.count("\n") != n + 2:
        return f"verify {options}: exit code {done.returncode}, {done.stdout}{done.stderr}"
    return ""


def test_wrong_code(folder):
    """A compiler that changes a number of the function for two sizes: verify names these, and runs the first one again."""
    onnx.save(speech(), folder / "net.onnx")
    (folder / "cc").write_text('#!/bin/sh\nfor f; do case $f in */model.c) sed -i "s/out_w = time }/out_w = time - 1 }/" "$f";; '
                               'esac; done\nexec cc "$@"\n')
    (folder / "cc").chmod(0o755)
    done = relayc("verify", folder / "net.onnx", "--vary", "time=4..7", CC=str(folder / "cc"))
    wrong = [row.split()[0] for row in done.stdout.splitlines() if row.endswith("DIFFERS")]
    if done.returncode != 1 or wrong != ["time=6", "time=5", "time=6"] or "with time=6 (--vary)" not in done.stderr:
        return f"verify of wrong code: exit code {done.returncode}, {done.stdout}{done.stderr}"
    return ""


def test_run(folder):
    model = speech()
    onnx.save(model, folder / "net.onnx")
    x = rng.uniform(-1, 1, [1, 13, 6]).astype(np.float32)
    np.save(folder / "x.npy", x)
    given = ["run", folder / "net.onnx", "--vary", "time=1..9", "-i", folder / "x.npy", "--output", folder / "y.npy"]
    wanted = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]
    for executor in ("generated", "engine"):
        done = relayc(*given, "--shape", "time=6", "--with", executor)
        y = np.load(folder / "y.npy") if done.returncode == 0 else np.zeros(1)
        if y.shape != wanted.shape or np.max(np.abs(y - wanted)) > 1e-5:
            return f"run --with {executor}: {done.stderr}"
    done = relayc(*given, "--with", "generated", "--shape", "x=1,13,6")
    if done.returncode != 2 or "gives no size that the code takes" not in done.stderr:
        return f"run of no size: exit code {done.returncode}, {done.stderr}"
    done = relayc("verify", *given[1:6])
    return "" if done.returncode == 2 and "verifies one size with it" in done.stderr else f"verify -i: {done.stderr}"


def test_commands():
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        problems += [test_verify(*case, folder) for case in VERIFIED]
        problems += [test_wrong_code(folder), test_run(folder)]
    return [problem for problem in problems if problem]


def main():
    wanted = sys.argv[1:]
    failed = 0
    if wanted[:1] == ["--write"]:
        for make in {case[0] for case in CASES.values()}:
            onnx.save(make(), pathlib.Path(wanted[1]) / f"{make.__name__}.onnx")
        return
    for name in CASES:
        if not wanted or any(w in name for w in wanted):
            problem = test(name)
            failed += bool(problem)
            if problem:
                print(f"{name}: {problem}")
    if not wanted:
        with tempfile.TemporaryDirectory() as folder:
            for options, text in REFUSED.items():
                done = compile_model(speech(), options, pathlib.Path(folder))
                if done.returncode not in (1, 2) or text not in done.stderr:
                    failed += 1
                    print(f"{options}: exit code {done.returncode}, {done.stderr}")
    if not wanted or "commands" in wanted:
        problems = test_commands()
        failed += len(problems)
        print(*problems, sep="\n", end="\n" if problems else "")
    print(f"{len(CASES)} networks for many sizes, {len(REFUSED)} refusals, verify and run: {failed} fail")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
