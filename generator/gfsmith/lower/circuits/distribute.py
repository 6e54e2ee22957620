"""Products of sums as sums of products: c (x + w y) becomes c x + (c w) y.

Both forms have two products and one addition. The sum of products is one chain with the total to which it is
added, and a three-input instruction adds two of its terms. With nibble tables, x and y are often operands of
other products, so they are split into halves already, and x + w y is not split any more.
"""

from __future__ import annotations

from functools import reduce
from itertools import chain

from gfsmith.field import Field
from gfsmith.lower.circuits.network import Add, Circuit, Input, Network, Node, Scale, Term, operands


def _users(circuit: Circuit) -> list[list[int]]:
    """Return the readers of each node; an output is a reader with the number of nodes."""
    users: list[list[int]] = [[] for _ in circuit.nodes]
    for number, node in enumerate(circuit.nodes):
        for operand in operands(node):
            users[operand].append(number)
    for output in circuit.outputs:
        users[output].append(len(circuit.nodes))
    return users


def _divided(circuit: Circuit) -> dict[int, tuple[int, int]]:
    """Return the products c (x + w y) to change: their number -> that of x and of w y."""
    users, nodes = _users(circuit), circuit.nodes
    found: dict[int, tuple[int, int]] = {}
    for number, node in enumerate(nodes):
        if not isinstance(node, Scale) or len(users[node.of]) > 1:
            continue
        total = nodes[node.of]
        added = len(users[number]) == 1 and users[number][0] < len(nodes)
        if not isinstance(total, Add) or not added or not isinstance(nodes[users[number][0]], Add):
            continue
        for x, product in ((total.left, total.right), (total.right, total.left)):
            if isinstance(nodes[product], Scale) and len(users[product]) == 1:
                found[number] = x, product
                break
    return found


def distributed(field: Field, circuit: Circuit) -> Circuit:
    """Return a circuit of the same matrix in which such products are divided, if they are read once and
    added."""
    divided = _divided(circuit)
    network = Network(field)
    terms: list[Term] = []

    def parts(number: int) -> list[Term]:
        """Return the terms of an operand of a sum; those of a divided product may be divided too."""
        node = circuit.nodes[number]
        if number not in divided or not isinstance(node, Scale):
            return [terms[number]]
        inner = chain.from_iterable(parts(part) for part in divided[number])
        return [network.scale(node.constant, term) for term in inner]

    def made(number: int, node: Node) -> Term:
        match node:
            case Input(source):
                return network.input(source)
            case Scale(constant, of):
                return None if number in divided else network.scale(constant, terms[of])
            case Add(left, right):
                # The total first, so that the terms of a divided product follow in one chain.
                first, *rest = sorted((parts(left), parts(right)), key=len)
                return reduce(network.add, chain(first, *rest))

    for number, node in enumerate(circuit.nodes):
        terms.append(made(number, node))
    return network.finish([terms[output] for output in circuit.outputs])
