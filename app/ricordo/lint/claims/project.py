"""A project for claim checks: its files, words and git history, each read once."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from ricordo.lexicon import read_words
from ricordo.lint.claims.corrected_values import CorrectedValues
from ricordo.lint.claims.history import CODE_ENDINGS, ProjectHistory, parse_end_of_day
from ricordo.lint.claims.instructions import Instructions, is_instruction_file
from ricordo.lint.claims.manifests import Manifests
from ricordo.memory.note import Note, get_stem
from ricordo.patterns import compile_lazily
from ricordo.storage.project_tree import ProjectTree
from ricordo.storage.project_words import ProjectWords

_SUBMODULE = compile_lazily(r"^[ \t]*path[ \t]*=[ \t]*(.*\S)", re.MULTILINE)
_WORD = compile_lazily(r"[^\W_]+")
_TOLD = (
    *(".md", ".mdx", ".markdown", ".txt", ".rst", ".adoc", ".org"),
    *(".jsonl", ".log", ".csv", ".diff", ".patch"),
)
"""The endings of pages and records, which tell of code and are none."""
_FEWEST_IMPORTED = 10
"""Files of a memory that came with one commit, from which on they were written before it."""
_FEWEST_WORDS = 2
"""Words with which a link may name a page: one is the beginning of many."""


class NoteTimes(NamedTuple):
    """When a note was written and last changed, in seconds since the epoch; 0 where unknown."""

    written: float
    changed: float


class AskedFacts:
    """What was asked about a project besides which files it has."""

    def __init__(self) -> None:
        self.exists: dict[str, bool | None] = {}
        """The answers on paths that are not listed, such as those that git ignores."""
        self.read: set[str] = set()
        """The files of which the text was used."""
        self.words: set[str] = set()
        """The words by which files were searched."""


class Project:
    """One project at one moment."""

    def __init__(
        self,
        tree: ProjectTree,
        words: ProjectWords,
        history: ProjectHistory,
        memory_root: str,
        own_names: Iterable[str],
        page_folder: str = "",
    ) -> None:
        """`own_names` are the file names of the memory: a note that names one means the memory, not
        the project; `page_folder` as in Layout.
        """
        self.tree = tree
        self.words = words
        self.history = history
        self.memory_names = frozenset(own_names)
        self.page_folder = page_folder
        inside = self.to_relative(memory_root)
        self.memory_folder = f"{inside}/" if inside else ""
        """The memory's folder in the project, which is no evidence for claims of notes."""
        self.is_all_memory = os.path.realpath(tree.root) == os.path.realpath(memory_root)
        """Whether the project is nothing but the memory, as the repository of a wiki is."""
        self._lines: dict[str, int | None] = {}
        self._presence: dict[str, bool] = {}
        self._in_code: frozenset[str] = frozenset()
        self.asked = AskedFacts()
        """What the checks of one note asked besides the listed files; the caller replaces it."""

    def to_relative(self, path: str) -> str | None:
        """Return an absolute `path` relative to the project; None where it is outside."""
        root = self.tree.root.rstrip("/")
        for spelling in (root, os.path.realpath(root)):
            if path.startswith(f"{spelling}/"):
                return path.removeprefix(f"{spelling}/")
        return None

    def is_of_memory(self, path: str) -> bool:
        """Return whether a file of the project belongs to the memory that lies in it: code beside
        the notes does not.
        """
        is_below = bool(self.memory_folder) and path.startswith(self.memory_folder)
        return is_below and not path.endswith(CODE_ENDINGS)

    def search_words(self, words: Iterable[str]) -> None:
        """Search the project for all `words` at once, which is faster than one by one."""
        unknown = {word for word in words if word not in self._presence}
        if unknown:
            present = self.words.find_present(unknown, self.is_of_memory)
            self._presence.update((word, word in present) for word in unknown)
            self._in_code |= self.words.find_present(present, self.is_told)

    def has_word(self, word: str) -> bool:
        """Return whether any file of the project outside the memory contains `word`."""
        self.search_words((word,))
        return self._presence[word]

    def is_any_in_code(self, words: Collection[str]) -> bool:
        """Return whether any file of the project outside the memory contains one of `words` that is
        no page or record: these may tell of what was.
        """
        self.search_words(words)
        return not self._in_code.isdisjoint(words)

    def is_told(self, path: str) -> bool:
        """Return whether a file is a page, a record or of the memory: it may tell of what was."""
        return path.lower().endswith(_TOLD) or self.is_of_memory(path)

    def has_any_word(self, words: Collection[str]) -> bool:
        """Return whether any file of the project outside the memory contains one of `words`."""
        self.search_words(words)
        return any(self._presence[word] for word in words)

    def exists(self, path: str) -> bool | None:
        """Return what `ProjectTree.exists` returns."""
        answer = self.asked.exists[path] = self.tree.exists(path)
        return answer

    def find_files(self, word: str, most: int) -> list[str]:
        """Return up to `most` files that contain `word`, as `ProjectWords.find_files` does."""
        self.asked.words.add(word)
        return self.words.find_files(word, most)

    def count_lines(self, path: str) -> int | None:
        """Return the number of lines of a file; None where it is binary or not readable whole."""
        self.asked.read.add(path)
        if path not in self._lines:
            stamp = self.tree.files[path]
            raw = self.tree.read(path) or b""
            is_whole = len(raw) == stamp.size and b"\0" not in raw
            lines = len(raw.split(b"\n")) - (not raw or raw.endswith(b"\n"))
            self._lines[path] = lines if is_whole else None
        return self._lines[path]

    def load_text(self, path: str) -> str:
        """Return the text of a file; "" where it cannot be read."""
        self.asked.read.add(path)
        return (self.tree.read(path) or b"").decode("utf-8", "replace")

    def find_times(self, note: Note) -> NoteTimes:
        """Return when `note` was written and last changed: by git, else by its frontmatter."""
        folder, path = self.memory_folder, self.memory_folder + note.path
        if folder and path in self.tree.files:
            times = self.history.find_times(folder).get(path)
            if times:
                return NoteTimes(*times)
        stated = parse_end_of_day(note.stated_date) or 0.0
        return NoteTimes(stated, stated)

    def find_line_time(self, note: Note, line: int) -> float:
        """Return when the 1-based `line` of `note` was written, in seconds since the epoch: by git
        where the note lies in the project, else by its frontmatter; 0 where it is not known.
        """
        folder, path = self.memory_folder, self.memory_folder + note.path
        if not folder or path not in self.tree.files:
            return self.find_times(note).written
        text = note.text.split("\n")[line - 1].rstrip("\r")
        return self.history.find_line_time(path, text, folder)

    def find_claim_time(self, note: Note, claim: str) -> float:
        """Return when the text of a `claim` came to `note`, in seconds since the epoch, as
        find_line_time does. A note that was committed whole may be older: then its date counts; of
        one without a date that was imported with many others, the time is not known (0).
        """
        folder, path = self.memory_folder, self.memory_folder + note.path
        written = self.find_times(note).written
        if not folder or path not in self.tree.files:
            return written
        at = self.history.find_line_time(path, claim, folder)
        if at != written:
            return at
        times = self.history.find_times(folder).values()
        is_imported = sum(first == written for first, _ in times) >= _FEWEST_IMPORTED
        return min(at, parse_end_of_day(note.stated_date) or (0.0 if is_imported else at))

    @cached_property
    def own_names(self) -> frozenset[str]:
        """What the project is called, in lower case: its folder, its packages, its remotes."""
        folder = os.path.basename(os.path.realpath(self.tree.root))
        remotes = (it.rstrip("/").removesuffix(".git") for it in self.history.remotes)
        names = (folder, *self.manifests.projects, *(re.split(r"[/:]", it)[-1] for it in remotes))
        return frozenset(map(str.lower, names))

    @cached_property
    def by_stem(self) -> dict[str, str]:
        """A file by every tail of its path, without the extension of its name."""
        by_stem: dict[str, str] = {}
        for path in self.tree.files:
            stem = path.rpartition(".")[0] if "." in path.rpartition("/")[2] else path
            parts = stem.split("/")
            for count in range(1, min(len(parts), 6)):
                by_stem.setdefault("/".join(parts[-count - 1 :]), path)
        return by_stem

    def is_elsewhere(self, path: str) -> bool:
        """Return whether a folder above `path`, from the root or from a folder of the project, is a
        link or a submodule now, whose files are those of another place.
        """
        parts = path.split("/")
        above = {"/".join(parts[:count]) for count in range(1, len(parts))}
        # one name is that of many folders
        ends = tuple(f"/{it}" for it in above if "/" in it)
        return any(it in above or it.endswith(ends) for it in self._elsewhere)

    def is_left_out(self, path: str) -> bool:
        """Return whether `path` may exist on one machine and not on another: git ignores it, or it
        is made by tools.
        """
        ignored, made = self.tree.ignored, read_words("probes")["made"]["folders"]
        is_made = not set(path.split("/")).isdisjoint(made)
        return is_made or ignored.ignores(path) or ignored.ignores(path, is_folder=True)

    @cached_property
    def _elsewhere(self) -> frozenset[str]:
        """The links and the submodules, also those that are not checked out."""
        declared = self.load_text(".gitmodules") if ".gitmodules" in self.tree.files else ""
        return self.tree.links | frozenset(_SUBMODULE.findall(declared))

    @cached_property
    def folder_names(self) -> frozenset[str]:
        """The names of all folders."""
        return frozenset(it.rpartition("/")[2] for it in self.tree.folders)

    @cached_property
    def files_by_folder(self) -> Mapping[str, Sequence[str]]:
        """The paths of the files by the folder in which they are."""
        folders: dict[str, list[str]] = {}
        for path in sorted(self.tree.files):
            folders.setdefault(path.rpartition("/")[0], []).append(path)
        return folders

    def find_page(self, name: str) -> str:
        """Return the one page of the project, outside the memory, that a wikilink to `name` means:
        one of that name, at the root of the project or the only one, or the only one whose name
        begins with several of its words; a path is that of the page from some folder. "" for none,
        and where a file of the memory has that name.
        """
        path = f"{name.removesuffix('.md')}.md"
        if path in self.memory_names:
            return ""
        words = _split_name(get_stem(path))
        own = self.memory_names if self.is_all_memory else ()
        begun = [it for it in self._pages.get(words, ()) if it.rpartition("/")[2] not in own]
        if "/" in path:
            begun = [it for it in begun if f"/{it}".endswith(f"/{path}")]
        pages = [it for it in begun if _split_name(get_stem(it)) == words] or begun
        # of several the one at the root, as Obsidian takes it
        pages = [it for it in pages if it == path] or pages
        return pages[0] if len(pages) == 1 else ""

    @cached_property
    def _pages(self) -> dict[tuple[str, ...], list[str]]:
        """The pages outside the memory by their names, and by several words with which these
        begin.
        """
        pages: dict[tuple[str, ...], list[str]] = {}
        for path in self.tree.files:
            if path.lower().endswith(".md") and not self.is_of_memory(path):
                words = _split_name(get_stem(path))
                for count in {*range(_FEWEST_WORDS, len(words)), len(words)}:
                    pages.setdefault(words[:count], []).append(path)
        return pages

    @cached_property
    def introductions(self) -> list[str]:
        """The files that tell agents or readers what the project is now."""
        readers = ("readme.md", "readme.rst", "readme.txt")
        paths = self.tree.files
        return [it for it in paths if is_instruction_file(it) or it.lower() in readers]

    @cached_property
    def corrected_values(self) -> CorrectedValues:
        """The values that commits replaced in the project's pages and settings."""
        return CorrectedValues(self.history.find_hunks("*.md", "*.mdx", "*.rst", "*.toml"))

    @cached_property
    def manifests(self) -> Manifests:
        """The declarations of the project's manifests."""
        return Manifests.from_tree(self.tree)

    @cached_property
    def instructions(self) -> Instructions:
        """The project's instructions to agents, line by line."""
        return Instructions.from_tree(self.tree)


def _split_name(name: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(name.lower()))
