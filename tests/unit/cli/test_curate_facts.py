"""`ricordo curate` on facts that notes state otherwise: it changes their line, and no other one."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import note_text, write_memory
from tests.support.curating import SESSION, user_lines
from tests.unit.cli.conftest import Ricordo

Curate = Callable[..., Sequence[dict[str, Any]]]

NOTES = {
    "reference_services.md": (
        "- The lamp server listens on port 7100.\n- Postgres runs on port 5432.\n"
    ),
    "project_mast.md": "The mast camera is at 10.4.0.17, behind the radio.\n",
    "project_opening.md": "The opening is planned for 2026-12-12.\n",
    "project_people.md": "- Ingrid owns the tide tables.\n- Tomás owns the archive.\n",
    "project_runtime.md": "The planner runs on Node 18.\n",
    "project_frist.md": "Die Leihfrist für Karten beträgt 21 Tage.\n",
    "project_cuve.md": "La cuve du phare est réglée à 19 °C.\n",
    "project_riego.md": "El riego del faro empieza a las 6:30.\n",
    "feedback_procedure.md": "1. Build\n2. Test with server restart\n3. Tag\n",
    "log.md": "## 2026-10-02\n\nThe lamp server listens on port 7050.\n",
}


@pytest.fixture
def curate(ricordo: Ricordo, memory: Path, tmp_path: Path) -> Curate:
    """Return what curates messages to an agent and gives back the proposals."""
    dated = "  modified: 2026-10-01T08:00:00.000Z\n  type"
    types = {"f": "feedback", "r": "reference"}
    files = {
        path: note_text(path[:-3], body, "what is so", types.get(path[0], "project")).replace(
            "  type", dated, 1
        )
        for path, body in NOTES.items()
    }
    index = "".join(f"- [{path[:-3]}]({path}) — what is so\n" for path in NOTES)
    old = (memory / "MEMORY.md").read_text("utf-8")
    write_memory(memory, {**files, "MEMORY.md": old + index})

    def call(*messages: str) -> Sequence[dict[str, Any]]:
        path = tmp_path / f"{SESSION}.jsonl"
        path.write_text(user_lines("Fix the test.", *messages), "utf-8")
        document = json.loads(ricordo("curate", "--session", str(path), "--dry-run", "--json"))
        return [it for it in document["changes"] if any("#" in e["source"] for e in it["evidence"])]

    return call


@pytest.mark.parametrize(
    ("message", "path", "line"),
    [
        (
            "The lamp server moved to port 7105 last week.",
            "reference_services.md",
            "- The lamp server listens on port 7105.",
        ),
        (
            "No, that's wrong. The lamp server listens on port 7105.",
            "reference_services.md",
            "- The lamp server listens on port 7105.",
        ),
        (
            "The mast camera is at 10.4.0.20 now.",
            "project_mast.md",
            "The mast camera is at 10.4.0.20, behind the radio.",
        ),
        (
            "The opening slipped to 2027-02-03.",
            "project_opening.md",
            "The opening is planned for 2027-02-03.",
        ),
        (
            "Paola owns the tide tables now.",
            "project_people.md",
            "- Paola owns the tide tables now.",
        ),
        (
            "We're dropping support for Node 18; Node 22 is the minimum.",
            "project_runtime.md",
            "The planner runs on Node 22.",
        ),
        (
            "Die Leihfrist für Karten ist jetzt auf 28 Tage verlängert.",
            "project_frist.md",
            "Die Leihfrist für Karten beträgt 28 Tage.",
        ),
        (
            "La cuve du phare n'est plus réglée à 19 °C mais à 17 °C.",
            "project_cuve.md",
            "La cuve du phare est réglée à 17 °C.",
        ),
        (
            "El riego del faro ahora empieza a las 7:15.",
            "project_riego.md",
            "El riego del faro empieza a las 7:15.",
        ),
    ],
)
def test_a_fact_that_a_note_states_otherwise_changes_its_line(
    curate: Curate, message: str, path: str, line: str
) -> None:
    (change,) = curate(message)
    assert (change["op"], change["path"]) == ("replace", path)
    added = [it for it in change["diff"].split("\n") if it.startswith("+") and it[:3] != "+++"]
    assert added == [f"+{line}"]
    # what the note loses is said, so that accepting all does not take it
    assert change["warnings"]


@pytest.mark.parametrize(
    "message",
    [
        "Does the lamp server listen on port 7105 now?",
        "If the lamp server listened on port 7105 now, we could reach it.",
        "I think the lamp server listens on port 7105 now.",
        "Restart the lamp server on port 7105 now.",
        "ERROR the lamp server listens on port 7105 now",
        "The buoy server listens on port 7105 now.",
        "The lamp server's console listens on port 7105 now.",
        "It is still port 7100 for the lamp server, not 7105.",
        "Die Leihfrist für Bücher ist jetzt auf 28 Tage verlängert.",
        "La cuve du port est maintenant réglée à 17 °C.",
        "Tomás has a day off, the archive has 12 maps now.",
    ],
)
def test_no_line_is_changed_by_what_is_no_fact_or_about_something_else(
    curate: Curate, message: str
) -> None:
    assert [it for it in curate(message) if it["op"] == "replace"] == []


@pytest.mark.parametrize(
    "message",
    [
        "Never restart the server between 18:00 and 20:00 UTC.",
        "Remember that staging runs on port 8443.",
        "From now on test every chart with a restart of the browser.",
    ],
)
def test_a_rule_that_shares_words_with_a_line_becomes_a_note(curate: Curate, message: str) -> None:
    (change,) = curate(message)
    assert change["op"] in ("create", "insert")


def test_a_reproach_without_its_rule_is_no_note(curate: Curate) -> None:
    assert curate("no! I told you, it's the VAD. trust me.") == []
    (change,) = curate("I told you, the reports go to the harbour master first.")
    assert change["op"] == "create"


@pytest.mark.parametrize(
    ("message", "path"),
    [
        (
            "For icons we go with SVG only from now on; PNG made the bundle larger.",
            "feedback_icons_go_svg.md",
        ),
        (
            "Und ab jetzt bitte immer erst die Tests laufen lassen.",
            "feedback_erst_tests_laufen_lassen.md",
        ),
    ],
)
def test_a_new_note_is_named_after_its_first_clause_like_the_others(
    curate: Curate, message: str, path: str
) -> None:
    (change,) = curate(message)
    assert change["path"] == path
    assert ("Said on" in change["diff"]) == message.startswith("For")
