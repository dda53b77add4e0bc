"""A network that grows node by node. Each node is run by ONNX Runtime, by itself, when it is added: so every
value's shape, type and size are known, what ONNX Runtime refuses is never added, and weights are scaled to what
they multiply, so that numbers neither explode nor vanish."""
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper, shape_inference

DIMS = (1, 1, 2, 3, 8, 16, 17)
MOST_ELEMENTS = 6000  # of a value
MOST_WEIGHTS = 20000  # of a constant
PRUNED = 0.06  # of weights

OPTIONS = onnxruntime.SessionOptions()
OPTIONS.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
OPTIONS.intra_op_num_threads = OPTIONS.inter_op_num_threads = 1
OPTIONS.log_severity_level = 4
onnxruntime.set_default_logger_severity(4)


class Reject(Exception):
    """What a piece wanted cannot be: nothing is added."""


SIGNED_WEIGHTS = {"QLinearMatMul": (0, 3, 5), "QLinearConv": (0, 3, 5), "QGemm": (0, 3, 5),
                  "MatMulInteger": (0, 1, 3), "ConvInteger": (0, 1, 3)}  # operands x, w, zero point of w


def with_unsigned_weights(model):
    """The same sums from unsigned weights. On a CPU without VNNI, ONNX Runtime adds products of unsigned and signed
    bytes in 16 bits, which saturate: 255 * 127 * 2 is not 32767."""
    nodes = [n for n in model.graph.node if n.op_type in SIGNED_WEIGHTS]
    if not nodes:
        return model
    result = onnx.ModelProto()
    result.CopyFrom(model)
    graph = result.graph
    constants = {t.name: t for t in graph.initializer}
    offset, kind = "unsigned_offset", TensorProto.INT32
    graph.initializer.append(numpy_helper.from_array(np.array(128, np.int32), offset))
    graph.initializer.append(numpy_helper.from_array(np.array(128, np.uint8), "unsigned_zero"))
    inferred = shape_inference.infer_shapes(model).graph
    types = {i.name: i.type.tensor_type.elem_type for infos in (inferred.value_info, inferred.output, inferred.input)
             for i in infos}
    types.update({name: t.data_type for name, t in constants.items()})
    types.update({n.output[0]: n.attribute[0].t.data_type for n in graph.node if n.op_type == "Constant"})
    known, all_nodes = {}, []

    def unsigned(name):
        if name not in known:
            known[name] = name + "_unsigned"
            wide, moved = name + "_i32", name + "_moved"
            all_nodes.extend([helper.make_node("Cast", [name], [wide], to=kind),
                              helper.make_node("Add", [wide, offset], [moved]),
                              helper.make_node("Cast", [moved], [known[name]], to=TensorProto.UINT8)])
        return known[name]

    for node in graph.node:
        copy = onnx.NodeProto()
        copy.CopyFrom(node)
        x, w, zero = SIGNED_WEIGHTS.get(node.op_type, (0, 0, 0))
        if w and types.get(node.input[w]) == TensorProto.INT8 and types.get(node.input[x]) == TensorProto.UINT8:
            copy.input[w] = unsigned(node.input[w])
            given = len(node.input) > zero and node.input[zero]
            while len(copy.input) <= zero:
                copy.input.append("")
            copy.input[zero] = unsigned(given) if given else "unsigned_zero"
        all_nodes.append(copy)
    del graph.node[:]
    graph.node.extend(all_nodes)
    return result


def reads(node):
    """What a node reads, its branches and bodies included; each once."""
    names = dict.fromkeys(name for name in node.input if name)
    for attribute in node.attribute:
        if attribute.type == onnx.AttributeProto.GRAPH:
            graph = attribute.g
            own = {t.name for t in graph.initializer} | {i.name for i in graph.input}
            own |= {name for inner in graph.node for name in inner.output}
            inside = [name for inner in graph.node for name in reads(inner)] + [o.name for o in graph.output]
            names.update(dict.fromkeys(name for name in inside if name not in own))
    return list(names)


def session(model):
    model = with_unsigned_weights(model)
    return onnxruntime.InferenceSession(model.SerializeToString(), OPTIONS, providers=["CPUExecutionProvider"])


def type_of(array):
    return helper.np_dtype_to_tensor_dtype(array.dtype)


def ir_version(opset):
    return 8 if opset < 21 else 10 if opset < 23 else 11


