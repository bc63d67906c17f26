"""`ricordo curate --check`, called as a person calls it: a model looks things up, and corrects."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support import messages_replies as replies
from tests.support.asking import TOKEN, write_program
from tests.support.builders import note_text, write_memory
from tests.support.messages_server import (
    Asked,
    MessagesServer,
    Script,
    Wire,
    messages_server,
    without_credentials,
)
from tests.unit.cli.conftest import Ricordo, contents, settle
from tests.unit.machine import git

BY_MODEL = ("--check", "--engine", "anthropic")
BAD = "blasphemous"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a project in git, with a branch that is not merged and a file that git ignores."""
    folder = write_memory(
        tmp_path / "harbour",
        {
            "src/gate.py": "# the gate\nRETRIES = 8\n" + "x = 0\n" * 90,
            "src/old.py": "gone = True\n",
            ".gitignore": "secrets.env\n",
            "secrets.env": "RETRIES of the secret kind\n",
            "keys.txt": f"RETRIES token {TOKEN}\n",
        },
    )
    git(folder, "init", "--quiet", "--initial-branch=main")
    commit(folder, "The gate retries")
    git(folder, "rm", "--quiet", "src/old.py")
    commit(folder, "Drop the old gate")
    git(folder, "checkout", "--quiet", "-b", "lock")
    write_memory(folder, {"src/lock.py": "lock = 1\n"})
    commit(folder, "Add the lock")
    git(folder, "checkout", "--quiet", "main")
    return folder


def commit(folder: Path, message: str) -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", message)


@pytest.fixture
def memory(project: Path) -> Path:
    """Return a memory that lies in the project, with a note that is wrong."""
    root = write_memory(
        project / "memory",
        {
            "MEMORY.md": "- [gate](gate.md) — the gate retries 3 times\n- [lock](lock.md) — x\n",
            "gate.md": note_text("gate", "The gate retries 3 times (`RETRIES`).\n", "The gate"),
            "lock.md": note_text("lock", "The lock is merged.\n", "The lock"),
        },
    )
    settle(root)
    return root


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[MessagesServer]:
    without_credentials(monkeypatch, tmp_path)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test")
    with messages_server(looking_up(("search", "RETRIES")), correcting(CORRECTED)) as running:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", running.url)
        yield running


def looking_up(*lookups: tuple[str, str] | tuple[str, str, int]) -> Script:
    entries = [{"kind": it[0], "what": it[1], "line": (*it, 0)[2]} for it in lookups]
    return reporting(lookups=entries)


def correcting(*corrections: dict[str, Any]) -> Script:
    return reporting(corrections=list(corrections))


def reporting(**given: Any) -> Script:
    return replies.good({"lookups": [], "corrections": [], **given}, name="report")


def quoting(
    *quotes: tuple[str, str], note: str = "n1", old: str = "3 times", new: str = "8 times"
) -> dict[str, Any]:
    evidence = [{"source": source, "quote": quote} for source, quote in quotes]
    return {"note": note, "old": old, "new": new, "reason": "RETRIES is 8", "evidence": evidence}


def fact(server: MessagesServer, words: str) -> str:
    """Return the id of the fact in the last question whose block has certain words."""
    for block in changing(server.asked[-1]).split("\nfact ")[1:]:
        if words in block:
            return block.partition(",")[0]
    raise AssertionError(words)


def changing(asked: Asked) -> str:
    text: str = asked.json["messages"][0]["content"][1]["text"]
    return text


CORRECTED = quoting(("f5", "RETRIES = 8"))


def looked_up(ricordo: Ricordo, server: MessagesServer, *lookups: tuple[Any, ...]) -> str:
    """Return what the second question of a check has of the project."""
    server.scripts[:] = [looking_up(*lookups), correcting()]
    server.asked.clear()
    ricordo("curate", *BY_MODEL)
    assert len(server.asked) == 2
    return changing(server.asked[1]).partition("== project\n")[2]


