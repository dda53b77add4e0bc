"""Networks whose numbers (shapes, axes, starts ...) are inputs: the generated C of one compilation against ONNX Runtime
for several numbers that give the declared shape, and NAME_WRONG_NUMBER, with nothing written outside, for such as do
not.

  run_time_numbers.py [CASE ...]     only cases whose name contains one of these
"""

import ctypes
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
FLOAT, I64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
WRONG_NUMBER = -1
GUARD = 64
rng = np.random.default_rng(11)
CASES = {}


def add(name, op, inputs, outputs, good, bad, constants=(), opset=18, **attributes):
    """inputs: (name, type, shape), "" = absent, or the name of a constant; outputs likewise. good, bad: numbers for the
    inputs that are integers, in their order."""
    CASES[name] = (op, inputs, outputs, good, bad, dict(constants), opset, attributes)


def x(*shape):
    return ("x", FLOAT, list(shape))


def y(*shape, kind=FLOAT):
    return ("y", kind, list(shape))


def n(name, count):
    return (name, I64, [count] if count else [])


LEAST = -2**63
add("reshape", "Reshape", [x(2, 3, 4), n("shape", 2)], [y(6, 4)], [[[6, 4]], [[-1, 4]], [[6, -1]]],
    [[[4, 6]], [[-1, -1]], [[0, 4]], [[-1, 6]], [[24, 1]], [[LEAST, 4]]])
add("reshape_copies", "Reshape", [x(2, 3, 4), n("shape", 3)], [y(2, 12, 1)], [[[0, 12, 1]], [[2, -1, 1]], [[0, -1, 1]]],
    [[[0, 0, 1]], [[0, 12, 0]]])
add("squeeze", "Squeeze", [x(1, 3, 1, 1), n("axes", 2)], [y(3, 1)], [[[0, 2]], [[3, 0]], [[-4, -1]]],
    [[[0, 1]], [[0, 0]], [[2, 3]], [[0, 7]]])
add("unsqueeze", "Unsqueeze", [x(3, 4), n("axes", 2)], [y(1, 3, 1, 4)], [[[0, 2]], [[2, 0]], [[-4, -2]]],
    [[[0, 1]], [[2, 2]], [[0, 9]]])
add("expand", "Expand", [x(3, 1), n("shape", 3)], [y(2, 3, 4)], [[[2, 3, 4]], [[2, 1, 4]]],
    [[[2, 3, 1]], [[1, 3, 4]], [[3, 3, 4]]])
add("tile", "Tile", [x(2, 3), n("repeats", 2)], [y(4, 9)], [[[2, 3]]], [[[3, 2]], [[2, 0]], [[-1, 3]]])
add("split", "Split", [x(2, 7), n("split", 2)], [("y", FLOAT, [2, 3]), ("z", FLOAT, [2, 4])], [[[3, 4]]],
    [[[4, 3]], [[3, 5]]], axis=1)
add("top_k", "TopK", [x(3, 7), n("k", 1)], [("y", FLOAT, [3, 4]), ("i", I64, [3, 4])], [[[4]]], [[[3]], [[8]], [[-1]]])
add("one_hot", "OneHot", [("x", I64, [5]), n("depth", 1), "values"], [y(5, 6)],
    [[[0, 5, -1, 9, 3], [6]], [[1, 1, 1, 1, 1], [6]]], [[[0, 5, -1, 9, 3], [5]]],
    [("values", np.array([0, 2], np.float32))])
add("constant_of_shape", "ConstantOfShape", [n("shape", 2)], [y(3, 4)], [[[3, 4]]], [[[4, 3]], [[12, 1]]],
    value=helper.make_tensor("v", FLOAT, [1], [2.5]))
add("range", "Range", [n("start", 0), n("limit", 0), n("delta", 0)], [y(4, kind=I64)],
    [[3, 11, 2], [3, 10, 2], [11, 3, -2], [-2, 2, 1]], [[3, 12, 2], [3, 3, 1], [3, 11, -2]])
