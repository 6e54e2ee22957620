"""Updates of a checksum at an address."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from gfsmith.field.checksum import CHECKSUMS, Checksum
from gfsmith.ir.folding import GROUP, LINE, UPDATED, UPDATES_OF_BLOCKS, WIDE, WORD, Act, Routine, Value
from gfsmith.lower.checksum.code import Code
from gfsmith.lower.checksum.loop import behind, led, loop
from gfsmith.lower.checksum.reduction import joined, multiplied, reduced
from gfsmith.lower.checksum.tables import REGISTER

#: The checks that have updates of their own there, by a crc32 instruction or normal; "": all reflected ones.
_UPDATED = ("", "CRC32C", "CRC16_T10")


class _Update:
    """An update of the checksum at an address. check: the only check that has it; None: all reflected ones.
    Normal registers are shifted by the check's number of bits."""

    def __init__(self, set_: str, check: Checksum | None) -> None:
        self._set, self._check = set_, check
        self._reflected = check is None or check.reflected

    def of_bytes(self, name: str, lead: int) -> Routine:
        """Return the routine of a function for so many bytes before its loop."""
        operation = f"update_{name}{lead}"
        match name:
            case "few":
                return self._from_few(operation, lead)
            case "wide":
                return self._from_wide(operation, lead)
            case "bytes":
                code = self._code(LINE)
                value = led(code, lead, self._start(code))
                return self._looped(code, operation, LINE, lead, [value])
        code = self._code(GROUP if name == "group" else LINE // 2)
        head, value = code.at, led(code, lead, self._start(code))
        close = code.section()
        code.add(Act.RESULT, self._finish(code, [value]))
        parts = tuple(head), (), tuple(close)
        return self._named(Routine(operation, self._set, self._reflected, LINE, *parts, lead=lead))

    def _from_few(self, operation: str, lead: int) -> Routine:
        """Return the routine that begins with less than a word and a line."""
        code, count = self._code(LINE), lead - LINE
        start = self._start(code)
        value, line = led(code, count, start), behind(code, count, start)
        value = code.fold(value, code.constants(LINE), line)
        return self._looped(code, operation, LINE, lead, [value])

    def _from_wide(self, operation: str, lead: int) -> Routine:
        """Return the routine that begins with the first bytes of a line, three lines, and up to three
        more."""
        code, count = self._code(LINE), (lead - 1) % LINE + 1
        start = self._start(code)
        before = [led(code, count, start), behind(code, count, start)]
        places = iter(range(count + LINE, lead, LINE))
        before += (code.load("message", place) for place in islice(places, WIDE - len(before)))
        constants = code.constants(WIDE * LINE)
        window, between = tuple(before), len(code.at)
        for place in places:
            before.append(code.fold(before.pop(0), constants, code.load("message", place)))
        routine = self._looped(code, operation, WIDE * LINE, lead, before, constants)
        return replace(routine, window=window, between=between)

    def _looped(
        self,
        code: Code,
        operation: str,
        block: int,
        lead: int,
        before: list[Value],
        constants: Value | None = None,
    ) -> Routine:
        return self._named(loop(code, operation, self._set, block, lead, before, self._finish, constants))

    def of_blocks(self, operation: str, block: int) -> Routine:
        """Return the routine that begins with a block."""
        code = self._code(LINE)
        before = [code.load("message", offset) for offset in range(0, block, LINE)]
        before[0] = code.add(Act.XOR, before[0], self._start(code))
        return self._looped(code, operation, block, block, before)

    def _named(self, routine: Routine) -> Routine:
        return replace(routine, check=self._check.name if self._check else "")

    def _code(self, width: int) -> Code:
        code = Code(self._reflected, width)
        code.section()
        return code

    def _shifted(self, code: Code, register: Value, sign: int) -> Value:
        if self._check is None or self._reflected:
            return register
        return code.shift(register, sign * (REGISTER - self._check.degree))

    def _start(self, code: Code) -> Value:
        """Return a vector with the register before."""
        state, ones = code.add(Act.STATE, width=WORD), code.add(Act.ONES, width=WORD)
        register = self._shifted(code, code.add(Act.XOR, state, ones, width=WORD), 1)
        return code.add(Act.START, register, offset=0 if self._reflected else 1)

    def _finish(self, code: Code, before: list[Value]) -> Value:
        """Return the checksum after consecutive vectors."""
        if self._check is not None and self._reflected:
            register = _stepped(code, multiplied(code, joined(code, before)), self._check.name)
        else:
            register = reduced(code, before)
        ones = code.add(Act.ONES, width=WORD)
        return code.add(Act.XOR, self._shifted(code, register, -1), ones, width=WORD)


def _stepped(code: Code, value: Value, check: str) -> Value:
    """Return the remainder of a group as a register, by a crc32 instruction. All constants are multiples of
    x^32, so the sum of products is x^32 times 96 bits: the instruction has the remainder of the upper 64
    times x^32."""
    upper, lower = code.extract(value, 0), code.extract(value, 1)
    zero = code.add(Act.ZERO, width=WORD)
    after = code.add(Act.CRC, zero, upper, text=check, offset=WORD, width=WORD)
    return code.add(Act.XOR, after, lower, width=WORD)


def updates(set_: str) -> Iterator[Routine]:
    by_name = {check.name: check for check in CHECKSUMS}
    for name in _UPDATED:
        update = _Update(set_, by_name.get(name))
        for function, leads in UPDATED.items():
            yield from (update.of_bytes(function, lead) for lead in leads)
        yield from (update.of_blocks(operation, block) for operation, block in UPDATES_OF_BLOCKS.items())
