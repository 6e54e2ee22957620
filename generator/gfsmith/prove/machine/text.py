"""The instructions of one function, decoded as they are reached."""

from __future__ import annotations

from gfsmith.prove.machine.arch import RETURN, Architecture, Flow, Instruction
from gfsmith.prove.verdict import Refutation


class Text:
    """The bytes of a function from `origin` on, and the CPU features that its instructions may need."""

    def __init__(self, arch: Architecture, code: bytes, origin: int, features: tuple[str, ...]) -> None:
        self._arch, self._code, self._origin, self._features = arch, code, origin, features
        self._known: dict[int, Instruction] = {}

    def decode(self, ip: int) -> Instruction | None:
        """The instruction at an address; None outside of the function, or if there is none."""
        start = ip - self._origin
        if not 0 <= start < len(self._code):
            return None
        return self._known.get(ip) or self._arch.decode(self._code[start : start + self._arch.longest], ip)

    def instruction(self, ip: int) -> Instruction:
        """The same for an address that control has reached. Raises Refutation."""
        if ip == RETURN:
            return Instruction(ip, ip, Flow.RETURN, "the return of a branch")
        found = self._known.get(ip)
        if found is not None:
            return found
        if not 0 <= ip - self._origin < len(self._code):
            raise Refutation(f"control leaves the function, to byte {ip - self._origin}")
        found = self.decode(ip)
        if found is None:
            raise Refutation("there is no valid instruction")
        lacking = self._arch.lacks(found, self._features)
        if lacking is not None:
            raise Refutation(f"{found} needs {lacking}, which the instruction set does not have")
        self._known[ip] = found
        return found
