"""Each outside resource has one module: files, other programs, text that reaches the screen.

Import contracts see modules; these tests see calls. They read the source and run none of it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2] / "app" / "ricordo"

MAY_OPEN = ("storage/", "settings/", "resources.py", "hook/")
MAY_CONNECT = ("storage/state_file.py",)
MAY_CHANGE = ("storage/", "settings/")
MAY_START = (
    "git.py",
    "settings/",
    "tui/edits/editor.py",
    "llm/program.py",
    "services/connect/agent_program.py",
    "hook/program.py",
    "hook/refresh.py",
    "cli/streams.py",
)

FILE_MODULES = frozenset(("os", "io", "codecs", "gzip", "bz2", "lzma", "zipfile", "tarfile"))
READING = frozenset(("read_text", "read_bytes"))
WRITING = frozenset(("write_text", "write_bytes"))
CHANGING_NAMES = frozenset(
    ("remove", "unlink", "rename", "renames", "replace", "rmdir", "removedirs", "truncate")
)
MAKING_NAMES = frozenset(
    ("chmod", "chown", "link", "symlink", "mkdir", "makedirs", "utime", "mkfifo", "mknod")
)
CHANGING_IN_OS = CHANGING_NAMES | MAKING_NAMES
STARTING_IN_OS = ("system", "popen", "exec", "spawn", "posix_spawn", "fork")
SEALED = "Sealed"
MARKUP_WIDGETS = frozenset(("Static", "Label", "OptionList", "SelectionList"))
MARKUP_ATTRIBUTES = frozenset(("border_title", "border_subtitle", "tooltip"))
STYLED_TEXT = frozenset(("Content", "Text"))


class Source(NamedTuple):
    """One module of Ricordo."""

    path: str
    """Relative to the package."""
    tree: ast.Module

    def in_any(self, places: tuple[str, ...]) -> bool:
        return self.path.startswith(places)

    def calls(self) -> Iterator[ast.Call]:
        return (node for node in nodes_of(self.tree) if isinstance(node, ast.Call))

    def at(self, node: ast.AST) -> str:
        return f"{self.path}:{getattr(node, 'lineno', 0)}: {ast.unparse(node)[:90]}"


@cache
def nodes_of(tree: ast.Module) -> list[ast.AST]:
    """Return every node of a tree that does not change, walked once for all tests."""
    return list(ast.walk(tree))


def parsed(path: Path) -> Source:
    return Source(path.relative_to(ROOT).as_posix(), ast.parse(path.read_text("utf-8")))


@cache
def sources() -> list[Source]:
    return [parsed(path) for path in sorted(ROOT.rglob("*.py"))]


@pytest.fixture(scope="module", autouse=True)
def forgotten_sources() -> Iterator[None]:
    """Forget the trees in the end: they are more objects than all others in this process."""
    yield
    sources.cache_clear()
    nodes_of.cache_clear()


def snippet(code: str, path: str = "cli/some.py") -> Source:
    return Source(path, ast.parse(code))


def name_of(node: ast.AST) -> str:
    """Return a dotted name as it is written; "" where the expression is no name."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        before = name_of(node.value)
        return f"{before}.{node.attr}" if before else f".{node.attr}"
    return ""


def last_name(node: ast.AST) -> str:
    return name_of(node).rpartition(".")[2]


# Opening and changing files


def opens_file(call: ast.Call) -> bool:
    """Say whether a call opens a file. The null device is none."""
    name = name_of(call.func)
    if call.args and name_of(call.args[0]) == "os.devnull":
        return False
    if name == "open" or last_name(call.func) in READING | WRITING:
        return True
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "open":
        return False
    return name.partition(".")[0] in FILE_MODULES or is_path(call.func.value)


def is_path(node: ast.AST) -> bool:
    """Say whether an expression looks like a pathlib.Path."""
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Div)
    if isinstance(node, ast.Call):
        return name_of(node.func) in ("Path", "pathlib.Path")
    return last_name(node).endswith(("path", "file"))


def changes_files(call: ast.Call) -> bool:
    """Say whether a call makes, changes, moves or removes a file."""
    name = name_of(call.func)
    module, _, function = name.partition(".")
    if module == "os":
        return function in CHANGING_IN_OS
    if last_name(call.func) in WRITING | {"unlink", "rmdir", "touch"}:
        return True
    # str.replace takes two arguments, Path.replace and Path.rename one
    return function in ("rename", "replace") and len(call.args) == 1 and not call.keywords


