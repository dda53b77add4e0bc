"""Networks of networks.py with other types than int8 and float32: 16 bits, UINT8, INT4, half precision, sparse weights."""
import numpy as np
from networks import NONE, RELU, RELU6, SAME, VALID, out_extent, scales_of
from operators import Family


def window(padding, stride, activation, multiplier=None, dilation=1):
    """Options of a convolution; multiplier: of a depthwise one."""
    first = [(1, padding), (4, stride), (4, stride)]
    return first + ([(4, multiplier)] if multiplier else []) + [(1, activation), (4, dilation), (4, dilation)]


class Typed(Family):
    def of16(self, code, inputs, shape, scale, options=None, kind=0, version=1):
        return self.of(code, inputs, shape, (scale, 0), "int16", options, kind, version)

    def of8(self, code, inputs, shape, quant, options=None, kind=0, version=1):
        return self.of(code, inputs, shape, quant, "uint8", options, kind, version)

    def bias64(self, n, spread=1 << 20, scale=1.0):
        return self.tensor([n], "int64", scale, 0, self.rng.integers(-spread, spread, n))

    def nibbles(self, shape, scale, axis=0):
        """Weights of 4 bits, two in a byte."""
        w = self.rng.integers(-7, 8, int(np.prod(shape)))
        padded = np.append(w, 0)[:(len(w) + 1) // 2 * 2].astype(np.uint8) & 15
        packed = self.tensor(shape, "int8", scale, 0, padded[::2] | padded[1::2] << 4, axis)
        self.tensors[packed]["kind"] = 17
        return packed

    def unsigned(self, shape, scale, zero):
        return self.tensor(shape, "uint8", scale, zero, self.rng.integers(0, 256, shape).astype(np.uint8))

    def halves(self, shape):
        """Numbers of 16 bits behind DEQUANTIZE."""
        numbers = self.tensor(shape, "float16", data=(self.rng.standard_normal(shape) * 0.3).astype(np.float16))
        return self.real(6, [numbers], shape, kind=38, version=3)


def sixteen(seed):
    """Activations of 16 bits."""
    net = Typed(seed)
    shape = [1, 5, 6, 4]
    x, other = net.input(shape, 0.001, 0, "int16"), net.input(shape, 0.0015, 0, "int16")
    codes, real = net.input(shape), net.input(shape, dtype="float32")
    scales = scales_of(8, net.rng)
    conv = net.of16(3, [x, net.weights([8, 3, 3, 4], scales), net.bias64(8)], [1, 5, 6, 8], 0.004, window(SAME, 1, RELU), 1, 4)
    y = [conv, net.of16(3, [x, net.weights([8, 2, 2, 4], scales), net.bias(8, 1.0, 1 << 18)], [1, 4, 5, 8], 0.003, window(VALID, 1, NONE), 1, 4),
         net.of16(4, [x, net.weights([1, 3, 3, 8], scales, 3), net.bias64(8)], [1, 3, 3, 8], 0.001, window(SAME, 2, RELU6, 2), 2, 4),
         net.of16(9, [x, net.weights([5, 120], 0.01), net.bias64(5, 1 << 20, 0.001 * 0.01)], [1, 5], 0.02, [(1, NONE)], 8, 7),
         net.of16(0, [x, other], shape, 0.0021, [(1, NONE), (1, 0)], 11, 2), net.of16(41, [x, other], shape, 0.0021, [(1, NONE), (1, 0)], 28, 2),
         net.of16(18, [x, other], shape, 0.0007, [(1, NONE)], 21, 2), net.of16(17, [x], [1, 3, 3, 4], 0.001, [(1, SAME), (4, 2), (4, 2), (4, 3), (4, 2), (1, NONE)], 5),
         net.of16(1, [x], [1, 3, 3, 4], 0.001, [(1, SAME), (4, 2), (4, 2), (4, 3), (4, 2), (1, NONE)], 5),
         net.of16(114, [codes], shape, 0.0021, kind=89), net.of(114, [x], shape, (0.17, -9), "int8", kind=89), net.of16(114, [real], shape, 0.0005, kind=89),
         net.of16(114, [x], shape, 0.0013, kind=89), net.real(6, [x], shape, kind=38), net.of16(19, [x], shape, 0.0007), net.of16(98, [x], shape, 0.0012, [("f", 0.1)], 75),
         net.of16(40, [x, net.ints([1, 2])], [1, 4], 0.0008, [(1, 0)], 27), net.of16(99, [x, other], shape, 0.3, kind=76)]
    return net.result(*y)


def wide(seed):
    """Sums beyond 32 bits."""
    net = Typed(seed)
    x = net.input([2, 1100], 0.001, 0, "int16")
    net.tensors[x]["data"] = None
    w = net.weights([3, 1100], 0.001)
    net.tensors[w]["data"][0] = 127
    return net.result(net.of16(9, [x, w, net.bias64(3, 1 << 34, 0.001 * 0.001)], [2, 3], 0.003, [(1, NONE)], 8, 7))


def curves(seed):
    """LOGISTIC and TANH of 16 bits: inputs of all scales that matter, powers of two among them."""
    net = Typed(seed)
    y = []
    for scale in 2.0**-12, 2.0**-11, 2.0**-13, 0.00037, 0.0009, 0.3:
        x = net.input([3, 50], scale, 0, "int16")
        y += [net.of16(code, [x], [3, 50], 2.0**-15) for code in (14, 28)]
    return net.result(*y)


def shares(seed):
    """SOFTMAX of 16 bits."""
    net = Typed(seed)
    y = []
    for shape, scale, beta in ([3, 50], 0.0001, 1), ([1, 7], 0.002, 0.5), ([2, 3, 4], 2.0**-11, 1), ([1, 900], 0.00003, 2), ([4, 1], 0.01, 1):
        y.append(net.of16(25, [net.input(shape, scale, 0, "int16")], shape, 2.0**-15, [("f", beta)], 9))
    return net.result(*y)


def shares_of_bytes(seed):
    """SOFTMAX of 8 bits with a result of 16; the last unit is as written with five digits."""
    net = Typed(seed)
    y = []
    for shape, scale, beta, unit in ([3, 50], 0.1, 1, 2.0**-16), ([1, 7], 0.9, 0.5, 2.0**-16), ([2, 3, 4], 0.004, 1, 2.0**-16), ([1, 600], 0.05, 2, 1.5259e-5):
        y.append(net.of(25, [net.input(shape, scale, 7)], shape, (unit, -32768), "int16", [("f", beta)], 9))
    return net.result(*y)


def sums_of_32(seed):
    """QUANTIZE from and to 32 bits."""
    net = Typed(seed)
    shape = [4, 33]
    codes, x, sums = net.input(shape), net.input(shape, 0.0005, 0, "int16"), net.input(shape, 1.49e-7, 0, "int32")
    return net.result(net.of(114, [codes], shape, (1.3e-7, 0), "int32", kind=89), net.of(114, [x], shape, (1.49e-7, 0), "int32", kind=89),
                      net.of(114, [x], shape, (0.07, 0), "int32", kind=89), net.of(114, [sums], shape, (0.0009, -9), "int8", kind=89),
                      net.of16(114, [sums], shape, 0.0011, kind=89))


def nibble(seed):
    """Weights of 4 bits."""
    net = Typed(seed)
    x = net.input([1, 5, 5, 3])
    y = [net.of(3, [x, net.nibbles([5, 3, 3, 3], scales_of(5, net.rng) * 8), net.bias(5, 1.0, 200)], [1, 5, 5, 5], (0.1, 4), "int8", window(SAME, 1, RELU), 1, 3),
         net.of(4, [x, net.nibbles([1, 3, 3, 3], scales_of(3, net.rng) * 8, 3), net.bias(3, 1.0, 200)], [1, 3, 3, 3], (0.06, 4), "int8", window(VALID, 1, NONE, 1), 2, 3),
         net.of(9, [x, net.nibbles([4, 75], 0.1), net.bias(4, 0.05 * 0.1, 200)], [1, 4], (0.4, 4), "int8", [(1, NONE)], 8, 4)]
    return net.result(*y)


def old(seed):
    """UINT8, as converters of 2019 wrote it."""
    net = Typed(seed)
    quant, shape = (0.05, 125), [1, 6, 6, 4]
    x, other = net.input(shape, *quant, dtype="uint8"), net.input(shape, 0.03, 140, dtype="uint8")
    conv = net.of8(3, [x, net.unsigned([8, 3, 3, 4], 0.01, 121), net.bias(8, 0.05 * 0.01)], [1, 6, 6, 8], (0.11, 133), window(SAME, 1, RELU), 1)
    depth = net.of8(4, [conv, net.unsigned([1, 3, 3, 8], 0.013, 137), net.bias(8, 0.11 * 0.013)], [1, 3, 3, 8], (0.13, 119), window(SAME, 2, RELU6, 1), 2)
    average = net.of8(1, [depth], [1, 1, 1, 8], (0.13, 119), [(1, VALID), (4, 3), (4, 3), (4, 3), (4, 3), (1, NONE)], 5)
    dense = net.of8(9, [average, net.unsigned([6, 8], 0.02, 117), net.bias(6, 0.13 * 0.02)], [1, 6], (0.07, 128), [(1, NONE)], 8)
    y = [conv, depth, average, dense, net.of8(25, [dense], [1, 6], (1 / 256, 0), [("f", 1.0)], 9),
         net.of8(0, [x, other], shape, (0.06, 100), [(1, RELU)], 11), net.of8(18, [x, other], shape, (0.04, 77), [(1, NONE)], 21),
         net.of8(17, [x], [1, 3, 3, 4], quant, [(1, SAME), (4, 2), (4, 2), (4, 2), (4, 2), (1, NONE)], 5), net.of8(2, [x, x], [1, 6, 6, 8], quant, [(4, 3), (1, NONE)], 10),
         net.of8(34, [x, net.ints([[0, 0], [1, 0], [0, 2], [0, 0]])], [1, 7, 8, 4], quant, kind=22), net.real(6, [x], shape, kind=38),
         net.of8(1, [x], [1, 5, 5, 4], quant, [(1, VALID), (4, 1), (4, 1), (4, 2), (4, 2), (1, NONE)], 5)]
    return net.result(*y)


def half(seed):
    """Weights in half precision."""
    net = Typed(seed)
    x = net.input([1, 5, 5, 4], dtype="float32")
    conv = net.real(3, [x, net.halves([6, 3, 3, 4]), net.halves([6])], [1, 5, 5, 6], window(SAME, 1, RELU), 1)
    depth = net.real(4, [conv, net.halves([1, 3, 3, 6]), net.halves([6])], [1, 3, 3, 6], window(VALID, 1, NONE, 1), 2)
    return net.result(conv, net.real(9, [depth, net.halves([5, 54]), net.halves([5])], [1, 5], [(1, NONE)], 8))


def sparse(seed):
    """Weights of a dense layer with columns that are sparse, and in blocks of 1 x 4."""
    net = Typed(seed)
    x = net.input([2, 12], dtype="float32")
    dense = (net.rng.standard_normal([6, 12]) * 0.3).astype(np.float32)
    rows = dense * (net.rng.random([6, 12]) < 0.4)
    blocks = dense * np.repeat(net.rng.random([6, 3]) < 0.5, 4, axis=1)
    results = []
    for array, width in (rows, 1), (blocks, 4):
        parts = array.reshape(6, -1, width)
        there = [np.flatnonzero(parts[row].any(axis=1)) for row in range(6)]
        starts = np.cumsum([0] + [len(t) for t in there])
        data = np.concatenate([parts[row][t].ravel() for row, t in enumerate(there)]).astype(np.float32)
        w = net.tensor([6, 12], "float32", data=data)
        levels = [(6, None, None), (12 // width, starts, np.concatenate(there))] + ([(width, None, None)] if width > 1 else [])
        net.tensors[w]["sparsity"] = {"order": list(range(len(levels))), "blocks": [1] if width > 1 else [], "levels": levels}
        filled = net.real(124, [w], [6, 12], kind=99)
        results.append(net.real(9, [x, filled, net.floats([6])], [2, 6], [(1, NONE)], 8))
    return net.result(*results)


def formats():
    """NAME -> Network."""
    return {"sixteen": sixteen(130), "wide": wide(131), "nibble": nibble(132), "old": old(133), "half": half(134), "sparse": sparse(135),
            "curves": curves(136), "shares": shares(137),
            "shares_of_bytes": shares_of_bytes(138), "sums_of_32": sums_of_32(139)}


# Judged by LiteRT's reference kernels.
BY_LITERT = {"old", "half", "sparse"}
