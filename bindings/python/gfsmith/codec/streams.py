"""Shard streams: files and pipes as k + m shards with checksums, in one pass and with bounded memory.

The format is that of docs/shard-format.md, so `gfsmith-shards` and the C library read the same streams. A
stream is a path, or a binary file object that blocks: with `readinto` or `read` if it is read, with `write`
if it is written. The paths that a call writes get their contents when it succeeds, after all of them are on
disk; a call that fails leaves none of the new ones. Write a new generation to new paths: if paths exist, a
crash between two replacements leaves shards of both generations. None is a missing shard.

>>> import io
>>> from gfsmith import streams
>>> shards = [io.BytesIO() for _ in range(6)]
>>> streams.split(io.BytesIO(b"some text"), shards, k=4, m=2, name="text")
9
>>> for shard in shards:
...     _ = shard.seek(0)
>>> out = io.BytesIO()
>>> streams.join(shards[2:], out).length
9
>>> out.getvalue()
b'some text'
"""

from __future__ import annotations

import io
import os
import re
import stat
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, BinaryIO, TypeAlias, TypeVar, cast

from gfsmith.codec import _native
from gfsmith.codec.codec import Codec
from gfsmith.codec.coding import integer
from gfsmith.codec.construction import MAX_SHARDS
from gfsmith.codec.errors import InvalidError, of_status
from gfsmith.codec.outputs import Outputs, folder_of, ready, write_all

Stream: TypeAlias = "str | os.PathLike[str] | BinaryIO"
_T = TypeVar("_T")
Progress: TypeAlias = "Callable[[int], object] | None"

_INDEX = re.compile(r"\.g\d+\.(\d{3})\.gfs$")
_HEADER = struct.Struct("<8sII16sQIIIIIIII32s256s")


@dataclass(frozen=True, slots=True)
class ShardState:
    """The state of one shard. source: its position among the streams, None if it is missing. read: the call
    needed it."""

    source: int | None
    header_damaged: bool
    trailer_damaged: bool
    too_long: bool
    unreadable: bool
    read: bool
    bad_blocks: int

    @property
    def intact(self) -> bool:
        """No damage was found."""
        damaged = self.header_damaged or self.trailer_damaged or self.too_long or self.unreadable
        return self.source is not None and not damaged and self.bad_blocks == 0


@dataclass(frozen=True, slots=True)
class Report:
    """The set and the state of its shards. lost_stripes: stripes that cannot be repaired. false_stripes:
    complete stripes whose parities do not match the data. checksum: XXH3-128 of the original."""

    code: str
    k: int
    m: int
    l: int  # noqa: E741  # the name in the format
    block: int
    content: int
    generation: int
    set_id: bytes
    name: bytes
    length: int
    stripes: int
    checksum: bytes
    lost_stripes: int
    false_stripes: int
    shards: tuple[ShardState, ...]

    @property
    def intact(self) -> bool:
        """All shards are present and without damage, and the parities match the data."""
        return all(shard.intact for shard in self.shards) and self.false_stripes == 0


def _is_path(stream: Stream) -> bool:
    return isinstance(stream, (str, os.PathLike))


def _reader(stream: Stream, stack: ExitStack) -> Callable[[memoryview], int]:
    file: Any = stream
    if _is_path(stream):
        file = stack.enter_context(open(cast("str", stream), "rb", 0))  # noqa: PTH123, SIM115
    readinto = getattr(file, "readinto", None)
    if readinto is not None:
        return lambda view: cast("int", ready(readinto(view), file))
    _require(file, "read")

    def read(view: memoryview) -> int:
        data = ready(file.read(len(view)), file)
        view[: len(data)] = data
        return len(data)

    return read


def _require(file: object, method: str) -> None:
    if not hasattr(file, method):
        raise TypeError(f"{file!r}: must be a path or a file object with {method}()")
    if isinstance(file, io.TextIOBase):
        raise TypeError(f"{file!r}: reads or writes text; allowed: a path or a file object of bytes")


