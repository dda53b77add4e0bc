"""Networks of networks.py with branches and loops: IF and WHILE, whose bodies are subgraphs."""
import numpy as np
from networks import NONE, RELU
from operators import Family

IF, WHILE, ADD, SUB, MUL, LESS, GREATER, LOGICAL_AND, DENSE, RESHAPE = 118, 119, 0, 41, 18, 58, 61, 86, 9, 22
GATHER, READ, ASSIGN, HANDLE, CAST, MINIMUM = 36, 143, 144, 142, 53, 57


class Control(Family):
    """With subgraphs, and plain integers."""

    def data(self):
        """Integers of all sizes, of both signs; a few of 8 bits that count rounds."""
        arrays = super().data()
        for array in arrays:
            if array.dtype == np.int8 and array[0].size == 1:
                array[:, 0] = (2, 100, -7, 4)
            if array.dtype == np.int32:
                array[:] = (self.rng.choice(np.array([-1, 1]), array.shape) * 7.0**self.rng.integers(0, 5, array.shape)).astype(np.int32)
        return arrays

    def body(self, *types):
        """A subgraph of these inputs: (shape, type) or (shape, type, scale, zero). Its number, and itself."""
        body = Control(self.rng.integers(1 << 30))
        body.inputs = [body.tensor(*t) for t in types]
        self.bodies.append(body)
        return len(self.bodies), body

    def whole(self, number):
        return self.tensor([1], "int32", data=np.array([number], np.int32))

    def plain(self, code, a, b, kind, dtype="int32"):
        return self.of(code, [a, b], [1], None, dtype, [(1, NONE)] if code in (ADD, SUB, MUL) else None, kind)

    def layer(self, x, n, quant, activation=NONE):
        w = self.weights([n, n], 0.01)
        return self.of(DENSE, [x, w, self.bias(n, quant[0] * 0.01)], [1, n], quant, options=[(1, activation)], kind=8, version=3)

    def choose(self, condition, inputs, bodies, result):
        y = self.tensor(*result)
        self.add(IF, 1, [condition, *inputs], [y], [(4, n) for n in bodies], 92)
        return y

    def loop(self, inputs, condition, body):
        """The results, of the inputs' types."""
        y = []
        for i in inputs:
            t = self.tensors[i]
            y.append(self.tensor(t["shape"], t["dtype"], t["scale"] or None, t["zero"]))
        self.add(WHILE, 1, inputs, y, [(4, condition), (4, body)], 93)
        return y


CODES = ([1, 6], "int8", 0.05, -3)
COUNT = ([1], "int32")


def branches(seed):
    """One layer or another, by the sum of two numbers; one branch gives what it is given; a branch within a branch."""
    net = Control(seed)
    x, a, b = net.input([1, 6]), net.input([1], dtype="int32", scale=None), net.input([1], dtype="int32", scale=None)
    yes, then = net.body(CODES)
    then.result(then.layer(then.inputs[0], 6, (0.05, -3), RELU))
    no, other = net.body(CODES)
    other.result(other.layer(other.layer(other.inputs[0], 6, (0.05, -3)), 6, (0.05, -3)))
    same, as_it_is = net.body(CODES)
    as_it_is.result(as_it_is.inputs[0])
    deep, inner = net.body(CODES, COUNT)
    inner.result(inner.choose(inner.plain(GREATER, inner.inputs[1], inner.whole(0), 44, "bool"), inner.inputs[:1], (yes, same), CODES))
    deep_too, plain = net.body(CODES, COUNT)
    plain.result(plain.of(ADD, [plain.inputs[0], plain.codes([1, 6])], [1, 6], (0.05, -3), options=[(1, NONE)], kind=11))
    less = net.plain(LESS, a, b, 41, "bool")
    y = [net.choose(less, [x], (yes, no), CODES), net.choose(less, [x], (same, no), CODES),
         net.choose(less, [x, a], (deep, deep_too), CODES)]
    known = net.tensor([1], "bool", data=np.array([True]))
    y.append(net.choose(known, [y[0]], (no, yes), CODES))
    return net.result(*y)


