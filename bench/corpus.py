"""The corpus as a gate: every kernel on every chip, beside Triton's own compile of the same TTIR in the same run.

    make corpus [DATA=DIR]                              (or: python bench/corpus.py WARPLOOM [--data DIR] [NAME ..])

Per kernel and chip: the strategy, how products are made, II against its bound and against the best priced strategy,
registers, spills, instructions a trip weighted by warps, compile time, the emulator's verdict. Kernels are those of
bench/kernels.toml and, with `--data`, those of DIR/real/kernels.jsonl with their arguments. Writes OUT/corpus.json and
OUT/corpus.html. The exit status is 1 where a kernel ends in `internal`, runs wrong or has a finding.
"""

import argparse
import concurrent.futures
import html
import json
import os
import re
import statistics
import sys
import tempfile
import tomllib
from pathlib import Path

from kernels import FAMILIES, CHIPS, ROOT, Triton, ask, beside, emulate, multiplying, parts

# Products by engine, best first.
ENGINES = [("tcgen05", r"tcgen05\.mma"), ("wgmma", r"wgmma\.mma_async"), ("mma.sync", r"\bmma\.sync"), ("none", "")]


def repository():
    """Kernels of the repository: name, file, launches, Triton's warps and stages."""
    known = tomllib.loads((ROOT / "bench/kernels.toml").read_text())
    for name, entry in known.items():
        file = ROOT / entry.get("file", f"kernels/{name}.ttir")
        yield name, file, entry["cases"], 8 if "tt.dot" in file.read_text() else 4, None


def public(folder):
    """Kernels of a folder, each with one launch where it has arguments."""
    for line in (folder / "real/kernels.jsonl").read_text().splitlines():
        kernel = json.loads(line)
        run, cases = kernel["run"], []
        if run is not None:
            words = [str(run.get(name, "[65536]")) for name in kernel["args"]]
            cases = [" ".join(words) + " / " + kernel["grid"]]
        yield kernel["name"], folder / "real" / f"{kernel['name']}.ttir", cases, kernel["nw"], kernel["ns"]


def engine(ptx):
    """The best instruction that multiplies in a text of PTX."""
    return next(name for name, pattern in ENGINES if re.search(pattern, ptx))


def weighted(sass, warps, other):
    """Instructions of all warps in a trip, those of each part of the kernel times its warps, and whether a loop
    multiplies: a loop that was unrolled whole leaves one that only waits. Where another compiler left fewer loops that
    multiply, as many are compared."""
    if "loops" not in sass:
        return {"trip": None}
    found = parts(sass["loops"], len(multiplying(other.get("loops", []))) or None)
    trip = sum(found[part] * warps(part) for part in found if found[part] is not None)
    return {"trip": trip or None, "multiplies": "products" in found}


def own_warps(partitions):
    """Warps that run a part: copies, products and arithmetic have partitions of these names, or one runs all."""
    names = {"copies": ("load",), "products": ("mma", "math"), "arithmetic": ("math",)}
    by_name = {p["name"]: p["warps"] for p in partitions}
    most = max(by_name.values(), default=1)
    return lambda part: next((by_name[n] for n in names[part] if n in by_name), most)


def measure(command, job, triton, interleavings):
    """Everything known of one kernel on one chip."""
    (name, file, cases, warps, stages), chip = job
    found = {"kernel": name, "chip": chip, "product": "tt.dot" in file.read_text()}
    theirs = beside(command, triton, file, chip, warps, stages)
    sass, other = {}, {} if isinstance(theirs, str) else theirs[3]
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder, "ours.ptx")
        ours = ask(command, "compile", file, "--target", chip, "--emit", "ptx", "-o", text)
        if ours.get("ok"):
            facts, sass = ours["facts"], ask(command, "sass", text, "--target", chip)
            priced = [s["ii"] for s in facts["strategies"] if s["ii"] is not None]
            taken = next((s for s in facts["strategies"] if s["verdict"] == "taken"), None)
            found["ours"] = {
                "strategy": taken["name"] if taken else "one partition",
                "engine": engine(text.read_text()), "loops": facts["loops"], "partitions": facts["partitions"],
                "best_ratio": taken["ii"] / min(priced) if taken and taken["ii"] and min(priced) else None,
                "seconds": sum(ours["micros"].values()) * 1e-6, "registers": sass.get("registers"),
                "spill": sass.get("spill_bytes"), "shared": ours["shared"],
                **weighted(sass, own_warps(facts["partitions"]), other),
                "remarks": [r["message"] for r in ours["remarks"]]}
            if cases:
                found["emulator"] = emulate(command, file, chip, cases, interleavings)
        else:
            first = ours["diagnostics"][0]
            found["refused"] = {k: first.get(k) for k in ("code", "rule", "message", "line")}
    if isinstance(theirs, str):
        found["triton"] = {"problem": theirs}
    else:
        ptx, shared, seconds, _ = theirs
        found["triton"] = {"engine": engine(ptx), "seconds": seconds, "shared": shared, "registers":
                           other.get("registers"), "spill": other.get("spill_bytes"),
                           **weighted(other, lambda _: warps, sass)}
    return found


