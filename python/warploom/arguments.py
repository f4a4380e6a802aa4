"""Arguments of a launch as the bytes of its parameters."""

from __future__ import annotations

import json
import struct
from typing import Any, Mapping, Sequence

import numpy as np

from . import _native
from .errors import launch_error, of_emulator
from .memory import Memory


def grid_of(grid: int | Sequence[int], what: str = "a grid") -> list[int]:
    """Three extents, none of which is zero."""
    extents = list(grid) if isinstance(grid, (tuple, list, np.ndarray)) else [grid]
    whole = all(isinstance(n, (int, np.integer)) and not isinstance(n, bool) for n in extents)
    if not 1 <= len(extents) <= 3 or not whole or any(n < 1 or n >= 1 << 31 for n in extents):
        raise launch_error(f"{what} of {grid!r}", "one to three whole numbers from 1")
    return [int(n) for n in extents] + [1] * (3 - len(extents))


def scratch_of(record: Mapping[str, Any], kind: str, programs: int, memory: Memory) -> bytes:
    """The pointer to scratch memory of a kind, which is made where the kernel uses any."""
    size = programs * record.get(f"{kind}_scratch_size", 0)
    if size == 0:
        return bytes(8)
    align = max(record.get(f"{kind}_scratch_align", 1), 1)
    buffer = np.zeros(size + align, np.uint8)
    start = -(-buffer.__array_interface__["data"][0] // align) * align
    memory.add(start, size, f"{kind} scratch", owner=buffer)
    return struct.pack("<Q", start)


def arguments(
    entry: Mapping[str, Any], args: Sequence[Any], record: Mapping[str, Any], programs: int, memory: Memory
) -> list[bytes]:
    """The bytes of each parameter; arrays are lent to the launch, and so is scratch memory for so many programs."""
    params: Sequence[Mapping[str, Any]] = entry["params"]
    packed: list[bytes] = []
    maps = iter(record.get("tensordesc_meta") or ())
    scratch = [scratch_of(record, kind, programs, memory) for kind in ("global", "profile")] if record else []
    for i, value in enumerate(args):
        if len(packed) + len(scratch) >= len(params):
            raise launch_error(f"{len(args)} arguments for {entry['name']}", wanted(params, scratch))
        param = params[len(packed)]
        if isinstance(value, np.ndarray):
            packed += array(value, f"argument {i}", param, maps, memory)
        else:
            packed.append(number(value, f"argument {i}", param))
    if len(packed) + len(scratch) != len(params):
        raise launch_error(f"{len(args)} arguments for {entry['name']}", wanted(params, scratch))
    return packed + scratch


def wanted(params: Sequence[Mapping[str, Any]], scratch: Sequence[Any]) -> str:
    """The remedy for arguments that do not fit."""
    names = [f"{p['name']} ({p['size']} bytes)" for p in params[:len(params) - len(scratch)]]
    return f"arguments for: {', '.join(names) or 'nothing'}; shapes and strides behind descriptors are added"


def array(
    value: np.ndarray, name: str, param: Mapping[str, Any], maps: Any, memory: Memory
) -> list[bytes]:
    """A pointer, or a descriptor with extents and strides behind it."""
    if value.dtype.kind not in "biufV" or value.dtype.hasobject or not value.dtype.isnative:
        raise launch_error(f"{name} is an array of {value.dtype}", "booleans, integers or floating-point numbers")
    if isinstance(value, np.ma.MaskedArray):
        remedy = "its .data, and .mask as another argument"
        raise launch_error(f"{name} is a masked array: a kernel knows nothing of masks", remedy)
    descriptor = param["array"] and param["size"] == 128
    if not descriptor and not value.flags.c_contiguous:
        raise launch_error(f"{name} is not contiguous", "np.ascontiguousarray, or the array that it is a view of")
    if not descriptor and param["size"] != 8:
        raise launch_error(f"{name} is an array, parameter {param['name']} has {param['size']} bytes", "a number")
    memory.add_array(value, name)
    start = value.__array_interface__["data"][0]
    if not descriptor:
        return [struct.pack("<Q", start)]
    meta = next(maps, None)
    if meta is None:
        raise launch_error(f"{name} is an array for a tensor map without a launch record", "pass what compile() gave")
    strides = [s // value.itemsize for s in value.strides]
    if value.ndim == 0 or strides[-1] != 1:
        raise launch_error(f"{name}: the last dimension is not contiguous", "an array in C order")
    packed = [tensor_map(start, value.shape, strides, meta)]
    return packed + [struct.pack("<i", n) for n in value.shape] + [struct.pack("<q", s) for s in strides]


def tensor_map(
    start: int, shape: Sequence[int], strides: Sequence[int], meta: Mapping[str, Any], nan_fill: bool = False
) -> bytes:
    """The 128 bytes of a tensor map; extents and strides in elements, outermost first."""
    if len(shape) != len(meta["block_size"]):
        raise launch_error(f"{len(shape)} dimensions for a descriptor of {len(meta['block_size'])}", "that many")
    spec = dict(
        addr=start, elem=meta["elem_type"], dims=[int(n) for n in reversed(shape)],
        strides=[int(s) * meta["elem_size"] for s in reversed(strides[:-1])],
        box_dims=list(reversed(meta["block_size"])), swizzle=[0, 32, 64, 128][meta["swizzle"]], nan_fill=nan_fill)
    try:
        return _native.tensor_map(json.dumps(spec))
    except _native.Refused as refused:
        raise of_emulator(refused.args[0]) from None


INTEGERS = {1: "bB", 2: "hH", 4: "iI", 8: "qQ"}


def number(value: Any, name: str, param: Mapping[str, Any]) -> bytes:
    """A number in the bytes of its parameter."""
    size, of = param["size"], param["type"]
    if isinstance(value, np.generic):
        if value.nbytes != size:
            raise launch_error(f"{name} has {value.nbytes} bytes, parameter {param['name']} has {size}", f"a .{of}")
        return value.tobytes()
    if isinstance(value, float) or (isinstance(value, int) and of.startswith("f")):
        if size in (4, 8) and not of.startswith(("u", "s")):
            return struct.pack("<f" if size == 4 else "<d", value)
        raise launch_error(f"{name} is {value!r}, parameter {param['name']} is .{of}", "a NumPy scalar says its type")
    if not isinstance(value, int) or size not in INTEGERS:
        raise launch_error(f"{name} is a {type(value).__name__}", "a NumPy array or a number")
    for form in INTEGERS[size]:
        try:
            return struct.pack("<" + form, value)
        except struct.error:
            continue
    raise launch_error(f"{name}: {value} does not fit {size} bytes", f"a .{of}")
