"""scatter: stores a file as k data and m parity shards in a folder, any m of which may be lost.

    scatter split FILE DIR [--k 10] [--m 4]     writes DIR/shard.000 .. and DIR/scatter.json
    scatter repair DIR                          rebuilds missing shards
    scatter join DIR FILE                       restores the file with up to m shards missing

An example for gfsmith: files are mapped into memory and passed to the kernels without a copy. It detects
shards that are missing or have another length, but not changed ones; apps/shards does.
"""

from __future__ import annotations

import argparse
import errno
import json
import mmap
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import gfsmith

CODE = "cauchy"
INDEX = "scatter.json"


def mapped(path: Path, stack: ExitStack, size: int | None = None) -> Any:
    """Map the bytes of a file; with a size, of a new file to be written."""
    with path.open("rb" if size is None else "w+b") as file:
        if size is not None:
            file.truncate(size)
        if path.stat().st_size == 0:  # an empty file cannot be mapped
            return bytearray()
        access = mmap.ACCESS_READ if size is None else mmap.ACCESS_WRITE
        return stack.enter_context(mmap.mmap(file.fileno(), 0, access=access))


def name(folder: Path, shard: int) -> Path:
    return folder / f"shard.{shard:03}"


def split(file: Path, folder: Path, k: int, m: int) -> None:
    codec = gfsmith.Codec(CODE, k, m)
    with ExitStack() as stack:
        data = codec.split(mapped(file, stack))
        for shard in data:
            stack.enter_context(shard)  # released before the file is closed
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):  # shards of another file, or the file itself
            raise FileExistsError(errno.ENOTEMPTY, "not empty; allowed: a new or empty folder", str(folder))
        length = len(data[0])
        codec.encode(data, [mapped(name(folder, k + i), stack, length) for i in range(m)])
        for i, shard in enumerate(data):
            name(folder, i).write_bytes(shard)
    record = {"k": k, "m": m, "size": file.stat().st_size, "length": length}
    (folder / INDEX).write_text(json.dumps(record) + "\n")


def read_record(folder: Path) -> dict[str, int]:
    """Return the record that `split` wrote. Raises ValueError."""
    path = folder / INDEX
    try:
        record = json.loads(path.read_text())
        return {key: int(record[key]) for key in ("k", "m", "size", "length")}
    except (ValueError, TypeError, KeyError):
        raise ValueError(f"{path} is damaged: not a record of `scatter split`") from None


def complete(folder: Path, stack: ExitStack) -> tuple[gfsmith.Codec, dict[str, int], list[Any], list[bool]]:
    """Return the codec, the record, all shards with the missing ones rebuilt in memory, and which were
    present.
    """
    record = read_record(folder)
    codec = gfsmith.Codec(CODE, record["k"], record["m"])
    paths = [name(folder, i) for i in range(codec.n)]
    present = [path.is_file() and path.stat().st_size == record["length"] for path in paths]
    shards = [mapped(path, stack) if here else None for path, here in zip(paths, present, strict=True)]
    return codec, record, codec.reconstruct(shards), present


def repair(folder: Path) -> None:
    with ExitStack() as stack:
        _, _, shards, present = complete(folder, stack)
        for i, (shard, here) in enumerate(zip(shards, present, strict=True)):
            if not here:
                name(folder, i).write_bytes(shard)
                print(f"{name(folder, i).name} rebuilt")


def join(folder: Path, file: Path) -> None:
    if file.exists():
        raise FileExistsError(errno.EEXIST, "exists; allowed: a new file", str(file))
    part = file.with_name(f"{file.name}.part")
    with ExitStack() as stack:
        codec, record, shards, _ = complete(folder, stack)
        stack.callback(part.unlink, missing_ok=True)
        part.write_bytes(codec.join(shards, record["size"]))
        part.rename(file)


COMMANDS: dict[str, Callable[..., None]] = {"split": split, "repair": repair, "join": join}


def main() -> None:
    parser = argparse.ArgumentParser(prog="scatter", description="Store a file as shards.")
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("split", help="cut a file into shards")
    one.add_argument("file", type=Path)
    one.add_argument("folder", type=Path)
    one.add_argument("--k", type=int, default=10, help="data shards (10)")
    one.add_argument("--m", type=int, default=4, help="parity shards (4)")
    one = commands.add_parser("repair", help="rebuild missing shards")
    one.add_argument("folder", type=Path)
    one = commands.add_parser("join", help="restore the file")
    one.add_argument("folder", type=Path)
    one.add_argument("file", type=Path)
    given = vars(parser.parse_args())
    try:
        COMMANDS[given.pop("command")](**given)
    except OSError as error:
        sys.exit(f"scatter: {f'{error.filename}: ' if error.filename else ''}{error.strerror}")
    except (ValueError, gfsmith.GfsmithError) as error:
        sys.exit(f"scatter: {error}")


if __name__ == "__main__":
    main()
