"""gfsmith.compat.zfec: zfec's own tests, and bytes, share files and errors compared with zfec of PyPI."""

from __future__ import annotations

import hashlib
import io
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from bench.build_lock import locked
from gfsmith import Codec
from gfsmith.compat import zfec as ours
from tests.support.paths import ROOT

VERSION = "1.6.0.0"
SDIST = "c5a1861c253b512698c2e733ae4d83f5e2d6ea6c881b7dbe11334b694e755a00"  #: SHA-256 of its source package
COMPAT = ROOT / "bindings" / "python" / "gfsmith" / "compat"
HERE = Path(__file__).parent


def _pip(*command: str) -> None:
    subprocess.run([sys.executable, "-m", "pip", "--quiet", *command], check=True)


@pytest.fixture(scope="module")
def original() -> Path:
    """A folder: zfec of PyPI in `library`, the packages of its tests in `packages`, and `test_zfec.py`."""
    folder = ROOT / "build" / "foreign" / f"zfec-{VERSION}"
    with locked(folder.with_suffix(".lock")):
        if not folder.exists():
            new = folder.with_suffix(".new")
            shutil.rmtree(new, ignore_errors=True)
            binary = ("install", "--no-deps", "--only-binary", ":all:", "--target")
            _pip(*binary, str(new / "library"), f"zfec=={VERSION}")
            _pip(*binary, str(new / "packages"), "pyutil==3.4.1", "simplejson==4.3.0")
            _pip("download", "--no-deps", "--no-binary", ":all:", "--dest", str(new), f"zfec=={VERSION}")
            archive = new / f"zfec-{VERSION}.tar.gz"
            assert hashlib.sha256(archive.read_bytes()).hexdigest() == SDIST
            inside = f"zfec-{VERSION}/zfec/test/test_zfec.py"
            subprocess.run(["tar", "-xzf", archive, "-C", new, inside, "--strip-components=3"], check=True)
            new.rename(folder)
    return folder


@pytest.fixture(scope="module")
def theirs(original: Path) -> ModuleType:
    """The module zfec of PyPI, in place of Debian's."""
    kept = {name: sys.modules.pop(name) for name in _zfecs()}
    sys.path.insert(0, str(original / "library"))
    try:
        import zfec
    finally:
        sys.path.pop(0)
    for name in _zfecs():
        del sys.modules[name]
    sys.modules.update(kept)
    assert zfec.__version__ == VERSION
    return zfec


def _zfecs() -> list[str]:
    return [name for name in sys.modules if name.split(".")[0] == "zfec"]


def _own_tests(
    original: Path, compat: Path, folder: Path, selected: str = ""
) -> subprocess.CompletedProcess[str]:
    shutil.copy(original / "test_zfec.py", folder)
    shutil.copy(HERE / "zfec_conftest.py", folder / "conftest.py")
    environment = {**os.environ, "COMPAT": str(compat), "PYTHONPATH": str(original / "packages")}
    pytest_ = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--hypothesis-seed=1"]
    plain = ["-x", "--assert=plain"]  # with CI set, pytest takes hours to compare long strings
    command = [*pytest_, *plain, "-k", selected, "test_zfec.py"]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def test_zfecs_own_tests(original: Path, tmp_path: Path) -> None:
    done = _own_tests(original, COMPAT, tmp_path)
    passed = re.search(r"^(\d+) passed", done.stdout, re.MULTILINE)
    assert done.returncode == 0 and passed is not None, done.stdout[-3000:]
    assert int(passed[1]) == 28


