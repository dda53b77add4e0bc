"""Networks whose sequences and optionals vanish at compile time, as generated C against ONNX Runtime; and what is
refused.

  sequences.py [CASE ...]     only cases whose name contains one of these
"""

import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnx.parser
import onnxruntime

RELAYC = pathlib.Path(os.environ.get("BUILD", "build")).resolve() / "relayc"

# Bodies of (x: float[4,6]) => (y), by name.
RIGHT = {
    "split_each": "s = SplitToSequence <axis = 1, keepdims = 0> (x) i = Constant <value_int = -2> () y = SequenceAt (s, i)",
    "split_each_kept": "s = SplitToSequence <axis = -1> (x) i = Constant <value_int = 3> () y = SequenceAt (s, i)",
    "split_by_length": "n = Constant <value_int = 4> () s = SplitToSequence <axis = 1> (x, n)"
                       "y = ConcatFromSequence <axis = -1> (s)",
    "split_by_list": "n = Constant <value_ints = [1, 3, 2]> () s = SplitToSequence <axis = 1> (x, n)"
                     "i = Constant <value_int = 1> () y = SequenceAt (s, i)",
    "insert": "e = SequenceEmpty () a = SequenceInsert (e, x) r = Relu (x) b = SequenceInsert (a, r) n = Neg (x)"
              "i = Constant <value_int = -1> () c = SequenceInsert (b, n, i) y = ConcatFromSequence <axis = 0> (c)",
    "insert_in_front": "r = Relu (x) s = SequenceConstruct (x, x) i = Constant <value_int = 0> ()"
                       "a = SequenceInsert (s, r, i) y = ConcatFromSequence <axis = 0> (a)",
    "stacked": "r = Relu (x) n = Neg (x) s = SequenceConstruct (x, r, n) y = ConcatFromSequence <axis = 1, new_axis = 1> (s)",
    "erase": "r = Relu (x) n = Neg (x) s = SequenceConstruct (x, r, n) i = Constant <value_int = 0> ()"
             "a = SequenceErase (s, i) b = SequenceErase (a) y = ConcatFromSequence <axis = 0> (b)",
    "length": "s = SplitToSequence <axis = 1> (x) n = SequenceLength (s) f = Cast <to = 1> (n) y = Div (x, f)",
    "passed_on": "s = SplitToSequence (x) t = Identity (s) i = Constant <value_int = 2> () y = SequenceAt (t, i)",
    "rounds": "e = SequenceEmpty () n = Constant <value_int = 3> () t = Constant <value_int = 1> () c = Cast <to = 9> (t)"
              "s = Loop (n, c, e) <body = b (int64 i, bool on, seq(float[4,6]) before) => (bool again, seq(float[4,6]) after) {"
              "again = Identity (on) f = Cast <to = 1> (i) z = Mul (x, f) after = SequenceInsert (before, z) }>"
              "y = ConcatFromSequence <axis = 1> (s)",
    "map": "r = Relu (x) s = SequenceConstruct (x, r) m = SequenceMap (s, x) <body = b (float[4,6] e, float[4,6] w) =>"
           "(float[4,6] o) { o = Sub (e, w) }> y = ConcatFromSequence <axis = 0> (m)",
    "chosen_elements": "r = Relu (x) m = ReduceMax <keepdims = 0> (x) c = Cast <to = 9> (m)"
                       "s = If (c) <then_branch = t () => (seq(float[4,6]) a) { a = SequenceConstruct (x, r) },"
                       "else_branch = e () => (seq(float[4,6]) b) { b = SequenceConstruct (r, x) }>"
                       "y = ConcatFromSequence <axis = 0> (s)",
    "optional": "o = Optional (x) h = OptionalHasElement (o) f = Cast <to = 1> (h) v = OptionalGetElement (o) y = Add (v, f)",
}
REFUSED = {
    "outside": ("s = SplitToSequence (x) i = Constant <value_int = 4> () y = SequenceAt (s, i)", "outside a sequence of 4"),
    "of_a_tensor": ("i = Constant <value_int = 0> () y = SequenceAt (x, i)", "input 0 is a tensor, expected a sequence"),
    "read_as_a_tensor": ("s = SplitToSequence (x) y = Relu (s)", "is a sequence, which Relu does not take"),
    "an_empty_output": ("y = SequenceEmpty ()", "is an empty sequence: there is nothing to give"),
    "lengths": ("n = Constant <value_ints = [1, 2]> () s = SplitToSequence (x, n) y = ConcatFromSequence <axis = 0> (s)",
                "its parts have 3 of 4 elements"),
    "empty": ("e = SequenceEmpty () y = ConcatFromSequence <axis = 0> (e)", "the sequence is empty"),
    "chosen": ("m = ReduceMax <keepdims = 0> (x) c = Cast <to = 9> (m)"
               "s = If (c) <then_branch = t () => (seq(float[4,6]) a) { a = SequenceConstruct (x) },"
               "else_branch = e () => (seq(float[4,6]) b) { b = SequenceConstruct (x, x) }>"
               "y = ConcatFromSequence <axis = 0> (s)", "output 0 of this If is a sequence, chosen at run time"),
    "run_time": ("a = ArgMax <axis = 1> (x) z = Constant <value_int = 0> () i = Gather (a, z) j = Squeeze (i)"
                 "s = SplitToSequence (x) y = SequenceAt (s, j)", "the position is computed at run time"),
}


def save(path, body):
    model = onnx.parser.parse_model('<ir_version: 8, opset_import: ["" : 18]> g (float[4,6] x) => (float y) {' + body + "}")
    model.graph.output[0].type.tensor_type.ClearField("shape")
    onnx.save(model, path)


def relayc(path, folder):
    return subprocess.run([RELAYC, "run", path, "--with", "generated", "-q", "-i", f"x={folder / 'x.npy'}", "--output",
                           folder / "o.npz"], capture_output=True, text=True)


def is_right(path, folder, x):
    wanted = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]
    done = relayc(path, folder)
    if done.returncode:
        return done.stderr.strip()
    made = np.load(folder / "o.npz")["y"]
    return "" if made.shape == wanted.shape and (made == wanted).all() else f"{made} instead of {wanted}"


def is_refused(path, folder, words):
    done = relayc(path, folder)
    return "" if done.returncode == 1 and words in done.stderr else f"exit {done.returncode}: {done.stderr.strip()}"


def main():
    onnxruntime.set_default_logger_severity(3)
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        x = np.random.default_rng(3).standard_normal((4, 6)).astype(np.float32)
        np.save(folder / "x.npy", x)
        for case in [*RIGHT, *REFUSED]:
            if sys.argv[1:] and not any(part in case for part in sys.argv[1:]):
                continue
            path = folder / f"{case}.onnx"
            save(path, RIGHT[case] if case in RIGHT else REFUSED[case][0])
            problem = is_right(path, folder, x) if case in RIGHT else is_refused(path, folder, REFUSED[case][1])
            if problem:
                failed += 1
                print(f"{case}: {problem}")
    print(f"{len(RIGHT)} networks with sequences, {len(REFUSED)} refusals: {failed} fail")
    return failed != 0


sys.exit(main())
