"""`ricordo usage`: what notes were used for, and what was looked for in vain."""

from __future__ import annotations

import json

from tests.unit.cli.conftest import Ricordo


def test_what_was_recalled_and_what_was_missed_is_told(ricordo: Ricordo) -> None:
    assert ricordo("usage") == "no note was used yet\nnothing was missed\n"
    ricordo("recall", "where are the ports of Sines")
    credential = "ghp_" + "x8Kq2LmZ9vRt4WnB7cYd1HsJ5fGp3QaE6uTi"
    ricordo("recall", f"kubernetes ingress {credential}", code=1)
    told = ricordo("usage")
    assert "1 × given to agents   ports.md" in told
    assert "kubernetes ingress" in told
    assert credential[4:].lower() not in told.lower()
    document = json.loads(ricordo("usage", "--json"))
    assert [use["path"] for use in document["uses"] if use["kind"] == "given"][:1] == ["ports.md"]
    (gap,) = document["gaps"]
    assert gap.keys() == {"words", "last"}


def test_a_gap_can_be_dropped(ricordo: Ricordo) -> None:
    ricordo("search", "zeppelins moored", code=1)
    assert "is no gap" in ricordo("usage", "--drop", "zeppelins", code=2)
    assert ricordo("usage", "--drop", "zeppelins moored") == "forgot the gap “zeppelins moored”\n"
    assert "nothing was missed" in ricordo("usage")
