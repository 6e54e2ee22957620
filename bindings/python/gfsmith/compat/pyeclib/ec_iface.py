"""The module pyeclib.ec_iface: ECDriver, its errors, and the names of the backends."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from enum import Enum, unique
from typing import Any, Self

from gfsmith.compat.pyeclib import pyeclib_c
from gfsmith.compat.pyeclib.errors import (
    ECBackendInitializationError as ECBackendInitializationError,
)
from gfsmith.compat.pyeclib.errors import (
    ECBackendInstanceInUse as ECBackendInstanceInUse,
)
from gfsmith.compat.pyeclib.errors import (
    ECBackendInstanceNotAvailable as ECBackendInstanceNotAvailable,
)
from gfsmith.compat.pyeclib.errors import (
    ECBackendNotSupported as ECBackendNotSupported,
)
from gfsmith.compat.pyeclib.errors import (
    ECBadFragmentChecksum as ECBadFragmentChecksum,
)
from gfsmith.compat.pyeclib.errors import (
    ECDriverError as ECDriverError,
)
from gfsmith.compat.pyeclib.errors import (
    ECInsufficientFragments as ECInsufficientFragments,
)
from gfsmith.compat.pyeclib.errors import (
    ECInvalidFragmentMetadata as ECInvalidFragmentMetadata,
)
from gfsmith.compat.pyeclib.errors import (
    ECInvalidParameter as ECInvalidParameter,
)
from gfsmith.compat.pyeclib.errors import (
    ECMethodNotImplemented as ECMethodNotImplemented,
)
from gfsmith.compat.pyeclib.errors import (
    ECOutOfMemory as ECOutOfMemory,
)

PYECLIB_MAX_DATA = 32
PYECLIB_MAX_PARITY = 32


def PyECLibVersion(z: int, y: int, x: int) -> int:
    """Return a version as a number."""
    return (z << 16) + (y << 8) + x


PYECLIB_MAJOR, PYECLIB_MINOR, PYECLIB_REV = 1, 1, 2
PYECLIB_VERSION = PyECLibVersion(PYECLIB_MAJOR, PYECLIB_MINOR, PYECLIB_REV)


class PyECLibEnum(Enum):
    """An enumeration with look-ups by name."""

    @classmethod
    def describe(cls) -> list[Self]:
        """Return all members."""
        return list(cls)

    @classmethod
    def has_enum(cls, name: str) -> bool:
        """Return whether there is a member with this name."""
        return name in cls.__members__

    @classmethod
    def get_by_name(cls, name: str) -> Self | None:
        """Return the member with this name, or None."""
        return cls.__members__.get(name)

    @classmethod
    def names(cls) -> list[str]:
        """Return the names of all members."""
        return list(cls.__members__)

    @classmethod
    def values(cls) -> list[Self]:
        """Return all members."""
        return list(cls)

    def __str__(self) -> str:
        return f"{self.name}: {self.value}"


@unique
class PyECLib_EC_Types(PyECLibEnum):
    """The backends, by liberasurecode's numbers."""

    jerasure_rs_vand = 1
    jerasure_rs_cauchy = 2
    flat_xor_hd = 3
    isa_l_rs_vand = 4
    shss = 5
    liberasurecode_rs_vand = 6
    isa_l_rs_cauchy = 7
    libphazr = 8


@unique
class PyECLib_FRAGHDRCHKSUM_Types(PyECLibEnum):
    """The checksums of fragments."""

    none = 1
    inline_crc32 = 2


#: The distances of the names of flat_xor_hd.
_DISTANCES = {"flat_xor_hd": 3, "flat_xor_hd_3": 3, "flat_xor_hd_4": 4}

ALL_EC_TYPES = [
    "jerasure_rs_vand",
    "jerasure_rs_cauchy",
    "flat_xor_hd_3",
    "flat_xor_hd_4",
    "isa_l_rs_vand",
    "shss",
    "liberasurecode_rs_vand",
    "isa_l_rs_cauchy",
    "libphazr",
]


def check_backend_available(backend_name: str) -> bool:
    """Return whether ECDriver has this backend."""
    name = "flat_xor_hd" if backend_name.startswith("flat_xor_hd") else backend_name
    found = PyECLib_EC_Types.get_by_name(name)
    return found is not None and pyeclib_c.check_backend_available(found.value)


VALID_EC_TYPES = [name for name in ALL_EC_TYPES if check_backend_available(name)]

LIBERASURECODE_VERSION = ".".join(
    str(byte) for byte in pyeclib_c.get_liberasurecode_version().to_bytes(3, "big")
)


def _positive(value: Any, what: str) -> int:
    try:
        number = int(value)
    except (TypeError, ValueError):
        number = 0
    if number < 1:
        raise ECDriverError(f"Invalid number of {what}")
    return number


def _backend(name: str) -> PyECLib_EC_Types:
    found = PyECLib_EC_Types.get_by_name("flat_xor_hd" if name in _DISTANCES else name)
    if found is None:
        raise ECBackendNotSupported(f"{name} is not a valid EC type for PyECLib!")
    return found


def _checksum(name: str) -> PyECLib_FRAGHDRCHKSUM_Types:
    found = PyECLib_FRAGHDRCHKSUM_Types.get_by_name(name)
    if found is None:
        raise ECDriverError(f"{name} is not a valid checksum type for PyECLib!")
    return found


