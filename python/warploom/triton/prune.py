"""Triton's autotuner with our cost model: which configurations are worth a measurement."""

from __future__ import annotations

import math
from typing import Any, Callable, Mapping, Sequence

import triton
from triton.runtime.autotuner import Autotuner, Config
from triton.runtime.jit import JITFunction

from ..compiler import compile, targets
from ..errors import CompileError, usage
from .stages import chip_of

Trips = int | Callable[[Mapping[str, Any]], int]


def prune_by(kernel: Autotuner, top: int = 1, *, trips: Trips | None = None, target: str | None = None) -> Autotuner:
    """Lets an autotuned kernel measure only the `top` configurations that our cost model finds cheapest.

        tuned = triton.autotune(configs, key=["M", "N", "K"])(matmul)
        warploom.triton.prune_by(tuned, top=2, trips=lambda given: given["K"] // given["BK"])

    The cost of a configuration is what our schedule of its loops takes, in cycles, times the waves of its grid on
    the chip: the current one unless `target` names another. `trips` says how often the loop runs, as a number or of all arguments by
    name; without it every configuration counts the same number of turns, so tiles of different depth do not compare. What Warploom refuses
    is taken last. Gives the kernel back.
    """
    if not isinstance(kernel, Autotuner):
        raise usage(f"prune_by of a {type(kernel).__name__}", "what triton.autotune(..) makes of a kernel")
    if not isinstance(top, int) or isinstance(top, bool) or top < 1:
        raise usage(f"top={top!r}", "a whole number from 1")
    function: Any = kernel.fn
    while not isinstance(function, JITFunction):
        function = function.fn

    def prune(configs: Sequence[Config], named: Mapping[str, Any], **more: Any) -> list[Config]:
        def price(config: Config) -> float:
            given = {**named, **more, **config.all_kwargs()}
            if config.pre_hook is not None:
                config.pre_hook(given)
            return cost(function, given, trips, target)

        return sorted(configs, key=price)[:top]

    kernel.early_config_prune = prune
    return kernel


def cost(
    function: JITFunction, given: Mapping[str, Any], trips: Trips | None = None, target: str | None = None
) -> float:
    """Cycles of a launch as our schedule has it, all waves of it; infinity for a kernel that Warploom refuses. `given`
    has all arguments and options by name, `grid` among them."""
    given = {name: value for name, value in given.items() if name != "warmup"}
    grid = given.pop("grid", (1,))
    chip = target or chip_of(triton.runtime.driver.active.get_current_target().arch)
    ttir = function.warmup(grid=(1,), **given).asm["ttir"]
    turns = trips(given) if callable(trips) else trips
    try:
        tuned = compile(str(ttir), chip, tune=True, trips=turns).tuned
    except CompileError:
        return math.inf
    programs = math.prod(grid(given) if callable(grid) else grid)
    sms = targets(chip)["chip"]["sms"]
    return min((t["cycles"] * math.ceil(programs / (sms * t["resident"])) for t in tuned), default=math.inf)
