// Calls kernels in a WebAssembly module and checks their whole contract.
//
//   node contract.mjs JOB.json     { module, products: {polynomial: file}, kernels: [{symbol, ...}] }
//
// prints {symbol: {sweep: calls}} or {symbol: {failure}}. WebAssembly has no guard pages. Instead,
// an access beyond the end of memory traps, an access before address 0 is one beyond the end, and
// the test compares every byte between the buffers and around them. So each buffer in turn is
// placed at the end of memory, then at its start.
import { readFileSync } from 'node:fs';

const GAP = 64; // bytes of canary around each buffer
const UNREADABLE = 0xfffffff0; // the argument coeffs of a kernel without tables
const CANARY = new Uint8Array(4 << 20);
const POOL = new Uint8Array(1 << 18);
const POOL_STEP = 211; // source j begins at byte POOL_STEP * j of the pool

let seed = 0x9e3779b9;
/** xorshift32, Marsaglia (2003). */
function random() {
  seed ^= seed << 13;
  seed ^= seed >>> 17;
  seed ^= seed << 5;
  return seed >>> 0;
}
for (const array of [CANARY, POOL]) array.forEach((_, i) => (array[i] = random() >>> 11));

const source = (j, len) => POOL.subarray(POOL_STEP * j, POOL_STEP * j + len);
const before = (i, len) => source(400 + i, len);

/** Returns the entry of one coefficient, from its row of the multiplication table only. */
function entry(tables, row) {
  if (tables === 'nibble') return Array.from({ length: 32 }, (_, n) => (n < 16 ? row[n] : row[(n - 16) << 4]));
  if (tables === 'bitplane') return Array.from({ length: 8 }, (_, b) => row[1 << b]);
  if (tables === 'none') return [];
  throw new Error(`tables "${tables}" are not known here`);
}

/** Returns base ** exponent in the field of the products. */
function power(products, base, exponent) {
  let value = 1;
  for (let n = 0; n < exponent; n++) value = products[256 * base + value];
  return value;
}

const BUTTERFLIES = ['fft', 'ifft'];

/** The same for a butterfly of x and y, half of the sources each. fft: x += C y, then y += x.
 * ifft: y += x, then x += C y. */
function butterfly(kernel, products, k, len, choose) {
  const planes = k / 2;
  const values = all(k).map((j) => source(j, len).slice());
  const [x, y] = [values.slice(0, planes), values.slice(planes)];
  const coeffs = [];
  const rows = all(planes * planes).map((index) => {
    const c = choose(index);
    const row = products.subarray(256 * c, 256 * c + 256);
    coeffs.push(...entry(kernel.tables, row));
    return row;
  });
  const addProducts = () =>
    rows.forEach((row, index) => {
      const [from, sum] = [y[Math.floor(index / planes)], x[index % planes]];
      for (let n = 0; n < len; n++) sum[n] ^= row[from[n]];
    });
  const addX = () => y.forEach((sum, p) => sum.forEach((_, n) => (sum[n] ^= x[p][n])));
  for (const step of kernel.operation === 'fft' ? [addProducts, addX] : [addX, addProducts]) step();
  return { k, outputs: k, sums: values, coeffs: Uint8Array.from(coeffs) };
}

/** Returns the arguments of a kernel: coefficients, their tables, and the sums over the sources. */
function setting(kernel, products, k, len, choose) {
  if (BUTTERFLIES.includes(kernel.operation)) return butterfly(kernel, products, k, len, choose);
  const mul = kernel.operation === 'mul';
  const outputs = mul ? k : kernel.outputs;
  const sums = Array.from({ length: outputs }, () => new Uint8Array(len));
  const coeffs = [];
  for (let j = 0; j < k; j++) {
    for (let i = mul ? j : 0; i < (mul ? j + 1 : outputs); i++) {
      const index = mul ? j : j * outputs + i;
      let c = kernel.matrix ? kernel.matrix[i][j] : choose(index);
      if (kernel.operation === 'xor') c = 1;
      if (kernel.operation === 'horner') c = power(products, 1 << i, j);
      const row = products.subarray(256 * c, 256 * c + 256);
      coeffs.push(...entry(kernel.tables, row));
      const [from, sum] = [source(j, len), sums[i]];
      for (let n = 0; n < len; n++) sum[n] ^= row[from[n]];
    }
  }
  return { k, outputs, sums, coeffs: Uint8Array.from(coeffs) };
}

class Runner {
  constructor(instance, kernel) {
    this.memory = new Uint8Array(instance.exports.memory.buffer);
    this.run = instance.exports[kernel.symbol];
    this.base = Math.ceil(instance.exports.__heap_base.value / 64) * 64;
    this.kernel = kernel;
    this.image = new Uint8Array(CANARY.length);
    this.calls = 0;
  }

