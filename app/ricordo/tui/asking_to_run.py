"""A program that would run for the first time: it runs once its line was shown and a word typed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ricordo.errors import RicordoError
from ricordo.text import one_line
from ricordo.tui.screens.confirm import ConfirmScreen

if TYPE_CHECKING:
    from ricordo.model.programs import Program
    from ricordo.tui.screens.acting import ActingScreen

_RUN = "run"
"""What has to be typed, as on the command line."""
_IS_KNOWN = "The switches at its end turn its memory, hooks and tools off."
_NOT_KNOWN = "Nothing is added to its line: turn its memory, hooks and tools off there."


def ask_to_run(
    screen: ActingScreen[Any],
    program: Program,
    let_run: Callable[[Program], None],
    then: Callable[[], None],
    failed: Callable[[str], None],
) -> None:
    """Show the line of `program` above `screen`, and do `then` once it may run, which `let_run`
    keeps in a thread; `failed` is told where that could not be.
    """

    async def keep() -> None:
        try:
            await asyncio.to_thread(let_run, program)
        except RicordoError as error:
            failed(str(error))
        else:
            then()

    def answered(is_meant: bool | None) -> None:
        if is_meant:
            screen.run_worker(keep())

    told = [one_line(program.line), _IS_KNOWN if program.is_known else _NOT_KNOWN]
    palette = screen.styles_now()
    title = "This program was not run before"
    screen.app.push_screen(ConfirmScreen(title, told, palette, _RUN), answered)
