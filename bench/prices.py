"""Prices against machine code: what the cost model says that a trip of each loop holds of each unit, beside what the
disassembly of that loop holds (T42, T43).

    make prices                                         (or: bench/prices [--chips LIST] [NAME ..])

The model's side are the `loads` of `compile --json`: cycles by partition and unit. The machine's side are the instructions
of the loop that `sass --json` counts by class, times the warps that run it, over the rates of the chip's file
(`[instruction]`, `[unit]`); memory by bytes, products by multiply-accumulates. A loop of several trips is divided by them.
What one warp runs for all counts once.
Partitions share the units, so they are added. A unit agrees where both sides differ by 10 % of the machine's at most, or by
less than CLOSE cycles; where they differ more but by no more than 10 % of the loop's II, its price decides little.

Needs no GPU and no Triton. Exit status 1 where a kernel that compiles cannot be disassembled.
"""

import argparse
import concurrent.futures
import json
import os
import statistics
import sys
import tempfile
import tomllib
from pathlib import Path

from kernels import CHIPS, FAMILIES, ROOT, ask

UNITS = ["TC", "SFU", "FP32", "ALU", "SMEM", "TMEM", "ISSUE"]
WITHIN = 0.10
# Cycles that nobody misses in a trip: two instructions of eight warps.
CLOSE = 4


def chip_file(chip):
    """The data file of a chip."""
    return tomllib.loads((ROOT / f"crates/chips/data/{chip}.toml").read_text())


def machine(counts, instructions, chip):
    """Cycles of each unit that one warp's work of a trip takes. A product of a warpgroup holds the tensor core until its
    operands are there (T36); mma.sync has a rate of its own."""
    unit, lanes = chip["unit"], 32
    held = dict.fromkeys(UNITS, 0.0)
    for name, number in counts["pipes"].items():
        for on, rate in chip["instruction"].get(name, {"lanes_per_clk": {}})["lanes_per_clk"].items():
            held[on] += number * lanes / rate
    held["ISSUE"] = instructions * lanes / unit["ISSUE"]["elements_per_clk"]
    moved = sum(counts[on] for on in ("shared_bytes", "copied_bytes", "operand_bytes", "global_bytes"))
    held["SMEM"] += moved / unit["SMEM"]["bytes_per_clk"]
    if "TMEM" in unit:
        for entry, words in [("tmem_ld", "tensor_memory_words"), ("tmem_st", "tensor_memory_stored_words")]:
            held["TMEM"] += counts[words] * chip["op"][entry]["duration"]["clk_per_16k_elements"] / 16384
    for product in counts["products"]:
        rate = unit["TC"]["macs_per_clk"].get(product["element"], unit["TC"]["macs_per_clk"]["f16"])
        if not product["operand_bytes"]:
            rate = min(rate, chip["op"]["mma_sync"]["duration"].get("rate", rate))
        operands = product["operand_bytes"] / unit["SMEM"]["bytes_per_clk"]
        held["TC"] += product["count"] * max(product["macs"] / rate, operands)
    return held


def tensor(loop):
    """Instructions that multiply."""
    return loop["counts"]["pipes"].get("tensor", 0)


def candidates(loops, partition, partitions, multiplies):
    """The loops of machine code that may be a partition's: innermost but for waits, and of its kind."""
    inner = [l for l in loops if l["working"] == 0 and l["fast"] >= 8]
    copies = lambda l: l["utmaldg"] > 0 or l["counts"]["copied_bytes"] > 0
    if partition == "load":
        return [l for l in inner if copies(l) and not tensor(l)]
    if partition == "mma":
        return [l for l in inner if l["utcmma"] > 0]
    if "mma" in partitions:
        return [l for l in inner if not tensor(l) and not copies(l)]
    return [l for l in inner if tensor(l) > 0] if multiplies else inner


def own(loops, number, of):
    """The loop of machine code that is the numbered one of so many: as many of the largest, in the order of the text."""
    if len(loops) < of:
        return None
    largest = sorted(loops, key=lambda l: -l["fast"])[:of]
    return sorted(largest, key=lambda l: l["head"])[number]


def trips(load, held):
    """How many trips of the model a trip of the machine code is, by the products."""
    if not load.get("TC") or not held["TC"]:
        return 1
    return max(1, round(held["TC"] / load["TC"]))