def counted(seed):
    """Five rounds of a layer and a number that each adds; the row of a table that the count says."""
    net = Control(seed)
    x, n = net.input([1, 6]), net.input([1], dtype="int32", scale=None)
    test, condition = net.body(COUNT, CODES, COUNT)
    condition.result(condition.plain(LESS, condition.inputs[0], condition.whole(5), 41, "bool"))
    step, body = net.body(COUNT, CODES, COUNT)
    i, y, total = body.inputs
    row = body.of(RESHAPE, [body.of(GATHER, [body.codes([5, 6]), i], [1, 6], options=[(4, 0), (4, 0)], kind=23), body.ints([1, 6])], [1, 6],
                  options=[None], kind=17)
    y = body.of(ADD, [body.layer(y, 6, (0.05, -3), RELU), row], [1, 6], (0.05, -3), options=[(1, NONE)], kind=11)
    body.result(body.plain(ADD, i, body.whole(1), 11), y, body.plain(ADD, total, i, 11))
    return net.result(*net.loop([net.whole(0), x, n], test, step))


def open_ended(seed):
    """At most eight rounds, as long as a number stays below 1000: none, some, all."""
    net = Control(seed)
    x, n = net.input([1, 6]), net.input([1], dtype="int32", scale=None)
    test, condition = net.body(COUNT, COUNT, CODES)
    condition.result(condition.plain(LOGICAL_AND, condition.plain(LESS, condition.inputs[1], condition.whole(1000), 41, "bool"),
                                     condition.plain(LESS, condition.inputs[0], condition.whole(8), 41, "bool"), 62, "bool"))
    step, body = net.body(COUNT, COUNT, CODES)
    i, number, y = body.inputs
    body.result(body.plain(ADD, i, body.whole(1), 11), body.plain(ADD, body.plain(MUL, number, body.whole(3), 21), i, 11),
                body.layer(y, 6, (0.05, -3)))
    return net.result(*net.loop([net.whole(0), n, x], test, step))


def nested(seed):
    """Three rounds of two rounds; a branch in the inner loop."""
    net = Control(seed)
    x, n = net.input([1, 6]), net.input([1], dtype="int32", scale=None)
    outer_test, condition = net.body(COUNT, CODES, COUNT)
    condition.result(condition.plain(LESS, condition.inputs[0], condition.whole(3), 41, "bool"))
    outer, body = net.body(COUNT, CODES, COUNT)
    inner_test, condition = net.body(COUNT, CODES, COUNT)
    condition.result(condition.plain(GREATER, condition.inputs[0], condition.whole(-2), 44, "bool"))
    inner, of = net.body(COUNT, CODES, COUNT)
    yes, then = net.body(CODES)
    then.result(then.layer(then.inputs[0], 6, (0.05, -3)))
    no, other = net.body(CODES)
    other.result(other.of(ADD, [other.inputs[0], other.inputs[0]], [1, 6], (0.05, -3), options=[(1, RELU)], kind=11))
    y = of.choose(of.plain(LESS, of.inputs[0], of.inputs[2], 41, "bool"), of.inputs[1:2], (yes, no), CODES)
    of.result(of.plain(SUB, of.inputs[0], of.whole(1), 28), y, of.plain(ADD, of.inputs[2], of.inputs[2], 11))
    results = body.loop([body.whole(0), body.inputs[1], body.inputs[2]], inner_test, inner)
    body.result(body.plain(ADD, body.inputs[0], body.whole(1), 11), results[1], results[2])
    return net.result(*net.loop([net.whole(0), x, n], outer_test, outer))


def kept_in_branches(seed):
    """A variable that one branch changes: a sum that is reset, or goes on."""
    net = Control(seed)
    x, n = net.input([1, 6]), net.input([1], dtype="int32", scale=None)

    def handle(graph):
        resource = graph.tensor([], "int8", resource=True)
        graph.add(HANDLE, 1, [], [resource], [None, ("s", "sum")], 111)
        return resource

    def read(graph, resource):
        return graph.of(READ, [resource], [1, 6], (0.05, -3), options=[], kind=112)

    first = read(net, handle(net))
    yes, then = net.body(CODES)
    resource = handle(then)
    total = then.of(ADD, [read(then, resource), then.inputs[0]], [1, 6], (0.05, -3), options=[(1, NONE)], kind=11)
    then.add(ASSIGN, 1, [resource, total], [], [], 113)
    then.result(total)
    no, other = net.body(CODES)
    other.result(other.inputs[0])
    y = net.choose(net.plain(LESS, n, net.whole(0), 41, "bool"), [x], (yes, no), CODES)
    return net.result(y, net.of(ADD, [read(net, handle(net)), first], [1, 6], (0.11, 4), options=[(1, NONE)], kind=11))


