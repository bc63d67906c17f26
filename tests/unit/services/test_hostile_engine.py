"""Hostile edits on their whole way, from an engine to the files: each gets its verdict, and no file
changes without a person.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ricordo.memory.change import Create
from ricordo.services.curation.curation import save_state
from ricordo.services.curation.pending import CurationState
from tests.support.builders import note_text
from tests.support.curating import Desk, edit
from tests.unit.curation.test_hostile_edits import ESCAPES, FILES, FLAGGED, SHAPELESS


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    return Desk(tmp_path_factory.mktemp("hostile"), FILES)


def judged(desk: Desk, edits: Any) -> tuple[int, int]:
    """Return how many proposals wait and how many edits were rejected; nothing was written, and
    nothing is by what takes only what is plain.
    """
    before = desk.files
    curation = desk.propose(edits)
    assert desk.files == before
    assert desk.waiting == curation.proposals
    taken = desk.take(by_hand=False)
    assert not taken.applied
    assert desk.files == before
    save_state(desk.notebook, CurationState())
    return len(curation.proposals), len(curation.rejected)


def test_no_name_but_an_id_leads_to_a_note(desk: Desk) -> None:
    edits = [edit("replace", note=name, old="Sines", new="Lagos") for name in ESCAPES]
    edits += [edit("retire", note=name, successor="") for name in ESCAPES]
    assert judged(desk, edits) == (0, len(edits))


def test_what_has_no_shape_is_rejected(desk: Desk) -> None:
    edits = [it for given in SHAPELESS.values() if isinstance(given, list) for it in given]
    assert judged(desk, _with_proof(edits)) == (0, len(edits))
    assert judged(desk, SHAPELESS["no list"]) == (0, 1)


@pytest.mark.parametrize("case", FLAGGED)
def test_what_the_user_should_see_stays_pending(desk: Desk, case: str) -> None:
    path, old, new = FLAGGED[case]
    assert judged(desk, [edit("replace", note=desk.id_of(path), old=old, new=new)]) == (1, 0)


def test_a_note_that_was_emptied_halved_or_retired_with_many_needs_the_typed_word(
    desk: Desk,
) -> None:
    before = desk.files
    head = FILES["ports.md"].split("---\n\n")[0] + "---\n\n"
    for edits in (
        [edit("rewrite", note=desk.id_of("ports.md"), text=head)],
        [edit("rewrite", note=desk.id_of("ports.md"), text=f"{head}Short.\n")],
        [edit("retire", note=f"n{n}", successor="") for n in range(1, 13) if n != 2],
    ):
        desk.propose(edits)
        left = desk.take().skipped
        assert {why for _, why in left if "needs confirmation" in why}
        assert all((desk.root / it.path).exists() for it, _ in left)
        save_state(desk.notebook, CurationState())
        for path, content in before.items():
            (desk.root / path).write_bytes(content)
        desk.notebook.record(desk.notebook.read())


def test_a_reply_that_is_deep_or_long_is_rejected_and_takes_nothing_down(desk: Desk) -> None:
    deep: Any = []
    for _ in range(2_000):
        deep = [deep]
    good = edit("insert", note=desk.id_of("tides.md"), after_line=8, text="The port is Lagos now.")
    waits, rejected = judged(desk, [deep, *([{"op": "x"}] * 500)])
    assert waits == 0
    assert rejected == 201
    curation = desk.propose([deep, good, 7])
    assert [it.op for it in curation.proposals] == ["insert"]
    assert len(curation.rejected) == 2
    assert desk.take(by_hand=False).applied
    assert b"Lagos" in (desk.root / "tides.md").read_bytes()


def test_a_new_note_gets_its_path_from_us(desk: Desk) -> None:
    for name in ("../../x", "/etc/passwd", ".hidden", "a\\b", "MEMORY", "index.md", "CON:1"):
        wish = edit("create", name=name, type="project", description="d", text="It is so.")
        for it in desk.propose([wish]).proposals:
            assert isinstance(it.change.operation, Create)
            assert "/" not in it.path
            assert it.path not in FILES
        save_state(desk.notebook, CurationState())


def _with_proof(given: Any) -> Any:
    """Let the evidence stand where this session has it, so that it is no reason to reject."""
    return json.loads(json.dumps(given).replace('"s#1"', '"t1"'))


def test_quotes_are_in_the_brief_and_none_contains_a_secret(tmp_path: Path) -> None:
    secret = "The password is kitten4711 on staging."
    desk = Desk(tmp_path, {"db.md": note_text("db", f"{secret}\n"), "sea.md": note_text("sea")})
    quotes = [secret.replace("kitten4711", "[REDACTED:password:1]"), secret]
    edits = [
        edit("link", note=desk.id_of("sea.md"), target=desk.id_of("db.md"))
        | {"evidence": [{"source": desk.id_of("db.md"), "quote": it} for it in quotes]}
    ]
    (proposal,) = desk.propose(edits).proposals
    assert [it.found for it in proposal.evidence] == [True, False]
