"""Replay of a certificate: one walk along its tree, from the entry of a function to every return.

The judge executes straight code itself. At a branch that the known facts do not decide, the certificate has
a node. The judge checks that its claims follow and that it leaves no case out:

    ["ret"]                              the path returns
    ["align", place, yes, no]            a test of low bits of addresses
    ["split", place, taken, other]       both sides, each a list of parts
    ["loop", place, t, bounds, invariant, taken, other]
                                         the same from the state at iteration t (invariant.py)
    ["close"]                            the state of iteration t + 1 is reached
    ["never"]                            no execution comes here

A part is [least, greatest, hints, node]: the path on which the value of the branch lies between two bounds. A
hint is ["=", name, word], an unknown that has only this value, or ["-", word, word], two values whose
difference has the bounds that follow from theirs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import inf
from typing import Any, NamedTuple

from judge import decode, invariant, memory, semantics
from judge.forms import junk, variable
from judge.integers import (
    SPAN,
    Bound,
    Contradiction,
    Facts,
    Linear,
    Pointer,
    Region,
    Rejected,
    Word,
    subtract,
    unknown,
    word,
)
from judge.memory import PAGE, Compared, Data, Register, State, Tested, Token, Value
from judge.spec import Spec

_MAX_SOURCES = 1 << 60  #: an array of more pointers does not fit into the address space
_MAX_STEPS = 250_000  #: four times those of the longest kernel
_RETURN = Token("return address")


class Abi(NamedTuple):
    """home: bytes above the return address that a function may write. fifth: the place of argument 5."""

    arguments: tuple[str, ...]
    preserved: tuple[str, ...]
    vectors: range
    home: int
    red_zone: int


ABIS = {
    "sysv": Abi(
        ("rdi", "rsi", "rdx", "rcx", "r8"), ("rbx", "rbp", "r12", "r13", "r14", "r15"), range(0), 0, 128
    ),
    "ms": Abi(
        ("rcx", "rdx", "r8", "r9"),
        ("rbx", "rbp", "rsi", "rdi", "r12", "r13", "r14", "r15"),
        range(6, 16),
        32,
        0,
    ),
}


class Split(NamedTuple):
    """The values for which a branch is taken, and for which it is not."""

    value: Linear
    taken: tuple[Bound, Bound]
    other: tuple[Bound, Bound]


#: Condition -> the values of left - right with which it holds, and the other values.
_SIDES: dict[str, tuple[tuple[Bound, Bound], tuple[Bound, Bound]]] = {
    "jb": ((-inf, -1), (0, inf)),
    "jae": ((0, inf), (-inf, -1)),
    "jbe": ((-inf, 0), (1, inf)),
    "ja": ((1, inf), (-inf, 0)),
}


def entry(spec: Spec, code: bytes, abi: Abi) -> State:
    """Return the state on entry: the arguments, junk elsewhere."""
    facts = Facts()
    facts.assume(unknown("n"), 0, SPAN - 1)
    facts.assume(spec.groups, 0, _MAX_SOURCES // spec.group)
    gpr: dict[str, Value] = {name: Data(junk(8)) for name in decode.GENERAL}
    gpr |= {name: Token(name) for name in abi.preserved} | {"rsp": Pointer(Region("stack"), 0)}
    vectors = [Register(((16, 0, variable("entry", n)),), 16, False) for n in range(32)]
    state = State(
        spec, code, abi.home, abi.red_zone, facts, unknown("n"), spec.sources, gpr, vectors, [None] * 8
    )
    sources: Value = spec.sources if spec.inputs is None else Data(junk(8))
    arrays = [Pointer(Region(kind), 0) for kind in ("coeffs", "srcs", "dsts")]
    given: list[Value] = [unknown("n"), sources, *arrays]
    state.gpr |= dict(zip(abi.arguments, given, strict=False))
    state.floor = -abi.red_zone
    state.slots = {0: (_RETURN, 8)}
    for number, value in enumerate(given[len(abi.arguments) :]):
        state.slots[8 + abi.home + 8 * number] = value, 8
    return state


def check_end(state: State, abi: Abi) -> None:
    """Raise Rejected unless a state may return."""
    if state.gpr["rsp"] != Pointer(Region("stack"), 0) or state.slots.get(0) != (_RETURN, 8):
        raise Rejected("rsp or the return address is not as on entry")
    for name in abi.preserved:
        if state.gpr[name] != Token(name):
            raise Rejected(f"{name} is not preserved")
    for number in abi.vectors:
        if state.vectors[number].read(16) != ((16, 0, variable("entry", number)),):
            raise Rejected(f"xmm{number} is not preserved")
    if state.dirty or state.unfenced:
        raise Rejected("upper halves are in use on return, or a streaming store is not fenced")
    memory.settle(state)
    if state.length == 0 or (state.spec.operation == "mad" and state.sources == 0):
        done = not state.written or state.length != 0
    else:
        count = state.sources if state.spec.per_shard else state.spec.outputs
        done = not state.written and subtract(count, state.complete) == 0
    if not done:
        raise Rejected("a destination is not written to its end")


def decide(state: State, name: str) -> bool | Split:
    """Return whether a branch is taken, or the values for which it is."""
    flags = state.flags
    if not isinstance(flags, Compared):
        raise Rejected("a branch on flags that are not known")
    left, right = flags
    if isinstance(left, Pointer) and isinstance(right, Pointer) and left.region == right.region:
        for side in (left, right):
            limit = subtract(memory.extent(state, side.region), side.offset)
            if state.facts.range(side.offset)[0] < 0 or state.facts.range(limit)[0] <= -PAGE:
                raise Rejected(f"{side} may wrap around in a comparison")
        value = subtract(left.offset, right.offset)
    else:
        value = _difference(state.facts, left, right)
    low, high = state.facts.range(value)
    if name in _SIDES:
        taken, other = _SIDES[name]
    else:
        rest = (1, inf) if low >= 0 else (-inf, -1)
        if low < 0 < high:
            raise Rejected(f"{value} may be on both sides of 0")
        taken, other = ((0, 0), rest) if name == "je" else (rest, (0, 0))
    if taken[0] <= low and high <= taken[1]:
        return True
    if other[0] <= low and high <= other[1]:
        return False
    assert isinstance(value, Linear)
    return Split(value, taken, other)


def _difference(facts: Facts, left: Value, right: Value) -> Word:
    """Return the difference of two numbers, which must be words without wrap-around."""
    if isinstance(left, int) and isinstance(right, int):
        return left % SPAN - right % SPAN
    if not isinstance(left, int | Linear) or not isinstance(right, int | Linear):
        raise Rejected(f"a branch depends on {left} and {right}")
    value = subtract(left, right)
    one, two, gap = facts.range(left), facts.range(right), facts.range(value)
    lows = max(one[0], two[0] + gap[0]), max(two[0], one[0] - gap[1])
    highs = min(one[1], two[1] + gap[1]), min(two[1], one[1] - gap[0])
    if min(lows) < 0 or max(highs) >= SPAN:
        raise Rejected(f"{left} or {right} may wrap around in a comparison")
    return value


class Task(NamedTuple):
    state: State
    ip: int
    node: Any
    loops: dict[int, invariant.Loop]


class Replay:
    """The replay of the certificate of one function."""

    def __init__(self, spec: Spec, code: bytes, abi: Abi) -> None:
        self._spec, self._code, self._abi = spec, code, abi
        self._text = decode.Text(code, spec.features)
        self._program: dict[int, tuple[decode.Instruction, semantics.Effect | None]] = {}
        self._names: set[str] = set()
        self.steps = 0

    def run(self, node: Any) -> None:
        """Follow every path of a tree. Raises Rejected."""
        tasks = [Task(entry(self._spec, self._code, self._abi), 0, node, {})]
        while tasks:
            task = tasks.pop()
            try:
                tasks += self._follow(task)
            except Contradiction:
                continue

    def _follow(self, task: Task) -> Iterator[Task]:
        """Execute a path to its end or to the next node, and yield the paths that go on from there."""
        state, ip, node, loops = task
        while True:
            self.steps += 1
            ins, effect = self._program.get(ip) or self._fetch(ip)
            if effect is not None:
                state.next_ip = ip + ins.size
                effect(state)
                ip = state.next_ip
            elif ins.name == "ret":
                _expect(node, "ret", 1)
                check_end(state, self._abi)
                return
            else:
                if self.steps > _MAX_STEPS:
                    raise Rejected("too many steps")
                target = ins.operands[0]
                assert isinstance(target, int)
                if isinstance(state.flags, Tested) and ins.name in ("je", "jne"):
                    yield from self._align(Task(state, ip, node, loops), ins.name, target, ip + ins.size)
                    return
                decision = True if ins.name == "jmp" else decide(state, ins.name)
                if not isinstance(decision, bool):
                    yield from self._split(Task(state, ip, node, loops), ins, decision)
                    return
                ip = target if decision else ip + ins.size

    def _fetch(self, ip: int) -> tuple[decode.Instruction, semantics.Effect | None]:
        ins = self._text.at(ip)
        jump = ins.name in decode.JUMPS or ins.name in ("jmp", "ret")
        if jump and [type(op) for op in ins.operands] != [int] * (ins.name != "ret"):
            raise Rejected(f"{ins.name} to an unknown place")
        found = self._program[ip] = ins, None if jump else semantics.effect(ins)
        return found

    def _align(self, task: Task, name: str, target: int, next_ip: int) -> Iterator[Task]:
        _expect(task.node, "align", 4, task.ip)
        zero, other = (target, next_ip) if name == "je" else (next_ip, target)
        aligned, flags = task.state.copy(), task.state.flags
        assert isinstance(flags, Tested)
        for pointer in flags.addresses:
            aligned.multiples[pointer] = flags.multiple
        yield Task(aligned, zero, task.node[2], task.loops)
        yield Task(task.state, other, task.node[3], task.loops)

    def _split(self, task: Task, ins: decode.Instruction, decision: Split) -> Iterator[Task]:
        """Yield the paths behind an undecided branch, or check the end of a loop's iteration."""
        state, ip, node, loops = task
        if node == ["close"]:
            loop = loops.get(ip)
            if loop is None:
                raise Rejected("the end of a loop that has not begun")
            memory.settle(state)
            loop.check(state, decision.value)
            return
        if node[:1] != ["loop"]:
            _expect(node, "split", 4, ip)
            parts = node[2], node[3]
            loop = None
        else:
            _expect(node, "loop", 7, ip)
            memory.settle(state)
            loop = invariant.begin(state, node[2], node[3], node[4], decision.value, self._names)
            state, parts = loop.state, (node[5], node[6])
            found = decide(state, ins.name)
            if not isinstance(found, Split):
                raise Rejected("the condition of a loop is decided")
            decision = found
        target = ins.operands[0]
        assert isinstance(target, int)
        for place, bounds, side in (
            (target, decision.taken, parts[0]),
            (ip + ins.size, decision.other, parts[1]),
        ):
            inner = loops if loop is None else loops | {ip: loop.along(decision.value, bounds)}
            for each, following in _parts(state, decision.value, bounds, side):
                yield Task(each, place, following, inner)


