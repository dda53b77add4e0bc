"""What a network should give, and how far an honest implementation may be off.

ONNX Runtime without optimisations says what it should give. Runs of the same network with noise behind every node say
how far: noise of some units in the last place for floats, of one step of its format for a precision. What noise moves
by far more than the rest (a rounding, an argmax, a comparison that tips over) is masked and not judged."""
import numpy as np
import onnx
from onnx import helper, numpy_helper

from network import session, type_of

SETS = 2
RELATIVE = 1e-6  # of the noise of floats: some ten times what f32 rounds away
# Numbers that say how, not what: no noise on them.
PARAMETERS = {"Resize", "Pad", "QuantizeLinear", "DequantizeLinear", "Clip", "RoiAlign", "LRN", "DynamicQuantizeLinear"}
# Relative to each number, and to the greatest of the tensor.
STEPS = {"f32": (0, 0), "fp8": (0.06, 0), "fp8w": (0.06, 0), "fp8=f8e3m4": (0.03, 0.01),
         "fp8=f8e5m2": (0.125, 0), "fp8=f8e4m3,f8e5m2": (0.125, 0), "int8": (0, 0.012), "int8w": (0, 0.012),
         "f16w": (1e-3, 0), "bf16w": (8e-3, 0), "afp": (0.05, 0.01), "mxfp8": (0.06, 0.01), "mxfp6": (0.12, 0.05),
         "mxfp4": (0.25, 0.1), "mixed": (0.06, 0.012)}


def make_inputs(model, index):
    """Numbers without symmetry, a few zeros of both signs, of many sizes; the same for the same model."""
    rng = np.random.default_rng([index, 77])
    inputs = {}
    for info in model.graph.input:
        shape = [d.dim_value for d in info.type.tensor_type.shape.dim]
        kind = helper.tensor_dtype_to_np_dtype(info.type.tensor_type.elem_type)
        x = rng.standard_normal(shape) * rng.uniform(0.6, 1.4) + rng.uniform(-0.3, 0.3)
        x = np.where(rng.random(shape) < 0.02, np.where(rng.random(shape) < 0.5, 0.0, -0.0), x)
        if kind == np.bool_:
            x = x > 0
        elif np.issubdtype(kind, np.integer):
            x = np.clip(np.round(x * 3), 0 if kind in (np.uint8, np.uint16, np.uint32, np.uint64) else -5, 7)
        inputs[info.name] = np.ascontiguousarray(x.astype(kind))
    return inputs


def with_all_outputs(model):
    every = onnx.ModelProto()
    every.CopyFrom(model)
    have = {o.name for o in every.graph.output}
    for node in every.graph.node:
        for name in node.output:
            if name and name not in have:
                every.graph.output.append(onnx.ValueInfoProto(name=name))
    return every


def all_values(model, inputs):
    """Every value of the network, by name; no sequences, whose elements are values themselves."""
    every = with_all_outputs(model)
    names = [o.name for o in every.graph.output]
    values = {name: value for name, value in zip(names, session(every).run(names, inputs)) if not isinstance(value, list)}
    values.update(inputs)
    return values


def disturb(array, rng, relative, absolute, greatest=None):
    if array.size == 0:
        return array
    x = array.astype(np.float64)
    greatest = np.max(np.abs(x)) if greatest is None else greatest
    x = x * (1 + (RELATIVE + relative) * rng.uniform(-1, 1, x.shape))
    return (x + absolute * greatest * rng.uniform(-1, 1, x.shape)).astype(array.dtype)


def noisy(model, values, greatest, rng, relative, absolute):
    """The network with noise on its weights and behind every node; greatest: of each value, over all sets of inputs."""
    result = onnx.ModelProto()
    result.CopyFrom(model)
    graph = result.graph
    fixed = {name for node in graph.node if node.op_type in PARAMETERS for name in node.input[1:]}
    for i, tensor in enumerate(list(graph.initializer)):
        if tensor.data_type == onnx.TensorProto.FLOAT and tensor.dims and tensor.name not in fixed:
            graph.initializer[i].CopyFrom(numpy_helper.from_array(
                disturb(numpy_helper.to_array(tensor), rng, relative, absolute), tensor.name))
    quantised = {name: 2 if node.op_type.startswith("QLinear") else 1 for node in graph.node
                 if node.op_type.startswith("QLinear") or node.op_type in ("QuantizeLinear", "DynamicQuantizeLinear")
                 for name in node.output}  # steps that fixed-point rounding may be off by (docs/guide/qdq.md)
    nodes = []
    for node in graph.node:
        nodes.append(node)
        copy = onnx.NodeProto()
        copy.CopyFrom(node)
        added = []
        for k, name in enumerate(node.output):
            value = values.get(name)
            if value is None or value.dtype not in (np.float32, np.float64) or node.op_type == "Constant":
                continue
            step = 0.0
            if node.op_type == "DequantizeLinear" and node.input[0] in quantised:
                scale = values.get(node.input[1], constant(model, node.input[1]))
                step = 0.0 if scale is None else float(np.max(scale)) * quantised[node.input[0]]
            # Where halves are computed with, relayc computes in f32 and leaves such casts out (docs/guide/operators.md).
            halves = node.op_type == "Cast" and values.get(node.input[0], value).dtype == np.float16
            tips = rng.choice([-1, 0, 1], value.shape, p=[0.1, 0.8, 0.1])  # one step, here and there
            factor = 1 + (RELATIVE + relative + halves * 2**-11) * rng.uniform(-1, 1, value.shape)
            offset = step * tips + absolute * greatest[name] * rng.uniform(-1, 1, value.shape)
            inner = name + "_exact"
            copy.output[k] = inner
            added.append(helper.make_node("Mul", [inner, name + "_factor"], [name + "_scaled"]))
            added.append(helper.make_node("Add", [name + "_scaled", name + "_offset"], [name]))
            graph.initializer.append(numpy_helper.from_array(factor.astype(value.dtype), name + "_factor"))
            graph.initializer.append(numpy_helper.from_array(offset.astype(value.dtype), name + "_offset"))
        nodes[-1] = copy
        nodes.extend(added)
    del graph.node[:]
    graph.node.extend(nodes)
    return result


