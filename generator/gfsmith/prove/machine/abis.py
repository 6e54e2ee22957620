"""All calling conventions of contracts."""

from __future__ import annotations

from gfsmith.prove.machine.aarch64 import registers as aarch64
from gfsmith.prove.machine.power import registers as power
from gfsmith.prove.machine.riscv import registers as riscv
from gfsmith.prove.machine.s390x import registers as s390x
from gfsmith.prove.machine.wasm import registers as wasm
from gfsmith.prove.machine.x86 import registers as x86

#: Their names. The processors, whose decoders take long to load, are in architectures.py.
ABIS = (*x86.ABIS, *aarch64.ABIS, *power.ABIS, *riscv.ABIS, *s390x.ABIS, *wasm.ABIS)
