"""A TensorFlow Lite loop that run time ends, with --max-rounds: rounds up to that number run, others are a wrong number.

    rounds_tflite.py RELAYC WORK NETWORKS

NETWORKS has loop_unbounded of tests/tflite/control.py: 400 is added to a number until it reaches 1000."""
import ctypes
import subprocess
import sys
from pathlib import Path

MOST, WRONG_NUMBER = 4, -1


def main():
    relayc, work, networks = sys.argv[1:]
    out, model = Path(work) / "rounds", Path(networks) / "loop_unbounded" / "model.tflite"
    failed = 0
    subprocess.run([relayc, "compile", "-q", model, "-o", out, "--name", "net", "--max-rounds", str(MOST)], check=True)
    subprocess.run(["gcc", "-std=c99", "-O1", "-shared", "-fPIC", "-o", out / "net.so", *out.glob("net*.c"), "-lm"], check=True)
    net = ctypes.CDLL(str((out / "net.so").absolute()))
    for number in (-2401, -601, -600, -1, 599, 600, 999, 1000, 9999):
        rounds = max(0, -((number - 1000) // 400))
        x, results = (ctypes.c_int8 * 6)(1, 2, 3, 4, 5, 6), [(ctypes.c_int8 * 6)() for _ in range(3)]
        given, left = (ctypes.c_int32 * 1)(number), (ctypes.c_int32 * 1)()
        arena, state = (ctypes.c_uint64 * 8192)(), (ctypes.c_uint64 * 64)()
        aligned = ctypes.c_void_p(-(-ctypes.addressof(arena) // 64) * 64)
        net.net_reset(state)
        code = net.net_run(x, given, left, *results, state, aligned)
        if code != (WRONG_NUMBER if rounds > MOST else 0) or (code == 0 and left[0] != number + 400 * rounds):
            failed += 1
            print(f"FAILED from {number}, {rounds} rounds: net_run returned {code}, the number {left[0]}")
    print(f"a TensorFlow Lite loop of {MOST} rounds at most: {failed} failed")
    sys.exit(failed > 0)


main()
