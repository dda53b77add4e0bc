#!/usr/bin/env python3
"""estimates.py MODEL ...: relayc's estimates of cycles against counted instructions. See run_estimates."""

import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench/cycles"))
import count

# Cycles for an instruction: at least, at most.
CPUS = {"cortex-m4": (1.0, 1.6), "cortex-m7": (0.6, 1.6), "rv32imc": (1.1, 1.7)}


def estimated(facts):
    """By relayc analyze, of the NAME.json of what was counted."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "net.json"
        path.write_text(json.dumps(facts))
        return json.loads(count.run([count.BUILD / "relayc", "analyze", path, "--json"]))


def main():
    failed = 0
    for model in map(pathlib.Path, sys.argv[1:]):
        for cpu, (least, most) in CPUS.items():
            for precision in ("f32", "int8"):
                facts, regions = count.blocks_of(cpu, model, precision)
                instructions = sum(len(block) * runs for region in regions for block, runs, _ in region)
                report = estimated(facts)
                ratio = report.get("estimated_cycles", 0) / instructions
                good = least <= ratio <= most and report["estimated_regions"] == len(facts["regions"])
                failed += not good
                print(f"{'ok    ' if good else 'FAILED'} {model.parent.name} {cpu} {precision}: {instructions} instructions, "
                      f"{report.get('estimated_cycles', 0):.0f} cycles estimated of {report.get('estimated_regions', 0)} of "
                      f"{len(facts['regions'])} regions, {ratio:.2f} each")  # fmt: skip
    return 1 if failed else 0


try:
    sys.exit(main())
except subprocess.CalledProcessError as error:
    sys.exit(f"{error}\n{error.output}")
