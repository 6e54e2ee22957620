"""Any function of an object file: its contract from a few words, the proof, one clear line for each error."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from gfsmith.build.generate import generate_one
from gfsmith.emit.x86.frame import Abi
from gfsmith.prove.verdict import Status
from gfsmith.verify.functions import ForeignError, contract_of, describe, functions, verify
from gfsmith.verify.report import established, outcome
from tests.support.specs import make_spec
from tests.unit.prove.objects import GCC, assemble

NAME = "kernel"
WORDS: dict[str, Any] = {
    "operation": "xor",
    "inputs": "2",
    "outputs": 1,
    "tables": "none",
    "arguments": "len,k,tables,src,dst",
}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The object file of a kernel that adds two shards."""
    code = generate_one(make_spec("xor", 2, 1, "sse", unroll=1)).code[Abi.SYSV]
    text = f".text\n.globl {NAME}\n.type {NAME}, @function\n{NAME}:\n.byte {','.join(map(str, code))}\n"
    return assemble(GCC, f"{text}.size {NAME}, . - {NAME}\n", tmp_path_factory.mktemp("verify"), NAME)


def test_a_function_is_proved_under_its_contract_and_refuted_under_another(path: Path) -> None:
    assert functions(path) == [NAME]
    report = verify(path, describe(NAME, ["sse"], WORDS), exhaustive=False)
    assert report.status is Status.PROVED, report.reason
    assert outcome(report)["status"] == "proved"
    assert f"{report.covered} of {report.instructions} instructions reached" in established(report)
    assert not verify(path, describe(NAME, ["sse"], WORDS | {"inputs": "3"}), exhaustive=False)


def test_a_file_that_has_no_such_function_is_an_error(path: Path, tmp_path: Path) -> None:
    with pytest.raises(ForeignError, match=rf"^{path}: no function other; its functions: {NAME}$"):
        verify(path, describe("other", ["sse"], WORDS), exhaustive=False)
    (tmp_path / "text.o").write_text("no object")
    assert functions(tmp_path / "text.o") == []
    with pytest.raises(ForeignError, match=rf"^{tmp_path / 'text.o'}: (?!/)"):
        verify(tmp_path / "text.o", describe(NAME, ["sse"], WORDS), exhaustive=False)


@pytest.mark.parametrize(
    ("changes", "isas", "message"),
    [
        ({}, [], "an object file needs --isa"),
        ({"operation": None}, [], "an object file needs --operation and --isa"),
        ({"inputs": None}, ["sse"], "an object file needs --inputs"),
        ({}, ["sse", "avx2"], "--isa sse, avx2; allowed: one instruction set"),
    ],
)
def test_a_message_names_only_the_missing_options(
    changes: dict[str, None], isas: list[str], message: str
) -> None:
    with pytest.raises(ForeignError, match=f"^{message}$"):
        describe(NAME, isas, WORDS | changes)


def test_an_unknown_function_of_an_archive_lists_the_closest_ones(tmp_path: Path) -> None:
    """Of all members, a bounded number."""
    for member, names in (("low", range(6)), ("high", range(6, 20))):
        text = "".join(f".globl part_{n}\n.type part_{n}, @function\npart_{n}: ret\n" for n in names)
        assemble(GCC, text, tmp_path, member)
    archive = tmp_path / "both.a"
    subprocess.run(("ar", "rcs", archive, *sorted(tmp_path.glob("*.o"))), check=True)
    with pytest.raises(ForeignError) as caught:
        verify(archive, describe("part_133", ["sse"], WORDS), exhaustive=False)
    text, _, names = str(caught.value).rpartition(": ")
    assert text == f"{archive}: no function part_133; the closest of its 20 functions"
    assert names.split(", ")[0] == "part_13"
    assert len(names.split(", ")) == 8


