"""Attention as it is served: shared key heads, windows, pages, biases, wide heads."""

import triton
import triton.language as tl


@triton.jit
def attend(q, m, l, acc, k, v, keep, bias, scale):
    """One block of keys; scores are in units of log2."""
    s = tl.where(keep, tl.dot(q, k) * scale + bias, -1.0e30)
    new = tl.maximum(m, tl.max(s, 1))
    p = tl.where(keep, tl.exp2(s - new[:, None]), 0.0)
    old = tl.exp2(m - new)
    acc = tl.dot(p.to(v.dtype), v, acc * old[:, None])
    return new, l * old + tl.sum(p, 1), acc


@triton.jit
def attention_window(q_ptr, k_ptr, v_ptr, o_ptr, N, GROUP, WINDOW, scale,
                     BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    """Causal, GROUP query heads to a key head, no further back than WINDOW, through pointers."""
    head = tl.program_id(1)
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    of_q, of_k = head * N * D, head // GROUP * N * D
    q = tl.load(q_ptr + of_q + m[:, None] * D + d[None, :], mask=m[:, None] < N, other=0.0)
    top = tl.full((BM,), -1.0e30, tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    first = tl.maximum(0, (tl.program_id(0) * BM - WINDOW) // BN * BN)
    for j in range(first, tl.minimum(N, (tl.program_id(0) + 1) * BM), BN):
        n = j + tl.arange(0, BN)
        k = tl.load(k_ptr + of_k + n[:, None] * D + d[None, :], mask=n[:, None] < N, other=0.0)
        v = tl.load(v_ptr + of_k + n[:, None] * D + d[None, :], mask=n[:, None] < N, other=0.0)
        keep = (m[:, None] >= n[None, :]) & (m[:, None] - n[None, :] < WINDOW)
        top, total, acc = attend(q, top, total, acc, k.T, v, keep, 0.0, scale)
    tl.store(o_ptr + of_q + m[:, None] * D + d[None, :], (acc / total[:, None]).to(tl.float16),
             mask=m[:, None] < N)


@triton.jit
def attention_paged(q_ptr, k_ptr, v_ptr, table_ptr, o_ptr, N, scale,
                    BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    """Keys and values in pages of BN rows, found through a table."""
    m, d = tl.arange(0, BM), tl.arange(0, D)
    q = tl.load(q_ptr + m[:, None] * D + d[None, :])
    top = tl.full((BM,), -1.0e30, tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for j in range(0, N, BN):
        row = tl.load(table_ptr + j // BN) * BN + tl.arange(0, BN)
        inside = j + tl.arange(0, BN) < N
        k = tl.load(k_ptr + row[:, None] * D + d[None, :], mask=inside[:, None], other=0.0)
        v = tl.load(v_ptr + row[:, None] * D + d[None, :], mask=inside[:, None], other=0.0)
        top, total, acc = attend(q, top, total, acc, k.T, v, inside[None, :], 0.0, scale)
    tl.store(o_ptr + m[:, None] * D + d[None, :], (acc / total[:, None]).to(tl.float16))


@triton.jit
def attention_bias(q, k, v, o, bias_ptr, N, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    """A bias for each query and key, by descriptors."""
    row = tl.program_id(0) * BM
    m, n = row + tl.arange(0, BM), tl.arange(0, BN)
    x = q.load([row, 0])
    top = tl.full((BM,), -1.0e30, tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for j in range(0, N, BN):
        inside = ((j + n) < N)[None, :]
        bias = tl.load(bias_ptr + m[:, None] * N + (j + n)[None, :], mask=inside, other=0.0).to(tl.float32)
        top, total, acc = attend(x, top, total, acc, k.load([j, 0]).T, v.load([j, 0]), inside, bias, scale)
    o.store([row, 0], (acc / total[:, None]).to(o.dtype))
