"""The machine code in a generated .S file."""

from __future__ import annotations

import re

from judge.integers import Rejected

_BYTES = re.compile(r"\s*\.byte ((?:0x[0-9a-f]{2},)*0x[0-9a-f]{2}) *(?:#.*)?")
_BRANCHES = {"#if defined(GFSMITH_ASM_MS_ABI)": "ms", "#else": "sysv", "#endif": ""}


def read(text: str, symbol: str) -> dict[str, bytes]:
    """Return the bytes of a function by ABI: lines between #if and #else are Microsoft's, lines between #else
    and #endif System V's, others belong to both."""
    begin, end = f"GFSMITH_FUNCTION({symbol})\n", f"\nGFSMITH_END({symbol})\n"
    if text.count(begin) != 1 or text.count(end) != 1:
        raise Rejected(f"no function {symbol}")
    code: dict[str, bytearray] = {"sysv": bytearray(), "ms": bytearray()}
    active = ""
    for line in text.partition(begin)[2].partition(end)[0].split("\n"):
        if line in _BRANCHES:
            active = _BRANCHES[line]
        elif found := _BYTES.fullmatch(line):
            data = bytes(int(byte, 16) for byte in found[1].split(","))
            for abi in [active] if active else code:
                code[abi] += data
        elif line[:1] != "#" and not line.lstrip().startswith(("GFSMITH_CFI(", "GFSMITH_SEH(")):
            raise Rejected(f"a line that no generated kernel has: {line.strip()}")
    return {abi: bytes(found) for abi, found in code.items()}
