"""Rename functions, classes, members and parameters of Ricordo everywhere, by their types.

    python tools/rename_members.py LIST...

Each line of a list says `module.path:Class.member > new`, `module.path:function > new` or
`module.path:function.parameter > new`, without the leading `ricordo.`. All names are looked up in
the sources as they are, then all edits are made at once. Names in strings follow where a test
patches them. Needs basedpyright, which the project itself does not use.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path.cwd()
APP = ROOT / "app" / "ricordo"
SOURCES = ("app", "tests", "tools")


class Renaming(NamedTuple):
    """One line of a list."""

    module: str
    path: tuple[str, ...]
    new: str

    @property
    def old(self) -> str:
        """The present name."""
        return self.path[-1]

    def __str__(self) -> str:
        return f"{self.module}:{'.'.join(self.path)} > {self.new}"


class Server:
    """A language server, spoken to over its standard streams (Language Server Protocol 3.17)."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            ["basedpyright-langserver", "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._number = 0
        folder = {"uri": ROOT.as_uri(), "name": "ricordo"}
        self.ask(
            "initialize",
            {"processId": None, "rootUri": ROOT.as_uri(), "workspaceFolders": [folder],
             "capabilities": {"workspace": {"configuration": True, "workspaceFolders": True}}},
        )  # fmt: skip
        self._send({"method": "initialized", "params": {}})

    def open(self, file: Path) -> None:
        """Open a file, as an editor does."""
        document = {"uri": file.as_uri(), "languageId": "python", "version": 1,
                    "text": file.read_text("utf-8")}  # fmt: skip
        self._send({"method": "textDocument/didOpen", "params": {"textDocument": document}})

    def ask(self, method: str, params: dict[str, Any]) -> Any:
        """Return the result of a request; answer what the server itself asks meanwhile."""
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        while True:
            message = self._receive()
            if "method" in message:
                self._answer(message)
            elif message.get("id") == self._number:
                if "error" in message:
                    raise LookupError(message["error"]["message"])
                return message["result"]

    def _answer(self, message: dict[str, Any]) -> None:
        if "id" not in message:
            return
        result: Any = None
        if message["method"] == "workspace/configuration":
            python = str(ROOT / ".venv" / "bin" / "python")
            analysis = {"extraPaths": ["app", "."], "diagnosticMode": "openFilesOnly",
                        "typeCheckingMode": "off"}  # fmt: skip
            known = {
                "python": {"pythonPath": python, "analysis": analysis},
                "basedpyright": {"analysis": analysis},
                "basedpyright.analysis": analysis,
            }
            result = [known.get(item.get("section", ""), {}) for item in message["params"]["items"]]
        self._send({"id": message["id"], "result": result})

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self._process.stdin.flush()

    def _receive(self) -> dict[str, Any]:
        assert self._process.stdout
        length = 0
        while line := self._process.stdout.readline().strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        message: dict[str, Any] = json.loads(self._process.stdout.read(length))
        return message


def read_lists(files: list[str]) -> list[Renaming]:
    """Return what the lists say; lines of another form are reported."""
    renamings: dict[tuple[str, tuple[str, ...]], Renaming] = {}
    for file in files:
        for line in Path(file).read_text("utf-8").split("\n"):
            found = re.fullmatch(r"\s*([\w.]+):([\w.]+)\s*>\s*(\w+)\s*(#.*)?", line)
            if found:
                renaming = Renaming(
                    found[1].removeprefix("ricordo."), (*found[2].split("."),), found[3]
                )
                if renaming.old != renaming.new:
                    renamings[renaming.module, renaming.path] = renaming
            elif line.strip() and not line.lstrip().startswith("#"):
                print("not read:", line)
    return list(renamings.values())


def file_of(module: str) -> Path:
    """Return the file of a module."""
    path = APP.joinpath(*module.split(".")) if module else APP
    return path / "__init__.py" if (path / "__init__.py").exists() else path.with_suffix(".py")


def find_name(node: ast.AST, path: tuple[str, ...]) -> ast.AST | None:
    """Return the node in which the last name of `path` is defined below `node`; None where there is
    none.
    """
    name, *rest = path
    for child in (
        ast.walk(node)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        else ast.iter_child_nodes(node)
    ):
        if (
            isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            and child.name == name
        ):
            return find_name(child, (*rest,)) if rest else child
        if rest:
            if isinstance(child, ast.If | ast.Try):
                below = find_name(child, path)
                if below:
                    return below
            continue
        if isinstance(child, ast.arg) and child.arg == name:
            return child
        if isinstance(child, ast.AnnAssign | ast.Assign):
            for target in child.targets if isinstance(child, ast.Assign) else [child.target]:
                for part in ast.walk(target):
                    if isinstance(part, ast.Name) and part.id == name:
                        return part
                    if isinstance(part, ast.Attribute) and part.attr == name:
                        return part
        if isinstance(child, ast.If | ast.Try | ast.With):
            below = find_name(child, path)
            if below:
                return below
    if isinstance(node, ast.ClassDef) and not rest:
        for method in node.body:
            if isinstance(method, ast.FunctionDef):
                for part in ast.walk(method):
                    if (isinstance(part, ast.Attribute) and part.attr == name
                            and isinstance(part.ctx, ast.Store)):  # fmt: skip
                        return part
    return None


