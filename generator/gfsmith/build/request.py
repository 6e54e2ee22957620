"""The requested build: configuration file, the options that override it, and the code of --code.

`--code minio --k 12 --m 4` adds the kernels for this code and shape to those in the file, for every
instruction set of the configuration that supports known matrices; with `--packets` these kernels add packets.
Without a file, BUILT_IN is added: kernels for any number of sources, which the runtime uses for repairs,
updates, checks and other shapes, and the butterflies of the codes of gfsmith_wide.h.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from gfsmith import codes
from gfsmith.build import config, tuned
from gfsmith.build.places import CONFIGURATION
from gfsmith.build.settings import not_negative
from gfsmith.codes import shape
from gfsmith.emit import lists
from gfsmith.field.gf256 import Field
from gfsmith.kernel.architecture import Arch
from gfsmith.kernel.isa import BY_NAME
from gfsmith.kernel.spec import KernelSpec

#: The options that name a code and shape.
CODE = ("code", "k", "m", "l", "r", "packets")

BUILT_IN = """
[[kernels]]
operation = "dot"
shapes = ["nx1", "nx2", "nx3", "nx4"]

[[kernels]]
operation = "mad"
shapes = ["1x1", "1x2", "1x3", "1x4", "nx1"]

[[kernels]]
operation = "mul"
shapes = ["nx1"]

[[kernels]]
operation = "xor"
shapes = ["2x1", "nx1"]

[[kernels]]
operation = "fft"
shapes = ["2x2", "4x4"]

[[kernels]]
operation = "ifft"
shapes = ["2x2", "4x4"]

[[kernels]]
operation = "fft4"
shapes = ["4x4", "8x8"]
isas = ["gfni"]

[[kernels]]
operation = "ifft4"
shapes = ["4x4", "8x8"]
isas = ["gfni"]

[[kernels]]
operation = "fft16"
shapes = ["16x16"]
isas = ["gfni_avx512"]

[[kernels]]
operation = "ifft16"
shapes = ["16x16"]
isas = ["gfni_avx512"]

[[kernels]]
operation = "refft16"
shapes = ["16x16"]
isas = ["gfni_avx512"]

[[kernels]]
operation = "fft4lines"
shapes = ["8x8"]
isas = ["gfni_avx2"]

[[kernels]]
operation = "fft4lines"
shapes = ["8x8"]
width = 256
isas = ["gfni_avx512"]

[[kernels]]
operation = "ifft4lines"
shapes = ["8x8"]
isas = ["gfni_avx2"]

[[kernels]]
operation = "ifft4lines"
shapes = ["8x8"]
width = 256
isas = ["gfni_avx512"]

[[kernels]]
operation = "fft4scaled"
shapes = ["4x4"]
isas = ["gfni"]

[[kernels]]
operation = "ifft4scaled"
shapes = ["4x4"]
isas = ["gfni"]

[[kernels]]
operation = "fft4scaled"
shapes = ["8x8"]
isas = ["gfni_avx2"]

[[kernels]]
operation = "fft4scaled"
shapes = ["8x8"]
width = 256
isas = ["gfni_avx512"]

[[kernels]]
operation = "ifft4scaled"
shapes = ["8x8"]
isas = ["gfni_avx2"]

