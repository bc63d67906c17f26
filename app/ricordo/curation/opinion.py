"""The opinion of an external engine on an uncertain pair of notes. It is untrusted, shown to the
user, and changes nothing by itself.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ricordo.curation.engines.external import EMPTY_BRIEF, SealedBrief
from ricordo.curation.form import ModelForm
from ricordo.curation.proposal import RejectedChange
from ricordo.errors import ChangeRefused
from ricordo.llm.question import FormTool, estimate_tokens
from ricordo.llm.redaction import Redaction
from ricordo.llm.schema import describe_list, describe_object, describe_text
from ricordo.text import clip, find_hidden_characters, make_one_line, make_visible

MAX_REASON = 300
"""Characters of a reason."""


class PairVerdict(StrEnum):
    """The relation of two notes, as the engine sees it."""

    CONFLICT = "conflict"
    DUPLICATE = "duplicate"
    BOTH_VALID = "both-hold"
    UNSURE = "unsure"

    @property
    def ends_one(self) -> bool:
        """Whether one of the two sides could go, so that the opinion may say which one stays."""
        return self in (PairVerdict.CONFLICT, PairVerdict.DUPLICATE)


class KeptSide(StrEnum):
    """Which of the two notes should stay."""

    LEFT = "left"
    RIGHT = "right"
    NEITHER = "neither"
    """Unknown, or both stay."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """The opinion on one pair."""

    verdict: PairVerdict
    kept_side: KeptSide
    reason: str
    """One line of untrusted text."""
    model: str = ""
    """The model whose opinion it is."""
    is_confirmed: bool = False
    """Whether it was given with all of both notes, or for the second time, with more of them."""

    @property
    def needs_confirmation(self) -> bool:
        """Whether it calls two notes a conflict by excerpts alone: what reconciles them is often
        further up or down in one of the notes.
        """
        return self.verdict is PairVerdict.CONFLICT and not self.is_confirmed


@dataclass(frozen=True, slots=True)
class Opinions:
    """The opinions of a reply."""

    by_pair: Mapping[str, Opinion]
    rejected: tuple[RejectedChange, ...] = ()
    """Invalid opinions, and the pairs without one."""


_FIELDS = ("pair", "reason", "verdict", "keep")


def read_opinions(given: object, pairs: Collection[str], model: str = "") -> Opinions:
    """Return the opinions in the JSON value `given` on the `pairs`, which are ids. A verdict that
    does not match the schema exactly is rejected with a reason; the others still count.
    """
    if not isinstance(given, list):
        return Opinions({}, (RejectedChange("reply", "The reply is not a list of verdicts."),))
    opinions: dict[str, Opinion] = {}
    rejected: list[RejectedChange] = []
    counts = Counter(map(_get_pair, given))
    for number, verdict in enumerate(given[: 2 * len(pairs)], 1):
        try:
            pair = _check_verdict(verdict, pairs, counts)
            opinions[pair] = _read_opinion(verdict, model)
        except ChangeRefused as refused:
            rejected.append(RejectedChange(f"verdict {number}", make_one_line(refused.message)))
    if len(given) > 2 * len(pairs):
        rejected.append(
            RejectedChange("reply", "The reply has more verdicts than there are pairs.")
        )
    missing = (pair for pair in pairs if pair not in counts)
    rejected += (
        RejectedChange(f"pair {pair}", "The reply has no verdict on it.") for pair in missing
    )
    return Opinions(opinions, tuple(rejected))


def _get_pair(verdict: object) -> str:
    pair = verdict.get("pair") if isinstance(verdict, dict) else None
    return pair if isinstance(pair, str) else ""


def _check_verdict(verdict: object, pairs: Collection[str], counts: Counter[str]) -> str:
    """Return the id of the verdict's pair. Raises ChangeRefused."""
    if not isinstance(verdict, dict) or sorted(verdict) != sorted(_FIELDS):
        raise ChangeRefused("The verdict does not have the fields pair, reason, verdict, keep.")
    if not all(isinstance(verdict[name], str) for name in _FIELDS):
        raise ChangeRefused("A field of the verdict is not text.")
    pair = _get_pair(verdict)
    if pair not in pairs:
        raise ChangeRefused(f"No pair has the id “{clip(make_one_line(pair), 40)}”.")
    if counts[pair] > 1:
        raise ChangeRefused(f"{counts[pair]} verdicts on {pair}: none of them counts.")
    return pair


def _read_opinion(verdict: Mapping[str, Any], model: str) -> Opinion:
    """Return the opinion of a verdict. Raises ChangeRefused."""
    if verdict["verdict"] not in set(PairVerdict) or verdict["keep"] not in set(KeptSide):
        raise ChangeRefused("Unknown verdict, or unknown side to keep.")
    view, keeps = PairVerdict(verdict["verdict"]), KeptSide(verdict["keep"])
    if keeps is not KeptSide.NEITHER and not view.ends_one:
        raise ChangeRefused(f"The verdict is “{view.value}”, but keeps only one of the two.")
    return Opinion(view, keeps, require_plain_line(verdict["reason"]), model)


def require_plain_line(reason: str) -> str:
    """Return `reason` stripped if it is one plain line. Raises ChangeRefused where it is not."""
    try:
        reason.encode("utf-8")
    except UnicodeEncodeError:
        raise ChangeRefused("The reason is not valid text (lone surrogate).") from None
    if not reason.strip():
        raise ChangeRefused("The reason is empty.")
    if len(reason) > MAX_REASON:
        raise ChangeRefused(f"The reason is longer than {MAX_REASON} characters.")
    if len(reason.splitlines()) != 1 or find_hidden_characters(reason):
        raise ChangeRefused("The reason is not one plain line.")
    return reason.strip()


