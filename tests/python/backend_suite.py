"""ONNX's backend test suite through relayc.backend, the package as it is installed.

    backend_suite.py CONFORMANCE WORK [PATTERN ...]    tests whose names have one of the patterns; all without

Beside it runs tests/conformance on the same folders: what the suite passes, refuses and fails through Python must be what
the compiler passes, refuses and fails by itself. Prints the numbers; exit code 1 where they differ."""

import collections
import multiprocessing
import os
import pathlib
import re
import subprocess
import sys
import unittest

import onnx
import onnx.backend.test
from onnx.backend.test.runner import BackendIsNotSupposedToImplementIt

import relayc.backend

# Where the two differ, and why.
KNOWN = {
    "test_not_2d": "operator set 1, which tests/conformance moves to 7",
    "test_not_3d": "operator set 1, which tests/conformance moves to 7",
    "test_not_4d": "operator set 1, which tests/conformance moves to 7",
    "test_dequantizelinear_float4e2m1": "onnx 1.18 cannot make a tensor of an odd number of 4-bit floats",
    "test_quantizelinear_float4e2m1": "onnx 1.18 cannot make a tensor of an odd number of 4-bit floats",
}
# Sequences and optional values vanish at compile time; through Python they would have to be arrays.
NO_ARRAYS = re.compile(r"test_(sequence_(insert|map)|identity_(sequence|opt)|optional_|loop1\d_seq|if_(seq|opt))")
NODES = pathlib.Path(onnx.__file__).parent / "backend/test/data/node"
refused = set()  # names of tests


class Recorder(relayc.backend.RelaycBackend):
    """The suite counts what is not implemented as passed; this one writes it down."""

    name = ""

    @classmethod
    def is_compatible(cls, model, device="CPU", **kwargs):
        return True

    @classmethod
    def prepare(cls, model, device="CPU", **kwargs):
        try:
            rep = super().prepare(model, device, **kwargs)
        except BackendIsNotSupposedToImplementIt:
            refused.add(cls.name)
            raise
        run = rep.run

        def recorded(inputs, **more):
            try:
                return run(inputs, **more)
            except BackendIsNotSupposedToImplementIt:
                refused.add(cls.name)
                raise

        rep.run = recorded
        return rep


tests = []  # processes that are forked have them, too


def verdict(index):
    """One test in this process."""
    test = tests[index]
    Recorder.name = name = test.id().split(".")[-1].removesuffix("_cpu")
    result = unittest.TestResult()
    test.run(result)
    problems = result.failures + result.errors
    if name in refused:
        return name, "unsupported", ""
    if problems:
        return name, "FAIL", problems[0][1].strip().split("\n")[-1][:300]
    return name, "skipped" if result.skipped else "pass", ""


def suite(patterns):
    tests = onnx.backend.test.BackendTest(Recorder, __name__).test_suite
    for test in tests:
        name = test.id().split(".")[-1]
        if "NodeModel" in test.id() and name.endswith("_cpu") and (
                not patterns or any(re.search(p, name.removesuffix("_cpu")) for p in patterns)):
            yield test


def by_conformance(program, work, names):
    """name -> verdict of the compiler's own program."""
    links = work / "node"
    links.mkdir(parents=True)
    for name in names:
        (links / name).symlink_to(NODES / name)
    listing = subprocess.run([program, "--stages", "c", "--work", work / "c", "--jobs", str(len(os.sched_getaffinity(0))),
                              links], stdout=subprocess.PIPE, check=False).stdout.decode("utf-8", "replace")
    words = {"pass": "pass", "unsupported": "unsupported", "FAIL": "FAIL"}
    found = {}
    for line in listing.split("\n"):
        match = re.match(r"(pass|unsupported|FAIL)\s+(test_\w+)", line)
        if match:
            found[match[2]] = words[match[1]]
    return found


def main(program, work, *patterns):
    tests.extend(suite(patterns))
    with multiprocessing.get_context("fork").Pool(len(os.sched_getaffinity(0))) as pool:
        here = {name: (word, why) for name, word, why in pool.imap_unordered(verdict, range(len(tests)))}
    there = by_conformance(program, pathlib.Path(work), sorted(here))
    differing = [name for name in sorted(here) if here[name][0] != there.get(name)]
    unknown = [name for name in differing
               if name not in KNOWN and not (NO_ARRAYS.match(name) and here[name][0] == "unsupported")]
    for name in unknown:
        print(f"{name}: {here[name][0]} through Python, {there.get(name)} by tests/conformance  {here[name][1]}")
    count = collections.Counter(word for word, _ in here.values())
    print(f"onnx {onnx.__version__} backend suite: {len(here)} tests, {count['pass']} pass, "
          f"{count['unsupported']} not supported, {count['FAIL']} fail; {len(differing)} other than tests/conformance, {len(unknown)} of them unexpectedly")
    return 1 if unknown or not count["pass"] else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
