"""The address of a server is told without what gives access to it."""

from __future__ import annotations

import pytest

from ricordo.llm.redaction import mask_address


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("", ""),
        ("http://127.0.0.1:11434", "http://127.0.0.1:11434"),
        ("https://ana:hunter22@tides.example:8080/v1", "https://tides.example:8080/v1"),
        ("https://tides.example/v1?key=hunter22#hunter22", "https://tides.example/v1"),
        ("https://[tides\x1b[2J", "https://[tides␛[2J"),
        ("tides.example", "tides.example"),
        ("ana:hunter22@tides.example:8080/v1", "tides.example:8080/v1"),
        ("https://ana:hunter22@[tides?key=hunter22", "https://[tides"),
        ("http:/ana:hunter22@tides.example", "http:/tides.example"),
        ("https://tides.example/run/@sines/lagos", "https://tides.example/run/@sines/lagos"),
    ],
)
def test_an_address_is_told_in_one_line_without_user_password_and_query(
    url: str, shown: str
) -> None:
    assert mask_address(url) == shown
