"""Random instances of instruction forms, as assembly text."""

from __future__ import annotations

import re
from random import Random

ASSEMBLER = ("clang-19", "--target=powerpc64le-linux-gnu", "-mcpu=power10", "-c")
#: Operands in which register 0 means no register, which is another form.
_NO_ZERO = {("addi", 1), ("addis", 1), ("dcbt", 0)}
BASE, INDEX = 20, 21  #: the registers that address memory
#: Mnemonics whose v is one of 64 registers, or v0 to v31; in others, f0 to f31.
_ALL = re.compile(r"xx.*|lxv.*|stxv.*|lxs.*|stxs.*|m[tf]vsrd")
#: Mnemonics whose displacement is a multiple of a number.
_MULTIPLES = {**dict.fromkeys(("ld", "ldu", "std", "stdu"), 4), "lxv": 16, "stxv": 16}
_MEMORY = re.compile(
    r"(l[bhw]zu?x?|lfiwzx|ldu?x?|st[bhwd]u?x?|s?t?l?fdx?|stfiwx|s?t?l?xvd2x|s?t?l?xs.*|s?t?l?vx|s?t?l?xv[xl]?)"
)


def write(form: str, rng: Random) -> str:
    """Return the text of a random instance."""
    mnemonic, *shapes = form.split()
    operands = []
    memory = _MEMORY.fullmatch(mnemonic) is not None
    for number, shape in enumerate(shapes):
        if memory and shape != "v" and number > 0:
            operands.append(_address(mnemonic, shape, last=number == len(shapes) - 1, rng=rng))
        elif shape == "r":
            lowest = 1 if (mnemonic, number) in _NO_ZERO else 0
            operands.append(str(rng.choice((rng.randrange(lowest, 19), rng.randrange(lowest, 4)))))
        elif shape == "v":
            operands.append(str(rng.randrange(64 if _ALL.fullmatch(mnemonic) else 32)))
        elif shape == "cr":
            operands.append(str(rng.randrange(8)))
        elif shape == "bit":
            operands.append(str(4 * rng.randrange(8) + rng.choice((0, 1, 2, rng.randrange(4)))))
        else:
            operands.append(str(_number(mnemonic, number, rng)))
    if mnemonic in ("xxlor", "vaddubm", "or.") and rng.getrandbits(1):  # a move: the same register twice
        operands[2] = operands[1]
    if mnemonic == "subfe" or (mnemonic == "vperm" and rng.getrandbits(1)):
        operands[2] = operands[1]
    return f"{mnemonic} {', '.join(operands)}".rstrip()


def _address(mnemonic: str, shape: str, last: bool, rng: Random) -> str:
    if shape == "[r]":
        offset = rng.randrange(-64, 64)
        return f"{offset & -_MULTIPLES.get(mnemonic, 1)}({BASE})"
    if shape == "#":
        return "0"
    return str(INDEX if last else BASE)


def _number(mnemonic: str, place: int, rng: Random) -> int:
    match mnemonic:
        case "rldicl" | "rldimi" | "clrldi" | "sldi":
            return rng.choice((rng.randrange(64), 8 * rng.randrange(8)))
        case "rldicr" | "rldicr.":
            return rng.choice(
                (rng.randrange(64), 58, 0) if place == 2 else (rng.randrange(64), rng.randrange(6))
            )
        case "rlwinm":
            return 0 if place == 2 else rng.randrange(16 * (place - 3), 16 * (place - 2))
        case "clrlwi":
            return rng.choice((rng.randrange(32), 8 * rng.randrange(4)))
        case "ori":
            return rng.choice((0, rng.randrange(1 << 16)))
        case "andi." | "cmpldi" | "cmplwi":
            bits = rng.randrange(1, 16)
            return rng.choice((rng.randrange(1 << 16), (1 << bits) - 1, 1 << bits))
        case "xxpermdi" | "xxsldwi":
            return rng.randrange(4)
        case "dcbt":
            return 0
        case "vspltisb" | "vspltisw":
            return rng.randrange(-16, 16)
        case "xxeval":
            return rng.choice((0x69, 0x69, rng.randrange(256)))
        case "xxspltib":
            return rng.randrange(256)
        case "xxspltd":
            return rng.randrange(2)
    return rng.randrange(-(1 << 15), 1 << 15)
