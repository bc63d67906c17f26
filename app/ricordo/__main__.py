"""`ricordo` and `python -m ricordo`."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line; return its exit code."""
    from ricordo.cli.main import run

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
