"""The instructions of one function, each decoded once."""

from __future__ import annotations

from gfsmith.prove.machine.architecture import RETURN, Architecture, Flow, Instruction
from gfsmith.prove.machine.domain import Unsupported
from gfsmith.prove.machine.formats.image import Image
from gfsmith.prove.verdict import Refutation


class Text:
    """The bytes of a function from `origin` on, and the CPU features that its instructions may need."""

    def __init__(
        self,
        arch: Architecture,
        code: bytes,
        origin: int,
        features: tuple[str, ...],
        image: Image | None = None,
    ) -> None:
        self._image = image
        self._arch, self._code, self._origin, self._features = arch, code, origin, features
        self._known: dict[int, Instruction] = {}
        self._decoded: dict[int, Instruction | None] = {}

    def decode(self, ip: int) -> Instruction | None:
        """Return the instruction at an address; None outside of the function, or if there is none."""
        if ip not in self._decoded:
            start = ip - self._origin
            inside = 0 <= start < len(self._code)
            code = self._code[start : start + self._arch.longest]
            self._decoded[ip] = self._arch.decode(code, ip) if inside else None
        return self._decoded[ip]

    def instruction(self, ip: int) -> Instruction:
        """Return the instruction at an address that control has reached. Raises Refutation if there is
        none."""
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
        if self._image is not None:
            for reference in self._image.references_in(ip, found.next_ip - ip):
                if not self._arch.is_linked(found, reference):
                    raise Unsupported(f"{found} depends on where the linker puts other code or data")
        self._known[ip] = found
        return found
