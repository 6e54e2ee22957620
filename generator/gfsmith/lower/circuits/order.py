"""Order of a circuit's nodes: the same values, with few of them live at the same time.

Greedy list scheduling: among the nodes whose operands are computed, the scheduler takes the node that leaves
the fewest live values. Among equals it takes the node whose operand was computed most recently.
"""

from __future__ import annotations

import heapq

from gfsmith.lower.circuits.network import Circuit, Node, operands, renumbered


class _Scheduler:
    def __init__(self, circuit: Circuit) -> None:
        self.nodes = circuit.nodes
        self.readers: list[list[int]] = [[] for _ in self.nodes]
        self.missing = [len(set(operands(node))) for node in self.nodes]
        for number, node in enumerate(self.nodes):
            for operand in set(operands(node)):
                self.readers[operand].append(number)
        self.left = [len(readers) for readers in self.readers]
        self.made: dict[int, int] = {}

    def _key(self, number: int) -> tuple[int, int, int]:
        """Return the increase in live values, the age of the newest operand, and the node's index."""
        read = set(operands(self.nodes[number]))
        grown = (self.left[number] > 0 or not self.readers[number]) - sum(self.left[a] == 1 for a in read)
        if not self.readers[number]:
            grown -= 1
        newest = max((self.made[a] for a in read), default=-1)
        return grown, -newest, number

    def run(self) -> list[int]:
        """Return the order. Keys only fall while a node waits, so an outdated queue entry comes after the
        newer entry of the same node and is ignored."""
        ready = [self._key(n) for n in range(len(self.nodes)) if not self.missing[n]]
        heapq.heapify(ready)
        while ready:
            number = heapq.heappop(ready)[2]
            if number in self.made:
                continue
            self.made[number] = len(self.made)
            touched = set(self.readers[number])
            for operand in set(operands(self.nodes[number])):
                self.left[operand] -= 1
                if self.left[operand] == 1:
                    touched |= set(self.readers[operand])
            for reader in self.readers[number]:
                self.missing[reader] -= 1
            for reader in touched:
                if not self.missing[reader] and reader not in self.made:
                    heapq.heappush(ready, self._key(reader))
        return sorted(self.made, key=self.made.__getitem__)


def scheduled(circuit: Circuit) -> Circuit:
    """Return the circuit with its nodes in that order."""
    order = _Scheduler(circuit).run()
    place = {old: new for new, old in enumerate(order)}
    nodes: tuple[Node, ...] = tuple(renumbered(circuit.nodes[old], place) for old in order)
    return Circuit(nodes, tuple(place[number] for number in circuit.outputs))
