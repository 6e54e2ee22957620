"""The authentication codes of native/seal.c: two libraries compute the same ones."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.support.mutation import Mutant
from tests.system.compose.support import NATIVE, Library, with_error


def test_both_libraries_agree(sanitized: Library) -> None:
    done = subprocess.run([sanitized.program("seal", NATIVE / "seal.c")], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


MUTANTS = {
    "another nonce": Mutant(
        "EVP_EncryptInit_ex($context, $cipher, NULL, key, once.byte)",
        "EVP_EncryptInit_ex($context, $cipher, NULL, key, key)",
    ),
    "fewer bytes": Mutant(
        "EVP_EncryptUpdate($context, NULL, &none, bytes, (int)count)",
        "EVP_EncryptUpdate($context, NULL, &none, bytes, (int)count - 1)",
    ),
    "a failure counts as success": Mutant("return sealed;", "return true;"),
    "OpenSSL is used to the end": Mutant("!atomic_load(&ended)", "true"),
    "OpenSSL ends first": Mutant("OPENSSL_atexit(end_use) != 1", "false"),
    "half a comparison": Mutant("sodium_memcmp(right, tag, sizeof right)", "sodium_memcmp(right, tag, 8)"),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_mutants_are_refuted(plain: Library, tmp_path: Path, name: str) -> None:
    program = with_error(plain, MUTANTS[name], tmp_path, "seal", NATIVE / "seal.c")
    assert subprocess.run([program], capture_output=True).returncode != 0
