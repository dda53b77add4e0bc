"""Models of at most two kilobytes that ask for gigabytes or minutes; tests/e2e/run_bombs compiles them.

Written without the onnx package: protobuf's wire format is a few lines."""

import struct

F32, I64, BOOL = 1, 7, 9


def varint(n):
    out = bytearray()
    n &= (1 << 64) - 1
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out + bytes([n]))


def integer(field, n):
    return varint(field << 3) + varint(n)


def text(field, payload):
    payload = payload.encode() if isinstance(payload, str) else payload
    return varint(field << 3 | 2) + varint(len(payload)) + payload


def tensor(name, dims, dtype, numbers):
    form = {F32: "f", I64: "q", BOOL: "?"}[dtype]
    raw = struct.pack(f"<{len(numbers)}{form}", *numbers)
    return b"".join(integer(1, d) for d in dims) + integer(2, dtype) + text(8, name) + text(9, raw)


def attribute(name, value):
    out = text(1, name)
    if isinstance(value, int):
        return out + integer(3, value) + integer(20, 2)
    if isinstance(value, float):
        return out + varint(2 << 3 | 5) + struct.pack("<f", value) + integer(20, 1)
    if isinstance(value, str):
        return out + text(4, value) + integer(20, 3)
    if isinstance(value, list):
        return out + b"".join(integer(8, i) for i in value) + integer(20, 7)
    kind, payload = value  # ("t", tensor) or ("g", graph)
    return out + (text(5, payload) + integer(20, 4) if kind == "t" else text(6, payload) + integer(20, 5))


def node(op, inputs, outputs, domain="", **attributes):
    out = b"".join(text(1, i) for i in inputs) + b"".join(text(2, o) for o in outputs) + text(4, op)
    out += b"".join(text(5, attribute(k, v)) for k, v in attributes.items())
    return out + (text(7, domain) if domain else b"")


def info(name, dims, dtype=F32):
    shape = b"".join(text(1, integer(1, d)) for d in dims)
    return text(1, name) + text(2, text(1, integer(1, dtype) + text(2, shape)))


def bare(name):
    return text(1, name)


def graph(nodes, inputs, outputs, constants=()):
    return (b"".join(text(1, n) for n in nodes) + text(2, "g") + b"".join(text(5, c) for c in constants) +
            b"".join(text(11, i) for i in inputs) + b"".join(text(12, o) for o in outputs))


def opsets(field, domains, version):
    return b"".join(text(field, text(1, d) + integer(2, version if not d else 1)) for d in domains)


def function(name, inputs, outputs, nodes):
    return (text(1, name) + b"".join(text(4, i) for i in inputs) + b"".join(text(5, o) for o in outputs) +
            b"".join(text(7, n) for n in nodes) + opsets(9, ["", "f"], 17) + text(10, "f"))


def model(nodes, inputs, outputs, constants=(), functions=(), version=17):
    return (integer(1, 8) + text(7, graph(nodes, inputs, outputs, constants)) +
            opsets(8, ["", "f"] if functions else [""], version) + b"".join(text(25, f) for f in functions))


def ints(name, *numbers):
    return tensor(name, [len(numbers)], I64, numbers)


def number(name, n, dtype=F32):
    return tensor(name, [], dtype, [n])


X = info("x", [1, 4])


def scalar_of(big, nodes, constants=(), inputs=(X,), **more):
    """x plus what `big`, a value of any size, comes to."""
    sums = [node("ReduceSum", [big], ["sum"], keepdims=0), node("Add", ["x", "sum"], ["y"])]
    return model(nodes + sums, list(inputs), [bare("y")], constants, **more)


def chain(op, start, n, *others, **attributes):
    names = [start] + [f"v{i}" for i in range(n)]
    return [node(op, [names[i], *others], [names[i + 1]], **attributes) for i in range(n)]


