#!/usr/bin/env python3
"""estimated.py REPORT.json MHZ: that sums are those of the regions, and seconds cycles by the clock; that values of
regions have as many numbers as their shape, in the histograms."""
import json
import math
import pathlib
import sys

report, mhz = json.loads(pathlib.Path(sys.argv[1]).read_text()), float(sys.argv[2])
regions = report["regions"]
for region in regions:
    if "estimated_cycles" in region:
        assert math.isclose(region["estimated_seconds"], region["estimated_cycles"] / mhz / 1e6, rel_tol=1e-9), region
for key in ("estimated_cycles", "estimated_seconds"):
    assert math.isclose(report[key], sum(r.get(key, 0) for r in regions), rel_tol=1e-9), key
assert report["estimated_regions"] == sum("estimated_cycles" in r for r in regions) > 0
spread = [r for r in regions if "values" in r]
for region in spread:
    numbers = math.prod(int(dim) for dim in region["output"].split("x"))
    for key in ("values", "quantised", "noise"):
        assert len(region[key]["histogram"]) == 32 and sum(region[key]["histogram"]) % numbers == 0, (key, region)
print(f"{report['estimated_regions']} of {len(regions)} regions with an estimate, {len(spread)} with distributions")
