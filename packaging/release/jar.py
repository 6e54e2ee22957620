"""The jar for Java and Hadoop, with native libraries for x86-64 and AArch64 compiled by gcc."""

from __future__ import annotations

import os
import shutil

from release.places import Places, run


def jar(places: Places) -> None:
    archive = f"build/java/gfsmith-{places.version}.jar"
    run("make", f"-j{os.cpu_count()}", archive, cwd=places.source)
    shutil.copy(places.source / archive, places.out)
