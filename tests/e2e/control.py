"""Networks whose branches are chosen and whose loops end at run time: the generated C against ONNX Runtime for every side,
and how many regions ran, which must be fewer than there are; scans, whose rounds are a loop in the C. Loops that ask for
more than --max-rounds must be refused.

  control.py [CASE ...]     only cases whose name contains one of these
"""

import ctypes
import itertools
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
WRONG_NUMBER = -1
FLOAT, BOOL, I64 = TensorProto.FLOAT, TensorProto.BOOL, TensorProto.INT64
rng = np.random.default_rng(4)

# Counts what net_run calls: regions are functions that gcc is told not to inline.
COUNTER = """
int n_calls;
static int depth;
__attribute__((no_instrument_function)) void __cyg_profile_func_enter(void *f, void *at);
__attribute__((no_instrument_function)) void __cyg_profile_func_exit(void *f, void *at);
void __cyg_profile_func_enter(void *f, void *at) { (void)f; (void)at; n_calls += depth++ == 1; }
void __cyg_profile_func_exit(void *f, void *at) { (void)f; (void)at; depth--; }
"""


def f32(*shape, scale=0.3):
    return (rng.standard_normal(shape) * scale).astype(np.float32)


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs.split(), outputs.split(), **attributes)


def graph(nodes, outputs, constants=(), inputs=()):
    """outputs, inputs: (name, type, shape); constants: (name, array)."""
    return helper.make_graph(nodes, "g", [helper.make_tensor_value_info(*i) for i in inputs],
                             [helper.make_tensor_value_info(*o) for o in outputs],
                             [numpy_helper.from_array(np.asarray(a), n) for n, a in constants])


def choice(condition, outputs, yes, no):
    return node("If", condition, outputs, then_branch=yes, else_branch=no)


def conv(x, y, w, **more):
    return node("Conv", f"{x} {w}", y, pads=[1, 1, 1, 1], **more)


IMAGE = [1, 4, 8, 8]
CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


# Each gives the nodes, inputs, outputs and constants of a network, and lists of values for each input.
@case
def nested():
    """Convolutions on one side, on the other a branch by what is computed there."""
    image = [("x", FLOAT, IMAGE)]
    deep = choice("c", "e", graph([conv("p", "u", "w2")], [("u", FLOAT, IMAGE)], [("w2", f32(4, 4, 3, 3))]),
                  graph([node("Sigmoid", "p", "v1"), conv("v1", "v", "w3")], [("v", FLOAT, IMAGE)],
                        [("w3", f32(4, 4, 3, 3))]))
    no = graph([node("ReduceMean", "p", "m", keepdims=0), node("Greater", "m zero", "c"), deep],
               [("e", FLOAT, IMAGE)], [("zero", np.float32(0))])
    yes = graph([conv("p", "t1", "w1"), node("Relu", "t1", "t")], [("t", FLOAT, IMAGE)], [("w1", f32(4, 4, 3, 3))])
    nodes = [conv("x", "p", "w0"), choice("k", "q", yes, no), node("Softmax", "q", "y", axis=1)]
    return nodes, image + [("k", BOOL, [])], [("y", FLOAT, IMAGE)], [("w0", f32(4, 4, 3, 3))], \
        [[f32(*IMAGE) + d for d in (-0.5, 0.5)], [np.array(b) for b in (False, True)]]


@case
def two_results():
    """Two results; one is a constant on one side, the other a value from outside."""
    yes = graph([node("MatMul", "x w", "a"), node("Exp", "x", "b")], [("a", FLOAT, [2, 6]), ("b", FLOAT, [2, 6])],
                [("w", f32(6, 6))])
    no = graph([node("Identity", "x", "d")], [("d", FLOAT, [2, 6]), ("fixed", FLOAT, [2, 6])], [("fixed", f32(2, 6))])
    nodes = [choice("k", "p q", yes, no), node("Sub", "p q", "y")]
    return nodes, [("x", FLOAT, [2, 6]), ("k", BOOL, [1])], [("y", FLOAT, [2, 6]), ("q", FLOAT, [2, 6])], [], \
        [[f32(2, 6)], [np.array([False]), np.array([True])]]


