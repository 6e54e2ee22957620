"""Tuned files: written, read, refused, and used by `gen` and dispatch."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gfsmith.build import config, request, tuned
from gfsmith.build.target import kernels, parse
from gfsmith.cli import main
from gfsmith.explore.stats import Estimate
from gfsmith.explore.tune import result, space, tuned_file
from gfsmith.explore.tune.result import Basis, Choice, Study
from gfsmith.kernel import limits, microarch
from gfsmith.kernel.isa import BY_NAME
from tests.support.configurations import known_proofs
from tests.support.paths import ROOT

NATIVE = Path(__file__).parent / "native"

CONFIG = """
[generator]
isas = ["sse", "scalar"]
tuned = ["tuned/znver4.toml"]
[[kernels]]
operation = "dot"
shapes = ["nx1", "nx2", "3x2"]
[[kernels]]
operation = "dot"
code = "cauchy"
shapes = ["3x2"]
isas = ["sse"]
"""
#: The options of `gen` that name no code.
NO_CODE = dict.fromkeys(request.CODE) | {"packets": False}
HEAD = 'format = 1\nmicroarchitecture = "znver4"\nbasis = "measured"\n'
TUNED = (
    HEAD
    + """
[[kernel]]
spec = "dot:3x2@sse"
path = "cached"
unroll = 3
order = "copies"
[[kernel]]
spec = "dot:3x2@sse"
path = "distant"
prefetch = 512
store = "streaming"
[[kernel]]
spec = "cauchy:3x2@sse"
path = "nearby"
placement = "memory"
[[kernel]]
spec = "dot:nx2@sse"
path = "second"
unroll = 3
[[kernel]]
spec = "dot:3x2@avx2"
path = "cached"
unroll = 3
"""
)


NARROW = (
    HEAD
    + """
[[kernel]]
spec = "dot:3x2@avx512"
path = "cached"
width = 256
unroll = 1
"""
)


def test_a_tuned_width_is_added_to_the_kernels_of_the_set(tmp_path: Path) -> None:
    """Vectors of 256 bits belong to the same instruction set, so the build's own kernel serves other CPUs."""
    _project(tmp_path, NARROW)
    built = config.specs(
        config.Config(
            generator=config.Generator(isas=["avx512"]),
            kernels=[config.KernelGroup(operation="dot", shapes=["3x2"])],
        ),
        "test",
    )
    found = tuned.load(["tuned/znver4.toml"], tmp_path, built, "gfs")
    assert [spec.symbol for spec in found.specs] == ["gfs_dot_3x2__avx512_v256_u1"]
    assert found.rows[0].added


@pytest.mark.parametrize("pipelined", [False, True])
def test_a_pipelined_kernel_does_not_serve_other_cpus_and_paths(tmp_path: Path, pipelined: bool) -> None:
    """Dispatch does not use it, so a call on another path would have no kernel."""
    _project(tmp_path, NARROW.replace("width = 256", "").replace("avx512", "avx2"))
    group = config.KernelGroup(operation="dot", shapes=["3x2"], pipelined=pipelined, unroll=4)
    built = config.specs(config.Config(generator=config.Generator(isas=["avx2"]), kernels=[group]), "test")
    if pipelined:
        with pytest.raises(tuned.TunedError, match="the build has no kernel for this shape on avx2"):
            tuned.load(["tuned/znver4.toml"], tmp_path, built, "gfs")
    else:
        assert tuned.load(["tuned/znver4.toml"], tmp_path, built, "gfs").rows[0].added


def _project(folder: Path, text: str = TUNED) -> Path:
    (folder / "tuned").mkdir(exist_ok=True)
    (folder / "tuned" / "znver4.toml").write_text(text)
    (folder / "gfsmith.toml").write_text(CONFIG)
    known_proofs(folder / ".gfsmith-cache")
    return folder


