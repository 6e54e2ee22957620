"""The proof of one function against its contract."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field, replace

from gfsmith.kernel.isa import Tail
from gfsmith.kernel.spec import KernelSpec, Operation, TableFormat
from gfsmith.prove.machine.architecture import Architecture, Instruction
from gfsmith.prove.machine.architectures import of_abi
from gfsmith.prove.machine.certificate import Node
from gfsmith.prove.machine.constants import Constants
from gfsmith.prove.machine.contract import Contract, Layout, Parameter
from gfsmith.prove.machine.decoded_function import Text
from gfsmith.prove.machine.domain import Unsupported
from gfsmith.prove.machine.explore import MAX_STEPS, Explorer
from gfsmith.prove.machine.formats.image import Function, Image, raw
from gfsmith.prove.machine.subject import KERNEL, Subject
from gfsmith.prove.verdict import Refutation, Status

#: With vectors of more bytes than these the bytes after the loops are always taken at once: the ways in which
#: their number may differ are too many to follow one by one.
LONG = 256
_PARAMETERS: tuple[Parameter, ...] = ("len", "k", "coeffs", "src", "dst")

_COVERAGE = "coverage"
CHECKS = (
    "value",
    "every length",
    "bounds",
    "aliasing",
    "ABI",
    "constant time",
    "encoding floor",
    _COVERAGE,
)


@dataclass(frozen=True, slots=True)
class Report:
    """The answer of a proof: status, reason if not proved, number of instructions, and number of reached
    instructions. vector_bytes: the lengths of scalable vectors for which the code is proved. certificate: a
    tree for each case of the contract (certificate.py). reached: the addresses of reached instructions, if it
    is proved."""

    status: Status
    reason: str = ""
    instructions: int = 0
    covered: int = 0
    steps: int = 0
    checks: tuple[str, ...] = field(default=())
    vector_bytes: tuple[int, ...] = ()
    certificate: tuple[Node, ...] = ()
    reached: frozenset[int] = frozenset()

    def __bool__(self) -> bool:
        return self.status is Status.PROVED


#: The format of which an entry by rows is a copy, or several ones.
_COPIED = {TableFormat.ISAL: TableFormat.AFFINE, TableFormat.ISAL_NIBBLE: TableFormat.NIBBLE}


def _layout(spec: KernelSpec) -> Layout:
    fmt = spec.tables
    if fmt.stands_by_rows:
        copy = _COPIED[fmt]
        sources = None if spec.by_rows else spec.inputs
        return Layout(
            copy.label,
            fmt.entry_bytes,
            spec.outputs,
            sources,
            period=copy.entry_bytes % fmt.entry_bytes,
            by_rows=spec.by_rows,
        )
    return Layout(fmt.label, fmt.entry_bytes, spec.table_outputs)


def contract_of(spec: KernelSpec, abi: str) -> Contract:
    """Return the contract of a generated kernel. A compiler's output for C may have instructions that are
    never reached, and the unwind tables are the compiler's."""
    return Contract(
        operation=spec.operation.value,
        inputs=spec.inputs,
        outputs=spec.outputs,
        layout=_layout(spec),
        parameters=_PARAMETERS,
        abi=abi,
        features=of_abi(abi).features(spec.isa),
        in_place=spec.in_place,
        block=spec.block,
        vector=spec.isa.vector_bytes,
        per_shard=spec.operation is Operation.MUL,
        unwind=spec.machine_code,
        reach_all=spec.machine_code,
        landing=spec.machine_code,
        tail=None if spec.isa.tail is Tail.WORD else spec.isa.tail,
        rows=spec.baked.rows if spec.baked is not None else None,
        polynomial=spec.field.polynomial,
        group=spec.group,
        ahead=spec.lines if spec.pipelined else 0,
        columns=spec.table_inputs if spec.butterfly else None,
        descending=spec.descending,
        granule=spec.granule,
        in_lines=spec.in_lines,
    )


def _instructions(text: Text, function: Function, data: set[int]) -> list[int]:
    """Return the addresses at which instructions begin; bytes that are read as data are no instructions."""
    places, ip = [], function.address
    while ip < function.address + function.size:
        if ip in data:
            ip += 1
            continue
        places.append(ip)
        found = text.decode(ip)
        ip = found.next_ip if found is not None else ip + 1
    return places


