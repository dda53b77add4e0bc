"""TensorFlow Lite networks, compiled, built and run, against outputs that TensorFlow Lite Micro recorded: codes bit for
bit, floats within 1e-5.

    tflite.py RELAYC WORK FEW [--full] NETWORK ...

NETWORK is a folder with model.tflite, input_K.npy and output_K.npy: [steps, shape...]. Each is built in FEW of BUILDS,
in rotation with RELAYC_TEST_TURN; --full: in all."""
import os
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np

BOARD = "templates/firmware/cortex-m4-qemu"
STRICT = "-std=c99 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror"
TRAPS = "-fsanitize=undefined -fno-sanitize-recover=all"
SEMIHOSTING = ("-display none -monitor none -serial null -chardev stdio,id=console "
               "-semihosting-config enable=on,target=native,chardev=console -kernel")
# --target, C compiler, runner.
BUILDS = [
    ("generic", "gcc -O2 -march=native", ""),
    ("generic", "clang -O2 -march=native", ""),
    ("generic", f"gcc -O1 {TRAPS}", ""),
    ("generic", "aarch64-linux-gnu-gcc -static -O2", "qemu-aarch64"),
    ("aarch64", "aarch64-linux-gnu-gcc -static -O2 -march=armv8.2-a+dotprod", "qemu-aarch64"),
    ("generic", "arm-linux-gnueabihf-gcc -static -O2", "qemu-arm"),
    ("armv7", "arm-linux-gnueabihf-gcc -static -O2 -march=armv7-a -mfpu=neon-vfpv4", "qemu-arm"),
    ("rv64gc", "riscv64-linux-gnu-gcc -static -O2 -march=rv64gc", "qemu-riscv64"),
    ("cortex-m4", "arm-linux-gnueabihf-gcc -static -O2 -march=armv7-a+fp -marm", "qemu-arm"),  # A profile has __smlad
    ("cortex-m4", f"arm-none-eabi-gcc -O2 -mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16 -nostartfiles -I{BOARD} "
     f"-T {BOARD}/linker.ld {BOARD}/startup.c {BOARD}/semihosting.c {BOARD}/newlib.c",
     f"timeout 600 qemu-system-arm -M mps2-an386 {SEMIHOSTING}"),
    ("cortex-m0", "gcc -O2", ""),
]
BARE = 9
OPTIONS = ["", "--deterministic"]
OF_A_NETWORK = {"loop_unbounded": "--max-rounds 9"}
OF_A_LIBRARY = {"refused"}  # its POW is powf of <math.h>, which --deterministic refuses


def run(command, **more):
    done = subprocess.run(shlex.split(command) if isinstance(command, str) else command, capture_output=True, check=False, **more)
    if done.returncode:
        raise RuntimeError(f"{command}: {done.returncode}\n{(done.stderr or done.stdout).decode(errors='replace')[-800:]}")
    return done.stdout


def literal(data):
    return "".join(f'    "{"".join(f"{chr(92)}x{b:02x}" for b in data[i:i + 24])}"\n' for i in range(0, len(data), 24))


def driver(steps, inputs, outputs, keeps):
    """main() that runs every step and prints the outputs' bytes. What a network keeps it keeps twice: every step runs
    for two states, which must not know of each other."""
    lines = ['#include <stdio.h>', '#include <string.h>', '', '#include "net.h"', '']
    lines += ["union arena {", "    unsigned char bytes[NET_ARENA_BYTES + 1];", "    double align;", "};", "",
              "static union arena arena __attribute__((aligned(NET_ARENA_ALIGN)));"]
    c_types = {"int8": "int8_t", "uint8": "uint8_t", "float32": "float", "int16": "int16_t", "int32": "int32_t", "int64": "int64_t", "uint32": "uint32_t", "uint64": "uint64_t",
               "bool": "unsigned char"}
    for kind, arrays in ("input", inputs), ("output", outputs):
        for i, array in enumerate(arrays):
            lines.append(f"static {c_types[str(array.dtype)]} {kind}_{i}[{array[0].size}];")
    if keeps:
        lines.append("static struct net_state states[2];")
    for i in range(len(inputs)):
        lines.append(f"extern const unsigned char data_{i}[];")
    arguments = [f"input_{i}" for i in range(len(inputs))] + [f"output_{i}" for i in range(len(outputs))]
    arguments += ["&states[k]"] * keeps + ["arena.bytes"]
    lines += ["", "int main(void)", "{"]
    if keeps:
        lines += ["    memset(states, 0x5A, sizeof states);", "    net_reset(&states[0]);", "    net_reset(&states[1]);"]
    lines += [f"    for (int step = 0; step < {steps}; step++) {{"]
    for i in range(len(inputs)):
        lines.append(f"        memcpy(input_{i}, data_{i} + (size_t)step * sizeof input_{i}, sizeof input_{i});")
    if keeps:
        lines.append("        for (int k = 1; k >= 0; k--) {")
    lines += ["        memset(&arena, 0xA5, sizeof arena);", f"        if (net_run({', '.join(arguments)}) != 0)",
              "            return 1;"]
    if keeps:
        lines.append("        }")
    for i in range(len(outputs)):
        lines += [f"        for (size_t i = 0; i < sizeof output_{i}; i++)",
                  f'            printf("%02x", ((const unsigned char *)output_{i})[i]);']
    lines += ['        printf("\\n");', "    }", "    return 0;", "}", ""]
    return "\n".join(lines)


