"""The table kernel x chip: what was decided, what the machine code costs beside Triton's of the same TTIR, and what the
emulator says.

    make table                                          (or: python bench/kernels.py WARPLOOM [NAME ..])

Both compile in one run; Triton with 8 warps, or 4 where no tile is multiplied, and its own number of stages. A column of
ours stands before the stroke, Triton's behind it. `SASS` counts the instructions a trip: of the loop that multiplies, of the
one that copies, of the one that computes where products are issued for others; of the largest innermost loop where
nothing is multiplied. The emulator runs every case of bench/kernels.toml, its
ragged shapes and tiny trip counts, earliest, latest and in `--interleavings` random orders, with every detector on, and
compares with the reference interpreter. `SASS` of partitions that work side by side is given partition by partition.
"""

import argparse
import concurrent.futures
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import threading
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))
CHIPS = {"sm_80": 80, "sm_86": 86, "sm_89": 89, "sm_90a": 90, "sm_100a": 100, "sm_103a": 103, "sm_110a": 110,
         "sm_120a": 120}
FAMILIES = ["sm_80", "sm_90a", "sm_100a", "sm_120a"]
HEAD = ["kernel", "chip", "II (bound)", "bound by", "stages", "partitions: warps x registers", "registers", "spill B",
        "shared B", "TMEM", "SASS", "emulator"]


def quiet():
    """Triton prints whole modules where it fails."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


def peer(path, capability, warps, stages):
    """In a process of its own, since a failed assertion ends it."""
    from peers import triton_stages

    seconds, ptx, shared = triton_stages(path, capability, warps, stages)
    return ptx, shared, sum(seconds.values())


class Triton:
    """Triton in a process that is started again when it dies."""

    def __init__(self):
        self.one_at_a_time = threading.Lock()
        try:
            import triton  # noqa: F401
            self.pool = None
        except ImportError:
            print("bench/kernels: no Triton; `make peers` installs it", file=sys.stderr)
            self.pool = False

    def compile(self, path, chip, warps, stages=None):
        """PTX, shared bytes and seconds, or why there are none."""
        with self.one_at_a_time:
            return self.ask(path, chip, warps, stages)

    def ask(self, path, chip, warps, stages):
        """The same, for one caller at a time: a crash is the fault of whoever asked."""
        if self.pool is False:
            return "not installed"
        if self.pool is None:
            context = multiprocessing.get_context("spawn")
            self.pool = concurrent.futures.ProcessPoolExecutor(1, mp_context=context, initializer=quiet)
        try:
            return self.pool.submit(peer, path, CHIPS[chip], warps, stages).result(timeout=300)
        except concurrent.futures.process.BrokenProcessPool:
            self.pool = None
            return "crashed"
        except Exception as error:  # noqa: BLE001 - whatever Triton raises is a row of the table
            return f"refused ({type(error).__name__})"


def ask(command, *args):
    """A command's JSON answer."""
    done = subprocess.run([str(command), *map(str, args), "--json"], capture_output=True, text=True)
    try:
        return json.loads(done.stdout)
    except json.JSONDecodeError:
        return {"ok": False, "diagnostics": [{"code": "none", "message": done.stderr.strip().split("\n")[0]}]}


def multiplying(loops):
    """The innermost loops with products, smallest first; spins inside them count as parts of them."""
    products = [l for l in loops if l["hgmma"] + l["utcmma"] + l["mma"] > 0]
    inner = [l for l in products if not any(o is not l and within(o, l) for o in products)]
    return sorted(inner, key=lambda l: l["instructions"])


def parts(loops, among=None):
    """Instructions a trip by what a loop does: the one that multiplies, the one that copies for it, and, where products are
    issued for others, the one that computes; the largest innermost loop where nothing is multiplied. Of the loops that
    multiply it is the largest, or the largest of the smallest `among`: another compiler may have unrolled the others, as
    Triton does with the few masked trips of causal attention, which cost more than those of the loop that it leaves."""
    inner = [l for l in loops if l["inner"] == 0]
    products = [l for l in loops if l["hgmma"] + l["utcmma"] + l["mma"] > 0]
    multiply = multiplying(loops)[:among]
    if not multiply:
        return {"arithmetic": max((l["instructions"] for l in inner), default=None)}
    most = multiply[-1]
    others = [l for l in loops if l not in products]
    copies = [l for l in others if l["utmaldg"] > 0 and not any(o is not l and o["utmaldg"] and within(o, l) for o in others)]
    rest = [l for l in others if l["utmaldg"] == 0 and most["utcmma"] > 0 and l["instructions"] > 16]
    by = {"products": [most], "copies": copies, "arithmetic": rest}
    return {part: max((l["instructions"] for l in some), default=None) for part, some in by.items()}