def test_a_correction_with_the_words_that_refute_the_note_is_pending_and_can_be_applied(
    ricordo: Ricordo, server: MessagesServer, memory: Path
) -> None:
    before = contents(memory)
    told = ricordo("curate", *BY_MODEL)
    assert contents(memory) == before
    first, second = server.asked
    assert "The gate retries 3 times" in first.json["messages"][0]["content"][0]["text"]
    # what does not change comes first and is the same, for the prompt cache
    for asked in ("tools", "system"):
        assert first.json[asked] == second.json[asked]
    assert first.json["messages"][0]["content"][0] == second.json["messages"][0]["content"][0]
    assert "== question\n1 of 3\n" in changing(first)
    assert "== question\n2 of 3\n" in changing(second)
    assert fact(server, "2| RETRIES = 8") == "f5"
    # the cost is that of both questions
    assert "answered: 8,040 tokens sent, 154 written" in told
    (waiting,) = json.loads(ricordo("pending", "--json"))["changes"]
    assert [(it["source"], it["found"]) for it in waiting["evidence"]] == [
        ("project: src/gate.py", True),
    ]
    ricordo("pending", "--apply", waiting["id"])
    assert "The gate retries 8 times" in (memory / "gate.md").read_text("utf-8")
    runs = json.loads(ricordo("ledger", "--json"))["runs"]
    assert {run["prompt_version"] for run in runs} == {"check-2"}
    assert sum(run["input_tokens"] for run in runs) == 8040
    ricordo("undo")
    assert contents(memory) == before


def test_the_model_can_look_up_more_once_but_the_third_answer_is_the_last(
    ricordo: Ricordo, server: MessagesServer
) -> None:
    more = reporting(
        lookups=[{"kind": "search", "what": "lock", "line": 0}], corrections=[CORRECTED]
    )
    server.scripts[:] = [looking_up(("search", "RETRIES")), looking_up(("file", "keys.txt")), more]
    assert "1 proposed" in ricordo("curate", *BY_MODEL)
    assert len(server.asked) == 3
    last = changing(server.asked[2])
    assert "RETRIES = 8" in last
    assert "keys.txt, lines 1 to 2 of 2" in last
    assert "== question\n3 of 3\n" in last


def test_what_is_pending_is_not_proposed_twice(ricordo: Ricordo, server: MessagesServer) -> None:
    ricordo("curate", *BY_MODEL)
    server.scripts[:] = [correcting()]
    told = ricordo("curate", *BY_MODEL)
    assert "0 proposed, 0 rejected, 1 pending from before\n" in told
    stable: str = server.asked[-1].json["messages"][0]["content"][0]["text"]
    assert re.search(r"== decided\nn1 proposed on [\d-]+ \| “3 times”: RETRIES is 8\n", stable)


def test_corrections_of_one_note_can_be_decided_one_by_one(
    ricordo: Ricordo, server: MessagesServer, memory: Path
) -> None:
    quote = ("f5", "RETRIES = 8")
    second = quoting(quote, old="(`RETRIES`)", new="(`RETRIES`, src/gate.py)")
    server.scripts[1:] = [correcting(CORRECTED, second, quoting(quote, old="The gate retries"))]
    ricordo("curate", *BY_MODEL)

    def pending() -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(ricordo("pending", "--json"))["changes"]
        return found

    before = contents(memory)
    first, other, last = pending()
    ricordo("pending", "--apply", first["id"])
    assert "+The gate retries 8 times (`RETRIES`, src/gate.py)." in pending()[0]["diff"]
    ricordo("pending", "--apply", other["id"])
    after = (memory / "gate.md").read_text("utf-8")
    assert "The gate retries 8 times (`RETRIES`, src/gate.py)." in after
    # whatever others change makes what was shown outdated
    (memory / "gate.md").write_text(f"{after}One more line.\n")
    told = ricordo("pending", "--apply", last["id"], code=4)
    assert "gate.md has changed since this was proposed" in told
    (memory / "gate.md").write_text(after)
    ricordo("undo")
    ricordo("undo")
    assert contents(memory) == before
    for proposal in (first, other):
        ricordo("pending", "--apply", proposal["id"])
    assert (memory / "gate.md").read_text("utf-8") == after