AROUND = 600
"""Characters before and after a claim."""
WIDELY_AROUND = 4_000
"""The same where two notes were called a conflict before."""
_MOST_WHOLE = 2_000
"""Characters of a note that is judged as a whole, unless twice those around a claim are more."""


@dataclass(frozen=True, slots=True)
class PairNote:
    """One of the two notes of a pair."""

    place: str
    """Its path; not sent."""
    about: str
    """Its name and description."""
    text: str
    """Its text without the frontmatter."""
    claim: str = ""
    """The uncertain statement; "" where the note as a whole is uncertain."""
    day: str = ""
    """When it was written, ISO 8601; "" where unknown."""
    said_by: str = ""
    """Who said it, in the words of the prompt; "" where unknown."""


@dataclass(frozen=True, slots=True)
class UncertainPair:
    """Two notes whose relation is uncertain."""

    what: str
    """What is uncertain, in Ricordo's words."""
    differ: str
    """The kind of value in which they differ, in Ricordo's words; "" for notes as a whole."""
    left: PairNote
    right: PairNote
    around: int = AROUND
    """Characters that are sent before and after a claim."""

    @property
    def is_sent_whole(self) -> bool:
        """Whether nothing of the two texts is left out."""
        parties = self.left, self.right
        return all(_select_excerpt(it.text, it.claim, self.around) == it.text for it in parties)


@dataclass(frozen=True, slots=True)
class JudgementBatch:
    """Pairs that are judged together."""

    texts: tuple[str, ...]
    """One for each pair, redacted but not sealed."""
    redaction: Redaction
    numbers: tuple[int, ...] = ()
    """The indexes of these pairs among those that were to be judged."""

    @property
    def ids(self) -> tuple[str, ...]:
        """The names of the pairs in the question."""
        return tuple(f"p{number}" for number in range(1, len(self.texts) + 1))

    @property
    def text(self) -> str:
        """All pairs as one text."""
        pairs = (f"pair {name}\n{text}" for name, text in zip(self.ids, self.texts, strict=True))
        return "".join(pairs)

    @property
    def tokens(self) -> int:
        """Estimated tokens."""
        return estimate_tokens(self.text)

    @property
    def sent(self) -> SealedBrief:
        """The batch, sealed."""
        return SealedBrief(EMPTY_BRIEF.stable, self.redaction.seal(self.text))


def compose_batch(
    pairs: Sequence[UncertainPair], redaction: Redaction, room: int
) -> JudgementBatch:
    """Return a batch of as many of the `pairs` as fit into `room` tokens, the first ones first."""
    parties = [party for pair in pairs for party in (pair.left, pair.right)]
    redaction.learn([text for party in parties for text in (party.text, party.about)])
    batch = JudgementBatch((), redaction)
    for number, pair in enumerate(pairs):
        texts = (*batch.texts, "".join(_format_pair(pair, redaction)))
        more = JudgementBatch(texts, redaction, (*batch.numbers, number))
        # a long pair leaves room for shorter ones
        if more.tokens <= room:
            batch = more
    return batch


def _format_pair(pair: UncertainPair, redaction: Redaction) -> Iterator[str]:
    yield f"it is in doubt whether {pair.what}\n"
    yield from _fence("differ", pair.differ)
    for side, party in (("left", pair.left), ("right", pair.right)):
        known = (party.day and f"written on {party.day}", party.said_by and f"by {party.said_by}")
        yield ", ".join((side, *filter(None, known))) + "\n"
        text, claim, about = (
            redaction.redact(party.place, each) for each in (party.text, party.claim, party.about)
        )
        excerpt = _select_excerpt(text, claim, pair.around)
        for mark, shown in (("about", about), ("claim", claim), ("", excerpt)):
            yield from _fence(mark, shown)


def _select_excerpt(text: str, claim: str, around: int) -> str:
    """Return the part of a redacted text that is sent: so many characters around the claim, or the
    beginning. Texts are cut only after redaction: half of a secret does not look like one.
    """
    match = re.search(r"\s+".join(map(re.escape, claim.split())), text) if claim else None
    if match is None:
        return _cut(text, 0, around if claim else max(_MOST_WHOLE, 2 * around))
    return _cut(text, match.start() - around, match.end() + around)


def _fence(mark: str, text: str) -> Iterable[str]:
    """Return the lines of a foreign text, each with a mark before it."""
    return (f"{mark}| {make_visible(line)}\n" for line in text.split("\n") if line.strip())


def _cut(text: str, start: int, end: int) -> str:
    start, end = max(0, start), min(len(text), end)
    before, behind = "…" if start else "", "…" if end < len(text) else ""
    return f"{before}{text[start:end]}{behind}"


_VERDICT = describe_object(
    pair=describe_text("The id of the pair."),
    reason=describe_text("What decides it, in one plain line of at most 200 characters."),
    verdict=describe_text(
        "What the two notes are to each other.", enum=[it.value for it in PairVerdict]
    ),
    keep=describe_text("Which of the two should stay.", enum=[it.value for it in KeptSide]),
)
JUDGE = FormTool(
    "judge",
    "Say of every pair, all at once, what its two notes are to each other.",
    describe_object(verdicts=describe_list(_VERDICT, "One for each pair.")),
)
"""The tool with which a model judges pairs."""
JUDGE_FORM = ModelForm(JUDGE, lambda value: value["verdicts"])
