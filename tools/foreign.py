#!/usr/bin/env python3
"""Compile CUDA C++ to PTX with nvcc from PyPI, for the emulator's tests (E101).

    python tools/foreign.py --out target/foreign [--data FOLDER] [--arch sm_90a] [--jobs 2]

Kernels of the repository (crates/emulator/tests/foreign/*.cu) go to OUT/ours, and must compile. With --data every .cu file below
FOLDER goes to OUT/data, named by its path; one that needs what is not there (OpenGL, a library) is listed with nvcc's first
complaint and left out.
"""

import argparse
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SECONDS = 300


def toolkit():
    """Where the wheels of nvcc put their files."""
    folder = ROOT / ".venv" / "foreign" / "nvidia" / "cu13"
    if not (folder / "nvvm" / "bin" / "cicc").exists():
        sys.exit("foreign: nvcc is missing: run tools/setup.sh foreign")
    return folder


def compile_one(nvcc, source, out, arch, folders):
    """Compiles one file; gives nvcc's first complaint, or nothing."""
    include = [f"-I{f}" for f in (nvcc / "include", nvcc / "include" / "cccl", *folders)]
    command = [nvcc / "bin" / "nvcc", "--ptx", "-lineinfo", "-std=c++17", f"-arch={arch}", *include, source, "-o", out]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
        if "separate compilation mode" in done.stderr:
            # Kernels that launch kernels.
            done = subprocess.run([*command, "-rdc=true"], capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f"no end after {SECONDS} s"
    if done.returncode == 0:
        return None
    lines = [line.strip() for line in (done.stderr + done.stdout).splitlines()]
    return next((line for line in lines if "error" in line), "nvcc failed without an error message")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--arch", default="sm_90a")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    nvcc = toolkit()
    ours = sorted((ROOT / "crates" / "emulator" / "tests" / "foreign").glob("*.cu"))
    jobs = [(source, given.out / "ours" / f"{source.stem}.ptx", []) for source in ours]
    if given.data:
        common = sorted({h.parent for h in given.data.rglob("*.h") if "Common" in h.parts})
        for source in sorted(given.data.rglob("*.cu")):
            name = "-".join(source.relative_to(given.data).with_suffix(".ptx").parts)
            jobs.append((source, given.out / "data" / name, [source.parent, *common]))
    for folder in {out.parent for _, out, _ in jobs}:
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob("*.ptx"):
            old.unlink()
    with ThreadPoolExecutor(given.jobs) as pool:
        complaints = list(pool.map(lambda job: compile_one(nvcc, job[0], job[1], given.arch, job[2]), jobs))
    failed = [(source, complaint) for (source, _, _), complaint in zip(jobs, complaints) if complaint]
    for source, complaint in failed:
        print(f"{source.name}: {complaint}", file=sys.stderr)
    print(f"{len(jobs) - len(failed)} of {len(jobs)} files compiled to {given.out}")
    return 1 if any(source in ours for source, _ in failed) else 0


if __name__ == "__main__":
    sys.exit(main())
