"""`python -m judge` replays certificates of the code that ships, and reports changes of code, certificates
and files in one line each."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gfsmith.build import certificates, generate, output, prove_kernels
from gfsmith.codes import parity_matrix
from gfsmith.kernel.spec import KernelSpec
from tests.support.paths import ROOT
from tests.support.specs import make_baked, make_spec


def build(folder: Path, *specs: KernelSpec) -> Path:
    """Write the output and the cache of some kernels."""
    kernels = [generate.generate_one(spec) for spec in specs]
    work = prove_kernels.tasks_of(kernels)
    prove_kernels.prove_all(work, 1, folder / "proofs.json", lambda n: None)
    (folder / "x86").mkdir()
    for kernel in kernels:
        (folder / kernel.path).write_text(kernel.text)
    (folder / "MANIFEST.json").write_text(output.manifest(kernels, {}))
    return folder


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """Return a folder with the output and the cache of one kernel."""
    return build(tmp_path, make_spec("dot", None, 1, "avx2", unroll=1))


def run(folder: Path, *options: str) -> tuple[int, str, str]:
    command = [sys.executable, "-m", "judge", "--folder", folder, "--cache", folder / "proofs.json", *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def _change(folder: Path, change: Any) -> None:
    """Change every record of the cache."""
    path = folder / "proofs.json"
    sealed = json.loads(path.read_text())
    for entry in sealed.values():
        record = json.loads(entry[1])
        change(record)
        entry[1] = json.dumps(record)
    path.write_text(json.dumps(sealed))


def test_all_functions_are_accepted(built: Path) -> None:
    assert run(built) == (0, "judge: 2 functions accepted (ms 1, sysv 1), 0 rejected\n", "")


def test_kernels_of_equal_code_have_a_certificate_each(tmp_path: Path) -> None:
    specs = [make_baked("gfni_avx512", code, 4, 4) for code in ("backblaze", "lch")]
    assert parity_matrix("backblaze", 4, 4) == parity_matrix("lch", 4, 4)
    assert run(build(tmp_path, *specs))[:2] == (
        0,
        "judge: 4 functions accepted (ms 2, sysv 2), 0 rejected\n",
    )


def test_changed_code_is_rejected(built: Path) -> None:
    listing = next((built / "x86").glob("*.S"))
    listing.write_text(listing.read_text().replace("0xc3", "0xc2"))
    status, out, _ = run(built)
    assert status == 1
    assert out.count("its code differs from MANIFEST.json") == 2


def test_a_certificate_of_nothing_is_rejected(built: Path) -> None:
    def empty(record: dict[str, Any]) -> None:
        record["trees"] = certificates.record(make_spec("xor", 2, 1, "sse"), "sysv", b"", [["ret"]])["trees"]

    _change(built, empty)
    status, out, _ = run(built)
    assert status == 1
    assert "0 functions accepted" not in out.splitlines()[0]
    assert out.splitlines()[-1].endswith("2 rejected")


def test_a_function_without_an_entry_in_the_manifest_is_rejected(built: Path) -> None:
    manifest = json.loads((built / "MANIFEST.json").read_text())
    (built / "x86" / "other.S").write_text("")
    del manifest["kernels"][0]["code"]["ms"]
    (built / "MANIFEST.json").write_text(json.dumps(manifest))
    status, out, _ = run(built)
    assert status == 1
    assert "other: not in MANIFEST.json" in out
    assert "(ms): " in out
    assert out.splitlines()[-1] == "judge: 1 functions accepted (ms 0, sysv 1), 2 rejected"


@pytest.mark.parametrize("field", ["trees", "kernel"])
def test_a_damaged_record_is_rejected(field: str, built: Path) -> None:
    _change(built, lambda record: record.update({field: record["kernel"] | {"outputs": 2}}))
    status, out, _ = run(built)
    assert (status, out.splitlines()[-1].split(", ")[-1]) == (1, "2 rejected")


@pytest.mark.parametrize("missing", ["MANIFEST.json", "proofs.json"])
def test_a_missing_file_is_named(missing: str, built: Path) -> None:
    (built / missing).unlink()
    line = f"judge: {built / missing}: No such file or directory; `make gen` writes it\n"
    assert run(built) == (2, "", line)


def test_a_malformed_file_is_named(built: Path) -> None:
    (built / "proofs.json").write_text("{")
    status, out, said = run(built)
    assert (status, out) == (2, "") and said.startswith(f"judge: {built / 'proofs.json'}: not JSON: ")
    (built / "proofs.json").write_text("[1]")
    status, out, said = run(built)
    assert (status, out) == (2, "") and said.startswith(
        f"judge: {built} or {built / 'proofs.json'} has another form"
    )


@pytest.mark.parametrize("number", ["0", "-3", "1025"])
def test_a_wrong_number_of_processes_is_refused(number: str, built: Path) -> None:
    status, out, said = run(built, "--jobs", number)
    assert (status, out) == (2, "") and f"--jobs: '{number}' is not allowed; allowed: 1 to 1024" in said
