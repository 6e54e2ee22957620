"""The command zfec: a file to share files."""

from __future__ import annotations

import argparse
import io
import sys
from typing import Any, BinaryIO

from gfsmith import __version__
from gfsmith.compat.zfec import _codes, filefec

DEFAULT_K = 3
DEFAULT_M = 8


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Encode a file into share files, some of which are enough to recover the file."
    )
    add = parser.add_argument
    add("inputfile", metavar="INF", type=argparse.FileType("rb"), help='the file, or "-" for stdin')
    add("-d", "--output-dir", metavar="D", default=".", help='folder of the share files (default ".")')
    add("-p", "--prefix", metavar="P", help="prefix of their names (default: the name of the file)")
    add("-s", "--suffix", metavar="S", default=".fec", help='suffix of their names (default ".fec")')
    add("-m", "--totalshares", metavar="M", type=int, default=DEFAULT_M, help="number of share files")
    add("-k", "--requiredshares", metavar="K", type=int, default=DEFAULT_K, help="number of needed ones")
    add("-f", "--force", action="store_true", help="overwrite existing share files")
    add("-v", "--verbose", action="store_true", help="print progress")
    add("-q", "--quiet", action="store_true", help="print no warnings")
    add("-V", "--version", action="version", version=f"gfsmith {__version__}, in place of zfec")
    return parser


def _refuse(message: str) -> None:
    print(message)
    sys.exit(1)


def _check(given: argparse.Namespace) -> None:
    k, m = given.requiredshares, given.totalshares
    if given.verbose and given.quiet:
        _refuse("Please choose only one of --verbose and --quiet.")
    if not 1 <= m <= _codes.MOST_BLOCKS:
        _refuse("Invalid parameters, totalshares is required to be <= 256 and >= 1")
    if not 1 <= k <= m:
        _refuse("Invalid parameters, requiredshares is required to be <= totalshares and >= 1")
    if k == 1 and not given.quiet:
        print("warning: requiredshares == 1: every share is a copy of the file")
    if k == m and not given.quiet:
        print("warning: requiredshares == totalshares: the file needs all shares")


def _measured(file: BinaryIO) -> tuple[BinaryIO, int]:
    """Return a file at its beginning, and its size. A pipe is read into memory."""
    if not file.seekable():
        contents = file.read()
        return io.BytesIO(contents), len(contents)
    size = file.seek(0, io.SEEK_END)
    file.seek(0)
    return file, size


def main() -> Any:
    """Run the command with sys.argv. Returns its exit status."""
    given = _parser().parse_args()
    _check(given)
    if given.prefix is None:
        given.prefix = "" if given.inputfile.name == "<stdin>" else given.inputfile.name
    with given.inputfile:
        file, size = _measured(given.inputfile)
        return filefec.encode_to_files(
            file,
            size,
            given.output_dir,
            given.prefix,
            given.requiredshares,
            given.totalshares,
            given.suffix,
            given.force,
            given.verbose,
        )


if __name__ == "__main__":
    sys.exit(main())
