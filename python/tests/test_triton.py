"""Triton's kernels on the emulated device, on NumPy arrays: by Triton's own compiler and by Warploom."""

import ctypes
import kernels
import numpy as np
import pytest
import triton
import warploom
import warploom.triton


@pytest.fixture(params=["triton", "warploom"])
def device(request):
    with warploom.triton.emulate("sm_90a", compiler=request.param, torch=False) as device:
        yield device


@pytest.fixture
def own():
    with warploom.triton.emulate("sm_90a", torch=False) as device:
        yield device


def test_adds(device):
    x, y, z = (np.random.rand(1000).astype(np.float32) for _ in range(3))
    kernels.add[(8, )](x, y, z, 1000, BLOCK=128)
    assert np.array_equal(z, x + y)
    (report, ) = device.reports
    assert report.clean and report.target == "sm_90a"


def test_a_missing_barrier_is_a_race_with_two_lines_of_this_folder(own):
    x, y = np.zeros(256, np.int32), np.zeros(256, np.int32)
    with pytest.raises(warploom.RaceError) as caught:
        kernels.rotate[(1, )](x, y, BLOCK=256)
    assert set(caught.value.lines) == {(kernels.__file__, kernels.line(name)) for name in ("write", "read")}
    assert "tl.store(x + at, at)" in str(caught.value) and caught.value.found.buffer == "x"
    kernels.rotate_right[(1, )](x, y, BLOCK=256)
    assert np.array_equal(y, (np.arange(256) + 64) % 256)


def test_a_barrier_taken_out_of_the_ptx_is_a_race_at_the_line_of_the_reduction(own):
    x, out = np.arange(512, dtype=np.float32), np.zeros(1, np.float32)
    kernel = kernels.total[(1, )](x, out, BLOCK=512)
    assert out[0] == x.sum()
    ptx = kernel.asm["ptx"]
    assert warploom.run(ptx, x, out, 0, 0, grid=1, smem=kernel.metadata.shared).coverage == own.reports[0].coverage
    with pytest.raises(warploom.RaceError) as caught:
        warploom.run(ptx.replace("bar.sync", "// bar.sync"), x, out, 0, 0, grid=1, smem=kernel.metadata.shared)
    assert caught.value.found.space == "shared" and caught.value.code == "R01"
    # In Triton's library the two are further inside; its user knows the line that calls it.
    assert set(caught.value.lines) == {(kernels.__file__, kernels.line("total"))}


def test_what_is_watched_is_told_with_values_and_places():
    at = kernels.line("sum")
    options = dict(watch="z[4..12]", breaks=f"kernels.py:{at}@1", registers=True)
    with warploom.triton.emulate("sm_90a", torch=False, **options) as device:
        x, y, z = np.arange(32, dtype=np.float32), np.ones(32, np.float32), np.zeros(32, np.float32)
        kernels.add[(1, )](x, y, z, 32, BLOCK=32)
    seen = device.reports[0].seen
    (write, ) = [s for s in seen if s["kind"] == "write"]
    assert write["memory"]["holds"] == z[1:3].tobytes().hex(" ") and write["memory"]["name"] == "z"
    stops = [s for s in seen if s["kind"] == "break"]
    assert stops and all(s["place"]["source"].startswith(f"kernels.py:{at}:") for s in stops)
    with pytest.raises(warploom.Refused, match="no buffer 'w'"):
        with warploom.triton.emulate("sm_90a", torch=False, watch="w"):
            kernels.add[(1, )](x, y, z, 32, BLOCK=32)


def test_a_finding_tells_what_memory_and_registers_held(own):
    x, y = np.zeros(256, np.int32), np.zeros(256, np.int32)
    with pytest.raises(warploom.RaceError) as caught:
        kernels.rotate[(1, )](x, y, BLOCK=256)
    found = caught.value.found
    assert len(found.holds.split()) == 16 and found.registers
    assert f", now {found.holds}" in str(caught.value) and "with: " in str(caught.value)


def test_an_access_out_of_bounds_names_its_line(device):
    x, y, z = (np.zeros(count, np.float32) for count in (1024, 8, 1024))
    with pytest.raises(warploom.OutOfBoundsError) as caught:
        kernels.add[(1, )](x, y, z, 1024, BLOCK=1024)
    assert (caught.value.file, caught.value.line) == (kernels.__file__, kernels.line("sum"))


def test_pointers_in_buffers_work(own):
    rows = [np.random.rand(64).astype(np.float32) for _ in range(3)]
    kept = [warploom.triton.tensor(row) for row in rows]
    pointers, out = np.array([t.data_ptr() for t in kept], np.int64), np.zeros((3, 64), np.float32)
    kernels.table[(3, )](pointers, out, BLOCK=64)
    assert np.array_equal(out, np.stack(rows))


