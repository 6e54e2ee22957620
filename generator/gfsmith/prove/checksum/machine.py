"""Proof of the compiled code of a checksum routine: it has the values of the routine's program, for all data,
every table, every length and any number of shards.

By the proof of the program (prove.py) these values are right with the table of each check. Here the
explorer of prove/machine follows the code: control, addresses, stack and registers as for kernels. The loop
over the data is closed by the program's own loop: if a register has one of the values that the program
carries at two iterations, it must have it at every next one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product

from gfsmith.ir.folding import (
    ENCODES,
    FIRSTS,
    GROUP,
    LEADS,
    STEPS,
    UPDATES,
    UPDATES_OF_BLOCKS,
    WORD,
    Routine,
)
from gfsmith.prove.checksum import encode
from gfsmith.prove.checksum.memory import FoldingMemory, areas, unchanged
from gfsmith.prove.checksum.values import FIRST, STATE, Program
from gfsmith.prove.machine import domain
from gfsmith.prove.machine.accumulators import Growth, Register
from gfsmith.prove.machine.architecture import Architecture, Start
from gfsmith.prove.machine.constants import Constants
from gfsmith.prove.machine.contract import LENGTH, SOURCES, Contract, Layout
from gfsmith.prove.machine.domain import Form, Runs, Unsupported
from gfsmith.prove.machine.entry import called_with, check_return, empty_stack
from gfsmith.prove.machine.formats.image import Image
from gfsmith.prove.machine.linear import REST, Address, Facts, Word, add, scale, symbol
from gfsmith.prove.machine.prove import Report, prove_code
from gfsmith.prove.machine.register_values import as_bytes
from gfsmith.prove.machine.state import State, Value
from gfsmith.prove.machine.subject import Subject
from gfsmith.prove.machine.x86.architecture import with_implied

#: The features that each set may use, as the library examines them before it calls a routine.
FEATURES = {
    "vpclmulqdq_avx512": (
        *("AVX512F", "AVX512BW", "AVX512VL", "AVX512_VBMI2", "BMI2"),
        *("PCLMULQDQ", "VPCLMULQDQ"),
    ),
    "vpclmulqdq_avx2": ("AVX", "AVX2", "PCLMULQDQ", "VPCLMULQDQ"),
    "pclmulqdq": ("SSSE3", "PCLMULQDQ"),
    "sse42": ("SSE4_2",),
    "pmull": ("PMULL",),
    "vpmsumd": ("ALTIVEC", "VSX207"),
    "zbc": ("ZBB", "ZBC"),
    "crc": ("CRC32",),
}
#: The operations that are proved.
OPERATIONS = (
    *("reduce", "reduce_lines", *FIRSTS, *LEADS, *UPDATES, *UPDATES_OF_BLOCKS),
    *("fold_line", "fold_copy", *ENCODES, "group"),
    *STEPS.values(),
)
_MOST_STEPS = 20_000  #: 20 times the instructions that proofs follow
_MOST_BLOCKS = 1 << 48  #: more bytes than an address space has
_WORD_BITS = 32
_STATUS = 4  #: bytes of a gfsmith_status
_ABOVE = "above"  #: the half of a register above a parameter of 32 bits
#: The words of a value that a register holds, in the register's order.
_Words = tuple[int, ...]
_FIRST = 16  #: more blocks than those before the first state of a loop
_STEPS = (1, 2, 4, 8)  #: blocks of an iteration


@dataclass(frozen=True, slots=True)
class Carried:
    """A register with value `number` of those that the loop carries, after `first` blocks and `step` more
    in each iteration, or some of its words. above: the bytes of the register above the
    value, which do not change."""

    program: Program
    shard: Word
    number: int
    words: _Words
    first: int
    step: int
    above: Runs

    def _blocks(self, iteration: Word) -> Word:
        return add(self.first, scale(iteration, self.step))

    def after(self, iteration: Word) -> Runs:
        value = self.program.carried(self._blocks(iteration), self.shard)[self.number]
        return domain.merge([*_part(value, self.words), *self.above])

    def continues(self, start: Runs, end: Runs, iteration: Word) -> bool:
        blocks = self._blocks(iteration)
        rest = blocks.constant % self.step if not isinstance(blocks, int) else 0
        value = self.program.advanced(add(blocks, -rest), self.shard, rest + self.step)[self.number]
        return end == domain.merge([*_part(value, self.words), *self.above])

    def plain(self) -> list[object]:
        return [self.number, self.words, self.first, self.step]


def _part(value: Runs, words: _Words) -> Runs:
    """Return some words of a value."""
    parts = (domain.cut(value, WORD * n, WORD * (n + 1)) for n in words)
    return domain.merge([run for part in parts for run in part])


def _parts(width: int, size: int) -> list[_Words]:
    """Return the words of a value of `width` bytes that a register of `size` bytes may hold: all, both words
    with the second one first, or one word in a general register."""
    every = tuple(range(width // WORD))
    if size < width:
        return [(n,) for n in every] if size == WORD else []
    return [every, every[::-1]] if width == GROUP else [every]


def _entry_state(
    program: Program,
    contract: Contract,
    arch: Architecture,
    start: Start,
    lengths: tuple[int, int],
    constants: Constants,
) -> State:
    """Return the state on entry. Data have `lengths` bytes, or none."""
    abi, facts, operation = arch.abis[contract.abi], Facts(), program.routine.operation
    length = lengths[0] if lengths[0] == lengths[1] else scale(symbol(LENGTH), contract.block)
    facts.assume(length, *lengths)
    facts.assume(symbol(REST), 0, program.routine.block - 1)
    length = add(length, symbol(REST) if program.behind else program.routine.lead)
    shards: Word = symbol(SOURCES) if operation.startswith("fold") else 1
    facts.assume(symbol(SOURCES), 0, (1 << _WORD_BITS - abi.extends) - 1)
    facts.assume(symbol(_ABOVE), 0, (1 << _WORD_BITS) - 1)
    memory = FoldingMemory(
        limits=areas(length, shards, shards if operation == "fold_copy" else 0, abi.pointer),
        facts=facts,
        expect=_copied,
        expanded=unchanged,
        constants=constants,
        decode=contract.layout.decode,
        stack=empty_stack(arch, abi),
        program=program,
        messages=_messages(program, shards),
    )
    count = shards if abi.extends else add(shards, scale(symbol(_ABOVE), 1 << _WORD_BITS))
    if program.behind:
        given = _stepped(length)
    elif program.routine.updates:
        given = [symbol(Address("coeffs")), symbol(Address("message")), *_stepped(length)[1:]]
    elif operation in LEADS:
        given = [symbol(Address("coeffs")), *_stepped(length)]
    else:
        given = _arguments(operation, memory.blocks, count)
    return called_with(arch, abi, start, given, memory)


def _messages(program: Program, shards: Word) -> Word:
    """Return the bytes of the messages, or of the checksum."""
    if program.routine.updates:
        return WORD
    return 0 if program.returned else scale(shards, program.routine.block)


def _stepped(length: Word) -> list[Value]:
    """Return the parameters of a function of crc32 instructions."""
    return [_state(), length, symbol(Address("src", 0))]


def _state() -> Runs:
    return ((WORD, domain.variable(STATE, 0, 0)),)


def _first() -> list[Value]:
    """Return the words of the first group."""
    return [((WORD, domain.variable(FIRST, 0, at)),) for at in (0, WORD)]


def _arguments(operation: str, blocks: Word, count: Word) -> list[Value]:
    """Return the parameters of crc.h. count: the number of shards, of which 32 bits have a meaning."""
    table, message = symbol(Address("coeffs")), symbol(Address("message"))
    match operation:
        case "reduce" | "reduce_lines":
            return [table, _state(), blocks, symbol(Address("src", 0))]
        case "group":
            return [table, *_first()]
        case "fold_line":
            return [table, message, count, blocks, symbol(Address("srcs")), symbol("ahead")]
        case "fold_copy":
            return [table, message, count, blocks, symbol(Address("srcs")), symbol(Address("dsts"))]
    if operation in FIRSTS:
        return [table, *_first(), _state(), blocks, symbol(Address("src", 0))]
    raise Unsupported(f"{operation} in vectors")


def _check_end(contract: Contract, arch: Architecture, start: Start, state: State) -> None:
    check_return(contract, arch, start, state)
    memory = state.memory
    assert isinstance(memory, FoldingMemory)
    memory.check_written()
    if memory.program.routine.updates:
        status = as_bytes(state, state.gpr[arch.abis[contract.abi].result], _STATUS)
        if status != domain.zeros(_STATUS):
            raise domain.refutation(status, "the status that is returned is not GFSMITH_OK")
    if memory.program.returned:
        found = as_bytes(state, state.gpr[arch.abis[contract.abi].result], WORD)
        if found != memory.program.register(memory.blocks, memory.left):
            raise domain.refutation(found, "the register that is returned is not that of the program")


def _held(state: State, register: Register) -> Runs:
    """Return the data in a register."""
    if isinstance(register, int):
        return state.vectors[register]
    return as_bytes(state, state.gpr[register], WORD)


def _blocks(program: Program, value: Runs) -> Iterable[int]:
    """Return the numbers of blocks after which the loop may carry a value. Data of the last block are a
    summand of it, unless a crc32 instruction hides them."""
    if program.stepped:
        return range(_FIRST)
    forms = (piece for _, piece in value if isinstance(piece, Form))
    places = [atom.start for form in forms for atom in form.atoms if atom.kind == "src"]
    last = max((place for place in places if isinstance(place, int)), default=-1)
    return [max(0, (last - program.routine.lead) // program.routine.block + 1)]


def _growth(program: Program, contract: Contract, seen: Sequence[State], register: Register) -> Growth | None:
    """Return which value of the loop a register has in both states."""
    memory = seen[0].memory
    assert isinstance(memory, FoldingMemory)
    first, second = (_held(state, register) for state in seen[:2])
    width = min(program.width, domain.size(first))
    above = domain.cut(first, width, domain.size(first))
    if not width or above != domain.cut(second, width, domain.size(second)):
        return None
    low, high = domain.cut(first, 0, width), domain.cut(second, 0, width)
    for blocks, words in product(_blocks(program, low), _parts(program.width, domain.size(first))):
        values = program.carried(blocks, memory.shard)
        for place in (n for n, value in enumerate(values) if _part(value, words) == low):
            for step in _STEPS:
                if _part(program.carried(blocks + step, memory.shard)[place], words) == high:
                    return Carried(program, memory.shard, place, words, blocks, step, above)
    return None


def _copied(output: Word, start: Word, size: int, sources: Word) -> Runs:
    """Return the bytes of a copy: those of the data."""
    return ((size, domain.variable("src", output, start)),)


def _contract(routine: Routine, abi: str) -> Contract:
    """Return the part of the contract that the exploration needs. The unwind tables are the compiler's, and
    it may leave code that is never reached. The caller of fold_copy fences the stores."""
    loop = bool(routine.before) or routine.operation in STEPS.values()
    return Contract(
        operation=routine.operation,
        inputs=1,
        outputs=1,
        layout=Layout("none", 0, 1),
        parameters=(),
        abi=abi,
        features=with_implied(FEATURES[routine.set]),
        in_place=False,
        block=routine.block,
        vector=routine.block,
        granule=routine.block,
        maximum=_MOST_BLOCKS * routine.block if loop else 0,
        unwind=False,
        reach_all=False,
        fence=routine.operation != "fold_copy",
    )


def functions(known: Iterable[Routine]) -> dict[str, tuple[Routine, ...]]:
    """Return the compiled functions that can be proved, by symbol, with their routines. One function has all
    crc32 instructions for a check, the longest first, or all of LEADS or of UPDATES that share a vector."""
    found: dict[str, list[Routine]] = {}
    for routine in known:
        if routine.set not in FEATURES or routine.operation not in OPERATIONS:
            continue
        found.setdefault(routine.function, []).append(routine)
    return {symbol: tuple(routines) for symbol, routines in found.items()}


def prove_machine(symbol: str, routines: Sequence[Routine], image: Image, abi: str) -> Report:
    """Prove or refute the compiled function of some routines, as functions() has them. Together their proofs
    reach its instructions."""
    if routines[0].operation in ENCODES:
        also = FEATURES["sse42"] if routines[0].words else ()
        return encode.prove(symbol, routines[0], image, abi, (*FEATURES[routines[0].set], *also))
    together = [tuple(routines)]
    if routines[0].operation in LEADS or routines[0].operation in UPDATES:
        together = [(routine,) for routine in routines]
    reports = []
    for parts in together:
        reports.append(_prove(symbol, parts, image, abi))
        if not reports[-1]:
            return reports[-1]
    reached = frozenset[int]().union(*(report.reached for report in reports))
    return replace(reports[-1], covered=len(reached), reached=reached)


def _prove(symbol: str, routines: Sequence[Routine], image: Image, abi: str) -> Report:
    """Prove or refute a function for the lengths of some routines."""
    program = Program(routines[0], tuple(routines[1:]))
    subject = Subject(partial(_entry_state, program), _check_end, partial(_growth, program))
    return prove_code(
        _contract(program.routine, abi),
        image,
        symbol,
        exhaustive=False,
        max_steps=_MOST_STEPS,
        subject=subject,
    )
