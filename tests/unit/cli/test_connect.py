"""`ricordo connect` in homes of all shapes: it writes its own folder and nothing else, and
`disconnect` leaves the home as it was.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import write_memory
from tests.support.forking import run_forked

SECONDS = 60
AGENTS = ("claude", "codex", "opencode", "gemini")
CODEX = """#!/bin/sh
# as Codex does: tables are added to its settings, and taken out again
config="$CODEX_HOME/config.toml"
echo "$*" >> "$CODEX_HOME/calls.log"
case "$*" in
"plugin add "*) printf '[plugins."ricordo@ricordo"]\\nenabled = true\\n' >> "$config" ;;
"plugin remove "*) grep -v 'ricordo@ricordo\\|enabled = true' "$config" > "$config.new"
    mv "$config.new" "$config" ;;
esac
"""


class Home:
    """A home, with or without agents."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.environ: dict[str, str] = {}
        self.is_forked = True
        """Whether `ricordo` is called in processes that were loaded before."""

    @property
    def state(self) -> Path:
        return self.path.parent / "state"

    def run(self, *words: str, code: int | None = 0) -> subprocess.CompletedProcess[str]:
        environ = {
            "PATH": "/usr/bin:/bin",
            "HOME": str(self.path),
            "RICORDO_STATE": str(self.state),
            **self.environ,
        }
        done = self._start(words, environ)
        assert "Traceback" not in done.stderr
        if code is not None:
            assert done.returncode == code, done.stderr
        return done

    def _start(
        self, words: Sequence[str], environ: dict[str, str]
    ) -> subprocess.CompletedProcess[str]:
        if self.is_forked:
            done = run_forked(*words, environ=environ, cwd=self.path)
            out, err = done.stdout.decode(), done.stderr.decode()
            return subprocess.CompletedProcess(words, done.returncode, out, err)
        return subprocess.run(
            [sys.executable, "-m", "ricordo", *words],
            cwd=self.path,
            env=environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )

    def status(self) -> dict[str, dict[str, Any]]:
        agents = json.loads(self.run("connect", "--status", "--json").stdout)["agents"]
        return {agent["name"]: agent for agent in agents}

    def snapshot(self) -> dict[str, object]:
        """Return every path in the home, with its kind, mode and content."""
        return {str(path.relative_to(self.path)): describe(path) for path in self.path.rglob("*")}


def describe(path: Path) -> object:
    if path.is_symlink():
        return os.readlink(path)
    mode = stat.S_IMODE(path.stat().st_mode)
    return mode, path.read_bytes() if path.is_file() else None


@pytest.fixture
def home(tmp_path: Path) -> Home:
    path = Path(os.path.realpath(tmp_path)) / "home"
    path.mkdir()
    return Home(path)


def settings(text: str) -> Callable[[Home], None]:
    return lambda home: put(home, {".claude/settings.json": text})


def put(home: Home, files: dict[str, str]) -> None:
    write_memory(home.path, files)


def link(home: Home, name: str, target: str) -> None:
    path = home.path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if not target.startswith("no"):
        (home.path / target).mkdir(parents=True)
    path.symlink_to(home.path / target)


def use(home: Home, **environ: str) -> None:
    home.environ.update(environ)


