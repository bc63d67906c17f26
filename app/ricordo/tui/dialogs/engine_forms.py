"""Choosing a model: one whose price is known, or any other one by its name."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ricordo.errors import RicordoError
from ricordo.settings.reader import is_model
from ricordo.text import one_line
from ricordo.tui.dialogs.choose import ChooseScreen, Way
from ricordo.tui.dialogs.confirm import ConfirmScreen
from ricordo.tui.dialogs.form import Field, Filled, FormScreen
from ricordo.tui.render.egress_lines import told_of_price

if TYPE_CHECKING:
    from textual.app import App

    from ricordo.llm.prices import Price
    from ricordo.llm.program import Program
    from ricordo.tui.base.acting_screen import ActingScreen
    from ricordo.tui.color_palette import Palette

_TITLE = "Which model is asked"


def choose_model(
    app: App[Any],
    now: str,
    prices: Mapping[str, Price],
    palette: Palette,
    use: Callable[[str], None],
) -> None:
    """Ask which model is to be asked; `now` is the one that is, `use` is called with another one's
    name.
    """

    def chosen(name: str | None) -> None:
        if name:
            use(name)
        elif name is not None:
            form = FormScreen(_TITLE, [Field("model", "", "its name")], palette, "choose")
            app.push_screen(form, named)

    def named(filled: Filled | None) -> None:
        if filled is None or not filled.confirmed:
            return
        name = filled.values["model"].strip()
        if is_model(name):
            use(name)
        else:
            app.notify("This is no name of a model.", severity="warning", markup=False)

    names = dict.fromkeys((now, *prices))
    ways = [Way(name, name, told_of_price(prices.get(name))) for name in names]
    ways.insert(1, Way("", "another one", "by its name, as its server knows it"))
    app.push_screen(ChooseScreen(_TITLE, ways, palette), chosen)


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
