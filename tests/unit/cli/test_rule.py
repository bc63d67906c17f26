"""`ricordo rule`: what a user who met a finding for the first time can read about it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ricordo.cli.main import run
from ricordo.lint.rule import load_rules
from ricordo.lint.rule_page import load_rule_page
from ricordo.settings.settings import find_settings_file

Printed = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "90")


def join_lines(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("name", load_rules())
def test_a_rule_is_explained_with_examples_and_how_to_turn_it_off(
    name: str, capsys: Printed
) -> None:
    assert run(["rule", name]) == 0
    printed = capsys.readouterr().out
    page, words = load_rule_page(name), join_lines(printed)
    assert printed.startswith(f"{name}: ")
    assert f"\n{page.severity.word} · " in printed
    for text in (page.checks, page.why, page.dismiss, page.resolve, page.fix or "None."):
        assert join_lines(text) in words
    for report in page.bad.reports:
        assert f"→ {report}" in words
    assert f'{name} = "off"' in words
    assert all(f"{key} = " in words for key in page.thresholds)
    assert f"docs/rules.md#{name}" in words


@pytest.mark.parametrize("columns", ["50", "72", "200"])
def test_prose_is_wrapped_to_the_terminal(
    columns: str, capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    for words in (["rule"], ["rule", "lost-correction"]):
        assert run(words) == 0
        lines = capsys.readouterr().out.splitlines()
        prose = [line for line in lines if "│" not in line and "http" not in line]
        assert max(map(len, prose)) <= min(int(columns), 100)


def test_all_rules_are_listed_with_their_severity(capsys: Printed) -> None:
    assert run(["rule"]) == 0
    listed = {
        words[0]: words[1]
        for line in capsys.readouterr().out.splitlines()
        if line.startswith("  ") and line[2] != " " and len(words := line.split()) > 1
    }
    assert listed == {rule.name: rule.severity.word for rule in load_rules().values()}


def test_json_has_the_whole_page(capsys: Printed) -> None:
    assert run(["rule", "index-over-budget", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "ricordo.rule/1"
    assert (document["name"], document["severity"]) == ("index-over-budget", "error")
    assert (document["fix"], document["precision"], document["set_to"]) == (None, None, None)
    assert all(document[key] for key in ("group", "summary", "checks", "why", "dismiss", "resolve"))
    # repeated lines are written out
    assert len(document["bad"]["memory"]["MEMORY.md"].splitlines()) == 212
    assert document["bad"]["reports"]
    assert document["good"]["reports"] == []


def test_json_without_a_name_has_all_rules(capsys: Printed) -> None:
    assert run(["rule", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "ricordo.rule/1"
    assert {rule["name"] for rule in document["rules"]} == set(load_rules())
    assert run(["rule", "stale", "--json"]) == 0
    stale = json.loads(capsys.readouterr().out)
    assert {"schema": "ricordo.rule/1", **document["rules"][-6]}.keys() == stale.keys()


@pytest.mark.parametrize("name", ["dead-link", "[dead-link]", "Dead-Link"])
def test_a_name_can_be_copied_from_a_finding(name: str, capsys: Printed) -> None:
    assert run(["rule", name]) == 0
    assert capsys.readouterr().out.startswith("dead-link: ")


@pytest.mark.parametrize(
    ("name", "hint"), [("dead-lnk", "Did you mean “dead-link”?"), ("zzz", "`ricordo rule` lists")]
)
def test_an_unknown_rule_is_refused_with_a_hint(name: str, hint: str, capsys: Printed) -> None:
    assert run(["rule", name]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert f"Unknown rule “{name}”" in printed.err
    assert hint in printed.err


def test_the_severity_of_the_settings_is_shown(
    tmp_path: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    file = Path(find_settings_file(str(tmp_path / "ricordo")))
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text('[rules]\nstale = "off"\n')
    assert run(["rule", "stale"]) == 0
    assert "off by your settings (default: warning)" in capsys.readouterr().out
    assert run(["rule", "stale", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["set_to"] == "off"
    assert run(["rule"]) == 0
    assert "off*" in capsys.readouterr().out
