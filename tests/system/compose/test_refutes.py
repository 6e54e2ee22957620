"""The tests of links detect errors: with one line of the library changed, the scenario fails."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.support.levels import share
from tests.support.mutation import Mutant
from tests.system.compose.support import CLOCK_OPTIONS, Library, with_error
from tests.system.compose.test_links import SOURCES

#: Scenario, and the error for which it fails.
MUTANTS = (
    ("a_message_that_is_flipped", Mutant("!gfc_seal_frame_valid($$rest)", "false")),
    ("a_message_that_is_cut", Mutant("le32toh(read.bytes) != bytes - sizeof read", "false")),
    ("a_message_that_is_left_out", Mutant("frame.number != channel->got", "false")),
    ("credits_that_nobody_gave", Mutant("channel->credits + credits > GFC_CREDITS", "false")),
    ("wrong_key", Mutant("crypto_verify_32($right, $proof) == 0", "$right[0] + $proof[0] >= 0")),
    ("messages_in_order", Mutant("channel->owed++;", ";")),
    (
        "controls_and_writes_in_order",
        Mutant(
            "TAILQ_INSERT_TAIL(&channel->queue, $item, $entry);",
            "TAILQ_INSERT_HEAD(&channel->queue, $item, $entry);",
            everywhere=True,
        ),
    ),
    ("too_many_messages", Mutant("$waiting <= WAITING_MAX", "$waiting != SIZE_MAX")),
    ("a_new_key", Mutant("session->send = session->next_send;", ";")),
    ("a_new_key", Mutant("return valid(seal->writes, $$rest);", "return true;")),
    ("a_new_key_at_one_node", Mutant("status == GFSMITH_EAUTH && !connection->peer->older", "false")),
    ("a_removed_key", Mutant("gfc_handshake_key($$rest) == NULL", "false", everywhere=True)),
    ("destroyed_under_way", Mutant("discard_list($channel, &channel->queue, $status);", ";")),
    ("back_at_the_same_port", Mutant("if (!connects(peer)) return;", "return;")),
    ("moved", Mutant('gfc_channel_fail(&peer->link->channel, GFSMITH_EPEER, "the peer has moved");', ";")),
    ("silent", Mutant("is_silent(connection, since)", "false")),
    ("continued", Mutant("heard < now ? heard : now", "channel->heard")),
    ("timers", Mutant("before->at > timer->at", "before->at == 0")),
)


@pytest.mark.campaign
@pytest.mark.parametrize(
    ("scenario", "mutant"), share((pytest.param(*each, id=each[0]) for each in MUTANTS), 2)
)
def test_mutant(plain: Library, tmp_path: Path, scenario: str, mutant: Mutant) -> None:
    program = with_error(plain, mutant, tmp_path, "links", *SOURCES, options=CLOCK_OPTIONS)
    done = subprocess.run(
        [program, "tcp", scenario],
        capture_output=True,
        timeout=120,
        cwd=tmp_path,
        env={**os.environ, "HARNESS_SECONDS": "2"},
    )
    assert done.returncode != 0, f"{scenario} does not detect {mutant}"
