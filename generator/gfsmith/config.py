"""gfsmith.toml: which kernels a build holds.

[generator]
polynomial = 0x11d               # the field of the proofs (and of mulb kernels)
prefix = "gfs"                   # of every symbol
output = "gen_out"               # folder, relative to the file
isas = ["avx2", "scalar"]
tuned = ["tuned/znver4.toml"]    # files of `gfsmith tune`, relative to this one

[[kernels]]
operation = "dot"                # dot, mad, mul, xor, horner
shapes = ["nx4", "10x4"]         # inputs x outputs; n: any number of inputs
unroll = "auto"                  # or 1..8 vectors a turn
prefetch = 0                     # bytes ahead
hint = "t0"                      # t0, t1, t2, nta
store = "temporal"               # or streaming
width = "auto"                   # or 256 or 512: bits of a vector (avx512, gfni_avx512)
order = "auto"                   # or sums, steps, copies: how the vectors of a turn are woven
circuit = "auto"                 # with code: or dense, factored1 .. factored4
placement = "registers"          # or memory: where table entries are during a call
technique = "auto"               # or nibble, permxor, affine, mulb, bitplane, shift
code = "cauchy"                  # or minio, ...: bake the k x m parity matrix of this code in (dot only)
local = 2                        # with code = "lrc": groups, of the shape's parities so many are local
packets = false                  # with code: true for kernels that work on packets and only add
outputs = "auto"                 # with code: parities per kernel at most
isas = ["avx2"]                  # a part of the ones above; left out: all that can
polynomial = 0x11b               # if other than above
walk = "together"                # or rows: dot for any inputs, a cache line of every source, then the next line
shuffled = false                 # true: the lines of a turn in an order that prefetchers do not follow
pipelined = false                # true: prefetch through pointers beside those of the sources

[adaptive]                       # kernels for docs/adaptive.md; none without this table
isas = ["avx2"]                  # a part of the ones above; left out: all that can
outputs = [1, 2, 4]              # left out: 1 to 8
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from gfsmith import codes
from gfsmith.codes import shape as code_shape
from gfsmith.defaults import default_baked_unroll, default_order, default_outputs, default_unroll
from gfsmith.field import DEGREE, FieldError
from gfsmith.field import Field as GaloisField
from gfsmith.isa import BY_NAME, Arch, Isa
from gfsmith.matrix import bit_matrix
from gfsmith.spec import (
    Baked,
    Circuit,
    Hint,
    KernelSpec,
    Operation,
    Order,
    Placement,
    SpecError,
    Store,
    Technique,
    Walk,
    default_technique,
    with_width,
)
from gfsmith.variants import able, variants

_SHAPE = re.compile(r"(n|[1-9][0-9]{0,8})x([1-9][0-9]{0,8})")


class ConfigError(ValueError):
    """A configuration that cannot be: one line that names file, key and what is allowed.

    What cannot be printed, such as a line's end in a key, is escaped.
    """

    def __init__(self, text: str) -> None:
        super().__init__("".join(c if c.isprintable() else repr(c)[1:-1] for c in text))


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def _check_isas(names: list[str]) -> list[str]:
    for name in names:
        if name not in BY_NAME:
            raise ValueError(f"'{name}' is not an instruction set; allowed: {', '.join(BY_NAME)}")
    if len(set(names)) != len(names):
        raise ValueError("an instruction set is named twice")
    return names


class KernelGroup(_Strict):
    """One [[kernels]] table."""

    operation: Literal["dot", "mad", "mul", "xor", "horner"]
    shapes: Annotated[list[str], Field(min_length=1)]
    unroll: int | Literal["auto"] = "auto"
    prefetch: int = 0
    hint: Literal["t0", "t1", "t2", "nta"] = "t0"
    store: Literal["temporal", "streaming"] = "temporal"
    width: Literal["auto", 256, 512] = "auto"
    order: Literal["auto", "sums", "steps", "copies"] = "auto"
    placement: Literal["registers", "memory"] = "registers"
    circuit: Literal["auto", "dense", "factored1", "factored2", "factored3", "factored4", "factored5"] = (
        "auto"
    )
    technique: Literal["auto", "nibble", "permxor", "affine", "mulb", "bitplane", "shift"] = "auto"
    isas: list[str] | None = None
    polynomial: int | None = None
    code: str | None = None
    local: int | None = None
    packets: bool = False
    walk: Literal["together", "rows"] = "together"
    shuffled: bool = False
    pipelined: bool = False
    outputs: Annotated[int, Field(ge=1, le=32)] | Literal["auto"] = "auto"

    @field_validator("code")
    @classmethod
    def _code(cls, name: str | None) -> str | None:
        return None if name is None else code_shape.known(name)

    @field_validator("shapes")
    @classmethod
    def _shapes(cls, shapes: list[str]) -> list[str]:
        for shape in shapes:
            if not _SHAPE.fullmatch(shape):
                raise ValueError(f"'{shape}' is not a shape; allowed: 10x4 or nx4 (n: any inputs)")
        return shapes

    @field_validator("isas")
    @classmethod
    def _isas(cls, names: list[str] | None) -> list[str] | None:
        return names if names is None else _check_isas(names)


class Generator(_Strict):
    """The [generator] table."""

    polynomial: int = 0x11D
    prefix: str = "gfs"
    output: str = "gen_out"
    isas: list[str] = list(BY_NAME)
    tuned: list[str] = []

    @field_validator("isas")
    @classmethod
    def _isas(cls, names: list[str]) -> list[str]:
        return _check_isas(names)

    @field_validator("output", "tuned")
    @classmethod
    def _paths(cls, paths: str | list[str]) -> str | list[str]:
        if any("\0" in path for path in paths):
            raise ValueError("a path has no character 0")
        return paths


class Adaptive(_Strict):
    """The [adaptive] table: the kernels that variants.py names."""

    isas: list[str] | None = None
    outputs: Annotated[list[int], Field(min_length=1)] = list(range(1, 9))

    @field_validator("isas")
    @classmethod
    def _isas(cls, names: list[str] | None) -> list[str] | None:
        return names if names is None else _check_isas(names)


class Config(_Strict):
    """A whole file."""

    generator: Generator = Generator()
    kernels: Annotated[list[KernelGroup], Field(min_length=1)]
    adaptive: Adaptive | None = None


def _key(location: tuple[int | str, ...]) -> str:
    """("kernels", 2, "unroll", "int") -> kernels[2].unroll"""
    text = ""
    for part in location:
        if isinstance(part, int):
            text += f"[{part}]"
        elif part not in ("int", "literal['auto']", "constrained-int"):
            text += f".{part}" if text else part
    return text or "(top level)"


def parse(text: str, name: str, overrides: dict[str, Any] | None = None) -> Config:
    """The configuration in `text`, with [generator] keys replaced by `overrides`.

    Raises ConfigError with one line that begins with `name`.
    """
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{name}: not valid TOML: {error}") from None
    except RecursionError:
        raise ConfigError(f"{name}: nested too deep; allowed: a list in a table in a list") from None
    except ValueError:  # not a TOMLDecodeError: Python's limit for numbers
        raise ConfigError(f"{name}: a number has too many digits") from None
    if overrides:
        table = data.setdefault("generator", {})
        if isinstance(table, dict):
            table.update(overrides)
    try:
        return Config.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        message = first["msg"].removeprefix("Value error, ")
        if first["type"] == "extra_forbidden":
            message = "no such key"
        raise ConfigError(f"{name}: {_key(first['loc'])}: {message}") from None


def load(path: Path, overrides: dict[str, Any] | None = None) -> Config:
    """Read a file. Raises ConfigError, also when it cannot be read."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: not UTF-8 text") from None
    return parse(text, str(path), overrides)


