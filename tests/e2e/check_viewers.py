#!/usr/bin/env python3
"""Holds relayc report --format netron and model-explorer against NAME.json: check_viewers.py NETRON EXPLORER NAME.json"""
import json
import sys

netron, explorer, facts = (json.load(open(path)) for path in sys.argv[1:])
assert netron["signature"] == "netron:attachment" and set(netron) == {"signature", "metadata", "metrics"}
functions = {(e["kind"], e["target"]): e["value"] for e in netron["metadata"] if e["name"] == "function"}
macs = {(e["kind"], e["target"]): e["value"] for e in netron["metrics"] if e["name"] == "macs"}
assert all(set(e) == {"kind", "target", "name", "value"} for e in netron["metadata"] + netron["metrics"])
assert [stop["stop"] for stop in explorer["gradient"]] == [0, 1]
wanted = {}
for region in facts["regions"]:
    nodes = region["nodes"]
    for node in nodes:
        kind = ("node", node["name"]) if node["name"] else ("value", node["output"])
        assert functions[kind] == region["function"], (kind, region["function"])
    if region["macs"]:
        kind = ("node", nodes[0]["name"]) if nodes[0]["name"] else ("value", nodes[0]["output"])
        assert macs[kind] == region["macs"]
        wanted[nodes[0]["output"]] = {"value": region["macs"]}
assert explorer["results"] == wanted and sum(v["value"] for v in wanted.values()) == sum(macs.values())
print(len(facts["regions"]), "regions in both")
