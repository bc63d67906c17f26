"""How far a note can be trusted, as lines: the curve, the figure, why, and until when."""

from __future__ import annotations

from ricordo.health.retention import Retention
from ricordo.tui.render.line import Line, Span, wrap

_BARS = "▁▂▃▄▅▆▇█"
_YEAR = 365
_POINTS = 7
"""Of the curve."""
_LEAST = 0.5
"""The share at the foot of the curve: it falls steeply first, and below one half hardly at all."""
_INDENT = (Span("  "),)


def curve(retention: Retention) -> str:
    """Return how it fell from the day on which the note was written or confirmed until today."""
    days = max(0, (retention.today - retention.since).days)
    shares = (retention.after(round(days * n / (_POINTS - 1))) for n in range(_POINTS))
    return "".join(_bar(share) for share in shares)


def retention_line(retention: Retention) -> Line:
    """Return curve and figure in one row."""
    style = "warning" if retention.is_stale else ""
    figure = Span(f" {retention.share:.2f}", f"{style} bold".strip())
    return Line((Span("retention ", "dim"), Span(curve(retention), style or "accent"), figure))


def retention_lines(retention: Retention, width: int) -> list[Line]:
    """Return curve, figure and reasons in `width` cells."""
    told = [*retention.reasons, _forecast(retention)]
    rows = (
        row for text in told if text for row in wrap([Span(text, "dim")], width, *[_INDENT] * 2)
    )
    return [retention_line(retention), *map(Line, rows)]


def _forecast(retention: Retention) -> str:
    if retention.life.is_wrong:
        return ""
    verb = "stale since" if retention.is_stale else "stale on"
    return f"half-life {_span(retention.half_life)}, {verb} {retention.stale_on:%-d %b %Y}"


def _span(days: int) -> str:
    return f"{days} days" if days < 2 * _YEAR else f"{days / _YEAR:.1f} years"


def _bar(share: float) -> str:
    height = (share - _LEAST) / (1 - _LEAST) * (len(_BARS) - 1)
    return _BARS[min(max(round(height), 0), len(_BARS) - 1)]