def constant(model, name):
    for tensor in model.graph.initializer:
        if tensor.name == name:
            return numpy_helper.to_array(tensor)
    for node in model.graph.node:
        if node.op_type == "Constant" and node.output[0] == name:
            return numpy_helper.to_array(node.attribute[0].t)
    return None


def is_stepped(node):
    return "QuantizeLinear" in node.op_type or node.op_type.startswith("QLinear")


def every_node(graph, inside=False):
    """Those of branches and bodies, too; inside: these only."""
    for node in graph.node:
        if not inside:
            yield node
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from every_node(attribute.g)


def casts_fit(model, values):
    """No cast to integers is of a number beyond them: ONNX does not say what becomes of it."""
    for node in model.graph.node:
        x, y = values.get(node.input[0]) if node.op_type == "Cast" else None, values.get(node.output[0])
        if x is None or y is None or x.dtype.kind != "f" or y.dtype.kind not in "iu":
            continue
        if not np.all((x > np.iinfo(y.dtype).min - 1.0) & (x < np.iinfo(y.dtype).max + 1.0)):
            return False
    return True


class Oracle:
    """Expected outputs of a model for SETS sets of inputs, or for those that are given."""

    def __init__(self, model, inputs=None):
        self.model = model
        self.names = [o.name for o in model.graph.output]
        self.inputs = inputs or [make_inputs(model, i) for i in range(SETS)]
        self.values = [all_values(model, x) for x in self.inputs]
        if inputs is None:
            fit = [i for i, values in enumerate(self.values) if casts_fit(model, values)]
            self.inputs, self.values = [self.inputs[i] for i in fit], [self.values[i] for i in fit]
        if not self.values:
            raise ValueError("a cast of numbers beyond its type")
        self.wanted = [[v[name] for name in self.names] for v in self.values]
        self.greatest = {name: max(float(np.max(np.abs(v[name]), initial=0)) for v in self.values)
                         for name, first in self.values[0].items() if first.dtype.kind == "f"}
        self.stepped = any(map(is_stepped, every_node(model.graph)))
        # No noise reaches the inside of a branch: there a step may tip over unseen.
        self.has_inside = any(True for _ in every_node(model.graph, inside=True))
        self.stepped_inside = any(is_stepped(node) for node in every_node(model.graph, inside=True))
        self.known = {}

    def deviations(self, precision, draws):
        """For each set, for each output: the greatest deviation of each number in runs with noise, and all of them."""
        key = precision, draws
        if key not in self.known:
            relative, absolute = STEPS.get(precision.split()[0], STEPS["fp8"])
            rng = np.random.default_rng(draws)
            result = []
            for inputs, values, wanted in zip(self.inputs, self.values, self.wanted):
                runs = []
                for _ in range(draws):
                    model = noisy(self.model, values, self.greatest, rng, relative, absolute)
                    given = {k: disturb(x, rng, relative, absolute, self.greatest[k]) if x.dtype == np.float32 else x
                             for k, x in inputs.items()}
                    with np.errstate(all="ignore"):
                        runs.append([np.abs(wide(y) - wide(w)) for y, w in
                                     zip(session(model).run(self.names, given), wanted)])
                result.append([[run[i] for run in runs] for i in range(len(self.names))])
            self.known[key] = result
        return self.known[key]

    def reference(self):
        """onnx's own evaluator; None where it cannot."""
        from onnx.reference import ReferenceEvaluator
        try:
            with np.errstate(all="ignore"):
                evaluator = ReferenceEvaluator(self.model)
                return [evaluator.run(self.names, x) for x in self.inputs]
        except Exception:  # pylint: disable=broad-except
            return None


def wide(array):
    return array.astype(np.float64)


def infinite_alike(found, wanted):
    with np.errstate(all="ignore"):
        return np.array_equal(np.isnan(found), np.isnan(wanted)) and \
            np.array_equal(np.where(np.isinf(found), found, 0), np.where(np.isinf(wanted), wanted, 0))


__all__ = ["type_of"]
