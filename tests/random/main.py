#!/usr/bin/env python3
"""Random networks, compiled by relayc and judged by ONNX Runtime (docs/design/testing.md). See tests/e2e/run_random."""
import argparse
import collections
import json
import multiprocessing
import os
import re
import subprocess
import sys
import time

import onnx

import configs
from generate import generate
from judge import Verdict, judge
from oracle import Oracle
from reduce import reduce, signature

HERE = os.path.dirname(os.path.abspath(__file__))


def work(task):
    """One network in its configurations."""
    seed, arguments = task
    results = []
    try:
        network, model = generate(seed)
        if model is None:
            return seed, [({}, Verdict("skipped", "no network"), None)]
        oracle = Oracle(model)
    except Exception as problem:  # pylint: disable=broad-except
        return seed, [({}, Verdict("skipped", f"{type(problem).__name__}: {str(problem)[:100]}"), None)]
    for turn in range(arguments.configs):
        config = configs.draw(seed * 16 + turn, configs.parse(arguments.config) if arguments.config else None,
                              arguments.here)
        try:
            verdict = judge(model, config, oracle)
        except Exception as problem:  # pylint: disable=broad-except
            verdict = Verdict("skipped", f"{type(problem).__name__}: {str(problem)[:200]}")
        if verdict.bad:
            path = os.path.join(arguments.keep, f"{seed}.{turn}")
            write_case(path + ".whole", model, config, verdict)
            small, simple, text = model, config, verdict
            if not arguments.no_reduce:
                small, simple, text = reduce(model, config, verdict, arguments.reduce_seconds)
            write_case(path, small, simple, text)
            verdict.reduced = signature(small)
            verdict.small = text.text
            verdict.simple = configs.text(simple)
            verdict.path = path + ".onnx"
        results.append((config, verdict, None))
    return seed, results


def write_case(path, model, config, verdict):
    onnx.save(model, path + ".onnx")
    with open(path + ".txt", "w", encoding="utf-8") as file:
        file.write(f"{configs.text(config)}\n{verdict.kind}: {verdict.text}\n")


def cases(folder, here):
    """The networks that were wrong once: always. here: but for processors that are emulated."""
    wrong = count = 0
    for name in sorted(os.listdir(folder) if os.path.isdir(folder) else []):
        if not name.endswith(".onnx"):
            continue
        path = os.path.join(folder, name)
        lines = open(path[:-5] + ".txt", encoding="utf-8").readlines()
        # Of one that was about a warning, say, numbers may be too coarse to be judged; its text says so.
        says = "".join(lines)
        right = ["right"] + ["not judged"] * ("\nnumbers are not judged" in says) + ["refused"] * ("\nmay be refused" in says)
        for line in lines:
            if not line.startswith("precision="):
                continue
            config = dict(configs.draw(0), **configs.parse(line))
            needs = configs.MACHINES[config["target"]][3]
            if needs and needs not in configs.FLAGS or here and configs.machine(config)[2]:
                continue
            verdict = judge(onnx.load(path), config)
            count += 1
            if verdict.kind not in right:
                print(f"WRONG {path}, {line.strip()}\n    {verdict}")
                wrong += 1
    print(f"{count} known cases, {wrong} wrong")
    return wrong


class Counts:
    def __init__(self):
        self.by = collections.defaultdict(collections.Counter)
        self.refused = collections.Counter()
        self.operators = collections.Counter()  # that were refused
        self.unjudged = collections.Counter()
        self.groups = collections.defaultdict(list)
        self.all = collections.Counter()

    def add(self, seed, config, verdict):
        self.all[verdict.kind] += 1
        if config:
            for part in configs.label(config):
                self.by[part][verdict.kind] += 1
        if verdict.kind == "refused":
            self.refused[shorten(verdict.text)] += 1
            self.operators[refused_operator(verdict.text)] += 1
        elif verdict.kind in ("not judged", "skipped"):
            self.unjudged[f"{verdict.kind}: {verdict.text[:60]}"] += 1
        elif verdict.bad:
            self.groups[verdict.kind, verdict.reduced].append(seed)

    def show(self):
        print(f"\n{'':28}{'right':>8}{'refused':>9}{'not judged':>12}{'skipped':>9}{'wrong':>7}")
        for part, kinds in [*self.by.items(), ("all", self.all)]:
            wrong = sum(kinds[k] for k in ("wrong", "crash", "warning", "run", "hang"))
            print(f"{part:28}{kinds['right']:8}{kinds['refused']:9}{kinds['not judged']:12}{kinds['skipped']:9}{wrong:7}")
        for title, counter in (("refused", self.refused), ("refused operator", self.operators),
                               ("not judged, and why", self.unjudged)):
            for text, count in counter.most_common(12):
                print(f"{title}: {count:5} {text}")
        for (kind, text), seeds in sorted(self.groups.items(), key=lambda item: -len(item[1])):
            print(f"{kind}: {len(seeds):4} of [{text}], first seed {min(seeds)}")