[[kernels]]
operation = "ifft4scaled"
shapes = ["8x8"]
width = 256
isas = ["gfni_avx512"]
"""


class Build(NamedTuple):
    """Every kernel of a build, and the CPUs for which tuned ones are used."""

    specs: tuple[KernelSpec, ...]
    tuned: tuple[lists.TunedKernel, ...]


class Code(NamedTuple):
    """The values of --code, --k, --m, --l, --r and --packets."""

    name: str | None
    k: int | None
    m: int | None
    l: int | None  # noqa: E741 - the papers' name
    r: int | None
    packets: bool = False

    def check(self) -> None:
        """Raises CodeError for an unknown name, an impossible shape, or options that need another one."""
        if self.name is None:
            if self != Code(*(None,) * 5):
                raise codes.CodeError(
                    "--k and --m need --code (--packets too), such as --code minio --k 12 --m 4"
                )
            return
        shape.matrix_of(self.name, *self.shape())

    def shape(self) -> tuple[int, int, int | None]:
        """Return k, m and, for lrc, the number of groups."""
        assert self.name is not None
        return shape.complete(self.name, self.k, self.m, self.l, self.r)


def inputs(path: Path) -> list[Path]:
    """Return the files of a request: the configuration, if it exists, and the tuned files that it names."""
    if not path.exists():
        return []
    return [path, *(tuned.place(name, path.parent) for name in config.load(path).generator.tuned)]


def _configuration(path: Path, has_code: bool, overrides: dict[str, Any]) -> tuple[config.Config, str]:
    """Return the configuration of a file, and its name in messages. A request with a code needs no file."""
    if has_code and path == CONFIGURATION and not path.exists():
        name = "the built-in set"
        return config.parse(BUILT_IN, name, overrides), name
    return config.load(path, overrides), str(path)


def output_folder(path: Path) -> Path:
    """Return the folder into which `gen` writes, with a file or with a code. Raises ConfigError."""
    return path.parent / _configuration(path, True, {})[0].generator.output


def load(
    path: Path,
    isas: tuple[str, ...],
    prefix: str | None,
    polynomial: str | None,
    folder: str | None,
    adaptive: bool,
    **code: Any,
) -> tuple[Build, Path]:
    """Return the requested kernels and the output folder. Raises ConfigError or CodeError."""
    overrides: dict[str, Any] = {}
    if isas:
        overrides["isas"] = list(isas)
    if prefix is not None:
        overrides["prefix"] = prefix
    if polynomial is not None:
        try:
            overrides["polynomial"] = int(polynomial, 0)
        except ValueError:
            raise config.ConfigError(
                f"--polynomial: '{polynomial}' is not a number; allowed: a number such as 0x11d"
            ) from None
        _check_polynomial(overrides["polynomial"])
    wanted = Code(*(code[flag] for flag in CODE))
    wanted.check()
    loaded, name = _configuration(path, wanted.name is not None, overrides)
    if adaptive and loaded.adaptive is None:
        loaded = loaded.model_copy(update={"adaptive": config.Adaptive()})
    target = Path(folder) if folder is not None else path.parent / loaded.generator.output
    specs = _with_code(loaded, config.specs(loaded, name), wanted)
    if not specs:
        sets = ", ".join(loaded.generator.isas)
        raise config.ConfigError(
            f"{name}: no table [[kernels]] has kernels for these instruction sets: {sets}"
        )
    added = tuned.load(loaded.generator.tuned, path.parent, specs, loaded.generator.prefix)
    return Build((*specs, *added.specs), added.rows), target


def _check_polynomial(polynomial: int) -> None:
    """Raises ConfigError that names the option, and not the file whose value it replaces."""
    try:
        not_negative(polynomial)
        Field(polynomial)
    except ValueError as error:
        raise config.ConfigError(f"--polynomial: {error}") from None


def _with_code(loaded: config.Config, listed: tuple[KernelSpec, ...], wanted: Code) -> tuple[KernelSpec, ...]:
    """Return the kernels with those of the code that are not listed already, last in their instruction
    set. Portable C has run-time coefficients only, so it has no kernel for a code."""
    able = [name for name in loaded.generator.isas if BY_NAME[name].arch is not Arch.PORTABLE]
    if wanted.name is None or not able:
        return listed
    k, m, local = wanted.shape()
    group = config.KernelGroup(
        operation="dot",
        code=wanted.name,
        local=local,
        shapes=[f"{k}x{m}"],
        isas=able,
        packets=wanted.packets,
    )
    alone = loaded.model_copy(update={"kernels": [group]})
    known = {spec.symbol for spec in listed}
    new = [spec for spec in config.specs(alone, f"--code {wanted.name}") if spec.symbol not in known]
    rank = {name: n for n, name in enumerate(BY_NAME)}
    return tuple(sorted([*listed, *new], key=lambda spec: rank[spec.isa.name]))
