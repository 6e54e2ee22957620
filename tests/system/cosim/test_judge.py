"""Co-simulation: the judge's instruction semantics, compared with this CPU.

Each mnemonic of the judge's table is executed in all its forms, on random operands, by the CPU and by the
judge: registers with known bytes, and registers whose bytes are unknowns, for which the judge's result is
evaluated afterwards. A form that the judge rejects has no meaning and passes.
"""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

import capstone
import pytest
from iced_x86 import Code, Decoder, Instruction, Mnemonic, Register

from gfsmith.emit.x86.frame import Abi
from judge import contract, decode, forms, memory, semantics, spec
from judge.integers import Facts, Pointer, Region, Rejected
from tests.support.folders import shared_folder
from tests.support.levels import first
from tests.support.specs import make_spec
from tests.system.cosim.x86.cpu import GPR, Cpu, Fault, Machine, build, missing_features
from tests.system.cosim.x86.instances import (
    _CLASSES,
    _IMMEDIATES,
    _KIND_NAMES,
    Instance,
    Place,
    make_instance,
)
from tools.mutation.sample import Target

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="executes x86-64 instructions")

INSTANCES = 20  #: equal instances of each mnemonic
ATTEMPTS = 6000
FEW = 1500  #: attempts of mnemonics that need not reach INSTANCES
TRIES = 12  #: instances of a form of the CPU, one of which is a form of the judge
#: Results that are no number of the machine: a mask as a count, the stack, or no effect at all.
APART = frozenset(
    {"bzhi", "kmovq", "push", "pop", "and", "or", "nop", "endbr64", "sfence", "pextrw", "vpextrw"}
)
MNEMONICS = frozenset(form.split()[0] for form, make in semantics.MAKERS.items() if make is not None)
PREFETCHES = frozenset(name for name in MNEMONICS if name.startswith("prefetch"))
_NAMES = {value: name.lower() for name, value in vars(Mnemonic).items() if isinstance(value, int)}
_NO_SPEC = {
    "symbol": "gfs_xor_2x1__gfni_avx512_u1",
    "operation": "xor",
    "inputs": 2,
    "outputs": 1,
    "table": "none",
}


def codes_of(name: str) -> list[int]:
    """Return the instruction forms of a mnemonic."""
    every = [value for value in vars(Code).values() if isinstance(value, int)]
    return [code for code in every if _NAMES[Instruction.create(code).mnemonic] == name and _drawn(code)]  # type: ignore[arg-type]


def _drawn(code: int) -> bool:
    """Return whether a form has only operands that random instances have, and the CPU its features."""
    info = Instruction.create(code).op_code()  # type: ignore[arg-type]
    kinds = [_KIND_NAMES[kind] for kind in info.op_kinds()]
    if not all(kind in ("MEM", *_IMMEDIATES) or kind.split("_")[0] in _CLASSES for kind in kinds):
        return False
    try:
        return not missing_features(Instruction.create(code).cpuid_features())  # type: ignore[arg-type]
    except KeyError:  # a feature that no kernel uses
        return False


def _judged(code: int, rng: Random, place: Place, cpu: Cpu) -> bool:
    """Return whether an instance of an instruction form is in the judge's table."""
    for _ in range(TRIES):
        instance = make_instance(code, rng, place, cpu.level)
        try:
            if instance is not None and decode.decode(instance.encoded).form in semantics.MAKERS:
                return True
        except Rejected:
            pass
    return False


@pytest.fixture(scope="session")
def cpu(tmp_path_factory: pytest.TempPathFactory) -> Cpu:
    return Cpu(build(shared_folder(tmp_path_factory) / "cosim"))


@pytest.fixture(scope="session")
def place(cpu: Cpu) -> Place:
    return Place(cpu.block, cpu.block_bytes, cpu.code)


def model(machine: Machine, instance: Instance, place: Place, unknown: set[int]) -> memory.State:
    """Return a machine state for the judge. The memory block is the region of the code; the register that
    points into it is a pointer. unknown: vector registers whose bytes are unknowns."""
    plain = spec.read(
        _NO_SPEC
        | {"rows": None, "polynomial": 0x11B, "in_place": False, "group": 1, "descending": False, "ahead": 0}
    )
    state = contract.entry(plain, machine.memory, contract.ABIS["sysv"])
    state.facts = Facts()
    state.gpr |= dict(zip(GPR, machine.gpr, strict=True))
    base = instance.instruction.memory_base
    for name, value in zip(GPR, machine.gpr, strict=True):
        if base == getattr(Register, name.upper()):
            state.gpr[name] = Pointer(
                Region("code"), (value - place.block + (1 << 63)) % (1 << 64) - (1 << 63)
            )
    state.multiples = {Pointer(Region("code"), 0): 64}
    for number, data in enumerate(machine.vectors):
        runs = forms.constant_runs(data)
        if number in unknown:
            runs = ((64, 0, forms.variable("v", number)),)
        state.vectors[number] = runs
    state.dirty = any(any(vector[16:]) for vector in machine.vectors[:16])
    return state


def agrees(runs: forms.Runs, machine: Machine, actual: bytes) -> bool:
    """Return whether bytes of the judge are those of the CPU, except bits that are unknown."""
    position = 0
    for length, start, one in runs:
        for n in range(length):
            value, vague = one.constant, 0
            for atom, matrix in one.atoms:
                if atom.kind == "v":
                    assert isinstance(atom.shard, int) and isinstance(start, int)
                    value ^= forms.apply(matrix, machine.vectors[atom.shard][start + n])
                else:
                    vague |= sum(1 << r for r in range(8) if matrix >> 8 * r & 0xFF)
            if (value ^ actual[position]) & ~vague & 0xFF:
                return False
            position += 1
    return True


