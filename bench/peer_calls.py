"""Calls of a built peer library from Python: the structs of bench/driver/peer.h."""

from __future__ import annotations

import ctypes


class Spec(ctypes.Structure):
    """bench_spec."""

    _fields_ = (
        ("variant", ctypes.c_char_p),
        ("code", ctypes.c_char_p),
        ("matrix", ctypes.c_char_p),
        ("k", ctypes.c_uint),
        ("m", ctypes.c_uint),
        ("len", ctypes.c_size_t),
    )


class Job(ctypes.Structure):
    """bench_job."""

    _fields_ = (
        ("base", ctypes.c_void_p),
        ("order", ctypes.c_void_p),
        ("count", ctypes.c_size_t),
        ("len", ctypes.c_size_t),
        ("pitch", ctypes.c_size_t),
        ("k", ctypes.c_uint),
        ("m", ctypes.c_uint),
    )


def open_peer(library: ctypes.CDLL, spec: Spec) -> ctypes.c_void_p:
    """Return a variant of a peer. Raises ValueError with the peer's reason if it lacks the variant or the
    shape."""
    made = ctypes.c_void_p()
    library.peer_open.restype = ctypes.c_char_p
    why = library.peer_open(ctypes.byref(made), ctypes.byref(spec))
    if why is not None:
        raise ValueError(why.decode())
    return made
