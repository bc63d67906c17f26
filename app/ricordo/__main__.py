"""Entry point of `ricordo` and `python -m ricordo`."""

from __future__ import annotations

import os
import sys


def main() -> int:
    """Run the command line; return its exit code."""
    words = sys.argv[1:]
    first = words[0] if words else ""
    at = 2 if first == "--state" else 1 if first.startswith("--state=") else 0
    if words[at : at + 1] == ["hook"]:
        # agents wait for the hook at every message, so the command line is not loaded
        from ricordo.hook.program import answer

        answer([*words[at + 1 :], *words[:at]])
        # all output is written; a regular shutdown of the interpreter would only take time
        os._exit(0)
    if sys.getfilesystemencoding() != "utf-8":
        from ricordo.cli.streams import restart_in_utf8_mode

        restart_in_utf8_mode()
    from ricordo.cli.main import run
    from ricordo.cli.streams import prepare_streams

    prepare_streams()
    return run(words)


if __name__ == "__main__":
    sys.exit(main())
