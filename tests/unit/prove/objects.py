"""Object files for tests, made by the available assemblers, and the effect of their code on the stack."""

from __future__ import annotations

import subprocess
from pathlib import Path

from iced_x86 import (
    Code,
    Decoder,
    Instruction,
    InstructionInfoFactory,
    Mnemonic,
    OpAccess,
    Register,
    RegisterExt,
)

from gfsmith.prove.machine.formats.image import Image
from gfsmith.prove.machine.x86.frame_rules import Step
from tests.support.paths import ROOT

GEN_OUT = ROOT / "gen_out"

GCC = ["gcc"]
GCC_MS = ["gcc", "-DGFSMITH_MS_ABI"]
CLANG = ["clang-19"]
MACHO = ["clang-19", "--target=x86_64-apple-macos11"]
COFF = ["clang-19", "--target=x86_64-pc-windows-gnu"]
MINGW = ["x86_64-w64-mingw32-gcc"]

#: Adds two shards, vector by vector: f(len, k, tables, src, dst). With second = 0 it adds a shard to itself.
_XOR = """
.text
.globl {name}
.type {name}, @function
{name}:
  mov (%rcx), %rax
  mov {second}(%rcx), %rcx
  mov (%r8), %r8
  test %rdi, %rdi
  je 2f
  xor %r9, %r9
1:
  movdqu (%rax,%r9), %xmm0
  movdqu (%rcx,%r9), %xmm1
  pxor %xmm1, %xmm0
  movdqu %xmm0, (%r8,%r9)
  add $16, %r9
  cmp %rdi, %r9
  jne 1b
2:
  ret
.size {name}, . - {name}
"""

_WRITES = {OpAccess.WRITE, OpAccess.READ_WRITE, OpAccess.COND_WRITE, OpAccess.READ_COND_WRITE}
_VECTOR_LOADS = {Code.MOVAPS_XMM_XMMM128, Code.VEX_VMOVAPS_XMM_XMMM128}
_VECTOR_STORES = {Code.MOVAPS_XMMM128_XMM, Code.VEX_VMOVAPS_XMMM128_XMM}


def run(*command: str | Path) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=True)
    return done.stdout


def assemble(command: list[str], source: str, folder: Path, name: str = "unit") -> Path:
    """Assemble text and return the object file."""
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.S"
    path.write_text(source)
    run(*command, "-c", f"-I{GEN_OUT}", "-o", folder / f"{name}.o", path)
    return folder / f"{name}.o"


def xor_kernels(folder: Path) -> Path:
    """Return an object file with xor_2, which adds two shards, and wrong_2, which adds a shard to itself."""
    text = _XOR.format(name="xor_2", second=8) + _XOR.format(name="wrong_2", second=0)
    return assemble(GCC, text, folder, "kernels")


def kernel(command: list[str], symbol: str, folder: Path) -> Path:
    """Assemble a generated kernel and return the object file."""
    return assemble(command, (GEN_OUT / "x86" / f"{symbol}.S").read_text(), folder, symbol)


def code_of(image: Image, symbol: str) -> bytes:
    function = image.functions[symbol]
    code = image.read(function.address, function.size)
    assert code is not None
    return code


def decode(image: Image, symbol: str) -> list[Instruction]:
    """Return the instructions of a function at their addresses in the image."""
    return list(Decoder(64, code_of(image, symbol), ip=image.functions[symbol].address))


FORMATS = {"elf": GCC, "coff": COFF, "mingw": MINGW, "macho": MACHO}

SECRET = 0x1122334455667788

#: Sections and the spelling of symbols for each format, for text that all assemblers accept.
DIALECT = {
    "elf": ('.section .rodata,"a"', ".type {0}, @function; .globl {0}; {0}:", "{0}"),
    "coff": ('.section .rdata,"dr"', ".globl {0}; {0}:", "{0}"),
    "mingw": ('.section .rdata,"dr"', ".globl {0}; {0}:", "{0}"),
    "macho": (".section __TEXT,__const", ".globl _{0}; _{0}:", "_{0}"),
}


