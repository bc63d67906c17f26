"""The JSON documents of the command line: their schemas and their page, from one description.

`python -m tools.json_schemas` writes `app/ricordo/cli/schemas/*.json` and `docs/json.md`. A field
whose name ends with `?` may be missing; all others are always there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ricordo.errors import NothingToUndo, OutputFailed, RicordoError
from ricordo.llm.failure import FailureCause, ModelFailed
from ricordo.services.connect.connection import ConnectionState, FileMatch

Schema = dict[str, Any]
Fields = Mapping[str, Schema]

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "app" / "ricordo" / "cli" / "schemas"
PAGE = ROOT / "docs" / "json.md"
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def text(about: str, *values: str) -> Schema:
    """Return the schema of a text; with `values` it is one of them."""
    return {"type": "string", **({"enum": list(values)} if values else {}), "description": about}


def whole(about: str) -> Schema:
    """Return the schema of a number from 0."""
    return {"type": "integer", "minimum": 0, "description": about}


def number(about: str) -> Schema:
    """Return the schema of a number that need not be whole."""
    return {"type": "number", "description": about}


def flag(about: str) -> Schema:
    """Return the schema of true or false."""
    return {"type": "boolean", "description": about}


def maybe(schema: Schema) -> Schema:
    """Return the schema of what may also be null."""
    if "$ref" in schema:
        plain = {key: value for key, value in schema.items() if key != "description"}
        return {"anyOf": [plain, {"type": "null"}], "description": schema["description"]}
    values = {"enum": [*schema["enum"], None]} if "enum" in schema else {}
    return {**schema, "type": [schema["type"], "null"], **values}


def listing(of: Schema, about: str) -> Schema:
    """Return the schema of a list."""
    return {"type": "array", "items": of, "description": about}


def texts(about: str) -> Schema:
    """Return the schema of a list of texts."""
    return listing({"type": "string"}, about)


def record(about: str, fields: Fields) -> Schema:
    """Return the schema of an object with these fields."""
    return {
        "type": "object",
        "properties": {name.removesuffix("?"): schema for name, schema in fields.items()},
        "required": [name for name in fields if not name.endswith("?")],
        "description": about,
    }


def counts(about: str) -> Schema:
    """Return the schema of an object with numbers by name."""
    return {"type": "object", "additionalProperties": {"type": "integer"}, "description": about}


def anything(about: str) -> Schema:
    """Return the schema of an object whose fields are described elsewhere."""
    return {"type": "object", "additionalProperties": True, "description": about}


def part(name: str, about: str = "") -> Schema:
    """Return a reference to one of PARTS."""
    return {"$ref": f"#/$defs/{name}", "description": about or PARTS[name]["description"]}


TIME = "ISO 8601, with time zone"
PATH = "relative to the memory"
CHANGE: Fields = {
    "done": maybe(text("What was done, in words; null if nothing had to be changed.")),
    "changed": listing(
        {"$ref": "#/$defs/changed"}, "The changed files, else the decisions that were made."
    ),
    "merged": texts("Paths of files that were merged with changes by other programs."),
    "warnings": texts("What to know of the change, such as a link that could not be updated."),
}
"""The fields of every document on something that was changed."""

_NAMED_TEXTS: Schema = {"type": "object", "additionalProperties": {"type": "string"}}

PARTS: dict[str, Schema] = {
    "changed": record(
        "One thing that was changed.",
        {
            "kind": text(
                "`created`, `changed`, `deleted` or `renamed` for a file; else the decision: "
                "`dismissed`, `kept`, `forgotten`, `dropped`, `purged`, `allowed`, `withheld`, "
                "`undone` or `redone`."
            ),
            "path": maybe(text(f"The file: {PATH}, or absolute if it belongs to no memory.")),
            "from": maybe(text("Its path before a renaming.")),
            "id": maybe(
                text(
                    "What was decided on: the id of a finding, conflict, proposal or value, or the "
                    "words of a search."
                )
            ),
        },
    ),
    "memory": record(
        "A memory.",
        {
            "path": text("The directory, absolute."),
            "kind": text("Its layout, such as `claude`, `codex`, `wiki` or `folder`."),
            "notes": whole("The number of notes."),
            "bytes": whole("Their size."),
        },
    ),
    "load": record(
        "What an agent loads of the memory at session start.",
        {
            "kind": text("The layout of the memory."),
            "lines": whole("Lines of the stripped text."),
            "units": whole("UTF-16 code units of the stripped text."),
            "max_lines": maybe(whole("The limit of lines; null if there is none.")),
            "max_units": maybe(whole("The limit of units; null if there is none.")),
            "cut_at_line": maybe(
                whole("The first line of the file that is not loaded, from 1; null if all is.")
            ),
            "dropped": listing(
                record(
                    "An entry that is not loaded.",
                    {
                        "line": whole("Its line, from 1."),
                        "title": text("Its title."),
                        "path": text(f"The note that it points to, {PATH}."),
                    },
                ),
                "The entries from there on.",
            ),
        },
    ),
    "finding": record(
        "A finding of a rule.",
        {
            "rule": text("The name of the rule."),
            "severity": text("How much it matters.", "error", "warning", "info"),
            "path": text(f"The file, {PATH}; empty for the memory as a whole."),
            "line": whole("The line, from 1; 0 for the whole file."),
            "column?": whole(
                "In the findings of `lint`: the column in characters, from 1; 0 for the whole file."
            ),
            "message": text("What is wrong."),
            "evidence": texts("What it is based on."),
            "fix": maybe(text("What its fix would do; null if there is none.")),
            "safe": flag("Whether `lint --fix` applies that fix without `--unsafe`."),
            "dismissed": flag("Whether you dismissed it."),
            "id": text("Its id, which stays the same while the cause exists."),
            "members?": listing(
                {"$ref": "#/$defs/finding"},
                "The findings of a rule that fires on more than a fifth of a memory, or of a rule "
                "on size, age or form: they are shown, counted and dismissed as this one.",
            ),
        },
    ),
    "example": record(
        "A small memory that a rule reports, or does not.",
        {
            "memory": _NAMED_TEXTS | {"description": "The text of each file, by path."},
            "removed": texts("Of a good example: the files that only the bad one has."),
            "encodings": _NAMED_TEXTS | {"description": "Encodings other than UTF-8, by path."},
            "project": _NAMED_TEXTS | {"description": "The files of its project, by path."},
            "today": maybe(text("The day on which it is judged, if that matters.")),
            "read": maybe(texts("The notes that agents have read, if that matters.")),
            "reports": texts("What the rule reports, as `path:line: message`."),
        },
    ),
    "rule": record(
        "A rule of `lint`.",
        {
            "name": text("Its name."),
            "severity": text("The default.", "error", "warning", "info"),
            "set_to": maybe(text("The severity in your settings, or `off`; null if not set.")),
            "group": text("What it is about."),
            "summary": text("The kind of finding, in one line."),
            "checks": text("What it reports and what it leaves out."),
            "why": text("Why that matters."),
            "dismiss": text("When such a finding is no problem."),
            "resolve": text("What to do about it."),
            "fix": maybe(text("What its automatic fix does; null if it has none.")),
            "bad": {"$ref": "#/$defs/example", "description": "An example that it reports."},
            "good": {"$ref": "#/$defs/example", "description": "The same without the problem."},
            "thresholds": {
                "type": "object",
                "additionalProperties": {"type": "number"},
                "description": "The limits that settings can change, with their defaults.",
            },
            "precision": maybe(number("The measured share of right findings, 0 to 1.")),
            "url": text("Its page on the web."),
        },
    ),
    "summary": record(
        "The number of findings of each severity, without dismissed ones.",
        {
            "error": whole("Errors."),
            "warning": whole("Warnings."),
            "info": whole("Remarks that need no action."),
        },
    ),
    "version": record(
        "A version of a note.",
        {
            "id": text("Its id, for `restore --at`."),
            "path": text(f"The file at that time, {PATH}."),
            "at": text(f"When it was written, else recorded; {TIME}."),
            "by": text("Who wrote it."),
            "reason": text("Why; empty if unknown."),
            "kind": text("What happened.", "created", "changed", "deleted", "renamed", "first"),
            "bytes": maybe(whole("Its size; null if its text is not stored.")),
        },
    ),
    "cause": record(
        "What wrote a note.",
        {
            "session": text("The id of the session."),
            "title": maybe(text("The title of the session.")),
            "agent": text("The agent."),
            "at": maybe(text(f"When; {TIME}.")),
            "deed": maybe(text("What the agent did to the file.")),
            "speaker": text("Whose words the quote is."),
            "quote": maybe(text("The message that caused it.")),
            "turn": maybe(text("The message in its transcript.")),
        },
    ),
    "proposal": record(
        "A proposed change.",
        {
            "op": text("The operation, such as `create`, `replace` or `retire`."),
            "path": text(f"The note, {PATH}."),
            "reason": text("Why."),
            "evidence": listing(
                record(
                    "A quotation.",
                    {
                        "source": text("The transcript and the message, or a note."),
                        "quote": text("The words."),
                        "found": flag("Whether the source contains them exactly."),
                    },
                ),
                "Your words that it is based on.",
            ),
            "diff": text("The change as a unified diff."),
            "warnings": texts("Why to look at it before applying it."),
            "id": text("Its id, for `pending --apply` and `--drop`."),
            "by": maybe(text("The agent and its session that submitted it; null for a curation.")),
        },
    ),
    "unapplied": record(
        "A proposal that was not applied.",
        {"id": text("Its id."), "why": text("Why it was not applied.")},
    ),
    "estimate": record(
        "The most that an engine may cost.",
        {
            "input_tokens": whole("Tokens sent."),
            "output_tokens": whole("Tokens written."),
            "usd": maybe(number("US dollars; null if the price is unknown.")),
        },
    ),
    "usage": record(
        "What an engine cost.",
        {
            "input_tokens": whole("Tokens sent."),
            "output_tokens": whole("Tokens written."),
            "usd": maybe(number("US dollars; null if the price is unknown.")),
        },
    ),
    "error": record(
        "An error.",
        {
            "kind": text("Its kind: one of the table below; there may be new ones."),
            "message": text("What happened."),
            "hint": maybe(text("What to do next, if that is known.")),
            "changed": maybe(text("What was changed nevertheless, in words; null if nothing was.")),
            "exit_code": whole("The exit code of the process."),
            "candidates?": texts("What an ambiguous argument may mean."),
        },
    ),
    "side": record(
        "One of two claims.",
        {
            "path": text(f"The note, {PATH}."),
            "line": whole("The line, from 1."),
            "claim": text("Its words."),
        },
    ),
}
PARTS["origin"] = {
    "anyOf": [
        record(
            "What caused a note, with its later changes by agents.",
            {
                **PARTS["cause"]["properties"],
                "changes": listing({"$ref": "#/$defs/cause"}, "Later changes, oldest first."),
            },
        ),
        record(
            "Without transcripts: the session that the note names.",
            {
                "session": text("The id of the session."),
                "changes": listing({"$ref": "#/$defs/cause"}, "Empty."),
            },
        ),
    ],
    "description": "What caused a note: that of a cause and `changes`; without transcripts only "
    "`session` and `changes`.",
}
_PAIR: Fields = {
    "id": text("Its id, for `conflicts --resolve`; it changes when a claim does."),
    "left": part("side", "One claim."),
    "right": part("side", "The other claim."),
    "reason": text("Why they contradict each other."),
    "suggestion": text("Which one to keep, and why."),
}
PARTS["opinion"] = record(
    "What a model or a program thinks of two claims.",
    {
        "verdict": text("What they are.", "conflict", "duplicate", "both-hold", "unsure"),
        "keep": text("Which one to keep.", "left", "right", "neither"),
        "reason": text("Why."),
        "model": text("Who says so."),
        "confirmed": flag(
            "Whether it was given with all of both notes, or for the second time with more of them."
        ),
    },
)
PARTS["conflict"] = record(
    "Two claims that contradict each other.",
    {**_PAIR, "opinion?": part("opinion", "The opinion on it, if there is one.")},
)
PARTS["uncertain"] = record(
    "Two claims that may contradict each other.",
    {**_PAIR, "opinion": maybe(part("opinion", "The opinion on it."))},
)
_STATEMENT: Fields = {
    "text": text("The statement, and what it quotes."),
    "section": text("What it is about."),
    "status": text(
        "How well it is proved.", "verified", "reported", "stale", "quoted", "unverified"
    ),
    "probe": maybe(text("What proves it.")),
}
PARTS["statement"] = record("A statement of a handoff.", _STATEMENT)
PARTS["report"] = record(
    "The findings of one memory.",
    {
        "schema?": text("As in a document of its own."),
        "memory": part("memory"),
        "load": part("load"),
        "findings": listing(
            {"$ref": "#/$defs/finding"}, "All of them; dismissed ones with `--dismissed`."
        ),
        "summary": part("summary"),
        "attention": whole("The errors and warnings: what needs attention."),
        "fixes?": record(
            "With `--fix` or `--diff`: the fixes.",
            {
                "applied": flag("Whether they were made: true with `--fix`."),
                "fixed": listing({"$ref": "#/$defs/finding"}, "The findings that they fix."),
                "not_fixed": listing(
                    record(
                        "A finding that stays.",
                        {
                            "id": text("Its id."),
                            "rule": text("Its rule."),
                            "path": text(f"Its file, {PATH}."),
                            "why": text("Why it is not fixed."),
                        },
                    ),
                    "The findings that stay.",
                ),
                "changes": listing(
                    record(
                        "A changed file.",
                        {"path": text(f"The file, {PATH}."), "diff": text("A unified diff.")},
                    ),
                    "The files that they change.",
                ),
            },
        ),
        **{f"{name}?": schema for name, schema in CHANGE.items()},
    },
)
_RESULT: Fields = {
    "path": text(f"The note, {PATH}."),
    "name": text("Its name."),
    "description": text("Its description."),
    "type": text("Its type; empty if it has none."),
    "score": number("How well it matches; higher is better."),
    "why": texts("Why it was found."),
    "snippet": text("The place of its text that matches."),
}
_MATCHES: Fields = {
    "line": whole("The first of these lines; 0 if only its name, path or description matches."),
    "lines": listing(
        record(
            "A matching line.",
            {
                "line": whole("Its number in the file, from 1."),
                "text": text("The line, or the part of it around the match."),
            },
        ),
        "The lines that match, at most 20.",
    ),
    "memory?": text("With `--all`: its memory."),
}


def _results(fields: Fields) -> Fields:
    return {"results": listing(record("A note that was found.", fields), "The notes, best first.")}


class Variant(NamedTuple):
    """One form of a document."""

    when: str
    """What prints it."""
    fields: Fields


def _of_note(when: str) -> Variant:
    return Variant(when, {**CHANGE, "path": text(f"The note, {PATH}.")})


_CURATION: Fields = {
    "engine": text("What proposed."),
    "model": text("The model; empty for none."),
    "prompt_version": text("The version of the prompt; empty for none."),
    "estimate": part("estimate"),
    "usage": part("usage"),
    "changes": listing({"$ref": "#/$defs/proposal"}, "The proposals."),
    "rejected": listing(
        record("A change that was rejected.", {"change": text("The change."), "why": text("Why.")}),
        "Changes that the engine proposed and that are not possible.",
    ),
    "skipped?": listing(
        record("Input that was not read.", {"source": text("The input."), "why": text("Why.")}),
        "Input that was not read, if any.",
    ),
}
_BRIEF: Fields = {
    "brief": text("The text that would be sent, redacted."),
    "input_tokens": whole("Its size in tokens."),
    "left_out": counts("What did not fit, by part."),
    "estimate?": part("estimate", "With a model or a program: the most that it may cost."),
    "redacted": listing(
        record(
            "A redacted value.",
            {
                "id": text("Its id, for `--allow`."),
                "kind": text("What it looks like."),
                "places": texts("The notes and messages that have it."),
                "count": whole("How often it would be sent."),
            },
        ),
        "The redacted values.",
    ),
    "allowed": listing(
        record(
            "A value that is sent.",
            {"id": text("Its id, for `--withhold`."), "kind": text("What it looks like.")},
        ),
        "The values that you allowed.",
    ),
}
_FILE_CHANGES = listing(
    record(
        "A changed file.",
        {
            "path": text("The file."),
            "kind": text("What happened.", "created", "changed", "deleted", "renamed"),
            "to": maybe(text("Its new path after a renaming.")),
        },
    ),
    "What changed since.",
)

_CONNECTED = record(
    "How an agent is connected.",
    {
        "name": text("Its name."),
        "state": text("Whether it is connected.", *(state.value for state in ConnectionState)),
        "installed": flag("Whether the agent is on this machine."),
        "root": text("The folder or the file that is Ricordo's own."),
        "files": listing(
            record(
                "A file that connects it.",
                {
                    "path": text("Absolute."),
                    "state": text("What is there.", *(state.value for state in FileMatch)),
                },
            ),
            "The files.",
        ),
        "hooks": texts("The command lines that the agent runs."),
        "commands": texts("The commands of the agent that `connect` runs."),
        "pending": texts("Those that have not run yet: until then it is not connected."),
        "warnings": texts("What keeps it from working, with `--status`."),
    },
)

DOCUMENTS: dict[str, tuple[Variant, ...]] = {
    "open": (
        Variant(
            "`ricordo --json`",
            {
                "memory": part("memory"),
                "load": part("load"),
                "notes": listing(
                    record(
                        "A note.",
                        {
                            "path": text(f"The note, {PATH}."),
                            "name": text("Its name."),
                            "description": text("Its description."),
                            "type": text("Its type; empty if it has none."),
                            "findings": whole("The number of its findings."),
                        },
                    ),
                    "The notes.",
                ),
                "findings": listing({"$ref": "#/$defs/finding"}, "The findings."),
                "summary": part("summary"),
            },
        ),
    ),
    "list": (
        Variant(
            "",
            {
                "memories": listing(
                    record(
                        "A memory.",
                        {
                            "path": text("The directory, absolute."),
                            "agent": text("The agent; empty if it belongs to none."),
                            "kind": text("Its layout."),
                            "project": maybe(text("The directory of its project.")),
                            "notes": whole("The number of notes."),
                            "load": part("load"),
                            "findings": part("summary"),
                        },
                    ),
                    "Every memory on this machine.",
                )
            },
        ),
    ),
    "load": (
        Variant(
            "",
            {
                **PARTS["load"]["properties"],
                "text": text(
                    "The text that an agent is given; secrets are masked without --reveal."
                ),
            },
        ),
    ),
    "show": (
        Variant(
            "",
            {
                "path": text(f"The note, {PATH}."),
                "name": text("Its name."),
                "description": text("Its description."),
                "type": text("Its type; empty if it has none."),
                "text": text("The whole file; secrets are masked without --reveal."),
                "links": listing(
                    record(
                        "A link.",
                        {
                            "target": text("What the note says."),
                            "leads": text(
                                "What it points to.", "note", "file", "nowhere", "outside"
                            ),
                            "path": text(f"The file, {PATH}; empty for none."),
                        },
                    ),
                    "Its links, without those to addresses.",
                ),
                "backlinks": texts("The notes that link to it."),
                "findings": listing({"$ref": "#/$defs/finding"}, "Its findings."),
                "origin": maybe(part("origin")),
                "versions": listing({"$ref": "#/$defs/version"}, "Its versions, newest first."),
            },
        ),
    ),
    "search": (Variant("", _results({**_RESULT, **_MATCHES})),),
    "recall": (Variant("", _results(_RESULT)),),
    "usage": (
        Variant(
            "",
            {
                "uses": listing(
                    record(
                        "How a note was used.",
                        {
                            "path": text(f"The note, {PATH}."),
                            "kind": text("By whom.", "given", "opened", "confirmed"),
                            "times": whole("How often."),
                            "last": text(f"When last; {TIME}."),
                        },
                    ),
                    "The uses, newest first.",
                ),
                "gaps": listing(
                    record(
                        "A search without results.",
                        {
                            "words": text("Its words, for `--drop`."),
                            "last": text(f"When last; {TIME}."),
                        },
                    ),
                    "Your searches without results, newest first.",
                ),
            },
        ),
        Variant("with `--drop`", CHANGE),
    ),
    "lint": (
        Variant(
            "",
            {
                name if name in PARTS["report"]["required"] else f"{name}?": schema
                for name, schema in PARTS["report"]["properties"].items()
                if name != "schema"
            },
        ),
        Variant(
            "with several PATHs, and with `--all`",
            {
                "memories": listing({"$ref": "#/$defs/report"}, "One document for each memory."),
                "errors": listing(
                    {"$ref": "#/$defs/error"},
                    "Memories that cannot be read; the exit code is that of the first of them.",
                ),
            },
        ),
        Variant("with `--dismiss`", CHANGE),
    ),
    "rule": (
        Variant("", {"rules": listing({"$ref": "#/$defs/rule"}, "All rules, by group.")}),
        Variant("with NAME", PARTS["rule"]["properties"]),
    ),
    "conflicts": (
        Variant(
            "",
            {
                "conflicts": listing({"$ref": "#/$defs/conflict"}, "The conflicts."),
                "doubts?": listing(
                    {"$ref": "#/$defs/uncertain"},
                    "With `--doubts` or `--judge`: the uncertain pairs.",
                ),
            },
        ),
        Variant("with `--resolve`", CHANGE),
    ),
    "curate": (
        Variant(
            "",
            {
                **_CURATION,
                "applied?": whole("With `--yes`: the number of applied proposals."),
                "left?": listing({"$ref": "#/$defs/unapplied"}, "With `--yes`: the others."),
                **{f"{name}?": schema for name, schema in CHANGE.items()},
            },
        ),
        Variant("with `--brief`", _BRIEF),
        Variant("with `--dry-run` and a program that was not run before", {**_CURATION, **_BRIEF}),
        Variant("with `--allow` or `--withhold`", CHANGE),
    ),
    "pending": (
        Variant(
            "",
            {
                "changes": listing({"$ref": "#/$defs/proposal"}, "The proposals still pending."),
                "applied?": texts("With `--apply`: the ids of the applied proposals."),
                "left?": listing(
                    {"$ref": "#/$defs/unapplied"}, "With `--apply`: those that were not applied."
                ),
                "dropped?": texts("With `--drop`: the ids of the dropped proposals."),
                **{f"{name}?": schema for name, schema in CHANGE.items()},
            },
        ),
    ),
    "doctor": (
        Variant(
            "",
            {
                "problems": listing(
                    record(
                        "A problem.",
                        {
                            "id": text("Its id, for `--fix`; the same while the cause exists."),
                            "check": text("The check that found it, such as `moved-project`."),
                            "severity": text("How much it matters.", "error", "warning", "info"),
                            "what": text("What is wrong."),
                            "evidence": texts("How that is known."),
                            "advice": text("What to do."),
                            "repair": maybe(text("What `--fix` would do; null for nothing.")),
                            "paths": texts("What it is about: files and folders, or names."),
                            "other_places": texts(
                                "What else holds the path of a moved project, and is left alone."
                            ),
                        },
                    ),
                    "The problems, worst first.",
                ),
                "hooks": listing(
                    record(
                        "What a hook of an agent costs, by its newest sessions.",
                        {
                            "agent": text("The agent."),
                            "event": text("The event at which it runs."),
                            "command": text("The command."),
                            "runs": whole("How often it ran."),
                            "median_ms": whole("The median of its runs, in milliseconds."),
                            "per_prompt_ms": whole(
                                "Milliseconds of all its runs, divided by the number of prompts."
                            ),
                        },
                    ),
                    "The most expensive first.",
                ),
                "summary": counts("The number of problems of each severity."),
            },
        ),
        Variant("with `--fix`", CHANGE),
    ),
    "ledger": (
        Variant(
            "",
            {
                "runs": listing(
                    record(
                        "A run of an engine.",
                        {
                            "at": text(f"When; {TIME}."),
                            "engine": text("The engine."),
                            "model": text("The model; empty for none."),
                            "prompt_version": text("The version of the prompt; empty for none."),
                            "input_tokens": whole("Tokens sent."),
                            "output_tokens": whole("Tokens written."),
                            "usd": maybe(number("US dollars; null if the price is unknown.")),
                            "accepted": whole("Proposals that you accepted."),
                            "rejected": whole("Proposals that you dropped."),
                            "activity_tokens": whole("Tokens of the messages that were curated."),
                            "proposed": whole("Proposals."),
                        },
                    ),
                    "The runs, newest first.",
                ),
                "damaged": whole("Lines of the ledger that cannot be read."),
                "activity_tokens": whole("Tokens of all messages that were curated."),
                "notes_tokens": whole("Tokens of the notes now."),
                "curations": whole("Curations that were applied and not undone."),
                "reads": whole("Times that agents read the memory since the first of them."),
                "reads_since": whole("Times since the last of them."),
                "reads_each": maybe(number("Times for each curation; null without one.")),
                "drift": record(
                    "What curation removed from the notes and added to them.",
                    {
                        "lost": counts("Lost facts, by kind."),
                        "added": counts("Added facts, by kind."),
                        "gone": texts("Lost facts that no note has now, the latest first."),
                        "curations": listing(
                            record(
                                "A curation.",
                                {
                                    "at": text(f"When; {TIME}."),
                                    "engine": text("The engine."),
                                    "lost": whole("Lost facts."),
                                    "added": whole("Added facts."),
                                },
                            ),
                            "The curations, oldest first.",
                        ),
                        "notes": listing(
                            record(
                                "A note.",
                                {
                                    "path": text(f"The note, {PATH}."),
                                    "lost": texts("Lost facts."),
                                    "added": texts("Added facts."),
                                },
                            ),
                            "The notes that lost most first.",
                        ),
                        "purged": whole("Changes that are not counted: a value was purged."),
                    },
                ),
            },
        ),
    ),
    "handoff": (
        Variant(
            "",
            {
                "path": text("The file that was written, absolute."),
                "for": text("The agent that reads it."),
                "tokens": whole("Its size in tokens."),
                "statements": listing({"$ref": "#/$defs/statement"}, "Its statements."),
                "redactions": whole("Redacted credentials."),
                "left_out": whole("Statements that did not fit into the budget."),
                "engine": text("What composed it; `rules` also if an engine gave no answer."),
                **CHANGE,
            },
        ),
    ),
    "resume": (
        Variant(
            "",
            {
                "path": text("The handoff, absolute."),
                "holds": flag("Whether every statement is still valid."),
                "statements": listing(
                    record(
                        "A statement, verified again.",
                        {
                            **_STATEMENT,
                            "was": text("Its status when it was written."),
                            "now": text("Its status now."),
                            "holds": flag("Whether it is still valid."),
                            "why": text("Why it is not; empty if it is."),
                        },
                    ),
                    "Its statements.",
                ),
                "changed": record(
                    "What changed in the project since.",
                    {
                        "commits": listing(
                            record(
                                "A commit.",
                                {"id": text("Its id."), "subject": text("Its subject.")},
                            ),
                            "The commits since.",
                        ),
                        "files": _FILE_CHANGES,
                        "notes": _FILE_CHANGES,
                    },
                ),
                "expired": flag("Whether it is too old to rely on."),
                "edited": flag("Whether somebody edited it."),
                "remarks": texts("What could not be checked."),
            },
        ),
    ),
    "new": (_of_note(""),),
    "rename": (_of_note(""),),
    "retire": (_of_note(""),),
    "restore": (_of_note(""),),
    "undo": (Variant("", CHANGE),),
    "redo": (Variant("", CHANGE),),
    "inbox": (
        Variant(
            "",
            {
                "since": maybe(text(f"The last visit; {TIME}. Null before the first one.")),
                "changes": listing(
                    record(
                        "A note that others changed.",
                        {
                            "path": text(f"The note, {PATH}."),
                            "kind": text("What happened; `conflict`: two programs wrote at once."),
                            "from": maybe(text("Its path before a renaming.")),
                            "at": text(f"When; {TIME}."),
                            "by": text("Who."),
                            "diff": text("A unified diff."),
                        },
                    ),
                    "The changes since then.",
                ),
            },
        ),
        _of_note("with `--revert`"),
        Variant("with `--keep-all`", CHANGE),
    ),
    "review": (
        Variant(
            "",
            {
                "queue": listing(
                    record(
                        "A note to review.",
                        {
                            "path": text(f"The note, {PATH}."),
                            "name": text("Its name."),
                            "why": text("Why it is due."),
                            "doubts": listing({"$ref": "#/$defs/finding"}, "Its findings."),
                            "retention": maybe(number("The share that is likely still true.")),
                            "half_life_days": maybe(number("Days until half of it is.")),
                            "stale_on": maybe(text("The day on which it counts as stale.")),
                            "reasons": texts("What the retention is based on."),
                        },
                    ),
                    "The notes that are due today.",
                ),
                "more": whole("Notes that are due and not among them."),
                "next": maybe(text("The day of the next review.")),
            },
        ),
    ),
    "history": (
        Variant(
            "", {"versions": listing({"$ref": "#/$defs/version"}, "The versions, newest first.")}
        ),
        Variant(
            "with `--verify`",
            {
                "texts": whole("Stored texts."),
                "faults": texts("What is damaged."),
            },
        ),
        Variant(
            "with `--size`",
            {
                "bytes": whole("The size of the file."),
                "texts": whole("Stored texts."),
                "acts": whole("Recorded changes and decisions."),
            },
        ),
        Variant(
            "with `--older-than`",
            {
                "texts": whole("Texts that were dropped, or could be."),
                "bytes": whole("Their size."),
                "kept": whole("Texts that stay."),
                "dropped": flag("Whether they were dropped."),
                **{f"{name}?": schema for name, schema in CHANGE.items()},
            },
        ),
    ),
    "purge": (
        Variant(
            "",
            {
                **CHANGE,
                "removed": record(
                    "From how many places the value was removed.",
                    {
                        "texts": whole("Texts of the history."),
                        "reasons": whole("Reasons and paths of the history."),
                        "quotes": whole("Quotes and titles of sessions."),
                        "derived": whole("Searches without results, indexes and lists."),
                    },
                ),
                "indexes": record(
                    "What became of indexes that contained the value.",
                    {
                        "rebuilt": texts("Memories whose index was built again without it."),
                        "removed": texts(
                            "Memories whose index is missing until the next search: notes contain "
                            "the value, or it could not be built."
                        ),
                    },
                ),
                "still_in": record(
                    "What still contains the value.",
                    {
                        "notes": texts("Notes, absolute; the history gets it from them again."),
                        "state": texts("Files in the state directory; delete them."),
                        "damaged": texts("Damaged histories; delete them."),
                    },
                ),
            },
        ),
    ),
    "connect": (
        Variant(
            "`connect --status` and `connect --dry-run`",
            {"agents": listing(_CONNECTED, "The agents.")},
        ),
        Variant("`connect`", CHANGE),
    ),
    "disconnect": (
        Variant("`disconnect --dry-run`", {"agents": listing(_CONNECTED, "The agents.")}),
        Variant("`disconnect`", CHANGE),
    ),
    "config": (
        Variant(
            "`config show`",
            {
                "path": text("The file of the settings; it need not exist."),
                "settings": anything(
                    "All settings in effect, as in the file; docs/settings.md describes them."
                ),
                "prompts": listing(
                    record(
                        "A prompt in use.",
                        {
                            "name": text("Its name."),
                            "version": text("Its version."),
                            "path": text("Its file."),
                            "own": flag("Whether it is yours."),
                            "warning": maybe(text("Why yours is not used.")),
                        },
                    ),
                    "The prompts in use.",
                ),
                "warnings": texts("What is wrong in the file."),
            },
        ),
        Variant(
            "`config conventions`",
            {
                "path": text("The memory."),
                "conventions": listing(
                    record(
                        "One convention.",
                        {
                            "name": text("The key that sets it; empty if it cannot be set."),
                            "title": text("What it is about."),
                            "value": text("What is usual."),
                            "reason": text("How that is known."),
                        },
                    ),
                    "How the notes of the memory are written.",
                ),
            },
        ),
        Variant("`config path`", {"path": text("The file of the settings; it need not exist.")}),
        Variant("`config edit`", {**CHANGE, "path": text("The file of the settings.")}),
    ),
    "version": (
        Variant("`ricordo --version --json`", {"version": text("The version of Ricordo.")}),
    ),
}
DOCUMENTS["demo"] = (Variant("", DOCUMENTS["open"][0].fields),)


def list_kinds() -> dict[str, tuple[int, str]]:
    """Return the exit code and the meaning of each kind of error, by name."""
    kinds = {}
    for error in _subclasses(RicordoError):
        if "kind" in vars(error) and error not in (NothingToUndo, OutputFailed):
            kinds[error.kind] = (error.exit_code, (error.__doc__ or "").split("\n")[0])
    for cause in FailureCause:
        failed = ModelFailed(cause)
        kinds.setdefault(failed.kind, (failed.exit_code, _FAILURES.get(failed.kind, "")))
    return dict(sorted(kinds.items(), key=lambda kind: (kind[1][0], kind[0])))


_FAILURES = {
    "needs-key": "There is no key, or the server does not accept it.",
    "needs-login": "The program is not logged in.",
    "needs-network": "The server cannot be reached.",
    "over-budget": "The run would go over the token budget.",
    "paused": "Automatic curation is paused after repeated failures.",
}


def _subclasses(of: type[RicordoError]) -> Iterator[type[RicordoError]]:
    for each in of.__subclasses__():
        yield each
        yield from _subclasses(each)


DOCUMENTS["error"] = (Variant("", {"error": part("error", "What went wrong.")}),)


def build_schema(name: str) -> Schema:
    """Return the JSON Schema of the documents of one command."""
    variants = [_document(name, variant) for variant in DOCUMENTS[name]]
    whole_schema: Schema = {
        "$schema": DIALECT,
        "$id": f"urn:ricordo:{name}:1",
        "title": f"ricordo.{name}/1",
        **(variants[0] if len(variants) == 1 else {"anyOf": variants}),
    }
    used: dict[str, Schema] = {}
    _collect(whole_schema, used)
    return {**whole_schema, **({"$defs": dict(sorted(used.items()))} if used else {})}


def _document(name: str, variant: Variant) -> Schema:
    schema = {"schema": {"const": f"ricordo.{name}/1", "description": "The name of this schema."}}
    return record(variant.when or "The document.", {**schema, **variant.fields})


def _collect(value: Any, used: dict[str, Schema]) -> None:
    """Add the parts that `value` refers to, and those that they refer to."""
    if isinstance(value, dict):
        name = str(value.get("$ref", "")).removeprefix("#/$defs/")
        if name and name not in used:
            used[name] = PARTS[name]
            _collect(PARTS[name], used)
        for item in value.values():
            _collect(item, used)
    elif isinstance(value, list):
        for item in value:
            _collect(item, used)


_INTRODUCTION = """
# JSON

