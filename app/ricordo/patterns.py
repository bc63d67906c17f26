"""Regular expressions that are compiled when they are first used.

Compiling all expressions of the modules that a command imports takes longer than many commands do,
and most of them are not used then.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, AnyStr


class _LazyPattern:
    """Stands for a pattern, with its attributes; the first use of one compiles it."""

    def __init__(self, expression: str | bytes, flags: int) -> None:
        self.__expression = expression
        self.__flags = flags

    def __getattr__(self, name: str) -> Any:
        # called only for names that are not set: the next use finds the method at once
        value = getattr(re.compile(self.__expression, self.__flags), name)
        setattr(self, name, value)
        return value


def compile_lazily(expression: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return what `re.compile` returns, compiled on first use. An expression that is not valid
    raises re.error then.
    """
    pattern: Any = _LazyPattern(expression, flags)
    result: re.Pattern[AnyStr] = pattern
    return result