#: Changes of gfsmith.compat.zfec, each detected by zfec's own tests except its search, which takes long.
MUTANTS = {
    "padding": ("filefec.py", "return -n % k", "return n % k"),
    "header": ("filefec.py", "(pad, _bits(k))", "(pad, _bits(m))"),
    "order": ("_codes.py", "_handle, given, numbers)", "_handle, given, numbers[::-1])"),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_zfecs_own_tests_detect(original: Path, tmp_path: Path, name: str) -> None:
    module, before, after = MUTANTS[name]
    shutil.copytree(COMPAT, tmp_path / "compat")
    changed = tmp_path / "compat" / "zfec" / module
    text = changed.read_text()
    assert text.count(before) == 1
    changed.write_text(text.replace(before, after))
    done = _own_tests(original, tmp_path / "compat", tmp_path, "not test_small")
    assert done.returncode == 1 and " failed" in done.stdout


#: k and the number of blocks: edges, among them all with 256 blocks.
EDGES = [
    (1, 1),
    (1, 2),
    (3, 3),
    (254, 255),
    (1, 256),
    (2, 256),
    (128, 256),
    (200, 256),
    (255, 256),
    (256, 256),
]


def _shapes() -> list[tuple[int, int]]:
    pick = random.Random(27)
    return EDGES + [(pick.randint(1, n), n) for n in (pick.randint(1, 256) for _ in range(40))]


@pytest.mark.parametrize(("k", "n"), _shapes())
def test_the_bytes_of_zfec(theirs: ModuleType, k: int, n: int) -> None:
    """Both encode to the same blocks, and each decodes the other's blocks."""
    pick = random.Random(1000 * k + n)
    length = (33, 1, 0, 200)[k % 4]
    data = [pick.randbytes(length) for _ in range(k)]
    blocks = theirs.Encoder(k, n).encode(data)
    assert ours.Encoder(k, n).encode(data) == blocks
    numbers = pick.sample(range(n), pick.randint(1, n))
    assert ours.Encoder(k, n).encode(tuple(data), numbers) == [blocks[number] for number in numbers]
    for left in (list(range(n))[-k:], pick.sample(range(n), k)):
        given = [blocks[number] for number in left]
        assert ours.Decoder(k, n).decode(given, left) == data
        assert theirs.Decoder(k, n).decode(tuple(given), left) == data


def test_wrong_bytes_are_detected(theirs: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """The matrices of other codes, for shapes with and without a codec."""
    codes = ours._fec._codes
    with monkeypatch.context() as patch:
        patch.setattr(codes, "Codec", lambda _, k, m: Codec("backblaze", k, m))
        with pytest.raises(AssertionError):
            test_the_bytes_of_zfec(theirs, 12, 16)
    matrix = codes._matrix
    monkeypatch.setattr(codes, "_matrix", lambda have, wanted: matrix(have[::-1], wanted))
    codes._parts.cache_clear()
    with pytest.raises(AssertionError):
        test_the_bytes_of_zfec(theirs, 200, 256)
    codes._parts.cache_clear()


@pytest.mark.parametrize("size", [0, 1, 5, 100, 4096, 30_001])
@pytest.mark.parametrize(("k", "n"), [(1, 2), (3, 8), (4, 4), (17, 256)])
def test_easyfec(theirs: ModuleType, size: int, k: int, n: int) -> None:
    data = random.Random(size).randbytes(size)
    blocks = theirs.easyfec.Encoder(k, n).encode(data)
    assert ours.easyfec.Encoder(k, n).encode(data) == blocks
    padding = k * len(blocks[0]) - size
    left = list(range(n))[-k:]
    given = [blocks[number] for number in left]
    assert ours.easyfec.Decoder(k, n).decode(given, left, padding) == data


@pytest.mark.parametrize("size", [0, 1, 12_288, 50_000])
@pytest.mark.parametrize(("k", "n"), [(1, 3), (3, 8), (13, 16), (100, 256)])
def test_share_files(theirs: ModuleType, tmp_path: Path, size: int, k: int, n: int) -> None:
    """The share files of both have the same names and bytes, and each reads those of the other."""
    data = random.Random(size).randbytes(size)
    folders = {}
    for name, module in (("ours", ours), ("theirs", theirs)):
        folders[name] = tmp_path / name
        folders[name].mkdir()
        filefec: Any = module.filefec
        assert filefec.encode_to_files(io.BytesIO(data), size, str(folders[name]), "a", k, n) == 0
    contents = [{path.name: path.read_bytes() for path in folder.iterdir()} for folder in folders.values()]
    assert contents[0] == contents[1] and len(contents[0]) == n
    for module in (ours, theirs):
        shares = [path.open("rb") for path in sorted(folders["ours"].iterdir())[-max(k, 2) :]]
        with (tmp_path / "copy").open("wb") as copy:
            module.filefec.decode_from_files(copy, shares)
        assert (tmp_path / "copy").read_bytes() == data
        for share in shares:
            share.close()


def _outcome(call: Callable[[], object]) -> tuple[str, str]:
    try:
        return "returned", repr(call())
    except Exception as error:
        return type(error).__name__, str(error)


def _named(contents: bytes) -> io.BytesIO:
    """Return a file, whose name zfec's messages contain."""
    file = io.BytesIO(contents)
    file.name = "share"  # type: ignore[attr-defined]
    return file


#: Wrong calls that zfec refuses; z is the module.
REFUSED: dict[str, Callable[[Any], object]] = {
    "no shape": lambda z: z.Encoder(0, 1),
    "negative": lambda z: z.Decoder(-1, -1),
    "no blocks": lambda z: z.Encoder(1, 0),
    "too many": lambda z: z.Encoder(1, 257),
    "k above m": lambda z: z.Decoder(3, 2),
    "fewer blocks": lambda z: z.Encoder(3, 5).encode([b"a", b"b"]),
    "more blocks": lambda z: z.Decoder(2, 4).decode([b"a"] * 3, [0, 1, 2]),
    "more numbers": lambda z: z.Decoder(2, 4).decode([b"a"] * 2, [0, 1, 2]),
    "lengths": lambda z: z.Encoder(3, 5).encode([b"ab", b"ab", b"abc"]),
    "lengths to decode": lambda z: z.Decoder(2, 4).decode([b"ab", b"abc"], [0, 3]),
    "a last empty block": lambda z: z.Encoder(2, 4).encode([b"ab", b""]),
    "text": lambda z: z.Encoder(2, 4).encode(["ab", "cd"]),
    "text to decode": lambda z: z.Decoder(2, 4).decode(["ab", "cd"], [1, 2]),
    "gaps": lambda z: z.Encoder(1, 2).encode([memoryview(b"abcd")[::2]]),
    "no sequence": lambda z: z.Encoder(2, 4).encode(98),
    "no sequence of numbers": lambda z: z.Encoder(2, 4).encode([b"a", b"b"], 98),
    "no sequence to decode": lambda z: z.Decoder(2, 4).decode(98, []),
    "no numbers to decode": lambda z: z.Decoder(2, 4).decode([b"a", b"b"], 98),
    "wrong numbers": lambda z: z.Encoder(2, 4).encode([b"a", b"b"], ["c"]),
    "wrong numbers to decode": lambda z: z.Decoder(2, 4).decode([b"a", b"b"], ["c", "d"]),
    "a negative number": lambda z: z.Decoder(2, 4).decode([b"a", b"b"], [-1, 0]),
    "a large number": lambda z: z.Decoder(2, 4).decode([b"a", b"b"], [0, 256]),
    "no header": lambda z: z.filefec.decode_from_files(io.BytesIO(), [_named(b"")] * 2),
    "a short header": lambda z: z.filefec._parse_header(_named(b"\xff")),
    "files of other sets": lambda z: z.filefec.decode_from_files(
        io.BytesIO(), [_named(z.filefec._build_header(5, k, 0, 1)) for k in (2, 3)]
    ),
    "too few files": lambda z: z.filefec.decode_from_files(
        io.BytesIO(), [_named(z.filefec._build_header(5, 3, 0, n)) for n in (1, 2)]
    ),
    "files of other lengths": lambda z: z.filefec.decode_from_files(
        io.BytesIO(), [_named(z.filefec._build_header(5, 2, 0, n) + b"x" * n) for n in (1, 2)]
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_the_errors_of_zfec(theirs: ModuleType, name: str) -> None:
    expected = _outcome(lambda: REFUSED[name](theirs))
    assert expected[0] != "returned"
    assert _outcome(lambda: REFUSED[name](ours)) == expected


#: Wrong calls for which zfec reads or writes out of bounds, does not return, or returns wrong data.
SILENT: dict[str, Callable[[], object]] = {
    "block nums must be 0 to 3, but one was 4": lambda: ours.Encoder(2, 4).encode([b"a", b"b"], [4]),
    "block nums must be 0 to 3, but one was -1": lambda: ours.Encoder(2, 4).encode([b"a", b"b"], [-1]),
    "block nums must be 0 to 3, but one was 9": lambda: ours.Decoder(2, 4).decode([b"a", b"b"], [0, 9]),
    "but 1 was given twice": lambda: ours.Decoder(2, 4).decode([b"a", b"b"], [1, 1]),
    "but 3 was given twice": lambda: ours.Decoder(2, 4).decode([b"a", b"b"], [3, 3]),
    "length of one block was: 0": lambda: ours.Encoder(2, 4).encode([b"", b"ab"]),
    "length of another block was: 2": lambda: ours.Decoder(2, 4).decode([b"", b"ab"], [2, 3]),
    "padlen must be 0 to 4": lambda: ours.easyfec.Decoder(2, 3).decode([b"ab", b"cd"], [0, 1], 5),
    "but it was -1": lambda: ours.easyfec.Decoder(2, 3).decode([b"ab", b"cd"], [0, 1], -1),
}


@pytest.mark.parametrize("message", SILENT)
def test_where_zfec_is_silent(message: str) -> None:
    with pytest.raises(ours.Error, match=re.escape(message)):
        SILENT[message]()


def test_a_shorter_file_than_announced_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """zfec would write a wrong number of bytes of padding."""
    assert ours.filefec.encode_to_files(io.BytesIO(b"abc"), 4, str(tmp_path), "a", 2, 3) == 1
    assert "Original size: 4, observed size 3" in capsys.readouterr().out
    assert not list(tmp_path.iterdir())


LIMITED = """
import resource, signal, sys
from gfsmith.compat.zfec import cmdline_{0}
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, ({1}, {1}))
sys.exit(cmdline_{0}.main())
"""


def _limited(name: str, most: int, *words: str | Path) -> int:
    """Run a command whose files have at most `most` bytes: a write of more is cut, the next one fails."""
    command = [sys.executable, "-c", LIMITED.format(name, most), *map(str, words)]
    return subprocess.run(command, capture_output=True, check=False).returncode


def test_a_file_that_is_not_written_completely_is_an_error(tmp_path: Path) -> None:
    original, shares, back = tmp_path / "f", tmp_path / "shares", tmp_path / "back"
    original.write_bytes(random.Random(1).randbytes(10000))
    shares.mkdir()
    cut = ("-k", "3", "-m", "5", "-d", shares, "-p", "f", original)
    assert _limited("zfec", 2000, *cut) == 1 and not list(shares.iterdir())
    assert _limited("zfec", 20000, *cut) == 0
    assert _limited("zunfec", 9000, "-o", back, *shares.iterdir()) == 1 and not back.exists()
    assert _limited("zunfec", 20000, "-o", back, *shares.iterdir()) == 0
    assert back.read_bytes() == original.read_bytes()


class Trickle(io.RawIOBase):
    """A raw file of which a read returns at most 1000 bytes, like a pipe."""

    def __init__(self, data: bytes) -> None:
        self._left = io.BytesIO(data)

    def read(self, size: int = -1) -> bytes:
        return self._left.read(min(size, 1000) if size >= 0 else 1000)


def test_short_reads(tmp_path: Path) -> None:
    data = random.Random(2).randbytes(30000)
    source: Any = Trickle(data)
    assert ours.filefec.encode_to_files(source, len(data), str(tmp_path), "f", 3, 5) == 0
    with (tmp_path / "back").open("w+b") as back:
        shares = [path.open("rb") for path in sorted(tmp_path.glob("f.*"))]
        ours.filefec.decode_from_files(back, shares[2:])
        back.seek(0)
        assert back.read() == data
        for share in shares:
            share.close()


def test_old_share_files_survive_an_error(tmp_path: Path) -> None:
    encode = ours.filefec.encode_to_files
    assert encode(io.BytesIO(b"old"), 3, str(tmp_path), "a", 2, 3) == 0
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    assert encode(io.BytesIO(b"abc"), 4, str(tmp_path), "a", 2, 3, overwrite=True) == 1
    assert encode(io.BytesIO(b"new"), 3, str(tmp_path), "a", 2, 3) == 1
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
    assert encode(io.BytesIO(b"new"), 3, str(tmp_path), "a", 2, 3, overwrite=True) == 0
    assert before.keys() == set(tmp_path.iterdir()) and before != {
        path: path.read_bytes() for path in tmp_path.iterdir()
    }


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["a.0_3.fec", "missing"], "No such file or directory: 'missing'"),
        (["a.0_3.fec", "empty"], "share file 'empty' didn't have a complete metadata header"),
        (["a.0_3.fec", "a.0_3.fec"], "block nums must all be different"),
        (["a.0_3.fec", "output"], "'output' is one of the share files"),
    ],
)
def test_zunfec_keeps_files_after_an_error(
    names: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The output, which may be a share, and one line instead of a traceback."""
    monkeypatch.chdir(tmp_path)
    assert ours.filefec.encode_to_files(io.BytesIO(b"text"), 4, ".", "a", 2, 3) == 0
    shutil.copy("a.1_3.fec", "output")
    Path("empty").touch()
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    monkeypatch.setattr(sys, "argv", ["zunfec", "-f", "-o", "output", *names])
    assert ours.cmdline_zunfec.main() == 1
    printed = capsys.readouterr().out
    assert message in printed and printed.count("\n") == 1
    monkeypatch.setattr(sys, "argv", ["zunfec", "-o", "new", *names])
    assert (ours.cmdline_zunfec.main() == 0) == ("output" in names)
    Path("new").unlink(missing_ok=True)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_program_with_zfecs_name(theirs: ModuleType, tmp_path: Path) -> None:
    """The commands, with a pipe as input: zfec writes empty shares there."""
    zfec = [sys.executable, "-m", "gfsmith.compat.zfec.cmdline_zfec", "-q", "-p", "a", "-"]
    ran = subprocess.run(zfec, input=b"text" * 5000, cwd=tmp_path, check=True, capture_output=True)
    assert ran.stdout + ran.stderr == b""  # no warning of Python either
    shares = sorted(path.name for path in tmp_path.iterdir())[-3:]
    zunfec = [sys.executable, "-m", "gfsmith.compat.zfec.cmdline_zunfec", "-o", "copy", *shares]
    ran = subprocess.run(zunfec, cwd=tmp_path, check=True, capture_output=True)
    assert ran.stdout + ran.stderr == b""
    assert (tmp_path / "copy").read_bytes() == b"text" * 5000
    with (tmp_path / "theirs").open("wb") as copy:
        theirs.filefec.decode_from_files(copy, [(tmp_path / name).open("rb") for name in shares])
    assert (tmp_path / "theirs").read_bytes() == b"text" * 5000
