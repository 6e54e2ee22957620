"""Run MinIO with the replacement: its tests, and a server over eight folders that loses four of them.

    make minio

The first run downloads and compiles MinIO (about 6 minutes of CPU time); Go's build cache keeps the packages.
A stock server and one with the replacement write objects. Four folders are emptied, the objects read and
healed. The files of shards must be equal on both servers, and after healing as before.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.paths import ROOT

HERE = Path(__file__).parent
WORK = ROOT / "build" / "minio"
MODULE = "github.com/minio/minio"
VERSION = "v0.0.0-20260212201848-7aac2a2c5b7c"
PEER = "github.com/klauspost/reedsolomon"
DROPIN = ROOT / "bindings" / "go" / "reedsolomon"
#: The tests of MinIO's package cmd that pass as shipped and use the codec.
TESTS = "TestErasureEncodeDecode$|TestErasureObject|TestHealObject|TestPutObject|TestGetObject"
DRIVES, WIPED = 8, 4
FILES = 3  #: objects of the client with files of shards; those of the others are in their metadata
SHARDS = "part.1"  #: the file with the shards of an object's blocks


def go(*arguments: str | Path, cwd: Path) -> str:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "GOTOOLCHAIN": "local", "GOFLAGS": "-buildvcs=false"}
    command = ["go", *map(str, arguments)]
    done = subprocess.run(command, cwd=cwd, env=environment, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(done.stdout + f"{' '.join(command)}: failed")
    return done.stdout


def build() -> None:
    """Compile both servers, the client and the tests."""
    source = WORK / "source"
    if not source.exists():
        WORK.mkdir(parents=True, exist_ok=True)
        said = json.loads(go("mod", "download", "-json", f"{MODULE}@{VERSION}", cwd=HERE))
        shutil.copytree(said["Dir"], source, copy_function=shutil.copyfile)
        for folder in (source, *(path for path in source.rglob("*") if path.is_dir())):
            folder.chmod(0o755)
    go("generate", ".", cwd=DROPIN)
    (source / "client").mkdir(exist_ok=True)
    shutil.copyfile(HERE / "client.go", source / "client" / "main.go")
    go("mod", "edit", f"-dropreplace={PEER}", cwd=source)
    go("build", "-o", WORK / "stock", ".", cwd=source)
    go("build", "-o", WORK / "client", "./client", cwd=source)
    go("mod", "edit", f"-replace={PEER}={DROPIN}", cwd=source)
    go("build", "-o", WORK / "replaced", ".", cwd=source)
    go("test", "-c", "-o", WORK / "tests", "./cmd", cwd=source)


def own_tests() -> None:
    command = [str(WORK / "tests"), "-test.run", TESTS]
    done = subprocess.run(command, cwd=WORK / "source" / "cmd", stdout=subprocess.PIPE, text=True)
    if done.returncode or "PASS" not in done.stdout:
        sys.exit(done.stdout)


def client(command: str, endpoint: str) -> None:
    subprocess.run([WORK / "client", command, endpoint], check=True)


def _port() -> int:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return int(unused.getsockname()[1])


@contextmanager
def server(program: str, folder: Path) -> Iterator[str]:
    """Run a server over the drives in a folder, and yield its address."""
    endpoint = f"127.0.0.1:{_port()}"
    drives = [folder / f"drive{n}" for n in range(DRIVES)]
    environment = {
        "HOME": str(folder),
        "PATH": os.environ["PATH"],
        "MINIO_ROOT_USER": "gfsmith-user",
        "MINIO_ROOT_PASSWORD": "gfsmith-password",
        "MINIO_CI_CD": "1",  # drives may be folders of one file system
        "MINIO_UPDATE": "off",
        "MINIO_BROWSER": "off",
    }
    command = [str(WORK / program), "server", "--quiet", "--address", endpoint, *map(str, drives)]
    with (folder / "log").open("a", encoding="utf-8") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT)
        try:
            _wait(endpoint, process, folder / "log")
            yield endpoint
        finally:
            process.terminate()
            process.wait(60)


def _wait(endpoint: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and process.poll() is None:
        try:
            urllib.request.urlopen(f"http://{endpoint}/minio/health/cluster", timeout=5).close()
            return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    sys.exit(f"the server does not start: {log.read_text(encoding='utf-8')}")


def shards(folder: Path) -> dict[tuple[str, str], bytes]:
    """Return drive and object -> the file of its shards. Small objects are in their metadata instead."""
    found = {}
    for n in range(DRIVES):
        for path in (folder / f"drive{n}" / "bucket").rglob(SHARDS):
            found[f"drive{n}", path.parents[1].name] = path.read_bytes()
    return found


def lose(program: str, folder: Path) -> dict[tuple[str, str], bytes]:
    """Write objects, empty four drives, read and heal. Return the files of shards."""
    for n in range(DRIVES):
        (folder / f"drive{n}").mkdir(parents=True)
    with server(program, folder) as endpoint:
        client("put", endpoint)
        client("get", endpoint)
    written = shards(folder)
    assert len(written) == DRIVES * FILES, sorted(written)
    for n in range(WIPED):
        shutil.rmtree(folder / f"drive{2 * n}")
        (folder / f"drive{2 * n}").mkdir()
    assert len(shards(folder)) == (DRIVES - WIPED) * FILES
    with server(program, folder) as endpoint:
        client("get", endpoint)
        client("heal", endpoint)
        client("get", endpoint)
    assert shards(folder) == written, "other files of shards after healing"
    return written


def main() -> None:
    build()
    own_tests()
    print(f"MinIO's tests pass: {TESTS}")
    with tempfile.TemporaryDirectory() as folder:
        stock = lose("stock", Path(folder) / "stock")
        assert lose("replaced", Path(folder) / "replaced") == stock, (
            "other files of shards than the stock server's"
        )
    print(f"{len(stock)} files of shards are equal to the stock server's, {WIPED} of {DRIVES} drives healed")


if __name__ == "__main__":
    main()
