// Shard streams: docs/shard-format.md. Little-endian, checksums XXH3-128. Files are exchangeable with
// `gfsmith-shards` in both directions.
import { groupsFault } from './codec.js';
import { GfsmithError } from './errors.js';

export const HEADER = 512;
export const MAX_BLOCK = 1 << 20;
const MAGIC = [0x89, 0x47, 0x46, 0x53, 0x0d, 0x0a, 0x1a, 0x0a];
const VERSION = 2;
const POLYNOMIAL = 0x11d;
const NAME_MAX = 229;
const CODE_MAX = 31;
const RECORD = 32; // before the content of a block or a trailer
const TRAILER = 24;
const KIND = { block: 1, trailer: 2 };
const AT = {
  version: 8,
  headerBytes: 12,
  id: 16,
  generation: 32,
  index: 40,
  content: 44,
  polynomial: 48,
  k: 52,
  m: 56,
  l: 60,
  block: 64,
  code: 72,
  name: 104,
  sum: 496,
};

/**
 * @typedef {object} Header
 * @property {number} index
 * @property {number} k
 * @property {number} m
 * @property {number} l groups of the code `lrc`, 0 for other codes
 * @property {number} block
 * @property {number} content 0: bytes, 1: a tar archive
 * @property {number} generation
 * @property {Uint8Array} id 16 bytes, which make the set unique
 * @property {string} code
 * @property {Uint8Array} name of the original, in bytes: any but 0 and "/", UTF-8 or not
 */

/**
 * @typedef {object} End
 * @property {number} length of the original
 * @property {Uint8Array} original its checksum
 */

/** @typedef {(bytes: Uint8Array, seed?: Uint8Array) => Uint8Array} Checksum */

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
  if (h.content !== 0 && h.content !== 1) return `content = ${h.content}: must be 0 (bytes) or 1 (a tar archive)`;
  if (!Number.isSafeInteger(h.generation) || h.generation < 1) {
    return `generation = ${h.generation}: must be 1 to ${Number.MAX_SAFE_INTEGER}`;
  }
  if (h.code.length < 1 || h.code.length > CODE_MAX) return `the name of a code has 1 to ${CODE_MAX} bytes`;
  const why = groupsFault(h);
  if (why) return why;
  const shown = nameText(name);
  if (name.length > NAME_MAX || /[/\0]/.test(shown) || shown === '.' || shown === '..') {
    return `name = "${shown}": must be a file name of at most ${NAME_MAX} bytes`;
  }
  return null;
}

/**
 * @param {Header} h
 * @param {Checksum} checksum
 * @returns {Uint8Array} 512 bytes
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
  view.setUint32(AT.l, h.l, true);
  view.setUint32(AT.block, h.block, true);
  raw.set(h.id, AT.id);
  view.setBigUint64(AT.generation, BigInt(h.generation), true);
  view.setUint32(AT.content, h.content, true);
  raw.set(new TextEncoder().encode(h.code), AT.code);
  raw.set(h.name, AT.name);
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
  const header = {
    index: view.getUint32(AT.index, true),
    k: view.getUint32(AT.k, true),
    m: view.getUint32(AT.m, true),
    l: view.getUint32(AT.l, true),
    block: view.getUint32(AT.block, true),
    content: view.getUint32(AT.content, true),
    generation: Number(view.getBigUint64(AT.generation, true)),
    id: raw.slice(AT.id, AT.id + 16),
    code: nameText(string(raw, AT.code, CODE_MAX + 1)),
    name: string(raw, AT.name, 256),
  };
  const why = fault(header);
  if (why) refuse(why);
  if (!equal(writeHeader(header, checksum), raw)) refuse('header with junk between its fields, or of a code that is not available');
  return header;
}

/**
 * Do two headers belong to one set?
 * @param {Header} a
 * @param {Header} b
 * @param {Checksum} checksum
 */
export function sameSet(a, b, checksum) {
  return equal(writeHeader({ ...a, index: 0 }, checksum), writeHeader({ ...b, index: 0 }, checksum));
}

/**
 * A record: a block or a trailer.
 * @param {number} kind
 * @param {number} number
 * @param {Uint8Array} content
 * @param {Uint8Array} tag
 * @param {Checksum} checksum
 */
function record(kind, number, content, tag, checksum) {
  const raw = new Uint8Array(RECORD + content.length);
  const view = new DataView(raw.buffer);
  view.setBigUint64(16, BigInt(number), true);
  view.setUint32(24, content.length, true);
  view.setUint32(28, kind, true);
  raw.set(content, RECORD);
  raw.set(checksum(raw.subarray(16), tag), 0);
  return raw;
}

/**
 * The seed of the checksums of a shard's records.
 * @param {Uint8Array} head the 512 bytes of its header
 */
