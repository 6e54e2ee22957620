"""The functions of checksums as a cross compiler compiles them for the library, and errors in their code."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from gfsmith.ir.folding import Routine
from gfsmith.prove.checksum.machine import prove_machine
from gfsmith.prove.machine.architecture import Instruction
from gfsmith.prove.machine.architectures import of_abi
from gfsmith.prove.machine.formats.image import Image
from gfsmith.prove.machine.formats.load import load
from gfsmith.prove.machine.prove import Report
from gfsmith.prove.verdict import Status
from tests.support.folders import shared_folder
from tests.support.paths import ROOT

Change = Callable[[int], int]


def compiled(command: Sequence[str], target: Path) -> Image:
    """Return the routines as a compiler compiles them. Skips the test without this compiler."""
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    core = ROOT / "runtime" / "core"
    include = [f"-I{path}" for path in (core / "src", core / "include", ROOT / "gen_out")]
    source = core / "src" / "crc_kernels.c"
    flags = ["-O2", "-std=c11", "-fPIC", "-c", *include]
    subprocess.run([*command, *flags, str(source), "-o", str(target)], check=True)
    return load(target, None)


def image_of(name: str, compilers: Mapping[str, Sequence[str]]) -> Callable[..., Image]:
    """Return the fixture of a module: the routines for one architecture, as each compiler compiles them."""

    @pytest.fixture(scope="module", params=compilers)
    def image(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Image:
        target = shared_folder(tmp_path_factory) / f"crc_kernels-{name}-{request.param}.o"
        return compiled(compilers[request.param], target)

    return image


def flipped(bit: int) -> Change:
    return lambda word: word ^ 1 << bit


def _instructions(image: Image, symbol: str, abi: str) -> Iterator[Instruction]:
    function = image.functions[symbol]
    decode = of_abi(abi).decoder(image, function)
    place = function.address
    while place < function.address + function.size:
        instr = decode(place)
        if instr is None:
            return
        yield instr
        place = instr.next_ip


def _changed(image: Image, instr: Instruction, change: Change) -> Image:
    """Return the image with an instruction replaced."""
    segment = image.segment_at(instr.ip)
    assert segment is not None
    at, end = instr.ip - segment.address, instr.next_ip - segment.address
    word = change(int.from_bytes(segment.data[at:end], "little"))
    data = segment.data[:at] + word.to_bytes(end - at, "little") + segment.data[end:]
    new = replace(segment, data=data)
    return replace(image, segments=tuple(new if s is segment else s for s in image.segments))


@dataclass(frozen=True, slots=True)
class Functions:
    """Functions of one calling convention, by symbol with their routines."""

    abi: str
    routines: Mapping[str, tuple[Routine, ...]]

    def prove(self, symbol: str, image: Image) -> Report:
        return prove_machine(symbol, self.routines[symbol], image, self.abi)

    def with_errors(self, image: Image, pattern: str, change: Change) -> Counter[Status]:
        """Return how often an error is refuted or unsupported: a change of the encoding of the first and of
        the last instruction of every function that matches a pattern. No function with it may be proved."""
        found = Counter[Status]()
        for symbol in self.routines:
            code = _instructions(image, symbol, self.abi)
            chosen = {instr.ip: instr for instr in code if re.match(pattern, str(instr))}
            for place in {*list(chosen)[:1], *list(chosen)[-1:]}:
                report = self.prove(symbol, _changed(image, chosen[place], change))
                assert report.status is not Status.PROVED, f"{symbol} at {place:#x}"
                found[report.status] += 1
        return found
