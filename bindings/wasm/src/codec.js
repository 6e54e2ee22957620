// Codec: a code with a shape. Shards stay in JavaScript's memory; the module accesses one window of all of them
// at a time, in a buffer whose size is independent of the shards' length.
import { SHAPES } from './codes.js';
import { engine } from './engine.js';
import { GfsmithError, byteArray, integer, statusError } from './errors.js';

const MAX_SHARDS = 255;
const CACHED = 1; // gfsmith_hint: the shards were just copied, so they are in cache

/** Bytes of the pieces of all shards together, and the least of one shard. */
const BUDGET = 512 * 1024;
const LEAST = 4096;
const LINE = 64;

/** Frees the memory of codecs and sketches after garbage collection; free() does it at once. */
export const forgotten = new FinalizationRegistry(
  /** @param {() => void} release */ (release) => release(),
);

/**
 * The reason why the groups of a code are invalid, or null.
 * @param {{code: string, k: number, m: number, l: number}} shape
 */
export function groupsFault({ code, k, m, l }) {
  if (code !== 'lrc') return l === 0 ? null : `code "${code}", l = ${l}: only lrc has groups, so l must be 0`;
  return l >= 1 && l <= k && l < m ? null : `lrc, k = ${k}, m = ${m}, l = ${l}: l must be 1 to k and less than m`;
}

/**
 * @param {import('./engine.js').Engine} vm
 * @param {string} code
 * @param {number} k
 * @param {number} m
 * @param {number} l
 */
function createHandle(vm, code, k, m, l) {
  const name = new TextEncoder().encode(code);
  const place = vm.allocate(4 + name.length + 1);
  try {
    vm.bytes.fill(0, place, place + 4 + name.length + 1);
    vm.bytes.set(name, place + 4);
    const status =
      code === 'lrc'
        ? vm.call.gfsmith_codec_create_lrc(place, k, l, m - l)
        : vm.call.gfsmith_codec_create(place, place + 4, k, m);
    if (status !== 0) {
      throw statusError(status, `code "${code}", k = ${k}, m = ${m}: ${refusal(vm, code, status)}`);
    }
    const handle = new DataView(vm.memory.buffer).getUint32(place, true);
    vm.call.gfsmith_codec_hint(handle, CACHED);
    return handle;
  } finally {
    vm.free(place);
  }
}

/**
 * The reason of a refusal by gfsmith_codec_create; k, m and l have been checked.
 * @param {import('./engine.js').Engine} vm
 * @param {string} code
 * @param {number} status
 */
function refusal(vm, code, status) {
  if (Object.hasOwn(SHAPES, code)) {
    const reason = status === -1 ? 'the code has no such shape' : vm.reason(status);
    return `${reason}; allowed: ${SHAPES[code]}`;
  }
  if (status === -1) return `unknown code; allowed: ${Object.keys(SHAPES).join(', ')}, lrc`;
  return vm.reason(status);
}

/** k data shards and m parity shards; see index.d.ts. */
export class Codec {
  /** @type {import('./engine.js').Engine} */ #vm;
  #handle = 0;
  #tables = 0; // the addresses of all shards' pieces; one present flag and one wanted flag a shard; ok
  #pieces = 0;
  #stride = 0;
  #freed = false;

  /** @param {import('./index.js').CodecOptions} options */
  static async create(options) {
    const { code = 'cauchy', k, m, l = 0, kernels = 'auto' } = options ?? {};
    integer('k', k, 1, MAX_SHARDS - 1);
    integer('m', m, 1, MAX_SHARDS - k);
    integer('l', l, 0, MAX_SHARDS);
    if (typeof code !== 'string') throw new TypeError('code must be a string');
    const why = groupsFault({ code, k, m, l });
    if (why) throw new RangeError(why);
    return new Codec(await engine(kernels), code, k, m, l);
  }

