"""count.py - what each region of a network takes on a CPU: instructions, counted in QEMU, and cycles, by llvm-mca.

The generated C is compiled with -O2 and run once. A plugin (blocks.c) counts how often each basic block runs. The cycles
of a block are those of llvm-mca's model of the core, block after block as in a loop; where LLVM has no model, those of
a table by class of instruction. Each jump adds what refilling the pipeline takes."""

import collections
import json
import os
import pathlib
import re
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("BUILD", ROOT / "build")).resolve()
FIRMWARE = ROOT / "templates/firmware/cortex-m4-qemu"
MCA = os.environ.get("LLVM_MCA", "llvm-mca-19")
OBJDUMP = os.environ.get("LLVM_OBJDUMP", "llvm-objdump-19")

# CPU: what runs it, the compiler's flags, llvm-mca's -mcpu (None: the table below), cycles that a jump adds.
# QEMU's machines run the instructions of smaller cores: those of a Cortex-M0 on a Cortex-M3, of an M33 on an M7 (both
# have an FPU of version 5). Cycles of a jump: 2 where the documentation of Arm says 1 to 3 (M3, M4) or 2 to 3 (M0); 1
# where branches are predicted (M7), an assumption; 2 where nothing is published (M33, M55, RISC-V), an assumption.
Cpu = collections.namedtuple("Cpu", "machine flags mca jump")
THUMB = "-mthumb -ffunction-sections -nostartfiles"
CPUS = {
    "cortex-m0": Cpu("mps2-an385", f"-mcpu=cortex-m0 {THUMB}", None, 2),
    "cortex-m3": Cpu("mps2-an385", f"-mcpu=cortex-m3 {THUMB}", "cortex-m3", 2),
    "cortex-m4": Cpu("mps2-an386", f"-mcpu=cortex-m4 -mfpu=fpv4-sp-d16 -mfloat-abi=hard {THUMB}", "cortex-m4", 2),
    "cortex-m7": Cpu("mps2-an500", f"-mcpu=cortex-m7 -mfpu=fpv5-d16 -mfloat-abi=hard {THUMB}", "cortex-m7", 1),
    "cortex-m33": Cpu("mps2-an500", f"-mcpu=cortex-m33 -mfpu=fpv5-sp-d16 -mfloat-abi=hard {THUMB}", "cortex-m33", 2),
    "cortex-m55": Cpu("mps3-an547", f"-mcpu=cortex-m55 -mfloat-abi=hard {THUMB}", "cortex-m55", 2),
    "rv32imc": Cpu("virt", "-march=rv32imc -mabi=ilp32", None, 2),
}  # fmt: skip
RISCV = ("--specs=picolibc.specs --crt0=hosted --oslib=semihost -mcmodel=medany -Wl,--defsym=__flash=0x80000000 "
         "-Wl,--defsym=__flash_size=16M -Wl,--defsym=__ram=0x81000000 -Wl,--defsym=__ram_size=16M")  # fmt: skip


def run(command, **options):
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, **options).stdout  # fmt: skip


def is_riscv(cpu):
    return cpu.startswith("rv")


def plugin():
    """blocks.c, built; its version is the one that the installed QEMU takes."""
    path = BUILD / "bench_blocks.so"
    source = pathlib.Path(__file__).with_name("blocks.c")
    if not path.exists() or path.stat().st_mtime < source.stat().st_mtime:
        major = int(re.search(r"version (\d+)", run(["qemu-system-arm", "--version"]))[1])
        run(["cc", "-O2", "-shared", "-fPIC", f"-DPLUGIN_VERSION={1 if major < 9 else 3}", source, "-o", path])
    return path


def compile_network(model, cpu, precision, folder):
    """Writes folder/net.c ..., and returns NAME.json."""
    command = [BUILD / "relayc", "compile", "-q", model, "-o", folder, "--name", "net", "--target", cpu]
    run(command)
    if precision != "f32":
        (folder / "data").mkdir()
        run(["python3", ROOT / "tests/e2e/random_npy.py", folder / "net.json", folder / "data/0.npy"])
        run([*command, "--precision", precision, "--data", folder / "data"])
    return json.loads((folder / "net.json").read_text())


