"""Registers of WebAssembly for the prover, and C's calling convention (tool-conventions, "Basic C ABI").

Local variables and places of the operand stack are registers: validation fixes the height of the stack and
the type of each operand for every instruction. Register n is variable n, or operand n less the number of
variables.
"""

from __future__ import annotations

from gfsmith.prove.machine.abi import Abi

MACHINE = "WebAssembly"
VECTOR_BYTES = 16
#: The global variable of C's stack in memory. No instruction in the table of semantics uses it.
STACK_POINTER = "__stack_pointer"

WASM32 = Abi(
    name="wasm32",
    arguments=tuple(f"r{number}" for number in range(5)),
    preserved=(),
    return_address=None,
    stack_arguments=0,
    pointer=4,
)
ABIS = {WASM32.name: WASM32}
