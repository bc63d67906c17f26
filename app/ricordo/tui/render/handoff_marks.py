"""The marks that show how far a statement of a handoff is proved."""

from __future__ import annotations

from collections.abc import Mapping

from ricordo.handoff.document import ProofStatus

GLYPHS: Mapping[ProofStatus, tuple[str, str]] = {
    ProofStatus.VERIFIED: ("✓", "success"),
    ProofStatus.REPORTED: ("↻", "info"),
    ProofStatus.QUOTED: ("❝", "accent"),
    ProofStatus.STALE: ("✗", "error"),
    ProofStatus.UNVERIFIED: ("?", "warning"),
}
MEANINGS: Mapping[ProofStatus, str] = {
    ProofStatus.VERIFIED: "seen on disk or in git, now",
    ProofStatus.REPORTED: "in the transcript; nothing it is based on changed since",
    ProofStatus.QUOTED: "quoted word for word from the session",
    ProofStatus.STALE: "something it is based on changed since",
    ProofStatus.UNVERIFIED: "without proof",
}
"""What the marks mean."""