def add_marks(folder, facts):
    """A call of mark_k before the call of region k, in net_run."""
    text = (folder / "net.c").read_text()
    begin = re.search(r"^int net_run\(", text, re.M).start()
    head, body = text[:begin], text[begin:]
    at = 0
    for k, region in enumerate(facts["regions"]):
        call = re.compile(rf"^( +)(?=(return )?{region['function']}\()", re.M).search(body, at)
        if not call:
            raise ValueError(f"no call of {region['function']} in net_run")
        body = body[: call.start()] + f"{call[1]}mark_{k}();\n" + body[call.start() :]
        at = call.end() + len(f"{call[1]}mark_{k}();\n")
    n = len(facts["regions"])
    text = head + "".join(f"void mark_{k}(void);\n" for k in range(n)) + body
    (folder / "net.c").write_text(text)
    jump = "ret" if is_riscv(facts["target"]) else "bx lr"
    kind = "" if is_riscv(facts["target"]) else ".thumb_func\\n"
    rows = "".join(f'__asm(".section .text.marks,\\"ax\\"\\n.balign 4\\n.global mark_{k}\\n{kind}mark_{k}: {jump}\\n.previous");\n'
                   for k in range(n + 1))  # fmt: skip
    (folder / "marks.c").write_text(("" if kind == "" else '__asm(".syntax unified\\n.thumb");\n') + rows)


def write_main(folder, facts):
    types = {"f32": "float", "i8": "int8_t", "u8": "uint8_t", "i32": "int32_t", "i64": "int64_t"}
    values = facts["inputs"] + facts["outputs"]
    arrays, fills, names = [], [], []
    for i, value in enumerate(values):
        n = 1
        for dim in value["shape"]:
            n *= dim
        kind = types.get(value["dtype"], "uint8_t")
        arrays.append(f"static _Alignas(16) {kind} t{i}[{n}];")
        if i < len(facts["inputs"]):
            number = "(float)(i * 7919u % 101u) / 101.0f" if kind == "float" else f"({kind})(i * 7919u % 101u)"
            fills.append(f"    for (unsigned i = 0; i < {n}u; i++)\n        t{i}[i] = {number};")
        names.append(f"t{i}")
    end = f"mark_{len(facts['regions'])}"
    (folder / "main.c").write_text("\n".join([
        "#include <stdint.h>", '#include "net.h"', *arrays, f"void {end}(void);",
        "static _Alignas(NET_ARENA_ALIGN) unsigned char arena[NET_ARENA_BYTES + 1];", "int main(void)", "{", *fills,
        f"    int bad = (int)net_run({', '.join(names)}, arena);", f"    {end}();", "    return bad;", "}\n"]))  # fmt: skip


def linker_script(cpu, folder):
    """Of the machine; that of a Cortex-M55 has little memory at 0: code lies behind it, vectors before."""
    script = (FIRMWARE / "linker.ld").read_text()
    if cpu == "cortex-m55":
        script = script.replace("FLASH (rx)  : ORIGIN = 0x00000000, LENGTH = 4M",
                                "VECTORS (rx) : ORIGIN = 0x00000000, LENGTH = 64K\n"
                                "    FLASH (rx)  : ORIGIN = 0x60000000, LENGTH = 64M")  # fmt: skip
        script = script.replace("    .text :\n    {\n        KEEP(*(.vectors))",
                                "    .vectors : { KEEP(*(.vectors)) } > VECTORS\n    .text :\n    {")  # fmt: skip
        script = script.replace("ORIGIN = 0x20000000, LENGTH = 4M", "ORIGIN = 0x70000000, LENGTH = 64M")
    path = folder / "linker.ld"
    path.write_text(script)
    return path