def _group_isas(group: KernelGroup, generator: Generator, where: str) -> list[Isa]:
    """The instruction sets of a group: its own, as far as the build has them, or all that can."""
    chosen = generator.isas
    if group.isas is not None:
        chosen = [name for name in group.isas if name in generator.isas]
    return [BY_NAME[name] for name in chosen]


def _spec(group: KernelGroup, shape: str, isa: Isa, generator: Generator) -> KernelSpec:
    matched = _SHAPE.fullmatch(shape)
    assert matched is not None
    inputs = None if matched[1] == "n" else int(matched[1])
    return _kernel(group, inputs, int(matched[2]), isa, generator, None)


def _baked(group: KernelGroup, code: str, shape: str, isa: Isa, generator: Generator) -> Iterator[KernelSpec]:
    """The kernels that together encode one shape of a code."""
    matched = _SHAPE.fullmatch(shape)
    assert matched is not None
    if matched[1] == "n":
        raise SpecError(f"shape {shape}; a code needs a number of inputs, such as 10x4")
    if group.polynomial not in (None, codes.POLYNOMIAL):
        raise SpecError(f"polynomial = {group.polynomial:#x}; codes are over {codes.POLYNOMIAL:#x}")
    k, m = int(matched[1]), int(matched[2])
    matrix = code_shape.matrix_of(code, k, m, group.local)
    width = 1
    if group.packets:
        matrix, width = bit_matrix(GaloisField(codes.POLYNOMIAL), matrix), DEGREE
    limit = width * (default_outputs(isa, group.packets) if group.outputs == "auto" else group.outputs)
    for first in range(0, width * m, limit):
        rows = matrix[first : first + limit]
        baked = Baked(code_shape.label(code, group.local), width * m, first, rows, group.packets)
        yield _kernel(group, width * k, len(rows), isa, generator, baked)


