"""Networks of networks.py with the `signal` operators of TensorFlow Lite Micro: audio front ends."""
import networks
import numpy as np
from flatbuffers import flexbuffers
from operators import Family

TYPES = {"int16": 7, "int32": 2, "float32": 0}
CAST, MUL, ADD, DIV, MIN = 53, 18, 0, 42, 57


class Signals(Family):
    """Custom operators by name, plain integers."""

    def signal(self, name, inputs, results, **options):
        """results: (shape, type) of each."""
        y = [self.tensor(shape, kind) for shape, kind in results]
        self.add(f"Signal{name}", 1, inputs, y, bytes(flexbuffers.Dumps(options)) if options else b"")
        return y if len(y) > 1 else y[0]

    def samples(self, shape, kind="int16"):
        self.inputs.append(self.tensor(shape, kind))
        return self.inputs[-1]

    def numbers(self, array, kind="int16"):
        array = np.asarray(array).astype(kind)
        return self.tensor(array.shape, kind, data=array)

    def data(self):
        """The whole range, quiet numbers, a tone (of unsigned numbers all magnitudes), extremes."""
        arrays = []
        for i in self.inputs:
            shape, kind = self.tensors[i]["shape"], self.tensors[i]["dtype"]
            if kind == np.float32:
                arrays.append(self.rng.standard_normal([networks.STEPS, *shape]).astype(np.float32))
                continue
            array = np.frombuffer(self.rng.bytes(networks.STEPS * int(np.prod(shape)) * kind.itemsize), kind).reshape([networks.STEPS, *shape]).copy()
            array[1] = array[1] >> (kind.itemsize * 8 - 7)
            if kind.kind == "u":
                array[2] = array[2] >> self.rng.integers(0, kind.itemsize * 8, shape).astype(kind)
            else:
                tone = np.sin(np.arange(array[2].size) * 0.21) * (np.iinfo(kind).max // 3)
                array[2] = tone.reshape(shape).astype(kind)
            array[-1] = self.rng.choice(np.array([np.iinfo(kind).min, np.iinfo(kind).max, 0], kind), shape)
            arrays.append(array)
        return arrays

    def as_whole(self, x, shape):
        return self.of(CAST, [x], shape, None, "int32", [(1, TYPES["int16"]), (1, 2)], 37)

    def when(self, valid, x, shape):
        """x as i32, 0 where it is not valid: TensorFlow Lite Micro leaves it unset there."""
        kept = self.of(CAST, [valid], [], None, "int32", [(1, 6), (1, 2)], 37)
        return self.of(MUL, [self.as_whole(x, shape), kept], shape, None, "int32", [(1, 0)], 21)


def bank_of(net, bins, channels, first_bin=3):
    """Triangles that overlap: weights, what is left of 4096, and of each band its first bin, first weight and width."""
    ends = np.unique(np.linspace(first_bin, bins - 2, channels + 2).astype(int))[:channels + 2]
    starts, widths = ends[:-1], np.diff(ends)
    weights = np.concatenate([np.linspace(0, 4096, n, endpoint=False) for n in widths]).astype(np.int16)
    firsts = np.concatenate([[0], np.cumsum(widths)[:-1]])
    return [net.numbers(a) for a in (weights, 4096 - weights, starts, firsts, widths)]


def gains():
    """Three numbers for each power of two of a noise level, and two in front."""
    table = np.zeros(125, np.int64)
    of = lambda level: 32767 * (level / 64 + 80.0)**-0.95 * 64  # noqa: E731
    table[:2] = of(0), of(1)
    for width in range(2, 33):
        at = 4 * width - 6
        low, high = 2.0**(width - 1), 2.0**width
        y0, y1, y2 = of(low), of((low + high) / 2), of(high)
        table[at:at + 3] = y0, 4 * y1 - 3 * y0 - y2, 2 * (y0 + y2) - 4 * y1
    return np.clip(table, -32768, 32767)


def front_end(seed, size, length, channels, smoothing, clamping, scale=1600, shift=3, snr=6):
    """From a frame of samples to codes."""
    net = Signals(seed)
    x = net.samples([1, size])
    window = net.numbers(np.sin(np.pi * (np.arange(size) + 0.5) / size)**2 * 4096)
    x = net.signal("Window", [x, window], [([1, size], "int16")], shift=12)
    x = net.of(22, [x, net.ints([size])], [size], None, "int16", [None], 17)
    x, bits = net.signal("FftAutoScale", [x], [([size], "int16"), ([], "int32")])
    spectrum = net.signal("Rfft", [x], [([length + 2], "int16")], T=TYPES["int16"], fft_length=length)
    bins = length // 2 + 1
    energy = net.signal("Energy", [spectrum], [([bins], "uint32")], start_index=3, end_index=bins - 1)
    bank = net.signal("FilterBank", [energy, *bank_of(net, bins, channels)], [([channels], "uint64")], num_channels=channels)
    root = net.signal("FilterBankSquareRoot", [bank, bits], [([channels], "uint32")])
    less, noise = net.signal("FilterBankSpectralSubtraction", [root], [([channels], "uint32")] * 2, num_channels=channels, smoothing=smoothing[0],
                             one_minus_smoothing=(1 << 14) - smoothing[0], alternate_smoothing=smoothing[1],
                             alternate_one_minus_smoothing=(1 << 14) - smoothing[1], min_signal_remaining=819, smoothing_bits=10,
                             spectral_subtraction_bits=14, clamping=clamping)
    gained = net.signal("PCAN", [less, noise, net.numbers(gains())], [([channels], "uint32")], snr_shift=snr)
    log = net.signal("FilterBankLog", [gained], [([channels], "int16")], output_scale=scale, input_correction_bits=shift)
    whole = net.as_whole(log, [channels])
    for code, kind, number in (MUL, 21, 256), (ADD, 11, -77), (DIV, 29, 1000), (ADD, 11, -128), (MIN, 39, 127):
        whole = net.of(code, [whole, net.numbers(number, "int32")], [channels], None, "int32", [] if code == MIN else [(1, 0)], kind)
    codes = net.of(CAST, [whole], [channels], (0.1, -128), "int8", [(1, 2), (1, 9)], 37)
    return net.result(codes, log, noise, less, root, bits)


def wake_word(seed):
    """Samples to the probabilities of two words: frames, a front end of 2 channels, frames beside each other, a layer."""
    net = Signals(seed)
    x = net.samples([1, 32])
    frames, valid = net.signal("Framer", [x], [([1, 1, 64], "int16"), ([], "bool")], frame_size=64, frame_step=32, prefill=True)
    flat = net.of(22, [frames, net.ints([64])], [64], None, "int16", [None], 17)
    spectrum = net.signal("Rfft", [flat], [([66], "int16")], T=TYPES["int16"], fft_length=64)
    energy = net.signal("Energy", [spectrum], [([33], "uint32")], start_index=0, end_index=33)
    bank = net.signal("FilterBank", [energy, *bank_of(net, 33, 6)], [([6], "uint64")], num_channels=6)
    root = net.signal("FilterBankSquareRoot", [bank, net.numbers(0, "int32")], [([6], "uint32")])
    log = net.signal("FilterBankLog", [root], [([6], "int16")], output_scale=64, input_correction_bits=1)
    stack, ready = net.signal("Stacker", [log], [([18], "int16"), ([], "bool")], num_channels=6, stacker_left_context=2, stacker_right_context=0,
                              stacker_step=1)
    whole = net.of(ADD, [net.as_whole(stack, [18]), net.numbers(-400, "int32")], [18], None, "int32", [(1, 0)], 11)
    whole = net.of(DIV, [whole, net.numbers(4, "int32")], [18], None, "int32", [(1, 0)], 29)
    codes = net.of(CAST, [net.of(22, [whole, net.ints([1, 18])], [1, 18], None, "int32", [None], 17)], [1, 18], (0.1, 0), "int8",
                   [(1, 2), (1, 9)], 37)
    y = net.of(9, [codes, net.weights([2, 18], 0.01), net.bias(2, 0.1 * 0.01)], [1, 2], (0.2, 3), options=[(1, 0)], kind=8, version=3)
    return net.result(net.of(25, [y], [1, 2], (1 / 256, -128), options=[("f", 1.0)], kind=9, version=2), valid, ready)


def transforms(seed, kind):
    """Every number of points from 4 on, with and without zeros behind, there and back."""
    net = Signals(seed)
    y = []
    for length, size in (4, 4), (8, 5), (16, 16), (32, 30), (64, 64), (128, 128), (256, 240), (512, 480):
        x = net.samples([2, size] if length < 64 else [size], kind)
        shape = net.tensors[x]["shape"][:-1]
        spectrum = net.signal("Rfft", [x], [([*shape, length + 2], kind)], T=TYPES[kind], fft_length=length)
        back = net.signal("Irfft", [spectrum], [([*shape, length], kind)], T=TYPES[kind], fft_length=length)
        y += [spectrum, back]
    for length in 8, 64, 128:
        x = net.samples([length + 2], kind)
        y.append(net.signal("Irfft", [x], [([length], kind)], T=TYPES[kind], fft_length=length))
    return net.result(*y)


def transforms_of_other_lengths(seed, kind):
    """Points with the factors 3 and 5, of every step beside others."""
    net = Signals(seed)
    y = []
    for length, size in (6, 6), (10, 9), (12, 12), (18, 18), (20, 20), (24, 23), (50, 50), (60, 60), *[(480, 400)][:kind == "int16"]:
        x = net.samples([2, size] if length < 24 else [size], kind)
        shape = net.tensors[x]["shape"][:-1]
        spectrum = net.signal("Rfft", [x], [([*shape, length + 2], kind)], T=TYPES[kind], fft_length=length)
        y += [spectrum, net.signal("Irfft", [spectrum], [([*shape, length], kind)], T=TYPES[kind], fft_length=length)]
    return net.result(*y)


def kept(seed):
    """What keeps samples: delays, frames, stacked frames, added frames."""
    net = Signals(seed)
    x, rows = net.samples([12]), net.samples([2, 8])
    y = [net.signal("Delay", [x], [([12], "int16")], delay_length=5), net.signal("Delay", [rows], [([2, 8], "int16")], delay_length=19),
         net.signal("Delay", [x], [([12], "int16")], delay_length=0)]
    for of, size, step, first in (x, 10, 4, True), (x, 10, 4, False), (rows, 5, 2, True), (rows, 8, 8, False), (rows, 21, 8, False):
        shape = [*net.tensors[of]["shape"][:-1], net.tensors[of]["shape"][-1] // step, size]
        frames, valid = net.signal("Framer", [of], [(shape, "int16"), ([], "bool")], frame_size=size, frame_step=step, prefill=first)
        y += [net.when(valid, frames, shape), valid]
    for left, right, step in (1, 1, 1), (2, 0, 2), (0, 1, 2), (0, 0, 1), (1, 2, 3):
        n = 12 * (left + right + 1)
        stack, valid = net.signal("Stacker", [x], [([n], "int16"), ([], "bool")], num_channels=12, stacker_left_context=left,
                                  stacker_right_context=right, stacker_step=step)
        y += [net.when(valid, stack, [n]), valid]
    frames, floats = net.samples([2, 3, 8]), net.input([2, 8], dtype="float32")
    y += [net.signal("OverlapAdd", [frames], [([2, 3 * step], "int16")], T=TYPES["int16"], frame_step=step) for step in (3, 8)]
    y.append(net.signal("OverlapAdd", [floats], [([10], "float32")], T=TYPES["float32"], frame_step=5))
    return net.result(*y)


def functions(seed):
    """Each function of numbers on its whole range."""
    net = Signals(seed)
    bank, level, noise, scaled = (net.samples([40], kind) for kind in ("uint64", "uint32", "uint32", "int16"))
    y = [net.signal("FilterBankSquareRoot", [bank, net.numbers(bits, "int32")], [([40], "uint32")]) for bits in (0, 7)]
    y += [net.signal("PCAN", [level, noise, net.numbers(table)], [([40], "uint32")], snr_shift=shift)
          for table, shift in ((gains(), 6), (net.rng.integers(-32768, 32768, 125), 20))]
    y += [net.signal("FilterBankLog", [level], [([40], "int16")], output_scale=scale, input_correction_bits=shift)
          for scale, shift in ((1600, 3), (64, 0), (100000, 7))]
    y += net.signal("FftAutoScale", [scaled], [([40], "int16"), ([], "int32")])
    window = net.numbers(net.rng.integers(-32768, 32768, 40))
    y += [net.signal("Window", [scaled, window], [([40], "int16")], shift=shift) for shift in (0, 12)]
    y += net.signal("FilterBankSpectralSubtraction", [level], [([40], "uint32")] * 2, num_channels=40, smoothing=410, one_minus_smoothing=15974,
                    alternate_smoothing=819, alternate_one_minus_smoothing=15565, min_signal_remaining=1638, smoothing_bits=4,
                    spectral_subtraction_bits=14, clamping=True)
    return net.result(*y)


def signals():
    """NAME -> Network."""
    return {"front_end": front_end(140, 480, 512, 40, (410, 410), False), "front_end_short": front_end(141, 200, 256, 10, (410, 819), True),
            "front_end_of_samples": wake_word(142), "fft_i16": transforms(143, "int16"), "fft_i32": transforms(144, "int32"),
            "fft_of_floats": transforms_of_floats(145), "samples_kept": kept(146), "signal_functions": functions(147),
            "fft_lengths_i16": transforms_of_other_lengths(164, "int16"), "fft_lengths_i32": transforms_of_other_lengths(165, "int32")}


def transforms_of_floats(seed):
    net = Signals(seed)
    y = []
    for length, size in (8, 8), (64, 50):
        x = net.input([2, size], dtype="float32")
        spectrum = net.signal("Rfft", [x], [([2, length + 2], "float32")], T=TYPES["float32"], fft_length=length)
        y += [net.of(MUL, [spectrum, net.tensor([], "float32", data=np.float32(0.01))], [2, length + 2], None, "float32", [(1, 0)], 21),
              net.signal("Irfft", [spectrum], [([2, length], "float32")], T=TYPES["float32"], fft_length=length)]
    return net.result(*y)
