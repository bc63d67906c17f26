"""`ricordo` and `python -m ricordo`."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line; return its exit code."""
    if sys.argv[1:2] == ["hook"]:
        # agents wait for it at every message: nothing of the command line is loaded
        from ricordo.serve.hook import answer

        return answer(sys.argv[2:])
    from ricordo.cli.main import run

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
