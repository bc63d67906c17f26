"""Claims that work is still to be done, refuted by code or by a commit that came after them.

What a to-do names by its code is looked up in the code: it is done where that code was not there
when the line was written, and is now. What it names by words is looked up in the subjects of later
commits that made something. A to-do that nothing refutes gets no verdict.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from ricordo.lexicon import (
    Triggers,
    build_alternation,
    compile_part,
    list_expressions,
    lower_text,
)
from ricordo.lint.claims.claim import ProjectClaim, get_work_words
from ricordo.lint.claims.commits import drop_verb
from ricordo.lint.claims.history import CODE_ENDINGS, COMMENT
from ricordo.lint.claims.passages import Passage
from ricordo.lint.claims.paths import find_present_file, is_path
from ricordo.lint.claims.project import Project
from ricordo.lint.claims.status import build_claim, is_rule
from ricordo.lint.claims.symbols import TELLING_NAME, build_definition, parse_symbol
from ricordo.lint.evidence import ClaimKind, Verdict
from ricordo.lint.prose import split_words
from ricordo.memory.note import Note
from ricordo.patterns import compile_lazily

_NEAR = 80
"""Characters between a to-do and the code that it names."""
_BESIDE = 24
"""Characters between code and the status right behind it: others may be between."""
_LINK = compile_lazily(r"[\s`*_~)\]:,]*(?:[\s(\[—–:=|-]|is|are|does|do|has|ist|est|está|è)*\s*\Z")
"""What may be between code and its status."""
_LITERAL = compile_lazily(r"(?=.*[A-Za-z])[\w$@/.\-]+(?:: ?[\w.\-]+)?")
"""Code that is no name: a header, a route, a property with its value."""
_NAME = compile_lazily(r"[\w.$]+")
_PLAIN_NAME = compile_lazily(rf"(?<![\w$@./:-])(?=\w{{6}})(?:{TELLING_NAME})(?![\w$@]|[-.:/][\w$])")
"""A name of code that is not marked as code; one of six letters or more."""
_SHORTEST_LITERAL = 6
_CALL = compile_lazily(r"[A-Za-z_$][\w$]{3,}\([^`]*\)")
_ENDINGS = "|".join(map(re.escape, CODE_ENDINGS))
_FILE = compile_lazily(rf"(?<![\w/.@-])(?:[\w.\-]+/)*[\w\-][\w.\-]*(?:{_ENDINGS})(?![\w/-])")
"""A code file, in backticks or not."""
_DISTINCTIVE = compile_lazily(r"[_/:.\-]|[a-z][A-Z]")
_ITEM = compile_lazily(r"\s*(?:[-*+]|\d+[.)])\s+(?!\[[xX]\])(?:\[ \]\s*)?")
_ITEM_END = compile_lazily(r"[,;+()（），、；。]|\s[—–→]\s|[.:：](?:\s|$)")
"""The end of an item of a list inside a sentence."""
_WORD_OF_PATH = compile_lazily(r"[\w.-]*\w")
_SENTENCE_END = compile_lazily(r"[\s`*_)]*(?:[.,;:。，；]|\Z)")
"""The end of a sentence or of its first clause."""
_WORD = compile_lazily(r"[^\W\d_]")
_COLON = compile_lazily("[:：]")
_DONE_SIGN = compile_lazily(r"[✅✓✔☑]|~~")
_FEWEST_WORDS = 2
_MOST_WORDS = 6
_SHORTEST_WORD = 4
"""Letters of a word for which the project is searched."""
_MOST_FILES = 12


def find_task_claims(passage: Passage) -> Iterator[ProjectClaim]:
    """Yield the claims of a sentence that something is still to be done."""
    whole = passage.statement.text
    begin = whole.lstrip()[:1]
    # the cells of a row are of one thing
    told = whole if begin == "|" else passage.text
    if passage.is_past or begin == "#" or _DONE_SIGN.search(told):
        return
    yield from _find_code_tasks(passage)
    yield from _find_work_tasks(passage)


def _find_code_tasks(passage: Passage) -> Iterator[ProjectClaim]:
    """Yield the claims that a file or other code is still to be written."""
    spoken = lower_text(passage.prose)
    written = lower_text(passage.text)
    marks = list(_task().finditer(spoken)) if passage.code else []
    for offset, text in _find_plain_names(passage):
        end = offset + len(text)
        after = _unbuilt().search(spoken, end, end + _NEAR)
        if after and _is_said_of(passage, (offset, end), after):
            yield build_claim(ClaimKind.TASK, passage, (offset, after.end()))
        elif wish := _find_wish(passage, (offset, end)):
            yield build_claim(ClaimKind.TASK, passage, wish)
    for offset, text in passage.code:
        end = offset + len(text)
        if not _is_named(text, passage):
            continue
        if absent := _absent().search(written, max(0, offset - _BESIDE), offset):
            if not is_rule(passage, (absent.start(), end)):
                yield build_claim(ClaimKind.TASK, passage, (absent.start(), end))
            continue
        after = _unbuilt().search(spoken, end, end + _NEAR)
        if after and len(passage.text[end : after.start()]) <= _BESIDE:
            is_case = not is_path(text) and _is_case_of_row(passage, after)
            if not is_case and _is_said_of(passage, (offset, end), after):
                yield build_claim(ClaimKind.TASK, passage, (offset, after.end()))
            continue
        before = [it for it in marks if it.end() <= offset <= it.end() + _NEAR]
        if before and _words("each_time").search(spoken, 0, before[-1].start()):
            # what is to be done each time is never done
            continue
        if before and is_path(text) and get_work_words(passage.prose[before[-1].end() : offset]):
            # the work is something else, in that file
            continue
        if before:
            yield build_claim(ClaimKind.TASK, passage, (before[-1].start(), end))
        elif _begins_open_item(passage, spoken, offset):
            yield build_claim(ClaimKind.TASK, passage, (offset, end))
        elif parse_symbol(text) and (wish := _find_wish(passage, (offset, end))):
            yield build_claim(ClaimKind.TASK, passage, wish)


def _find_wish(passage: Passage, name: tuple[int, int]) -> tuple[int, int] | None:
    """Return where a sentence that names code wishes for something, from the wish to the name or
    the other way round; None where it wishes for nothing, or for other code.
    """
    start, end = name
    # a name may be one of a wish: `SuggestionChips`
    said = _PLAIN_NAME.sub(lambda it: " " * len(it[0]), passage.prose)
    found = _wish().finditer(lower_text(said))
    wishes = [(min(start, it.start()), max(end, it.end())) for it in found]
    begin, stop = min(wishes, key=lambda it: it[1] - it[0], default=(0, len(said) + _NEAR))
    is_of_other = any(begin <= at < stop and at != start for at, _ in passage.code)
    return None if is_of_other or stop - begin > _NEAR else (begin, stop)


def _find_plain_names(passage: Passage) -> Iterator[tuple[int, str]]:
    """Yield the names of code outside backticks that nothing else is called, with their offsets."""
    is_open = _has_open_word(passage) or _wish().search(lower_text(passage.prose))
    for match in _PLAIN_NAME.finditer(passage.prose) if is_open else ():
        yield match.start(), match[0]


def _has_open_word(passage: Passage) -> bool:
    return triggers().are_in(split_words(passage.prose), passage.prose)


def _is_said_of(passage: Passage, name: tuple[int, int], status: re.Match[str]) -> bool:
    """Return whether a status right behind a name is of that."""
    between = passage.text[name[1] : status.start()]
    is_beside = len(between) <= _BESIDE and _LINK.match(between) is not None
    return is_beside and not is_rule(passage, (name[0], status.end()))


def _is_case_of_row(passage: Passage, status: re.Match[str]) -> bool:
    """Return whether a status says in a row for which case it is: `pierId` does not exist."""
    is_row = passage.statement.text.lstrip().startswith("|")
    return is_row and _words("missing").fullmatch(status[0]) is not None


def _begins_open_item(passage: Passage, spoken: str, offset: int) -> bool:
    """Return whether what is at `offset` begins an item of what is open, which says something of
    it; what is behind the name of a file is in that file.
    """
    if not passage.is_open or not _begins_item(passage):
        return False
    begins = not _WORD.search(spoken, 0, offset) and not _FILE.search(passage.text, 0, offset)
    return begins and _WORD.search(spoken, offset) is not None


def _is_named(text: str, passage: Passage) -> bool:
    """Return whether a span in backticks names code so that it can be searched for: a call of
    anything only in a file that the sentence names.
    """
    if is_path(text) or parse_symbol(text):
        return True
    if text.startswith("-") and not _FILE.search(passage.text):
        # a flag of whatever program
        return False
    if _FILE.search(passage.text) and _CALL.fullmatch(text):
        return True
    is_long = len(text) >= _SHORTEST_LITERAL and _DISTINCTIVE.search(text) is not None
    return is_long and _LITERAL.fullmatch(text) is not None


def _begins_item(passage: Passage) -> bool:
    """Return whether a sentence is the first of an item of a list."""
    text = passage.statement.text
    return _ITEM.match(text) is not None and not _WORD.search(text, 0, passage.start)


def _find_work_tasks(passage: Passage) -> Iterator[ProjectClaim]:
    """Yield the claims that the work named by some words is still to be done."""
    spoken = lower_text(passage.prose)
    if passage.is_open and _begins_item(passage):
        mark = _ITEM.match(passage.text)
        start = mark.end() if mark else 0
        end = next((it.start() for it in _ITEM_END.finditer(spoken, start)), len(spoken))
        yield from _build_work_claim(passage, (start, end), start, end)
    listed = open_list().search(spoken) if _COLON.search(spoken) else None
    if listed:
        start = listed.end()
        for mark in (*_ITEM_END.finditer(spoken, start), None):
            end = mark.start() if mark else len(spoken)
            yield from _build_work_claim(passage, (listed.start(1), end), start, end)
            if mark is None or mark[0][0] not in ",、，+；;":
                break
            start = mark.end()
    if not triggers().are_in(split_words(spoken), spoken):
        return
    for status in _open_status().finditer(spoken):
        if is_rule(passage, status.span()):
            continue
        ends = (it.end() for it in _ITEM_END.finditer(spoken, 0, status.start()))
        start = max([0, *ends])
        if _WORD.search(spoken, start, status.start()):
            yield from _build_work_claim(passage, (start, status.end()), start, status.start())
        else:
            marks = _ITEM_END.finditer(spoken, status.end())
            end = next((it.start() for it in marks), len(spoken))
            yield from _build_work_claim(passage, (status.start(), end), status.end(), end)


def _build_work_claim(
    passage: Passage, span: tuple[int, int], start: int, end: int
) -> Iterator[ProjectClaim]:
    # a file is where something is to be done, not what
    spoken = lower_text(_FILE.sub(" ", passage.prose[start:end]))
    work = get_work_words(drop_verb(spoken))
    names = _get_names(work)
    # one word beside the number of a part is enough where a commit says that it is complete
    is_part = names and any(map(str.isdigit, work)) and not _words("done").search(spoken)
    is_thing = len(names) >= _FEWEST_WORDS and not all(map(_words("common").fullmatch, names))
    is_named = is_thing or is_part
    if is_named and len(work) <= _MOST_WORDS:
        text = passage.text[span[0] : span[1]]
        first = span[0] + len(text) - len(text.lstrip())
        yield build_claim(ClaimKind.TASK, passage, (first, span[0] + len(text.rstrip())), work)


def _get_names(work: frozenset[str]) -> list[str]:
    """Return the words for work that are neither numbers nor parts, nor say that it is done."""
    return [
        word
        for word in work
        if not any(map(str.isdigit, word))
        and word not in _kinds()
        and not _words("done").fullmatch(word)
    ]


def check_task(claim: ProjectClaim, note: Note, project: Project) -> Verdict | None:
    """Return the verdict that what the claim calls undone was done after its line was written;
    None where nothing shows it.
    """
    if claim.work:
        return _check_work(claim, note, project)
    start = claim.passage.text.find(claim.text)
    within = [
        text
        for offset, text in (*_find_plain_names(claim.passage), *claim.passage.code)
        if start <= offset and offset + len(text) <= start + len(claim.text) + 1
    ]
    evidence = _find_written(within[-1], claim, note, project) if within else ()
    return claim.to_refutation(*evidence) if evidence else None


def _check_work(claim: ProjectClaim, note: Note, project: Project) -> Verdict | None:
    """Return the verdict that a commit made that work: one that is about it, where no earlier one
    had its words; of a numbered part, and of work that goes on, one that says that it is complete.
    """
    graph = project.history.graph
    made = graph.find_work(claim.work)
    since = project.find_line_time(note, claim.line) if made else 0.0
    later = [it for it in made if 0 < since < it.commit.at]
    if len(_get_names(claim.work)) < _FEWEST_WORDS:
        proofs = [it for it in later if it.says_complete and it.names_part_of(claim.work)]
    else:
        is_begun = _words("begun").search(lower_text(claim.text)) is not None
        is_new = is_begun or not (later and graph.has_words_before(claim.work, since))
        complete = (it for it in later if it.says_complete or not is_begun)
        proofs = [it for it in complete if is_new and it.is_of(claim.work)]
    return claim.to_refutation(f"git: {proofs[-1].commit.summary}") if proofs else None


def _find_written(text: str, claim: ProjectClaim, note: Note, project: Project) -> tuple[str, ...]:
    """Return the evidence that a file or other code came to be after the line of a claim was
    written; without git, that the file is there.
    """
    if is_path(text):
        path = find_present_file(text, project)
        if path and not project.tree.commit:
            return (f"{path} exists",)
        added = project.history.find_added(path) if path else None
        since = project.find_line_time(note, claim.line) if added else 0.0
        if added is not None and 0 < since < added.at:
            return (f"git: {path} added in {added.summary}",)
        plain = text.rstrip("/")
        is_there = project.tree.has(plain) and _is_denied(text, claim, project)
        return (f"{plain} exists",) if is_there else ()
    name = parse_symbol(text) or text.partition("(")[0]
    if not project.tree.commit or not _is_in_project(name, project):
        return ()
    place = next(_find_in_named(name, claim.passage, project), "")
    is_unique = bool(parse_symbol(text) or _LITERAL.fullmatch(text))
    if not place and is_unique:
        place = project.history.find_place(name, project.memory_folder)
    since = project.find_line_time(note, claim.line) if place else 0.0
    before = project.history.graph.find_at(since) if since else None
    if before is None:
        return ()
    path = place.partition(":")[0]
    if name in project.history.load_text_at(before[0], path):
        return ()
    is_new = is_unique and not project.history.find_files_at(before[0], name)
    if is_new:
        defined = _find_definition(name, project)
        # prose in the code may name what is not there; a call, a header or a route is used there
        is_used = not _NAME.fullmatch(text)
        return (defined or place,) if defined or is_used else ()
    had_file = bool(project.history.load_text_at(before[0], path))
    return (place,) if had_file and _names_file(claim.passage, path) else ()


def _is_denied(path: str, claim: ProjectClaim, project: Project) -> bool:
    """Return whether a claim says that there is no such path, and nothing of where, behind it or as
    a part of the project that has none: at no time was that so of one that is there for long.
    """
    sentence = claim.passage.text
    start = sentence.find(claim.text)
    at = sentence.find(path, start)
    spoken = lower_text(sentence)
    begin, end = at, at + len(path)
    if absent := _absent().search(spoken, 0, begin):
        places = _WORD_OF_PATH.findall(spoken, 0, absent.start())
        if any(map(project.tree.by_name.__contains__, places)):
            return False
    else:
        missing = _words("missing").search(spoken, end)
        if missing is None or spoken[end : missing.start()].strip(" `*_"):
            return False
        end = missing.end()
    return _SENTENCE_END.match(spoken, end) is not None


def _find_in_named(name: str, passage: Passage, project: Project) -> Iterator[str]:
    """Yield the places with `name` in the code files that a sentence names, each with its line."""
    for match in _FILE.finditer(passage.text):
        path = find_present_file(match[0], project)
        for number, line in enumerate(project.load_text(path).split("\n") if path else (), 1):
            if name in line and not COMMENT.match(line):
                yield f"{path}:{number}: {line.strip()[:_NEAR]}"
                break


def _names_file(passage: Passage, path: str) -> bool:
    return any(f"/{path}".endswith(f"/{match[0]}") for match in _FILE.finditer(passage.text))


def _is_in_project(text: str, project: Project) -> bool:
    """Return whether the project contains every longer word of a text: a quick test."""
    return all(map(project.has_word, _find_words(text)))


def _find_words(text: str) -> list[str]:
    return [word for word in re.findall(r"[A-Za-z_]\w*", text) if len(word) >= _SHORTEST_WORD]


def get_absent_words(claim: ProjectClaim) -> Iterator[str]:
    """Yield the words to search the project for, for a claim on what is still to be written."""
    if not claim.work:
        for _, text in (*_find_plain_names(claim.passage), *claim.passage.code):
            if text in claim.text and not is_path(text):
                yield from _find_words(parse_symbol(text) or text.partition("(")[0])


def _find_definition(name: str, project: Project) -> str:
    """Return the place where the code defines `name`, with that line; "" where it does not."""
    definition = build_definition(name)
    for path in project.find_files(name, _MOST_FILES):
        if not path.startswith(project.memory_folder or "\0"):
            for number, line in enumerate(project.load_text(path).split("\n"), 1):
                if name in line and definition.match(line):
                    return f"{path}:{number}: {line.strip()[:_NEAR]}"
    return ""


@cache
def open_list() -> re.Pattern[str]:
    """Return the pattern of what leads to a list of open work, for texts in lower case."""
    words = build_alternation(list_expressions("status", "open_items"))
    # on raw text too: with emphasis, and behind the marks of a list
    # of one line, and with no way back: blank lines would take quadratic time
    blank = r" \t\u00a0\u3000"
    marks = rf"[{blank}*_#>]*+(?:[-+][{blank}]++)?[{blank}*_]*+"
    return re.compile(rf"(?:\A|[.!;]\s|\n){marks}({words})\s*[:：]\s*")


@cache
def triggers() -> Triggers:
    """Return the words without which no text calls work unfinished."""
    return Triggers(list_expressions("status", "words"))


@cache
def _task() -> re.Pattern[str]:
    # no boundary behind: some of the expressions end with a sign
    ends = "|".join(f"(?:{text})" for text in list_expressions("status", "make"))
    kinds, verbs = (build_alternation(list_expressions("status", it)) for it in ("part", "making"))
    of_part = rf"(?:{kinds})s?\W{{0,3}}\d\w{{0,2}}\W{{0,3}}: (?:{verbs})"
    return re.compile(f"{ends}|{of_part}|{build_alternation(list_expressions('status', 'todo'))}")


@cache
def _absent() -> re.Pattern[str]:
    """Return the pattern of the end of a text that denies what comes next."""
    words = build_alternation(list_expressions("status", "absent"))
    return re.compile(rf"(?:{words})[\s`*_(]*\Z")


@cache
def _unbuilt() -> re.Pattern[str]:
    parts = ("unbuilt", "missing")
    return re.compile(
        build_alternation(text for part in parts for text in list_expressions("status", part))
    )


@cache
def _open_status() -> re.Pattern[str]:
    parts = ("unbuilt", "deferred", "begun")
    return re.compile(
        build_alternation(text for part in parts for text in list_expressions("status", part))
    )


@cache
def _wish() -> re.Pattern[str]:
    return compile_part("status", "wish")


@cache
def _kinds() -> frozenset[str]:
    """Return the words for the parts of work, such as `phase`."""
    return frozenset(list_expressions("status", "part"))


@cache
def _words(part: str) -> re.Pattern[str]:
    return compile_part("status", part)
