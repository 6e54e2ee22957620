"""`gfsmith export`: sources that build without gfsmith."""

from __future__ import annotations

import io
import lzma
import tarfile
from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import click

from gfsmith.build.places import shared_cache
from gfsmith.cli import build_options
from gfsmith.cli.console import OutputPath, fail, progress
from gfsmith.emit.files import replacing
from gfsmith.export.names import Names, PrefixError
from gfsmith.words import counted

if TYPE_CHECKING:
    from gfsmith.build import request, stages

FORMS = ("tree", "amalgamation", "go", "rust")
ARCHIVE = ".tar.xz"
#: Ends of names of other archives: not those of folders.
_OTHER_ARCHIVES = (".tar", ".tar.gz", ".tar.bz2", ".tar.zst", ".tgz", ".txz", ".xz", ".zip", ".7z")
_ALLOWED = f"allowed: a folder, or a file that ends in {ARCHIVE}"
_READABLE = 0o644


def _check_name(folder: str | None) -> None:
    if folder is None:
        fail(f"-o is missing; {_ALLOWED}")
    name = folder.rstrip("/")
    if name.endswith(_OTHER_ARCHIVES) and not name.endswith(ARCHIVE):
        fail(f"-o {name}: is no archive that gfsmith writes; {_ALLOWED}")


@click.command("export")
@build_options.options
@build_options.jobs
@click.option(
    "--form",
    type=click.Choice(FORMS),
    default="amalgamation",
    show_default=True,
    help="tree: a folder with build files; amalgamation: one source and one header; go: a Go package without "
    "cgo; rust: a Rust module of machine code, for Rust-2021 and older editions.",
)
@click.option(
    "--cache",
    type=click.Path(path_type=Path, file_okay=False),
    envvar="GFSMITH_CACHE",
    help="Cache of kernels and proofs [default: .gfsmith-cache next to the configuration if it exists, else "
    "~/.cache/gfsmith].",
)
@click.option(
    "--depfile",
    "rule",
    type=OutputPath(path_type=Path, dir_okay=False),
    help="Write a make rule here that lists the files on which the output depends.",
)
def command(jobs: int, form: str, cache: Path | None, rule: Path | None, **options: Any) -> None:
    """Write sources that build without gfsmith (runtime and kernels) to -o FOLDER or -o FILE.tar.xz.

    With --prefix P every name begins with P: P.h, P_encode. Libraries with different prefixes link into one
    program.
    """
    from gfsmith.build import output, request, stages
    from gfsmith.export.depfile import depfile
    from gfsmith.export.documents import documents

    _check_name(options["folder"])
    asked, target = request.load(**options)
    packed = target.name.endswith(ARCHIVE)
    names = _names(asked.specs[0].prefix)
    if target.name == ARCHIVE:
        fail(f"-o {target}: the archive needs a name before {ARCHIVE}")
    folder = target.name.removesuffix(ARCHIVE)
    package = form if form in ("go", "rust") else None
    if package is not None:
        asked = _for_package(asked, form, folder)
    _check_places(target, packed, rule)
    made = stages.make(asked, jobs, cache or shared_cache(options["path"]), progress, package)
    written = _sources(form, made, names, folder)
    if form == "tree" or (packed and form == "amalgamation"):
        written |= documents(form, made.kernels, names, written.keys())
    record = output.manifest(made.kernels, written)
    if packed:
        pack(target, written | {output.MANIFEST: record})
    else:
        _not_of_gen(target)
        output.write(target, written, record)
    if rule is not None:
        main = f"{names.library}.c" if form == "amalgamation" else output.MANIFEST
        depfile(rule, target if packed else target / main, request.inputs(options["path"]))
    print(f"{target}: {counted(len(made.kernels), 'kernel')}, all proved; {len(written) + 1} files")


def _check_places(target: Path, packed: bool, rule: Path | None) -> None:
    """Raise OutputError before the work if the output or the depfile cannot be written, or if a file of the
    user is there."""
    from gfsmith.build import output
    from gfsmith.export.depfile import is_depfile

    if packed:
        output.check_replaceable(target, _is_packed)
    else:
        output.read_manifest(target)
    if rule is not None:
        output.check_replaceable(rule, is_depfile)
    output.check_writable(target.parent if packed else target, target)


def _sources(form: str, made: stages.Made, names: Names, folder: str) -> dict[str, str]:
    """Return path -> text. folder: the name of the Go package."""
    from gfsmith.build import output
    from gfsmith.export.amalgamation import amalgamate
    from gfsmith.export.packages import go, rust
    from gfsmith.export.tree import tree

    if form == "tree":
        return tree(made.kernels, made.files, names)
    if form == "amalgamation":
        return amalgamate(made.kernels, made.files, names)
    package = go(made.kernels, folder) if form == "go" else rust(made.kernels)
    return package | {output.PROOFS: made.files[output.PROOFS]}


def _for_package(asked: request.Build, form: str, folder: str) -> request.Build:
    """Return the build of a Go package, whose name is that of its folder, or of a Rust module."""
    from gfsmith.export.packages import PackageError, check_package, narrowed

    try:
        if form == "go":
            check_package(folder)
    except PackageError as error:
        fail(str(error))
    return narrowed(asked, form)


def _names(prefix: str) -> Names:
    try:
        return Names(prefix)
    except PrefixError as error:
        fail(str(error))


def _not_of_gen(folder: Path) -> None:
    from gfsmith.build import output

    if output.OF_GEN in output.read_manifest(folder).get("files", {}):
        fail(f"{folder}: holds the output of `gfsmith gen`; name another folder")


def _is_packed(path: Path) -> bool:
    """Return whether a file is an archive of `pack`, perhaps under another name."""
    from gfsmith.build import output

    try:
        with tarfile.open(path, "r:xz") as archive:
            return any(PurePath(entry.name).parts[1:] == (output.MANIFEST,) for entry in archive)
    except (tarfile.TarError, lzma.LZMAError, EOFError):
        return False


def pack(target: Path, files: Mapping[str, str]) -> None:
    """Write a tar archive of the files' texts, in a folder with the archive's name. Raises OutputError."""
    from gfsmith.build import output

    folder = target.name.removesuffix(ARCHIVE)
    try:
        with replacing(target) as stage, tarfile.open(stage, "w:xz", format=tarfile.PAX_FORMAT) as archive:
            for path, text in sorted(files.items()):
                content = text.encode()
                entry = tarfile.TarInfo(f"{folder}/{path}")
                entry.size, entry.mode = len(content), _READABLE
                archive.addfile(entry, io.BytesIO(content))
    except OSError as error:
        raise output.OutputError(f"cannot write {target}: {error.strerror}") from None
