// An instance of a WebAssembly module: the choice of the module, its memory, its calls.
import { GfsmithError } from './errors.js';

/**
 * A module that an engine must accept for a variant: a function with one instruction of the set.
 * @param {number[]} body
 */
const probe = (body) =>
  WebAssembly.validate(
    Uint8Array.from([
      ...[0, 97, 115, 109, 1, 0, 0, 0], // "\0asm", version 1
      ...[1, 5, 1, 96, 0, 1, 123], // type 0: () -> v128
      ...[3, 2, 1, 0], // function 0 has type 0
      ...[10, body.length + 4, 1, body.length + 2, 0, ...body, 11],
    ]),
  );
const SPLAT = [65, 0, 253, 15]; // i32.const 0, i8x16.splat

/**
 * The modules, best first. The URLs are written out so that bundlers find the files.
 * @type {{kernels: import('./index.js').Kernels, supported: () => boolean, url: () => URL}[]}
 */
const VARIANTS = [
  {
    kernels: 'wasm_relaxed_simd',
    supported: () => probe([...SPLAT, ...SPLAT, 253, 128, 2]), // i8x16.relaxed_swizzle
    url: () => new URL('../dist/gfsmith-relaxed.wasm', import.meta.url),
  },
  {
    kernels: 'wasm_simd128',
    supported: () => probe([...SPLAT, ...SPLAT, 253, 14]), // i8x16.swizzle
    url: () => new URL('../dist/gfsmith-simd128.wasm', import.meta.url),
  },
  {
    kernels: 'scalar',
    supported: () => true,
    url: () => new URL('../dist/gfsmith-scalar.wasm', import.meta.url),
  },
];

/** The kernel sets that this JavaScript engine can run, best first. */
export function supportedKernels() {
  return VARIANTS.filter((variant) => variant.supported()).map((variant) => variant.kernels);
}

/**
 * @param {URL} url
 * @returns {Promise<WebAssembly.Module>}
 */
async function compile(url) {
  if (url.protocol === 'file:') {
    const { readFile } = await import('node:fs/promises');
    const module = await readFile(url).catch((error) => {
      throw new Error(`cannot read ${url.pathname}: ${error.code}; in a checkout \`make wasm\` writes it`);
    });
    return WebAssembly.compile(module);
  }
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`cannot load ${url}: HTTP status ${answer.status}`);
  return WebAssembly.compile(await answer.arrayBuffer());
}

/** @type {Map<string, Promise<Engine>>} */
const engines = new Map();

/**
 * The engine with these kernels, created once.
 * @param {import('./index.js').Kernels | 'auto'} [wanted]
 * @returns {Promise<Engine>}
 */
export function engine(wanted = 'auto') {
  const variant = VARIANTS.find((each) => (wanted === 'auto' ? each.supported() : each.kernels === wanted));
  if (!variant) {
    const known = ['auto', ...VARIANTS.map((each) => each.kernels)].join(', ');
    return Promise.reject(new RangeError(`kernels = ${wanted}: must be one of ${known}`));
  }
  if (!variant.supported()) {
    const reason = `this JavaScript engine does not support ${wanted}; it can run ${supportedKernels().join(', ')}`;
    return Promise.reject(new GfsmithError('EUNSUPPORTED', reason));
  }
  let found = engines.get(variant.kernels);
  if (!found) {
    found = compile(variant.url())
      .then((module) => WebAssembly.instantiate(module))
      .then((instance) => new Engine(instance));
    engines.set(variant.kernels, found);
    found.catch(() => engines.delete(variant.kernels)); // so that the next call tries again
  }
  return found;
}

const CHECKSUM_CHUNK = 256 * 1024;

/** An instance and its memory. Addresses are numbers; views become invalid when a call allocates memory. */
export class Engine {
  /** @param {WebAssembly.Instance} instance */
  constructor(instance) {
    /** @type {Record<string, (...args: number[]) => number>} */
    this.call = /** @type {any} */ (instance.exports);
    this.memory = /** @type {WebAssembly.Memory} */ (instance.exports.memory);
    /** @type {import('./index.js').Kernels} */
    this.kernels = /** @type {any} */ (this.text(this.call.gfsmith_isa()));
    this.hasher = 0;
  }

  /** The whole memory. Growing it invalidates older views. */
  get bytes() {
    return new Uint8Array(this.memory.buffer);
  }

  /**
   * The string at an address, up to its NUL.
   * @param {number} address
   */
  text(address) {
    const { bytes } = this;
    return new TextDecoder().decode(bytes.slice(address, bytes.indexOf(0, address)));
  }

  /** @param {number} status */
  reason(status) {
    return this.text(this.call.gfsmith_strerror(status));
  }

  /**
   * @param {number} size in bytes
   * @returns {number} an address, to be given to free
   */
  allocate(size) {
    const address = this.call.malloc(size) >>> 0;
    if (address === 0) throw new GfsmithError('ENOMEM', `out of memory: ${size} bytes`);
    return address;
  }

  /** @param {number} address */
  free(address) {
    this.call.free(address);
  }

  /**
   * XXH3-128, the 16 bytes as xxhsum -H2 prints them.
   * @param {Uint8Array} data
   * @param {Uint8Array} [seed] 8 bytes, little-endian; default: 0
   * @returns {Uint8Array}
   */
  checksum(data, seed = new Uint8Array(8)) {
    if (this.hasher === 0) {
      this.hasher = this.call.checksum_create() >>> 0;
      if (this.hasher === 0) throw new GfsmithError('ENOMEM', 'out of memory');
    }
    const parts = new DataView(seed.buffer, seed.byteOffset, 8);
    this.call.checksum_begin(this.hasher, parts.getUint32(0, true), parts.getUint32(4, true));
    const chunk = this.allocate(CHECKSUM_CHUNK);
    for (let at = 0; at < data.length; at += CHECKSUM_CHUNK) {
      const piece = data.subarray(at, at + CHECKSUM_CHUNK);
      this.bytes.set(piece, chunk);
      this.call.checksum_update(this.hasher, chunk, piece.length);
    }
    this.call.checksum_finish(this.hasher, chunk);
    const sum = this.bytes.slice(chunk, chunk + 16);
    this.free(chunk);
    return sum;
  }
}
