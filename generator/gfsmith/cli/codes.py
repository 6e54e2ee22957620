"""`gfsmith codes`: the code families, the shapes of one family, and the parity matrix of one shape with the
reason why it is MDS or not."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from gfsmith.cli.completion import fixed
from gfsmith.cli.console import out, print_json
from gfsmith.codes import decided, find, frontier, lrc, safe_shapes, shape
from gfsmith.codes.family import Family
from gfsmith.codes.mds import Certificate, Counterexample
from gfsmith.codes.names import CODES, LRC, NAMES, SEARCHED, Code, CodeError

NOT_MDS = 1  #: exit status
#: Codes without a table of MDS shapes: lrc is not MDS, and each shape of a searched code takes a search.
_UNTABLED = {code.name: code for code in (*SEARCHED, LRC)}
_NARROW = 6


def _record(code: Code) -> dict[str, Any]:
    """Return the record of one code in `gfsmith codes --json`."""
    return {
        "code": code.name,
        "aliases": list(code.aliases),
        "parity": code.formula,
        "source": code.source,
        "shapes": code.limits,
        "mds": code.mds,
    }


def _records() -> list[dict[str, Any]]:
    return [_record(code) for code in (*CODES, *SEARCHED, LRC)]


def _kind(family: Family, k: int, m: int) -> str:
    """Return the kind of certificate that shows MDS with m parities.

    A nested code is decided at k, its widest MDS shape. For the other codes one theorem covers all shapes, so
    a narrow shape is decided."""
    answer = decided(family.code.name, k if family.code.nested else min(k, _NARROW), m)[1]
    assert not isinstance(answer, Counterexample)
    return answer.kind


def _staircase(family: Family) -> list[dict[str, Any]]:
    """Return one row for each range of m with the same bound and certificate. The bound is on k, or on k + m
    where only the number of shards limits k."""
    rows: list[dict[str, Any]] = []
    for m, k in frontier(family).items():
        whole = family.code.most_k > k == family.code.greatest_k(m)
        bound = "k + m" if whole else "k"
        limit, kind = (k + m if whole else k), _kind(family, k, m)
        same = rows and (rows[-1]["bound"], rows[-1]["limit"], rows[-1]["proof"]) == (bound, limit, kind)
        if same:
            rows[-1]["last_m"] = m
        else:
            rows.append({"first_m": m, "last_m": m, "bound": bound, "limit": limit, "proof": kind})
    return rows


def _list(as_json: bool) -> None:
    if as_json:
        print_json({"codes": _records()})
        return
    from rich.table import Table

    table = Table("code", "parity matrix", "source", "shapes", "MDS")
    for record in _records():
        names = "\n".join([record["code"], *(f"= {alias}" for alias in record["aliases"])])
        table.add_row(names, record["parity"], record["source"], record["shapes"], record["mds"])
    out().print(table)


def _describe(record: dict[str, Any]) -> None:
    for label, text in (
        ("code", ", ".join([record["code"], *record["aliases"]])),
        ("matrix", record["parity"]),
        ("source", record["source"]),
        ("shapes", record["shapes"]),
        ("MDS", record["mds"]),
    ):
        out().print(f"{label + ':':8}{text}", soft_wrap=True, highlight=False)


def _family(family: Family, as_json: bool) -> None:
    if as_json:
        print_json({**_record(family.code), "safe": safe_shapes(family), "staircase": _staircase(family)})
        return
    _describe(_record(family.code))
    from rich.table import Table

    table = Table("m", "MDS up to", "certificate (docs/codes.md)")
    for row in _staircase(family):
        first, last = row["first_m"], row["last_m"]
        span = str(first) if first == last else f"{first} .. {last}"
        table.add_row(span, f"{row['bound']} = {row['limit']}", row["proof"])
    out().print(table)


def _shape(family: Family, k: int, m: int, as_json: bool) -> None:
    matrix, answer = decided(family.code.name, k, m)
    good = not isinstance(answer, Counterexample)
    if as_json:
        why = {"certificate": _certificate(answer)} if good else {"counterexample": _loss(answer)}
        print_json({"code": family.code.name, "k": k, "m": m, "mds": good, "matrix": matrix, **why})
    else:
        for row in matrix:
            print(bytes(row).hex(" "))
        out().print(f"{family.code.name} {k}+{m}: {_words(family, answer)}", soft_wrap=True, highlight=False)
    if not good:
        raise SystemExit(NOT_MDS)


def _local(k: int, m: int, local: int, as_json: bool) -> None:
    """Print the parity matrix of an lrc and the losses that it repairs."""
    code = lrc.Lrc(k, local, m - local)
    if as_json:
        print_json({
            "code": LRC.name, "k": k, "m": m, "l": code.l, "r": code.r, "mds": False,
            "matrix": code.parity(), "maximally_recoverable": code.maximally_recoverable,
        })  # fmt: skip
        return
    for row in code.parity():
        print(bytes(row).hex(" "))
    out().print(code.guarantee, soft_wrap=True, highlight=False)


def _words(family: Family, answer: Certificate | Counterexample) -> str:
    if not isinstance(answer, Counterexample):
        return f"MDS by certificate '{answer.kind}': {answer.words}"
    minor = f"rows {list(answer.rows)}, columns {list(answer.columns)} are singular"
    return f"not MDS: {answer.words} ({minor}); allowed: {safe_shapes(family)}"


def _certificate(answer: Certificate | Counterexample) -> dict[str, Any]:
    assert not isinstance(answer, Counterexample)
    return {"kind": answer.kind, "words": answer.words, **asdict(answer)}


def _loss(answer: Certificate | Counterexample) -> dict[str, Any]:
    assert isinstance(answer, Counterexample)
    return {"rows": answer.rows, "columns": answer.columns, "lost": answer.lost}


@click.command("codes")
@click.argument("name", required=False, shell_complete=fixed(NAMES))
@click.option("--code", help="The same as NAME, as in other commands.", shell_complete=fixed(NAMES))
@click.option("--k", type=int, help="Data shards: show the matrix of this shape.")
@click.option("--m", type=int, help="Parity shards.")
@click.option("--l", type=int, help="lrc: groups, each with a local parity.")
@click.option("--r", type=int, help="lrc: global parities.")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
def command(name: str | None, code: str | None, as_json: bool, **flags: int | None) -> None:
    """List the code families; with NAME describe one of them; with --k and --m print a parity matrix.

    Exit status 1: the shape is not MDS; the output names a loss that cannot be repaired."""
    if name is not None and code is not None:
        raise CodeError(f"two codes: {name} and --code {code}; allowed: one of NAME and --code")
    name = code if name is None else name
    asked = any(value is not None for value in flags.values())
    if name is None:
        if asked:
            raise CodeError("a shape needs the NAME of a code, as in `gfsmith codes minio --k 12 --m 4`")
        _list(as_json)
    elif asked:
        k, m, local = shape.complete(shape.known(name), flags["k"], flags["m"], flags["l"], flags["r"])
        if local is not None:
            _local(k, m, local, as_json)
        else:
            _shape(find(name), k, m, as_json)
    elif (alone := _UNTABLED.get(name)) is None:
        _family(find(shape.known(name)), as_json)
    elif as_json:
        print_json(_record(alone))
    else:
        _describe(_record(alone))
