"""Branches that close loops, found from the code alone.

The nodes are runs: a run begins at a possible target of control, ends at the next instruction after which
control may continue elsewhere, and is identified by its last instruction. A side of a branch leads back to
the branch exactly if its first run lies in the strongly connected component of the branch. So all components
are found once (Tarjan, "Depth-first search and linear graph algorithms", 1972), and further searches concern
branches inside loops only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gfsmith.prove.machine.architecture import Flow, Instruction

#: The last instruction of a run that leads nowhere: out of the function, or to bytes that are no instruction.
_NOWHERE = -1


class Graph:
    """The instructions of a function and the possible next instructions of each. decode: returns None where
    there is no instruction."""

    def __init__(self, origin: int, decode: Callable[[int], Instruction | None]) -> None:
        self._origin = origin
        self._decode = decode
        self._known: dict[int, bool | None] = {}
        self._ends: dict[int, int] = {}
        self._component: dict[int, int] = {}
        self._from_origin: frozenset[int] | None = None

    def closes(self, instr: Instruction) -> bool | None:
        """Return whether a branch closes a loop if it is taken (True) or if it is not (False); None: neither.

        Either only that way leads back to the branch, or both do. In the second case the taken way closes the
        loop if its target is not after the branch, else the other way if every path to the branch passes
        the instruction after it.
        """
        if instr.ip not in self._known:
            self._known[instr.ip] = self._closes(instr)
        return self._known[instr.ip]

    def _closes(self, instr: Instruction) -> bool | None:
        taken, other = (self._returns(way, instr.ip) for way in (instr.target, instr.next_ip))
        if taken != other:
            return taken
        if instr.target <= instr.ip:
            return True
        without = instr.next_ip if taken else None  # if not, no path returns through the next instruction
        return None if instr.ip in self._reached(without) else False

    def _returns(self, start: int, branch: int) -> bool:
        """Return whether the way of a branch to `start` leads back to the branch."""
        if branch not in self._component:
            self._find_components(branch)
        end = self._end(start)
        return end != _NOWHERE and self._component[end] == self._component[branch]

    def _reached(self, without: int | None) -> frozenset[int]:
        """Return the ends of all runs that control may reach from the first instruction without passing
        `without`."""
        if without is None and self._from_origin is not None:
            return self._from_origin
        seen, queue = set[int](), [self._origin]
        while queue:
            start = queue.pop()
            end = self._end(start)
            if end in seen or end == _NOWHERE or (without is not None and self._passes(start, end, without)):
                continue
            seen.add(end)
            queue += self._ways(end)
        if without is None:
            self._from_origin = frozenset(seen)
        return frozenset(seen)

    def _passes(self, start: int, end: int, by: int) -> bool:
        """Return whether a run passes the instruction at `by`."""
        while start < by <= end:
            instr = self._decode(start)
            assert instr is not None
            start = instr.next_ip
        return start == by

    def _end(self, start: int) -> int:
        """Return the last instruction of the run that begins at `start`."""
        ip, passed = start, []
        while ip not in self._ends:
            instr = self._decode(ip)
            if instr is None or instr.flow is not Flow.NEXT:
                self._ends[ip] = _NOWHERE if instr is None else ip
                break
            passed.append(ip)
            ip = instr.next_ip
        end = self._ends[ip]
        self._ends.update(dict.fromkeys(passed, end))
        return end

    def _ways(self, end: int) -> list[int]:
        """Return the addresses to which control may go after the last instruction of a run."""
        instr = self._decode(end)
        assert instr is not None
        ways = [instr.target] if instr.flow in (Flow.JUMP, Flow.BRANCH) else []
        return [*ways, instr.next_ip] if instr.flow is Flow.BRANCH else ways

    def _find_components(self, root: int) -> None:
        """Number the components of all runs that control may come to from a branch: Tarjan's algorithm."""
        order: dict[int, int] = {root: 0}
        low = {root: 0}
        open_: list[int] = [root]
        stack: list[tuple[int, Iterator[int]]] = [(root, iter(self._ways(root)))]
        while stack:
            node, ways = stack[-1]
            for start in ways:
                end = self._end(start)
                if end == _NOWHERE or end in self._component:
                    continue
                if end not in order:
                    order[end] = low[end] = len(order)
                    open_.append(end)
                    stack.append((end, iter(self._ways(end))))
                    break
                low[node] = min(low[node], order[end])
            else:
                stack.pop()
                if stack:
                    above = stack[-1][0]
                    low[above] = min(low[above], low[node])
                if low[node] == order[node]:
                    self._close(open_, node)

    def _close(self, open_: list[int], node: int) -> None:
        """Make one component of `node` and the nodes opened since."""
        while True:
            member = open_.pop()
            self._component[member] = node
            if member == node:
                return