@case
def out_of_range():
    """What would be out of range, and divided by zero, on the side not taken."""
    yes = graph([node("Gather", "x n", "a", axis=0), node("Div", "hundred n", "h"), node("Cast", "h", "hf", to=FLOAT),
                 node("Mul", "a hf", "t")], [("t", FLOAT, [5])], [("hundred", np.int64(100))])
    no = graph([node("Neg", "z", "e")], [("e", FLOAT, [5])])
    nodes = [node("Less", "n four", "small"), node("Greater", "n zero", "more"), node("And", "small more", "c"),
             choice("c", "y", yes, no)]
    return nodes, [("x", FLOAT, [4, 5]), ("z", FLOAT, [5]), ("n", I64, [])], [("y", FLOAT, [5])], \
        [("four", np.int64(4)), ("zero", np.int64(0))], \
        [[f32(4, 5)], [f32(5)], [np.int64(n) for n in (0, 1, 3, 4, 1000, -9)]]


@case
def rates():
    """A layer for each rate, in turn: what one If gives another one reads."""
    def layer(w, y):
        return graph([node("MatMul", f"h {w}", f"{y}1"), node("Tanh", f"{y}1", y)], [(y, FLOAT, [3, 8])],
                     [(w, f32(8, 8))])
    nodes = [node("Equal", "rate r16", "wide"), node("Relu", "x", "h")]
    for i in range(3):
        yes, no = layer(f"w{i}", f"a{i}"), layer(f"v{i}", f"b{i}")
        for side in (yes, no):
            side.node[0].input[0] = f"h{i}" if i else "h"
        nodes.append(choice("wide", f"h{i + 1}", yes, no))
    nodes.append(node("ReduceSum", "h3", "y", keepdims=0))
    return nodes, [("x", FLOAT, [3, 8]), ("rate", I64, [])], [("y", FLOAT, [])], [("r16", np.int64(16000))], \
        [[f32(3, 8)], [np.int64(8000), np.int64(16000)]]


def loop(first, rounds=6, added="i"):
    """Up to so many rounds, which a limit given at run time ends; the first one too, where it says so."""
    body = helper.make_graph(
        [node("MatMul", "s w", "s1"), node("Tanh", "s1", "s2"), node("Add", "s2 x", "s3"),
         node("ReduceSum", "s3", "size", keepdims=0), node("Less", "size most", "on"), node("Add", f"n {added}", "n1")], "body",
        [helper.make_tensor_value_info("i", I64, []), helper.make_tensor_value_info("cond", BOOL, []),
         helper.make_tensor_value_info("s", FLOAT, [2, 4]), helper.make_tensor_value_info("n", I64, [])],
        [helper.make_tensor_value_info("on", BOOL, []), helper.make_tensor_value_info("s3", FLOAT, [2, 4]),
         helper.make_tensor_value_info("n1", I64, [])], [numpy_helper.from_array(f32(4, 4), "w")])
    nodes = [node("Less", "most twenty", "begins"), node("Abs", "x", "s0"),
             node("Loop", f"six {'begins' if first else 'yes'} s0 zero", "y n", body=body)]
    return nodes, [("x", FLOAT, [2, 4]), ("most", FLOAT, [])], [("y", FLOAT, [2, 4]), ("n", I64, [])], \
        [("six", np.int64(rounds)), ("twenty", np.float32(20)), ("zero", np.int64(0)), ("one", np.int64(1)), ("yes", np.array(True))], \
        [[np.abs(f32(2, 4)) + np.float32(0.2)], [np.float32(v) for v in (-5, 1, 3, 4, 5, 6, 9, 50)]]


@case
def loop_that_begins():
    return loop(False)


@case
def loop_that_may_not_begin():
    return loop(True)


@case
def long_loop_that_may_end_sooner():
    return loop(True, 24, "one")


def scan(axis, backwards):
    """A cell over 21 steps, with a value from outside; all steps' results, and the last state."""
    body = helper.make_graph(
        [node("MatMul", "s w", "s1"), node("MatMul", "x_t v", "x1"), node("Add", "s1 x1", "a"), node("Add", "a bias", "b"),
         node("Tanh", "b", "s2"), node("Softmax", "s2", "p", axis=-1)], "body",
        [helper.make_tensor_value_info("s", FLOAT, [1, 6]), helper.make_tensor_value_info("x_t", FLOAT, [1, 4])],
        [helper.make_tensor_value_info("s2", FLOAT, [1, 6]), helper.make_tensor_value_info("p", FLOAT, [1, 6])],
        [numpy_helper.from_array(f32(6, 6), "w"), numpy_helper.from_array(f32(4, 6), "v")])
    shape = [[21, 1], [1, 21]][axis]
    nodes = [node("Abs", "outer", "bias"),
             node("Scan", "s0 x", "y all", body=body, num_scan_inputs=1, scan_input_axes=[axis],
                  scan_output_axes=[axis], scan_input_directions=[backwards], scan_output_directions=[backwards])]
    return nodes, [("x", FLOAT, [*shape, 4]), ("s0", FLOAT, [1, 6]), ("outer", FLOAT, [1, 6])], \
        [("y", FLOAT, [1, 6]), ("all", FLOAT, [*shape, 6])], [], [[f32(*shape, 4)], [f32(1, 6)], [f32(1, 6)]]


