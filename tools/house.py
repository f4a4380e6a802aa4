#!/usr/bin/env python3
"""The house at a glance: circles between files, long files, what each crate imports, lines per crate.

    python3 tools/house.py            the report; exit status 1 where a bar is missed
    python3 tools/house.py --json     the same as one JSON value
    python3 tools/house.py --edges crates/sched/src/auto/mod.rs    what one file names, and where it is defined

A file names another when a path in its code (comments, strings and tests aside) leads to an item that the other
defines; re-exports are followed to the definition, and a re-export by itself names nothing. A circle is a strongly
connected component of more than one file. Methods are found through their type only.
"""
import argparse
import json
import re
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIMIT = 400
# Where packages stand: each folder of `crates`, the pages of the rules and what Python loads, which are packages too.
def packages():
    return sorted(f for f in [*(ROOT / "crates").iterdir(), ROOT / "docs" / "rules", ROOT / "python"] if (f / "src").exists())


# Files above the limit that stay, each with its reason.
ARGUED = {}

ITEM = re.compile(
    r"^(?P<indent>[ \t]*)(?:pub(?:\([^)]*\))?\s+)?(?:default\s+|const\s+|async\s+|unsafe\s+|extern\s+\"[^\"]*\"\s+)*"
    r"(?:fn|struct|enum|union|trait|type|static|const|macro_rules!)\s+(?:mut\s+)?(?P<name>[A-Za-z_]\w*)", re.M)
MOD = re.compile(r"^[ \t]*(?:#\[[^\]]*\]\s*)*(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*;", re.M)
PATH_MOD = re.compile(r"#\[path\s*=\s*\"([^\"]+)\"\]\s*(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*;")
USE = re.compile(r"^[ \t]*(?P<vis>pub(?:\([^)]*\))?\s+)?use\s+(?P<tree>[^;]+);", re.M)
PATH = re.compile(r"(?<![\w:.$])((?:[A-Za-z_]\w*)(?:\s*::\s*[A-Za-z_]\w*)+)")


def strip(text):
    """The code without comments, strings, characters and `#[cfg(test)]` modules; line breaks stay."""
    token = re.compile(
        r"//[^\n]*|/\*.*?\*/|b?r(#*)\".*?\"\1|b?\"(?:\\.|[^\"\\])*\"|b?'(?:\\.[^']*|[^\\'\n])'", re.S)
    text = token.sub(lambda m: re.sub(r"[^\n]", " ", m.group(0)), text)
    out, at = [], 0
    for m in re.finditer(r"#\[cfg\((?:test|all\(test[^\]]*)\)\]\s*(?:pub(?:\([^)]*\))?\s+)?mod\s+\w+\s*\{", text):
        if m.start() < at:
            continue
        depth, end = 1, m.end()
        while depth and end < len(text):
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        out.append(text[at:m.start()])
        at = end
    return "".join(out) + text[at:]


def leaves(tree):
    """The paths of a use tree, each with its name here (`None` for a glob)."""
    tree = tree.strip()
    brace = tree.find("{")
    if brace < 0:
        path, _, alias = tree.partition(" as ")
        parts = [p.strip() for p in path.split("::") if p.strip()]
        if parts and parts[-1] == "*":
            return [(parts[:-1], None)]
        if parts and parts[-1] == "self":
            parts = parts[:-1]
        return [(parts, alias.strip() or (parts[-1] if parts else None))]
    prefix = [p.strip() for p in tree[:brace].split("::") if p.strip()]
    inner, depth, piece, out = tree[brace + 1:tree.rfind("}")], 0, "", []
    for c in inner + ",":
        if c == "," and depth == 0:
            if piece.strip():
                out += [(prefix + p, n or None) if n != "self" else (prefix + p, prefix[-1]) for p, n in
                        ((p if p != ["self"] else [], n) for p, n in leaves(piece))]
            piece = ""
        else:
            depth += {"{": 1, "}": -1}.get(c, 0)
            piece += c
    return [(p, n if n is not None or p != prefix else None) for p, n in out]


