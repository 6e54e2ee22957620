"""A kernel's .S file as an assembly statement: the same bytes, and unknown lines are refused."""

from __future__ import annotations

import re

import pytest

from gfsmith.export.assembly import AssemblyError, statement
from tests.system.export.support import made

KERNEL = """/* banner */
GFSMITH_FUNCTION(f)
#if defined(GFSMITH_ASM_MS_ABI)
    .byte 0x57                              # push rdi
    GFSMITH_SEH(.seh_pushreg rdi)
#endif
# loop
    .byte 0x31,0xc0                         # xor eax, eax
    .byte 0xc3
GFSMITH_END(f)
GFSMITH_OBJECT_NOTES
"""


def test_a_statement() -> None:
    assert statement(KERNEL).splitlines() == [
        "__asm__(",
        '  GFSMITH_FUNCTION("f")',
        "#if defined(GFSMITH_ASM_MS_ABI)",
        '  ".byte 0x57\\n"',
        '  GFSMITH_SEH(".seh_pushreg rdi")',
        "#endif",
        '  ".byte 0x31,0xc0,0xc3\\n"',
        '  GFSMITH_END("f")',
        ");",
    ]


@pytest.mark.parametrize("line", ["    nop", "    .byte 1 2", "label:", "    .align 8", "    .byte"])
def test_unknown_lines_are_refused(line: str) -> None:
    with pytest.raises(AssemblyError, match=f"not a line of a kernel: {re.escape(line)}"):
        statement(KERNEL.replace("# loop", line))


def test_every_byte_is_there_in_its_order() -> None:
    for kernel in made("gfs").kernels:
        if kernel.spec.machine_code:
            written = re.findall(r"0x[0-9a-f]{2}\b", statement(kernel.text))
            listed = re.sub(r"#[^\n]*", "", kernel.text.split("GFSMITH_FUNCTION(")[1])
            assert written == re.findall(r"0x[0-9a-f]{2}\b", listed)
            assert len(written) > kernel.size
