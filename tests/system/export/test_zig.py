"""`zig cc` for Windows and macOS: objects link, and the Windows program runs under wine.

zig builds its start-up files and libraries from sources, once for each target, which takes minutes for
Windows. Debian's mingw-w64 therefore links Windows programs for x86-64, as it does for its gcc; zig links
Mach-O.
"""

from __future__ import annotations

import os
import subprocess
import sys

import lief
import pytest

from gfsmith.emit.x86.frame import Abi
from tests.support.levels import sample
from tests.system.export.support import STRICT, Export, compiled, run
from tests.system.export.test_link import expected
from tests.system.export.test_objects import different, dll, machine_code

ZIG = (sys.executable, "-m", "ziglang", "cc")
MINGW = "x86_64-w64-mingw32-gcc"
WINDOWS = {"zig": (*ZIG, "-target", "x86_64-windows-gnu"), "mingw": (MINGW,)}


@pytest.fixture(scope="session")
def wine(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment for wine without windows, without helpers that wait for some, and without the user's
    settings.
    """
    environment = {
        "WINEPREFIX": str(tmp_path_factory.mktemp("wine")),
        "WINEDEBUG": "-all",
        "WINEDLLOVERRIDES": "mscoree,mshtml,winemenubuilder.exe=",
        "DISPLAY": "",
    }
    # When wine creates its folder, it reports that 32-bit support is missing.
    first = ["/usr/lib/wine/wine64", "wineboot.exe", "-i"]
    subprocess.run(first, env={**os.environ, **environment}, capture_output=True, check=True)
    return environment


@pytest.mark.parametrize("compiler", WINDOWS)
def test_windows_program_runs(compiler: str, plain: Export, wine: dict[str, str]) -> None:
    unit = compiled(plain, WINDOWS[compiler])
    program = plain.folder / f"{compiler}.exe"
    run(MINGW, *STRICT, plain.program("selftest.c"), plain.program("main.c"), unit, "-o", program)
    said = run("/usr/lib/wine/wine64", program, **wine)
    assert said.replace("\r\n", "\n") == expected(plain.names)


def test_windows_code_is_the_proved_code(plain: Export) -> None:
    assert different(machine_code(plain, dll(compiled(plain, WINDOWS["zig"])), Abi.MS)) == []


@pytest.mark.parametrize("processor", sample(["x86_64", "aarch64"], "x86_64"))
def test_macos(processor: str, acme: Export) -> None:
    """Objects and programs for macOS: names with an underscore, code in __text, unwind tables."""
    target = (*ZIG, "-target", f"{processor}-macos")
    unit = compiled(acme, target)
    program = acme.folder / f"{processor}-macos"
    run(*target, *STRICT, acme.program("selftest.c"), acme.program("main.c"), unit, "-o", program)
    linked = lief.MachO.parse(str(program))
    assert linked is not None and linked.at(0).header.file_type == lief.MachO.Header.FILE_TYPE.EXECUTE
    parsed = lief.MachO.parse(str(unit))
    assert parsed is not None
    binary = parsed.at(0)
    here = {str(s.name): int(s.value) for s in binary.symbols if s.numberof_sections}
    assert {"_acme_encode", "_acme_codec_create"} <= here.keys()
    assert "__text" in {str(section.name) for section in binary.sections}
    assert {"__eh_frame", "__compact_unwind"} & {str(section.name) for section in binary.sections}
    if processor == "x86_64":
        text = next(section for section in binary.sections if section.name == "__text")
        content, start = bytes(text.content), int(text.virtual_address)
        machine = [kernel for kernel in acme.made.kernels if kernel.spec.machine_code]
        assert len(machine) > 10
        for kernel in machine:
            at = here[f"_{kernel.spec.symbol}"] - start
            assert content[at : at + kernel.size] == kernel.code[Abi.SYSV]


def test_windows_on_arm(acme: Export) -> None:
    """The object is compiled and not linked; see above."""
    unit = compiled(acme, (*ZIG, "-target", "aarch64-windows-gnu"))
    binary = lief.COFF.parse(str(unit))
    assert binary is not None and binary.header.machine == lief.PE.Header.MACHINE_TYPES.ARM64
    assert "acme_encode" in {str(symbol.name) for symbol in binary.symbols}
