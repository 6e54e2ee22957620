"""From gfsmith.toml to the specs of a build, with a one-line message for every mistake."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from gfsmith import codes
from gfsmith.build.adaptive_kernels import able, known_variants, variants
from gfsmith.build.places import CONFIGURATION
from gfsmith.build.settings import SHAPE
from gfsmith.build.settings import Adaptive as Adaptive
from gfsmith.build.settings import Config as Config
from gfsmith.build.settings import Generator as Generator
from gfsmith.build.settings import KernelGroup as KernelGroup
from gfsmith.codes import shape as code_shape
from gfsmith.field import DEGREE, FieldError
from gfsmith.field import Field as GaloisField
from gfsmith.field.matrix import bit_matrix
from gfsmith.kernel.architecture import Arch
from gfsmith.kernel.defaults import default_baked_unroll, default_order, default_outputs, default_unroll
from gfsmith.kernel.isa import BY_NAME, Isa
from gfsmith.kernel.spec import (
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

#: For a user in a folder without a configuration.
_HINT = (
    "; `gfsmith init` writes one, and `gfsmith gen`, `export`, `list`, `verify` and `explain` need none with "
    "a code: --code cauchy --k 10 --m 4"
)


#: The options that override keys of [generator].
_OPTIONS = {"isas": "--isa", "prefix": "--prefix", "polynomial": "--polynomial"}


class ConfigError(ValueError):
    """An invalid configuration. The message is one line with file, key and allowed values.

    Unprintable characters, such as a line break in a key, are escaped.
    """

    def __init__(self, text: str) -> None:
        super().__init__("".join(c if c.isprintable() else repr(c)[1:-1] for c in text))


def _key(location: tuple[int | str, ...]) -> str:
    """("kernels", 2, "unroll", "int") -> kernels[2].unroll"""
    text = ""
    for part in location:
        if isinstance(part, int):
            text += f"[{part}]"
        elif part not in ("int", "literal['auto']", "constrained-int"):
            text += f".{part}" if text else part
    return text or "(top level)"


def _place(name: str, location: tuple[int | str, ...], overrides: dict[str, Any]) -> str:
    """Return the file and the key of a wrong value, or the option that has given it."""
    if location[0] == "generator" and len(location) > 1 and location[1] in overrides:
        return _OPTIONS[str(location[1])]
    return f"{name}: {_key(location)}"


def _allowed(location: tuple[int | str, ...]) -> str:
    """Return the keys of the table that holds an unknown key."""
    tables: dict[int | str, type[BaseModel]] = {
        "generator": Generator, "kernels": KernelGroup, "adaptive": Adaptive,
    }  # fmt: skip
    table = Config if len(location) == 1 else tables[location[0]]
    return ", ".join(table.model_fields)


def _message(error: ErrorDetails) -> str:
    """Return the reason for an error, with the allowed values."""
    location, given = error["loc"], error["input"]
    if error["type"] == "extra_forbidden":
        return f"no such key; allowed: {_allowed(location)}"
    if error["type"] == "missing":
        return "missing" if len(location) > 1 else "missing; at least one table [[kernels]] is needed"
    if error["type"] == "list_type" and location == ("kernels",):
        return "not a list of tables; allowed: tables that begin with [[kernels]]"
    if error["type"] == "list_type" and isinstance(given, (str, int)):
        return f"not a list; allowed: a list, such as [{json.dumps(given)}]"
    return error["msg"].removeprefix("Value error, ")


def read_toml(text: str, name: str) -> dict[str, Any]:
    """Return the content of a TOML file. Raises ConfigError with one line that begins with `name`."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{name}: not valid TOML: {error}") from None
    except RecursionError:
        raise ConfigError(f"{name}: nested too deeply; allowed: a list in a table in a list") from None
    except ValueError:  # not a TOMLDecodeError: Python's limit for numbers
        raise ConfigError(f"{name}: a number has too many digits") from None


