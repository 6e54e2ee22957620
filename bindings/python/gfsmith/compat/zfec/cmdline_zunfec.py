"""The command zunfec: share files to the file."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

from gfsmith import __version__
from gfsmith.codec.outputs import Outputs
from gfsmith.compat.zfec import _fec, filefec


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Recover a file from share files.")
    add = parser.add_argument
    add("-o", "--outputfile", metavar="OUTF", required=True, help="the file to write")
    add("sharefiles", metavar="SHAREFILE", nargs="*", help="a share file; as many are used as are needed")
    add("-v", "--verbose", action="store_true", help="print progress")
    add("-f", "--force", action="store_true", help="overwrite an existing file")
    add("-V", "--version", action="version", version=f"gfsmith {__version__}, in place of zunfec")
    return parser


def main() -> int:
    """Run the command with sys.argv. Returns its exit status."""
    given = _parser().parse_args()
    if len(given.sharefiles) < 2:
        print("At least two sharefiles are required.")
        return 1
    output = given.outputfile
    if not given.force and os.path.lexists(output):
        print(f"There is already a file named {output!r} -- aborting.  Use --force to overwrite.")
        return 2
    try:
        _decode(output, given.sharefiles, given.verbose)
    except filefec.InsufficientShareFilesError as error:
        print(error)
        return 3
    except (OSError, _fec.Error) as error:
        print(error)
        return 1
    return 0


def _decode(output: str, names: list[str], verbose: bool) -> None:
    """Write the file; after an error an older one is as before."""
    with ExitStack() as opened:
        # In the order of their names primary blocks, which need no decoding, come first.
        shares = [opened.enter_context(Path(name).open("rb")) for name in sorted(names)]
        if Path(output).exists() and any(Path(output).samefile(name) for name in names):
            raise _fec.Error(f"{output!r} is one of the share files -- aborting.  Name another output file.")
        if Path(output).exists() and not Path(output).is_file():  # a device or pipe
            file: BinaryIO = opened.enter_context(Path(output).open("wb"))
        else:
            file = opened.enter_context(Outputs()).open(output)
        filefec.decode_from_files(file, shares, verbose)


if __name__ == "__main__":
    sys.exit(main())