def imports_of(source: Source) -> Iterator[tuple[ast.AST, str]]:
    for node in nodes_of(source.tree):
        if isinstance(node, ast.Import):
            yield from ((node, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from ((node, f"{node.module}.{alias.name}") for alias in node.names)


def openings(source: Source) -> list[str]:
    if source.in_any(MAY_OPEN):
        return []
    return [source.at(call) for call in source.calls() if opens_file(call)]


def changes(source: Source) -> list[str]:
    if source.in_any(MAY_CHANGE):
        return []
    found = [source.at(call) for call in source.calls() if changes_files(call)]
    forbidden = ("shutil", "tempfile", *(f"os.{name}" for name in CHANGING_IN_OS))
    return found + [
        source.at(node)
        for node, name in imports_of(source)
        if any(name == module or name.startswith(f"{module}.") for module in forbidden)
        and name not in ("shutil.which", "shutil.get_terminal_size")
    ]


def connections(source: Source) -> list[str]:
    """Return the places that open a file with SQLite, which waits for ever at a pipe."""
    if source.in_any(MAY_CONNECT):
        return []
    return [source.at(call) for call in source.calls() if connects(call)]


def connects(call: ast.Call) -> bool:
    if last_name(call.func) != "connect" or not name_of(call.func).startswith("sqlite3"):
        return False
    return not (call.args and ast.unparse(call.args[0]) == "':memory:'")


# Other programs


def programs(source: Source) -> list[str]:
    if source.in_any(MAY_START):
        return []
    found = [source.at(call) for call in source.calls() if starts_program(call)]
    return found + [
        source.at(node)
        for node, name in imports_of(source)
        if name.partition(".")[0] in ("subprocess", "pty", "multiprocessing")
    ]


def starts_program(call: ast.Call) -> bool:
    module, _, function = name_of(call.func).partition(".")
    if module == "os":
        return function.startswith(STARTING_IN_OS)
    return last_name(call.func).startswith("create_subprocess_")


# Text that leaves


def seals(source: Source) -> list[str]:
    """Return the places that say of a text that it may leave, but for the one that sees to it."""
    if source.path == "llm/redaction.py":
        return []
    return [source.at(call) for call in source.calls() if is_seal(call)]


def is_seal(call: ast.Call) -> bool:
    if last_name(call.func) == "cast":
        return any(SEALED in ast.unparse(part) for part in call.args[:1])
    return last_name(call.func) == SEALED


# Text that reaches the screen


def parsed_as_markup(source: Source) -> list[str]:
    """Return the places where text from outside could be taken as Textual's markup."""
    if not source.in_any(("tui/",)):
        return []
    found = [source.at(call) for call in source.calls() if takes_markup(call)]
    for node in nodes_of(source.tree):
        if isinstance(node, ast.ClassDef) and is_markup_widget(node):
            found += [source.at(call) for call in super_inits(node) if shows_bare_text(call)]
        elif isinstance(node, ast.Assign):
            found += [
                source.at(node)
                for target in node.targets
                if isinstance(target, ast.Attribute)
                and target.attr in MARKUP_ATTRIBUTES
                and not is_safe_text(node.value)
            ]
    return found


def takes_markup(call: ast.Call) -> bool:
    name = last_name(call.func)
    if name == "notify":
        return not says_no_markup(call)
    if name in ("OptionList", "SelectionList"):
        return not says_no_markup(call)
    return name in MARKUP_WIDGETS and shows_bare_text(call)


def shows_bare_text(call: ast.Call) -> bool:
    """Say whether a widget is given text without being told that it holds no markup."""
    texts = call.args[:1] + [k.value for k in call.keywords if k.arg in ("content", "renderable")]
    return bool(texts) and not says_no_markup(call) and not all(map(is_styled_text, texts))


def says_no_markup(call: ast.Call) -> bool:
    return any(
        keyword.arg == "markup"
        and isinstance(keyword.value, ast.Constant)
        and keyword.value.value is False
        for keyword in call.keywords
    )


def is_styled_text(node: ast.AST) -> bool:
    """Say whether an expression makes a Content or a Text: values that are parsed no more."""
    if not isinstance(node, ast.Call):
        return False
    names = name_of(node.func).split(".")
    return not STYLED_TEXT.isdisjoint(names) and names[-1] != "from_markup"


def is_safe_text(node: ast.AST) -> bool:
    """Say whether a value is styled text, nothing, or words of our own without a bracket."""
    if isinstance(node, ast.Constant):
        return node.value is None or (isinstance(node.value, str) and "[" not in node.value)
    return is_styled_text(node)


def is_markup_widget(node: ast.ClassDef) -> bool:
    return any(last_name(base) in MARKUP_WIDGETS for base in node.bases)


def super_inits(node: ast.ClassDef) -> Iterator[ast.Call]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call) and ast.unparse(inner.func) == "super().__init__":
            yield inner


# Lines


def splits_lines(source: Source) -> list[str]:
    if not source.in_any(("memory/", "lint/", "storage/")):
        return []
    return [source.at(call) for call in source.calls() if last_name(call.func) == "splitlines"]


# The tests


def test_files_are_opened_only_by_their_modules():
    assert [place for source in sources() for place in openings(source)] == []


def test_databases_are_opened_only_where_it_is_seen_to_that_they_are_files():
    assert [place for source in sources() for place in connections(source)] == []


def test_an_opened_database_is_seen():
    assert connections(snippet("sqlite3.connect(path)"))
    assert connections(snippet("sqlite3.connect(':memory:')")) == []


def test_files_are_changed_only_on_disk_and_in_the_settings():
    assert [place for source in sources() for place in changes(source)] == []


def test_programs_are_started_only_for_git_the_editor_and_a_curation():
    assert [place for source in sources() for place in programs(source)] == []


def test_workers_are_started_where_no_coroutine_is_made_before_them():
    started = [
        s.path for s in sources() for call in s.calls() if last_name(call.func) == "run_worker"
    ]
    assert started == ["tui/workers.py"]


def test_text_is_made_fit_to_send_by_redaction_alone():
    assert [place for source in sources() for place in seals(source)] == []


def test_no_text_from_outside_is_parsed_as_markup():
    assert [place for source in sources() for place in parsed_as_markup(source)] == []


def test_lines_of_notes_end_at_a_newline_and_nowhere_else():
    assert [place for source in sources() for place in splits_lines(source)] == []


@pytest.mark.parametrize(
    "code",
    [
        "open('x')",
        "os.open(p, os.O_RDONLY)",
        "Path('x').open()",
        "(root / 'x').open()",
        "note_path.read_text()",
        "p.read_bytes()",
    ],
)
def test_an_opened_file_is_seen(code: str):
    assert openings(snippet(code))


@pytest.mark.parametrize("code", ["os.open(os.devnull, 1)", "self.open(note)", "webbrowser.open()"])
def test_what_opens_no_file_is_ignored(code: str):
    assert openings(snippet(code)) == []


@pytest.mark.parametrize(
    "code",
    [
        "os.unlink(p)",
        "os.replace(a, b)",
        "p.rename(q)",
        "p.write_text('x')",
        "import shutil",
        "from os import remove",
        "from tempfile import mkdtemp",
    ],
)
def test_a_changed_file_is_seen(code: str):
    assert changes(snippet(code))


@pytest.mark.parametrize("code", ["text.replace('a', 'b')", "from shutil import which"])
def test_what_changes_no_file_is_ignored(code: str):
    assert changes(snippet(code)) == []


@pytest.mark.parametrize(
    "code",
    [
        "import subprocess",
        "from subprocess import run",
        "os.system(x)",
        "os.execvp(a, b)",
        "await asyncio.create_subprocess_exec(a)",
    ],
)
def test_a_started_program_is_seen(code: str):
    assert programs(snippet(code))


@pytest.mark.parametrize(
    "code",
    [
        "Static(title)",
        "Label(f'{name}')",
        "Static(Content.from_markup(title))",
        "Static(title, markup=True)",
        "self.notify(message)",
        "OptionList(*names)",
        "self.border_title = note.name",
        "self.tooltip = f'[{x}]'",
        "class Title(Static):\n def __init__(self, t):\n  super().__init__(t)",
    ],
)
def test_text_that_would_be_parsed_as_markup_is_seen(code: str):
    assert parsed_as_markup(snippet(code, "tui/some.py"))


@pytest.mark.parametrize(
    "code",
    [
        "Static()",
        "Static(id='title')",
        "Static(title, markup=False)",
        "Static(Content(title))",
        "Label(Content.assemble(a, b))",
        "self.notify(message, markup=False)",
        "self.border_title = 'Index'",
        "self.border_title = Content(note.name)",
        "self.tooltip = None",
        "class Title(Static):\n def __init__(self, t):\n  super().__init__(t, markup=False)",
    ],
)
def test_text_that_is_not_parsed_is_ignored(code: str):
    assert parsed_as_markup(snippet(code, "tui/some.py")) == []


def test_splitting_at_other_than_newlines_is_seen():
    assert splits_lines(snippet("text.splitlines()", "memory/some.py"))
    assert splits_lines(snippet("text.splitlines()", "tui/some.py")) == []


@pytest.mark.parametrize(
    "code", ["Sealed(text)", "redaction.Sealed(text)", "cast(Sealed, text)", "cast('Sealed', text)"]
)
def test_a_text_that_is_said_to_be_sealed_is_seen(code: str):
    assert seals(snippet(code, "llm/engine.py"))
    assert not seals(snippet(code, "llm/redaction.py"))


GROUP_REPEATED_POSSESSIVELY = re.compile(r"(?<!\\)\)(?:[*+?]|\{\d*,?\d*\})\+")


def repeated_groups(source: Source) -> list[str]:
    """Return the strings of a module that repeat a group possessively.

    Python before 3.11.5 matches such expressions wrongly:
    https://github.com/python/cpython/issues/106052
    """
    strings = (node for node in ast.walk(source.tree) if isinstance(node, ast.Constant))
    return [
        source.at(node)
        for node in strings
        if isinstance(node.value, str) and GROUP_REPEATED_POSSESSIVELY.search(node.value)
    ]


def test_no_expression_repeats_a_group_possessively() -> None:
    assert repeated_groups(snippet(r"""re.compile(r"(?:a|b)*+c")"""))
    assert not repeated_groups(snippet(r"""re.compile(r"(?:a|b)*c*+\)*+")"""))
    assert [it for source in sources() for it in repeated_groups(source)] == []
    tables = {path: path.read_text("utf-8") for path in ROOT.rglob("*.toml")}
    assert [path for path, text in tables.items() if GROUP_REPEATED_POSSESSIVELY.search(text)] == []