@dataclass(slots=True)
class _Run:
    """The exploration of a function, for one length of scalable vectors."""

    explorer: Explorer
    constants: Constants
    subject: Subject
    trees: list[Node] = field(default_factory=list)


def _covered(runs: Sequence[_Run]) -> set[int]:
    """Return the instructions that one of the explorations reached."""
    return set().union(*(run.explorer.covered for run in runs))


def _check_coverage(runs: Sequence[_Run], function: Function) -> tuple[int, int]:
    """Return the number of instructions that one of the explorations reached, and of all. Raises
    Refutation."""
    first = runs[0].explorer
    data = set().union(*(run.constants.reads for run in runs))
    places = _instructions(first.text, function, data)
    covered = _covered(runs)
    missed = [ip for ip in places if ip not in covered]
    real = []
    for ip in missed:
        instr = first.text.decode(ip)
        if instr is None or not instr.filling:
            real.append(ip - first.origin)
    if real and first.contract.reach_all:
        raise Refutation(f"byte {real[0]}: {len(real)} instructions are never reached")
    return len(places) - len(missed), len(places)


def _check_data(explorer: Explorer, data: set[int]) -> None:
    """Raise Unsupported if an instruction that runs was read as data: a linker may replace it by another one
    with the same effect."""
    for ip in explorer.covered:
        if not data.isdisjoint(range(ip, explorer.text.instruction(ip).next_ip)):
            raise Unsupported(f"byte {ip - explorer.origin}: an instruction is read as data")


def prove_code(
    contract: Contract,
    image: Image,
    name: str,
    exhaustive: bool = True,
    max_steps: int = MAX_STEPS,
    vector_bytes: Container[int] | None = None,
    subject: Subject = KERNEL,
) -> Report:
    """Prove or refute one function of an image against its contract, for every length.

    The proof covers all lengths and numbers of sources at once, by induction over the loops. The bytes that
    remain after the loops are taken in a few ranges if the contract states how the code processes them; if
    this gives no proof, one by one. If `exhaustive`, every length from 0 to four blocks follows without
    induction, except with vectors of more than LONG bytes. Scalable vectors: one proof for each length that
    is permitted and in `vector_bytes`. After `max_steps` instructions the answer is "unsupported".
    """
    arch = of_abi(contract.abi)
    if image.machine != arch.name:
        return Report(Status.UNSUPPORTED, f"{name}: code for {image.machine}, not {arch.name}")
    if name not in image.functions:
        return Report(Status.UNSUPPORTED, f"{name}: no function of the file that no other one replaces")
    function = image.functions[name]
    code = image.read(function.address, function.size)
    if code is None:
        return Report(Status.UNSUPPORTED, f"{name}: its code is not in the file")
    obstacle = _obstacle(image, function)
    if obstacle:
        return Report(Status.UNSUPPORTED, f"{name}: its code {obstacle}")
    landing = arch.abis[contract.abi].landing
    if contract.landing and not code.startswith(landing):
        return Report(Status.REFUTED, f"{name}: does not begin with {_first(arch, landing)}")
    machines = arch.lengthened(contract.features)
    if vector_bytes is not None:
        machines = tuple(each for each in machines if each.vector_bytes in vector_bytes)
        if not machines:
            return Report(Status.UNSUPPORTED, f"{name}: no permitted length of scalable vectors is chosen")
    work = [(contract.with_vectors(each.vector_bytes), each) for each in machines] or [(contract, arch)]
    report = _prove(work, image, function, exhaustive, max_steps, subject)
    return replace(report, vector_bytes=tuple(each.vector_bytes for each in machines if report))


def _prove(
    work: Sequence[tuple[Contract, Architecture]],
    image: Image,
    function: Function,
    exhaustive: bool,
    max_steps: int,
    subject: Subject,
) -> Report:
    """Return the answer for all lengths of scalable vectors, or the first one that is not "proved"."""
    done: list[_Run] = []
    report = Report(Status.UNSUPPORTED)
    at_once = any(arch.vector_bytes > LONG for _, arch in work)
    exhaustive = exhaustive and not at_once
    for number, (contract, arch) in enumerate(work, 1):
        tails = (Tail.MASKED,) if at_once else (None if exhaustive else contract.tail, None)
        for tail in dict.fromkeys(tails):
            try:
                explorer = Explorer(contract, arch, image, function, max_steps, tail, subject)
                runs = [*done, _Run(explorer, Constants(image, function, contract.frozen_data), subject)]
                report = _attempt(runs, image, function, exhaustive, last=number == len(work))
            except Unsupported as found:  # of a decoder, which may need a program or the whole function
                report = Report(Status.UNSUPPORTED, f"{function.symbol}: {found}")
            if report:
                break
        if not report:
            return report
        done = runs
    return report


