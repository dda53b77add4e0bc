"""relayc run --dequantize against the outputs of TensorFlow Lite Micro for networks of one operator (tests/tflite): the float
result, quantised with the scale of the file, differs from the recorded value by at most one step.

    dequantize.py RELAYC WORK MADE"""
import subprocess
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tflite"))
from networks import networks  # noqa: E402

NAMES = """conv_same conv_stride conv_valid_relu6 conv_1x1_one_scale conv_dilated conv_groups conv_no_bias depthwise
    depthwise_stride depthwise_multiplier depthwise_from_one average average_same maximum dense dense_relu dense_keeps_dims
    dense_no_bias dense_fine add add_channels sub mul mul_number softmax logistic quantize tanh relu leaky_relu
    transpose pad concatenation transposed transposed_valid mean mean_scaled slice split pack old nibble""".split()
# Outputs that depend on values that saturated.
CUT_OFF = {"old": (1, 2, 3, 4)}


def numbers(codes, tensor):
    return ((codes.astype(np.float64) - tensor["zero"]) * tensor["scale"][0]).astype(np.float32) if tensor["scale"] else codes


def check(relayc, work, made, name, net):
    inputs = {f"t{i}": np.load(made / name / f"input_{k}.npy") for k, i in enumerate(net.inputs)}
    wanted = [np.load(made / name / f"output_{k}.npy") for k in range(len(net.outputs))]
    for step in range(2):
        given, found = work / "given.npz", work / "found.npz"
        np.savez(given, **{key: numbers(a[step], net.tensors[int(key[1:])]) for key, a in inputs.items()})
        done = subprocess.run([relayc, "run", "-q", made / name / "model.tflite", "--dequantize", "--with", "generated", "-i", given,
                               "-o", found], capture_output=True, text=True, check=False)
        if done.returncode:
            return done.stderr[:400]
        results = np.load(found)
        if len(results.files) != len(wanted):
            return f"{len(results.files)} results, expected {len(wanted)}"
        for k, (key, want, i) in enumerate(zip(results.files, wanted, net.outputs)):
            tensor, y = net.tensors[i], results[key]
            if not tensor["scale"] or k in CUT_OFF.get(name, ()):
                continue
            info = np.iinfo(tensor["dtype"])
            codes = np.clip(np.round(y.astype(np.float64) / tensor["scale"][0]) + tensor["zero"], info.min, info.max)
            off = np.abs(codes - want[step].astype(np.float64))
            if y.dtype != np.float32 or off.max() > 1:
                return f"{key} of step {step}: {y.dtype}, {int((off > 1).sum())} of {off.size} off, by up to {off.max():.0f} steps"
    return None


def main():
    relayc, work, made = Path(sys.argv[1]).resolve(), Path(sys.argv[2]), Path(sys.argv[3])
    table, failed = networks(), 0
    for name in NAMES:
        problem = check(relayc, work, made, name, table[name])
        if problem:
            failed += 1
            print(f"FAILED {name}: {problem}")
    print(f"--dequantize: {len(NAMES)} networks, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
