"""Random instances of one instruction form: operands, encoding, and the initial machine state."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from iced_x86 import (
    Code,
    Decoder,
    Encoder,
    EncodingKind,
    Instruction,
    MemorySizeExt,
    OpCodeOperandKind,
    OpKind,
    Register,
    RegisterExt,
)

from tests.system.cosim.x86.cpu import GPR, Level, Machine

CODE_NAMES = {value: name for name, value in vars(Code).items() if isinstance(value, int)}
_KIND_NAMES = {v: name for name, v in vars(OpCodeOperandKind).items() if isinstance(v, int)}
_WORD = (1 << 64) - 1
_R64 = tuple(getattr(Register, name.upper()) for name in GPR)


def _registers(names: str, count: int = 1) -> tuple[int, ...]:
    return tuple(getattr(Register, name.format(n)) for name in names.split() for n in range(count))


#: Registers by the first word of an operand kind's name.
_CLASSES: dict[str, tuple[int, ...]] = {
    "R8": _registers("AL CL DL BL AH CH DH BH SPL BPL SIL DIL R8L R9L R10L R11L R12L R13L R14L R15L"),
    "R16": _registers("AX CX DX BX SP BP SI DI R8W R9W R10W R11W R12W R13W R14W R15W"),
    "R32": tuple(RegisterExt.full_register32(register) for register in _R64),
    "R64": _R64,
    "XMM": _registers("XMM{}", 32),
    "YMM": _registers("YMM{}", 32),
    "ZMM": _registers("ZMM{}", 32),
    "K": _registers("K{}", 8),
    **{name: _registers(name) for name in ("AL", "CL", "AX", "EAX", "RAX", "DX")},
}

#: Operand kind of the form -> (the instruction's field, bytes).
_IMMEDIATES: dict[str, tuple[str, int]] = {
    "IMM8": ("immediate8", 1),
    "IMM8_CONST_1": ("immediate8", 1),
    "IMM8SEX16": ("immediate8to16", 1),
    "IMM8SEX32": ("immediate8to32", 1),
    "IMM8SEX64": ("immediate8to64", 1),
    "IMM16": ("immediate16", 2),
    "IMM32": ("immediate32", 4),
    "IMM32SEX64": ("immediate32to64", 4),
    "IMM64": ("immediate64", 8),
}


@dataclass(frozen=True, slots=True)
class Place:
    """Addresses of the memory block and of the instruction."""

    block: int
    block_bytes: int
    code: int


@dataclass(frozen=True, slots=True)
class Instance:
    """An encoded instruction, as decoded from its bytes, and the state to execute it in.

    operand: the address of its memory operand, if it accesses one. whole: that operand is in the block and
    not masked, so the instruction accesses all of it.
    """

    encoded: bytes
    instruction: Instruction
    machine: Machine
    operand: int | None
    whole: bool

    def __str__(self) -> str:
        return f"{self.instruction} [{self.encoded.hex(' ')}]"


def vector_level(code: int) -> Level:
    """Return the least vector state that a form needs."""
    info = Instruction.create(code).op_code()  # type: ignore[arg-type]
    kinds = [_KIND_NAMES[kind] for kind in info.op_kinds()]
    if info.encoding == EncodingKind.EVEX or any(kind.startswith("K_") for kind in kinds):
        return Level.AVX512
    return Level.AVX if info.encoding == EncodingKind.VEX else Level.SSE


# ---- contents ----


def _vector(rng: Random) -> bytes:
    """Return 64 bytes: random, or a pattern."""
    kind = rng.randrange(10)
    if kind == 0:
        return bytes(64)
    if kind == 1:
        return b"\xff" * 64
    if kind == 2:
        first = rng.randrange(256)
        return bytes((first + n) & 0xFF for n in range(64))
    data = rng.randbytes(64)
    if kind in (3, 4):
        return bytes(byte & 0x0F for byte in data)
    if kind == 5:
        return bytes(1 << (byte & 7) for byte in data)
    return data


def _number(rng: Random) -> int:
    """Return a 64-bit word: random, small, or close to the ends of a range."""
    kind = rng.randrange(8)
    if kind == 0:
        return rng.randrange(130)
    if kind == 1:
        return rng.randbytes(1)[0] << 8 * rng.randrange(8)
    if kind == 2:
        return ((1 << rng.choice((8, 16, 31, 32, 63, 64))) + rng.randrange(-2, 2)) & _WORD
    if kind == 3:
        return rng.getrandbits(32)
    return rng.getrandbits(64)


def _mask(rng: Random) -> int:
    """Return a mask: random, or the first n bits, or none, or all."""
    return rng.choice((rng.getrandbits(64), (1 << rng.randrange(65)) - 1, 0, _WORD))


def random_machine(rng: Random, level: Level, block_bytes: int) -> Machine:
    """Return a state whose vector registers are zero beyond `level`, and sometimes above 16 bytes."""
    width = level.vector_bytes if rng.randrange(4) else 16
    return Machine(
        gpr=[_number(rng) for _ in GPR],
        rflags=rng.getrandbits(12),
        masks=[_mask(rng) if level is Level.AVX512 else 0 for _ in range(8)],
        vectors=[(_vector(rng)[:width] if n < level.vectors else b"").ljust(64, b"\0") for n in range(32)],
        memory=b"".join(_vector(rng) for _ in range(block_bytes // 64)),
    )


# ---- instructions ----


class _Builder:
    """Builder of one instance."""

    def __init__(self, code: int, rng: Random, place: Place, level: Level) -> None:
        self.rng, self.place = rng, place
        self.machine = random_machine(rng, level, place.block_bytes)
        self.instruction = Instruction.create(code)  # type: ignore[arg-type]
        self.info = self.instruction.op_code()
        self.registers: list[int] = []
        self.in_memory = False
        self.operand: int | None = None

    def build(self) -> Instance | None:
        """Return the instance, None if these operands cannot be encoded."""
        for position, kind in enumerate(self.info.op_kinds()):
            self._operand(position, _KIND_NAMES[kind])
        self._masking()
        if self.in_memory:
            if self.info.can_broadcast:
                self.instruction.is_broadcast = bool(self.rng.getrandbits(1))
            self._address()
        encoded = self._encode()
        if encoded is None:
            return None
        decoded = Decoder(64, encoded, ip=self.place.code).decode()
        if decoded.code != self.instruction.code or decoded.len != len(encoded):
            return None
        whole = self.operand is not None and not decoded.has_op_mask
        return Instance(encoded, decoded, self.machine, self.operand, whole)

    def _encode(self) -> bytes | None:
        """Encode, with random values in the bits that the CPU ignores."""
        encoder = Encoder(64)
        encoder.vex_wig, encoder.vex_lig = self.rng.randrange(2), self.rng.randrange(2)
        encoder.evex_wig, encoder.evex_lig = self.rng.randrange(2), self.rng.randrange(3)
        encoder.prevent_vex2 = bool(self.rng.getrandbits(1))
        try:
            encoder.encode(self.instruction, self.place.code)
        except ValueError:
            return None
        return encoder.take_buffer()

    def _operand(self, position: int, kind: str) -> None:
        instruction, rng = self.instruction, self.rng
        if kind in _IMMEDIATES:
            name, size = _IMMEDIATES[kind]
            instruction.set_op_kind(position, getattr(OpKind, name.upper()))
            value = 1 if kind == "IMM8_CONST_1" else self._immediate(size)
            if name.endswith(("to16", "to32", "to64")) and value >> 8 * size - 1:
                value -= 1 << 8 * size
            setattr(instruction, name, value)
        elif kind == "MEM" or (kind.endswith("_MEM") and rng.getrandbits(1)):
            instruction.set_op_kind(position, OpKind.MEMORY)
            self.in_memory = True
        else:
            candidates = _CLASSES[kind.split("_")[0]]
            if self.info.encoding != EncodingKind.EVEX and kind[1:3] == "MM":
                candidates = candidates[:16]
            used = [register for register in self.registers if register in candidates]
            register = rng.choice(used if used and not rng.randrange(3) else candidates)
            self.registers.append(register)
            instruction.set_op_kind(position, OpKind.REGISTER)
            instruction.set_op_register(position, register)  # type: ignore[arg-type]

    def _immediate(self, size: int) -> int:
        """Return a random immediate, often a small one, or 0x96, which makes vpternlog a three-input XOR."""
        kind = self.rng.randrange(4)
        if kind == 0:
            return self.rng.choice((0x96, self.rng.randrange(8)))
        return self.rng.randrange(72) if kind == 1 else self.rng.getrandbits(8 * size)

    def _masking(self) -> None:
        if not self.info.can_use_op_mask_register:
            return
        if self.info.require_op_mask_register or self.rng.randrange(4):
            self.instruction.op_mask = self.rng.choice(_CLASSES["K"][1:])  # type: ignore[assignment]
            destination_in_memory = self.instruction.op0_kind == OpKind.MEMORY
            if self.info.can_use_zeroing_masking and not destination_in_memory:
                self.instruction.zeroing_masking = bool(self.rng.getrandbits(1))

    def _target(self, size: int) -> int:
        """Return an address with `size` bytes in the block, often aligned."""
        rng, place = self.rng, self.place
        offset = rng.randrange(place.block_bytes - size + 1)
        if rng.getrandbits(1):
            offset -= offset % max(size, 16)
        if self.instruction.op_mask and not rng.randrange(3):
            return self._straddling_target(size)
        return place.block + offset

    def _straddling_target(self, size: int) -> int:
        """Return an address half in the block: the elements outside are masked out."""
        element = MemorySizeExt.element_size(self.instruction.memory_size)
        count, number = size // element, RegisterExt.number(self.instruction.op_mask)
        inside = self.rng.randrange(count + 1)
        if self.rng.getrandbits(1):
            self.machine.masks[number] = self.rng.getrandbits(64) & ((1 << inside) - 1)
            return self.place.block + self.place.block_bytes - inside * element
        outside = count - inside
        self.machine.masks[number] = self.rng.getrandbits(64) >> outside << outside
        return self.place.block - outside * element

    def _address(self) -> None:
        """Draw a base, an index or both, or rip, and set registers so that the operand is in the block."""
        rng, instruction = self.rng, self.instruction
        size = MemorySizeExt.size(instruction.memory_size)
        target = self._target(size) if size else rng.getrandbits(64)
        self.operand = target if size else None
        if not rng.randrange(8):
            instruction.memory_base = Register.RIP
            instruction.memory_displ_size = 8
            if not size:
                target = self.place.code + rng.randrange(-(1 << 20), 1 << 20)
            instruction.memory_displacement = target
            return
        displacement = self._displacement(size)
        base = rng.choice(range(16))
        rest = target - displacement
        if rng.randrange(3):
            index = rng.choice([n for n in range(16) if n not in (base, GPR.index("rsp"))])
            instruction.memory_index = _R64[index]
            instruction.memory_index_scale = rng.choice((1, 2, 4, 8))
            if rng.getrandbits(1):
                self.machine.gpr[index] = rng.randrange(1 << 12)
            rest -= self.machine.gpr[index] * instruction.memory_index_scale
        instruction.memory_base = _R64[base]
        self.machine.gpr[base] = rest & _WORD

    def _displacement(self, size: int) -> int:
        """Return no displacement, a multiple of the operand's size (which EVEX scales), a small or a large
        one.
        """
        rng = self.rng
        value = rng.choice(
            (
                0,
                rng.randrange(-128, 128) * max(size, 1),
                rng.randrange(-128, 128),
                rng.randrange(-(1 << 31), 1 << 31),
            )
        )
        if value or rng.getrandbits(1):
            self.instruction.memory_displ_size = rng.choice((1, 8))
        self.instruction.memory_displacement = value & _WORD
        return value


def make_instance(code: int, rng: Random, place: Place, level: Level) -> Instance | None:
    """Return a random instance of the form, None if the operands drawn have no encoding (draw again)."""
    return _Builder(code, rng, place, level).build()
