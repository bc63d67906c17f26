"""Colour themes: how a theme file is read and checked."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cache
from itertools import product
from typing import Any, TypeVar

from ricordo.patterns import compile_lazily
from ricordo.settings.source import SettingsSource, SettingsWarning, read_source

Rgb = tuple[int, int, int]
"""Red, green and blue, 0 to 255."""

BLACK: Rgb = (0, 0, 0)

_HEX = compile_lazily(r"#(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})")

ANSI_COLORS: dict[str, Rgb] = {
    "ansi_black": (0, 0, 0),
    "ansi_red": (128, 0, 0),
    "ansi_green": (0, 128, 0),
    "ansi_yellow": (128, 128, 0),
    "ansi_blue": (0, 0, 128),
    "ansi_magenta": (128, 0, 128),
    "ansi_cyan": (0, 128, 128),
    "ansi_white": (192, 192, 192),
    "ansi_bright_black": (128, 128, 128),
    "ansi_bright_red": (255, 0, 0),
    "ansi_bright_green": (0, 255, 0),
    "ansi_bright_yellow": (255, 255, 0),
    "ansi_bright_blue": (0, 0, 255),
    "ansi_bright_magenta": (255, 0, 255),
    "ansi_bright_cyan": (0, 255, 255),
    "ansi_bright_white": (255, 255, 255),
}
"""The terminal's own sixteen, by Textual's names, with the values that Textual takes them for."""


def parse_color(color: str) -> Rgb | None:
    """Return the red, green and blue of `#rrggbb`, `#rgb` or an ANSI name; None for other text."""
    if not _HEX.fullmatch(color):
        return ANSI_COLORS.get(color)
    digits = color[1:] if len(color) == 7 else "".join(digit * 2 for digit in color[1:])
    return int(digits[0:2], 16), int(digits[2:4], 16), int(digits[4:6], 16)


def format_color(color: str) -> str:
    """Return `color`, which is one, as `#rrggbb`."""
    red, green, blue = parse_color(color) or BLACK
    return f"#{red:02x}{green:02x}{blue:02x}"


def compute_contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours, 1 to 21.

    Source: WCAG 2.2, definition of contrast ratio, https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio
    """
    darker, lighter = sorted((compute_luminance(one), compute_luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@cache
def compute_luminance(color: str) -> float:
    """Return the relative luminance of `color`, which is one: 0 to 1.

    Source: WCAG 2.2, https://www.w3.org/TR/WCAG22/#dfn-relative-luminance
    """
    red, green, blue = (_linear(channel / 255) for channel in parse_color(color) or BLACK)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4


LEAST_CONTRAST = 4.5
"""WCAG 2.2, criterion 1.4.3, https://www.w3.org/TR/WCAG22/#contrast-minimum"""


@dataclass(frozen=True, slots=True)
class BaseColors:
    """The colours that every Textual theme has."""

    background: str
    """The background of the whole screen."""
    surface: str
    """The background of a pane."""
    panel: str
    """The background of what is above panes: header, footer, a dialog."""
    foreground: str
    """Text."""
    primary: str
    """Borders and title of the pane that has the focus."""
    secondary: str
    """Borders of the other panes."""
    accent: str
    """The colour that draws attention: the cursor, the keys in the footer."""
    success: str
    """What succeeded, what is fine."""
    warning: str
    """A warning, as a background or border."""
    error: str
    """An error, as a background or border."""


@dataclass(frozen=True, slots=True)
class MeaningColors:
    """The colours that say what a text is. Each is text, but for the two backgrounds at the end."""

    finding_error: str
    """A finding that is an error: glyph and word."""
    finding_warning: str
    """A finding that is a warning."""
    finding_info: str
    """A finding that is information only."""
    dim: str
    """What is fine or minor: ages, paths, counts, unfocused titles."""
    cut: str
    """The line below which agents stop reading the index."""
    link: str
    """A link to a note or a file."""
    heading: str
    """A heading of a note or of the index."""
    code: str
    """Code inside a note."""
    changed: str
    """The mark of a note or line that changed since the last visit."""
    match: str
    """A search match: drawn inverted, the text in the colour of the background."""
    cursor: str
    """The background of the row under the cursor."""
    selection: str
    """The background of selected text."""


TEXTS = tuple(name for name in MeaningColors.__slots__ if name not in ("cursor", "selection"))
"""The meanings that are text; they are read on each of `BACKGROUNDS`."""
BACKGROUNDS = ("background", "surface", "panel", "cursor")
"""The backgrounds of any text."""
TEXT_BACKGROUNDS = (*BACKGROUNDS, "selection")
"""The backgrounds of the foreground."""


@dataclass(frozen=True, slots=True)
class ThemeColors:
    """One theme: every colour is `#rrggbb`, `#rgb` or an ANSI name."""

    name: str
    """The value of the setting `theme`; no two themes may share it."""
    dark: bool
    """Whether it has light text on a dark background."""
    base: BaseColors
    """The colours of panes, borders and text."""
    meaning: MeaningColors
    """The colours that say what a text is."""
    contrast: float = LEAST_CONTRAST
    """The least contrast between text and background that the theme promises, 4.5 to 21; 7 is what
    WCAG calls enhanced.
    """
    variables: Mapping[str, str] = field(default_factory=dict)
    """Textual's own variables, for what the colours above do not reach. One with `style` in its
    name takes text styles, such as `bold underline`; every other a colour, or a colour and a
    percentage, such as `#8fb8c9 40%`.
    """

    @property
    def colors(self) -> dict[str, str]:
        """Every colour of base and meaning, by the name of its field."""
        return {**asdict(self.base), **asdict(self.meaning)}

    @property
    def textual_variables(self) -> dict[str, str]:
        """All variables for Textual: the theme's own and each meaning, as `finding-error`."""
        meanings = {name.replace("_", "-"): color for name, color in asdict(self.meaning).items()}
        return {**meanings, **self.variables}

    @property
    def palette(self) -> dict[str, str]:
        """All colours as `#rrggbb`, by short name: `foreground`, `error` (of a finding), `dim`."""
        # a finding's `error` follows, and so replaces, the base's, which is no colour of text
        colors = ((name.removeprefix("finding_"), color) for name, color in self.colors.items())
        return {name: format_color(color) for name, color in colors}


_NAME = compile_lazily(r"[a-z0-9][a-z0-9-]*")
_PERCENTAGE = compile_lazily(r" (?:100|\d{1,2})%$")
_STYLE = "(?:bold|dim|italic|underline|reverse|strike)"
_STYLES = compile_lazily(f"none|(?:not )?{_STYLE}(?: (?:not )?{_STYLE})*")
_COLORS = frozenset((*BaseColors.__slots__, *MeaningColors.__slots__))

_Group = TypeVar("_Group", BaseColors, MeaningColors)


def read_themes(
    directories: Iterable[str],
) -> tuple[Mapping[str, ThemeColors], list[SettingsWarning]]:
    """Return the themes of `directories` by name, and what could not be used.

    Of two themes with one name the first is used.
    """
    themes: dict[str, ThemeColors] = {}
    remarks: list[SettingsWarning] = []
    for file in _theme_files(directories):
        source = read_source(file)
        theme = _theme(source)
        if theme and theme.name in themes:
            source.warn(("name",), f"There is another theme “{theme.name}”, and that one is used.")
        elif theme:
            themes[theme.name] = theme
        remarks += source.warnings
    return themes, remarks


def _theme_files(directories: Iterable[str]) -> Iterator[str]:
    for directory in directories:
        try:
            names = sorted(os.listdir(directory))
        except OSError:
            continue
        yield from (os.path.join(directory, name) for name in names if name.endswith(".toml"))


def _theme(source: SettingsSource) -> ThemeColors | None:
    """Return the theme of a file; None if anything in it is invalid."""
    if source.warnings:
        return None
    source.check_keys((), [key.name for key in fields(ThemeColors)])
    theme = ThemeColors(
        name=_name(source),
        dark=_dark(source),
        base=_group(source, "base", BaseColors),
        meaning=_group(source, "meaning", MeaningColors),
        contrast=_contrast(source),
        variables=_variables(source),
    )
    if not source.warnings:
        _check_contrast(source, theme)
    return None if source.warnings else theme


def _name(source: SettingsSource) -> str:
    name = source.values.get("name")
    if isinstance(name, str) and _NAME.fullmatch(name):
        return name
    source.warn(("name",), "A theme needs a name of small letters, digits and hyphens.")
    return ""


def _dark(source: SettingsSource) -> bool:
    dark = source.values.get("dark")
    if not isinstance(dark, bool):
        source.warn(("dark",), "This has to be true or false: whether the theme is dark.")
    return dark is True


def _contrast(source: SettingsSource) -> float:
    value = source.values.get("contrast", LEAST_CONTRAST)
    if isinstance(value, int | float) and LEAST_CONTRAST <= value <= 21:
        return float(value)
    source.warn(("contrast",), f"This has to be a number from {LEAST_CONTRAST} to 21.")
    return LEAST_CONTRAST


def _group(source: SettingsSource, table: str, group: type[_Group]) -> _Group:
    """Return the colours of `table`, each of which is required."""
    written = {key.name: key.name.replace("_", "-") for key in fields(group)}
    source.check_keys((table,), written.values())
    colors = source.table((table,))
    for key in written.values():
        if key not in colors:
            source.warn((table, key), "This colour is missing.")
        elif not _is_color(colors[key]):
            source.warn((table, key), "This has to be a colour: #rrggbb, #rgb or an ANSI name.")
    return group(**{name: str(colors.get(key, "")) for name, key in written.items()})


def _is_color(value: Any) -> bool:
    return isinstance(value, str) and parse_color(value) is not None


def _variables(source: SettingsSource) -> Mapping[str, str]:
    variables = source.table(("variables",))
    for name, value in variables.items():
        path = ("variables", name)
        if not _NAME.fullmatch(name):
            source.warn(path, "A variable needs a name of small letters, digits and hyphens.")
        elif name.replace("-", "_") in _COLORS:
            source.warn(path, "This is set in [base] or [meaning].")
        elif "style" in name.split("-"):
            if not isinstance(value, str) or not _STYLES.fullmatch(value):
                source.warn(path, "This has to be text styles, such as `bold underline`.")
        elif not isinstance(value, str) or not _is_color(_PERCENTAGE.sub("", value)):
            source.warn(path, "This has to be a colour, or a colour and a percentage.")
    return {name: str(value) for name, value in variables.items()}


def _check_contrast(source: SettingsSource, theme: ThemeColors) -> None:
    """Add a warning about every text that is too hard to read on one of its backgrounds."""
    colors = theme.colors
    pairs = [("foreground", ground) for ground in TEXT_BACKGROUNDS] + list(
        product(TEXTS, BACKGROUNDS)
    )
    for text, ground in pairs:
        if (ratio := compute_contrast(colors[text], colors[ground])) < theme.contrast:
            table = "base" if text == "foreground" else "meaning"
            source.warn(
                (table, text.replace("_", "-")),
                f"Contrast to {ground} is {ratio:.2f}; the least is {theme.contrast:g}.",
            )
