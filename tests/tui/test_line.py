"""Lines that are cut to the width of the terminal."""

from __future__ import annotations

from ricordo.services.workspace.environment import load_environment
from ricordo.services.workspace.settings import load_themes
from ricordo.tui.color_palette import Palette
from ricordo.tui.render.line import StyledLine, StyledSpan, fit_keys, wrap

KEYS = tuple(
    span
    for key, word in (("a", "still true"), ("d", "wrong"), ("l", "later"))
    for span in (StyledSpan(f" {key} ", "key"), StyledSpan(f"{word} ", "dim"))
)


def test_a_key_is_never_shown_without_its_label() -> None:
    whole = " a still true  d wrong  l later "
    fitted = {StyledLine(fit_keys(KEYS, width)).text for width in range(16, 60)}
    assert fitted == {whole, " a still true  d wrong …", " a still true …"}
    for width in range(1, 60):
        assert len(StyledLine(fit_keys(KEYS, width)).text) <= width


def test_a_cut_row_ends_in_an_ellipsis() -> None:
    themes, _ = load_themes(load_environment({"HOME": "/nowhere"}))
    palette = Palette(next(iter(themes.values())))
    line = StyledLine((StyledSpan("a note of "), StyledSpan("日本語", "bold")))
    assert palette.make_strip(line, 20).text == "a note of 日本語    "
    assert palette.make_strip(line, 14).text == "a note of 日… "


def test_closing_punctuation_stays_with_its_word() -> None:
    spans = [
        StyledSpan("See also "),
        StyledSpan("user-ana", "link"),
        StyledSpan(". Then "),
        StyledSpan("go", "link"),
        StyledSpan("!"),
    ]
    rows = {
        width: [StyledLine(row).text for row in wrap(spans, width)]
        for width in (17, 18, 25, 26, 27)
    }
    assert rows == {
        17: ["See also ", "user-ana. Then ", "go!"],
        18: ["See also user-ana.", "Then go!"],
        25: ["See also user-ana. Then ", "go!"],
        26: ["See also user-ana. Then ", "go!"],
        27: ["See also user-ana. Then go!"],
    }
    assert all(len(row) <= width for width, found in rows.items() for row in found)
