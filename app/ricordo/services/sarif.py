"""The findings of a memory as a SARIF log, for code scanning.

GitHub takes a relative address as one from the top of the repository and reads no base addresses,
so the files of a memory in a repository are addressed from there. It matches findings of different
runs by `primaryLocationLineHash`, which its upload action calculates where it is missing, but its
REST API does not.
"""

from __future__ import annotations

import os
import posixpath
from functools import lru_cache
from itertools import accumulate
from typing import Any, NamedTuple
from urllib.parse import quote

from ricordo import HOME_PAGE, __version__, git
from ricordo.lint.excerpt import find_span
from ricordo.lint.finding import Finding, Severity
from ricordo.lint.rule import load_rules
from ricordo.lint.rule_page import RulePage, load_rule_page
from ricordo.memory.index import count_units
from ricordo.memory.note import BOM, Note
from ricordo.services.rule_help import get_url, list_sections, render_rule
from ricordo.services.workspace.notebook import Snapshot

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_PROBLEMS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "recommendation"}
"""What GitHub calls the severity of a rule that is not about security."""
_PRECISIONS = ((0.95, "very-high"), (0.9, "high"), (0.7, "medium"), (0.0, "low"))
"""What GitHub calls a measured precision, each from this share on."""
_IN_REPOSITORY, _IN_MEMORY = "%SRCROOT%", "MEMORY"
_HASHED = 100
"""Characters that GitHub hashes from the beginning of a line on."""
_FACTOR, _MODULUS = 37, 1 << 64


def build_sarif(snapshot: Snapshot) -> dict[str, Any]:
    """Return the findings of `snapshot`, dismissed ones as suppressed, as one SARIF log."""
    numbers = {name: number for number, name in enumerate(load_rules())}
    base = _Base.of_memory(snapshot.memory.root)
    results = [
        _build_result(snapshot, base, finding, numbers[finding.rule], suppressed=suppressed)
        for findings, suppressed in ((snapshot.findings, False), (snapshot.dismissed, True))
        for finding in findings
    ]
    driver = {
        "name": "ricordo",
        "version": __version__,
        "semanticVersion": __version__,
        "informationUri": HOME_PAGE,
        "rules": [_build_rule(load_rule_page(name)) for name in numbers],
    }
    run = {
        "tool": {"driver": driver},
        "automationDetails": {"id": posixpath.join("ricordo", base.category, "")},
        "originalUriBaseIds": {base.id: {"uri": f"file://{_quote(base.directory)}/"}},
        "columnKind": "utf16CodeUnits",
        "results": results,
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


class _Base(NamedTuple):
    """The directory from which the files of a memory are addressed."""

    id: str
    directory: str
    folder: str
    """The path of the memory from there; "" if it is the memory."""
    category: str
    """Distinguishes the memory from others whose findings are uploaded."""

    @classmethod
    def of_memory(cls, root: str) -> _Base:
        """Return the top of the repository of the memory at `root`, else the memory."""
        top = git.find_top_level(root)
        if top is None:
            return cls(_IN_MEMORY, root, "", _quote(root).strip("/"))
        folder = os.path.relpath(os.path.realpath(root), top)
        folder = "" if folder == os.curdir else folder
        return cls(_IN_REPOSITORY, top, folder, _quote(folder))

    def locate(self, path: str) -> dict[str, str]:
        """Return the location of the file at `path` in the memory; "" for the memory itself."""
        return {"uri": _quote(posixpath.join(self.folder, path)) or ".", "uriBaseId": self.id}


def _quote(path: str) -> str:
    return quote(path.rstrip("/"), errors="surrogateescape")


def _build_rule(page: RulePage) -> dict[str, Any]:
    texts = [f"{title}: {text}" for title, text in list_sections(page)]
    properties: dict[str, Any] = {
        "tags": [page.group.lower()],
        "problem.severity": _PROBLEMS[page.severity],
    }
    if page.precision is not None:
        properties["precision"] = next(
            word for least, word in _PRECISIONS if page.precision >= least
        )
    words = page.name.split("-")
    # a name that is the id must be left out
    friendly = {"name": "".join(map(str.capitalize, words))} if len(words) > 1 else {}
    return {
        "id": page.name,
        **friendly,
        "shortDescription": {"text": f"{page.summary[:1].upper()}{page.summary[1:]}"},
        "fullDescription": {"text": page.checks},
        "help": {"text": "\n\n".join(texts), "markdown": render_rule(page)},
        "helpUri": get_url(page.name),
        "defaultConfiguration": {"level": _LEVELS[page.severity]},
        "properties": properties,
    }


def _build_result(
    snapshot: Snapshot, base: _Base, finding: Finding, rule_index: int, *, suppressed: bool
) -> dict[str, Any]:
    note = snapshot.memory.by_path.get(finding.path)
    region = _build_region(finding, note)
    location = {"artifactLocation": base.locate(finding.path), "region": region}
    fingerprints = {"ricordo/v1": finding.id}
    if note is not None and (line_hash := _hash_line(note, region["startLine"])):
        fingerprints |= {
            "primaryLocationLineHash": line_hash,
            "primaryLocationStartColumnFingerprint": str(region.get("startColumn", 1)),
        }
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": rule_index,
        "level": _LEVELS[finding.severity],
        "message": {"text": _describe(finding, note)},
        "locations": [{"physicalLocation": location}],
        "partialFingerprints": fingerprints,
    }
    if finding.other_path:
        other = {"artifactLocation": base.locate(finding.other_path)}
        result["relatedLocations"] = [
            {"physicalLocation": other, "message": {"text": "the other note"}}
        ]
    if finding.fix:
        result["properties"] = {"fix": finding.fix.label, "safe": finding.fix.safe}
    if suppressed:
        result["suppressions"] = [{"kind": "external", "status": "accepted"}]
    return result


