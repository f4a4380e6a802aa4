"""Writes the Triton IR of these kernels beside this file. Needs Triton, no GPU: `make kernels`.

They are kernels of the kinds that people run and that neither the reference kernels nor the examples have; `make table` and
the tests run them on every chip. Types are those of `triton.compile`; `:16` says that a pointer or number is a multiple of 16.
"""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent.parent / "examples" / "kernels"))

import attend  # noqa: E402
import fused  # noqa: E402
import quantized  # noqa: E402
import rows  # noqa: E402
from export import ttir  # noqa: E402

TILE = dict(BM=64, BN=64, BK=32)


def tiles(dtype, *shapes):
    """Descriptors of blocks of these shapes."""
    return [f"tensordesc<{dtype}[{m},{n}]>" for m, n in shapes]


def scaled(fa, da, fb, db, packed):
    """A block-scaled product; `packed` elements of B to a byte."""
    types = tiles(da, (64, 64)) + tiles(db, (64, 64 // packed)) + tiles("fp32", (64, 64))
    return quantized.block_scaled, types + ["*u8:16", "*u8:16", "i32", "i32"], dict(
        BM=64, BN=64, BK=64, FA=fa, FB=fb, PB=packed)


# Name of the file: function, type per run-time argument, compile-time values.
CASES = {
    "dequant_int8": (quantized.dequant_int8, ["*bf16:16", "*i8:16", "*fp32:16", "*bf16:16"] + ["i32"] * 3 + ["i32:16"] * 3,
                     TILE),
    "dequant_fp8": (quantized.dequant_fp8, tiles("bf16", (64, 32)) + tiles("fp8e4nv", (32, 64)) + ["*fp32:16"]
                    + tiles("bf16", (64, 64)) + ["i32", "i32"], TILE),
    "dequant_int4": (quantized.dequant_int4, tiles("bf16", (64, 32)) + tiles("i8", (64, 16)) + tiles("bf16", (64, 64))
                     + ["i32"], TILE),
    "mxfp8": scaled("e5m2", "fp8e5", "e4m3", "fp8e4nv", 1),
    "mxfp4": scaled("bf16", "bf16", "e2m1", "u8", 2),
    "gemm_int8": (quantized.gemm_int8, ["*i8:16", "*i8:16", "*fp32:16", "*fp16:16", "i32", "i32:16", "i32:16"],
                  dict(BM=64, BN=64, BK=64)),
    "gated": (fused.gated, tiles("bf16", (128, 64), (64, 64), (64, 64), (128, 64)) + ["i32"], dict(BM=128, BN=64, BK=64)),
    "chain": (fused.chain, tiles("bf16", (128, 64), (64, 64), (64, 64), (128, 64)) + ["i32"], dict(BM=128, BN=64, BK=64)),
    "both_computed": (fused.both_computed, tiles("fp16", (64, 32), (32, 64), (64, 64)) + ["i32"], TILE),
    "conv3x3": (fused.conv3x3, ["*fp16:16"] * 3 + ["i32", "i32", "i32:16", "i32:16"], dict(BM=64, BN=32, BK=32)),
    "stream_k": (fused.stream_k, ["*fp16:16", "*fp16:16", "*fp32:16", "i32", "i32:16", "i32:16", "i32"], TILE),
    "attention_window": (attend.attention_window, ["*fp16:16"] * 4 + ["i32"] * 3 + ["fp32"], dict(BM=64, BN=32, D=64)),
    "attention_paged": (attend.attention_paged, ["*fp16:16"] * 3 + ["*i32", "*fp16:16", "i32", "fp32"],
                        dict(BM=64, BN=32, D=64)),
    "attention_bias": (attend.attention_bias, tiles("bf16", (32, 256), (64, 256), (64, 256), (32, 256))
                       + ["*bf16:16", "i32:16", "fp32"], dict(BM=32, BN=64, D=256)),
    "layernorm_passes": (rows.layernorm_passes, ["*bf16:16"] * 4 + ["i32:16", "i32", "fp32"], dict(BLOCK=256)),
    "cross_entropy": (rows.cross_entropy, ["*bf16:16", "*i32", "*fp32", "i32:16", "i32"], dict(BLOCK=256)),
}

if __name__ == "__main__":
    for name, (function, types, values) in CASES.items():
        names = [arg for arg in function.arg_names if arg not in values]
        case = function, dict(zip(names, types)), values
        (HERE / f"{name}.ttir").write_text(ttir(case))
