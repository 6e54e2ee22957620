"""gfsmith.bzl with Debian's Bazel 4.2 and no network: folders supply the rules that it needs."""

from __future__ import annotations

import re
from pathlib import Path

from tests.system.builds.support import BOTH, OUTPUT, Place, check_kernels, copied

HERE = Path(__file__).resolve().parent


def test_example(place: Place, tmp_path: Path) -> None:
    source = copied("bazel", tmp_path)
    cache = place.environment["GFSMITH_CACHE"]
    rules = {"gfsmith": place.call("gfsmith", "where", "bazel").strip(), "rules_cc": str(HERE / "rules_cc")}
    rules |= {f"rules_{name}": f"/usr/share/bazel/rules/{name}" for name in ("java", "proto")}
    flags = [f"--override_repository={name}={path}" for name, path in rules.items()]
    flags += ["--action_env=PATH", f"--action_env=GFSMITH_CACHE={cache}", f"--sandbox_writable_path={cache}"]
    start = ("bazel", f"--output_user_root={tmp_path}/root", "--batch")
    place.call(*start, "build", "//...", *flags, cwd=source)

    out = source / "bazel-bin"
    assert re.fullmatch(OUTPUT, place.call(out / "example"))
    assert re.fullmatch(BOTH, place.call(out / "both"))
    check_kernels(place, out / "libshards.a", out / "libarchive.a")
