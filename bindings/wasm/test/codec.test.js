import assert from 'node:assert/strict';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import v8 from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Codec, GfsmithError, supportedKernels } from '../src/index.js';

/** Pseudo-random bytes, reproducible. */
export function bytes(length, seed = 1) {
  let state = seed * 2654435761;
  return Uint8Array.from({ length }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state >>> 24;
  });
}
const shards = (count, length) => Array.from({ length: count }, (_, j) => bytes(length, j + 1));
const copy = (all) => all.map((shard) => shard && Uint8Array.from(shard));

for (const kernels of supportedKernels()) {
  describe(`Codec, ${kernels}`, () => {
    it('adds for m = 1 of a Vandermonde code, whose first row is ones', async () => {
      const codec = await Codec.create({ code: 'vandermonde', k: 3, m: 1, kernels });
      const [a, b, c] = shards(3, 1000);
      const [parity] = codec.encode([a, b, c]);
      assert.deepEqual(parity, a.map((byte, n) => byte ^ b[n] ^ c[n]));
      codec.free();
    });

    it('rebuilds any m lost shards, at lengths around the chunk', async () => {
      const codec = await Codec.create({ k: 4, m: 2, kernels });
      for (const length of [0, 1, 17, codec.chunk - 1, codec.chunk, codec.chunk + 1, 2 * codec.chunk + 5]) {
        const data = shards(4, length);
        const whole = [...data, ...codec.encode(data)];
        for (let first = 0; first < 6; first++) {
          for (let second = first; second < 6; second++) {
            const given = copy(whole).map((shard, i) => (i === first || i === second ? null : shard));
            const before = copy(given);
            assert.deepEqual(codec.reconstruct(given), whole);
            assert.deepEqual(given, before, 'the given shards are unchanged');
          }
        }
      }
      codec.free();
    });

    it('rebuilds only wanted shards', async () => {
      const codec = await Codec.create({ k: 5, m: 3, kernels });
      const data = shards(5, 300);
      const whole = [...data, ...codec.encode(data)];
      const given = whole.map((shard, i) => (i === 1 || i === 6 ? undefined : shard));
      assert.deepEqual(codec.reconstruct(given, { wanted: [1] }), whole.with?.(6, null) ?? whole.map((s, i) => (i === 6 ? null : s)));
      codec.free();
    });

    it('updates parities to those of the new data', async () => {
      const codec = await Codec.create({ k: 6, m: 3, kernels });
      const length = codec.chunk + 100;
      const data = shards(6, length);
      const parity = codec.encode(data);
      const changed = bytes(length, 99);
      const delta = data[2].map((byte, n) => byte ^ changed[n]);
      codec.update(2, delta, parity);
      assert.deepEqual(parity, codec.encode(data.map((shard, j) => (j === 2 ? changed : shard))));
      codec.free();
    });

    it('checks: every wrong byte is detected', async () => {
      const codec = await Codec.create({ k: 2, m: 2, kernels });
      const length = codec.chunk + 50;
      const data = shards(2, length);
      const whole = [...data, ...codec.encode(data)];
      assert.equal(codec.check(whole), true);
      for (const [shard, at] of [[0, 0], [1, length - 1], [2, codec.chunk], [3, codec.chunk - 1]]) {
        whole[shard][at] ^= 0x40;
        assert.equal(codec.check(whole), false, `byte ${at} of shard ${shard}`);
        whole[shard][at] ^= 0x40;
      }
      codec.free();
    });

    it('corrects two wrong symbols at each position, at shards that differ', async () => {
      const codec = await Codec.create({ k: 4, m: 5, kernels });
      const length = codec.chunk + 300;
      const data = shards(4, length);
      const whole = [...data, ...codec.encode(data)];
      const wrong = copy(whole);
      for (let at = codec.chunk - 100; at < codec.chunk + 100; at++) {
        wrong[at % 9][at] ^= 0x51;
        wrong[(at + 4) % 9][at] ^= 0x80;
      }
      const { symbols, intact, uncorrected } = codec.correct(wrong);
      assert.deepEqual(wrong, whole);
      assert.equal(symbols.reduce((a, b) => a + b), 400);
      assert.deepEqual([symbols.length, intact, uncorrected], [9, length - 200, 0]);
      codec.free();
    });

    it('corrects one wrong symbol beside three missing shards, and counts positions with more', async () => {
      const codec = await Codec.create({ k: 4, m: 5, kernels });
      const data = shards(4, 50);
      const given = [...data, ...codec.encode(data)].map((shard, i) => (i % 3 === 1 ? null : shard));
      given[0][7] ^= 1;
      const expected = copy(given);
      expected[0][7] ^= 1;
      for (const i of [0, 2, 3]) {
        given[i][9] ^= 1;
        expected[i][9] ^= 1;
      }
      const found = codec.correct(given);
      assert.deepEqual(found, { symbols: [1, 0, 0, 0, 0, 0, 0, 0, 0], intact: 48, uncorrected: 1 });
      assert.deepEqual(given, expected);
      given[0] = null;
      assert.throws(() => codec.correct(given), { code: 'ETOOMANY' });
      assert.throws(() => codec.correct(given.slice(1)), RangeError);
      codec.free();
      const one = await Codec.create({ k: 3, m: 1, kernels });
      assert.throws(() => one.correct(shards(4, 9)), { code: 'EUNSUPPORTED' });
      one.free();
    });

    it('writes parities to given arrays, at any offset of a buffer', async () => {
      const codec = await Codec.create({ k: 2, m: 2, kernels });
      const data = shards(2, 77);
      const buffer = new Uint8Array(200).fill(7);
      codec.encode(data, [buffer.subarray(3, 80), buffer.subarray(101, 178)]);
      assert.deepEqual([buffer.slice(3, 80), buffer.slice(101, 178)], codec.encode(data));
      for (const n of [0, 2, 80, 100, 178, 199]) assert.equal(buffer[n], 7);
      codec.free();
    });

    it('takes no more memory after a thousand codecs and a large encode than after the first', async () => {
      const { engine } = await import('../src/engine.js');
      const { memory } = await engine(kernels);
      const once = async () => {
        const codec = await Codec.create({ k: 20, m: 10, kernels });
        const data = shards(20, 100);
        const whole = [...data, ...codec.encode(data)];
        codec.reconstruct(whole.map((shard, i) => (i % 3 === 0 ? null : shard)));
        codec.free();
      };
      await once();
      const before = memory.buffer.byteLength;
      for (let n = 0; n < 1000; n++) await once();
      const codec = await Codec.create({ k: 2, m: 1, kernels });
      codec.encode([new Uint8Array(20 << 20), new Uint8Array(20 << 20)]);
      codec.free();
      for (let n = 0; n < 200; n++) await assert.rejects(Codec.create({ code: 'none', k: 20, m: 10, kernels }));
      assert.equal(memory.buffer.byteLength, before);
    });
  });
}

