// The shard file of apps/stripe (its README describes the format): header and geometry. Little-endian,
// checksums XXH3-128. Files are exchangeable with `stripe` in both directions.
import { GfsmithError } from './errors.js';

export const HEADER = 8192;
export const MAX_BLOCK = 1 << 20;
const MAGIC = [0x89, 0x47, 0x46, 0x53, 0x0d, 0x0a, 0x1a, 0x0a];
const VERSION = 1;
const POLYNOMIAL = 0x11d;
const SHARED = [64, 8176]; // equal in all shards of a set
const NAME_MAX = 247;
const CODE_MAX = 31;
const AT = {
  version: 8,
  headerBytes: 12,
  id: 16,
  index: 32,
  polynomial: 64,
  k: 68,
  m: 72,
  block: 76,
  length: 80,
  original: 88,
  code: 104,
  name: 136,
  payloads: 4096,
  sum: 8176,
};

/**
 * @typedef {object} Header
 * @property {number} index
 * @property {number} k
 * @property {number} m
 * @property {number} block
 * @property {number} length of the original
 * @property {Uint8Array} original its checksum
 * @property {string} code
 * @property {Uint8Array} name of the original, in bytes: any but 0 and "/", UTF-8 or not
 * @property {Uint8Array[]} payloads checksums of the payloads
 */

/** @typedef {(bytes: Uint8Array) => Uint8Array} Checksum */

/**
 * @param {Uint8Array} a
 * @param {Uint8Array} b
 */
export function equal(a, b) {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

/** @param {Uint8Array} bytes */
export function hex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * A file name as text; bytes that are not UTF-8 become U+FFFD.
 * @param {Uint8Array} name
 */
export function nameText(name) {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(name);
}

/**
 * The reason why a header is invalid, or null.
 * @param {Header} h
 */
export function fault(h) {
  const { name } = h;
  if (h.k < 1 || h.m < 1 || h.k + h.m > 255) {
    return `k = ${h.k} and m = ${h.m}: each must be at least 1, together at most 255`;
  }
  if (h.index >= h.k + h.m) return `index ${h.index} in a set of ${h.k + h.m} shards`;
  if (h.block < 64 || h.block > MAX_BLOCK || h.block % 64 !== 0) {
    return `block = ${h.block}: must be a multiple of 64, at most ${MAX_BLOCK}`;
  }
  if (!Number.isSafeInteger(h.length)) return 'the length of the original is out of range';
  if (h.code.length < 1 || h.code.length > CODE_MAX) return `the name of a code has 1 to ${CODE_MAX} bytes`;
  const shown = nameText(name);
  if (name.length < 1 || name.length > NAME_MAX || /[/\0]/.test(shown) || shown === '.' || shown === '..') {
    return `name = "${shown}": must be a file name of 1 to ${NAME_MAX} bytes`;
  }
  return null;
}

/**
 * @param {Header} h
 * @param {Checksum} checksum
 * @returns {Uint8Array} 8192 bytes
 */
export function writeHeader(h, checksum) {
  const raw = new Uint8Array(HEADER);
  const view = new DataView(raw.buffer);
  raw.set(MAGIC);
  view.setUint32(AT.version, VERSION, true);
  view.setUint32(AT.headerBytes, HEADER, true);
  view.setUint32(AT.index, h.index, true);
  view.setUint32(AT.polynomial, POLYNOMIAL, true);
  view.setUint32(AT.k, h.k, true);
  view.setUint32(AT.m, h.m, true);
  view.setUint32(AT.block, h.block, true);
  view.setBigUint64(AT.length, BigInt(h.length), true);
  raw.set(h.original, AT.original);
  raw.set(new TextEncoder().encode(h.code), AT.code);
  raw.set(h.name, AT.name);
  h.payloads.forEach((sum, i) => raw.set(sum, AT.payloads + 16 * i));
  raw.set(checksum(raw.subarray(...SHARED)), AT.id);
  raw.set(checksum(raw.subarray(0, AT.sum)), AT.sum);
  return raw;
}

/**
 * A field up to its first zero.
 * @param {Uint8Array} raw
 * @param {number} at
 * @param {number} size
 */
function string(raw, at, size) {
  const field = raw.slice(at, at + size);
  const end = field.indexOf(0);
  return field.subarray(0, end < 0 ? size : end);
}

/**
 * The header of a shard file, accepted only if its checksum is right, each field is in its range, and encoding
 * it again gives the same bytes.
 * @param {Uint8Array} file
 * @param {Checksum} checksum
 * @returns {Header}
 */
export function readHeader(file, checksum) {
  /** @param {string} reason @returns {never} */
  const refuse = (reason) => {
    throw new GfsmithError('EFORMAT', reason);
  };
  if (file.length < MAGIC.length || MAGIC.some((byte, i) => file[i] !== byte)) refuse('not a shard file');
  if (file.length < HEADER) refuse(`truncated: ${file.length} bytes, less than a header`);
  const raw = file.slice(0, HEADER);
  const view = new DataView(raw.buffer);
  if (!equal(checksum(raw.subarray(0, AT.sum)), raw.subarray(AT.sum))) refuse('checksum mismatch in the header');
  const version = view.getUint32(AT.version, true);
  if (version !== VERSION) refuse(`format version ${version}, only version ${VERSION} is known`);
  const [k, m] = [view.getUint32(AT.k, true), view.getUint32(AT.m, true)];
  const count = Math.min(k + m, 255);
  const header = {
    index: view.getUint32(AT.index, true),
    k,
    m,
    block: view.getUint32(AT.block, true),
    length: Number(view.getBigUint64(AT.length, true)),
    original: raw.slice(AT.original, AT.original + 16),
    code: nameText(string(raw, AT.code, CODE_MAX + 1)),
    name: string(raw, AT.name, 256),
    payloads: Array.from({ length: count }, (_, i) => raw.slice(AT.payloads + 16 * i, AT.payloads + 16 * (i + 1))),
  };
  const why = fault(header);
  if (why) refuse(why);
  if (!equal(writeHeader(header, checksum), raw)) refuse('header with junk between its fields or a false set id');
  return header;
}

/**
 * The identifier of a shard's set, as text.
 * @param {Uint8Array} file with a readable header
 */
export function setId(file) {
  return hex(file.subarray(AT.id, AT.id + 16));
}

/**
 * Bytes of the payload of each shard: whole blocks, then ceil(rest / k).
 * @param {{k: number, block: number, length: number}} h
 */
export function payloadBytes({ k, block, length }) {
  const stripes = Math.floor(length / (k * block));
  return stripes * block + Math.ceil((length - stripes * k * block) / k);
}

/**
 * The pieces of the original in the payloads, in order: bytes `at` .. `at + size` of the original are bytes
 * `offset` .. `offset + size` of data shard `shard`.
 * @param {{k: number, block: number, length: number}} h
 * @returns {Generator<{at: number, size: number, shard: number, offset: number}>}
 */
export function* pieces({ k, block, length }) {
  for (let start = 0, offset = 0; start < length; start += k * block, offset += block) {
    const share = Math.min(block, Math.ceil((length - start) / k));
    for (let shard = 0; shard < k; shard++) {
      const at = start + shard * share;
      const size = Math.min(share, length - at);
      if (size > 0) yield { at, size, shard, offset };
    }
  }
}
