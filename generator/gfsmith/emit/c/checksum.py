"""Emission of checksum routines as C: intrinsics with a target attribute, or numbers of 64 bits. Layouts are
templates/crc_kernels.inc.j2 and crc_tables.inc.j2."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from gfsmith.emit.c import checksum_encode
from gfsmith.emit.c.checksum_sets import GNU, INSTRUCTIONS, SETS
from gfsmith.emit.c.checksum_spelling import SPELLINGS, Spelling, Words
from gfsmith.emit.template import render
from gfsmith.ir.folding import (
    ENCODES,
    FIRSTS,
    GROUP,
    LEADS,
    LINE,
    UPDATES,
    WIDE,
    WORDS,
    Act,
    Instr,
    Routine,
    Tables,
)
from gfsmith.kernel import architecture

_ROW = 4
_REGISTER_BITS = 64


def _lines(code: Sequence[Instr], spelling: Spelling, variables: Collection[int] = ()) -> list[str]:
    """Return statements. variables: values that a loop changes."""
    lines = []
    for instr in code:
        args = [f"v{arg}" for arg in instr.args]
        match instr.act:
            case Act.STORE | Act.STREAM:
                lines.append(f"{spelling.store(instr, args[0])};")
            case Act.PREFETCH:
                lines.append("GFS_PREFETCH_SECOND(data + ahead);")
            case Act.RESULT:
                lines.append(f"state = {args[0]};")
            case _:
                kind = "" if instr.result in variables else "const "
                text = spelling.expression(instr, args)
                lines.append(f"{kind}{spelling.vector(instr.width)} v{instr.result} = {text};")
    return lines


#: The routines that fold several shards, and the last parameter of each.
_MORE = {"fold_line": "size_t ahead", "fold_copy": "uint8_t *const *to"}


def _behind_first(routine: Routine, code: Sequence[Instr], lines: int) -> list[Instr]:
    """Return instructions of a head with the place of data behind the first bytes and some lines, as the
    function has it."""
    start = routine.first + LINE * lines
    return [
        replace(instr, text="data", offset=instr.offset - start) if instr.act is Act.LOAD else instr
        for instr in code
    ]


def _lined(routine: Routine, spelling: Spelling) -> dict[str, object]:
    """Return the part of the template context of a routine that reads a line at least before its loop.
    Another loop has the lines between the first block and that loop: `routine` has one of these, or no
    block."""
    if routine.operation not in UPDATES or routine.lead <= LINE:
        return {"lined": False, "between": []}
    window, lines = routine.window or routine.before, max(len(routine.window) - 1, 1)
    first = _behind_first(routine, routine.head[: routine.between or None], 0)
    lined = {
        "lined": True,
        "between": [],
        "head": [*_lines(first, spelling, window), f"data += {LINE * lines};"],
    }
    if not routine.window:
        return lined
    line = _behind_first(routine, routine.head[routine.between :], lines)
    names = dict(zip(routine.before, window, strict=True))
    body, close = (
        [replace(instr, args=tuple(names.get(arg, arg) for arg in instr.args)) for instr in code]
        for code in (routine.body, routine.close)
    )
    return lined | {
        "between": [*_lines(line, spelling), *_moves(window, routine.before)],
        "body": _lines(body, spelling),
        "next": _moves(window, routine.after),
        "close": _lines(close, spelling),
    }


def _moves(variables: Sequence[int], values: Sequence[int]) -> list[str]:
    """Return the statements that give variables new values, one after the other."""
    return [f"v{v} = v{n};" for v, n in zip(variables, values, strict=True)]


#: Bytes of the vector that has all data of an update without a loop.
_WHOLE = {"update_group": GROUP, "update_half": LINE // 2}


def _function(routine: Routine, spelling: Spelling) -> dict[str, object]:
    """Return the template context of a routine."""
    return {
        "routine": routine,
        "first": routine.operation in FIRSTS,
        "leading": routine.operation in LEADS or routine.operation in UPDATES,
        "vector": _WHOLE.get(routine.member, 0),
        "instruction": any(instr.act is Act.CRC for instr in routine.close),
        "more": _MORE.get(routine.operation),
        "head": _lines(routine.head, spelling, routine.before),
        "body": _lines(routine.body, spelling),
        "next": _moves(routine.before, routine.after),
        "close": _lines(routine.close, spelling),
        **_lined(routine, spelling),
    }


def _words(order: str, routines: Sequence[Routine]) -> dict[str, object]:
    """Return the template context of the function for bytes in one order: words, then single bytes."""
    word, byte = (next(r for r in routines if r.operation == name) for name in ("word", "byte"))
    spelling = Words(order)
    return {"order": order, "word": _lines(word.head, spelling), "byte": _lines(byte.head, spelling)}


def _steps(name: str, routines: Sequence[Routine]) -> dict[str, object]:
    """Return the template context of a set of crc32 instructions: a function for each check."""
    kept = INSTRUCTIONS[name]
    spelling = Words("reflected", kept.calls)
    checks = dict.fromkeys(routine.check for routine in routines)
    return {
        "set": name,
        "condition": f"({architecture.condition(kept.arch)}) && {GNU}",
        "gcc": kept.gcc,
        "clang": kept.clang,
        "checks": {
            check: {r.block: _lines(r.head, spelling) for r in routines if r.check == check}
            for check in checks
        },
    }


def _family(routine: Routine) -> str:
    """Return the operation of the function that has a routine."""
    return "bytes" if routine.operation in LEADS else routine.member


def _members(operations: Iterable[str]) -> dict[str, str]:
    """Return the members of gfs_crc_set -> the operation of their functions for each order. A set whose
    blocks are lines has one function for both kinds of reduction."""
    members = {f"reduce_line[{FIRSTS.index(op)}]" if op in FIRSTS else op: op for op in operations}
    members.setdefault("reduce_lines", "reduce")
    return members


def _updated(routines: Sequence[Routine], checks: Mapping[str, Tables]) -> list[dict[str, object]]:
    """Return, for each check, the bits that no checksum has, and the functions that update it by member."""
    found: list[dict[str, object]] = []
    for name, tables in checks.items():
        own = [routine for routine in routines if routine.updates and routine.check == name]
        shared = [r for r in routines if r.updates and r.check == "" and r.reflected == tables.reflected]
        members = {routine.member.removeprefix("update_"): routine.function for routine in own or shared}
        beyond = (1 << _REGISTER_BITS) - (1 << tables.bits)
        if members:
            found.append({"check": name, "beyond": _numbers((beyond,)), "members": members})
    return found


def _functions(routines: Sequence[Routine], spelling: Spelling) -> list[dict[str, object]]:
    """Return the template contexts of the functions. Routines that one function has are written alike, and
    those with lines behind their first block as the one with one such line."""
    found: dict[str, dict[str, object]] = {}
    for routine in routines:
        if routine.member == "update_wide" and (routine.lead - 1) // LINE != WIDE:
            continue
        context = _function(routine, spelling)
        first = found.setdefault(routine.function, context)
        assert first | {"routine": routine} == context
    return list(found.values())


def _encodes(routines: Sequence[Routine], spelling: Spelling) -> dict[str, object]:
    """Return the template context of the functions that encode, and of the one for messages."""
    if not routines:
        return {"encodes": []}
    return {
        "message": checksum_encode.message(routines[0], spelling, _lines),
        "encodes": [{"routine": r, **checksum_encode.context(r, spelling, _lines)} for r in routines],
    }


def _group(name: str, routines: Sequence[Routine], checks: Mapping[str, Tables]) -> dict[str, object]:
    """Return the template context of a set."""
    kept = SETS[name]
    spelling = SPELLINGS[kept.arch](kept.width)
    encodes = [routine for routine in routines if routine.operation in ENCODES]
    routines = [routine for routine in routines if routine.operation not in ENCODES]
    return {
        **_encodes(encodes, spelling),
        "set": name,
        "arch": kept.arch.value,
        "condition": f"({architecture.condition(kept.arch)}) && {kept.condition}",
        "target": kept.target,
        "features": kept.features,
        "carryless": kept.carryless,
        "wide": kept.width == 64,
        "block": routines[0].block,
        "members": _members(dict.fromkeys(_family(r) for r in routines if not r.updates)),
        "updates": _updated(routines, checks),
        "stepped": next((each for each in INSTRUCTIONS.values() if each.arch is kept.arch), None),
        "instructions": next((n for n, kept_ in INSTRUCTIONS.items() if kept_.arch is kept.arch), None),
        "functions": _functions(routines, spelling),
    }


def _entry(tables: Tables) -> dict[str, object]:
    """Return the template context of a check's row."""
    return {
        "tables": tables,
        "folds": [_numbers(pair) for pair in tables.folds],
        "lanes": [_numbers(pair) for pair in tables.lanes],
        "reduction": _numbers(tables.reduction),
        "slices": [[_numbers(row[n : n + _ROW]) for n in range(0, len(row), _ROW)] for row in tables.slices],
        "powers": [_numbers(tables.powers[n : n + _ROW]) for n in range(0, len(tables.powers), _ROW)],
    }


