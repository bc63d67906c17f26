"""Fixes of the frontmatter of a note."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from ricordo.lint.conventions import Conventions, NameForm, build_name
from ricordo.lint.finding import Fix
from ricordo.lint.fixes.entries import summarise_text
from ricordo.lint.fixes.lines import remove_lines, split_plain_lines
from ricordo.memory.change import ChangeOperation, EditLine, Insert, SetField
from ricordo.memory.frontmatter import parser as frontmatter
from ricordo.memory.frontmatter.parser import Frontmatter, Value
from ricordo.memory.layout import Layout
from ricordo.memory.note import Note
from ricordo.patterns import compile_lazily
from ricordo.search.fuzzy import SHORTEST_ERROR, find_similar

_VALUE = compile_lazily(r"([ \t]*[^\s:#-][^:]*:[ \t]+)(\S.*?)[ \t]*")
_COMMENT = compile_lazily(r"\s#")
_CUT = compile_lazily(r"\s#(?=[^\s#])")
_CONJUNCTION = 3
"""Letters that may be lost between two numbers."""


def fix_missing_fields(
    note: Note, fields: Collection[str], layout: Layout, conventions: Conventions
) -> Fix | None:
    """Return the fix that sets `fields` (of name, description and type) in the frontmatter of
    `note`, adding it where there is none, in the place and form that the `conventions` have: the
    stem, the first sentence, and the type in its file name or folder. None where a value is
    unknown. Never safe: which fields the frontmatter has is a convention of each memory.
    """
    form = conventions.name_form or NameForm.FILE
    sources = {
        "name": lambda: build_name(note, form) or note.stem,
        "description": lambda: summarise_text(note.body),
        "type": lambda: guess_type(note, layout.types),
    }
    values = {field: sources[field]() for field in fields}
    if not all(values.values()):
        return None
    keys = {field: layout.get_keys(field)[0] for field in fields}
    acts = (
        SetField(note.path, f"metadata.{key}" if key in conventions.nested else key, values[field])
        for field, key in keys.items()
    )
    return Fix(f"set {' and '.join(keys.values())}", tuple(acts))


def fix_invalid_yaml(note: Note) -> Fix | None:
    """Return the fix that quotes the one value that makes the frontmatter invalid YAML; None where
    that is not enough, or a value would be read differently than by the lenient reader, and where
    it has quotes whose escapes are broken: what was meant is not known.
    """
    fault = note.frontmatter.error
    lines = split_plain_lines(note)
    # the parser may notice a broken value only on the next line
    for number in (fault.line, fault.line - 1) if fault else ():
        match = _VALUE.fullmatch(lines[number - 1]) if 1 < number <= len(lines) else None
        if match is None or (match[2].startswith('"') and "\\" in match[2]):
            continue
        quoted = match[1] + frontmatter.quote_double(_without_quotes(match[2]))
        edited = "\n".join([*lines[: number - 1], quoted, *lines[number:]])
        head = frontmatter.read_frontmatter(edited)
        if head.is_present and not head.error and _agree(note.frontmatter.fields, head.fields):
            act = EditLine(note.path, number, lines[number - 1], quoted)
            return Fix(f"quote the value of {match[1].strip(' :')}", (act,))
    return None


_ENDED = "\"'|>#[{"
"""What values begin with that do not end at ` #`, or only behind their last sign."""


def find_cut_value(note: Note) -> tuple[int, str]:
    """Return the 1-based line of the first value that YAML ends at ` #` in the middle of a text,
    and its key; 0 and "" without one. A blank behind the sign makes it a comment on purpose, and a
    number or a tag that nothing follows is no loss.
    """
    # nearly always there is none
    if not _CUT.search(note.text, 0, note.frontmatter.end):
        return 0, ""
    head = note.text[: note.frontmatter.end].split("\n")
    for number, line in enumerate(head, 1):
        match = _VALUE.fullmatch(line.rstrip("\r"))
        # a second sign is a part of what the first one cuts off, or of a comment
        first = _COMMENT.search(match[2]) if match else None
        cut = _CUT.match(match[2], first.start()) if match and first else None
        if match and cut and match[2][0] not in _ENDED and _loses_text(match[2], cut):
            return number, match[1].strip(" :")
    return 0, ""


def _loses_text(value: str, cut: re.Match[str]) -> bool:
    """Return whether more than numbers and tags is behind the `cut` of a value. Behind one word it
    may be a comment without a blank, unless the word is that of a number.
    """
    words = [word for word in value[cut.end() :].split()[1:] if word[0] != "#"]
    is_text = sum(map(str.isalpha, "".join(words))) > _CONJUNCTION
    return is_text and (value[cut.end()].isdigit() or " " in value[: cut.start()])


def fix_cut_value(note: Note) -> Fix | None:
    """Return the fix that quotes the value of which YAML drops the end."""
    number, key = find_cut_value(note)
    line = split_plain_lines(note)[number - 1]
    match = _VALUE.fullmatch(line)
    if match is None:
        return None
    quoted = match[1] + frontmatter.quote_double(match[2].strip())
    return Fix(f"quote the value of {key}", (EditLine(note.path, number, line, quoted),))


def fix_unknown_type(
    note: Note, given: str, known: Iterable[str], keys: Iterable[str]
) -> Fix | None:
    """Return the fix that sets the type of `note` to the only `known` one that differs from `given`
    by a typing error; None where there is none. `keys` are the fields for the type.
    """
    meant = find_meant_type(given, known)
    key = next((key for key in keys if note.frontmatter.get_text(key) == given), "")
    if not meant or not key:
        return None
    return Fix(f"set the type to {meant}", (SetField(note.path, key, meant),))


def find_meant_type(given: str, known: Iterable[str]) -> str:
    """Return the only one of the `known` types from which `given` differs by a typing error; "" for
    none. In a short word, and in one with a number, one letter is a difference.
    """
    word = given.strip().lower()
    if len(word) <= SHORTEST_ERROR or any(map(str.isdigit, word)):
        return ""
    near = find_similar(word, sorted(known), 1)
    return near[0] if len(near) == 1 else ""


def guess_type(note: Note, known: Collection[str]) -> str:
    """Return the only type in the first word of the file name and in the folder, or ""."""
    folder = note.path.rpartition("/")[0].rpartition("/")[2]
    words = (re.split(r"[_\-. ]", note.stem)[0].lower(), folder.lower())
    types = {name for name in known for word in words if word in (name, f"{name}s")}
    return types.pop() if len(types) == 1 else ""


def _agree(leniently: Mapping[str, Value], strictly: Mapping[str, Value]) -> bool:
    """Return whether both readings have the same keys and texts; only strict ones have lists."""
    return leniently.keys() == strictly.keys() and all(
        _is_same(leniently[key], value) for key, value in strictly.items()
    )


def _is_same(lenient: Value, strict: Value) -> bool:
    if isinstance(strict, Mapping):
        return isinstance(lenient, Mapping) and _agree(lenient, strict)
    return isinstance(strict, tuple) or lenient == strict


def _without_quotes(written: str) -> str:
    """Return a value without the quotes around it, as the lenient reader reads it."""
    if len(written) > 1 and written[0] == written[-1] and written[0] in "'\"":
        return written[1:-1]
    return written


_GAP = compile_lazily(r"[\s\ufeff]*")
"""The text between the two blocks: blank lines, and a byte order mark."""
_COVER = compile_lazily(r"(?:\s|<!--(?:(?!-->).)*-->|[>#][^\n]*\n)+", re.DOTALL)
_FENCE = "```"
_OPENING = compile_lazily(r"\s*```(?:markdown|md)?[ \t]*\r?\n(?=---)")
"""What is above a note that is a code block as a whole, as models print one."""
_FIELD_NAME = compile_lazily(r"[A-Za-z_][\w-]*")
_KEY = compile_lazily(r"(['\"]?)([^\s'\"#:-][^'\":]*?)\1\s*:(?:\s|\Z)")
COMMON_FIELDS = frozenset(
    (
        *("metadata", "title", "description", "aliases", "tags", "permalink"),
        *("created", "modified", "updated", "date"),
    )
)
"""Fields that programs write into frontmatter of every kind."""


class InnerFrontmatter(NamedTuple):
    """A frontmatter block below the beginning of a note."""

    start: int
    """Offset of its opening fence in the text of the note."""
    frontmatter: Frontmatter
    """Its offsets count from `start`."""
    is_in_code: bool = False
    """Whether the whole note is in a code block."""


def find_second_frontmatter(note: Note, layout: Layout) -> InnerFrontmatter | None:
    """Return the second frontmatter block of `note`. Text between two rules is none, even where its
    lines look like fields: one has to be a field of the first block, or one that the `layout` has.
    """
    if not note.is_readable or not note.frontmatter.is_present:
        return None
    gap = _GAP.match(note.text, note.frontmatter.end)
    start = gap.end() if gap else note.frontmatter.end
    if not note.text.startswith("---", start):
        return None
    known = {*note.frontmatter.fields, *COMMON_FIELDS, *layout.keys}
    return _read_inner(note, start, known, 1)


def find_covered_frontmatter(note: Note, layout: Layout) -> InnerFrontmatter | None:
    """Return the frontmatter of `note` that has nothing but comments, quotations and headings above
    it; two of its fields are those by which agents choose notes. Or that of a note in a code block.
    """
    opening = _OPENING.match(note.text)
    if opening and _closes_at_end(note.text[opening.end() :]):
        inner = _read_inner(note, opening.end(), {*COMMON_FIELDS, *layout.keys}, 2)
        return inner._replace(is_in_code=True) if inner else None
    cover = _COVER.match(note.text)
    return _read_inner(note, cover.end(), layout.keys, 2) if cover else None


def _closes_at_end(text: str) -> bool:
    """Return whether the code block around a text is closed by its last line: blocks with a
    language in it are closed before.
    """
    open_blocks, lines = 1, text.rstrip().split("\n")
    for at, line in enumerate(lines, 1):
        if line.lstrip().startswith(_FENCE):
            open_blocks += 1 if line.strip().strip("`") else -1
        if not open_blocks:
            return at == len(lines)
    return False


def fix_covered_frontmatter(note: Note, inner: InnerFrontmatter) -> Fix:
    """Return the fix that moves the frontmatter to the beginning of `note`, or takes `note` out of
    the code block that it is in.
    """
    if inner.is_in_code:
        last = note.text.rstrip().count("\n") + 1
        around = remove_lines(note, (note.line_of(inner.start) - 1, last))
        return Fix("take the note out of its code block", around)
    first = note.line_of(inner.start)
    block = note.text[inner.start : inner.start + inner.frontmatter.end]
    numbers = range(first, first + block.removesuffix("\n").count("\n") + 1)
    removed: tuple[ChangeOperation, ...] = remove_lines(note, numbers)
    return Fix("move the frontmatter to the beginning", (*removed, Insert(note.path, 0, block)))


def _read_inner(
    note: Note, start: int, known: AbstractSet[str], fewest: int
) -> InnerFrontmatter | None:
    """Return the block of fields at `start`, at least so many of them `known`."""
    if not note.text.startswith("---", start):
        return None
    head = frontmatter.read_frontmatter(note.text[start:])
    are_fields = all(_FIELD_NAME.fullmatch(key) for key in head.fields)
    if not head.is_present or head.error or not are_fields:
        return None
    return InnerFrontmatter(start, head) if len(known & head.fields.keys()) >= fewest else None


def fix_second_frontmatter(note: Note, second: InnerFrontmatter) -> Fix | None:
    """Return the fix that merges the `second` frontmatter block into the first; where they differ,
    the first one wins, which agents have read so far. None where removing lines is not enough.
    """
    if note.frontmatter.error:
        return None
    first = note.frontmatter.fields
    filled = {key for key, value in first.items() if value is not None}
    empty = first.keys() - filled
    lines = split_plain_lines(note)
    closing = note.text.count("\n", 0, note.frontmatter.end - 1) + 1
    opening = note.line_of(second.start)
    end = second.start + second.frontmatter.end
    last = note.text.count("\n", 0, end - 1)
    removed = {
        *_find_lines(lines, 2, closing - 1, empty & second.frontmatter.fields.keys()),
        *range(closing, opening + 1),
        *_find_lines(lines, opening + 1, last, filled),
    }
    text = "\n".join(line for number, line in enumerate(lines, 1) if number not in removed)
    merged = frontmatter.read_frontmatter(text)
    expected = {**first, **second.frontmatter.fields, **{key: first[key] for key in filled}}
    rest = "\n".join(lines[last + 1 :])
    if merged.error or merged.fields != expected or text[merged.end :] != rest:
        return None
    both = [key for key in first if key in filled and key in second.frontmatter.fields]
    lost = [key for key in both if second.frontmatter.fields[key] not in (None, first[key])]
    differs = f", keep the first {', '.join(lost)}" if lost else ""
    return Fix(f"merge the two frontmatter blocks{differs}", remove_lines(note, removed))


def _find_lines(
    lines: tuple[str, ...], start: int, stop: int, keys: Collection[str]
) -> Iterator[int]:
    """Yield the numbers of the lines from `start` to `stop` that belong to the fields `keys`."""
    key = ""
    for number in range(start, stop + 1):
        match = _KEY.match(lines[number - 1])
        key = match[2] if match else key
        if key in keys:
            yield number
