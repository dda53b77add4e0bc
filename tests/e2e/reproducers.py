"""Folders like those of the shared models (model.onnx, model.json, io/, io2/) for networks that relayc once got wrong in
silence, with inputs made up here and outputs of ONNX Runtime without optimisations.

    reproducers.py FOLDER MODEL.onnx..."""
import json
import pathlib
import shutil
import sys

import numpy as np
import onnx
import onnxruntime


def main(folder, *models):
    onnxruntime.set_default_logger_severity(3)
    for model in map(pathlib.Path, models):
        to = pathlib.Path(folder) / model.stem
        to.mkdir(parents=True)
        shutil.copy(model, to / "model.onnx")
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        random = np.random.default_rng(1)
        for io in ("io", "io2"):
            given = {i.name: random.uniform(-1.5, 2, i.shape).astype(np.float32) for i in session.get_inputs()}
            (to / io).mkdir()
            for i, array in enumerate(given.values()):
                np.save(to / io / f"input_{i}.npy", array)
            for i, array in enumerate(session.run(None, given)):
                assert np.isfinite(array).all() and array.std() > 0, model
                np.save(to / io / f"output_{i}.npy", array)
        about = {
            "macs": 0,  # few
            "inputs": [{"name": i.name, "shape": i.shape} for i in session.get_inputs()],
            "ops": sorted({node.op_type for node in onnx.load(model).graph.node}),
        }
        (to / "model.json").write_text(json.dumps(about))


main(*sys.argv[1:])