def _numbers(values: Sequence[int]) -> str:
    return ", ".join(f"UINT64_C({value:#018x})" for value in values)


def build(
    routines: Iterable[Routine], checks: Mapping[str, Tables], isal_entries: Iterable[Tables]
) -> dict[str, str]:
    """Return path -> text of the files that the runtime includes: the routines with their list, the tables of
    gfsmith_checksum.h, and those that only the drop-in for ISA-L needs. checks: the first tables by
    name."""
    known = list(routines)
    orders = dict.fromkeys(routine.order for routine in known)
    words = [_words(order, [r for r in known if (r.order, r.set) == (order, WORDS)]) for order in orders]
    groups = [_group(name, [r for r in known if r.set == name], checks) for name in SETS]
    steps = [_steps(name, [r for r in known if r.set == name]) for name in INSTRUCTIONS]
    kernels = render(
        "crc_kernels.inc.j2", groups=groups, steps=steps, words=words, orders=list(orders), line=LINE
    )
    return {
        "crc_kernels.inc": kernels,
        "crc_tables.inc": _tables("each value of enum gfsmith_checksum, in its order", checks.values()),
        "crc_isal_tables.inc": _tables("each other check of ISA-L: docs/isal.md", isal_entries),
    }


def _tables(what: str, entries: Iterable[Tables]) -> str:
    return render("crc_tables.inc.j2", what=what, entries=[_entry(entry) for entry in entries])
