"""Asks TensorFlow Lite Micro (PyPI: tflite-micro) for the outputs of networks.py, LiteRT's reference kernels (ai-edge-litert)
for what it refuses, and writes outputs.json.

    python3 -m venv V && V/bin/pip install tflite-micro ai-edge-litert flatbuffers numpy && V/bin/python tests/tflite/record.py"""
import json
from pathlib import Path

import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType
from formats import BY_LITERT as FORMATS_BY_LITERT
from networks import STEPS, TWINS, networks
from operators import BY_LITERT
from tflite_micro.python.tflite_micro import runtime


def micro(content, arrays, n_outputs):
    """For each step its outputs."""
    interpreter = runtime.Interpreter.from_bytes(content, arena_size=1 << 20)
    for step in range(STEPS):
        for i, array in enumerate(arrays):
            interpreter.set_input(array[step], i)
        interpreter.invoke()
        yield [np.array(interpreter.get_output(i)) for i in range(n_outputs)]


def litert(content, arrays, n_outputs):
    interpreter = Interpreter(model_content=content, experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
    interpreter.allocate_tensors()
    inputs, outputs = interpreter.get_input_details(), interpreter.get_output_details()
    for step in range(STEPS):
        for i, array in enumerate(arrays):
            interpreter.set_tensor(inputs[i]["index"], array[step])
        interpreter.invoke()
        yield [interpreter.get_tensor(outputs[i]["index"]) for i in range(n_outputs)]


recorded = {}
for name, net in networks().items():
    judge = litert if name in BY_LITERT | FORMATS_BY_LITERT else micro
    steps = list(judge(TWINS.get(name, net).bytes(), net.data(), len(net.outputs)))
    recorded[name] = [b"".join(step[i].tobytes() for step in steps).hex() for i in range(len(net.outputs))]
(Path(__file__).parent / "outputs.json").write_text(json.dumps(recorded, indent=0) + "\n")
