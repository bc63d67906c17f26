"""`ricordo curate` and `ricordo pending`, called as a person calls them."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from ricordo.cli.main import run
from tests.support.builders import SHARED, note_text, write_memory
from tests.support.curating import SESSION, user_lines
from tests.unit.cli.conftest import INDEX, Ricordo, contents, settle

LEDGER = (
    "at", "engine", "model", "prompt_version", "input_tokens", "output_tokens", "usd", "accepted",
    "rejected",
)  # fmt: skip
RULE = "From now on write commands with uv run, not with pip."


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    path = tmp_path / f"{SESSION}.jsonl"
    path.write_text(user_lines("Fix the test.", RULE), "utf-8")
    return path


def test_a_rule_becomes_a_note_with_its_quote_as_evidence(
    ricordo: Ricordo, memory: Path, transcript: Path
) -> None:
    before = contents(memory)
    told = json.loads(ricordo("curate", "--session", str(transcript), "--dry-run", "--json"))
    assert contents(memory) == before
    assert [it["op"] for it in told["changes"]] == ["create"]
    (change,) = told["changes"]
    assert change["evidence"] == [{"source": f"{transcript}#p1", "quote": RULE, "found": True}]
    assert change["warnings"] == []
    assert "+  type: feedback" in change["diff"]
    assert set(told) == {
        "schema", "engine", "model", "prompt_version", "estimate", "usage", "changes", "rejected"
    }  # fmt: skip
    assert json.loads(ricordo("pending", "--json"))["changes"] == []


def test_proposals_are_pending_until_applied_and_can_be_undone(
    ricordo: Ricordo, memory: Path, transcript: Path
) -> None:
    before = contents(memory)
    ricordo("curate", "--session", str(transcript))
    assert contents(memory) == before
    (waiting,) = json.loads(ricordo("pending", "--json"))["changes"]
    assert "1 applied, 0 not applied" in ricordo("pending", "--apply")
    assert (memory / waiting["path"]).read_text("utf-8").endswith("Said on 2026-11-12.\n")
    assert waiting["path"] in (memory / "MEMORY.md").read_text("utf-8")
    assert "curator rules" in ricordo("history")
    assert json.loads(ricordo("pending", "--json"))["changes"] == []
    assert ", with 1 proposal\n" in ricordo("undo")
    assert contents(memory) == before
    assert json.loads(ricordo("pending", "--json"))["changes"] == [waiting]
    ricordo("redo")
    assert json.loads(ricordo("pending", "--json"))["changes"] == []
    assert waiting["path"] in contents(memory)


def test_proposals_that_were_dropped_are_pending_again_after_undo(
    ricordo: Ricordo, memory: Path, transcript: Path
) -> None:
    transcript.write_text(user_lines(RULE, "I prefer small commits with one change each."), "utf-8")
    ricordo("curate", "--session", str(transcript))
    before = ricordo("pending", "--json")
    first, second = json.loads(before)["changes"]
    assert "dropped 1" in ricordo("pending", "--drop", second["id"])
    assert json.loads(ricordo("pending", "--json"))["changes"] == [first]
    assert "dropped 1" in ricordo("pending", "--drop")
    assert json.loads(ricordo("pending", "--json"))["changes"] == []
    assert "refusal of 1 proposal" in ricordo("undo")
    ricordo("undo")
    assert ricordo("pending", "--json") == before
    ricordo("redo")
    assert json.loads(ricordo("pending", "--json"))["changes"] == [first]
    # undone acts and acts after them keep their order: an applied one between two drops
    ricordo("pending", "--apply", first["id"])
    for left in ([first], [first, second]):
        ricordo("undo")
        assert json.loads(ricordo("pending", "--json"))["changes"] == left
    assert first["path"] not in contents(memory)


@pytest.mark.parametrize("act", ["--apply", "--drop"])
def test_ids_name_proposals_and_only_those_are_decided(
    ricordo: Ricordo, memory: Path, transcript: Path, act: str
) -> None:
    transcript.write_text(user_lines(RULE, "I prefer small commits with one change each."), "utf-8")
    ricordo("curate", "--session", str(transcript))
    before = contents(memory)
    first, second = json.loads(ricordo("pending", "--json"))["changes"]
    assert f"{first['id']}  create" in ricordo("pending")
    for words in (["0" * 12], ["nothing-of-this-name"], [first["id"], "0000"]):
        assert "No pending proposal" in ricordo("pending", act, *words, code=2)
    assert contents(memory) == before
    told = json.loads(ricordo("pending", act, second["id"][:8], "--json"))
    assert told["changes"] == [first]
    assert (contents(memory) == before) == (act == "--drop")
    assert "already" in ricordo("pending", act, second["id"], code=2)
    # a word that is no id is PATH
    ricordo("pending", act, first["id"], str(memory), "-m", str(memory), code=2)


def test_a_memory_is_named_behind_the_option_too(
    ricordo: Ricordo, memory: Path, transcript: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ricordo("curate", "--session", str(transcript))
    (it,) = json.loads(ricordo("pending", "--json"))["changes"]
    assert run(["pending", "--apply", it["id"], str(memory)]) == 0
    assert "1 applied, 0 not applied" in capsys.readouterr().out


def test_what_was_dropped_is_not_proposed_again(ricordo: Ricordo, transcript: Path) -> None:
    ricordo("curate", "--session", str(transcript))
    assert "dropped 1" in ricordo("pending", "--drop")
    assert "0 proposed" in ricordo("curate", "--session", str(transcript))


def decided(
    ricordo: Ricordo, act: str = "--apply", *, given: str | None = None, code: int = 0
) -> str:
    """Decide on all that is pending, each named."""
    pending = json.loads(ricordo("pending", "--json"))["changes"]
    return ricordo("pending", act, *(it["id"] for it in pending), given=given, code=code)


def test_apply_without_ids_applies_proposals_without_warnings_and_lists_the_others(
    ricordo: Ricordo, memory: Path, transcript: Path
) -> None:
    (memory / "tides.md").write_text(
        note_text("tides", "The freeze for the winter timetable starts on 2026-11-09.\n"), "utf-8"
    )
    moved = "The freeze for the winter timetable moved: it begins on 30 November."
    transcript.write_text(user_lines(RULE, moved), "utf-8")
    ricordo("curate", "--session", str(transcript))
    told = ricordo("pending", "--apply", given="")
    assert "1 applied, 1 not applied" in told
    (waiting,) = json.loads(ricordo("pending", "--json"))["changes"]
    assert f"not applied: {waiting['id']} replace tides.md: loses date 2026-11-09" in told
    assert (waiting["op"], waiting["path"]) == ("replace", "tides.md")
    assert waiting["warnings"] == ["loses date 2026-11-09"]
    assert "2026-11-09" in (memory / "tides.md").read_text("utf-8")
    decided(ricordo, given="")
    assert "starts on 2026-11-30." in (memory / "tides.md").read_text("utf-8")


def test_yes_applies_no_statement_that_is_new(
    ricordo: Ricordo, memory: Path, transcript: Path
) -> None:
    before = contents(memory)
    told = ricordo("curate", "--session", str(transcript), "--yes")
    assert "0 applied, 1 not applied" in told
    assert "not a routine change" in told
    assert contents(memory) == before
    assert len(json.loads(ricordo("pending", "--json"))["changes"]) == 1


def test_a_note_that_changed_since_is_not_written(
    ricordo: Ricordo, memory: Path, transcript: Path
) -> None:
    (memory / "tides.md").write_text(
        note_text("tides", "The freeze for the winter timetable starts on 2026-11-09.\n"), "utf-8"
    )
    transcript.write_text(
        user_lines("The freeze for the winter timetable moved: it begins on 30 November."), "utf-8"
    )
    ricordo("curate", "--session", str(transcript))
    (memory / "tides.md").write_text(
        (memory / "tides.md").read_text("utf-8") + "Another line.\n", "utf-8"
    )
    before = contents(memory)
    told = decided(ricordo, code=4)
    assert "0 applied, 1 not applied" in told
    assert "has changed since" in told
    assert told.splitlines()[-1].startswith("ricordo: Not applied: ")
    assert contents(memory) == before


def test_the_same_rule_in_a_note_is_not_proposed(
    ricordo: Ricordo, memory: Path, transcript: Path
) -> None:
    (memory / "uv.md").write_text(
        note_text(
            "uv", "Write commands with uv run from now on, not with pip.\n", "uv run, no pip"
        ),
        "utf-8",
    )
    (memory / "MEMORY.md").open("a").write("- [uv](uv.md) — uv run, no pip\n")
    assert "0 proposed" in ricordo("curate", "--session", str(transcript))


def test_the_next_curation_goes_on_where_the_last_one_was_decided(
    memory: Path, tmp_path: Path, pinned: Path, ricordo: Ricordo
) -> None:
    folder = pinned / ".claude/projects/-home-ana-work-tidepool"
    root = folder / "memory"
    root.mkdir(parents=True)
    for path, content in contents(memory).items():
        (root / path).write_bytes(content)
    settle(root)
    transcript = folder / f"{SESSION}.jsonl"
    transcript.write_text(user_lines(RULE), "utf-8")

    def changes(*words: str) -> list[str]:
        settle(root)
        told = json.loads(ricordo(*words, "--json", "-m", str(root)))
        return [it["evidence"][0]["quote"] for it in told["changes"]]

    assert changes("curate") == [RULE]
    # nothing was decided: it is proposed again, once
    assert changes("curate") == [RULE]
    settle(root)
    ricordo("pending", "--drop", "-m", str(root))
    with transcript.open("a") as file:
        file.write(user_lines("I prefer small commits with one change each.", start=5))
    os.utime(transcript, (1e9, 1e9))
    assert changes("curate") == ["I prefer small commits with one change each."]
    assert changes("curate", "--since", "2026-11-01")[-1:] != []


def test_words_that_do_not_fit_are_refused(ricordo: Ricordo) -> None:
    ricordo("curate", "--since", "soon", code=2)
    ricordo("curate", "--session", "/nowhere.jsonl", code=2)
    ricordo("curate", "--engine", "magic", code=2)
    ricordo("pending", "--apply", "--drop", code=2)


def test_damaged_state_counts_as_none(ricordo: Ricordo, transcript: Path, pinned: Path) -> None:
    ricordo("curate", "--session", str(transcript))
    (kept,) = (pinned / ".local/state/ricordo/curation").iterdir()
    document = json.loads(kept.read_text("utf-8"))
    for waiting in (None, [{"act": {"kind": "WriteFile", "root": "/", "name": "x"}}], [7]):
        kept.write_text(json.dumps({**document, "waiting": waiting}), "utf-8")
        assert json.loads(ricordo("pending", "--json"))["changes"] == []
    kept.write_bytes(b"\0{")
    assert json.loads(ricordo("pending", "--json"))["changes"] == []


def test_every_transcript_is_curated_without_an_error_and_nothing_without_evidence(
    ricordo: Ricordo, memory: Path
) -> None:
    folders = [SHARED / "data/transcripts", SHARED / "formats/samples"]
    if not all(map(Path.is_dir, folders)):
        pytest.skip("no transcripts beside the repository")
    before = contents(memory)
    for path in sorted(it for folder in folders for it in folder.rglob("*.jsonl")):
        told = json.loads(ricordo("curate", "--session", str(path), "--dry-run", "--json"))
        for change in told["changes"]:
            assert change["evidence"], path
            assert all(it["found"] for it in change["evidence"]), path
    assert contents(memory) == before


def test_a_wiki_gets_a_log_entry(ricordo: Ricordo, tmp_path: Path, transcript: Path) -> None:
    root = write_memory(
        tmp_path / "wiki",
        {
            "CLAUDE.md": "# Schema\n\nPages stand in wiki/, sources in raw/.\n",
            "raw/talk.md": "A talk.\n",
            "wiki/index.md": "# Index\n\n- [Seiche](concepts/seiche.md) — a standing wave\n",
            "wiki/log.md": "# Log\n\n## [2026-11-01] ingest | A talk\n",
            "wiki/concepts/seiche.md": note_text("Seiche", "A standing wave.\n", type_="concept"),
        },
    )
    settle(root)
    ricordo("curate", "--session", str(transcript), "-m", str(root))
    settle(root)
    assert "1 applied" in ricordo("pending", "--apply", "-m", str(root))
    log = (root / "wiki/log.md").read_text("utf-8")
    assert log.startswith("# Log\n\n## [2026-11-01] ingest | A talk\n\n## [2026-11-20] curate | 1 ")
    settle(root)
    ricordo("undo", "-m", str(root))
    assert "curate" not in (root / "wiki/log.md").read_text("utf-8")


def test_retiring_many_notes_needs_a_typed_confirmation(
    ricordo: Ricordo, memory: Path, transcript: Path
) -> None:
    for number in range(3):
        old, new = f"old-{number}", f"new-{number}"
        (memory / f"old_{number}.md").write_text(
            note_text(old, f"Port {number} is served by the ferry.\n").replace(
                "  type", "  modified: 2026-01-01T00:00:00.000Z\n  type"
            ),
            "utf-8",
        )
        (memory / f"new_{number}.md").write_text(
            note_text(new, f"This replaces [[{old}]]: port {number} is closed.\n").replace(
                "  type", "  modified: 2026-10-01T00:00:00.000Z\n  type"
            ),
            "utf-8",
        )
    transcript.write_text(user_lines("Go on."), "utf-8")
    told = ricordo("curate", "--session", str(transcript), "--yes")
    assert "applied: retire" not in told
    assert "applied: retire" not in ricordo("pending", "--apply", given="")
    told = decided(ricordo, given="", code=4)
    assert told.count("applied: retire") == 1
    assert told.count("many notes would be retired within a day") >= 2
    decided(ricordo, given="", code=4)
    assert len([it for it in memory.iterdir() if it.name.startswith("old")]) == 2


def test_the_brief_is_shown_before_anything_runs_and_is_the_same_each_time(
    ricordo: Ricordo, memory: Path, transcript: Path
) -> None:
    ricordo("search", "crane height", code=1)
    before = contents(memory)
    words = ("curate", "--session", str(transcript), "--brief")
    told = ricordo(*words)
    assert told == ricordo(*words)
    titles = [line for line in told.split("\n") if line.startswith("== ")]
    assert titles == [
        "== touched notes",
        "== index",
        "== other notes",
        "== gaps",
        "== activity",
    ] or (titles == ["== index", "== other notes", "== gaps", "== activity"])
    assert "| crane height\n" in told
    assert f"| {RULE}\n" in told
    assert str(transcript) not in told
    document = json.loads(ricordo(*words, "--json"))
    assert told.startswith(document["brief"])
    assert document["left_out"] == {}
    assert contents(memory) == before
    assert json.loads(ricordo("ledger", "--json"))["runs"] == []


def test_a_dry_run_prints_the_size_of_the_brief(ricordo: Ricordo, transcript: Path) -> None:
    told = ricordo("curate", "--session", str(transcript), "--dry-run")
    assert re.search(r"^brief: about \d+ tokens: .*, messages 2$", told, re.MULTILINE)


def test_the_ledger_lists_runs(ricordo: Ricordo, transcript: Path) -> None:
    assert "No curation decided yet" in ricordo("ledger")
    ricordo("curate", "--session", str(transcript))
    ricordo("pending", "--apply")
    told = json.loads(ricordo("ledger", "--json"))
    (run,) = told["runs"]
    assert {key: run[key] for key in LEDGER} == {
        "at": "2026-11-20T12:00:00+00:00",
        "engine": "rules",
        "model": "",
        "prompt_version": "",
        "input_tokens": 0,
        "output_tokens": 0,
        "usd": 0.0,
        "accepted": 1,
        "rejected": 0,
    }
    assert told["drift"]["lost"] == {}
    assert "1 curation applied" in ricordo("ledger")


def test_too_many_runs_are_refused_without_a_terminal(
    ricordo: Ricordo, transcript: Path, pinned: Path
) -> None:
    config = pinned / ".config/ricordo"
    config.mkdir(parents=True, exist_ok=True)
    (config / "settings.toml").write_text("curate.hour = 1\n")
    ricordo("curate", "--session", str(transcript))
    ricordo("pending", "--apply")
    transcript.write_text(user_lines("I prefer small commits with one change each."), "utf-8")
    words = ("curate", "--session", str(transcript))
    refused = ricordo(*words, code=5, given="")
    assert "Too many curations: 1 applied within an hour, limit 1." in refused
    assert refused.endswith("Nothing was changed.\n")
    assert "1 proposed" in ricordo(*words, "--dry-run")


def test_a_session_in_progress_is_reported(ricordo: Ricordo, transcript: Path) -> None:
    transcript.write_text(user_lines(RULE, at="2026-11-20T11:58:00.000Z"), "utf-8")
    told = ricordo("curate", "--session", str(transcript), "--dry-run")
    assert "A session is still active (last message 2 minutes ago)" in told


def test_an_entry_that_agents_would_not_be_given_is_warned_of(
    ricordo: Ricordo, memory: Path, transcript: Path
) -> None:
    index = memory / "MEMORY.md"
    full = "".join(f"- line {number} of the house\n" for number in range(197 - 2))
    index.write_text(index.read_text("utf-8") + full, "utf-8")
    words = ("curate", "--session", str(transcript), "--dry-run", "--json")
    warnings = [it["warnings"] for it in json.loads(ricordo(*words))["changes"]]
    assert all("over-budget" not in str(it) for it in warnings)
    index.write_text(
        "".join(f"- line {n} of the house\n" for n in range(199 - INDEX.count("\n"))) + INDEX,
        "utf-8",
    )
    told = [it for it in json.loads(ricordo(*words))["changes"] if it["op"] == "create"]
    assert "index-near-budget: leaves no room in the index: 200 lines" in str(told[0]["warnings"])
    index.write_text("".join(f"- line {n} of the house\n" for n in range(200)) + INDEX, "utf-8")
    told = json.loads(ricordo(*words))["changes"]
    create = next(it for it in told if it["op"] == "create")
    assert [it for it in create["warnings"] if it.startswith("index-over-budget")] == [
        "index-over-budget: agents stop loading at line 201, before its entry"
    ]
    ricordo("curate", "--session", str(transcript))
    assert "0 applied" in ricordo("pending", "--apply")


@pytest.mark.parametrize(("typed", "gone"), [("apply\n", 2), ("yes\n", 1), ("", 1)])
def test_at_a_terminal_what_alarms_is_done_once_its_word_was_typed(
    ricordo: Ricordo,
    memory: Path,
    transcript: Path,
    monkeypatch: pytest.MonkeyPatch,
    typed: str,
    gone: int,
) -> None:
    for number in range(2):
        for name, day, body in (
            (f"old-{number}", "2026-01-01", f"Port {number} is served by the ferry.\n"),
            (f"new-{number}", "2026-10-01", f"This replaces [[old-{number}]]: it is closed.\n"),
        ):
            text = note_text(name, body).replace("  type", f"  modified: {day}T00:00:00Z\n  type")
            (memory / f"{name}.md").write_text(text, "utf-8")
    transcript.write_text(user_lines("Go on."), "utf-8")
    ricordo("curate", "--session", str(transcript))
    monkeypatch.setattr("ricordo.cli.output.is_at_terminal", lambda: True)
    told = decided(ricordo, given=typed, code=0 if gone == 2 else 4)
    assert "Type “apply” to apply this too:" in told
    assert told.count("applied: retire") == gone
    assert len(list(memory.glob("old-*.md"))) == 2 - gone


@pytest.mark.parametrize(("typed", "code"), [("curate\n", 0), ("no\n", 5)])
def test_too_many_runs_can_be_confirmed_at_a_terminal(
    ricordo: Ricordo,
    transcript: Path,
    pinned: Path,
    monkeypatch: pytest.MonkeyPatch,
    typed: str,
    code: int,
) -> None:
    config = pinned / ".config/ricordo"
    config.mkdir(parents=True, exist_ok=True)
    (config / "settings.toml").write_text("curate.hour = 1\n")
    ricordo("curate", "--session", str(transcript))
    ricordo("pending", "--apply")
    monkeypatch.setattr("ricordo.cli.output.is_at_terminal", lambda: True)
    told = ricordo("curate", "--session", str(transcript), code=code, given=typed)
    assert "Type “curate” to curate anyway:" in told


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        ("Merk dir: bis morgen bitte nicht nach main mergen.", r"(?i)bis \d{4}-\d\d-\d\d bitte"),
        ("Remember: do not merge to main until tomorrow.", r"until \d{4}-\d\d-\d\d"),
        ("记住：直到明天都不要合并到 main。", r"直到\d{4}-\d\d-\d\d都不要"),
    ],
)
def test_a_limit_in_time_stays_one_when_its_date_is_written(
    ricordo: Ricordo, transcript: Path, words: str, kept: str
) -> None:
    transcript.write_text(user_lines(words), "utf-8")
    told = json.loads(ricordo("curate", "--session", str(transcript), "--dry-run", "--json"))
    (change,) = told["changes"]
    added = [line for line in change["diff"].split("\n") if line.startswith("+")]
    assert any(re.search(kept, line) for line in added)


def test_an_entry_that_pushes_another_out_of_the_load_is_warned_of(
    ricordo: Ricordo, memory: Path, transcript: Path
) -> None:
    index = memory / "MEMORY.md"
    # its entries stand at the top, where the new one goes too
    index.write_text(INDEX + "".join(f"- line {n} of the house\n" for n in range(300)), "utf-8")
    before = contents(memory)
    ricordo("curate", "--session", str(transcript))
    told = ricordo("pending", "--apply")
    assert "0 applied, 1 not applied" in told
    assert "agents would no longer load 1 line" in told
    assert contents(memory) == before


@pytest.fixture
def three(ricordo: Ricordo, transcript: Path) -> list[str]:
    """Return the ids of three pending proposals."""
    rules = (RULE, "I prefer small commits with one change each.", "I prefer tabs to spaces.")
    transcript.write_text(user_lines(*rules), "utf-8")
    ricordo("curate", "--session", str(transcript))
    return pending_ids(ricordo)


def pending_ids(ricordo: Ricordo) -> list[str]:
    return [each["id"] for each in json.loads(ricordo("pending", "--json"))["changes"]]


def test_some_are_applied_and_others_dropped_in_one_change(
    ricordo: Ricordo, memory: Path, three: list[str]
) -> None:
    before = contents(memory)
    first, second, third = three
    told = ricordo("pending", "--apply", first[:6], "--drop", second[:4], third)
    assert "1 applied, 0 not applied, 2 dropped" in told
    assert pending_ids(ricordo) == []
    assert contents(memory) != before
    assert "already refused" in ricordo("pending", "--apply", second[:8], code=2)
    assert "3 proposals" in ricordo("undo")
    assert pending_ids(ricordo) == three
    assert contents(memory) == before
    ricordo("redo")
    assert pending_ids(ricordo) == []


def test_the_option_without_ids_decides_on_the_rest(
    ricordo: Ricordo, memory: Path, three: list[str]
) -> None:
    document = json.loads(ricordo("pending", "--drop", "--apply", three[1], "--json"))
    assert document["applied"] == [three[1]]
    assert document["dropped"] == [three[0], three[2]]
    kinds = [each["kind"] for each in document["changed"]]
    assert kinds.count("dropped") == 2
    assert "created" in kinds
    ricordo("undo")
    document = json.loads(ricordo("pending", "--apply", "--drop", three[2], "--json"))
    assert set(document["applied"]) <= set(three[:2])
    assert document["dropped"] == [three[2]]
    assert three[2] not in pending_ids(ricordo)


def test_what_is_dropped_is_dropped_though_nothing_is_applied(
    ricordo: Ricordo, memory: Path, transcript: Path
) -> None:
    rules = (RULE, "I prefer small commits with one change each.")
    transcript.write_text(user_lines(*rules), "utf-8")
    ricordo("curate", "--session", str(transcript))
    first, second = pending_ids(ricordo)
    before = contents(memory)
    path = next(
        each["path"]
        for each in json.loads(ricordo("pending", "--json"))["changes"]
        if each["id"] == first
    )
    (memory / path).write_text("Somebody else's.\n")
    told = ricordo("pending", "--apply", first, "--drop", second, code=4)
    assert "0 applied, 1 not applied, 1 dropped" in told
    assert "Nothing was changed" not in told
    assert contents(memory).keys() >= before.keys()
    assert second not in pending_ids(ricordo)
    ricordo("undo")
    assert second in pending_ids(ricordo)


@pytest.mark.parametrize(
    "words",
    [
        ["--apply", "--drop"],
        ["--apply", "{0}", "--drop", "{0}"],
        ["--apply", "{0}", "--drop", "0000"],
        ["--reason", "no"],
        ["--apply", "{0}", "--reason", "no"],
    ],
)
def test_decisions_that_contradict_each_other_are_refused(
    ricordo: Ricordo, memory: Path, three: list[str], words: list[str]
) -> None:
    before = contents(memory)
    ricordo("pending", *(word.format(*three) for word in words), code=2)
    assert pending_ids(ricordo) == three
    assert contents(memory) == before


def test_the_history_has_the_reason_of_a_refusal(ricordo: Ricordo, three: list[str]) -> None:
    ricordo("pending", "--drop", three[0], "--reason", "not mine")
    assert "not mine" in ricordo("undo")


def test_only_entries_that_agents_would_load_are_proposed_each_with_its_note(
    ricordo: Ricordo, memory: Path
) -> None:
    index = memory / "MEMORY.md"
    lines = index.read_text("utf-8").splitlines()
    names = [f"quay-{n}" for n in range(3)]
    for name in names:
        (memory / f"{name}.md").write_text(note_text(name, f"The quay {name} is wide.\n"), "utf-8")
    lines[1:1] = [f"A line about the bay, number {n}." for n in range(197 - len(lines))]
    index.write_text("\n".join(lines) + "\n", "utf-8")
    settle(memory)
    ricordo("curate")
    entries = [
        it for it in json.loads(ricordo("pending", "--json"))["changes"] if it["op"] == "entry"
    ]
    assert len(entries) == 2
    listed = ricordo("pending")
    added = [name for name in names if f"entry {name}.md in MEMORY.md: unindexed-note: " in listed]
    assert len(added) == 2
    ricordo("pending", "--apply")
    assert json.loads(ricordo("load", "--json"))["cut_at_line"] is None
    assert all(f"({name}.md)" in index.read_text("utf-8") for name in added)
