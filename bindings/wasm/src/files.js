// A file as k + m shard files, and the reverse.
import { Codec } from './codec.js';
import { engine } from './engine.js';
import { GfsmithError, byteArray, integer } from './errors.js';
import { HEADER, MAX_BLOCK, equal, fault, nameText, payloadBytes, pieces, readHeader, setId, writeHeader } from './shardfile.js';

/** Bytes of each shard that are processed between two reports of progress. */
const STEP = 1 << 20;

/** @typedef {import('./shardfile.js').Header} Header */
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

/** @param {Uint8Array} file */
const payload = (file) => file.subarray(HEADER);

/**
 * @param {(Uint8Array | null)[]} shards
 * @param {number} at
 * @returns {(Uint8Array | null)[]}
 */
const window = (shards, at) => shards.map((shard) => shard && shard.subarray(at, at + STEP));

/** The name of a shard file, as in `stripe`.
 * @param {string} name
 * @param {number} index
 */
export function shardName(name, index) {
  return `${name}.${String(index).padStart(3, '0')}.gfs`;
}

/**
 * @param {Uint8Array} bytes
 * @param {import('./index.js').SplitOptions} options
 * @returns {Promise<Uint8Array[]>}
 */
export async function split(bytes, options) {
  const { name, code = 'cauchy', k, m, block = 65536, kernels, onProgress } = options ?? {};
  byteArray('bytes', bytes);
  integer('block', block, 64, MAX_BLOCK);
  const codec = await Codec.create({ code, k, m, kernels });
  try {
    const vm = await engine(codec.kernels);
    /** @type {Header} */
    const header = {
      ...{ index: 0, k, m, block, length: bytes.length, code, name: new TextEncoder().encode(String(name)) },
      original: new Uint8Array(16),
      payloads: [],
    };
    const why = fault(header);
    if (why) throw new RangeError(why);
    const size = payloadBytes(header);
    const files = Array.from({ length: k + m }, () => new Uint8Array(HEADER + size));
    for (const piece of pieces(header)) {
      files[piece.shard].set(bytes.subarray(piece.at, piece.at + piece.size), HEADER + piece.offset);
    }
    const encoded = meter(onProgress, 'encode', size * k);
    for (let at = 0; at < size; at += STEP) {
      const part = /** @type {Uint8Array[]} */ (window(files.map(payload), at));
      codec.encode(part.slice(0, k), part.slice(k));
      encoded(part[0].length * k);
    }
    const hashed = meter(onProgress, 'checksum', bytes.length + size * (k + m));
    header.original = vm.checksum(bytes);
    hashed(bytes.length);
    header.payloads = files.map((file) => {
      const sum = vm.checksum(payload(file));
      hashed(size);
      return sum;
    });
    files.forEach((file, index) => file.set(writeHeader({ ...header, index }, (part) => vm.checksum(part))));
    return files;
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
  /** @type {{header: Header, id: string, position: number}[]} */
  const found = [];
  /** @type {import('./index.js').Unreadable[]} */
  const unreadable = [];
  files.forEach((file, position) => {
    if (!file) return;
    try {
      const header = readHeader(byteArray(`files[${position}]`, file), (part) => vm.checksum(part));
      found.push({ header, id: setId(file), position });
    } catch (error) {
      if (!(error instanceof GfsmithError) || error.code !== 'EFORMAT') throw error;
      unreadable.push({ position, reason: error.message });
    }
  });
  if (found.length === 0) throw new GfsmithError('EFORMAT', 'none of the files is a shard with a readable header');
  const other = found.find(({ id }) => id !== found[0].id);
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
 * @returns {{header: Header, report: import('./index.js').Report, intact: (Uint8Array | null)[]}}
 */
function examine(vm, files, onProgress) {
  const { found, unreadable } = sort(vm, files);
  const { header, id } = found[0];
  const size = payloadBytes(header);
  /** @type {import('./index.js').ShardReport[]} */
  const shards = header.payloads.map((_, index) => ({ index, state: 'missing', position: null, reason: 'missing' }));
  const hashed = meter(onProgress, 'checksum', found.length * size);
  for (const { header: own, position } of found) {
    const { length } = /** @type {Uint8Array} */ (files[position]);
    const body = payload(/** @type {Uint8Array} */ (files[position]));
    let reason = null;
    if (body.length !== size) {
      reason = `${body.length < size ? 'truncated' : 'too long'}: ${length} bytes instead of ${HEADER + size}`;
    } else if (!equal(vm.checksum(body), header.payloads[own.index])) {
      reason = 'checksum mismatch in the payload';
    }
    hashed(size);
    shards[own.index] = { index: own.index, state: reason ? 'damaged' : 'intact', position, reason };
  }
  const lost = shards.filter(({ state }) => state !== 'intact').length;
  const { k, m, code, block, length } = header;
  const name = nameText(header.name);
  return {
    header,
    report: { id, k, m, code, block, length, name, payloadBytes: size, shards, unreadable, lost, repairable: lost <= m },
    intact: shards.map((s) => (s.state === 'intact' ? payload(/** @type {any} */ (files)[Number(s.position)]) : null)),
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
 * The payloads of the wanted shards, rebuilt if they are not intact, and compared with the checksums stored in
 * the others.
 * @param {import('./engine.js').Engine} vm
 * @param {Header} header
 * @param {(Uint8Array | null)[]} intact
 * @param {number[]} wanted
 * @param {((progress: Progress) => void) | undefined} onProgress
 */
async function rebuild(vm, { code, k, m, payloads, block, length }, intact, wanted, onProgress) {
  const size = payloadBytes({ k, block, length });
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
  for (const index of targets) {
    if (!equal(vm.checksum(/** @type {Uint8Array} */ (whole[index])), payloads[index])) {
      throw new GfsmithError('EFORMAT', `the rebuilt shard ${index} does not have the checksum stored in the others`);
    }
  }
  return whole;
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
  const { header, report, intact } = examine(vm, files, onProgress);
  requireRepairable(report);
  const lost = report.shards.filter(({ state }) => state !== 'intact').map(({ index }) => index);
  const payloads = await rebuild(vm, header, intact, lost, onProgress);
  const shards = report.shards.map(({ index, state, position }) => {
    if (state === 'intact') return /** @type {Uint8Array} */ (files[Number(position)]);
    const file = new Uint8Array(HEADER + report.payloadBytes);
    file.set(writeHeader({ ...header, index }, (part) => vm.checksum(part)));
    file.set(/** @type {Uint8Array} */ (payloads[index]), HEADER);
    return file;
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
  const { header, report, intact } = examine(vm, files, onProgress);
  requireRepairable(report);
  const payloads = await rebuild(vm, header, intact, [...Array(header.k).keys()], onProgress);
  const bytes = new Uint8Array(header.length);
  for (const { at, size, shard, offset } of pieces(header)) {
    bytes.set(/** @type {Uint8Array} */ (payloads[shard]).subarray(offset, offset + size), at);
  }
  if (!equal(vm.checksum(bytes), header.original)) {
    throw new GfsmithError('EFORMAT', `"${report.name}": the shards do not give the original: its checksum differs`);
  }
  return { name: report.name, bytes };
}