  /**
   * @param {import('./engine.js').Engine} vm
   * @param {string} code
   * @param {number} k
   * @param {number} m
   * @param {number} l
   */
  constructor(vm, code, k, m, l) {
    this.#vm = vm;
    this.code = code;
    this.k = k;
    this.m = m;
    this.l = l;
    this.kernels = vm.kernels;
    const shards = k + m;
    this.chunk = Math.max(LEAST, Math.floor(BUDGET / shards / LINE) * LINE);
    this.#stride = this.chunk + LINE; // with a power of two all shards would use the same cache sets
    const handle = createHandle(vm, code, k, m, l);
    const place = vm.call.malloc(shards * (6 + this.#stride) + 2 * LINE) >>> 0;
    const release = () => {
      vm.free(place);
      vm.call.gfsmith_codec_destroy(handle);
    };
    if (place === 0) {
      release();
      throw statusError(-2, 'out of memory');
    }
    this.#handle = handle;
    this.#tables = place;
    this.#pieces = Math.ceil((place + 6 * shards + 4) / LINE) * LINE;
    this.#writePointers();
    this.#release = release;
    forgotten.register(this, release, this);
  }

  #release = () => {};

  /** Free the memory. May be called twice; any other call afterwards throws GfsmithError EINVAL. */
  free() {
    if (this.#freed) return;
    this.#freed = true;
    forgotten.unregister(this);
    this.#release();
  }

  #writePointers() {
    const view = new DataView(this.#vm.memory.buffer);
    for (let i = 0; i < this.k + this.m; i++) {
      view.setUint32(this.#tables + 4 * i, this.#piece(i), true);
    }
  }

  /** @param {number} shard */
  #piece(shard) {
    return this.#pieces + this.#stride * shard;
  }

  get #flags() {
    return this.#tables + 4 * (this.k + this.m);
  }

  #alive() {
    if (this.#freed) throw new GfsmithError('EINVAL', 'this codec was freed');
  }

  /**
   * @param {number} status
   * @param {string} what
   */
  #require(status, what) {
    if (status !== 0) throw statusError(status, `${what}: ${this.#vm.reason(status)}`);
  }

  /**
   * The common length of some shards.
   * @param {string} name
   * @param {unknown} shards
   * @param {number} count
   * @param {number} [length] the required length
   * @returns {number}
   */
  #length(name, shards, count, length) {
    if (!Array.isArray(shards) || shards.length !== count) {
      throw new RangeError(`${name} must be an array of ${count} shards`);
    }
    for (let i = 0; i < count; i++) {
      const actual = byteArray(`${name}[${i}]`, shards[i]).length;
      length ??= actual;
      if (actual !== length) {
        throw new RangeError(`${name}[${i}] has ${actual} bytes, must have ${length}: shards are of one length`);
      }
    }
    return length ?? 0;
  }

  /**
   * Copy bytes at .. at + size of shards into the module, shard i to piece first + i.
   * @param {(Uint8Array | null | undefined)[]} shards
   * @param {number} first
   * @param {number} at
   * @param {number} size
   */
  #enter(shards, first, at, size) {
    const { bytes } = this.#vm;
    shards.forEach((shard, i) => shard && bytes.set(shard.subarray(at, at + size), this.#piece(first + i)));
  }

  /**
   * Copy bytes at .. at + size of shards from the module.
   * @param {(Uint8Array | null | undefined)[]} shards
   * @param {number} first
   * @param {number} at
   * @param {number} size
   */
  #leave(shards, first, at, size) {
    const { bytes } = this.#vm;
    shards.forEach((shard, i) => {
      const from = this.#piece(first + i);
      shard?.set(bytes.subarray(from, from + size), at);
    });
  }

  /**
   * @param {Uint8Array[]} data
   * @param {Uint8Array[]} [parity]
   */
  encode(data, parity) {
    this.#alive();
    const length = this.#length('data', data, this.k);
    const out = parity ?? Array.from({ length: this.m }, () => new Uint8Array(length));
    this.#length('parity', out, this.m, length);
    for (let at = 0; at < length; at += this.chunk) {
      const size = Math.min(this.chunk, length - at);
      this.#enter(data, 0, at, size);
      const status = this.#vm.call.gfsmith_encode(this.#handle, size, this.#tables, this.#tables + 4 * this.k);
      this.#require(status, 'encode');
      this.#leave(out, this.k, at, size);
    }
    return out;
  }

