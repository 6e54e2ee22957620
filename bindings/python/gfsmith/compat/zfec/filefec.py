"""Share files of zfec: a header of two to four bytes, then the blocks with one number.

The header has, from the highest bit: m - 1 (8 bits), k - 1 (as many bits as m numbers need), the number of
bytes of padding (as k numbers need), the number of the share (as m numbers need), and zero bits to the end of
its last byte.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from gfsmith.codec.outputs import Outputs, write_all
from gfsmith.compat.zfec import _fec, easyfec

CHUNKSIZE = 4096
FORMAT_FORMAT = "%%s.%%0%dd_%%0%dd%%s"
RE_FORMAT = "%s.[0-9]+_[0-9]+%s"

Callback = Callable[[list[Any], int], object]


class InsufficientShareFilesError(_fec.Error):
    """Fewer share files than k. `k`, `kb`: the numbers of needed and of given ones."""

    def __init__(self, k: int, kb: int, *args: object) -> None:
        super().__init__(*args)
        self.k = k
        self.kb = kb

    def __repr__(self) -> str:
        return (
            f"Insufficient share files -- {self.k} share files are required to recover this file, "
            f"but only {self.kb} were given"
        )

    __str__ = __repr__


class CorruptedShareFilesError(_fec.Error):
    """Share files without a complete header, of different files, or of different lengths."""


def pad_size(n: int, k: int) -> int:
    """Return the number to add to n for the next multiple of k."""
    return -n % k


def _bits(count: int) -> int:
    """Return the number of bits that hold any of `count` numbers."""
    return (count - 1).bit_length()


def _build_header(m: int, k: int, pad: int, sh: int) -> bytes:
    assert 1 <= k <= m <= 256 and 0 <= pad < k and 0 <= sh < m, (m, k, pad, sh)
    value, used = m - 1, 8
    for number, bits in ((k - 1, _bits(m)), (pad, _bits(k)), (sh, _bits(m))):
        value, used = value << bits | number, used + bits
    size = max(2, -(-used // 8))
    return (value << 8 * size - used).to_bytes(size, "big")


class _HeaderReader:
    """Numbers of some bits from a file, of which only the needed bytes are read."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._value = self._held = 0

    def number(self, bits: int) -> int:
        while self._held < bits:
            self._byte()
        self._held -= bits
        return self._value >> self._held & (1 << bits) - 1

    def _byte(self) -> None:
        byte = self._file.read(1)
        if not byte:
            raise CorruptedShareFilesError(
                f"Share files were corrupted -- share file {_name(self._file)!r} didn't have a complete "
                "metadata header at the front.  Perhaps the file was truncated."
            )
        self._value = self._value << 8 | byte[0]
        self._held += 8


def _name(file: BinaryIO) -> str:
    return str(getattr(file, "name", "without a name"))


def _parse_header(inf: BinaryIO) -> tuple[int, int, int, int]:
    """Read a header and return m, k, the number of bytes of padding and the number of the share."""
    reader = _HeaderReader(inf)
    m = reader.number(8) + 1
    k = reader.number(_bits(m)) + 1
    pad, share = reader.number(_bits(k)), reader.number(_bits(m))
    if m == 1:
        reader.number(8)  # a header has at least two bytes
    return m, k, pad, share


def encode_to_files(
    inf: BinaryIO,
    fsize: int,
    dirname: str,
    prefix: str,
    k: int,
    m: int,
    suffix: str = ".fec",
    overwrite: bool = False,
    verbose: bool = False,
) -> int:
    """Encode a file of fsize bytes into m share files, and return 0; 1 after an error, which is printed.

    Existing files are an error unless `overwrite`. After an error all files are as before.
    """
    width = len(str(m))
    form = FORMAT_FORMAT % (width, width)
    paths = [str(Path(dirname) / (form % (prefix, number, m, suffix))) for number in range(m)]
    try:
        with Outputs() as outputs:
            opened = []
            for number, path in enumerate(paths):
                if verbose:
                    print(f"Creating share file {path!r}...")
                if not overwrite and os.path.lexists(path):
                    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
                opened.append(outputs.open(path))
                write_all(opened[-1], memoryview(_build_header(m, k, pad_size(fsize, k), number)))
            _write_shares(inf, fsize, k, m, opened)
    except OSError as error:
        print("Cannot complete because of exception: ")
        print(error)
        print("Cleaning up...")
        return 1
    if verbose:
        print("\nDone!")
    return 0


