"""What explains the settings: `docs/settings.md` and `ricordo config show`, from the docstrings of
their fields.

`python -m ricordo.settings.page > docs/settings.md` writes the page.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path

from ricordo.resources import themes_directory
from ricordo.settings.keymap import merge_keys
from ricordo.settings.reader import SettingsNames
from ricordo.settings.settings import (
    CONVENTIONS,
    CURATE,
    DEFAULT_THEME,
    ENGINE,
    HOOK,
    ConventionSettings,
    CurateSettings,
    EngineSettings,
    HookSettings,
    MemorySettings,
    Settings,
    list_checks,
    list_keys,
)
from ricordo.settings.source import SettingsWarning, Value, format_toml_key, format_toml_value
from ricordo.settings.theme import BaseColors, MeaningColors, ThemeColors

_INTRODUCTION = """
# Settings

<!-- Made by `python -m ricordo.settings.page`: change the docstrings it reads, not this. -->

All settings are in one file, `settings.toml`. `ricordo config path` prints its path, `ricordo
config edit` opens it, and `ricordo config show` prints the value of every setting, with all
actions, rules and thresholds, and marks what the file sets.

The file never stops Ricordo. A warning names each value that cannot be used, with file, line and
the nearest valid word; all other settings are used.
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
conventions.title = "heading"
conventions.fields = ["type", "updated"]
conventions.apart = ["drafts"]
```
"""

_THEMES = """
## Writing a theme

A theme is a file `themes/*.toml` beside `settings.toml`, in the same format as the ones that
ship with Ricordo. The quickest way is to copy one of them, give it another name and change its
colours. Every colour is `#rrggbb`, `#rgb` or a colour of the terminal by Textual's name, such as
`ansi_bright_blue`.

A theme is checked when it is loaded: every colour of `[base]` and `[meaning]` is required, and
text has to be readable. Text of every meaning needs the contrast that the theme promises on
`background`, `surface`, `panel` and `cursor`, and `foreground` on `selection` too. A theme that
fails is not used, and `ricordo config` says why.
"""

_TABLES: Mapping[str, type] = {
    "curate": CurateSettings,
    "engine": EngineSettings,
    "hook": HookSettings,
    "memory": MemorySettings,
}


@cache
def read_explanations(table: type) -> dict[str, str]:
    """Return the docstring of each field of the dataclass `table`, as one line."""
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(table))).body
    assert isinstance(definition, ast.ClassDef)
    texts: dict[str, str] = {}
    for field, text in zip(definition.body, definition.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            match text:
                case ast.Expr(value=ast.Constant(value=str(words))):
                    texts[field.target.id] = " ".join(words.split())
    return texts


def make_settings_page() -> str:
    """Return the page that explains every setting and how to write a theme."""
    parts = (
        _INTRODUCTION,
        *map(_explain, list_keys(Settings)),
        _EXAMPLE,
        _THEMES,
        _rows(ThemeColors, "key"),
        "### `[base]`\n\nThe colours that every Textual theme has.",
        _rows(BaseColors, "colour"),
        "### `[meaning]`\n\nThe colours that say what a text is; a rule style sheet names them "
        "`$finding-error`, `$dim` and so on.",
        _rows(MeaningColors, "colour"),
        f"### A whole theme\n\nThis is `{DEFAULT_THEME}`:\n\n```toml\n{_shipped_theme()}```",
    )
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _explain(key: str) -> str:
    """Return the section on a key; of a table, with its keys."""
    section = f"## `{key}`\n\n{read_explanations(Settings)[key]}"
    if key in _TABLES:
        section += f"\n\n{_rows(_TABLES[key], 'key')}"
    if key == "memory":
        section += f"\n\nIts table `conventions`:\n\n{_rows(ConventionSettings, 'key')}"
    return section


def _rows(table: type, noun: str) -> str:
    rows = (
        f"| `{key.replace('_', '-')}` | {text} |" for key, text in read_explanations(table).items()
    )
    return "\n".join((f"| {noun} | what it is |", "|---|---|", *rows))


def _shipped_theme() -> str:
    return Path(themes_directory(), f"{DEFAULT_THEME}.toml").read_text(encoding="utf-8")


if __name__ == "__main__":
    print(make_settings_page(), end="")

_EXAMPLE_LINE = ('# [memory."~/path/to/memory"]', '# rules.stale = "off"')
_UNCOMMENTED = re.compile(r"^(?=[^#\[\n])", re.MULTILINE)


def make_effective_toml(
    settings: Settings, known: SettingsNames, warnings: Sequence[SettingsWarning]
) -> str:
    """Return the values of all settings as TOML: explained, and marked where the file sets them."""
    refused = {warning.key for warning in warnings}
    lines = {
        ".".join(path): line
        for path, line in settings.lines.items()
        if format_toml_key(path) not in refused
    }
    parts = (_list_warnings(warnings), *_keys(settings, lines), *_tables(settings, known, lines))
    return "\n".join("\n".join(part) + "\n" for part in (*parts, _memories(settings)) if part)


def make_template(known: SettingsNames) -> str:
    """Return a settings file that sets nothing and shows every setting."""
    return _UNCOMMENTED.sub("# ", make_effective_toml(Settings(), known, ()))


def _list_warnings(remarks: Iterable[SettingsWarning]) -> list[str]:
    return [f"#! {warning}" for warning in remarks]


def _keys(settings: Settings, lines: Mapping[str, int]) -> Iterator[list[str]]:
    for key in ("theme", *list_checks(Settings)):
        yield [*_comment(key), _assign(key, getattr(settings, key), lines.get(key, 0))]


def _tables(
    settings: Settings, known: SettingsNames, lines: Mapping[str, int]
) -> Iterator[list[str]]:
    """Yield the tables in which every known name has a value."""
    curate, engine = asdict(settings.curate), asdict(settings.engine)
    hook = asdict(settings.hook)
    keys = merge_keys(known.actions or (), settings.keymap)
    tables: Mapping[str, tuple[Mapping[str, Value], Iterable[str]]] = {
        "keymap": ({name: _alone(value) for name, value in keys.items()}, settings.keymap),
        "rules": ({**known.rules, **settings.rules}, settings.rules),
        "curate": (curate, dict(curate.items() - asdict(CURATE).items())),
        "engine": (engine, dict(engine.items() - asdict(ENGINE).items())),
        "hook": (hook, dict(hook.items() - asdict(HOOK).items())),
        "thresholds": ({**known.thresholds, **settings.thresholds}, settings.thresholds),
    }
    for table, (values, own) in tables.items():
        yield [
            *_comment(table),
            f"[{table}]",
            *(
                _assign(name, value, _line(lines, table, name) if name in own else 0)
                for name, value in values.items()
            ),
        ]


def _line(lines: Mapping[str, int], table: str, name: str) -> int:
    """Return where `name` is set; inside an inline table that is the line of the table."""
    return lines.get(f"{table}.{name}") or lines.get(table, 0)


def _memories(settings: Settings) -> list[str]:
    written = [*_comment("memory"), "#", *_EXAMPLE_LINE]
    for path, own in settings.memory.items():
        for table, values in (("rules", own.rules), ("thresholds", own.thresholds)):
            if values:
                written += ["", f"[{format_toml_key(('memory', path, table))}]"]
                written += (_assign(name, value, 0) for name, value in values.items())
        given = asdict(own.conventions)
        if given != asdict(CONVENTIONS):
            written += ["", f"[{format_toml_key(('memory', path, 'conventions'))}]"]
            written += (
                _assign(name, value, 0)
                for name, value in given.items()
                if value != asdict(CONVENTIONS)[name]
            )
    return written


def _assign(name: str, value: Value, line: int) -> str:
    mark = f"  # set in line {line}" if line else ""
    return f"{format_toml_key(name.split('.'))} = {format_toml_value(value)}{mark}"


def _alone(value: Value) -> Value:
    """Return the item of a list with one item, else the value itself."""
    return value[0] if isinstance(value, tuple) and len(value) == 1 else value


def _comment(key: str) -> list[str]:
    return [f"# {line}" for line in textwrap.wrap(read_explanations(Settings)[key], 96)]