def test_a_note_without_any_use_is_retired(ricordo: Ricordo, server: MessagesServer) -> None:
    server.scripts[1:] = [correcting(quoting(("f5", "RETRIES = 8"), note="n2", old="", new=""))]
    ricordo("curate", *BY_MODEL)
    (waiting,) = json.loads(ricordo("pending", "--json"))["changes"]
    assert (waiting["op"], waiting["path"]) == ("retire", "lock.md")
    assert "removes the note lock.md" in waiting["warnings"]


def test_words_that_nobody_looked_up_are_not_found(
    ricordo: Ricordo, server: MessagesServer
) -> None:
    made_up = quoting(("f5", "RETRIES = 9"), new="9 times")
    server.scripts[1:] = [correcting(made_up)]
    ricordo("curate", *BY_MODEL)
    (waiting,) = json.loads(ricordo("pending", "--json"))["changes"]
    assert "quote not found in project: src/gate.py" in waiting["warnings"]


def test_passages_of_one_line_of_the_index_are_corrected(
    ricordo: Ricordo, server: MessagesServer, memory: Path
) -> None:
    quote = ("f5", "RETRIES = 8")
    first = quoting(quote, note="index")
    second = quoting(quote, note="index", old="the gate retries", new="the gate tries")
    lines = quoting(quote, note="index", old="3 times\n- [lock]", new="8 times\n- [lock]")
    server.scripts[1:] = [correcting(first, second, lines)]
    assert "Curators cannot change MEMORY.md" in ricordo("curate", *BY_MODEL)
    ids = [it["id"] for it in json.loads(ricordo("pending", "--json"))["changes"]]
    ricordo("pending", "--apply", ids[0])
    ricordo("pending", "--apply", ids[1])
    assert (memory / "MEMORY.md").read_text("utf-8").split("\n")[:2] == [
        "- [gate](gate.md) — the gate tries 8 times",
        "- [lock](lock.md) — x",
    ]


def test_what_is_looked_up_is_what_the_project_has(
    ricordo: Ricordo, server: MessagesServer
) -> None:
    given = looked_up(
        ricordo,
        server,
        ("search", "retries"),
        ("search", "harpoon"),
        ("search", "sextant"),
        ("file", "src/gate.py", 60),
        ("file", "src/old.py"),
        ("folder", "src"),
        ("commits", "lock"),
        ("commits", "walrus"),
        ("note", "n2"),
    )
    assert "src/gate.py: 1 of 1 lines with “retries”" in given
    # neither an ignored file nor the memory itself is evidence
    assert "of the secret kind" not in given
    assert "memory/gate.md" not in given
    # a credential is not sent
    assert TOKEN not in given
    assert "1| RETRIES token [REDACTED:" in given
    assert (
        "| No file of the project has “harpoon”, besides the memory and what git ignores.\n"
        in given
    )
    assert "| No file of the project has “sextant”, " in given
    assert "src/gate.py, lines 1 to 93 of 93\n1| # the gate\n" in given
    assert "| The project has no file src/old.py that git tracks or would track." in given
    assert "Drop the old gate changed it.\n" in given
    assert "the folder src\n| gate.py\n" in given
    assert "commits that are not merged and say “lock”" in given
    assert "No commit has “walrus” in its message" in given


@pytest.mark.parametrize(
    "path",
    [
        "../outside.txt",
        "/etc/passwd",
        "secrets.env",
        "memory/gate.md",
        ".git/config",
        "a/../b",
        "link.txt",
        "link/outside.txt",
    ],
)
def test_nothing_outside_what_git_tracks_is_read(
    path: str, ricordo: Ricordo, server: MessagesServer, tmp_path: Path
) -> None:
    (tmp_path / "outside.txt").write_text("a word from outside")
    (tmp_path / "harbour/link.txt").symlink_to(tmp_path / "outside.txt")
    (tmp_path / "harbour/link").symlink_to(tmp_path)
    words = ("search", "from outside")
    given = looked_up(ricordo, server, ("file", path), ("folder", path), words)
    assert given.count("| No file of the project has “from outside”, ") == 1
    given = given.replace("“from outside”", "")
    for words in ("from outside", "root:", "of the secret kind", "retries 3", "repositoryformat"):
        assert words not in given
    if path == "memory/gate.md":
        assert "| memory/gate.md is in the folder of the memory: look it up as a note.\n" in given
    assert given.count("| The project has no ") == 2 - (path == "memory/gate.md")


