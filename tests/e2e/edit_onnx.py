#!/usr/bin/env python3
"""Another version of a model, for transcripts of relayc diff: edit_onnx.py IN OUT weights|node|names [NAME]

weights: adds 0.125 to every second element of the initialiser NAME
node:    puts a Sigmoid called "inserted" behind the node NAME
names:   calls all nodes n0, n1 ...
"""
import os
import shutil
import sys

try:
    import onnx
    from onnx import helper, numpy_helper
except ImportError:  # the Python packages of .ci/deps lie beside relayc, or one folder up beside its sanitized build
    here = os.path.dirname(os.path.realpath(shutil.which("relayc")))
    found = [path for path in (f"{here}/python/bin/python3", f"{here}/../python/bin/python3")
             if os.path.exists(path) and path != sys.executable]
    if not found or os.environ.get("EDIT_ONNX"):
        sys.exit("edit_onnx.py: no Python has the package onnx; .ci/deps installs it")
    os.environ["EDIT_ONNX"] = "again"
    os.execv(found[0], [found[0], *sys.argv])


def change_weights(graph, name):
    (tensor,) = [t for t in graph.initializer if t.name == name]
    array = numpy_helper.to_array(tensor).copy()
    array.reshape(-1)[::2] += 0.125
    tensor.CopyFrom(numpy_helper.from_array(array, name))


def insert_node(graph, name):
    at = [node.name for node in graph.node].index(name)
    was = graph.node[at].output[0]
    for node in graph.node:
        node.input[:] = ["inserted_y" if x == was else x for x in node.input]
    graph.node.insert(at + 1, helper.make_node("Sigmoid", [was], ["inserted_y"], name="inserted"))


def rename(graph):
    for i, node in enumerate(graph.node):
        node.name = f"n{i}"


model = onnx.load(sys.argv[1])
edit = {"weights": change_weights, "node": insert_node, "names": rename}[sys.argv[3]]
edit(model.graph, *sys.argv[4:])
onnx.save(model, sys.argv[2])
