"""The programs that can be asked in the place of a server: their line, and what they answer."""

from __future__ import annotations

import os
import re
import shlex
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from shutil import which
from typing import Any

from ricordo.errors import WrongUsage
from ricordo.model.failure import Cause, ModelFailed
from ricordo.model.program import Ended
from ricordo.model.question import Usage
from ricordo.model.schema import Misshapen, parse
from ricordo.resources import data_text
from ricordo.text import clip, one_line

_FENCED = re.compile(r"```(?:json)?\n(.*)\n```", re.DOTALL)
_WIDEST = 60


@dataclass(frozen=True, slots=True)
class Program:
    """A program as it is run."""

    words: tuple[str, ...]
    """Its line, word by word; no shell reads it."""
    is_known: bool
    """Whether we know how its memory, hooks and tools are turned off, and have done so."""
    reply: str = ""
    """How its answer is wrapped; "" for plainly."""
    logged_out: str = ""
    """A pattern: what it says where nobody is logged in, before it has sent anything."""
    turned_down: str = ""
    """A pattern: what it says where its account is not accepted."""
    login: str = ""
    """What to do then."""

    @property
    def line(self) -> str:
        """The line as it is shown before the first run."""
        return shlex.join(self.words)

    @property
    def name(self) -> str:
        """What it is called in the ledger."""
        return os.path.basename(self.words[0])


@dataclass(frozen=True, slots=True)
class Said:
    """What a program answered."""

    text: str
    usage: Usage | None = None
    """What it cost, where the program says so."""
    usd: float | None = None
    failure: ModelFailed | None = None
    """Why it is no answer; it may have cost something all the same."""


def program_of(words: Sequence[str]) -> Program:
    """Return the program of the `words` that the user has set, with what has to be on its line.
    Raises WrongUsage where it cannot be run.
    """
    if not words:
        raise WrongUsage("No program is named.")
    known = _known().get(os.path.basename(words[0]))
    if known is None:
        return Program(tuple(words), is_known=False)
    for word in words[1:]:
        if word.partition("=")[0] in known["refused"]:
            told = (
                f"“{clip(shlex.join(words), _WIDEST)}” has {clip(word, _WIDEST)}, "
                "which Ricordo sets or forbids."
            )
            raise WrongUsage(f"{told} Leave it out.")
    first, *rest = words
    added = [word for word in known["words"] if word not in rest]
    whole = (first, *added, *rest, *known["switches"])
    about = {name: known.get(name, "") for name in ("reply", "logged_out", "turned_down", "login")}
    return Program(whole, is_known=True, **about)


def known_programs(path: str | None) -> tuple[tuple[str, ...], ...]:
    """Return the lines of the programs that we know and that are found on `path`, written as a
    variable of the environment; by that of this process where it is None.
    """
    found = ((name, *known["words"]) for name, known in _known().items())
    return tuple(line for line in found if which(line[0], path=path))


def unwrapped(program: Program, ended: Ended) -> Said:
    """Return what a program said, also of why it has no answer."""
    text = ended.output.decode("utf-8", "replace").strip()
    said = _of_claude(program, text) if program.reply == "claude" else Said(_plain(text))
    if ended.code and not (said.failure and said.usage):
        told = ended.complaint
        why = f"it ended with {ended.code}" + (f" and says “{told}”" if told else "")
        return replace(said, failure=_failure(program, told, why))
    return said


def _of_claude(program: Program, text: str) -> Said:
    try:
        told = parse(text)
    except Misshapen as error:
        return Said("", failure=ModelFailed(Cause.MISSHAPEN, str(error)))
    if not isinstance(told, dict) or not isinstance(told.get("result"), str):
        return Said("", failure=ModelFailed(Cause.MISSHAPEN, "it holds no result"))
    result = told["result"]
    said = Said(_plain(result), _usage(told.get("usage")), _dollars(told))
    if told.get("is_error") is False:
        return said
    return replace(said, failure=_failure(program, result, f"it says “{one_line(result)}”"))


def _failure(program: Program, told: str, why: str) -> ModelFailed:
    """Return why a program gave no answer that has `told` something."""
    if program.logged_out and re.search(program.logged_out, told):
        return ModelFailed(Cause.NO_ACCOUNT, why, remedy=program.login)
    is_turned_down = program.turned_down and re.search(program.turned_down, told)
    return ModelFailed(Cause.PROGRAM, why, remedy=program.login if is_turned_down else "")


def _plain(text: str) -> str:
    """Return an answer without the fence that models like to put around one."""
    fenced = _FENCED.fullmatch(text.strip())
    return fenced[1] if fenced else text


def _usage(told: object) -> Usage | None:
    if not isinstance(told, dict):
        return None
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    counts: list[Any] = [told.get(name) for name in (*names, "output_tokens")]
    if any(type(count) is not int or count < 0 for count in counts):
        return None
    return Usage(*counts)


def _dollars(told: Mapping[str, Any]) -> float | None:
    value: Any = told.get("total_cost_usd")
    return float(value) if type(value) in (int, float) and 0 <= value < 1e6 else None


@cache
def _known() -> dict[str, dict[str, Any]]:
    return tomllib.loads(data_text("model/programs.toml"))
