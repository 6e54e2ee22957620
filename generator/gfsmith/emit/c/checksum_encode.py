"""Emission of the routines that encode and fold in one loop (ENCODES), for AVX-512 with GFNI.

A step takes the next bytes of every shard, and products of two sources are added at once. Each source of a
block has loads of its own: the CPU prefetches for a load that advances by the same distance each time. So the
sources behind whole blocks are not in a loop.

Where a routine advances sources by words, each pair of sources has a line of one of them, so that the
instructions, each of which waits for the one before it, overlap with products. More registers at once would
be more than the CPU has.

An entry of the coefficients is loaded in assembler: as the operand of a product LLVM up to 19 encodes it with
a wrong displacement (llvm-project, pull request 120340). The other assembler statements have no instructions.
They keep gcc 12 from computing more in advance than there are registers for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from gfsmith.emit.c.checksum_sets import INSTRUCTIONS
from gfsmith.emit.c.checksum_spelling import Spelling, Words
from gfsmith.ir.folding import ENCODED_GROUP, ENCODES, LINE, STEPPED, WORD, Act, Instr, Routine

_BLOCK = ENCODED_GROUP  #: sources of an iteration, a power of two
_WORDS = {1: "one", 2: "two"}  #: numbers of sources that a function adds
_HALF = "half"  #: a function that adds two sources and folds the first one
_INSTRUCTIONS = "sse42"

#: Instructions -> their statements.
Lines = Callable[[Sequence[Instr], Spelling], list[str]]


def context(routine: Routine, spelling: Spelling, lines: Lines) -> dict[str, object]:
    """Return the template context of a routine."""
    code = _Code(routine, spelling)
    parts = [_BLOCK >> n for n in range(_BLOCK.bit_length())]
    return {
        "words": lines(routine.words, Words(routine.order, INSTRUCTIONS[_INSTRUCTIONS].calls)),
        "advance": code.advance,
        "constants": lines([instr for instr in routine.head if instr.act is Act.CONSTANTS], spelling),
        "given": f"v{code.given[0]}",
        "sums": ["zero"] * (code.outputs * len(code.vectors)),
        "adders": code.adders(),
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
    constants, then the vectors of a step. advance: the function that advances a register by words."""

    def __init__(self, routine: Routine, spelling: Spelling) -> None:
        self._routine, self._spelling = routine, spelling
        self.outputs = ENCODES[routine.operation]
        self.vectors = range(routine.block // LINE)
        self.message = f"gfs_encode_message_{routine.order}__{routine.set}"
        self.advance = f"gfs_encode_words_{routine.check.lower()}__{routine.set}"
        constants = [instr.result for instr in routine.head if instr.act is Act.CONSTANTS]
        self.given = [*constants, *(instr.result for instr in routine.body if instr.act is Act.LOAD)]

    def adders(self) -> dict[str, list[str]]:
        """Return the functions that add some sources to the sums: their names and statements. A routine for
        one check has those of the routine for all checks besides."""
        if self._routine.words:
            return {self._adder(_HALF): self._added(2, 1)}
        return {self._adder(name): self._added(count, count) for count, name in _WORDS.items()}

    def _adder(self, name: str) -> str:
        return f"gfs_{self._routine.operation}_{name}_{self._routine.order}__{self._routine.set}"

    def calls(self, count: int) -> list[str]:
        """Return the calls that add a number of sources."""
        few, entries = min(count, max(_WORDS)), WORD * self.outputs
        found = []
        for j in range(0, count, few):
            stepped = bool(self._routine.words) and count == _BLOCK
            name = self._adder(_HALF if stepped and j + 1 in STEPPED else _WORDS[few])
            places = f"from + {j}, message + {LINE * j}, table + {entries * j}"
            found.append(f"{name}(sum, {places}, at, ahead, v{self.given[0]});")
            found += self._advanced(j // few) if stepped else []
        return found

    def _advanced(self, pair: int) -> list[str]:
        """Return the statements that advance the register of a source by a line."""
        number, line = divmod(pair, len(self.vectors))
        source = STEPPED[number]
        place = f"message + {LINE * source}"
        found = [f"memcpy(&state, {place}, sizeof state);"] if line == 0 else []
        found.append(f"state = {self.advance}(state, from[{source}] + at, {LINE * line});")
        if line + 1 == len(self.vectors):
            found.append(f"memcpy({place}, &state, sizeof state);")
        return found

    def _added(self, count: int, folded: int) -> list[str]:
        """Return the statements of the function that adds sources, and folds the first ones."""
        found = [line for j in range(count) for line in self._loads(j)]
        found += [self._fold(LINE * j, [f"x{j}_{n}" for n in self.vectors]) for j in range(folded)]
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
