"""What was decided and why, and what was ruled out."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ricordo.handoff.composing.questions import asked
from ricordo.handoff.composing.quoting import quoting
from ricordo.handoff.composing.talk import Talk
from ricordo.handoff.composing.words import is_only
from ricordo.handoff.facts import Facts
from ricordo.handoff.statement import Section, Statement
from ricordo.text import clip

_LONGEST = 400
_MOST = 10
_LONGEST_REASON = 300


def decisions(facts: Facts, talk: Talk, told: Collection[str]) -> Iterator[Statement]:
    """Yield what was decided in so many words, and the questions of the agent that the person
    answered with no more than a yes or a no. What is `told` elsewhere is left out.
    """
    for it in facts.decided[-_MOST:]:
        if it.text.strip() in told:
            continue
        who = "The person decided" if it.is_person else "The agent's decision"
        yield quoting(
            Section.DECISIONS, _with_reason(who, it.why), it.text, it.ref, (it.id,), _LONGEST
        )
    yield from _answers(talk)


def ruled_out(facts: Facts) -> Iterator[Statement]:
    """Yield what was tried and given up, with the reason that was given for it."""
    for it in facts.given_up[-_MOST:]:
        label = _with_reason("Given up", it.why)
        yield quoting(Section.RULED_OUT, label, it.what, it.ref, (it.id,), _LONGEST)


def _answers(talk: Talk) -> Iterator[Statement]:
    for before, after in zip(talk.exchanges, talk.exchanges[1:], strict=False):
        closing, reply = before.closing, after.wish
        if closing is None or reply is None:
            continue
        if is_only("assent", reply.text) or is_only("refusal", reply.text):
            for question in asked(closing.text)[-1:]:
                label = f"The person answered “{clip(reply.text, 60)}” to"
                ids = (closing.id, reply.id)
                yield quoting(Section.DECISIONS, label, question, closing.ref, ids, _LONGEST)


def _with_reason(label: str, why: str) -> str:
    return f"{label}, because: “{clip(why, _LONGEST_REASON)}”" if why.strip() else label
