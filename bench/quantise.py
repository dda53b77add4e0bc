#!/usr/bin/env python3
"""Writes a network as ONNX Runtime's quantize_static makes it of one in f32, for the benches: QDQ, u8 activations, i8
weights with a scale for each channel, calibrated on noise (how good its answers are is no matter here).

    bench/quantise.py MODEL.onnx QUANTISED.onnx
"""
import logging
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnxruntime
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

SAMPLES = 4


class Noise(CalibrationDataReader):
    def __init__(self, model):
        session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
        random = np.random.default_rng(1)
        self.samples = iter([{x.name: random.uniform(-1, 1, [d if isinstance(d, int) else 1 for d in x.shape]).astype("f")
                              for x in session.get_inputs()} for _ in range(SAMPLES)])  # fmt: skip

    def get_next(self):
        return next(self.samples, None)


def main():
    model, quantised = sys.argv[1:]
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as folder:
        prepared, written = Path(folder) / "prepared.onnx", Path(folder) / "quantised.onnx"
        quant_pre_process(model, str(prepared), skip_symbolic_shape=True)
        quantize_static(str(prepared), str(written), Noise(model), quant_format=QuantFormat.QDQ, per_channel=True,
                        activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8)  # fmt: skip
        Path(quantised).write_bytes(written.read_bytes())


if __name__ == "__main__":
    main()