@case
def scan_forwards():
    return scan(0, 0)


@case
def scan_backwards_by_columns():
    return scan(1, 1)


@case
def rows_scanned_by_a_loop():
    """The number of the round is an index."""
    body = helper.make_graph(
        [node("Identity", "on", "goes_on"), node("Gather", "x i", "x_i", axis=0), node("MatMul", "s w", "s1"),
         node("Add", "s1 x_i", "s2"), node("Tanh", "s2", "s3"), node("Softmax", "s3", "p", axis=-1)], "body",
        [helper.make_tensor_value_info("i", I64, []), helper.make_tensor_value_info("on", BOOL, []),
         helper.make_tensor_value_info("s", FLOAT, [1, 6])],
        [helper.make_tensor_value_info("goes_on", BOOL, []), helper.make_tensor_value_info("s3", FLOAT, [1, 6]),
         helper.make_tensor_value_info("p", FLOAT, [1, 6])], [numpy_helper.from_array(f32(6, 6), "w")])
    nodes = [node("Loop", "rounds yes s0", "y all", body=body)]
    return nodes, [("x", FLOAT, [18, 1, 6]), ("s0", FLOAT, [1, 6])], \
        [("y", FLOAT, [1, 6]), ("all", FLOAT, [18, 1, 6])], [("rounds", np.int64(18)), ("yes", np.array(True))], \
        [[f32(18, 1, 6)], [f32(1, 6)]]


def rounds(count, condition, first="yes", where=""):
    """A loop whose end the file does not bound: by a count, a condition, or both. Its last output is how often it ran."""
    body = helper.make_graph(
        [node("MatMul", "s w", "s1"), node("Tanh", "s1", "s2"), node("Add", "s2 x", "s3"),
         node("Add", "n one", "n1"), node("Cast", "n1", "n2", to=FLOAT), node("ReduceMean", "x", "step", keepdims=0),
         node("Mul", "n2 step", "size"), node("Less", "size most", "on") if condition else node("Identity", "cond", "on")], "body",
        [helper.make_tensor_value_info("i", I64, []), helper.make_tensor_value_info("cond", BOOL, []),
         helper.make_tensor_value_info("s", FLOAT, [2, 4]), helper.make_tensor_value_info("n", I64, [])],
        [helper.make_tensor_value_info("on", BOOL, []), helper.make_tensor_value_info("s3", FLOAT, [2, 4]),
         helper.make_tensor_value_info("n1", I64, [])], [numpy_helper.from_array(f32(4, 4), "w")])
    loop_node = helper.make_node("Loop", [count, first, "s0", "zero"], ["y", "n"], body=body)
    nodes = [node("Less", "most twenty", "begins"), node("Abs", "x", "s0"), loop_node]
    inputs = [("x", FLOAT, [2, 4]), ("most", FLOAT, []), ("count", I64, [])]
    if where == "least":
        nodes[2:2] = [node("Min", "count four", "least")]
    if where == "branch":
        no = graph([node("Neg", "x", "a"), node("Identity", "zero", "b")], [("a", FLOAT, [2, 4]), ("b", I64, [])])
        yes = graph([loop_node], [("y", FLOAT, [2, 4]), ("n", I64, [])])
        nodes = [nodes[0], nodes[1], node("Less", "count four", "k"), choice("k", "p q", yes, no)]
    names = ("p", "q") if where == "branch" else ("y", "n")
    return nodes, inputs, [(names[0], FLOAT, [2, 4]), (names[1], I64, [])], \
        [("twenty", np.float32(20)), ("zero", np.int64(0)), ("one", np.int64(1))] + \
        [("four", np.int64(4))] * bool(where) + [("yes", np.array(True))] * (first == "yes"), \
        [[np.full((2, 4), 0.35, np.float32)], [np.float32(v) for v in (-5, 0.9, 1.5, 2, 4, 30)], [np.int64(v) for v in (-2, 0, 1, 3, 5, 6, 7, 30)]]


