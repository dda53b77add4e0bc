"""Diagnostics of the compiler, and the exceptions that carry them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Sequence

#: Codes that say "not supported", as opposed to "wrong" (`relayc explain R0201`).
UNSUPPORTED = frozenset({"R0201", "R0202", "R0203", "R0204", "R0401"})


@dataclass(frozen=True)
class Diagnostic:
    """One error or warning, with the node of the model that it is about."""

    code: str  # "R0301"
    severity: str  # "error" or "warning"
    message: str
    note: Optional[str] = None
    help: Optional[str] = None
    file: Optional[str] = None
    node: Optional[str] = None  # its name in the model
    op_type: Optional[str] = None
    node_index: Optional[int] = None

    def __str__(self) -> str:
        text = f"{self.severity}[{self.code}]: {self.message}"
        place = self.file or ""
        if self.node_index is not None:
            place += f"{': ' if place else ''}node #{self.node_index} \"{self.node or ''}\" ({self.op_type or '?'})"
        if place:
            text += f"\n  --> {place}"
        if self.note:
            text += f"\nnote: {self.note}"
        if self.help:
            text += f"\nhelp: {self.help}"
        return text


class RelaycError(Exception):
    """A call failed; `diagnostics` has all that the compiler said, warnings included."""

    def __init__(self, message: str, diagnostics: Sequence[Diagnostic] = ()) -> None:
        self.diagnostics = tuple(diagnostics)
        errors = [str(d) for d in self.diagnostics if d.severity == "error"]
        super().__init__("\n".join(errors) if errors else message)

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        return tuple(d for d in self.diagnostics if d.severity == "error")

    @property
    def is_unsupported(self) -> bool:
        """Every error says that the model uses what relayc does not support."""
        return bool(self.errors) and all(d.code in UNSUPPORTED for d in self.errors)


class CompileError(RelaycError):
    """The model cannot be compiled, or exceeds a budget (exit code 1)."""


class UsageError(RelaycError, ValueError):
    """An option or its value is wrong (exit code 2)."""


class FileError(RelaycError, OSError):
    """A file cannot be read or written (exit code 3)."""


class BuildError(RelaycError):
    """The host's C compiler refused the generated C, or there is none."""


class RunError(RelaycError):
    """The generated C returned a code other than 0."""


_BY_STATUS = {1: CompileError, 2: UsageError, 3: FileError}


def error_of_status(status: int, what: str, diagnostics: Sequence[Diagnostic]) -> Exception:
    """The exception for a status of the library, or an exit code of the program."""
    if status == 4:
        return MemoryError(f"{what}: out of memory")
    kind = _BY_STATUS.get(status, RelaycError)
    return kind(f"{what} failed with code {status}", diagnostics)
