#!/usr/bin/env python3
"""Times every register tile of a network's regions, in one process, and writes a tuning log.

    bench/tile_log.py MODEL.onnx -o LOG.jsonl [--target MACHINE] [--cflags FLAGS] [--seconds S]
                      [--compile OPTIONS] [--on COMMAND]

`relayc tune` builds a program for each trial of each region. This builds the whole network once for each tile that
there may be, which all regions that can have it take (others stay as usual), links all of these networks into one
program, with the time read between regions, and runs them in turn. That takes a fiftieth of the time, and each region
finds the caches as it does in the network. Weights are random, and shared by all. What it writes bench/fit_costs.py
reads. --on is put before the program: "flock FILE taskset -c 1".

For x86-64, and networks of one input and one output of f32.
"""
import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

TOP = Path(__file__).resolve().parent.parent
RELAYC = os.environ.get("RELAYC", str(TOP / "build/relayc"))
PIXELS = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 14, 16, 20, 24, 28)
ONE = [f"1x{p}" for p in PIXELS]
MORE = [f"{v}x{p}" for v in (2, 4) for p in PIXELS if v * p <= 30]

MAIN = """
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

unsigned long long region_ends[@regions@ + 1];
@weights@

static float number(void)
{
    static uint32_t state = 1;

    state = state * 1664525u + 1013904223u;
    return ((float)(state >> 8) / 8388608.0f - 1.0f) * 0.1f;
}

static void fill(float *to, long n)
{
    for (long i = 0; i < n; i++)
        to[i] = number();
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef int network(const float *, float *, void *);
network @networks@;
static network *const networks[] = { @networks@ };
enum { N = sizeof networks / sizeof *networks };

int main(int argc, char **argv)
{
    const double seconds = atof(argv[1]), start = now();
    const unsigned long long first = __builtin_ia32_rdtsc();
    float *x = aligned_alloc(64, @input@), *y = aligned_alloc(64, @output@);
    void *arena = aligned_alloc(64, @arena@);
    static float best[N][@regions@];
    FILE *file = fopen(argv[2], "wb");
    int round = 0;

    (void)argc;
    memset(arena, 0, @arena@);
    fill(x, @input@ / 4);
    @fills@
    for (; now() - start < seconds || round < 5; round++) {
        for (int i = 0; i < N; i++)
            for (int run = 0; run < 3; run++) { /* the first warms up */
                if (networks[i](x, y, arena) != 0)
                    return 1;
                for (int r = 0; r < @regions@ && run > 0; r++) {
                    const float time = (float)(region_ends[r + 1] - region_ends[r]);

                    if (run == 1 || time < best[i][r])
                        best[i][r] = time;
                }
            }
        fwrite(best, sizeof best, 1, file);
    }
    fclose(file);
    printf("%.17g\\n", (now() - start) / (double)(__builtin_ia32_rdtsc() - first) * 1e9);
    return 0;
}
"""


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}:\n{done.stderr[-2000:]}")
    return done.stdout


def emit(args, to, tiles=()):
    """Writes the network to a folder; tiles: of signatures; usual where they may not have them."""
    log = to.with_suffix(".jsonl")
    lines = [{"relayc_tune": 1, "region": s, "target": args.target, "compiler": "", "flags": "", "cpu": "",
              "runner": "", "knobs": {"tile": tiles[s]}, "kernel": "", "confirmed": True, "verdict": "ok", "error": 0,
              "warm_us": 1, "usual_warm_us": 2, "warm_ratio": 0.5} for s in tiles]
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    run(RELAYC, "compile", args.model, "-o", to, "--target", args.target, "--name", "model",
        *shlex.split(args.compile), *(["--tune-log", log] if lines else []))
    for path in to.glob("model_weights*.c"):
        path.unlink()
    return json.loads((to / "model.json").read_text())


def tile_of(region):
    f = region.get("features")
    return f"{f['vectors']}x{f['pixels']}" if f else None


def add_clock(text):
    """Reads the time between regions."""
    entry = text.index("\nint model_run(")
    calls = re.compile(r"^    (region_\w+\([^;]*\);)", re.M)
    body = text[entry:]
    first = calls.search(body).start()
    n = 0

    def timed(call):
        nonlocal n
        n += 1
        return f"{call.group(0)} region_ends[{n}] = __builtin_ia32_rdtsc();"

    body = body[:first] + "    region_ends[0] = __builtin_ia32_rdtsc();\n" + calls.sub(timed, body[first:])
    return text[:entry] + "\nextern unsigned long long region_ends[];\n" + body