class Crate:
    """The modules of one package, by path of names."""

    def __init__(self, folder):
        self.folder, self.modules, self.files = folder, {}, {}
        for entry in ("lib.rs", "main.rs"):
            if (folder / "src" / entry).exists():
                self.load((), folder / "src" / entry, folder / "src")
                break

    def load(self, path, file, below):
        raw = file.read_text()
        code = strip(raw)
        indentless = {m["name"] for m in ITEM.finditer(code) if not m["indent"]}
        indentless |= set(re.findall(r"macro_rules!\s+(\w+)", code))
        uses = [(bool(m["vis"]), *leaf) for m in USE.finditer(code) for leaf in leaves(m["tree"])]
        body = USE.sub("", code)
        self.modules[path] = {"file": file, "items": indentless, "uses": uses, "body": body, "children": set()}
        self.files[file] = path
        paths = {name: where for where, name in PATH_MOD.findall(raw)}
        for name in MOD.findall(code):
            if name in paths:
                child = file.parent / paths[name]
                deeper = child.parent
            else:
                child, deeper = below / f"{name}.rs", below / name
                if not child.exists():
                    child = below / name / "mod.rs"
            if child.exists():
                self.modules[path]["children"].add(name)
                self.load(path + (name,), child, deeper)

    def resolve(self, start, parts, seen=()):
        """The files that define what a path means; empty where it leads out of the crate."""
        at, rest = start, list(parts)
        if not rest:
            return set()
        if rest[0] == "crate":
            at, rest = (), rest[1:]
        elif rest[0] == "self":
            rest = rest[1:]
        elif rest[0] == "super":
            while rest and rest[0] == "super":
                at, rest = at[:-1], rest[1:]
        while rest and rest[0] in self.modules[at]["children"]:
            at, rest = at + (rest[0],), rest[1:]
        here = self.modules[at]
        if not rest:
            return {here["file"]} if here["items"] or not here["children"] else set()
        name = rest[0]
        if name in here["items"]:
            return {here["file"]}
        if (at, name) in seen:
            return set()
        for _, path, alias in here["uses"]:
            if alias == name:
                found = self.resolve(at, path + rest[1:], (*seen, (at, name)))
                if found:
                    return found
        for _, path, alias in here["uses"]:
            if alias is None and path:
                found = self.resolve(at, [*path, name], (*seen, (at, name)))
                if found:
                    return found
        return set()

    def names(self, module):
        """What the file of a module names in other files of its crate."""
        here, out = self.modules[module], set()
        for public, path, alias in here["uses"]:
            if alias is None and path and path[0] in ("crate", "self", "super", *here["children"]):
                for word in set(re.findall(r"\b[A-Za-z_]\w*\b", here["body"])):
                    out |= self.resolve(module, [*path, word])
            elif public and not re.search(rf"\b{re.escape(alias or '')}\b", here["body"]):
                continue
            else:
                out |= self.resolve(module, path)
        for m in PATH.finditer(here["body"]):
            parts = [p.strip() for p in m.group(1).split("::")]
            if parts[0] in ("crate", "self", "super") or parts[0] in here["children"]:
                out |= self.resolve(module, parts)
            elif any(alias == parts[0] for _, _, alias in here["uses"]):
                out |= self.resolve(module, parts)
        out.discard(here["file"])
        return out


def components(graph):
    """Strongly connected components of more than one node (Tarjan, iterative)."""
    index, low, on, stack, found, count = {}, {}, set(), [], [], 0
    for root in sorted(graph):
        if root in index:
            continue
        work = [(root, iter(sorted(graph[root])))]
        index[root] = low[root] = count
        count += 1
        stack.append(root)
        on.add(root)
        while work:
            node, todo = work[-1]
            step = next(todo, None)
            if step is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    part = set()
                    while True:
                        top = stack.pop()
                        on.discard(top)
                        part.add(top)
                        if top == node:
                            break
                    if len(part) > 1:
                        found.append(sorted(part))
            elif step not in index:
                index[step] = low[step] = count
                count += 1
                stack.append(step)
                on.add(step)
                work.append((step, iter(sorted(graph.get(step, ())))))
            elif step in on:
                low[node] = min(low[node], index[step])
    return sorted(found, key=len, reverse=True)


def lines(file):
    return file.read_text().count("\n")


def imports(folder):
    """The workspace packages that a package's manifest depends on (build and test dependencies aside)."""
    section, out = "", []
    for row in (folder / "Cargo.toml").read_text().splitlines():
        if row.startswith("["):
            section = row.strip("[] ")
        elif section == "dependencies" and (m := re.match(r"(warploom(?:-\w+)*)\b", row)):
            out.append(m.group(1).replace("warploom-", ""))
    return sorted(out)


def report():
    out = {"circles": [], "long": [], "crates": {}}
    for folder in packages():
        crate = Crate(folder)
        graph = {str(m["file"].relative_to(ROOT)): {str(f.relative_to(ROOT)) for f in crate.names(path)}
                 for path, m in crate.modules.items()}
        for part in components(graph):
            edges = {f: sorted(graph[f] & set(part)) for f in part}
            out["circles"].append({"crate": folder.name, "files": part, "edges": edges,
                                   "lines": sum(lines(ROOT / f) for f in part)})
        files = [f for f in folder.rglob("*.rs") if "target" not in f.parts]
        source = [f for f in files if "src" in f.relative_to(folder).parts]
        out["crates"][folder.name] = {"imports": imports(folder), "files": len(files),
                                      "source_lines": sum(map(lines, source)), "lines": sum(map(lines, files))}
        out["long"] += [[str(f.relative_to(ROOT)), lines(f)] for f in files if lines(f) > LIMIT]
    out["long"].sort(key=lambda row: -row[1])
    out["lines"] = sum(c["lines"] for c in out["crates"].values())
    return out


def show(out):
    print(f"circles between files: {len(out['circles'])}")
    for circle in out["circles"]:
        print(f"  {circle['crate']}: {len(circle['files'])} files, {circle['lines']} lines")
        for file, named in circle["edges"].items():
            print(f"    {file} names {', '.join(named)}")
    print(f"files above {LIMIT} lines: {len(out['long'])}")
    for file, count in out["long"]:
        print(f"  {count:5} {file}" + (f": {ARGUED[file]}" if file in ARGUED else ""))
    print("crates:                 files  lines in src   lines   imports")
    for name, crate in out["crates"].items():
        print(f"  {name:20} {crate['files']:6} {crate['source_lines']:13} {crate['lines']:7}   "
              + (", ".join(crate["imports"]) or "-"))
    print(f"lines of Rust: {out['lines']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="one JSON value")
    parser.add_argument("--edges", metavar="FILE", help="what one file names, and where it is defined")
    args = parser.parse_args()
    if args.edges:
        file = (ROOT / args.edges).resolve()
        folder = next(f for f in packages() if file.is_relative_to(f))
        crate = Crate(folder)
        for named in sorted(crate.names(crate.files[file])):
            print(named.relative_to(ROOT))
        return 0
    out = report()
    print(json.dumps(out, indent=1)) if args.json else show(out)
    missed = out["circles"] or [f for f, _ in out["long"] if f not in ARGUED]
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
