"""The branches that close loops, compared with a search along every instruction."""

from __future__ import annotations

from random import Random

from gfsmith.prove.machine.architecture import Flow, Instruction
from gfsmith.prove.machine.control_flow import Graph

ORIGIN = 100


def function(rng: Random, count: int) -> dict[int, Instruction]:
    """Return instructions of 1 or 2 bytes; some targets are inside an instruction or outside the function."""
    code: dict[int, Instruction] = {}
    flows = (Flow.NEXT,) * 6 + (Flow.BRANCH,) * 4 + (Flow.JUMP, Flow.RETURN)
    for ip in range(ORIGIN, ORIGIN + count):
        if rng.random() < 0.95:
            target = rng.randrange(ORIGIN - 1, ORIGIN + count + 1)
            code[ip] = Instruction(ip, ip + rng.choice((1, 1, 2)), rng.choice(flows), None, target)
    return code


def leads(code: dict[int, Instruction], start: int, goal: int, without: int | None = None) -> bool:
    """Return True if a path leads from `start` to `goal` that avoids `without`."""
    seen, queue = {without}, [start]
    while queue:
        ip = queue.pop()
        if ip == goal:
            return True
        if ip in seen or ip not in code:
            continue
        seen.add(ip)
        instr = code[ip]
        if instr.flow in (Flow.JUMP, Flow.BRANCH):
            queue.append(instr.target)
        if instr.flow in (Flow.NEXT, Flow.BRANCH):
            queue.append(instr.next_ip)
    return False


def closes(code: dict[int, Instruction], instr: Instruction) -> bool | None:
    taken, other = (leads(code, way, instr.ip) for way in (instr.target, instr.next_ip))
    if taken != other:
        return taken
    if instr.target <= instr.ip:
        return True
    return None if leads(code, ORIGIN, instr.ip, without=instr.next_ip) else False


def test_as_a_search_finds() -> None:
    rng = Random(1)
    answers: list[bool | None] = []
    for _ in range(800):
        code = function(rng, rng.randrange(2, 40))
        graph = Graph(ORIGIN, code.get)
        branches = [instr for instr in code.values() if instr.flow is Flow.BRANCH]
        rng.shuffle(branches)
        for instr in branches:
            answers.append(closes(code, instr))
            assert graph.closes(instr) == answers[-1], (code, instr)
    assert min(answers.count(answer) for answer in (True, False, None)) > 100
