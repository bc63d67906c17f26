"""The rule on notes of which another note says that it takes their place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from itertools import chain
from typing import NamedTuple

from ricordo.dates import find_day_in_title
from ricordo.lexicon import build_alternation, compile_part, list_expressions, lower_text
from ricordo.lint.archive import is_superseded
from ricordo.lint.claims.note_status import find_banner
from ricordo.lint.finding import Fix, Severity
from ricordo.lint.rule import RuleContext, RuleResult, memory_rule
from ricordo.memory.change import Retire
from ricordo.memory.layout import FileRole
from ricordo.memory.memory import Memory
from ricordo.memory.names import TargetKind
from ricordo.memory.note import Note
from ricordo.patterns import compile_lazily
from ricordo.text import make_one_line

_NEAR = 60
"""Characters on each side of a name in which the verb is looked for: a sentence names what takes
the place of what in a few words.
"""
_LONGEST_SENTENCE = 400
"""Characters before a name in which its sentence begins: a line may have many names."""
_LONGEST_QUOTE = 200
_FILE = ".md"
_PATH = compile_lazily(r"[\w./-]+\Z")
_GAP = r"[\s:\"“”'‘’`*_(\[«»]*"
_WORDS = r"(?:[^\W\d_][\w'’-]*\s+){0,3}"
"""A few words between verb and name, such as `the old note`; no clause ends among them."""
_OF_IT = r"['’]s\b|\s[\"“][^\"”\n]{3,60}[\"”]|\s?[(,]?\s?§"
"""What names something in a note behind its name: a genitive, quoted words of it, a section."""
_SENTENCE_END = compile_lazily(r"[.!?][*_)\]\"'”»]*(?=\s)|[。！？]")
_CLAUSE_END = compile_lazily(r"[.;:,!?—–()。；，、！？：]")


class _Mention(NamedTuple):
    """A place at which a note says that it takes the place of another one, which it links to or of
    which it writes the name of the file.
    """

    start: int
    end: int
    stem: str
    """The name of the file; "" for a link."""


@memory_rule(
    "superseded-note",
    Severity.WARNING,
    "a note that another one replaces, and that does not say so",
    depends_on=lambda memory, context: (memory.notes, memory.links),
)
def superseded_note(memory: Memory, context: RuleContext) -> Iterator[RuleResult]:
    """Find notes of which another note says that it supersedes them, while they neither say so nor
    name it: who opens them follows what no longer holds. Once each, by the first that says so.
    """
    reported: set[str] = set()
    for old, note, mention in _list_successions(memory):
        # what has a day in its name tells what was so then
        is_of_day = find_day_in_title(old.stem) is not None
        is_told = old.path in reported or is_superseded(note) or is_of_day
        if not is_told and not _knows(memory, old, note):
            reported.add(old.path)
            yield _report(old, note, mention)


def find_superseded(memory: Memory) -> frozenset[str]:
    """Return the paths of the notes of which another note says that it supersedes them."""
    return frozenset(old.path for old, _, _ in _list_successions(memory))


def _list_successions(memory: Memory) -> Iterator[tuple[Note, Note, _Mention]]:
    """Yield each note that is superseded with the one that says so, and where that does."""
    is_of_world = memory.layout.has_own_conventions or memory.layout.is_plain
    for note in memory.notes:
        mentions = _list_mentions(note, is_of_world) if note.role is FileRole.NOTE else ()
        links = memory.links.get(note.path, ()) if mentions else ()
        of_notes = (it for it in links if it.target_kind is TargetKind.NOTE)
        targets = {it.link.start: it.path for it in of_notes}
        for mention in mentions:
            if old := _find_old(memory, note, mention, targets):
                yield old, note, mention


def _report(old: Note, new: Note, mention: _Mention) -> RuleResult:
    line = new.line_of(mention.start)
    text = make_one_line(new.text.split("\n")[line - 1].strip())[:_LONGEST_QUOTE]
    return RuleResult(
        0,
        f"Superseded by “{new.name}”, but does not say so.",
        text,
        (f"{new.path}:{line}: {text}",),
        old.path,
        Fix("retire it; its links lead to the other note", (Retire(old.path, new.path),)),
        other_path=new.path,
    )


@lru_cache(maxsize=1 << 14)
def _list_mentions(note: Note, is_of_world: bool) -> tuple[_Mention, ...]:
    """Return where `note` says that it takes the place of another one: at its links first. Cached,
    as most notes stay the same. `is_of_world` as in `_supersedes`.
    """
    text = note.text
    mentions = [_Mention(link.start, link.end, "") for link in note.links]
    end = 0
    while (at := text.find(_FILE, end)) >= 0:
        end = at + len(_FILE)
        if named := _PATH.search(text, max(0, at - _NEAR), at):
            mentions.append(_Mention(named.start(), end, named[0].rpartition("/")[2]))
    return tuple([it for it in mentions if _supersedes(note, it, is_of_world)])


def _find_old(
    memory: Memory, note: Note, mention: _Mention, targets: Mapping[int, str]
) -> Note | None:
    """Return the note of which a mention in `note` says that it is superseded; None where it may be
    any of several, or no other note. `targets` are the notes to which it links, by the offsets of
    the links.
    """
    if mention.stem:
        paths = memory.names.by_stem.get(mention.stem, ())
    else:
        paths = tuple(filter(None, (targets.get(mention.start),)))
    old = memory.by_path.get(paths[0]) if len(paths) == 1 else None
    is_other = old is not None and old.role is FileRole.NOTE and old.path != note.path
    return old if is_other else None


def _supersedes(note: Note, mention: _Mention, is_of_world: bool) -> bool:
    """Return whether the words beside a mention say that `note` takes the place of what is named:
    before it, or behind it in languages whose verbs come last. Not where that is denied, or said of
    a part. `is_of_world` says that notes are pages about things, as in a wiki: “radio replaces
    [[phone]]” tells of these, and only what has no subject but the page itself tells of pages.
    """
    start = note.text.rfind("\n", 0, mention.start) + 1
    end = note.text.find("\n", mention.end)
    line = lower_text(note.text[max(start, mention.start - _LONGEST_SENTENCE) : mention.start])
    before = line[-_NEAR:]
    after = lower_text(note.text[mention.end : end if end >= 0 else None][:_NEAR])
    sentence = _SENTENCE_END.split(line)[-1]
    if said := _before().search(before):
        verb = len(sentence) - len(before) + said.start()
        clause = _CLAUSE_END.split(before[: said.start()])[-1]
        is_part = (
            _words("supersedes_partly").search(said["between"])
            or _adverb().search(clause)
            or _part_of().match(after)
            or (is_of_world and not _tells_of_page(sentence[: max(0, verb)], said[0]))
        )
        return not (is_part or _words("supersedes_not").search(clause + said["between"]))
    said = _behind().match(after)
    if said is None or (is_of_world and not _tells_of_page(sentence, "")):
        return False
    return not (
        _words("supersedes_not").search(after[said.end() :][: _NEAR // 4])
        or _words("supersedes_if").search(sentence)
    )


def _tells_of_page(beginning: str, said: str) -> bool:
    """Return whether the beginning of a sentence, in lower case, has the page as its subject, or
    none where what is `said` behind it is a verb for texts alone.
    """
    is_of_text = _words("supersedes_text").match(said) is not None
    return bool((_no_subject() if is_of_text else _itself()).fullmatch(beginning))


def _knows(memory: Memory, old: Note, new: Note) -> bool:
    """Return whether a note says that it is superseded, or links to or names the one that took its
    place.
    """
    is_linked = old.path in memory.backlinks.get(new.path, ())
    banner = lower_text(find_banner(old))
    is_named = is_linked or new.stem in old.text
    return is_named or is_superseded(old) or bool(_words("superseded").search(banner))


@cache
def _before() -> re.Pattern[str]:
    verbs = build_alternation(list_expressions("status", "supersedes"))
    return re.compile(rf"(?:{verbs}){_GAP}(?P<between>{_WORDS}){_GAP}\Z")


@cache
def _itself() -> re.Pattern[str]:
    """Return the pattern of the beginning of a sentence whose subject is the page."""
    pages = build_alternation(list_expressions("status", "supersedes_itself"))
    return re.compile(rf"(?=(?s:.*?)(?:{pages})){_no_subject().pattern}")


@cache
def _no_subject() -> re.Pattern[str]:
    """Return the pattern of the beginning of a sentence with no subject but the page."""
    parts = ("supersedes_itself", "supersedes_filler")
    words = build_alternation(chain.from_iterable(list_expressions("status", it) for it in parts))
    return re.compile(rf"(?:[\W\d_]|{words})*")


@cache
def _behind() -> re.Pattern[str]:
    verbs = build_alternation(list_expressions("status", "supersedes_behind"))
    return re.compile(rf"[`*_\])»”]*(?:\s*[(（][^()（）]*[)）])?\s*(?:{verbs})")


@cache
def _adverb() -> re.Pattern[str]:
    """Return the pattern of an adverb at the end of what is before the verb."""
    words = build_alternation(list_expressions("status", "supersedes_adverb"))
    return re.compile(rf"(?:{words}){_GAP}\Z")


@cache
def _part_of() -> re.Pattern[str]:
    words = build_alternation(list_expressions("status", "supersedes_part_of"))
    return re.compile(rf"[`*_\])»”]*(?:{_OF_IT}|\s?[,，(（]?\s?(?:{words}))")


@cache
def _words(part: str) -> re.Pattern[str]:
    """Return the pattern of the words under `part`, for texts in lower case."""
    return compile_part("status", part)