def refused_operator(text):
    """The operator that an error names, else its code."""
    named = re.search(r"'[^']*' \((\w+)\)", text) or re.search(r"error\[R\d+\]: ([\w.]+)(?:: | of \w+ )", text) or \
        re.search(r"error\[(R\d+)\]", text)
    return named.group(1) if named else "-"


def shorten(text):
    """An error without the names and numbers of one network."""
    text = re.sub(r"'[^']*'", "'...'", text)
    return re.sub(r"\d{2,}", "N", text.replace("error[", "[", 1))[:110]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", default="1", help="the first network's, or 'new': one that changes")
    parser.add_argument("--turns", type=int, default=1, help="every so many of them, in rotation with RELAYC_TEST_TURN")
    parser.add_argument("--also", type=int, default=0, help="so many more, whose seeds the commit decides")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--configs", type=int, default=2, help="configurations of each network")
    parser.add_argument("--config", default="", help="what all configurations have: 'precision=fp8 target=x86-64-v3'")
    parser.add_argument("--here", action="store_true", help="no processors that are emulated")
    parser.add_argument("--stop", action="store_true", help="at the first that fails")
    parser.add_argument("--keep", default=os.path.join(os.environ.get("BUILD", "build"), "random"), help="where what fails is written")
    parser.add_argument("--no-reduce", action="store_true")
    parser.add_argument("--reduce-seconds", type=float, default=60)
    parser.add_argument("--cases", default=os.path.join(HERE, "found"))
    return parser.parse_args()


def seeds(options):
    first = int(time.time()) * 1000 if options.seed == "new" else int(options.seed)
    turn = int(os.environ.get("RELAYC_TEST_TURN", "0")) % options.turns
    result = list(range(first + turn, first + options.count, options.turns))
    if options.also:
        done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=HERE, capture_output=True, text=True, check=False)
        commit = int(done.stdout[:12] or "1", 16)
        result += [1_000_000 + commit % 1_000_000_000 * 100 + i for i in range(options.also)]
    print(f"seeds {first} to {first + options.count - 1}" + (f", one in {options.turns} from {result[0]}" if options.turns > 1 else "") + (f", and {options.also} from {result[-options.also]}" if options.also else ""))
    return result


def main():
    options = arguments()
    os.makedirs(options.keep, exist_ok=True)
    wrong = cases(options.cases, options.here)
    if wrong and options.stop:
        sys.exit(1)
    counts = Counts()
    begin = time.monotonic()
    todo = [(seed, options) for seed in seeds(options)]
    with multiprocessing.Pool(options.jobs, maxtasksperchild=200) as pool, \
            open(os.path.join(options.keep, "log.jsonl"), "w", encoding="utf-8") as log:
        for seed, results in pool.imap_unordered(work, todo):
            for config, verdict, _ in results:
                counts.add(seed, config, verdict)
                log.write(json.dumps({"seed": seed, "config": config, "kind": verdict.kind, "text": verdict.text,
                                      "reduced": getattr(verdict, "reduced", None), "small": getattr(verdict, "small", None)}) + "\n")
                log.flush()
                if verdict.bad:
                    print(f"\nFAILED seed {seed}: {configs.text(config)}\n    {verdict}\n    reduced to {verdict.path}: [{verdict.reduced}], "
                          f"{verdict.simple}\n    {verdict.small}", flush=True)
                    wrong += 1
            if wrong and options.stop:
                break
    counts.show()
    print(f"{sum(counts.all.values())} of {len(todo)} networks and {options.configs} configurations, {time.monotonic() - begin:.0f} s, {wrong} failed")
    sys.exit(wrong != 0)


if __name__ == "__main__":
    main()