def position_of(node: ast.AST, text: str) -> tuple[int, int]:
    """Return line and character (UTF-16), from 0, at which the name of a node is."""
    lines = text.split("\n")
    line = node.lineno - 1
    start = node.col_offset
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        start = lines[line].index(f" {node.name}", start) + 1
    elif isinstance(node, ast.Attribute):
        line = (node.end_lineno or 1) - 1
        return line, (node.end_col_offset or 0) - len(node.attr)
    else:
        start = len(lines[line].encode()[:start].decode())
    return line, start


def edits_of(server: Server, renaming: Renaming) -> list[tuple[str, dict[str, Any]]]:
    """Return the edits of one renaming, each with the file that it is in."""
    file = file_of(renaming.module)
    text = file.read_text("utf-8")
    node = find_name(ast.parse(text), renaming.path)
    if node is None:
        raise LookupError("is not defined there")
    line, character = position_of(node, text)
    asked = {"textDocument": {"uri": file.as_uri()}, "newName": renaming.new,
             "position": {"line": line, "character": character}}  # fmt: skip
    answer = server.ask("textDocument/rename", asked)
    if not answer:
        raise LookupError("cannot be renamed")
    changes = dict(answer.get("changes") or {})
    for change in answer.get("documentChanges") or []:
        changes.setdefault(change["textDocument"]["uri"], []).extend(change["edits"])
    return [(uri, edit) for uri, edits in changes.items() for edit in edits]


def apply(uri: str, edits: list[dict[str, Any]]) -> None:
    """Make the edits of one file."""
    file = Path(uri.removeprefix("file://"))
    lines = file.read_text("utf-8").split("\n")
    for edit in sorted(edits, key=lambda it: tuple(it["range"]["start"].values()), reverse=True):
        start, end = edit["range"]["start"], edit["range"]["end"]
        row = lines[start["line"]].encode("utf-16-le")
        row = (
            row[: start["character"] * 2]
            + edit["newText"].encode("utf-16-le")
            + row[end["character"] * 2 :]
        )
        lines[start["line"]] = row.decode("utf-16-le")
    file.write_text("\n".join(lines), "utf-8")


def rename_in_strings(renamings: list[Renaming]) -> None:
    """Rename what tests patch by a string: `setattr(x, "old"` and `"ricordo.module.old"`."""
    news = defaultdict(set)
    for renaming in renamings:
        news[renaming.old].add(renaming.new)
    for file in sorted((ROOT / "tests").rglob("*.py")):
        text = before = file.read_text("utf-8")
        for renaming in renamings:
            if renaming.old not in text:
                continue
            dotted = f"ricordo.{renaming.module}.{'.'.join(renaming.path)}"
            text = text.replace(f'"{dotted}"', f'"{dotted[: -len(renaming.old)]}{renaming.new}"')
            if len(news[renaming.old]) == 1:
                text = re.sub(
                    rf'(setattr\([^,\n]+,\s*)"{renaming.old}"', rf'\1"{renaming.new}"', text
                )
        if text != before:
            file.write_text(text, "utf-8")


def main(lists: list[str]) -> None:
    """Rename what the lists name, and report what could not be renamed."""
    server = Server()
    for folder in SOURCES:
        for file in sorted((ROOT / folder).rglob("*.py")):
            server.open(file)
    edits: dict[str, dict[tuple[int, int], dict[str, Any]]] = defaultdict(dict)
    renamings = read_lists(lists)
    done = []
    for renaming in renamings:
        try:
            its_edits = edits_of(server, renaming)
        except (LookupError, OSError, SyntaxError, ValueError) as error:
            print(f"{renaming}: {error}", flush=True)
            continue
        for uri, edit in its_edits:
            start = edit["range"]["start"]
            place = (start["line"], start["character"])
            before = edits[uri].get(place)
            if before and before["newText"] != edit["newText"]:
                print(f"{renaming}: {uri}:{start['line'] + 1} is also to be {before['newText']}")
            edits[uri][place] = edit
        done.append(renaming)
        print(f"{renaming}: {len(its_edits)} places", flush=True)
    for uri, places in edits.items():
        apply(uri, list(places.values()))
    rename_in_strings(done)


if __name__ == "__main__":
    main(sys.argv[1:])
