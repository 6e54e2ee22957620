"""Variants as functions of this process: assembled, linked, loaded, and timed by timer.c."""

from __future__ import annotations

import ctypes
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from gfsmith.build import parallel
from gfsmith.build.generate import Kernel, generate_one
from gfsmith.build.target import Target
from gfsmith.emit import lists
from gfsmith.emit.files import share
from gfsmith.explore.pitch import LINE, pitch
from gfsmith.explore.tune.result import Cell, Regime
from gfsmith.explore.tune.space import Plan
from gfsmith.kernel.spec import KernelSpec, SpecError
from gfsmith.kernel.tables import table

RUNTIME = share("runtime")
TIMER = Path(__file__).parent / "timer.c"

POOL = 256 << 20  #: bytes of memory in the memory regime: several times the last-level cache
SAMPLE = {Regime.CACHED: 1e6, Regime.MEMORY: 2e6}  #: target duration of one sample in nanoseconds


class LoadError(RuntimeError):
    """The machine lacks something that measuring needs. The message is one line."""


def attempt(spec: KernelSpec) -> Kernel | None:
    """Return the proved kernel of a spec, or None if registers or frame do not suffice."""
    try:
        return generate_one(spec)
    except SpecError:
        return None


def _compile(*words: str | Path) -> None:
    command = [os.environ.get("CC", "cc"), *(str(w) for w in words)]
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except OSError as error:
        raise LoadError(f"{command[0]}: {error.strerror}; set CC to a C compiler") from None
    if done.returncode != 0:
        raise LoadError(f"{command[0]} failed: {(done.stderr.splitlines() or ['no message'])[0]}")


