"""gfsmith.compat.pyeclib: PyECLib's own tests, and fragments and errors compared with Debian's PyECLib."""

from __future__ import annotations

import ctypes
import functools
import operator
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyeclib.ec_iface as theirs
import pytest

from gfsmith.compat.pyeclib import ec_iface as ours
from tests.support.paths import ROOT
from tests.system.docs.pages import fences
from tests.system.isal.support import pyeclib

COMPAT = ROOT / "bindings" / "python" / "gfsmith" / "compat"
HERE = Path(__file__).parent


#: Two tests that check how PyECLib's C module finds the classes of its errors; these are Python.
ABOUT_C = "not error_in_the_error_handling"


def _own_tests(compat: Path, folder: Path, selected: str = ABOUT_C) -> subprocess.CompletedProcess[str]:
    shutil.copytree(pyeclib("1.6.0") / "test", folder / "test", ignore=shutil.ignore_patterns("*.pdf"))
    shutil.copy(HERE / "pyeclib_conftest.py", folder / "conftest.py")
    pytest_ = [sys.executable, "-m", "pytest", "-q", "-W", "ignore", "-p", "no:cacheprovider"]
    plain = ["-x", "--assert=plain"]  # with CI set, pytest takes hours to compare long strings
    command = [*pytest_, *plain, "-k", selected, "test"]
    environment = {**os.environ, "COMPAT": str(compat), "PYTHONHASHSEED": "0"}  # so that draws are the same
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def test_pyeclibs_own_tests(tmp_path: Path) -> None:
    """33 of 35; four of these are for the backends shss and libphazr, which are other libraries."""
    done = _own_tests(COMPAT, tmp_path)
    counts = re.search(r"^(\d+) passed, (\d+) skipped, (\d+) deselected", done.stdout, re.MULTILINE)
    assert done.returncode == 0 and counts is not None, done.stdout[-3000:]
    assert counts.groups() == ("29", "4", "2")


def test_the_example_prints_the_same_with_both() -> None:
    """The program of the page, with PyECLib and after the lines that switch."""
    page = (ROOT / "docs" / "migrate" / "pyeclib.md").read_text(encoding="utf-8")
    (program,) = (fence.text for fence in fences(page) if fence.language == "python")
    block = page.split("before its first import of PyECLib:\n\n")[1].split("\n\n")[0]
    switch = "".join(line.removeprefix("    ") + "\n" for line in block.splitlines())
    outputs = []
    for source in (program, switch + program):
        source += "print(ECDriver.__module__)\n"
        done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        outputs.append(done.stdout.splitlines())
    assert outputs[0][:2] == outputs[1][:2] and outputs[0][0] == "True True"
    assert (outputs[0][2], outputs[1][2]) == ("pyeclib.ec_iface", "gfsmith.compat.pyeclib.ec_iface")


