"""Archives of sources, and reproducible tar archives."""

from __future__ import annotations

import gzip
import io
import tarfile
from pathlib import Path

from release.checkout import gfsmith
from release.places import EPOCH, Places


def sources(places: Places) -> None:
    """Write the exported tree and the amalgamation of the default set."""
    for form, name in (("tree", "gfsmith"), ("amalgamation", "gfsmith-amalgamation")):
        gfsmith(places, "export", "--form", form, "-o", places.out / f"{name}-{places.version}.tar.xz")


def pack(folder: Path, target: Path) -> None:
    """Write a folder as a .tar.gz that depends only on names, contents and the right of execution."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            entry = tarfile.TarInfo(path.relative_to(folder.parent).as_posix())
            entry.size, entry.mtime = path.stat().st_size, EPOCH
            entry.mode = 0o755 if path.stat().st_mode & 0o100 else 0o644
            with path.open("rb") as content:
                archive.addfile(entry, content)
    with target.open("wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as compressed:
        compressed.write(packed.getvalue())
