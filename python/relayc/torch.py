"""PyTorch modules, exported to ONNX by torch.onnx."""

from __future__ import annotations

import importlib
import inspect
import tempfile
from pathlib import Path
from typing import Any, Optional

from ._compiled import Compiled
from ._compiled import compile as compile_model
from ._errors import RelaycError, UsageError
from ._models import identifier


def export(module: Any, example: Any, folder: Path, *, exporter: str = "auto", opset: Optional[int] = None) -> Path:
    """The module as an .onnx file in `folder`.

    example   a tensor, a tuple of tensors, or a dict of tensors by the names of forward()'s arguments
    exporter  "dynamo", "torchscript", or "auto": torch's default; if that fails, TorchScript's"""
    try:
        torch: Any = importlib.import_module("torch")
    except ImportError:
        raise RelaycError("relayc.torch needs the package torch: pip install torch") from None
    if example is None:
        raise UsageError("a torch.nn.Module needs example=...: a tensor, a tuple or a dict of tensors for forward()")
    if exporter not in ("auto", "dynamo", "torchscript"):
        raise UsageError(f"exporter: found {exporter!r}, expected 'auto', 'dynamo' or 'torchscript'")
    path = folder / f"{identifier(type(module).__name__, 'model').lower()}.onnx"
    names = list(inspect.signature(module.forward).parameters)
    if isinstance(example, dict):
        arguments, keywords, inputs = (), dict(example), list(example)
    else:
        arguments = tuple(example) if isinstance(example, (tuple, list)) else (example,)
        keywords, inputs = {}, names[: len(arguments)]
    settings: dict[str, Any] = {"input_names": inputs, "kwargs": keywords or None, "verbose": False}
    if opset is not None:
        settings["opset_version"] = opset
    if isinstance(module, torch.fx.GraphModule):  # exported, as PT2E quantises them: its mode is fixed
        _export(torch, module, arguments, path, exporter, settings)
        return path
    was_training = bool(module.training)
    module.eval()
    try:
        _export(torch, module, arguments, path, exporter, settings)
    finally:
        module.train(was_training)
    return path


def _export(torch: Any, module: Any, arguments: tuple[Any, ...], path: Path, exporter: str,
            settings: dict[str, Any]) -> None:
    ways = {"dynamo": [{"dynamo": True}], "torchscript": [{"dynamo": False}], "auto": [{}, {"dynamo": False}]}[exporter]
    problems: list[str] = []
    for way in ways:
        try:
            with torch.no_grad():
                torch.onnx.export(module, arguments, str(path), **settings, **way)
            return
        except Exception as problem:  # whatever an exporter raises is the user's to read
            problems.append(f"{way or 'default'}: {type(problem).__name__}: {problem}")
    raise RelaycError("torch.onnx.export failed: " + "\n".join(problems))


def compile(module: Any, example: Any, *, exporter: str = "auto", opset: Optional[int] = None,
            **options: Any) -> Compiled:
    """Exports a torch.nn.Module (in eval mode) and compiles it; options are those of relayc.compile()."""
    with tempfile.TemporaryDirectory(prefix="relayc-") as work:
        return compile_model(export(module, example, Path(work), exporter=exporter, opset=opset), **options)
