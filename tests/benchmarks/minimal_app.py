"""The smallest Textual program that shows a list: what no program on Textual can go below.

`python tests/benchmarks/minimal_app.py [ROWS]`. It imports nothing of Ricordo.
"""

from __future__ import annotations

import sys

from textual.app import App, ComposeResult
from textual.widgets import OptionList

READY = "row-number-1"
"""What its first paint shows."""


class MinimalApp(App[None]):
    """One list and nothing else."""

    ENABLE_COMMAND_PALETTE = False
    BINDINGS = (("q", "quit", "Quit"),)

    def __init__(self, rows: int) -> None:
        super().__init__()
        self._rows = rows

    def compose(self) -> ComposeResult:
        """Yield the list."""
        rows = (f"row-number-{number}" for number in range(1, self._rows + 1))
        yield OptionList(*rows, markup=False)


if __name__ == "__main__":
    MinimalApp(int(sys.argv[1]) if len(sys.argv) > 1 else 50).run()
