"""Networks of networks.py by family: several operators on the same input, each with a result of its own."""
import numpy as np
from flatbuffers import flexbuffers
from networks import NONE, RELU, SAME, VALID, Network, out_extent, scales_of


class Family(Network):
    """Operators by name, as networks of one operator would have them."""

    def of(self, code, inputs, shape, quant=(0.05, -3), dtype="int8", options=None, kind=0, version=1):
        """The operator's result."""
        y = self.tensor(shape, dtype, quant[0] if quant else None, quant[1] if quant else 0)
        self.add(code, version, inputs, [y], options, kind)
        return y

    def real(self, code, inputs, shape, options=None, kind=0, version=1):
        return self.of(code, inputs, shape, None, "float32", options, kind, version)

    def codes(self, shape, quant=(0.05, -3)):
        return self.tensor(shape, "int8", *quant, self.rng.integers(-128, 128, shape).astype(np.int8))


def moves(seed):
    """Codes that move, in one scale."""
    net = Family(seed)
    x = net.input([2, 4, 6, 4])
    y = [net.of(36, [x, net.ints([2, 0, -1 % 4])], [2, 4, 3, 4], options=[(4, 2), (4, 0)], kind=23),
         net.of(107, [x, net.ints([[1, 2], [0, 3], [1, 0]])], [3, 6, 4], kind=83),
         net.of(7, [net.ints([1, 0, 1]), x], [3, 4, 6, 4]),
         net.of(105, [x, net.ints([1, 2])], [2, 4, 6, 4], kind=81),
         net.of(26, [x], [2, 2, 3, 16], options=[(4, 2)], kind=19),
         net.of(5, [x], [2, 8, 12, 1], options=[(4, 2)], kind=94),
         net.of(38, [x, net.ints([2, 3]), net.ints([[0, 0], [0, 0]])], [12, 2, 2, 4], kind=25),
         net.of(37, [x, net.ints([1, 2]), net.ints([[1, 0], [0, 3]])], [1, 3, 9, 4], kind=24, version=2),
         net.of(100, [x, net.ints([[0, 0], [1, 2], [3, 0], [0, 1]])], [2, 7, 9, 5], options=[(1, 0)], kind=77),
         net.of(100, [x, net.ints([[0, 0], [1, 2], [3, 0], [0, 1]])], [2, 7, 9, 5], options=[(1, 1)], kind=77),
         net.of(93, [x], [2, 4, 6, 4], kind=67),
         net.of(130, [net.of(22, [x, net.ints([2, 96])], [2, 1, 96], options=[None], kind=17), net.ints([2, 3, 96])],
                [2, 3, 96], kind=104, version=2)]
    return net.result(*y)


def shapes(seed):
    """What shapes say, a fill, and selections by comparisons."""
    net = Family(seed)
    x, other = net.input([3, 5]), net.input([3, 5], 0.04, 7)
    row = net.codes([5], (0.05, -3))
    one = net.tensor([], "int8", 0.05, -3, np.int8(17))
    greater = net.of(61, [x, other], [3, 5], None, "bool", kind=44)
    less = net.of(58, [x, row], [3, 5], None, "bool", kind=41)
    both = net.of(86, [greater, less], [3, 5], None, "bool", kind=62)
    y = [net.of(77, [x], [2], None, "int32", [(1, 2)], 55), net.of(94, [net.ints([3, 5]), one], [3, 5], kind=68),
         both, net.of(84, [greater, less], [3, 5], None, "bool", kind=60), net.of(87, [less], [3, 5], None, "bool", kind=63),
         net.of(71, [x, row], [3, 5], None, "bool", kind=53), net.of(72, [x, other], [3, 5], None, "bool", kind=54),
         net.of(62, [x, other], [3, 5], None, "bool", kind=45), net.of(63, [x, other], [3, 5], None, "bool", kind=46),
         net.of(123, [both, x, row], [3, 5], kind=98),
         net.of(145, [net.ints([3, 1]), net.ints([4])], [2], None, "int32")]
    return net.result(*y)