#: Changes of gfsmith.compat.pyeclib, each detected by PyECLib's own tests: file, text, new text, tests.
MUTANTS = {
    "ranges": ("pyeclib_c.py", "whole[first : last + 1]", "whole[first:last]", "test_codes"),
    "segments": ("pyeclib_c.py", "return HEADER + instance", "return instance", "test_get_segment_info"),
    "order": (
        "pyeclib_c.py",
        "made[index] for index in indexes]",
        "made[i] for i in indexes[::-1]]",
        "fragment_iterator",
    ),
    "checksum": ("pyeclib_c.py", "mismatch=0 if read.intact else 1", "mismatch=0", "inline_chksum_fail"),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_pyeclibs_own_tests_detect(tmp_path: Path, name: str) -> None:
    module, before, after, selected = MUTANTS[name]
    shutil.copytree(COMPAT, tmp_path / "compat")
    changed = tmp_path / "compat" / "pyeclib" / module
    text = changed.read_text()
    assert text.count(before) == 1
    changed.write_text(text.replace(before, after))
    done = _own_tests(tmp_path / "compat", tmp_path, selected)
    assert done.returncode == 1 and " failed" in done.stdout


def _drivers(ec_type: str, k: int, m: int, checksum: str = "none") -> list[Any]:
    """Return a driver of each library."""
    return [each.ECDriver(k=k, m=m, ec_type=ec_type, chksum_type=checksum) for each in (ours, theirs)]


#: Shapes with 32 fragments and less; Jerasure's Cauchy code has at most 16, flat_xor_hd its own.
SHAPES = ((1, 1), (2, 1), (4, 2), (3, 5), (10, 4), (12, 4), (15, 1), (20, 4), (16, 16), (31, 1), (1, 31))
FLAT = {
    "flat_xor_hd_3": [(3, 3), *((k, 5) for k in range(5, 11)), *((k, 6) for k in range(6, 16))],
    "flat_xor_hd_4": [*((k, 5) for k in range(5, 11)), *((k, 6) for k in range(6, 21))],
}


def _stripes() -> Iterator[tuple[str, int, int]]:
    for ec_type in ours.VALID_EC_TYPES:
        most = 16 if ec_type == "jerasure_rs_cauchy" else 32
        for k, m in FLAT.get(ec_type, SHAPES):
            if k + m <= most:
                yield ec_type, k, m


@pytest.mark.parametrize(("ec_type", "k", "m"), list(_stripes()))
def test_the_fragments_of_liberasurecode(ec_type: str, k: int, m: int) -> None:
    """Both encode to the same fragments, and each decodes and rebuilds the other's."""
    pick = random.Random(100 * k + m)
    lost_at_most = {"flat_xor_hd_3": 2, "flat_xor_hd_4": 3}.get(ec_type, m)
    for size, checksum in ((0, "none"), (1, "inline_crc32"), (999, "none"), (70_001, "inline_crc32")):
        our, their = _drivers(ec_type, k, m, checksum)
        data = pick.randbytes(size)
        fragments = their.encode(data)
        assert our.encode(data) == fragments
        for lost in (range(min(lost_at_most, k)), pick.sample(range(k + m), lost_at_most)):
            left = [fragment for n, fragment in enumerate(fragments) if n not in lost]
            pick.shuffle(left)
            if len(left) < k:
                continue
            for driver in (our, their):
                assert driver.decode(left) == data
                assert driver.reconstruct(left, list(lost)) == [fragments[n] for n in sorted(lost)]


@pytest.mark.parametrize("ec_type", ours.VALID_EC_TYPES)
def test_metadata_and_sizes(ec_type: str) -> None:
    our, their = _drivers(ec_type, 10, 5, "inline_crc32")
    fragments = our.encode(b"text" * 1000)
    for fragment in (*fragments, fragments[3][:-1] + b"x"):
        for formatted in (0, 1):
            assert our.get_metadata(fragment, formatted) == their.get_metadata(fragment, formatted)
    metadata = [our.get_metadata(fragment) for fragment in fragments]
    metadata[2] = our.get_metadata(fragments[3][:-1] + b"x")
    for given in (metadata, metadata[::-1], [*metadata[:2], metadata[1], *metadata[3:]]):
        assert our.verify_stripe_metadata(given) == their.verify_stripe_metadata(given)
    for whole in (0, 1, 99, 100, 101, 150, 199, 200, 201, 409_600, 409_601, 10_000_000, 2**31 - 1):
        for segment in (1, 10, 100, 3072, 1 << 20):
            expected = their.get_segment_info(whole, segment)
            assert our.get_segment_info(whole, segment) == expected, (whole, segment)


@pytest.mark.parametrize("ec_type", [name for name in ours.VALID_EC_TYPES if name not in FLAT])
def test_needed_fragments(ec_type: str) -> None:
    our, their = _drivers(ec_type, 4, 3)
    for lost, excluded in (([0], []), ([0], [1]), ([0], [1, 2]), ([0, 5], [1]), ([], []), ([4, 5, 6], [])):
        assert our.fragments_needed(lost, excluded) == their.fragments_needed(lost, excluded)
    assert our.min_parity_fragments_needed() == their.min_parity_fragments_needed() == 1


@pytest.mark.parametrize("ec_type", FLAT)
def test_needed_fragments_of_xors_suffice(ec_type: str) -> None:
    """PyECLib's suffice for one lost fragment; otherwise they contain excluded ones, or other memory."""
    our, their = _drivers(ec_type, 10, 5)
    fragments = our.encode(b"text" * 100)
    for lost in range(15):
        needed = our.fragments_needed([lost])
        assert len(needed) == len(their.fragments_needed([lost]))
        numbers = [int.from_bytes(fragments[n][80:]) for n in (lost, *needed)]
        assert functools.reduce(operator.xor, numbers) == 0
    assert 1 not in our.fragments_needed([0], [1])


def test_wrong_bytes_are_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    """Matrices and headers of other codes."""
    from gfsmith.compat.pyeclib import _backends, _fragment

    backends, cauchy = _backends, _backends._cauchy
    stripes = [("isa_l_rs_cauchy", 10, 4), ("jerasure_rs_cauchy", 10, 4), ("liberasurecode_rs_vand", 4, 2)]
    changes = [
        (backends, "_cauchy", lambda field, xs, ys: cauchy(field, xs, ys)[::-1]),
        (backends, "_columns_scaled", lambda _, rows: rows),
        (_fragment, "VERSION", 0x010601),
    ]
    for (module, name, changed), (first, *others) in zip(
        changes, (stripes[:2], stripes[2:], stripes[:1]), strict=True
    ):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, changed)
            for stripe in (first, *others):
                backends.code_of.cache_clear()
                with pytest.raises(AssertionError):
                    test_the_fragments_of_liberasurecode(*stripe)
    backends.code_of.cache_clear()