def trip(loops):
    """The same as text."""
    return "+".join(str(n) for n in parts(loops).values() if n is not None) or "-"


def within(a, b):
    """Whether loop a lies in loop b."""
    return b["inner"] > a["inner"] and a["head"] > b["head"] and a["instructions"] < b["instructions"]


def emulate(command, file, chip, cases, interleavings):
    """Runs, findings, and the largest relative error over all cases."""
    runs, findings, error, problem = 0, 0, 0.0, None
    for seed, case in enumerate(cases):
        args, _, grid = case.partition(" / ")
        words = [f"--arg={arg}" for arg in args.split()]
        answer = ask(command, "run", file, "--target", chip, "--grid", grid.strip() or "1", "--seed", seed + 1,
                     "--interleavings", interleavings, *words)
        if "runs" not in answer:
            problem = answer["diagnostics"][0]["message"]
            continue
        for run in answer["runs"]:
            runs += 1
            findings += sum(f.get("severity") != "note" for f in run["findings"])
            # JSON has no infinity.
            error = max(error, float("inf") if run["relative_error"] is None else run["relative_error"])
            if not run["passed"] and problem is None:
                problem = "wrong"
    return {"runs": runs, "findings": findings, "error": error, "problem": problem}


def beside(command, triton, file, chip, warps, stages=None):
    """Triton's compile of a kernel: its PTX, shared bytes, seconds and machine code; or why there is none."""
    theirs = triton.compile(file, chip, warps, stages)
    if isinstance(theirs, str):
        return theirs
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder, "triton.ptx")
        text.write_text(theirs[0])
        return *theirs, ask(command, "sass", text, "--target", chip)


def row(command, name, file, chip, cases, triton, interleavings):
    """Everything known of one kernel on one chip."""
    found = {"kernel": name, "chip": chip}
    with tempfile.TemporaryDirectory() as folder:
        cubin = Path(folder, "ours.cubin")
        ours = ask(command, "compile", file, "--target", chip, "--emit", "cubin", "-o", cubin)
        if ours.get("ok"):
            sass = ask(command, "sass", cubin)
            found["ours"] = {**ours["facts"], "registers": ours["registers"], "spill": ours["spill_bytes"],
                             "shared": ours["shared"], "sass": trip(sass["loops"])}
            found["emulator"] = emulate(command, file, chip, cases, interleavings)
        else:
            first = ours["diagnostics"][0]
            found["refused"] = f"{first['message']} [{first.get('rule') or first['code']}]"
        theirs = beside(command, triton, file, chip, 8 if "tt.dot" in file.read_text() else 4)
        if isinstance(theirs, str):
            found["triton"] = {"problem": theirs}
        else:
            _, shared, _, sass = theirs
            found["triton"] = {"registers": sass.get("registers"), "spill": sass.get("spill_bytes"),
                               "shared": shared, "sass": trip(sass["loops"])} if "loops" in sass else \
                              {"problem": "ptxas refused its PTX"}
    return found


