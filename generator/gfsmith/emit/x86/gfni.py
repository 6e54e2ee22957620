"""GFNI instructions for PeachPy, which has none: gf2p8affineqb, gf2p8affineinvqb and gf2p8mulb.

Encodings from the Intel SDM, volume 2A: legacy (66 0F 3A CE/CF, 66 0F 38 CF), VEX and EVEX (map 0F3A with W1
for the affine forms, map 0F38 with W0 for the product), with embedded broadcast of a 64-bit matrix (affine
forms only) and masking in EVEX.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from peachpy.x86_64 import encoding
from peachpy.x86_64.instructions import Instruction
from peachpy.x86_64.operand import MemoryOperand, check_operand
from peachpy.x86_64.registers import MaskedRegister, Register, XMMRegister, YMMRegister, ZMMRegister

_LENGTH = {XMMRegister: 0, YMMRegister: 1, ZMMRegister: 2}
_PP_66 = 1
_MAP_0F38, _MAP_0F3A = 2, 3


def _bare(operand: Any) -> Any:
    return operand.register if isinstance(operand, MaskedRegister) else operand


def _modrm(reg: Any, rm: Any, disp8xN: int) -> bytearray:
    if isinstance(rm, Register):
        return bytearray([0xC0 | reg.lcode << 3 | rm.lcode])
    return bytearray(encoding.modrm_sib_disp(reg.lcode, rm.address, disp8xN=disp8xN))


class _Gfni(Instruction):  # type: ignore[misc]  # PeachPy has no types
    """Base of the three instructions. Subclasses set `opcode`, `affine` and `vector`."""

    opcode = 0
    affine = True
    vector = False

    def __init__(self, *args: Any) -> None:
        super().__init__(type(self).__name__)
        self.operands = tuple(map(check_operand, args))
        expected = 2 + self.affine + self.vector
        if len(self.operands) != expected:
            raise SyntaxError(f"{self.name} requires {expected} operands")
        self.in_regs = (not self.vector, True, self.vector, False)[:expected]
        self.out_regs = (True, False, False, False)[:expected]
        self.out_operands = self.out_regs
        self.avx_mode = self.vector
        self.encodings = [(0, self._encoder())]

    def _encoder(self) -> Callable[[Any], bytearray]:
        if not self.vector:
            return self._legacy
        registers = [_bare(o) for o in self.operands if isinstance(_bare(o), Register)]
        masked = isinstance(self.operands[0], MaskedRegister)
        broadcast = isinstance(self.operands[2], MemoryOperand) and self.operands[2].bcode
        high = any(r.physical_id >= 16 for r in registers)
        if masked or broadcast or high or isinstance(registers[0], ZMMRegister):
            return self._evex
        return self._vex

    def _immediate(self, op: Any) -> bytearray:
        return bytearray([op[-1] & 0xFF]) if self.affine else bytearray()

    @property
    def _map(self) -> int:
        return _MAP_0F3A if self.affine else _MAP_0F38

    def _legacy(self, op: Any) -> bytearray:
        reg, rm = op[0], op[1]
        rex = encoding.optional_rex(reg.hcode, rm if isinstance(rm, Register) else rm.address)
        escape = [0x0F, 0x3A if self.affine else 0x38, self.opcode]
        prefix = bytearray([0x66]) + bytearray(rex) + bytearray(escape)
        return prefix + _modrm(reg, rm, 1) + self._immediate(op)

    def _vex(self, op: Any) -> bytearray:
        reg, vvvv, rm = op[0], op[1], op[2]
        w_l_pp = self.affine << 7 | _LENGTH[type(reg)] << 2 | _PP_66
        if isinstance(rm, Register):
            first = 0xE0 ^ (reg.hcode << 7) ^ (rm.hcode << 5) ^ self._map
            prefix = bytearray([0xC4, first, 0x78 ^ (vvvv.hlcode << 3) ^ w_l_pp])
        else:
            prefix = bytearray(encoding.vex3(0xC4, self._map, w_l_pp, reg.hcode, rm.address, vvvv.hlcode))
        return prefix + bytearray([self.opcode]) + _modrm(reg, rm, 1) + self._immediate(op)

    def _evex(self, op: Any) -> bytearray:
        reg, vvvv, rm = _bare(op[0]), op[1], op[2]
        broadcast = 0 if isinstance(rm, Register) else rm.bcode
        if broadcast and not self.affine:
            raise SyntaxError(f"{self.name} has no embedded broadcast")
        length = _LENGTH[type(reg)]
        prefix = encoding.evex(
            self._map,
            self.affine << 7 | 1 << 2 | _PP_66,
            length,
            reg.ehcode,
            rm if isinstance(rm, Register) else rm.address,
            vvvv.code,
            aaa=op[0].kcode,
            z=op[0].zcode,
            b=broadcast,
        )
        unit = 8 if broadcast else 16 << length
        return bytearray(prefix) + bytearray([self.opcode]) + _modrm(reg, rm, unit) + self._immediate(op)


class GF2P8AFFINEQB(_Gfni):
    """GF2P8AFFINEQB(xmm, xmm/m128, imm8)"""

    opcode = 0xCE


class GF2P8AFFINEINVQB(_Gfni):
    """GF2P8AFFINEINVQB(xmm, xmm/m128, imm8)"""

    opcode = 0xCF


class GF2P8MULB(_Gfni):
    """GF2P8MULB(xmm, xmm/m128)"""

    opcode, affine = 0xCF, False


class VGF2P8AFFINEQB(_Gfni):
    """VGF2P8AFFINEQB(x/y/zmm{k}{z}, x/y/zmm, x/y/zmm/m/m64{1toN}, imm8)"""

    opcode, vector = 0xCE, True


class VGF2P8AFFINEINVQB(_Gfni):
    """VGF2P8AFFINEINVQB(x/y/zmm{k}{z}, x/y/zmm, x/y/zmm/m/m64{1toN}, imm8)"""

    opcode, vector = 0xCF, True


class VGF2P8MULB(_Gfni):
    """VGF2P8MULB(x/y/zmm{k}{z}, x/y/zmm, x/y/zmm/m)"""

    opcode, affine, vector = 0xCF, False, True


INSTRUCTIONS = {
    cls.__name__: cls
    for cls in (
        GF2P8AFFINEQB,
        GF2P8AFFINEINVQB,
        GF2P8MULB,
        VGF2P8AFFINEQB,
        VGF2P8AFFINEINVQB,
        VGF2P8MULB,
    )
}
