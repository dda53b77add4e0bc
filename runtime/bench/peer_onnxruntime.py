"""ONNX Runtime as a process that is told what to time: a line in, a line out.

  python3 peer_onnxruntime.py MODEL.onnx [part=A,B..C,D] [plain]

part: of the model, from tensors A, B to C, D, as --extract has it; the package onnx makes it.

  input DTYPE D0xD1x... FILE   the next input, in graph order   ok
  freeze N,N... NAME           the numbers of an input that     ok
                               stands in no such line
  size N NAME                  likewise, if it is one number;   ok
                               NAME.i: its element i
  run N                        N runs of the network            ok SECONDS (of all of them)
  cold N                       N bytes written, then one run    ok SECONDS (of the run)
  save FILE                    all outputs as raw bytes         ok D0xD1x... ... (their shapes)
  again                        forgets the inputs               ok

What goes wrong is answered by "error TEXT". Its first line says which version it is. One thread, all
graph optimisations (plain: none of them), inputs and outputs bound once; times are of this thread's CPU time.
"""

import sys
import time


def fail(text):
    print("error", " ".join(str(text).split()), flush=True)
    sys.exit(1)


try:
    import numpy
    import onnxruntime
except ImportError as problem:
    fail(f"{problem}")

DTYPES = {
    "f32": "float32", "f64": "float64", "f16": "float16", "bool": "bool",
    "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
    "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64",
}  # fmt: skip


def has_shape(value, declared):
    """Whether the value can have the shape that the model declares: numbers, names, None."""
    shape = value.shape() if value.is_tensor() else []
    return len(shape) == len(declared) and all(
        not isinstance(says, int) or says == is_ for is_, says in zip(shape, declared)
    )


def part_of(path, text):
    """The part of the model between tensors, or outputs of nodes, of these names; nothing between
    the dots and a side: the model's own inputs or outputs."""
    import onnx

    model = onnx.load(path)
    graph = model.graph
    made = {name: node for node in graph.node for name in node.output if name}
    known = {value.name: value for value in [*graph.input, *graph.output, *graph.value_info]}
    first, last = (names.split(",") if names else [] for names in text.split("..", 1))

    def tensors(names):
        for name in names:
            given = name in made or any(name == value.name for value in [*graph.input, *graph.initializer])
            nodes = [node for node in graph.node if node.name == name]
            yield from [name] if given else [o for node in nodes for o in node.output if o]

    first = list(dict.fromkeys(tensors(first)))
    last = list(dict.fromkeys(tensors(last))) or [value.name for value in graph.output]
    if any(name not in known for name in [*first, *last]):
        shaped = onnx.shape_inference.infer_shapes(model)
        known |= {value.name: value for value in shaped.graph.value_info}

    def reads(node):
        yield from node.input
        for attribute in node.attribute:
            if attribute.HasField("g"):
                for inner in attribute.g.node:
                    yield from reads(inner)
                yield from (value.name for value in attribute.g.output)

    needed, ahead, read = set(), list(last), set()
    while ahead:
        name = ahead.pop()
        read.add(name)
        node = made.get(name)
        if node is not None and name not in first and id(node) not in needed:
            needed.add(id(node))
            ahead.extend(reads(node))
    nodes = [node for node in graph.node if id(node) in needed]
    for node in nodes:
        node.output[:] = ["" if name in first else name for name in node.output]
    inputs = [value for value in graph.input if value.name in read and value.name not in first]
    inputs += [known[name] for name in first]
    outputs = [known.get(name) or onnx.ValueInfoProto(name=name) for name in last]
    constants = [value for value in graph.initializer if value.name in read and value.name not in first]
    part = onnx.helper.make_graph(nodes, graph.name, inputs, outputs, constants)
    graph.CopyFrom(part)
    return model.SerializeToString()


