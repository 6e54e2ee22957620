"""Random instances of instruction forms, as assembly text."""

from __future__ import annotations

from random import Random

ASSEMBLER = ("clang-19", "--target=s390x-linux-gnu", "-march=z13", "-c")
BASE, INDEX = 12, 13  #: the registers that address memory
_HALF, _WORD = range(-(1 << 15), 1 << 15), range(-(1 << 31), 1 << 31)
_UNSIGNED, _LOWEST = range(1 << 32), range(1 << 16)
#: Mnemonic -> its numbers; of others, 16 bits with a sign.
_NUMBERS = {
    **dict.fromkeys(("lgfi", "agfi", "cgfi", "msgfi"), _WORD),
    **dict.fromkeys(("clgfi", "llilf", "llihf", "oilf"), _UNSIGNED),
    **dict.fromkeys(("sllg", "srlg"), range(64)),
    "vrepib": range(-128, 128),
    "pfd": range(1, 3),
}
#: Mnemonics whose place has an index, a displacement with a sign, or none of them.
_INDEXED = frozenset({"la", "lay", "lg", "ag", "sg", "cg", "clg", "stg", "vl", "vst", "ld", "std", "pfd"})
_SIGNED = frozenset({"lay", "lg", "ag", "sg", "cg", "clg", "stg", "lmg", "stmg", "pfd"})


def write(form: str, rng: Random) -> str:
    """Return the text of a random instance."""
    mnemonic, *shapes = form.split()
    operands = [_operand(mnemonic, number, shape, rng) for number, shape in enumerate(shapes)]
    if mnemonic == "locghi":
        operands.append(str(rng.randrange(1, 15)))
    if mnemonic in ("vx", "vab", "vperm") and rng.getrandbits(1):
        operands[2] = operands[1]
    return f"{mnemonic} {', '.join(operands)}"


def _operand(mnemonic: str, number: int, shape: str, rng: Random) -> str:
    if shape == "r":
        if mnemonic == "mlgr" and number == 0:
            return f"%r{2 * rng.randrange(6)}"
        return f"%r{rng.choice((rng.randrange(12), rng.randrange(4)))}"
    if shape == "v":
        return f"%f{rng.randrange(16)}" if mnemonic in ("ld", "std") else f"%v{rng.randrange(32)}"
    if shape == "#":
        return _number(mnemonic, number, rng)
    offset = rng.randrange(-64 if mnemonic in _SIGNED else 0, 64)
    if shape == "[n]":
        return f"{offset}(8,%r{BASE})"
    if mnemonic in _INDEXED and rng.getrandbits(1):
        return f"{offset}(%r{INDEX},%r{BASE})"
    return f"{offset}(%r{BASE})"


def _number(mnemonic: str, place: int, rng: Random) -> str:
    if mnemonic == "larl":
        return f".+{2 * rng.randrange(-100, 100)}"
    if mnemonic == "risbgn":
        if place == 2:
            return str(rng.choice((rng.randrange(64), 0, 62)))
        zeroed = 128 if rng.randrange(4) else 0
        return str(rng.randrange(64) + zeroed if place == 3 else rng.choice((0, rng.randrange(64))))
    if mnemonic in ("nill", "tmll"):
        bits = rng.randrange(1, 16)
        return str(rng.choice((rng.choice(_LOWEST), (1 << bits) - 1, 1 << bits, 0xFFFF - (1 << bits) + 1)))
    if mnemonic in ("veslb", "vesrlb", "vesrab"):
        return str(rng.choice((rng.randrange(8), 7, rng.randrange(1 << 12))))
    if mnemonic == "alghsik":
        return str(rng.choice((1, 2, rng.choice(_HALF))))
    return str(rng.choice(_NUMBERS.get(mnemonic, _HALF)))
