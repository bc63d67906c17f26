"""Claims on commands of the project: scripts of its manifests, targets of make or just."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ricordo.health.evidence import ClaimKind, Outcome, Verdict
from ricordo.health.probes.claim import Claim
from ricordo.health.probes.passage import Passage
from ricordo.health.probes.project import Project

_NAME = r"[A-Za-z][\w:.\-]*"
_MAKE = re.compile(rf"(?:make|just) ((?:{_NAME})(?: {_NAME})*)(?:\s+[A-Z_]+=\S*)*")
_RUN = re.compile(rf"(?:npm|pnpm|yarn|bun)(?: -w)? (?:run|run-script) ({_NAME})(?:\s.*)?")
_YARN = re.compile(
    r"(?:yarn|pnpm|composer run|composer run-script|poe) ([a-z][\w\-]*:[\w:\-]+)(?:\s.*)?"
)
"""Only with a colon, as scripts have it: without one it may be a command of the tool itself."""


def command_claims(passage: Passage) -> Iterator[Claim]:
    """Yield the commands of the project that a sentence has in backticks."""
    for offset, text in passage.code():
        for match in (_MAKE.fullmatch(text), _RUN.fullmatch(text), _YARN.fullmatch(text)):
            if match:
                yield Claim(ClaimKind.COMMAND, text, passage.line_at(offset), passage)


def check_command(claim: Claim, project: Project) -> Verdict | None:
    """Say whether the manifests define it."""
    manifests = project.manifests
    if match := _MAKE.fullmatch(claim.text):
        return _check(claim, match[1].split(), manifests.targets, is_open=manifests.is_open)
    match = _RUN.fullmatch(claim.text) or _YARN.fullmatch(claim.text)
    wanted = [match[1]] if match else []
    return _check(claim, wanted, manifests.scripts, is_open=not manifests.scripts)


def _check(
    claim: Claim, wanted: list[str], defined: dict[str, str], *, is_open: bool
) -> Verdict | None:
    lacking = [name for name in wanted if name not in defined]
    if not lacking:
        return claim.found(Outcome.HOLDS, *(f"{defined[name]}: {name}" for name in wanted))
    if is_open or not defined:
        return claim.unchecked("it cannot be told which commands there are")
    files = ", ".join(sorted(set(defined.values()))[:3])
    return claim.found(Outcome.MISSING, f"no {lacking[0]} in {files}")
