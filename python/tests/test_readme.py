"""What the README shows is what happens."""

import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).resolve().parents[1] / "README.md"


def test_the_ten_lines_print_right_results(tmp_path):
    (program, ) = re.findall(r"```python\n(# add_and_matmul.py\n.*?)```", README.read_text(), re.S)
    (tmp_path / "add_and_matmul.py").write_text(program)
    done = subprocess.run([sys.executable, "add_and_matmul.py"], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout == "add is right: True\nmatmul is right: True\n", done.stderr
