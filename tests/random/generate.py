#!/usr/bin/env python3
"""generate.py SEED ... FOLDER: the random network of each seed, as FOLDER/SEED.onnx."""
import os
import sys

import contributed  # noqa: F401, the pieces register themselves
import control  # noqa: F401
import elementwise  # noqa: F401
import idioms  # noqa: F401
import moves
import others  # noqa: F401
import products  # noqa: F401
import spatial  # noqa: F401
from network import MOST_ELEMENTS, Network, Reject, session

import numpy as np


def first_input(n):
    rank = n.choice([2, 3, 4, 4, 4, 4, 5], None)
    shape = [n.dim() for _ in range(rank)]
    if rank >= 4 and n.chance(0.7):
        shape[0] = 1
        if n.chance(0.5):
            shape[1] = n.choice([1, 3, 8, 16])
        shape[2:] = [n.choice([4, 8, 12, 16, 17, 5, n.choice([6, 7, 9, 33])]) for _ in shape[2:]]
    elif n.chance(0.5):
        shape[0] = 1
    while np.prod(shape) > MOST_ELEMENTS // 2:
        shape[int(np.argmax(shape))] //= 2
    return n.input(shape)


def another_input(n):
    """Of a shape that a value has, in this order or another, or of any."""
    if n.chance(0.6):
        shape = list(n.shape(n.choice(n.made)))
        if n.chance(0.5):
            shape = [shape[int(i)] for i in n.rng.permutation(len(shape))]
        n.input(shape)
    else:
        first_input(n)


def generate(seed):
    """The network of a seed: the object that made it, and the model."""
    for again in range(20):
        n = Network([seed, again])
        try:
            first_input(n)
            for _ in range(n.choice([0, 0, 0, 1, 1, 2])):
                n.attempt(another_input)
            wanted = n.choice([n.between(3, 6), n.between(5, 12), n.between(10, 30)])
            pieces, weights = zip(*moves.PIECES)
            favour = np.array(weights, float) * n.rng.gamma(0.7, 1.0, len(weights))  # each network has its own taste
            for _ in range(6 * wanted):
                if len(n.nodes) >= wanted:
                    break
                n.attempt(n.choice(pieces, favour))
            if len(n.nodes) < 3:
                continue
            model = n.model()
            session(model)
            return n, model
        except Reject:
            continue
        except Exception as problem:  # ONNX Runtime refuses the whole
            if "onnxruntime" not in type(problem).__module__:
                raise
    return None, None


if __name__ == "__main__":
    *chosen, folder = sys.argv[1:]
    for number in chosen:
        _, made = generate(int(number))
        if made is None:
            print(f"{number}: no network")
            continue
        with open(os.path.join(folder, f"{number}.onnx"), "wb") as file:
            file.write(made.SerializeToString())
        print(f"{number}: opset {made.opset_import[0].version}, {len(made.graph.node)} nodes")
