"""All settings: each key once, with its default, what a value has to be, and its explanation.

Reading, `ricordo config` and docs/settings.md derive from the fields of these dataclasses.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from ricordo.settings.keymap import Keymap
from ricordo.settings.source import Path
from ricordo.settings.values import (
    ValueCheck,
    command_line,
    folder,
    inner_folder,
    model,
    one_of,
    server,
    switch,
    whole,
    words,
)

LEVELS = ("off", "error", "warning", "info")
"""The severities that a rule can be set to."""

DEFAULT_THEME = "ricordo-dark"


def _value(default: Any, check: ValueCheck) -> Any:
    """Return the field of a key that has one value."""
    return field(default=default, metadata={"check": check})


TITLES = ("", "key", "heading", "file")
"""Where the notes of a memory may have their title; "" is to be learned."""


@dataclass(frozen=True, slots=True)
class ConventionSettings:
    """How the notes of one memory are written, where Ricordo learned something else."""

    title: str = _value("", one_of(TITLES))
    """Where a note has its title: `key`, a field of the frontmatter; `heading`, its first heading;
    `file`, the name of its file.
    """

    fields: tuple[str, ...] | None = _value(None, words("description", "updated"))
    """The fields of the frontmatter that every note has, such as `["description", "updated"]`;
    `name`, `description` and `type` stand for the fields that the agent uses for them. An empty
    list means that notes need no frontmatter.
    """

    prefixes: tuple[str, ...] | None = _value(None, words("ru/"))
    """The beginnings of links that mean the memory itself, such as `["ru/"]`, or `["/"]` for links
    from the root of a site.
    """

    apart: tuple[str, ...] | None = _value(None, words("drafts", "output/reports"))
    """The folders of files that are no pages, such as drafts and what programs write, relative to
    the memory: `["drafts"]`. No index has to list what is in them, no note has to link to it, and
    it need not have the form of pages. An empty list means that every folder has pages.
    """

    sources: str | None = _value(None, inner_folder())
    """The folder of raw sources, relative to the memory, such as `"clippings"`; "" if it has none.
    """

    project: str | None = _value(None, folder())
    """The folder of the project that the notes speak of; "" if they speak of none, so that nothing
    in them is checked against a project.
    """


CONVENTIONS = ConventionSettings()


@dataclass(frozen=True, slots=True)
class MemorySettings:
    """The settings of one memory, which override those of all memories."""

    rules: Mapping[str, str] = field(default_factory=dict)
    """As `rules` above, for this memory."""

    thresholds: Mapping[str, float] = field(default_factory=dict)
    """As `thresholds` above, for this memory."""

    conventions: ConventionSettings = CONVENTIONS
    """How its notes are written, where Ricordo learned something else. `ricordo config
    conventions` shows what it learned, and sets these keys.
    """


MOST_CURATE = 10_000
"""The highest number for each key of `[curate]`."""


@dataclass(frozen=True, slots=True)
class CurateSettings:
    """How often a memory may be curated: a note that is rewritten often loses detail."""

    hour: int = _value(6, whole(1, MOST_CURATE))
    """How many curations may be applied within an hour; further ones are refused."""

    day: int = _value(24, whole(1, MOST_CURATE))
    """How many curations may be applied within a day; further ones are refused."""

    quiet: int = _value(5, whole(0, MOST_CURATE))
    """Minutes since the last message of a session within which you are warned that the session is
    still going on; 0 turns the warning off.
    """


CURATE = CurateSettings()


@dataclass(frozen=True, slots=True)
class HookSettings:
    """What the hooks of connected agents do, beside giving notes."""

    check: bool = _value(False, switch())
    """Whether an agent that is about to stop is told, once in a session, which notes name files
    that it changed, if it changed none of these notes.
    """


HOOK = HookSettings()

ENGINES = ("rules", "anthropic", "command")
"""What can propose changes."""
MOST_TOKENS = 1_000_000_000
"""The highest number for each limit of tokens."""


def _tokens(default: int) -> Any:
    return _value(default, whole(1, MOST_TOKENS))


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """What proposes changes in a curation, and how many tokens it may use."""

    use: str = _value("rules", one_of(ENGINES))
    """`rules`, which need no key and no network; `anthropic`, a model on a server that speaks the
    Messages API; `command`, a program of yours that reads the brief and answers. The curate screen
    starts with it; if you choose another one there, that choice is remembered for the memory.
    """

    model: str = _value("claude-sonnet-5-5", model())
    """The name of the model."""

    server: str = _value("", server())
    """The address of the server, such as `http://127.0.0.1:11434`. If it is empty, the
    environment decides: `$ANTHROPIC_BASE_URL`, then Anthropic's server.
    """

    command: tuple[str, ...] = _value((), words())
    """The command of the program, as a list of words, such as `["claude", "-p"]`. No shell reads
    it. For programs that Ricordo knows, options that turn off memory, hooks and tools are added.
    """

    sent: int = _tokens(60_000)
    """How many tokens a curation may send."""

    check: int = _tokens(150_000)
    """How many tokens a check of notes may send, with all its questions."""

    written: int = _tokens(12_000)
    """How many tokens the model may write in a run."""

    day: int = _tokens(500_000)
    """How many tokens, sent and written, may be used within 24 hours."""

    month: int = _tokens(5_000_000)
    """How many tokens, sent and written, may be used within 30 days."""


ENGINE = EngineSettings()


@dataclass(frozen=True, slots=True)
class Settings:
    """What the user has set; what is not set has its default."""

    theme: str = DEFAULT_THEME
    """The name of the colour theme: one that ships with Ricordo, or one of your own in the
    folder `themes` beside this file.
    """

    editor: str = _value("", command_line())
    """The command that opens a note, with its arguments, such as `code --wait`; its words are
    quoted as in a shell, and the path of a program alone needs no quotes. If it is empty, the
    environment decides: `$VISUAL`, then `$EDITOR`, then `vi`.
    """

    review: int = _value(12, whole(1, 1_000))
    """The most notes in the review of a day, 1 to 1,000."""

    keymap: Keymap = field(default_factory=dict)
    """Other keys for an action: one key, or a list of keys; with an empty list the action is
    only in the palette. A key is written as it is typed (`J`, `?`, `ctrl+s`) or by its name
    (`question_mark`, `pageup`).
    """

    rules: Mapping[str, str] = field(default_factory=dict)
    """The severity of the findings of a rule: `error`, `warning` or `info`; `off` turns it off."""

    thresholds: Mapping[str, float] = field(default_factory=dict)
    """The limits of rules, each written as the rule, a dot and the name of the limit."""

    curate: CurateSettings = CURATE
    """How often a memory may be curated: a note that is rewritten often loses detail."""

    engine: EngineSettings = ENGINE
    """What proposes changes in a curation, and how many tokens it may use."""

    hook: HookSettings = HOOK
    """What the hooks of connected agents do, beside giving notes."""

    memory: Mapping[str, MemorySettings] = field(default_factory=dict)
    """Rules and thresholds for one memory, which override the ones above. The name of the table is
    the folder of the memory, an absolute path or one that begins with `~`.
    """

    conventions: ConventionSettings = field(default=CONVENTIONS, compare=False)
    """Those of the memory, in what `for_memory` returns."""

    lines: Mapping[Path, int] = field(default_factory=dict, compare=False)
    """The 1-based line of each key that the file sets, by table and key."""

    def for_memory(self, root: str) -> Settings:
        """Return the settings for the memory at `root`."""
        rules, thresholds = dict(self.rules), dict(self.thresholds)
        conventions = self.conventions
        for path, own in self.memory.items():
            if os.path.realpath(path) == os.path.realpath(root):
                rules |= own.rules
                thresholds |= own.thresholds
                conventions = own.conventions
        return replace(self, rules=rules, thresholds=thresholds, conventions=conventions)


def find_settings_file(config: str) -> str:
    """Return the settings file of the directory `config`; it need not exist."""
    return os.path.join(config, "settings.toml")


SettingsTable = (
    type[Settings]
    | type[MemorySettings]
    | type[ConventionSettings]
    | type[CurateSettings]
    | type[EngineSettings]
    | type[HookSettings]
)


def list_keys(table: SettingsTable) -> tuple[str, ...]:
    """Return the keys that a user may write into `table`."""
    return tuple(key.name for key in fields(table) if key.compare)


def list_checks(table: SettingsTable) -> dict[str, ValueCheck]:
    """Return, by key of `table`, what the value of a key that has one value has to be."""
    return {key.name: key.metadata["check"] for key in fields(table) if "check" in key.metadata}
