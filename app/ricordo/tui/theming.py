"""From theme files to Textual's themes and to our palettes."""

from __future__ import annotations

from dataclasses import asdict

from textual.theme import Theme

from ricordo.settings.theme import ThemeColors


def textual_theme(colors: ThemeColors) -> Theme:
    """Return the theme under which Textual draws its own widgets."""
    return Theme(
        name=colors.name,
        dark=colors.dark,
        variables=colors.textual_variables,
        **asdict(colors.base),
    )
