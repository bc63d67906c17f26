"""Hooks of agents: those whose program is gone, those that run twice, and what each costs."""

from __future__ import annotations

import os
import shlex
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from shutil import which
from statistics import median
from typing import NamedTuple

from ricordo.agents.diagnosis import ConfiguredHook, HookRun
from ricordo.agents.support import AgentSupport
from ricordo.agents.workplace import Workplace, find_workplace
from ricordo.lint.finding import Severity
from ricordo.patterns import compile_lazily
from ricordo.services.doctor.problem import Problem
from ricordo.services.doctor.project_map import ProjectMap, is_inside
from ricordo.services.workspace.environment import Environment

SLOW_MILLISECONDS = 500
"""What a hook may cost a prompt before it is reported."""
MOST_TRANSCRIPTS = 20
"""Transcripts whose hooks are timed, the newest ones of all projects."""
_LEAST_SECONDS, _MOST_SECONDS = 0.1, 3600
"""Timeouts of hooks that may be meant: no program answers in less, no user waits for more."""
_OWN_HOOK = compile_lazily(
    r"(?:^|[/\s'\"])ricordo(?:[/'\"\s].*)? hook (?:prompt|start|wrote|compact|stop|end)\b"
)
_PROMPT_EVENTS = ("UserPromptSubmit",)
_SESSION_EVENTS = {"SessionStart": "session start", "SessionEnd": "session end"}
"""Events that no prompt causes, as they are called."""
_CANNOT_RUN = {126: "cannot be executed", 127: "is not found"}
"""What the exit codes of a shell say of a program."""
_INTERPRETER = compile_lazily(r"(?:ba|z|da|k)?sh|python[\d.]*|node|deno|bun|ruby|perl|php|pwsh")
_SETTING = compile_lazily(r"[A-Za-z_]\w*=[\s\S]*")
_VARIABLE = compile_lazily(r"\$(?:\{(\w+)\}|(\w+))")


def is_own(hook: ConfiguredHook) -> bool:
    """Return whether a hook runs Ricordo."""
    return _OWN_HOOK.search(hook.command) is not None


class HookCall(NamedTuple):
    """What a hook runs."""

    path: str
    """The program or script, absolute."""
    arguments: tuple[str, ...]
    is_direct: bool
    """Whether it is run itself, not by an interpreter."""


def parse_call(hook: ConfiguredHook, variables: Mapping[str, str]) -> HookCall | None:
    """Return what the first command of a hook runs; None where that is no path or unknown.
    `variables` are those that its shell has, as far as they are known; `~` is `HOME`.
    """
    rest = _list_words(hook.command)
    is_direct = bool(rest) and not _INTERPRETER.fullmatch(os.path.basename(rest[0]))
    if not is_direct:
        # an option of an interpreter may be its program: `-c`, `-m`
        rest = rest[1:]
    path = _expand(rest[0], variables) if rest else ""
    if not path.startswith("/"):
        return None
    return HookCall(os.path.normpath(path), tuple(rest[1:]), is_direct)