PLUGIN = '{"name": "other", "version": "1.0.0"}'
HOOKS = '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "beep"}]}]}}'
CONNECTABLE: dict[str, Callable[[Home], Any]] = {
    "nothing": lambda home: None,
    "empty folders": lambda home: [(home.path / it).mkdir() for it in (".claude", ".codex")],
    "empty settings": settings(""),
    "settings with comments": settings('// mine\n{"model": "x",}\n'),
    "settings that are a list": settings("[1, 2]"),
    "settings that are cut off": settings('{"hooks": {"Stop": ['),
    "settings with a mark": settings("\ufeff{}"),
    "settings with carriage returns": settings('{\r\n  "hooks": {}\r\n}\r\n'),
    "settings with hooks of others": settings(HOOKS),
    "settings with odd numbers": settings('{"a": 1.10, "b": 1e400, "c": 12345678901234567890123}'),
    "settings with doubled keys": settings('{"hooks": {}, "hooks": {"Stop": []}}'),
    "settings that only the user reads": lambda home: (
        settings(HOOKS)(home),
        (home.path / ".claude/settings.json").chmod(0o600),
    ),
    "settings that are a link": lambda home: (
        put(home, {"dotfiles/claude.json": HOOKS, ".claude/x": ""}),
        (home.path / ".claude/settings.json").symlink_to(home.path / "dotfiles/claude.json"),
    ),
    "a linked folder of Claude Code": lambda home: link(home, ".claude", "dotfiles/claude"),
    "a linked folder of skills": lambda home: link(home, ".claude/skills", "dotfiles/skills"),
    "a linked folder of opencode": lambda home: link(home, ".config/opencode", "dotfiles/oc"),
    "a linked folder of Codex": lambda home: link(home, ".codex", "dotfiles/codex"),
    "other skills": lambda home: put(home, {".claude/skills/other/SKILL.md": "x"}),
    "a plugin of others": lambda home: put(
        home, {".claude/skills/other/.claude-plugin/plugin.json": PLUGIN}
    ),
    "a memory tool": lambda home: put(
        home, {".claude/skills/mem/hooks/hooks.json": HOOKS, ".claude/.mcp.json": "{}"}
    ),
    "a plugin of others in opencode": lambda home: put(
        home, {".config/opencode/plugins/other.js": "export default {}"}
    ),
    "an extension of others": lambda home: put(
        home, {".gemini/extensions/other/gemini-extension.json": PLUGIN}
    ),
    "a moved Claude Code": lambda home: use(
        home, CLAUDE_CONFIG_DIR=str(home.path / "else where/claude")
    ),
    "a moved Codex": lambda home: use(home, CODEX_HOME=str(home.path / "else/codex")),
    "moved settings": lambda home: use(home, XDG_CONFIG_HOME=str(home.path / "xdg")),
    "a relative folder of settings": lambda home: use(home, XDG_CONFIG_HOME="xdg"),
    "a folder that others cannot read": lambda home: (
        (home.path / ".claude").mkdir(mode=0o700),
        put(home, {".codex/config.toml": 'model = "m"  # mine\n'}),
    ),
    "an empty folder of ours": lambda home: (home.path / ".claude/skills/ricordo").mkdir(
        parents=True
    ),
    "memories": lambda home: put(home, {".claude/projects/-a/memory/MEMORY.md": "- x\n"}),
    "a state in the home": lambda home: use(home, RICORDO_STATE=str(home.path / "a state's place")),
}
"""Homes in which all agents can be connected."""


def mine(home: Home, **files: str) -> None:
    put(home, {f".claude/skills/ricordo/{name}": text for name, text in files.items()})


def pipe(home: Home) -> None:
    path = home.path / ".claude/skills/ricordo/launch.sh"
    path.parent.mkdir(parents=True)
    os.mkfifo(path)


REFUSED: dict[str, Callable[[Home], Any]] = {
    "a skill of the same name": lambda home: mine(home, **{"SKILL.md": "mine"}),
    "a plugin of the same name": lambda home: mine(home, **{".claude-plugin/plugin.json": PLUGIN}),
    "another Ricordo": lambda home: mine(home, **{"launch.sh": "#!/bin/sh\nexec ricordo2\n"}),
    "a file for the folder": lambda home: put(home, {".claude/skills/ricordo": "x"}),
    "a file for the skills": lambda home: put(home, {".claude/skills": "x"}),
    "a link for the folder": lambda home: link(home, ".claude/skills/ricordo", "checkout"),
    "a link to nowhere": lambda home: link(home, ".claude/skills/ricordo", "nowhere"),
    "a pipe for the launcher": pipe,
    "a linked launcher": lambda home: (
        put(home, {"dotfiles/launch.sh": "x", ".claude/skills/ricordo/x": ""}),
        (home.path / ".claude/skills/ricordo/launch.sh").symlink_to(
            home.path / "dotfiles/launch.sh"
        ),
    ),
    "a folder for a file": lambda home: put(
        home, {".claude/skills/ricordo/hooks/hooks.json/x": "x"}
    ),
}
"""Homes in which Claude Code cannot be connected."""


def test_there_are_forty_homes():
    assert len(CONNECTABLE) + len(REFUSED) == 40


