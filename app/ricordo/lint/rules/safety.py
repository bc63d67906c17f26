"""Rules on what may do harm: secrets, prompt injections, invisible text."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import groupby
from typing import Any, NamedTuple

from ricordo.lexicon import Triggers, build_alternation, lower_text, read_words
from ricordo.lint.finding import Fix, Severity
from ricordo.lint.fixes.lines import Splice, build_line_edits
from ricordo.lint.prose import LineCounter, list_prose_lines, split_words, words_of_note
from ricordo.lint.rule import ALL_ROLES, RuleContext, RuleResult, note_rule
from ricordo.memory.layout import FileRole
from ricordo.memory.note import Note
from ricordo.patterns import compile_lazily
from ricordo.secrets import Secret, find_secrets, has_expired, is_evident
from ricordo.text import find_hidden_characters, make_visible

_SEQUENCE = compile_lazily(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[PX^_][^\x1b\n]*\x1b\\)"
)
"""A whole terminal escape sequence: colours, titles, links, device strings."""


def fix_control_characters(note: Note, hidden: Sequence[re.Match[str]]) -> Fix:
    """Return the fix that removes the `hidden` characters of one line from `note`, an escape with
    its whole sequence.
    """
    splices: list[Splice] = []
    for match in hidden:
        sequence = _SEQUENCE.match(note.text, match.start())
        start, end = (sequence or match).span()
        if not splices or start >= splices[-1].end:
            splices.append(Splice(start, end, ""))
    return Fix("remove the invisible characters", build_line_edits(note, splices))


def fix_secret(note: Note, item: Secret, every: Iterable[Secret]) -> Fix | None:
    """Return the fix that masks the secret `item` and `every` other one on the same lines with
    the name of its kind; None where it is an ordinary word that is a secret only elsewhere.
    """
    if _is_plain_word(note, item):
        return None
    begin = note.text.rfind("\n", 0, item.start) + 1
    stop = note.text.find("\n", item.end)
    stop = stop if stop >= 0 else len(note.text)
    masked = [
        other
        for other in every
        if begin <= other.start and other.end <= stop and not _is_plain_word(note, other)
    ]
    kinds = ", ".join(dict.fromkeys(other.kind for other in masked))
    is_one = len(masked) == 1
    return Fix(
        f"mask {'the value' if is_one else f'{len(masked)} values'} ({kinds})",
        build_line_edits(
            note, [Splice(other.start, other.end, f"[secret: {other.kind}]") for other in masked]
        ),
        reason=f"The note contained {'a secret' if is_one else 'secrets'} ({kinds}) that every "
        "agent could read.",
    )


def _is_plain_word(note: Note, item: Secret) -> bool:
    """Return whether a word is found only because it is a secret elsewhere in the note: here
    alone, it would not be.
    """
    text, value = note.text, note.text[item.start : item.end]
    if not value.isalpha() or text.count(value) == 1:
        return False
    blank = text.replace(value, " " * len(value))
    alone = blank[: item.start] + value + blank[item.end :]
    return all(not other.start <= item.start < other.end for other in find_secrets(alone))


_CODE = compile_lazily(
    r"^[ ]{0,3}(`{3,}+|~{3,}+)[\s\S]*?(?:^[ ]{0,3}\1|\Z)|`[^`\n]+`", re.MULTILINE
)
_QUOTED = compile_lazily(
    r"`[^`\n]*`|\"[^\"\n]*\"|“[^”\n]*”|„[^“\n]*“|«[^»\n]*»|「[^」\n]*」|'[^'\n]*'"
)


class FoundInjection(NamedTuple):
    """A line that may be a prompt injection."""

    line: int
    """1-based."""
    message: str
    """What it does."""
    quoted: str
    is_sure: bool
    """Whether no owner of a memory would write it: normal orders to an agent are what memories are
    made of.
    """


class _Injection:
    """One kind of prompt injection."""

    def __init__(self, written: Mapping[str, Any]) -> None:
        """`written` is the table of this kind in the data file."""
        self._written = written
        self.message: str = written["says"]
        self.needs = Triggers(written["needs"])
        self.also = Triggers(written.get("also", written["needs"]))
        self.outside_code: bool = written.get("outside_code", False)
        self.orders: bool = written.get("orders", True)
        """Whether it is an order, which hidden text need not be."""
        self.is_sure: bool = written.get("is_sure", False)
        """Whether no owner writes it even where readers see it."""

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Compiled on first use: most texts have none of the words that it needs."""
        return re.compile(self._written["pattern"], re.MULTILINE)

    @cached_property
    def holds(self) -> tuple[re.Pattern[str], ...]:
        """What a match has to contain, too; searched in the match alone, so that time is linear."""
        return tuple(re.compile(part) for part in self._written.get("holds", ()))


