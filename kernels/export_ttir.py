"""Writes the Triton IR of the kernels in this folder, a .ttir file each: `make kernels`. Needs Triton, no GPU.

    python export_ttir.py                      every file of this folder
    python export_ttir.py gemm_bf16 attention  the named cases
    python export_ttir.py --list               their names
    python export_ttir.py --locations NAME     with source locations (file names only); the file is NAME.loc.ttir
    python export_ttir.py --arch 80 NAME       for another compute capability; the file is NAME.sm80.ttir

A case is: module, function, one type per run-time argument, and the compile-time values. In a type, "*bf16" is a pointer,
"d:bf16[128,64]" a tensor descriptor with that block, and a trailing ":16" says that a pointer or integer is a multiple of
16, which Triton's launcher finds out by itself.
"""

import argparse
import importlib
import re
from pathlib import Path

from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.compiler.compiler import make_backend

HERE = Path(__file__).parent
TILE = dict(BM=128, BN=256, BK=64)
SMALL = dict(BM=128, BN=128, BK=64)
TINY = dict(BM=64, BN=64, BK=32)


def gemm(dtype, tile=TILE, ta=False, tb=True, out=None):
    bm, bn, bk = tile["BM"], tile["BN"], tile["BK"]
    a = f"d:{dtype}[{bk},{bm}]" if ta else f"d:{dtype}[{bm},{bk}]"
    b = f"d:{dtype}[{bn},{bk}]" if tb else f"d:{dtype}[{bk},{bn}]"
    return "gemm", "matmul", [a, b, f"d:{out or dtype}[{bm},{bn}]", "i32"], dict(tile, TA=ta, TB=tb)


def epilogue(act, bias=True, beta=True, dtype="bf16", tile=TILE):
    a, b, c = (f"d:{dtype}[{tile[x]},{tile[y]}]" for x, y in (("BM", "BK"), ("BN", "BK"), ("BM", "BN")))
    types = [a, b, c, c, f"*{dtype}:16", "fp32", "fp32", "i32", "i32"]
    return "gemm", "matmul_epilogue", types, dict(tile, BIAS=bias, BETA=beta, ACT=act)


def persistent(flatten, tile=TILE):
    a, b, c = (f"d:bf16[{tile[x]},{tile[y]}]" for x, y in (("BM", "BK"), ("BN", "BK"), ("BM", "BN")))
    return "gemm", "matmul_persistent", [a, b, c, "i32", "i32", "i32"], dict(tile, GROUP=8, FLATTEN=flatten)


def attention(causal, d=128, bm=128, bn=128, dtype="bf16"):
    row, col = f"d:{dtype}[{bm},{d}]", f"d:{dtype}[{bn},{d}]"
    return ("attention", "attention", [row, col, col, row, "*fp32:16", "i32", "fp32"],
            dict(BM=bm, BN=bn, D=d, CAUSAL=causal))


def tiles(dtype, *shapes):
    """Descriptors of blocks of these shapes."""
    return [f"d:{dtype}[{m},{n}]" for m, n in shapes]


