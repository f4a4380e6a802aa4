"""Kernels that `kernels` does not have: one for each corner of what Triton generates."""

import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def matmul_ws(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """C = A @ B.T with separate warps for copies and products."""
    row = tl.program_id(0) * BM
    col = tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for k in tl.range(0, K, BK, warp_specialize=True):
        acc = tl.dot(a.load([row, k]), b.load([col, k]).T, acc)
    c.store([row, col], acc.to(c.dtype))


@triton.jit
def matmul_any(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, ACC: tl.constexpr,
               PREC: tl.constexpr):
    """C = A @ B by pointers, any element and accumulator type."""
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    m, n = tl.program_id(0) * BM + m, tl.program_id(1) * BN + n
    N = tl.num_programs(1) * BN
    acc = tl.zeros((BM, BN), ACC)
    for i in range(0, K, BK):
        x = tl.load(a + m[:, None] * K + (i + k)[None, :])
        y = tl.load(b + (i + k)[:, None] * N + n[None, :])
        acc = tl.dot(x, y, acc, input_precision=PREC, out_dtype=ACC)
    tl.store(c + m[:, None] * N + n[None, :], acc.to(c.dtype.element_ty))


@triton.jit
def matmul_upcast(a, b, scale, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """A of 8-bit integers becomes bf16 in registers before the product."""
    row, col = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(a.load([row, k]).to(tl.bfloat16), b.load([k, col]), acc)
    s = tl.load(scale + row + tl.arange(0, BM))
    c.store([row, col], (acc * s[:, None]).to(c.dtype))


@triton.jit
def matmul_3d(a, b, c, B: tl.constexpr, N: tl.constexpr):
    i, j, k = tl.arange(0, B), tl.arange(0, N), tl.arange(0, N)
    at = i[:, None, None] * N * N + j[None, :, None] * N + k[None, None, :]
    tl.store(c + at, tl.dot(tl.load(a + at), tl.load(b + at)))


@triton.jit
def chained(q, k, v, o, BM: tl.constexpr, D: tl.constexpr):
    """Two products in a row through registers, with a transpose."""
    s = tl.dot(q.load([0, 0]), k.load([0, 0]).T)
    p = tl.exp2(s - tl.max(s, 1)[:, None])
    o.store([0, 0], tl.dot(p.to(q.dtype), v.load([0, 0])).to(o.dtype))


@triton.jit
def attention_backward(q, k, v, do, m_ptr, d_ptr, dq, dk, dv, L, scale, BM: tl.constexpr, BN: tl.constexpr,
                       D: tl.constexpr):
    n, d = tl.program_id(0) * BN + tl.arange(0, BN), tl.arange(0, D)
    kt = tl.load(k + n[:, None] * D + d[None, :])
    vt = tl.load(v + n[:, None] * D + d[None, :])
    gk, gv = tl.zeros((BN, D), tl.float32), tl.zeros((BN, D), tl.float32)
    for i in range(0, L, BM):
        m = i + tl.arange(0, BM)
        at = m[:, None] * D + d[None, :]
        qt, gt = tl.load(q + at), tl.load(do + at)
        p = tl.exp2(tl.dot(qt, kt.T) * scale - tl.load(m_ptr + m)[:, None])
        gv += tl.dot(p.to(q.dtype.element_ty).T, gt)
        s = p * (tl.dot(gt, vt.T) - tl.load(d_ptr + m)[:, None])
        s = s.to(q.dtype.element_ty)
        gk += tl.dot(s.T, qt)
        tl.atomic_add(dq + at, tl.dot(s, kt))
    tl.store(dk + n[:, None] * D + d[None, :], gk)
    tl.store(dv + n[:, None] * D + d[None, :], gv)


@triton.jit
def layernorm_backward(dy, x, w, mean, rstd, dx, dw, lock, count, N, BLOCK: tl.constexpr, GROUPS: tl.constexpr):
    """The tutorial's: partial sums of the weights' gradient behind a lock."""
    row, n = tl.program_id(0), tl.arange(0, BLOCK)
    mask = n < N
    xv, g = tl.load(x + row * N + n, mask, 0.0), tl.load(dy + row * N + n, mask, 0.0)
    wv, mu, rs = tl.load(w + n, mask, 0.0), tl.load(mean + row), tl.load(rstd + row)
    xh = tl.where(mask, (xv - mu) * rs, 0.0)
    wg = tl.where(mask, wv * g, 0.0)
    tl.store(dx + row * N + n, (wg - (xh * (tl.sum(xh * wg) / N) + tl.sum(wg) / N)) * rs, mask)
    group = row % GROUPS
    while tl.atomic_cas(lock + group, 0, 1) == 1:
        pass
    part = g * xh
    if tl.load(count + group) == 0:
        tl.atomic_xchg(count + group, 1)
    else:
        part += tl.load(dw + group * N + n, mask)
    tl.store(dw + group * N + n, part, mask)
    tl.debug_barrier()
    tl.atomic_xchg(lock + group, 0)


@triton.jit
def scans(x, y, z, BM: tl.constexpr, BN: tl.constexpr):
    at = tl.arange(0, BM)[:, None] * BN + tl.arange(0, BN)[None, :]
    v = tl.load(x + at)
    tl.store(y + at, tl.cumsum(v, 1) + tl.cumsum(v, 0, reverse=True))
    tl.store(z + at, tl.cumprod(1.0 + v * 0.01, 1))


@triton.jit
def sorts(x, y, t, BM: tl.constexpr, BN: tl.constexpr, K: tl.constexpr):
    at = tl.arange(0, BM)[:, None] * BN + tl.arange(0, BN)[None, :]
    v = tl.load(x + at)
    tl.store(y + at, tl.sort(v, 1) + tl.flip(tl.sort(v, 1, descending=True), 1))
    tl.store(t + tl.arange(0, BM)[:, None] * K + tl.arange(0, K)[None, :], tl.topk(v, K, 1))


@triton.jit
def histogram(x, h, total, N, BLOCK: tl.constexpr, BINS: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    counts = tl.histogram(tl.load(x + at, at < N, other=0), BINS)
    tl.atomic_add(h + tl.arange(0, BINS), counts)
    tl.atomic_add(total, tl.sum(counts))


@triton.jit
def atomics(x, f, h, b, i, l, BLOCK: tl.constexpr):
    """Many threads at one address each, every type and operation."""
    n = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v, j = tl.load(x + n), tl.load(x + n).to(tl.int32)
    tl.atomic_add(f + n % 7, v, sem="relaxed")
    tl.atomic_max(f + 8 + n % 7, v)
    tl.atomic_min(f + 16 + n % 7, v, sem="release", scope="sys")
    tl.atomic_add(h + n % BLOCK, v.to(tl.float16))
    tl.atomic_add(b + n % BLOCK, v.to(tl.bfloat16), mask=n % 3 > 0)
    tl.atomic_add(i + n % 5, j)
    tl.atomic_max(i + 8 + n % 5, j)
    tl.atomic_min(i + 16 + n % 5, j)
    tl.atomic_or(i + 24 + n % 5, j)
    tl.atomic_and(i + 32 + n % 5, j)
    tl.atomic_xor(i + 40 + n % 5, j)
    tl.atomic_max(i.to(tl.pointer_type(tl.uint32)) + 48 + n % 5, j.to(tl.uint32))
    tl.atomic_add(l + n % 5, j.to(tl.int64))
    tl.atomic_max(l + 8 + n % 5, j.to(tl.int64))
    tl.atomic_xchg(l + 16 + n, j.to(tl.int64))


@triton.jit
def random(y, z, seed, N, BLOCK: tl.constexpr):
    n = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + n, tl.rand(seed, n), n < N)
    tl.store(z + n, tl.randint(seed, n), n < N)


@triton.jit
def normal(y, seed, BLOCK: tl.constexpr):
    n = tl.arange(0, BLOCK)
    a, b, c, d = tl.randn4x(seed, n)
    tl.store(y + n, a + b + c + d)


@triton.jit
def extremes(x, hi, lo, at_hi, at_lo, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.arange(0, BM)
    v = tl.load(x + m[:, None] * BN + tl.arange(0, BN)[None, :])
    a, i = tl.max(v, 1, return_indices=True)
    b, j = tl.min(v, 1, return_indices=True, return_indices_tie_break_left=False)
    tl.store(hi + m, a)
    tl.store(lo + m, b)
    tl.store(at_hi + m, i)
    tl.store(at_lo + m, tl.argmin(v, 1))


@triton.jit
def welford(ma, va, na, mb, vb, nb):
    n = na + nb
    d = mb - ma
    return ma + d * (nb / n), va + vb + d * d * (na * nb / n), n


@triton.jit
def variance(x, mean, var, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.arange(0, BM)
    v = tl.load(x + m[:, None] * BN + tl.arange(0, BN)[None, :])
    one = tl.full((BM, BN), 1.0, tl.float32)
    a, s, n = tl.reduce((v, v * 0.0, one), 1, welford)
    tl.store(mean + m, a)
    tl.store(var + m, s / n)


@triton.jit
def integers(a, b, y, z, BLOCK: tl.constexpr):
    n = tl.arange(0, BLOCK)
    p, q = tl.load(a + n), tl.load(b + n)
    y0 = p // q + p % q + (p & q) * 3 + (p ^ (q << 2)) + (p >> 1) + tl.minimum(p, q) + tl.maximum(p, -q) + tl.abs(p)
    y0 += tl.cdiv(p, q) + (p.to(tl.uint32, bitcast=True) // 7).to(tl.int32)
    y0 += (p.to(tl.int8) * q.to(tl.int8)).to(tl.int32) + (p.to(tl.int16) // 3).to(tl.int32) + (p.to(tl.uint8) >> 1)
    y0 += libdevice.popc(p) + libdevice.clz(p) + libdevice.ffs(p) + libdevice.brev(p) + libdevice.byte_perm(p, q, 0x5140)
    tl.store(y + n, y0)
    w, v = p.to(tl.int64) * 1000003, q.to(tl.int64)
    tl.store(z + n, w // v + w % v + (w * w >> 3) + (w ^ v) + tl.umulhi(w.to(tl.uint64), v.to(tl.uint64)).to(tl.int64))


@triton.jit
def functions(x, y, BLOCK: tl.constexpr):
    n = tl.arange(0, BLOCK)
    v = tl.load(x + n)
    w = tl.abs(v) + 0.5
    tl.store(y + n, libdevice.exp(v))
    tl.store(y + BLOCK + n, libdevice.sin(v * 100000.0))
    tl.store(y + 2 * BLOCK + n, libdevice.pow(w, v))
    tl.store(y + 3 * BLOCK + n, libdevice.erf(v))
    tl.store(y + 4 * BLOCK + n, libdevice.tanh(v))
    tl.store(y + 5 * BLOCK + n, libdevice.log1p(w))
    tl.store(y + 6 * BLOCK + n, libdevice.atan2(v, w))
    tl.store(y + 7 * BLOCK + n, libdevice.fmod(v * 10, w))
    tl.store(y + 8 * BLOCK + n, libdevice.expm1(v) + libdevice.cbrt(w) + libdevice.lgamma(w))
    tl.store(y + 9 * BLOCK + n, libdevice.rint(v * 3) + libdevice.trunc(v * 5) + tl.floor(v * 7) + tl.ceil(v * 9))
    tl.store(y + 10 * BLOCK + n, tl.exp(v) + tl.log(w) + tl.rsqrt(w) + tl.sigmoid(v) + tl.erf(v) + tl.cos(v))
    tl.store(y + 11 * BLOCK + n, libdevice.hypot(v, w) + libdevice.copysign(w, v) + libdevice.fdim(v, w))
    tl.store(y + 12 * BLOCK + n, libdevice.div_rz(v, w) + libdevice.add_rd(v, w) + libdevice.mul_ru(v, w))
    tl.store(y + 13 * BLOCK + n, libdevice.j0(v) + libdevice.sinh(v) + libdevice.acos(v) + libdevice.tan(v))


@triton.jit
def doubles(x, y, BLOCK: tl.constexpr):
    n = tl.arange(0, BLOCK)
    v = tl.load(x + n)
    w = tl.abs(v) + 0.5
    tl.store(y + n, libdevice.exp(v) + libdevice.log(w) + tl.sqrt(w) + v / w + libdevice.erf(v))
    tl.store(y + BLOCK + n, tl.sum(v, 0) + tl.max(v, 0) - tl.min(w, 0) + libdevice.tanh(v) + libdevice.rsqrt(w))
    tl.store(y + 2 * BLOCK + n, v.to(tl.float32).to(tl.float64) + (v * 100).to(tl.int64).to(tl.float64))


@triton.jit
def conversions(x, y, BLOCK: tl.constexpr):
    n = tl.arange(0, BLOCK)
    v = tl.load(x + n)
    e4, e5 = v.to(tl.float8e4nv), v.to(tl.float8e5)
    tl.store(y + n, e4.to(tl.float32) + e5.to(tl.float32))
    tl.store(y + BLOCK + n, e4.to(tl.bfloat16).to(tl.float32) + e5.to(tl.float16).to(tl.float32))
    tl.store(y + 2 * BLOCK + n, v.to(tl.float16).to(tl.float8e4nv).to(tl.float16).to(tl.float32))
    tl.store(y + 3 * BLOCK + n, v.to(tl.bfloat16).to(tl.float8e5).to(tl.bfloat16).to(tl.float32))
    tl.store(y + 4 * BLOCK + n, v.to(tl.float16, fp_downcast_rounding="rtz").to(tl.float32) +
             v.to(tl.bfloat16, fp_downcast_rounding="rtz").to(tl.float32))
    i = (v * 50).to(tl.int8)
    tl.store(y + 5 * BLOCK + n, i.to(tl.float16).to(tl.float32) + i.to(tl.bfloat16).to(tl.float32))
    tl.store(y + 6 * BLOCK + n, (v > 0).to(tl.float32) + (v * 1000).to(tl.int16).to(tl.float32) +
             (tl.abs(v) * 50).to(tl.uint8).to(tl.float32) + (v * 1e6).to(tl.int64).to(tl.float32))


@triton.jit
def conversions_e5(x, y, BLOCK: tl.constexpr):
    """Eight bits without hardware conversions of e4m3."""
    n = tl.arange(0, BLOCK)
    v = tl.load(x + n)
    e5 = v.to(tl.float8e5)
    tl.store(y + n, e5.to(tl.float32))
    tl.store(y + BLOCK + n, v.to(tl.float16).to(tl.float8e5).to(tl.float16).to(tl.float32))
    tl.store(y + 2 * BLOCK + n, v.to(tl.bfloat16).to(tl.float32) + v.to(tl.float16).to(tl.float32))
    i = (v * 50).to(tl.int8)
    tl.store(y + 3 * BLOCK + n, i.to(tl.float16).to(tl.float32) + i.to(tl.bfloat16).to(tl.float32))


@triton.jit
def halves(x, y, DT: tl.constexpr, BLOCK: tl.constexpr):
    n = tl.arange(0, BLOCK)
    v = tl.load(x + n)
    a, b = v.to(DT), (v * 0.5 + 0.25).to(DT)
    tl.store(y + n, (a * b + a).to(tl.float32))
    tl.store(y + BLOCK + n, (tl.maximum(a, b) - tl.minimum(a, b) + tl.abs(a)).to(tl.float32))
    tl.store(y + 2 * BLOCK + n, tl.where(a < b, -a, b).to(tl.float32))
    tl.store(y + 3 * BLOCK + n, tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL).to(tl.float32))
    tl.store(y + 4 * BLOCK + n, tl.sum(a, 0).to(tl.float32) + (a - b).to(tl.float32))


@triton.jit
def permutes(x, y, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    b, m, n = tl.arange(0, B), tl.arange(0, M), tl.arange(0, N)
    v = tl.load(x + b[:, None, None] * M * N + m[None, :, None] * N + n[None, None, :])
    t = tl.permute(v, (2, 0, 1))
    at = n[:, None, None] * B * M + b[None, :, None] * M + m[None, None, :]
    tl.store(y + at, t)


@triton.jit
def gathers(x, index, y, BM: tl.constexpr, BN: tl.constexpr):
    at = tl.arange(0, BM)[:, None] * BN + tl.arange(0, BN)[None, :]
    v, i = tl.load(x + at), tl.load(index + at)
    tl.store(y + at, tl.gather(v, i % BN, 1) + tl.gather(v, i % BM, 0))


@triton.jit
def search(x, y, steps, N, BLOCK: tl.constexpr):
    """A loop that ends by data: Collatz lengths, and a loop with a break."""
    n = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + n, n < N, 1)
    count = tl.zeros((BLOCK, ), tl.int32)
    while tl.max(v) > 1:
        more = v > 1
        v = tl.where(more, tl.where(v % 2 == 0, v // 2, 3 * v + 1), v)
        count += more.to(tl.int32)
    tl.store(y + n, count, n < N)
    s = tl.load(x)
    i = 0
    while s > 1 and i < 1000:
        s = s // 2
        i += 1
    tl.store(steps, i)


@triton.jit
def cross_entropy(x, target, loss, dx, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    t = tl.load(target + row)
    m, s = -float("inf"), 0.0
    for i in range(0, N, BLOCK):
        n = i + tl.arange(0, BLOCK)
        v = tl.load(x + row * N + n, n < N, -float("inf")).to(tl.float32)
        new = tl.maximum(m, tl.max(v))
        s = s * tl.exp(m - new) + tl.sum(tl.exp(v - new))
        m = new
    tl.store(loss + row, m + tl.log(s) - tl.load(x + row * N + t).to(tl.float32))
    for i in range(0, N, BLOCK):
        n = i + tl.arange(0, BLOCK)
        v = tl.load(x + row * N + n, n < N, -float("inf")).to(tl.float32)
        g = tl.exp(v - m) / s
        tl.store(dx + row * N + n, tl.where(n == t, g - 1.0, g), n < N)


@triton.jit
def rope(x, cos, sin, y, D: tl.constexpr):
    row, d = tl.program_id(0), tl.arange(0, D // 2)
    a = tl.load(x + row * D + d).to(tl.float32)
    b = tl.load(x + row * D + D // 2 + d).to(tl.float32)
    c, s = tl.load(cos + row * (D // 2) + d), tl.load(sin + row * (D // 2) + d)
    tl.store(y + row * D + d, (a * c - b * s).to(y.dtype.element_ty))
    tl.store(y + row * D + D // 2 + d, (b * c + a * s).to(y.dtype.element_ty))


@triton.jit
def tensors_3d(x, y, z):
    """Boxes of rank 3 by TMA, and a reduction by TMA."""
    t = x.load([0, 8, 0])
    y.store([0, 0, 16], t)
    z.atomic_add([0, 0], tl.sum(t, 0).to(z.dtype))


@triton.jit
def cluster_reduce(x, y, BM: tl.constexpr, BN: tl.constexpr):
    """Sums over a tile that is spread over the CTAs of a cluster."""
    at = tl.arange(0, BM)[:, None] * BN + tl.arange(0, BN)[None, :]
    v = tl.load(x + at)
    tl.store(y + tl.arange(0, BM), tl.sum(v, 1) + tl.max(v, 1))
    tl.store(y + BM + tl.arange(0, BN), tl.sum(v, 0))


@triton.jit
def attention_ws(q, k, v, o, L, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    row = tl.program_id(0) * BM
    m = tl.full((BM, ), -float("inf"), tl.float32)
    s = tl.zeros((BM, ), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    qt = q.load([row, 0])
    for n in tl.range(0, L, BN, warp_specialize=True):
        qk = tl.dot(qt, k.load([n, 0]).T) * scale
        new = tl.maximum(m, tl.max(qk, 1))
        p = tl.exp2(qk - new[:, None])
        alpha = tl.exp2(m - new)
        s = s * alpha + tl.sum(p, 1)
        acc = tl.dot(p.to(q.dtype), v.load([n, 0]), acc * alpha[:, None])
        m = new
    o.store([row, 0], (acc / s[:, None]).to(o.dtype))


@triton.jit
def assembler(x, y, BLOCK: tl.constexpr):
    n = tl.arange(0, BLOCK)
    v = tl.load(x + n)
    w = tl.inline_asm_elementwise(
        """{ .reg .pred p; .reg .b32 t<2>; shf.l.wrap.b32 t0, $1, $1, 7; lop3.b32 t1, t0, $1, 0xff00ff, 0x96;
        setp.lt.s32 p, t1, 0; @p neg.s32 t1, t1; bfi.b32 $0, t1, t0, 4, 9; }""", "=r,r", [v], dtype=tl.int32,
        is_pure=True, pack=1)
    tl.store(y + n, w)
