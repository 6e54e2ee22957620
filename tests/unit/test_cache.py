"""The cache of kernels and proofs: shared by processes, bounded, and never in the way."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gfsmith import build, cache
from gfsmith.cache import Cache


def test_two_processes_keep_what_both_have_made(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "proofs.json"
    one, other = Cache(path), Cache(path)
    one.save({"a": {"n": 1}})
    other.save({"b": {"n": 2}})
    assert dict(Cache(path).known()) == {"a": {"n": 1}, "b": {"n": 2}}
    assert [file.name for file in path.parent.iterdir()] == ["proofs.json"]


def test_what_was_not_used_for_longest_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "LIMIT", 2)
    path = tmp_path / "proofs.json"
    for name in "abca":
        Cache(path).save({name: {"n": name}})
    assert list(Cache(path).known()) == ["c", "a"]


@pytest.mark.parametrize("text", ["", "[]", "{", '{"a": 1}'])
def test_a_file_that_is_none_counts_as_empty(text: str, tmp_path: Path) -> None:
    path = tmp_path / "proofs.json"
    path.write_text(text)
    found = Cache(path)
    assert dict(found.known()) == {}
    found.save({"a": {}})
    assert json.loads(path.read_text()) == {"a": {}}


def test_a_place_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    Cache(tmp_path / "file" / "proofs.json").save({"a": {}})
    assert (tmp_path / "file").read_text() == ""


def test_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of an export: beside the configuration if gfsmith gen has made one there, else the user's."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", "relative/is/ignored")
    project = tmp_path / "gfsmith.toml"
    assert build.shared_cache(project) == tmp_path / "home/.cache/gfsmith"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert build.shared_cache(project) == tmp_path / "xdg/gfsmith"
    (tmp_path / ".gfsmith-cache").mkdir()
    assert build.shared_cache(project) == build.cache_of(project) == tmp_path / ".gfsmith-cache"
