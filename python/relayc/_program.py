"""The program relayc, packed in the wheel, for what the library has no function."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn, Optional, Sequence

from ._compiled import Compiled, compile
from ._errors import Diagnostic, RelaycError, error_of_status
from ._library import HERE, option_texts
from ._models import Data, Folder, Model, calibration_options, data_file, model_file


#: Options of the model and its data, which all commands take.
_READING = ("shape", "freeze", "external_data_dir", "limit", "preprocess", "threads")


def program() -> str:
    """Path of the program: that of the wheel, or $RELAYC_PROGRAM."""
    return os.environ.get("RELAYC_PROGRAM") or str(HERE / "bin" / "relayc")


def main() -> NoReturn:
    """The console script `relayc`."""
    os.execv(program(), ["relayc", *sys.argv[1:]])


def _words(options: dict[str, Any]) -> list[str]:
    words: list[str] = []
    for name, value in options.items():
        for text in option_texts(value):
            words.append("--" + name.replace("_", "-"))
            words += [] if text is None else [text]
    return words


def _of_json(row: dict[str, Any]) -> Diagnostic:
    return Diagnostic(
        row["code"], row["severity"], row["message"], row.get("note"), row.get("help"),
        node=row.get("name"), op_type=row.get("op_type"), node_index=row.get("node"),
    )


def _of_text(text: str) -> list[Diagnostic]:
    """What is said before there is an object to say it in: a wrong command line."""
    return [Diagnostic(code, severity, message) for severity, code, message in
            re.findall(r"^(error|warning)\[(R\d+)\]: (.*)$", text, re.MULTILINE)]


def run_program(command: str, operands: Sequence[str], options: dict[str, Any]) -> dict[str, Any]:
    """The object that `relayc COMMAND --json` prints."""
    words = [program(), command, *operands, "--json", *_words(options)]
    try:
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    except OSError as problem:
        raise RelaycError(f"cannot run {words[0]}: {problem}") from None
    said = done.stderr.decode("utf-8", "replace").strip()
    try:
        report: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        report = {}
    diagnostics = [_of_json(row) for row in report.get("diagnostics", [])] or _of_text(said)
    if done.returncode or not report:
        error = error_of_status(done.returncode, f"relayc {command}: {said or 'it printed no JSON'}", diagnostics)
        error.report = report  # type: ignore[attr-defined]
        raise error
    return report


def _on_model(command: str, model: Model, example: Any, data: Optional[Data], options: dict[str, Any],
              work: Path) -> dict[str, Any]:
    path = model_file(model, work, example)
    if data is not None:
        options = {"data": str(data_file(data, work, "data"))} | options
    return run_program(command, [str(path)], options)


def verify(model: Model, *, example: Any = None, data: Optional[Data] = None, **options: Any) -> dict[str, Any]:
    """`relayc verify`: the file's graph, the passes, oneDNN and the C, layer by layer. Raises where they differ."""
    with tempfile.TemporaryDirectory(prefix="relayc-") as work:
        return _on_model("verify", model, example, data, options, Path(work))


def labels_file(labels: Any, work: Path) -> Path:
    """Labels as a file that --labels takes."""
    if isinstance(labels, (str, os.PathLike)):
        return Path(labels)
    path = work / "labels.txt"
    path.write_text("".join(f"{int(label)}\n" for label in labels), encoding="utf-8")
    return path


def evaluate(model: Model, data: Data, labels: Any, metric: str, *, example: Any = None,
             calibration: Optional[Data] = None, **options: Any) -> dict[str, Any]:
    """`relayc eval`: what a model is worth on labelled data, in f32 or any precision.

    labels       a file as --labels takes it, or a sequence of class numbers
    calibration  as of compile(), for a precision other than f32"""
    with tempfile.TemporaryDirectory(prefix="relayc-") as work:
        labels = labels_file(labels, Path(work))
        if calibration is not None:
            found = calibration_options(calibration, Path(work))
            options |= {"calib_data" if name == "data" else name: value for name, value in found.items()}
        return _on_model("eval", model, example, data, {"labels": labels, "metric": metric} | options, Path(work))


