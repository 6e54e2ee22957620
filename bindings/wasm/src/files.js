// A file as k + m shard files, and the reverse.
import { Codec } from './codec.js';
import { engine } from './engine.js';
import { GfsmithError, byteArray, integer } from './errors.js';
import { MAX_BLOCK, equal, fault, hex, nameText, payloadBytes, pieces, readBlocks, readEnd, readHeader } from './shardfile.js';
import { sameSet, shardBytes, writeShard } from './shardfile.js';

/** Bytes of each shard that are processed between two reports of progress. */
const STEP = 1 << 20;

/** @typedef {import('./shardfile.js').Header} Header */
/** @typedef {import('./shardfile.js').End} End */
/** @typedef {import('./shardfile.js').Checksum} Checksum */
/** @typedef {import('./index.js').Progress} Progress */

/**
 * A set of shards that has been read.
 * @typedef {object} Examined
 * @property {Header} header
 * @property {End} end
 * @property {import('./index.js').Report} report
 * @property {(Uint8Array | null)[]} payloads by index, zeros in place of lost blocks; null: all blocks are lost
 * @property {Set<number>[]} lost the stripes with a lost block, by index of the shard; empty for a payload that is null
 */

/**
 * Reports progress as bytes done of a total.
 * @param {((progress: Progress) => void) | undefined} report
 * @param {Progress['phase']} phase
 * @param {number} total
 */
function meter(report, phase, total) {
  let done = 0;
  report?.({ phase, done, total });
  return (/** @type {number} */ bytes) => {
    done += bytes;
    report?.({ phase, done, total });
  };
}

/**
 * @param {import('./engine.js').Engine} vm
 * @returns {Checksum}
 */
const checksumOf = (vm) => (bytes, seed) => vm.checksum(bytes, seed);

/**
 * @param {(Uint8Array | null)[]} shards
 * @param {number} at
 * @returns {(Uint8Array | null)[]}
 */
const window = (shards, at) => shards.map((shard) => shard && shard.subarray(at, at + STEP));

/**
 * Run some work with the codec of a set.
 * @template T
 * @param {import('./engine.js').Engine} vm
 * @param {{code: string, k: number, m: number, l: number}} shape
 * @param {(codec: Codec) => T} work
 * @returns {Promise<T>}
 */
async function withCodec(vm, { code, k, m, l }, work) {
  const codec = await Codec.create({ code, k, m, l, kernels: vm.kernels });
  try {
    return work(codec);
  } finally {
    codec.free();
  }
}

/** The name of a shard file, as in `gfsmith-shards`.
 * @param {string} name
 * @param {number} index
 * @param {number} [generation]
 */
export function shardName(name, index, generation = 1) {
  return `${name}.g${generation}.${String(index).padStart(3, '0')}.gfs`;
}

/** The index in the name of a shard file, null if it is another name.
 * @param {string} name
 */
export function shardIndex(name) {
  const found = /\.g\d+\.(\d{3})\.gfs$/.exec(name);
  return found && Number(found[1]);
}

/**
 * @param {Uint8Array} bytes
 * @param {import('./index.js').SplitOptions} options
 * @returns {Promise<Uint8Array[]>}
 */
export async function split(bytes, options) {
  const { name, code = 'cauchy', k, m, l = 0, block = 65536, generation = 1, kernels, onProgress } = options ?? {};
  const { id = crypto.getRandomValues(new Uint8Array(16)) } = options ?? {};
  byteArray('bytes', bytes);
  byteArray('id', id);
  integer('block', block, 64, MAX_BLOCK);
  if (id.length !== 16) throw new RangeError(`id has ${id.length} bytes: must be 16`);
  const vm = await engine(kernels);
  return withCodec(vm, { code, k, m, l }, (codec) => {
    const text = new TextEncoder().encode(String(name));
    /** @type {Header} */
    const header = { index: 0, k, m, l, block, content: 0, generation, id, code, name: text };
    const why = fault(header);
    if (why) throw new RangeError(why);
    const shape = { k, block, length: bytes.length };
    const size = payloadBytes(shape);
    const payloads = Array.from({ length: k + m }, () => new Uint8Array(size));
    for (const piece of pieces(shape)) {
      payloads[piece.shard].set(bytes.subarray(piece.at, piece.at + piece.size), piece.offset);
    }
    const encoded = meter(onProgress, 'encode', size * k);
    for (let at = 0; at < size; at += STEP) {
      const part = /** @type {Uint8Array[]} */ (window(payloads, at));
      codec.encode(part.slice(0, k), part.slice(k));
      encoded(part[0].length * k);
    }
    const hashed = meter(onProgress, 'checksum', bytes.length + size * (k + m));
    const end = { length: bytes.length, original: vm.checksum(bytes) };
    hashed(bytes.length);
    return payloads.map((payload, index) => {
      const file = writeShard({ ...header, index }, payload, end, checksumOf(vm));
      hashed(size);
      return file;
    });
  });
}

