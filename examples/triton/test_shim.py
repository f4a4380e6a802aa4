"""Compiles the example kernels through Triton with the shim, as far as the cubin: no GPU is needed.

    python examples/triton/test_shim.py target/release/warploom
"""

import os
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "kernels")]


def options(shim, export, triton, target):
    """Each option of Triton has a place; what has no counterpart is refused by name, the others arrive."""
    from dataclasses import fields

    from triton.backends.nvidia.compiler import CUDAOptions

    known = shim.HONOURED | shim.TRITONS | shim.ADVICE | shim.ONLY.keys() | {"extern_libs"}
    assert known == {field.name for field in fields(CUDAOptions)}, "options of Triton and of the shim differ"
    case = export.source(export.CASES["gemm_f16"])
    for given in dict(maxnreg=64), dict(num_ctas=2), dict(enable_reflect_ftz=False), dict(extern_libs={"mine": __file__}):
        try:
            triton.compile(case, target=target, options=given)
        except shim.Refused as refusal:
            assert next(iter(given)) in str(refusal), refusal
        else:
            raise AssertionError(f"{given} is ignored")
    wanted = dict(enable_fp_fusion=False, ptx_version=84, min_shared_mem=230000)
    kernel = triton.compile(case, target=target, options=wanted)
    assert ".version 8.4" in kernel.asm["ptx"], "ptx_version is ignored"
    assert kernel.metadata.shared == 230000, "min_shared_mem is ignored"
    assert "--no-fusion" in shim.arguments(CUDAOptions(enable_fp_fusion=False)), "enable_fp_fusion is ignored"


def main(command):
    with tempfile.TemporaryDirectory() as cache:
        os.environ["TRITON_CACHE_DIR"] = cache
        import export
        import triton
        import warploom_triton
        from triton.backends.compiler import GPUTarget

        warploom_triton.install(command, fallback=False)
        for name in export.CASES:
            kernel = triton.compile(export.source(export.CASES[name]), target=GPUTarget("cuda", 90, 32))
            metadata = kernel.metadata
            # Triton declares its shared memory with an alignment of 16 (C11).
            assert ".shared .align 1024 .b8 global_smem[]" in kernel.asm["ptx"], "the PTX is not ours"
            assert kernel.asm["cubin"][:4] == b"\x7fELF", "no cubin"
            assert metadata.name == export.CASES[name][0].__name__, metadata.name
            assert metadata.num_warps % 4 == 0 and metadata.shared > 0, metadata
            assert list(metadata.tensordesc_meta[0]["block_size"])[0] == 128, metadata.tensordesc_meta
            print(f"{name}: {metadata.num_warps} warps, {metadata.shared} B of shared memory, "
                  f"cubin {len(kernel.asm['cubin'])} B")
        options(warploom_triton, export, triton, GPUTarget("cuda", 90, 32))
        warploom_triton.uninstall()
    print("triton shim: passed")


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else "warploom")
