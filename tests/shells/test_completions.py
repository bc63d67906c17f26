"""Real shells complete `ricordo`: each line is typed at a pseudo-terminal, with Tab and Enter, and
the arguments are those that a program then gets.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from shlex import quote

import pytest

from ricordo.storage.summary_cache import save_summary
from tests.shells.terminal import Terminal
from tests.support.builders import note_text, write_memory
from tests.support.figures import figure

SHELLS = ("bash", "zsh", "fish")
NAMES = (
    "my note",
    "it's",
    'say "hi"',
    "a:b:c",
    "--dash",
    "[draft] x",
    "naïve café",
    "$HOME",
    "日本語",
    "back\\slash",
    "back`tick",
    "semi;colon",
    "star*",
    "q?",
    "hash # x",
    "#hash",
    "tilde~",
    "~tilde",
    "-x",
    "amp&x",
    "pipe|x",
    "par(en)",
    "br{a,ce}",
    "bang!x",
    "!bang",
    "perc%nt",
    "equals=x",
    "=eq",
    "at@x",
    "two  blanks",
    "emoji 👩‍🚀",
    "<angle>",
    "'quoted'",
    '"q"',
    "^caret",
    "$(touch pwned)",
    "`touch pwned`",
    "'; touch pwned; '",
    "team/on call",
)
"""Names of notes that a shell could misread; the first ones are tried every day."""


@pytest.fixture(params=SHELLS)
def shell(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return the directory in which the shell runs: a project with a memory."""
    write_memory(
        tmp_path / "project" / "memory",
        {
            "MEMORY.md": "- [Tides](tides.md) — which port\n- [Ports](ports of call.md) — where\n",
            "tides.md": note_text("tides"),
            "ports of call.md": note_text("harbours"),
            "feedback_no_squash.md": note_text("commits"),
        },
    )
    return tmp_path / "project"


@pytest.fixture
def terminal(shell: str, tmp_path: Path, place: Path, state: Path) -> Iterator[Terminal]:
    terminal = Terminal(
        shell, tmp_path / "home", place, {"RICORDO_STATE": str(state), "PYTHONPATH": ""}
    )
    yield terminal
    terminal.close()


def write_backslashes(text: str) -> str:
    return "".join(
        char if char.isalnum() or not char.isascii() or char in "/." else f"\\{char}"
        for char in text
    )


def open_double_quote(text: str, shell: str) -> str:
    special = '\\"$' if shell == "fish" else '\\"$`'
    return '"' + "".join(f"\\{char}" if char in special else char for char in text)


def open_single_quote(text: str, shell: str) -> str:
    if shell == "fish":
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'")
    return "'" + text.replace("'", "'\\''")


def test_every_name_of_a_note_arrives_however_it_is_quoted(
    terminal: Terminal, shell: str, tmp_path: Path, place: Path
) -> None:
    failed = []
    for number, name in enumerate(NAMES[: figure("shell_names", everyday=6)]):
        memory = write_memory(tmp_path / f"memory-{number}", {f"{name}.md": note_text()})
        note = f"./{name}" if name.startswith("-") else name
        start = note[: max(1, len(note) // 2)]
        typed = [
            write_backslashes(start),
            # within double quotes, bash and zsh look "!" up in their history
            open_double_quote(start.partition("!")[0], shell),
            open_single_quote(start, shell),
        ]
        # fish hides what begins with a dot until the dot is typed
        typed += [] if shell == "fish" and note.startswith(".") else [""]
        for word in typed:
            words = terminal.complete(f"ricordo show -m {quote(str(memory))} {word}")
            if words != ["show", "-m", str(memory), note]:
                failed.append((word, words))
    assert failed == []
    assert not list(tmp_path.rglob("pwned"))


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("ret", ["retire"]),
        ("--vers", ["--version"]),
        ("lint --sar", ["lint", "--sarif"]),
        ("lint --fail-on wa", ["lint", "--fail-on", "warning"]),
        ("lint --fail-on=wa", ["lint", "--fail-on=warning"]),
        ("lint --rule index-missing", ["lint", "--rule", "index-missing-file"]),
        ("conflicts --resolve x --keep l", ["conflicts", "--resolve", "x", "--keep", "left"]),
        ("completions z", ["completions", "zsh"]),
        ("hook pr", ["hook", "prompt"]),
        ("config ed", ["config", "edit"]),
        ("show ti", ["show", "tides"]),
        ("show po", ["show", "ports of call"]),
        ("show squash", ["show", "feedback_no_squash"]),
        ("show harb", ["show", "harbours"]),
        ("retire tides --successor po", ["retire", "tides", "--successor", "ports of call"]),
        ("search has:orph", ["search", "has:orphan-note"]),
        ("load -m mem", ["load", "-m", "memory"]),
        ("resume HAND", ["resume", "HANDOFF 1.md"]),
        ("curate --session=HAND", ["curate", "--session=HANDOFF 1.md"]),
    ],
)
def test_everything_else_is_completed_too(
    terminal: Terminal, place: Path, typed: str, words: list[str]
) -> None:
    (place / "HANDOFF 1.md").write_text("")
    completed = terminal.complete(f"ricordo {typed}")
    assert [word.removesuffix("/") for word in completed] == words