def parse(text: str, name: str, overrides: dict[str, Any] | None = None) -> Config:
    """Return the configuration in `text`, with [generator] keys replaced by `overrides`.

    Raises ConfigError with one line that begins with `name`.
    """
    data = read_toml(text, name)
    if overrides:
        generator = data.setdefault("generator", {})
        if isinstance(generator, dict):
            generator.update(overrides)
    try:
        return Config.model_validate(data)
    except ValidationError as error:
        # A misspelled key is often the reason for a missing one, so a missing key is reported last.
        first = min(error.errors(), key=lambda found: found["type"] == "missing")
        place = _place(name, first["loc"], overrides or {})
        raise ConfigError(f"{place}: {_message(first)}") from None


def load(path: Path, overrides: dict[str, Any] | None = None) -> Config:
    """Return the configuration in a file. Raises ConfigError, also if the file cannot be read."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file{_HINT if path == CONFIGURATION else ''}") from None
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: not UTF-8 text") from None
    return parse(text, str(path), overrides)


def _group_isas(group: KernelGroup, generator: Generator, where: str) -> list[Isa]:
    """Return the instruction sets of a group: those that it lists, if the build has them, or all of the
    build."""
    chosen = generator.isas
    if group.isas is not None:
        chosen = [name for name in group.isas if name in generator.isas]
    return [BY_NAME[name] for name in chosen]


def _spec(group: KernelGroup, shape: str, isa: Isa, generator: Generator) -> KernelSpec:
    matched = SHAPE.fullmatch(shape)
    assert matched is not None
    inputs = None if matched[1] == "n" else int(matched[1])
    return _kernel(group, inputs, int(matched[2]), isa, generator, None)


def _baked(group: KernelGroup, code: str, shape: str, isa: Isa, generator: Generator) -> Iterator[KernelSpec]:
    """Yield the kernels that together encode one shape of a code."""
    matched = SHAPE.fullmatch(shape)
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
    automatic_order = default_order(isa, operation, outputs, unroll, baked is not None, store)
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


def _adaptive(
    table: Adaptive, known: Sequence[KernelSpec], generator: Generator, where: str
) -> Iterator[tuple[str, KernelSpec]]:
    """Yield the kernels of the table [adaptive]. known: a kernel for each known matrix that gets variants."""
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
        for base in known:
            if base.isa.name != isa.name:
                continue
            try:
                for spec in known_variants(base):
                    yield where, spec
            except SpecError as error:
                raise ConfigError(f"{where} ({base.matrix_id}, {isa.name}): {error}") from None


def _known(listed: Iterable[KernelSpec]) -> list[KernelSpec]:
    """Return a kernel for each instruction set and known matrix that has one with the pointers of
    kernels.inc; matrices of packets have no variants."""
    found: dict[tuple[str, str], KernelSpec] = {}
    for spec in listed:
        if spec.baked is not None and not spec.baked.packets and not spec.pipelined:
            found.setdefault((spec.isa.name, spec.matrix_id), spec)
    return list(found.values())


def specs(config: Config, name: str) -> tuple[KernelSpec, ...]:
    """Return every kernel of a configuration, by instruction set in the order of ISAS, then in the order of
    the file.

    A kernel of [adaptive] may be listed as well. Raises ConfigError for an impossible kernel and for one that
    is listed twice.
    """
    found: dict[str, KernelSpec] = {}
    listed = list(_expand(config, name))
    if (table := config.adaptive) is not None:
        known = _known(spec for _, spec in listed) if table.known else []
        named = {spec.symbol for _, spec in listed}
        added = _adaptive(table, known, config.generator, f"{name}: adaptive")
        listed += [(where, spec) for where, spec in added if spec.symbol not in named]
    for where, spec in listed:
        if spec.symbol in found:
            raise ConfigError(f"{where}: {spec.symbol} is listed twice")
        found[spec.symbol] = spec
    rank = {isa_name: n for n, isa_name in enumerate(BY_NAME)}
    return tuple(sorted(found.values(), key=lambda s: rank[s.isa.name]))
