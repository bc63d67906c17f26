"""Proposals as they may be printed, without credentials; the JSON of `curate` and `pending`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, fields, replace
from functools import lru_cache
from typing import Any

from ricordo.curator.asking import Estimate
from ricordo.curator.proposal import Rejected
from ricordo.curator.waiting import Waiting, describe, describe_rejected
from ricordo.memory.memory import Memory
from ricordo.notebook.curate import Curation, Taken
from ricordo.secrets import Secret, find_secrets, mask

_WHOLE_WORD = 8
"""Characters: a shorter value is masked only where it is a word by itself."""


def describe_curation(
    curation: Curation, memory: Memory, taken: Taken | None, estimate: Estimate | None = None
) -> dict[str, Any]:
    """Return what `curate --json` prints; `taken` is None where nothing was to be applied, and
    `estimate` where the engine costs nothing. `skipped` is in it only where something was.
    """
    run = curation.run
    document = {
        "engine": run.engine,
        "model": run.model,
        "prompt_version": run.prompt_version,
        "estimate": asdict(estimate or Estimate(curation.brief.tokens, 0, 0.0)),
        "usage": {
            "input_tokens": run.input_tokens,
            "output_tokens": run.output_tokens,
            "usd": run.usd,
        },
        **describe_pending(curation.proposals, memory),
        "rejected": [describe_rejected(mask_rejected(it)) for it in curation.rejected],
    }
    if curation.skipped:
        skipped = [{"source": it.source, "why": it.told} for it in curation.skipped]
        document = {**document, "skipped": skipped}
    if taken is None:
        return document
    return {**document, "applied": len(taken.applied), "left": describe_left(taken, memory)}


def describe_pending(proposals: Iterable[Waiting], memory: Memory) -> dict[str, Any]:
    """Return what `pending --json` prints of proposals on `memory`."""
    return {"changes": [describe(mask_proposal(it, memory)) for it in proposals]}


def describe_left(taken: Taken, memory: Memory) -> list[dict[str, str]]:
    """Return the proposals that were not applied, each with why."""
    return [{"id": it.id, "why": mask_text(why, it, memory)} for it, why in taken.left]


def mask_proposal(it: Waiting, memory: Memory) -> Waiting:
    """Return a proposal on `memory` as it may be printed: no credential is in its diff, its quotes
    or any other text of it. What is written is the proposal itself.
    """
    secrets = _secrets_of(it, memory)

    def masked(text: str) -> str:
        return _masked(text, secrets)

    evidence = (replace(quoted, quote=masked(quoted.quote)) for quoted in it.evidence)
    return replace(
        it,
        change=replace(it.change, reason=masked(it.change.reason)),
        evidence=tuple(evidence),
        diff=masked(it.diff),
        warnings=tuple(map(masked, it.warnings)),
    )


def mask_text(text: str, it: Waiting, memory: Memory) -> str:
    """Return a text about a proposal on `memory` without the credentials of its notes."""
    return _masked(text, _secrets_of(it, memory))


def mask_rejected(it: Rejected) -> Rejected:
    """Return what was rejected as it may be printed."""
    return replace(it, change=mask(it.change), why=mask(it.why))


def _secrets_of(it: Waiting, memory: Memory) -> dict[str, str]:
    """Return the credentials in all that a proposal is about, each with its kind: a diff shows a
    part of a text, by which alone a value may look like any other.
    """
    found: dict[str, str] = {}
    for text in _texts_of(it, memory):
        for kind, start, end in _secrets_in(text):
            found.setdefault(text[start:end], kind)
    return found


@lru_cache(maxsize=64)
def _secrets_in(text: str) -> tuple[Secret, ...]:
    # every proposal is about an index, and many are about the same notes
    return tuple(find_secrets(text))


def _texts_of(it: Waiting, memory: Memory) -> Iterator[str]:
    act = it.change.act
    values = [str(getattr(act, each.name)) for each in fields(act)]
    paths = {*it.made_against, *values, *(index.path for index in memory.indexes)}
    yield from (memory.by_path[path].text for path in sorted(paths & memory.by_path.keys()))
    yield from values
    lines = it.diff.split("\n")
    for sign in "-+":
        yield "\n".join(line[1:] for line in lines if line[:1] in (sign, " "))
    yield from (quoted.quote for quoted in it.evidence)


def _masked(text: str, secrets: Mapping[str, str]) -> str:
    # a longer value may hold a shorter one
    for value in sorted(secrets, key=len, reverse=True):
        instead = f"[secret: {secrets[value]}]"
        # in a diff each line of a value has a sign before it
        for line in filter(None, map(str.strip, value.split("\n"))):
            if line in text:
                text = _without(text, line, instead)
    return mask(text)


def _without(text: str, value: str, instead: str) -> str:
    if len(value) >= _WHOLE_WORD:
        return text.replace(value, instead)
    return re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", lambda _: instead, text)