MOST_ROUNDS = 6


@case
def rounds_by_count():
    return rounds("count", False)


@case
def rounds_by_condition():
    return rounds("", True, "begins")


@case
def rounds_by_both():
    return rounds("count", True, "begins")


@case
def counted_to_four_at_most():
    """A count that is bounded by what computes it."""
    return rounds("least", False, where="least")


@case
def rounds_in_a_branch():
    return rounds("", True, "begins", "branch")


OPTIONS = ["", "--optimize size", "--step", "--target x86-64-v3 --deterministic", "--precision f16w",
           "--parallel 2"]


def build(model, options, folder):
    onnx.save(model, folder / "net.onnx")
    done = subprocess.run([RELAYC, "compile", folder / "net.onnx", "-o", folder, *options.split()], capture_output=True,
                          text=True)
    if done.returncode:
        raise SystemExit(f"relayc: {done.stderr}")
    (folder / "counter.c").write_text(COUNTER)
    files = sorted(str(f) for f in folder.glob("net*.c"))
    subprocess.run(["gcc", "-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC",
                    "-finstrument-functions", "-Wl,-Bsymbolic", "-o", folder / "net.so", *files, folder / "counter.c",
                    "-lm"], check=True)
    return ctypes.CDLL(str(folder / "net.so")), json.loads((folder / "net.json").read_text())


def run(library, facts, inputs, outputs):
    size = int(facts["arena"]["bytes"])
    arena = np.full(size + 64, 0xAA, np.uint8)
    arena = arena[-arena.ctypes.data % 64:][:size]
    results = [np.zeros(shape, helper.tensor_dtype_to_np_dtype(kind)) for _, kind, shape in outputs]
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in [*inputs.values(), *results, arena]]
    ctypes.c_int.in_dll(library, "n_calls").value = 0
    code = library.net_run(*pointers)
    return code, results, ctypes.c_int.in_dll(library, "n_calls").value


def test(name, options):
    nodes, inputs, outputs, constants, values = CASES[name]()
    model = helper.make_model(graph(nodes, outputs, constants, inputs), opset_imports=[helper.make_opsetid("", 17)],
                              ir_version=8)
    onnx.checker.check_model(model)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    tolerance = 2e-3 if "precision" in options else 2e-6
    bounded = name.startswith("rounds")
    if bounded:
        options += f" --max-rounds {MOST_ROUNDS}"
    with tempfile.TemporaryDirectory() as folder:
        library, facts = build(model, options, pathlib.Path(folder))
        calls = set()
        for given in itertools.product(*values):
            feed = {info[0]: np.ascontiguousarray(v) for info, v in zip(inputs, given)}
            feed = {k: v.reshape(s) for (k, v), (_, _, s) in zip(feed.items(), inputs)}
            wanted = session.run(None, feed)
            code, found, n = run(library, facts, feed, outputs)
            if code != (WRONG_NUMBER if bounded and wanted[1] > MOST_ROUNDS else 0):
                return f"net_run returned {code} for {feed}, {wanted[1]} rounds"
            if code:
                continue
            calls.add(n)
            for w, f in zip(wanted, found):
                if np.max(np.abs(w - f), initial=0) > tolerance * max(1, np.max(np.abs(w), initial=0)):
                    return f"{w} wanted, {f} found for {feed}"
        if "scan" in name:
            head = "const int iteration = " if "--step" in options else "each iteration"
            looped = any(head in f.read_text() for f in pathlib.Path(folder).glob("net.c"))
            return None if looped else "the calls are no loop"
        regions = len(facts["regions"])
        if not 0 < min(calls) < regions:  # of one side there may be nothing to leave out
            return f"{min(calls)} of {regions} regions ran"
    return None


def main():
    failed = n = 0
    for name in CASES:
        if sys.argv[1:] and not any(word in name for word in sys.argv[1:]):
            continue
        for options in OPTIONS + (["--guard", "--guard --step"] if "scan" in name else []):
            n += 1
            problem = test(name, options)
            if problem:
                print(f"{name} {options}: {problem}")
                failed += 1
    print(f"{n} networks with branches at run time, {failed} wrong")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
