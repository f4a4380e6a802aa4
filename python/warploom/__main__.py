"""The `warploom` command: `python -m warploom`, or `warploom` once the package is installed."""

import signal
import sys

from . import _native


def main() -> int:
    """Runs the command line of this process."""
    # Ctrl-C ends a command as it ends any other.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _native.command(["warploom", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
