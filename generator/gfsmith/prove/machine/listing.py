"""The machine code in a generated .S file, read back from its text: what an assembler will see."""

from __future__ import annotations

import re

_BYTES = re.compile(r"\s*\.byte ((?:0x[0-9a-f]{2},?)+)")
_MS = "#if defined(GFSMITH_ASM_MS_ABI)"


class ListingError(ValueError):
    """A file that is not a generated kernel."""


def read(text: str) -> dict[str, bytes]:
    """ABI -> the bytes between GFSMITH_FUNCTION and GFSMITH_END, as the preprocessor selects them."""
    code = {"sysv": bytearray(), "ms": bytearray()}
    active = {"sysv": True, "ms": True}
    inside = False
    for line in text.splitlines():
        if line.startswith("GFSMITH_FUNCTION("):
            inside = True
        elif line.startswith("GFSMITH_END("):
            return {abi: bytes(found) for abi, found in code.items()}
        elif not inside:
            continue
        elif line == _MS:
            active = {"sysv": False, "ms": True}
        elif line == "#else":
            active = {"sysv": True, "ms": False}
        elif line == "#endif":
            active = {"sysv": True, "ms": True}
        elif found := _BYTES.match(line):
            data = bytes(int(byte, 16) for byte in found[1].split(","))
            for abi in code:
                if active[abi]:
                    code[abi] += data
        elif line.strip() and not line.lstrip().startswith(("#", "GFSMITH_CFI(", "GFSMITH_SEH(")):
            raise ListingError(f"not a line of a generated kernel: {line.strip()!r}")
    raise ListingError("no GFSMITH_FUNCTION ... GFSMITH_END in the file")