FIELDS = ("index", "size", "extra", "whole", "checksum_type", "checksum", "mismatch", "backend", "version")


def _changed(fragment: bytes, crc: Callable[[bytes], int] = zlib.crc32, **new: Any) -> bytes:
    """Return a fragment with other metadata. library: the version of liberasurecode."""
    values = dict(zip(FIELDS, struct.unpack("<IIIQB32sBBI", fragment[:59]), strict=True))
    magic, library, _ = struct.unpack("<III", fragment[59:71])
    first = struct.pack("<IIIQB32sBBI", *(new.get(name, values[name]) for name in FIELDS))
    last = new.get("magic", magic), new.get("library", library), new.get("checksum_of_it", crc(first))
    return first + struct.pack("<III9x", *last) + fragment[80:]


DATA = bytes(range(160))
FRAGMENTS = ours.ECDriver(k=4, m=2, ec_type="isa_l_rs_vand", chksum_type="inline_crc32").encode(DATA)


def test_fragments_of_old_versions() -> None:
    """liberasurecode before 1.6 had another checksum, and before 1.2 none of the metadata."""
    library = ctypes.CDLL("liberasurecode.so.1")

    def old(data: bytes) -> int:
        return int(library.liberasurecode_crc32_alt(0, data, len(data))) & 0xFFFFFFFF

    def checksum(payload: bytes) -> bytes:
        return struct.pack("<I28x", old(payload))

    written = [
        [_changed(f, old, library=0x010500, checksum=checksum(f[80:])) for f in FRAGMENTS],
        [_changed(f, library=0x010100, checksum_of_it=7) for f in FRAGMENTS],
    ]
    for fragments in written:
        for driver in _drivers("isa_l_rs_vand", 4, 2, "inline_crc32"):
            assert [driver.get_metadata(f, 1)["chksum_mismatch"] for f in fragments] == [0] * 6
            assert driver.decode(fragments[2:]) == DATA
            assert driver.decode(fragments[2:], force_metadata_checks=True) == DATA
            assert driver.reconstruct(fragments[2:], [0]) == FRAGMENTS[:1]


def _outcome(call: Callable[[], object]) -> tuple[str, str]:
    try:
        return "returned", repr(call())
    except Exception as error:
        return type(error).__name__, str(error)


def _driver(z: Any) -> Any:
    return z.ECDriver(k=4, m=2, ec_type="isa_l_rs_vand", chksum_type="inline_crc32")


def _with(**new: Any) -> list[bytes]:
    """Return four fragments, of which one is changed."""
    return [_changed(FRAGMENTS[1], **new), *FRAGMENTS[2:5]]