def test_narrow_arguments_and_tables_are_in_the_contract() -> None:
    changes = {"operation": "dot", "tables": "isal-nibble", "arguments": "len:int,k,tables,src,dst0"}
    contract = contract_of(describe(NAME, ["avx2"], WORDS | changes))
    assert contract.parameters == ("len", "k", "coeffs", "src", "one_dst")
    assert contract.narrow == ("len",)
    assert (contract.layout.format, contract.layout.entry, contract.layout.sources) == ("nibble", 32, 2)


def test_the_first_convention_of_the_architecture_is_the_default() -> None:
    found = {isa: contract_of(describe(NAME, [isa], WORDS)).abi for isa in ("sse", "neon", "vsx", "vx")}
    assert found == {"sse": "sysv", "neon": "aapcs64", "vsx": "elfv2", "vx": "s390x"}


def test_a_convention_decides_the_machine() -> None:
    contract = contract_of(describe(NAME, ["sse"], WORDS | {"abi": "aapcs64"}))
    assert (contract.abi, contract.vector) == ("aapcs64", 16)


def test_a_slice_is_a_pointer_and_two_numbers() -> None:
    words = WORDS | {"arguments": "tables:slice,src:slice,dst:slice,start,len", "tables": "klauspost-nibble"}
    contract = contract_of(describe(NAME, ["avx2"], words | {"operation": "dot", "abi": "go-amd64"}))
    assert contract.parameters == (
        *("coeffs", "any", "any"),
        *("src", "sources", "any"),
        *("dst", "any", "any"),
        *("start", "len"),
    )
    assert contract.stride == 3


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"operation": "sum"}, "operation 'sum' is unknown; allowed: dot"),
        ({"inputs": "0"}, "inputs '0'; allowed: a number from 1, or n for any"),
        ({"outputs": 0}, "outputs = 0; allowed: 1 to"),
        ({"tables": "wide"}, "tables 'wide' is unknown; allowed: nibble"),
        ({"tables": "isal-affine", "inputs": "n"}, "tables isal-affine need a fixed number of --inputs"),
        ({"arguments": "len,size"}, "argument 'size' is unknown; allowed: len"),
        ({"arguments": "index,src0,dst0"}, "an index needs --tables"),
        (
            {"arguments": "low,high,src0,dst0"},
            "low and high need --tables nibble, --inputs 1 and --outputs 1",
        ),
        ({"arguments": "src:slice,dst,len"}, "src and dst must both be slices of one language, or none"),
        ({"arguments": "src:slice,dst:rust,len"}, "src and dst must both be slices of one language, or none"),
        (
            {"arguments": "entry,src0,dst0,len"},
            "entry needs --tables affine or mulb, --inputs 1 and --outputs 1",
        ),
        ({"arguments": "src0,dst0,dst1,len"}, "dst1 needs --outputs 2"),
        ({"arguments": "low:rust,len"}, "argument 'low:rust' is unknown; allowed: len"),
        ({"arguments": f"len,{1 << 31}"}, "argument '2147483648' is unknown; allowed: len"),
        ({"arguments": "len:slice"}, "argument 'len:slice' is unknown; allowed: len"),
        ({"start_granule": 0}, "start_granule = 0; allowed: 1 to"),
        ({"aligned": 12}, "aligned = 12; allowed: a power of two"),
        ({"columns": 1}, "columns = 1; allowed: from inputs = 2"),
        ({"minimum": 1, "maximum": 15, "granule": 16}, "nothing would be proved"),
        ({"features": ("AVX", "avx512dq")}, "feature 'avx512dq' is unknown; allowed: SSSE3, AVX, AVX2"),
        (
            {"features": ("AVX512DQ",), "abi": "aapcs64"},
            "feature 'AVX512DQ' is unknown; allowed: ASIMD, SHA3",
        ),
        ({"abi": "fast"}, "abi 'fast' is unknown; allowed: sysv"),
    ],
)
def test_an_invalid_description_gets_one_line(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ForeignError) as error:
        contract_of(describe(NAME, ["avx2"], WORDS | changes))
    assert words in str(error.value) and "\n" not in str(error.value)
