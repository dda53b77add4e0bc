#!/usr/bin/env python3
"""Writes tables.h, the constants of sound_features.c, from their formulas: tables.py >tables.h"""
import ctypes
import ctypes.util
import math
import struct

RATE, WINDOW, FFT, CHANNELS = 16000, 480, 512, 40
LOW_HZ, HIGH_HZ = 125.0, 7500.0
GAIN_BITS, STRENGTH, OFFSET = 21, 0.95, 80.0
NOISE_BITS, CORRECTION_BITS = 10, 3


def nearest(x):
    return math.floor(x + 0.5)


# The networks were trained on features whose tables were computed in f32 by a C library: a few entries are near a tie.
log1pf = ctypes.CDLL(ctypes.util.find_library("m")).log1pf
log1pf.argtypes, log1pf.restype = [ctypes.c_float], ctypes.c_float


def f32(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def window():
    """Hann, in units of 2^-12."""
    angle = f32(f32(f32(math.pi) * 2) / WINDOW)
    return [nearest(4096 * f32(0.5 - f32(0.5 * f32(math.cos(f32(angle * (i + 0.5))))))) for i in range(WINDOW)]


def turns(n, parts, first=0.0):
    """n points on the circle, clockwise, in units of 2^-15: cosines and sines by turns."""
    angles = [-2 * math.pi * (i / parts + first) for i in range(n)]
    return [nearest(32767 * f(a)) for a in angles for f in (math.cos, math.sin)]


def mel(hz):
    return f32(1127.0 * log1pf(f32(hz / 700.0)))


def bank():
    """The first bin, the end of each of 41 bands, and each bin's weight in its band, in units of 2^-12: what is left
    goes to the band after it. The first band is before all channels."""
    step = f32(f32(mel(HIGH_HZ) - mel(LOW_HZ)) / (CHANNELS + 1))
    edges = [f32(mel(LOW_HZ) + f32(step * i)) for i in range(CHANNELS + 2)]
    hz = RATE / FFT
    first = bin_ = int(1.5 + LOW_HZ / hz)
    ends, weights = [], []
    for low, high in zip(edges, edges[1:]):
        while mel(bin_ * hz) <= high:
            weights.append(nearest(4096 * f32(f32(high - mel(bin_ * hz)) / f32(high - low))))
            bin_ += 1
        ends.append(bin_)
    return first, ends, weights


def gain(noise):
    return min(32767, int(2.0**GAIN_BITS * (noise / 2.0 ** (NOISE_BITS - CORRECTION_BITS) + OFFSET) ** -STRENGTH + 0.5))


def gains():
    """For noise of n bits, 2 to 32: the gain at its least, and the two factors of a parabola through middle and end."""
    rows = []
    for bits in range(2, 33):
        least = 1 << (bits - 1)
        y0, y1, y2 = (gain(n) for n in (least, least + least // 2, 2 * least - (bits == 32)))
        a1 = 4 * (y1 - y0) - (y2 - y0)
        rows += [y0, a1, y2 - y0 - a1]
    return [gain(0), gain(1)], rows


def logs():
    """How far log2(1 + i / 128) is above the chord, in units of 2^-16."""
    return [nearest(65536 * (math.log2(1 + i / 128) - i / 128)) for i in range(129)]


def array(name, kind, numbers, comment):
    lines, line = [], "   "
    for n in numbers:
        if len(line) + len(str(n)) + 2 > 100:
            lines.append(line)
            line = "   "
        line += f" {n},"
    return "\n".join([f"/* {comment} */", f"static const {kind} {name}[{len(numbers)}] = {{", *lines, line, "};", ""])


def main():
    first, ends, weights = bank()
    few, rows = gains()
    print("/* Made by tables.py. */\n/* clang-format off */")
    print(f"enum {{ FIRST_BIN = {first}, END_BIN = {ends[-1]} }};\n")
    print(array("hann", "int16_t", window(), "Hann window, 2^-12."))
    print(array("turns", "int16_t", turns(3 * FFT // 8, FFT // 2), "exp(-2 pi i k / 256): cosines and sines, 2^-15."))
    print(array("halves", "int16_t", turns(FFT // 4, FFT, 0.25 + 1 / FFT), "exp(-2 pi i ((k + 1) / 512 + 1/4)), 2^-15."))
    print(array("band_end", "uint8_t", ends, "The bin behind each band; the first band is before all channels."))
    print(array("weight", "int16_t", weights, "Of each bin in its band, 2^-12; the rest goes to the next band."))
    print(array("gain_least", "int16_t", few, "The gain for noise of 0 and 1."))
    print(array("gain", "int16_t", rows, "For noise of n bits, from 2 on: the gain of the least, and a parabola's factors."))
    print(array("log_above", "uint16_t", logs(), "log2(1 + k / 128) above k / 128, 2^-16."), end="")


main()
