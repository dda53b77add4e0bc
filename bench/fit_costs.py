#!/usr/bin/env python3
"""Fits a model of time to tuning logs, and says how well it would choose.

    bench/fit_costs.py LOG.jsonl ...

A trial's time is a sum of its features (codegen_c/features.def), each times a coefficient of its target and
kernel that is not negative: least squares of the relative error, so that small layers count as large ones.
Times are warm ratios times the median of the region's usual times, which takes out how fast the machine was.

What is told of the model: for each log (a network's) that was left out of the fit with all its regions, how much
slower the choice is that the model picks among a region's trials than the best of them, beside what was
usual. Needs numpy.
"""
import argparse
import json
import re
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np

TOP = Path(__file__).resolve().parent.parent
ONE = re.compile(r'FEATURE\(\w+, "(\w+)"')


def feature_names():
    return ONE.findall((TOP / "codegen_c/features.def").read_text())


def read(paths, names):
    """(target, kernel) -> region -> [(features, microseconds, knobs)]"""
    trials = defaultdict(lambda: defaultdict(list))
    usual = defaultdict(list)
    rows = []
    for path in paths:
        for line in path.read_text().splitlines(keepends=True):
            if not line.endswith("\n"):
                continue  # a run that was killed while it wrote
            row = json.loads(line)
            if row["verdict"] == "ok" and "features" in row and not row["confirmed"]:
                rows.append(row)
                usual[row["target"], row["region"]].append(row["usual_warm_us"])
    for row in rows:
        time = row["warm_ratio"] * float(np.median(usual[row["target"], row["region"]]))
        features = [row["features"].get(name, 0.0) for name in names]
        trials[row["target"], row["kernel"]][row["region"]].append((features, time, row["knobs"]))
    return trials


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
    rows = [trial for trials in regions.values() for trial in trials]
    features = np.array([f for f, _, _ in rows], float)
    times = np.array([t for _, t, _ in rows], float) * 1000  # nanoseconds
    scale = features.max(axis=0)
    scale[scale == 0] = 1
    return nnls(features / scale / times[:, None], np.ones(len(rows))) / scale


def loss_of_pick(x, trials):
    """How much slower than the best is what the model picks, and what is usual (None: no trial)."""
    best = min(t for _, t, _ in trials)
    pick = min(trials, key=lambda trial: float(np.dot(trial[0], x)))
    usual = [t for _, t, knobs in trials if not knobs]
    return pick[1] / best, usual[0] / best if usual else None


def validate(regions, left_out):
    """left_out: for each log its regions of this kernel. Only regions whose usual code was tried."""
    picks, usuals, seen = [], [], set()
    for of_log in left_out:
        rest = {r: t for r, t in regions.items() if r not in of_log}
        mine = [r for r in of_log if r not in seen and len(regions[r]) >= 3]
        seen.update(of_log)
        if not rest or not mine:
            continue
        x = fit(rest)
        for region in mine:
            pick, usual = loss_of_pick(x, regions[region])
            if usual:
                picks.append(pick)
                usuals.append(usual)
    return np.array(picks), np.array(usuals)


def describe(name, losses):
    if len(losses):
        print(f"  {name}: {np.mean(losses <= 1.05):.0%} of {len(losses)} regions within 5 % of the best, "
              f"median {np.median(losses):.3f}, mean {losses.mean():.3f}, worst {losses.max():.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("logs", nargs="+", type=Path)
    args = parser.parse_args()
    names = feature_names()
    of_logs = [read([log], names) for log in args.logs]
    for key, regions in read(args.logs, names).items():
        n = sum(len(t) for t in regions.values())
        print(f"{key[0]} {key[1]}: {n} trials of {len(regions)} regions")
        if len(regions) < 3:
            print("  too few regions")
            continue
        x = fit(regions)
        errors = [abs(np.dot(f, x) / (1000 * t) - 1) for r in regions.values() for f, t, _ in r]
        print("  ns: " + ", ".join(f"{n} {c:.4g}" for n, c in zip(names, x)))
        print(f"  error of a time: median {np.median(errors):.1%}, 90 % {np.quantile(errors, 0.9):.1%}")
        picks, usuals = validate(regions, [log[key] for log in of_logs if key in log])
        describe("the model, networks left out of the fit", picks)
        describe("what was usual", usuals)
    return 0


if __name__ == "__main__":
    sys.exit(main())
