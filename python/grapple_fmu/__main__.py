"""The command line: `grapple`, or `python -m grapple_fmu`."""

import os
import signal
import sys


def main() -> int:
    """Runs the tool with the arguments of this process and returns its exit code."""
    # The tool handles Ctrl-C and closed pipes itself, as a program without an interpreter does.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if sys.argv[1:2] == ["import-modes"]:
        from ._modes_command import main as import_modes

        return import_modes(sys.argv[2:])
    from . import _native

    return _native.command_line(["grapple", *map(os.fsdecode, sys.argv[1:])])


if __name__ == "__main__":
    sys.exit(main())