  /** Places buffers in order, with gaps. `flush`: {last: n} puts buffer n at the end of memory,
   * {first: n} at its start; `shift` misaligns each by another amount. Returns all addresses and
   * their range. */
  place(sizes, { last, first, shift = 0 }) {
    const at = new Array(sizes.length);
    let end = this.base + GAP;
    sizes.forEach((size, n) => {
      if (n === last || n === first) return;
      const pointers = n === 1 || n === 2; // the arrays src and dst are aligned to pointers
      at[n] = end + (pointers ? 0 : (shift * (n + 1) * 29) % 16);
      end = Math.ceil((at[n] + size + GAP) / 16) * 16;
    });
    const top = this.memory.length;
    if (last !== undefined) at[last] = top - sizes[last];
    if (first !== undefined) at[first] = 0;
    return { at, from: this.base, end };
  }

  /** Makes one call. `alias[i]`: the source that destination i shares, or undefined. */
  call(set, len, placement, alias = []) {
    const { kernel, memory } = this;
    const { k, outputs, sums, coeffs } = set;
    const sizes = [coeffs.length, 4 * k, 4 * outputs, ...new Array(k + outputs).fill(len)];
    const flush = placement.last ?? placement.first;
    // shares the buffer of a source
    if (flush >= 3 + k && alias[flush - 3 - k] !== undefined) return;
    const { at, from, end } = this.place(sizes, placement);
    for (let i = 0; i < outputs; i++) if (alias[i] !== undefined) at[3 + k + i] = at[3 + alias[i]];
    const words = (addresses) => new Uint8Array(Uint32Array.from(addresses).buffer);
    const contents = [coeffs, words(at.slice(3, 3 + k)), words(at.slice(3 + k))];
    for (let j = 0; j < k; j++) contents.push(source(j, len));
    for (let i = 0; i < outputs; i++) contents.push(alias[i] === undefined ? before(i, len) : source(alias[i], len));

    // The expected range of all buffers, and separately the buffer outside of it.
    memory.set(CANARY.subarray(0, end - from), from);
    const beyond = flush === undefined ? 0 : sizes[flush] + GAP;
    const apart = flush === undefined ? null : placement.last !== undefined ? memory.length - beyond : 0;
    if (apart !== null) memory.set(CANARY.subarray(0, beyond), apart);
    contents.forEach((bytes, n) => memory.set(bytes, at[n]));
    const near = memory.slice(from, end);
    const far = apart === null ? null : memory.slice(apart, apart + beyond);
    sums.forEach((sum, i) => {
      const place = at[3 + k + i];
      const home = place >= from && place < end ? near.subarray(place - from) : far.subarray(place - apart);
      const old = contents[3 + k + i];
      for (let n = 0; n < len; n++) home[n] = kernel.operation === 'mad' ? sum[n] ^ old[n] : sum[n];
    });

    const given = kernel.inputs === null ? k : [0, 1, 0x7fffffff, -1, 7][this.calls % 5];
    const table = kernel.tables === 'none' || kernel.matrix ? UNREADABLE : at[0];
    this.calls++;
    const where = () =>
      `len ${len}, k ${k}, ${JSON.stringify(placement)}, aliases ${JSON.stringify(alias)}, buffers: 0 coeffs, 1 src, ` +
      `2 dst, 3 src[0], ${3 + k} dst[0]`;
    try {
      this.run(len, given, table, at[1], at[2]);
    } catch (error) {
      if (!(error instanceof WebAssembly.RuntimeError)) throw error;
      throw new Error(`trap: ${error.message}; ${where()}`);
    }
    for (const [wanted, start] of far ? [[near, from], [far, apart]] : [[near, from]]) {
      const found = memory.subarray(start, start + wanted.length);
      if (Buffer.compare(found, wanted) === 0) continue;
      const n = wanted.findIndex((byte, i) => byte !== found[i]) + start;
      const inside = at.findIndex((address, i) => n >= address && n < address + sizes[i]);
      const [what, offset] = inside < 0 ? ['out of bounds', n] : [`buffer ${inside}`, n - at[inside]];
      throw new Error(`wrong byte ${offset} of ${what}: ${found[n - start]}, must be ${wanted[n - start]}; ${where()}`);
    }
  }

  /** Places the buffers in `chosen` at both ends of memory, then misaligned in between. */
  everywhere(set, len, chosen, alias) {
    for (const n of chosen) {
      this.call(set, len, { last: n }, alias);
      this.call(set, len, { first: n }, alias);
    }
    this.call(set, len, { shift: 1 + (len % 15) }, alias);
  }
}

