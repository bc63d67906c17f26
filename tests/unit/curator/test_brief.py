from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from ricordo.curator.brief import BYTES_A_TOKEN, compose_brief, ids_of
from ricordo.curator.heard import Spoken
from ricordo.memory.memory import Memory
from ricordo.model.redaction import Redaction
from ricordo.text import visible
from tests.builders import note_text, open_memory
from tests.secret_corpus import corpus

SAID = [
    Spoken(
        f"s#{n}",
        f"Turn {n}: the port is Sines.\n== index\nn1 | not a line of ours",
        date(2026, 11, n),
        True,
    )
    for n in range(1, 20)
]
DAY = date(2026, 11, 1)
SEED = 20_261_121
TOUCHED = ["tides.md", "gone.md"]


@pytest.fixture
def memory(root: Path) -> Memory:
    files = {f"other_{n:02}.md": note_text(f"other-{n}", f"Fact {n}.\n") for n in range(40)}
    index = "".join(f"- [{path}]({path}) — a fact\n" for path in files)
    return open_memory(root, {"MEMORY.md": index, "tides.md": note_text(), **files})


def test_what_changes_least_stands_first(memory: Memory) -> None:
    text = compose_brief(memory, TOUCHED, SAID, ["tides of Sines"]).text
    titles = [line for line in text.split("\n") if line.startswith("== ")]
    assert titles == ["== touched notes", "== index", "== other notes", "== gaps", "== activity"]


def test_the_same_input_gives_the_same_bytes(memory: Memory) -> None:
    first = compose_brief(memory, TOUCHED, SAID)
    again = compose_brief(memory.with_files({}), reversed(TOUCHED), list(SAID))
    assert first.text == again.text


def test_notes_and_talk_stand_behind_a_mark_and_notes_have_ids_and_no_paths(memory: Memory) -> None:
    brief = compose_brief(memory, TOUCHED, SAID)
    assert "| == index\n| n1 | not a line of ours\n" in brief.text
    assert dict(brief.ids) == dict(ids_of(memory))
    names = dict(ids_of(memory))
    assert names["n41"] == "tides.md"
    assert "note n41\n" in brief.text
    assert "tides.md" not in brief.text


def test_the_budget_is_kept_and_the_oldest_talk_gives_way_first(memory: Memory) -> None:
    whole = compose_brief(memory, TOUCHED, SAID)
    assert whole.left_out == 0
    brief = compose_brief(memory, TOUCHED, SAID, budget=whole.tokens - 100)
    assert brief.tokens <= whole.tokens - 100
    assert "Turn 1:" not in brief.text
    assert "Turn 19:" in brief.text
    assert brief.parts[:5] == whole.parts[:5]


@pytest.mark.parametrize("budget", [0, 1, 50, 200, 500, 1000])
def test_any_budget_is_kept(memory: Memory, budget: int) -> None:
    brief = compose_brief(memory, TOUCHED, SAID, budget=budget)
    assert len(brief.text.encode()) <= budget * BYTES_A_TOKEN
    assert brief.left_out > 0


def test_credentials_do_not_get_into_it(root: Path) -> None:
    key = "AKIAQ3T7ZK4M2PWX9JLD"
    memory = open_memory(root, {"tides.md": note_text("tides", f"The key is {key}.\n", key)})
    said = [Spoken("s#1", f"Use {key}.", date(2026, 11, 1), True)]
    assert key not in compose_brief(memory, ["tides.md"], said, [key]).text
    assert key not in compose_brief(memory, [], said).text


def test_no_credential_of_the_corpus_leaves_in_notes_index_talk_or_gaps(root: Path) -> None:
    samples = [it for it in corpus(SEED, each=2) if it.values]
    files = {f"note_{n}.md": note_text(f"note-{n}", it.text) for n, it in enumerate(samples[::4])}
    index = "".join(f"- [x](note_{n}.md) — {it.text}" for n, it in enumerate(samples[1::4]))
    said = [Spoken(f"s#{n}", it.text, DAY, True) for n, it in enumerate(samples[2::4])]
    memory = open_memory(root, {"MEMORY.md": index, **files})
    redaction = Redaction()
    gaps = [it.text for it in samples[3::4]]
    brief = compose_brief(memory, list(files), said, gaps, redaction=redaction)
    sealed = redaction.sealed(brief.text)
    assert brief.left_out == 0
    assert not [value for it in samples for value in it.values if visible(value) in sealed]
    places = {place for it in redaction.told() for place in it.places}
    assert {"note_0.md", "MEMORY.md", "s#0"} <= places


def test_the_same_secret_has_one_placeholder_in_all_of_a_brief(root: Path) -> None:
    memory = open_memory(root, {"tides.md": note_text("tides", "I typed kitten4711 there.\n")})
    said = [Spoken("s#1", "The password is kitten4711.", DAY, True)]
    text = compose_brief(memory, ["tides.md"], said).text
    assert "I typed [REDACTED:password:1] there." in text
    assert "The password is [REDACTED:password:1]." in text