add("slice", "Slice", [x(5, 8), n("starts", 2), n("ends", 2), n("axes", 2), n("steps", 2)], [y(2, 3)],
    [[[1, 0], [3, 3], [0, 1], [1, 1]], [[0, -1], [3, -99], [1, 0], [1, -3]], [[-3, 4], [99, 2], [-1, 0], [1, -1]],
     [[7, -2], [1, 2**40], [1, 0], [-2, 1]]],
    [[[1, 0], [4, 3], [0, 1], [1, 1]], [[1, 0], [3, 3], [0, 0], [1, 1]], [[1, 0], [3, 3], [0, 2], [1, 1]],
     [[1, 0], [3, 3], [0, 1], [1, 0]], [[LEAST, LEAST], [LEAST, LEAST], [0, 1], [LEAST, 1]]])
add("slice_of_axis_0", "Slice", [x(5, 8), n("starts", 1), n("ends", 1)], [y(2, 8)],
    [[[0], [2]], [[3], [99]], [[-4], [-2]]],
    [[[0], [3]], [[4], [6]]])
add("pad", "Pad", [x(3, 4), n("pads", 4)], [y(5, 5)], [[[1, 0, 1, 1]], [[0, 1, 2, 0]], [[3, 2, -1, -1]]],
    [[[1, 0, 1, 2]], [[LEAST, 0, 1, 1]], [[2**62, 0, 2**62, 1]]])
for mode in ("reflect", "edge", "wrap"):
    add(f"pad_{mode}", "Pad", [x(3, 4), n("pads", 2), "", n("axes", 1)], [y(3, 8)],
        [[[1, 3], [1]], [[2, 2], [-1]], [[0, 4], [1]] if mode == "edge" else [[3, 1], [1]]],
        [[[1, 4], [1]], [[1, 3], [0]], [[1, 3], [2]]], opset=19, mode=mode)
for op in ("Sum", "Max", "Mean", "L2", "LogSumExp"):
    add(f"reduce_{op}", f"Reduce{op}", [x(3, 3, 3), n("axes", 1)], [y(3, 3)], [[[0]], [[1]], [[2]], [[-1]]],
        [[[3]], [[-4]]], keepdims=0)
add("reduce_two", "ReduceSum", [x(2, 3, 2, 3), n("axes", 2)], [y(2, 1, 1, 3)], [[[1, 2]], [[-2, 1]]],
    [[[0, 1]], [[1, 1]], [[0, 3]]])
add("reduce_many", "ReduceMin", [x(2, 2, 2, 2), n("axes", 2)], [y(2, 2)],
    [[[a, b]] for a in range(4) for b in range(4) if a != b],
    [[[1, 1]], [[1, 4]]], keepdims=0)
add("cumulative", "CumSum", [x(3, 4, 2), n("axis", 0)], [y(3, 4, 2)], [[0], [1], [2], [-1]], [[3], [-4]], opset=14,
    reverse=1)
add("spectrum", "DFT", [x(2, 8, 8, 1), "", n("axis", 0)], [y(2, 8, 8, 2)], [[1], [2], [-2], [-3]], [[4], [-5]],
    opset=20)
add("stft", "STFT", [x(2, 32, 1), n("step", 0), "", n("length", 0)], [y(2, 7, 5, 2)], [[4, 8]],
    [[3, 8], [4, 9], [4, 7], [0, 8], [-4, 8]])
add("stft_window", "STFT", [x(2, 32, 1), n("step", 0), ("window", FLOAT, [8])], [y(2, 7, 5, 2)],
    [[4, [1, 2, 3, 4, 5, -4, 3, 0]]], [[5, [1] * 8], [3, [1] * 8]])
add("trilu", "Trilu", [x(2, 4, 5), n("k", 0)], [y(2, 4, 5)], [[0], [1], [-2], [9], [-9], [2**31]], [], upper=0)
add("compress", "Compress", [x(4, 5, 3), ("condition", BOOL, [5])], [y(4, 2, 3)],
    [[[0, 1, 0, 0, 1]], [[1, 1, 0, 0, 0]], [[0, 0, 0, 1, 1]]], [[[0, 1, 0, 0, 0]], [[1] * 5], [[0] * 5]], axis=1)
add("compress_all", "Compress", [x(2, 3), ("condition", BOOL, [5])], [y(3)], [[[1, 0, 1, 0, 1]]], [[[1, 0, 1, 0, 0]]])
add("non_zero", "NonZero", [("x", I64, [3, 4])], [("y", I64, [2, 3])],
    [[[0, 5, 0, 0, 0, 0, 0, -1, 0, 0, 0, 7]], [[1, 1, 1] + [0] * 9]], [[[0] * 12], [[1] * 4 + [0] * 8]])
