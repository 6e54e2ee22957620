"""Commands of docs/verdicts.md and docs/foreign-objects.md for other projects, in an empty folder."""

from __future__ import annotations

import re
import shlex
import subprocess
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gfsmith.cli.main import main
from tests.support.paths import ROOT
from tests.unit.prove.objects import GCC, assemble

VERDICTS = (ROOT / "docs" / "verdicts.md").read_text()
FOREIGN = (ROOT / "docs" / "foreign-objects.md").read_text()

NEON = """
#include <arm_neon.h>
#include <stddef.h>
void foo_mul(size_t len, const uint8_t *tables, const uint8_t *src, uint8_t *dst) {
  uint8x16_t low = vld1q_u8(tables), high = vld1q_u8(tables + 16);
  for (size_t i = 0; i < len; i += 16) {
    uint8x16_t x = vld1q_u8(src + i), l = vandq_u8(x, vdupq_n_u8(15)), h = vshrq_n_u8(x, 4);
    vst1q_u8(dst + i, veorq_u8(vqtbl1q_u8(low, l), vqtbl1q_u8(high, h)));
  }
}
"""
POWER = """
#include <altivec.h>
#include <stddef.h>
typedef __vector unsigned long long words;
typedef __vector unsigned char bytes;
static bytes load(const unsigned char *from) {
  return (bytes)vec_xl_be(0, (const unsigned long long *)from);
}
void foo_mul(size_t len, const unsigned char *tables, const unsigned char *src, unsigned char *dst) {
  bytes low = load(tables), high = load(tables + 16);
  for (size_t i = 0; i < len; i += 16) {
    bytes product = __builtin_altivec_crypto_vpermxor_be(high, low, load(src + i));
    vec_xst_be((words)product, 0, (unsigned long long *)(dst + i));
  }
}
"""
CROSS = {
    "neon": (NEON, ("--target=aarch64-linux-gnu",), ("low, l", "low, h")),
    "power": (POWER, ("--target=powerpc64le-linux-gnu", "-mcpu=power8"), ("(high, low", "(low, high")),
}
#: f(len, src, dst): a copy, in steps of 16 bytes. The mask has all bits; its section is writable.
COPY = """
  .data
  .p2align 4
mask: .fill 16, 1, 0xff
  .text
  .globl f
  .type f, @function
f:
  test %rdi, %rdi
  jz 2f
1:
  movntdqa (%rsi), %xmm0
  pand mask(%rip), %xmm0
  movdqu %xmm0, (%rdx)
  add $16, %rsi
  add $16, %rdx
  sub $16, %rdi
  jnz 1b
2:
  ret
  .size f, . - f
"""


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _block(page: str, language: str, words: str) -> str:
    """Return the only block of code in a language that contains some words."""
    (found,) = [each for each in re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL) if words in each]
    return str(found)


def _run(command: str) -> Result:
    name, *arguments = shlex.split(command)
    assert name == "gfsmith"
    return CliRunner().invoke(main, arguments)


def test_the_line_for_the_ci_of_another_project(empty: Path) -> None:
    """The documented function is proved; with a wrong shift it is refuted."""
    source = _block(VERDICTS, "c", "foo_mad")
    (empty / "kernels.toml").write_text(_block(VERDICTS, "toml", "foo_mad"))
    (empty / "build").mkdir()
    (line,) = re.findall(r"^    pip install .* && (gfsmith verify .*)$", VERDICTS, re.MULTILINE)
    commands = [
        re.search(rf"`({name} [^`]*foo[^`]*)`", VERDICTS.replace("\n", " ")) for name in ("gcc", "ar")
    ]
    for text, code in ((source, 0), (source.replace("(x, 4)", "(x, 3)"), 1)):
        (empty / "foo.c").write_text(text)
        for command in commands:
            assert command
            subprocess.run(command[1], shell=True, check=True)
        result = _run(line)
        assert result.exit_code == code, result.output
        assert "foo_mad" in result.output


def test_the_line_installs_the_packages_of_the_commands() -> None:
    (extra,) = re.findall(r"^    pip install '/path/to/gfsmith\[(\w+)\]' &&", VERDICTS, re.MULTILINE)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert any(package.startswith("click") for package in project["optional-dependencies"][extra])


@pytest.mark.needs("clang")
@pytest.mark.parametrize("name", CROSS)
def test_objects_for_other_processors(empty: Path, name: str) -> None:
    source, options, change = CROSS[name]
    (command,) = re.findall(rf"^    (gfsmith verify {name}\.o .*\n .*)$", FOREIGN, re.MULTILINE)
    for text, code in ((source, 0), (source.replace(*change), 1)):
        (empty / "foo.c").write_text(text)
        compile_it = ["clang-19", *options, "-O2", "-ffreestanding", "-c", "foo.c", "-o", f"{name}.o"]
        subprocess.run(compile_it, check=True)
        result = _run(command.replace("\\\n", " "))
        assert result.exit_code == code, result.output


def test_features_and_constants_in_writable_data_are_granted(empty: Path) -> None:
    assemble(GCC, COPY, empty)
    command = (
        "gfsmith verify unit.o --symbol f --operation xor --inputs 1 --isa sse --granule 16 --aligned 16"
    )
    command += ' --arguments "len,src0,dst0"'
    for options, code, words in (
        ("--frozen-data --feature SSE4_1", 0, "proved"),
        ("--feature SSE4_1", 1, "outside of its constants"),
        ("--frozen-data", 1, "needs SSE4_1"),
    ):
        result = _run(f"{command} {options}")
        assert (result.exit_code, words in result.output) == (code, True), result.output
