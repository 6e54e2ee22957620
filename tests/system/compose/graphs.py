"""Graphs in C through ctypes: gfsmith_graph_create and its answers."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import gfsmith
from gfsmith import codes
from gfsmith.codes.lrc import Lrc
from gfsmith.field.matrix import Matrix
from tests.support.library import OK, Api, Codec
from tests.support.paths import ROOT

NATIVE = Path(__file__).resolve().parent / "native"
SOURCES = sorted(
    path for path in (ROOT / "runtime/compose/src").glob("graph*.c") if path.name != "graph_post.c"
)
STRICT = (
    "-std=c11",
    "-D_GNU_SOURCE",
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Wconversion",
    "-Wshadow",
    "-Werror",
)
INCLUDES = tuple(f"-I{ROOT / folder}" for folder in ("runtime/core/include", "runtime/compose/include"))
REASON = 256

Shape = tuple[int, ...]  #: k, m; or k, l, r of a local code
ENCODING = ("rs", "lrc", "triec")  #: the schemes that encode; the others repair only
SHAPES: tuple[Shape, ...] = ((3, 2), (6, 3), (12, 4), (4, 2, 2), (6, 2, 2), (12, 2, 2))


def parity_of(shape: Shape) -> Matrix:
    """Return the parity matrix of cauchy, or of a local code."""
    return codes.parity_matrix("cauchy", *shape) if len(shape) == 2 else Lrc(*shape).parity()


def codec_of(shape: Shape) -> gfsmith.Codec:
    """Return the same code in the library for Python."""
    return gfsmith.Codec("cauchy", *shape) if len(shape) == 2 else gfsmith.Codec.lrc(*shape)


class _Request(ctypes.Structure):
    _fields_ = (
        ("scheme", ctypes.c_char_p),
        ("codec", ctypes.c_void_p),
        ("k", ctypes.c_uint),
        ("m", ctypes.c_uint),
        ("polynomial", ctypes.c_uint),
        ("holder", ctypes.POINTER(ctypes.c_uint16)),
        ("present", ctypes.POINTER(ctypes.c_bool)),
        ("wanted", ctypes.POINTER(ctypes.c_bool)),
        ("sink", ctypes.POINTER(ctypes.c_uint16)),
        ("source", ctypes.c_uint16),
    )


@dataclass(frozen=True, slots=True)
class Refusal:
    status: int
    reason: str


@dataclass(frozen=True, slots=True)
class Made:
    """text: the JSON; ranks: the ranks of 0..1023 that take part."""

    text: str
    hash: int
    ranks: tuple[int, ...]


class Graphs:
    """The graph functions of a library, and the codecs of the shapes."""

    def __init__(self, path: Path) -> None:
        self.api = Api(path)
        self.lib = lib = self.api.lib
        pointer, size = ctypes.c_void_p, ctypes.c_size_t
        lib.gfsmith_graph_create.argtypes = [ctypes.POINTER(pointer), pointer, ctypes.c_char_p]
        lib.gfsmith_graph_destroy.argtypes = [pointer]
        lib.gfsmith_graph_destroy.restype = None
        lib.gfsmith_graph_hash.argtypes = [pointer]
        lib.gfsmith_graph_hash.restype = ctypes.c_uint64
        lib.gfsmith_graph_check.argtypes = [pointer, ctypes.c_char_p]
        lib.gfsmith_graph_json.argtypes = [pointer, ctypes.c_char_p, size]
        lib.gfsmith_graph_json.restype = size
        lib.gfsmith_graph_has.argtypes = [pointer, ctypes.c_uint16]
        lib.gfsmith_graph_has.restype = ctypes.c_bool

    def codec(self, shape: Shape) -> Codec:
        return self.api.create("cauchy", *shape) if len(shape) == 2 else self.api.create_lrc(*shape)

    def make(
        self,
        scheme: str,
        codec: Codec | None,
        holders: Sequence[int],
        *,
        lost: Sequence[int] | None = None,
        wanted: Sequence[int] | None = None,
        sinks: dict[int, int] | None = None,
        source: int = 0,
        shape: tuple[int, int] | None = None,
        polynomial: int = 0,
    ) -> Made | Refusal:
        """Create a graph. lost: None to encode. shape: the codec's shape as passed to the library, by default
        the true one.
        """
        k, m = shape or ((codec.k, codec.m) if codec else (1, 1))
        shards = len(holders)
        flags = ctypes.c_bool * shards
        ranks = ctypes.c_uint16 * shards
        request = _Request(scheme.encode(), codec.handle if codec else None, k, m, polynomial)
        request.holder = ranks(*holders)
        if lost is not None:
            request.present = flags(*(i not in lost for i in range(shards)))
        if wanted is not None:
            request.wanted = flags(*(i in wanted for i in range(shards)))
        if sinks is not None:
            request.sink = ranks(*(sinks.get(i, holder) for i, holder in enumerate(holders)))
        request.source = source
        reason = ctypes.create_string_buffer(REASON)
        handle = ctypes.c_void_p(1)
        status = self.lib.gfsmith_graph_create(ctypes.byref(handle), ctypes.byref(request), reason)
        if status != OK:
            assert handle.value is None and reason.value
            return Refusal(status, reason.value.decode())
        try:
            return self._made(handle)
        finally:
            self.lib.gfsmith_graph_destroy(handle)

    def _made(self, handle: ctypes.c_void_p) -> Made:
        length = self.lib.gfsmith_graph_json(handle, None, 0)
        text = ctypes.create_string_buffer(length + 1)
        assert self.lib.gfsmith_graph_json(handle, text, length + 1) == length
        assert self.lib.gfsmith_graph_check(handle, None) == OK
        cut = ctypes.create_string_buffer(b"x" * 11)
        assert self.lib.gfsmith_graph_json(handle, cut, 10) == length
        assert cut.raw == text.raw[:9] + b"\0" + b"x\0"
        ranks = tuple(rank for rank in range(1024) if self.lib.gfsmith_graph_has(handle, rank))
        return Made(text.value.decode(), self.lib.gfsmith_graph_hash(handle), ranks)


def compile_library(build: Path, target: Path, sources: Sequence[Path] = SOURCES) -> None:
    """Link the graphs and the codec into one library."""
    _gcc("-shared", "-fPIC", "-O2", f"-I{ROOT / 'runtime/compose/src'}", *map(str, sources),
         "-o", str(target),
         "-Wl,--whole-archive", str(build / "libgfsmith.a"), "-Wl,--no-whole-archive")  # fmt: skip


def compile_program(build: Path, names: Sequence[str], target: Path, *flags: str) -> None:
    """Compile native/NAME.c, ..., with the graphs, under sanitizers."""
    programs = [str(NATIVE / f"{name}.c") for name in names]
    sources = [*map(str, SOURCES)]
    if "graph_simulate" in names:
        sources.append(str(ROOT / "runtime/compose/src/graph_post.c"))
    _gcc("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", *flags,
         f"-I{ROOT / 'runtime/compose/src'}", *programs, *sources,
         "-o", str(target), str(build / "libgfsmith.a"))  # fmt: skip


def link_program(build: Path, names: Sequence[str], target: Path) -> None:
    """Link native/NAME.c, ..., with libgfsmith-compose.a."""
    _gcc("-O2", "-g", f"-I{ROOT / 'runtime/compose/src'}", *(str(NATIVE / f"{name}.c") for name in names),
         "-o", str(target), str(build / "libgfsmith-compose.a"), str(build / "libgfsmith.a"),
         "-lfabric", "-lxxhash", "-lpthread")  # fmt: skip


def case_line(
    scheme: str,
    shape: Shape,
    *,
    length: int,
    slice_bytes: int = 0,
    incoherent: bool = False,
    reader: int = -1,
    lost: Sequence[int] = (),
    holders: Sequence[int] = (),
) -> str:
    """Return a case for native/graph_case.c. reader: -1 for none, else the rank that reads, or the source."""
    k, groups, m = (shape[0], 0, shape[1]) if len(shape) == 2 else (shape[0], shape[1], shape[1] + shape[2])
    words = [scheme, k, groups, m, length, slice_bytes, int(incoherent), reader]
    return " ".join(map(str, [*words, *(",".join(map(str, each)) or "-" for each in (lost, holders))]))


def run_cases(program: Path, cases: Sequence[str], *arguments: str) -> None:
    """Run cases; every one must print ok."""
    done = subprocess.run(
        [program, *arguments], input="\n".join(cases) + "\n", capture_output=True, text=True, timeout=600
    )
    answers = done.stdout.splitlines()
    wrong = [pair for pair in zip(cases, answers, strict=False) if pair[1] != "ok"]
    assert (wrong, done.returncode, len(answers)) == ([], 0, len(cases)), done.stderr


def _gcc(*words: str) -> None:
    done = subprocess.run(
        ["gcc", *STRICT, *INCLUDES, *words, "-lsodium", "-lcrypto"], capture_output=True, text=True, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
