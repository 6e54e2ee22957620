"""The native library through ctypes, whose results the package must give."""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ENOTMDS = -3


class Native:
    def __init__(self, path: Path) -> None:
        self._library = ctypes.CDLL(str(path))
        self._library.gfsmith_codec_destroy.argtypes = [ctypes.c_void_p]

    def vector(self, code: str, k: int, m: int, pool: bytes, length: int, index: int) -> dict[str, Any]:
        """Return the digests that vectors.mjs prints, after checking that a rebuilt set equals the encoded
        one.
        """
        codec = ctypes.c_void_p()
        status = self._library.gfsmith_codec_create(ctypes.byref(codec), code.encode(), k, m)
        if status == ENOTMDS:
            return {"error": "ENOTMDS"}
        assert status == 0
        data = [pool[65 * j : 65 * j + length] for j in range(k)]
        parity = [ctypes.create_string_buffer(max(length, 1)) for _ in range(m)]
        sources = (ctypes.c_char_p * k)(*data)
        targets = (ctypes.c_void_p * m)(*(ctypes.addressof(buffer) for buffer in parity))
        size = ctypes.c_size_t(length)
        assert self._library.gfsmith_encode(codec, size, sources, targets) == 0
        parities = [buffer.raw[:length] for buffer in parity]
        assert self._library.gfsmith_update(codec, size, index, data[0], targets) == 0
        updated = [buffer.raw[:length] for buffer in parity]
        self._library.gfsmith_codec_destroy(codec)
        return {
            "encoded": _digest(parities),
            "rebuilt": _digest([*data, *parities]),
            "good": True,
            "updated": _digest(updated),
        }


def _digest(shards: Sequence[bytes]) -> str:
    return hashlib.sha256(b"".join(shards)).hexdigest()
