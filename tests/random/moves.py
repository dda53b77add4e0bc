"""Pieces that move numbers: views, transposes, parts, paddings, gathers."""
import numpy as np

from network import Reject

PIECES = []


def piece(weight):
    def add(function):
        PIECES.append((function, weight))
        return function
    return add


# --- steps, of which other pieces are made ------------------------------------------------------------
def squeeze(n, x, axes):
    return n.op("Squeeze", [x, n.ints(axes)])


def unsqueeze(n, x, axes):
    return n.op("Unsqueeze", [x, n.ints(axes)])


def reshape(n, x, shape):
    shape = [int(d) for d in shape]
    kind = n.below(4)
    if kind == 0 and n.values[x].size:
        shape[n.below(len(shape))] = -1
    elif kind == 1:
        for i, d in enumerate(shape):
            if i < n.values[x].ndim and n.shape(x)[i] == d and n.chance(0.5):
                shape[i] = 0
    elif kind == 2 and n.chance(0.3):  # as torch's exporter writes x.view(x.size(0), -1) of a batch that may vary
        first = n.op("Shape", [x], keep=False)
        part = n.op("Gather", [first, n.const(np.int64(0))], axis=0, keep=False)
        if shape[0] == n.shape(x)[0]:
            rows = n.op("Unsqueeze", [part, n.ints([0])], keep=False)
            target = n.op("Concat", [rows, n.ints(shape[1:])], axis=0, keep=False) if len(shape) > 1 else rows
            return n.op("Reshape", [x, target])
    return n.op("Reshape", [x, n.ints(shape)])


def transpose(n, x, perm=None):
    rank = n.values[x].ndim
    if perm is None:
        last, first = [0] + list(range(2, rank)) + [1], [0, rank - 1] + list(range(1, rank - 1))
        swap = list(range(rank))
        if rank >= 2:
            i, j = (int(k) for k in n.rng.choice(rank, 2, replace=False))
            swap[i], swap[j] = swap[j], swap[i]
        anything = [int(i) for i in n.rng.permutation(rank)]
        perm = n.choice([last, first, swap, anything] if rank >= 3 else [swap])
    if len(perm) < 2:
        raise Reject("rank")
    return n.op("Transpose", [x], perm=perm)


def factors(n, size, rank):
    """size as a product of rank numbers."""
    shape = []
    for _ in range(rank - 1):
        d = n.choice([d for d in range(1, size + 1) if size % d == 0 and d <= 17])
        shape.append(d)
        size //= d
    shape.insert(n.below(len(shape) + 1), size)
    return shape


def as_rank(n, x, rank):
    """x as a value of this rank, by some way: unsqueezed, squeezed, reshaped, with or without a transpose."""
    while n.values[x].ndim != rank:
        have = n.values[x].ndim
        if n.chance(0.3) and have >= 2:
            x = transpose(n, x)
        if have < rank and n.chance(0.7):
            x = unsqueeze(n, x, [n.below(have + 1)])
        elif have > rank and 1 in n.shape(x) and n.chance(0.7):
            x = squeeze(n, x, [n.choice([i for i, d in enumerate(n.shape(x)) if d == 1])])
        elif have > rank and have >= 2 and n.chance(0.7):
            i = n.below(have - 1)
            s = list(n.shape(x))
            x = reshape(n, x, s[:i] + [s[i] * s[i + 1]] + s[i + 2:])
        else:
            x = reshape(n, x, factors(n, n.values[x].size, rank))
    return x


def part(n, x, axis, begin, end, step=1, keep=True):
    return n.op("Slice", [x, n.ints([begin]), n.ints([end]), n.ints([axis]), n.ints([step])], keep=keep)


def sliced_somehow(n, x, steps=(1, 1, 1, 2, 3), keep=True):
    """Some of x along one dim or two: forwards, backwards, from either end, in steps."""
    axes = [i for i, d in enumerate(n.shape(x)) if d > 1]
    if not axes:
        raise Reject("nothing to cut")
    axes = sorted(int(a) for a in n.rng.choice(axes, min(len(axes), n.choice([1, 1, 2])), replace=False))
    starts, ends, taken = [], [], []
    for axis in axes:
        d = n.shape(x)[axis]
        begin = n.below(d)
        end = n.between(begin + 1, d)
        step = n.choice(steps)
        if n.chance(0.15):
            begin, end, step = end - 1, begin - 1 if begin else -d - 1, -step
        elif n.chance(0.2):
            begin -= d
        elif end == d and n.chance(0.3):
            end = 2**31 - 1
        starts.append(begin), ends.append(end), taken.append(step)
    return n.op("Slice", [x, n.ints(starts), n.ints(ends), n.ints(axes), n.ints(taken)], keep=keep)


