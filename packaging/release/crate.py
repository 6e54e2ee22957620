"""The crate, by `cargo package`, with its C sources in vendor/, so that it builds without gfsmith."""

from __future__ import annotations

import re
import shutil

from release.checkout import gfsmith, tracked
from release.places import Places, ReleaseError, run

_CONSTANTS = re.compile(r"const (CODE|SHAPE|SETS): [^=]+ = (?P<value>[^;]+);")


def crate(places: Places) -> None:
    folder = places.folder("crate") / "gfsmith"
    own = places.source / "bindings" / "rust" / "gfsmith"
    for path in tracked(places, "bindings/rust/gfsmith"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(own / path, folder / path)
    shutil.copy(places.source / "LICENSE", folder)
    script = (own / "build.rs").read_text(encoding="utf-8")
    manifest = (own / "Cargo.toml").read_text(encoding="utf-8")
    gfsmith(places, "export", *choice(script, manifest), "-o", folder / "vendor")
    # The lock names a registry and depends on its newest versions; a library's users do not read it.
    run("cargo", "package", "--quiet", "--allow-dirty", "--no-verify", "--exclude-lockfile", cwd=folder)
    name = f"gfsmith-{places.version}.crate"
    shutil.copy(folder / "target" / "package" / name, places.out)


def choice(script: str, manifest: str) -> list[str]:
    """Return the flags of `gfsmith export` for the constants of build.rs and the prefix of Cargo.toml."""
    found = {match[1]: re.findall(r'"?(\w+)"?', match["value"]) for match in _CONSTANTS.finditer(script)}
    prefix = re.search(r'^links = "(\w+)"$', manifest, re.MULTILINE)
    if found.keys() != {"CODE", "SHAPE", "SETS"} or prefix is None:
        raise ReleaseError(
            "bindings/rust/gfsmith: build.rs must state CODE, SHAPE and SETS, Cargo.toml links"
        )
    (code,), (k, m) = found["CODE"], found["SHAPE"]
    sets = [word for name in found["SETS"] for word in ("--isa", name)]
    return ["--code", code, "--k", k, "--m", m, "--prefix", prefix[1], *sets]
