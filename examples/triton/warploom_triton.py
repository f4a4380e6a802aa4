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


class Refused(RuntimeError):
    """Warploom does not compile this kernel; the text is its diagnostic."""


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
                taken["ptx"], taken["launch"] = compile_ttir(str(module), target, path, extra)
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
            return taken["ptx"]

        stages.update(ttgir=ttgir, llir=llir, ptx=ptx)

    knobs.runtime.add_stages_inspection_hook = hook


def uninstall():
    """Give Triton its own stages back."""
    knobs.runtime.add_stages_inspection_hook = None
