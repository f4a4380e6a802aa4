"""The library without Triton: compile, explain, schedule, assign, pack, run, and how each refuses."""

import json
import pickle
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import warploom

ROOT = Path(__file__).resolve().parents[2]
GEMM = (ROOT / "examples/kernels/gemm.ttir").read_text()
RACE = (ROOT / "examples/ptx/race.ptx").read_text()

DOUBLE = """
.version 8.0
.target sm_90a
.address_size 64
.visible .entry double(.param .u64 data, .param .f32 by, .param .u32 n) .reqntid 32 {
    .reg .b32 %r<4>; .reg .f32 %f<3>; .reg .b64 %rd<3>; .reg .pred %p;
    ld.param.u64 %rd1, [data]; ld.param.f32 %f2, [by]; ld.param.u32 %r2, [n];
    mov.u32 %r1, %tid.x;
    setp.ge.u32 %p, %r1, %r2;
    @%p bra DONE;
    mad.wide.u32 %rd2, %r1, 4, %rd1;
    ld.global.f32 %f1, [%rd2];
    mul.f32 %f1, %f1, %f2;
    st.global.f32 [%rd2], %f1;
DONE: ret;
}"""
FOREVER = """
.version 8.0
.target sm_90a
.address_size 64
.visible .entry forever() .reqntid 32 {
    .reg .b32 %r<2>; .reg .pred %p;
    mov.u32 %r1, 0;
LOOP: add.u32 %r1, %r1, 1;
    setp.ne.u32 %p, %r1, 0;
    @%p bra LOOP;
    ret;
}"""


def test_compiles_with_the_launch_record():
    made = warploom.compile(GEMM, "sm_90a")
    assert ".target sm_90a" in made.ptx and made.launch["name"] in made.ptx
    assert made.launch["num_warps"] % 4 == 0 and made.facts["loops"]
    resumed = warploom.compile(warploom.compile(GEMM, "sm_90a", emit="scheduled").text, "sm_90a")
    assert resumed.ptx == made.ptx
    assert "II" in warploom.explain(GEMM, "sm_90a")


def test_a_refusal_has_the_fields_of_its_diagnostic():
    with pytest.raises(warploom.CompileError) as caught:
        warploom.compile(GEMM.replace("tt.dot", "tt.dott"), "sm_90a", name="mine.ttir")
    error = caught.value
    assert error.file == "mine.ttir" and error.line and error.column and "tt.dott" in str(error)
    assert pickle.loads(pickle.dumps(error)).diagnostics == error.diagnostics


@pytest.mark.parametrize("call, says", [
    (lambda: warploom.compile(GEMM, "sm_90a", dept=3), "unknown option 'dept'"),
    (lambda: warploom.compile(GEMM, "sm_90a", depth="many"), "many"),
    (lambda: warploom.compile(GEMM, "sm_99"), "sm_99"),
    (lambda: warploom.compile(GEMM, "sm_90a", emit="cubin"), "cubin"),
    (lambda: warploom.compile(b"bytes", "sm_90a"), "bytes"),
    (lambda: warploom.explain(GEMM, "sm_90a", tune="yes"), "truth"),
    (lambda: warploom.schedule("{"), ""),
    (lambda: warploom.assign({}), ""),
    (lambda: warploom.pack("id,size\n1,one\n"), ""),
    (lambda: warploom.pack([{"id": 1, "lower": 0, "upper": 1, "size": 8}], nods=1), "nods"),
])
def test_bad_input_is_refused_in_words(call, says):
    with pytest.raises(warploom.Refused) as caught:
        call()
    assert says in str(caught.value) and caught.value.message


def test_schedules_assigns_packs_and_knows_the_chips():
    graph = {"name": "one", "resources": [{"name": "U", "count": 1}],
             "nodes": [{"id": 0, "latency": 2, "uses": [{"resource": "U", "duration": 2}]}], "edges": []}
    assert warploom.schedule(graph)["ii"] == 2
    assert warploom.assign((ROOT / "examples/problems/buffers.json").read_text())
    rows = [{"id": i, "lower": i, "upper": i + 2, "size": 64} for i in range(3)]
    packed = warploom.pack(rows, capacity=128)
    assert packed["outcome"] == "Fits" and packed["peak"] == 128, packed
    assert "sm_90a" in [chip["chip"]["name"] for chip in warploom.targets()]
    graphs = warploom.compile(GEMM, "sm_90a", emit="graph").text.splitlines()
    assert warploom.schedule(json.loads(graphs[0]))["ii"] > 0


