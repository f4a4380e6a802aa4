"""GEMM kernels of the demo: D = act(alpha * A @ B.T + bias), bf16 in and out, f32 accumulator."""

import triton
import triton.language as tl


@triton.jit
def gemm(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """C[M, N] = A[M, K] @ B[N, K].T, one tile per program."""
    row = tl.program_id(0) * BM
    col = tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(a.load([row, k]), b.load([col, k]).T, acc)
    c.store([row, col], acc.to(c.dtype))


@triton.jit
def gemm_bias_relu(a, b, d, bias_ptr, alpha, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """D[M, N] = max(alpha * A[M, K] @ B[N, K].T + bias[N], 0)."""
    row = tl.program_id(0) * BM
    col = tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(a.load([row, k]), b.load([col, k]).T, acc)
    cols = col + tl.arange(0, BN)
    bias = tl.load(bias_ptr + cols, mask=cols < N, other=0.0).to(tl.float32)
    d.store([row, col], tl.maximum(acc * alpha + bias[None, :], 0.0).to(d.dtype))
