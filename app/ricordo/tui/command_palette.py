"""The command palette: every action of the registry, and every theme."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple, Protocol, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.fuzzy import Matcher

from ricordo.tui.actions.action import Group
from ricordo.tui.actions.registry import find_actions, format_action_keys
from ricordo.tui.base.action_screen import ActionScreen

SYNONYMS: Mapping[str, tuple[str, ...]] = {
    "open": ("enter", "go to", "follow link"),
    "leave": ("close", "cancel", "escape"),
    "mark": ("select", "tick", "choose notes"),
    "next-pane": ("switch pane", "focus"),
    "index": ("list",),
    "note": ("text",),
    "freshness": ("findings", "problems", "errors", "warnings", "lint", "issues"),
    "back": ("previous note", "earlier"),
    "forward": ("next note",),
    "zoom": ("maximise", "maximize", "full screen", "fullscreen", "enlarge"),
    "narrower": ("shrink", "smaller"),
    "wider": ("grow", "larger", "bigger"),
    "find": ("find in note", "filter", "grep"),
    "finder": ("search", "find notes", "look up"),
    "source": ("raw", "markdown", "rendered", "preview"),
    "type": ("kind", "category"),
    "order": ("sort", "diary", "worst first"),
    "load": ("context", "budget", "session start", "what agents get"),
    "count": ("tokens",),
    "copy": ("yank", "clipboard"),
    "reveal": ("show secrets", "secrets", "unmask", "mask", "password", "credentials"),
    "history": ("versions", "log", "past", "restore", "gone", "trash"),
    "origin": ("cause", "transcript", "why", "session"),
    "explain": ("why", "rule", "what is this", "finding"),
    "columns": ("split", "unified", "diff"),
    "compare": ("diff with now",),
    "help": ("shortcuts", "bindings", "?"),
    "palette": ("commands", "actions"),
    "inbox": ("arrivals", "new", "changes"),
    "conflicts": ("contradictions", "resolve", "duplicates"),
    "review": ("due", "recheck", "today", "stale"),
    "curate": ("proposals", "propose", "curation", "remember"),
    "hand-off": ("handoff", "hand over", "sessions", "resume"),
    "ledger": ("cost", "money", "spending", "usage", "statistics"),
    "model": ("engine", "provider"),
    "kept-back": ("redacted", "secrets"),
    "connect": ("hooks", "install", "agents", "mcp", "disconnect"),
    "doctor": ("diagnose", "health", "setup", "hooks", "moved project", "split memory"),
    "memories": ("open memory", "switch memory", "projects", "home"),
    "new": ("create", "add note"),
    "edit": ("editor", "change", "write"),
    "head": ("frontmatter", "metadata", "description", "properties"),
    "move": ("rename",),
    "retire": ("delete", "remove", "archive", "erase"),
    "entry-down": ("move entry down", "lower"),
    "entry-up": ("move entry up", "higher"),
    "lift": ("raise", "promote", "above the cut"),
    "fix": ("repair", "correct", "solve", "autofix"),
    "protect": ("lock", "pin", "unprotect", "read only"),
    "dismiss": ("ignore", "mute", "hide", "suppress"),
    "undo": ("revert", "take back"),
    "redo": ("do again",),
    "reread": ("refresh", "reload", "rescan"),
    "yes": ("accept", "keep", "confirm", "still true", "approve"),
    "no": ("reject", "refuse", "wrong", "decline"),
    "later": ("postpone", "snooze", "put off", "skip"),
    "all": ("accept all", "keep all"),
    "write": ("save", "apply", "commit"),
    "hunk": ("part", "partly"),
    "merge": ("combine", "join"),
    "both": ("keep both",),
    "no-conflict": ("ignore", "dismiss"),
    "quit": ("exit", "leave ricordo", "bye", "q"),
    "conventions": ("learned", "schema", "style", "habits"),
    "settings": ("preferences", "configuration", "config", "options", "keymap"),
}
THEME = ("theme", "colour", "color", "dark", "light", "appearance")
"""Words that users type for a theme."""


class _Themed(Protocol):
    theme: str

    @property
    def ricordo_themes(self) -> Mapping[str, object]: ...


class _Command(NamedTuple):
    name: str
    """One or two words."""
    help: str
    """What it does, with its keys where it has some."""
    group: str
    run: Callable[[], Any]
    other_names: tuple[str, ...] = ()
    """Other words that users have for it."""

    @property
    def title(self) -> str:
        """The line in the palette."""
        return f"{self.name} · {self.help}"


class CommandProvider(Provider):
    """Offers every action of the registry and every theme."""

    def _commands(self) -> Iterator[_Command]:
        yield from self._actions(movement=False)
        yield from self._themes()
        yield from self._actions(movement=True)

    def _actions(self, *, movement: bool) -> Iterator[_Command]:
        screen = self.screen
        if not isinstance(screen, ActionScreen):
            return
        context = screen.action_context
        for action in find_actions(screen.SCREEN_ID):
            if (action.group is Group.MOVE) is movement:
                keys = format_action_keys(action, screen.keymap)
                help_ = f"{action.help}  ({keys})" if keys else action.help
                name, own = action.find_label(context), action.id.replace("-", " ")
                names = (own, action.label, *SYNONYMS.get(action.id, ()))
                run = partial(screen.action_do, action.id)
                yield _Command(name, help_, action.group.value, run, names)

    def _themes(self) -> Iterator[_Command]:
        app = cast(_Themed, self.app)
        for name in app.ricordo_themes:
            run = partial(setattr, app, "theme", name)
            help_ = "Change the colours until you quit Ricordo"
            yield _Command(f"theme {name}", help_, "Theme", run, (name, *THEME))

    async def discover(self) -> Hits:
        """Yield every command, before anything is typed."""
        for command in self._commands():
            yield DiscoveryHit(Content(command.title), command.run, command.title, command.group)

    async def search(self, query: str) -> Hits:
        """Yield the commands that fit the words: by name first, then by help text."""
        matcher = self.matcher(query)
        for number, command in enumerate(self._commands()):
            score = _score(command, query, matcher)
            if score > 0:
                title = _highlighted(matcher, query, command.title)
                # of two that fit alike, the one that is listed first wins
                score -= number / 1_000
                yield Hit(score, title, command.run, command.title, command.group)


def _score(command: _Command, query: str, matcher: Matcher) -> float:
    """Return how well a command fits what was typed; 0 where it does not. Every way to fit scores
    more than all later ones.
    """
    typed = " ".join(query.casefold().split())
    for worth, names in ((800, (command.name,)), (700, command.other_names)):
        folded = [name.casefold() for name in names]
        if typed in folded:
            return worth
        if any(name.startswith(typed) for name in folded):
            return worth - 200
        if any(word.startswith(typed) for name in folded for word in name.split()):
            return worth - 400
    if re.search(rf"\b{re.escape(typed)}", command.help.casefold()):
        return 200
    fuzzy = matcher.match(command.title)
    # the score of the matcher has no upper bound
    return 100 * fuzzy / (1 + fuzzy) if fuzzy > 0 else 0


def _highlighted(matcher: Matcher, query: str, title: str) -> Content:
    """Return `title` with matches highlighted; `Matcher.highlight` would read `[` as markup."""
    content = Content(title)
    for offset in matcher.fuzzy_search.match(query, title)[1]:
        content = content.stylize(matcher.match_style, offset, offset + 1)
    return content
