"""Sorts and the largest of rows, as Triton's standard library writes them: tiles of [2, 2, ..], exchanged along one dimension
after the other."""

import triton
import triton.language as tl


@triton.jit
def sort_rows(x_ptr, y_ptr, M, BM: tl.constexpr, BN: tl.constexpr, DESCENDING: tl.constexpr):
    """Each row sorted."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)[:, None]
    at = rows * BN + tl.arange(0, BN)[None, :]
    x = tl.load(x_ptr + at, mask=rows < M, other=0)
    tl.store(y_ptr + at, tl.sort(x, descending=DESCENDING), mask=rows < M)


@triton.jit
def sort_blocks(x_ptr, y_ptr, N, BLOCK: tl.constexpr):
    """The largest elements so far, sorted: each block is sorted and merged with them the other way round."""
    column = tl.arange(0, BLOCK)
    best = tl.full([BLOCK], -2147483648, tl.int32)
    for i in range(0, N, BLOCK):
        x = tl.load(x_ptr + i + column, mask=i + column < N, other=-2147483648)
        best = tl.sort(tl.maximum(best, tl.flip(tl.sort(x))))
    tl.store(y_ptr + column, best)


@triton.jit
def route(logits_ptr, weights_ptr, experts_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr, K: tl.constexpr):
    """Soft-max of rows, and the largest K of each with their columns, packed into one word while they are sorted."""
    column = tl.arange(0, BN)[None, :]
    row = tl.program_id(0) * BM + tl.arange(0, BM)[:, None]
    x = tl.load(logits_ptr + row * N + column, mask=(row < M) & (column < N), other=float("-inf"))
    x = tl.where(row < M, x, 0.0)
    e = tl.exp(x - tl.max(x, 1)[:, None])
    p = e / tl.sum(e, 1)[:, None]
    packed = (p.to(tl.int32, bitcast=True).to(tl.int64) << 32) | (BN - 1 - column).to(tl.int64)
    best = tl.topk(packed, K)
    out = row * K + tl.arange(0, K)[None, :]
    tl.store(weights_ptr + out, (best >> 32).to(tl.int32).to(tl.float32, bitcast=True), mask=row < M)
    tl.store(experts_ptr + out, BN - 1 - (best & 0xffffffff).to(tl.int32), mask=row < M)
