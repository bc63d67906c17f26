"""The rules of what a credential looks like: `rules.toml` with its patterns compiled."""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import cache, cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import tomli

from ricordo.patterns import compile_lazily
from ricordo.resources import read_data_text

BETWEEN_RULES = "-----"
"""How a key begins whose format holds blanks."""
SHORTEST = 16
"""Characters of the shortest of the other formats."""
LOOKAHEAD = rf"(?:(?={BETWEEN_RULES})|(?<![A-Za-z0-9+])(?=[\w.:/$%=|~+-]{{{SHORTEST}}}))"
"""A lookahead that rules out nearly every word, because it is too short for any format."""


class Shape(NamedTuple):
    """How a value with a name must look; see `rules.toml`."""

    length: int
    entropy: float
    guards: frozenset[str]
    accept: re.Pattern[str]
    quoted: re.Pattern[str]
    phrase: re.Pattern[str]
    common: int
    """The most words of a phrase that are never a password by themselves."""


class NamedContext:
    """A kind of credential with a name before it, and how it follows the name."""

    def __init__(self, rule: dict[str, Any]) -> None:
        self._rule = rule
        self.kind: str = rule["kind"]
        self.after: list[str] = rule["after"]
        self.shape: str = rule["shape"]

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The compiled pattern."""
        return re.compile(_expand(self._rule, "value"), re.IGNORECASE)


class ContextRule:
    """A kind of credential with its name behind it."""

    def __init__(self, rule: dict[str, Any]) -> None:
        self.kind: str = rule["kind"]
        self.names: list[str] = rule["before"]
        self.shape: str = rule["shape"]
        self.pattern = compile_lazily(rule["pattern"])


@cache
def load_data() -> dict[str, Any]:
    """Return the data of `rules.toml`."""
    return tomli.loads(read_data_text("secrets/rules.toml"))


class SecretRules:
    """The data with its patterns. All are compiled on first use: most memories have few of the
    names, and compiling all takes a tenth of a second.
    """

    def __init__(self, data: dict[str, Any]) -> None:
        self.tokens: list[dict[str, Any]] = data["token"]
        formats = [f"(?P<t{i}>{_expand(t, f'v{i}')})" for i, t in enumerate(self.tokens)]
        self.token = compile_lazily(f"{LOOKAHEAD}(?:{'|'.join(formats)})")
        self.name = _by_first_letter([name for names in data["names"].values() for name in names])
        self.names = {str(name): _union(parts) for name, parts in data["names"].items()}
        self.shapes = {name: _shape(shape) for name, shape in data["shapes"].items()}
        contexts = [NamedContext(rule) for rule in data["context"]]
        self.contexts = {
            name: [context for context in contexts if name in context.after] for name in self.names
        }
        self.before = {
            name: [rule for rule in map(ContextRule, data["before"]) if name in rule.names]
            for name in self.names
        }
        named = {rule["kind"] for rule in (*data["context"], *data["before"])}
        self.own_formats = frozenset(rule["kind"] for rule in self.tokens) - named
        """The kinds that are recognised by their format alone."""
        self.guards = {key: _union(parts) for key, parts in data["guards"].items()}
        self.pieces = {key: compile_lazily(value) for key, value in data["pieces"].items()}
        self.words, self.function_words = (frozenset(w.split()) for w in data["words"].values())
        self.labels = " ".join(f"[secret: {r['kind']}]" for r in self.tokens + data["context"])


@cache
def load_rules() -> SecretRules:
    """Return the compiled rules."""
    return SecretRules(load_data())


def _by_first_letter(patterns: list[str]) -> re.Pattern[str]:
    # A search skips letters with which no name begins, without trying every name.
    letters = dict.fromkeys(pattern[0] for pattern in patterns)
    rests = {a: "|".join(p[1:] for p in patterns if p[0] == a) for a in letters}
    return re.compile("|".join(f"{re.escape(a)}(?:{rest})" for a, rest in rests.items()))


def _shape(data: dict[str, Any]) -> Shape:
    accept, quoted, phrase = (
        _union(data.get(key, ["(?!)"])) for key in ("accept", "quoted", "phrase")
    )
    guards = frozenset(data["guards"])
    entropy, common = data.get("entropy", 0.0), data.get("common", 0)
    return Shape(data["length"], entropy, guards, accept, quoted, phrase, common)


def _union(patterns: list[str]) -> re.Pattern[str]:
    return compile_lazily("|".join(f"(?:{pattern})" for pattern in patterns))


def _expand(rule: dict[str, Any], value_group: str) -> str:
    pattern, fragments = str(rule["pattern"]), load_data()["fragments"]
    while (step := re.sub(r"@(\w+)@", lambda m: str(fragments[m[1]]), pattern)) != pattern:
        pattern = step
    return pattern.replace("(?P<value>", f"(?P<{value_group}>")


def compute_entropy(value: str) -> float:
    """Return the Shannon entropy of the first 256 characters, in bits per character."""
    sample = value[:256]
    shares = [n / len(sample) for n in Counter(sample).values()]
    return -sum(share * math.log2(share) for share in shares)


_HEXADECIMAL = compile_lazily(r"[0-9a-f]{32,}|[0-9A-F]{32,}")
_PASSPHRASE = compile_lazily(r"[a-z]{3,}(?:([ ._-])[a-z]{3,})(?:\1[a-z]{3,}){4,}")
_SHORTEST_RANDOM = 10
"""Characters."""
_CHANGING = 0.5
"""The share of neighbours that differ in kind from which on a value is no words with a number."""


def is_random(value: str) -> bool:
    """Return whether a value looks as if a program had made it, for small and capital letters,
    digits and signs alternate, or six words follow each other: what a person writes is words with a
    number.
    """
    if _HEXADECIMAL.fullmatch(value) or _PASSPHRASE.fullmatch(value):
        return True
    # names between slashes are a path or a list
    longest = max(value[:256].split("/"), key=len)
    kinds = [(it.isdigit(), it.isupper(), it.isalnum()) for it in longest]
    changes = sum(one != other for one, other in pairwise(kinds))
    return len(kinds) >= _SHORTEST_RANDOM and changes >= _CHANGING * (len(kinds) - 1)


class Secret(NamedTuple):
    """A credential in a text: what it is, and where its value starts and ends."""

    kind: str
    start: int
    end: int
