"""Kernels of the tests, and where in this file their lines are."""

from pathlib import Path

import triton
import triton.language as tl


@triton.jit
def add(x, y, z, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(z + at, tl.load(x + at, at < n) + tl.load(y + at, at < n), at < n)  # line: sum


@triton.jit
def rotate(x, y, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x + at, at)  # line: write
    tl.store(y + at, tl.load(x + (at + 64) % BLOCK))  # line: read


@triton.jit
def rotate_right(x, y, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x + at, at)
    tl.debug_barrier()
    tl.store(y + at, tl.load(x + (at + 64) % BLOCK))


@triton.jit
def total(x, out, BLOCK: tl.constexpr):
    rows = tl.load(x + tl.arange(0, BLOCK))
    tl.store(out, tl.sum(rows, 0))  # line: total


@triton.jit
def gather(x, out, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out, tl.sum(tl.load(x + at), 0))


@triton.jit
def table(pointers, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.load(pointers + tl.program_id(0)).to(tl.pointer_type(tl.float32))
    tl.store(out + tl.program_id(0) * BLOCK + at, tl.load(row + at))


@triton.jit
def never(x):
    while tl.load(x, volatile=True) == 0:
        pass


@triton.jit
def copy(a, b, BM: tl.constexpr, BN: tl.constexpr):
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    b.store([m, n], a.load([m, n]))


@triton.jit
def scalars(out, i, j, h, f, t):
    tl.store(out, i + j + h.to(tl.float32) + f + t[0] * t[1])


@triton.autotune([triton.Config({"BLOCK": b}) for b in (64, 256)], key=["n"])
@triton.jit
def tuned(x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, at, at < n)


def line(name):
    """The line that says `# line: name`."""
    rows = Path(__file__).read_text().splitlines()
    return 1 + next(i for i, row in enumerate(rows) if row.endswith(f"# line: {name}"))
