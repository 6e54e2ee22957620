"""`gfsmith adapt`: options, and what is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn

import click

from gfsmith.adapt import device, live, show, trace
from gfsmith.complete import fixed
from gfsmith.console import fail, out, print_json
from gfsmith.spec import MAX_SHARDS

LIBRARY = Path("build/adaptive")
_OWN = "-"  #: --live without a file: the workload

WALKS = ("row", "rows4", "block", "block-shuffled", "shuffled")
POLICIES = ("default", "plain", *WALKS, *(f"{walk},nt" for walk in WALKS))

#: Options that only the workload has, and what they are called.
_WORK = ("k", "m", "length", "threads")
_NAMES = {"length": "--len"}


def _flag(name: str) -> str:
    return _NAMES.get(name, f"--{name}")


def _summary(path: Path, as_json: bool) -> None:
    found = trace.load(path)
    if as_json:
        print_json(trace.to_json(found))
    else:
        show.summary(out, found)


def _check_device(path: Path, as_json: bool) -> None:
    found = device.load(path)
    if as_json:
        print_json(found.model_dump())
        return
    words = ", ".join(f"{key} {value}" for key, value in found.model_dump().items() if key != "name")
    print(f"{path}: {found.name}: {words}")


def _follow(path: Path, seconds: float | None) -> None:
    found = live.follow([live.Tail(path)], out, live.until(seconds))
    if found.events == 0 and found.malformed:
        found.check(path)


def _work(options: dict[str, Any]) -> live.Work:
    """What the workload is to do. Ends with one line for what it cannot."""
    lacking = [_flag(name) for name in _WORK if options[name] is None]
    if lacking:
        fail(f"--live without a file encodes itself, and needs {', '.join(lacking)}")
    if options["k"] + options["m"] > MAX_SHARDS:
        fail(f"--k {options['k']} --m {options['m']}: allowed: k + m <= {MAX_SHARDS}")
    if options["device_path"] is not None:
        device.load(options["device_path"])
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
    work = _work(options)
    with live.running(work, options["library"]) as run:
        live.follow(run.tails, out, run.goes_on)


def _unused(options: dict[str, Any], allowed: tuple[str, ...], what: str) -> None:
    """Ends with one line for an option that would mean nothing."""
    names = {"device_path": "--device", "as_json": "--json", "library": "--library"}
    for name, value in options.items():
        given = value is not None and value is not False and not (name == "library" and value == LIBRARY)
        if given and name not in allowed:
            fail(f"{names.get(name, _flag(name))}: means nothing with {what}")


def _dispatch(options: dict[str, Any]) -> None:
    path, followed = options.pop("trace_path"), options.pop("followed")
    if path is not None and followed is not None:
        fail("--trace and --live: one of them")
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
    """Ctrl-C is how a view ends: nothing to say."""
    raise SystemExit(130)


@click.command("adapt")
@click.option("--trace", "trace_path", type=click.Path(path_type=Path), help="Sum up a trace.")
@click.option(
    "--live",
    "followed",
    is_flag=False,
    flag_value=_OWN,
    type=click.Path(),
    metavar="[FILE]",
    help="Follow a trace that grows; without a file, that of a program which encodes as --k, --m, --len and "
    "--threads say.",
)
@click.option("--k", type=click.IntRange(1, MAX_SHARDS - 1), help="Data shards.")
@click.option("--m", type=click.IntRange(1, MAX_SHARDS - 1), help="Parities.")
@click.option("--len", "length", type=click.IntRange(1, 1 << 30), help="Bytes of a shard.")
@click.option("--threads", type=click.IntRange(1, 256), help="Threads that encode.")
@click.option("--seconds", type=click.FloatRange(0, min_open=True), help="How long [default: until Ctrl-C].")
@click.option("--policy", help="Run with this policy and do not adapt.", shell_complete=fixed(POLICIES))
@click.option(
    "--device",
    "device_path",
    type=click.Path(path_type=Path),
    help="The memory, in TOML; alone: check this description.",
)
@click.option(
    "--library",
    type=click.Path(path_type=Path, file_okay=False),
    default=LIBRARY,
    show_default=True,
    help="Folder of the libgfsmith.a that --live runs.",
)
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output, of --trace and --device.")
def adapt(**options: Any) -> None:
    """Show what a coordinator decides, and why: docs/adaptive.md.

    The runtime writes traces where GFSMITH_ADAPT_TRACE or an option of the program names a file.
    """
    try:
        _dispatch(options)
    except (trace.TraceError, device.DeviceError, live.LiveError) as error:
        fail(str(error))
    except KeyboardInterrupt:
        _interrupted()
