"""Instruction selection for one Op, in the spelling of SSE, VEX or EVEX."""

from __future__ import annotations

from gfsmith.emit.x86.asm import Asm, Mem, narrow
from gfsmith.emit.x86.registers import Allocation
from gfsmith.ir import Instr, Op
from gfsmith.kernel.isa import Encoding, Isa
from gfsmith.kernel.spec import Hint

_WIDTH = {16: "xmm", 32: "ymm", 64: "zmm"}

#: Mnemonics per encoding: (SSE, VEX, EVEX).
_SPELLING = {
    Op.LOAD: ("movdqu", "vmovdqu", "vmovdqu8"),
    Op.STREAM: ("movntdq", "vmovntdq", "vmovntdq"),
    Op.TABLE: ("movdqu", "vbroadcasti128", "vbroadcasti32x4"),
    Op.MATRIX: ("movddup", "vpbroadcastq", "vpbroadcastq"),
    Op.XOR: ("pxor", "vpxor", "vpxord"),
    Op.AND: ("pand", "vpand", "vpandd"),
    Op.TWICE: ("paddb", "vpaddb", "vpaddb"),
    Op.LOOKUP: ("pshufb", "vpshufb", "vpshufb"),
    Op.AFFINE: ("gf2p8affineqb", "vgf2p8affineqb", "vgf2p8affineqb"),
    Op.MULB: ("gf2p8mulb", "vgf2p8mulb", "vgf2p8mulb"),
    Op.XOR3: ("", "", "vpternlogd"),
}
_COLUMN = {Encoding.LEGACY: 0, Encoding.VEX: 1, Encoding.EVEX: 2}
_COMMUTATIVE = {Op.XOR, Op.AND, Op.MULB}
_IMMEDIATE = {Op.AFFINE: (0,), Op.XOR3: (0x96,)}
_MATRIX_BYTES = 8


