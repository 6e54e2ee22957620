"""`gfsmith gen`: generate and prove the kernels and write the output folder."""

from __future__ import annotations

from typing import Any

import click

from gfsmith.build.places import cache_of
from gfsmith.cli import build_options
from gfsmith.cli.console import fail, progress
from gfsmith.words import counted


@click.command("gen")
@build_options.options
@build_options.jobs
@click.option("--no-cache", is_flag=True, help="Ignore the cache: generate and prove everything again.")
@click.option("--check", is_flag=True, help="Write nothing; fail if the folder would change.")
def command(jobs: int, check: bool, no_cache: bool, **options: Any) -> None:
    """Generate kernels, prove them, and write them to the output folder."""
    from gfsmith.build import adaptive_kernels, output, request, stages

    asked, folder = request.load(**options)
    cache = None if no_cache else cache_of(options["path"])
    output.check_folder(folder)  # before the work
    if not check:
        output.check_writable(folder, folder)
    kernels, files = stages.make(asked, jobs, cache, progress)
    record = output.manifest(kernels, files)
    if check:
        found = output.differences(folder, {**files, output.MANIFEST: record})
        for line in found:
            print(f"{folder}/{line}")
        if found:
            fail(f"{folder} differs from the generator's output: run `gfsmith gen`", 1)
        print(f"{folder}: {len(files) + 1} files, all up to date")
        return
    changed = output.write(folder, files, record)
    size = sum(kernel.size for kernel in kernels)
    print(
        f"{folder}: {counted(len(kernels), 'kernel')}, all proved; {size} bytes of machine code; "
        f"{counted(changed, 'file')} changed"
    )
    if adaptive := adaptive_kernels.code((kernel.spec, kernel.size) for kernel in kernels):
        print(adaptive)
