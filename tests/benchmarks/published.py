"""Published examples of credentials, by people who never saw our rules; read, never copied.

The rules of Nosey Parker (github.com/praetorian-inc/noseyparker) and Kingfisher
(github.com/mongodb/kingfisher) are YAML files, each rule with a pattern and with examples. An
example holds a credential where its own pattern captures it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

_TELLS = re.compile(r"secret|key|token|pass|credential|uri|dsn|connection|webhook|auth", re.I)
_OTHER = re.compile(
    r"\b(?:ids?|urls?|host(?:name)?|(?:sub)?domain|user(?:name)?|email|endpoint|identifier|arn|hash"
    r"|fingerprint|public|publishable|region|account|project|tenant|name|workspace|instance)\b",
    re.I,
)
"""What a rule finds beside credentials, by its name."""
_IN_ADDRESS = re.compile(r"://[^/:@\s]*:(\S+)@")
_AROUND = "=:-_. \t\n\"'"
"""What a pattern captures around a value."""
_ORDERS = ("abcdefghijklmnopqrstuvwxyz", "01234567890", "zyxwvutsrqponmlkjihgfedcba", "qwertyuiop")
_IN_ORDER = frozenset(order[i : i + 8] for order in _ORDERS for i in range(len(order) - 7))
_STANDS = re.compile(
    r"(.)\1{6,}|^(.{1,8})\2{2,}|^[$%{#\"]|your|fake|example|^my|placeholder|some_"
    r"|^(?:secret|password|admin|localhost)$"
)


class Example(NamedTuple):
    """A published text."""

    text: str
    spans: tuple[tuple[int, int], ...]
    """What the pattern captures: the credential, or a user and a host beside it."""

    @property
    def is_random(self) -> bool:
        """Whether the value is like one that is given out, and none that stands for one: a
        repeated character, an alphabet, a variable, the word `password`.
        """
        return not all(_stands_for_one(self.text[start:end]) for start, end in self.spans)


def examples(folder: Path) -> Iterator[Example]:
    """Yield the examples of the rules beneath `folder` that are about credentials."""
    for rule in _rules(folder):
        try:
            pattern = re.compile(rule["pattern"])
        except re.error:
            continue
        for text in map(str, rule["examples"]):
            if match := pattern.search(text):
                yield Example(text, tuple(_spans(match)))


def _rules(folder: Path) -> Iterator[dict[str, Any]]:
    for path in sorted(folder.rglob("*.yml")):
        try:
            read = yaml.safe_load(path.read_text("utf-8"))
        except yaml.YAMLError:
            continue
        for rule in (read.get("rules") or []) if isinstance(read, dict) else []:
            if isinstance(rule, dict) and rule.get("examples") and _is_of_secret(rule):
                yield rule


def _is_of_secret(rule: dict[str, Any]) -> bool:
    name, categories = str(rule.get("name")), rule.get("categories") or ["secret"]
    is_other = _OTHER.search(name) and not re.search("secret|token|password|private", name, re.I)
    return bool(_TELLS.search(name)) and not is_other and "secret" in categories


def _spans(match: re.Match[str]) -> Iterator[tuple[int, int]]:
    named = "TOKEN" if match.groupdict().get("TOKEN") else None
    groups = [number for number in range(1, (match.lastindex or 0) + 1) if match[number]]
    for group in [named] if named else groups or [0]:
        start, end = match.span(group)
        if address := _IN_ADDRESS.search(match.string, start, end):
            start, end = address.span(1)
        while start < end and match.string[start] in _AROUND:
            start += 1
        while start < end and match.string[end - 1] in _AROUND:
            end -= 1
        yield start, end


def _stands_for_one(value: str) -> bool:
    folded = value.lower()
    return (
        len(set(folded)) < 7
        or bool(_STANDS.search(folded))
        or any(run in folded for run in _IN_ORDER)
    )
