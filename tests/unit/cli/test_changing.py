"""Commands that change a memory, called as a person calls them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from ricordo.cli.main import run
from ricordo.services.inbox.inbox import read_inbox
from ricordo.services.workspace.environment import load_environment
from ricordo.services.workspace.notebook import Notebook
from ricordo.services.workspace.places import find_memories
from ricordo.services.workspace.settings import load_settings
from ricordo.storage.decisions import Decision
from tests.support.builders import note_text, write_memory
from tests.unit.cli.conftest import INDEX, Ricordo, contents

SESSION = "0f8fad5b-d9cb-469f-a165-70867728950e"


def arrivals(printed: str) -> dict[str, dict[str, Any]]:
    """Return the changes of `inbox --json` by path."""
    return {change["path"]: change for change in json.loads(printed)["changes"]}


def agent_session(memory: Path) -> None:
    """Do what an agent may do in one session: create, change, delete, rename, cut the index."""
    made = note_text("locks", "Locks close at ebb.\n").replace(
        "  type: project\n", f"  type: project\n  originSessionId: {SESSION}\n"
    )
    (memory / "locks.md").write_text(made)
    (memory / "tides.md").write_text(note_text("tides", "The agent knows better.\n"))
    (memory / "ports.md").unlink()
    (memory / "quays.md").rename(memory / "berths.md")
    (memory / "MEMORY.md").write_text("# Memory\n\n- [Locks](locks.md) — when they close\n")


def test_the_inbox_shows_every_act_of_a_session_and_reverts_each(
    memory: Path, ricordo: Ricordo
) -> None:
    write_memory(memory, {"quays.md": note_text("quays", "Eight of them.\n")})
    ricordo("inbox", "--keep-all")
    before = contents(memory)
    agent_session(memory)

    found = arrivals(ricordo("inbox", "--json"))
    kinds = {path: change["kind"] for path, change in found.items()}
    assert kinds == {
        "MEMORY.md": "changed",
        "berths.md": "renamed",
        "locks.md": "created",
        "ports.md": "deleted",
        "tides.md": "changed",
    }
    assert found["locks.md"]["by"] == f"session {SESSION}"
    assert found["tides.md"]["by"] == "another program"
    assert found["berths.md"]["from"] == "quays.md"
    assert "-See [[ports]]" in found["tides.md"]["diff"]
    assert "+The agent knows better." in found["tides.md"]["diff"]
    assert "--- /dev/null" not in found["ports.md"]["diff"]
    assert "+++ /dev/null" in found["ports.md"]["diff"]

    for path in kinds:
        ricordo("inbox", "--revert", path)
    assert contents(memory) == before
    assert arrivals(ricordo("inbox", "--json")) == {}


def test_several_notes_are_reverted_in_one_change(memory: Path, ricordo: Ricordo) -> None:
    write_memory(memory, {"quays.md": note_text("quays", "Eight of them.\n")})
    ricordo("inbox", "--keep-all")
    before = contents(memory)
    agent_session(memory)
    after = contents(memory)
    paths = list(arrivals(ricordo("inbox", "--json")))
    told = ricordo("inbox", "--revert", *paths, "--reason", "too early")
    assert told.startswith(f"reverted {', '.join(paths)}")
    assert contents(memory) == before
    assert "too early" in ricordo("history")
    ricordo("undo")
    assert contents(memory) == after
    ricordo("inbox", "--revert", "tides", "nothing-of-this-name", code=3)
    ricordo("inbox", "--reason", "why", code=2)
    assert contents(memory) == after
    # the last of several names may be PATH
    assert run(["inbox", "--revert", *paths, str(memory)]) == 0
    assert contents(memory) == before


@pytest.mark.parametrize("index_last", [False, True])
def test_reverts_of_notes_and_of_their_index_come_to_the_same(
    memory: Path, ricordo: Ricordo, index_last: bool
) -> None:
    index = INDEX + "\n## Locks\n\n- [Locks](locks.md) — when"
    write_memory(memory, {"MEMORY.md": index, "locks.md": note_text("locks", "At ebb.\n")})
    ricordo("inbox", "--keep-all")
    before = contents(memory)
    (memory / "ports.md").unlink()
    (memory / "locks.md").unlink()
    (memory / "MEMORY.md").write_text("# Memory\n\n- [Tides](tides.md) — which port\n")
    for path in sorted(("MEMORY.md", "locks.md", "ports.md"), reverse=index_last):
        ricordo("inbox", "--revert", path)
    assert contents(memory) == before


def test_only_a_visit_moves_the_mark(memory: Path, ricordo: Ricordo) -> None:
    (memory / "tides.md").write_text(note_text("tides", "Changed.\n"))
    for words in (["lint", "--fail-on", "never"], ["show", "tides"], ["inbox"], ["history"]):
        ricordo(*words)
    assert list(arrivals(ricordo("inbox", "--json"))) == ["tides.md"]
    ricordo("inbox", "--keep-all")
    assert arrivals(ricordo("inbox", "--json")) == {}


def test_postponed_changes_are_marked_until_the_visit_ends(memory: Path, ricordo: Ricordo) -> None:
    (memory / "tides.md").write_text(note_text("tides", "Changed.\n"))
    plain = ricordo("inbox")
    assert plain.startswith("1 new since")
    environment = load_environment(os.environ)
    place = find_memories(str(memory), environment)[0]
    notebook = Notebook(place, environment, load_settings(environment, ())[0])
    (arrival,) = read_inbox(notebook).changes
    notebook.decisions.decide(Decision.SNOOZE, [arrival.id], arrival.at)
    output = ricordo("inbox")
    assert output.startswith("0 new since")
    assert "(later: new again at the next visit)" in output
    assert list(arrivals(ricordo("inbox", "--json"))) == ["tides.md"]
    ricordo("inbox", "--keep-all")
    assert ricordo("inbox").startswith("1 new since")


def test_changes_by_ricordo_are_not_in_the_inbox(ricordo: Ricordo) -> None:
    ricordo("rename", "tides", "currents")
    ricordo("retire", "ports")
    assert arrivals(ricordo("inbox", "--json")) == {}


def test_a_revert_keeps_what_the_user_wrote_since(memory: Path, ricordo: Ricordo) -> None:
    text = (memory / "ports.md").read_text()
    (memory / "ports.md").write_text(text.replace("Sines", "Setubal"))
    ricordo("inbox")
    (memory / "ports.md").write_text((memory / "ports.md").read_text() + "\n\n\nMine.\n")
    ricordo("inbox", "--revert", "ports")
    reverted = (memory / "ports.md").read_text()
    assert "Sines" in reverted


def test_undo_and_redo_give_back_the_exact_bytes(memory: Path, ricordo: Ricordo) -> None:
    states = [contents(memory)]
    for words in (
        ["rename", "tides", "currents"],
        ["retire", "ports", "--successor", "currents"],
        ["new", "Locks", "--type", "project"],
    ):
        ricordo(*words)
        states.append(contents(memory))
    assert len({json.dumps({k: v.hex() for k, v in state.items()}) for state in states}) == 4
    for state in reversed(states[:-1]):
        assert "undone: change of" in ricordo("undo")
        assert contents(memory) == state
    assert "Nothing to undo" in ricordo("undo")
    for state in states[1:]:
        ricordo("redo")
        assert contents(memory) == state
    assert "Nothing to redo" in ricordo("redo")


def test_undo_reverts_a_decision_too_and_names_it(memory: Path, ricordo: Ricordo) -> None:
    (memory / "ports.md").write_text("")
    finding = json.loads(ricordo("lint", "--json"))["findings"][0]["id"]
    ricordo("lint", "--dismiss", finding)
    assert finding not in ricordo("lint", "--json")
    assert "undone: dismissal of a finding (empty-note in ports.md)" in ricordo("undo")
    assert finding in ricordo("lint", "--json")
    ricordo("redo")
    assert finding not in ricordo("lint", "--json")


def test_undo_after_somebody_else_wrote_merges_or_refuses(memory: Path, ricordo: Ricordo) -> None:
    ricordo("rename", "ports", "harbours")
    index = memory / "MEMORY.md"
    index.write_text(index.read_text().replace("# Memory", "# Memory of the tides"))
    assert "merged with changes by others" in ricordo("undo")
    assert index.read_text() == INDEX.replace("# Memory", "# Memory of the tides")
    ricordo("retire", "ports")
    (memory / "tides.md").write_text(note_text("tides", "All of it is other now.\n"))
    kept = contents(memory)
    output = ricordo("undo", code=4)
    assert "changed the same lines" in output
    assert "Nothing was changed" in output
    assert contents(memory) == kept


def test_what_others_write_into_a_renamed_note_goes_back_with_it(
    memory: Path, ricordo: Ricordo
) -> None:
    before = contents(memory)
    ricordo("retire", "tides")
    retired = contents(memory)
    ricordo("rename", "ports", "harbours")
    path = memory / "harbours.md"
    path.write_text(path.read_text().replace("Sines.", "Faro."))
    assert "harbours.md: merged with changes by others" in ricordo("undo")
    changed = {**retired, "ports.md": retired["ports.md"].replace(b"Sines.", b"Faro.")}
    assert contents(memory) == changed
    ricordo("redo")
    assert "Faro." in path.read_text()
    ricordo("undo")
    ricordo("undo")
    assert contents(memory) == {**before, "ports.md": changed["ports.md"]}


def test_a_change_that_others_overwrote_does_not_bar_the_one_before_it(
    memory: Path, ricordo: Ricordo
) -> None:
    # the entries are not beside each other
    entry = "- [Quays](quays.md) — eight\n"
    (memory / "MEMORY.md").write_text(INDEX.replace("- [Ports]", f"{entry}- [Ports]"))
    write_memory(memory, {"quays.md": note_text("quays", "Eight of them.\n")})
    ricordo("retire", "tides")
    ricordo("rename", "ports", "harbours")
    path = memory / "harbours.md"
    renamed = path.read_text()
    path.write_text(renamed.replace("name: harbours", "name: docks"))
    output = ricordo("undo", code=4)
    assert "changed the same lines of harbours.md meanwhile. The next undo skips it." in output
    assert "tides.md (retired by hand)" in ricordo("undo")
    assert (memory / "tides.md").exists()
    # once the lines are as they were left, it can be undone
    path.write_text(renamed)
    assert "ports.md (renamed by hand)" in ricordo("undo")
    assert (memory / "ports.md").exists()


def test_history_lists_versions_under_every_name(memory: Path, ricordo: Ricordo) -> None:
    (memory / "tides.md").write_text(note_text("tides", "By an agent.\n"))
    ricordo("rename", "tides", "currents")
    found = json.loads(ricordo("history", "currents", "--json"))["versions"]
    assert [(v["kind"], v["path"], v["by"]) for v in found] == [
        ("renamed", "currents.md", "you"),
        ("changed", "tides.md", "another program"),
        ("first", "tides.md", "another program"),
    ]
    assert {"id", "path", "at", "by", "reason", "kind", "bytes"} == set(found[0])


@pytest.mark.parametrize("type_", ["feedback", "project", "user", "reference", ""])
def test_a_new_note_states_nothing_until_it_is_written(
    memory: Path, ricordo: Ricordo, type_: str
) -> None:
    told = ricordo("new", "Reefs", *(["--type", type_] if type_ else []))
    assert "It has no text yet: e in the notebook writes it." in told
    body = (memory / "reefs.md").read_text().partition("\n---\n")[2]
    assert all(line.startswith(("#", "**")) for line in body.split("\n") if line)
    findings = json.loads(ricordo("lint", "--json", "--fail-on", "never"))["findings"]
    assert ("empty-note", "reefs.md") in {(it["rule"], it["path"]) for it in findings}
    assert "no text" not in ricordo("new", "Shoals", given="Keep off the shoals.\n")


@pytest.mark.parametrize("name", ["tides", "ports"])
def test_a_restored_note_gets_its_entry_back_where_it_was(
    memory: Path, ricordo: Ricordo, name: str
) -> None:
    before = (memory / "MEMORY.md").read_bytes()
    ricordo("retire", name)
    assert f"({name}.md)" not in (memory / "MEMORY.md").read_text()
    told = ricordo("restore", name)
    assert "changed MEMORY.md" in told
    # the link of the other note was made text
    assert ("not restored with it: tides.md." in told) == (name == "ports")
    assert (memory / "MEMORY.md").read_bytes() == before
    ricordo("undo")
    assert not (memory / f"{name}.md").exists(), "both are one change set"
    assert f"({name}.md)" not in (memory / "MEMORY.md").read_text()


def test_a_note_that_an_agent_removed_after_its_entry_is_restored_with_it(
    memory: Path, ricordo: Ricordo
) -> None:
    index = memory / "MEMORY.md"
    before = index.read_text()
    index.write_text(before.replace("- [Tides](tides.md) — which port\n", ""))
    ricordo("inbox")
    (memory / "tides.md").unlink()
    index.write_text(f"{index.read_text()}- [Reefs](reefs.md) — sharp\n")
    ricordo("inbox")
    ricordo("restore", "tides")
    assert index.read_text() == f"{before}- [Reefs](reefs.md) — sharp\n"


def test_a_note_without_an_entry_is_restored_without_one(memory: Path, ricordo: Ricordo) -> None:
    index = memory / "MEMORY.md"
    index.write_text(index.read_text().replace("- [Tides](tides.md) — which port\n", ""))
    ricordo("inbox")
    (memory / "tides.md").write_text(note_text("tides", "Nothing links to it.\n"))
    ricordo("retire", "tides")
    before = index.read_bytes()
    ricordo("restore", "tides")
    assert (memory / "tides.md").exists()
    assert index.read_bytes() == before


def test_an_entry_that_somebody_made_again_is_not_restored_twice(
    memory: Path, ricordo: Ricordo
) -> None:
    ricordo("retire", "tides")
    index = memory / "MEMORY.md"
    index.write_text(f"{index.read_text()}- [High and low](tides.md) — again\n")
    ricordo("restore", "tides")
    assert index.read_text().count("(tides.md)") == 1


def test_restore_brings_back_a_retired_note_and_any_version(memory: Path, ricordo: Ricordo) -> None:
    first = (memory / "ports.md").read_bytes()
    (memory / "ports.md").write_text(note_text("ports", "Second.\n"))
    ricordo("inbox")
    ricordo("retire", "ports", "--reason", "not needed")
    assert "not needed" in ricordo("history", "ports")
    ricordo("restore", "ports")
    assert (memory / "ports.md").read_text() == note_text("ports", "Second.\n")
    oldest = json.loads(ricordo("history", "ports", "--json"))["versions"][-1]["id"]
    ricordo("restore", "ports", "--at", oldest)
    assert (memory / "ports.md").read_bytes() == first
    assert "has this text already" in ricordo("restore", "ports", "--at", oldest)
    assert "No version has the id" in ricordo("restore", "ports", "--at", "99.9", code=2)


def test_new_takes_body_and_frontmatter_and_adds_the_entry(memory: Path, ricordo: Ricordo) -> None:
    ricordo(
        "new", "Lock times", "--type", "project", "--description", "when: they close", given="Body"
    )
    text = (memory / "lock-times.md").read_text()
    assert text == (
        '---\nname: Lock times\ndescription: "when: they close"\nmetadata:\n  type: project\n---\n'
        "\nBody\n"
    )
    assert (
        "- [Lock times](lock-times.md) — when: they close\n" in (memory / "MEMORY.md").read_text()
    )
    ricordo("new", "Be brief", "--type", "feedback")
    assert "**How to apply:**" in (memory / "be-brief.md").read_text()


def test_the_template_of_a_new_note_is_in_the_language_of_the_memory(
    memory: Path, ricordo: Ricordo
) -> None:
    for number in range(9):
        body = "Die Tafel am Pegel wird nicht mit der Hand gelesen, und das ist auch gut so.\n"
        (memory / f"tafel{number}.md").write_text(note_text(f"tafel{number}", body))
    ricordo("new", "Kurz", "--type", "feedback")
    text = (memory / "kurz.md").read_text()
    assert "**Warum:**" in text
    assert "**Why:**" not in text


@pytest.mark.parametrize(
    ("words", "text", "path", "starts"),
    [
        (["Locks", "-"], "Body", "locks.md", "---\nname: Locks\n"),
        (["-"], "# Lock times\n\nAt ebb.\n", "lock-times.md", "---\nname: Lock times\n"),
        (["-"], "Locks open at **ebb**.\n", "locks-open-at-ebb.md", "---\nname: "),
        (
            ["-", "--description", "when", "--type", "project"],
            "---\nname: locks\ntags: [sea]\ntype: user\n---\n\nAt ebb.",
            "locks.md",
            "---\nname: locks\ntags: [sea]\ntype: project\ndescription: when\n---\n\nAt ebb.\n",
        ),
        (
            ["Lock times"],
            "---\nname: locks\ntags: [sea]\n---\nAt ebb.\n",
            "lock-times.md",
            "---\nname: Lock times\ntags: [sea]\n---\nAt ebb.\n",
        ),
    ],
)
def test_a_new_note_is_read_from_stdin(
    memory: Path, ricordo: Ricordo, words: list[str], text: str, path: str, starts: str
) -> None:
    before = contents(memory)
    assert f"created {path}" in ricordo("new", *words, given=text)
    assert (memory / path).read_text().startswith(starts)
    assert f"]({path})" in (memory / "MEMORY.md").read_text()
    ricordo("undo")
    assert contents(memory) == before


def test_a_new_note_takes_its_description_from_the_text_and_says_what_it_lacks(
    memory: Path, ricordo: Ricordo
) -> None:
    told = ricordo("new", "Locks", given="Locks open at **ebb**. They close at flood.\n")
    assert "\ndescription: Locks open at ebb\n" in (memory / "locks.md").read_text()
    assert "[Locks](locks.md) — Locks open at ebb\n" in (memory / "MEMORY.md").read_text()
    assert "It lacks type: `new` takes --type (feedback, project, reference, user)" in told
    assert told.count("locks.md") == 1
    whole = ricordo("new", "Quays", "--type", "project", "--description", "how many", given="Two.")
    assert "It lacks" not in whole
    assert "It lacks description" in ricordo("new", "Buoys")


def test_a_new_note_is_put_into_the_folder_that_its_name_gives(
    memory: Path, ricordo: Ricordo
) -> None:
    (memory / "sea").mkdir()
    (memory / "sea/waves.md").write_text(note_text("waves"))
    assert "created sea/locks.md" in ricordo("new", "sea/Locks", given="At ebb.\n")
    assert (memory / "sea/locks.md").read_text().startswith("---\nname: Locks\n")
    # a slash in a name
    assert "created land-locks-two.md" in ricordo("new", "land/Locks two")
    # a heading names no folder
    assert "created tcp-ip.md" in ricordo("new", "-", given="# TCP/IP\n\nPorts.\n")


def test_what_gives_no_note_is_refused(memory: Path, ricordo: Ricordo) -> None:
    before = contents(memory)
    for words in (["-"], ["Locks", "-"]):
        assert "no text on standard input" in ricordo("new", *words, given=" \n", code=2)
    ricordo("new", "-", given="---\nname: tides\n---\nAgain.\n", code=4)
    ricordo("new", "-", given="---\nname: x\ntype: [a\n---\nAgain.\n", code=4)
    ricordo("new", "Locks", "here", "there", given="x", code=2)
    assert contents(memory) == before


def test_rename_repairs_every_link_and_the_entry(memory: Path, ricordo: Ricordo) -> None:
    ricordo("rename", "ports", "harbours")
    assert not (memory / "ports.md").exists()
    assert "name: harbours" in (memory / "harbours.md").read_text()
    assert (
        "See [[harbours]] and [the ports](harbours.md#south).\n"
        in (memory / "tides.md").read_text()
    )
    assert "- [Ports](harbours.md) — where they are\n" in (memory / "MEMORY.md").read_text()


def test_retire_removes_links_and_entry(memory: Path, ricordo: Ricordo) -> None:
    ricordo("retire", "ports")
    assert "See ports and the ports.\n" in (memory / "tides.md").read_text()
    assert (memory / "MEMORY.md").read_text() == INDEX.replace(
        "- [Ports](ports.md) — where they are\n", ""
    )


def test_an_entry_that_also_names_the_successor_goes_with_its_note(
    memory: Path, ricordo: Ricordo
) -> None:
    both = "- [Locks](locks.md) — see [tides](tides.md)\n"
    write_memory(memory, {"MEMORY.md": INDEX + both, "locks.md": note_text("locks", "At ebb.\n")})
    ricordo("retire", "locks", "--successor", "tides")
    assert (memory / "MEMORY.md").read_text() == INDEX


def test_undo_and_redo_say_in_the_history_what_they_reverted(ricordo: Ricordo) -> None:
    ricordo("retire", "ports", "--reason", "not needed")
    ricordo("undo")
    ricordo("redo")
    reasons = [it["reason"] for it in json.loads(ricordo("history", "ports", "--json"))["versions"]]
    what = "of change of MEMORY.md, ports.md, tides.md (not needed)"
    assert reasons == [f"redo {what}", f"undo {what}", "not needed", "as first seen"]


def test_purge_removes_a_value_from_all_versions(
    memory: Path, ricordo: Ricordo, pinned: Path
) -> None:
    (memory / "ports.md").write_text(note_text("ports", "The key is hunter2-hunter2.\n"))
    assert "hunter2-hunter2" in ricordo("inbox")
    held = json.loads(ricordo("history", "ports", "--json"))["versions"][0]["id"]
    (memory / "ports.md").write_text(note_text("ports", "The key is gone.\n"))
    assert "removed from 1 texts" in ricordo("purge", "--yes", given="hunter2-hunter2\n")
    assert "A value was purged from that version" in ricordo(
        "restore", "ports", "--at", held, code=4
    )
    assert (memory / "ports.md").read_text() == note_text("ports", "The key is gone.\n")
    for file in (pinned / ".local/state/ricordo").iterdir():
        assert b"hunter2-hunter2" not in file.read_bytes()
    assert "no faults" in ricordo("history", "--verify")
    assert "at least 4 characters" in ricordo("purge", "--yes", given="abc\n", code=2)


def test_an_agent_that_consolidates_is_not_disturbed(
    memory: Path, ricordo: Ricordo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ricordo.storage.lock.PATIENCE", 0.05)
    before = contents(memory)
    (memory / ".consolidate-lock").write_text(str(os.getpid()))
    monkeypatch.setattr("tests.unit.cli.conftest.settle", lambda root: None)
    output = ricordo("retire", "ports", code=4)
    assert "consolidating" in output
    assert "Nothing was changed" in output
    (memory / ".consolidate-lock").unlink()
    assert contents(memory) == before


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_the_inbox_prints_no_credential_of_a_note(
    memory: Path, ricordo: Ricordo, form: tuple[str, ...]
) -> None:
    old, new = ("postgres://tide:" + f"{part}-Hw72Kd9x@db/ports" for part in ("Qr4", "Zt8"))
    write_memory(memory, {"db.md": note_text("db", f"The database is {old}\n")})
    ricordo("inbox", "--keep-all")
    write_memory(memory, {"db.md": note_text("db", f"The database is {new}\n")})
    printed = ricordo("inbox", *form)
    assert "db.md" in printed
    assert "Hw72Kd9x" not in printed
    if not form:
        assert "Only the value of a credential changed" in printed
