"""Proposals as lines in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ricordo.cli.change import Changed, describe_change, list_changed
from ricordo.cli.output import note_change
from ricordo.text import make_one_line, make_visible

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ricordo.curation.brief import Brief
    from ricordo.curation.pending import PendingProposal
    from ricordo.curation.proposal import RejectedChange
    from ricordo.memory.memory import Memory
    from ricordo.services.curation.curation import ApplyResult

_COUNTED = {
    "schema": "lines of the schema",
    "touched notes": "notes in full",
    "index": "lines of the index",
    "other notes": "notes by name",
    "descriptions": "descriptions",
    "decided": "decisions",
    "gaps": "searches without results",
    "activity": "messages",
    "project": "facts of the project",
}


def render_proposal(proposal: PendingProposal) -> list[str]:
    """Return a proposal with masked credentials as lines: id, operation and reason, evidence,
    warnings, diff.
    """
    reason = make_one_line(proposal.change.reason)
    lines = [f"{proposal.id}  {_name_change(proposal)}: {reason}"]
    if proposal.submitter:
        lines.append(f"  by {make_one_line(proposal.submitter)}")
    for quoted in proposal.evidence:
        mark = "" if quoted.found else " (not found there)"
        lines.append(f"  “{make_one_line(quoted.quote)}”{mark}")
        lines.append(f"    {make_one_line(quoted.source)}")
    lines += [f"  ! {make_one_line(text)}" for text in proposal.all_warnings]
    lines += [f"  {make_visible(line)}" for line in proposal.diff.rstrip("\n").split("\n")]
    return [*lines, ""]


def _name_change(proposal: PendingProposal) -> str:
    """Return what a proposal does, and to which note."""
    return make_one_line(f"{proposal.op} {proposal.subject} {proposal.place}".rstrip())


def render_rejected(rejected: Iterable[RejectedChange]) -> list[str]:
    """Return what was rejected, a line each."""
    from ricordo.services.curation.decision import mask_rejected

    masked = map(mask_rejected, rejected)
    return [f"rejected: {make_one_line(it.change)}: {make_one_line(it.why)}" for it in masked]


def render_brief(brief: Brief) -> list[str]:
    """Return the size of a brief, and what did not fit into it."""
    shown = (part for part in brief.parts if part.blocks or part.title != "project")
    parts = ", ".join(f"{_COUNTED[part.title]} {len(part.blocks)}" for part in shown)
    lines = [f"brief: about {brief.tokens:,} tokens: {parts}"]
    if brief.omitted:
        counts = ", ".join(f"{_COUNTED[part]} {count}" for part, count in brief.omitted.items())
        lines.append(f"  left out, in this order: {counts}")
    return lines


def describe_applied(result: ApplyResult, root: str) -> dict[str, Any]:
    """Return what applying proposals changed in the memory at `root`, as `--json` prints it."""
    count = len(result.applied)
    done = [f"applied {count} {'proposal' if count == 1 else 'proposals'}"] if count else []
    done += [f"dropped {len(result.refused)}"] if result.refused else []
    changed = [*list_changed(result.edits, root), *list_dropped(result.refused)]
    return describe_change(", ".join(done), changed)


def list_dropped(dropped: Iterable[PendingProposal]) -> list[Changed]:
    """Return proposals that were dropped as decisions."""
    return [Changed("dropped", proposal.path or None, id=proposal.id) for proposal in dropped]


def render_dropped(dropped: Iterable[PendingProposal]) -> list[str]:
    """Return proposals that were dropped, a line each."""
    return [f"dropped: {each.id} {_name_change(each)}" for each in dropped]


def note_applied(result: ApplyResult) -> None:
    """Note the applied proposals as changes of this run."""
    if result.applied:
        note_change(f"applied {', '.join(f'{it.op} {it.path}' for it in result.applied)}")
    if result.refused:
        note_change(f"proposals dropped: {len(result.refused)}")


def print_decided(result: ApplyResult, memory: Memory) -> None:
    """Print what was applied, and what was not applied and why."""
    from ricordo.cli.output import print_lines
    from ricordo.services.curation.decision import mask_text

    lines = [f"applied: {_name_change(it)}" for it in result.applied]
    lines += [
        f"not applied: {it.id} {_name_change(it)}: {make_one_line(mask_text(why, it, memory))}"
        for it, why in result.skipped
    ]
    lines += render_dropped(result.refused)
    dropped = f", {len(result.refused)} dropped" if result.refused else ""
    lines.append(f"{len(result.applied)} applied, {len(result.skipped)} not applied{dropped}")
    if any(proposal.all_warnings for proposal, _ in result.skipped):
        lines.append("`ricordo pending --apply ID` applies a pending proposal.")
    if result.applied or result.refused:
        lines.append("`ricordo undo` reverts this.")
    print_lines(lines)