def _list_words(command: str) -> list[str]:
    """Return the program of the first command of a hook, and its arguments; none if unknown."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split, lexer.commenters = True, ""
    try:
        words = list(lexer)
    except ValueError:
        return []
    end = next((n for n, it in enumerate(words) if set(it) <= set("();<>|&")), len(words))
    rest = words[:end]
    while rest and (_SETTING.fullmatch(rest[0]) or os.path.basename(rest[0]) in ("env", "exec")):
        rest = rest[1:]
    return rest


def _expand(word: str, variables: Mapping[str, str]) -> str:
    """Return a word of a command with `~` and variables replaced; "" where one is unknown."""
    if word.startswith("~/"):
        word = f"$HOME{word[1:]}"
    names = {one or other for one, other in _VARIABLE.findall(word)}
    if any(name not in variables for name in names):
        return ""
    return _VARIABLE.sub(lambda match: variables[match[1] or match[2]], word)


def check_hooks(
    support: AgentSupport, environment: Environment, places: Sequence[Workplace]
) -> Iterator[Problem]:
    """Yield the problems of the hooks that an agent runs in `places`."""
    home = os.path.realpath(environment.agent_home)
    gone: dict[str, dict[str, str]] = defaultdict(dict)
    misused: dict[str, Problem] = {}
    for place in places:
        calls: dict[ConfiguredHook, HookCall | None] = {}
        for hook in support.hooks([place], environment.agent_home, environment.environ):
            variables = {"HOME": environment.agent_home}
            # the settings of the user are in the home directory, but apply to all projects
            is_own_project = place.top != home and is_inside(hook.file, place.top)
            found = _find_misuse(support, hook, is_of_project=is_own_project)
            misused |= {problem.id: problem for problem in found}
            if support.project_variable and is_own_project:
                variables[support.project_variable] = place.top
            calls[hook] = call = parse_call(hook, variables)
            if call is not None and (why := _find_fault(call)):
                gone[call.path][f"{hook.event} runs {hook.command} in {hook.file}"] = why
        yield from _find_doubled(support, calls)
    shown = support.agent.shown if support.agent else ""
    for path, uses in gone.items():
        yield Problem(
            "hook-broken",
            Severity.WARNING,
            f"A hook of {shown} cannot run: {path} {next(iter(uses.values()))}.",
            tuple(uses),
            "Restore the program, or remove the hook.",
            (path,),
        )
    yield from misused.values()


def _find_misuse(
    support: AgentSupport, hook: ConfiguredHook, *, is_of_project: bool
) -> Iterator[Problem]:
    """Yield what is wrong with how the settings write a hook. One of a project may be meant for
    others.
    """
    shown = support.agent.shown if support.agent else ""
    evidence = (f"{hook.event} runs {hook.command} in {hook.file}",)
    cause = (hook.file, hook.event, hook.command)
    if hook.ignored_arguments:
        is_shell = _INTERPRETER.fullmatch(os.path.basename(hook.command)) is not None
        danger = ": the event, with your prompt in it, becomes its script" if is_shell else ""
        arguments = shlex.join(hook.ignored_arguments)
        yield Problem(
            "hook-arguments",
            Severity.ERROR if is_shell else Severity.WARNING,
            f"{shown} runs {hook.command} without its arguments{danger}.",
            (*evidence, f"`args` has {arguments}, which {shown} ignores"),
            f"Write it as one command: {shlex.join((hook.command, *hook.ignored_arguments))}",
            cause,
        )
    if not hook.is_trusted and not is_own(hook):
        yield Problem(
            "hook-untrusted",
            Severity.INFO if is_of_project else Severity.WARNING,
            f"{shown} skips a hook that you have not trusted: {hook.command}.",
            (*evidence, "the settings do not name it as trusted"),
            f"Type /hooks in {shown} and look at it, or remove it.",
            cause,
        )
    limit = hook.timeout
    if limit is not None and not _LEAST_SECONDS <= limit.seconds <= _MOST_SECONDS:
        is_short = limit.seconds < _LEAST_SECONDS
        when = f"only after {limit.seconds / 3600:,.1f} hours"
        if is_short:
            when = f"after {limit.seconds * 1000:,.0f} ms, before it can answer"
        yield Problem(
            "hook-timeout",
            Severity.WARNING if is_short else Severity.INFO,
            f"{shown} stops a hook {when}: {hook.command}.",
            (*evidence, f"`timeout` is {limit.value:g}: {shown} counts {limit.unit}"),
            f"Write the {limit.unit} that it may take.",
            cause,
        )


def _find_fault(call: HookCall) -> str:
    """Return why a program cannot be run; "" if it can."""
    if not os.path.exists(call.path):
        return "is not there"
    if call.is_direct and not os.access(call.path, os.X_OK):
        return "is not executable"
    return ""


def _find_doubled(
    support: AgentSupport, calls: Mapping[ConfiguredHook, HookCall | None]
) -> Iterator[Problem]:
    """Yield the events at which one thing is run more than once. The same command at one event is
    run once, however many files have it.
    """
    shown = support.agent.shown if support.agent else ""
    same: dict[tuple[object, ...], dict[str, ConfiguredHook]] = defaultdict(dict)
    for hook, call in calls.items():
        if is_own(hook):
            same[hook.event, "Ricordo"].setdefault(hook.command, hook)
        elif call is not None:
            same[hook.event, call.path, call.arguments].setdefault(hook.command, hook)
    for (event, what, *_), hooks in same.items():
        doubled = {
            hook
            for pair in combinations(hooks.values(), 2)
            if _meet(pair[0].matcher, pair[1].matcher)
            for hook in pair
        }
        if doubled:
            yield Problem(
                "hooks-doubled",
                Severity.WARNING,
                f"{shown} runs {what} {len(doubled)} times at {event}.",
                tuple(f"{it.command} in {it.file}" for it in hooks.values() if it in doubled),
                "Remove all but one.",
                (str(event), str(what), *sorted({hook.file for hook in doubled})),
            )


def _meet(one: str, other: str) -> bool:
    """Return whether something fits both matchers."""
    if one in ("", "*") or other in ("", "*"):
        return True
    return not set(one.split("|")).isdisjoint(other.split("|"))


class HookCost(NamedTuple):
    """What one hook costs."""

    agent: str
    event: str
    command: str
    runs: int
    milliseconds: int
    """The median of its runs."""
    per_prompt: int
    """Milliseconds of all its runs, divided by the number of prompts; 0 if that is unknown."""

    @property
    def unit(self) -> str:
        """What `each_time` is counted for: a prompt, the start of a session, or a run."""
        if self.event in _SESSION_EVENTS:
            return _SESSION_EVENTS[self.event]
        return "prompt" if self.per_prompt else "run"

    @property
    def each_time(self) -> int:
        """Milliseconds that it takes each time."""
        return self.per_prompt if self.unit == "prompt" else self.milliseconds


def read_newest_runs(projects: ProjectMap) -> list[list[HookRun]]:
    """Return the runs of hooks in the newest transcripts of an agent, the newest one first."""
    sessions = [session for folder in projects.folders for session in folder.sessions[:5]]
    newest = sorted(sessions, key=lambda it: _changed_at(it.path), reverse=True)
    return [list(projects.support.hook_runs(it.path)) for it in newest[:MOST_TRANSCRIPTS]]


def measure_hooks(projects: ProjectMap, runs: Sequence[Sequence[HookRun]]) -> list[HookCost]:
    """Return what the hooks of an agent cost in these runs, the most expensive first."""
    shown = projects.support.agent.shown if projects.support.agent else ""
    costs = _sum_up(shown, [run for each in runs for run in each])
    return sorted(costs, key=lambda it: (-it.each_time, it.event, it.command))


def find_failed_hooks(projects: ProjectMap, runs: Sequence[Sequence[HookRun]]) -> Iterator[Problem]:
    """Yield the hooks whose program a shell did not find or could not run when they ran last. Those
    that name it by its path are judged by the file.
    """
    last: dict[str, HookRun] = {}
    for each in runs:
        last = {run.command: run for run in each} | last
    home, environ = projects.environment.agent_home, projects.environment.environ
    places = [find_workplace(it) for it in projects.projects]
    shown = projects.support.agent.shown if projects.support.agent else ""
    for hook in projects.support.hooks(places, home, environ):
        run, words = last.get(hook.command), _list_words(hook.command)
        if run is None or not words or run.exit not in _CANNOT_RUN or "/" in words[0]:
            continue
        is_here = which(words[0], path=environ.get("PATH", os.defpath)) is not None
        if words[0] in run.error and not is_here:
            yield Problem(
                "hook-broken",
                Severity.WARNING,
                f"A hook of {shown} cannot run: {words[0]} {_CANNOT_RUN[run.exit]}.",
                (
                    f"{hook.event} runs {hook.command} in {hook.file}",
                    f"its last run ended with {run.exit}: {run.error.strip()}",
                ),
                "Install the program, or remove the hook.",
                (hook.file, hook.event, hook.command),
            )


def _sum_up(agent: str, runs: Sequence[HookRun]) -> Iterator[HookCost]:
    by_hook: dict[tuple[str, str], list[int]] = defaultdict(list)
    for run in runs:
        by_hook[run.event, run.command].append(run.milliseconds)
    # every prompt runs all hooks of its event: the most frequent one counts the prompts
    counts = (len(times) for (event, _), times in by_hook.items() if event in _PROMPT_EVENTS)
    prompts = max(counts, default=0)
    for (event, command), times in by_hook.items():
        per_prompt = round(sum(times) / prompts) if prompts else 0
        yield HookCost(agent, event, command, len(times), round(median(times)), per_prompt)


def find_slow_hooks(costs: Iterable[HookCost]) -> Iterator[Problem]:
    """Yield the hooks that cost too much."""
    for cost in costs:
        if cost.per_prompt < SLOW_MILLISECONDS and cost.milliseconds < 2 * SLOW_MILLISECONDS:
            continue
        times = "once" if cost.runs == 1 else f"{cost.runs} times"
        yield Problem(
            "hook-slow",
            Severity.WARNING,
            f"A hook of {cost.agent} takes {cost.each_time:,} ms of each {cost.unit}: "
            f"{cost.command}.",
            (f"{cost.event}: run {times}, half of them over {cost.milliseconds:,} ms",),
            f"Make it faster than {SLOW_MILLISECONDS} ms, or remove it.",
            (cost.agent, cost.event, cost.command),
        )


def _changed_at(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0
