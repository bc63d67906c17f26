"""Findings as SARIF 2.1.0, the format that code review tools read (OASIS standard)."""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import quote

from ricordo import __version__
from ricordo.health.finding import Finding, Severity
from ricordo.health.rule import all_rules
from ricordo.notebook.open import Look

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def sarif(look: Look) -> dict[str, Any]:
    """Return the findings of `look`, dismissed ones as suppressed, as one SARIF log."""
    rules = [
        {
            "id": rule.name,
            "shortDescription": {"text": rule.summary},
            "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        }
        for rule in all_rules().values()
    ]
    results = [_result(finding, suppressed=False) for finding in look.findings]
    results += [_result(finding, suppressed=True) for finding in look.dismissed]
    root = quote(look.memory.root + os.sep, errors="surrogateescape")
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {"name": "ricordo", "version": __version__, "rules": rules},
                },
                "originalUriBaseIds": {"MEMORY": {"uri": f"file://{root}"}},
                "results": results,
            }
        ],
    }


def _result(finding: Finding, *, suppressed: bool) -> dict[str, Any]:
    artifact = {
        "uri": quote(finding.path or ".", errors="surrogateescape"),
        "uriBaseId": "MEMORY",
    }
    location: dict[str, Any] = {"artifactLocation": artifact}
    if finding.line:
        location["region"] = {"startLine": finding.line}
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "level": _LEVELS[finding.severity],
        "message": {"text": finding.message},
        "locations": [{"physicalLocation": location}],
        "partialFingerprints": {"ricordo/v1": finding.id},
    }
    if suppressed:
        result["suppressions"] = [{"kind": "external", "status": "accepted"}]
    return result
