"""librelayc.so.0 by ctypes: contexts, options, diagnostics (include/relayc/relayc.h)."""

from __future__ import annotations

import ctypes
import difflib
import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Iterator, Optional

from ._errors import Diagnostic, RelaycError, UsageError, error_of_status

HERE = Path(__file__).resolve().parent


class _OptionRow(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("name", ctypes.c_char_p),
        ("argument", ctypes.c_char_p),
        ("help", ctypes.c_char_p),
    ]


@dataclass(frozen=True)
class Option:
    """An option of `relayc compile`, as the library lists it."""

    name: str
    argument: Optional[str]  # "TYPE"; None: takes no value
    help: str

    @property
    def keyword(self) -> str:
        """Its name as a keyword argument: dashes are underscores."""
        return self.name.replace("-", "_")


def _text(value: Optional[bytes]) -> Optional[str]:
    return None if value is None else value.decode("utf-8", "replace")


@lru_cache(maxsize=None)
def library() -> ctypes.CDLL:
    """The library of the wheel, or that of $RELAYC_LIBRARY."""
    path = os.environ.get("RELAYC_LIBRARY") or str(HERE / "lib" / "librelayc.so.0")
    try:
        lib = ctypes.CDLL(path)
    except OSError as problem:
        raise RelaycError(f"cannot load the relayc library: {problem}; is the wheel one for this machine?") from None
    text, context = ctypes.c_char_p, ctypes.c_void_p
    for name, result, arguments in (
        ("relayc_version", text, []),
        ("relayc_new", context, []),
        ("relayc_free", None, [context]),
        ("relayc_set", ctypes.c_int, [context, text, text]),
        ("relayc_option_at", ctypes.c_int, [ctypes.c_size_t, ctypes.POINTER(_OptionRow)]),
        ("relayc_compile", ctypes.c_int, [context, text]),
        ("relayc_file", text, [context, ctypes.c_size_t]),
        ("relayc_next_diagnostic", ctypes.c_void_p, [context, ctypes.c_void_p]),
        ("relayc_diagnostic_code", ctypes.c_int, [ctypes.c_void_p]),
        ("relayc_diagnostic_severity", ctypes.c_int, [ctypes.c_void_p]),
        ("relayc_diagnostic_message", text, [ctypes.c_void_p]),
        ("relayc_diagnostic_note", text, [ctypes.c_void_p]),
        ("relayc_diagnostic_help", text, [ctypes.c_void_p]),
        ("relayc_diagnostic_file", text, [ctypes.c_void_p]),
        ("relayc_diagnostic_node", text, [ctypes.c_void_p]),
        ("relayc_diagnostic_operator", text, [ctypes.c_void_p]),
        ("relayc_diagnostic_node_index", ctypes.c_long, [ctypes.c_void_p]),
        ("relayc_explain", text, [ctypes.c_int]),
    ):
        function = getattr(lib, name)
        function.restype, function.argtypes = result, arguments
    return lib


def version() -> str:
    """Version of the library in use."""
    return _text(library().relayc_version()) or ""


@lru_cache(maxsize=None)
def options() -> tuple[Option, ...]:
    """All options that compile() takes, in the order of `relayc compile --help`."""
    rows: list[Option] = []
    row = _OptionRow(size=ctypes.sizeof(_OptionRow))
    while library().relayc_option_at(len(rows), ctypes.byref(row)):
        rows.append(Option(_text(row.name) or "", _text(row.argument), _text(row.help) or ""))
    return tuple(rows)


def explain(code: str) -> str:
    """The long text of a diagnostic's code, "R0301"."""
    digits = code.lstrip("Rr")
    text = _text(library().relayc_explain(int(digits))) if digits.isdigit() else None
    if text is None:
        raise UsageError(f"unknown diagnostic '{code}': a code such as R0301 precedes each message")
    return text


def _value(value: Any) -> str:
    """A value as text: dicts are NAME=VALUE, numbers of a tuple stand between commas."""
    if isinstance(value, (tuple, list)):
        return ",".join(_value(v) for v in value)
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def option_texts(value: Any) -> list[Optional[str]]:
    """The texts of an option's values. True: a flag; False and None: not given; a list or a dict: several times."""
    if value is None or value is False:
        return []
    if value is True:
        return [None]
    if isinstance(value, dict):
        return [f"{name}={_value(one)}" for name, one in value.items()]
    if isinstance(value, list):
        return [_value(one) for one in value]
    return [_value(value)]


def _known(name: str, known: dict[str, Option]) -> Option:
    if name in known:
        return known[name]
    close = difflib.get_close_matches(name, known, 3)
    hint = f"; did you mean {', '.join(close)}?" if close else "; relayc.options() lists them"
    raise UsageError(f"compile() has no option '{name}'{hint}")


class Context:
    """A relayc_context: options, one compilation, its files and diagnostics."""

    def __init__(self) -> None:
        self._library = library()
        self._handle = self._library.relayc_new()
        if not self._handle:
            raise MemoryError("relayc_new")

    def __enter__(self) -> Context:
        return self

    def __exit__(self, *_: object) -> None:
        self._library.relayc_free(self._handle)
        self._handle = None

    def set(self, given: dict[str, Any]) -> None:
        known = {option.keyword: option for option in options()}
        for name, value in given.items():
            option = _known(name, known)
            for text in option_texts(value):
                if (text is None) != (option.argument is None):
                    wanted = f"a value ({option.argument})" if option.argument else "True or False"
                    raise UsageError(f"option {name}: found {value!r}, expected {wanted}: {option.help}")
                status = self._library.relayc_set(
                    self._handle, option.name.encode(), None if text is None else os.fsencode(text)
                )
                self._check(status, f"option {name}")

    def compile(self, model: Path) -> list[Path]:
        """The files written. Raises an error that has all diagnostics."""
        self._check(self._library.relayc_compile(self._handle, os.fsencode(model)), "compile")
        files: list[Path] = []
        while path := self._library.relayc_file(self._handle, len(files)):
            files.append(Path(os.fsdecode(path)))
        return files

    def diagnostics(self) -> list[Diagnostic]:
        return list(self._diagnostics())

    def _diagnostics(self) -> Iterator[Diagnostic]:
        lib = self._library
        at = lib.relayc_next_diagnostic(self._handle, None)
        while at:
            index = lib.relayc_diagnostic_node_index(at)
            yield Diagnostic(
                code=f"R{lib.relayc_diagnostic_code(at):04d}",
                severity="warning" if lib.relayc_diagnostic_severity(at) else "error",
                message=_text(lib.relayc_diagnostic_message(at)) or "",
                note=_text(lib.relayc_diagnostic_note(at)),
                help=_text(lib.relayc_diagnostic_help(at)),
                file=_text(lib.relayc_diagnostic_file(at)),
                node=_text(lib.relayc_diagnostic_node(at)),
                op_type=_text(lib.relayc_diagnostic_operator(at)),
                node_index=index if index >= 0 else None,
            )
            at = lib.relayc_next_diagnostic(self._handle, at)

    def _check(self, status: int, what: str) -> None:
        if status:
            raise error_of_status(status, what, self.diagnostics())
