"""What the user decided binds the rules, what a model answers, and the findings; undo frees all."""

from __future__ import annotations

from pathlib import Path

import pytest

from ricordo.cli.main import run
from ricordo.services.conflicts.conflicts import Keep, find_conflicts
from ricordo.services.conflicts.resolution import compose_resolution, resolve_for_one
from ricordo.services.curation.curation import (
    Curation,
    pending_proposals,
    propose,
    refuse,
    save_curation,
)
from ricordo.services.curation.preparation import prepare
from ricordo.services.edits.change import apply_or_merge
from ricordo.services.history.undo import undo
from ricordo.services.inbox.inbox import read_inbox
from ricordo.storage.decisions import Decision, ReviewVerdict
from tests.support.builders import note_text
from tests.support.curating import Desk, edit, user_lines

LATER = "2026-11-20T18:00:00.000Z"
"""After the moment at which the tests decide."""


def dated(name: str, body: str, day: str) -> str:
    return note_text(name, body, f"About {name}").replace("  type:", f"  modified: {day}\n  type:")


FILES = {
    "MEMORY.md": "- [Old](old.md) — plan\n- [New](new.md) — plan\n- [Web](web.md) — port\n"
    "- [Server](server.md) — port\n",
    "old.md": dated("old-plan", "The ferry sails weekly to Sines.\n", "2026-01-01"),
    "new.md": dated("new-plan", "This replaces [[old-plan]]: daily.\n", "2026-10-01"),
    "server.md": dated("server", "The web view listens on port 8040.\n", "2026-01-02"),
    "web.md": dated("web", "The web view listens on port 8100.\n", "2026-03-04"),
}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    desk = Desk(tmp_path, FILES)
    desk.transcript.write_text(user_lines("Go on."), "utf-8")
    return desk


def confirm(desk: Desk, path: str, judgement: ReviewVerdict = ReviewVerdict.TRUE) -> None:
    desk.notebook.record_verdict(desk.notebook.read_snapshot_with_evidence(), path, judgement)


def by_rules(desk: Desk) -> Curation:
    return propose(desk.notebook, desk.notebook.read(), desk.scope)


def retired(curation: Curation) -> list[str]:
    return [it.path for it in curation.proposals if it.op == "retire"]


def retiring(desk: Desk, path: str = "old.md", quote: str = "") -> dict[str, object]:
    proof = [{"source": "t1", "quote": quote}] if quote else []
    return edit("retire", note=desk.id_of(path), successor=desk.id_of("new.md"), evidence=proof)


def rejections(curation: Curation) -> str:
    return " ".join(it.why for it in curation.rejected)


def test_the_rules_retire_no_note_that_was_confirmed(desk: Desk) -> None:
    assert retired(by_rules(desk)) == ["old.md"]
    confirm(desk, "old.md")
    curation = by_rules(desk)
    assert retired(curation) == []
    assert not curation.rejected
    undo(desk.notebook)
    assert retired(by_rules(desk)) == ["old.md"]


def test_wrong_after_still_true_and_another_text_are_free_again(desk: Desk) -> None:
    confirm(desk, "old.md")
    path = desk.root / "old.md"
    path.write_text(path.read_text("utf-8") + "On Mondays.\n", "utf-8")
    assert retired(by_rules(desk)) == ["old.md"]
    confirm(desk, "old.md")
    assert retired(by_rules(desk)) == []
    confirm(desk, "old.md", ReviewVerdict.WRONG)
    assert retired(by_rules(desk)) == ["old.md"]


def test_a_model_takes_no_statement_from_a_note_that_was_confirmed(desk: Desk) -> None:
    confirm(desk, "old.md")
    before = [
        retiring(desk),
        edit("replace", note=desk.id_of("old.md"), old="weekly", new="daily", evidence=[]),
        edit("merge", note=desk.id_of("new.md"), other=desk.id_of("old.md"), text="Daily.\n"),
    ]
    curation = desk.propose(before)
    assert not curation.proposals
    assert rejections(curation).count("You confirmed old.md on 2026-11-20: still true.") == 3
    more = [
        edit("insert", note=desk.id_of("old.md"), after_line=99, text="Not in winter."),
        edit("link", note=desk.id_of("old.md"), target=desk.id_of("web.md")),
    ]
    lines = desk.notebook.read().by_path["old.md"].text.count("\n")
    more[0]["after_line"] = lines
    assert len(desk.propose(more).proposals) == 2


