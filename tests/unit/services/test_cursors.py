"""How far activity was curated: moved where something was decided, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from ricordo.curation.brief import Brief
from ricordo.curation.engine import CurationProgress, EngineAnswer, Step, UnreadInput
from ricordo.curation.engines.rules import COMPARING
from ricordo.curation.proposal import make_curator
from ricordo.memory.memory import Memory
from ricordo.services.curation.curation import (
    apply_proposals,
    propose,
    propose_prepared,
    refuse,
    save_curation,
    save_state,
)
from ricordo.services.curation.pending import load_curation_state
from ricordo.services.curation.preparation import COMPOSING, READING, CurationScope, prepare
from ricordo.services.history.undo import undo
from ricordo.services.workspace.environment import load_environment
from ricordo.services.workspace.notebook import Notebook
from ricordo.services.workspace.places import find_memory
from ricordo.settings.settings import Settings
from tests.conftest import NOW
from tests.support.builders import note_text, write_memory
from tests.support.curating import edit, replying, user_lines

ONE, TWO, THREE = "The port is Lagos.", "Answer in Italian.", "The crane is out of order."
NOTES = {
    "MEMORY.md": "- [Tides](tides.md) — which port\n- [Old](old.md) — gone\n",
    "tides.md": note_text("tides", "The port is Sines.\n"),
    "old.md": note_text("old", "A fact.\n"),
}


class Session:
    """A memory of Claude Code, and a transcript that belongs to it."""

    def __init__(self, home: Path) -> None:
        folder = home / ".claude/projects/-home-ana-work-tidepool"
        root = write_memory(folder / "memory", NOTES)
        self.path = folder / "s.jsonl"
        environment = load_environment({"HOME": str(home)}, state=str(home / "state"), now=NOW)
        place = find_memory(str(root), environment)
        self.notebook = Notebook(place, environment, Settings())
        self.notebook.record(self.notebook.read())

    def says(self, *texts: str, start: int = 0) -> None:
        """Let the person go on in the session."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(user_lines(*texts, start=start))

    @property
    def heard(self) -> list[str]:
        """What the next curation would be given."""
        prepared = prepare(self.notebook, self.notebook.read(), CurationScope())
        return [it.text for it in prepared.activity.messages]

    def curate(self, *edits: object, scope: CurationScope | None = None) -> None:
        """Curate with an engine that answers `edits`, and let what it proposes wait."""
        memory = self.notebook.read()
        scope = scope or CurationScope()
        save_curation(self.notebook, propose(self.notebook, memory, scope, make=replying([*edits])))

    def take(self, *paths: str) -> None:
        """Apply what waits, of these notes only where some are named."""
        kept = load_curation_state(self.notebook.environment.state, self.notebook.place.root)
        memory = self.notebook.read()
        apply_proposals(
            self.notebook,
            memory,
            kept.pending,
            lambda it: "" if it.path in paths or not paths else "no",
            by_hand=True,
        )

    def drop(self) -> None:
        """Drop all that waits."""
        kept = load_curation_state(self.notebook.environment.state, self.notebook.place.root)
        refuse(self.notebook, kept.pending)


@pytest.fixture
def session(tmp_path: Path) -> Session:
    session = Session(tmp_path)
    session.says(ONE, TWO)
    return session


INSERTED = edit("insert", note="n2", after_line=8, text="The port is Lagos now.")
RETIRED = edit("retire", note="n1", successor="n2")
DECIDED: dict[str, tuple[Callable[[Session], None], ...]] = {
    "applied": (Session.take,),
    "dropped": (Session.drop,),
    "part applied, the rest dropped": (lambda it: it.take("tides.md"), Session.drop),
    "part applied, then the rest": (lambda it: it.take("old.md"), Session.take),
}
UNDECIDED: dict[str, Callable[[Session], None]] = {
    "waiting": lambda _: None,
    "part applied": lambda it: it.take("tides.md"),
    "nothing wanted": lambda it: it.take("none.md"),
    "proposed again": lambda it: it.curate(INSERTED, RETIRED),
}


@pytest.mark.parametrize("way", DECIDED)
def test_what_was_decided_is_behind_the_cursor(session: Session, way: str) -> None:
    session.curate(INSERTED, RETIRED)
    for decide in DECIDED[way]:
        decide(session)
    assert session.heard == []
    session.says(THREE, start=2)
    assert session.heard == [THREE]


@pytest.mark.parametrize("way", UNDECIDED)
def test_what_is_not_decided_is_not(session: Session, way: str) -> None:
    session.curate(INSERTED, RETIRED)
    UNDECIDED[way](session)
    session.says(THREE, start=2)
    assert session.heard == [ONE, TWO, THREE]


def test_a_curation_that_was_only_looked_at_leaves_the_cursor(session: Session) -> None:
    propose(session.notebook, session.notebook.read(), CurationScope(), make=replying([INSERTED]))
    assert session.heard == [ONE, TWO]


def test_where_nothing_was_proposed_there_is_nothing_to_decide(session: Session) -> None:
    session.curate()
    assert session.heard == []


def test_where_everything_was_rejected_the_user_decides(session: Session) -> None:
    session.curate({"op": "shell"})
    assert session.heard == [ONE, TWO]
    session.drop()
    assert session.heard == []


def test_what_is_named_moves_no_cursor_and_hears_all(session: Session) -> None:
    session.curate(INSERTED)
    for scope in (
        CurationScope(session=str(session.path)),
        CurationScope(everything=True),
        CurationScope(note="old.md"),
    ):
        session.curate(RETIRED, scope=scope)
    # the one that was not named still counts, once all is decided
    session.drop()
    assert session.heard == []
    told = prepare(
        session.notebook, session.notebook.read(), CurationScope(everything=True)
    ).activity
    assert [it.text for it in told.messages] == [ONE, TWO]


