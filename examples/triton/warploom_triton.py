"""Compile a Triton user's own kernels with Warploom; Triton's cache, assembler and launcher do the rest (C18).

    import warploom_triton
    warploom_triton.install()          # every kernel from here on; refused ones fall back to Triton
    kernel[grid](...)

Triton's `ttgir` and `llir` stages pass the Triton IR through, its `ptx` stage becomes a call of the `warploom`
command, and the launch record that comes back (C12) goes into Triton's metadata.
"""

import hashlib
import json
import shutil
import subprocess
import tempfile
import warnings
from pathlib import Path

from triton import knobs

LAUNCH = ("name", "num_warps", "num_ctas", "shared", "tmem_size", "global_scratch_size", "global_scratch_align",
          "profile_scratch_size", "profile_scratch_align", "tensordesc_meta")
TARGETS = {90: "sm_90a", 100: "sm_100a", 103: "sm_103a", 110: "sm_110a", 120: "sm_120a", 121: "sm_121a"}


# What becomes of each option of Triton 3.9 for NVIDIA (docs/supported.md). An option that stands nowhere here is refused.
HONOURED = {"enable_fp_fusion", "ptx_version", "min_shared_mem", "arch"}
# Read by Triton before or after us: by its front end, its assembler stage, its launcher.
TRITONS = {"warp_size", "ptx_options", "launch_cooperative_grid", "launch_pdl", "supported_fp8_dtypes",
           "deprecated_fp8_dot_operand_dtypes", "default_dot_input_precision", "allowed_dot_input_precisions",
           "max_num_imprecise_acc_default", "debug", "sanitize_overflow", "backend_name", "ir_override"}
# Advice on speed that changes no result: the scheduler decides, and the launch record says what it chose.
ADVICE = {"num_warps", "num_stages", "sched4reg"}
# Served by one value alone; any other is refused.
ONLY = {"num_ctas": 1, "maxnreg": None, "enable_reflect_ftz": True, "clc": False, "instrumentation_mode": "",
        "fpsan_homomorphic_casts": False}


class Refused(RuntimeError):
    """Warploom does not compile this kernel; the text is its diagnostic."""


def arguments(options):
    """What Triton's options (an object with a field for each) are on the command line; `Refused` names one that has no
    counterpart."""
    for name, value in vars(options).items():
        if name in ONLY and value != ONLY[name]:
            raise Refused(f"error[option]: {name}={value!r} has no counterpart; only {ONLY[name]!r} is served")
        if name == "extern_libs":
            more = [library for library, _ in value or () if library != "libdevice"]
            if more:
                raise Refused(f"error[option]: extern_libs: nothing is linked from {', '.join(more)}")
        elif name not in HONOURED | TRITONS | ADVICE | ONLY.keys():
            raise Refused(f"error[option]: {name}={value!r} is unknown")
    extra = [] if options.enable_fp_fusion else ["--no-fusion"]
    if options.ptx_version is not None:
        extra += ["--ptx-version", f"{options.ptx_version // 10}.{options.ptx_version % 10}"]
    return extra


def compile_ttir(text, target, command="warploom", extra=()):
    """PTX and launch record (a dict, C12) of a module in Triton IR."""
    with tempfile.TemporaryDirectory() as folder:
        source, ptx = Path(folder, "kernel.ttir"), Path(folder, "kernel.ptx")
        source.write_text(text)
        done = subprocess.run(
            [command, "compile", source, "--target", target, "--emit", "ptx", "-o", ptx, "--json", *extra],
            capture_output=True, text=True)
        if done.returncode != 0:
            raise Refused(done.stderr.strip() or done.stdout.strip())
        answer = json.loads(done.stdout)
        return ptx.read_text(), {field: answer[field] for field in LAUNCH}


def install(command="warploom", fallback=True, extra=()):
    """Make Triton compile through `command`. With `fallback`, kernels that Warploom refuses are compiled by
    Triton, with a warning that carries the diagnostic; without it `Refused` is raised."""
    path = shutil.which(command)
    if path is None:
        raise FileNotFoundError(f"no command '{command}'; build it with `make build` or pass its path")
    key = hashlib.sha256(Path(path).read_bytes() + repr((fallback, tuple(extra))).encode()).hexdigest()

    def hook(backend=None, stages=None, options=None, language=None, capability=None):
        if stages is None:
            return key, key
        target = TARGETS.get(capability, f"sm_{capability}")
        own = dict(stages)
        taken = {}

        def ttgir(module, metadata):
            try:
                given = [*arguments(options), *extra]
                taken["ptx"], taken["launch"] = compile_ttir(str(module), target, path, given)
            except Refused as refusal:
                if not fallback:
                    raise
                warnings.warn(f"compiled by Triton instead: {refusal}")
                return own["ttgir"](module, metadata)
            return module

        def llir(module, metadata):
            return module if taken else own["llir"](module, metadata)

        def ptx(module, metadata):
            if not taken:
                return own["ptx"](module, metadata)
            metadata.update(taken["launch"])
            metadata["shared"] = max(metadata["shared"], options.min_shared_mem or 0)
            return taken["ptx"]

        stages.update(ttgir=ttgir, llir=llir, ptx=ptx)

    knobs.runtime.add_stages_inspection_hook = hook


def uninstall():
    """Give Triton its own stages back."""
    knobs.runtime.add_stages_inspection_hook = None
