"""Inputs and expected outputs of the kernels in triton_kernels.py."""

import numpy as np
from triton_values import TOL, Case, Values, out, rand, rng

SMALL = dict(BM=128, BN=128, BK=64)
# The third product of this one still reads a slot when the copies of the next step but one overwrite it: no
# wgmma.wait_group stands between them (`wait_group 3` keeps three). The emulator is right to say so.
FINDINGS = {"attention_backward.sm_90a": "R01"}
# Lanes that hold copies of one result store it together, and its halves were merged in different orders: they differ in the
# last bit.
FINDINGS.update({f"variance.{chip}": "R01" for chip in ("sm_80", "sm_90a", "sm_100a")})
OPTIONS = {"cluster_reduce": dict(num_ctas=2), "tensors_3d": dict(num_warps=4)}


def k(name, types, **values):
    return "triton_kernels", name, types.split(), values


def any_matmul(types, acc, prec="tf32", **tile):
    import triton.language as tl
    return k("matmul_any", types + " i32", ACC=getattr(tl, acc), PREC=prec, **tile)


def make_cases():
    import triton.language as tl
    sort = dict(BM=4, BN=64, K=8)
    found = {
        "matmul_ws": k("matmul_ws", "d:bf16[128,64] d:bf16[128,64] d:bf16[128,128] i32", **SMALL),
        "any_s8": any_matmul("*i8:16 *i8:16 *i32:16", "int32", BM=64, BN=64, BK=64),
        "any_f64": any_matmul("*fp64:16 *fp64:16 *fp64:16", "float64", BM=32, BN=32, BK=16),
        "any_f16_f16": any_matmul("*fp16:16 *fp16:16 *fp16:16", "float16", BM=64, BN=64, BK=32),
        "any_f16_small": any_matmul("*fp16:16 *fp16:16 *fp32:16", "float32", BM=16, BN=16, BK=16),
        "any_bf16_thin": any_matmul("*bf16:16 *bf16:16 *fp32:16", "float32", BM=16, BN=128, BK=64),
        "any_tf32": any_matmul("*fp32:16 *fp32:16 *fp32:16", "float32", BM=64, BN=64, BK=32),
        "any_tf32x3": any_matmul("*fp32:16 *fp32:16 *fp32:16", "float32", "tf32x3", BM=64, BN=64, BK=32),
        "any_bf16x6": any_matmul("*fp32:16 *fp32:16 *fp32:16", "float32", "bf16x6", BM=64, BN=64, BK=32),
        "any_ieee": any_matmul("*fp32:16 *fp32:16 *fp32:16", "float32", "ieee", BM=32, BN=32, BK=16),
        "any_e4m3": any_matmul("*fp8e4nv:16 *fp8e4nv:16 *fp32:16", "float32", BM=64, BN=64, BK=64),
        "any_e5m2": any_matmul("*fp8e5:16 *fp8e5:16 *fp32:16", "float32", BM=128, BN=64, BK=64),
        "upcast": k("matmul_upcast", "d:i8[128,64] d:bf16[64,128] *fp32:16 d:bf16[128,128] i32", **SMALL),
        "dot_3d": k("matmul_3d", "*fp16:16 *fp16:16 *fp32:16", B=4, N=32),
        "chained": k("chained", "d:fp16[64,64] d:fp16[64,64] d:fp16[64,64] d:fp16[64,64]", BM=64, D=64),
        "attention_backward": k("attention_backward", "*fp16:16 *fp16:16 *fp16:16 *fp16:16 *fp32:16 *fp32:16 *fp32:16 "
                                "*fp32:16 *fp32:16 i32 fp32", BM=32, BN=64, D=64),
        "layernorm_backward": k("layernorm_backward", "*fp32:16 *fp32:16 *fp32:16 *fp32:16 *fp32:16 *fp32:16 "
                                "*fp32:16 *i32:16 *i32:16 i32", BLOCK=256, GROUPS=2),
        "scans": k("scans", "*fp32:16 *fp32:16 *fp32:16", BM=16, BN=64),
        "sorts": k("sorts", "*fp32:16 *fp32:16 *fp32:16", **sort),
        "sorts_int": k("sorts", "*i32:16 *i32:16 *i32:16", **sort),
        "histogram": k("histogram", "*i32:16 *i32:16 *i32:16 i32", BLOCK=512, BINS=32),
        "atomics": k("atomics", "*fp32:16 *fp32:16 *fp16:16 *bf16:16 *i32:16 *i64:16", BLOCK=128),
        "random": k("random", "*fp32:16 *i32:16 i32 i32", BLOCK=256),
        "normal": k("normal", "*fp32:16 i32", BLOCK=256),
        "extremes": k("extremes", "*fp32:16 *fp32:16 *fp32:16 *i32:16 *i32:16", BM=16, BN=128),
        "variance": k("variance", "*fp32:16 *fp32:16 *fp32:16", BM=16, BN=128),
        "integers": k("integers", "*i32:16 *i32:16 *i32:16 *i64:16", BLOCK=256),
        "functions": k("functions", "*fp32:16 *fp32:16", BLOCK=256),
        "doubles": k("doubles", "*fp64:16 *fp64:16", BLOCK=256),
        "conversions": k("conversions", "*fp32:16 *fp32:16", BLOCK=256),
        "conversions_e5": k("conversions_e5", "*fp32:16 *fp32:16", BLOCK=256),
        "halves_f16": k("halves", "*fp32:16 *fp32:16", DT=tl.float16, BLOCK=256),
        "halves_bf16": k("halves", "*fp32:16 *fp32:16", DT=tl.bfloat16, BLOCK=256),
        "permutes": k("permutes", "*fp16:16 *fp16:16", B=4, M=16, N=32),
        "permutes_8": k("permutes", "*i8:16 *i8:16", B=4, M=32, N=64),
        "gathers": k("gathers", "*fp32:16 *i32:16 *fp32:16", BM=16, BN=64),
        "search": k("search", "*i32:16 *i32:16 *i32:16 i32", BLOCK=128),
        "cross_entropy": k("cross_entropy", "*bf16:16 *i32:16 *fp32:16 *fp32:16 i32", BLOCK=256),
        "rope": k("rope", "*bf16:16 *fp32:16 *fp32:16 *bf16:16", D=128),
        "tensors_3d": k("tensors_3d", "d:fp16[2,8,64] d:fp16[2,8,64] d:fp32[8,64]"),
        "cluster_reduce": k("cluster_reduce", "*fp32:16 *fp32:16", BM=64, BN=64),
        "attention_ws": k("attention_ws", "d:fp16[128,64] d:fp16[64,64] d:fp16[64,64] d:fp16[128,64] i32 fp32",
                          BM=128, BN=64, D=64),
        "assembler": k("assembler", "*i32:16 *i32:16", BLOCK=128),
    }
    return found