UNIQUE = [("y", I64, [3]), ("first", I64, [3]), ("kind", I64, [6]), ("size", I64, [3])]
for unsorted in (0, 1):
    add(f"unique_{unsorted}", "Unique", [("x", I64, [2, 3])], UNIQUE,
        [[[5, -1, 5, 5, 2, -1]], [[1, 1, 1, 0, 2, 2]], [[-3, 9, 9, 9, 9, -2**40]]], [[[1] * 6], [[1, 2, 3, 4, 5, 6]]],
        sorted=1 - unsorted)
add("unique_rows", "Unique", [("x", I64, [2, 3])], [y(2, 2, kind=I64), ("first", I64, [2]), ("kind", I64, [3])],
    [[[1, 1, 0, 2, 2, 5]], [[4, 1, 4, 3, 3, 3]]], [[[1] * 6], [[1, 2, 3, 4, 5, 6]]], axis=-1)
add("boxes", "NonMaxSuppression", ["boxes", ("scores", FLOAT, [1, 2, 4]), "most", "iou", "least"], [("y", I64, [3, 3])],
    [[[.9, .8, .1, .3, .2, .1, .9, .1]], [[.1, .8, .1, .9, .1, .1, .4, .2]]],
    [[[.9, .8, .9, .9, .9, .1, .9, .1]], [[0] * 8]],
    [("boxes", np.array([[[0, 0, 1, 1], [0, .1, 1, 1.1], [2, 2, 3, 3], [6, 6, 5, 5]]], np.float32)),
     ("most", np.array([2])), ("iou", np.float32(.5)), ("least", np.float32(.25))])
add("boxes_by_centers", "NonMaxSuppression", ["boxes", ("scores", FLOAT, [2, 1, 3]), "most"], [("y", I64, [4, 3])],
    [[[.1, .8, .3, -.9, -.8, .7]], [[0] * 6]], [[[float("nan")] * 6]],
    [("boxes", np.array([[[0, 0, 1, 1], [1, 2, 2, 2], [9, 2, 1, 1]]] * 2, np.float32)), ("most", np.array([2]))],
    center_point_box=1)
add("col2im", "Col2Im", [x(1, 6, 12), n("image", 2), n("block", 2)], [y(1, 1, 4, 6)], [[[4, 6], [2, 3]]],
    [[[6, 4], [2, 3]], [[4, 6], [3, 2]]], strides=[1, 1])
add("resize", "Resize", [x(1, 2, 4, 5), "", "", n("sizes", 4)], [y(1, 2, 8, 7)], [[[1, 2, 8, 7]]],
    [[[1, 2, 7, 8]], [[1, 2, 8, 8]]], mode="linear")

def f(name, *shape):
    return (name, FLOAT, list(shape))


def drawn(*shape):
    return rng.standard_normal(shape).astype(np.float32)


for mode in ("linear", "cubic", "nearest"):
    for coordinates in ("half_pixel", "asymmetric", "pytorch_half_pixel"):
        add(f"resize_scales_{mode}_{coordinates}", "Resize", [x(1, 2, 5, 6), "", f("scales", 4)], [y(1, 2, 8, 4)],
            [[[1, 1, 1.6, .72]], [[1, 1, 1.75, .67]]], [[[1, 1, 1.5, .7]], [[1, 1.2, 1.6, .7]], [[1, 1, 0, 0]],
                                                      [[1, 1, float("nan"), .7]]],
            mode=mode, coordinate_transformation_mode=coordinates)
add("resize_antialias", "Resize", [x(1, 1, 9, 8), "", f("scales", 4)], [y(1, 1, 4, 3)], [[[1, 1, .5, .4]]],
    [[[1, 1, .6, .4]]], mode="linear", antialias=1)
add("resize_region", "Resize", [x(1, 2, 6, 5), f("roi", 8), "scales"], [y(1, 2, 3, 10)],
    [[[0, 0, .1, .2, 1, 1, .8, .9]], [[0, 0, -.3, 0, 1, 1, .5, 1.4]]], [], [("scales", np.float32([1, 1, .5, 2]))],
    mode="linear", coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=2.0)
add("resize_kept_ratio", "Resize", [x(1, 1, 4, 6), "", "", n("sizes", 2)], [y(1, 1, 3, 5)], [[[3, 9]]],
    [[[4, 9]], [[2, 9]]], mode="linear", keep_aspect_ratio_policy="not_larger", axes=[2, 3])
