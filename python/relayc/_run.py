"""Generated C as a shared object of this machine, called with NumPy's arrays."""

from __future__ import annotations

import ctypes
import os
import shlex
import shutil
import subprocess
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Mapping, Optional, Sequence

import numpy as np

from ._errors import BuildError, RunError, UsageError
from ._models import Folder

# What ml_dtypes has under another name; types that neither has are passed as their bits.
_NUMPY = {"f16": "float16", "f32": "float32", "f64": "float64", "bool": "bool"}
_ML_DTYPES = {
    "bf16": "bfloat16",
    "f4e2m1": "float4_e2m1fn",
    "f6e2m3": "float6_e2m3fn",
    "f6e3m2": "float6_e3m2fn",
    "f8e3m4": "float8_e3m4",
    "f8e4m3": "float8_e4m3fn",
    "f8e4m3fnuz": "float8_e4m3fnuz",
    "f8e5m2": "float8_e5m2",
    "f8e5m2fnuz": "float8_e5m2fnuz",
    "f8e8m0": "float8_e8m0fnu",
    "i2": "int2",
    "i4": "int4",
    "u2": "uint2",
    "u4": "uint4",
}


def numpy_dtype(name: str) -> np.dtype[Any]:
    """NumPy's type for an element type of the C, which has the same size."""
    if name in _NUMPY:
        return np.dtype(_NUMPY[name])
    if name in _ML_DTYPES:
        try:
            import ml_dtypes

            return np.dtype(getattr(ml_dtypes, _ML_DTYPES[name]))
        except (ImportError, AttributeError):
            return np.dtype({"bf16": "uint16", "i2": "int8", "i4": "int8"}.get(name, "uint8"))
    if name[0] in "iu" and name[1:].isdigit():
        return np.dtype(f"{name[0]}{int(name[1:]) // 8}")
    return np.dtype("uint8")


@dataclass(frozen=True)
class Tensor:
    """An input or output of the C."""

    name: str  # in the model
    parameter: str  # in NAME.h
    dtype: str  # "f32", "i8" ...
    shape: tuple[int, ...]
    offset: Optional[int] = None  # with io_in_arena: where it lies
    pool: Optional[str] = None

    @staticmethod
    def of(row: Mapping[str, Any]) -> Tensor:
        return Tensor(row["name"], row["parameter"], row["dtype"], tuple(row["shape"]), row.get("offset"),
                      row.get("arena"))

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        return numpy_dtype(self.dtype)


