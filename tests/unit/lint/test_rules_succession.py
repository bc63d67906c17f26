"""Notes of which another one says that it takes their place."""

from __future__ import annotations

import pytest

from ricordo.agents.wiki import WIKI
from ricordo.lint.finding import Finding
from tests.unit.lint.conftest import Lint, note

RULE = "superseded-note"


def find(
    lint: Lint, said: str, old: str = "Call them.", path: str = "by_phone.md"
) -> list[Finding]:
    files = {path: note(old, "by phone"), "by_radio.md": note(said, "by radio")}
    return list(lint(files, RULE))


@pytest.mark.parametrize(
    "said",
    [
        "This supersedes [[by_phone]].",
        "SUPERSEDES the old note `by_phone.md`.",
        "replaces [how they were called](by_phone.md)",
        "supersedes: by_phone.md",
        "[[by_phone]] is now superseded.",
        "Diese Notiz ersetzt [[by_phone]].",
        "Cette note remplace [[by_phone]].",
        "Esta nota sustituye a [[by_phone]].",
        "Esta nota substitui [[by_phone]].",
        "Questa nota sostituisce [[by_phone]].",
        "Эта заметка заменяет [[by_phone]].",
        "本条取代 [[by_phone]]。",
        "기존 `by_phone.md`(전화) 정책 대체.",
        "[[by_phone]]を置き換えます。",
    ],
)
def test_a_note_that_another_one_supersedes_has_to_say_so(lint: Lint, said: str) -> None:
    (found,) = find(lint, said)
    assert (found.path, found.other_path) == ("by_phone.md", "by_radio.md")
    assert found.message == "Superseded by “by radio”, but does not say so."
    assert found.evidence[0].startswith("by_radio.md:")
    assert found.fix is not None
    assert not found.fix.safe


@pytest.mark.parametrize(
    "said",
    [
        "This does not supersede [[by_phone]], it adds to it.",
        "This never replaces [[by_phone]].",
        "It supersedes parts of [[by_phone]].",
        "Supersedes: partially [[by_phone]]",
        "A radio replaces the phone, as in [[by_phone]].",
        "The harbour office replaces its radios every year. See [[by_phone]].",
        "本条被 [[by_phone]] 取代。",
        "取代 [[by_phone]] 中的旧惯例。",
        "本条**取代** [[by_phone]] 第六条的要求。",
        "本条替代 [[by_phone]] 第 6 条中的要求。",
        "部分替代 [[by_phone]]: 时间不变。",
        "This partly supersedes [[by_phone]].",
        "Supersedes [[by_phone]] §3.",
        "Supersedes [[by_phone]], section 3.",
        "Ersetzt [[by_phone]] Abschnitt 3.",
        "Esta nota sustituye parcialmente a [[by_phone]].",
        "This supersedes [[by_phone]]'s first step.",
        "This supersedes the [[by_phone]] “two hours before” rule.",
        "`by_phone.md`로 대체.",
        "Ersetzt nicht [[by_phone]].",
        "Radio replaces most calls in [[by_phone]].",
        "Funk ersetzt die Anrufe aus [[by_phone]].",
        "If all ships have radio, the way of old ([[by_phone]]) is superseded.",
        "Wenn alle Funk haben, ist [[by_phone]] überholt.",
    ],
)
def test_what_denies_it_or_speaks_of_another_thing_supersedes_nothing(
    lint: Lint, said: str
) -> None:
    assert find(lint, said) == []


@pytest.mark.parametrize(
    ("said", "count"),
    [
        ("Supersedes [[by_phone]].", 1),
        ("> **In use.** Supersedes [[by_phone]] (12 May).", 1),
        ("This page replaces [[by_phone]].", 1),
        ("This research note replaces [[by_phone]].", 1),
        ("本页取代 [[by_phone]]。", 1),
        ("文書は [[by_phone]] を置き換えます。", 1),
        ("Also fully supersedes [[by_phone]].", 1),
        ("This page now fully replaces [[by_phone]].", 1),
        ("---\nsupersedes: by_phone.md\n---", 1),
        # of things, not of the pages about them
        ("Radio replaces [[by_phone]] on small ships.", 0),
        ("By radio (VHF) replaces [[by_phone]].", 0),
        ("- [[ebb]] — replaces [[by_phone]]", 0),
        ("Harbour master from 2026. Replaces [[by_phone]], who had the office before.", 0),
        ("Ersetzt [[by_phone]].", 0),
        ("Radio is cheap, and it also replaces [[by_phone]].", 0),
        ("Radio came in 1990. It replaces [[by_phone]].", 0),
        ("Since radio came, [[by_phone]] is obsolete.", 0),
        ("無線が [[by_phone]] を置き換えた。", 0),
        ("The lamp replaces flags with [[by_phone]].", 0),
        ("无线电常用，而非默认替代 [[by_phone]]。", 0),
        ("误判：无线电可替代 [[by_phone]]。", 0),
    ],
)
def test_in_a_wiki_only_what_is_said_of_the_page_itself_supersedes(
    lint: Lint, said: str, count: int
) -> None:
    files = {"by_phone.md": "# By phone\n\nCall them.\n", "by_radio.md": said}
    if not said.startswith("---"):
        files["by_radio.md"] = f"# By radio\n\n{said}\n"
    assert len(lint(files, RULE, layout=WIKI)) == count


@pytest.mark.parametrize(
    ("old", "path"),
    [
        ("> Superseded by [[by_radio]].\n\nCall them.", "by_phone.md"),
        ("> ⚠️ 2026 版，已被新版取代。\n\nCall them.", "by_phone.md"),
        ("Call them; by radio see [[by_radio]].", "by_phone.md"),
        ("Call them; what took its place: [[by radio]].", "by_phone.md"),
        ("They were called.", "session_2026-05-12.md"),
    ],
)
def test_a_note_that_knows_its_successor_or_is_of_a_day_is_left_alone(
    lint: Lint, old: str, path: str
) -> None:
    assert find(lint, f"This supersedes [[{path.removesuffix('.md')}]].", old, path) == []


@pytest.mark.parametrize(
    ("said", "unlisted"),
    [("This supersedes `by_phone.md`.", []), ("Not by phone.", ["by_phone.md"])],
)
def test_what_another_note_supersedes_is_not_reported_as_unlisted_too(
    lint: Lint, said: str, unlisted: list[str]
) -> None:
    files = {
        "MEMORY.md": "- [By radio](by_radio.md) — call them\n",
        "by_phone.md": note("Call them.", "by phone"),
        "by_radio.md": note(said, "by radio"),
    }
    assert [it.path for it in lint(files, "unindexed-note")] == unlisted
