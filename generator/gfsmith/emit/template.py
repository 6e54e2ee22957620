"""Rendering of Jinja2 templates, which contain layout and no arithmetic."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import jinja2

from gfsmith.emit.files import share
from gfsmith.kernel.spec import KernelSpec

TEMPLATES = share("templates")


def meaning(spec: KernelSpec) -> str:
    """Return the kernel's formula for comments."""
    k = "k" if spec.inputs is None else str(spec.inputs)
    sum_ = f"sum over j < {k} of"
    side = spec.in_lines
    lines = f"; {side}[2 i] and {side}[2 i + 1] are halves of 64 bytes" if side else ""
    return {
        "dot": f"dst[i] = {sum_} c[i][j] * src[j], i < {spec.outputs}",
        "mad": f"dst[i] ^= {sum_} c[i][j] * src[j], i < {spec.outputs}",
        "mul": f"dst[j] = c[j] * src[j], j < {k}",
        "xor": f"dst[0] = {sum_} src[j]",
        "horner": f"dst[i] = {sum_} (2^i)^j * src[j], i < {spec.outputs}",
        "fft": "x += C y, then y += x",
        "ifft": "y += x, then x += C y",
        "fft4": "fft of w, y and x, z with C, then of w, x with D and y, z with E",
        "ifft4": "ifft of w, x with D and y, z with E, then of w, y and x, z with C",
        "fft16": "four layers of fft, of elements at the distance 8, then 4, 2 and 1",
        "ifft16": "four layers of ifft, of elements at the distance 1, then 2, 4 and 8",
        "refft16": "ifft16 with the last 15 matrices, then fft16, of which the first one of a layer is 0",
        "fft4lines": f"fft4, then low += B high{lines}",
        "ifft4lines": f"low += B high, then ifft4{lines}",
        "fft4scaled": f"fft4, then products of elements{lines}",
        "ifft4scaled": f"products of elements, then ifft4{lines}",
    }[spec.operation.value]


@lru_cache(maxsize=1)
def _environment() -> jinja2.Environment:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    environment.filters["meaning"] = meaning
    return environment


def render(name: str, **context: Any) -> str:
    """Return the text of template `name`. An undefined variable is an error."""
    return _environment().get_template(name).render(**context)
