"""Atomic output of a build: all files are written or none, and stale files are removed.

MANIFEST.json lists the files that `gen` wrote. It is written last, and only files in an earlier manifest are
ever removed.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import signal
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, TypeAlias

from gfsmith import __version__
from gfsmith.build.places import output_folder
from gfsmith.prove.verdict import METHOD_MACHINE, METHOD_PROGRAM

if TYPE_CHECKING:
    from gfsmith.build.generate import Kernel
    from gfsmith.build.prove_kernels import Certificate

Certificates: TypeAlias = "Mapping[tuple[str, str], Certificate]"

MANIFEST = "MANIFEST.json"
PROOFS = "PROOFS.json"


class OutputError(Exception):
    """The output folder cannot be written, or contains files that gfsmith did not write."""


def _json(data: Any) -> str:
    return json.dumps(data, indent=1, sort_keys=False) + "\n"


def manifest(kernels: Sequence[Kernel], files: Mapping[str, str]) -> str:
    """Return the text of MANIFEST.json: kernels with size, digest and proof, and the digests of all files."""
    return _json(
        {
            "generator": f"gfsmith {__version__}",
            "kernels": [
                {
                    "symbol": kernel.spec.symbol,
                    "isa": kernel.spec.isa.name,
                    "bytes": kernel.size,
                    "sha256": kernel.digest,
                    "proof": methods(kernel),
                    **_code(kernel),
                }
                for kernel in kernels
            ],
            "files": {path: _digest(text) for path, text in sorted(files.items())},
        }
    )


def _code(kernel: Kernel) -> dict[str, Any]:
    """Return size and SHA-256 of the machine code of each ABI, which packaging/check_linked.py compares with
    linked functions; nothing for C."""
    code = {
        abi: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        for abi, data in kernel.code.items()
    }
    return {"code": code} if code else {}


def methods(kernel: Kernel) -> list[str]:
    """Return the proof methods of a written kernel."""
    return [METHOD_PROGRAM, METHOD_MACHINE] if kernel.code else [METHOD_PROGRAM]


def proofs(
    kernels: Sequence[Kernel], certificates: Certificates, routines: Sequence[Mapping[str, Any]]
) -> str:
    """Return the text of PROOFS.json: one record for each kernel and ABI, and those of the algebra routines.

    instructions: instructions of the machine code. covered: those that the proof reached.
    """
    records = [_proof(k, abi, certificates) for k in kernels for abi in k.abis]
    return _json({"kernels": records, "routines": list(routines)})


def _proof(kernel: Kernel, abi: str, certificates: Certificates) -> dict[str, Any]:
    record: dict[str, Any] = {
        "symbol": kernel.spec.symbol,
        "isa": kernel.spec.isa.name,
        "abi": abi,
        "status": kernel.verdict.status.value,
        "method": methods(kernel),
    }
    certificate = certificates.get((kernel.spec.symbol, abi))
    if certificate is not None:
        record["instructions"] = certificate.instructions
        record["covered"] = certificate.covered
    return record


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest of a folder, empty if there is none. Raises OutputError if it is invalid."""
    path = folder / MANIFEST
    try:
        pipe = path.exists() and not path.is_file() and not path.is_dir()  # its reading would not end
        data = None if pipe else json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except NotADirectoryError:
        file = next(path for path in (folder, *folder.parents) if path.exists())
        raise OutputError(f"{path}: {file} is not a folder") from None
    except OSError as error:
        raise OutputError(f"{path}: cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError):
        data = None
    if (
        not isinstance(data, dict)
        or not isinstance(data.get("files"), dict)
        or not _are_inside(data["files"])
    ):
        raise OutputError(f"{path}: not a manifest of gfsmith; name another folder, or move the file")
    return data


def _are_inside(paths: Iterable[str]) -> bool:
    """Return whether paths stay in their folder. A manifest can be that of another user, and the files that
    it names are removed."""
    return not any(
        "\0" in path or PurePath(path).is_absolute() or ".." in PurePath(path).parts for path in paths
    )


OF_GEN = "kernels.inc"  #: a file of every output of `gfsmith gen`, and of no export's folder


def check_folder(folder: Path) -> None:
    """Raise OutputError if `gen` must not write into the folder, whose stale files it removes."""
    files = read_manifest(folder).get("files", {})
    if files and OF_GEN not in files:
        raise OutputError(f"{folder}: holds the output of `gfsmith export`; name another folder")


def check_writable(folder: Path, output: Path) -> None:
    """Raise OutputError if `folder` does not exist and cannot be created, or takes no files; to be called
    before the work for `output`. Writes nothing that stays."""
    there = next(path for path in (folder, *folder.parents) if path.exists())
    try:
        with tempfile.TemporaryFile(dir=there):
            pass
    except OSError as error:
        raise OutputError(f"cannot write {output}: {error.strerror}") from None


def is_of_the_user(path: Path, is_own: Callable[[Path], bool]) -> bool:
    """Return whether there is a file that this program, by `is_own`, did not write and that is not empty."""
    return path.is_file() and path.stat().st_size > 0 and not is_own(path)


def check_replaceable(path: Path, is_own: Callable[[Path], bool]) -> None:
    """Raise OutputError if a file of the user is there; to be called before the work."""
    if is_of_the_user(path, is_own):
        raise OutputError(f"{path}: exists and is not from gfsmith; name another file, or move this one")


def orphans(folder: Path, known: Mapping[str, Any]) -> list[str]:
    """Return the files in the folder that the manifest does not name, sorted."""
    nested = [manifest.parent for manifest in folder.glob(f"*/**/{MANIFEST}")]
    files = (p for p in folder.rglob("*") if p.is_file() and not any(map(p.is_relative_to, nested)))
    present = (p.relative_to(folder).as_posix() for p in files)
    return sorted(p for p in present if p not in known and p not in (MANIFEST, ".gitignore"))


#: The text in the first line of every generated file with comments.
_MARK = 'Generated by "gfsmith gen"'
#: The first line and the first key of PROOFS.json.
_PROOFS_BEGIN = b'{\n "kernels": ['


#: The longest first line that is read: a file of the user may be large and have no lines.
_LINE = 4096


def _is_generated(path: Path) -> bool:
    """Return whether the first line of a file states that this program wrote it. A file that cannot be read
    does not."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return _MARK in file.readline(_LINE)
    except PermissionError:
        return False


def _is_own(path: Path) -> bool:
    """Return whether this program wrote a file that may remain without a manifest. PROOFS.json has no
    comment."""
    return _is_generated(path) or (path.name == PROOFS and path.read_bytes().startswith(_PROOFS_BEGIN))


def _stale(folder: Path, files: Mapping[str, str], recorded: Mapping[str, Any]) -> list[str]:
    """Return the files of earlier runs. The recorded ones do not suffice: the manifest may be newer than the
    other files, since a pull of a repository replaces only the manifest. Without a manifest, or in a folder
    into which the generator does not write, a generated file is a copy of the user."""
    folders = {PurePath(path).parent for path in (*files, *recorded)} if recorded else set()
    left = [
        path
        for path in orphans(folder, {**files, **recorded})
        if PurePath(path).parent in folders and _is_generated(folder / path)
    ]
    there = (p for p in recorded if p not in files and os.path.lexists(folder / p))
    return [*(path for path in there if _is_below(folder / path, folder)), *left]


def _is_below(path: Path, folder: Path) -> bool:
    """Return whether no symbolic link on the way leads out of the folder; the path itself may be one."""
    return Path(os.path.realpath(path.parent)).is_relative_to(os.path.realpath(folder))


def _check_below(folder: Path, files: Iterable[str]) -> None:
    """Raise OutputError if a symbolic link leads a file out of the folder, which can be that of another
    user."""
    for path in sorted(files):
        if not _is_below(folder / path, folder):
            raise OutputError(f"{folder / path}: is behind a symbolic link that leads out of {folder}")


def differences(folder: Path, files: Mapping[str, str]) -> list[str]:
    """Return the differences of the folder from `files`: one line for each missing, changed or orphaned
    file."""
    found = []
    for path, text in sorted(files.items()):
        if not os.path.lexists(folder / path):
            found.append(f"{path}: missing")
        elif not _has_text(folder / path, text):
            found.append(f"{path}: differs from the generator's output")
    return found + [f"{path}: not an output of the generator" for path in _foreign(folder, files)]


def _has_text(path: Path, text: str) -> bool:
    """Return whether a file has this text, with the ends of lines of any system. A pipe is not read."""
    return path.is_file() and path.read_text(encoding="utf-8", errors="replace") == text


def _foreign(folder: Path, files: Mapping[str, str]) -> list[str]:
    """Return the files that look like the generator's and are not: those that state it, and those in a
    subfolder into which it writes. All others are the user's: the folder may be that of a project."""
    own = {PurePath(path).parent for path in files} - {PurePath()}
    return [p for p in orphans(folder, files) if PurePath(p).parent in own or _is_generated(folder / p)]


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Block SIGINT and SIGTERM while files are renamed."""
    held = {signal.SIGINT, signal.SIGTERM}
    old = signal.pthread_sigmask(signal.SIG_BLOCK, held)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, old)


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Let other runs that write the folder wait: the files of one could depend on changes of the other. Some
    file systems have no locks."""
    held = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(held, fcntl.LOCK_EX)
        yield
    finally:
        os.close(held)


def _is_same(path: Path, text: str) -> bool:
    return path.is_file() and path.read_bytes() == text.encode()


def write(folder: Path, files: Mapping[str, str], record: str) -> int:
    """Make the folder contain exactly `files` and the manifest `record`. Returns the number of changed files.

    All files are written to a temporary folder in it, since it may be a mount point, and renamed when they
    are complete on disk. Unchanged files keep their time stamps. Raises OutputError and then leaves the
    folder as it was.
    """
    try:
        with output_folder(folder), _alone(folder):
            _check_below(folder, files)
            old = read_manifest(folder).get("files", {})
            changed = {p: t for p, t in files.items() if not _is_same(folder / p, t)}
            _check_unclaimed(folder, changed, old)
            stale = _stale(folder, files, old)
            with tempfile.TemporaryDirectory(dir=folder, prefix=".gfsmith-") as staging:
                stage = Path(staging)
                for path, text in {**changed, MANIFEST: record}.items():
                    (stage / path).parent.mkdir(parents=True, exist_ok=True)
                    (stage / path).write_text(text, encoding="utf-8", newline="\n")
                with _uninterrupted():
                    _commit(folder, stage, [*changed, MANIFEST], stale)
    except OSError as error:
        raise OutputError(f"cannot write {folder}: {error.strerror}") from None
    return len(changed)


def _check_unclaimed(folder: Path, changed: Mapping[str, str], recorded: Mapping[str, Any]) -> None:
    """Raise OutputError if a file of the user is in the way, or a pipe, which would not end, or a folder."""
    for path in sorted(changed):
        there = folder / path
        if there.exists() and not there.is_file():
            raise OutputError(f"{there}: is in the way, and no file; name another folder, or move it")
        if path not in recorded and there.is_file() and not _is_own(there):
            raise OutputError(
                f"{there}: exists and is not from gfsmith; name another folder, or move the file"
            )


def _commit(folder: Path, stage: Path, changed: Sequence[str], stale: Sequence[str]) -> None:
    for path in changed:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (stage / path).replace(folder / path)
    for path in stale:
        (folder / path).unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            (folder / path).parent.rmdir()