def problem(found):
    """What the gate does not let pass."""
    if found.get("refused", {}).get("code") == "internal":
        return "internal: " + found["refused"]["message"]
    run = found.get("emulator", {})
    return run.get("problem") or (f"{run['findings']} findings" if run.get("findings") else None)


def ratio(found):
    """Our instructions a trip over Triton's, where the same kind of loop is compared."""
    ours, theirs = found.get("ours", {}), found["triton"]
    alike = ours.get("trip") and theirs.get("trip") and ours["multiplies"] == theirs["multiplies"]
    return ours["trip"] / theirs["trip"] if alike else None


ASYNCHRONOUS = ("wgmma", "tcgen05")


def summary(rows, chip):
    """A chip's line."""
    rows = [r for r in rows if r["chip"] == chip]
    done = [r for r in rows if "ours" in r]
    both = [r for r in rows if r["triton"].get("engine") in ASYNCHRONOUS]
    like = [r for r in both if r.get("ours", {}).get("engine") in ASYNCHRONOUS]
    ratios = [ratio(r) for r in done if ratio(r)]
    spills = [r for r in done if r["ours"]["spill"]]
    faster = [r["triton"]["seconds"] / r["ours"]["seconds"] for r in done if r["triton"].get("seconds")]
    seconds = [r["ours"]["seconds"] for r in done]
    share = lambda test: f"{sum(map(test, ratios))} of {len(ratios)}"
    return {
        "chip": chip, "kernels": len(rows), "compile": len(done),
        "run right": f"{sum('emulator' in r and not problem(r) for r in done)} of {sum('emulator' in r for r in done)}",
        "internal": sum(r.get("refused", {}).get("code") == "internal" for r in rows),
        "asynchronous products": sum(r["ours"]["engine"] in ASYNCHRONOUS for r in done),
        "where Triton's are": f"{len(like)} of {len(both)}", "spill": len(spills),
        "spill, Triton does not": sum(r["triton"].get("spill") == 0 for r in spills),
        "trip <= 1.1 of Triton's": share(lambda x: x <= 1.1), "best strategy taken":
            f"{sum((r['ours']['best_ratio'] or 1) <= 1.0001 for r in done)} of {len(done)}",
        "compile median, worst s": f"{statistics.median(seconds):.2f}, {max(seconds):.2f}" if seconds else "-",
        "times Triton's speed": f"{statistics.geometric_mean(faster):.1f}" if faster else "-"}


def cells(found):
    """A row of the page, the worse a cell the redder."""
    theirs, good = found["triton"], ("", "")
    other = theirs.get("problem", theirs.get("engine"))
    if "refused" in found:
        why = f"{found['refused']['message']} [{found['refused']['rule'] or found['refused']['code']}]"
        return [(found["kernel"], ""), (found["chip"], ""), ("refused: " + why, "bad"), good, good, good, good, good,
                (other, ""), good]
    ours, run, times = found["ours"], found.get("emulator"), ratio(found)
    ii = ", ".join(f"{l['ii']} ({l['lower_bound']})" for l in ours["loops"]) or "-"
    best = ours["best_ratio"]
    lags = theirs.get("engine") in ASYNCHRONOUS and ours["engine"] not in ASYNCHRONOUS
    spills = ours["spill"] and not theirs.get("spill")
    verdict = problem(found) or (f"{run['runs']} runs, {run['error']:.0e}" if run else "not run")
    return [(found["kernel"], ""), (found["chip"], ""), (ours["strategy"], ""), (ours["engine"], "bad" if lags else ""),
            (ii + (f", {best:.2f} of best" if best and best > 1.0001 else ""), "poor" if best and best > 1.05 else ""),
            (f"{ours['registers']} / {theirs.get('registers', '-')}", ""),
            (f"{ours['spill']} / {theirs.get('spill', '-')}", "bad" if spills else ""),
            (f"{ours['trip'] or '-'} / {theirs.get('trip') or '-'}" + (f" = {times:.2f}" if times else ""),
             "poor" if times and times > 1.1 else ""),
            (f"{other}, {theirs.get('seconds', 0):.2f} s / ours {ours['seconds']:.2f} s", ""),
            (verdict, "bad" if problem(found) else "")]


