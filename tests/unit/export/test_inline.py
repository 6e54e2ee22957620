"""Many sources in one: each include appears once, at the right place and under the right conditions."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from gfsmith.export.inline import InlineError, Inliner

HEADER = "#ifndef H_H\n#define H_H\nint h;\n#endif\n"


def inlined(text: str, known: frozenset[str] = frozenset(), **files: str) -> str:
    named = {name.replace("_", ".", 1): content for name, content in files.items()}
    return Inliner(named, known).text(text)


def test_system_headers_stay_and_known_ones_go() -> None:
    text = '#include <string.h>\n#include <sys/auxv.h>\n#include "h.h"\n#include <h.h>\n'
    assert inlined(text, frozenset({"h.h"})) == "#include <string.h>\n#include <sys/auxv.h>\n"


def test_a_header_is_there_once() -> None:
    assert inlined('#include "h.h"\n#include "h.h"\n', h_h=HEADER).count("int h;") == 1


def test_a_list_is_there_as_often_as_it_is_included() -> None:
    text = '#define X(a) a,\n#include "x.inc"\n#undef X\n#define X(a) #a,\n#include "x.inc"\n'
    assert inlined(text, x_inc="X(one)\n").count("X(one)") == 2


def test_angle_brackets_for_a_header_of_the_sources() -> None:
    assert "int h;" in inlined("#include <h.h>\n", h_h=HEADER)


def test_under_two_exclusive_conditions_it_is_there_twice() -> None:
    text = '#if A\n#include "h.h"\n#elif B\n#include "h.h"\n#else\n#include "h.h"\n#endif\n'
    assert inlined(text, h_h=HEADER).count("int h;") == 3


def test_under_the_same_or_a_narrower_condition_it_is_there_once() -> None:
    text = '#if A\n#include "h.h"\n#if B\n#include "h.h"\n#endif\n#endif\n#if A\n#include "h.h"\n#endif\n'
    assert inlined(text, h_h=HEADER).count("int h;") == 1


def test_under_a_wider_condition_it_is_there_again() -> None:
    text = '#if A\n#if B\n#include "h.h"\n#endif\n#include "h.h"\n#endif\n#include "h.h"\n'
    assert inlined(text, h_h=HEADER).count("int h;") == 3


def test_a_headers_guard_is_no_condition_of_its_includes() -> None:
    """i.h includes j.h unconditionally, so j.h is not needed again."""
    outer = '#ifndef I_H\n#define I_H\n#include "h.h"\n#endif\n'
    assert inlined('#include "i.h"\n#include "h.h"\n', i_h=outer, h_h=HEADER).count("int h;") == 1


def test_a_condition_that_is_not_the_guard_is_one() -> None:
    outer = '#ifdef DEEP\n#include "h.h"\n#endif\n'
    assert inlined('#include "i.h"\n#include "h.h"\n', i_h=outer, h_h=HEADER).count("int h;") == 2


def test_continued_lines_and_comments_are_left_alone() -> None:
    text = '#define M \\\n  #include "not.h"\n/*\n * #include "not.h"\n */\n#if A && \\\n  B\n#endif\n'
    assert inlined(text) == text


def test_a_missing_file_is_named() -> None:
    with pytest.raises(InlineError, match=r'#include "gone.h": no such file'):
        inlined('#include "gone.h"\n')


def test_the_preprocessed_text_is_the_same(tmp_path: Path) -> None:
    """Preprocessing one file and many files gives the same text for every value of the conditions."""
    files = {
        "h.h": HEADER,
        "i.h": '#ifndef I_H\n#define I_H\n#if A\n#include "h.h"\n#endif\nint i;\n#endif\n',
        "x.inc": "X(1) X(2)\n",
    }
    main = (
        '#ifdef B\n#include "i.h"\n#else\nint b;\n#endif\n#include "i.h"\n#include "h.h"\n'
        '#define X(n) int x##n;\n#include "x.inc"\n#undef X\n'
    )
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "main.c").write_text(main)
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "main.c").write_text(Inliner(files, frozenset()).text(main))
    for flags in ([], ["-DB"], ["-DA=1"], ["-DA=1", "-DB"]):
        seen = [
            subprocess.run(["gcc", "-E", "-P", *flags, path], capture_output=True, check=True).stdout.split()
            for path in (tmp_path / "main.c", tmp_path / "one" / "main.c")
        ]
        assert seen[0] == seen[1]
