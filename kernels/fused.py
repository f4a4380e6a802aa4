"""Several products, or work around one: gated layers, chains, convolution, shared-out sums."""

import triton
import triton.language as tl


@triton.jit
def gated(a, g, u, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """C = silu(A @ G.T) * (A @ U.T): two products in a trip."""
    row, col = tl.program_id(0) * BM, tl.program_id(1) * BN
    x = tl.zeros((BM, BN), tl.float32)
    y = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        t = a.load([row, k])
        x = tl.dot(t, g.load([col, k]).T, x)
        y = tl.dot(t, u.load([col, k]).T, y)
    c.store([row, col], (x * tl.sigmoid(x) * y).to(c.dtype))


@triton.jit
def chain(a, b, d, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """C = relu(A @ B.T) @ D: what a loop has summed up is a factor behind it."""
    row = tl.program_id(0) * BM
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(a.load([row, k]), b.load([0, k]).T, acc)
    h = tl.maximum(acc, 0.0).to(d.dtype)
    c.store([row, 0], tl.dot(h, d.load([0, 0])).to(c.dtype))


@triton.jit
def both_computed(x, w, y, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Y = exp2(X) @ max(W, 0): both factors are computed in the loop."""
    row, col = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        p = tl.exp2(x.load([row, k]).to(tl.float32)).to(tl.float16)
        acc = tl.dot(p, tl.maximum(w.load([k, col]), 0.0), acc)
    y.store([row, col], acc.to(y.dtype))


@triton.jit
def conv3x3(x_ptr, w_ptr, y_ptr, H, W, C, F, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """3x3 convolution of one image, channels last, as a product: pixels by (tap, channel) by filters."""
    pixel = tl.program_id(0) * BM + tl.arange(0, BM)
    f = tl.program_id(1) * BN + tl.arange(0, BN)
    row, col = pixel // W, pixel % W
    acc = tl.zeros((BM, BN), tl.float32)
    blocks = tl.cdiv(C, BK)
    for i in range(0, 9 * blocks):
        tap = i // blocks
        c = (i % blocks) * BK + tl.arange(0, BK)
        y, x = row + tap // 3 - 1, col + tap % 3 - 1
        inside = (y >= 0) & (y < H) & (x >= 0) & (x < W) & (pixel < H * W)
        a = tl.load(x_ptr + (y * W + x)[:, None] * C + c[None, :], mask=inside[:, None] & (c < C)[None, :],
                    other=0.0)
        b = tl.load(w_ptr + (tap * C + c)[:, None] * F + f[None, :],
                    mask=(c < C)[:, None] & (f < F)[None, :], other=0.0)
        acc = tl.dot(a, b, acc)
    tl.store(y_ptr + pixel[:, None] * F + f[None, :], acc.to(tl.float16),
             mask=(pixel < H * W)[:, None] & (f < F)[None, :])


@triton.jit
def stream_k(a_ptr, b_ptr, c_ptr, M, N, K, SHARE,
             BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """C += A @ B: each program takes its share of all (tile, k) steps and adds up by atomics."""
    trips, across = tl.cdiv(K, BK), tl.cdiv(N, BN)
    at = tl.program_id(0) * SHARE
    end = min(at + SHARE, tl.cdiv(M, BM) * across * trips)
    while at < end:
        tile, first = at // trips, at % trips
        last = min(trips, first + end - at)
        m = (tile // across) * BM + tl.arange(0, BM)
        n = (tile % across) * BN + tl.arange(0, BN)
        acc = tl.zeros((BM, BN), tl.float32)
        for i in range(first, last):
            k = i * BK + tl.arange(0, BK)
            a = tl.load(a_ptr + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
            b = tl.load(b_ptr + k[:, None] * N + n[None, :], mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)
            acc = tl.dot(a, b, acc)
        tl.atomic_add(c_ptr + m[:, None] * N + n[None, :], acc, mask=(m[:, None] < M) & (n[None, :] < N))
        at += last - first


@triton.jit
def picked_tiles(a_ptr, b_ptr, c_ptr, flags, M, N, K, PROGRAMS,
                 BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """C = A @ B in the tiles that a flag asks for, the others left alone; 16-bit tiles are stored from the loop over them."""
    across = tl.cdiv(N, BN)
    for tile in range(tl.program_id(0), tl.cdiv(M, BM) * across, PROGRAMS):
        if tl.load(flags + tile) != 0:
            m = (tile // across) * BM + tl.arange(0, BM)
            n = (tile % across) * BN + tl.arange(0, BN)
            acc = tl.zeros((BM, BN), tl.float32)
            for i in range(0, tl.cdiv(K, BK)):
                k = i * BK + tl.arange(0, BK)
                a = tl.load(a_ptr + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
                b = tl.load(b_ptr + k[:, None] * N + n[None, :], mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)
                acc = tl.dot(a, b, acc)
            tl.store(c_ptr + m[:, None] * N + n[None, :], acc.to(tl.float16), mask=(m[:, None] < M) & (n[None, :] < N))
