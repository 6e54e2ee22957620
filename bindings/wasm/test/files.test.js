import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { engine } from '../src/engine.js';
import { GfsmithError, inspect, join, repair, shardIndex, shardName, split } from '../src/index.js';
import { payloadBytes, readBlocks, readEnd, readHeader, writeHeader, writeShard } from '../src/shardfile.js';

const content = (length) => Uint8Array.from({ length }, (_, n) => (n * 31 + (n >> 8)) & 255);
const options = { name: 'a file.bin', k: 4, m: 2, block: 64 };
const states = (report) => report.shards.map(({ state }) => state[0]).join('');
/** Give the record at `at` a content of `size` bytes and the checksum that matches. */
const resize = (vm, file, at, size) => {
  new DataView(file.buffer).setUint32(at + 24, size, true);
  file.set(vm.checksum(file.subarray(at + 16, at + 32 + size), file.subarray(496, 504)), at);
};
const refused = (code, pattern) => (error) =>
  error instanceof GfsmithError && error.code === code && pattern.test(error.message);

describe('files', () => {
  it('are restored from any k shards in any order, for any length', async () => {
    for (const length of [0, 1, 3, 63, 64, 255, 256, 257, 999, 5000]) {
      const original = content(length);
      const files = await split(original, options);
      assert.equal(files.length, 6);
      const some = [files[5], files[1], files[4], files[2]];
      const { name, bytes } = await join(some);
      assert.equal(name, 'a file.bin');
      assert.deepEqual(bytes, original);
      assert.deepEqual((await repair(some)).shards, files);
    }
  });

  it('are reported: missing, damaged, truncated ones', async () => {
    const files = await split(content(999), options);
    files[0] = null;
    files[1] = files[1].slice(0, 520);
    files[2][512 + 32 + 10] ^= 1;
    files[3][64] ^= 1; // in the header
    const report = await inspect(files, { indices: [] });
    assert.equal(states(report), 'mddmii');
    assert.deepEqual([report.lost, report.repairable, report.k, report.m, report.length], [4, false, 4, 2, 999]);
    assert.deepEqual([report.stripes, report.lostStripes], [4, 4]);
    assert.match(report.shards[1].reason, /truncated: 520 of 946 bytes/);
    assert.match(report.shards[2].reason, /checksum mismatch in block 0/);
    assert.deepEqual(report.unreadable, [{ position: 3, reason: 'checksum mismatch in the header' }]);
    const unknown = { indices: Array(6).fill(null) };
    await assert.rejects(repair(files, unknown), refused('ETOOMANY', /4 of 4 stripes have lost blocks that cauchy 4\+2 cannot repair/));
    await assert.rejects(join(files, unknown), refused('ETOOMANY', /4 of 4 stripes/));
  });

  it('are read in spite of damaged headers, if their indices are known', async () => {
    const original = content(999);
    const whole = await split(original, options);
    const files = whole.map((file) => file.slice());
    for (const at of [0, 64, 500, 511]) for (const index of [0, 1, 2, 4, 5]) files[index][at] ^= 1;
    const report = await inspect(files); // their positions are their indices
    assert.equal(states(report), 'dddidd');
    assert.deepEqual([report.lost, report.lostStripes, report.repairable, report.unreadable], [5, 0, true, []]);
    assert.equal(report.shards[0].reason, 'not a shard file');
    assert.deepEqual((await join(files)).bytes, original);
    assert.deepEqual((await repair(files)).shards, whole);
    const order = [5, 3, 0, 4, 2]; // shard 1 is missing
    const some = order.map((index) => files[index]);
    await assert.rejects(join(some), refused('ETOOMANY', /4 of 4 stripes/));
    assert.deepEqual((await repair(some, { indices: order })).shards, whole);
    files[4][512 + 32 + 10] ^= 1; // and a block of one of them
    assert.deepEqual((await join(some, { indices: order })).bytes, original);
    files[2][512 + 32 + 10] ^= 1;
    assert.equal((await inspect(some, { indices: order })).lostStripes, 1);
    files[3][whole[3].length - 1] ^= 1; // the only trailer behind a good header
    assert.deepEqual((await repair(files)).shards, whole);
  });

  it('with damaged headers and wrong indices are never used', async () => {
    const original = content(999);
    const files = await split(original, options);
    for (const index of [1, 2]) files[index][64] ^= 1;
    const swapped = await inspect(files, { indices: [0, 2, 1, 3, 4, 5] });
    assert.equal(states(swapped), 'iddiii');
    assert.deepEqual((await join(files, { indices: [0, 2, 1, 3, 4, 5] })).bytes, original);
    files[0] = null;
    await assert.rejects(join(files, { indices: [0, 2, 1, 3, 4, 5] }), refused('ETOOMANY', /4 of 4 stripes/));
    for (const indices of [[0, 3, 6], [0, -1, 5], [0, '1', 0.5], [0, NaN, undefined]]) {
      const report = await inspect(files, { indices });
      assert.equal(states(report), 'mmmiii', indices);
      assert.deepEqual(report.unreadable.map(({ position }) => position), [1, 2]);
    }
    const same = await inspect(files, { indices: [0, 2, 2] });
    assert.deepEqual([states(same), same.unreadable.length], ['mmdiii', 1]);
    await assert.rejects(inspect(files, { indices: 5 }), /indices must be an array/);
  });

  it('with a good block of a wrong length lose that block', async () => {
    const vm = await engine();
    const original = content(64 * 4 * 3 + 77); // three stripes and a short one
    const whole = await split(original, options);
    for (const [stripe, sizes] of [[0, [1, 32, 63, 65, 96]], [2, [32, 96]], [3, [1, 19, 21, 64]]]) {
      for (const size of sizes) {
        const files = whole.map((file) => file.slice());
        for (const index of [0, 5]) resize(vm, files[index], 512 + stripe * (32 + 64), size);
        const report = await inspect(files);
        assert.equal(states(report), 'diiiid');
        assert.equal(report.shards[0].reason, `checksum mismatch in block ${stripe}`);
        assert.deepEqual((await join(files)).bytes, original, `${size} bytes in stripe ${stripe}`);
        assert.deepEqual((await repair(files)).shards, whole);
        resize(vm, files[1], 512 + stripe * (32 + 64), size);
        assert.equal((await inspect(files)).lostStripes, 1);
        await assert.rejects(join(files), refused('ETOOMANY', /1 of 4 stripes/));
      }
    }
  });

  it('have their trailer after the last block, even if another trailer follows or is in place of a block', async () => {
    const vm = await engine();
    const whole = await split(content(64 * 4 * 3 - 2), options);
    /** A trailer with another length and a right checksum. */
    const other = (file) => {
      const end = file.slice(-56);
      end[32] ^= 1;
      end.set(vm.checksum(end.subarray(16), file.subarray(496, 504)));
      return end;
    };
    const files = whole.map((file) => Uint8Array.from([...file, ...other(file)]));
    files[1].set(other(files[1].slice(0, -56)), 512 + 32 + 64); // in place of block 1
    assert.deepEqual((await repair(files)).shards, whole);
  });

  it('are repaired to the same bytes, and the intact ones are returned unchanged', async () => {
    const whole = await split(content(100000), { ...options, block: 4096 });
    const files = whole.map((file) => file.slice());
    files[3][9000] ^= 0x80;
    files[4] = null;
    const { shards, rebuilt, report } = await repair(files);
    assert.deepEqual(shards, whole);
    assert.deepEqual(rebuilt, [3, 4]);
    assert.equal(shards[0], files[0]);
    assert.equal(states(report), 'iiidmi');
  });

  it('are repaired block by block, even if every shard is damaged', async () => {
    const original = content(64 * 4 * 6 + 77); // six stripes and a short one
    const whole = await split(original, options);
    const files = whole.map((file) => file.slice());
    const flip = (shard, stripe) => (files[shard][512 + stripe * (32 + 64) + 40] ^= 4);
    for (const [shard, stripe] of [[0, 0], [1, 0], [2, 1], [3, 1], [4, 3], [5, 4], [0, 6], [5, 6]]) flip(shard, stripe);
    const report = await inspect(files);
    assert.equal(states(report), 'dddddd');
    assert.deepEqual([report.lost, report.repairable, report.stripes, report.lostStripes], [6, true, 7, 0]);
    assert.match(report.shards[0].reason, /checksum mismatch in 2 blocks, the first block 0/);
    assert.deepEqual((await join(files)).bytes, original);
    assert.deepEqual((await repair(files)).shards, whole);
    flip(2, 0);
    assert.equal((await inspect(files)).lostStripes, 1);
    await assert.rejects(join(files), refused('ETOOMANY', /1 of 7 stripes have lost blocks that cauchy 4\+2 cannot repair/));
    files[0] = null; // shard 0 now loses a block of every stripe
    assert.equal((await inspect(files)).lostStripes, 2);
  });

  it('are read if bytes are missing at their ends or follow them, and need one intact trailer', async () => {
    const original = content(999);
    const whole = await split(original, options);
    const short = whole.map((file, i) => (i === 3 ? file : file.slice(0, -1)));
    assert.deepEqual((await repair(short)).shards, whole);
    const long = whole.map((file) => Uint8Array.from([...file, ...content(70)]));
    assert.match((await inspect(long)).shards[0].reason, /1016 bytes instead of 946/);
    assert.deepEqual((await repair(long)).shards, whole);
    const none = whole.map((file) => file.slice(0, -1));
    assert.equal((await inspect(none)).repairable, false);
    await assert.rejects(join(none), refused('EFORMAT', /no shard has an intact trailer/));
  });

  it('with a trailer that states a huge length are refused before memory is allocated', async () => {
    const vm = await engine();
    const checksum = (bytes, seed) => vm.checksum(bytes, seed);
    const [file] = await split(content(999), options);
    const header = readHeader(file, checksum);
    const raw = writeShard(header, new Uint8Array(0), { length: 0, original: new Uint8Array(16) }, checksum);
    const view = new DataView(raw.buffer, raw.length - 56);
    const length = 4 * 64 * 2 ** 40;
    view.setBigUint64(16, BigInt(2 ** 40), true);
    view.setBigUint64(32, BigInt(length), true);
    raw.set(checksum(raw.subarray(raw.length - 40), file.subarray(496, 504)), raw.length - 56);
    const report = await inspect([raw]);
    assert.deepEqual([report.length, report.repairable, report.lostStripes], [length, false, 2 ** 40]);
    await assert.rejects(repair([raw]), refused('ETOOMANY', /stripes have lost/));
  });

  it('of a code with groups are restored, and a loss that the code cannot repair is named', async () => {
    const original = content(2500); // seven stripes, the last one short
    const shape = { ...options, code: 'lrc', k: 6, m: 4, l: 2 }; // groups 0-2 with parity 6, 3-5 with parity 7
    const whole = await split(original, shape);
    const without = (...lost) => whole.map((file, i) => (lost.includes(i) ? null : file));
    for (const lost of [[0, 1, 2], [0, 1, 3, 4], [6, 7, 8, 9]]) {
      assert.deepEqual((await repair(without(...lost))).shards, whole, lost);
    }
    const report = await inspect(without(0, 1, 2, 6));
    assert.deepEqual([report.l, report.lost, report.lostStripes, report.repairable], [2, 4, 7, false]);
    await assert.rejects(join(without(0, 1, 2, 6)), refused('ETOOMANY', /7 of 7 stripes have lost blocks that lrc 6\+4 cannot repair/));
    const files = without(0, 1).map((file) => file && file.slice());
    for (const [shard, stripe] of [[2, 0], [6, 0], [3, 1], [4, 1], [2, 3], [5, 3]]) files[shard][512 + stripe * (32 + 64) + 40] ^= 4;
    assert.equal((await inspect(files)).lostStripes, 1); // stripe 0 only
    files[6] = whole[6];
    assert.deepEqual((await repair(files)).shards, whole);
  });

  it('of several sets, or twice the same, are refused', async () => {
    const [one, other] = [await split(content(999), options), await split(content(998), options)];
    await assert.rejects(inspect([one[0], other[1]]), refused('EFORMAT', /different sets/));
    await assert.rejects(inspect([one[0], one[1], one[0]]), refused('EFORMAT', /files\[0\] and files\[2\] are both shard 0/));
    await assert.rejects(inspect([content(9000), null]), refused('EFORMAT', /none of the files/));
    await assert.rejects(inspect('abc'), TypeError);
  });

  it('keep names unchanged, even those that are not text', async () => {
    for (const name of ['', '\ufeffmark', 'ä ö', 'x'.repeat(229)]) {
      const files = await split(content(100), { ...options, name });
      assert.equal((await join(files)).name, name);
    }
    const vm = await engine();
    const checksum = (bytes, seed) => vm.checksum(bytes, seed);
    const other = new TextEncoder().encode('file.bin');
    const files = await split(content(100), options);
    for (const file of files) {
      const header = readHeader(file, checksum);
      const payload = new Uint8Array(payloadBytes({ ...header, length: 100 }));
      assert.equal(readBlocks(file, header, payload.length, checksum, payload).size, 0);
      const renamed = { ...header, name: new Uint8Array([0xff, 0xfe, ...other]) };
      file.set(writeShard(renamed, payload, readEnd(file, header, checksum), checksum));
    }
    const lost = [null, ...files.slice(1)];
    assert.deepEqual((await repair(lost)).shards, files);
    assert.equal((await join(lost)).name, '\ufffd\ufffdfile.bin');
  });

  it('with a wrong name, block or shape are refused', async () => {
    const bytes = content(10);
    for (const name of ['a/b', '..', 'x'.repeat(230), 'ä'.repeat(115)]) {
      await assert.rejects(split(bytes, { ...options, name }), RangeError);
    }
    await assert.rejects(split(bytes, { ...options, block: 100 }), /multiple of 64/);
    await assert.rejects(split(bytes, { ...options, block: 2 << 20 }), RangeError);
    await assert.rejects(split('text', options), TypeError);
    await assert.rejects(split(bytes, { ...options, k: 255 }), RangeError);
    await assert.rejects(split(bytes, { ...options, l: 1 }), /only lrc has groups/);
    for (const l of [undefined, 0, 2, 5]) await assert.rejects(split(bytes, { ...options, code: 'lrc', l }), /l must be 1 to k/);
    const vm = await engine();
    const checksum = (bytes, seed) => vm.checksum(bytes, seed);
    const [file] = await split(bytes, options);
    for (const [l, code] of [[1, 'cauchy'], [0, 'lrc'], [2, 'lrc']]) {
      const raw = writeHeader({ ...readHeader(file, checksum), l, code }, checksum);
      assert.throws(() => readHeader(raw, checksum), refused('EFORMAT', /groups|l must be/));
    }
  });

  it('report progress, up to the end of each phase', async () => {
    const seen = [];
    const onProgress = (progress) => seen.push(progress);
    const files = await split(content(5 << 20), { ...options, block: 65536, onProgress });
    files[0] = null;
    await join(files, { onProgress });
    for (const phase of ['encode', 'checksum', 'rebuild']) {
      const { done, total } = seen.findLast((progress) => progress.phase === phase);
      assert.equal(done, total, phase);
    }
    assert.ok(seen.filter(({ phase }) => phase === 'encode').length > 2);
  });

  it('are named as gfsmith-shards names them', () => {
    assert.equal(shardName('x', 7), 'x.g1.007.gfs');
    for (const index of [0, 7, 254]) assert.equal(shardIndex(shardName('a.g1.003.gfs', index, 12)), index);
    for (const name of ['', 'x.gfs', 'x.g1.07.gfs', 'x.g.007.gfs', 'x.g1.007.gfs2', '1.007.gfs']) assert.equal(shardIndex(name), null);
  });
});