def rows(command, name, file, chip_name):
    """A kernel's pipelined loops on a chip, or why there are none."""
    chip = chip_file(chip_name)
    with tempfile.TemporaryDirectory() as folder:
        cubin = Path(folder, "ours.cubin")
        ours = ask(command, "compile", file, "--target", chip_name, "--emit", "cubin", "-o", cubin)
        if not ours.get("ok"):
            return {"refused": ours["diagnostics"][0]["message"]}, []
        facts = ours["facts"]
        if not facts["loops"]:
            return {"why": "no pipelined loop"}, []
        sass = ask(command, "sass", cubin)
        if "loops" not in sass:
            return {"problem": sass["diagnostics"][0]["message"]}, []
    warps = {p["name"]: p["warps"] for p in facts["partitions"]}
    found = []
    for number, loop in enumerate(facts["loops"]):
        row = {"kernel": name, "chip": chip_name, "loop": loop["name"], "ii": loop["ii"], "parts": [],
               "model": dict.fromkeys(UNITS, 0), "machine": dict.fromkeys(UNITS, 0.0), "spill": ours["spill_bytes"]}
        for partition, load in loop["loads"].items():
            multiplies = load.get("TC", 0) > 0
            some = candidates(sass["loops"], partition, loop["loads"], multiplies)
            code = own(some, number, len(facts["loops"]))
            if code is None:
                row["why"] = f"{partition}: {len(some)} such loops in the machine code for {len(facts['loops'])}"
                break
            # One warp of a partition that copies by descriptor issues; of one that multiplies for others likewise.
            alone = partition == "mma" or (partition == "load" and code["utmaldg"] > 0)
            by = 1 if alone else warps.get(partition, facts["warps"])
            whole = machine(code["counts"], code["fast"], chip)
            once = machine(code["counts_alone"], code["alone"], chip)
            held = {unit: cycles * by - once[unit] * (by - 1) for unit, cycles in whole.items()}
            if code["utcmma"]:  # Their names do not tell their shapes.
                held["TC"] = load.get("TC", 0)
            times = trips(load, held)
            row["parts"].append({"partition": partition, "warps": by, "trips": times, "head": code["head"],
                                 "instructions": code["fast"], "pipes": code["counts"]["pipes"]})
            for unit in UNITS:
                row["model"][unit] += load.get(unit, 0)
                row["machine"][unit] += held[unit] / times
        found.append(row)
    return {}, found


def agrees(row, unit):
    """Whether a unit's price is the machine code's."""
    model, code = row["model"][unit], row["machine"][unit]
    return abs(model - code) <= max(WITHIN * code, CLOSE)


def little(row, unit):
    """Whether the difference decides little."""
    return abs(row["model"][unit] - row["machine"][unit]) <= WITHIN * row["ii"]


def cell(row, unit):
    """Model/machine, marked where they differ."""
    model, code = row["model"][unit], row["machine"][unit]
    mark = "" if agrees(row, unit) else "~" if little(row, unit) else "!"
    return f"{model}/{code:.0f}{mark}" if model or code >= 0.5 else "-"


def used(row):
    """Units that either side holds."""
    return [u for u in UNITS if row["model"][u] or row["machine"][u] >= 0.5]


def table(head, body):
    """Lines with columns of one width."""
    widths = [max(len(str(line[at])) for line in [head, *body]) for at in range(len(head))]
    for line in [head, *body]:
        print("  ".join(str(text).ljust(width) for text, width in zip(line, widths)).rstrip())


def share(rows, unit, test):
    """Of the loops that hold a unit, how many pass a test; and the middle ratio of model to machine."""
    some = [r for r in rows if unit in used(r)]
    ratios = [r["model"][unit] / r["machine"][unit] for r in some if r["machine"][unit] >= 0.5]
    passed = sum(test(r, unit) for r in some)
    middle = f", {statistics.median(ratios):.2f}" if ratios else ""
    return f"{passed}/{len(some)}{middle}" if some else "-"


def report(found, chips):
    """The loops, then the shares."""
    loops = [r for r in found if "why" not in r]
    table(["kernel", "chip", "II", *UNITS, "instructions"],
          [[r["kernel"], r["chip"], r["ii"], *[cell(r, u) for u in UNITS],
            " + ".join(f"{p['instructions']}x{p['warps']}" + (f":{p['trips']}" if p["trips"] > 1 else "")
                       for p in r["parts"])] for r in loops])
    for row in found:
        if "why" in row:
            print(f"not compared: {row['kernel']} on {row['chip']}, {row['loop']}: {row['why']}")
    print(f"\nmodel/machine in cycles a trip; `!` differs by more than {WITHIN:.0%}, `~` too, but by less than {WITHIN:.0%} of "
          "the II\n")
    print(f"loops within {WITHIN:.0%}, and the middle ratio of model to machine:")
    of = lambda chip: [r for r in loops if chip in ("all", r["chip"])]
    lines = [[chip, len(of(chip)), *[share(of(chip), u, agrees) for u in UNITS],
              sum(all(agrees(r, u) for u in used(r)) for r in of(chip)),
              sum(all(agrees(r, u) or little(r, u) for u in used(r)) for r in of(chip))] for chip in [*chips, "all"]]
    table(["chip", "loops", *UNITS, "all units", "or within 10 % of II"], lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", type=Path, help="the warploom command")
    parser.add_argument("names", nargs="*", help="kernels; default: all of bench/kernels.toml")
    parser.add_argument("--chips", default=",".join(FAMILIES), help="default: %(default)s")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="kernels at a time (default: %(default)s)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="writes every row, with the instructions by class")
    args = parser.parse_intermixed_args()
    known = tomllib.loads((ROOT / "bench/kernels.toml").read_text())
    chips = args.chips.split(",")
    unknown = sorted(set(args.names) - set(known)) + sorted(set(chips) - set(CHIPS))
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}")
    jobs = [(name, ROOT / known[name].get("file", f"kernels/{name}.ttir"), chip)
            for name in args.names or known for chip in chips]
    found, failed = [], 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for job, (note, some) in zip(jobs, pool.map(lambda job: rows(args.command, *job), jobs)):
            found += some
            for kind, text in note.items():
                print(f"{job[0]} on {job[2]}: {text}", file=sys.stderr)
                failed += kind == "problem"
    report(found, chips)
    if args.json:
        args.json.write_text(json.dumps(found, indent=1) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
