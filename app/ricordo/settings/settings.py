"""What the person has set, and where it is written."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace

from ricordo.settings.keymap import Keymap
from ricordo.settings.source import Path

LEVELS = ("off", "error", "warning", "info")
"""How much a finding can matter."""

DEFAULT_THEME = "ricordo-dark"
DEFAULT_REVIEW = 12
MOST_REVIEW = 1_000


@dataclass(frozen=True, slots=True)
class MemorySettings:
    """What holds for one memory only, and wins over what holds for all."""

    rules: Mapping[str, str] = field(default_factory=dict)
    """As `rules` above, for this memory."""

    thresholds: Mapping[str, float] = field(default_factory=dict)
    """As `thresholds` above, for this memory."""


@dataclass(frozen=True, slots=True)
class CurateSettings:
    """How often a memory may be curated: what is rewritten at every turn wears away."""

    hour: int = 6
    """How many curations may be applied within an hour before further ones are refused."""

    day: int = 24
    """How many may be within a day."""

    quiet: int = 5
    """Minutes since something was said in a session, below which it is told that the session still
    goes on; 0 tells nothing.
    """


CURATE = CurateSettings()
MOST_CURATE = 10_000
"""The highest number that each of them may be."""

ENGINES = ("rules", "anthropic", "command")
"""What can propose changes."""


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """What proposes changes in a curation, and the most that it may spend."""

    use: str = "rules"
    """`rules`, which need no key and no network; `anthropic`, a model on a server that speaks the
    Messages API; `command`, a program of yours that reads the brief and answers. The curate screen
    begins with it, and remembers by memory where you choose another one there.
    """

    model: str = "claude-sonnet-5-5"
    """The name of the model."""

    server: str = ""
    """The address of the server, such as `http://127.0.0.1:11434`. Where it is empty, the
    environment decides: `$ANTHROPIC_BASE_URL`, then Anthropic's own.
    """

    command: tuple[str, ...] = ()
    """The line of the program, a list of its words, such as `["claude", "-p"]`. No shell reads it;
    what keeps a known program from its memory, hooks and tools is added.
    """

    sent: int = 60_000
    """How many tokens a run may send."""

    written: int = 8_000
    """How many tokens may be written in a run."""

    day: int = 500_000
    """How many tokens, sent and written, may be spent within 24 hours."""

    month: int = 5_000_000
    """How many may be within 30 days."""


ENGINE = EngineSettings()
MOST_TOKENS = 1_000_000_000
"""The highest number that each cap may be."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What the person has set; what is not set has its default."""

    theme: str = DEFAULT_THEME
    """The name of the colour theme: one that ships with Ricordo, or one of your own in the
    folder `themes` beside this file.
    """

    editor: str = ""
    """The command that opens a note, with its arguments, such as `code --wait`; its words are
    quoted as in a shell, and the whole path of a program alone needs no quotes. Where it is empty,
    the environment decides in the same way: `$VISUAL`, then `$EDITOR`, then `vi`.
    """

    review: int = DEFAULT_REVIEW
    """How many notes the review of a day has at most, 1 to 1,000."""

    keymap: Keymap = field(default_factory=dict)
    """Other keys for an action: one key, or a list of them; an empty list takes the key away and
    leaves the palette. A key is written as it is typed (`J`, `?`, `ctrl+s`) or by its name
    (`question_mark`, `pageup`).
    """

    rules: Mapping[str, str] = field(default_factory=dict)
    """How much a finding of a rule matters: `error`, `warning` or `info`; `off` silences it."""

    thresholds: Mapping[str, float] = field(default_factory=dict)
    """The numbers from which on a rule speaks, each written as rule, dot and number's name."""

    curate: CurateSettings = CURATE
    """How often a memory may be curated: what is rewritten at every turn wears away."""

    engine: EngineSettings = ENGINE
    """What proposes changes in a curation, and the most that it may spend."""

    memory: Mapping[str, MemorySettings] = field(default_factory=dict)
    """Rules and thresholds for one memory only, which win over the ones above. The table is named
    by the memory's folder, an absolute path or one that begins with `~`.
    """

    lines: Mapping[Path, int] = field(default_factory=dict, compare=False)
    """Where the file sets what is set: 1-based lines, by table and key."""

    def for_memory(self, root: str) -> Settings:
        """Return what holds for the memory at `root`."""
        rules, thresholds = dict(self.rules), dict(self.thresholds)
        for path, own in self.memory.items():
            if os.path.realpath(path) == os.path.realpath(root):
                rules |= own.rules
                thresholds |= own.thresholds
        return replace(self, rules=rules, thresholds=thresholds)


def settings_file(config: str) -> str:
    """Return the settings file of the directory `config`; it need not exist."""
    return os.path.join(config, "settings.toml")


def keys_of(
    table: type[Settings | MemorySettings | CurateSettings | EngineSettings],
) -> tuple[str, ...]:
    """Return the keys that a person may write into `table`."""
    return tuple(key.name for key in fields(table) if key.compare)