class ECDriver:
    """Encodes, decodes and rebuilds fragments of data."""

    _METHODS = (
        *("decode", "encode", "reconstruct", "fragments_needed", "min_parity_fragments_needed"),
        *("get_metadata", "verify_stripe_metadata", "get_segment_info"),
    )

    def __init__(self, **kwargs: Any) -> None:
        """Create a driver.

        k, m: numbers of data fragments and of parities, 32 together at most.
        ec_type: one of VALID_EC_TYPES.
        chksum_type: "none" (default) or "inline_crc32".
        validate: accepted for PyECLib's callers; backends are always available.
        library_import_str: the class of a driver, instead of ec_type.
        Raises ECDriverError and its subclasses.
        """
        for required in ("k", "m"):
            if required not in kwargs:
                raise ECDriverError(f"Invalid Argument: {required} is required")
        if "ec_type" not in kwargs and "library_import_str" not in kwargs:
            raise ECDriverError("Invalid Argument: either ec_type or library_import_str must be provided")
        self.k = _positive(kwargs["k"], "data fragments (k)")
        self.m = _positive(kwargs["m"], "parity fragments (m)")
        name = kwargs.get("ec_type")
        self.ec_type: Any = _backend(name) if "ec_type" in kwargs else None
        self.hd = _DISTANCES.get(str(name), self.m)
        self.chksum_type = _checksum(kwargs["chksum_type"]) if "chksum_type" in kwargs else None
        self.validate = kwargs.get("validate", False)
        self.library_import_str = kwargs.get("library_import_str", f"{__package__}.core.ECPyECLibDriver")
        self.ec_lib_reference = self._driver()

    def _driver(self) -> Any:
        module, _, name = self.library_import_str.rpartition(".")
        try:
            kind = getattr(importlib.import_module(module), name)
        except (AttributeError, ValueError):
            raise ImportError(f"Class {self.library_import_str} cannot be found") from None
        given = {"ec_type": self.ec_type, "chksum_type": self.chksum_type, "validate": int(self.validate)}
        driver = kind(k=self.k, m=self.m, hd=self.hd, **given)
        missing = " ".join(method for method in self._METHODS if not callable(getattr(driver, method, None)))
        if missing:
            raise ECDriverError(
                f"The following required methods are not implemented in {self.library_import_str}: {missing}"
            )
        return driver

    def __repr__(self) -> str:
        name = self.ec_type.name
        shown = f"flat_xor_hd_{self.hd}" if name == "flat_xor_hd" else name
        return f"{type(self).__name__}(ec_type={shown!r}, k={self.k!r}, m={self.m!r})"

    def encode(self, data_bytes: bytes) -> list[bytes]:
        """Return the k data fragments and the m parities of some bytes."""
        return self.ec_lib_reference.encode(data_bytes)

    def decode(
        self,
        fragment_payloads: Iterable[bytes],
        ranges: list[tuple[int, int]] | None = None,
        force_metadata_checks: bool = False,
    ) -> Any:
        """Return the data from k or more fragments, or a list with the bytes of each range (first, last).

        force_metadata_checks: use only fragments whose metadata and checksums are right.
        """
        return self.ec_lib_reference.decode(fragment_payloads, ranges, force_metadata_checks)

    def reconstruct(
        self, available_fragment_payloads: Iterable[bytes], missing_fragment_indexes: list[int]
    ) -> list[bytes]:
        """Return the fragments with these indexes from k or more others. Sorts the list of indexes."""
        return self.ec_lib_reference.reconstruct(available_fragment_payloads, missing_fragment_indexes)

    def fragments_needed(
        self, reconstruction_indexes: list[int], exclude_indexes: list[int] | None = None
    ) -> list[int]:
        """Return the indexes of fragments that suffice to rebuild some, without the excluded ones."""
        return self.ec_lib_reference.fragments_needed(
            reconstruction_indexes, [] if exclude_indexes is None else exclude_indexes
        )

    def min_parity_fragments_needed(self) -> int:
        """Return 1, as PyECLib does."""
        return self.ec_lib_reference.min_parity_fragments_needed()

    def get_metadata(self, fragment: bytes, formatted: int = 0) -> Any:
        """Return the metadata of a fragment as bytes for verify_stripe_metadata, or as a dictionary."""
        return self.ec_lib_reference.get_metadata(fragment, formatted)

    def verify_stripe_metadata(self, fragment_metadata_list: list[bytes]) -> Any:
        """Return {"status": 0} if the metadata of all k + m fragments are right, else the bad fragments."""
        return self.ec_lib_reference.verify_stripe_metadata(fragment_metadata_list)

    def get_segment_info(self, data_len: int, segment_size: int) -> Any:
        """Return the number of segments of some data, and the sizes of segments and fragments."""
        return self.ec_lib_reference.get_segment_info(data_len, segment_size)

    def get_segment_info_byterange(
        self, ranges: list[tuple[int, int]], data_len: int, segment_size: int
    ) -> dict[tuple[int, int], dict[int, tuple[int, int]]]:
        """Return for each range (first, last) the range in each of its segments, by their numbers."""
        size = self.get_segment_info(data_len, segment_size)["segment_size"]
        return {
            (first, last): {
                segment: (max(first - segment * size, 0), min(last - segment * size, size - 1))
                for segment in range(first // size, last // size + 1)
            }
            for first, last in ranges
        }
