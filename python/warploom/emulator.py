"""Kernels on the emulator: PTX from anywhere, or Triton IR that is compiled first, on NumPy arrays."""

from __future__ import annotations

import ctypes
import json
import math
import os
import re
import warnings
from dataclasses import dataclass, field, replace
from typing import Any, Iterable, Mapping, Sequence

from . import _native
from .arguments import arguments, grid_of
from .compiler import Compiled, compile, resolve
from .errors import ALL, Finding, Found, finding, groups, launch_error, of_emulator, usage
from .memory import Memory, view
from .module import Loaded, load, pick


@dataclass(frozen=True)
class Emulation:
    """How launches are run."""

    target: str | None = None
    """The chip, `sm_90a`; without it, what the PTX says."""
    interleavings: int = 1
    """How many orders of the asynchronous work: `eager`, `lazy`, then random ones."""
    seed: int = 1
    """Of the first random one."""
    policies: tuple[str, ...] = ()
    """These instead: `eager`, `lazy`, `random:SEED`, `pct:SEED`."""
    race: bool = True
    """Whether every access is checked by happens-before analysis."""
    strict: bool = False
    """Whether fences must stand where the PTX ISA wants them, not only where they are seen to be needed."""
    limits: bool = True
    """Whether a launch that the chip would refuse is refused."""
    max_steps: int = 20_000_000
    """Warp instructions of a cluster before the run is given up (`BudgetError`)."""
    threads: int | None = None
    """Threads of the host; without it, its cores."""
    fail_on: frozenset[str] = ALL
    """Kinds of findings that raise; the others are warnings."""
    watch: tuple[str, ...] = ()
    """Memory whose accesses `Report.seen` tells: `x[0..16]` in bytes of an argument, `shared[..]`, columns of `tmem[..]`."""
    breaks: tuple[str, ...] = ()
    """Places at which it tells registers: `LINE` of the PTX or `FILE:LINE`, with `@N` only the Nth time."""
    registers: bool = False
    """Whether it tells all registers of the warp at breaks and at errors."""

    def with_options(self, **options: Any) -> Emulation:
        """The same with other options, each of which is checked."""
        for name in options:
            if name not in self.__dataclass_fields__:
                raise usage(f"unknown option {name!r}", f"one of {', '.join(self.__dataclass_fields__)}")
        if "fail_on" in options:
            options["fail_on"] = groups(options["fail_on"])
        new = replace(self, **options)
        for name in ("interleavings", "max_steps"):
            value = getattr(new, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise usage(f"{name}={value!r}", "a whole number from 1")
        for name, value, least in (("seed", new.seed, 0), ("threads", new.threads or 1, 1)):
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise usage(f"{name}={value!r}", f"a whole number from {least}")
        for name in ("watch", "breaks"):
            value = getattr(new, name)
            new = replace(new, **{name: (value,) if isinstance(value, str) else tuple(value)})
        for name in ("race", "strict", "limits", "registers"):
            if not isinstance(getattr(new, name), bool):
                raise usage(f"{name}={getattr(new, name)!r} is no truth value", "True or False")
        for policy in new.policies:
            if not re.fullmatch(r"eager|lazy|(random|pct)(:\d+)?", policy):
                raise usage(f"policies: {policy!r}", "eager, lazy, random:SEED or pct:SEED")
        return replace(new, target=resolve(new.target)) if new.target else new

    def schedule(self) -> list[str]:
        """The policies of each launch."""
        chosen = ["eager", "lazy", *(f"random:{self.seed + i}" for i in range(self.interleavings))]
        return list(self.policies) or chosen[:self.interleavings]


@dataclass(frozen=True)
class Report:
    """What the interleavings of one launch said."""

    kernel: str
    target: str
    findings: tuple[Found, ...]
    """What was found, each once, with the interleavings that found it; notes among them."""
    runs: tuple[Mapping[str, Any], ...] = field(repr=False)
    """The emulator's report of each interleaving, as `warploom ptx --json` has it: `policy`, `stats`, `coverage` .."""
    differ: bool = False
    """The interleavings left different values behind."""

    @property
    def errors(self) -> tuple[Found, ...]:
        """The findings that are no notes."""
        return tuple(f for f in self.findings if f.severity == "error")

    @property
    def clean(self) -> bool:
        """Nothing is wrong."""
        return not self.errors

    @property
    def printed(self) -> str:
        """What the kernel printed in the first interleaving."""
        return self.runs[0].get("printed", "") if self.runs else ""

    @property
    def coverage(self) -> tuple[int, int]:
        """How many of the kernel's synchronising instructions some interleaving reached, and how many there are."""
        all_of = max((run["coverage"]["instructions"] for run in self.runs), default=0)
        missed = [{*run["coverage"]["never"], *run["coverage"]["trivial"]} for run in self.runs]
        return all_of - len(set.intersection(*missed) if missed else ()), all_of

    @property
    def seen(self) -> tuple[Mapping[str, Any], ...]:
        """What `watch`, `breaks` and `registers` asked to see, in all interleavings: `kind`, `place`, `registers` .."""
        return tuple(sight for run in self.runs for sight in run.get("seen", ()))

    @property
    def hints(self) -> tuple[str, ...]:
        """What decides about synchronising instructions that no interleaving reached: a line and what its branch depends on."""
        missed = [{*run["coverage"]["never"], *run["coverage"]["trivial"]} for run in self.runs]
        left = set.intersection(*missed) if missed else set()
        said = {(h["line"], h.get("source") or f"line {h['branch']} of the PTX", ", ".join(h["depends"]))
                for run in self.runs for h in run["coverage"].get("hints", ()) if h["line"] in left}
        return tuple(f"line {line} of the PTX: {place} decides, by {of}" for line, place, of in sorted(said))

    def error(self, fail_on: Iterable[str] = ALL) -> Finding | None:
        """The exception of what was found, of the kinds that are asked for."""
        wanted = [f for f in self.errors if f.group in fail_on]
        if not wanted and self.differ and not self.errors and "differ" in fail_on:
            remedy = "order what atomics add, or leave `differ` out of fail_on"
            message = "the interleavings leave different values behind"
            wanted = [Found("I01", message, "error", self.kernel, (0, 0, 0), remedy)]
        return finding(wanted, self) if wanted else None


def launch(
    module: Loaded,
    entry: str,
    grid: Sequence[int],
    args: Sequence[bytes],
    memory: Memory,
    how: Emulation,
    *,
    smem: int = 0,
    block: Sequence[int] | None = None,
    cluster: Sequence[int] | None = None,
    module_name: str = "<ptx>",
) -> Report:
    """Runs a launch under each interleaving and writes what the first one left behind; findings are not raised."""
    target = how.target or resolve(module.native.target)
    spec = dict(
        entry=entry, target=target, grid=list(grid), block=block and list(block),
        cluster=cluster and list(cluster), smem=smem, policies=how.schedule(), race=how.race, strict=how.strict,
        limits=how.limits, max_steps=how.max_steps, threads=how.threads or os.cpu_count() or 1,
        watch=how.watch, breaks=how.breaks, registers=how.registers)
    pieces = memory.pieces()
    buffers = [(start, name, view(start, end - start).raw) for start, end, name, _ in pieces]
    try:
        text, differ, changed = _native.launch(module.native, json.dumps(spec), list(args), buffers)
    except _native.Refused as refused:
        raise of_emulator(refused.args[0], module_name) from None
    writable = {start: (name, may) for start, _, name, may in pieces}
    for start, content in changed:
        name, may = writable[start]
        if not may:
            raise launch_error(f"{entry} writes into {name}, which is read-only", "pass an array that may be written")
        ctypes.memmove(start, content, len(content))
    runs = tuple(json.loads(text))
    return Report(entry, target, _merged(runs, module), runs, differ)


def _merged(runs: Sequence[Mapping[str, Any]], module: Loaded) -> tuple[Found, ...]:
    out: list[Found] = []
    for run in runs:
        policy = _policy(run["policy"])
        for fields in run["findings"]:
            found = Found.read(fields, policy, module.files, module.rows)
            at = next((i for i, old in enumerate(out) if old.same(found)), None)
            if at is None:
                out.append(found)
            else:
                out[at] = replace(out[at], policies=(*out[at].policies, policy))
    # Races first: what else was found often follows from them.
    return tuple(sorted(out, key=lambda f: (f.severity != "error", not f.code.startswith("R"))))


def _policy(value: Any) -> str:
    if isinstance(value, str):
        return value.lower()
    ((name, seed),) = value.items()
    return f"{name.lower()}:{seed}"


def judge(report: Report, how: Emulation) -> Report:
    """Raises what `fail_on` asks for; other findings become warnings."""
    error = report.error(how.fail_on)
    if error is not None:
        raise error
    for found in report.errors:
        warnings.warn(str(found.diagnostic()), stacklevel=3)
    return report


def run(
    kernel: str | Compiled,
    *args: Any,
    grid: int | Sequence[int],
    target: str | None = None,
    entry: str | None = None,
    block: Sequence[int] | None = None,
    cluster: Sequence[int] | None = None,
    smem: int | None = None,
    compile_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> Report:
    """Runs a kernel on the emulator; arrays are read and written in place.

    `kernel` is PTX, Triton IR (compiled for `target` first), or what `compile` gave. Each argument is a NumPy array
    (a pointer to it or, where the kernel takes a tensor descriptor, the descriptor of it) or a number. Shapes and
    strides behind descriptors and the two scratch pointers of compiled kernels are added. `grid` counts CTAs.

    Options are those of `Emulation`: `interleavings`, `seed`, `policies`, `race`, `strict`, `limits`, `max_steps`,
    `threads`, `fail_on`, `watch`, `breaks`, `registers`. Raises `RaceError`, `DeadlockError`, `OutOfBoundsError` and so on for what is found, and
    `LaunchError` for arguments that do not fit.
    """
    how = Emulation().with_options(**options, **({"target": target} if target else {}))
    if not isinstance(kernel, (str, Compiled)):
        raise usage(f"a kernel of type {type(kernel).__name__}", "PTX or Triton IR as a str, or what compile() gave")
    if isinstance(kernel, str) and not re.search(r"^\s*\.version\b", kernel, re.MULTILINE):
        if how.target is None:
            raise usage("Triton IR without a target", "target='sm_90a', or another of warploom.targets()")
        kernel = compile(kernel, how.target, **{"entry": entry, **(compile_options or {})})
    elif compile_options:
        raise usage("compile_options for a kernel that is compiled already", "leave them out")
    record = kernel.launch if isinstance(kernel, Compiled) else {}
    text = kernel.ptx if isinstance(kernel, Compiled) else kernel
    module = load(text)
    name = entry or record.get("name")
    chosen = pick(module, name)
    memory = Memory()
    ctas = grid_of(grid)
    packed = arguments(chosen, args, record, math.prod(ctas), memory)
    block, cluster = (
        extents if extents is None else grid_of(extents, what)
        for extents, what in ((block, "a block"), (cluster, "a cluster")))
    if smem is not None and (not isinstance(smem, int) or isinstance(smem, bool) or not 0 <= smem < 1 << 31):
        raise launch_error(f"smem={smem!r}", "bytes of shared memory, a whole number from 0")
    report = launch(
        module, chosen["name"], ctas, packed, memory, how, block=block, cluster=cluster,
        smem=record.get("shared", 0) if smem is None else smem)
    return judge(report, how)