def test_only_a_named_session_decided_leaves_the_others(session: Session) -> None:
    session.curate(INSERTED, scope=CurationScope(session=str(session.path)))
    session.take()
    assert session.heard == [ONE, TWO]


class PassingOver:
    """An engine that has not read what was said last."""

    author = make_curator("test")

    def __init__(self, source: str, *, is_left: bool) -> None:
        self._unread = UnreadInput(source, "because", is_left)

    def answer(self, memory: Memory, brief: Brief, step: Step) -> EngineAnswer:
        return EngineAnswer(unread=(self._unread,))


@pytest.mark.parametrize(("is_left", "heard"), [(True, [ONE, TWO]), (False, [])])
def test_what_was_not_asked_about_is_heard_again_and_what_is_refused_is_not(
    is_left: bool, heard: list[str], session: Session
) -> None:
    engine = PassingOver(f"{session.path}#p1", is_left=is_left)
    memory = session.notebook.read()
    curation = propose(session.notebook, memory, CurationScope(), make=lambda *_: engine)
    save_curation(session.notebook, curation)
    (skipped,) = curation.skipped
    why = "not asked about: because" if is_left else "because"
    assert skipped.message == f"skipped: what you said on 12 Nov, “{TWO}”, {why}"
    assert session.heard == heard


def test_a_transcript_that_was_swept_away_leaves_no_cursor_behind(session: Session) -> None:
    state, root = session.notebook.environment.state, session.notebook.place.root
    session.curate()
    assert load_curation_state(state, root).cursors
    session.path.unlink()
    session.curate()
    assert not load_curation_state(state, root).cursors


def test_a_folder_that_is_away_for_a_while_keeps_its_cursors(session: Session) -> None:
    session.curate()
    kept = load_curation_state(session.notebook.environment.state, session.notebook.place.root)
    key = next(iter(kept.cursors)).replace("/projects/", "/elsewhere/")
    begun = replace(kept, cursors={key: next(iter(kept.cursors.values()))})
    save_state(session.notebook, begun)
    state, root = session.notebook.environment.state, session.notebook.place.root
    assert load_curation_state(state, root).cursors == begun.cursors


def test_a_rewritten_transcript_is_read_from_its_start(session: Session) -> None:
    session.curate()
    session.path.write_text(user_lines(THREE, TWO), "utf-8")
    assert session.heard == [THREE, TWO]


def test_a_line_that_was_half_written_is_heard_when_it_is_whole(session: Session) -> None:
    whole = user_lines(THREE, start=2)
    with session.path.open("a", encoding="utf-8") as file:
        file.write(whole[:90])
    session.curate()
    with session.path.open("a", encoding="utf-8") as file:
        file.write(whole[90:])
    assert session.heard == [THREE]


def test_what_there_is_no_room_for_waits_for_the_next_curation(session: Session) -> None:
    session.says(THREE, start=2)
    session.path.with_name("t.jsonl").write_text(user_lines("Another session.", start=9), "utf-8")
    heard: list[str] = []
    for _ in range(4):
        memory = session.notebook.read()
        prepared = prepare(session.notebook, memory, CurationScope(), room=1)
        assert len(prepared.activity.messages) == 1
        heard.append(prepared.activity.messages[0].text)
        save_curation(
            session.notebook, propose_prepared(session.notebook, prepared, make=replying([]))
        )
    assert heard == [ONE, TWO, THREE, "Another session."]
    assert session.heard == []


def test_it_can_be_given_up_at_every_phase(session: Session) -> None:
    class Cancelled(Exception):
        pass

    seen: set[str] = set()

    def give_up_at(phase: str) -> Callable[[CurationProgress], None]:
        def step(progress: CurationProgress) -> None:
            seen.add(progress.phase)
            if progress.phase == phase:
                raise Cancelled

        return step

    def curate(step: Callable[[CurationProgress], None]) -> None:
        old = session.notebook
        notebook = Notebook(old.place, old.environment, old.settings)
        propose(notebook, notebook.read(), CurationScope(), step)

    session.says("From now on write commands with uv run, not with pip.", start=2)
    before = session.heard
    curate(give_up_at(""))
    assert seen >= {READING, COMPOSING, COMPARING}
    for phase in (READING, COMPOSING, COMPARING):
        with pytest.raises(Cancelled):
            curate(give_up_at(phase))
    assert session.heard == before


def test_what_was_said_comes_day_by_day_each_session_as_it_went(session: Session) -> None:
    first = session.path.with_name("z.jsonl")
    first.write_text(
        user_lines("Older.", "And older.", at="2026-11-10T08:00:00.000Z", start=7), "utf-8"
    )
    assert session.heard == ["Older.", "And older.", ONE, TWO]


def test_of_decided_proposals_the_newest_are_kept_and_of_pending_ones_all(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ricordo.services.curation.pending._MOST_OF_DECIDED", 2_000)
    state, root = session.notebook.environment.state, session.notebook.place.root

    def kept_again() -> list[str]:
        save_state(session.notebook, load_curation_state(state, root))
        return [it.id for it in load_curation_state(state, root).proposals]

    session.curate(INSERTED, RETIRED)
    both = kept_again()
    assert len(both) == 2
    session.drop()
    assert kept_again() == both[1:]
    undo(session.notebook)
    assert [it.id for it in load_curation_state(state, root).pending] == both[1:]
