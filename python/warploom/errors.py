"""What is refused and what is found, as exceptions with the fields of the diagnostics.

A *refusal* says that an input cannot be compiled, scheduled or run; a *finding* says that a kernel ran and did
something wrong: a race, a deadlock, an access out of bounds. Codes and rules are those of `docs/rules`
(`warploom rule R01`).
"""

from __future__ import annotations

import json
import linecache
from dataclasses import dataclass, field
from typing import Any, Iterable, Mapping, Sequence


@dataclass(frozen=True)
class Diagnostic:
    """One reason why something was refused, or one remark."""

    code: str
    message: str
    severity: str = "error"
    file: str = ""
    line: int | None = None
    """From 1, in `file`."""
    column: int | None = None
    """From 1, in characters."""
    rule: str | None = None
    notes: tuple[tuple[str, str], ...] = ()
    """Label and text, in order."""
    source: str | None = None
    """Where that comes from in the user's own file, `kernel.py:12:4`, where it is known."""

    @property
    def remedy(self) -> str | None:
        """What to do instead, where that is known."""
        return next((text for label, text in self.notes if label == "instead"), None)

    @classmethod
    def read(cls, fields: Mapping[str, Any], file: str = "") -> Diagnostic:
        """From the JSON of the library."""
        notes = [(note["label"], note["text"]) for note in fields.get("notes") or ()]
        if fields.get("remedy"):
            notes.append(("instead", fields["remedy"]))
        return cls(
            code=fields["code"], message=fields["message"], severity=fields.get("severity") or "error",
            file=file or fields.get("file") or "", line=fields.get("line") or None, column=fields.get("column"),
            rule=fields.get("rule"), notes=tuple(notes), source=fields.get("source"))

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part)
        lines = [f"{self.severity}[{self.code}]: {self.message}"]
        lines += [f"  --> {place}"] if place else []
        lines += [f"  from: {self.source}"] if self.source else []
        lines += [f"  {label}: {text}" if label else f"  {text}" for label, text in self.notes]
        lines += [f"  rule: {self.rule} (warploom rule {self.rule})"] if self.rule else []
        return "\n".join(lines)


class WarploomError(Exception):
    """Whatever Warploom refuses or finds. Its fields are those of the first reason; all stand in `diagnostics`."""

    def __init__(self, diagnostics: Sequence[Diagnostic]):
        self.diagnostics = tuple(diagnostics) or (Diagnostic("internal", "refused without a reason"),)
        super().__init__("\n".join(str(d) for d in self.diagnostics))

    def __reduce__(self) -> Any:
        return type(self), (self.diagnostics,)

    @property
    def first(self) -> Diagnostic:
        """The first reason."""
        return self.diagnostics[0]

    @property
    def code(self) -> str:
        """Kind of the first reason: a word such as `parse`, or a code such as `R01`."""
        return self.first.code

    @property
    def message(self) -> str:
        """What is wrong, in one line."""
        return self.first.message

    @property
    def file(self) -> str:
        """The file of the place, or what stands for it."""
        return self.first.file

    @property
    def line(self) -> int | None:
        """Its line, from 1."""
        return self.first.line

    @property
    def column(self) -> int | None:
        """Its column, from 1."""
        return self.first.column

    @property
    def rule(self) -> str | None:
        """The rule that is broken."""
        return self.first.rule

    @property
    def notes(self) -> tuple[tuple[str, str], ...]:
        """Label and text of each note."""
        return self.first.notes

    @property
    def remedy(self) -> str | None:
        """What to do instead."""
        return self.first.remedy


class Refused(WarploomError):
    """An input that is not taken."""


class UsageError(Refused, ValueError):
    """An argument or option that makes no sense."""


class CompileError(Refused):
    """A kernel that Warploom does not compile."""


class PtxError(Refused):
    """P01: text that is not PTX."""


class UnsupportedError(Refused):
    """X01: PTX that the emulator does not run; it names the instruction."""


class LaunchError(Refused, ValueError):
    """L01: a launch that the chip refuses, or arguments that do not fit the kernel."""


