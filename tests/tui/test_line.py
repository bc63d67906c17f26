"""Lines that are cut to the width of the terminal."""

from __future__ import annotations

from ricordo.lint.finding import Finding, Severity
from ricordo.services.workspace.environment import load_environment
from ricordo.services.workspace.settings import load_themes
from ricordo.tui.color_palette import Palette
from ricordo.tui.render.freshness_rows import render_finding
from ricordo.tui.render.line import StyledLine, StyledSpan, fit_keys, measure, wrap
from ricordo.tui.render.markdown import render_markdown

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


def test_a_long_label_of_the_only_key_is_cut() -> None:
    choices = (StyledSpan("   "), StyledSpan("← → ", "key"), StyledSpan("feedback · project"))
    assert StyledLine(fit_keys(choices, 16)).text == "   ← → feedback…"


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


def test_a_word_that_fits_no_row_leaves_no_gap() -> None:
    link = "[the-buoys-of-the-harbour](the-buoys-of-the-harbour.md)"
    rows = [StyledLine(row).text for row in wrap([StyledSpan(f"- {link}, red")], 24)]
    assert rows[0].startswith("- [the-buoys")
    assert "".join(rows).replace(" ", "") == f"-{link},red"
    assert max(map(len, rows)) <= 24


def test_opening_punctuation_goes_with_the_word_that_it_opens() -> None:
    spans = [
        StyledSpan("A simple page (`"),
        StyledSpan("harbour.php", "bold"),
        StyledSpan("`), now"),
    ]
    rows = [StyledLine(row).text for row in wrap(spans, 24)]
    assert rows == ["A simple page ", "(`harbour.php`), now"]
    # nothing is lost where both do not fit one row
    assert (
        "".join(StyledLine(row).text for row in wrap(spans, 12))
        == "A simple page (`harbour.php`), now"
    )


def test_an_arrow_goes_with_what_it_leads_to() -> None:
    spans = [StyledSpan("links"), StyledSpan(" → "), StyledSpan("harbour", "link")]
    rows = [StyledLine(row).text for row in wrap(spans, 12)]
    assert rows == ["links ", "→ harbour"]


def test_a_long_path_is_broken_behind_a_slash() -> None:
    path = "erp/public/harbour/ajax_signals_of_the_pier.php"
    rows = [StyledLine(row).text for row in wrap([StyledSpan(f"Did you mean {path}?")], 33)]
    assert rows == ["Did you mean erp/public/harbour/", "ajax_signals_of_the_pier.php?"]


TABLE = """\
| Step | What it does |
|---|---|
| Ingest | reads the source, writes a summary, updates every index and revises the pages |
| Lint | 港の潮汐表の誤りを見つける |
"""


def test_a_table_is_shown_in_full_at_every_width() -> None:
    words = ("Step", "Ingest", "summary,", "revises", "pages", "Lint", "潮")
    for width in range(24, 120):
        lines = render_markdown(TABLE, width, 1, lambda *_: (-1, ""))
        text = "\n".join(line.text for line in lines)
        assert all(word in text for word in words), width
        assert "…" not in text
        assert max(measure(line.spans) for line in lines) <= width
        assert {line.source_line for line in lines} == {1, 3, 4}


def test_a_table_with_too_many_columns_has_each_cell_with_its_title() -> None:
    titles = [f"column {n}" for n in range(9)]
    cells = [f"the cell of column number {n}" for n in range(8)]
    table = f"|{'|'.join(titles)}|\n|{'-|' * 9}\n|{'|'.join(cells)}|\n|{'|'.join(cells)}|\n"
    lines = [line.text for line in render_markdown(table, 60, 1, lambda *_: (-1, ""))]
    assert lines[:2] == [f"{titles[0]}  {cells[0]}", f"{titles[1]}  {cells[1]}"]
    assert lines[8].strip() == titles[8], "a row may have fewer cells"
    assert lines.count(f"{titles[7]}  {cells[7]}") == 2


def test_a_finding_that_is_longer_than_its_place_ends_in_an_ellipsis() -> None:
    evidence = ("git: deleted in be6fb45", "also in the other notes on the harbour")
    finding = Finding("missing-path", Severity.WARNING, "a.md", 3, "Gone.", "x", evidence)
    for width in (24, 25, 26, 40):
        whole = [line.text for line in render_finding(finding, width, 9)]
        for height in range(1, len(whole)):
            rows = [line.text for line in render_finding(finding, width, height)]
            assert (len(rows), rows[-1][-1], rows[:-1]) == (height, "…", whole[: height - 1])
            assert len(rows[-1]) <= width
        assert "…" not in "".join(render_finding(finding, width, len(whole))[-1].text)
