"""TensorFlow Lite Micro or LiteRT as a process that runs a model step by step: a line in, a line out.

  python3 peer_tflite.py MODEL.tflite tflm|litert|xnnpack

  open                         loads the model                       ok
  input DTYPE D0xD1x... FILE   the next input, in the file's order   ok
  again                        forgets the inputs, not the state     ok
  save FILE                    one run; all outputs as raw bytes     ok

What goes wrong is answered by "error TEXT". Its first line says which version it is. tflm and litert run their
reference kernels, xnnpack what LiteRT runs by itself. What the network keeps from run to run stays as it is: the second run is its second step.
"""

import itertools
import sys

DTYPES = {
    "f32": "float32", "f64": "float64", "f16": "float16", "bool": "bool",
    "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
    "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64",
}  # fmt: skip
ARENA = 1 << 30  # its pages are taken when they are used


def messages():
    """What the library has written to stderr, which is a file."""
    try:
        sys.stderr.flush()
        with open("/proc/self/fd/2", encoding="utf-8", errors="replace") as file:
            return file.read(1000) if file.seekable() else ""
    except OSError:
        return ""


def fail(problem):
    text = f"{messages()} {problem}" if isinstance(problem, RuntimeError) else f"{problem}"
    print("error", " ".join(text.split()), flush=True)
    sys.exit(1)


class Micro:
    def __init__(self):
        from tflite_micro.python.tflite_micro import runtime

        try:
            from importlib.metadata import version

            self.version = version("tflite_micro")
        except ImportError:
            self.version = "of unknown version"
        self.runtime = runtime

    def open(self, model):
        self.interpreter = self.runtime.Interpreter.from_file(model, arena_size=ARENA)

    def set(self, i, array):
        self.interpreter.set_input(array, i)

    def invoke(self):
        self.interpreter.invoke()

    def outputs(self):
        """The package does not say how many there are."""
        for i in itertools.count():
            try:
                yield self.interpreter.get_output(i)
            except IndexError:
                return


class LiteRT:
    kernels = "BUILTIN_REF"

    def __init__(self):
        import ai_edge_litert
        from ai_edge_litert.interpreter import Interpreter, OpResolverType

        self.version = getattr(ai_edge_litert, "__version__", "of unknown version")
        self.make = Interpreter
        self.resolver = OpResolverType[self.kernels]

    def open(self, model):
        self.interpreter = self.make(
            model_path=model, experimental_op_resolver_type=self.resolver, num_threads=1
        )
        self.interpreter.allocate_tensors()
        self.details = self.interpreter.get_input_details()

    def set(self, i, array):
        self.interpreter.set_tensor(self.details[i]["index"], array)

    def invoke(self):
        self.interpreter.invoke()

    def outputs(self):
        for detail in self.interpreter.get_output_details():
            yield self.interpreter.get_tensor(detail["index"])


class XNNPACK(LiteRT):
    kernels = "AUTO"


def main():
    model, which = sys.argv[1:]
    try:
        import numpy

        peer = {"tflm": Micro, "litert": LiteRT, "xnnpack": XNNPACK}[which]()
    except Exception as problem:  # of many kinds
        fail(problem)
    print("ok", peer.version, flush=True)
    n_inputs = 0
    for line in sys.stdin:
        name, *arguments = line.rstrip("\n").split(" ", 3)
        try:
            if name == "again":
                n_inputs = 0
            elif name == "open":
                peer.open(model)
            elif name == "input":
                dtype, dims, path = arguments
                shape = [int(d) for d in dims.split("x")] if dims != "scalar" else []
                peer.set(n_inputs, numpy.fromfile(path, dtype=DTYPES[dtype]).reshape(shape))
                n_inputs += 1
            elif name == "save":
                peer.invoke()
                with open(" ".join(arguments), "wb") as file:
                    for array in peer.outputs():
                        file.write(numpy.ascontiguousarray(array).tobytes())
            else:
                fail(f"no command is called {name}")
            print("ok", flush=True)
        except Exception as problem:
            fail(problem)


main()
