"""`ricordo mcp` as a process: what its tools, resources and prompts give, and what they keep."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import MCPError
from mcp_types import ListRootsResult, Root

from ricordo.cli.main import run
from ricordo.mcp.pages import MAX_CHARACTERS
from ricordo.services.curation.submission import MAX_OF_SESSION
from tests.support.builders import note_text
from tests.support.serving import SECRET, ServerProcess, environment, serve_project
from tests.unit.machine import Machine

RICORDO = str(Path(sys.executable).with_name("ricordo"))
TOOLS = {"search", "recall", "read", "findings", "handoff", "remember", "propose"}
NOTE = {"name": "pnpm", "description": "Which one", "text": "Use pnpm.", "reason": "said so"}


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.fixture
def project(machine: Machine) -> Path:
    return serve_project(machine)[0]


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """Return a server that several tests only read from."""
    machine = Machine(tmp_path_factory.mktemp("machine"))
    process = ServerProcess(machine, serve_project(machine)[0]).begin()
    yield process
    process.end()


@pytest.fixture
def server(machine: Machine, project: Path) -> Iterator[ServerProcess]:
    process = ServerProcess(machine, project).begin()
    yield process
    process.process.kill()
    process.end()


def files_of(root: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in root.rglob("*") if path.is_file()}


async def test_the_client_of_the_sdk_gets_tools_resources_and_prompts(
    machine: Machine, project: Path
):
    how = StdioServerParameters(
        command=RICORDO, args=["mcp"], env=environment(machine), cwd=project
    )
    async with stdio_client(how) as streams, ClientSession(*streams) as session:
        await session.initialize()
        tools = (await session.list_tools()).tools
        assert {tool.name for tool in tools} == TOOLS
        assert all(tool.description and tool.input_schema["properties"] for tool in tools)
        found = await session.call_tool("search", {"query": "tests"})
        assert json.loads(found.content[0].text)["notes"][0]["path"] == "database.md"
        listed = [str(resource.uri) for resource in (await session.list_resources()).resources]
        assert listed == [
            "ricordo://index",
            "ricordo://note/database.md",
            "ricordo://note/deploy.md",
        ]
        index = json.loads((await session.read_resource("ricordo://index")).contents[0].text)
        assert [(note["path"], note["loaded"]) for note in index["notes"]] == [
            ("database.md", True),
            ("deploy.md", True),
        ]
        note = await session.read_resource("ricordo://note/deploy.md")
        assert "Tuesdays" in json.loads(note.contents[0].text)["text"]
        for uri in ("ricordo://note/access.md", "ricordo://note/../x", "file:///etc/passwd"):
            with pytest.raises(MCPError):
                await session.read_resource(uri)
        prompts = (await session.list_prompts()).prompts
        assert [prompt.name for prompt in prompts] == ["hand-off", "review"]
        for prompt in prompts:
            assert (await session.get_prompt(prompt.name)).messages[0].content.text


async def test_the_roots_of_the_client_choose_the_memory(machine: Machine, project: Path):
    serve_project(machine, "other")
    (machine.project_folder(machine.path / "other") / "memory/extra.md").write_text(
        note_text("extra", "The pier is closed.\n")
    )

    for chosen, expected in (("other", ["extra.md"]), ("tidepool", []), ("nowhere", None)):
        uri = f"file://{machine.path}/{chosen}"

        async def roots(context: object, uri: str = uri) -> ListRootsResult:
            return ListRootsResult(roots=[Root(uri=uri)])

        how = StdioServerParameters(
            command=RICORDO, args=["mcp"], env=environment(machine), cwd=project
        )
        async with (
            stdio_client(how) as streams,
            ClientSession(*streams, list_roots_callback=roots) as session,
        ):
            await session.initialize()
            found = await session.call_tool("search", {"query": "pier"})
            text = found.content[0].text
            if expected is None:
                assert found.is_error
                assert "No memory" in text
            else:
                assert [note["path"] for note in json.loads(text)["notes"]] == expected


def test_a_note_is_given_with_date_and_place(reader: ServerProcess):
    note = reader.call("read", note="deploy")
    assert (note["path"], note["type"]) == ("deploy.md", "feedback")
    assert note["text"].endswith("Releases go out on Tuesdays.\n")
    assert note["written"]
    assert note["cursor"] is None


def test_recall_gives_the_text_of_what_matters(reader: ServerProcess):
    given = reader.call("recall", message="on which day do releases go out, tuesdays?")
    assert [note["path"] for note in given["notes"]] == ["deploy.md"]
    assert given["notes"][0]["text"] == "Releases go out on Tuesdays."
    assert reader.call("recall", message="thank you!")["notes"] == []


def test_withheld_notes_are_never_given(machine: Machine, server: ServerProcess):
    for query in ("database", "staging password", "instructions script", SECRET, "access"):
        paths = [note["path"] for note in server.call("search", query=query)["notes"]]
        assert not {"access.md", "orders.md"} & set(paths)
    for message in (f"what is {SECRET}", "run the attached script for the staging database"):
        paths = [note["path"] for note in server.call("recall", message=message)["notes"]]
        assert not {"access.md", "orders.md"} & set(paths)
    for name in ("access", "orders.md"):
        assert "is withheld" in server.call("read", note=name)
        assert "is withheld" in server.call("findings", note=name)
        change = {"note": name, "change": "retire", "reason": "old"}
        assert "is withheld" in server.call("propose", **change)
    findings = server.call("findings")["findings"]
    assert {"secret", "instruction-shaped"} <= {finding["rule"] for finding in findings}
    server.end()
    said = b"".join(server.lines)
    assert SECRET.encode() not in said
    assert b"attached script" not in said


def test_an_unknown_project_gets_nothing_of_another(machine: Machine, project: Path):
    elsewhere = machine.repository("elsewhere")
    server = ServerProcess(machine, elsewhere).begin()
    for tool, arguments in (
        ("search", {"query": "database"}),
        ("recall", {"message": "tests with the database"}),
        ("read", {"note": "deploy"}),
        ("findings", {}),
        ("remember", NOTE),
    ):
        answer = server.call(tool, **arguments)
        assert isinstance(answer, str), tool
        assert answer.startswith("No memory")
    assert server.ask("resources/list", {})["result"]["resources"] == []
    server.end()


def test_the_project_of_the_agent_chooses_the_memory(machine: Machine, project: Path):
    elsewhere = machine.repository("elsewhere")
    environ = {"CLAUDE_PROJECT_DIR": str(project)}
    server = ServerProcess(machine, elsewhere, environ=environ).begin()
    assert server.call("read", note="deploy")["project"] == str(project)
    server.end()


def test_a_path_fixes_the_memory(machine: Machine, project: Path):
    elsewhere = machine.repository("elsewhere")
    server = ServerProcess(machine, elsewhere, "-m", str(project)).begin()
    assert server.call("read", note="deploy")["project"] == str(project)
    server.end()


def test_a_long_note_comes_in_parts(machine: Machine, project: Path):
    root = machine.project_folder(project) / "memory"
    body = "".join(f"Line {number} of the tide table.\n" for number in range(3_000))
    (root / "tides.md").write_text(note_text("tides", body))
    server = ServerProcess(machine, project).begin()
    parts, cursor = [], ""
    while cursor is not None:
        part = server.call("read", note="tides", cursor=cursor)
        assert len(part["text"]) <= MAX_CHARACTERS
        parts.append(part["text"])
        cursor = part["cursor"]
    assert len(parts) > 3
    assert "".join(parts) == note_text("tides", body)
    first = server.call("read", note="tides")["cursor"]
    for wrong in ("-1", "x", f"-{first}", "9" * 90, f"{first}0"):
        assert "cursor does not belong" in server.call("read", note="tides", cursor=wrong)
    assert "cursor does not belong" in server.call("read", note="deploy", cursor=first)
    (root / "tides.md").write_text(note_text("tides", body[:-100]))
    assert "cursor does not belong" in server.call("read", note="tides", cursor=first)
    server.end()


def test_many_notes_come_in_pages(machine: Machine, project: Path):
    root = machine.project_folder(project) / "memory"
    for number in range(90):
        (root / f"boat-{number}.md").write_text(note_text(f"boat {number}", "A boat.\n"))
    server = ServerProcess(machine, project).begin()
    paths: list[str] = []
    cursor = ""
    while cursor is not None:
        page = server.call("search", query="boat", cursor=cursor)
        assert len(json.dumps(page)) < 2 * MAX_CHARACTERS
        paths += [note["path"] for note in page["notes"]]
        cursor = page["cursor"]
    assert len(paths) == len(set(paths)) == page["total"] == 90
    server.end()


def test_what_is_submitted_waits_for_the_user(
    machine: Machine, project: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
):
    root = machine.project_folder(project) / "memory"
    machine.transcript(machine.project_folder(project), project, "5e55")
    with (machine.project_folder(project) / "5e55.jsonl").open("a") as file:
        message = {"role": "user", "content": "no, we always use pnpm here"}
        line = {"type": "user", "uuid": "u1", "cwd": str(project), "sessionId": "5e55"}
        file.write(json.dumps({**line, "message": message}) + "\n")
    before = files_of(root)
    server = ServerProcess(machine, project, environ={"CLAUDE_CODE_SESSION_ID": "5e55"}).begin()
    quoted = server.call("remember", **NOTE, quote="we always use pnpm", type="feedback")
    assert (quoted["status"], quoted["warnings"]) == ("pending", [])
    unquoted = server.call(
        "propose",
        note="deploy",
        change="replace",
        old_text="Tuesdays",
        new_text="Mondays",
        reason="it moved",
        quote="releases are on Mondays",
    )
    assert "quote not found in session 5e55" in unquoted["warnings"]
    again = server.call("remember", **{**NOTE, "name": "package manager", "text": "use  PNPM."})
    assert again["status"] == "not added"
    assert f"proposal {quoted['id']}" in again["why"]
    server.end()
    assert files_of(root) == before
    for name, value in environment(machine).items():
        monkeypatch.setenv(name, value)
    assert run(["pending", str(project), "--json"]) == 0
    pending = json.loads(capsys.readouterr().out)["changes"]
    assert [change["by"] for change in pending] == ["lines, session 5e55"] * 2
    assert pending[0]["evidence"][0]["found"]
    assert run(["pending", str(project), "--apply", quoted["id"]]) == 0
    assert run(["pending", str(project), "--drop", unquoted["id"]]) == 0
    assert (root / "pnpm.md").read_text().endswith("Use pnpm.\n")


def test_what_the_user_refused_is_not_added_again(
    machine: Machine, project: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
):
    server = ServerProcess(machine, project).begin()
    first = server.call("remember", **NOTE)
    for name, value in environment(machine).items():
        monkeypatch.setenv(name, value)
    assert run(["pending", str(project), "--drop", first["id"]]) == 0
    assert "refused" in server.call("remember", **NOTE)
    other = server.call("remember", **{**NOTE, "name": "package manager", "text": "use  PNPM."})
    assert other["status"] == "not added"
    assert f"(proposal {first['id']})" in other["why"]
    server.end()


def test_a_session_can_submit_only_so_much(server: ServerProcess):
    for number in range(MAX_OF_SESSION):
        text = {"name": f"boat {number}", "text": f"Boat {number}."}
        assert server.call("remember", **{**NOTE, **text})["status"] == "pending"
    assert f"limit {MAX_OF_SESSION}" in server.call("remember", **NOTE)


def test_two_servers_at_once_lose_nothing(machine: Machine, project: Path):
    servers = [ServerProcess(machine, project).begin() for _ in range(2)]
    ids = []
    for number in range(8):
        for server in servers:
            name = f"boat {server.process.pid} {number}"
            ids.append(server.call("remember", **{**NOTE, "name": name, "text": name})["id"])
    for server in servers:
        assert server.call("search", query="tests")["notes"]
        assert server.end()[0] == 0
    stored = next((machine.path / "state/curation").iterdir()).read_text()
    assert all(id in stored for id in ids)


@pytest.mark.parametrize(
    ("tool", "arguments", "says"),
    [
        ("read", {}, "note: field required."),
        ("read", {"note": 7}, "note: input should be a valid string."),
        ("read", {"note": "nothing"}, "This memory has no note “nothing”."),
        ("search", {"query": " "}, "The query is empty"),
        ("search", {"query": "after:never"}, "after"),
        ("propose", {"note": "deploy", "change": "burn", "reason": "x"}, "change: input should be"),
        ("propose", {"note": "deploy", "change": "append", "reason": "x"}, "needs `new_text`"),
        ("remember", {**NOTE, "name": "../x"}, "outside the memory"),
        ("remember", {**NOTE, "type": "burn"}, "has no type"),
        ("handoff", {}, "No handoff at"),
        ("burn", {}, "Unknown tool"),
    ],
)
def test_an_error_is_a_plain_sentence(
    reader: ServerProcess, tool: str, arguments: dict[str, Any], says: str
):
    answer = reader.call(tool, **arguments)
    assert isinstance(answer, str)
    assert says in answer
    assert "Traceback" not in answer
    assert "Error executing" not in answer


def test_the_handoff_is_given_checked_again(
    machine: Machine, project: Path, monkeypatch: pytest.MonkeyPatch
):
    for name, value in environment(machine).items():
        monkeypatch.setenv(name, value)
    machine.transcript(machine.project_folder(project), project, "5e55")
    with (machine.project_folder(project) / "5e55.jsonl").open("a") as file:
        line = {"type": "user", "uuid": "u1", "cwd": str(project), "sessionId": "5e55"}
        said = "Please write the tide table. We use SQLite for it, not Redis."
        message = {"role": "user", "content": said}
        at = {"timestamp": "2026-11-20T11:00:00.000Z"}
        file.write(json.dumps({**line, **at, "message": message}) + "\n")
    assert run(["handoff", str(project)]) == 0
    server = ServerProcess(machine, project).begin()
    handoff = server.call("handoff")
    assert handoff["path"] == str(project / "HANDOFF.md")
    assert any("tide table" in step["text"] for step in handoff["statements"])
    server.end()


def test_lone_surrogates_and_invisible_characters_arrive_as_text(machine: Machine, project: Path):
    root = machine.project_folder(project) / "memory"
    (root / "odd.md").write_bytes(
        note_text("odd", "A b\u202eidi, a \x1b[31mcolour, a <system-reminder>tag.\n").encode()
        + b"\xed\xa0\x80 and \xff\n"
    )
    name = b"n\xff.md"
    (Path(str(root)) / name.decode("utf-8", "surrogateescape")).write_text(note_text("named"))
    server = ServerProcess(machine, project).begin()
    asked = rb'{"jsonrpc":"2.0","id":"s","method":"tools/call","params":{"name":"search",'
    server.send(asked + rb'"arguments":{"query":"tide \ud800 \udc00\\ud800"}}}')
    assert "error" not in server.read_until("s")
    assert server.call("search", query="named")["notes"]
    assert server.call("findings")["findings"]
    code, errors = server.end()
    assert code == 0
    assert b"Traceback" not in errors
    assert all(json.loads(line) for line in server.lines)


def test_without_the_sdk_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.delitem(sys.modules, "ricordo.mcp.server", raising=False)
    monkeypatch.setitem(sys.modules, "mcp.server", None)
    assert run(["mcp"]) == 2
    assert "pip install 'ricordo[mcp]'" in capsys.readouterr().err
