"""The keys of caches: a change of code invalidates only the results that depend on it."""

from __future__ import annotations

import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gfsmith.build import sources
from gfsmith.build.sources import PACKAGE, digest
from tests.support.configurations import known_proofs
from tests.support.specs import make_spec

MODULES = {
    "__init__.py": "",
    "prove/__init__.py": "",
    "prove/entry.py": "from fake.prove import linear\nimport iced_x86\ndef f():\n    import fake.late\n",
    "prove/linear.py": '"""Sums."""\nfrom . import words\nfrom ..up import UP\n\nONE = 1\n',
    "prove/words.py": "TEMPLATE = 'used.j2'\n",
    "late.py": "LATE = 1\n",
    "up.py": "if TYPE_CHECKING:\n    import fake.typed\nelse:\n    import sympy\n",
    "typed.py": "",
    "unrelated.py": "import fake.prove.entry\n",
}
TEMPLATES = {"used.j2": "{% include 'inner.j2' %}", "inner.j2": "x", "other.j2": "y"}


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package with templates next to it, as in a checkout."""
    for folder, texts in (("generator/fake", MODULES), ("templates", TEMPLATES)):
        for name, text in texts.items():
            path = tmp_path / folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    return tmp_path / "generator/fake"


def fresh(package: Path) -> str:
    """Return the digest of the entry for the current files."""
    for remembered in (sources.digest, sources.sources, sources._module):
        remembered.cache_clear()
    return digest((f"{package.name}.prove.entry",), package)


def append(path: Path, text: str) -> None:
    path.write_text(path.read_text() + text)


def test_imported_modules_count(package: Path) -> None:
    found = sources.sources(("fake.prove.entry",), package)
    names = {"fake", "fake.prove", "fake.prove.entry", "fake.prove.linear", "fake.prove.words"}
    assert found.modules == {*names, "fake.late", "fake.up"}
    assert found.foreign == {"iced_x86", "sympy"}
    assert found.templates == {"used.j2", "inner.j2"}


@pytest.mark.parametrize(
    "name", ["prove/entry.py", "prove/linear.py", "prove/words.py", "prove/__init__.py", "late.py", "up.py"]
)
def test_a_change_of_code_changes_the_digest(package: Path, name: str) -> None:
    before = fresh(package)
    append(package / name, "\nTWO = 2\n")
    assert fresh(package) != before


@pytest.mark.parametrize("name", ["unrelated.py", "typed.py"])
def test_other_code_does_not(package: Path, name: str) -> None:
    before = fresh(package)
    append(package / name, "\nTWO = 2\n")
    assert fresh(package) == before


def test_comments_docstrings_and_layout_do_not(package: Path) -> None:
    before = fresh(package)
    text = (package / "prove/linear.py").read_text()
    text = text.replace("Sums.", "Differences.").replace("ONE = 1", "ONE = (\n    1  # one\n)")
    (package / "prove/linear.py").write_text(text)
    assert fresh(package) == before
    (package / "prove/linear.py").write_text(text.replace("    1 ", "    2 "))
    assert fresh(package) != before


@pytest.mark.parametrize(("name", "same"), [("used.j2", False), ("inner.j2", False), ("other.j2", True)])
def test_templates(package: Path, name: str, same: bool) -> None:
    before = fresh(package)
    append(package.parents[1] / "templates" / name, "z")
    assert (fresh(package) == before) is same


@pytest.mark.parametrize(
    ("distribution", "same"), [("iced-x86", False), ("sympy", False), ("capstone", True)]
)
def test_versions(package: Path, monkeypatch: pytest.MonkeyPatch, distribution: str, same: bool) -> None:
    before, version = fresh(package), sources.metadata.version

    def changed(name: str) -> str:
        return "99" if name == distribution else version(name)

    monkeypatch.setattr(sources.metadata, "version", changed)
    assert (fresh(package) == before) is same


def test_the_version_of_python(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = fresh(package)
    monkeypatch.setattr(sources.platform, "python_version", lambda: "3.99.0")
    assert fresh(package) != before


def test_dependencies_of_the_prover_and_the_generator() -> None:
    """Every distribution has a version, and changes of commands or of parameter searches invalidate neither
    cache.
    """
    for entry, foreign in (
        ("gfsmith.prove.machine.prove", {"capstone", "elftools", "iced_x86", "sympy"}),
        ("gfsmith.build.generate", {"iced_x86", "jinja2", "peachpy", "sympy"}),
    ):
        found = sources.sources((entry,))
        assert found.foreign == foreign
        assert "none" not in map(sources._version, found.foreign)
        assert not {name.split(".")[1] for name in found.modules if "." in name} & {
            "cli",
            "explore",
            "export",
        }
    assert sources.sources(("gfsmith.build.generate",)).templates == {"c_kernel.c.j2", "x86_kernel.S.j2"}


def test_every_module_that_is_loaded_counts() -> None:
    """The key covers all modules loaded by generating and proving a kernel, in a separate process."""
    program = """
import pickle, sys
spec = pickle.load(sys.stdin.buffer)
from gfsmith.build.generate import generate_one
from gfsmith.prove.machine.prove import contract_of, prove_bytes
for abi, code in generate_one(spec).code.items():
    assert prove_bytes(contract_of(spec, abi), code, spec.symbol, False)
print(*(name for name in sys.modules if name.partition(".")[0] == "gfsmith"))
"""
    spec = pickle.dumps(make_spec("dot", 2, 1, "sse"))
    done = subprocess.run([sys.executable, "-c", program], input=spec, check=True, capture_output=True)
    entries = ("gfsmith.build.generate", "gfsmith.prove.machine.prove")
    missing = set(done.stdout.decode().split()) - sources.sources(entries).modules
    assert not missing


KERNEL = '[generator]\nisas = ["sse"]\n[[kernels]]\noperation = "mul"\nshapes = ["1x1"]\n'


def test_proofs_are_renewed_by_the_prover_alone(tmp_path: Path) -> None:
    """A build with a copy of gfsmith whose files the test edits."""
    top = tmp_path / "copy"
    shutil.copytree(PACKAGE, top / "generator/gfsmith", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(sources.share("templates"), top / "templates")
    (tmp_path / "gfsmith.toml").write_text(KERNEL)
    known_proofs(tmp_path / ".gfsmith-cache", "checksums")

    def kept() -> tuple[int, int]:
        """Return the numbers of kernels and proofs that another build takes from the caches."""
        command = [sys.executable, "-m", "gfsmith", "gen", "-j", "1"]
        place = {"PYTHONPATH": str(top / "generator"), "PATH": "/usr/bin:/bin"}
        subprocess.run(command, cwd=tmp_path, env=place, check=True, capture_output=True)
        texts = ((tmp_path / ".gfsmith-cache" / f"{name}.json").read_text() for name in ("kernels", "proofs"))
        kernels, proofs = (text.count('path\\":') + text.count('covered\\":') for text in texts)
        return kernels, proofs

    assert kept() == (1, 2)
    append(top / "generator/gfsmith/cli/list.py", "\nUNRELATED = 1\n")
    append(top / "generator/gfsmith/explore/stats.py", "\nUNRELATED = 1\n")
    append(top / "generator/gfsmith/prove/machine/linear.py", "\n# a comment\n")
    assert kept() == (1, 2)
    append(top / "generator/gfsmith/prove/machine/linear.py", "\nRELATED = 1\n")
    assert kept() == (1, 4)
    append(top / "generator/gfsmith/emit/x86/tail.py", "\nRELATED = 1\n")
    assert kept() == (2, 4)
