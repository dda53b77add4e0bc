"""What compile() and the other functions take for a model or for data, as files."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import Any, Mapping, Union

import numpy as np

from ._errors import UsageError

#: A path, bytes of an .onnx file, an onnx.ModelProto or a torch.nn.Module.
Model = Union[str, "os.PathLike[str]", bytes, Any]

#: Samples: a path, an array of stacked samples, or one such array per input.
Data = Union[str, "os.PathLike[str]", "np.ndarray[Any, Any]", Mapping[str, "np.ndarray[Any, Any]"]]

class Folder:
    """A temporary folder that goes with this object, or with the process."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="relayc-"))
        self._end = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


_MAX_PROTO = 2**31 - 2**20  # protobuf's limit, less what wraps the weights


def _is_torch_module(model: Any) -> bool:
    return any(f"{kind.__module__}.{kind.__name__}" == "torch.nn.modules.module.Module" for kind in type(model).__mro__)


def identifier(text: str, otherwise: str) -> str:
    """The text as a C identifier."""
    name = re.sub(r"\W+", "_", text, flags=re.ASCII).strip("_")
    return name if name and not name[0].isdigit() else otherwise


def _save_proto(model: Any, folder: Path) -> Path:
    path = folder / f"{identifier(model.graph.name, 'model')}.onnx"
    if model.ByteSize() < _MAX_PROTO:
        path.write_bytes(model.SerializeToString())
        return path
    import onnx

    onnx.save_model(model, str(path), save_as_external_data=True, location=path.name + ".data")
    return path


def model_file(model: Model, folder: Path, example: Any = None) -> Path:
    """The model as a file; one that is none yet is written into `folder`."""
    if isinstance(model, (str, os.PathLike)):
        return Path(model)
    if isinstance(model, (bytes, bytearray, memoryview)):
        path = folder / "model.onnx"
        path.write_bytes(model)
        return path
    if hasattr(model, "SerializeToString") and hasattr(model, "graph"):
        return _save_proto(model, folder)
    if _is_torch_module(model):
        from . import torch

        return torch.export(model, example, folder)
    raise UsageError(
        f"model: found {type(model).__module__}.{type(model).__qualname__}, expected a path, bytes, "
        "an onnx.ModelProto or a torch.nn.Module"
    )


def data_file(data: Data, folder: Path, name: str) -> Path:
    """Samples as a file or folder that --data takes."""
    if isinstance(data, (str, os.PathLike)):
        return Path(data)
    if isinstance(data, Mapping):
        path = folder / f"{name}.npz"
        arrays = {key: np.asarray(value) for key, value in data.items()}
        np.savez(path, **arrays)  # type: ignore[arg-type, unused-ignore]
        return path
    if hasattr(data, "__array__"):
        path = folder / f"{name}.npy"
        np.save(path, np.asarray(data))
        return path
    raise UsageError(f"{name}: found {type(data).__name__}, expected a path, an array or a dict of arrays")


def calibration_options(calibration: Data, folder: Path) -> dict[str, str]:
    """A table of `relayc calibrate` (.json) is --calib, all else --data."""
    if isinstance(calibration, (str, os.PathLike)) and Path(calibration).suffix == ".json":
        return {"calib": os.fspath(calibration)}
    return {"data": os.fspath(data_file(calibration, folder, "calibration"))}
