"""The lines at the top and at the bottom of the screen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ricordo.agents.place import MemoryPlace
from ricordo.lint.finding import Finding, Severity
from ricordo.memory.load import Load
from ricordo.services.workspace.follower import FollowedSnapshot, Lost
from ricordo.services.workspace.notebook import Snapshot, short_name
from ricordo.text import clip, one_line
from ricordo.tui.actions.action import Action
from ricordo.tui.actions.registry import BY_ID, label_of, offered
from ricordo.tui.context import Scene, Situation
from ricordo.tui.render.freshness_rows import meter
from ricordo.tui.render.index_rows import GLYPHS
from ricordo.tui.render.line import StyledSpan

Spans = tuple[StyledSpan, ...]


def status_line(
    place: MemoryPlace,
    look: Snapshot | None,
    seen: FollowedSnapshot | Lost | None,
    new: int = 0,
    doing: str = "",
    waiting: int = 0,
) -> list[Spans]:
    """Return the line at the top: its left part, then right parts from the longest to the
    shortest: findings, load, what is being done beside the screen, whether the memory is watched,
    what is `new` in the inbox, and how many proposals of a curator are `waiting`.
    """
    left = [
        StyledSpan(" Ricordo ", "accent bold"),
        StyledSpan(f" {clip(short_name(place), 32)}", "bold"),
    ]
    if place.layout.agent:
        left.append(StyledSpan(f" · {place.layout.agent}", "dim"))
    if look is not None:
        left.append(StyledSpan(f" · {len(look.memory.notes)} notes", "dim"))
    if place.layout.read_only:
        left.append(StyledSpan(" · read-only", "dim"))
    proposed = (StyledSpan(f" ✎ {waiting} proposed ", "changed bold"),) if waiting else ()
    told = (
        *proposed,
        *((StyledSpan(f"  ⇣ {new} new in the inbox ", "changed bold"),) if new else ()),
    )
    brief = (*proposed, *((StyledSpan(f" ⇣ {new} new ", "changed bold"),) if new else ()))
    watching = (_watching(seen),)
    busy = (StyledSpan(f"○ {clip(doing, 32)} ", "dim"),) if doing else watching
    if look is None:
        return [tuple(left), watching]
    counts, load = _counts(look), look.memory.load
    long, short = _load(load, with_measures=True), _load(load, with_measures=False)
    return [
        tuple(left),
        (*counts, *long, *busy, *told),
        (*counts, *short, *busy, *told),
        (*counts, *busy, *told),
        (*counts, *told),
        (*counts, *brief),
    ]


def _counts(look: Snapshot) -> Spans:
    spans: list[StyledSpan] = []
    for severity in (Severity.ERROR, Severity.WARNING):
        glyph, style = GLYPHS[severity]
        if look.counts[severity]:
            spans += [StyledSpan(f"{glyph} {look.counts[severity]} ", style), StyledSpan(" ")]
    return tuple(spans)


_ON_MARKED = ("retire", "move", "protect", "fix", "head")
"""Actions that act on all marked notes."""


def key_line(situation: Situation, keymap: Mapping[str, tuple[str, ...]]) -> list[Spans]:
    """Return the line at the bottom: the few keys that matter here, then what stands at the right,
    from the longest to the shortest.
    """
    scene = situation.scene
    acting = " ".join(label_of(BY_ID[name], keymap) for name in _ON_MARKED)
    counted = (
        [StyledSpan(f" ◆ {situation.marks} marked: {acting} ", "accent")] if situation.marks else []
    )
    counts = {
        "inbox": situation.new,
        "conflicts": situation.conflicts,
        "review": situation.due,
        "curate": situation.waiting,
        "write": situation.taken,
    }
    spans = [
        span
        for action in offered(situation)
        for span in _key(action, keymap, situation, counts.get(action.id, 0))
    ]
    back, help_ = (_key(BY_ID[name], keymap, situation) for name in ("leave", "help"))
    rights = [help_] if scene is Scene.NOTEBOOK else [(*back, *help_), help_]
    return [(*counted, *spans), *rights]


def _key(
    action: Action, keymap: Mapping[str, tuple[str, ...]], situation: Situation, count: int = 0
) -> Spans:
    keys, word = label_of(action, keymap), action.label_in(situation)
    label = f"{word} {count} " if count else f"{word} "
    return (StyledSpan(f" {keys} ", "key"), StyledSpan(label, "dim")) if keys else ()


def key_spans(keys: Iterable[tuple[str, str]]) -> Spans:
    """Return keys, each with the word for what it does."""
    return tuple(
        span
        for key, word in keys
        for span in (StyledSpan(f" {key} ", "key"), StyledSpan(f"{word} ", "dim"))
    )


def hint_line(look: Snapshot | None, path: str, finding: Finding | None) -> Spans:
    """Return a finding in one line: `finding`, else the worst of the note at `path`."""
    if look is None or not look.judged:
        return (StyledSpan(" reading …", "dim"),)
    findings = look.of_note(path)
    shown = finding or (findings[0] if findings else None)
    if shown is None:
        return (StyledSpan(" ✓ nothing is wrong with this note", "dim"),)
    glyph, style = GLYPHS[shown.severity]
    more = f"  (+{len(findings) - 1} more, 3 shows all)" if len(findings) > 1 else ""
    place = f" line {shown.line}:" if shown.line else ""
    if shown.path != path:
        place = f" at {shown.path}:"
    return (
        StyledSpan(f" {glyph} {shown.rule}", style),
        StyledSpan(f"{place} {one_line(shown.message)}"),
        StyledSpan(more, "dim"),
    )


def _load(load: Load, *, with_measures: bool) -> Spans:
    limits = load.limits
    if limits is None:
        return ()
    units = f"{load.units / 1000:.1f}/{limits.units / 1000:.1f} k"
    measures = f"{load.lines}/{limits.lines} lines  {units} " if with_measures else ""
    return StyledSpan(f"load {measures}", "dim"), meter(load.share, 10), StyledSpan("  ")


def _watching(seen: FollowedSnapshot | Lost | None) -> StyledSpan:
    if seen is None:
        return StyledSpan("○ reading ", "dim")
    if isinstance(seen, Lost):
        return StyledSpan("✗ cannot be read ", "error")
    if not seen.look.read:
        return StyledSpan("○ reading ", "dim")
    if not seen.look.judged:
        return StyledSpan("○ looking ", "dim")
    return StyledSpan("● polling " if seen.polling else "● watching ", "dim")
