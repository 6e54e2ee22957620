"""Structured control flow of one function -> instructions with targets and registers.

The lines of a function are read once from start to end, with the types of the operand stack, as in
validation (WebAssembly Core Specification 2.0, appendix "Validation Algorithm"). Code from an unconditional
branch to the end of its block cannot be reached. A function with an instruction without semantics is one
instruction that the prover does not support.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from gfsmith.prove.machine.architecture import Flow, Instruction
from gfsmith.prove.machine.domain import Unsupported
from gfsmith.prove.machine.formats.image import Line, Listing
from gfsmith.prove.machine.wasm.decode import Decoded, Parsed, Register, parse
from gfsmith.prove.machine.wasm.semantics import COPY, TABLE

_FUNCTION, _BLOCK, _LOOP, _IF, _ELSE, _END = "function", "block", "loop", "if", "else", "end"
_JUMP, _BRANCH, _TABLE, _RETURN = "br", "br_if", "br_table", "return"


@dataclass(slots=True)
class _Block:
    """An open block: the types of its results, the height of the stack below it, the address of a branch to
    it, and whether the current instruction cannot be reached."""

    kind: str
    results: tuple[str, ...]
    height: int
    label: int
    dead: bool = False


class Lowered(NamedTuple):
    """The instructions of a function by address, and the number of its registers."""

    instructions: dict[int, Instruction]
    registers: int


@dataclass(slots=True)
class _Lowering:
    """ends: address of a block -> address of its end. others: address of an if -> address after its else."""

    listing: Listing
    ends: dict[int, int]
    others: dict[int, int]
    stack: list[str] = field(default_factory=list)
    blocks: list[_Block] = field(default_factory=list)
    registers: int = 0

    @property
    def variables(self) -> tuple[str, ...]:
        return self.listing.parameters + self.listing.variables

    def push(self, kind: str) -> Register:
        self.stack.append(kind)
        self.registers = max(self.registers, len(self.variables) + len(self.stack))
        return Register(len(self.variables) + len(self.stack) - 1, kind)

    def pop(self, kind: str = "") -> Register:
        """Remove the operand on top. Raises Unsupported if it has another type, or lies below the block."""
        if len(self.stack) <= self.blocks[-1].height or (kind and self.stack[-1] != kind):
            raise Unsupported("a module that is not valid")
        number = len(self.variables) + len(self.stack) - 1
        return Register(number, self.stack.pop())

    def run(self) -> Iterator[Instruction]:
        """Yield the instructions."""
        end = self.listing.lines[-1].address
        self.blocks.append(_Block(_FUNCTION, self.listing.results, 0, end))
        self.registers = len(self.variables)
        for line in self.listing.lines:
            parsed = parse(line.text)
            if parsed is None or not self.blocks:
                raise Unsupported(f"no semantics for '{line.text}'")
            if parsed.mnemonic in (_BLOCK, _LOOP, _IF, _ELSE, _END):
                yield self._structure(line, parsed)
            elif self.blocks[-1].dead:
                yield _nowhere(line)
            elif parsed.mnemonic in (_JUMP, _BRANCH, _TABLE, _RETURN):
                yield from self._branch(line, parsed)
            else:
                yield self._plain(line, parsed)

    def _structure(self, line: Line, parsed: Parsed) -> Instruction:
        if parsed.mnemonic == _END:
            return self._end(line)
        if parsed.mnemonic == _ELSE:
            return self._else(line)
        if any(kind not in ("i32", "i64", "v128") for kind in parsed.types) or len(parsed.types) > 1:
            raise Unsupported(f"a block of type '{line.text}'")
        dead = self.blocks[-1].dead
        label = line.address if parsed.mnemonic == _LOOP else self.ends[line.address]
        tested = () if parsed.mnemonic != _IF or dead else (self.pop("i32"),)
        self.blocks.append(_Block(parsed.mnemonic, parsed.types, len(self.stack), label, dead))
        if not tested:
            return _instruction(line, Flow.NEXT)
        other = self.others.get(line.address, label)
        return _instruction(line, Flow.BRANCH, other, Decoded("if", tested, None, (), line.text))

    def _end(self, line: Line) -> Instruction:
        block = self._close(line)
        if block.kind == _IF and block.results:
            raise Unsupported("an if with results and without else")
        if not self.blocks:
            return _instruction(line, Flow.RETURN)
        return _instruction(line, Flow.NEXT)

    def _else(self, line: Line) -> Instruction:
        block = self._close(line)
        if block.kind != _IF or not self.blocks:
            raise Unsupported("a module that is not valid")
        del self.stack[block.height :]
        self.blocks.append(_Block(_ELSE, block.results, block.height, block.label, self.blocks[-1].dead))
        return _instruction(line, Flow.JUMP, block.label)

    def _close(self, line: Line) -> _Block:
        """Close a block: its results, and nothing else, lie on the stack above its height."""
        block = self.blocks.pop()
        above = tuple(self.stack[block.height :])
        if not block.dead and above != block.results:
            raise Unsupported("a module that is not valid")
        self.stack[block.height :] = block.results
        return block

    def _branch(self, line: Line, parsed: Parsed) -> Iterator[Instruction]:
        tested = (self.pop("i32"),) if parsed.mnemonic in (_BRANCH, _TABLE) else ()
        depths = parsed.numbers if parsed.mnemonic != _RETURN else (len(self.blocks) - 1,)
        if not depths or any(depth >= len(self.blocks) for depth in depths):
            raise Unsupported("a module that is not valid")
        targets = [self._target(depth) for depth in depths]
        if parsed.mnemonic == _BRANCH:
            yield _instruction(line, Flow.BRANCH, targets[0], Decoded(_BRANCH, tested, None, (), line.text))
            return
        # br_table is a row of branches, each at an address within the instruction.
        for number, target in enumerate(targets[:-1]):
            decoded = Decoded(_TABLE, tested, None, (number,), line.text)
            ip = line.address + number
            yield Instruction(ip, ip + 1, Flow.BRANCH, decoded, target)
        ip = line.address + len(targets) - 1
        yield Instruction(ip, line.address + line.size, Flow.JUMP, line.text, targets[-1])
        self.blocks[-1].dead = True
        del self.stack[self.blocks[-1].height :]

    def _target(self, depth: int) -> int:
        """Return the address of a label. Raises Unsupported if the branch would move operands."""
        block = self.blocks[-1 - depth]
        if block.kind != _LOOP and block.results:
            raise Unsupported("a branch with operands")
        return block.label

    def _plain(self, line: Line, parsed: Parsed) -> Instruction:
        form, numbers = parsed.mnemonic, parsed.numbers
        if form.startswith("local."):
            return self._variable(line, form, numbers)
        if form == "drop":
            self.pop()
            return _instruction(line, Flow.NEXT)
        if form not in TABLE:
            raise Unsupported(f"no semantics for '{line.text}'")
        entry = TABLE[form]
        operands = [self.pop(kind) for kind in reversed(entry.operands)][::-1]
        result = self.push(entry.result) if entry.result else None
        return _instruction(line, Flow.NEXT, 0, Decoded(form, tuple(operands), result, numbers, line.text))

    def _variable(self, line: Line, form: str, numbers: tuple[int, ...]) -> Instruction:
        (number,) = numbers
        if number >= len(self.variables):
            raise Unsupported("a module that is not valid")
        variable = Register(number, self.variables[number])
        if form == "local.get":
            source, target = variable, self.push(variable.type)
        else:
            source, target = self.pop(variable.type), variable
        if form == "local.tee":
            self.push(variable.type)
        return _instruction(line, Flow.NEXT, 0, Decoded(COPY, (source,), target, (), line.text))


def _instruction(line: Line, flow: Flow, target: int = 0, raw: object = None) -> Instruction:
    return Instruction(line.address, line.address + line.size, flow, raw or line.text, target)


def _nowhere(line: Line) -> Instruction:
    """Return an instruction that cannot be reached."""
    return _instruction(line, Flow.OTHER)


def _ends(listing: Listing) -> tuple[dict[int, int], dict[int, int]]:
    """Return the places that _Lowering needs. Raises Unsupported if the blocks do not match."""
    ends: dict[int, int] = {}
    others: dict[int, int] = {}
    opened: list[int] = []
    for line in listing.lines:
        word = line.text.split()[0]
        if word in (_BLOCK, _LOOP, _IF):
            opened.append(line.address)
        elif word == _ELSE and opened:
            others[opened[-1]] = line.address + line.size
        elif word == _END and opened:
            ends[opened.pop()] = line.address
    if opened or listing.lines[-1].text != _END:
        raise Unsupported("a module that is not valid")
    return ends, others


@lru_cache(maxsize=8)
def lowered(listing: Listing) -> Lowered:
    """Return the instructions of a function."""
    start, end = listing.lines[0].address, listing.lines[-1].address + listing.lines[-1].size
    try:
        lowering = _Lowering(listing, *_ends(listing))
        found = {instruction.ip: instruction for instruction in lowering.run()}
    except Unsupported as reason:
        return Lowered({start: Instruction(start, end, Flow.OTHER, str(reason))}, 0)
    return Lowered(found, lowering.registers)
