"""Check notes by a model: it reads notes, says what it wants to look up in the project, gets that,
and proposes edits of what is wrong.

These are two questions of one run: under the caps of a run, with one deadline.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ricordo.curation.brief import TOUCHED, Brief, add_facts, find_name
from ricordo.curation.engine import FREE, CurationProgress, EngineAnswer, EngineUsage, Step
from ricordo.curation.engines.command import ProgramClient
from ricordo.curation.engines.external import ExternalEngine, seal_brief
from ricordo.curation.engines.llm import ModelClient
from ricordo.curation.form import ModelForm
from ricordo.curation.parts import PartwiseEngine
from ricordo.curation.project_facts import (
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

_MOST_WRITTEN = 3_000
"""Output tokens of the first question."""
_SHARE = 0.3
"""The share of what may be sent that the brief takes: it is sent twice, and the rest is facts."""
_MOST_FACTS = 24_000
"""Tokens of what was looked up."""
_OVERHEAD = 4_000
"""Tokens of the prompt and the form, which are sent twice too."""
_LOOKUP = describe_object(
    kind=describe_text("What is looked up.", enum=[kind.value for kind in LookupKind]),
    what=describe_text(
        "search: a text as a file has it. file, folder: a path in the project. commits: "
        "words of a message, or a path. note: the id of a note."
    ),
    line={"type": "integer", "description": "file: the line around which to read; else 0."},
)
LOOK_UP = FormTool(
    "look_up",
    "Name what to look up in the project before notes are judged, all at once.",
    describe_object(lookups=describe_list(_LOOKUP, "The lookups; none where nothing is needed.")),
)
"""The tool with which a model asks for facts."""
LOOK_UP_FORM = ModelForm(LOOK_UP, lambda value: value["lookups"])


@dataclass(frozen=True, slots=True)
class CheckBudget:
    """How many tokens a check may send."""

    brief: int
    """Of the notes and what is around them."""
    facts: int
    """Of what is looked up."""

    def count_sent(self, brief: Brief) -> int:
        """Return the most tokens that both questions about `brief` send, beside the first prompt
        and form.
        """
        return 2 * brief.tokens + self.facts + _OVERHEAD


def divide_budget(tokens: int) -> CheckBudget:
    """Return how so many `tokens`, which a run may send beside a prompt and form, are divided."""
    brief = int(_SHARE * tokens)
    return CheckBudget(brief, max(0, min(_MOST_FACTS, tokens - 2 * brief - _OVERHEAD)))


@dataclass(frozen=True, slots=True)
class NoteCheck:
    """What a check needs beside the brief."""

    reader: ProjectReader | None
    """Reads the project; None where the memory belongs to none."""
    budget: CheckBudget
    facts: tuple[ProjectFact, ...]
    """The facts in the brief."""


@dataclass(frozen=True, slots=True)
class CheckEngine:
    """An engine that asks twice."""

    engine: ExternalEngine
    ask: ModelClient | ProgramClient
    check: NoteCheck

    @property
    def author(self) -> Author:
        """The author of the wrapped engine."""
        return self.engine.author

    def answer(self, memory: Memory, brief: Brief, step: Step) -> EngineAnswer:
        """Return the edits that the model proposes for the notes of a `brief`. Raises
        CuratorFailed, StateUnusable, and what `step` raises.
        """
        until = time.monotonic()
        lookups, usage = self._ask_for_lookups(brief, step)
        facts = self._look_up(memory, brief, lookups, step)
        fuller = add_facts(brief, facts, self.check.budget.facts, self.engine.redaction)
        count = len(fuller.sources) - len(brief.sources)
        shown = collect_texts([*self.check.facts, *facts[:count]])
        engine = replace(self.engine, ask=self.ask, messages={**self.engine.messages, **shown})
        if isinstance(self.ask, ModelClient):
            left = self.ask.server.limits.total - (time.monotonic() - until)
            rest = self.ask.for_part(usage, max(1.0, round(left, 1)))
            answer = PartwiseEngine(engine, rest).answer(memory, fuller, step)
        else:
            answer = engine.answer(memory, fuller, step)
        return _without_retry(replace(answer, extra_usage=answer.extra_usage + usage))

    def _ask_for_lookups(self, brief: Brief, step: Step) -> tuple[list[Lookup], EngineUsage]:
        """Return what the model wants to look up, and what asking cost. Where it rejects the brief
        as a whole, nothing is looked up: the second question finds out which note it rejects.
        """
        if self.check.reader is None:
            return [], FREE
        first = replace(self.ask, form=LOOK_UP_FORM, max_output=_MOST_WRITTEN)
        try:
            reply = first(seal_brief(brief, self.engine.redaction), step)
        except ModelFailed as failed:
            if failed.cause not in (FailureCause.REFUSED, FailureCause.TOO_LARGE):
                raise
            return [], FREE
        self.ask.record_lost(reply.usage)
        return read_lookups(reply.value), reply.usage

    def _look_up(
        self, memory: Memory, brief: Brief, lookups: Sequence[Lookup], step: Step
    ) -> list[ProjectFact]:
        reader, facts = self.check.reader, list[ProjectFact]()
        by_id = dict(brief.ids)
        shown = {find_name(TOUCHED, block) for block in brief.parts[TOUCHED].blocks}
        for number, lookup in enumerate(lookups, 1):
            step(CurationProgress(f"looking up {number} of {len(lookups)} in the project"))
            if lookup.kind is LookupKind.NOTE:
                note = memory.by_path.get(by_id.get(lookup.what, ""))
                if note is not None and note.is_readable and lookup.what not in shown:
                    lines = enumerate(note.text.split("\n"), 1)
                    marked = tuple((str(line), text) for line, text in lines)
                    facts.append(ProjectFact(f"the note {lookup.what}", note.path, marked))
            elif reader is not None:
                facts += reader.look_up(lookup)
        return facts


def collect_texts(facts: Sequence[ProjectFact]) -> Mapping[str, str]:
    """Return the texts of facts by their source."""
    texts: dict[str, list[str]] = {}
    for fact in facts:
        texts.setdefault(fact.source, []).append(fact.text)
    return {source: "\n".join(parts) for source, parts in texts.items()}


def _without_retry(answer: EngineAnswer) -> EngineAnswer:
    """Return an answer of which nothing can be sent back: the facts behind it are not kept."""
    changes = tuple(replace(change, original="") for change in answer.changes)
    rejected = tuple(replace(each, original="") for each in answer.rejected)
    return replace(answer, changes=changes, rejected=rejected)
