"""Damaged TensorFlow Lite files: each must be compiled or refused, within a minute.

    damage_tflite.py RELAYC WORK COUNT NETWORK ...

NETWORK is a folder with model.tflite; COUNT files in all, of fixed seeds. relayc must exit with 0 or 1."""
import random
import struct
import subprocess
import sys
from pathlib import Path

WORDS = [0, 1, 3, 4, 0x7F, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF]


def damage(content, rng):
    """One to four bytes or words changed; one file in eight is cut."""
    bad = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(bad))
        if rng.random() < 0.3 and at + 4 <= len(bad):
            struct.pack_into("<I", bad, at, rng.choice(WORDS))
        else:
            bad[at] = (bad[at] + rng.randint(-4, 4)) % 256 if rng.random() < 0.6 else rng.randrange(256)
    return bytes(bad if rng.random() > 0.125 else bad[:rng.randrange(8, len(bad))])


def main():
    relayc, work, count, *folders = sys.argv[1:]
    counts = {0: 0, 1: 0}
    failed = 0
    for seed in range(int(count)):
        rng = random.Random(seed)
        folder = Path(folders[(seed * 7) % len(folders)])
        path = Path(work) / f"damaged_{seed}.tflite"
        path.write_bytes(damage((folder / "model.tflite").read_bytes(), rng))
        try:
            code = subprocess.run([relayc, "compile", "-q", str(path), "-o", f"{work}/damaged"], capture_output=True, check=False, timeout=60).returncode
        except subprocess.TimeoutExpired:
            code = "no end within 60 s"
        if code in counts:
            counts[code] += 1
            path.unlink()
        else:
            failed += 1
            print(f"FAILED {path} (of {folder.name}): {code}")
    print(f"{count} damaged TensorFlow Lite files: {counts[0]} compiled, {counts[1]} refused, {failed} failed")
    sys.exit(failed > 0)


main()
