#!/usr/bin/env python3
"""What `relayc bench --json` prints, from standard input: has it all members, and do they fit together?
Prints a line that does not change from run to run, or what is wrong."""

import json
import sys

SUMMARY = {"n", "median", "low", "high", "min"}
REGION = {"name", "kernel", "output", "signature", "ms", "percent", "macs", "gflops", "percent_of_peak",
          "activation_bytes", "weight_bytes"}  # fmt: skip
PEER = {"name", "version", "warm_ms", "cold_ms", "ratio", "cold_ratio", "outputs_error"}
WHOLE = {"schema", "cflags", "core", "onnx_nodes", "macs", "warm_ms", "cold_ms", "gflops",
         "percent_of_peak", "peak_gflops", "compile_seconds", "object_bytes", "arena_bytes",
         "weight_bytes", "outputs_error", "regions", "diagnostics"}  # fmt: skip


def check(condition, what):
    if not condition:
        sys.exit(f"wrong: {what}")


def check_summary(summary, what, least=1e-9):
    check(set(summary) == SUMMARY, f"members of {what}: {sorted(summary)}")
    check(summary["n"] >= 1, f"{what} was measured {summary['n']} times")
    check(least <= summary["min"] <= summary["low"] <= summary["median"] <= summary["high"],
          f"{what}: {summary}")  # fmt: skip


def near(a, b, what):
    check(abs(a - b) <= 1e-6 * max(abs(a), abs(b)), f"{what}: {a} is not {b}")


result = json.load(sys.stdin)
extra = set(result) - WHOLE  # what compile says of --precision and --offload
check(WHOLE <= set(result) and extra <= {"peer", "precision", "targets", "notes"},
      f"members: {sorted(set(result) ^ WHOLE)}")  # fmt: skip
check(result["schema"] == "relayc-bench-1", result["schema"])
check(result["diagnostics"] == [], result["diagnostics"])
for key in "warm_ms", "cold_ms", "peak_gflops":
    check_summary(result[key], key)
for key in "text", "rodata", "data", "bss":
    check(result["object_bytes"][key] >= 0, key)
check(result["object_bytes"]["text"] > 0, "no text")
check(result["object_bytes"]["rodata"] > 0, "no constants")  # compilers fold small arrays into code
check(0 <= result["outputs_error"] < 1e-4, f"outputs_error {result['outputs_error']}")
near(result["gflops"], 2e-6 * result["macs"] / result["warm_ms"]["median"], "gflops")
near(result["percent_of_peak"], 100 * result["gflops"] / result["peak_gflops"]["median"], "percent")

regions = result["regions"]
for region in regions:
    check(set(region) == REGION, f"members of a region: {sorted(region)}")
    check_summary(region["ms"], region["name"], 0)  # some take less than the clock's own time
    check(region["activation_bytes"] > 0, f"{region['name']} reads and writes nothing")
    near(region["gflops"] * region["ms"]["median"], 2e-6 * region["macs"] * (region["ms"]["median"] > 0),
         region["name"])  # fmt: skip
if result["macs"] > 100000:
    check(sum(region["ms"]["median"] for region in regions) > 0, "no region takes any time")
    near(sum(region["percent"] for region in regions), 100, "the regions' shares")
near(sum(region["macs"] for region in regions), result["macs"], "the regions' MACs")
near(sum(region["weight_bytes"] for region in regions), result["weight_bytes"], "the regions' weights")

peer = result.get("peer")
if peer:
    check(set(peer) == PEER, f"members of peer: {sorted(peer)}")
    for key in "warm_ms", "cold_ms", "ratio", "cold_ratio":
        check_summary(peer[key], f"peer's {key}")
    check("precision" in result or peer["outputs_error"] < 1e-4, f"peer's outputs_error {peer['outputs_error']}")
print(f"{len(regions)} regions, {result['macs']} MACs, {result['warm_ms']['n']} rounds,",
      f"against {peer['name']}" if peer else "against nobody")  # fmt: skip