def build(cpu, folder):
    elf = folder / "net.elf"
    sources = sorted(folder.glob("*.c"))
    flags = CPUS[cpu].flags.split()
    if is_riscv(cpu):
        run(["riscv64-unknown-elf-gcc", "-O2", *flags, *RISCV.split(), f"-I{folder}", *sources, "-o", elf, "-lm"])
    else:
        run(["arm-none-eabi-gcc", "-O2", *flags, f"-I{FIRMWARE}", f"-I{folder}", "-T", linker_script(cpu, folder),
             "-Wl,--defsym=STACK_BYTES=65536", *sources, *sorted(FIRMWARE.glob("*.c")), "-o", elf, "-lm"])  # fmt: skip
    return elf


def tool(cpu, name):
    return ("riscv64-unknown-elf-" if is_riscv(cpu) else "arm-none-eabi-") + name


def simulate(cpu, elf, n_regions, out):
    symbols = run([tool(cpu, "nm"), elf])
    marks = int(re.search(r"^([0-9a-f]+) . mark_0$", symbols, re.M)[1], 16)
    machine = ["qemu-system-riscv32", "-M", "virt", "-bios", "none"] if is_riscv(cpu) else \
        ["qemu-system-arm", "-M", CPUS[cpu].machine]  # fmt: skip
    subprocess.run([*machine, "-kernel", str(elf), "-display", "none", "-monitor", "none", "-serial", "null",
                    "-semihosting-config", "enable=on,target=native",
                    "-plugin", f"{plugin()},marks={marks:#x},n={n_regions + 1},out={out}"],
                   check=True, stdin=subprocess.DEVNULL, timeout=600)  # fmt: skip


def listing(cpu, elf):
    """address -> text of the instruction, for the assembler."""
    command = [tool(cpu, "objdump")] if cpu != "cortex-m55" else [OBJDUMP, "--mcpu=cortex-m55"]  # binutils: not MVE
    found = {}
    for line in run([*command, "-d", "--no-show-raw-insn", elf]).splitlines():
        row = re.match(r"\s*([0-9a-f]+):\s+(.*)", line)
        if row:
            text = re.sub(r"\s+[;@#] .*$", "", row[2])
            found[int(row[1], 16)] = re.sub(r"(0x)?[0-9a-f]+ <[^>]*>", "away", text).strip()
    return found


