"""`gfsmith adapt --device`; and runtime/adaptive/src/device.c accepts exactly the descriptions that a reader
with Python's TOML parser accepts (tests/oracle/device.py).
"""

from __future__ import annotations

import ctypes
import itertools
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from gfsmith.cli import main
from tests.oracle import device
from tests.support.paths import ROOT

DEVICES = ROOT / "tuned" / "devices"


def _invoke(*words: str | Path) -> Result:
    return CliRunner().invoke(main.main, ["adapt", *map(str, words)])


@pytest.mark.parametrize("path", sorted(DEVICES.glob("*.toml")), ids=lambda path: path.stem)
def test_the_descriptions_that_there_are(path: Path) -> None:
    found = json.loads(_invoke("--device", path, "--json").stdout)
    assert found["name"] == path.stem
    if path.stem == "optane-100":
        assert (found["line"], found["buffer"], found["channels"]) == (256, 96 << 10, 6)
    words = ", ".join(f"{key} {value}" for key, value in found.items() if key != "name")
    assert _invoke("--device", path).stdout == f"{path}: {path.stem}: {words}\n"


@pytest.mark.parametrize(
    "text,why",
    [
        ("", "there is no table [device]"),
        ("line = 64\n", "line 1: a key before the table [device]"),
        (
            "[device]\nlines = 64\n",
            "line 2: unknown key; allowed: name, line, buffer, latency, streams, channels",
        ),
        ("[device]\nline = 96\n", "line 2: line is not a number from 64 to 4096, a power of two"),
        ("[device]\nbuffer = 0\n", "line 2: buffer is not a number from 1 to 1073741824"),
        ("[device]\nstreams = \"32\"\n", "line 2: streams is not a number from 1 to 4096"),
        ("[device]\nlatency = 1.5\n", "line 2: latency is not a number from 1 to 1000000"),
        ("[device]\nname = \"\u00e9\"\n", "line 2: not ASCII text"),
    ],
)  # fmt: skip
def test_descriptions_with_nonsense(text: str, why: str, tmp_path: Path) -> None:
    path = tmp_path / "device.toml"
    path.write_text(text)
    done = _invoke("--device", path)
    assert (done.exit_code, done.stdout, done.stderr) == (2, "", f"gfsmith: {path}: {why}\n")


class _Device(ctypes.Structure):
    """gfs_device"""

    _fields_ = (
        ("name", ctypes.c_char * 48),
        *((name, ctypes.c_uint) for name in ("line", "buffer", "latency", "streams", "channels")),
    )


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Callable[[bytes], dict[str, Any] | None]:
    """The C reader: returns the contents of a file, or None."""
    folder = tmp_path_factory.mktemp("device")
    source = ROOT / "runtime/adaptive/src" / "device.c"
    words = ("-std=c11", "-O1", "-fsanitize=undefined", "-fno-sanitize-recover=undefined", "-fPIC", "-shared")
    subprocess.run(["gcc", *words, source, "-o", folder / "device.so"], check=True)
    loaded = ctypes.CDLL(str(folder / "device.so"))

    def read(raw: bytes) -> dict[str, Any] | None:
        (folder / "file").write_bytes(raw)
        found, why = _Device(), ctypes.create_string_buffer(160)
        if not loaded.gfs_device_read(bytes(folder / "file"), ctypes.byref(found), why, len(why)):
            assert why.value
            return None
        return {name: getattr(found, name) for name, *_ in _Device._fields_} | {"name": found.name.decode()}

    return read


def _python(raw: bytes) -> dict[str, Any] | None:
    try:
        return device.parse(raw).model_dump()
    except device.DeviceError:
        return None


NUMBERS = (
    *("0", "1", "00", "01", "63", "64", "65", "96", "128", "4096", "4097", "8192", "1000000", "1000001"),
    *("1_0", "1__0", "_1", "1_", "0_1", "+1", "-1", "1.0", "1e3", "0x40", "true", "inf"),
    *("1073741824", "1073741825", "4294967296", "99999999999999999999999"),
)
TEXTS = ("dram", "a b.c_d+e-f", "", "x" * 47, "x" * 48, 'a\\"b', "\\u0041", "a\tb", "a#b", "'", "\x7f")
KEYS = (
    *("name", "line", "buffer", "latency", "streams", "channels"),
    *("Line", "lines", "n", "device.line", "a-b", "'line'"),
)
_BLANK = st.sampled_from(["", " ", "\t", "  "])
_ENDS = st.sampled_from(["\n", "\n", "\n", "\r\n", "", " # why\n", "#\n", "\r", "x\n", "\n\n"])
_VALUES = st.one_of(
    st.sampled_from(NUMBERS),
    st.sampled_from(TEXTS).map(lambda text: f'"{text}"'),
    st.just("'a'"),
    st.just('"""a"""'),
)
_PAIRS = st.tuples(
    _BLANK, st.sampled_from(KEYS), _BLANK, st.sampled_from("===="), _BLANK, _VALUES, _BLANK, _ENDS
).map("".join)
_TABLES = st.sampled_from(
    ["[device]\n", "[device]\n", " [ device ]\n", "[device] # c\n", "[[device]]\n", "[other]\n", ""]
)
_FILES = st.tuples(_TABLES, st.lists(st.one_of(_PAIRS, _PAIRS, _PAIRS, _ENDS, _TABLES), max_size=5)).map(
    lambda parts: (parts[0] + "".join(parts[1])).encode()
)


@settings(
    derandomize=True, max_examples=500, deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)  # fmt: skip
@given(raw=_FILES)
@example(raw=b"[device]\n" + b"#" * 255 + b"\n")
@example(raw=b"[device]\n" + b"#" * 256 + b"\n")
@example(raw=b"[device]\n" + b"#\n" * 2043)
@example(raw=b"[device]\n" + b"#\n" * 2044)
@example(raw=b"[device]\r\nline = 64\r")
@example(raw=b"[device]\n\x00")
@example(raw=b"[device]\n#\xff\n")
def test_both_readers_agree(reader: Callable[[bytes], dict[str, Any] | None], raw: bytes) -> None:
    assert reader(raw) == _python(raw)


def test_both_readers_agree_on_every_value(reader: Callable[[bytes], dict[str, Any] | None]) -> None:
    taken = 0
    for key, value in itertools.product(KEYS, (*NUMBERS, *(f'"{text}"' for text in TEXTS))):
        raw = f"[device]\n{key} = {value}\n".encode()
        assert reader(raw) == _python(raw), raw
        taken += reader(raw) is not None
    assert taken > len(NUMBERS)


def test_files_that_both_accept(reader: Callable[[bytes], dict[str, Any] | None]) -> None:
    """The agreement includes files that both accept."""
    for raw in (
        b'[device]\nname = "a b"\nline=256 # c\nbuffer = 98_304\n',
        *(p.read_bytes() for p in DEVICES.iterdir()),
    ):
        assert reader(raw) == _python(raw) != None  # noqa: E711
