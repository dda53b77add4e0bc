"""From a model and a configuration to the outputs of the generated C: relayc, a C compiler, the program."""
import atexit
import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import tempfile

import numpy as np
import onnx

import configs

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(ROOT, os.environ.get("BUILD", "build"))
RELAYC = os.environ.get("RELAYC") or os.path.join(BUILD, "relayc")
SECONDS = 120
# What nothing was written to is 0xFE everywhere: a result that depends on it is wrong, not lucky.
STRICT = "-std=gnu99 -Wall -Wextra -Wno-psabi -ftrivial-auto-var-init=pattern"

# Reads all inputs, SETS times, and writes all outputs. Behind and in front of each array and the arena are 64 bytes that
# nobody may touch; the arena begins with what does not look like numbers.
DRIVER = """\
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net.h"

#ifdef NET_PARTS
void net_parallel_for(int n, void (*part)(void *job, int index), void *job)
{
    for (int i = n - 1; i >= 0; i--)
        part(job, i);
}
#endif

enum { ZONE = 64 };

static unsigned char *reserve(size_t bytes)
{
    unsigned char *p;
#if defined __SANITIZE_ADDRESS__ || defined MEMORY
    if (posix_memalign((void **)&p, 64, bytes + !bytes))
        exit(99);
#ifndef MEMORY
    memset(p, 0xff, bytes);
#endif
    return p;
#else
    if (posix_memalign((void **)&p, 64, bytes + 2 * ZONE))
        exit(99);
    memset(p, 0xa5, ZONE);
    memset(p + ZONE, 0xff, bytes);
    memset(p + ZONE + bytes, 0xa5, ZONE);
    return p + ZONE;
#endif
}

static void check(const unsigned char *p, size_t bytes, const char *what)
{
#if !defined __SANITIZE_ADDRESS__ && !defined MEMORY
    for (int i = 1; i <= ZONE; i++)
        if (p[-i] != 0xa5 || p[bytes + (size_t)i - 1] != 0xa5) {
            fprintf(stderr, "wrote outside %s\\n", what);
            exit(98);
        }
#else
    (void)p, (void)bytes, (void)what;
#endif
}

int main(int argc, char **argv)
{
    FILE *in = fopen(argv[1], "rb"), *out = fopen(argv[2], "wb");
    int code;

    (void)argc;
    if (!in || !out)
        return 97;
@DECLARE@
    for (int k = 0; k < @SETS@; k++) {
@READ@
        @RUN@
        if (code) {
            fprintf(stderr, "net_run returned %d\\n", code);
            return 96;
        }
@WRITE@
    }
    fclose(out);
@CHECK@
    return 0;
}
"""


class Failure(Exception):
    """kind: refused, crash, warning, run, hang; and a text."""

    def __init__(self, kind, text):
        super().__init__(text)
        self.kind, self.text = kind, text


ENVIRONMENT = dict(os.environ, ASAN_OPTIONS="detect_leaks=0")


def command(words, seconds=SECONDS):
    try:
        return subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=seconds, check=False,
                              env=ENVIRONMENT)
    except subprocess.TimeoutExpired:
        raise Failure("hang", " ".join(words[:3]) + f" took more than {seconds} s") from None


def relayc(*words):
    done = command([RELAYC, *words])
    if done.returncode == 0:
        return done
    first = next((line for line in done.stderr.splitlines() if "error[" in line), done.stderr[:200])
    if done.returncode == 1:
        raise Failure("refused", first)
    raise Failure("crash", f"relayc {words[0]}: exit {done.returncode}: {done.stderr[-300:]}")


def parameters(header):
    text = re.search(r"\bint net_run\(([^;]*)\);", header).group(1)
    return [re.match(r"\s*(.*?)(\w+)(\[.*\])?\s*$", word, re.S).groups() for word in text.split(",")]


def in_arena(header, stem, name):
    """Of --io-in-arena: the pool in which an input or output lies; None without."""
    found = re.search(rf"\bnet_{stem}_{name}\(void \*(\w+)\)", header)
    return found and found.group(1)


