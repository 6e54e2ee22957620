"""Crates, fetched by cargo, and the objects that it compiles from them."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

from bench.build import BUILD, CRATES
from bench.build_lock import locked
from bench.peers.clients import Unavailable, run_client

HERE = Path(__file__).resolve().parent
_PROJECT = BUILD / "crates"
#: SHA-256 of the crates, as recorded by cargo.
_CHECKSUMS = {
    "reed-solomon-erasure": CRATES["reed-solomon-erasure"],
    "rusty_erasure-accel": "f936d7453da2c1978e4c60c6eb66d2c27deda143f867fabe2310b3be45935667",
    "rustfs-erasure-codec": "c31c2f2ff65a5075aad1fe29d350f1a154bdb097ff0057ee846ec1faf5701098",
}


def sources() -> Path:
    """Return the folder with one folder for each crate. Raises Unavailable."""
    found = _PROJECT / "vendor"
    with locked(BUILD / "crates.lock"):
        if not all((found / name).exists() for name in _CHECKSUMS):
            shutil.rmtree(_PROJECT, ignore_errors=True)
            shutil.copytree(HERE, _PROJECT)
            run_client(["cargo", "vendor", "--quiet", "vendor"], _PROJECT, "cargo fetches crates")
    lock = (_PROJECT / "Cargo.lock").read_text()
    for name, checksum in _CHECKSUMS.items():
        entry = re.search(rf'name = "{name}"[^\[]*checksum = "(\w+)"', lock)
        if entry is None or entry[1] != checksum:
            raise Unavailable(f"the crate {name} has an unexpected checksum; expected SHA-256 {checksum}")
    return found


def compiled(crate: str, target: Path, module: str = "") -> None:
    """Compile a crate to one object, whose functions have the last part of their path as name. Raises
    Unavailable.

    The object keeps the relocations of a module's functions only. The prover does not support those of
    variables of threads, which other functions have."""
    vendor = sources()
    settings = ('source.crates-io.replace-with="vendor"', f'source.vendor.directory="{vendor}"')
    options = [word for setting in settings for word in ("--config", setting)]
    command = ["cargo", "rustc", "--quiet", "--release", "--offline", "--lib", "-p", crate, *options]
    with locked(BUILD / "crates.lock"):
        run_client(
            [*command, "--", "--emit", "obj", "-C", "codegen-units=1"], _PROJECT, "cargo compiles crates"
        )
    made = max((_PROJECT / "target" / "release" / "deps").glob(f"{crate.replace('-', '_')}-*.o"), key=_age)
    target.parent.mkdir(parents=True, exist_ok=True)
    names = target.with_suffix(".names")
    names.write_text("".join(f"{old} {new}\n" for old, new in short_names(symbols(made)).items()))
    kept = f"!.text.*{module}*" if module else "!.text*"
    dropped = [f"--remove-relocations={pattern}" for pattern in (".text*", kept)]
    run_client(
        ["objcopy", *dropped, f"--redefine-syms={names}", made, target],
        target.parent,
        "binutils rename symbols",
    )


def _age(path: Path) -> int:
    return path.stat().st_mtime_ns


def symbols(path: Path) -> list[str]:
    """Return the names in an object's symbol table."""
    listed = subprocess.run(["nm", "--format=just-symbols", path], capture_output=True, text=True, check=True)
    return listed.stdout.split()


def short_names(symbols: list[str]) -> dict[str, str]:
    """Return the last part of the path of each function of Rust that no other function shares."""
    last = {symbol: part for symbol in symbols if (part := _last(symbol)) is not None}
    counts = Counter(last.values())
    return {symbol: part for symbol, part in last.items() if counts[part] == 1}


def _last(symbol: str) -> str | None:
    """Return the last part of a path: _ZN1a1b4name17h<16 digits>E is a::b::name. Methods of traits, whose
    path begins with a type, have none."""
    inner = re.fullmatch(r"_ZN(.*)17h[0-9a-f]{16}E", symbol)
    rest, part = (inner[1] if inner else ""), None
    while found := re.match(r"(\d+)", rest):
        size = int(found[1])
        part = rest[found.end() : found.end() + size]
        rest = rest[found.end() + size :]
        if part.startswith("_$LT$"):
            return None
    return part