HEAD = ["kernel", "chip", "strategy", "products", "II (bound)", "registers ours / Triton", "spilled B",
        "instructions a trip, all warps", "Triton's products, seconds", "emulator"]
STYLE = """body{font:14px sans-serif;margin:2em}table{border-collapse:collapse}td,th{border:1px solid #ccc;padding:2px 6px;
text-align:left;vertical-align:top}th{background:#eee;position:sticky;top:0}.bad{background:#f6b7b0}.poor{background:#fbe6b5}"""


def page(rows, lines):
    """One page to look at."""
    table = lambda head, body: "<table><tr>" + "".join(f"<th>{html.escape(h)}</th>" for h in head) + "</tr>" + "".join(
        "<tr>" + "".join(f'<td class="{kind}">{html.escape(str(text))}</td>' for text, kind in row) + "</tr>"
        for row in body) + "</table>"
    top = table(list(lines[0]), [[(value, "") for value in line.values()] for line in lines])
    return (f"<!doctype html><meta charset=utf-8><title>Warploom: corpus</title><style>{STYLE}</style><h1>Corpus</h1>"
            f"<p>Ours before the stroke, Triton's behind it. Red: the gate or a bar of the project fails.</p>{top}<p></p>"
            + table(HEAD, [cells(found) for found in rows]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", type=Path, help="the warploom command, built with --release")
    parser.add_argument("names", nargs="*", help="kernels; default: all")
    parser.add_argument("--data", type=Path, metavar="DIR", help="public kernels: DIR/real/kernels.jsonl and TTIR beside it")
    parser.add_argument("--only-data", action="store_true", help="leave the kernels of the repository out")
    parser.add_argument("--chips", default=",".join(FAMILIES), help="default: %(default)s")
    parser.add_argument("--interleavings", type=int, default=4, help="random orders of each launch (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="kernels at a time (default: %(default)s)")
    parser.add_argument("--out", type=Path, default=ROOT / "out", help="folder of corpus.json and corpus.html")
    args = parser.parse_intermixed_args()
    chips = args.chips.split(",")
    if not set(chips) <= set(CHIPS):
        parser.error(f"unknown chip: {', '.join(sorted(set(chips) - set(CHIPS)))}")
    if args.data and not (args.data / "real/kernels.jsonl").is_file():
        parser.error(f"{args.data}/real/kernels.jsonl is not there")
    if args.only_data and not args.data:
        parser.error("--only-data needs --data")
    kernels = [] if args.only_data else list(repository())
    kernels += list(public(args.data)) if args.data else []
    unknown = set(args.names) - {k[0] for k in kernels}
    if unknown:
        parser.error(f"unknown kernel: {', '.join(sorted(unknown))}")
    jobs = [(k, chip) for k in kernels if not args.names or k[0] in args.names for chip in chips]
    triton, rows = Triton(), []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for found in pool.map(lambda job: measure(args.command, job, triton, args.interleavings), jobs):
            rows.append(found)
            print(f"{len(rows)}/{len(jobs)} {found['kernel']} {found['chip']}", problem(found) or "", file=sys.stderr)
    lines = [summary(rows, chip) for chip in chips]
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "corpus.json").write_text(json.dumps({"summary": lines, "rows": rows}, indent=1) + "\n")
    (args.out / "corpus.html").write_text(page(rows, lines))
    for line in lines:
        print("; ".join(f"{key}: {value}" for key, value in line.items()))
    failed = [found for found in rows if problem(found)]
    for found in failed:
        print(f"FAILED {found['kernel']} {found['chip']}: {problem(found)}")
    print(f"{args.out}/corpus.html shows every row")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