add("boxes_of_run_time", "NonMaxSuppression",
    ["boxes", f("scores", 1, 2, 4), n("most", 0), f("iou", 1), f("least", 1)], [("y", I64, [3, 3])],
    [[[.9, .8, .1, .3, .2, .1, .9, .1], 2, .5, .25], [[.9, .8, .7, .3, .2, .1, .9, .1], 2, .9, .5],
     [[.9, .8, .7, .6, .2, .1, .9, .1], 3, .1, .65]],
    [[[.9, .8, .7, .3, .2, .1, .9, .1], 1, .9, .5], [[.9, .8, .7, .3, .2, .1, .9, .1], 2, .9, .85]],
    [("boxes", np.array([[[0, 0, 1, 1], [0, .1, 1, 1.1], [2, 2, 3, 3], [6, 6, 5, 5]]], np.float32))])
for op, gates, more in (("LSTM", 4, {}), ("GRU", 3, {}), ("GRU", 3, {"linear_before_reset": 1}), ("RNN", 1, {})):
    for direction, d in (("forward", 1), ("bidirectional", 2)):
        add(f"weights_{op}_{direction}_{len(more)}", op,
            [x(5, 2, 3), f("w", d, gates * 4, 3), f("r", d, gates * 4, 4), f("b", d, gates * 8), "lengths"],
            [y(5, d, 2, 4), ("h", FLOAT, [d, 2, 4])],
            [[drawn(d, gates * 4, 3), drawn(d, gates * 4, 4), drawn(d, gates * 8)] for _ in range(2)], [],
            [("lengths", np.array([5, 3], np.int32))], hidden_size=4, direction=direction, **more)

OPTIONS = ["", "--optimize size", "--step", "--target cortex-m4", "--deterministic", "--guard --ram 64K"]


def model_of(op, inputs, outputs, constants, opset, attributes):
    """A sum in front where the first input is numbers of the network, and behind: what is checked is none of the
    parameters."""
    names = [i if isinstance(i, str) else i[0] for i in inputs]
    nodes, given = [], [i for i in inputs if not isinstance(i, str)]
    if given[0][0] == "x" and given[0][1] == FLOAT:
        nodes.append(helper.make_node("Neg", ["x"], ["x_in"]))
        names[0] = "x_in"
    nodes.append(helper.make_node(op, names, [f"{o[0]}_0" for o in outputs], **attributes))
    nodes += [helper.make_node("Neg", [f"{o[0]}_0"], [o[0]]) for o in outputs]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info(*i) for i in given],
                              [helper.make_tensor_value_info(*o) for o in outputs],
                              [numpy_helper.from_array(a, k) for k, a in constants.items()],
                              value_info=[helper.make_tensor_value_info(f"{o[0]}_0", *o[1:]) for o in outputs])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def build(model, options, folder):
    onnx.save(model, folder / "net.onnx")
    done = subprocess.run([RELAYC, "compile", folder / "net.onnx", "-o", folder, *options.split()], capture_output=True,
                          text=True)
    if done.returncode:
        raise SystemExit(f"relayc: {done.stderr}")
    files = sorted(str(f) for f in folder.glob("net*.c"))
    subprocess.run(["gcc", "-std=c99", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror", "-shared",
                    "-fPIC", "-fsanitize=undefined", "-fsanitize-undefined-trap-on-error", "-Wl,-Bsymbolic", "-o",
                    folder / "net.so", *files, "-lm"], check=True)
    return ctypes.CDLL(str(folder / "net.so")), json.loads((folder / "net.json").read_text())


def guarded(array):
    """A copy with bytes around that nobody may touch."""
    whole = np.full(array.nbytes + 2 * GUARD, 0xA5, np.uint8)
    whole[GUARD:GUARD + array.nbytes] = np.frombuffer(array.tobytes(), np.uint8)
    return whole


