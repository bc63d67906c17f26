"""The marks that show how far a statement of a handoff is proved."""

from __future__ import annotations

from collections.abc import Mapping

from ricordo.handoff.document import Status

GLYPHS: Mapping[Status, tuple[str, str]] = {
    Status.VERIFIED: ("✓", "success"),
    Status.REPORTED: ("↻", "info"),
    Status.QUOTED: ("❝", "accent"),
    Status.STALE: ("✗", "error"),
    Status.UNVERIFIED: ("?", "warning"),
}
EXPLAINED: Mapping[Status, str] = {
    Status.VERIFIED: "seen on disk or in git, now",
    Status.REPORTED: "in the transcript; nothing it is based on changed since",
    Status.QUOTED: "quoted word for word from the session",
    Status.STALE: "something it is based on changed since",
    Status.UNVERIFIED: "without proof",
}
"""What the marks mean."""