class Executable:
    """The C of a folder, built and loaded. Threads may run it at the same time: each has an arena of its own."""

    def __init__(self, report: Mapping[str, Any], files: Sequence[Path], *, cc: Optional[str] = None,
                 cflags: str = "-O2", libs: Sequence[str] = ()) -> None:
        if report.get("sizes"):
            raise UsageError("Python does not run networks whose sizes are known at run time only (vary): call the C, or "
                             "compile with shape")
        self.inputs = tuple(Tensor.of(row) for row in report["inputs"])
        self.outputs = tuple(Tensor.of(row) for row in report["outputs"])
        self._name = str(report["name"])
        self._align = int(report["arena"]["align"])
        self._in_arena = any(t.offset is not None for t in self.inputs + self.outputs)
        pools = [p for p in report["arena"].get("pools", []) if p.get("has_arena")]
        self._pools = {"arena_" + p["name"]: int(p["bytes"]) for p in pools} or {
            "arena": int(report["arena"]["bytes"])
        }
        self._state_bytes = int(report.get("state", {}).get("bytes", 0))
        self._local = threading.local()
        self._folder = Folder()
        self._function = self._load(files, cc or os.environ.get("CC") or "cc", cflags, libs)

    # --- building ---------------------------------------------------------------------------------

    def _adapter(self) -> str:
        """C that calls NAME_run with arrays of pointers, so that one type of function serves all models."""
        given = [] if self._in_arena else [f"in[{i}]" for i in range(len(self.inputs))]
        given += [] if self._in_arena else [f"out[{i}]" for i in range(len(self.outputs))]
        given += [f"pool[{len(self._pools)}]"] if self._state_bytes else []
        given += [f"pool[{i}]" for i in range(len(self._pools))]
        reset = f"{self._name}_reset(state)" if self._state_bytes else "(void)state"
        return (
            f'#include "{self._name}.h"\n\n'
            "int relayc_python_run(const void *const *in, void *const *out, void *const *pool);\n\n"
            "int relayc_python_run(const void *const *in, void *const *out, void *const *pool)\n{\n"
            "    (void)in, (void)out, (void)pool;\n"
            f"    return {self._name}_run({', '.join(given)});\n}}\n\n"
            f"void relayc_python_reset(void *state);\n\nvoid relayc_python_reset(void *state)\n{{\n    {reset};\n}}\n"
        )

    def _load(self, files: Sequence[Path], cc: str, cflags: str, libs: Sequence[str]) -> Any:
        folder = self._folder.path
        adapter, built = folder / "relayc_python.c", folder / "model.so"
        adapter.write_text(self._adapter(), encoding="utf-8")
        words = shlex.split(cc)
        if not words or not shutil.which(words[0]):
            raise BuildError(f"no C compiler '{cc}' to run the model with: install one, or set CC or build(cc=...)")
        command = [*words, "-shared", "-fPIC", *shlex.split(cflags), f"-I{files[0].parent}", "-o", str(built)]
        command += [str(adapter), *(str(path) for path in files if path.suffix == ".c"), *libs, "-lm"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if done.returncode:
            said = "\n".join(done.stdout.decode("utf-8", "replace").splitlines()[:20])
            raise BuildError(f"{shlex.join(command)}\nfailed with code {done.returncode}:\n{said}")
        library = ctypes.CDLL(str(built))
        self._reset = library.relayc_python_reset
        self._reset.restype, self._reset.argtypes = None, [ctypes.c_void_p]
        function = library.relayc_python_run
        function.restype, function.argtypes = ctypes.c_int, [ctypes.c_void_p] * 3
        return function

    # --- running ----------------------------------------------------------------------------------

    def _memory(self) -> dict[str, np.ndarray[Any, Any]]:
        """This thread's pools, aligned."""
        if not hasattr(self._local, "pools"):
            pools: dict[str, np.ndarray[Any, Any]] = {}
            for name, size in self._pools.items():
                room = np.empty(size + self._align, np.uint8)
                first = -room.ctypes.data % self._align
                pools[name] = room[first : first + size]
            self._local.pools = pools
        return self._local.pools  # type: ignore[no-any-return]

    def _state(self) -> np.ndarray[Any, Any]:
        """What the network keeps of this thread's runs: 64-bit words, for their alignment."""
        if not hasattr(self._local, "state"):
            self._local.state = np.zeros(self._state_bytes // 8 + 1, np.int64)
            self._reset(self._local.state.ctypes.data)
        return self._local.state  # type: ignore[no-any-return]

    def reset(self) -> None:
        """Begins a new sequence: the next run of this thread is the first one of a streaming network."""
        self._reset(self._state().ctypes.data)

    def _by_name(self, positional: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
        """One value per input, in graph order."""
        if len(positional) == 1 and isinstance(positional[0], Mapping):
            return self._by_name((), {**positional[0], **named})
        expected = ", ".join(f"{t.name} ({t.dtype} {list(t.shape)})" for t in self.inputs) or "none"
        if len(positional) > len(self.inputs):
            raise UsageError(f"{len(positional)} inputs were given; the model takes {expected}")
        found = dict(zip((t.name for t in self.inputs), positional))
        names = {t.parameter: t.name for t in self.inputs} | {t.name: t.name for t in self.inputs}
        for key, value in named.items():
            if key not in names:
                raise UsageError(f"there is no input '{key}'; the model takes {expected}")
            if names[key] in found:
                raise UsageError(f"input '{key}' was given twice")
            found[names[key]] = value
        missing = [t.name for t in self.inputs if t.name not in found]
        if missing:
            raise UsageError(f"no value for {', '.join(missing)}; the model takes {expected}")
        return [found[t.name] for t in self.inputs]

    @staticmethod
    def _checked(tensor: Tensor, value: Any, role: str) -> np.ndarray[Any, Any]:
        """The value as an array that C can read in place; numbers and lists take the tensor's type."""
        dtype = tensor.numpy_dtype
        array = value if isinstance(value, np.ndarray) else (
            np.asarray(value) if hasattr(value, "__array__") else np.asarray(value, dtype))
        if array.dtype != dtype:
            raise UsageError(f"{role} '{tensor.name}': found {array.dtype}, expected {dtype}; "
                             f"convert it: array.astype('{dtype}')")
        if array.shape != tensor.shape:
            raise UsageError(f"{role} '{tensor.name}': found shape {list(array.shape)}, "
                             f"expected {list(tensor.shape)}")
        return array

    def _results(self, out: Optional[Mapping[str, Any]]) -> list[np.ndarray[Any, Any]]:
        given = dict(out or {})
        results: list[np.ndarray[Any, Any]] = []
        for tensor in self.outputs:
            array = given.pop(tensor.name, None)
            if array is None:
                results.append(np.empty(tensor.shape, tensor.numpy_dtype))
                continue
            array = self._checked(tensor, array, "output")
            if not (array.flags.c_contiguous and array.flags.writeable and array.flags.aligned):
                raise UsageError(f"output '{tensor.name}': the array must be contiguous, aligned and writable")
            results.append(array)
        if given:
            raise UsageError(f"there is no output '{next(iter(given))}'; "
                             f"there are {', '.join(t.name for t in self.outputs)}")
        return results

    @staticmethod
    def _pointers(arrays: Sequence[np.ndarray[Any, Any]]) -> Any:
        return (ctypes.c_void_p * max(len(arrays), 1))(*(a.ctypes.data for a in arrays))

    def run(self, positional: Sequence[Any], named: Mapping[str, Any],
            out: Optional[Mapping[str, Any]] = None) -> dict[str, np.ndarray[Any, Any]]:
        given = self._by_name(positional, named)
        inputs = [np.require(self._checked(t, v, "input"), requirements=["C", "A"]) for t, v in zip(self.inputs, given)]
        results, pools = self._results(out), self._memory()
        if self._in_arena:
            for tensor, array in zip(self.inputs, inputs):
                self._place(pools, tensor)[:] = array.reshape(-1).view(np.uint8)
        memory = [*pools.values(), self._state()]
        code = self._function(self._pointers(inputs), self._pointers(results), self._pointers(memory))
        if code:
            raise RunError(f"{self._name}_run returned {code}; {self._name}.h says what it means")
        if self._in_arena:
            for tensor, array in zip(self.outputs, results):
                array.reshape(-1).view(np.uint8)[:] = self._place(pools, tensor)
        return {tensor.name: array for tensor, array in zip(self.outputs, results)}

    @staticmethod
    def _place(pools: Mapping[str, np.ndarray[Any, Any]], tensor: Tensor) -> np.ndarray[Any, Any]:
        size = int(np.prod(tensor.shape)) * tensor.numpy_dtype.itemsize
        first = tensor.offset or 0
        return pools[tensor.pool or "arena"][first : first + size]
