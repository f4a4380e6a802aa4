"""A driver for Triton whose device is the emulator."""

from __future__ import annotations

from typing import Any, Callable, Mapping, Sequence

import numpy as np
import triton
from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase

from ..arguments import tensor_map
from ..compiler import targets
from ..emulator import Emulation, Report, judge
from ..errors import launch_error
from ..module import load, pick
from .arrays import Tensor
from .clock import Clock
from .launcher import Launcher

# Element types of `CUtensorMap` as `tensormap.replace` numbers them.
ELEMENTS = {8: 9, 9: 10, 10: 8}


class DeviceIndex(int):
    """Device 0; Triton keeps compiled kernels by it, so it is another one for each chip and compiler."""

    kind: str

    def __new__(cls, kind: str) -> DeviceIndex:
        index = super().__new__(cls, 0)
        index.kind = kind
        return index

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeviceIndex) and self.kind == other.kind

    def __hash__(self) -> int:
        return hash(self.kind)


class Utils:
    """What Triton asks a driver of CUDA to do."""

    def __init__(self, chip: Mapping[str, Any]):
        self.properties = {
            "max_shared_mem": chip["smem"]["per_cta"], "max_num_regs": chip["registers"]["per_sm"],
            "multiprocessor_count": chip["chip"]["sms"], "warpSize": chip["threads"]["per_warp"],
            "sm_clock_rate": 1000 * chip["chip"]["clock_mhz"], "mem_clock_rate": 1_000_000, "mem_bus_width": 4096}

    def load_binary(self, name: str, kernel: bytes, shared: int, device: int) -> tuple[Any, Any, int, int, int]:
        """Reads the PTX that stands in place of machine code: module, function, registers, spills, most threads."""
        module = load(kernel.decode())
        entry = pick(module, name)
        return module, (module, entry["name"]), 0, 0, 1024

    def unload_module(self, module: Any) -> None:
        """Nothing is left to be done."""

    def get_device_properties(self, device: int) -> Mapping[str, int]:
        """What the chip has."""
        return self.properties

    def set_printf_fifo_size(self, size: int) -> None:
        """What a kernel prints is never cut."""

    def cuOccupancyMaxActiveClusters(self, function: Any, shared: int, num_ctas: int) -> int:
        """A cluster of up to 8 CTAs runs."""
        return int(num_ctas <= 8)

    def fill_tma_descriptor_tiled(
        self, address: int, swizzle: int, elem_size: int, elem_type: int, block_size: Sequence[int],
        shape: Sequence[int], strides: Sequence[int], padding: int
    ) -> bytes:
        """The tensor map of a descriptor."""
        element = ELEMENTS.get(elem_type, elem_type)
        meta = dict(elem_size=elem_size, elem_type=element, block_size=block_size, swizzle=swizzle)
        return tensor_map(address, shape, strides, meta, padding == 1)

    def fill_tma_descriptor_im2col(self, *_: Any) -> bytes:
        """Refused: the emulator has no im2col."""
        raise launch_error("a descriptor in im2col mode", "a tiled descriptor")


class Driver(DriverBase):
    """Runs each launch on the emulator, under the interleavings asked for."""

    def __init__(self, how: Emulation, compiler: str, keep: Callable[[Report], None]):
        super().__init__()
        self.how, self._keep, self.clock = how, keep, Clock()
        chip = targets(how.target)
        self.utils = Utils(chip)
        self.launcher_cls = Launcher
        self._arch = int("".join(c for c in how.target or "" if c.isdigit()))
        self._device = DeviceIndex(f"warploom:{how.target}:{compiler}")

    @classmethod
    def is_active(cls) -> bool:
        """Only where `emulate` made it so."""
        return False

    def done(self, report: Report) -> None:
        """Keeps the report of a launch and raises what it found."""
        self.clock.advance(sum(run["stats"]["steps"] for run in report.runs[:1]))
        self._keep(report)
        judge(report, self.how)

    def get_current_target(self) -> GPUTarget:
        """The chip."""
        return GPUTarget("cuda", self._arch, 32)

    def get_current_device(self) -> DeviceIndex:
        """The only device."""
        return self._device

    def set_current_device(self, device: int) -> None:
        """Refuses every device but 0."""
        if int(device) != 0:
            raise launch_error(f"device {device}", "device 0, which is the only one")

    def get_device_capability(self, device: int | None = None) -> tuple[int, int]:
        """As `(9, 0)`."""
        return divmod(self._arch, 10)

    def get_current_stream(self, device: int | None = None) -> int:
        """The only stream: launches end before they return."""
        return 0

    def get_active_torch_device(self) -> Any:
        """What PyTorch calls it."""
        import torch

        return torch.device("cuda", 0)

    def get_device_interface(self) -> Any:
        """Events and streams, which count warp instructions as microseconds."""
        return self.clock.interface

    def map_python_to_cpp_type(self, ty: str) -> str:
        """The type of an argument in C."""
        from triton.backends.nvidia.driver import ty_to_cpp

        return ty_to_cpp(ty)

    def get_benchmarker(self) -> Callable[..., Any]:
        """Runs once and tells the warp instructions as microseconds."""
        return self.clock.benchmark

    def get_empty_cache_for_benchmark(self) -> Any:
        """There is no cache to be emptied."""
        return None

    def clear_cache(self, cache: Any) -> None:
        """There is none."""

    def allocate_default_profile_scratch(self, size: int, alignment: int, stream: Any) -> Tensor:
        """Zeros."""
        return Tensor(np.zeros(size, np.int8))


def active() -> Driver:
    """The emulated device that launches go to."""
    driver = triton.runtime.driver.active
    if not isinstance(driver, Driver):
        raise launch_error("the kernel was compiled for an emulated device, and none is active", "call emulate() again")
    return driver