def _first(arch: Architecture, code: bytes) -> Instruction | None:
    """Return the first instruction of `code`."""
    image = raw("", code, machine=arch.name)
    function = image.functions[""]
    return arch.decoder(image, function)(function.address)


def _obstacle(image: Image, function: Function) -> str:
    """Return the reason why the code of a function may change before it runs; "" if it cannot change."""
    segment = image.segment_at(function.address)
    if segment is None or segment.writable or not segment.executable:
        return "is writable, or not executable"
    piece = image.piece_at(function.address)
    if piece is None or function.address + function.size > image.pieces[piece].end:
        return "lies in several parts, which a linker may move separately"
    references = image.references_in(function.address, function.size)
    if any(reference.part in {"absolute", "pointer"} for reference in references):
        return "depends on where it is linked to"
    return ""


def prove_bytes(contract: Contract, code: bytes, name: str, exhaustive: bool) -> Report:
    """Prove or refute machine code without a file."""
    image = raw(name, code, machine=of_abi(contract.abi).name)
    return prove_code(contract, image, name, exhaustive)


def _attempt(runs: Sequence[_Run], image: Image, function: Function, exhaustive: bool, last: bool) -> Report:
    """Return the answer of the last run. After the last length of vectors, all runs must have reached every
    instruction together."""
    name, explorer = function.symbol, runs[-1].explorer
    contract = explorer.contract
    count = len(_instructions(explorer.text, function, set()))
    covered = len(explorer.covered)
    try:
        runs[-1].trees += _explore(runs[-1], image, function, exhaustive)
        _check_data(explorer, runs[-1].constants.reads)
        if last:
            covered, count = _check_coverage(runs, function)
        if last and contract.unwind:
            explorer.arch.check_unwind(image, name, explorer.arch.abis[contract.abi], explorer.reached())
    except Refutation as found:
        return Report(Status.REFUTED, f"{name}: {found}", count, len(_covered(runs)), _steps(runs))
    except Unsupported as found:
        return Report(Status.UNSUPPORTED, f"{name}: {found}", count, len(_covered(runs)), _steps(runs))
    checks = tuple(check for check in CHECKS if check != _COVERAGE or contract.reach_all)
    trees = tuple(tree for run in runs for tree in run.trees)
    reached = frozenset(_covered(runs))
    return Report(Status.PROVED, "", count, covered, _steps(runs), checks, certificate=trees, reached=reached)


def _steps(runs: Sequence[_Run]) -> int:
    return sum(run.explorer.steps for run in runs)


def _explore(run: _Run, image: Image, function: Function, exhaustive: bool) -> Iterator[Node]:
    """Yield the tree of each case. Raises Refutation or Unsupported, with the length of scalable vectors."""
    explorer, contract, arch = run.explorer, run.explorer.contract, run.explorer.arch
    try:
        for case in contract.cases():
            explorer.contract = case
            for low, high in _length_ranges(case, arch, exhaustive):
                for start in arch.starts(image, function):
                    state = run.subject.entry_state(case, arch, start, (low, high), run.constants)
                    ends = explorer.run(state, start.ip)
                    yield explorer.certificate
                    if not ends:
                        raise Unsupported("no path returns")
                    for end in ends:
                        run.subject.check_end(case, arch, start, end)
    except (Refutation, Unsupported) as error:
        if not arch.lengthened(contract.features):
            raise
        raise type(error)(f"with vectors of {8 * arch.vector_bytes} bits: {error}") from None


def _length_ranges(contract: Contract, arch: Architecture, exhaustive: bool) -> list[tuple[int, int]]:
    """Return the ranges of lengths to prove. Raises Unsupported for a contract without a length, of which a
    proof would show nothing."""
    lengths = contract.lengths(arch.abis[contract.abi].pointer)
    if lengths is None:
        raise Unsupported(f"no len from {contract.minimum} to {contract.maximum} is permitted")
    low, high = lengths
    ranges = [(low, high)]
    short = min(4 * contract.block // contract.granule * contract.granule, high)
    if exhaustive and low <= short:
        ranges.append((low, short))
    return ranges
