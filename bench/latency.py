#!/usr/bin/env python3
"""make bench-latency: the generated C against its peers, network by network.

  bench/latency.py [--isa native,generic,x86-64-v3,x86-64] [--only NAME,...] [--seconds S] [--markdown]

One `relayc bench --json` per network and instruction set, the C written for that machine (--target); all of them are
kept in $BUILD/bench. Networks in u8 are what ONNX Runtime's own tools make of those in f32. With native instructions the peer is ONNX Runtime. It cannot be told to use fewer, so for the others it is oneDNN,
which can, as `relayc run` uses it. $BUILD is the build folder, $RELAYC_SHARED has the
models.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
BUILD = TOP / os.environ.get("BUILD", "build")
SHARED = pathlib.Path(os.environ.get("RELAYC_SHARED", TOP / ".." / "shared"))

# name -> --target, the compiler's flags, the peer, what oneDNN may use. generic is C for any processor, with Winograd as
# users get it who ask for speed, and no word about the machine.
ISAS = {
    "native": ("host", "-O3 -march=native -ffp-contract=fast", "onnxruntime", None),
    "generic": ("generic", "-O3 -march=native -ffp-contract=fast", "onnxruntime", None),
    "x86-64-v3": ("x86-64-v3", "-O2 -march=x86-64-v3 -ffp-contract=fast", "engine", "AVX2"),
    "x86-64": ("x86-64", "-O2 -march=x86-64", "engine", "SSE41"),
}

COLUMNS = ("network", "input", "ours ms", "peer ms", "ratio", "quartiles", "to reach", "% of peak", "cold ratio",
           "text", "constants", "arena")  # fmt: skip


def networks(only):
    rows = []
    for line in (TOP / "bench" / "networks").read_text().splitlines():
        if line and not line.startswith("#"):
            name, source, shape, goal, *options = line.split()
            if not only or name in only:
                rows.append((name, source, shape, float(goal), options))
    return rows


def model_file(name, source):
    """The path, or None with a word about why not."""
    if source == "models":
        path = SHARED / "models" / name / "model.onnx"
        if not path.exists():
            print(f"SKIPPED {name}: no {path}", file=sys.stderr)
            return None
        return path
    path = BUILD / "bench" / f"{name}.onnx"
    if source == "made":
        if not path.exists():
            subprocess.run([BUILD / "tests" / "make", f"--{name}", path], check=True)
        return path
    # Anew each time: the file is that of the version which it is then measured against.
    (base,) = networks([name.removesuffix(".u8")])
    base = model_file(*base[:2])
    python = os.environ.get("RELAYC_PYTHON", BUILD / "python/bin/python3")
    if not base or subprocess.run([python, TOP / "bench/quantise.py", base, path]).returncode != 0:
        print(f"SKIPPED {name}: it could not be quantised", file=sys.stderr)
        return None
    return path


def bench(model, options, isa, arguments):
    target, flags, peer, limit = ISAS[isa]
    words = [BUILD / "relayc", "bench", model, "--json", "--target", target, "--cflags", flags, "--winograd", "auto", *options]
    words += ["--vs", "plain" if options else peer]
    environment = dict(os.environ)
    if limit:
        environment.update(ONEDNN_MAX_CPU_ISA=limit, DNNL_MAX_CPU_ISA=limit)
    if arguments.seconds:
        words += ["--seconds", arguments.seconds]
    done = subprocess.run(words, env=environment, stdout=subprocess.PIPE, text=True)
    result = json.loads(done.stdout)
    for diagnostic in result["diagnostics"]:
        print(f"{model}: {diagnostic['message']}\n  {diagnostic.get('help', '')}", file=sys.stderr)
    return result if done.returncode == 0 else None


def cells(name, shape, goal, options, isa, result):
    peer, size = result["peer"], result["object_bytes"]
    ratio = peer["ratio"]
    return (
        " ".join([name] + options[1:]),
        shape,
        f"{result['warm_ms']['median']:.4g}",
        f"{peer['warm_ms']['median']:.4g}",
        f"{ratio['median']:.3f}",
        f"{ratio['low']:.3f} .. {ratio['high']:.3f}",
        f"{goal:.2f}{' (reached)' if ratio['median'] <= goal else ''}" if isa == "native" or options else "-",
        f"{result['percent_of_peak']:.1f}",
        f"{peer['cold_ratio']['median']:.3f}",
        f"{size['text']}",
        f"{size['rodata']}",
        f"{result['arena_bytes']}",
    )


def show(row, markdown):
    if markdown:
        print("| " + " | ".join(row) + " |")
    else:
        print(f"{row[0]:<20} {row[1]:<12}", *(f"{c:>9}" for c in row[2:5]), f"{row[5]:>16}",
              f"{row[6]:>14}", *(f"{c:>10}" for c in row[7:]))  # fmt: skip
    sys.stdout.flush()


def table(isa, arguments):
    target, flags, peer, limit = ISAS[isa]
    text, failed = 0, 0
    print(f"\n{isa}: --target {target}, {flags}; the peer is {peer}" + (f", capped to {limit}" if limit else "")
          + "; of the network with another precision our own f32")  # fmt: skip
    show(COLUMNS, arguments.markdown)
    if arguments.markdown:
        show(["---"] + ["---:"] * (len(COLUMNS) - 1), True)
    for name, source, shape, goal, options in networks(arguments.only):
        if source == "quantised" and peer != "onnxruntime":
            continue  # oneDNN has no such operators here
        model = model_file(name, source)
        result = bench(model, options, isa, arguments) if model else None
        if not result:
            failed += model is not None
            continue
        (BUILD / "bench" / f"{name}.{isa}.json").write_text(json.dumps(result, indent=1))
        text += result["object_bytes"]["text"]
        show(cells(name, shape, goal, options, isa, result), arguments.markdown)
    print(f"text of all: {text} bytes")
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--isa", default="native", type=lambda text: text.split(","))
    parser.add_argument("--only", default=[], type=lambda text: text.split(","))
    parser.add_argument("--seconds")
    parser.add_argument("--markdown", action="store_true")
    arguments = parser.parse_args()
    for isa in arguments.isa:
        if isa not in ISAS:
            parser.error(f"--isa: '{isa}' is none of {', '.join(ISAS)}")
    known = {row[0] for row in networks([])}
    for name in arguments.only:
        if name not in known:
            parser.error(f"--only: '{name}' is none of {', '.join(sorted(known))}")
    (BUILD / "bench").mkdir(parents=True, exist_ok=True)
    sys.exit(1 if sum(table(isa, arguments) for isa in arguments.isa) else 0)


if __name__ == "__main__":
    main()
