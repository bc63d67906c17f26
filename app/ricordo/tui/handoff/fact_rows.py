"""The facts of a handoff as rows: one row each, grouped by kind, and each in full."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple, assert_never

from ricordo.agents.transcripts.session import FileAction
from ricordo.handoff.facts import (
    GIT_ID,
    CommandFact,
    DecisionFact,
    ErrorFact,
    Fact,
    Facts,
    FileUse,
    GitState,
    MessageFact,
    MessageRef,
    NoteFact,
    Refusal,
    RuledOutFact,
    SummaryFact,
    TaskFact,
)
from ricordo.secrets import mask
from ricordo.services.sessions.activity_text import parse_local_time
from ricordo.text import clip, clip_start, make_one_line
from ricordo.tui.render.line import StyledLine, StyledSpan, fit, span_text, wrap

AnyFact = Fact | GitState
"""A fact, or the state of the repository, which has no id."""

_LONGEST = 400
"""Characters of a fact that are used for its row."""
_MOST_TEXT = 4_000
"""Characters of a fact that are shown in full."""
_PATH = 34
"""Cells of a path, which is cut at its beginning."""
_NUMBER = 5
"""Cells of the number of a turn."""
_REFUSED = {Refusal.USER: "you refused: ", Refusal.RULES: "not allowed: "}
_TODO = {"completed": "✓", "in_progress": "▸", "cancelled": "✗"}
_DEEDS = {
    FileAction.READ: "read",
    FileAction.WROTE: "written",
    FileAction.EDITED: "changed",
    FileAction.DELETED: "deleted",
}


class FactRow(NamedTuple):
    """One row: a fact, or the title of a group."""

    fact: AnyFact | None
    title: str = ""
    """The title of the group, if there is no fact."""

    @property
    def id(self) -> str:
        """Return the id by which statements refer to the fact; "" for a title."""
        return "" if self.fact is None else id_of(self.fact)


def id_of(fact: AnyFact) -> str:
    """Return the id by which statements refer to a fact."""
    return GIT_ID if isinstance(fact, GitState) else fact.id


class FactTable(NamedTuple):
    """The rows of facts, with indexes."""

    rows: Sequence[FactRow] = ()
    by_id: Mapping[str, AnyFact] = {}
    numbers: Mapping[str, int] = {}
    """Row numbers by fact id."""


def build_fact_table(facts: Facts) -> FactTable:
    """Return a row for each fact under titles with counts, most relevant groups first. Slow for
    many facts: call it in a thread.
    """
    rows: list[FactRow] = []
    for title, group in _group_facts(facts):
        if group:
            rows += [FactRow(None, f"{title} · {len(group):,}"), *map(FactRow, group)]
    of_facts = [(number, row) for number, row in enumerate(rows) if row.fact is not None]
    by_id = {row.id: row.fact for _, row in of_facts if row.fact is not None}
    return FactTable(rows, by_id, {row.id: number for number, row in of_facts})


def _group_facts(facts: Facts) -> Iterator[tuple[str, Collection[AnyFact]]]:
    yield "Repository", [facts.git] if facts.git else []
    yield "You said", [fact for fact in facts.messages if fact.is_user]
    yield "Files changed", [fact for fact in facts.files if fact.is_changed]
    yield "Commands", facts.commands
    yield "To-dos", facts.tasks
    yield "Errors", facts.errors
    yield "Given up", facts.ruled_out
    yield "Decided", facts.decisions
    yield "Notes", facts.notes
    yield "Compaction summaries", facts.summaries
    yield "Files read", [fact for fact in facts.files if not fact.is_changed]
    yield "The agent said", [fact for fact in facts.messages if not fact.is_user]


def draw_fact(row: FactRow, width: int, *, is_marked: bool) -> StyledLine:
    """Return one row in `width` cells; `is_marked` if the statement under the cursor is based on
    the fact.
    """
    if row.fact is None:
        return StyledLine(fit((StyledSpan(f" {row.title}", "heading"),), width))
    ref = _find_ref(row.fact)
    turn = str(ref.number) if ref else ""
    mark = StyledSpan("▸" if is_marked else " ", "accent bold")
    spans = (
        mark,
        StyledSpan(f"{turn:>{_NUMBER}} ", "dim"),
        *_render_briefly(row.fact, is_marked=is_marked),
    )
    return StyledLine(fit(spans, width))


def describe_fact(fact: AnyFact) -> str:
    """Return a fact in one line of visible text."""
    return "".join(span.text for span in _render_briefly(fact, is_marked=False)).strip()


def render_fact(fact: AnyFact, width: int) -> list[StyledLine]:
    """Return the origin and the text of a fact, cut if it is very long."""
    rows = [StyledLine((StyledSpan(_describe_origin(fact), "dim"),))]
    for text in filter(None, _find_texts(fact)):
        cut = "…" if len(text) > _MOST_TEXT else ""
        for part in mask(text[:_MOST_TEXT]).split("\n"):
            rows += [
                StyledLine(row) for row in wrap([StyledSpan(span_text(part + cut))], width - 1)
            ]
    return rows


def _find_ref(fact: AnyFact) -> MessageRef | None:
    match fact:
        case FileUse():
            return fact.last_use
        case GitState() | NoteFact():
            return None
        case _:
            return fact.ref


def _describe_origin(fact: AnyFact) -> str:
    ref = _find_ref(fact)
    if ref is None:
        return "current state"
    moment = parse_local_time(ref.at)
    at = f", {moment:%-d %b %H:%M}" if moment else ""
    return f"turn {ref.number} of session {ref.session + 1}{at}"


def _render_briefly(fact: AnyFact, *, is_marked: bool) -> tuple[StyledSpan, ...]:
    plain = "bold" if is_marked else ""
    match fact:
        case GitState():
            return tuple(StyledSpan(text, plain) for text in [_describe_git(fact)])
        case MessageFact() | SummaryFact():
            return (StyledSpan(_shorten(fact.text), plain),)
        case CommandFact():
            return (
                _render_exit(fact),
                StyledSpan(_shorten(fact.command), plain),
                _render_aside(fact.result),
            )
        case FileUse():
            path = StyledSpan(clip_start(fact.path, _PATH), plain)
            return (_render_state(fact), path, StyledSpan(f"  {_describe_uses(fact)}", "dim"))
        case TaskFact():
            glyph = StyledSpan(f"{_TODO.get(fact.status, '·')} ", "dim")
            return (glyph, StyledSpan(_shorten(fact.text), plain))
        case ErrorFact():
            fixed = "  fixed" if fact.fixed else "  not fixed"
            style = "dim" if fact.fixed else "warning"
            return (
                StyledSpan(_shorten(fact.what), plain),
                _render_aside(fact.error),
                StyledSpan(fixed, style),
            )
        case RuledOutFact():
            refused = StyledSpan(_REFUSED[fact.refusal] if fact.refusal else "", "warning")
            return (refused, StyledSpan(_shorten(fact.what), plain), _render_aside(fact.reason))
        case DecisionFact():
            who = "you" if fact.is_user else "the agent"
            return (
                StyledSpan(f"{who}: ", "dim"),
                StyledSpan(_shorten(fact.text), plain),
                _render_aside(fact.reason),
            )
        case NoteFact():
            return (StyledSpan(_shorten(fact.path), plain), _render_aside(fact.description))
        case _:
            assert_never(fact)


def _find_texts(fact: AnyFact) -> Iterable[str]:
    match fact:
        case GitState():
            return (_describe_git(fact), *fact.dirty)
        case MessageFact() | SummaryFact():
            return (fact.text,)
        case CommandFact():
            since = f"changed since: {', '.join(fact.changed_since)}" if fact.changed_since else ""
            return (f"$ {fact.command}", fact.result, since)
        case FileUse():
            return (fact.path, _describe_uses(fact), fact.sha or "")
        case TaskFact():
            return (fact.text, fact.status)
        case ErrorFact():
            return (fact.what, fact.error, fact.changed_files)
        case RuledOutFact():
            return (fact.what, fact.reason)
        case DecisionFact():
            return (fact.text, fact.reason)
        case NoteFact():
            return (fact.path, fact.description, fact.reason)
        case _:
            assert_never(fact)


@lru_cache(maxsize=4096)
def _shorten(text: str) -> str:
    # cached: rows are drawn at every key, and finding secrets is slow
    return make_one_line(" ".join(mask(text[:_LONGEST]).split()))


def _render_aside(text: str) -> StyledSpan:
    return StyledSpan(f"  {_shorten(text)}" if text else "", "dim")


def _render_exit(ran: CommandFact) -> StyledSpan:
    if ran.has_failed is None:
        return StyledSpan("· ", "dim")
    return StyledSpan("✗ ", "error") if ran.has_failed else StyledSpan("✓ ", "fine")


def _render_state(use: FileUse) -> StyledSpan:
    return (
        StyledSpan("✗ ", "warning")
        if use.sha is None and not _is_outside(use)
        else StyledSpan("  ")
    )


def _is_outside(use: FileUse) -> bool:
    """Return whether the file is outside the project: then its present state was not read."""
    return use.path.startswith(("/", "~"))


def _describe_uses(use: FileUse) -> str:
    done = ", ".join(_DEEDS[deed] for deed in use.actions)
    times = f" {use.change_count}×" if use.change_count > 1 else ""
    if use.sha:
        return f"{done}{times}"
    unseen = "missing now" if use.is_missing else "not readable now"
    return f"{done}{times}, {'outside the project' if _is_outside(use) else unseen}"


def _describe_git(state: GitState) -> str:
    branch = clip(state.branch, 60) or "no branch"
    commit = state.commit[:12] or "no commit"
    dirty = f"{len(state.dirty)} uncommitted" if state.dirty else "clean"
    unpushed = f", {state.unpushed} unpushed" if state.unpushed else ""
    return f"{branch} at {commit}, {dirty}{unpushed}  {_shorten(state.subject)}".rstrip()
