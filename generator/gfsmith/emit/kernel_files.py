"""Path of a kernel's source in the output folder, and its preprocessor condition."""

from __future__ import annotations

from gfsmith.emit.c.kernel import SPELLINGS
from gfsmith.kernel import architecture
from gfsmith.kernel.isa import Isa
from gfsmith.kernel.spec import KernelSpec


def guard(isa: Isa) -> str:
    """Return the preprocessor condition under which a build can contain the set: its architecture, and a
    compiler that supports it; "" for always."""
    arch, spelling = architecture.condition(isa.arch), SPELLINGS.get(isa.name)
    if spelling is None or not spelling.compilers:
        return arch
    return f"({arch}) && ({spelling.compilers})"


def condition(isa: Isa) -> str:
    """Return the preprocessor condition under which a build contains the kernels of a set."""
    able = guard(isa)
    chosen = f"GFSMITH_BUILDS({isa.name})"
    return f"({able}) && {chosen}" if able else chosen


def source_path(spec: KernelSpec) -> str:
    """Return the path of a kernel's source in the output folder."""
    if spec.machine_code:
        return f"x86/{spec.symbol}.S"
    return f"{spec.isa.name}/{spec.symbol}.c"


def build_source(spec: KernelSpec) -> str:
    """Return the path of the source that build systems compile for a kernel: that of its set, which includes
    the kernel's own."""
    return f"{spec.isa.name}.{'S' if spec.machine_code else 'c'}"
