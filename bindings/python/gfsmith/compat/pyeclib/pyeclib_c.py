"""The module pyeclib_c: PyECLib's interface to liberasurecode.

Its functions take a handle of `init`. `core` calls them, and PyECLib's own tests.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from gfsmith.codec.errors import SingularError, TooManyLostError
from gfsmith.compat.pyeclib import _fragment
from gfsmith.compat.pyeclib._backends import BACKENDS, MOST_FRAGMENTS, Backend, code_of
from gfsmith.compat.pyeclib._codes import Code, Shard, Xors
from gfsmith.compat.pyeclib._fragment import CRC32, HEADER, METADATA, NONE, Fragment, Metadata
from gfsmith.compat.pyeclib.errors import (
    ECBackendInstanceNotAvailable,
    ECBackendNotSupported,
    ECDriverError,
    ECInsufficientFragments,
    ECInvalidFragmentMetadata,
    ECInvalidParameter,
    ECOutOfMemory,
)

_UNAVAILABLE = {5: "shss", 8: "libphazr"}
_NAMES = {0: "null", 8: "libphazr"} | {number: backend.name for number, backend in BACKENDS.items()}

_INTEGERS = range(-(1 << 31), 1 << 31)  #: of C

#: Texts of errors, and their classes.
_ARGUMENTS = "Invalid arguments", ECInvalidParameter
_METADATA = "Fragment integrity check failed", ECInvalidFragmentMetadata
_TOO_FEW = "Insufficient number of fragments", ECInsufficientFragments
_NO_BACKEND = "Backend not supported", ECBackendNotSupported
_NO_INSTANCE = "Backend instance not found", ECBackendInstanceNotAvailable
_MEMORY = "Out of memory", ECOutOfMemory
_UNKNOWN = "Unknown error", ECDriverError


def _refuse(where: str, error: tuple[str, type[ECDriverError]]) -> NoReturn:
    text, kind = error
    raise kind(f"{where} ERROR: {text}. Please inspect syslog for liberasurecode error report.")


@dataclass(frozen=True)
class _Instance:
    """The contents of a handle."""

    backend: Backend
    code: Code
    k: int
    n: int
    checksum_type: int

    def fragment(self, index: int, payload: Shard, whole: int) -> bytes:
        """Return a fragment of `whole` bytes of data."""
        kind, backend = self.checksum_type, self.backend
        checksum = _fragment.checksum_of(kind, payload)
        identity = 0, backend.number, backend.version
        return _fragment.made(Metadata(index, len(payload), 0, whole, kind, checksum, *identity), payload)

    def wrote(self, metadata: Metadata) -> bool:
        """Return whether an instance like this one wrote the fragment."""
        written = metadata.backend, metadata.backend_version
        return metadata.index < self.n and written == (self.backend.number, self.backend.version)


def check_backend_available(number: int) -> bool:
    """Return whether there is a backend with this number."""
    return number in BACKENDS


def get_liberasurecode_version() -> int:
    """Return the version of liberasurecode whose fragments these are."""
    return _fragment.VERSION


def _integers(where: str, *values: object) -> None:
    for value in values:
        if not isinstance(value, int) or value not in _INTEGERS:
            _refuse(where, _ARGUMENTS)


def init(
    k: int,
    m: int,
    backend_id: int,
    hd: int = 0,
    inline_chksum: int = 0,
    algsig_chksum: int = 0,
    validate: int = 0,
) -> _Instance:
    """Return a handle for k data fragments and m parities. validate: no effect, nothing is loaded."""
    where = "pyeclib_c_init"
    _integers(where, k, m, backend_id, hd, inline_chksum, algsig_chksum, validate)
    if backend_id not in BACKENDS and backend_id not in _UNAVAILABLE:
        _refuse(where, _NO_BACKEND)
    if k < 1 or m < 1 or k + m > MOST_FRAGMENTS:
        _refuse(where, _ARGUMENTS)
    if backend_id in _UNAVAILABLE:
        _refuse(where, _NO_INSTANCE)
    backend = BACKENDS[backend_id]
    try:
        code = code_of(backend, k, m, hd)
    except LookupError:
        _refuse(where, _UNKNOWN)
    return _Instance(backend, code, k, k + m, CRC32 if inline_chksum else NONE)


def _instance(where: str, handle: object) -> _Instance:
    if not isinstance(handle, _Instance):
        _refuse(where, _ARGUMENTS)
    return handle


def encode(handle: object, data: bytes) -> list[bytes]:
    """Return all fragments."""
    where = "pyeclib_c_encode"
    instance = _instance(where, handle)
    if not isinstance(data, bytes):
        _refuse(where, _ARGUMENTS)
    size, whole = instance.backend.size(instance.k, len(data)), len(data)
    shards: list[Shard] = []
    for start in range(0, instance.k * size, size) if size else [0] * instance.k:
        shard: Shard = memoryview(data)[start : start + size]
        shards.append(shard if len(shard) == size else bytes(shard).ljust(size, b"\0"))
    shards.extend(instance.code.encode(shards) if size else [b""] * (instance.n - instance.k))
    return [instance.fragment(index, shard, whole) for index, shard in enumerate(shards)]


def _parsed(where: str, fragments: object) -> list[Fragment]:
    """Read fragments, whose headers must be intact."""
    if not isinstance(fragments, list):
        _refuse(where, _ARGUMENTS)
    read = []
    for data in fragments:
        if not isinstance(data, bytes):
            _refuse(where, _ARGUMENTS)
        fragment = Fragment.parse(data)
        if fragment is None or fragment.metadata.index not in _INTEGERS:
            _refuse(where, _METADATA)
        read.append(fragment)
    return read


def _chosen(where: str, instance: _Instance, fragments: Sequence[Fragment]) -> dict[int, Fragment]:
    """Return the data fragments if all are there, otherwise all fragments. They must be of one stripe."""
    found: dict[int, Fragment] = {}
    for fragment in fragments:
        index = fragment.metadata.index
        if index >= instance.n:
            continue
        first = found.setdefault(index, fragment)
        if first is not fragment and first.payload.obj != fragment.payload.obj:
            _refuse(where, _METADATA)
    if len(found) < instance.k:
        _refuse(where, _TOO_FEW)
    data = range(instance.k)
    chosen = {index: found[index] for index in (data if all(map(found.__contains__, data)) else found)}
    stripes = {(each.metadata.whole, each.metadata.size) for each in chosen.values()}
    (whole, size), complete = stripes.pop(), all(each.complete for each in chosen.values())
    if stripes or not complete or whole > instance.k * size or size % instance.backend.unit:
        _refuse(where, _METADATA)
    return chosen


def _rebuilt(
    where: str, instance: _Instance, chosen: dict[int, Fragment], wanted: Sequence[int]
) -> Sequence[Shard]:
    if any(each.metadata.backend != instance.backend.number for each in chosen.values()):
        _refuse(where, _METADATA)
    if not chosen[min(chosen)].metadata.size:
        return [b""] * len(wanted)  # of no data
    try:
        return instance.code.rebuild({index: each.payload for index, each in chosen.items()}, wanted)
    except (SingularError, TooManyLostError):
        _refuse(where, _UNKNOWN)


def decode(
    handle: object,
    fragments: list[bytes],
    fragment_len: int,
    ranges: list[tuple[int, int]] | None = None,
    force_metadata_checks: bool = False,
) -> Any:
    """Return the data, or a list with the bytes of each range (first, last).

    force_metadata_checks: use only fragments whose backend, versions and checksums are as they must be.
    """
    where = "pyeclib_c_decode"
    instance = _instance(where, handle)
    if ranges is not None and not isinstance(ranges, list):
        _refuse(where, _MEMORY)
    read = _parsed(where, fragments)
    if force_metadata_checks:
        read = [
            each
            for each in read
            if each.version <= _fragment.VERSION and instance.wrote(each.metadata) and each.intact
        ]
    chosen = _chosen(where, instance, read)
    missing = [index for index in range(instance.k) if index not in chosen]
    payloads: dict[int, Shard] = {index: each.payload for index, each in chosen.items()}
    if missing:
        payloads.update(zip(missing, _rebuilt(where, instance, chosen, missing), strict=True))
    whole = b"".join(payloads[index] for index in range(instance.k))[
        : next(iter(chosen.values())).metadata.whole
    ]
    return [_part(whole, each) for each in ranges] if ranges else whole


def _part(whole: bytes, ends: object) -> bytes:
    where = "pyeclib_c_decode invalid range"
    if not isinstance(ends, tuple) or len(ends) != 2:
        _refuse(where, _ARGUMENTS)
    first, last = ends
    if not isinstance(first, int) or not isinstance(last, int) or not 0 <= first <= last < len(whole):
        _refuse(where, _ARGUMENTS)
    return whole[first : last + 1]


def reconstruct(handle: object, fragments: list[bytes], fragment_len: int, index: int) -> bytes:
    """Return the fragment with an index, which may be among the given ones."""
    return reconstruct_many(handle, fragments, [index])[0]


def reconstruct_many(handle: object, fragments: list[bytes], indexes: Sequence[int]) -> list[bytes]:
    """Return the fragments with these indexes."""
    where = "pyeclib_c_reconstruct"
    instance = _instance(where, handle)
    for index in indexes:
        if not isinstance(index, int) or not 0 <= index < instance.n:
            _refuse(where, _ARGUMENTS)
    read = _parsed(where, fragments)
    chosen = _chosen(where, instance, read)
    made = {each.metadata.index: bytes(each.payload.obj) for each in read}
    missing = sorted({index for index in indexes if index not in made})
    if missing:
        whole = next(iter(chosen.values())).metadata.whole
        for index, payload in zip(missing, _rebuilt(where, instance, chosen, missing), strict=True):
            made[index] = instance.fragment(index, payload, whole)
    return [made[index] for index in indexes]


def get_required_fragments(handle: object, wanted: list[int], excluded: list[int]) -> list[int]:
    """Return the indexes of fragments that suffice to rebuild the wanted ones."""
    where = "pyeclib_c_get_required_fragments"
    instance = _instance(where, handle)
    for indexes in (wanted, excluded):
        if not isinstance(indexes, list):
            _refuse(where, _ARGUMENTS)
        _integers(where, *indexes)
        if any(not 0 <= index < instance.n for index in indexes):
            _refuse(where, _ARGUMENTS)
    left = [index for index in range(instance.n) if index not in wanted and index not in excluded]
    try:
        if isinstance(instance.code, Xors):
            return instance.code.needed(wanted, excluded)
    except (SingularError, TooManyLostError):
        _refuse(where, _UNKNOWN)
    if len(left) < instance.k:
        _refuse(where, _UNKNOWN)
    return left[: instance.k]


def get_metadata(handle: object, fragment: bytes, formatted: int = 0) -> Any:
    """Return the metadata as bytes, or as a dictionary; mismatch is 1 after a comparison of checksums."""
    where = "pyeclib_c_get_metadata"
    _instance(where, handle)
    _integers(where, formatted)
    if not isinstance(fragment, bytes):
        _refuse(where, _ARGUMENTS)
    read = Fragment.parse(fragment)
    if read is None:
        _refuse(where, _METADATA)
    metadata = dataclasses.replace(read.metadata, mismatch=0 if read.intact else 1)
    return metadata.formatted(_NAMES) if formatted else metadata.packed()


def check_metadata(handle: object, metadata: list[bytes]) -> dict[str, Any]:
    """Check the metadata of all fragments of a stripe, as get_metadata returns it."""
    where = "pyeclib_c_encode"  # as in PyECLib
    instance = _instance(where, handle)
    if not isinstance(metadata, list) or len(metadata) != instance.n:
        _refuse(where, _ARGUMENTS)
    if any(not isinstance(each, bytes) or len(each) != METADATA for each in metadata):
        _refuse(where, _ARGUMENTS)
    read = [Metadata.parse(each) for each in metadata]
    if not all(map(instance.wrote, read)):
        _refuse("pyeclib_c_check_metadata", _METADATA)
    bad = [each.index for each in read if each.mismatch]
    return {"status": -206, "reason": "Bad checksum", "bad_fragments": bad} if bad else {"status": 0}


def get_segment_info(handle: object, data_len: int, segment_size: int) -> dict[str, int]:
    """Return the sizes of segments and fragments. A short last segment joins its predecessor."""
    where = "pyeclib_c_get_segment_info"
    instance = _instance(where, handle)
    _integers(where, data_len, segment_size)
    if data_len < 0 or segment_size < 1:
        _refuse(where, _ARGUMENTS)
    count = -(-data_len // segment_size)
    last = data_len - (count - 1) * segment_size
    if count != 1 and last < instance.k * instance.backend.unit:
        count, last = count - 1, last + segment_size
    if count == 1:
        segment_size = last

    def fragment(length: int) -> int:
        return HEADER + instance.backend.size(instance.k, length)

    return {
        "segment_size": segment_size,
        "last_segment_size": last,
        "fragment_size": fragment(segment_size),
        "last_fragment_size": fragment(last),
        "num_segments": count,
    }
