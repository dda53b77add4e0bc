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