def compare(found, outputs, steps):
    """None, or what differs."""
    at = 0
    worst = 0.0
    for step in range(steps):
        for i, array in enumerate(outputs):
            want = array[step]
            got = np.frombuffer(found[at:at + want.nbytes], want.dtype).reshape(want.shape)
            at += want.nbytes
            if want.dtype == np.float32:
                worst = max(worst, float(np.abs(got - want).max()) / max(1, float(np.abs(want).max())))
                if not worst <= 1e-5:
                    return f"output {i} of step {step} is {worst:g} off"
            elif (got != want).any():
                off = np.abs(got.astype(int) - want.astype(int))
                return f"output {i} of step {step}: {int((off > 0).sum())} of {want.size} differ, by up to {int(off.max())}"
    return None if at == len(found) else f"{len(found)} bytes, expected {at}"


def network_arrays(folder):
    inputs, outputs = ([np.load(p) for p in sorted(folder.glob(f"{kind}_*.npy"), key=lambda p: int(p.stem.split("_")[1]))]
                       for kind in ("input", "output"))
    return inputs, outputs


def attempt(relayc, model, inputs, outputs, out, number, options):
    """Compiles, builds and runs one network in one of BUILDS; None, or what is wrong."""
    target, compiler, runner = BUILDS[number]
    steps = len(inputs[0])
    few = min(steps, 4) if number == BARE else steps
    try:
        run([relayc, "compile", str(model), "-o", str(out), "--name", "net", "--target", target, *options.split()])
        (out / "driver.c").write_text(driver(few, inputs, outputs, "struct net_state" in (out / "net.h").read_text()))
        data = "".join(f"const unsigned char data_{i}[];\nconst unsigned char data_{i}[] =\n{literal(a[:few].tobytes())}    ;\n"
                       for i, a in enumerate(inputs))
        (out / "data.c").write_text(data)
        program = out / f"program{number}"
        sources = [str(p) for p in sorted(out.glob("*.c")) if p.name != "data.c"]
        run(f"{compiler} {STRICT} -Wno-psabi -Wno-overlength-strings -I{out} -o {program} {' '.join(sources)} {out}/data.c -lm")
        text = run(f"{runner} {program}").decode()
        return compare(bytes.fromhex("".join(text.split())), [a[:few] for a in outputs], few)
    except RuntimeError as error:
        return str(error)


def check(relayc, folder, work, builds):
    """Runs one network in these builds; the number of failures."""
    inputs, outputs = network_arrays(folder)
    failed = 0
    for number, options in builds:
        target, compiler, _ = BUILDS[number]
        out = work / folder.name / f"{target}{'-deterministic' if options else ''}"
        more = OF_A_NETWORK.get(folder.name, "")
        problem = attempt(relayc, folder / "model.tflite", inputs, outputs, out, number, f"{options} {more}")
        if problem and not (options and "R0409" in problem and folder.name in OF_A_LIBRARY):
            failed += 1
            print(f"FAILED {folder.name} {target} {options} {compiler.split(' -nostart')[0]}: {problem}")
    return failed


def main():
    arguments = sys.argv[1:]
    full = "--full" in arguments
    arguments = [a for a in arguments if a != "--full"]
    relayc, work, few, *folders = arguments
    few = int(few)
    failed = runs = 0
    for turn, folder in enumerate(folders, int(os.environ.get("RELAYC_TEST_TURN", "0"))):
        everything = [(number, options) for number in range(len(BUILDS)) for options in OPTIONS]
        builds = everything if full else [everything[(turn * 5 + k * 7) % len(everything)] for k in range(few)]
        runs += len(builds)
        failed += check(relayc, Path(folder), Path(work), builds)
    print(f"{len(folders)} TensorFlow Lite networks in {runs} builds, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
