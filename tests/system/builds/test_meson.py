"""Meson: gfsmith as a step of a build, and the library as a subproject."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from tests.system.builds.support import BOTH, OUTPUT, Place, check_kernels, copied, kernels, widen


def test_example(place: Place, tmp_path: Path) -> None:
    source = copied("meson", tmp_path)
    out = source / "build"
    place.call("meson", "setup", out, source)
    place.call("ninja", "-C", out)
    assert re.fullmatch(OUTPUT, place.call(out / "example"))
    assert re.fullmatch(BOTH, place.call(out / "both"))
    check_kernels(place, out / "shards/libshards.a", out / "archive/libarchive.a")
    assert "ninja: no work to do." in place.call("ninja", "-C", out)

    widen(source / "archive.toml")
    said = place.call("ninja", "-C", out)
    assert "Generating archive" in said
    assert "Generating shards" not in said
    assert "archive_dot_nx3__avx2" in kernels(place, out / "archive/libarchive.a")
    assert "ninja: no work to do." in place.call("ninja", "-C", out)


def test_a_wrap(archive: Path, place: Place, tmp_path: Path) -> None:
    source = copied("wrap", tmp_path)
    wrap = (source / "subprojects/gfsmith.wrap").read_text()
    assert f"source_filename = {archive.name}\n" in wrap
    (source / "subprojects/packagefiles").mkdir()
    shutil.copy(archive, source / "subprojects/packagefiles")
    place.call("meson", "setup", "-Dbuildtype=debug", source / "build", source)
    place.call("ninja", "-C", source / "build")
    assert place.call(source / "build/example") == "scalar: shards 2 and 7 are back\n"
