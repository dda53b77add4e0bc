"""examples/wakeword: the features beside those of pymicro-features (recorded as a hash; and the package itself, where
Python has it), and what the whole example hears, on the host and on an emulated Cortex-M4 and Cortex-M55.

    wakeword.py WORK SHARED"""
import ctypes
import hashlib
import math
import os
import subprocess
import sys
from array import array
from pathlib import Path

HERE = Path("examples/wakeword")
RECORDED = "2a5bcfd0cc92c117b526e60e85da0259a29ecbea502c3d2aff522682a5844b36"  # of pymicro-features 2.0.2, for sounds()
failed = 0


def expect(what, holds, text=""):
    global failed
    if not holds:
        failed += 1
        print(f"FAILED {what}: {text[-800:]}")


def sounds():
    """Loud and quiet noise, full range, chirps, silence: the same numbers everywhere."""
    seed, samples = 1, array("h")
    for part, size in enumerate((32768, 3, 300, 0, 32768, 5000)):
        for i in range(16000):
            seed = (seed * 1103515245 + 12345) % 2**31
            noise = (seed >> 8) % (2 * size + 1) - size if size else 0
            tone = 0 if part % 2 else size // 2 * ((i * (part + 3) // 97) % 2)
            samples.append(max(-32768, min(32767, (noise >> part % 3) + tone)))
    return samples


def own_features(work, samples):
    library = work / "sound_features.so"
    subprocess.run(["gcc", "-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", "-O1", "-fsanitize=undefined",
                    "-fno-sanitize-recover=all", "-fPIC", "-shared", "-o", library, HERE / "sound_features.c"], check=True)
    c = ctypes.CDLL(str(library.absolute()))
    c.features_take.restype = ctypes.c_bool
    state, scratch, row = (ctypes.c_uint64 * 600)(), (ctypes.c_uint64 * 600)(), (ctypes.c_uint16 * 40)()
    rows = array("H")
    c.features_reset(state)
    for i in range(0, len(samples) - 159, 160):
        chunk = (ctypes.c_int16 * 160)(*samples[i:i + 160])
        if c.features_take(state, scratch, chunk, 160, 160, row):
            rows.extend(row)
    return rows


def package_features(samples):
    from pymicro_features import MicroFrontend

    frontend, rows = MicroFrontend(), array("H")
    for i in range(0, len(samples) - 159, 160):
        rows.extend(math.floor(x / 0.0390625 + 0.5) for x in frontend.process_samples(samples[i:i + 160].tobytes()).features)
    return rows


def check_features(work):
    samples = sounds()
    own = own_features(work, samples)
    found = hashlib.sha256(own.tobytes()).hexdigest()
    expect("features", found == RECORDED, f"{found}, expected {RECORDED}")
    try:
        expect("features beside pymicro-features", package_features(samples) == own)
    except ImportError:
        print(f"SKIPPED: {sys.executable} has no package pymicro-features: features are compared with its recorded hash only",
              file=sys.stderr)


def check_example(shared):
    if not (shared / "tflite/tflm_micro_speech_int8/model.tflite").exists() or not (shared / "data/audio_samples").is_dir():
        print(f"SKIPPED: no network or no sounds in {shared}: examples/wakeword does NOT run", file=sys.stderr)
        return
    for cpu in "host", "cortex-m4", "cortex-m55":
        done = subprocess.run([HERE / "run", cpu], capture_output=True, check=False, text=True, env={**os.environ, "RELAYC_SHARED": str(shared)})
        heard = done.stdout.partition("heard:\n")[2].partition("\n\n")[0]
        expect(f"wakeword {cpu}", done.returncode == 0 and heard == '  1.05 s  "yes"\n  2.37 s  "no"', done.stdout + done.stderr)


def main():
    check_features(Path(sys.argv[1]))
    check_example(Path(sys.argv[2]))
    print(f"examples/wakeword: {failed} failed")
    sys.exit(failed > 0)


main()
