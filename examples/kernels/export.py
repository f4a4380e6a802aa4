"""Writes the Triton IR of the example kernels beside this file. Needs Triton, no GPU: `make kernels`."""

from pathlib import Path

import gemm
from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.compiler.compiler import make_backend


def plain(dtype, out, bm, bn, bk):
    """`gemm` over descriptors of these element types and this tile."""
    types = dict(a=f"tensordesc<{dtype}[{bm},{bk}]>", b=f"tensordesc<{dtype}[{bn},{bk}]>",
                 c=f"tensordesc<{out}[{bm},{bn}]>", K="i32")
    return gemm.gemm, types, dict(BM=bm, BN=bn, BK=bk)


def bias_relu(dtype, bm, bn, bk):
    """`gemm_bias_relu` likewise; the bias has the operands' type."""
    _, types, tile = plain(dtype, dtype, bm, bn, bk)
    types = dict(types, d=types["c"], bias_ptr=f"*{dtype}", alpha="fp32", N="i32")
    return gemm.gemm_bias_relu, types, tile


# Name of the file: function, type per run-time argument, compile-time values.
CASES = {
    "gemm": plain("bf16", "bf16", 128, 256, 64),
    "gemm_f16": plain("fp16", "fp16", 128, 128, 64),
    "gemm_f32_out": plain("bf16", "fp32", 128, 128, 64),
    "gemm_fp8": plain("fp8e4nv", "bf16", 128, 256, 128),
    "gemm_bias_relu": bias_relu("bf16", 128, 256, 64),
}


def source(case):
    """The kernel of a case with its argument types, ready for `triton.compile`. Pointers are multiples of 16, and numbers
    of which `:16` says so."""
    function, types, tile = case
    signature = {arg: "constexpr" if arg in tile else types[arg].removesuffix(":16") for arg in function.arg_names}
    attrs = {(i,): [["tt.divisibility", 16]] for i, arg in enumerate(function.arg_names)
             if signature[arg].startswith("*") or types.get(arg, "").endswith(":16")}
    return ASTSource(fn=function, signature=signature, constexprs=tile, attrs=attrs)


def ttir(case, capability=90):
    """The module after Triton's own `ttir` stage, as text without locations."""
    backend = make_backend(GPUTarget("cuda", capability, 32))
    options = backend.parse_options(dict(enable_fp_fusion=True))
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    src, stages = source(case), {}
    module = src.make_ir(backend.target, options, backend.get_codegen_implementation(options),
                         backend.get_module_map(), context)
    backend.add_stages(stages, options, src.language)
    return stages["ttir"](module, {}).str_nodebug()


if __name__ == "__main__":
    for name, case in CASES.items():
        (Path(__file__).parent / f"{name}.ttir").write_text(ttir(case))
