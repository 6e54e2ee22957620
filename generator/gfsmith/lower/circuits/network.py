"""Circuits: straight-line programs over GF(2^8) with two operations, x + y and c * x."""

from __future__ import annotations

from dataclasses import dataclass

from gfsmith.field import Field
from gfsmith.field.matrix import Matrix


@dataclass(frozen=True, slots=True)
class Input:
    """Source number `source`."""

    source: int


@dataclass(frozen=True, slots=True)
class Scale:
    """constant * the node `of`. The constant is neither 0 nor 1."""

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
    """Nodes, whose operands are earlier nodes, and the node of every output."""

    nodes: tuple[Node, ...]
    outputs: tuple[int, ...]

    @property
    def multiplications(self) -> int:
        return sum(isinstance(node, Scale) for node in self.nodes)

    @property
    def additions(self) -> int:
        return sum(isinstance(node, Add) for node in self.nodes)

    def matrix(self, field: Field, inputs: int) -> Matrix:
        """Return the matrix that the circuit applies, computed from its results for the unit vectors."""
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
    """Builder of a circuit. Constants stay outside of a node until a sum needs them, and equal nodes are
    shared.

    For most plans only the size of the circuit is needed, so nodes are numbers until `finish` makes the
    circuit.
    """

    def __init__(self, field: Field) -> None:
        self.field = field
        #: kind (a source, a product or a sum) and its two numbers, as in Input, Scale and Add -> node.
        self._known: dict[tuple[type[Node], int, int], int] = {}

    def _node(self, kind: type[Node], first: int, second: int = 0) -> int:
        return self._known.setdefault((kind, first, second), len(self._known))

    def input(self, source: int) -> Term:
        return 1, self._node(Input, source)

    def scale(self, constant: int, term: Term) -> Term:
        if term is None or constant == 0:
            return None
        return self.field.multiply(constant, term[0]), term[1]

    def _plain(self, term: tuple[int, int]) -> int:
        constant, node = term
        return node if constant == 1 else self._node(Scale, constant, node)

    def add(self, left: Term, right: Term) -> Term:
        if left is None or right is None:
            return left or right
        if left[1] == right[1]:
            constant = left[0] ^ right[0]
            return (constant, left[1]) if constant else None
        if left[0] == right[0]:
            return left[0], self._node(Add, left[1], right[1])
        return 1, self._node(Add, self._plain(left), self._plain(right))

    def _needed(self, outputs: list[Term]) -> tuple[list[int], dict[int, tuple[type[Node], int, int]]]:
        """Return the outputs' nodes, and all nodes that they depend on, in order."""
        if any(term is None for term in outputs):
            raise ValueError("an output that does not depend on any source")
        wanted = [self._plain(term) for term in outputs if term is not None]
        needed = set(wanted)
        nodes = list(self._known)
        for number in range(len(nodes) - 1, -1, -1):
            if number in needed:
                kind, first, second = nodes[number]
                if kind is Add:
                    needed.add(first)
                if kind is not Input:
                    needed.add(second)
        return wanted, {number: nodes[number] for number in sorted(needed)}

    def size(self, outputs: list[Term]) -> tuple[int, int]:
        """Return the multiplications and additions of the circuit that `finish` makes."""
        kinds = [kind for kind, _, _ in self._needed(outputs)[1].values()]
        return kinds.count(Scale), kinds.count(Add)

    def finish(self, outputs: list[Term]) -> Circuit:
        """Return the circuit without unused nodes. Raises ValueError for an output that is always 0."""
        wanted, needed = self._needed(outputs)
        order = {old: new for new, old in enumerate(needed)}
        nodes: list[Node] = []
        for kind, first, second in needed.values():
            if kind is Input:
                nodes.append(Input(first))
            elif kind is Scale:
                nodes.append(Scale(first, order[second]))
            else:
                nodes.append(Add(order[first], order[second]))
        return Circuit(tuple(nodes), tuple(order[number] for number in wanted))


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
