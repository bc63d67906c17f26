"""Running a program of the person's: what it is given, and that nothing of it is left."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from ricordo.errors import WrongUsage
from ricordo.model.bounds import Bounds
from ricordo.model.failure import Cause, ModelFailed
from ricordo.model.program import run_program
from ricordo.model.programs import Said, program_of, unwrapped
from ricordo.model.question import Usage
from ricordo.model.redaction import Sealed

BOUNDS = Bounds(total=60, most_bytes=200_000)
LONG = "a line of the brief\n" * 100_000


class Stopped(Exception):
    """The person does not want it any more."""


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., str]:
    """Return what runs a shell script as the program, with `$NOTES` as a place to write to."""

    def run_script(
        script: str,
        text: str = "",
        bounds: Bounds = BOUNDS,
        step: Callable[[], None] = lambda: None,
    ) -> str:
        environ = {"PATH": os.environ["PATH"], "NOTES": str(tmp_path)}
        return run_program(["/bin/sh", "-c", script], Sealed(text), environ, bounds, step).decode()

    return run_script


def is_running(number: str) -> bool:
    """Say whether a process runs; one that nobody has buried yet does not."""
    try:
        state = Path(f"/proc/{int(number)}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def stop_once_there(file: Path) -> Callable[[], None]:
    """Return a step that stops when `file` has been written."""

    def step() -> None:
        if file.exists() and file.read_text().endswith("\n"):
            raise Stopped

    return step


def test_it_reads_the_brief_and_answers(run: Callable[..., str]) -> None:
    assert run("cat", "the brief") == "the brief"


def test_a_long_brief_is_fed_while_it_answers(run: Callable[..., str]) -> None:
    assert run("cat", LONG, replace(BOUNDS, most_bytes=4_000_000)) == LONG


def test_it_need_not_read_all_of_it(run: Callable[..., str]) -> None:
    assert run("echo done", LONG) == "done\n"


def test_it_is_told_that_it_curates_and_stands_in_an_empty_folder(run: Callable[..., str]) -> None:
    curating, entries, folder = run("echo $RICORDO_CURATING; ls -A | wc -l; pwd").split()
    assert (curating, entries) == ("1", "0")
    assert not Path(folder).exists()


def test_what_it_leaves_in_its_folder_goes(run: Callable[..., str]) -> None:
    folder = run("mkdir a; echo x > a/b; chmod 500 a; pwd").strip()
    assert not Path(folder, "a", "b").exists() or os.geteuid() != 0


def test_it_ends_when_it_is_cancelled(run: Callable[..., str], tmp_path: Path) -> None:
    script = "echo $$ > $NOTES/me; exec sleep 1000"
    with pytest.raises(Stopped):
        run(script, step=stop_once_there(tmp_path / "me"))
    assert not is_running((tmp_path / "me").read_text())


def test_it_ends_when_it_does_not_want_to(run: Callable[..., str], tmp_path: Path) -> None:
    script = "trap '' TERM; echo $$ > $NOTES/me; while :; do sleep 0.05; done"
    with pytest.raises(Stopped):
        run(script, step=stop_once_there(tmp_path / "me"))
    assert not is_running((tmp_path / "me").read_text())


def test_it_ends_at_its_deadline(run: Callable[..., str]) -> None:
    with pytest.raises(ModelFailed) as caught:
        run("exec sleep 1000", bounds=replace(BOUNDS, total=0.3))
    assert caught.value.cause is Cause.TOO_SLOW


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")
def test_all_that_it_started_ends_too(run: Callable[..., str], tmp_path: Path) -> None:
    script = """
        sleep 1000 &
        echo $! > $NOTES/child
        setsid sh -c 'echo $$ > $NOTES/stray; exec sleep 1000' &
        while [ ! -s $NOTES/stray ]; do sleep 0.01; done
        echo answer
    """
    assert run(script) == "answer\n"
    assert not is_running((tmp_path / "child").read_text())
    assert not is_running((tmp_path / "stray").read_text())


def test_a_flood_is_cut(run: Callable[..., str]) -> None:
    with pytest.raises(ModelFailed) as caught:
        run("exec yes")
    assert caught.value.cause is Cause.TOO_LONG


def test_a_flood_of_errors_is_let_run_off(run: Callable[..., str]) -> None:
    assert run("head -c 3000000 /dev/zero >&2; echo done") == "done\n"


def test_what_it_says_at_its_end_is_told(run: Callable[..., str]) -> None:
    with pytest.raises(ModelFailed, match=r"it ended with 3\. not logged in") as caught:
        run("echo working >&2; echo not logged in >&2; exit 3")
    assert caught.value.cause is Cause.PROGRAM


@pytest.mark.parametrize("name", ["/no/such/program", "/", "a\0b"])
def test_what_cannot_be_started_is_told(name: str) -> None:
    with pytest.raises(ModelFailed) as caught:
        run_program([name], Sealed(""), {}, BOUNDS, lambda: None)
    assert caught.value.cause is Cause.PROGRAM


# Lines


def test_a_line_is_words_and_no_shell_reads_it() -> None:
    program = program_of("my-model '$(touch x)' ; rm -rf ~ | tee")
    assert program.words == ("my-model", "$(touch x)", ";", "rm", "-rf", "~", "|", "tee")
    assert not program.is_known


@pytest.mark.parametrize("line", ["claude", "claude -p", "/opt/bin/claude --print -p --model opus"])
def test_of_claude_memory_hooks_tools_and_sessions_are_turned_off(line: str) -> None:
    program = program_of(line)
    assert program.is_known
    assert program.words.count("-p") == 1
    tools = program.words.index("--tools")
    assert program.words[tools + 1] == ""
    for switch in ("--safe-mode", "--strict-mcp-config", "--no-session-persistence"):
        assert switch in program.words
    assert json.loads(program.words[program.words.index("--settings") + 1])["disableAllHooks"]


def test_codex_reads_from_its_input_and_may_write_nothing() -> None:
    program = program_of("codex exec -m gpt-6-luna")
    assert program.words[:4] == ("codex", "exec", "-m", "gpt-6-luna")
    assert program.words[-1] == "-"
    assert program.words[program.words.index("--sandbox") + 1] == "read-only"
    assert "codex exec -m gpt-6-luna --ephemeral" in program.line


REFUSED = [
    "claude --dangerously-skip-permissions",
    "claude -p --tools Bash",
    "claude --tools=Bash",
    "claude --continue",
    "codex exec --sandbox danger-full-access",
    "codex --dangerously-bypass-approvals-and-sandbox",
    "codex exec resume --last",
    "",
    "claude 'unclosed",
]


@pytest.mark.parametrize("line", REFUSED)
def test_a_line_that_opens_what_is_closed_is_not_run(line: str) -> None:
    with pytest.raises(WrongUsage):
        program_of(line)


# Answers

RESULT = {
    "type": "result",
    "subtype": "success",
    "is_error": False,
    "result": '{"edits": []}',
    "total_cost_usd": 0.00965,
    "usage": {
        "input_tokens": 120,
        "cache_creation_input_tokens": 900,
        "cache_read_input_tokens": 3000,
        "output_tokens": 77,
    },
}
"""As Claude Code 2.1.197 answers with `--output-format json`, shortened."""
CLAUDE = program_of("claude")


def test_an_answer_of_claude_is_unwrapped_with_what_it_cost() -> None:
    usage = Usage(input_tokens=120, cache_written=900, cache_read=3000, output_tokens=77)
    expected = Said('{"edits": []}', usage, 0.00965)
    assert unwrapped(CLAUDE, json.dumps(RESULT).encode()) == expected


def test_what_it_cost_is_not_known_where_it_says_something_odd() -> None:
    odd = {**RESULT, "usage": {"input_tokens": -1}, "total_cost_usd": "free"}
    assert unwrapped(CLAUDE, json.dumps(odd).encode()) == Said('{"edits": []}')


@pytest.mark.parametrize("output", [b"", b"Please log in", b"[]", b'{"result": 7}', b"\xff"])
def test_what_is_no_answer_of_claude_is_none(output: bytes) -> None:
    with pytest.raises(ModelFailed) as caught:
        unwrapped(CLAUDE, output)
    assert caught.value.cause is Cause.MISSHAPEN


def test_that_it_failed_is_told_in_its_words() -> None:
    failed = {**RESULT, "is_error": True, "result": "Invalid API key · Please run /login"}
    with pytest.raises(ModelFailed, match="Please run /login"):
        unwrapped(CLAUDE, json.dumps(failed).encode())


@pytest.mark.parametrize(
    "output", ['{"a": 1}', ' {"a": 1}\n', '```json\n{"a": 1}\n```\n', '```\n{"a": 1}\n```']
)
def test_a_fence_around_a_plain_answer_is_taken_off(output: str) -> None:
    assert unwrapped(program_of("my-model"), output.encode()) == Said('{"a": 1}')