def _singular(z: Any) -> Any:
    """A loss that ISA-L's Vandermonde code cannot repair."""
    driver = z.ECDriver(k=22, m=4, ec_type="isa_l_rs_vand")
    fragments = driver.encode(bytes(220))
    return driver.decode([fragment for n, fragment in enumerate(fragments) if n not in (0, 10, 21, 24)])


#: Calls that PyECLib refuses; z is the module.
REFUSED: dict[str, Callable[[Any], object]] = {
    "no k": lambda z: z.ECDriver(m=1, ec_type="isa_l_rs_vand"),
    "no m": lambda z: z.ECDriver(k=1, ec_type="isa_l_rs_vand"),
    "no type": lambda z: z.ECDriver(k=1, m=1),
    "k": lambda z: z.ECDriver(k=0, m=1, ec_type="isa_l_rs_vand"),
    "k, text": lambda z: z.ECDriver(k="a", m=1, ec_type="isa_l_rs_vand"),
    "m": lambda z: z.ECDriver(k=1, m=None, ec_type="isa_l_rs_vand"),
    "a type": lambda z: z.ECDriver(k=1, m=1, ec_type="other"),
    "a checksum": lambda z: z.ECDriver(k=1, m=1, ec_type="isa_l_rs_vand", chksum_type="md5"),
    "shss": lambda z: z.ECDriver(k=10, m=4, ec_type="shss"),
    "libphazr": lambda z: z.ECDriver(k=4, m=4, ec_type="libphazr"),
    "33 fragments": lambda z: z.ECDriver(k=20, m=13, ec_type="liberasurecode_rs_vand"),
    "many fragments": lambda z: z.ECDriver(k=2**40, m=1, ec_type="isa_l_rs_vand"),
    "17 fragments": lambda z: z.ECDriver(k=12, m=5, ec_type="jerasure_rs_cauchy"),
    "a shape of XORs": lambda z: z.ECDriver(k=10, m=4, ec_type="flat_xor_hd"),
    "another driver": lambda z: z.ECDriver(k=1, m=1, library_import_str="logging.Logger"),
    "text": lambda z: _driver(z).encode("text"),
    "bytearray": lambda z: _driver(z).encode(bytearray(b"text")),
    "no fragments": lambda z: _driver(z).decode([]),
    "empty fragments": lambda z: _driver(z).decode([b""] * 4),
    "too few": lambda z: _driver(z).decode(FRAGMENTS[:3]),
    "the same": lambda z: _driver(z).decode(FRAGMENTS[:1] * 4),
    "lengths": lambda z: _driver(z).decode([*FRAGMENTS[:3], FRAGMENTS[3][:-1]]),
    "no fragment": lambda z: _driver(z).decode([1] * 4),
    "no list": lambda z: _driver(z).decode(None),
    "no header": lambda z: _driver(z).decode([*FRAGMENTS[:4], b"0" * 120]),
    "short": lambda z: _driver(z).decode([fragment[:79] for fragment in FRAGMENTS]),
    "magic": lambda z: _driver(z).decode(_with(magic=1)),
    "no version": lambda z: _driver(z).decode(_with(library=0)),
    "checksum of the metadata": lambda z: _driver(z).decode(_with(checksum_of_it=0)),
    "other data": lambda z: _driver(z).decode(_with(whole=159)),
    "a large index": lambda z: _driver(z).decode(_with(index=2**32 - 1)),
    "index 6": lambda z: _driver(z).decode(_with(index=6)),
    "another backend": lambda z: _driver(z).decode(_with(backend=7), force_metadata_checks=True),
    "another version": lambda z: _driver(z).decode(_with(version=0x030000), force_metadata_checks=True),
    "a newer library": lambda z: _driver(z).decode(_with(library=0x020000), force_metadata_checks=True),
    "a checksum that differs": lambda z: _driver(z).decode(_with(checksum=bytes(32)), None, True),
    "singular": _singular,
    "a range beyond": lambda z: _driver(z).decode(FRAGMENTS, [(159, 160)]),
    "ranges, tuple": lambda z: _driver(z).decode(FRAGMENTS, ((0, 1),)),
    "a range, list": lambda z: _driver(z).decode(FRAGMENTS, [[0, 1]]),
    "a range, number": lambda z: _driver(z).decode(FRAGMENTS, [0]),
    "a range of three": lambda z: _driver(z).decode(FRAGMENTS, [(0, 1, 2)]),
    "a range, text": lambda z: _driver(z).decode(FRAGMENTS, [(0, "a")]),
    "reconstruct, too few": lambda z: _driver(z).reconstruct(FRAGMENTS[1:4], [0]),
    "reconstruct, nothing": lambda z: _driver(z).reconstruct([], [0]),
    "reconstruct, no header": lambda z: _driver(z).reconstruct([*FRAGMENTS[1:4], b"0" * 120], [0]),
    "reconstruct, text": lambda z: _driver(z).reconstruct(FRAGMENTS[1:], ["a"]),
    "reconstruct, tuple": lambda z: _driver(z).reconstruct(FRAGMENTS[1:], (0,)),
    "needed, too many": lambda z: _driver(z).fragments_needed([0, 1, 2]),
    "needed, excluded": lambda z: _driver(z).fragments_needed([0], [1, 2]),
    "metadata of nothing": lambda z: _driver(z).get_metadata(b""),
    "metadata of text": lambda z: _driver(z).get_metadata("a" * 120),
    "metadata of None": lambda z: _driver(z).get_metadata(None),
    "metadata, format": lambda z: _driver(z).get_metadata(FRAGMENTS[0], "x"),
    "metadata, magic": lambda z: _driver(z).get_metadata(_with(magic=1)[0]),
    "verify None": lambda z: _driver(z).verify_stripe_metadata(None),
    "segments, text": lambda z: _driver(z).get_segment_info("a", 1),
    "segments, 2 GiB": lambda z: _driver(z).get_segment_info(2**31, 1 << 20),
}


