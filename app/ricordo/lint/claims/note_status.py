"""What a note says of its own state: its status, that it is a report, or that its work is done."""

from __future__ import annotations

import re
from functools import cache
from itertools import takewhile

from ricordo.lexicon import build_alternation, compile_part, list_expressions, lower_text
from ricordo.lint.prose import HEADING, list_prose_lines
from ricordo.memory.index import Entry
from ricordo.memory.memory import Memory
from ricordo.memory.names import normalize
from ricordo.memory.note import Note
from ricordo.patterns import compile_lazily

_TASK = compile_lazily(r"\s*[-*+]\s+\[[ xX~-]\](?!\()")
CHECKED = compile_lazily(r"\s*[-*+]\s+\[[xX~-]\](?!\()")
"""A task of a list that is done."""
_SECTION = compile_lazily(r"#{2,6}\s|-{3,}\s*$")
_WARNING = compile_lazily(r">[\s>*_]*(?:⚠|⛔|🛑|🚫|❗|\[!)")
FIELD = compile_lazily(r"[\s>*_|+-]*([^\W\d_][^:：.\n]{0,24})[:：][\W_]*(.*)")
"""A line with a label and its value."""
_COMMENT = "<!--"
_LONGEST_HEAD = 15
"""Lines."""


def is_report(note: Note) -> bool:
    """Return whether a note tells of the state at its time, as a report or a plan does, by its
    names, its folder, its type or its status; or, by its folder or its type, what a source says,
    what was decided or what some work found.
    """
    fields = (note.type, read_status(note))
    folder = note.path.rpartition("/")[0]
    kinds = map(lower_text, (note.type, *folder.split("/")))
    if any(map(compile_part("probes", "source").fullmatch, kinds)):
        return True
    titles = (note.name, note.stem, folder)
    plain = (lower_text(re.sub(r"[_\-/]", " ", it)) for it in titles)
    is_named = any(compile_part("probes", "report").search(it) for it in plain)
    return is_named or any(compile_part("probes", "report").match(lower_text(it)) for it in fields)


def is_log(note: Note) -> bool:
    """Return whether a note is a log by its type, or a log or another record by the end of its
    name.
    """
    is_named = _record_name().search(spell_name(note.stem)) is not None
    return is_named or compile_part("probes", "log").fullmatch(lower_text(note.type)) is not None


def spell_name(text: str) -> str:
    """Return a text in lower case with blanks for `-` and `_`."""
    return normalize(lower_text(text)).replace("-", " ").replace("_", " ")


@cache
def _record_name() -> re.Pattern[str]:
    """Return the pattern of the end of the name of a record."""
    return re.compile(rf"(?:{build_alternation(list_expressions('probes', 'record'))})\Z")


def read_status(note: Note) -> str:
    """Return the status of a note: from its frontmatter, or from a line with that label above its
    sections; "" where neither is there.
    """
    if stated := note.frontmatter.get_text("status"):
        return stated
    label = compile_part("probes", "status")
    fields = filter(None, map(FIELD.match, read_head(note)))
    return next((it[2] for it in fields if label.fullmatch(lower_text(it[1]))), "")


def read_head(note: Note) -> list[str]:
    """Return the first lines of the text of a note, those above its sections."""
    lines = note.body.lstrip().split("\n", _LONGEST_HEAD)[:_LONGEST_HEAD]
    return list(takewhile(lambda it: not _SECTION.match(it), lines))


def find_banner(note: Note) -> str:
    """Return the quoted lines and the comments above the text of a note, which its writer mostly
    put there later, and those above its sections with a sign of warning; "" where there are none.
    """
    lines = [it.strip() for it in note.body.split("\n", _LONGEST_HEAD)[:_LONGEST_HEAD]]
    banner = list(takewhile(lambda it: not it or it.startswith((">", "#", _COMMENT)), lines))
    banner += (it for it in read_head(note) if it not in banner and _WARNING.match(it))
    told = (it.removeprefix(_COMMENT) for it in banner if it.startswith((">", _COMMENT)))
    return "\n".join(it.lstrip("> ") for it in told)


