"""Redaction: what leaves for a model, a program, a handoff or another agent leaves through here.

A `Redaction` lives as long as one run. It puts placeholders in the place of secrets, the same for
the same value wherever it stands, and brings them back in what is answered. The values are held in
this process alone: they are in no `repr`, and a redaction cannot be written down.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import NewType, NoReturn

from ricordo.errors import ChangeRefused
from ricordo.secrets import KnownValues, Secret, find_secrets, mask
from ricordo.text import clip, one_line

LIKE = re.compile(r"\[ ?REDACTED(?:\b[^\[\]\n]{0,80}\])?", re.IGNORECASE)
"""Whatever could be taken for a placeholder, by us or by a model."""
GIVEN_OUT = re.compile(r"\[REDACTED:([\w-]+):\d+\]")
"""What `placeholder` makes, with its kind."""


def placeholder(kind: str, number: int) -> str:
    """Return what stands in the place of value `number`, which looks like a `kind` of secret."""
    return f"[REDACTED:{kind}:{number}]"


_SIZE = 12
"""Bytes."""


def fingerprint(key: bytes, value: str) -> str:
    """Return what names `value` for those who hold `key`, as 24 characters; without the key no
    guess can be tried against it, however few values there are to guess from.
    """
    raw = value.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(raw, key=key, digest_size=_SIZE).hexdigest()


_USER = re.compile(r"^((?:[^/@]*:)?/+|)[^/]*@")
"""A scheme, and who asks; an address may be no URL, and is to be told all the same."""


def shown_address(url: str) -> str:
    """Return `url` in one line, without what may stand in it besides where it leads: user and
    password, query, anything else that looks like a credential. "" for "".
    """
    at = re.split("[?#]", url, maxsplit=1)[0]
    return mask(one_line(_USER.sub(r"\1", at)))


Sealed = NewType("Sealed", str)
"""A text that may leave. Only a `Redaction` makes one, and whatever sends takes nothing else."""

LONGEST = 1_000_000
"""Characters of a text that is looked at; a longer one leaves as a single placeholder."""
TOO_LONG = "text-too-long"
SAID = "text"
"""The kind of what a source says in the manner of a placeholder; it is no secret."""
_ROUNDS = 3
"""How often it is looked at what was left between placeholders."""


@dataclass(frozen=True, slots=True)
class Redacted:
    """A value that was kept back, as the person is told of it."""

    kind: str
    name: str
    """Its placeholder."""
    fingerprint: str
    """By it the value can be allowed."""
    places: tuple[str, ...]
    """Where it stands: paths of notes, turns of transcripts; none where only the texts put
    together looked like a secret.
    """
    count: int
    """How often its placeholder left."""


class Redaction:
    """What is kept back in one run."""

    def __init__(self, key: bytes = b"", allowed: Collection[str] = ()) -> None:
        """`allowed` are the fingerprints, made with `key`, of values that may leave. Without a
        key no fingerprint means anything outside of this run.
        """
        self._key = key or os.urandom(32)
        self._allowed = frozenset(allowed)
        self._names: dict[str, str] = {}
        """Placeholders by value."""
        self._values: dict[str, str] = {}
        """Values by placeholder."""
        self._kinds: dict[str, str] = {}
        self._known = KnownValues()
        self._seen: dict[str, list[Secret]] = {}
        """What was found, by text."""
        self._places: dict[str, dict[str, None]] = {}
        """By placeholder, where its value stands, in the order of finding."""
        self._left: Counter[str] = Counter()
        """How often each placeholder left."""

    def learn(self, texts: Iterable[str]) -> None:
        """Look for secrets in all `texts` before the first of them is redacted: what one of them
        tells to be a secret is one in all the others.
        """
        for text in texts:
            for found in self._found(text):
                self._name(found.kind, text[found.start : found.end])

    def redact(self, place: str, text: str) -> str:
        """Return `text`, which stands at `place`, with placeholders for its secrets."""
        return self._redacted(place, text, _ROUNDS)

    def adopt(self, text: str) -> None:
        """Let the placeholders stand that an earlier run put into `text`: nothing comes back for
        them, and their kinds stay known.
        """
        for match in GIVEN_OUT.finditer(text):
            name = match[0]
            if name not in self._values:
                self._names[name], self._values[name], self._kinds[name] = name, name, match[1]
                self._places[name] = {}

    def sealed(self, text: str) -> Sealed:
        """Return a text that was put together from redacted ones as it may leave. What looks like
        a secret only now, or is known to be one by now, is kept back here.
        """
        whole = self._between("", text, _ROUNDS)
        self._left.update(it for it in _pieces(whole) if it in self._values)
        return Sealed(whole)

    def restored(self, text: str, places: Collection[str]) -> str:
        """Return an answered `text`, which is meant for `places`, with the values in their place.

        Raises ChangeRefused where it holds what was not given out, or was given for other places.
        """
        return LIKE.sub(lambda match: self._value(match[0], places), text)

    def line_of_source(self, redacted: str, line: int) -> int:
        """Return which line of a source is line `line`, 1-based, of what became of it: a value
        of several lines stands in one.
        """
        head = "\n".join(redacted.split("\n")[:line])
        values = (self._values.get(match[0], "") for match in LIKE.finditer(head))
        return line + sum(value.count("\n") for value in values)

    def told(self) -> tuple[Redacted, ...]:
        """Return what was kept back of all that left, in the order of finding."""
        return self._told(self._left)

    def foreseen(self, *texts: str) -> tuple[str, tuple[Redacted, ...]]:
        """Return what `texts` would be if each were sealed, put together, and what would be kept
        back, in the order of finding. Nothing counts as having left.
        """
        whole = "".join(self._between("", text, _ROUNDS) for text in texts)
        return whole, self._told(Counter(it for it in _pieces(whole) if it in self._values))

    def _told(self, counts: Mapping[str, int]) -> tuple[Redacted, ...]:
        return tuple(
            Redacted(
                self._kinds[name],
                name,
                fingerprint(self._key, value),
                tuple(filter(None, self._places[name])),
                counts[name],
            )
            for name, value in self._values.items()
            if counts.get(name) and self._kinds[name] != SAID
        )

    def _found(self, text: str) -> list[Secret]:
        if text not in self._seen:
            found = [Secret(TOO_LONG, 0, len(text))] if len(text) > LONGEST else find_secrets(text)
            self._seen[text] = [it for it in found if not self._may_leave(text[it.start : it.end])]
        return self._seen[text]

    def _may_leave(self, value: str) -> bool:
        return bool(self._allowed) and fingerprint(self._key, value) in self._allowed

    def _said(self, text: str) -> Iterator[Secret]:
        return (Secret(SAID, *match.span()) for match in LIKE.finditer(text))

    def _known_in(self, text: str) -> Iterator[Secret]:
        if len(text) > LONGEST:
            return
        for start, end in self._known.places(text):
            yield Secret(self._kinds[self._names[text[start:end]]], start, end)

    def _name(self, kind: str, value: str) -> str:
        """Return the placeholder of a value, which gets one where it has none."""
        if value not in self._names:
            name = self._free(kind)
            self._names[value], self._values[name], self._kinds[name] = name, value, kind
            if kind not in (SAID, TOO_LONG):
                self._known.add(value)
        return self._names[value]

    def _free(self, kind: str) -> str:
        names = (placeholder(kind, number) for number in count(len(self._names) + 1))
        return next(name for name in names if name not in self._values)

    def _redacted(self, place: str, text: str, rounds: int) -> str:
        known = self._known_in(text) if rounds == _ROUNDS else ()
        found = _joined([*self._found(text), *self._said(text), *known])
        if not found or not rounds:
            return text
        parts: list[str] = []
        at = 0
        for kind, start, end in found:
            name = self._name(kind, text[start:end])
            self._places.setdefault(name, {})[place] = None
            parts += [text[at:start], name]
            at = end
        # what stands beside a placeholder may look like a secret by itself now
        return self._between(place, "".join([*parts, text[at:]]), rounds - 1)

    def _between(self, place: str, text: str, rounds: int) -> str:
        """Return `text` with all redacted that is none of our placeholders."""
        pieces = _pieces(text)
        return "".join(
            it if it in self._values else self._redacted(place, it, rounds) for it in pieces
        )

    def _value(self, name: str, places: Collection[str]) -> str:
        shown = clip(one_line(name), 40)
        if not self._left[name]:
            raise ChangeRefused(f"{shown} was never given out.")
        if not self._places[name].keys() & set(places):
            raise ChangeRefused(f"{shown} stands for something in another place.")
        return self._values[name]

    def __repr__(self) -> str:
        return f"<Redaction of {len(self._values)} values>"

    def __getstate__(self) -> NoReturn:
        raise TypeError("A redaction holds secrets and is not written down.")


def framed(before: str, texts: Iterable[Sealed], after: str = "") -> Sealed:
    """Return sealed texts as one that may leave, between words of our own."""
    return Sealed("".join((before, *texts, after)))


def _joined(found: Iterable[Secret]) -> list[Secret]:
    """Return what was found by position; those that overlap become one, of the first's kind."""
    joined: list[Secret] = []
    for it in sorted(found, key=lambda it: (it.start, -it.end)):
        if joined and it.start < joined[-1].end:
            last = joined[-1]
            joined[-1] = last._replace(end=max(last.end, it.end))
        else:
            joined.append(it)
    return joined


_PIECES = re.compile(f"({LIKE.pattern})", LIKE.flags)


def _pieces(text: str) -> list[str]:
    """Return what looks like a placeholder, and what stands between."""
    return [it for it in _PIECES.split(text) if it]
