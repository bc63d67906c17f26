"""The palette: every action of the registry, and every theme."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple, Protocol, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider

from ricordo.tui.actions import ACTIONS, Group, key_label
from ricordo.tui.screens.main import MainScreen


class _Themed(Protocol):
    theme: str

    @property
    def ricordo_themes(self) -> Mapping[str, object]: ...


class _Command(NamedTuple):
    title: str
    help: str
    run: Callable[[], Any]


class CommandProvider(Provider):
    """Offers every action of the registry and every theme."""

    def _commands(self) -> Iterator[_Command]:
        yield from self._actions(movement=False)
        yield from self._themes()
        yield from self._actions(movement=True)

    def _actions(self, *, movement: bool) -> Iterator[_Command]:
        screen = self.screen
        if not isinstance(screen, MainScreen):
            return
        for action in ACTIONS:
            if (action.group is Group.MOVE) is movement:
                title = f"{action.help}  ({key_label(action.keys)})"
                yield _Command(title, action.group.value, partial(screen.action_do, action.id))

    def _themes(self) -> Iterator[_Command]:
        app = cast(_Themed, self.app)
        for name in app.ricordo_themes:
            run = partial(setattr, app, "theme", name)
            yield _Command(f"Theme: {name}", "Change the colours, until Ricordo is left", run)

    async def discover(self) -> Hits:
        """Everything, before the person typed."""
        for command in self._commands():
            yield DiscoveryHit(command.title, command.run, help=command.help)

    async def search(self, query: str) -> Hits:
        """What fits the words."""
        matcher = self.matcher(query)
        for command in self._commands():
            score = matcher.match(command.title)
            if score > 0:
                title = matcher.highlight(command.title)
                yield Hit(score, title, command.run, help=command.help)
