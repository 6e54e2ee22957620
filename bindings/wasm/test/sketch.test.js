import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Codec, GfsmithError, Sketch, supportedKernels } from '../src/index.js';

const TEXT = new TextEncoder().encode('123456789');

/** Bytes without a short period. */
const bytes = (length, seed) => Uint8Array.from({ length }, (_, n) => (n * n * seed + (n >> 7)) >>> 3);

const sketchOf = (tables, offset, data) => {
  const sum = new Uint8Array(Sketch.BYTES);
  tables.add(sum, offset, data);
  return sum;
};

for (const kernels of supportedKernels()) {
  describe(`Sketch, ${kernels}`, () => {
    it('is that of tests/oracle/sketch.py, and the sum of those of pieces', async () => {
      const tables = await Sketch.create({ kernels });
      assert.equal(tables.kernels, kernels);
      for (const [offset, want] of [[0, 'a70b027c003a0138'], [2 ** 40 + 3, 'fcee58cc32afc0ed']]) {
        for (let cut = 0; cut <= TEXT.length; cut++) {
          const sum = sketchOf(tables, offset + cut, TEXT.subarray(cut));
          tables.add(sum, offset, TEXT.subarray(0, cut));
          assert.equal(Buffer.from(sum).toString('hex'), want);
        }
      }
      tables.free();
    });

    it('of the shards of a stripe is a stripe of the code', async () => {
      const codec = await Codec.create({ k: 4, m: 2, kernels });
      const tables = await Sketch.create({ kernels });
      const data = Array.from({ length: 4 }, (_, j) => bytes(600_001, j + 1)); // more than two pieces
      const shards = [...data, ...codec.encode(data)];
      const sums = shards.map((shard) => sketchOf(tables, 0, shard));
      assert.equal(codec.check(sums), true);
      assert.deepEqual(codec.encode(sums.slice(0, 4)), sums.slice(4));
      shards[1][600_000] ^= 4;
      sums[1] = sketchOf(tables, 0, shards[1]);
      assert.equal(codec.check(sums), false);
      codec.free();
      tables.free();
    });

    it('refuses wrong arguments, and calls after free()', async () => {
      const tables = await Sketch.create({ kernels });
      const sum = new Uint8Array(Sketch.BYTES);
      assert.throws(() => tables.add(new Uint8Array(7), 0, TEXT), new RangeError('sum has 7 bytes, must have 8'));
      assert.throws(() => tables.add(null, 0, TEXT), new TypeError('sum must be a Uint8Array'));
      for (const offset of [-1, 0.5, 2 ** 53]) assert.throws(() => tables.add(sum, offset, TEXT), RangeError);
      assert.throws(() => tables.add(sum, 0, [1]), new TypeError('bytes must be a Uint8Array'));
      assert.deepEqual(sum, new Uint8Array(Sketch.BYTES));
      tables.free();
      tables.free();
      assert.throws(() => tables.add(sum, 0, TEXT), new GfsmithError('EINVAL', 'this sketch was freed'));
    });
  });
}
