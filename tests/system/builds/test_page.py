"""docs/build.md shows the code of the examples."""

from __future__ import annotations

import re

import pytest

from tests.support.paths import ROOT
from tests.system.builds.support import EXAMPLES

FILES = {
    "cmake": "cmake/CMakeLists.txt",
    "make": "make/Makefile",
    "meson": "meson/shards/meson.build",
    "starlark": "bazel/BUILD",
}


@pytest.mark.parametrize("language", FILES)
def test_snippets_are_of_the_examples(language: str) -> None:
    page = (ROOT / "docs/build.md").read_text(encoding="utf-8")
    (snippet,) = re.findall(rf"^```{language}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    example = (EXAMPLES / FILES[language]).read_text(encoding="utf-8")
    for part in snippet.strip().split("\n\n"):
        assert part in example
