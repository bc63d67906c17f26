from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from pathlib import Path

import pytest

from ricordo.curation.placement import PlacementContext, SharedStems, place_statement
from ricordo.curation.proposal import ProposedChange
from ricordo.curation.user_messages import MemorableStatement, UserMessage
from ricordo.extraction.statement import find_statements
from ricordo.lint.evidence import NotePair, NoteQuote, Relation
from ricordo.memory.change import Create, Insert, Replace, Retire
from tests.support.builders import note_text, open_memory

DAY = date(2026, 11, 12)
CONTACT = "Contact at the port office: Ms Bruzzone, mornings only.\n"


def note(name: str, body: str, description: str = "what it says", day: str = "2026-10-01") -> str:
    return note_text(name, body, description).replace(
        "  type", f"  modified: {day}T08:00:00.000Z\n  type"
    )


def placed(
    root: Path,
    files: Mapping[str, str],
    text: str,
    pairs: tuple[NotePair, ...] = (),
    key: str = "",
    causes: Mapping[str, list[str]] | None = None,
) -> tuple[ProposedChange, ...]:
    memory = open_memory(root, files)
    saying = next(find_statements(text, DAY, is_answer=True))
    heard = MemorableStatement(UserMessage("s#1", text, DAY, True, key), saying)
    known = PlacementContext(
        memory,
        lambda _: [],
        SharedStems(memory),
        pairs,
        causes,
    )
    return place_statement(known, heard)


def test_what_no_note_speaks_of_becomes_a_note_in_the_form_of_the_others(root: Path) -> None:
    files = {"feedback_units.md": note_text("feedback-units", "Metres.\n", type_="feedback")}
    (wish,) = placed(root, files, "Stop ending your answers with a list of next steps.")
    assert isinstance(wish.act, Create)
    assert wish.act.path == "feedback_stop_ending_answers_list_next.md"
    assert wish.act.text == (
        "---\nname: feedback-stop-ending-answers-list-next\n"
        "description: Stop ending your answers with a list of next steps\n"
        "metadata:\n  type: feedback\n---\n\n"
        "Stop ending your answers with a list of next steps.\n\nSaid on 2026-11-12.\n"
    )
    assert [it.quote for it in wish.evidence] == [
        "Stop ending your answers with a list of next steps."
    ]


@pytest.mark.parametrize(
    ("after", "body"),
    [
        ("They hid a broken migration.", "{} They hid a broken migration.\n\nSaid on 2026-11-12."),
        (
            "That is because they hid a broken migration.",
            "{}\n\n**Why:** That is because they hid a broken migration. Said on 2026-11-12.",
        ),
    ],
)
def test_only_what_the_words_call_a_reason_is_one(root: Path, after: str, body: str) -> None:
    rule = "Never use fakes of the store in tests."
    (wish,) = placed(root, {}, f"{rule} {after}")
    assert isinstance(wish.act, Create)
    assert wish.act.text.endswith(f"\n\n{body.format(rule)}\n")


def test_a_new_note_warns_of_one_that_may_say_the_same_in_another_language(root: Path) -> None:
    files = {
        "regeln.md": note_text(
            "regeln", "Der Stapel `tidectl berths` läuft immer, dann `tidectl tide`.\n"
        ),
        "other.md": note_text("other", "Metres.\n"),
    }
    (wish,) = placed(root, files, "Always run tidectl berths after a merge.")
    assert isinstance(wish.act, Create)
    assert wish.warning == "regeln.md, line 9, may say this already"
    (wish,) = placed(root, files, "Always ask before you merge.")
    assert wish.warning == ""


def test_a_line_about_more_does_not_say_a_statement_already(root: Path) -> None:
    line = "Commit messages are short and plain, in lower case, and name the files of one change."
    files = {"style.md": note_text("style", f"{line}\n"), "other.md": note_text("other", "Mud.\n")}
    (wish,) = placed(root, files, "Never commit .env files.")
    assert wish.warning == ""
    files["style.md"] = note_text("style", "No .env files are in a commit.\n")
    (wish,) = placed(root, files, "Never commit .env files to the public branch.")
    assert wish.warning == "style.md, line 9, may say this already"


