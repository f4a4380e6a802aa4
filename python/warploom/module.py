"""PTX that was read: its kernels, and the sources it names."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from typing import Any, Mapping, Sequence

from . import _native
from .errors import launch_error, of_emulator


@dataclass(frozen=True)
class Loaded:
    """PTX that was read."""

    native: _native.Module
    entries: Sequence[Mapping[str, Any]]
    files: Mapping[str, str]
    """The path of each source by its last name, as `.file` has it."""
    rows: Sequence[str]
    """The lines of the text."""


def load(text: str) -> Loaded:
    """Reads PTX."""
    paths = [path for _, path in FILE.findall(text)]
    names = [os.path.basename(path) for path in paths]
    files = {name: path for name, path in zip(names, paths) if names.count(name) == 1}
    try:
        native = _native.Module(located(text))
        return Loaded(native, json.loads(native.entries()), files, text.split("\n"))
    except _native.Refused as refused:
        raise of_emulator(refused.args[0]) from None


LOC = re.compile(r"\s*\.loc\s+(\d+ \d+ \d+)(?:,.*inlined_at (\d+ \d+ \d+))?")
FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"([^"]+)"', re.MULTILINE)
# Files of Triton's own, of whose lines its users are told the line that calls them.
LIBRARY = re.compile(r"/triton/(language|experimental|tools)/")


def located(text: str) -> str:
    """PTX with the places that its author knows; no line is added or removed.

    What Triton's library does is where it is called. A stretch of inline assembly has one place: LLVM counts the lines
    of the assembly on from the line of the source, which leads into lines that have nothing to do with it.
    """
    library = {number for number, path in FILE.findall(text) if LIBRARY.search(path)}
    callers: dict[str, str] = {}
    place, held, rows = "", None, text.split("\n")
    for i, row in enumerate(rows):
        word = row.strip()
        if match := LOC.match(row):
            at, caller = match.groups()
            if caller:
                callers[at] = caller
            seen = set()
            while at.split()[0] in library and at in callers and at not in seen:
                seen.add(at)
                at = callers[at]
            place = at if held is None else held
            rows[i] = f"\t.loc\t{place}"
        elif word == "// begin inline asm":
            held = place or None
        elif word == "// end inline asm":
            held = None
    return "\n".join(rows)


def pick(module: Loaded, name: str | None) -> Mapping[str, Any]:
    """A kernel of a module; without a name, its only one."""
    entries = module.entries
    names = [e["name"] for e in entries]
    if name is None and len(entries) != 1:
        raise launch_error(f"the module has {len(entries)} kernels", f"entry= one of {', '.join(names)}")
    chosen = next((e for e in entries if name in (None, e["name"])), None)
    if chosen is None:
        raise launch_error(f"no kernel {name!r}", f"the module has: {', '.join(names)}")
    if chosen["refusal"]:
        raise of_emulator(json.dumps(chosen["refusal"]))
    return chosen