def test_runs_ptx_on_arrays():
    x = np.arange(32, dtype=np.float32)
    report = warploom.run(DOUBLE, x, 3, 20, grid=1, interleavings=3)
    assert np.array_equal(x, np.arange(32) * np.where(np.arange(32) < 20, 3, 1))
    assert report.clean and len(report.runs) == 3 and not report.differ


def test_runs_triton_ir_on_arrays():
    rng = np.random.default_rng(0)
    a, b = (rng.random((rows, 128), np.float32) - 0.5 for rows in (128, 256))
    a, b = (warp16(v) for v in (a, b))
    c = np.zeros((128, 256), np.uint16)
    made = warploom.compile(GEMM, "sm_90a")
    maps = made.launch["tensordesc_meta"]
    assert len(maps) == 3, maps
    warploom.run(made, a, b, c, 128, grid=1)
    want = widen(a) @ widen(b).T
    assert np.abs(widen(c) - want).max() < 1e-2 * np.abs(want).max()


def warp16(values):
    return (values.view(np.uint32) >> 16).astype(np.uint16)


def widen(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


def test_a_race_is_raised_with_both_lines():
    with pytest.raises(warploom.RaceError) as caught:
        warploom.run(RACE, np.zeros(64, np.uint32), grid=1)
    (found, ) = (f for f in caught.value.all if f.second)
    assert found.first.ptx_line == found.second.ptx_line == 10 and caught.value.code == "R01"
    assert isinstance(pickle.loads(pickle.dumps(caught.value)), warploom.RaceError)
    with pytest.warns(UserWarning, match="R01"):
        warploom.run(RACE, np.zeros(64, np.uint32), grid=1, fail_on="bounds")


def test_what_goes_wrong_has_a_name():
    with pytest.raises(warploom.OutOfBoundsError) as caught:
        warploom.run(DOUBLE, np.zeros(8, np.float32), 1, 32, grid=1)
    assert "argument 0" in str(caught.value) or caught.value.found.buffer is None
    with pytest.raises(warploom.BudgetError):
        warploom.run(FOREVER, grid=1, max_steps=1000)


@pytest.mark.parametrize("call, says", [
    (lambda x: warploom.run(DOUBLE, x, 1, 8, grid=0), "grid"),
    (lambda x: warploom.run(DOUBLE, x, 1, 8, grid=(1, -1)), "grid"),
    (lambda x: warploom.run(DOUBLE, x, 1, 8, grid=1.5), "grid of 1.5"),
    (lambda x: warploom.run(DOUBLE, x, 1, 8, grid=None), "grid of None"),
    (lambda x: warploom.run(DOUBLE, x, 1, 8, grid=1, block=0), "a block of 0"),
    (lambda x: warploom.run(DOUBLE, x, 1, 8, grid=1, cluster="2"), "a cluster of '2'"),
    (lambda x: warploom.run(DOUBLE, x, 1, 8, grid=1, smem=-1), "smem=-1"),
    (lambda x: warploom.run(DOUBLE, x, 1, 8, grid=1, seed="one"), "seed='one'"),
    (lambda x: warploom.run(DOUBLE, x, 1, 8, grid=1, threads=-2), "threads=-2"),
    (lambda x: warploom.run(DOUBLE.encode(), x, 1, 8, grid=1), "type bytes"),
    (lambda x: warploom.run(DOUBLE, np.ma.masked_array(x, x > 1), 1, 8, grid=1), "masked"),
    (lambda x: warploom.run(DOUBLE, x, 1, grid=1), "arguments"),
    (lambda x: warploom.run(DOUBLE, x, 1, 8, 9, grid=1), "arguments"),
    (lambda x: warploom.run(DOUBLE, x[::2], 1, 8, grid=1), "contiguous"),
    (lambda x: warploom.run(DOUBLE, x.astype(object), 1, 8, grid=1), "object"),
    (lambda x: warploom.run(DOUBLE, x.astype(">f4"), 1, 8, grid=1), ">f4"),
    (lambda x: warploom.run(DOUBLE, x, 1, x, grid=1), "array"),
    (lambda x: warploom.run(DOUBLE, x, "1", 8, grid=1), "str"),
    (lambda x: warploom.run(DOUBLE, x, 1, 1 << 40, grid=1), "fit"),
    (lambda x: warploom.run(DOUBLE, x, 1, 8, grid=1, entry="triple"), "double"),
    (lambda x: warploom.run(DOUBLE, x, 1, 8, grid=1, interleaving=8), "interleaving"),
    (lambda x: warploom.run(DOUBLE, x, 1, 8, grid=1, interleavings=0), "interleavings"),
    (lambda x: warploom.run(DOUBLE, x, 1, 8, grid=1, policies=("late",)), "late"),
    (lambda x: warploom.run(DOUBLE, x, 1, 8, grid=1, fail_on="races"), "races"),
    (lambda x: warploom.run(DOUBLE, x, 1, 8, grid=1, block=(4096, 2, 1)), ""),
    (lambda x: warploom.run(DOUBLE.replace("mul.f32", "mull.f32"), x, 1, 8, grid=1), "mull"),
    (lambda x: warploom.run(".version 8.0\n.entry", x, grid=1), ""),
    (lambda x: warploom.run(GEMM, x, grid=1), "target"),
])
def test_bad_launches_are_refused_in_words(call, says):
    with pytest.raises(warploom.Refused) as caught:
        call(np.zeros(32, np.float32))
    assert says in str(caught.value)


def test_a_read_only_array_is_not_written():
    x = np.zeros(32, np.float32) + 1
    x.flags.writeable = False
    with pytest.raises(warploom.LaunchError, match="read-only"):
        warploom.run(DOUBLE, x, 2, 32, grid=1)
    assert np.array_equal(x, np.ones(32))


def test_ctrl_c_ends_a_launch():
    program = f"import warploom\nprint('begun', flush=True)\nwarploom.run({FOREVER!r}, grid=1, max_steps=10**12)"
    pipes = dict(stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    running = subprocess.Popen([sys.executable, "-c", program], text=True, **pipes)
    assert running.stdout.readline() == "begun\n"
    running.send_signal(signal.SIGINT)
    assert "KeyboardInterrupt" in running.communicate(timeout=20)[1] and running.returncode != 0


def test_the_command_is_in_the_package():
    line = [sys.executable, "-m", "warploom", "targets"]
    assert "sm_90a" in subprocess.run(line, capture_output=True, text=True, check=True).stdout
    wrong = subprocess.run([*line[:-1], "compile", "no.ttir", "--target", "sm_90a"], capture_output=True, text=True)
    assert wrong.returncode == 1 and "no.ttir" in wrong.stderr


def test_a_kernel_that_makes_descriptors_gets_scratch_memory():
    ttir = (ROOT / "kernels/gemm_device_descriptors.ttir").read_text()
    made = warploom.compile(ttir, "sm_90a")
    assert made.launch["global_scratch_size"] == 3 * 128 and made.launch["global_scratch_align"] == 128
    m, n, k = 40, 72, 64
    generator = np.random.default_rng(0)
    # bf16 of numbers that it holds exactly.
    a, b = (generator.integers(-4, 5, shape).astype(np.float32) for shape in ((m, k), (n, k)))
    bits = [(x.view(np.uint32) >> 16).astype(np.uint16) for x in (a, b)]
    out = np.zeros((m, n), np.uint16)
    warploom.run(made, *bits, out, m, n, k, np.int64(k), np.int64(k), np.int64(n), grid=(1, 1), target="sm_90a")
    expected = (a @ b.T).view(np.uint32)
    expected = ((expected + 0x7FFF + (expected >> 16 & 1)) >> 16).astype(np.uint16)
    assert np.array_equal(out, expected)
