from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ricordo.memory.links import find_links, is_external

LINKS = st.sampled_from(
    [
        ("[[tides]]", "tides"),
        ("[[tides|The tides]]", "tides"),
        ("[[tides#Spring]]", "tides"),
        ("[[a/b\\|c]]", "a/b"),
        ("[Tides](tides.md)", "tides.md"),
        ("![chart](chart.png)", "chart.png"),
        ("[a [b] c](<x y.md>)", "x y.md"),
        ('[t](tides.md "The title")', "tides.md"),
        ("[p](a(b).md#top)", "a(b).md"),
        ("[e](sp%20ace.md)", "sp ace.md"),
        ("[web](https://example.org/x.md)", "https://example.org/x.md"),
    ]
)
SILENT = st.sampled_from(
    [
        "`[[code]]`",
        "`` [a](b.md) ` [[c]] ``",
        "<!-- [[hidden]] \n\n [a](b.md) -->",
        "\\[[escaped]]",
        "\\[a](b.md)",
        "\\`",
        "words, [brackets], (round) and | bars",
        "[ ] task",
        "<b>[x]</b>",
        "a ``` b ``` c",
        "\\\\",
    ]
)
WHOLE_LINES = st.sampled_from(
    [
        "```\n[[fenced]]\n```",
        "~~~~ text\n[a](b.md)\n~~~\n[[still]]\n~~~~",
        "   ```py\n[[x]]\n   ````  ",
        "````\n```\n[[inner]]\n```\n````",
        "# Heading",
        "",
        "> quoted",
    ]
)
PARTS = st.one_of(
    LINKS.map(lambda link: (link[0], [link[1]])),
    SILENT.map(lambda text: (text, [])),
)
PARAGRAPHS = st.lists(PARTS, min_size=1, max_size=5).map(
    lambda parts: (
        "- " + " and ".join(text for text, _ in parts),
        [target for _, targets in parts for target in targets],
    )
)
PAGES = st.lists(st.one_of(PARAGRAPHS, WHOLE_LINES.map(lambda text: (text, []))), max_size=8)


@given(PAGES, st.sampled_from(["\n", "\r\n"]))
def test_exactly_the_links_outside_code_comments_and_escapes_are_found(
    page: list[tuple[str, list[str]]], end: str
) -> None:
    text = "\n\n".join(block for block, _ in page).replace("\n", end)
    expected = [target for _, targets in page for target in targets]
    assert [link.target for link in find_links(text)] == expected


@given(PAGES)
def test_a_link_has_its_line_and_its_place(page: list[tuple[str, list[str]]]) -> None:
    text = "\n\n".join(block for block, _ in page)
    for link in find_links(text):
        written = text[link.start : link.end]
        assert written.startswith("[[" if link.is_wikilink else "[")
        assert written.endswith((")", "]]"))
        assert link.line == text[: link.start].count("\n") + 1


@given(st.text(st.sampled_from("[]()`~<!->\\|#:\n \r\tab\"'"), max_size=60))
def test_any_text_gives_links_in_order_that_do_not_overlap(text: str) -> None:
    at = 0
    for link in find_links(text):
        assert at <= link.start < link.end <= len(text)
        at = link.end


@pytest.mark.parametrize("before", ["text <!-- ", "<!-- never closed\n\n", "<!-- a --> <!-- "])
def test_a_link_behind_a_comment_that_nothing_closes_is_a_link(before: str) -> None:
    assert [link.target for link in find_links(before + "[[tides]]")] == ["tides"]


@pytest.mark.parametrize("blank", ["\n\n", "\n  \n", "\r\n\r\n", "\n- ", "\n  * ", "\n## "])
def test_a_lone_backtick_reaches_no_further_than_its_paragraph(blank: str) -> None:
    text = f"a lone ` here{blank}[[tides]]{blank}another ` there"
    assert [link.target for link in find_links(text)] == ["tides"]


def test_an_unclosed_fence_hides_the_rest_of_the_note() -> None:
    assert find_links("[[a]]\n```\n[[b]]\n\n[[c]]\n")[-1].target == "a"


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Text\n\n    # Table\n    * [[a]]\n\n    [[b]]\n", 0),
        ("# Title\r\n\r\n\t[[a]]\r\n", 0),
        ("\n    [[a]]", 0),
        # a paragraph goes on, and so does an item
        ("Text\n    [[a]]\n", 1),
        ("- item\n\n    [[a]]\n", 1),
        ("1. item\n\n   more\n\n    [[a]]\n", 1),
        ("- a\n  - b\n\n      [[a]]\n", 1),
        ("    [[a]]", 1),
    ],
)
def test_indented_code_has_no_links(text: str, count: int) -> None:
    assert len(find_links(text)) == count


def test_the_parts_of_a_link_are_reported() -> None:
    (link,) = find_links("one\n[[tides#Spring|the tides]]")
    assert link == ("tides", "Spring", "the tides", 2, 4, 30, True)
    (link,) = find_links("[the tides](sub/tides.md?x#Spring)")
    assert link[:3] == ("sub/tides.md", "Spring", "the tides")


def test_a_link_definition_at_the_start_of_a_line_is_a_link_and_a_footnote_is_not() -> None:
    text = "see [a]: no.md\n[tides]: tides.md\n   [b]: <c d.md>\n[^1]: note.md\n    [e]: f.md\n"
    assert [link.target for link in find_links(text)] == ["tides.md", "c d.md"]


@pytest.mark.parametrize("address", ["https://x.org", "mailto:a@b.c", "vscode://x", "JAVASCRIPT:x"])
def test_addresses_are_external(address: str) -> None:
    assert is_external(address)


@pytest.mark.parametrize("target", ["tides.md", "file:///etc/passwd", "../x.md", "a b:c.md", ""])
def test_paths_and_file_addresses_are_not_external(target: str) -> None:
    assert not is_external(target)


SIZE = 200_000
HOSTILE = [
    "[", "[[", "](", "|", "[[a|", "[[#", "[a](", "[x[a]", "[\\", "\\", "<!--", "<!--\n", "-->",
    "`", "`a", "``b`", "`a\n", "```\n", "```a`\n", "~~~\n", "~", "[a](()", "[a](<", "[a](b '",
    '[a](b "x', "[a]: ", "[a\n", "    ", "\n   ", "[](  ", "[[a\\|", "<!-- `", "[`", "[a](`",
]  # fmt: skip


def _seconds(text: str) -> float:
    start = time.process_time()
    find_links(text)
    return time.process_time() - start


def _usual() -> float:
    return max(_seconds("[a](b.md) some words `code` " * (SIZE // 28)), 0.01)


@pytest.mark.parametrize("piece", HOSTILE)
def test_no_repeated_piece_makes_the_search_slow(piece: str) -> None:
    assert _seconds("[[" + piece * (SIZE // len(piece)) + "](") < 60 * _usual()


@pytest.mark.parametrize("char", ["`", "~", "["])
@pytest.mark.parametrize("between", [" ", "\n", "a"], ids=["blank", "newline", "letter"])
def test_runs_of_every_length_do_not_make_the_search_slow(char: str, between: str) -> None:
    runs = between.join(char * length for length in range(1, 630))
    assert _seconds("[[" + runs) < 60 * _usual()