@dataclass(frozen=True)
class Place:
    """One side of a finding."""

    actor: str
    """Who: `warp 3 lanes 0-31`, `tensor copy #2 of warp 0`."""
    opcode: str
    ptx_line: int
    """From 1."""
    visit: int
    """How often that warp had come there, from 1."""
    file: str = ""
    """The user's file, where the PTX says it."""
    line: int | None = None
    column: int | None = None
    text: str = ""
    """The line of the PTX."""

    @classmethod
    def read(cls, fields: Mapping[str, Any] | None, files: Mapping[str, str], rows: Sequence[str]) -> Place | None:
        """From the JSON of the emulator; `files` are paths by name, `rows` the lines of the PTX."""
        if fields is None:
            return None
        file, line, column = "", None, None
        if fields.get("source"):
            file, line_text, column_text = fields["source"].rsplit(":", 2)
            file, line, column = files.get(file, file), int(line_text), int(column_text)
        at = fields["line"]
        text = rows[at - 1].strip() if 0 < at <= len(rows) else ""
        return cls(fields["actor"], fields["opcode"], at, fields["visit"], file, line, column, text)

    def __str__(self) -> str:
        text = f"{self.text or self.opcode} by {self.actor}, line {self.ptx_line} of the PTX"
        if not self.file or not self.line:
            return text
        row = linecache.getline(self.file, self.line).strip()
        return f"{self.file}:{self.line}: {row}\n    {text}" if row else f"{self.file}:{self.line}\n    {text}"


@dataclass(frozen=True)
class Found:
    """Something wrong that a kernel did."""

    code: str
    message: str
    severity: str
    """`error` or `note`."""
    kernel: str
    cta: tuple[int, int, int]
    remedy: str
    first: Place | None = None
    """Where it was found."""
    second: Place | None = None
    """The other side: the earlier access of a race."""
    space: str | None = None
    """`shared`, `global` or `tmem`."""
    extent: tuple[int, int] | None = None
    """First byte and one past the last, in the buffer or in shared memory; columns of tensor memory."""
    buffer: str | None = None
    """Name of the buffer."""
    count: int = 1
    holds: str = ""
    """What the bytes held behind the access, in hexadecimal, in the order of memory."""
    registers: tuple[tuple[str, tuple[int | None, ...]], ...] = field(default=(), compare=False)
    """Registers of the instruction with the value in each lane, `None` where it was not concerned or never written."""
    policies: tuple[str, ...] = field(default=(), compare=False)
    """The interleavings in which it was found."""

    @classmethod
    def read(cls, fields: Mapping[str, Any], policy: str, files: Mapping[str, str], rows: Sequence[str]) -> Found:
        """From the JSON of the emulator."""
        extent = fields.get("extent") or {}
        return cls(
            code=fields["code"], message=fields["message"], severity=fields["severity"].lower(),
            kernel=fields["kernel"], cta=tuple(fields["cta"]), remedy=fields["remedy"],
            first=Place.read(fields.get("first"), files, rows), second=Place.read(fields.get("second"), files, rows),
            space=extent.get("space"), extent=(extent["start"], extent["end"]) if extent else None,
            buffer=extent.get("name"), count=fields["count"], holds=extent.get("holds", ""),
            registers=tuple((v["name"], tuple(v["lanes"])) for v in fields.get("registers", ())), policies=(policy,))

    @property
    def group(self) -> str:
        """What `fail_on` calls findings of this kind."""
        return _kind(self.code)[0]

    def same(self, other: Found) -> bool:
        """Whether another interleaving found the same."""
        lines = [tuple(p and p.ptx_line for p in (f.first, f.second)) for f in (self, other)]
        return self.code == other.code and lines[0] == lines[1]

    def diagnostic(self) -> Diagnostic:
        """As every error is told."""
        notes = [("in", f"{self.kernel}, CTA {self.cta}")]
        if self.extent:
            of = f" of {self.buffer}" if self.buffer else ""
            now = f", now {self.holds}" if self.holds else ""
            notes.append(("where", f"{self.space} memory{of}, {self.extent[0]} to {self.extent[1]}{now}"))
        notes += [(label, str(p)) for label, p in (("at", self.first), ("against", self.second)) if p]
        values = [f"{name} = {shown}" for name, lanes in self.registers if (shown := lanes_shown(lanes))]
        notes += [("with", "; ".join(values))] if values else []
        notes += [("found", f"{self.count} times")] if self.count > 1 else []
        notes += [("instead", self.remedy)] if self.remedy else []
        place = self.first if self.first and self.first.line else Place("", "", 0, 0)
        return Diagnostic(
            self.code, self.message, self.severity, place.file, place.line, place.column, self.code, tuple(notes))


def lanes_shown(lanes: Sequence[int | None]) -> str:
    """The values of a register over the lanes, in short: `7`, `0, 4 .. 124`, `3, 1, 4, 1 ..`; nothing where it has none."""
    known = [value for value in lanes if value is not None]
    steps = {b - a for a, b in zip(known, known[1:])}
    text = [str(value) if value < 1 << 20 else hex(value) for value in known]
    if len(known) < 2 or steps == {0}:
        return text[0] if text else ""
    if len(known) > 4 and len(steps) == 1:
        return f"{text[0]}, {text[1]} .. {text[-1]}"
    return ", ".join(text[:4]) + (" .." if len(text) > 4 else "")


