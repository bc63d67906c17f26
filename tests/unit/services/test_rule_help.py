"""The page of a rule as text and Markdown, where the command line does not show it all."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from ricordo.lint.rule import DEFAULT_THRESHOLDS, load_rules
from ricordo.lint.rule_page import Judged, load_rule_page, load_rule_pages
from ricordo.services.rule_help import describe_rule, format_rule, render_rule
from ricordo.services.workspace.environment import load_environment
from ricordo.services.workspace.settings import load_settings
from ricordo.settings.settings import find_settings_file


def test_the_numbers_of_judged_findings_are_printed() -> None:
    page = replace(load_rule_page("dead-link"), judged={}, is_info_judged=False)
    assert page.precision is None
    assert "None of its findings on real memories was judged." in render_rule(page)
    measured = replace(page, judged={"sealed": Judged(24, 4, 2), "tune": Judged(9, 0, 1)})
    shown = " ".join(" ".join(format_rule(measured, 80)).split())
    for text in (shown, render_rule(measured)):
        assert "judged 30 of its errors and warnings: 24 right and wanted, 4 right" in text
        assert "2 false; right 93% (at 95 %: 79% to 98%)." in text
        assert "readers judged 10 of its errors and warnings: 9 right and wanted" in text
        assert "say little" not in text
    assert describe_rule(measured)["precision"] == 28 / 30


def test_few_judged_findings_are_no_measure() -> None:
    few = replace(load_rule_page("dead-link"), judged={"sealed": Judged(3, 0, 0)})
    assert few.precision is None
    assert describe_rule(few)["precision"] is None
    assert "Fewer than 20 of the first kind say little." in render_rule(few)
    info = replace(few, is_info_judged=True)
    assert "readers judged 3 of its findings of the severity info" in render_rule(info)


def test_no_character_of_an_example_is_invisible_on_paper() -> None:
    text = render_rule(load_rule_page("control-characters"))
    assert "\u200b" not in text
    assert "U+200B" in text


def test_code_is_not_broken_at_the_end_of_a_line() -> None:
    for page in load_rule_pages():
        for width in (60, 80, 100):
            lines = [line for line in format_rule(page, width) if "│" not in line]
            assert all(line.count("`") % 2 == 0 for line in lines), page.name


@pytest.mark.parametrize("name", load_rules())
def test_the_settings_of_a_page_do_what_it_says(name: str, tmp_path: Path) -> None:
    (snippet,) = re.findall("```toml\n(.*?)```", render_rule(load_rule_page(name)), re.DOTALL)
    environment = load_environment(os.environ)
    file = Path(find_settings_file(environment.config))
    file.parent.mkdir(parents=True)
    file.write_text(snippet.replace("PATH", str(tmp_path)), "utf-8")
    settings, warnings = load_settings(environment)
    assert list(warnings) == []
    assert settings.rules == {name: "off"}
    assert settings.for_memory(str(tmp_path)).rules == {name: "off"}
    assert {**DEFAULT_THRESHOLDS, **settings.thresholds} == DEFAULT_THRESHOLDS
