"""All compiled kernels of other files or contracts than the recorded ones are proved."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gfsmith.kernel.spec import KernelSpec, Operation
from gfsmith.prove.machine.prove import contract_of
from tests.unit.prove import proved_objects
from tests.unit.prove.compiled import specs

ABI = "elfv2"


@pytest.fixture
def kernels(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> tuple[KernelSpec, ...]:
    """Kernels of a part, which is recorded with the file `object`."""
    (tmp_path / "object").write_bytes(b"code")
    chosen = specs("altivec")[::4]
    monkeypatch.setattr(proved_objects, "FILES", tmp_path / "record.json")
    proved_objects.part("some", chosen, [tmp_path / "object"], ABI).record()
    return chosen


def test_one_kernel_of_each_kind_of_recorded_files(kernels: tuple[KernelSpec, ...], tmp_path: Path) -> None:
    part = proved_objects.part("some", kernels, [tmp_path / "object"], ABI)
    assert part.to_prove(kernels[1:3], every=False) == list(kernels[1:3])
    assert part.to_prove(kernels[1:3], every=True) == list(kernels)


@pytest.mark.parametrize(("name", "file"), [("some", "other"), ("another", "object")])
def test_all_kernels_of_other_files(
    name: str, file: str, kernels: tuple[KernelSpec, ...], tmp_path: Path
) -> None:
    (tmp_path / "other").write_bytes(b"coda")
    part = proved_objects.part(name, kernels, [tmp_path / file], ABI)
    assert part.to_prove([], every=False) == list(kernels)
    with pytest.warns(UserWarning, match=f"{name}: not as recorded"):
        part.confirm("clang-19 -O2 -mcpu=970", False)


def test_all_kernels_with_other_contracts(
    kernels: tuple[KernelSpec, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = replace(contract_of(kernels[-1], ABI), minimum=1)
    monkeypatch.setattr(
        proved_objects,
        "contract_of",
        lambda spec, abi: other if spec == kernels[-1] else contract_of(spec, abi),
    )
    part = proved_objects.part("some", kernels, [tmp_path / "object"], ABI)
    assert part.to_prove([], every=False) == list(kernels)


def test_each_kind_has_a_kernel() -> None:
    every = specs("altivec")
    kept = proved_objects.of_each_kind(every)
    assert len(kept) < len(every) / 3
    assert {spec.operation for spec in every} == {spec.operation for spec in kept} > {Operation.DOT}
    assert {proved_objects.kind(spec) for spec in every} == {proved_objects.kind(spec) for spec in kept}
    assert set(proved_objects.of_each_kind(every, lambda spec: spec.outputs)) > set(kept)
