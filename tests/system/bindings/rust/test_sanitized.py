"""The crate's tests with the C library under AddressSanitizer and UBSan. Rust uses the sanitizer's allocator
too, so an access beyond a vector of Rust is detected.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from bench.build_lock import locked
from tests.system.bindings.rust.support import BUILD, environment, lay, sources

TESTS = ("codec", "batch")
LENGTH = "sys::encode_parallel(self.codec(), self.executor(), length,"


def run(folder: Path, files: dict[str, bytes], *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run the crate's tests. The linker of Rust omits the sanitizer's libraries unless they are named, and
    programs load the first of them before all others.
    """
    lay(folder, files)
    first = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True)
    variables = {
        "CARGO_TARGET_DIR": str(BUILD / "sanitized"),
        "CFLAGS": "-fsanitize=address,undefined -fno-sanitize-recover=all",
        "RUSTFLAGS": "-Clink-arg=-lasan -Clink-arg=-lubsan",
        "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER": f"env LD_PRELOAD={first.stdout.strip()}",
    }
    tests = [word for name in TESTS for word in ("--test", name)]
    return subprocess.run(
        ["cargo", "test", "--quiet", "--package", "gfsmith", *tests, *words],
        cwd=folder,
        env=environment() | variables | more,
        capture_output=True,
        text=True,
    )


def test_nothing_is_touched_outside_shards() -> None:
    with locked(BUILD / "sanitized.lock"):
        done = run(BUILD / "sanitized-crate", sources())
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout.count("test result: ok.") == len(TESTS)


def test_a_wrong_length_is_detected() -> None:
    """The crate passes a length that is too large by one byte."""
    files = sources()
    path = "gfsmith/src/codec.rs"
    right = files[path].decode()
    assert right.count(LENGTH) == 1
    files[path] = right.replace(LENGTH, LENGTH.replace("length", "length + 1")).encode()
    with locked(BUILD / "sanitized.lock"):
        done = run(BUILD / "sanitized-crate", files, "encode_computes", GFRUST_ISA="scalar")
    assert done.returncode != 0
    assert "AddressSanitizer: heap-buffer-overflow" in done.stdout + done.stderr