def run(library, facts, inputs, outputs):
    size = int(facts["arena"]["bytes"])
    arena = np.full(size + 2 * GUARD + 64, 0xA5, np.uint8)
    at = GUARD + -(arena.ctypes.data + GUARD) % 64
    results = [np.zeros(shape, helper.tensor_dtype_to_np_dtype(kind)) for _, kind, shape in outputs]
    arrays = [guarded(np.ascontiguousarray(a)) for a in [*inputs, *results]]
    before = [a.copy() for a in arrays[:len(inputs)]]
    code = library.net_run(*[ctypes.c_void_p(a.ctypes.data + GUARD) for a in arrays],
                           ctypes.c_void_p(arena.ctypes.data + at))
    for a in arrays:
        if (a[:GUARD] != 0xA5).any() or (a[-GUARD:] != 0xA5).any():
            raise SystemExit("an array was written outside of")
    if any((a != b).any() for a, b in zip(arrays, before)):
        raise SystemExit("an input was written")
    if (arena[:at] != 0xA5).any() or (arena[at + size:] != 0xA5).any():
        raise SystemExit("the arena was written outside of")
    return code, [np.frombuffer(a[GUARD:-GUARD].tobytes(), r.dtype).reshape(r.shape)
                  for a, r in zip(arrays[len(inputs):], results)]


def feed_of(inputs, numbers):
    left = list(numbers)
    return {name: rng.standard_normal(shape).astype(np.float32) if name == "x" and kind == FLOAT
            else np.array(left.pop(0), helper.tensor_dtype_to_np_dtype(kind)).reshape(shape)
            for name, kind, shape in (i for i in inputs if not isinstance(i, str))}


def test(name, options):
    op, inputs, outputs, good, bad, constants, opset, attributes = CASES[name]
    model = model_of(op, inputs, outputs, constants, opset, attributes)
    onnx.checker.check_model(model)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    with tempfile.TemporaryDirectory() as folder:
        library, facts = build(model, options, pathlib.Path(folder))
        for numbers in good:
            feed = feed_of(inputs, numbers)
            code, found = run(library, facts, feed.values(), outputs)
            if code:
                return f"net_run returned {code} for {numbers}"
            for w, f in zip(session.run(None, feed), found):
                if w.shape != f.shape or not np.allclose(w, f, rtol=2e-6, atol=2e-6):
                    return f"{w} wanted, {f} found for {numbers}"
        for numbers in bad:
            feed = feed_of(inputs, numbers)
            code, _ = run(library, facts, feed.values(), outputs)
            if code != WRONG_NUMBER:
                return f"net_run returned {code} for {numbers}"
    return None


def open_case(op, kind, shape, results, behind, **attributes):
    """results: (name, type, shape, the axis of open length); behind: what is there behind the last element, None = anything."""
    inputs = [("x", kind, shape)]
    if op == "Compress":
        axis = attributes.get("axis")
        inputs.append(("condition", BOOL, [int(np.prod(shape)) if axis is None else shape[axis]]))
    outputs = [(name, k, [None if i == axis else d for i, d in enumerate(dims)]) for name, k, dims, axis in results]
    graph = helper.make_graph(
        [helper.make_node(op, [i[0] for i in inputs], [f"{o[0]}_0" for o in outputs], **attributes)] +
        [helper.make_node("Identity" if behind is None else "Transpose", [f"{o[0]}_0"], [o[0]]) for o in outputs], "g",
        [helper.make_tensor_value_info(*i) for i in inputs],
        [helper.make_tensor_value_info(n, k, d if behind is None else d[::-1]) for n, k, d in outputs])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), inputs


def verify(folder):
    """What relayc verify --against onnxruntime says of the model that build() wrote: None if all agrees."""
    command = [RELAYC, "verify", "-q", folder / "net.onnx", "--against", "onnxruntime"]
    found = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"RELAYC_PYTHON": sys.executable})
    return None if found.returncode == 0 else f"verify: {found.stdout}{found.stderr}"


OPEN = {
    "open_non_zero": ("NonZero", FLOAT, [3, 5], [("y", I64, [2, 15], 1)], -1, {}),
    "open_non_zero_of_a_list": ("NonZero", BOOL, [9], [("y", I64, [1, 9], 1)], -1, {}),
    "open_compress": ("Compress", FLOAT, [2, 7, 3], [("y", FLOAT, [2, 7, 3], 1)], None, {"axis": 1}),
    "open_compress_all": ("Compress", I64, [3, 4], [("y", I64, [12], 0)], None, {}),
    "open_unique": ("Unique", FLOAT, [3, 4], [("y", FLOAT, [12], 0), ("first", I64, [12], 0), ("kind", I64, [12], None),
                                         ("size", I64, [12], 0)], None, {}),
    "open_unique_as_they_come": ("Unique", I64, [30], [("y", I64, [30], 0), ("first", I64, [30], 0), ("kind", I64, [30], None),
                                                  ("size", I64, [30], 0)], None, {"sorted": 0}),
    "open_unique_slices": ("Unique", FLOAT, [2, 6, 2], [("y", FLOAT, [2, 6, 2], 1), ("first", I64, [6], 0),
                                                   ("kind", I64, [6], None)], None, {"axis": 1}),
}