def test_a_picture_is_there_but_not_shown(
    ricordo: Ricordo, server: MessagesServer, project: Path
) -> None:
    (project / "chart.png").write_bytes(b"\x89PNG\0\0")
    given = looked_up(ricordo, server, ("file", "chart.png"))
    assert "| chart.png exists, but is no text.\n" in given


def test_a_file_is_found_in_the_history_by_its_name_alone(
    ricordo: Ricordo, server: MessagesServer
) -> None:
    given = looked_up(ricordo, server, ("commits", "old.py"), ("file", "lib/old.py"))
    assert "commits that changed old.py\n" in given
    assert re.search(r"\| \w+ [\d-]+ Drop the old gate\n", given)


def test_what_does_not_fit_is_named_and_short_results_come_first(
    ricordo: Ricordo, server: MessagesServer, project: Path
) -> None:
    long = [("file", f"log{number}.txt", 1) for number in range(3)]
    wide = "a wide line of the log book, " * 9
    write_memory(project, {f"log{n}.txt": f"{wide}\n" * 150 for n in range(3)})
    given = looked_up(ricordo, server, *long, ("search", "RETRIES"))
    assert "RETRIES = 8" in given
    room = given.partition("found, but not shown for lack of room\n")[2]
    assert "| log" in room


def test_what_is_in_many_files_comes_last(
    ricordo: Ricordo, server: MessagesServer, project: Path
) -> None:
    write_memory(project, {f"log{n}.txt": "a calm sea\n" for n in range(6)})
    asked = (("search", "calm sea"), ("file", "src/gate.py"), ("search", "RETRIES"))
    given = looked_up(ricordo, server, *asked)
    found = re.findall(r"\nfact f\d+, ([\w./]+)(?=[:,] \d+ of|, lines)", given)
    assert list(dict.fromkeys(found))[:3] == ["src/gate.py", "keys.txt", "log0.txt"]


def test_lookups_that_are_none_are_skipped(ricordo: Ricordo, server: MessagesServer) -> None:
    given = looked_up(ricordo, server, ("search", " "), ("search", "y" * 500), ("file", "x.py"))
    assert "yyy" not in given
    assert given.count("\nfact f") + 1 == given.count("fact f")
    assert given.rpartition("\nfact ")[2].startswith("f5, file x.py\n")


def test_a_text_is_found_whatever_blanks_are_around_its_signs(
    ricordo: Ricordo, server: MessagesServer, project: Path
) -> None:
    write_memory(project, {"src/tide.py": "if tide>12 and (wind *gust)**2 :\n" * 18})
    asked = ("tide > 12", "tide>12", "(wind*gust)", "and(", "wind gust", "ti de")
    given = looked_up(ricordo, server, *(("search", it) for it in asked))
    for it in ("tide > 12", "tide>12", "(wind*gust)", "and("):
        assert (
            f"src/tide.py: 15 of 18 lines with “{it}”, also 16, 17, 18; 1 files have 18\n" in given
        )
    for it in ("wind gust", "ti de"):
        assert f"No file of the project has “{it}”" in given


def test_what_a_commit_changed_in_a_file_that_git_ignores_by_now_is_not_shown(
    ricordo: Ricordo, server: MessagesServer, project: Path
) -> None:
    write_memory(project, {"private.txt": "the buoy is red\n", "src/buoy.py": "buoy = 1\n"})
    commit(project, "Add the buoy")
    (project / ".gitignore").write_text("secrets.env\nprivate.txt\n")
    git(project, "rm", "--quiet", "--cached", "private.txt")
    id = git(project, "rev-parse", "--short=10", "HEAD").strip()
    given = looked_up(ricordo, server, ("commits", id))
    assert "| A src/buoy.py\n" in given
    assert "| +buoy = 1\n" in given
    assert "private.txt" not in given
    assert "buoy is red" not in given


