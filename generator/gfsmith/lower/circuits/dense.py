"""Circuits that multiply element by element: 1 is a plain sum, 0 adds nothing, equal products are shared."""

from __future__ import annotations

from gfsmith.field import Field
from gfsmith.field.matrix import Matrix
from gfsmith.lower.circuits.network import Circuit, Network, Term


def dense(field: Field, matrix: Matrix) -> Circuit:
    """Return the circuit that processes source after source, so that each source is loaded once."""
    network = Network(field)
    totals: list[Term] = [None] * len(matrix)
    for j in range(len(matrix[0])):
        source = network.input(j)
        for i, row in enumerate(matrix):
            totals[i] = network.add(totals[i], network.scale(row[j], source))
    return network.finish(totals)