def references(format: str) -> str:
    """Return code with every kind of reference: to constants, data and code,
    pointers, and external symbols.
    """
    constants, head, name = DIALECT[format]
    define = head.format
    spell = name.format
    return f"""
        .intel_syntax noprefix
        .text
        .p2align 4
    {define("reads")}
        lea rax, [rip + secret]
        mov rcx, [rip + secret + 8]
        cmp byte ptr [rip + {spell("number")}], 1
        cmp word ptr [rip + {spell("number")}], 0x1234
        mov dword ptr [rip + {spell("number")}], 0x12345678
        mov rdx, [rip + pointer]
        call {spell("inner")}
        jmp {spell("reads")}
        ret
        .p2align 6
    {define("inner")}
        xor eax, eax
        ret
        .p2align 4
    {define("outward")}
        call {spell("elsewhere")}
        lea rdi, [rip + {spell("foreign")}]
        ret
        {constants}
        .p2align 4
        .quad 7
    secret:
        .quad {SECRET}, {SECRET + 1}
        .data
        .p2align 3
    pointer:
        .quad secret + 8
        .globl {spell("number")}
    {spell("number")}:
        .quad {spell("inner")}
    """


def callee_saved(abi: str) -> set[str]:
    general = {"rbx", "rbp", "r12", "r13", "r14", "r15"}
    if abi == "sysv":
        return general
    return general | {"rsi", "rdi"} | {f"xmm{n}" for n in range(6, 16)}


def walk(image: Image, symbol: str, abi: str) -> list[Step]:
    """Return the stack after each instruction of code with one prologue and one epilogue, from the first to
    the last.
    """
    start = image.functions[symbol].address
    stack = _Stack(callee_saved(abi))
    steps = []
    for instruction in decode(image, symbol):
        stack.leaving |= instruction.code == Code.POP_R64 or _moves_rsp(instruction) < 0
        steps.append(Step(instruction.ip - start, stack.depth, dict(stack.saved), in_epilogue=stack.leaving))
        stack.execute(instruction)
    return steps


def _name(register: int) -> str:
    """rbx for ebx, xmm6 for ymm6."""
    full = RegisterExt.full_register(register)
    names = {value: name.lower() for name, value in vars(Register).items() if isinstance(value, int)}
    return names[full].replace("zmm", "xmm")


def _moves_rsp(instruction: Instruction) -> int:
    """Return the number of bytes by which an addition or subtraction of a constant deepens the stack."""
    if instruction.op0_register != Register.RSP:
        return 0
    if instruction.mnemonic == Mnemonic.LEA and instruction.memory_base == Register.RSP:
        return -int(instruction.memory_displacement)
    sign = {Mnemonic.SUB: 1, Mnemonic.ADD: -1}.get(instruction.mnemonic, 0)
    return sign * instruction.immediate(1) if sign else 0


class _Stack:
    """Depth, slots with entry values, and the registers that no longer hold their entry values."""

    def __init__(self, watched: set[str]) -> None:
        self.watched = watched
        self.depth = 0
        self.slots: dict[str, int] = {}
        self.saved: dict[str, int] = {}
        self.leaving = False
        self.factory = InstructionInfoFactory()

    def execute(self, instruction: Instruction) -> None:
        if instruction.code == Code.PUSH_R64:
            self.depth += 8
            self.slots.setdefault(_name(instruction.op0_register), -self.depth)
        elif instruction.code in _VECTOR_STORES and instruction.memory_base == Register.RSP:
            slot = instruction.memory_displacement - self.depth
            self.slots.setdefault(_name(instruction.op1_register), slot)
        elif instruction.code == Code.POP_R64:
            assert self.slots[_name(instruction.op0_register)] == -self.depth
            self.saved.pop(_name(instruction.op0_register), None)
            self.depth -= 8
        elif instruction.code in _VECTOR_LOADS and instruction.memory_base == Register.RSP:
            name = _name(instruction.op0_register)
            assert self.slots[name] == instruction.memory_displacement - self.depth
            self.saved.pop(name, None)
        elif instruction.code != Code.VEX_VZEROUPPER:  # xmm keep their values
            self.depth += _moves_rsp(instruction)
            self._lose(instruction)

    def _lose(self, instruction: Instruction) -> None:
        for used in self.factory.info(instruction).used_registers():
            if used.access in _WRITES:
                name = _name(used.register)
                if name in self.watched:
                    self.saved[name] = self.slots[name]
