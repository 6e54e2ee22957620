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
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

from judge import decode, invariant, semantics
from judge.branch import Split, decide
from judge.contract import ABIS, check_end, entry
from judge.integers import Bound, Contradiction, Linear, Rejected, require, subtract, unknown, word
from judge.memory import State, Tested, settle
from judge.spec import Spec

_MAX_STEPS = 250_000  #: four times those of the longest kernel


class Task(NamedTuple):
    """A path that goes on from a place. loops: the loops that it is in, by the place of their branch."""

    state: State
    ip: int
    node: Any
    loops: dict[int, invariant.Loop]


class Replay:
    """The replay of the certificate of one function."""

    def __init__(self, spec: Spec, code: bytes) -> None:
        self._code, self._features, self._sizes = code, spec.features, decode.sizes(code)
        self._program: dict[int, tuple[decode.Instruction, semantics.Effect | None]] = {}
        self._names: set[str] = set()
        self.steps = 0

    def run(self, state: State, node: Any) -> None:
        """Follow every path of a tree from a state on entry. Raises Rejected."""
        tasks = [Task(state, 0, node, {})]
        self._names.clear()
        while tasks:
            with suppress(Contradiction):
                tasks += self._follow(tasks.pop())

    def _follow(self, task: Task) -> Iterator[Task]:
        """Execute a path to its end or to the next node, and yield the paths that go on from there."""
        state, ip, node, loops = task
        while True:
            self.steps += 1
            ins, effect = self._program.get(ip) or self._fetch(ip)
            state.next_ip = ip + ins.size
            if effect is not None:
                effect(state)
                ip = state.next_ip
                continue
            require(self.steps <= _MAX_STEPS, "too many steps")
            if ins.name == "ret":
                _expect(node, "ret", 1)
                check_end(state)
                return
            sides = ip + int(ins.operands[0]), state.next_ip  # type: ignore[arg-type]
            at = Task(state, ip, node, loops)
            if isinstance(state.flags, Tested) and ins.name in ("je", "jne"):
                yield from _align(at, state.flags, sides if ins.name == "je" else sides[::-1])
                return
            decision = True if ins.name == "jmp" else decide(state, ins.name)
            if isinstance(decision, Split):
                yield from self._split(at, ins.name, sides, decision)
                return
            ip = sides[0] if decision else sides[1]

    def _fetch(self, ip: int) -> tuple[decode.Instruction, semantics.Effect | None]:
        """Return the instruction at a place, and its effect. Raises Rejected outside of the function, and for
        instructions that the instruction set lacks."""
        require(0 <= ip < len(self._code), "no instruction at {}", ip)
        ins = decode.decode(self._code[ip : ip + self._sizes.get(ip, 15)])
        effect, lacks = semantics.effect(ins), semantics.needs(ins) - self._features
        require(not lacks, "{} needs {}", ins.form, ", ".join(sorted(lacks)))
        return self._program.setdefault(ip, (ins, effect))

    def _split(self, task: Task, name: str, sides: tuple[int, int], decision: Split) -> Iterator[Task]:
        """Yield the paths behind an undecided branch, or check the end of a loop's iteration."""
        state, ip, node, loops = task
        if node == ["close"]:
            require(ip in loops, "the end of a loop that has not begun")
            settle(state)
            loops[ip].check(state, decision.value)
            return
        loop = None
        if node[:1] == ["loop"]:
            _expect(node, "loop", 7, ip)
            settle(state)
            loop = invariant.begin(state, node[2:5], decision.value, self._names)
            state, found = loop.state, decide(loop.state, name)
            require(isinstance(found, Split), "the condition of a loop is decided")
            decision = found  # type: ignore[assignment]
        else:
            _expect(node, "split", 4, ip)
        for place, bounds, parts in zip(sides, decision[1:], node[-2:], strict=True):
            inner = loops if loop is None else loops | {ip: loop.along(decision.value, bounds)}
            for each, following in _parts(state, decision.value, bounds, parts):
                yield Task(each, place, following, inner)


def _align(task: Task, flags: Tested, sides: tuple[int, ...]) -> Iterator[Task]:
    """Yield both paths behind a test of low bits. sides: the places with and without the zero flag."""
    _expect(task.node, "align", 4, task.ip)
    aligned = task.state.copy()
    aligned.multiples |= dict.fromkeys(flags.addresses, flags.multiple)
    yield Task(aligned, sides[0], task.node[2], task.loops)
    yield Task(task.state, sides[1], task.node[3], task.loops)


def _expect(node: Any, kind: str, length: int, ip: int | None = None) -> None:
    fits = isinstance(node, list) and len(node) == length and node[0] == kind
    require(fits and (ip is None or node[1] == ip), "the certificate has no {} here, at {}", kind, ip)


def _parts(
    state: State, value: Linear, bounds: tuple[Bound, Bound], parts: Any
) -> Iterator[tuple[State, Any]]:
    """Yield the states of the parts of one side of a branch, which must together be the whole side."""
    facts = state.facts.copy()
    try:
        facts.assume(value, *bounds)
    except Contradiction:
        return
    beyond, high = facts.range(value)
    ordered = sorted(((invariant.bounds_of(part[:2]), *part[2:]) for part in parts), key=lambda part: part[0])
    for (first, last), hints, node in ordered:
        require(first <= beyond, "no part of a branch has the value {}", beyond)
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
    require(beyond > high, "no part of a branch has the value {}", beyond)


def _apply(state: State, hint: Any) -> None:
    """Check a hint, and use it."""
    facts, (kind, first, second) = state.facts, hint
    if kind == "-":
        one, two = facts.range(word(first)), facts.range(word(second))
        facts.assume(subtract(word(first), word(second)), one[0] - two[1], one[1] - two[0])
        return
    by = word(second)
    gap = subtract(unknown(first), by)
    if facts.range(gap) != (0, 0):
        facts.tighten()
    require(facts.range(gap) == (0, 0), "{} is not always {}", first, by)
    state.replace(first, by)


def replay(spec: Spec, abi: str, code: bytes, cases: Any) -> int:
    """Check the certificate of a function for every case of its sources. Returns the steps; raises
    Rejected."""
    count = spec.group if spec.inputs is None else 1
    fits = abi in ABIS and isinstance(cases, list) and len(cases) == count
    require(fits, "an unknown ABI, or another number of cases")
    walk = Replay(spec, code)
    try:
        for left_over, node in enumerate(cases):
            walk.run(entry(replace(spec, left_over=left_over, memory={}), code, ABIS[abi]), node)
    except (TypeError, ValueError, LookupError, AttributeError) as error:
        raise Rejected(f"a malformed certificate: {error}") from error
    return walk.steps
