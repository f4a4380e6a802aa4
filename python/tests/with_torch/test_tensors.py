"""PyTorch's tensors on the emulated device; `make triton-tests` runs these, since they need PyTorch."""

import sys
from pathlib import Path

import pytest
import torch
import triton
import warploom
import warploom.triton

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import kernels  # noqa: E402


@pytest.fixture(params=["triton", "warploom"])
def device(request):
    with warploom.triton.emulate("sm_90a", compiler=request.param) as device:
        yield device


def test_tensors_say_where_they_are(device):
    x = torch.rand(8, device="cuda")
    assert x.device == torch.device("cuda", 0) and x.is_cuda and (x + 1)[2:].is_cuda and x.half().is_cuda
    assert torch.empty_like(x).is_cuda and torch.zeros(2, device=x.device).is_cuda and torch.ones(2).to(x).is_cuda
    assert torch.ones(2).cuda().is_cuda and torch.ones(2).to("cuda", torch.float16).dtype == torch.float16
    assert x.cpu().device.type == "cpu" and not x.to("cpu").is_cuda and not torch.ones(2).is_cuda
    assert torch.randn(2, device="cuda", generator=torch.Generator(device="cuda")).is_cuda
    assert torch.cuda.is_available() and torch.cuda.get_device_capability() == (9, 0)


def test_copies_to_the_host_are_copies(device):
    x = torch.zeros(4, device="cuda")
    host = x.cpu()
    host[0] = 5
    assert x[0].item() == 0 and torch.equal(x.cpu(), torch.zeros(4))


def test_kernels_run(device):
    x, y = torch.rand(1000, device="cuda"), torch.randn(1000).cuda()
    z = torch.empty_like(x)
    kernels.add[(8, )](x, y, z, 1000, BLOCK=128)
    torch.testing.assert_close(z, x + y)


def test_tensors_of_the_host_are_refused_unless_they_are_pinned(device):
    x, z = torch.rand(128, device="cuda"), torch.empty(128, device="cuda")
    with pytest.raises(ValueError, match="y is a tensor on the CPU"):
        kernels.add[(1, )](x, torch.rand(128), z, 128, BLOCK=128)
    for y in (torch.ones(128, pin_memory=True), torch.ones(128).pin_memory()):
        assert y.is_pinned() and not y.is_cuda and not torch.ones(2).is_pinned()
        kernels.add[(1, )](x, y, z, 128, BLOCK=128)
        torch.testing.assert_close(z, x + y.cuda())


def test_gradients_are_on_the_device(device):
    x = torch.ones(3, device="cuda", requires_grad=True)
    (x * 2).sum().backward()
    assert x.grad.is_cuda and torch.equal(x.grad.cpu(), torch.full((3, ), 2.0))


def test_pointers_in_tensors_work():
    with warploom.triton.emulate("sm_90a"):
        rows = [torch.rand(64, device="cuda") for _ in range(3)]
        pointers = torch.tensor([row.data_ptr() for row in rows], device="cuda")
        out = torch.zeros(3, 64, device="cuda")
        kernels.table[(3, )](pointers, out, BLOCK=64)
        torch.testing.assert_close(out, torch.stack(rows))


def test_events_and_streams_answer(device):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    x, y = torch.rand(2, 64, device="cuda")
    with torch.cuda.stream(torch.cuda.Stream()):
        begin.record()
        kernels.add[(1, )](x, x, y, 64, BLOCK=64)
        end.record()
    torch.cuda.synchronize()
    assert begin.elapsed_time(end) > 0
    assert triton.testing.do_bench(lambda: kernels.add[(1, )](x, x, y, 64, BLOCK=64)) > 0


def test_everything_is_given_back():
    before = torch.cuda.is_available, torch.Generator
    warploom.triton.emulate("sm_90a").stop()
    assert (torch.cuda.is_available, torch.Generator) == before and not torch.rand(2).is_cuda