def doubled(n):
    """A constant of two numbers, concatenated with itself n times."""
    return [node("Concat", [f"v{i - 1}" if i else "c", f"v{i - 1}" if i else "c"], [f"v{i}"], axis=0) for i in range(n)]


def filled(name, shape, value=1.0):
    return node("ConstantOfShape", [shape], [name], value=("t", tensor("", [1], F32, [value])))


def doubling_functions(n, body):
    """f0 calls f1 twice, which calls f2 twice ..."""
    calls = [function(f"f{i}", ["a"], ["b"], [node(f"f{i + 1}", ["a"], ["m"], "f"), node(f"f{i + 1}", ["m"], ["b"], "f")])
             for i in range(n)]
    return calls + [function(f"f{n}", ["a"], ["b"], body)]


def loop(count, condition, nodes, n_scan=0):
    """Hands v on; the body gives a condition, v, and n_scan values of each round."""
    body = graph(nodes, [bare("i"), bare("go"), bare("v")], [bare("on"), bare("w")] + [bare("w")] * n_scan)
    return node("Loop", [count, condition, "x"], ["y"] + ["s"] * n_scan, body=("g", body))


def nested_ifs(n):
    inner = graph([node("Neg", ["x"], ["o"])], [], [bare("o")])
    for _ in range(n):
        inner = graph([node("If", ["yes"], ["o"], then_branch=("g", inner), else_branch=("g", graph(
            [node("Neg", ["x"], ["o"])], [], [bare("o")])))], [], [bare("o")])
    return inner


def ask_along(n):
    """A chain of shape arithmetic, of which each link is asked for."""
    nodes = [node("Shape", ["x"], ["s0"])]
    for i in range(n):
        nodes += [node("Mul", [f"s{i}", "one"], [f"s{i + 1}"]), node("Reshape", [f"r{i - 1}" if i else "x", f"s{i + 1}"], [f"r{i}"])]
    return nodes


def wide(levels, width, op, **attributes):
    names = ["x"] + [f"w{i}" for i in range(levels)]
    return [node(op, [names[i]] * width, [names[i + 1]], **attributes) for i in range(levels)]


def body_of_if(yes):
    return model([node("If", ["yes"], ["y"], then_branch=("g", yes), else_branch=("g", yes))], [X], [bare("y")],
                 [tensor("yes", [], BOOL, [True])])


PLUS = [node("Identity", ["go"], ["on"]), node("Sigmoid", ["v"], ["w"])]
REFUSED = "R0306"

