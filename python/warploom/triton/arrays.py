"""NumPy arrays as Triton sees tensors, and who owns which memory."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from ..errors import launch_error
from ..memory import Memory, view

# Element types that NumPy has none for: bytes of an element; an array of whole numbers of that size holds them.
OTHERS = {"bfloat16": 2, "float8_e4m3fn": 1, "float8_e5m2": 1, "float8_e4m3fnuz": 1, "float8_e5m2fnuz": 1}


class ElementType:
    """The type of an element, by the name that Triton knows."""

    def __init__(self, name: str, itemsize: int):
        self.name, self.itemsize = name, itemsize

    @property
    def is_floating_point(self) -> bool:
        """Whether it has NaN."""
        return "float" in self.name

    def __str__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ElementType) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)


class Tensor:
    """An array with what Triton asks of a tensor; kernels read and write the array in place."""

    def __init__(self, array: np.ndarray, dtype: str | None = None):
        if not isinstance(array, np.ndarray):
            raise launch_error(f"a {type(array).__name__} is no array", "a numpy.ndarray")
        name = dtype or str(array.dtype)
        if dtype in OTHERS and (array.dtype.itemsize != OTHERS[dtype] or array.dtype.kind not in "ui"):
            raise launch_error(f"{dtype} in an array of {array.dtype}", f"an array of uint{8 * OTHERS[dtype]}")
        if dtype not in OTHERS and (array.dtype.kind not in "biuf" or array.dtype.itemsize > 8):
            if name not in OTHERS:
                raise launch_error(f"an array of {array.dtype}", "booleans, integers or floating-point numbers")
        if not array.dtype.isnative:
            remedy = "array.astype(array.dtype.newbyteorder('='))"
            raise launch_error(f"an array of {array.dtype}, the other byte order", remedy)
        self.array, self.dtype, self.shape = array, ElementType(name, array.dtype.itemsize), tuple(array.shape)
        self.device = "cuda"
        KNOWN.add(self)

    def data_ptr(self) -> int:
        """The address of the first element."""
        return self.array.__array_interface__["data"][0]

    def stride(self, dim: int | None = None) -> Any:
        """Strides in elements."""
        strides = tuple(s // self.array.itemsize for s in self.array.strides)
        return strides if dim is None else strides[dim]

    def element_size(self) -> int:
        """Bytes of an element."""
        return self.array.itemsize

    def numel(self) -> int:
        """How many elements there are."""
        return self.array.size

    def dim(self) -> int:
        """How many dimensions there are."""
        return self.array.ndim

    def is_contiguous(self) -> bool:
        """Whether it is in C order."""
        return self.array.flags.c_contiguous

    def numpy(self) -> np.ndarray:
        """The array."""
        return self.array

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.asarray(self.array, dtype=dtype)


class Known:
    """Whose memory may be reached through pointers that lie in buffers; nobody is kept alive by it."""

    def __init__(self) -> None:
        self._owners: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()

    def add(self, owner: Any) -> None:
        """Remembers a tensor or an array."""
        self._owners[id(owner)] = owner

    def reach(self, memory: Memory, numbers: list[int]) -> None:
        """Lends what the contents of the memory that is lent already, and these numbers, point at."""
        rest = self._apart_from(memory.spaces())
        words = np.array([n for n in numbers if 0 <= n < 1 << 64], np.uint64)
        seen: set[tuple[int, int]] = set()
        while rest:
            new = [span for span in memory.spaces() if span not in seen]
            seen.update(new)
            spans = sorted(rest)
            found = {spans[i] for part in (words, *map(_words, new)) for i in _hit(part, spans)}
            words = words[:0]
            if not found:
                return
            for span in found:
                lend(memory, rest.pop(span), REACHED)

    def _apart_from(self, lent: list[tuple[int, int]]) -> dict[tuple[int, int], Any]:
        """The allocations of which nothing is lent yet, with somebody who keeps each alive."""
        whole = Memory()
        owners: dict[int, Any] = {}
        for owner in list(self._owners.values()):
            own = Memory()
            lend(own, owner, REACHED)
            for start, end in own.spaces():
                whole.add(start, end - start, REACHED)
                owners[start] = owner
        inside = lambda span: any(start <= span[0] and span[1] <= end for start, end in lent)
        return {span: owners[span[0]] for span in whole.spaces() if not inside(span)}


REACHED = "memory that a buffer points at"


def _words(span: tuple[int, int]) -> np.ndarray:
    """What lies in memory, as addresses."""
    start, end = -(-span[0] // 8) * 8, span[1] // 8 * 8
    return np.frombuffer(view(start, end - start), np.uint64) if end > start else np.empty(0, np.uint64)


def _hit(words: np.ndarray, spans: list[tuple[int, int]]) -> np.ndarray:
    """Which of the spans, sorted and apart, some of these words point into."""
    starts, ends = (np.array(side, np.uint64) for side in zip(*spans))
    words = words[(words >= starts[0]) & (words < ends.max())]
    at = np.searchsorted(starts, words, side="right") - 1
    return np.unique(at[words < ends[at]])


KNOWN = Known()


def lend(memory: Memory, value: Any, name: str) -> None:
    """Lends the whole allocation behind a tensor, an array, a descriptor or a view of one of them."""
    if isinstance(value, np.ndarray):
        memory.add_array(value, name)
    elif isinstance(value, Tensor):
        memory.add_array(value.array, name)
    elif hasattr(value, "untyped_storage"):
        storage = value.untyped_storage()
        memory.add(storage.data_ptr(), storage.nbytes(), name, True, value)
    elif hasattr(value, "base"):
        lend(memory, value.base, name)
    elif isinstance(value, (tuple, list)):
        for one in value:
            lend(memory, one, name)


def wrap(value: Any) -> Any:
    """Arrays as tensors, also within tuples; all else as it is."""
    if isinstance(value, np.ndarray):
        return Tensor(value)
    if type(value) is tuple:
        return tuple(wrap(one) for one in value)
    return value
