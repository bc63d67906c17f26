"""What `pickup` says of agents that changed; the agents themselves are no part of the tests."""

from __future__ import annotations

import json
import tomllib
import urllib.request

import pytest

from tests.benchmarks.agent_programs import PROGRAMS
from tests.benchmarks.pickup import FACTS, describe_changes, render_facts
from tests.benchmarks.scripted_model import Call, ScriptedModel, serving

KNOWN = {"version": "1", "loads": ["AGENTS.md", "a “quoted” one"], "limit": "all", "none": []}


def test_facts_are_kept_as_they_are():
    facts = {"claude": KNOWN, "codex": {"version": '2 "beta"', "fields of start": ["cwd"]}}
    assert tomllib.loads(render_facts(facts)) == facts


def test_only_what_changed_is_named():
    assert list(describe_changes(KNOWN, KNOWN)) == []
    # what was not tried this time did not change
    assert list(describe_changes(KNOWN, {"limit": "all"})) == []
    now = {"loads": ["a “quoted” one", "CLAUDE.md"], "limit": "9 of 10 lines", "new": "x"}
    assert list(describe_changes(KNOWN, now)) == [
        "loads: -AGENTS.md +CLAUDE.md",
        "limit: all → 9 of 10 lines",
        "new: new → x",
    ]
    (line,) = describe_changes(KNOWN, {"loads": KNOWN["loads"][::-1]})
    assert "in another order" in line


def test_what_is_relied_on_is_known_of_every_agent():
    known = tomllib.loads(FACTS.read_text())
    assert known.keys() == {program.name for program in PROGRAMS}
    for facts in known.values():
        assert facts["version"]
        assert len(facts["tools of the server that answer as they should"]) == 7


@pytest.mark.parametrize(
    "path",
    [
        "/v1/messages",
        "/v1/responses",
        "/v1/chat/completions",
        "/v1beta/models/m:streamGenerateContent",
    ],
)
def test_the_model_makes_its_calls_where_tools_are_offered(path: str):
    name = '"look"'
    model = ScriptedModel(calls=[Call("look", {"at": "it"})])
    with serving(model) as url:

        def ask(**body: object) -> str:
            data = json.dumps(body).encode()
            return urllib.request.urlopen(f"{url}{path}", data, timeout=30).read().decode()

        assert name not in ask(messages=[])
        assert name in ask(messages=[], tools=[{"name": "look"}])
        assert name not in ask(messages=[], tools=[{"name": "look"}])
    assert len(model.asked) == 3