def test_descriptors_views_and_scalars(own):
    a, b = np.random.rand(100, 64).astype(np.float16), np.zeros((100, 64), np.float16)
    made = [warploom.triton.descriptor(v, [32, 32]) for v in (a, b)]
    kernels.copy[(4, 2)](*made, BM=32, BN=32)
    assert np.array_equal(a, b)
    whole = np.zeros(300, np.float32)
    kernels.add[(1, )](whole[:100] + 1, whole[:100] + 2, whole[100:200], 100, BLOCK=128)
    assert np.array_equal(whole, np.repeat(np.float32([0, 3, 0]), 100))
    out = np.zeros(1, np.float32)
    kernels.scalars[(1, )](out, 5, 1 << 40, 0.5, 2.25, (3, 4.0))
    assert out[0] == np.float32(5 + (1 << 40) + 0.5 + 2.25 + 12)


def test_a_kernel_that_never_ends_has_a_budget():
    with warploom.triton.emulate("sm_90a", max_steps=5000, torch=False):
        with pytest.raises((warploom.BudgetError, warploom.DeadlockError)) as caught:
            kernels.never[(1, )](np.zeros(1, np.int32))
    assert "kernels.py" in str(caught.value)


def test_targets_and_options_are_told_apart():
    x, y = np.zeros(256, np.int32), np.zeros(256, np.int32)
    for target in ("sm_80", "sm_90a", "sm_100a", "sm_120a"):
        with warploom.triton.emulate(target, fail_on="none", torch=False, interleavings=2) as device:
            with pytest.warns(UserWarning, match="R0"):
                kernels.rotate[(1, )](x, y, BLOCK=256)
        assert device.reports[0].target == target and len(device.reports[0].runs) == 2


def test_autotune_works(own):
    x = np.zeros(1000, np.int32)
    kernels.tuned[lambda meta: (triton.cdiv(1000, meta["BLOCK"]), )](x, 1000)
    assert np.array_equal(x, np.arange(1000)) and kernels.tuned.best_config is not None
    assert triton.testing.do_bench(lambda: kernels.tuned[(16, )](x, 1000)) > 0


def test_an_empty_grid_runs_nothing(own):
    kernels.rotate[(0, )](np.zeros(256, np.int32), np.zeros(256, np.int32), BLOCK=256)
    assert not own.reports


@pytest.mark.parametrize("call, says", [
    (lambda x: kernels.add[(1, )](x.astype(complex), x, x, 8, BLOCK=8), "complex"),
    (lambda x: kernels.add[(1, )](x.astype(">f4"), x, x, 8, BLOCK=8), ">f4"),
    (lambda x: warploom.triton.tensor([1, 2]), "list"),
    (lambda x: warploom.triton.tensor(x, "bfloat16"), "bfloat16"),
    (lambda x: warploom.triton.emulate("sm_90a", compiler="nvcc"), "nvcc"),
    (lambda x: warploom.triton.emulate("sm_90a", interleaving=3), "interleaving"),
    (lambda x: warploom.triton.emulate("sm_12"), "sm_12"),
])
def test_bad_input_is_refused_in_words(own, call, says):
    with pytest.raises(warploom.Refused) as caught:
        call(np.zeros(8, np.float32))
    assert says in str(caught.value)


def test_nothing_is_left_behind():
    before = triton.runtime.driver._active, triton.runtime.jit.JITFunction.run
    warploom.triton.emulate("sm_90a").stop()
    assert (triton.runtime.driver._active, triton.runtime.jit.JITFunction.run) == before


def test_memory_next_to_a_buffer_is_not_touched(own):
    raw = (ctypes.c_char * 4096)()
    array = np.frombuffer(raw, np.float32)[256:512]
    kernels.add[(1, )](array, array, array, 256, BLOCK=256)
    assert not any(np.frombuffer(raw, np.float32))


def test_results_that_depend_on_the_order_fail_only_where_that_is_asked_for():
    # What is added between a large number and its opposite is lost.
    each = np.tile(np.float32([1e9, 1, -1e9, 1]), 4)
    policies = ("eager", *(f"random:{seed}" for seed in range(6)))
    for fail_on in ("all", "all,differ"):
        with warploom.triton.emulate("sm_90a", torch=False, policies=policies, fail_on=fail_on) as device:
            x, out = np.repeat(each / 32, 32), np.zeros(1, np.float32)
            if fail_on == "all":
                kernels.gather[(16, )](x, out, BLOCK=32)
                assert device.reports[0].differ
            else:
                with pytest.raises(warploom.InterleavingError):
                    kernels.gather[(16, )](x, out, BLOCK=32)


def test_machine_code_is_made_where_it_is_asked_for(device):
    x, y, z = (np.zeros(128, np.float32) for _ in range(3))
    kernel = kernels.add[(1, )](x, y, z, 128, BLOCK=128)
    assert "cubin" not in kernel.asm and ".entry" in kernel.asm["ptx"]
    assert kernel.asm["cubin"][:4] == b"\x7fELF" and kernel.asm["cubin"] is kernel.asm["cubin"]
    assert "EXIT" in kernel.asm["sass"]
    with pytest.raises(KeyError):
        kernel.asm["hsaco"]


def test_kernels_that_outlive_the_device_are_collected_quietly():
    with warploom.triton.emulate("sm_90a", torch=False):
        kernel = kernels.add[(1, )](*(np.zeros(128, np.float32) for _ in range(3)), 128, BLOCK=128)
    # Triton asks the driver that is active then, and here there is none, to unload the module of such a kernel.
    assert kernel.module is None