def tables(seed):
    """Functions of codes."""
    net = Family(seed)
    x = net.input([2, 128], 0.05, -3)
    positive = net.input([2, 128], 0.05, -128)
    y = [net.of(101, [x], [2, 128], (0.05, -3), kind=78), net.of(101, [x], [2, 128], (0.037, -60), kind=78),
         net.of(111, [x], [2, 128], (0.031, -100)), net.of(117, [x], [2, 128], (0.049, -70), kind=91),
         net.of(117, [x], [2, 128], (0.021, 3), kind=91), net.of(76, [positive], [2, 128], (0.02, -100))]
    return net.result(*y)


def sums(seed):
    """Sums of codes, and other results of lines."""
    net = Family(seed)
    x = net.input([2, 3, 7, 5])
    y = [net.of(74, [x, net.ints([1, 2])], [2, 5], (0.3, 9), options=[(1, 0)], kind=27),
         net.of(74, [x, net.ints([-1])], [2, 3, 7, 1], (0.11, -9), options=[(1, 1)], kind=27),
         net.of(82, [x, net.ints([1, 3])], [2, 7], options=[(1, 0)], kind=27),
         net.of(89, [x, net.ints([0, 2])], [1, 3, 1, 5], options=[(1, 1)], kind=27),
         net.of(128, [x, net.ints([2])], [2, 3, 7, 5], (0.2, 5), options=[(1, 0), (1, 0)], kind=102),
         net.of(128, [x, net.ints([1])], [2, 3, 7, 5], (0.1, 5), options=[(1, 1), (1, 1)], kind=102)]
    return net.result(*y)


def products(seed):
    """Of two operands of codes."""
    net = Family(seed)
    x, other, slopes = net.input([2, 4, 6]), net.input([2, 4, 6], 0.03, 11), net.codes([6], (0.01, 5))
    y = [net.of(99, [x, other], [2, 4, 6], (0.2, -128), kind=76), net.of(99, [x, slopes], [2, 4, 6], (0.4, -110), kind=76),
         net.of(54, [x, slopes], [2, 4, 6], (0.06, 2)), net.of(106, [x, x, x], [2, 4, 6], (0.1, 9), kind=82),
         net.of(126, [x, other], [2, 4, 4], (0.09, 3), options=[(1, 0), (1, 1)], kind=101),
         net.of(126, [x, net.codes([4, 3], (0.02, 0))], [2, 6, 3], (0.13, -8), options=[(1, 1), (1, 0)], kind=101)]
    return net.result(*y)


def quotients(seed):
    """DIV of codes: by one number, by a row, by codes on either side of their zero point."""
    net = Family(seed)
    x, other = net.input([2, 128], 0.05, -3), net.input([2, 128], 0.031, 11)
    above = net.of(55, [other, net.tensor([], "int8", 0.031, 11, np.int8(12))], [2, 128], (0.031, 11), options=[], kind=39)
    low = net.of(55, [other, net.tensor([], "int8", 0.031, 11, np.int8(-116))], [2, 128], (0.031, 11), options=[], kind=39)
    below = net.of(57, [low, net.tensor([], "int8", 0.031, 11, np.int8(10))], [2, 128], (0.031, 11), options=[], kind=39)
    row = net.tensor([128], "int8", 0.02, 0, net.rng.choice(np.array([-128, -77, -2, -1, 1, 2, 5, 64, 99, 127]), 128).astype(np.int8))
    y = [net.of(42, [x, net.tensor([], "int8", scale, zero, np.int8(code))], [2, 128], quant, options=[(1, activation)], kind=29)
         for scale, zero, code, quant, activation in ((0.02, 0, 100, (0.03, 4), NONE), (0.02, 5, -100, (0.03, 4), RELU),
                                                      (0.013, -128, 127, (0.05, -3), NONE), (0.5, 0, -1, (0.11, 0), 3), (0.04, 7, 8, (1.7, 9), 2))]
    y += [net.of(42, [x, divisor], [2, 128], quant, options=[(1, activation)], kind=29)
          for divisor, quant, activation in ((above, (0.05, -3), NONE), (below, (0.05, -3), NONE), (above, (0.011, 20), RELU), (row, (0.02, 3), NONE),
                                             (below, (0.03, 0), 3))]
    return net.result(*y)


