"""`gfsmith verify`: prove machine code again, from files alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gfsmith.cli import build_options
from gfsmith.cli.completion import fixed, words
from gfsmith.cli.console import InputPath, out, print_json, progress
from gfsmith.cli.lists import list_option
from gfsmith.verify.layouts import LAYOUTS, OPERATIONS
from gfsmith.words import counted

if TYPE_CHECKING:
    from gfsmith.build.prove_kernels import Certificate
    from gfsmith.kernel.spec import KernelSpec
    from gfsmith.prove.verdict import Status
    from gfsmith.verify import functions, objects

UNSUPPORTED = 3  #: exit status


def _functions(context: click.Context) -> list[str]:
    """Return the words that --symbol allows: the functions of the object file.

    Click leaves words before an option that lacks its value in args."""
    from gfsmith.verify import functions

    path = context.params.get("object_file") or next(iter(context.args), None)
    return functions.functions(Path(path)) if path else []


class _Abi(click.Choice[str]):
    """The names of the calling conventions, whose modules are loaded when the names are needed."""

    def __init__(self) -> None:
        self.case_sensitive = True

    @property
    def choices(self) -> Sequence[str]:  # type: ignore[override]
        from gfsmith.prove.machine.abis import ABIS

        return ABIS


@click.command("verify")
@build_options.options
@build_options.jobs
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
@click.option("--exhaustive", is_flag=True, help="Also follow every length up to 4 blocks individually.")
@click.option(
    "--objects",
    "paths",
    multiple=True,
    type=InputPath(exists=True, dir_okay=False, path_type=Path),
    help="Prove the configuration's kernels in this .o, .a, .so or .wasm; repeatable.",
)
@click.option("--checksums", is_flag=True, help="With --objects: prove the functions of checksums instead.")
@click.argument("object_file", required=False, type=InputPath(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--contracts",
    type=InputPath(exists=True, dir_okay=False, path_type=Path),
    help="Prove the functions of OBJECT_FILE that this TOML file describes.",
)
@click.option("--symbol", help="The function of OBJECT_FILE.", shell_complete=words(_functions))
@click.option(
    "--operation",
    help="dot, mad, mul, xor or horner.",
    shell_complete=fixed(OPERATIONS),
)
@click.option("--inputs", help="Sources: a number, or n for any.")
@click.option("--outputs", type=int, default=1, help="Destinations.")
@click.option(
    "--tables",
    default="none",
    help="Table layout: isal-nibble, isal-affine, nibble, ...",
    shell_complete=fixed(LAYOUTS),
)
@list_option("--arguments", default="len,k,tables,src,dst", help="C parameters of the function, in order.")
@click.option("--abi", type=_Abi(), help="Calling convention; default: the file's.")
@click.option("--matrix", help="The coefficients are those of the parities of this code (gfsmith codes).")
@click.option("--columns", type=int, help="Number of sources in the table.")
@click.option("--minimum", type=int, default=0, help="Least len that callers pass.")
@click.option("--maximum", type=int, default=(1 << 64) - 1, help="Greatest len that callers pass.")
@click.option("--granule", type=int, default=1, help="len is a multiple of this.")
@click.option("--rounds-down", is_flag=True, help="len is any number; the rest below --granule is ignored.")
@click.option("--start-granule", type=int, default=1, help="start is a multiple of this.")
@click.option("--aligned", type=int, default=1, help="src0 and dst0 are multiples of this.")
@click.option("--in-place", is_flag=True, help="A destination may be a source.")
@click.option("--dirty-upper", is_flag=True, help="The function may return without vzeroupper.")
@click.option(
    "--feature",
    "features",
    multiple=True,
    help="Additional CPUID feature that the function may use; repeatable.",
)
@click.option("--frozen-data", is_flag=True, help="Constants in writable sections keep their values.")
@click.option("--reach-all", is_flag=True, help="Every instruction must be reached.")
@click.option("--landing", is_flag=True, help="The function must begin with endbr64.")
@click.option("--unwind", is_flag=True, help="Also check the unwind tables.")
@click.option(
    "--unfenced", is_flag=True, help="The function may return without a fence after streaming stores."
)
def command(
    jobs: int, as_json: bool, exhaustive: bool, object_file: Path | None, symbol: str | None,
    path: Path, isas: tuple[str, ...], prefix: str | None, polynomial: str | None,
    folder: str | None, adaptive: bool, paths: tuple[Path, ...], checksums: bool, contracts: Path | None,
    abi: str | None, **words: Any,
) -> None:  # fmt: skip
    """Prove machine code again, from the .S files of the output folder alone.

    With --objects: prove the same kernels in the output of a compiler or assembler, for x86-64, AArch64,
    POWER, RISC-V or WebAssembly. With OBJECT_FILE (.o, .a, .so, .obj): prove one function of it against the
    contract that the options describe; --isa names the instruction sets that it may use. With --contracts:
    prove all functions of a TOML file whose keys are these options.
    """
    from gfsmith.build import prove_kernels, request
    from gfsmith.verify import functions, listings, objects

    code = {flag: words.pop(flag) for flag in request.CODE}
    if contracts is not None:
        _verify_contracts(object_file, contracts, jobs, exhaustive, as_json)
        return
    if object_file is not None:
        described = functions.describe(symbol, isas, {**words, "abi": abi})
        _verify_function(object_file, described, exhaustive, as_json)
        return
    objects.check(paths)
    if checksums and not paths:
        raise objects.ObjectError("--checksums needs --objects")
    if checksums:
        _verify_objects(objects.find_checksums(paths, abi), jobs, as_json)
        return
    (specs, _), target = request.load(path, isas, prefix, polynomial, folder, adaptive, **code)
    if paths:
        _verify_objects(objects.find(paths, specs, abi, exhaustive), jobs, as_json)
        return
    found = listings.read_folder(target, specs)
    with progress("prove machine code", len(found)) as advance:
        certificates = prove_kernels.prove_all(found, jobs, None, advance, exhaustive)
    _report_listings(target, specs, certificates, as_json)


def _report_listings(
    folder: Path,
    specs: Sequence[KernelSpec],
    certificates: Mapping[tuple[str, str], Certificate],
    as_json: bool,
) -> None:
    """Print the proofs of an output folder."""
    from gfsmith.build import report

    if as_json:
        print_json({"kernels": [report.certificate(c) for c in certificates.values()]})
    elif certificates:
        out().print(report.proof_table(specs, certificates))
    else:
        kernels = counted(len(specs), "kernel")
        print(f"{folder}: no machine code to prove: {kernels} in C, whose programs `gfsmith gen` proves")


def _verify_contracts(
    object_file: Path | None, path: Path, jobs: int, exhaustive: bool, as_json: bool
) -> None:
    """Prove the functions of a TOML file; the exit status is 0 if every verdict is the expected one."""
    from gfsmith.verify import contracts, functions, report

    if object_file is None:
        raise functions.ForeignError(f"{path}: --contracts needs OBJECT_FILE")
    tasks = [contracts.Task(object_file, entry, exhaustive) for entry in contracts.read(path)]
    with progress("prove machine code", len(tasks)) as advance:
        answers = contracts.prove(tasks, jobs, advance)
    found = [(task.entry, answer) for task, answer in zip(tasks, answers, strict=True)]
    if as_json:
        print_json({"functions": [report.described(*each) for each in found]})
    else:
        print("\n".join(report.line(*each) for each in found))
    _exit(report.unexpected(*each) for each in found)


def _verify_objects(tasks: Sequence[objects.Task], jobs: int, as_json: bool) -> None:
    """Prove functions of files, print the proofs, and exit with the same status as for one function."""
    from gfsmith.verify import objects, report

    with progress("prove machine code", len(tasks)) as advance:
        proofs = objects.prove(tasks, jobs, advance)

    if as_json:
        print_json({"kernels": [report.compiled(proof) for proof in proofs]})
    else:
        out().print(report.compiled_table(proofs))
        for proof in proofs:
            if not proof.report:
                print(f"{proof.report.status.value}: {proof.file}: {proof.report.reason}")
    _exit(proof.report.status for proof in proofs)


def _verify_function(path: Path, described: functions.Description, exhaustive: bool, as_json: bool) -> None:
    """Prove one function, and exit with the status of the answer."""
    from gfsmith.verify import functions, report

    with progress(f"prove {described.symbol}", 1):
        outcome = functions.verify(path, described, exhaustive)
    if as_json:
        print_json(report.outcome(outcome))
    else:
        print(f"{outcome.status.value}: {outcome.reason or report.established(outcome)}")
    _exit([outcome.status])


def _exit(statuses: Iterable[Status]) -> None:
    """Exit with status 0 if all are proved, 3 if one is unsupported and none refuted, else 1."""
    from gfsmith.prove.verdict import Status

    found = set(statuses)
    if found != {Status.PROVED}:
        raise SystemExit(1 if Status.REFUTED in found else UNSUPPORTED)
