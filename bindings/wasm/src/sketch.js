// Sketch: checksums of 8 bytes that are linear over GF(2^8).
import { forgotten } from './codec.js';
import { engine } from './engine.js';
import { GfsmithError, byteArray, integer, statusError } from './errors.js';

const BYTES = 8;
const POLYNOMIAL = 0x11d; // GFSMITH_POLYNOMIAL
/** Bytes that are copied into the module at a time. */
const CHUNK = 256 * 1024;

/** The tables of sketches; see index.d.ts. */
export class Sketch {
  static BYTES = BYTES;

  /** @type {import('./engine.js').Engine} */ #vm;
  #tables = 0;
  #place = 0; // a sum, then a piece
  #release = () => {};

  /** @param {{kernels?: import('./index.js').Kernels | 'auto'}} [options] */
  static async create(options) {
    return new Sketch(await engine(options?.kernels));
  }

  /** @param {import('./engine.js').Engine} vm */
  constructor(vm) {
    const place = vm.allocate(BYTES + CHUNK);
    const status = vm.call.gfsmith_sketch_create(place, POLYNOMIAL);
    if (status !== 0) {
      vm.free(place);
      throw statusError(status, vm.reason(status));
    }
    const tables = new DataView(vm.memory.buffer).getUint32(place, true);
    this.#vm = vm;
    this.kernels = vm.kernels;
    this.#tables = tables;
    this.#place = place;
    this.#release = () => {
      vm.free(place);
      vm.call.gfsmith_sketch_destroy(tables);
    };
    forgotten.register(this, this.#release, this);
  }

  /**
   * @param {Uint8Array} sum
   * @param {number} offset
   * @param {Uint8Array} bytes
   */
  add(sum, offset, bytes) {
    if (this.#tables === 0) throw new GfsmithError('EINVAL', 'this sketch was freed');
    if (byteArray('sum', sum).length !== BYTES) {
      throw new RangeError(`sum has ${sum.length} bytes, must have ${BYTES}`);
    }
    integer('offset', offset, 0, Number.MAX_SAFE_INTEGER);
    const { length } = byteArray('bytes', bytes);
    const piece = this.#place + BYTES;
    this.#vm.bytes.set(sum, this.#place);
    for (let at = 0; at < length; at += CHUNK) {
      const size = Math.min(CHUNK, length - at);
      this.#vm.bytes.set(bytes.subarray(at, at + size), piece);
      this.#call(BigInt(offset) + BigInt(at), size, piece);
    }
    sum.set(this.#vm.bytes.subarray(this.#place, piece));
  }

  /**
   * @param {bigint} offset 64 bits, for which a module takes a BigInt
   * @param {number} size
   * @param {number} piece
   */
  #call(offset, size, piece) {
    /** @type {(...args: (number | bigint)[]) => number} */
    const add = /** @type {any} */ (this.#vm.call.gfsmith_sketch_add);
    const status = add(this.#tables, this.#place, offset, size, piece);
    if (status !== 0) throw statusError(status, this.#vm.reason(status));
  }

  /** Free the memory. May be called twice; any other call afterwards throws GfsmithError EINVAL. */
  free() {
    if (this.#tables === 0) return;
    this.#tables = 0;
    forgotten.unregister(this);
    this.#release();
  }
}
