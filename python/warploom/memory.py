"""Memory of the host that kernels reach, at the addresses that it has there."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np


class Memory:
    """Memory of the host that a launch may reach, at the addresses that it has there."""

    def __init__(self) -> None:
        self._ranges: list[tuple[int, int, str, bool]] = []
        self._alive: list[Any] = []

    def add(self, start: int, size: int, name: str, writable: bool = True, owner: Any = None) -> None:
        """Lends so many bytes, which `owner` keeps alive."""
        if size > 0 and start:
            self._ranges.append((start, start + size, name, writable))
            self._alive.append(owner)

    def add_array(self, array: np.ndarray, name: str) -> None:
        """Lends all the memory that an array is a view of."""
        root = array
        while isinstance(root.base, np.ndarray):
            root = root.base
        start, end = extent(root)
        self.add(start, end - start, name, root.flags.writeable, array)

    def pieces(self) -> list[tuple[int, int, str, bool]]:
        """Start, end, name, whether it may be written; those that overlap are one."""
        out: list[tuple[int, int, str, bool]] = []
        for start, end, name, writable in sorted(self._ranges):
            if out and start < out[-1][1]:
                old = out[-1]
                names = old[2] if name in old[2].split("/") else f"{old[2]}/{name}"
                out[-1] = (old[0], max(end, old[1]), names, old[3] and writable)
            else:
                out.append((start, end, name, writable))
        return out

    def spaces(self) -> list[tuple[int, int]]:
        """Start and end of what is lent."""
        return [(start, end) for start, end, _, _ in self.pieces()]


def extent(array: np.ndarray) -> tuple[int, int]:
    """First address of an array, and one past its last."""
    start = end = array.__array_interface__["data"][0]
    if array.size == 0:
        return start, start
    for count, stride in zip(array.shape, array.strides):
        start, end = start + min(0, (count - 1) * stride), end + max(0, (count - 1) * stride)
    return start, end + array.itemsize


def view(start: int, size: int) -> Any:
    """Memory of this process."""
    return (ctypes.c_char * size).from_address(start)