class NativeBench:
    """Timer of one target's plans on this machine. All its files are in `folder`, which is temporary.

    From the constructor to close() the calling thread stays on one processor, except while it generates
    kernels.
    """

    def __init__(self, target: Target, folder: Path, jobs: int) -> None:
        self.kernels: dict[KernelSpec, Kernel | None] = {}
        self._target = target
        self._folder = folder
        self._jobs = jobs
        self._functions: dict[KernelSpec, int] = {}
        self._maps: dict[Plan, ctypes.c_void_p] = {}
        self._tables: dict[tuple[str, int, int], ctypes.Array[ctypes.c_char]] = {}
        self._libraries: list[ctypes.CDLL] = []
        self._timer: ctypes.CDLL | None = None
        self._lead, self._count = 1, 1
        self._allowed = os.sched_getaffinity(0)
        self._keep_to({max(self._allowed)})

    @staticmethod
    def _keep_to(processors: set[int]) -> None:
        try:
            os.sched_setaffinity(0, processors)
        except OSError as error:
            raise LoadError(f"cannot pin this process to one processor: {error.strerror}") from None

    def load(self, plans: Sequence[Plan]) -> dict[Plan, str]:
        """Generate, prove and load new plans; return plan -> digest of its code, without plans that cannot be
        generated. Raises Refuted, LoadError."""
        wanted = dict.fromkeys(spec for plan in plans for spec in plan.specs)
        todo = [spec for spec in wanted if spec not in self.kernels]

        def done(number: int, kernel: Kernel | None) -> None:
            self.kernels[todo[number]] = kernel

        self._keep_to(self._allowed)
        parallel.run(attempt, todo, self._jobs, done)
        self._keep_to({max(self._allowed)})
        fresh = [k for spec in todo if (k := self.kernels[spec]) is not None]
        if fresh:
            self._link(fresh)
        return {plan: digest for plan in plans if (digest := self._digest(plan)) is not None}

    def _digest(self, plan: Plan) -> str | None:
        found = [self.kernels[spec] for spec in plan.specs]
        return "+".join(k.digest for k in found if k is not None) if all(found) else None

    def _link(self, kernels: Sequence[Kernel]) -> None:
        """Link these kernels into one shared object."""
        place = self._folder / f"kernels{len(self._libraries)}"
        place.mkdir()
        files = lists.build([k.spec for k in kernels]) | {k.path: k.text for k in kernels}
        for name, text in files.items():
            (place / name).parent.mkdir(exist_ok=True)
            (place / name).write_text(text, encoding="utf-8")
        library = place / "kernels.so"
        _compile(
            "-shared",
            "-DGFSMITH_SHOW_KERNELS",
            f"-I{place}",
            *(place / k.path for k in kernels),
            "-o",
            library,
        )
        loaded = ctypes.CDLL(str(library))
        self._libraries.append(loaded)
        for kernel in kernels:
            address = ctypes.cast(getattr(loaded, kernel.spec.symbol), ctypes.c_void_p).value
            assert address is not None
            self._functions[kernel.spec] = address
        if self._timer is None:
            self._timer = self._load_timer(place)

    def _load_timer(self, place: Path) -> ctypes.CDLL:
        """Load timer.c with the library's loop, apply.c. Raises LoadError without memory for the pool."""
        if not (RUNTIME / "core/src" / "apply.c").is_file():
            raise LoadError(f"{RUNTIME / 'core/src' / 'apply.c'} is missing: tuning needs the source tree")
        library = self._folder / "timer.so"
        includes = [f"-I{RUNTIME / 'core/include'}", f"-I{RUNTIME / 'core/src'}", f"-I{place}"]
        sources = [TIMER, RUNTIME / "core/src" / "apply.c"]
        _compile("-std=c11", "-O2", "-fPIC", "-shared", *includes, *sources, "-o", library)
        timer = ctypes.CDLL(str(library))
        pointer, size = ctypes.c_void_p, ctypes.c_size_t
        timer.tune_pool.argtypes = [size]
        timer.tune_free.restype = None
        timer.tune_cell.argtypes = [ctypes.c_uint, ctypes.c_uint, size, size, ctypes.c_int]
        timer.tune_map.argtypes = [ctypes.c_uint, ctypes.c_uint, pointer, pointer, pointer]
        timer.tune_map.restype = pointer
        timer.tune_sample.argtypes = [pointer, size, size, size]
        timer.tune_sample.restype = ctypes.c_double
        timer.tune_clock.restype = ctypes.c_double
        timer.tune_same.argtypes = [pointer, pointer]
        if timer.tune_pool(POOL) != 0:
            raise LoadError(f"no memory: {POOL >> 20} MiB are needed")
        return timer

    def close(self) -> None:
        """Release the pool and the other processors."""
        self._keep_to(self._allowed)
        if self._timer is not None:
            self._timer.tune_free()
            self._timer = None

    def open(self, cell: Cell, reference: Plan) -> None:
        """Select the cell for the next samples, whose length SAMPLE gives for the reference."""
        timer, memory = self._ready(), cell.regime is Regime.MEMORY
        room = timer.tune_cell(
            self._target.sources, self._target.outputs, cell.length, pitch(cell.length), memory
        )
        if room != 0:
            raise LoadError(f"{cell.target} at {cell.length} bytes: more than {POOL >> 20} MiB of shards")
        self._lead, self._count = 1, 1
        aim = SAMPLE[cell.regime]
        while (total := self.sample(reference, 0) * self._count) < aim / 4:
            self._count *= 2
        self._count = max(1, round(aim * self._count / total))
        self._lead = self._count // 3 + 1 if memory else 1

    def sample(self, plan: Plan, displacement: int) -> float:
        """Return nanoseconds per call."""
        return float(self._ready().tune_sample(self._map(plan), displacement, self._lead, self._count))

    def clock(self) -> float:
        """Return the current cycles per nanosecond of the core. On some cores, code with wide vectors lowers
        it."""
        return float(self._ready().tune_clock())

    def agree(self, plan: Plan, reference: Plan) -> bool:
        """Return whether both compute the same bytes in the open cell. The check finds a wrongly loaded
        kernel; it is not a proof."""
        return bool(self._ready().tune_same(self._map(plan), self._map(reference)))

    def _ready(self) -> ctypes.CDLL:
        assert self._timer is not None, "load comes first"
        return self._timer

    def _map(self, plan: Plan) -> ctypes.c_void_p:
        if plan not in self._maps:
            count = len(plan.specs)
            first, tables = 0, []
            for spec in plan.specs:
                tables.append(self._table(spec, first))
                first += spec.outputs
            made = self._ready().tune_map(
                self._target.sources,
                count,
                (ctypes.c_void_p * count)(*(self._functions[spec] for spec in plan.specs)),
                (ctypes.c_uint * count)(*(spec.outputs for spec in plan.specs)),
                (ctypes.c_void_p * count)(*(ctypes.addressof(t) for t in tables)),
            )
            if made is None:
                raise LoadError("no memory for a variant")
            self._maps[plan] = ctypes.c_void_p(made)
        return self._maps[plan]

    def _table(self, spec: KernelSpec, first: int) -> ctypes.Array[ctypes.c_char]:
        """Return coefficients 2 .. 255 repeated, aligned to a line as in the library."""
        key = (spec.tables.label, first, spec.outputs)
        if key not in self._tables:
            rows = [
                [2 + (i * 37 + j * 11) % 254 for j in range(self._target.sources)]
                for i in range(first, first + spec.outputs)
            ]
            data = table(spec.field, spec.tables, tuple(tuple(row) for row in rows))
            room = (ctypes.c_char * (len(data) + LINE)).from_buffer(bytearray(len(data) + LINE))
            start = -ctypes.addressof(room) % LINE
            view = (ctypes.c_char * max(len(data), 1)).from_buffer(room, start)
            ctypes.memmove(view, data, len(data))
            self._tables[key] = view
        return self._tables[key]
