#!/usr/bin/env python3
"""Writes triton_attributes.txt: what the operations of Triton's dialect are told beside their operands, as the installed
Triton defines them, and the attributes that its front end and its launcher put on arguments, loops and functions.

    .venv/bin/python crates/ir/tests/triton_attributes.py
"""

import re
from pathlib import Path

import triton

ROOT = Path(triton.__file__).parent


def inherent():
    """The attributes of each operation, from the definitions that Triton ships."""
    text = (ROOT / "include/triton/Dialect/Triton/IR/TritonOps.td").read_text()
    text = re.sub(r"//[^\n]*", "", text)
    for name, body in re.findall(r'TT_Op<"([\w.]+)"(.*?)(?=\ndef |\Z)', text, re.S):
        arguments = re.search(r"let arguments = \(\s*ins(.*?)\);", body, re.S)
        found = re.findall(r"(\w*Attr\w*|TT_ProgramDim)\b(?:<[^:]*>)?\s*:\s*\$(\w+)", arguments.group(1)) if arguments else []
        found = [attribute for _, attribute in found]
        # `DefaultValuedAttr<X, "a::b">` holds colons.
        defaults = re.findall(r"DefaultValuedAttr<[^$]*>\s*:\s*\$(\w+)", arguments.group(1)) if arguments else []
        if "AttrSizedOperandSegments" in body:
            found.append("operandSegmentSizes")
        yield from (f"tt.{name} {attribute}" for attribute in sorted({*found, *defaults}))


def discardable():
    """Attributes with the name of a dialect in the front end and in the backend for NVIDIA."""
    files = [*(ROOT / "language").glob("*.py"), *(ROOT / "compiler").glob("*.py"), *(ROOT / "backends").glob("*.py"),
             *(ROOT / "runtime").glob("*.py"), *(ROOT / "backends/nvidia").glob("*.py")]
    words = set()
    for file in files:
        words |= set(re.findall(r'"((?:tt|llvm)\.[a-z]\w*)"', file.read_text()))
    return sorted(f"* {word}" for word in words)


def main():
    lines = [f"# Attributes of Triton {triton.__version__}, written by triton_attributes.py.", *inherent(), *discardable()]
    Path(__file__).with_suffix(".txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
