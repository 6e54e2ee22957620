"""Allocation of vector registers to a Program's values by linear scan, without spilling."""

from __future__ import annotations

from gfsmith.ir import Instr, Loop, Op, Program, Value
from gfsmith.ir.liveness import last_use, variables
from gfsmith.kernel.isa import Encoding, Isa
from gfsmith.kernel.spec import TooFewRegisters

#: Operands that a destructive instruction may overwrite with its result.
_FIRST = (0,)
_ANY = (0, 1, 2)
_DESTRUCTIVE = {
    Op.XOR: _ANY,
    Op.AND: _ANY,
    Op.MULB: _ANY,
    Op.XOR3: _ANY,
    Op.LOOKUP: _FIRST,
    Op.AFFINE: _FIRST,
    Op.HIGH_NIBBLE: _FIRST,
    Op.TWICE: _FIRST,
}


def order(isa: Isa) -> list[int]:
    """Return the registers in the order of use: xmm6-15 last, because Microsoft's ABI requires saving
    them."""
    registers = list(range(isa.registers or 0))
    if isa.encoding is Encoding.EVEX:
        return registers[:6] + registers[16:] + registers[6:16]
    return registers


class Allocation:
    """The register number of every value. Values of different loops share registers."""

    def __init__(self, isa: Isa, program: Program, symbol: str) -> None:
        self._isa = isa
        self._symbol = symbol
        self._order = order(isa)
        self.register: dict[Value, int] = {}
        pinned: list[int] = []
        for instr in program.preload:
            if instr.result is not None:
                number = self._take(set(pinned))
                self.register[instr.result] = number
                pinned.append(number)
        for loop in program.loops:
            self._loop(loop, frozenset(pinned))

    def used(self) -> set[int]:
        return set(self.register.values())

    def _take(self, busy: set[int]) -> int:
        for number in self._order:
            if number not in busy:
                return number
        raise TooFewRegisters(
            f"{self._symbol} needs more than the {self._isa.registers} vector registers of {self._isa.name}"
        )

    def _loop(self, loop: Loop, pinned: frozenset[int]) -> None:
        name = variables(loop)
        ends: dict[Value, int] = {}
        for value, position in last_use(loop).items():
            known = name.get(value, value)
            ends[known] = max(ends.get(known, -1), position)
        code = [i for section in loop.sections() for i in section]
        live: dict[Value, int] = {}
        for position, instr in enumerate(code):
            args = [name.get(a, a) for a in instr.args]
            dying = {a for a in args if a in live and ends[a] == position}
            if instr.result is not None:
                result = name.get(instr.result, instr.result)
                self._define(instr, args, result, dying, live, pinned)
            for value in dying:
                if value != name.get(instr.result or -1, instr.result):
                    live.pop(value, None)
        self.register.update({value: self.register[phi] for value, phi in name.items()})

    def _define(
        self,
        instr: Instr,
        args: list[Value],
        result: Value,
        dying: set[Value],
        live: dict[Value, int],
        pinned: frozenset[int],
    ) -> None:
        """Give the result the register of a carried value, of a dying operand, or a free one."""
        if result in live:
            number = live[result]
        else:
            places = self._reusable(instr.op)
            spent = [a for n, a in enumerate(args) if n in places and a in dying]
            busy = set(live.values()) | pinned
            number = live[spent[0]] if spent else self._take(busy)
            if spent:
                del live[spent[0]]
        live[result] = number
        self.register[result] = number
        if instr.result is not None:
            self.register[instr.result] = number

    def _reusable(self, op: Op) -> tuple[int, ...]:
        if op is Op.CHOOSE:
            return ()
        if self._isa.destructive or op is Op.XOR3:
            return _DESTRUCTIVE.get(op, ())
        return _ANY
