"""The lines at the top and at the bottom of the screen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ricordo.agents.place import Place
from ricordo.health.finding import Finding, Severity
from ricordo.memory.load import Load
from ricordo.notebook.follow import Lost, Seen
from ricordo.notebook.open import Look
from ricordo.notebook.seen import short_name
from ricordo.text import clip, one_line
from ricordo.tui.actions.action import Action
from ricordo.tui.actions.registry import BY_ID, label_of, offered
from ricordo.tui.render.freshness_rows import meter
from ricordo.tui.render.index_rows import GLYPHS
from ricordo.tui.render.line import Span
from ricordo.tui.situation import Scene, Situation

Spans = tuple[Span, ...]


def status_line(
    place: Place,
    look: Look | None,
    seen: Seen | Lost | None,
    new: int = 0,
    doing: str = "",
    waiting: int = 0,
) -> list[Spans]:
    """Return the line at the top: its left part, then right parts from the longest to the
    shortest: findings, load, what is being done beside the screen, whether the memory is watched,
    what is `new` in the inbox, and how many proposals of a curator are `waiting`.
    """
    left = [Span(" Ricordo ", "accent bold"), Span(f" {clip(short_name(place), 32)}", "bold")]
    if place.layout.agent:
        left.append(Span(f" · {place.layout.agent}", "dim"))
    if look is not None:
        left.append(Span(f" · {len(look.memory.notes)} notes", "dim"))
    if place.layout.read_only:
        left.append(Span(" · read-only", "dim"))
    proposed = (Span(f" ✎ {waiting} proposed ", "changed bold"),) if waiting else ()
    told = (*proposed, *((Span(f"  ⇣ {new} new in the inbox ", "changed bold"),) if new else ()))
    brief = (*proposed, *((Span(f" ⇣ {new} new ", "changed bold"),) if new else ()))
    watching = (_watching(seen),)
    busy = (Span(f"○ {clip(doing, 32)} ", "dim"),) if doing else watching
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


def _counts(look: Look) -> Spans:
    spans: list[Span] = []
    for severity in (Severity.ERROR, Severity.WARNING):
        glyph, style = GLYPHS[severity]
        if look.counts[severity]:
            spans += [Span(f"{glyph} {look.counts[severity]} ", style), Span(" ")]
    return tuple(spans)


_ON_MARKED = ("retire", "move", "protect", "fix", "head")
"""Actions that act on all marked notes."""


def key_line(situation: Situation, keymap: Mapping[str, tuple[str, ...]]) -> list[Spans]:
    """Return the line at the bottom: the few keys that matter here, then what stands at the right,
    from the longest to the shortest.
    """
    scene = situation.scene
    acting = " ".join(label_of(BY_ID[name], keymap) for name in _ON_MARKED)
    counted = [Span(f" ◆ {situation.marks} marked: {acting} ", "accent")] if situation.marks else []
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
    return (Span(f" {keys} ", "key"), Span(label, "dim")) if keys else ()


def key_spans(keys: Iterable[tuple[str, str]]) -> Spans:
    """Return keys, each with the word for what it does."""
    return tuple(
        span for key, word in keys for span in (Span(f" {key} ", "key"), Span(f"{word} ", "dim"))
    )


def hint_line(look: Look | None, path: str, finding: Finding | None) -> Spans:
    """Return a finding in one line: `finding`, else the worst of the note at `path`."""
    if look is None or not look.judged:
        return (Span(" reading …", "dim"),)
    findings = look.of_note(path)
    shown = finding or (findings[0] if findings else None)
    if shown is None:
        return (Span(" ✓ nothing is wrong with this note", "dim"),)
    glyph, style = GLYPHS[shown.severity]
    more = f"  (+{len(findings) - 1} more, 3 shows all)" if len(findings) > 1 else ""
    place = f" line {shown.line}:" if shown.line else ""
    if shown.path != path:
        place = f" at {shown.path}:"
    return (
        Span(f" {glyph} {shown.rule}", style),
        Span(f"{place} {one_line(shown.message)}"),
        Span(more, "dim"),
    )


def _load(load: Load, *, with_measures: bool) -> Spans:
    limits = load.limits
    if limits is None:
        return ()
    units = f"{load.units / 1000:.1f}/{limits.units / 1000:.1f} k"
    measures = f"{load.lines}/{limits.lines} lines  {units} " if with_measures else ""
    return Span(f"load {measures}", "dim"), meter(load.share, 10), Span("  ")


def _watching(seen: Seen | Lost | None) -> Span:
    if seen is None:
        return Span("○ reading ", "dim")
    if isinstance(seen, Lost):
        return Span("✗ cannot be read ", "error")
    if not seen.look.read:
        return Span("○ reading ", "dim")
    if not seen.look.judged:
        return Span("○ looking ", "dim")
    return Span("● polling " if seen.polling else "● watching ", "dim")