def test_code_is_shown_before_pages_data_and_what_others_made(
    ricordo: Ricordo, server: MessagesServer, project: Path
) -> None:
    places = ("a.json", "dist/a.py", "third_party/x/a.py", "docs/a.md", "src/z.py")
    write_memory(project, dict.fromkeys(places, "the lighthouse blinks\n"))
    given = looked_up(ricordo, server, ("search", "lighthouse"))
    found = re.findall(r", ([\w./]+): 1 of 1 lines with", given)
    assert found == ["src/z.py", "docs/a.md", "a.json", "dist/a.py", "third_party/x/a.py"]


def test_notes_and_commits_are_looked_up_by_name(
    ricordo: Ricordo, server: MessagesServer, project: Path
) -> None:
    commit = git(project, "rev-parse", "--short=10", "lock").strip()
    lookups = [("note", "lock"), ("note", "pier"), ("commits", commit), ("commits", "0badc0ffee")]
    given = looked_up(ricordo, server, *lookups)
    # the note is shown already
    assert "The lock is merged." not in given
    assert "| The memory has no note pier." in given
    assert re.search(rf"fact f\d+, the commit {commit}\n\| \w+ [\d-]+ Add the lock\n", given)
    files = f"what the commit {commit} added (A), changed (M) or deleted (D), 1 of 1 files\n"
    assert f"{files}| A src/lock.py\n" in given
    changed = f"what the commit {commit} changed, 3 of 3 lines\n| +++ b/src/lock.py\n"
    assert f"{changed}| @@ -0,0 +1 @@\n| +lock = 1\n" in given
    assert "the commit 0badc0ffee\n| The repository has no commit of that id.\n" in given


def test_the_note_of_a_long_index_and_schema_is_still_checked(
    ricordo: Ricordo, server: MessagesServer, memory: Path
) -> None:
    entries = "".join(f"- [n{n}](n{n}.md) — {'a long description ' * 8}\n" for n in range(600))
    (memory / "MEMORY.md").write_text(f"{entries}- [gate](gate.md) — the gate\n")
    ricordo("curate", *BY_MODEL, "--note", "gate")
    stable: str = server.asked[0].json["messages"][0]["content"][0]["text"]
    assert "The gate retries 3 times" in stable
    index = stable.partition("== index\n")[2].partition("== other")[0]
    assert index == "| - [gate](gate.md) — the gate\n"


def test_the_index_alone_can_be_checked(ricordo: Ricordo, server: MessagesServer) -> None:
    edit = quoting(("f5", "RETRIES = 8"), note="index")
    server.scripts[1:] = [correcting(edit)]
    told = ricordo("curate", *BY_MODEL, "--note", "MEMORY.md")
    assert "1 proposed" in told
    assert "fit into one run" not in told


def test_a_check_of_one_note_corrects_what_the_index_says_of_it(
    ricordo: Ricordo, server: MessagesServer
) -> None:
    edit = quoting(("f5", "RETRIES = 8"), note="index")
    server.scripts[1:] = [correcting(CORRECTED, edit)]
    assert "2 proposed" in ricordo("curate", *BY_MODEL, "--note", "gate")


