"""PyTorch's tensors on the CPU, which code takes for `cuda` ones while a device is emulated.

What is made with `device="cuda"`, moved there or computed from such tensors is a `DeviceTensor`: memory of the host
that says `cuda` when it is asked for its device. `cpu()` and `to("cpu")` copy, as they do from a real device.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from types import SimpleNamespace
from typing import Any, Iterator

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_map

from .arrays import KNOWN
from .driver import Driver


class DeviceTensor(torch.Tensor):
    """A tensor on the CPU that says it is on `cuda`."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = super().__torch_function__(func, types, args, kwargs or {})
        return tree_map(_remembered, result)


class PinnedTensor(torch.Tensor):
    """A tensor of the host that the device may reach."""


def _remembered(value: Any) -> Any:
    if isinstance(value, DeviceTensor):
        KNOWN.add(value)
    return value


def on_device(value: Any) -> Any:
    """The same memory as a tensor of the device."""
    if isinstance(value, torch.Tensor) and not isinstance(value, DeviceTensor):
        # A leaf stays one, so that it gets a gradient.
        leaf = value.requires_grad and value.is_leaf
        value = torch.Tensor._make_subclass(DeviceTensor, value, True) if leaf else value.as_subclass(DeviceTensor)
    return _remembered(value)


def on_host(tensor: torch.Tensor) -> torch.Tensor:
    """A copy that says it is on the CPU."""
    with torch._C.DisableTorchFunctionSubclass():
        copy = tensor.clone()
        return copy.as_subclass(torch.Tensor) if isinstance(copy, DeviceTensor) else copy


def is_cuda(device: Any) -> bool:
    """Whether a device is the emulated one."""
    if isinstance(device, torch.device):
        return device.type == "cuda"
    return isinstance(device, str) and device.split(":")[0] == "cuda" or type(device) is int


def is_device(value: Any) -> bool:
    """Whether a value names a device at all; whole numbers do so only by keyword."""
    if isinstance(value, str):
        return value.split(":")[0] in ("cuda", "cpu")
    return isinstance(value, torch.device)


class Pretend(TorchFunctionMode):
    """Makes the CPU of what is asked of `cuda`."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        answer = PROPERTIES.get(func)
        if answer is not None and isinstance(args[0], DeviceTensor):
            return answer
        if func in (torch.Tensor.cuda, torch.Tensor.cpu):
            return self._move(args[0], func is torch.Tensor.cuda)
        if func is torch.Tensor.to:
            return self._to(args, kwargs)
        if func is torch.Tensor.is_pinned:
            return isinstance(args[0], PinnedTensor)
        if func is torch.Tensor.pin_memory:
            return on_host(args[0]).as_subclass(PinnedTensor)
        device = kwargs.get("device")
        if device is not None and is_cuda(device):
            kwargs["device"] = "cpu"
            kwargs.pop("pin_memory", None)
            return tree_map(on_device, func(*args, **kwargs))
        if device is None and any(isinstance(a, torch.device) and a.type == "cuda" for a in args):
            args = tuple("cpu" if isinstance(a, torch.device) else a for a in args)
            return tree_map(on_device, func(*args, **kwargs))
        pinned = kwargs.pop("pin_memory", False)
        result = func(*args, **kwargs)
        if pinned:
            return result.as_subclass(PinnedTensor)
        # A gradient is where its tensor is.
        of_device = func == torch.Tensor.grad.__get__ and isinstance(args[0], DeviceTensor)
        return on_device(result) if of_device else result

    def _move(self, tensor: torch.Tensor, to_device: bool) -> torch.Tensor:
        if to_device == isinstance(tensor, DeviceTensor):
            return tensor
        return on_device(on_host(tensor)) if to_device else on_host(tensor)

    def _to(self, args: Any, kwargs: Any) -> Any:
        tensor, rest = args[0], list(args[1:])
        device = kwargs.pop("device", None)
        like = next((a for a in rest if isinstance(a, torch.Tensor)), kwargs.get("other"))
        if like is not None:
            device = "cuda" if isinstance(like, DeviceTensor) else "cpu"
        elif rest and device is None and (is_device(rest[0]) or type(rest[0]) is int):
            device = rest.pop(0)
            rest = [] if rest == [None] else rest
        if rest and rest[0] is None:
            rest.pop(0)
        if device is not None and like is None:
            tensor = self._move(tensor, is_cuda(device))
        elif like is not None:
            tensor, rest = self._move(tensor, isinstance(like, DeviceTensor)), [like.dtype]
            kwargs.pop("other", None)
        kwargs.pop("non_blocking", None)
        return torch.Tensor.to(tensor, *rest, **kwargs) if rest or kwargs else tensor


PROPERTIES = {
    torch.Tensor.device.__get__: torch.device("cuda", 0),
    torch.Tensor.is_cuda.__get__: True,
    torch.Tensor.is_cpu.__get__: False,
    torch.Tensor.get_device: 0,
}


class Generator(torch.Generator):
    """Random numbers of the device, which are those of the CPU."""

    def __new__(cls, device: Any = "cpu") -> Any:
        return super().__new__(cls, device="cpu")


def _functions(driver: Driver) -> dict[str, Any]:
    """What `torch.cuda` says while a device is emulated."""
    clock, chip = driver.clock, driver.utils.properties
    capability = driver.get_device_capability()
    properties = SimpleNamespace(
        name=f"Warploom emulator of {driver.how.target}", major=capability[0], minor=capability[1],
        total_memory=16 << 30, multi_processor_count=chip["multiprocessor_count"], warp_size=32,
        max_threads_per_multi_processor=2048, shared_memory_per_block_optin=chip["max_shared_mem"],
        regs_per_multiprocessor=chip["max_num_regs"], L2_cache_size=50 << 20)
    stream = clock.stream()
    nothing = lambda *_, **__: None
    none = lambda *_, **__: 0
    return {
        "is_available": lambda: True, "is_initialized": lambda: True, "init": nothing, "_lazy_init": nothing,
        "device_count": lambda: 1, "current_device": none, "set_device": driver.set_current_device,
        "get_device_capability": lambda *_: capability, "get_device_properties": lambda *_: properties,
        "get_device_name": lambda *_: properties.name, "synchronize": nothing, "empty_cache": nothing,
        "Event": clock.event, "Stream": clock.stream, "current_stream": lambda *_: stream,
        "default_stream": lambda *_: stream, "stream": lambda s: s, "manual_seed": nothing, "manual_seed_all": nothing,
        "memory_allocated": none, "max_memory_allocated": none, "memory_reserved": none,
        "reset_peak_memory_stats": nothing, "is_current_stream_capturing": lambda: False}


@contextmanager
def pretend(driver: Driver) -> Iterator[None]:
    """Until the end, the emulated device is what PyTorch knows as `cuda`."""
    with ExitStack() as undo:
        for name, value in _functions(driver).items():
            undo.callback(setattr, torch.cuda, name, getattr(torch.cuda, name))
            setattr(torch.cuda, name, value)
        undo.callback(setattr, torch, "Generator", torch.Generator)
        torch.Generator = Generator  # type: ignore[misc]
        undo.enter_context(Pretend())
        yield
