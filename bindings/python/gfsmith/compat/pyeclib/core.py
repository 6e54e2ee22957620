"""The module pyeclib.core: the drivers that ECDriver instantiates."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gfsmith.compat.pyeclib import pyeclib_c
from gfsmith.compat.pyeclib.ec_iface import PyECLib_EC_Types, PyECLib_FRAGHDRCHKSUM_Types
from gfsmith.compat.pyeclib.errors import ECDriverError, ECInsufficientFragments

_Ranges = list[tuple[int, int]] | None


class ECPyECLibDriver:
    """The driver for codes; ECDriver documents its methods."""

    def __init__(
        self,
        k: int,
        m: int,
        hd: int,
        ec_type: PyECLib_EC_Types,
        chksum_type: PyECLib_FRAGHDRCHKSUM_Types | None = PyECLib_FRAGHDRCHKSUM_Types.none,
        validate: int = False,
    ) -> None:
        self.k, self.m, self.hd = k, m, hd
        self.ec_type, self.chksum_type = ec_type, chksum_type
        self.inline_chksum = int(chksum_type is PyECLib_FRAGHDRCHKSUM_Types.inline_crc32)
        self.algsig_chksum = 0
        self.handle = pyeclib_c.init(
            k, m, ec_type.value, hd, self.inline_chksum, self.algsig_chksum, int(validate)
        )

    def encode(self, data_bytes: bytes) -> list[bytes]:
        return pyeclib_c.encode(self.handle, data_bytes)

    def decode(
        self, fragment_payloads: Iterable[bytes], ranges: _Ranges = None, force_metadata_checks: bool = False
    ) -> Any:
        fragments = self._of_one_length(fragment_payloads, "decode")
        if len(fragments) < self.k:
            raise ECInsufficientFragments("Not enough fragments given in ECPyECLibDriver.decode")
        return pyeclib_c.decode(self.handle, fragments, len(fragments[0]), ranges, force_metadata_checks)

    def reconstruct(
        self, fragment_payloads: Iterable[bytes], indexes_to_reconstruct: list[int]
    ) -> list[bytes]:
        fragments = self._of_one_length(fragment_payloads, "reconstruct")
        indexes_to_reconstruct.sort()  # callers rely on it: the results are in this order
        if not indexes_to_reconstruct:
            return []
        return pyeclib_c.reconstruct_many(self.handle, fragments, indexes_to_reconstruct)

    @staticmethod
    def _of_one_length(payloads: Iterable[bytes], method: str) -> list[bytes]:
        fragments = list(payloads)
        lengths = {len(fragment) for fragment in fragments}
        if len(lengths) != 1 or 0 in lengths:
            raise ECDriverError(f"Invalid fragment payload in ECPyECLibDriver.{method}")
        return fragments

    def fragments_needed(self, reconstruct_indexes: list[int], exclude_indexes: list[int]) -> list[int]:
        return pyeclib_c.get_required_fragments(self.handle, reconstruct_indexes, exclude_indexes)

    def min_parity_fragments_needed(self) -> int:
        return 1

    def get_metadata(self, fragment: bytes, formatted: int = 0) -> Any:
        return pyeclib_c.get_metadata(self.handle, fragment, formatted)

    def verify_stripe_metadata(self, fragment_metadata_list: list[bytes]) -> dict[str, Any]:
        return pyeclib_c.check_metadata(self.handle, fragment_metadata_list)

    def get_segment_info(self, data_len: int, segment_size: int) -> dict[str, int]:
        return pyeclib_c.get_segment_info(self.handle, data_len, segment_size)


class ECNullDriver:
    """A driver that does nothing."""

    def __init__(
        self,
        k: int,
        m: int,
        hd: int,
        ec_type: object = None,
        chksum_type: object = None,
        validate: int = False,
    ) -> None:
        self.k, self.m, self.hd = k, m, hd

    def _nothing(self, *_: object, **__: object) -> None:
        pass

    encode = decode = reconstruct = fragments_needed = min_parity_fragments_needed = _nothing
    get_metadata = verify_stripe_metadata = get_segment_info = _nothing
