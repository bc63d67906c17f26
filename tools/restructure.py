"""Move modules and rename symbols of Ricordo, everywhere at once, as a plan says.

    python tools/restructure.py PLAN

PLAN is a folder with up to six files, such as `tools/layout`. Modules are named without the leading
`ricordo.`:

layout.txt      `new.module < old.module other.module`: where modules go. Several are merged,
                each behind those that it imports; the first one gives the docstring.
files.txt       `old/file.toml > new/file.toml`: where data files go, below app/ricordo/.
packages.txt    `new.package: The docstring of its __init__.`
docstrings.txt  `new.module: The docstring of a module that moves.`
symbols.txt     `old.module.Old > New`: a class, function or constant at the top of a module,
                renamed where it is defined and imported, and nowhere else.
tokens.txt      `old > new`: every identifier of that name in all code: attributes, parameters
                and local names too. A file that uses the new name already is reported.

Dotted names and paths in strings, pages and configuration follow. Needs libcst, which the project
itself does not use.
"""

from __future__ import annotations

import graphlib
import io
import re
import subprocess
import sys
import tokenize
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import libcst as cst
from libcst.metadata import (
    Assignment,
    GlobalScope,
    ImportAssignment,
    MetadataWrapper,
    ScopeProvider,
)

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = "ricordo"
APP = Path("app")
SOURCES = ("app", "tests")
TEXTS = ("pyproject.toml", "Makefile", ".ci", "docs", "README.md", "tests")


def python_files() -> list[Path]:
    """Return all Python files that git tracks in the sources."""
    listed = subprocess.run(
        ["git", "ls-files", *(f"{folder}/*.py" for folder in SOURCES)],
        capture_output=True,
        text=True,
        check=True,
    )
    return [Path(line) for line in listed.stdout.split("\n") if line]


def module_of(path: Path) -> str | None:
    """Return the dotted name of a module of the package without its root, None for other files."""
    if path.parts[0] != APP.name:
        return None
    parts = list(path.with_suffix("").parts[2:])
    if parts and parts[-1] == "__init__":
        parts.pop()
    return ".".join(parts)


def path_of(module: str) -> Path:
    """Return the file of a module that is no package."""
    return APP / ROOT / Path(*module.split(".")).with_suffix(".py")


def dotted(node: cst.BaseExpression | None) -> str:
    """Return `a.b.c` for an expression of names and attributes."""
    if isinstance(node, cst.Attribute):
        return f"{dotted(node.value)}.{node.attr.value}"
    return node.value if isinstance(node, cst.Name) else ""


def expression(name: str) -> cst.Name | cst.Attribute:
    """Return `a.b.c` as an expression."""
    first, *others = name.split(".")
    node: cst.Name | cst.Attribute = cst.Name(first)
    for part in others:
        node = cst.Attribute(node, cst.Name(part))
    return node


def pairs(path: Path, sign: str) -> list[tuple[str, str]]:
    """Return the lines of a file as pairs, parted at a sign; none where there is no file."""
    if not path.exists():
        return []
    lines = [line.strip() for line in path.read_text().split("\n")]
    parted = [line.partition(sign) for line in lines if line and not line.startswith("#")]
    return [(first.strip(), second.strip()) for first, _, second in parted]


class Plan:
    """What moves where, and what is renamed."""

    def __init__(self, folder: Path) -> None:
        """Read the plan from the files of a folder, those of them that are there."""
        self.modules = {
            old: new for new, olds in pairs(folder / "layout.txt", "<") for old in olds.split()
        }
        self.files = dict(pairs(folder / "files.txt", ">"))
        self.packages = dict(pairs(folder / "packages.txt", ": "))
        self.docstrings = dict(pairs(folder / "docstrings.txt", ": "))
        self.tokens = dict(pairs(folder / "tokens.txt", ">"))
        self.symbols: dict[str, dict[str, str]] = defaultdict(dict)
        for name, new in pairs(folder / "symbols.txt", ">"):
            module, _, old = name.rpartition(".")
            self.symbols[module][old] = new

    def new_module(self, module: str) -> str:
        """Return where a module stands afterwards."""
        return self.modules.get(module, module)


