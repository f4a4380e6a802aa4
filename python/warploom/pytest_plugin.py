"""Runs the Triton kernels of a test suite on the emulator: `pytest --warploom sm_90a --interleavings 8`.

Each launch is checked for races, deadlocks, accesses out of bounds and so on; a finding fails the test that launched
it. The report of each test says what its launches covered.
"""

from __future__ import annotations

from typing import Any, Iterator

import pytest

from .errors import GROUPS


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options."""
    group = parser.getgroup("warploom", "Triton kernels without a GPU")
    group.addoption("--warploom", metavar="CHIP",
                    help="run Triton's kernels on the emulator of this chip, such as sm_90a")
    group.addoption("--warploom-compiler", choices=("triton", "warploom"), default="triton",
                    help="whose PTX is run (default: triton)")
    group.addoption("--interleavings", type=int, default=1, help="orders of asynchronous work per launch (default: 1)")
    group.addoption("--fail-on", default="all", metavar="KINDS",
                    help=f"findings that fail a test: all (but differ), none, some of {', '.join(GROUPS)}; default: all")
    group.addoption("--strict-fences", action="store_true", help="fences must stand where the PTX ISA wants them")
    group.addoption("--launch-steps", type=int, default=20_000_000, metavar="N",
                    help="warp instructions of a cluster before a launch is given up")


def pytest_configure(config: pytest.Config) -> None:
    """Emulates from here on, so that modules under test see the device when they are imported."""
    target = config.getoption("--warploom")
    if not target:
        return
    from .errors import WarploomError

    try:
        from . import triton

        config.stash[DEVICE] = triton.emulate(
            target, compiler=config.getoption("--warploom-compiler"), interleavings=config.getoption("--interleavings"),
            fail_on=config.getoption("--fail-on"), strict=config.getoption("--strict-fences"),
            max_steps=config.getoption("--launch-steps"))
    except WarploomError as error:
        raise pytest.UsageError(str(error)) from None
    except ModuleNotFoundError as error:
        raise pytest.UsageError(f"--warploom needs Triton: {error}") from None


def pytest_unconfigure(config: pytest.Config) -> None:
    """Gives Triton its own driver back."""
    device = config.stash.get(DEVICE, None)
    if device is not None:
        device.stop()


@pytest.fixture(autouse=True)
def _warploom_report(request: Any, record_property: Any) -> Iterator[None]:
    device = request.config.stash.get(DEVICE, None)
    if device is None:
        yield
        return
    del device.reports[:]
    yield
    if not device.reports:
        return
    steps = sum(run["stats"]["steps"] for report in device.reports for run in report.runs)
    reached, there = (sum(numbers) for numbers in zip(*(report.coverage for report in device.reports)))
    found = sorted({f.code for report in device.reports for f in report.errors})
    # These stand in the JUnit file too.
    record_property("warploom_launches", len(device.reports))
    record_property("warploom_warp_instructions", steps)
    record_property("warploom_synchronisation", f"{reached} of {there}")
    record_property("warploom_findings", ",".join(found))


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """What the launches of all tests covered."""
    if config.stash.get(DEVICE, None) is None:
        return
    counted = [dict(report.user_properties) for reports in terminalreporter.stats.values() for report in reports
               if getattr(report, "when", None) == "teardown"]
    launches = sum(int(c.get("warploom_launches", 0)) for c in counted)
    sides = [str(c["warploom_synchronisation"]).split(" of ") for c in counted if "warploom_synchronisation" in c]
    reached, there = (sum(int(side[i]) for side in sides) for i in (0, 1))
    codes = sorted({code for c in counted for code in str(c.get("warploom_findings", "")).split(",") if code})
    terminalreporter.section(f"warploom {config.getoption('--warploom')}")
    terminalreporter.line(f"{launches} launches, {reached} of {there} synchronising instructions reached; "
                          f"findings: {', '.join(codes) or 'none'}")


DEVICE: pytest.StashKey[Any] = pytest.StashKey()