def _gen(folder: Path, *arguments: str) -> Result:
    command = ["gen", "--jobs", "1", "--config", str(folder / "gfsmith.toml"), *arguments]
    return CliRunner().invoke(main.main, command, catch_exceptions=False)


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build with tuned kernels, and a program that prints the choices of dispatch."""
    folder = _project(tmp_path_factory.mktemp("tuned"))
    result = _gen(folder)
    assert result.exit_code == 0, result.output
    generated = folder / "gen_out"
    kernels = [*generated.glob("*.S"), *generated.glob("*.c")]
    sources = [NATIVE / "dispatch.c", *sorted((ROOT / "runtime/core/src").glob("*.c")), *kernels]
    flags = ["-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-Wl,--wrap=gfs_cpu_identify"]
    includes = [f"-I{ROOT / 'runtime/core' / part}" for part in ("include", "src")] + [f"-I{generated}"]
    subprocess.run(["gcc", *flags, *includes, *map(str, sources), "-o", folder / "dispatch"], check=True)
    return folder


def _dispatch(build: Path, vendor: str, family: int, model: int, shape: tuple[int, int]) -> list[str]:
    command = [build / "dispatch", vendor, *map(str, (family, model, *shape))]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={"GFSMITH_ISA": "sse"})
    return done.stdout.split()


UNTUNED = ["gfs_dot_3x2__sse_u2"] * 5 + ["gfs_dot_3x2_cauchy__sse_u1"] * 5


def test_dispatch_takes_the_tuned_kernels_on_their_cpu_only(build: Path) -> None:
    zen4 = [
        "gfs_dot_3x2__sse_u3_copies",
        "gfs_dot_3x2__sse_u2",
        "gfs_dot_3x2__sse_u2",
        "gfs_dot_3x2__sse_u2_p512t0_nt",
        "gfs_dot_3x2__sse_u2",
        "gfs_dot_3x2_cauchy__sse_u1",
        "gfs_dot_3x2_cauchy__sse_u1",
        "gfs_dot_3x2_cauchy__sse_u1_mem",
        "gfs_dot_3x2_cauchy__sse_u1",
        "gfs_dot_3x2_cauchy__sse_u1",
    ]
    for model in (0x10, 0x11, 0x1F, 0x61, 0xA0):
        assert _dispatch(build, "AuthenticAMD", 0x19, model, (3, 2)) == zen4
    for vendor, family, model in (
        ("AuthenticAMD", 0x19, 0x0F),
        ("AuthenticAMD", 0x19, 0x20),
        ("AuthenticAMD", 0x1A, 0x11),
        ("GenuineIntel", 0x19, 0x11),
        ("", 0, 0),
    ):
        assert _dispatch(build, vendor, family, model, (3, 2)) == UNTUNED


def test_a_kernel_tuned_for_any_number_yields_to_one_for_this_number(build: Path) -> None:
    """It was measured with another number: 6+3 in a second-level cache of Zen 5 lost 30 %."""
    any_number = _dispatch(build, "AuthenticAMD", 0x19, 0x11, (9, 2))[:5]
    assert any_number == ["gfs_dot_nx2__sse_u2", "gfs_dot_nx2__sse_u3", *["gfs_dot_nx2__sse_u2"] * 3]
    assert _dispatch(build, "AuthenticAMD", 0x19, 0x11, (3, 2))[1] == "gfs_dot_3x2__sse_u2"


def _limits(build: Path, vendor: str, family: int, model: int, cpu: str = "") -> tuple[limits.Limits, str]:
    """Return the limits of a library on this CPU, and its lines on stderr. cpu: GFSMITH_CPU."""
    command = [build / "dispatch", vendor, str(family), str(model)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={"GFSMITH_CPU": cpu})
    first_cache, own_cache, stream_min, whole_min, *wide = map(int, done.stdout.split())
    return limits.Limits(first_cache, own_cache, stream_min, whole_min or None, *wide), done.stderr


def test_every_cpu_has_its_limits(build: Path) -> None:
    for cpu in microarch.MICROARCHS:
        for first, last in cpu.models:
            for model in (first, last):
                assert _limits(build, cpu.vendor, cpu.family, model) == (limits.of(cpu), "")
    assert _limits(build, "AuthenticAMD", 0x1A, 0x78) == (limits.GENERIC, "")
    assert _limits(build, "", 0, 0) == (limits.GENERIC, "")


def test_the_environment_names_another_cpu(build: Path) -> None:
    zen4 = ("AuthenticAMD", 0x19, 0x11)
    for name, expected in limits.table().items():
        assert _limits(build, *zen4, name) == (expected, "")
    assert _limits(build, *zen4)[0] == limits.table()["znver4"]
    found, line = _limits(build, *zen4, "zen9\x1b\n")
    assert found == limits.table()["znver4"]
    names = " ".join(limits.table())
    assert line == f"gfsmith: GFSMITH_CPU=zen9?? is unknown; allowed: {names}; identifying the CPU\n"
    command = [build / "dispatch", "AuthenticAMD", "26", "17", "3", "2"]
    environment = {"GFSMITH_ISA": "sse", "GFSMITH_CPU": "znver4"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.startswith("gfs_dot_3x2__sse_u3_copies\n")


def test_gen_lists_and_proves_added_kernels(build: Path) -> None:
    proofs = json.loads((build / "gen_out" / "PROOFS.json").read_text())["kernels"]
    added = [p for p in proofs if p["symbol"] == "gfs_dot_3x2__sse_u3_copies"]
    assert {(p["abi"], p["status"]) for p in added} == {("sysv", "proved"), ("ms", "proved")}
    assert all("machine" in p["method"] for p in added)
    text = (build / "gen_out" / "tuned.inc").read_text()
    assert "avx2" not in text, "an instruction set that the build lacks"
    assert text.count('GFSMITH_TUNED("znver4"') == 4
    assert _gen(build, "--check").exit_code == 0


def test_a_study_reads_back_as_the_kernels_it_chose(tmp_path: Path) -> None:
    target = parse("cauchy:3x2@sse", BY_NAME["sse"])
    point = {"unroll": 3, "order": "steps", "circuit": "dense", "prefetch": 256, "hint": "nta"}
    plan = space.plan(target, "gfs", point)
    gains = {4096: Estimate(1.1, 1.05, 1.2), 1024: Estimate(1.2, 1.1, 1.3)}
    choice = Choice(target.name, "cached", plan.symbols, plan.parameters, gains)
    study = Study("znver4", Basis.MEASURED, True, 0.95, 1.0, choices=(choice,))
    text = tuned_file.text(study)
    folder = _project(tmp_path, text)
    loaded = config.load(folder / "gfsmith.toml")
    specs = config.specs(loaded, "gfsmith.toml")
    added = tuned.load(loaded.generator.tuned, folder, specs, "gfs")
    assert added.specs == plan.specs
    (row,) = added.rows
    assert (row.cpu.name, row.path, row.added) == ("znver4", "cached", True)
    assert [g.length for g in tuned.read(folder / "tuned" / "znver4.toml").kernel[0].gains] == [1024, 4096]
    renamed = tuned.load(loaded.generator.tuned, folder, specs, "my")
    assert renamed.specs[0].symbol.startswith("my_")


@pytest.mark.parametrize("target", ["xor:2x1@sse", "dot:3x2@sse", "mad:1x2@sse"])
def test_parameters_of_a_study_give_its_kernels(target: str) -> None:
    parsed = parse(target, BY_NAME["sse"])
    plan = space.plan(parsed, "gfs", {"unroll": 3})
    assert kernels(parsed, "gfs", plan.parameters) == plan.specs


def _kernel(**keys: object) -> str:
    entry = {"spec": "dot:3x2@sse", "path": "cached", **keys}
    return HEAD + "[[kernel]]\n" + "".join(f"{k} = {json.dumps(v)}\n" for k, v in entry.items())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "No such file"),
        ("[", "not valid TOML"),
        (HEAD + "x = " + 5000 * "[", "nested too deeply"),
        (HEAD + "x = " + 5000 * "1", "a number has too many digits"),
        (HEAD.replace("format = 1", "format = 2"), "format = 2; allowed: 1"),
        (HEAD.replace("format = 1", ""), "format = missing; allowed: 1"),
        (HEAD.replace("znver4", "zen4"), "'zen4' is not a microarchitecture; allowed: haswell"),
        (HEAD.replace("measured", "guessed"), "basis: Input should be 'measured' or 'model'"),
        (_kernel(path="disk"), "kernel.0.path: Input should be 'cached', 'second', 'nearby', 'distant' or"),
        (_kernel(unrol=2), "kernel.0.unrol: no such key"),
        (_kernel(spec="dot:3by2"), "kernel[0] (dot:3by2): SPEC 'dot:3by2' cannot be read"),
        (_kernel(spec="dot:3x9@sse"), "the build has no kernel for this shape on sse"),
        (_kernel(unroll=9), "unroll = 9; allowed: 1..8"),
        (_kernel(order="copies", unroll=1), "order = copies; allowed with unroll = 1: sums"),
        (_kernel(circuit="dense"), "circuit = dense; only kernels for a code have circuits"),
    ],
)
def test_a_file_that_cannot_be_used_gets_one_line(tmp_path: Path, text: str | None, words: str) -> None:
    folder = _project(tmp_path, text or "")
    if text is None:
        (folder / "tuned" / "znver4.toml").unlink()
    result = _gen(folder, "--isa", "sse")
    assert result.exit_code == 2, result.output
    assert words in result.stderr and result.stderr.count("\n") == 1
    assert not (folder / "gen_out").exists()


def test_the_files_of_this_repository_are_usable() -> None:
    loaded = config.load(ROOT / "gfsmith.toml")
    specs = config.specs(loaded, "gfsmith.toml")
    files = sorted(p.relative_to(ROOT).as_posix() for p in (ROOT / "tuned").glob("*.toml"))
    assert files and tuned.load(files, ROOT, specs, loaded.generator.prefix).rows
    studies = sorted((ROOT / "bench" / "results" / "studies").rglob("*.json"))
    assert studies and all(result.read(path).winners for path in studies)


def test_a_name_stands_for_a_file_of_gfsmith_in_any_folder(tmp_path: Path) -> None:
    """A build takes the entries for its shapes and sets; those of the whole default set serve any folder."""
    (tmp_path / "gfsmith.toml").write_text((ROOT / "gfsmith.toml").read_text())
    build, _ = request.load(tmp_path / "gfsmith.toml", (), None, None, None, False, **NO_CODE)
    files = [ROOT / "tuned" / f"{name}.toml" for name in ("znver4", "znver5")]
    assert {row.cpu.name for row in build.tuned} == {path.stem for path in files}
    entries = [entry for path in files for entry in tuned.read(path).kernel]
    assert len(build.tuned) == len(entries), "the default set has all shapes of the files"
    assert request.inputs(tmp_path / "gfsmith.toml")[1:] == files
    (tmp_path / "gfsmith.toml").write_text(CONFIG.replace("tuned/znver4.toml", "znver4"))
    small, _ = request.load(tmp_path / "gfsmith.toml", (), None, None, None, False, **NO_CODE)
    assert small.tuned == ()


def test_entries_for_shapes_that_a_build_lacks_are_left_out(tmp_path: Path) -> None:
    text = CONFIG.replace("tuned/znver4.toml", "znver4").replace('"sse", "scalar"', '"gfni_avx512", "sse"')
    text += '[[kernels]]\noperation = "mad"\nshapes = ["1x1", "1x3"]\n'
    (tmp_path / "gfsmith.toml").write_text(text)
    build, _ = request.load(tmp_path / "gfsmith.toml", (), None, None, None, False, **NO_CODE)
    wanted = {"mad:1x1@gfni_avx512", "mad:1x3@gfni_avx512"}
    expected = [e for e in tuned.read(ROOT / "tuned" / "znver4.toml").kernel if e.spec in wanted]
    assert expected and len(build.tuned) == len(expected)


def test_an_unknown_name_lists_the_known_ones(tmp_path: Path) -> None:
    folder = _project(tmp_path)
    (folder / "gfsmith.toml").write_text(CONFIG.replace("tuned/znver4.toml", "zen4"))
    result = _gen(folder)
    assert result.exit_code == 2
    assert result.stderr == (
        "gfsmith: generator.tuned: 'zen4'; allowed: znver3, znver4, znver5, or the path of a .toml file\n"
    )
