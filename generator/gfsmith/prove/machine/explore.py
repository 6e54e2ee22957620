"""Exploration of all paths through a function: the known facts decide a branch, or both sides are followed.

A branch that depends on the length is decided for whole ranges of lengths at once. The length that remains
after a loop has a few dozen values, which are followed one by one or in a few ranges (`Explorer._parts`). In
a range the number of bytes is an unknown with two known bounds, every check must hold for all values between
them, and both sides of a branch are followed unless the bounds decide it. So the choice of ranges determines
the work and the success of a proof, but never its meaning. A loop with an undecided branch is closed by
induction (invariant.py).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import count
from math import inf

from gfsmith.kernel.isa import Tail
from gfsmith.prove.machine import certificate, domain, invariant
from gfsmith.prove.machine.abi import Abi
from gfsmith.prove.machine.architecture import Architecture, Flow, Instruction, move_stack
from gfsmith.prove.machine.branch import Choice, Split, decide
from gfsmith.prove.machine.certificate import Node
from gfsmith.prove.machine.contract import Contract
from gfsmith.prove.machine.control_flow import Graph
from gfsmith.prove.machine.decoded_function import Text
from gfsmith.prove.machine.domain import Unsupported
from gfsmith.prove.machine.formats.image import Function, Image
from gfsmith.prove.machine.invariant import copy
from gfsmith.prove.machine.linear import (
    Bound,
    Contradiction,
    Linear,
    private,
    subtract,
)
from gfsmith.prove.machine.memory import Memory
from gfsmith.prove.machine.paths import Exit, Path, Record, Way
from gfsmith.prove.machine.stack import callers_slots
from gfsmith.prove.machine.state import Alignment, Condition, Difference, Flags, Opaque, State, Value
from gfsmith.prove.machine.subject import KERNEL, Subject
from gfsmith.prove.machine.substitution import fix, relate, settle
from gfsmith.prove.verdict import Refutation

MAX_STEPS = 5_000_000
_MAX_ITERATIONS = 4096  #: of a loop that is not closed by induction though its end depends on the length
_MAX_SPLITS = 256  #: undecided branches on a path; in proofs of 26 kernels there are at most 9
_MAX_TRIES = 3
_ENUMERATED = 8  #: blocks: a branch over a wider range of values, backwards, is a loop to be closed


Frame = tuple[object, ...]


def _frame(state: State, abi: Abi) -> Frame:
    """Return the part of a state that an unwind table describes: the registers and slots with the caller's
    values."""
    assert isinstance(state.memory, Memory)
    kept = tuple((name, str(v)) for name, v in state.gpr.items() if isinstance(v, Linear) and private(v))
    slots = tuple((place, str(content)) for place, content in callers_slots(state.memory.stack))
    vectors = tuple(str(domain.cut(state.vectors[n], 0, size)) for n, size in abi.preserved_vectors.items())
    return kept, slots, vectors


class Explorer:
    """An exploration of every path of one function from given start states.

    tail: the grouping of the values that remain after a loop (`_parts`); None: one by one. subject: the kind
    of function.
    """

    def __init__(
        self,
        contract: Contract,
        arch: Architecture,
        image: Image,
        function: Function,
        max_steps: int = MAX_STEPS,
        tail: Tail | None = None,
        subject: Subject = KERNEL,
    ) -> None:
        self.contract = contract
        self._subject = subject
        self.arch = arch
        self._abi = arch.abis[contract.abi]
        self._tail = tail
        self.origin = function.address
        #: True if unwind tables will be compared with the states.
        self._watched = contract.unwind and image.format != "raw"
        self.text = Text(arch, image, function, contract.features)
        self._followed: list[tuple[tuple[Record, ...], set[int]]] = []
        self._pointers: dict[int, Value | Opaque] = {}
        #: By instruction, then by frame and the guesses of the path: the first such path and its state there.
        self._frames: dict[int, dict[tuple[Frame, tuple[int, ...]], tuple[Path, State]]] = {}
        self._iterations = count()
        self._paths: list[Path] = []
        self._graph = Graph(self.origin, self.text.decode)
        #: By id of a loop's first state: how the loop is left there, until induction covers that.
        self._exits: dict[int, Exit] = {}
        #: The tree of the last run (certificate.py).
        self.certificate: Node = []
        self.steps = 0
        self._max_steps = max_steps
        self._constant: dict[str, Value | Opaque] = {}

    @property
    def covered(self) -> set[int]:
        """The reached instructions, without paths that depend on a withdrawn guess."""
        holding = (seen for guesses, seen in self._followed if not any(g.withdrawn for g in guesses))
        return set().union(*holding)

    def reached(self) -> dict[int, tuple[Instruction, list[State]]]:
        """Return every reached instruction, and the states before it that differ in their frames."""
        return {
            ip: (self.text.instruction(ip), states)
            for ip, found in self._frames.items()
            if (states := [state for path, state in found.values() if path.holds])
        }

    def run(self, state: State, start: int | None = None) -> list[State]:
        """Return all states at ret, from the first instruction or the one at `start`.

        Raises Refutation or Unsupported, with the address of the instruction.
        """
        ends: list[State] = []
        self.certificate = []
        self._constant = {name: state.gpr[name] for name in self._abi.constant}
        first = self.origin if start is None else start
        self._paths = [Path(first, state, node=self.certificate)]
        while path := self._next():
            try:
                if self._follow(path):
                    path.node[:] = ["ret"]
                    ends.append(path.state)
            except Contradiction:
                path.node[:] = ["never"]
            except Choice as choice:
                self._choose(path, choice.value)
            except (Refutation, Unsupported) as error:
                raise type(error)(f"byte {path.ip - self.origin}: {error}") from None
        return ends

    def _choose(self, path: Path, value: Linear) -> None:
        """Queue an instruction again, for both signs of a value."""
        for bounds in ((-inf, -1), (0, inf)):
            state = copy(path.state)
            try:
                state.facts.assume(value, *bounds)
                settle(state)
            except Contradiction:
                continue
            loops = dict(path.loops)
            self._paths.append(Path(path.ip, state, loops, path.iterations, splits=path.splits))

    def _next(self) -> Path | None:
        while self._exits and not self._paths:
            path, instr, decision, _, parts = self._exits.popitem()[1]
            if not path.holds:
                continue
            _, outside = self._ways(instr, decision)
            self._take(path, outside.ip, decision.value, outside.bounds, parts)
        while self._paths:
            path = self._paths.pop()
            if path.holds:
                return path
        return self._next() if self._exits else None

    def _follow(self, path: Path) -> bool:
        """Execute a path until it ends: True at ret, False if it was split or closed."""
        self._followed.append((path.guesses, path.visited))
        while True:
            self.steps += 1
            if self.steps > self._max_steps:
                raise Unsupported("too many steps")
            instr = self.text.instruction(path.ip)
            self._observe(path)
            flow = instr.flow
            if flow is Flow.NEXT:
                self._plain(path.state, instr)
                path.ip = instr.next_ip
            elif flow is Flow.JUMP:
                path.ip = instr.target
            elif flow is Flow.BRANCH:
                self._plain(path.state, instr)
                if not self._branch(path, instr):
                    return False
            elif flow is Flow.RETURN:
                return True
            else:
                raise Unsupported(f"{instr}")

    def _observe(self, path: Path) -> None:
        """Keep the states at each instruction that unwind tables must describe; the stack pointer must always
        be the same."""
        path.visited.add(path.ip)
        pointer = self._stack_pointer(path.state)
        if self._pointers.setdefault(path.ip, pointer) != pointer:
            raise Refutation("the stack pointer depends on the way taken")
        if self._watched:
            known = self._frames.setdefault(path.ip, {})
            frame = _frame(path.state, self._abi)
            guesses = tuple(map(id, path.guesses))
            if (frame, guesses) not in known:
                known[frame, guesses] = path, copy(path.state)

    def _stack_pointer(self, state: State) -> Value | Opaque:
        return state.gpr[self.arch.stack_pointer]

    def _plain(self, state: State, instr: Instruction) -> None:
        name = self.arch.stack_pointer
        before = state.gpr[name]
        self.arch.execute(state, instr)
        if state.gpr[name] is not before:
            move_stack(state, name, self.arch.alignment)
        for register, value in self._constant.items():
            if state.gpr[register] != value:
                raise Refutation(f"changes {register}, which a signal handler reads")

    def _branch(self, path: Path, instr: Instruction) -> bool:
        """Continue along one side of a branch, or queue both sides. Return False if this path ends here."""
        flags, condition = self.arch.test(path.state, instr)
        decision = decide(path.state, flags, condition)
        if isinstance(decision, bool):
            self._count_iteration(path, instr, flags, decision)
            path.ip = instr.target if decision else instr.next_ip
            return True
        if isinstance(decision, Alignment):
            return self._branch_on_alignment(path, instr, decision, condition)
        low, high = path.state.facts.range(decision.value)
        if high - low > _ENUMERATED * self.contract.block and self._is_loop(instr, decision):
            return self._loop(path, instr, decision)
        path.splits += 1
        if path.splits > _MAX_SPLITS:
            raise Unsupported("too many undecided branches, as in a loop that no induction closes")
        sides: tuple[Node, Node] = [], []
        path.node[:] = ["split", path.ip - self.origin, *sides]
        self._take(path, instr.target, decision.value, decision.taken, sides[0])
        self._take(path, instr.next_ip, decision.value, decision.other, sides[1])
        return False

    def _count_iteration(self, path: Path, instr: Instruction, flags: Flags, taken: bool) -> None:
        """Count an iteration of a loop. Raises Unsupported above the limit, for example for a loop that never
        ends."""
        if isinstance(flags, Difference) and isinstance(flags.left, Linear):
            if self._graph.closes(instr) is taken:
                path.iterations += 1
            if path.iterations > _MAX_ITERATIONS:
                raise Unsupported("too many iterations of a loop")

    def _branch_on_alignment(
        self, path: Path, instr: Instruction, flags: Alignment, condition: Condition
    ) -> bool:
        """Queue the side on which all addresses are multiples, and continue on the other side."""
        zero, other = instr.target, instr.next_ip
        if condition is Condition.NOT_EQUAL:
            zero, other = other, zero
        aligned = copy(path.state)
        for address in flags.addresses:
            aligned.multiples[address] = flags.mask + 1
        yes: Node = []
        no: Node = []
        path.node[:] = ["align", path.ip - self.origin, yes, no]
        self._paths.append(Path(zero, aligned, dict(path.loops), node=yes))
        path.ip, path.node = other, no
        return True

    def _take(self, path: Path, ip: int, value: Linear, bounds: tuple[Bound, Bound], parts: Node) -> None:
        """Queue one way of a branch, part by part if few values are left and they may differ. parts: the
        certificate's list of them."""
        state = copy(path.state)
        try:
            state.facts.assume(value, *bounds)
        except Contradiction:
            return
        for low, high in self._parts(*state.facts.range(value)):
            each, node = copy(state), Node()
            parts.append(certificate.part(low, high, each.hints, node))
            try:
                if low == high:
                    fix(each, value, int(low))
                else:
                    each.facts.assume(value, low, high)
                    relate(each, value)
            except Contradiction:
                node[:] = ["never"]
                continue
            self._paths.append(Path(ip, each, dict(path.loops), node=node, splits=path.splits))

    def _parts(self, low: Bound, high: Bound) -> list[tuple[Bound, Bound]]:
        """Return the values low..high, cut into parts, each of which is followed as one; the last part is
        first.

        A part of a vector or more stays whole, and so does a tail under a mask. A tail of two overlapping
        pieces is cut at powers of two of the remaining bytes, because the code takes other pieces there. All
        other values are single. Every cut is sound; these cuts are few.
        """
        if low < high and (self._tail is Tail.MASKED or high - low >= self.contract.vector):
            return [(low, high)]
        begins: list[Bound] = [int(low)]
        for value in range(int(low) + 1, int(high) + 1):
            left = value % self.contract.vector
            if self._tail is not Tail.PACKED or not left & left - 1:
                begins.append(value)
        return list(zip(begins, [*(b - 1 for b in begins[1:]), int(high)], strict=True))[::-1]

    def _ways(self, instr: Instruction, decision: Split) -> tuple[Way, Way]:
        """Return the two sides of a branch that closes a loop: the side that stays in the loop, and the
        exit."""
        taken, other = Way(instr.target, decision.taken), Way(instr.next_ip, decision.other)
        return (taken, other) if self._graph.closes(instr) else (other, taken)

    def _is_loop(self, instr: Instruction, decision: Split) -> bool:
        """Return whether a branch closes a loop. A loop that continues for a single value only does not
        count."""
        if self._graph.closes(instr) is None:
            return False
        low, high = self._ways(instr, decision)[0].bounds
        return low < high

    def _loop(self, path: Path, instr: Instruction, decision: Split) -> bool:
        """Close a loop by induction."""
        assert isinstance(path.state.memory, Memory)
        path.state.memory.settle()
        record = path.loops.get(path.ip, Record(node=path.node))
        if record.guess is None:
            return self._look(path, instr, decision, replace(record, seen=(*record.seen, copy(path.state))))
        wrong = invariant.mismatch(record.guess, path.state)
        if not wrong:
            self._check_bounds(path.state, instr, record)
            path.node[:] = ["close"]
            return False
        record.withdrawn = True
        if record.tries >= _MAX_TRIES:
            raise Unsupported(f"no loop invariant found: {sorted(map(str, wrong))} differ")
        unknown = record.unknown | frozenset(wrong)
        outside = {ip: r for ip, r in path.loops.items() if ip != path.ip}
        tries = record.tries + 1
        again = Record(record.seen, unknown=unknown, tries=tries, node=record.node)
        self._start(Path(path.ip, path.state, outside), instr, again)
        return False

    def _look(self, path: Path, instr: Instruction, decision: Split, record: Record) -> bool:
        """Continue with another iteration of a loop; with enough states, start from a guess and return
        False."""
        first = record.seen[0]
        if len(record.seen) == self.contract.loop_states:
            self._start(path, instr, record)
            return False
        if len(record.seen) == 1:
            outside = {ip: r for ip, r in path.loops.items() if ip != path.ip}
            exit_parts, path.node = self._fork(path.node, instr, decision)
            self._exits[id(first)] = Exit(Path(path.ip, first, outside), instr, decision, first, exit_parts)
        path.loops[path.ip] = record
        inside, _ = self._ways(instr, decision)
        path.state.facts.assume(decision.value, *inside.bounds)
        path.ip = inside.ip
        return True

    def _fork(self, node: Node, instr: Instruction, decision: Split, *loop: object) -> tuple[Node, Node]:
        """Set the certificate's node of a branch that closes a loop. loop: the iteration's name, bounds and
        claims, if the state is any iteration's. Returns the list for the exit, and the node of the way that
        stays in the loop."""
        inside, outside, again = Node(), Node(), Node()
        inside.append(certificate.part(-inf, inf, [], again))
        taken = self._ways(instr, decision)[0].ip == instr.target
        sides = (inside, outside) if taken else (outside, inside)
        node[:] = ["loop" if loop else "split", instr.ip - self.origin, *loop, *sides]
        return outside, again

    def _start(self, path: Path, instr: Instruction, record: Record) -> None:
        """Guess the state of any iteration. Queue one iteration from there and, for later, the exit from
        there: by then the guess has been proved, or replaced."""
        first, iteration = record.seen[0], f"t{next(self._iterations)}"
        record.guess = invariant.guess(record.seen, iteration, partial(self._subject.growth, self.contract))
        state = record.guess.state
        for register in record.unknown:
            if isinstance(register, str):
                held = [each.gpr[register] for each in (*record.seen, path.state)]
                state.gpr[register] = invariant.vague(held, 8)
            else:
                state.vectors[register] = invariant.junk(self.arch.vector_bytes)
        ranges = [self._value_range(s, instr) for s in record.seen[:2]]
        record.bounds = min(r[0] for r in ranges), max(r[1] for r in ranges)
        flags, condition = self._tested(state, instr)
        if not isinstance(flags, Difference):
            raise Unsupported("a loop whose condition does not change by the same amount in each iteration")
        state.facts.assume(subtract(flags.left, flags.right), *record.bounds)
        decision = decide(state, flags, condition)
        if not isinstance(decision, Split):
            raise Unsupported("a loop whose condition is decided after two iterations")
        record.guess = replace(record.guess, state=copy(state))
        inside, _ = self._ways(instr, decision)
        inner = copy(state)
        inner.facts.assume(decision.value, *inside.bounds)
        loops = {ip: r for ip, r in path.loops.items() if ip != path.ip}
        claims = certificate.invariant(record.guess, first)
        limits = [certificate.bound(limit) for limit in record.bounds]
        exit_parts, node = self._fork(record.node, instr, decision, iteration, limits, claims)
        self._paths.append(Path(inside.ip, inner, {**loops, path.ip: record}, node=node))
        self._exits.pop(id(first), None)  # the exit after any iteration includes the previous exits
        self._exits[id(first)] = Exit(Path(path.ip, state, loops), instr, decision, first, exit_parts)

    def _check_bounds(self, state: State, instr: Instruction, record: Record) -> None:
        """Check that the assumed bounds of the branch's value hold again after the iteration."""
        low, high = self._value_range(state, instr)
        if low < record.bounds[0] or high > record.bounds[1]:
            raise Unsupported("the bounds of a loop's counter are not invariant")

    def _tested(self, state: State, instr: Instruction) -> tuple[Flags, Condition]:
        """Return the flags and the condition of a branch in another state than the path's.

        Raises Unsupported instead of Choice: the path would be split by the sign of a number that it does
        not have, and arrive here again without end.
        """
        try:
            return self.arch.test(state, instr)
        except Choice as choice:
            raise Unsupported(f"a loop whose condition depends on the sign of {choice.value}") from None

    def _value_range(self, state: State, instr: Instruction) -> tuple[Bound, Bound]:
        decision = decide(state, *self._tested(state, instr))
        if not isinstance(decision, Split):
            raise Unsupported("a loop that ends only in some iterations")
        return state.facts.range(decision.value)