def _write_shares(inf: BinaryIO, fsize: int, k: int, m: int, shares: Sequence[BinaryIO]) -> None:
    size = 0

    def write(blocks: list[Any], length: int) -> None:
        nonlocal size
        size += length
        if size > fsize:
            _wrong_size(fsize, f"at least: {size}")
        for share, block in zip(shares, blocks, strict=True):
            write_all(share, memoryview(block))

    encode_file_stringy_easyfec(inf, write, k, m, CHUNKSIZE)
    if size < fsize:
        _wrong_size(fsize, f"{size}")


def _wrong_size(size: int, found: str) -> None:
    raise OSError(
        "Wrong file size -- possibly the size of the file changed during encoding.  "
        f"Original size: {size}, observed size {found}"
    )


def decode_from_files(outf: BinaryIO, infiles: Sequence[BinaryIO], verbose: bool = False) -> None:
    """Decode the first k share files, open at their beginnings, into outf.

    Raises CorruptedShareFilesError, InsufficientShareFilesError, Error (two with the same number).
    """
    assert len(infiles) >= 2, "at least two share files are required"
    shares, numbers, (m, k, pad) = _consistent(infiles)
    decoder = easyfec.Decoder(k, m)
    written = 0
    while True:
        chunks = [share.read(CHUNKSIZE) for share in shares]
        if any(len(chunk) != len(chunks[-1]) for chunk in chunks):
            raise CorruptedShareFilesError(
                "Share files were corrupted -- all share files are required to be the same length, "
                "but they weren't."
            )
        if not chunks[-1]:
            break
        decoded = decoder.decode(chunks, numbers, 0)
        write_all(outf, memoryview(decoded))
        written += len(decoded)
    if pad > 0:
        outf.truncate(written - pad)
    if verbose:
        print("\nDone!")


def _consistent(infiles: Sequence[BinaryIO]) -> tuple[list[BinaryIO], list[int], tuple[int, int, int]]:
    """Read headers of k files. Return these files, the numbers of their shares, and m, k and the padding."""
    shares: list[BinaryIO] = []
    numbers: list[int] = []
    common: tuple[int, int, int] | None = None
    for file in infiles:
        *read, number = _parse_header(file)
        found = (read[0], read[1], read[2])
        if common is None:
            common = found
        _compare(file, found, common, len(infiles), first=not shares)
        shares.append(file)
        numbers.append(number)
        if len(shares) == common[1]:
            break
    assert common is not None
    return shares, numbers, common


def _compare(
    file: BinaryIO, found: tuple[int, ...], common: tuple[int, ...], given: int, *, first: bool
) -> None:
    for what, value, before in zip(("m", "k", "pad length"), found, common, strict=True):
        if value != before:
            raise CorruptedShareFilesError(
                f"Share files were corrupted -- share file {_name(file)!r} said that {what} was {value} but "
                f"another share file previously said that {what} was {before}"
            )
        if what == "k" and value > given and not first:
            raise InsufficientShareFilesError(value, given)


def _read(file: BinaryIO, size: int) -> bytes:
    """Read `size` bytes, or fewer at the end of the file: one call of a raw file may return fewer."""
    data = file.read(size)
    while data and len(data) < size and (more := file.read(size - len(data))):
        data += more
    return data


def encode_file_stringy(inf: BinaryIO, cb: Callback, k: int, m: int, chunksize: int = CHUNKSIZE) -> None:
    """Encode k chunks of a file at a time, until a chunk is short, and call cb(blocks, size of the data).

    The missing part of the last k chunks is zeros. After a file of whole segments, one of zeros follows.
    """
    encoder = _fec.Encoder(k, m)
    size = k * chunksize
    while size == k * chunksize:
        data = _read(inf, k * chunksize)
        size = len(data)
        padded = data.ljust(k * chunksize, b"\0")
        cb(encoder.encode([padded[i * chunksize : (i + 1) * chunksize] for i in range(k)]), size)


def encode_file_stringy_easyfec(
    inf: BinaryIO, cb: Callback, k: int, m: int, chunksize: int = CHUNKSIZE
) -> None:
    """Encode k chunks of a file at a time with easyfec, and call cb(blocks, size of the data) for each."""
    encoder = easyfec.Encoder(k, m)
    while data := _read(inf, k * chunksize):
        cb(encoder.encode(data), len(data))