def _expect(node: Any, kind: str, length: int, ip: int | None = None) -> None:
    fits = isinstance(node, list) and len(node) == length and node[0] == kind
    if not fits or (ip is not None and node[1] != ip):
        raise Rejected(f"the certificate has no {kind} here, at {ip}")


def _parts(
    state: State, value: Linear, bounds: tuple[Bound, Bound], parts: Any
) -> Iterator[tuple[State, Any]]:
    """Yield the states of the parts of one side of a branch, which must together be the whole side."""
    facts = state.facts.copy()
    try:
        facts.assume(value, *bounds)
    except Contradiction:
        return
    low, high = facts.range(value)
    beyond: Bound = low
    for least, greatest, hints, node in sorted(parts, key=lambda part: -inf if part[0] is None else part[0]):
        first, last = -inf if least is None else least, inf if greatest is None else greatest
        if first > beyond:
            raise Rejected(f"no part of a branch has the value {beyond}")
        beyond = max(beyond, last + 1)
        each = state.copy()
        try:
            each.facts.assume(value, max(first, bounds[0]), min(last, bounds[1]))
            for hint in hints:
                _apply(each, hint)
            if node == ["never"]:
                each.facts.tighten()
                raise Rejected("a path that can be taken is left out")
        except Contradiction:
            continue
        yield each, node
    if beyond <= high:
        raise Rejected(f"no part of a branch has the value {beyond}")


