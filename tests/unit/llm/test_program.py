"""Running a program of the person's: what it is given, and that nothing of it is left."""

from __future__ import annotations

import itertools
import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from ricordo.errors import WrongUsage
from ricordo.llm import program as program_module
from ricordo.llm.failure import FailureCause, ModelFailed
from ricordo.llm.program import (
    Program,
    ProgramReply,
    ProgramResult,
    read_reply,
    resolve_program,
    run_program,
)
from ricordo.llm.question import RequestLimits, TokenUsage
from ricordo.llm.redaction import Sealed

PATIENCE = 60.0
BOUNDS = RequestLimits(total=PATIENCE, max_bytes=200_000)
LONG = "a line of the brief\n" * 100_000


class Stopped(Exception):
    """The person does not want it any more."""


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., str]:
    """Return what runs a shell script as the program, with `$NOTES` as a place to write to."""

    def run_script(
        script: str,
        text: str = "",
        bounds: RequestLimits = BOUNDS,
        step: Callable[[], None] = lambda: None,
    ) -> str:
        environ = {"PATH": os.environ["PATH"], "NOTES": str(tmp_path)}
        words = ["/bin/sh", "-c", script]
        ended = run_program(words, Sealed(text), environ, bounds, step)
        assert ended.code == 0
        return ended.output.decode()

    return run_script


def has_ended(number: str, patience: float = PATIENCE) -> bool:
    """Say whether a process ends, and wait for that: of one that was killed the last thing to go is
    its entry.
    """
    until = time.monotonic() + patience
    while is_running(number) and time.monotonic() < until:
        time.sleep(0.01)
    return not is_running(number)


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
    assert run("cat", LONG, replace(BOUNDS, max_bytes=4_000_000)) == LONG


def test_it_need_not_read_all_of_it(run: Callable[..., str]) -> None:
    assert run("echo done", LONG) == "done\n"


def test_it_knows_that_it_curates_and_runs_in_an_empty_folder(run: Callable[..., str]) -> None:
    said = run("echo $RICORDO_CURATING; ls -A | wc -l; pwd")
    curating, entries, folder = said.splitlines()
    assert (curating, entries.strip()) == ("1", "0")
    assert not Path(folder).exists()


def test_what_it_leaves_in_its_folder_goes(run: Callable[..., str]) -> None:
    folder = run("mkdir a; echo x > a/b; chmod 500 a; pwd").strip()
    assert not Path(folder, "a", "b").exists() or os.geteuid() != 0


def test_it_ends_when_it_is_cancelled(run: Callable[..., str], tmp_path: Path) -> None:
    script = 'echo $$ > "$NOTES/me"; exec sleep 1000'
    with pytest.raises(Stopped):
        run(script, step=stop_once_there(tmp_path / "me"))
    assert not is_running((tmp_path / "me").read_text())


def test_it_ends_when_it_does_not_want_to(run: Callable[..., str], tmp_path: Path) -> None:
    script = "trap '' TERM; echo $$ > \"$NOTES/me\"; while :; do sleep 0.05; done"
    with pytest.raises(Stopped):
        run(script, step=stop_once_there(tmp_path / "me"))
    assert not is_running((tmp_path / "me").read_text())


