#!/usr/bin/env python3
"""Random networks whose dims are arguments of NAME_run (relayc compile --vary): each size judged by ONNX Runtime.

    varied.py [--count N] [--seed S] [--jobs J] [--keep FOLDER]

A dim of an input of a random network becomes a name, with all dims of other inputs that are as long at the same axis; sizes
are those that ONNX Runtime takes. The C for all sizes is built once and runs at each, forth and back. What fails lies in
FOLDER; one that was a mistake goes to tests/random/varied, whose networks run first."""
import argparse
import collections
import json
import multiprocessing
import os
import re
import shutil
import tempfile
import time

import numpy as np
import onnx

import build
import compare
import configs
from compare import NOT_JUDGED
from generate import generate
from judge import Verdict
from network import session
from oracle import Oracle

CASES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "varied")
READ = """\
static void take(void *to, size_t bytes, FILE *in)
{
    if (bytes && fread(to, 1, bytes, in) != bytes)
        exit(95);
}

static uint32_t number(FILE *in)
{
    uint32_t n;

    take(&n, 4, in);
    return n;
}

"""
PRECISIONS = {"f32": 60, "fp8w": 8, "int8w": 8, "f16w": 4, "int8": 10, "fp8": 10}
OPTIONS = ["", "", "", "--deterministic", "--optimize size", "--winograd off", "--weights file", "--skip-zeros off"]


def at_size(model, places, size):
    """The model whose dims at these places (input, axis) are this number."""
    fixed = onnx.ModelProto()
    fixed.CopyFrom(model)
    for i, axis in places:
        fixed.graph.input[i].type.tensor_type.shape.dim[axis].dim_value = size
    return fixed


def open_outputs(model):
    """Outputs say nothing but their type."""
    for y in model.graph.output:
        y.type.tensor_type.ClearField("shape")
    del model.graph.value_info[:]


def runs(model):
    try:
        session(model)
        Oracle(model)
        return True
    except Exception:  # pylint: disable=broad-except
        return False


def vary(model, rng):
    """(model with a named dim, {size: model of that size}), or None."""
    open_outputs(model)
    shapes = [[d.dim_value for d in x.type.tensor_type.shape.dim] for x in model.graph.input]
    choices = [(i, axis) for i, shape in enumerate(shapes) for axis in range(len(shape))]
    for k in rng.permutation(len(choices))[:6]:
        i, axis = choices[k]
        length = shapes[i][axis]
        places = [(j, axis) for j, shape in enumerate(shapes)
                  if j == i or axis < len(shape) and shape[axis] == length]
        others = sorted({1, 2, 3, 4, 5, 8, length - 1, length + 1, 2 * length} - {0, length})
        sizes = {length: at_size(model, places, length)}
        for size in rng.permutation(others)[:5]:
            other = at_size(model, places, int(size))
            if len(sizes) < 4 and runs(other):
                sizes[int(size)] = other
        if len(sizes) < 2:
            continue
        named = onnx.ModelProto()
        named.CopyFrom(model)
        for j, at in places:
            named.graph.input[j].type.tensor_type.shape.dim[at].dim_param = "n"
        return named, dict(sorted(sizes.items()))
    return None


def driver(folder, sizes):
    """A program that reads, for each run, the sizes, each input and how long each output is."""
    header = open(os.path.join(folder, "net.h"), encoding="utf-8").read()
    info = json.load(open(os.path.join(folder, "net.json"), encoding="utf-8"))
    inputs = [tensor["parameter"] for tensor in info["inputs"]]
    outputs = [tensor["parameter"] for tensor in info["outputs"]]
    numbers = [name for kind, name, index in build.parameters(header) if "int32_t" in kind and "*" not in kind and not index
               and name not in inputs]
    if len(numbers) != 1:
        raise build.Failure("run", f"net_run has {len(numbers)} sizes")
    declare, read, write, check, arguments = [], [], [], [], []
    for _, name, _ in build.parameters(header):
        if name in numbers:
            read.insert(0, f"        const int32_t {name} = (int32_t)number(in);")
            arguments.append(name)
        elif name.startswith("arena") and name not in inputs + outputs:
            declare.append(f"    unsigned char *{name} = reserve(NET_{name.upper()}_BYTES);")
            check.append(f'        check({name}, NET_{name.upper()}_BYTES, "{name}");')
            arguments.append(name)
        else:
            read.append(f"        const size_t bytes_{name} = number(in);\n"
                        f"        unsigned char *const place_{name} = reserve(bytes_{name});")
            check.append(f'        check(place_{name}, bytes_{name}, "{name}");')
            arguments.append(f"(void *)place_{name}")
            if name in inputs:
                read.append(f"        take(place_{name}, bytes_{name}, in);")
            else:
                write.append(f"        if (fwrite(place_{name}, 1, bytes_{name}, out) != bytes_{name})\n            return 95;")
    text = build.DRIVER.replace("int main(", READ + "int main(", 1)
    for key, value in (("DECLARE", "\n".join(declare)), ("READ", "\n".join(read)),
                       ("RUN", f"code = net_run({', '.join(arguments)});"), ("WRITE", "\n".join(check + write)), ("CHECK", ""),
                       ("SETS", str(sizes))):
        text = text.replace(f"@{key}@", value)
    with open(os.path.join(folder, "driver.c"), "w", encoding="utf-8") as file:
        file.write(text)
    return info, [name for _, name, _ in build.parameters(header) if name in inputs + outputs]


