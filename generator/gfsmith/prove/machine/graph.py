"""Which branches close loops, from the code alone."""

from __future__ import annotations

from collections.abc import Callable

from gfsmith.prove.machine.arch import Flow, Instruction


class Graph:
    """The instructions of a function by where control may go. decode: None where there is none."""

    def __init__(self, origin: int, decode: Callable[[int], Instruction | None]) -> None:
        self._origin = origin
        self._decode = decode
        self._falls_back: dict[int, bool] = {}

    def closes(self, instr: Instruction) -> bool | None:
        """Whether a branch closes a loop where it is taken (True) or where it is not (False); None: neither.

        It is taken backwards, or every way to it comes through what follows it.
        """
        if instr.target <= instr.ip:
            return True
        known = self._falls_back.get(instr.ip)
        if known is None:
            known = self._falls_back[instr.ip] = not self._reaches(instr.ip, instr.next_ip)
        return False if known else None

    def _reaches(self, goal: int, without: int) -> bool:
        """Whether there is a way from the start to an instruction that does not come by another one."""
        seen, queue = {without}, [self._origin]
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
