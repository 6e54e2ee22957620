"""`gfsmith export`: sources that build without gfsmith."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from gfsmith import build, output, request
from gfsmith.console import fail
from gfsmith.export.amalgamation import amalgamate
from gfsmith.export.depfile import depfile
from gfsmith.export.documents import documents
from gfsmith.export.golang import check_package, golang, narrowed
from gfsmith.export.names import Names, PrefixError
from gfsmith.export.tree import tree
from gfsmith.files import replacing
from gfsmith.generate import Kernel

FORMS = ("tree", "amalgamation", "go")
ARCHIVE = ".tar.xz"
_READABLE = 0o644
_OF_GEN = "kernels.inc"  #: what `gen` writes in any case, and an export never at the top


@click.command("export")
@request.options
@build.jobs_option
@click.option(
    "--form",
    type=click.Choice(FORMS),
    default="amalgamation",
    show_default=True,
    help="One source and header, a folder with build files, or a Go package without cgo.",
)
@click.option(
    "--cache",
    type=click.Path(path_type=Path, file_okay=False),
    envvar="GFSMITH_CACHE",
    help="Where kernels and proofs are kept [default: .gfsmith-cache beside the configuration if it is "
    "there, else the user's, ~/.cache/gfsmith].",
)
@click.option(
    "--depfile",
    "rule",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write here what the output was made from, as a rule of make.",
)
def export_(jobs: int, form: str, cache: Path | None, rule: Path | None, **options: Any) -> None:
    """Write sources that build without gfsmith: runtime and kernels, for -o FOLDER or FILE.tar.xz.

    With --prefix P every name begins with P: P.h, P_encode. Libraries of two prefixes link into one program.
    """
    if options["folder"] is None:
        fail(f"-o: name a folder, or a file that ends in {ARCHIVE}")
    asked, target = request.load(**options)
    packed = target.name.endswith(ARCHIVE)
    names = _names(asked.specs[0].prefix)
    if target.name == ARCHIVE:
        fail(f"-o {target}: the archive needs a name in front of {ARCHIVE}")
    folder = target.name.removesuffix(ARCHIVE)
    if form == "go":
        check_package(folder)
        asked = narrowed(asked)
    made = build.make(asked, jobs, cache or build.shared_cache(options["path"]))
    kernels, written = _sources(form, made, names, folder)
    if form == "tree" or (packed and form == "amalgamation"):
        written |= documents(form, kernels, names)
    record = output.manifest(kernels, written)
    if packed:
        pack(target, written | {output.MANIFEST: record})
    else:
        _unclaimed(target, written)
        output.write(target, written, record)
    if rule is not None:
        main = f"{names.library}.c" if form == "amalgamation" else output.MANIFEST
        depfile(rule, target if packed else target / main, request.inputs(options["path"]))
    print(f"{target}: {len(kernels)} kernels, all proved; {len(written) + 1} files")


def _sources(
    form: str, made: build.Made, names: Names, folder: str
) -> tuple[Sequence[Kernel], dict[str, str]]:
    """The kernels that the form can hold, and path -> text. folder: the name of a Go package."""
    if form == "tree":
        return made.kernels, tree(made.kernels, made.files, names)
    if form == "amalgamation":
        return made.kernels, amalgamate(made.kernels, made.files, names)
    kernels, written = golang(made.kernels, folder)
    return kernels, written | {output.PROOFS: made.files[output.PROOFS]}


def _names(prefix: str) -> Names:
    try:
        return Names(prefix)
    except PrefixError as error:
        fail(str(error))


def _unclaimed(folder: Path, files: Mapping[str, str]) -> None:
    """Refuse a folder where a file of the user's, or what `gen` wrote, would be lost."""
    own = output.read_manifest(folder).get("files", {})
    if _OF_GEN in own:
        fail(f"{folder}: holds what `gfsmith gen` wrote; name another folder")
    for path in sorted(files):
        there = folder / path
        if path not in own and there.is_file() and there.read_bytes() != files[path].encode():
            fail(f"{there}: is there already, and not of an export; name another folder, or move it")


def pack(target: Path, files: Mapping[str, str]) -> None:
    """A tar archive of nothing but the files' texts, in a folder of its own name. Raises OutputError."""
    folder = target.name.removesuffix(ARCHIVE)
    try:
        with replacing(target) as stage, tarfile.open(stage, "w:xz", format=tarfile.PAX_FORMAT) as archive:
            for path, text in sorted(files.items()):
                content = text.encode()
                entry = tarfile.TarInfo(f"{folder}/{path}")
                entry.size, entry.mode = len(content), _READABLE
                archive.addfile(entry, io.BytesIO(content))
    except OSError as error:
        raise output.OutputError(f"{error.filename or target}: {error.strerror}") from None
