"""Networks of which run time says how long axes are (Compress, NonZero, a Slice, TopK or Range by numbers of run time), with
what reads such values: the generated C of one compilation, in arrays of just its size under ASan and UBSan, against ONNX
Runtime, for lengths from none to all; NAME_WRONG_NUMBER where there are fewer than a number asks for.

  open_lengths.py [CASE ...]     only cases whose name contains one of these
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

RELAYC = pathlib.Path(os.environ.get("BUILD", "build")).resolve() / "relayc"
FLOAT, I64, U8, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.UINT8, TensorProto.BOOL
TYPES = {FLOAT: np.float32, I64: np.int64, U8: np.uint8, BOOL: np.bool_}
WRONG_NUMBER = -1
rng = np.random.default_rng(17)
CASES = {}

# Inputs from stdin, each in memory of its own; the code and the outputs to stdout.
DRIVER = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "net.h"

int main(void)
{
    static const size_t bytes[] = { BYTES };
    enum { N = sizeof bytes / sizeof *bytes };
    void *arrays[N], *arena = aligned_alloc(64, (NET_ARENA_BYTES + 63) / 64 * 64 + 64);
    int code;

    for (int i = 0; i < N; i++) {
        arrays[i] = malloc(bytes[i]); /* of which ASan watches each byte around */
        if (!arrays[i] || !arena)
            return 3;
        memset(arrays[i], 0x5a, bytes[i]);
    }
    memset(arena, 0xff, NET_ARENA_BYTES);
    for (;;) {
        for (int i = 0; i < INPUTS; i++)
            if (fread(arrays[i], bytes[i], 1, stdin) != 1)
                return 0;
        code = net_run(ARGUMENTS);
        fwrite(&code, sizeof code, 1, stdout);
        for (int i = INPUTS; i < N; i++)
            fwrite(arrays[i], bytes[i], 1, stdout);
    }
}
"""


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, [i.strip("-") for i in inputs.split()], outputs.split(), **attributes)


def f32(*shape):
    return (rng.standard_normal(shape) * 0.5).astype(np.float32)


def case(name, nodes, inputs, outputs, runs, constants=(), bad=(), opset=18, options=""):
    """inputs: name -> type, shape; outputs: name -> type; runs, bad: values of inputs that are not drawn."""
    CASES[name] = (nodes, inputs, outputs, runs, dict(constants), bad, opset, options)


ZERO, ONE = ("zero", np.array([0])), ("one", np.array([1]))
CHOSEN = [[0] * 6, [1] * 6, [0, 1, 0, 0, 1, 0], [0, 0, 0, 0, 0, 1], [1, 1, 1, 0, 1, 1]]
MASKS = [{"m": m} for m in CHOSEN]
SOME = MASKS[1:]  # one at least
XM = {"x": (FLOAT, [6, 4]), "m": (BOOL, [6])}


# Boxes above a score, as exporters write x[mask].
case("boxes", [node("Greater", "scores least", "is"), node("NonZero", "is", "at"), node("Transpose", "at", "tuples", perm=[1, 0]),
               node("GatherND", "boxes tuples", "y"), node("Squeeze", "at zero", "list"), node("Gather", "scores list", "s"),
               node("Mul", "y two", "double"), node("Unsqueeze", "s one", "column"), node("Mul", "double column", "z"),
               node("MatMul", "z w", "p"), node("Add", "p b", "q"), node("Gather", "z fourth", "last", axis=1)],
     {"boxes": (FLOAT, [20, 4]), "scores": (FLOAT, [20]), "least": (FLOAT, [])},
     {"y": FLOAT, "s": FLOAT, "q": FLOAT, "last": FLOAT}, [{"least": t} for t in (-9., -0.3, 0., .4, 9.)],
     [ZERO, ONE, ("two", np.float32([1, 2, 3, 4])), ("w", f32(4, 3)), ("b", f32(3)), ("fourth", np.array(3))])
case("reduced", [node("Compress", "x m", "y", axis=0),
                 *(node(f"Reduce{op}", "y zero", f"r{i}", keepdims=i % 2)
                   for i, op in enumerate(("Sum", "L1", "L2", "SumSquare", "Prod"))),
                 node("ReduceMean", "y one", "rows"), node("ReduceSum", "y", "all", keepdims=0)],
     XM, {"rows": FLOAT, "all": FLOAT, **{f"r{i}": FLOAT for i in range(5)}}, MASKS, [ZERO, ONE])
