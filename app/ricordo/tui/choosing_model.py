"""Choosing a model: one whose price is known, or any other one by its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ricordo.settings.read_engine import is_model
from ricordo.tui.render.before_lines import told_of_price
from ricordo.tui.screens.choose import ChooseScreen, Way
from ricordo.tui.screens.form import Field, Filled, FormScreen

if TYPE_CHECKING:
    from textual.app import App

    from ricordo.model.prices import Price
    from ricordo.tui.palette import Palette

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
