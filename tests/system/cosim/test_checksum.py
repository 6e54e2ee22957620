"""The meaning of the instructions of checksum routines compared with this CPU.

The routines are compiled as the library compiles them, and run on random messages, data and constants: any
constants, so the test is about the instructions and not about remainders.
"""

from __future__ import annotations

import ctypes
import random
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from gfsmith.field.checksum import CHECKSUMS
from gfsmith.ir.folding import DISTANCES, FIRSTS, GROUP, LEADS, LINE, Routine, Tables
from gfsmith.lower.checksum.tables import tables
from gfsmith.prove.checksum.forms import Execution
from tests.support import checksum_routines
from tests.support.folders import built
from tests.support.paths import ROOT

#: The sets of x86 in the order of gfs_crc_sets.
SETS = ("vpclmulqdq_avx512", "vpclmulqdq_avx2", "pclmulqdq", "sse42")
#: The operations in the order of the wrapper.
OPERATIONS = (
    *("reduce", "reduce_lines", *FIRSTS),
    *("fold_line", "fold_copy", "group", "steps", "bytes"),
    *(f"update_{name}" for name in ("group", "half", "bytes", "few", "wide", "lines", "blocks")),
)
#: The number in enum gfsmith_checksum of a check that has the updates of a name.
UPDATED = {"": 1, "CRC32C": 0, "CRC16_T10": 5}
RUNS = 5
FOLDS = len(DISTANCES)
CONSTANTS = FOLDS + 1 + LINE // GROUP  #: pairs, before that with the first register
WRAPPER = """
#include "crc_kernels.c"

int present(int set)
{
    const gfs_crc_set *s = &gfs_crc_sets[set];
    return (s->features & ~gfs_cpu_features()) == 0 && (s->carryless & ~gfs_cpu_carryless()) == 0;
}

int stepped(void)
{
    const gfs_isa isa = {.features = gfs_cpu_features()};
    return gfs_crc_choose(&isa)->steps[GFS_CRC_CRC32C] != NULL;
}

int expands(void)
{
    return (gfs_cpu_carryless() & GFS_CARRYLESS_EXPAND) != 0;
}

enum operation {
    REDUCE, REDUCE_LINES, FIRST, FOLD_LINE = FIRST + 4, FOLD_COPY, GROUP, STEPS, BYTES,
    UPDATE
};

static uint64_t updated(const gfs_crc_updates *updates, unsigned function, const gfs_crc *crc, uint64_t state,
                        size_t len, const uint8_t *data)
{
    gfs_crc_update *const functions[] = {updates->group, updates->half,  updates->bytes, updates->few,
                                         updates->wide,  updates->lines, updates->blocks};
    return functions[function](crc, &state, len, data) == GFSMITH_OK ? state : ~state;
}

/* order: of bits; of an update, the number of the check. constants: the folds, those of the reduction and of
   a line, and the first register. words: the first group. data: for
   routines that reduce, behind the message. */
uint64_t run(int set, int order, enum operation operation, const uint64_t (*constants)[2], uint64_t state,
             const uint64_t *words, uint8_t *message, size_t len, const uint8_t *data, uint8_t *output)
{
    gfs_crc crc = {.bits = 64, .ones = constants[11][0]};
    for (unsigned word = 0; word < 2; word++) {
        for (unsigned n = 0; n < 6; n++)
            crc.folds[n][word] = constants[n][word];
        crc.reduction[word] = constants[6][word];
        for (unsigned n = 0; n < 4; n++)
            crc.lanes[n][word] = constants[7 + n][word];
    }
    const gfs_crc_set *s = &gfs_crc_sets[set];
    if (operation >= UPDATE)
        return updated(&s->updates[order], operation - UPDATE, &crc, state, len, message);
    switch (operation) {
    case REDUCE:
        return s->reduce[order](&crc, state, 1, message);
    case REDUCE_LINES:
        return s->reduce_lines[order](&crc, state, 1, message);
    case FOLD_LINE:
        s->fold_line[order](&crc, message, 1, 1, &data, 0);
        break;
    case FOLD_COPY:
        s->fold_copy[order](&crc, message, 1, 1, &data, &output);
        break;
    case GROUP:
        return s->group[order](&crc, words[0], words[1]);
    case STEPS:
        return s->steps[GFS_CRC_CRC32C](state, len, data);
    case BYTES:
        return s->bytes[order](&crc, state, len, message);
    default:
        return s->reduce_line[operation - FIRST][order](&crc, words[0], words[1], state, 1, message);
    }
    return state;
}
"""


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    built("gen")
    folder = tmp_path_factory.mktemp("checksum")
    (folder / "wrapper.c").write_text(WRAPPER)
    core = ROOT / "runtime" / "core"
    include = [f"-I{path}" for path in (core / "src", core / "include", ROOT / "gen_out")]
    sources = (str(folder / "wrapper.c"), str(core / "src" / "cpu_x86.c"))
    command = ["gcc", "-O2", "-shared", "-fPIC", *include, *sources, "-o", str(folder / "wrapper.so")]
    subprocess.run(command, check=True)
    library = ctypes.CDLL(str(folder / "wrapper.so"))
    library.run.restype = ctypes.c_uint64
    return library


