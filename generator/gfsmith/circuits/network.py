"""Circuits: straight-line programs over GF(2^8) of two operations, x + y and c * x."""

from __future__ import annotations

from dataclasses import dataclass

from gfsmith.field import Field
from gfsmith.matrix import Matrix


@dataclass(frozen=True, slots=True)
class Input:
    """Source number `source`."""

    source: int


@dataclass(frozen=True, slots=True)
class Scale:
    """constant * the node `of`; the constant is neither 0 nor 1."""

    constant: int
    of: int


@dataclass(frozen=True, slots=True)
class Add:
    """The sum of two nodes."""

    left: int
    right: int


Node = Input | Scale | Add

#: constant * node; None is 0. The constant is never 0.
Term = tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Circuit:
    """Nodes, each of earlier ones, and for every output the node that is it."""

    nodes: tuple[Node, ...]
    outputs: tuple[int, ...]

    @property
    def multiplications(self) -> int:
        return sum(isinstance(node, Scale) for node in self.nodes)

    @property
    def additions(self) -> int:
        return sum(isinstance(node, Add) for node in self.nodes)

    def matrix(self, field: Field, inputs: int) -> Matrix:
        """The matrix that the circuit applies: what it makes of each unit vector."""
        rows: list[tuple[int, ...]] = []
        for node in self.nodes:
            match node:
                case Input(source):
                    rows.append(tuple(int(j == source) for j in range(inputs)))
                case Scale(constant, of):
                    rows.append(tuple(field.multiply(constant, x) for x in rows[of]))
                case Add(left, right):
                    rows.append(tuple(x ^ y for x, y in zip(rows[left], rows[right], strict=True)))
        return tuple(rows[output] for output in self.outputs)


class Network:
    """Builds a circuit. Constants stay in front of a node until a sum needs them, equal nodes are one."""

    def __init__(self, field: Field) -> None:
        self.field = field
        self._nodes: list[Node] = []
        self._known: dict[Node, int] = {}

    def _node(self, node: Node) -> int:
        if node not in self._known:
            self._known[node] = len(self._nodes)
            self._nodes.append(node)
        return self._known[node]

    def input(self, source: int) -> Term:
        return 1, self._node(Input(source))

    def scale(self, constant: int, term: Term) -> Term:
        if term is None or constant == 0:
            return None
        return self.field.multiply(constant, term[0]), term[1]

    def _plain(self, term: tuple[int, int]) -> int:
        constant, node = term
        return node if constant == 1 else self._node(Scale(constant, node))

    def add(self, left: Term, right: Term) -> Term:
        if left is None or right is None:
            return left or right
        if left[1] == right[1]:
            constant = left[0] ^ right[0]
            return (constant, left[1]) if constant else None
        if left[0] == right[0]:
            return left[0], self._node(Add(left[1], right[1]))
        return 1, self._node(Add(self._plain(left), self._plain(right)))

    def finish(self, outputs: list[Term]) -> Circuit:
        """The circuit without what no output needs. Raises ValueError for an output that is always 0."""
        if any(term is None for term in outputs):
            raise ValueError("an output that does not depend on any source")
        wanted = [self._plain(term) for term in outputs if term is not None]
        needed = set(wanted)
        for number in range(len(self._nodes) - 1, -1, -1):
            if number in needed:
                needed |= set(operands(self._nodes[number]))
        order = {old: new for new, old in enumerate(sorted(needed))}
        nodes = tuple(renumbered(self._nodes[old], order) for old in order)
        return Circuit(nodes, tuple(order[number] for number in wanted))


def operands(node: Node) -> tuple[int, ...]:
    match node:
        case Scale(_, of):
            return (of,)
        case Add(left, right):
            return left, right
        case _:
            return ()


def renumbered(node: Node, order: dict[int, int]) -> Node:
    match node:
        case Scale(constant, of):
            return Scale(constant, order[of])
        case Add(left, right):
            return Add(order[left], order[right])
        case _:
            return node