def build(args, folder, variants):
    """Returns for each variant which of the networks in the program it is: some are the same text."""
    texts, numbers = {}, []
    for i, network in enumerate(variants):
        text = (folder / f"v{i}/model.c").read_text()
        numbers.append(texts.setdefault(text, len(texts)))
        if numbers[-1] != len(texts) - 1:
            continue
        path = folder / f"v{i}/timed.c"
        path.write_text(add_clock(text))
        run(*shlex.split(args.cc), *shlex.split(args.cflags), "-w", f"-Dmodel_run=network{numbers[-1]}", "-c", path,
            "-o", folder / f"{numbers[-1]}.o")
    return numbers


def bytes_of(tensor):
    return int(np.prod(tensor["shape"])) * 4 + 4096 & ~63


def link(args, folder, variants, n_networks):
    usual = variants[0]
    sizes = {}
    for network in variants:
        for weight in network["weights"]:
            size = max(weight["bytes"] // 4 + 64, sizes.get(weight["symbol"], (0,))[0])
            sizes[weight["symbol"]] = size, weight["dtype"]
    keys = {"regions": len(usual["regions"]),
            "weights": "\n".join(f"__attribute__((aligned(64))) float {s}[{n}];" for s, (n, _) in sizes.items()),
            "fills": "\n    ".join(f"fill({s}, {n});" for s, (n, dtype) in sizes.items() if dtype == "f32"),
            "networks": ", ".join(f"network{i}" for i in range(n_networks)),
            "input": bytes_of(usual["inputs"][0]), "output": bytes_of(usual["outputs"][0]),
            "arena": max(n["arena"]["bytes"] for n in variants) + 4096 & ~63}
    text = re.sub(r"@(\w+)@", lambda m: str(keys[m[1]]), MAIN)
    (folder / "main.c").write_text(text)
    run(*shlex.split(args.cc), "-O1", "-w", "-o", folder / "program", folder / "main.c",
        *(folder / f"{i}.o" for i in range(n_networks)), "-lm")


def measure(args, folder, n_networks, n_regions):
    """Nanoseconds [round][network][region]."""
    out = run(*shlex.split(args.on), folder / "program", str(args.seconds), folder / "times")
    ticks = np.fromfile(folder / "times", np.float32).astype(float)
    return ticks.reshape(-1, n_networks, n_regions) * float(out)


def write(args, log, variants, numbers, times):
    compiler = run(*shlex.split(args.cc), "--version").splitlines()[0]
    for i, network in enumerate(variants):
        for r, region in enumerate(network["regions"]):
            usual = variants[0]["regions"][r]
            if not tile_of(region) or (i and tile_of(region) == tile_of(usual)):
                continue
            mine, theirs = times[:, numbers[i], r], times[:, 0, r]
            json.dump({"relayc_tune": 1, "region": region["signature"], "target": args.target, "compiler": compiler,
                       "flags": args.cflags, "cpu": args.cpu, "runner": "",
                       "knobs": {"tile": tile_of(region)} if i else {}, "kernel": region["kernel"], "confirmed": False,
                       "verdict": "ok", "error": 0, "warm_us": np.median(mine) / 1000,
                       "usual_warm_us": np.median(theirs) / 1000, "warm_ratio": np.median(mine / theirs),
                       "features": region["features"]}, log)
            log.write("\n")


def variants_of(args, folder):
    variants = [emit(args, folder / "v0")]
    tiled = {r["signature"]: int(r["features"]["vectors"]) for r in variants[0]["regions"] if tile_of(r)}
    for i in range(max(len(ONE), len(MORE))):
        tiles = {s: ONE[i % len(ONE)] if v == 1 else MORE[i % len(MORE)] for s, v in tiled.items()}
        variants.append(emit(args, folder / f"v{i + 1}", tiles))
    return variants


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model")
    parser.add_argument("-o", "--output", default="tiles.jsonl", type=Path)
    parser.add_argument("--target", default="x86-64-v4")
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--cflags", default="-O3 -march=native -ffp-contract=fast")
    parser.add_argument("--compile", default="--winograd off --ram 1G", help="options of relayc compile")
    parser.add_argument("--seconds", default=10.0, type=float)
    parser.add_argument("--on", default="")
    args = parser.parse_args()
    args.cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if "model name" in line), "")
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        variants = variants_of(args, folder)
        numbers = build(args, folder, variants)
        n_networks = max(numbers) + 1
        link(args, folder, variants, n_networks)
        times = measure(args, folder, n_networks, len(variants[0]["regions"]))
        with args.output.open("w") as log:
            write(args, log, variants, numbers, times)
    total = np.median(times.sum(axis=2), axis=0)
    print(f"{args.output}: {n_networks} networks, {len(times)} rounds; usual {total[0] / 1000:.1f} us")


if __name__ == "__main__":
    main()
