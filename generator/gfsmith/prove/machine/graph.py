"""Which branches close loops, from the code alone."""

from __future__ import annotations

from collections.abc import Callable

from gfsmith.prove.machine.arch import Flow, Instruction


class Graph:
    """The instructions of a function by where control may go. decode: None where there is none."""

    def __init__(self, origin: int, decode: Callable[[int], Instruction | None]) -> None:
        self._origin = origin
        self._decode = decode
        self._known: dict[int, bool | None] = {}

    def closes(self, instr: Instruction) -> bool | None:
        """Whether a branch closes a loop where it is taken (True) or where it is not (False); None: neither.

        Only that way leads back to it; or both do, and it is taken backwards, or every way to the branch
        comes through what follows it.
        """
        if instr.ip not in self._known:
            self._known[instr.ip] = self._closes(instr)
        return self._known[instr.ip]

    def _closes(self, instr: Instruction) -> bool | None:
        taken, other = (self._leads(way, instr.ip) for way in (instr.target, instr.next_ip))
        if taken != other:
            return taken
        if instr.target <= instr.ip:
            return True
        return None if self._leads(self._origin, instr.ip, without=instr.next_ip) else False

    def _leads(self, start: int, goal: int, without: int | None = None) -> bool:
        """Whether there is a way from one instruction to another that does not come by a third."""
        seen, queue = {without}, [start]
        while queue:
            ip = queue.pop()
            if ip == goal:
                return True
            if ip in seen:
                continue
            seen.add(ip)
            instr = self._decode(ip)
            if instr is None:
                continue
            if instr.flow in (Flow.JUMP, Flow.BRANCH):
                queue.append(instr.target)
            if instr.flow in (Flow.NEXT, Flow.BRANCH):
                queue.append(instr.next_ip)
        return False
