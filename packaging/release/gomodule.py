"""The Go module as the files of a module proxy: VERSION.info, VERSION.mod and VERSION.zip, packed."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime

from release.archives import pack
from release.checkout import gfsmith, tracked
from release.places import EPOCH, Places, run

MODULE = "gfsmith.example/go"
#: Folder of bindings/go -> the form of the export that `go generate` writes into it.
GENERATED = {"gfsmith/internal/kernels": "go", "cgo": "amalgamation"}


def gomodule(places: Places) -> None:
    """Write gfsmith-go-VERSION.tar.gz: unpacked, its folder is a GOPROXY."""
    work = places.folder("gomodule")
    own, copy = places.source / "bindings" / "go", work / "module"
    for path in tracked(places, "bindings/go"):
        (copy / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(own / path, copy / path)
    shutil.copy(places.source / "LICENSE", copy)
    for folder, form in GENERATED.items():
        gfsmith(places, "export", "--form", form, "-c", copy / "gfsmith.toml", "-o", copy / folder)
    name = f"gfsmith-go-{places.version}"
    version, proxy = f"v{places.version}", work / name / MODULE / "@v"
    proxy.mkdir(parents=True)
    (proxy / "list").write_text(f"{version}\n", encoding="ascii")
    time = datetime.fromtimestamp(EPOCH, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    (proxy / f"{version}.info").write_text(json.dumps({"Version": version, "Time": time}), encoding="ascii")
    shutil.copy(copy / "go.mod", proxy / f"{version}.mod")
    program = work / "gozip"
    local = {"GOFLAGS": "-buildvcs=false", "GOTOOLCHAIN": "local"}
    run(
        "go",
        "build",
        "-o",
        program,
        ".",
        cwd=places.source / "packaging" / "release" / "gozip",
        variables=local,
    )
    run(program, MODULE, version, copy, proxy / f"{version}.zip", cwd=work)
    pack(work / name, places.out / f"{name}.tar.gz")