class Peer:
    def __init__(self, model, plain):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        level = onnxruntime.GraphOptimizationLevel
        options.graph_optimization_level = level.ORT_DISABLE_ALL if plain else level.ORT_ENABLE_ALL
        options.log_severity_level = 3
        # else inputs of products with weights in blocks would be rounded to 8 bits (level 4), and what
        # is compared would be two computations: 2e-3 off the reference, 2e-7 so
        options.add_session_config_entry("session.qdq_matmulnbits_accuracy_level", "1")
        self.session = onnxruntime.InferenceSession(
            model, options, providers=["CPUExecutionProvider"]
        )
        self.inputs = []
        self.frozen = {}
        self.binding = None
        self.flush = None

    def input(self, dtype, shape, path):
        dims = [int(d) for d in shape.split("x")] if shape != "scalar" else []
        data = numpy.fromfile(path, dtype=DTYPES[dtype]).reshape(dims)
        self.inputs.append(onnxruntime.OrtValue.ortvalue_from_numpy(data))

    def again(self):
        self.inputs = []
        self.binding = None

    def freeze(self, numbers, *name):
        name = " ".join(name)
        given = next(i for i in self.session.get_inputs() if i.name == name)
        dtype = {"float": "float32", "double": "float64", "float16": "float16", "bool": "bool"}.get(
            given.type[len("tensor(") : -1], given.type[len("tensor(") : -1]
        )
        data = numpy.array([float(n) for n in numbers.split(",")]).astype(dtype)
        shape = [d if isinstance(d, int) else 1 for d in given.shape]
        data = numpy.full(shape, data[0]) if data.size == 1 else data.reshape(shape)
        self.frozen[name] = onnxruntime.OrtValue.ortvalue_from_numpy(data)

    def size(self, number, *name):
        """A dim of this name follows from the inputs."""
        name = " ".join(name)
        inputs = self.session.get_inputs()
        if any(name in given.shape for given in inputs):
            return
        for given in inputs:
            count = numpy.prod([d if isinstance(d, int) else 0 for d in given.shape], dtype=int)
            at = name[len(given.name) + 1 :] if name.startswith(given.name + ".") else ""
            if given.name == name and count == 1:
                self.freeze(number, name)
            elif at.isdigit() and int(at) < count:
                others = self.frozen.get(given.name)
                numbers = list(others.numpy().flatten()) if others else [0] * count
                numbers[int(at)] = number
                self.freeze(",".join(map(str, numbers)), given.name)

    def bind(self):
        """Outputs go where the first run's outputs lie: nothing is allocated for them afterwards, but
        for those of which the model says another shape: ONNX Runtime refuses a place for them."""
        if self.binding:
            return
        self.binding = self.session.io_binding()
        inputs = iter(self.inputs)
        for given in self.session.get_inputs():
            value = self.frozen.get(given.name) or next(inputs)
            self.binding.bind_ortvalue_input(given.name, value)
        self.outputs = [None] * len(self.session.get_outputs())
        self.place_outputs()
        self.session.run_with_iobinding(self.binding)
        for i, (made, value) in enumerate(
            zip(self.session.get_outputs(), self.binding.get_outputs())
        ):
            if has_shape(value, made.shape):
                self.outputs[i] = value
        self.place_outputs()

    def place_outputs(self):
        self.binding.clear_binding_outputs()
        for made, value in zip(self.session.get_outputs(), self.outputs):
            if value:
                self.binding.bind_ortvalue_output(made.name, value)
            else:
                self.binding.bind_output(made.name, "cpu")

    def run(self, count):
        self.bind()
        run, binding = self.session.run_with_iobinding, self.binding
        spent = 0
        if not all(self.outputs):  # after a run they have places, which would be refused
            for _ in range(int(count)):
                self.place_outputs()
                start = time.thread_time_ns()
                run(binding)
                spent += time.thread_time_ns() - start
            return f"{spent * 1e-9:.9f}"
        start = time.thread_time_ns()
        for _ in range(int(count)):
            run(binding)
        return f"{(time.thread_time_ns() - start) * 1e-9:.9f}"

    def cold(self, count):
        self.bind()
        if self.flush is None:
            self.flush = numpy.zeros(int(count), dtype=numpy.uint8)
        self.flush += 1
        return self.run(1)

    def save(self, path):
        self.bind()
        with open(path, "wb") as file:
            for value in self.binding.get_outputs():
                file.write(numpy.ascontiguousarray(value.numpy()).tobytes())
        shapes = [value.shape() for value in self.binding.get_outputs()]
        return " ".join("x".join(map(str, shape)) or "scalar" for shape in shapes)


def main():
    try:
        model, *options = sys.argv[1:]
        for option in options:
            if option.startswith("part="):
                model = part_of(model, option[len("part=") :])
        peer = Peer(model, "plain" in options)
    except Exception as problem:  # of many kinds
        fail(problem)
    print("ok", onnxruntime.__version__, flush=True)
    for line in sys.stdin:
        name, *arguments = line.rstrip("\n").split(" ", 3)
        try:
            answer = {
                "input": peer.input,
                "freeze": peer.freeze,
                "size": peer.size,
                "run": peer.run,
                "cold": peer.cold,
                "save": peer.save,
                "again": peer.again,
            }[name](*arguments)
            print("ok", answer or "", flush=True)
        except Exception as problem:
            fail(problem)


main()
