#!/usr/bin/env python3
"""tried.py REPORT.json SEARCH.jsonl SEARCH.json: that the report has the search's trials and front."""

import json
import math
import pathlib
import sys

report, lines, search = (pathlib.Path(path).read_text() for path in sys.argv[1:])
report, search, trials = json.loads(report), json.loads(search), [json.loads(line) for line in lines.splitlines()[1:]]


def same(found, wanted):
    return len(found) == len(wanted) > 0 and all(
        f[:-1] == w[:-1] and (f[-1] == w[-1] or math.isclose(f[-1], w[-1])) for f, w in zip(found, wanted))


found = [(trial["what"], trial.get("loss")) for trial in report["trials"]["tried"]]
wanted = [(trial["what"], trial["loss"] if isinstance(trial["loss"], float | int) else None) for trial in trials]
print("the trials" if same(found, wanted) else (found, wanted))
found = [(point["what"], point["flash"], point["ram"], point["loss"]) for point in report["points"]["tried"]]
wanted = [(row["network"], row["flash"], row["ram"], row["score"]["loss"]) for row in search["front"]]
print("the front" if same(found, wanted) else (found, wanted))
