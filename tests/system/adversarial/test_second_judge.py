"""The second judge accepts no kernel with a flaw, with the certificate of the kernel without it.

The branches of the certificate are moved to those of the flawed kernel, in their order. The judge reads the
code alone, so flaws of sections, symbols and relocations do not concern it: those kernels have the code of
the kernel without a flaw, or addresses that the linker fills in.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import capstone
import pytest
from elftools.elf.elffile import ELFFile

from judge import memory, replay, semantics, spec
from judge.integers import Rejected, scale, unknown
from tests.system.adversarial.attacks import X86, x86
from tests.system.adversarial.test_attacks import FAMILIES, PROVIDED, assemble, judge

#: Words of another contract than that of the certificate.
_OTHER = {"abi", "in_place", "unwind"}
ATTACKS = [
    attack
    for name, family in FAMILIES.items()
    for attack in family
    if attack.machine == X86 and name != "sections" and not _OTHER & attack.words.keys()
]
FOREIGN = ("a64_", "ppc_", "coff_", "listing_")
_SPEC = {
    "symbol": "gfs_xor_2x1__sse_u1",
    "operation": "xor",
    "inputs": 2,
    "outputs": 1,
    "table": "none",
    "rows": None,
    "polynomial": 0x11B,
    "in_place": False,
    "group": 1,
    "descending": False,
    "ahead": 0,
}


_JUMPS = {form.split()[0] for form, make in semantics.MAKERS.items() if make is None} - {"jmp", "ret"}


class LinkedError(Exception):
    """The code has addresses that the linker fills in."""


def _code(text: str, folder: Path) -> bytes:
    """Return the bytes of the function f, which returns 0 as kernels do."""
    source, target = folder / "attack.s", folder / "attack.o"
    source.write_text(re.sub(r"\bret$", "xorl %eax, %eax; ret", text, flags=re.MULTILINE))
    assemble(X86, source, target)
    with target.open("rb") as file:
        elf = ELFFile(file)
        symbols = elf.get_section_by_name(".symtab").get_symbol_by_name("f")
        section = elf.get_section(symbols[0]["st_shndx"])
        if elf.get_section_by_name(f".rela{section.name}") is not None:
            raise LinkedError
        start = symbols[0]["st_value"]
        return bytes(section.data()[start : start + (symbols[0]["st_size"] or len(section.data()))])


def _branches(code: bytes) -> list[int]:
    decoder = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
    return [place for place, _, name, _ in decoder.disasm_lite(code, 0) if name in _JUMPS]


def _moved(node: Any, places: dict[int, int]) -> Any:
    """Return a tree with its branches at other places."""
    if not isinstance(node, list) or not node or node[0] not in ("split", "loop", "align"):
        return node
    parts = [[[*part[:3], _moved(part[3], places)] for part in side] for side in node[-2:]]
    return [node[0], places.get(node[1], node[1]), *node[2:-2], *parts]


@pytest.fixture(autouse=True)
def lengths(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let len be a multiple of 16, as for these kernels."""
    made = replay.entry

    def entry(found: spec.Spec, code: bytes, abi: memory.Abi) -> Any:
        state = made(found, code, abi)
        state.replace("n", scale(unknown("m"), 16))
        state.facts.assume(unknown("m"), 0, 1 << 36)
        state.replace("m", unknown("n"))
        return state

    monkeypatch.setattr(replay, "entry", entry)


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, Any]:
    """Return code and certificate of the kernel without a flaw."""
    folder = tmp_path_factory.mktemp("honest")
    report = judge(X86, x86(), folder)
    assert report
    return _code(x86(), folder), json.loads(json.dumps(report.certificate))


def _accepted(code: bytes, honest: tuple[bytes, Any]) -> bool:
    places = dict(zip(_branches(honest[0]), _branches(code), strict=False))
    try:
        return replay.replay(spec.read(_SPEC), "sysv", code, [_moved(tree, places) for tree in honest[1]]) > 0
    except Rejected:
        return False


def test_the_kernel_without_a_flaw_is_accepted(honest: tuple[bytes, Any], tmp_path: Path) -> None:
    assert _accepted(honest[0], honest)
    assert _accepted(_code(x86(inside="nop; nop"), tmp_path), honest)


def _judged(texts: dict[str, str], honest: tuple[bytes, Any], folder: Path) -> list[str]:
    """Return the names of the kernels whose code differs from that without a flaw; none may be accepted."""
    judged = []
    for name, text in texts.items():
        try:
            code = _code(text, folder)
        except LinkedError:
            continue
        if code != honest[0]:
            judged.append(name)
            assert not _accepted(code, honest), name
    return judged


def test_attacks_are_not_accepted(honest: tuple[bytes, Any], tmp_path: Path) -> None:
    texts = {attack.name: attack.text for attack in ATTACKS}
    assert len(_judged(texts, honest, tmp_path)) > len(texts) / 3


@pytest.mark.skipif(not PROVIDED.is_dir(), reason="the kernels are not part of the repository")
def test_provided_kernels_are_not_accepted(honest: tuple[bytes, Any], tmp_path: Path) -> None:
    sources = [path for path in sorted(PROVIDED.glob("*.S")) if not path.name.startswith(FOREIGN)]
    texts = {path.name: path.read_text() for path in sources}
    assert len(_judged(texts, honest, tmp_path)) > len(texts) / 3
