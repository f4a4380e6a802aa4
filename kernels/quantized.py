"""Products with narrow weights: dequantised in the loop, or scaled by blocks."""

import triton
import triton.language as tl


@triton.jit
def dequant_int8(a_ptr, w_ptr, s_ptr, c_ptr, M, N, K, lda, ldw, ldc,
                 BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """C[M, N] = A[M, K] @ (W[N, K] * s[N]).T through pointers: bf16 by int8, a scale for each column."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    a = a_ptr + m[:, None] * lda + k[None, :]
    w = w_ptr + n[:, None] * ldw + k[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        left = k[None, :] < K - start
        x = tl.load(a, mask=(m[:, None] < M) & left, other=0.0)
        y = tl.load(w, mask=(n[:, None] < N) & left, other=0)
        acc = tl.dot(x, y.to(tl.bfloat16).T, acc)
        a += BK
        w += BK
    acc *= tl.load(s_ptr + n, mask=n < N, other=0.0)[None, :]
    tl.store(c_ptr + m[:, None] * ldc + n[None, :], acc.to(tl.bfloat16),
             mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def dequant_fp8(a, w, s_ptr, c, K, lds, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """C = A[M, K] @ (W[K, N] * s[K / BK, N]): bf16 by fp8, a scale for each block of a column."""
    row, col = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        s = tl.load(s_ptr + (k // BK) * lds + col + tl.arange(0, BN))
        y = w.load([k, col]).to(tl.float32) * s[None, :]
        acc = tl.dot(a.load([row, k]), y.to(tl.bfloat16), acc)
    c.store([row, col], acc.to(c.dtype))


@triton.jit
def dequant_int4(a, w, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """C = A[M, K] @ W[N, K].T, two weights of 4 bits to a byte, the earlier one in the low half, less 8."""
    row, col = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        both = w.load([col, k // 2])
        low, high = both & 15, (both >> 4) & 15
        y = (tl.join(low, high).reshape(BN, BK).to(tl.int32) - 8).to(tl.bfloat16)
        acc = tl.dot(a.load([row, k]), y.T, acc)
    c.store([row, col], acc.to(c.dtype))


@triton.jit
def block_scaled(a, b, c, sa_ptr, sb_ptr, K, lds, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                 FA: tl.constexpr, FB: tl.constexpr, PB: tl.constexpr):
    """C = A @ B.T of microscaled formats: a power of two for each 32 elements along K."""
    row, col = tl.program_id(0) * BM, tl.program_id(1) * BN
    m, n, s = row + tl.arange(0, BM), col + tl.arange(0, BN), tl.arange(0, BK // 32)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        sa = tl.load(sa_ptr + m[:, None] * lds + k // 32 + s[None, :])
        sb = tl.load(sb_ptr + n[:, None] * lds + k // 32 + s[None, :])
        acc = tl.dot_scaled(a.load([row, k]), sa, FA, b.load([col, k // PB]).T, sb, FB, acc)
    c.store([row, col], acc)


@triton.jit
def block_scaled_tables(a, sa, b, sb, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, FA: tl.constexpr,
                        FB: tl.constexpr, PA: tl.constexpr, PB: tl.constexpr, V: tl.constexpr):
    """The same with scales as tensor cores read them: 512 for each 128 rows and four blocks, taken apart."""
    i, j = tl.program_id(0), tl.program_id(1)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        x = sa.load([0, i * (BM // 128), k // (4 * V), 0, 0]).reshape(BM // 128, BK // V // 4, 32, 4, 4)
        y = sb.load([0, j * (BN // 128), k // (4 * V), 0, 0]).reshape(BN // 128, BK // V // 4, 32, 4, 4)
        x = x.trans(0, 3, 2, 1, 4).reshape(BM, BK // V)
        y = y.trans(0, 3, 2, 1, 4).reshape(BN, BK // V)
        acc = tl.dot_scaled(a.load([i * BM, k // PA]), x, FA, b.load([j * BN, k // PB]).T, y, FB, acc)
    c.store([i * BM, j * BN], acc)


@triton.jit
def gemm_int8(a_ptr, b_ptr, s_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """C[M, N] = (A[M, K] @ B[K, N]) * s[N] of int8, summed up in int32."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.int32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        a = tl.load(a_ptr + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0)
        b = tl.load(b_ptr + k[:, None] * N + n[None, :], mask=(k[:, None] < K) & (n[None, :] < N), other=0)
        acc = tl.dot(a, b, acc, out_dtype=tl.int32)
    s = tl.load(s_ptr + n, mask=n < N, other=0.0)
    tl.store(c_ptr + m[:, None] * N + n[None, :], (acc.to(tl.float32) * s[None, :]).to(tl.float16),
             mask=(m[:, None] < M) & (n[None, :] < N))
