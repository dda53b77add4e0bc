"""ONNX's backend interface (onnx.backend.base): compiles a model to C and runs that.

    rep = relayc.backend.prepare(model)
    outputs = rep.run([x])

In C, shapes are numbers: a model whose open dimensions or shape operands only the inputs tell is compiled
again at run(), with those inputs as constants."""

from __future__ import annotations

from typing import Any, Optional, Sequence

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.base import Backend, BackendRep, namedtupledict
from onnx.backend.test.runner import BackendIsNotSupposedToImplementIt

from ._compiled import Compiled, compile
from ._errors import CompileError, Diagnostic, UsageError

DYNAMIC, UNBOUND, NO_KERNEL = "R0204", "R0303", "R0401"


def _given_inputs(graph: onnx.GraphProto) -> list[onnx.ValueInfoProto]:
    """Inputs without an initialiser: those that run() gets."""
    known = {tensor.name for tensor in graph.initializer}
    return [value for value in graph.input if value.name not in known]


def _behind(graph: onnx.GraphProto, name: str, inputs: set[str], depth: int = 8) -> set[str]:
    """The graph's inputs that a tensor is computed from."""
    if name in inputs:
        return {name}
    found: set[str] = set()
    for node in graph.node if depth and name else ():
        if name in node.output:
            for operand in node.input:
                found |= _behind(graph, operand, inputs, depth - 1)
    return found


