"""The package: the native library's bytes, the file tool's files, its own tests, types, and packed files."""

from __future__ import annotations

import hashlib
import io
import json
import random
import subprocess
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from gfsmith import GfsmithError, streams
from tests.oracle import shard_format
from tests.support.folders import built
from tests.support.paths import ROOT
from tests.system.bindings.wasm.native import Native
from tests.system.bindings.wasm.support import EXAMPLE, HERE, NODE, NPM, VARIANTS, Variant, call, node

CODES = ("cauchy", "vandermonde", "backblaze", "lch", "cauchy_orig", "cauchy_good")
#: With baked kernels, composed of several, one parity, one data shard, the widest.
SHAPES = ((4, 2), (10, 4), (12, 4), (16, 8), (17, 3), (5, 13), (100, 20), (254, 1), (1, 254), (30, 1))
LENGTHS = (0, 1, 15, 16, 100, 4097, 40000)


def cases() -> list[dict[str, Any]]:
    """Return every code at every shape, with varying lengths and m shards lost."""
    chance = random.Random(6)
    return [
        {
            "code": code,
            "k": k,
            "m": m,
            "length": LENGTHS[n % len(LENGTHS)] if k + m < 100 else n,
            "lost": chance.sample(range(k + m), m),
            "index": chance.randrange(k),
        }
        for n, (code, (k, m)) in enumerate((code, shape) for code in CODES for shape in SHAPES)
    ]


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_bytes_are_those_of_the_native_library(
    package: None, library: None, tmp_path: Path, variant: Variant
) -> None:
    pool = random.Random(1).randbytes(1 << 17)
    (tmp_path / "pool").write_bytes(pool)
    job = {
        "package": str(EXAMPLE / "src" / "index.js"),
        "kernels": variant.isa,
        "data": str(tmp_path / "pool"),
        "cases": cases(),
    }
    (tmp_path / "job.json").write_text(json.dumps(job))
    found = node(HERE / "vectors.mjs", tmp_path / "job.json")
    native = Native(ROOT / "build" / "libgfsmith.so")
    assert len(found) == len(CODES) * len(SHAPES)
    refused = 0
    for case, result in zip(cases(), found, strict=True):
        code, k, m, length, index = (case[key] for key in ("code", "k", "m", "length", "index"))
        wanted = native.vector(code, k, m, pool, length, index)
        refused += "error" in wanted
        assert result.pop("kernels", variant.isa) == variant.isa
        assert result == wanted, case
    assert refused == sum(code == "vandermonde" and not mds(k, m) for code in CODES for k, m in SHAPES)


def mds(k: int, m: int) -> bool:
    """Return True if gfsmith.h states that "vandermonde" is MDS."""
    return m <= 3 or k <= 3 or (m == 4 and k <= 21) or (k == 4 and k + m <= 25) or (k == 5 and k + m <= 10)


def test_shards_are_those_of_the_file_tool(package: None, tmp_path: Path) -> None:
    """Each program reads the other's files, and the bytes are those of the test vectors."""
    tool = built("shards") / "gfsmith-shards"
    script = tmp_path / "split.mjs"
    script.write_text(
        "import { readFileSync, writeFileSync } from 'node:fs';\n"
        f"import {{ split, shardName }} from {json.dumps(str(EXAMPLE / 'src' / 'index.js'))};\n"
        "const [, , path, name, folder, shape] = process.argv;\n"
        "const id = Uint8Array.from({ length: 16 }, (_, i) => i);\n"
        "const files = await split(readFileSync(path), { name, block: 128, id, ...JSON.parse(shape) });\n"
        "files.forEach((file, i) => writeFileSync(`${folder}/${shardName(name, i)}`, file));\n"
    )
    lengths = (0, 1, 640, 641, 5 * 128 * 7 + 333)
    for (code, k, m, groups), size in product((("lch", 5, 3, 0), ("lrc", 5, 4, 2)), lengths):
        name = f"täst {code} {size}"
        data = random.Random(size).randbytes(size)
        (tmp_path / name).write_bytes(data)
        ours = tmp_path / f"ours {code} {size}"
        ours.mkdir()
        shape = json.dumps({"code": code, "k": k, "m": m, "l": groups})
        call(NODE, script, tmp_path / name, name, ours, shape)
        made = [path.read_bytes() for path in sorted(ours.iterdir())]
        form = shard_format.Shape(code, k, m, 128, l=groups, name=name.encode())
        assert made == shard_format.split(form, data)
        assert f"all {k + m} shards are intact" in call(tool, "verify", ours)


