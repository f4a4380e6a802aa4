"""Launches of Triton's kernels on the emulator."""

from __future__ import annotations

import struct
import sys
from typing import Any, Callable, Iterator, Sequence

from triton.backends.driver import expand_signature, wrap_handle_tensordesc_impl
from triton.backends.nvidia.driver import make_tensordesc_arg
from triton.runtime import _allocation

from ..emulator import launch
from ..errors import launch_error
from ..memory import Memory
from .arrays import KNOWN, lend

# How a value of each of Triton's types is packed.
PACKED = {"i1": "b", "i8": "b", "i16": "h", "i32": "i", "i64": "q", "u1": "B", "u8": "B", "u16": "H", "u32": "I",
          "u64": "Q", "fp16": "e", "fp32": "f", "f32": "f", "fp64": "d"}


def integer(value: Any, form: str, size: int) -> bytes:
    """A whole number, cut to its size as Triton's own launcher does."""
    return struct.pack("<" + form.upper(), int(value) & ((1 << 8 * size) - 1))


def scalar(ty: str, value: Any, name: str) -> bytes:
    """The bytes of a number."""
    form = "f" if ty == "bf16" else PACKED.get(ty)
    if form is None:
        raise launch_error(f"{name} has the type {ty}, which no launch has", "a tensor or a number")
    try:
        if ty == "bf16":
            return struct.pack("<I", rounded(float(value)))[2:]
        if form in "efd":
            return struct.pack("<" + form, float(value))
        return integer(value, form, struct.calcsize(form))
    except OverflowError:
        return struct.pack("<" + form, float("inf") if value > 0 else float("-inf"))
    except (TypeError, ValueError) as error:
        raise launch_error(f"{name}: {error}", f"a number for {ty}") from None


def rounded(value: float) -> int:
    """The bits of a number as f32, whose upper half is the nearest bf16."""
    try:
        (bits,) = struct.unpack("<I", struct.pack("<f", value))
    except OverflowError:
        bits = 0x7F800000 if value > 0 else 0xFF800000
    if bits & 0x7FFFFFFF > 0x7F800000:
        return bits | 0x400000
    return (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFFFFFF


class Launcher:
    """What Triton calls to run a compiled kernel; the active driver says how."""

    def __init__(self, src: Any, metadata: Any):
        signature = dict(src.signature.items())
        self.metadata = metadata
        descriptors = getattr(metadata, "tensordesc_meta", None)
        names = list(getattr(getattr(src, "fn", None), "arg_names", None) or [str(key) for key in signature])
        self.parameters = [
            (ty, name) for name, value in zip(names, signature.values())
            for ty in expand_signature([value], descriptors, "nvTmaDesc")]
        self._flatten = wrap_handle_tensordesc_impl(self._launch, signature, descriptors, make_tensordesc_arg)
        self._names = names

    def __call__(
        self, x: int, y: int, z: int, stream: Any, function: Any, packed: Any, launch_metadata: Any,
        enter: Callable[[Any], None] | None, leave: Callable[[Any], None] | None, *args: Any
    ) -> None:
        # As Triton's launcher: nothing is run for an empty grid.
        if x * y * z <= 0:
            return
        if enter is not None:
            enter(launch_metadata)
        memory = Memory()
        for name, value in zip(self._names, args):
            lend(memory, value, name)
        self._flatten(x, y, z, stream, function, memory, args)
        if leave is not None:
            leave(launch_metadata)

    def _launch(self, x: int, y: int, z: int, stream: Any, function: Any, memory: Memory, args: Sequence[Any]) -> None:
        from .driver import active

        packed: list[bytes] = []
        numbers: list[int] = []
        for (ty, name), value in zip(self.parameters, args):
            packed += self._pack(ty, value, name, numbers)
        ctas = getattr(self.metadata, "num_ctas", 1)
        packed += [self._scratch(kind, x * y * z * ctas, stream, memory) for kind in ("global", "profile")]
        KNOWN.reach(memory, numbers)
        driver = active()
        module, entry = function
        report = launch(
            module, entry, (x * ctas, y, z), packed, memory, driver.how, smem=self.metadata.shared,
            cluster=(ctas, 1, 1) if ctas > 1 else None, module_name=f"{entry}.ptx")
        if report.printed:
            sys.stdout.write(report.printed)
        driver.done(report)

    def _pack(self, ty: Any, value: Any, name: str, numbers: list[int]) -> Iterator[bytes]:
        if isinstance(ty, tuple):
            for one, part in zip(ty, value):
                yield from self._pack(one, part, name, numbers)
        elif ty == "constexpr":
            return
        elif ty == "nvTmaDesc":
            yield value
        elif ty[0] == "*":
            address = pointer(value, name)
            numbers.append(address)
            yield struct.pack("<Q", address)
        else:
            if ty in ("i64", "u64"):
                numbers.append(int(value) & (1 << 64) - 1)
            yield scalar(ty, value, name)

    def _scratch(self, kind: str, programs: int, stream: Any, memory: Memory) -> bytes:
        size = getattr(self.metadata, f"{kind}_scratch_size", 0) or 0
        if not size:
            return bytes(8)
        allocator = _allocation._allocator if kind == "global" else _allocation._profile_allocator
        buffer = allocator.get()(programs * size, getattr(self.metadata, f"{kind}_scratch_align"), stream)
        lend(memory, buffer, f"{kind} scratch")
        return struct.pack("<Q", buffer.data_ptr())


def pointer(value: Any, name: str) -> int:
    """The address that a value stands for."""
    if value is None:
        return 0
    if isinstance(value, int):
        return value
    if not hasattr(value, "data_ptr"):
        raise launch_error(f"{name} is a {type(value).__name__}", "a tensor, a NumPy array or an address")
    # As on a GPU: PyTorch's tensors of the host are reached where they are pinned.
    if getattr(value, "is_cpu", False) and not value.is_pinned():
        raise launch_error(f"{name} is a tensor on the CPU", 'one made with device="cuda", or pinned')
    return value.data_ptr()
