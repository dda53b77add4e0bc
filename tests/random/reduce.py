"""The smallest network that fails as a given one does, in the same configuration."""
import time

import numpy as np
import onnx
from onnx import helper, numpy_helper

from judge import judge
from network import reads, type_of
from oracle import all_values, make_inputs

SECONDS = 60


def like(verdict, other):
    return verdict.kind == other.kind


def trimmed(model):
    """Without nodes, constants and inputs that nobody reads."""
    graph = model.graph
    wanted = {o.name for o in graph.output}
    nodes = []
    for node in reversed(graph.node):
        if wanted & set(node.output):
            nodes.append(node)
            wanted |= set(reads(node))
    nodes = [helper_copy(node) for node in reversed(nodes)]
    for node in nodes:  # results that nobody reads, at the end
        while len(node.output) > 1 and node.output[-1] not in wanted and node.op_type not in ("Split", "DynamicQuantizeLinear"):
            del node.output[-1]
    graph_inputs = [i for i in graph.input if i.name in wanted]
    constants = [t for t in graph.initializer if t.name in wanted]
    del graph.node[:], graph.input[:], graph.initializer[:]
    graph.node.extend(nodes)
    graph.input.extend(graph_inputs)
    graph.initializer.extend(constants)
    del graph.value_info[:]
    return model


def helper_copy(message):
    copy = type(message)()
    copy.CopyFrom(message)
    return copy


def with_outputs(model, infos):
    result = helper_copy(model)
    del result.graph.output[:]
    result.graph.output.extend(infos)
    return trimmed(result)


def info(name, value):
    return helper.make_tensor_value_info(name, type_of(value), list(value.shape))


def with_input(model, name, value):
    """The value is an input, instead of what a node makes."""
    result = helper_copy(model)
    for node in result.graph.node:
        for k, output in enumerate(node.output):
            if output == name:
                node.output[k] = name + "_unused"
    if name not in {i.name for i in result.graph.input}:
        result.graph.input.append(info(name, value))
    return trimmed(result)


def renamed(model, old, new):
    result = helper_copy(model)
    for node in result.graph.node:
        for k, name in enumerate(node.input):
            if name == old:
                node.input[k] = new
    return trimmed(result)


def candidates(model):
    """Smaller networks, the most promising first."""
    values = all_values(model, make_inputs(model, 0))
    outputs = list(model.graph.output)
    made = [name for node in model.graph.node for name in node.output if name and node.op_type != "Constant"]
    inputs = [i.name for i in model.graph.input]
    if len(outputs) > 1:
        for o in outputs:
            yield with_outputs(model, [o])
        for o in outputs:
            yield with_outputs(model, [other for other in outputs if other is not o])
    names = {o.name for o in outputs}
    if len(outputs) == 1:
        for name in made:  # the first that fails is the shortest prefix
            if name not in names:
                yield with_outputs(model, [info(name, values[name])])
    for name in reversed(made):
        if name not in names and values[name].dtype in (np.float32, np.bool_):
            yield with_input(model, name, values[name])
    for node in model.graph.node:  # bypassed
        if node.op_type == "Constant":
            continue
        for output in node.output:
            for name in list(node.input) + inputs:
                if name in values and output in values and name != output and values[name].shape == values[output].shape and \
                        values[name].dtype == values[output].dtype and output not in names:
                    yield renamed(model, output, name)
                    break
    used = {node.op_type for node in model.graph.node}
    for node in model.graph.node:  # without a bias
        if node.op_type in ("Conv", "ConvTranspose", "Gemm") and len(node.input) == 3:
            result = helper_copy(model)
            next(n for n in result.graph.node if n.output == node.output).input.pop()
            yield trimmed(result)
    if "Constant" in used:
        result = helper_copy(model)
        constants = [n for n in result.graph.node if n.op_type == "Constant"]
        for node in constants:
            result.graph.initializer.append(numpy_helper.from_array(numpy_helper.to_array(node.attribute[0].t), node.output[0]))
            result.graph.node.remove(node)
        yield result
    yield from narrower(model)


def numbers_as(array, old, new):
    return np.where(array == old, new, array).astype(array.dtype)