CASES = make_cases()


def product(a, o, acc_tol=None, b=None, grid=(2, 1), **tile):
    m, n, depth = tile["BM"] * grid[0], tile["BN"] * grid[1], 3 * tile["BK"]
    if a == "i8":
        x, y = (Values(rng.integers(-128, 128, s), "i8") for s in ((m, depth), (depth, n)))
    else:
        x, y = rand((m, depth), a), rand((depth, n), b or a)
    c = Case((*grid, 1)).ptr(x).ptr(y)
    return c.ptr(out((m, n), o), out=(x.x @ y.x, acc_tol or TOL.get(o, 0.0))).num(depth)


def upcast():
    a, b, s = Values(rng.integers(-128, 128, (128, 192)), "i8"), rand((192, 128), "bf16"), rand((128, ), "fp32")
    c = Case((1, 1, 1)).desc(a).desc(b).ptr(s)
    return c.desc(out((128, 128), "bf16"), out=((a.x @ b.x) * s.x[:, None], 8e-3)).num(192)


def dot_3d():
    a, b = rand((4, 32, 32), "fp16"), rand((4, 32, 32), "fp16")
    return Case((1, 1, 1)).ptr(a).ptr(b).ptr(out((4, 32, 32), "fp32"), out=(a.x @ b.x, 2e-5))


def chained():
    q, kk, v = (rand((64, 64), "fp16", 0.5) for _ in range(3))
    s = q.x @ kk.x.T
    p = np.exp2(s - s.max(1, keepdims=True))
    return Case((1, 1, 1)).desc(q).desc(kk).desc(v).desc(out((64, 64), "fp16"), out=(p @ v.x, 2e-3))


