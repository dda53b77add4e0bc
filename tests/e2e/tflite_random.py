"""Random TensorFlow Lite networks (tests/tflite/chance.py), compiled, built and run, against TensorFlow Lite Micro: integers bit
for bit, floats within 1e-5 of the greatest number.

    tflite_random.py RELAYC WORK [--count N] [--also N] [--seed S|new] [--builds B]"""
import argparse
import collections
import os
import pickle
import re
import shutil
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tflite"))
import chance  # noqa: E402
import tflite  # noqa: E402
from networks import STEPS  # noqa: E402


def micro(content, arrays, n_outputs):
    """The outputs, [steps, shape...] each; None where TensorFlow Lite Micro refuses the network, or dies of it."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            from tflite_micro.python.tflite_micro import runtime
            interpreter = runtime.Interpreter.from_bytes(content, arena_size=1 << 21)
            steps = []
            for step in range(STEPS):
                for i, array in enumerate(arrays):
                    interpreter.set_input(array[step], i)
                interpreter.invoke()
                steps.append([np.array(interpreter.get_output(i)) for i in range(n_outputs)])
            with os.fdopen(write, "wb") as pipe:
                pickle.dump([np.stack([step[i] for step in steps]) for i in range(n_outputs)], pipe)
        except RuntimeError:
            pass
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    return pickle.loads(answer) if answer else None


def shorten(text):
    """An error without the names and numbers of one network."""
    line = next((line for line in text.splitlines() if "error" in line or "differ" in line or "off" in line), text[:200])
    return re.sub(r"\d+", "N", re.sub(r"'[^']*'", "'...'", line))[:150]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("relayc")
    parser.add_argument("work", type=Path)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--turns", type=int, default=1, help="every so many of these, in rotation with RELAYC_TEST_TURN")
    parser.add_argument("--also", type=int, default=0, help="this many more, chosen by RELAYC_TEST_TURN")
    parser.add_argument("--builds", type=int, default=1, help="of each network")
    options = parser.parse_args()
    first = int(time.time()) * 1000 if options.seed == "new" else int(options.seed)
    counts, refused, kinds = collections.Counter(), collections.Counter(), collections.Counter()
    ways = [(number, how) for number in range(len(tflite.BUILDS)) if number != tflite.BARE for how in tflite.OPTIONS]
    turn = int(os.environ.get("RELAYC_TEST_TURN", "0"))
    seeds = list(range(first + turn % options.turns, first + options.count, options.turns))
    turn = 1_000_000 + turn * 1000
    seeds += range(turn, turn + options.also)
    print(f"seeds {first} to {first + options.count - 1}" + f", and from {turn} {options.also} more" * (options.also > 0))
    for seed in seeds:
        net = chance.network(seed)
        content, inputs = net.bytes(), net.data()
        outputs = micro(content, inputs, len(net.outputs))
        if outputs is None:
            counts["not taken by TensorFlow Lite Micro"] += 1
            continue
        for turn in range(options.builds):
            number, how = ways[(seed * 7 + turn * 5) % len(ways)]
            folder = options.work / str(seed)
            folder.mkdir(parents=True, exist_ok=True)
            model = folder / "model.tflite"
            model.write_bytes(content)
            problem = tflite.attempt(options.relayc, model, inputs, outputs, folder / "c", number, how)
            kind = "right" if not problem else "refused" if ": 1\n" in problem and "error[" in problem else "wrong"
            counts[kind] += 1
            kinds[net.kind, kind] += 1
            if kind == "refused":
                refused[shorten(problem)] += 1
            if kind == "wrong":
                print(f"WRONG seed {seed} ({net.kind}), {tflite.BUILDS[number][0]} {how}, {tflite.BUILDS[number][1]}: {problem[:400]}")
            else:
                shutil.rmtree(folder)
    for text, count in refused.most_common(20):
        print(f"refused: {count:4} {text}")
    for (kind, what), count in sorted(kinds.items()):
        print(f"{kind:8} {what:8} {count}")
    print(", ".join(f"{count} {what}" for what, count in counts.items()))
    sys.exit(counts["wrong"] > 0)


if __name__ == "__main__":
    main()
