"""Check notes by a model: it reads notes, says what it wants to look up in the project, gets that,
and proposes corrections.

These are up to three questions of one run: under the caps of a run, with one deadline. All have
the same form and begin with the same text, so that the prompt cache serves most of the later ones.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ricordo.curation.brief import TOUCHED, Brief, BriefPart, add_facts, find_name
from ricordo.curation.engine import FREE, CurationProgress, EngineAnswer, EngineUsage, Step
from ricordo.curation.engines.command import ProgramClient
from ricordo.curation.engines.external import EngineReply, ExternalEngine, seal_brief
from ricordo.curation.engines.llm import ModelClient
from ricordo.curation.form import ModelForm
from ricordo.curation.parts import PartwiseEngine
from ricordo.curation.project_facts import (
    MOST_FILES,
    SOURCE,
    Lookup,
    LookupKind,
    ProjectFact,
    ProjectReader,
    read_lookups,
)
from ricordo.llm.failure import FailureCause, ModelFailed
from ricordo.llm.question import FormTool
from ricordo.llm.schema import describe_list, describe_object, describe_text
from ricordo.memory.change import Author
from ricordo.memory.memory import Memory

MOST_CORRECTIONS = 30
"""Corrections of an answer, as the prompt says."""
MOST_QUESTIONS = 3
"""Questions of a check: two rounds of lookups, then corrections."""
_LEAST_SHARE = 0.15
"""The share of what may be sent that the brief takes at least: it is sent with every question."""
_MOST_FACTS = 16_000
"""Tokens of what one round looks up."""
_OVERHEAD = 3_000
"""Tokens of the prompt and the form, which are sent with every question."""
_FOR_NAMES = 1_000
"""Tokens of the names of what did not fit."""
_LONG = (LookupKind.FILE, LookupKind.NOTE)
"""Lookups with long results."""
_LOOKUP = describe_object(
    kind=describe_text("What is looked up.", enum=[kind.value for kind in LookupKind]),
    what=describe_text(
        "search: a text as a file has it. file, folder: a path in the project. commits: words of "
        "a message, the id of a commit, or a path. note: the id or name of a note."
    ),
    line={"type": "integer", "description": "file: the line around which to read; else 0."},
)
_EVIDENCE = describe_object(
    source=describe_text("The id of the fact or note that has the words."),
    quote=describe_text("The words, letter by letter, from one line."),
)
_CORRECTION = describe_object(
    note=describe_text("The id of the note, or index."),
    old=describe_text("The passage that is wrong, as the note has it; empty to retire the note."),
    new=describe_text("The passage instead; empty to remove it."),
    reason=describe_text("What is wrong and what shows it, in one line."),
    evidence=describe_list(_EVIDENCE, "The words that refute it."),
)
REPORT = FormTool(
    "report",
    "Either name what to look up, or propose corrections; the other list is empty.",
    describe_object(
        lookups=describe_list(_LOOKUP, "What to look up; none in the last answer."),
        corrections=describe_list(_CORRECTION, "The corrections; none while looking up."),
    ),
)
"""The tool with which a model looks things up and proposes corrections."""
_WHOLE_FORM = ModelForm(REPORT, lambda value: value)


def unfold_corrections(value: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the corrections of a completed form as `edits.py` reads them."""
    return [_unfold(correction) for correction in value["corrections"]]


def _unfold(correction: Mapping[str, Any]) -> dict[str, Any]:
    common = {name: correction[name] for name in ("note", "reason", "evidence")}
    if not correction["old"]:
        return {"op": "retire", "successor": "", **common}
    return {"op": "replace", "old": correction["old"], "new": correction["new"], **common}


CORRECTIONS_FORM = ModelForm(REPORT, unfold_corrections)
"""The form where nothing can be looked up any more."""


@dataclass(frozen=True, slots=True)
class CheckBudget:
    """How many tokens a check may send."""

    brief: int
    """Of the notes and what is around them."""
    facts: int
    """Of what one round looks up."""


