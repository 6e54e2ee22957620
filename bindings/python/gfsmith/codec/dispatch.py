"""The choice of the instruction set, and of the calls that release the GIL."""

from __future__ import annotations

from gfsmith.codec import _native
from gfsmith.codec.coding import integer
from gfsmith.codec.errors import InvalidError, UnsupportedError

#: The instruction sets of this build for this machine, best first; this CPU may lack some.
ISAS: tuple[str, ...] = _native.ISAS


def get_isa() -> str:
    """Return the instruction set of codecs created from now on: the last choice of `set_isa`, else the one
    that the environment variable GFSMITH_ISA names, else the best that this CPU and its operating system
    support.
    """
    return _native.isa()


def set_isa(name: str) -> None:
    """Choose the instruction set of codecs created from now on; existing ones keep theirs.

    Errors: InvalidError (a name that this build does not know), UnsupportedError (this CPU or its operating
    system lacks it); the choice is unchanged then.
    """
    if not isinstance(name, str):
        raise TypeError(f"name = {name!r}: must be a string, such as {ISAS[-1]!r}")
    status = _native.set_isa(name)
    if status == InvalidError.status:
        raise InvalidError(f"instruction set {name!r}: this build has {', '.join(ISAS)}")
    if status != 0:
        raise UnsupportedError(f"instruction set {name!r}: this CPU or its operating system lacks it")


def release_gil_from(size: int) -> None:
    """Release the GIL in calls on shards of at least `size` bytes together, in this process; 0: in all calls.

    The default is 32768, because a shorter call takes microseconds, and the GIL is not available again for up
    to the interpreter's switch interval while another thread computes in Python (docs/threads.md).
    Errors: InvalidError (a negative number, or one of more than 63 bits).
    """
    least = integer("size", size)
    if not 0 <= least < 1 << 63:
        raise InvalidError(f"size = {least}: must be a number of bytes, 0 or more")
    _native.set_release(least)