def _is_example(note: Note, line: int) -> bool:
    """Return whether a line is in a code fence, or quoted."""
    is_of_body = line > note.text.count("\n", 0, note.frontmatter.end)
    return is_of_body and all(number != line for number, _ in list_prose_lines(note))


@note_rule(
    "secret",
    Severity.ERROR,
    "a secret such as a password or token (shown by kind and place, never by value)",
    roles=ALL_ROLES,
)
def secret(note: Note, context: RuleContext) -> Iterator[RuleResult]:
    """Find secrets; the value is never reported, its hash identifies the finding. What only the
    words around it make a secret is worth knowing, no more: mostly it is that of an example or a
    test, as nearly all are in raw sources, which others have published.
    """
    lines = LineCounter(note.text)
    every = find_secrets(note.text)
    for item in every:
        value = note.text[item.start : item.end]
        digest = hashlib.blake2b(value.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
        line = lines.at(item.start)
        evidence = (f"{item.kind}, {item.end - item.start} characters, line {line}",)
        message = f"Possible secret: {item.kind}."
        fix = fix_secret(note, item, every)
        # what dots cut off is no use to anybody, nor is what has expired
        is_whole = not note.text.startswith(("...", "…"), item.end)
        # what a page of a wiki quotes as code is about its subject
        in_example = context.layout.has_own_conventions and _is_example(note, line)
        is_known = is_evident(note.text, item, in_example=in_example)
        is_of_use = is_whole and not has_expired(value, context.now.timestamp())
        is_sure = is_of_use and note.role is not FileRole.SOURCE and is_known
        at_most = Severity.ERROR if is_sure else Severity.INFO
        yield RuleResult(
            line,
            message,
            digest,
            evidence,
            fix=fix,
            at_most=at_most,
            origin=f"{note.path}: {digest}",
        )


@note_rule(
    "instruction-shaped",
    Severity.WARNING,
    "text that may be a prompt injection, or hides text",
    roles=ALL_ROLES,
)
def instruction_shaped(note: Note, context: RuleContext) -> Iterator[RuleResult]:
    """Find orders to the agent that no owner of a memory would write; each line once. In a raw
    source they are what somebody says of such orders: only what its readers do not see matters.
    """
    is_source = note.role is FileRole.SOURCE
    for line, message, quoted, is_sure in find_injections(note):
        is_meant = is_sure and not (is_source and _is_seen(note, line))
        at_most = Severity.WARNING if is_meant else Severity.INFO
        says = f"Possible prompt injection: {message}."
        yield RuleResult(line, says, quoted, (quoted,), at_most=at_most)


def _is_seen(note: Note, line: int) -> bool:
    """Return whether readers see what is on a line of a note: it is in no comment, and has no tag
    with a style.
    """
    before = note.text.split("\n", line)
    above = "\n".join(before[: line - 1])
    return not _TAG.search(before[line - 1]) and not _is_in_comment(above, len(above))


_TAG = compile_lazily(r"<[a-zA-Z/!]")
"""The beginning of a tag of HTML: `<|im_start|>`, which marks a turn for a model, is shown."""


def is_unsafe(note: Note) -> bool:
    """Return whether a note contains a secret or a possible prompt injection."""
    return bool(find_secrets(note.text)) or next(find_injections(note), None) is not None


def find_injections(note: Note) -> Iterator[FoundInjection]:
    """Yield each line that may be a prompt injection."""
    text, known = lower_text(note.text), words_of_note(note)
    if not _any_needed().are_in(known, text):
        return
    reported: set[int] = set()
    for injection in _injections():
        if not (injection.needs.are_in(known, text) and injection.also.are_in(known, text)):
            continue
        lines = LineCounter(text)
        for start in _find_places(injection, note, text):
            line = lines.at(start)
            if line not in reported:
                reported.add(line)
                is_sure = _is_sure(injection, text, start)
                yield FoundInjection(line, injection.message, _line_at(note.text, start), is_sure)


@note_rule(
    "control-characters",
    Severity.WARNING,
    "terminal escapes, zero-width characters or bidirectional controls",
    roles=ALL_ROLES,
)
def control_characters(note: Note, context: RuleContext) -> Iterator[RuleResult]:
    """Find characters that control a terminal or are invisible, once a line."""
    lines = LineCounter(note.text)
    # a raw source may be the bytes of anything: what hides text in it is what may harm
    harmful = _HIDING if note.role is FileRole.SOURCE else _CONTROLLING
    hidden = find_hidden_characters(note.text)
    for line, group in groupby(hidden, key=lambda match: lines.at(match.start())):
        matches = list(group)
        kinds = Counter(make_visible(match.group()) for match in matches)
        quoted = _line_at(note.text, matches[0].start())
        message = f"Invisible characters: {' '.join(kinds)}."
        is_harmful = any(harmful.match(note.text, match.start()) for match in matches)
        if any(unicodedata.bidirectional(char) in _RIGHT_TO_LEFT for char in quoted):
            is_harmful = False
        yield RuleResult(
            line,
            message,
            quoted,
            (quoted,),
            fix=fix_control_characters(note, matches),
            at_most=Severity.WARNING if is_harmful else Severity.INFO,
        )


_REORDERING = r"\u202b\u202d\u202e\u2067"
"""Marks that begin to reorder text from left to right (Unicode, annex 9); those that set such text
apart (LRE, LRI, FSI) or end it leave it as it is.
"""
_HIDING = compile_lazily(rf"[{_REORDERING}\U000e0000-\U000e007f]")
"""These, and tags that hide text: what is read is not what is shown."""
_CONTROLLING = compile_lazily(rf"[{_REORDERING}\U000e0000-\U000e007f]|\x1b[\]PX^_]")
"""These and the strings that a terminal obeys: titles, links, its clipboard. Other escapes colour
the copied output of programs or move in it, and the rest comes from keyboards and copied pages.
"""
_RIGHT_TO_LEFT = frozenset(("R", "AL"))
"""Letters among which marks that reorder text are in their place."""


def _find_places(injection: _Injection, note: Note, text: str) -> Iterator[int]:
    """Yield where the lower-cased `text` makes the injection instead of writing about it."""
    text = _CODE.sub(_blank, text) if injection.outside_code else text
    for match in injection.pattern.finditer(text):
        if not all(part.search(match.group()) for part in injection.holds):
            continue
        if match.groupdict().get("unclosed") is not None and not _begins_block(text, match.start()):
            continue
        if not (_mentions().are_in(words_of_note(note), text) and _is_quoted(text, match)):
            yield match.start()


def _is_sure(injection: _Injection, text: str, start: int) -> bool:
    """Return whether what is at `start` is an order that no owner writes: one that readers do not
    see, or one against him that begins its clause, in a text that is not about such orders.
    """
    if not injection.orders or not injection.is_sure:
        return injection.orders and _is_in_comment(text, start)
    line = _line_at(text, start)
    if _mentions().are_in(split_words(line), line) or _subject().search(text):
        return False
    before = text[text.rfind("\n", 0, start) + 1 : start].rstrip()
    return (
        not before[-1:].isalpha() or bool(_addressed().search(before)) or not text[start].isascii()
    )


def _is_in_comment(text: str, offset: int) -> bool:
    """Return whether what is at `offset` is inside of a comment, which readers do not see."""
    return text.rfind("<!--", 0, offset) > text.rfind("-->", 0, offset)


def _begins_block(text: str, offset: int) -> bool:
    """Return whether only marks of lists and quotes are before `offset` on its line: elsewhere a
    comment that is not closed is shown as text (CommonMark 0.31, 4.6 and 6.6).
    """
    before = text[text.rfind("\n", 0, offset) + 1 : offset]
    return not before.strip(" \t>*+-.)0123456789")


def _is_quoted(text: str, match: re.Match[str]) -> bool:
    """Return whether a match is inside of quotation marks on its line, or of code."""
    if any(code.start() <= match.start() < code.end() for code in _CODE.finditer(text)):
        return True
    start = text.rfind("\n", 0, match.start()) + 1
    line = _line_at(text, match.start())
    return any(
        start + quote.start() <= match.start() < start + quote.end()
        for quote in _QUOTED.finditer(line)
    )


def _line_at(text: str, offset: int) -> str:
    end = text.find("\n", offset)
    return text[text.rfind("\n", 0, offset) + 1 : end if end >= 0 else len(text)].rstrip("\r")


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match.group())


@cache
def _injections() -> tuple[_Injection, ...]:
    return tuple(_Injection(written) for written in read_words("safety")["order"])


@cache
def _any_needed() -> Triggers:
    """Return all triggers in one, which rule most notes out at once."""
    return Triggers(need for order in read_words("safety")["order"] for need in order["needs"])


@cache
def _addressed() -> re.Pattern[str]:
    """Return the pattern of words before an order to the reader."""
    return re.compile(rf"\b(?:{'|'.join(read_words('safety')['address']['words'])})\Z")


@cache
def _subject() -> re.Pattern[str]:
    return re.compile(build_alternation(read_words("safety")["subject"]["names"]))


@cache
def _mentions() -> Triggers:
    return Triggers(read_words("safety")["mention"]["words"])