def divide_budget(tokens: int) -> CheckBudget:
    """Return how so many `tokens`, which a run may send beside a prompt and form, are divided."""
    rounds = MOST_QUESTIONS - 1
    # what a round found is sent with every question after it
    sent_facts = rounds * (rounds + 1) // 2
    room = tokens - rounds * _OVERHEAD
    brief = max(int(_LEAST_SHARE * tokens), (room - sent_facts * _MOST_FACTS) // MOST_QUESTIONS)
    return CheckBudget(
        brief, max(0, min(_MOST_FACTS, (room - MOST_QUESTIONS * brief) // sent_facts))
    )


@dataclass(frozen=True, slots=True)
class NoteCheck:
    """What a check needs beside the brief."""

    reader: ProjectReader | None
    """Reads the project; None where the memory belongs to none."""
    budget: CheckBudget
    facts: tuple[ProjectFact, ...]
    """The facts in the brief."""

    @property
    def questions(self) -> int:
        """How many questions are asked at most."""
        return MOST_QUESTIONS if self.reader else 1

    def count_sent(self, brief: Brief) -> int:
        """Return the most tokens that all questions about `brief` send, beside the first prompt
        and form.
        """
        rounds = self.questions - 1
        facts = self.budget.facts * rounds * (rounds + 1) // 2
        return self.questions * brief.tokens + facts + rounds * _OVERHEAD


@dataclass(frozen=True, slots=True)
class CheckEngine:
    """An engine that asks until nothing more is to be looked up."""

    engine: ExternalEngine
    ask: ModelClient | ProgramClient
    check: NoteCheck

    @property
    def author(self) -> Author:
        """The author of the wrapped engine."""
        return self.engine.author

    def answer(self, memory: Memory, brief: Brief, step: Step) -> EngineAnswer:
        """Return the corrections that the model proposes for the notes of a `brief`. Raises
        CuratorFailed, StateUnusable, and what `step` raises.
        """
        return _CheckRun(self, memory, brief, step).answer()


class _CheckRun:
    def __init__(self, engine: CheckEngine, memory: Memory, brief: Brief, step: Step) -> None:
        self._engine, self._check = engine.engine, engine.check
        self._client = engine.ask
        self._memory, self._brief, self._step = memory, brief, step
        self._facts = list(engine.check.facts)
        """The facts that the brief has."""
        self._spent = FREE
        self._began = time.monotonic()

    def answer(self) -> EngineAnswer:
        """Ask until the model looks nothing up, and return its corrections."""
        rounds = self._check.questions
        for number in range(1, rounds + 1):
            try:
                reply = self._ask(f"{number} of {rounds}")
            except ModelFailed as failed:
                if failed.cause in (FailureCause.REFUSED, FailureCause.TOO_LARGE):
                    return self._ask_in_parts(failed)
                raise
            value = reply.value
            lookups = read_lookups(value["lookups"]) if isinstance(value, Mapping) else []
            if number == rounds or not lookups:
                break
            self._client.record_lost(reply.usage)
            self._spent += reply.usage
            self._look_up(lookups)
        corrections = unfold_corrections(value) if isinstance(value, Mapping) else value
        final = EngineReply(corrections, reply.usage)
        answer = self._get_reader().read_reply(self._memory, self._brief, final)
        return self._finish(answer)

    def _ask(self, question: str) -> EngineReply:
        """Ask with the brief as it is now; `question` says which of how many questions it is."""
        part = BriefPart("question", (f"{question}\n",))
        brief = replace(self._brief, parts=(*self._brief.parts, part))
        client = replace(self._continue_run(), form=_WHOLE_FORM)
        return client(seal_brief(brief, self._engine.redaction), self._step)

    def _continue_run(self) -> ModelClient | ProgramClient:
        """Return a client under what is left of the caps and the deadline of the run."""
        client = self._client
        if not isinstance(client, ModelClient) or self._spent == FREE:
            return client
        left = client.server.limits.total - (time.monotonic() - self._began)
        return client.for_part(self._spent, max(1.0, round(left, 1)))

    def _ask_in_parts(self, failed: ModelFailed) -> EngineAnswer:
        """Return the corrections for the parts of the brief that the model does not reject; it
        looks nothing more up. Raises ModelFailed for a program, which does not say what it rejects.
        """
        client = replace(self._continue_run(), form=CORRECTIONS_FORM)
        if not isinstance(client, ModelClient):
            raise failed
        engine = PartwiseEngine(replace(self._get_reader(), ask=client), client)
        return self._finish(engine.answer(self._memory, self._brief, self._step))

    def _get_reader(self) -> ExternalEngine:
        """Return the engine that reads replies: it knows the texts of the facts."""
        texts = {**self._engine.messages, **_collect_texts(self._facts)}
        return replace(self._engine, messages=texts)

    def _finish(self, answer: EngineAnswer) -> EngineAnswer:
        """Return an answer with the cost of all questions. Nothing of it can be sent back, because
        the facts behind it are not kept.
        """
        changes = tuple(replace(change, original="") for change in answer.changes)
        rejected = tuple(replace(each, original="") for each in answer.rejected)
        extra: EngineUsage = answer.extra_usage + self._spent
        return replace(answer, changes=changes, rejected=rejected, extra_usage=extra)

    def _look_up(self, lookups: Sequence[Lookup]) -> None:
        """Add what the project has of the `lookups` to the brief, as much as fits: what is short
        first, and last what is in many files. What does not fit is named.
        """
        by_fact: dict[ProjectFact, Lookup] = {}
        ranks: dict[ProjectFact, int] = {}
        for number, lookup in enumerate(lookups, 1):
            progress = CurationProgress(f"looking up {number} of {len(lookups)} in the project")
            self._step(progress)
            found = self._look_up_one(lookup)
            rank = 1 if lookup.kind in _LONG else 2 * (len(found) >= MOST_FILES)
            for fact in found:
                if fact not in self._facts:
                    by_fact.setdefault(fact, lookup)
                    ranks.setdefault(fact, rank)
        facts = sorted(by_fact, key=ranks.__getitem__)
        redaction, budget = self._engine.redaction, self._check.budget.facts
        self._brief, added = add_facts(self._brief, facts, budget, redaction)
        left = dict.fromkeys(by_fact[fact].what for fact in facts if fact not in added)
        if left:
            lines = tuple(("", what) for what in left)
            more = [ProjectFact("found, but not shown for lack of room", f"{SOURCE}room", lines)]
            self._brief, _ = add_facts(self._brief, more, _FOR_NAMES, redaction)
        self._facts += added

    def _look_up_one(self, lookup: Lookup) -> list[ProjectFact]:
        if lookup.kind is not LookupKind.NOTE:
            return self._check.reader.look_up(lookup) if self._check.reader else []
        paths = dict(self._brief.ids)
        path = paths.get(lookup.what, lookup.what)
        note = self._memory.by_path.get(path) or self._memory.by_path.get(f"{path}.md")
        if note is None:
            says = f"The memory has no note {lookup.what}."
            return [ProjectFact("nothing found", f"{SOURCE}memory", (("", says),))]
        shown = {paths[find_name(TOUCHED, it)] for it in self._brief.parts[TOUCHED].blocks}
        if not note.is_readable or note.path in shown:
            return []
        lines = enumerate(note.text.split("\n"), 1)
        marked = tuple((str(line), text) for line, text in lines)
        return [ProjectFact(f"the note {lookup.what}", note.path, marked)]


def _collect_texts(facts: Sequence[ProjectFact]) -> Mapping[str, str]:
    """Return the texts of facts by their source, with the titles, which tell what was found."""
    texts: dict[str, list[str]] = {}
    for fact in facts:
        texts.setdefault(fact.source, []).append(f"{fact.title}\n{fact.text}")
    return {source: "\n".join(parts) for source, parts in texts.items()}