def _resize(raw: bytearray, stripe: int, size: int, seed: int) -> None:
    """Give a block another length and the checksum that matches it, if the shard is long enough."""
    at = 512 + stripe * (32 + 64)
    if len(raw) >= at + 32 + size:
        content = bytes(raw[at + 32 : at + 32 + size])
        raw[at : at + 32 + size] = shard_format.record(shard_format.BLOCK, stripe, content, seed)


def _damage(shard: bytes, chance: random.Random) -> bytes:
    """Return the shard with changed bytes, a block of another length, cut off, or with bytes at its end."""
    raw = bytearray(shard)
    if chance.randrange(4) == 0:
        raw[chance.randrange(512)] ^= 1 << chance.randrange(8)
    for _ in range(chance.choice((0, 0, 1, 1, 3))):
        raw[chance.randrange(512, len(raw))] ^= 1 << chance.randrange(8)
    if chance.randrange(4) == 0:
        _resize(raw, chance.randrange(4), chance.choice((1, 40, 63, 65, 100)), shard_format.tag(shard))
    if (cut := chance.randrange(8)) == 0:
        del raw[chance.randrange(512, len(raw)) :]
    elif cut == 1:
        raw += chance.randbytes(chance.randrange(1, 300))
    return bytes(raw)


def test_damaged_sets_are_joined_as_in_python(package: None, tmp_path: Path) -> None:
    """The same sets can be joined: damage is repaired block by block. Most names have the index."""
    chance, expected = random.Random(23), []
    for n in range(120):
        data = chance.randbytes(chance.choice((0, 1, 255, 256, 257, 1500, 3000)))
        form = ("cauchy", 4, 2, 64) if n % 2 == 0 else ("lrc", 4, 3, 64, 2)
        shards = shard_format.split(shard_format.Shape(*form), data)
        folder = tmp_path / str(n)
        folder.mkdir()
        for i, shard in enumerate(shards):
            if chance.random() > 0.05:
                name = f"file.g1.{i:03}.gfs" if chance.random() > 0.1 else f"shard{i}"
                (folder / name).write_bytes(_damage(shard, chance))
        out = io.BytesIO()
        try:
            streams.join(sorted(folder.iterdir()), out)
            assert out.getvalue() == data
            expected.append(hashlib.sha256(data).hexdigest())
        except GfsmithError:
            expected.append("")
    found = node(HERE / "join.mjs", EXAMPLE / "src" / "index.js", tmp_path)
    refused = ("ETOOMANY", "EFORMAT")
    assert ["" if result in refused else result for result in found] == expected
    assert 20 < expected.count("") < 100


def test_own_tests(package: None) -> None:
    """The package's own tests pass with every kernel set."""
    out = call(NODE, "--test", "--test-reporter=tap", cwd=EXAMPLE)
    assert "# fail 0" in out
    assert "# skipped 0" in out
    for variant in VARIANTS:
        assert f"Codec, {variant.isa}" in out


