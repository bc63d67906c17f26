"""Reading and checking theme files. One that is not right is told of and left out."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from itertools import product
from typing import Any, TypeVar

from ricordo.settings.color import contrast, rgb
from ricordo.settings.remark import Remark
from ricordo.settings.source import Source, read_source
from ricordo.settings.theme import (
    GROUNDS,
    LEAST_CONTRAST,
    TEXT_GROUNDS,
    TEXTS,
    Base,
    Meaning,
    ThemeColors,
)

_NAME = re.compile(r"[a-z0-9][a-z0-9-]*")
_PERCENTAGE = re.compile(r" (?:100|\d{1,2})%$")
_STYLE = "(?:bold|dim|italic|underline|reverse|strike)"
_STYLES = re.compile(f"none|(?:not )?{_STYLE}(?: (?:not )?{_STYLE})*")
_COLORS = frozenset((*Base.__slots__, *Meaning.__slots__))

_Group = TypeVar("_Group", Base, Meaning)


def read_themes(
    directories: Iterable[str],
) -> tuple[Mapping[str, ThemeColors], list[Remark]]:
    """Return the themes of `directories` by name, and what could not be used.

    Of two themes with one name the first is taken.
    """
    themes: dict[str, ThemeColors] = {}
    remarks: list[Remark] = []
    for file in _theme_files(directories):
        source = read_source(file)
        theme = _theme(source)
        if theme and theme.name in themes:
            source.tell(("name",), f"There is another theme “{theme.name}”; that one is used.")
        elif theme:
            themes[theme.name] = theme
        remarks += source.remarks
    return themes, remarks


def _theme_files(directories: Iterable[str]) -> Iterator[str]:
    for directory in directories:
        try:
            names = sorted(os.listdir(directory))
        except OSError:
            continue
        yield from (os.path.join(directory, name) for name in names if name.endswith(".toml"))


def _theme(source: Source) -> ThemeColors | None:
    """Return the theme of a file; None where anything in it is not right."""
    if source.remarks:
        return None
    source.expect((), [key.name for key in fields(ThemeColors)])
    theme = ThemeColors(
        name=_name(source),
        dark=_dark(source),
        base=_group(source, "base", Base),
        meaning=_group(source, "meaning", Meaning),
        contrast=_contrast(source),
        variables=_variables(source),
    )
    if not source.remarks:
        _check_contrast(source, theme)
    return None if source.remarks else theme


def _name(source: Source) -> str:
    name = source.values.get("name")
    if isinstance(name, str) and _NAME.fullmatch(name):
        return name
    source.tell(("name",), "A theme needs a name of small letters, digits and hyphens.")
    return ""


def _dark(source: Source) -> bool:
    dark = source.values.get("dark")
    if not isinstance(dark, bool):
        source.tell(("dark",), "A theme has to say whether it is dark: true or false.")
    return dark is True


def _contrast(source: Source) -> float:
    value = source.values.get("contrast", LEAST_CONTRAST)
    if isinstance(value, int | float) and LEAST_CONTRAST <= value <= 21:
        return float(value)
    source.tell(("contrast",), f"This has to be a number from {LEAST_CONTRAST} to 21.")
    return LEAST_CONTRAST


def _group(source: Source, table: str, group: type[_Group]) -> _Group:
    """Return the colours of `table`, each of which has to be there."""
    written = {key.name: key.name.replace("_", "-") for key in fields(group)}
    source.expect((table,), written.values())
    colors = source.table((table,))
    for key in written.values():
        if key not in colors:
            source.tell((table, key), "This colour is missing.")
        elif not _is_color(colors[key]):
            source.tell((table, key), "This has to be a colour: #rrggbb, #rgb or an ANSI name.")
    return group(**{name: str(colors.get(key, "")) for name, key in written.items()})


def _is_color(value: Any) -> bool:
    return isinstance(value, str) and rgb(value) is not None


def _variables(source: Source) -> Mapping[str, str]:
    variables = source.table(("variables",))
    for name, value in variables.items():
        path = ("variables", name)
        if not _NAME.fullmatch(name):
            source.tell(path, "A variable's name is of small letters, digits and hyphens.")
        elif name.replace("-", "_") in _COLORS:
            source.tell(path, "This is set in [base] or [meaning].")
        elif "style" in name.split("-"):
            if not isinstance(value, str) or not _STYLES.fullmatch(value):
                source.tell(path, "This has to be text styles, such as `bold underline`.")
        elif not isinstance(value, str) or not _is_color(_PERCENTAGE.sub("", value)):
            source.tell(path, "This has to be a colour, or a colour and a percentage.")
    return {name: str(value) for name, value in variables.items()}


def _check_contrast(source: Source, theme: ThemeColors) -> None:
    """Remark on every text that is too hard to read on a ground where it can stand."""
    colors = theme.colors
    pairs = [("foreground", ground) for ground in TEXT_GROUNDS] + list(product(TEXTS, GROUNDS))
    for text, ground in pairs:
        if (ratio := contrast(colors[text], colors[ground])) < theme.contrast:
            table = "base" if text == "foreground" else "meaning"
            source.tell(
                (table, text.replace("_", "-")),
                f"Contrast to {ground} is {ratio:.2f}; it has to be {theme.contrast:g} or more.",
            )
