#!/usr/bin/env python3
"""Fits the time of register tiles to tuning logs, and says how well it chooses.

    bench/fit_costs.py [--kernel conv] [--for MACHINE] [--table] LOG.jsonl ...

A trial's features (codegen_c/machine/features.def) say of which shape its tiles are, how many there are and how long their
sums; some are halves at the end of the channels. Its time is taken for

    tiles * (length * step[shape] + begin[shape]) + halves * (the same of half the vectors)
    + outputs * epilogue[operators]

with numbers that are not negative: least squares of the relative error, so that small layers count as large ones.
Times are warm ratios times the median of the region's usual times, which takes out how fast the machine was.

What is told: for each log (a network's) that was left out of the fit with all its regions, how much slower than the
best of a region's trials is what codegen_c/microkernel/tile_time.c would choose, beside what was usual in the log.
--table writes the rows of codegen_c/machine/tile_times.def, in picoseconds. Needs numpy.
"""
import argparse
import json
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np

NOTICEABLE = 0.98  # as tile_time.c
OPERATOR = re.compile(r"; ([a-z_.0-9]+)\(")
FEWEST_SUMS = 8
FEWEST_TRIALS = 5
SHORTEST_US = 0.5  # shorter regions tell more of the clock


TOP = Path(__file__).resolve().parent.parent
MACHINE = re.compile(r'^MACHINE\("([^"]+)", \w+, \d+, (\d+)', re.M)
REGISTERS = {name: int(n) for name, n in MACHINE.findall((TOP / "codegen_c/machine/machines.def").read_text())}