def differences(state: memory.State, before: Machine, after: Machine) -> Iterator[str]:
    """Yield the parts of the state in which the judge differs from the CPU."""
    for name, number in zip(GPR, after.gpr, strict=True):
        value = state.gpr[name]
        if isinstance(value, int) and value % (1 << 64) != number:
            yield name
        if isinstance(value, memory.Data) and not agrees(value.runs, before, number.to_bytes(8, "little")):
            yield name
    for number, runs in enumerate(state.vectors):
        if forms.size(runs) != 64 or not agrees(runs, before, after.vectors[number]):
            yield f"vector {number}"
    flags = state.flags
    if isinstance(flags, memory.Compared) and isinstance(flags.left, int) and isinstance(flags.right, int):
        left, right = flags.left % (1 << 64), flags.right % (1 << 64)
        if (left < right, left == right) != (after.flag("cf"), after.flag("zf")):
            yield "flags"
    if not state.dirty and any(any(vector[16:]) for vector in after.vectors[:16]):
        yield "upper halves"


class Stores:
    """The stores of one instruction, instead of the judge's memory."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.found: list[tuple[int, forms.Runs]] = []
        monkeypatch.setattr(memory, "store", self.store)

    def store(
        self, state: memory.State, pointer: Any, value: memory.Value, length: int, count: Any = None
    ) -> None:
        assert pointer.region == Region("code") and isinstance(pointer.offset, int)
        runs = memory.as_bytes(value, length)
        assert forms.size(runs) == length and count is None
        if not 0 <= pointer.offset <= len(state.code) - length:
            raise Rejected("a store outside of the block")
        self.found.append((pointer.offset, runs))

    def differ(self, before: Machine, after: Machine) -> bool:
        """Return whether the memory of the CPU is another one than that with these stores."""
        kept = bytearray(after.memory)
        for offset, runs in self.found:
            length = forms.size(runs)
            if not agrees(runs, before, after.memory[offset : offset + length]):
                return True
            kept[offset : offset + length] = before.memory[offset : offset + length]
        return bytes(kept) != before.memory


def run(instance: Instance, place: Place, stores: Stores, unknown: set[int]) -> memory.State:
    """Execute an instance by the judge. Raises Rejected."""
    ins = decode.decode(instance.encoded)
    if ins.size != len(instance.encoded):
        raise Rejected("not one instruction")
    effect = semantics.effect(ins)
    assert effect is not None
    state = model(instance.machine, instance, place, unknown)
    stores.found.clear()
    effect(state)
    return state


def outcome(instance: Instance, cpu: Cpu, place: Place, stores: Stores, unknown: set[int]) -> str:
    """Compare one instance. Raises AssertionError at a difference."""
    try:
        state = run(instance, place, stores, unknown)
    except Rejected:
        return "rejected"
    try:
        after = cpu.run(instance.encoded, instance.machine)
    except Fault:
        raise AssertionError(f"{instance} faults and has a meaning") from None
    found = list(differences(state, instance.machine, after))
    assert not found, f"{instance}: {found}"
    assert not stores.differ(instance.machine, after), f"{instance}: memory"
    return "equal"


@pytest.mark.parametrize("name", first(sorted(MNEMONICS), 8))
def test_semantics_agree_with_the_cpu(
    name: str, cpu: Cpu, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng, stores, outcomes = Random(name), Stores(monkeypatch), Counter[str]()
    codes = [code for code in codes_of(name) if _judged(code, rng, place, cpu)]
    if not codes:
        pytest.skip("this CPU lacks the instruction")
    for number in range(FEW if name in APART | PREFETCHES else ATTEMPTS):
        instance = make_instance(rng.choice(codes), rng, place, cpu.level)
        if instance is not None:
            unknown = {rng.randrange(32) for _ in range(8)} if number % 2 else set[int]()
            outcomes[outcome(instance, cpu, place, stores, unknown)] += 1
        if outcomes["equal"] >= INSTANCES:
            break
    assert outcomes["equal"] >= INSTANCES or name in APART | PREFETCHES, outcomes


def test_no_invalid_encoding_is_accepted() -> None:
    """With one bit changed in the first bytes of an instruction, the judge accepts only encodings that are
    valid for a second decoder, with the same length."""
    decoder = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
    target = Target(make_spec("dot", None, 4, "gfni_avx512", unroll=1), Abi.SYSV)
    others = [Target(make_spec("dot", None, 2, name, unroll=1), Abi.MS) for name in ("sse", "avx2", "avx512")]
    accepted = 0
    codes = [each.code for each in (target, *others)]
    lines = [(code, line) for code in codes for line in decoder.disasm_lite(code, 0)]
    for code in {code[line[0] :][: line[1]] for code, line in lines}:
        for bit in range(8 * min(len(code), 6)):
            changed = bytearray(code + b"\x90" * 8)
            changed[bit // 8] ^= 1 << bit % 8
            try:
                ins = decode.decode(bytes(changed))
                semantics.effect(ins)
            except Rejected:
                continue
            found = Decoder(64, bytes(changed)).decode()
            accepted += 1
            assert not found.is_invalid and found.len == ins.size, f"{ins}: {changed.hex()}"
    assert accepted > 1000
