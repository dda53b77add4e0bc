#!/usr/bin/env python3
"""fit.py - cycles of regions as sums of few terms, for relayc's estimates of time (report/cycles.def).

  bench/cycles/fit.py fit   [--cpu NAME,...] [--precision f32,int8,fp8]    writes the table
  bench/cycles/fit.py check [--cpu NAME,...] [--precision ...] [MODEL ...] what it says of other networks, and what is
                                                                          counted there

A row for each CPU, kernel and kind of numbers: cycles = a * MACs + b * results + c * elements read + d * positions + e. Coefficients
are those, none negative, by which the sum of squares of relative errors over the regions of bench/cycles/networks.py is
least. What is counted, and how, stands in bench/cycles/count.py. Needs: qemu-system-arm, qemu-system-riscv32,
arm-none-eabi-gcc, riscv64-unknown-elf-gcc with picolibc, llvm-mca (LLVM_MCA, LLVM_OBJDUMP: version 19), and Python
with numpy and onnx."""

import argparse
import collections
import concurrent.futures
import itertools
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import count
import networks
import numpy as np

KEPT = count.BUILD / "cycles"
TABLE = count.ROOT / "report/cycles.def"
SHARED = count.ROOT / "../shared/models"
SMALL = [count.ROOT / "examples/digits/digits.onnx", SHARED / "kws_dscnn/model.onnx", SHARED / "ad_autoencoder/model.onnx"]
CHECKED = SMALL + [SHARED / f"{name}/model.onnx" for name in ("ic_resnet8", "vww_mobilenetv1", "mobilenetv1_025_128")]
NO_FPU = ["cortex-m0", "cortex-m3", "rv32imc"]  # functions compute their floats: small networks do
PRECISIONS = ["f32", "int8", "fp8"]


def kind(dtype):
    """Formats of a kind take the same instructions, or nearly: f8e4m3 and u8e3m5 are "f8"."""
    return "-" if not dtype else "f8" if re.fullmatch(r"[fu]8e\dm\d.*", dtype) else dtype


def key_of(region):
    """What report/estimate.c looks up: kernel and first operator, kinds of the data, of the weights and of the result."""
    operator = re.match(r"[\w.]+", region["signature"])[0]
    return (region["kernel"], operator.rpartition(".")[2], kind(region["inputs"][0]["dtype"]),
            kind(region.get("weights")), kind(region["results"][0]["dtype"]))  # fmt: skip


# Operators that cost next to nothing where they follow another, or whose work is that of the kernel; what others
# (sigmoid ...) take is that of their region alone, for each result.
INCLUDED = {"bias_add", "relu", "clip", "add", "subtract", "multiply", "quantize", "dequantize", "requantize", "lut", "conv2d",
            "max_pool2d", "avg_pool2d", "global_avg_pool"}  # fmt: skip


def functions(region):
    """Further operators of the region that are not included."""
    names = [re.match(r"[\w.]+", part.strip()) for part in region["signature"].split(";")]
    names = [name[0].rpartition(".")[2] for name in names if name]
    return [{"silu": "sigmoid"}.get(name, name) for name in names[1:] if name not in INCLUDED]


def elements(values):
    return float(sum(np.prod(value["shape"]) for value in values))


def terms(region):
    """As report/estimate.c: of a pool, the elements of all windows stand where others have MACs; positions are results
    by the length of their last dimension."""
    window = re.search(r"pool_size=\[([\d,]+)\]", region["signature"])
    results = elements(region["results"])
    work = results * np.prod([float(n) for n in window[1].split(",")]) if window else region["macs"]
    last = (region["results"][0]["shape"] or [1])[-1]
    return [float(work), results, elements(region["inputs"]), results / last, 1.0]


def measure_all(jobs, reuse):
    """(cpu, precision, model) -> (regions of NAME.json, [(instructions, cycles)]), or a text: why not."""

    def one(job):
        cpu, precision, model = job
        kept = KEPT / f"{cpu}_{precision}_{model.parent.name if model.stem == 'model' else model.stem}.json"
        try:
            if not reuse or not kept.exists():
                facts, regions = count.blocks_of(cpu, model, precision)
                kept.parent.mkdir(parents=True, exist_ok=True)
                kept.write_text(json.dumps([facts["regions"], regions]))
            regions, blocks = json.loads(kept.read_text())
            return job, (regions, [[(tuple(block), *n) for block, *n in region] for region in blocks])
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired, ValueError) as error:
            return job, f"{error} {(getattr(error, 'output', None) or '')[-200:]}"

    results, oracles = {}, {}
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        for n, (job, found) in enumerate(pool.map(one, jobs)):
            print(f"\r{n + 1} of {len(jobs)}", end="", file=sys.stderr)
            if isinstance(found, str):
                results[job] = found
                continue
            oracle = oracles.setdefault(job[0], count.Oracle(job[0]))
            results[job] = (found[0], count.cycles_of(found[1], oracle))
    print(file=sys.stderr)
    for cpu, oracle in oracles.items():
        if oracle.unread:
            print(f"{cpu}: llvm-mca could not read {dict(oracle.unread.most_common(5))}", file=sys.stderr)
    return results


