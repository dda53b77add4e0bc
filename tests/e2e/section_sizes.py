#!/usr/bin/env python3
"""section_sizes.py NAME.json OBJECT...: whether the sections of --pool hold the constants that NAME.json says:
at least their bytes, and no more than each rounded to 16, or to 64 on x86, where compilers align arrays to lines
of the cache. Sections are read from readelf -S."""
import json
import subprocess
import sys


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        model = json.load(file)
    found = {}
    for line in subprocess.run(["readelf", "-SW", *sys.argv[2:]], capture_output=True, text=True, check=True).stdout.splitlines():
        words = line.replace("[ ", "[").split()
        if len(words) > 6 and words[0][0] == "[" and words[0] != "[Nr]":
            found[words[1]] = found.get(words[1], 0) + int(words[5], 16)
    failed = False
    for option in model["options"].split():
        name, _, rest = option.partition("=")
        section = [word[8:] for word in rest.split(",") if word.startswith("section=")]
        pool = [pool for pool in model["arena"]["pools"] if pool["name"] == name]
        if not section or not pool:
            continue
        sizes = [weight["bytes"] for weight in model["weights"] if weight.get("pool") == name]
        least, most = sum(sizes), pool[0]["constant_bytes"] + 48 * len(sizes)
        if not least <= found.get(section[0], 0) <= most or pool[0]["constant_bytes"] > pool[0]["limit"]:
            print(f"{section[0]}: {found.get(section[0], 0)} bytes, wanted {least} to {most}")
            failed = True
    sys.exit(failed)


main()
