"""Emission of the routines that encode and fold in one loop (ENCODES), for AVX-512 with GFNI.

A step takes the next bytes of every shard, and products of two sources are added at once. Each source of a
block has loads of its own: the CPU prefetches for a load that advances by the same distance each time. So the
sources behind whole blocks are not in a loop.

An entry of the coefficients is loaded in assembler: as the operand of a product LLVM up to 19 encodes it with
a wrong displacement (llvm-project, pull request 120340). The other assembler statements have no instructions.
They keep gcc 12 from computing more in advance than there are registers for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from gfsmith.emit.c.checksum_spelling import Spelling
from gfsmith.ir.folding import ENCODES, LINE, WORD, Act, Instr, Routine

_BLOCK = 8  #: sources of an iteration, a power of two
_WORDS = {1: "one", 2: "two"}  #: numbers of sources that a function adds

#: Instructions -> their statements.
Lines = Callable[[Sequence[Instr], Spelling], list[str]]


def context(routine: Routine, spelling: Spelling, lines: Lines) -> dict[str, object]:
    """Return the template context of a routine."""
    code = _Code(routine, spelling)
    parts = [_BLOCK >> n for n in range(_BLOCK.bit_length())]
    return {
        "constants": lines([instr for instr in routine.head if instr.act is Act.CONSTANTS], spelling),
        "given": f"v{code.given[0]}",
        "sums": ["zero"] * (code.outputs * len(code.vectors)),
        "adders": [(code.adder(count), code.added(count)) for count in _WORDS],
        "parts": [(count, count * code.outputs * WORD, code.calls(count)) for count in parts],
        "outputs": [code.output(number) for number in range(code.outputs)],
    }


def message(routine: Routine, spelling: Spelling, lines: Lines) -> dict[str, object]:
    """Return the template context of the function that folds a message onto the vectors of a step: the values
    that it is given, and its statements."""
    code = _Code(routine, spelling)
    given = [instr for instr in routine.instructions() if instr.result in code.given]
    rest = [instr for instr in routine.instructions() if instr not in given]
    rest[-1] = replace(rest[-1], args=routine.after)
    return {
        "name": code.message,
        "given": [f"v{instr.result}" for instr in given],
        "lines": lines(rest, spelling),
    }


class _Code:
    """The statements of a routine. given: the values that are no part of its function for messages:
    constants, then the vectors of a step."""

    def __init__(self, routine: Routine, spelling: Spelling) -> None:
        self._routine, self._spelling = routine, spelling
        self.outputs = ENCODES[routine.operation]
        self.vectors = range(routine.block // LINE)
        self.message = f"gfs_encode_message_{routine.order}__{routine.set}"
        constants = [instr.result for instr in routine.head if instr.act is Act.CONSTANTS]
        self.given = [*constants, *(instr.result for instr in routine.body if instr.act is Act.LOAD)]

    def adder(self, count: int) -> str:
        """Return the name of the function that adds some sources to the sums."""
        return self._routine.symbol.replace(
            f"_{self._routine.order}", f"_{_WORDS[count]}_{self._routine.order}"
        )

    def calls(self, count: int) -> list[str]:
        """Return the calls that add a number of sources."""
        few, entries = min(count, max(_WORDS)), WORD * self.outputs
        return [
            f"{self.adder(few)}(sum, from + {j}, message + {LINE * j}, table + {entries * j}, at, ahead,"
            f" v{self.given[0]});"
            for j in range(0, count, few)
        ]

    def added(self, count: int) -> list[str]:
        """Return the statements of the function that adds sources."""
        found = [line for j in range(count) for line in self._loads(j)]
        found += [self._fold(LINE * j, [f"x{j}_{n}" for n in self.vectors]) for j in range(count)]
        for output in range(self.outputs):
            for j in range(count):
                found.append(f"__m512i c{j}_{output};")
                found.append(
                    f"GFS_ENCODE_ENTRY(c{j}_{output}, table + {WORD * (self.outputs * j + output)});"
                )
            for n in self.vectors:
                products = [
                    f"_mm512_gf2p8affine_epi64_epi8(x{j}_{n}, c{j}_{output}, 0)" for j in range(count)
                ]
                found.append(f"{self._sum(output, n)} = {_total(self._sum(output, n), products)};")
        return found

    def _sum(self, output: int, vector: int) -> str:
        return f"sum[{output * len(self.vectors) + vector}]"

    def _loads(self, source: int) -> list[str]:
        """Return the statements that load a source, and prefetch it."""
        data = f"data{source}"
        found = [f"const uint8_t *{data} = from[{source}] + at;"]
        for n in self.vectors:
            load = self._spelling.expression(Instr(Act.LOAD, None, (), data, LINE * n, LINE), [])
            found.append(f"const __m512i x{source}_{n} = {load};")
        found += [f"{data} += ahead;", f"GFS_CRC_WHOLE({data});"]
        return found + [f"GFS_PREFETCH_SECOND({data} + {LINE * n});" for n in self.vectors]

    def _fold(self, place: int, vectors: Sequence[str]) -> str:
        """Return the statement that folds a message onto the vectors of a step."""
        return f"{self.message}(message + {place}, v{self.given[0]}, {', '.join(vectors)});"

    def output(self, number: int) -> list[str]:
        """Return the statements for a destination: its message, then its bytes."""
        sums = [self._sum(number, n) for n in self.vectors]
        found = [self._fold(LINE * number, sums), f"to = from[{number}] + at;", "if (streamed != 0) {"]
        for act, behind in ((Act.STREAM, "} else {"), (Act.STORE, "}")):
            for n, value in enumerate(sums):
                store = Instr(act, None, (), "to", LINE * n, LINE)
                found.append(f"    {self._spelling.store(store, value)};")
            found.append(behind)
        return found


def _total(total: str, products: Sequence[str]) -> str:
    """Return the sum of one product or two."""
    terms = ", ".join([total, *products])
    return f"_mm512_xor_si512({terms})" if len(products) == 1 else f"_mm512_ternarylogic_epi64({terms}, 0x96)"
