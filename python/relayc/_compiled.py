"""compile() and what it returns."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Mapping, Optional, Sequence, Union

import numpy as np

from ._diff import difference
from ._errors import Diagnostic, UsageError
from ._library import Context
from ._models import Data, Folder, Model, calibration_options, model_file
from ._run import Executable, Tensor


@dataclass(frozen=True)
class Memory:
    """Bytes that the generated C needs; stack and code come on top."""

    arena_bytes: int  # RAM; the macro NAME_ARENA_BYTES
    arena_align: int
    arena_lower_bound: int
    weight_bytes: int  # flash
    pools: Mapping[str, int]  # bytes of each pool of --pool


class Compiled:
    """The C files of a model, which can also be run on this machine."""

    def __init__(self, files: Sequence[Path], keep: Optional[Folder],
                 diagnostics: Sequence[Diagnostic]) -> None:
        self._files = tuple(files)
        self._keep = keep  # the folder goes with this object
        self.diagnostics = tuple(diagnostics)  # warnings

    @property
    def files(self) -> tuple[Path, ...]:
        """NAME.h, NAME.c, weights and NAME.json."""
        return self._files

    @cached_property
    def report(self) -> dict[str, Any]:
        """The facts of NAME.json: regions, kernels, weights, the map of the arena."""
        for path in self._files:
            if path.suffix == ".json" and not path.name.endswith(".graph.json"):
                found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
                return found
        raise UsageError("nothing but the graph was written (emit='json'): there is no report, and no C to run")

    @property
    def name(self) -> str:
        return str(self.report["name"])

    @property
    def memory(self) -> Memory:
        arena = self.report["arena"]
        return Memory(
            arena_bytes=arena["bytes"],
            arena_align=arena["align"],
            arena_lower_bound=arena["lower_bound"],
            weight_bytes=self.report["weight_bytes"],
            pools={pool["name"]: pool["bytes"] for pool in arena.get("pools", [])},
        )

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        return tuple(Tensor.of(row) for row in self.report["inputs"])

    @property
    def outputs(self) -> tuple[Tensor, ...]:
        return tuple(Tensor.of(row) for row in self.report["outputs"])

    def save(self, folder: Union[str, "os.PathLike[str]"]) -> tuple[Path, ...]:
        """Copies the files; returns their new paths."""
        target = Path(folder)
        target.mkdir(parents=True, exist_ok=True)
        return tuple(Path(shutil.copy2(path, target / path.name)) for path in self._files)

    def build(self, *, cc: Optional[str] = None, cflags: str = "-O2", libs: Sequence[str] = ()) -> Executable:
        """Builds the C with the host's compiler ($CC, else cc); run() does it by itself."""
        self._executable = Executable(self.report, self._files, cc=cc, cflags=cflags, libs=libs)
        return self._executable

    _executable: Optional[Executable] = None

    def run(self, *positional: Any, out: Optional[Mapping[str, Any]] = None,
            **arrays: Any) -> dict[str, np.ndarray[Any, Any]]:
        """Runs the C: inputs by name (of the model, or as in NAME.h) or in graph order, outputs by name.

        Arrays are passed as they are, without a copy. `out` has arrays to write outputs to."""
        return (self._executable or self.build()).run(positional, arrays, out)

    def reset(self) -> None:
        """Begins a new sequence of a streaming network: what this thread's runs have kept is forgotten."""
        (self._executable or self.build()).reset()

    def __call__(self, *positional: Any, **arrays: Any) -> Any:
        """run(), with the outputs alone: an array, or a tuple of arrays in graph order."""
        results = tuple(self.run(*positional, **arrays).values())
        return results[0] if len(results) == 1 else results

    def diff(self, other: Compiled) -> str:
        """What `other` changes: sizes, regions, weights. Empty if nothing."""
        return difference(self.report, other.report)

    def __repr__(self) -> str:
        memory = self.memory
        return (f"<relayc.Compiled {self.name}: {len(self.report['regions'])} regions, "
                f"arena {memory.arena_bytes} bytes, weights {memory.weight_bytes} bytes>")


def compile(model: Model, *, example: Any = None, precision: Optional[str] = None,
            calibration: Optional[Data] = None, target: Optional[str] = None,
            **options: Any) -> Compiled:
    """Compiles a model to C.

    model        a path, bytes, an onnx.ModelProto, or a torch.nn.Module with its `example` inputs
    precision    "f32" (default), "int8", "fp8" ...
    calibration  samples for quantisation: an array of stacked samples, a dict of such arrays, a path
                 as --data takes it, or the path of a table of `relayc calibrate` (.json)
    target       CPU of the generated C: "cortex-m4", "host" ...
    options      any option of `relayc compile`, with underscores: ram="64K", step=True,
                 shape={"x": (1, 3, 224, 224)}; a list repeats an option. relayc.options() lists them.

    The files lie in a temporary folder, which goes with the result, unless output_dir says otherwise."""
    with tempfile.TemporaryDirectory(prefix="relayc-") as work:
        given = dict(options, precision=precision, target=target)
        path = model_file(model, Path(work), example)
        if calibration is not None:
            for name, value in calibration_options(calibration, Path(work)).items():
                if given.get(name) is not None:
                    raise UsageError(f"calibration and {name} were both given: they mean the same")
                given[name] = value
        keep = None
        if given.get("output_dir") is None:
            keep = Folder()
            given["output_dir"] = keep.path
        with Context() as context:
            context.set(given)
            return Compiled(context.compile(path), keep, context.diagnostics())
