"""The instructions of one function, each decoded once."""

from __future__ import annotations

from gfsmith.prove.machine.architecture import RETURN, Architecture, Flow, Instruction
from gfsmith.prove.machine.domain import Unsupported
from gfsmith.prove.machine.formats.image import Function, Image
from gfsmith.prove.verdict import Refutation


class Text:
    """The instructions of a function. features: CPU features that they may need."""

    def __init__(
        self, arch: Architecture, image: Image, function: Function, features: tuple[str, ...]
    ) -> None:
        self._image, self._function = image, function
        self._arch, self._features = arch, features
        self._decode = arch.decoder(image, function)
        self._known: dict[int, Instruction] = {}
        self._decoded: dict[int, Instruction | None] = {}

    def decode(self, ip: int) -> Instruction | None:
        """Return the instruction at an address; None outside of the function, or if there is none."""
        if ip not in self._decoded:
            self._decoded[ip] = self._decode(ip) if self._contains(ip) else None
        return self._decoded[ip]

    def _contains(self, ip: int) -> bool:
        return 0 <= ip - self._function.address < self._function.size

    def instruction(self, ip: int) -> Instruction:
        """Return the instruction at an address that control has reached. Raises Refutation if there is
        none."""
        if ip == RETURN:
            return Instruction(ip, ip, Flow.RETURN, "the return of a branch")
        found = self._known.get(ip)
        if found is not None:
            return found
        if not self._contains(ip):
            raise Refutation(f"control leaves the function, to byte {ip - self._function.address}")
        found = self.decode(ip)
        if found is None:
            raise Refutation("there is no valid instruction")
        lacking = self._arch.lacks(found, self._features)
        if lacking is not None:
            raise Refutation(f"{found} needs {lacking}, which the instruction set does not have")
        hole = self._image.hole_in(ip, found.next_ip - ip)
        if hole is not None:
            raise Unsupported(f"{found} depends on {hole.symbol}")
        for reference in self._image.references_in(ip, found.next_ip - ip):
            if not self._arch.is_linked(found, reference):
                raise Unsupported(f"{found} depends on where the linker puts other code or data")
        self._known[ip] = found
        return found