case("reduced_some", [node("Compress", "x m", "y", axis=0), node("ReduceMean", "y zero", "mean", keepdims=0),
                      node("ReduceMax", "y zero", "max"), node("ReduceMin", "y", "min"),
                      node("ReduceLogSumExp", "y zero", "lse"), node("ArgMax", "y", "am", axis=0), node("ArgMin", "y", "an"),
                      node("Softmax", "y", "soft", axis=0), node("LogSoftmax", "y", "log", axis=0),
                      node("Cast", "y", "whole", to=I64), node("ReduceMax", "whole zero", "most"),
                      node("Gather", "y ends", "ends_of", axis=0)],
     XM, {"mean": FLOAT, "max": FLOAT, "min": FLOAT, "lse": FLOAT, "am": I64, "an": I64, "soft": FLOAT, "log": FLOAT,
          "most": I64, "ends_of": FLOAT}, SOME, [ZERO, ("ends", np.array([0, -1]))], [MASKS[0]])
case("products", [node("Compress", "x m", "y", axis=0), node("Transpose", "y", "t"), node("MatMul", "y t", "s"),
                  node("MatMul", "t y", "gram"), node("Gemm", "y w b", "g", alpha=.5, transB=1),
                  node("Softmax", "s", "a", axis=-1), node("MatMul", "a y", "mixed")],
     XM, {"s": FLOAT, "gram": FLOAT, "g": FLOAT, "mixed": FLOAT}, MASKS, [("w", f32(5, 4)), ("b", f32(5))])
case("norms", [node("Compress", "x m", "y", axis=0), node("LayerNormalization", "y g b", "n"), node("CumSum", "y zero_", "c"),
               node("CumSum", "y zero_", "r", reverse=1), node("Clip", "n low", "l"), node("Split", "y", "s0 s1", axis=1, num_outputs=2)],
     XM, {"l": FLOAT, "c": FLOAT, "r": FLOAT, "s1": FLOAT}, MASKS,
     [("g", f32(4)), ("b", f32(4)), ("zero_", np.array(0)), ("low", np.float32(-1))])
case("shapes", [node("Compress", "x m", "y", axis=0), node("Reshape", "y pairs", "p"), node("Transpose", "p", "q", perm=[0, 2, 1]),
                node("Reshape", "q same", "r"), node("Reshape", "y all", "f"), node("Reshape", "f fours", "g"),
                node("Flatten", "p", "h"), node("Unsqueeze", "y one", "u"), node("Squeeze", "u one", "v"),
                node("Add", "h v", "sum"), node("Shape", "y", "dims"), node("Gather", "dims zero_", "n"),
                node("Cast", "n", "real", to=FLOAT), node("Div", "sum real", "part"), node("Unsqueeze", "n zero", "list"),
                node("Concat", "list four", "to", axis=0), node("ConstantOfShape", "to", "zeros"), node("Sub", "y zeros", "d"),
                node("Expand", "row to", "e"), node("Add", "e y", "o"), node("Range", "zero_ n one_", "i"),
                node("Gather", "y i", "again"), node("Reshape", "y to", "w")],
     XM, {"r": FLOAT, "f": FLOAT, "g": FLOAT, "part": FLOAT, "dims": I64, "d": FLOAT, "o": FLOAT, "i": I64, "again": FLOAT,
          "w": FLOAT}, SOME,
     [ZERO, ONE, ("pairs", np.array([-1, 2, 2])), ("same", np.array([0, 4])), ("all", np.array([-1])),
      ("fours", np.array([-1, 4])), ("zero_", np.array(0)), ("one_", np.array(1)), ("four", np.array([4])),
      ("row", f32(1, 4))])
case("joined", [node("Compress", "x m", "y", axis=0), node("Concat", "c y c y", "j", axis=0), node("Neg", "j", "k"),
                node("Concat", "y y", "wide", axis=1)], XM, {"k": FLOAT, "wide": FLOAT}, MASKS, [("c", f32(2, 4))])
case("cut", [node("Compress", "x m", "y", axis=0), node("Slice", "y one big", "tail"), node("Slice", "y back big", "last"),
             node("Slice", "y zero two", "first"), node("Slice", "y zero big zero two", "even"),
             node("Slice", "y one three one", "columns")],
     XM, {"tail": FLOAT, "last": FLOAT, "first": FLOAT, "even": FLOAT, "columns": FLOAT}, MASKS,
     [ZERO, ONE, ("two", np.array([2])), ("three", np.array([3])), ("big", np.array([2**63 - 1])), ("back", np.array([-2]))])
case("best", [node("Compress", "x m", "y", axis=0), node("Shape", "y", "dims"), node("Gather", "dims zero", "n"),
              node("Min", "n three", "k"), node("TopK", "y k", "v i", axis=0), node("TopK", "y one", "v1 i1", axis=0, largest=0)],
     XM, {"v": FLOAT, "i": I64, "v1": FLOAT, "i1": I64}, SOME, [ZERO, ONE, ("three", np.array([3]))], [MASKS[0]])