def _require_distinct(outputs: Sequence[Stream]) -> None:
    """Raise if one path or file object would receive two shards."""
    places: list[object] = []
    for output in outputs:
        path = cast("str", output)
        place = (folder_of(path), os.path.basename(path)) if _is_path(output) else id(output)  # noqa: PTH119
        if place in places:
            raise InvalidError(f"{output!r}: named for two shards; allowed: an output of its own for each")
        places.append(place)


def _file(stream: Stream | None) -> object:
    """Return the identity of the file of a stream. None means no file, or a pipe or socket."""
    if stream is None:
        return None
    if _is_path(stream):
        path = cast("str", stream)
        return _inode(os.stat(path)) if os.path.exists(path) else None  # noqa: PTH110, PTH116
    try:
        state = os.fstat(cast("BinaryIO", stream).fileno())
    except (AttributeError, OSError):
        return id(stream)
    return _inode(state) if stat.S_ISREG(state.st_mode) else None


def _inode(state: os.stat_result) -> tuple[int, int]:
    return state.st_dev, state.st_ino


def _require_not_read(outputs: Iterable[Stream], inputs: Iterable[Stream | None]) -> None:
    """Raise for an output that would replace a file which the call reads."""
    read = set(map(_file, inputs)) - {None}
    for output in outputs:
        if _file(output) in read:
            raise InvalidError(f"{output!r}: is read by this call; allowed: another output")


def _writer(stream: Stream, outputs: Outputs) -> Callable[[memoryview], None]:
    file = outputs.open(cast("str", stream)) if _is_path(stream) else cast("BinaryIO", stream)
    _require(file, "write")
    return lambda view: write_all(file, view)


def _index(stream: Stream) -> int:
    """Return the index in the name of a path, or -1."""
    found = _INDEX.search(os.fspath(cast("str", stream))) if _is_path(stream) else None
    return int(found[1]) if found else -1


def _listed(shards: Sequence[_T]) -> Sequence[_T]:
    """Return `shards`. Raises TypeError for no sequence, and for one path, which is a sequence of letters."""
    if isinstance(shards, (str, bytes, os.PathLike)) or not isinstance(shards, Iterable):
        raise TypeError(f"shards: {shards!r}; allowed: a sequence with a path or file object for each shard")
    return shards


def _raise(status: int) -> None:
    if status != 0:
        raise of_status(status, _native.streams_strerror(status))


def _check_code(code: str, k: int, m: int, l: int) -> None:  # noqa: E741
    """Raise the errors of a codec, which name the allowed values."""
    if code != "lrc":
        Codec(code, k, m)
        if l != 0:
            raise InvalidError(f"l = {l}: must be 0, since {code} has no groups; lrc has")
    elif not 1 <= l < m:
        raise InvalidError(f"l = {l}: with lrc the number of groups, 1 or more and less than m = {m}")
    else:
        Codec.lrc(k, l, m - l)


def split(
    original: Stream,
    shards: Sequence[Stream],
    *,
    k: int,
    m: int,
    code: str = "cauchy",
    l: int = 0,  # noqa: E741
    block: int = 65536,
    name: str | bytes = "",
    content: int = 0,
    generation: int = 1,
    set_id: bytes | None = None,
    progress: Progress = None,
) -> int:
    """Encode `original`, read to its end, into k + m shards, and return its length.

    l: the groups of the code lrc. content: 1 for a tar archive of a folder. set_id: 16 bytes; default:
    random. progress is called with the bytes done so far."""
    _check_code(code, k, m, l)
    for key, value, bits in (("block", block, 32), ("content", content, 32), ("generation", generation, 53)):
        if not 0 <= value < 2**bits:
            raise of_status(-1, f"{key} = {value}: must be 0 to 2^{bits} - 1")
    identity = os.urandom(16) if set_id is None else set_id
    try:
        header = _native.streams_header(
            code, k, m, l, block, content, generation, identity, os.fsencode(name)
        )
    except InvalidError as error:
        given = f"block = {block}, content = {content}, generation = {generation}, name = {name!r}"
        raise InvalidError(f"{given}: {error}") from None
    _require_distinct(_listed(shards))
    _require_not_read(shards, [original])
    with ExitStack() as stack, Outputs() as outputs:
        source = _reader(original, stack)
        sinks = tuple(_writer(shard, outputs) for shard in shards)
        status, length = _native.streams_split(header, source, sinks, progress)
        _raise(status)
    return length


