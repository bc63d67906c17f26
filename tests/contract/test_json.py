"""What every command prints with `--json` is what the shipped schemas and docs/json.md describe."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator

from ricordo.cli.main import COMMANDS, OPEN, create_parser, load_command, run
from tests.contract.conftest import Call
from tests.contract.test_printing import (
    READING,
    SECRET,
    WRITING,
    Case,
    World,
    after,
    after_curation,
    curate,
    hand_off,
    on,
)
from tests.support.documents import SCHEMAS, load_schema, read_document
from tools.json_schemas import DOCUMENTS, FOLDER, PAGE, list_kinds, render_page, render_schema

NO_MEMORY = {"list", "rule"}
"""Commands that take no memory."""
NO_DOCUMENT = {"completions", "mcp"}
"""Commands that print a text for another program."""


def resume(world: World) -> list[str]:
    words = hand_off(world)
    world.call(*words)
    return [*on("resume")(world), words[-1]]


def unchanged(world: World) -> list[str]:
    return hand_off(world)[:1] + resume(world)[1:3] + hand_off(world)[3:]


def restore_same(world: World) -> list[str]:
    version = world.json("history", "café")["versions"][0]
    return on("restore", "café", "--at", version["id"])(world)


MORE = {
    "open": [on()],
    "demo": [lambda _: ["demo"]],
    "list": [lambda _: ["list"]],
    "search": [on("search", "nothing has these words"), lambda _: ["search", "café", "--all"]],
    "recall": [on("recall", "--ambient")],
    "usage": [on("usage"), after("search", "zeppelins moored")(on("usage"))],
    "rule": [lambda _: ["rule"], lambda _: ["rule", "dead-link"]],
    "lint": [
        lambda _: ["lint", "--all"],
        on("lint"),
        on("lint", "--diff"),
        on("lint", "--fix"),
        on("lint", "--dismissed"),
    ],
    "conflicts": [on("conflicts"), on("conflicts", "--doubts")],
    "curate": [
        lambda world: [*curate(world), "--dry-run"],
        lambda world: [*curate(world), "--brief"],
        lambda world: [*curate(world), "--brief", "--engine", "anthropic"],
        lambda world: [*curate(world), "--yes"],
    ],
    "pending": [on("pending"), after_curation(on("pending"))],
    "ledger": [
        lambda world: after_curation(after("pending", "--apply")(on("ledger")))(world),
    ],
    "resume": [resume],
    "handoff": [unchanged],
    "undo": [on("undo")],
    "redo": [on("redo")],
    "restore": [restore_same],
    "inbox": [
        lambda world: world.write("web.md", "Nobody knows.\n") or on("inbox")(world),
    ],
    "review": [lambda world: [*on("review")(world), "--now", "2028-01-01"]],
    "history": [
        on("history"),
        on("history", "café"),
        on("history", "--verify"),
        on("history", "--size"),
        on("history", "--older-than", "30"),
    ],
    "connect": [
        lambda _: ["connect", "--status"],
        lambda _: ["connect", "opencode", "--dry-run"],
    ],
    "disconnect": [lambda _: ["disconnect", "--dry-run"]],
    "doctor": [lambda _: ["doctor"]],
    "config": [lambda _: ["config"], lambda _: ["config", "path"]],
    "version": [lambda _: ["--version"]],
}
"""Calls of each document besides those that change something."""

CALLS = [
    *((name, Case(words, "")) for name, many in MORE.items() for words in many),
    *((name, case) for name, many in WRITING.items() for case in many),
    *(
        (name, Case(on(*words), ""))
        for name, words in READING.items()
        if words and name not in NO_MEMORY
    ),
]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("name", "case"),
    [pytest.param(*each, id=f"{each[0]}-{number}") for number, each in enumerate(CALLS)],
)
def test_every_document_is_as_its_schema_says(
    world: World, call: Call, name: str, case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key, value in case.environ.items():
        monkeypatch.setenv(key, value)
    answer = call(*case.words(world), "--json", given=case.given.decode())
    assert answer.code in (0, 1), answer.err
    document = read_document(answer.out, name)
    if case.named and case is not WRITING["curate"][0]:
        # it changed something: proposals are no change
        assert document["changed"]


def test_every_document_is_tried_here() -> None:
    tried = {name for name, _ in CALLS}
    assert tried | {"error"} == set(DOCUMENTS)
    assert {*COMMANDS, OPEN} - NO_DOCUMENT <= set(DOCUMENTS)


@pytest.mark.parametrize("name", [name for name in (OPEN, *COMMANDS) if name not in NO_DOCUMENT])
def test_every_command_takes_json(name: str) -> None:
    help_text = create_parser(name, load_command(name)).format_help()
    assert "--json " in help_text


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_shipped_schemas_are_fresh_and_valid(name: str) -> None:
    assert (FOLDER / f"{name}.json").read_text("utf-8") == render_schema(name), "run make docs"
    Draft202012Validator.check_schema(load_schema(name))


def test_the_page_is_fresh_and_no_schema_is_without_a_document() -> None:
    assert PAGE.read_text("utf-8") == render_page(), "run make docs"
    shipped = {entry.name for entry in SCHEMAS.iterdir()}
    assert shipped == {f"{name}.json" for name in DOCUMENTS}


def test_a_schema_refuses_what_it_does_not_describe(world: World, call: Call) -> None:
    printed = call(*on("lint", "--json")(world)).out
    document = json.loads(printed)
    for spoiled in (
        {**document, "more": 1},
        {**document, "summary": {**document["summary"], "error": "none"}},
        {key: value for key, value in document.items() if key != "load"},
        {**document, "findings": [{**document["findings"][0], "line": -1}]},
    ):
        with pytest.raises(AssertionError):
            read_document(f"{json.dumps(spoiled)}\n", "lint")


def test_an_error_is_a_document_and_still_one_line_for_people(world: World, call: Call) -> None:
    plain, answer = call(*on("show", "reef")(world)), call(*on("show", "reef", "--json")(world))
    assert plain.out == ""
    assert answer.err == plain.err
    assert answer.err.count("\n") == 1
    error = read_document(answer.out, "error")["error"]
    assert answer.err == f"ricordo: {error['message']} {error['hint']}\n"
    assert (error["kind"], error["exit_code"], error["changed"]) == ("note-not-found", 3, None)
    assert error["kind"] in list_kinds()


def test_an_error_after_a_change_says_what_was_changed(
    world: World, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr("ricordo.cli.edit.print_change", fail)
    error = read_document(call(*on("retire", "web", "--json")(world)).out, "error")["error"]
    assert (error["kind"], error["changed"]) == ("internal", "retired web.md.")


def test_an_ambiguous_name_lists_its_candidates(world: World, call: Call) -> None:
    for folder in ("one", "two"):
        (world.memory / folder).mkdir()
        world.write(f"{folder}/quay.md", "Text.\n")
    answer = call(*on("show", "quay", "--json")(world))
    error = read_document(answer.out, "error")["error"]
    assert (answer.code, error["kind"]) == (2, "ambiguous-note")
    assert error["candidates"] == ["one/quay.md", "two/quay.md"]


@pytest.mark.parametrize("words", [["--json", "lst"], ["lint", "--json", "--no-such"], ["--json"]])
def test_errors_before_a_command_runs_are_documents_too(call: Call, words: list[str]) -> None:
    answer = call(*words)
    assert answer.code in (2, 3)
    assert read_document(answer.out, "error")["error"]["exit_code"] == answer.code


def test_only_an_option_asks_for_json(world: World, call: Call) -> None:
    assert call("show", "-m", str(world.memory), "--", "--json").out == ""


def test_a_renaming_is_one_change(world: World, call: Call) -> None:
    words = on("rename", "tides", "ebb", "--json")(world)
    document = read_document(call(*words).out, "rename")
    assert document["path"] == "ebb.md"
    renamed = [each for each in document["changed"] if each["kind"] == "renamed"]
    assert renamed == [{"kind": "renamed", "path": "ebb.md", "from": "tides.md", "id": None}]
    assert [each["path"] for each in document["changed"]].count("ebb.md") == 1
    assert "tides.md" not in [each["path"] for each in document["changed"]]
    undone = read_document(call(*on("undo", "--json")(world)).out, "undo")["changed"]
    assert {"kind": "renamed", "path": "tides.md", "from": "ebb.md", "id": None} in undone


def test_nothing_to_undo_is_no_error(world: World, call: Call) -> None:
    answer = call(*on("undo", "--json")(world))
    assert answer.code == 0
    document = read_document(answer.out, "undo")
    assert (document["done"], document["changed"]) == (None, [])
    assert "Nothing to undo" in answer.err


def test_a_decision_is_named_by_its_id(world: World, call: Call) -> None:
    finding = world.json("lint")["findings"][0]
    words = on("lint", "--dismiss", finding["id"], "--json")(world)
    (changed,) = read_document(call(*words).out, "lint")["changed"]
    assert (changed["kind"], changed["id"]) == ("dismissed", finding["id"])
    (undone,) = read_document(call(*on("undo", "--json")(world)).out, "undo")["changed"]
    assert (undone["kind"], undone["id"]) == ("undone", finding["id"])


def test_an_editor_writes_nothing_between_the_document(
    call: Call, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("VISUAL", "echo opened")
    assert run(["config", "edit", "--json"]) == 0
    printed = capfd.readouterr()
    read_document(printed.out, "config")
    assert "opened" in printed.err


def test_a_purge_counts_and_names_what_still_has_the_value(world: World, call: Call) -> None:
    world.write("web.md", f"The key is {SECRET}.\n")
    call(*on("inbox")(world))
    document = read_document(call("purge", "--yes", "--json", given=f"{SECRET}\n").out, "purge")
    assert document["removed"]["texts"] == 1
    assert document["still_in"]["notes"] == [str(world.memory / "web.md")]