def resized(n, x, shape):
    """x cut and padded to a shape of its rank."""
    for axis, (have, want) in enumerate(zip(n.shape(x), shape)):
        if have > want:
            begin = n.below(have - want + 1)
            x = part(n, x, axis, begin, begin + want)
        elif have < want:
            pads = [0] * (2 * len(shape))
            pads[axis] = n.below(want - have + 1)
            pads[axis + len(shape)] = want - have - pads[axis]
            x = n.op("Pad", [x, n.ints(pads)], mode="constant")
    return x


# --- pieces -------------------------------------------------------------------------------------------
@piece(6)
def turned(n):
    y = transpose(n, n.pick(lambda a: a.ndim >= 2))
    if n.chance(0.25):
        transpose(n, y)


@piece(4)
def viewed(n):
    x = n.pick()
    s = n.shape(x)
    ones = [i for i, d in enumerate(s) if d == 1]
    kind = n.below(4)
    if kind == 0 and ones and len(s) > 1:
        axes = [i for i in ones if n.chance(0.6)] or ones[:1]
        squeeze(n, x, axes if n.chance(0.7) else [i - len(s) for i in axes])
    elif kind == 1 and len(s) < 5:
        unsqueeze(n, x, [n.below(len(s) + 1)] if n.chance(0.7) or len(s) > 3 else [0, n.between(1, len(s) + 1)])
    elif kind == 2:
        n.op("Flatten", [x], axis=n.between(0, len(s)))
    else:
        reshape(n, x, factors(n, n.values[x].size, n.between(1, 5)))


@piece(5)
def squeezed_turned_unsqueezed(n):
    """torch's x.squeeze(1).transpose(1, 2).unsqueeze(1), and its kin."""
    x = n.pick(lambda a: a.ndim >= 3 and 1 in a.shape)
    ones = [i for i, d in enumerate(n.shape(x)) if d == 1]
    axis = n.choice(ones)
    y = squeeze(n, x, [axis])
    y = transpose(n, y)
    unsqueeze(n, y, [axis if n.chance(0.6) else n.below(n.values[y].ndim + 1)])