class Selector:
    """Emits the register-to-register part of a kernel. Memory operands come from the caller."""

    def __init__(self, isa: Isa, allocation: Allocation, asm: Asm, scratch: str) -> None:
        self.isa = isa
        self.asm = asm
        self._allocation = allocation
        self._scratch = scratch
        self._column = _COLUMN[isa.encoding]

    def name(self, op: Op) -> str:
        return _SPELLING[op][self._column]

    def vector(self, value: int) -> str:
        return f"{_WIDTH[self.isa.vector_bytes]}{self._allocation.register[value]}"

    def xmm(self, value: int) -> str:
        return f"xmm{self._allocation.register[value]}"

    def ymm(self, value: int) -> str:
        return f"ymm{self._allocation.register[value]}"

    @property
    def evex(self) -> bool:
        return self.isa.encoding is Encoding.EVEX

    def load(self, result: int, mem: Mem, mask: str | None = None) -> None:
        self.asm.ins(self.name(Op.LOAD), self.vector(result), mem, mask=mask, zeroing=mask is not None)

    def load_parts(self, result: int, parts: tuple[Mem, ...]) -> None:
        """Load LINE_PART bytes to the lower half, and if there are two parts, to the upper half."""
        self.asm.ins(self.name(Op.LOAD), self.ymm(result), parts[0])
        for mem in parts[1:]:
            self.asm.ins("vinserti64x4", self.vector(result), self.vector(result), mem, 1)

    def store_parts(self, value: int, parts: tuple[Mem, ...]) -> None:
        """Store the lower half, and if there are two parts, the upper half."""
        self.asm.ins(self.name(Op.LOAD), parts[0], self.ymm(value))
        for mem in parts[1:]:
            self.asm.ins("vextracti64x4", mem, self.vector(value), 1)

    def store(self, value: int, mem: Mem, stream: bool = False, mask: str | None = None) -> None:
        name = self.name(Op.STREAM if stream else Op.LOAD)
        self.asm.ins(name, mem, self.vector(value), mask=mask)

    def prefetch(self, mem: Mem, hint: Hint) -> None:
        self.asm.ins(f"prefetch{hint.value}", mem)

    def table(self, instr: Instr, mem: Mem) -> None:
        assert instr.result is not None
        self.asm.ins(self.name(instr.op), self.vector(instr.result), mem)

    def table_bytes(self, op: Op) -> int:
        return 16 if op is Op.TABLE else _MATRIX_BYTES

    def broadcast(self, op: Op) -> int:
        """Return the number of copies of a folded table operand; 0 for operands of vector size."""
        return self.isa.vector_bytes // _MATRIX_BYTES if op is Op.AFFINE else 0

    def zero(self, value: int) -> None:
        register = self.vector(value)
        sources = (register,) if self.isa.destructive else (register, register)
        self.asm.ins(self.name(Op.XOR), register, *sources)

    def constant(self, value: int, byte: int) -> None:
        """Set every lane to the byte, through the scratch register."""
        word = int.from_bytes(bytes([byte]) * 4, "little")
        scratch = narrow(self._scratch, 4)
        self.asm.ins("mov", scratch, word)
        match self.isa.encoding:
            case Encoding.LEGACY:
                self.asm.ins("movd", self.xmm(value), scratch)
                self.asm.ins("pshufd", self.xmm(value), self.xmm(value), 0)
            case Encoding.VEX:
                self.asm.ins("vmovd", self.xmm(value), scratch)
                self.asm.ins("vpbroadcastd", self.vector(value), self.xmm(value))
            case Encoding.EVEX:
                self.asm.ins("vpbroadcastd", self.vector(value), scratch)
            case Encoding.C:
                raise AssertionError("C has no registers")

    def compute(self, instr: Instr, folded: Mem | None) -> None:
        """Emit an arithmetic Op on registers and at most one folded memory operand (the last)."""
        assert instr.result is not None
        result = self.vector(instr.result)
        args: list[str | Mem] = [self.vector(a) for a in instr.args]
        if folded is not None:
            args.append(folded)
        if instr.op is Op.HIGH_NIBBLE:
            self._high_nibble(result, args)
        elif instr.op is Op.TWICE:
            self._twice(result, args[0])
        elif instr.op is Op.CHOOSE:
            self._choose(result, *args)
        elif self.isa.destructive or instr.op is Op.XOR3:
            self._destructive(instr.op, result, args)
        else:
            self.asm.ins(self.name(instr.op), result, *args, *_IMMEDIATE.get(instr.op, ()))

    def _destructive(self, op: Op, result: str, args: list[str | Mem]) -> None:
        """Set result = args[0], then apply op with the others."""
        if (op in _COMMUTATIVE or op is Op.XOR3) and result in args:
            args.remove(result)
            args.insert(0, result)
        first, rest = args[0], args[1:]
        assert isinstance(first, str)
        if result in rest:
            raise AssertionError(f"{op.name} would overwrite its own operand {result}")
        self._copy(result, first)
        self.asm.ins(self.name(op), result, *rest, *_IMMEDIATE.get(op, ()))

    def _copy(self, result: str, source: str) -> None:
        if result != source:
            name = ("movdqa", "vmovdqa", "vmovdqa64")[self._column]
            self.asm.ins(name, result, source)

    def _twice(self, result: str, x: str | Mem) -> None:
        assert isinstance(x, str)
        if self.isa.destructive:
            self._copy(result, x)
            x = result
        self.asm.ins(self.name(Op.TWICE), result, *((x,) if self.isa.destructive else (x, x)))

    def _choose(self, result: str, x: str | Mem, chosen: str | Mem) -> None:
        """Set result to `chosen` where bit 7 of x is set, else to 0.

        SSE and AVX2 compare 0 > x as signed bytes. AVX-512 has no such comparison into a vector: a shuffle of
        the equal bytes `chosen` gives 0 where bit 7 is set and `chosen` elsewhere, and an XOR with `chosen`
        exchanges the two."""
        assert result not in (x, chosen)
        lookup, add = self.name(Op.LOOKUP), self.name(Op.XOR)
        match self.isa.encoding:
            case Encoding.LEGACY:
                self.asm.ins(add, result, result)
                self.asm.ins("pcmpgtb", result, x)
                self.asm.ins("pand", result, chosen)
            case Encoding.VEX:
                self.asm.ins(add, result, result, result)
                self.asm.ins("vpcmpgtb", result, result, x)
                self.asm.ins("vpand", result, result, chosen)
            case _:
                self.asm.ins(lookup, result, chosen, x)
                self.asm.ins(add, result, result, chosen)

    def _high_nibble(self, result: str, args: list[str | Mem]) -> None:
        x, mask = args
        assert isinstance(x, str)
        assert result != mask
        if self.isa.destructive:
            self._copy(result, x)
            self.asm.ins("psrlq", result, 4)
            self.asm.ins("pand", result, mask)
        else:
            self.asm.ins("vpsrlq", result, x, 4)
            self.asm.ins(self.name(Op.AND), result, result, mask)