@pytest.mark.parametrize(
    ("said", "path"),
    [
        ("Always run scripts/check-tides.sh before you commit.", "feedback_always_run_check_tides"),
        ("We decided that the gauge stays on the east pier.", "project_gauge_stays_east_pier"),
    ],
)
def test_a_new_note_is_named_by_its_subject(root: Path, said: str, path: str) -> None:
    files = {
        f"{type_}_{n}.md": note_text(f"{type_}-{n}", "Metres.\n", type_=type_)
        for n in "ab"
        for type_ in ("feedback", "project")
    }
    (wish,) = placed(root, files, said)
    assert isinstance(wish.act, Create)
    assert wish.act.path.startswith(path)


def test_a_statement_that_says_otherwise_is_replaced(root: Path) -> None:
    said = "Ms Bruzzone has left the port office. Our contact is Davide Ferri, he reads mail."
    (wish,) = placed(root, {"on_call.md": note("on-call", CONTACT)}, said)
    assert isinstance(wish.act, Replace)
    assert (wish.act.path, wish.act.old) == ("on_call.md", CONTACT.strip())
    assert wish.act.new == said
    assert wish.evidence[-1].source == "on_call.md"


def test_a_note_that_was_changed_after_it_was_said_knows_better(root: Path) -> None:
    said = "Ms Bruzzone has left the port office. Our contact is Davide Ferri, he reads mail."
    (wish,) = placed(root, {"on_call.md": note("on-call", CONTACT, day="2026-11-20")}, said)
    assert not isinstance(wish.act, Replace)


@pytest.mark.parametrize(
    "body",
    [
        "From now on write commands with uv run, not with pip.\n",
        "Write commands with uv run, no pip.\n",
    ],
)
def test_what_a_note_says_already_is_left_alone(root: Path, body: str) -> None:
    said = "From now on write commands with uv run, not with pip."
    assert placed(root, {"uv.md": note("uv", body)}, said) == ()


def test_what_the_agent_noted_at_the_time_is_left_alone(root: Path) -> None:
    said = "Never run the importer against the live feed."
    files = {"feed.md": note("feed", "Recorded files only.\n")}
    assert placed(root, files, said, key="p1", causes={"p1": ["feed.md"]}) == ()
    assert placed(root, files, said, key="p1", causes={"p1": ["gone.md"]}) != ()


def test_what_is_so_no_longer_is_retired_in_favour_of_the_note_that_holds(root: Path) -> None:
    files = {
        "cache_redis.md": note("cache-redis", "Tables are cached in Redis.\n", "Redis as a cache"),
        "storage.md": note(
            "storage", "This replaces [[cache-redis]].\n", "Redis is gone, SQLite holds all"
        ),
    }
    (wish,) = placed(root, files, "no, we dropped redis last week, it is sqlite now")
    assert wish.act == Retire("cache_redis.md", "storage.md")


def test_of_two_notes_that_exclude_each_other_the_one_that_was_thrown_out_goes(root: Path) -> None:
    files = {
        "buffer.md": note("buffer", "Ships are 30 minutes apart.\n", "Thirty minutes apart"),
        "gap.md": note("gap", "Ships are 20 minutes apart.\n", "Twenty minutes apart"),
    }
    quotes = (NoteQuote("buffer.md", 10, "x"), NoteQuote("gap.md", 10, "y"))
    pair = NotePair(Relation.CONTRADICTS, *quotes, "numbers")
    said = "Thirty is the rule, throw the twenty out."
    (wish,) = placed(root, files, said, (pair,))
    assert wish.act == Retire("gap.md", "buffer.md")


def test_what_the_user_says_of_themselves_goes_to_the_note_on_the_user(root: Path) -> None:
    files = {
        "user_ana.md": note_text("user-ana", "Ana leads the harbour.\n", type_="user"),
        "tides.md": note("tides", "See [[user-ana]].\n"),
    }
    (wish,) = placed(root, files, "I read German and Italian without trouble.")
    assert isinstance(wish.act, Insert)
    assert wish.act.path == "user_ana.md"
