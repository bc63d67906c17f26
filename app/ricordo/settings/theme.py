"""Colour themes: what a theme file holds once it is read and checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from ricordo.settings.color import hexadecimal

LEAST_CONTRAST = 4.5
"""WCAG 2.2, criterion 1.4.3, https://www.w3.org/TR/WCAG22/#contrast-minimum"""


@dataclass(frozen=True, slots=True)
class Base:
    """The colours that every Textual theme has."""

    background: str
    """The ground of the whole screen."""
    surface: str
    """The ground of a pane."""
    panel: str
    """The ground of what lies above panes: header, footer, a chooser."""
    foreground: str
    """Text."""
    primary: str
    """Borders and title of the pane that has the focus."""
    secondary: str
    """Borders of the other panes."""
    accent: str
    """The one colour that says *look here*: the cursor, the keys in the footer."""
    success: str
    """What was done, what is fine."""
    warning: str
    """A doubt, as a ground or border."""
    error: str
    """A failure, as a ground or border."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """The colours that say what a text is. Each is text, but for the two grounds at the end."""

    finding_error: str
    """A finding that is an error: glyph and word."""
    finding_warning: str
    """A finding that is a warning."""
    finding_info: str
    """A finding that is worth knowing, no more."""
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
    """A search match: drawn inverted, the text in the colour of the ground."""
    cursor: str
    """The ground of the row under the cursor."""
    selection: str
    """The ground of selected text."""


TEXTS = tuple(name for name in Meaning.__slots__ if name not in ("cursor", "selection"))
"""The meanings that are text; they are read on each of `GROUNDS`."""
GROUNDS = ("background", "surface", "panel", "cursor")
"""Where any text can stand."""
TEXT_GROUNDS = (*GROUNDS, "selection")
"""Where the foreground can stand."""


@dataclass(frozen=True, slots=True)
class ThemeColors:
    """One theme: every colour is `#rrggbb`, `#rgb` or an ANSI name."""

    name: str
    """What the setting `theme` calls it; no two themes may share it."""
    dark: bool
    """Whether light text stands on a dark ground."""
    base: Base
    """The colours of panes, borders and text."""
    meaning: Meaning
    """The colours that say what a text is."""
    contrast: float = LEAST_CONTRAST
    """The least contrast between text and ground that the theme promises, 4.5 to 21; 7 is what
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
        return {name: hexadecimal(color) for name, color in colors}