def logarithms(seed):
    """LOG_SOFTMAX of codes."""
    net = Family(seed)
    y = []
    for shape, scale, zero in ([3, 10], 0.1, 7), ([2, 2, 5], 0.004, -128), ([2, 300], 0.02, 0), ([4, 1], 0.05, 3), ([8, 4], 0.7, -3), ([1, 4000], 0.3, 100), ([16, 2], 9.5, 0):
        y.append(net.of(50, [net.input(shape, scale, zero)], shape, (1 / 16, 127), options=[], kind=36, version=2))
    return net.result(*y)


def normalized(seed):
    """L2_NORMALIZATION of codes: lines with one element, near zero, at the ends of the type."""
    net = Family(seed)
    x = net.input([40, 16], 0.05, -3)
    one, near = net.input([64, 1], 0.02, 5), net.of(114, [net.input([30, 3], 0.002, 0)], [30, 3], (0.05, -7), options=[], kind=89, version=2)
    y = [net.of(11, [of], shape, (0.0078125, 0), options=[(1, NONE)], kind=12, version=2)
         for of, shape in ((x, [40, 16]), (one, [64, 1]), (near, [30, 3]))]
    return net.result(*y)


def transposed(seed, shape, out_c, kernel, stride, padding, activation=NONE, dtype="int8", bias=True, out=None):
    """TRANSPOSE_CONV."""
    net = Family(seed)
    real = dtype == "float32"
    x = net.input(shape, dtype=dtype, zero=0 if dtype == "int16" else -3)
    w = net.floats([out_c, *kernel, shape[3]]) if real else net.weights([out_c, *kernel, shape[3]], scales_of(out_c, net.rng))
    size = out or [shape[1 + i] * stride[i] if padding == SAME else (shape[1 + i] - 1) * stride[i] + kernel[i] for i in range(2)]
    inputs = [net.ints([shape[0], *size, out_c]), w, x]
    if bias:
        inputs.append(net.floats([out_c]) if real else net.bias(out_c))
    y = net.of(67, inputs, [shape[0], *size, out_c], None if real else (0.11, 0 if dtype == "int16" else 5), dtype,
               [(1, padding), (4, stride[1]), (4, stride[0]), (1, activation)], 49, 3)
    return net.result(y)


def bilinear(seed):
    net = Family(seed)
    x = net.input([1, 3, 4, 5])
    for_floats = net.input([1, 3, 4, 5], dtype="float32")
    y = []
    for size, corners, half in ([7, 8], 0, 0), ([7, 9], 1, 0), ([2, 11], 0, 1), ([6, 8], 0, 1), ([3, 9], 0, 0):
        options = [None, None, (1, corners), (1, half)]
        y.append(net.of(23, [x, net.ints(size)], [1, *size, 5], options=options, kind=15, version=3))
        y.append(net.real(23, [for_floats, net.ints(size)], [1, *size, 5], options, 15, 3))
    return net.result(*y)


def real_functions(seed):
    """Functions of floats, of which some need positive arguments."""
    net = Family(seed)
    shape = [2, 4, 8]
    x = net.input(shape, dtype="float32")
    size = net.real(101, [x], shape, kind=78)
    less = net.real(59, [size], shape, kind=42)
    exp = net.real(47, [less], shape, kind=33)
    more = net.real(0, [size, net.tensor([1], "float32", data=np.array([0.5], np.float32))], shape, [(1, NONE)], 11)
    y = [size, less, exp, net.real(73, [more], shape), net.real(75, [size], shape), net.real(76, [more], shape),
         net.real(66, [x], shape), net.real(108, [x], shape, kind=84), net.real(92, [exp], shape, kind=66),
         net.real(8, [x], shape), net.real(104, [x], shape), net.real(116, [x], shape), net.real(111, [x], shape),
         net.real(117, [x], shape, kind=91), net.real(50, [x], shape, kind=36), net.real(11, [x], shape, [(1, NONE)], 12),
         net.real(128, [exp, net.ints([1])], shape, [(1, 0), (1, 1)], 102)]
    return net.result(*y)


