"""Language detection."""

from __future__ import annotations

import pytest

from ricordo.lint.prose import detect_language, is_all_in_language


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
