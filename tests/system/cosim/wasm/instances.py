"""Random instances of instructions, each in a function that reads its operands and stores its result."""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random

from gfsmith.prove.machine.wasm.semantics import COPY, TABLE

#: Addresses: of the result, of the operands of type v128, and around which instructions access memory.
RESULT, VECTORS, MIDDLE, BLOCK_BYTES = 0, 64, 384, 768
FORMS = sorted(TABLE.keys() - {COPY, "nop"})
#: Variables behind the parameters: nothing reads them, and there are any number of them.
_LANES = {"i8x16": 16, "i16x8": 8, "i32x4": 4, "i64x2": 2}
_ACCESS = re.compile(r"(?:i32|i64|v128)\.(?:load|store)(\d*)(?:_(lane|splat|zero|u))?")


@dataclass(frozen=True, slots=True)
class Instance:
    """An instruction in the function `name`. parameters: the types of its operands that are numbers."""

    name: str
    form: str
    text: str
    parameters: tuple[str, ...]

    @property
    def accesses(self) -> bool:
        """Return True if the first operand is an address."""
        return _ACCESS.fullmatch(self.form) is not None


def _immediate(form: str, rng: Random) -> str:
    """Return the numbers of an instruction."""
    access = _ACCESS.fullmatch(form)
    if access is not None:
        offset = rng.choice((0, 0, rng.randrange(64)))
        lane = f" {rng.randrange(128 // int(access[1]))}" if access[2] == "lane" else ""
        return f" offset={offset}{lane}"
    if form.endswith(".const") and form != "v128.const":
        bits = int(form[1:3])
        return f" {rng.choice((rng.getrandbits(bits), rng.getrandbits(7), -rng.getrandbits(bits - 1)))}"
    if form == "v128.const":
        return " i32x4" + "".join(f" {rng.getrandbits(32)}" for _ in range(4))
    if form == "i8x16.shuffle":
        return "".join(f" {rng.randrange(32)}" for _ in range(16))
    shape, name = form.split(".")
    return f" {rng.randrange(_LANES[shape])}" if "_lane" in name else ""


def instance(form: str, number: int, rng: Random) -> Instance:
    entry = TABLE[form]
    parameters = tuple(kind for kind in entry.operands if kind != "v128")
    return Instance(f"f{number}", form, f"{form}{_immediate(form, rng)}", parameters)


def function(instance: Instance) -> str:
    """Return the text of the function."""
    entry = TABLE[instance.form]
    lines, numbers, vectors = [], 0, 0
    if entry.result:
        lines.append(f"i32.const {RESULT}")
    for kind in entry.operands:
        if kind == "v128":
            lines += [f"i32.const {VECTORS + 16 * vectors}", "v128.load"]
            vectors += 1
        else:
            lines.append(f"local.get {numbers}")
            numbers += 1
    lines.append(instance.text)
    if entry.result:
        lines.append(f"{entry.result}.store")
    parameters = f" (param {' '.join(instance.parameters)})" if instance.parameters else ""
    return f'(func ${instance.name} (export "{instance.name}"){parameters}\n{chr(10).join(lines)})\n'


def module(instances: list[Instance]) -> str:
    return f'(module (memory (export "memory") 1)\n{"".join(map(function, instances))})\n'