def bits(data: bytes) -> list[int]:
    return [byte >> i & 1 for byte in data for i in range(8)]


def executed(
    routine: Routine, numbers: Tables, state: int, first: bytes, message: bytes, data: bytes
) -> Execution:
    """Return the execution of a step, as the prover has it."""
    ones = bits(numbers.ones.to_bytes(8, "little"))
    check = next(check for check in CHECKSUMS if check.reflected == routine.reflected)
    register = bits(state.to_bytes(8, "little"))
    execution = Execution(check, numbers, bits(message), bits(data), register, bits(first), ones)
    execution.run((*routine.head, *routine.body))
    ends = [execution.values[value] for value in routine.after]
    execution.values.update(zip(routine.before, ends, strict=True))
    execution.run(routine.close)
    return execution


def test_the_instructions_of_this_cpu_are_found(compiled: ctypes.CDLL) -> None:
    flags = re.search(r"^flags\s*:(.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    assert flags is not None
    assert bool(compiled.stepped()) == ("sse4_2" in flags[1].split())
    assert bool(compiled.expands()) == ("avx512_vbmi2" in flags[1].split())


#: All but some of "wide", which has each number of bytes and lines before its blocks, and the loops that
#: encode, whose calls tests/system/runtime/test_checksums.py compares.
STEPS = [
    r
    for r in checksum_routines.ROUTINES
    if r.set in SETS and (r.member != "update_wide" or r.lead % 7 == 0) and not r.member.startswith("encode")
]


@pytest.mark.parametrize("routine", STEPS, ids=lambda r: r.symbol)
def test_a_step_is_that_of_the_cpu(compiled: ctypes.CDLL, routine: Routine) -> None:
    set_ = SETS.index(routine.set)
    if not compiled.present(set_):
        pytest.skip(f"this CPU lacks {routine.set}")
    rng = random.Random(routine.symbol)
    leads = LEADS.get(routine.operation, 0)
    name = "steps" if routine.set == "sse42" else "bytes" if leads else routine.member
    operation = OPERATIONS.index(name)
    order = UPDATED[routine.check] if routine.updates else int(routine.reflected)
    aligned = ctypes.create_string_buffer(2 * LINE)
    start = -ctypes.addressof(aligned) % LINE
    for _ in range(RUNS):
        pairs = tuple((rng.getrandbits(64), rng.getrandbits(64)) for _ in range(CONSTANTS + 1))
        message, data = rng.randbytes(routine.lead or routine.block), rng.randbytes(routine.block)
        first_group = rng.randbytes(GROUP)
        state = rng.getrandbits(64)
        folds, reduction, lanes = pairs[:FOLDS], pairs[FOLDS], pairs[FOLDS + 1 : -1]
        kept = replace(tables(CHECKSUMS[0]), folds=folds, reduction=reduction, lanes=lanes)
        numbers = replace(kept, ones=pairs[-1][0])
        want = executed(routine, numbers, state, first_group, message, data)
        output = want.arrays["copy"]
        memory = ctypes.create_string_buffer(message + data, len(message + data))
        flat = (ctypes.c_uint64 * (2 * len(pairs)))(*(word for pair in pairs for word in pair))
        ctypes.memset(aligned, 0, len(aligned))
        at = ctypes.c_void_p(ctypes.addressof(aligned) + start)
        before = routine.lead if routine.updates else leads
        size = ctypes.c_size_t(before + (0 if routine.updates and not routine.body else routine.block))
        first = (set_, order, operation, flat, ctypes.c_uint64(state), first_group)
        register = compiled.run(*first, memory, size, data, at)
        assert bits(register.to_bytes(8, "little")) == want.register
        end = 8 * min(len(message), routine.block if routine.body else GROUP)
        assert bits(memory.raw)[:end] == want.arrays["message"][:end]
        assert bits(aligned.raw[start : start + LINE])[: len(output)] == output[: 8 * LINE]
