"""Every element of the matrix by itself: 1 is a plain sum, 0 nothing, equal products are one."""

from __future__ import annotations

from gfsmith.circuits.network import Circuit, Network, Term
from gfsmith.field import Field
from gfsmith.matrix import Matrix


def dense(field: Field, matrix: Matrix) -> Circuit:
    """Source after source, so that each is loaded once."""
    network = Network(field)
    totals: list[Term] = [None] * len(matrix)
    for j in range(len(matrix[0])):
        source = network.input(j)
        for i, row in enumerate(matrix):
            totals[i] = network.add(totals[i], network.scale(row[j], source))
    return network.finish(totals)