describe('Codec, forgotten', () => {
  it('frees its memory after garbage collection', async () => {
    const { engine } = await import('../src/engine.js');
    const { memory } = await engine('scalar');
    v8.setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc');
    const before = memory.buffer.byteLength;
    for (let round = 0; round < 20; round++) {
      for (let n = 0; n < 10; n++) await Codec.create({ k: 20, m: 10, kernels: 'scalar' });
      await setImmediate();
      collect();
      await setImmediate();
    }
    const grown = memory.buffer.byteLength - before;
    assert.ok(grown < 50 << 20, `200 codecs of 600 KB, never freed, took ${grown} bytes`);
  });
});

describe('Codec, errors', () => {
  const refused = (code, pattern) => (error) => {
    assert.ok(error instanceof GfsmithError);
    assert.equal(error.code, code);
    assert.match(error.message, pattern);
    return true;
  };

  it('names the wrong argument and the allowed values', async () => {
    await assert.rejects(Codec.create({ k: 0, m: 1 }), { name: 'RangeError', message: /k = 0: .* from 1 to 254/ });
    await assert.rejects(Codec.create({ k: 250, m: 6 }), { name: 'RangeError', message: /m = 6: .* from 1 to 5/ });
    await assert.rejects(Codec.create(), { name: 'RangeError', message: /k = undefined/ });
    await assert.rejects(Codec.create({ k: 2.5, m: 1 }), RangeError);
    await assert.rejects(Codec.create({ k: 2, m: '1' }), RangeError);
    await assert.rejects(Codec.create({ code: 7, k: 2, m: 1 }), TypeError);
    await assert.rejects(Codec.create({ k: 2, m: 1, kernels: 'sse' }), { name: 'RangeError', message: /auto, wasm_rel/ });
    await assert.rejects(Codec.create({ code: 'raid', k: 2, m: 1 }), refused('EINVAL', /unknown code; allowed: vander.*, lrc$/));
    await assert.rejects(Codec.create({ code: 'raid6', k: 4, m: 3 }), refused('EINVAL', /shape; allowed: .* m = 2/));
    await assert.rejects(Codec.create({ code: 'vandermonde', k: 50, m: 10 }), refused('ENOTMDS', /allowed: .* m <= 3/));
  });

  it('names a module that is missing and the command that builds it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'gfsmith-'));
    try {
      await cp(new URL('../src', import.meta.url), join(folder, 'src'), { recursive: true });
      await writeFile(join(folder, 'package.json'), '{"type": "module"}');
      const { Codec: Bare } = await import(pathToFileURL(join(folder, 'src', 'index.js')));
      const message = /^cannot read .*\/dist\/gfsmith-scalar\.wasm: ENOENT; in a checkout `make wasm` writes it$/;
      await assert.rejects(Bare.create({ k: 2, m: 1, kernels: 'scalar' }), { message });
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('chooses kernels that the engine supports, and refuses others by name', async (t) => {
    t.mock.method(WebAssembly, 'validate', () => false);
    assert.deepEqual(supportedKernels(), ['scalar']);
    const codec = await Codec.create({ k: 2, m: 1 });
    assert.equal(codec.kernels, 'scalar');
    codec.free();
    const wanted = Codec.create({ k: 2, m: 1, kernels: 'wasm_simd128' });
    await assert.rejects(wanted, refused('EUNSUPPORTED', /does not support wasm_simd128; it can run scalar/));
  });

  it('names the wrong shard', async () => {
    const codec = await Codec.create({ k: 2, m: 2 });
    const [a, b] = shards(2, 10);
    assert.throws(() => codec.encode([a]), { name: 'RangeError', message: /data must be an array of 2/ });
    assert.throws(() => codec.encode([a, [1, 2]]), { name: 'TypeError', message: /data\[1\]/ });
    assert.throws(() => codec.encode(new Array(2)), { name: 'TypeError', message: /data\[0\]/ });
    assert.throws(() => codec.encode([a, b.subarray(1)]), { name: 'RangeError', message: /data\[1\] has 9 bytes, must have 10/ });
    assert.throws(() => codec.encode([a, b], [new Uint8Array(9), a]), { message: /parity\[0\] has 9/ });
    assert.throws(() => codec.update(2, a, [a, b]), { message: /index = 2: .* from 0 to 1/ });
    assert.throws(() => codec.reconstruct([a, b]), { message: /shards must be an array of 4/ });
    assert.throws(() => codec.reconstruct([a, null, null, null]), refused('ETOOMANY', /3 of 4 .* at most 2/));
    codec.free();
  });

  it('refuses calls after free, which may be called twice', async () => {
    const codec = await Codec.create({ k: 1, m: 1 });
    codec.free();
    codec.free();
    const [shard, shards] = [new Uint8Array(1), [new Uint8Array(1), new Uint8Array(1)]];
    const refused = (error) => error instanceof GfsmithError && error.code === 'EINVAL' && /freed/.test(error.message);
    assert.throws(() => codec.encode([shard]), refused);
    assert.throws(() => codec.update(0, shard, [shard]), refused);
    assert.throws(() => codec.check(shards), refused);
    assert.throws(() => codec.reconstruct([null, shard]), refused);
    assert.throws(() => codec.correct(shards), refused);
  });
});
