"""Credentials that are recognised by their format, or by the name before or behind them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from string import ascii_letters, digits

from ricordo.patterns import compile_lazily
from ricordo.secrets.rules import (
    BETWEEN_RULES,
    LOOKAHEAD,
    SHORTEST,
    Secret,
    compute_entropy,
    load_rules,
)

_LINE = 120
"""Characters."""
_PRIVATE = "private-key"
_SHORTEST_KEY = 40
"""Letters and digits: the shortest private keys have 64, and examples a word."""
_KEY_BEGIN = compile_lazily(r"-----BEGIN[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOCK)?-----\s*\Z")
_KEY_MARK = compile_lazily(r"-----(?:BEGIN|END)[^\n-]{0,60}-----")
_BEGIN = compile_lazily(LOOKAHEAD)
_OF_FORMAT = bytes(
    ord("x" if i > 127 or chr(i) in f"{ascii_letters}{digits}_.:/$%=|~+-?" else " ")
    for i in range(256)
)
"""For Latin 1, in which `?` also replaces every character outside of it."""


def find_by_format(text: str, runs: list[tuple[int, int]]) -> Iterator[Secret]:
    """Yield the credentials of `text` that have a known format; `runs` are its long words."""
    known = load_rules()
    for match in _find_formats(text, runs):
        index = (match.lastgroup or "")[1:]
        rule = known.tokens[int(index)]
        start, end = match.span(f"{'v' if 'group' in rule else 't'}{index}")
        value = text[start:end]
        is_example = rule["kind"] == _PRIVATE and _is_example(value)
        if known.guards["filler"].search(value) or is_example:
            continue
        if compute_entropy(value) >= rule.get("entropy", 1.5):
            yield Secret(rule["kind"], start, end)


def _is_example(key: str) -> bool:
    """Return whether a whole private key, with its marks or without, has only a few letters."""
    marks = _KEY_MARK.findall(key)
    is_whole = not marks or len(marks) > 1
    return is_whole and sum(map(str.isalnum, _KEY_MARK.sub("", key))) < _SHORTEST_KEY


def find_cut_off_keys(text: str) -> Iterator[Secret]:
    """Yield private keys of which only the last lines are in `text`."""
    pieces = load_rules().pieces
    for end in pieces["key_end"].finditer(text):
        first = last = _find_line_start(text, end.start())
        while first > 0:
            line = _find_line_start(text, first - 1)
            if not pieces["key_line"].fullmatch(text, line, first - 1):
                break
            first = line
        is_begun = _KEY_BEGIN.search(text, max(0, first - _LINE), first) is not None
        if first < last and not (is_begun and _is_example(text[first:last])):
            yield Secret(_PRIVATE, first, end.end())


def _find_line_start(text: str, at: int) -> int:
    """Return where the line of `at` starts; a line of a key is never longer than `_LINE`."""
    return text.rfind("\n", max(0, at - _LINE), at) + 1


def _find_formats(text: str, runs: list[tuple[int, int]]) -> Iterator[re.Match[str]]:
    """Yield the places of `text` that match any format, none overlapping another."""
    token = load_rules().token
    if BETWEEN_RULES in text:
        yield from token.finditer(text)
        return
    at = 0
    for run in runs:
        if text.startswith(_EMBEDDED, run[0] - len(_EMBEDDED)):
            continue
        is_data = bool(_DATA.fullmatch(text, *run))
        for begin in _BEGIN.finditer(text, *run):
            if is_data and begin.start() > run[0]:
                break
            if begin.start() >= at and (match := token.match(text, begin.start())):
                at = match.end()
                yield match


def find_long_runs(text: str) -> list[tuple[int, int]]:
    """Return start and end of the words that are long enough for a format; most are not."""
    # every character as one byte, so that offsets stay
    marked = text.encode("latin-1", "replace").translate(_OF_FORMAT)
    runs: list[tuple[int, int]] = []
    end = 0
    while (start := marked.find(b"x" * SHORTEST, end)) >= 0:
        end = marked.find(b" ", start)
        end = end if end >= 0 else len(marked)
        runs.append((start, end))
    return runs


_EMBEDDED = ";base64,"
"""The end of the head of an address that holds a picture: among so many characters any format is
found by chance.
"""
_DATA = compile_lazily(r"[A-Za-z0-9+/]{200,}={0,2}")
"""Data without such a head, or a line of it, in which only the beginning may be a credential."""
_REACH = 160
"""Characters before a name in which its value may be."""
_LONGEST = 40
"""Characters of a name before the word that shows what it is."""
_OF_A_NAME = compile_lazily(
    r"""(?<=[_.])pass|(?<=-)pass(?=["'`]?\s?[:=])|(?<=["'])pass(?=["'](?::|\s?=>))"""
)
"""The word where it is the end of a name, or a key in quotes."""
_COUNTED = compile_lazily("tokens?|トークン|토큰")
"""Names of credentials that are units of text too, in small letters."""
_MD5 = 32
"""Digits of the shortest digest, the form in which many services give out their keys."""
_PLACEHOLDER_END = compile_lazily(r" ?[>}\]]{1,2}@")
_ADDRESS = compile_lazily(r"://\S*[<{\[] ?[\w-]*\Z")
_ASCII_LOWER = {i: i + 32 for i in range(65, 91)}


def find_by_name(text: str) -> Iterator[Secret]:
    """Yield the credentials of `text` that a name before or behind them shows."""
    lowered = text.lower()
    if len(lowered) != len(text):
        # a letter became two, and offsets would differ
        lowered = text.translate(_ASCII_LOWER)
    for match in load_rules().name.finditer(lowered):
        at = match.end()
        before = re.split(r"[^\w-]", text[max(0, match.start() - _LONGEST) : match.start()])[-1]
        if len(before) == _LONGEST and before.isalnum():
            continue  # the end of a random run
        if _PLACEHOLDER_END.match(text, at) and _ADDRESS.search(text[max(0, at - _REACH) : at]):
            continue  # `postgres://<USER>:<PASSWORD>@host`: a host follows
        if _COUNTED.match(match[0]) and load_rules().guards["count"].search(
            text[max(0, match.start() - _REACH // 4) : match.start()]
        ):
            continue
        if load_rules().guards["site"].search(text[max(0, at - _LONGEST) : at]):
            continue
        name = before + text[match.start() : at]
        group = _group_of(match[0]) or _group_by_rest(lowered, match)
        if group == "pass" and _OF_A_NAME.match(lowered, match.start()):
            group = "password"
        if hit := _find_after_name(group, name, text[at : at + 2500]):
            start, end = at + hit.start, at + hit.end
            if not _is_identifier(text, group, match.start(), start, end):
                yield Secret(hit.kind, start, end)
        elif load_rules().before[group]:
            start = max(0, match.start() - _REACH)
            if hit := _find_before_name(group, text[start : match.start()]):
                yield Secret(hit.kind, start + hit.start, start + hit.end)


@lru_cache(maxsize=512)  # for texts that repeat themselves
def _find_after_name(group: str, name: str, rest: str) -> Secret | None:
    for context in load_rules().contexts[group]:
        match = context.pattern.match(name + rest, len(name))
        if match and (value_group := match.lastgroup):
            bare, start = value_group == "bare", match.start(value_group) - len(name)
            value = _trim(match[value_group]) if bare else str(match[value_group])
            if _fits(context.shape, value, name + match["gap"], not bare):
                return Secret(context.kind, start, start + len(value))
    return None


def _is_identifier(text: str, group: str, name: int, start: int, end: int) -> bool:
    """Return whether what seems to be a value is the id of a thing, or the digest in a mark."""
    guards, value = load_rules().guards, text[start:end]
    if group == "credentials" and guards["signed"].match(text, end):
        return True
    if guards["marked"].fullmatch(value) and text[end : end + 1] == "]":
        return "[verified: " in text[max(0, start - _REACH) : start].rsplit("]", 1)[-1]
    if not guards["id"].match(value):
        return False
    if group == "plain_key":
        return len(value) != _MD5
    return bool(guards["role"].search(text[max(0, name - _REACH // 4) : name].lower()))


def _find_before_name(group: str, rest: str) -> Secret | None:
    for rule in load_rules().before[group]:
        match = rule.pattern.search(rest)
        if match and _fits(rule.shape, match["bare"], "", False):
            return Secret(rule.kind, *match.span("bare"))
    return None


@lru_cache(maxsize=1024)
def _group_of(word: str) -> str:
    names = load_rules().names.items()
    return next((group for group, pattern in names if pattern.fullmatch(word)), "")


def _group_by_rest(lowered: str, name: re.Match[str]) -> str:
    """Return the group of a name that is one because of what follows it."""
    matches = (
        (group, pattern.match(lowered, name.start()))
        for group, pattern in load_rules().names.items()
    )
    return next((group for group, match in matches if match and match.end() == name.end()), "key")


def _trim(value: str) -> str:
    """Return a value without the punctuation of its sentence; a bracket opened inside stays."""
    while value and (last := value[-1]) in ".,;:?*_|\\)]}":
        if last in _OPENING and value.count(last) <= value.count(_OPENING[last]):
            break
        value = value[:-1]
    return value


def _fits(shape_name: str, value: str, context: str, quoted: bool) -> bool:
    """Whether a value looks like what its name says."""
    known, shape = load_rules(), load_rules().shapes[shape_name]
    never = known.words if "words" in shape.guards else frozenset()
    if len(value) < shape.length or value in known.labels or value.lower() in never:
        return False
    for guard in shape.guards - {"words"}:
        if known.guards[guard].search(context if guard == "about" else value[:64]):
            return False
    if shape.accept.fullmatch(value) or (quoted and shape.quoted.fullmatch(value)):
        return compute_entropy(value) >= shape.entropy
    # Words that are strung together as in no sentence.
    words = re.findall(r"[^\W\d_]+", value.lower()) if shape.phrase.fullmatch(value) else []
    if known.function_words.intersection(words) or len(set(words)) <= len(words) // 2:
        return False
    return len(known.words.intersection(words)) <= shape.common


_OPENING = {")": "(", "]": "[", "}": "{"}
