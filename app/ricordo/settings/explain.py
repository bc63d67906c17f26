"""The documentation of the settings, made of the docstrings of their fields.

`python -m ricordo.settings.explain > docs/settings.md` writes it anew.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from functools import cache
from pathlib import Path

from ricordo.resources import themes_directory
from ricordo.settings.settings import (
    DEFAULT_THEME,
    CurateSettings,
    EngineSettings,
    MemorySettings,
    Settings,
    keys_of,
)
from ricordo.settings.theme import Base, Meaning, ThemeColors

_INTRODUCTION = """
# Settings

<!-- Made by `python -m ricordo.settings.explain`: change the docstrings it reads, not this. -->

Everything that can be set stands in one file, `settings.toml`. `ricordo config path` says where
it lies, `ricordo config edit` opens it, and `ricordo config show` prints every setting that
holds, with all actions, rules and thresholds that there are, and marks what the file sets.

The file never stops Ricordo: what it cannot use is named with file, line and the nearest word
that it knows, and everything else holds.
"""

_EXAMPLE = """
## An example

```toml
theme = "manuscript"
editor = "code --wait"
review = 8

[keymap]
source = ["s", "f2"]
help = ["?", "f1"]

[rules]
never-read = "off"
orphan-note = "warning"

[thresholds]
index-near-budget.share = 0.9

[curate]
hour = 3

[engine]
use = "anthropic"
model = "claude-haiku-4-5"
day = 200000

[memory."~/notes/wiki"]
rules.unindexed-note = "info"
```
"""

_THEMES = """
## Writing a theme

A theme is a file `themes/*.toml` beside `settings.toml`, in the same format as the ones that
ship with Ricordo. The shortest way is to copy one of them, give it another name and change its
colours. Every colour is `#rrggbb`, `#rgb` or a colour of the terminal by Textual's name, such as
`ansi_bright_blue`.

A theme is checked when it is loaded: every colour of `[base]` and `[meaning]` has to be there,
and text has to be readable. Text of every meaning has to reach the contrast that the theme
promises on `background`, `surface`, `panel` and `cursor`, and `foreground` on `selection` too.
A theme that fails is left out, and `ricordo config` says why.
"""


@cache
def explanations(table: type) -> dict[str, str]:
    """Return the docstring of each field of the dataclass `table`, as one line."""
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(table))).body
    assert isinstance(definition, ast.ClassDef)
    found: dict[str, str] = {}
    for field, text in zip(definition.body, definition.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            match text:
                case ast.Expr(value=ast.Constant(value=str(words))):
                    found[field.target.id] = " ".join(words.split())
    return found


def settings_page() -> str:
    """Return the page that explains every setting and how to write a theme."""
    parts = (
        _INTRODUCTION,
        *(f"## `{key}`\n\n{explanations(Settings)[key]}" for key in keys_of(Settings)),
        _rows(MemorySettings, "key"),
        "### `[curate]`",
        _rows(CurateSettings, "key"),
        "### `[engine]`",
        _rows(EngineSettings, "key"),
        _EXAMPLE,
        _THEMES,
        _rows(ThemeColors, "key"),
        "### `[base]`\n\nThe colours that every theme of the terminal has.",
        _rows(Base, "colour"),
        "### `[meaning]`\n\nThe colours that say what a text is; a rule style sheet names them "
        "`$finding-error`, `$dim` and so on.",
        _rows(Meaning, "colour"),
        f"### A whole theme\n\nThis is `{DEFAULT_THEME}`:\n\n```toml\n{_shipped_theme()}```",
    )
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _rows(table: type, noun: str) -> str:
    rows = (f"| `{key.replace('_', '-')}` | {text} |" for key, text in explanations(table).items())
    return "\n".join((f"| {noun} | what it is |", "|---|---|", *rows))


def _shipped_theme() -> str:
    return Path(themes_directory(), f"{DEFAULT_THEME}.toml").read_text(encoding="utf-8")


if __name__ == "__main__":
    print(settings_page(), end="")