def _of_bits(value: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Numbers of a type that NumPy lacks, which onnx before 1.19 gives as bits with a label, as those of ml_dtypes."""
    is_narrow = dtype.type.__module__.startswith("ml_dtypes")
    if is_narrow and value.dtype != dtype and value.dtype.itemsize == dtype.itemsize:
        bits = np.asarray(value, order="C").view(f"u{dtype.itemsize}")
        return bits.view(dtype)
    return value


def _as_onnx(value: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """And the other way round, for an onnx that has types of its own."""
    labels = getattr(onnx, "_custom_element_types", None)
    name = {"bfloat16": "uint16", "int4": "int4", "uint4": "uint4", "float4_e2m1fn": "float4e2m1"}.get(
        value.dtype.name, value.dtype.name.replace("_", ""))
    if labels is None or not value.dtype.type.__module__.startswith("ml_dtypes"):
        return value
    dtype = np.dtype("uint16") if name == "uint16" else getattr(labels, name, None)
    return value if dtype is None else value.view(f"{'i' if name == 'int4' else 'u'}{value.itemsize}").view(dtype)


def _shape_arguments(model: onnx.ModelProto, values: dict[str, np.ndarray[Any, Any]]) -> dict[str, tuple[int, ...]]:
    """Shapes of the inputs that have open dimensions; of rank 0 there are none."""
    shapes: dict[str, tuple[int, ...]] = {}
    for value in _given_inputs(model.graph):
        tensor = value.type.tensor_type
        is_open = not tensor.HasField("shape") or any(not dim.HasField("dim_value") for dim in tensor.shape.dim)
        if is_open and value.name in values and values[value.name].ndim:
            shapes[value.name] = values[value.name].shape
    return shapes


class RelaycRep(BackendRep):  # type: ignore[misc, unused-ignore]
    """A prepared model."""

    def __init__(self, model: onnx.ModelProto, options: dict[str, Any]) -> None:
        self._model = model
        self._options = {"cflags": "-O1"} | options
        self._names = [value.name for value in _given_inputs(model.graph)]
        self._compiled: Optional[Compiled] = None
        self._frozen: set[str] = set()
        self._is_final = True  # whatever the inputs
        try:
            self._compiled = self._compile(model)
        except CompileError as error:
            self._is_final = False
            if not self._inputs_may_help(error):
                raise _refusal(error) from error

    def _compile(self, model: onnx.ModelProto, **more: Any) -> Compiled:
        options = {name: value for name, value in self._options.items() if name != "cflags"}
        compiled = compile(model, **options, **more)
        compiled.build(cflags=self._options["cflags"])
        return compiled

    def _inputs_may_help(self, error: CompileError) -> bool:
        codes = {d.code for d in error.errors}
        return bool(self._names) and bool(codes & {DYNAMIC, UNBOUND, NO_KERNEL})

    def run(self, inputs: Any, **_: Any) -> tuple[Any, ...]:
        values = self._values(inputs)
        if self._compiled is None or not self._is_final:
            self._compiled = self._compile_for(values)
        types = {tensor.name: tensor.numpy_dtype for tensor in self._compiled.inputs}
        given = {name: _of_bits(values[name], types[name]) for name in self._names if name not in self._frozen}
        results = {name: _as_onnx(value) for name, value in self._compiled.run(given).items()}
        # Two outputs may be one tensor, and the interface is that of the model.
        names = [value.name for value in self._model.graph.output]
        outputs: tuple[Any, ...] = namedtupledict("Outputs", names)(*(results[name] for name in names))
        return outputs

    def _values(self, inputs: Any) -> dict[str, np.ndarray[Any, Any]]:
        if isinstance(inputs, dict):
            inputs = [inputs[name] for name in self._names]
        elif isinstance(inputs, np.ndarray):
            inputs = [inputs]
        if not all(isinstance(value, (np.ndarray, np.generic)) for value in inputs):
            raise BackendIsNotSupposedToImplementIt("sequences, optional values and maps are no arrays")
        return dict(zip(self._names, (np.asarray(value) for value in inputs)))

    def _compile_for(self, values: dict[str, np.ndarray[Any, Any]]) -> Compiled:
        """With the inputs as constants that the compiler must know, one round after the other."""
        for _ in range(8):
            model = self._model_with(values)
            shapes = _shape_arguments(model, values)
            try:
                return self._compile(model, shape=shapes)
            except CompileError as error:
                more = self._to_freeze(error.errors) - self._frozen
                if not more:
                    raise _refusal(error) from error
                self._frozen |= more
        raise BackendIsNotSupposedToImplementIt("inputs that must be constants were found eight times")

    def _model_with(self, values: dict[str, np.ndarray[Any, Any]]) -> onnx.ModelProto:
        model = onnx.ModelProto()
        model.CopyFrom(self._model)
        types = {value.name: value.type.tensor_type.elem_type for value in model.graph.input}
        for name in sorted(self._frozen):
            tensor = numpy_helper.from_array(np.asarray(values[name], order="C"), name)
            tensor.data_type = types[name]
            model.graph.initializer.append(tensor)
        return model

    def _to_freeze(self, errors: Sequence[Diagnostic]) -> set[str]:
        graph, names = self._model.graph, set(self._names)
        found: set[str] = set()
        for first in (1, 0):  # operand 0 is what most operators work on: only where the others do not help
            for error in errors:
                if error.code not in (DYNAMIC, NO_KERNEL) or error.node_index is None:
                    continue
                if first == 0 and error.code == NO_KERNEL or error.node_index >= len(graph.node):
                    continue
                for operand in graph.node[error.node_index].input[first:]:
                    found |= _behind(graph, operand, names)
            if found - self._frozen:
                break
        return found


def _refusal(error: CompileError) -> Exception:
    """"Not supported" in the words of the interface; all else as it is."""
    codes = {d.code for d in error.errors}
    if error.is_unsupported or codes == {UNBOUND}:
        return BackendIsNotSupposedToImplementIt(str(error))
    return error


class RelaycBackend(Backend):  # type: ignore[misc, unused-ignore]
    """The interface; its class methods are this module's functions, too."""

    @classmethod
    def supports_device(cls, device: str) -> bool:
        return device == "CPU"

    @classmethod
    def is_compatible(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> bool:
        try:
            cls.prepare(model, device, **kwargs)
        except (BackendIsNotSupposedToImplementIt, CompileError, UsageError):
            return False
        return True

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> RelaycRep:
        """`kwargs` are options of relayc.compile(), and cflags (default: -O1)."""
        if not cls.supports_device(device):
            raise BackendIsNotSupposedToImplementIt(f"there is no device {device}: generated C runs on the CPU")
        onnx.checker.check_model(model)
        return RelaycRep(model, kwargs)

    @classmethod
    def run_model(cls, model: onnx.ModelProto, inputs: Any, device: str = "CPU", **kwargs: Any) -> tuple[Any, ...]:
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(cls, node: onnx.NodeProto, inputs: Any, device: str = "CPU", outputs_info: Any = None,
                 **kwargs: Any) -> tuple[Any, ...]:
        """One node; outputs_info (types and shapes) or ONNX's shape inference tell its outputs."""
        super().run_node(node, inputs, device, outputs_info, **kwargs)
        opset = kwargs.pop("opset_version", onnx.defs.onnx_opset_version())
        arrays = [np.asarray(value) for value in inputs]
        values = [onnx.helper.make_tensor_value_info(name, onnx.helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
                  for name, a in zip([n for n in node.input if n], arrays)]
        if outputs_info:
            results = [onnx.helper.make_tensor_value_info(name, onnx.helper.np_dtype_to_tensor_dtype(np.dtype(t)), s)
                       for name, (t, s) in zip(node.output, outputs_info)]
        else:
            results = [onnx.helper.make_empty_tensor_value_info(name) for name in node.output if name]
        graph = onnx.helper.make_graph([node], node.name or node.op_type, values, results)
        model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid(node.domain, opset)])
        return cls.prepare(onnx.shape_inference.infer_shapes(model), device, **kwargs).run(arrays)


supports_device = RelaycBackend.supports_device
is_compatible = RelaycBackend.is_compatible
prepare = RelaycBackend.prepare
run_model = RelaycBackend.run_model
run_node = RelaycBackend.run_node
