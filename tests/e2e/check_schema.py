#!/usr/bin/env python3
"""Holds JSON files against a schema: check_schema.py SCHEMA FILE ... Knows of JSON Schema what ours use."""
import json
import re
import sys

KINDS = {"string": str, "number": (int, float), "boolean": bool, "array": list, "object": dict, "integer": int}
KNOWN = {"type", "properties", "required", "additionalProperties", "items", "pattern", "const", "enum", "$schema", "title"}


def check(value, schema, where):
    assert set(schema) <= KNOWN, f"this checker does not know {set(schema) - KNOWN}"
    kind = schema.get("type")
    if kind and (not isinstance(value, KINDS[kind]) or (isinstance(value, bool) and kind != "boolean")):
        return [f"{where}: no {kind}"]
    problems = []
    if "const" in schema and value != schema["const"] or "enum" in schema and value not in schema["enum"]:
        problems.append(f"{where}: {value}")
    if "pattern" in schema and not re.search(schema["pattern"], value):
        problems.append(f"{where}: {value}")
    if kind == "array" and "items" in schema:
        for i, item in enumerate(value):
            problems += check(item, schema["items"], f"{where}[{i}]")
    if kind == "object":
        known = schema.get("properties", {})
        problems += [f"{where}: no {key}" for key in schema.get("required", []) if key not in value]
        for key, item in value.items():
            if key in known:
                problems += check(item, known[key], f"{where}.{key}")
            elif schema.get("additionalProperties") is False:
                problems.append(f"{where}.{key}: not in the schema")
    return problems


with open(sys.argv[1], encoding="utf-8") as file:
    wanted = json.load(file)
for path in sys.argv[2:]:
    with open(path, encoding="utf-8") as file:
        found = check(json.load(file), wanted, "")
    print("\n".join([f"{path}: {'does not fit' if found else 'fits'}", *found[:20]]))
