"""What was gathered for a handoff, as rows: each fact in one, by kind, and in full."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple, assert_never

from ricordo.agents.transcripts.session import FileAction
from ricordo.handoff.facts import (
    GIT,
    DecisionFact,
    ErrorFact,
    Fact,
    Facts,
    FileUse,
    GitState,
    GivenUp,
    MessageFact,
    NoteFound,
    Ran,
    Ref,
    Refusal,
    Summary,
    Todo,
)
from ricordo.secrets import mask
from ricordo.services.sessions.activity_text import local_time
from ricordo.text import clip, clip_start, one_line
from ricordo.tui.render.line import StyledLine, StyledSpan, fit, shown, wrap

Known = Fact | GitState
"""A fact, or the state of the repository, which has no id of its own."""

_LONGEST = 400
"""Characters of a fact that are looked at for its row."""
_MOST_TEXT = 4_000
"""Characters of a fact that are shown in full."""
_PATH = 34
"""Cells of a path, whose end tells most."""
_TURN = 5
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
    """One row: a fact, or a line above others."""

    fact: Known | None
    title: str = ""
    """In words of our own, where it is no fact."""

    @property
    def id(self) -> str:
        """Names the fact among what statements stand on; "" for a line above others."""
        return "" if self.fact is None else id_of(self.fact)


def id_of(fact: Known) -> str:
    """Return what names a fact among what statements stand on."""
    return GIT if isinstance(fact, GitState) else fact.id


class Listed(NamedTuple):
    """Facts as they are listed."""

    rows: Sequence[FactRow] = ()
    by_id: Mapping[str, Known] = {}
    numbers: Mapping[str, int] = {}
    """Of the row of each fact."""


def listed(facts: Facts) -> Listed:
    """Return a row for each fact, what the work rests on first, under titles that count. Of many
    facts it takes longer than a key can wait.
    """
    rows: list[FactRow] = []
    for title, group in _groups(facts):
        if group:
            rows += [FactRow(None, f"{title} · {len(group):,}"), *map(FactRow, group)]
    of_facts = [(number, row) for number, row in enumerate(rows) if row.fact is not None]
    by_id = {row.id: row.fact for _, row in of_facts if row.fact is not None}
    return Listed(rows, by_id, {row.id: number for number, row in of_facts})


def _groups(facts: Facts) -> Iterator[tuple[str, Collection[Known]]]:
    yield "Repository", [facts.git] if facts.git else []
    yield "You said", [it for it in facts.said if it.is_person]
    yield "Files changed", [it for it in facts.files if it.is_changed]
    yield "Commands", facts.ran
    yield "To do", facts.todos
    yield "Errors", facts.mishaps
    yield "Given up", facts.given_up
    yield "Decided", facts.decided
    yield "Notes of the memory", facts.notes
    yield "Summaries of compactions", facts.summaries
    yield "Files read", [it for it in facts.files if not it.is_changed]
    yield "The agent said", [it for it in facts.said if not it.is_person]


def draw_fact(row: FactRow, width: int, *, is_marked: bool) -> StyledLine:
    """Return one row in `width` cells; `is_marked` where the statement under the cursor stands on
    it.
    """
    if row.fact is None:
        return StyledLine(fit((StyledSpan(f" {row.title}", "heading"),), width))
    ref = _ref(row.fact)
    turn = str(ref.turn) if ref else ""
    mark = StyledSpan("▸" if is_marked else " ", "accent bold")
    spans = (mark, StyledSpan(f"{turn:>{_TURN}} ", "dim"), *_briefly(row.fact, is_marked=is_marked))
    return StyledLine(fit(spans, width))


def fact_words(fact: Known) -> str:
    """Return a fact in one visible row."""
    return "".join(span.text for span in _briefly(fact, is_marked=False)).strip()


def fact_lines(fact: Known, width: int) -> list[StyledLine]:
    """Return a fact in full, as far as it is not very long, with where it comes from."""
    rows = [StyledLine((StyledSpan(_origin(fact), "dim"),))]
    for text in filter(None, _parts(fact)):
        cut = "…" if len(text) > _MOST_TEXT else ""
        for part in mask(text[:_MOST_TEXT]).split("\n"):
            rows += [StyledLine(row) for row in wrap([StyledSpan(shown(part + cut))], width - 1)]
    return rows


def _ref(fact: Known) -> Ref | None:
    match fact:
        case FileUse():
            return fact.last
        case GitState() | NoteFound():
            return None
        case _:
            return fact.ref


def _origin(fact: Known) -> str:
    ref = _ref(fact)
    if ref is None:
        return "as it is now"
    moment = local_time(ref.at)
    at = f", {moment:%-d %b %H:%M}" if moment else ""
    return f"turn {ref.turn} of session {ref.session + 1}{at}"


def _briefly(fact: Known, *, is_marked: bool) -> tuple[StyledSpan, ...]:
    plain = "bold" if is_marked else ""
    match fact:
        case GitState():
            return tuple(StyledSpan(text, plain) for text in [_git(fact)])
        case MessageFact() | Summary():
            return (StyledSpan(_row(fact.text), plain),)
        case Ran():
            return (_ending(fact), StyledSpan(_row(fact.command), plain), _aside(fact.result))
        case FileUse():
            path = StyledSpan(clip_start(fact.path, _PATH), plain)
            return (_state(fact), path, StyledSpan(f"  {_uses(fact)}", "dim"))
        case Todo():
            glyph = StyledSpan(f"{_TODO.get(fact.status, '·')} ", "dim")
            return (glyph, StyledSpan(_row(fact.text), plain))
        case ErrorFact():
            mended = "  mended" if fact.mended else "  never mended"
            style = "dim" if fact.mended else "warning"
            return (
                StyledSpan(_row(fact.what), plain),
                _aside(fact.error),
                StyledSpan(mended, style),
            )
        case GivenUp():
            refused = StyledSpan(_REFUSED[fact.refusal] if fact.refusal else "", "warning")
            return (refused, StyledSpan(_row(fact.what), plain), _aside(fact.why))
        case DecisionFact():
            who = "you" if fact.is_person else "the agent"
            return (
                StyledSpan(f"{who}: ", "dim"),
                StyledSpan(_row(fact.text), plain),
                _aside(fact.why),
            )
        case NoteFound():
            return (StyledSpan(_row(fact.path), plain), _aside(fact.description))
        case _:
            assert_never(fact)


def _parts(fact: Known) -> Iterable[str]:
    match fact:
        case GitState():
            return (_git(fact), *fact.dirty)
        case MessageFact() | Summary():
            return (fact.text,)
        case Ran():
            since = f"changed since: {', '.join(fact.changed_since)}" if fact.changed_since else ""
            return (f"$ {fact.command}", fact.result, since)
        case FileUse():
            return (fact.path, _uses(fact), fact.sha or "")
        case Todo():
            return (fact.text, fact.status)
        case ErrorFact():
            return (fact.what, fact.error, fact.by)
        case GivenUp():
            return (fact.what, fact.why)
        case DecisionFact():
            return (fact.text, fact.why)
        case NoteFound():
            return (fact.path, fact.description, fact.why)
        case _:
            assert_never(fact)


@lru_cache(maxsize=4096)
def _row(text: str) -> str:
    # drawn again at every key, and to look for secrets takes long
    return one_line(" ".join(mask(text[:_LONGEST]).split()))


def _aside(text: str) -> StyledSpan:
    return StyledSpan(f"  {_row(text)}" if text else "", "dim")


def _ending(ran: Ran) -> StyledSpan:
    if ran.has_failed is None:
        return StyledSpan("· ", "dim")
    return StyledSpan("✗ ", "error") if ran.has_failed else StyledSpan("✓ ", "fine")


def _state(use: FileUse) -> StyledSpan:
    return (
        StyledSpan("✗ ", "warning")
        if use.sha is None and not _is_outside(use)
        else StyledSpan("  ")
    )


def _is_outside(use: FileUse) -> bool:
    """Whether nothing looked what it is now, because it is no file of the project."""
    return use.path.startswith(("/", "~"))


def _uses(use: FileUse) -> str:
    done = ", ".join(_DEEDS[deed] for deed in use.deeds)
    times = f" {use.times}×" if use.times > 1 else ""
    if use.sha:
        return f"{done}{times}"
    unseen = "not there now" if use.is_gone else "cannot be read now"
    return f"{done}{times}, {'outside the project' if _is_outside(use) else unseen}"


def _git(state: GitState) -> str:
    branch = clip(state.branch, 60) or "no branch"
    commit = state.commit[:12] or "no commit"
    dirty = f"{len(state.dirty)} not committed" if state.dirty else "clean"
    unpushed = f", {state.unpushed} not pushed" if state.unpushed else ""
    return f"{branch} at {commit}, {dirty}{unpushed}  {_row(state.subject)}".rstrip()