def solve(rows, wanted):
    """Coefficients, none negative, of the least sum of squares of relative errors: the best of all choices of terms."""
    rows = np.array(rows) / np.array(wanted)[:, None]
    best, error = np.zeros(rows.shape[1]), len(rows)
    for n in range(1, min(rows.shape[1], len(rows)) + 1):
        for chosen in itertools.combinations(range(rows.shape[1]), n):
            found = np.linalg.lstsq(rows[:, chosen], np.ones(len(rows)), rcond=None)[0]
            left = float(np.sum((rows[:, chosen] @ found - 1) ** 2))
            if np.all(found >= 0) and left < error - 1e-9:
                best, error = np.zeros(rows.shape[1]), left
                best[list(chosen)] = found
    return best, (error / len(rows)) ** 0.5


HEAD = """/* cycles.def - estimated cycles of regions on microcontrollers, fitted by bench/cycles/fit.py (docs/lab/cycles.md).
 *
 * CYCLES(cpu, kernel, operator, x, weights, y, per_mac, per_result, per_read, per_position, per_call): of a kernel whose
 * first operator, kinds of the first input, of the weights ("-": none) and of the result are these; f8 is any 8-bit
 * float. */
"""


def write_table(fitted, path):
    lines = [HEAD]
    for (cpu, *key), coefficients in sorted(fitted.items()):
        numbers = ", ".join(f"{c:.4g}" for c in coefficients)
        lines.append("CYCLES({}, {})\n".format(", ".join(f'"{word}"' for word in (cpu, *key)), numbers))
    path.write_text("".join(lines))


def fit(args):
    samples = collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        models = networks.write(pathlib.Path(folder))
        results = measure_all([(c, p, m) for c in args.cpu for p in args.precision for m in models
                               if p == "f32" or not m.stem.startswith("function")], args.reuse)
    for (cpu, precision, model), found in results.items():
        if isinstance(found, str):
            print(f"{cpu} {precision} {model.name}: {found}", file=sys.stderr)
            continue
        for region, (_, cycles) in zip(*found):
            if not functions(region):
                samples[(cpu, *key_of(region))].append((terms(region), cycles))
    fitted, errors = {}, []
    for key, rows in samples.items():
        fitted[key], error = solve([row for row, _ in rows], [cycles for _, cycles in rows])
        errors.append((error, len(rows), key))
    for error, n, key in sorted(errors, reverse=True):
        print(f"{100 * error:6.1f} % of {n:3d} regions  {' '.join(key)}", file=sys.stderr)
    kept = {tuple(key): row for key, row in read_table().items() if key[0] not in args.cpu}
    write_table({**kept, **fitted}, TABLE)


def read_table():
    found = {}
    if TABLE.exists():
        for row in re.findall(r"^CYCLES\((.*)\)$", TABLE.read_text(), re.M):
            words = [word.strip().strip('"') for word in row.split(",")]
            found[tuple(words[:6])] = [float(word) for word in words[6:]]
    return found


def guess_of(table, cpu, region):
    """As report/estimate.c; None = no row."""
    rows = [table.get((cpu, *key_of(region)))]
    rows += [table.get((cpu, "elementwise", name, "f32", "-", "f32")) for name in functions(region)]
    if None in rows:
        return None
    results = elements(region["results"])
    return float(np.dot(rows[0], terms(region))) + sum((row[1] + row[2]) * results for row in rows[1:])


def check(args):
    table = read_table()
    models = args.model or CHECKED
    jobs = [(c, p, m) for m in models for c in args.cpu for p in args.precision
            if args.model or m in SMALL or p == "int8" or c not in NO_FPU]  # fmt: skip
    results = measure_all(jobs, args.reuse)
    print("| network | CPU | | instructions | cycles | cycles an instruction | estimate | of these cycles | error |\n"
          "|---|---|---|---:|---:|---:|---:|---:|---:|")
    for (cpu, precision, model), found in results.items():
        name = model.parent.name if model.stem == "model" else model.stem
        if isinstance(found, str):
            print(f"| {name} | {cpu} | {precision} | {found.splitlines()[-1][-60:]} | | | | | |")
            continue
        instructions = cycles = estimate = covered = 0
        for region, (counted, took) in zip(*found):
            guess = guess_of(table, cpu, region)
            instructions += counted
            cycles += took
            covered += took if guess is not None else 0
            estimate += guess or 0
            if args.regions:
                print(f"  {' '.join(key_of(region))}: {counted} instructions, {took:.0f} cycles, estimate {guess and round(guess)}", file=sys.stderr)
        error = f"{100 * (estimate / covered - 1):+.1f} %" if covered else "-"
        print(f"| {name} | {cpu} | {precision} | {instructions:,} | {cycles:,.0f} | {cycles / instructions:.2f} | "
              f"{estimate:,.0f} | {100 * covered / cycles:.1f} % | {error} |")  # fmt: skip


def words(text):
    return text.split(",")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("command", choices=["fit", "check"])
    parser.add_argument("--cpu", type=words, default=list(count.CPUS))
    parser.add_argument("--precision", type=words, default=PRECISIONS)
    parser.add_argument("--regions", action="store_true", help="check: of each region, to standard error")
    parser.add_argument("--reuse", action="store_true", help="counts that build/cycles has from an earlier run")
    parser.add_argument("model", nargs="*", type=pathlib.Path)
    args = parser.parse_intermixed_args()
    {"fit": fit, "check": check}[args.command](args)


if __name__ == "__main__":
    main()
