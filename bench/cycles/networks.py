"""networks.py - small networks whose layers have the shapes of those that run on microcontrollers, for fitting. None of
them is a network of shared/models or examples: those are for checking."""

import random

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Net:
    """A chain of layers; `last` is the value that the next one reads, of `shape`."""

    def __init__(self, seed, shape):
        self.random = np.random.default_rng(seed)
        self.nodes, self.weights, self.shape, self.last = [], [], list(shape), "x"
        self.input = helper.make_tensor_value_info("x", TensorProto.FLOAT, list(shape))

    def constant(self, *shape, scale=1.0):
        name = f"w{len(self.weights)}"
        array = (self.random.standard_normal(shape) * scale).astype(np.float32)
        self.weights.append(numpy_helper.from_array(array, name))
        return name

    def add(self, op, *inputs, shape=None, **attributes):
        out = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [out], **attributes))
        self.shape = list(shape or self.shape)
        self.last = out
        return self

    def conv(self, channels, kernel, stride=1, groups=1, relu="Relu"):
        kh, kw = (kernel, kernel) if isinstance(kernel, int) else kernel
        n, c, h, w = self.shape
        w_name = self.constant(channels, c // groups, kh, kw, scale=(2.0 / (c // groups * kh * kw)) ** 0.5)
        size = [(h + stride - 1) // stride, (w + stride - 1) // stride]
        self.add("Conv", self.last, w_name, self.constant(channels, scale=0.1), shape=[n, channels, *size],
                 kernel_shape=[kh, kw], strides=[stride, stride], auto_pad="SAME_UPPER", group=groups)  # fmt: skip
        return self.activation(relu)

    def activation(self, relu):
        if relu == "Relu6":
            low, high = f"low{len(self.nodes)}", f"high{len(self.nodes)}"
            self.weights.append(numpy_helper.from_array(np.float32(0), low))
            self.weights.append(numpy_helper.from_array(np.float32(6), high))
            return self.add("Clip", self.last, low, high)
        return self.add(relu, self.last) if relu else self

    def depthwise(self, kernel, stride=1, relu="Relu"):
        return self.conv(self.shape[1], kernel, stride, self.shape[1], relu)

    def residual(self, channels, kernel=3, stride=1, relu="Relu"):
        before, shape = self.last, self.shape
        self.conv(channels, kernel, stride).conv(channels, kernel, relu=None)
        main, size = self.last, self.shape
        if stride != 1 or shape[1] != channels:
            self.last, self.shape = before, shape
            self.conv(channels, 1, stride, relu=None)
            before = self.last
        return self.add("Add", main, before, shape=size).activation(relu)

    def inverted(self, channels, expand, stride=1):
        before, shape = self.last, self.shape
        self.conv(shape[1] * expand, 1, relu="Relu6").depthwise(3, stride, "Relu6").conv(channels, 1, relu=None)
        return self.add("Add", self.last, before) if stride == 1 and channels == shape[1] else self

    def pool(self, kind, size, stride):
        n, c, h, w = self.shape
        return self.add(kind, self.last, shape=[n, c, (h - size) // stride + 1, (w - size) // stride + 1],
                        kernel_shape=[size, size], strides=[stride, stride])  # fmt: skip

    def head(self, classes, softmax=True):
        n, c, h, w = self.shape
        self.add("GlobalAveragePool", self.last, shape=[n, c, 1, 1]).add("Flatten", self.last, shape=[n, c])
        self.dense(classes, None)
        return self.add("Softmax", self.last) if softmax else self

    def flatten(self):
        return self.add("Flatten", self.last, shape=[self.shape[0], int(np.prod(self.shape[1:]))])

    def dense(self, units, relu="Relu"):
        k = self.shape[-1]
        self.add("Gemm", self.last, self.constant(units, k, scale=(2.0 / k) ** 0.5), self.constant(units, scale=0.1),
                 shape=[self.shape[0], units], transB=1)  # fmt: skip
        return self.activation(relu)

    def save(self, path):
        output = helper.make_tensor_value_info(self.last, TensorProto.FLOAT, self.shape)
        graph = helper.make_graph(self.nodes, "fit", [self.input], [output], self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)])
        model.ir_version = 8
        onnx.checker.check_model(model)
        onnx.save(model, path)


def separable(seed):
    """As keyword spotting and MobileNetV1: depthwise and pointwise."""
    pick = random.Random(seed)
    size, first = pick.choice([(40, 12), (32, 32), (48, 24), (40, 40)]), pick.choice([1, 3])
    net = Net(seed, [1, first, *size]).conv(pick.choice([8, 16, 24, 32]), pick.choice([3, (8, 4), 5]), 2)
    for _ in range(4):
        net.depthwise(pick.choice([3, 3, 5]), pick.choice([1, 1, 2])).conv(pick.choice([16, 24, 32, 48, 64, 96]), 1)
    return net.head(pick.choice([4, 10, 12]))


def residual(seed):
    pick = random.Random(seed)
    width = pick.choice([8, 12, 16])
    net = Net(seed, [1, 3, *pick.choice([(24, 24), (28, 28), (32, 24)])]).conv(width, 3)
    return net.residual(width).residual(2 * width, stride=2).residual(3 * width, stride=2).head(10)


def inverted(seed):
    pick = random.Random(seed)
    net = Net(seed, [1, 3, *pick.choice([(32, 32), (40, 32)])]).conv(pick.choice([8, 16]), 3, 2, relu="Relu6")
    for channels, stride in [(8, 1), (8, 1), (16, 2), (16, 1), (24, 2), (24, 1)]:
        net.inverted(channels, pick.choice([3, 4, 6]), stride)
    return net.conv(pick.choice([48, 64, 96]), 1, relu="Relu6").head(5)


def plain(seed):
    """As LeNet: convolutions, pools, dense layers."""
    pick = random.Random(seed)
    net = Net(seed, [1, pick.choice([1, 1, 3]), *pick.choice([(16, 16), (12, 12), (28, 28), (20, 20)])])
    net.conv(pick.choice([4, 6, 8, 16]), pick.choice([3, 5])).pool("MaxPool", 2, 2)
    net.conv(pick.choice([8, 12, 16, 32]), pick.choice([3, 5])).pool(pick.choice(["MaxPool", "AveragePool"]), 2, 2)
    if net.shape[2] >= 5:
        net.conv(pick.choice([16, 24]), 3).pool("MaxPool", 3, 2)
    return net.flatten().dense(pick.choice([32, 48, 100])).dense(10, None).add("Softmax", net.last)


def dense(seed):
    pick = random.Random(seed)
    net = Net(seed, [1, pick.choice([64, 200, 320, 640])])
    for _ in range(5):
        net.dense(pick.choice([8, 16, 48, 64, 96, 128]))
    return net.dense(pick.choice([10, 64, 128]), None)


FUNCTIONS = ["Sigmoid", "Tanh", "HardSwish", "HardSigmoid", "Elu", "LeakyRelu", "Erf", "Exp", "Softplus"]


def function(seed):
    """One function of each element, alone: what it adds where it is part of another region."""
    net = Net(seed, [1, 8, 10, 12])
    return net.add(FUNCTIONS[seed - 1], net.last)


KINDS = {"separable": (separable, 4), "residual": (residual, 2), "inverted": (inverted, 2), "plain": (plain, 3),
         "dense": (dense, 2), "function": (function, len(FUNCTIONS))}  # fmt: skip


def write(folder):
    """Writes all networks as folder/KIND_SEED.onnx, and returns the paths."""
    paths = []
    for kind, (make, n) in KINDS.items():
        for seed in range(1, n + 1):
            path = folder / f"{kind}_{seed}.onnx"
            net = make(seed)
            net.save(path)
            paths.append(path)
    return paths
