"""What the samples.py of the examples share: samples, labels and the reference's results as files for samples.S."""
import os
import pathlib
import sys

import numpy


def shared():
    """Folder of the models and data that are too large, or not ours, to be part of the tree."""
    return pathlib.Path(os.environ.get("RELAYC_SHARED", "../shared"))


def write(folder, samples, labels, results):
    """samples and results: one array of the C's type for each label."""
    folder = pathlib.Path(folder)
    for name, arrays in (("samples", samples), ("results", results)):
        (folder / f"{name}.bin").write_bytes(b"".join(numpy.ascontiguousarray(a).tobytes() for a in arrays))
    (folder / "labels.bin").write_bytes(bytes(int(label) for label in labels))


def tflm(model, samples):
    """What TensorFlow Lite Micro computes of each sample."""
    try:
        from tflite_micro import runtime
    except ImportError:
        print("SKIPPED: no tflite-micro in this Python (make deps): there is no reference", file=sys.stderr)
        sys.exit(77)
    interpreter = runtime.Interpreter.from_file(str(model), arena_size=1 << 20)
    results = []
    for sample in samples:
        interpreter.set_input(sample, 0)
        interpreter.invoke()
        results.append(interpreter.get_output(0).copy())
    return results


def onnxruntime(model, samples):
    """What ONNX Runtime computes of each sample: the arrays of all outputs."""
    try:
        import onnxruntime as ort
    except ImportError:
        print("SKIPPED: no onnxruntime in this Python (make deps): there is no reference", file=sys.stderr)
        sys.exit(77)
    session = ort.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    return [session.run(None, {name: sample}) for sample in samples]


def spread(everything, count):
    """`count` elements, evenly spread; all of them with 0."""
    everything = list(everything)
    if not 0 < count < len(everything):
        return everything
    return [everything[i * len(everything) // count] for i in range(count)]
