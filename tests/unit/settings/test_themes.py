from __future__ import annotations

import itertools
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as profile
from hypothesis import strategies as st
from textual._color_constants import COLOR_NAME_TO_RGB
from textual.app import App
from textual.color import Color
from textual.theme import Theme

from ricordo.resources import themes_directory
from ricordo.settings.settings import DEFAULT_THEME
from ricordo.settings.theme import (
    ANSI_COLORS,
    BACKGROUNDS,
    TEXTS,
    ThemeColors,
    compute_contrast,
    parse_color,
    read_themes,
)

SHIPPED, SHIPPED_REMARKS = read_themes([themes_directory()])
DARK = Path(themes_directory(), f"{DEFAULT_THEME}.toml").read_text(encoding="utf-8")


def read(folder: Path, text: str) -> tuple[list[str], list[str]]:
    """Return the names of the themes of `folder`, and the warnings without the file."""
    (folder / "own.toml").write_text(text, encoding="utf-8")
    themes, warnings = read_themes([str(folder)])
    return list(themes), [str(warning).removeprefix(f"{folder}/own.toml") for warning in warnings]


def test_every_shipped_theme_passes_its_checks() -> None:
    assert SHIPPED_REMARKS == []
    assert sorted(SHIPPED) == sorted(file.stem for file in Path(themes_directory()).glob("*.toml"))
    assert DEFAULT_THEME in SHIPPED


def test_high_contrast_promises_enhanced_contrast() -> None:
    assert SHIPPED["high-contrast"].contrast == 7


@pytest.mark.parametrize("theme", SHIPPED.values(), ids=SHIPPED)
def test_severities_of_findings_look_different(theme: ThemeColors) -> None:
    colors = [theme.palette[name] for name in ("error", "warning", "info", "dim", "foreground")]
    assert all(one != other for one, other in itertools.combinations(colors, 2))


@pytest.mark.parametrize("theme", SHIPPED.values(), ids=SHIPPED)
async def test_textual_can_use_it_and_all_its_variables(theme: ThemeColors) -> None:
    variables = theme.textual_variables

    class Page(App[None]):
        CSS = "\n".join(
            f"Screen {{ color: ${name}; }}" for name in variables if not name.endswith("-style")
        )

        def __init__(self) -> None:
            super().__init__()
            base = theme.base
            self.register_theme(
                Theme(
                    name=theme.name,
                    dark=theme.dark,
                    primary=base.primary,
                    background=base.background,
                    foreground=base.foreground,
                    variables=variables,
                )
            )
            self.theme = theme.name

    app = Page()
    async with app.run_test():
        assert app.theme == theme.name


@pytest.mark.parametrize(
    ("old", "new", "warning"),
    [
        (
            'name = "ricordo-dark"',
            'name = "A B"',
            ":2: name: A theme needs a name of small letters, digits and hyphens.",
        ),
        (
            "dark = true",
            'dark = "yes"',
            ":3: dark: This has to be true or false: whether the theme is dark.",
        ),
        (
            "dark = true",
            "dark = true\ncontrast = 3",
            ":4: contrast: This has to be a number from 4.5 to 21.",
        ),
        (
            '\nforeground = "#d8d0c4"',
            '\nforeground = "d8d0c4"',
            ":9: base.foreground: This has to be a colour: #rrggbb, #rgb or an ANSI name.",
        ),
        (
            '\nforeground = "#d8d0c4"',
            '\nforegruond = "#d8d0c4"',
            ":9: base.foregruond: There is no such key. Did you mean “foreground”?",
        ),
        (
            '\nforeground = "#d8d0c4"',
            "",
            ":5: base.foreground: This colour is missing.",
        ),
        (
            '\nforeground = "#d8d0c4"',
            '\nforeground = "#777"',
            ":9: base.foreground: Contrast to background is 3.94; the least is 4.5.",
        ),
        (
            "[variables]",
            '[variables]\nborder = "bold"',
            ":32: variables.border: This has to be a colour, or a colour and a percentage.",
        ),
        (
            "[variables]",
            '[variables]\nlink-style = "not"',
            ":32: variables.link-style: This has to be text styles, such as `bold underline`.",
        ),
        (
            "[variables]",
            '[variables]\nfinding-error = "#000"',
            ":32: variables.finding-error: This is set in [base] or [meaning].",
        ),
        (
            "[variables]",
            '[variables]\n"a b" = "#000"',
            ':32: variables."a b": A variable needs a name of small letters, digits and hyphens.',
        ),
        (DARK, "name", ":1: This is not TOML: Expected '=' after a key in a key/value pair."),
    ],
)
def test_an_invalid_theme_is_ignored_with_a_warning(
    tmp_path: Path, old: str, new: str, warning: str
) -> None:
    assert old in DARK
    themes, warnings = read(tmp_path, DARK.replace(old, new))
    assert themes == []
    assert warning in warnings