case("twice", [node("Compress", "x m", "a", axis=0), node("Neg", "x", "nx"), node("Compress", "nx m2", "b", axis=0),
               node("Mul", "a b", "y"), node("ReduceSum", "y zero", "s")], {**XM, "m2": (BOOL, [6])}, {"y": FLOAT, "s": FLOAT},
     [{"m": [1, 0, 1, 0, 0, 0], "m2": [0, 0, 0, 1, 0, 1]}, {"m": [1] * 6, "m2": [1] * 6}], [ZERO],
     [{"m": [1, 0, 1, 0, 0, 0], "m2": [0, 1, 0, 1, 0, 1]}])
case("again", [node("Compress", "x m", "y", axis=0), node("ReduceSum", "y one", "s", keepdims=0), node("Greater", "s low", "is"),
               node("Compress", "y is", "z", axis=0), node("NonZero", "is", "at")], XM, {"z": FLOAT, "at": I64}, MASKS,
     [ONE, ("low", np.float32(0))])
# Numbers.
case("slice", [node("Slice", "x zero n one", "y"), node("Softmax", "y", "s", axis=1), node("ReduceMax", "y one", "m")],
     {"x": (FLOAT, [2, 9, 4]), "n": (I64, [1])}, {"s": FLOAT, "m": FLOAT, "y": FLOAT},
     [{"n": [k]} for k in (1, 4, 9, 2**62, -1, -8)], [ZERO, ONE])
case("slice_both", [node("Slice", "x starts ends axes", "y")],
     {"x": (FLOAT, [5, 8]), "starts": (I64, [2]), "ends": (I64, [2])}, {"y": FLOAT},
     [{"starts": s, "ends": e} for s, e in (([0, 0], [8, 5]), ([3, -2], [-1, 9]), ([7, 4], [8, 1]), ([-2**63] * 2, [2**63 - 1] * 2))],
     [("axes", np.array([1, 0]))])
case("window", [node("Add", "at three", "end"), node("Unsqueeze", "at zero", "s"), node("Unsqueeze", "end zero", "e"),
                node("Slice", "x s e one", "y"), node("MatMul", "y w", "z"), node("ReduceSum", "z one", "t")],
     {"x": (FLOAT, [2, 9, 4]), "at": (I64, [])}, {"z": FLOAT, "t": FLOAT}, [{"at": k} for k in (0, 2, 6)],
     [ZERO, ONE, ("three", np.array(3)), ("w", f32(4, 5))], [{"at": 7}, {"at": -1}, {"at": 2**40}])
case("top_k", [node("TopK", "x k", "v i", axis=1), node("Softmax", "v", "s", axis=1), node("ReduceMean", "v one", "m"),
               node("Gather", "names i", "g")], {"x": (FLOAT, [3, 7]), "k": (I64, [1])}, {"s": FLOAT, "i": I64, "m": FLOAT, "g": I64},
     [{"k": [k]} for k in (1, 2, 7)], [ONE, ("names", np.arange(7) * 3)], [{"k": [8]}, {"k": [-1]}, {"k": [2**40]}])
case("range", [node("Cast", "n", "limit", to=I64), node("Range", "from limit two", "y"), node("Cast", "y", "f", to=FLOAT),
               node("Mul", "f f", "z"), node("Range", "from_f limit_f half", "h"), node("Cast", "limit", "limit_f", to=FLOAT)],
     {"n": (U8, [])}, {"y": I64, "z": FLOAT, "h": FLOAT}, [{"n": k} for k in (4, 5, 77, 255)],
     [("from", np.array(3)), ("two", np.array(2)), ("from_f", np.float32(3)), ("half", np.float32(.5))])
case("filled", [node("Cast", "n", "long", to=I64), node("Min", "long seven", "least"), node("Concat", "three least", "to", axis=0),
                node("ConstantOfShape", "to", "c"), node("Cos", "c", "y"), node("Expand", "x to", "e"), node("Tile", "row repeats", "t"),
                node("Concat", "one least", "repeats", axis=0), node("ReduceSum", "t one", "s")],
     {"n": (U8, [1]), "x": (FLOAT, [3, 1])}, {"y": FLOAT, "e": FLOAT, "s": FLOAT, "t": FLOAT}, [{"n": [k]} for k in (1, 3, 7, 200)],
     [ONE, ("three", np.array([3])), ("seven", np.array([7])), ("row", f32(2, 3))])


