"""What keys are bound to: Textual's bindings of dialogs, and every screen's table from actions to
what they call, which the registry checks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Protocol, runtime_checkable

from textual.app import App
from textual.binding import Binding, BindingType

from ricordo.settings.keymap import Keymap
from ricordo.tui.actions.dialogs import DIALOG_KEYS, Dialog
from ricordo.tui.actions.registry import BY_ID, find_actions, format_action_keys
from ricordo.tui.context import ScreenId


@runtime_checkable
class HasKeymap(Protocol):
    """An app that knows the user's keys."""

    @property
    def keymap(self) -> Keymap:
        """The user's keys by action id."""


def dialog_bindings(
    dialog: Dialog, actions: Mapping[str, str], *, priority: bool = False
) -> list[BindingType]:
    """Return the bindings of a dialog from `actions`, Textual's actions by action id. With
    `priority` they win over the line that is typed in. Raise ValueError for an id that the registry
    does not have for `dialog`.
    """
    if unknown := sorted(actions.keys() - DIALOG_KEYS[dialog]):
        raise ValueError(f"dialog {dialog}: no such action: {', '.join(unknown)}")
    return [
        Binding(BY_ID[id].keys, action, BY_ID[id].label, show=False, priority=priority, id=id)
        for id, action in actions.items()
    ]


def format_first_keys(app: App[Any], *action_ids: str) -> str:
    """Return the first key of each action as the user has set it; "" for one without keys."""
    keymap = app.keymap if isinstance(app, HasKeymap) else {}
    labels = (format_action_keys(BY_ID[id], keymap).split(" ") for id in action_ids)
    return " ".join(label[0] for label in labels if label[0])


def is_bound(screen: type[object], action_id: str) -> bool:
    """Return whether a class of screens binds an action itself."""
    declared = (binding for cls in screen.__mro__ for binding in vars(cls).get("BINDINGS", ()))
    return any(isinstance(binding, Binding) and binding.id == action_id for binding in declared)


Handlers = Mapping[str, Callable[[], object]]
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


def check_handlers(screen_id: ScreenId, handlers: Handlers) -> None:
    """Raise ValueError unless `handlers` has the actions of `screen_id` and no others."""
    expected = {action.id for action in find_actions(screen_id)}
    if missing := sorted(expected - handlers.keys()):
        raise ValueError(f"screen {screen_id}: no handler for {', '.join(missing)}")
    if unknown := sorted(handlers.keys() - expected):
        raise ValueError(f"screen {screen_id}: no such action: {', '.join(unknown)}")
