"""Warploom for Python: compile GPU kernels, run them without a GPU, find their races.

    import warploom
    ptx = warploom.compile(ttir, "sm_90a").ptx
    report = warploom.run(ptx, x, y, z, 1000, grid=8)

`warploom.triton` is the plug-in for Triton: `emulate()` runs its kernels on the emulator, `enable()` compiles them by
Warploom for a GPU.
"""

try:
    from . import _native
except ImportError as error:
    if "libLLVM" not in str(error):
        raise
    raise ImportError(f"LLVM 22 is missing ({error}); `make setup` installs it, or the package llvm-22") from error
from .compiler import Compiled, assign, compile, explain, pack, schedule, targets
from .emulator import Emulation, Report, run
from .errors import (
    AddressError, BarrierError, BudgetError, CompileError, ConvergenceError, DeadlockError, DeviceAssertError,
    Diagnostic, Finding, Found, InterleavingError, LaunchError, OutOfBoundsError, Place, PtxError, RaceError, Refused,
    TensorCoreError, UninitialisedError, UnsupportedError, UsageError, WarploomError)

__version__: str = _native.VERSION

__all__ = [
    "AddressError", "BarrierError", "BudgetError", "CompileError", "Compiled", "ConvergenceError", "DeadlockError",
    "DeviceAssertError", "Diagnostic", "Emulation", "Finding", "Found", "InterleavingError", "LaunchError",
    "OutOfBoundsError", "Place", "PtxError", "RaceError", "Refused", "Report", "TensorCoreError", "UninitialisedError",
    "UnsupportedError", "UsageError", "WarploomError", "assign", "compile", "explain", "pack", "run", "schedule",
    "targets"]
