"""The cache of kernels and proofs: shared by processes, bounded, and never the reason of a failure."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

import pytest

from gfsmith.build import cache, places, sources
from gfsmith.build.cache import Cache


def test_two_processes_keep_the_results_of_both(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "proofs.json"
    one, other = Cache(path), Cache(path)
    one.save({"a": {"n": 1}})
    other.save({"b": {"n": 2}})
    assert dict(Cache(path).known()) == {"a": {"n": 1}, "b": {"n": 2}}
    assert [file.name for file in path.parent.iterdir()] == ["proofs.json"]


def test_the_least_recently_used_results_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "LIMIT", 2)
    path = tmp_path / "proofs.json"
    for name in "abca":
        Cache(path).save({name: {"n": name}})
    assert list(Cache(path).known()) == ["c", "a"]


HOSTILE = ("[" * 300_000, '{"a":' * 300_000, r'{"a": ["\ud800", "b"]}', r'{"\ud800": ["a", "b"]}')


@pytest.mark.parametrize("text", ["", "[]", "{", '{"a": 1}', *HOSTILE], ids=lambda text: text[:20])
def test_a_file_that_is_none_counts_as_empty(text: str, tmp_path: Path) -> None:
    path = tmp_path / "proofs.json"
    path.write_text(text)
    found = Cache(path)
    assert dict(found.known()) == {}
    found.save({"a": {}})
    assert dict(Cache(path).known()) == {"a": {}}


def test_a_pipe_counts_as_empty(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "proofs.json")
    assert dict(Cache(tmp_path / "proofs.json").known()) == {}


def test_a_place_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    Cache(tmp_path / "file" / "proofs.json").save({"a": {}})
    assert (tmp_path / "file").read_text() == ""


def test_a_full_disk_leaves_no_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(**_: object) -> None:
        raise OSError

    monkeypatch.setattr(tempfile, "TemporaryDirectory", full)
    Cache(tmp_path / "new" / "proofs.json").save({"a": {}})
    assert not (tmp_path / "new").exists()
    (tmp_path / "old").mkdir()
    Cache(tmp_path / "old" / "proofs.json").save({"a": {}})
    assert (tmp_path / "old").is_dir()


def test_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An export uses the cache next to the configuration if gfsmith gen has made
    one there, else the user's.
    """
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", "relative/is/ignored")
    project = tmp_path / "gfsmith.toml"
    assert places.shared_cache(project) == tmp_path / "home/.cache/gfsmith"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert places.shared_cache(project) == tmp_path / "xdg/gfsmith"
    (tmp_path / ".gfsmith-cache").mkdir()
    assert places.shared_cache(project) == places.cache_of(project) == tmp_path / ".gfsmith-cache"


@pytest.mark.parametrize("forged", [{"n": 2}, {}, {"n": 1, "more": 0}])
def test_a_changed_record_is_not_used(tmp_path: Path, forged: dict[str, int]) -> None:
    path = tmp_path / "proofs.json"
    Cache(path).save({"a": {"n": 1}, "b": {"n": 1}})
    data = json.loads(path.read_text())
    data["a"][1] = json.dumps(forged)
    path.write_text(json.dumps(data))
    assert dict(Cache(path).known()) == {"b": {"n": 1}}


@pytest.mark.parametrize("record", [{"n": 1}, ["", "{}"], ["00", '{"n": 1}'], "a", None])
def test_a_record_without_its_code_is_not_used(tmp_path: Path, record: object) -> None:
    path = tmp_path / "proofs.json"
    path.write_text(json.dumps({"a": record}))
    assert not Cache(path).known()


def test_a_record_under_another_name_is_not_used(tmp_path: Path) -> None:
    path = tmp_path / "proofs.json"
    Cache(path).save({"a": {"n": 1}})
    data = json.loads(path.read_text())
    path.write_text(json.dumps({"b": data["a"]}))
    assert not Cache(path).known()
    (tmp_path / "kernels.json").write_text(json.dumps(data))
    assert not Cache(tmp_path / "kernels.json").known()


