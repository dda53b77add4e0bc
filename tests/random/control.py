"""Pieces with branches and loops whose conditions are computed at run time."""
import numpy as np
import onnx
from onnx import TensorProto, helper

import moves
from moves import piece
from network import SIGNED_WEIGHTS, Reject

DEEPEST = 2
MOST_NODES = 8
depth = [0]


def condition(n, x):
    """An input of its own, or whether x is more than what it is about: one set of inputs takes one side, another the
    other."""
    if n.chance(0.3):
        known = [name for name in n.inputs if n.values[name].dtype == np.bool_]
        return n.choice(known) if known and n.chance(0.5) else n.input([1], np.array([n.chance(0.5)]))
    mean = n.op("ReduceMean", [x], keepdims=0, keep=False)
    bound = n.const(np.float32(n.values[mean] + n.rng.normal() * 0.02))
    return n.op(n.choice(["Greater", "Less"]), [mean, bound], keep=False)


def moved(n, nodes, constants, name, inputs=()):
    """Nodes and constants that were added last, as a graph that gives this value."""
    inner = n.nodes[nodes:]
    if any(node.op_type in SIGNED_WEIGHTS for node in inner):  # network.with_unsigned_weights does not see them
        raise Reject("products that saturate")
    del n.nodes[nodes:]
    fresh = [key for key in n.constants if key not in constants]
    info = [helper.make_tensor_value_info(key, TensorProto.FLOAT, list(n.shape(key))) for key in (name, *inputs)]
    return helper.make_graph(inner, n.name("branch"), info[1:], info[:1],
                             [onnx.numpy_helper.from_array(n.constants.pop(key), key) for key in fresh])


def branch(n, x, shape):
    """A few pieces that begin with x and end in this shape."""
    made, nodes, constants, inputs = n.made, len(n.nodes), set(n.constants), len(n.inputs)
    n.made = [x]
    try:
        pieces, weights = zip(*moves.PIECES)
        for _ in range(n.choice([0, 1, 1, 2, 3])):
            if len(n.nodes) - nodes < MOST_NODES:
                n.attempt(n.choice(pieces, weights))
        y = n.choice(n.made[-2:])
        if len(n.inputs) > inputs or not n.is_float(y):
            raise Reject("no branch")
        if n.shape(y) != shape:
            y = n.op("Add", [x, n.op("ReduceMean", [y], keepdims=0)])
        elif not n.nodes[nodes:]:
            y = n.op("Identity", [y])
        return moved(n, nodes, constants, y)
    finally:
        n.made = made


@piece(10)
def branched(n):
    if depth[0] == DEEPEST:
        raise Reject("deep enough")
    depth[0] += 1
    try:
        x = n.float_value(1, 2, 3, 4)
        on = condition(n, x)
        yes, no = branch(n, x, n.shape(x)), branch(n, x, n.shape(x))
        n.op("If", [on], then_branch=yes, else_branch=no)
    finally:
        depth[0] -= 1


@piece(3)
def repeated(n):
    """A loop over a value, of a known number of rounds, which a condition may end sooner."""
    if depth[0] == DEEPEST:
        raise Reject("deep enough")
    x = n.float_value(1, 2, 3, 4)
    shape, rounds = n.shape(x), n.between(1, 4) if n.chance(0.7) else n.between(5, 14)
    state, on, step, goes_on = (n.name(stem) for stem in ("state", "on", "step", "goes_on"))
    n.values[state] = n.values[x]
    depth[0] += 1
    try:
        body = branch(n, state, shape)
    finally:
        depth[0] -= 1
    info, flag = helper.make_tensor_value_info, TensorProto.BOOL
    results = [info(goes_on, flag, []), *body.output]
    if n.chance(0.5):  # what each round gives; the number of rounds is known then
        seen = n.name("seen")
        body.node.append(helper.make_node("Tanh", [body.output[0].name], [seen]))
        results.append(info(seen, TensorProto.FLOAT, list(shape)))
        body.node.append(helper.make_node("Identity", [on], [goes_on]))
    else:
        mean, bound = n.name("mean"), n.const(np.float32(n.values[x].mean() + n.rng.normal() * 0.2))
        body.node.append(helper.make_node("ReduceMean", [body.output[0].name], [mean], keepdims=0))
        body.node.append(helper.make_node("Greater", [mean, bound], [goes_on]))
    del body.input[:], body.output[:]
    body.input.extend([info(step, TensorProto.INT64, []), info(on, flag, []), info(state, TensorProto.FLOAT, list(shape))])
    body.output.extend(results)
    n.op("Loop", [n.const(np.int64(rounds)), n.const(np.array(True)), x], outputs=len(results) - 1, body=body)


@piece(3)
def scanned(n):
    """A scan along an axis of a value, forwards or backwards, often of enough rounds for a loop in the C."""
    if depth[0] == DEEPEST:
        raise Reject("deep enough")
    x = n.float_value(2, 3)
    axis = n.below(len(n.shape(x)))
    if n.shape(x)[axis] < 8 and n.chance(0.7):
        x = n.op("Concat", [x] * n.choice([4, 8]), axis=axis, keep=False)
    if n.shape(x)[axis] > 40:
        raise Reject("too many")
    first = np.take(n.values[x], 0, axis)
    state, part, new, seen = (n.name(stem) for stem in ("state", "part", "new", "seen"))
    n.values[state] = first
    depth[0] += 1
    try:
        body = branch(n, state, first.shape)
    finally:
        depth[0] -= 1
    body.node.extend([helper.make_node("Add", [body.output[0].name, part], [f"{new}_sum"]),
                      helper.make_node("Tanh", [f"{new}_sum"], [new]), helper.make_node("Neg", [new], [seen])])
    del body.input[:], body.output[:]
    body.input.extend([helper.make_tensor_value_info(name, TensorProto.FLOAT, list(first.shape)) for name in (state, part)])
    body.output.extend([helper.make_tensor_value_info(name, TensorProto.FLOAT, list(first.shape)) for name in (new, seen)])
    n.op("Scan", [n.const(np.zeros(first.shape, np.float32)), x], outputs=2, body=body, num_scan_inputs=1,
         scan_input_axes=[axis], scan_input_directions=[n.below(2)],
         scan_output_axes=[n.choice([0, axis])], scan_output_directions=[n.below(2)])


@piece(1)
def listed(n):
    """Parts as a sequence, of which some stand elsewhere afterwards."""
    x = n.float_value(2, 3, 4)
    axis = n.choice([i for i, d in enumerate(n.shape(x)) if d > 1])
    parts = n.shape(x)[axis]
    if parts > 8:
        raise Reject("too many")
    rows = [n.op("Gather", [x, n.ints([i])], axis=axis, keep=False) for i in range(parts)]
    y = n.name("sequence")
    made = [helper.make_node("SequenceConstruct", rows, [y])]
    other, first = n.name("sequence"), n.const(np.int64(n.below(parts)))
    made.append(helper.make_node("SequenceInsert", [y, rows[-1], first], [other]))
    made.append(helper.make_node("SequenceErase", [other, n.const(np.int64(0))], [n.name("sequence")]))
    result = n.name("joined")
    made.append(helper.make_node("ConcatFromSequence", [made[-1].output[0]], [result], axis=axis))
    order = list(rows)
    order.insert(int(n.values[first]), rows[-1])
    n.values[result] = np.concatenate([n.values[row] for row in order[1:]], axis=axis)
    n.nodes.extend(made)
    n.made.append(result)