def test_open_length(name, options):
    """Results of which the file does not say how long they are: ONNX Runtime's, and how many elements there are."""
    op, kind, shape, results, behind, attributes = OPEN[name]
    model, inputs = open_case(op, kind, shape, results, behind, **attributes)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    outputs = [(n, k, d if behind is None else d[::-1]) for n, k, d, _ in results] + [("count", I64, [1])]
    with tempfile.TemporaryDirectory() as folder:
        library, facts = build(model, options, pathlib.Path(folder))
        for turn in range(24):
            feed = {n: (rng.integers(-1, 1 + turn % 4, d) if k != BOOL else rng.random(d) * 24 < turn)
                    .astype(helper.tensor_dtype_to_np_dtype(k)) for n, k, d in inputs}
            wanted = session.run(None, feed)
            code, found = run(library, facts, feed.values(), outputs)
            if code:
                return f"net_run returned {code}"
            for w, f, (_, _, dims, axis) in zip(wanted, found, results):
                axis = axis if axis is None or behind is None else len(dims) - 1 - axis
                n = None if axis is None else w.shape[axis]
                if n is not None and n != found[-1][0]:
                    return f"{n} elements wanted, {found[-1][0]} found"
                if (w != np.take(f, range(n), axis) if n is not None else w != f).any():
                    return f"{w} wanted, {f} found for {feed}"
                if n is not None and behind is not None and (np.delete(f, range(n), axis) != behind).any():
                    return f"{f} found, {behind} wanted behind {n} elements"
        return verify(pathlib.Path(folder))


def test_open_boxes():
    """Boxes of which the file does not say how many: ONNX Runtime's, and -1 behind them."""
    given, result = [("boxes", FLOAT, [2, 7, 4]), ("scores", FLOAT, [2, 3, 7])], [("y", I64, [24, 3])]
    nodes = [helper.make_node("NonMaxSuppression", ["boxes", "scores", "most", "iou", "least"], ["y"])]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info(*i) for i in given],
                              [helper.make_tensor_value_info("y", I64, ["n", 3])],
                              [numpy_helper.from_array(np.array([4]), "most"),
                               numpy_helper.from_array(np.float32([.3]), "iou"),
                               numpy_helper.from_array(np.float32([.4]), "least")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    with tempfile.TemporaryDirectory() as folder:
        library, facts = build(model, "", pathlib.Path(folder))
        for turn in range(40):
            corner, size = rng.random((2, 7, 2)), rng.random((2, 7, 2)) * .8
            feed = {"boxes": np.concatenate([corner, corner + size], 2).astype(np.float32),
                    "scores": (rng.random((2, 3, 7)) * (turn % 5 != 0)).astype(np.float32)}
            code, (found,) = run(library, facts, feed.values(), result)
            (wanted,) = session.run(None, feed)
            if code or (found[:len(wanted)] != wanted).any() or (found[len(wanted):] != -1).any():
                return f"{wanted} wanted, {found} found, code {code}"
        return verify(pathlib.Path(folder))


def main():
    every = [*((c, test) for c in CASES), *((c, test_open_length) for c in OPEN)]
    wanted = [(c, check) for c, check in every if not sys.argv[1:] or any(a in c for a in sys.argv[1:])]
    failed = 0
    for i, (name, check) in enumerate(wanted):
        options = OPTIONS[i % len(OPTIONS)]
        why = check(name, options)
        failed += why is not None
        print(f"{'FAIL' if why else 'ok'}  {name} {options}{': ' + why if why else ''}", flush=True)
    if not sys.argv[1:]:
        why = test_open_boxes()
        failed += why is not None
        print(f"{'FAIL' if why else 'ok'}  open_boxes{': ' + why if why else ''}")
    print(f"{failed} failed")
    return failed != 0 or not wanted


if __name__ == "__main__":
    sys.exit(main())