class Rewriter(cst.CSTTransformer):
    """Rewrites the imports of one file, and the names in it that stand for renamed symbols."""

    def __init__(self, plan: Plan, renamed: dict[cst.CSTNode, str], known: set[str]) -> None:
        """`renamed` has the nodes that get another name, `known` all modules before the moves."""
        self._plan = plan
        self._renamed = renamed
        self._known = known

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.Name:
        """Give a node its new name."""
        new = self._renamed.get(original_node)
        return updated_node if new is None else updated_node.with_changes(value=new)

    def leave_ImportFrom(
        self, original_node: cst.ImportFrom, updated_node: cst.ImportFrom
    ) -> cst.ImportFrom | cst.FlattenSentinel[cst.ImportFrom]:
        """Import from where the symbols and modules stand afterwards."""
        source = dotted(original_node.module)
        if source != ROOT and not source.startswith(f"{ROOT}."):
            return updated_node
        if isinstance(updated_node.names, cst.ImportStar):
            return updated_node
        module = source[len(ROOT) + 1 :]
        by_source: dict[str, list[cst.ImportAlias]] = defaultdict(list)
        for alias in updated_node.names:
            name = dotted(alias.name)
            whole = f"{module}.{name}" if module else name
            if whole in self._known:  # a module that is imported under its name
                package, _, last = self._plan.new_module(whole).rpartition(".")
                if last != name and alias.asname is None:
                    alias = alias.with_changes(
                        asname=cst.AsName(
                            name=cst.Name(name),
                            whitespace_before_as=cst.SimpleWhitespace(" "),
                            whitespace_after_as=cst.SimpleWhitespace(" "),
                        )
                    )
                alias = alias.with_changes(name=cst.Name(last))
                by_source[f"{ROOT}.{package}" if package else ROOT].append(alias)
                continue
            new = self._plan.symbols.get(module, {}).get(name)
            if new is not None:
                alias = alias.with_changes(name=cst.Name(new))
            target = self._plan.new_module(module)
            by_source[f"{ROOT}.{target}" if target else ROOT].append(alias)
        if len(by_source) == 1 and next(iter(by_source)) == source:
            return updated_node.with_changes(names=by_source[source])
        statements = []
        for target, aliases in by_source.items():
            aliases[-1] = aliases[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
            aliases = [
                a
                if n == len(aliases) - 1
                else a.with_changes(comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")))
                for n, a in enumerate(aliases)
            ]
            statements.append(
                updated_node.with_changes(
                    module=expression(target),
                    names=aliases,
                    lpar=cst.LeftParen() if len(aliases) > 1 else None,
                    rpar=cst.RightParen() if len(aliases) > 1 else None,
                )
            )
        if len(statements) == 1:
            return statements[0]
        return cst.FlattenSentinel(
            [
                s
                if n == len(statements) - 1
                else s.with_changes(
                    semicolon=cst.Semicolon(whitespace_after=cst.SimpleWhitespace(" "))
                )
                for n, s in enumerate(statements)
            ]
        )


def nodes_to_rename(
    wrapper: MetadataWrapper, module: str | None, plan: Plan
) -> dict[cst.CSTNode, str]:
    """Return the names in a file that stand for a renamed symbol, with their new names.

    They are those that the file defines at its top, or imports without an alias.
    """
    renamed: dict[cst.CSTNode, str] = {}
    own = plan.symbols.get(module or "", {}) if module is not None else {}
    for scope in set(wrapper.resolve(ScopeProvider).values()):
        if scope is None:
            continue
        for assignment in scope.assignments:
            new: str | None = None
            if isinstance(assignment, ImportAssignment):
                node = assignment.node
                if not isinstance(node, cst.ImportFrom) or isinstance(node.names, cst.ImportStar):
                    continue
                source = dotted(node.module)
                if not source.startswith(f"{ROOT}."):
                    continue
                table = plan.symbols.get(source[len(ROOT) + 1 :], {})
                if any(dotted(a.name) == assignment.name and a.asname is None for a in node.names):
                    new = table.get(assignment.name)
            elif isinstance(assignment, Assignment) and isinstance(scope, GlobalScope):
                new = own.get(assignment.name)
                if new is not None:
                    target = assignment.node
                    if isinstance(target, cst.FunctionDef | cst.ClassDef):
                        renamed[target.name] = new
                    elif isinstance(target, cst.Name):
                        renamed[target] = new
            if new is None:
                continue
            for access in assignment.references:
                if isinstance(access.node, cst.Name):
                    renamed[access.node] = new
                elif isinstance(access.node, cst.Attribute):
                    first: cst.BaseExpression = access.node
                    while isinstance(first, cst.Attribute):
                        first = first.value
                    renamed[first] = new
    return renamed


def rename_tokens(code: str, plan: Plan, path: Path) -> str:
    """Return code with the identifiers renamed that the plan renames everywhere."""
    if not plan.tokens or not any(old in code for old in plan.tokens):
        return code
    tokens = list(tokenize.generate_tokens(io.StringIO(code).readline))
    used = {t.string for t in tokens if t.type == tokenize.NAME}
    lines = code.split("\n")
    for t in reversed(tokens):
        new = plan.tokens.get(t.string) if t.type == tokenize.NAME else None
        if new is None:
            continue
        if new in used:
            print(f"{path}:{t.start[0]}: {t.string} -> {new}: the new name is used in this file")
        row, column = t.start
        line = lines[row - 1]
        lines[row - 1] = line[:column] + new + line[column + len(t.string) :]
    return "\n".join(lines)


def is_type_checking(statement: cst.BaseStatement) -> bool:
    """Return whether a statement is `if TYPE_CHECKING:`."""
    return isinstance(statement, cst.If) and dotted(statement.test) == "TYPE_CHECKING"


def is_import(statement: cst.BaseStatement) -> bool:
    """Return whether a statement only imports."""
    return isinstance(statement, cst.SimpleStatementLine) and all(
        isinstance(part, cst.Import | cst.ImportFrom) for part in statement.body
    )


def docstring_of(module: cst.Module) -> cst.BaseStatement | None:
    """Return the statement that is the docstring of a module."""
    if module.body and module.get_docstring() is not None:
        return module.body[0]
    return None


def imported(statement: cst.BaseStatement) -> list[tuple[str, str]]:
    """Return what an import statement imports: source and what it is called here."""
    names = []
    for part in statement.body:  # type: ignore[attr-defined]
        if isinstance(part, cst.ImportFrom) and not isinstance(part.names, cst.ImportStar):
            source = dotted(part.module)
            for alias in part.names:
                called = alias.evaluated_alias or dotted(alias.name)
                names.append((f"{source}:{dotted(alias.name)}", called))
        elif isinstance(part, cst.Import):
            for alias in part.names:
                called = alias.evaluated_alias or dotted(alias.name)
                names.append((dotted(alias.name), called))
    return names


def without_imports_of(
    statement: cst.BaseStatement, gone: set[str], have: set[tuple[str, str]]
) -> cst.BaseStatement | None:
    """Return an import without what comes from `gone` modules and what the file has already."""
    parts = []
    for part in statement.body:  # type: ignore[attr-defined]
        if isinstance(part, cst.ImportFrom) and not isinstance(part.names, cst.ImportStar):
            source = dotted(part.module)
            if source in gone:
                continue
            aliases = [
                a
                for a in part.names
                if (f"{source}:{dotted(a.name)}", a.evaluated_alias or dotted(a.name)) not in have
            ]
            if not aliases:
                continue
            aliases[-1] = aliases[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
            part = part.with_changes(names=aliases)
        parts.append(part.with_changes(semicolon=cst.MaybeSentinel.DEFAULT))
    if not parts:
        return None
    if len(parts) > 1:
        parts = [
            p
            if n == len(parts) - 1
            else p.with_changes(semicolon=cst.Semicolon(whitespace_after=cst.SimpleWhitespace(" ")))
            for n, p in enumerate(parts)
        ]
    return statement.with_changes(body=parts)


def top_names(module: cst.Module) -> list[str]:
    """Return the names that a module defines at its top."""
    names = []
    for statement in module.body:
        if isinstance(statement, cst.FunctionDef | cst.ClassDef):
            names.append(statement.name.value)
        elif isinstance(statement, cst.SimpleStatementLine):
            for part in statement.body:
                if isinstance(part, cst.Assign):
                    names += [dotted(t.target) for t in part.targets if dotted(t.target)]
                elif isinstance(part, cst.AnnAssign) and dotted(part.target):
                    names.append(dotted(part.target))
    return names


def merge(target: str, codes: dict[str, str], docstring: str | None) -> str:
    """Return the code of one module made of several, by their old names."""
    gone = {f"{ROOT}.{target}"}
    defined: dict[str, str] = {}
    have: set[tuple[str, str]] = set()
    head: list[cst.BaseStatement] = []
    typing: list[cst.BaseStatement] = []
    body: list[cst.BaseStatement] = []
    first_docstring = docstring_of(cst.parse_module(next(iter(codes.values()))))
    for name, code in in_order(codes, target).items():
        module = cst.parse_module(code)
        for symbol in top_names(module):
            if symbol in defined and symbol != "TYPE_CHECKING":
                print(f"{target}: {symbol} is defined by {defined[symbol]} and by {name}")
            defined[symbol] = name
        statements = list(module.body)
        own_docstring = docstring_of(module)
        if own_docstring is not None:
            statements = statements[1:]
        for statement in statements:
            if is_import(statement):
                kept = without_imports_of(statement, gone, have)
                if kept is not None:
                    have.update(imported(kept))
                    head.append(kept)
            elif is_type_checking(statement):
                for inner in statement.body.body:  # type: ignore[attr-defined]
                    kept = without_imports_of(inner, gone, have) if is_import(inner) else inner
                    if kept is not None:
                        typing.append(kept)
            elif "TYPE_CHECKING" not in top_names(cst.Module([statement])):
                body.append(statement)
            elif not any(statement.deep_equals(other) for other in head):
                head.append(statement)  # `TYPE_CHECKING = False`, where typing is not imported
    # what is imported at run time need not be imported for types once more
    typing = [
        s
        for t in typing
        if (s := without_imports_of(t, gone, have) if is_import(t) else t) is not None
    ]
    head.sort(
        key=lambda s: (
            "__future__" not in {dotted(p.module) for p in s.body if isinstance(p, cst.ImportFrom)}
        )
    )  # type: ignore[attr-defined]
    if typing:
        head.append(cst.If(test=cst.Name("TYPE_CHECKING"), body=cst.IndentedBlock(body=typing)))
    top: list[cst.BaseStatement] = []
    if docstring is not None:
        top.append(cst.SimpleStatementLine([cst.Expr(cst.SimpleString(f'"""{docstring}"""'))]))
    elif first_docstring is not None:
        top.append(first_docstring)
    return cst.Module(body=[*top, *head, *body]).code


def with_docstring(code: str, docstring: str) -> str:
    """Return the code of a module with another docstring."""
    module = cst.parse_module(code)
    statement = cst.SimpleStatementLine([cst.Expr(cst.SimpleString(f'"""{docstring}"""'))])
    rest = module.body[1:] if docstring_of(module) is not None else module.body
    return module.with_changes(body=[statement, *rest]).code


def in_strings(code: str, change: Callable[[str], str]) -> str:
    """Return code with its strings and comments changed, and nothing else of it."""
    lines = code.split("\n")
    texts = {tokenize.STRING, tokenize.COMMENT, getattr(tokenize, "FSTRING_MIDDLE", -1)}
    for token in reversed(list(tokenize.generate_tokens(io.StringIO(code).readline))):
        if token.type not in texts or (new := change(token.string)) == token.string:
            continue
        (first, start), (last, end) = token.start, token.end
        lines[first - 1 : last] = (lines[first - 1][:start] + new + lines[last - 1][end:]).split(
            "\n"
        )
    return "\n".join(lines)


def in_order(codes: dict[str, str], target: str) -> dict[str, str]:
    """Return modules to be merged, each behind those of them that it imports at its top."""
    wanted = {
        name: {
            source
            for statement in cst.parse_module(code).body
            if is_import(statement)
            for part in statement.body  # type: ignore[attr-defined]
            if isinstance(part, cst.ImportFrom)
            for source in codes
            if dotted(part.module) == f"{ROOT}.{target}"
            and not isinstance(part.names, cst.ImportStar)
            and any(
                dotted(a.name) in top_names(cst.parse_module(codes[source])) for a in part.names
            )
            and source != name
        }
        for name, code in codes.items()
    }
    return {name: codes[name] for name in graphlib.TopologicalSorter(wanted).static_order()}


def rewrite_texts(plan: Plan) -> None:
    """Have dotted names and paths in strings, pages and configuration follow the modules."""
    table: dict[str, str] = {}
    for old, new in plan.modules.items():
        table[f"{ROOT}.{old}"] = f"{ROOT}.{new}"
        table[f"{ROOT}/{old.replace('.', '/')}.py"] = f"{ROOT}/{new.replace('.', '/')}.py"
    table.update(plan.files)
    names = sorted(table, key=len, reverse=True)
    if not names:
        return
    pattern = re.compile(r"(?<![\w/])(?:" + "|".join(re.escape(n) for n in names) + r")(?![\w])")
    listed = subprocess.run(
        ["git", "ls-files", *TEXTS, "app"], capture_output=True, text=True, check=True
    ).stdout.split("\n")
    for name in listed:
        path = Path(name)
        if not name or path.suffix in {".svg", ".raw"} or not path.is_file():
            continue
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue

        changed = (
            in_strings(text, lambda part: pattern.sub(lambda match: table[match.group()], part))
            if path.suffix == ".py"
            else pattern.sub(lambda match: table[match.group()], text)
        )
        if changed != text:
            path.write_text(changed)


def resolve_collisions(plan: Plan) -> None:
    """Have the plan rename names that two modules to be merged both define.

    The later one gets the last word of its old module in front: `_lines` of `inbox` becomes
    `_inbox_lines`.
    """
    owners: dict[tuple[str, str], str] = {}
    for old, new in plan.modules.items():
        word = old.rpartition(".")[2]
        for name in top_names(cst.parse_module(path_of(old).read_text())):
            name = plan.symbols.get(old, {}).get(name, name)
            if name == "TYPE_CHECKING":
                continue
            if (new, name) in owners:
                bare = name.lstrip("_")
                front = word.upper() if name.isupper() else word
                other = name[: len(name) - len(bare)] + f"{front}_{bare}"
                print(f"{new}: {name} of {old} becomes {other}")
                plan.symbols[old][name] = other
                name = other
            owners[new, name] = old


def remove_empty_packages() -> None:
    """Remove packages of which nothing but `__init__.py` is left."""
    for init in sorted((APP / ROOT).rglob("__init__.py"), reverse=True):
        others = [p for p in init.parent.iterdir() if p.name not in {"__init__.py", "__pycache__"}]
        if not others:
            subprocess.run(["git", "rm", "-qf", init], check=True)


def main() -> None:
    """Carry a plan out."""
    plan = Plan(Path(sys.argv[1]))
    files = python_files()
    known = {m for f in files if (m := module_of(f))}
    for old in plan.modules:
        if old not in known:
            sys.exit(f"there is no module {old}")
    resolve_collisions(plan)
    codes: dict[Path, str] = {}
    for path in files:
        wrapper = MetadataWrapper(cst.parse_module(path.read_text()), unsafe_skip_copy=True)
        module = module_of(path)
        renamed = nodes_to_rename(wrapper, module, plan) if plan.symbols else {}
        code = wrapper.module.visit(Rewriter(plan, renamed, known)).code
        codes[path] = rename_tokens(code, plan, path)
    sources: dict[str, list[str]] = defaultdict(list)
    for old, new in plan.modules.items():
        sources[new].append(old)
    for new in list(sources):
        if new in known and new not in plan.modules:
            sources[new].insert(0, new)  # merged into a module that stays
    for package, docstring in plan.packages.items():
        folder = APP / ROOT / Path(*package.split("."))
        folder.mkdir(parents=True, exist_ok=True)
        init = folder / "__init__.py"
        if not init.exists():
            init.write_text(f'"""{docstring}"""\n')
            subprocess.run(["git", "add", init], check=True)
    moved: dict[Path, str] = {}
    for new, olds in sources.items():
        parts = {old: codes.pop(path_of(old)) for old in olds}
        if len(parts) == 1:
            (code,) = parts.values()
            if new in plan.docstrings:
                code = with_docstring(code, plan.docstrings[new])
        else:
            code = merge(new, parts, plan.docstrings.get(new))
        moved[path_of(new)] = code
    for path, code in codes.items():
        if code != path.read_text():
            path.write_text(code)
    for new, olds in sources.items():
        target = path_of(new)
        target.parent.mkdir(parents=True, exist_ok=True)
        for number, old in enumerate(olds):
            if old == new:
                continue
            if number == 0 and not target.exists():
                subprocess.run(["git", "mv", path_of(old), target], check=True)
            else:
                subprocess.run(["git", "rm", "-qf", path_of(old)], check=True)
    for path, code in moved.items():
        path.write_text(code)
        subprocess.run(["git", "add", path], check=True)
    for old_file, new_file in plan.files.items():
        source = APP / ROOT / old_file
        if source.exists() and source.is_file():
            (APP / ROOT / new_file).parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(["git", "mv", source, APP / ROOT / new_file], check=True)
    remove_empty_packages()
    rewrite_texts(plan)
    subprocess.run(
        [
            ".venv/bin/ruff",
            "check",
            "-q",
            "--fix",
            "--select",
            "I,F401,F811",
            "--output-format=concise",
            *SOURCES,
        ],
        check=False,
    )
    subprocess.run([".venv/bin/ruff", "format", "-q", *SOURCES], check=True)


if __name__ == "__main__":
    main()