class Finding(WarploomError):
    """A kernel ran and did something wrong; `found` is the first such thing, `all` are all of them."""

    def __init__(self, found: Sequence[Found], report: Any = None):
        self.all = tuple(found)
        self.report = report
        super().__init__([f.diagnostic() for f in found])

    def __reduce__(self) -> Any:
        return type(self), (self.all, self.report)

    @property
    def found(self) -> Found:
        """The first one."""
        return self.all[0]

    @property
    def lines(self) -> tuple[tuple[str, int] | None, tuple[str, int] | None]:
        """File and line of both sides in the user's source, where the PTX names them."""
        sides = [(p.file, p.line) if p and p.line else None for p in (self.found.first, self.found.second)]
        return sides[0], sides[1]


class RaceError(Finding):
    """R01 to R05: an access that is not ordered after another, or a missing proxy fence."""


class DeadlockError(Finding):
    """D01: nobody can go on."""


class BudgetError(Finding):
    """D02: no end within the steps that were granted."""


class DeviceAssertError(Finding):
    """D03: the kernel's own assertion failed."""


class OutOfBoundsError(Finding):
    """A01: an access outside every buffer."""


class AddressError(Finding):
    """A02, A03: a misaligned access, a wrong space, a CTA that has ended."""


class UninitialisedError(Finding):
    """U01 to U03: memory or registers were read that nobody wrote."""


class BarrierError(Finding):
    """M and B codes: an mbarrier or a named barrier that is used wrongly."""


class TensorCoreError(Finding):
    """W and T codes: wgmma, tcgen05 and tensor memory used wrongly."""


class ConvergenceError(Finding):
    """C codes: operations nobody waited for, divergence where a whole warp is needed, setmaxnreg."""


class InterleavingError(Finding):
    """The result depends on the interleaving, and nothing else was found."""


# First letter of a code, or the code: the word of `fail_on`, and the exception.
KINDS: dict[str, tuple[str, type[Finding]]] = {
    "R": ("race", RaceError), "U": ("uninitialised", UninitialisedError), "M": ("barrier", BarrierError),
    "B": ("barrier", BarrierError), "A": ("address", AddressError), "W": ("tensorcore", TensorCoreError),
    "T": ("tensorcore", TensorCoreError), "C": ("convergence", ConvergenceError),
}
SINGLE: dict[str, tuple[str, type[Finding]]] = {
    "D01": ("deadlock", DeadlockError), "D02": ("budget", BudgetError), "D03": ("assert", DeviceAssertError),
    "A01": ("bounds", OutOfBoundsError), "I01": ("differ", InterleavingError),
}
GROUPS = tuple(sorted({word for word, _ in (*KINDS.values(), *SINGLE.values())}))
# `differ` has to be asked for: sums by floating-point atomics may come out in any order.
ALL = frozenset(GROUPS) - {"differ"}


def _kind(code: str) -> tuple[str, type[Finding]]:
    return SINGLE.get(code) or KINDS.get(code[:1]) or KINDS["C"]


def finding(found: Sequence[Found], report: Any = None) -> Finding:
    """The exception of the first of these findings."""
    return _kind(found[0].code)[1](found, report)


def groups(fail_on: str | Iterable[str]) -> frozenset[str]:
    """The words of `fail_on`, of which `all` (all but `differ`) and `none` are two; others are refused."""
    words = fail_on.split(",") if isinstance(fail_on, str) else list(fail_on)
    words = [word.strip() for word in words if word.strip()]
    for word in words:
        if word not in (*GROUPS, "all", "none"):
            raise usage(f"fail_on: unknown kind {word!r}", f"all, none, or some of {', '.join(GROUPS)}")
    return frozenset(w for w in words if w in GROUPS) | (ALL if "all" in words else frozenset())


def usage(message: str, remedy: str) -> UsageError:
    """An argument or option that makes no sense."""
    return UsageError([Diagnostic("usage", message, notes=(("instead", remedy),))])


def launch_error(message: str, remedy: str) -> LaunchError:
    """Arguments or a grid that no launch can have."""
    return LaunchError([Diagnostic("L01", message, rule="L01", notes=(("instead", remedy),))])


def of_emulator(text: str, file: str = "<ptx>") -> Refused:
    """The exception of a refusal of the emulator."""
    reasons = [Diagnostic.read({**reason, "rule": reason["code"]}, file if reason.get("line") else "")
               for reason in json.loads(text)]
    kind = {"P01": PtxError, "X01": UnsupportedError}.get(reasons[0].code, LaunchError)
    return kind(reasons)
