"""How users and agents say that something was chosen, abandoned or rejected, in many languages."""

from __future__ import annotations

import tomllib

import pytest

from ricordo.handoff.gather.decisions import find_reason, has_phrase, split_prose
from ricordo.resources import read_data_text

LANGUAGES = {"en", "de", "fr", "es", "it", "pt", "zh", "ja", "ko"}


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ("chosen", "I decided to keep the exact minute."),
        ("chosen", "I'll use `<=` instead of rounding, so that times stay exact."),
        ("chosen", "The simplest fix is to add it to the list."),
        ("chosen", "For our use case, the existing function is fine."),
        ("chosen", "I used a dictionary rather than a table."),
        ("chosen", "Ich habe mich für SQLite entschieden."),
        ("chosen", "J'ai choisi SQLite."),
        ("chosen", "He decidido usar SQLite."),
        ("chosen", "Ho scelto SQLite."),
        ("chosen", "Decidi usar SQLite."),
        ("chosen", "我决定使用 SQLite。"),
        ("chosen", "SQLite を使うことにします。"),
        ("chosen", "SQLite를 쓰기로 결정했습니다."),
        ("left", "Let me revert my change and look where that logic lives."),
        ("left", "I tried rounding the ETA but two tests fail."),
        ("left", "That approach broke the importer."),
        ("left", "Ich nehme die Änderung zurück."),
        ("left", "Essayons une autre approche."),
        ("left", "Pruebo otro enfoque."),
        ("left", "Provo un altro approccio."),
        ("left", "Vou tentar outra abordagem."),
        ("left", "换一种方法。"),
        ("left", "別の方法を試します。"),
        ("left", "다른 방법을 시도하겠습니다."),
        ("failing", "Rounding does not work here."),
        ("failing", "Das funktioniert nicht."),
        ("unwanted", "No, the program should do that itself."),
        ("unwanted", "Please revert that."),
        ("unwanted", "Undo the last commit."),
        ("unwanted", "I don't want to have two ways for this."),
        ("unwanted", "Sure, but not in this repository."),
        ("unwanted", "That's not what I asked for."),
        ("unwanted", "Stop."),
        ("unwanted", "Don't do that."),
        ("unwanted", "Nein, mach das rückgängig."),
        ("unwanted", "Non, annule ça."),
        ("unwanted", "No, deshaz eso."),
        ("unwanted", "No, annulla."),
        ("unwanted", "Não, desfaz."),
        ("unwanted", "不对，撤销。"),
        ("unwanted", "いいえ、元に戻して。"),
        ("unwanted", "아니, 되돌려."),
    ],
)
def test_phrases_are_recognized(part: str, text: str) -> None:
    assert has_phrase(part, text)


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ("chosen", "Now let me run the tests."),
        ("chosen", "All nine tests pass."),
        ("chosen", "Let me check where it is used."),
        ("left", "I will look at the report next."),
        ("left", "The approach is described in the README."),
        ("unwanted", "No problem, go on."),
        ("unwanted", "I don't want to wait for the build, go on."),
        ("unwanted", "I don't need anything else."),
        ("unwanted", "I'd rather not wait."),
        ("unwanted", "Undo works now, thanks."),
        ("unwanted", "Take care of the tests too."),
        ("unwanted", "No need for tests."),
        ("unwanted", "Don't forget the tests."),
        ("unwanted", "Do not touch the schema."),
        ("unwanted", "Yes, and commit it."),
        ("unwanted", "Stop the server when you are done."),
        ("unwanted", "Now the notes."),
    ],
)
def test_what_does_not(part: str, text: str) -> None:
    assert not has_phrase(part, text)


def test_every_list_knows_every_language() -> None:
    table = tomllib.loads(read_data_text("handoff/gather/phrases.toml"))
    assert {name: set(part) for name, part in table.items()} == dict.fromkeys(table, LANGUAGES)
    assert not any(has_phrase(part, "") for part in table)


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (
            "I chose SQLite. It locks by itself because of its log.",
            "It locks by itself because of its log.",
        ),
        (
            "A table is slow because it is large. So I chose a dictionary.",
            "A table is slow because it is large.",
        ),
        ("I chose SQLite because it locks. It is small since 1999.", ""),
        ("I chose SQLite.\n\nIt is late because of the rain.", ""),
        ("I chose SQLite. It is small.", ""),
    ],
)
def test_a_reason_is_found_beside_its_sentence(message: str, reason: str) -> None:
    said = split_prose(message)
    (number,) = (n for n, message in enumerate(said) if has_phrase("chosen", message.text))
    assert find_reason(said, number) == reason


def test_labels_and_code_are_not_prose() -> None:
    message = "**The Fix:**\nWe should always read the tree.\n\n```\nI chose x\n```\n# I chose y"
    assert [sentence.text for sentence in split_prose(message)] == [
        "We should always read the tree."
    ]
