"""Colours as themes write them, and how well one can be read on another."""

from __future__ import annotations

import re
from functools import cache

Rgb = tuple[int, int, int]
"""Red, green and blue, 0 to 255."""

BLACK: Rgb = (0, 0, 0)

_HEX = re.compile(r"#(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})")

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


def rgb(color: str) -> Rgb | None:
    """Return the red, green and blue of `#rrggbb`, `#rgb` or an ANSI name; None for other text."""
    if not _HEX.fullmatch(color):
        return ANSI_COLORS.get(color)
    digits = color[1:] if len(color) == 7 else "".join(digit * 2 for digit in color[1:])
    return int(digits[0:2], 16), int(digits[2:4], 16), int(digits[4:6], 16)


def hexadecimal(color: str) -> str:
    """Return `color`, which is one, as `#rrggbb`."""
    red, green, blue = rgb(color) or BLACK
    return f"#{red:02x}{green:02x}{blue:02x}"


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours, 1 to 21.

    Source: WCAG 2.2, definition of contrast ratio, https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio
    """
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@cache
def luminance(color: str) -> float:
    """Return how bright `color`, which is one, looks: 0 to 1.

    Source: WCAG 2.2, https://www.w3.org/TR/WCAG22/#dfn-relative-luminance
    """
    red, green, blue = (_linear(channel / 255) for channel in rgb(color) or BLACK)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4
