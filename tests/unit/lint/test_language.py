"""Language detection, and relative dates and sentence ends in ten languages."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest

from ricordo.extraction.sentence import split_text
from ricordo.lint.prose import detect_language, is_all_in_language
from tests.unit.lint.conftest import Lint, note

DATA = Path(__file__).parents[2] / "data"
LANGUAGES = ("en", "de", "fr", "es", "pt", "it", "zh", "ja", "ko", "ru")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The tide tables are for the port of Sines.", "en"),
        ("Die Tabellen sind für den Hafen von Sines.", "de"),
        ("Non usare Redis, la cache è in SQLite.", "it"),
        ("Los tests son con la base de datos real.", "es"),
        ("Os testes são com a base real.", "pt"),
        ("Les tables sont pour le port de Sines.", "fr"),
        ("テストは本物のデータベース", "ja"),
        ("항구의 표", "ko"),
        ("不要使用 Redis", "zh"),
        ("Таблицы для порта", "ru"),
        ("Таблиці для порту", "uk"),
        ("Tabulky přílivu přístavu", ""),
        ("", ""),
        ("\u202e\x00\ud800", ""),
    ],
)
def test_language_is_detected_by_small_words_and_scripts(text: str, language: str) -> None:
    assert detect_language(text) == language


def test_uncertain_language_does_not_count() -> None:
    assert is_all_in_language("en", ["The port is Sines.", "yes", "go on"])
    assert not is_all_in_language("en", ["The port is Sines.", "Nutze von jetzt an immer pnpm"])
    assert not is_all_in_language("en", ["The port is Sines.", "Der Hafen ist Sines."])
    assert not is_all_in_language("en", ["yes"]), "the language of the user is unknown"
    assert not is_all_in_language("", ["The port is Sines."])


def read_rows(name: str, language: str) -> Iterator[dict[str, str]]:
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        yield from (row for row in rows if row["language"] == language)


@pytest.mark.parametrize("language", LANGUAGES)
def test_relative_dates_are_found_where_a_reader_finds_them(language: str, lint: Lint) -> None:
    rows = list(read_rows("relative_dates.tsv", language))
    dated = {f"{n}.md": row["date"] != "-" for n, row in enumerate(rows)}
    assert min(sum(dated.values()), len(dated) - sum(dated.values())) >= 15
    files = {f"{n}.md": note(row["sentence"]) for n, row in enumerate(rows)}
    found = {it.path for it in lint(files, "relative-date")}
    right = sum(dated[path] for path in found)
    assert right >= 0.9 * len(found), sorted(rows[int(it[:-3])]["sentence"] for it in found)
    assert right >= 0.9 * sum(dated.values())


@pytest.mark.parametrize("language", LANGUAGES)
def test_sentences_end_where_a_reader_ends_them(language: str) -> None:
    for row in read_rows("sentence_ends.tsv", language):
        expected = [sentence.strip() for sentence in row["sentences"].split("¦")]
        text = row["sentences"].replace(" ¦ ", " ").replace("¦", "")
        assert [sentence.text for sentence in split_text(text)] == expected
