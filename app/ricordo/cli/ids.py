"""The ids that a user names to decide on findings, conflicts and proposals: the same in all
commands.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ricordo.errors import WrongUsage
from ricordo.text import make_one_line

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Iterable, Sequence

    from ricordo.services.workspace.environment import Environment

SHORTEST = 4
"""Minimal number of characters of an abbreviated id."""
LONGEST = 12
"""Characters of an id."""
_DIGITS = frozenset("0123456789abcdef")


def is_id(word: str) -> bool:
    """Return whether a word has the form of an id, whole or abbreviated."""
    return SHORTEST <= len(word) <= LONGEST and _DIGITS.issuperset(word)


def pick_ids(
    words: Iterable[str],
    known: Iterable[str],
    what: str,
    hint: str,
    gone: Callable[[str], str] = lambda word: "",
) -> list[str]:
    """Return the ids that `words`, whole or abbreviated, name among the `known` ones, each once.

    `what` names the kind of thing, such as `pending proposal`; `hint` says how to list the ids;
    `gone` returns why an id is no longer known, as the end of a sentence, or "". Raises WrongUsage
    for a word that names none or several.
    """
    ids = list(known)
    picked: dict[str, None] = {}
    for word in words:
        matches = [word] if word in ids else [id for id in ids if id.startswith(word)]
        shown = make_one_line(word)
        if not matches or not is_id(word):
            if why := gone(word):
                raise WrongUsage(f"{what[:1].upper()}{what[1:]} {shown} {why}.")
            from ricordo.suggestions import LIKE_ID, suggest

            near = suggest(word, ids, like=LIKE_ID)
            raise WrongUsage(f"No {what} has the id “{shown}”.", hint=f"{near} {hint}".strip())
        if len(matches) > 1:
            raise WrongUsage(
                f"The id {shown} is ambiguous: {', '.join(matches)}.", hint="Give more of it."
            )
        picked[matches[0]] = None
    return list(picked)


def refuse_no_ids(ids: Sequence[str], option: str) -> None:
    """Raise WrongUsage if no ids remain after an `option` that needs some."""
    if not ids:
        raise WrongUsage(f"{option} needs an ID.")


def split_off_path(
    words: Sequence[str], options: Namespace, environment: Environment
) -> tuple[list[str], str | None]:
    """Return the ids `words`, which were given after an option that takes several, without the one
    that is PATH, and that PATH: the last word that is no id and exists, if no PATH was given.
    """
    ids = list(dict.fromkeys(words))
    if not _has_path(options):
        for word in filter(lambda it: not is_id(it), reversed(ids)):
            if os.path.exists(os.path.join(environment.cwd, word)):
                return [id for id in ids if id != word], word
    return ids, None


def split_off_directory(
    words: Sequence[str], options: Namespace, environment: Environment
) -> tuple[list[str], str | None]:
    """Return what `split_off_path` does for names of notes `words`: PATH is the last of several, if
    it is a directory.
    """
    names = list(dict.fromkeys(words))
    if len(names) > 1 and not _has_path(options):
        last = names[-1]
        if os.path.isdir(os.path.join(environment.cwd, last)):
            return names[:-1], last
    return names, None


def _has_path(options: Namespace) -> bool:
    named = (getattr(options, name, None) for name in ("path", "paths", "memory"))
    return any(named)