@pytest.mark.parametrize("shell", ["bash", "zsh"], indirect=True)
def test_notes_are_those_of_the_memory_that_is_named_behind_the_cursor(
    terminal: Terminal, tmp_path: Path
) -> None:
    # fish completes a line as if it ended at the cursor
    memory = write_memory(tmp_path / "other", {"berths.md": note_text()})
    back = f" -m {quote(str(memory))}"
    typed = f"ricordo show be{back}"
    words = terminal.complete(typed, keys="\x1b[D" * len(back) + "\t")
    assert words[:2] == ["show", "berths"]


def test_memories_are_completed_by_their_paths(
    terminal: Terminal, tmp_path: Path, state: Path
) -> None:
    memory = write_memory(tmp_path / "a memory: mine" / "deep", {"berths.md": note_text()})
    save_summary(str(state), str(memory), {"name": "my harbour"})
    start = str(memory)[:-3]
    quoted = start.replace(" ", "\\ ")
    for typed in (f"lint {quoted}", f"load -m {quoted}"):
        assert terminal.complete(f"ricordo {typed}")[-1].removesuffix("/") == str(memory)
    # beside the directories here
    terminal.show("ricordo lint ", "deep")


def test_a_choice_is_listed(terminal: Terminal, shell: str) -> None:
    shown = terminal.show("ricordo lint --fail-on ", "never")
    assert "warning" in shown
    if shell != "bash":
        terminal.show("ricordo ", "create a note and its index entry")


def test_names_that_control_the_terminal_are_not_offered(
    terminal: Terminal, tmp_path: Path
) -> None:
    names = ("a\x1b[31m", "b\nc", "d\te", os.fsdecode(b"f\xff"), "g‮h", "good")
    memory = write_memory(tmp_path / "bad", {f"{name}.md": note_text() for name in names})
    assert terminal.complete(f"ricordo show -m {quote(str(memory))} ") == [
        "show",
        "-m",
        str(memory),
        "good",
    ]


def test_a_program_that_fails_prints_nothing_into_the_line(
    terminal: Terminal, tmp_path: Path
) -> None:
    stub = tmp_path / "home" / "bin" / "ricordo"
    failing = "case $1 in\n  __complete) echo no >&2; exit 1 ;;"
    stub.write_text(stub.read_text().replace("case $1 in", failing))
    assert terminal.complete("ricordo lint --sar") == ["lint", "--sar"]
    assert "no\r\n" not in terminal.shown


def test_a_packaged_script_is_found_by_the_shell(
    shell: str, tmp_path: Path, place: Path, state: Path
) -> None:
    if shell == "bash" and not Path("/usr/share/bash-completion/bash_completion").is_file():
        pytest.skip("not checked: no bash-completion")
    home = tmp_path / "home"
    if shell == "bash" and " " in str(home):
        pytest.skip("not checked: bash-completion 2.11 splits the path of a home at its blanks")
    terminal = Terminal(shell, home, place, {"RICORDO_STATE": str(state)}, packaged=True)
    try:
        # zsh loads a function when it is first called, and it has to complete that time too
        assert terminal.complete("ricordo show po") == ["show", "ports of call"]
        assert terminal.complete("ricordo lint --fail-on=wa") == ["lint", "--fail-on=warning"]
        assert terminal.complete("ricordo show 'po") == ["show", "ports of call"]
    finally:
        terminal.close()
