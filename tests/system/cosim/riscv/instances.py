"""Random instances of instruction forms, as assembly text and in objdump's form."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from gfsmith.prove.machine.riscv.decode import Decoded, parse
from gfsmith.prove.machine.riscv.disassembler import disassemble

ASSEMBLER = ("clang-19", "--target=riscv64-linux-gnu", "-march=rv64gcv_zbb_zbc", "-mno-relax", "-c")
BASE, STACK = 9, 2  #: the registers that address memory
_SHORT = (*range(8, 16),)  #: the registers of most compressed instructions
_NARROW = ("c.sub", "c.ld", "c.sd", "c.xor", "c.srli", "c.addi4spn", "c.beqz", "c.bnez")
_FAR = ".+8"  #: the second target of the trampoline
SLOT = 4  #: bytes of an instance, a compressed one with a no-op


@dataclass(frozen=True, slots=True)
class Instance:
    """One instruction: its form, its text, its encoding in a slot, and the decoded instruction."""

    form: str
    text: str
    encoded: bytes
    decoded: Decoded


def write(form: str, rng: Random) -> str:
    """Return the text of a random instance."""
    mnemonic, *shapes = form.split()
    operands = [_operand(mnemonic, number, shape, rng) for number, shape in enumerate(shapes)]
    if mnemonic == "c.addi4spn":
        operands[1] = "x2"
    if mnemonic == "c.addi16sp":
        operands[0] = "x2"
    if mnemonic == "vsetvli" and not rng.randrange(4):
        operands[1] = "x0"
    if mnemonic == "csrrs":
        operands[2] = "x0"
    if "m" in shapes or mnemonic in ("vrgather.vv", "vmsbf.m"):  # equal registers are reserved
        vectors = [number for number, shape in enumerate(shapes) if shape == "v"]
        for number, register in zip(vectors, rng.sample(range(1, 32), len(vectors)), strict=True):
            operands[number] = f"v{register}"
    if mnemonic == "vadd.vv" and rng.getrandbits(1):  # of a register and itself, which data permit
        operands[2] = operands[1]
    return f"{mnemonic} {', '.join(operands)}".rstrip()


def _operand(mnemonic: str, number: int, shape: str, rng: Random) -> str:
    match shape:
        case "r":
            if mnemonic in _NARROW:
                return f"x{rng.choice(_SHORT)}"
            numbers = [n for n in range(mnemonic.startswith("c."), 32) if n != 2 or mnemonic != "c.lui"]
            return f"x{rng.choice((rng.choice(numbers), rng.choice(numbers[:4])))}"
        case "v":
            return f"v{rng.choice((rng.randrange(32), rng.randrange(3)))}"
        case "(r)":
            return _place(mnemonic, rng)
        case "m":
            return "v0.t"
        case "type":
            return f"e8, m1, {rng.choice(('ta', 'tu'))}, {rng.choice(('ma', 'mu'))}"
        case "#":
            return str(_number(mnemonic, rng))
    return shape


def _place(mnemonic: str, rng: Random) -> str:
    if "." in mnemonic and not mnemonic.startswith("c."):
        return f"(x{BASE})"
    if mnemonic.endswith("sp"):
        return f"{8 * rng.randrange(8)}(x{STACK})"
    lowest = 0 if mnemonic.startswith("c.") else -8
    return f"{8 * rng.randrange(lowest, 8)}(x{BASE})"


def _number(mnemonic: str, rng: Random) -> int | str:
    match mnemonic:
        case "c.addi":
            return rng.choice((-32, 31, -1, 1, rng.randrange(1, 32)))
        case "c.addi16sp":
            return 16 * rng.choice((-32, 31, rng.randrange(1, 32)))
        case "c.addi4spn":
            return 4 * rng.randrange(1, 256)
        case "slli" | "c.slli" | "srli" | "c.srli":
            return rng.choice((rng.randrange(1, 64), rng.randrange(1, 4)))
        case "lui":
            return rng.randrange(1 << 20)
        case "c.lui":
            return rng.choice((rng.randrange(1, 32), (1 << 20) - rng.randrange(1, 33)))
        case "c.li" | "c.addiw":
            return rng.randrange(-32, 32)
        case "addi" | "addiw":
            return rng.choice((0, rng.randrange(-2048, 2048)))
        case "vmv.v.i" | "vmseq.vi" | "vmsleu.vi":
            return rng.randrange(-16, 16)
        case "vsrl.vi" | "vsra.vi" | "vsll.vi":
            return rng.choice((1, 4, 7, 7, rng.randrange(32)))
        case "vsetivli":
            return rng.randrange(32)
    return _FAR


def _slot(text: str) -> str:
    """Return an instance, which the assembler must not compress, and the rest of its slot."""
    option = "rvc" if text.startswith("c.") else "norvc"
    return f".option {option}\n{text}\n.option rvc\n.p2align 2\n"


def assemble(lines: Sequence[tuple[str, str]], folder: Path) -> list[Instance]:
    """Assemble instances of (form, text). Each has a slot."""
    source, found, raw = folder / "instances.s", folder / "instances.o", folder / "instances.bin"
    source.write_text("".join(map(_slot, (text for _, text in lines))))
    subprocess.run([*ASSEMBLER, "-o", str(found), str(source)], check=True)
    subprocess.run(["llvm-objcopy-19", "-O", "binary", "-j", ".text", str(found), str(raw)], check=True)
    code = raw.read_bytes()
    assert len(code) == SLOT * len(lines)
    decoded = {line.offset: parse(line.text) for line in disassemble(code)}
    words = [code[at : at + SLOT] for at in range(0, len(code), SLOT)]
    return [
        Instance(form, text, word, decoded[SLOT * number])
        for number, ((form, text), word) in enumerate(zip(lines, words, strict=True))
    ]