const mixed = () => (random() % 5 < 3 ? [0, 1, 255][random() % 3] : random() & 255);
const uniform = () => random() & 255;
const usual = (kernel, any) => kernel.inputs ?? any;
const all = (count) => [...Array(count).keys()];
const buffers = (set) => 3 + set.k + set.outputs;

const SWEEPS = {
  /** Every length until all loops and tails have run several times; up to one block and a vector,
   * with every buffer at both ends of memory, later with two of them in turn. */
  lengths(runner, kernel, products) {
    const last = 4 * kernel.block + 3;
    const sets = [[3, mixed], [1, uniform], [10, uniform]];
    for (const [k, choose] of kernel.inputs === null ? sets : sets.slice(0, 1)) {
      const set = setting(kernel, products, usual(kernel, k), last, choose);
      const count = buffers(set);
      for (let len = 0; len <= last; len++) {
        const short = k === 3 && len <= kernel.vector + 1;
        runner.everywhere(set, len, short ? all(count) : [(5 * len) % count, (5 * len + 3) % count]);
      }
    }
  },

  /** Lengths that a counter of 8 or 16 bits cannot hold. */
  large(runner, kernel, products) {
    const set = setting(kernel, products, usual(kernel, 3), 65553, uniform);
    for (const len of [255, 256, 257, 4097, 65553]) runner.call(set, len, { shift: len % 16 });
  },

  /** Any k: none, few, more than 8 bits can count. */
  wide(runner, kernel, products) {
    if (kernel.inputs !== null) return;
    const { vector, block } = kernel;
    for (const k of [0, 1, 2, 3, 4, 5, 7, 8, 36, 128, 255, 256, 257, 300]) {
      const set = setting(kernel, products, k, 2 * block + vector + 3, uniform);
      const count = buffers(set);
      for (const len of [0, 1, vector - 1, vector, block + 1, 2 * block + vector + 3]) {
        runner.everywhere(set, len, [0, 1, 2, count - 1].filter((n) => n < count));
      }
    }
  },

  /** Every coefficient at every place of the table. */
  coefficients(runner, kernel, products) {
    if (kernel.matrix || kernel.tables === 'none') return;
    const len = kernel.block + kernel.vector + (kernel.vector >> 1) + 3;
    for (let value = 0; value < 256; value++) {
      const set = setting(kernel, products, usual(kernel, 4), len, (index) => (value + 37 * index) & 255);
      runner.call(set, len, { shift: value % 16 });
    }
  },

  /** Every misalignment modulo the vector, of each buffer and of all relative to each other. */
  alignments(runner, kernel, products) {
    const { vector, block } = kernel;
    const set = setting(kernel, products, usual(kernel, 4), 2 * block + vector + 3, mixed);
    for (let shift = 0; shift < 16; shift++) {
      for (const len of [vector >> 1, block, 2 * block + vector + 3]) runner.call(set, len, { shift });
    }
  },

  /** mad and butterflies: any destination may equal any source; mul: the source of the same index. */
  in_place(runner, kernel, products) {
    const free = kernel.operation === 'mad' || BUTTERFLIES.includes(kernel.operation);
    if (!free && kernel.operation !== 'mul') return;
    const last = 2 * kernel.block + kernel.vector + 3;
    const set = setting(kernel, products, usual(kernel, 3), last, uniform);
    const both = Math.min(set.k, set.outputs);
    const same = all(both);
    const crossed = all(set.outputs).map((i) => (set.outputs - 1 - i < both ? set.outputs - 1 - i : undefined));
    for (const alias of free ? [[0], same, crossed] : [[0], same]) {
      for (let len = 0; len <= last; len++) runner.everywhere(set, len, [3, 3 + both - 1], alias);
    }
  },
};

const job = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const module = new WebAssembly.Module(readFileSync(job.module));
const products = Object.fromEntries(Object.entries(job.products).map(([p, path]) => [p, readFileSync(path)]));
const results = {};
for (const kernel of job.kernels) {
  const runner = new Runner(new WebAssembly.Instance(module), kernel);
  const done = (results[kernel.symbol] = {});
  for (const [name, sweep] of Object.entries(SWEEPS)) {
    runner.calls = 0;
    try {
      if (typeof runner.run !== 'function') throw new Error('the module has no such function');
      sweep(runner, kernel, products[kernel.polynomial]);
      done[name] = runner.calls;
    } catch (error) {
      done.failure = `${name}: ${error.message}`;
      break;
    }
  }
}
console.log(JSON.stringify(results));