def make_model(nodes, inputs, outputs, constants, opset):
    """inputs, outputs: (name, array) pairs; constants: name to array."""
    def infos(pairs):
        return [helper.make_tensor_value_info(name, type_of(a), list(a.shape)) for name, a in pairs]

    graph = helper.make_graph(nodes, "random", infos(inputs), infos(outputs),
                              [numpy_helper.from_array(a, name) for name, a in constants.items()])
    imports = [helper.make_opsetid("", opset)]
    if any(node.domain == "com.microsoft" for node in nodes):
        imports.append(helper.make_opsetid("com.microsoft", 1))
    return helper.make_model(graph, opset_imports=imports, ir_version=ir_version(opset),
                             producer_name="random")


class Network:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.opset = int(self.rng.choice([13, 17, 17, 18, 20, 21, 22, 23, 23]))
        self.nodes = []
        self.values = {}      # all, by name
        self.constants = {}   # by name
        self.inputs = []
        self.made = []        # results of nodes and inputs, in order
        self.count = 0

    # --- chance ---------------------------------------------------------------------------------------
    def chance(self, p):
        return self.rng.random() < p

    def below(self, n):
        return int(self.rng.integers(n))

    def between(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def choice(self, items, weights=None):
        items = list(items)
        if not items:
            raise Reject("nothing to choose from")
        if weights is None:
            return items[self.below(len(items))]
        p = np.asarray(weights, float)
        return items[int(self.rng.choice(len(items), p=p / p.sum()))]

    def dim(self):
        """One of DIMS, or one that occurs already: equal dims hide a wrong order."""
        seen = [d for name in self.made[-4:] for d in self.values[name].shape if d <= 17]
        return self.choice(seen) if seen and self.chance(0.35) else self.choice(DIMS)

    # --- values ---------------------------------------------------------------------------------------
    def shape(self, name):
        return self.values[name].shape

    def is_float(self, name):
        return self.values[name].dtype == np.float32

    def name(self, stem):
        self.count += 1
        return f"{stem}{self.count}"

    def input(self, shape, array=None):
        if array is None:
            array = self.data(shape)
        if array.size > MOST_ELEMENTS:
            raise Reject("too large")
        name = self.name("in")
        self.values[name] = array
        self.inputs.append(name)
        self.made.append(name)
        return name

    def data(self, shape):
        """No symmetry, no constants, a few zeros of both signs, numbers that differ in size."""
        x = self.rng.standard_normal(shape) * self.rng.uniform(0.5, 1.5) + self.rng.uniform(-0.3, 0.3)
        zero = self.rng.random(shape) < 0.01
        return np.where(zero, np.where(self.rng.random(shape) < 0.5, 0.0, -0.0), x).astype(np.float32)

    def const(self, array, stem="c"):
        array = np.asarray(array)
        if array.size > MOST_WEIGHTS:
            raise Reject("too many weights")
        name = self.name(stem)
        self.values[name] = array
        if self.chance(0.1):
            self.nodes.append(helper.make_node("Constant", [], [name], value=numpy_helper.from_array(array, name)))
        else:
            self.constants[name] = array
        return name

    def ints(self, numbers):
        return self.const(np.array(numbers, np.int64), "i")

    def weights(self, shape, fan_in=1, of=None, spread=1.0, around=0.0):
        """Numbers of a size that keeps that of what they multiply; sometimes behind a view or a transpose."""
        if int(np.prod(shape)) > MOST_WEIGHTS:
            raise Reject("too many weights")
        size = 1.0 if of is None else max(float(np.sqrt(np.mean(np.square(self.values[of], dtype=np.float64)))), 0.05)
        w = (self.rng.standard_normal(shape) * spread / np.sqrt(max(fan_in, 1)) / size + around).astype(np.float32)
        if w.ndim >= 2 and self.chance(PRUNED):  # filters, or what all of them read of a channel
            lines = np.moveaxis(w, self.below(2), 0)
            lines[self.rng.random(len(lines)) < self.rng.uniform(0.1, 0.9)] = 0
        if w.ndim >= 2 and self.chance(0.1):
            perm = [int(i) for i in self.rng.permutation(w.ndim)]
            turned = self.const(np.ascontiguousarray(np.transpose(w, perm)), "w")
            return self.op("Transpose", [turned], perm=[int(i) for i in np.argsort(perm)], keep=False)
        if self.chance(0.06):
            flat = self.const(w.reshape(self.choice([[-1], [1] + list(w.shape), list(w.shape) + [1]])), "w")
            return self.op("Reshape", [flat, self.ints(w.shape)], keep=False)
        return self.const(w, "w")

    def pick(self, accept=lambda a: True):
        """A value, rather a late one."""
        names = [name for name in self.made if accept(self.values[name])]
        if not names:
            raise Reject("no such value")
        if self.chance(0.6):
            return self.choice(names[-2:])
        return self.choice(names[-8:] if self.chance(0.6) else names)

    def float_value(self, *ranks):
        return self.pick(lambda a: a.dtype == np.float32 and (not ranks or a.ndim in ranks))

    # --- nodes ----------------------------------------------------------------------------------------
    def op(self, kind, inputs, outputs=1, domain="", keep=True, **attributes):
        """The name of the result, or a list of names where there are several."""
        names = [self.name("t") for _ in range(outputs)]
        node = helper.make_node(kind, inputs, names, name=self.name(kind.lower() + "_"), domain=domain, **attributes)
        results = self.run(node, names)
        for name, array in zip(names, results):
            self.check(kind, array, keep)
            self.values[name] = array
        self.nodes.append(node)
        if keep:
            self.made.extend(names)
        return names[0] if outputs == 1 else names

    def run(self, node, names):
        used = reads(node)
        constant = {name: self.values[name] for name in used if name in self.constants}
        given = [(name, self.values[name]) for name in used if name not in constant]
        graph = helper.make_graph(
            [node], "one", [helper.make_tensor_value_info(n, type_of(a), list(a.shape)) for n, a in given],
            [onnx.ValueInfoProto(name=name) for name in names],
            [numpy_helper.from_array(a, name) for name, a in constant.items()])
        model = helper.make_model(graph, opset_imports=[
            helper.make_opsetid("", self.opset), helper.make_opsetid("com.microsoft", 1)],
            ir_version=ir_version(self.opset))
        try:
            return session(model).run(None, dict(given))
        except Exception as problem:  # its own, of many classes
            raise Reject(f"{node.op_type}: {problem}") from None

    @staticmethod
    def check(kind, array, keep):
        if not 0 < array.size <= MOST_ELEMENTS or array.ndim > 6:
            raise Reject("size")
        if array.dtype in (np.float32, np.float64, np.float16):
            if not np.all(np.isfinite(array)):
                raise Reject("not finite")
            size = float(np.sqrt(np.mean(np.square(array, dtype=np.float64))))
            if not (2e-3 < size < 200 if keep else size < 1e6):  # sums of codes, say, before their scale
                raise Reject("explodes or vanishes")

    def attempt(self, piece, *arguments):
        """Adds a piece, or nothing of it."""
        nodes, made, values = len(self.nodes), len(self.made), set(self.values)
        inputs = len(self.inputs)
        try:
            piece(self, *arguments)
            return True
        except Reject:
            del self.nodes[nodes:], self.made[made:], self.inputs[inputs:]
            for name in set(self.values) - values:
                del self.values[name]
                self.constants.pop(name, None)
            return False

    # --- the whole ------------------------------------------------------------------------------------
    def leaves(self):
        used = {name for node in self.nodes for name in reads(node)}
        return [name for name in self.made if name not in used and name not in self.inputs]

    def model(self):
        outputs = self.leaves()
        others = [name for name in self.made if name not in outputs and name not in self.inputs]
        for _ in range(self.choice([0, 0, 0, 1, 2])):  # a value that is read and handed out
            if others:
                outputs.append(others.pop(self.below(len(others))))
        used = {name for node in self.nodes for name in reads(node)}
        inputs = [name for name in self.inputs if name in used]
        constants = {name: a for name, a in self.constants.items() if name in used}
        nodes = [n for n in self.nodes if n.op_type != "Constant" or n.output[0] in used]
        if not inputs or not outputs:
            raise Reject("empty")
        return make_model(nodes, [(n, self.values[n]) for n in inputs], [(n, self.values[n]) for n in outputs],
                          constants, self.opset)

    def mean_size(self, name):
        return float(np.sqrt(np.mean(np.square(self.values[name], dtype=np.float64))))


FLOAT = TensorProto.FLOAT
