"""TensorFlow Lite networks that are refused, with the reason: branches and loops, audio front ends.

    refused_tflite.py RELAYC WORK"""
import subprocess
import sys
from pathlib import Path

import numpy as np
from flatbuffers import flexbuffers

sys.path.insert(0, str(Path(__file__).parents[1] / "tflite"))
from control import ADD, CODES, COUNT, LESS, Control  # noqa: E402
from signals import TYPES, Signals  # noqa: E402


def loop(of_condition, of_body=None, types=(COUNT,)):
    """A loop whose condition and body functions make."""
    net = Control(1)
    x = [net.input([1], dtype="int32", scale=None) if t is COUNT else net.input([1, 6]) for t in types]
    test, condition = net.body(*types)
    of_condition(condition)
    step, body = net.body(*types)
    if of_body:
        of_body(net, body)
    else:
        body.result(body.plain(ADD, body.inputs[0], body.whole(1), 11), *body.inputs[1:])
    return net.result(*net.loop(x, test, step))


def below(number):
    return lambda net: net.result(net.plain(LESS, net.inputs[0], net.whole(number), 41, "bool"))


def branch(bodies, make=lambda net: None, shape=(1, 6)):
    net = Control(2)
    x, n = net.input([1, 6]), net.input([1], dtype="int32", scale=None)
    _, same = net.body(CODES)
    same.result(same.inputs[0])
    make(net)
    return net.result(net.choose(net.plain(LESS, n, net.whole(0), 41, "bool"), [x], bodies, (list(shape), "int8", 0.05, -3)))


def within_itself(net):
    net.bodies[0].outputs = [net.bodies[0].choose(net.bodies[0].tensor([1], "bool", data=np.array([True])), net.bodies[0].inputs, (1, 1), CODES)]


def endless(net):
    net.result(net.tensor([1], "bool", data=np.array([True])))


def signal(name, inputs, results, **options):
    net = Signals(3)
    y = net.signal(name, [net.samples(shape, kind) for shape, kind in inputs], results, **options)
    return net.result(*(y if isinstance(y, list) else [y]))


def bank(start):
    net = Signals(4)
    lists = [net.numbers(a) for a in ([1, 2], [2, 1], [0, start], [0, 1], [1, 1])]
    return net.result(net.signal("FilterBank", [net.samples([4], "uint32"), *lists], [([1], "uint64")], num_channels=1))


def delay_in_a_loop():
    def delayed(net, body):
        y = body.tensor([6], "int16")
        body.add("SignalDelay", 1, [body.inputs[1]], [y], bytes(flexbuffers.Dumps({"delay_length": 2})))
        body.result(body.plain(ADD, body.inputs[0], body.whole(1), 11), y)

    net = Control(5)
    types = COUNT, ([6], "int16")
    test, condition = net.body(*types)
    below(3)(condition)
    step, body = net.body(*types)
    delayed(net, body)
    return net.result(*net.loop([net.whole(0), net.input([6], None, 0, "int16")], test, step))


ROWS = [
    ("unbounded", loop(below(9)), "nothing bounds it"),
    ("endless", loop(endless, lambda net, body: body.result(body.inputs[0])), "more than 2000 rounds"),
    ("state", delay_in_a_loop(), "it keeps numbers, in a loop"),
    ("no_body", branch((1, 7)), "is subgraph 7, and the file has 2"),
    ("main_body", branch((1, 0)), "is subgraph 0"),
    ("itself", branch((1, 1), within_itself), "more than 8 deep"),
    ("shape", branch((1, 1), shape=(1, 7)), "expected (1,7)"),
    ("length", signal("Rfft", [([14], "int16")], [([16], "int16")], T=TYPES["int16"], fft_length=14), "the factors 2, 3 and 5"),
    ("short", signal("Rfft", [([9], "int16")], [([10], "int16")], T=TYPES["int16"], fft_length=8), "rows of 9 for fft_length 8"),
    ("option", signal("Delay", [([4], "int16")], [([4], "int16")], delay=3), "option \"delay_length\" is absent"),
    ("no_options", signal("Delay", [([4], "int16")], [([4], "int16")]), "no map of numbers"),
    ("negative", signal("Framer", [([4], "int16")], [([1, 4], "int16"), ([], "bool")], frame_size=2, frame_step=4, prefill=True),
     "option \"frame_size\" is 2, expected 4"),
    ("band", bank(4), "does not lie within its bins"),
]


def main():
    relayc, work = sys.argv[1:]
    failed = 0
    for name, net, reason in ROWS:
        path = Path(work) / f"refused_{name}.tflite"
        path.write_bytes(net.bytes())
        done = subprocess.run([relayc, "compile", str(path), "-o", str(Path(work) / "refused")], capture_output=True, check=False, text=True)
        if done.returncode != 1 or reason not in done.stderr:
            failed += 1
            print(f"FAILED {name}: exit {done.returncode}, no \"{reason}\" in\n{done.stderr[:600]}")
    print(f"{len(ROWS)} TensorFlow Lite networks that are refused, {failed} failed")
    sys.exit(failed > 0)


main()
