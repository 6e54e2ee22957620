"""`gfsmith graph`: the graph of an encoding or a repair over nodes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gfsmith.cli import library
from gfsmith.cli.completion import fixed
from gfsmith.cli.console import InputPath, fail
from gfsmith.cli.lists import list_option
from gfsmith.codes import names, shape
from gfsmith.graph.types import MAX_RANKS, SCHEMES, GraphError
from gfsmith.repair import planner
from gfsmith.repair.planner import PlanError
from gfsmith.words import counted

if TYPE_CHECKING:
    from gfsmith.codec import Codec

REFUTED = 1


@dataclass(frozen=True, slots=True)
class _Named:
    """A code with its label, and the function that makes its codec, which needs the library."""

    name: str
    shards: int
    codec: Callable[[], Codec]


def _code(name: str, k: int | None, m: int | None, local: int | None, r: int | None) -> _Named:
    """Return the code with its label. Raises CodeError for an unknown code or an invalid shape."""
    k, m, local = shape.complete(name, k, m, local, r)
    shape.matrix_of(name, k, m, local)
    return _Named(shape.title(name, k, m, local), k + m, partial(_codec, name, k, m, local))


def _codec(name: str, k: int, m: int, local: int | None) -> Codec:
    library.need("gfsmith graph")
    return planner.codec(name, k, m, local)


def _numbers(option: str, text: str, below: int, what: str) -> tuple[int, ...]:
    """Return the numbers in a text such as "1,7". Exits with a one-line message if one is invalid."""
    parts = [part.strip() for part in text.split(",")]
    for part in parts:
        if not (part.isascii() and part.isdecimal()) or int(part) >= below:
            fail(f"{option}: '{part}' is not {what}; allowed: 0..{below - 1}")
    return tuple(map(int, parts))


def _rank(option: str, given: int | None, default: int) -> int:
    if given is not None and not 0 <= given < MAX_RANKS:
        fail(f"{option}: {given} is not a rank; allowed: 0..{MAX_RANKS - 1}")
    return default if given is None else given


def _holders(text: str | None, shards: int) -> tuple[int, ...]:
    if text is None:
        return tuple(range(shards))
    found = _numbers("--holders", text, MAX_RANKS, "a rank")
    if len(found) != shards:
        fail(f"--holders: {counted(len(found), 'rank')} for {shards} shards; allowed: one for each")
    return found


@dataclass(frozen=True, slots=True)
class _Asked:
    """The options that describe a graph."""

    scheme: str | None
    code: str | None
    k: int | None
    m: int | None
    local: int | None
    r: int | None
    encode: bool
    lost: str | None
    wanted: str | None
    holders: str | None
    source: int | None
    sink: int | None

    def check(self) -> None:
        """Exits with a one-line message if options contradict each other."""
        if self.encode == (self.lost is not None):
            fail("allowed: either --encode or --lost")
        useless = {"--wanted": self.wanted, "--sink": self.sink} if self.encode else {"--source": self.source}
        for name, value in useless.items():
            if value is not None:
                fail(f"{name} has no effect with {'--encode' if self.encode else '--lost'}")
        if self.scheme == "lrc" and self.code not in (None, names.LRC.name):
            fail(f"--scheme lrc: code '{self.code}' has no groups; allowed: lrc, with --k, --l and --r")


def _decoding(scheme: str, asked: _Asked, lost: str, named: _Named, holders: tuple[int, ...]) -> str:
    from gfsmith.graph import request

    what = f"a shard of {named.name}"
    missing = _numbers("--lost", lost, named.shards, what)
    targets = missing if asked.wanted is None else _numbers("--wanted", asked.wanted, named.shards, what)
    for shard in targets:
        if shard not in missing:
            fail(f"--wanted: shard {shard} is not lost; allowed: {', '.join(map(str, sorted(missing)))}")
    sinks = None if asked.sink is None else dict.fromkeys(targets, _rank("--sink", asked.sink, 0))
    return request.decoding_text(scheme, named.codec(), holders, missing, targets, sinks)


def _lay_out(asked: _Asked) -> tuple[str, str]:
    """Return the library's text of the graph, and the label of its code."""
    from gfsmith.graph import request

    if asked.scheme not in SCHEMES:
        said = "missing" if asked.scheme is None else f"'{asked.scheme}' is unknown"
        fail(f"--scheme: {said}; allowed: {', '.join(SCHEMES)}")
    asked.check()
    code = asked.code or (names.LRC.name if asked.scheme == "lrc" else "cauchy")
    named = _code(code, asked.k, asked.m, asked.local, asked.r)
    holders = _holders(asked.holders, named.shards)
    try:
        if asked.lost is None:
            source = _rank("--source", asked.source, named.shards)
            return request.encoding_text(asked.scheme, named.codec(), holders, source), named.name
        return _decoding(asked.scheme, asked, asked.lost, named, holders), named.name
    except (GraphError, PlanError) as error:
        fail(str(error))


