"""Search: names first, then texts, under conditions; and what is remembered of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ricordo.search.usage import UsageStore
from ricordo.services.search.ambient import load_associations
from ricordo.services.search.conditions import ConditionValues
from ricordo.services.search.recall import recall
from ricordo.services.search.search import Search
from ricordo.services.search.usage import (
    count_uses,
    drop_search_miss,
    list_search_misses,
    list_uses,
    remember_opened,
    remember_search_miss,
)
from tests.support.builders import note_text, open_memory
from tests.unit.services.searching import Desk, marked


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


def test_letters_that_come_again_and_again_take_no_time(root: Path, tmp_path: Path):
    again = {f"{n}.md": note_text("a" * 200, "Rain.\n", "Rain") for n in range(20)}
    again["endless.md"] = note_text("am" * 400_000, "Rain.\n", "Rain")
    desk = Desk(root, tmp_path / "state", again)
    assert desk.paths("a" * 25 + "b") == []
    assert desk.paths("amambm") == []
    assert desk.paths("amamam") == ["endless.md"]


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
    recall(desk.index, desk.memory, typed, desk.environment)


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
    recall(desk.index, desk.memory, typed, desk.environment)


def test_use_by_the_user_breaks_ties_and_nothing_else(root: Path, tmp_path: Path):
    twins = {f"{n}.md": note_text(f"twin {n}", "The same rope.\n", "Same") for n in "ab"}
    better = {"c.md": note_text("barge", "The rope, the rope, the rope.\n", "A rope")}
    desk = Desk(root, tmp_path / "state", {**twins, **better})
    before = desk.paths("rope")
    for _ in range(50):
        remember_opened(desk.environment, desk.memory, "b.md")
        desk.search.find("rope")
    uses = ConditionValues(uses=count_uses(desk.environment, desk.memory))
    after = desk.paths("rope", uses)
    assert before.index("a.md") < before.index("b.md")
    assert after.index("b.md") < after.index("a.md")
    assert before[0] == after[0] == "c.md"


def test_what_agents_were_given_makes_nothing_easier_found(desk: Desk):
    desk.paths("cache")
    before = desk.paths("rain")
    for _ in range(50):
        UsageStore(desk.environment.state, desk.memory.root).record_given("", [b"decache.md"])
    assert dict(count_uses(desk.environment, desk.memory)) == {}
    assert desk.paths("rain") == before
    assert [(use.path, use.times) for use in list_uses(desk.environment, desk.memory)] == [
        ("decache.md", 50)
    ]


def test_a_gap_is_kept_as_words_without_secrets_until_it_is_dropped(desk: Desk):
    desk.paths("cache")
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    remember_search_miss(desk.environment, desk.memory, f"Where does the token {token} go?")
    (gap,) = list_search_misses(desk.environment, desk.memory)
    assert gap.words == "token go"
    drop_search_miss(desk.environment, desk.memory, gap)
    assert list_search_misses(desk.environment, desk.memory) == []


def test_an_association_tells_the_way(desk: Desk):
    reminding = load_associations(desk.memory)
    (first, *_) = reminding.find_related("cache.md")
    assert first.path == "tide-tables.md"
    assert [(step.relation, step.path) for step in first.steps] == [("links to", "tide-tables.md")]
    assert [it.path for it in reminding.find_related("tide-tables.md")] == ["cache.md"]
    assert reminding.find_related("decache.md") == []
    assert reminding.find_related("no such note") == []


def test_activation_fades_with_every_hop(root: Path):
    chain = {f"n{n}.md": note_text(f"n{n}", f"See [[n{n + 1}]].\n") for n in range(6)}
    found = load_associations(open_memory(root, chain)).find_related("n0.md")
    strengths = [it.strength for it in found]
    assert [it.path for it in found] == ["n1.md", "n2.md", "n3.md"]
    assert strengths == sorted(strengths, reverse=True)
    assert [len(it.steps) for it in found] == [1, 2, 3]


def test_abbreviations_come_after_what_says_it_and_scattered_letters_are_no_hit(
    root: Path, tmp_path: Path
):
    many = {
        f"n{n}.md": note_text(f"tests in deploys every {n}", "Rain.\n", "It") for n in range(120)
    }
    scattered = {"s.md": note_text("feedback testing and deploy", "Rain.\n", "It")}
    one = {"z.md": note_text("port", "The tide is out.\n", "It")}
    desk = Desk(root, tmp_path / "state", {**many, **scattered, **one})
    found = desk.search.find("tide")
    assert [hit.result.note.path for hit in found.hits][:1] == ["z.md"]
    assert (len(found.hits), found.total) == (50, 121)
    assert [hit.is_unsure for hit in found.hits] == [False] + [True] * 49
    assert "s.md" not in {hit.result.note.path for hit in desk.search.find("tide", most=200).hits}


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
    again = Search(desk.index, memory, desk.environment, desk.search)
    fresh = Search(desk.index, memory, desk.environment)
    for typed in ("cache", "tide", "rain", "cabel", "after:2026-05"):
        assert again.find(typed) == fresh.find(typed)
    assert again.find("tide ca").hits[0].result.note.path == "tide-cable.md"


def test_a_word_that_is_still_typed_is_found_and_marked_where_it_goes_on(
    root: Path, tmp_path: Path
):
    notes = {
        "a.md": note_text("a", "Rain. " * 50 + "The port authority.\n", ""),
        "b.md": note_text("b", "A porter.\n", ""),
        "c.md": note_text("c", "Por favor.\n", ""),
    }
    desk = Desk(root, tmp_path / "state", notes)
    # one that is a word already goes on all the same
    assert desk.paths("por") == ["c.md", "b.md", "a.md"]
    hit = desk.search.find("port").hits[0]
    assert (marked(hit), hit.result.why) == (["port"], ("says port",))
    hit = desk.search.find("por").hits[2]
    assert (marked(hit), hit.result.why) == (["por"], ("says por…",))


def test_a_part_of_a_word_is_found_where_no_word_is_or_begins_so(root: Path, tmp_path: Path):
    notes = {"a.md": note_text("a", "Ein Datenbankverbindungsfehler.\n", "")}
    desk = Desk(root, tmp_path / "state", notes)
    assert marked(desk.first("Verbindung")) == ["verbindung"]
    # nothing holds it: it is a typing error
    assert marked(desk.first("datenbankverbindugsfehler")) == ["Datenbankverbindungsfehler"]


@pytest.mark.parametrize(
    ("typed", "said", "found"),
    [
        ("größe", "… Die Straße, die Größe", "Größe"),
        ("strasse", "… Die Straße, die Größe", "Straße"),
        ("الشهر", "في الشَّهْرِ الماضي", "الشَّهْرِ"),
        ("डेटाबेस", "कैश अब डेटाबेस में है", "डेटाबेस"),
        ("ข้าวผัด", "ฉันชอบกินข้าวผัดกุ้ง", "ข้าวผัด"),
        ("패키지", "다른 패키지를 쓴다", "패키지"),
        ("汐", "潮汐表在这里", "汐"),
        ("lodz", "W Łódź", "Łódź"),
        ("cafe", "The cafe\u0301 opens", "cafe\u0301"),
        ("🚀", "We ship 🚀 on Fridays", "🚀"),
        ("=>", "a => b", "=>"),
    ],
)
def test_whatever_the_script_it_is_found_and_marked(
    root: Path, tmp_path: Path, typed: str, said: str, found: str
):
    desk = Desk(root, tmp_path / "state", {"a.md": note_text("a", said + "\n", "")})
    hits = desk.search.find(typed).hits
    assert "".join(piece for hit in hits for piece in marked(hit)) == found


def test_the_reason_names_a_word_without_blanks_whole(root: Path, tmp_path: Path):
    desk = Desk(root, tmp_path / "state", {"a.md": note_text("a", "다른 패키지를 쓴다\n", "")})
    assert desk.first("패키지를").result.why == ("says 패키지를",)


def test_a_match_in_path_or_description_is_marked_there(desk: Desk):
    by_path = desk.first("log")
    assert (by_path.result.snippet, marked(by_path)) == ("log/day.md", ["log"])
    by_description = desk.first("users log")
    assert by_description.result.snippet == "How users log in"
    assert marked(by_description) == ["users", "log"]
    at_its_begin = desk.first("which po").result
    assert (at_its_begin.snippet, at_its_begin.why) == ("Which port", ("in the description",))


def test_what_the_description_alone_says_is_shown_of_it(root: Path, tmp_path: Path):
    files = {
        "a.md": note_text("a", "Open in summer.\n", "The pontoon moves with the tide"),
        "b.md": note_text("b", "", "Berths"),
        "c.md": note_text("c", "The tide gauge is the pontoon's.\n", "The pontoon"),
    }
    desk = Desk(root, tmp_path / "state", files)
    hits = desk.search.find("pontoon moved by the tide").hits
    shown = {hit.result.note.path: (hit.result.snippet, marked(hit)) for hit in hits}
    assert shown == {
        "a.md": ("The pontoon moves with the tide", ["pontoon", "moves", "tide"]),
        "c.md": ("The tide gauge is the pontoon's.", ["tide", "pontoon"]),
    }
    assert desk.search.find("type:project").hits[1].result.snippet == "Berths"


def test_in_a_name_that_is_spelled_otherwise_is_marked_what_was_meant(desk: Desk):
    hit = desk.first("dide-cache")
    assert [hit.result.note.name[start:end] for start, end in hit.name_marks] == ["tide cache"]
