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
    Status.REPORTED: "told by the transcript; nothing it rests on changed since",
    Status.QUOTED: "words of the session, letter by letter",
    Status.STALE: "something that it rests on changed since",
    Status.UNVERIFIED: "nothing proves it",
}
"""What the marks mean."""
