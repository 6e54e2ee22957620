"""The command zunfec: share files to the file."""

from __future__ import annotations

import argparse
import sys
from contextlib import ExitStack
from pathlib import Path

from gfsmith import __version__
from gfsmith.compat.zfec import filefec


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
    with ExitStack() as opened:
        try:
            output = opened.enter_context(Path(given.outputfile).open("wb" if given.force else "xb"))
        except FileExistsError:
            print(
                f"There is already a file named {given.outputfile!r} -- aborting.  Use --force to overwrite."
            )
            return 2
        # In the order of their names primary blocks, which need no decoding, come first.
        shares = [opened.enter_context(Path(name).open("rb")) for name in sorted(given.sharefiles)]
        try:
            filefec.decode_from_files(output, shares, given.verbose)
        except filefec.InsufficientShareFilesError as error:
            print(error)
            return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