def attention_backward():
    length, d, scale = 128, 64, np.float32(0.125 * 1.4426950408889634)
    q, kk, v, g = (rand((length, d), "fp16") for _ in range(4))
    s = q.x @ kk.x.T * float(scale)
    lse = np.log2(np.exp2(s).sum(1))
    p = np.exp2(s - lse[:, None])
    o = p @ v.x
    delta = (o * g.x).sum(1)
    ds = p * (g.x @ v.x.T - delta[:, None])
    c = Case((length // 64, 1, 1)).ptr(q).ptr(kk).ptr(v).ptr(g).ptr(Values(lse, "fp32")).ptr(Values(delta, "fp32"))
    for want in (ds @ kk.x, ds.T @ q.x, p.T @ g.x):
        c.ptr(out((length, d), "fp32"), out=(want, 4e-3))
    return c.num(length, scale)


def layernorm_backward():
    rows, n = 6, 200
    dy, x, w = rand((rows, n), "fp32"), rand((rows, n), "fp32"), rand((n, ), "fp32")
    mean, rstd = x.x.mean(1), 1 / np.sqrt(x.x.var(1) + 1e-5)
    xh = (x.x - mean[:, None]) * rstd[:, None]
    wg = w.x * dy.x
    dx = (wg - xh * (xh * wg).mean(1, keepdims=True) - wg.mean(1, keepdims=True)) * rstd[:, None]
    dw = np.stack([(dy.x * xh)[i::2].sum(0) for i in range(2)])
    c = Case((rows, 1, 1)).ptr(dy).ptr(x).ptr(w).ptr(Values(mean, "fp32")).ptr(Values(rstd, "fp32"))
    c.ptr(out((rows, n), "fp32"), out=(dx, 1e-4)).ptr(out((2, n), "fp32"), out=(dw, 1e-4))
    return c.ptr(out((2, ), "i32"), out=(np.zeros(2), 0.0)).ptr(out((2, ), "i32")).num(n)


def scans():
    x = rand((16, 64), "fp32")
    y = np.cumsum(x.x, 1) + np.cumsum(x.x[::-1], 0)[::-1]
    c = Case((1, 1, 1)).ptr(x).ptr(out((16, 64), "fp32"), out=(y, 1e-5))
    return c.ptr(out((16, 64), "fp32"), out=(np.cumprod(1 + x.x * 0.01, 1), 1e-5))


def sorts(dtype):
    x = rand((4, 64), dtype) if dtype == "fp32" else Values(rng.integers(-99, 99, (4, 64)), dtype)
    top = -np.sort(-x.x, 1)[:, :8]
    c = Case((1, 1, 1)).ptr(x).ptr(out((4, 64), dtype), out=(2 * np.sort(x.x, 1), 1e-6))
    return c.ptr(out((4, 8), dtype), out=(top, 1e-6))


def histogram():
    n = 900
    x = Values(rng.integers(0, 32, 1024), "i32")
    want = np.bincount(x.raw[:n], minlength=32)
    want[0] += 124  # what is loaded behind the end
    c = Case((2, 1, 1)).ptr(x).ptr(out((32, ), "i32"), out=(want, 0.0))
    return c.ptr(out((1, ), "i32"), out=(np.array([1024]), 0.0)).num(n)


def atomics():
    n = 256
    x = Values(rng.integers(-1000, 1000, n), "fp32")
    j = x.raw.astype(np.int64)
    f = np.zeros(24)
    i = np.zeros(56)
    l = np.zeros(16 + n)
    f0, i0 = np.zeros(24, np.float32), np.zeros(56, np.int32)
    i0[32:40] = -1
    for r in range(7):
        f[r], f[8 + r], f[16 + r] = x.x[r::7].sum(), max(0, x.x[r::7].max()), min(0, x.x[r::7].min())
    i[:] = i0
    for r in range(5):
        v = j[r::5]
        i[r], i[8 + r], i[16 + r] = v.sum(), max(0, v.max()), min(0, v.min())
        i[24 + r], i[32 + r], i[40 + r] = np.bitwise_or.reduce(v), np.bitwise_and.reduce(v), np.bitwise_xor.reduce(v)
        i[48 + r] = v.astype(np.int32).view(np.uint32).max().astype(np.int64) - (1 << 32) * (v.min() < 0)
        l[r], l[8 + r] = v.sum(), max(0, v.max())
    l[16:] = j
    h = x.x[:128] + x.x[128:]
    b = np.where(np.arange(n) % 3 > 0, x.x, 0)
    b = Values(Values(b[:128], "bf16").x + Values(b[128:], "bf16").x, "bf16").x
    c = Case((2, 1, 1)).ptr(x).ptr(Values(f0, "fp32"), out=(f, 1e-6)).ptr(out((128, ), "fp16"), out=(h, 1e-3))
    c.ptr(out((128, ), "bf16"), out=(b, 8e-3)).ptr(Values(i0, "i32"), out=(i, 0.0))
    return c.ptr(out((16 + n, ), "i64"), out=(l, 0.0))


def philox(seed, offset):
    """Philox 4x32-10 of Salmon et al. as Triton seeds it: key (seed, 0), counter (offset, 0, 0, 0)."""
    c = [offset.astype(np.uint64)] + [np.zeros_like(offset, np.uint64)] * 3
    key = [np.uint64(seed), np.uint64(0)]
    low = np.uint64(0xffffffff)
    for _ in range(10):
        a, b = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [(b >> np.uint64(32)) ^ c[1] ^ key[0], b & low, (a >> np.uint64(32)) ^ c[3] ^ key[1], a & low]
        key = [(key[0] + np.uint64(0x9E3779B9)) & low, (key[1] + np.uint64(0xBB67AE85)) & low]
    return [x.astype(np.uint32) for x in c]


def uniform(bits):
    i = bits.view(np.int32).astype(np.int64)
    return np.where(i < 0, -i - 1, i) * 4.6566127342e-10


def random():
    n = 400
    bits = philox(1234, np.arange(512))[0]
    y, z = np.zeros(512), np.zeros(512)
    y[:n], z[:n] = uniform(bits)[:n], bits.view(np.int32)[:n]
    c = Case((2, 1, 1)).ptr(out((512, ), "fp32"), out=(y, 1e-6)).ptr(out((512, ), "i32"), out=(z, 1e-9))
    return c.num(1234, n)


def normal():
    a, b, c, d = (uniform(v) for v in philox(99, np.arange(256)))

    def pair(u, v):
        r = np.sqrt(-2 * np.log(np.maximum(u, 1e-7)))
        return r * np.cos(2 * np.pi * v) + r * np.sin(2 * np.pi * v)

    want = pair(a, b) + pair(c, d)
    return Case((1, 1, 1)).ptr(out((256, ), "fp32"), out=(want, 1e-5)).num(99)


def extremes():
    x = Values(rng.integers(-9, 9, (16, 128)), "fp32")
    c = Case((1, 1, 1)).ptr(x).ptr(out((16, ), "fp32"), out=(x.x.max(1), 0.0))
    c.ptr(out((16, ), "fp32"), out=(x.x.min(1), 0.0)).ptr(out((16, ), "i32"), out=(x.x.argmax(1), 0.0))
    return c.ptr(out((16, ), "i32"), out=(x.x.argmin(1), 0.0))


def variance():
    x = rand((16, 128), "fp32")
    c = Case((1, 1, 1)).ptr(x).ptr(out((16, ), "fp32"), out=(x.x.mean(1), 1e-5))
    return c.ptr(out((16, ), "fp32"), out=(x.x.var(1), 1e-5))


def reverse_bits(v):
    return np.array([int(f"{x:032b}"[::-1], 2) for x in v.view(np.uint32)], np.uint32).view(np.int32)


def integers():
    n = 256
    p = Values(rng.integers(-2**20, 2**20, n), "i32")
    q = Values(rng.integers(1, 1000, n) * rng.choice([-1, 1], n), "i32")
    a, b = p.raw.astype(np.int64), q.raw.astype(np.int64)

    def div(x, y):
        return np.sign(x) * np.sign(y) * (np.abs(x) // np.abs(y))

    def low(x, t):
        return x.astype(np.int64).astype(t).astype(np.int64)

    y = div(a, b) + (a - div(a, b) * b) + (a & b) * 3 + (a ^ low(b << 2, np.int32)) + (a >> 1)
    y = y + np.minimum(a, b) + np.maximum(a, -b) + np.abs(a) + div(a + b - 1, b) + low(a, np.uint32) // 7
    y = y + low(low(a, np.int8) * low(b, np.int8), np.int8) + div(low(a, np.int16), np.int64(3)) + (low(a, np.uint8) >> 1)
    u = p.raw.view(np.uint32)
    bits = np.array([bin(x).count("1") for x in u])
    clz = np.array([32 - int(x).bit_length() for x in u])
    ffs = np.array([(int(x) & -int(x)).bit_length() for x in u])
    byte = lambda x, i: (low(x, np.uint32) >> (8 * i)) & 255
    perm = byte(a, 0) | byte(b, 0) << 8 | byte(a, 1) << 16 | byte(b, 1) << 24
    y = y + bits + clz + ffs + reverse_bits(p.raw) + perm
    w = a * 1000003
    z = []
    for x, v in zip(w.tolist(), b.tolist()):
        quotient = abs(x) // abs(v) * (1 if (x < 0) == (v < 0) else -1)
        square = (x * x + 2**63) % 2**64 - 2**63
        high = (x % 2**64) * (v % 2**64) >> 64
        z.append((quotient + x - quotient * v + (square >> 3) + (x ^ v) + high + 2**63) % 2**64 - 2**63)
    c = Case((1, 1, 1)).ptr(p).ptr(q).ptr(out((n, ), "i32"), out=(low(y, np.int32), 1e-9))
    return c.ptr(out((n, ), "i64"), out=(np.array(z, np.float64), 1e-6))


def toward_zero(x):
    y = x.astype(np.float32)
    return np.where(np.abs(y.astype(np.float64)) > np.abs(x), np.nextafter(y, np.float32(0)), y).astype(np.float64)


def functions():
    from math import atan2, erf, expm1, lgamma
    n = 256
    x = rand((n, ), "fp32", 2.0)
    v = x.x
    w = (np.abs(x.raw) + np.float32(0.5)).astype(np.float64)
    each = lambda f, *a: np.array([f(*t) for t in zip(*(b.tolist() for b in a))])
    big = (x.raw * np.float32(100000)).astype(np.float64)
    j0 = [np.cos(t * np.sin((np.arange(2000) + 0.5) * np.pi / 2000)).mean() for t in v]
    rows = [
        np.exp(v), np.sin(big), w**v, each(erf, v), np.tanh(v), np.log1p(w), each(atan2, v, w),
        np.fmod((x.raw * np.float32(10)).astype(np.float64), w), each(expm1, v) + np.cbrt(w) + each(lgamma, w),
        np.rint((x.raw * np.float32(3))) + np.trunc(x.raw * np.float32(5)) + np.floor(x.raw * np.float32(7)) +
        np.ceil(x.raw * np.float32(9)),
        np.exp(v) + np.log(w) + 1 / np.sqrt(w) + 1 / (1 + np.exp(-v)) + each(erf, v) + np.cos(v),
        np.hypot(v, w) + np.copysign(w, v) + np.maximum(v - w, 0), v / w + (v + w) + v * w,
        np.array(j0) + np.sinh(v) + np.where(np.abs(v) <= 1, np.arccos(np.clip(v, -1, 1)), np.nan) + np.tan(v)
    ]
    want = np.concatenate(rows)
    return Case((1, 1, 1)).ptr(x).ptr(out((14 * n, ), "fp32"), out=(want, 1e-6))


def doubles():
    n = 256
    x = rand((n, ), "fp64", 2.0)
    v = x.raw
    w = np.abs(v) + 0.5
    from math import erf
    rows = [np.exp(v) + np.log(w) + np.sqrt(w) + v / w + np.array([erf(t) for t in v]),
            v.sum() + v.max() - w.min() + np.tanh(v) + 1 / np.sqrt(w),
            v.astype(np.float32).astype(np.float64) + np.trunc(v * 100)]
    return Case((1, 1, 1)).ptr(x).ptr(out((3 * n, ), "fp64"), out=(np.concatenate(rows), 1e-7))


def truncated(x, bits):
    return (x.view(np.uint32) >> np.uint32(bits) << np.uint32(bits)).view(np.float32).astype(np.float64)


def conversions():
    x = rand((256, ), "fp32", 2.0)
    r = x.raw
    to = lambda t, v=x.x: Values(v, t).x
    i = np.trunc(r * np.float32(50)).astype(np.int8).astype(np.float64)
    rows = [to("fp8e4nv") + to("fp8e5"), to("fp8e4nv") + to("fp8e5"), to("fp8e4nv", to("fp16")), to("fp8e5", to("bf16")),
            truncated(r, 13) + truncated(r, 16), 2 * i,
            (r > 0) + np.trunc(r * np.float32(1000)) + np.trunc(np.abs(r) * np.float32(50)) + np.trunc(
                r * np.float32(1e6))]
    return Case((1, 1, 1)).ptr(x).ptr(out((7 * 256, ), "fp32"), out=(np.concatenate(rows), 1e-6))


def conversions_e5():
    x = rand((256, ), "fp32", 2.0)
    to = lambda t, v=x.x: Values(v, t).x
    i = np.trunc(x.raw * np.float32(50)).astype(np.int8).astype(np.float64)
    rows = [to("fp8e5"), to("fp8e5", to("fp16")), to("bf16") + to("fp16"), 2 * i]
    return Case((1, 1, 1)).ptr(x).ptr(out((4 * 256, ), "fp32"), out=(np.concatenate(rows), 1e-6))


def halves(dtype):
    x = rand((256, ), "fp32", 2.0)
    to = lambda v: Values(v, dtype).x
    a, b = to(x.x), to((x.raw * np.float32(0.5) + np.float32(0.25)).astype(np.float64))
    # The sum of 256 is rounded eight times on its way, each time by half a unit of the last place.
    rows = [a * b + a, np.maximum(a, b) - np.minimum(a, b) + np.abs(a), np.where(a < b, -a, b), np.maximum(a, b),
            a.sum() + a - b]
    return Case((1, 1, 1)).ptr(x).ptr(out((5 * 256, ), "fp32"), out=(np.concatenate(rows), 2e-2 if dtype == "bf16" else 6e-3))


def permutes(dtype, b, m, n):
    x = rand((b, m, n), dtype) if dtype == "fp16" else Values(rng.integers(-99, 99, (b, m, n)), dtype)
    return Case((1, 1, 1)).ptr(x).ptr(out((n, b, m), dtype), out=(x.x.transpose(2, 0, 1), 0.0))


def gathers():
    x, i = rand((16, 64), "fp32"), Values(rng.integers(0, 1000, (16, 64)), "i32")
    y = np.take_along_axis(x.x, i.raw % 64, 1) + np.take_along_axis(x.x, i.raw % 16, 0)
    return Case((1, 1, 1)).ptr(x).ptr(i).ptr(out((16, 64), "fp32"), out=(y, 1e-6))


def search():
    n = 200
    x = Values(rng.integers(1, 300, 256), "i32")
    want = np.zeros(256)
    for at, v in enumerate(x.raw[:n].tolist()):
        while v > 1:
            v, want[at] = (v // 2 if v % 2 == 0 else 3 * v + 1), want[at] + 1
    steps = int(x.raw[0]).bit_length() - 1
    c = Case((2, 1, 1)).ptr(x).ptr(out((256, ), "i32"), out=(want, 0.0))
    return c.ptr(out((1, ), "i32"), out=(np.array([steps]), 0.0)).num(n)


def cross_entropy():
    rows, n = 3, 1000
    x, t = rand((rows, n), "bf16", 4.0), Values(rng.integers(0, n, rows), "i32")
    e = np.exp(x.x - x.x.max(1, keepdims=True))
    p = e / e.sum(1, keepdims=True)
    at = np.arange(rows)
    loss = -np.log(p[at, t.raw])
    p[at, t.raw] -= 1
    c = Case((rows, 1, 1)).ptr(x).ptr(t).ptr(out((rows, ), "fp32"), out=(loss, 1e-5))
    return c.ptr(out((rows, n), "fp32"), out=(p, 1e-5)).num(n)


def rope():
    x, c, s = rand((4, 128), "bf16"), rand((4, 64), "fp32"), rand((4, 64), "fp32")
    a, b = x.x[:, :64], x.x[:, 64:]
    y = np.concatenate([a * c.x - b * s.x, b * c.x + a * s.x], 1)
    return Case((4, 1, 1)).ptr(x).ptr(c).ptr(s).ptr(out((4, 128), "bf16"), out=(y, 8e-3))


def tensors_3d():
    x, z = rand((2, 24, 64), "fp16"), rand((8, 64), "fp32")
    box = x.x[:2, 8:16, :64]
    y = np.zeros((2, 16, 80))
    y[:2, :8, 16:80] = box
    c = Case((1, 1, 1)).desc(x).desc(out((2, 16, 80), "fp16"), out=(y, 0.0))
    return c.desc(z, out=(z.x + Values(box.sum(0), "fp16").x, 1e-6))


def cluster_reduce():
    x = rand((64, 64), "fp32")
    want = np.concatenate([x.x.sum(1) + x.x.max(1), x.x.sum(0)])
    return Case((1, 1, 1)).ptr(x).ptr(out((128, ), "fp32"), out=(want, 1e-5))


def attention_ws():
    length, d, scale = 256, 64, np.float32(0.125 * 1.4426950408889634)
    q, kk, v = (rand((length, d), "fp16") for _ in range(3))
    s = q.x @ kk.x.T * float(scale)
    p = np.exp2(s - s.max(1, keepdims=True))
    c = Case((length // 128, 1, 1)).desc(q).desc(kk).desc(v)
    return c.desc(out((length, d), "fp16"), out=(p @ v.x / p.sum(1, keepdims=True), 2e-3)).num(length, scale)


def assembler():
    v = Values(rng.integers(-2**31, 2**31, 128), "i32")
    u = v.raw.view(np.uint32).astype(np.int64)
    t0 = ((u << 7) | (u >> 25)) & 0xffffffff
    t1 = t0 ^ u ^ 0xff00ff
    t1 = np.where(t1 >= 2**31, 2**32 - t1, t1)
    mask = 511 << 4
    y = ((t0 & ~mask) | ((t1 << 4) & mask)) & 0xffffffff
    want = y.astype(np.uint32).view(np.int32)
    return Case((1, 1, 1)).ptr(v).ptr(out((128, ), "i32"), out=(want, 1e-9))


def cases():
    bf, f8 = dict(BM=16, BN=128, BK=64), dict(BM=64, BN=64, BK=64)
    f32 = dict(BM=64, BN=64, BK=32)
    return {
        "any_s8": lambda: product("i8", "i32", **f8),
        "any_f64": lambda: product("fp64", "fp64", 1e-7, BM=32, BN=32, BK=16),
        "any_f16_f16": lambda: product("fp16", "fp16", 6e-3, BM=64, BN=64, BK=32),
        "any_f16_small": lambda: product("fp16", "fp32", BM=16, BN=16, BK=16),
        "any_bf16_thin": lambda: product("bf16", "fp32", **bf),
        "any_tf32": lambda: product("fp32", "fp32", 2e-3, **f32),
        "any_tf32x3": lambda: product("fp32", "fp32", **f32),
        "any_bf16x6": lambda: product("fp32", "fp32", **f32),
        "any_ieee": lambda: product("fp32", "fp32", BM=32, BN=32, BK=16),
        "any_e4m3": lambda: product("fp8e4nv", "fp32", **f8),
        "any_e5m2": lambda: product("fp8e5", "fp32", BM=128, BN=64, BK=64),
        "upcast": upcast,
        "dot_3d": dot_3d,
        "chained": chained,
        "attention_backward": attention_backward,
        "layernorm_backward": layernorm_backward,
        "scans": scans,
        "sorts": lambda: sorts("fp32"),
        "sorts_int": lambda: sorts("i32"),
        "histogram": histogram,
        "atomics": atomics,
        "random": random,
        "normal": normal,
        "extremes": extremes,
        "variance": variance,
        "integers": integers,
        "functions": functions,
        "doubles": doubles,
        "conversions": conversions,
        "conversions_e5": conversions_e5,
        "halves_f16": lambda: halves("fp16"),
        "halves_bf16": lambda: halves("bf16"),
        "permutes": lambda: permutes("fp16", 4, 16, 32),
        "permutes_8": lambda: permutes("i8", 4, 32, 64),
        "gathers": gathers,
        "search": search,
        "cross_entropy": cross_entropy,
        "rope": rope,
        "tensors_3d": tensors_3d,
        "cluster_reduce": cluster_reduce,
        "attention_ws": attention_ws,
        "assembler": assembler,
    }