def test_types(tmp_path: Path) -> None:
    """The sources agree with the declarations, correct code of a user compiles, and wrong code does not."""
    call("tsc", "-p", EXAMPLE / "jsconfig.json")
    user = """
        import { Codec, GfsmithError, repair, split, type Progress, type Report } from '%s';
        export async function use(file: Uint8Array): Promise<Report> {
          const codec = await Codec.create({ code: 'lch', k: 4, m: 2 });
          const parity: Uint8Array[] = codec.encode([file, file, file, file]);
          codec.update(0, file, parity);
          codec.free();
          const onProgress = ({ done, total }: Progress): void => void (done / total);
          const shards = await split(file, { name: 'x', k: 4, m: 2, onProgress });
          return (await repair([...shards.slice(1), null])).report;
        }
        export const why = (error: GfsmithError): boolean => error.code === %s;
    """
    flags = ("--noEmit", "--strict", "--target", "es2022", "--moduleResolution", "node")
    right, wrong = tmp_path / "right.ts", tmp_path / "wrong.ts"
    declarations = EXAMPLE / "src" / "index"
    right.write_text(user % (declarations, "'ETOOMANY'"))
    wrong.write_text(user % (declarations, "'ETOOFEW'"))
    done = subprocess.run(["tsc", *flags, right, wrong], cwd=tmp_path, capture_output=True, text=True)
    errors = [line for line in done.stdout.splitlines() if "error" in line]
    assert len(errors) == 1
    assert errors[0].startswith("wrong.ts") and "ETOOFEW" in errors[0]


def test_the_packed_files(package: None, tmp_path: Path) -> None:
    """The result of npm pack works without further packages when installed elsewhere."""
    flags = ("--json", "--offline", "--cache", tmp_path / "cache", "--pack-destination", tmp_path)
    listed = json.loads(call(NODE, NPM, "pack", *flags, cwd=EXAMPLE))
    names = {file["path"] for file in listed[0]["files"]}
    assert {"package.json", "README.md", "src/index.js", "src/index.d.ts"} <= names
    assert {f"dist/gfsmith-{variant.name}.wasm" for variant in VARIANTS} <= names
    assert not any(name.startswith(("page", "test", "native")) for name in names)
    package_json = json.loads((EXAMPLE / "package.json").read_text())
    assert "dependencies" not in package_json
    home = tmp_path / "node_modules" / "gfsmith-wasm"
    home.mkdir(parents=True)
    call("tar", "-xzf", tmp_path / listed[0]["filename"], "-C", home, "--strip-components=1")
    script = tmp_path / "use.mjs"
    script.write_text(
        "import { Codec } from 'gfsmith-wasm';\n"
        "const codec = await Codec.create({ k: 2, m: 1 });\n"
        "console.log(codec.encode([Uint8Array.of(1, 2), Uint8Array.of(3, 4)])[0].length);\n"
    )
    assert call(NODE, script) == "2\n"


#: Signs in a disassembly; LLVM 19 does not name the instructions of relaxed SIMD.
SIGNS = {"vectors": "\tv128.load", "swizzle": "\ti8x16.swizzle", "relaxed swizzle": ": fd 80 02 "}


def test_modules_need_nothing_and_have_no_others_instructions(package: None, tmp_path: Path) -> None:
    """The modules have no imports, and an engine without an instruction set can compile the modules before
    it.
    """
    script = tmp_path / "imports.mjs"
    script.write_text(
        "import { readFileSync } from 'node:fs';\n"
        "const module = new WebAssembly.Module(readFileSync(process.argv[2]));\n"
        "console.log(JSON.stringify(WebAssembly.Module.imports(module)));\n"
    )
    has = {}
    for variant in VARIANTS:
        module = EXAMPLE / "dist" / f"gfsmith-{variant.name}.wasm"
        assert node(script, module) == []
        code = call("llvm-objdump-19", "-d", module)
        has[variant.name] = [name for name, sign in SIGNS.items() if sign in code]
    assert has == {
        "scalar": [],
        "simd128": ["vectors", "swizzle"],
        "relaxed": ["vectors", "relaxed swizzle"],
    }
