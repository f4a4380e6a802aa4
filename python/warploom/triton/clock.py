"""Time on the emulated device: warp instructions, told as if each took a microsecond."""

from __future__ import annotations

from typing import Any, Callable, Sequence


class Clock:
    """Counts the warp instructions of all launches."""

    def __init__(self) -> None:
        self.steps = 0
        clock = self

        class Event:
            """A moment."""

            def __init__(self, *_: Any, **__: Any):
                self.at = 0

            def record(self, stream: Any = None) -> None:
                """Now."""
                self.at = clock.steps

            def elapsed_time(self, end: Any) -> float:
                """Milliseconds to another moment."""
                return milliseconds(end.at - self.at)

            def synchronize(self) -> None:
                """Launches end before they return."""

            def query(self) -> bool:
                """It has happened."""
                return True

            def wait(self, stream: Any = None) -> None:
                """It has happened."""

        class Stream:
            """The order in which launches are called."""

            cuda_stream = 0

            def __init__(self, *_: Any, **__: Any):
                pass

            def __enter__(self) -> Any:
                return self

            def __exit__(self, *_: Any) -> None:
                pass

            def synchronize(self) -> None:
                """Launches end before they return."""

            def wait_stream(self, stream: Any) -> None:
                """Launches end before they return."""

            def wait_event(self, event: Any) -> None:
                """Launches end before they return."""

            def record_event(self, event: Any = None) -> Any:
                """Now."""
                event = event or Event()
                event.record()
                return event

            def query(self) -> bool:
                """Everything is done."""
                return True

        class Interface:
            """What `triton.testing` asks a device for."""

            @staticmethod
            def synchronize(device: Any = None) -> None:
                """Launches end before they return."""

            @staticmethod
            def current_device() -> int:
                """The only one."""
                return 0

        Interface.Event, Interface.Stream = Event, Stream  # type: ignore[attr-defined]
        self.event, self.stream, self.interface = Event, Stream, Interface

    def advance(self, steps: int) -> None:
        """A launch took so many warp instructions."""
        self.steps += steps

    def benchmark(
        self, call: Callable[[], Any], quantiles: Sequence[float] | None = None, **_: Any
    ) -> float | list[float]:
        """One run; it has no spread."""
        before = self.steps
        call()
        time = milliseconds(self.steps - before)
        return [time] * len(quantiles) if quantiles else time


def milliseconds(steps: int) -> float:
    """A warp instruction is told as a microsecond, one at least."""
    return max(steps, 1) / 1e3
