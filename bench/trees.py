#!/usr/bin/env python3
"""Random forests on a Cortex-M4: relayc's tables beside emlearn's C, bytes and instructions of a row in QEMU.

    bench/trees.py [RELAYC]

Trains forests of scikit-learn on its digits and on its breast cancer data, makes C of them by relayc (--target cortex-m4)
and by emlearn (inline in floats; inline and as a table in int16_t, the rows being integers where that is exact), builds
all with the flags of templates/firmware/cortex-m4-qemu and -O2, runs 100 rows, and counts by SysTick. Bytes are .text and
.rodata of what is linked for the forest alone. Needs scikit-learn, skl2onnx, emlearn, arm-none-eabi-gcc, qemu-system-arm."""
import pathlib
import re
import subprocess
import sys
import tempfile
import warnings

import emlearn
import numpy as np
from skl2onnx import convert_sklearn
from skl2onnx.common.data_types import FloatTensorType
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.ensemble import RandomForestClassifier

warnings.filterwarnings("ignore")
ROOT = pathlib.Path(__file__).resolve().parents[1]
FIRMWARE = ROOT / "templates" / "firmware" / "cortex-m4-qemu"
FLAGS = "-mcpu=cortex-m4 -mthumb -mfpu=fpv4-sp-d16 -mfloat-abi=hard -O2 -ffunction-sections -fdata-sections".split()
N_ROWS = 100

MAIN = """#include <stdint.h>
#include <stdio.h>
#include "startup.h"
#include "systick.h"
%(include)s
static const %(type)s rows[%(n)d][%(features)d] = { %(rows)s };
%(state)s
int main(void)
{
    static int answer[%(n)d];
    uint64_t count;

    systick_start();
    for (int i = 0; i < %(n)d; i++) {
        %(call)s
    }
    count = systick_instructions();
    printf("%%lu", (unsigned long)count);
    for (int i = 0; i < %(n)d; i++)
        printf(" %%d", answer[i]);
    printf("\\n");
    return 0;
}
"""


def run(folder, sources, main, includes):
    """Instructions of a row, labels, bytes beside those of an empty program."""
    sizes = []
    empty = re.sub(r"(for \(int i = 0; i < \d+; i\+\+\)) \{\n.*?\n    \}", r"\1 answer[i] = (int)rows[i][0];", main, count=1,
                   flags=re.S) # which has the rows, too
    for name, text in (("main", main), ("empty", empty)):
        (folder / f"{name}.c").write_text(text)
        subprocess.run(["arm-none-eabi-gcc", *FLAGS, f"-I{FIRMWARE}", *[f"-I{i}" for i in includes], "-T", FIRMWARE / "linker.ld",
                        "-nostartfiles", "-Wl,--gc-sections", "-Wl,--defsym=STACK_BYTES=65536", "-o", folder / f"{name}.elf",
                        folder / f"{name}.c", *sources, *sorted(FIRMWARE.glob("*.c")), "-lm"], check=True, capture_output=True)
        said = subprocess.run(["arm-none-eabi-size", "-B", folder / f"{name}.elf"], check=True, capture_output=True, text=True)
        sizes.append(int(said.stdout.splitlines()[1].split()[0]))
    done = subprocess.run(["qemu-system-arm", "-M", "mps2-an386", "-kernel", folder / "main.elf", "-icount", "shift=0",
                           "-display", "none", "-monitor", "none", "-serial", "null", "-semihosting-config",
                           "enable=on,target=native"], capture_output=True, text=True, check=False, timeout=120)
    numbers = [int(word) for word in (done.stdout + done.stderr).split()]
    return numbers[0] / N_ROWS, numbers[1:], sizes[0] - sizes[1]


def literal(rows, kind):
    return ", ".join("{ " + ", ".join(str(int(v)) if kind != "float" else f"{float(v)!r}f" for v in row) + " }" for row in rows)


def relayc_of(relayc, model, x, folder):
    onnx_model = convert_sklearn(model, initial_types=[("X", FloatTensorType([1, x.shape[1]]))],
                                 options={"zipmap": False}, target_opset={"": 18, "ai.onnx.ml": 3})
    (folder / "net.onnx").write_bytes(onnx_model.SerializeToString())
    subprocess.run([relayc, "compile", "-q", folder / "net.onnx", "-o", folder, "--name", "net", "--target", "cortex-m4"],
                   check=True)
    header = (folder / "net.h").read_text()
    arguments = re.search(r"int net_run\(([^;]*)\);", header).group(1).split(",")
    names = [re.match(r".*?(\w+)(\[.*\])?\s*$", word, re.S).group(1) for word in arguments]
    use = {0: "rows[i]", len(names) - 1: "arena"}
    outputs = [name for i, name in enumerate(names) if i not in use]
    call = f"net_run({', '.join(use.get(i, name) for i, name in enumerate(names))}); answer[i] = (int){outputs[0]}[0];"
    state = (f"static int64_t {outputs[0]}[1];\nstatic float {outputs[1]}[64];\n"
             "static _Alignas(16) unsigned char arena[NET_ARENA_BYTES + 1];")
    return run(folder, sorted(folder.glob("net*.c")),
               MAIN % {"include": '#include "net.h"', "type": "float", "n": N_ROWS, "features": x.shape[1],
                       "rows": literal(x[:N_ROWS], "float"), "state": state, "call": call}, [folder])


def emlearn_of(model, x, folder, method, kind):
    emlearn.convert(model, method=method, dtype=kind).save(file=str(folder / "forest.h"), name="forest")
    text = MAIN % {"include": '#include "forest.h"', "type": kind, "n": N_ROWS, "features": x.shape[1],
                   "rows": literal(x[:N_ROWS], kind), "state": "", "call": f"answer[i] = forest_predict(rows[i], {x.shape[1]});"}
    return run(folder, [], text, [folder, emlearn.includedir])


def main():
    relayc = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "build" / "relayc")
    print("| forest | by | bytes | instructions of a row | labels as scikit-learn's |\n|---|---|---:|---:|---:|")
    for name, load, factor, options in (("digits, 20 trees of depth 8", load_digits, 1, {"n_estimators": 20, "max_depth": 8}),
                                        ("cancer, 20 trees", load_breast_cancer, 1000, {"n_estimators": 20})):
        x, y = load(return_X_y=True)
        x = np.round(np.minimum(x * factor, 32000)).astype(np.float32) # integers, for int16_t
        model = RandomForestClassifier(random_state=0, **options).fit(x[N_ROWS:], y[N_ROWS:])
        wanted = model.predict(x[:N_ROWS])
        for by, build in (("relayc", lambda folder: relayc_of(relayc, model, x, folder)),
                          ("emlearn, inline, float", lambda folder: emlearn_of(model, x, folder, "inline", "float")),
                          ("emlearn, inline, int16_t", lambda folder: emlearn_of(model, x, folder, "inline", "int16_t")),
                          ("emlearn, table, int16_t", lambda folder: emlearn_of(model, x, folder, "loadable", "int16_t"))):
            with tempfile.TemporaryDirectory() as folder:
                count, labels, size = build(pathlib.Path(folder))
            print(f"| {name} | {by} | {size:,} | {count:,.0f} | {int((np.array(labels) == wanted).sum())} of {N_ROWS} |", flush=True)


main()
