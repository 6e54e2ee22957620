// A file as k + m shard files, and the reverse.
import { Codec } from './codec.js';
import { engine } from './engine.js';
import { GfsmithError, byteArray, integer } from './errors.js';
import { MAX_BLOCK, equal, fault, hex, nameText, payloadBytes, pieces, readHeader, readShard, sameSet, writeShard } from './shardfile.js';

/** Bytes of each shard that are processed between two reports of progress. */
const STEP = 1 << 20;

/** @typedef {import('./shardfile.js').Header} Header */
/** @typedef {import('./shardfile.js').End} End */
/** @typedef {import('./shardfile.js').Checksum} Checksum */
/** @typedef {import('./index.js').Progress} Progress */

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

/** The name of a shard file, as in `gfsmith-shards`.
 * @param {string} name
 * @param {number} index
 * @param {number} [generation]
 */
export function shardName(name, index, generation = 1) {
  return `${name}.g${generation}.${String(index).padStart(3, '0')}.gfs`;
}

/**
 * @param {Uint8Array} bytes
 * @param {import('./index.js').SplitOptions} options
 * @returns {Promise<Uint8Array[]>}
 */
export async function split(bytes, options) {
  const { name, code = 'cauchy', k, m, block = 65536, generation = 1, kernels, onProgress } = options ?? {};
  const { id = crypto.getRandomValues(new Uint8Array(16)) } = options ?? {};
  byteArray('bytes', bytes);
  byteArray('id', id);
  integer('block', block, 64, MAX_BLOCK);
  if (id.length !== 16) throw new RangeError(`id has ${id.length} bytes: must be 16`);
  const codec = await Codec.create({ code, k, m, kernels });
  try {
    const vm = await engine(codec.kernels);
    /** @type {Header} */
    const header = { index: 0, k, m, block, content: 0, generation, id, code, name: new TextEncoder().encode(String(name)) };
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
  } finally {
    codec.free();
  }
}

/**
 * Sort files by their headers: one set, no index twice.
 * @param {import('./engine.js').Engine} vm
 * @param {(Uint8Array | null | undefined)[]} files
 */
function sort(vm, files) {
  if (!Array.isArray(files)) throw new TypeError('files must be an array of Uint8Array, null for missing files');
  /** @type {{header: Header, position: number}[]} */
  const found = [];
  /** @type {import('./index.js').Unreadable[]} */
  const unreadable = [];
  files.forEach((file, position) => {
    if (!file) return;
    try {
      const header = readHeader(byteArray(`files[${position}]`, file), checksumOf(vm));
      found.push({ header, position });
    } catch (error) {
      if (!(error instanceof GfsmithError) || error.code !== 'EFORMAT') throw error;
      unreadable.push({ position, reason: error.message });
    }
  });
  if (found.length === 0) throw new GfsmithError('EFORMAT', 'none of the files is a shard with a readable header');
  const other = found.find(({ header }) => !sameSet(header, found[0].header, checksumOf(vm)));
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
  return { found, unreadable };
}

/**
 * @param {import('./engine.js').Engine} vm
 * @param {(Uint8Array | null | undefined)[]} files
 * @param {((progress: Progress) => void) | undefined} onProgress
 * @returns {{header: Header, end: End, report: import('./index.js').Report, intact: (Uint8Array | null)[]}}
 */
function examine(vm, files, onProgress) {
  const { found, unreadable } = sort(vm, files);
  const { header } = found[0];
  /** @type {import('./index.js').ShardReport[]} */
  const shards = Array.from({ length: header.k + header.m }, (_, index) => {
    return { index, state: 'missing', position: null, reason: 'missing' };
  });
  /** @type {(Uint8Array | null)[]} */
  const intact = shards.map(() => null);
  /** @type {End | null} */
  let end = null;
  const total = found.reduce((sum, { position }) => sum + /** @type {any} */ (files)[position].length, 0);
  const hashed = meter(onProgress, 'checksum', total);
  for (const { header: own, position } of found) {
    const file = /** @type {Uint8Array} */ (files[position]);
    const read = readShard(file, own, checksumOf(vm));
    hashed(file.length);
    const reason = typeof read === 'string' ? read : null;
    shards[own.index] = { index: own.index, state: reason ? 'damaged' : 'intact', position, reason };
    if (typeof read === 'string') continue;
    intact[own.index] = read.payload;
    if (end && (end.length !== read.end.length || !equal(end.original, read.end.original))) {
      throw new GfsmithError('EFORMAT', `files[${position}] has another trailer than the shards before it`);
    }
    end = read.end;
  }
  const lost = shards.filter(({ state }) => state !== 'intact').length;
  const { k, m, code, block, generation } = header;
  const [name, id] = [nameText(header.name), hex(header.id)];
  end ??= { length: 0, original: new Uint8Array(16) }; // no shard is intact, so the set is not repairable
  const { length } = end;
  const size = payloadBytes({ k, block, length });
  const sizes = { length, payloadBytes: size };
  return {
    header,
    end,
    report: { id, k, m, code, block, generation, ...sizes, name, shards, unreadable, lost, repairable: lost <= m },
    intact,
  };
}

