"""The parts of a release: steps that write artifacts. Each needs only the clone, so it can be built alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from release import archives, crate, debian, gomodule, jar, npm, sdist, wheels
from release.places import Places, ReleaseError

#: Name -> step, in the order of a release.
PARTS: dict[str, Callable[[Places], None]] = {
    "sources": archives.sources,
    "sdist": sdist.sdist,
    **{f"wheel-{target.tag}": partial(wheels.wheel, target=target) for target in wheels.TARGETS},
    "crate": crate.crate,
    "go": gomodule.gomodule,
    "npm": npm.npm,
    "jar": jar.jar,
    **{f"debian-{name}": partial(debian.debian, architecture=name) for name in debian.ARCHITECTURES},
}


def chosen(names: Iterable[str]) -> list[str]:
    """Return the named parts in the order of a release. Raises ReleaseError for an unknown name."""
    given = set(names)
    if unknown := sorted(given - PARTS.keys()):
        raise ReleaseError(f"unknown part {unknown[0]}; allowed: {', '.join(PARTS)}")
    return [name for name in PARTS if name in given]
