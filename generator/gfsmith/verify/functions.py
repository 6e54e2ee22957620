"""Contracts of functions that gfsmith did not generate, from command-line options.

gfsmith verify isal.o --symbol gf_4vect_dot_prod_avx2 --operation dot --inputs 10 --outputs 4
    --tables isal-nibble --arguments "len,k,tables,src,dst" --isa avx2 --minimum 32
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gfsmith.codes import parity_matrix
from gfsmith.codes.names import CodeError
from gfsmith.kernel.isa import BY_NAME, Isa
from gfsmith.prove.machine.abis import ABIS
from gfsmith.prove.machine.architectures import of_abi
from gfsmith.prove.machine.contract import Contract, Layout, Parameter
from gfsmith.prove.machine.formats.image import Image
from gfsmith.prove.machine.formats.load import LoadError, functions_of, load_symbol
from gfsmith.prove.machine.prove import Report, prove_code
from gfsmith.verify.layouts import LAYOUTS, OPERATIONS
from gfsmith.verify.machines import MACHINES, default_abi, feature_names, is_provable
from gfsmith.words import counted

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
    "low": "low",
    "high": "high",
    "start": "start",
    "shards": "shards",
    "sources": "sources",
    "any": "any",
    "dst1": "second_dst",
    "entry": "entry",
    "public": "public",
    "object": "object",
}
_NARROW, _SLICE, _RUST = ":int", ":slice", ":rust"
#: Parameter of a Go slice -> the number of elements behind the pointer; the capacity, and other numbers of
#: elements, may be anything.
_COUNTS: dict[Parameter, Parameter] = {"one_src": "len", "src": "sources"}
#: Parameter of a Rust slice -> the number of elements behind the pointer, which is exact.
_RUST_COUNTS: dict[Parameter, Parameter] = {
    "one_src": "len",
    "one_dst": "len",
    "second_dst": "len",
    "src": "sources",
    "dst": "destinations",
    "coeffs": "table_bytes",
}
_LISTED = 8  #: functions in a message
#: Suffix of src and dst -> the distance of two pointers: a Go slice has three words, a Rust slice two.
_STRIDES = {_SLICE: 3, _RUST: 2}


class ForeignError(ValueError):
    """An invalid description. The message names the option's value and the allowed values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """The values of the command-line options. columns: number of sources in the table (default: inputs).

    arguments: C parameters in order: len, k, index, tables, src and dst (arrays of pointers), src0 and dst0
    (a single shard), dst1 (the second destination after dst0), low and high (halves of a nibble entry), entry
    (the 8 bytes of a coefficient by value), start (the offset from the pointers to the shards), shards (one
    array of pointers: src, then dst), sources (their number), public (any number that is not secret), object
    (the address of a struct that is not read), any (a value that is not used), and a number, the value of an
    argument. The suffix `:slice` on a pointer means a Go slice, `:rust` a Rust slice, and on src and dst a
    slice of slices. The suffix `:int` on len, k or index means 32 bits with undefined upper bits. abi: None
    for that of the file.
    """

    symbol: str
    operation: str
    inputs: int | None
    outputs: int
    tables: str
    arguments: str
    isa: str
    abi: str | None = None
    matrix: str | None = None
    columns: int | None = None
    minimum: int = 0
    maximum: int = (1 << 64) - 1
    granule: int = 1
    aligned: int = 1
    start_granule: int = 1
    rounds_down: bool = False
    in_place: bool = False
    dirty_upper: bool = False
    unfenced: bool = False
    frozen_data: bool = False
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
    abi = _abi_of(words, isa)
    parameters, narrow = _parameters(words.arguments)
    _check(words, parameters, abi)
    contract = Contract(
        operation=words.operation,
        inputs=words.inputs,
        outputs=words.outputs,
        layout=_layout(words),
        parameters=parameters,
        abi=abi,
        features=of_abi(abi).features(isa, words.features),
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
        tail=isa.tail if isa.scalable else None,
        frozen_data=words.frozen_data,
        columns=words.columns,
        rows=_rows(words),
        stride=_STRIDES.get(_kind(words.arguments), 1),
        sized=_kind(words.arguments) == _RUST,
        start_granule=words.start_granule,
        rounds_down=words.rounds_down,
        descending=words.operation == "horner",
    )
    return _with_lengths(words, contract)


def _check(words: Description, parameters: Sequence[Parameter | int], abi: str) -> None:
    """Raises ForeignError for unknown features and for options that contradict each other."""
    _check_features(words.features, of_abi(abi).name)
    _check_numbers(words)
    _check_tables(words, parameters)


def _check_features(features: Sequence[str], machine: str) -> None:
    """Raises ForeignError for a feature that no instruction of the machine needs."""
    known, decoded = feature_names(machine)
    for feature in features:
        if feature not in known and feature not in decoded:
            more = ", or another CPUID feature by its name in iced-x86, such as AVX512DQ" if decoded else ""
            raise ForeignError(f"feature '{feature}' is unknown; allowed: {', '.join(known)}{more}")


def _layout(words: Description) -> Layout:
    """Return the layout of the coefficients."""
    fmt, entry, output_major, period, part = LAYOUTS[words.tables]
    columns = words.columns if words.columns is not None else words.inputs
    return Layout(fmt, entry, words.outputs, columns if output_major else None, period, part)


def _check_tables(words: Description, parameters: Sequence[Parameter | int]) -> None:
    """Raises ForeignError for tables and destinations that do not fit the other options."""
    _, entry, output_major, _, _ = LAYOUTS[words.tables]
    fixed = words.columns is not None or words.inputs is not None
    if output_major and not fixed:
        raise ForeignError(f"tables {words.tables} need a fixed number of --inputs")
    single = (words.tables, words.inputs, words.outputs) == ("nibble", 1, 1)
    if {"low", "high"} & set(parameters) and not single:
        raise ForeignError("low and high need --tables nibble, --inputs 1 and --outputs 1")
    if "second_dst" in parameters and words.outputs != 2:
        raise ForeignError("dst1 needs --outputs 2")
    if "entry" in parameters and (entry, words.inputs, words.outputs) != (8, 1, 1):
        raise ForeignError("entry needs --tables affine or mulb, --inputs 1 and --outputs 1")
    if "index" in parameters and not (fixed and entry):
        raise ForeignError("an index needs --tables and --columns or a fixed number of --inputs")


def _rows(words: Description) -> tuple[tuple[int, ...], ...] | None:
    """Return the coefficients of a kernel for a known matrix. Raises ForeignError."""
    if words.matrix is None:
        return None
    if words.inputs is None:
        raise ForeignError(f"matrix {words.matrix} needs a fixed number of --inputs")
    try:
        return parity_matrix(words.matrix, words.inputs, words.outputs)
    except CodeError as error:
        raise ForeignError(str(error)) from None


def _with_lengths(words: Description, contract: Contract) -> Contract:
    """Return the contract. Raises ForeignError if it promises no length."""
    if contract.lengths() is None:
        promised = f"{words.minimum} to {words.maximum}"
        raise ForeignError(f"no multiple of granule {words.granule} from {promised}: nothing would be proved")
    return contract


def _isa_of(words: Description) -> Isa:
    """Return the instruction set of a description. Raises ForeignError for it and for other unknown names."""
    _one_of("operation", words.operation, OPERATIONS)
    _one_of("tables", words.tables, list(LAYOUTS))
    return BY_NAME[_one_of("isa", words.isa, [isa.name for isa in BY_NAME.values() if is_provable(isa)])]


def _abi_of(words: Description, isa: Isa) -> str:
    """Return the calling convention: the first of the set's architecture if none is given. A convention of
    another architecture decides the machine; the set then gives only the size of a vector. Raises
    ForeignError."""
    if words.abi is None:
        return next(name for name in ABIS if of_abi(name).name == MACHINES[isa.arch])
    return _one_of("abi", words.abi, list(ABIS))


def _check_numbers(words: Description) -> None:
    """Raises ForeignError for numbers of which a proof would show nothing."""
    positive = ("outputs", "columns", "granule", "start_granule", "aligned")
    least = {**dict.fromkeys(positive, 1), "minimum": 0, "maximum": 0}
    for name, bound in least.items():
        value = getattr(words, name)
        if value is not None and not bound <= value < 1 << 64:
            raise ForeignError(f"{name} = {value}; allowed: {bound} to {(1 << 64) - 1}")
    if words.aligned & words.aligned - 1:
        raise ForeignError(f"aligned = {words.aligned}; allowed: a power of two")
    if words.inputs is not None and words.columns is not None and words.columns < words.inputs:
        raise ForeignError(f"columns = {words.columns}; allowed: from inputs = {words.inputs}")


def _parameters(text: str) -> tuple[tuple[Parameter | int, ...], tuple[str, ...]]:
    """Return the parameters, and the names of those of 32 bits. Raises ForeignError."""
    parameters: list[Parameter | int] = []
    narrow: list[str] = []
    for word in map(str.strip, text.split(",")):
        if word.isdecimal() and int(word) < 1 << 31:
            parameters.append(int(word))
            continue
        bare = word.partition(":")[0]
        _one_of("argument", word, _arguments())
        parameters.append(_TOKENS[bare])
        if word.endswith(_NARROW):
            narrow.append(bare)
        if word.endswith(_SLICE):
            parameters += [_COUNTS.get(_TOKENS[bare], "any"), "any"]
        if word.endswith(_RUST):
            parameters.append(_RUST_COUNTS[_TOKENS[bare]])
    return tuple(parameters), tuple(narrow)


def _arguments() -> list[str]:
    """Return all words for parameters."""
    numbers = ("len", "k", "index")
    rust = [name for name, parameter in _TOKENS.items() if parameter in _RUST_COUNTS]
    pointers = [*rust, "low", "high"]
    suffixed = ((numbers, _NARROW), (pointers, _SLICE), (rust, _RUST))
    return [*_TOKENS, *(name + suffix for names, suffix in suffixed for name in names)]


def _kind(text: str) -> str:
    """Return the suffix of src and dst. Raises ForeignError if they differ."""
    words = (word.strip().partition(":") for word in text.split(","))
    kinds = {colon + suffix for name, colon, suffix in words if name in ("src", "dst")}
    if len(kinds) > 1:
        raise ForeignError("src and dst must both be slices of one language, or none of them")
    return kinds.pop() if kinds else ""


def functions(path: Path) -> list[str]:
    """Return the functions of an object file or library; empty if it cannot be read."""
    try:
        return sorted(functions_of(path))
    except (LoadError, OSError):
        return []


def describe(symbol: str | None, isas: Sequence[str], words: Mapping[str, Any]) -> Description:
    """Return the description in the command line's options. Raises ForeignError."""
    text, operation = words["inputs"], words["operation"]
    if symbol is None or operation is None or text is None or not isas:
        needed = {"--symbol": symbol, "--operation": operation, "--inputs": text, "--isa": isas or None}
        *most, last = (option for option, value in needed.items() if value is None)
        lacking = f"{', '.join(most)} and {last}" if most else last
        raise ForeignError(f"an object file needs {lacking}")
    if len(isas) > 1:
        raise ForeignError(f"--isa {', '.join(isas)}; allowed: one instruction set")
    if text != "n" and not (text.isdigit() and int(text) > 0):
        raise ForeignError(f"inputs '{text}'; allowed: a number from 1, or n for any")
    rest = {name: value for name, value in words.items() if name != "inputs"}
    inputs = None if text == "n" else int(text)
    return Description(symbol=symbol, inputs=inputs, isa=isas[0], **rest)


def verify(path: Path, words: Description, exhaustive: bool) -> Report:
    """Prove one function of an object file. Raises ForeignError if the file cannot be read or lacks the
    function."""
    contract_of(words)
    try:
        image = load_symbol(path, words.symbol)
    except LoadError as error:
        raise ForeignError(f"{error}{_existing(path, words.symbol)}") from None
    return verify_image(image, words, exhaustive)


def _existing(path: Path, symbol: str) -> str:
    """Return the part of a message that lists functions of a file without the function `symbol`."""
    found = functions(path)
    if symbol in found or not found:
        return ""
    if len(found) <= _LISTED:
        return f"; its functions: {', '.join(found)}"
    near = difflib.get_close_matches(symbol, found, n=_LISTED, cutoff=0.0)
    return f"; the closest of its {counted(len(found), 'function')}: {', '.join(near)}"


def verify_image(image: Image, words: Description, exhaustive: bool) -> Report:
    """Prove one function of a loaded object file. Raises ForeignError."""
    contract = contract_of(replace(words, abi=words.abi or default_abi(image)))
    return prove_code(contract, image, words.symbol, exhaustive)
