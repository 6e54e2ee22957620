"""An attacker on the way between two nodes changes the traffic of their link: the link ends, and no changed
message arrives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.levels import share
from tests.support.mutation import Mutant
from tests.system.compose.attacker import ATTACKS, SEND, Attack, Attacker, Message, drop, forge, repeat
from tests.system.compose.support import Library, with_error
from tests.system.compose.test_unknown_peers import SERVE, Process

RANK = 9
#: Of a link's own messages, which have no body; those of the tests have one.
HEAD = 32


#: The node that connects, the other one, the attacker.
Nodes = tuple[Process, Process, Attacker]


def a_message(message: Message) -> bool:
    return message.operation == SEND and len(message.payload) > HEAD


@contextmanager
def attacked(program: Path) -> Iterator[Nodes]:
    """Yield two nodes that are linked through an attacker."""
    low, high = Process(program, 0), Process(program, RANK)
    attacker = Attacker(low.port)
    try:
        high.peer(0, attacker.port)
        up(high, low)
        yield high, low, attacker
    finally:
        attacker.close()
        for node in (high, low):
            node.process.kill()
            node.process.wait(60)


def up(high: Process, low: Process) -> None:
    high.expect("up 0")
    low.expect(f"up {RANK}")


def again(high: Process, low: Process) -> None:
    """Wait until their link has ended, and the next one is up."""
    high.expect("down 0")
    low.expect(f"down {RANK}")
    up(high, low)


def send(node: Process, text: str) -> None:
    assert node.tell(f"send 0 {text}", "sent") == "0"


def messages(node: Process) -> list[str]:
    """Return the messages that have arrived, and forget them."""
    lines = node.output.lines
    found = [line for line in lines if line.startswith("message")]
    lines[:] = [line for line in lines if line not in found]
    return [line.split()[2] for line in found]


def check(nodes: Nodes, attack: Attack) -> None:
    """Attack the second of four messages."""
    high, low, attacker = nodes
    send(high, "message-1")
    assert low.expect(f"message {RANK}") == "message-1"
    attacker.plan(attack, a_message)
    for n in (2, 3, 4):
        high.tell(f"send 0 message-{n}", "sent")
    low.expect(f"down {RANK}")
    assert messages(low) in ([], ["message-2"])
    high.expect("down 0")
    up(high, low)
    send(high, "message-5")
    assert low.expect(f"message {RANK}") == "message-5"


def splice(nodes: Nodes) -> None:
    """A message of an earlier link takes the place of that with the same number on the next link."""
    high, low, attacker = nodes
    kept: list[Message] = []

    def keep(message: Message, later: Iterator[Message]) -> list[Message]:
        kept.append(message)
        return [message]

    def put(message: Message, later: Iterator[Message]) -> list[Message]:
        return kept

    attacker.cut_off()
    again(high, low)
    attacker.plan(keep, a_message)
    send(high, "earlier-message")
    assert low.expect(f"message {RANK}") == "earlier-message"
    attacker.cut_off()
    again(high, low)
    attacker.plan(put, a_message)
    send(high, "later-message")
    low.expect(f"down {RANK}")
    assert messages(low) == []


@pytest.fixture
def serve(plain: Library) -> Path:
    return plain.program("serve", SERVE)


def test_messages(serve: Path) -> None:
    with attacked(serve) as nodes:
        for attack in ATTACKS:
            check(nodes, attack)
        splice(nodes)


#: An attack, and the error for which it succeeds.
MUTANTS: dict[str, tuple[Callable[[Nodes], None], Mutant]] = {
    "forge": (lambda nodes: check(nodes, forge), Mutant("!gfc_seal_frame_valid($$rest)", "false")),
    "repeat": (lambda nodes: check(nodes, repeat), Mutant("frame.number != channel->got", "false")),
    "drop": (lambda nodes: check(nodes, drop), Mutant("frame.number != channel->got", "false")),
    "splice": (splice, Mutant("gfc_handshake_root($$rest)", "memset(root, 7, sizeof root)")),
}


@pytest.mark.campaign
@pytest.mark.parametrize("name", share(MUTANTS, 2))
def test_mutant(plain: Library, tmp_path: Path, name: str) -> None:
    act, mutant = MUTANTS[name]
    program = with_error(plain, mutant, tmp_path, "serve", SERVE)
    with attacked(program) as nodes:
        for node in nodes[:2]:
            node.output.patience = 3
        with pytest.raises(AssertionError):
            act(nodes)
