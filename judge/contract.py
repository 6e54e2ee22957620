"""The state on entry of a function, and the conditions at its return."""

from __future__ import annotations

from judge.decode import GENERAL, MASKS
from judge.forms import Runs, cut, junk, variable
from judge.integers import SPAN, Facts, Linear, Pointer, Region, Word, require, scale, subtract, unknown
from judge.memory import Abi, Data, State, Value, settle
from judge.spec import LINE_PART, Spec

_MAX_SOURCES = 1 << 60  #: an array of more pointers does not fit into the address space
_SAVED = ("rbx", "rbp", "r12", "r13", "r14", "r15")
ABIS = {
    "sysv": Abi(("rdi", "rsi", "rdx", "rcx", "r8"), _SAVED, range(0), 0, 128),
    "ms": Abi(("rcx", "rdx", "r8", "r9"), (*_SAVED, "rsi", "rdi"), range(6, 16), 32, 0),
}
_ENTRY_RSP = Pointer(Region("stack"), 0)


def _caller(name: str) -> Data:
    """Return a value of the caller, which may only be kept."""
    return Data(((8, 0, variable(f"entry {name}", 0)),))


def entry(spec: Spec, code: bytes, abi: Abi) -> State:
    """Return the state on entry: the arguments, junk elsewhere. rsp is 8 modulo 16."""
    facts = Facts()
    facts.assume(length := scale(unknown("n"), LINE_PART if spec.in_lines else 1), 0, SPAN - 1)
    facts.assume(spec.groups, 0, _MAX_SOURCES // spec.group)
    gpr: dict[str, Value] = {name: Data(junk(8)) for name in (*GENERAL, *MASKS)}
    gpr |= {name: _caller(name) for name in abi.preserved} | {"rsp": _ENTRY_RSP}
    slots: dict[Word, tuple[Value, int]] = {0: (_caller("return address"), 8)}
    facts.assume(unknown("c"), spec.inputs or 0, _MAX_SOURCES)
    sources: Value = k if isinstance(k := spec.columns(spec.sources), Linear) else Data(junk(8))
    given = [length, sources, *(Pointer(Region(kind), 0) for kind in ("coeffs", "srcs", "dsts"))]
    gpr |= dict(zip(abi.arguments, given, strict=False))
    for place, value in enumerate(given[len(abi.arguments) :]):
        slots[8 + abi.home + 8 * place] = value, 8
    fixed = spec, code, abi, facts, length, spec.sources
    vectors: list[Runs] = [((64, 0, variable("entry", n)),) for n in range(32)]
    return State(*fixed, gpr, vectors, slots, -abi.red_zone, multiples={Pointer(Region("stack"), -8): 16})


def check_end(state: State) -> None:
    """Raise Rejected unless a state may return."""
    spec, address = state.spec, state.slots.get(0)
    returns = state.gpr["rsp"] == _ENTRY_RSP and address == (_caller("return address"), 8)
    require(returns, "rsp or the return address is not as on entry")
    for name in state.abi.preserved:
        require(state.gpr[name] == _caller(name), "{} is not preserved", name)
    for n in state.abi.vectors:
        require(cut(state.vectors[n], 0, 16) == ((16, 0, variable("entry", n)),), "xmm{} is not preserved", n)
    require(state.gpr["rax"] == 0 and not state.dirty, "rax is not 0 or upper halves are in use on return")
    require(not state.unfenced, "a streaming store is not fenced on return")
    settle(state)
    count = state.sources if spec.operation == "mul" else spec.outputs
    nothing = state.length == 0 or (spec.operation == "mad" and state.sources == 0)
    done = not state.written and subtract(count, state.complete) == 0
    require(nothing or done, "a destination is not written to its end")
