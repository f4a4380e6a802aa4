"""Triton's compile stages with Warploom in them, through Triton's own hook."""

from __future__ import annotations

import os
import warnings
from typing import Any, Callable, Mapping

from triton import knobs

from .. import _native
from ..compiler import Compiled, compile
from ..errors import CompileError
from .options import arguments, refused

# Chips of Triton's capabilities that have a name with features of their own.
TARGETS = {90: "sm_90a", 100: "sm_100a", 103: "sm_103a", 110: "sm_110a", 120: "sm_120a", 121: "sm_121a"}
# What Triton keeps of a launch record.
LAUNCH = ("name", "num_warps", "num_ctas", "shared", "tmem_size", "global_scratch_size", "global_scratch_align",
          "profile_scratch_size", "profile_scratch_align", "tensordesc_meta")

Stage = Callable[[Any, dict[str, Any]], Any]


def chip_of(capability: int) -> str:
    """The chip of a capability, such as `sm_90a` of 90."""
    return TARGETS.get(capability, f"sm_{capability}")


def version() -> str:
    """What compiled kernels are kept under: another build of the library makes others."""
    file = os.stat(_native.__file__)
    return f"warploom-{_native.VERSION}-{file.st_size}-{file.st_mtime_ns}"


def ours(stages: dict[str, Stage], options: Any, capability: int, fallback: bool, given: Mapping[str, Any]) -> None:
    """Puts Warploom in place of the stages from Triton IR to PTX. With `fallback` a kernel that is refused goes
    Triton's way, with a warning that carries the reasons."""
    own, lines = dict(stages), not knobs.compilation.disable_line_info
    taken: list[Compiled] = []

    def ttgir(module: Any, metadata: dict[str, Any]) -> Any:
        try:
            target = chip_of(capability)
            taken.append(compile(str(module), target, **{**arguments(options), "lines": lines, **given}))
        except CompileError as refusal:
            if not fallback:
                raise
            warnings.warn(f"compiled by Triton instead: {refusal}")
            return own["ttgir"](module, metadata)
        return module

    def llir(module: Any, metadata: dict[str, Any]) -> Any:
        return module if taken else own["llir"](module, metadata)

    def ptx(module: Any, metadata: dict[str, Any]) -> Any:
        if not taken:
            return own["ptx"](module, metadata)
        metadata.update({name: taken[0].launch[name] for name in LAUNCH})
        metadata["shared"] = max(metadata["shared"], options.min_shared_mem or 0)
        return taken[0].ptx

    if "ttir" not in stages:
        refusal = refused("the kernel is written in Gluon", "Triton's own language")
        if not fallback:
            raise refusal
        warnings.warn(f"compiled by Triton instead: {refusal}")
        return
    stages.update(ttgir=ttgir, llir=llir, ptx=ptx)


def install(
    *, compiler: str, assemble: bool, fallback: bool = False, options: Mapping[str, Any] | None = None
) -> Callable[[], None]:
    """Hooks into Triton and gives what undoes it. Without `assemble` the machine code is left out, and the PTX stands
    in its place: the emulator runs that."""
    before = knobs.runtime.add_stages_inspection_hook
    key = repr((version(), compiler, assemble, fallback, sorted((options or {}).items())))

    # Triton passes these by position, or nothing where it asks for the key.
    def hook(backend: Any = None, stages: Any = None, own: Any = None, language: Any = None, chip: Any = None) -> Any:
        if stages is None:
            return key, key
        if compiler == "warploom":
            ours(stages, own, chip, fallback, options or {})
        if not assemble:
            stages["cubin"] = lambda text, metadata: text.encode()
        return None

    knobs.runtime.add_stages_inspection_hook = hook

    def undo() -> None:
        knobs.runtime.add_stages_inspection_hook = before

    return undo
