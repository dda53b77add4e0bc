"""Is what generated C gave what it should be? Each function returns None, or what is wrong; NOT_JUDGED where
nobody can say."""
import numpy as np

from oracle import infinite_alike, wide

NOT_JUDGED = "not judged"
LEAST_SPREAD = 1e-30
LEAST_SUM = 1e-6  # of numbers that cancel out, where another order gives 0


def rms(x):
    return float(np.sqrt(np.mean(np.square(x)))) if x.size else 0.0


def floats(oracle, found, winograd=False, draws=3):
    """f32: against ONNX Runtime, each number."""
    base, factor = (1e-3, 300) if winograd else (3e-5, 12)
    judged = False
    deviations = oracle.deviations("f32", draws)
    for k, (outputs, wanted) in enumerate(zip(found, oracle.wanted)):
        for i, (y, w) in enumerate(zip(outputs, wanted)):
            y, w = wide(y), wide(w)
            if y.shape != w.shape:
                return f"output {oracle.names[i]}: shape {y.shape}, not {w.shape}"
            if not np.all(np.isfinite(w)):
                if not infinite_alike(y, w):
                    return f"output {oracle.names[i]}: other numbers are infinite or NaN"
                y, w = np.where(np.isfinite(w), y, 0), np.where(np.isfinite(w), w, 0)
            scale = float(np.max(np.abs(w), initial=0))
            spread = np.nan_to_num(np.max(deviations[k][i], axis=0), nan=np.inf)
            steady = spread <= 0.02 * scale if not oracle.stepped else np.ones(w.shape, bool)
            if np.mean(steady) < 0.7 or scale == 0 and not np.any(np.abs(y) > LEAST_SUM):
                continue
            if oracle.stepped:
                codes = wanted[i].dtype in (np.int8, np.uint8)
                limit = (0.02 if oracle.stepped_inside else 3e-5) * scale + 4 * np.max(spread, initial=0) + 2 * codes
                if limit > 0.5 * scale:
                    continue
            else:
                limit = base * scale + factor * np.max(spread, where=steady, initial=0)
                if limit > 0.1 * scale:
                    continue
            judged = True
            error = np.where(steady, np.abs(y - w), 0)
            if not np.all(error <= limit):
                at = np.unravel_index(int(np.argmax(np.nan_to_num(error, nan=np.inf))), error.shape)
                return (f"output {oracle.names[i]}, set {k}: {np.mean(error > limit):.0%} wrong, most at "
                        f"{[int(a) for a in at]}: {y[at]:.6g}, not {w[at]:.6g}; {np.max(error) / scale:.3g} of the greatest, "
                        f"{limit / scale:.2g} allowed")
    return None if judged else NOT_JUDGED


def share_off(oracle, found):
    """The largest share of an output's numbers that are 2 % of the largest off."""
    shares = [np.mean(~(np.abs(wide(y) - wide(w)) <= 0.02 * np.max(np.abs(wide(w)), initial=0)))
              for outputs, wanted in zip(found, oracle.wanted) for y, w in zip(outputs, wanted)
              if y.shape == w.shape and y.size]
    return max(shares, default=1.0)


def bits(oracle, found, simulated):
    """The simulation's bits; a NaN is a NaN."""
    for k, (outputs, wanted) in enumerate(zip(found, simulated)):
        for i, (y, w) in enumerate(zip(outputs, wanted)):
            codes = [np.atleast_1d(a).view(np.uint8) for a in (y, w)]
            same = codes[0] == codes[1] if y.shape == w.shape else np.zeros(1, bool)
            if np.all(same):
                continue
            if y.shape == w.shape and np.array_equal(y, w, equal_nan=y.dtype.kind == "f") and \
                    np.array_equal(np.signbit(y[y == 0]), np.signbit(w[w == 0])):
                continue
            wrong = np.mean(y != w) if y.shape == w.shape else 1
            most = float(np.nanmax(np.abs(wide(y) - wide(w)))) if y.shape == w.shape else np.nan
            return (f"output {oracle.names[i]}, set {k}: not the simulation's bits, {wrong:.1%} of the numbers, by {most:.3g} "
                    f"of {np.max(np.abs(wide(w)), initial=0):.3g} at most")
    return None


def noise_of(draws):
    """The greatest of the draws in which noise makes no NaN (a root of less than 0); infinite where it always does."""
    return max((rms(d) for d in draws if np.all(np.isfinite(d))), default=np.inf)


def steps(oracle, found, simulated, precision):
    """Near the simulation: what one step of the format, here and there, can do."""
    deviations = oracle.deviations(precision, 3)
    judged = False
    for k, (outputs, wanted) in enumerate(zip(found, simulated)):
        for i, (y, w) in enumerate(zip(outputs, wanted)):
            y, w = wide(y), wide(w)
            if outputs[i].dtype.kind != "f":
                continue
            if not np.all(np.isfinite(w)):
                if not infinite_alike(y, w):
                    return f"output {oracle.names[i]}: other numbers than the simulation's are infinite or NaN"
                continue
            scale = rms(w)
            noise = noise_of(deviations[k][i])
            if scale < LEAST_SPREAD or noise > 0.5 * scale:
                continue
            judged = True
            error = rms(y - w)
            if not error <= 0.5 * noise + 1e-4 * scale:
                return (f"output {oracle.names[i]}, set {k}: {error / scale:.3g} off the simulation, where noise of its steps "
                        f"makes {noise / scale:.2g}")
    return None if judged else NOT_JUDGED


def loosely(oracle, found, precision, draws=3):
    """Near ONNX Runtime's f32, where the network bears the precision at all."""
    deviations = oracle.deviations(precision, draws)
    judged = False
    for k, (outputs, wanted) in enumerate(zip(found, oracle.wanted)):
        for i, (y, w) in enumerate(zip(outputs, wanted)):
            if w.dtype.kind != "f" or not np.all(np.isfinite(w)) or y.shape != w.shape:
                continue
            if not np.all(np.isfinite(y)):  # 0 / 0 of what the format made 0: the simulation says the same
                continue
            y, w = wide(y), wide(w)
            scale = rms(w - np.mean(w)) if w.size > 1 else rms(w)
            noise = noise_of(deviations[k][i])
            limit = (15 if oracle.has_inside else 5) * noise + 0.01 * rms(w)  # no noise reaches the inside of a branch
            if scale < LEAST_SPREAD or limit > 0.8 * scale:
                continue
            judged = True
            error = rms(y - w)
            if not error <= limit:
                cosine = float(np.sum(y * w) / max(np.sqrt(np.sum(y * y) * np.sum(w * w)), 1e-30))
                return (f"output {oracle.names[i]}, set {k}: {error / rms(w):.3g} off ONNX Runtime's f32 (cosine {cosine:.3f}), "
                        f"where noise of the precision's steps makes {noise / rms(w):.2g}")
    return None if judged else NOT_JUDGED
