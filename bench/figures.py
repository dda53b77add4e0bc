#!/usr/bin/env python3
"""The tables of docs/lab/figures.md: what networks take, as relayc compile --json and NAME.json say it.

    bench/figures.py                  writes both tables (some minutes); the page's other text stays
    bench/figures.py --check NAME...  compares these rows of the first table with what relayc says now: exit 1 if one
                                      is stale. No NAME: all. Needs no C compiler.

Networks: examples/digits and the folders of $RELAYC_SHARED/models. BUILD is the build folder."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "lab" / "figures.md"
BUILD = pathlib.Path(os.environ.get("BUILD", "build"))
SHARED = pathlib.Path(os.environ.get("RELAYC_SHARED", "../shared"))
RELAYC = (ROOT / BUILD / "relayc").resolve()
MOST_WEIGHTS = 2 << 20  # of networks for the table of a microcontroller's code
FP8 = ["--precision", "fp8=f8e4m3", "--no-data-free", "--quantized-io"]

MEMORY_HEAD = ["network", "MACs", "regions", "weights", "arena", "lower bound", "weights, FP8", "arena, FP8"]
CODE_HEAD = ["network", "code", "stack", "arena", "code, FP8", "stack, FP8", "arena, FP8"]


def networks():
    found = {"digits": ROOT / "examples" / "digits" / "digits.onnx"}
    models = (ROOT / SHARED / "models").resolve()
    if models.is_dir():
        found.update((model.parent.name, model) for model in sorted(models.glob("*/model.onnx")))
    return found


def shapes(model):
    """--shape for what the model leaves open, as the folder's model.json binds it."""
    description = model.parent / "model.json"
    if not description.exists():
        return []
    inputs = json.loads(description.read_text(encoding="utf-8"))["inputs"]
    return [word for value in inputs if "declared_shape" in value
            for word in ("--shape", value["name"] + "=" + ",".join(map(str, value["shape"])))]


def compiled(model, options):
    """What relayc says of the model: its report, and NAME.json; None where it refuses."""
    with tempfile.TemporaryDirectory() as folder:
        command = [RELAYC, "compile", "--json", model, "-o", folder, "--name", "net", *shapes(model), *options]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode:
            return None
        return json.loads(run.stdout), json.loads(pathlib.Path(folder, "net.json").read_text(encoding="utf-8"))


def numbers(*values):
    return ["-" if value is None else f"{value:,}" for value in values]


def memory_row(name, model):
    plain, small = compiled(model, []), compiled(model, FP8)
    if plain is None:
        raise SystemExit(f"{name}: relayc refuses it")
    report, made = plain
    fp8 = small[0] if small else {}
    return [name, f"{report['macs'] / 1e6:.2f} M", *numbers(
        report["regions"], report["weight_bytes"], report["arena_bytes"], made["arena"]["order_lower_bound"],
        fp8.get("weight_bytes"), fp8.get("arena_bytes"))]


def code_row(name, model):
    cells = []
    for options in ([], FP8):
        found = compiled(model, ["--target", "cortex-m4", "--cc", "arm-none-eabi-gcc", *options])
        measured = found[0]["measured"] if found else {}
        cells += [measured.get("text"), measured.get("stack"), found[0]["arena_bytes"] if found else None]
    return [name, *numbers(*cells)]


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def replace(text, marker, new):
    """What stands between <!-- marker --> and <!-- end -->."""
    pattern = re.compile(rf"(<!-- {marker} -->\n).*?(\n<!-- end -->)", re.S)
    if not pattern.search(text):
        raise SystemExit(f"{PAGE} has no <!-- {marker} -->")
    return pattern.sub(lambda found: found.group(1) + "\n" + new + "\n" + found.group(2), text)


def check(names):
    rows = {line.split("|")[1].strip(): line for line in PAGE.read_text(encoding="utf-8").split("<!-- end -->")[0].split("\n")
            if line.startswith("| ")}
    known, stale = networks(), False
    for name in names or known:
        if name not in known:
            print(f"SKIPPED: {name}: no such network here")
            continue
        now = "| " + " | ".join(memory_row(name, known[name])) + " |"
        if rows.get(name) != now:
            print(f"docs/lab/figures.md is stale: run `make docs-figures`\n  has {rows.get(name)}\n  now {now}")
            stale = True
    return 1 if stale else 0


def main():
    if sys.argv[1:2] == ["--check"]:
        return check(sys.argv[2:])
    memory, code = [], []
    for name, model in networks().items():
        memory.append(memory_row(name, model))
        if int(memory[-1][3].replace(",", "")) <= MOST_WEIGHTS:
            code.append(code_row(name, model))
        print(name, flush=True)
    text = PAGE.read_text(encoding="utf-8")
    text = replace(text, "memory", table(MEMORY_HEAD, memory))
    PAGE.write_text(replace(text, "code", table(CODE_HEAD, code)), encoding="utf-8")
    return 0


sys.exit(main())
