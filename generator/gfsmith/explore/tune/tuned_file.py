"""The text of tuned/<microarchitecture>.toml for the choices of a study; build/tuned.py reads it."""

from __future__ import annotations

from gfsmith.build.tuned import FORMAT, KEYS
from gfsmith.explore.tune.result import Basis, Choice, Study


def _value(value: int | str) -> str:
    return str(value) if isinstance(value, int) else f'"{value}"'


def _entry(choice: Choice) -> list[str]:
    lines = ["[[kernel]]", f'spec = "{choice.target}"', f'path = "{choice.path}"']
    lines += [f"{key} = {_value(choice.parameters[key])}" for key in KEYS]
    if choice.gains:
        lines.append("gains = [")
        lines += [
            f"  {{ length = {n}, speed = {g.median:.3f}, low = {g.low:.3f}, high = {g.high:.3f} }},"
            for n, g in sorted(choice.gains.items())
        ]
        lines.append("]")
    return lines


def text(study: Study) -> str:
    """Return a study's choices as the text of a tuned file."""
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
    for choice in study.choices:
        lines += ["", *_entry(choice)]
    return "\n".join(lines) + "\n"
