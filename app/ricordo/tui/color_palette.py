"""The palette: from names of styles to what a terminal draws, in the colours of a theme."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from functools import cached_property

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.theme import Theme

from ricordo.settings.theme import ThemeColors
from ricordo.tui.render.line import StyledLine, StyledSpan, fit

_ATTRIBUTES = {
    "bold": Style(bold=True),
    "italic": Style(italic=True),
    "strike": Style(strike=True),
    "underline": Style(underline=True),
    "reverse": Style(reverse=True),
}


class Palette:
    """The styles of one theme; another theme gets another palette."""

    def __init__(self, theme: ThemeColors) -> None:
        """`theme` gives the colours."""
        self._colors = theme.palette
        self._known: dict[str, Style] = {}
        self._grounded: dict[tuple[str, str, int], Style] = {}

    def find_style(self, names: str) -> Style:
        """Return the style of `names`, separated by blanks; unknown names add nothing."""
        known = self._known.get(names)
        if known is None:
            known = sum((self._single(name) for name in names.split()), Style.null())
            self._known[names] = known
        return known

    @cached_property
    def base_style(self) -> Style:
        """Plain text on the plain background."""
        return Style(color=self._colors["foreground"], bgcolor=self._colors["background"])

    def make_strip(self, line: StyledLine, width: int, base: str = "") -> Strip:
        """Return `line` as `width` cells to draw, on the style `base`; a longer line ends in an
        ellipsis.
        """
        strip = self._drawn(line.spans, base)
        if strip.cell_length > width:
            strip = self._drawn(fit(line.spans, width), base)
        return strip.adjust_cell_length(width, self._on_ground(base, "", -1))

    def _drawn(self, spans: Iterable[StyledSpan], base: str) -> Strip:
        return Strip(
            Segment(span.text, self._on_ground(base, span.style, span.link)) for span in spans
        )

    def _on_ground(self, base: str, names: str, link: int) -> Style:
        key = (base, names, link)
        known = self._grounded.get(key)
        if known is None:
            known = self.base_style + self.find_style(base) + self.find_style(names)
            if link >= 0:
                known += Style.from_meta({"link": link})
            self._grounded[key] = known
        return known

    def _single(self, name: str) -> Style:
        if name in _ATTRIBUTES:
            return _ATTRIBUTES[name]
        if name in _COMPOSED:
            color, background, attribute = _COMPOSED[name]
            colored = Style(color=self._colors.get(color), bgcolor=self._colors.get(background))
            return colored + _ATTRIBUTES[attribute] if attribute else colored
        return Style(color=self._colors[name]) if name in self._colors else Style.null()


_COMPOSED: Mapping[str, tuple[str, str, str]] = {
    "fine": ("dim", "", ""),
    "heading": ("heading", "", "bold"),
    "subheading": ("heading", "", ""),
    "code-block": ("code", "surface", ""),
    "quote": ("dim", "", "italic"),
    "comment": ("dim", "", "italic"),
    "bullet": ("accent", "", ""),
    "frontmatter": ("dim", "", ""),
    "link": ("link", "", "underline"),
    "dead-link": ("error", "", "underline"),
    "wanted-link": ("info", "", "underline"),
    "external-link": ("link", "", ""),
    "chosen-link": ("background", "link", "bold"),
    "key": ("accent", "", "bold"),
    "match": ("background", "match", ""),
    "cursor": ("", "cursor", ""),
    "target": ("", "cursor", ""),
    "added": ("success", "", ""),
    "removed": ("error", "", ""),
    "bar": ("foreground", "panel", ""),
    "selection": ("", "selection", ""),
}
"""Names that combine a colour, a background and an attribute; other names are colours."""


def make_textual_theme(colors: ThemeColors) -> Theme:
    """Return the theme under which Textual draws its own widgets."""
    return Theme(
        name=colors.name,
        dark=colors.dark,
        variables=colors.textual_variables,
        **asdict(colors.base),
    )