def execute(folder, config, order, oracles):
    """The results of the runs: [(size, index of the inputs)]."""
    info, arrays = driver(folder, len(order))
    files, flags, libraries = build.sources(folder, config)
    program = os.path.join(folder, "program")
    words = build.compiler(config)
    built = build.command([*words, *build.precompiled(words, files), *flags, "-o", program, *files, *libraries])
    if built.returncode:
        first = next((line for line in built.stderr.splitlines() if "error" in line), built.stderr[:300])
        raise build.Failure("crash", re.sub(r"^.*/(net\w*\.[ch])", r"\1", first))
    warning = re.search(r"net\w*\.[ch]:.*warning: .*", built.stderr)
    names = {tensor["parameter"]: tensor["name"] for tensor in info["inputs"]}
    results_of = {tensor["parameter"]: i for i, tensor in enumerate(info["outputs"])}
    with open(os.path.join(folder, "in.bin"), "wb") as file:
        for size, k in order:
            oracle = oracles[size]
            file.write(np.int32(size).tobytes())
            for name in arrays:
                x = np.ascontiguousarray(oracle.inputs[k][names[name]] if name in names else oracle.wanted[k][results_of[name]])
                file.write(np.uint32(x.nbytes).tobytes())
                if name in names:
                    file.write(x.tobytes())
    runner = configs.machine(config)[2]
    out = os.path.join(folder, "out.bin")
    done = build.command([*runner.split(), program, os.path.join(folder, "in.bin"), out])
    if done.returncode:
        raise build.Failure("run", f"exit {done.returncode}: {done.stderr[-200:]}")
    data, at, results = open(out, "rb").read(), 0, []
    for size, k in order:
        found = [None] * len(oracles[size].wanted[k])
        for name in arrays:
            if name in names:
                continue
            wanted = oracles[size].wanted[k][results_of[name]]
            found[results_of[name]] = np.frombuffer(data, wanted.dtype, wanted.size, at).reshape(wanted.shape)
            at += wanted.nbytes
        results.append(found)
    return results, warning and warning.group()


def judge_size(path, oracle, config, words, found, folder):
    """What is wrong with the results at one size; path, words: the network, and options of its size. Others than f32: beside
    the simulation and, if nothing was calibrated at another size, ONNX Runtime."""
    if config["precision"] == "f32":
        problem = compare.floats(oracle, found)
        return problem if problem in (None, NOT_JUDGED) else compare.floats(oracle, found, False, 24)
    precision = config["precision"].split()[0]
    problem = compare.steps(oracle, found, build.simulate(path, words, folder, oracle.inputs, oracle.names), precision)
    if problem in (None, NOT_JUDGED) and "--calib" not in words:
        problem = compare.loosely(oracle, found, precision)
        if problem not in (None, NOT_JUDGED):
            problem = compare.loosely(oracle, found, precision, 16)
    return problem


def judge(named, sizes, config, keep=None):
    folder = tempfile.mkdtemp(prefix="varied")
    try:
        oracles = {size: Oracle(model) for size, model in sizes.items()}
        path, first = os.path.join(folder, "model.onnx"), max(sizes)
        onnx.save(named, path)
        calib = os.path.join(folder, "calib.json")
        words, vary_option = build.relayc_options(config, calib), ["--vary", "n=" + ",".join(map(str, sizes))]
        if "--calib" in words:
            one = os.path.join(folder, "one.onnx")
            onnx.save(sizes[first], one)
            build.calibrate(one, oracles[first].inputs, folder)
        build.relayc("compile", "-q", path, "--name", "net", "-o", folder, "--target", config["target"], *words,
                     *config["options"].split(), *vary_option)
        sets = range(len(oracles[first].inputs))
        order = [(size, k) for k in sets for size in (sizes if k % 2 else reversed(sizes))]
        found, warning = execute(folder, config, order, oracles)
        for size in sizes:
            mine = [y for (s, _), y in sorted(zip(order, found), key=lambda run: run[0]) if s == size]
            problem = judge_size(path, oracles[size], config, [*words, *vary_option, "--shape", f"n={size}"], mine, folder)
            if problem not in (None, NOT_JUDGED):
                other = oracles[size].reference()
                if other is not None and compare.floats(oracles[size], other, True, 24) not in (None, NOT_JUDGED):
                    return Verdict("not judged", "ONNX Runtime and onnx's evaluator differ")
                return Verdict("wrong", f"n={size}: {problem}")
            if problem == NOT_JUDGED:
                return Verdict("not judged", "unsteady")
        return Verdict("warning", warning) if warning else Verdict("right")
    except build.Failure as failure:
        return Verdict(failure.kind, failure.text)
    finally:
        if keep:
            shutil.copytree(folder, keep, dirs_exist_ok=True)
        shutil.rmtree(folder, ignore_errors=True)