class Trial:
    def __init__(self, signature, features, time):
        self.operators = tuple(OPERATOR.findall(signature))
        self.shape = tuple(int(features[key]) for key in ("whole", "vectors", "pixels"))
        self.length = features["length"]
        self.tiles = features.get("tiles", 0), features.get("halves", 0)
        self.outputs = features["outputs"]
        self.time = time  # ns

    def terms(self):
        """(coefficient, how often)"""
        whole, vectors, pixels = self.shape
        for tiles, shape in zip(self.tiles, (self.shape, (whole, vectors // 2, pixels))):
            if tiles:
                yield ("step", *shape), tiles * self.length
                yield ("begin", *shape), tiles
        yield ("epilogue", *self.operators), self.outputs


class Region:
    def __init__(self):
        self.trials, self.usual, self.logs = {}, None, set()

    def best(self):
        return min(trial.time for trial in self.trials.values())


def read(paths, kernel, machine=None):
    """target (all: machine) -> region -> Region"""
    rows, usual_us = [], defaultdict(list)
    for path in paths:
        for line in path.read_text().splitlines(keepends=True):
            if not line.endswith("\n"):
                continue  # a run that was killed while it wrote
            row = json.loads(line)
            if (row["verdict"] == "ok" and "lanes" in row.get("features", {}) and not row["confirmed"]
                    and row["kernel"] == kernel and set(row["knobs"]) <= {"tile"}):
                row["target"] = machine or row["target"]
                rows.append((path, row))
                usual_us[row["target"], row["region"]].append(row["usual_warm_us"])
    lanes = defaultdict(int)  # of targets
    for _, row in rows:
        lanes[row["target"]] = max(lanes[row["target"]], row["features"]["lanes"])
    targets = defaultdict(lambda: defaultdict(Region))
    times = defaultdict(list)
    for path, row in rows:
        us = float(np.median(usual_us[row["target"], row["region"]]))
        if us < SHORTEST_US:
            continue
        region = targets[row["target"]][row["region"]]
        region.logs.add(path)
        # Vectors that are shorter than the machine's, for few channels, are taken for alike.
        whole = row["features"]["lanes"] == lanes[row["target"]]
        trial = Trial(row["region"], row["features"] | {"whole": whole}, 0)
        times[row["target"], row["region"], trial.shape].append(row["warm_ratio"] * us * 1000)
        trial.time = float(np.median(times[row["target"], row["region"], trial.shape]))
        region.trials[trial.shape] = trial
        if not row["knobs"]:
            region.usual = trial.shape
    return {target: {name: r for name, r in regions.items() if r.usual and len(r.trials) > 1}
            for target, regions in targets.items()}


def nnls(a, b):
    """Least squares with x >= 0: Lawson and Hanson's active sets."""
    n = a.shape[1]
    x, free = np.zeros(n), np.zeros(n, bool)
    for _ in range(20 * n):
        gradient = a.T @ (b - a @ x)
        if free.all() or gradient[~free].max() <= 1e-9 * np.abs(a.T @ b).max():
            break
        free[np.flatnonzero(~free)[gradient[~free].argmax()]] = True
        while True:
            s = np.zeros(n)
            s[free] = np.linalg.lstsq(a[:, free], b, rcond=None)[0]
            if s[free].min() > 0:
                break
            down = free & (s <= 0)
            step = (x[down] / (x[down] - s[down])).min()
            x = x + step * (s - x)
            free &= x > 1e-15
            x[~free] = 0
            if not free.any():
                break
        x = s
    return x


def fit(regions):
    """Coefficient -> ns, of shapes that were tried often enough"""
    trials = [trial for region in regions for trial in region.trials.values()]
    seen = Counter(name for trial in trials for name, _ in trial.terms())
    columns = {}
    for trial in trials:
        for name, _ in trial.terms():
            columns.setdefault(name, len(columns))
    a = np.zeros((len(trials), len(columns)))
    for i, trial in enumerate(trials):
        for name, n in trial.terms():
            a[i, columns[name]] = n / trial.time
    scale = a.max(axis=0)
    x = nnls(a / scale, np.ones(len(trials))) / scale
    return {name: x[i] for name, i in columns.items() if seen[name] >= FEWEST_TRIALS}


def predict(model, trial, terms=("step", "begin", "epilogue")):
    """None: a shape that was not tried."""
    mine = [(name, n) for name, n in trial.terms() if name[0] in terms]
    return sum(model[name] * n for name, n in mine) if all(name in model for name, _ in mine) else None


def waits(trial):
    """Whether halves have too few sums: there are too few such regions to tell how long they take."""
    return trial.tiles[1] > 0 and trial.shape[1] // 2 * trial.shape[2] < FEWEST_SUMS


def has_room(trial, registers):
    """Whether there is a register for an input beside sums and weights."""
    _, vectors, pixels = trial.shape
    return vectors * (pixels + 1) < registers


def choose(model, region, registers):
    """As tile_fastest, for which the epilogue is the same whatever the tile."""
    times = {shape: predict(model, trial, ("step", "begin")) for shape, trial in region.trials.items()
             if shape == region.usual or (has_room(trial, registers) and not waits(trial))}
    most = times[region.usual]
    if most is None:
        return region.usual
    best = min((s for s, t in times.items() if t is not None), key=lambda s: times[s])
    return best if times[best] < NOTICEABLE * most else region.usual


def validate(regions, registers):
    """Losses of the model, whose fit knows no region of the log, and of what was usual."""
    chosen, usual, seen = [], [], set()
    for log in sorted({log for region in regions.values() for log in region.logs}):
        mine = [r for name, r in regions.items() if log in r.logs and name not in seen]
        seen.update(name for name, r in regions.items() if log in r.logs)
        rest = [r for r in regions.values() if log not in r.logs]
        if not rest or not mine:
            continue
        model = fit(rest)
        for region in mine:
            chosen.append(region.trials[choose(model, region, registers)].time / region.best())
            usual.append(region.trials[region.usual].time / region.best())
    return np.array(chosen), np.array(usual)


def describe(name, losses):
    if len(losses):
        print(f"  {name}: {np.mean(losses <= 1.05):.0%} of {len(losses)} regions within 5 % of the best, "
              f"median {np.median(losses):.3f}, mean {losses.mean():.3f}, worst {losses.max():.3f}")


def print_table(target, model):
    for shape in sorted(name[1:] for name in model if name[0] == "step"):
        step, begin = (1000 * model[what, *shape] for what in ("step", "begin"))
        if step > 0:
            whole = "true" if shape[0] else "false"
            print(f'TILE_TIME("{target}", {whole}, {shape[1]}, {shape[2]}, {step:.0f}, {begin:.0f})')


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("logs", nargs="+", type=Path)
    parser.add_argument("--kernel", default="conv", help="of kernels.def, whose trials are taken")
    parser.add_argument("--for", dest="machine", metavar="MACHINE", help="that all logs are taken for the logs of")
    parser.add_argument("--table", action="store_true", help="write rows of tile_times.def")
    args = parser.parse_args()
    for target, regions in read(args.logs, args.kernel, args.machine).items():
        model = fit(regions.values())
        if args.table:
            print_table(target, model)
            continue
        trials = [t for r in regions.values() for t in r.trials.values()]
        errors = [abs(time / t.time - 1) for t in trials if (time := predict(model, t)) is not None]
        print(f"{target} {args.kernel}: {len(trials)} trials of {len(regions)} regions")
        print(f"  error of a time: median {np.median(errors):.1%}, 90 % {np.quantile(errors, 0.9):.1%}")
        chosen, usual = validate(regions, REGISTERS[target])
        describe("the model, networks left out of the fit", chosen)
        describe("what was usual", usual)
    return 0


if __name__ == "__main__":
    sys.exit(main())