def cells(found):
    """The row as text."""
    theirs = found["triton"]

    def both(field):
        other = theirs.get(field)
        return f"{show(found['ours'][field])} / {show(other)}"

    def show(value):
        return "-" if value is None else str(value)

    if "refused" in found:
        other = theirs.get("problem") or f"{show(theirs['sass'])} SASS, {theirs['spill']} B spilled"
        return [found["kernel"], found["chip"], f"refused: {found['refused']}; Triton: {other}"] + [""] * 9
    ours, run = found["ours"], found["emulator"]
    loops = ours["loops"]
    partitions = ", ".join(f"{a['name']} {a['warps']}x{a['registers']}" for a in ours["partitions"])
    verdict = f"{run['runs']} runs, {run['findings']} findings, {run['error']:.0e}"
    if run["problem"]:
        verdict = f"FAILED: {run['problem']}"
    return [found["kernel"], found["chip"],
            ", ".join(f"{l['ii']} ({l['lower_bound']})" for l in loops) or "no pipelined loop",
            ", ".join(dict.fromkeys(l["bound_by"] for l in loops)), ", ".join(str(l["stages"]) for l in loops),
            partitions, both("registers"), both("spill"), both("shared"), str(ours["tmem"] or "-"), both("sass"),
            verdict]


def table(rows):
    """Every row whole."""
    print("| " + " | ".join(HEAD) + " |\n|" + "---|" * len(HEAD))
    for found in rows:
        print("| " + " | ".join(cells(found)) + " |")


def matrix(rows):
    """A line for each kernel: II and instructions a trip, ours / Triton's."""
    chips = list(dict.fromkeys(found["chip"] for found in rows))
    print("| kernel | " + " | ".join(chips) + " |\n|" + "---|" * (len(chips) + 1))
    for name in dict.fromkeys(found["kernel"] for found in rows):
        line = {found["chip"]: brief(found) for found in rows if found["kernel"] == name}
        print(f"| {name} | " + " | ".join(line.get(chip, "") for chip in chips) + " |")


def brief(found):
    """One cell of the matrix."""
    theirs = found["triton"].get("sass") or "-"
    if "refused" in found:
        return f"refused / {theirs}"
    ours, run = found["ours"], found["emulator"]
    ii = ", ".join(str(l["ii"]) for l in ours["loops"])
    spill = f", spills {ours['spill']} B" if ours["spill"] else ""
    wrong = "**FAILED** " if run["problem"] else ""
    return f"{wrong}{f'II {ii}: ' if ii else ''}{ours['sass']}{spill} / {theirs}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", type=Path, help="the warploom command, built with --release")
    parser.add_argument("names", nargs="*", help="kernels; default: all of bench/kernels.toml")
    parser.add_argument("--chips", help=f"of {','.join(CHIPS)}; default: all, and one of each family with --matrix")
    parser.add_argument("--interleavings", type=int, default=4, help="random orders of each case (default: %(default)s)")
    parser.add_argument("--kernels", type=Path, default=ROOT / "kernels", help="folder of TTIR files")
    parser.add_argument("--json", action="store_true", help="one JSON object per row")
    parser.add_argument("--matrix", action="store_true", help="a line for each kernel, a column for each chip")
    parser.add_argument("--from", dest="rows", type=Path, metavar="FILE", help="show rows that --json wrote; run nothing")
    args = parser.parse_args()
    show = matrix if args.matrix else table
    chips = args.chips.split(",") if args.chips else FAMILIES if args.matrix else list(CHIPS)
    if args.rows:
        rows = (json.loads(line) for line in args.rows.read_text().splitlines())
        show([found for found in rows if found["chip"] in chips])
        return 0
    if not args.kernels.is_dir():
        parser.error(f"no folder {args.kernels}")
    known = tomllib.loads((ROOT / "bench/kernels.toml").read_text())
    unknown = [name for name in args.names if name not in known]
    if unknown or not set(chips) <= set(CHIPS):
        parser.error(f"unknown: {', '.join(unknown + sorted(set(chips) - set(CHIPS)))}")
    triton, wanted = Triton(), []
    for name in args.names or known:
        own = known[name].get("file")
        file = ROOT / own if own else args.kernels / f"{name}.ttir"
        if file.is_file():
            wanted += [(name, file, chip) for chip in chips]
        else:
            parser.error(f"{file} is not there")

    def make(one):
        name, file, chip = one
        return row(args.command, name, file, chip, known[name]["cases"], triton, args.interleavings)

    rows = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(make, wanted):
            rows.append(found)
            if args.json:
                print(json.dumps(found), flush=True)
            else:
                print(f"{found['kernel']} on {found['chip']}", file=sys.stderr)
    if not args.json:
        show(rows)
    return 1 if any(found.get("emulator", {}).get("problem") for found in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
