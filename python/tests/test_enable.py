"""The example kernels through Triton with Warploom in it, as far as the cubin: no GPU is needed."""

import sys
from dataclasses import fields
from pathlib import Path

import kernels
import pytest
import triton
import warploom
import warploom.triton
from triton.backends.compiler import GPUTarget
from triton.backends.nvidia.compiler import CUDAOptions
from warploom.triton import options, stages

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples/kernels"))
import export  # noqa: E402

HOPPER = GPUTarget("cuda", 90, 32)


@pytest.fixture(autouse=True)
def enabled(tmp_path, monkeypatch):
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    warploom.triton.enable(fallback=False)
    yield
    warploom.triton.disable()


@pytest.mark.parametrize("name", export.CASES)
def test_compiles_to_a_cubin(name):
    kernel = triton.compile(export.source(export.CASES[name]), target=HOPPER)
    metadata = kernel.metadata
    # Triton declares its shared memory with an alignment of 16 (C11).
    assert ".shared .align 1024 .b8 global_smem[]" in kernel.asm["ptx"], "the PTX is not ours"
    assert kernel.asm["cubin"][:4] == b"\x7fELF"
    assert metadata.name == export.CASES[name][0].__name__
    assert metadata.num_warps % 4 == 0 and metadata.shared > 0
    assert list(metadata.tensordesc_meta[0]["block_size"])[0] == 128


def test_each_option_of_triton_has_a_place():
    known = options.HONOURED | options.TRITONS | options.ADVICE | options.ONLY.keys() | {"extern_libs"}
    assert known == {field.name for field in fields(CUDAOptions)}


@pytest.mark.parametrize("given", [
    dict(fpsan_homomorphic_casts=True), dict(extern_libs={"mine": __file__})])
def test_an_option_without_a_counterpart_is_refused(given):
    with pytest.raises(warploom.CompileError, match=next(iter(given))):
        triton.compile(export.source(export.CASES["gemm_f16"]), target=HOPPER, options=given)


def test_options_arrive():
    wanted = dict(enable_fp_fusion=False, ptx_version=84, min_shared_mem=230000)
    kernel = triton.compile(export.source(export.CASES["gemm_f16"]), target=HOPPER, options=wanted)
    assert ".version 8.4" in kernel.asm["ptx"]
    assert kernel.metadata.shared == 230000
    assert options.arguments(CUDAOptions(enable_fp_fusion=False))["no_fusion"]
    assert options.arguments(CUDAOptions(enable_reflect_ftz=False))["no_flush"]
    assert options.arguments(CUDAOptions(maxnreg=64))["max_registers"] == 64


def test_a_program_is_one_cta_whatever_advice_says():
    kernel = triton.compile(export.source(export.CASES["gemm_f16"]), target=HOPPER, options=dict(num_ctas=2))
    assert kernel.metadata.num_ctas == 1


def test_what_is_refused_falls_back_aloud(monkeypatch):
    case = export.source(export.CASES["gemm_f16"])
    warploom.triton.enable(fallback=True)
    with pytest.warns(UserWarning, match="fpsan_homomorphic_casts"):
        kernel = triton.compile(case, target=HOPPER, options=dict(fpsan_homomorphic_casts=True))
    assert ".shared .align 1024 .b8 global_smem[]" not in kernel.asm["ptx"]


def test_kernels_are_kept_under_our_version():
    (key, _) = triton.knobs.runtime.add_stages_inspection_hook()
    assert stages.version() in key and warploom.__version__ in key
    assert kernels.add is not None