/** @param {import('./index.js').Report} report */
function requireRepairable({ lost, repairable, k, m, name }) {
  if (!repairable) {
    throw new GfsmithError(
      'ETOOMANY',
      `"${name}": ${lost} of ${k + m} shards are lost, but with m = ${m} at most ${m} can be rebuilt`,
    );
  }
}

/**
 * The payloads of the wanted shards, rebuilt if they are not intact.
 * @param {import('./engine.js').Engine} vm
 * @param {Header} header
 * @param {number} size of a payload
 * @param {(Uint8Array | null)[]} intact
 * @param {number[]} wanted
 * @param {((progress: Progress) => void) | undefined} onProgress
 */
async function rebuild(vm, { code, k, m }, size, intact, wanted, onProgress) {
  const targets = wanted.filter((index) => !intact[index]);
  /** @type {(Uint8Array | null)[]} */
  const whole = intact.map((shard, i) => shard ?? (targets.includes(i) ? new Uint8Array(size) : null));
  if (targets.length === 0) return whole;
  const codec = await Codec.create({ code, k, m, kernels: vm.kernels });
  try {
    const rebuilt = meter(onProgress, 'rebuild', size * targets.length);
    for (let at = 0; at < size; at += STEP) {
      const part = codec.reconstruct(window(intact, at), { wanted: targets });
      for (const index of targets) {
        const piece = /** @type {Uint8Array} */ (part[index]);
        whole[index]?.set(piece, at);
        rebuilt(piece.length);
      }
    }
  } finally {
    codec.free();
  }
  return whole;
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
 * @param {(Uint8Array | null | undefined)[]} files
 * @param {import('./index.js').FileOptions} [options]
 */
export async function inspect(files, options = {}) {
  const { kernels, onProgress } = options;
  return examine(await engine(kernels), files, onProgress).report;
}

/**
 * @param {(Uint8Array | null | undefined)[]} files
 * @param {import('./index.js').FileOptions} [options]
 * @returns {Promise<import('./index.js').Repair>}
 */
export async function repair(files, options = {}) {
  const { kernels, onProgress } = options;
  const vm = await engine(kernels);
  const { header, end, report, intact } = examine(vm, files, onProgress);
  requireRepairable(report);
  const lost = report.shards.filter(({ state }) => state !== 'intact').map(({ index }) => index);
  const wanted = [...new Set([...Array(header.k).keys(), ...lost])];
  const payloads = await rebuild(vm, header, report.payloadBytes, intact, wanted, onProgress);
  assemble(vm, header, end, payloads);
  const shards = report.shards.map(({ index, state, position }) => {
    if (state === 'intact') return /** @type {Uint8Array} */ (files[Number(position)]);
    return writeShard({ ...header, index }, /** @type {Uint8Array} */ (payloads[index]), end, checksumOf(vm));
  });
  return { shards, rebuilt: lost, report };
}

/**
 * @param {(Uint8Array | null | undefined)[]} files
 * @param {import('./index.js').FileOptions} [options]
 * @returns {Promise<{name: string, bytes: Uint8Array}>}
 */
export async function join(files, options = {}) {
  const { kernels, onProgress } = options;
  const vm = await engine(kernels);
  const { header, end, report, intact } = examine(vm, files, onProgress);
  requireRepairable(report);
  const data = [...Array(header.k).keys()];
  const payloads = await rebuild(vm, header, report.payloadBytes, intact, data, onProgress);
  return { name: report.name, bytes: assemble(vm, header, end, payloads) };
}