const tagOf = (head) => head.slice(AT.sum, AT.sum + 8);

/**
 * The content of the record at `at` if it is good, else null.
 * @param {Uint8Array} file
 * @param {number} at
 * @param {number} kind
 * @param {number} number
 * @param {number} most bytes of its content
 * @param {Uint8Array} tag
 * @param {Checksum} checksum
 */
function open(file, at, kind, number, most, tag, checksum) {
  if (file.length < at + RECORD) return null;
  const size = new DataView(file.buffer, file.byteOffset + at).getUint32(24, true);
  if (size < 1 || size > most || file.length < at + RECORD + size) return null;
  const content = file.subarray(at + RECORD, at + RECORD + size);
  return equal(record(kind, number, content, tag, checksum), file.subarray(at, at + RECORD + size)) ? content : null;
}

/**
 * A whole shard.
 * @param {Header} header
 * @param {Uint8Array} payload its blocks without a gap
 * @param {End} end
 * @param {Checksum} checksum
 */
export function writeShard(header, payload, end, checksum) {
  const head = writeHeader(header, checksum);
  const tag = tagOf(head);
  const stripes = Math.ceil(payload.length / header.block);
  const file = new Uint8Array(shardBytes(header.block, payload.length));
  file.set(head);
  let at = HEADER;
  for (let n = 0; n < stripes; n++) {
    const raw = record(KIND.block, n, payload.subarray(n * header.block, (n + 1) * header.block), tag, checksum);
    file.set(raw, at);
    at += raw.length;
  }
  const content = new Uint8Array(TRAILER);
  new DataView(content.buffer).setBigUint64(0, BigInt(end.length), true);
  content.set(end.original, 8);
  file.set(record(KIND.trailer, stripes, content, tag, checksum), at);
  return file;
}

/**
 * Bytes of a shard with this payload.
 * @param {number} block
 * @param {number} payload
 */
export function shardBytes(block, payload) {
  return HEADER + payload + RECORD * (Math.ceil(payload / block) + 1) + TRAILER;
}

/**
 * The good trailer at `at`, or null.
 * @param {Uint8Array} file
 * @param {number} at
 * @param {Header} header
 * @param {Uint8Array} tag
 * @param {Checksum} checksum
 * @returns {(End & {stripes: number}) | null}
 */
function trailer(file, at, { k, block }, tag, checksum) {
  if (at < HEADER || file.length < at + RECORD + TRAILER) return null;
  const stripes = Number(new DataView(file.buffer, file.byteOffset + at).getBigUint64(16, true));
  const content = open(file, at, KIND.trailer, stripes, TRAILER, tag, checksum);
  if (content?.length !== TRAILER) return null;
  const length = Number(new DataView(content.buffer, content.byteOffset).getBigUint64(0, true));
  const valid = Number.isSafeInteger(length) && stripes === Math.ceil(length / (k * block));
  return valid ? { length, original: content.slice(8), stripes } : null;
}

/**
 * The trailer of a shard, or null if it is damaged: after the last block, or, if the length of that block is
 * unknown because it is damaged, at the end of the file.
 * @param {Uint8Array} file its header may be damaged
 * @param {Header} header
 * @param {Checksum} checksum
 * @returns {End | null}
 */
export function readEnd(file, header, checksum) {
  const tag = tagOf(writeHeader(header, checksum));
  const { block } = header;
  for (let n = 0, at = HEADER; at < file.length; n++, at += RECORD + block) {
    const content = open(file, at, KIND.block, n, block - 1, tag, checksum); // an incomplete block
    for (const [place, stripes] of [[at, n], [at + RECORD + (content?.length ?? block), n + 1]]) {
      const end = trailer(file, place, header, tag, checksum);
      if (end?.stripes === stripes) return end;
    }
  }
  return trailer(file, file.length - RECORD - TRAILER, header, tag, checksum);
}

/**
 * Read the blocks of a shard into its payload. Returns the numbers of the lost ones.
 * @param {Uint8Array} file its header may be damaged
 * @param {Header} header
 * @param {number} size of the payload
 * @param {Checksum} checksum
 * @param {Uint8Array | null} payload null: only blocks within the file are checked
 */
export function readBlocks(file, header, size, checksum, payload) {
  const tag = tagOf(writeHeader(header, checksum));
  const { block } = header;
  /** @type {Set<number>} */
  const lost = new Set();
  for (let n = 0, at = HEADER; n * block < size && (payload || at < file.length); n++, at += RECORD + block) {
    const found = open(file, at, KIND.block, n, block, tag, checksum);
    if (found?.length !== Math.min(block, size - n * block)) lost.add(n);
    else payload?.set(found, n * block);
  }
  return lost;
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
