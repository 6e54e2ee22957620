"""The text of tuned/<microarchitecture>.toml for the choices of a study; build/tuned.py reads it."""

from __future__ import annotations

from collections.abc import Sequence

from gfsmith.build.tuned import FORMAT, KEYS, Entry, Gain
from gfsmith.explore.tune.result import Basis, Choice, Study


def _value(value: int | str) -> str:
    return str(value) if isinstance(value, int) else f'"{value}"'


def _chosen(choice: Choice) -> Entry:
    gains = [Gain(length=n, speed=g.median, low=g.low, high=g.high) for n, g in sorted(choice.gains.items())]
    parameters = {key: choice.parameters[key] for key in KEYS}
    return Entry.model_validate({"spec": choice.target, "path": choice.path, "gains": gains} | parameters)


def _table(entry: Entry) -> list[str]:
    lines = ["[[kernel]]", f'spec = "{entry.spec}"', f'path = "{entry.path}"']
    lines += [f"{key} = {_value(getattr(entry, key))}" for key in KEYS]
    if entry.gains:
        lines.append("gains = [")
        lines += [
            f"  {{ length = {g.length}, speed = {g.speed:.3f}, low = {g.low:.3f}, high = {g.high:.3f} }},"
            for g in entry.gains
        ]
        lines.append("]")
    return lines


def text(study: Study, kept: Sequence[Entry] = ()) -> str:
    """Return the text of a tuned file: kernels of an earlier file that stay, then a study's choices."""
    lines = ['# Written by "gfsmith tune"; docs/tuning.md explains its content and its use in a build.']
    if study.basis is Basis.MEASURED:
        lines.append("# speed: time of the kernel without tuning / time of this one, measured alternately.")
    else:
        lines.append("# Ranked by a model of the processor alone (llvm-mca); nothing was measured.")
    lines += [
        f"format = {FORMAT}",
        f'microarchitecture = "{study.microarchitecture}"',
        f'basis = "{study.basis.value}"',
    ]
    for entry in (*kept, *map(_chosen, study.choices)):
        lines += ["", *_table(entry)]
    return "\n".join(lines) + "\n"