/**
 * A file that is a shard of the set.
 * @typedef {object} Found
 * @property {Header} header
 * @property {number} position
 * @property {string | null} broken the reason if the file has no valid header: then the header is derived
 */

/**
 * Refuse files of several sets, or an index that occurs twice.
 * @param {Found[]} found
 * @param {Checksum} checksum
 */
function requireOneSet(found, checksum) {
  const other = found.find(({ header }) => !sameSet(header, found[0].header, checksum));
  if (other) {
    const [a, b] = [found[0], other].map(({ header, position }) => `files[${position}] (of "${nameText(header.name)}")`);
    throw new GfsmithError('EFORMAT', `${a} and ${b} are shards of different sets`);
  }
  found.forEach(({ header, position }, n) => {
    const twin = found.slice(0, n).find((each) => each.header.index === header.index);
    if (twin) {
      const reason = `files[${twin.position}] and files[${position}] are both shard ${header.index}`;
      throw new GfsmithError('EFORMAT', reason);
    }
  });
}

/**
 * Give files without a valid header the indices that the caller states. The other headers determine theirs, and the
 * checksums of their records match only if the index is right. Appends to `found`, and returns the other files.
 * @param {import('./index.js').Unreadable[]} headless
 * @param {Found[]} found
 * @param {readonly (number | null | undefined)[] | undefined} indices
 */
function place(headless, found, indices) {
  const { k, m } = found[0].header;
  const free = new Set(Array(k + m).keys());
  for (const { header } of found) free.delete(header.index);
  return headless.filter(({ position, reason }) => {
    const index = indices ? indices[position] : position;
    if (typeof index !== 'number' || !free.delete(index)) return true;
    found.push({ header: { ...found[0].header, index }, position, broken: reason });
    return false;
  });
}

/**
 * Sort files by their headers: one set, no index twice.
 * @param {import('./engine.js').Engine} vm
 * @param {readonly (Uint8Array | null | undefined)[]} files
 * @param {readonly (number | null | undefined)[] | undefined} indices
 */
function sort(vm, files, indices) {
  if (!Array.isArray(files)) throw new TypeError('files must be an array of Uint8Array, null for missing files');
  if (indices !== undefined && !Array.isArray(indices)) throw new TypeError('indices must be an array of numbers or null');
  /** @type {Found[]} */
  const found = [];
  /** @type {import('./index.js').Unreadable[]} */
  const headless = [];
  files.forEach((file, position) => {
    if (!file) return;
    try {
      const header = readHeader(byteArray(`files[${position}]`, file), checksumOf(vm));
      found.push({ header, position, broken: null });
    } catch (error) {
      if (!(error instanceof GfsmithError) || error.code !== 'EFORMAT') throw error;
      headless.push({ position, reason: error.message });
    }
  });
  if (found.length === 0) throw new GfsmithError('EFORMAT', 'none of the files is a shard with a readable header');
  requireOneSet(found, checksumOf(vm));
  const unreadable = place(headless, found, indices);
  return { found, unreadable };
}

/**
 * The trailer of a set: that of every shard whose trailer is good. Null: of none.
 * @param {(End | null)[]} ends
 * @param {{position: number}[]} found
 */
function agreed(ends, found) {
  const first = ends.findIndex((end) => end !== null);
  if (first < 0) return null;
  const { length, original } = /** @type {End} */ (ends[first]);
  const other = ends.findIndex((end) => end && (end.length !== length || !equal(end.original, original)));
  if (other >= 0) {
    const reason = `files[${found[other].position}] has another trailer than files[${found[first].position}]`;
    throw new GfsmithError('EFORMAT', reason);
  }
  return { length, original };
}

/**
 * The reason why a shard is damaged, or null.
 * @param {string | null} broken
 * @param {Set<number>} lost
 * @param {End | null} end
 * @param {number} size of the file
 * @param {number} whole its size if it is intact
 */
