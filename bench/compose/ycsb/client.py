"""YCSB, fetched by Maven and pinned, with a client for memcached's protocol; one run, and its figures."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.build import BUILD, BuildError, run_command
from bench.run import RunError

HERE = Path(__file__).resolve().parent
AT = BUILD / "ycsb"
COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies"
EXPORTER = "site.ycsb.measurements.exporter.JSONArrayMeasurementsExporter"

#: SHA-256 of the archives that Maven fetches.
ARCHIVES = {
    "HdrHistogram-2.1.4.jar": "8e68b9608ab107690350b904eab24087785f69218e5c6acd860d28116eded708",
    "core-0.17.0.jar": "e1c64d09bfc642715428c2e53ec129b0a98a0e634ee32bf0ae77e5b4eebb3cda",
    "htrace-core4-4.1.0-incubating.jar": "5d45b7904857c3e4ad36b3bcc57be2d2c5f308c69b5f6a58bd86aa7d48a25ef6",
    "jackson-core-asl-1.9.4.jar": "6129e1b91d7850ba250b1375094c8ca215a0f7cf234b6f60a2f4a88d5b1272c9",
    "jackson-mapper-asl-1.9.4.jar": "f013389c3eb92aa997df801e4a352464925af634a4af3e5bd77c6c0763dc9c99",
    "spymemcached-2.12.3.jar": "133092565f8308b9bcbfce83909d11f505d4094b856ead24e299ac93679bb4e2",
}

#: Share of reads; the rest are updates. Requests are Zipfian.
WORKLOADS = {"A": 0.5, "B": 0.95, "C": 1.0}
#: Reads that are compared before the timed part, of the first VERIFIED records. YCSB takes a time with the
#: square of the length to make a value that it can verify, so the other records have random values.
CHECKED, VERIFIED = 100, 20
PATIENCE = 120  #: seconds that YCSB may run beyond its time


@dataclass(frozen=True, slots=True)
class Load:
    """records: of `value` bytes each. threads: of the client, with a connection each; seconds: per run."""

    records: int
    value: int
    threads: int
    seconds: int


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of a run: operations per second; microseconds of reads and updates by percentile, empty if
    there are none; failed operations of all."""

    throughput: float
    read: dict[str, float]
    update: dict[str, float]
    failed: int
    operations: int


def build() -> None:
    """Fetch and compile missing files. Raises BuildError."""
    classes, library = AT / "classes", AT / "lib"
    if not all((library / name).exists() for name in ARCHIVES):
        AT.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(HERE / "pom.xml", AT / "pom.xml")
        advice = "Debian's maven and openjdk-17-jdk-headless run YCSB"
        run_command(["mvn", "-q", "-B", "-ntp", COPY, f"-DoutputDirectory={library}"], advice, AT)
    for name, checksum in ARCHIVES.items():
        if hashlib.sha256((library / name).read_bytes()).hexdigest() != checksum:
            raise BuildError(f"{name} has an unexpected SHA-256: {checksum}")
    source = HERE / "Memcached.java"
    compiled = classes / "gfsmith" / "Memcached.class"
    if not compiled.exists() or compiled.stat().st_mtime < source.stat().st_mtime:
        advice = "Debian's openjdk-17-jdk-headless compiles the client"
        run_command(["javac", "-Xlint:all", "-Werror", "-cp", f"{library}/*", "-d", classes, source], advice)


def figures(text: str) -> Figures:
    """Return the figures in YCSB's measurements. Raises RunError if they are not those of a run."""
    try:
        rows = {(row["metric"], row["measurement"]): float(row["value"]) for row in json.loads(text)}
        throughput = rows["OVERALL", "Throughput(ops/sec)"]
    except (ValueError, KeyError, TypeError) as error:
        raise RunError(f"YCSB's measurements cannot be read: {error}") from None

    def percentiles(metric: str) -> dict[str, float]:
        """Return percentiles of successful operations; YCSB counts failed ones as READ-FAILED."""
        names = {f"p{p}": (metric, f"{p}thPercentileLatency(us)") for p in (50, 95, 99)}
        return {name: rows[key] for name, key in names.items() if key in rows}

    kinds = ("READ", "UPDATE", "INSERT")
    returns = {key: value for key, value in rows.items() if key[0] in kinds and key[1].startswith("Return=")}
    operations = int(sum(returns.values()))
    good = int(sum(value for key, value in returns.items() if key[1] == "Return=OK"))
    wrong = sum(
        int(value)
        for (metric, measurement), value in rows.items()
        if metric == "VERIFY" and measurement.startswith("Return=") and measurement != "Return=OK"
    )
    return Figures(
        throughput, percentiles("READ"), percentiles("UPDATE"), operations - good + wrong, operations
    )


def _client(ports: Sequence[int], load: Load, mode: str, more: Mapping[str, object]) -> Figures:
    """Raises RunError."""
    properties: dict[str, object] = {
        "workload": "site.ycsb.workloads.CoreWorkload",
        "memcached.ports": ",".join(map(str, ports)),
        "recordcount": load.records,
        "fieldcount": 1,
        "fieldlength": load.value,
        "fieldlengthdistribution": "constant",
        "requestdistribution": "zipfian",
        "hdrhistogram.percentiles": "50,95,99",
        "exporter": EXPORTER,
        **more,
    }
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "measurements.json"
        command = ["java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", f"{AT}/lib/*:{AT}/classes"]
        command += ["site.ycsb.Client", mode, "-db", "gfsmith.Memcached", "-threads", str(load.threads)]
        for key, value in (properties | {"exportfile": out}).items():
            command += ["-p", f"{key}={value}"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=load.seconds + PATIENCE)
        except subprocess.TimeoutExpired:
            raise RunError(f"YCSB does not exit: {mode} of {load.records} records") from None
        if done.returncode != 0 or not out.exists():
            lines = done.stderr.strip().splitlines() or [f"ended with status {done.returncode}"]
            raise RunError(f"YCSB: {lines[-1]}")
        return figures(out.read_text())


def _store(ports: Sequence[int], load: Load, part: Mapping[str, object]) -> None:
    """Store `insertcount` records. Raises RunError."""
    count = part["insertcount"]
    stored = _client(ports, load, "-load", {**part, "operationcount": count})
    if stored.failed or stored.operations != count:
        raise RunError(f"{stored.failed} of {count} records could not be stored")


def fill(ports: Sequence[int], load: Load) -> None:
    """Store all records, then read some back and compare them. Raises RunError."""
    known = {"dataintegrity": "true"}
    first = min(VERIFIED, load.records)
    _store(ports, load, {**known, "insertstart": 0, "insertcount": first})
    if load.records > first:
        _store(ports, load, {"insertstart": first, "insertcount": load.records - first})
    checks = {"readproportion": 1, "updateproportion": 0, "operationcount": CHECKED, "recordcount": first}
    checked = _client(ports, load, "-t", {**known, **checks})
    if checked.failed or checked.operations != CHECKED:
        raise RunError(f"{checked.failed} of {CHECKED} records were wrong or missing")


def run(ports: Sequence[int], load: Load, workload: str) -> Figures:
    """Run the workload once, timed. Raises RunError."""
    reads = WORKLOADS[workload]
    mix = {"readproportion": reads, "updateproportion": round(1 - reads, 2)}
    limits = {"operationcount": 1_000_000_000, "maxexecutiontime": load.seconds}
    return _client(ports, load, "-t", {**mix, **limits})
