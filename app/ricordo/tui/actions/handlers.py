"""The table from actions to what they call, which every screen has and the registry checks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Protocol

from ricordo.tui.actions.registry import find_actions
from ricordo.tui.context import ScreenId

Handlers = Mapping[str, Callable[[], None]]
"""What is called for an action, by action id."""


class Movable(Protocol):
    """A widget that the moving keys move in."""

    def move(self, step: int) -> None:
        """Move by `step` rows or lines; negative is up."""

    def move_page(self, direction: int) -> None:
        """Move by a page: down (1) or up (-1)."""

    def move_to_end(self, direction: int) -> None:
        """Move to the first (-1) or the last (1) line."""


def moving_handlers(widget: Movable) -> Handlers:
    """Return the handlers of the moving keys, which move in `widget`."""
    return {
        "cursor-down": partial(widget.move, 1),
        "cursor-up": partial(widget.move, -1),
        "page-down": partial(widget.move_page, 1),
        "page-up": partial(widget.move_page, -1),
        "first": partial(widget.move_to_end, -1),
        "last": partial(widget.move_to_end, 1),
    }


def check_handlers(scene: ScreenId, handlers: Handlers) -> None:
    """Raise ValueError unless `handlers` has the actions of `scene` and no others."""
    expected = {action.id for action in find_actions(scene)}
    if missing := sorted(expected - handlers.keys()):
        raise ValueError(f"screen {scene}: no handler for {', '.join(missing)}")
    if unknown := sorted(handlers.keys() - expected):
        raise ValueError(f"screen {scene}: no such action: {', '.join(unknown)}")