def _state(
    source: int, head: int, trailer: int, long: int, unreadable: int, read: int, bad: int
) -> ShardState:
    damage = (bool(head), bool(trailer), bool(long), bool(unreadable))
    return ShardState(None if source < 0 else source, *damage, bool(read), bad)


def _read(
    shards: Sequence[Stream | None], original: Any, sinks: tuple[Any, ...] | None, progress: Progress
) -> Report:
    given = [(place, shard) for place, shard in enumerate(_listed(shards)) if shard is not None]
    with ExitStack() as stack:
        readers = tuple(_reader(shard, stack) for _, shard in given)
        indices = tuple(_index(shard) for _, shard in given)
        found = _native.streams_read(readers, indices, original, sinks, progress)
    status, raw, length, stripes, checksum, lost, false, states, mixed = found
    if status == -36:
        first, second = (given[number][0] for number in mixed)
        raise of_status(status, f"shards[{first}] and shards[{second}]: {_native.streams_strerror(status)}")
    if states and sinks is not None and len(sinks) > len(states):
        raise InvalidError(f"rebuilt: shard {len(sinks) - 1}; the set has shards 0 to {len(states) - 1}")
    _raise(status)
    *_, set_id, generation, _, content, _, k, m, groups, block, _, code, name = _HEADER.unpack_from(raw)
    return Report(
        *(code.rstrip(b"\0").decode(), k, m, groups, block, content, generation, set_id),
        *(name.rstrip(b"\0"), length, stripes, checksum, lost, false),
        tuple(_state(source if source < 0 else given[source][0], *damage) for source, *damage in states),
    )


def verify(shards: Sequence[Stream | None], *, progress: Progress = None) -> Report:
    """Read all shards, in any order, and check everything.

    Damage is in the report. Raises ShardFormatError, MixedShardsError, and DamagedShardsError if no trailer
    is intact or the original does not have its checksum."""
    return _read(shards, None, None, progress)


def join(shards: Sequence[Stream | None], original: Stream, *, progress: Progress = None) -> Report:
    """Write the original. Raises the errors of verify, and TooManyLostError or SingularError.

    A file object may have received the beginning of the original before an error, each byte checked."""
    _require_not_read([original], _listed(shards))
    with Outputs() as outputs:
        return _read(shards, _writer(original, outputs), None, progress)


def repair(
    shards: Sequence[Stream | None], rebuilt: Mapping[int, Stream], *, progress: Progress = None
) -> Report:
    """Write complete shards: `rebuilt` maps an index to a stream, which may be the path of the damaged shard.
    The errors are those of join."""
    if not isinstance(rebuilt, Mapping):
        raise TypeError(f"rebuilt: {rebuilt!r}; allowed: a mapping of indices to paths or file objects")
    for index in rebuilt:
        if not 0 <= integer("rebuilt: index", index) < MAX_SHARDS:
            raise InvalidError(f"rebuilt: index {index}: must be from 0 to {MAX_SHARDS - 1}")
    _require_distinct(list(rebuilt.values()))
    # File objects are written at once; paths are compared when the index of each shard is known.
    _require_not_read([one for one in rebuilt.values() if not _is_path(one)], _listed(shards))
    with Outputs() as outputs:
        wanted = {index: _writer(stream, outputs) for index, stream in rebuilt.items()}
        sinks = tuple(wanted.get(index) for index in range(max(wanted, default=-1) + 1))
        report = _read(shards, None, sinks, progress)
        for index, stream in rebuilt.items():
            others = [state.source for place, state in enumerate(report.shards) if place != index]
            _require_not_read([stream], [shards[source] for source in others if source is not None])
        return report