def real_pairs(seed):
    """Of two operands of floats, and of integers."""
    net = Family(seed)
    shape = [2, 4, 8]
    x, other = net.input(shape, dtype="float32"), net.input(shape, dtype="float32")
    slopes = net.floats([8])
    half = net.tensor([1], "float32", data=np.array([0.5], np.float32))
    exp = net.real(47, [net.real(59, [net.real(101, [other], shape, kind=78)], shape, kind=42)], shape, kind=33)
    big = net.real(0, [exp, half], shape, [(1, NONE)], 11)
    small = net.real(18, [x, half], shape, [(1, NONE)], 21)
    whole = net.of(53, [x], shape, None, "int32", [None, None], 37)
    step = net.ints([3, -3, 2, 5, -7, 4, 1, -1])
    y = [net.real(42, [small, big], shape, [(1, RELU)], 29), net.real(90, [x, big], shape, kind=65),
         net.real(95, [x, big], shape, kind=72), net.real(99, [small, exp], shape, kind=76), net.real(54, [x, slopes], shape),
         net.real(106, [small, exp, small], shape, kind=82), net.of(61, [x, other], shape, None, "bool", kind=44),
         net.real(82, [x, net.ints([1])], [2, 8], [(1, 0)], 27), net.real(74, [exp, net.ints([2])], [2, 4, 1], [(1, 1)], 27),
         whole,
         net.of(42, [whole, step], shape, None, "int32", [(1, NONE)], 29), net.of(0, [whole, step], shape, None, "int32", [(1, NONE)], 11),
         net.real(53, [whole], shape, [None, None], 37),
         net.real(126, [x, net.floats([2, 8, 3])], [2, 4, 3], [(1, 0), (1, 0)], 101)]
    return net.result(*y)


def refused(seed):
    """What TensorFlow Lite Micro lacks, or computes from memory that it does not set."""
    net = Family(seed)
    x, other = net.input([2, 4, 6, 4]), net.input([2, 4, 6, 4], 0.05, -3)
    real = net.input([2, 4, 8], dtype="float32")
    whole = net.of(53, [real], [2, 4, 8], None, "int32", [None, None], 37)
    step = net.ints([3, -3, 2, 5, -7, 4, 1, -1])
    truth = net.of(61, [x, other], [2, 4, 6, 4], None, "bool", kind=44)
    y = [net.of(38, [x, net.ints([2, 3]), net.ints([[1, 1], [0, 0]])], [12, 3, 2, 4], kind=25),
         net.of(90, [whole, step], [2, 4, 8], None, "int32", kind=65), net.of(95, [whole, step], [2, 4, 8], None, "int32", kind=72),
         net.of(69, [x, net.ints([1, 2, 1, 2])], [2, 8, 6, 8], kind=51),
         net.of(91, [truth, net.ints([1, 3])], [2, 6], None, "bool", [(1, 0)], 27),
         net.of(64, [truth, x, other], [2, 4, 6, 4], kind=47),
         net.of(47, [x], [2, 4, 6, 4], (0.3, -120), kind=33, version=2),
         net.real(150, [real], [2, 4, 8], [(1, 0)], 116), net.real(20, [real], [2, 4, 8]),
         net.of(150, [x], [2, 4, 6, 4], (0.03, -100), options=[(1, 0)], kind=116),
         net.real(78, [net.real(101, [real], [2, 4, 8], kind=78), net.tensor([], "float32", data=np.float32(0.3))], [2, 4, 8], kind=56)]
    return net.result(*y)


