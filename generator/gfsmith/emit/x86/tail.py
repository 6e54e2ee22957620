"""Exact access to the last 1..lanes-1 bytes.

PACKED: let R be the number of remaining bytes and p the largest power of two <= R. The pieces [0, p) and
[R-p, R) cover the bytes and overlap in the middle. Both are loaded side by side into one vector before any
store. Lanes are independent, so the bytes in both pieces get the same result twice. The method is safe in
place, needs no mask, and accesses no other byte.
"""

from __future__ import annotations

from collections.abc import Callable

from gfsmith.emit.x86.asm import Asm, Label, Mem, narrow
from gfsmith.emit.x86.select import Selector
from gfsmith.kernel.isa import Encoding

Piece = Callable[[str], None]


class Packed:
    """Loads and stores two pieces at pointer and at pointer + remaining - p.

    `pointer` holds the address of the first byte and may be overwritten. Stores may also overwrite `spare`.
    """

    def __init__(
        self,
        selector: Selector,
        pointer: str,
        remaining: str,
        spare: str,
        label: Callable[[], Label],
    ) -> None:
        self._s = selector
        self._asm: Asm = selector.asm
        self._pointer = pointer
        self._remaining = remaining
        self._spare = spare
        self._label = label
        self._v = "" if selector.isa.encoding is Encoding.LEGACY else "v"

    def _first(self, size: int) -> Mem:
        return Mem(self._pointer, size)

    def _second(self, size: int, within: int = 0, piece: int | None = None) -> Mem:
        """Return `size` bytes at `within` of the second piece, which is `piece` bytes long."""
        return Mem(self._pointer, size, self._remaining, within - (piece or size))

    def _dispatch(self, pieces: list[tuple[int, Piece]], register: str) -> None:
        """Run the case of the largest p <= remaining; the last case is p = 1."""
        done = self._label()
        for number, (size, case) in enumerate(pieces):
            last = number == len(pieces) - 1
            smaller = self._label()
            if not last:
                self._asm.ins("cmp", self._remaining, size)
                self._asm.ins("jb", smaller)
            case(register)
            if not last:
                self._asm.ins("jmp", done)
                self._asm.mark(smaller)
        self._asm.mark(done)

    def load(self, value: int) -> None:
        pieces: list[tuple[int, Piece]] = [
            (8, self._load8),
            (4, self._load4),
            (2, self._load2),
            (1, self._load1),
        ]
        if self._s.isa.vector_bytes == 32:
            pieces.insert(0, (16, self._load16))
        self._dispatch(pieces, self._s.xmm(value))

    def store(self, value: int) -> None:
        pieces: list[tuple[int, Piece]] = [
            (8, self._store8),
            (4, self._store4),
            (2, self._store2),
            (1, self._store1),
        ]
        if self._s.isa.vector_bytes == 32:
            pieces.insert(0, (16, self._store16))
        self._dispatch(pieces, self._s.xmm(value))

    def _ins(self, name: str, *operands: str | Mem | int) -> None:
        self._asm.ins(self._v + name, *operands)

    def _merge(self, name: str, x: str, *operands: str | Mem | int) -> None:
        """Emit x = name(x, operands). VEX has separate operands for the destination and the first source."""
        self._ins(name, x, *((x,) if self._v else ()), *operands)

    def _load16(self, x: str) -> None:
        y = x.replace("xmm", "ymm")
        self._ins("movdqu", x, self._first(16))
        self._ins("inserti128", y, y, self._second(16), 1)

    def _load8(self, x: str) -> None:
        self._ins("movq", x, self._first(8))
        self._merge("movhps", x, self._second(8))

    def _load4(self, x: str) -> None:
        self._ins("movd", x, self._first(4))
        self._merge("pinsrw", x, self._second(2, 0, 4), 2)
        self._merge("pinsrw", x, self._second(2, 2, 4), 3)

    def _load2(self, x: str) -> None:
        self._merge("pxor", x, x)
        self._merge("pinsrw", x, self._first(2), 0)
        self._merge("pinsrw", x, self._second(2), 1)

    def _load1(self, x: str) -> None:
        word = narrow(self._pointer, 4)
        self._asm.ins("movzx", word, self._first(1))
        self._ins("movd", x, word)

    def _store16(self, x: str) -> None:
        self._ins("movdqu", self._first(16), x)
        self._ins("extracti128", self._second(16), x.replace("xmm", "ymm"), 1)

    def _store8(self, x: str) -> None:
        self._ins("movq", self._first(8), x)
        self._ins("movhps", self._second(8), x)

    def _store4(self, x: str) -> None:
        self._ins("movd", self._first(4), x)
        self._words(x, 2, self._second(2, 0, 4), self._second(2, 2, 4))

    def _store2(self, x: str) -> None:
        self._words(x, 0, self._first(2), self._second(2))

    def _words(self, x: str, position: int, *places: Mem) -> None:
        """Store two bytes to each place, from word `position` of the vector on. The vector stays
        unchanged."""
        word = narrow(self._spare, 4)
        for number, mem in enumerate(places, position):
            self._ins("pextrw", word, x, number)
            self._asm.ins("mov", mem, narrow(self._spare, 2))

    def _store1(self, x: str) -> None:
        self._ins("movd", narrow(self._spare, 4), x)
        self._asm.ins("mov", self._first(1), narrow(self._spare, 1))
