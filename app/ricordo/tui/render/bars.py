"""The status line at the top and the key line at the bottom of a screen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ricordo.agents.agent import MemoryPlace
from ricordo.lint.finding import Finding, Severity
from ricordo.memory.index import Load
from ricordo.services.workspace.follower import FollowedSnapshot, MemoryLost
from ricordo.services.workspace.notebook import Snapshot, get_short_name
from ricordo.text import clip, make_one_line
from ricordo.tui.actions.action import Action
from ricordo.tui.actions.registry import BY_ID, find_offered_actions, format_action_keys
from ricordo.tui.context import ActionContext, ScreenId
from ricordo.tui.render.freshness_rows import render_meter
from ricordo.tui.render.index_rows import GLYPHS
from ricordo.tui.render.line import StyledSpan

Spans = tuple[StyledSpan, ...]


def render_status_line(
    place: MemoryPlace,
    snapshot: Snapshot | None,
    followed: FollowedSnapshot | MemoryLost | None,
    new: int = 0,
    background_job: str = "",
    pending: int = 0,
) -> list[Spans]:
    """Return the status line: its left part, then right parts from the longest to the shortest:
    findings, load, the `background_job` or whether the memory is watched, the
    number of changes `new` in the inbox, and that of `pending` proposals.
    """
    left = [
        StyledSpan(" Ricordo ", "accent bold"),
        StyledSpan(f" {clip(get_short_name(place), 32)}", "bold"),
    ]
    if place.layout.agent:
        left.append(StyledSpan(f" · {place.layout.agent}", "dim"))
    if snapshot is not None:
        left.append(StyledSpan(f" · {len(snapshot.memory.notes)} notes", "dim"))
    if place.layout.read_only:
        left.append(StyledSpan(" · read-only", "dim"))
    proposed = (StyledSpan(f" ✎ {pending} proposed ", "changed bold"),) if pending else ()
    inbox = (
        *proposed,
        *((StyledSpan(f"  ⇣ {new} new in the inbox ", "changed bold"),) if new else ()),
    )
    brief = (*proposed, *((StyledSpan(f" ⇣ {new} new ", "changed bold"),) if new else ()))
    watching = (_render_watching(followed),)
    busy = (StyledSpan(f"○ {clip(background_job, 32)} ", "dim"),) if background_job else watching
    if snapshot is None:
        return [tuple(left), watching]
    counts, load = _render_counts(snapshot), snapshot.memory.load
    long, short = _render_load(load, with_measures=True), _render_load(load, with_measures=False)
    return [
        tuple(left),
        (*counts, *long, *busy, *inbox),
        (*counts, *short, *busy, *inbox),
        (*counts, *busy, *inbox),
        (*counts, *inbox),
        (*counts, *brief),
    ]


def _render_counts(snapshot: Snapshot) -> Spans:
    spans: list[StyledSpan] = []
    for severity in (Severity.ERROR, Severity.WARNING):
        glyph, style = GLYPHS[severity]
        if snapshot.counts[severity]:
            spans += [StyledSpan(f"{glyph} {snapshot.counts[severity]} ", style), StyledSpan(" ")]
    return tuple(spans)


_ON_MARKED = ("retire", "move", "protect", "fix", "head")
"""Actions that act on all marked notes."""


def render_key_line(context: ActionContext, keymap: Mapping[str, tuple[str, ...]]) -> list[Spans]:
    """Return the key line: the few keys that matter here, then right parts from the longest to the
    shortest.
    """
    screen_id = context.screen_id
    acting = " ".join(format_action_keys(BY_ID[name], keymap) for name in _ON_MARKED)
    counted = (
        [StyledSpan(f" ◆ {context.marks} marked: {acting} ", "accent")] if context.marks else []
    )
    counts = {
        "inbox": context.new,
        "conflicts": context.conflicts,
        "review": context.due,
        "curate": context.pending,
        "write": context.accepted,
    }
    spans = [
        span
        for action in find_offered_actions(context)
        for span in _render_key(action, keymap, context, counts.get(action.id, 0))
    ]
    back, help_ = (_render_key(BY_ID[name], keymap, context) for name in ("leave", "help"))
    rights = [help_] if screen_id is ScreenId.NOTEBOOK else [(*back, *help_), help_]
    return [(*counted, *spans), *rights]


def _render_key(
    action: Action, keymap: Mapping[str, tuple[str, ...]], context: ActionContext, count: int = 0
) -> Spans:
    keys, word = format_action_keys(action, keymap), action.find_label(context)
    label = f"{word} {count} " if count else f"{word} "
    return (StyledSpan(f" {keys} ", "key"), StyledSpan(label, "dim")) if keys else ()


def render_keys(keys: Iterable[tuple[str, str]]) -> Spans:
    """Return keys, each with its label."""
    return tuple(
        span
        for key, word in keys
        for span in (StyledSpan(f" {key} ", "key"), StyledSpan(f"{word} ", "dim"))
    )


def render_hint(
    snapshot: Snapshot | None,
    path: str,
    finding: Finding | None,
    keymap: Mapping[str, tuple[str, ...]],
) -> tuple[Spans, Spans]:
    """Return `finding` in one line with the key that settles it; by default the worst finding of
    the note at `path`, and how many more it has.
    """
    if snapshot is None or not snapshot.is_judged:
        return (StyledSpan(" reading …", "dim"),), ()
    findings = snapshot.findings_of(path)
    shown = finding or (findings[0] if findings else None)
    if shown is None:
        return (StyledSpan(" ✓ no findings in this note", "dim"),), ()
    glyph, style = GLYPHS[shown.severity]
    right = render_settling_key(finding, keymap)
    if finding is None and len(findings) > 1:
        key = format_action_keys(BY_ID["freshness"], keymap)
        right = (StyledSpan(f" +{len(findings) - 1} more: {key} ", "dim"),)
    place = f" line {shown.line}:" if shown.line else ""
    if shown.path != path:
        place = f" at {shown.path}:"
    message = StyledSpan(f"{place} {make_one_line(shown.message)}")
    return (StyledSpan(f" {glyph} {shown.rule}", style), message), right


_SETTLED_BY = {
    "contradiction": "conflicts",
    "lost-correction": "lift",
    "index-over-budget": "load",
    "index-near-budget": "load",
    "stale": "review",
    "changed-since": "review",
    "status-claim": "review",
}
"""The actions that settle findings without a fix, by rule; those of other rules are edited."""


def render_settling_key(finding: Finding | None, keymap: Mapping[str, tuple[str, ...]]) -> Spans:
    """Return the one key that settles `finding`; empty for none."""
    if finding is None:
        return ()
    action = "fix" if finding.fix_label else _SETTLED_BY.get(finding.rule, "edit")
    # all notes of a habit cannot be edited at once
    action = "dismiss" if finding.members and action == "edit" else action
    keys = format_action_keys(BY_ID[action], keymap)
    return render_keys([(keys, BY_ID[action].label)]) if keys else ()


def _render_load(load: Load, *, with_measures: bool) -> Spans:
    limits = load.limits
    if limits is None:
        return ()
    units = f"{load.units / 1000:.1f}/{limits.units / 1000:.1f} k"
    measures = f"{load.lines}/{limits.lines} lines  {units} " if with_measures else ""
    return (
        StyledSpan(f"load {measures}", "dim"),
        render_meter(load.fill_ratio, 10),
        StyledSpan("  "),
    )


def _render_watching(followed: FollowedSnapshot | MemoryLost | None) -> StyledSpan:
    if followed is None:
        return StyledSpan("○ reading ", "dim")
    if isinstance(followed, MemoryLost):
        return StyledSpan("✗ unreadable ", "error")
    if not followed.snapshot.is_read:
        return StyledSpan("○ reading ", "dim")
    if not followed.snapshot.is_judged:
        return StyledSpan("○ checking ", "dim")
    return StyledSpan("● polling " if followed.polling else "● watching ", "dim")
