"""Golden copies of small generated files: a change in the generator's output shows in review.

`pytest tests/unit/golden --update-golden` rewrites them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from gfsmith.build import config, generate
from gfsmith.emit import kernel_files, lists
from gfsmith.explore.explain import program
from gfsmith.kernel.spec import KernelSpec

EXPECTED = Path(__file__).parent / "expected"
CONFIG = """
[generator]
isas = ["gfni_avx512", "avx2", "sse", "scalar"]
[[kernels]]
operation = "dot"
shapes = ["nx1"]
unroll = 1
[[kernels]]
operation = "dot"
shapes = ["nx2"]
unroll = 1
isas = ["gfni_avx512"]
[[kernels]]
operation = "mad"
shapes = ["2x2"]
unroll = 1
[[kernels]]
operation = "mul"
shapes = ["nx1"]
unroll = 1
[[kernels]]
operation = "dot"
code = "cauchy"
shapes = ["3x2"]
isas = ["gfni_avx512", "avx2"]
[[kernels]]
operation = "dot"
shapes = ["nx1"]
unroll = 16
walk = "rows"
shuffled = true
pipelined = true
isas = ["scalar"]
[[kernels]]
operation = "dot"
shapes = ["nx1"]
unroll = 2
walk = "rows"
shuffled = true
pipelined = true
store = "streaming"
isas = ["gfni_avx512"]
"""
#: One kernel for each set with scalable vectors.
SCALABLE = """
[generator]
isas = ["sve2", "sve", "rvv"]
[[kernels]]
operation = "dot"
shapes = ["2x1"]
unroll = 2
"""
SPECS = tuple(
    spec
    for text in (CONFIG, SCALABLE)
    for spec in config.specs(config.parse(text, "golden.toml"), "golden.toml")
)
EXPLAINED = (*SPECS[:3], next(spec for spec in SPECS if spec.baked is not None))
LISTS = (
    "pipelined.inc",
    "kernels.inc",
    "baked.inc",
    "matrices.inc",
    "isas.inc",
    "tuned.inc",
    "gfni_avx512.S",
    "sve.c",
    "sources.mk",
    "sources.cmake",
    "gfsmith_isas.h",
    "gfsmith_kernels.h",
)


def _compare(name: str, text: str, update: bool) -> None:
    path = EXPECTED / name
    if update:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    assert path.read_text() == text, f"{name} changed; --update-golden accepts it"


@pytest.fixture
def update(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-golden"))


@pytest.mark.parametrize("spec", SPECS, ids=lambda s: s.symbol)
def test_kernels(spec: KernelSpec, update: bool) -> None:
    kernel = generate.generate_one(spec)
    _compare(Path(kernel.path).name, kernel.text, update)


@pytest.mark.parametrize("spec", EXPLAINED, ids=lambda s: s.symbol)
def test_programs(spec: KernelSpec, update: bool) -> None:
    made, verdict = generate.program(spec), generate.generate_one(spec).verdict
    lines = [*program.head(spec, made, verdict.status.value), "", *program.body(made), "", ""]
    _compare(f"{spec.symbol}.program", "\n".join(lines), update)


def test_lists(update: bool) -> None:
    files = lists.build(SPECS)
    for name in LISTS:
        _compare(name, files[name], update)


def test_nothing_is_left_over() -> None:
    """Every expected file is compared with something."""
    known = {Path(kernel_files.source_path(spec)).name for spec in SPECS}
    known |= {f"{spec.symbol}.program" for spec in EXPLAINED}
    assert {path.name for path in EXPECTED.iterdir()} == known | set(LISTS)