@pytest.mark.one_in(3)
@pytest.mark.parametrize("shape", CONNECTABLE)
def test_a_home_is_as_it_was_after_disconnecting(home: Home, shape: str):
    CONNECTABLE[shape](home)
    before = home.snapshot()
    if shape == "a state in the home":
        home.environ["RICORDO_STATE"] = str(home.state)
    home.run("connect", *AGENTS, "--yes")
    connected = home.snapshot()
    assert {name: connected.get(name) for name in before} == before
    states = {name: it["state"] for name, it in home.status().items()}
    # there is no program that could install the plugin of Codex
    assert states == {**dict.fromkeys(AGENTS, "connected"), "codex": "incomplete"}
    home.run("connect", *AGENTS, "--yes")
    assert home.snapshot() == connected
    home.run("disconnect", "--yes")
    assert home.snapshot() == before
    assert {it["state"] for it in home.status().values()} == {"not connected"}


@pytest.mark.parametrize("shape", REFUSED)
def test_nothing_of_others_is_replaced(home: Home, shape: str):
    REFUSED[shape](home)
    before = home.snapshot()
    done = home.run("connect", "claude", "--yes", code=4)
    assert ".claude/skills" in done.stderr
    assert home.snapshot() == before
    home.run("disconnect", "--yes")
    assert home.snapshot() == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
@pytest.mark.parametrize("folder", [".claude", ".claude/skills"])
def test_a_folder_that_is_read_only_is_named(home: Home, folder: str):
    path = home.path / folder
    path.mkdir(parents=True)
    path.chmod(0o555)
    assert folder in home.run("connect", "claude", "--yes", code=4).stderr
    path.chmod(0o755)


def test_a_state_that_cannot_be_written_leaves_nothing(home: Home):
    home.state.write_text("a file")
    before = home.snapshot()
    home.run("connect", "claude", "opencode", "--yes", code=4)
    assert home.snapshot() == before


def test_only_agents_of_this_machine_are_connected_unasked(home: Home):
    home.is_forked = False
    said = home.run("connect", "--yes").stderr
    assert (
        f"No agent was found on this machine: name the one to connect of {', '.join(AGENTS)}."
        in said
    )
    (home.path / ".claude").mkdir()
    home.run("connect", "--yes")
    states = {name: it["state"] for name, it in home.status().items()}
    assert states == {**dict.fromkeys(AGENTS, "not connected"), "claude": "connected"}


def test_nothing_is_written_unconfirmed_or_in_a_dry_run(home: Home):
    before = home.snapshot()
    assert "--yes" in home.run("connect", "claude", code=4).stderr
    shown = home.run("connect", "claude", "--dry-run").stdout
    assert "create skills/ricordo/launch.sh" in shown
    launcher = shlex.quote(f"{home.path}/.claude/skills/ricordo/launch.sh")
    assert f"{launcher} hook prompt" in shown
    assert home.snapshot() == before
    home.run("connect", "claude", "--yes")
    connected = home.snapshot()
    assert "--yes" in home.run("disconnect", code=4).stderr
    assert "launch.sh" in home.run("disconnect", "--dry-run").stdout
    assert home.snapshot() == connected


def test_an_unknown_agent_is_refused(home: Home):
    assert "“emacs” is no agent" in home.run("connect", "emacs", code=2).stderr


def test_what_somebody_changed_is_kept_and_named(home: Home):
    home.run("connect", "claude", "opencode", "--yes")
    skill = home.path / ".claude/skills/ricordo/skills/notes/SKILL.md"
    skill.write_text("mine")
    put(home, {".claude/skills/ricordo/more.txt": "mine too"})
    assert home.status()["claude"]["state"] == "changed"
    assert "SKILL.md" in home.run("connect", "--status").stdout
    assert str(skill) in home.run("connect", "claude", "--yes", code=4).stderr
    done = home.run("disconnect", "--yes", "--json")
    assert str(skill) in done.stderr
    assert "Claude Code may still use this." in done.stderr
    assert json.loads(done.stdout)["done"] == "removed files of claude; disconnected opencode"
    assert str(skill) in " ".join(json.loads(done.stdout)["warnings"])
    left = [name for name, it in home.snapshot().items() if isinstance(it, tuple) and it[1]]
    assert sorted(left) == [
        ".claude/skills/ricordo/more.txt",
        ".claude/skills/ricordo/skills/notes/SKILL.md",
    ]


def test_a_missing_file_is_written_again(home: Home):
    home.run("connect", "claude", "--yes")
    connected = home.snapshot()
    (home.path / ".claude/skills/ricordo/hooks/hooks.json").unlink()
    assert home.status()["claude"]["state"] == "incomplete"
    home.run("connect", "claude", "--yes")
    assert home.snapshot() == connected


