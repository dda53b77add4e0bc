"""A command that fails at every place where it can: at each allocation, each call that has to do with files,
each thread (tests/inject.c), one after the other.

    failures.py RELAYC INJECT.so WORK [--most N] [--seed K] [--only KIND:N] [--jobs N] [--scenario NAME ...]

The rule: exit code 0 means that the folder has the files that it should have, byte by byte; with any
other code the folder is as it was before, and standard error says why. Nothing else is left, in $TMPDIR
neither. Every second run begins with older files in the places of the new ones. --most: so many points of
each kind, evenly spread; --seed moves them. --only repeats one point.
"""

import argparse
import collections
import concurrent.futures
import os
import shutil
import subprocess
import sys

DIGITS = "examples/digits/digits.onnx"
IMAGES = ["--data", "examples/digits/test_images.npy", "--limit", "2", "--threads", "1"]
SCENARIOS = {
    "f32": ["compile", DIGITS, "-o", "{out}"],
    "json": ["compile", DIGITS, "-o", "{out}", "--json", "--emit", "c,json"],
    "int8": ["compile", DIGITS, "-o", "{out}", "--precision", "int8", *IMAGES],
    "calibrate": ["calibrate", DIGITS, *IMAGES, "-o", "{out}/table.json"],
}
GOOD = ("exit 0, same bytes", "failed, all as before")
KINDS = ("memory", "memory+", "io", "io+", "spawn", "spawn+")


def folder(path):
    """What stands in the folder: name -> bytes."""
    found = {}
    for entry in os.scandir(path) if os.path.isdir(path) else ():
        found[entry.name] = "a folder" if entry.is_dir() else open(entry.path, "rb").read()
    return found


class Sweep:
    def __init__(self, arguments, name):
        self.relayc, self.inject, self.words = arguments.relayc, os.path.abspath(arguments.inject), SCENARIOS[name]
        self.work = os.path.join(os.path.abspath(arguments.work), name)
        shutil.rmtree(self.work, ignore_errors=True)
        os.makedirs(self.work)
        self.wanted = {}

    def run(self, place, wish, before):
        """One run in a folder of its own, with these files in the output folder (None: no such folder)."""
        top = os.path.join(self.work, place)
        out, temporary, count = (os.path.join(top, name) for name in ("out", "tmp", "count"))
        shutil.rmtree(top, ignore_errors=True)
        os.makedirs(temporary)
        if before is not None:
            os.mkdir(out)
            for name, content in before.items():
                with open(os.path.join(out, name), "wb") as file:
                    file.write(content)
        environment = dict(os.environ, TMPDIR=temporary, OMP_NUM_THREADS="1", LC_ALL="C", INJECT=wish,
                           INJECT_COUNT=count, LD_PRELOAD=self.inject)
        words = [self.relayc] + [word.format(out=out) for word in self.words]
        try:
            done = subprocess.run(words, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, timeout=120, check=False)
            code, said = done.returncode, done.stderr.decode(errors="replace")
            if "--json" in words and '"severity"' in done.stdout.decode(errors="replace"):
                said += "a diagnostic in JSON"
        except subprocess.TimeoutExpired:
            code, said = "hung", ""
        self.count = dict(line.split() for line in open(count)) if os.path.exists(count) else {}
        result = code, said, folder(out), folder(temporary), os.path.exists(out)
        shutil.rmtree(top)
        return result

    def judge(self, kind, n):
        """(what happened, what was said)"""
        before = {name: b"old\n" for name in self.wanted} if n % 2 else None
        wish = f"{kind.rstrip('+')}:{n}{'+' if kind.endswith('+') else ''}"
        code, said, out, temporary, _ = self.run(f"{kind}{n}", wish, before)
        if code == 0:
            if out == self.wanted and not temporary:
                return GOOD[0], said
            # A file that cannot be removed is told of; the next run removes it.
            extra = set(out) - set(self.wanted)
            told = all(name.startswith("relayc-") and name in said for name in extra)
            if "io" in kind and told and all(out.get(n) == c for n, c in self.wanted.items()) and not temporary:
                return GOOD[0], said
            return "EXIT 0, BUT OTHER OUTPUT", said
        if code not in (1, 3):
            return f"EXIT CODE {code}", said
        if out != (before or {}) or temporary:
            return "FAILED, BUT FILES CHANGED OR STAYED", said
        return (GOOD[1] if said.strip() else "FAILED WITHOUT A MESSAGE"), said


def points_of(arguments, kind, n_calls):
    """The numbers of the calls that fail."""
    if arguments.only:
        wanted, n = arguments.only.split(":")
        return [int(n)] if wanted == kind else []
    every = -(-n_calls // arguments.most) if arguments.most else 1
    # A few more than there are calls: a run that fails early may go other ways.
    return range(1 + arguments.seed % max(every, 1), n_calls + 4, max(every, 1))


def sweep(arguments, name):
    this = Sweep(arguments, name)
    code, said, this.wanted, left, _ = this.run("plain", "", None)
    counts = {kind: int(n) for kind, n in this.count.items()}
    if code != 0 or left or not counts:
        print(f"{name}: the command fails without any failure: exit code {code}\n{said}")
        return False
    again = this.run("again", "", {n: b"old\n" for n in this.wanted})
    counts = {kind: max(n, int(this.count.get(kind, 0))) for kind, n in counts.items()}
    if again[0] != 0 or again[2] != this.wanted:
        print(f"{name}: a second run gives other files")
        return False
    good = True
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for kind in KINDS:
            points = points_of(arguments, kind, counts[kind.rstrip("+")])
            tally = collections.Counter()
            for n, (what, said) in zip(points, pool.map(lambda n, k=kind: this.judge(k, n), points)):
                tally[what] += 1
                if what not in GOOD:
                    good = False
                    if tally[what] <= arguments.show:
                        print(f"  {name} {kind}:{n}: {what}: {said.strip()[:300]}")
            if not points:
                continue
            line = ", ".join(f"{tally[what]} {what}" for what in (*GOOD, *sorted(set(tally) - set(GOOD))) if tally[what])
            print(f"{name:10} {kind:8} {len(points):6} points: {line}", flush=True)
    shutil.rmtree(this.work)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("relayc")
    parser.add_argument("inject")
    parser.add_argument("work")
    parser.add_argument("--most", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--show", type=int, default=3)
    parser.add_argument("--scenario", action="append", choices=SCENARIOS)
    arguments = parser.parse_args()
    good = [sweep(arguments, name) for name in arguments.scenario or SCENARIOS]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
