"""Contracts of functions that gfsmith did not generate, from command-line options.

gfsmith verify isal.o --symbol gf_4vect_dot_prod_avx2 --operation dot --inputs 10 --outputs 4
    --tables isal-nibble --arguments "len,k,tables,src,dst" --isa avx2 --minimum 32
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gfsmith.kernel.isa import BY_NAME, Encoding, Isa
from gfsmith.kernel.operation import Operation
from gfsmith.prove.machine.abis import ABIS
from gfsmith.prove.machine.architectures import of_abi
from gfsmith.prove.machine.contract import Contract, Layout, Parameter
from gfsmith.prove.machine.formats.load import LoadError, load, load_symbol
from gfsmith.prove.machine.prove import Report, prove_code
from gfsmith.verify.layouts import LAYOUTS

_TOKENS: dict[str, Parameter] = {
    "len": "len",
    "k": "k",
    "index": "index",
    "tables": "coeffs",
    "coeffs": "coeffs",
    "src": "src",
    "dst": "dst",
    "src0": "one_src",
    "dst0": "one_dst",
}
_NARROW = ":int"


class ForeignError(ValueError):
    """An invalid description. The message names the option's value and the allowed values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """The values of the command-line options. columns: number of sources in the table (default: inputs).

    arguments: C parameters in order: len, k, index, tables, src and dst (arrays of pointers), src0 and dst0
    (a single shard). The suffix `:int` on len, k or index means 32 bits with undefined upper bits.
    """

    symbol: str
    operation: str
    inputs: int | None
    outputs: int
    tables: str
    arguments: str
    isa: str
    abi: str = "sysv"
    columns: int | None = None
    minimum: int = 0
    maximum: int = (1 << 64) - 1
    granule: int = 1
    aligned: int = 1
    in_place: bool = False
    dirty_upper: bool = False
    unfenced: bool = False
    unwind: bool = False
    reach_all: bool = False
    landing: bool = False
    features: tuple[str, ...] = ()


def _one_of(what: str, word: str, allowed: list[str]) -> str:
    if word not in allowed:
        raise ForeignError(f"{what} '{word}' is unknown; allowed: {', '.join(allowed)}")
    return word


def contract_of(words: Description) -> Contract:
    """Return the contract of a description. Raises ForeignError."""
    isa = _isa_of(words)
    fmt, entry, output_major, period = LAYOUTS[words.tables]
    columns = words.columns if words.columns is not None else words.inputs
    if output_major and columns is None:
        raise ForeignError(f"tables {words.tables} need a fixed number of --inputs")
    parameters, narrow = _parameters(words.arguments)
    _check_numbers(words)
    if "index" in parameters and (columns is None or not entry):
        raise ForeignError("an index needs --tables and --columns or a fixed number of --inputs")
    contract = Contract(
        operation=words.operation,
        inputs=words.inputs,
        outputs=words.outputs,
        layout=Layout(fmt, entry, words.outputs, columns if output_major else None, period),
        parameters=parameters,
        abi=words.abi,
        features=tuple(sorted({*of_abi(words.abi).features(isa.cpu_flags), *words.features})),
        in_place=words.in_place,
        block=4 * isa.vector_bytes,
        vector=isa.vector_bytes,
        per_shard=words.operation == "mul",
        minimum=words.minimum,
        granule=words.granule,
        maximum=words.maximum,
        narrow=narrow,
        indexed="index" in parameters,
        aligned=words.aligned,
        clean_upper=not words.dirty_upper,
        fence=not words.unfenced,
        unwind=words.unwind,
        reach_all=words.reach_all,
        landing=words.landing,
        columns=words.columns,
    )
    _check_lengths(words, contract)
    return contract


def _check_lengths(words: Description, contract: Contract) -> None:
    """Raises ForeignError if the contract promises no length."""
    if contract.lengths() is None:
        promised = f"{words.minimum} to {words.maximum}"
        raise ForeignError(f"no multiple of granule {words.granule} from {promised}: nothing would be proved")


def _isa_of(words: Description) -> Isa:
    """Return the instruction set of a description. Raises ForeignError for it and for other unknown names."""
    _one_of("operation", words.operation, [operation.value for operation in Operation])
    _one_of("abi", words.abi, list(ABIS))
    _one_of("tables", words.tables, list(LAYOUTS))
    machines = [name for name, isa in BY_NAME.items() if isa.encoding is not Encoding.C]
    return BY_NAME[_one_of("isa", words.isa, machines)]


def _check_numbers(words: Description) -> None:
    """Raises ForeignError for numbers of which a proof would show nothing."""
    least = {"outputs": 1, "columns": 1, "granule": 1, "aligned": 1, "minimum": 0, "maximum": 0}
    for name, bound in least.items():
        value = getattr(words, name)
        if value is not None and not bound <= value < 1 << 64:
            raise ForeignError(f"{name} = {value}; allowed: {bound} to {(1 << 64) - 1}")
    if words.aligned & words.aligned - 1:
        raise ForeignError(f"aligned = {words.aligned}; allowed: a power of two")
    if words.inputs is not None and words.columns is not None and words.columns < words.inputs:
        raise ForeignError(f"columns = {words.columns}; allowed: from inputs = {words.inputs}")


def _parameters(text: str) -> tuple[tuple[Parameter, ...], tuple[str, ...]]:
    parameters: list[Parameter] = []
    narrow: list[str] = []
    for word in text.split(","):
        token = word.strip()
        bare = token.removesuffix(_NARROW)
        allowed = [*_TOKENS, *(f"{name}{_NARROW}" for name in ("len", "k", "index"))]
        _one_of("argument", token, allowed)
        parameters.append(_TOKENS[bare])
        if token != bare:
            narrow.append(bare)
    return tuple(parameters), tuple(narrow)


def functions(path: Path) -> list[str]:
    """Return the functions of an object file or library, for completion; empty if it cannot be read."""
    try:
        return sorted(load(path).functions)
    except (LoadError, OSError):
        return []


def describe(symbol: str | None, isas: Sequence[str], words: Mapping[str, Any]) -> Description:
    """Return the description in the command line's options. Raises ForeignError."""
    if symbol is None or words["operation"] is None or words["inputs"] is None or len(isas) != 1:
        raise ForeignError("an object file needs --symbol, --operation, --inputs and one --isa")
    text = words["inputs"]
    if text != "n" and not (text.isdigit() and int(text) > 0):
        raise ForeignError(f"inputs '{text}'; allowed: a number from 1, or n for any")
    rest = {name: value for name, value in words.items() if name != "inputs"}
    inputs = None if text == "n" else int(text)
    return Description(symbol=symbol, inputs=inputs, isa=isas[0], **rest)


def verify(path: Path, words: Description, exhaustive: bool) -> Report:
    """Prove one function of an object file. Raises ForeignError if the file cannot be read or lacks the
    function."""
    contract = contract_of(words)
    try:
        image = load_symbol(path, words.symbol)
    except LoadError as error:
        raise ForeignError(str(error)) from None
    return prove_code(contract, image, words.symbol, exhaustive)