@piece(3)
def merged_turned_split(n):
    """Dims joined, transposed, taken apart again."""
    x = n.pick(lambda a: a.ndim >= 3)
    s = list(n.shape(x))
    i = n.below(len(s) - 1)
    y = reshape(n, x, s[:i] + [s[i] * s[i + 1]] + s[i + 2:])
    y = transpose(n, y)
    if n.chance(0.6):
        at = n.choice([k for k, d in enumerate(n.shape(y)) if d % s[i] == 0])
        t = list(n.shape(y))
        reshape(n, y, t[:at] + [s[i], t[at] // s[i]] + t[at + 1:])


@piece(4)
def sliced(n):
    sliced_somehow(n, n.pick(lambda a: a.ndim and a.size > 1))


@piece(3)
def sliced_again(n):
    """What a slice in steps leaves, in pieces that nobody reads but as they are or put together."""
    x = n.pick(lambda a: a.ndim and max(a.shape) > 4)
    axis = int(np.argmax(n.shape(x))) if n.chance(0.7) else n.below(n.values[x].ndim)
    if n.chance(0.6):
        y = part(n, x, axis, n.below(min(2, n.shape(x)[axis])), 2**31 - 1, n.choice([1, 2, 2, 3]), keep=False)
    else:
        y = sliced_somehow(n, x, (1, 2, 2, 3), keep=False)
    axis = axis if n.shape(y)[axis] > 1 else int(np.argmax(n.shape(y)))
    begin, parts = 0, []
    for length in cut(n, n.shape(y)[axis]):
        if n.chance(0.8):
            parts.append(part(n, y, axis, begin, begin + length, n.choice([1, 1, 2]) if length > 2 else 1))
        begin += length
    if len(parts) > 1 and n.chance(0.4):
        n.op("Concat", [parts[int(i)] for i in n.rng.permutation(len(parts))], axis=axis)


def cut(n, d):
    """d as a sum of 2 or 3 numbers."""
    if d < 2:
        raise Reject("too short")
    parts = n.between(2, min(3, d))
    if d % parts == 0 and n.chance(0.4):
        return [d // parts] * parts
    marks = sorted(int(i) for i in n.rng.choice(np.arange(1, d), parts - 1, replace=False))
    return [b - a for a, b in zip([0] + marks, marks + [d])]


def split(n, x, axis, lengths):
    return n.op("Split", [x, n.ints(lengths)], outputs=len(lengths), axis=axis)


@piece(3)
def parted(n):
    x = n.pick(lambda a: a.ndim and max(a.shape) > 1)
    axis = n.choice([i for i, d in enumerate(n.shape(x)) if d > 1])
    parts = split(n, x, axis, cut(n, n.shape(x)[axis]))
    kind = n.choice(["apart", "as they were", "in another order", "one of them changed"], [4, 2, 4, 4])
    if kind == "apart":
        return
    if kind != "as they were":
        parts = [parts[int(i)] for i in n.rng.permutation(len(parts))]
        if n.chance(0.3):
            parts.append(n.choice(parts))
    if kind == "one of them changed":
        changed = n.choice(parts)
        if n.is_float(changed):
            parts[parts.index(changed)] = n.op(n.choice(["Relu", "Sigmoid", "Tanh", "Abs"]), [changed])
    n.op("Concat", parts, axis=axis)


@piece(5)
def joined(n):
    """A value beside others of its rank; what does not fit is cut or padded."""
    x = n.pick(lambda a: a.ndim >= 1)
    kind, rank = n.values[x].dtype, n.values[x].ndim
    axis = n.below(rank)
    others = [m for m in n.made if n.values[m].ndim == rank and n.values[m].dtype == kind]
    parts = [x]
    for _ in range(n.choice([1, 1, 2, 3])):
        other = n.choice(others[-6:])
        want = list(n.shape(x))
        want[axis] = n.shape(other)[axis]
        parts.append(resized(n, other, want))
    if kind == np.float32 and n.chance(0.15):
        parts.append(n.const(n.data(n.shape(x))))
    parts = [parts[int(i)] for i in n.rng.permutation(len(parts))]
    n.op("Concat", parts, axis=axis if n.chance(0.7) else axis - rank)


@piece(3)
def joined_across(n):
    """Concatenations of concatenations, along one axis or along two."""
    x = n.float_value(2, 3, 4)
    rank = n.values[x].ndim
    inner, outer = n.below(rank), n.below(rank)
    if n.chance(0.6):
        inner, outer = (int(i) for i in n.rng.choice(rank, 2, replace=False))
    others = [m for m in n.made if n.is_float(m) and n.values[m].ndim == rank]
    rows = []
    for _ in range(2):
        parts = [resized(n, n.choice(others[-6:]), n.shape(x)) for _ in range(n.choice([1, 2, 2]))] + [x]
        if n.chance(0.5):
            parts.reverse()
        rows.append(n.op("Concat", parts, axis=inner, keep=False))
    fits = [i for i in range(rank) if i != outer and n.shape(rows[0])[i] != n.shape(rows[1])[i]]
    if fits:
        rows[1] = resized(n, rows[1], [d if i != outer else n.shape(rows[1])[i] for i, d in enumerate(n.shape(rows[0]))])
    n.op("Concat", rows, axis=outer)


def pad(n, x, keep=True):
    """x with more or less at the ends of its dims: of a number, or what its edges say."""
    rank = n.values[x].ndim
    mode = n.choice(["constant", "constant", "reflect", "edge"] + (["wrap"] if n.opset >= 19 else []))
    pads = [0] * (2 * rank)
    for axis in range(rank):
        for side in (axis, axis + rank):
            if n.chance(0.3):
                pads[side] = n.choice([1, 1, 2, 3]) if mode != "reflect" else min(n.choice([1, 2]), n.shape(x)[axis] - 1)
                if mode == "constant" and n.chance(0.15) and n.shape(x)[axis] > 2:
                    pads[side] = -1
    inputs = [x, n.ints(pads)]
    if mode == "constant" and n.chance(0.5):
        inputs.append(n.const(np.float32(n.rng.standard_normal())))
    return n.op("Pad", inputs, mode=mode, keep=keep)


@piece(3)
def padded(n):
    pad(n, n.float_value(1, 2, 3, 4, 5))


@piece(2)
def shifted(n):
    """As many more at one end as less at the other: torch's F.pad(x, (1, -1))."""
    x = n.pick(lambda a: a.dtype == np.float32 and a.ndim and max(a.shape) > 1)
    rank = n.values[x].ndim
    pads = [0] * (2 * rank)
    for axis in range(rank):
        if n.shape(x)[axis] > 1 and n.chance(0.5):
            by = n.between(1, min(3, n.shape(x)[axis] - 1)) * n.choice([1, -1])
            pads[axis], pads[axis + rank] = by, -by
    n.op("Pad", [x, n.ints(pads)], mode="constant")


@piece(2)
def repeated(n):
    x = n.pick(lambda a: 1 <= a.ndim <= 5)
    s = n.shape(x)
    if n.chance(0.5):
        want = [n.choice([2, 3, 8]) if d == 1 and n.chance(0.6) else d for d in s]
        if len(want) < 5 and n.chance(0.3):
            want.insert(0, n.choice([2, 3]))
        n.op("Expand", [x, n.ints(want)])
    else:
        n.op("Tile", [x, n.ints([n.choice([1, 1, 2, 3]) for _ in s])])


@piece(3)
def gathered(n):
    x = n.pick(lambda a: a.ndim >= 1)
    axis = n.below(n.values[x].ndim)
    d = n.shape(x)[axis]
    shape = n.choice([[], [n.between(1, 5)], [d], [2, 3]])
    n.op("Gather", [x, n.const(n.rng.integers(-d if n.chance(0.3) else 0, d, shape).astype(np.int64))], axis=axis)


@piece(2)
def gathered_elements(n):
    x = n.pick(lambda a: a.ndim >= 1)
    s, axis = list(n.shape(x)), n.below(n.values[x].ndim)
    if n.chance(0.5):
        s[axis] = n.between(1, 6)
        index = n.rng.integers(0, n.shape(x)[axis], s)
        n.op("GatherElements", [x, n.const(index.astype(np.int64))], axis=axis)
    else:
        index = np.stack([n.rng.integers(0, d, 5) for d in s[:2]], -1)
        n.op("GatherND", [x, n.const(index.astype(np.int64))])


@piece(1)
def scattered(n):
    x = n.float_value()
    s = list(n.shape(x))
    if not s:
        raise Reject("rank")
    if n.chance(0.5):
        axis = n.below(len(s))
        count = n.between(1, s[axis])
        index = np.argsort(n.rng.random(s), axis=axis).take(range(count), axis=axis)
        part_shape = list(index.shape)
        n.op("ScatterElements", [x, n.const(index.astype(np.int64)), n.const(n.data(part_shape))], axis=axis,
             reduction=n.choice(["none", "add"]) if n.opset >= 16 else "none")
    else:
        rows = n.rng.permutation(s[0])[: n.between(1, s[0])].reshape(-1, 1)
        n.op("ScatterND", [x, n.const(rows.astype(np.int64)), n.const(n.data([len(rows)] + s[1:]))])


@piece(1)
def odd_moves(n):
    x = n.float_value()
    s = n.shape(x)
    kind = n.below(6)
    if kind == 0 and len(s) >= 2 and n.opset >= 14:
        n.op("Trilu", [x, n.const(np.int64(n.between(-1, 1)))], upper=n.below(2))
    elif kind == 1 and len(s) >= 2:
        batch, time = (0, 1) if n.chance(0.5) else (1, 0)
        lengths = n.rng.integers(1, s[time] + 1, s[batch])
        n.op("ReverseSequence", [x, n.const(lengths.astype(np.int64))], batch_axis=batch, time_axis=time)
    elif kind == 2 and n.opset >= 18 and len(s) >= 2:
        axes = [len(s) - 1, 0] if n.chance(0.5) else [1]
        n.op("CenterCropPad", [x, n.ints([n.between(1, 9) for _ in axes])], axes=axes)
    elif kind == 3:
        n.op("Identity", [x])
    elif kind == 4:
        n.op("Dropout", [x])
    elif len(s) >= 1:
        values = n.between(1, s[-1])
        best, _ = n.op("TopK", [x, n.ints([values])], outputs=2, axis=-1, largest=n.below(2))
        n.op("Neg", [best])


@piece(2)
def depth_and_space(n):
    x = n.float_value(4)
    _, c, h, w = n.shape(x)
    b = n.choice([2, 3])
    if c % (b * b) == 0 and n.chance(0.6):
        n.op("DepthToSpace", [x], blocksize=b, mode=n.choice(["DCR", "CRD"]))
    elif h % b == 0 and w % b == 0:
        n.op("SpaceToDepth", [x], blocksize=b)
    else:
        raise Reject("does not divide")