def _prove(path: Path) -> None:
    from gfsmith.graph import read
    from gfsmith.graph.check import prove

    try:
        text = path.read_text(encoding="utf-8")
        found = read.graph(text)
    except (OSError, UnicodeDecodeError) as error:
        fail(
            f"--prove: {path} cannot be read: {error.strerror if isinstance(error, OSError) else 'not UTF-8'}"
        )
    except GraphError as error:
        fail(f"--prove: {path} is not a graph: {error}")
    try:
        prove(found)
    except GraphError as error:
        fail(f"refuted: {error}", REFUTED)
    print(f"{path}: proved for all data; hash {read.digest(text):016x}")


def _show(text: str, name: str, as_dot: bool, as_json: bool) -> None:
    """Prove the graph in the library's text and print it: the same text with --json."""
    from gfsmith.graph import read, request, show

    try:
        found = request.proved(text)
    except GraphError as error:
        fail(f"refuted: {error}", REFUTED)
    if as_json:
        print(text)
    elif as_dot:
        print(show.dot(found))
    else:
        print("\n".join(show.lines(found, name, read.digest(text))))


@click.command("graph")
@click.option("--scheme", help=f"{', '.join(SCHEMES)}.", shell_complete=fixed(SCHEMES))
@click.option(
    "--code",
    help="A code of `gfsmith codes`, or lrc; default: lrc for the scheme lrc, else cauchy.",
    shell_complete=fixed(names.NAMES),
)
@click.option("--k", type=int, help="Data shards.")
@click.option("--m", type=int, help="Parity shards.")
@click.option("--l", "local", type=int, help="lrc: groups, each with a local parity.")
@click.option("--r", type=int, help="lrc: global parities.")
@click.option("--encode", is_flag=True, help="Encode data that one rank holds.")
@list_option(
    "--lost", help="Repair: lost shards, such as 1,7; data shards have the numbers 0..k-1, parities follow."
)
@list_option("--wanted", help="Lost shards to rebuild; default: all.")
@list_option("--holders", help="The rank of each shard, comma-separated; default: the shard's number.")
@click.option("--source", type=int, help="Encoding: the rank that holds all data; default: k + m.")
@click.option(
    "--sink",
    type=int,
    help="Repair: the rank that receives the rebuilt shards; default: each shard's holder.",
)
@click.option("--prove", "path", type=InputPath(path_type=Path), help="Prove the graph in this JSON file.")
@click.option("--dot", "as_dot", is_flag=True, help="Output for Graphviz: pipe it into `dot -Tsvg`.")
@click.option("--json", "as_json", is_flag=True, help="The text that gfsmith_graph_json returns.")
def command(path: Path | None, as_dot: bool, as_json: bool, **options: Any) -> None:
    """Show the graph of an encoding or a repair over nodes, proved for all data.

    The schemes are rs and lrc (one node computes everything), ppr (a reduction tree), ecpipe (a chain) and
    triec (sums at the nodes of the shards). Shards are s0, s1, ..., transfers e0, e1, ..., factors
    hexadecimal."""
    if as_dot and as_json:
        fail("--dot and --json exclude each other; leave one out")
    if path is not None:
        if as_dot or as_json or any(value not in (None, False) for value in options.values()):
            fail("--prove takes a file and no other option")
        _prove(path)
        return
    text, name = _lay_out(_Asked(**options))
    _show(text, name, as_dot, as_json)
