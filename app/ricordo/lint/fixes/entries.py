"""Fixes of the entries of an index; they change single lines and never rewrite an index."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache

from ricordo.agents.folder import PROJECT_FILES
from ricordo.lexicon import is_abbreviation
from ricordo.lint.finding import Fix
from ricordo.lint.fixes.lines import remove_lines, split_plain_lines
from ricordo.lint.fixes.links import LinkTargets, relink, remove_link
from ricordo.lint.prose import split_words
from ricordo.memory.change import AddEntry, ChangeOperation, Create, EditLine, MoveLine, SetField
from ricordo.memory.entry import (
    find_entry_lines,
    find_model_entry,
    find_section_entry,
    format_entry,
)
from ricordo.memory.index import Entry, EntryForm, MemoryIndex, compute_load
from ricordo.memory.lines import move_line, split_lines
from ricordo.memory.link_text import format_markdown_link
from ricordo.memory.memory import Memory
from ricordo.memory.names import ResolvedLink
from ricordo.memory.new_note import choose_path
from ricordo.memory.note import Note
from ricordo.patterns import compile_lazily
from ricordo.secrets import find_secrets

MAX_DESCRIPTION = 200
"""Characters of a generated description."""

_LINK = compile_lazily(r"!?\[([^\[\]\n]*)\]\([^()\n]*\)|\[\[(?:[^\[\]\n|]*\|)?([^\[\]\n]*)\]\]")
_MARKUP = compile_lazily(r"[*`]+|~~")
_NO_PROSE = compile_lazily(
    r"\s*(?:#|[|>]|[-*+]\s|\d{1,9}[.)]\s|<|!?\[\[?[^\[\]]*\]|[-=*_]{3,}\s*$|[^\w\s]?\s*$)"
    r"|\W*(?:[^\s:：.]+\s+){0,3}[^\s:：.]+\s*(?::\W*(?=\s|$)|：)"
)
"""The beginning of a line that is a heading, a list item, a table, a link, a rule, or a label with
a value: `Created: 12 May`.
"""
_MOST_OF_LABEL = 120
"""Characters of a line that are searched for how it begins."""
_MOST_OF_PARAGRAPH = 2_000
"""Characters of a paragraph that are read: enough for its first sentence with its markup."""
_STOP = compile_lazily(r"[.!?](?=\s|$)|[。！？]")
_FEWEST_WORDS, _FEWEST_SIGNS = 4, 8
"""Words of a sentence, and characters of one in a script without blanks, that describes a note."""


@lru_cache(maxsize=1 << 10)  # the same notes lack frontmatter after each change
def summarise_text(text: str) -> str:
    """Return the first sentence of the first paragraph of a markdown `text`, whole and without
    markup. "" where no paragraph is prose, where that sentence is long, and where the text contains
    a secret, which must not be copied.
    """
    paragraph = _strip_markup(_find_paragraph(text))[: 2 * MAX_DESCRIPTION]
    sentence = paragraph
    for stop in _STOP.finditer(paragraph):
        before, after = paragraph[: stop.end()], paragraph[stop.end() :]
        is_open = before.count("(") > before.count(")")
        if not is_open and not (stop[0] == "." and is_abbreviation(before, after)):
            sentence = before
            break
    sentence = sentence.rstrip(".。")
    words, signs = len(sentence.split()), 0 if sentence.isascii() else len(sentence)
    is_long_enough = words >= _FEWEST_WORDS or (words == 1 and signs >= _FEWEST_SIGNS)
    is_whole = not sentence.endswith((":", "：", ",", "，", "…"))
    if not is_long_enough or not is_whole or len(sentence) > MAX_DESCRIPTION or find_secrets(text):
        return ""
    return sentence


def _find_paragraph(text: str) -> str:
    """Return the first paragraph of prose in one line, outside code fences; "" without one before
    the second heading, for a section does not describe the whole. Lines below a list item or a
    label go on with it.
    """
    lines: list[str] = []
    is_code = is_other = False
    headings = 0
    for whole in text.split("\n"):
        line = whole[:_MOST_OF_PARAGRAPH]
        headings += not is_code and bool(_HEADING.match(line))
        if headings > 1:
            break
        is_fence = bool(_FENCE.match(line))
        is_code ^= is_fence
        is_end = is_fence or not line.strip() or line.startswith("#")
        is_no_prose = bool(_NO_PROSE.match(line[:_MOST_OF_LABEL]))
        if lines and (is_end or is_no_prose or sum(map(len, lines)) > _MOST_OF_PARAGRAPH):
            break
        is_other = not is_end and (is_other or is_no_prose)
        if not (is_code or is_end or is_other):
            lines.append(line)
    return " ".join(lines)


def _strip_markup(line: str) -> str:
    unlinked = _LINK.sub(lambda match: match[1] or match[2] or "", line)
    return " ".join(_MARKUP.sub("", unlinked).split())


_FENCE = compile_lazily(r" {0,3}(?:`{3}|~{3})")
_TRAILING = " ,;:—–-.，、；：。"
"""Characters that no shortened text ends with."""
_CLAUSE_END = compile_lazily(r"[.;,:!?](?=\s|$)|[。；，、：！？]|\s[-–—·|](?=\s)")
_PAIRS = ("`", "**", "__", "~~")
_PARAGRAPH = compile_lazily(r"(?![-*+|<>]\s|\d+[.)]\s|\||<!--)\S")
"""The first line of a paragraph or a rule, no item, row or comment, nor what goes on in an item."""
_HEADING = compile_lazily(r" {0,3}#{1,6}(?:\s|$)")
_DAY = compile_lazily(r"20\d\d[-_/.]?(?:0\d|1[0-2])")
"""A date in the name of a note: entries of such notes are sorted by it."""
_MARKS = compile_lazily(r"[\s>|*+\d.)-]*")
"""The text before a link that opens a list item or a table row."""
_FEW, _SMALL_SHARE = 3, 0.2
"""Up to so many notes, or such a share of all, may lack an entry by mistake; more are left out on
purpose.
"""
_PUT_ASIDE = frozenset(
    (
        *("archive", "archived", "backup", "deprecated", "draft", "drafts", "example", "hidden"),
        *("old", "private", "retired", "status", "superseded", "temp", "template", "tmp", "wip"),
    )
)
"""Words of a name or a field by which a note is left out of an index on purpose."""
_DEFAULT_TYPE = "reference"


class MissingEntries:
    """Adds entries for the notes that `index` does not list."""

    def __init__(
        self, memory: Memory, index: MemoryIndex, missing: Sequence[Note], encrypted: Container[str]
    ) -> None:
        """`missing` are all notes without an entry in `index`; `encrypted` has the paths of the
        files that git encrypts or treats as binary, whose text must not be copied.
        """
        self._memory, self._index, self._encrypted = memory, index, encrypted
        self._few = len(missing) <= max(_FEW, len(memory.notes) * _SMALL_SHARE)

    def fix(self, note: Note) -> Fix | None:
        """Return the fix that adds the entry; None where the note should not be listed. Safe where
        the note was clearly forgotten, and the form and place of its entry are clear.
        """
        is_left_out = note.path.rpartition("/")[2].lower() in PROJECT_FILES
        if is_left_out or note.path in self._encrypted or self.refuse(note):
            return None
        act = AddEntry(self._index.path, note.path)
        safe = self._is_open and self._was_forgotten(note) and self._has_its_place(note)
        return Fix(f"add an entry to {self._index.path}", (act,), safe)

    def refuse(self, note: Note) -> str:
        """Return why the index has no place for an entry of `note`; "" where it has one."""
        memory, index = self._memory, self._index
        if index is memory.index and not memory.load.has_room:
            return f"{index.path} has no room left in what its agent loads"
        model = find_section_entry(memory, index, note)
        if model is None and index.entries:
            return f"no section of {index.path} lists notes of its folder, type or name"
        if model and model.hook and not note.description:
            if not _is_alone(index, model):
                return f"{index.path} lists several notes on a line"
            return f"it has no description, as the entries of {index.path} have"
        return ""

    def fix_all(self, notes: Iterable[Note]) -> Fix | None:
        """Return the fix that adds the entries of all `notes` that should be listed; None where
        none should. Never safe: what lists few notes may be meant to.
        """
        acts = tuple(act for note in notes if (fix := self.fix(note)) for act in fix.acts)
        entries = "an entry" if len(acts) == 1 else f"{len(acts)} entries"
        label = f"add {entries} to {self._index.path}"
        return Fix(label, acts) if acts else None

    @cached_property
    def _is_open(self) -> bool:
        """Whether its agent loads the index whole, and it lists nearly all notes, one on a line,
        with no other text: no rule on what belongs into it or who writes it.
        """
        index, load = self._index, self._memory.load
        if index is not self._memory.index or load.cut_at_line is not None:
            return False
        listed = {entry.line for entry in index.entries if entry.form is EntryForm.BULLET}
        plain = all(
            number in listed or _HEADING.match(line) or not line.strip()
            for number, line in enumerate(split_plain_lines(index.note), 1)
        )
        links = _links_by_line(index.note)
        return self._few and plain and bool(listed) and all(links[line] == 1 for line in listed)

    def _was_forgotten(self, note: Note) -> bool:
        """Return whether the note is complete, in the folder of the index, listed nowhere else, and
        not archived.
        """
        words = set(re.split(r"[^a-z]+", f"{note.stem} {note.name}".lower()))
        return (
            note.path.rpartition("/")[0] == self._index.folder
            and not note.frontmatter.error
            and all(getattr(note, field) for field in self._memory.layout.required)
            and all(
                note.frontmatter.get_first(keys)
                for keys in (self._memory.layout.title_keys, self._memory.layout.summary_keys)
            )
            and note.type in self._memory.layout.types
            and _PUT_ASIDE.isdisjoint(words)
            and _PUT_ASIDE.isdisjoint(
                key.partition("_")[0].lower() for key in note.frontmatter.fields
            )
            and not self._is_listed_elsewhere(note)
        )

    def _is_listed_elsewhere(self, note: Note) -> bool:
        """Return whether a list in another note links to it, which may replace an entry."""
        for source in self._memory.backlinks.get(note.path, ()):
            text = self._memory.by_path[source].text
            for resolved in self._memory.links.get(source, ()):
                start = resolved.link.start
                begin = text.rfind("\n", 0, start) + 1
                if resolved.path == note.path and _MARKS.fullmatch(text, begin, start):
                    return True
        return False

    def _has_its_place(self, note: Note) -> bool:
        """Return whether one section lists the notes of its type alone, or one all notes, in no
        order of dates or numbers, and its description fits whole.
        """
        model = find_model_entry(self._memory, self._index, note)
        text = format_entry(self._memory, self._index, note, model)
        if model is None or text.endswith("…") or model.text.lstrip()[:1].isdigit():
            return False
        if _DAY.search(f"{model.title} {model.link.target} {note.name} {note.path}"):
            return False
        sections = self._types_by_section
        own = bisect_right(self._headings, model.line)
        return len(sections) == 1 or (
            sections.get(own) == {note.type}
            and not any(note.type in sections[other] for other in sections if other != own)
        )

    @cached_property
    def _headings(self) -> Sequence[int]:
        lines = enumerate(split_plain_lines(self._index.note), 1)
        return [number for number, line in lines if _HEADING.match(line)]

    @cached_property
    def _types_by_section(self) -> Mapping[int, set[str]]:
        """The types of the notes that each section lists; sections are counted by headings."""
        types: dict[int, set[str]] = {}
        for entry in self._index.entries:
            target = self._memory.by_path.get(self._memory.resolve_entry(self._index, entry).path)
            if target is not None:
                section = bisect_right(self._headings, entry.line)
                types.setdefault(section, set()).add(target.type)
        return types


def fix_missing_file(
    memory: Memory, meant: LinkTargets, index: MemoryIndex, entry: Entry
) -> Fix | None:
    """Return the fix for an entry with a broken link: link to the only note that it can mean, if
    that has no entry yet, else remove the entry; None where its links are relative to another
    directory on purpose, and where the note is wanted.
    """
    resolved = memory.resolve_entry(index, entry)
    if meant.is_relative_elsewhere(resolved):
        return None
    to, is_certain = meant.find_note(resolved)
    to = to or find_unlisted_alike(memory, meant, resolved)
    if to and to not in memory.entries:
        relinked = relink(memory, index.note, [entry.link], to, safe=is_certain)
        if relinked:
            return relinked
    if meant.is_wanted(index.note, resolved):
        return None
    if not _is_alone(index, entry):
        return remove_link(index.note, entry.link)
    return Fix("remove the entry", remove_lines(index.note, _lines_of(index, entry)))


def find_unlisted_alike(memory: Memory, meant: LinkTargets, resolved: ResolvedLink) -> str:
    """Return the path of the note that the broken link of an entry means but for a typing error;
    "" where none has such a name, or it has an entry of its own.
    """
    to = meant.find_alike(resolved)
    return "" if to in memory.entries else to


def are_in_one_list(index: MemoryIndex, first: Entry, second: Entry) -> bool:
    """Return whether no heading, rule or paragraph is between two entries: behind one another list
    begins, in which a note may be once more.
    """
    breaks = _list_breaks(index.note)
    return bisect_right(breaks, first.line) == bisect_left(breaks, second.line)


@lru_cache(maxsize=8)
def _list_breaks(index: Note) -> tuple[int, ...]:
    """Return the 1-based lines at which a list of an index ends."""
    breaks: list[int] = []
    is_after_blank = False
    for number, line in enumerate(split_plain_lines(index), 1):
        if _HEADING.match(line) or (is_after_blank and _PARAGRAPH.match(line)):
            breaks.append(number)
        is_after_blank = not line.strip()
    return tuple(breaks)


def fix_duplicate_entry(index: MemoryIndex, first: Entry, second: Entry) -> Fix | None:
    """Return the fix that removes the `second` of two entries for one note from `index`; None
    where it says anything that the first does not, or belongs to another list.
    """
    lines = _lines_of(index, second)
    is_repeated = len(lines) == 1 and _is_alone(index, second) and _adds_nothing(first, second)
    if not is_repeated or not are_in_one_list(index, first, second):
        return None
    label = f"remove the entry on line {second.line}"
    return Fix(label, remove_lines(index.note, lines), safe=True)


def fix_long_entry(memory: Memory, index: MemoryIndex, entry: Entry, longest: int) -> Fix | None:
    """Return the fix that cuts the hook of `entry` at the end of a clause, so that the line has at
    most `longest` characters. None where the body of its note does not say all that is cut, where a
    date or a link would be lost, or the hook is not the end of the entry. Never safe: agents then
    load less.
    """
    line, hook = entry.text.rstrip(), entry.hook
    note = memory.by_path.get(memory.resolve_entry(index, entry).path)
    if entry.form is not EntryForm.BULLET or not hook or not line.endswith(hook) or note is None:
        return None
    if len(find_entry_lines(index, entry)) > 1 or not _is_alone(index, entry):
        return None
    begin, body = line[: -len(hook)], _plain(note.body)
    for clause in reversed(list(_CLAUSE_END.finditer(hook, 0, max(longest - len(begin), 0)))):
        short, cut = hook[: clause.start()].rstrip(_TRAILING), hook[clause.start() :]
        is_said = all(_plain(part) in body for part in _CLAUSE_END.split(cut))
        if short and is_said and _is_whole(short) and not _DAY.search(cut):
            edit = EditLine(index.path, entry.line, entry.text, begin + short)
            return Fix(f"shorten the entry to {len(begin) + len(short)} characters", (edit,))
    return None


def fix_inline_body(memory: Memory, index: MemoryIndex, lines: Sequence[int]) -> Fix | None:
    """Return the fix that moves `lines` of the index, 1-based numbers, into a new note and replaces
    them with an entry. None where that would split a code fence or copy a secret, and where no
    heading below that of the index names their subject or no sentence describes them.
    """
    every = split_plain_lines(index.note)
    first, last = lines[0], lines[-1]
    body = every[first - 1 : last]
    before = sum(bool(_FENCE.match(line)) for line in every[: first - 1])
    if before % 2 or sum(bool(_FENCE.match(line)) for line in body) % 2:
        return None
    description = summarise_text("\n".join(body))
    name = _heading_above(every, first)
    if not description or not name or find_secrets(name):
        return None
    path = choose_path(name, (*memory.by_path, *memory.others), memory.layout, index.folder)
    title = name.replace("[", "(").replace("]", ")")
    entry = f"- {format_markdown_link(title, index.path, path)} — {description}"
    acts: list[ChangeOperation] = [Create(path, "\n".join(body) + "\n", entry="")]
    acts += [
        SetField(path, key, value)
        for key, value in _new_fields(memory, index, first, name, description)
    ]
    acts += remove_lines(index.note, range(first + 1, last + 1))
    acts.append(EditLine(index.path, first, every[first - 1], entry))
    return Fix(f"move these {len(body)} lines to {path}", tuple(acts))


def fix_lost_correction(
    index: MemoryIndex, memory: Memory, entry: Entry, above: Entry
) -> tuple[Fix, int] | None:
    """Return the fix that moves `entry` after the entry `above`, and the first line of the present
    index that is not loaded then; None where the entry would still not be loaded.
    """
    lines = split_lines(index.note.text)
    after = find_entry_lines(index, above)[-1]
    if len(find_entry_lines(index, entry)) > 1 or entry.form is EntryForm.PROSE:
        return None
    load = compute_load(move_line(lines, entry.line, after), memory.layout.limits)
    if load.cut_at_line is None or load.cut_at_line <= after + 1:
        return None
    act = MoveLine(index.path, entry.line, entry.text, after)
    # the lines between have moved down by one
    return Fix(f"move the entry up to line {after + 1}", (act,)), load.cut_at_line - 1


def _new_fields(
    memory: Memory, index: MemoryIndex, line: int, name: str, description: str
) -> Iterator[tuple[str, str]]:
    """Yield the frontmatter fields of a note made from `line` of the index; its type is that of the
    note with the nearest entry.
    """
    layout = memory.layout
    yield layout.title_keys[0], name
    yield layout.summary_keys[0], description
    if "type" in layout.required:
        near = sorted(index.entries, key=lambda entry: abs(entry.line - line))
        targets = (memory.by_path.get(memory.resolve_entry(index, entry).path) for entry in near)
        types = (note.type for note in targets if note and note.type in layout.types)
        yield layout.type_keys[0], next(types, _DEFAULT_TYPE)


def _heading_above(lines: Sequence[str], first: int) -> str:
    """Return the heading right above line number `first`; "" where there is none but the title of
    the file.
    """
    for line in reversed(lines[: first - 1]):
        if line.strip():
            return line.strip("# ") if line.startswith("##") else ""
    return ""


def _lines_of(index: MemoryIndex, entry: Entry) -> range:
    """Return the lines of `entry`, without parsing a long index where it has only one."""
    below = split_plain_lines(index.note)[entry.line : entry.line + 1]
    if below and below[0][:1].isspace():
        return find_entry_lines(index, entry)
    return range(entry.line, entry.line + 1)


def _is_alone(index: MemoryIndex, entry: Entry) -> bool:
    """Return whether the line lists this entry and links to no other file."""
    return entry.form is not EntryForm.PROSE and _links_by_line(index.note)[entry.line] == 1


@lru_cache(maxsize=2)
def _links_by_line(note: Note) -> Counter[int]:
    return Counter(link.line for link in note.links)


def _adds_nothing(first: Entry, second: Entry) -> bool:
    known = split_words(first.text)
    same_hook = not second.hook or _plain(second.hook) == _plain(first.hook)
    return same_hook and split_words(second.title) <= known


def _plain(text: str) -> str:
    return _strip_markup(text).casefold().rstrip(".")


def _is_whole(text: str) -> bool:
    """Return whether every opening mark in `text` is closed."""
    closed = (text.count(left) == text.count(right) for left, right in ("[]", "()", "（）"))
    return not any(text.count(mark) % 2 for mark in _PAIRS) and all(closed)
