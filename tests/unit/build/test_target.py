"""Targets: their grammar, and the kernels and paths of one."""

from __future__ import annotations

import pytest

from gfsmith.build import config
from gfsmith.build.target import TargetError, every, kernels, parse, path_of, serves
from gfsmith.kernel.isa import BY_NAME
from gfsmith.kernel.limits import Limits

BEST = BY_NAME["avx2"]


def test_a_target_has_a_kind_a_shape_and_a_set() -> None:
    target = parse("dot:10x4", BEST)
    assert (target.code, target.inputs, target.outputs, target.isa) == (None, 10, 4, BEST)
    assert parse("mad:nx2@sse", BEST).name == "mad:nx2@sse"
    assert parse("cauchy:10x4@sse", BEST).code == "cauchy"


def test_codes_go_by_their_aliases() -> None:
    for name in ("backblaze", "minio", "reed-solomon-erasure"):
        assert parse(f"{name}:12x4@sse", BEST).code == "backblaze"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("dot:3by2", "cannot be read; allowed: dot:10x4"),
        ("sum:3x2", "'sum' is neither operation nor code"),
        ("dot:3x2@scalar", "'scalar' has no machine code to tune"),
        ("cauchy:nx2", "a code needs a number of inputs, such as cauchy:10x4"),
        ("dot:250x20", "270 shards; allowed: up to 255"),
    ],
)
def test_an_invalid_target_gets_one_line(text: str, words: str) -> None:
    with pytest.raises(TargetError) as error:
        parse(text, BEST)
    assert words in str(error.value) and "\n" not in str(error.value)


def test_passes_are_balanced_and_known_matrices_take_one() -> None:
    assert [spec.outputs for spec in kernels(parse("dot:10x10", BEST), "gfs", {})] == [5, 5]
    (whole,) = kernels(parse("cauchy:10x4", BEST), "gfs", {})
    (tables,) = kernels(parse("dot:10x4", BEST), "gfs", {})
    assert whole.baked is not None and tables.baked is None
    assert serves(tables, tables) and not serves(whole, tables)


@pytest.mark.parametrize(
    ("memory", "length", "path"),
    [
        (False, 2048, "cached"),
        (False, 4096, "second"),
        (False, 1 << 20, None),
        (True, 512, "nearby"),
        (True, 4096, "distant"),
        (True, 64 << 10, "bulk"),
    ],
)
def test_the_path_depends_on_regime_and_length(memory: bool, length: int, path: str | None) -> None:
    assert path_of(parse("dot:10x4", BEST), memory, length, Limits(32 << 10, 512 << 10, 1024)) == path


def test_all_targets_of_a_build_are_its_functions_on_one_set() -> None:
    groups = [
        {"operation": "dot", "shapes": ["10x4", "nx2"]},
        {"operation": "dot", "shapes": ["10x4"], "store": "streaming"},
        {"operation": "dot", "shapes": ["nx3"], "pipelined": True, "unroll": 4},
        {"operation": "mul", "shapes": ["1x1"]},
        {"operation": "dot", "code": "lch", "shapes": ["40x16", "40x17"]},
        {"operation": "dot", "code": "cauchy_good", "packets": True, "shapes": ["4x2"]},
    ]
    built = config.specs(config.Config(kernels=groups, generator={"isas": ["avx2", "sse"]}), "test")
    found = [target.name for target in every(built, BEST)]
    assert found == ["dot:10x4@avx2", "dot:nx2@avx2", "lch:40x16@avx2"]
    assert [parse(name, BEST) for name in found] == every(built, BEST)
