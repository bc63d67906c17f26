"""Credentials that are recognised by the words before them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from ricordo.secrets.rules import entropy, rules
from ricordo.secrets.secret import Secret

_REACH = 160
"""Characters before a name in which its value may stand."""
_LONGEST = 40
"""Characters of a name before the word that tells what it is."""
_OF_A_NAME = re.compile(r"""(?<=[_.-])pass|(?<=["'])pass(?=["'](?::|\s?=>))""")
"""The word where it is the end of a name, or a key in quotes."""
_MD5 = 32
"""Digits of the shortest digest, in which many services give out their keys."""
_ASCII_LOWER = {i: i + 32 for i in range(65, 91)}


def announced(text: str) -> Iterator[Secret]:
    """Yield the credentials of `text` that a name before them tells."""
    lowered = text.lower()
    if len(lowered) != len(text):
        # a letter became two, and places would not be the same
        lowered = text.translate(_ASCII_LOWER)
    for match in rules().name.finditer(lowered):
        at = match.end()
        before = re.split(r"[^\w-]", text[max(0, match.start() - _LONGEST) : match.start()])[-1]
        if len(before) == _LONGEST and before.isalnum():
            continue  # the end of a random run
        name = before + text[match.start() : at]
        group = _group(match[0]) or _group_by_rest(lowered, match)
        if group == "pass" and _OF_A_NAME.match(lowered, match.start()):
            group = "password"
        if hit := _after_name(group, name, text[at : at + 2500]):
            start, end = at + hit.start, at + hit.end
            if not _names_something(text, group, match.start(), start, end):
                yield Secret(hit.kind, start, end)
        elif rules().before[group]:
            start = max(0, match.start() - _REACH)
            if hit := _before_name(group, text[start : match.start()]):
                yield Secret(hit.kind, start + hit.start, start + hit.end)


@lru_cache(maxsize=512)  # for texts that say the same again and again
def _after_name(group: str, name: str, rest: str) -> Secret | None:
    for context in rules().contexts[group]:
        match = context.pattern.match(name + rest, len(name))
        if match and (value_group := match.lastgroup):
            bare, start = value_group == "bare", match.start(value_group) - len(name)
            value = _trimmed(match[value_group]) if bare else str(match[value_group])
            if _fits(context.shape, value, name + match["gap"], not bare):
                return Secret(context.kind, start, start + len(value))
    return None


def _names_something(text: str, group: str, name: int, start: int, end: int) -> bool:
    """Return whether what seems to be a value is the id of a thing, or the digest in a mark."""
    guards, value = rules().guards, text[start:end]
    if guards["marked"].fullmatch(value) and text[end : end + 1] == "]":
        return "[verified: " in text[max(0, start - _REACH) : start].rsplit("]", 1)[-1]
    if not guards["id"].match(value):
        return False
    if group == "plain_key":
        return len(value) != _MD5
    return bool(guards["role"].search(text[max(0, name - _REACH // 4) : name].lower()))


def _before_name(group: str, rest: str) -> Secret | None:
    for rule in rules().before[group]:
        match = rule.pattern.search(rest)
        if match and _fits(rule.shape, match["bare"], "", False):
            return Secret(rule.kind, *match.span("bare"))
    return None


@lru_cache(maxsize=1024)
def _group(word: str) -> str:
    names = rules().names.items()
    return next((group for group, pattern in names if pattern.fullmatch(word)), "")


def _group_by_rest(lowered: str, name: re.Match[str]) -> str:
    """Return the group of a name that is one because of what follows it."""
    matches = ((group, it.match(lowered, name.start())) for group, it in rules().names.items())
    return next((group for group, match in matches if match and match.end() == name.end()), "key")


def _trimmed(value: str) -> str:
    """Without the punctuation of the sentence; a bracket stays that was opened inside."""
    while value and (last := value[-1]) in ".,;:?*_|\\)]}":
        if last in _OPENING and value.count(last) <= value.count(_OPENING[last]):
            break
        value = value[:-1]
    return value


def _fits(shape_name: str, value: str, context: str, quoted: bool) -> bool:
    """Whether a value looks like what it is announced to be."""
    known, shape = rules(), rules().shapes[shape_name]
    never = known.words if "words" in shape.guards else frozenset()
    if len(value) < shape.length or value in known.labels or value.lower() in never:
        return False
    for guard in shape.guards - {"words"}:
        if known.guards[guard].search(context if guard == "about" else value[:64]):
            return False
    if shape.accept.fullmatch(value) or (quoted and shape.quoted.fullmatch(value)):
        return entropy(value) >= shape.entropy
    # Words that are strung together as in no sentence.
    words = re.findall(r"[^\W\d_]+", value.lower()) if shape.phrase.fullmatch(value) else []
    if known.function_words.intersection(words) or len(set(words)) <= len(words) // 2:
        return False
    return len(known.words.intersection(words)) <= shape.common


_OPENING = {")": "(", "]": "[", "}": "{"}
