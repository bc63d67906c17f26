"""Proposals as lines in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ricordo.cli.output import note_change
from ricordo.text import one_line, visible

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ricordo.curation.brief import Brief
    from ricordo.curation.pending import Waiting
    from ricordo.curation.proposal import Rejected
    from ricordo.memory.memory import Memory
    from ricordo.services.curation.curation import Taken

_COUNTED = {
    "schema": "lines of the schema",
    "touched notes": "notes in full",
    "index": "lines of the index",
    "other notes": "notes by name",
    "descriptions": "descriptions",
    "decided": "decisions",
    "gaps": "gaps",
    "activity": "turns",
}


def proposal_lines(it: Waiting) -> list[str]:
    """Return one proposal, which has no credentials any more: its id, what and why, on what it
    rests, what speaks against it, the diff.
    """
    lines = [f"{it.id}  {it.op} {one_line(it.path)}: {one_line(it.change.reason)}"]
    for quoted in it.evidence:
        mark = "" if quoted.found else " (not found there)"
        lines.append(f"  “{one_line(quoted.quote)}”{mark}")
        lines.append(f"    {one_line(quoted.source)}")
    lines += [f"  ! {one_line(text)}" for text in it.told]
    lines += [f"  {visible(line)}" for line in it.diff.rstrip("\n").split("\n")]
    return [*lines, ""]


def rejected_lines(rejected: Iterable[Rejected]) -> list[str]:
    """Return what was rejected, a line each."""
    from ricordo.services.curation.decision import mask_rejected

    masked = map(mask_rejected, rejected)
    return [f"rejected: {one_line(it.change)}: {one_line(it.why)}" for it in masked]


def brief_lines(brief: Brief) -> list[str]:
    """Return how large a brief is, and what of it did not fit."""
    parts = ", ".join(f"{_COUNTED[part.title]} {len(part.blocks)}" for part in brief.parts)
    lines = [f"brief: about {brief.tokens:,} tokens: {parts}"]
    if brief.left_out:
        told = ", ".join(f"{_COUNTED[part]} {count}" for part, count in brief.left_out.items())
        lines.append(f"  left out, in this order: {told}")
    return lines


def note_taken(taken: Taken) -> None:
    """Note what was applied as changed."""
    if taken.applied:
        note_change(f"applied {', '.join(f'{it.op} {it.path}' for it in taken.applied)}")


def print_taken(taken: Taken, memory: Memory) -> None:
    """Print what was applied, what was left and why."""
    from ricordo.cli.output import print_lines
    from ricordo.services.curation.decision import mask_text

    lines = [f"applied: {it.op} {one_line(it.path)}" for it in taken.applied]
    lines += [
        f"left: {it.id} {it.op} {one_line(it.path)}: {one_line(mask_text(why, it, memory))}"
        for it, why in taken.left
    ]
    lines.append(f"{len(taken.applied)} applied, {len(taken.left)} left")
    if any(it.told for it, _ in taken.left):
        lines.append("What is left is pending: `ricordo pending --apply ID` applies it.")
    if taken.applied:
        lines.append("`ricordo undo` reverts this.")
    print_lines(lines)
