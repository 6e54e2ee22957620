"""The proof of one function: its promise, its bytes, and the answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

from iced_x86 import Decoder, Mnemonic

from gfsmith.isa import Isa, Tail
from gfsmith.prove.machine import domain
from gfsmith.prove.machine.contract import INDEX, LENGTH, Contract, Layout, Parameter
from gfsmith.prove.machine.domain import Runs, Unsupported
from gfsmith.prove.machine.explore import MAX_STEPS, Explorer
from gfsmith.prove.machine.image import Image
from gfsmith.prove.machine.invariant import junk
from gfsmith.prove.machine.linear import Address, Facts, Word, scale, subtract, symbol
from gfsmith.prove.machine.memory import Limits, Memory
from gfsmith.prove.machine.stack import Stack
from gfsmith.prove.machine.stackmap import check_unwind
from gfsmith.prove.machine.state import GENERAL, VECTOR_BYTES, Opaque, State, Value
from gfsmith.prove.verdict import Refutation, Status
from gfsmith.spec import KernelSpec, Operation

_PARAMETERS: tuple[Parameter, ...] = ("len", "k", "coeffs", "src", "dst")
_ARGUMENTS = {
    "sysv": ("rdi", "rsi", "rdx", "rcx", "r8", "r9"),
    "ms": ("rcx", "rdx", "r8", "r9"),
}
_PRESERVED = {
    "sysv": ("rbx", "rbp", "r12", "r13", "r14", "r15"),
    "ms": ("rbx", "rbp", "rsi", "rdi", "r12", "r13", "r14", "r15"),
}
_PRESERVED_VECTORS = {"sysv": range(0), "ms": range(6, 16)}
_SHADOW = {"sysv": (0, 0), "ms": (8, 40)}
_FIRST_STACK_ARGUMENT = {"sysv": 8, "ms": 40}
_RED_ZONE = {"sysv": 128, "ms": 0}
_MAX_SOURCES = 1 << 60  #: an array of more pointers does not fit into the address space

#: What a CPU with a feature has besides (Intel SDM, volume 1, 13.2, 14.3 and 15.2).
_IMPLIED = (
    ("AVX512F", frozenset({"AVX", "AVX2"})),
    ("AVX", frozenset({"SSE3", "SSSE3", "SSE4_1", "SSE4_2"})),
    ("SSSE3", frozenset({"SSE3"})),
)

_ENDBR64 = bytes.fromhex("f30f1efa")

CHECKS = (
    "value",
    "every length",
    "bounds",
    "aliasing",
    "ABI",
    "constant time",
    "encoding floor",
    "coverage",
)


@dataclass(frozen=True, slots=True)
class Report:
    """status, the reason if not proved, instructions of the function and how many were reached."""

    status: Status
    reason: str = ""
    instructions: int = 0
    covered: int = 0
    steps: int = 0
    checks: tuple[str, ...] = field(default=())

    def __bool__(self) -> bool:
        return self.status is Status.PROVED


def features_of(isa: Isa) -> tuple[str, ...]:
    """CPUID features that code for an instruction set may use."""
    features = set(isa.cpu_flags)
    for feature, implied in _IMPLIED:
        if feature in features:
            features |= implied
    return tuple(sorted(features))


def contract_of(spec: KernelSpec, abi: str) -> Contract:
    """The promise of a generated kernel."""
    return Contract(
        operation=spec.operation.value,
        inputs=spec.inputs,
        outputs=spec.outputs,
        layout=Layout(spec.tables.label, spec.tables.entry_bytes, spec.outputs),
        parameters=_PARAMETERS,
        abi=abi,
        features=features_of(spec.isa),
        in_place=spec.in_place,
        block=spec.block,
        vector=spec.isa.vector_bytes,
        per_shard=spec.operation is Operation.MUL,
        landing=True,
        masked=spec.isa.tail is Tail.MASKED,
        rows=spec.baked.rows if spec.baked is not None else None,
        polynomial=spec.field.polynomial,
        group=spec.group,
    )


def _arguments(contract: Contract, length: Word) -> dict[str, Value]:
    """What each parameter holds on entry."""
    columns = contract.layout.sources
    addresses: dict[str, Value] = {
        "coeffs": symbol(Address("coeffs")),
        "src": symbol(Address("srcs")),
        "dst": symbol(Address("dsts")),
        "one_src": symbol(Address("src", 0)),
        "one_dst": symbol(Address("dst", 0)),
        "len": length,
        "k": contract.sources if contract.inputs is None else junk(8),
        "index": symbol(INDEX),
    }
    if columns is not None:
        addresses["k"] = columns
    return addresses | {name: junk(8) for name in contract.narrow}


def _constants(image: Image, contract: Contract, reads: set[int], address: int, size: int) -> bytes | None:
    """Bytes that nobody changes and that the file says. reads: where such bytes were read."""
    reads.update(range(address, address + size))
    segment = image.segment_at(address)
    if segment is None or image.hole_in(address, size):
        return None
    if segment.writable and not contract.frozen_data:
        return None
    return image.read(address, size)


def _limits(contract: Contract, length: Word) -> Limits:
    return Limits(
        length,
        contract.sources,
        contract.destinations,
        contract.layout.size(contract.layout.sources or contract.sources),
        contract.in_place,
        contract.per_shard,
    )


def entry_state(
    contract: Contract, image: Image, low: int, high: int, reads: set[int] | None = None
) -> State:
    """The machine on entry, for low <= len <= high: what ABI and contract say, and junk otherwise."""
    facts = Facts()
    length = low if low == high else scale(symbol(LENGTH), contract.granule)
    facts.assume(length, low, high)
    if contract.indexed:
        facts.assume(symbol(INDEX), 0, (contract.layout.sources or 1) - 1)
    if contract.inputs is None:
        facts.assume(contract.groups, 0, _MAX_SOURCES // contract.group)
    memory = Memory(
        _limits(contract, length),
        facts,
        contract.expect,
        partial(_constants, image, contract, set() if reads is None else reads),
        contract.layout.decode,
        Stack(_SHADOW[contract.abi], _RED_ZONE[contract.abi]),
    )
    gpr: dict[str, Value | Opaque] = {name: junk(8) for name in GENERAL}
    for name in _PRESERVED[contract.abi]:
        gpr[name] = symbol(f"entry_{name}")
    gpr["rsp"] = symbol(Address("stack"))
    memory.stack.move(0, facts)
    memory.stack.slots[0] = (symbol("return_address"), 8)
    registers = _ARGUMENTS[contract.abi]
    place = _FIRST_STACK_ARGUMENT[contract.abi]
    for number, parameter in enumerate(contract.parameters):
        value = _arguments(contract, length)[parameter]
        if number < len(registers):
            gpr[registers[number]] = value
        else:
            memory.stack.slots[place] = (value, 8)
            place += 8
    vectors: list[Runs] = [((VECTOR_BYTES, domain.variable("entry", number, 0)),) for number in range(32)]
    state = State(gpr, vectors, [None] * 8, memory, facts)
    for kind in ("src", "dst"):
        state.multiples[symbol(Address(kind, 0))] = contract.aligned
    return state


def _check_end(contract: Contract, state: State) -> None:
    """What must hold at ret."""
    memory = state.memory
    assert isinstance(memory, Memory)
    if state.gpr["rsp"] != symbol(Address("stack")):
        raise Refutation("rsp is not what it was on entry")
    if memory.stack.slots.get(0) != (symbol("return_address"), 8):
        raise Refutation("the return address is overwritten")
    for name in _PRESERVED[contract.abi]:
        if state.gpr[name] != symbol(f"entry_{name}"):
            raise Refutation(f"{name} is not preserved")
    for number in _PRESERVED_VECTORS[contract.abi]:
        low = domain.cut(state.vectors[number], 0, 16)
        if low != ((16, domain.variable("entry", number, 0)),):
            raise Refutation(f"xmm{number} is not preserved")
    if contract.clean_upper and state.dirty:
        raise Refutation("upper halves of vector registers are in use on return")
    if contract.fence and state.unfenced:
        raise Refutation("a streaming store is not fenced")
    _check_written(contract, state, memory)


def _check_written(contract: Contract, state: State, memory: Memory) -> None:
    memory.settle()
    if memory.limits.length == 0:
        if memory.written:
            raise Refutation("len = 0 writes")
        return
    left = subtract(memory.limits.outputs, memory.complete)
    if left != 0 or memory.written:
        done = next(iter(memory.written.values())).prefix if memory.written else 0
        raise Refutation(f"of dst[{memory.complete}] only {done} of {memory.limits.length} bytes are written")


def _instructions(code: bytes, origin: int, data: set[int]) -> list[int]:
    """Where instructions begin: everywhere but at bytes that are read as data."""
    places, start = [], 0
    while start < len(code):
        if origin + start in data:
            start += 1
            continue
        places.append(origin + start)
        start += Decoder(64, code[start : start + 15], ip=origin + start).decode().len or 1
    return places


def _check_coverage(explorer: Explorer, code: bytes, data: set[int]) -> tuple[int, int]:
    places = _instructions(code, explorer.origin, data)
    missed = [ip for ip in places if ip not in explorer.covered]
    real = []
    for ip in missed:
        instr = Decoder(64, code[ip - explorer.origin :], ip=ip).decode()
        if instr.mnemonic not in (Mnemonic.NOP, Mnemonic.INT3):
            real.append(ip - explorer.origin)
    if real and explorer.contract.reach_all:
        raise Refutation(f"byte {real[0]}: {len(real)} instructions are never reached")
    return len(places) - len(missed), len(places)


def prove_code(
    contract: Contract,
    image: Image,
    name: str,
    exhaustive: bool = True,
    max_steps: int = MAX_STEPS,
) -> Report:
    """Prove or refute one function of an image against its contract, for every length.

    All lengths and numbers of sources at once, by induction over the loops, and bytes left over after them
    one by one unless a mask takes them as a whole; then, if `exhaustive`, every length from 0 to four blocks
    once more without induction. After `max_steps` instructions the answer is "unsupported".
    """
    function = image.functions[name]
    code = image.read(function.address, function.size)
    if code is None:
        return Report(Status.UNSUPPORTED, f"{name}: its code is not in the file")
    hole = image.hole_in(function.address, function.size)
    if hole is not None:
        return Report(Status.UNSUPPORTED, f"{name}: its code depends on {hole.symbol}")
    if contract.landing and not code.startswith(_ENDBR64):
        return Report(Status.REFUTED, f"{name}: does not begin with endbr64")
    if contract.masked and not exhaustive:
        at_once = Explorer(contract, code, function.address, max_steps, ranges=True)
        report = _prove(contract, image, name, code, at_once, exhaustive)
        if report.status is Status.PROVED:
            return report
    explorer = Explorer(contract, code, function.address, max_steps)
    return _prove(contract, image, name, code, explorer, exhaustive)


def _prove(
    contract: Contract, image: Image, name: str, code: bytes, explorer: Explorer, exhaustive: bool
) -> Report:
    """The answer of one exploration."""
    count, data = len(_instructions(code, explorer.origin, set())), set[int]()
    try:
        for case in contract.cases():
            explorer.contract = case
            for low, high in _length_ranges(case, exhaustive):
                for state in explorer.run(entry_state(case, image, low, high, data)):
                    _check_end(case, state)
        covered, count = _check_coverage(explorer, code, data)
        if contract.unwind:
            abi = contract.abi
            check_unwind(explorer, image, name, _PRESERVED[abi], _PRESERVED_VECTORS[abi])
    except Refutation as found:
        return Report(Status.REFUTED, f"{name}: {found}", count, len(explorer.covered), explorer.steps)
    except Unsupported as found:
        return Report(Status.UNSUPPORTED, f"{name}: {found}", count, len(explorer.covered), explorer.steps)
    return Report(Status.PROVED, "", count, covered, explorer.steps, CHECKS)


def _length_ranges(contract: Contract, exhaustive: bool) -> list[tuple[int, int]]:
    ranges = [(contract.minimum, contract.maximum)]
    if exhaustive:
        ranges.append((contract.minimum, min(4 * contract.block, contract.maximum)))
    return [(low, high) for low, high in ranges if low <= high]
