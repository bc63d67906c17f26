"""A mistyped word is called so, and what is near to it is named: commands, options, values, notes,
ids, rules.
"""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from ricordo.cli.main import run
from ricordo.suggestions import find_near, suggest
from tests.support.builders import note_text
from tests.unit.cli.conftest import Ricordo, contents


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize(
    ("words", "near"),
    [
        ("lst", "list"),
        ("retier ports", "retire"),
        ("retier ports somewhere --reason x", "retire"),
        ("--now 2026-11-20 serach tides", "search"),
        ("--debug hok prompt", "hook"),
        ("cofnig edit", "config"),
        ("undoo -m {memory}", "undo"),
    ],
)
def test_the_nearest_command_is_suggested(
    memory: Path, capsys: pytest.CaptureFixture[str], words: str, near: str
) -> None:
    before = contents(memory)
    assert run([word.format(memory=memory) for word in words.split()]) == 2
    output = capsys.readouterr().err
    assert "neither a command nor a path" in output
    assert f"Did you mean `ricordo {near}`?" in output
    assert contents(memory) == before


@pytest.mark.parametrize("word", ["help", "zzz", "PATH", "\x1b[31m"])
def test_a_word_that_is_near_to_nothing_gets_the_list(
    capsys: pytest.CaptureFixture[str], word: str
) -> None:
    assert run([word]) == 2
    output = capsys.readouterr().err.rstrip("\n")
    assert "neither a command nor a path" in output
    assert "Did you mean" not in output
    assert "`ricordo --help`" in output
    assert output.isprintable()


def test_a_path_that_is_there_is_opened_whatever_it_is_called(
    memory: Path, elsewhere: Path, ricordo: Ricordo, capsys: pytest.CaptureFixture[str]
) -> None:
    (elsewhere / "lst").symlink_to(memory)
    assert run(["lst"]) == 0
    assert "tides.md" in capsys.readouterr().out


def test_a_path_that_is_not_there_is_still_called_a_path(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for word in ("./lst", "some/where"):
        assert run([word]) > 1
        assert "does not exist." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "near"),
    [
        ("lint --jsno", "`--json`"),
        ("lint --fail_on=info", "`--fail-on`"),
        ("handoff --buget 3", "`--budget`"),
        ("lint --fail-on eror", "“error”"),
        ("handoff --for cluade", "“claude”"),
        ("config pth", "“path”"),
        ("completions bahs", "“bash”"),
        ("lint --rule daed-link", "“dead-link”"),
        ("lint --rule link", "“dead-link”"),
        ("rule daed-link", "“dead-link”"),
        ("show tide -m {memory}", "“tides”"),
        ("show Prots -m {memory}", "“ports”"),
        ("rename prots harbours -m {memory}", "“ports”"),
        ("retire tides --successor prots -m {memory}", "“ports”"),
        ("new x --type feedbak -m {memory}", "“feedback”"),
    ],
)
def test_what_may_have_been_meant_is_suggested(
    memory: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    words: str,
    near: str,
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    before = contents(memory)
    assert run([word.format(memory=memory) for word in words.split()]) in (2, 3)
    output = capsys.readouterr().err
    assert f"Did you mean {near}?" in output
    assert output.count("\n") == 1
    assert contents(memory) == before


def test_an_id_with_a_mistyped_character_is_suggested(
    memory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (memory / "tides.md").write_text(note_text("tides", "See [x](gone.md).\n"))
    run(["lint", "--json", "-m", str(memory)])
    (id,) = {
        finding["id"]
        for finding in json.loads(capsys.readouterr().out)["findings"]
        if finding["rule"] == "dead-link"
    }
    wrong = id[:5] + ("0" if id[5] != "0" else "1") + id[6:]
    assert run(["lint", "--dismiss", wrong, "-m", str(memory)]) == 2
    assert f"Did you mean “{id}”?" in capsys.readouterr().err
    assert run(["lint", "--dismiss", "000000000000", "-m", str(memory)]) == 2
    assert "Did you mean" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "words", ["lint --zzz", "lint --fail-on zzz", "lint --rule zzz", "show zzz -m {memory}"]
)
def test_nothing_is_suggested_for_what_is_near_to_nothing(
    memory: Path, capsys: pytest.CaptureFixture[str], words: str
) -> None:
    assert run([word.format(memory=memory) for word in words.split()]) in (2, 3)
    assert "Did you mean" not in capsys.readouterr().err


def test_suggestions_are_few_and_the_likeliest_ones() -> None:
    known = ["harbour one", "harbour_two", "harbour-three", "moorings"]
    assert find_near("HARBOUR TWO", known) == ["harbour_two"]
    assert find_near("mooring", known) == ["moorings"]
    assert find_near("bour", known) == ["harbour one", "harbour-three", "harbour_two"]
    assert find_near("bour", [*known, "harbour four"]) == []
    assert find_near("", known) == []
    assert suggest("abcd", ["abce", "abcf"]) == "Did you mean “abce” or “abcf”?"
    assert suggest("ab\x1bcd", ["ab\x1bce"]) == "Did you mean “ab␛ce”?"
    assert find_near("x" * 100_000, ["x" * 99_999, "y"]) == ["x" * 99_999]


@pytest.mark.parametrize(
    ("words", "way_out", "code"),
    [
        (["restore", "tides", "1.5"], "A version is named by `--at 1.5`.", 3),
        (["restore", "tides"], "`ricordo history NOTE` lists its versions.", 3),
        (["purge"], "Pipe it, or enter it in a terminal", 2),
    ],
)
def test_a_refusal_says_what_to_do(
    memory: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    way_out: str,
    code: int,
) -> None:
    monkeypatch.chdir(memory)
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert run(words) == code
    assert way_out in capsys.readouterr().err


def test_a_part_of_many_names_is_answered_with_the_first_of_them(
    memory: Path, ricordo: Ricordo
) -> None:
    for day in range(1, 7):
        (memory / f"snapshot_2026-06-0{day}.md").write_text(note_text(f"snapshot of day {day}"))
    said = ricordo("show", "2026-06", code=3)
    assert "6 names contain it, such as “snapshot_2026-06-01”, “snapshot_2026-06-02”" in said


def test_a_server_that_a_user_starts_names_a_memory_that_is_not_there(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    assert run(["mcp", "-m", "/nowhere/memory"]) == 3
    assert "/nowhere/memory does not exist" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("config zzz", "`ricordo config` takes one of show, edit, path, conventions, not “zzz”."),
        ("lint --color pink", "--color takes one of auto, always, never, not “pink”."),
        ("rename", "`ricordo rename` needs NOTE, NAME."),
        ("list tides ports", "`ricordo list` does not take “tides ports”."),
        ("lint --ignore", "--ignore needs a value."),
        ("lint --json --sarif", "--sarif and --json cannot be used together."),
        ("lint --full=3", "--full takes no value such as “3”."),
        ("handoff --budget much", "--budget expects a number, not “much”."),
        ("search tides -n none", "-n expects a number from 1, not “none”."),
    ],
)
def test_a_wrong_argument_is_named_in_plain_words(
    capsys: pytest.CaptureFixture[str], words: str, message: str
) -> None:
    assert run(words.split()) == 2
    output = capsys.readouterr().err
    assert f"ricordo: {message} See `ricordo {words.split()[0]} --help`." in output


