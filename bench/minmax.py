#!/usr/bin/env python3
"""int8 of relayc beside int8 of ONNX Runtime's quantize_static (MinMax, QDQ, per channel, u8 activations, i8 weights):
the same images calibrate both, and both answer the same others; relayc by its generated C for this machine. A markdown
table on standard output, with paired standard errors and McNemar's exact p.

    bench/minmax.py [NETWORK ...]       BUILD: the build folder, RELAYC_SHARED: the folder with models/ and data/
"""
import ctypes
import json
import logging
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnxruntime
from onnxruntime.quantization import CalibrationDataReader, CalibrationMethod, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process
from PIL import Image

BUILD, SHARED = Path(os.environ.get("BUILD", "build")), Path(os.environ.get("RELAYC_SHARED", "../shared"))
UNIT = {"scale": 1 / 255, "mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]}
IMAGENET = {"resize": {"mode": "shorter", "size": 256}, "crop": {"width": 224, "height": 224}, **UNIT}
# network: preprocessing, what is tested, what calibrates (None: every 16th of the tested, which are not tested then)
NETWORKS = {
    "squeezenet11": (IMAGENET, "imagenet_val500", "imagenet_calib200"),
    "mobilenetv2": (IMAGENET, "imagenet_val500", "imagenet_calib200"),
    "mobilenetv1_025_128": ({"resize": {"mode": "shorter", "size": 146}, "crop": {"width": 128, "height": 128}, "mean": 127.5,
                             "std": 127.5}, "imagenet_val500", "imagenet_calib200"),
    "resnet20_cifar10": (UNIT, "cifar10_jpg2000", None),
    "ic_resnet8": ({}, "cifar10_jpg2000", None),
}
CALIBRATION, NTH = 128, 16
WAYS = ["--precision int8", "--precision int8 --scale max", "--precision fp8=auto"]


def read(path, how, layout):
    """An image as the model's input, as relayc reads it (docs/guide/calibration.md)."""
    image = Image.open(path).convert("RGB")
    if "resize" in how:
        w, h = image.size
        scale = how["resize"]["size"] / min(w, h)
        image = image.resize((round(w * scale), round(h * scale)), Image.Resampling.BILINEAR)
        w, h, crop = *image.size, how["crop"]
        left, top = (w - crop["width"]) // 2, (h - crop["height"]) // 2
        image = image.crop((left, top, left + crop["width"], top + crop["height"]))
    x = np.asarray(image, np.float32) * np.float32(how.get("scale", 1))
    x = (x - np.float32(how.get("mean", 0))) / np.float32(how.get("std", 1))
    return x if layout == "NHWC" else x.transpose(2, 0, 1)


class Reader(CalibrationDataReader):
    def __init__(self, name, samples):
        self.name, self.samples = name, iter(samples)

    def get_next(self):
        x = next(self.samples, None)
        return None if x is None else {self.name: x[None]}


def session(model):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])


def answers_of_onnxruntime(model, images):
    run = session(model)
    name = run.get_inputs()[0].name
    return np.array([int(np.argmax(run.run(None, {name: x[None]})[0])) for x in images])


def minmax(model, calibration, folder):
    prepared, written = folder / "prepared.onnx", folder / "quantised.onnx"
    quant_pre_process(str(model), str(prepared), skip_symbolic_shape=True)
    name = session(prepared).get_inputs()[0].name
    quantize_static(str(prepared), str(written), Reader(name, calibration), quant_format=QuantFormat.QDQ, per_channel=True,
                    activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8,
                    calibrate_method=CalibrationMethod.MinMax)  # fmt: skip
    return written