@dataclass(frozen=True)
class Quantized:
    """A calibrated model: what its precision costs, and what compile() needs."""

    model: Path
    precision: str
    table: Path  # of `relayc calibrate`
    comparison: dict[str, Any]  # of `relayc compare`: the loss of each layer
    options: dict[str, Any]
    _keep: Folder = field(repr=False)

    def compile(self, **options: Any) -> Compiled:
        return compile(self.model, precision=self.precision, calib=str(self.table), **(self.options | options))


def quantize(model: Model, calibration: Data, precision: str = "int8", *, example: Any = None,
             **options: Any) -> Quantized:
    """Calibrates the model, and says layer by layer what the precision costs (`relayc calibrate`, `compare`).

    options: those of `relayc compare`, such as keep_last=True or scale="mse"."""
    keep = Folder()
    work = keep.path
    path = model_file(model, work, example)
    found = calibration_options(calibration, work)
    shared = {name: options[name] for name in _READING if name in options}
    table = Path(found["calib"]) if "calib" in found else work / "calibration.json"
    if "data" in found:
        run_program("calibrate", [str(path)], {"data": found["data"], "output": table} | shared)
    comparison = run_program("compare", [str(path)], {"precision": precision, "calib": table,
                                                      "output": work / "compare.log"} | found | options)
    mine = {name: value for name, value in options.items() if name not in ("limit", "preprocess", "threads")}
    return Quantized(path, precision, table, comparison, mine, keep)


@dataclass(frozen=True)
class Choice:
    """What `relayc quantize` recommends, and what it found on the way."""

    model: Path
    recommended: str  # "int8 --round gptq"
    report: dict[str, Any]  # recipes, and the metrics on samples that nothing was chosen by
    options: dict[str, Any]  # of compile()
    _keep: Folder = field(repr=False)

    def compile(self, **options: Any) -> Compiled:
        return compile(self.model, **(self.options | options))


def choose(model: Model, data: Data, labels: Any = None, *, example: Any = None, **options: Any) -> Choice:
    """`relayc quantize`: the precision that fits, tried on a part of the data and reported on another.

    labels   as of evaluate(); without them the float model's answers are the right ones
    options  those of the command, such as max_loss=0.5, choices="int8+fp8=auto" or flash=65536"""
    keep = Folder()
    work = keep.path
    path, samples = model_file(model, work, example), data_file(data, work, "data")
    if labels is not None:
        options["labels"] = labels_file(labels, work)
    report = run_program("quantize", [str(path)], {"data": samples} | options)
    mine = {name.replace("-", "_"): value for name, value in report["options"].items()}
    shared = {name: options[name] for name in ("shape", "freeze", "external_data_dir", "preprocess", "target", "ram",
                                               "winograd", "deterministic", "split") if name in options}
    part = {"data": options["calib_data"]} if "calib_data" in options else {"data": samples, "samples": "calibration"}
    limit = {"limit": options.get("calib_limit", 128)}
    return Choice(path, report["recommended"], report, shared | part | limit | mine, keep)


@dataclass(frozen=True)
class Found:
    """What a search found."""

    report: dict[str, Any]
    qtable: Optional[Path]
    files: tuple[Path, ...]
    _keep: Folder = field(repr=False)


def search(model: Model, data: Data, *, example: Any = None, **options: Any) -> Found:
    """`relayc search`: the precision that each layer needs; options are those of the command.

    Without calib (a table of `relayc calibrate`) the data calibrate, too. The qtable goes to compile(..., qtable=found.qtable)."""
    keep = Folder()
    work = keep.path
    results = work / "found"
    results.mkdir()
    path, samples = model_file(model, work, example), data_file(data, work, "data")
    if options.get("calib") is None:
        options["calib"] = work / "calibration.json"
        shared = {name: options[name] for name in _READING if name in options}
        run_program("calibrate", [str(path)], {"data": samples, "output": options["calib"]} | shared)
    report = run_program("search", [str(path)], {"data": samples, "output": results / "search"} | options)
    files = tuple(sorted(results.iterdir()))
    qtables = [path for path in files if "qtable" in path.name]
    return Found(report, qtables[0] if qtables else None, files, keep)
