"""Shell completion: the command that prints a shell's script, and callbacks that return the allowed words.

The scripts are click's (https://click.palletsprojects.com, "Shell Completion"): on Tab the shell runs
`gfsmith` with _GFSMITH_COMPLETE set, and gfsmith prints the words. The module that declares an option also
declares its words, with `words`, `fixed` or `listed`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import click
from click.shell_completion import CompletionItem, get_completion_class

Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_GFSMITH_COMPLETE"


def words(allowed: Callable[[click.Context], Iterable[str]]) -> Completer:
    """Return a `shell_complete` callback of click: it completes to the allowed words that begin with the
    typed text.

    allowed: returns the words, given the arguments before (`ctx.params`); called only when Tab is pressed.
    """

    def complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [CompletionItem(word) for word in allowed(context) if word.startswith(incomplete)]

    return complete


def fixed(allowed: Iterable[str]) -> Completer:
    """Return a callback like that of `words` for a constant list of words."""
    kept = tuple(allowed)
    return words(lambda _: kept)


def listed(allowed: Iterable[str]) -> Completer:
    """Return a callback like that of `fixed` that completes the last word of a comma-separated list."""
    kept = tuple(allowed)

    def complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
        before, comma, last = incomplete.rpartition(",")
        return [CompletionItem(f"{before}{comma}{word}") for word in kept if word.startswith(last)]

    return complete


@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Print the script that completes gfsmith's commands, options and names in SHELL.

    docs/command-line.md names the file where each shell expects the script.
    """
    chosen = get_completion_class(shell)
    assert chosen is not None  # SHELLS are names that click has
    print(chosen(context.find_root().command, {}, "gfsmith", VARIABLE).source())
