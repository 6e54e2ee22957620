"""Proof of the compiled code of a routine that encodes and folds in one loop (ENCODES), for all data, every
matrix, every table, any number of sources and of steps.

The destinations are proved as those of a kernel: their bytes are the matrix times the sources. In each step
every message must be replaced once, by the one that the program has behind a message of which nothing is
known and the bytes of the step: those of the source, or those that the destination must have there. By
induction over the steps the last message is the one that the program has after all bytes of the shard. The
first word of a message of the sources STEPPED is a register instead, if the routine has code for words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import partial

from gfsmith.ir.folding import ENCODED_GROUP, ENCODES, LINE, STEPPED, WORD, Routine
from gfsmith.prove.checksum import layout
from gfsmith.prove.checksum.memory import MessageMemory
from gfsmith.prove.checksum.values import MESSAGE, TABLE, Program
from gfsmith.prove.machine import domain
from gfsmith.prove.machine.accumulators import accumulator
from gfsmith.prove.machine.architecture import Architecture, Start
from gfsmith.prove.machine.constants import Constants
from gfsmith.prove.machine.contract import Contract, Layout, Parameter
from gfsmith.prove.machine.domain import Runs, Unsupported
from gfsmith.prove.machine.entry import check_end, entry_state
from gfsmith.prove.machine.formats.image import Image
from gfsmith.prove.machine.linear import (
    Address,
    Word,
    add,
    base,
    divide,
    scale,
    subtract,
    symbol,
)
from gfsmith.prove.machine.memory import Memory, Written
from gfsmith.prove.machine.prove import Report, prove_code
from gfsmith.prove.machine.state import State
from gfsmith.prove.machine.subject import Subject
from gfsmith.prove.machine.x86.architecture import with_implied
from gfsmith.prove.verdict import Refutation

#: The parameters of gfs_crc_encode (crc.h): "object" is the table of the check, and "any" the messages.
_PARAMETERS: tuple[Parameter, ...] = ("len", "k", "coeffs", "shards", "object", "any", "public", "public")
_MESSAGES = _PARAMETERS.index("any")
_AREA = "message"  #: the kind of the address of the messages

#: The indices under which Memory.written has the messages of a step, and as its prefix the number of steps.
_FOLDED, _STEPS = -1, -2

_MOST_STEPS = 70_000  #: more than the instructions that a proof follows
_MOST_BYTES = 1 << 48  #: more than an address space has


@dataclass(slots=True, kw_only=True)
class EncodingMemory(MessageMemory):
    """The memory of one path of a routine that encodes and folds."""

    @property
    def steps(self) -> Word:
        """The number of steps after which all messages are replaced."""
        return self.written[_STEPS].prefix

    def load(self, address: Word, size: int) -> Runs:
        place = base(address)
        kind = place[0].kind if place is not None else ""
        if place is None or kind not in ("object", _AREA):
            return Memory.load(self, address, size)
        region, offset = place
        if kind == "object":
            self.inside(region, offset, size, layout.SIZE)
            return ((size, domain.variable(TABLE, 0, offset)),)
        self.inside(region, offset, size, self.messages)
        if self.written[_FOLDED].overlaps(offset, size, self.facts):
            raise Unsupported(f"a message is read back at {offset}")
        return ((size, domain.variable(MESSAGE, self.steps, offset)),)

    def store(self, address: Word, runs: Runs) -> None:
        place = base(address)
        if place is None or place[0].kind != _AREA:
            Memory.store(self, address, runs)
            return
        region, offset = place
        size = domain.size(runs)
        self.inside(region, offset, size, self.messages)
        want = self._after(offset, size)
        if runs != want:
            raise domain.refutation(runs, f"{region} at {offset} is not that of the program")
        folded = self.written[_FOLDED]
        folded.add(offset, LINE, self.facts)
        if subtract(folded.prefix, self.messages) == 0 and not folded.pieces:
            self.written[_FOLDED], self.written[_STEPS] = Written(), Written(add(self.steps, 1))

    def _after(self, offset: Word, size: int) -> Runs:
        """Return the message that the program has at a place after this step."""
        shard = divide(offset, LINE)
        if shard is None:
            raise Unsupported(f"{size} bytes of messages at {offset}")
        stepped, step = self._is_stepped(shard), self.program.routine.block
        if size != (WORD if stepped else LINE):
            raise Unsupported(f"{size} bytes of messages at {offset}")
        before = ((size, domain.variable(MESSAGE, self.steps, offset)),)
        if stepped:
            return self.program.advanced_by_words(before, shard, scale(self.steps, step))
        place, output = scale(self.steps, step), subtract(shard, self.limits.sources)
        low, high = self.facts.range(output)
        if low < 0 <= high:
            raise Unsupported(f"message {shard}, of a source or of a destination")
        if low >= 0:
            data = self.expect(output, place, step, self.limits.sources)
        else:
            data = ((step, domain.variable("src", shard, place)),)
        return self.program.folded(before, data)

    def _is_stepped(self, shard: Word) -> bool:
        """Return whether the program advances a shard by words."""
        if not self.program.routine.words or _in_group(shard) not in STEPPED:
            return False
        whole = subtract(self.limits.sources, _in_group(self.limits.sources))
        low, high = self.facts.range(subtract(shard, whole))
        if low < 0 <= high:
            raise Unsupported(f"message {shard}, of a whole group or not")
        return high < 0

    def is_aligned(self, address: Word, size: int) -> bool:
        """Return whether an address is a multiple: destinations of stores around the cache begin at multiples
        of a line."""
        place = base(address)
        if place is None or place[0].kind != "dst" or LINE % size:
            return Memory.is_aligned(self, address, size)
        offset = place[1]
        parts = (offset,) if isinstance(offset, int) else (offset.constant, *(c for _, c in offset.terms))
        return all(part % size == 0 for part in parts)

    def extent(self, region: Address) -> tuple[Word, Word]:
        match region.kind:
            case "object":
                return 0, layout.SIZE
            case kind if kind == _AREA:
                return 0, self.messages
        return Memory.extent(self, region)


def _in_group(number: Word) -> int:
    """Return a number modulo ENCODED_GROUP."""
    if isinstance(number, int):
        return number % ENCODED_GROUP
    if any(factor % ENCODED_GROUP for _, factor in number.terms):
        raise Unsupported(f"{number} modulo {ENCODED_GROUP}")
    return number.constant % ENCODED_GROUP


def _entry_state(
    program: Program,
    contract: Contract,
    arch: Architecture,
    start: Start,
    lengths: tuple[int, int],
    constants: Constants,
) -> State:
    """Return the state on entry: that of a kernel, and messages."""
    state = entry_state(contract, arch, start, lengths, constants)
    memory = state.memory
    assert isinstance(memory, Memory)
    state.memory = EncodingMemory(
        **{each.name: getattr(memory, each.name) for each in fields(Memory)},
        program=program,
        messages=scale(add(contract.sources, contract.outputs), LINE),
    )
    state.memory.written = {_FOLDED: Written(), _STEPS: Written()}
    state.gpr[arch.abis[contract.abi].arguments[_MESSAGES]] = symbol(Address(_AREA))
    return state


def _check_end(contract: Contract, arch: Architecture, start: Start, state: State) -> None:
    memory = state.memory
    assert isinstance(memory, EncodingMemory)
    steps, folded = memory.written.pop(_STEPS).prefix, memory.written.pop(_FOLDED)
    if subtract(scale(steps, contract.block), memory.limits.length) != 0:
        raise Refutation(f"after {memory.limits.length} bytes the messages have only {steps} steps")
    if folded.prefix != 0 or folded.pieces:
        raise Refutation("messages are replaced after the last step")
    check_end(contract, arch, start, state)


def _contract(routine: Routine, abi: str, features: Sequence[str]) -> Contract:
    """Return the contract of the kernel in the loop. The unwind tables are the compiler's, and it may leave
    code that is never reached. The caller fences the stores."""
    outputs = ENCODES[routine.operation]
    return Contract(
        operation="dot",
        inputs=None,
        outputs=outputs,
        layout=Layout("affine", WORD, outputs),
        parameters=_PARAMETERS,
        abi=abi,
        features=with_implied((*features, "GFNI")),
        in_place=False,
        block=routine.block,
        vector=routine.block,
        granule=routine.block,
        maximum=_MOST_BYTES,
        unwind=False,
        reach_all=False,
        fence=False,
        group=ENCODED_GROUP,
    )


def prove(name: str, routine: Routine, image: Image, abi: str, features: Sequence[str]) -> Report:
    """Prove or refute a function. features: of the CPU that the routine's set may use."""
    subject = Subject(partial(_entry_state, Program(routine)), _check_end, accumulator)
    contract = _contract(routine, abi, features)
    return prove_code(contract, image, name, exhaustive=False, max_steps=_MOST_STEPS, subject=subject)