def answers_of_relayc(model, words, calibration, images, folder):
    folder = Path(tempfile.mkdtemp(dir=folder))
    np.save(folder / "x.npy", calibration)
    subprocess.run([BUILD / "relayc", "compile", model, *words.split(), "--data", folder / "x.npy", "--target", "host",
                    "--name", "net", "-q", "-o", folder], check=True)  # fmt: skip
    info = json.loads((folder / "net.json").read_text())
    subprocess.run(["gcc", "-O2", "-march=native", "-shared", "-fPIC", "-w", "-o", folder / "net.so",
                    *sorted(folder.glob("*.c")), "-lm"], check=True)  # fmt: skip
    run = ctypes.CDLL(str(folder / "net.so")).net_run
    arena = np.zeros(info["arena"]["bytes"] + 64, np.uint8)
    arena = arena[-arena.ctypes.data % 64:]
    y = np.zeros(1001, np.float32)
    found = []
    for x in images:
        x = np.ascontiguousarray(x)
        if run(*(ctypes.c_void_p(a.ctypes.data) for a in (x, y, arena))) != 0:
            sys.exit(f"{model}: the generated C refuses to run")
        found.append(int(np.argmax(y)))
    return np.array(found)


def p_of(lost, won):
    """McNemar's exact test."""
    n, k = lost + won, min(lost, won)
    return min(1.0, 2 * sum(math.comb(n, i) for i in range(k + 1)) / 2**n)


def change(now, before, labels):
    lost, won = int(((before == labels) & (now != labels)).sum()), int(((now == labels) & (before != labels)).sum())
    n = len(labels)
    d = (won - lost) / n
    return (f"{100 * d:+.2f} ± {100 * math.sqrt(max(0, (lost + won) / n - d * d) / n):.2f}", f"{lost} / {won}",
            f"{p_of(lost, won):.2g}")


def row(name, answers, f32, other, labels):
    right = 100 * (answers == labels).mean()
    beside = change(answers, other, labels) if other is not None else ("", "", "")
    agree = 100 * (answers == f32).mean()
    print(f"| {name} | {right:.2f} | {' | '.join(change(answers, f32, labels))} | {agree:.2f} | {beside[0]} | {beside[2]} |",
          flush=True)


def measure(network, folder):
    how, tested, calibrates = NETWORKS[network]
    model, data = SHARED / "models" / network / "model.onnx", SHARED / "data"
    lines = [line.split() for line in (data / tested / "labels.txt").read_text().splitlines()]
    shape = session(model).get_inputs()[0].shape
    layout = "NHWC" if shape[-1] == 3 else "NCHW"
    classes = {name: i for i, name in enumerate((data / tested / "classes.txt").read_text().split())} \
        if (data / tested / "classes.txt").exists() else {}  # fmt: skip
    rows = sorted((file, int(classes.get(label, label))) for file, label in lines)
    if calibrates:
        names = sorted(f for f in os.listdir(data / calibrates) if f.lower().endswith((".jpg", ".jpeg", ".png")))
        calibration = np.stack([read(data / calibrates / f, how, layout) for f in names[:CALIBRATION]])
    else:
        calibration = np.stack([read(data / tested / f, how, layout) for f, _ in rows[::NTH]])
        rows = [r for i, r in enumerate(rows) if i % NTH]
    images = [read(data / tested / f, how, layout) for f, _ in rows]
    labels = np.array([label for _, label in rows])
    f32 = answers_of_onnxruntime(model, images)
    if network.startswith("mobilenetv1") and (f32 == labels).mean() < 0.01:
        labels = labels + 1  # class 0 is the background
    print(f"\n{network}: {len(labels)} images of {tested}, {len(calibration)} others calibrate\n\n"
          "| | top-1 % | against f32 | lost / won | p | agree % | against minmax | p |\n|---|---|---|---|---|---|---|---|")
    row("f32, ONNX Runtime", f32, f32, None, labels)
    other = answers_of_onnxruntime(minmax(model, calibration, folder), images)
    row("int8, ONNX Runtime, minmax", other, f32, None, labels)
    for words in WAYS:
        row(f"`{words}`, relayc", answers_of_relayc(model, words, calibration, images, folder), f32, other, labels)


def main():
    logging.disable(logging.WARNING)
    for network in sys.argv[1:] or NETWORKS:
        with tempfile.TemporaryDirectory() as folder:
            measure(network, Path(folder))


if __name__ == "__main__":
    main()