def draw(rng):
    def choice(weights):
        p = np.array(list(weights.values()), float)
        return list(weights)[int(rng.choice(len(p), p=p / p.sum()))]

    machines = {name: row[0] for name, row in configs.MACHINES.items()
                if (not row[3] or row[3] in configs.FLAGS) and not row[2]}
    config = {"precision": choice(PRECISIONS), "target": choice(machines), "options": OPTIONS[int(rng.integers(len(OPTIONS)))],
              "compiler": ["", "", "", "sanitized", "clang"][int(rng.integers(5))]}
    if not config["compiler"]:
        config["level"] = ["-O0", "-O2"][int(rng.integers(2))]
    return config


def work(task):
    seed, keep = task
    rng = np.random.default_rng([seed, 5005])
    config = draw(rng)
    try:
        _, model = generate(seed)
        made = model and vary(model, rng)
    except Exception as problem:  # pylint: disable=broad-except
        return seed, config, Verdict("skipped", f"{type(problem).__name__}: {str(problem)[:100]}")
    if not made:
        return seed, config, Verdict("skipped", "no dim can vary")
    try:
        verdict = judge(*made, config)
    except Exception as problem:  # pylint: disable=broad-except
        return seed, config, Verdict("skipped", f"{type(problem).__name__}: {str(problem)[:300]}")
    if verdict.bad:
        onnx.save(made[0], os.path.join(keep, f"{seed}.onnx"))
        with open(os.path.join(keep, f"{seed}.txt"), "w", encoding="utf-8") as file:
            file.write(f"{configs.text(config)} n={','.join(map(str, made[1]))}\n{verdict}\n")
    return seed, config, verdict


def cases():
    """The networks that were wrong once."""
    wrong = 0
    names = sorted(name for name in os.listdir(CASES) if name.endswith(".onnx"))
    for name in names:
        named = onnx.load(os.path.join(CASES, name))
        places = [(i, axis) for i, x in enumerate(named.graph.input)
                  for axis, dim in enumerate(x.type.tensor_type.shape.dim) if dim.dim_param]
        line = open(os.path.join(CASES, name[:-5] + ".txt"), encoding="utf-8").readline()
        config = dict(draw(np.random.default_rng(0)), **configs.parse(line))
        sizes = {int(n): at_size(named, places, int(n)) for n in config.pop("n").split(",")}
        verdict = judge(named, sizes, config)
        if verdict.kind != "right":
            print(f"WRONG {name}: {verdict}")
            wrong += 1
    print(f"{len(names)} known cases, {wrong} wrong")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", default="1", help="the first network's, or 'new': one that changes")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--keep", default=os.path.join(os.environ.get("BUILD", "build"), "varied"))
    options = parser.parse_args()
    os.makedirs(options.keep, exist_ok=True)
    kinds, refused, bad = collections.Counter(), collections.Counter(), cases()
    options.seed = int(time.time()) * 1000 if options.seed == "new" else int(options.seed)
    print(f"seeds {options.seed} to {options.seed + options.count - 1}")
    with multiprocessing.Pool(options.jobs, maxtasksperchild=100) as pool:
        todo = [(options.seed + i, options.keep) for i in range(options.count)]
        for seed, config, verdict in pool.imap_unordered(work, todo):
            kinds[verdict.kind] += 1
            if verdict.kind in ("refused", "skipped", "not judged"):
                refused[f"{verdict.kind}: {re.sub('[0-9]+', 'N', verdict.text)[:110]}"] += 1
            if verdict.bad:
                bad += 1
                print(f"FAILED seed {seed}: {configs.text(config)}\n    {verdict}", flush=True)
    for text, n in refused.most_common(20):
        print(f"{n:5} {text}")
    print(f"{options.count} networks: " + ", ".join(f"{n} {kind}" for kind, n in kinds.most_common()) + f"; {bad} failed")
    raise SystemExit(bad != 0)


if __name__ == "__main__":
    main()
