"""The count of planted faults counts, and the rules on claims of the project do not fall behind."""

from __future__ import annotations

from ricordo.lint.finding import Finding, Severity
from tests.benchmarks.planted import PLANTED, SILENT, rows_below, scores, told_of_sample

PROBED = ("missing-path", "missing-symbol", "changed-since", "restates-instructions")


def test_rules_on_claims_find_what_is_planted_and_no_more() -> None:
    found = scores(told_of_sample())
    for rule in PROBED:
        assert found[rule].planted == 1
        assert found[rule].recall == 1.0, rule
        assert found[rule].precision >= 0.95, rule


def test_a_finding_elsewhere_counts_against_a_rule() -> None:
    row = next(row for row in rows_below(PLANTED) if row.rule == "missing-path")
    right = Finding("missing-path", Severity.WARNING, row.path, row.line, "", "right")
    wrong = Finding("missing-path", Severity.WARNING, row.path, row.line + 1, "", "wrong")
    assert scores([(row.path, right)])["missing-path"].recall == 1.0
    both = scores([(row.path, right), (row.path, wrong)])["missing-path"]
    assert (both.precision, both.recall) == (0.5, 1.0)
    assert scores([(row.path, wrong)])["missing-path"].recall == 0.0


def test_every_row_of_the_page_names_a_file() -> None:
    assert len(rows_below(PLANTED)) > 50
    assert {row.rule for row in rows_below(SILENT)} <= {row.rule for row in rows_below(PLANTED)}
