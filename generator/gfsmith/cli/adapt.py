"""`gfsmith adapt`: summaries of the coordinator's traces, a live view, and checks of device descriptions."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from gfsmith.cli import library
from gfsmith.cli.completion import fixed
from gfsmith.cli.console import InputPath, fail, out, print_json
from gfsmith.cli.sizes import Size
from gfsmith.kernel.operation import MAX_SHARDS

if TYPE_CHECKING:
    from gfsmith.explore.adapt import device, live

LIBRARY = Path("build/adaptive")
_OWN = "-"  #: value of --live without a file: run gfsmith's own workload

WALKS = ("row", "rows4", "block", "block-shuffled", "shuffled")
POLICIES = ("default", "plain", *WALKS, *(f"{walk},nt" for walk in WALKS))

#: Parameters that only the workload has, and the options whose names differ from the parameter.
_WORK = ("k", "m", "length", "threads")
_NAMES = {"length": "--len"}


def _flag(name: str) -> str:
    return _NAMES.get(name, f"--{name}")


def _summary(path: Path, as_json: bool) -> None:
    from gfsmith.explore.adapt import show, trace

    found = trace.load(path)
    if as_json:
        print_json(trace.to_json(found))
    else:
        show.summary(out(), found)


def _device(path: Path) -> device.Device:
    from gfsmith.explore.adapt import device

    text = device.read(path)
    library.need("gfsmith adapt --device")
    return device.parse(path, text)


def _check_device(path: Path, as_json: bool) -> None:
    found = asdict(_device(path))
    if as_json:
        print_json(found)
        return
    words = ", ".join(f"{key} {value}" for key, value in found.items() if key != "name")
    print(f"{path}: {found['name']}: {words}")


def _follow(path: Path, seconds: float | None) -> None:
    from gfsmith.explore.adapt import live

    found = live.follow([live.Tail(path)], out(), live.until(seconds))
    if found.events == 0 and found.malformed:
        found.check(path)


def _work(options: dict[str, Any]) -> live.Work:
    """Return the description of the workload. Exits with a one-line message if an option is missing or
    invalid."""
    from gfsmith.explore.adapt import live

    lacking = [_flag(name) for name in _WORK if options[name] is None]
    if lacking:
        fail(f"--live without a file runs its own workload and needs {', '.join(lacking)}")
    if options["k"] + options["m"] > MAX_SHARDS:
        fail(f"--k {options['k']} --m {options['m']}: allowed: k + m <= {MAX_SHARDS}")
    if options["device_path"] is not None:
        _device(options["device_path"])
    return live.Work(
        k=options["k"],
        m=options["m"],
        length=options["length"],
        threads=options["threads"],
        seconds=options["seconds"] or 0,
        policy=options["policy"] or "",
        device=str(options["device_path"] or ""),
    )


def _run(options: dict[str, Any]) -> None:
    from gfsmith.explore.adapt import live

    work = _work(options)
    with live.running(work, options["library"]) as run:
        live.follow(run.tails, out(), run.goes_on)


def _unused(options: dict[str, Any], allowed: tuple[str, ...], what: str) -> None:
    """Exits with a one-line message if an option has no effect in this mode. what: the mode."""
    names = {"device_path": "--device", "as_json": "--json", "library": "--library"}
    for name, value in options.items():
        given = value is not None and value is not False and not (name == "library" and value == LIBRARY)
        if given and name not in allowed:
            fail(f"{names.get(name, _flag(name))}: has no effect with {what}")


def _dispatch(options: dict[str, Any]) -> None:
    path, followed = options.pop("trace_path"), options.pop("followed")
    if path is not None and followed is not None:
        fail("--trace and --live exclude each other; leave one out")
    if path is not None:
        _unused(options, ("as_json",), "--trace")
        _summary(path, options["as_json"])
    elif followed == _OWN:
        _unused(options, (*_WORK, "seconds", "policy", "device_path", "library"), "--live")
        _run(options)
    elif followed is not None:
        _unused(options, ("seconds",), "--live FILE")
        _follow(Path(followed), options["seconds"])
    elif options["device_path"] is not None:
        _unused(options, ("device_path", "as_json"), "--device alone")
        _check_device(options["device_path"], options["as_json"])
    else:
        fail("allowed: --trace FILE, --live FILE, --live --k N --m N --len N --threads N, or --device FILE")


def _interrupted() -> NoReturn:
    """Exit without a message: Ctrl-C is the normal end of a live view."""
    raise SystemExit(130)


@click.command("adapt")
@click.option("--trace", "trace_path", type=InputPath(path_type=Path), help="Summarize a trace.")
@click.option(
    "--live",
    "followed",
    is_flag=False,
    flag_value=_OWN,
    type=click.Path(),
    metavar="[FILE]",
    help="Follow a growing trace; without FILE, run a workload with --k, --m, --len and --threads and follow "
    "its trace.",
)
@click.option("--k", type=click.IntRange(1, MAX_SHARDS - 1), help="Data shards.")
@click.option("--m", type=click.IntRange(1, MAX_SHARDS - 1), help="Parity shards.")
@click.option("--len", "length", type=Size(1, 1 << 30), help="Bytes of a shard, such as 4096, 64K or 1M.")
@click.option("--threads", type=click.IntRange(1, 256), help="Threads that encode.")
@click.option(
    "--seconds", type=click.FloatRange(0, min_open=True), help="Duration in seconds [default: until Ctrl-C]."
)
@click.option(
    "--policy", help="Use this policy for all calls, without adaptation.", shell_complete=fixed(POLICIES)
)
@click.option(
    "--device",
    "device_path",
    type=InputPath(path_type=Path),
    help="Description of the memory, a TOML file; without --live: check this file.",
)
@click.option(
    "--library",
    type=click.Path(path_type=Path, file_okay=False),
    default=LIBRARY,
    show_default=True,
    help="Folder of the libgfsmith.a that --live runs.",
)
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output for --trace and --device.")
def command(**options: Any) -> None:
    """Show the decisions of a coordinator and their reasons (docs/adaptive.md).

    The runtime writes a trace to the file that GFSMITH_ADAPT_TRACE or an option of the program names.
    """
    from gfsmith.explore.adapt import device, live, trace

    try:
        _dispatch(options)
    except (trace.TraceError, device.DeviceError, live.LiveError) as error:
        fail(str(error))
    except KeyboardInterrupt:
        _interrupted()