def attributes_as(node, old, new, windows):
    for attribute in node.attribute:
        if attribute.name in ("group", "hidden_size", "num_groups", "size") and attribute.i == old:
            attribute.i = new
        if attribute.name == "kernel_shape" and windows:
            attribute.ints[:] = [new if k == old else k for k in attribute.ints]


def with_dim(model, old, new, windows):
    """Every dim of inputs and weights that is `old` becomes `new`, and numbers that say dims; windows: of these, too.
    None where the network does not hold together then."""
    result = helper_copy(model)
    graph = result.graph
    changed = False
    for i in graph.input:
        for d in i.type.tensor_type.shape.dim:
            changed = changed or d.dim_value == old
            d.dim_value = new if d.dim_value == old else d.dim_value
    shapes = {name for node in graph.node if node.op_type in ("Reshape", "Expand", "Split", "Resize", "ConstantOfShape")
              for name in node.input[1:]}
    of_windows = {node.input[1] for node in graph.node if node.op_type in ("Conv", "ConvTranspose")}
    for k, tensor in enumerate(list(graph.initializer)):
        array = numpy_helper.to_array(tensor)
        if tensor.name in shapes and array.dtype == np.int64:
            array = numbers_as(array, old, new)
        elif array.dtype.kind != "i" or array.dtype == np.int8:
            for axis, d in enumerate(array.shape):
                if d == old and (windows or axis < 2 or tensor.name not in of_windows):
                    array = array.take(range(new), axis=axis)
        changed = changed or array.shape != tuple(tensor.dims)
        graph.initializer[k].CopyFrom(numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), tensor.name))
    for node in graph.node:
        attributes_as(node, old, new, windows)
    if not changed:
        return None
    names = [o.name for o in graph.output]
    del graph.output[:], graph.value_info[:]
    graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    try:
        values = all_values(result, make_inputs(result, 0))
    except Exception:  # pylint: disable=broad-except
        return None
    del graph.output[:]
    graph.output.extend(info(name, values[name]) for name in names)
    return result


def narrower(model):
    """The same network with one of its dims smaller wherever it occurs."""
    dims = {d for t in model.graph.initializer for d in t.dims} | \
        {d.dim_value for i in model.graph.input for d in i.type.tensor_type.shape.dim}
    for old in sorted(dims, reverse=True):
        for new in dict.fromkeys((1, 2, 3, old // 2, old - 1)):
            for windows in (False, True):
                if 0 < new < old:
                    smaller = with_dim(model, old, new, windows)
                    if smaller:
                        yield smaller


def numbers(model):
    """How many numbers come in and are multiplied."""
    graph = model.graph
    return sum(int(np.prod(t.dims)) for t in graph.initializer) + \
        sum(int(np.prod([d.dim_value for d in i.type.tensor_type.shape.dim])) for i in graph.input)


def size(model):
    return len(model.graph.node), len(model.graph.output), len(model.graph.input), numbers(model), model.ByteSize()


def reduce(model, config, verdict, seconds=SECONDS):
    """The smallest that was found, and what is wrong with it."""
    end = time.monotonic() + seconds
    whole = model, config, verdict
    best = trimmed(helper_copy(model))
    configs = [dict(config, options="", compiler=""), dict(config, compiler=""), dict(config, options="")]
    for simpler in configs:
        if simpler != config:
            now = judge(best, simpler, quick=True)
            if like(now, verdict):
                config, verdict = simpler, now
                break
    progress = True
    tried = set()
    while progress and time.monotonic() < end:
        progress = False
        try:
            for smaller in candidates(best):
                if time.monotonic() >= end:
                    break
                key = smaller.SerializeToString(deterministic=True)
                if key in tried or not smaller.graph.node or size(smaller) >= size(best):
                    continue
                tried.add(key)
                try:
                    onnx.checker.check_model(smaller)
                except Exception:  # pylint: disable=broad-except
                    continue
                now = judge(smaller, config, quick=True)
                if like(now, verdict):
                    best, verdict, progress = smaller, now, True
                    break
        except Exception:  # pylint: disable=broad-except
            break
    sure = judge(best, config)
    return (best, config, sure) if like(sure, verdict) else whole


def signature(model):
    """What the network consists of: equal ones are, most likely, one bug."""
    return " ".join(n.op_type for n in model.graph.node if n.op_type != "Constant")