def test_it_ends_at_its_deadline_and_what_it_waited_for_is_told(
    run: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps_since = 0

    def step() -> None:
        nonlocal steps_since
        steps_since += (tmp_path / "me").exists()

    def clock() -> float:
        """Pass the deadline once what it said has been read, however slow the machine is."""
        return time.monotonic() + (1000.0 if steps_since > 1 else 0.0)

    monkeypatch.setattr(program_module, "time", SimpleNamespace(monotonic=clock, sleep=time.sleep))
    script = 'echo ERROR: waiting for network >&2; echo > "$NOTES/me"; exec sleep 1000'
    with pytest.raises(ModelFailed, match="output of the program: “ERROR: waiting") as caught:
        run(script, step=step)
    assert caught.value.cause is FailureCause.TOO_SLOW


@pytest.fixture(params=[signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda it: it.name)
def number(request: pytest.FixtureRequest) -> Iterator[signal.Signals]:
    """Give a signal that does what it usually does, also where the tests were started in the
    background, with the interrupt ignored.
    """
    usual = signal.default_int_handler if request.param == signal.SIGINT else signal.SIG_DFL
    before = signal.signal(request.param, usual)
    yield request.param
    signal.signal(request.param, before)


def test_it_ends_when_we_are_asked_to_end(
    number: signal.Signals, run: Callable[..., str], tmp_path: Path
) -> None:
    def step() -> None:
        if (tmp_path / "me").exists():
            assert signal.getsignal(number) not in (signal.SIG_DFL, signal.default_int_handler)
            os.kill(os.getpid(), number)

    before = signal.getsignal(number)
    with pytest.raises(KeyboardInterrupt):
        run('echo $$ > "$NOTES/new"; mv "$NOTES/new" "$NOTES/me"; exec sleep 1000', step=step)
    assert not is_running((tmp_path / "me").read_text())
    assert signal.getsignal(number) is before


def test_a_signal_that_we_ignore_ends_nothing(
    number: signal.Signals, run: Callable[..., str], tmp_path: Path
) -> None:
    signal.signal(number, signal.SIG_IGN)

    def step() -> None:
        if (tmp_path / "me").exists():
            os.kill(os.getpid(), number)
            (tmp_path / "sent").touch()

    script = 'touch "$NOTES/me"; while [ ! -e "$NOTES/sent" ]; do sleep 0.01; done; echo answer'
    assert run(script, step=step) == "answer\n"
    assert signal.getsignal(number) == signal.SIG_IGN


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")
def test_all_that_it_started_ends_too(run: Callable[..., str], tmp_path: Path) -> None:
    script = """
        sleep 1000 &
        echo $! > "$NOTES/child"
        setsid sh -c 'echo $$ > "$NOTES/stray"; exec sleep 1000' &
        (setsid env -i NOTES="$NOTES" /bin/sh -c 'echo $$ > "$NOTES/bare"; exec sleep 1000' &)
        while [ ! -s "$NOTES/stray" ] || [ ! -s "$NOTES/bare" ]; do sleep 0.01; done
        echo answer
    """
    assert run(script) == "answer\n"
    assert has_ended((tmp_path / "child").read_text())
    assert has_ended((tmp_path / "stray").read_text())
    assert has_ended((tmp_path / "bare").read_text())


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")
def test_what_lives_on_for_a_while_after_it_was_killed_is_waited_for(
    run: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kill, killed = os.kill, itertools.count()

    def kill_late(number: int, signal: int) -> None:
        if next(killed) >= 30:
            kill(number, signal)

    monkeypatch.setattr(os, "kill", kill_late)
    script = """
        setsid sh -c 'echo $$ > "$NOTES/stray"; exec sleep 1000' &
        while [ ! -s "$NOTES/stray" ]; do sleep 0.01; done
    """
    run(script)
    assert has_ended((tmp_path / "stray").read_text(), patience=1.0)


def test_a_flood_is_cut(run: Callable[..., str]) -> None:
    with pytest.raises(ModelFailed) as caught:
        run("exec yes")
    assert caught.value.cause is FailureCause.TOO_LONG


def test_a_flood_of_errors_is_let_run_off(run: Callable[..., str]) -> None:
    assert run("head -c 3000000 /dev/zero >&2; echo done") == "done\n"


@pytest.mark.parametrize("name", ["/no/such/program", "/", "a\0b"])
def test_what_cannot_be_started_is_told(name: str) -> None:
    with pytest.raises(ModelFailed) as caught:
        run_program([name], Sealed(""), {}, BOUNDS, lambda: None)
    assert caught.value.cause is FailureCause.PROGRAM


# Lines


def test_words_stay_as_they_are_and_no_shell_reads_them() -> None:
    words = ("/my programs/model", "$(touch x)", ";", "rm", "-rf", "~", "|", "tee")
    program = resolve_program(words)
    assert program.words == words
    assert not program.is_known


@pytest.mark.parametrize("line", ["claude", "claude -p", "/opt/bin/claude --print -p --model opus"])
def test_of_claude_memory_hooks_tools_and_sessions_are_turned_off(line: str) -> None:
    program = resolve_program(line.split())
    assert program.is_known
    assert program.words.count("-p") == 1
    tools = program.words.index("--tools")
    assert program.words[tools + 1] == ""
    for switch in ("--safe-mode", "--strict-mcp-config", "--no-session-persistence"):
        assert switch in program.words
    assert json.loads(program.words[program.words.index("--settings") + 1])["disableAllHooks"]


def test_codex_reads_from_its_input_and_may_write_nothing() -> None:
    program = resolve_program(["codex", "exec", "-m", "gpt-6-luna"])
    assert program.words[:4] == ("codex", "exec", "-m", "gpt-6-luna")
    assert program.words[-1] == "-"
    assert program.words[program.words.index("--sandbox") + 1] == "read-only"
    # servers of tools and a notifier stand in the settings, and started whatever was turned off
    assert "--ignore-user-config" in program.words
    assert "codex exec -m gpt-6-luna --ephemeral" in program.line


REFUSED = [
    "claude --dangerously-skip-permissions",
    "claude -p --tools Bash",
    "claude --tools=Bash",
    "claude --continue",
    "codex exec --sandbox danger-full-access",
    "codex --dangerously-bypass-approvals-and-sandbox",
    "codex exec resume --last",
    "codex exec --profile mine",
    "",
]


@pytest.mark.parametrize("line", REFUSED)
def test_a_line_that_opens_what_is_closed_is_not_run(line: str) -> None:
    with pytest.raises(WrongUsage):
        resolve_program(line.split())


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
CLAUDE = resolve_program(["claude"])


def ended(output: bytes, code: int = 0, errors: str = "") -> ProgramResult:
    return ProgramResult(code, output, errors)


def of_claude(code: int = 0, **told: object) -> ProgramResult:
    return ended(json.dumps({**RESULT, **told}).encode(), code)


def failed(program: Program, end: ProgramResult) -> ModelFailed:
    """Return why a program has no answer."""
    failure = read_reply(program, end).failure
    assert failure is not None
    return failure


def test_an_answer_of_claude_is_unwrapped_with_what_it_cost() -> None:
    usage = TokenUsage(input_tokens=120, cache_written=900, cache_read=3000, output_tokens=77)
    assert read_reply(CLAUDE, of_claude()) == ProgramReply('{"edits": []}', usage, 0.00965)


def test_what_it_cost_is_not_known_where_it_says_something_odd() -> None:
    odd = of_claude(usage={"input_tokens": -1}, total_cost_usd="free")
    assert read_reply(CLAUDE, odd) == ProgramReply('{"edits": []}')


@pytest.mark.parametrize("output", [b"", b"Please log in", b"[]", b'{"result": 7}', b"\xff"])
def test_what_is_no_answer_of_claude_is_none(output: bytes) -> None:
    assert failed(CLAUDE, ended(output)).cause is FailureCause.MALFORMED
    assert failed(CLAUDE, ended(output, 1)).cause is FailureCause.PROGRAM


LOG_IN = "Start claude and type /login, or set ANTHROPIC_API_KEY."
RUN_IT = "Run it yourself to see why."
TURNED_DOWN = [
    ("Not logged in · Please run /login", FailureCause.NO_ACCOUNT, LOG_IN),
    ("Failed to authenticate. API Error: 403 no", FailureCause.PROGRAM, LOG_IN),
    ("Credit balance is too low", FailureCause.PROGRAM, LOG_IN),
    ("There's an issue with the selected model (x).", FailureCause.PROGRAM, RUN_IT),
    ("API Error: Claude Code is unable to respond to this request", FailureCause.PROGRAM, RUN_IT),
]
"""As Claude Code 2.1.197 says it on its standard output, when it ends with 1."""


@pytest.mark.parametrize(("said", "cause", "remedy"), TURNED_DOWN)
def test_why_claude_failed_is_told_in_its_words_with_what_to_do(
    said: str, cause: FailureCause, remedy: str
) -> None:
    failure = failed(CLAUDE, of_claude(1, is_error=True, result=said))
    assert (failure.cause, failure.remedy) == (cause, remedy)
    assert f"“{said}”. {remedy}" in str(failure)


def test_a_failure_of_claude_costs_what_it_says() -> None:
    said = read_reply(CLAUDE, of_claude(1, is_error=True, result="API Error", total_cost_usd=0.25))
    assert said.failure is not None
    assert said.usage == TokenUsage(120, 900, 3000, 77)
    assert said.usd == 0.25


CODEX = """OpenAI Codex v0.169.0
user
error: this is what the brief says
ERROR: Reconnecting... 5/5
ERROR: unexpected status 401 Unauthorized: Incorrect API key provided, url: https://x/responses
tokens used
"""


def test_why_codex_failed_is_told_with_what_to_do() -> None:
    failure = failed(resolve_program(["codex"]), ended(b"", 1, CODEX))
    assert "exit code 1, “ERROR: unexpected status 401" in str(failure)
    assert failure.remedy == "Run “codex login”, or set CODEX_API_KEY."


@pytest.mark.parametrize(
    ("output", "errors", "told"),
    [
        (b"x", "working\n\nno account\n", "exit code 3, “no account”."),
        (b"x", "error: no such option\n\nTry --help\n", "“error: no such option”."),
        (b"on the\nother pipe\n", "\n", "exit code 3, “other pipe”."),
        (b"", "\x1b[31mred\n", "“␛[31mred”."),
        (b"", "", "exit code 3. "),
    ],
)
def test_what_a_program_says_at_its_end_is_told(output: bytes, errors: str, told: str) -> None:
    assert told in str(failed(resolve_program(["my-model"]), ended(output, 3, errors)))


@pytest.mark.parametrize(
    "output", ['{"a": 1}', ' {"a": 1}\n', '```json\n{"a": 1}\n```\n', '```\n{"a": 1}\n```']
)
def test_a_fence_around_a_plain_answer_is_taken_off(output: str) -> None:
    assert read_reply(resolve_program(["my-model"]), ended(output.encode())) == ProgramReply(
        '{"a": 1}'
    )
