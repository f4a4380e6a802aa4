"""Make PTX with Triton from `kernels` and corner cases, with inputs and expected outputs (E90).

    python make_triton_ptx.py --kernels ../../../kernels --out ../../../target/triton-ptx [NAME ...]
    python make_triton_ptx.py --kernels ../../../kernels --out ../../../kernels/ptx --bare gemm_bf16_64 softmax layernorm

Needs triton==3.9.0 and numpy; no GPU. For each module it writes NAME.ptx and NAME.json; the JSON names the launch,
the arguments, the buffers (raw little-endian files in data/) and the expected outputs with a tolerance on the error
of the largest element. tests/triton.rs runs them. Debug sections are stripped. With --bare there are no data: the JSON
names type and size of each buffer, and tests/compiled.rs fills it and computes what is expected.
"""

import argparse
import importlib
import json
import re
import sys
from pathlib import Path

import numpy as np
from triton_cases import CASES, FINDINGS, OPTIONS, cases
from triton_values import TOL, Case, Values, out, rand

def gemm(dtype, tile, m, n, k, ta=False, tb=True, o=None, tol=None):
    a, b = rand((k, m) if ta else (m, k), dtype), rand((n, k) if tb else (k, n), dtype)
    want = (a.x.T if ta else a.x) @ (b.x.T if tb else b.x)
    c = Case((-(-m // tile["BM"]), -(-n // tile["BN"]), 1))
    o = o or dtype
    return c.desc(a).desc(b).desc(out((m, n), o), out=(want, tol or TOL[o])).num(k)


def activation(x, act):
    if act == "relu":
        return np.maximum(x, 0)
    if act == "silu":
        return x / (1 + np.exp(-x))
    if act == "gelu":
        from math import erf
        return 0.5 * x * (1 + np.vectorize(erf)(x * 0.7071067811865476))
    return x


def epilogue(act, bias, beta, tile, m, n, k, dtype="bf16"):
    a, b, c0, bv = rand((m, k), dtype), rand((n, k), dtype), rand((m, n), dtype), rand((n, ), dtype)
    acc = 0.25 * (a.x @ b.x.T)
    acc = acc + (0.5 * c0.x if beta else 0)
    acc = acc + (bv.x[None, :] if bias else 0)
    c = Case((-(-m // tile["BM"]), -(-n // tile["BN"]), 1))
    c.desc(a).desc(b).desc(c0).desc(out((m, n), dtype), out=(activation(acc, act), TOL[dtype])).ptr(bv)
    return c.num(np.float32(0.25), np.float32(0.5), n, k)


def attention(length, d, bm, bn, causal, dtype, heads=2):
    q, k, v = (rand((heads * length, d), dtype) for _ in range(3))
    o, lse = [], []
    scale = np.float32(1.0 / np.sqrt(d) * 1.4426950408889634)
    for h in range(heads):
        r = slice(h * length, (h + 1) * length)
        s = q.x[r] @ k.x[r].T * float(scale)
        if causal:
            s = np.where(np.tril(np.ones((length, length), bool)), s, -np.inf)
        p = np.exp2(s - s.max(1, keepdims=True))
        o.append(p @ v.x[r] / p.sum(1, keepdims=True))
        lse.append((s.max(1) + np.log2(p.sum(1))) * 0.6931471805599453)
    c = Case((length // bm, heads, 1))
    c.desc(q).desc(k).desc(v).desc(out((heads * length, d), dtype), out=(np.concatenate(o), 2 * TOL[dtype]))
    return c.ptr(out((heads * length, ), "fp32"), out=(np.concatenate(lse), 1e-3)).num(length, scale)


def ragged():
    lengths, heads, d = [200, 64], 2, 64
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    total = int(starts[-1])
    q, k, v = (rand((total, heads * d), "bf16") for _ in range(3))
    scale = np.float32(1.0 / 8 * 1.4426950408889634)
    want = np.zeros((total, heads * d))
    for i in range(len(lengths)):
        for h in range(heads):
            r, cols = slice(starts[i], starts[i + 1]), slice(h * d, (h + 1) * d)
            s = q.x[r, cols] @ k.x[r, cols].T * float(scale)
            p = np.exp2(s - s.max(1, keepdims=True))
            want[r, cols] = p @ v.x[r, cols] / p.sum(1, keepdims=True)
    c = Case((2, len(lengths), heads)).desc(q).desc(k).desc(v)
    c.ptr(out((total, heads * d), "bf16"), out=(want, 1.6e-2)).ptr(Values(starts, "i32"))
    return c.num(scale, heads)


def softmax():
    rows, cols = 3, 1000
    x = rand((rows, 1024), "bf16", 4.0)
    y = np.zeros((rows, 1024))
    e = np.exp(x.x[:, :cols] - x.x[:, :cols].max(1, keepdims=True))
    y[:, :cols] = e / e.sum(1, keepdims=True)
    return Case((2, 1, 1)).ptr(x).ptr(out((rows, 1024), "bf16"), out=(y, 8e-3)).num(1024, 1024, rows, cols)


def softmax_online():
    x = rand((32, 520), "bf16", 4.0)
    e = np.exp(x.x - x.x.max(1, keepdims=True))
    c = Case((2, 1, 1)).desc(x).desc(out((32, 520), "bf16"), out=(e / e.sum(1, keepdims=True), 1.6e-2))
    return c.num(520)


def layernorm():
    rows, cols, stride = 2, 1500, 1504
    x, w, b = rand((rows, stride), "bf16"), rand((cols, ), "bf16"), rand((cols, ), "bf16")
    v = x.x[:, :cols]
    mean, var = v.mean(1), v.var(1)
    rstd = 1 / np.sqrt(var + 1e-5)
    y = np.zeros((rows, stride))
    y[:, :cols] = (v - mean[:, None]) * rstd[:, None] * w.x + b.x
    c = Case((rows, 1, 1)).ptr(x).ptr(out((rows, stride), "bf16"), out=(y, 8e-3)).ptr(w).ptr(b)
    c.ptr(out((rows, ), "fp32"), out=(mean, 1e-4)).ptr(out((rows, ), "fp32"), out=(rstd, 1e-5))
    return c.num(stride, cols, np.float32(1e-5))


def layernorm_rows():
    rows = 20
    x, w, b = rand((rows, 512), "bf16"), rand((512, ), "bf16"), rand((512, ), "bf16")
    mean, var = x.x.mean(1, keepdims=True), x.x.var(1, keepdims=True)
    y = (x.x - mean) / np.sqrt(var + 1e-5) * w.x + b.x
    c = Case((2, 1, 1)).desc(x).desc(out((rows, 512), "bf16"), out=(y, 8e-3)).desc(w).desc(b)
    return c.num(rows, np.float32(1e-5))


def pointers(m, n, k):
    a, b = rand((m, k), "fp16"), rand((k, n), "fp16")
    c = Case((-(-m // 128), -(-n // 128), 1)).ptr(a).ptr(b).ptr(out((m, n), "fp16"), out=(a.x @ b.x, 1e-3))
    return c.num(m, n, k, k, n, n)


def batched():
    a, b = rand((2, 128, 192), "bf16"), rand((2, 128, 192), "bf16")
    want = np.einsum("bmk,bnk->bmn", a.x, b.x)
    c = Case((1, 1, 2)).desc(a).desc(b).desc(out((2, 128, 128), "bf16"), out=(want, 8e-3))
    return c.num(192)


def device():
    a, b = rand((160, 192), "bf16"), rand((256, 192), "bf16")
    c = Case((2, 1, 1)).ptr(a).ptr(b).ptr(out((160, 256), "bf16"), out=(a.x @ b.x.T, 8e-3))
    return c.num(160, 256, 192, 192, 192, 256)


def persistent():
    a, b = rand((256, 192), "bf16"), rand((512, 192), "bf16")
    c = Case((3, 1, 1)).desc(a).desc(b).desc(out((256, 512), "bf16"), out=(a.x @ b.x.T, 8e-3))
    return c.num(256, 512, 192)


def scaled_rows():
    a, b, sa, sb = rand((128, 256), "fp8e4nv"), rand((128, 256), "fp8e4nv"), rand((128, ), "fp32"), rand((128, ), "fp32")
    want = (a.x @ b.x.T) * sa.x[:, None] * sb.x[None, :]
    c = Case((1, 1, 1)).desc(a).desc(b).desc(out((128, 128), "bf16"), out=(want, 8e-3)).ptr(sa).ptr(sb)
    return c.num(128, 128, 256)


TILE = dict(BM=128, BN=256, BK=64)
SMALL = dict(BM=128, BN=128, BK=64)

RUNS = {
    "gemm_bf16": lambda: gemm("bf16", TILE, 128, 256, 320),
    "gemm_bf16_128": lambda: gemm("bf16", SMALL, 200, 136, 200),
    "gemm_bf16_64": lambda: gemm("bf16", dict(BM=64, BN=64, BK=64), 128, 64, 192),
    "gemm_f16_nn": lambda: gemm("fp16", TILE, 128, 256, 192, tb=False),
    "gemm_f16_tn": lambda: gemm("fp16", TILE, 128, 256, 192, ta=True, tb=False),
    "gemm_f16_tt": lambda: gemm("fp16", TILE, 128, 256, 192, ta=True, tb=True),
    "gemm_bf16_f32": lambda: gemm("bf16", SMALL, 128, 128, 256, o="fp32"),
    "gemm_tf32": lambda: gemm("fp32", dict(BM=128, BN=128, BK=32), 128, 128, 160, tol=2e-3),
    "gemm_fp8": lambda: gemm("fp8e4nv", dict(BM=128, BN=256, BK=128), 128, 256, 384, o="bf16"),
    "gemm_fp8_e5m2": lambda: gemm("fp8e5", dict(BM=128, BN=128, BK=128), 128, 128, 256, o="fp16"),
    "gemm_fp8_scaled": scaled_rows,
    "gemm_device_descriptors": device,
    "gemm_epilogue_relu": lambda: epilogue("relu", True, True, TILE, 128, 256, 128),
    "gemm_epilogue_gelu": lambda: epilogue("gelu", True, True, TILE, 128, 256, 128),
    "gemm_epilogue_silu": lambda: epilogue("silu", True, False, TILE, 128, 256, 128),
    "gemm_epilogue_alpha": lambda: epilogue("none", False, False, TILE, 128, 256, 128),
    "gemm_persistent": persistent,
    "gemm_persistent_flat": persistent,
    "gemm_pointers": lambda: pointers(200, 144, 80),
    "gemm_batched": batched,
    "attention": lambda: attention(256, 128, 128, 128, False, "bf16"),
    "attention_causal": lambda: attention(256, 128, 128, 128, True, "bf16"),
    "attention_64": lambda: attention(256, 64, 128, 128, False, "bf16"),
    "attention_causal_f16": lambda: attention(256, 64, 128, 64, True, "fp16"),
    "attention_ragged": ragged,
    "softmax": softmax,
    "softmax_online": softmax_online,
    "layernorm": layernorm,
    "layernorm_rows": layernorm_rows,
    "while_loop": lambda: gemm("bf16", SMALL, 128, 128, 192),
    "matmul_ws": lambda: gemm("bf16", SMALL, 256, 256, 320),
    "gemm_2cta": lambda: gemm("bf16", TILE, 128, 256, 192),
}
ARCHES = {80: "sm_80", 90: "sm_90a", 100: "sm_100a"}
# Other warps and stages for some, so that layouts and ring depths vary.
VARIANTS = {
    "gemm_bf16_128": [dict(num_warps=4), dict(num_stages=2), dict(num_stages=4)],
    "gemm_f16_nn": [dict(num_warps=4, num_stages=2)],
    "attention_64": [dict(num_warps=4)],
    "softmax": [dict(num_warps=8)],
    "matmul_ws": [dict(num_warps=4), dict(num_warps=4, num_stages=2)],
}
# Options that a case always has.
FIXED = {"gemm_2cta": dict(num_ctas=2), **OPTIONS}


BEFORE = set(RUNS)


def compile_ptx(x, case, arch, **options):
    from triton.backends.compiler import GPUTarget
    from triton.compiler.compiler import make_backend
    from triton._C.libtriton import ir
    backend = make_backend(GPUTarget("cuda", arch, 32))
    opts = backend.parse_options(dict(enable_fp_fusion=True, **options))
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    src, stages, meta = x.source(case), {}, dict(opts.__dict__)
    m = src.make_ir(backend.target, opts, backend.get_codegen_implementation(opts), backend.get_module_map(), context)
    backend.add_stages(stages, opts, src.language)
    for s in ("ttir", "ttgir", "llir", "ptx"):
        m = stages[s](m, meta)
    return m, meta


def strip(ptx):
    """Without debug sections, and with sources as they are called anywhere: `kernels/gemm.py`, `triton/...`."""
    at = ptx.find("\t.section\t.debug")
    ptx = ptx if at < 0 else ptx[:at]
    return re.sub(r'(\.file\t\d+ )"/[^"]*/(kernels|triton)/', r'\1"\2/', ptx)


def write(root, name, arch, ptx, meta, case, bare):
    buffers, args, outputs = [], [], []
    maps = iter(meta.get("tensordesc_meta") or [])

    def buffer(v):
        if bare:
            buffers.append(dict(name=f"arg{len(args)}", dtype=v.dtype, count=int(v.raw.size)))
            return len(buffers) - 1
        path = root / "data" / f"{name}.{len(buffers)}.bin"
        path.write_bytes(v.raw.tobytes())
        buffers.append(dict(name=f"arg{len(args)}", file=path.name))
        return len(buffers) - 1

    for kind, v, shape, expect in case.args:
        if kind == "num":
            args.append({"f32": float(v)} if isinstance(v, np.float32) else None)
            if args[-1] is None:
                args[-1] = {"int": int(v)}
            continue
        b = buffer(v)
        if expect is not None:
            want, tol = expect
        if expect is not None and bare:
            outputs.append(dict(buffer=b, dtype=v.dtype, tolerance=tol))
        elif expect is not None:
            path = root / "data" / f"{name}.{b}.want"
            path.write_bytes(np.ascontiguousarray(want, np.float64).tobytes())
            outputs.append(dict(buffer=b, dtype=v.dtype, want=path.name, tolerance=tol))
        if kind == "ptr":
            args.append({"ptr": b})
            continue
        strides = [int(np.prod(shape[i + 1:])) for i in range(len(shape))]
        if arch < 90:
            args += [{"ptr": b}] + [{"int": int(s)} for s in shape] + [{"int": s} for s in strides]
            args += [{"int": 0}, {"int": 0}]
        else:
            m = next(maps)
            size = v.raw.itemsize
            args.append(dict(tmap=dict(buffer=b, elem=m["elem_type"], dims=[int(s) for s in shape[::-1]],
                                       strides=[s * size for s in strides[-2::-1]], box=m["block_size"][::-1],
                                       swizzle=[0, 32, 64, 128][m["swizzle"]])))
        args += [{"int": int(s)} for s in shape] + [{"int": s} for s in strides]
    scratch = meta.get("global_scratch_size") or 0
    grid = case.grid
    if scratch:
        v = Values.__new__(Values)
        v.raw = np.zeros(scratch * grid[0] * grid[1] * grid[2], np.uint8)
        args.append({"ptr": buffer(v)})
    else:
        args.append({"int": 0})
    args.append({"int": 0})
    (root / f"{name}.ptx").write_text(strip(ptx))
    (root / f"{name}.json").write_text(json.dumps(dict(
        name=name, target=ARCHES[arch], entry=meta["name"], cluster=meta["num_ctas"],
        grid=[grid[0] * meta["num_ctas"], grid[1], grid[2]], threads=32 * meta["num_warps"],
        smem=meta["shared"], finding=FINDINGS.get(name), buffers=buffers, args=args, outputs=outputs), indent=1))


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--kernels", type=Path, required=True)
    p.add_argument("--out", type=Path, required=True)
    p.add_argument("--bare", action="store_true", help="no data, only types and sizes")
    p.add_argument("names", nargs="*")
    o = p.parse_args()
    sys.path.insert(0, str(o.kernels))
    x = importlib.import_module("export_ttir")
    x.CASES.update(CASES, gemm_2cta=x.CASES["gemm_bf16"])
    RUNS.update(cases())
    (o.out if o.bare else o.out / "data").mkdir(parents=True, exist_ok=True)
    made = 0
    for case, make in RUNS.items():
        if o.names and case not in o.names:
            continue
        for arch in ARCHES:
            for options in [dict()] + VARIANTS.get(case, []):
                base = dict(num_warps=8 if case in BEFORE and case.startswith(("gemm", "attention", "matmul")) else 4)
                base.update(FIXED.get(case, {}))
                label = "".join(f".{k[4:5]}{v}" for k, v in options.items())
                name = f"{case}.{ARCHES[arch]}{label}"
                try:
                    ptx, meta = compile_ptx(x, case, arch, **{**base, **options})
                except Exception as e:  # Triton refuses some kernels for some chips, e.g. e4m3 on sm_80.
                    print(f"left out: {name}: {str(e).splitlines()[0][:80]}")
                    continue
                write(o.out, name, arch, ptx, meta, make(), o.bare)
                made += 1
    print(f"{made} modules in {o.out}")


if __name__ == "__main__":
    main()
