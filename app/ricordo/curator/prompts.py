"""The prompts: what a model is told to do, as files that have a version and that the person can
put a file of their own before.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from hashlib import sha256

from ricordo.disk.plain_file import read_plain_file
from ricordo.resources import data_text
from ricordo.secrets import mask

CURATE = "curate"
JUDGE = "judge"
_VERSIONS = {CURATE: 1, JUDGE: 1}
_LARGEST = 64 * 1024


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is told to do."""

    version: str
    """What names it in history and ledger: `curate-1`, or `curate-own-` and a digest."""
    text: str


def load_prompt(name: str, config: str = "") -> Prompt:
    """Return the prompt `name`: the file `prompts/<name>.md` in the directory `config` of the
    person's settings, without what looks like a credential, else ours.
    """
    path = os.path.join(config, "prompts", f"{name}.md")
    raw = read_plain_file(path, _LARGEST, follow=True) if config else None
    own = mask((raw or b"").decode("utf-8", "replace")).strip()
    if own:
        digest = sha256(own.encode("utf-8", "replace")).hexdigest()[:8]
        return Prompt(f"{name}-own-{digest}", own)
    version = f"{name}-{_VERSIONS[name]}"
    return Prompt(version, data_text(f"curator/prompts/{version}.md").strip())