def block_scaled(fa, da, fb, db, packed, tile=(64, 64, 64)):
    """A block-scaled product; `packed` elements of B to a byte."""
    bm, bn, bk = tile
    types = tiles(da, (bm, bk)) + tiles(db, (bn, bk // packed)) + tiles("fp32", (bm, bn))
    return "quantized", "block_scaled", types + ["*u8:16", "*u8:16", "i32", "i32"], dict(
        BM=bm, BN=bn, BK=bk, FA=fa, FB=fb, PB=packed)


def tables(fa, da, fb, db, packed, scale, block, bk):
    """A block-scaled product with scales in tables."""
    a, b = ((128, bk // packed[0]), (128, bk // packed[1]))
    table = f"d:{scale}[1,1,{bk // block // 4},2,256]"
    types = tiles(da, a) + [table] + tiles(db, b) + [table] + tiles("fp32", (128, 128)) + ["i32"]
    return "quantized", "block_scaled_tables", types, dict(
        BM=128, BN=128, BK=bk, FA=fa, FB=fb, PA=packed[0], PB=packed[1], V=block)


CASES = {
    "gemm_bf16": gemm("bf16"),
    "gemm_bf16_128": gemm("bf16", SMALL),
    "gemm_bf16_64": gemm("bf16", dict(BM=64, BN=64, BK=64)),
    "gemm_f16_nn": gemm("fp16", tb=False),
    "gemm_f16_tn": gemm("fp16", ta=True, tb=False),
    "gemm_f16_tt": gemm("fp16", ta=True, tb=True),
    "gemm_bf16_f32": gemm("bf16", SMALL, out="fp32"),
    "gemm_tf32": gemm("fp32", dict(BM=128, BN=128, BK=32)),
    "gemm_fp8": gemm("fp8e4nv", dict(BM=128, BN=256, BK=128), out="bf16"),
    "gemm_fp8_e5m2": gemm("fp8e5", dict(BM=128, BN=128, BK=128), out="fp16"),
    "gemm_fp8_scaled": ("gemm", "matmul_scaled_rows", [
        "d:fp8e4nv[128,128]", "d:fp8e4nv[128,128]", "d:bf16[128,128]", "*fp32:16", "*fp32:16", "i32", "i32", "i32"
    ], dict(BM=128, BN=128, BK=128)),
    "gemm_device_descriptors": ("gemm", "matmul_device_descriptors", [
        "*bf16:16", "*bf16:16", "*bf16:16", "i32", "i32", "i32", "i64:16", "i64:16", "i64:16"
    ], TILE),
    "gemm_epilogue_relu": epilogue("relu"),
    "gemm_epilogue_gelu": epilogue("gelu"),
    "gemm_epilogue_silu": epilogue("silu", beta=False),
    "gemm_epilogue_alpha": epilogue("none", bias=False, beta=False),
    "gemm_persistent": persistent(False),
    "gemm_persistent_flat": persistent(True),
    "gemm_pointers": ("gemm", "matmul_pointers", [
        "*fp16:16", "*fp16:16", "*fp16:16", "i32:16", "i32:16", "i32:16", "i32:16", "i32:16", "i32:16"
    ], dict(BM=128, BN=128, BK=32)),
    "gemm_batched": ("gemm", "matmul_batched", [
        "d:bf16[1,128,64]", "d:bf16[1,128,64]", "d:bf16[1,128,128]", "i32"
    ], SMALL),
    "attention": attention(False),
    "attention_causal": attention(True),
    "attention_64": attention(False, d=64),
    "attention_causal_f16": attention(True, d=64, bn=64, dtype="fp16"),
    "attention_ragged": ("attention", "attention_ragged", [
        "d:bf16[128,64]", "d:bf16[64,64]", "d:bf16[64,64]", "*bf16:16", "*i32:16", "fp32", "i32"
    ], dict(BM=128, BN=64, D=64)),
    "softmax": ("softmax", "softmax", ["*bf16:16", "*bf16:16", "i32:16", "i32:16", "i32", "i32"], dict(BLOCK=4096)),
    "softmax_online": ("softmax", "softmax_online", ["d:bf16[16,256]", "d:bf16[16,256]", "i32"],
                       dict(BM=16, BN=256)),
    "layernorm": ("layernorm", "layernorm", [
        "*bf16:16", "*bf16:16", "*bf16:16", "*bf16:16", "*fp32:16", "*fp32:16", "i32:16", "i32", "fp32"
    ], dict(BLOCK=1024)),
    "layernorm_rows": ("layernorm", "layernorm_rows", [
        "d:bf16[8,512]", "d:bf16[8,512]", "d:bf16[512]", "d:bf16[512]", "i32", "fp32"
    ], dict(BM=8, N=512)),
    "split_k": ("control", "matmul_split_k", ["d:bf16[128,64]", "d:bf16[128,64]", "*fp32:16", "i32:16", "i32"],
                dict(SMALL, SPLIT=4)),
    "while_loop": ("control", "matmul_while", ["d:bf16[128,64]", "d:bf16[128,64]", "d:bf16[128,128]", "i32"], SMALL),
    "if_in_loop": ("control", "matmul_last_if", [
        "d:bf16[128,64]", "d:bf16[128,64]", "d:bf16[128,128]", "*fp32:16", "i32"
    ], SMALL),
    "hints": ("control", "matmul_hints", [
        "d:fp8e4nv[128,128]", "d:fp8e4nv[128,128]", "d:bf16[128,128]", "i32"
    ], dict(BM=128, BN=128, BK=128)),
    "call": ("control", "call", ["d:fp32[32,64]", "d:fp32[32,64]", "fp32"], dict(BM=32, BN=64)),
    "elementwise": ("others", "elementwise", ["*fp32:16", "*i32:16", "*fp32:16"], dict(BLOCK=256)),
    "reductions": ("others", "reductions", ["*fp32:16", "*fp32:16", "*i32:16"], dict(BM=32, BN=64)),
    "shapes": ("others", "shapes", ["*fp32:16", "*fp32:16"], dict(BM=32, BN=64)),
    "scaled": ("others", "scaled", [
        "d:fp8e4nv[128,128]", "d:u8[128,64]", "d:fp32[128,128]", "*u8:16", "*u8:16"
    ], dict(BM=128, BN=128, BK=128)),
    "gather_rows": ("others", "gather_rows", ["d:bf16[1,64]", "d:bf16[1,64]", "*i32:16"], dict(BM=32)),
    "dequant_int8": ("quantized", "dequant_int8", [
        "*bf16:16", "*i8:16", "*fp32:16", "*bf16:16", "i32", "i32", "i32", "i32:16", "i32:16", "i32:16"
    ], TINY),
    "dequant_fp8": ("quantized", "dequant_fp8", tiles("bf16", (64, 32)) + tiles("fp8e4nv", (32, 64)) + ["*fp32:16"]
                    + tiles("bf16", (64, 64)) + ["i32", "i32"], TINY),
    "dequant_int4": ("quantized", "dequant_int4", tiles("bf16", (64, 32)) + tiles("i8", (64, 16))
                     + tiles("bf16", (64, 64)) + ["i32"], TINY),
    "mxfp8": block_scaled("e5m2", "fp8e5", "e4m3", "fp8e4nv", 1),
    "mxfp8_tables": tables("e4m3", "fp8e4nv", "e5m2", "fp8e5", (1, 1), "u8", 32, 128),
    "mxfp4_tables": tables("e2m1", "u8", "e2m1", "u8", (2, 2), "u8", 32, 128),
    "nvfp4_tables": tables("e2m1", "u8", "e2m1", "u8", (2, 2), "fp8e4nv", 16, 128),
    "mxfp8_mxfp4": block_scaled("e4m3", "fp8e4nv", "e2m1", "u8", 2, (128, 64, 64)),
    "mxfp4": block_scaled("bf16", "bf16", "e2m1", "u8", 2),
    "gemm_int8": ("quantized", "gemm_int8", ["*i8:16", "*i8:16", "*fp32:16", "*fp16:16", "i32", "i32:16", "i32:16"],
                  dict(BM=64, BN=64, BK=64)),
    "gated": ("fused", "gated", tiles("bf16", (128, 64), (64, 64), (64, 64), (128, 64)) + ["i32"],
              dict(BM=128, BN=64, BK=64)),
    "chain": ("fused", "chain", tiles("bf16", (128, 64), (64, 64), (64, 64), (128, 64)) + ["i32"],
              dict(BM=128, BN=64, BK=64)),
    "both_computed": ("fused", "both_computed", tiles("fp16", (64, 32), (32, 64), (64, 64)) + ["i32"], TINY),
    "conv3x3": ("fused", "conv3x3", ["*fp16:16"] * 3 + ["i32", "i32", "i32:16", "i32:16"], dict(BM=64, BN=32, BK=32)),
    "stream_k": ("fused", "stream_k", ["*fp16:16", "*fp16:16", "*fp32:16", "i32", "i32:16", "i32:16", "i32"], TINY),
    "picked_tiles": ("fused", "picked_tiles", ["*fp16:16"] * 3 + ["*i32:16", "i32", "i32:16", "i32:16", "i32"], TINY),
    "attention_window": ("attend", "attention_window", ["*fp16:16"] * 4 + ["i32"] * 3 + ["fp32"],
                         dict(BM=64, BN=32, D=64)),
    "attention_paged": ("attend", "attention_paged", ["*fp16:16"] * 3 + ["*i32:16", "*fp16:16", "i32", "fp32"],
                        dict(BM=64, BN=32, D=64)),
    "attention_bias": ("attend", "attention_bias", tiles("bf16", (32, 256), (64, 256), (64, 256), (32, 256))
                       + ["*bf16:16", "i32:16", "fp32"], dict(BM=32, BN=64, D=256)),
    "layernorm_passes": ("rows", "layernorm_passes", ["*bf16:16"] * 4 + ["i32:16", "i32", "fp32"], dict(BLOCK=256)),
    "sort_rows": ("sorts", "sort_rows", ["*fp32:16", "*fp32:16", "i32"], dict(BM=32, BN=64, DESCENDING=True)),
    "sort_blocks": ("sorts", "sort_blocks", ["*i32:16", "*i32:16", "i32"], dict(BLOCK=512)),
    "route": ("sorts", "route", ["*fp32:16", "*fp32:16", "*i32:16", "i32", "i32"], dict(BM=16, BN=64, K=8)),
    "cross_entropy": ("rows", "cross_entropy", ["*bf16:16", "*i32:16", "*fp32:16", "i32:16", "i32"], dict(BLOCK=256)),
}
# Files besides the plain ones: case, compute capability, with locations.
VARIANTS = [(case, 90, True) for case in ("gemm_bf16", "gemm_epilogue_gelu", "attention_causal", "if_in_loop")] + [
    (case, 80, False) for case in ("gemm_bf16_128", "attention")]


def source(case):
    module, function, types, values = CASES[case]
    fn = getattr(importlib.import_module(module), function)
    signature, attrs = {}, {}
    types = iter(types)
    for i, name in enumerate(fn.arg_names):
        if name in values:
            signature[name] = "constexpr"
            continue
        kind = next(types)
        if kind.endswith(":16"):
            kind = kind[:-3]
            attrs[(i, )] = [["tt.divisibility", 16]]
        signature[name] = f"tensordesc<{kind[2:]}>" if kind.startswith("d:") else kind
    return ASTSource(fn=fn, signature=signature, constexprs=values, attrs=attrs)


def ttir(case, arch=90, locations=False):
    backend = make_backend(GPUTarget("cuda", arch, 32))
    options = backend.parse_options(dict(enable_fp_fusion=True))
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    src, stages = source(case), {}
    module = src.make_ir(backend.target, options, backend.get_codegen_implementation(options),
                         backend.get_module_map(), context)
    backend.add_stages(stages, options, src.language)
    module = stages["ttir"](module, {})
    if not locations:
        return module.str_nodebug()
    return re.sub(r'loc\("[^"]*/([^/"]+)"', r'loc("\1"', str(module))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("case", nargs="*", help="cases to write (default: every file)")
    parser.add_argument("--list", action="store_true", help="print the names of the cases")
    parser.add_argument("--locations", action="store_true", help="keep source locations; the file is NAME.loc.ttir")
    parser.add_argument("--arch", type=int, default=90, help="compute capability (default 90)")
    parser.add_argument("--out", type=Path, default=HERE, help="folder for the files (default: this one)")
    args = parser.parse_args()
    if args.list:
        print("\n".join(CASES))
        return
    wanted = [(case, args.arch, args.locations) for case in args.case]
    for case, arch, locations in wanted or [(case, 90, False) for case in CASES] + VARIANTS:
        name = case + (f".sm{arch}" if arch != 90 else "") + (".loc" if locations else "")
        (args.out / f"{name}.ttir").write_text(ttir(case, arch, locations))


if __name__ == "__main__":
    main()
