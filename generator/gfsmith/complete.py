"""Completion of the command line by shells: the command that prints a shell's script, and words to complete.

The scripts are click's (https://click.palletsprojects.com, "Shell Completion"): on Tab the shell runs
`gfsmith` with _GFSMITH_COMPLETE set, and gfsmith prints the words. Which words an option takes, the room that
owns the option says, through `words`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import click
from click.shell_completion import CompletionItem, get_completion_class

Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_GFSMITH_COMPLETE"


def words(allowed: Callable[[click.Context], Iterable[str]]) -> Completer:
    """A `shell_complete` of click: those of the allowed words that begin as what was typed.

    allowed: the words, from what was typed before (`ctx.params`); not asked before Tab is pressed.
    """

    def complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [CompletionItem(word) for word in allowed(context) if word.startswith(incomplete)]

    return complete


def fixed(allowed: Iterable[str]) -> Completer:
    """The same, of words that do not depend on anything."""
    kept = tuple(allowed)
    return words(lambda _: kept)


def listed(allowed: Iterable[str]) -> Completer:
    """The same, for the last of several words with commas between them."""
    kept = tuple(allowed)

    def complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
        before, comma, last = incomplete.rpartition(",")
        return [CompletionItem(f"{before}{comma}{word}") for word in kept if word.startswith(last)]

    return complete


@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the script that completes gfsmith's commands, options and names in SHELL.

    It is to be read by the shell: docs/command-line.md says where to put it.
    """
    chosen = get_completion_class(shell)
    assert chosen is not None  # SHELLS are names that click knows
    print(chosen(context.find_root().command, {}, "gfsmith", VARIABLE).source())
