"""The tests of links refute: with one line of the library changed, the scenario beside it fails."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from .support import ROOT, Library, compile_c, with_object
from .test_links import LINKS

#: Scenario, file, what stands there, what stands there instead.
MUTANTS = (
    ("a_message_that_is_flipped", "frame.c", "le64toh(read.hash) != hash(buffer, bytes)", "false"),
    ("a_message_that_is_cut", "frame.c", "le32toh(read.bytes) != bytes - sizeof read", "false"),
    ("a_message_that_is_left_out", "receive.c", "frame.sequence != connection->got", "false"),
    ("credits_that_nobody_gave", "receive.c", "connection->credits + credits > GFC_CREDITS", "false"),
    ("wrong_key", "auth.c", "crypto_verify_32(right, proof) == 0", "right[0] + proof[0] >= 0"),
    ("messages_in_order", "receive.c", "connection->owed++;", ""),
    (
        "controls_and_writes_in_order",
        "queue.c",
        "TAILQ_INSERT_TAIL(&connection->queue",
        "TAILQ_INSERT_HEAD(&connection->queue",
    ),
    ("too_many_messages", "node.c", "<= WAITING_MAX", "!= SIZE_MAX"),
    ("destroyed_under_way", "queue.c", "  discard_list(connection, &connection->queue, status);\n", ""),
    ("back_at_the_same_port", "peers.c", "  if (!connects(peer))\n    return;", "  return;"),
    ("moved", "peers.c", 'gfc_doom(peer->link, GFSMITH_EPEER, "the peer has moved");', ";"),
    ("silent", "connection.c", "silent >= connection->engine->silent_ms", "false"),
    ("timers", "timer.c", "before->at > timer->at", "before->at == 0"),
)


@pytest.mark.parametrize(("scenario", "file", "before", "after"), MUTANTS, ids=[m[0] for m in MUTANTS])
def test_mutant(plain: Library, tmp_path: Path, scenario: str, file: str, before: str, after: str) -> None:
    text = (ROOT / "runtime/compose/src" / file).read_text()
    assert before in text, f"{file} has no line {before!r} any more"
    source = tmp_path / file
    source.write_text(text.replace(before, after))
    changed = source.with_suffix(".o")
    compile_c("-Wno-error", "-w", "-O1", "-c", source, "-o", changed)
    program = with_object(plain, tmp_path / "links", changed, *sorted(LINKS.glob("[!s]*.c")))
    done = subprocess.run(
        [program, "tcp", scenario],
        capture_output=True,
        timeout=120,
        env={**os.environ, "HARNESS_SECONDS": "2"},
    )
    assert done.returncode != 0, f"{scenario} does not notice that {file} has {after!r} for {before!r}"
