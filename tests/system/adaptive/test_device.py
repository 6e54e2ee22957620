"""Device descriptions: Python's tomllib reads every description that the coordinator's device.c accepts in
the same way; device.c refuses all others with one line and takes no values from them.
"""

from __future__ import annotations

import os
import random
import tomllib
from pathlib import Path

import pytest

from tests.support.paths import ROOT
from tests.system.adaptive.support import INCLUDES, NATIVE, OPTANE, compile_c, run

DEFAULTS = {"name": "dram", "line": 64, "buffer": 0, "latency": 0, "streams": 32, "channels": 1}
NAME = "line 2: name is not 1 to 47 letters, digits, blanks and . _ + - in double quotes"
TAKEN = (
    OPTANE,
    "[device]",
    "# all as DRAM\n\n  [ device ]  # yes\n\n",
    '[device]\nname = "x"',
    '[device]\r\nline = 4096\r\nname = "CXL 2.0 a-b_c+d"  # a comment\r\n',
    "[device]\n\tbuffer\t=\t98_304\t# bytes\n",
    "[device]\nline=64\nstreams=4096\nchannels=64\nlatency=1000000\nbuffer=1073741824",
)
REFUSED = {
    "": "there is no table [device]",
    "line = 256": "line 1: a key before the table [device]",
    "[devices]": "line 1: not the one table [device]",
    "[device]\n[device]": "line 2: not the one table [device]",
    "[device]\n[other]": "line 2: not the one table [device]",
    "[[device]]": "line 1: not the one table [device]",
    "[device]\nlines = 256": "line 2: unknown key; allowed: name, line, buffer, latency, streams, channels",
    "[device]\n= 256": "line 2: unknown key; allowed: name, line, buffer, latency, streams, channels",
    "[device]\nline = 0": "line 2: line is not a number from 64 to 4096, a power of two",
    "[device]\nline = 100": "line 2: line is not a number from 64 to 4096, a power of two",
    "[device]\nline = 32": "line 2: line is not a number from 64 to 4096, a power of two",
    "[device]\nline = 8192": "line 2: line is not a number from 64 to 4096, a power of two",
    "[device]\nline = 4294967552": "line 2: line is not a number from 64 to 4096, a power of two",
    "[device]\nline = 18446744073709551872": "line 2: line is not a number from 64 to 4096, a power of two",
    "[device]\nline = -64": "line 2: line is not a number from 64 to 4096, a power of two",
    "[device]\nline = 256.0": "line 2: line is not a number from 64 to 4096, a power of two",
    '[device]\nline = "256"': "line 2: line is not a number from 64 to 4096, a power of two",
    "[device]\nline = 256 256": "line 2: line is not a number from 64 to 4096, a power of two",
    "[device]\nbuffer = 0": "line 2: buffer is not a number from 1 to 1073741824",
    "[device]\nbuffer = nan": "line 2: buffer is not a number from 1 to 1073741824",
    "[device]\nbuffer = 096": "line 2: buffer is not a number from 1 to 1073741824",
    "[device]\nbuffer = 1__0": "line 2: buffer is not a number from 1 to 1073741824",
    "[device]\nbuffer = 10_": "line 2: buffer is not a number from 1 to 1073741824",
    "[device]\nlatency =": "line 2: latency is not a number from 1 to 1000000",
    "[device]\nstreams = 4097": "line 2: streams is not a number from 1 to 4096",
    "[device]\nchannels = 65": "line 2: channels is not a number from 1 to 64",
    "[device]\nline": "line 2: a key without = and a value",
    "[device]\nline 256": "line 2: a key without = and a value",
    "[device]\nline = 64\nline = 64": "line 3: a key is given twice",
    "[device]\nname = optane": NAME,
    '[device]\nname = ""': NAME,
    '[device]\nname = "a': NAME,
    '[device]\nname = "a\\"b"': NAME,
    f'[device]\nname = "{"a" * 48}"': NAME,
    "[device]\nline = 64\x00": "line 2: not ASCII text",
    "[device]\n# caf\u00e9": "line 2: not ASCII text",
    "[device]\rline = 64": "line 1: not ASCII text",
    "[device]\n#" + "x" * 300: "line 2: a line of more than 255 bytes",
    "[device]\n" + "# comment\n" * 500: "it has more than 4096 bytes",
}


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("device")
    flags = ("-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", *INCLUDES)
    return compile_c(folder / "device", *flags, NATIVE / "device.c", ROOT / "runtime/adaptive/src/device.c")


def answers(reader: Path, folder: Path, texts: list[bytes]) -> list[str]:
    for n, text in enumerate(texts):
        (folder / f"{n}.toml").write_bytes(text)
    lines = run(reader, *(folder / f"{n}.toml" for n in range(len(texts))))[0].splitlines()
    assert len(lines) == len(texts)
    return lines


def expected(text: str) -> str:
    """Return the expected line, by tomllib."""
    read = DEFAULTS | tomllib.loads(text)["device"]
    return "|".join(str(read[name]) for name in DEFAULTS)


def test_taken(reader: Path, tmp_path: Path) -> None:
    lines = answers(reader, tmp_path, [text.encode() for text in TAKEN])
    assert lines == [expected(text) for text in TAKEN]


def test_refused(reader: Path, tmp_path: Path) -> None:
    lines = answers(reader, tmp_path, [text.encode() for text in REFUSED])
    assert lines == [f"! {why}" for why in REFUSED.values()]
    assert run(reader, tmp_path, "/nowhere")[0].splitlines() == ["! it cannot be read"] * 2


def test_a_pipe(reader: Path, tmp_path: Path) -> None:
    """Without a writer it is empty; a writer that is silent is not awaited."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert run(reader, pipe)[0] == "! there is no table [device]\n"
    end = os.open(pipe, os.O_RDWR)
    assert run(reader, pipe)[0] == "! it cannot be read\n"
    os.close(end)


def test_broken(reader: Path, tmp_path: Path) -> None:
    """Of randomly changed texts, device.c accepts none that tomllib reads differently."""
    draw = random.Random(9)
    alphabet = '[]device= #"\n\r\t_.0123456789abc-+\\\x00\x7f'
    texts = []
    for _ in range(3000):
        text = list(draw.choice(TAKEN))
        for _ in range(draw.randint(1, 4)):
            at = draw.randrange(len(text))
            match draw.randrange(3):
                case 0:
                    text[at] = draw.choice(alphabet)
                case 1:
                    text.insert(at, draw.choice(alphabet))
                case _ if len(text) > 1:
                    del text[at]
        texts.append("".join(text))
    lines = answers(reader, tmp_path, [text.encode() for text in texts])
    taken = [(text, line) for text, line in zip(texts, lines, strict=True) if not line.startswith("! ")]
    assert len(taken) > 100
    for text, line in taken:
        assert line == expected(text), repr(text)
