"""Finding credentials: a cheap look, then the formats and the names of the rules."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator

from ricordo.secrets.announced import announced
from ricordo.secrets.first_look import worth_a_look
from ricordo.secrets.formats import cut_off, long_runs, of_format
from ricordo.secrets.known_values import KnownValues
from ricordo.secrets.rules import rules
from ricordo.secrets.secret import Secret
from ricordo.secrets.seed_phrases import SEED_PHRASE, may_hold_phrase, seed_phrases
from ricordo.secrets.unwrapping import unwrapped

_LONG = 90
"""Characters from which on a value may be longer than its rule."""
_REST = re.compile(r"(?:[\w+/=~%-]|[.:](?=[\w+/=~%-]))*")


def find_secrets(text: str) -> list[Secret]:
    """The credentials in `text`, sorted by position, none overlapping another.

    Offsets are those of the value alone, not of the name before it. A value that was recognised
    once is found at every other place too.
    """
    worth = worth_a_look(text)
    if not any(worth):
        return []
    found = _whole(text, _merged(list(_scan(text, *worth))))
    plain, origins = unwrapped(text)
    # what is unwrapped of a phrase that was found is found already
    phrases = worth[2] and all(it.kind != SEED_PHRASE for it in found)
    for kind, start, end in _whole(plain, _merged(list(_scan(plain, True, True, phrases)))):
        found.append(Secret(kind, origins[start], origins[end - 1] + 1))
    kinds = {text[start:end]: kind for kind, start, end in reversed(_merged(found))}
    places = KnownValues(kinds).places(text)
    found += [Secret(kinds[text[start:end]], start, end) for start, end in places]
    return _merged(found)


def mask(text: str) -> str:
    """`text` with each credential replaced by `[secret: KIND]`, the rest left as it is."""
    parts, at = [], 0
    for kind, start, end in find_secrets(text):
        parts += [text[at:start], f"[secret: {kind}]"]
        at = end
    return "".join(parts) + text[at:]


def _scan(text: str, tokens: bool, names: bool, phrases: bool) -> Iterator[Secret]:
    if tokens:
        runs = long_runs(text)
        yield from of_format(text, runs)
        yield from _encoded(text, runs)
        yield from cut_off(text)
    if names:
        yield from announced(text)
    if phrases:
        yield from seed_phrases(text)


def _encoded(text: str, runs: list[tuple[int, int]]) -> Iterator[Secret]:
    """Base64 that hides a credential; all of it is the value."""
    for run in runs:
        for match in rules().pieces["base64"].finditer(text, *run):
            inside = _decoded(match[0])
            phrases = may_hold_phrase(inside.encode())
            if hidden := next(_scan(inside, True, True, phrases), None):
                yield Secret(hidden.kind, *match.span())


def _decoded(run: str) -> str:
    body = run.rstrip("=").replace("-", "+").replace("_", "/")
    inside = base64.b64decode(body[: len(body) // 4 * 4]).decode("ascii", "replace")
    return inside if re.fullmatch(r"[\r\n\t -~]*", inside) else ""


def _whole(text: str, found: list[Secret]) -> list[Secret]:
    """What was found, by position, each to the end of its run: of a long value a rule looks at the
    beginning alone.
    """
    whole: list[Secret] = []
    for hit in found:
        if whole and hit.start < whole[-1].end:
            if hit.end <= whole[-1].end:
                continue
            hit = whole.pop()._replace(end=hit.end)
        rest = _REST.match(text, hit.end) if hit.end - hit.start >= _LONG else None
        whole.append(hit._replace(end=rest.end()) if rest else hit)
    return whole


def _merged(found: list[Secret]) -> list[Secret]:
    """By position; those that overlap become one, of the kind that was found first."""
    merged: list[tuple[int, Secret]] = []
    for rank, hit in sorted(enumerate(found), key=lambda item: item[1][1:]):
        if merged and hit.start < merged[-1][1].end:
            before, last = merged.pop()
            kind = hit.kind if rank < before else last.kind
            hit, rank = Secret(kind, last.start, max(last.end, hit.end)), min(rank, before)
        merged.append((rank, hit))
    return [hit for _, hit in merged]