def is_finished(note: Note, line: int) -> bool:
    """Return whether the work of which the 1-based `line` of a note tells is done: by the status in
    its section, or because all tasks there are ticked, or its title begins so, else by those of the
    sections above it, else by the status of the note.
    """
    lines = dict(list_prose_lines(note))
    numbers = sorted(lines)
    depths = {it: len(match[1]) for it in numbers if (match := HEADING.match(lines[it]))}
    own, deepest = line, 7
    while own >= 0:
        # the heading above the line or section, which is less deep than that
        above = (it for it in numbers if it <= own and depths.get(it, 7) < deepest)
        begin = max(above, default=0)
        deepest = depths.get(begin, 0)
        text = takewhile(lambda it: it not in depths, (it for it in numbers if it > begin))
        state = _read_state([lines[it] for it in text])
        if state is not None:
            return state
        if begin and _is_title_of_done(lines[begin]):
            return True
        own = begin - 1
    return says_finished(note.frontmatter.get_text("status"))


def _read_state(lines: list[str]) -> bool | None:
    """Return whether some lines say that their work is done; None where they have neither a status
    nor a list of tasks.
    """
    label = compile_part("probes", "status")
    fields = filter(None, map(FIELD.match, lines))
    states = [it[2] for it in fields if label.fullmatch(lower_text(it[1].strip("*_ ")))]
    if states:
        return all(map(says_finished, states))
    is_ticked = [bool(CHECKED.match(it)) for it in lines if _TASK.match(it)]
    return all(is_ticked) if len(is_ticked) > 1 else None


def _is_title_of_done(heading: str) -> bool:
    """Return whether a heading is a word for work that is done, or begins with one and work or a
    sign behind it: `Completed actions`, unlike `Closed captions`.
    """
    title = lower_text(heading).lstrip("# *_✅✓✔☑")
    return _done_title().match(title) is not None and not _unfinished().search(title)


@cache
def _done_title() -> re.Pattern[str]:
    parts = ("done_title", "done_work", "done_when")
    done, work, when = (build_alternation(list_expressions("status", part)) for part in parts)
    end = rf"\W*\Z|\s*[:：(（,，—–]|\s+-\s|\s?(?:[\w-]+\s){{0,3}}(?:{work})|\s(?:{when})"
    return re.compile(rf"(?:{done})(?={end})")


def says_finished(status: str) -> bool:
    """Return whether a status says that all is done, not a part of it."""
    spoken = lower_text(status)
    is_done = compile_part("status", "finished").search(spoken) is not None
    return is_done and not _unfinished().search(spoken)


@cache
def _unfinished() -> re.Pattern[str]:
    """Return the pattern of what a status of work says that is not all done."""
    parts = ("nearly", "coming", "begun", "deferred", "unbuilt", "unmerged", "unreleased")
    words = build_alternation(it for part in parts for it in list_expressions("status", part))
    kinds = build_alternation(list_expressions("status", "part"))
    return re.compile(rf"{words}|(?:{kinds})s?\W{{0,3}}\d|(?<!\d)\d?\d ?%|\d ?/ ?\d")


def find_fixed_notes(memory: Memory) -> frozenset[str]:
    """Return the paths of the notes of which an index says that they tell of a fixed fault."""
    listed = ((path, entry) for path, pairs in memory.entries.items() for _, entry in pairs)
    return frozenset(path for path, entry in listed if _is_fixed(entry))


def _is_fixed(entry: Entry) -> bool:
    before, _, rest = lower_text(entry.text).partition("[")
    title, hook = lower_text(entry.title), lower_text(entry.hook)
    # of several links of a line the first is what the line is about
    is_first = rest.lstrip("[").startswith(title)
    mark = load_fixed_mark()
    is_marked = mark.match(before) or mark.match(hook) or mark.search(title)
    return is_first and is_marked is not None


@cache
def load_fixed_mark() -> re.Pattern[str]:
    """Return the pattern of the mark of a fault that is fixed: apart from other words, or after a
    label such as “Status:”.
    """
    words = build_alternation(list_expressions("probes", "fixed"))
    apart = r"(?:\A|(?<!\bnot)(?<!\bnon)[^\w\s])[^\w\n]*(?:\w+\W*[:：][^\w\n]*)?"
    return re.compile(rf"{apart}(?:{words})(?=\s*(?:\Z|[^\w\s-]|-\s|\d{{4}}\b))")
