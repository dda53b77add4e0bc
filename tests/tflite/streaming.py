"""Networks that keep something from one step to the next: resource variables, SVDF, LSTM. See networks.py."""
import numpy as np

CALL_ONCE, VAR_HANDLE, READ_VARIABLE, ASSIGN_VARIABLE, SVDF, LSTM = 129, 142, 143, 144, 27, 44
CONCATENATION, CONV_2D, DEPTHWISE, ADD, STRIDED_SLICE = 2, 3, 4, 0, 45


def make(network, scales_of):
    """name -> network; of networks.py's class and function, which imports this file."""

    class Streaming(network):
        """With variables, and a second graph that gives them their first contents."""

        def __init__(self, seed):
            super().__init__(seed)
            self.initials = []  # (name, scale, zero, array)

        def more_graphs(self, table, vector, tables, buffers, codes):
            if not self.initials:
                return []
            tensors, operators = [], []
            for code in VAR_HANDLE, ASSIGN_VARIABLE:
                codes.append(table(4, {0: (1, 127), 2: (4, 1), 3: (4, code)}))
            for name, scale, zero, array in self.initials:
                buffers.append(table(1, {0: ("o", vector(np.frombuffer(array.tobytes(), np.uint8)))}))
                quant = table(7, {2: ("o", vector(np.array([scale], np.float32))), 3: ("o", vector(np.array([zero], np.int64)))})
                scalar, shape = vector(np.array([], np.int32)), vector(np.array(array.shape, np.int32))
                n = len(tensors)
                tensors.append(table(8, {0: ("o", scalar), 1: (1, 13), 2: (4, 0), 3: ("s", f"handle{n}")}))
                tensors.append(table(8, {0: ("o", shape), 1: (1, 9), 2: (4, len(buffers) - 1), 3: ("s", f"initial{n}"), 4: ("o", quant)}))
                for k, (inputs, outputs, options, kind) in enumerate((([], [n], {1: ("s", name)}, 111), ([n, n + 1], [], {}, 113))):
                    lists = [vector(np.array(numbers, np.int32)) for numbers in (inputs, outputs)]
                    built = table(2, options)
                    operators.append(table(9, {0: (4, len(codes) - 2 + k), 1: ("o", lists[0]), 2: ("o", lists[1]), 3: (1, kind),
                                               4: ("o", built)}))
            none = [vector(np.array([], np.int32)) for _ in range(2)]
            return [table(5, {0: ("o", tables(tensors)), 1: ("o", none[0]), 2: ("o", none[1]), 3: ("o", tables(operators))})]

        def once(self):
            self.add(CALL_ONCE, 1, [], [], [(4, 1)], 103)

        def variable(self, name, shape, scale, zero, initial=None):
            handle = self.tensor([], "int8", resource=True)
            self.add(VAR_HANDLE, 1, [], [handle], [None, ("s", name)], 111)
            if initial is not None:
                self.initials.append((name, scale, zero, initial))
            return handle

        def read(self, handle, shape, scale, zero):
            y = self.tensor(shape, "int8", scale, zero)
            self.add(READ_VARIABLE, 1, [handle], [y], [], 112)
            return y

        def assign(self, handle, x):
            self.add(ASSIGN_VARIABLE, 1, [handle, x], [], [], 113)

        def ring(self, name, x, kept, shape, scale, zero, initial):
            """What was kept, then x; the last rows of both are kept."""
            handle = self.variable(name, [1, kept, 1, shape[3]], scale, zero, initial)
            old = self.read(handle, [1, kept, 1, shape[3]], scale, zero)
            both = self.tensor([1, kept + shape[1], 1, shape[3]], "int8", scale, zero)
            self.add(CONCATENATION, 2, [old, x], [both], [(4, 1), (1, 0)], 10)
            last = self.tensor([1, kept, 1, shape[3]], "int8", scale, zero)
            begin, end, strides = self.ints([0, shape[1], 0, 0]), self.ints([0, 0, 0, 0]), self.ints([1, 1, 1, 1])
            self.add(STRIDED_SLICE, 2, [both, begin, end, strides], [last], [(4, 13), (4, 15), (4, 0), (4, 0), (4, 0)], 32)
            self.assign(handle, last)
            return both

    def wake_word(seed, filled):
        """Two layers with rings of rows, as in streaming wake words; the last is not kept, the first begins as numbers."""
        net = Streaming(seed)
        net.once()
        x = net.input([1, 2, 1, 8], 0.05, -7)
        first = net.rng.integers(-128, 128, [1, 3, 1, 8]).astype(np.int8) if filled else np.full([1, 3, 1, 8], -7, np.int8)
        both = net.ring("one", x, 3, [1, 2, 1, 8], 0.05, -7, first)
        y = net.tensor([1, 1, 1, 12], "int8", 0.11, 5)
        w = net.weights([12, 5, 1, 8], scales_of(12, net.rng))
        net.add(CONV_2D, 3, [both, w, net.bias(12)], [y], [(1, 1), (4, 1), (4, 1), (1, 1)], 1)
        both = net.ring("two", y, 4, [1, 1, 1, 12], 0.11, 5, np.full([1, 4, 1, 12], 5, np.int8))
        z = net.tensor([1, 1, 1, 12], "int8", 0.2, -9)
        w = net.weights([1, 5, 1, 12], scales_of(12, net.rng), 3)
        net.add(DEPTHWISE, 3, [both, w, net.bias(12)], [z], [(1, 1), (4, 1), (4, 1), (4, 1), (1, 0)], 2)
        return net.result(z)

    def running_sum(seed):
        """s += x, read before and behind; without first contents: codes of the zero point."""
        net = Streaming(seed)
        x = net.input([1, 6], 0.05, -3)
        handle = net.variable("sum", [1, 6], 0.05, -3)
        old = net.read(handle, [1, 6], 0.05, -3)
        s = net.tensor([1, 6], "int8", 0.05, -3)
        net.add(ADD, 2, [old, x], [s], [(1, 0)], 11)
        net.assign(handle, s)
        new = net.read(handle, [1, 6], 0.05, -3)
        y = net.tensor([1, 6], "int8", 0.11, 4)
        net.add(ADD, 2, [new, x], [y], [(1, 0)], 11)
        return net.result(y, s)

    def swap(seed):
        """Two variables that change places: neither can be written where it is kept before the other is read."""
        net = Streaming(seed)
        net.once()
        x = net.input([1, 5], 0.05, -3)
        handles = [net.variable(name, [1, 5], 0.05, -3, net.rng.integers(-128, 128, [1, 5]).astype(np.int8)) for name in "ab"]
        a, b = (net.read(handle, [1, 5], 0.05, -3) for handle in handles)
        s = net.tensor([1, 5], "int8", 0.09, 2)
        net.add(ADD, 2, [a, x], [s], [(1, 0)], 11)
        net.assign(handles[0], b)
        net.assign(handles[1], a)
        return net.result(s)

    def hybrid(net, shape, scale, twin):
        """Weights of 8 bits for activations of floats; twin: as floats."""
        codes = net.rng.integers(-127, 128, shape).astype(np.int8)
        return net.tensor(shape, "float32", data=codes * np.float32(scale)) if twin else net.tensor(shape, "int8", scale, 0, codes)

    def lstm(seed, batch, steps, inputs, hidden, time_major=False, c_power=-12, h_zero=0, clip=0.0, floats=False, twin=None):
        """One layer; its variable tensors are kept. twin: of hybrid weights, not None."""
        net = Streaming(seed)
        x = net.input([steps, batch, inputs] if time_major else [batch, steps, inputs], 0.02, -11, "float32" if floats else "int8")

        def weights(rows, columns):
            if twin is not None:
                return hybrid(net, [rows, columns], net.rng.uniform(0.002, 0.009), twin)
            return net.floats([rows, columns]) if floats else net.weights([rows, columns], net.rng.uniform(0.004, 0.02, 1))

        list_w, list_r = [weights(hidden, inputs) for _ in range(4)], [weights(hidden, hidden) for _ in range(4)]
        biases = [net.floats([hidden]) if floats else net.bias(hidden, 0.0002) for _ in range(4)]
        state = [net.tensor([batch, hidden], "float32", variable=True) for _ in range(2)] if floats else \
                [net.tensor([batch, hidden], "int8", 1 / 128, h_zero, variable=True),
                 net.tensor([batch, hidden], "int16", 2.0**c_power, 0, variable=True)]
        shape = [steps, batch, hidden] if time_major else [batch, steps, hidden]
        y = net.tensor(shape, "float32") if floats else net.tensor(shape, "int8", 1 / 128, h_zero)
        net.add(LSTM, 1, [x, *list_w, *list_r, -1, -1, -1, *biases, -1, -1, *state, -1, -1, -1, -1], [y],
                [(1, 4), ("f", clip), ("f", 0.0), (1, int(time_major))], 71)
        return net.result(y)

    def wide_lstm(seed, batch, steps, inputs, hidden, time_major=False, c_power=-12, clip=0.0, x_scale=0.0004, w_scale=0.01):
        """Codes of 16 bits, biases of 64."""
        net = Streaming(seed)
        x = net.input([steps, batch, inputs] if time_major else [batch, steps, inputs], x_scale, 0, "int16")
        lists = [[net.weights([hidden, n], net.rng.uniform(0.4, 1.6) * w_scale) for _ in range(4)] for n in (inputs, hidden)]
        biases = [net.tensor([hidden], "int64", 1.0, 0, net.rng.integers(-1 << 20, 1 << 20, hidden)) for _ in range(4)]
        state = [net.tensor([batch, hidden], "int16", scale, 0, variable=True) for scale in (1 / 32768, 2.0**c_power)]
        y = net.tensor([steps, batch, hidden] if time_major else [batch, steps, hidden], "int16", 1 / 32768, 0)
        net.add(LSTM, 1, [x, *lists[0], *lists[1], -1, -1, -1, *biases, -1, -1, *state, -1, -1, -1, -1], [y],
                [(1, 4), ("f", clip), ("f", 0.0), (1, int(time_major))], 71)
        return net.result(y)

    def svdf(seed, batch, inputs, units, rank, memory, kind="int8", twin=None, zero=0):
        """kind, zero: of the state; twin: of hybrid weights, not None."""
        net = Streaming(seed)
        floats = kind == "float32"
        x = net.input([batch, inputs], 0.02, -11, "float32" if floats else "int8")
        filters = units * rank
        if floats:
            w = net.floats([filters, inputs]) if twin is None else hybrid(net, [filters, inputs], 0.0043, twin)
            times, bias = net.floats([filters, memory]), net.floats([units])
            state, y = net.tensor([batch, filters * memory], kind, variable=True), net.tensor([batch, units], kind)
        else:
            w = net.weights([filters, inputs], 0.013)
            most, scale = (127, 0.0231) if kind == "int8" else (2000, 0.0007)
            times = net.tensor([filters, memory], kind, 0.011, 0, net.rng.integers(-most, most, [filters, memory]).astype(kind))
            bias = net.bias(units, scale * 0.011, 3000)
            state = net.tensor([batch, filters * memory], kind, scale, zero, variable=True)
            y = net.tensor([batch, units], "int8", 0.11 if kind == "int8" else 1.3, -4)
        net.add(SVDF, 3, [x, w, times, bias, state], [y], [(4, rank), (1, 1 if floats else 0)], 6)
        return net.result(y)

    return {"state_rings": wake_word(701, False), "state_rings_filled": wake_word(702, True), "state_sum": running_sum(703),
            "state_swap": swap(704), "lstm": lstm(705, 1, 5, 7, 9), "lstm_time_major": lstm(706, 2, 3, 6, 8, True, -11, -4),
            "lstm_batch": lstm(707, 3, 2, 5, 4, False, -15, 9), "lstm_clip": lstm(708, 1, 4, 8, 8, False, -10, 0, 0.75),
            "lstm_step": lstm(709, 1, 1, 16, 12, False, -13), "lstm_of_floats": lstm(710, 1, 4, 6, 5, floats=True),
            "lstm_of_floats_clip": lstm(722, 1, 4, 6, 5, clip=0.3, floats=True),
            "lstm_of_floats_clip_time_major": lstm(723, 2, 3, 6, 8, True, clip=0.2, floats=True),
            "lstm_i16": wide_lstm(718, 1, 5, 7, 9), "lstm_i16_time_major": wide_lstm(719, 2, 3, 6, 8, True, -11, 0, 0.00003, 0.02),
            "lstm_i16_clip": wide_lstm(720, 3, 4, 8, 5, False, -15, 0.4), "lstm_i16_long": wide_lstm(721, 1, 2, 1100, 3, False, -10, 0, 0.0004, 0.0005),
            "svdf": svdf(711, 1, 8, 6, 1, 5), "svdf_rank": svdf(712, 2, 7, 4, 2, 3), "svdf_i16": svdf(713, 1, 8, 5, 1, 6, "int16"),
            "svdf_zero": svdf(724, 1, 8, 6, 2, 5, zero=-9), "svdf_no_memory": svdf(714, 1, 5, 4, 3, 1), "svdf_of_floats": svdf(715, 2, 6, 4, 2, 3, "float32"),
            **{f"{name}_hybrid{'_twin' * twin}": made for twin in (False, True) for name, made in (
                ("lstm", lstm(716, 1, 4, 6, 5, floats=True, twin=twin)), ("svdf", svdf(717, 2, 6, 4, 2, 3, "float32", twin)))}}