def test_what_was_said_after_a_decision_counts_more(desk: Desk) -> None:
    confirm(desk, "old.md")
    over = "The weekly ferry to Sines is over, forget the old plan."
    desk.transcript.write_text(user_lines(over), "utf-8")
    assert not desk.propose([retiring(desk, quote=over)]).proposals
    desk.transcript.write_text(user_lines(over, at=LATER), "utf-8")
    (it,) = desk.propose([retiring(desk, quote=over)]).proposals
    assert it.op == "retire"
    # words that are not found were never said
    assert not desk.propose([retiring(desk, quote="nobody said so")]).proposals[1:]


def test_what_was_kept_in_the_inbox_is_not_taken_away(desk: Desk) -> None:
    (desk.root / "old.md").write_text(dated("old-plan", "It sails on Mondays.\n", "2026-01-01"))
    (desk.root / "web.md").unlink()
    desk.notebook.record(desk.notebook.read())
    create = edit("create", name="web", type="project", description="d", text="Port 8100.")
    kept = {it.path: it for it in read_inbox(desk.notebook).changes}
    assert retired(by_rules(desk)) == ["old.md"]
    now = desk.notebook.environment.now.isoformat()
    ids = [kept[path].id for path in ("old.md", "web.md")]
    for id_ in ids:
        desk.notebook.decisions.decide(Decision.KEEP, [id_], now)
    assert retired(by_rules(desk)) == []
    curation = desk.propose([retiring(desk), create])
    assert not curation.proposals
    assert "old.md on 2026-11-20: kept in the inbox." in rejections(curation)
    assert "You accepted the deletion of web.md on 2026-11-20." in rejections(curation)
    undo(desk.notebook)
    assert [it.path for it in desk.propose([retiring(desk), create]).proposals] == ["web.md"]


def test_two_notes_that_are_no_conflict_stay_two(desk: Desk) -> None:
    (found,) = find_conflicts(desk.notebook.read_snapshot_with_evidence())
    desk.notebook.dismiss(found.id, "no conflict")
    web, server = desk.id_of("web.md"), desk.id_of("server.md")
    edits = [
        edit("merge", note=web, other=server, text="The web view listens on port 8100.\n"),
        edit("retire", note=server, successor=web),
    ]
    curation = desk.propose(edits)
    assert not curation.proposals
    assert rejections(curation).count("neither a conflict nor duplicates") == 2
    undo(desk.notebook)
    assert desk.propose(edits).proposals


def test_three_copies_that_were_dismissed_together_stay_three(desk: Desk) -> None:
    body = (
        "Each commit holds one logical change and nothing besides.\n\n"
        "The subject is imperative, below 60 characters, without a full stop.\n"
    )
    root = Path(desk.notebook.place.root)
    for name in "abc":
        (root / f"{name}.md").write_text(dated(name, body, "2026-03-04"), "utf-8")
    found = desk.notebook.read_snapshot_with_evidence().findings
    (copies,) = (it for it in found if it.rule == "duplicate")
    desk.notebook.dismiss(copies.id, "on purpose")
    edits = [edit("retire", note=desk.id_of("a.md"), successor=desk.id_of("c.md"))]
    assert "neither a conflict nor duplicates" in rejections(desk.propose(edits))
    undo(desk.notebook)
    assert desk.propose(edits).proposals


def test_the_side_that_was_kept_in_a_conflict_is_not_replaced_by_older_words(desk: Desk) -> None:
    desk.transcript.write_text(
        user_lines("From now on the web view listens on port 8100."), "utf-8"
    )

    def paths(curation: Curation) -> set[str]:
        return {it.path for it in curation.proposals if it.op != "retire"}

    (found,) = find_conflicts(desk.notebook.read_snapshot_with_evidence())
    memory = desk.notebook.read()
    keep = Keep.LEFT if found.left.note.path == "server.md" else Keep.RIGHT
    settled = resolve_for_one(memory, found, keep)
    (desk.root / "web.md").unlink()
    assert paths(by_rules(desk)) == {"server.md"}
    (desk.root / "web.md").write_text(FILES["web.md"])
    apply_or_merge(desk.notebook, compose_resolution(desk.notebook, memory, settled))
    assert "server.md" not in paths(by_rules(desk))
    replace = edit("replace", note=desk.id_of("server.md"), old="8040", new="8100", evidence=[])
    curation = desk.propose([replace])
    assert not curation.proposals
    assert "kept when a conflict was settled" in rejections(curation)


