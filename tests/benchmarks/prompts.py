"""What a version of a prompt changes: `python -m tests.benchmarks.prompts`.

Every case in `tests/data/prompts` is a small made-up memory, with what a person said or with notes
that are in doubt; its notes stand among those of the folder `notes`. Beside it lie the brief that
is composed of it (`CASE.brief`) and what a model answered to it under a version of its prompt
(`CASE.VERSION.json`). The answers run through the same checks as in a curation; for each version it
is told how many tokens are sent and written, what is proposed, rejected and warned of, and which
cases come out as they are wanted.

Answers whose `by` is `hand` were written by a person as the prompt asks for them: they try the
checks, not a model. `--record` asks a model, the current version of each prompt unless `--version`
names another one, and keeps its answers; `--briefs` writes the briefs anew.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from ricordo.curation.engine import Step
from ricordo.curation.engines.external import EngineReply, ExternalEngine, SealedBrief
from ricordo.curation.opinion import read_opinions
from ricordo.curation.pending import PendingProposal
from ricordo.curation.prompts import CURATE, NAMES, Prompt, load_shipped_prompt, load_versions
from ricordo.llm.ask import Server
from ricordo.llm.question import estimate_tokens
from ricordo.services.conflicts.conflicts import find_uncertain_pairs
from ricordo.services.conflicts.judgement import JudgementRequest, prepare_judgement
from ricordo.services.curation.curation import propose_prepared
from ricordo.services.curation.preparation import PreparedCuration, prepare
from ricordo.services.engines.engines import EngineTarget, make_model_target
from ricordo.services.workspace.notebook import Notebook
from tests.support.builders import recorded
from tests.support.curating import Desk, user_lines

FOLDER = Path(__file__).resolve().parents[1] / "data" / "prompts"
BY_HAND = "hand"


class Case(NamedTuple):
    """One made-up memory, and what is wanted of it."""

    name: str
    about: str
    prompt: str
    wanted: tuple[str, ...]
    """The kind of each change and its note; of doubts the pair, its verdict, which to keep."""
    said: tuple[str, ...]
    files: dict[str, str | bytes]

    @property
    def brief_file(self) -> Path:
        """Where the brief of it is kept."""
        return FOLDER / f"{self.name}.brief"

    def reply_file(self, version: str) -> Path:
        """Return where it is kept what was answered under a version of the prompt."""
        return FOLDER / f"{self.name}.{version}.json"


class Outcome(NamedTuple):
    """What an answer comes to."""

    proposed: tuple[str, ...]
    rejected: tuple[str, ...]
    warned: int
    sent: int
    """Tokens, estimated."""
    written: int


@dataclass(frozen=True)
class Given:
    """What is composed of a case."""

    case: Case
    notebook: Notebook
    about: PreparedCuration | JudgementRequest

    @property
    def brief(self) -> str:
        """All that is sent besides the prompt and the form, before it is sealed."""
        return (
            self.about.brief.text
            if isinstance(self.about, PreparedCuration)
            else self.about.batch.text
        )

    def outcome(self, prompt: Prompt, answer: object) -> Outcome:
        """Return what an answer comes to that was given under a `prompt`."""
        tokens = estimate_tokens(prompt.text + self.brief), estimate_tokens(json.dumps(answer))
        if isinstance(self.about, JudgementRequest):
            opinions = read_opinions(answer, self.about.batch.ids)
            told = (
                f"{p} {it.verdict.value} {it.kept_side.value}" for p, it in opinions.by_pair.items()
            )
            rejected = tuple(f"{it.change}: {it.why}" for it in opinions.rejected)
            return Outcome(tuple(sorted(told)), rejected, 0, *tokens)

        def make(notebook: Notebook, prepared: PreparedCuration, step: Step) -> ExternalEngine:
            asking = _outside(self.notebook, prompt).make_engine(notebook, prepared)
            return replace(asking, ask=lambda sent, step: EngineReply(answer))

        curation = propose_prepared(self.notebook, self.about, make=make)
        rejected = tuple(f"{it.change}: {it.why}" for it in curation.rejected)
        warned = sum(bool(it.all_warnings) for it in curation.proposals)
        return Outcome(tuple(sorted(map(_told, curation.proposals))), rejected, warned, *tokens)

    def ask(self, prompt: Prompt, model: str, server: str) -> object:
        """Return what a model answers under a `prompt`. Raises CuratorFailed."""
        answers: list[object] = []
        outside = _outside(self.notebook, prompt, model, server)
        if isinstance(self.about, JudgementRequest):
            asked = prepare_judgement(self.notebook, self.about.pairs, outside)
            ask = replace(asked.target.ask, prompt=prompt)
            return ask(asked.batch.sent, lambda _: None).value

        def make(notebook: Notebook, prepared: PreparedCuration, step: Step) -> ExternalEngine:
            asking = outside.make_engine(notebook, prepared)

            def kept(sent: SealedBrief, step: Step) -> EngineReply:
                reply = asking.ask(sent, step)
                answers.append(reply.value)
                return reply

            return replace(asking, ask=kept)

        propose_prepared(self.notebook, self.about, make=make)
        return answers[0]


def cases() -> list[Case]:
    """Return all cases."""
    return [_case(path) for path in sorted(FOLDER.glob("*.toml"))]


def given(case: Case, folder: Path) -> Given:
    """Return what is composed of a `case`, whose memory is written into `folder`."""
    notebook = recorded(folder, case.files)
    if case.prompt != CURATE:
        found = find_uncertain_pairs(notebook.read_snapshot_with_evidence())
        return Given(
            case,
            notebook,
            prepare_judgement(notebook, found, make_model_target(notebook.environment)),
        )
    desk = Desk(folder, {}, notebook)
    desk.transcript.write_text(user_lines(*case.said), "utf-8")
    return Given(case, notebook, prepare(notebook, notebook.read(), desk.scope))


def reply(case: Case, version: str) -> dict[str, Any] | None:
    """Return what was recorded of a case under a version; None where nothing was."""
    path = case.reply_file(version)
    return dict(json.loads(path.read_text("utf-8"))) if path.exists() else None


def known_versions(name: str) -> list[Prompt]:
    """Return all versions of a prompt that ship with Ricordo, oldest first."""
    numbers = sorted(int(it) for it in load_versions()[name] if it != "current")
    return [load_shipped_prompt(name, number) for number in numbers]


def _case(path: Path) -> Case:
    told = tomllib.loads(path.read_text("utf-8"))
    wanted, spoken = (tuple(told[name]) for name in ("wanted", "said"))
    common = {it.name: it.read_bytes() for it in sorted((FOLDER / "notes").glob("*.md"))}
    files = {**common, **told["files"]}
    index = "".join(f"- [{Path(name).stem}]({name})\n" for name in sorted(files))
    files["MEMORY.md"] = index
    return Case(path.stem, told["about"], told["prompt"], wanted, spoken, files)


def _outside(
    notebook: Notebook, prompt: Prompt, model: str = "none", server: str = ""
) -> EngineTarget:
    outside = make_model_target(notebook.environment, model, Server(server))
    return replace(outside, ask=replace(outside.ask, prompt=prompt))


def _told(it: PendingProposal) -> str:
    return f"{it.op} {it.path}"


def table(prompts: Sequence[Prompt], them: Sequence[Given]) -> Iterator[str]:
    """Yield what each version of a prompt comes to."""
    before = 0
    for prompt in prompts:
        tokens = estimate_tokens(prompt.text)
        more = f", {tokens - before:+,}" if before else ""
        yield f"{prompt.version}: {tokens:,} tokens{more}"
        before = tokens
        right = told = 0
        for it in them:
            kept = reply(it.case, prompt.version)
            if kept is None:
                continue
            found = it.outcome(prompt, kept["answer"])
            is_right = found.proposed == tuple(sorted(it.case.wanted)) and not found.rejected
            right, told = right + is_right, told + 1
            yield (
                f"  {it.case.name:<14} {found.sent:>6,} sent {found.written:>5,} written  "
                f"{len(found.proposed)} proposed {len(found.rejected)} rejected "
                f"{found.warned} warned  {'as wanted' if is_right else 'not as wanted'}"
                f"  (by {kept['by']})"
            )
            yield from (f"    rejected: {why}" for why in found.rejected)
            if not is_right:
                yield f"    wanted {', '.join(it.case.wanted) or 'nothing'}"
                yield f"    came   {', '.join(found.proposed) or 'nothing'}"
        yield f"  {right} of {told} as wanted" if told else "  no answers are recorded"


def main(words: Sequence[str]) -> int:
    """Print the table, after recording what is to be recorded."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--briefs", action="store_true", help="write the briefs anew")
    parser.add_argument("--record", action="store_true", help="ask a model, which costs money")
    parser.add_argument("--version", default="", help="such as curate-1; else the current ones")
    parser.add_argument("--model", default="claude-sonnet-5-5")
    parser.add_argument("--server", default="", help="else Anthropic's")
    options = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as folder:
        them = [given(case, _made(Path(folder, case.name))) for case in cases()]
        for it in them:
            if options.briefs:
                it.case.brief_file.write_text(it.brief, "utf-8")
            if options.record:
                _record(it, options)
        for name in NAMES:
            print(
                *table(known_versions(name), [it for it in them if it.case.prompt == name]),
                sep="\n",
            )
    return 0


def _record(it: Given, options: argparse.Namespace) -> None:
    known = {prompt.version: prompt for prompt in known_versions(it.case.prompt)}
    wanted = options.version or list(known)[-1]
    if wanted in known:
        answer = it.ask(known[wanted], options.model, options.server)
        text = json.dumps({"by": options.model, "answer": answer}, indent=2, ensure_ascii=False)
        it.case.reply_file(wanted).write_text(f"{text}\n", "utf-8")


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