@pytest.mark.parametrize(
    ("words", "way_out"),
    [
        (["show", "-rf"], "`ricordo show -- -rf`"),
        (["search", "-word", "tides"], "`ricordo search -- -word`"),
        (["show", "-quiet"], "`ricordo show -- -quiet`"),
        (["retire", "tides", "--reason", "-old"], "`--reason=-old`"),
    ],
)
def test_a_value_that_begins_with_a_dash_is_told_how_to_be_written(
    capsys: pytest.CaptureFixture[str], words: list[str], way_out: str
) -> None:
    assert run(words) == 2
    assert way_out in capsys.readouterr().err


def test_that_way_to_write_it_works(memory: Path, ricordo: Ricordo) -> None:
    (memory / "-rf.md").write_text(note_text("rf", "Reefs.\n"))
    assert "Reefs." in ricordo("show", "-m", str(memory), "--", "-rf")
    ricordo("retire", "tides", "--reason=-old")
    assert "-old" in ricordo("history")


@pytest.mark.parametrize("words", ["list -x", "show --jsno x", "search tides -type:user -n 0"])
def test_dashes_are_explained_only_where_they_help(
    capsys: pytest.CaptureFixture[str], words: str
) -> None:
    assert run(words.split()) == 2
    assert "dash" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        *("show nosuch", "rule nosuch", "search type:nosuch", "history nosuch", "load /nowhere"),
        *("lint --rule nosuch", "inbox nosuch", "config nosuch", "pending --zzz", "list --zzz"),
    ],
)
def test_a_command_that_only_reads_does_not_say_that_nothing_was_changed(
    memory: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: str,
) -> None:
    monkeypatch.chdir(memory)
    assert run(words.split()) in (2, 3)
    assert "Nothing was changed" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        *("retire nosuch", "rename tides", "restore nosuch", "inbox --revert nosuch"),
        *("lint --fix --rule nosuch", "lint --dismiss nosuch", "handoff --zzz", "connect zzz"),
        *("conflicts --resolve nosuch --keep left", "config conventions --set=nosuch"),
        "history --drop",
    ],
)
def test_a_command_that_changes_something_says_that_nothing_was_changed(
    memory: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: str,
) -> None:
    monkeypatch.chdir(memory)
    assert run(words.split()) in (2, 3, 4)
    assert capsys.readouterr().err.endswith("Nothing was changed.\n")
