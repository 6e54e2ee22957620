"""The archive of bindings/java, and its judges: Hadoop and Ozone with their tests, fetched by Maven."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.support.paths import ROOT

JUDGE = Path(__file__).parent / "judge"
NATIVE = ROOT / "bindings" / "java" / "native"
CLASSPATH = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:build-classpath"

#: Maven runs for seconds: optimised code and several threads for garbage take half of its CPU time.
MAVEN_OPTS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"

#: The oldest and the newest series of Hadoop that the coders support.
RELEASES = ("3.3.6", "3.4.1")
NEWEST = RELEASES[-1]

OZONE = JUDGE / "ozone"
OZONE_RELEASE = "1.4.0"


def call(*command: str | Path, seconds: int = 600) -> subprocess.CompletedProcess[str]:
    words = [str(word) for word in command]
    return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=seconds)


def run(*command: str | Path) -> str:
    """Run a command that must succeed and return its standard output."""
    done = call(*command)
    assert done.returncode == 0, f"{command[0]}: {done.stdout[-3000:]}{done.stderr[-3000:]}"
    return done.stdout


def java_includes() -> tuple[str, str]:
    """Return the options of a compiler that find jni.h."""
    javac = shutil.which("javac")
    assert javac is not None
    folder = Path(javac).resolve().parents[1] / "include"
    return f"-I{folder}", f"-I{folder / 'linux'}"


def compile_native(source: Path, library: Path) -> Path:
    """Compile a source of the native library, changed by a test, and link the codec of the checkout."""
    flags = ("-std=c11", "-O1", "-fPIC", "-shared", "-Iruntime/core/include", *java_includes())
    run("gcc", *flags, "-o", library, source, "build/libgfsmith.a")
    return library


def fetch(pom: Path, release: str, folder: Path) -> None:
    """Write the class path of the release and tests that a project of Maven names: folder/classpath."""
    run(
        *("env", f"MAVEN_OPTS={MAVEN_OPTS}"),
        *("mvn", "-q", "-B", "-ntp", "-f", pom, f"-Drelease={release}", CLASSPATH),
        f"-Dmdep.outputFile={folder / 'classpath'}",
    )


@dataclass(frozen=True, slots=True)
class Judge:
    """The programs in judge/ or judge/ozone/, with the class path of one release of Hadoop or Ozone."""

    archive: Path
    classes: Path
    engine: str

    @property
    def class_path(self) -> str:
        return f"{self.classes}:{JUDGE}:{self.archive}:{self.engine}"

    def compile(self, sources: Sequence[Path]) -> None:
        run("javac", "-proc:none", "-cp", f"{self.archive}:{self.engine}", "-d", self.classes, *sources)

    def call(self, program: str, *arguments: str | Path, options: Sequence[str] = ()) -> tuple[int, str]:
        """Return the exit status, and all output."""
        done = call("java", "-XX:+UseSerialGC", *options, "-cp", self.class_path, program, *arguments)
        return done.returncode, done.stdout + done.stderr

    def run(self, program: str, *arguments: str | Path, options: Sequence[str] = ()) -> str:
        """Run a program that must succeed and return its output."""
        status, said = self.call(program, *arguments, options=options)
        assert status == 0, said[-3000:]
        return said
