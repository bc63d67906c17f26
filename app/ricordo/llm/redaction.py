"""Redaction of everything that is sent to a model, a program, a handoff or another agent.

A `Redaction` lives for one run. It replaces each secret by a placeholder, the same for the same
value everywhere, and restores the values in the answer. They exist only in this process: no `repr`
shows them, and a redaction cannot be pickled.
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
from ricordo.text import clip, make_one_line

PLACEHOLDER_LIKE = re.compile(r"\[ ?REDACTED(?:\b[^\[\]\n]{0,80}\])?", re.IGNORECASE)
"""Matches whatever could be taken for a placeholder, by Ricordo or by a model."""
PLACEHOLDER = re.compile(r"\[REDACTED:([\w-]+):\d+\]")
"""Matches a result of `placeholder`; group 1 is its kind."""


def make_placeholder(kind: str, number: int) -> str:
    """Return the placeholder of value `number`, which looks like a `kind` of secret."""
    return f"[REDACTED:{kind}:{number}]"


_SIZE = 12
"""Bytes."""


def compute_fingerprint(key: bytes, value: str) -> str:
    """Return a keyed digest of `value`, 24 characters. Without `key` nobody can test a guess,
    however few possible values there are.
    """
    raw = value.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(raw, key=key, digest_size=_SIZE).hexdigest()


_USER = re.compile(r"^((?:[^/@]*:)?/+|)[^/]*@")
"""The user part behind an optional scheme; the address need not be a valid URL."""


def mask_address(url: str) -> str:
    """Return `url` in one line without credentials: no user, password or query, and anything else
    that looks like a secret masked. "" for "".
    """
    at = re.split("[?#]", url, maxsplit=1)[0]
    return mask(make_one_line(_USER.sub(r"\1", at)))


Sealed = NewType("Sealed", str)
"""A text that may be sent. Only a `Redaction` makes one, and senders accept nothing else."""

MAX_TEXT = 1_000_000
"""Characters of the longest text that is searched; a longer one is sent as one placeholder."""
TOO_LONG = "text-too-long"
QUOTED = "text"
"""The kind of text in a source that looks like a placeholder; it is not a secret."""
_ROUNDS = 3
"""How often the text between placeholders is searched again."""


@dataclass(frozen=True, slots=True)
class RedactedValue:
    """A redacted value, as shown to the user."""

    kind: str
    name: str
    """Its placeholder."""
    fingerprint: str
    """Identifies the value when the user allows it."""
    places: tuple[str, ...]
    """Where it occurs: paths of notes, messages of transcripts; none where only the combined text
    looked like a secret.
    """
    count: int
    """How often its placeholder was sent."""


class Redaction:
    """The redacted values of one run."""

    def __init__(self, key: bytes = b"", allowed: Collection[str] = ()) -> None:
        """`allowed` are the fingerprints, made with `key`, of values that may be sent. Without a
        key the fingerprints are valid in this run only.
        """
        self._key = key or os.urandom(32)
        self._allowed = frozenset(allowed)
        self._names: dict[str, str] = {}
        """Placeholders by value."""
        self._values: dict[str, str] = {}
        """Values by placeholder."""
        self._kinds: dict[str, str] = {}
        self._known = KnownValues()
        self._found: dict[str, list[Secret]] = {}
        """Secrets found, by text."""
        self._places: dict[str, dict[str, None]] = {}
        """Where the value of each placeholder occurs, in the order of finding."""
        self._sent: Counter[str] = Counter()
        """How often each placeholder was sent."""

    def learn(self, texts: Iterable[str]) -> None:
        """Find the secrets of all `texts` before the first of them is redacted: a value that one
        text shows to be a secret is redacted in all others too.
        """
        for text in texts:
            for secret in self._find(text):
                self._name(secret.kind, text[secret.start : secret.end])

    def redact(self, place: str, text: str) -> str:
        """Return `text`, found at `place`, with placeholders for its secrets."""
        return self._redact(place, text, _ROUNDS)

    def adopt(self, text: str) -> None:
        """Keep the placeholders that an earlier run put into `text`: they are restored as they are,
        and their kinds stay known.
        """
        for match in PLACEHOLDER.finditer(text):
            name = match[0]
            if name not in self._values:
                self._names[name], self._values[name], self._kinds[name] = name, name, match[1]
                self._places[name] = {}

    def seal(self, text: str) -> Sealed:
        """Return a text composed of redacted ones so that it may be sent. What looks like a secret
        only in the combined text, or became known as one since, is redacted here.
        """
        whole = self._redact_between("", text, _ROUNDS)
        self._sent.update(piece for piece in _split(whole) if piece in self._values)
        return Sealed(whole)

    def restore(self, text: str, places: Collection[str]) -> str:
        """Return `text` of an answer, meant for `places`, with its placeholders replaced by values.

        Raises ChangeRefused for a placeholder that was never sent, or belongs to other places.
        """
        return PLACEHOLDER_LIKE.sub(lambda match: self._value(match[0], places), text)

    def find_source_line(self, redacted: str, line: int) -> int:
        """Return the line of the source for line `line`, 1-based, of its redacted text: the
        placeholder of a value of several lines takes one line.
        """
        beginning = "\n".join(redacted.split("\n")[:line])
        values = (self._values.get(match[0], "") for match in PLACEHOLDER_LIKE.finditer(beginning))
        return line + sum(value.count("\n") for value in values)

    def list_redacted(self) -> tuple[RedactedValue, ...]:
        """Return the redacted values of everything that was sent, in the order of finding."""
        return self._list(self._sent)

    def preview(self, *texts: str) -> tuple[str, tuple[RedactedValue, ...]]:
        """Return the `texts` as they would be sent, concatenated, and the values that would be
        redacted, in the order of finding. Nothing counts as sent.
        """
        whole = "".join(self._redact_between("", text, _ROUNDS) for text in texts)
        counts = Counter(piece for piece in _split(whole) if piece in self._values)
        return whole, self._list(counts)

    def _list(self, counts: Mapping[str, int]) -> tuple[RedactedValue, ...]:
        return tuple(
            RedactedValue(
                self._kinds[name],
                name,
                compute_fingerprint(self._key, value),
                tuple(filter(None, self._places[name])),
                counts[name],
            )
            for name, value in self._values.items()
            if counts.get(name) and self._kinds[name] != QUOTED
        )

    def _find(self, text: str) -> list[Secret]:
        if text not in self._found:
            if len(text) > MAX_TEXT:
                secrets = [Secret(TOO_LONG, 0, len(text))]
            else:
                secrets = find_secrets(text)
            self._found[text] = [
                secret
                for secret in secrets
                if not self._is_allowed(text[secret.start : secret.end])
            ]
        return self._found[text]

    def _is_allowed(self, value: str) -> bool:
        return bool(self._allowed) and compute_fingerprint(self._key, value) in self._allowed

    def _find_quoted(self, text: str) -> Iterator[Secret]:
        return (Secret(QUOTED, *match.span()) for match in PLACEHOLDER_LIKE.finditer(text))

    def _find_known(self, text: str) -> Iterator[Secret]:
        if len(text) > MAX_TEXT:
            return
        for start, end in self._known.find_places(text):
            yield Secret(self._kinds[self._names[text[start:end]]], start, end)

    def _name(self, kind: str, value: str) -> str:
        """Return the placeholder of a value; make one where it has none."""
        if value not in self._names:
            name = self._make_free_name(kind)
            self._names[value], self._values[name], self._kinds[name] = name, value, kind
            if kind not in (QUOTED, TOO_LONG):
                self._known.add(value)
        return self._names[value]

    def _make_free_name(self, kind: str) -> str:
        names = (make_placeholder(kind, number) for number in count(len(self._names) + 1))
        return next(name for name in names if name not in self._values)

    def _redact(self, place: str, text: str, rounds: int) -> str:
        known = self._find_known(text) if rounds == _ROUNDS else ()
        secrets = _merge_overlaps([*self._find(text), *self._find_quoted(text), *known])
        if not secrets or not rounds:
            return text
        parts: list[str] = []
        at = 0
        for kind, start, end in secrets:
            name = self._name(kind, text[start:end])
            self._places.setdefault(name, {})[place] = None
            parts += [text[at:start], name]
            at = end
        # the text beside a placeholder may look like a secret by itself now
        return self._redact_between(place, "".join([*parts, text[at:]]), rounds - 1)

    def _redact_between(self, place: str, text: str, rounds: int) -> str:
        """Return `text` redacted everywhere but in Ricordo's placeholders."""
        return "".join(
            piece if piece in self._values else self._redact(place, piece, rounds)
            for piece in _split(text)
        )

    def _value(self, name: str, places: Collection[str]) -> str:
        shown = clip(make_one_line(name), 40)
        if not self._sent[name]:
            raise ChangeRefused(f"{shown} is a placeholder that was never sent.")
        if not self._places[name].keys() & set(places):
            raise ChangeRefused(f"{shown} is a placeholder from another place.")
        return self._values[name]

    def __repr__(self) -> str:
        return f"<Redaction of {len(self._values)} values>"

    def __getstate__(self) -> NoReturn:
        raise TypeError("A redaction holds secrets and cannot be pickled.")


def frame(before: str, texts: Iterable[Sealed], after: str = "") -> Sealed:
    """Return sealed texts as one, between fixed texts of Ricordo's."""
    return Sealed("".join((before, *texts, after)))


def _merge_overlaps(secrets: Iterable[Secret]) -> list[Secret]:
    """Return secrets by position; those that overlap become one, of the kind of the first."""
    merged: list[Secret] = []
    for secret in sorted(secrets, key=lambda secret: (secret.start, -secret.end)):
        if merged and secret.start < merged[-1].end:
            last = merged[-1]
            merged[-1] = last._replace(end=max(last.end, secret.end))
        else:
            merged.append(secret)
    return merged


_PIECES = re.compile(f"({PLACEHOLDER_LIKE.pattern})", PLACEHOLDER_LIKE.flags)


def _split(text: str) -> list[str]:
    """Return the pieces of `text` that look like a placeholder, and those between them."""
    return [piece for piece in _PIECES.split(text) if piece]
