"""Random TensorFlow Lite networks, for TensorFlow Lite Micro to compute (tests/e2e/run_tflite_random).

Networks are of int8 values, of int16 values with int8 weights, or of floats: 3 to 14 operators, of which each reads what
others made; what nobody reads is an output."""
import numpy as np
from formats import Typed
from networks import NONE, RELU, RELU6, RELU_N1_TO_1, SAME, VALID, out_extent

LARGEST = 6000  # elements of a value
ACTIVATIONS = (NONE, NONE, NONE, RELU, RELU, RELU6, RELU_N1_TO_1)


class Value:
    def __init__(self, tensor, shape, scale, zero):
        self.tensor, self.shape, self.scale, self.zero = tensor, list(shape), scale, zero
        self.reads = 0

    @property
    def quant(self):
        return (self.scale, self.zero)


class Chance(Typed):
    def __init__(self, seed):
        super().__init__(seed)
        self.kind = self.pick(["int8"] * 7 + ["int16"] * 2 + ["float32"])
        self.values = []
        self.failed = 0

    # --- draws --------------------------------------------------------------------------------------------

    def pick(self, of):
        return of[int(self.rng.integers(len(of)))]

    def chance(self, share):
        return self.rng.random() < share

    def scale(self, least=0.01, most=0.2):
        """As converters find them: any number, at times a power of two."""
        if self.kind == "int16":
            least, most = least / 100, most / 100
        scale = float(np.exp(self.rng.uniform(np.log(least), np.log(most))))
        return float(np.float32(2.0 ** round(np.log2(scale)) if self.chance(0.1) else scale))

    def zero(self):
        return 0 if self.kind != "int8" else int(self.pick([-128, 0, 127, *self.rng.integers(-128, 128, 6)]))

    def quant(self, least=0.01, most=0.2):
        return (self.scale(least, most), self.zero())

    def value(self, rank=None, most=LARGEST):
        """One that is there, new ones rather."""
        fit = [v for v in self.values if (rank is None or len(v.shape) == rank) and np.prod(v.shape) <= most]
        if not fit:
            raise LookupError
        weights = np.array([1 + 3 * (v.reads == 0) + i / len(fit) for i, v in enumerate(fit)])
        return fit[int(self.rng.choice(len(fit), p=weights / weights.sum()))]

    # --- operators ----------------------------------------------------------------------------------------

    def node(self, code, reads, shape, quant, options=None, kind=0, version=2, constants=(), before=False):
        """A node whose result has the kind of the network."""
        if np.prod(shape) > LARGEST or np.prod(shape) == 0:
            raise LookupError
        real = self.kind == "float32"
        inputs = [v.tensor for v in reads]
        inputs = [*constants, *inputs] if before else [*inputs, *constants]
        y = self.tensor(shape, self.kind, None if real else quant[0], 0 if real else quant[1])
        self.add(code, version, inputs, [y], options, kind)
        for v in reads:
            v.reads += 1
        self.values.append(Value(y, shape, *quant))
        return self.values[-1]

    def kernel(self, shape, axis):
        """Weights, and their scales."""
        if self.kind == "float32":
            return self.floats(shape), np.ones(1)
        n = shape[axis]
        scales = self.rng.uniform(0.002, 0.03, n if self.chance(0.8) else 1).astype(np.float32)
        return self.weights(shape, scales, axis), scales

    def biases(self, n, x, scales, taps):
        if self.kind == "float32":
            return self.floats([n])
        spread = max(2, int(30 * np.sqrt(taps)))
        if self.kind == "int16":
            return self.bias64(n, spread * 200, x.scale * float(scales[0]))
        return self.bias(n, x.scale * float(scales[0]), spread * 60)

    def fits(self, x, scales, taps):
        """A quantisation of the sums, most of which are in its range."""
        if self.kind == "float32":
            return (1.0, 0)
        largest = 74 if self.kind == "int8" else 18000
        spread = largest * 73 * np.sqrt(taps) * x.scale * float(np.mean(scales))
        steps = 127 if self.kind == "int8" else 32767
        return (float(np.float32(spread * self.rng.uniform(1, 4) / steps)), self.zero())

    def conv(self):
        x = self.value(4)
        n, h, w, c = x.shape
        groups = self.pick([g for g in (1, 1, 1, 2, 4) if c % g == 0])
        out = groups * int(self.pick([1, 2, 3, 4, 5, 8, 16, 17]))
        kernel = [int(self.pick([1, 1, 2, 3, 3, 5])) for _ in range(2)]
        stride = [int(self.pick([1, 1, 1, 2, 3])) for _ in range(2)]
        dilation = [1, 1] if self.chance(0.85) else [int(self.pick([1, 2])) for _ in range(2)]
        padding = self.pick([SAME, SAME, VALID])
        size = [out_extent(x.shape[1 + i], kernel[i], stride[i], padding, dilation[i]) for i in range(2)]
        if min(size) < 1:
            raise LookupError
        weights, scales = self.kernel([out, *kernel, c // groups], 0)
        taps = kernel[0] * kernel[1] * c // groups
        more = [self.biases(out, x, scales, taps)] if self.chance(0.85) else []
        self.node(3, [x], [n, *size, out], self.fits(x, scales, taps),
                  [(1, padding), (4, stride[1]), (4, stride[0]), (1, self.pick(ACTIVATIONS)), (4, dilation[1]), (4, dilation[0])], 1, 3,
                  [weights, *more])

    def depthwise(self):
        x = self.value(4)
        n, _, _, c = x.shape
        multiplier = self.pick([1, 1, 1, 2, 3])
        kernel = [int(self.pick([1, 2, 3, 3, 5])) for _ in range(2)]
        stride = [int(self.pick([1, 1, 2]))] * 2
        dilation = [1, 1] if stride != [1, 1] or self.chance(0.85) else [2, 2]
        padding = self.pick([SAME, SAME, VALID])
        size = [out_extent(x.shape[1 + i], kernel[i], stride[i], padding, dilation[i]) for i in range(2)]
        if min(size) < 1:
            raise LookupError
        weights, scales = self.kernel([1, *kernel, c * multiplier], 3)
        taps = kernel[0] * kernel[1]
        more = [self.biases(c * multiplier, x, scales, taps)] if self.chance(0.85) else []
        self.node(4, [x], [n, *size, c * multiplier], self.fits(x, scales, taps),
                  [(1, padding), (4, stride[1]), (4, stride[0]), (4, multiplier), (1, self.pick(ACTIVATIONS)), (4, dilation[1]),
                   (4, dilation[0])], 2, 3, [weights, *more])

    def dense(self):
        x = self.value()
        out = int(self.pick([1, 2, 5, 8, 16, 33]))
        keep = len(x.shape) > 1 and self.chance(0.4)
        columns = x.shape[-1] if keep else int(np.prod(x.shape[1:]))
        if columns > 2000 or len(x.shape) < 2:
            raise LookupError
        real = self.kind == "float32"
        each = not real and self.kind == "int8" and self.chance(0.3)
        scales = np.ones(1) if real else self.rng.uniform(0.002, 0.03, out if each else 1).astype(np.float32)
        weights = self.floats([out, columns]) if real else self.weights([out, columns], scales)
        more = [self.biases(out, x, scales, columns) if self.chance(0.85) else -1]
        self.node(9, [x], [*x.shape[:-1], out] if keep else [x.shape[0], out], self.fits(x, scales, columns),
                  [(1, self.pick(ACTIVATIONS[:6])), (1, 0), (1, int(keep))], 8, 4 if self.kind == "int8" else 7, [weights, *more])

    def pool(self):
        x = self.value(4)
        kernel, stride = ([int(self.pick([1, 2, 2, 3])) for _ in range(2)] for _ in range(2))
        if self.chance(0.2):
            kernel, stride = x.shape[1:3], [1, 1]
        padding = self.pick([SAME, VALID])
        size = [out_extent(x.shape[1 + i], kernel[i], stride[i], padding, 1) for i in range(2)]
        if min(size) < 1:
            raise LookupError
        self.node(self.pick([1, 17]), [x], [x.shape[0], *size, x.shape[3]], x.quant,
                  [(1, padding), (4, stride[1]), (4, stride[0]), (4, kernel[1]), (4, kernel[0]), (1, self.pick(ACTIVATIONS))], 5)

    def other(self, x):
        """A second operand of an element-wise operator: a value alike, or a constant that broadcasts."""
        alike = [v for v in self.values if v.shape == x.shape]
        if self.chance(0.7):
            return self.pick(alike), ()
        shape = self.pick([x.shape, x.shape[-1:], [1], [1] * (len(x.shape) - 1) + x.shape[-1:]])
        if self.kind == "float32":
            return None, (self.floats(shape),)
        info = np.iinfo(self.kind)
        return None, (self.tensor(shape, self.kind, self.scale(), self.zero(),
                                  self.rng.integers(info.min, info.max + 1, shape).astype(self.kind)),)

    def arithmetic(self):
        x = self.value()
        other, constants = self.other(x)
        code, kind = self.pick([(0, 11), (0, 11), (41, 28), (18, 21)])
        scale = other.scale if other else (self.tensors[constants[0]]["scale"] or [1.0])[0]
        steps = 127 if self.kind == "int8" else 32767
        result = x.scale * scale * steps if code == 18 else x.scale + scale
        options = [(1, self.pick(ACTIVATIONS))] + [(1, 0)] * (code != 18 and self.kind == "int16")
        self.node(code, [x] + ([other] if other else []), x.shape, (float(np.float32(result * self.rng.uniform(0.3, 1.2))), self.zero()),
                  options, kind, 2, constants, before=self.chance(0.2))

    def concatenate(self):
        x = self.value(most=LARGEST // 2)
        axis = int(self.rng.integers(len(x.shape)))
        fit = [v for v in self.values if len(v.shape) == len(x.shape) and v.quant == x.quant and
               all(a == b for i, (a, b) in enumerate(zip(v.shape, x.shape)) if i != axis)]
        reads = [x] + [self.pick(fit) for _ in range(int(self.rng.integers(1, 3)))]
        if self.chance(0.3):
            reads.reverse()
        shape = list(x.shape)
        shape[axis] = sum(v.shape[axis] for v in reads)
        self.node(2, reads, shape, x.quant, [(4, axis), (1, NONE)], 10)

    def table(self):
        x = self.value()
        if self.kind == "int16":
            code = self.pick([14, 28])
            return self.node(code, [x], x.shape, (2.0**-15, 0))
        code, quant, options, kind = self.pick([
            (14, (1 / 256, -128), None, 0), (28, (1 / 128, 0), None, 0), (117, self.quant(), None, 91), (111, self.quant(), None, 0),
            (19, self.quant(), None, 0), (21, self.quant(), None, 0), (98, self.quant(), [("f", float(self.pick([0.1, 0.3, 0.01])))], 75),
            (101, self.quant(), None, 78)])
        return self.node(code, [x], x.shape, quant, options, kind, 1 if self.kind == "float32" or code in (111, 117) else 2)

    def softmax(self):
        x = self.value()
        if len(x.shape) < 2:
            raise LookupError
        quant = (2.0**-15, 0) if self.kind == "int16" else (1 / 256, -128)
        self.node(25, [x], x.shape, quant, [("f", float(self.pick([1.0, 1.0, 0.5, 2.0])))], 9)

    def requantise(self):
        if self.kind == "float32":
            raise LookupError
        x = self.value()
        self.node(114, [x], x.shape, (float(np.float32(x.scale * self.rng.uniform(0.5, 2))), self.zero()), [], 89)

    def mean(self):
        x = self.value()
        axes = sorted(self.rng.choice(len(x.shape), int(self.rng.integers(1, len(x.shape) + 1)), replace=False).tolist())
        keep = self.chance(0.5) or len(axes) == len(x.shape)
        shape = [1 if i in axes else d for i, d in enumerate(x.shape) if keep or i not in axes]
        code, quant = self.pick([(40, x.quant), (40, (float(np.float32(x.scale * self.rng.uniform(0.3, 1))), self.zero())), (82, x.quant),
                                 (74, (float(np.float32(x.scale * 4)), self.zero()))])
        if self.kind == "int16" and code == 74:
            raise LookupError
        self.node(code, [x], shape, quant, [(1, int(keep))], 27, 2, [self.ints(axes)])

    def move(self):
        """Values that move, in one scale."""
        x = self.value()
        rank, shape = len(x.shape), x.shape
        what = self.pick(["reshape", "transpose", "pad", "slice", "stride", "reverse", "gather", "expand", "space", "depth", "nearest",
                          "mirror"])
        if what == "reshape":
            split = int(self.rng.integers(rank + 1))
            to = [int(np.prod(shape[:split])), int(np.prod(shape[split:]))]
            if self.chance(0.3):
                to = [1, *to] if self.chance(0.5) else [1, 1, *to]
            self.node(22, [x], to, x.quant, [None], 17, 1, [self.ints(to)])
        elif what == "transpose":
            order = self.rng.permutation(rank)
            self.node(39, [x], [shape[i] for i in order], x.quant, [], 26, 2, [self.ints(order)])
        elif what == "pad":
            by = self.rng.integers(0, 3, [rank, 2]) * (self.rng.random([rank, 1]) < 0.5)
            self.node(34, [x], [d + int(b.sum()) for d, b in zip(shape, by)], x.quant, [], 22, 2, [self.ints(by)])
        elif what == "slice":
            begin = [int(self.rng.integers(d)) for d in shape]
            size = [int(self.rng.integers(1, d - b + 1)) for d, b in zip(shape, begin)]
            self.node(65, [x], size, x.quant, [], 48, 2, [self.ints(begin), self.ints(size)])
        elif what == "stride":
            begin = [int(self.rng.integers(d)) for d in shape]
            end = [int(self.rng.integers(b + 1, d + 1)) for d, b in zip(shape, begin)]
            step = [int(self.pick([1, 1, 2])) for _ in shape]
            self.node(45, [x], [-(-(e - b) // s) for b, e, s in zip(begin, end, step)], x.quant, [(4, 0)] * 5, 32, 2,
                      [self.ints(begin), self.ints(end), self.ints(step)])
        elif what == "reverse":
            self.node(105, [x], shape, x.quant, [], 81, 1, [self.ints([int(self.rng.integers(rank))])])
        elif what == "gather":
            axis = int(self.rng.integers(rank))
            at = self.rng.integers(0, shape[axis], int(self.rng.integers(1, 5)))
            self.node(36, [x], [*shape[:axis], len(at), *shape[axis + 1:]], x.quant, [(4, axis), (4, 0)], 23, 2, [self.ints(at)])
        elif what == "expand":
            axis = int(self.rng.integers(rank + 1))
            if rank > 3:
                raise LookupError
            self.node(70, [x], [*shape[:axis], 1, *shape[axis:]], x.quant, [], 52, 1, [self.ints(axis)])
        elif what == "mirror":
            if self.kind == "int16":
                raise LookupError
            mode = int(self.rng.integers(2))
            by = np.array([[int(self.rng.integers(min(d - 1 + mode, 2) + 1)) for _ in range(2)] for d in shape])
            self.node(100, [x], [d + int(b.sum()) for d, b in zip(shape, by)], x.quant, [(1, mode)], 77, 2, [self.ints(by)])
        elif rank != 4:
            raise LookupError
        elif what == "space":
            if shape[1] % 2 or shape[2] % 2:
                raise LookupError
            self.node(26, [x], [shape[0], shape[1] // 2, shape[2] // 2, shape[3] * 4], x.quant, [(4, 2)], 19)
        elif what == "depth":
            if shape[3] % 4:
                raise LookupError
            self.node(5, [x], [shape[0], shape[1] * 2, shape[2] * 2, shape[3] // 4], x.quant, [(4, 2)], 94)
        else:
            corners, half = self.pick([(0, 0), (1, 0), (0, 1)])
            size = [int(self.rng.integers(1, 10)) for _ in range(2)]
            self.node(97, [x], [shape[0], *size, shape[3]], x.quant, [(1, corners), (1, half)], 74, 2, [self.ints(size)])

    def split(self):
        x = self.value()
        axis = int(self.rng.integers(len(x.shape)))
        n = self.pick([n for n in (2, 3, 4) if x.shape[axis] % n == 0] or [0])
        if not n:
            raise LookupError
        shape = list(x.shape)
        shape[axis] //= n
        real = self.kind == "float32"
        outputs = [self.tensor(shape, self.kind, None if real else x.scale, 0 if real else x.zero) for _ in range(n)]
        self.add(49, 2, [self.ints(axis), x.tensor], outputs, [(4, n)], 35)
        x.reads += 1
        self.values += [Value(y, shape, *x.quant) for y in outputs]

    def bilinear(self):
        x = self.value(4)
        if self.kind == "int16":
            raise LookupError
        corners, half = self.pick([(0, 0), (1, 0), (0, 1)])
        size = [int(self.rng.integers(1, 10)) for _ in range(2)]
        self.node(23, [x], [x.shape[0], *size, x.shape[3]], x.quant, [None, None, (1, corners), (1, half)], 15, 3, [self.ints(size)])

    def extremes(self):
        x = self.value()
        alike = [v for v in self.values if v.shape == x.shape and v.quant == x.quant]
        if self.kind == "int16":
            raise LookupError
        self.node(self.pick([55, 57]), [x, self.pick(alike)], x.shape, x.quant, [], 39)

    def prelu(self):
        x = self.value(4)
        if self.kind == "int16":
            raise LookupError
        shape = [1, 1, x.shape[3]]
        slopes = self.floats(shape) if self.kind == "float32" else self.codes(shape, (0.01, int(self.rng.integers(-20, 20))))
        self.node(54, [x], x.shape, (float(np.float32(x.scale * self.rng.uniform(0.5, 1.5))), self.zero()), None, 0, 1, [slopes])

    def product(self):
        x = self.value()
        if len(x.shape) < 3 or self.kind == "int16":
            raise LookupError
        n = int(self.pick([1, 3, 8]))
        shape = [*x.shape[:-2], x.shape[-1], n]
        if np.prod(shape) > LARGEST:
            raise LookupError
        y = self.floats(shape) if self.kind == "float32" else self.codes(shape, (0.02, int(self.rng.integers(-20, 20))))
        self.node(126, [x], [*x.shape[:-1], n], self.fits(x, np.array([0.02]), x.shape[-1]), [(1, 0), (1, 0)], 101, 2, [y])

    def deconvolution(self):
        x = self.value(4)
        n, _, _, c = x.shape
        out, kernel, stride = int(self.pick([1, 3, 8])), [int(self.pick([1, 2, 3])) for _ in range(2)], [int(self.pick([1, 2])) for _ in range(2)]
        padding = self.pick([SAME, VALID])
        if padding == SAME and any(k < s for k, s in zip(kernel, stride)):
            raise LookupError
        size = [x.shape[1 + i] * stride[i] if padding == SAME else (x.shape[1 + i] - 1) * stride[i] + kernel[i] for i in range(2)]
        weights, scales = self.kernel([out, *kernel, c], 0)
        more = [self.biases(out, x, scales, c)] if self.chance(0.6) else []
        reads = [self.ints([n, *size, out]), weights]
        if np.prod([n, *size, out]) > LARGEST:
            raise LookupError
        real = self.kind == "float32"
        quant = self.fits(x, scales, c)
        y = self.tensor([n, *size, out], self.kind, None if real else quant[0], 0 if real else quant[1])
        self.add(67, 3, [*reads, x.tensor, *more], [y], [(1, padding), (4, stride[1]), (4, stride[0]), (1, NONE)], 49)
        x.reads += 1
        self.values.append(Value(y, [n, *size, out], *quant))

    # --- the network --------------------------------------------------------------------------------------

    def build(self):
        for _ in range(int(self.pick([1, 1, 2]))):
            if self.chance(0.75):
                shape = [int(self.pick([1, 1, 1, 2])), *(int(self.pick([1, 2, 3, 5, 8, 9])) for _ in range(2)), int(self.pick([1, 2, 3, 4, 8, 16, 17]))]
            else:
                shape = [int(self.pick([1, 2, 3])), *(int(self.pick([1, 3, 8, 20])) for _ in range(int(self.rng.integers(1, 3))))]
            quant = (1.0, 0) if self.kind == "float32" else self.quant()
            self.values.append(Value(self.input(shape, *quant, dtype=self.kind), shape, *quant))
        moves = [self.conv, self.conv, self.depthwise, self.dense, self.pool, self.arithmetic, self.arithmetic, self.concatenate,
                 self.table, self.softmax, self.requantise, self.mean, self.move, self.move, self.move, self.split, self.bilinear,
                 self.extremes, self.prelu, self.product, self.deconvolution]
        weights = self.rng.exponential(size=len(moves))  # of this network
        nodes = int(self.rng.integers(3, 15))
        for _ in range(20 * nodes):
            if len(self.operators) >= nodes:
                break
            before = len(self.tensors), len(self.values), len(self.operators)
            try:
                moves[int(self.rng.choice(len(moves), p=weights / weights.sum()))]()
            except LookupError:
                del self.tensors[before[0]:], self.values[before[1]:], self.operators[before[2]:]
        unread = [v.tensor for v in self.values if v.reads == 0 and v.tensor not in self.inputs]
        return self.result(*unread[:8])


def network(seed):
    return Chance(seed).build()
