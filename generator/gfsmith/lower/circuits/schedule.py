"""Circuits of additions for a matrix of 0 and 1: few additions, in an order that needs few registers.

Paar's greedy rule finds the shared sums: as long as at least `least` rows contain the same two values, the
pair that most rows contain becomes one value. Sources: C. Paar, "Optimized arithmetic for Reed-Solomon
encoders", ISIT 1997; for codes over packets Y. Uezato, "Accelerating XOR-based erasure coding using program
optimization techniques", SC'21, which calls the rule RePair.

Order: source after source. Each source is added to all sums that contain it. A sum that becomes complete is
added at once to all sums that contain it. So only incomplete sums occupy registers; with the sources in order
of shards, most of these are outputs.
"""

from __future__ import annotations

from gfsmith.field import Field
from gfsmith.field.matrix import Matrix
from gfsmith.lower.circuits.network import Circuit, Network, Term


class _Counts:
    """Numbers of rows that contain each pair of columns, and the most frequent pair.

    A column is a set of rows, as bits of an integer.
    """

    def __init__(self, columns: list[int]) -> None:
        self.columns = columns
        self._count: dict[tuple[int, int], int] = {}
        self._having: dict[int, set[tuple[int, int]]] = {}
        for number in range(len(columns)):
            self._recount(number, number)

    def _recount(self, changed: int, end: int) -> None:
        column = self.columns[changed]
        for other in range(end):
            if other == changed:
                continue
            pair = (other, changed) if other < changed else (changed, other)
            count = (column & self.columns[other]).bit_count()
            before = self._count.get(pair, 0)
            if count != before:
                self._having.get(before, set()).discard(pair)
                self._having.setdefault(count, set()).add(pair)
                self._count[pair] = count

    def most(self, least: int) -> tuple[int, int] | None:
        """Return the first of the most frequent pairs; None if no pair is in `least` rows."""
        top = max((count for count, pairs in self._having.items() if pairs), default=0)
        return min(self._having[top]) if top >= least else None

    def join(self, pair: tuple[int, int]) -> None:
        """Replace the pair by one value, a new column, in the rows that contain both."""
        left, right = pair
        common = self.columns[left] & self.columns[right]
        self.columns[left] ^= common
        self.columns[right] ^= common
        self.columns.append(common)
        for changed in (left, right, len(self.columns) - 1):
            self._recount(changed, len(self.columns))


def shared_sums(matrix: Matrix, least: int) -> list[list[int]]:
    """Return sums that together compute the matrix. Values below the number of columns are the sources. Then
    follow the shared sums, each used at least twice, then one sum for every row. Each sum lists earlier
    values."""
    inputs = len(matrix[0])
    counts = _Counts([sum(row[j] << i for i, row in enumerate(matrix)) for j in range(inputs)])
    sums: list[list[int]] = []
    while (pair := counts.most(least)) is not None:
        sums.append(list(pair))
        counts.join(pair)
    for i in range(len(matrix)):
        sums.append([value for value, rows in enumerate(counts.columns) if rows >> i & 1])
    return _flattened(sums, inputs, len(matrix))


def _flattened(sums: list[list[int]], inputs: int, outputs: int) -> list[list[int]]:
    """Return the sums with each sum that is used once replaced by its values."""
    users = [0] * (inputs + len(sums))
    for operands in sums:
        for value in operands:
            users[value] += 1
    number: dict[int, int] = {value: value for value in range(inputs)}
    once: dict[int, list[int]] = {}
    kept: list[list[int]] = []
    for value, operands in enumerate(sums, inputs):
        flat: list[int] = []
        for operand in operands:
            flat += once.get(operand) or [number[operand]]
        if value < len(users) - outputs and users[value] == 1:
            once[value] = flat
        else:
            number[value] = inputs + len(kept)
            kept.append(flat)
    return kept


class _Pushing:
    """The state of the conversion of sums to a circuit."""

    def __init__(self, field: Field, sums: list[list[int]], inputs: int) -> None:
        self.network = Network(field)
        self.inputs = inputs
        self.totals: list[Term] = [None] * (inputs + len(sums))
        self.missing = [0] * inputs + [len(operands) for operands in sums]
        self.size = list(self.missing)
        self.users: list[list[int]] = [[] for _ in self.totals]
        for value, operands in enumerate(sums, inputs):
            for operand in operands:
                self.users[operand].append(value)

    def run(self, outputs: int) -> Circuit:
        left = list(range(self.inputs))
        while left:
            source = min(left, key=self._growth)
            left.remove(source)
            self._push(source, self.network.input(source))
        return self.network.finish(self.totals[len(self.totals) - outputs :])

    def _growth(self, source: int) -> tuple[int, int]:
        """Return by how much this source increases the number of incomplete sums; and the source."""
        taken: dict[int, int] = {}
        pending = [source]
        growth = 0
        while pending:
            for user in self.users[pending.pop()]:
                before = self.missing[user] - taken.get(user, 0)
                taken[user] = taken.get(user, 0) + 1
                growth += before == self.size[user]
                if before == 1:
                    growth -= 1
                    pending.append(user)
        return growth, source

    def _push(self, value: int, term: Term) -> None:
        complete = []
        for user in self.users[value]:
            self.totals[user] = self.network.add(self.totals[user], term)
            self.missing[user] -= 1
            if not self.missing[user]:
                complete.append(user)
        for user in complete:
            self._push(user, self.totals[user])


def summed(field: Field, matrix: Matrix, least: int) -> Circuit:
    """Return the circuit of a matrix of 0 and 1 without zero rows.

    least: number of rows, at least 2, that must contain two values so that one shared addition serves them.
    """
    sums = shared_sums(matrix, least)
    return _Pushing(field, sums, len(matrix[0])).run(len(matrix))
