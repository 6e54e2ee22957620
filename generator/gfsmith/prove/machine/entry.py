"""The machine on entry to a function, by its contract and ABI, and the conditions at its return."""

from __future__ import annotations

from collections.abc import Sequence

from gfsmith.prove.machine import domain
from gfsmith.prove.machine.abi import Abi
from gfsmith.prove.machine.architecture import Architecture, Start
from gfsmith.prove.machine.constants import Constants
from gfsmith.prove.machine.contract import INDEX, LENGTH, Contract, Parameter
from gfsmith.prove.machine.domain import Runs, Table, Unsupported
from gfsmith.prove.machine.invariant import junk
from gfsmith.prove.machine.linear import Address, Facts, Word, add, scale, subtract, symbol
from gfsmith.prove.machine.memory import Limits, Memory
from gfsmith.prove.machine.stack import Stack
from gfsmith.prove.machine.state import Opaque, State, Value
from gfsmith.prove.verdict import Refutation

_MAX_OFFSET = (1 << 63) - 1
_MAX_PUBLIC = (1 << 31) - 1
_RETURN = symbol("return_address")


def _arguments(contract: Contract, length: Word) -> dict[str, Value]:
    """Return the value of each parameter on entry."""
    columns = contract.layout.sources
    addresses: dict[str, Value] = {
        "coeffs": symbol(Address("coeffs")),
        "src": symbol(Address("srcs")),
        "shards": symbol(Address("srcs")),
        "dst": symbol(Address("dsts")),
        "one_src": symbol(Address("src", 0)),
        "one_dst": symbol(Address("dst", 0)),
        "len": add(length, contract.rest),
        "k": contract.sources if contract.inputs is None else junk(8),
        "index": symbol(INDEX),
        "low": symbol(Address("low")),
        "high": symbol(Address("high")),
        "start": contract.start,
        "sources": contract.sources,
        "second_dst": symbol(Address("dst", 1)),
        "destinations": contract.destinations,
        "entry": ((8, Table(0)),),
        "object": symbol(Address("object")),
        "table_bytes": contract.layout.size(contract.table_columns),
    }
    if columns is not None:
        addresses["k"] = columns
    if contract.layout.by_rows:
        addresses["k"] = contract.table_columns
    return addresses | {name: junk(8) for name in contract.narrow}


def _given_value(values: dict[str, Value], facts: Facts, parameter: Parameter | int, number: int) -> Value:
    """Return the value of parameter `number`, from the values of those with a name."""
    if isinstance(parameter, int):
        return parameter
    if parameter == "any":
        return junk(8)
    if parameter == "public":
        facts.assume(symbol(f"public{number}"), 0, _MAX_PUBLIC)
        return symbol(f"public{number}")
    return values[parameter]


def _limits(contract: Contract, length: Word, pointer: int) -> Limits:
    return Limits(
        length,
        contract.sources,
        contract.destinations,
        contract.layout.size(contract.table_columns),
        scale(contract.sources, 1 + contract.ahead),
        pointer,
        contract.in_place,
        contract.per_shard,
        contract.stride * pointer,
        contract.start,
        "shards" in contract.parameters,
        contract.sized,
        contract.table_columns,
        contract.descending,
        contract.in_lines,
    )


def _most_sources(pointer: int) -> int:
    """Return 2^60, or 2^28 in 32 bits: an array of more pointers does not fit into the address space."""
    return 1 << 8 * pointer - 4


