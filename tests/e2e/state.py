"""Networks whose outputs are their next inputs, as C with a state and by ONNX Runtime: see run_state.

    state.py RELAYC WORK SILERO [--full]"""
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

STEPS, SEQUENCES = 6, 2
STRICT = ("gcc -std=c99 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -Wno-overlength-strings -O1 "
          "-fsanitize=address,undefined -fno-sanitize-recover=all")
FLOAT = TensorProto.FLOAT


def network(name, nodes, inputs, outputs, constants=()):
    values = [[helper.make_tensor_value_info(n, FLOAT, s) for n, s in rows] for rows in (inputs, outputs)]
    tensors = [onnx.numpy_helper.from_array(np.asarray(array), n) for n, array in constants]
    graph = helper.make_graph([helper.make_node(*args, **attrs) for args, attrs in nodes], name, *values, tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def networks(rng):
    """name -> (model, states)."""
    def floats(*shape):
        return (rng.standard_normal(shape) * 0.4).astype(np.float32)

    return {
        # Written where it is kept: all that was kept has been read by then.
        "ring": (network("ring", [
            (("Concat", ["before", "x"], ["both"]), {"axis": 2}), (("Conv", ["both", "w", "b"], ["y"]), {}),
            (("Slice", ["both", "one", "end", "two"], ["after"]), {})],
            [("x", [1, 6, 1]), ("before", [1, 6, 3])], [("y", [1, 5, 1]), ("after", [1, 6, 3])],
            [("w", floats(5, 6, 4)), ("b", floats(5)), ("one", np.array([1])), ("end", np.array([4])), ("two", np.array([2]))]),
            ["before=after"]),
        # One region reads and writes it.
        "gru": (network("gru", [
            (("GRU", ["x", "w", "r", "b", "", "h"], ["", "next"]), {"hidden_size": 5}), (("Tanh", ["next"], ["y"]), {})],
            [("x", [2, 1, 4]), ("h", [1, 1, 5])], [("y", [1, 1, 5]), ("next", [1, 1, 5])],
            [("w", floats(1, 15, 4)), ("r", floats(1, 15, 5)), ("b", floats(1, 30))]), ["h=next"]),
        "decay": (network("decay", [
            (("Mul", ["s", "rate"], ["kept"]), {}), (("Add", ["kept", "x"], ["now"]), {}), (("Relu", ["now"], ["y"]), {})],
            [("s", [1, 7]), ("x", [1, 7])], [("y", [1, 7]), ("now", [1, 7])], [("rate", np.float32(0.75))]), ["s=now"]),
        # Each becomes what the other was: one of them is copied behind the last region.
        "swap": (network("swap", [
            (("Identity", ["a"], ["b_next"]), {}), (("Add", ["b", "x"], ["a_next"]), {}), (("Sub", ["a", "b"], ["y"]), {})],
            [("a", [3, 2]), ("x", [3, 2]), ("b", [3, 2])], [("a_next", [3, 2]), ("y", [3, 2]), ("b_next", [3, 2])]),
            ["a=a_next", "b=b_next"]),
        # Kept, and an output as well.
        "both": (network("both", [(("Add", ["s", "x"], ["y"]), {}), (("Identity", ["y"], ["now"]), {})],
                         [("x", [4]), ("s", [4])], [("y", [4]), ("now", [4])]), ["s=now"]),
    }


def run(command):
    done = subprocess.run(shlex.split(command) if isinstance(command, str) else command, capture_output=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{command}: {done.returncode}\n{(done.stderr or done.stdout).decode(errors='replace')[-1500:]}")
    return done.stdout


def expected(path, states, inputs, frozen):
    """Outputs that are no state: of each step, of each sequence."""
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    pairs = dict(s.split("=") for s in states)
    names = [o.name for o in session.get_outputs()]
    zeros = {i.name: np.zeros([d if isinstance(d, int) else 1 for d in i.shape], np.float32) for i in session.get_inputs()
             if i.name in pairs}
    kept = [dict(zeros) for _ in range(SEQUENCES)]
    found = []
    for step in range(STEPS):
        for k in range(SEQUENCES):
            given = {n: a[step, k] for n, a in inputs.items()}
            outputs = dict(zip(names, session.run(None, {**given, **kept[k], **frozen})))
            kept[k] = {i: outputs[o] for i, o in pairs.items()}
            found.append([outputs[n] for n in names if n not in pairs.values()])
    return found


def driver(inputs, outputs, accessors):
    """main(): all sequences in turn; between two runs the arena is filled with what must not matter."""
    lines = ["#include <stdio.h>", "#include <string.h>", "", '#include "net.h"', "",
             "static union { unsigned char bytes[NET_ARENA_BYTES + 1]; double align; } arena __attribute__((aligned(64)));",
             f"static struct net_state states[{SEQUENCES}];"]
    for i, array in enumerate(inputs):
        lines.append(f"static const float data_{i}[] = {{ {', '.join(f'{float(v).hex()}f' for v in array.ravel())} }};")
    lines += [f"static float input_{i}[{a[0, 0].size}];" for i, a in enumerate(inputs)]
    lines += [f"static float output_{i}[{a.size}];" for i, a in enumerate(outputs)]
    given = [] if accessors else [f"input_{i}" for i in range(len(inputs))] + [f"output_{i}" for i in range(len(outputs))]
    lines += ["", "int main(void)", "{", "    memset(states, 0x5A, sizeof states);"]
    lines += [f"    net_reset(&states[{k}]);" for k in range(SEQUENCES)]
    lines += [f"    for (int step = 0; step < {STEPS}; step++)", f"    for (int k = 0; k < {SEQUENCES}; k++) {{",
              "        memset(&arena, 0xA5, sizeof arena);"]
    for i, array in enumerate(inputs):
        at = f"data_{i} + (step * {SEQUENCES} + k) * {array[0, 0].size}, sizeof input_{i}"
        lines.append(f"        memcpy({f'{accessors[0][i]}(arena.bytes)' if accessors else f'input_{i}'}, {at});")
    lines.append(f"        if (net_run({', '.join([*given, '&states[k]', 'arena.bytes'])}) != NET_OK) return 1;")
    for i, array in enumerate(outputs):
        if accessors:
            lines.append(f"        memcpy(output_{i}, {accessors[1][i]}(arena.bytes), sizeof output_{i});")
        lines.append(f'        for (int i = 0; i < {array.size}; i++) printf("%a ", (double)output_{i}[i]);')
    first = ", ".join([*given, "NULL", "arena.bytes"])
    lines += ["    }", f"    if (net_run({first}) != NET_NULL_POINTER) return 2;", "    return 0;", "}", ""]
    return "\n".join(lines)


def check(relayc, work, name, path, states, inputs, options, frozen):
    folder = work / f"{name}{options.replace(' ', '')}"
    want = expected(path, states, inputs, frozen)
    arguments = [word for s in states for word in ("--state", s)]
    run([relayc, "compile", "-q", str(path), "-o", str(folder), "--name", "net", *arguments, *options.split()])
    header = (folder / "net.h").read_text()
    accessors = None
    if "--io-in-arena" in options:
        session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        pairs = dict(s.split("=") for s in states)
        accessors = ([f"net_input_{n}" for n in inputs], [f"net_output_{o.name}" for o in session.get_outputs()
                                                          if o.name not in pairs.values()])
    (folder / "driver.c").write_text("#include <stddef.h>\n" + driver(list(inputs.values()), want[0], accessors))
    assert "struct net_state" in header and "net_reset" in header
    run(f"{STRICT} -I{folder} -o {folder}/program {' '.join(str(p) for p in sorted(folder.glob('*.c')))} -lm")
    got = np.array([float.fromhex(word) for word in run([str(folder / "program")]).decode().split()])
    wanted = np.concatenate([a.ravel() for step in want for a in step])
    error = float(np.abs(got - wanted).max()) if got.size == wanted.size else np.inf
    if not error <= 1e-5:
        raise RuntimeError(f"{name} {options}: {error:g} off")


def refused(relayc, path, arguments, words):
    done = subprocess.run([relayc, "compile", "-q", str(path), "-o", "unused", *arguments], capture_output=True, check=False)
    if done.returncode not in (1, 2) or words not in done.stderr.decode() or "help: " not in done.stderr.decode():
        raise RuntimeError(f"{arguments}: exit {done.returncode}, expected '{words}':\n{done.stderr.decode()}")


def main():
    relayc, work, silero = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    rng = np.random.default_rng(5)
    failed = runs = 0
    cases = []
    for name, (model, states) in networks(rng).items():
        path = work / f"{name}.onnx"
        path.write_bytes(model.SerializeToString())
        kept = [s.split("=")[0] for s in states]
        inputs = {i.name: rng.standard_normal([STEPS, SEQUENCES, *(d.dim_value for d in i.type.tensor_type.shape.dim)]).astype(np.float32)
                  for i in model.graph.input if i.name not in kept}
        for options in ("", "--io-in-arena", "--guard", "--step --target cortex-m4"):
            cases.append((name, path, states, inputs, options, {}))
    if silero.exists() and "--full" in sys.argv:
        inputs = {"input": (rng.standard_normal([STEPS, SEQUENCES, 1, 576]) * 0.2).astype(np.float32)}
        cases.append(("silero", silero, ["state=stateN"], inputs, "--shape input=1,576 --shape state=2,1,128 --freeze sr=16000",
                      {"sr": np.array(16000, np.int64)}))
    for case in cases:
        runs += 1
        try:
            check(relayc, work, *case)
        except RuntimeError as error:
            failed += 1
            print(f"FAILED {case[0]} {case[4]}: {error}")
    ring, swap = work / "ring.onnx", work / "swap.onnx"
    try:
        refused(relayc, ring, ["--state", "before=y"], "joins")
        refused(relayc, ring, ["--state", "before=nothing"], "is not INPUT=OUTPUT")
        refused(relayc, swap, ["--state", "a=a_next", "--state", "a=b_next"], "already")
    except RuntimeError as error:
        failed += 1
        print(f"FAILED {error}")
    print(f"{len(cases)} networks with a state in {runs} builds, {failed} failed")
    sys.exit(failed > 0)


main()
