"""Circuits of additions for a matrix of 0 and 1: few additions, in an order that needs few registers.

Paar's greedy rule finds the shared sums: as long as at least `least` rows contain the same two values, the
pair that most rows contain becomes one value. Sources: C. Paar, "Optimized arithmetic for Reed-Solomon
encoders", ISIT 1997; for codes over packets Y. Uezato, "Accelerating XOR-based erasure coding using program
optimization techniques", SC'21, which calls the rule RePair.

Zerasure's schedule (T. Zhou, C. Tian, FAST 2019) derives rows from other rows (field/derivation.py), then
shares pairs in the differences: of the pairs that the most rows contain, a matching of the values becomes new
values at once (C. Huang, J. Li, M. Chen, "On optimizing XOR-based codes for fault-tolerant storage
applications", ITW 2007). Our matching is greedy, from the values with the fewest such pairs on; the papers'
is a largest one. Cerasure's schedule (T. Niu et al., ICCD 2023) reads each source once; here it derives rows
and shares no pairs.

Order: source after source. Each source is added to all sums that contain it. A sum that becomes complete is
added at once to all sums that contain it. So only incomplete sums occupy registers; with the sources in order
of shards, most of these are outputs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from gfsmith.field import Field
from gfsmith.field.derivation import derived
from gfsmith.field.matrix import Matrix
from gfsmith.lower.circuits.network import Circuit, Network, Term

Pair = tuple[int, int]


class _Counts:
    """Numbers of rows that contain each pair of columns, and the most frequent pair.

    A column is a set of rows, as bits of an integer.
    """

    def __init__(self, columns: list[int]) -> None:
        self.columns = columns
        self._count: dict[Pair, int] = {}
        self._having: dict[int, set[Pair]] = {}
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

    def _most(self, least: int) -> set[Pair]:
        """Return the most frequent pairs; none if no pair is in `least` rows."""
        top = max((count for count, pairs in self._having.items() if pairs), default=0)
        return self._having[top] if top >= least else set()

    def first(self, least: int) -> list[Pair]:
        """Return the first of the most frequent pairs; none if no pair is in `least` rows."""
        pairs = self._most(least)
        return [min(pairs)] if pairs else []

    def matching(self) -> list[Pair]:
        """Return disjoint pairs among the most frequent ones; none if no pair is in two rows."""
        pairs = self._most(2)
        degree = Counter(value for pair in pairs for value in pair)
        found: list[Pair] = []
        used: set[int] = set()
        for pair in sorted(pairs, key=lambda each: (degree[each[0]] + degree[each[1]], each)):
            if used.isdisjoint(pair):
                used.update(pair)
                found.append(pair)
        return found

    def join(self, pair: Pair) -> None:
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
    sums = _sums(_numbers(matrix), len(matrix[0]), lambda counts: counts.first(least))
    return _flattened(sums, len(matrix[0]), len(matrix))


def _numbers(matrix: Matrix) -> list[int]:
    """Return the rows as sets of columns, bits of an integer."""
    return [sum(bit << j for j, bit in enumerate(row)) for row in matrix]


def _sums(rows: Sequence[int], inputs: int, choose: Callable[[_Counts], list[Pair]]) -> list[list[int]]:
    """Return the chosen pairs as sums, until there are none, then one sum for every row."""
    counts = _Counts([sum((row >> j & 1) << i for i, row in enumerate(rows)) for j in range(inputs)])
    sums: list[list[int]] = []
    while pairs := choose(counts):
        for pair in pairs:
            sums.append(list(pair))
            counts.join(pair)
    for i in range(len(rows)):
        sums.append([value for value, having in enumerate(counts.columns) if having >> i & 1])
    return sums


def derived_sums(matrix: Matrix, matched: bool) -> tuple[list[list[int]], list[int]]:
    """Return sums as shared_sums does, each row's with its parent, and the value of each row.

    matched: matchings of common pairs in the differences become shared sums."""
    inputs, rows = len(matrix[0]), _numbers(matrix)
    steps = derived(rows)
    differences = [rows[s.row] ^ (0 if s.parent is None else rows[s.parent]) for s in steps]
    sums = _sums(differences, inputs, _Counts.matching if matched else lambda counts: [])
    first = inputs + len(sums) - len(rows)
    value = {step.row: first + n for n, step in enumerate(steps)}
    for n, step in enumerate(steps):
        if step.parent is not None:
            sums[n - len(rows)].append(value[step.parent])
    kept = _flattened(sums, inputs, len(rows))
    moved = len(sums) - len(kept)
    return kept, [value[row] - moved for row in range(len(rows))]


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

    def run(self, outputs: Sequence[int]) -> Circuit:
        """Return the circuit whose outputs are these values."""
        left = list(range(self.inputs))
        while left:
            source = min(left, key=self._growth)
            left.remove(source)
            self._push(source, self.network.input(source))
        return self.network.finish([self.totals[output] for output in outputs])

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
    sums, inputs = shared_sums(matrix, least), len(matrix[0])
    values = inputs + len(sums)
    return _Pushing(field, sums, inputs).run(range(values - len(matrix), values))


def derived_circuit(field: Field, matrix: Matrix, matched: bool) -> Circuit:
    """Return the circuit of derived_sums for a matrix of 0 and 1 without zero rows."""
    sums, outputs = derived_sums(matrix, matched)
    return _Pushing(field, sums, len(matrix[0])).run(outputs)