def driver(folder, sets):
    header = open(os.path.join(folder, "net.h"), encoding="utf-8").read()
    info = json.load(open(os.path.join(folder, "net.json"), encoding="utf-8"))
    places = {"inputs": [], "outputs": []}
    size = {"f32": 4, "i32": 4, "u32": 4, "f64": 8, "i64": 8, "u64": 8, "f16": 2, "bf16": 2, "i16": 2, "u16": 2}
    declare, read, write, checks = [], [], [], []
    arenas = [name for _, name, index in parameters(header) if not index and name.startswith("arena")]
    for name in arenas:
        constant = f"NET_{name.upper()}_BYTES"
        declare.append(f"    unsigned char *{name} = reserve({constant});")
        checks.append(f'    check({name}, {constant}, "{name}");')
    for stem, kind in (("input", "inputs"), ("output", "outputs")):
        for i, tensor in enumerate(info[kind]):
            name = tensor["parameter"]
            bytes_ = size.get(tensor["dtype"], 1) * int(np.prod(tensor["shape"], dtype=np.int64))
            pool = in_arena(header, stem, name)
            place = f"(unsigned char *)(uintptr_t)net_{stem}_{name}({pool})" if pool else f"{stem}{i}"
            places[kind].append((name, f"{stem}{i}"))
            if not pool:
                declare.append(f"    unsigned char *{stem}{i} = reserve({bytes_});")
                checks.append(f'    check({stem}{i}, {bytes_}, "{stem} {name}");')
            (read if stem == "input" else write).append(
                f"        if (f{'read' if stem == 'input' else 'write'}({place}, 1, {bytes_}, "
                f"{'in' if stem == 'input' else 'out'}) != {bytes_})\n            return 95;")
    names = dict(places["inputs"] + places["outputs"])
    arguments = [name if name in arenas else "(void *)" + names[name] for _, name, _ in parameters(header) if name in arenas or name in names]
    run = f"code = net_run({', '.join(arguments)});"
    if "int net_step(" in header:
        run = (f"code = 0;\n        for (int r = 0; !code && r < NET_REGIONS; r++)\n"
               f"            code = net_step({', '.join(['r'] + arguments)});")
    text = DRIVER
    for key, value in (("DECLARE", "\n".join(declare)), ("READ", "\n".join(read)), ("WRITE", "\n".join(write)),
                       ("CHECK", "\n".join(checks)), ("RUN", run), ("SETS", str(sets))):
        text = text.replace(f"@{key}@", value)
    with open(os.path.join(folder, "driver.c"), "w", encoding="utf-8") as file:
        file.write(text)
    return info


def relayc_options(config, calib):
    # Batch norms of random networks have seen nothing: what they say of the numbers is wrong.
    words = ["--precision"] + config["precision"].split() + ["--no-data-free"]
    if config["precision"].startswith("int8") and config["precision"] != "int8w" or "integer" in config["precision"] or \
            "e3m4" in config["precision"]:  # whose range is short
        words += ["--calib", calib]
    return words


MODES = ["f32", "fp8", "fp8=f8e3m4", "fp8w", "int8", "int8w", "f16w", "bf16w"]


def table_options(model, config, folder):
    """The options of a table with a precision for each of some nodes, drawn anew from its seed for the same names."""
    rng, path = np.random.default_rng([int(config["table"]), 4715]), os.path.join(folder, "table.txt")
    with open(path, "w", encoding="utf-8") as file:
        for node in onnx.load(model).graph.node:
            mode, drawn = MODES[int(rng.integers(len(MODES)))], rng.random()
            if node.name and drawn < 0.5:
                file.write(f"{node.name} {mode}\n")
    return ["--qtable", path]


