"""`python -m judge`: replay the certificates of all x86 kernels that ship, on all cores."""

from __future__ import annotations

import argparse
import base64
import json
import os
import signal
import sys
import zlib
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from hashlib import sha256
from multiprocessing import active_children
from pathlib import Path
from typing import Any

from judge import forms, listing, spec
from judge.contract import ABIS
from judge.integers import Rejected, require
from judge.replay import replay

Records = dict[tuple[str, str], dict[str, Any]]  #: (ABI, SHA-256 of the code) -> the record of a proof


def load(path: Path) -> Any:
    """Return the content of a JSON file. Exits with a message if it is missing or malformed."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as why:
        text = getattr(why, "strerror", f"not JSON: {why}")
    print(f"judge: {path}: {text}; `make gen` writes it", file=sys.stderr)
    sys.exit(2)


def certificates(path: Path) -> dict[str, Records]:
    """Return the records of the prover's cache by symbol. Nothing in them is trusted."""
    found: dict[str, Records] = {}
    for _, text in load(path).values():
        record = json.loads(text)
        if "kernel" in record:  # records of older releases have none
            own = found.setdefault(record["kernel"]["symbol"], {})
            own[record["abi"], record["sha256"]] = record
    return found


def examine(listed: Path, kernel: dict[str, Any], records: Records) -> dict[str, str]:
    """Return, for each ABI of a kernel, the reason of a rejection, "" if there is none. kernel: of the
    manifest."""
    answers = {}
    forms.forget()
    for abi in ABIS:
        try:
            code = listing.read(listed.read_text(encoding="ascii"), kernel["symbol"])[abi]
            digest = sha256(code).hexdigest()
            require(digest == kernel["code"][abi]["sha256"], "its code differs from MANIFEST.json")
            require((abi, digest) in records, "it has no certificate")
            record = records[abi, digest]
            found = spec.read(record["kernel"])
            require(found.symbol == kernel["symbol"], "its certificate is that of another kernel")
            replay(found, abi, code, json.loads(zlib.decompress(base64.b85decode(record["trees"]))))
            answers[abi] = ""
        except (Rejected, OSError, ValueError, LookupError, TypeError, RecursionError, zlib.error) as error:
            answers[abi] = str(error) or type(error).__name__
    return answers


def run(folder: Path, cache: Path, jobs: int) -> tuple[Counter[str], list[str]]:
    """Replay all certificates. Returns the accepted functions by ABI, and a line for each rejected one."""
    accepted: Counter[str] = Counter()
    records = certificates(cache)
    manifest = load(folder / "MANIFEST.json")
    todo = sorted((k for k in manifest["kernels"] if "code" in k), key=lambda kernel: -int(kernel["bytes"]))
    paths = [folder / "x86" / f"{kernel['symbol']}.S" for kernel in todo]
    rejected = [f"{p.stem}: not in MANIFEST.json" for p in (folder / "x86").glob("*.S") if p not in paths]
    ignore = partial(signal.signal, signal.SIGINT, signal.SIG_IGN)  # the parent stops the workers
    with ProcessPoolExecutor(jobs, initializer=ignore) as pool:
        try:
            answers = pool.map(examine, paths, todo, [records.get(path.stem, {}) for path in paths])
            for number, (path, answer) in enumerate(zip(paths, answers, strict=True), 1):
                for abi, reason in answer.items():
                    accepted[abi] += not reason
                    rejected += [f"{path.stem} ({abi}): {reason}"] * bool(reason)
                end = "\r" if sys.stderr.isatty() else "\n"
                if sys.stderr.isatty() or number % 50 == 0:
                    print(f"judge: {number} of {len(todo)} kernels", end=end, file=sys.stderr)
        except BaseException:
            for process in active_children():
                process.terminate()
            raise
    return accepted, sorted(rejected)


def main() -> int:
    parser = argparse.ArgumentParser(prog="judge", description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("gen_out"), help="output folder of gfsmith gen")
    parser.add_argument("--cache", type=Path, default=Path(".gfsmith-cache/proofs.json"), help="certificates")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    options = parser.parse_args()
    if not 1 <= options.jobs <= 1024:
        parser.error(f"--jobs: '{options.jobs}' is not allowed; allowed: 1 to 1024")
    try:
        accepted, rejected = run(options.folder, options.cache, options.jobs)
    except KeyboardInterrupt:
        print("judge: interrupted", file=sys.stderr)
        return 130
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        print(f"judge: {options.folder} or {options.cache} has another form: {error!r}", file=sys.stderr)
        return 2
    sys.stdout.writelines(f"{line}\n" for line in rejected)
    counts = ", ".join(f"{abi} {accepted[abi]}" for abi in sorted(accepted))
    print(f"judge: {accepted.total()} functions accepted ({counts}), {len(rejected)} rejected")
    return 1 if rejected or not accepted else 0


if __name__ == "__main__":
    sys.exit(main())