<!-- Generated by `python -m tools.json_schemas`: change the descriptions there, not this file. -->

Every command but `completions` and `mcp` takes `--json`. Standard output is then exactly one JSON
document, in one line if it is not a terminal, and every document names its schema:

```console
$ ricordo lint --json | jq -r '.schema, .summary.error'
ricordo.lint/1
0
```

The number is the version of the schema. Within a version fields are added, never removed or
renamed: ignore those that you do not know. The schemas (JSON Schema, draft 2020-12) are in the
package, in `ricordo/cli/schemas`, and [here](../app/ricordo/cli/schemas). Paths are relative to the
memory where nothing else is said, times are ISO 8601 with a time zone. `lint --sarif` prints SARIF
2.1.0 instead, and `hook` what agents expect.

## Errors

If a command fails, standard output is a document on the error, and standard error has one line with
the same content. It comes with all [exit codes](commands.md#commands) from 2 on; 0 and 1 come with
the document of the command. So do two that did a part: `lint` of several memories of which some
cannot be read (3, they are in `errors`), and `pending --apply ID` if a named proposal was not
applied (4, it is in `left`). If standard output cannot be written (74), there is no document.

```json
{"schema": "ricordo.error/1", "error": {"kind": "note-not-found", "message": "This memory has no \
note “tides”.", "hint": "`ricordo` lists its notes.", "changed": null, "exit_code": 3}}
```
"""

_EXAMPLES = """
## Examples

```sh
ricordo lint --json | jq -r '.findings[] | select(.safe) | "\\(.path):\\(.line) \\(.fix)"'
note=$(ricordo new "Ports" --json < body.md | jq -r .path)      # the file of a new note
ricordo retire old --json | jq -r '.changed[] | "\\(.kind) \\(.path)"'
ricordo pending --json | jq -r '.changes[] | select(.warnings == []) | .id'
ricordo show ports --json || test $? -eq 3                       # 3: there is no such note
```

## What every change prints

A command that changes files or decisions prints these fields, beside its own.
"""


def render_page() -> str:
    """Return the page in Markdown."""
    parts = [_INTRODUCTION.strip(), "", "`error`:", "", *_table(PARTS["error"]), ""]
    parts += ["| exit code | kind | |", "|---|---|---|"]
    parts += [f"| {code} | `{kind}` | {about} |" for kind, (code, about) in list_kinds().items()]
    parts += [""]
    parts += [_EXAMPLES.strip(), "", *_table(record("", CHANGE)), "", "`changed`:", ""]
    parts += [*_table(PARTS["changed"]), "", "## Documents", ""]
    for name, variants in DOCUMENTS.items():
        if name != "error":
            parts += [*_render_document(name, variants)]
    parts += ["## Parts of documents", ""]
    for name, schema in PARTS.items():
        if name not in ("changed", "error", "report"):
            parts += [f"### {name}", "", schema["description"], "", *_table(schema), ""]
    return "\n".join(parts)


def _render_document(name: str, variants: tuple[Variant, ...]) -> Iterator[str]:
    yield from (f"### ricordo.{name}/1", "")
    for variant in variants:
        if variant.when:
            yield from (f"{variant.when[:1].upper()}{variant.when[1:]}:", "")
        if variant.fields is CHANGE:
            yield from ("What every change prints.", "")
            continue
        yield from (*_table(record("", variant.fields)), "")


def _table(schema: Schema) -> list[str]:
    if "properties" not in schema:
        return []
    return ["| field | type | |", "|---|---|---|", *_rows(schema, "")]


def _rows(schema: Schema, prefix: str) -> Iterator[str]:
    for name, field in schema["properties"].items():
        optional = "" if name in schema["required"] else ", may be missing"
        yield f"| `{prefix}{name}` | {_type(field)}{optional} | {_about(field)} |"
        inner = field.get("items", field)
        if "properties" in inner:
            yield from _rows(inner, f"{prefix}{name}{'[]' if 'items' in field else ''}.")


def _about(field: Schema) -> str:
    values = [value for value in field.get("enum", ()) if value is not None]
    one_of = f" One of {', '.join(f'`{value}`' for value in values)}." if values else ""
    return f"{field.get('description', '')}{one_of}"


def _type(field: Schema) -> str:
    if "const" in field:
        return f"`{field['const']}`"
    if "$ref" in field:
        name = field["$ref"].removeprefix("#/$defs/")
        return f"[{name}](#{name})"
    if "anyOf" in field:
        return " or ".join(map(_type, field["anyOf"]))
    kind = field["type"]
    if isinstance(kind, list):
        return " or ".join(kind)
    if kind == "array":
        return f"list of {_type(field['items'])}"
    return str(kind)


def render_schema(name: str) -> str:
    """Return the file of a schema."""
    return f"{json.dumps(build_schema(name), ensure_ascii=False, indent=2)}\n"


def main() -> None:
    """Write the schemas and the page."""
    for name in DOCUMENTS:
        (FOLDER / f"{name}.json").write_text(render_schema(name), "utf-8")
    PAGE.write_text(render_page(), "utf-8")


if __name__ == "__main__":
    main()
