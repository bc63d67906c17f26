"""Harbours of which a model does not read all, or a server takes only so much at once."""

from __future__ import annotations

import json
import re

from ricordo.llm.ask import Server
from ricordo.llm.budget import Caps
from ricordo.services.curation.curation import Curation, propose, save_curation
from ricordo.services.curation.preparation import CurationScope
from ricordo.services.engines.engines import make_gate, make_model_target
from tests.support import messages_replies as replies
from tests.support.asking import EMPTY, PATIENT, ledger, sent
from tests.support.builders import note_text
from tests.support.curating import Desk
from tests.support.messages_server import Asked, MessagesServer, Script, Wire

PORTS = ("aveiro", "faro", "lagos", "nazare", "peniche", "porto", "sagres", "sines")
BAD = "blasphemous"
"""A word that the model does not read."""
FILLER = "Tides and winds. " * 25


def talk(port: str) -> str:
    return f"The {port} harbour opens at nine now, remember that."


def memory(**bodies: str) -> dict[str, str | bytes]:
    """Return eight notes, of some of which the text goes on."""
    files: dict[str, str | bytes] = {
        f"{it}.md": note_text(it, f"The {it} harbour opens at eight.\n{more}\n", f"Harbour of {it}")
        for it, more in {**dict.fromkeys(PORTS, "peaceful"), **bodies}.items()
        if it in PORTS
    }
    index = "".join(f"- [{it}]({it}.md) — the harbour of {it}\n" for it in PORTS)
    return {"MEMORY.md": index + bodies.get("index", ""), **files}


def ask(
    desk: Desk,
    server: MessagesServer,
    *,
    scope: CurationScope | None = None,
    caps: Caps | None = None,
    is_automatic: bool = False,
) -> Curation:
    """Return what a model proposes; it waits then."""
    notebook, server_of = desk.notebook, Server(server.url, PATIENT)
    make = make_model_target(
        notebook.environment, "claude-sonnet-5-5", server_of, caps, is_automatic=is_automatic
    )
    curation = propose(notebook, notebook.read(), scope or desk.scope, make=make)
    save_curation(notebook, curation)
    return curation


def text_of(asked: Asked) -> str:
    return "".join(sent(asked)[1:])


def shown(asked: Asked) -> dict[str, str]:
    """Return the notes that a request holds in full, by their names, with their ids."""
    notes = re.findall(r"^note (n\d+)\n1\| ---\n2\| name: (\w+)", text_of(asked), re.MULTILINE)
    return {name: id_ for id_, name in notes}


def turns(asked: Asked) -> dict[str, str]:
    """Return the ids of the turns of a request, by what they are about."""
    found = re.findall(r"^turn (t\d+),[^=]*?^\| The (\w+) harbour", text_of(asked), re.M)
    return {port: id_ for id_, port in found}


def moving(wire: Wire, asked: Asked) -> None:
    """Do to every note that is shown what was said of it, and count the bytes as tokens."""
    heard = turns(asked)
    edits = [
        {
            **EMPTY,
            "op": "replace",
            "note": id_,
            "old": "at eight",
            "text": "at nine",
            "evidence": [{"source": heard[port], "quote": f"The {port} harbour opens at nine"}],
        }
        for port, id_ in shown(asked).items()
        if port in heard
    ]
    streamed(asked, *replies.tool_block(json.dumps({"edits": edits})), *replies.ending())(
        wire, asked
    )


def streamed(asked: Asked, *events: replies.Event) -> Script:
    return replies.streamed([replies.start({"input_tokens": len(asked.body) // 4}), *events])


def refused(wire: Wire, asked: Asked) -> None:
    streamed(asked, *replies.ending("refusal", output=9))(wire, asked)


def refusing(*words: str, then: Script = moving) -> Script:
    """Refuse whatever holds one of the `words`."""

    def script(wire: Wire, asked: Asked) -> None:
        is_bad = any(it in text_of(asked) for it in words)
        (refused if is_bad else then)(wire, asked)

    return script


def limited(most: int, status: int = 413, then: Script = moving) -> Script:
    """Turn down whatever is longer than so many bytes."""
    words = "prompt is too long: 300000 tokens > 200000 maximum"
    too_large = replies.error(status, "invalid_request_error", words)

    def script(wire: Wire, asked: Asked) -> None:
        (too_large if len(asked.body) > most else then)(wire, asked)

    return script


def counted_right(desk: Desk) -> None:
    """Check that the caps and the ledger have counted the same."""
    used = sum(it.input_tokens + it.output_tokens for it in ledger(desk))
    assert make_gate(desk.notebook.environment).read_remaining().day == Caps().day - used


def paths(curation: Curation) -> set[str]:
    return {it.path.removesuffix(".md") for it in curation.proposals}


def list_skipped_messages(curation: Curation) -> list[str]:
    return [it.message for it in curation.skipped]