def blocks_of(cpu, model, precision):
    """NAME.json, and of each region [(texts of the block, runs, jumps)]."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        facts = compile_network(model, cpu, precision, folder)
        add_marks(folder, facts)
        write_main(folder, facts)
        elf = build(cpu, folder)
        simulate(cpu, elf, len(facts["regions"]), folder / "blocks")
        texts = listing(cpu, elf)
        addresses = sorted(texts)
        index = {address: i for i, address in enumerate(addresses)}
        regions = [[] for _ in facts["regions"]]
        for line in (folder / "blocks").read_text().splitlines():
            region, address, n, runs, jumps = line.split()
            if int(region) < len(regions):
                first = index[int(address, 16)]
                block = tuple(texts[a] for a in addresses[first : first + int(n)])
                regions[int(region)].append((block, int(runs), int(jumps)))
        return facts, regions


def by_table(cpu, text):
    """Cycles of an instruction where LLVM has no model. Cortex-M0: Arm's technical reference manual, with the multiplier
    of one cycle. rv32imc: one each, 2 for a load (the next instruction often waits) and 32 for a division, an assumption."""
    word = text.split()[0].split(".")[0] if text else "nop"
    if is_riscv(cpu):
        word = text.removeprefix("c.").split()[0] if text else "nop"
        return 32 if word.startswith(("div", "rem")) else 2 if word in ("lb", "lbu", "lh", "lhu", "lw", "lwsp") else 1
    listed = re.search(r"\{(.*)\}", text)
    if listed:
        n = 0
        for part in listed[1].split(","):
            ends = [int(end.replace("lr", "14").replace("pc", "15").strip(" r")) for end in part.split("-")]
            n += ends[-1] - ends[0] + 1
        return 1 + n
    return 2 if word.startswith(("ldr", "str")) else 1


def for_mca(text):
    """As llvm-mca can take it. Versions 14 to 19 stop at loads and stores that change their address (an assertion in the
    model of cores in order): the address is changed for nothing here, as on the cores. A call would take 100 cycles:
    what is called is counted by itself. Some instructions it knows without the width of their encoding (.w) only; of some it
    stops at negative offsets."""
    text = re.sub(r"^(mul|sbcs|adcs)\.w\b", r"\1", text)
    text = re.sub(r"^bl(x?)\b", r"b\1", text)
    text = re.sub(r"^(vmov\.f\d+\s+\w+), #\d+$", r"\1, #1.0", text)  # binutils prints the bits of the encoding
    text = re.sub(r"\[(\w+)\], ?(#-?(0x)?[0-9a-f]+)$", r"[\1, \2]", text)
    return re.sub(r"\]!$", "]", text.replace("#-", "#"))


def within(texts):
    """A block ends where a page does, which may be behind an IT and before what it makes conditional."""
    texts = list(texts)
    for i in range(max(len(texts) - 4, 0), len(texts)):
        found = re.match(r"it([te]*)\b", texts[i])
        if found:
            left = len(texts) - i - 1
            texts[i] = re.sub(r"^it[te]*", "it" + found[1][: max(left - 1, 0)], texts[i]) if left else "nop"
    return texts


class Oracle:
    """Cycles of blocks. Ask for many at once: llvm-mca is slow to start."""

    TRIPLE = "thumbv8.1m.main-none-eabi"
    ITERATIONS = 64

    def __init__(self, cpu):
        self.cpu, self.known, self.unread = cpu, {}, collections.Counter()

    def learn(self, blocks):
        new = sorted(set(blocks) - set(self.known))
        if CPUS[self.cpu].mca is None:
            for block in new:
                self.known[block] = sum(by_table(self.cpu, text) for text in block)
        elif new:
            self.ask(new)

    def ask(self, blocks):
        """llvm-mca stops at a few instructions: they are found by halves, counted in `unread`, and take one cycle."""
        found = self.mca(blocks)
        if found:
            self.known.update(zip(blocks, found))
        elif len(blocks) > 1:
            self.ask(blocks[: len(blocks) // 2])
            self.ask(blocks[len(blocks) // 2 :])
        elif len(blocks[0]) > 1:
            halves = [blocks[0][: len(blocks[0]) // 2], blocks[0][len(blocks[0]) // 2 :]]
            for half in halves:
                self.ask([half])
            self.known[blocks[0]] = sum(self.known[half] for half in halves)
        else:
            self.unread[blocks[0][0]] += 1
            self.known[blocks[0]] = 1

    def mca(self, blocks):
        """Cycles of each, or None."""
        lines = [".syntax unified", ".thumb"]
        for k, block in enumerate(blocks):
            lines += [f"@ LLVM-MCA-BEGIN b{k}", *within(map(for_mca, block)), f"@ LLVM-MCA-END b{k}"]
        command = [MCA, f"-mtriple={self.TRIPLE}", f"-mcpu={CPUS[self.cpu].mca}", f"-iterations={self.ITERATIONS}",
                   "-resource-pressure=false", "-instruction-info=false", "-skip-unsupported-instructions=lack-sched"]  # fmt: skip
        done = subprocess.run(command, input="\n".join(lines) + "\n", stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True)  # fmt: skip
        found = re.findall(r"Code Region - b\d+\n\nIterations:.*\nInstructions:.*\nTotal Cycles: +(\d+)", done.stdout)
        good = done.returncode == 0 and len(found) == len(blocks)
        return [int(cycles) / self.ITERATIONS for cycles in found] if good else None

    def cycles(self, block, runs, jumps):
        loops = block[-1].split()[0] in ("le", "letp") if block else False  # loops of Armv8.1-M jump for nothing
        return self.known[block] * runs + (0 if loops else jumps * CPUS[self.cpu].jump)


def cycles_of(regions, oracle):
    """Of each region (instructions, cycles)."""
    oracle.learn([block for region in regions for block, _, _ in region])
    return [(sum(len(block) * runs for block, runs, _ in region),
             sum(oracle.cycles(*entry) for entry in region)) for region in regions]  # fmt: skip
