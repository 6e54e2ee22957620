"""What a command is asked for: the file, the flags that override it, and the code that --code bakes.

`--code minio --k 12 --m 4` adds the kernels of this code and shape, for every instruction set of the
configuration that can hold a matrix, to what the file lists. Without a file they come with BUILT_IN: kernels
for any number of sources, with which the runtime repairs, updates and checks, and encodes other shapes.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import click

from gfsmith import codes, config, output
from gfsmith.codes import shape
from gfsmith.complete import fixed
from gfsmith.console import fail
from gfsmith.emit import runtime
from gfsmith.isa import BY_NAME, Arch
from gfsmith.spec import KernelSpec
from gfsmith.tune import tuned

DEFAULT = Path("gfsmith.toml")

#: The flags that name a code and shape.
CODE = ("code", "k", "m", "l", "r")

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
"""


class Build(NamedTuple):
    """Every kernel of a build, and which of them are tuned for which CPUs."""

    specs: tuple[KernelSpec, ...]
    tuned: tuple[runtime.TunedKernel, ...]


class Code(NamedTuple):
    """The values of --code, --k, --m, --l and --r."""

    name: str | None
    k: int | None
    m: int | None
    l: int | None  # noqa: E741 - the papers' name
    r: int | None

    def check(self) -> None:
        """Raises CodeError for an unknown name, an impossible shape, or flags that lack another."""
        if self.name is None:
            if any(value is not None for value in self):
                raise codes.CodeError("--k and --m need --code, such as --code minio --k 12 --m 4")
            return
        shape.matrix_of(self.name, *self.shape())

    def shape(self) -> tuple[int, int, int | None]:
        """Data shards, parities, and groups of lrc."""
        assert self.name is not None
        return shape.complete(self.name, self.k, self.m, self.l, self.r)


def options(command: Callable[..., None]) -> Callable[..., None]:
    """The file, the flags that override its [generator] table, and what is added to its kernels."""
    for option in reversed((
        click.option("-c", "--config", "path", type=click.Path(path_type=Path), default=DEFAULT,
                     show_default=True, help="Configuration file."),
        click.option("--isa", "isas", multiple=True, help="Only these instruction sets.",
                     shell_complete=fixed(BY_NAME)),
        click.option("--prefix", help="Prefix of every symbol."),
        click.option("--polynomial", help="Polynomial of the field, such as 0x11d."),
        click.option("-o", "--output", "folder", help="Output folder."),
        click.option("--code", help="Bake this code (`gfsmith codes`) too; if there is no file, beside a "
                     "small set of kernels for any code.", shell_complete=fixed(shape.NAMES)),
        click.option("--k", type=int, help="With --code: data shards."),
        click.option("--m", type=int, help="With --code: parity shards."),
        click.option("--l", type=int, help="With --code lrc: groups, each with a local parity."),
        click.option("--r", type=int, help="With --code lrc: global parities."),
        click.option("--adaptive", is_flag=True, help="Add the kernels of [adaptive], with its defaults if "
                     "the file has no such table."),
    )):  # fmt: skip
        command = option(command)
    return command


def symbols(context: click.Context) -> list[str]:
    """The kernels in the output folder that a command's flags mean, as its manifest names them; none if
    there is no such folder: for completion, where nothing is to be said."""
    flags = context.params
    path, folder = flags.get("path") or DEFAULT, flags.get("folder")
    try:
        target = Path(folder) if folder else path.parent / config.load(path).generator.output
        listed = output.read_manifest(target).get("kernels", [])
        return [str(kernel["symbol"]) for kernel in listed]
    except (config.ConfigError, output.OutputError, LookupError, TypeError):
        return []


def inputs(path: Path) -> list[Path]:
    """The files that a request was read from: the configuration, if there is one, and what it names."""
    if not path.exists():
        return []
    return [path, *(path.parent / name for name in config.load(path).generator.tuned)]


def load(
    path: Path,
    isas: tuple[str, ...],
    prefix: str | None,
    polynomial: str | None,
    folder: str | None,
    adaptive: bool,
    **code: Any,
) -> tuple[Build, Path]:
    """The kernels and the output folder that file and flags ask for."""
    overrides: dict[str, Any] = {}
    if isas:
        overrides["isas"] = list(isas)
    if prefix is not None:
        overrides["prefix"] = prefix
    if polynomial is not None:
        try:
            overrides["polynomial"] = int(polynomial, 0)
        except ValueError:
            fail(f"--polynomial: '{polynomial}' is not a number; allowed: such as 0x11d")
    wanted = Code(*(code[flag] for flag in CODE))
    wanted.check()
    if wanted.name is not None and path == DEFAULT and not path.exists():
        loaded = config.parse(BUILT_IN, "the built-in set", overrides)
    else:
        loaded = config.load(path, overrides)
    if adaptive and loaded.adaptive is None:
        loaded = loaded.model_copy(update={"adaptive": config.Adaptive()})
    target = Path(folder) if folder is not None else path.parent / loaded.generator.output
    specs = _with_code(loaded, config.specs(loaded, str(path)), wanted)
    added = tuned.load(loaded.generator.tuned, path.parent, specs, loaded.generator.prefix)
    return Build((*specs, *added.specs), added.rows), target


def _with_code(loaded: config.Config, listed: tuple[KernelSpec, ...], wanted: Code) -> tuple[KernelSpec, ...]:
    """The kernels of the code that are not listed already, each behind the others of its instruction set."""
    if wanted.name is None:
        return listed
    able = [name for name in loaded.generator.isas if BY_NAME[name].arch is not Arch.PORTABLE]
    if not able:
        raise codes.CodeError(
            f"--code {wanted.name}: {', '.join(loaded.generator.isas)}: run-time coefficients only"
        )
    k, m, local = wanted.shape()
    group = config.KernelGroup(
        operation="dot",
        code=wanted.name,
        local=local,
        shapes=[f"{k}x{m}"],
        isas=able,
    )
    alone = loaded.model_copy(update={"kernels": [group], "adaptive": None})
    known = {spec.symbol for spec in listed}
    new = [spec for spec in config.specs(alone, f"--code {wanted.name}") if spec.symbol not in known]
    rank = {name: n for n, name in enumerate(BY_NAME)}
    return tuple(sorted([*listed, *new], key=lambda spec: rank[spec.isa.name]))
