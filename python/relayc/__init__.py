"""relayc: from a trained network to C files.

    import relayc

    compiled = relayc.compile("kws.onnx", precision="int8", calibration=samples)
    scores = compiled.run(features=x)["scores"]  # the C, built here
    compiled.save("firmware/gen")

`relayc.torch` takes PyTorch modules; `relayc.backend` is ONNX's backend interface, and needs the package onnx."""

from typing import Any

from . import torch
from ._compiled import Compiled, Memory, compile
from ._errors import BuildError, CompileError, Diagnostic, FileError, RelaycError, RunError, UsageError
from ._library import Option, explain, options, version
from ._program import Choice, Found, Quantized, choose, evaluate, program, quantize, search, verify
from ._run import Tensor

__version__ = version()

__all__ = [
    "BuildError",
    "Choice",
    "CompileError",
    "Compiled",
    "Diagnostic",
    "FileError",
    "Found",
    "Memory",
    "Option",
    "Quantized",
    "RelaycError",
    "RunError",
    "Tensor",
    "UsageError",
    "choose",
    "compile",
    "evaluate",
    "explain",
    "options",
    "program",
    "quantize",
    "search",
    "torch",
    "verify",
    "version",
]


def __getattr__(name: str) -> Any:
    """relayc.backend is imported when it is first asked for: it needs onnx."""
    if name == "backend":
        from importlib import import_module

        return import_module(".backend", __name__)
    raise AttributeError(f"module 'relayc' has no attribute '{name}'")