def test_without_the_record_our_own_files_are_still_known(home: Home):
    home.is_forked = False
    home.run("connect", "claude", "codex", "gemini", "opencode", "--yes")
    shutil.rmtree(home.state)
    assert {it["state"] for it in home.status().values()} == {"connected"}
    home.run("disconnect", "--yes")
    files = [it for it in home.path.rglob("*") if it.is_file()]
    assert files == []


def test_an_upgrade_replaces_what_an_older_version_wrote(home: Home):
    home.run("connect", "claude", "--yes")
    root = home.path / ".claude/skills/ricordo"
    record = json.loads((home.state / "connections.json").read_text())
    older = {root / "launch.sh": b"#!/bin/sh\n# older\n", root / "gone.json": b"{}"}
    from hashlib import sha256

    for path, content in older.items():
        path.write_bytes(content)
        record["claude"]["files"][str(path)] = sha256(content).hexdigest()
    (home.state / "connections.json").write_text(json.dumps(record))
    assert home.status()["claude"]["state"] == "outdated"
    home.run("connect", "claude", "--yes")
    assert home.status()["claude"]["state"] == "connected"
    assert not (root / "gone.json").exists()
    home.run("disconnect", "--yes")
    assert home.snapshot() == {}


def test_codex_installs_the_folder_by_its_own_commands(home: Home):
    install_codex(home)
    put(home, {".codex/config.toml": 'model = "m"  # mine\n'})
    home.run("connect", "codex", "--yes")
    assert "ricordo@ricordo" in (home.path / ".codex/config.toml").read_text()
    home.run("disconnect", "--yes")
    assert (home.path / ".codex/config.toml").read_text() == 'model = "m"  # mine\n'
    calls = (home.path / ".codex/calls.log").read_text().splitlines()
    root = home.path / ".codex/ricordo"
    assert calls == [
        f"plugin marketplace add {root}",
        "plugin add ricordo@ricordo",
        "plugin remove ricordo@ricordo",
        "plugin marketplace remove ricordo",
    ]


def install_codex(home: Home, text: str = CODEX) -> None:
    tools = home.path.parent / "bin"
    write_memory(tools, {"codex": text})
    (tools / "codex").chmod(0o755)
    home.environ["PATH"] = f"{tools}:/usr/bin:/bin"


def test_without_its_program_codex_is_not_called_connected(home: Home):
    done = home.run("connect", "claude", "codex", "--yes")
    first, *_ = done.stdout.splitlines()
    assert first == "connected claude; wrote the files of codex"
    assert "trust" not in done.stdout
    assert "`codex plugin add ricordo@ricordo`: codex was not found." in done.stderr
    assert "Codex is not connected yet" in done.stderr
    codex = home.status()["codex"]
    assert codex["state"] == "incomplete"
    assert codex["pending"] == [
        f"codex plugin marketplace add {shlex.quote(str(home.path / '.codex/ricordo'))}",
        "codex plugin add ricordo@ricordo",
    ]
    shown = home.run("connect", "--status").stdout
    assert "  not run yet: codex plugin add ricordo@ricordo\n" in shown
    assert "connection-incomplete" in home.run("doctor", code=None).stdout
    again = home.run("connect", "codex", "--yes")
    assert again.stdout == "No changes.\n"
    assert "Codex is not connected yet" in again.stderr
    assert home.run("disconnect", "--yes").stderr == ""


def test_connecting_again_runs_what_could_not_run(home: Home):
    home.run("connect", "codex", "--yes")
    install_codex(home)
    assert home.run("connect", "codex", "--dry-run").stdout != "Codex is connected.\n"
    done = home.run("connect", "codex", "--yes")
    assert done.stdout.startswith("connected codex\n")
    assert done.stderr == ""
    assert home.status()["codex"]["state"] == "connected"
    home.run("disconnect", "codex", "--yes")
    assert home.status()["codex"]["state"] == "not connected"


def test_a_command_that_fails_leaves_the_connection_incomplete(home: Home):
    install_codex(
        home, '#!/bin/sh\ncase "$*" in "plugin add "*) echo "no room" >&2; exit 1;; esac\n'
    )
    done = home.run("connect", "codex", "--yes")
    assert "`codex plugin add ricordo@ricordo`: no room." in done.stderr
    codex = home.status()["codex"]
    assert (codex["state"], codex["pending"]) == (
        "incomplete",
        ["codex plugin add ricordo@ricordo"],
    )


