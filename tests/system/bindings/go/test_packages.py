"""Both packages from a clean folder: generated, vetted, tested, with and without cgo, for this and other
machines.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from tests.support.mutation import Mutant, plant
from tests.system.bindings.go.support import (
    EXAMPLE,
    GENERATED,
    KERNELS,
    UNOPTIMISED,
    Project,
    chosen,
    proved,
)


def test_only_the_selected_kernels(project: Project) -> None:
    for name in GENERATED:
        assert (project.folder / name).is_file()
    folder = project.folder / KERNELS
    texts = [path.read_text() for path in folder.glob("*.s")]
    listed = {name for text in texts for name in re.findall(r"TEXT ·(gfs_\w+)\(", text)}
    sets = {path.name for path in folder.glob("*.s")}
    assert sets == {"neon_arm64.s", *(f"{spec.isa.name}_amd64.s" for spec in chosen())}
    neon = {name for name in listed if "__neon_" in name}
    assert len(neon) == 10 and listed - neon == set(proved())
    source = (project.folder / "cgo" / "gfsmith.c").read_text()
    assert set(re.findall(r'GFSMITH_FUNCTION\("(\w+)"\)', source)) >= listed - neon
    assert "avx512_u" not in re.sub("gfni_avx512_u", "", source)


def test_generating_again_changes_nothing(project: Project, tmp_path: Path) -> None:
    again = project.copy(tmp_path / "again")
    before = {path: path.stat().st_mtime_ns for path in (again.folder / KERNELS).iterdir()}
    again.go("generate", "./gfsmith")
    changed = {path for path in (again.folder / KERNELS).iterdir() if path.stat().st_mtime_ns != before[path]}
    assert {path.name for path in changed} <= {"MANIFEST.json"}


def test_vet_is_clean_and_sees_frames(project: Project, tmp_path: Path) -> None:
    project.go("vet", "./...")
    gofmt = Path(project.go("env", "GOROOT").strip()) / "bin" / "gofmt"
    listed = subprocess.run([gofmt, "-l", project.folder], capture_output=True, text=True, check=True)
    assert not listed.stdout, "not as gofmt has it"
    wrong = project.copy(tmp_path / "wrong")
    source = wrong.folder / KERNELS / "sse_amd64.s"
    source.write_text(source.read_text().replace("$0-40", "$0-32", 1).replace("src+24(FP)", "src+16(FP)", 1))
    done = wrong.run("vet", f"./{KERNELS}")
    assert done.returncode != 0
    assert "wrong argument size 32; expected $...-40" in done.stderr
    assert "invalid offset src+16(FP); expected src+24(FP)" in done.stderr


def test_both_pass_their_tests(project: Project) -> None:
    project.go("test", "./...", GODEBUG="cgocheck=1")


def test_without_cgo(project: Project) -> None:
    project.go("test", "./gfsmith", CGO_ENABLED="0")


def test_in_pure_go(project: Project) -> None:
    project.go("test", "-tags", "purego", "./gfsmith", CGO_ENABLED="0")


def test_on_arm64(project: Project) -> None:
    tests = ("-exec", "qemu-aarch64-static", "-v", "-run", "TestSuite|TestSets|TestKernels")
    said = project.go("test", *tests, "./gfsmith", CGO_ENABLED="0", GOARCH="arm64")
    assert "--- PASS: TestSuite/neon " in said and "--- PASS: TestSuite/scalar " in said
    assert "10 functions compared" in said


def test_benchmarks_run(project: Project) -> None:
    written = project.go(
        "test", "-run", "^$", "-bench", "Paired/Encode", "-benchtime", "3x", "./internal/klauspost"
    )
    assert len(re.findall(r"x-klauspost-parallel", written)) == 3
    assert len(re.findall(r"x-gfsmith", written)) == 3
    assert len(re.findall(r"x-cgo", written)) == 3


_RACE = """
package gfsmith

import (
	"sync"
	"testing"
)

func TestRace(t *testing.T) {
	c, err := New(Cauchy, 10, 4)
	if err != nil {
		t.Fatal(err)
	}
	shards := c.AllocAligned(1000)
	var group sync.WaitGroup
	for n := 0; n < 2; n++ {
		group.Add(1)
		go func() {
			defer group.Done()
			_ = c.Encode(shards)
		}()
	}
	group.Wait()
}
"""


def test_race_detector(project: Project, tmp_path: Path) -> None:
    """The race detector reports nothing under load, and detects two calls that write the same parities."""
    project.go("test", "-race", "-run", "TestSuite/(Load|gfni_avx512|avx2)", "./gfsmith")
    racy = project.copy(tmp_path / "racy")
    (racy.folder / "gfsmith" / "race_test.go").write_text(_RACE)
    done = racy.run("test", "-race", "-run", "TestRace", "./gfsmith")
    assert done.returncode != 0
    assert "DATA RACE" in done.stdout


#: Calls of the C library in all layouts, by goroutines too. The other tests of the suite take longer.
CALLS = "TestSuite/(scalar|Refusals|Capacity|Goroutines|Together|RefusedStripes|OneCall|RefusedChecksums)"

_BEYOND = """
package gfsmith

import (
	"testing"

	"gfsmith.example/go/codec"
)

func TestBeyond(t *testing.T) {
	c, err := New(codec.Cauchy, 4, 2)
	if err != nil {
		t.Fatal(err)
	}
	shards := make([][]byte, 6)
	for i := range shards {
		shards[i] = make([]byte, 1000)
	}
	_ = c.Encode(shards)
}
"""


def test_address_sanitizer(project: Project, tmp_path: Path) -> None:
    """Go and the C of cgo/ under AddressSanitizer, which also detects a C function that writes one byte
    beyond a slice. Go compiles its standard library again for it, and C at -O0, where the compiler removes
    no access that the sanitizer checks.
    """
    wrong = project.copy(tmp_path / "wrong")
    folder = wrong.folder / "cgo"
    (folder / "beyond_test.go").write_text(_BEYOND)
    # In the copy, which is compiled once for both right runs.
    wrong.go("test", "-asan", "-run", CALLS, "./cgo", **UNOPTIMISED)
    words = ("test", "-asan", "-run", "TestBeyond", "./cgo")
    wrong.go(*words, GFSMITH_ISA="scalar", **UNOPTIMISED)
    encode = "gfsmith_encode(call.codec, {}, sources, shards + call.k)"
    beyond = Mutant(encode.format("call.len"), encode.format("call.len + 1"))
    plant(beyond, [EXAMPLE / "cgo" / "bridge.c"], folder)
    done = wrong.run(*words, GFSMITH_ISA="scalar", **UNOPTIMISED)
    assert done.returncode != 0
    assert "AddressSanitizer: " in done.stdout + done.stderr