def test_text_has_to_be_readable_on_every_ground(tmp_path: Path) -> None:
    dim = SHIPPED[DEFAULT_THEME].meaning.dim
    _, warnings = read(tmp_path, DARK.replace(dim, "#555555"))
    assert len(warnings) == len(BACKGROUNDS)
    assert all("meaning.dim: Contrast to" in warning for warning in warnings)


def test_every_promise_of_contrast_is_kept(tmp_path: Path) -> None:
    _, warnings = read(tmp_path, DARK.replace("dark = true", "dark = true\ncontrast = 21"))
    texts = {"meaning." + text.replace("_", "-") for text in TEXTS} | {"base.foreground"}
    assert {warning.split(": ")[1] for warning in warnings} == texts


def test_colours_of_the_terminal_and_short_ones_are_fine(tmp_path: Path) -> None:
    text = DARK.replace('"#d8d0c4"', '"ansi_white"').replace('name = "ricordo-dark"', 'name = "x"')
    assert read(tmp_path, text.replace("[variables]", '[variables]\nborder = "#abc 50%"')) == (
        ["x"],
        [],
    )
    themes, _ = read_themes([str(tmp_path)])
    assert themes["x"].palette["foreground"] == "#c0c0c0"


def test_of_two_themes_with_one_name_the_first_is_used(tmp_path: Path) -> None:
    shutil.copy(Path(themes_directory(), f"{DEFAULT_THEME}.toml"), tmp_path / "twin.toml")
    themes, warnings = read_themes([themes_directory(), str(tmp_path)])
    assert themes == SHIPPED
    assert [(warning.key, warning.line) for warning in warnings] == [("name", 2)]


def test_a_missing_folder_has_no_themes(tmp_path: Path) -> None:
    assert read_themes([str(tmp_path / "none")]) == ({}, [])


@profile(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.one_of(
        st.binary(),
        st.tuples(st.integers(0, len(DARK)), st.integers(0, 40), st.binary(max_size=8)).map(
            lambda cut: DARK.encode()[: cut[0]] + cut[2] + DARK.encode()[cut[0] + cut[1] :]
        ),
    )
)
def test_no_bytes_of_a_theme_raise(tmp_path: Path, raw: bytes) -> None:
    (tmp_path / "own.toml").write_bytes(raw)
    themes, warnings = read_themes([str(tmp_path)])
    assert bool(themes) != bool(warnings)


def test_contrast_is_that_of_wcag() -> None:
    assert compute_contrast("#000", "#ffffff") == pytest.approx(21)
    assert compute_contrast("#777777", "#fff") == pytest.approx(4.48, abs=0.005)
    assert compute_contrast("ansi_red", "#800000") == 1


def test_ansi_colours_are_those_that_textual_knows() -> None:
    known = {name: value for name, value in COLOR_NAME_TO_RGB.items() if name.startswith("ansi_")}
    assert known == ANSI_COLORS


@given(st.from_regex(r"#([0-9a-fA-F]{3}|[0-9a-fA-F]{6})", fullmatch=True))
def test_a_hexadecimal_colour_is_the_one_that_textual_reads(color: str) -> None:
    assert parse_color(color) == Color.parse(color).rgb