def test_commands_are_single_strings_without_arguments(home: Home):
    home.run("connect", *AGENTS, "--yes")
    hooks = list(home.path.rglob("hooks.json"))
    assert len(hooks) == 3
    for path in hooks:
        for groups in json.loads(path.read_text())["hooks"].values():
            for hook in (hook for group in groups for hook in group["hooks"]):
                assert set(hook) == {"type", "command", "timeout"}
                assert hook["command"].endswith(tuple(f" hook {it}" for it in EVENTS))


EVENTS = ("start", "prompt", "wrote", "compact", "stop", "end")


# The launcher


def launch(home: Home, *words: str, document: str = "{}", **environ: str):
    return subprocess.run(
        ["/bin/sh", "-c", f"'{home.path}/.claude/skills/ricordo/launch.sh' {' '.join(words)}"],
        input=document,
        env={"HOME": str(home.path), "RICORDO_STATE": str(home.state), **environ},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


@pytest.mark.parametrize("path", ["", "/usr/bin:/bin"])
def test_the_launcher_starts_ricordo_without_python_in_the_path(home: Home, path: str):
    home.run("connect", "claude", "--yes")
    assert launch(home, "--version", PATH=path).stdout.startswith("ricordo")
    done = launch(home, "hook", "nosuch", PATH=path)
    assert (done.returncode, done.stdout) == (0, "")
    assert "'nosuch'" in done.stderr


def test_the_launcher_runs_nothing_of_the_project(home: Home):
    home.run("connect", "claude", "--yes")
    put(home, {"ricordo/__init__.py": "raise SystemExit(3)", "json.py": "raise SystemExit(4)"})
    launcher = home.path / ".claude/skills/ricordo/launch.sh"
    done = subprocess.run([launcher, "--version"], cwd=home.path, capture_output=True, check=False)
    assert done.returncode == 0


def broken(home: Home, **values: str) -> None:
    """Let the launcher name an installation that is not there."""
    path = home.path / ".claude/skills/ricordo/launch.sh"
    lines = path.read_text().splitlines()
    changed = [next((f"{k}={v}" for k, v in values.items() if it.startswith(f"{k}=")), it)
               for it in lines]  # fmt: skip
    path.write_text("\n".join(changed) + "\n")


@pytest.mark.parametrize("missing", ["python", "package"])
@pytest.mark.parametrize("event", EVENTS)
def test_without_ricordo_the_launcher_ends_with_0(home: Home, missing: str, event: str):
    home.run("connect", "claude", "--yes")
    broken(home, **{missing: "/no/such/place"})
    done = launch(home, "hook", event, PATH="/usr/bin:/bin")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("place", ["bin", "home/.local/bin"])
def test_the_launcher_finds_another_installation(home: Home, place: str):
    home.run("connect", "claude", "--yes")
    broken(home, python="/no/such/place")
    tools = home.path.parent / place
    write_memory(tools, {"ricordo": '#!/bin/sh\ncat\necho "$*"\nexit 1\n'})
    (tools / "ricordo").chmod(0o755)
    path = f"{tools}:/usr/bin:/bin" if place == "bin" else "/usr/bin:/bin"
    done = launch(home, "hook", "prompt", document="the event", PATH=path)
    assert done.returncode == 0
    assert done.stdout == f"the eventhook prompt --agent=claude --state={home.state}\n"


def test_an_installation_whose_python_is_gone_is_passed_over(home: Home):
    home.run("connect", "claude", "--yes")
    broken(home, python="/no/such/place")
    first, second = home.path.parent / "bin", home.path / ".local/bin"
    write_memory(first, {"ricordo": "#!/no/such/python\n"})
    write_memory(second, {"ricordo": "#!/bin/sh\necho found\n"})
    for tools in (first, second):
        (tools / "ricordo").chmod(0o755)
    done = launch(home, "hook", "prompt", PATH=f"{first}:/usr/bin:/bin")
    assert (done.returncode, done.stdout) == (0, "found\n")


@pytest.mark.parametrize("code", [0, 1, 2])
def test_without_any_installation_uvx_is_tried(home: Home, code: int):
    home.run("connect", "claude", "--yes")
    broken(home, package="/no/such/place")
    tools = home.path.parent / "bin"
    write_memory(tools, {"uvx": f'#!/bin/sh\ncat\necho "$*"\nexit {code}\n'})
    (tools / "uvx").chmod(0o755)
    done = launch(home, "hook", "prompt", document="the event", PATH=f"{tools}:/usr/bin:/bin")
    # an agent takes any other code for an error, or an order to stop
    assert (done.returncode, done.stderr) == (0, "")
    words = f"--offline --quiet ricordo hook prompt --agent=claude --state={home.state}"
    assert done.stdout == f"the event{words}\n"


@pytest.mark.parametrize("name", ["a home", "o'hara's \"home\"", "$HOME;x", "café"])
def test_names_of_folders_need_no_quotes(tmp_path: Path, name: str):
    path = Path(os.path.realpath(tmp_path)) / name
    path.mkdir()
    home = Home(path)
    home.environ["RICORDO_STATE"] = str(path / "state of 'mine'")
    home.run("connect", "claude", "--yes")
    hooks = json.loads((path / ".claude/skills/ricordo/hooks/hooks.json").read_text())["hooks"]
    (group,) = hooks["Stop"]
    done = subprocess.run(
        ["/bin/sh", "-c", group["hooks"][0]["command"].replace("hook stop", "--version")],
        env={"HOME": str(path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.startswith("ricordo"), done.stderr


# The plugin for opencode

NODE = shutil.which("node")
DRIVER = """
import plugin from "{plugin}"
const hooks = await plugin.server({{ directory: "{project}" }})
await hooks["tool.execute.after"]({{ tool: "read", sessionID: "s", args: {{ filePath: "a" }} }})
await hooks["tool.execute.after"]({{ tool: "write", sessionID: "s", args: {{ filePath: "n.md" }} }})
const system = {{ system: ["one"] }}
await hooks["experimental.chat.system.transform"]({{ sessionID: "s", model: {{}} }}, system)
await hooks["experimental.chat.system.transform"]({{ sessionID: "s", model: {{}} }}, system)
const parts = [{{ id: "prt_1", type: "text", text: "which gate?" }}]
await hooks["chat.message"]({{ sessionID: "s" }}, {{ message: {{ id: "msg_1" }}, parts }})
const properties = {{ info: {{ id: "c", parentID: "s" }} }}
await hooks.event({{ event: {{ type: "session.created", properties }} }})
const quiet = [{{ id: "prt_2", type: "text", text: "which gate?" }}]
await hooks["chat.message"]({{ sessionID: "c" }}, {{ message: {{ id: "msg_2" }}, parts: quiet }})
await plugin.setup({{ options: {{}} }})
console.log(JSON.stringify({{ system, parts, quiet, names: Object.keys(plugin) }}))
"""
ANSWERING = """#!/bin/sh
input=$(cat)
echo "$2 $input" >> "$HOME/events.log"
case $2 in
start) echo '{"hookSpecificOutput": {"additionalContext": "facts"}}' ;;
prompt) echo '{"hookSpecificOutput": {"additionalContext": "notes"}}' ;;
wrote) exit 7 ;;
esac
"""


@pytest.mark.skipif(NODE is None, reason="needs Node")
def test_the_plugin_for_opencode_asks_and_passes_on(home: Home):
    home.run("connect", "opencode", "--yes")
    plugin = home.path / ".config/opencode/plugins/ricordo.js"
    text = plugin.read_text()
    (line,) = [it for it in text.splitlines() if it.startswith("const LAUNCHER")]
    path = home.path / "plugin.mjs"
    path.write_text(text.replace(line, f"const LAUNCHER = {json.dumps(ANSWERING)}"))
    driver = home.path / "driver.mjs"
    driver.write_text(DRIVER.format(plugin=path, project=home.path))
    done = subprocess.run(
        [str(NODE), str(driver)],
        env={"HOME": str(home.path), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["names"] == ["id", "server", "setup"]
    assert result["system"]["system"] == ["one", "facts", "facts"]
    added = result["parts"][1]
    assert (added["text"], added["synthetic"], added["messageID"]) == ("notes", True, "msg_1")
    assert len(result["quiet"]) == 1
    events = (home.path / "events.log").read_text().splitlines()
    assert [it.split(" ")[0] for it in events] == ["wrote", "start", "prompt"]
    written = json.loads(events[0].partition(" ")[2])
    assert (written["session_id"], written["tool_input"]) == ("s", {"filePath": "n.md"})
