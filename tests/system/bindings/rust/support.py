"""bindings/rust in a clean copy of the tracked files, with cargo's own messages.

Copies and target/ stay under build/rust, so that a second run compiles nothing. Cargo.lock names its
registry and stays out of the sources (tests/oracle/peers.py); Cargo.toml pins the crates that it names,
and CHECKSUMS has their checksums.
"""

from __future__ import annotations

import functools
import json
import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.support.paths import ROOT

EXAMPLE = "bindings/rust"
BUILD = ROOT / "build" / "rust"
#: The cache of gfsmith's proofs, with those of `make gen`, which are those of the crate's kernels.
CACHE = BUILD / "cache"
TOOLS = ROOT / ".venv" / "bin"
#: A module of the programs that compare a replacement with its original.
RANDOM = Path(__file__).parent / "random.rs"

#: SHA-256 of the crates that the manifests name, as cargo records it.
CHECKSUMS = {
    "cc": "4ff2a8126fff0f8c839080d619675a585e61720bb12d2baceae45769fd66f155",
    "cpu-time": "e9e393a7668fe1fad3075085b86c781883000b4ede868f43627b34a87c8b7ded",
    "quickcheck": "95c589f335db0f6aaa168a7cd27b1fc6920f5e1470c804f814d9cd6e62a0f70b",
    "rayon": "fb39b166781f92d482534ef4b4b1b2568f42613b53e5b6c160e24cfbfa30926d",
    "reed-solomon-erasure": "7263373d500d4d4f505d43a2a662d475a894aa94503a1ee28e9188b5f3960d4f",
    "reed-solomon-simd": "cffef0520d30fbd4151fb20e262947ae47fb0ab276a744a19b6398438105a072",
    "xxhash-rust": "40de123dbb523ebcc00d61ec01840ad192578afc378d859f3429caa38308fad5",
}

#: Both crates with all features, so that cargo compiles their dependencies once for all tests.
ALL = ("--workspace", "--features", "gfsmith/rayon,gfsmith/shards")


def sources() -> dict[str, bytes]:
    """Return path -> content of the example's files that git tracks or would track."""
    command = ("git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", EXAMPLE)
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    paths = [ROOT / name for name in listed.split("\0") if name]
    return {str(path.relative_to(ROOT / EXAMPLE)): path.read_bytes() for path in paths if path.exists()}


def lay(folder: Path, files: Mapping[str, bytes]) -> None:
    """Make `folder` hold these files and, except Cargo.lock, no others; unchanged files keep their time."""
    for path in folder.rglob("*"):
        name = str(path.relative_to(folder))
        if path.is_file() and name not in files and name != "Cargo.lock":
            path.unlink()
    for name, content in files.items():
        path = folder / name
        if not path.exists() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


def environment(generator: bool = True) -> dict[str, str]:
    """Return an environment with or without gfsmith on PATH. If clippy is installed, it compiles the
    workspace's crates. No test needs debug information or fast C, which take a part of each build's time.
    """
    ours = ("GFSMITH", "CARGO_TARGET", "RUSTC_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    folders = [name for name in os.environ["PATH"].split(os.pathsep) if not (Path(name) / "gfsmith").exists()]
    if generator:
        folders.insert(0, str(TOOLS))
    kept |= {"PATH": os.pathsep.join(folders), "CARGO_TARGET_DIR": str(BUILD / "target")}
    kept |= {"CARGO_PROFILE_DEV_DEBUG": "0", "CFLAGS": "-O1", "GFSMITH_CACHE": str(CACHE)}
    return kept | ({"RUSTC_WORKSPACE_WRAPPER": "clippy-driver"} if has("clippy") else {})


@functools.cache
def has(command: str) -> bool:
    """Return True if this command of cargo exists. Debian's cargo-web has neither clippy nor fmt."""
    return subprocess.run(("cargo", command, "--version"), capture_output=True).returncode == 0


@functools.cache
def installed(target: str) -> bool:
    """Return True if Rust's standard library for a target is installed."""
    command = ("rustc", "--print", "target-libdir", "--target", target)
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode == 0 and any(Path(done.stdout.strip()).glob("libstd-*.rlib"))


@dataclass(frozen=True, slots=True)
class Project:
    """A cargo workspace."""

    folder: Path

    def run(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a cargo command there, with these variables."""
        command, known = ("cargo", *arguments), environment() | variables
        return subprocess.run(command, cwd=self.folder, env=known, capture_output=True, text=True)

    def cargo(self, *arguments: str) -> str:
        """Run a call that must succeed and return its standard output."""
        done = self.run(*arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def messages(self, *arguments: str) -> list[dict[str, object]]:
        """Return the messages of `cargo build` about its artifacts."""
        text = self.cargo("build", "--quiet", "--message-format=json", *arguments)
        return [json.loads(line) for line in text.splitlines()]

    def program(self, *arguments: str) -> Path:
        """Return the only program that `cargo build` makes."""
        (found,) = (
            Path(str(message["executable"]))
            for message in self.messages(*arguments)
            if message.get("executable") is not None
        )
        return found

    def build_script(self, crate: str) -> tuple[Path, Path]:
        """Return the compiled build.rs of a crate, and its OUT_DIR."""
        script, out = None, None
        for message in self.messages("--workspace"):
            if f"{crate}#" not in str(message.get("package_id")) and f"/{crate}@" not in str(message):
                continue
            if message["reason"] == "build-script-executed":
                out = Path(str(message["out_dir"]))
            target = message.get("target")
            if isinstance(target, dict) and target["kind"] == ["custom-build"]:
                names = message["filenames"]
                assert isinstance(names, list)
                script = Path(names[0])
        assert script is not None and out is not None
        return script, out

    def sources_of(self, crate: str) -> Path:
        """Return the folder of the sources of a crate from the registry."""
        packages = json.loads(self.cargo("metadata", "--format-version=1"))["packages"]
        (manifest,) = (p["manifest_path"] for p in packages if p["name"] == crate and p["source"])
        return Path(manifest).parent

    def checksums(self) -> dict[str, str]:
        """Return the checksums of the crates in Cargo.lock that the manifests name."""
        text = (self.folder / "Cargo.lock").read_text()
        found = re.findall(r'name = "(\S+)"\nversion = [^\n]*\nsource = [^\n]*\nchecksum = "(\w+)"', text)
        return {name: checksum for name, checksum in found if name in CHECKSUMS}


def append(path: Path, text: str) -> None:
    path.write_text(f"{path.read_text()}\n{text}")


def symbols(binary: Path) -> set[str]:
    """Return the symbols that a program or archive defines."""
    done = subprocess.run(("nm", "--defined-only", binary), capture_output=True, text=True, check=True)
    return {line.split()[2] for line in done.stdout.splitlines() if len(line.split()) == 3}
