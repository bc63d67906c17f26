"""The palette: every action of the registry, and every theme."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple, Protocol, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.fuzzy import Matcher

from ricordo.tui.actions.action import Group
from ricordo.tui.actions.registry import actions_on, label_of
from ricordo.tui.screens.acting import ActingScreen


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
        if not isinstance(screen, ActingScreen):
            return
        for action in actions_on(screen.SCENE):
            if (action.group is Group.MOVE) is movement:
                keys = label_of(action, screen.keymap)
                title = f"{action.help}  ({keys})" if keys else action.help
                yield _Command(title, action.group.value, partial(screen.action_do, action.id))

    def _themes(self) -> Iterator[_Command]:
        app = cast(_Themed, self.app)
        for name in app.ricordo_themes:
            run = partial(setattr, app, "theme", name)
            yield _Command(f"Theme: {name}", "Change the colours, until Ricordo is left", run)

    async def discover(self) -> Hits:
        """Everything, before the person typed."""
        for command in self._commands():
            yield DiscoveryHit(Content(command.title), command.run, command.title, command.help)

    async def search(self, query: str) -> Hits:
        """What fits the words."""
        matcher = self.matcher(query)
        for command in self._commands():
            score = matcher.match(command.title)
            if score > 0:
                title = _highlighted(matcher, query, command.title)
                yield Hit(score, title, command.run, command.title, command.help)


def _highlighted(matcher: Matcher, query: str, title: str) -> Content:
    """Return `title` as it stands: `Matcher.highlight` would read `[` as markup."""
    content = Content(title)
    for offset in matcher.fuzzy_search.match(query, title)[1]:
        content = content.stylize(matcher.match_style, offset, offset + 1)
    return content
