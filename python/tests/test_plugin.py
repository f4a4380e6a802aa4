"""The plug-in of pytest, in a pytest of its own."""

import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
SUITE = f"""
import sys
sys.path.insert(0, {str(HERE)!r})
import kernels, numpy as np, pytest

def test_right():
    x, y = np.zeros(256, np.int32), np.zeros(256, np.int32)
    kernels.rotate_right[(1, )](x, y, BLOCK=256)

def test_racy():
    x, y = np.zeros(256, np.int32), np.zeros(256, np.int32)
    kernels.rotate[(1, )](x, y, BLOCK=256)

def test_nothing():
    pass
"""


def run(folder, *options):
    (folder / "test_suite.py").write_text(SUITE)
    # What the suite leaves behind lies in this folder alone.
    places = {name: str(folder / name.lower()) for name in ("HOME", "TMPDIR", "TRITON_CACHE_DIR")}
    for place in places.values():
        Path(place).mkdir(exist_ok=True)
    line = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={folder}/junit.xml", *options]
    return subprocess.run(line, cwd=folder, env={**os.environ, **places}, capture_output=True, text=True)


@pytest.mark.parametrize("side_by_side", [(), ("-n", "2")])
def test_a_race_fails_its_test_and_stands_in_the_reports(tmp_path, side_by_side):
    done = run(tmp_path, "--warploom", "sm_90a", "--interleavings", "2", *side_by_side)
    assert done.returncode == 1 and "2 passed" in done.stdout and "1 failed" in done.stdout, done.stdout
    assert "RaceError" in done.stdout and "kernels.py" in done.stdout
    assert "2 launches, " in done.stdout and "findings: R0" in done.stdout
    cases = ElementTree.parse(tmp_path / "junit.xml").iter("testcase")
    fields = {case.get("name"): {p.get("name"): p.get("value") for p in case.iter("property")} for case in cases}
    assert fields["test_racy"]["warploom_findings"].startswith("R0") and not fields["test_right"]["warploom_findings"]
    assert fields["test_right"]["warploom_synchronisation"] and not fields["test_nothing"]


def test_what_fails_is_chosen(tmp_path):
    done = run(tmp_path, "--warploom", "sm_100a", "--fail-on", "bounds,deadlock")
    assert done.returncode == 0 and "3 passed" in done.stdout, done.stdout


@pytest.mark.parametrize("options", [["--warploom", "sm_12"], ["--warploom", "sm_90a", "--fail-on", "everything"],
                                     ["--warploom", "sm_90a", "--interleavings", "0"]])
def test_wrong_options_are_refused(tmp_path, options):
    done = run(tmp_path, *options)
    assert done.returncode == 4 and "instead:" in done.stderr, done.stderr


ENDLESS = """
import numpy as np, sys, triton, triton.language as tl, warploom.triton

@triton.jit
def endless(x):
    # Each turn changes memory: what only waits is found to be a deadlock.
    while tl.atomic_add(x, 1) >= 0:
        pass

warploom.triton.emulate("sm_90a", max_steps=2**62)
print("begins", flush=True)
endless[(1, )](np.zeros(1, np.int32))
"""


def test_a_process_that_is_killed_leaves_no_file_behind(tmp_path):
    (tmp_path / "endless.py").write_text(ENDLESS)
    places = {name: tmp_path / name.lower() for name in ("HOME", "TMPDIR", "TRITON_CACHE_DIR")}
    for place in places.values():
        place.mkdir()
    line = [sys.executable, "-B", "endless.py"]
    env = {**os.environ, **{name: str(place) for name, place in places.items()}}
    with subprocess.Popen(line, cwd=tmp_path, env=env, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "begins\n"
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(3)
        process.kill()
    # Triton's own cache aside.
    left = [f for f in tmp_path.rglob("*") if f.is_file() and places["TRITON_CACHE_DIR"] not in f.parents]
    assert [f.name for f in left] == ["endless.py"]