def _apply(state: State, hint: Any) -> None:
    """Check a hint, and use it."""
    if hint[0] == "-":
        left, right = word(hint[1]), word(hint[2])
        one, two = state.facts.range(left), state.facts.range(right)
        state.facts.assume(subtract(left, right), one[0] - two[1], one[1] - two[0])
        return
    _, name, data = hint
    by = word(data)
    gap = subtract(unknown(name), by)
    if state.facts.range(gap) != (0, 0):
        state.facts.tighten()
    if state.facts.range(gap) != (0, 0):
        raise Rejected(f"{name} is not always {by}")
    state.replace(name, by)


def replay(spec: Spec, abi: str, code: bytes, cases: Any) -> int:
    """Check the certificate of a function for every case of its sources. Returns the steps; raises
    Rejected."""
    count = spec.group if spec.inputs is None else 1
    if abi not in ABIS or not isinstance(cases, list) or len(cases) != count:
        raise Rejected("an unknown ABI, or another number of cases")
    steps = 0
    for number, node in enumerate(cases):
        walk = Replay(replace(spec, left_over=number, memory={}), code, ABIS[abi])
        try:
            walk.run(node)
        except (TypeError, ValueError, KeyError, IndexError, AttributeError) as error:
            raise Rejected(f"a malformed certificate: {error}") from error
        steps += walk.steps
    return steps