def _kernel(
    group: KernelGroup, inputs: int | None, outputs: int, isa: Isa, generator: Generator, baked: Baked | None
) -> KernelSpec:
    isa = isa if group.width == "auto" else with_width(isa, group.width)
    operation = Operation(group.operation)
    technique = Technique(group.technique) if group.technique != "auto" else default_technique(operation, isa)
    if group.packets and group.technique == "auto":
        technique = Technique.PLAIN
    automatic = default_unroll(isa, outputs) if baked is None else default_baked_unroll(isa, outputs)
    unroll = automatic if group.unroll == "auto" else group.unroll
    store = Store(group.store)
    polynomial = codes.POLYNOMIAL if baked is not None else generator.polynomial
    automatic_order = default_order(isa, unroll, baked is not None, store)
    order = automatic_order if group.order == "auto" else Order(group.order)
    return KernelSpec(
        operation=operation,
        isa=isa,
        inputs=inputs,
        outputs=outputs,
        technique=technique,
        unroll=unroll,
        prefetch=group.prefetch,
        hint=Hint(group.hint),
        store=store,
        order=order,
        placement=Placement(group.placement),
        walk=Walk(group.walk),
        shuffled=group.shuffled,
        pipelined=group.pipelined,
        circuit=Circuit(group.circuit),
        field=GaloisField(polynomial if group.polynomial is None else group.polynomial),
        prefix=generator.prefix,
        baked=baked,
    )


def _expand(config: Config, name: str) -> Iterator[tuple[str, KernelSpec]]:
    for number, group in enumerate(config.kernels):
        where = f"{name}: kernels[{number}]"
        for isa in _group_isas(group, config.generator, where):
            for shape in group.shapes:
                try:
                    if group.code is None:
                        if group.packets:
                            raise SpecError("packets = true; only kernels for a code work on packets")
                        if group.local is not None:
                            raise SpecError(f'local = {group.local}; only code = "lrc" has groups')
                        yield where, _spec(group, shape, isa, config.generator)
                    elif isa.arch is not Arch.PORTABLE:
                        for spec in _baked(group, group.code, shape, isa, config.generator):
                            yield where, spec
                except (SpecError, FieldError, codes.CodeError) as error:
                    raise ConfigError(f"{where} ({shape}, {isa.name}): {error}") from None
    if config.adaptive is not None:
        yield from _adaptive(config.adaptive, config.generator, f"{name}: adaptive")


def _adaptive(table: Adaptive, generator: Generator, where: str) -> Iterator[tuple[str, KernelSpec]]:
    field = GaloisField(generator.polynomial)
    for isa in (BY_NAME[name] for name in generator.isas):
        if not (able(isa) if table.isas is None else isa.name in table.isas):
            continue
        for outputs in table.outputs:
            try:
                for spec in variants(isa, outputs, field, generator.prefix):
                    yield where, spec
            except SpecError as error:
                raise ConfigError(f"{where} (nx{outputs}, {isa.name}): {error}") from None


def specs(config: Config, name: str) -> tuple[KernelSpec, ...]:
    """Every kernel of a configuration, by instruction set in the order of ISAS, then as listed.

    Raises ConfigError for a kernel that cannot be or is listed twice.
    """
    found: dict[str, KernelSpec] = {}
    for where, spec in _expand(config, name):
        if spec.symbol in found:
            raise ConfigError(f"{where}: {spec.symbol} is listed twice")
        found[spec.symbol] = spec
    rank = {isa_name: n for n, isa_name in enumerate(BY_NAME)}
    return tuple(sorted(found.values(), key=lambda s: rank[s.isa.name]))