def _given(contract: Contract, pointer: int, low: int, high: int) -> tuple[Word, Facts]:
    """Return the length of a shard, and the facts about it and about the other numbers."""
    facts = Facts()
    length = low if low == high else scale(symbol(LENGTH), contract.granule)
    facts.assume(length, low, high)
    if contract.indexed:
        columns = contract.table_columns
        if not isinstance(columns, int) or not contract.layout.entry:
            raise Unsupported("an index into a table whose number of columns is not known")
        facts.assume(symbol(INDEX), 0, columns - 1)
    facts.assume(contract.start, 0, _MAX_OFFSET)
    facts.assume(contract.rest, 0, contract.granule - 1)
    if contract.layout.by_rows and contract.inputs is not None:
        facts.assume(contract.table_columns, contract.inputs, _most_sources(pointer))
    if contract.inputs is None:
        facts.assume(contract.groups, 0, _most_sources(pointer) // contract.group)
    return length, facts


def _vectors(arch: Architecture, start: Start) -> list[Runs]:
    """Return the vector registers on entry."""
    if start.vectors is not None:
        return list(start.vectors)
    return [
        ((arch.vector_bytes, domain.variable(domain.ENTRY, number, 0)),) for number in range(arch.vectors)
    ]


def entry_state(
    contract: Contract, arch: Architecture, start: Start, lengths: tuple[int, int], constants: Constants
) -> State:
    """Return the state on entry for a range of `lengths`: defined by ABI and contract, otherwise
    arbitrary."""
    abi = arch.abis[contract.abi]
    length, facts = _given(contract, abi.pointer, *lengths)
    memory = Memory(
        _limits(contract, length, abi.pointer),
        facts,
        contract.expect,
        contract.expanded,
        constants,
        contract.layout.decode,
        empty_stack(arch, abi),
    )
    values = _arguments(contract, length)
    given = [_given_value(values, facts, each, number) for number, each in enumerate(contract.parameters)]
    state = called_with(arch, abi, start, given, memory)
    state.multiples = _multiples(contract, abi)
    return state


def empty_stack(arch: Architecture, abi: Abi) -> Stack:
    """Return the stack on entry."""
    deepest = abi.deepest + abi.stack_vectors * arch.vector_bytes
    return Stack(abi.home, abi.red_zone, guard=abi.guard, deepest=deepest)


def called_with(arch: Architecture, abi: Abi, start: Start, given: Sequence[Value], memory: Memory) -> State:
    """Return the state on entry with the given parameters: defined by the ABI, otherwise arbitrary."""
    gpr: dict[str, Value | Opaque] = {name: junk(8) for name in arch.general}
    for name in abi.preserved:
        gpr[name] = symbol(f"entry_{name}")
    gpr |= start.holds
    gpr |= {name: add(symbol(Address("stack")), offset) for name, offset in abi.anchored.items()}
    gpr |= dict.fromkeys(abi.zeros, 0)
    gpr[arch.stack_pointer] = symbol(Address("stack"))
    memory.stack.move(0, memory.facts)
    if isinstance(abi.return_address, str):
        gpr[abi.return_address] = _RETURN
    elif abi.return_address is not None:
        memory.stack.slots[abi.return_address] = (_RETURN, 8)
    gpr |= dict(zip(abi.arguments, given, strict=False))
    gpr |= {_entry_value(name): gpr[name] for name in abi.preserved if name in abi.arguments}
    for number, value in enumerate(given[len(abi.arguments) :]):
        memory.stack.slots[abi.stack_arguments + 8 * number] = (value, 8)
    return State(gpr, _vectors(arch, start), [None] * arch.masks, memory, memory.facts)


def _entry_value(name: str) -> str:
    """Return the name under which a state keeps the entry value of a register that is both preserved and an
    argument. No instruction has this register."""
    return f"entry {name}"


def _multiples(contract: Contract, abi: Abi) -> dict[Word, int]:
    """Return the divisors of addresses that convention and contract promise."""
    place, multiple = abi.stack_multiple
    found: dict[Word, int] = {add(symbol(Address("stack")), place): multiple}
    for kind, number in (("src", contract.inputs or 1), ("dst", contract.outputs)):
        found |= {symbol(Address(kind, index)): contract.aligned for index in range(number)}
    return found


def check_end(contract: Contract, arch: Architecture, start: Start, state: State) -> None:
    """Check the conditions at return. Raises Refutation, or Unsupported for a register that is unclear."""
    check_return(contract, arch, start, state)
    assert isinstance(state.memory, Memory)
    _check_written(contract, state.memory)


def check_return(contract: Contract, arch: Architecture, start: Start, state: State) -> None:
    """Check everything but the results: registers, return address, vectors, fences."""
    abi, memory = arch.abis[contract.abi], state.memory
    assert isinstance(memory, Memory)
    stack, pointer = symbol(Address("stack")), arch.stack_pointer
    _check_register(state, pointer, stack, f"{pointer} differs from its value on entry")
    if isinstance(abi.return_address, str):
        _check_register(state, abi.return_address, _RETURN, f"{abi.return_address} is not the return address")
    elif abi.return_address is not None and memory.stack.slots.get(abi.return_address) != (_RETURN, 8):
        raise Refutation("the return address is overwritten")
    for name in abi.preserved:
        value = state.gpr.get(_entry_value(name), symbol(f"entry_{name}"))
        _check_register(state, name, value, f"{name} is not preserved")
    for name, offset in abi.anchored.items():
        _check_register(state, name, add(stack, offset), f"{name} is not preserved")
    for name in abi.zeros:
        _check_register(state, name, 0, f"{name} is not 0")
    if contract.returns_zero:
        _check_register(state, abi.result, 0, f"{abi.result} is not 0")
    for name, word in start.leaves.items():
        _check_register(state, name, word, f"{name} does not hold {word}")
    for condition in state.conditions:
        if condition.startswith(abi.preserved_conditions):
            raise Refutation(f"{condition} is not preserved")
    for number, kept in abi.preserved_vectors.items():
        low = domain.cut(state.vectors[number], 0, kept)
        if low != ((kept, domain.variable(domain.ENTRY, number, 0)),):
            raise Refutation(f"{arch.vector_name}{number} is not preserved")
    if contract.clean_upper and state.dirty:
        raise Refutation("upper halves of vector registers are in use on return")
    if contract.fence and state.unfenced:
        raise Refutation("a streaming store is not fenced")


def _check_register(state: State, name: str, value: Value | Opaque, reason: str) -> None:
    if state.gpr[name] != value:
        raise domain.refutation(state.gpr[name], reason)


def _check_written(contract: Contract, memory: Memory) -> None:
    memory.settle()
    if memory.limits.length == 0:
        if memory.written:
            raise Refutation("len = 0 writes")
        return
    if contract.operation == "mad" and memory.limits.sources == 0:
        return  # each destination is its own sum, which stores may repeat
    left = subtract(memory.limits.outputs, memory.complete)
    if left != 0 or memory.written:
        done = next(iter(memory.written.values())).prefix if memory.written else 0
        raise Refutation(f"of dst[{memory.complete}] only {done} of {memory.limits.length} bytes are written")
