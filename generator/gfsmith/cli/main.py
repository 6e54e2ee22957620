"""The command `gfsmith`: lazily loaded subcommands, and the exit status of their errors."""

from __future__ import annotations

import errno
import signal
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any, NoReturn

import click

from gfsmith import __version__
from gfsmith.cli.console import buffer_output, discard_output, fail, occupy_streams, reader_may_leave

#: Subcommands. Each is the `command` of the module of its name in this package.
NAMES = (
    *(
        "adapt",
        "bench",
        "codes",
        "completion",
        "doctor",
        "explain",
        "export",
        "gen",
        "graph",
        "init",
        "list",
        "plan",
    ),
    *("tune", "verify", "where"),
)

#: Errors that users can correct -> exit status and prefix of the message. The classes are given as text so
#: that only the commands that can raise them import their modules.
ERRORS = {
    "gfsmith.build.compiled.CompileError": (1, ""),
    "gfsmith.build.config.ConfigError": (2, ""),
    "gfsmith.build.output.OutputError": (2, ""),
    "gfsmith.build.generate.Refuted": (1, "refuted: "),
    "gfsmith.build.parallel.KilledError": (1, ""),
    "gfsmith.codes.names.CodeError": (2, ""),
    "gfsmith.explore.bench.contenders.BenchError": (1, ""),
    "gfsmith.explore.cost_model.tools.ModelError": (2, ""),
    "gfsmith.field.gf256.FieldError": (2, ""),
    "gfsmith.kernel.spec.SpecError": (2, ""),
    "gfsmith.verify.functions.ForeignError": (2, ""),
    "gfsmith.verify.listings.FolderError": (2, ""),
    "gfsmith.verify.objects.ObjectError": (2, ""),
}
INTERRUPTED = 130


class _Commands(MutableMapping[str, click.Command]):
    """The subcommands by name. A lookup imports the module."""

    def __getitem__(self, name: str) -> click.Command:
        if name not in NAMES:
            raise KeyError(name)
        command = import_module(f"gfsmith.cli.{name}").command
        assert isinstance(command, click.Command)
        return command

    def __iter__(self) -> Iterator[str]:
        return iter(NAMES)

    def __len__(self) -> int:
        return len(NAMES)

    def __setitem__(self, name: str, command: click.Command) -> None:
        raise TypeError("commands are modules of gfsmith.cli")

    def __delitem__(self, name: str) -> None:
        raise TypeError("commands are modules of gfsmith.cli")


@contextmanager
def _usage_in_one_line(command: str) -> Iterator[None]:
    """Replace click's message about wrong arguments, of up to four lines, by one line."""
    try:
        yield
    except click.exceptions.NoArgsIsHelpError:
        raise  # its message is the help
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        path = context.command_path if context is not None else command
        text = " ".join(error.format_message().split())
        stop = "" if text.endswith((".", "?")) else "."
        fail(f"{text}{stop} See `{path} --help`.", error.exit_code)


#: Errors of no stream: of memory and descriptors, and of the dynamic loader, whose errors have no number.
_OF_NO_STREAM = (None, errno.ENOMEM, errno.EMFILE, errno.ENFILE)


def _cannot_access(error: OSError) -> NoReturn:
    """Exit with one line for a file that cannot be read or written. A stream has no name."""
    if error.filename is not None:
        fail(f"{error.filename}: {error.strerror}")
    if error.errno in _OF_NO_STREAM:
        fail(error.strerror or str(error))
    discard_output()
    fail(f"cannot write to standard output: {error.strerror}")


class _Main(click.Group):
    """A command group that turns ERRORS into one line and an exit status, and treats SIGTERM like Ctrl-C."""

    def make_context(self, info_name: str | None, args: list[str], *rest: Any, **extra: Any) -> click.Context:
        occupy_streams()
        buffer_output()
        try:
            with _usage_in_one_line("gfsmith"), reader_may_leave():
                return super().make_context(info_name, args, *rest, **extra)
        except OSError as error:  # of --version and --help
            _cannot_access(error)

    def invoke(self, ctx: click.Context) -> Any:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            with _usage_in_one_line(ctx.command_path), reader_may_leave():
                return super().invoke(ctx)
        except KeyboardInterrupt:
            fail("interrupted; nothing was written", INTERRUPTED)
        except MemoryError:
            fail("out of memory")
        except Exception as error:
            for kind in type(error).__mro__:
                if found := ERRORS.get(f"{kind.__module__}.{kind.__qualname__}"):
                    status, prefix = found
                    fail(f"{prefix}{error}", status)
            if isinstance(error, OSError):
                _cannot_access(error)
            raise


@click.group(
    "gfsmith", cls=_Main, commands=_Commands(), context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(__version__, prog_name="gfsmith")
def main() -> None:
    """Generate and prove erasure-coding kernels over GF(2^8)."""


if __name__ == "__main__":
    main()