def _describe(finding: Finding, note: Note | None) -> str:
    """Return the message with the evidence that is not in the reported line itself."""
    line = _get_line(note, finding.line)
    evidence = [text for text in finding.evidence if text.strip() not in line]
    return "\n".join([finding.message, *(f"Evidence: {text}" for text in evidence)])


def _get_line(note: Note | None, line: int) -> str:
    """Return the 1-based `line` of `note`; "" where there is none."""
    lines = note.text.split("\n") if note is not None and line else []
    return lines[line - 1].rstrip("\r") if line <= len(lines) and line else ""


def _build_region(finding: Finding, note: Note | None) -> dict[str, int]:
    """Return the place of a finding; for a finding on the whole file its first line, because GitHub
    shows no finding without a line.
    """
    region = {"startLine": finding.line or 1}
    line = _get_line(note, finding.line)
    span = find_span(finding, note)
    if span and line.strip():
        start, end = span
        region["startColumn"] = count_units(line[:start]) + 1
        region["endLine"] = finding.line
        region["endColumn"] = count_units(line[:end]) + 1
    return region


def _hash_line(note: Note, line: int) -> str:
    """Return the hash that GitHub's upload action calculates of the 1-based `line`, and how often
    it has occurred in the file so far; "" where there is no such line. The source is
    src/fingerprints.ts of github/codeql-action.
    """
    windows = _list_hashed(note)
    if line > len(windows):
        return ""
    window = windows[line - 1]
    digest = 0
    for unit in memoryview(window).cast("H"):
        digest = (digest * _FACTOR + unit) % _MODULUS
    return f"{digest:x}:{windows[:line].count(window)}"


@lru_cache(maxsize=2)
def _list_hashed(note: Note) -> list[bytes]:
    """Return the characters that are hashed of each line of a file: 100 from its beginning on, line
    ends and a mark of the end of the file included, blanks and tabs not.
    """
    text = ("\ufeff" if note.raw.startswith(BOM) else "") + note.text
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace(" ", "").replace("\t", "")
    units = f"{text}\uffff".encode("utf-16-le", "replace") + bytes(2 * _HASHED)
    lengths = (count_units(line) + 1 for line in text.split("\n")[:-1])
    starts = accumulate(lengths, initial=0)
    return [units[2 * start : 2 * (start + _HASHED)] for start in starts]
