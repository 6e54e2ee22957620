"""Codecs as values: equality, copies, pickles, subclasses; and the package around them."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from collections.abc import Callable

import pytest

import gfsmith

MAKERS: dict[str, Callable[[type[gfsmith.Codec]], gfsmith.Codec]] = {
    "name": lambda kind: kind("cauchy", k=5, m=3),
    "lrc": lambda kind: kind.lrc(6, 2, 2),
    "matrix": lambda kind: kind.from_matrix([[1, 1, 1], [1, 2, 4]], polynomial=0x11B),
    "options": lambda kind: kind("cauchy_good", 5, 3, hint="streaming", packet=8),
}


class Named(gfsmith.Codec):
    """A subclass with an additional attribute."""

    label = ""


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("kind", [gfsmith.Codec, Named])
def test_a_pickled_codec_is_the_same(name: str, kind: type[gfsmith.Codec]) -> None:
    codec = MAKERS[name](kind)
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(codec, protocol))
        assert type(again) is kind and again is not codec
        assert again == codec and hash(again) == hash(codec) and repr(again) == repr(codec)
        assert (again.k, again.m, again.n, again.packet) == (codec.k, codec.m, codec.n, codec.packet)
        assert again.parity_matrix == codec.parity_matrix and again.polynomial == codec.polynomial
    assert copy.copy(codec) is codec and copy.deepcopy([codec])[0] is codec


def test_subclasses_keep_their_attributes() -> None:
    codec = Named.lrc(4, 2, 1)
    codec.label = "mine"
    assert pickle.loads(pickle.dumps(codec)).label == "mine"
    assert codec == gfsmith.Codec.lrc(4, 2, 1)


def test_codecs_with_equal_results_are_equal() -> None:
    cauchy = gfsmith.Codec("cauchy", 5, 3)
    assert cauchy == gfsmith.Codec("hdfs", 5, 3) == gfsmith.Codec.from_matrix(cauchy.parity_matrix)
    assert cauchy != gfsmith.Codec("cauchy", 5, 2) and cauchy != gfsmith.Codec("lch", 5, 3)
    assert cauchy != gfsmith.Codec.from_matrix(cauchy.parity_matrix, polynomial=0x11B)
    assert cauchy != "cauchy" and len({cauchy, gfsmith.Codec("cauchy", 5, 3)}) == 1


def test_codecs_are_immutable() -> None:
    codec = gfsmith.Codec("cauchy", 5, 3)
    for name in ("k", "m", "n", "packet", "polynomial", "parity_matrix"):
        with pytest.raises(AttributeError):
            setattr(codec, name, 1)


def test_the_package_is_light() -> None:
    """The package imports neither the generator nor NumPy, and the codec only at its first use."""
    program = """
import sys, gfsmith
assert "gfsmith.codec" not in sys.modules
gfsmith.Codec("cauchy", 2, 1).encode([b"a", b"b"])
foreign = {m for m in sys.modules if m.split(".")[0] in {"numpy", "sympy", "click", "jinja2", "pydantic"}}
assert not foreign, foreign
assert not [m for m in sys.modules if m.startswith("gfsmith.") and not m.startswith("gfsmith.codec")]
assert set(gfsmith.__all__) <= set(dir(gfsmith)) and all(hasattr(gfsmith, name) for name in gfsmith.__all__)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_both_packages_offer_the_same() -> None:
    from gfsmith import codec

    assert codec.__all__ == gfsmith.__all__
    with pytest.raises(AttributeError, match="module 'gfsmith' has no attribute 'Codek'"):
        _ = gfsmith.Codek