def test_each_check_goes_on_with_the_notes_that_were_not_checked(
    ricordo: Ricordo, server: MessagesServer, memory: Path, pinned: Path
) -> None:
    (pinned / ".config/ricordo").mkdir(parents=True, exist_ok=True)
    (pinned / ".config/ricordo/settings.toml").write_text("[engine]\ncheck = 40000\n")
    long = "".join(f"Line {number} of many about the sea.\n" for number in range(230))
    for name in ("gate", "lock"):
        (memory / f"{name}.md").write_text(note_text(name, long))
    server.scripts[:] = [looking_up(), correcting()] * 4

    def check() -> str:
        server.asked.clear()
        told = ricordo("curate", *BY_MODEL)
        has_more = "1 of 2 notes to check fit into one run; the next one continues." in told
        stable: str = server.asked[0].json["messages"][0]["content"][0]["text"]
        first = stable.partition("== touched notes\n")[2].partition("\n")[0]
        return f"{first}, {'more' if has_more else 'the last'}"

    assert check() == "note n1, more"
    assert check() == "note n2, the last"
    # all again, the oldest check first
    assert check() == "note n1, more"
    (memory / "gate.md").write_text(note_text("gate", f"{long}And one more.\n"))
    assert check() == "note n1, the last"


def test_a_check_with_as_many_corrections_as_there_can_be_goes_on_with_the_same_notes(
    ricordo: Ricordo, server: MessagesServer, memory: Path, pinned: Path
) -> None:
    (pinned / ".config/ricordo").mkdir(parents=True, exist_ok=True)
    (pinned / ".config/ricordo/settings.toml").write_text("[engine]\ncheck = 40000\n")
    for name in ("gate", "lock"):
        lines = "".join(f"Gate {number:03} of many retries three times.\n" for number in range(200))
        (memory / f"{name}.md").write_text(note_text(name, lines))
    fact = ("f5", "RETRIES = 8")
    edits = [quoting(fact, old=f"Gate {n:03} of", new=f"Gate {n:03} out of") for n in range(30)]
    first: list[str] = []
    for count in (30, 1, 1):
        server.scripts[:] = [looking_up(("search", "RETRIES")), correcting(*edits[:count])]
        server.asked.clear()
        ricordo("curate", *BY_MODEL)
        stable: str = server.asked[0].json["messages"][0]["content"][0]["text"]
        first.append(stable.partition("== touched notes\n")[2].partition("\n")[0])
    assert first == ["note n1", "note n1", "note n2"]


def test_a_note_that_is_too_large_holds_up_no_other(
    ricordo: Ricordo, server: MessagesServer, memory: Path
) -> None:
    (memory / "a.md").write_text(note_text("a", "A line about the sea.\n" * 9000))
    server.scripts[:] = [looking_up(), correcting()]
    told = ricordo("curate", *BY_MODEL)
    assert "Too large for a check: a.md. Raise the setting engine.check.\n" in told
    assert "fit into one run" not in told
    assert "The gate retries" in server.asked[0].body.decode()


def test_near_lines_of_other_notes_can_be_the_evidence(
    ricordo: Ricordo, server: MessagesServer, memory: Path
) -> None:
    said = "The gate retries twelve times before it gives up."
    text = f"The pier has lamps.\n\n{said}\n\nBoats wait outside.\n"
    (memory / "pier.md").write_text(note_text("pier", text))
    (memory / "sail.md").write_text(note_text("sail", "Sails are red, and nobody mends them.\n"))
    edit = quoting(("f6", said), note="n1", new="12 times")
    server.scripts[:] = [correcting(edit)]
    told = ricordo("curate", *BY_MODEL, "--note", "gate")
    given = changing(server.asked[0])
    assert "fact f6, lines of note n3\n" in given
    assert f"| {said}" in given
    assert "Boats wait" not in given
    assert "Sails are red" not in given
    assert "1 proposed" in told


def test_notes_on_one_subject_are_checked_together(
    ricordo: Ricordo, server: MessagesServer, memory: Path, pinned: Path
) -> None:
    (pinned / ".config/ricordo").mkdir(parents=True, exist_ok=True)
    (pinned / ".config/ricordo/settings.toml").write_text("[engine]\ncheck = 40000\n")
    for name, subject in (("a", "barnacle"), ("b", "lantern"), ("c", "barnacle")):
        long = "".join(f"Line {number} on the {subject}.\n" for number in range(180))
        (memory / f"{name}.md").write_text(note_text(name, long))
    server.scripts[:] = [looking_up(), correcting()]
    ricordo("curate", *BY_MODEL)
    stable: str = server.asked[0].json["messages"][0]["content"][0]["text"]
    touched = stable.partition("== touched notes\n")[2].partition("== index")[0]
    assert touched.count("barnacle") > 300
    assert "lantern" not in touched


