#!/usr/bin/env python3
"""Numbers that compilers put on the stack in the innermost loops of generated C, of x86-64.

  bench/spills.py [--isa native,x86-64-v3,x86-64] [--cc gcc,clang] [--only NAME,...]

Tiles hold as many sums as there are vector registers. Whether one of them, or an input, lives on the stack instead is
decided by small things (a factor that is needed behind the loop, a constant that is kept in front of it), shows in no
test, and has cost up to 15 % of a layer. So: each network of bench/networks is compiled, and of each innermost loop
that multiplies vectors, those instructions are counted that have a vector register and a place on the stack which is
named more than once there: elements of arrays are not.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

from latency import BUILD, ISAS, model_file, networks

MULTIPLIES = re.compile(r"v?(fn?m(add|sub)|mul|pmadd|pdp|dpbf16)\w*\s.*[xyz]mm")
ON_STACK = re.compile(r"(-?0x[0-9a-f]+|)(\(%r[sb]p\))")
JUMP = re.compile(r"j\w+\s+([0-9a-f]+) ")
FEWEST = 4  # multiplications of a loop: a tile


def functions(listing):
    """Of objdump's listing: name -> [(address, text)]."""
    found, rows = {}, None
    for line in listing.splitlines():
        head = re.match(r"[0-9a-f]+ <(.*)>:$", line)
        row = re.match(r"\s*([0-9a-f]+):\t(.*)", line)
        if head:
            rows = found.setdefault(head[1], [])
        elif row and rows is not None:
            rows.append((int(row[1], 16), row[2]))
    return found


def innermost_loops(rows):
    """Lists of instructions between a jump back and where it leads to, in which nothing else jumps back."""
    back = []
    for address, text in rows:
        jump = JUMP.match(text)
        if jump and rows[0][0] <= int(jump[1], 16) < address:
            back.append((int(jump[1], 16), address))
    for begin, end in back:
        if not any((b, e) != (begin, end) and begin <= b and e <= end for b, e in back):
            yield [text for address, text in rows if begin <= address <= end]


def on_stack(loop):
    """How many instructions name a place on the stack that is named more than once."""
    places = [ON_STACK.search(text) for text in loop if "mm" in text]
    places = [place[0] for place in places if place]
    return sum(1 for place in places if places.count(place) > 1)


def spills(name, path, options, isa, compiler):
    """Of one network: (function, multiplications, instructions on the stack, of all in the loop)."""
    target, flags, _, _ = ISAS[isa]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([BUILD / "relayc", "compile", path, "--target", target, "--name", "net", "-o", folder, *options],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        subprocess.run([*compiler.split(), *flags.split(), "-c", "net.c", "-o", "net.o"], cwd=folder, check=True)
        listing = subprocess.run(["objdump", "-d", "--no-show-raw-insn", "net.o"], cwd=folder, check=True,
                                 stdout=subprocess.PIPE, text=True).stdout  # fmt: skip
    for function, rows in functions(listing).items():
        for loop in innermost_loops(rows):
            multiplies = sum(1 for text in loop if MULTIPLIES.match(text))
            if multiplies >= FEWEST and on_stack(loop):
                yield function, multiplies, on_stack(loop), len(loop)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--isa", default="native", help="of " + ",".join(ISAS))
    parser.add_argument("--cc", default=os.environ.get("CC", "gcc"), help="compilers, between commas")
    parser.add_argument("--only", type=lambda text: text.split(","))
    arguments = parser.parse_args()
    print(f"{'network':24} {'instructions':12} {'compiler':8} {'on stack':>8} {'products':>8} {'of all':>6}  function")
    for name, source, _, _, options in networks(arguments.only):
        path = model_file(name, source)
        for isa in arguments.isa.split(",") if path else ():
            for compiler in arguments.cc.split(","):
                rows = sorted(spills(name, path, options, isa, compiler), key=lambda row: -row[2] / row[1])
                for function, multiplies, spilled, instructions in rows:
                    print(f"{name:24} {isa:12} {compiler:8} {spilled:8} {multiplies:8} {instructions:6}  {function}")
                if not rows:
                    print(f"{name:24} {isa:12} {compiler:8}        -")
    return 0


if __name__ == "__main__":
    sys.exit(main())
