"""The description of WebAssembly for the prover's core."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gfsmith.kernel.isa import Isa
from gfsmith.prove.machine import domain
from gfsmith.prove.machine.abi import Abi
from gfsmith.prove.machine.architecture import Architecture, Decode, Flow, Instruction, Start
from gfsmith.prove.machine.formats.image import Function, Image, Reference
from gfsmith.prove.machine.instruction_table import step
from gfsmith.prove.machine.linear import Word
from gfsmith.prove.machine.state import Condition, Difference, Flags, State
from gfsmith.prove.machine.wasm.decode import Decoded
from gfsmith.prove.machine.wasm.lower import Lowered, lowered
from gfsmith.prove.machine.wasm.registers import ABIS, MACHINE, STACK_POINTER, VECTOR_BYTES, WASM32
from gfsmith.prove.machine.wasm.semantics import TABLE
from gfsmith.prove.machine.wasm.semantics.numbers import opposite, tested
from gfsmith.prove.machine.wasm.semantics.operands import word
from gfsmith.prove.machine.wasm.semantics.vector import RELAXED

_MEANINGS = {form: entry.run for form, entry in TABLE.items()}
_FEATURES = {"wasm_relaxed_simd": (RELAXED,)}


def _lowered(image: Image, function: Function) -> Lowered:
    listing = image.listings[function.symbol]
    if listing.parameters != ("i32",) * len(WASM32.arguments) or listing.results:
        first = Instruction(
            function.address,
            function.address + function.size,
            Flow.OTHER,
            f"a function from {listing.parameters} to {listing.results}",
        )
        return Lowered({first.ip: first}, 0)
    return lowered(listing)


class WebAssembly:
    """WebAssembly of 32 bits, with its vectors of 128 bits and relaxed SIMD."""

    name = MACHINE
    general: tuple[str, ...] = (STACK_POINTER,)
    stack_pointer = STACK_POINTER
    alignment = 1
    vectors = 0
    vector_bytes = VECTOR_BYTES
    vector_name = "v"
    masks = 0
    abis: Mapping[str, Abi] = ABIS

    def decoder(self, image: Image, function: Function) -> Decode:
        return _lowered(image, function).instructions.get

    def features(self, isa: Isa, granted: Iterable[str] = ()) -> tuple[str, ...]:
        return (*_FEATURES.get(isa.name, ()), *granted)

    def lengthened(self, features: tuple[str, ...]) -> tuple[Architecture, ...]:
        return ()

    def lacks(self, instruction: Instruction, features: tuple[str, ...]) -> str | None:
        found = instruction.raw
        entry = TABLE.get(found.form) if isinstance(found, Decoded) else None
        return None if entry is None or entry.feature in ("", *features) else entry.feature

    def is_linked(self, instruction: Instruction, reference: Reference) -> bool:
        """Return False: a linked module has no references."""
        return False

    def starts(self, image: Image, function: Function) -> tuple[Start, ...]:
        """Return the entry point, at which all variables but the parameters are 0."""
        listing = image.listings[function.symbol]
        first = len(listing.parameters)
        holds: dict[str, Word] = {f"r{first + n}": 0 for n in range(len(listing.variables))}
        vectors = (domain.zeros(VECTOR_BYTES),) * _lowered(image, function).registers
        return (Start(function.address, holds, {}, vectors),)

    def execute(self, state: State, instruction: Instruction) -> None:
        if instruction.flow is Flow.NEXT and isinstance(instruction.raw, Decoded):
            step(_MEANINGS, state, instruction.raw)

    def test(self, state: State, instruction: Instruction) -> tuple[Flags, Condition]:
        """Return the condition of br_if, of if, which branches on 0, or of one target of br_table."""
        found: Decoded = instruction.raw
        (operand,) = found.operands
        if found.form == "br_table":
            return Difference(word(state, operand), found.numbers[0], 4), Condition.EQUAL
        truth = tested(state, operand)
        if found.form == "if":
            truth = opposite(truth)
        return truth.flags, truth.condition

    def check_unwind(
        self, image: Image, name: str, abi: Abi, reached: Mapping[int, tuple[Instruction, list[State]]]
    ) -> None:
        """Check nothing: WebAssembly has no unwind tables."""