def refusing_the_note(wire: Wire, asked: Asked) -> None:
    """Refuse every question about a certain note."""
    refused = replies.streamed([replies.start(), *replies.ending("refusal")])
    (refused if BAD in asked.body.decode() else correcting(CORRECTED))(wire, asked)


def test_a_note_that_the_model_refuses_is_skipped_and_the_others_are_checked(
    ricordo: Ricordo, server: MessagesServer, memory: Path
) -> None:
    (memory / "lock.md").write_text(note_text("lock", f"This is {BAD}.\n"))
    server.scripts[:] = [refusing_the_note]
    told = ricordo("curate", *BY_MODEL)
    assert "skipped: lock.md, refused by the model" in told
    assert [it["path"] for it in json.loads(ricordo("pending", "--json"))["changes"]] == ["gate.md"]


def test_a_program_is_asked_again_with_what_was_looked_up(
    ricordo: Ricordo, pinned: Path, tmp_path: Path
) -> None:
    lookups = [{"kind": "search", "what": "RETRIES", "line": 0}]
    first = json.dumps({"lookups": lookups, "corrections": []})
    second = json.dumps({"lookups": [], "corrections": [CORRECTED]})
    script = (
        'if grep -q "^1 of 3" "${0%/*}/given"; then\n'
        f"cat <<'END'\n{first}\nEND\nelse\ncat <<'END'\n{second}\nEND\nfi"
    )
    path = write_program(tmp_path / "model", script)
    (pinned / ".config/ricordo").mkdir(parents=True, exist_ok=True)
    settings = f'[engine]\nuse = "command"\ncommand = ["{path}"]\n'
    (pinned / ".config/ricordo/settings.toml").write_text(settings)
    assert "1 proposed, 0 rejected" in ricordo("curate", "--check", "--yes")
    assert "RETRIES = 8" in (path.parent / "given").read_text()


def test_the_rules_cannot_check(ricordo: Ricordo) -> None:
    told = ricordo("curate", "--check", code=2)
    assert "The rules cannot check notes." in told
    assert "Choose the engine anthropic (a model) or command (a program)." in told


@pytest.mark.parametrize("also", [("--since", "2026-01-01"), ("--session", "x.jsonl")])
def test_a_check_reads_no_messages(also: tuple[str, str], ricordo: Ricordo) -> None:
    assert "--check reads notes, not messages" in ricordo("curate", *BY_MODEL, *also, code=2)


def test_a_memory_without_a_project_is_only_compared_with_itself(
    ricordo: Ricordo, server: MessagesServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = write_memory(tmp_path / "alone", {"a.md": note_text("a", "Sines.\n")})
    settle(alone)
    server.scripts[:] = [correcting()]
    told = ricordo("curate", *BY_MODEL, "-m", str(alone))
    assert "The memory belongs to no project: notes are only compared with each other." in told
    assert "== question\n1 of 1\n" in changing(server.asked[0])


def test_another_project_can_be_named(
    ricordo: Ricordo, server: MessagesServer, tmp_path: Path
) -> None:
    other = write_memory(tmp_path / "other", {"pier.txt": "RETRIES of a pier\n"})
    server.scripts[1:] = [correcting()]
    ricordo("curate", *BY_MODEL, "--project", str(other))
    assert "1| RETRIES of a pier" in changing(server.asked[1])


def test_one_note_can_be_checked(ricordo: Ricordo, server: MessagesServer) -> None:
    server.scripts[:] = [looking_up(), correcting()]
    ricordo("curate", *BY_MODEL, "--note", "lock")
    stable: str = server.asked[0].json["messages"][0]["content"][0]["text"]
    touched = stable.partition("== touched notes\n")[2].partition("== index")[0]
    assert "The lock is merged." in touched
    assert "The gate retries" not in touched
    assert "has no note “pier”" in ricordo("curate", *BY_MODEL, "--note", "pier", code=3)