@pytest.mark.parametrize("name", REFUSED)
def test_the_errors_of_pyeclib(name: str) -> None:
    expected = _outcome(lambda: REFUSED[name](theirs))
    assert expected[0] != "returned"
    assert _outcome(lambda: REFUSED[name](ours)) == expected


#: Calls of drivers for which PyECLib crashes, raises SystemError, or returns wrong values.
SILENT: dict[str, tuple[str, Callable[[Any], object]]] = {
    "fragments that are bytearrays": (
        "decode ERROR: Invalid arg",
        lambda d: d.decode([*map(bytearray, FRAGMENTS)]),
    ),
    "a shorter payload": ("integrity", lambda d: d.decode([fragment[:-1] for fragment in FRAGMENTS])),
    "no payload": ("integrity", lambda d: d.decode([fragment[:80] for fragment in FRAGMENTS])),
    "another size": ("integrity", lambda d: d.decode(_with(size=39))),
    "a huge size": ("integrity", lambda d: d.reconstruct(_with(size=2**31), [0])),
    "more data than fits": ("integrity", lambda d: d.decode([_changed(f, whole=161) for f in FRAGMENTS])),
    "another backend's": ("integrity", lambda d: d.decode(_with(backend=7))),
    "two with one index": ("integrity", lambda d: d.decode([*FRAGMENTS[1:], FRAGMENTS[1][:80] + bytes(40)])),
    "other data": ("integrity", lambda d: d.reconstruct(_with(whole=159), [5])),
    "checked, damaged": (
        "Insufficient",
        lambda d: d.decode([FRAGMENTS[1][:-1] + b"x", *FRAGMENTS[2:5]], None, True),
    ),
    "all data, checked": (
        "Insufficient",
        lambda d: d.decode([FRAGMENTS[0][:-1] + b"x", *FRAGMENTS[1:4]], None, True),
    ),
    "a reversed range": ("invalid range", lambda d: d.decode(FRAGMENTS, [(5, 3)])),
    "a negative range": ("invalid range", lambda d: d.decode(FRAGMENTS, [(-1, 3)])),
    "a large range": ("invalid range", lambda d: d.decode(FRAGMENTS, [(0, 10**30)])),
    "index 6": ("reconstruct ERROR: Invalid arg", lambda d: d.reconstruct(FRAGMENTS[1:], [6])),
    "index -1": ("reconstruct ERROR: Invalid arg", lambda d: d.reconstruct(FRAGMENTS[1:], [-1])),
    "needed, index 32": ("fragments ERROR: Invalid arg", lambda d: d.fragments_needed([32])),
    "needed, text": ("fragments ERROR: Invalid arg", lambda d: d.fragments_needed(["a"])),
    "needed, None": ("fragments ERROR: Invalid arg", lambda d: d.fragments_needed(None)),
    "segments of no bytes": ("segment_info ERROR: Invalid arg", lambda d: d.get_segment_info(10, 0)),
    "a negative length": ("segment_info ERROR: Invalid arg", lambda d: d.get_segment_info(-1, 10)),
    "verify nothing": ("ERROR: Invalid arg", lambda d: d.verify_stripe_metadata([])),
    "verify some": (
        "ERROR: Invalid arg",
        lambda d: d.verify_stripe_metadata([f[:59] for f in FRAGMENTS[:4]]),
    ),
    "verify others": ("ERROR: Invalid arg", lambda d: d.verify_stripe_metadata([b"a"] * 6)),
    "verify text": ("ERROR: Invalid arg", lambda d: d.verify_stripe_metadata(["a" * 59] * 6)),
    "verify another backend's": (
        "check_metadata ERROR: Fragment integrity",
        lambda d: d.verify_stripe_metadata([f[:59] for f in (_with(backend=7)[0], *FRAGMENTS[1:])]),
    ),
}