# Name -> (model, "ok" or the code of the error that refuses it; None: whichever, as there may be a kernel for it
# one day).
BOMBS = {
    # constants that double
    "concat_constant": (scalar_of("v29", doubled(30), [tensor("c", [2], F32, [1, 2])]), REFUSED),
    "concat_result": (model(doubled(30) + [node("Identity", ["v29"], ["y"])], [X], [bare("y")],
                            [tensor("c", [2], F32, [1, 2])]), REFUSED),
    "concat_wide": (scalar_of("w3", [node("Concat", [a] * 40, [b], axis=0) for a, b in
                                     (("c", "w0"), ("w0", "w1"), ("w1", "w2"), ("w2", "w3"))],
                              [tensor("c", [32], F32, [1] * 32)]), REFUSED),
    "tile_constant": (scalar_of("v27", chain("Tile", "c", 28, "two"), [tensor("c", [2], F32, [1, 2]), ints("two", 2)]),
                      REFUSED),
    "pad_constant": (scalar_of("v9", [node("Pad", [f"v{i - 1}" if i else "c", f"p{i}"], [f"v{i}"]) for i in range(10)],
                               [tensor("c", [2], F32, [1, 2])] + [ints(f"p{i}", 0, 8000 * 4**i) for i in range(10)]), None),
    "resize_constant": (scalar_of("v11", chain("Resize", "c", 12, "", "by", mode="nearest"),
                                  [tensor("c", [1, 1, 2, 2], F32, [1, 2, 3, 4]),
                                   tensor("by", [4], F32, [1, 1, 2, 2])]), REFUSED),
    "gather_constant": (scalar_of("v5", [node("Gather", [f"v{i - 1}" if i else "c", "at"], [f"v{i}"], axis=i)
                                         for i in range(6)],
                                  [tensor("c", [2] * 6, F32, [1] * 64), ints("at", *([0, 1] * 16))]), None),
    "kronecker_constant": (scalar_of("v5", [node("Mul", [f"v{i - 1}" if i else "c", f"c{i}"], [f"v{i}"]) for i in range(6)],
                                     [tensor("c", [40], F32, [1] * 40)] +
                                     [tensor(f"c{i}", [30] + [1] * (i + 1), F32, [1] * 30) for i in range(6)]), "R0304"),
    "transposed_conv_constant": (scalar_of("v11", chain("ConvTranspose", "c", 12, "w", strides=[2, 2]),
                                           [tensor("c", [1, 1, 2, 2], F32, [1] * 4),
                                            tensor("w", [1, 1, 2, 2], F32, [1] * 4)]), REFUSED),
    "conv_pads_constant": (scalar_of("v7", chain("Conv", "c", 8, "w", pads=[4000] * 4),
                                     [tensor("c", [1, 1, 2, 2], F32, [1] * 4), tensor("w", [1, 1, 1, 1], F32, [1])]), None),
    "one_hot_constant": (scalar_of("o", [node("OneHot", ["c", "depth", "values"], ["o"])],
                                   [ints("c", *range(100)), number("depth", 1 << 22, I64),
                                    tensor("values", [2], F32, [0, 1])]), None),
    "eye": (scalar_of("e", [filled("z", "s"), node("EyeLike", ["z"], ["e"])], [ints("s", 30000, 30000)]), REFUSED),
    "eyes": (scalar_of("e9", [filled("z", "s")] + [node("EyeLike", ["z"], [f"e{i}"], k=i) for i in range(10)] +
                       [node("ReduceSum", [f"e{i}"], [f"r{i}"], keepdims=0) for i in range(10)], [ints("s", 2900, 2900)]),
             REFUSED),
    "window": (scalar_of("w", [node("HannWindow", ["n"], ["w"])], [number("n", 1 << 30, I64)]), None),
    "mel": (scalar_of("m", [node("MelWeightMatrix", ["bands", "points", "rate", "low", "high"], ["m"])],
                      [number("bands", 8000, I64), number("points", 1 << 20, I64), number("rate", 16000, I64),
                       number("low", 0.0), number("high", 8000.0)]), None),
    # numbers that are generated
    "range": (model([node("Range", ["from", "to", "by"], ["y"])], [], [bare("y")],
                    [number("from", 0.0), number("to", 3e7), number("by", 1.0)]), REFUSED),
    "range_integers": (model([node("Range", ["from", "to", "by"], ["y"])], [], [bare("y")],
                             [number("from", 0, I64), number("to", 1 << 62, I64), number("by", 1, I64)]), REFUSED),
    "ranges": (model([node("Range", ["from", f"to{i}", "by"], [f"y{i}"]) for i in range(12)], [],
                     [bare(f"y{i}") for i in range(12)], [number("from", 0.0), number("by", 1.0)] +
                     [number(f"to{i}", 1e6 + i) for i in range(12)]), "ok"),
    "constant_of_shape": (model([filled("y", "s")], [X], [bare("y")], [ints("s", 1 << 20, 1 << 9)]), None),
    "random": (model([node("RandomNormal", [], ["y"], shape=[1 << 20, 1 << 10])], [X], [bare("y")]), None),
    "affine_grid": (scalar_of("g", [node("AffineGrid", ["t", "s"], ["g"])],
                              [tensor("t", [1, 2, 3], F32, [1] * 6), ints("s", 1, 1, 30000, 30000)], version=20), "R0304"),
    "attention_mask": (model([node("Attention", ["q", "q", "q"], ["y"], is_causal=1)], [info("q", [1, 1, 60000, 1])],
                             [bare("y")], version=23), None),
    "fourier": (scalar_of("d", [node("DFT", ["z"], ["d"], axis=1)], [], inputs=(X, info("z", [1, 30000, 1]))), None),
    "frames": (scalar_of("d", [node("STFT", ["z", "step", "", "length"], ["d"])],
                         [number("step", 1, I64), number("length", 8192, I64)], inputs=(X, info("z", [1, 100000, 1]))), None),
    "cumulative_sum": (model([node("CumSum", ["x", "axis"], ["y"])], [info("x", [1, 60000])], [bare("y")],
                             [number("axis", 1, I64)]), None),
    # what a shape, or a condition, depends on
    "asked_for_big": (model([filled("v", "s")] +
                            [node("Add", [f"a{i - 1}" if i else "v", "one"], [f"a{i}"]) for i in range(20)] +
                            [node("ReduceMax", ["a19"], ["m"], keepdims=0), node("Cast", ["m"], ["k"], to=7),
                             node("Unsqueeze", ["k", "axis"], ["shape"]), node("ConstantOfShape", ["shape"], ["t"]),
                             node("ReduceSum", ["t"], ["sum"], keepdims=0), node("Add", ["x", "sum"], ["y"])], [X], [bare("y")],
                            [ints("s", 1 << 23), number("one", 1.0), ints("axis", 0)]), REFUSED),
    "asked_along": (model(ask_along(25) + [node("Relu", ["r24"], ["y"])], [X], [bare("y")], [number("one", 1, I64)]), "ok"),
    # work
    "products": (scalar_of("p11", [filled("z", "s"), node("EyeLike", ["z"], ["e"])] +
                           [node("MatMul", [f"p{i - 1}" if i else "e", "e"], [f"p{i}"]) for i in range(12)],
                           [ints("s", 600, 600)]), REFUSED),
    "einsum": (scalar_of("p11", [filled("z", "s"), node("EyeLike", ["z"], ["e"])] +
                         [node("Einsum", [f"p{i - 1}" if i else "e", "e"], [f"p{i}"], equation="ij,jk->ik") for i in range(12)],
                         [ints("s", 600, 600)]), REFUSED),
    "sines": (scalar_of("v29", [node("Range", ["from", "to", "by"], ["r"])] + chain("Sin", "r", 30),
                        [number("from", 0.0), number("to", 1e7), number("by", 1.0)]), REFUSED),
    # nodes
    "loop": (model([loop("n", "", PLUS)], [X], [bare("y")], [number("n", 1 << 40, I64)]), REFUSED),
    "loop_forever": (model([loop("", "yes", PLUS)], [X], [bare("y")], [tensor("yes", [], BOOL, [True])]), REFUSED),
    "loop_stacked": (model([loop("n", "", PLUS, 1)], [X], [bare("y"), bare("s")], [number("n", 3000, I64)]), "ok"),
    "loops_nested": (model([loop("n", "", [node("Identity", ["go"], ["on"]), node("Loop", ["n", "", "v"], ["w"], body=("g", graph(
        [node("Identity", ["h"], ["e"]), node("Loop", ["n", "", "u"], ["t"], body=("g", graph(
            [node("Identity", ["k"], ["l"]), node("Sigmoid", ["p"], ["q"])], [bare("o"), bare("k"), bare("p")],
            [bare("l"), bare("q")])))], [bare("j"), bare("h"), bare("u")], [bare("e"), bare("t")])))])], [X], [bare("y")],
        [number("n", 1000, I64)]), REFUSED),
    "scan": (model([node("Scan", ["q"], ["y"], num_scan_inputs=1, body=("g", graph(
        [node("Sigmoid", ["e"], ["o"])], [bare("e")], [bare("o")])))], [info("q", [1 << 20, 1])], [bare("y")]), REFUSED),
    "ifs": (body_of_if(nested_ifs(10)), "ok"),
    "functions": (model([node("f0", ["x"], ["y"], "f")], [X], [bare("y")],
                        functions=doubling_functions(18, [node("Sigmoid", ["a"], ["b"])])), REFUSED),
    "functions_of_nothing": (model([node("f0", ["x"], ["y"], "f")], [X], [bare("y")],
                                   functions=doubling_functions(18, [node("Identity", ["a"], ["b"])])), REFUSED),
    "functions_wide": (model([node("f0", ["x"], ["y"], "f")], [X], [bare("y")],
                             functions=doubling_functions(12, [node("Sum", ["a"] * 150, ["b"])])), REFUSED),
    "functions_pools": (model([node("f0", ["x"], ["y"], "f")], [info("x", [1, 1, 4, 4])], [bare("y")],
                              functions=doubling_functions(15, [node("MaxPool", ["a"], ["b"], kernel_shape=[3, 3],
                                                                     pads=[1] * 4)])), REFUSED),
    # activations: they may be as large as the arena, and cost the compiler nothing
    "expand": (scalar_of("e", [node("Expand", ["x", "s"], ["e"])], [ints("s", 1 << 16, 1 << 10, 1, 4)]), None),
    "concat_run_time": (model(wide(4, 60, "Concat", axis=1) + [node("ReduceSum", ["w3"], ["y"])], [X], [bare("y")]), "ok"),
    "concat_too_big": (model(wide(6, 60, "Concat", axis=1) + [node("ReduceSum", ["w5"], ["y"])], [X], [bare("y")]), "R0304"),
    "sums_wide": (model(wide(10, 25, "Sum") + [node("Relu", ["w9"], ["y"])], [X], [bare("y")]), "ok"),
    "conv_pads": (model([node("Conv", ["x", "w"], ["v"], pads=[10000] * 4), node("ReduceMax", ["v"], ["y"])],
                        [info("x", [1, 1, 2, 2])], [bare("y")], [tensor("w", [1, 1, 1, 1], F32, [2])]), None),
    "transposed_conv": (model([node("ConvTranspose", ["x", "w"], ["v"], strides=[20000, 20000]),
                               node("ReduceMax", ["v"], ["y"])], [info("x", [1, 1, 2, 2])], [bare("y")],
                              [tensor("w", [1, 1, 1, 1], F32, [2])]), None),
    "pool_window": (model([node("MaxPool", ["x"], ["y"], kernel_shape=[20000, 20000], pads=[10000] * 4)],
                          [info("x", [1, 1, 20000, 20000])], [bare("y")]), None),
    "upsample": (model(chain("Resize", "x", 10, "", "by", mode="linear") + [node("ReduceMax", ["v9"], ["y"])],
                       [info("x", [1, 1, 8, 8])], [bare("y")], [tensor("by", [4], F32, [1, 1, 2, 2])]), "ok"),
    "recurrent": (model([node("LSTM", ["x", "w", "r"], ["", "y"], hidden_size=2)], [info("x", [1 << 20, 1, 1])], [bare("y")],
                        [tensor("w", [1, 8, 1], F32, [1] * 8), tensor("r", [1, 8, 2], F32, [1] * 16)]), "ok"),
    "weights_of_expand": (model([node("Expand", ["c", "s"], ["w"]), node("Conv", ["x", "w"], ["v"]),
                                 node("ReduceMax", ["v"], ["y"])], [info("x", [1, 4096, 1, 1])], [bare("y")],
                                [tensor("c", [1, 1, 1, 1], F32, [1]), ints("s", 4096, 4096, 1, 1)]), None),
    "splits": (model([node("Split", ["x"], [f"v{i}" for i in range(100)], axis=1),
                      node("Concat", [f"v{i}" for i in reversed(range(100))], ["y"], axis=1)], [info("x", [1, 100])],
                     [bare("y")]), "ok"),
}
