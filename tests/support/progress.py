"""The lines of progress that `gfsmith` prints in a pipe, which appear on a slow or busy machine."""

from __future__ import annotations

import re

_LINE = re.compile(r"^gfsmith: [a-z' -]+: \d+ of \d+\n", re.MULTILINE)


def without_progress(stderr: str) -> str:
    """Return the text on stderr without the lines of progress."""
    return _LINE.sub("", stderr)