@pytest.mark.parametrize("name", SILENT)
def test_where_pyeclib_is_silent(name: str) -> None:
    message, call = SILENT[name]
    with pytest.raises(ours.ECDriverError, match=re.escape(message)):
        call(_driver(ours))


def test_checked_fragments_replace_damaged_ones() -> None:
    """PyECLib returns the damaged data."""
    damaged = [FRAGMENTS[0][:-1] + b"x", *FRAGMENTS[1:]]
    assert _driver(ours).decode(damaged, force_metadata_checks=True) == DATA
    assert _driver(ours).decode(damaged) != DATA


def test_ranges_and_byteranges() -> None:
    our, their = _drivers("isa_l_rs_vand", 4, 2)
    for ranges in ([(0, 0)], [(0, 159)], [(3, 7), (80, 81)], [], None):
        for left in (FRAGMENTS, FRAGMENTS[2:]):
            assert our.decode(left, ranges) == their.decode(left, ranges)
    ranges = [(0, 1), (10, 1000), (0, 3071), (3071, 6144), (1, 3073), (6000, 12_000)]
    assert our.get_segment_info_byterange(ranges, 1 << 20, 3072) == their.get_segment_info_byterange(
        ranges, 1 << 20, 3072
    )


def test_the_names_of_pyeclib() -> None:
    hidden = {
        "Enum",
        "unique",
        "create_instance",
        "positive_int_value",
        "logging",
        "logger",
        "syslog_handler",
    }
    public = {name for name in dir(theirs) if not name.startswith("_")} - hidden
    public -= {"SysLogHandler", "get_liberasurecode_version"}
    assert public <= set(dir(ours))
    assert ours.ALL_EC_TYPES == theirs.ALL_EC_TYPES and ours.VALID_EC_TYPES == theirs.VALID_EC_TYPES
    assert ours.LIBERASURECODE_VERSION == theirs.LIBERASURECODE_VERSION
    assert ours.PYECLIB_VERSION == theirs.PYECLIB_VERSION
    for name in ("PyECLib_EC_Types", "PyECLib_FRAGHDRCHKSUM_Types"):
        our, their = getattr(ours, name), getattr(theirs, name)
        assert our.names() == their.names() and [*map(str, our)] == [*map(str, their)]
        assert our.has_enum("none") == their.has_enum("none") and our.get_by_name("x") is None
    for error in (name for name in public if name.startswith("EC") and name != "ECDriver"):
        assert issubclass(getattr(ours, error), ours.ECDriverError)
    for backend in ("isa_l_rs_vand", "flat_xor_hd", "flat_xor_hd_3", "shss", "other"):
        assert ours.check_backend_available(backend) == theirs.check_backend_available(backend)
