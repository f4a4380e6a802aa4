"""The compiler and its parts: texts in, texts and plain data out. No file is written and no process started."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Iterable, Mapping

from . import _native
from .errors import CompileError, Diagnostic, Refused, usage

FORMS = ("graph", "scheduled", "assigned", "program", "llvm", "ptx")
# Options of a kernel: the flag of the command, and whether it takes a value.
KERNEL = {"entry": True, "depth": True, "slack_slots": True, "smem_limit": True, "partitions": True,
          "residents": True, "tune": False, "trips": True, "no_check": False, "cost": True, "ptx_version": True,
          "no_fusion": False, "no_flush": False, "max_registers": True, "lines": False, "libdevice": True}


@dataclass(frozen=True)
class Compiled:
    """A compiled kernel."""

    text: str
    """The form that was asked for, PTX unless told otherwise."""
    emit: str
    target: str
    launch: Mapping[str, Any]
    """What a launcher must know: `name`, `num_warps`, `shared`, `tensordesc_meta` and so on; empty before PTX."""
    facts: Mapping[str, Any]
    """What was decided: loops with their II, partitions, rings; empty before PTX."""
    remarks: tuple[Diagnostic, ...] = ()
    micros: Mapping[str, int] = field(default_factory=dict)
    """Microseconds of each step."""
    tuned: tuple[Mapping[str, Any], ...] = ()
    """What `tune` tried, best first."""

    @property
    def ptx(self) -> str:
        """The PTX."""
        if self.emit != "ptx":
            raise usage(f"this is the form {self.emit!r}", "compile with emit='ptx'")
        return self.text


def _line(verb: str, options: Mapping[str, Any], known: Mapping[str, bool]) -> list[str]:
    """Options as the command line has them; an unknown one is refused by name."""
    line = [verb]
    for name, value in options.items():
        if name not in known:
            raise usage(f"unknown option {name!r}", f"one of {', '.join(known)}")
        flag = "--" + name.replace("_", "-")
        if not known[name]:
            if not isinstance(value, bool):
                raise usage(f"{name}={value!r} is no truth value", "True or False")
            line += [flag] if value else []
        elif isinstance(value, (list, tuple)):
            line += [part for one in value for part in (flag, str(one))]
        elif value is not None:
            # With `=`, so that a value is never taken for a flag.
            line.append(f"{flag}={value}")
    return line


def _text(name: str, value: Any) -> bytes:
    if not isinstance(value, str):
        raise usage(f"{name} is a {type(value).__name__}", "a string, such as what Path(..).read_text() gives")
    return value.encode()


def _reasons(diagnostics: Iterable[Mapping[str, Any]], name: str) -> list[Diagnostic]:
    return [Diagnostic.read(d, name if d.get("file") else "") for d in diagnostics]


def _answer(line: list[str], text: bytes, name: str, kind: type[Refused] = Refused) -> Any:
    """The JSON that a command answers; its refusal as an exception."""
    status, output, said = _native.answer(line, text)
    reasons = _reasons(json.loads(said), name)
    answer = None if reasons or not output else json.loads(output)
    if isinstance(answer, dict) and answer.get("ok") is False and "diagnostics" in answer:
        reasons = _reasons(answer["diagnostics"], name)
    if reasons:
        raise usage(reasons[0].message, reasons[0].remedy or "see help(warploom)") if status == 2 else kind(reasons)
    return answer


def compile(ttir: str, target: str, *, emit: str = "ptx", name: str = "<ttir>", **options: Any) -> Compiled:
    """Compiles a kernel in Triton IR, or resumes from a later text form.

    `target` is a chip such as `sm_90a` (see `targets`), `emit` the form to stop at. Options: `entry`, `depth`,
    `slack_slots`, `smem_limit`, `partitions` ("one" or "several"), `residents`, `tune`, `trips`, `no_check`,
    `cost` (a path), `ptx_version`, `no_fusion`, `no_flush`, `max_registers`, `lines` (the PTX says which line of the
    source each instruction comes from), `libdevice` (the path of NVIDIA's `libdevice.10.bc`); what they mean says
    `warploom compile --help`. `name` is what messages call the text.

    Raises `CompileError` with every reason why the kernel is not compiled, `UsageError` for an unknown option.
    """
    if emit not in FORMS:
        remedy = "warploom compile --emit cubin" if emit == "cubin" else f"one of {', '.join(FORMS)}"
        raise usage(f"emit={emit!r} is not made in memory" if emit == "cubin" else f"unknown form {emit!r}", remedy)
    line = _line("compile", options, KERNEL) + [f"--target={target}", f"--emit={emit}", "-"]
    if emit == "graph":
        _, output, said = _native.answer([*line, "--json"], _text("ttir", ttir))
        reasons = _reasons(json.loads(said), name)
        if reasons:
            raise CompileError(reasons)
        return Compiled(output.decode(), emit, target, {}, {})
    answer = _answer([*line, "--json"], _text("ttir", ttir), name, CompileError)
    own = ("text", "emit", "target", "facts", "remarks", "micros", "tuned", "ok")
    return Compiled(
        text=answer["text"], emit=emit, target=answer["target"], facts=answer.get("facts", {}),
        launch={key: value for key, value in answer.items() if key not in own},
        remarks=tuple(_reasons(answer["remarks"], name)), micros=answer["micros"],
        tuned=tuple(answer.get("tuned", ())))


def explain(ttir: str, target: str, *, name: str = "<ttir>", **options: Any) -> str:
    """What is decided for a kernel, and why; options are those of `compile`."""
    line = _line("explain", options, KERNEL) + [f"--target={target}", "-", "--json"]
    return _answer(line, _text("ttir", ttir), name, CompileError)["text"]


def _json(name: str, value: Any) -> bytes:
    return _text(name, value) if isinstance(value, str) else json.dumps(value).encode()


def schedule(graph: str | Mapping[str, Any], **options: Any) -> dict[str, Any]:
    """Schedules one loop graph, JSON or the same as a dict, and gives the answer as `warploom schedule --json` does.

    Options: `algorithm`, `objective`, `min_ii`, `max_ii`, `steps`, `budget` (such as `"smem=232448"`, or several),
    `time_limit` (seconds). Raises `Refused` where there is no schedule.
    """
    known = dict.fromkeys(("algorithm", "objective", "min_ii", "max_ii", "steps", "budget", "time_limit"), True)
    return _answer(_line("schedule", options, known) + ["--json", "-"], _json("graph", graph), "<graph>")


def assign(problem: str | Mapping[str, Any], **options: Any) -> dict[str, Any]:
    """Assigns buffers and barriers to the values of scheduled loops (docs/buffers.md); `time_limit` in seconds."""
    line = _line("assign", options, {"time_limit": True}) + ["--json", "-"]
    answer = _answer(line, _json("problem", problem), "<problem>")
    if "error" in answer:
        error = answer["error"]
        also = [{"label": "instead", "text": str(one)} for one in error["advice"] or ()]
        raise Refused([Diagnostic.read({**error, "rule": error["code"], "notes": also})])
    return answer


def pack(problem: str | Iterable[Mapping[str, Any]], capacity: int | None = None, **options: Any) -> dict[str, Any]:
    """Packs lifetimes and sizes into `capacity` bytes, or makes the peak small.

    `problem` is CSV or rows with `id`, `lower`, `upper`, `size` and, where wanted, `alignment`, `offset`, `gaps`.
    Options: `nodes`, `time_limit`. The answer's `outcome` is `Fits` with `offsets` and `peak`, `ProvedInfeasible`
    or `GaveUp`.
    """
    if not isinstance(problem, str):
        rows = [dict(row) for row in problem]
        columns = list(rows[0]) if rows else ["id", "lower", "upper", "size"]
        problem = "\n".join([",".join(columns), *(",".join(str(row[c]) for c in columns) for row in rows)]) + "\n"
    options = {**options, "capacity": capacity}
    line = _line("pack", options, {"capacity": True, "nodes": True, "time_limit": True}) + ["--json", "-"]
    ((outcome, fields),) = _answer(line, _text("problem", problem), "<problem>").items()
    return {"outcome": outcome, **fields}


def targets(name: str | None = None) -> Any:
    """What is known about one chip, or a list of all of them."""
    return _answer(["targets", *([name] if name else []), "--json"], b"", "")


def resolve(name: str) -> str:
    """The chip of a name as PTX has it: `sm_90` runs on `sm_90a`. Raises `Refused` for one that is not known."""
    plain = name.removesuffix("f")
    status, _, _ = _native.answer(["targets", plain, "--json"], b"")
    candidate = plain if status == 0 else f"{plain}a"
    return _answer(["targets", candidate, "--json"], b"", "")["chip"]["name"]
