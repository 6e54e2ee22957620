"""Contracts of many functions in one TOML file, in the words of the options of `gfsmith verify`.

    [defaults]                     # options of every function
    isa = "avx2"

    [[functions]]
    symbol = "gf_{outputs}vect_dot_prod_avx2"
    outputs = [2, 3, 4]            # one function for each value
    expect = "proved"

A list as the value of an option other than `feature` has alternatives; several lists are combined. In
`symbol`, {option} is the option's value.
"""

from __future__ import annotations

import time
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any

from gfsmith.build import parallel
from gfsmith.prove.machine.formats.image import Image
from gfsmith.prove.machine.formats.load import LoadError, load
from gfsmith.prove.machine.prove import Report
from gfsmith.prove.verdict import Status
from gfsmith.verify.functions import Description, ForeignError, contract_of, describe, verify, verify_image

Table = Mapping[str, Any]

#: The options whose value is a list of words.
_LISTS = {"feature": "features"}
_OPTIONS = {field.name.replace("_", "-"): field for field in fields(Description) if field.name != "features"}
#: Keys of a function that are no options: the text that names the contract, and the expected verdict.
_TEXTS = ("contract", "expect")


@dataclass(frozen=True, slots=True)
class Entry:
    """One function and its contract. contract: the text that names it; expect: the verdict in a CI run. more:
    the values of the keys that the caller of `entries` permitted."""

    words: Description
    contract: str
    expect: Status
    more: Table


@dataclass(frozen=True, slots=True)
class Task:
    """The proof of one function of an object file."""

    path: Path
    entry: Entry
    exhaustive: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """The verdict about one function, and the CPU time of the proof."""

    report: Report
    seconds: float


def read(path: Path) -> list[Entry]:
    """Return the functions of a file. Raises ForeignError."""
    return entries(path, parse(path))


def parse(path: Path) -> dict[str, Any]:
    """Return the content of a TOML file. Raises ForeignError."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ForeignError(f"{path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ForeignError(f"{path}: {error}") from None


def entries(path: Path, content: Table, more: Sequence[str] = ()) -> list[Entry]:
    """Return the functions that the content of a file describes. more: further keys of a function.

    Raises ForeignError, which names the file and the function."""
    unknown = sorted(content.keys() - {"defaults", "functions"})
    if unknown:
        raise ForeignError(f"{path}: unknown table '{unknown[0]}'; allowed: defaults, functions")
    defaults = content.get("defaults", {})
    found = []
    for number, function in enumerate(content.get("functions", []), 1):
        try:
            found += [_entry(each, more) for each in _alternatives({**defaults, **function})]
        except ForeignError as error:
            raise ForeignError(f"{path}: function {number}: {error}") from None
    if not found:
        raise ForeignError(f"{path}: no [[functions]]")
    return found


def _alternatives(function: Table) -> Iterator[dict[str, Any]]:
    """Yield a function once for each combination of the values in its lists."""
    lists = {key: value for key, value in function.items() if isinstance(value, list) and key not in _LISTS}
    for key, value in lists.items():
        if not value:
            raise ForeignError(f"{key} = []; allowed: one value or more")
    for values in product(*lists.values()):
        yield {**function, **dict(zip(lists, values, strict=True))}


def _entry(function: dict[str, Any], more: Sequence[str]) -> Entry:
    allowed = [*_OPTIONS, *_LISTS, *_TEXTS, *more]
    for key in function:
        if key not in allowed:
            raise ForeignError(f"unknown key '{key}'; allowed: {', '.join(allowed)}")
    words = _words(function)
    expect = function.get("expect", Status.PROVED.value)
    statuses = [status.value for status in Status]
    if expect not in statuses:
        raise ForeignError(f"expect = '{expect}'; allowed: {', '.join(statuses)}")
    kept = {key: function[key] for key in more if key in function}
    entry = Entry(words, str(function.get("contract", "")), Status(expect), kept)
    contract_of(words)
    return entry


def _words(function: Table) -> Description:
    """Return the description in the options of a function. Raises ForeignError."""
    options: dict[str, Any] = {}
    for key, value in function.items():
        if key in _OPTIONS:
            options[_OPTIONS[key].name] = _typed(key, value)
        elif key in _LISTS:
            options[_LISTS[key]] = tuple(map(str, value))
    symbol, isa = options.pop("symbol", None), options.pop("isa", None)
    try:
        name = None if symbol is None else symbol.format(isa=isa, **options)
    except (LookupError, ValueError) as error:
        raise ForeignError(f"symbol = '{symbol}': no option {error}") from None
    given = {"operation": None, "outputs": 1, "tables": "none", "arguments": "len,k,tables,src,dst"}
    options["inputs"] = str(options["inputs"]) if "inputs" in options else None
    return describe(name, [] if isa is None else [isa], {**given, **options})


def _typed(key: str, value: object) -> object:
    """Return the value of an option. Raises ForeignError for a value of another type."""
    kinds = {"bool": bool, "int": int, "str": str}
    kind = str(_OPTIONS[key].type).split(" ")[0]
    if key == "inputs" and value == "n":
        return value
    if type(value) is not kinds[kind]:
        raise ForeignError(f"{key} = {value!r}; allowed: a value of type {kind}")
    return value


def prove(tasks: Sequence[Task], jobs: int, advance: Callable[[int], None]) -> list[Answer]:
    """Prove each function, and return the answers in the order of the tasks. Raises ForeignError."""
    answers: dict[int, Answer] = {}
    _image.cache_clear()  # a build may have replaced files since the last call

    def done(number: int, answer: Answer) -> None:
        answers[number] = answer
        advance(1)

    parallel.run(_prove, tasks, jobs, done)
    return [answers[number] for number in range(len(tasks))]


def _prove(task: Task) -> Answer:
    start, words = time.process_time(), task.entry.words
    image = _image(task.path)
    if image is not None and words.symbol in image.functions:
        report = verify_image(image, words, task.exhaustive)
    else:
        report = verify(task.path, words, task.exhaustive)
    return Answer(report, time.process_time() - start)


@lru_cache(maxsize=2)
def _image(path: Path) -> Image | None:
    """Return a file that is read once for all its functions; None for an archive of several members, and for
    a file that cannot be read."""
    try:
        return load(path)
    except LoadError:
        return None
