"""Small classical models (ai.onnx.ml), made from seeds, and damaged ones."""
import numpy as np
from onnx import TensorProto, helper

BRANCHES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]
THRESHOLDS = [-1.0, -0.5, 0.0, 0.25, 0.5, 2.0]


def model(op, inputs, outputs, attrs, opset=3):
    """inputs: (name, type, shape); outputs: (name, type). One node."""
    node = helper.make_node(op, [i[0] for i in inputs], [o[0] for o in outputs], domain="ai.onnx.ml", **attrs)
    graph = helper.make_graph([node], "g", [helper.make_tensor_value_info(*i) for i in inputs],
                              [helper.make_tensor_value_info(name, kind, None) for name, kind in outputs])
    return helper.make_model(graph, ir_version=8,
                             opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", opset)])


def rows(random, n_features, n=40, special=True, dtype=np.float32):
    x = random.choice(THRESHOLDS + [1.0, 1.5, -3.0, 0.1], (n, n_features)).astype(dtype)
    x[::2] = random.normal(size=x[::2].shape)
    if special:
        x[random.random(x.shape) < 0.05] = np.nan
        x[0, 0], x[1, 0] = np.inf, -np.inf
    return x


def grow(random, n_trees, n_features, modes, missing):
    """Lists of nodes, and the leaves as (tree, node)."""
    lists = {key: [] for key in ("treeids", "nodeids", "featureids", "values", "modes", "truenodeids", "falsenodeids",
                                 "missing_value_tracks_true")}
    leaves = []

    def add(tree, depth, numbers):
        number = next(numbers)
        at = len(lists["treeids"])
        is_leaf = depth == 0 or random.random() < 0.15
        for key, value in (("treeids", tree), ("nodeids", number), ("featureids", int(random.integers(n_features))),
                           ("values", float(random.choice(THRESHOLDS))),
                           ("modes", "LEAF" if is_leaf else str(random.choice(modes))), ("truenodeids", 0),
                           ("falsenodeids", 0), ("missing_value_tracks_true", int(missing and random.integers(2)))):
            lists[key].append(value)
        if is_leaf:
            leaves.append((tree, number))
        else:
            lists["truenodeids"][at] = add(tree, depth - 1, numbers)
            lists["falsenodeids"][at] = add(tree, depth - 1, numbers)
        return number

    for tree in range(n_trees):
        add(tree, int(random.integers(5)), iter(range(1 << 20)))
    return {"nodes_" + key: value for key, value in lists.items()}, leaves


def entries(prefix, leaves, targets_of, random, negative):
    """What leaves add: targets_of(tree) is a list."""
    out = {f"{prefix}_{key}": [] for key in ("treeids", "nodeids", "ids", "weights")}
    for tree, node in leaves:
        for target in targets_of(tree):
            weight = float(np.float32(random.normal() if negative else random.random()))
            for key, value in (("treeids", tree), ("nodeids", node), ("ids", target), ("weights", weight)):
                out[f"{prefix}_{key}"].append(value)
    return out


def regressor(seed):
    random = np.random.default_rng(seed)
    n_targets = int(random.choice([1, 1, 2, 3]))
    n_trees, n_features = int(random.integers(1, 6)), int(random.integers(1, 5))
    modes = [["BRANCH_LEQ"], ["BRANCH_LT"], BRANCHES][seed % 3]
    attrs, leaves = grow(random, n_trees, n_features, modes, seed % 2)
    aggregate = str(random.choice(["SUM", "AVERAGE", "MIN", "MAX"]))
    # A target of no leaf gets its base value, but 0 in ONNX Runtime.
    one = n_trees >= n_targets > 1 and aggregate in ("SUM", "AVERAGE") and random.integers(2)
    attrs.update(entries("target", leaves, lambda tree: [tree % n_targets] if one else range(n_targets), random, True))
    attrs.update(n_targets=n_targets, aggregate_function=aggregate,
                 post_transform=str(random.choice(["NONE", "NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"])))
    if random.integers(2):
        attrs["base_values"] = random.normal(size=n_targets).astype(np.float32).tolist()
    dtype, kind = [(np.float32, TensorProto.FLOAT), (np.float64, TensorProto.DOUBLE)][seed % 5 == 4]
    return (f"regressor {seed}", model("TreeEnsembleRegressor", [("x", kind, [None, n_features])],
                                       [("y", TensorProto.FLOAT)], attrs), {"x": rows(random, n_features, dtype=dtype)})


def classifier(seed):
    random = np.random.default_rng(1000 + seed)
    n_classes = int(random.choice([2, 2, 3, 5]))
    n_trees, n_features = int(random.integers(1, 8)), int(random.integers(1, 5))
    attrs, leaves = grow(random, n_trees, n_features, [["BRANCH_LEQ"], ["BRANCH_LT"], BRANCHES][seed % 3], seed % 2)
    negative = bool(random.integers(2))
    if n_classes == 2:
        only = int(random.integers(2))
        targets = lambda tree: [only]  # noqa: E731
    else:
        one = random.integers(2) and n_trees >= n_classes
        targets = lambda tree: [tree % n_classes] if one else range(n_classes)  # noqa: E731
    attrs.update(entries("class", leaves, targets, random, negative))
    attrs["post_transform"] = str(random.choice(["NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"]))
    if n_classes > 2 and random.integers(2):
        attrs["base_values"] = random.normal(size=n_classes).astype(np.float32).tolist()
    if n_classes == 2 and only == 0 and random.integers(2):
        attrs["base_values"] = [float(np.float32(random.normal()))]
    strings = seed % 2 == 0
    if strings:
        attrs["classlabels_strings"] = ["no", 'say "b\\"', "ä?", "four", "five"][:n_classes]
    else:
        attrs["classlabels_int64s"] = ([0, 1, 2, 3, 4] if seed % 4 == 1 else [7, -3, 12, 0, 5])[:n_classes]
    kind = TensorProto.STRING if strings else TensorProto.INT64
    return (f"classifier {seed}", model("TreeEnsembleClassifier", [("x", TensorProto.FLOAT, [None, n_features])],
                                        [("label", kind), ("scores", TensorProto.FLOAT)], attrs),
            {"x": rows(random, n_features)})


def ensemble(seed):
    """TreeEnsemble of operator set 5: nodes and leaves in lists of their own, sets of members."""
    random = np.random.default_rng(2000 + seed)
    dtype, kind = [(np.float32, TensorProto.FLOAT), (np.float64, TensorProto.DOUBLE)][seed % 3 == 2]
    nodes, leaves, members, roots = [], [], [], []

    def tensor(name, values, of=None):
        return helper.make_tensor(name, of or kind, [len(values)], values)

    def add(depth):
        if depth == 0:
            leaves.append((int(random.integers(2)), float(dtype(random.normal()))))
            return len(leaves) - 1, 1
        at = len(nodes)
        nodes.append(None)
        mode = int(random.integers(7))
        # Sets stand in the order of the nodes.
        if mode == 6:
            members.append((at, random.choice([1.0, 2.0, 3.0, 7.0], 2, replace=False).tolist()))
        (yes, yes_leaf), (no, no_leaf) = add(depth - 1), add(int(random.integers(depth)))
        nodes[at] = (int(random.integers(3)), mode, float(random.choice(THRESHOLDS)), yes, yes_leaf, no, no_leaf)
        return at, 0

    for _ in range(int(random.integers(1, 4))):
        roots.append(add(int(random.integers(1, 5)))[0])
    attrs = {"tree_roots": roots, "n_targets": 2, "aggregate_function": 1, "post_transform": int(seed % 4),
             "nodes_featureids": [n[0] for n in nodes], "nodes_modes": tensor("m", [n[1] for n in nodes], TensorProto.UINT8),
             "nodes_splits": tensor("s", [n[2] for n in nodes]), "nodes_truenodeids": [n[3] for n in nodes],
             "nodes_trueleafs": [n[4] for n in nodes], "nodes_falsenodeids": [n[5] for n in nodes],
             "nodes_falseleafs": [n[6] for n in nodes], "leaf_targetids": [leaf[0] for leaf in leaves],
             "leaf_weights": tensor("w", [leaf[1] for leaf in leaves])}
    if members:
        attrs["membership_values"] = tensor(
            "v", [number for _, numbers in sorted(members) for number in numbers + [float("nan")]])
    # ONNX Runtime 1.32 takes SOFTMAX for LOGISTIC and the other way round.
    judge = dict(attrs, post_transform={1: 2, 2: 1}.get(attrs["post_transform"], attrs["post_transform"]))
    ours, theirs = (model("TreeEnsemble", [("x", kind, [None, 3])], [("y", kind)], a, 5) for a in (attrs, judge))
    return f"ensemble {seed}", ours, {"x": rows(random, 3, special=seed % 2 == 0, dtype=dtype)}, theirs


def linear():
    random = np.random.default_rng(5)
    for n, labels in ((1, 2), (3, 3), (2, 2)):
        for post in ("NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"):
            attrs = {"coefficients": random.normal(size=4 * n).tolist(), "intercepts": random.normal(size=n).tolist(),
                     "post_transform": post, "classlabels_ints": [3, 1, 2][:labels]}
            yield (f"linear classifier {n} {post}",
                   model("LinearClassifier", [("x", TensorProto.FLOAT, [None, 4])],
                         [("label", TensorProto.INT64), ("scores", TensorProto.FLOAT)], attrs, 1),
                   {"x": rows(random, 4, special=False)})
        attrs = {"coefficients": random.normal(size=4 * n).tolist(), "targets": n}
        yield (f"linear regressor {n}", model("LinearRegressor", [("x", TensorProto.FLOAT, [None, 4])],
                                              [("y", TensorProto.FLOAT)], attrs, 1),
               {"x": rows(random, 4, special=False)})


def support_vectors():
    random = np.random.default_rng(6)
    for kernel in ("LINEAR", "POLY", "RBF", "SIGMOID"):
        params = {"kernel_type": kernel, "kernel_params": [0.3, 0.5, 3.0]}
        for per_class in ([2, 3], [2, 1, 3], [0, 2, 2, 1]):
            n, vectors = len(per_class), sum(per_class)
            attrs = {"support_vectors": random.normal(size=3 * vectors).tolist(), "vectors_per_class": per_class,
                     "coefficients": random.normal(size=(n - 1) * vectors).tolist(),
                     "rho": random.normal(size=n * (n - 1) // 2).tolist(), "classlabels_ints": [5, 0, 9, 2][:n],
                     "post_transform": "LOGISTIC" if n == 3 else "NONE", **params}
            yield (f"svm classifier {kernel} {n}",
                   model("SVMClassifier", [("x", TensorProto.FLOAT, [None, 3])],
                         [("label", TensorProto.INT64), ("scores", TensorProto.FLOAT)], attrs, 1),
                   {"x": rows(random, 3, special=False)})
        for one_class in (0, 1):
            attrs = {"support_vectors": (100 + random.normal(size=15)).tolist(), "n_supports": 5, "one_class": one_class,
                     "coefficients": random.normal(size=5).tolist(), "rho": [0.1], **params}
            if kernel != "RBF": # numbers that are large beside their differences
                attrs["support_vectors"] = random.normal(size=15).tolist()
            x = rows(random, 3, special=False) + (100 if kernel == "RBF" else 0)
            yield (f"svm regressor {kernel} {one_class}",
                   model("SVMRegressor", [("x", TensorProto.FLOAT, [None, 3])], [("y", TensorProto.FLOAT)], attrs, 1),
                   {"x": x.astype(np.float32)})


def features():
    random = np.random.default_rng(7)
    one = [("x", TensorProto.FLOAT, [None, 3])]
    x = rows(random, 3, special=False)
    real, whole = [("y", TensorProto.FLOAT)], [("y", TensorProto.INT64)]
    x[3] = 0
    yield "scaler", model("Scaler", one, real, {"offset": [1., 2., 3.], "scale": [.5, 2., -1.]}, 1), {"x": x}
    yield "scaler of one", model("Scaler", one, real, {"offset": [1.], "scale": [.5]}, 1), {"x": x}
    yield ("scaler of integers", model("Scaler", [("x", TensorProto.INT64, [None, 3])], real,
                                       {"offset": [1., 2., 3.], "scale": [.5, 2., -1.]}, 1),
           {"x": random.integers(-9, 9, (5, 3))})
    for norm in ("MAX", "L1", "L2"):
        yield f"normalizer {norm}", model("Normalizer", one, real, {"norm": norm}, 1), {"x": x}
    yield "binarizer", model("Binarizer", one, real, {"threshold": 0.25}, 1), {"x": x}
    nan = x.copy()
    nan[::3, 1] = np.nan
    yield ("imputer", model("Imputer", one, real, {"imputed_value_floats": [1., 2., 3.],
                                                   "replaced_value_float": float("nan")}, 1), {"x": nan})
    yield ("imputer of a number", model("Imputer", one, real, {"imputed_value_floats": [7.],
                                                               "replaced_value_float": 0.25}, 1), {"x": x})
    yield ("imputer of integers", model("Imputer", [("x", TensorProto.INT64, [None, 3])], whole,
                                        {"imputed_value_int64s": [7], "replaced_value_int64": 2}, 1),
           {"x": random.integers(0, 4, (5, 3))})
    for kind, dtype in ((TensorProto.INT64, np.int64), (TensorProto.FLOAT, np.float32)):
        yield ("one-hot", model("OneHotEncoder", [("x", kind, [None, 2])], real, {"cats_int64s": [1, 5, 2], "zeros": 1}, 1),
               {"x": random.integers(0, 6, (9, 2)).astype(dtype)})
    for keys, values, dtype in (("int64s", "floats", np.int64), ("int64s", "int64s", np.int64),
                                ("floats", "int64s", np.float32), ("floats", "floats", np.float32),
                                ("int64s", "strings", np.int64), ("floats", "strings", np.float32)):
        attrs = {f"keys_{keys}": [4, 1, 9] if keys == "int64s" else [4., float("nan"), 9.5],
                 f"values_{values}": {"int64s": [5, 6, 7], "floats": [.5, .25, 8.], "strings": ["a", "b", "c"]}[values]}
        x2 = random.choice([4, 1, 9, 3], (3, 4)) if keys == "int64s" else random.choice([4., np.nan, 9.5, 3.], (3, 4))
        types = {"int64s": TensorProto.INT64, "floats": TensorProto.FLOAT, "strings": TensorProto.STRING}
        for opset in (2, 4):
            yield (f"labels {keys} {values} {opset}",
                   model("LabelEncoder", [("x", types[keys], [3, 4])], [("y", types[values])], attrs, opset),
                   {"x": x2.astype(dtype)})
    indices = [("x", TensorProto.FLOAT, [None, 3]), ("i", TensorProto.INT64, [2])]
    yield "extractor", model("ArrayFeatureExtractor", indices, real, {}, 1), {"x": x, "i": np.array([2, 0])}
    yield ("vectorizer", model("FeatureVectorizer", [("x", TensorProto.FLOAT, [None, 3]), ("z", TensorProto.FLOAT, [None, 1])],
                               real, {"inputdimensions": [3, 1]}, 1), {"x": x, "z": x[:, :1]})


def all_cases(n_seeds):
    for seed in range(n_seeds):
        yield regressor(seed)
        yield classifier(seed)
        if seed % 2 == 0:
            yield ensemble(seed)
    for cases in (linear(), support_vectors(), features()):
        yield from cases


def tree(**changes):
    """A sound tree, with some lists replaced."""
    attrs = {"nodes_treeids": [0, 0, 0], "nodes_nodeids": [0, 1, 2], "nodes_featureids": [0, 0, 0],
             "nodes_values": [0., 0., 0.], "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"], "nodes_truenodeids": [1, 0, 0],
             "nodes_falsenodeids": [2, 0, 0], "target_treeids": [0, 0], "target_nodeids": [1, 2], "target_ids": [0, 0],
             "target_weights": [1., 2.], "n_targets": 1}
    attrs.update(changes)
    return model("TreeEnsembleRegressor", [("x", TensorProto.FLOAT, [2, 1])], [("y", TensorProto.FLOAT)],
                 {key: value for key, value in attrs.items() if value is not None})


def chain(depth, back):
    """A tree of this depth; with `back`, its last node leads to its second one."""
    n = depth + 1
    return tree(nodes_treeids=[0] * (2 * n), nodes_nodeids=list(range(2 * n)), nodes_featureids=[0] * (2 * n),
                nodes_values=[float(i) for i in range(n)] + [0.] * n, nodes_modes=["BRANCH_LEQ"] * n + ["LEAF"] * n,
                nodes_truenodeids=[i + n for i in range(n)] + [0] * n,
                nodes_falsenodeids=[i + 1 for i in range(n - 1)] + [1 if back else 2 * n - 1] + [0] * n,
                target_treeids=[0] * n, target_nodeids=[i + n for i in range(n)], target_ids=[0] * n,
                target_weights=[1.] * n)


def damaged():
    return [
        ("cycle", tree(nodes_modes=["BRANCH_LEQ", "BRANCH_LEQ", "LEAF"], nodes_falsenodeids=[1, 2, 0],
                       nodes_truenodeids=[1, 1, 0]), "cycle"),
        ("no root", tree(nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"], nodes_truenodeids=[0, 0, 0],
                         nodes_falsenodeids=[0, 0, 0]), "two nodes that nothing leads to"),
        ("all in a ring", tree(nodes_modes=["BRANCH_LEQ"] * 3, nodes_truenodeids=[1, 2, 0], nodes_falsenodeids=[1, 2, 0]),
         "no tree has a root"),
        ("long cycle", chain(20000, True), "cycle"),
        ("child out of range", tree(nodes_truenodeids=[7, 0, 0]), "two nodes that nothing leads to"),
        ("no such child", tree(nodes_truenodeids=[7, 0, 0], nodes_falsenodeids=[2, 0, 0], nodes_treeids=[0, 1, 0]),
         "does not exist"),
        ("feature out of range", tree(nodes_featureids=[1, 0, 0]), "element 1 of rows of 1"),
        ("negative feature", tree(nodes_featureids=[-1, 0, 0]), "element -1 of rows of 1"),
        ("target out of range", tree(target_ids=[0, 3]), "number 3 of 1"),
        ("giant count of targets", tree(n_targets=1 << 62), "results"),
        ("many targets", tree(n_targets=(1 << 31) - 1), "error"),
        ("unknown mode", tree(nodes_modes=["BRANCH_MAYBE", "LEAF", "LEAF"]), "unknown mode"),
        ("short list", tree(nodes_values=[0.]), "differ in length"),
        ("leaf of nothing", tree(target_nodeids=[1, 9]), "does not exist"),
        ("two of a number", tree(nodes_nodeids=[0, 1, 1]), "two nodes with the number 1"),
        ("no nodes", tree(nodes_treeids=None), "there are no trees"),
        ("lists of words", tree(nodes_featureids=["a", "b", "c"]), "nodes_featureids"),
    ]
