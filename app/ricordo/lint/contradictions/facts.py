"""Facts about named things: a ticket, a milestone, a branch or a symbol, with its state or value.

A thing is named by its form (`#12`, `AB-231`, a path or a symbol in code marks), or by the memory:
a short code such as `M4` counts where the name, the title or a heading of a note has it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import NamedTuple

from ricordo.lexicon import build_alternation, list_expressions, lower_text
from ricordo.lint.contradictions import words as known
from ricordo.memory.note import Note
from ricordo.patterns import compile_lazily

_TICKET = (
    r"(?:pr|pull request|mr|issue)\s?#\d+|(?:pr|mr|issue)\s\d{2,}|\w*#\d{2,}|[A-Z][A-Z0-9]{1,9}-\d+"
)
_CODE = (
    r"[A-Z]{1,3}\d{1,3}(?:\.\d+)?(?:\s(?:step|phase|slice|part|stage)\s\d{1,2}(?:\.\d+)?[a-z]?)?"
)
_NAME = compile_lazily(
    rf"(?<![\w#/–—-])(?:(?P<ticket>(?i:{_TICKET}))|(?P<code>{_CODE})|`(?P<marked>[^`\n]{{2,80}})`)"
    r"(?![a-zA-Z0-9_/–-])"
)
_MAY_NAME = compile_lazily(r"[`#\d](?<![^\sA-Z-]\d)")
"""What is in every name: a mark, or a digit behind a blank, a capital or a hyphen."""
_MAY_NAME_IN_ASCII = compile_lazily(r"[`#0-9](?<![^\sA-Z-][0-9])")
"""The same for ASCII, which it searches four times as fast."""
_SHORT_CODE = compile_lazily(r"[A-Z]{1,3}\d{1,3}(?:\.\d+)?\b")
_MARKED = compile_lazily(r"(?!\.)[\w./-]*(?:[/._-]|[a-z][A-Z])[\w./-]*(?:\(\))?\Z")
"""What can be the name of a branch, a file or a symbol."""
_BETWEEN = r"[\s*_:=(|✅★✔☑→—–-]{0,6}"
_FAR, _NEAR = 100, 30
"""Characters behind and before a name in which its state is looked for."""
_WAS = compile_lazily(r"[\s*_`]*(?:was|were|had been|war|waren)\b")
_ASIDE = compile_lazily(r"\([^()]*\)")
_CLAUSE_END = compile_lazily(r"[.;!?](?:\s|\Z)|\n|[。；]")
_VALUE = compile_lazily(
    r"\s*(?:=|:|is|defaults to|is set to)\s*`?(\d+(?:[._]\d+|,\d{3}\b)*)`?(?!,\d)"
    r"(?=[.,;)\s]*(?:\Z|\n|[.,;)—–|]))"
)
_NUMBERED_TICKET = compile_lazily(r"[#A-Z](?:(?<=#)\d|(?<=[A-Z])(?<!\w.)[A-Z0-9]+-\d)")
_TICKET_KEY = compile_lazily(r"\w*#\d+\Z|[a-z][a-z0-9]{1,9}-\d+\Z")
_NUMBER_SIGN = compile_lazily(r"(?i)(?:pr|pull request|mr|issue)\s?#?")


class NamedFact(NamedTuple):
    """The state or value that a text gives to a named thing."""

    subject: str
    """The name in lower case."""
    relation: str
    """`state` with the first word of its pair, or `value`."""
    value: str
    """What is compared."""
    text: str
    """The value as it is written."""
    start: int
    """The offset of the name in the text."""

    @property
    def code(self) -> str:
        """The short code that has to be a name in the memory; "" where the form is enough."""
        head = self.subject.split()[0]
        return head if _SHORT_CODE.fullmatch(head.upper()) else ""

    @property
    def is_open(self) -> bool:
        """Whether it says that something is still to be done."""
        return self.value == "open"


def has_ticket(text: str) -> bool:
    """Return whether a statement names a ticket."""
    # most have neither mark
    return ("#" in text or "-" in text) and bool(_NUMBERED_TICKET.search(text))


def is_ticket(key: str) -> bool:
    """Return whether the key of a word is that of a ticket."""
    return bool(_TICKET_KEY.match(key))


def share_fact(left: str, right: str) -> bool:
    """Return whether two statements give facts on one relation of one named thing."""
    return not _list_relations(left).isdisjoint(_list_relations(right))


@lru_cache(maxsize=1 << 12)
def _list_relations(text: str) -> frozenset[tuple[str, str]]:
    """Return the named things of a text, each with the relations of its facts."""
    return frozenset((it.subject, it.relation) for it in extract_facts(text))


def cut_quote(text: str, start: int) -> tuple[int, int]:
    """Return the start and end of the clause around an offset, with whole words."""
    begin = max((it.end() for it in _CLAUSE_END.finditer(text, 0, start)), default=0)
    begin = max(begin, start - _FAR)
    while 0 < begin < start and not text[begin - 1].isspace():
        begin += 1
    end = _CLAUSE_END.search(text, start)
    stop = min(end.start() if end else len(text), start + 2 * _FAR)
    while stop < len(text) and not text[stop].isspace():
        stop += 1
    return begin, stop


def find_codes(note: Note) -> Iterator[str]:
    """Yield the short codes that the name, the title and the headings of a note have."""
    titles = [note.stem.replace("-", " ").replace("_", " ").upper(), note.name.upper()]
    titles += [it.partition("\n")[0] for it in f"\n{note.text}".split("\n#")[1:]]
    yield from (match.group().lower() for match in _SHORT_CODE.finditer("\n".join(titles)))


def may_have_facts(text: str) -> bool:
    """Return whether a text may name a thing; the facts of others need not be extracted."""
    return bool((_MAY_NAME_IN_ASCII if text.isascii() else _MAY_NAME).search(text))


def extract_facts(text: str) -> Iterator[NamedFact]:
    """Yield the facts in a text."""
    for match in _NAME.finditer(text) if may_have_facts(text) else ():
        subject = _get_subject(match)
        if not subject:
            continue
        value = _VALUE.match(text, match.end()) if match["marked"] else None
        found = _find_state(text, match)
        # most names are only mentioned
        if not (value or found) or _example().search(lower_text(text[: match.start()][-_FAR:])):
            continue
        if value:
            yield NamedFact(subject, "value", _plain(value[1]), value[1], match.start())
        if found:
            spelling, is_denied = found
            _, side = known.load_opposites().get(spelling, ("", True))
            state = f"not {spelling}" if is_denied else spelling
            is_open = side != is_denied
            if not is_open or not _WAS.match(text, match.end()):
                yield NamedFact(
                    subject, "state", "open" if is_open else "done", state, match.start()
                )


def _find_state(text: str, name: re.Match[str]) -> tuple[str, bool] | None:
    """Return the state that is said of a name, and whether it is denied: right behind it, further
    on in capitals, or right before it.
    """
    end = name.end()
    behind = known.join_phrases(lower_text(text[end : end + _FAR]))
    for plain in (behind, _ASIDE.sub(" ", behind)) if "(" in behind else (behind,):
        if found := _state_behind().match(plain):
            return found["state"], bool(found["not"]) != bool(found["after"])
    if not name["marked"]:
        rest = _CLAUSE_END.split(text[end : end + _FAR], maxsplit=1)[0]
        loud = _loud_state().search(rest)
        if loud and not _NAME.search(rest[: loud.start()]):
            return " ".join(loud["state"].lower().split()).replace(" ", "_"), bool(loud["not"])
    before = lower_text(text[max(0, name.start() - _NEAR) : name.start()])
    found = _state_before().search(before) if ":" in before or "=" in before else None
    return (found["state"], False) if found else None


def _plain(number: str) -> str:
    text = number.replace("_", "").replace(",", "")
    return f"{float(text):g}" if text.count(".") < 2 else text


def _get_subject(match: re.Match[str]) -> str:
    if ticket := match["ticket"]:
        return _NUMBER_SIGN.sub("#", ticket).lower()
    if code := match["code"]:
        return " ".join(code.lower().split())
    return match["marked"] if _MARKED.match(match["marked"]) else ""


@cache
def _states() -> str:
    spellings = {text for text, (kind, _) in known.load_opposites().items() if kind == "state done"}
    return build_alternation((*spellings, *list_expressions("opposition", "upcoming")))


@cache
def _example() -> re.Pattern[str]:
    """Return the pattern for the beginning of an example that is not closed."""
    return re.compile(
        rf"(?:{build_alternation(list_expressions('opposition', 'example'))})[^.)）。]*\Z"
    )


@cache
def _state_behind() -> re.Pattern[str]:
    """Return the pattern for a state right behind a name."""
    joining = build_alternation(list_expressions("opposition", "joining"))
    negation = build_alternation(known.load_words("negation"))
    return re.compile(
        rf"{_BETWEEN}(?:(?:{joining}){_BETWEEN}){{0,3}}(?P<not>(?:{negation})\s*(?:yet\s)?)?"
        # the negation of Japanese and Korean verbs comes last
        rf"{_BETWEEN}(?P<state>{_states()})(?P<after>\w{{0,2}}\s*not\b)?"
    )


@cache
def _state_before() -> re.Pattern[str]:
    """Return the pattern for a state right before a name."""
    return re.compile(rf"(?:^|[\s*(])(?P<state>{_states()})\s*[:=]\s*\**\Z")


@cache
def _loud_state() -> re.Pattern[str]:
    """Return the pattern for a state in capitals."""
    spellings = [
        text.upper().replace("_", " ")
        for text, (kind, _) in known.load_opposites().items()
        if text.isascii() and kind == "state done"
    ]
    states = "|".join(sorted(spellings, key=len, reverse=True))
    return re.compile(rf"(?P<not>\bNOT\s)?{_BETWEEN}\b(?P<state>{states})\b")
