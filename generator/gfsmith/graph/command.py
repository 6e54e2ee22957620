"""`gfsmith graph`: who computes and sends what in an encoding or a repair over nodes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from gfsmith import codes
from gfsmith.codes import shape
from gfsmith.codes.lrc import Lrc
from gfsmith.complete import fixed
from gfsmith.console import fail
from gfsmith.graph import form, read, request, show
from gfsmith.graph.check import prove
from gfsmith.graph.layouts import LAYOUTS
from gfsmith.graph.types import MAX_RANKS, Graph, GraphError
from gfsmith.plan.planner import PlanError

REFUTED = 1


@dataclass(frozen=True, slots=True)
class _Named:
    """A code and what it is called."""

    name: str
    code: request.Code

    @property
    def shards(self) -> int:
        return self.code.k + self.code.m


def _code(name: str, k: int | None, m: int | None, local: int | None, r: int | None) -> _Named:
    """Raises CodeError for what is not a code."""
    k, m, local = shape.complete(name, k, m, local, r)
    parity = shape.matrix_of(name, k, m, local)
    label = f"{name}({k}+{m})" if local is None else str(Lrc(k, local, m - local))
    return _Named(label, request.Code(polynomial=codes.POLYNOMIAL, parity=parity, mds=local is None))


def _numbers(option: str, text: str, below: int, what: str) -> tuple[int, ...]:
    """Numbers out of "1,7". Ends with one line for what is not one."""
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
        fail(f"--holders: {len(found)} ranks for {shards} shards; allowed: one for each")
    return found


@dataclass(frozen=True, slots=True)
class _Asked:
    """The options that lay out a graph."""

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
        """Which of them go together. Ends with one line for what does not."""
        if self.encode == (self.lost is not None):
            fail("one of --encode and --lost is needed, and not both")
        useless = {"--wanted": self.wanted, "--sink": self.sink} if self.encode else {"--source": self.source}
        for name, value in useless.items():
            if value is not None:
                fail(f"{name} has no meaning with {'--encode' if self.encode else '--lost'}")
        if self.scheme == "lrc" and self.code not in (None, shape.LRC):
            fail(f"--scheme lrc: code '{self.code}' has no groups; allowed: lrc, with --k, --l and --r")


def _decoding(scheme: str, asked: _Asked, lost: str, named: _Named, holders: tuple[int, ...]) -> Graph:
    what = f"a shard of {named.name}"
    missing = _numbers("--lost", lost, named.shards, what)
    targets = missing if asked.wanted is None else _numbers("--wanted", asked.wanted, named.shards, what)
    for shard in targets:
        if shard not in missing:
            fail(f"--wanted: shard {shard} is not lost; allowed: {', '.join(map(str, sorted(missing)))}")
    sinks = None if asked.sink is None else dict.fromkeys(targets, _rank("--sink", asked.sink, 0))
    return request.decoding(scheme, named.code, holders, missing, targets, sinks)


def _lay_out(asked: _Asked) -> tuple[Graph, str]:
    """The graph, and what its code is called."""
    if asked.scheme not in LAYOUTS:
        said = "missing" if asked.scheme is None else f"'{asked.scheme}' is unknown"
        fail(f"--scheme: {said}; allowed: {', '.join(LAYOUTS)}")
    asked.check()
    code = asked.code or (shape.LRC if asked.scheme == "lrc" else "cauchy")
    named = _code(code, asked.k, asked.m, asked.local, asked.r)
    holders = _holders(asked.holders, named.shards)
    try:
        if asked.lost is None:
            source = _rank("--source", asked.source, named.shards)
            return request.encoding(asked.scheme, named.code, holders, source), named.name
        return _decoding(asked.scheme, asked, asked.lost, named, holders), named.name
    except (GraphError, PlanError) as error:
        fail(str(error))


def _prove(path: Path) -> None:
    try:
        found = read.graph(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        fail(f"--prove: {path} cannot be read: {error.strerror if isinstance(error, OSError) else 'no text'}")
    except GraphError as error:
        fail(f"--prove: {path} is no graph: {error}")
    try:
        prove(found)
    except GraphError as error:
        fail(f"refuted: {error}", REFUTED)
    print(f"{path}: proved for all data; hash {form.digest(found):016x}")


@click.command("graph")
@click.option("--scheme", help=f"{', '.join(LAYOUTS)}.", shell_complete=fixed(LAYOUTS))
@click.option(
    "--code",
    help="A code of `gfsmith codes`, or lrc; default: cauchy, of the scheme lrc lrc.",
    shell_complete=fixed(shape.NAMES),
)
@click.option("--k", type=int, help="Data shards.")
@click.option("--m", type=int, help="Parities.")
@click.option("--l", "local", type=int, help="lrc: groups, each with a local parity.")
@click.option("--r", type=int, help="lrc: global parities.")
@click.option("--encode", is_flag=True, help="Encode data that are at one rank.")
@click.option("--lost", help="Repair: lost shards, such as 1,7; data come first, then parities.")
@click.option("--wanted", help="Those of them to rebuild; default: all.")
@click.option("--holders", help="The rank of each shard, with commas between; default: its number.")
@click.option("--source", type=int, help="The rank that has all data; default: k + m.")
@click.option("--sink", type=int, help="The rank that gets what is rebuilt; default: its holder.")
@click.option("--prove", "path", type=click.Path(path_type=Path), help="Prove the graph in this JSON file.")
@click.option("--dot", "as_dot", is_flag=True, help="For graphviz: pipe it into `dot -Tsvg`.")
@click.option("--json", "as_json", is_flag=True, help="The very text of gfsmith_graph_json.")
def graph_(path: Path | None, as_dot: bool, as_json: bool, **options: Any) -> None:
    """Lay out an encoding or a repair over nodes: who computes and sends what, proved for all data.

    The schemes are rs and lrc (everything at one node), ppr (a reduction tree), ecpipe (a chain) and triec
    (sums at the nodes of the shards). Shards are s0, s1, ..., transfers e0, e1, ..., factors hexadecimal."""
    if as_dot and as_json:
        fail("--dot and --json: only one of them")
    if path is not None:
        if as_dot or as_json or any(value not in (None, False) for value in options.values()):
            fail("--prove takes a file and nothing else")
        _prove(path)
        return
    found, name = _lay_out(_Asked(**options))
    if as_json:
        print(form.text(found))
    elif as_dot:
        print(show.dot(found))
    else:
        print("\n".join(show.lines(found, name)))
