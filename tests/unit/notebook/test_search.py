"""Search: names first, then texts, under conditions; and what is remembered of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ricordo.agents.claude import AUTO_MEMORY
from ricordo.agents.place import Place
from ricordo.memory.memory import Memory
from ricordo.memory.names import folded
from ricordo.notebook.associate import associations
from ricordo.notebook.recall import open_index, recall
from ricordo.notebook.search import Search, Values
from ricordo.notebook.surroundings import Surroundings
from ricordo.notebook.usage import (
    drop_gap,
    gaps,
    remember_gap,
    remember_opened,
    remember_recalled,
    use_report,
    uses_by_person,
)
from tests.builders import note_text, open_memory

NOTES = {
    "MEMORY.md": "- [Cache](cache.md) — where\n",
    "cache.md": note_text("cache", "It is SQLite. See [[tide-tables]].\n", "Where tides are kept"),
    "tide-cache.md": note_text("tide cache", "The older one.\n", "Gone"),
    "tide-tables.md": note_text("tide-tables", "Port of Sines.\n", "Which port", "reference"),
    "getUserName.md": note_text("getUserName", "A function of the cache.\n", "How users log in"),
    "decache.md": note_text("decached", "Nothing.\n", "About nothing"),
    "log/day.md": "---\nname: diary\ndescription: of the day\ndate: 2026-05-07\n---\nRain, rain.\n",
}


class Desk:
    """A memory with its search."""

    def __init__(self, root: Path, state: Path, notes: dict[str, str] = NOTES) -> None:
        self.memory: Memory = open_memory(root, notes)
        self.surroundings = Surroundings(
            str(root), {}, str(root), str(state), str(state), "2026-11-20T08:00:00+00:00"
        )
        place = Place(self.memory.root, AUTO_MEMORY)
        self.index = open_index(place, self.surroundings)
        self.search = Search(self.index, self.memory, self.surroundings)

    def paths(self, typed: str, values: Values | None = None) -> list[str]:
        return [hit.result.note.path for hit in self.search.find(typed, values).hits]


@pytest.fixture
def desk(root: Path, tmp_path: Path) -> Desk:
    return Desk(root, tmp_path / "state")


def test_the_order_is_what_a_person_expects(desk: Desk):
    assert desk.paths("cache") == ["cache.md", "tide-cache.md", "decache.md", "getUserName.md"]


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("tide-t", "tide-tables.md"),
        ("tables", "tide-tables.md"),
        ("user name", "getUserName.md"),
        ("gun", "getUserName.md"),
        ("log", "log/day.md"),
        ("which port", "tide-tables.md"),
        ("tide tabels", "tide-tables.md"),
        ("sqlit", "cache.md"),
        ("Raining", "log/day.md"),
        ("dary", "log/day.md"),
        ("dide-cache", "tide-cache.md"),
        ("sqltie", "cache.md"),
        ("it is", "cache.md"),
        ("zines", "tide-tables.md"),
        ("the port of Si", "tide-tables.md"),
        ("sq", "cache.md"),
    ],
)
def test_a_note_is_found_however_it_is_named(desk: Desk, typed: str, first: str):
    assert desk.paths(typed)[:1] == [first]


def test_a_number_is_no_misspelling_of_another(root: Path, tmp_path: Path):
    ports = {f"{n}.md": note_text(f"server {n}", f"Port {n}.\n", "") for n in (80801, 80802)}
    desk = Desk(root, tmp_path / "state", ports)
    assert desk.paths("80803") == []


def test_one_character_finds_words_without_blanks_that_begin_with_it(root: Path, tmp_path: Path):
    notes = {"a.md": note_text("a", "潮汐表在这里。\n", ""), "b.md": note_text("b", "没有。\n", "")}
    desk = Desk(root, tmp_path / "state", notes)
    assert desk.paths("潮") == ["a.md"]
    assert desk.paths("汐") == ["a.md"]


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("type:reference", ["tide-tables.md"]),
        (">tide-tables", ["cache.md"]),
        ("<cache", ["tide-tables.md"]),
        ('"port of sines"', ["tide-tables.md"]),
        ("before:2026-06", ["log/day.md"]),
        ("after:2026-05 before:2026-05-08", ["log/day.md"]),
        ("cache -function -older -nothing", ["cache.md"]),
        ("cache type:reference", []),
        ("is:stale", ["cache.md"]),
        ("has:conflict", ["decache.md"]),
        ("in:log", ["log/day.md"]),
        ("", []),
        ("nosuchthing", []),
    ],
)
def test_conditions_hold(desk: Desk, typed: str, expected: list[str]):
    values = Values({"cache.md": ["stale"], "decache.md": ["contradiction"]})
    assert desk.paths(typed, values) == expected


def test_letters_that_come_again_and_again_take_no_time(root: Path, tmp_path: Path):
    again = {f"{n}.md": note_text("a" * 200, "Rain.\n", "Rain") for n in range(20)}
    desk = Desk(root, tmp_path / "state", again)
    assert desk.paths("a" * 25 + "b") == []


def test_marks_are_where_the_words_are(desk: Desk):
    hit = desk.search.find("cache").hits[1]
    start, end = hit.name_marks[0]
    assert hit.result.note.name[start:end] == "cache"
    said = desk.search.find("sqlite").hits[0].result
    start, end = said.marks[0]
    assert said.snippet[start:end] == "SQLite"


def test_all_are_counted_and_few_are_given(desk: Desk):
    found = desk.search.find("cache", most=2)
    assert (len(found.hits), found.total) == (2, 4)


@settings(max_examples=60)
@given(typed=st.one_of(st.text(max_size=200), st.text('"-<>:*^(){}%_\\ \0a', max_size=40)))
def test_no_query_fails(tmp_path_factory: pytest.TempPathFactory, typed: str):
    desk = _shared(tmp_path_factory)
    desk.search.find(typed)
    recall(desk.index, desk.memory, typed, desk.surroundings)


_DESKS: list[Desk] = []


def _shared(factory: pytest.TempPathFactory) -> Desk:
    """One memory for all examples: none of them changes it."""
    if not _DESKS:
        _DESKS.append(Desk(factory.mktemp("memory"), factory.mktemp("kept")))
    return _DESKS[0]


@pytest.mark.parametrize(
    "typed",
    [
        "x" * 10_000,
        "(" * 500,
        '"' * 3,
        "a OR b AND NOT c NEAR(d)",
        "'; DROP TABLE note; --",
        "[a-z]+(.*)*$",
        "👩‍👩‍👧‍👦",
        "\ud800",
        "type:",
        ">",
        "after:yesterday",
    ],
)
def test_no_syntax_is_anybodys_but_ours(desk: Desk, typed: str):
    desk.search.find(typed)
    recall(desk.index, desk.memory, typed, desk.surroundings)


def test_use_by_the_person_breaks_ties_and_nothing_else(root: Path, tmp_path: Path):
    twins = {f"{n}.md": note_text(f"twin {n}", "The same rope.\n", "Same") for n in "ab"}
    better = {"c.md": note_text("barge", "The rope, the rope, the rope.\n", "A rope")}
    desk = Desk(root, tmp_path / "state", {**twins, **better})
    before = desk.paths("rope")
    for _ in range(50):
        remember_opened(desk.surroundings, desk.memory, "b.md")
        desk.search.find("rope")
    uses = Values(uses=uses_by_person(desk.surroundings, desk.memory))
    after = desk.paths("rope", uses)
    assert before.index("a.md") < before.index("b.md")
    assert after.index("b.md") < after.index("a.md")
    assert before[0] == after[0] == "c.md"


def test_what_agents_were_given_makes_nothing_easier_found(desk: Desk):
    desk.paths("cache")
    before = desk.paths("rain")
    for _ in range(50):
        remember_recalled(desk.surroundings, desk.memory, ["decache.md"])
    assert dict(uses_by_person(desk.surroundings, desk.memory)) == {}
    assert desk.paths("rain") == before
    assert [(use.path, use.times) for use in use_report(desk.surroundings, desk.memory)] == [
        ("decache.md", 50)
    ]


def test_a_gap_is_kept_as_words_without_secrets_until_it_is_dropped(desk: Desk):
    desk.paths("cache")
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    remember_gap(desk.surroundings, desk.memory, f"Where does the token {token} go?")
    (gap,) = gaps(desk.surroundings, desk.memory)
    assert gap.words == "token go"
    drop_gap(desk.surroundings, desk.memory, gap)
    assert gaps(desk.surroundings, desk.memory) == []


def test_an_association_tells_the_way(desk: Desk):
    reminding = associations(desk.memory)
    (first, *_) = reminding.of("cache.md")
    assert first.path == "tide-tables.md"
    assert [(step.how, step.path) for step in first.steps] == [("links to", "tide-tables.md")]
    assert [it.path for it in reminding.of("tide-tables.md")] == ["cache.md"]
    assert reminding.of("decache.md") == []
    assert reminding.of("no such note") == []


def test_activation_fades_with_every_hop(root: Path):
    chain = {f"n{n}.md": note_text(f"n{n}", f"See [[n{n + 1}]].\n") for n in range(6)}
    found = associations(open_memory(root, chain)).of("n0.md")
    strengths = [it.strength for it in found]
    assert [it.path for it in found] == ["n1.md", "n2.md", "n3.md"]
    assert strengths == sorted(strengths, reverse=True)
    assert [len(it.steps) for it in found] == [1, 2, 3]


def test_conditions_are_judged_before_the_best_are_taken(root: Path, tmp_path: Path):
    many = {f"n{n}.md": note_text(f"n{n}", "The gizmo, the gizmo.\n", "It") for n in range(150)}
    one = {"z.md": note_text("zebra", "Rain. A gizmo in a long text.\n" * 2, "It", "feedback")}
    desk = Desk(root, tmp_path / "state", {**many, **one})
    assert desk.paths("gizmo type:feedback") == ["z.md"]
    assert desk.search.find("gizmo type:feedback").total == 1
    assert desk.search.find("gizmo -type:feedback").total == 150
    assert desk.search.find("gizmo").total == 151
    assert desk.search.find("n gizmo").total == 151
    assert desk.search.find("gizmo zebra").total == 151


def test_many_names_do_not_hide_the_one_under_a_condition(root: Path, tmp_path: Path):
    many = {f"n{n}.md": note_text(f"gizmo {n}", "Rain.\n", "It") for n in range(520)}
    one = {"z.md": note_text("the last gizmo", "Rain.\n", "It", "feedback")}
    desk = Desk(root, tmp_path / "state", {**many, **one})
    assert desk.paths("gizmo type:feedback") == ["z.md"]
    assert desk.search.find("gizmo").total == 521


@pytest.mark.parametrize(
    ("typed", "remark"),
    [
        ("after:yesterday", "after: wants 2026-05 or 2026-05-01"),
        ("rain before:tomorrow", "before: wants 2026-05 or 2026-05-01"),
        ("-after:2026-13", "after: wants 2026-05 or 2026-05-01"),
        ("before:2026-02-30", "before: wants 2026-05 or 2026-05-01"),
        ("cache is:bogus", "is: wants the name of a rule"),
        ("-has:bogus", "has: wants the name of a rule"),
    ],
)
def test_a_condition_that_nobody_understands_is_told(desk: Desk, typed: str, remark: str):
    found = desk.search.find(typed)
    assert (found.hits, found.total) == ((), 0)
    assert [it.startswith(remark) for it in found.remarks] == [True]


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("after:2026-5 before:2026-5-8", ["log/day.md"]),
        ("in:log after:2026", ["log/day.md"]),
        ("in:log after:2026-6", []),
        ('in:log type:"two words"', []),
        ('type:"reference"', ["tide-tables.md"]),
        ('>"tide-tables"', ["cache.md"]),
        ("is:protected", []),
        ("has:dead-link", []),
        ("--sines", ["tide-tables.md"]),
    ],
)
def test_what_can_be_understood_is_not_remarked_on(desk: Desk, typed: str, expected: list[str]):
    assert desk.paths(typed) == expected
    assert desk.search.find(typed).remarks == ()


def test_what_a_condition_names_is_looked_up_once(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    many = {f"n{n}.md": note_text(f"n{n}", "See [[port-of-sines]].\n") for n in range(40)}
    many["port-of-sines.md"] = note_text("port-of-sines", "Here.\n")
    desk = Desk(root, tmp_path / "state", many)
    asked: list[str] = []
    real = folded
    monkeypatch.setattr(
        "ricordo.notebook.search.folded", lambda name: asked.append(name) or real(name)
    )
    assert len(desk.search.find(">port-of").hits) == 40
    assert len(asked) <= 3 * len(many)


def test_letters_scattered_in_names_do_not_hide_what_says_it(root: Path, tmp_path: Path):
    many = {
        f"n{n}.md": note_text(f"feedback testing and deploy {n}", "Rain.\n", "It")
        for n in range(120)
    }
    one = {"z.md": note_text("port", "The tide is out.\n", "It")}
    desk = Desk(root, tmp_path / "state", {**many, **one})
    found = desk.search.find("tide")
    assert [hit.result.note.path for hit in found.hits][:1] == ["z.md"]
    assert (len(found.hits), found.total) == (50, 121)
    assert [hit.is_unsure for hit in found.hits] == [False] + [True] * 49


def test_a_word_that_is_right_is_not_taken_for_a_name_that_is_spelled_like_it(
    root: Path, tmp_path: Path
):
    names = {f"{it}.md": note_text(it, "Rain.\n", "It") for it in ("tile", "the idle edge")}
    said = {"z.md": note_text("port", "The tide is out.\n", "It")}
    desk = Desk(root, tmp_path / "state", {**names, **said})
    assert desk.paths("tide")[0] == "z.md"
    assert desk.paths("tidle")[0] == "tile.md"


def test_scattered_letters_do_not_keep_a_typing_error_from_being_seen(root: Path, tmp_path: Path):
    names = {f"n{n}.md": note_text(f"sapro {n} tags", "Rain.\n", "It") for n in range(9)}
    desk = Desk(root, tmp_path / "state", {**names, "port.md": note_text("port", "Here.\n", "It")})
    assert desk.paths("prot")[0] == "port.md"


def test_a_search_that_goes_on_from_one_before_answers_as_a_fresh_one(desk: Desk, root: Path):
    (root / "decache.md").unlink()
    day = "---\nname: tide cable\ndescription: of the day\ndate: 2027-01-01\n---\nThe cache, too.\n"
    memory = open_memory(root, {"tide-cable.md": day, "cache.md": note_text("cache", "Dry.\n")})
    again = Search(desk.index, memory, desk.surroundings, desk.search)
    fresh = Search(desk.index, memory, desk.surroundings)
    for typed in ("cache", "tide", "rain", "cabel", "after:2026-05"):
        assert again.find(typed) == fresh.find(typed)
    assert again.find("tide ca").hits[0].result.note.path == "tide-cable.md"
