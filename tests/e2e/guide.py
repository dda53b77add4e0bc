"""Runs the commands of README.md and docs/guide in a folder that has the files they name.

A command is a line of a code block that begins with `relayc `, with its continuation lines. The networks kws.onnx,
model.onnx ... are the digit classifier of examples/, images/ and val/ its test images as PNG. What a page's commands
write stays for its later ones. Half of the pages take turns (RELAYC_TEST_TURN), README.md and those that the last
commit changed run at each; --full: all. A command that is not run is in NOT_RUN, with the reason, one that tries less in SHORT
(--full: as it stands); README.md's excerpt of a generated file is looked up in it. A row that no page has any
more is a failure, as is a command that exits with another code than 0.
"""
import glob
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import zlib

import numpy

ROOT = pathlib.Path.cwd()
BUILD = pathlib.Path(os.environ.get("BUILD", "build")).resolve()
WORK = BUILD / "guide"
NETWORKS = ["kws", "model", "mobilenet", "vad", "old", "new"]

# The beginning of a command, and why it does not run here.
NOT_RUN = {
    "relayc compile model.onnx --target-dir shifter": "tests/unit/partition/test_plugin.c runs the page's plug-in",
    "relayc targets --target-dir shifter": "likewise",
    "relayc compile model.onnx --custom-op": "tests/e2e/custom.py compiles such networks",
    "relayc compile net.onnx -o gen --custom-op": "likewise",
    "relayc verify model.tflite --against tflm": "tests/e2e/against.py does, by a stand-in without the package",
    "relayc verify wakeword.tflite --against tflm": "likewise",
    "relayc compile speech.onnx --vary": "tests/e2e/vary.py compiles such networks",
    "relayc compile search.onnx --max": "tests/e2e/vary.py compiles such networks",
    "relayc compile crop.onnx --vary": "likewise",
    "relayc compile resize.onnx --freeze": "likewise",
    "relayc verify speech.onnx --vary": "likewise",
    "relayc run speech.onnx --vary": "likewise",
    "relayc bench speech.onnx --vary": "tests/golden/cli/bench.t times one",
    "relayc compile silero_vad.onnx": "tests/e2e/run_state --full does",
}

# The beginning of a command, and what it is called with besides, so that it takes seconds.
SHORT = {
    "relayc tune kws.onnx --target aarch64": "--trials 6",  # builds of another CPU, each run in an emulator
}


def is_synopsis(command):
    """MODEL.onnx [--option]: how a command is called, not a call."""
    return bool(re.search(r"\bMODEL\b|\[--|\[-o| \.\.\.|\.\.\.'", command))


def commands_of(page):
    """(line, command) of each command of the page."""
    found, fenced, inside, parts = [], False, False, []
    for number, line in enumerate(pathlib.Path(page).read_text(encoding="utf-8").split("\n"), 1):
        if line.startswith("```"):
            fenced = not fenced
            continue
        if not fenced and not line.startswith("    "):
            continue
        text = line.strip()
        if parts or text.startswith("relayc "):
            if not parts:
                first = number
            parts.append(text.removesuffix("\\").strip())
            if not text.endswith("\\"):
                found.append((first, " ".join(parts)))
                parts = []
    return found


def write_png(path, pixels):
    """8-bit grey."""
    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))
    height, width = pixels.shape
    rows = b"".join(b"\0" + bytes(row) for row in pixels.astype("uint8"))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)) +
                     chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def page_folder(folder):
    """A folder with the files that commands name: a copy of one, which is made for the first page."""
    made = WORK / ".files"
    if not made.exists():
        make_files(made)
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(made, folder, symlinks=True)