def at_most_five(net):
    """An input of 8 bits as a count: as it is, or 5."""
    n = net.of(CAST, [net.input([1])], [1], None, "int32", [], 37)
    return net.of(MINIMUM, [n, net.whole(5)], [1], None, "int32", [], 39)


def counted_up(seed):
    """As many rounds as a number of run time says, which is 5 at most."""
    net = Control(seed)
    x, n = net.input([1, 6]), at_most_five(net)
    test, condition = net.body(COUNT, COUNT, CODES)
    condition.result(condition.plain(LESS, condition.inputs[0], condition.inputs[1], 41, "bool"))
    step, body = net.body(COUNT, COUNT, CODES)
    i, most, y = body.inputs
    body.result(body.plain(ADD, i, body.whole(1), 11), most, body.layer(y, 6, (0.05, -3)))
    return net.result(*net.loop([net.whole(0), n, x], test, step))


def counted_down(seed):
    """A number of run time, 5 at most, is counted down to 0."""
    net = Control(seed)
    x, n = net.input([1, 6]), at_most_five(net)
    test, condition = net.body(COUNT, CODES)
    condition.result(condition.plain(GREATER, condition.inputs[0], condition.whole(0), 44, "bool"))
    step, body = net.body(COUNT, CODES)
    body.result(body.plain(SUB, body.inputs[0], body.whole(1), 28), body.layer(body.inputs[1], 6, (0.05, -3)))
    return net.result(*net.loop([n, x], test, step))


def unbounded(seed):
    """Until a number reaches 1000; a variable that each round changes. It takes --max-rounds (of tests/e2e/tflite.py)."""
    net = Control(seed)
    x, n = net.input([1, 6]), net.input([1], dtype="int32", scale=None)

    def handle(graph):
        resource = graph.tensor([], "int8", resource=True)
        graph.add(HANDLE, 1, [], [resource], [None, ("s", "sum")], 111)
        return resource

    def read(graph):
        return graph.of(READ, [handle(graph)], [1, 6], (0.05, -3), options=[], kind=112)

    before = read(net)
    test, condition = net.body(COUNT, CODES)
    condition.result(condition.plain(LESS, condition.inputs[0], condition.whole(1000), 41, "bool"))
    step, body = net.body(COUNT, CODES)
    number, y = body.inputs
    y = body.layer(y, 6, (0.05, -3))
    total = body.of(ADD, [read(body), y], [1, 6], (0.05, -3), options=[(1, NONE)], kind=11)
    body.add(ASSIGN, 1, [handle(body), total], [], [], 113)
    body.result(body.plain(ADD, number, body.whole(400), 11), y)
    return net.result(*net.loop([n, x], test, step), before, read(net))


def updated(seed):
    """Blocks in the place of others, which begin where run time says, or the file: of rows, of parts of rows, everywhere."""
    net = Control(seed)
    x, row, n, m = net.input([2, 6, 4]), net.input([2, 1, 4]), *(net.input([1], dtype="int32", scale=None) for _ in range(2))
    at = net.of(2, [net.whole(1), n, m], [3], None, "int32", [(4, 0), (1, NONE)], 10)
    small = net.codes([1, 3, 2], (0.05, -3))
    numbers = net.floats([5, 3])

    def update(x, block, at, shape, quant=(0.05, -3), dtype="int8"):
        return net.of(151, [x, block, at], shape, quant, dtype, [], 117)

    y = [update(x, row, at, [2, 6, 4]), update(x, small, at, [2, 6, 4]), update(x, small, net.ints([1, 2, 1]), [2, 6, 4]),
         update(x, small, net.ints([-7, 9, 2]), [2, 6, 4]), update(row, row, at, [2, 1, 4]),
         update(numbers, net.floats([2, 3]), net.of(2, [n, m], [2], None, "int32", [(4, 0), (1, NONE)], 10), [5, 3], None, "float32")]
    return net.result(*y)


def control():
    """NAME -> Network."""
    return {"branches": branches(150), "loop": counted(151), "loop_open": open_ended(163), "loop_nested": nested(153),
            "loop_up": counted_up(155), "loop_down": counted_down(156), "loop_unbounded": unbounded(157),
            "block_updated": updated(158), "state_in_branches": kept_in_branches(154)}
