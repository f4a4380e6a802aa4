"""Compiles the example kernels through Triton with the shim, as far as the cubin: no GPU is needed.

    python examples/triton/test_shim.py target/release/warploom
"""

import os
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "kernels")]


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
        warploom_triton.uninstall()
    print("triton shim: passed")


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else "warploom")
