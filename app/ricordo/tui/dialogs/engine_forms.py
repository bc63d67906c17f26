"""Dialogs that choose a model, and that ask before a program runs for the first time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ricordo.errors import RicordoError
from ricordo.settings.values import is_model
from ricordo.text import make_one_line
from ricordo.tui.dialogs.choose import Choice, ChooseScreen
from ricordo.tui.dialogs.form import ConfirmScreen, Field, FormResult, FormScreen
from ricordo.tui.render.egress_lines import describe_price

if TYPE_CHECKING:
    from textual.app import App

    from ricordo.llm.prices import Price
    from ricordo.llm.program import Program
    from ricordo.tui.base.action_screen import ActionScreen
    from ricordo.tui.color_palette import Palette

_TITLE = "Which model?"


def choose_model(
    app: App[Any],
    now: str,
    prices: Mapping[str, Price],
    palette: Palette,
    use: Callable[[str], None],
) -> None:
    """Let the user choose a model: one of `prices`, or another one by its name. `now` is the
    current one; `use` is called with the name that was chosen.
    """

    def chosen(name: str | None) -> None:
        if name:
            use(name)
        elif name is not None:
            form = FormScreen(_TITLE, [Field("model", "", "its name")], palette, "choose")
            app.push_screen(form, named)

    def named(filled: FormResult | None) -> None:
        if filled is None or not filled.confirmed:
            return
        name = filled.values["model"].strip()
        if is_model(name):
            use(name)
        else:
            app.notify("Not the name of a model.", severity="warning", markup=False)

    names = dict.fromkeys((now, *prices))
    ways = [Choice(name, name, describe_price(prices.get(name))) for name in names]
    ways.insert(1, Choice("", "another model", "by the name that its server knows"))
    app.push_screen(ChooseScreen(_TITLE, ways, palette), chosen)


_RUN = "run"
"""The word to type, as on the command line."""
_IS_KNOWN = "The switches at the end turn off its memory, hooks and tools."
_NOT_KNOWN = "Nothing is added to the command: turn off its memory, hooks and tools there."


def ask_to_run(
    screen: ActionScreen[Any],
    program: Program,
    let_run: Callable[[Program], None],
    then: Callable[[], None],
    failed: Callable[[str], None],
) -> None:
    """Show the command of `program` above `screen`. Where the user allows it, `let_run` remembers
    that in a thread, then `then` is called; `failed` gets the message where that failed.
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

    lines = [make_one_line(program.line), _IS_KNOWN if program.is_known else _NOT_KNOWN]
    palette = screen.current_palette()
    title = "Run this program for the first time?"
    screen.app.push_screen(ConfirmScreen(title, lines, palette, _RUN), answered)