function damage(broken, lost, end, size, whole) {
  const [first] = lost;
  if (broken) return broken;
  if (size < whole) return `truncated: ${size} of ${whole} bytes`;
  if (lost.size === 1) return `checksum mismatch in block ${first}`;
  if (lost.size > 1) return `checksum mismatch in ${lost.size} blocks, the first block ${first}`;
  if (end === null) return 'the trailer is damaged';
  return size > whole ? `${size} bytes instead of ${whole}` : null;
}

/**
 * Can the code repair this loss? Empty shards ask this without any data.
 * @param {Codec} codec
 * @param {boolean[]} good
 */
function canRepair(codec, good) {
  try {
    codec.reconstruct(good.map((each) => (each ? new Uint8Array(0) : null)));
    return true;
  } catch (error) {
    if (error instanceof GfsmithError && (error.code === 'ETOOMANY' || error.code === 'ESINGULAR')) return false;
    throw error;
  }
}

/**
 * The number of stripes whose lost blocks the code cannot repair.
 * @param {Codec} codec
 * @param {number} stripes
 * @param {(Uint8Array | null)[]} payloads
 * @param {Set<number>[]} lost
 */
function countLost(codec, stripes, payloads, lost) {
  let count = 0;
  for (const { from, to } of ranges(lost, stripes)) {
    const good = payloads.map((payload, i) => payload !== null && !lost[i].has(from));
    if (!canRepair(codec, good)) count += to - from;
  }
  return count;
}

/**
 * @param {import('./engine.js').Engine} vm
 * @param {readonly (Uint8Array | null | undefined)[]} files
 * @param {import('./index.js').ReadOptions} options
 * @returns {Promise<Examined>}
 */
async function examine(vm, files, { indices, onProgress }) {
  const { found, unreadable } = sort(vm, files, indices);
  const { k, m, l, code, block, generation, name: rawName, id } = found[0].header;
  /** @type {import('./index.js').ShardReport[]} */
  const shards = Array.from({ length: k + m }, (_, index) => ({ index, state: 'missing', position: null, reason: 'missing' }));
  /** @type {(Uint8Array | null)[]} */
  const payloads = shards.map(() => null);
  const lost = shards.map(() => /** @type {Set<number>} */ (new Set()));
  const given = found.map(({ position }) => /** @type {Uint8Array} */ (files[position]));
  const total = given.reduce((sum, file) => sum + file.length, 0);
  const hashed = meter(onProgress, 'checksum', total);
  const ends = found.map(({ header }, n) => readEnd(given[n], header, checksumOf(vm)));
  const end = agreed(ends, found);
  const length = end?.length ?? 0;
  const size = payloadBytes({ k, block, length });
  // A trailer may state any length: with fewer bytes than k shards have, the original cannot be restored.
  const enough = total >= k * size;
  found.forEach(({ header, position, broken }, n) => {
    const { index } = header;
    payloads[index] = end && enough ? new Uint8Array(size) : null;
    lost[index] = readBlocks(given[n], header, size, checksumOf(vm), payloads[index]);
    hashed(given[n].length);
    const reason = damage(broken, lost[index], ends[n], given[n].length, end ? shardBytes(block, size) : 0);
    shards[index] = { index, state: reason ? 'damaged' : 'intact', position, reason };
  });
  const stripes = Math.ceil(size / block);
  const lostStripes = enough
    ? await withCodec(vm, found[0].header, (codec) => countLost(codec, stripes, payloads, lost))
    : stripes;
  const state = { stripes, lostStripes, repairable: end !== null && lostStripes === 0 };
  const shape = { id: hex(id), k, m, l, code, block, generation, length, payloadBytes: size, name: nameText(rawName) };
  const damaged = shards.filter((shard) => shard.state !== 'intact').length;
  return {
    header: found[0].header,
    end: end ?? { length: 0, original: new Uint8Array(16) }, // not repairable
    report: { ...shape, shards, unreadable, lost: damaged, ...state },
    payloads,
    lost,
  };
}

/** @param {import('./index.js').Report} report */
function requireRepairable({ lostStripes, stripes, repairable, code, k, m, name }) {
  if (lostStripes > 0) {
    const reason = `"${name}": ${lostStripes} of ${stripes} stripes have lost blocks that ${code} ${k}+${m} cannot repair`;
    throw new GfsmithError('ETOOMANY', reason);
  }
  if (!repairable) throw new GfsmithError('EFORMAT', `"${name}": no shard has an intact trailer`);
}

