#!/usr/bin/env python3
"""Writes triton_operations.txt: the operations of the dialects that Triton's front end writes, as the installed Triton
registers them.

    .venv/bin/python crates/ir/tests/triton_operations.py

Names come from the strings of Triton's library; whether one is an operation is what its own parser says of it.
"""

import os
import re
import sys
import tempfile
from pathlib import Path

import triton
from triton._C import libtriton
from triton._C.libtriton import ir

DIALECTS = ("tt", "arith", "math", "scf", "cf", "ub")


def said(context, text):
    """What Triton's parser writes to standard error about a module."""
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file, tempfile.TemporaryFile("w+") as err:
        file.write(text)
        file.flush()
        sys.stderr.flush()
        kept = os.dup(2)
        os.dup2(err.fileno(), 2)
        try:
            ir.parse_mlir_module(file.name, context)
        except RuntimeError:
            pass
        finally:
            os.dup2(kept, 2)
            os.close(kept)
        err.seek(0)
        return err.read()


def main():
    context = ir.context()
    ir.load_dialects(context)
    library = Path(libtriton.__file__).read_bytes()
    words = set(re.findall(rb"\b(?:%s)\.[a-z][a-z0-9_]*(?:\.[a-z_]+)?" % "|".join(DIALECTS).encode(), library))
    names = sorted(word.decode() for word in words)
    lines = [f"# Operations of Triton {triton.__version__}, written by triton_operations.py."]
    for name in names:
        answer = said(context, f'module {{ "{name}"() : () -> () }}')
        if "unregistered" not in answer:
            lines.append(name)
    Path(__file__).with_suffix(".txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
