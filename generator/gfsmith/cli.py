"""The command line: stage order and messages, nothing else."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from gfsmith import (
    __version__,
    build,
    certify,
    compiled,
    config,
    doctor,
    foreign,
    generate,
    microarch,
    output,
    report,
    request,
    variants,
)
from gfsmith.adapt.command import adapt
from gfsmith.codes import CodeError
from gfsmith.codes.command import codes_
from gfsmith.complete import completion, fixed, listed, words
from gfsmith.console import fail, out, print_json, progress
from gfsmith.explain import show
from gfsmith.explain.kernel import explain
from gfsmith.export.command import export_
from gfsmith.field import FieldError
from gfsmith.graph.command import graph_
from gfsmith.isa import BY_NAME
from gfsmith.model.tools import ModelError
from gfsmith.plan.command import plan_
from gfsmith.prove.machine.architectures import ABIS
from gfsmith.prove.machine.kernel import Report
from gfsmith.prove.verdict import Status
from gfsmith.spec import SpecError
from gfsmith.tune.command import tune
from gfsmith.where import where


class _Main(click.Group):
    """Turns the errors of the rooms into one line and a status. SIGTERM ends a command as Ctrl-C does."""

    def invoke(self, ctx: click.Context) -> Any:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            return super().invoke(ctx)
        except (config.ConfigError, CodeError, SpecError, FieldError, ModelError) as error:
            fail(str(error))
        except (foreign.ForeignError, compiled.ObjectError, certify.FolderError) as error:
            fail(str(error))
        except generate.Refuted as error:
            fail(f"refuted: {error}", 1)
        except output.OutputError as error:
            fail(str(error), 1)
        except KeyboardInterrupt:
            fail("interrupted; nothing was written", 130)


@click.group(cls=_Main, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="gfsmith")
def main() -> None:
    """Generate and prove erasure-coding kernels over GF(2^8)."""


@main.command()
@request.options
@build.jobs_option
@click.option("--no-cache", is_flag=True, help="Prove everything again.")
@click.option("--check", is_flag=True, help="Write nothing; fail if the folder would change.")
def gen(jobs: int, check: bool, no_cache: bool, **options: Any) -> None:
    """Generate and prove kernels into the output folder."""
    asked, folder = request.load(**options)
    kernels, files = build.make(asked, jobs, None if no_cache else build.cache_of(options["path"]))
    record = output.manifest(kernels, files)
    if check:
        found = output.differences(folder, {**files, output.MANIFEST: record})
        for line in found:
            print(f"{folder}/{line}")
        if found:
            fail(f"{folder} is not what the generator makes: run `gfsmith gen`", 1)
        print(f"{folder}: {len(files) + 1} files as the generator makes them")
        return
    changed = output.write(folder, files, record)
    size = sum(kernel.size for kernel in kernels)
    print(
        f"{folder}: {len(kernels)} kernels, all proved; {size} bytes of machine code; {changed} files changed"
    )
    if adaptive := variants.code((kernel.spec, kernel.size) for kernel in kernels):
        print(adaptive)


@main.command("list")
@request.options
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
@click.option("--summary", is_flag=True, help="Kernels and bytes per instruction set (Markdown).")
def list_(as_json: bool, summary: bool, **options: Any) -> None:
    """List the kernels of a configuration."""
    (specs, _), folder = request.load(**options)
    if as_json:
        print_json({"kernels": [report.record(spec) for spec in specs]})
    elif summary:
        print(report.summary(specs, output.read_manifest(folder)))
    else:
        table = Table("symbol", "operation", "isa", "inputs", "outputs", "tables", "unroll")
        for spec in specs:
            inputs = "any" if spec.inputs is None else str(spec.inputs)
            table.add_row(
                spec.symbol, spec.operation.value, spec.isa.name, inputs, str(spec.outputs),
                spec.tables.label, str(spec.unroll),
            )  # fmt: skip
        out.print(table)


def _functions(context: click.Context) -> list[str]:
    """What --symbol may be. Click leaves words before an option that lacks its value in args."""
    path = context.params.get("object_file") or next(iter(context.args), None)
    return foreign.functions(Path(path)) if path else []


@main.command()
@request.options
@build.jobs_option
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
@click.option("--exhaustive", is_flag=True, help="Follow every length up to 4 blocks one by one too.")
@click.option(
    "--objects",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Prove the configuration's kernels in this .o, .a or .so.",
)
@click.argument("object_file", required=False, type=click.Path(path_type=Path))
@click.option("--symbol", help="The function of OBJECT_FILE.", shell_complete=words(_functions))
@click.option("--operation", help="dot, mad, mul, xor or horner.", shell_complete=fixed(foreign.OPERATIONS))
@click.option("--inputs", help="Sources: a number, or n for any.")
@click.option("--outputs", type=int, default=1, help="Destinations.")
@click.option(
    "--tables",
    default="none",
    help="Table layout: isal-nibble, isal-affine, nibble, ...",
    shell_complete=fixed(foreign.TABLES),
)
@click.option("--arguments", default="len,k,tables,src,dst", help="C parameters in order.")
@click.option("--abi", type=click.Choice(ABIS), help="Calling convention; default: the file's.")
@click.option("--columns", type=int, help="Sources that the table is made for.")
@click.option("--minimum", type=int, default=0, help="Least len that is promised.")
@click.option("--maximum", type=int, default=(1 << 64) - 1, help="Greatest len that is promised.")
@click.option("--granule", type=int, default=1, help="len is a multiple of this.")
@click.option("--aligned", type=int, default=1, help="src0 and dst0 are multiples of this.")
@click.option("--in-place", is_flag=True, help="A destination may be a source.")
@click.option("--dirty-upper", is_flag=True, help="Vector upper halves may be left in use.")
@click.option("--feature", "features", multiple=True, help="Another CPUID feature it may use.")
@click.option("--reach-all", is_flag=True, help="Every instruction must be reached.")
@click.option("--landing", is_flag=True, help="It must begin with endbr64.")
@click.option("--unwind", is_flag=True, help="Check the unwind tables too.")
@click.option("--unfenced", is_flag=True, help="Streaming stores may be left unfenced.")
def verify(
    jobs: int, as_json: bool, exhaustive: bool, object_file: Path | None, symbol: str | None,
    path: Path, isas: tuple[str, ...], prefix: str | None, polynomial: str | None,
    folder: str | None, adaptive: bool, objects: tuple[Path, ...], abi: str | None, **words: Any,
) -> None:  # fmt: skip
    """Prove machine code again, from the .S files of the output folder alone.

    With --objects: what a compiler or assembler made of the folder's sources, for x86-64, AArch64 or POWER.
    With OBJECT_FILE (.o, .a, .so, .obj): prove one function of it against the contract that the
    options describe; --isa names what it may use.
    """
    code = {flag: words.pop(flag) for flag in request.CODE}
    if object_file is not None:
        described = foreign.describe(symbol, isas, {**words, "abi": abi or "sysv"})
        _report_foreign(foreign.verify(object_file, described, exhaustive), as_json)
        return
    (specs, _), target = request.load(path, isas, prefix, polynomial, folder, adaptive, **code)
    if objects:
        _verify_objects(compiled.find(objects, specs, abi, exhaustive), jobs, as_json)
        return
    found = certify.read_folder(target, specs)
    with progress("prove machine code", len(found)) as advance:
        certificates = certify.certify(found, jobs, None, advance, exhaustive)
    if as_json:
        print_json({"kernels": [report.certificate(c) for c in certificates.values()]})
    else:
        out.print(report.proof_table(specs, certificates))


def _verify_objects(tasks: Sequence[compiled.Task], jobs: int, as_json: bool) -> None:
    """Exit status as for one function."""
    with progress("prove machine code", len(tasks)) as advance:
        proofs = compiled.prove(tasks, jobs, advance)
    if as_json:
        print_json({"kernels": [report.compiled(proof) for proof in proofs]})
    else:
        out.print(report.compiled_table(proofs))
        for proof in proofs:
            if not proof.report:
                print(f"{proof.report.status.value}: {proof.file}: {proof.report.reason}")
    statuses = {proof.report.status for proof in proofs}
    if statuses != {Status.PROVED}:
        raise SystemExit(1 if Status.REFUTED in statuses else 3)


def _report_foreign(outcome: Report, as_json: bool) -> None:
    """Exit status 0: proved; 1: refuted; 3: unsupported."""
    if as_json:
        print_json(report.outcome(outcome))
    else:
        print(f"{outcome.status.value}: {outcome.reason or report.established(outcome)}")
    if not outcome:
        raise SystemExit(1 if outcome.status is Status.REFUTED else 3)


@main.command("explain")
@request.options
@click.option(
    "--cpu",
    "cpus",
    help="Predict cycles for these cores (LLVM's names); default: some of the kernel's architecture.",
    shell_complete=listed(microarch.BY_NAME),
)
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
@click.argument("symbol", shell_complete=words(request.symbols))
def explain_(symbol: str, cpus: str | None, as_json: bool, **options: Any) -> None:
    """Show one kernel: what it computes, its Program, its machine code, and the cycles it should take."""
    (specs, _), _ = request.load(**options)
    spec = next((spec for spec in specs if spec.symbol == symbol), None)
    if spec is None:
        fail(f"no kernel '{symbol}' in this configuration; see `gfsmith list`")
    names = None if cpus is None else [name.strip() for name in cpus.split(",") if name.strip()]
    explained = explain(spec, names, build.cache_of(options["path"]) / "mca.json")
    if as_json:
        print_json(show.to_json(explained))
    else:
        show.show(out, explained)


@main.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
def doctor_(as_json: bool) -> None:
    """Name what is missing on this machine and the command that gets it."""
    rows = [
        {
            "level": r.level.value,
            "name": r.name,
            "purpose": r.purpose,
            "present": doctor.present(r),
            "command": doctor.remedy(r),
        }
        for r in doctor.requirements(doctor.Level.TEST)
    ]
    lacking = [row for row in rows if not row["present"]]
    if as_json:
        print_json({"requirements": rows, "instruction_sets": list(BY_NAME)})
    for row in lacking if not as_json else []:
        print(f"missing for {row['level']}: {row['name']} ({row['purpose']}): {row['command']}")
    if not lacking and not as_json:
        print(f"all {len(rows)} requirements are met")
    if lacking:
        raise SystemExit(1)


main.add_command(adapt)
main.add_command(codes_)
main.add_command(export_)
main.add_command(graph_)
main.add_command(completion)
main.add_command(plan_)
main.add_command(tune)
main.add_command(where)

if __name__ == "__main__":
    main()