  /**
   * @param {number} index
   * @param {Uint8Array} delta
   * @param {Uint8Array[]} parity
   */
  update(index, delta, parity) {
    this.#alive();
    integer('index', index, 0, this.k - 1);
    const { length } = byteArray('delta', delta);
    this.#length('parity', parity, this.m, length);
    for (let at = 0; at < length; at += this.chunk) {
      const size = Math.min(this.chunk, length - at);
      this.#enter([delta], 0, at, size);
      this.#enter(parity, this.k, at, size);
      const status = this.#vm.call.gfsmith_update(
        this.#handle,
        size,
        index,
        this.#piece(0),
        this.#tables + 4 * this.k,
      );
      this.#require(status, 'update');
      this.#leave(parity, this.k, at, size);
    }
  }

  /**
   * @param {Uint8Array[]} shards
   * @returns {boolean}
   */
  check(shards) {
    this.#alive();
    const count = this.k + this.m;
    const length = this.#length('shards', shards, count);
    const ok = this.#flags + 2 * count;
    for (let at = 0; at < length; at += this.chunk) {
      const size = Math.min(this.chunk, length - at);
      this.#enter(shards, 0, at, size);
      this.#require(this.#vm.call.gfsmith_check(this.#handle, size, this.#tables, ok), 'check');
      if (this.#vm.bytes[ok] === 0) return false;
    }
    return true;
  }

  /**
   * The shards with null for missing ones, and the number and common length of the others.
   * @param {unknown} shards
   * @returns {{given: (Uint8Array | null)[], present: number, length: number}}
   */
  #some(shards) {
    const count = this.k + this.m;
    if (!Array.isArray(shards) || shards.length !== count) {
      throw new RangeError(`shards must be an array of ${count}, with null for missing ones`);
    }
    const given = Array.from(shards, (shard) => shard ?? null);
    const present = given.filter((shard) => shard !== null);
    const length = this.#length('the shards that are present', present, present.length);
    return { given, present: present.length, length };
  }

  /**
   * Write a flag for each shard, whether it is not null.
   * @param {(Uint8Array | null)[]} shards
   * @param {number} place
   */
  #writeFlags(shards, place) {
    this.#vm.bytes.set(shards.map((shard) => Number(shard !== null)), place);
  }

  /**
   * @param {(Uint8Array | null | undefined)[]} shards
   * @returns {import('./index.js').Corrected}
   */
  correct(shards) {
    this.#alive();
    const { given, length } = this.#some(shards);
    const totals = new Array(given.length + 2).fill(0);
    this.#writeFlags(given, this.#flags);
    const counts = this.#vm.allocate(4 * totals.length);
    try {
      let at = 0;
      do {
        const size = Math.min(this.chunk, length - at); // 0 for empty shards: whether the code can correct
        this.#enter(given, 0, at, size);
        const { gfsmith_correct: correct } = this.#vm.call;
        this.#require(correct(this.#handle, size, this.#tables, this.#flags, counts, 0), 'correct');
        this.#leave(given, 0, at, size);
        const view = new DataView(this.#vm.memory.buffer);
        totals.forEach((total, i) => (totals[i] = total + view.getUint32(counts + 4 * i, true)));
        at += this.chunk;
      } while (at < length);
    } finally {
      this.#vm.free(counts);
    }
    const [intact, uncorrected] = totals.splice(given.length);
    return { symbols: totals, intact, uncorrected };
  }

  /**
   * @param {(Uint8Array | null | undefined)[]} shards
   * @param {{wanted?: number[]}} [options]
   * @returns {(Uint8Array | null)[]}
   */
  reconstruct(shards, options = {}) {
    this.#alive();
    const { wanted } = options;
    const count = this.k + this.m;
    const { given, present, length } = this.#some(shards);
    wanted?.forEach((index) => integer('wanted', index, 0, count - 1));
    const targets = new Set(wanted ?? given.keys());
    const lost = count - present;
    if (lost > this.m) {
      throw statusError(-4, `${lost} of ${count} shards are missing, but m = ${this.m}: at most ${this.m} can be rebuilt`);
    }
    const rebuilt = given.map((shard, i) => (shard === null && targets.has(i) ? new Uint8Array(length) : null));
    this.#rebuild(given, rebuilt, length);
    return given.map((shard, i) => shard ?? rebuilt[i]);
  }

  /**
   * @param {(Uint8Array | null)[]} given
   * @param {(Uint8Array | null)[]} rebuilt
   * @param {number} length
   */
  #rebuild(given, rebuilt, length) {
    const present = this.#flags;
    const wanted = present + given.length;
    this.#writeFlags(given, present);
    this.#writeFlags(rebuilt, wanted);
    let at = 0;
    do {
      const size = Math.min(this.chunk, length - at); // 0 for empty shards: whether the code can repair the loss
      this.#enter(given, 0, at, size);
      const status = this.#vm.call.gfsmith_reconstruct(this.#handle, size, this.#tables, present, wanted);
      this.#require(status, 'reconstruct');
      this.#leave(rebuilt, 0, at, size);
      at += this.chunk;
    } while (at < length);
  }
}

const dispose = /** @type {any} */ (Symbol).dispose; // `using codec = ...`, where the language has it
if (dispose) Object.defineProperty(Codec.prototype, dispose, { value: Codec.prototype.free });
