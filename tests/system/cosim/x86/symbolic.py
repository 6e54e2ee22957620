"""The same comparison with unknowns: symbolic execution, with values filled in, compared with the CPU.

Registers and memory hold data, raw table bytes or numbers that are unknown to the semantics. The CPU
starts from values of these unknowns, and must end with the values of the semantics' result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

from iced_x86 import OpKind, Register, RegisterExt

from gfsmith.prove.machine import domain
from gfsmith.prove.machine.branch import Choice
from gfsmith.prove.machine.domain import Runs, Unsupported
from gfsmith.prove.machine.linear import Word
from gfsmith.prove.machine.state import Value
from gfsmith.prove.machine.x86.semantics import step
from gfsmith.prove.verdict import Refutation
from tests.system.cosim.x86.compare import FLAGS, Mismatch, Outcome, Vectors, has_dirty_uppers, model_state
from tests.system.cosim.x86.cpu import GPR, Cpu, Fault, Level, Machine
from tests.system.cosim.x86.instances import Instance, Place
from tests.system.cosim.x86.unknowns import VECTOR, Unknowns, undetermined


@dataclass(slots=True)
class Memory:
    """The block as runs; the table's layout from `unknowns`."""

    address: int
    runs: Runs
    unknowns: Unknowns

    @property
    def pointer_bytes(self) -> int:
        return 8

    def _offset(self, address: Word, size: int) -> int:
        if not isinstance(address, int):
            raise Unsupported(f"{address} is not a number")
        offset = address - self.address
        if not 0 <= offset <= domain.size(self.runs) - size:
            raise Refutation(f"accesses {size} bytes at {offset}, outside of the block")
        return offset

    def relative(self, ip: int, next_ip: int, target: int, /) -> Word:
        return target

    def is_aligned(self, address: Word, size: int, /) -> bool:
        return isinstance(address, int) and address % size == 0

    def load(self, address: Word, size: int, /) -> Runs:
        offset = self._offset(address, size)
        return domain.cut(self.runs, offset, offset + size)

    def store(self, address: Word, runs: Runs, /) -> None:
        size = domain.size(runs)
        offset = self._offset(address, size)
        behind = domain.cut(self.runs, offset + size, domain.size(self.runs))
        self.runs = (*domain.cut(self.runs, 0, offset), *runs, *behind)

    def load_end(self, address: Word, size: int, count: Word, /) -> Runs:
        number = self.unknowns.word(count)
        return domain.merge([*self.load(address, number), *domain.zeros(size - number)])

    def store_end(self, address: Word, runs: Runs, count: Word, /) -> None:
        self.store(address, domain.cut(runs, 0, self.unknowns.word(count)))

    def load_word(self, address: Word, size: int, /) -> Value:
        return self.load(address, size)

    def store_word(self, address: Word, value: Value, size: int, /) -> None:
        if isinstance(value, int):
            value = domain.constant_runs((value % (1 << 8 * size)).to_bytes(size, "little"))
        if not isinstance(value, tuple):
            raise Unsupported("an unknown number is stored")
        self.store(address, domain.cut(value, 0, size))

    def entry(self, offset: Word, /) -> tuple[str, Word, Word, int]:
        return self.unknowns.place(offset)


