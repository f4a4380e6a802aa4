"""Warploom for Triton 3.9: `emulate` runs kernels without a GPU, `enable` compiles them by Warploom for one.

    import warploom.triton
    warploom.triton.emulate(target="sm_90a", interleavings=4)
    add_kernel[(8,)](x, y, z, 1000, BLOCK=128)          # NumPy arrays, or tensors of PyTorch
"""

from __future__ import annotations

import importlib.util
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Callable, Sequence
from weakref import WeakSet

import triton
from triton.backends.nvidia.driver import CudaDriver
from triton.compiler.compiler import CompiledKernel
from triton.runtime.jit import JITFunction
from triton.tools.tensor_descriptor import TensorDescriptor

from ..emulator import Emulation, Report
from ..errors import usage
from . import stages
from .arrays import Tensor, wrap
from .assembled import Assembled
from .driver import Driver
from .prune import prune_by

COMPILERS = ("triton", "warploom")
_ENABLED: list[Callable[[], None]] = []


def tensor(array: Any, dtype: str | None = None) -> Tensor:
    """An array as Triton sees a tensor, for descriptors and for element types that NumPy has none for: `dtype` is then
    `bfloat16`, `float8_e4m3fn` or `float8_e5m2` and the array one of whole numbers of that size."""
    return Tensor(array, dtype)


def descriptor(
    array: Any, block_shape: Sequence[int], dtype: str | None = None, padding: str = "zero"
) -> TensorDescriptor:
    """A tensor descriptor of an array in C order, as `TensorDescriptor.from_tensor` makes one of a tensor."""
    return TensorDescriptor.from_tensor(Tensor(array, dtype), list(block_shape), padding)


def enable(*, fallback: bool = True, **options: Any) -> None:
    """Compiles every kernel from here on by Warploom, through Triton's own hooks, assembler and launcher.

    With `fallback`, kernels that are refused are compiled by Triton, with a warning that carries the reasons; without
    it `CompileError` is raised. Options are those of `warploom.compile`.
    """
    disable()
    _ENABLED.append(stages.install(compiler="warploom", assemble=True, fallback=fallback, options=options))


def disable() -> None:
    """Gives Triton its own stages back."""
    while _ENABLED:
        _ENABLED.pop()()


class Emulator:
    """An emulated device that Triton's kernels run on until `stop`, or the end of the `with` block."""

    def __init__(self, how: Emulation, compiler: str, fallback: bool, torch: bool):
        self.how = how
        self.reports: list[Report] = []
        """What was said about each launch, in order."""
        self._undo = ExitStack()
        before = triton.runtime.driver._active
        driver = Driver(how, compiler, self.reports.append)
        self._undo.callback(stages.install(compiler=compiler, assemble=False, fallback=fallback))
        self._replace(triton.runtime.driver, "_active", driver, before)
        self._replace(CudaDriver, "is_active", staticmethod(lambda: True), CudaDriver.__dict__["is_active"])
        for name in ("do_bench", "do_bench_cudagraph"):
            self._replace(triton.testing, name, driver.clock.benchmark, getattr(triton.testing, name))
        run = JITFunction.run

        def wrapped(self: Any, *args: Any, **kwargs: Any) -> Any:
            return run(self, *(wrap(a) for a in args), **{name: wrap(a) for name, a in kwargs.items()})

        self._replace(JITFunction, "run", wrapped, run)
        init, load, loaded = CompiledKernel.__init__, CompiledKernel._init_handles, WeakSet[Any]()

        def compiled(self: Any, *args: Any, **kwargs: Any) -> None:
            init(self, *args, **kwargs)
            self.asm = Assembled(self.asm, self.metadata)

        def tracked(self: Any) -> None:
            load(self)
            loaded.add(self)

        def forget() -> None:
            # Else each asks the driver that is active when it is collected, and there may be none, to unload its module.
            for kernel in loaded:
                kernel.module = None

        self._undo.callback(forget)
        self._replace(CompiledKernel, "__init__", compiled, init)
        self._replace(CompiledKernel, "_init_handles", tracked, load)
        if torch:
            from .torch_device import pretend

            self._undo.enter_context(pretend(driver))

    def _replace(self, owner: Any, name: str, new: Any, old: Any) -> None:
        setattr(owner, name, new)
        self._undo.callback(setattr, owner, name, old)

    def stop(self) -> None:
        """Gives Triton its own driver back."""
        self._undo.close()

    def __enter__(self) -> Emulator:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def emulate(
    target: str = "sm_90a", *, compiler: str = "triton", fallback: bool = False, torch: bool | None = None,
    **options: Any
) -> Emulator:
    """Runs Triton's kernels on the emulator from here on: NumPy arrays and, where PyTorch is installed, its tensors on
    the CPU, which code takes for `cuda` ones. No GPU is needed.

    `compiler` is `triton`, for its own PTX, or `warploom`, with `fallback` to Triton for what is refused. `torch=False`
    leaves PyTorch alone. Options are those of `warploom.Emulation`: `interleavings`, `seed`, `policies`, `race`,
    `strict`, `limits`, `max_steps`, `threads`, `fail_on`, `watch`, `breaks`, `registers`. What a launch does wrong is
    raised by the call that launched it: `RaceError`, `DeadlockError`, `OutOfBoundsError` ..
    """
    if compiler not in COMPILERS:
        raise usage(f"unknown compiler {compiler!r}", f"one of {', '.join(COMPILERS)}")
    how = Emulation().with_options(target=target, **options)
    installed = importlib.util.find_spec("torch") is not None
    if torch and not installed:
        raise usage("torch=True, and PyTorch is not installed", "pip install torch, or torch=False")
    return Emulator(how, compiler, fallback, installed if torch is None else torch)


__all__ = ["Emulator", "Tensor", "descriptor", "disable", "emulate", "enable", "prune_by", "tensor"]