def test_what_was_refused_is_not_proposed_in_other_words(desk: Desk) -> None:
    insert = edit("insert", note=desk.id_of("web.md"), after_line=9, text="Restart it by hand.")
    link = edit("link", note=desk.id_of("server.md"), target=desk.id_of("web.md"))
    desk.propose([retiring(desk), insert, link])
    refuse(desk.notebook, desk.waiting)
    # not because of the text that it was made against
    for name in ("old.md", "web.md", "new.md"):
        path = desk.root / name
        path.write_text(path.read_text("utf-8") + "One more line.\n", "utf-8")
    again = [
        edit("retire", note=desk.id_of("old.md"), successor=""),
        {**insert, "text": "Restart it, by hand!", "after_line": 10},
        link,
    ]
    curation = desk.propose(again)
    assert not curation.proposals
    assert rejections(curation).count("You refused this on 2026-11-20.") == 3
    assert retired(by_rules(desk)) == []
    other = {**insert, "text": "It stops on Sundays at nine."}
    assert len(desk.propose([other]).proposals) == 1
    refuse(desk.notebook, desk.waiting)
    undo(desk.notebook)
    undo(desk.notebook)
    assert retired(by_rules(desk)) == ["old.md"]


def test_a_model_is_told_what_was_decided_and_no_secret_with_it(desk: Desk) -> None:
    key = "sk-ant-api03-" + "Ab3dEf6hIj9kLm2nOp5qRs8tUv1w"
    notes = desk.notebook.read_snapshot_with_evidence()
    finding = notes.by_path["web.md"][0]
    confirm(desk, "old.md")
    desk.notebook.dismiss(finding.id, "Rui says so")
    insert = edit("insert", note=desk.id_of("web.md"), after_line=9, text=f"The key is {key}.")
    desk.propose([insert])
    refuse(desk.notebook, desk.waiting)
    prepared = prepare(desk.notebook, desk.notebook.read(), desk.scope)
    text = prepared.brief.text
    decided = text.split("== decided\n")[1].split("== ")[0]
    old, web = desk.id_of("old.md"), desk.id_of("web.md")
    assert f"{old} confirmed on 2026-11-20 | still true\n" in decided
    assert f"{web} dismissed on 2026-11-20 | {finding.rule}: Rui says so" in decided
    assert f"{web} refused on 2026-11-20 | insert: The key is " in decided
    assert key not in text
    confirm(desk, "server.md", ReviewVerdict.WRONG)
    text = prepare(desk.notebook, desk.notebook.read(), desk.scope).brief.text
    server = desk.id_of("server.md")
    assert f"{server} wrong on 2026-11-20 | the person says that this note is wrong" in text
    assert f"note {server}\n" in text
    for _ in range(4):
        undo(desk.notebook)
    assert "== decided" not in prepare(desk.notebook, desk.notebook.read(), desk.scope).brief.text


def test_what_is_decided_while_a_proposal_is_pending_is_a_warning_and_then_its_end(
    desk: Desk,
) -> None:
    insert = edit("insert", note=desk.id_of("web.md"), after_line=9, text="Restart it by hand.")
    desk.propose([retiring(desk), insert])
    confirm(desk, "old.md")

    def warned() -> list[str]:
        found = pending_proposals(desk.notebook, desk.notebook.read())
        return [
            it.op for it in found if "You confirmed old.md on 2026-11-20" in str(it.all_warnings)
        ]

    assert warned() == ["retire"]
    undo(desk.notebook)
    assert warned() == []
    confirm(desk, "old.md")
    desk.propose([])
    assert [it.op for it in desk.waiting] == ["insert"]


# Findings


def test_findings_that_ask_whether_it_is_true_end_with_the_answer(desk: Desk) -> None:
    path = desk.root / "old.md"
    text = "Merges are frozen until 2026-02-01. See [[nowhere-at-all]].\n"
    path.write_text(dated("old-plan", text, "2026-01-01"))

    def found() -> set[str]:
        return {it.rule for it in desk.notebook.read_snapshot_with_evidence().findings_of("old.md")}

    before = found()
    assert {"passed-date", "stale", "wanted-note"} <= before
    confirm(desk, "old.md")
    confirm(desk, "old.md")
    assert found() & {"passed-date", "stale"} == set()
    assert "wanted-note" in found()
    undo(desk.notebook)
    undo(desk.notebook)
    assert found() == before


def test_a_fix_that_was_refused_as_a_proposal_is_not_made_by_lint(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    index = desk.root / "MEMORY.md"
    index.write_text(FILES["MEMORY.md"].replace("- [Web](web.md) — port\n", ""))
    save_curation(desk.notebook, by_rules(desk))
    (entry,) = (it for it in desk.waiting if it.op == "entry")
    refuse(desk.notebook, [entry])
    assert not [it for it in by_rules(desk).proposals if it.op == "entry"]
    state = desk.notebook.environment.state
    words = ["lint", str(desk.root), "--fix", "--fail-on", "never", "--state", state]
    assert run(words) == 0
    assert "web.md" not in index.read_text("utf-8")
    undo(desk.notebook)
    assert run(words) == 0
    assert "web.md" in index.read_text("utf-8")
