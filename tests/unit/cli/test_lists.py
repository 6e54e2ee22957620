"""Options with lists that are given several times."""

from __future__ import annotations

from importlib import import_module

import click
import pytest
from click.testing import CliRunner

from gfsmith.cli import main

PLAN = ("plan", "--code", "cauchy", "--k", "4", "--m", "2")
GRAPH = ("graph", "--scheme", "rs", "--k", "2", "--m", "2")
LISTS = {
    "plan": ("lost", "wanted"),
    "graph": ("lost", "wanted", "holders"),
    "explain": ("cpus",),
    "tune": ("lengths", "models"),
    "verify": ("arguments",),
}


def _output(*words: str) -> str:
    done = CliRunner().invoke(main.main, words)
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.parametrize(
    ("once", "twice"),
    [
        ((*PLAN, "--lost", "1,4"), (*PLAN, "--lost", "1", "--lost", "4")),
        ((*PLAN, "--lost", "1,4", "--wanted", "1,4"), (*PLAN, "--lost=4,1", "--wanted=4", "--wanted=1")),
        ((*GRAPH, "--lost", "1,2"), (*GRAPH, "--lost", "1", "--lost", "2")),
        (
            (*GRAPH, "--lost", "1", "--holders", "3,2,1,0"),
            (*GRAPH, "--lost", "1", "--holders", "3,2", "--holders", "1,0"),
        ),
    ],
)
def test_lists_of_an_option_add_up(once: tuple[str, ...], twice: tuple[str, ...]) -> None:
    assert _output(*twice) == _output(*once)


@pytest.mark.parametrize("name", LISTS)
def test_options_with_lists_keep_every_value(name: str) -> None:
    command: click.Command = import_module(f"gfsmith.cli.{name}").command
    context = click.Context(command)
    options = {option.name: option for option in command.params}
    for option in LISTS[name]:
        value = options[option].process_value(context, ("a,b", "c"))
        assert value == "a,b,c", option


def test_defaults_of_lists_remain() -> None:
    command: click.Command = import_module("gfsmith.cli.verify").command
    context = command.make_context("verify", ["--code", "cauchy", "--k", "4", "--m", "2"])
    assert context.params["arguments"] == "len,k,tables,src,dst"
    command = import_module("gfsmith.cli.plan").command
    context = command.make_context("plan", ["--code", "cauchy", "--k", "4", "--lost", "1"])
    assert (context.params["lost"], context.params["wanted"]) == ("1", None)