/**
 * The ranges of stripes with the same lost blocks, apart from those of missing shards.
 * @param {Set<number>[]} lost
 * @param {number} stripes
 * @returns {Generator<{from: number, to: number}>}
 */
function* ranges(lost, stripes) {
  const edges = new Set([stripes]);
  for (const each of lost) for (const n of each) edges.add(n).add(n + 1);
  let from = 0;
  for (const to of [...edges].sort((a, b) => a - b)) {
    if (to > from) yield { from, to };
    from = to;
  }
}

/**
 * Rebuild the lost blocks of the wanted shards in place; payloads of missing ones are created.
 * @param {import('./engine.js').Engine} vm
 * @param {Examined} set
 * @param {number[]} wanted
 * @param {((progress: Progress) => void) | undefined} onProgress
 * @returns {Promise<(Uint8Array | null)[]>} the payloads
 */
async function rebuild(vm, { header, report, payloads, lost }, wanted, onProgress) {
  const { payloadBytes: size, stripes } = report;
  const whole = payloads.map((payload, i) => payload ?? (wanted.includes(i) ? new Uint8Array(size) : null));
  const rebuilt = meter(onProgress, 'rebuild', size);
  const { block } = header;
  return withCodec(vm, header, (codec) => {
    for (const { from, to } of ranges(lost, stripes)) {
      const good = payloads.map((payload, i) => (lost[i].has(from) ? null : payload));
      const targets = wanted.filter((index) => !good[index]);
      const end = Math.min(to * block, size);
      for (let at = from * block; at < end; at += STEP) {
        const until = Math.min(at + STEP, end);
        const part = good.map((payload) => payload && payload.subarray(at, until));
        if (targets.length > 0) {
          const made = codec.reconstruct(part, { wanted: targets });
          for (const index of targets) whole[index]?.set(/** @type {Uint8Array} */ (made[index]), at);
        }
        rebuilt(until - at);
      }
    }
    return whole;
  });
}

/**
 * The original from all data payloads, compared with its checksum.
 * @param {import('./engine.js').Engine} vm
 * @param {Header} header
 * @param {End} end
 * @param {(Uint8Array | null)[]} payloads
 */
function assemble(vm, { k, block, name }, { length, original }, payloads) {
  const bytes = new Uint8Array(length);
  for (const { at, size, shard, offset } of pieces({ k, block, length })) {
    bytes.set(/** @type {Uint8Array} */ (payloads[shard]).subarray(offset, offset + size), at);
  }
  if (!equal(vm.checksum(bytes), original)) {
    const reason = `"${nameText(name)}": the shards do not give the original: its checksum differs`;
    throw new GfsmithError('EFORMAT', reason);
  }
  return bytes;
}

/**
 * @param {readonly (Uint8Array | null | undefined)[]} files
 * @param {import('./index.js').ReadOptions} [options]
 */
export async function inspect(files, options = {}) {
  return (await examine(await engine(options.kernels), files, options)).report;
}

/**
 * @param {readonly (Uint8Array | null | undefined)[]} files
 * @param {import('./index.js').ReadOptions} [options]
 * @returns {Promise<import('./index.js').Repair>}
 */
export async function repair(files, options = {}) {
  const { kernels, onProgress } = options;
  const vm = await engine(kernels);
  const set = await examine(vm, files, options);
  const { header, end, report } = set;
  requireRepairable(report);
  const lost = report.shards.filter(({ state }) => state !== 'intact').map(({ index }) => index);
  const wanted = [...new Set([...Array(header.k).keys(), ...lost])];
  const payloads = await rebuild(vm, set, wanted, onProgress);
  assemble(vm, header, end, payloads);
  const shards = report.shards.map(({ index, state, position }) => {
    if (state === 'intact') return /** @type {Uint8Array} */ (files[Number(position)]);
    return writeShard({ ...header, index }, /** @type {Uint8Array} */ (payloads[index]), end, checksumOf(vm));
  });
  return { shards, rebuilt: lost, report };
}

/**
 * @param {readonly (Uint8Array | null | undefined)[]} files
 * @param {import('./index.js').ReadOptions} [options]
 * @returns {Promise<{name: string, bytes: Uint8Array}>}
 */
export async function join(files, options = {}) {
  const { kernels, onProgress } = options;
  const vm = await engine(kernels);
  const set = await examine(vm, files, options);
  const { header, end, report } = set;
  requireRepairable(report);
  const payloads = await rebuild(vm, set, [...Array(header.k).keys()], onProgress);
  return { name: report.name, bytes: assemble(vm, header, end, payloads) };
}