def build(name, folder, target):
    nodes, inputs, outputs, runs, constants, bad, opset, options = CASES[name]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info(n, *i) for n, i in inputs.items()],
                              [helper.make_tensor_value_info(n, t, None) for n, t in outputs.items()],
                              [numpy_helper.from_array(a, n) for n, a in constants.items()])
    ordered = sort(nodes, {*inputs, *constants})
    del graph.node[:]
    graph.node.extend(ordered)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    onnx.save(model, folder / "net.onnx")
    done = subprocess.run([RELAYC, "compile", folder / "net.onnx", "-o", folder, *options.split(), *target.split()],
                          capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{name}: {done.stderr}")
    facts = json.loads((folder / "net.json").read_text())
    arrays = facts["inputs"] + facts["outputs"]
    n_inputs = len(facts["inputs"])
    sizes = [int(np.prod(a["shape"], dtype=int)) * np.dtype(NUMPY[a["dtype"]]).itemsize
             for a in arrays]
    (folder / "driver.c").write_text(
        f"#define INPUTS {n_inputs}\n#define BYTES {', '.join(map(str, sizes))}\n#define ARGUMENTS "
        f"{', '.join([f'arrays[{i}]' for i in range(len(arrays))] + ['arena'])}\n{DRIVER}")
    files = sorted(str(f) for f in folder.glob("net*.c"))
    flags = "-O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all -ffp-contract=off".split()
    subprocess.run(["gcc", *flags, *"-std=c99 -Wall -Wextra -Wpedantic -Wconversion -Werror -c".split(), *files], check=True,
                   cwd=folder)
    subprocess.run(["gcc", *flags, "-std=c11", "driver.c", *(pathlib.Path(f).stem + ".o" for f in files), "-o", "driver",
                    "-lm"], check=True, cwd=folder)
    return model, facts


NUMPY = {"bool": np.bool_, "f32": np.float32, "i64": np.int64, "u8": np.uint8, "i32": np.int32}


def sort(nodes, known):
    nodes, ordered, known = list(nodes), [], set(known)
    while nodes:
        ready = next(n for n in nodes if all(i in known or not i for i in n.input))
        nodes.remove(ready)
        ordered.append(ready)
        known.update(ready.output)
    return ordered


def test(name, target=""):
    nodes, inputs, outputs, runs, constants, bad, opset, options = CASES[name]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        model, facts = build(name, folder, target)
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        all_feeds = []
        for given in [*runs, *bad]:
            all_feeds.append({n: np.array(given[n]).astype(TYPES[t]).reshape(s) if n in given else
                              (rng.uniform(-1, 1, s) * 2).astype(TYPES[t]) for n, (t, s) in inputs.items()})
        stdin = b"".join(feeds[i["name"]].tobytes() for feeds in all_feeds for i in facts["inputs"])
        done = subprocess.run([folder / "driver"], input=stdin, capture_output=True,
                              env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"})
        if done.returncode:
            return done.stderr.decode()
        at = 0
        for k, feeds in enumerate(all_feeds):
            code = int.from_bytes(done.stdout[at:at + 4], "little", signed=True)
            at += 4
            found = {}
            for output in facts["outputs"]:
                dtype = NUMPY[output["dtype"]]
                n = int(np.prod(output["shape"], dtype=int))
                found[output["name"]] = np.frombuffer(done.stdout, dtype, n, at).reshape(output["shape"])
                at += found[output["name"]].nbytes
            if code != (0 if k < len(runs) else WRONG_NUMBER):
                return f"{[*runs, *bad][k]}: code {code}"
            if code == 0:
                problem = compare(found, dict(zip(outputs, session.run(None, feeds))))
                if problem:
                    return f"{runs[k]}: {problem}"
        return "" if at == len(done.stdout) else "bytes too many"


def compare(found, wanted):
    """What is there of each output; each length is told by a count."""
    counts = [int(v[0]) for n, v in found.items() if ".count" in n]
    for name, w in wanted.items():
        y = found[name]
        if y.ndim != w.ndim or any(a < b for a, b in zip(y.shape, w.shape)):
            return f"{name} has the shape {y.shape}, wanted {w.shape}"
        untold = [b for a, b in zip(y.shape, w.shape) if a != b and b not in counts]
        if untold:
            return f"{name}: {untold} elements, of which {counts} tell nothing"
        y = y[tuple(slice(0, b) for b in w.shape)].astype(np.float64)
        if not np.allclose(y, w, rtol=2e-5, atol=1e-6, equal_nan=True):
            return f"{name}: {np.max(np.abs(y - w))} off, of {np.max(np.abs(w))}"
    return ""


def main():
    wanted, failed = sys.argv[1:], 0
    names = [n for n in CASES if not wanted or any(w in n for w in wanted)]
    for i, name in enumerate(names):
        problem = test(name, ["", "--optimize size", "--deterministic", "--target x86-64-v3 --optimize size"][i % 3])
        failed += bool(problem)
        if problem:
            print(f"{name}: {problem}")
    print(f"{len(names)} networks with lengths of run time: {failed} fail")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
