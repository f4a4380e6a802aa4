"""What becomes of each option of Triton 3.9 for NVIDIA (docs/supported.md)."""

from __future__ import annotations

from typing import Any

from ..errors import CompileError, Diagnostic

# An option that stands nowhere here is refused.
HONOURED = {"enable_fp_fusion", "enable_reflect_ftz", "maxnreg", "ptx_version", "min_shared_mem", "arch"}
# Read by Triton before or after us: by its front end, its assembler stage, its launcher.
TRITONS = {"warp_size", "ptx_options", "launch_cooperative_grid", "launch_pdl", "supported_fp8_dtypes",
           "deprecated_fp8_dot_operand_dtypes", "default_dot_input_precision", "allowed_dot_input_precisions",
           "max_num_imprecise_acc_default", "debug", "sanitize_overflow", "backend_name", "ir_override"}
# Advice on speed that changes no result: the scheduler decides, and the launch record says what it chose.
ADVICE = {"num_warps", "num_stages", "num_ctas", "sched4reg"}
# Served by one value alone; any other is refused.
ONLY = {"clc": False, "instrumentation_mode": "",
        "fpsan_homomorphic_casts": False}


def refused(message: str, remedy: str) -> CompileError:
    """An option of Triton that is not served."""
    return CompileError([Diagnostic("option", message, notes=(("instead", remedy),))])


def arguments(options: Any) -> dict[str, Any]:
    """What Triton's options (an object with a field for each) are for `warploom.compile`; one that has no counterpart
    is refused by name."""
    for name, value in vars(options).items():
        if name in ONLY and value != ONLY[name]:
            raise refused(f"{name}={value!r} has no counterpart", f"{name}={ONLY[name]!r}")
        if name == "extern_libs":
            more = [library for library, _ in value or () if library != "libdevice"]
            if more:
                raise refused(f"extern_libs: nothing is linked from {', '.join(more)}", "libdevice alone")
        elif name not in HONOURED | TRITONS | ADVICE | ONLY.keys():
            raise refused(f"{name}={value!r} is unknown", "an option of Triton 3.9")
    version = options.ptx_version
    return {"no_fusion": not options.enable_fp_fusion, "no_flush": not options.enable_reflect_ftz,
            "max_registers": options.maxnreg,
            "libdevice": dict(options.extern_libs or ()).get("libdevice"),
            "ptx_version": None if version is None else f"{version // 10}.{version % 10}"}
