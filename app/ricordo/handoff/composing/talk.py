"""The talk of a session: what the person said, and what the agent said then."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ricordo.handoff.composing.words import is_only
from ricordo.handoff.facts import Facts, Ref, Said


@dataclass(frozen=True, slots=True)
class Exchange:
    """A message of the person, and what the agent said until the next one."""

    wish: Said | None
    """None for what an agent said before the person said anything."""
    answers: tuple[Said, ...]
    is_over: bool
    """Whether the agent's last words close it: another message of the person followed, or nothing
    was done behind them.
    """

    @property
    def closing(self) -> Said | None:
        """The words with which the agent closed it; None where it is not closed."""
        return self.answers[-1] if self.answers and self.is_over else None


@dataclass(frozen=True, slots=True)
class Talk:
    """The talk of all sessions, in the order of time."""

    exchanges: tuple[Exchange, ...]

    @property
    def wishes(self) -> tuple[Said, ...]:
        """The messages of the person that say more than “yes” or “go on”."""
        spoken = (it.wish for it in self.exchanges)
        return tuple(it for it in spoken if it is not None and not is_only("assent", it.text))

    @property
    def last(self) -> Exchange | None:
        """The one with which it ends."""
        return self.exchanges[-1] if self.exchanges else None

    def after(self, ref: Ref) -> Said | None:
        """Return what the agent said first after the turn `ref`, before the person spoke again."""
        for exchange in self.exchanges:
            for it in exchange.answers:
                if _place(it.ref) > _place(ref):
                    begun = exchange.wish is None or _place(exchange.wish.ref) < _place(ref)
                    return it if begun else None
        return None

    def answered(self, said: Said) -> bool:
        """Whether an agent had spoken in its session before the person said this."""
        return any(
            it.ref.session == said.ref.session and it.ref.turn < said.ref.turn
            for exchange in self.exchanges
            for it in exchange.answers
        )


def talk(facts: Facts) -> Talk:
    """Return the talk of the sessions that `facts` are of."""
    ends = _last_deed(facts)
    grouped: list[tuple[Said | None, list[Said]]] = []
    for it in sorted(facts.said, key=lambda it: _place(it.ref)):
        if it.is_person:
            grouped.append((it, []))
        elif grouped:
            grouped[-1][1].append(it)
        else:
            grouped.append((None, [it]))
    return Talk(
        tuple(
            Exchange(wish, tuple(answers), number < len(grouped) - 1 or _closes(answers, ends))
            for number, (wish, answers) in enumerate(grouped)
        )
    )


def _closes(answers: Sequence[Said], ends: tuple[int, int]) -> bool:
    return bool(answers) and _place(answers[-1].ref) > ends


def _last_deed(facts: Facts) -> tuple[int, int]:
    """Return where something was done last: a command, a reading or changing of a file."""
    done: Iterable[Ref] = (*(it.ref for it in facts.ran), *(it.last for it in facts.files))
    return max(map(_place, done), default=(0, 0))


def _place(ref: Ref) -> tuple[int, int]:
    return ref.session, ref.turn
