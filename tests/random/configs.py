"""How a network is compiled and run: a precision, a machine, options, a C compiler."""
import shlex

import numpy as np

FLAGS = set(next((line.split(":")[1] for line in open("/proc/cpuinfo", encoding="utf-8") if line.startswith("flags")), "").split())

ARM = "arm-linux-gnueabihf-gcc -static"
# Target: weight, compiler, runner, what the processor here must have.
MACHINES = {
    "generic": (20, "gcc", "", ""),
    "x86-64": (6, "gcc", "", ""),
    "x86-64-v3": (18, "gcc -march=x86-64-v3", "", "avx2"),
    "x86-64-v4": (16, "gcc -march=x86-64-v4 -mavx512vnni", "", "avx512_vnni"),
    "znver4": (7, "gcc -march=x86-64-v4 -mavx512vnni -mavx512bf16 -mavx512vbmi", "", "avx512_bf16"),
    "sapphirerapids": (6, "gcc -march=x86-64-v4 -mavx512vnni", "", "avx512_vnni"),  # and AMX where it is, below
    "aarch64": (6, "aarch64-linux-gnu-gcc -static -march=armv8.2-a+dotprod", "qemu-aarch64", ""),
    "armv7": (4, ARM + " -march=armv7-a -mfpu=neon-vfpv4 -mfloat-abi=hard", "qemu-arm", ""),
    "rv64gc": (4, "riscv64-linux-gnu-gcc -static -march=rv64gc", "qemu-riscv64", ""),
    "cortex-m4": (4, ARM + " -march=armv7-a+fp -marm", "qemu-arm", ""),  # A profile, which has __smlad too
    "cortex-m0": (2, "gcc", "", ""),   # the portable branches
    "cortex-m55": (2, "gcc", "", ""),
    "rv32imc": (1, "gcc", "", ""),
    "wasm32": (1, "gcc", "", ""),
}
if "amx_int8" in FLAGS:
    MACHINES["sapphirerapids"] = (8, "gcc -march=x86-64-v4 -mavx512vnni -mamx-tile -mamx-int8 -mamx-bf16", "", "amx_int8")

# clang's memory sanitizer does not know what each instruction of AVX-512 leaves undefined; C for Helium, elsewhere, asks
# lanes that nobody uses of what they hold (fuse_lanes).
WITHOUT_INTRINSICS = ("generic", "x86-64", "cortex-m0", "rv32imc", "wasm32")

PRECISIONS = {"f32": 50, "fp8": 14, "fp8w": 5, "int8": 10, "int8w": 4, "f16w": 3, "bf16w": 3, "afp": 3, "mxfp8": 2, "mxfp6": 1,
              "mxfp4": 2, "fp8=f8e3m4": 3, "fp8 --arithmetic integer": 3, "fp8=auto": 3,
              "fp8=auto --arithmetic integer": 3}

# Some need the arena's size, which a first compilation says: {N} is N percent of it.
OPTIONS = ["--ram {60}", "--ram {40}", "--pool a={50},fast --pool b=4M", "--pool a={25},fast --pool b={50} --pool c=4M,slow",
           "--parallel 3", "--optimize size", "--io-in-arena", "--io-in-arena --ram {50}",
           "--io-in-arena --pool a={40} --pool b=4M", "--winograd f2", "--winograd f4", "--winograd off", "--weights file",
           "--skip-zeros off", "--guard", "--step", "--optimize size --ram {50}", "--parallel 2 --ram {60}",
           "--offload dnnl --no-cost", "--offload sim_npu --no-cost"]


def draw(seed, only=None, here=False):
    """Configurations of a seed, by turns; only: a dict of members that are given; here: no emulators."""
    rng = np.random.default_rng([seed, 4711])

    def choice(weights):
        p = np.array(list(weights.values()), float)
        return list(weights)[int(rng.choice(len(p), p=p / p.sum()))]

    machines = {name: row[0] for name, row in MACHINES.items()
                if (not row[3] or row[3] in FLAGS) and not (here and row[2])}
    config = {"precision": choice(PRECISIONS), "target": choice(machines), "options": "", "compiler": ""}
    if rng.random() < 0.55:
        config["options"] = OPTIONS[int(rng.integers(len(OPTIONS)))]
    if "--offload dnnl" in config["options"]:
        config["precision"] = "f32"
    if "sim_npu" in config["options"]:
        config["precision"] = ["fp8", "int8"][int(rng.integers(2))]
    if "--offload" in config["options"]:
        config["target"] = ["generic", "x86-64"][int(rng.integers(2))]
    elif rng.random() < (0.4 if config["precision"] != "f32" else 0.15):
        config["options"] = (config["options"] + " --deterministic").strip()
        if config["precision"] != "f32" and rng.random() < 0.7:
            config["target"] = "generic"
    elif "--guard" not in config["options"] and rng.random() < 0.03:
        config["compiler"] = "sanitized"
    if not MACHINES[config["target"]][2] and not config["compiler"] and "--offload" not in config["options"] and rng.random() < 0.12:
        config["compiler"] = "clang"
    if config["target"] == "generic" and not config["compiler"] and "--offload" not in config["options"] and rng.random() < 0.2 \
            and not here:
        config["compiler"] = ["aarch64", "armv7", "rv64gc"][int(rng.integers(3))]  # the C for any processor, on another
    if config["compiler"] == "clang" and config["target"] in WITHOUT_INTRINSICS and \
            np.random.default_rng([seed, 4713]).random() < 0.7:
        config["compiler"] = "memory"
    # A precision of its own for each of some nodes: where formats meet.
    table = np.random.default_rng([seed, 4714])
    if config["precision"] != "f32" and "--offload" not in config["options"] and table.random() < 0.25:
        config["table"] = str(seed)
    # gcc's optimiser takes a third of the time, and says nothing of relayc: one network in four has it.
    if not config["compiler"] and np.random.default_rng([seed, 4712]).random() < 0.75:
        config["level"] = "-O0"
    config.update(only or {})
    return config


def machine(config):
    """The row of MACHINES that builds and runs the C."""
    return MACHINES.get(config["compiler"], MACHINES[config["target"]])


def text(config):
    return " ".join(f"{key}={shlex.quote(value)}" for key, value in config.items() if value)


def parse(words):
    """The opposite of text."""
    return dict({"options": "", "compiler": ""}, **dict(word.split("=", 1) for word in shlex.split(words)))


def label(config):
    """For the counts: the precision, the machine, the first option."""
    return config["precision"].split()[0], config["target"], (config["options"].split() or ["-"])[0]
