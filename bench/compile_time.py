"""TTIR-to-PTX time of ours against Triton's (its ttgir, llir and ptx stages) from the same TTIR, in one run.

    make bench-compile                                 (or: python bench/compile_time.py WARPLOOM [FILE.ttir ..])

Both run alternately, each file `--repeat` times; the table shows medians. Triton works warm in this process; ours
is given twice: `stages`, the time inside the library of a fresh process, and `process`, the whole command from start
to PTX on disk.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from peers import triton_stages

ROOT = Path(__file__).resolve().parent.parent


def warploom(command, path, target):
    """Seconds of the whole command, and per stage inside it."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        done = subprocess.run([command, "compile", path, "--target", target, "--emit", "ptx", "-o",
                               Path(folder, "out.ptx"), "--json"], capture_output=True, text=True)
        process = time.perf_counter() - start
    if done.returncode != 0:
        raise RuntimeError(json.loads(done.stdout)["diagnostics"][0]["message"] if done.stdout else done.stderr)
    return process, {stage: micros * 1e-6 for stage, micros in json.loads(done.stdout)["micros"].items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", help="the warploom command, built with --release")
    parser.add_argument("files", nargs="*", type=Path, help="default: examples/kernels and the GEMMs of kernels")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--json", action="store_true", help="one JSON value on standard output")
    args = parser.parse_args()
    try:
        import triton  # noqa: F401
    except ImportError:
        print("bench/compile_time: no Triton; `make bench-compile` installs it")
        return 0
    files = args.files or sorted((ROOT / "examples/kernels").glob("*.ttir")) + [
        f for f in sorted((ROOT / "kernels").glob("gemm_*.ttir")) if ".loc." not in f.name]
    rows = []
    for file in files:
        peer, own, process = [], [], []
        try:
            for _ in range(args.repeat + 1):
                whole, stages = warploom(args.command, file, "sm_90a")
                process.append(whole)
                own.append(stages)
                peer.append(triton_stages(file, 90)[0])
        except Exception as error:
            rows.append(dict(kernel=file.stem, error=str(error).splitlines()[0]))
            continue
        median = lambda many: statistics.median(many[1:])  # the first warms the page cache and Triton
        ms = lambda records: {s: round(1e3 * median([r[s] for r in records]), 2) for s in records[0]}
        total = lambda records: 1e3 * median([sum(r.values()) for r in records])
        rows.append(dict(kernel=file.stem, ours=ms(own), ours_ms=total(own), process_ms=1e3 * median(process),
                         triton=ms(peer), triton_ms=total(peer), ratio=total(peer) / total(own)))
    if args.json:
        print(json.dumps(rows))
        return 0
    print(f"{'kernel':26} {'ours':>8} {'process':>8} {'Triton':>8} {'ratio':>6}   (ms; median of {args.repeat})")
    for row in rows:
        if "error" in row:
            print(f"{row['kernel']:26} not compiled: {row['error'][:90]}")
            continue
        where = ", ".join(f"{s} {t:.1f}" for s, t in row["ours"].items())
        print(f"{row['kernel']:26} {row['ours_ms']:8.1f} {row['process_ms']:8.1f} {row['triton_ms']:8.1f} "
              f"{row['ratio']:5.1f}x   ours: {where}")
    done = [r["ratio"] for r in rows if "ratio" in r]
    if done:
        print(f"\ngeometric mean of the ratio over {len(done)} kernels: {statistics.geometric_mean(done):.1f}x")
    return 0


if __name__ == "__main__":
    os.environ.setdefault("TRITON_CACHE_DIR", tempfile.mkdtemp())
    sys.exit(main())