def ties(seed):
    """Results half way between two codes, by scales whose quotients in f32 are not quite that."""
    net = Family(seed)
    x = net.input([64, 2], 0.006, 0)
    one, bias = net.tensor([2, 2], "int8", 0.7, 0, np.eye(2, dtype=np.int8)), net.bias(2, 0.0042, 1)
    y = [net.of(9, [x, one, bias], [64, 2], (0.00168, 0), options=[(1, NONE)], kind=8, version=4),
         net.of(126, [x, one], [64, 2], (0.00168, 0), options=[(1, 0), (1, 0)], kind=101),
         net.of(19, [x], [64, 2], (0.0024, 0), version=2), net.of(98, [x], [64, 2], (0.0024, 0), options=[("f", 0.12)], kind=75, version=2),
         net.of(101, [x], [64, 2], (0.0024, 0), kind=78)]
    return net.result(*y)


def square_pool(seed):
    net = Family(seed)
    x = net.input([1, 6, 7, 3], dtype="float32")
    size = [out_extent(6, 2, 2, SAME, 1), out_extent(7, 3, 2, SAME, 1)]
    return net.result(net.real(12, [x], [1, *size, 3], [(1, SAME), (4, 2), (4, 2), (4, 3), (4, 2), (1, NONE)], 5))


def detection(seed, n, classes, regular, threshold=-100.0, background=1, most=10, per_class=None, columns=4):
    """The end of an SSD detector: boxes around anchors on a grid, many of which overlap."""
    net = Family(seed)
    offsets = net.input([1, n, columns], dtype="float32")
    scores = net.input([1, n, classes + background], dtype="float32")
    places = net.rng.uniform(0.1, 0.9, [n, 2])
    anchors = np.concatenate([places, net.rng.uniform(0.1, 0.6, [n, 2])], 1).astype(np.float32)
    options = {"max_detections": most, "max_classes_per_detection": 1, "nms_score_threshold": threshold,
               "nms_iou_threshold": 0.5, "num_classes": classes, "y_scale": 10.0, "x_scale": 10.0, "h_scale": 5.0, "w_scale": 5.0}
    if regular:
        options["use_regular_nms"] = True
    if per_class:
        options["detections_per_class"] = per_class
    y = [net.tensor(shape, "float32") for shape in ([1, most, 4], [1, most], [1, most], [1])]
    net.add("TFLite_Detection_PostProcess", 1, [offsets, scores, net.tensor([n, 4], "float32", data=anchors)], y,
            bytes(flexbuffers.Dumps(options)))
    return net.result(*y)


def operators():
    """NAME -> Network."""
    return {
        "moves": moves(110),
        "shapes": shapes(111),
        "tables": tables(112),
        "sums": sums(113),
        "products": products(114),
        "transposed": transposed(115, [1, 4, 5, 3], 6, (3, 3), (2, 2), SAME),
        "transposed_valid": transposed(116, [2, 3, 4, 2], 3, (4, 2), (2, 3), VALID, RELU, bias=False),
        "transposed_dense": transposed(117, [1, 3, 3, 2], 4, (2, 3), (1, 1), SAME),
        "transposed_of_floats": transposed(118, [1, 3, 4, 3], 2, (3, 2), (2, 2), SAME, dtype="float32", bias=False),
        "bilinear": bilinear(119),
        "real_functions": real_functions(120),
        "real_pairs": real_pairs(121),
        "square_pool": square_pool(122),
        "refused": refused(123),
        "ties": ties(124),
        "normalized": normalized(130),
        "quotients": quotients(138),
        "logarithms": logarithms(139),
        "detection": detection(125, 90, 5, False),
        "detection_of_one_class": detection(126, 200, 1, False, background=0, columns=6),
        "detection_regular": detection(127, 60, 4, True, 0.6),
        "detection_regular_few": detection(128, 7, 3, True, 3.5, most=20),
        "detection_per_class": detection(129, 80, 6, True, 0.3, per_class=3, most=12),
    }


# Judged by LiteRT's reference kernels.
BY_LITERT = {"refused"}
