"""Contracts of functions that gfsmith did not generate, from a few words.

gfsmith verify isal.o --symbol gf_4vect_dot_prod_avx2 --operation dot --inputs 10 --outputs 4
    --tables isal-nibble --arguments "len,k,tables,src,dst" --isa avx2 --minimum 32
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gfsmith.isa import BY_NAME, Encoding
from gfsmith.prove.machine.architectures import ABIS, of_abi
from gfsmith.prove.machine.contract import Contract, Layout, Parameter
from gfsmith.prove.machine.kernel import Report, prove_code
from gfsmith.prove.machine.load import LoadError, load, load_symbol

#: Name -> format, bytes of an entry, output-major, period.
_LAYOUTS = {
    "nibble": ("nibble", 32, False, 0),
    "affine": ("affine", 8, False, 0),
    "mulb": ("mulb", 8, False, 8),
    "none": ("none", 0, False, 0),
    "isal-nibble": ("nibble", 32, True, 0),
    "isal-affine": ("affine", 32, True, 8),
}
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

OPERATIONS = ("dot", "mad", "mul", "xor", "horner")
TABLES = tuple(_LAYOUTS)


class ForeignError(ValueError):
    """A description that is no contract; the message names the word and what is allowed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """The words of the command line. columns: sources that the table is made for (default: inputs).

    arguments: C parameters in order: len, k, index, tables, src and dst (arrays of pointers), src0 and
    dst0 (one shard itself); `:int` behind len, k or index: 32 bits with junk above.
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
    """The contract. Raises ForeignError."""
    _one_of("operation", words.operation, list(OPERATIONS))
    _one_of("abi", words.abi, list(ABIS))
    _one_of("tables", words.tables, list(_LAYOUTS))
    machines = [name for name, isa in BY_NAME.items() if isa.encoding is not Encoding.C]
    isa = BY_NAME[_one_of("isa", words.isa, machines)]
    fmt, entry, output_major, period = _LAYOUTS[words.tables]
    columns = words.columns if words.columns is not None else words.inputs
    if output_major and columns is None:
        raise ForeignError(f"tables {words.tables} need a fixed number of --inputs")
    parameters, narrow = _parameters(words.arguments)
    return Contract(
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
    )


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
    """The functions of an object file or library; none of what cannot be read: for completion."""
    try:
        return sorted(load(path).functions)
    except (LoadError, OSError):
        return []


def describe(symbol: str | None, isas: Sequence[str], words: Mapping[str, Any]) -> Description:
    """The description that the command line's options give. Raises ForeignError."""
    if symbol is None or words["operation"] is None or words["inputs"] is None or len(isas) != 1:
        raise ForeignError("an object file needs --symbol, --operation, --inputs and one --isa")
    text = words["inputs"]
    if text != "n" and not (text.isdigit() and int(text) > 0):
        raise ForeignError(f"inputs '{text}'; allowed: a number from 1, or n for any")
    rest = {name: value for name, value in words.items() if name != "inputs"}
    inputs = None if text == "n" else int(text)
    return Description(symbol=symbol, inputs=inputs, isa=isas[0], **rest)


def verify(path: Path, words: Description, exhaustive: bool) -> Report:
    """Prove one function of an object file. Raises ForeignError if there is no such function."""
    contract = contract_of(words)
    try:
        image = load_symbol(path, words.symbol)
    except (LoadError, OSError) as error:
        raise ForeignError(f"{path}: {error}") from None
    if words.symbol not in image.functions:
        raise ForeignError(f"{path}: no function '{words.symbol}'")
    return prove_code(contract, image, words.symbol, exhaustive)