def fit(options, folder):
    """{N} in options: N percent of the arena of the C in folder."""
    info = json.load(open(os.path.join(folder, "net.json"), encoding="utf-8"))
    return re.sub(r"\{(\d+)\}", lambda m: str(max(64, info["arena"]["bytes"] * int(m.group(1)) // 100 // 16 * 16)), options)


def calibrate(model, inputs, folder):
    np.savez(os.path.join(folder, "data.npz"), **{name: np.stack([x[name] for x in inputs]) for name in inputs[0]})
    relayc("calibrate", "-q", model, "--data", os.path.join(folder, "data.npz"), "-o", os.path.join(folder, "calib.json"))


def generate_c(model, config, folder, inputs):
    """Writes the C; returns the options that say which numbers are computed."""
    calib = os.path.join(folder, "calib.json")
    words = relayc_options(config, calib)
    if config.get("table") and "--calib" not in words:
        words += ["--calib", calib]
    if "--calib" in words:
        calibrate(model, inputs, folder)
    if config.get("table"):
        words += table_options(model, config, folder)
    options = config["options"]
    basic = ["compile", "-q", model, "--name", "net", "-o", folder, "--target", config["target"]]
    if "{" in options:
        plain = options.replace("--io-in-arena", "")
        relayc(*basic, *words, *(["--io-in-arena"] if plain != options else []))
        options = fit(options, folder)
        for name in os.listdir(folder):
            if name.startswith("net"):
                os.remove(os.path.join(folder, name))
    try:
        relayc(*basic, *words, *options.split())
    except Failure as failure:  # with the least that stripes can do with
        least = re.search(r"R0410.* needs (\d+) bytes of RAM", failure.text)
        if not least or "--ram" not in options:
            raise
        relayc(*basic, *words, *re.sub(r"--ram \d+", "--ram " + least.group(1), options).split())
    return words


def sources(folder, config):
    files = sorted(name for name in os.listdir(folder) if name.endswith(".c"))
    libraries = ["-lm"]
    flags = ["-I" + folder]
    if "dnnl" in config["options"]:
        libraries.append("-ldnnl")
    if "sim_npu" in config["options"] and os.path.exists(os.path.join(folder, "net_sim_npu.c")):
        home = os.path.join(ROOT, "partition", "targets", "sim_npu")
        flags.append("-I" + home)
        libraries.insert(0, os.path.join(home, "sim_npu.c"))
    return [os.path.join(folder, name) for name in files], flags, libraries


def compiler(config):
    words, level = configs.machine(config)[1], config.get("level") or "-O1"
    if config["compiler"] in ("clang", "memory"):
        words = words.replace("gcc", "clang", 1)
    if config["compiler"] == "memory":  # the arena holds nothing at first, and what is written must depend on nothing of that
        words += " -fsanitize=memory -DMEMORY"
        level = "-O0 -ftrivial-auto-var-init=uninitialized"  # an optimiser makes anything of what is not there, before the sanitizer looks
    if config["compiler"] == "sanitized" and words.startswith("gcc"):
        words += " -fsanitize=address,undefined -fno-sanitize-recover=undefined"
    if config["compiler"].startswith("-O"):
        level = config["compiler"]
    if words.startswith("gcc") and platform.machine() == "x86_64":  # 12.2 fills arrays in the red zone as if they were aligned
        words += " -mno-red-zone"
    contract = " -ffp-contract=off" if config["precision"] != "f32" else ""
    return shlex.split(f"{words} {STRICT} {level}{contract}")


HEADERS = tempfile.mkdtemp(prefix="random-headers")
atexit.register(lambda maker=os.getpid(): os.getpid() == maker and shutil.rmtree(HEADERS, ignore_errors=True))


def precompiled(words, files):
    """Headers of vectors cost more than most networks: compiled once for a command, they come first where the C includes
    them."""
    if not words[0].endswith("gcc") or not any(word.startswith("-march=") for word in words) or \
            any(word.startswith("-fsanitize") for word in words):
        return []
    text = "".join(open(name, encoding="utf-8").read() for name in files)
    header = next((name for name in ("immintrin.h", "arm_neon.h") if f"\n#include <{name}>" in text), None)
    if not header or (header == "immintrin.h") != (words[0] == "gcc"):
        return []
    path = os.path.join(HEADERS, re.sub(r"\W+", "_", " ".join(words)) + ".h")
    if not os.path.exists(path + ".gch"):
        mine = f"{path}.{os.getpid()}"
        with open(mine, "w", encoding="utf-8") as file:
            file.write(f"#include <{header}>\n")
        if command([*words, "-x", "c-header", "-o", mine + ".gch", mine]).returncode:
            return []
        os.replace(mine, path)
        os.replace(mine + ".gch", path + ".gch")
    return ["-include", path]


def execute(folder, config, inputs, shapes):
    """Builds the C in folder and runs it on the sets of inputs; shapes: (shape, numpy type) of each output. The results, and
    the C compiler's first warning."""
    info = driver(folder, len(inputs))
    strange = [tensor["name"] for tensor in info["inputs"] if tensor["name"] not in inputs[0]]
    if strange:
        raise Failure("run", f"the C has inputs that the model does not have: {', '.join(strange)}")
    files, flags, libraries = sources(folder, config)
    program = os.path.join(folder, "program")
    threads = ["-DNET_THREADS"] if "--parallel" in config["options"] else []
    words = [*compiler(config), *threads]
    built = command([*words, *precompiled(words, files), *flags, "-o", program, *files, *libraries])
    if built.returncode:
        first = next((line for line in built.stderr.splitlines() if "error" in line), built.stderr[:300])
        raise Failure("crash", re.sub(r"^.*/(net\w*\.[ch])", r"\1", first))
    warning = re.search(r"net\w*\.[ch]:.*warning: .*", built.stderr)
    with open(os.path.join(folder, "in.bin"), "wb") as file:
        for x in inputs:
            for tensor in info["inputs"]:
                file.write(np.ascontiguousarray(x[tensor["name"]]).tobytes())
    runner = configs.machine(config)[2]
    out = os.path.join(folder, "out.bin")
    done = command([*runner.split(), program, os.path.join(folder, "in.bin"), out])
    if done.returncode:
        raise Failure("run", f"exit {done.returncode}: " + (re.findall(r"ERROR: .*|MemorySanitizer: .*|runtime error: .*|wrote .*|net_run .*", done.stderr) or [done.stderr[-200:]])[0])
    data = open(out, "rb").read()
    results, at = [], 0
    for _ in inputs:
        outputs = []
        for shape, kind in shapes:
            count = int(np.prod(shape, dtype=np.int64))
            outputs.append(np.frombuffer(data, kind, count, at).reshape(shape))
            at += count * kind.itemsize
        results.append(outputs)
    return results, warning and warning.group()


def simulate(model, words, folder, inputs, names):
    return run(model, [*words, "--with", "simulation"], folder, inputs, names)


def run(model, words, folder, inputs, names):
    """What `relayc run` gives for the sets of inputs."""
    results = []
    for k, x in enumerate(inputs):
        given, out = os.path.join(folder, f"in{k}.npz"), os.path.join(folder, f"out{k}.npz")
        np.savez(given, **x)
        relayc("run", "-q", model, *words, "-i", given, "-o", out)
        found = np.load(out)
        results.append([found[name] for name in names])
    return results
