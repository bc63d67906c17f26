"""Proposals as the JSON of `curate` and `pending`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from ricordo.curator.asking import Estimate
from ricordo.curator.waiting import Waiting, describe, describe_rejected
from ricordo.notebook.curate import Curation


def describe_curation(
    curation: Curation, applied: int | None, estimate: Estimate | None = None
) -> dict[str, Any]:
    """Return what `curate --json` prints; `applied` is None where nothing was to be applied, and
    `estimate` where the engine costs nothing. `skipped` stands in it only where something was.
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
        **describe_waiting(curation.proposals),
        "rejected": [describe_rejected(it) for it in curation.rejected],
    }
    if curation.skipped:
        skipped = [{"source": it.source, "why": it.told} for it in curation.skipped]
        document = {**document, "skipped": skipped}
    return document if applied is None else {**document, "applied": applied}


def describe_waiting(waits: Iterable[Waiting]) -> dict[str, Any]:
    """Return what `pending --json` prints."""
    return {"changes": [describe(it) for it in waits]}
