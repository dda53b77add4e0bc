"""One network in one configuration: right, wrong, refused, or not judged."""
import os
import shutil
import tempfile

import build
import compare
from compare import NOT_JUDGED
from oracle import Oracle

RIGHT, REFUSED, UNJUDGED, SKIPPED = "right", "refused", "not judged", "skipped"
BAD = ("wrong", "crash", "warning", "run", "hang")


class Verdict:
    def __init__(self, kind, text=""):
        self.kind, self.text = kind, text

    @property
    def bad(self):
        return self.kind in BAD

    def __repr__(self):
        return f"{self.kind}: {self.text}"


def uses_winograd(config):
    return config["options"].find("--winograd off") < 0 and \
        (config["target"] != "generic" or "--winograd" in config["options"])


def witness(oracle, verdict, config, found):
    """Where f32 seems wrong: more noise, and onnx's own evaluator, must say so as well."""
    again = compare.floats(oracle, found, uses_winograd(config), 10)
    if again is None or again == NOT_JUDGED:
        return Verdict(UNJUDGED, "unsteady")
    other = oracle.reference()
    if other is not None and compare.floats(oracle, other, True, 24) not in (None, NOT_JUDGED):
        return Verdict(UNJUDGED, "ONNX Runtime and onnx's evaluator differ")
    return verdict


def only_rounding(oracle, config, path, found):
    """Where f32 of a quantised network seems wrong: with --rounding onnx it is right, and few numbers are elsewhere. That
    is a step of fixed-point rounding (docs/guide/qdq.md), which a loop can carry on."""
    if not oracle.stepped or "--rounding" in config["options"] or compare.share_off(oracle, found) > 0.1:
        return False
    config = dict(config, options=config["options"] + " --rounding onnx")
    folder = tempfile.mkdtemp(prefix="random")
    try:
        build.generate_c(path, config, folder, oracle.inputs)
        shapes = [(y.shape, y.dtype) for y in oracle.wanted[0]]
        exact, _ = build.execute(folder, config, oracle.inputs, shapes)
        return compare.floats(oracle, exact, uses_winograd(config), 10) is None
    except build.Failure:
        return False
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def judge_engine(oracle, config, folder, path):
    """What `relayc run` computes by itself, which calibrates and searches as well: the engine, on oneDNN."""
    found = build.run(path, [], folder, oracle.inputs, oracle.names)
    problem = compare.floats(oracle, found)
    if problem in (None, NOT_JUDGED):
        return Verdict(RIGHT)
    return witness(oracle, Verdict("wrong", f"the engine: {problem}"), config, found)


def judge_quantised(oracle, config, folder, path, words, found):
    precision = config["precision"].split()[0]
    if config.get("table"):  # the coarser of both, for each number and for the greatest
        precision = "mixed" if precision not in ("mxfp6", "mxfp4") else precision
    offloaded = "--offload" in config["options"]
    exact = "--deterministic" in config["options"] and config["target"] == "generic" and not uses_winograd(config)
    if not offloaded:
        simulated = build.simulate(path, words, folder, oracle.inputs, oracle.names)
        problem = compare.bits(oracle, found, simulated) if exact else compare.steps(oracle, found, simulated, precision)
        if problem not in (None, NOT_JUDGED):
            return Verdict("wrong", problem)
    else:
        problem = NOT_JUDGED
    if not oracle.stepped:
        loose = compare.loosely(oracle, found, precision)
        if loose not in (None, NOT_JUDGED):  # more noise: where one number decides, three draws may all be small
            loose = compare.loosely(oracle, found, precision, 16)
        if loose not in (None, NOT_JUDGED):
            other = oracle.reference()
            if other is not None and compare.floats(oracle, other, True, 10) not in (None, NOT_JUDGED):
                return Verdict(UNJUDGED, "ONNX Runtime and onnx's evaluator differ")
            return Verdict("wrong", loose)
    else:
        loose = NOT_JUDGED
    return Verdict(UNJUDGED, "the precision is too coarse") if problem == loose == NOT_JUDGED else Verdict(RIGHT)


def judge_numbers(oracle, config, folder, path, words, found, quick):
    if config["precision"] != "f32":
        return judge_quantised(oracle, config, folder, path, words, found)
    problem = compare.floats(oracle, found, uses_winograd(config))
    if problem == NOT_JUDGED:
        return Verdict(UNJUDGED, "unsteady")
    if problem and quick:
        return Verdict("wrong", problem)
    if problem and only_rounding(oracle, config, path, found):
        return Verdict(UNJUDGED, "a step of fixed-point rounding")
    if problem:
        return witness(oracle, Verdict("wrong", problem), config, found)
    return Verdict(RIGHT) if config["options"] else judge_engine(oracle, config, folder, path)


def judge(model, config, oracle=None, keep=None, quick=False):
    """quick: without a second witness where f32 seems wrong."""
    folder = tempfile.mkdtemp(prefix="random")
    try:
        path = os.path.join(folder, "model.onnx")
        with open(path, "wb") as file:
            file.write(model.SerializeToString())
        try:
            oracle = oracle or Oracle(model)
        except Exception as problem:  # pylint: disable=broad-except
            return Verdict(SKIPPED, f"ONNX Runtime: {str(problem)[:200]}")
        shapes = [(y.shape, y.dtype) for y in oracle.wanted[0]]
        try:
            words = build.generate_c(path, config, folder, oracle.inputs)
            found, warning = build.execute(folder, config, oracle.inputs, shapes)
            verdict = judge_numbers(oracle, config, folder, path, words, found, quick)
        except build.Failure as failure:
            return Verdict(failure.kind, failure.text)
        return Verdict("warning", warning) if warning and not verdict.bad else verdict
    finally:
        if keep:
            shutil.copytree(folder, keep, dirs_exist_ok=True)
        shutil.rmtree(folder, ignore_errors=True)