def test_records_of_another_user_are_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "proofs.json"
    Cache(path).save({"a": {"n": 1}})
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "other"))
    assert not Cache(path).known()
    (tmp_path / "other" / "gfsmith" / "cache.key").chmod(0o644)
    Cache(path).save({"b": {"n": 1}})
    assert not Cache(path).known()


@pytest.fixture
def read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The modules whose syntax was read, with a cache of the user that is empty at first."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    files: list[str] = []
    original = sources.read

    def counted(content: bytes, file: str, package: str) -> sources.Module:
        files.append(file)
        return original(content, file, package)

    monkeypatch.setattr(sources, "read", counted)
    return files


def process(*modules: str) -> str:
    """Return the key of modules as a new process computes it."""
    for remembered in (sources.digest, sources.sources, sources._module, cache._read_modules):
        remembered.cache_clear()
    return cache.key(modules or ("gfsmith.build.cache",))


def test_a_module_is_read_once_for_all_processes(read: list[str], tmp_path: Path) -> None:
    first = process()
    assert "cache.py" in read and "sources.py" in read
    read.clear()
    assert process() == first
    assert read == []
    process("gfsmith.build.parallel")
    assert read == ["parallel.py"]
    assert [path.name for path in (tmp_path / "user" / "gfsmith").iterdir()] == ["modules.json"]


def test_the_key_is_that_of_the_sources(read: list[str]) -> None:
    process()
    remembered = cache._read_modules().module
    entries = ("gfsmith.build.cache", "gfsmith.build.generate")
    assert sources.digest(entries, reader=remembered) == sources.digest(entries)


@pytest.mark.parametrize("content", [b"import ast\nONE = 2\n", b"import re\nONE = 1\n"])
def test_a_changed_module_is_read_again(read: list[str], content: bytes) -> None:
    process()
    modules = cache._read_modules()
    one = modules.module(b"import ast\nONE = 1\n", "one.py", "p")
    read.clear()
    assert modules.module(content, "one.py", "p").digest != one.digest
    assert modules.module(b"import ast\nONE = 1\n", "one.py", "p") == one
    assert modules.module(b"from . import x\n", "one.py", "q").names == {"q", "q.x"}
    assert modules.module(b"from . import x\n", "one.py", "p").names == {"p", "p.x"}


def test_a_forged_module_is_read_again(read: list[str], tmp_path: Path) -> None:
    first, path = process(), tmp_path / "user" / "gfsmith" / "modules.json"
    data = json.loads(path.read_text())
    forged = {
        name: [code, text.replace('"digest": "', '"digest": "0')] for name, (code, text) in data.items()
    }
    assert forged != data
    path.write_text(json.dumps(forged))
    read.clear()
    assert process() == first
    assert "cache.py" in read


def test_without_a_home_modules_are_read_in_each_process(
    read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def nowhere() -> Path:
        raise RuntimeError

    monkeypatch.setattr(cache, "user_folder", nowhere)
    first = process()
    read.clear()
    assert process() == first
    assert "cache.py" in read


def test_records_keep_their_codes(tmp_path: Path) -> None:
    """A record that was not used is neither compared nor signed when others are saved."""
    path = tmp_path / "proofs.json"
    Cache(path).save({"a": {"n": 1}, "b": {"n": 1}})
    data = json.loads(path.read_text())
    data["a"][1] = json.dumps({"n": 2})
    path.write_text(json.dumps(data))
    Cache(path).save({"c": {"n": 3}})
    assert dict(Cache(path).known()) == {"b": {"n": 1}, "c": {"n": 3}}
    assert "a" not in Cache(path).known()
    Cache(path).save({"a": {"n": 4}})
    assert Cache(path).known()["a"] == {"n": 4}
