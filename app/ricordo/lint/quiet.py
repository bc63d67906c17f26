"""What note rules did not find, remembered between runs of the program.

Most rules find nothing in most files, and a rule that found nothing in a file need not run on it
again until the file, the rules or, for a few rules, the day changes. Only digests and the names of
rules are stored, no text.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from ricordo.lint.stamps import compute_digest_of, compute_stamp
from ricordo.storage.cache_file import load_judgement, save_judgement

if TYPE_CHECKING:
    from ricordo.lint.rule import Rule, RuleContext

_MOST_TEXTS = 20_000
"""Digests of texts that are stored."""


class QuietRules:
    """The rules that found nothing in the files of one memory, and texts without a secret."""

    def __init__(self, state: str, root: str) -> None:
        """`state` is the directory for Ricordo's data, `root` that of the memory; nothing is read
        yet.
        """
        self._state = state
        self._root = root
        self._stamp = ""
        self._is_saved = False
        self._names: list[str] = []
        self._day = ""
        self._loaded: dict[str, object] = {}
        self._loud: Mapping[str, Collection[str]] = {}
        """The rules that found something, by the key of the file, as loaded."""
        self._is_same_day = False
        self._plain: set[str] = set()
        """Digests of texts in which no secret was found, as loaded."""
        self._now_loud: dict[str, list[str]] = {}
        self._now_plain: set[str] = set()

    def begin(self, rules: Iterable[Rule], context: RuleContext) -> None:
        """Begin a run of the note `rules`: load what is known of them."""
        self._names = sorted(rule.name for rule in rules)
        self._day = context.now.date().isoformat()
        thresholds = sorted(context.thresholds.items())
        usual = context.conventions.parts
        stamp = compute_stamp(context.layout, (*self._names, *thresholds, *usual))
        if stamp == self._stamp:
            self._is_same_day = self._loaded.get("day") == self._day
            return
        self._stamp, self._is_saved = stamp, False
        self._now_loud, self._now_plain = {}, set()
        self._loaded = load_judgement(self._state, self._root, stamp)
        self._is_same_day = self._loaded.get("day") == self._day
        loud, plain = self._loaded.get("loud"), self._loaded.get("plain")
        self._loud = loud if isinstance(loud, dict) and _are_lists(loud.values()) else {}
        self._plain = set(plain) if isinstance(plain, list) and _are_texts(plain) else set()

    def select(self, key: str, rules: Sequence[Rule]) -> Sequence[Rule]:
        """Return those of `rules` that may find something in the file with that `key`."""
        loud = self._loud.get(key)
        if loud is None:
            return rules
        return [
            rule
            for rule in rules
            if rule.name in loud or (rule.depends_on_day and not self._is_same_day)
        ]

    def record(self, key: str, found: Iterable[str]) -> None:
        """Record the rules that found something in the file with that `key`."""
        self._now_loud[key] = sorted(set(found))

    def has_no_secret(self, text: str) -> bool:
        """Return whether `text` was searched for secrets before, and none was found."""
        digest = compute_digest_of(text.encode("utf-8", "surrogatepass"))
        if digest in self._plain:
            self._now_plain.add(digest)
        return digest in self._plain

    def record_no_secret(self, text: str) -> None:
        """Record that `text` contains no secret."""
        if len(self._now_plain) < _MOST_TEXTS:
            self._now_plain.add(compute_digest_of(text.encode("utf-8", "surrogatepass")))

    def save(self) -> None:
        """Store what was recorded, after the first run: later ones of a process are quick."""
        if self._is_saved:
            return
        self._is_saved = True
        results: dict[str, object] = {
            "day": self._day,
            "loud": self._now_loud,
            "plain": sorted(self._now_plain),
        }
        if any(self._loaded.get(name) != value for name, value in results.items()):
            # what cannot be stored is found again the next time
            with suppress(OSError):
                save_judgement(self._state, self._root, self._stamp, results)


def _are_lists(values: Iterable[object]) -> bool:
    return all(isinstance(value, list) and _are_texts(value) for value in values)


def _are_texts(values: Iterable[object]) -> bool:
    return all(isinstance(value, str) for value in values)
