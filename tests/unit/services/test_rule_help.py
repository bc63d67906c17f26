"""The page of a rule as text and Markdown, where the command line does not show it all."""

from __future__ import annotations

from dataclasses import replace

from ricordo.lint.rule_page import load_rule_page, load_rule_pages
from ricordo.services.rule_help import describe_rule, format_rule, render_rule


def test_a_precision_is_printed_only_where_it_was_measured() -> None:
    page = load_rule_page("dead-link")
    assert page.precision is None
    assert "Precision" not in "\n".join(format_rule(page, 80))
    assert "Precision" not in render_rule(page)
    measured = replace(page, precision=0.934)
    assert "  93% of its findings" in "\n".join(format_rule(measured, 80))
    assert "93% of its findings" in render_rule(measured)
    assert describe_rule(measured)["precision"] == 0.934


def test_no_character_of_an_example_is_invisible_on_paper() -> None:
    text = render_rule(load_rule_page("control-characters"))
    assert "\u200b" not in text
    assert "U+200B" in text


def test_code_is_not_broken_at_the_end_of_a_line() -> None:
    for page in load_rule_pages():
        for width in (60, 80, 100):
            lines = [line for line in format_rule(page, width) if "│" not in line]
            assert all(line.count("`") % 2 == 0 for line in lines), page.name
