"""Writes the tables of docs/figures.md and docs/kernels.md again.

    make figures                     every table; half an hour on two cores
    python bench/figures.py COMMAND machine-code     one table: kernels, machine-code or compile-time

COMMAND is the warploom command, built with --release. A table stands between `<!-- table: NAME -->` and `<!-- end -->`;
what people wrote around it stays. `kernels` measures once for the matrix in docs/figures.md and the rows in
docs/kernels.md, and keeps what it measured in out/kernels.jsonl.
"""

import argparse
import contextlib
import io
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FIGURES, KERNELS = ROOT / "docs/figures.md", ROOT / "docs/kernels.md"


def put(page, name, text):
    """Replaces a table of a page."""
    old = page.read_text()
    mark = f"<!-- table: {name} -->\n"
    new, found = re.subn(re.escape(mark) + ".*?<!-- end -->", lambda _: f"{mark}{text.strip()}\n<!-- end -->", old,
                         flags=re.S)
    if found != 1:
        sys.exit(f"{page}: {found} tables `{name}`")
    page.write_text(new)


def printed(show, *args):
    """What a function prints."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        show(*args)
    return text.getvalue()


def lines(head, rows):
    """A table."""
    cells = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in row) + " |" for row in cells)


def kernels(command):
    """Kernel by chip: both tables from one run."""
    import kernels as table

    kept = ROOT / "out/kernels.jsonl"
    kept.parent.mkdir(exist_ok=True)
    with kept.open("w") as file:
        done = subprocess.run([sys.executable, ROOT / "bench/kernels.py", command, "--json"], stdout=file)
    rows = [json.loads(line) for line in kept.read_text().splitlines()]
    runs = [row["emulator"] for row in rows if "emulator" in row]
    said = (f"{len(runs)} of {len(rows)} rows compile, {sum(run['runs'] for run in runs)} runs on the emulator, "
            f"{sum(run['findings'] for run in runs)} findings, {sum(bool(run['problem']) for run in runs)} wrong.\n\n")
    shown = [row for row in rows if row["chip"] in table.FAMILIES]
    put(FIGURES, "kernels", said + printed(table.matrix, shown))
    put(KERNELS, "rows", said + printed(table.table, rows))
    return done.returncode


def machine_code(_):
    """The bars that the tests keep; nothing is measured."""
    tests = ROOT / "crates/warploom/tests"
    hopper = json.loads((tests / "bars.json").read_text())
    rows = [[name, bar["ii"], bar["slots"], bar["shared"], bar["registers"],
             f"{bar['multiply_sass']} ({bar['multiply_hgmma']})", f"{bar['load_sass']} ({bar['load_utmaldg']})"]
            for name, bar in hopper.items()]
    put(FIGURES, "machine-code", lines(["kernel", "II", "slots", "shared B", "registers", "multiplying loop (HGMMA)",
                                        "loading loop (UTMALDG)"], rows))
    blackwell = json.loads((tests / "bars.tcgen05.json").read_text())
    rows = [[name, bar["ii"], bar["slots"], bar["shared"], bar["columns"], bar["registers"],
             f"{bar['issue_sass']} ({bar['issue_mma']})", f"{bar['load_sass']} ({bar['load_utmaldg']})",
             bar.get("math_sass", "-")] for name, bar in blackwell.items()]
    put(FIGURES, "machine-code-tcgen05", lines(["kernel, chip", "II", "slots", "shared B", "TMEM", "registers",
                                                "issuing loop (MMA)", "loading loop (UTMALDG)", "computing loop"], rows))
    return 0


def compile_time(command):
    """TTIR to PTX, ours and Triton's."""
    done = subprocess.run([sys.executable, ROOT / "bench/compile_time.py", command, "--json"], capture_output=True,
                          text=True)
    if done.returncode or not done.stdout.startswith("["):
        sys.exit(f"bench/compile_time.py: {done.stdout}{done.stderr}")
    measured = json.loads(done.stdout)
    rows = [[row["kernel"], f"{row['ours_ms']:.0f}", f"{row['process_ms']:.0f}", f"{row['triton_ms']:.0f}",
             f"{row['ratio']:.1f}"] for row in measured if "ratio" in row]
    put(FIGURES, "compile-time", lines(["kernel", "ours, ms", "ours with start and files, ms", "Triton, ms", "ratio"], rows))
    return 0


TABLES = {"kernels": kernels, "machine-code": machine_code, "compile-time": compile_time}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", help="the warploom command, built with --release")
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"of {', '.join(TABLES)}; default: all")
    args = parser.parse_args()
    unknown = [name for name in args.tables if name not in TABLES]
    if unknown:
        parser.error(f"no table {', '.join(unknown)}; there are {', '.join(TABLES)}")
    sys.path.insert(0, str(ROOT / "bench"))
    return max(TABLES[name](args.command) for name in args.tables or TABLES)


if __name__ == "__main__":
    sys.exit(main())
