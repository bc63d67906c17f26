"""Which findings the key that mends is about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ricordo.health.finding import Finding
    from ricordo.notebook.open import Look


def mendable(look: Look, paths: Sequence[str], finding_id: str) -> list[Finding]:
    """Return what would be mended: the finding of that id, else the worst that can be of each of
    the notes at `paths`; what has to be asked about only where it is the one.
    """
    if finding_id:
        return [it for it in look.findings if it.id == finding_id and it.fix is not None]
    worst = [
        next((it for it in look.by_path.get(path, ()) if it.fix is not None), None)
        for path in paths
    ]
    found = [it for it in worst if it is not None]
    if len(found) <= 1:
        return found
    # the fixes stand on all that composes changes, which the first paint need not wait for
    from ricordo.notebook.fix import NEVER_ALONE

    return [it for it in found if it.rule not in NEVER_ALONE]