class _Trial:
    """One instance with unknowns in some registers and in its memory operand."""

    def __init__(self, instance: Instance, place: Place, level: Level, rng: Random) -> None:
        self.instance, self.machine, self.place = instance, instance.machine, place
        self.unknowns, self.rng = Unknowns(rng), rng
        self.state = model_state(self.machine, place)
        self.state.facts = self.unknowns.facts()
        self._fill_vectors(level)
        self._fill_general()
        self.memory = self._memory()
        self.state.memory = self.memory
        self.machine.memory = self.unknowns.value(self.memory.runs)

    def _runs(self, size: int) -> Runs:
        fill = self.unknowns
        return self.rng.choice((fill.data, fill.data, fill.data, fill.coefficients, fill.constant))(size)

    def _fill_vectors(self, level: Level) -> None:
        width, operands = level.vector_bytes, self._operands(RegisterExt.is_vector_register)
        for number in range(level.vectors):
            if self.rng.randrange(16) < (12 if number in operands else 1):
                runs = domain.merge([*self._runs(width), *domain.zeros(VECTOR - width)])
                self.state.vectors[number] = runs
                self.machine.vectors[number] = self.unknowns.value(runs)
        self.state.dirty = has_dirty_uppers(self.machine)

    def _fill_general(self) -> None:
        instruction, operands = self.instance.instruction, self._operands(RegisterExt.is_gpr)
        addressing = (instruction.memory_base, instruction.memory_index)
        for number, name in enumerate(GPR):
            if getattr(Register, name.upper()) in addressing:
                continue
            if self.rng.randrange(16) < (10 if number in operands else 2):
                kind = self.rng.randrange(3)
                value: Value = self.unknowns.number() if kind else self.unknowns.data(8)
                self.state.gpr[name] = value
                self.machine.gpr[number] = self.unknowns.register(value)

    def _operands(self, is_wanted: Callable[..., bool]) -> set[int]:
        """Return the numbers of the registers of one class that the instruction names."""
        instruction = self.instance.instruction
        registers = (
            instruction.op_register(n)
            for n in range(instruction.op_count)
            if instruction.op_kind(n) == OpKind.REGISTER
        )
        return {RegisterExt.number(register) for register in registers if is_wanted(register)}

    def _memory(self) -> Memory:
        """Return memory with one byte everywhere, and at the operand a vector of any kind."""
        place, operand = self.place, self.instance.operand
        background = ((place.block_bytes, domain.CONSTANTS[self.rng.randrange(256)]),)
        memory = Memory(place.block, background, self.unknowns)
        if operand is not None:
            low, high = max(operand, place.block), min(operand + VECTOR, place.block + place.block_bytes)
            known = domain.constant_runs(self.rng.randbytes(VECTOR))
            runs = self.rng.choice((known, self._runs(VECTOR)))
            memory.store(low, domain.cut(runs, 0, high - low))
        return memory

    def differences(self, after: Machine) -> Iterator[str]:
        """Yield the differences between the semantics' result (left), with values filled in, and the CPU's
        (right).
        """
        unknowns, state = self.unknowns, self.state
        for number, name in enumerate(GPR):
            symbolic = state.gpr[name]
            value = unknowns.register(symbolic)
            free = undetermined(symbolic) if isinstance(symbolic, tuple) else b""
            if (value ^ after.gpr[number]) & ~int.from_bytes(free, "little"):
                yield f"{name}: {value:#x} / {after.gpr[number]:#x}"
        for number, theirs in enumerate(after.vectors):
            if isinstance(state.vectors, Vectors) and theirs == state.vectors.unwritten(number):
                continue
            runs = state.vectors[number]
            content = unknowns.value(runs)
            if any((a ^ b) & ~free for a, b, free in zip(content, theirs, undetermined(runs), strict=True)):
                yield f"zmm{number}: {content.hex()} / {theirs.hex()}"
        for number in range(8):
            if state.mask_int(number) != after.masks[number]:
                yield f"k{number}: {state.mask_int(number):#x} / {after.masks[number]:#x}"
        flags = unknowns.flags(state.flags)
        for name in FLAGS:
            if getattr(flags, name) not in (None, after.flag(name)):
                yield f"{name}: {getattr(flags, name)} / {after.flag(name)}"
        if has_dirty_uppers(after) and not state.dirty:
            yield "upper halves: said to be clean / in use"
        if unknowns.value(self.memory.runs) != after.memory:
            yield "memory differs"


def check_symbolic(instance: Instance, cpu: Cpu, place: Place, level: Level, rng: Random) -> Outcome:
    """Compare one instance with unknowns, which changes its machine state. Raises Mismatch."""
    trial = _Trial(instance, place, level, rng)
    trial.unknowns.watch(trial.state)
    try:
        step(trial.state, instance.instruction)
    except (Choice, Unsupported, Refutation):
        return Outcome.REFUSED
    trial.unknowns = trial.unknowns.resolved(trial.state)
    try:
        after = cpu.run(instance.encoded, instance.machine, level)
    except Fault as fault:
        raise Mismatch(f"{instance}: faults (signal {fault}), but has a meaning") from None
    found = list(trial.differences(after))
    if found:
        raise Mismatch("\n  ".join([f"{instance}: semantics / CPU", *found[:8]]))
    return Outcome.EQUAL