def make_files(folder):
    digits = ROOT / "examples/digits"
    images, labels = numpy.load(digits / "test_images.npy"), numpy.load(digits / "test_labels.npy")
    folder.mkdir(parents=True)
    for name in NETWORKS:
        shutil.copy(digits / "digits.onnx", folder / f"{name}.onnx")
    for name, first in (("images", 0), ("calib", 0), ("val", 40)):
        (folder / name).mkdir()
        for i in range(first, first + 40):
            write_png(folder / name / f"{i:03}.png", images[i, 0] * 255)
    (folder / "val/labels.txt").write_text("".join(f"{i:03}.png {labels[i]}\n" for i in range(40, 80)))
    made = WORK / "made"
    if not made.exists():
        subprocess.run([sys.executable, "tests/tflite/networks.py", made], check=True, stdout=subprocess.DEVNULL)
    shutil.copy(sorted(made.glob("*/model.tflite"))[0], folder / "model.tflite")
    for name in ("preprocess", "mobilenet", "p"):
        (folder / f"{name}.json").write_text(json.dumps({"channels": "gray", "scale": 1 / 255}))
    numpy.save(folder / "x.npy", images[:1])
    for name in ("clips", "samples"):
        (folder / name).mkdir()
        numpy.save(folder / name / "all.npy", images[:20])
    shutil.copytree(ROOT / "examples/targets/dsp", folder / "mynpu")
    target = folder / "mynpu/target.json"
    target.write_text(target.read_text().replace('"name": "dsp"', '"name": "mynpu"', 1))
    (folder / "examples").symlink_to(ROOT / "examples")
    for name in ("gen", "new", "main/gen", "branch/gen"):
        run(f"relayc compile kws.onnx -o {name}", folder)
    run("relayc run kws.onnx -i x.npy --output y.npy", folder)
    run("relayc calibrate kws.onnx --data images/ --preprocess p.json -o c.json", folder)


def run(command, folder):
    """The exit code, and what the command said."""
    path = os.pathsep.join([str(BUILD), os.environ["PATH"]])
    done = subprocess.run(["sh", "-c", command], cwd=folder, env={**os.environ, "PATH": path}, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


def excerpt_is_stale():
    """Whether README.md shows another table of regions and memory than relayc prints."""
    shown = re.search(r"```c\n( \* Regions, .*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.S)[1]
    folder = WORK / "excerpt"
    code, said = run(f"relayc compile {ROOT}/examples/digits/digits.onnx --target cortex-m4 -o .", folder)
    if code == 0 and shown in (folder / "digits.c").read_text(encoding="utf-8"):
        return False
    print(f"README.md: not what relayc compile digits.onnx --target cortex-m4 writes\n{said}")
    return True


def changed():
    """The files that the last commit, or nobody yet, has changed."""
    done = subprocess.run(["git", "diff", "--name-only", "HEAD~1"], capture_output=True, text=True, check=False)
    return done.stdout.split()


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    full = "--full" in sys.argv
    given = [a for a in sys.argv[1:] if a != "--full"]
    pages = given or ["README.md", *sorted(glob.glob("docs/guide/*.md"))]
    unused, failed, ran, synopses = {*NOT_RUN, *SHORT}, 0, 0, 0
    turn, always = int(os.environ.get("RELAYC_TEST_TURN", "0")), {"README.md", *given, *changed()}
    with_commands = [page for page in pages if commands_of(page)]
    waiting = set() if full else {page for n, page in enumerate(with_commands, turn) if n % 2} - always
    for page in pages:
        commands = commands_of(page)
        unused -= {row for _, command in commands for row in unused if command.startswith(row)}
        if page in waiting:
            continue
        folder = WORK / pathlib.Path(page).stem
        if commands:
            page_folder(folder)
        for line, command in commands:
            row = next((row for row in NOT_RUN if command.startswith(row)), None)
            if row:
                continue
            if is_synopsis(command):
                synopses += 1
                continue
            short = next((row for row in SHORT if command.startswith(row)), None)
            if short and not full:
                command += f" {SHORT[short]}"
            code, said = run(command, folder)
            ran += 1
            if code != 0:
                failed += 1
                print(f"{page}:{line}: exit {code}\n    {command}\n{said}")
    if not given:
        (WORK / "excerpt").mkdir(parents=True, exist_ok=True)
        failed += excerpt_is_stale()
        for row in sorted(unused):
            failed += 1
            print(f"tests/e2e/guide.py: no page has '{row}' any more")
    print(f"{ran} commands of README.md and the guide run, {failed} fail; {len(NOT_RUN)} are tested elsewhere, "
          f"{synopses} are synopses, {len(waiting)} of {len(with_commands)} pages have another turn")
    shutil.rmtree(WORK, ignore_errors=True)
    return failed > 0


sys.exit(main())
